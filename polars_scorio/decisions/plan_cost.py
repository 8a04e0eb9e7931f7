"""Plans in money: the cost of further trials at today's mean."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_scorio.counting.cost_sums import exact_cost
from polars_scorio.counting.trials import STAND_IN, Part, Trials, refuse_repeats

_ROUND, _MEAN, _COST = ":round", ":mean", "cost"


def with_plan_cost(plan: pl.LazyFrame, trials: Trials, models: Sequence[str]) -> pl.LazyFrame:
    """The rows of a plan, with the cost of their `extra` trials of each question if it is known.

    Parameters
    ----------
    plan : LazyFrame
        With `extra` trials of each question of the models of a row; null strata are all strata.
    trials : Trials
        The log; without costs the plan stays as it is.
    models : sequence of str
        The columns of `plan` that name models; empty if the log has one unnamed model.

    Returns
    -------
    LazyFrame
        With the column `cost`.
    """
    if trials.cost is None:
        return plan
    refuse_repeats([*plan.collect_schema().names(), _COST])
    strata, own = [*trials.strata], [*trials.models]
    rounds = _model_costs(trials, trials.cost)
    if strata:
        whole = rounds.group_by(own or [STAND_IN]).agg(pl.col(_ROUND).sum())
        rounds = pl.concat([rounds, whole], how="diagonal")
    found, sides = plan, [f"{_ROUND}{place}" for place in range(max(len(models), 1))]
    for place, side in enumerate(sides):
        names = {own[0]: models[place]} if models else {}
        table = rounds.select(*strata, *own, pl.col(_ROUND).alias(side)).rename(names)
        found = _joined_table(found, table, [*strata, *names.values()])
    cost = pl.col("extra") * pl.sum_horizontal(sides)
    return found.with_columns(cost.alias(_COST)).drop(sides)


def with_trial_cost(plan: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """The rows of an allocation, with the `cost` of their `extra` trials if it is known."""
    if trials.cost is None:
        return plan
    refuse_repeats([*plan.collect_schema().names(), _COST])
    means = _model_costs(trials, trials.cost).select(*trials.keys, _MEAN)
    found = _joined_table(plan, means, [*trials.keys])
    return found.with_columns((pl.col("extra") * pl.col(_MEAN)).alias(_COST)).drop(_MEAN)


def _joined_table(plan: pl.LazyFrame, table: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """A plan with the columns of a table, in its own order; without keys the table is one row."""
    if not keys:
        return plan.join(table, how="cross", maintain_order="left")
    return plan.join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _model_costs(trials: Trials, cost: Part) -> pl.LazyFrame:
    """The cost of a trial of each question, and of one trial on average, for each model.

    Null if a trial has no cost.
    """
    question = trials.question.name
    named = [part.expr.alias(part.name) for part in (*trials.by, trials.model) if part]
    exact, unit = exact_cost(cost.expr)
    rows = trials.frame.select(
        *(named or [STAND_IN]),
        trials.question.expr.alias(question),
        exact.alias(_MEAN),
    )
    keys = [*trials.groups]
    # Sums of integers, and then of floats in one order: the same on each run.
    total = pl.when(pl.col(_MEAN).null_count() == 0).then(pl.col(_MEAN).sum())
    each = rows.group_by(*keys, question).agg(total, pl.len().alias(_ROUND))
    mean = pl.col(_MEAN).cast(pl.Float64) * unit / pl.col(_ROUND)
    known = pl.when(pl.col(_MEAN).null_count() == 0)
    return (
        each.select(*keys, question, mean.alias(_MEAN))
        .sort(*keys, question)
        .group_by(*keys, maintain_order=True)
        .agg(known.then(pl.col(_MEAN).sum()).alias(_ROUND), known.then(pl.col(_MEAN).mean()))
    )
