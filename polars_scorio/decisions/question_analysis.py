"""A row for each question, the difficulty that questions share, and how different they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    QuestionUnit,
    Unmatched,
    check_choice,
    check_confidence,
)
from polars_scorio.counting.categories import counted_classes
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.log import (
    CLUSTER,
    Log,
    Trials,
    bind_roles,
    refuse_repeats,
    result_schema,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS, group_plan, question_rows
from polars_scorio.decisions.models import aligned_questions, per_stratum
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.credit_numbers import Measurement
from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.interval import Weighted
from polars_scorio.maths.pooled_moments import WeightedPopulations
from polars_scorio.maths.populations import CORRELATIONS, fixed_populations
from polars_scorio.maths.posteriors import Pooled, beta_interval
from polars_scorio.maths.power import difficulty_shares, removable_share
from polars_scorio.maths.questions import States
from polars_scorio.metrics.metric import Bounds, Weights, weight_array, weight_pairs
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.request import Frame, Request, bind_prior, refuse_judge
from polars_scorio.subjects.question_cells import QuestionCells, RewardSubject, count_matrix

_MODEL = ":column"  # the place of a model in its stratum


def average_request(trials: Trials, w: Weights | None) -> Request:
    """The request for the mean outcome of each question, and for the range of its rewards."""
    request = Request.from_trials(trials, [avg(w)])
    rewards = request.classes.need(RewardSubject)
    if rewards is None:
        return request
    return replace(request, classes=request.classes.needing(rewards.ranged()))


def named_questions(request: Request, unmatched: Unmatched) -> WholePlan:
    """The groups of a log, with the names of their questions that all models of a stratum have."""
    # A log without a model column has one model, whose questions are those of all.
    alignment = aligned_questions(unmatched, alone=request.trials.model is None)
    return request.groups(per_question=True, questions=alignment)


class UnitOutcomes(NamedTuple):
    """Outcomes of Q questions, or clusters of questions, under A models; arrays are (Q, A)."""

    mean: Floats
    trial: Floats  # estimated variance of one trial; NaN for a single trial
    noise: Floats  # and of the mean
    support: Bounds | None  # what is possible; None if nobody gave the range of rewards
    ever: Mask  # whether some outcome is above the lowest one; False if that is unknown
    always: Mask  # whether all are the highest one; False if that is unknown


@dataclass(frozen=True, slots=True, eq=False)
class StratumQuestions:
    """Questions, or clusters of questions, of a stratum, and what its models did there."""

    names: pl.Series  # ascending
    size: Ints  # questions that each row stands for, (Q,)
    trials: Ints  # with an outcome, (Q, A)
    outcomes: UnitOutcomes

    @classmethod
    def read(
        cls, groups: pl.DataFrame, request: Request, per: QuestionUnit = "question"
    ) -> StratumQuestions:
        """Read the `QUESTIONS` of the models of one stratum, which have the same questions.

        The mean of a cluster weighs its questions alike.
        """
        question, columns = request.trials.question.name, request.classes.columns()
        unit = CLUSTER if per == "cluster" else question
        flat = _question_rows(groups, columns, [*{unit: None, question: None}])
        shape = flat.height // groups.height, groups.height
        counts = count_matrix(flat, columns).reshape(*shape, len(columns))
        units = flat[unit].gather_every(groups.height)
        start = units.rle_id().arg_unique().to_numpy()
        size = np.diff(start, append=len(units))
        outcomes = _clustered_outcomes(_outcomes_of(flat, counts, request), start, size)
        return cls(units[start], size, np.add.reduceat(counts.sum(axis=2), start), outcomes)


def _question_rows(groups: pl.DataFrame, columns: list[str], order: list[str]) -> pl.DataFrame:
    """A row for each question with an outcome and each model, ascending."""
    rows = question_rows(groups, pl.int_range(pl.len()).alias(_MODEL))
    return rows.filter(pl.sum_horizontal(columns) > 0).sort(*order, _MODEL)


def _outcomes_of(flat: pl.DataFrame, counts: Ints, request: Request) -> UnitOutcomes:
    """The outcomes of rows of questions, whose counts have the shape (Q, A, classes)."""
    ((metric, view),) = request.metrics
    rewards, support = request.classes.need(RewardSubject), request.trials.roles.bounds
    if rewards and (support not in {None, (0.0, 1.0)} or rewards.beyond_counts(flat)):
        return _measured_outcomes(rewards.moments(flat), counts.sum(axis=2), support)
    if view == "categories":
        return _weighed_outcomes(counts, metric.weights, metric.support)
    success = np.isin(np.arange(counts.shape[2]), request.classes.successful)
    return _weighed_outcomes(counts, success.astype(np.float64), (0.0, 1.0))


def _measured_outcomes(
    moments: tuple[Floats, ...], trials: Ints, support: Bounds | None
) -> UnitOutcomes:
    """Means of values, and what their range says of them."""
    mean, error, least, most = (each.reshape(trials.shape) for each in moments)
    low, high = support or (np.inf, np.inf)
    return UnitOutcomes(mean, trials * error**2, error**2, support, most > low, least >= high)


def _weighed_outcomes(counts: Ints, w: Floats, support: Bounds) -> UnitOutcomes:
    """Mean weights of the categories of trials."""
    trials = counts.sum(axis=2)
    mean = counts @ w / trials
    squares = (counts * (w - mean[:, :, None]) ** 2).sum(axis=2)
    unknown = np.full(mean.shape, np.nan)
    trial = np.divide(squares, trials - 1, out=unknown, where=trials > 1)
    low, high = support
    ever = np.asarray(counts[:, :, w > low].any(axis=2))
    always = np.asarray(~counts[:, :, w < high].any(axis=2))
    return UnitOutcomes(mean, trial, trial / trials, support, ever, always)


def _clustered_outcomes(each: UnitOutcomes, start: Ints, size: Ints) -> UnitOutcomes:
    """The outcomes of clusters, of which each begins at a row and has so many rows."""
    number = size[:, None]
    return UnitOutcomes(
        np.add.reduceat(each.mean, start) / number,
        np.add.reduceat(each.trial, start) / number,
        np.add.reduceat(each.noise, start) / number**2,
        each.support,
        np.logical_or.reduceat(each.ever, start),
        np.logical_and.reduceat(each.always, start),
    )


_OF_RANGE = ("solved_by", "always_by", "status", "rate_lo", "rate_hi")  # of the range of outcomes
_QUESTION_COLUMNS: dict[str, pl.DataType] = {
    "trials": pl.UInt64(),
    "rate": pl.Float64(),
    "solved_by": pl.UInt32(),
    "always_by": pl.UInt32(),
    "status": pl.String(),
    "rate_lo": pl.Float64(),
    "rate_hi": pl.Float64(),
    "removable": pl.Float64(),
}


def question_analysis(
    log: Log,
    roles: Roles,
    w: Weights | None = None,
    *,
    per: QuestionUnit = "question",
    unmatched: Unmatched = "error",
    confidence: float | None = None,
) -> pl.LazyFrame:
    """The plan of the analysis of single questions; see `Scorio.questions`."""
    check_choice("per", per, QuestionUnit)
    confidence = check_confidence(confidence)
    trials = bind_roles(log, roles)
    refuse_judge(trials, "questions")
    unit: dict[str, pl.DataType] = {trials.question.name: trials.question.dtype}
    if per == "cluster":
        if trials.cluster is None:
            raise ValueError('per="cluster" needs clusters: name their column with cluster=')
        unit = {trials.cluster.name: trials.cluster.dtype}
    names = ["questions", "models"] if per == "cluster" else ["models"]
    numbers = dict.fromkeys(names, pl.UInt32())
    schema = result_schema(trials.strata, unit, numbers, _QUESTION_COLUMNS)
    request = average_request(trials, w)

    def analysed(groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each question, or cluster of questions; the hardest ones first."""
        table = StratumQuestions.read(groups, request, per)
        rows = pl.DataFrame({next(iter(unit)): table.names, "questions": table.size})
        rows = rows.hstack(_rate_columns(table, (1 - confidence) / 2))
        removable = removable_share(table.outcomes.mean, table.outcomes.noise)
        rows = rows.with_columns(removable=removable).fill_nan(None).select(*schema)
        return rows.sort("rate", *unit, descending=[trials.roles.lower_is_better, False])

    return per_stratum(named_questions(request, unmatched), trials, analysed, schema)


def _rate_columns(table: StratumQuestions, tail: float) -> pl.DataFrame:
    """How often each question is solved, and by how many models."""
    (questions, models), outcomes = table.trials.shape, table.outcomes
    trials, ever, always = table.trials.sum(axis=1), outcomes.ever, outcomes.always
    low, high = outcomes.support or (np.nan, np.nan)
    unseen = (high - low) * -np.expm1(np.log(tail) / trials)  # what may be unseen beyond the trials
    numbers = {
        "models": np.full(questions, models),
        "trials": trials,
        "rate": outcomes.mean.mean(axis=1),
        "solved_by": ever.sum(axis=1),
        "always_by": always.sum(axis=1),
        "never": ~ever.any(axis=1),
        "always": always.all(axis=1),
        "rate_lo": high - unseen,
        "rate_hi": low + unseen,
    }
    rows = pl.DataFrame(numbers).with_columns(
        pl.when("always").then("rate_lo"),
        pl.when("never").then("rate_hi"),
        pl.when("never")
        .then(pl.lit("never"))
        .when("always")
        .then(pl.lit("always"))
        .alias("status"),
    )
    if outcomes.support is None:  # nobody knows which reward is the lowest
        rows = rows.with_columns(pl.lit(None).alias(name) for name in _OF_RANGE)
    return rows.drop("never", "always")


def shared_difficulty(log: Log, roles: Roles) -> dict[str, float]:
    """Rate, spread and correlation of the models of a log with one stratum; see `Design`."""
    trials = bind_roles(log, roles)
    refuse_judge(trials, "like=")
    if trials.by:
        raise ValueError("like= takes a log without strata: filter one, or omit by=")
    request = average_request(trials, None)
    table = StratumQuestions.read(named_questions(request, "error").plan().collect(), request)
    outcomes = table.outcomes
    if outcomes.support != (0.0, 1.0):
        raise ValueError("like= takes outcomes from 0 to 1: pass bounds=(0, 1), or divide rewards")
    single = int(np.isnan(outcomes.noise).sum())
    if len(table.names) < 2 or single:
        raise ValueError(
            "like= needs two questions and two trials of each, to tell the spread of questions "
            f"from the noise of trials: {single:,} questions of a model have a single trial. Give "
            "rate=, spread= and correlation= instead"
        )
    if not 0 < outcomes.mean.mean() < 1:
        raise ValueError(
            "like=: all outcomes of the log are alike, so its questions have no spread"
        )
    names = ("rate", "spread", "correlation")
    shares = zip(names, difficulty_shares(outcomes.mean, outcomes.noise), strict=True)
    return {name: value for name, value in shares if not np.isnan(value)}


_POPULATION_NUMBERS = ("mean", "mean_lo", "mean_hi", "icc", "icc_lo", "icc_hi", "s", "s_lo", "s_hi")
POPULATION_COLUMNS: dict[str, pl.DataType] = {
    "questions": pl.UInt32(),
    "trials": pl.UInt64(),
    **dict.fromkeys(_POPULATION_NUMBERS, pl.Float64()),
}
_POPULATION = ":population"
# The populations have six correlations: counts tell no more than which of them is nearest.
_BETWEEN = np.array([0.0, *(np.add(CORRELATIONS[1:], CORRELATIONS[:-1]) / 2), 1.0])


def population(
    log: Log,
    roles: Roles,
    w: Weights | None = None,
    *,
    earlier: Frame | None = None,
    confidence: float | None = None,
) -> pl.LazyFrame:
    """The plan of the weighted populations; see `Scorio.population`."""
    confidence = check_confidence(confidence)
    trials, pairs = bind_roles(log, roles), weight_pairs(w)
    if pairs is None and trials.roles.levels is not None:
        pairs = tuple((level, level) for level in trials.roles.levels)
    refuse_judge(trials, "population")
    refuse_repeats([*trials.keys, *POPULATION_COLUMNS])
    weighted = [] if pairs is None else [tuple(category for category, _ in pairs)]
    counted = counted_classes(trials, weighted, binary=pairs is None)
    prior = None if earlier is None else bind_prior(earlier, trials, counted)
    weights, with_prior = weight_array(pairs), prior is not None

    def weighted_rows(groups: pl.DataFrame) -> pl.DataFrame:
        questions = groups[QUESTIONS]
        fitted = QuestionCells.read(questions, counted, with_prior=with_prior).fitted
        fitted = fitted.binary(counted.successful) if pairs is None else fitted
        numbers = _population_numbers(fitted, weights, confidence)
        return groups.select(*trials.keys, numbers.to_struct(_POPULATION)).unnest(_POPULATION)

    schema = {**trials.strata, **trials.models, **POPULATION_COLUMNS}
    return group_plan(trials, counted, prior).then(weighted_rows, schema).plan()


def _population_numbers(fitted: States, w: Floats, confidence: float) -> pl.DataFrame:
    """A row for each group of questions."""
    pooled = Pooled.fit(fitted, fitted, np.arange(fitted.groups), "benchmark")
    icc = [_correlation_numbers(group.among, confidence) for group in pooled.groups]
    rho, lo, hi = np.reshape(icc, (-1, 3)).T
    with np.errstate(divide="ignore"):
        odds = [(1 - each) / each for each in (rho, hi, lo)]
    numbers = [*_rate_numbers(fitted, w, confidence), rho, lo, hi, *odds]
    columns = dict(zip(_POPULATION_NUMBERS, numbers, strict=True))
    frame = pl.DataFrame({"questions": fitted.size, "trials": fitted.trials, **columns})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None)).cast(POPULATION_COLUMNS)  # type: ignore[arg-type]  # a dict is a mapping


def _rate_numbers(fitted: States, w: Floats, confidence: float) -> list[Floats]:
    """Mean weight of each group and its interval, with the questions as a sample."""
    every = replace(fitted, counts=fitted.counts + fitted.prior)
    asked = Measurement(Weighted(every), confidence, "population")
    (rate,) = asked.credits([fixed_gains(np.ones(1))])
    first, last = (float(weight) for weight in w)
    ends = (rate.lo, rate.hi) if last >= first else (rate.hi, rate.lo)
    return [first + (last - first) * each for each in (rate.estimate, *ends)]


def _correlation_numbers(among: WeightedPopulations, confidence: float) -> list[float]:
    """Mean over the populations, and its interval up to where other ones are nearer."""
    weight, values = among.weight, fixed_populations().correlation[among.live.places]
    mu = np.array(weight @ values)
    sigma = np.sqrt(weight @ (values - mu) ** 2)
    lo, hi = (float(each) for each in beta_interval(mu, sigma, confidence, (0.0, 1.0)))
    return [float(mu), _BETWEEN[lo >= _BETWEEN].max(), _BETWEEN[hi <= _BETWEEN].min()]
