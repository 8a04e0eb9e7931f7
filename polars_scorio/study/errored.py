"""Errored trials as a bracket, from the logs in which they failed or were solved.

"Solved, and no error" is itself an outcome, so that each filled log is a log like any other. An
analysis is asked of all of them, and its rows reach from the least to the most that they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple

import polars as pl

from polars_scorio.arguments import Refusal
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.log import (
    Log,
    Study,
    Trials,
    bind_roles,
    category_literal,
    collected_together,
    refuse_repeats,
)
from polars_scorio.counting.roles import Category, Roles, is_label
from polars_scorio.counting.tally import count_name, counts_plan
from polars_scorio.metrics.metric import Metric

BOUNDED = "bounds"  # the word for `missing`
LEAST, MOST = "lo_missing", "hi_missing"
BRACKET = {LEAST: pl.Float64(), MOST: pl.Float64()}
_ERRORED = ":errored"
_ROUNDING = 1e-12  # groups that are measured together differ in their last bits


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
        lenient = replace(roles, missing="drop", unscored="drop", n=None)
        trials = bind_roles(log, lenient)
        for metric in metrics:
            asked = AskedOptions(metric, trials, options)
            if refused := [row for row in BRACKETS if row.when(asked)]:
                raise refused[0].error(metric.name)
        worst, best = extreme_categories(trials, metrics)
        plan = counts_plan(trials)
        if trials.study is not None:
            plan = plan.collect(engine=trials.engine).lazy()
        return cls(plan, replace(trials, roles=roles), worst, best)

    @property
    def roles(self) -> Roles:
        """The roles of a filled log."""
        trials, asked = self.trials, self.trials.roles
        return Roles(
            model=None if trials.model is None else trials.model.name,
            question=trials.question.name,
            category=trials.category.name,
            count=count_name(self.trials),
            by=tuple(part.name for part in trials.by),
            cluster=None if trials.cluster is None else trials.cluster.name,
            success=asked.successes,
            n=asked.n,
            levels=asked.levels,
            bounds=asked.bounds,
            lower_is_better=asked.lower_is_better,
            validate=False,  # the log as it is was tested
        )

    def filled(self, solved: pl.Expr) -> pl.LazyFrame:
        """The counts, in which the errored trials of some models were solved, all others failed."""
        category, dtype = self.trials.category.name, self.trials.category.dtype
        best, worst = (category_literal(value, dtype) for value in (self.best, self.worst))
        filled = pl.when(solved).then(best).otherwise(worst).cast(dtype)
        return self.counts.with_columns(pl.col(category).fill_null(filled))

    def filled_logs(self, *, each: bool, baseline: Category | None) -> list[Study]:
        """The logs whose errored trials all failed, and all were solved; and between both.

        Of `each` model alone, or a baseline alone and all but it: then every pair has the log that
        is the worst for its first model and the best for its second one, and the reverse.
        """
        lost = self.counts.filter(pl.col(self.trials.category.name).is_null())
        solved = [pl.lit(value=False)]
        if self.trials.model is None:
            solved += [pl.lit(value=True)] if lost.collect().height else []
        else:
            model = pl.col(self.trials.model.name)
            names = lost.select(model.unique().sort()).collect().to_series().to_list()
            alone = names if each and baseline is None else [baseline] * each
            solved += [pl.lit(value=True)] if names else []
            solved += [model == pl.lit(name) for name in alone if len(names) > 1]
            solved += [model != pl.lit(baseline)] if baseline is not None and len(names) > 1 else []
        return [Study(self.filled(one).collect()) for one in solved]

    def rows(
        self,
        make: Callable[[list[Study]], pl.DataFrame],
        ask: Callable[[Log, Roles], pl.LazyFrame],
        *,
        each: bool = False,
        baseline: Category | None = None,
    ) -> pl.LazyFrame:
        """The rows that are made of all filled logs, with the columns of what is asked of each."""

        def made(counts: pl.DataFrame) -> pl.DataFrame:
            log = replace(self, counts=counts.lazy())
            return make(log.filled_logs(each=each, baseline=baseline))

        if self.trials.study is not None:  # the counts are in memory
            return made(self.counts.collect()).lazy()
        # The columns follow without a look at the outcomes.
        schema = ask(self.filled(pl.lit(value=False)), self.roles).collect_schema()
        return WholePlan(self.counts).then(made, {**schema, **BRACKET}, filters=False).plan()

    def bracket(
        self,
        ask: Callable[[Log, Roles], pl.LazyFrame],
        number: str,
        *,
        each: bool = False,
        baseline: Category | None = None,
    ) -> pl.LazyFrame:
        """The rows of an analysis, whose intervals hold whatever the errored trials were."""

        def make(logs: list[Study]) -> pl.DataFrame:
            rows = collected_together(ask(log, self.roles) for log in logs)
            return bracketed(rows, self.trials, number)

        return self.rows(make, ask, each=each, baseline=baseline)

    def with_errors(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """The rows of a report with the number of errored trials of each, over strata too."""
        keys, strata = [*self.trials.keys], [*self.trials.strata]
        refuse_repeats([*keys, "errored", *BRACKET])
        errored = pl.col(count_name(self.trials)).filter(
            pl.col(self.trials.category.name).is_null()
        )
        if not keys:
            return rows.join(self.counts.select(errored.sum().alias("errored")), how="cross")
        each = self.counts.group_by(keys).agg(errored.sum().alias("errored"))
        if strata:
            models = [*self.trials.models]
            pooled = each.group_by(models) if models else each.group_by(pl.lit(0).alias(_ERRORED))
            whole = pooled.agg(pl.col("errored").sum())
            each = pl.concat([each, whole.select(*models, "errored")], how="diagonal")
        return rows.join(each, on=keys, how="left", nulls_equal=True, maintain_order="left")


class AskedOptions(NamedTuple):
    """A metric that is asked of a log, with the options of the call."""

    metric: Metric
    trials: Trials
    options: Mapping[str, object]


# Numbers that have no bounds.
_SAY = "or pass another value as missing="
BRACKETS = (
    Refusal(lambda ask: ask.trials.judged,
            'missing="bounds" does not correct for the errors of a judge',
            f"omit truth= and judge=, {_SAY}"),
    Refusal(lambda ask: ask.trials.named_runs,
            'missing="bounds" does not allow for runs that differ', f"omit run=, {_SAY}"),
    Refusal(lambda ask: ask.options.get("prior") is not None,
            'missing="bounds" has no posteriors', f"omit prior=, {_SAY}"),
    Refusal(lambda ask: ask.metric.looks_at != "outcomes" or not ask.metric.calibrated,
            'missing="bounds" has no costs, votes or posteriors',
            'pass missing="drop", or the category of a missing outcome'),
)  # fmt: skip


def extreme_categories(trials: Trials, metrics: Iterable[Metric]) -> tuple[Category, Category]:
    """The worst and the best category that an errored trial may have."""
    roles, dtype = trials.roles, trials.category.dtype
    weighted = {
        (min(metric.w, key=itemgetter(1))[0], max(metric.w, key=itemgetter(1))[0])
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
            f'missing="bounds" needs the range of the rewards in {trials.category.name!r}: pass '
            "bounds=(0, 1), or name the successes with success= or threshold="
        )
    return (False, True) if dtype == pl.Boolean else (0, 1)


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


def bracketed(rows: Sequence[pl.DataFrame], trials: Trials, number: str) -> pl.DataFrame:
    """Rows of filled logs as one: intervals reach from the least of their ends to the most.

    What all logs agree on is kept, all else is null; `LEAST` and `MOST` are their `number`.
    """
    schema, named = rows[0].schema, (*trials.keys, "metric", "k", "t", "model_a", "model_b")
    keys = [name for name in named if name in schema]
    # Answers to "how far" are those that hold in all logs.
    far = {"lo": "min", "first_to": "min", "gain_to": "min", "hi": "max", "last_from": "max",
           "loss_from": "max", "pvalue_pass": "max", "pvalue_fail": "max"}  # fmt: skip
    of_whom = {"first_to": "first_better", "last_from": "last_better"}
    about = {"mu", "sigma", "z", "prob_better"}  # what is said of a number that all logs give

    def agreed(name: str) -> pl.Expr:
        each = pl.col(name)
        near = each.max() - each.min() <= _ROUNDING
        same = near if schema[name].is_float() else each.n_unique() == 1
        return same & (each.null_count() == 0)

    def merged(name: str) -> pl.Expr:
        if name in far:
            known = pl.col(name).null_count() == 0
            known &= agreed(of_whom[name]) if name in of_whom else True
            return pl.when(known).then(getattr(pl.col(name), far[name])()).alias(name)
        same = agreed(name) & agreed(number) if name in about else agreed(name)
        return pl.when(same).then(pl.col(name).first()).alias(name)

    each = pl.concat(rows).group_by(keys, maintain_order=True)
    ends = pl.col(number).min().alias(LEAST), pl.col(number).max().alias(MOST)
    numbers = [merged(name) for name in schema if name not in keys]
    return each.agg(*numbers, *ends).select(*schema, *BRACKET)
