"""The part of a page on costs: what a success costs, and which models are worth their cost."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.counting.trials import Trials, bind_roles
from polars_scorio.decisions.frontier import frontier
from polars_scorio.display.chart_data import model_label, stratum_label
from polars_scorio.display.html.page import Section
from polars_scorio.display.html.page_tables import Column, Table
from polars_scorio.display.number_format import MISSING, probability_text
from polars_scorio.display.settings import Settings
from polars_scorio.display.tables import visible_text
from polars_scorio.metrics.costs import cost_per_success, mean_cost
from polars_scorio.reporting.report import report

_RATIO = (
    "Cost per success: the mean cost of a trial over the success rate. No upper end (∞) holds if "
    "successes are so rare that their rate may be zero."
)
_WORTH = (
    "P(worth it): the chance that no other model is at least as good and at most as dear, if the "
    "questions are a sample."
)


def cost_section(frame: pl.LazyFrame, roles: Roles, settings: Settings) -> Section | None:
    """Section on what the trials of a log cost; None if it has no costs of trials as they are.

    Costs are read from the trials, in a pass of their own: the counts of a page hold none.
    """
    if roles.cost is None or roles.truth is not None or roles.judge is not None:
        return None
    trials = bind_roles(frame, roles)
    numbers = report(
        frame,
        roles,
        [mean_cost(), cost_per_success()],
        target=settings.target,
        confidence=settings.confidence,
    )
    plans = [numbers]
    if trials.model is not None:
        plans.append(frontier(frame, roles, confidence=settings.confidence, questions="common"))
    rows, *worth = pl.collect_all(plans, engine="streaming")
    lines = [_RATIO, *[_WORTH] * len(worth)]
    shown = {"": _cost_table(rows, worth, trials)}
    return Section("cost", "What does a success cost?", lines, tables=shown)


def _cost_table(rows: pl.DataFrame, worth: list[pl.DataFrame], trials: Trials) -> Table:
    """A row for each stratum and model."""
    keys = [stratum_label(trials), model_label(trials)]
    own = [*trials.keys]
    costs, ratios = (rows.filter(metric=metric().name) for metric in (mean_cost, cost_per_success))
    named = costs.select(keys)
    columns = [Column("model", [*map(visible_text, named["model"])], number=False)]
    if trials.by:
        columns.insert(0, Column("stratum", [*map(visible_text, named["stratum"])], number=False))
    columns += [
        Column("mean cost", _interval_texts(costs)),
        Column("per success", _interval_texts(ratios)),
    ]
    columns.append(Column("never solved", [f"{share:.0%}" for share in ratios["unsolved"]]))
    if worth:
        chance = costs.select(own).join(worth[0], on=own, how="left", maintain_order="left")
        columns.append(Column("P(worth it)", [*map(probability_text, chance["p_frontier"])]))
    return Table(columns)


def _interval_texts(rows: pl.DataFrame) -> list[str]:
    """Estimates with their intervals."""
    found = []
    for estimate, lo, hi, unbounded in rows.select("estimate", "lo", "hi", "unbounded").iter_rows():
        ends = MISSING if lo is None else f"[{lo:.3g}, {'∞' if unbounded else f'{hi:.3g}'}]"
        found.append(f"{'∞' if estimate is None else f'{estimate:.3g}'} {ends}")
    return found
