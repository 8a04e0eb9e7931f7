"""Groups of questions, and closed forms of a few metrics, for the tests of partial pooling."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.lattice import Grid, Posterior, fit_binary_groups
from polars_scorio.maths.pooled_moments import metric_posterior, trial_variance

Group = tuple[Ints, Ints, Ints]  # n, c, questions
Moments = Callable[[Floats, Floats], tuple[Floats, Floats]]  # a, b of a Beta -> mean, variance


def fit_binary(n: Ints, c: Ints, questions: Ints | Floats, *, few: bool = True) -> Grid:
    """The fit of one group."""
    return fit_binary_groups([(n, c, questions)], few=few)[0]


HARD: Group = np.array([4, 4, 4, 4]), np.array([0, 1, 2, 4]), np.array([24, 3, 2, 1])
CATEGORIES = np.array([[4, 0, 0], [3, 1, 0], [0, 2, 2], [0, 0, 4]]), np.array([6, 2, 1, 3])
W = np.array([0, 0.5, 1])
UNIT = np.array([0.0, 1.0])


@st.composite
def small_groups(draw: st.DrawFn) -> tuple[Ints, Ints]:
    """n and c of a few questions."""
    n = draw(st.lists(st.integers(1, 6), min_size=1, max_size=7))
    return np.array(n), np.array([draw(st.integers(0, trials)) for trials in n])


def drawn_groups() -> list[Group]:
    """Groups of few and many questions and trials, equal and ragged, all wrong and all right."""
    rng = np.random.default_rng(3)
    groups = [(np.array([4]), np.array([0]), np.array([9])), (np.array([1]), np.array([1]), [3])]
    for questions, least, most in [(20, 10, 10), (250, 16, 16), (60, 1, 9), (40, 900, 2000)] * 6:
        n = rng.integers(least, most, questions, endpoint=True)
        c = rng.binomial(n, rng.beta(0.6, 1, questions))
        (n, c), often = np.unique([n, c], axis=1, return_counts=True)
        groups.append((n, c, often))
    return [(n, c, np.asarray(often)) for n, c, often in groups]


def counts_of(group: Group) -> Ints:
    n, c, _ = group
    return np.stack([n - c, c], axis=1)


def binary_posterior(group: Group, moments: Moments) -> Posterior:
    n, _, questions = group
    return metric_posterior(
        fit_binary(*group), counts_of(group), n, questions, lambda nu, _: moments(*nu.T[::-1])
    )


def average_variance(group: Group) -> float:
    """Squared calibrated uncertainty of the success rate of all trials."""
    n, _, questions = group
    error = trial_variance(fit_binary(*group), counts_of(group), UNIT) / n
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
