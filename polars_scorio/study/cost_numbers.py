"""Numbers of what trials cost."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import polars as pl

from polars_scorio.counting.log import Trials
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.cost_means import CostMeans, CostQuestions, QuestionCosts
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.study.cell_numbers import (
    LARGEST_SHARE,
    LOG_COST,
    LOG_ERROR,
    LOG_FREEDOM,
    UNBOUNDED,
    UNSOLVED,
    VALUE_CLUSTERS,
    VALUES,
    WEIGHT,
    CellNumbers,
    Row,
)
from polars_scorio.study.question_cells import GROUP, QuestionCells


def cost_numbers(
    metrics: Sequence[CostMetric], cells: QuestionCells, confidence: float, target: Target
) -> dict[Row, CellNumbers]:
    """The numbers of metrics of costs, for each draw size and cell."""
    if not metrics:
        return {}
    costs, questions = cells.question_costs(clustered=target == "population")
    order = _order_of_contents(costs, questions)
    costs, questions = costs.at(order), questions.at(order)
    unsolved, largest = _unsolved_share(costs, questions), _largest_share(costs, questions)
    found = dict[Row, CellNumbers]()
    for metric in metrics:
        for k in metric.row_sizes:
            means = CostMeans.of(metric.cost_values(costs, k), questions, target)
            lo, hi = means.ends((1 - confidence) / 2)
            ratio = _null_infinity(means.ratio)
            facts = {
                UNBOUNDED: np.isinf(hi),
                UNSOLVED: unsolved,
                LARGEST_SHARE: largest,
                LOG_COST: means.log_ratio,
                LOG_ERROR: means.log_error,
                LOG_FREEDOM: means.freedom,
            }
            found[metric.name, k] = CellNumbers(
                "calibrated",
                ratio,
                ratio,
                ratio * means.log_error,
                lo,
                _null_infinity(hi),
                costs=pl.DataFrame(facts, nan_to_null=True),
            )
    return found


def _order_of_contents(costs: QuestionCosts, questions: CostQuestions) -> Ints:
    """An order of the questions by what they hold, in which sums do not depend on that of the rows.

    Sorting a hash of each question takes a quarter of the time of sorting by its numbers.
    """
    contents = {each.name: getattr(costs, each.name) for each in fields(costs)}
    known = {name: values for name, values in contents.items() if values is not None}
    rows = pl.DataFrame({**known, "group": questions.group, "stratum": questions.stratum})
    return np.asarray(rows.hash_rows().arg_sort().to_numpy(), dtype=np.int64)


def part_columns(
    metric: CostMetric, k: int | None, cells: QuestionCells, question: str
) -> pl.DataFrame:
    """Lists with a part for each question of a group, in an order that all models share.

    Returns
    -------
    DataFrame
        A row for each group. `VALUES`: the log of its ratio plus what a question adds to it; the
        mean over the questions is the log, and the variance between them that of the log. `WEIGHT`:
        their shares. `VALUE_CLUSTERS`: their clusters.
    """
    costs, questions = cells.question_costs(clustered=True)
    values = metric.cost_values(costs, k)
    means, group = CostMeans.of(values, questions, "benchmark"), questions.group
    cluster = np.zeros_like(group) if questions.cluster is None else questions.cluster
    rows = pl.DataFrame(
        {
            "group": group,
            "question": cells.flat[question],
            "stratum": questions.stratum,
            VALUES: means.log_ratio[group] + means.residuals(values, group),
            WEIGHT: questions.shares(),
            VALUE_CLUSTERS: cluster,
        }
    )
    lists = rows.sort("group", "question", "stratum").group_by("group", maintain_order=True)
    return lists.agg(VALUES, WEIGHT, VALUE_CLUSTERS).drop("group")


def _null_infinity(values: Floats) -> Floats:
    """The values, NaN for infinity: a column then has null."""
    return np.where(np.isinf(values), np.nan, values)


def _unsolved_share(costs: QuestionCosts, questions: CostQuestions) -> Floats:
    """Share of the questions of each group without a success."""
    unsolved = questions.shares() * (costs.c == 0)
    return np.minimum(np.bincount(questions.group, unsolved, questions.groups), 1.0)


def _largest_share(costs: QuestionCosts, questions: CostQuestions) -> Floats:
    """Share of the dearest trial of each group in the cost of all its trials."""
    largest = np.zeros(questions.groups)
    np.maximum.at(largest, questions.group, costs.largest)
    total = np.bincount(questions.group, costs.total, questions.groups)
    with np.errstate(invalid="ignore"):
        return np.asarray(largest / total)


_MUCH = 0.2  # of the cost of a model
_FEW = 10  # among fewer trials some trial has much in any case


class CostWarning(UserWarning):
    """A single trial makes up more than a fifth of what a model cost.

    With so heavy a tail the intervals of costs are too short, where .95 was promised: they held in
    .78 of such simulated logs, in .52 to .99 by the tail and the trials (lognormal costs with sd
    1.5 to 2.5, 10 to 60 questions, 1 or 4 trials). The message names the first such model.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.CostWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.CostWarning)
    """


def warn_of_large_costs(rows: pl.DataFrame, keys: pl.DataFrame, trials: Trials) -> None:
    """Warn once of models of which one of ten or more trials has more than a fifth of the cost.

    Parameters
    ----------
    rows : DataFrame
        The rows of a report with `GROUP` and `LARGEST_SHARE`.
    keys : DataFrame
        The keys of the groups. Groups over all strata, whose keys are null, are not looked at.
    trials : Trials
        The log.
    """
    largest = pl.when(pl.col("trials") >= _FEW).then(LARGEST_SHARE).max()
    of_groups = rows.group_by(GROUP).agg(largest.alias(LARGEST_SHARE)).sort(GROUP)
    shares = keys.select(*trials.groups).with_columns(of_groups[LARGEST_SHARE])
    large = shares.drop_nulls().filter(pl.col(LARGEST_SHARE) > _MUCH)
    if large.is_empty():
        return
    first = large.sort(*trials.keys, LARGEST_SHARE).row(0, named=True)
    place = ", ".join(f"{name}={first[name]!r}" for name in trials.keys)
    number = f"{large.height:,} {'group' if large.height == 1 else 'groups'}"
    warnings.warn(
        f"one trial makes up more than {_MUCH:.0%} of the cost in {number}"
        f"{', the first at ' * bool(place)}{place}: {first[LARGEST_SHARE]:.0%}. With so heavy a "
        "tail, intervals of costs are too short. Look at that trial: is its cost right?",
        CostWarning,
        stacklevel=2,
    )
