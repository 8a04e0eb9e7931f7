"""Models in the order of their scores, the range of ranks of each, and the best of a stratum."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import (
    NOT_NEGATIVE,
    Overall,
    RankMethod,
    RankTies,
    Refusal,
    SpokenTests,
    check_choice,
    check_column,
    check_count,
    check_flag,
    check_number,
)
from polars_scorio.counting.log import (
    Log,
    Study,
    Trials,
    bind_roles,
    collected_together,
    refuse_repeats,
    result_schema,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.models import (
    PAIRS,
    PRIOR_COUNTS,
    PRIOR_DECIDES,
    STRATUM,
    Block,
    ModelRows,
    Models,
    bounds_column,
    bounds_dtype,
    in_all_strata,
    metric_of,
    models_of,
    named_model,
    warn_of_prior,
)
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.comparison import Comparison, Family, Scope
from polars_scorio.maths.ranks import leading_chances, rank_ranges, selected_tail, shrunk_scores
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import BOUNDED, ErroredLog, bracketed
from polars_scorio.study.evaluate import Evaluated
from polars_scorio.study.log_checks import spoken_plan
from polars_scorio.study.report import curve_columns, with_curves
from polars_scorio.study.request import DecisionOptions, on_levels
from polars_scorio.subjects.scores import INFERENCE, StrataModels

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NUMBERS = ("mu", "sigma", "lo", "hi")
_BEST = "could_be_best"
_TIED = 1e-12  # scores that differ by no more are the same

# The numbers of each model; until it gets its name, a model is its place among the groups.
_PLACE = ":place"
_RANKS = ("rank", "rank_lo", "rank_hi", "rank_tied")
_COLUMNS = (*_RANKS, *_NUMBERS, "prob_best", _BEST, "tier", "z_next", *PRIOR_COUNTS)
_NO_ROWS = pl.DataFrame(
    schema={STRATUM: pl.UInt32(), _PLACE: pl.Int64(), **dict.fromkeys(_COLUMNS, pl.Float64())}
)

# Names of the methods in Polars.
_METHODS = {"competition": "min", "competition_max": "max", "dense": "dense", "average": "average"}


# Combinations that no ranking has.
RANK = (
    Refusal(lambda roles, simultaneous: roles.missing == BOUNDED and not simultaneous,
            'missing="bounds" has ranks that hold for all models at once',
            "omit simultaneous=, or pass another value as missing="),
)  # fmt: skip


def rank(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    method: RankMethod = "competition",
    ties: RankTies = "z",
    simultaneous: bool = True,
    overall: Overall | None = None,
    chances: bool = True,
    lean: bool = False,
    spoken: SpokenTests = "of small logs",
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The plan of a ranking; see `Scorio.rank`."""
    # Without `chances` it has ranges and tiers alone: no `prob_best`, `rank_tied` and `z_next`. In
    # a `lean` one `mu` is named "estimate" where it is no posterior mean. `spoken` as in `compare`.
    check_choice("method", method, RankMethod)
    check_choice("ties", ties, RankTies)
    simultaneous = check_flag("simultaneous", simultaneous)
    if refused := [row for row in RANK if row.when(roles, simultaneous)]:
        raise refused[0].error("rank")
    metric = metric_of(metric, "rank")
    if roles.missing == BOUNDED:
        errored = ErroredLog.from_log(log, roles, [metric], **options)
        named_model(errored.trials, "rank")
        pairs = partial(compare, metric=metric, overall=overall, **options)
        ask = partial(
            rank, metric=metric, method=method, ties=ties, overall=overall, lean=lean, **options
        )
        rows = _rank_bracket(errored, ask, pairs, chances=chances)
        return spoken_plan(rows, log, roles, [metric], spoken)
    trials = bind_roles(log, roles)
    metric = on_levels(metric, trials)
    named_model(trials, "rank")
    plan, models = models_of(trials, metric, options, overall, spoken=spoken)
    places, numbers = _rank_dtypes(models, method)
    order = [*trials.strata, "metric", "k", *places, *trials.models, *numbers]
    columns = curve_columns(order, [metric])
    refuse_repeats(columns)
    schema = {**places, **trials.models, **numbers}
    ranking = Ranking(models, method, ties, simultaneous, chances)

    def ranked(groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        return warn_of_prior(ranking(groups, evaluated))

    rows = in_all_strata(plan, trials, ranked, schema)
    named = rows.with_columns(metric=pl.lit(metric.name), k=pl.lit(metric.row_sizes[0], pl.Int64))
    ranks = with_curves(named, [metric]).select(columns)
    unbiased = models.request.choice.is_unbiased(*models.request.metrics[0])
    if models.law is not None:  # about a population
        unbiased = metric.calibrated and not metric.unbounded
    if lean and unbiased:
        # A range for more draws than trials has no rank, and no estimate.
        ranked_mu = pl.when(pl.col("rank").is_not_null()).then("mu").alias("mu")
        return ranks.with_columns(ranked_mu).rename({"mu": "estimate"})
    return ranks


def _rank_dtypes(
    models: Models, method: RankMethod
) -> tuple[dict[str, pl.DataType], dict[str, pl.DataType]]:
    """The columns of a ranking before the model, and those behind it."""
    place = pl.Float64() if method == "average" else pl.UInt32()
    whole: dict[str, pl.DataType] = dict.fromkeys(_RANKS, pl.UInt32())
    return {**whole, "rank": place, "rank_tied": place}, {
        **dict.fromkeys((*_NUMBERS, "prob_best"), pl.Float64()),
        _BEST: pl.Boolean(),
        "tier": pl.UInt32(),
        "z_next": pl.Float64(),
        INFERENCE: pl.String(),
        **bounds_dtype(models),
    }


def _rank_bracket(
    errored: ErroredLog,
    order: Callable[..., pl.LazyFrame],
    pairs: Callable[..., pl.LazyFrame],
    *,
    chances: bool,
) -> pl.LazyFrame:
    """Ranks by the pairs that are decided whatever the errored trials were, in the order of failed.

    Without errored trials they are those of any log.
    """

    def make(logs: list[Study]) -> pl.DataFrame:
        alone = len(logs) == 1
        rows = collected_together(
            order(log, errored.roles, chances=chances and alone) for log in logs[:2]
        )
        first, trials = rows[0], errored.trials
        merged = bracketed(rows, trials, "estimate" if "estimate" in first.columns else "mu")
        if alone:
            return merged
        compared = collected_together(pairs(log, errored.roles) for log in logs)
        decided = bracketed(compared, trials, "diff")
        return _with_decided_places(merged.with_columns(first["rank"]), decided, trials)

    return errored.rows(make, order, each=True)


def _with_decided_places(ranks: pl.DataFrame, pairs: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """Ranks, the best first, with places and tiers that follow from the pairs with a winner."""
    strata, (model,) = [*trials.strata], trials.models
    place = {key: at for at, key in enumerate(ranks.select(*strata, model).rows())}
    loser = pl.when(pl.col("model_a") == pl.col("better")).then("model_b").otherwise("model_a")
    won = pairs.filter(pl.col("better").is_not_null()).select(*strata, "better", loser=loser)
    better: dict[int, list[int]] = {at: [] for at in place.values()}
    beaten, tier = [0] * ranks.height, [1] * ranks.height
    for *stratum, winner, lost in won.rows():
        better[place[(*stratum, lost)]].append(place[(*stratum, winner)])
        beaten[place[(*stratum, winner)]] += 1
    for at, winners in better.items():  # a winner stands before its losers
        tier[at] = 1 + max((tier[winner] for winner in winners), default=0)
    known = pl.col("rank").is_not_null()
    number = known.sum().cast(pl.Int64)
    places = {
        "rank_lo": pl.lit(pl.Series([1 + len(winners) for winners in better.values()])),
        "rank_hi": (number.over(strata) if strata else number) - pl.lit(pl.Series(beaten)),
        "tier": pl.lit(pl.Series(tier)),
        _BEST: pl.lit(pl.Series(tier)) == 1,
    }
    return ranks.with_columns(
        pl.when(known).then(each).cast(ranks.schema[name]).alias(name)
        for name, each in places.items()
    )


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The function from the results of all models to their places, the best first."""

    models: Models
    method: RankMethod = "competition"
    ties: RankTies = "z"
    simultaneous: bool = True
    chances: bool = True  # of many strata and models they take most of the time

    def __call__(self, groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        """A row for each stratum and model, the best first."""
        return self.ranked_blocks(self.models.blocks(groups[STRATUM]), groups, evaluated)

    def ranked_blocks(
        self, blocks: Iterable[Block], groups: pl.DataFrame, evaluated: Evaluated
    ) -> pl.DataFrame:
        """A row for each model of some strata, the best of a stratum first."""
        of_k = self.models.at_k(evaluated, self.models.metric.row_sizes[0])
        parts = [self._ranked_models(of_k, block) for block in blocks]
        (model,) = self.models.trials.models
        places = pl.concat([_NO_ROWS, *parts], how="vertical_relaxed")
        return places.with_columns(
            groups[model].gather(places[_PLACE]).alias(model),
            of_k.words.gather(places[_PLACE]).alias(INFERENCE),
            bounds_column(evaluated),
        )

    def _ranked_models(self, rows: ModelRows, block: Block) -> pl.DataFrame:
        """A row for each model of some strata, the best first."""
        models = rows.in_block(block)
        compared = rows.comparison(models)
        here = np.isfinite(compared.numbers.value)
        # Stable: of equal models the first by name is the first.
        order = np.argsort(-np.where(here, compared.numbers.value, -np.inf), axis=1, kind="stable")
        columns = dict(zip(_NUMBERS, models.numbers(), strict=True))
        columns |= self._rank_ranges(compared, here)
        unknown = np.full(here.shape, np.nan)
        columns["prob_best"] = self._chances(compared, columns) if self.chances else unknown
        possible = columns["tier"] == 1
        if self.chances:
            possible &= Family(self.models.confidence).could_be_best(compared)
        columns[_BEST] = np.where(here, possible, np.nan)
        columns = {name: np.take_along_axis(each, order, axis=1) for name, each in columns.items()}
        here = np.take_along_axis(here, order, axis=1)
        z = compared.z(order[:, :-1], order[:, 1:]) if self.chances else unknown[:, 1:]
        columns["z_next"] = np.pad(z, ((0, 0), (0, 1)), constant_values=np.nan)
        gap = np.abs(
            columns["mu"][:, :-1] - columns["mu"][:, 1:]
        )  # of costs the less is the better
        columns["rank"] = _tied_ranks(gap > _TIED, here, self.method)
        tied = _tied_ranks(self._untied(z, columns), here, self.method)
        columns["rank_tied"] = tied if self.chances else unknown
        columns |= self._doubt_counts(rows, models)
        stratum = np.repeat(block.strata.astype(np.uint32), here.shape[1])
        place = np.take_along_axis(block.rows, order, axis=1).ravel()
        numbers = {name: columns[name].ravel() for name in _COLUMNS}
        # NaN says that there is no such number.
        return pl.DataFrame({STRATUM: stratum, _PLACE: place, **numbers}, nan_to_null=True)

    def _chances(self, models: Comparison, columns: dict[str, Floats]) -> Floats:
        """Chance of each model to be the best."""
        numbers = [columns["mu"], columns["lo"], columns["hi"]]
        if self._less_is_better:
            numbers = [-each for each in numbers]
        return leading_chances(models.numbers.value, numbers, models.z)

    @property
    def _less_is_better(self) -> bool:
        """Whether the numbers of better models are lower, as costs are."""
        return self.models.sign < 0 or self.models.metric.looks_at == "costs"

    def _rank_ranges(self, models: Comparison, here: Mask) -> dict[str, Floats]:
        """The best and the worst rank of each model, and its tier."""
        # All pairs of one model are as many statements as pairs with a baseline.
        scope: Scope = "all pairs" if self.simultaneous else "all with the baseline"
        places = Family(self.models.confidence, scope).standings(models)
        ranges = *rank_ranges(places.better, places.worse, here), places.tier
        names = ("rank_lo", "rank_hi", "tier")
        return {
            name: np.where(here, each, np.nan) for name, each in zip(names, ranges, strict=True)
        }

    def _untied(self, z: Floats, columns: dict[str, Floats]) -> Mask:
        """Neighbours in the ranking that differ under the rule of the paper."""
        if self.ties == "overlap":
            upper, lower = ("lo", "hi") if self._less_is_better else ("hi", "lo")
            apart = columns[upper][:, 1:] - columns[lower][:, :-1]
            return np.asarray(apart > 0 if self._less_is_better else apart < 0)
        return np.asarray(z >= scipy.special.ndtri(self.models.confidence))

    def _doubt_counts(self, rows: ModelRows, of_strata: StrataModels) -> dict[str, Floats]:
        """Pairs in which the prior decides, and all pairs, in the first row of each stratum."""
        strata, models = of_strata.groups.shape
        pairs = np.full(strata, models * (models - 1) // 2)
        numbers = rows.number_outweighed(of_strata), pairs
        first = np.arange(models) == 0
        return {
            name: np.where(first, number[:, None], 0.0)
            for name, number in zip(PRIOR_COUNTS, numbers, strict=True)
        }


def _tied_ranks(differs: Mask, here: Mask, method: RankMethod) -> Floats:
    """Ranks of a sorted list whose neighbours are tied unless they differ; NaN for absent ones."""
    place = np.arange(1.0, here.shape[1] + 1)
    # Models without a rank come last, and are tied with no other.
    differs = differs | ~here[:, 1:]
    best = np.maximum.accumulate(
        np.where(np.pad(differs, ((0, 0), (1, 0)), constant_values=True), place, 0), axis=1
    )
    worst = np.where(np.pad(differs, ((0, 0), (0, 1)), constant_values=True), place, np.inf)
    worst = np.minimum.accumulate(worst[:, ::-1], axis=1)[:, ::-1]
    dense = 1 + np.pad(np.cumsum(differs, axis=1), ((0, 0), (1, 0))).astype(float)
    ranks = {"competition": best, "competition_max": worst, "dense": dense}
    return np.where(here, ranks.get(method, (best + worst) / 2), np.nan)


def rank_scores(
    column: str | pl.Expr, *, method: RankMethod = "competition", tol: float = 1e-12
) -> pl.Expr:
    """Ranks of scores, the highest first, with ties.

    Parameters
    ----------
    column : str or Expr
        The scores.
    method : "competition", "competition_max", "dense" or "average"
        Rank of tied scores: the best of their places (1, 2, 2, 4), the worst (1, 3, 3, 4), the best
        without gaps (1, 2, 2, 3), or the mean (1, 2.5, 2.5, 4).
    tol : float
        Neighbours that differ by at most `tol` are tied.

    Returns
    -------
    Expr
        Unsigned integers, floats for "average"; null for scores that are null or NaN. Use
        ``.over(...)`` to rank within strata.

    Raises
    ------
    ValueError
        If `method` is not known, or `tol` is negative or not a number.
    TypeError
        If `column` is neither a name nor an expression, or holds no numbers.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> scores = pl.DataFrame({"mu": [0.7, 0.9, 0.7, 0.5]})
    >>> scores.select(
    ...     ps.rank_scores("mu"), average=ps.rank_scores("mu", method="average")
    ... ).rows()
    [(2, 2.5), (1, 1.0), (2, 2.5), (4, 4.0)]
    """
    check_choice("method", method, RankMethod)
    tol = check_number("tol", tol, NOT_NEGATIVE)
    check_column("column", column)
    given = pl.col(column) if isinstance(column, str) else column
    scores = given.map_batches(_score_numbers, return_dtype=pl.Float64, is_elementwise=True)
    order = scores.arg_sort(descending=True, nulls_last=True)
    # Between two infinite scores the gap is NaN, which Polars holds for larger than any number.
    gap = scores.gather(order).diff().abs().fill_nan(0.0).fill_null(0.0)
    place = (gap > tol).cum_sum().gather(order.arg_sort())
    places = pl.when(scores.is_not_null()).then(place)  # tied scores have the same one
    return places.rank(_METHODS[method])  # type: ignore[arg-type]  # one of Polars' names


def _score_numbers(scores: pl.Series) -> pl.Series:
    """The scores as floats, with null for NaN."""
    if not (scores.dtype.is_numeric() or scores.dtype in (pl.Boolean, pl.Null)):
        raise TypeError(
            f"rank_scores ranks numbers, and {scores.name!r} is {scores.dtype}: name the column of "
            "the scores, such as mu"
        )
    return scores.cast(pl.Float64).fill_nan(None)


_BEST_NUMBERS = ("estimate", "best_mu", "best_lo", "best_hi")


def best(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    candidates: int | None = None,
    overall: Overall | None = None,
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The plan of the best models; see `Scorio.best`."""
    if candidates is not None:
        candidates = check_count("candidates", candidates)
    metric = metric_of(metric, "best", "rank() has the cheapest first")
    trials = bind_roles(log, roles)
    metric = on_levels(metric, trials)
    model = named_model(trials, "best")
    plan, models = models_of(trials, metric, options, overall)
    numbers: dict[str, pl.DataType] = {
        "candidates": pl.Int64(),
        **dict.fromkeys(_BEST_NUMBERS, pl.Float64()),
        "could_be_best": pl.List(model),
        INFERENCE: pl.String(),
        **bounds_dtype(models),
    }
    schema = result_schema(trials.strata, trials.models, numbers)

    def selected(groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        (name,) = trials.models
        rows = models.at_k(evaluated, metric.row_sizes[0])
        blocks = models.blocks(groups[STRATUM])
        parts = [_best_of_strata(rows, block, groups[name], candidates) for block in blocks]
        if not parts:
            return pl.DataFrame()
        return warn_of_prior(pl.concat(parts)).with_columns(bounds_column(evaluated))

    return in_all_strata(plan, trials, selected, schema).select(*trials.strata, *schema)


def _best_of_strata(
    rows: ModelRows, block: Block, names: pl.Series, candidates: int | None
) -> pl.DataFrame:
    """A row for each stratum of a block."""
    models, confidence, sign = rows.in_block(block), rows.models.confidence, rows.models.sign
    compared = rows.comparison(models)
    mu, sigma, lo, hi = models.numbers()
    here = np.isfinite(compared.numbers.value)
    # Of equal models the first by name is the best.
    leader = np.where(here, compared.numbers.value, -np.inf).argmax(axis=1)
    number = _candidate_numbers(candidates, here.sum(axis=1))
    ends = models.own_ends(1 - 2 * selected_tail(number, confidence)[:, None])
    lo, hi = (ends[0], hi) if sign > 0 else (lo, ends[1])  # the end that selection makes wrong
    ranked_mu, ranked_sigma = (np.where(here, each, np.nan) for each in (mu, sigma))
    shrunk = shrunk_scores(ranked_mu, ranked_sigma, compared.signal_share)
    shrunk = np.maximum(shrunk, lo) if sign > 0 else np.minimum(shrunk, hi)
    possible = Family(confidence).could_be_best(compared)
    row = np.arange(leader.size)
    known = here[row, leader]
    numbers = {
        name: pl.Series(np.where(known, each[row, leader], np.nan)).fill_nan(None)
        for name, each in zip(_BEST_NUMBERS, (mu, shrunk, lo, hi), strict=True)
    }
    (model,) = rows.models.trials.models
    best_names = names.gather(block.rows[row, leader]).set(pl.Series(~known), None)
    sets = [names.gather(block.rows[each][possible[each]]) for each in row]
    pairs = here.shape[1] * (here.shape[1] - 1) // 2
    return pl.DataFrame(
        {
            STRATUM: pl.Series(block.strata, dtype=pl.UInt32),
            "candidates": number,
            model: best_names,
            INFERENCE: rows.words.gather(block.rows[row, leader]),
            "could_be_best": pl.Series(sets, dtype=pl.List(names.dtype)),
            **numbers,
            PRIOR_DECIDES: rows.number_outweighed(models),
            PAIRS: np.full(leader.size, pairs),
        }
    )


def _candidate_numbers(candidates: int | None, models: Ints) -> Ints:
    """Number of candidates of each stratum."""
    if candidates is None:
        return np.maximum(models, 1)
    if candidates < models.max(initial=0):
        raise ValueError(
            f"candidates must be at least the number of models, {models.max()}, got {candidates}"
        )
    return np.full_like(models, candidates)
