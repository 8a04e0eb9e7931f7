"""What more trials leave of a variance, against every outcome that they may have."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heapify, heapreplace
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.posteriors import (
    ExpectedVariance,
    SeparatePosteriors,
    best_allocation,
    expected_squared_sigma,
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
def test_expected_variance_is_that_of_all_outcomes(data):
    size = data.draw(st.sampled_from([2, 2, 3, 4]))
    some = st.lists(st.integers(0, 5), min_size=size, max_size=size)
    counts, prior = data.draw(some), data.draw(some)
    m, w = data.draw(st.integers(0, 5)), W[size]
    nu = [1 + c + d for c, d in zip(counts, prior, strict=True)]
    brute = sum(
        predictive(nu, more) * dirichlet([v + c for v, c in zip(nu, more, strict=True)], w)[1]
        for more in compositions(m, size)
    )
    total = sum(nu)
    assert brute == dirichlet(nu, w)[1] * Fraction(total, total + m)
    unit = max(w) - min(w)
    ahead = posterior(counts, prior).expected_variance(np.array(w, dtype=float) / unit)
    # Some dozen roundings; atol where the variance is 0.
    np.testing.assert_allclose(ahead.variance(m) * unit**2, float(brute), rtol=1e-13, atol=1e-18)


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
    ahead = posterior(counts, [0] * size).expected_average_variance(np.array(w, dtype=float))
    # Some dozen roundings.
    np.testing.assert_allclose(ahead.variance(m), float(brute), rtol=1e-13)


def test_nothing_is_expected_of_no_further_trials():
    counts = [2, 3]
    ahead, average = (
        getattr(posterior(counts, [0, 0]), name)(np.array([0.0, 1.0]))
        for name in ("expected_variance", "expected_average_variance")
    )
    # Beta(3, 4); the average is 7/5 as wide.
    np.testing.assert_allclose(ahead.variance(0), 12 / (49 * 8), rtol=1e-15)
    np.testing.assert_allclose(average.variance(0), 49 / 25 * 12 / (49 * 8), rtol=1e-15)


@law
@given(st.integers(0, 20), st.integers(1, 20), st.integers(0, 10**6))
def test_a_gain_is_a_difference_of_variances(c, n, m):
    counts = [n - min(c, n), min(c, n)]
    for ahead in (
        posterior(counts, [0, 0]).expected_variance(np.array([0.0, 1.0])),
        posterior(counts, [0, 0]).expected_average_variance(np.array([0.0, 1.0])),
    ):
        a, b, x = fractions_of(ahead, 0)
        exact = [a / (x + i) + b / (x + i) ** 2 for i in (m, m + 1)]
        # Both: a few roundings of the same doubles; a gain is formed without a difference.
        np.testing.assert_allclose(ahead.variance(m), float(exact[0]), rtol=1e-14)
        np.testing.assert_allclose(
            ahead.gain(np.array([m])), float(exact[0] - exact[1]), rtol=1e-14
        )


def test_weights_and_parts_of_an_expected_variance():
    ahead = ExpectedVariance(np.array([1.0, 2.0]), np.array([0.5, 0.0]), np.array([3.0, 4.0]))
    # A product more: rounding, far below the default of assert_allclose, 1e-7.
    np.testing.assert_allclose(
        ahead.weighted(np.array([2.0, 3.0])).variance(5), ahead.variance(5) * [2, 3]
    )
    np.testing.assert_allclose(
        ahead.of(np.array([1, 0, 1])).variance(2), ahead.variance(2)[[1, 0, 1]]
    )


# --- the mean over questions


def test_independent_questions_are_added():
    ahead = ExpectedVariance(np.array([1.0, 2.0]), np.array([0.0, 3.0]), np.array([2.0, 5.0]))
    questions, m = np.array([3, 1]), np.array([2, 0])
    now = (3 * 1 / 2 + 1 * (2 / 5 + 3 / 25)) / 16
    after = (3 * 1 / 4 + 1 * (2 / 5 + 3 / 25)) / 16
    for further, left in ((m, after), (0, now)):
        found = expected_squared_sigma(ahead, further, questions, np.array([0, 0]), ONE * now**0.5)
        # Sums of two terms: a few roundings, and a sigma that is a root.
        assert found == pytest.approx(left, rel=1e-14)


def test_groups_are_added_by_themselves():
    ahead = ExpectedVariance(np.array([1.0, 2.0]), np.array([0.0, 3.0]), np.array([2.0, 5.0]))
    questions, group, m = np.array([3, 4]), np.array([0, 2]), np.array([1, 2])
    sigma = np.array([3 / 2 / 9, 0.0, 4 * (2 / 5 + 3 / 25) / 16]) ** 0.5
    found = expected_squared_sigma(ahead, m, questions, group, sigma)
    # Sums of two terms: a few roundings, and a sigma that is a root.
    assert found == pytest.approx([1 / 3 / 3, 0, (2 / 7 + 3 / 49) / 4], rel=1e-14)


def test_what_questions_share_shrinks_with_the_square_of_what_is_left():
    ahead, questions = ExpectedVariance(ONE, 0 * ONE, 4 * ONE), np.array([10])
    own, shared = 1 / 4 / 10, 0.3
    for m in (0, 4, 12):
        left = 4 / (4 + m)
        expected = own * left + shared * left**2
        found = expected_squared_sigma(
            ahead, m, questions, np.array([0]), ONE * (own + shared) ** 0.5
        )
        # Two terms: a few roundings, and a sigma that is a root.
        assert found == pytest.approx(expected, rel=1e-14)


def test_certain_questions_stay_certain():
    assert (
        expected_squared_sigma(
            ExpectedVariance(0 * ONE, 0 * ONE, ONE), 3, np.array([2]), np.array([0]), 0 * ONE
        )
        == 0
    )


# --- where to spend a budget


def greedy(ahead: ExpectedVariance, budget: int) -> list[int]:
    """One trial after the other, each where it gains most, by exact fractions."""
    parameters = [fractions_of(ahead, i) for i in range(ahead.x.size)]

    def gain(i: int, m: int) -> Fraction:
        a, b, x = parameters[i]
        left = [a / (x + j) + b / (x + j) ** 2 for j in (m, m + 1)]
        return left[0] - left[1]

    spent = [0] * len(parameters)
    heap = [(-gain(i, 0), i) for i in range(len(parameters))]
    heapify(heap)
    for _ in range(budget):
        i = heap[0][1]
        spent[i] += 1
        heapreplace(heap, (-gain(i, spent[i]), i))
    return spent


# Of a continuous distribution: no two different questions gain the same by chance.
@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("budget", [0, 1, 7, 100, 2_000])
def test_the_allocation_is_greedy(seed, budget):
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 12))
    kinds = random.integers(0, max(size - 2, 1), size)  # some questions are alike
    a, b = random.exponential(size=(2, size))[:, kinds]
    ahead = ExpectedVariance(a, b * (seed % 2), random.integers(1, 30, size)[kinds].astype(float))
    found = best_allocation(ahead, budget)
    assert found.tolist() == greedy(ahead, budget)
    assert found.sum() == budget


def test_scales_do_not_matter():
    random = np.random.default_rng(0)
    a, x = random.exponential(size=30), 1 + random.exponential(size=30)
    expected = greedy(ExpectedVariance(a, 0 * a, x), 500)
    for scale in (2.0**-500, 1.0, 2.0**500):
        assert best_allocation(ExpectedVariance(scale * a, 0 * a, x), 500).tolist() == expected


def test_of_questions_that_gain_the_same_the_first_gets_the_trial():
    alike = ExpectedVariance(np.ones(5), np.zeros(5), np.full(5, 3.0))
    assert best_allocation(alike, 3).tolist() == [1, 1, 1, 0, 0]
    assert best_allocation(alike, 13).tolist() == [3, 3, 3, 2, 2]


def test_a_question_without_variance_gets_nothing_as_long_as_another_gains():
    ahead = ExpectedVariance(np.array([0.0, 1.0, 0.0]), np.zeros(3), np.ones(3))
    assert best_allocation(ahead, 1_000).tolist() == [0, 1_000, 0]
    assert best_allocation(ExpectedVariance(np.zeros(3), np.zeros(3), np.ones(3)), 7).tolist() == [
        3,
        2,
        2,
    ]


def test_very_different_questions_are_weighed_by_the_last_bit():
    # Gains 1 / ((1 + m) (2 + m)) against 1e-6 of that: by Fractions.
    ahead = ExpectedVariance(np.array([1.0, 1e-6]), np.zeros(2), np.ones(2))
    for budget in (1, 998, 999, 1_000, 1_001, 3_000):
        assert best_allocation(ahead, budget).tolist() == greedy(ahead, budget)


def test_a_million_trials_for_a_million_questions():
    random = np.random.default_rng(3)
    x = random.integers(3, 40, 1_000_000).astype(float)
    a = random.integers(1, 200, 1_000_000) / 800  # some 7,000 distinct questions
    ahead = ExpectedVariance(a, 0 * a, x)
    m = best_allocation(ahead, 1_000_000)
    assert m.sum() == 1_000_000
    # Optimal: no trial that was spent gains less than one that was not.
    spent = ahead.of(np.flatnonzero(m)).gain(m[m > 0] - 1)
    assert spent.min() >= ahead.gain(m).max()


@law
@given(st.floats(1e-12, 1e3), st.floats(0, 10), st.floats(0, 10), st.floats(1, 50))
def test_what_is_worthwhile_gains_the_threshold(threshold, a, b, x):
    ahead = ExpectedVariance(a * ONE, b * ONE, x * ONE)
    m = ahead.worthwhile(threshold)
    assert ahead.gain(m)[0] < threshold
    assert m[0] == 0 or ahead.gain(m - 1)[0] >= threshold
