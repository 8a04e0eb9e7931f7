"""The part of a page on costs: what a success costs, and which models are worth their cost."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.counting.trials import Trials, bind_roles
from polars_scorio.decisions.frontier import frontier
from polars_scorio.display.chart_data import model_label, stratum_label
from polars_scorio.display.frontier_plots import FrontierPlots
from polars_scorio.display.html.page import Section
from polars_scorio.display.html.page_tables import Column, Table
from polars_scorio.display.html.pictures import Figure, page_figure
from polars_scorio.display.number_format import MISSING, probability_text
from polars_scorio.display.phrases import visible_text
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.costs import cost_per_success, mean_cost
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.report import report

_RATIO = (
    "Cost per success: the mean cost of a trial over the success rate. No upper end (∞) holds if "
    "successes are so rare that their rate may be zero."
)
_WORTH = (
    "P(worth it): the chance that no other model is at least as good and at most as dear, if the "
    "questions are a sample."
)
_HEADS: dict[Metric, str] = {mean_cost(): "mean cost", cost_per_success(): "per success"}
_PANELS = 12  # strata of a picture
_WIDTH, _PANEL_WIDTH = 480, 240  # pixels


def cost_section(
    frame: pl.LazyFrame, roles: Roles, settings: Settings, asked: Sequence[Metric] = ()
) -> Section | None:
    """Section on what the trials of a log cost; None if it has no costs of trials as they are.

    Costs are read from the trials, in passes of their own: the counts of a page hold none.

    Parameters
    ----------
    frame, roles
        The log.
    settings : Settings
        How numbers are found.
    asked : sequence of Metric
        The metrics of costs that somebody asked for; the section has them beside its own.
    """
    judged = roles.truth is not None or roles.judge is not None
    if not asked and (roles.cost is None or judged):
        return None
    trials = bind_roles(frame, roles)
    metrics = list(dict.fromkeys([*_HEADS, *asked]))
    numbers = report(frame, roles, metrics, target=settings.target, confidence=settings.confidence)
    plans = [numbers]
    if trials.model is not None:
        plans.append(frontier(frame, roles, confidence=settings.confidence, questions="common"))
    rows, *worth = pl.collect_all(plans, engine="streaming")
    lines = [_RATIO, *[_WORTH] * len(worth)]
    shown = {"": _cost_table(rows, metrics, worth, trials)}
    figures = _frontier_figures(frame, roles, settings, worth)
    return Section("cost", "What does a success cost?", lines, figures, shown)


def _frontier_figures(
    frame: pl.LazyFrame, roles: Roles, settings: Settings, worth: list[pl.DataFrame]
) -> list[Figure]:
    """Scores of several models against their costs, if all strata fit into one picture."""
    trials = bind_roles(frame, roles)
    of_strata = [each.select(stratum_label(trials)).to_series() for each in worth]
    if not any(len(each) > each.n_unique() and each.n_unique() <= _PANELS for each in of_strata):
        return []
    chart = FrontierPlots(frame, roles).frontier(
        confidence=settings.confidence,
        questions="common",
        width=_PANEL_WIDTH if trials.by else _WIDTH,
    )
    return [page_figure(chart)]


def _cost_table(
    rows: pl.DataFrame, metrics: Sequence[Metric], worth: list[pl.DataFrame], trials: Trials
) -> Table:
    """A row for each stratum and model."""
    keys = [stratum_label(trials), model_label(trials)]
    own = [*trials.keys]
    costs = rows.filter(metric=mean_cost().name)
    named = costs.select(keys)
    columns = [Column("model", [*map(visible_text, named["model"])], number=False)]
    if trials.by:
        columns.insert(0, Column("stratum", [*map(visible_text, named["stratum"])], number=False))
    for metric in metrics:
        for k in metric.row_sizes:
            found = rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)), metric=metric.name)
            head = _HEADS.get(metric) or metric.heading(k)
            columns.append(Column(head, _interval_texts(found)))
    columns.append(Column("never solved", [f"{share:.0%}" for share in costs["unsolved"]]))
    if worth:
        chance = costs.select(own).join(worth[0], on=own, how="left", maintain_order="left")
        columns.append(Column("P(worth it)", [*map(probability_text, chance["p_frontier"])]))
    return Table(columns, kind="cards")


def _interval_texts(rows: pl.DataFrame) -> list[str]:
    """Estimates with their intervals."""
    found = []
    for estimate, lo, hi, unbounded in rows.select("estimate", "lo", "hi", "unbounded").iter_rows():
        ends = MISSING if lo is None else f"[{lo:.3g}, {'∞' if unbounded else f'{hi:.3g}'}]"
        found.append(f"{'∞' if estimate is None else f'{estimate:.3g}'} {ends}")
    return found
