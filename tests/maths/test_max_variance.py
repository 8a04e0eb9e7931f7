"""Variances of the best of k, against plain loops and Pass@k."""

from dataclasses import replace
from math import comb, sqrt

import numpy as np
import pytest
from scipy.special import gammaln

from polars_scorio.maths.best_of import best_variances
from polars_scorio.maths.credits import EndDraw, fixed_gains
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.interval import (
    Weighted,
    credit_estimates,
    expected_correlations,
    mean_noises,
)
from polars_scorio.maths.questions import States, Subgroups
from tests.maths.cases import (
    CASES,
    COUNTS,
    QUESTIONS,
    W,
    assert_variances_equal,
    states_of,
    states_of_categories,
)


@pytest.mark.parametrize("case", [case for case in CASES if case not in {"n = 1", "one trial"}])
def test_the_better_of_two_rewards_is_a_success(case):
    states = states_of(CASES[case])
    k = int(states.counts.sum(axis=1).min())
    found, _ = best_variances(states, np.array([0.0, 1.0]), [k, 1])
    known = credit_estimates(Weighted(states), [fixed_gains(any_success(k))]).at(0)
    # The same fit, from successes that are counted the other way round: rounding.
    assert_variances_equal(found, known, 1e-8)
    # Other weights, other order: the scale moves, nothing else does.
    swapped = replace(states, counts=states.counts[:, ::-1])
    (moved,) = best_variances(swapped, np.array([5.0, 3.0]), [k])
    # The same sums in another order.
    assert_variances_equal(moved, found, 1e-12)
    # A few roundings: far below the default of approx.
    assert moved.mu == pytest.approx(3 + 2 * found.mu)


def moment(nu, first, second, i, j):
    """E[A_first^i A_second^j], cumulated shares of a Dirichlet, first <= second."""

    def rising(x, size):
        return np.exp(gammaln(x + size) - gammaln(x))

    low, high, total = nu[: first + 1].sum(), nu[: second + 1].sum(), nu.sum()
    inner = 1.0 if first == second else rising(low, i) / rising(high, i)
    return inner * rising(high, i + j) / rising(total, i + j)


def overlap(nu, n, k, first, second):
    """Covariance of two draws of k from n trials: that each stays below its reward."""
    return sum(
        comb(k, r)
        * comb(n - k, k - r)
        / comb(n, k)
        * (moment(nu, first, second, k, k - r) - moment(nu, first, second, k, k))
        for r in range(1, k + 1)
    )


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("k", [3, 4, 9])
def test_the_ends_of_the_better_of_two_rewards_are_those_of_a_success(k, upper):
    states = states_of(CASES["ragged"])
    assert k > states.counts.sum(axis=1).min()
    (found,) = best_variances(states, np.array([0.0, 1.0]), [k], upper=upper)
    draw = EndDraw(fixed_gains(any_success(k)), upper=upper)
    known = credit_estimates(Weighted(states), [draw]).at(0)
    # As above.
    np.testing.assert_allclose(found.ends(0.025), known.ends(0.025), rtol=1e-8)


@pytest.mark.parametrize("k", [3, 7])
def test_too_few_trials_of_all_questions_leave_the_highest_reward(k):
    counts = np.minimum(COUNTS, 2)[:, ::-1]
    n = counts.sum(axis=1).max()
    asked = states_of_categories(counts, QUESTIONS), W
    (high,) = best_variances(*asked, [n + k], upper=True)
    assert [*high.mu, *high.sigma, *np.ravel(high.ends(0.025))] == pytest.approx([2, 0, 2, 2])


# Of five kinds of questions, all but the last one have three trials.
@pytest.mark.parametrize(
    ("k", "upper"), [(1, None), (2, None), (3, None), (4, False), (4, True), (6, False)]
)
def test_the_best_of_k_equals_plain_loops(k, upper):
    gaps, staying, rho = [1 / 3, 2 / 3], [], 0.0
    gains = fixed_gains(all_success(k))
    gains = gains if upper is None else EndDraw(gains, upper=not upper)
    for step, gap in enumerate(gaps):
        below = COUNTS[:, : step + 1].sum(axis=1)
        group = zip(COUNTS.sum(axis=1).tolist(), below.tolist(), QUESTIONS.tolist(), strict=True)
        asked = Weighted(states_of([*group]))
        price = mean_noises(asked.questions, [gains])
        noisy = credit_estimates(asked, [gains])
        numbers = noisy.estimate, price.mean, price.variance, price.factor
        staying.append(tuple(each.item() for each in numbers))
        rho += gap * expected_correlations(asked)[0]
    n = COUNTS.sum(axis=1)
    pooled = 0.5 + sum(
        h * row / (1 + (row.sum() - 1) * rho) for h, row in zip(QUESTIONS, COUNTS, strict=True)
    )
    nu = (1 - rho) / rho * pooled / pooled.sum() + COUNTS

    covariance = np.zeros((2, 2))
    for row, h in enumerate(QUESTIONS):
        size = int(n[row])
        if size < k and upper:
            continue
        for first, second in ((0, 0), (0, 1), (1, 1)):
            draw = nu[row], size, min(k, size)
            covariance[first, second] += h * overlap(*draw, first, second)
    r = covariance[0, 1] / sqrt(covariance[0, 0] * covariance[1, 1])
    noise = [gap * sqrt(s2) for gap, (_, _, s2, _) in zip(gaps, staying, strict=True)]
    wider = [v * part[3] for v, part in zip(noise, staying, strict=True)]
    s2 = noise[0] ** 2 + noise[1] ** 2 + 2 * r * noise[0] * noise[1]
    widened = wider[0] * (noise[0] + r * noise[1]) + wider[1] * (noise[1] + r * noise[0])
    (found,) = best_variances(states_of_categories(COUNTS, QUESTIONS), W, [k], upper=upper)
    u = sum(gap * part[0] for gap, part in zip(gaps, staying, strict=True))
    # A few roundings: far below the default of approx.
    assert found.mu[0] == pytest.approx(2 - 3 * u)
    assert found.sigma[0] == pytest.approx(3 * sqrt(s2))
    assert found.factor[0] == pytest.approx(widened / s2)


@pytest.mark.parametrize("k", [1, 2])
def test_the_best_of_two_rewards_over_strata_is_a_success(k):
    counts, stratum = np.array([[2, 0], [1, 1], [0, 2], [1, 1], [0, 2]]), np.array([0, 0, 0, 0, 1])
    none, one = np.zeros(5, dtype=int), np.ones(5, dtype=int)
    strata = Subgroups.tally(counts, 0 * counts, none, stratum, one, 1)
    states = States.tally(counts, 0 * counts, none, one, 1)
    (found,) = best_variances(states, np.array([0.0, 1.0]), [k], strata)
    gains = fixed_gains(any_success(k))
    known = credit_estimates(Weighted(states, strata), [gains]).at(0)
    # A complement: rounding.
    assert_variances_equal(found, known, 1e-9)


def test_the_best_of_equal_rewards_is_certain():
    (noisy,) = best_variances(states_of_categories(COUNTS, QUESTIONS), np.full(3, 0.7), [2])
    assert [noisy.mu, noisy.sigma, *noisy.ends(0.025)] == [0.7, 0, 0.7, 0.7]
