"""Votes over answers: how often is the most frequent answer of k drawn trials right?

Draws are without replacement. How many of an answer's c trials are drawn counts as binomial with
``p = k / n`` here, whatever the answer, and the whole is divided by the chance of k in total: the
conditional law is that of the draw, and no binomial coefficient can overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import row_batches
from polars_scorio.kernels.distinct_rows import distinct_rows

Ties: TypeAlias = Literal["split", "fail"]


@dataclass(frozen=True, slots=True, eq=False)
class Ballots:
    """Answers of the trials of each question.

    Attributes
    ----------
    votes : ndarray of int, shape (M, A)
        Trials of each answer; zeros fill the rows of questions with fewer answers.
    right : ndarray of bool, shape (M, A)
        Which answers are right.
    abstained : ndarray of int, shape (M,)
        Trials without an answer: they are drawn like others, and have no vote.
    """

    votes: Ints
    right: Mask
    abstained: Ints

    @property
    def trials(self) -> Ints:
        """Trials of each question, shape (M,)."""
        return np.asarray(self.votes.sum(axis=1) + self.abstained)

    def of(self, rows: Ints | Mask | slice) -> Ballots:
        """Ballots of some of the questions."""
        return Ballots(self.votes[rows], self.right[rows], self.abstained[rows])


def vote_success(ballots: Ballots, k: int, ties: Ties = "split") -> Floats:
    """Chance that the vote of k drawn trials is right, for each question.

    Parameters
    ----------
    ballots : Ballots
        The answers of M questions.
    k : int
        Trials in a draw, at least 1.
    ties : "split" or "fail"
        What a tie of t right and u wrong answers is worth: ``t / (t + u)``; or nothing, unless all
        of them are right.

    Returns
    -------
    ndarray of float, shape (M,)
        The mean over all draws without replacement; NaN where k exceeds the trials. A draw in
        which all abstain has no right answer.

    Notes
    -----
    The sum over the winning number of votes j, over the right answers, of the ways to draw the
    others with at most j votes each. A share ``1 / (t + 1)`` of a tie with t others is the integral
    of ``s**t``: each other answer has the weight s where it holds j votes, and Gauss-Legendre nodes
    s integrate the product exactly.

    Examples
    --------
    Two of five trials are right, three wrong answers differ: of two drawn trials both are right
    once in ten, one of them six times in ten, and then the vote is tied.

    >>> ballots = Ballots(np.array([[2, 1, 1, 1]]), np.arange(4)[None] == 0, np.array([0]))
    >>> vote_success(ballots, 2).round(6), vote_success(ballots, 2, "fail").round(6)
    (array([0.4]), array([0.1]))
    """
    canonical, index = distinct_ballots(ballots)
    chance = np.full(canonical.abstained.size, np.nan)
    possible = np.flatnonzero(canonical.trials >= k)
    # Where many votes win, few trials and few nodes are left: no product has k times k numbers.
    for rows in row_batches(possible, (k + 1) ** 2 // 8):
        chance[rows] = _drawn_success(canonical.of(rows), k, ties)
    return chance[index]


def vote_variance(ballots: Ballots, k: int, ties: Ties = "split") -> Floats:
    """Jackknife estimate of the variance of `vote_success`, for each question [1]_.

    Parameters
    ----------
    ballots, k, ties
        As for `vote_success`.

    Returns
    -------
    ndarray of float, shape (M,)
        ``(n - 1) / n sum_i (U_(-i) - mean)**2`` over the trials i of a question, each left out in
        turn: too large rather than too small. NaN where ``k >= n``: without one trial there is no
        draw of k.

    References
    ----------
    .. [1] B. Efron, C. Stein (1981), The Jackknife Estimate of Variance, Ann. Statist. 9, 586-596.

    Examples
    --------
    With k = 1 it is that of a mean, ``c (n - c) / (n**2 (n - 1))``.

    >>> ballots = Ballots(np.array([[2, 1, 1]]), np.array([[True, False, False]]), np.array([0]))
    >>> (vote_variance(ballots, 1) * 12).round(6)
    array([1.])
    """
    canonical, index = distinct_ballots(ballots)
    n, choices = canonical.trials, np.column_stack([canonical.votes, canonical.abstained])
    left_out, times, owner = [], [], []
    for column in range(choices.shape[1]):
        # Answers with equal votes and verdict are the same to leave a trial out of.
        rows = np.flatnonzero(_first_of_equals(canonical, column) & (n > k))
        less = choices[rows]
        less[:, column] -= 1
        left_out.append(Ballots(less[:, :-1], canonical.right[rows], less[:, -1]))
        times.append(_equal_answers(canonical, column)[rows] * choices[rows, column])
        owner.append(rows)
    every = Ballots(
        *(np.concatenate([getattr(part, name) for part in left_out])
          for name in ("votes", "right", "abstained"))
    )  # fmt: skip
    u, weight, row = vote_success(every, k, ties), np.concatenate(times), np.concatenate(owner)
    size = np.maximum(n, 1)
    mean = np.bincount(row, weight * u, n.size) / size
    squares = np.bincount(row, weight * (u - mean[row]) ** 2, n.size)
    return np.where(n > k, (n - 1) / size * squares, np.nan)[index]


def _equal_answers(ballots: Ballots, column: int) -> Ints:
    """How many answers of each question look like that of a column; shape (M,)."""
    if column == ballots.votes.shape[1]:
        return np.ones(ballots.abstained.size, dtype=np.int64)
    return np.asarray(_same_looking(ballots, column).sum(axis=1))


def _first_of_equals(ballots: Ballots, column: int) -> Mask:
    """Whether the answer of a column has votes and is the first of its kind."""
    if column == ballots.votes.shape[1]:
        return ballots.abstained > 0
    before = _same_looking(ballots, column)[:, :column].any(axis=1)
    return (ballots.votes[:, column] > 0) & ~before


def _same_looking(ballots: Ballots, column: int) -> Mask:
    votes, right = ballots.votes, ballots.right
    same: Mask = (votes == votes[:, [column]]) & (right == right[:, [column]])
    return same


def distinct_ballots(ballots: Ballots) -> tuple[Ballots, Ints]:
    """The questions that differ by more than the order of their answers, and which each is."""
    # Right answers first, then by votes: the sign parts them.
    signed = np.where(ballots.right, 1, -1) * (ballots.votes + ballots.right)
    signed = np.where(ballots.votes > 0, signed, 0)
    key = np.column_stack([np.sort(signed, axis=1)[:, ::-1], ballots.abstained])
    first, index = distinct_rows((key - key.min(initial=0)).T)
    rows = key[first]
    answers, right = rows[:, :-1], rows[:, :-1] > 0
    return Ballots(np.abs(answers) - right, right, rows[:, -1]), index


def _drawn_success(ballots: Ballots, k: int, ties: Ties) -> Floats:
    """`vote_success` of questions with at least k trials."""
    # Answers without votes in any of these questions are not there.
    ballots = _given_answers(ballots)
    n = ballots.trials
    p = k / n
    total = np.zeros(n.size)
    for winner in np.flatnonzero(ballots.right.any(axis=0)):
        rows = np.flatnonzero(ballots.right[:, winner])
        for j in range(1, min(k, int(ballots.votes[rows, winner].max(initial=0))) + 1):
            some = rows[ballots.votes[rows, winner] >= j]
            part = ballots.of(some)
            won = _binomial_chance(part.votes[:, winner], j, p[some])
            total[some] += won * _rest_weight(part, int(winner), j, k, p[some], ties)
    return np.asarray(np.clip(total / _binomial_chance(n, k, p), 0.0, 1.0))


def _given_answers(ballots: Ballots) -> Ballots:
    used = ballots.votes.any(axis=0)
    return Ballots(ballots.votes[:, used], ballots.right[:, used], ballots.abstained)


def _rest_weight(ballots: Ballots, winner: int, j: int, k: int, p: Floats, ties: Ties) -> Floats:
    """Weight of the draws of the other k - j trials that leave the win to one right answer."""
    votes = np.delete(ballots.votes, winner, axis=1)
    right = np.delete(ballots.right, winner, axis=1)
    rivals = votes >= j  # who cannot reach j votes is one of many
    nodes, weights = _tie_nodes(int(rivals.sum(axis=1).max(initial=0)), j, k, ties)
    product = np.zeros((len(votes), k - j + 1, nodes.size))
    product[:, 0] = 1.0
    for column in np.flatnonzero(rivals.any(axis=0)):
        # With "fail" a tie among right answers goes to the first of them; others lose it.
        tied = nodes if ties == "split" else (right[:, [column]] & (column >= winner)).astype(float)
        product = _with_answer(product, votes[:, column], rivals[:, column], j, p, tied)
    rest = np.where(rivals, 0, votes).sum(axis=1) + ballots.abstained
    drawn = np.arange(k - j, -1, -1)
    left = _binomial_chance(rest[:, None], drawn, p[:, None])
    return np.asarray(np.einsum("rdq,rd,q->r", product, left, weights))


def _with_answer(
    product: Floats, votes: Ints, rival: Mask, j: int, p: Floats, tied: Floats
) -> Floats:
    """The product with one more answer, of which at most j trials may be drawn."""
    share = np.where(rival, _binomial_chance(votes, 0, p), 1.0)[:, None, None]
    result = share * product
    for m in range(1, min(j, product.shape[1] - 1) + 1):
        share = np.where(rival, _binomial_chance(votes, m, p), 0.0)[:, None, None]
        share = share * np.reshape(tied, (-1, 1, tied.shape[-1])) if m == j else share
        result[:, m:] += share * product[:, :-m]
    return result


def _tie_nodes(rivals: int, j: int, k: int, ties: Ties) -> tuple[Floats, Floats]:
    """Points and weights in (0, 1) that integrate the ties of as many rivals as there can be."""
    if ties == "fail":
        return np.ones(1), np.ones(1)
    most = min(rivals, (k - j) // j)
    points, weights = np.polynomial.legendre.leggauss(most // 2 + 1)
    return (points + 1) / 2, weights / 2


def _binomial_chance(n: Ints, m: Ints | int, p: Floats) -> Floats:
    """Chance of m out of n at the rate p; 0 where m exceeds n."""
    size = np.maximum(n, m)
    log = (
        scipy.special.xlogy(m, p)
        + scipy.special.xlog1py(size - m, -p)
        - np.log1p(size)
        - scipy.special.betaln(size - m + 1, m + 1)
    )
    return np.where(np.asarray(m) <= n, np.exp(log), 0.0)
