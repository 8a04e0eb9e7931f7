"""The cost beside a gate: is a candidate not dearer than the baseline by more than a factor?"""

from __future__ import annotations

import polars as pl

from polars_scorio.arguments import Overall, Range, check_number
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.counting.trials import Trials, refuse_repeats
from polars_scorio.decisions.compare import compare
from polars_scorio.metrics.costs import mean_cost
from polars_scorio.reporting.options import DecisionOptions

_FACTOR = Range("a factor from 1 to 1,000: 1.1 is ten percent dearer", 1, 1_000, closed=True)
COST_COLUMNS = ("cost_ratio", "cost_lo", "cost_hi", "cost_verdict", "score_verdict")


def with_cost_verdict(
    judged: pl.LazyFrame,
    trials: Trials,
    roles: Roles,
    baseline: Category,
    cost_margin: float,
    *,
    overall: Overall | None,
    options: DecisionOptions,
) -> pl.LazyFrame:
    """The rows of a gate with `COST_COLUMNS`, and verdicts of score and cost together.

    Each end of the ratio of the mean costs holds at the confidence of `options` by itself. A
    candidate fails if its score fails, or if it is shown to be dearer; it passes if both are shown
    to be inside their margins. With strata, the cost is judged over all of them together: rows of
    single strata have the ratio, no verdict about it, and that of their score.
    """
    margin = check_number("cost_margin", cost_margin, _FACTOR)
    refuse_repeats([*judged.collect_schema().names(), *COST_COLUMNS])
    (model,) = trials.models
    both_ends: DecisionOptions = {**options, "confidence": 2 * options["confidence"] - 1}
    ratios = compare(
        trials.frame, roles, mean_cost(), baseline=baseline, overall=overall, **both_ends
    )
    verdict = (
        pl.when(pl.col("hi") < margin)
        .then(pl.lit("pass"))
        .when(pl.col("lo") > margin)
        .then(pl.lit("fail"))
        .otherwise(pl.lit("undecided"))
    )
    if trials.strata:
        whole = pl.all_horizontal(pl.col(name).is_null() for name in trials.strata)
        verdict = pl.when(whole).then(verdict)
    costs = ratios.select(
        *trials.strata,
        pl.col("model_a").alias(model),
        pl.col("ratio").alias("cost_ratio"),
        pl.col("lo").alias("cost_lo"),
        pl.col("hi").alias("cost_hi"),
        verdict.alias("cost_verdict"),
    )
    keys = [*trials.strata, model]
    joined = judged.join(costs, on=keys, how="left", nulls_equal=True, maintain_order="left")
    parts = pl.concat_list("verdict", "cost_verdict")
    worst = (
        pl.when(parts.list.contains("fail"))
        .then(pl.lit("fail"))
        .when(parts.list.contains("undecided"))
        .then(pl.lit("undecided"))
        .otherwise(pl.lit("pass"))
    )
    return joined.with_columns(worst.alias("verdict"), score_verdict="verdict")
