"""Metrics of the cost of trials: the mean, per success, and until the first success."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from polars_scorio.maths.cost_means import CostValues, QuestionCosts
from polars_scorio.metrics.metric import (
    Description,
    DrawSizes,
    Metric,
    Summary,
    described_fields,
    draw_sizes,
    with_parameter_help,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CostMetric(Metric):
    """The ratio of two means over questions: what is spent, and what is solved."""

    spending: Callable[..., CostValues]  # from costs (and k) to both numbers of each question
    of_successes: bool = True  # needs the cost of successes by itself

    calibrated = True
    per_question = False
    uses_prior = False
    looks_at = "costs"
    beyond_counts = (
        "counts of successes do not hold what each trial cost: report it from a log of trials, "
        'as in df.scorio(cost="usd")'
    )
    support = (0.0, math.inf)

    def cost_values(self, costs: QuestionCosts, k: int | None) -> CostValues:
        """Spending and reward of each question, with their noise."""
        return self.spending(costs) if k is None else self.spending(costs, k)

    def summary(self, posterior: Any, k: int | None) -> Summary:  # noqa: ANN401 - as in the base
        """Refuse counts: they hold no costs."""
        raise ValueError(
            f"{self.name} needs what each trial cost, which counts of successes do not hold: "
            'report it from a log of trials, as in df.scorio(cost="usd")'
        )


def cost_metrics(metrics: Iterable[Metric]) -> list[CostMetric]:
    """The metrics that are of costs."""
    return [each for each in metrics if isinstance(each, CostMetric)]


@with_parameter_help
def mean_cost(*, name: str | None = None) -> CostMetric:
    """Mean cost: average cost of a trial [1]_.

    It needs the cost of each trial: name its column, as in ``df.scorio(cost="usd")``.

    Raises
    ------
    ValueError
        If the accessor has no `cost`, for posteriors, and with planned looks. When the rows are
        read: if a trial has no cost, or a model cost nothing at all.

    Notes
    -----
    It is the mean over questions of the mean cost of their trials. Costs have heavy tails, so the
    upper end is further away if few expensive questions make up most of the variance. No interval
    knows an expensive trial that the log does not have.

    References
    ----------
    .. [1] M. H. Erol et al. (2025), Cost-of-Pass: An Economic Framework for Evaluating Language
       Models, arXiv:2504.13359.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
    >>> log = trials.with_columns(usd=pl.Series([3.0, 1.0, 1.0, 1.0]))
    >>> priced = log.scorio(model=None, trial=None, cost="usd")
    >>> priced.report(ps.mean_cost())["estimate"].item()
    1.5
    """
    described = Description("mean_cost", "Mean cost", "the mean cost of a trial")
    shared = described_fields(described, name)
    return CostMetric(**shared, spending=QuestionCosts.per_trial, of_successes=False)


@with_parameter_help
def cost_per_success(*, name: str | None = None) -> CostMetric:
    """Cost per success: cost of the whole benchmark divided by its successes [1]_.

    It needs the cost of each trial: name its column, as in ``df.scorio(cost="usd")``.

    Raises
    ------
    ValueError
        As for `mean_cost`.

    Notes
    -----
    It is X / Y, the mean cost over the mean success rate. The paper averages the cost per success
    of each question instead, which is infinite if one question is never solved. The interval comes
    from the delta method on the logarithm. If the success rate Y may be zero, there is no upper
    end: `hi` is null and `unbounded` is true.

    References
    ----------
    .. [1] M. H. Erol et al. (2025), Cost-of-Pass: An Economic Framework for Evaluating Language
       Models, arXiv:2504.13359.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
    >>> log = trials.with_columns(usd=pl.Series([3.0, 1.0, 1.0, 1.0]))
    >>> priced = log.scorio(model=None, trial=None, cost="usd")
    >>> priced.report(ps.cost_per_success())["estimate"].item()
    2.0
    """
    described = Description(
        "cost_per_success", "Cost per success", "the mean cost of a trial over the success rate"
    )
    return CostMetric(**described_fields(described, name), spending=QuestionCosts.per_success)


@with_parameter_help
def cost_to_solve(k: DrawSizes, *, name: str | None = None) -> CostMetric:
    """Cost to solve: cost of a solved question, if each is tried up to k times [1]_.

    A question is tried until the first success, at most k times; one that is never solved costs k
    trials. It needs the cost of each trial: name its column, as in ``df.scorio(cost="usd")``.

    Raises
    ------
    ValueError
        As for `mean_cost`; and if `k` is not positive.

    Notes
    -----
    It is the mean spending over Pass@k. A question with c successes in n trials spends
    m1 [1 - C(n-c,k)/C(n,k)] + m0 sum_{j=1..k} C(n-c,j)/C(n,j), with m1 and m0 the mean cost of its
    successes and failures: unbiased, also if failures cost more. There is no number if k exceeds
    the trials of a question.

    References
    ----------
    .. [1] M. H. Erol et al. (2025), Cost-of-Pass: An Economic Framework for Evaluating Language
       Models, arXiv:2504.13359.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
    >>> log = trials.with_columns(usd=pl.Series([3.0, 1.0, 1.0, 1.0]))
    >>> report = log.scorio(model=None, trial=None, cost="usd").report(ps.cost_to_solve([1, 2]))
    >>> report["estimate"].to_list()
    [2.0, 1.75]
    """
    described = Description(
        "cost_to_solve",
        "Cost to solve, {k} tries",
        "the mean cost until the first success in at most k trials, over Pass@k",
    )
    shared = described_fields(described, name)
    return CostMetric(**shared, k=draw_sizes(k), spending=QuestionCosts.until_success)
