"""The bound against closed forms, a second calculation, laws, and numbers of the study."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.sample_bound import UnitSample
from tests.documents import study_numbers
from tests.maths.oracle import beta_bound


def unit_sample(values, weight=None, number=None, group=None):
    """Units of one group, or of several."""
    values = np.asarray(values, dtype=float)
    one, none = np.ones(values.size, dtype=int), np.zeros(values.size, dtype=int)
    group = none if group is None else group
    return UnitSample(
        values,
        one.astype(float) if weight is None else np.asarray(weight, dtype=float),
        one if number is None else np.asarray(number),
        group,
        int(group.max()) + 1,
    )


def ends(values, weight=None, number=None, tail=0.025):
    lo, hi = unit_sample(values, weight, number).bounds(1 - 2 * tail)
    return lo.item(), hi.item()


VECTORS = study_numbers("repairs")["population"]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_ends_are_those_of_the_study(case):
    (low, high), values = case["range"], np.array(case["values"])
    found = ends((values - low) / (high - low), case["weight"], tail=(1 - case["confidence"]) / 2)
    if case["lo"] is None:
        assert np.isnan(found).all()
    else:
        found = [low + (high - low) * end for end in found]
        assert found == pytest.approx([case["lo"], case["hi"]], abs=1e-9)


@pytest.mark.parametrize("tail", [0.0001, 0.025, 0.3])
@pytest.mark.parametrize(
    ("questions", "right"), [(2, 2), (2, 1), (30, 0), (30, 30), (1000, 1), (1000, 999)]
)
def test_of_right_and_wrong_it_is_clopper_and_pearson(questions, right, tail):
    lo, hi = ends([0.0] * (questions - right) + [1.0] * right, tail=tail)
    if right < questions:
        assert hi == pytest.approx(
            stats.beta.ppf(1 - tail, right + 1, questions - right), rel=1e-12
        )
    if right:
        assert lo == pytest.approx(stats.beta.ppf(tail, right, questions - right + 1), rel=1e-12)
    else:
        assert lo == 0.0


@pytest.mark.parametrize("top", [0.3, 1.0])
@pytest.mark.parametrize("zeros", [0, 1, 6])
def test_of_two_values_it_is_that_of_right_and_wrong(top, zeros):
    lo, _ = ends([0.0] * zeros + [top] * 7)
    assert lo == pytest.approx(top * stats.beta.ppf(0.025, 7, zeros + 1), rel=1e-12)


def test_it_has_two_moments_of_random_weights():
    rng = np.random.default_rng(5)
    values = np.array([0.1, 0.35, 0.5, 0.9, 1.0, 0.7, 0.2])
    means = rng.dirichlet(np.ones(values.size + 1), 400_000)[:, :-1] @ values
    mean, variance = means.mean(), means.var()
    size = mean * (1 - mean) / variance - 1
    expected = stats.beta.ppf(0.025, size * mean, size * (1 - mean))
    # The standard error of both moments of 400,000 draws moves the end by 3e-4.
    assert ends(values)[0] == pytest.approx(expected, abs=2e-3)


units = st.lists(
    st.tuples(st.integers(0, 1000).map(lambda i: i / 1000), st.floats(0.05, 40)),
    min_size=2,
    max_size=8,
)


@given(units, st.sampled_from([0.0005, 0.025, 0.2, 0.4]))
def test_weighted_units_against_a_second_calculation(pairs, tail):
    values, weight = np.array(pairs).T
    lo, hi = ends(values, weight, tail=tail)
    assert lo == pytest.approx(beta_bound(values, weight, tail), abs=1e-9)
    assert hi == pytest.approx(1 - beta_bound(1 - values, weight, tail), abs=1e-9)


@given(units, st.sampled_from([0.001, 0.025, 0.2]))
def test_bounds_hold_the_mean_and_widen_with_confidence(pairs, tail):
    values, weight = np.array(pairs).T
    mean = values @ weight / weight.sum()
    lo, hi = ends(values, weight, tail=tail)
    assert 0 <= lo <= mean + 1e-12
    assert mean - 1e-12 <= hi <= 1
    wider = ends(values, weight, tail=tail / 2)
    assert wider[0] <= lo + 1e-9
    assert wider[1] >= hi - 1e-9


@given(units)
def test_mirrored_values_have_mirrored_bounds(pairs):
    values, weight = np.array(pairs).T
    lo, hi = ends(values, weight)
    assert ends(1 - values, weight) == pytest.approx((1 - hi, 1 - lo), abs=1e-9)


def test_a_group_does_not_depend_on_the_groups_beside_it():
    rng = np.random.default_rng(2)
    values, group = rng.binomial(16, rng.beta(0.4, 2, 600)) / 16, np.repeat(np.arange(20), 30)
    together = unit_sample(values, group=group).bounds(0.95)
    for place in range(20):
        assert ends(values[group == place]) == (together.lo[place], together.hi[place])


def test_every_group_may_have_a_confidence_of_its_own():
    both = unit_sample(np.tile([0.2, 0.7], 2), group=np.array([0, 0, 1, 1]))
    lo, hi = both.bounds(np.array([0.95, 0.8]))
    assert (lo[0], hi[0]) == ends([0.2, 0.7])
    assert (lo[1], hi[1]) == ends([0.2, 0.7], tail=0.1)


def test_many_distinct_values_and_questions_by_the_million():
    rng = np.random.default_rng(1)
    lo, hi = ends(rng.random(2_000))
    assert hi - lo == pytest.approx(2 * 1.96 * np.sqrt(1 / 12 / 2_000), rel=0.05)
    lo, hi = ends([0.0, 0.5, 1.0], number=[400_000, 200_000, 400_000])
    assert (lo, hi) == pytest.approx((0.5 - 1.96 * 4.472e-4, 0.5 + 1.96 * 4.472e-4), abs=2e-6)
