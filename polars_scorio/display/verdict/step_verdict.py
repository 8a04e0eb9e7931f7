"""Strata along a number or a time, such as training steps: the best one, and the last one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.best import best
from polars_scorio.display.phrases import name_list, short_name
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.headline import lead_rows, scale_of
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.scopes import Scope

_RUNS = 3  # models with a sentence on their best step
_PAIR = 2


def best_step_sentences(look: Look, main: Scope, settings: Settings) -> list[str]:
    """A sentence on the best step of each of the first models.

    There is none if trials stopped on outcomes, or if the questions change along the steps: then
    scores of different steps say nothing about each other.

    Parameters
    ----------
    look : Look
        The log, whose strata are steps.
    main : Scope
        The last step.
    settings : Settings
        Confidence and inference of the intervals.
    """
    (name,) = look.trials.strata
    log, roles = stepped_log(look)
    if main.biased or not _same_questions(log, name):
        return []
    steps = replace(roles, model=name, by="model")
    found = best(log, steps, main.lead, **settings.report).collect()
    of_model = {row["model"]: row for row in found.iter_rows(named=True)}
    lines = [_best_step_words(of_model[model], name, main) for model in main.models[:_RUNS]]
    return [line for line in lines if line]


def stepped_log(look: Look) -> tuple[pl.LazyFrame, Roles]:
    """The counts of a log, whose steps are numbers or times again, and their roles."""
    assert look.steps is not None  # the strata are steps
    (name,) = look.trials.strata
    log = look.cells.join(look.steps, on="stratum", how="left").drop("stratum").rename({"at": name})
    return log.lazy(), replace(look.roles, by=name)


def log_at_step(look: Look, scope: Scope) -> tuple[pl.LazyFrame, Roles]:
    """The rows of a log at the step that a scope is about, and their roles without strata."""
    assert look.steps is not None  # the strata are steps
    (part,) = look.trials.by
    scope_names = pl.lit(f"{part.name} ") + pl.col("stratum")
    value = look.steps.filter(scope_names == scope.name)["at"].item()
    rows = look.trials.frame.filter(part.expr == pl.lit(value, part.dtype))
    return rows, replace(look.trials.roles, by=())


def _same_questions(log: pl.LazyFrame, name: str) -> bool:
    """Whether each model has the same questions at all of its steps."""
    asked = log.select("model", name, "question").unique().group_by("model")
    counted = asked.agg(pl.len(), pl.col(name, "question").n_unique()).collect()
    return bool((counted["len"] == counted[name] * counted["question"]).all())


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
