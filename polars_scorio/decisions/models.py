"""The models of strata, with which every decision begins, and how they are compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    PLANS,
    POSITIVE,
    Overall,
    Range,
    Refusal,
    SpokenTests,
    Unmatched,
    UnmatchedPairs,
    check_choice,
    check_number,
    fits_column,
    is_several,
    known_text,
    planned_looks,
    python_scalar,
    value_text,
)
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.common_questions import Alignment, refuse_divided
from polars_scorio.counting.log import CLUSTER, Trials
from polars_scorio.counting.roles import Category, is_label
from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches
from polars_scorio.maths.comparison import Comparison
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric, given_reward_range
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.errored import AskedOptions
from polars_scorio.study.evaluate import Evaluated, report_columns
from polars_scorio.study.report import CURES, PriorWarning, evaluated_plan
from polars_scorio.study.request import DecisionOptions, Request, RewardUse, view_of
from polars_scorio.subjects.sampled_scores import LIMIT, SampleLaw
from polars_scorio.subjects.scores import BOUNDS, INFERENCE, Law, Row, StrataModels

# The place of a stratum among all, ascending.
STRATUM = ":stratum"
_ROWS = ":rows"


def in_all_strata(
    plan: WholePlan,
    trials: Trials,
    function: Callable[[pl.DataFrame, Any], pl.DataFrame],
    schema: dict[str, pl.DataType],
) -> pl.LazyFrame:
    """Apply a function to the groups of all strata, which have `STRATUM`, and what a plan made.

    If the plan evaluates its groups, those over all strata come last. A function without rows may
    return a frame without columns.
    """
    # Filters on `by` still reach the scan; `schema` has the columns of the rows beside `STRATUM`.
    # A list of rows for each stratum: filters on what is in it must not pass below.
    lists = pl.List(pl.Struct(schema))
    row = pl.struct(pl.col(name).cast(dtype) for name, dtype in schema.items())

    def apply(made: Evaluated | pl.DataFrame) -> pl.DataFrame:
        groups = with_stratum(made.groups if isinstance(made, Evaluated) else made, trials)
        rows = function(groups, made)
        rows = rows if rows.width else pl.DataFrame(schema={STRATUM: pl.UInt32(), **schema})
        ordered = rows.sort(STRATUM, maintain_order=True)
        packed = ordered.group_by(STRATUM, maintain_order=True).agg(row.alias(_ROWS))
        places = groups.select(*trials.strata).unique(maintain_order=True)
        columns = [places[name].gather(packed[STRATUM]) for name in trials.strata]
        return pl.DataFrame([*columns, packed[_ROWS].cast(lists)])

    whole = plan.then(apply, {**trials.strata, _ROWS: lists}).plan()
    return whole.explode(_ROWS, **AS_ROWS).unnest(_ROWS)


def with_stratum(groups: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """Groups by ascending stratum, with the `STRATUM` of each."""
    place = pl.struct(*trials.strata).rle_id() if trials.strata else pl.lit(0, pl.UInt32)
    return groups.with_columns(place.alias(STRATUM))


class Block(NamedTuple):
    """Strata with equally many models."""

    # Places of the strata (S,), of their models among the groups (S, L); column of the baseline.

    strata: Ints
    rows: Ints
    baseline: int | None

    def pairs(self) -> tuple[Ints, Ints]:
        """The columns of both models of each pair."""
        models = self.rows.shape[1]
        if self.baseline is None:
            a, b = np.triu_indices(models, 1)
            return a, b
        rest = np.delete(np.arange(models), self.baseline)
        return rest, np.full_like(rest, self.baseline)


def strata_blocks(
    stratum: pl.Series, baseline: Ints | None = None, *, last_alone: bool = False
) -> Iterator[Block]:
    """The strata by how many models they have; with `last_alone` the last in a block of its own."""
    sizes = np.bincount(stratum.to_numpy())
    starts = np.cumsum(sizes) - sizes
    column = np.zeros_like(sizes) if baseline is None else baseline
    alone = np.arange(sizes.size) == sizes.size - last_alone
    kinds, kind = np.unique(np.column_stack([sizes, column, alone]), axis=0, return_inverse=True)
    for place, (models, base, _) in enumerate(kinds.tolist()):
        strata = np.flatnonzero(kind.ravel() == place)
        for part in row_batches(strata, models**2):
            rows = starts[part][:, None] + np.arange(models)
            yield Block(part, rows, None if baseline is None else base)


_ROW = 100  # bytes of a pair in the result of `compare`


def refuse_many_pairs(models: int, pairs: int, rows: int) -> None:
    """Refuse a comparison whose result would exceed `LIMIT`: one row a pair and draw size."""
    if rows * _ROW > LIMIT:
        raise ValueError(
            f"{models:,} models make {pairs:,} pairs, a result of about "
            f"{rows * _ROW / 1e9:,.1f} GB; compare makes at most {LIMIT / 1e9:,.1f} GB. Name one "
            "model with baseline= to compare all others with it, filter the models, or use rank"
        )


def per_stratum(
    grouped: WholePlan,
    trials: Trials,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: dict[str, pl.DataType],
) -> pl.LazyFrame:
    """Apply a function to one stratum at a time, as `in_all_strata`; its errors name it."""

    def rows_of(groups: pl.DataFrame) -> pl.DataFrame:
        try:
            rows = function(groups.drop(STRATUM, *trials.strata))
        except ValueError as error:
            where = "".join(f"{name}={groups[name][0]!r}: " for name in trials.strata)
            raise ValueError(f"{where}{error}") from error
        place = pl.lit(groups[STRATUM][0], pl.UInt32).alias(STRATUM)
        return rows.select(place, *(pl.col(name).cast(schema[name]) for name in schema))

    def apply(groups: pl.DataFrame, _: object) -> pl.DataFrame:
        strata = groups.partition_by(STRATUM, maintain_order=True) if groups.height else []
        return pl.concat(map(rows_of, strata)) if strata else pl.DataFrame()

    return in_all_strata(grouped, trials, apply, schema)


def named_model(trials: Trials, method: str) -> pl.DataType:
    """The dtype of the model column, which a method needs."""
    if trials.model is None:
        raise ValueError(f"{method} needs several models: name their column with model=")
    return trials.model.dtype


def checked_model(model: Category, trials: Trials, keyword: str) -> Category:
    """The name of a model, after a check that the model column can hold it."""
    dtype, name = named_model(trials, f"{keyword}="), python_scalar(model)
    what = f"{keyword}: {value_text(name)} cannot be a model of this log, whose models are {dtype}"
    if isinstance(name, str) != is_label(dtype) or name is None or is_several(name):
        raise TypeError(what)
    if not fits_column(name):
        raise ValueError(what)
    if isinstance(dtype, pl.Enum) and name not in dtype.categories:
        raise ValueError(f"{what}, one of {known_text(name, dtype.categories)}")
    return name  # type: ignore[return-value]  # one of the kinds that were checked


_ALIGNMENT: dict[UnmatchedPairs, Alignment] = {
    "error": "same", "drop": "common", "unpaired": "any",
}  # fmt: skip


def aligned_questions(
    unmatched: UnmatchedPairs = "error", *, unpaired: bool = False, alone: bool = False
) -> Alignment:
    """The questions of models that count: the same ones, unless the user says otherwise."""
    check_choice("unmatched", unmatched, UnmatchedPairs if unpaired else Unmatched)
    return "any" if alone else _ALIGNMENT[unmatched]


def check_single_k(metric: Metric, method: str) -> None:
    """Refuse a metric of several draw sizes, or of several thresholds."""
    if len(metric.row_sizes) > 1:
        one, given = ("draw size", "k") if metric.t is None else ("threshold", "t")
        raise ValueError(
            f"{method} takes one {one} at a time, got {metric.name} with "
            f"{given}={list(metric.row_sizes)}"
        )


def baseline_columns(groups: pl.DataFrame, trials: Trials, baseline: Category) -> Ints:
    """The column of the baseline among the models of each stratum, which all must have."""
    (model,) = trials.models
    strata = groups.group_by(STRATUM, maintain_order=True).agg(
        pl.col(model).eq(pl.lit(baseline)).arg_true().first().alias("column"),
        pl.col(model),
        *(pl.col(name).first() for name in trials.strata),
    )
    lacking = strata.filter(pl.col("column").is_null())
    if lacking.height:
        first = lacking.row(0, named=True)
        where = "".join(f"{name}={first[name]!r}: " for name in trials.strata)
        known = known_text(baseline, first[model])
        raise ValueError(f"{where}baseline={baseline!r} is none of the models: {known}")
    return strata["column"].to_numpy().astype(np.int64)


# Comparisons of questions that are a sample, and of those that each model has for itself.
SAMPLED = (
    Refusal(lambda ask: not ask.metric.per_question,
            "a blend of the whole benchmark has no value for a single question, so that "
            'target="population" cannot compare them',
            "use ps.geom_at_k, which has one"),
    Refusal(lambda ask: ask.options.get("prior") is not None,
            'target="population" compares unbiased estimates of each question, without a prior',
            "omit prior="),
)  # fmt: skip
UNPAIRED = (
    Refusal(lambda ask: ask.options.get("target") != "population",
            'unmatched="unpaired" takes the questions of each model as a separate sample',
            'pass target="population"'),
    Refusal(lambda ask: ask.options.get("prior") is not None or not ask.metric.calibrated
            or ask.trials.judged or ask.metric.looks_at == "costs",
            'unmatched="unpaired" compares calibrated numbers of outcomes, votes or rewards',
            "omit prior=, truth= and judge="),
)  # fmt: skip


# Numbers of pairs in which the prior decides, and of all pairs. The warning takes their sums; the
# columns are then dropped.
PRIOR_DECIDES, PAIRS = ":prior_decides", ":pairs"
PRIOR_COUNTS: dict[str, pl.DataType] = {PRIOR_DECIDES: pl.UInt64(), PAIRS: pl.UInt64()}

_ROUNDING = 1e-12  # of the largest score


def prior_decides(diff: Floats, lo: Floats, hi: Floats, metric: Metric) -> Mask:
    """Whether differences lie outside the intervals `lo`, `hi` of posteriors; NaN never does."""
    limit = np.inf if metric.bounds is None else metric.bounds[1] - metric.bounds[0]
    clipped, near = np.clip(diff, -limit, limit), _ROUNDING * np.abs(metric.support).max()
    return np.asarray((clipped < lo - near) | (clipped > hi + near))


def warn_of_prior(rows: pl.DataFrame) -> pl.DataFrame:
    """Warn once of the pairs in which the prior decides."""
    outside, pairs = (int(rows[name].sum()) for name in PRIOR_COUNTS)
    if outside:
        warnings.warn(
            f"in {outside:,} of {pairs:,} pairs of models the difference of the estimates "
            "lies outside the interval of the comparison: the uniform prior of each question "
            "outweighs its trials, so that a model may come out better only because it has more "
            f"trials, or fewer. {CURES}",
            PriorWarning,
            stacklevel=2,
        )
    return rows


def metric_of(
    metric: Metric | None, method: str, costs: str = "", *, single: bool = True
) -> Metric:
    """The metric, by default `ps.avg()`; those of costs are refused with what answers for them."""
    if metric is None:
        return avg()
    check_metric(metric, f"{method} takes a metric")
    if single:
        check_single_k(metric, method)
    if costs and metric.looks_at == "costs":
        raise ValueError(f"{method} takes no metric of costs, got {metric.name}: {costs}")
    return metric


def value_range(metric: Metric, trials: Trials) -> float:
    """The range of a metric; infinite if nobody gave the range of real-valued rewards."""
    lowest, highest = value_ends(metric, trials)
    return highest - lowest


def value_ends(metric: Metric, trials: Trials) -> tuple[float, float]:
    """Ends of the range of a metric; infinite if nobody gave that of real-valued rewards."""
    if view_of(metric, trials) != "rewards":
        return metric.support
    return given_reward_range(metric, trials.roles.bounds) or (-np.inf, np.inf)


def check_goal(keyword: str, value: float, limit: float, within: Range = POSITIVE) -> float:
    """A half-width or margin as a float, at most the limit, beyond which it is always met."""
    number = check_number(keyword, value, within)
    if number > limit > 0:
        raise ValueError(
            f"{keyword} must be at most {limit:g}, beyond which it is always met, got {number:g}. "
            "Two points of a hundred are 0.02"
        )
    return number


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Models:
    """The models of a log, and by what they are compared."""

    request: Request
    metric: Metric
    overall: Overall | None = None
    law: Law | None = None  # of questions that are a sample; None: that of the report's numbers
    warns: bool = False  # of pairs in which the prior decides: nobody named it
    unpaired: bool = False  # the questions of each model are a sample of its own

    @property
    def trials(self) -> Trials:
        """The log."""
        return self.request.trials

    @property
    def confidence(self) -> float:
        """Confidence of the intervals."""
        return self.request.choice.confidence

    @property
    def sign(self) -> int:
        """-1 if lower scores are better; scores of costs are such that higher ones are."""
        lower = self.trials.roles.lower_is_better and self.metric.looks_at != "costs"
        return -1 if lower else 1

    def blocks(self, stratum: pl.Series, baseline: Ints | None = None) -> Iterator[Block]:
        """The strata in blocks, their means in one of its own, or alone if nothing else is read."""
        means, study = self.overall not in (None, "micro"), self.trials.study
        blocks = strata_blocks(stratum, baseline, last_alone=means)
        if not means or study is None or not study.means_alone:
            return blocks
        return (block for block in blocks if stratum.max() in block.strata)

    def better_first(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """Both sides of pairs, in the order whose difference says how much better `a` is."""
        return (a, b) if self.sign > 0 else (b, a)

    def at_k(self, evaluated: Evaluated, k: int | None) -> ModelRows:
        """The models by one draw size."""
        return ModelRows(self, evaluated, (self.metric.name, k))


@dataclass(frozen=True, slots=True, eq=False)
class ModelRows:
    """The models by one metric and draw size."""

    models: Models
    evaluated: Evaluated
    row: Row

    @property
    def words(self) -> pl.Series:
        """The words for what each group relies on: inference, and runs."""
        return self.evaluated.words(self.row, self.models.law)

    def pair_words(
        self, pairs: pl.DataFrame, sides: tuple[str, str], names: Sequence[str]
    ) -> pl.Series:
        """The words for pairs, whose columns `sides` have the places of both groups."""
        one, other = (self.words[pairs[side]] for side in sides)
        if (one == other).all():
            return one
        both = pl.format("{}: {}; {}: {}", pl.lit(names[0]), one, pl.lit(names[1]), other)
        return pl.select(
            pl.when(one == other).then(one).otherwise(both).alias(INFERENCE)
        ).to_series()

    def in_block(self, block: Block) -> StrataModels:
        """The models of some strata."""
        return self.evaluated.models(self.row, block.rows, self.models.law)

    def comparison(self, models: StrataModels) -> Comparison:
        """The models of some strata as all decisions take them: higher values are better."""
        comparison = models.comparison()
        return comparison if self.models.sign > 0 else comparison.reversed()

    def outweighed_pairs(self, models: StrataModels, a: Ints, b: Ints) -> Mask:
        """Pairs of columns (S, P) in which the prior decides although nobody named it."""
        scores, places = models.scores, models.groups
        if not self._may_warn(models):
            return np.zeros((len(places), a.size), np.bool_)
        estimate = scores.estimate[places]
        c = np.full((len(places), a.size), models.z)
        pairs = models.comparison().differences(a, b, c)
        return prior_decides(estimate[:, a] - estimate[:, b], pairs.lo, pairs.hi, models.metric)

    def number_outweighed(self, models: StrataModels) -> Ints:
        """Number of `outweighed_pairs` of each stratum, without a table of all pairs."""
        strata, size = models.groups.shape
        number = np.zeros(strata, np.int64)
        for first in range(size if self._may_warn(models) else 0):
            b = np.arange(first + 1, size)
            number += self.outweighed_pairs(models, np.full(b.size, first), b).sum(axis=1)
        return number

    def _may_warn(self, models: StrataModels) -> bool:
        """Whether a prior that nobody named may decide a pair."""
        return self.models.warns and models.scores.inference == "posterior"


def _kinds_of_questions(asked: AskedOptions) -> tuple[bool, bool]:
    """Whether questions are those of each model alone, and whether they are a sample of all."""
    unmatched = asked.options.get("unmatched")
    unpaired = isinstance(unmatched, str) and unmatched == "unpaired"  # else it is refused later
    # The truth behind the verdicts of a judge has no estimate for single questions.
    sampled = asked.options.get("target") == "population" and not (
        unpaired or asked.trials.judged or asked.metric.looks_at == "costs"
    )
    rows = UNPAIRED * unpaired + SAMPLED * sampled
    if refused := [row for row in rows if row.when(asked)]:
        raise refused[0].error(asked.metric.name)
    return unpaired, sampled


def models_of(
    trials: Trials,
    metric: Metric,
    options: DecisionOptions,
    overall: Overall | None = None,
    *,
    spoken: SpokenTests = "of small logs",
    alone: bool = False,
    named: bool = False,
) -> tuple[WholePlan, Models]:
    """A plan that evaluates the models of a log, and how they are compared.

    It warns of what the `spoken` tests find. Models `alone` may have different questions,
    which keep their names if they are `named`.
    """
    planned, chosen = None, options.get("prior")
    unpaired, sampled = _kinds_of_questions(AskedOptions(metric, trials, options))
    if sampled:
        metric, planned = metric.with_unbiased_estimate(), planned_looks(options)
        of_law = dict.fromkeys(name for name, *_ in PLANS.values())
        options = {**options, **of_law, "target": "benchmark", "prior": "uniform"}  # type: ignore[typeddict-item]  # of compare and gate
    unmatched, costs = options.get("unmatched", "error"), metric.looks_at == "costs"
    asked = {name: value for name, value in options.items() if name != "unmatched"}
    use: RewardUse = "always" if sampled else "allowed"
    request = Request.from_trials(trials, [metric], rewards=use, **asked)  # type: ignore[arg-type]  # options of a report
    ((metric, view),) = request.metrics
    unbiased = request.choice.is_unbiased(metric, view)
    models = Models(
        request=request,
        metric=metric,
        overall=overall,
        law=SampleLaw(planned) if sampled else None,
        unpaired=unpaired,
        warns=not sampled and chosen is None,
    )
    plan = evaluated_plan(
        request,
        report_columns(trials),
        overall=overall,
        questions=aligned_questions(unmatched, unpaired=not costs, alone=alone),
        named=any((named, sampled, unbiased and not alone)),
        numbers=not sampled,
        spoken=spoken,
    )
    if sampled and trials.cluster is not None:
        plan = plan.then(_refuse_divided_clusters)
    return plan, models


def _refuse_divided_clusters(evaluated: Evaluated) -> Evaluated:
    """Raise if a question is in different clusters under different models; a step of a plan."""
    trials, cells = evaluated.request.trials, evaluated.parts[0].cells
    rows = evaluated.keys[cells.group].hstack(cells.flat.select(trials.question.name, CLUSTER))
    # Over all strata, a name stands for one question of each of them.
    refuse_divided(rows.filter(*(pl.col(name).is_not_null() for name in trials.strata)), trials)
    return evaluated


def bounds_dtype(models: Models) -> dict[str, pl.DataType]:
    """The column `bounds` of a result about real-valued rewards, which other results lack."""
    ranged = any(BOUNDS in need.visible for need in models.request.classes.needs)
    return {BOUNDS: pl.String()} if ranged else {}


def bounds_column(evaluated: Evaluated) -> pl.Expr:
    """Whether the range of rewards was "given" or "observed"; null if all rewards are 0 or 1."""
    return pl.lit(evaluated.bounds, pl.String).alias(BOUNDS)
