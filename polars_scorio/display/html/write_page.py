"""From a log to the page of its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from warnings import catch_warnings, simplefilter

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.counting.success_labels import SuccessWarning, warn_of_absent_labels
from polars_scorio.display.html.baseline_section import BaselineRows, baseline_rows
from polars_scorio.display.html.cost_section import cost_section
from polars_scorio.display.html.method_notes import method_notes
from polars_scorio.display.html.page import Page
from polars_scorio.display.html.page_request import Order
from polars_scorio.display.html.pair_section import page_pairs
from polars_scorio.display.html.sections import coverage_section, page_sections
from polars_scorio.display.phrases import count_of
from polars_scorio.display.verdict.alerts import (
    biased_models,
    coverage_alerts,
    draws_beyond_trials,
)
from polars_scorio.display.verdict.headline import verdict_basis, verdict_sentence
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.scopes import Scope, default_metrics, knows_success, page_scopes
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.judge_warning import JudgeWarning
from polars_scorio.reporting.stopping_warning import StoppingWarning


def _tell_nobody(step: str) -> None:
    """Tell nobody."""


def write_page(
    path: Path,
    frame: pl.LazyFrame,
    roles: Roles,
    order: Order,
    tell: Callable[[str], None] = _tell_nobody,
    *,
    totals: pl.DataFrame | None = None,
) -> ValueError | TypeError | None:
    """Write the page of a log, and return why it has no report, if so; see `page`."""
    refuse_missing_folder(path)
    made, refusal = made_page(frame, roles, order, tell, totals=totals)
    write_whole(path, made.html())
    return refusal


def _refuse_unpaged(metrics: Sequence[Metric]) -> None:
    """Refuse metrics of answers: a page is made of the counts of categories."""
    for metric in metrics:
        if metric.looks_at == "answers":
            raise ValueError(
                f"{metric.name}: a page is made of counts of categories, in which there are no "
                "answers: leave it out, and show votes with leaderboard and plot"
            )


def made_page(
    frame: pl.LazyFrame,
    roles: Roles,
    order: Order,
    tell: Callable[[str], None] = _tell_nobody,
    *,
    totals: pl.DataFrame | None = None,
) -> tuple[Page, ValueError | TypeError | None]:
    """The page of a log: its report, or its coverage and the reason why there is none.

    Parameters
    ----------
    frame : LazyFrame
        The log, which is read once.
    roles : Roles
        Which column plays which part.
    order : Order
        What is asked for.
    tell : callable
        Gets a word on each step before it is done.
    totals : DataFrame, optional
        Trials and score of each run as its tool says them, with the keys of the log.

    Returns
    -------
    Page
    ValueError, TypeError or None
        Why it has no report, if so.
    """
    tell("reading the log")
    look = Look.read(frame, roles, totals)
    coverage = look.coverage()
    try:
        look.refuse()
        of_costs = [metric for metric in order.metrics if metric.looks_at == "costs"]
        metrics = tuple(metric for metric in order.metrics if metric.looks_at != "costs")
        metrics = metrics or default_metrics(look)
        _refuse_unpaged(metrics)
        tell("reporting, ranking and comparing")
        if not any(metric.w for metric in metrics):
            warn_of_absent_labels(look.cells, look.trials)
        with _without_repeated_warnings():
            overall, parts = page_scopes(look, metrics, order.settings)
            main = overall or parts[0]
            against = None
            if order.baseline is not None and not biased_models(coverage, order.settings):
                against = baseline_rows(main, order.baseline, order.settings)
            known = of_costs or knows_success(main.counts, main.roles, main.metrics)
            costs = cost_section(frame, roles, order.settings, of_costs) if known else None
    except (ValueError, TypeError) as error:
        return _refusal_page(look, coverage, order, error), error
    tell("drawing")
    with _without_repeated_warnings():
        made = _report_page(look, coverage, order, metrics, overall, parts, against)
    sections = made.sections if costs is None else [*made.sections, costs]
    return replace(made, sections=sections), None


@contextmanager
def _without_repeated_warnings() -> Iterator[None]:
    """Ignore what reports of strata warn of: a page warns once, about the whole log.

    Of trials that stopped on outcomes it has an alert, of judges a sentence.
    """
    with catch_warnings():
        simplefilter("ignore", SuccessWarning)
        simplefilter("ignore", StoppingWarning)
        simplefilter("ignore", JudgeWarning)
        yield


def _report_page(
    look: Look,
    coverage: pl.DataFrame,
    order: Order,
    metrics: Sequence[Metric],
    overall: Scope | None,
    parts: list[Scope],
    against: BaselineRows | None,
) -> Page:
    biased = biased_models(coverage, order.settings)
    overall, parts = (
        None if overall is None else replace(overall, biased=bool(biased)),
        [replace(part, biased=bool(biased)) for part in parts],
    )
    main = overall or parts[0]
    words = verdict_sentence(overall, parts, order.settings, biased)
    basis = verdict_basis(main, order.settings)
    warned = [*coverage_alerts(look, coverage), *draws_beyond_trials(main, metrics)]
    made = method_notes(look.cells, metrics, order.settings, call=order.call, version=order.version)
    named = {part.name: part for part in parts}
    return Page(
        title=order.title,
        summary=_log_size(coverage),
        headline=words,
        basis=basis,
        refused=False,
        alerts=warned,
        sections=[*page_sections(look, overall, parts, coverage, order.settings, against)],
        about=made,
        numbers={
            "title": order.title,
            "headline": words,
            "basis": basis,
            "alerts": [f"{alert.title}. {alert.text}" for alert in warned],
            "about": made.facts,
            "coverage": coverage,
            "overall": None if overall is None else _scope_frames(overall),
            "strata": {name: _stratum_frames(part) for name, part in named.items()},
            **({} if against is None else {"baseline": _baseline_frames(against)}),
        },
    )


def _scope_frames(scope: Scope) -> dict[str, pl.DataFrame | list[str]]:
    """The models and frames of the whole log, or of the stratum that the verdict is about."""
    ranks = {"ranks": scope.ranks, "pairs": page_pairs(scope), "trials_needed": scope.needed}
    shown = {} if scope.biased or len(scope.models) == 1 else ranks
    return {"models": scope.models, "report": scope.rows, **shown}


def _baseline_frames(against: BaselineRows) -> dict[str, pl.DataFrame]:
    """The gates at margin 0, and the questions that changed."""
    numbers = ["metric", "k", "model", "baseline", "diff", "sigma", "lo", "hi"]
    return {"gates": against.gates.select(numbers), "changed": against.changed}


def _stratum_frames(scope: Scope) -> dict[str, pl.DataFrame]:
    """The frames of a stratum."""
    numbers = ["model", "metric", "k", "estimate", "mu", "lo", "hi"]
    frames = {"report": scope.rows.select(numbers)}
    if not scope.biased:
        frames["ranks"] = scope.ranks.select("model", "rank_lo", "rank_hi")
    return frames


def _refusal_page(look: Look, coverage: pl.DataFrame, order: Order, error: Exception) -> Page:
    words = f"This log cannot be reported. {error}"
    made = method_notes(
        look.cells, order.metrics, order.settings, call=order.call, version=order.version
    )
    return Page(
        title=order.title,
        summary=_log_size(coverage),
        headline=words,
        basis="",
        refused=True,
        alerts=[*coverage_alerts(look, coverage)] if coverage.height else [],
        sections=[coverage_section(coverage, whole=True)],
        about=made,
        numbers={
            "title": order.title,
            "refused": str(error),
            "about": made.facts,
            "coverage": coverage,
        },
    )


def _log_size(coverage: pl.DataFrame) -> str:
    """How large the log is."""
    keys = [name for name in ("stratum",) if name in coverage.columns]
    strata = [
        count_of(coverage[name].n_unique(), "stratum").replace("stratums", "strata")
        for name in keys
    ]
    questions = coverage.with_columns(asked=pl.col("questions") + pl.col("missing"))
    each = questions.group_by(keys or pl.lit(0)).agg(pl.col("asked").first())
    return " \N{MIDDLE DOT} ".join(
        [
            count_of(coverage["model"].n_unique(), "model"),
            *strata,
            count_of(int(each["asked"].sum()), "question"),
            count_of(int(coverage["trials"].sum()), "trial"),
        ]
    )
