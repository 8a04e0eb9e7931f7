"""Majority votes over answers, with their noise.

The number of an answer's c trials in a draw counts as binomial with ``p = k / n``, and the result
is divided by the chance of k in total: the conditional law is that of a draw without replacement,
and no binomial coefficient can overflow. The noise of each question comes from its own trials,
because nothing is known of how answers are distributed among questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, row_batches
from polars_scorio.maths.interval import Estimate, MeanNoise
from polars_scorio.maths.questions import QuestionGroups, Subgroups, question_pairs

Ties: TypeAlias = Literal["split", "fail"]


@dataclass(frozen=True, slots=True, eq=False)
class Ballots:
    """Answers of the trials of M questions."""

    votes: Ints  # trials of each answer, shape (M, A), padded with zeros
    right: Mask  # which answers are right, shape (M, A)
    abstained: Ints  # drawn trials without a vote, shape (M,)

    @property
    def trials(self) -> Ints:
        """Trials of each question, shape (M,)."""
        return np.asarray(self.votes.sum(axis=1) + self.abstained)

    def of(self, rows: Ints | Mask | slice) -> Ballots:
        """Ballots of some of the questions."""
        return Ballots(self.votes[rows], self.right[rows], self.abstained[rows])


def vote_success(ballots: Ballots, k: int, ties: Ties = "split") -> Floats:
    """Chance that the vote of k drawn trials is right, shape (M,); NaN if k exceeds the trials."""
    # A share ``1 / (t + 1)`` of a tie is the integral of ``s**t``, exact by Gauss-Legendre nodes.
    canonical, index = distinct_ballots(ballots)
    chance = np.full(canonical.abstained.size, np.nan)
    possible = np.flatnonzero(canonical.trials >= k)
    # Where many votes win, few trials and few nodes are left: no product has k times k numbers.
    for rows in row_batches(possible, (k + 1) ** 2 // 8):
        chance[rows] = _drawn_success(canonical.of(rows), k, ties)
    return chance[index]


def vote_variance(ballots: Ballots, k: int, ties: Ties = "split") -> Floats:
    """Jackknife variance of `vote_success`, shape (M,), conservative; NaN if ``k >= n``."""
    # ``(n - 1) / n sum_i (U_(-i) - mean)**2``, B. Efron, C. Stein (1981), Ann. Statist. 9, 586-596.
    canonical, index = distinct_ballots(ballots)
    n, choices = canonical.trials, np.column_stack([canonical.votes, canonical.abstained])
    verdicts = np.column_stack([canonical.right, np.full(n.size, 2)])  # 2: no answer
    left_out, times, owner = [], [], []
    for column in range(choices.shape[1]):
        # Answers with equal votes and verdict are the same to leave a trial out of.
        same = (choices == choices[:, [column]]) & (verdicts == verdicts[:, [column]])
        first = (choices[:, column] > 0) & ~same[:, :column].any(axis=1)
        rows = np.flatnonzero(first & (n > k))
        less = choices[rows]
        less[:, column] -= 1
        left_out.append(Ballots(less[:, :-1], canonical.right[rows], less[:, -1]))
        times.append(same[rows].sum(axis=1) * choices[rows, column])
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


def distinct_ballots(ballots: Ballots) -> tuple[Ballots, Ints]:
    """Questions that differ by more than the order of answers, and the index of each."""
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
    used = ballots.votes.any(axis=0)  # answers with a vote in any of these questions
    ballots = Ballots(ballots.votes[:, used], ballots.right[:, used], ballots.abstained)
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


def _rest_weight(ballots: Ballots, winner: int, j: int, k: int, p: Floats, ties: Ties) -> Floats:
    """Weight of the draws of the other k - j trials that leave the win to one right answer."""
    votes = np.delete(ballots.votes, winner, axis=1)
    right = np.delete(ballots.right, winner, axis=1)
    rivals = votes >= j  # others cannot reach j votes
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
    """The product with one more answer, at most j of whose trials may be drawn."""
    share = np.where(rival, _binomial_chance(votes, 0, p), 1.0)[:, None, None]
    result = share * product
    for m in range(1, min(j, product.shape[1] - 1) + 1):
        share = np.where(rival, _binomial_chance(votes, m, p), 0.0)[:, None, None]
        share = share * np.reshape(tied, (-1, 1, tied.shape[-1])) if m == j else share
        result[:, m:] += share * product[:, :-m]
    return result


def _tie_nodes(rivals: int, j: int, k: int, ties: Ties) -> tuple[Floats, Floats]:
    """Gauss-Legendre rule on (0, 1) that integrates ties of the largest number of rivals."""
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


_QUARTER = 4


@dataclass(frozen=True, eq=False)
class Votes(QuestionGroups):
    """Distinct answers of the questions of some groups."""

    ballots: Ballots

    @classmethod
    def tally(cls, ballots: Ballots, group: Ints, groups: int) -> Votes:
        """Collect questions, each of a group, shape (M,)."""
        ballots, place = distinct_ballots(ballots)
        return cls(*question_pairs(group, place, np.ones_like(place)), groups, ballots)

    @property
    def kind_count(self) -> int:
        """Number of different questions, S."""
        return len(self.ballots.votes)

    @property
    def alone(self) -> Votes:
        """Each of the S questions as a group of its own."""
        return Votes.tally(self.ballots, np.arange(self.kind_count), self.kind_count)


def vote_estimate(
    votes: Votes,
    k: int,
    ties: Ties = "split",
    strata: Subgroups[Votes] | None = None,
    short: float = np.nan,
) -> Estimate:
    """Variance estimate of the votes of k trials in each group.

    Questions of fewer trials have the chance `short`, without noise; NaN: nothing is known.
    """
    # Sigma is at least what one trial can change: trials that all agree seem to have no noise.
    sums_of = (strata or votes).weighted_sums
    lacking = votes.ballots.trials < k
    each = np.where(lacking, short, vote_success(votes.ballots, k, ties))
    size = 1 / sums_of(np.ones(votes.kind_count), 2)
    estimate, rest = sums_of(each), sums_of(1 - each)
    mean, mean_rest = ((size * part + 0.5) / (size + 1) for part in (estimate, rest))
    unbiased = vote_noise(votes.ballots, k, ties)
    # A single trial tells nothing of its question; the mean of all bounds the sum of those.
    single = np.isnan(unbiased) & ~lacking
    known, unknown = np.where(single | lacking, 0.0, unbiased), single.astype(float)
    of_one = mean * mean_rest
    total = sums_of(known, 2) + sums_of(unknown, 2) * of_one
    square = sums_of(known**2, 4) + sums_of(unknown, 4) * of_one**2
    trials = size * sums_of(votes.ballots.trials.astype(float))
    variance = _floored_variance(total, estimate, rest, of_one, trials)
    factor = 1 + np.sqrt(square) / variance
    return Estimate.from_noise(estimate, rest, MeanNoise(variance, factor, mean, mean_rest), size)


def vote_noise(ballots: Ballots, k: int, ties: Ties = "split") -> Floats:
    """Variance of `vote_success`, expected not to be below the true one, shape (M,); or NaN."""
    # The jackknife up to a quarter and the root of the trials (L. Mentch, G. Hooker 2016, JMLR
    # 17(26), theorem 1); beyond, Hoeffding's bound (1948, Ann. Math. Statist. 19, eq. 5.22).
    n = ballots.trials
    variance = np.full(n.size, np.nan)
    few = (k <= n // _QUARTER) & (k * k <= n)
    if few.any():
        variance[few] = vote_variance(ballots.of(few), k, ties)
    for trials in np.unique(n[~few & (n >= max(k, 2))]).tolist():
        rows, drawn = n == trials, min(k, trials // 2)
        share = vote_success(ballots.of(rows), drawn, ties)
        variance[rows] = k / (trials - drawn) * share * (1 - share)
    return variance


def _floored_variance(
    variance: Floats, estimate: Floats, rest: Floats, of_one: Floats, trials: Floats
) -> Floats:
    """Variance of each group, raised because a few trials that agree do not show all noise."""
    variance = np.maximum(variance, 1 / trials**2)
    square = np.minimum(estimate, rest) ** 2
    return np.maximum(variance, variance / (square + variance) * of_one / trials)
