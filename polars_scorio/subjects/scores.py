"""The one result of an inference: a metric at one k, whatever it is about.

A new kind of score is a new way to make `Scores`, with a `Law` that says how they are compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from polars_scorio.arguments import PLANS, View
from polars_scorio.counting.coverage import warn_of_log
from polars_scorio.maths.array_rows import Floats, Ints, Mask, known_ratio
from polars_scorio.maths.comparison import Compared, Comparison, from_ranges
from polars_scorio.maths.covariance import Paired, paired_means
from polars_scorio.maths.credit_numbers import (
    Numbers,
    sample_numbers,
    variance_numbers,
)
from polars_scorio.maths.families import anytime_critical
from polars_scorio.maths.interval import (
    Estimate,
    MeasuredPairs,
    NoisyMean,
    question_units,
)
from polars_scorio.maths.posteriors import Pooled, Target
from polars_scorio.maths.power import Forecast, TrialsAhead
from polars_scorio.maths.questions import QuestionGroups, States, Subgroups
from polars_scorio.maths.run_effects import ScoreRuns, widened
from polars_scorio.metrics.metric import NUMBERS, Metric, quiet_infinities
from polars_scorio.subjects.question_cells import QuestionCells, QuestionTable

Words: TypeAlias = NDArray[np.str_ | np.object_]

# The last column of a report: the inference of the row, or `RANGE` where k exceeds the trials.
INFERENCE, RANGE = "inference", "range"

OTHER_RUNS, THESE_RUNS = ", other runs", ", these runs"
ALIKE_RUNS = f"{OTHER_RUNS} alike"  # of all models together
# Information at this look over the planned information, if intervals hold at every look.
INFORMATION = "information_fraction"
# Of the errors of mean cost and success rate, for frontiers; no column has it.
CORRELATION = "correlation"
# Whether the range of real-valued rewards was given, or is that of the rewards that were seen.
BOUNDS = "bounds"
# The estimate from the verdicts of a judge as they are, and the labels behind its correction.
JUDGED, LABEL_COUNT = "estimate_uncorrected", "labels"
JUDGE_DTYPES: dict[str, pl.DataType] = {JUDGED: pl.Float64(), LABEL_COUNT: pl.UInt64()}
# The number of the judge of an estimate, which estimates with the same number share.
JUDGE = ":judge"


def clipped_ends(metric: Metric, *ends: Floats) -> Iterator[Floats]:
    """Ends of intervals, clipped to the bounds of the metric."""
    bounds = metric.bounds or (-np.inf, np.inf)
    return (np.clip(end, *bounds) for end in ends)


def refuse_outside(mu: Floats, metric: Metric) -> None:
    """Refuse numbers outside bounds that a user gave; these may be a part of the groups."""
    if "bounds" not in dict(metric.given):
        return
    low, high = metric.bounds or (-np.inf, np.inf)
    near = 1e-9 * metric.unit
    if (((mu < low - near) | (mu > high + near)) & np.isfinite(mu)).any():
        raise ValueError(
            f"{metric.name}: the value of some model lies outside these bounds, so no interval "
            "within them contains it: omit bounds=, or give wider ones"
        )


class ClusterSample(NamedTuple):
    """The questions of each group as a sample of clusters."""

    size: Floats  # effective number of clusters
    stretch: Floats  # by which the mean is noisier than that of as many questions without


# From a metric, its draw size and its view to the sample that its groups are.
SampleOf = Callable[[Metric, "int | None", View], "ClusterSample | None"]


def cluster_samples(cells: QuestionCells, target: Target) -> SampleOf:
    """Noise of each metric and k if the questions are a sample of clusters; else None."""
    # The design effect (L. Kish 1965, Survey Sampling, 5.4) is the variance of the mean of the
    # posterior means of questions with clusters over that without: so their shrinkage cancels.
    clusters, states = cells.clusters, cells.fitted
    if clusters is None or target == "benchmark":
        return lambda *_: None
    pairs = np.arange(states.group.size)
    alone = replace(states, group=pairs, questions=1 + 0 * pairs, groups=pairs.size)

    @cache
    def single_posterior(view: View) -> Pooled:
        single, fitted = cells.seen_as(view, alone), cells.seen_as(view, states)
        return Pooled.fit(single, fitted, states.group, target)

    def sample(metric: Metric, k: int | None, view: View) -> ClusterSample:
        with quiet_infinities(metric):
            values = metric.summary(single_posterior(view), k).mu / metric.unit
            clustered = clusters.variance(states, values)
        alike = _independent_variance(states, values)
        effect = known_ratio(clustered, alike, 1.0)
        return ClusterSample(clusters.effective, np.sqrt(np.maximum(effect, 1.0)))

    return sample


def _independent_variance(states: States, values: Floats) -> Floats:
    """Variance of the mean of a value for each pair of a group and a state, without clusters."""
    size, group = states.size, states.group
    mean = np.bincount(group, states.questions * values, states.groups) / size
    square = np.bincount(group, states.questions * (values - mean[group]) ** 2, states.groups)
    return np.asarray(square / (size * np.maximum(size - 1, 1)))


class StrataMeans(NamedTuple):
    """The groups of each model, (L, S), one of each stratum, with the weights of the strata."""

    groups: Ints
    weights: Floats  # (S,), on any scale

    def mean(self, values: Floats) -> Floats:
        """Mean over the strata of each model, of a value for each group."""
        # Divided last, so that means of ones are exactly 1.
        return np.asarray((values[self.groups] * self.weights).sum(axis=1) / self.weights.sum())

    def root_of_squares(self, deviation: Floats) -> Floats:
        """Deviation of that mean, if those of the groups are independent."""
        squares = (deviation[self.groups] * self.weights) ** 2
        return np.asarray(np.sqrt(squares.sum(axis=1)) / self.weights.sum())


_SUREST = 1 - 2.0**-52  # the largest confidence below 1 of which half of the rest is a number


def planned_share(cells: QuestionCells, target: Target, plan: int) -> Floats:
    """Information of each cell, over the planned one."""
    # About these questions the harmonic mean of their trials, about a population their number.
    states = cells.states
    made = states.size if target == "population" else 1 / states.mean(1 / states.n)
    return share_of_plan(np.asarray(made, np.float64), target, plan)


def share_of_plan(made: Floats | Ints, target: Target, plan: int) -> Floats:
    """The trials or questions that were made, over the planned ones; warns of more than those."""
    if (most := np.max(made, initial=0)) > plan * (1 + 1e-9):  # more than rounding
        option, units, _ = PLANS[target]
        warn_of_log(
            f"{option}={plan}: the log has up to {most:.6g} {units}. Its intervals hold, and are "
            "wider than a larger plan would have given"
        )
    return np.asarray(made / plan)


def look_confidence(confidence: Floats | float, information: Floats) -> Floats:
    """The confidence of one look with the critical value of a look that is one of many."""
    # Comparisons do not use it, but the tail itself: of the tail of a look at a hundredth of the
    # plan no digit is left here, and the interval is the whole range.
    z = scipy.special.ndtri((1 + confidence) / 2)
    tail = scipy.special.ndtr(-anytime_critical(z, information))
    return np.asarray(np.minimum(1 - 2 * tail, _SUREST))


def information_of_strata(target: Target, information: Floats, questions: Ints) -> Floats:
    """Information of means over strata, from that of the strata and their questions, (L, S)."""
    if target == "population":
        return np.asarray(information.sum(axis=1))
    return np.asarray(questions.sum(axis=1) / (questions / information).sum(axis=1))


# A value of each group: numbers (NaN if there is no such number), words or flags.
Values: TypeAlias = "Floats | Ints | Words | Mask"
MeanEnds: TypeAlias = "tuple[Floats, Floats, Law]"  # lo and hi of means, and their law
# Mu, sigma and the ends of the interval of each model of each stratum, shape (S, L).
ModelNumbers: TypeAlias = "tuple[Floats, Floats, Floats, Floats]"


class Noise(NamedTuple):
    """Standard deviation of each group by what is independent from question to question, and runs.

    Pairing two models by question may replace the first part, `independent`; what all questions of
    a run share, no pairing takes away.
    """

    independent: Floats
    shared: ScoreRuns | None = None  # None: nothing is known of runs
    asked: bool = False  # whether a user asked about other runs
    alike: bool = False  # whether the shared part is one of all models

    @property
    def sigma(self) -> Floats:
        """Standard deviation of the score."""
        if self.shared is None:
            return self.independent
        return np.asarray(np.hypot(self.independent, np.sqrt(self.shared.by_score.excess)))


class Scores(NamedTuple):
    """A metric at one k: a number for each group, NaN if there is no such number."""

    inference: str
    estimate: Floats
    mu: Floats
    noise: Noise
    lo: Floats
    hi: Floats
    law: Law
    facts: Mapping[str, Values] = MappingProxyType({})  # columns that only some metrics have

    @property
    def sigma(self) -> Floats:
        """Standard deviation of mu."""
        return self.noise.sigma

    @classmethod
    def from_credit(cls, numbers: Numbers, metric: Metric) -> Scores:
        """Calibrated numbers of a metric, the interval clipped to the bounds of the metric."""
        refuse_outside(numbers.estimate, metric)
        lo, hi = clipped_ends(metric, numbers.lo, numbers.hi)
        law = RangeLaw() if numbers.noisy is None else EstimateLaw.from_noisy(numbers.noisy, metric)
        mu = numbers.estimate
        return cls("calibrated", mu, mu, Noise(numbers.sigma), lo, hi, law)

    @classmethod
    def from_law(cls, law: Law, groups: int) -> Scores:
        """Groups without numbers of their own: the law knows how they are compared."""
        none = np.full(groups, np.nan)
        return cls("calibrated", none, none, Noise(none), none, none, law)

    def columns(self) -> dict[str, Values]:
        """The columns of a report."""
        numbers: dict[str, Values] = {name: getattr(self, name) for name in NUMBERS}
        return {**numbers, **self.facts, INFERENCE: self.words()}

    def words(self) -> Words:
        """The words for what each group relies on."""
        beyond = self.law.ranges & np.isnan(self.estimate) & ~np.isnan(self.lo)
        words = np.where(beyond, RANGE, self.inference).astype(object)
        shared = self.noise.shared
        if shared is not None:
            known = (np.asarray(shared.by_score.freedom) > 0) & ~beyond
            other = ALIKE_RUNS if self.noise.alike else OTHER_RUNS
            words = words + np.where(known, other, THESE_RUNS)
        elif self.noise.asked:
            words = words + THESE_RUNS
        return words

    def with_facts(self, **facts: Values) -> Scores:
        """The scores with more facts."""
        return self._replace(facts={**self.facts, **facts})


# Metric name and draw size: what distinguishes the rows of one cell.
Row: TypeAlias = "tuple[str, int | None]"
RowScores: TypeAlias = Mapping[Row, Scores]


def estimated_scores(
    metrics: Sequence[Metric],
    questions: QuestionGroups,
    confidence: Floats | float,
    target: Target,
    clusters: Subgroups[Any] | None = None,
    strata: Subgroups[Any] | None = None,
) -> dict[Row, Scores]:
    """Scores of metrics that estimate their own variance, of clusters, or of means over strata."""

    def sampled(metric: Metric, k: int | None) -> Numbers:
        low, high = metric.support
        unit = (metric.kind_estimates(questions, k) - low) / ((high - low) or 1.0)
        mean = (strata or questions).weighted_sums(unit)
        units = question_units(questions, unit[questions.state], clusters, strata)
        return sample_numbers(mean, units, confidence).scaled(low, high)

    def measured(metric: Metric) -> list[Numbers]:
        if target == "population":
            return [sampled(metric, k) for k in metric.row_sizes]
        return [variance_numbers(each, confidence) for each in metric.variances(questions, strata)]

    return {
        row: Scores.from_credit(numbers, metric)
        for metric in metrics
        for row, numbers in zip(metric.rows, ranged_numbers(metric, measured), strict=True)
    }


# Numbers of a metric, with an estimate and an interval of each group.
NumbersT = TypeVar("NumbersT", Numbers, Scores)


def ranged_numbers(metric: Metric, measured: Callable[[Metric], list[NumbersT]]) -> list[NumbersT]:
    """Numbers of a metric for each k, with a range where k exceeds the trials of some question."""
    numbers, ends = measured(metric), [metric.at_end(upper=upper) for upper in (False, True)]
    low, high = ends
    if low is None or high is None or not any(np.isnan(each.estimate).any() for each in numbers):
        return numbers
    return [
        each._replace(
            lo=np.where(beyond := np.isnan(each.estimate), least.lo, each.lo),
            hi=np.where(beyond, most.hi, each.hi),
        )
        for each, least, most in zip(numbers, measured(low), measured(high), strict=True)
    ]


class Inference(ABC):
    """The numbers of metrics, each with its view; a value that hashes."""

    __slots__ = ()

    @abstractmethod
    def numbers(self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells) -> RowScores:
        """The numbers for each draw size and cell."""

    def macro_numbers(
        self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells
    ) -> dict[Row, Scores]:
        """The numbers of means over strata; empty if those of the strata give them."""
        return {}

    def ranking_numbers(
        self, metric: Metric, view: View, k: int | None, cells: QuestionCells
    ) -> Floats:
        """The number of each cell by which models are ranked."""
        return self.numbers([(metric, view)], cells)[metric.name, k].mu

    @abstractmethod
    def mean_interval(self, metric: Metric, numbers: Scores, strata: StrataMeans) -> MeanEnds:
        """Ends of the interval of means over strata, and the law of these means."""


@dataclass(frozen=True, slots=True, eq=False)
class StrataModels:
    """The models of some strata, with one metric and draw size by which they are compared."""

    metric: Metric
    view: View
    k: int | None
    confidence: float  # of the intervals
    table: QuestionTable
    groups: Ints  # of each stratum, (S, L)
    scores: Scores  # of all groups
    known: dict[Law, Any] = field(default_factory=dict)  # what a law has worked out

    def comparison(self) -> Comparison:
        """The models as all decisions take them."""
        compared = self.scores.law.compared(self)
        if self.runs is None:
            return compared
        low, high = (-np.inf, np.inf) if self.scores_rewards else self.metric.support
        return replace(compared, runs=self.runs, limit=np.minimum(compared.limit, high - low))

    def numbers(self) -> ModelNumbers:
        """Mu, sigma, lo and hi of each model by itself."""
        return self.scores.law.numbers(self)

    def own_ends(self, confidence: Floats) -> tuple[Floats, Floats]:
        """Intervals of the models, (S, L), at confidences (S, 1) above that of the report."""
        return self.scores.law.own_ends(self, confidence)

    def trial_noise(self) -> Floats:
        """Squared noise of the trials of each model, with what is uncertain of it."""
        return self.scores.law.trial_noise(self)

    def ends_at(self, c: Floats) -> tuple[Floats, Floats]:
        """Intervals of the models at critical values (S, L) of one look."""
        looks = c if self.information is None else anytime_critical(c, self.information)
        return self.scores.law.ends_at(self, looks)

    def further(self, sides: Sequence[Ints], planned: int | None = None) -> Forecast:
        """Columns (S, P), or pairs of them, after further trials or questions.

        `planned`: for all looks.
        """
        result, runs = self.scores.law.further(self, sides, planned), self.runs
        if runs is None:
            return result
        row = np.arange(len(self.groups))[:, None]
        first, *second = (runs.at((row, side)) for side in sides)
        part = first.less(second[0]) if second else first.by_score
        fewer = np.min([self.typical_trials[row, side] for side in sides], axis=0)
        return replace(result, runs=part.in_units(result.unit), trials=fewer.ravel())

    @property
    def typical_trials(self) -> Floats:
        """Trials of a question of each model: the harmonic mean, by which noise falls."""
        states = self.table.cells.fitted
        return np.asarray((1 / states.mean(1 / states.n))[self.groups])

    @property
    def reported(self) -> ModelNumbers:
        """Mu, sigma, lo and hi of each model in the report."""
        scores = self.scores
        mu, sigma, lo, hi = (
            each[self.groups] for each in (scores.mu, scores.sigma, scores.lo, scores.hi)
        )
        return mu, sigma, lo, hi

    @property
    def runs(self) -> ScoreRuns | None:
        """The part of runs in each model; None: nothing is seen."""
        shared = self.scores.noise.shared
        return None if shared is None else shared.at(self.groups)

    @property
    def scores_rewards(self) -> bool:
        """Whether the numbers are those of real-valued rewards, with a range of each stratum."""
        return bool(self.view == "rewards")

    @property
    def limit(self) -> float:
        """The largest difference; of rewards it ends where their range does."""
        bounds = None if self.scores_rewards else self.metric.bounds
        return np.inf if bounds is None else bounds[1] - bounds[0]

    @property
    def z(self) -> float:
        """The critical value of the interval of a model at one look."""
        return float(scipy.special.ndtri((1 + self.confidence) / 2))

    def look_critical(self, confidence: Floats | float) -> Floats:
        """Critical values (S, L) of the interval of each model by itself; confidence: (S, 1)."""
        c = np.broadcast_to(scipy.special.ndtri((1 + confidence) / 2), self.groups.shape)
        return c if self.information is None else anytime_critical(c, self.information)

    @property
    def single(self) -> Mask:
        """Models of which no question has more than one trial."""
        states = self.table.cells.fitted
        return np.asarray((states.trials == states.size)[self.groups])

    @property
    def information(self) -> Floats | None:
        """Information of each model over the planned one, if intervals hold at every look."""
        facts = self.scores.facts.get(INFORMATION)
        return None if facts is None else np.asarray(facts[self.groups], dtype=np.float64)


class SharedQuestions(NamedTuple):
    """Questions that the models of some strata share, Q rows, stratum after stratum."""

    values: Floats  # estimates, (Q, L)
    trials: Ints  # of each question and model, (Q, L)
    sizes: Ints  # questions of each stratum, (S,)
    cluster: Ints | None
    weight: Floats | None

    @property
    def first(self) -> Ints:
        """The first question of each stratum."""
        return np.cumsum(self.sizes) - self.sizes


def shared_questions(models: StrataModels) -> SharedQuestions:
    """The questions of the models of some strata, which have the same ones."""
    table, estimates = models.table, models.table.estimates(models.metric, models.view, models.k)
    assert estimates is not None  # as the options of a comparison see to
    empty = [np.empty((0, models.groups.shape[1]), np.int64)]
    rows = np.concatenate([*empty, *(table.rows_of(groups) for groups in models.groups)])
    cluster, weight = (
        None if each is None else each[rows[:, 0]] for each in (table.cluster, table.weight)
    )
    sizes = table.size[models.groups[:, 0]]
    return SharedQuestions(estimates[rows], table.trials[rows], sizes, cluster, weight)


class Law(ABC):
    """The reference distribution of scores: how models are compared, and what each is by itself."""

    ranges: ClassVar[bool] = True  # an interval without an estimate is a range

    @abstractmethod
    def compared(self, models: StrataModels) -> Comparison:
        """The models of some strata, with the pairs between them."""

    def numbers(self, models: StrataModels) -> ModelNumbers:
        """The numbers of each model by itself."""
        return models.reported

    def trial_noise(self, models: StrataModels) -> Floats:
        """Squared noise of the trials of each model, with what is uncertain of it."""
        return models.scores.noise.independent[models.groups] ** 2

    def further(
        self, models: StrataModels, sides: Sequence[Ints], planned: int | None = None
    ) -> Forecast:
        """Columns (S, P), or pairs, after further trials of each question, or questions."""
        known = models.reported[0], self.trial_noise(models), models.typical_trials
        row = np.arange(len(models.groups))[:, None]
        mu, noise, each = ([x[row, side].ravel() for side in sides] for x in known)
        gap = mu[0] - mu[1] if len(sides) > 1 else mu[0]
        return TrialsAhead.from_noise(gap, [*zip(noise, each, strict=True)], planned)

    def own_ends(self, models: StrataModels, confidence: Floats) -> tuple[Floats, Floats]:
        """Intervals of models at confidences (S, 1), not inside those of the report."""
        lowest, highest = self.ends_at(models, models.look_critical(confidence))
        _, _, lo, hi = models.reported
        # The bounds of rewards are a range, in which all ends lie.
        bounds = None if models.scores_rewards else models.metric.bounds
        low, high = (-np.inf, np.inf) if bounds is None else bounds
        return np.minimum(np.maximum(lowest, low), lo), np.maximum(np.minimum(highest, high), hi)

    def ends_at(self, models: StrataModels, c: Floats) -> tuple[Floats, Floats]:
        """Ends at critical values (S, L): without a variance, intervals are stretched."""
        mu, _, *ends = models.reported
        wider = c / models.look_critical(models.confidence)
        lo, hi = (mu - wider * (mu - end) for end in ends)
        return lo, hi


class RangeLaw(Law):
    """Intervals without a variance, such as means over strata, which differences stretch."""

    def compared(self, models: StrataModels) -> Comparison:
        """Differences reach as far as the intervals of both models."""
        z = models.look_critical(models.confidence)
        return from_ranges(models.reported, z, models.limit, models.information)


@dataclass(frozen=True, slots=True, eq=False)
class VarianceLaw(Law):
    """Intervals made from a variance: pairs follow from the intervals of both models."""

    noisy: NoisyMean

    def single(self, models: StrataModels) -> Paired | None:
        """The models with one trial of each question, if pairs are made from questions."""
        return None

    def compared(self, models: StrataModels) -> Comparison:
        """Differences follow from the intervals of both models, or from their questions."""
        compared, between = Compared.from_numbers(*models.reported), self.between(models)
        return Comparison(compared, between, models.limit, information=models.information)

    def between(self, models: StrataModels) -> Callable[[Ints, Ints], MeasuredPairs]:
        """Pairs by their columns."""
        if self not in models.known:
            models.known[self] = self.single(models)
        single: Paired | None = models.known[self]
        pairs = partial(MeasuredPairs.from_side, self.side(models), len(models.groups))
        return pairs if single is None else lambda a, b: pairs(a, b, single.differences(a, b))

    def side(self, models: StrataModels) -> NoisyMean:
        """The estimates of the models, stratum after stratum."""
        return self.noisy.at(models.groups.ravel())

    def trial_noise(self, models: StrataModels) -> Floats:
        """Squared noise of the trials, with what is uncertain of it."""
        return self.side(models).trial_noise.reshape(models.groups.shape)

    def ends_at(self, models: StrataModels, c: Floats) -> tuple[Floats, Floats]:
        """Ends at critical values (S, L)."""
        ends = self.side(models).ends(scipy.special.ndtr(-c).ravel())
        lo, hi = (end.reshape(c.shape) for end in ends)
        if models.runs is None:
            return lo, hi
        return widened(models.reported[0], lo, hi, models.runs.by_score.term(c), c)


class EstimateLaw(VarianceLaw):
    """Outcomes, and all values on the scale of the outcomes."""

    @classmethod
    def from_noisy(cls, noisy: Estimate, metric: Metric) -> EstimateLaw:
        """The law of a noisy estimate, on the scale of a metric."""
        low, high = metric.support
        bounded = not metric.unbounded
        return cls(replace(noisy, low=low, width=high - low, bounded=bounded))

    def single(self, models: StrataModels) -> Paired | None:
        """The models with one trial of each question, NaN for models with more."""
        if not (models.single.sum(axis=1) > 1).any() or not models.metric.per_question:
            return None
        shared = shared_questions(models)
        alone = np.repeat(models.single, shared.sizes, axis=0)
        unit = (shared.values - self.noisy.low) / (self.noisy.width or 1.0)
        return paired_means(np.where(alone, unit, np.nan), shared.first, 1.0, None, shared.weight)
