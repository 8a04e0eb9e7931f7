"""Intervals of blends of means, and of the mean of blends, against numbers of the study."""

import numpy as np
import pytest

from polars_scorio.maths.blend_variances import BlendOfMeans, blend_numbers, blend_variance
from polars_scorio.maths.credit_at_rates import RootDraw
from polars_scorio.maths.credit_numbers import credit_numbers, variance_numbers
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.questions import Subgroups
from polars_scorio.maths.variance import fixed_gains
from tests.documents import study_numbers
from tests.maths.cases import CASES, states_of

VECTORS = study_numbers("calibrated_2")
HALVES = (0.5, 0.5)


def numbers(group, k, target, clusters=None):
    fitted = Calibrated.fit(states_of(group))
    blended = BlendOfMeans(any_success(k), all_success(k), HALVES)
    noisy = blend_variance(fitted, blended.x, blended.y, HALVES)
    return blend_numbers(fitted, blended, noisy, 0.95, target, clusters), noisy


def test_vectors_of_blends_of_a_population():
    case = VECTORS["population_roots"]
    n, k = case["n"], case["k"]
    group = [(n, c, case["c"].count(c)) for c in sorted({*case["c"]})]
    fitted = Calibrated.fit(states_of(group))
    draws = fixed_gains(any_success(k)), fixed_gains(all_success(k))
    parts = credit_numbers(fitted, draws, 0.95, "population")
    for part, (_, mu, *ends) in zip(parts, case["parts"], strict=False):
        assert part.mu[0] == pytest.approx(mu, abs=1e-9)
        # Ends of another bound, of which this one takes the moments.
        assert [part.lo[0], part.hi[0]] == pytest.approx(ends, abs=0.02)
    (geom,) = credit_numbers(fitted, [RootDraw(k, HALVES)], 0.95, "population")
    known = case["geom_at_k"]
    assert geom.estimate[0] == pytest.approx(known["estimate"], abs=1e-9)
    assert [geom.lo[0], geom.hi[0]] == pytest.approx([known["lo"], known["hi"]], abs=0.02)
    blended, _ = numbers(group, k, "population")
    lower, upper = np.array([(part.lo[0], part.hi[0]) for part in parts]).T
    assert [blended.lo[0], blended.hi[0]] == pytest.approx(np.sqrt([lower.prod(), upper.prod()]))


def test_without_a_failure_both_means_say_how_far_the_interval_reaches():
    group = CASES["all right"]
    found, _ = numbers(group, 2, "benchmark")
    draws = [fixed_gains(gains) for gains in (any_success(2), all_success(2))]
    passing, unanimous = credit_numbers(Calibrated.fit(states_of(group)), draws, 0.95)
    assert found.lo == pytest.approx(np.sqrt(passing.lo * unanimous.lo))
    assert found.hi == [1.0]


@pytest.mark.parametrize("name", ["two questions", "hard", "99 %", "half"])
def test_about_these_questions_the_shorter_interval_counts_on_each_side(name):
    group = CASES[name]
    found, noisy = numbers(group, 2, "benchmark")
    alone = variance_numbers(noisy, 0.95)
    assert (found.lo >= alone.lo).all()
    assert (found.hi <= alone.hi).all()
    assert (found.lo <= found.estimate).all()
    assert (found.estimate <= found.hi).all()


def test_beyond_the_trials_a_blend_has_no_numbers():
    for target in ("benchmark", "population"):
        found, _ = numbers(CASES["hard"], 5, target)
        assert np.isnan(np.ravel(found[:5])).all()


def test_clusters_add_to_the_noise_of_a_blend():
    group = [(4, 0, 10), (4, 4, 10)]
    counts, one = np.repeat([[4, 0], [0, 4]], 10, axis=0), np.ones(20, dtype=int)
    pairs = Subgroups.tally(counts, 0 * counts, 0 * one, np.arange(20) // 2, one, 1)
    alone, _ = numbers(group, 2, "population")
    together, _ = numbers(group, 2, "population", pairs)
    # Both means are the average here, and so is their blend, but for one more question at 1/2.
    assert together.sigma == pytest.approx(np.sqrt(10 / 9 * 10 / 400))
    assert together.sigma > alone.sigma
    assert together.lo < alone.lo
