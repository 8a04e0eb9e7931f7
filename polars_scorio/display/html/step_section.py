"""The part of a page on strata along a number or a time, such as the steps of a training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.best import best
from polars_scorio.display.html import pictures
from polars_scorio.display.html.page import Section
from polars_scorio.display.line_charts import BANDED
from polars_scorio.display.phrases import name_list, short_name
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.headline import lead_label, lead_rows, scale_of
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.scopes import Scope

_CURVES = 3  # metrics with a picture along the steps, the leading one first
_PAIR = 2


def steps_section(look: Look, main: Scope, settings: Settings) -> Section:
    """Section on the curves along the steps, and on the best step of each line.

    Parameters
    ----------
    look : Look
        The log, whose strata are steps.
    main : Scope
        The last step.
    settings : Settings
        The options of the page.
    """
    (name,) = look.trials.strata
    log, roles = _stepped_log(look, name)
    about = (
        f"{lead_label(main)} along {name}. The numbers of the other sections are those of the last "
        "one: a mean over all of them would have no meaning."
    )
    lines = [about]
    if not main.biased and _same_questions(log, name):
        lines += _best_step_lines(log, roles, name, main, settings)
    metrics = [metric.at_first_row() for metric in main.metrics[:_CURVES]]
    figures = pictures.step_figures(log, roles, name, metrics, settings)
    return Section("strata", f"How does it change with {name}?", lines, figures)


def _stepped_log(look: Look, name: str) -> tuple[pl.LazyFrame, Roles]:
    """The counts of a log, whose steps are numbers or times again, and their roles."""
    assert look.steps is not None  # the strata are steps
    log = look.cells.join(look.steps, on="stratum", how="left").drop("stratum").rename({"at": name})
    return log.lazy(), replace(look.roles, by=name)


def _same_questions(log: pl.LazyFrame, name: str) -> bool:
    """Whether each model has the same questions at all of its steps."""
    asked = log.select("model", name, "question").unique().group_by("model")
    counted = asked.agg(pl.len(), pl.col(name, "question").n_unique()).collect()
    return bool((counted["len"] == counted[name] * counted["question"]).all())


def _best_step_lines(
    log: pl.LazyFrame, roles: Roles, name: str, main: Scope, settings: Settings
) -> list[str]:
    """A sentence on the best step of each of the first models."""
    steps = replace(roles, model=name, by="model")
    found = best(log, steps, main.lead, **settings.report).collect()
    of_model = {row["model"]: row for row in found.iter_rows(named=True)}
    lines = [_best_step_words(of_model[model], name, main) for model in main.models[:BANDED]]
    return [line for line in lines if line]


def _best_step_words(row: Mapping[str, Any], name: str, main: Scope) -> str:
    """Sentence on the best step of one model; empty if there is nothing to select from."""
    if row["candidates"] < _PAIR or row["best_lo"] is None:
        return ""
    of = f" of {short_name(row['model'])}" if len(main.models) > 1 else ""
    number = scale_of(lead_rows(main)).cell(
        row["estimate"], row["best_lo"], row["best_hi"], unit=True
    )
    words = (
        f"The best step{of} is {row[name]}: {number}, an interval corrected for being the best of "
        f"{row['candidates']:,}"
    )
    rivals = [step for step in row["could_be_best"] if step != row[name]]
    return f"{words}; {name_list(rivals)} may be as good." if rivals else f"{words}."
