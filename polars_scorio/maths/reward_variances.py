"""Variance of mean real-valued rewards, with bounds for outcomes not yet observed.

No population is fitted. Three bounds, true of all rewards inside the range, add what no measured
variance shows: the largest noise, trials of another kind, and such of questions without noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy

from polars_scorio.maths.array_rows import (
    Floats,
    Ints,
    Mask,
    distinct_rows,
    known_ratio,
    row_batches,
)
from polars_scorio.maths.interval import NoisyMean, UnitSample
from polars_scorio.maths.populations import rate_ends

_NO_NOISE = 1e-18  # in units of the squared range: rounding error of equal rewards


@dataclass(frozen=True, slots=True, eq=False)
class QuestionRewards:
    """The Q questions of G groups, by their rewards on the scale of the range: inside [0, 1]."""

    values: Floats  # unbiased estimate of each question
    noise: Floats  # variance of that estimate; NaN for a single trial
    trials: Ints
    group: Ints
    groups: int
    k: int = 1  # trials of a draw: 1 for averages
    cluster: Ints | None = None

    def ordered(self) -> QuestionRewards:
        """The questions in an order that does not depend on that of the rows, nor do sums then."""
        names = "noise", "values", "trials", *["cluster"] * (self.cluster is not None), "group"
        columns = {name: getattr(self, name) for name in names}
        order = np.lexsort([*columns.values()])
        return replace(self, **{name: each[order] for name, each in columns.items()})

    def total(self, of_questions: Floats | Ints | Mask) -> Floats:
        """Sum over the questions of each group, shape (G,)."""
        return np.bincount(self.group, of_questions, self.groups).astype(np.float64)

    @property
    def size(self) -> Floats:
        """Questions of each group, shape (G,)."""
        return self.total(np.ones(self.group.size))

    @property
    def mean(self) -> Floats:
        """The estimate of each group, shape (G,); NaN if a question has none."""
        return np.asarray(self.total(self.values) / self.size)

    @property
    def silent(self) -> Mask:
        """Questions whose trials show no noise: all equal, or a single one."""
        return np.asarray((self.noise <= _NO_NOISE) | (self.trials == 1))

    def variance_between(self) -> Floats:
        """Variance of the mean by the spread of the questions; NaN for a single question."""
        size = self.size
        square = self.total((self.values - self.mean[self.group]) ** 2)
        return known_ratio(square, size * (size - 1), np.nan)

    def full_noise(self) -> Floats:
        """Noise of each question, with that of single trials taken from other questions."""
        # Trials are often fewest where the noise is largest: a single trial has the larger of the
        # mean variance of a trial and that between single trials. NaN if all are single.
        single = (self.trials == 1) & np.isnan(self.noise)
        several = self.total(~single)
        of_trial = self.total(np.where(single, 0.0, self.trials * self.noise))
        within = known_ratio(of_trial, several, np.nan)
        number = self.total(single)
        mean = self.total(np.where(single, self.values, 0.0)) / np.maximum(number, 1)
        square = self.total(np.where(single, (self.values - mean[self.group]) ** 2, 0.0))
        between = square / np.maximum(number - 1, 1)
        return np.where(single, np.maximum(within, between)[self.group], self.noise)

    def sample(self) -> UnitSample:
        """The questions as a sample of a population: each a unit, or each cluster of them."""
        code = first = np.arange(self.group.size)
        if self.cluster is not None:  # no two groups share one
            first, code = distinct_rows([self.group, self.cluster])
        size = np.bincount(code)
        means, one = np.bincount(code, self.values) / size, np.ones_like(size)
        return UnitSample(means, size.astype(np.float64), one, self.group[first], self.groups)


def best_of_rewards(rewards: Floats, offsets: Ints, k: int) -> Floats:
    """Expected best reward of k trials of each question, from real-valued rewards; NaN if k > N."""
    # ``sum_{i=k}^{N} C(i-1, k-1) g_(i) / C(N, k)``, g the sorted rewards of a question, which has
    # ``rewards[offsets[i]:offsets[i + 1]]``: F. Bagirov et al. (2025), arXiv:2510.23393, C.1.
    best = np.full(offsets.size - 1, np.nan)
    for rows, ranked in _ranked_rewards(rewards, offsets, k):
        # Counted from the reward nearest to zero, no two terms of one sign ever cancel.
        origin = np.clip(0.0, ranked[:, 0], ranked[:, -1])
        weights = _rank_weights(ranked.shape[1], k)
        best[rows] = origin + ((ranked - origin[:, None]) * weights).sum(axis=1)
    return best


def best_noise(rewards: Floats, offsets: Ints, k: int) -> Floats:
    """Variance of `best_of_rewards` of each question, conservative on average; or NaN."""
    # Below k = N the jackknife's (B. Efron, C. Stein 1981, Annals of Statistics 9, 586-596); for k
    # = N the squared gap of the two best. NaN if ``k > N``, and for a single trial.
    noise = np.full(offsets.size - 1, np.nan)
    for rows, ranked in _ranked_rewards(rewards, offsets, k):
        n = ranked.shape[1]
        if n == k:
            noise[rows] = np.nan if n == 1 else (ranked[:, -1] - ranked[:, -2]) ** 2
            continue
        # Equal rewards are all zero here, so that they leave no rounding error.
        away = ranked - np.clip(0.0, ranked[:, 0], ranked[:, -1])[:, None]
        estimate = (away * _rank_weights(n, k)).sum(axis=1)
        left_out = _estimates_without_each(away, _rank_weights(n - 1, k))
        noise[rows] = (n - 1) / n * ((left_out - estimate[:, None]) ** 2).sum(axis=1)
    return noise


def _estimates_without_each(ranked: Floats, weights: Floats) -> Floats:
    """The estimate without the trial of each rank: later trials move down by one rank."""
    lower = np.cumsum(ranked[:, :-1] * weights, axis=1)
    upper = np.cumsum((ranked[:, 1:] * weights)[:, ::-1], axis=1)[:, ::-1]
    return np.pad(lower, ((0, 0), (1, 0))) + np.pad(upper, ((0, 0), (0, 1)))


def _ranked_rewards(rewards: Floats, offsets: Ints, k: int) -> Iterator[tuple[Ints, Floats]]:
    """Questions with at least k trials, some of one size at a time, and their sorted rewards."""
    sizes = np.diff(offsets)
    enough = np.flatnonzero(sizes >= k)
    by_size = enough[np.argsort(sizes[enough], kind="stable")]
    distinct, first = np.unique(sizes[by_size], return_index=True)
    # Questions of one size are a matrix; R rewards have at most sqrt(2 R) distinct sizes.
    for size, same in zip(distinct.tolist(), np.split(by_size, first[1:]), strict=False):
        for rows in row_batches(same, size):
            yield rows, np.sort(rewards[offsets[rows][:, None] + np.arange(size)], axis=1)


def _rank_weights(n: int, k: int) -> Floats:
    """Chance that the best of k has rank i, ``C(i-1, k-1) / C(n, k)``, for i = 1..n."""
    rank = np.arange(n, 1, -1)
    falls = np.maximum(rank - k, 0) / (rank - 1)
    weights: Floats = k / n * np.cumprod(np.append(1.0, falls))[::-1]
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class GroupRewards:
    """Real-valued rewards, question after question, with the range that they are measured on."""

    trials: Ints
    group: Ints
    groups: int
    low: Floats  # least reward of the range, (G,)
    width: Floats  # of the range, (G,); 0: all rewards equal and no range known
    mean: Floats | None = None  # of each question, (Q,); None if no metric averages
    error: Floats | None = None  # its standard error; NaN for a single trial
    rewards: Floats | None = None  # all, question after question; None if no metric needs them
    cluster: Ints | None = None

    def averages(self) -> QuestionRewards:
        """The mean reward of each question."""
        assert self.mean is not None  # counted for metrics that average
        assert self.error is not None
        noise = (self.error / self._unit) ** 2
        # Inside [0, 1] up to rounding.
        values = np.clip((self.mean - self.low[self.group]) / self._unit, 0.0, 1.0)
        return self._questions(values, noise, 1)

    def best(self, k: int, *, upper: bool | None = None) -> QuestionRewards:
        """The expected best of k trials of each question; of fewer, NaN or an end of the range."""
        return self._questions(*self._best_of(self._listed(), k, upper=upper), k)

    def worst(self, k: int, *, upper: bool | None = None) -> QuestionRewards:
        """The expected worst of k trials of each question, as `best`."""
        mirrored = None if upper is None else not upper
        values, noise = self._best_of(1 - self._listed(), k, upper=mirrored)
        return self._questions(1 - values, noise, k)

    def _best_of(self, unit: Floats, k: int, *, upper: bool | None) -> tuple[Floats, Floats]:
        """The expected best of k numbers of each question, and its noise."""
        offsets, short = np.append(0, np.cumsum(self.trials)), self.trials < k
        best, noise = best_of_rewards(unit, offsets, k), best_noise(unit, offsets, k)
        if upper is None or not short.any():
            return best, noise
        if upper:
            return np.where(short, 1.0, best), np.where(short, 0.0, noise)
        for size in np.unique(self.trials[short]).tolist():
            some = self.trials == size
            best[some] = best_of_rewards(unit, offsets, size)[some]
            noise[some] = best_noise(unit, offsets, size)[some]
        return best, noise

    @property
    def _unit(self) -> Floats:
        """The range of the rewards of each question."""
        return np.where(self.width > 0, self.width, 1.0)[self.group]

    def _listed(self) -> Floats:
        """The rewards on the scale of the range."""
        assert self.rewards is not None  # listed for metrics that need them
        low, unit = self.low[self.group], self._unit
        return (self.rewards - np.repeat(low, self.trials)) / np.repeat(unit, self.trials)

    def _questions(self, values: Floats, noise: Floats, k: int) -> QuestionRewards:
        return QuestionRewards(values, noise, self.trials, self.group, self.groups, k, self.cluster)


_MOST_TRIALS = 1e12
_NEAR_MEDIAN = 0.499  # the ratio of both quantiles is taken no nearer to the median


@dataclass(frozen=True, slots=True, eq=False)
class RewardNoise(NoisyMean):
    """The mean reward of each group, and what its interval is made of, each of shape (G,).

    The variance is measured, or NaN if nothing measures it; a width of 0 is unknown.
    """

    spread: Floats  # factor of the variance for the spread of the questions' noise; 0: unknown
    freedom: Floats  # degrees of freedom of the variance; 0: none
    trials: Floats  # fewest trials of largest noise that it is worth
    silent: Floats  # mean estimate of questions without noise, over all questions
    silent_rest: Floats  # the same of their complements

    @classmethod
    def from_questions(cls, questions: QuestionRewards, low: Floats, width: Floats) -> RewardNoise:
        """Variance of a mean on these questions, given `ordered` and the reward range."""
        total, size = questions.total, questions.size
        noise = questions.full_noise()
        sum_of_noise = total(noise)
        away = np.sqrt(total((noise - (sum_of_noise / size)[questions.group]) ** 2))
        estimated = known_ratio(away, sum_of_noise)
        alone = total(questions.trials > 1) == 0
        silent = questions.silent
        return cls(
            estimate=questions.mean,
            rest=total(1 - questions.values) / size,
            variance=np.where(alone, questions.variance_between(), sum_of_noise / size**2),
            spread=np.where(alone, 0.0, 1 + estimated),
            freedom=np.where(alone, size - 1, total(questions.trials - 1)),
            trials=size**2 / total(1 / np.maximum(questions.trials // questions.k, 1)),
            silent=total(np.where(silent, questions.values, 0.0)) / size,
            silent_rest=total(np.where(silent, 1 - questions.values, 0.0)) / size,
            low=low,
            width=width,
        )

    def ends(self, tail: Floats | float) -> tuple[Floats, Floats]:
        """Interval on the scale of the rewards, by the chance beyond either end; or NaN."""
        u, rest, trials = self.estimate, self.rest, self.trials
        number = self._effective_trials(tail)
        lo, hi = rate_ends(u * number, rest * number, tail)
        unseen = unseen_share(trials, tail)
        below = np.maximum(u * unseen, self.silent * unseen_share(trials * self.silent, tail))
        above = np.maximum(
            rest * unseen, self.silent_rest * unseen_share(trials * self.silent_rest, tail)
        )
        lo, hi = np.minimum(lo, u - below), np.maximum(hi, u + above)
        known = (self.width > 0) & ~np.isnan(u)
        lo, hi = np.where(known, lo, np.nan), np.where(known, hi, np.nan)
        lo, hi = (self.low + self.width * np.clip(end, 0.0, 1.0) for end in (lo, hi))
        return lo, hi

    def _effective_trials(self, tail: Floats | float) -> Floats:
        """Trials with the largest possible noise that would have the variance of the estimate."""
        tail = np.minimum(tail, _NEAR_MEDIAN)
        some = np.maximum(self.freedom, 1.0)
        ratio = scipy.special.stdtrit(some, tail) / scipy.special.ndtri(tail)
        noise = self.variance * np.maximum(self.spread, ratio**2)
        noise = np.where((self.freedom > 0) & np.isfinite(noise), noise, np.inf)
        number = known_ratio(self.estimate * self.rest, noise, _MOST_TRIALS)
        return np.clip(number, self.trials, _MOST_TRIALS)


def unseen_share(trials: Floats, tail: Floats | float) -> Floats:
    """Share of trials of another kind that may be unobserved: ``1 - tail^(1 / trials)``."""
    trials = np.maximum(trials, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        return -np.expm1(np.log(tail) / trials)
