"""Expected credits and their moments, against counting, fractions and 400-digit arithmetic."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scorio import eval as reference

from polars_scorio.maths.credits import RootDraw, draw_bounds, fixed_gains
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    at_least_share,
    credit_covariance,
    credit_moments,
    excess_over_half,
    expected_credit,
    majority_gains,
)
from tests.maths.credits import (
    draws_of_trials,
    every_credit,
    gains_vectors,
    posteriors,
    states,
)

# --- Published numbers -------------------------------------------------------------------------

# DESIGN.md, section 7 (R1): two questions with 3 and 4 successes in 5 trials, printed to 6 digits.
R1 = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])


@pytest.mark.parametrize(
    ("gains", "estimate", "moments"),
    [
        pytest.param(any_success(1), 0.7, (0.642857, 0.118451), id="pass@1"),
        pytest.param(any_success(2), 0.95, (0.839286, 0.097263), id="pass@2"),
        pytest.param(all_success(2), 0.45, (0.446429, 0.146167), id="pass^2"),
        pytest.param(majority_gains(3), 0.85, (0.684524, 0.151958), id="maj@3"),
        pytest.param(majority_gains(2), 0.45, None, id="maj@2"),
        pytest.param(area_under_curve(1), 0.7, None, id="auc@1"),
        pytest.param(area_under_curve(2), 0.825, None, id="auc@2"),
        pytest.param(area_under_curve(3), 0.9, None, id="auc@3"),
        pytest.param(at_least_share(2, 0.5), 0.95, None, id="g-pass@2, 0.5"),
        pytest.param(at_least_share(2, 1.0), 0.45, None, id="g-pass@2, 1"),
        pytest.param(excess_over_half(2), 0.45, None, id="mg-pass@2"),
        pytest.param(excess_over_half(3), 0.166667, None, id="mg-pass@3"),
    ],
)
def test_reproduces_published_numbers(gains, estimate, moments):
    n, c = np.array([5, 5]), R1.sum(axis=1)
    # Half a unit of the sixth digit, the last that is printed.
    assert expected_credit(n, c, gains).mean() == pytest.approx(estimate, abs=5e-7)
    if moments:
        mean, variance = credit_moments(c + 1.0, n - c + 1.0, gains)
        # Half a unit of the sixth digit again.
        assert (mean.mean(), np.sqrt(variance.sum()) / 2) == pytest.approx(moments, abs=5e-7)


# --- Laws --------------------------------------------------------------------------------------


@given(draws_of_trials())
def test_some_success_and_only_failures_exclude_each_other(state):
    n, c, k = state
    total = expected_credit(n, c, any_success(k))
    total += expected_credit(n, n - c, all_success(k))
    np.testing.assert_allclose(total, 1.0, rtol=1e-14)  # Of two logs, up to 60 roundings each.


@given(posteriors, st.integers(1, 100))
def test_some_success_and_only_failures_have_one_variance(posterior, k):
    a, b = posterior
    some, only = any_success(k), all_success(k)
    mean, variance = credit_moments(a, b, some)
    mirrored_mean, mirrored_variance = credit_moments(b, a, only)
    np.testing.assert_allclose(mean + mirrored_mean, 1.0, rtol=1e-13)  # exp() of logs up to 700.
    # Products of gains and chances, as exact as those: exp() of logs up to 700.
    np.testing.assert_allclose(variance, mirrored_variance, rtol=1e-13)


@given(posteriors)
def test_a_draw_of_one_trial_has_the_moments_of_the_posterior(posterior):
    a, b = posterior
    mean, variance = credit_moments(a, b, np.array([1.0]))
    # Some ten roundings, one of them in the exponent of exp().
    np.testing.assert_allclose(mean, a / (a + b), rtol=1e-14)
    np.testing.assert_allclose(variance, a * b / ((a + b) ** 2 * (a + b + 1)), rtol=1e-14)


@given(posteriors, st.integers(1, 100), st.sampled_from([any_success, all_success]))
def test_pure_powers_have_a_closed_form_that_agrees_with_the_sum(posterior, k, gains_of):
    # 3e-13: the closed form takes exp() of logs, the sum 300 products.
    gains = gains_of(k)
    nearly = np.maximum(gains, 1e-300)  # No gain is 0: the closed form does not apply.
    closed, summed = (credit_moments(*posterior, each) for each in (gains, nearly))
    np.testing.assert_allclose(closed, summed, rtol=3e-13, atol=1e-280)


@given(posteriors, gains_vectors, st.data())
def test_more_gain_never_lowers_a_mean_or_a_covariance(posterior, gains, data):
    more = gains.copy()
    more[data.draw(st.integers(0, gains.size - 1))] += 0.5
    mean, variance = credit_moments(*posterior, gains)
    raised_mean, raised_variance = credit_moments(*posterior, more)
    slack = 1 + 1e-13  # Rounding.
    assert mean <= raised_mean * slack
    assert variance <= credit_covariance(*posterior, gains, more) * slack
    assert variance <= raised_variance * slack


@given(posteriors, gains_vectors, gains_vectors)
def test_a_covariance_is_symmetric_and_obeys_cauchy_and_schwarz(posterior, gains, other):
    covariance = credit_covariance(*posterior, gains, other)
    mirrored = credit_covariance(*posterior, other, gains)
    np.testing.assert_allclose(covariance, mirrored, rtol=1e-13)  # Sums in another order.
    _, variance = credit_moments(*posterior, gains)
    _, other_variance = credit_moments(*posterior, other)
    assert 0 <= covariance <= np.sqrt(variance) * np.sqrt(other_variance) * (1 + 1e-13)


@given(posteriors, gains_vectors, gains_vectors)
def test_the_variance_of_a_sum_of_gains_holds_the_covariance_twice(posterior, gains, other):
    size = max(gains.size, other.size)
    gains, other = (np.pad(each, (0, size - each.size)) for each in (gains, other))
    _, together = credit_moments(*posterior, gains + other)
    parts = [credit_covariance(*posterior, *pair) for pair in product((gains, other), repeat=2)]
    # Sums of up to 144 products of one sign; atol where variances are nearly no doubles.
    np.testing.assert_allclose(together, sum(parts), rtol=1e-13, atol=1e-300)


@given(draws_of_trials(), gains_vectors)
def test_the_estimate_never_exceeds_full_credit(state, gains):
    n, c, _ = state
    full = np.cumsum(gains)[-1]
    assert not (expected_credit(n, c, gains) > full).any()
    mean, variance = credit_moments(c + 1.0, n - c + 1.0, gains)
    assert mean <= full
    assert 0 <= variance <= full**2 / 4  # Popoviciu's bound.


@every_credit
def test_certain_draws_have_exact_estimates(gains_of):
    n, c = states((10, 0), (10, 10))
    full = np.cumsum(gains_of(10))[-1]
    np.testing.assert_array_equal(expected_credit(n, c, gains_of(10)), [0.0, full])


# --- The package scorio as another implementation ------------------------------------------------

SPECTRUM = [0.2, 0.0, 0.5, 0.1, 0.15, 0.0]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "gains", "arguments"),
    [
        ("pass_at_k", any_success(6), ()),
        ("pass_hat_k", all_success(6), ()),
        ("g_pass_at_k_tau", at_least_share(6, 0.6), (0.6,)),
        ("mg_pass_at_k", excess_over_half(6), ()),
        ("maj_at_k", majority_gains(6), ()),
        ("auc_at_k", area_under_curve(6), ()),
        ("threshold_spectrum_at_k", np.array(SPECTRUM), (SPECTRUM,)),
    ],
)
@settings(max_examples=25, deadline=None)  # The reference is slow.
@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=5))
def test_agrees_with_the_package_scorio(name, gains, arguments, outcomes):
    matrix = np.array(outcomes, dtype=int)
    c = matrix.sum(axis=1)
    n = np.full_like(c, matrix.shape[1])
    mean, variance = credit_moments(c + 1.0, n - c + 1.0, gains)
    sigma = np.sqrt(variance.sum()) / n.size
    estimate = expected_credit(n, c, gains).mean()
    # The reference takes chances from ratios of binomials: a few dozen roundings.
    assert estimate == pytest.approx(getattr(reference, name)(matrix, 6, *arguments), rel=1e-12)
    # 1e-9: there the variance is a difference of squares.
    interval = getattr(reference, f"{name}_ci")(matrix, 6, *arguments)
    assert (mean.mean(), sigma) == pytest.approx(interval[:2], rel=1e-9)


# --- Edges -------------------------------------------------------------------------------------


@every_credit
def test_no_estimate_exists_where_a_draw_exceeds_the_trials(gains_of):
    n, c = states((0, 0), (4, 2), (5, 2), (6, 2))
    got = expected_credit(n, c, gains_of(5))
    np.testing.assert_array_equal(np.isnan(got), [True, True, False, False])


@every_credit
def test_no_states_give_no_results(gains_of):
    none = np.array([])
    assert expected_credit(none.astype(int), none.astype(int), gains_of(3)).shape == (0,)
    assert [each.shape for each in credit_moments(none, none, gains_of(3))] == [(0,), (0,)]


def test_a_metric_that_gains_nothing_has_no_spread():
    for gains in (np.zeros(1), np.zeros(4)):
        got = [expected_credit(*states((9, 5)), gains), *credit_moments(*states((2.0, 3.0)), gains)]
        np.testing.assert_array_equal(np.ravel(got), 0.0)
    assert credit_covariance(*states((2.0, 3.0)), np.zeros(4), np.ones(3)) == 0


def test_refuses_states_that_broadcast():
    with pytest.raises(
        ValueError, match=r"n and c must have the same shape, got \(2,\) and \(1,\)"
    ):
        expected_credit(np.array([5, 5]), np.array([3]), np.ones(1))
    for function, gains in ((credit_moments, [np.ones(1)]), (credit_covariance, [np.ones(1)] * 2)):
        with pytest.raises(
            ValueError, match=r"a and b must have the same shape, got \(1,\) and \(2,\)"
        ):
            function(np.ones(1), np.ones(2), *gains)


@every_credit
@pytest.mark.parametrize("k", [1, 20, 300])
def test_a_state_does_not_depend_on_its_company(gains_of, k):
    n = np.repeat(np.arange(300, 390), 4)  # At k = 300 these are four blocks.
    c = n * np.tile([0, 1, 2, 3], 90) // 3
    gains = gains_of(k)
    together = [expected_credit(n, c, gains), *credit_moments(c + 1.0, n - c + 1.0, gains)]
    for alone in (slice(7, 8), slice(100, 125), slice(210, 240)):
        x, y = n[alone], c[alone]
        apart = [expected_credit(x, y, gains), *credit_moments(y + 1.0, x - y + 1.0, gains)]
        np.testing.assert_array_equal(apart, [each[alone] for each in together])


@pytest.mark.parametrize(("size", "k"), [(300_000, 4), (20, 3000)])
def test_memory_is_bounded_whatever_the_states_and_the_draw(size, k):
    n = np.full(size, k + 4)
    c = np.arange(size) % k
    tracemalloc.start()
    expected_credit(n, c, excess_over_half(k))
    credit_moments(c + 1.0, n - c + 1.0, excess_over_half(k))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * n.nbytes + 64 * 2**20  # Ten arrays of the states, temporaries of 64 MB.


# The smaller draws that bound a metric.


@pytest.mark.parametrize(
    ("gains", "smaller", "above"),
    [
        (any_success(1), [], True),
        (any_success(5), [(1, False), (2, False), (4, False)], True),
        (any_success(64), [(1, False), (2, False), (4, False), (8, False)], True),
        (all_success(4), [(1, False), (2, True)], False),
        (area_under_curve(4), [(1, False)], True),
        (excess_over_half(4), [(1, False)], False),
        (majority_gains(4), [], False),
        (np.array([0.0, 0.5]), [(1, False)], False),
    ],
)
def test_draws_that_a_question_has_trials_for_bound_a_metric(gains, smaller, above):
    bounds = draw_bounds(fixed_gains(gains), np.array([2, 9]))
    assert [(draw.k, draw.every) for draw in bounds.smaller] == smaller
    assert bounds.above == above or not smaller


def test_a_bound_holds_for_questions_of_any_rate():
    p = np.linspace(0, 1, 21)
    for gains in (any_success(6), all_success(6), excess_over_half(6)):
        bounds = draw_bounds(fixed_gains(gains), np.array([12]))
        for small in bounds.smaller:
            gap = mean_credit(gains, p) - mean_credit(small.draw_gains()(12), p)
            assert (gap >= -1e-12).all() if bounds.above else (gap <= 1e-12).all()


def mean_credit(gains, p):
    """The expected credit of a draw, from binomial chances."""
    k = gains.size
    count = np.arange(k + 1)
    ways = np.array([1.0, *np.cumprod((k - count[:-1]) / (count[:-1] + 1))])
    chances = ways * p[:, None] ** count * (1 - p[:, None]) ** (k - count)
    return chances @ np.concatenate(([0.0], np.cumsum(gains)))


def test_roots_and_draws_of_all_trials_have_no_bounds():
    assert draw_bounds(RootDraw(2, (0.5, 0.5)), np.array([4])).smaller == ()
    assert draw_bounds(all_success, np.array([4])).smaller == ()
    assert draw_bounds(fixed_gains(all_success(3)), np.array([], np.int64)).itself.k == 3
