"""Step-down verdicts: at least as many as Holm's, and no wrong one too often."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.families import (
    all_pairs_critical,
    baseline_critical,
    final_critical,
    paired_critical,
    sidak_critical,
    step_down,
    student_z,
)
from polars_scorio.maths.independent import dunnett_critical, tukey_critical


def decided_by_score(score):
    """Pairs whose score exceeds the critical value of their stratum."""
    return lambda c, strata: score[strata] > c[:, None]


def scores(mu, sigma, a, b):
    """Differences of independent estimates in their standard deviations."""
    gap, spread = np.abs(mu[:, a] - mu[:, b]), np.hypot(sigma[:, a], sigma[:, b])
    return np.where(spread > 0, gap / np.where(spread > 0, spread, 1), np.where(gap > 0, np.inf, 0))


def all_pairs(mu, sigma, score=None):
    """Step-down verdicts of all pairs of independent estimates, and their critical values."""
    a, b = np.triu_indices(mu.shape[1], 1)
    here = np.isfinite(mu)
    decided = decided_by_score(scores(mu, sigma, a, b) if score is None else score)
    return step_down(here[:, a] & here[:, b], all_pairs_critical(here.sum(axis=1), 0.95), decided)


def holm(score):
    """Number of pairs that Holm's method decides, one by one."""
    p = np.sort(2 * ndtr(-score))
    enough = p <= 0.05 / np.arange(p.size, 0, -1)
    return p.size if enough.all() else int(enough.argmin())


def test_decides_at_least_the_pairs_of_holm():
    random = np.random.default_rng(1)
    mu = random.normal(0, 2, (60, 12))
    sigma = random.uniform(0.2, 1.5, mu.shape)
    found = all_pairs(mu, sigma)[0].sum(axis=1)
    oracle = np.array([holm(each) for each in scores(mu, sigma, *np.triu_indices(12, 1))])
    assert (found >= oracle).all()
    assert found.sum() > oracle.sum()


def test_the_first_step_is_that_of_tukey_and_later_ones_need_less():
    mu = np.array([[0.0, 0.33, 5.0, 5.1]])
    differs, c = all_pairs(mu, np.full((1, 4), 0.1))
    assert differs[0].tolist() == [True, True, True, True, True, False]
    # In the second step two pairs are left.
    assert c[0, 0] == pytest.approx(ndtri((1 + np.sqrt(0.95)) / 2), rel=1e-12)
    first = tukey_critical(np.array([4]), 0.95)[0]
    # The same quantile, perhaps from sums in another order.
    np.testing.assert_allclose(c[0, 1:], first, rtol=1e-12)
    assert c[0, 0] < 0.33 / np.hypot(0.1, 0.1) < first


def test_equal_models_rarely_differ_beside_others():
    random = np.random.default_rng(2)
    truth = np.array([0.0, 0, 0, 0, 9, 9, 9, 30])
    mu = truth + random.normal(size=(8000, 8))
    differs, _ = all_pairs(mu, np.ones(mu.shape))
    a, b = np.triu_indices(8, 1)
    wrong = (differs & (truth[a] == truth[b])).any(axis=1).mean()
    # Sidak's value for nine pairs, of which some share a model: .047, and three standard errors.
    assert 0.03 < wrong < 0.054


def test_the_order_of_the_models_does_not_matter():
    random = np.random.default_rng(3)
    mu, sigma = random.normal(0, 2, (40, 7)), random.uniform(0.2, 1, (40, 7))
    order = random.permutation(7)
    one, other = all_pairs(mu, sigma), all_pairs(mu[:, order], sigma[:, order])
    a, b = np.triu_indices(7, 1)
    square = np.zeros((2, 40, 7, 7))
    square[:, :, a, b] = square[:, :, b, a] = one
    np.testing.assert_array_equal(square[:, :, order[a], order[b]], other)


def test_a_baseline_is_compared_by_the_models_that_are_left():
    mu, sigma = np.array([[0.0, 2.3, 2.0, 50.0]]), np.array([[0.5, 1.0, 0.4, 1.0]])
    score = scores(mu, sigma, np.array([1, 2, 3]), np.zeros(3, int))
    critical = baseline_critical(sigma, 0, 0.95)
    differs, c = step_down(np.ones((1, 3), dtype=bool), critical, decided_by_score(score))
    assert differs.all()
    # Two are decided in the first step; then the other is alone.
    first = dunnett_critical(sigma[:, 1:], sigma[:, 0], 0.95)[0]
    alone = dunnett_critical(np.array([[1.0]]), np.array([0.5]), 0.95)[0]
    # The same integrals, perhaps from sums in another order.
    assert c[0] == pytest.approx([alone, first, first], rel=1e-9)


def test_paired_verdicts_are_at_least_those_of_holm():
    random = np.random.default_rng(4)
    values = random.normal(0, 1, (400, 9)) + np.linspace(0, 1, 9)
    models = paired_means(values, np.arange(0, 400, 40), 1.0)
    a, b = np.triu_indices(9, 1)
    score = np.abs(models.mean[:, a] - models.mean[:, b]) / models.sigma()[:, a, b]
    critical, z = paired_critical(models, a, b, 0.95), student_z(score, models.freedom[:, None])
    differs, _ = step_down(np.ones(score.shape, dtype=bool), critical, decided_by_score(z))
    tail = 0.05 / 2 / np.arange(36, 0, -1)
    assert (differs.sum(axis=1) >= [_holm_of_t(each, tail) for each in score]).all()


def _holm_of_t(score, tail):
    from scipy.stats import t  # noqa: PLC0415 - an oracle of one test

    enough = t.sf(np.sort(score)[::-1], 39) <= tail
    return score.size if enough.all() else int(enough.argmin())


def test_verdicts_may_come_from_intervals_of_any_shape():
    def decided(c, strata):
        gap = np.array([[1.0, 2.6, 1.6]])[strata]
        return gap > 0.6 * c[:, None]

    pairs = np.ones((1, 3), dtype=bool)
    differs, _ = step_down(pairs, all_pairs_critical(np.array([3]), 0.95), decided)
    assert differs[0].tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("mu", "sigma", "number"),
    [
        pytest.param([0.5], [0.1], 0, id="one model"),
        pytest.param([np.nan, np.nan], [np.nan, np.nan], 0, id="no numbers"),
        pytest.param([0.5, 0.5, 0.5], [0.0, 0.0, 0.0], 0, id="identical, without sigma"),
        pytest.param([0.5, 0.6, 0.6], [0.0, 0.0, 0.0], 2, id="without sigma"),
        pytest.param([0.5, 0.6, np.nan], [0.0, 0.01, np.nan], 1, id="a null"),
    ],
)
def test_odd_strata_have_defined_verdicts(mu, sigma, number):
    differs, c = all_pairs(np.array([mu]), np.array([sigma]))
    assert differs.sum() == number
    assert np.isfinite(c).all()


def test_no_stratum_is_an_empty_result():
    differs, c = all_pairs(np.empty((0, 3)), np.empty((0, 3)))
    assert differs.shape == c.shape == (0, 3)


def test_the_last_critical_value_decides_what_all_steps_decide():
    random = np.random.default_rng(5)
    mu = np.cumsum(random.exponential(1.2, (200, 8)), axis=1)
    mu[random.random(mu.shape) < 0.2] = np.nan
    sigma = random.uniform(0.2, 1.5, mu.shape)
    a, b = np.triu_indices(8, 1)
    score = scores(mu, sigma, a, b)

    def decided_pairs(c, strata):
        return (score[strata] > c[:, None]).sum(axis=1)

    last = final_critical(np.isfinite(mu).sum(axis=1), 0.95, decided_pairs)
    differs, c = all_pairs(mu, sigma)
    np.testing.assert_array_equal(score > last[:, None], differs)
    assert (c.min(axis=1) < c.max(axis=1)).any()


def test_sidak_holds_the_confidence_for_independent_differences():
    c = sidak_critical(np.array([0, 1, 7]), 0.9)
    # The definition; rounding.
    np.testing.assert_allclose((1 - 2 * ndtr(-c)) ** [1, 1, 7], 0.9, rtol=1e-12)
