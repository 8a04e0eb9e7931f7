"""What metrics are worth for questions whose success rates are known: the truth of a simulation."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

import polars_scorio as ps
from polars_scorio.maths.ballots import Ballots, vote_success

Floats = np.ndarray

AS_GOOD_AS_ENDLESS = 10**7  # trials of a question whose votes stand for its truth


class Asked(NamedTuple):
    """A metric with one draw size, and its true value for questions with these success rates."""

    metric: ps.Metric
    truth: Callable[[Floats], Floats]  # over the last axis, the questions

    @property
    def label(self) -> str:
        """The name of the metric with its draw size."""
        k = self.metric.k[0]
        return self.metric.name if k is None else f"{self.metric.name} k={k}"


def linear_truth(score: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """The mean over the questions of a score of their rates."""
    return lambda p: score(p).mean(axis=-1)


def credit_truth(credit: Floats) -> Callable[[Floats], Floats]:
    """The mean over the questions of the credit that a draw of k trials is expected to earn."""
    k = credit.size - 1

    def expected(p: Floats) -> Floats:
        return sum(credit[j] * binom.pmf(j, k, p) for j in range(k + 1) if credit[j]) + 0 * p

    return linear_truth(expected)


def accuracy() -> Asked:
    """The share of successes."""
    return Asked(ps.avg(), linear_truth(lambda p: p))


def at_k(k: int) -> Iterator[Asked]:
    """Every metric of draws of k trials that has a calibrated interval, k = 1 being accuracy."""
    successes = np.arange(k + 1)
    yield Asked(ps.pass_at_k(k), some_success := linear_truth(lambda p: 1 - (1 - p) ** k))
    yield Asked(ps.pass_hat_k(k), all_succeed := linear_truth(lambda p: p**k))
    beyond_half = np.maximum(successes - np.ceil(k / 2), 0) * 2 / k
    yield Asked(ps.mg_pass_at_k(k), credit_truth(beyond_half))
    yield Asked(ps.auc_at_k(k), linear_truth(lambda p: pass_area(p, k)))
    if k > 2:
        yield Asked(ps.maj_at_k(k), credit_truth(1.0 * (successes > k / 2)))
        yield Asked(ps.g_pass_at_k_tau(k, 0.75), credit_truth(1.0 * (successes >= 0.75 * k)))
    yield Asked(
        ps.geom_at_k(k), linear_truth(lambda p: np.sqrt(np.maximum(1 - (1 - p) ** k, 0) * p**k))
    )
    yield Asked(ps.geom_ds_at_k(k), lambda p: np.sqrt(some_success(p) * all_succeed(p)))


def pass_area(p: Floats, k: int) -> Floats:
    """The area under Pass@1, ..., Pass@k by the trapezoid rule, divided by its width."""
    passes = [1 - (1 - p) ** size for size in range(1, k + 1)]
    return (sum(passes) - (passes[0] + passes[-1]) / 2) / (k - 1)


def half_points(k: int) -> list[Asked]:
    """The average and the best of k trials that have half a point for each of two steps."""
    points = [0, 0.5, 1]

    def best_of_draw(p: Floats) -> Floats:
        return 1 - ((1 - p) ** (2 * k) + np.clip(1 - p**2, 0, 1) ** k) / 2

    return [
        Asked(ps.avg(points), linear_truth(lambda p: p)),
        Asked(ps.max_at_k(k, points), linear_truth(best_of_draw)),
    ]


def vote_success_at_k(k: int) -> Asked:
    """Votes over answers: the truth takes shares of the answers, the right one first."""

    def vote_truth(shares: Floats) -> Floats:
        answers = shares.shape[-1]
        votes = np.floor(shares * AS_GOOD_AS_ENDLESS).astype(np.int64).reshape(-1, answers)
        right = np.zeros(votes.shape, dtype=np.bool_)
        right[:, 0] = True
        ballots = Ballots(votes, right, np.zeros(len(votes), dtype=np.int64))
        return vote_success(ballots, k, "split").reshape(shares.shape[:-1]).mean(axis=-1)

    return Asked(ps.vote_at_k(k), vote_truth)
