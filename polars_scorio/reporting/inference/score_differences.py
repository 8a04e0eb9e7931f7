"""Differences of models: what decisions ask of the models of strata, whatever the inference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.simultaneous.best_critical import best_critical
from polars_scorio.kernels.simultaneous.probability_best import p_best
from polars_scorio.kernels.simultaneous.signal_share import signal_share
from polars_scorio.kernels.simultaneous.step_down import (
    Critical,
    Decided,
    all_pairs_critical,
    baseline_critical,
    final_critical,
    step_down,
)
from polars_scorio.kernels.simultaneous.tukey import tukey_critical


class Differences(NamedTuple):
    """Numbers of some pairs of each stratum, shape (S, P); NaN if there is no such number.

    `z` has the sign of `diff`, `prob` is the chance that the first model is better.
    """

    diff: Floats
    sigma: Floats
    z: Floats
    prob: Floats
    lo: Floats
    hi: Floats

    def without_zero(self) -> Mask:
        """Pairs whose order is known: their interval excludes zero."""
        return np.isfinite(self.sigma) & ((self.lo > 0) | (self.hi < 0))


# From normal critical values of one look, shape (S, P), to the ends of intervals of that shape.
PairEnds: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]


class Scores(Protocol):
    """The models of some strata, with the same number in each, and their differences."""

    @property
    def ranked(self) -> Floats:
        """Numbers by which the models are ranked, shape (S, L); NaN: a model is not ranked."""

    @property
    def repeated(self) -> bool:
        """Whether the log is looked at again and again; critical values are those of one look."""

    def quantile(self, probability: float) -> Floats:
        """Quantile of a standardized difference of one pair, shape (S,)."""

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:
        """Critical values for all pairs at once, those of columns `a` and `b`; for `step_down`."""

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""

    def better_and_worse(self, confidence: float, *, simultaneous: bool) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models, shape (S, L).

        The verdicts hold at once for all pairs (`simultaneous`), or for all pairs of the model.
        """

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of columns `a` less columns `b`, shape (P,), by critical values (S, P)."""

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of critical values."""

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Information of pairs of columns over the planned one, shape (S, P); NaN for one look."""

    def z_of_neighbours(self, order: Ints) -> Floats:
        """Standardized differences of neighbours in an order of shape (S, L), shape (S, L - 1)."""

    def p_best(self) -> Floats:
        """Chance of each model to be the best, shape (S, L)."""

    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise, shape (S,)."""

    def could_be_best(self, confidence: float) -> Mask:
        """Models than which no other is better, shape (S, L); False for models without a rank.

        With the given confidence the best model of a stratum is one of them.
        """


def simultaneous_verdicts(
    scores: Scores, a: Ints, b: Ints, confidence: float, baseline: int | None = None
) -> tuple[Mask, Floats]:
    """Pairs that differ, by verdicts of which all of a stratum hold at once.

    Returns
    -------
    differs : ndarray of bool, shape (S, P)
        By `step_down`; of a log that is looked at again and again, by its first step alone.
    c : ndarray of float, shape (S, P)
        The critical value with which the interval of a pair agrees with its verdict.
    """
    here = np.isfinite(scores.ranked)
    critical, decided = scores.critical(a, b, confidence, baseline), scores.decided_pairs(a, b)
    compared = here[:, a] & here[:, b]
    if not scores.repeated:
        return step_down(compared, critical, decided)
    strata = np.arange(len(here))
    c = critical(compared, strata)
    return compared & decided(c, strata), np.repeat(c[:, None], a.size, axis=1)


def standardized_differences(diff: Floats, sigma: Floats) -> Floats:
    """Differences in units of their standard deviation; 0 if there is no difference."""
    z = np.zeros_like(diff)
    with np.errstate(divide="ignore"):
        return np.divide(diff, sigma, out=z, where=diff != 0)


@dataclass(frozen=True, slots=True, eq=False)
class IndependentScores(ABC):
    """Models with independent errors, arrays of shape (S, L).

    Attributes
    ----------
    mu, sigma : ndarray of float
        Number of each model and its standard deviation; NaN if only a range is known.
    limit : float
        Largest difference that is shown: intervals are clipped to it.
    """

    mu: Floats
    sigma: Floats
    limit: float

    @property
    def repeated(self) -> bool:
        """Whether the log is looked at again and again."""
        return False

    @property
    def ranked(self) -> Floats:
        """Numbers by which the models are ranked."""
        return np.where(np.isfinite(self.sigma), self.mu, np.nan)

    def quantile(self, probability: float) -> Floats:
        """Quantile of a standardized difference of one pair: that of a normal distribution."""
        return np.full(len(self.mu), scipy.special.ndtri(probability))

    def z_of_neighbours(self, order: Ints) -> Floats:
        """Standardized differences of neighbours in an order."""
        mu, sigma = (np.take_along_axis(each, order, axis=1) for each in (self.ranked, self.sigma))
        return standardized_differences(
            mu[:, :-1] - mu[:, 1:], np.hypot(sigma[:, :-1], sigma[:, 1:])
        )

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:
        """Critical values for `step_down`."""
        if baseline is None:
            return all_pairs_critical(np.isfinite(self.ranked).sum(axis=1), confidence)
        return baseline_critical(self.sigma, baseline, confidence)

    @abstractmethod
    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of critical values."""

    @abstractmethod
    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values.

        The values have the shape (S, 1), or (S, L) for a value for each model.
        """

    @abstractmethod
    def row_critical(self, confidence: float) -> Floats:
        """Critical values for all pairs of each model at once, for `counts_at`."""

    def better_and_worse(self, confidence: float, *, simultaneous: bool) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models."""
        if not simultaneous:
            return self.counts_at(self.row_critical(confidence), np.arange(len(self.mu)))

        def decided_pairs(c: Floats, strata: Ints) -> Ints:
            return np.asarray(self.counts_at(c[:, None], strata)[1].sum(axis=1))

        models = np.isfinite(self.ranked).sum(axis=1)
        if self.repeated:
            c = tukey_critical(models, confidence)
        else:
            c = final_critical(models, confidence, decided_pairs)
        return self.counts_at(c[:, None], np.arange(len(c)))

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Information of pairs of columns over the planned one; NaN for one look."""
        del b
        return np.full((len(self.mu), a.size), np.nan)

    def p_best(self) -> Floats:
        """Chance of each model to be the best, after shrinking the gaps."""
        shrinkage = np.sqrt(self.signal_share())
        return p_best(shrinkage[:, None] * self.ranked, self.sigma)

    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise."""
        return signal_share(self.ranked, self.sigma)

    def could_be_best(self, confidence: float) -> Mask:
        """Models than which no other is better, by one-sided verdicts against each model."""
        here = np.isfinite(self.ranked)
        c = best_critical(np.where(here, self.sigma, np.nan), confidence)
        # By a negative value the highest model would be worse than others.
        better, _ = self.counts_at(np.maximum(c, 0.0), np.arange(len(c)))
        return np.asarray(here & (better == 0))
