"""What every answer keeps to, up to the edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.credit_numbers import Measurement, variance_numbers
from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    excess_over_half,
    majority_gains,
)
from polars_scorio.maths.interval import Estimate, MeanNoise, Weighted, credit_estimates
from polars_scorio.maths.questions import Subgroups
from tests.maths.cases import CASES, HARD, states_of

SHAPES = [any_success, all_success, majority_gains, excess_over_half]


def credit_numbers(states, draws, confidence, target="benchmark", clusters=None):
    return Measurement(Weighted(states), confidence, target, clusters).credits(draws)


@st.composite
def groups(draw):
    n = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    return [(size, draw(st.integers(0, size)), draw(st.integers(1, 40))) for size in n]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(groups(), st.sampled_from(SHAPES), st.sampled_from([0.5, 0.95, 0.999]))
def test_the_interval_holds_the_estimate(group, shape, confidence):
    k = min(n for n, _, _ in group)
    for target in ("benchmark", "population"):
        (found,) = credit_numbers(states_of(group), [fixed_gains(shape(k))], confidence, target)
        assert 0 <= found.estimate[0] <= 1 + 1e-12
        if target == "population" and sum(h for _, _, h in group) == 1:
            assert np.isnan([found.sigma, found.lo, found.hi]).all()
            continue
        assert 0 <= found.lo[0] <= found.estimate[0] <= found.hi[0] <= 1 + 1e-12
        assert found.sigma[0] >= 0


@pytest.mark.parametrize("target", ["benchmark", "population"])
@settings(deadline=None, max_examples=15)
@given(group=groups())
def test_no_interval_contradicts_that_of_a_smaller_draw(target, group):
    fewest, states = min(n for n, _, _ in group), states_of(group)
    if target == "population" and sum(h for _, _, h in group) == 1:
        return
    sizes = [1, *(j for j in (2, 3) if 2 * j <= fewest), fewest]
    for shape in (any_success, all_success):
        draws = [fixed_gains(shape(k)) for k in sizes]
        found = credit_numbers(states, draws, 0.95, target)
        lower, upper = np.ravel([each.lo for each in found]), np.ravel([each.hi for each in found])
        for j in (0, 1) if fewest >= 4 else (0,):  # draws of 1 and of 2
            if shape is any_success:
                assert (lower[j:] >= lower[j] - 1e-12).all()
            else:
                assert (upper[j:] <= upper[j] + 1e-12).all()
        for draw, together in zip(draws, found, strict=True):
            (alone,) = credit_numbers(states, [draw], 0.95, target)
            assert alone.lo == pytest.approx(together.lo, abs=1e-12)
            assert alone.hi == pytest.approx(together.hi, abs=1e-12)


def test_an_area_is_bounded_by_the_success_rate():
    states = states_of([(4, 4, 12), (4, 0, 3)])
    draws = [fixed_gains(gains) for gains in (np.ones(1), area_under_curve(4))]
    average, area = credit_numbers(states, draws, 0.95)
    alone = variance_numbers(credit_estimates(Weighted(states), draws[1:]).at(0), 0.95)
    assert alone.lo[0] < average.lo[0] == area.lo[0]


def test_a_group_does_not_bound_another_one():
    small, large, draw = (4, 4, 12), (16, 16, 12), fixed_gains(any_success(4))
    (both,) = credit_numbers(states_of([small], [large]), [draw], 0.95)
    for place, group in enumerate((small, large)):
        (alone,) = credit_numbers(states_of([group]), [draw], 0.95)
        assert both.lo[place] == pytest.approx(alone.lo[0], abs=1e-12)


def test_metrics_on_both_sides_of_the_success_rate_keep_their_intervals():
    states, draw = states_of([(4, 4, 30)]), fixed_gains(majority_gains(4))
    (found,) = credit_numbers(states, [draw], 0.95)
    alone = variance_numbers(credit_estimates(Weighted(states), [draw]).at(0), 0.95)
    assert (found.lo, found.hi) == (alone.lo, alone.hi)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(groups(), st.sampled_from([any_success, all_success]))
def test_success_and_failure_mirror_each_other(group, shape):
    k = min(n for n, _, _ in group)
    other = all_success if shape is any_success else any_success
    mirrored = [(n, n - c, h) for n, c, h in group]
    (found,) = credit_numbers(states_of(group), [fixed_gains(shape(k))], 0.95)
    (mirror,) = credit_numbers(states_of(mirrored), [fixed_gains(other(k))], 0.95)
    assert found.sigma == pytest.approx(mirror.sigma, abs=1e-8)
    assert found.lo == pytest.approx(1 - mirror.hi, abs=1e-7)
    assert found.hi == pytest.approx(1 - mirror.lo, abs=1e-7)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_every_case_has_numbers(case, target):
    group = CASES[case]
    draws = [
        majority_gains,
        fixed_gains(any_success(1)),
        fixed_gains(all_success(1)),
    ]
    for found in credit_numbers(states_of(group), draws, 0.95, target):
        single = target == "population" and sum(h for _, _, h in group) == 1
        assert np.isfinite([found[0], *([] if single else found[1:4])]).all()


def test_more_draws_than_trials_have_a_range_in_that_group_only():
    draw = fixed_gains(any_success(6))
    (found,) = credit_numbers(states_of(HARD, [(8, 2, 9)]), [draw], 0.95)
    assert np.isnan([found.estimate[0], found.sigma[0]]).all()
    assert 0 < found.lo[0] < found.hi[0] == 1
    (alone,) = credit_numbers(states_of([(8, 2, 9)]), [draw], 0.95)
    # The same sums, perhaps in another order.
    assert [each[1] for each in found[:4]] == pytest.approx(np.ravel(alone[:4]).tolist(), rel=1e-11)


def test_gains_of_nothing_are_certain():
    (found,) = credit_numbers(states_of(HARD), [fixed_gains(np.zeros(1))], 0.95)
    assert np.ravel(found[:4]).tolist() == [0] * 4


def test_no_groups():
    nothing = np.zeros((0, 3), dtype=int)
    states = states_of(HARD)
    empty = type(states)(*nothing.T, 0, nothing[:, :2], nothing[:, :2])
    (found,) = credit_numbers(empty, [fixed_gains(np.ones(1))], 0.95)
    assert found.lo.size == 0


def test_without_noise_the_interval_is_the_estimate():
    half = np.array([0.5])
    noisy = Estimate.from_noise(half, half, MeanNoise(0 * half, half + 0.5, half, half), half + 2)
    assert np.ravel(noisy.ends(0.025)).tolist() == [0.5, 0.5]


def test_clusters_widen_the_population_and_change_nothing_with_single_questions():
    group, gains = [(4, 0, 10), (4, 4, 10)], fixed_gains(np.ones(1))
    states = states_of(group)
    counts = np.repeat([[4, 0], [0, 4]], 10, axis=0)
    one = np.ones(20, dtype=int)

    def numbers(cluster):
        clusters = Subgroups.tally(counts, 0 * counts, 0 * one, cluster, one, 1)
        return credit_numbers(states, [gains], 0.95, "population", clusters)[0]

    # Ten clusters of two questions that agree, five of which succeed.
    pairs, alone = numbers(np.arange(20) // 2), numbers(np.arange(20))
    # By hand, with one 0 and one 1 more: 6 of 12, and 11 of 22.
    assert pairs.sigma == pytest.approx(np.sqrt(0.25 / 11))
    assert pairs.lo == pytest.approx(0.5 + stats.t.ppf(0.025, 11) * np.sqrt(0.25 / 11))
    (plain,) = credit_numbers(states, [gains], 0.95, "population")
    assert [*alone.sigma, *alone.lo, *alone.hi] == [*plain.sigma, *plain.lo, *plain.hi]
    assert plain.lo == pytest.approx(0.5 + stats.t.ppf(0.025, 21) * np.sqrt(0.25 / 21))
    together = numbers(0 * one)
    assert np.isnan([together.sigma, together.lo, together.hi]).all()
