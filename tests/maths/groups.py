"""Groups of questions, and closed forms of a few metrics, for the tests of partial pooling."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.pooled_moments import (
    CreditMoments,
    Credits,
    Posterior,
    WeightedPopulations,
    posterior_moments,
    trial_variance,
)

Group = tuple[Ints, Ints, Ints]  # n, c, questions
Moments = Callable[[Floats, Floats], tuple[Floats, Floats]]  # a, b of a Beta -> mean, variance


def weighed(group: Group) -> WeightedPopulations:
    """The populations that the counts of a group leave."""
    return WeightedPopulations.from_counts(counts_of(group), np.asarray(group[2]))


HARD: Group = np.array([4, 4, 4, 4]), np.array([0, 1, 2, 4]), np.array([24, 3, 2, 1])


@st.composite
def small_groups(draw: st.DrawFn) -> tuple[Ints, Ints]:
    """n and c of a few questions."""
    n = draw(st.lists(st.integers(1, 6), min_size=1, max_size=7))
    return np.array(n), np.array([draw(st.integers(0, trials)) for trials in n])


def counts_of(group: Group) -> Ints:
    n, c, _ = group
    return np.stack([n - c, c], axis=1)


def posterior_of(group: Group, moments: CreditMoments) -> Posterior:
    n, _, questions = group
    return posterior_moments(weighed(group), counts_of(group), n, questions, moments)


def binary_posterior(group: Group, moments: Moments) -> Posterior:
    def twice(nu: Floats, _: Ints) -> Credits:
        mean, variance = moments(*nu.T[::-1])
        return Credits(mean, mean, variance)

    return posterior_of(group, twice)


def average_variance(group: Group) -> float:
    """Squared calibrated uncertainty of the success rate of all trials."""
    n, _, questions = group
    error = trial_variance(weighed(group), counts_of(group)) / n
    return float((questions * error).sum() / questions.sum() ** 2)


def accuracy(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    mean = a / (a + b)
    return mean, mean * (b / (a + b)) / (a + b + 1)


def all_fail(k: int) -> Moments:
    """Chance that k trials fail."""

    def moments(a: Floats, b: Floats) -> tuple[Floats, Floats]:
        mean, log_ratio = np.ones_like(a), np.zeros_like(a)
        for i in range(k):
            mean = mean * ((b + i) / (a + b + i))
            log_ratio = log_ratio + np.log1p(k * a / ((a + b + k + i) * (b + i)))
        return mean, mean**2 * np.expm1(log_ratio)

    return moments


def pass_at(k: int) -> Moments:
    def moments(a: Floats, b: Floats) -> tuple[Floats, Floats]:
        mean, variance = all_fail(k)(a, b)
        return 1 - mean, variance

    return moments
