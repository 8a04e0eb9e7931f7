"""Variances of average weights, against plain loops, and at the ends of the scale."""

from math import sqrt

import numpy as np
import pytest

from polars_scorio.maths.lattice import fit_categories
from polars_scorio.maths.questions import Subgroups
from polars_scorio.maths.variance_estimates import average_variance, clopper_pearson_interval
from tests.maths.cases import COUNTS, QUESTIONS, W, states_of_categories


def test_an_average_equals_plain_loops():
    grid = fit_categories(COUNTS, QUESTIONS)
    noise = np.zeros_like(grid.weight)
    for pi, rho, j in zip(grid.mean, grid.rho, range(noise.size), strict=True):
        s = (1 - rho) / rho
        for counts, h in zip(COUNTS, QUESTIONS, strict=True):
            nu, n = s * pi + counts, counts.sum()
            mean = nu @ W / (s + n)
            # E[Var of one trial] is T times the variance of the question's mean.
            noise[j] += h / n * (nu @ W**2 / (s + n) - mean**2) * (s + n) / (s + n + 1)
    smooth = grid.weight @ noise
    by_trials = np.repeat([np.repeat(W, row).var(ddof=1) / row.sum() for row in COUNTS], QUESTIONS)
    total = max(smooth, by_trials.sum())
    found = average_variance(states_of_categories(COUNTS, QUESTIONS), W)
    estimate = sum(h * row @ W / row.sum() for h, row in zip(QUESTIONS, COUNTS, strict=True)) / 20
    # Both are sums over the same grid in another order: far below the default, 1e-6.
    assert found.mu[0] == pytest.approx(estimate)
    assert found.sigma[0] == pytest.approx(sqrt(total) / 20)
    spread = sqrt(grid.weight @ (noise - smooth) ** 2 + 20 * by_trials.var())
    # Again the same sums in another order.
    assert found.factor[0] == pytest.approx(1 + spread / total)


def test_the_average_of_unequal_strata_equals_plain_loops():
    stratum = np.array([0, 1, 1, 2, 2])  # of the questions with the same counts
    size = np.bincount(stratum, QUESTIONS)
    weight = 1 / (3 * size[stratum])
    grid = fit_categories(COUNTS, QUESTIONS)
    noise = np.zeros_like(grid.weight)
    for pi, rho, j in zip(grid.mean, grid.rho, range(noise.size), strict=True):
        s = (1 - rho) / rho
        for counts, h, own in zip(COUNTS, QUESTIONS, weight, strict=True):
            nu, n = s * pi + counts, counts.sum()
            mean = nu @ W / (s + n)
            noise[j] += own**2 * h / n * (nu @ W**2 / (s + n) - mean**2) * (s + n) / (s + n + 1)
    by_trials = [np.repeat(W, row).var(ddof=1) / row.sum() for row in COUNTS]
    total = max(grid.weight @ noise, (QUESTIONS * weight**2) @ by_trials)
    strata = Subgroups.tally(
        *(
            np.repeat(each, QUESTIONS, axis=0)
            for each in (COUNTS, 0 * COUNTS, 0 * stratum, stratum, stratum**0)
        ),
        1,
    )
    noisy = average_variance(states_of_categories(COUNTS, QUESTIONS), W, strata)
    # The mean of three means, and sums over the same grid in another order: rounding.
    assert noisy.mu[0] == pytest.approx((QUESTIONS * weight) @ (COUNTS @ W / COUNTS.sum(axis=1)))
    assert noisy.sigma[0] == pytest.approx(sqrt(total))


def test_a_population_that_is_not_dirichlet_is_not_estimated_too_low():
    # Half always end in the middle, half at either end: 4 trials have the variance 1/16 or 0.
    counts = np.array([[0, 4, 0], [4, 0, 0], [3, 0, 1], [2, 0, 2], [1, 0, 3], [0, 0, 4]])
    questions = np.array([160, 10, 40, 60, 40, 10])
    noisy = average_variance(states_of_categories(counts, questions), np.array([0, 0.5, 1]))
    assert noisy.variance[0] * 320 >= 1 / 32 * (1 - 1e-12)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_averages_on_a_bound(level):
    counts = np.zeros((1, 3), dtype=int)
    counts[0, level] = 4
    noisy = average_variance(states_of_categories(counts, np.array([30])), W)
    lo, hi = clopper_pearson_interval(noisy, 0.95)
    assert np.isfinite([noisy.sigma, lo, hi]).all()
    assert lo <= W[level] <= hi
    assert hi - lo < 1
