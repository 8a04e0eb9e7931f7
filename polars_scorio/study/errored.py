"""Errored trials as a bracket: the log in which all of them failed, and that in which none did.

"Solved, and no error" is itself an outcome, so that both logs are logs like any other. What the
trials would have given lies between both; each end of an interval comes from a log of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from polars_scorio.counting.log import (
    Log,
    Study,
    Trials,
    bind_roles,
    category_literal,
    collected_rows,
    is_label,
    refuse_repeats,
)
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.counting.tally import counts_plan
from polars_scorio.metrics.metric import Metric

BOUNDED = "bounds"  # the word for `missing`
LEAST, MOST = "lo_missing", "hi_missing"
BRACKET = {LEAST: pl.Float64(), MOST: pl.Float64()}
_ERRORED = ":errored"
_ROUNDING = 1e-12  # groups that are fitted together differ in their last bits


@dataclass(frozen=True, slots=True, eq=False)
class ErroredLog:
    """The counts of a log, errored trials among them, which may have failed or been solved."""

    counts: pl.LazyFrame
    trials: Trials  # of the log that was counted
    worst: Category
    best: Category

    @classmethod
    def from_log(
        cls, log: Log, roles: Roles, metrics: Sequence[Metric], **options: object
    ) -> ErroredLog:
        """Count a log, after a check that both ends of its errored trials are known."""
        counted = replace(roles, missing="drop", unscored="drop", n=None)
        trials = bind_roles(log, counted)
        _refuse_unbounded(trials, metrics, options)
        worst, best = extreme_categories(trials, metrics)
        plan = counts_plan(trials, in_memory=isinstance(log, Study))
        if isinstance(log, Study):
            plan = collected_rows(plan, log.frame.height).lazy()
        return cls(plan, replace(trials, roles=roles), worst, best)

    def roles(self, *beside: str) -> Roles:
        """The roles of the counts, with further strata."""
        trials, asked = self.trials, self.trials.roles
        return Roles(
            model=None if trials.model is None else trials.model.name,
            question=trials.question.name,
            category=trials.category.name,
            count=self._count,
            by=(*(part.name for part in trials.by), *beside),
            cluster=None if trials.cluster is None else trials.cluster.name,
            success=asked.successes,
            n=asked.n,
            levels=asked.levels,
            bounds=asked.bounds,
            lower_is_better=asked.lower_is_better,
        )

    @property
    def _count(self) -> str:
        return self.trials.count.name if self.trials.count else "count"

    def filled(self, solved: pl.Expr) -> pl.LazyFrame:
        """The counts, in which the errored trials of some models were solved, all others failed."""
        category, dtype = self.trials.category.name, self.trials.category.dtype
        best, worst = (category_literal(value, dtype) for value in (self.best, self.worst))
        filled = pl.when(solved).then(best).otherwise(worst).cast(dtype)
        return self.counts.with_columns(pl.col(category).fill_null(filled))

    def ends(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The log whose errored trials all failed, and that in which all were solved."""
        return self.filled(pl.lit(value=False)), self.filled(pl.lit(value=True))

    def against(self, baseline: Category) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The log that is the worst for all models but a baseline, and the best for them."""
        of_baseline = pl.col(self.roles().model) == pl.lit(baseline)  # type: ignore[arg-type]
        return self.filled(of_baseline), self.filled(~of_baseline)

    def for_each_model(self, solved: str) -> pl.LazyFrame:
        """A log for each model, named in `solved`, whose errored trials alone were solved."""
        model = self.roles().model
        assert isinstance(model, str)  # pairs are of models with names
        each = self.counts.select(pl.col(model).unique().alias(solved))
        crossed = replace(self, counts=self.counts.join(each, how="cross"))
        return crossed.filled(pl.col(model) == pl.col(solved))

    def with_errors(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """The rows of a report with the number of errored trials of each, over strata too."""
        keys, strata = [*self.trials.keys], [*self.trials.strata]
        refuse_repeats([*keys, "errored", *BRACKET])
        errored = pl.col(self._count).filter(pl.col(self.trials.category.name).is_null())
        if not keys:
            return rows.join(self.counts.select(errored.sum().alias("errored")), how="cross")
        each = self.counts.group_by(keys).agg(errored.sum().alias("errored"))
        if strata:
            models = [*self.trials.models]
            pooled = each.group_by(models) if models else each.group_by(pl.lit(0).alias(_ERRORED))
            whole = pooled.agg(pl.col("errored").sum())
            each = pl.concat([each, whole.select(*models, "errored")], how="diagonal")
        return rows.join(each, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _refuse_unbounded(
    trials: Trials, metrics: Sequence[Metric], options: dict[str, object]
) -> None:
    """Refuse numbers that have no bracket."""
    for given, why in (
        (trials.judged, "the errors of a judge have no bracket: leave truth= and judge= out"),
        (trials.roles.effects != "none", "runs that differ have no bracket: leave run= out"),
        (options.get("prior") is not None, "posteriors have no bracket: leave prior= out"),
    ):
        if given:
            raise ValueError(f'missing="bounds": {why}, or say what a missing outcome means')
    for metric in metrics:
        if metric.looks_at != "outcomes" or not metric.calibrated:
            raise ValueError(
                f'{metric.name}: missing="bounds" is about outcomes, solved or failed, by '
                "calibrated numbers: costs, votes and posteriors have no bracket. Say "
                'missing="drop" or which category a missing outcome is'
            )


def extreme_categories(trials: Trials, metrics: Iterable[Metric]) -> tuple[Category, Category]:
    """The worst and the best category that an errored trial may have."""
    roles, dtype = trials.roles, trials.category.dtype
    weighted = {
        (min(metric.w, key=_pair_weight)[0], max(metric.w, key=_pair_weight)[0])
        for metric in metrics
        if metric.w
    }
    graded = roles.bounds or roles.levels
    if weighted:
        if len(weighted) > 1:
            raise ValueError(
                'missing="bounds": the metrics do not agree on the worst and the best category: '
                "ask for them one at a time"
            )
        return weighted.pop()
    if graded is not None:
        return min(graded), max(graded)
    if roles.successes:
        return _failed_category(dtype, roles.successes), roles.successes[0]
    if dtype.is_float():
        raise ValueError(
            f'missing="bounds" needs the range of the rewards in {trials.category.name!r}: say '
            "bounds=(0, 1), or with success= or threshold= which of them are successes"
        )
    return (False, True) if dtype == pl.Boolean else (0, 1)


def _pair_weight(pair: tuple[Category, float]) -> float:
    return pair[1]


def _failed_category(dtype: pl.DataType, successes: Sequence[Category]) -> Category:
    """A category that is no success."""
    known: Iterable[Category] = (0, 1, *range(2, len(successes) + 2))
    if dtype == pl.Boolean:
        known = (False, True)
    elif isinstance(dtype, pl.Enum):
        known = dtype.categories.to_list()
    elif is_label(dtype):
        known = ("errored", f"no {successes[0]}")
    failures = [value for value in known if value not in successes]
    if not failures:
        raise ValueError('missing="bounds": all categories are successes, so that no trial failed')
    return failures[0]


def bracketed(
    ends: tuple[pl.LazyFrame, pl.LazyFrame], keys: Sequence[str], number: str
) -> pl.LazyFrame:
    """Rows of the worst log beside those of the best: the interval reaches from one to the other.

    What both logs agree on is kept, all else is null; `LEAST` and `MOST` are their `number`.
    """
    low, high = ends
    schema = low.collect_schema()
    # Answers to "how far" are those that hold in both logs.
    far = {"first_to": "min", "gain_to": "min", "last_from": "max", "loss_from": "max",
           "pvalue_pass": "max", "pvalue_fail": "max"}  # fmt: skip
    of_whom = {"first_to": "first_better", "last_from": "last_better"}

    def agreed(name: str) -> pl.Expr:
        one, other = pl.col(name), pl.col(f"{name}{_ERRORED}")
        return (one - other).abs() <= _ROUNDING if schema[name].is_float() else one == other

    about = {"mu", "sigma", "z", "prob_better"}  # what is said of a number that both logs give

    def merged(name: str) -> pl.Expr:
        one, other = pl.col(name), pl.col(f"{name}{_ERRORED}")
        if name in {"lo", "hi"}:
            return one if name == "lo" else other.alias("hi")
        if name in far:
            either = getattr(pl, f"{far[name]}_horizontal")(one, other)
            whose = of_whom.get(name, name)
            same = one.is_not_null() & other.is_not_null()
            if whose != name:
                same &= pl.col(whose) == pl.col(f"{whose}{_ERRORED}")
            return pl.when(same).then(either).alias(name)
        same = agreed(name) & agreed(number) if name in about else agreed(name)
        return pl.when(same).then(one).alias(name)

    both = low.join(
        high, on=keys, how="left", suffix=_ERRORED, nulls_equal=True, maintain_order="left"
    )
    return both.select(
        *(pl.col(name) if name in keys else merged(name) for name in schema),
        pl.col(number).alias(LEAST),
        pl.col(f"{number}{_ERRORED}").alias(MOST),
    )
