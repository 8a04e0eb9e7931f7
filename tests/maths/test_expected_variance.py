"""What more trials leave of a variance, against every outcome that they may have."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.posteriors import (
    ExpectedVariance,
    SeparatePosteriors,
)
from polars_scorio.maths.questions import States
from tests.made_logs import law
from tests.moments import dirichlet

ONE = np.ones(1)
W = {2: [0, 1], 3: [0, 0.25, 1], 4: [-1, 0, 0.5, 0]}


def compositions(m: int, size: int) -> Iterator[tuple[int, ...]]:
    """All ways in which m trials fall into `size` categories."""
    if size == 1:
        yield (m,)
        return
    for first in range(m + 1):
        for rest in compositions(m - first, size - 1):
            yield (first, *rest)


def rising(x: int, k: int) -> int:
    return prod(range(x, x + k))


def predictive(nu: Sequence[int], counts: Sequence[int]) -> Fraction:
    """Probability of the counts of further trials: Dirichlet-multinomial."""
    m = sum(counts)
    ways = Fraction(rising(1, m), prod(rising(1, c) for c in counts))
    return ways * prod(map(rising, nu, counts)) / rising(sum(nu), m)


def posterior(counts: Sequence[int], prior: Sequence[int]) -> SeparatePosteriors:
    """One question in one group."""
    zero = np.zeros(1, dtype=np.int64)
    return SeparatePosteriors(
        States.tally(np.array([counts]), np.array([prior]), zero, zero + 1, 1)
    )


def fractions_of(ahead: ExpectedVariance, question: int) -> tuple[Fraction, Fraction, Fraction]:
    return tuple(Fraction(float(each[question])) for each in (ahead.a, ahead.b, ahead.x))


# --- the law of total variance


@law
@given(st.data())
def test_expected_variance_of_an_average_is_that_of_all_outcomes(data):
    size = data.draw(st.sampled_from([2, 2, 3]))
    counts = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
    m, w = data.draw(st.integers(0, 5)), W[size]
    nu, n = [1 + c for c in counts], sum(counts)
    brute = sum(
        predictive(nu, more)
        * dirichlet([v + c for v, c in zip(nu, more, strict=True)], w)[1]
        * Fraction(sum(nu) + m, n + m) ** 2
        for more in compositions(m, size)
    )
    # Prior trials have no say in an average.
    ahead = posterior(counts, [0] * size).expected_variance(np.array(w, dtype=float))
    # Some dozen roundings.
    np.testing.assert_allclose(ahead.variance(m), float(brute), rtol=1e-13)


def test_nothing_is_expected_of_no_further_trials():
    ahead = posterior([2, 3], [0, 0]).expected_variance(np.array([0.0, 1.0]))
    # Beta(3, 4); the average is 7/5 as wide.
    np.testing.assert_allclose(ahead.variance(0), 49 / 25 * 12 / (49 * 8), rtol=1e-15)


def test_parts_of_an_expected_variance():
    ahead = ExpectedVariance(np.array([1.0, 2.0]), np.array([0.5, 0.0]), np.array([3.0, 4.0]))
    rows = np.array([1, 0, 1])
    assert ahead.of(rows).variance(2).tolist() == ahead.variance(2)[rows].tolist()
