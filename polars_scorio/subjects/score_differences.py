"""Differences of models, whatever the inference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import scipy

from polars_scorio.arguments import View
from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, row_slices
from polars_scorio.maths.comparison import (
    CHOICE,
    ComparedPrice,
    ComparedSide,
    PairedPrice,
    Reach,
    forecast_difference,
    interval_ends,
    paired_variance,
    takes_pairs,
)
from polars_scorio.maths.families import (
    Critical,
    Decided,
    all_pairs_critical,
    anytime_critical,
    baseline_critical,
    final_critical,
    inverted_z,
    look_z,
    step_down,
    student_z,
)
from polars_scorio.maths.independent import baseline_of_each, tukey_critical
from polars_scorio.maths.max_t import best_critical
from polars_scorio.maths.price import Price
from polars_scorio.maths.ranks import signal_share
from polars_scorio.maths.reward_prices import ComparedRewards, RewardPrice
from polars_scorio.maths.run_effects import Pairs, RunPairs, ScoreRuns, widened
from polars_scorio.maths.scores import Range
from polars_scorio.metrics.metric import NUMBERS, Metric
from polars_scorio.subjects.cell_numbers import INFERENCE, INFORMATION, RANGE, Words
from polars_scorio.subjects.question_cells import QuestionTable


class Differences(NamedTuple):
    """Numbers of some pairs of each stratum, shape (S, P); NaN if there is no such number."""

    diff: Floats
    sigma: Floats
    lo: Floats
    hi: Floats

    def without_zero(self) -> Mask:
        """Pairs whose order is known: their interval excludes zero."""
        return np.isfinite(self.sigma) & ((self.lo > 0) | (self.hi < 0))


class Places(NamedTuple):
    """Numbers of higher and of lower models, shape (S, L), and which are higher."""

    higher: Ints
    lower: Ints
    above: Mask  # whether the model of the column is above that of the row, (S, L, L)

    def reversed(self) -> Places:
        """The places if lower scores are better."""
        return Places(self.lower, self.higher, self.above.swapaxes(1, 2))


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

    def places(self, confidence: float, *, simultaneous: bool) -> Places:
        """Higher and lower models, by verdicts about pairs.

        The verdicts hold at once for all pairs (`simultaneous`), or for all pairs of the model.
        """

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of columns `a` less columns `b`, shape (P,), by critical values (S, P)."""

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of critical values."""

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Information of pairs of columns over the planned one, shape (S, P); NaN for one look."""

    def pair_z(self, a: Ints, b: Ints) -> Floats:
        """Signed critical values at which intervals of pairs stop to hold zero, shape (S, P).

        ``Phi(z)`` is the chance that the first model is better. `a`, `b`: columns, (P,) or (S, P).
        """

    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise, shape (S,)."""

    def extreme_models(self, confidence: float) -> tuple[Mask, Mask]:
        """Models than which no other is higher, and no other is lower; False without a rank.

        Shape (S, L) each. With the given confidence the highest model of a stratum is one of the
        first, and the lowest one of the second.
        """


def simultaneous_verdicts(
    scores: Scores, a: Ints, b: Ints, confidence: float, baseline: int | None = None
) -> tuple[Mask, Floats]:
    """Pairs that differ, by verdicts of which all of a stratum hold at once, and their c, (S, P).

    By `step_down`; of a log that is looked at again and again, by its first step alone.
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
    """Models with independent errors, arrays of shape (S, L)."""

    mu: Floats  # NaN if only a range is known
    sigma: Floats  # its standard deviation
    limit: float  # largest difference that is shown: intervals are clipped to it

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

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:
        """Critical values for `step_down`."""
        if baseline is None:
            return all_pairs_critical(np.isfinite(self.ranked).sum(axis=1), confidence)
        return baseline_critical(self.sigma, baseline, confidence)

    def own_ends(
        self, c: Floats, shown: Floats, ends: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Ends of the interval of each model at critical values.

        `ends` are those at the values `shown`: without a price, these intervals are stretched.
        """
        lo, hi = (self.mu - c / shown * (self.mu - end) for end in ends)
        return lo, hi

    def trial_noise(self) -> Floats:
        """Squared noise of the trials of each model, with what is uncertain of it."""
        return np.asarray(self.sigma**2)

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

    @abstractmethod
    def shown_better(self, a: Ints, b: Ints, c: Floats) -> Mask:
        """Whether columns `b` are shown to be better than `a`, by critical values (S, P)."""

    def places(self, confidence: float, *, simultaneous: bool) -> Places:
        """Higher and lower models, by verdicts about pairs."""
        if not simultaneous:
            return self._places_at(self.row_critical(confidence))

        def decided_pairs(c: Floats, strata: Ints) -> Ints:
            return np.asarray(self.counts_at(c[:, None], strata)[1].sum(axis=1))

        models = np.isfinite(self.ranked).sum(axis=1)
        if self.repeated:
            c = tukey_critical(models, confidence)
        else:
            c = final_critical(models, confidence, decided_pairs)
        return self._places_at(c[:, None])

    def _places_at(self, c: Floats) -> Places:
        """Higher and lower models, by critical values, (S, 1) or (S, L)."""
        strata, models = self.mu.shape
        higher, lower = self.counts_at(c, np.arange(strata))
        table = np.zeros((strata, models, models), np.bool_)
        for rows in row_slices(models, strata * models):
            first = np.arange(models)[rows]
            a, b = np.repeat(first, models), np.tile(np.arange(models), first.size)
            of_pairs = np.broadcast_to(c, self.mu.shape)[:, a]
            table[:, rows] = self.shown_better(a, b, of_pairs).reshape(strata, -1, models)
        return Places(higher, lower, table)

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Information of pairs of columns over the planned one; NaN for one look."""
        del b
        return np.full((len(self.mu), a.size), np.nan)

    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise."""
        return signal_share(self.ranked, self.sigma)

    def extreme_models(self, confidence: float) -> tuple[Mask, Mask]:
        """Models than which no other is higher, and lower, by one-sided verdicts against each."""
        here = np.isfinite(self.ranked)
        c = best_critical(np.where(here, self.sigma, np.nan), confidence)
        # By a negative value the highest model would be below others.
        higher, lower = self.counts_at(np.maximum(c, 0.0), np.arange(len(c)))
        return here & (higher == 0), here & (lower == 0)


_MOST_MODELS = 2_000  # of which the variances of all pairs are kept: 32 MB


@dataclass(frozen=True, eq=False)  # no slots: the variances of all pairs are kept
class QuestionValues:
    """Estimates of the questions that the models of a stratum share, on the unit scale."""

    values: Floats  # of each question and model; empty if the metric has none of single questions
    weight: Floats  # share of each question in the mean

    def mean_variance(self) -> Floats:
        """Variance of the mean of each model between the questions, shape (L,)."""
        away = self.values - self.weight @ self.values
        return np.asarray((self.weight**2) @ away**2)

    @property
    def known(self) -> bool:
        """Whether the metric has estimates of single questions."""
        return bool(self.values.size)

    @property
    def number(self) -> float:
        """Number of questions; of unequal ones, the equal ones with the same squared weights."""
        return float(1 / (self.weight @ self.weight)) if self.known else np.nan

    def pair_variances(self, a: Ints, b: Ints) -> Floats:
        """`paired_variance` of pairs of columns, shape (P,)."""
        if not self.known:
            return np.full(a.size, np.nan)
        models = self.values.shape[1]
        known = "_all_pair_variances" in self.__dict__
        if known or (models <= _MOST_MODELS and 2 * a.size >= models * (models - 1)):
            return np.asarray(self._all_pair_variances[a, b])
        return self._each_pair_variance(a, b)

    @cached_property
    def _all_pair_variances(self) -> Floats:
        """`paired_variance` of all pairs of columns, shape (L, L), which rankings ask for often."""
        models = self.values.shape[1]
        a, b = np.triu_indices(models)
        every = np.empty((models, models))
        every[a, b] = every[b, a] = self._each_pair_variance(a, b)
        return every

    def _each_pair_variance(self, a: Ints, b: Ints) -> Floats:
        """`paired_variance` of pairs of columns, some at a time."""
        values = np.empty(a.size)
        for part in row_slices(a.size, len(self.values)):
            gaps = self.values[:, a[part]] - self.values[:, b[part]]
            values[part] = paired_variance(gaps, self.weight)
        return values


# A value of each group: numbers (NaN if there is no such number), words or flags.
Values: TypeAlias = "Floats | Ints | Words | Mask"


class Law(Protocol):
    """The reference distribution of some numbers: how their intervals and differences are made."""

    @property
    def ranges(self) -> bool:
        """Whether an interval without an estimate is the range of a forecast."""

    def scores(self, models: StrataNumbers) -> Scores:
        """The models of some strata, as comparisons take them."""


class CellNumbers(NamedTuple):
    """A metric at one k: a number for each group, NaN if there is no such number."""

    inference: str
    estimate: Floats
    mu: Floats
    sigma: Floats
    lo: Floats
    hi: Floats
    law: Law
    facts: Mapping[str, Values] = MappingProxyType({})  # columns that only some metrics have

    def columns(self) -> dict[str, Values]:
        """The columns of a report."""
        numbers: dict[str, Values] = {name: getattr(self, name) for name in NUMBERS}
        forecast = self.law.ranges & np.isnan(self.estimate) & ~np.isnan(self.lo)
        return {**numbers, **self.facts, INFERENCE: np.where(forecast, RANGE, self.inference)}

    def with_facts(self, **facts: Values) -> CellNumbers:
        """The numbers with more facts."""
        return self._replace(facts={**self.facts, **facts})


# Metric name and draw size: what tells the rows of one cell apart.
Row: TypeAlias = "tuple[str, int | None]"
RowNumbers: TypeAlias = Mapping[Row, CellNumbers]


@dataclass(frozen=True, slots=True, eq=False)
class StrataModels:
    """The models of some strata, with one metric and draw size by which they are compared."""

    metric: Metric
    view: View
    k: int | None
    confidence: float  # of the intervals
    table: QuestionTable
    places: Ints  # groups of each stratum, (S, L)

    @property
    def of_rewards(self) -> bool:
        """Whether the numbers are those of real-valued rewards, with a range of each stratum."""
        return self.view == "rewards"

    @property
    def limit(self) -> float:
        """The largest difference; of rewards it ends where their range does."""
        bounds = None if self.of_rewards else self.metric.bounds
        return np.inf if bounds is None else bounds[1] - bounds[0]

    @property
    def z(self) -> float:
        """The critical value of the interval of a model at one look."""
        return float(scipy.special.ndtri((1 + self.confidence) / 2))

    @property
    def single(self) -> Mask:
        """Models of which no question has more than one trial."""
        states = self.table.cells.fitted
        return np.asarray((states.trials == states.size)[self.places])

    def questions(self, low: Floats | float, width: Floats | float) -> list[QuestionValues]:
        """The questions of each stratum, in units of a width above a lowest value.

        These are numbers, or of each group: the models of a stratum have the same.
        """
        found = self.table.estimates(self.metric, self.view, self.k)
        if found is None:
            nothing = np.empty((0, self.places.shape[1]))
            return [QuestionValues(nothing, np.empty(0)) for _ in self.places]
        weight = self.table.weight
        low, width = (np.broadcast_to(each, self.table.size.size) for each in (low, width))

        def of_stratum(models: Ints) -> QuestionValues:
            rows, first = self.table.rows_of(models), models[0]
            share = np.ones(len(rows)) if weight is None else weight[rows[:, 0]]
            values = (found[rows] - low[first]) / (width[first] or 1.0)
            return QuestionValues(values, share / share.sum())

        return [of_stratum(models) for models in self.places]


@dataclass(frozen=True, slots=True, eq=False)
class StrataNumbers(StrataModels):
    """The models of some strata with their numbers."""

    numbers: CellNumbers  # of all groups

    def scores(self) -> Scores:
        """The models as comparisons take them."""
        return self.numbers.law.scores(self)

    @property
    def basics(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Mu, sigma, lo and hi of each model."""
        numbers = self.numbers
        mu, sigma, lo, hi = (
            each[self.places] for each in (numbers.mu, numbers.sigma, numbers.lo, numbers.hi)
        )
        return mu, sigma, lo, hi

    @property
    def information(self) -> Floats | None:
        """Information of each model over the planned one, if intervals hold at every look."""
        found = self.numbers.facts.get(INFORMATION)
        return None if found is None else np.asarray(found[self.places], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedPairs:
    """Pairs of models whose intervals hold at every look."""

    pairs: Pairs  # the same pairs at one look
    information: Floats  # information of the model that has less of it, over the planned one

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        return self.pairs.sigma

    @property
    def z(self) -> Floats:
        """Critical values of one look at which the intervals of every look stop to hold zero."""
        return look_z(self.pairs.z, self.information)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals, by critical values of one look."""
        return self.pairs.ends(anytime_critical(c, self.information))

    def of_strata(self, strata: Ints) -> RepeatedPairs:
        """The pairs of some of the strata."""
        return RepeatedPairs(self.pairs.of_strata(strata), self.information[strata])


@dataclass(frozen=True, slots=True, eq=False)
class EstimateScores(IndependentScores):
    """Models by unbiased estimates; a model without one has a range."""

    lo: Floats  # interval of each model, or its range
    hi: Floats
    # Information over the planned one, if intervals hold at every look.
    information: Floats | None = field(default=None, kw_only=True)
    # What the runs of each model (S, L) bring to its variance, if they are said.
    runs: ScoreRuns | None = field(default=None, kw_only=True)

    @property
    def repeated(self) -> bool:
        """Whether the log is looked at again and again."""
        return self.information is not None

    @abstractmethod
    def pairs(self, a: Ints, b: Ints, strata: Ints) -> Pairs:
        """Pairs of columns of some strata; each array has the shape (S, P) or (P,)."""

    def interval_pairs(self, a: Ints, b: Ints, strata: Ints) -> Pairs:
        """Pairs of columns of some strata, whose intervals hold at every look if that is wanted."""
        pairs = self.pairs(a, b, strata)
        if self.runs is not None:
            row = strata[:, None]
            runs = self.runs.at((row, a)).less(self.runs.at((row, b)))
            pairs = RunPairs(pairs, self.mu[row, a] - self.mu[row, b], runs)
        if not self.repeated:
            return pairs
        return RepeatedPairs(pairs, self.pair_information(a, b)[strata])

    def shown_better(self, a: Ints, b: Ints, c: Floats) -> Mask:
        """Whether columns `b` are shown to be better than `a`, by critical values (S, P)."""
        return np.asarray(self.pair_ends(a, b)(c)[1] < 0)

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of critical values."""
        pairs = self.interval_pairs(a, b, np.arange(len(self.mu)))
        return lambda c: self._clipped_ends(pairs, c)

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Information of pairs of columns over the planned one; NaN for one look."""
        if self.information is None:
            return np.full((len(self.mu), a.shape[-1]), np.nan)
        row = np.arange(len(self.mu))[:, None]
        return np.minimum(self.information[row, a], self.information[row, b])

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""
        every = self.interval_pairs(a, b, np.arange(len(self.mu)))

        def decided(c: Floats, strata: Ints) -> Mask:
            lo, hi = self._clipped_ends(every.of_strata(strata), c[:, None])
            return np.asarray((lo > 0) | (hi < 0))

        return decided

    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values.

        The models are compared with all others, some at a time.
        """
        models = self.mu.shape[1]
        better, worse = np.zeros((2, strata.size, models), np.int64)
        for rows in row_slices(models, strata.size * models):
            first = np.arange(models)[rows]
            a, b = np.repeat(first, models), np.tile(np.arange(models), first.size)
            critical = c if c.shape[-1] == 1 else np.broadcast_to(c, (strata.size, models))[:, a]
            lo, hi = self._clipped_ends(self.interval_pairs(a, b, strata), critical)
            for counts, decided in ((better, hi < 0), (worse, lo > 0)):
                counts[:, rows] = decided.reshape(strata.size, -1, models).sum(axis=2)
        return better, worse

    def row_critical(self, confidence: float) -> Floats:
        """Critical value for all pairs of each model at once: the largest of its stratum.

        With a value for each model, each pair would need intervals of its own.
        """
        each = baseline_of_each(np.where(np.isfinite(self.mu), self.sigma, np.nan), confidence)
        known = np.where(np.isnan(each), -np.inf, each)
        return np.asarray(known.max(axis=1, keepdims=True, initial=0.0))

    def pair_z(self, a: Ints, b: Ints) -> Floats:
        """Signed critical values at which intervals of pairs stop to hold zero."""
        pairs = self.interval_pairs(a, b, np.arange(len(self.mu)))
        z = np.where(np.isnan(pairs.sigma), np.nan, pairs.z)
        return z if self.limit > 0 else 0 * z

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns; of a model with a range, the range of the difference."""
        pairs = self.interval_pairs(a, b, np.arange(len(self.mu)))
        diff, beyond = self.mu[:, a] - self.mu[:, b], np.isnan(pairs.sigma)
        one, other = (Range(self.mu[:, x], self.lo[:, x], self.hi[:, x]) for x in (a, b))
        ranges = forecast_difference(one, other)
        lo, hi = (
            np.where(beyond, np.clip(range_, -self.limit, self.limit), end)
            for range_, end in zip(ranges[1:], self._clipped_ends(pairs, c), strict=True)
        )
        return Differences(diff, pairs.sigma, lo, hi)

    def _clipped_ends(self, pairs: Pairs, c: Floats) -> tuple[Floats, Floats]:
        """Ends of intervals within the largest difference that is shown."""
        lo, hi = (np.clip(end, -self.limit, self.limit) for end in pairs.ends(c))
        return lo, hi


@dataclass(frozen=True, slots=True, eq=False)
class StretchedScores(EstimateScores):
    """Estimates with an interval and no price, such as means over strata."""

    z: Floats | float  # critical value of each interval, which is stretched to others

    def pairs(self, a: Ints, b: Ints, strata: Ints) -> StretchedPairs:
        """Pairs of columns of some strata."""
        row = strata[:, None]
        mu, down, up = self.mu, (self.mu - self.lo) / self.z, (self.hi - self.mu) / self.z
        return StretchedPairs(
            mu[row, a] - mu[row, b],
            np.hypot(self.sigma[row, a], self.sigma[row, b]),
            np.hypot(down[row, a], up[row, b]),
            np.hypot(up[row, a], down[row, b]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class StretchedPairs:
    """Pairs of models; both sides reach as far as their stretched intervals."""

    diff: Floats  # (S, P)
    sigma: Floats
    down: Floats  # how far the differences reach at a critical value of 1
    up: Floats

    @property
    def z(self) -> Floats:
        """Differences in units of how far they reach."""
        return standardized_differences(self.diff, np.where(self.diff > 0, self.down, self.up))

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        return self.diff - c * self.down, self.diff + c * self.up

    def of_strata(self, strata: Ints) -> StretchedPairs:
        """The pairs of some of the strata."""
        return StretchedPairs(
            self.diff[strata], self.sigma[strata], self.down[strata], self.up[strata]
        )


@dataclass(frozen=True, slots=True, eq=False)
class PricedScores(EstimateScores):
    """Estimates with a price: a pair has the price of its trials, or of its paired differences."""

    price: ComparedSide  # price of the models in the order of ``mu.ravel()``
    questions: Sequence[QuestionValues]  # the questions of each stratum

    @classmethod
    def floored(
        cls,
        numbers: tuple[Floats, Floats, Floats, Floats],
        limit: float,
        price: Price,
        questions: Sequence[QuestionValues],
        single: Mask,
        information: Floats | None = None,
    ) -> PricedScores:
        """Scores of models, with the price of those raised that have single trials only."""
        mu, sigma, lo, hi = numbers
        variance, most = np.zeros(mu.shape), np.full(mu.shape, np.inf)
        for stratum in np.flatnonzero(single.any(axis=1)).tolist():
            asked = questions[stratum]
            if asked.known:
                variance[stratum] = np.where(single[stratum], asked.mean_variance(), 0.0)
                most[stratum] = np.where(single[stratum], asked.number, np.inf)
        compared = ComparedPrice.floored(price, variance.ravel(), most.ravel())
        return cls(mu, sigma, limit, lo, hi, compared, questions, information=information)

    def own_ends(
        self, c: Floats, shown: Floats, ends: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Ends of the interval of each model at critical values."""
        found = self.price.ends(scipy.special.ndtr(-c).ravel())
        lo, hi = (end.reshape(c.shape) for end in found)
        return (lo, hi) if self.runs is None else widened(self.mu, lo, hi, self.runs.term(c), c)

    def trial_noise(self) -> Floats:
        """Squared noise of the trials of each model, with what is uncertain of it."""
        found = self.price.uncertain_variance()
        return np.asarray(self.sigma**2 if found is None else found.reshape(self.mu.shape))

    def pairs(self, a: Ints, b: Ints, strata: Ints) -> PricedPairs:
        """Pairs of columns of some strata."""
        size = np.broadcast_shapes((strata.size, 1), a.shape)
        a, b = np.broadcast_to(a, size), np.broadcast_to(b, size)
        variance, freedom = np.empty(size), np.empty((strata.size, 1))
        for row, stratum in enumerate(strata.tolist()):
            asked = self.questions[stratum]
            variance[row] = asked.pair_variances(a[row], b[row])
            freedom[row] = asked.number - 1
        first = strata[:, None] * self.mu.shape[1]
        return PricedPairs.of(self.price, first + a, first + b, PairedPrice(variance, freedom))


@dataclass(frozen=True, slots=True, eq=False)
class PricedPairs:
    """Pairs of models of some strata."""

    price: ComparedSide  # price of all models
    a: Ints  # places of both models of each pair, (S, P)
    b: Ints
    paired: PairedPrice  # price of their paired differences
    by_pairs: Mask  # whether a pair uses that price

    @classmethod
    def of(cls, price: ComparedSide, a: Ints, b: Ints, paired: PairedPrice) -> PricedPairs:
        """Pairs of models, after the choice of the price of each."""
        reaches = pair_reaches(price, a, b, np.full((len(a), 1), CHOICE))
        return cls(price, a, b, paired, takes_pairs(price.at(a), price.at(b), *reaches, paired))

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        price, other = self.price.at(self.a).price, self.price.at(self.b).price
        by_trials = np.hypot(price.sigma, other.sigma)
        by_pairs = price.width * np.sqrt(self.paired.variance)
        return np.where(self.by_pairs, by_pairs, by_trials)

    @property
    def z(self) -> Floats:
        """By the paired price in closed form; by that of the trials a root for each pair."""
        price = self.price.at(self.a).price
        diff = price.mu - self.price.at(self.b).price.mu
        t = standardized_differences(diff, price.width * np.sqrt(self.paired.variance))
        z = student_z(t, self.paired.freedom)
        if not self.by_pairs.all():
            some = ~self.by_pairs
            freedom = np.broadcast_to(self.paired.freedom, some.shape)[some][None]
            paired = PairedPrice(self.paired.variance[some][None], freedom)
            sides = self.a[some][None], self.b[some][None]
            rest = PricedPairs(self.price, *sides, paired, self.by_pairs[some][None])
            z[some] = inverted_z(rest.ends, diff[some][None])[0]
        return z

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        sides = self.price.at(self.a), self.price.at(self.b)
        reaches = pair_reaches(self.price, self.a, self.b, c)
        return interval_ends(*sides, reaches, self.paired, self.by_pairs, c)

    def of_strata(self, strata: Ints) -> PricedPairs:
        """The pairs of some of the strata."""
        paired = PairedPrice(self.paired.variance[strata], self.paired.freedom[strata])
        return PricedPairs(
            self.price, self.a[strata], self.b[strata], paired, self.by_pairs[strata]
        )


def pair_reaches(price: ComparedSide, a: Ints, b: Ints, c: Floats) -> tuple[Reach, Reach]:
    """Reaches of both sides of each pair, computed once for each model and critical value.

    `c` has the shape of the pairs, or one value for each stratum, shape (S, 1).
    """
    levels, level = np.unique(c, return_inverse=True)
    level = level.reshape(c.shape)
    wanted = np.stack([a, b]) * levels.size + level
    first, place = distinct_rows([wanted.ravel()])
    code = wanted.ravel()[first]
    reached = price.at(code // levels.size).reach(levels[code % levels.size])
    one, other = place.reshape(wanted.shape)
    return Reach(*(each[one] for each in reached)), Reach(*(each[other] for each in reached))


@dataclass(frozen=True, slots=True)
class StretchedLaw:
    """Intervals without a price, such as those of means over strata, which differences stretch."""

    ranges = True

    def scores(self, models: StrataNumbers) -> StretchedScores:
        """The models of some strata: differences reach as far as their intervals."""
        z, information = np.full(models.places.shape, models.z), models.information
        if information is not None:
            z = anytime_critical(z, information)
        mu, sigma, lo, hi = models.basics
        return StretchedScores(mu, sigma, models.limit, lo, hi, z, information=information)


@dataclass(frozen=True, slots=True, eq=False)
class PriceLaw:
    """Intervals that are made of the variance of the trials."""

    price: Price

    ranges = True

    @classmethod
    def of(cls, price: Price, metric: Metric) -> PriceLaw:
        """The law of a price, on the scale of a metric."""
        low, high = metric.support
        bounded = not metric.unbounded
        return cls(replace(price, low=low, width=high - low, bounded=bounded))

    def scores(self, models: StrataNumbers) -> PricedScores:
        """The models of some strata: differences have the price of the trials or of the pairs."""
        price = self.price
        return PricedScores.floored(
            models.basics,
            models.limit,
            price.at(models.places.ravel()),
            models.questions(price.low, price.width),
            models.single,
            models.information,
        )


@dataclass(frozen=True, slots=True, eq=False)
class RewardLaw:
    """Intervals of real-valued rewards, of which each stratum has one range for all models."""

    price: RewardPrice

    ranges = True

    def scores(self, models: StrataNumbers) -> PricedScores:
        """The models of some strata, as for `PriceLaw`."""
        mu, sigma, lo, hi = models.basics
        questions = models.questions(self.price.low, self.price.width)
        compared = ComparedRewards(self.price.at(models.places.ravel()))
        information = models.information
        return PricedScores(mu, sigma, np.inf, lo, hi, compared, questions, information=information)
