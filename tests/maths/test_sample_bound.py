"""The bound against closed forms, Monte Carlo, laws, and numbers that were calculated elsewhere."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.sample_bound import Sample, gaffke_bounds
from tests.documents import study_numbers

VECTORS = study_numbers("calibrated_2")
ESTIMATES = {
    "avg": lambda n, c, _: c / n,
    "pass_at_k": lambda n, c, k: 1 - comb(n - c, k) / comb(n, k),
    "pass_hat_k": lambda n, c, k: comb(c, k) / comb(n, k),
}


def sample(values, units=None):
    values = np.asarray(values, dtype=float)
    units = np.ones(values.size) if units is None else np.asarray(units, dtype=float)
    return Sample.merged(values, units, np.zeros(values.size, dtype=np.int64), 1)


def ends(values, units=None, tail=0.025):
    lo, hi = gaffke_bounds(sample(values, units), tail)
    return lo.item(), hi.item()


@pytest.mark.parametrize("tail", [0.0001, 0.025, 0.3])
@pytest.mark.parametrize(
    ("questions", "right"), [(1, 1), (2, 1), (30, 0), (30, 30), (1000, 1), (1000, 999)]
)
def test_of_right_and_wrong_it_is_clopper_and_pearson(questions, right, tail):
    lo, hi = ends(
        [0.0, 1.0][: 2 if right else 1], [questions - right, right][: 2 if right else 1], tail
    )
    if right < questions:
        assert hi == pytest.approx(
            stats.beta.ppf(1 - tail, right + 1, questions - right), rel=1e-12
        )
    if right:
        assert lo == pytest.approx(stats.beta.ppf(tail, right, questions - right + 1), rel=1e-12)
    else:
        assert lo == 0.0


def test_equal_values_have_a_closed_form():
    lo, hi = ends([0.3], [7.5])
    assert lo == pytest.approx(0.3 * 0.025 ** (1 / 7.5), rel=1e-12)
    assert hi == pytest.approx(1 - 0.7 * 0.025 ** (1 / 7.5), rel=1e-12)


def test_agrees_with_random_weights():
    rng = np.random.default_rng(5)
    values, units = np.array([0.1, 0.35, 0.5, 0.9, 1.0]), np.array([2.0, 1.5, 3.0, 0.7, 1.0])
    weights = rng.dirichlet([*units, 1.0], 400_000)
    means = weights[:, :-1] @ values
    # The standard error of a quantile at .025 of 400,000 draws is 4e-4 here.
    assert ends(values, units)[0] == pytest.approx(np.quantile(means, 0.025), abs=2e-3)
    means = weights[:, :-1] @ (1 - values)
    assert ends(values, units)[1] == pytest.approx(1 - np.quantile(means, 0.025), abs=2e-3)


values_and_units = st.lists(
    st.tuples(st.integers(0, 1000).map(lambda i: i / 1000), st.floats(0.05, 40)),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@given(values_and_units, st.sampled_from([0.001, 0.025, 0.2]))
def test_bounds_hold_the_mean_and_widen_with_confidence(pairs, tail):
    values, units = np.array(pairs).T
    mean = values @ units / units.sum()
    lo, hi = ends(values, units, tail)
    assert 0 <= lo <= mean + 1e-12
    assert mean - 1e-12 <= hi <= 1
    wider = ends(values, units, tail / 2)
    assert wider[0] <= lo + 1e-9
    assert wider[1] >= hi - 1e-9


@pytest.mark.slow
@given(values_and_units)
def test_mirrored_values_have_mirrored_bounds(pairs):
    values, units = np.array(pairs).T
    lo, hi = ends(values, units)
    assert ends(1 - values, units) == pytest.approx((1 - hi, 1 - lo), abs=1e-9)


def test_a_group_does_not_depend_on_the_groups_beside_it():
    rng = np.random.default_rng(2)
    values, group = rng.binomial(16, rng.beta(0.4, 2, 600)) / 16, np.repeat(np.arange(20), 30)
    together = gaffke_bounds(Sample.merged(values, np.ones(600), group, 20), 0.025)
    for place in range(20):
        alone = ends(values[group == place])
        assert alone == (together.lo[place], together.hi[place])


def test_every_group_may_have_a_tail_of_its_own():
    both = Sample.merged(np.tile([0.2, 0.7], 2), np.ones(4), np.array([0, 0, 1, 1]), 2)
    lo, hi = gaffke_bounds(both, np.array([0.025, 0.1]))
    assert (lo[0], hi[0]) == ends([0.2, 0.7])
    assert (lo[1], hi[1]) == ends([0.2, 0.7], tail=0.1)


def test_many_distinct_values_and_questions_by_the_million():
    rng = np.random.default_rng(1)
    lo, hi = ends(rng.random(2_000))
    assert hi - lo == pytest.approx(2 * 1.96 * np.sqrt(1 / 12 / 2_000), rel=0.05)
    lo, hi = ends([0.0, 0.5, 1.0], [4e5, 2e5, 4e5])
    assert (lo, hi) == pytest.approx((0.5 - 1.96 * 4.472e-4, 0.5 + 1.96 * 4.472e-4), abs=2e-6)


@pytest.mark.parametrize("case", VECTORS["rule6"])
def test_vectors_of_questions(case):
    values = [ESTIMATES[case["metric"]](n, c, case["k"]) for n, c, _ in case["counts"]]
    units = [questions for *_, questions in case["counts"]]
    assert ends(values, units) == pytest.approx((case["lo"], case["hi"]), abs=1e-9)
    assert ends(values, units, 0.1) == pytest.approx((case["lo80"], case["hi80"]), abs=1e-9)


def test_vectors_of_clusters_and_of_a_macro_mean():
    case = VECTORS["clusters"]
    weights = np.array(case["cluster_sizes"]) / sum(case["cluster_sizes"])
    found = ends(case["cluster_means"], weights / (weights @ weights))
    assert found == pytest.approx((case["lo"], case["hi"]), abs=1e-9)
    case = VECTORS["macro"]
    _, stratum, sizes = np.unique(case["stratum"], return_inverse=True, return_counts=True)
    weights = 1 / (sizes.size * sizes[stratum])
    found = ends(case["values"], weights / (weights @ weights))
    assert found == pytest.approx((case["lo"], case["hi"]), abs=1e-9)
