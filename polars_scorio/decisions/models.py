"""The models of strata, with which every decision begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import (
    Adjusted,
    Compared,
    Overall,
    check_choice,
    fits_column,
    is_several,
    known_text,
    value_text,
    value_tuple,
)
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.log import Trials, is_label
from polars_scorio.counting.roles import Category
from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches
from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.families import (
    Critical,
    Decided,
    anytime_student_critical,
    decided_by_score,
    paired_critical,
)
from polars_scorio.maths.max_t import max_t_of_best, max_t_of_each
from polars_scorio.maths.ranks import better_and_worse, p_best_paired, signal_share_paired
from polars_scorio.maths.sample_bound import UnitSample
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.cell_numbers import look_confidence
from polars_scorio.study.request import DecisionOptions, InferenceOptions
from polars_scorio.study.score_differences import (
    Differences,
    PairEnds,
    Scores,
    simultaneous_verdicts,
    standardized_differences,
)

# The place of a stratum among all, ascending.
STRATUM = ":stratum"
_ROWS = ":rows"


def in_all_strata(
    grouped: WholePlan,
    trials: Trials,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: dict[str, pl.DataType],
    *,
    overall: bool = False,
) -> pl.LazyFrame:
    """Apply a function to the groups of all strata; filters on `by` still reach the scan.

    Parameters
    ----------
    grouped : WholePlan
        One row per group: its keys, and a list of its questions or its results.
    trials : Trials
        The log, for the names of its keys.
    function : callable
        From all groups, ascending by stratum and model, to rows of the result. Both have the
        column `STRATUM`.
    schema : dict
        The columns of the rows beside `STRATUM`.
    overall : bool
        Whether there are groups over all strata, whose keys are null: they come last.

    Returns
    -------
    LazyFrame
        The strata and the columns of `schema`, ascending by stratum, in the order of `function`.
    """
    keys, row = trials.strata, pl.Struct(schema)

    def apply(groups: pl.DataFrame) -> pl.DataFrame:
        if keys or trials.models:
            groups = groups.sort(*keys, *trials.models, nulls_last=overall)
        stratum = pl.struct(*keys).rle_id() if keys else pl.lit(0, pl.UInt32)
        rows = function(groups.with_columns(stratum.alias(STRATUM)))
        # A list for each stratum: filters on what is in it must not pass below.
        packed = (
            rows.sort(STRATUM, maintain_order=True)
            .group_by(STRATUM, maintain_order=True)
            .agg(pl.struct(pl.col(name).cast(dtype) for name, dtype in schema.items()).alias(_ROWS))
        )
        places = groups.select(*keys).unique(maintain_order=True)
        columns = [places[name].gather(packed[STRATUM]) for name in keys]
        return pl.DataFrame([*columns, packed[_ROWS].cast(pl.List(row))])

    return (
        grouped.then(apply, {**keys, _ROWS: pl.List(row)})
        .plan()
        .explode(_ROWS, **AS_ROWS)
        .unnest(_ROWS)
    )


class Block(NamedTuple):
    """Strata with equally many models.

    Attributes
    ----------
    strata : ndarray of int, shape (S,)
        Their places among all strata.
    rows : ndarray of int, shape (S, L)
        The places of their models among all groups.
    baseline : int or None
        The column of the model with which all others are compared.
    """

    strata: Ints
    rows: Ints
    baseline: int | None

    def pairs(self) -> tuple[Ints, Ints]:
        """The columns of both models of each pair."""
        models = self.rows.shape[1]
        if self.baseline is None:
            a, b = np.triu_indices(models, 1)
            return a, b
        others = np.delete(np.arange(models), self.baseline)
        return others, np.full_like(others, self.baseline)


def strata_blocks(
    stratum: pl.Series, baseline: Ints | None = None, *, last_alone: bool = False
) -> Iterator[Block]:
    """The strata by how many models they have, some at a time.

    Parameters
    ----------
    stratum : Series
        Of each group, ascending.
    baseline : ndarray of int, optional
        Column of the baseline in each stratum.
    last_alone : bool
        Whether the last stratum is in a block of its own, as a mean over the others is.

    Examples
    --------
    >>> [block.rows.tolist() for block in strata_blocks(pl.Series([0, 0, 1, 2, 2]))]
    [[[2]], [[0, 1], [3, 4]]]
    """
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


LIMIT = 2_000_000_000  # bytes

_ROW = 100  # bytes of a pair in the result of `compare`
_CELL = 128  # bytes of a pair, in both orders, in the tables of a population of questions


def refuse_many_pairs(models: int, pairs: int, rows: int) -> None:
    """Refuse a comparison whose result would exceed `LIMIT`.

    Parameters
    ----------
    models : int
        Models of the largest stratum.
    pairs, rows : int
        Pairs of models of all strata, and rows of the result: a pair has one for each draw size.

    Raises
    ------
    ValueError
        If the result is too large.
    """
    if rows * _ROW > LIMIT:
        raise ValueError(
            f"{models:,} models make {pairs:,} pairs, a result of about {_size_text(rows * _ROW)}; "
            f"compare makes at most {_size_text(LIMIT)}. Name one model with baseline= to compare "
            "all others with it, filter the models, or use rank"
        )


def refuse_large_covariance(models: int) -> None:
    """Refuse models on a sample of questions, if their covariances would exceed `LIMIT`.

    Raises
    ------
    ValueError
        If there are too many models.
    """
    if models**2 * _CELL > LIMIT:
        raise ValueError(
            f'target="population" needs the covariances of all pairs of {models:,} models, '
            f"about {_size_text(models**2 * _CELL)}; the limit is {_size_text(LIMIT)}. Filter "
            'the models, or use target="benchmark"'
        )


def _size_text(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"


# Least and largest score of a model.
ScoreEnds: TypeAlias = "tuple[Floats | float, Floats | float]"


@dataclass(frozen=True, slots=True, eq=False)
class SampledScores:
    """The models of some strata, compared on questions that are a sample; see `Scores`.

    Attributes
    ----------
    models : Paired
        In units of `unit`.
    unit : float or ndarray of float, shape (S, 1)
        The range of the metric, or of the rewards of each stratum; 1 if it has none.
    span : float
        The range in units: 1, or 0 if all values are equal.
    ends : tuple of float or ndarray of float, shape (S, 1)
        The range of a score, clipped to the bounds of the metric.
    low : float or ndarray of float, shape (S, 1)
        The least value of the metric, or of the rewards of each stratum.
    units : UnitSample or None
        The questions, or clusters, of each model, for its own interval. None if the metric has no
        range, or the means are adjusted for the questions that a model was asked: its interval is
        then that of Student's t.
    information : ndarray of float, shape (S,), or None
        Questions over planned ones, if intervals hold at every look.
    """

    models: Paired
    unit: Floats | float
    span: float
    ends: ScoreEnds
    low: Floats | float = 0.0
    units: UnitSample | None = None
    information: Floats | None = None

    @property
    def repeated(self) -> bool:
        """Whether the log is looked at again and again."""
        return self.information is not None

    @property
    def ranked(self) -> Floats:
        """Numbers by which the models are ranked."""
        return self.models.mean

    def quantile(self, probability: float) -> Floats:
        """Quantile of a standardized difference of one pair: Student's."""
        freedom = self.models.freedom
        return np.asarray(
            scipy.special.stdtrit(np.where(freedom > 0, freedom, np.nan), probability)
        )

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of normal critical values."""
        freedom = np.where(self.models.freedom > 0, self.models.freedom, np.nan)[:, None]

        def ends(c: Floats) -> tuple[Floats, Floats]:
            student = -scipy.special.stdtrit(freedom, scipy.special.ndtr(-c))
            found = self.pair_differences(a, b, student)
            return found.lo, found.hi

        return ends

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Questions over planned ones, the same for all pairs of columns; NaN for one look."""
        del b
        share = np.full(len(self.models.mean), np.nan)
        share = share if self.information is None else self.information
        return np.repeat(share[:, None], a.size, axis=1)

    def z_of_neighbours(self, order: Ints) -> Floats:
        """Standardized differences of neighbours in an order."""
        a, b = order[:, :-1], order[:, 1:]
        strata, mean = np.arange(len(order))[:, None], self.models.mean
        return standardized_differences(
            mean[strata, a] - mean[strata, b], self._pair_sigma()[strata, a, b]
        )

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:
        """Critical values for `step_down`."""
        return paired_critical(self.models, a, b, confidence)

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""
        decided = decided_by_score(self._pair_score(a, b))
        return lambda c, strata: decided(self._look_critical(c, strata), strata)

    def better_and_worse(self, confidence: float, *, simultaneous: bool) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models."""
        mean = self.models.mean
        strata, size = mean.shape
        if simultaneous:
            a, b = np.triu_indices(size, 1)
            differs = np.zeros((strata, size, size), np.bool_)
            verdicts, _ = simultaneous_verdicts(self, a, b, confidence)
            differs[:, a, b] = differs[:, b, a] = verdicts
        else:
            a, b = (each.ravel() for each in np.indices((size, size)))
            score = self._pair_score(a, b).reshape(strata, size, size)
            differs = (
                score > self._look_critical(max_t_of_each(self.models, confidence))[:, :, None]
            )
        return better_and_worse(mean, differs)

    def p_best(self) -> Floats:
        """Chance of each model to be the best, after shrinking the gaps."""
        models = self.models
        shrinkage = np.sqrt(self.signal_share())
        return p_best_paired(replace(models, mean=shrinkage[:, None] * models.mean))

    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise."""
        return signal_share_paired(self.models)

    def could_be_best(self, confidence: float) -> Mask:
        """Models than which no other is better, by one-sided verdicts against each model."""
        mean = self.models.mean
        a, b = (each.ravel() for each in np.indices((mean.shape[1],) * 2))
        score = self._pair_score(a, b).reshape(*mean.shape, -1)
        # By a negative value the highest model would be worse than others.
        c = np.maximum(max_t_of_best(self.models, confidence), 0.0)
        better, _ = better_and_worse(mean, score > self._look_critical(c)[:, :, None])
        return np.asarray(np.isfinite(self.ranked) & (better == 0))

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns, by critical values."""
        mean, freedom = self.models.mean, self.models.freedom[:, None]
        diff, sigma = mean[:, a] - mean[:, b], self._pair_sigma()[:, a, b]
        z = standardized_differences(np.where(freedom > 0, diff, np.nan), sigma)
        prob = scipy.special.stdtr(np.where(freedom > 0, freedom, np.nan), z)
        limit, c = (self.ends[1] - self.ends[0]) / self.unit, self._look_critical(c)
        lo, hi = (np.clip(end, -limit, limit) for end in (diff - c * sigma, diff + c * sigma))
        unit = self.unit
        diff = np.where(freedom > 0, diff, np.nan)
        return Differences(unit * diff, unit * sigma, z, prob, unit * lo, unit * hi)

    def model_numbers(self, confidence: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean, standard error and interval of each model by itself."""
        sigma = np.diagonal(self._pair_sigma(), axis1=1, axis2=2)
        mu, sigma = self.models.mean * self.unit, sigma * self.unit
        if self.units is None:
            far = self._look_critical(self.quantile((1 + confidence) / 2))[:, None] * sigma
            lo, hi = mu - far, mu + far
        else:
            bounds = self.units.bounds(self._look_confidence(confidence, mu.shape[1]))
            lo, hi = (self.low + self.unit * end.reshape(mu.shape) for end in bounds)
            lo, hi = np.minimum(lo, mu), np.maximum(hi, mu)
        return mu, sigma, np.clip(lo, *self.ends), np.clip(hi, *self.ends)

    def _look_critical(self, c: Floats, strata: Ints | None = None) -> Floats:
        """Critical values of one look, for all strata or some, as those of every look if wanted."""
        if self.information is None:
            return c
        rows = slice(None) if strata is None else strata
        shape = (-1, *[1] * (c.ndim - 1))
        share, freedom = (
            each[rows].reshape(shape) for each in (self.information, self.models.freedom)
        )
        return anytime_student_critical(c, share, np.where(freedom > 0, freedom, np.nan))

    def _look_confidence(self, confidence: float, models: int) -> Floats | float:
        """Confidence of the interval of each model by itself."""
        if self.information is None:
            return confidence
        return np.repeat(look_confidence(confidence, self.information), models)

    def _pair_sigma(self) -> Floats:
        return self.models.sigma()

    def _pair_score(self, a: Ints, b: Ints) -> Floats:
        """Differences of pairs in their standard errors, without sign."""
        mean = self.models.mean
        score = np.abs(
            standardized_differences(mean[:, a] - mean[:, b], self._pair_sigma()[:, a, b])
        )
        return np.where(np.less(*self.ends), score, 0.0)


def per_stratum(
    grouped: WholePlan,
    trials: Trials,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: dict[str, pl.DataType],
) -> pl.LazyFrame:
    """Apply a function to the models of one stratum at a time; otherwise as `in_all_strata`.

    An error of the function gets the name of the stratum in front.
    """

    def rows_of(groups: pl.DataFrame) -> pl.DataFrame:
        try:
            rows = function(groups.drop(STRATUM, *trials.strata))
        except ValueError as error:
            where = "".join(f"{name}={groups[name][0]!r}: " for name in trials.strata)
            raise ValueError(f"{where}{error}") from error
        place = pl.lit(groups[STRATUM][0], pl.UInt32).alias(STRATUM)
        return rows.select(place, *(pl.col(name).cast(schema[name]) for name in schema))

    def apply(groups: pl.DataFrame) -> pl.DataFrame:
        strata = groups.partition_by(STRATUM, maintain_order=True) if groups.height else []
        nothing = pl.DataFrame(schema={STRATUM: pl.UInt32(), **schema})
        return pl.concat([nothing, *map(rows_of, strata)])

    return in_all_strata(grouped, trials, apply, schema)


def named_model(trials: Trials, method: str) -> pl.DataType:
    """The dtype of the model column, which a method needs.

    Raises
    ------
    ValueError
        If the log has one unnamed model.
    """
    if trials.model is None:
        raise ValueError(f"{method} needs several models: name their column with model=")
    return trials.model.dtype


def check_models(names: object, trials: Trials, keyword: str) -> list[Category]:
    """One name or several of models, after a check that the model column can hold them.

    Raises
    ------
    TypeError
        If a word is given for a column of numbers, or a number for a column of words.
    ValueError
        If an Enum has no such model, or an int is too large for any column.
    """
    dtype = named_model(trials, f"{keyword}=")
    models = value_tuple(names)
    for name in models:
        what = (
            f"{keyword}: {value_text(name)} cannot be a model of this log, whose models are {dtype}"
        )
        if isinstance(name, str) != is_label(dtype) or name is None or is_several(name):
            raise TypeError(what)
        if not fits_column(name):
            raise ValueError(what)
        if isinstance(dtype, pl.Enum) and name not in dtype.categories:
            raise ValueError(f"{what}, one of {known_text(name, dtype.categories)}")
    return [*models]  # type: ignore[list-item]  # one of the kinds that were checked


class AlignedOptions(InferenceOptions, total=False):
    """The options of a report in which the questions of the models are aligned."""

    questions: Alignment


def aligned_options(options: DecisionOptions, *, adjustable: bool = False) -> AlignedOptions:
    """The options with the questions that count: the same ones, unless the user says otherwise.

    Raises
    ------
    ValueError
        If `questions` is none of "same", "common" and, where it is `adjustable`, "adjusted".
    """
    questions = options.get("questions", "same")
    check_choice("questions", questions, Adjusted if adjustable else Compared)
    # An adjusted comparison uses all questions.
    return {**options, "questions": "any" if questions == "adjusted" else questions}


def single_k(metric: Metric, method: str) -> int | None:
    """The one draw size of a metric, if it has one at all.

    Raises
    ------
    TypeError
        If `metric` is no metric.
    ValueError
        If it has several draw sizes.
    """
    check_metric(metric, f"{method} takes a metric")
    if len(metric.row_sizes) > 1:
        one, given = ("draw size", "k") if metric.t is None else ("threshold", "t")
        raise ValueError(
            f"{method} takes one {one} at a time, got {metric.name} with "
            f"{given}={list(metric.row_sizes)}"
        )
    return metric.row_sizes[0]


def baseline_columns(groups: pl.DataFrame, trials: Trials, baseline: Category) -> Ints:
    """The place of the baseline among the models of each stratum.

    Raises
    ------
    ValueError
        If a stratum does not have it.
    """
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


# Mu, sigma and the ends of the interval of each model of each stratum, shape (S, L).
ModelNumbers: TypeAlias = "tuple[Floats, Floats, Floats, Floats]"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComparedModels:
    """The models of a log, and by what they are compared.

    Attributes
    ----------
    trials : Trials
        The log.
    metric : Metric
        The metric by which models are compared.
    overall : "macro", "micro" or None
        Kind of the groups over all strata, if there are any.
    classes : Classes or None
        The classes into which trials are counted.
    """

    trials: Trials
    metric: Metric
    overall: Overall | None = None
    classes: Classes | None = None


class ComparedRows:
    """Rows of a report of one metric and draw size; between their models no prior decides."""

    __slots__ = ()

    def outweighed_pairs(self, block: Block, scores: Scores, a: Ints, b: Ints) -> Mask:
        """Pairs of columns in which the prior decides although nobody chose the inference."""
        return np.zeros((block.strata.size, a.size), np.bool_)

    def number_outweighed(self, block: Block, scores: Scores) -> Ints:
        """Number of `outweighed_pairs` of each stratum, counted without a table of all pairs."""
        return np.zeros(block.strata.size, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ReportRows(ComparedRows):
    """One row of each model of each stratum, ascending."""

    rows: pl.DataFrame

    def of_models(self, name: str, block: Block) -> Floats:
        """A column of numbers by stratum and model."""
        return np.asarray(self.rows[name].to_numpy()[block.rows], dtype=np.float64)

    def model_numbers(self, block: Block, scores: Scores) -> ModelNumbers:
        """The numbers of each model by itself, which the report has."""
        mu, sigma, lo, hi = (self.of_models(name, block) for name in ("mu", "sigma", "lo", "hi"))
        return mu, sigma, lo, hi
