"""The fits of all groups of a frame are those of each group by itself."""

import numpy as np
import pytest

from polars_scorio.maths import free_fit
from polars_scorio.maths.free_fit import Calibrated, Group, fit_populations
from tests.maths.cases import CASES, states_of
from tests.maths.groups import drawn_groups, fit_binary


def test_fits_do_not_depend_on_the_other_groups():
    rows = [np.stack([*map(np.asarray, group)], axis=1).tolist() for group in drawn_groups()]
    for fitted, group in zip(Calibrated.fit(states_of(*rows)).groups, rows, strict=True):
        alone = Group.fit(*np.array(group).T)
        assert sorted(fitted.questions.tolist()) == sorted(alone.questions.tolist())
        # Sums over more populations, of which those of other groups weigh nothing: rounding, which
        # 60 steps of the free fit pass on.
        middles = (each.fits.middle for each in (fitted, alone))
        np.testing.assert_allclose(*(np.ravel(middle) for middle in middles), rtol=1e-9)
        np.testing.assert_allclose(fitted.weight, alone.weight, rtol=0, atol=1e-9)
        assert fitted.fits.misfit[0] == pytest.approx(alone.fits.misfit[0], abs=1e-6)


def middles_by_both(n, c, questions):
    """Posterior means of mean and correlation by the lattice, and by Gauss rules."""
    found = fit_populations(n, c, np.asarray(questions, dtype=float)[None])
    grid = fit_binary(n, c, questions, few=False)
    mean, _, rho = found.middle
    return [mean.item(), rho.item()], [grid.weight @ grid.mean[:, 1], grid.weight @ grid.rho]


@pytest.mark.parametrize("case", CASES)
def test_both_rules_integrate_the_same_posterior(case):
    found, known = middles_by_both(*np.array(CASES[case]).T)
    # Few questions: the wider steps err by 1e-8, and Gauss rules by 4e-7 at correlations near 0.
    assert found == pytest.approx(known, abs=5e-7)


@pytest.mark.parametrize(("questions", "n"), [(50, 8), (250, 16), (128, 20_000)])
def test_from_fifty_questions_on_both_rules_agree_to_nine_digits(questions, n):
    rng = np.random.default_rng(questions)
    c, often = np.unique(rng.binomial(n, rng.beta(0.6, 1, questions)), return_counts=True)
    found, known = middles_by_both(np.full_like(c, n), c, often)
    assert found == pytest.approx(known, abs=1e-9)


def test_no_population_is_likelier_than_the_largest_likelihood():
    n, c, questions = np.array(CASES["half"]).T
    found = fit_populations(n, c, questions[None].astype(float))
    best = fit_binary(n, c, questions, few=False).highest
    # Newton's step from the best population of a lattice, beside the best one of a grid.
    assert best - 0.01 <= found.highest[0] <= best + 0.05


def test_questions_of_a_quadrillion_trials_have_populations():
    n, c = np.full(3, 10**15), np.array([3, 10**14, 9 * 10**14])
    found = fit_populations(n, c, np.ones((1, 3)))
    assert np.isfinite(found.weight).all()
    assert found.middle[0][0] == pytest.approx(1 / 3, abs=0.2)


def test_finer_steps_change_nothing_where_half_of_the_questions_have_one_trial(monkeypatch):
    rng = np.random.default_rng(0)
    n = rng.choice([1, 64], 100)
    group = n, rng.binomial(n, rng.uniform(0.9, 1, n.size)), np.ones(n.size)
    middle = Group.fit(*group).fits.middle
    monkeypatch.setattr(free_fit, "_STEP", 0.2)
    monkeypatch.setattr(free_fit, "_RESOLVED", 0.4)
    monkeypatch.setattr(free_fit, "_RESOLVED_NARROW", 0.5)
    # The mean of a correlation of .03, of which the data say least.
    np.testing.assert_allclose(middle, Group.fit(*group).fits.middle, rtol=1e-7)


def test_groups_that_lost_few_trials_are_fitted_together():
    complete = [(8, c, 10) for c in range(9)]
    lost = [(7, 3, 1), *complete], [(6, 2, 1), *complete], complete
    far = [(n, n // 2, 1) for n in range(100, 200)]
    fitted = Calibrated.fit(states_of(*lost, far))
    assert sorted(sorted(groups.tolist()) for groups, _ in fitted.batches) == [[0, 1, 2], [3]]
    assert [group.n.max() for group in fitted.groups] == [8, 8, 8, 199]
