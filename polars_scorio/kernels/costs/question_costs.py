"""Costs and successes of single questions: their means, and the noise of these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints

_ROUNDED = 1e-13  # relative rounding error of sums of squares that cancel


@dataclass(frozen=True, slots=True, eq=False)
class CostValues:
    """Spending and reward of each question, whose means over questions make a ratio.

    Attributes
    ----------
    x, y : ndarray of float, shape (Q,)
        Unbiased estimates of what is spent on a question, and of the chance to solve it.
    noise : ndarray of float, shape (3, Q)
        Variance of x, covariance of x and y, variance of y, by the trials of the question; NaN
        where it has too few trials.
    draws : ndarray of float, shape (Q,)
        Independent draws of a question: its trials over those of a draw; infinite if y is known.
    """

    x: Floats
    y: Floats
    noise: Floats
    draws: Floats


@dataclass(frozen=True, slots=True, eq=False)
class QuestionCosts:
    """Trials, successes and sums of costs of questions, all of shape (Q,).

    Attributes
    ----------
    n, c : ndarray of int
        Trials and successes, 0 <= c <= n, 0 < n.
    total, of_success : ndarray of float
        Cost of all trials, and of the successes.
    squares, success_squares : ndarray of float
        Sums of the squared costs of the same; the latter is None if no metric draws trials.
    largest : ndarray of float
        Cost of the dearest trial.
    """

    n: Ints
    c: Ints
    total: Floats
    of_success: Floats
    squares: Floats
    largest: Floats
    success_squares: Floats | None = None

    def at(self, places: Ints) -> QuestionCosts:
        """The questions at some places."""
        own = self.success_squares
        return QuestionCosts(
            self.n[places],
            self.c[places],
            self.total[places],
            self.of_success[places],
            self.squares[places],
            self.largest[places],
            None if own is None else own[places],
        )

    def per_trial(self) -> CostValues:
        """Mean cost of a trial; the reward is 1, without noise.

        Examples
        --------
        Two trials that cost 1 and 3.

        >>> two, one = np.array([2]), np.array([1.0])
        >>> costs = QuestionCosts(two, 0 * two, 4 * one, 0 * one, 10 * one, 3 * one)
        >>> values = costs.per_trial()
        >>> values.x, values.noise[0]
        (array([2.]), array([1.]))
        """
        values = self.per_success()
        noise = values.noise * np.array([[1.0], [0.0], [0.0]])
        return CostValues(values.x, np.ones_like(values.x), noise, np.full(values.x.shape, np.inf))

    def per_success(self) -> CostValues:
        """Mean cost of a trial, and the success rate."""
        n = self.n.astype(np.float64)
        x, y = self.total / n, self.c / n
        products = np.stack(
            [
                _centred_squares(self.squares, self.total, n),
                self.of_success - self.c * x,
                self.c * (1 - y),
            ]
        )
        return CostValues(x, y, _per_pairs(products, n), n)

    def until_success(self, k: int) -> CostValues:
        """Spending until the first success, in at most k tries, and pass@k.

        A question with c successes of mean cost m1 and n - c failures of mean cost m0 spends
        m1 [1 - C(n-c,k)/C(n,k)] + m0 sum_{j=1..k} C(n-c,j)/C(n,j) on average over all orders of
        its trials. The noise is that of the jackknife, which needs more than k trials.

        Parameters
        ----------
        k : int
            Most tries; both estimates are NaN where it exceeds the trials.

        Examples
        --------
        One success of 4 trials, which cost 1; the failures cost 1.5 each.

        >>> four, one = np.array([4]), np.array([1.0])
        >>> costs = QuestionCosts(four, four - 3, 5.5 * one, one, 7.75 * one, 1.5 * one, one)
        >>> costs.until_success(2).x, costs.until_success(2).y
        (array([2.375]), array([0.5]))
        """
        m1, m0 = self._outcome_means()
        won, lost = expected_tries(self.n, self.c, k)
        values = np.where(won + lost > 0, m1 * won + m0 * lost, np.nan)
        noise = self._jackknife(k, m1, m0)
        return CostValues(values, np.where(np.isnan(values), np.nan, won), noise, self.n / k)

    def _outcome_means(self) -> tuple[Floats, Floats]:
        """Mean cost of the successes and of the failures; 0 if there are none."""
        failed = self.n - self.c
        return (
            self.of_success / np.maximum(self.c, 1),
            np.where(failed > 0, self.total - self.of_success, 0.0) / np.maximum(failed, 1),
        )

    def _jackknife(self, k: int, m1: Floats, m0: Floats) -> Floats:
        """Variances and covariance of spending and pass@k, from leaving each trial out."""
        assert self.success_squares is not None  # noqa: S101 - counted for metrics of draws
        n, c, failed = self.n, self.c, self.n - self.c
        # Without one success, and without one failure.
        left_out = [expected_tries(n - 1, each, k) for each in (np.maximum(c - 1, 0), c)]
        won, lost = (np.stack(tries) for tries in zip(*left_out, strict=True))
        times = np.stack([c, failed])
        spent = m1 * won + m0 * lost
        x, y = ((times * mean).sum(axis=0) / n for mean in (spent, won))
        each = times * np.stack([(spent - x) ** 2, (spent - x) * (won - y), (won - y) ** 2])
        products = each.sum(axis=1)
        spread = np.stack(
            [
                _centred_squares(self.success_squares, self.of_success, c),
                _centred_squares(
                    self.squares - self.success_squares, self.total - self.of_success, failed
                ),
            ]
        )
        # The mean cost of an outcome moves with the trial of it that is left out.
        weight = np.stack([won[0], lost[1]]) / np.maximum(times - 1, 1)
        products[0] += (spread * weight**2).sum(axis=0)
        return np.where(n > k, (n - 1) / n * products, np.nan)


def expected_tries(n: Ints, c: Ints, k: int) -> tuple[Floats, Floats]:
    """Expected successes and failures until the first success, in at most k of n trials.

    Returns
    -------
    won, lost : ndarray of float, shape (Q,)
        Pass@k, and sum_{j=1..k} C(n-c,j)/C(n,j); 0 where k > n.

    Examples
    --------
    >>> won, lost = expected_tries(np.array([4, 4, 1]), np.array([1, 4, 0]), 2)
    >>> won, lost
    (array([0.5, 1. , 0. ]), array([1.25, 0.  , 0.  ]))
    """
    unlucky, lost = np.ones(n.shape), np.zeros(n.shape)
    for j in range(k):  # the chance that the first j + 1 trials of an order fail
        unlucky = unlucky * np.maximum(n - c - j, 0) / np.maximum(n - j, 1)
        lost += unlucky
    possible = n >= k
    return np.where(possible, 1 - unlucky, 0.0), np.where(possible, lost, 0.0)


def _centred_squares(squares: Floats, total: Floats, n: Floats | Ints) -> Floats:
    """Sum of squared distances from the mean; 0 if it is a rounding error."""
    centred = squares - total**2 / np.maximum(n, 1)
    return np.where(centred > _ROUNDED * np.abs(squares), centred, 0.0)


def _per_pairs(products: Floats, n: Floats) -> Floats:
    """Sums of products of distances as variances of means; NaN for single trials."""
    pairs = n * (n - 1)
    known = np.broadcast_to(pairs > 0, products.shape)
    found = np.divide(products, pairs, out=np.full(products.shape, np.nan), where=known)
    return np.asarray(found)
