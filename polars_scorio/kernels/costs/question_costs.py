"""Costs and successes of single questions: their means, and the noise of these."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

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
    total, squares : ndarray of float
        Cost of all trials, and the sum of its squares.
    largest : ndarray of float
        Cost of the dearest trial.
    of_success, success_squares : ndarray of float, optional
        Cost of the successes, and the sum of its squares; needed by metrics of successes, and of
        tries until the first of them.
    """

    n: Ints
    c: Ints
    total: Floats
    squares: Floats
    largest: Floats
    of_success: Floats | None = None
    success_squares: Floats | None = None

    def at(self, places: Ints) -> QuestionCosts:
        """The questions at some places."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        known = {name: each[places] for name, each in columns.items() if each is not None}
        return replace(self, **known)

    def per_trial(self) -> CostValues:
        """Mean cost of a trial; the reward is 1, without noise.

        Examples
        --------
        Two trials that cost 1 and 3.

        >>> two, one = np.array([2]), np.array([1.0])
        >>> costs = QuestionCosts(two, 0 * two, 4 * one, 10 * one, 3 * one)
        >>> values = costs.per_trial()
        >>> values.x, values.noise[0]
        (array([2.]), array([1.]))
        """
        n, sure = self.n.astype(np.float64), np.zeros(self.n.shape)
        products = np.stack([_centred_squares(self.squares, self.total, n), sure, sure])
        return CostValues(self.total / n, sure + 1, _per_pairs(products, n), sure + np.inf)

    def per_success(self) -> CostValues:
        """Mean cost of a trial, and the success rate."""
        assert self.of_success is not None  # counted for metrics of successes
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
        >>> costs = QuestionCosts(four, four - 3, 5.5 * one, 7.75 * one, 1.5 * one, one, one)
        >>> costs.until_success(2).x, costs.until_success(2).y
        (array([2.375]), array([0.5]))
        """
        assert self.of_success is not None  # counted for metrics of successes
        assert self.success_squares is not None  # counted for metrics of draws
        failed = self.n - self.c
        of_failure = np.where(failed > 0, self.total - self.of_success, 0.0)
        m1, m0 = self.of_success / np.maximum(self.c, 1), of_failure / np.maximum(failed, 1)
        won, lost = expected_tries(self.n, self.c, k)
        values = np.where(won + lost > 0, m1 * won + m0 * lost, np.nan)
        spread = np.stack(
            [
                _centred_squares(self.success_squares, self.of_success, self.c),
                _centred_squares(self.squares - self.success_squares, of_failure, failed),
            ]
        )
        noise = self._jackknife(k, m1, m0, spread)
        return CostValues(values, np.where(np.isnan(values), np.nan, won), noise, self.n / k)

    def _jackknife(self, k: int, m1: Floats, m0: Floats, spread: Floats) -> Floats:
        """Variances and covariance of spending and pass@k, from leaving each trial out.

        Parameters
        ----------
        k : int
            Most tries.
        m1, m0 : ndarray of float, shape (Q,)
            Mean cost of the successes and of the failures; 0 if there are none.
        spread : ndarray of float, shape (2, Q)
            Sums of their squared distances from these means.
        """
        n, c, failed = self.n, self.c, self.n - self.c
        # Without one success, and without one failure.
        left_out = [expected_tries(n - 1, each, k) for each in (np.maximum(c - 1, 0), c)]
        won, lost = (np.stack(tries) for tries in zip(*left_out, strict=True))
        times = np.stack([c, failed])
        spent = m1 * won + m0 * lost
        x, y = ((times * mean).sum(axis=0) / n for mean in (spent, won))
        each = times * np.stack([(spent - x) ** 2, (spent - x) * (won - y), (won - y) ** 2])
        products = each.sum(axis=1)
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
