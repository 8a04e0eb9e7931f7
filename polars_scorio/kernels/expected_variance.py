"""Variance expected after further trials of a question, and the best use of a budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.distinct_rows import distinct_rows

_NEWTON = 60  # steps at most; the start is below the root of a convex function


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedVariance:
    """Expected variance of each question after m further trials: ``a / (x + m) + b / (x + m)**2``.

    Convex and decreasing in m, so that each further trial of a question gains less.

    Attributes
    ----------
    a, b : ndarray of float, shape (P,)
        Not negative.
    x : ndarray of float, shape (P,)
        Positive.

    Examples
    --------
    A uniform Beta(1, 1) has variance 1/12 and is worth 2 trials: 1/24 is left after 2 more.

    >>> one = np.array([1.0])
    >>> ExpectedVariance(one / 6, 0 * one, 2 * one).variance(2) * 24
    array([1.])
    """

    a: Floats
    b: Floats
    x: Floats

    def variance(self, m: Ints | Floats | int) -> Floats:
        """Expected variance after m further trials."""
        size = self.x + m
        left: Floats = (self.a + self.b / size) / size
        return left

    def gain(self, m: Ints) -> Floats:
        """Variance that the trial after m further ones removes, with all its digits."""
        size = self.x + m
        product = size * (size + 1)
        taken: Floats = (self.a + self.b * (2 * size + 1) / product) / product
        return taken

    def of(self, rows: Ints | slice) -> ExpectedVariance:
        """Expected variance of some of the questions, in any order."""
        return ExpectedVariance(self.a[rows], self.b[rows], self.x[rows])

    def weighted(self, weight: Floats) -> ExpectedVariance:
        """Expected variance with each question's variance multiplied by a weight."""
        return ExpectedVariance(weight * self.a, weight * self.b, self.x)

    def worthwhile(self, threshold: float) -> Ints:
        """How many further trials gain at least the threshold each."""
        size = np.maximum(np.sqrt(self.a / threshold), self.x)
        for _ in range(_NEWTON):
            # Newton's step for the derivative, a / size^2 + 2 b / size^3 = threshold.
            excess = np.maximum((self.a + 2 * self.b / size) / size**2 - threshold, 0)
            slope = (2 * self.a + 6 * self.b / size) / size**3
            step = np.divide(excess, slope, out=np.zeros_like(size), where=slope > 0)
            size = size + step
            if np.all(np.abs(step) <= 1e-9 * size):
                break
        # gain(m) lies between the derivatives at m and m + 1.
        m = np.floor(size - self.x).astype(np.int64)
        return m + (self.gain(m) >= threshold)


def expected_squared_sigma(
    ahead: ExpectedVariance, m: Ints | int, questions: Ints, group: Ints, sigma: Floats
) -> Floats:
    """Expected squared sigmas of means over questions after m further trials of each.

    Parameters
    ----------
    ahead : ExpectedVariance
        Of the states of all groups.
    m : ndarray of int, shape (P,), or int
        Further trials of each question of a state.
    questions : ndarray of int, shape (P,)
        How many questions share a state.
    group : ndarray of int, shape (P,)
        The group of each state.
    sigma : ndarray of float, shape (G,)
        Standard deviation of the mean of each group now.

    Returns
    -------
    ndarray of float, shape (G,)
        With independent questions ``sum(variance(m)) / M**2``. Where they share a fitted prior,
        what they have in common (the rest of ``sigma**2``) shrinks with the square of the share of
        variance that is left.

    Examples
    --------
    >>> ahead = ExpectedVariance(np.array([1 / 6]), np.array([0.0]), np.array([2.0]))
    >>> now = np.array([1 / 12 / 2]) ** 0.5
    >>> expected_squared_sigma(ahead, 2, np.array([2]), np.array([0]), now) / now**2
    array([0.5])
    """

    def total(values: Floats | Ints) -> Floats:
        return np.bincount(group, values, sigma.size).astype(np.float64)

    size = np.maximum(total(questions), 1) ** 2
    now = total(questions * ahead.variance(0)) / size
    then = total(questions * ahead.variance(m)) / size
    left = np.divide(then, now, out=np.zeros_like(now), where=now > 0)
    return np.asarray(left * (now * (1 - left) + left * sigma**2))


def best_allocation(ahead: ExpectedVariance, budget: int) -> Ints:
    """How to spend a budget of trials so that the sum of the variances becomes smallest.

    Parameters
    ----------
    ahead : ExpectedVariance
        Of every question.
    budget : int
        Number of trials.

    Returns
    -------
    ndarray of int, shape (P,)
        Further trials of each question; their sum is the budget. Gains decrease from trial to
        trial, so taking the largest ones is optimal: all above a threshold, then one by one, the
        earlier question first where gains are equal.

    Examples
    --------
    The second question varies four times as much.

    >>> one = np.ones(2)
    >>> best_allocation(ExpectedVariance(np.array([1.0, 4.0]), 0 * one, one), 4)
    array([1, 3])
    """
    kinds, number, place = _distinct_questions(ahead)
    m = kinds.worthwhile(_paid_gain(kinds, number, budget))[place]
    rest = budget - int(m.sum())
    m += rest // m.size  # only where nothing gains anything
    m[np.argsort(-ahead.gain(m), kind="stable")[: rest % m.size]] += 1
    return m


def _paid_gain(ahead: ExpectedVariance, number: Ints, budget: int) -> float:
    """The smallest gain, to the last bit, that the budget pays wherever it is to be had."""
    high = float(ahead.gain(np.zeros(number.size, dtype=np.int64)).max())
    if not (high and budget):
        return np.inf
    high, low = 2 * high, high
    while number @ ahead.worthwhile(low) <= budget:
        high, low = low, low / 16
    while low < (middle := float(np.sqrt(low) * np.sqrt(high))) < high:
        spent = int(number @ ahead.worthwhile(middle))
        if spent == budget:
            return middle
        low, high = (low, middle) if spent < budget else (middle, high)
    return high


def _distinct_questions(ahead: ExpectedVariance) -> tuple[ExpectedVariance, Ints, Ints]:
    """The distinct questions, how many there are of each, and which one every question is."""
    columns = (ahead.a, ahead.b, ahead.x)
    first, place = distinct_rows([np.unique(each, return_inverse=True)[1] for each in columns])
    return ahead.of(first), np.bincount(place, minlength=first.size), place
