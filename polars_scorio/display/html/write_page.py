"""The whole page of a log, written to a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import polars as pl

from polars_scorio.arguments import value_text
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.display.html.method_notes import method_notes
from polars_scorio.display.html.page import Page
from polars_scorio.display.html.sections import (
    BaselineRows,
    baseline_rows,
    cost_section,
    coverage_section,
    page_pairs,
    page_sections,
)
from polars_scorio.display.log_summary import LogSummary
from polars_scorio.display.scopes import Scope, knows_success
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict import (
    Alert,
    LogVerdict,
    coverage_alerts,
    log_verdict,
    outcome_words,
    refusal_words,
    without_repeated_warnings,
)
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.display.words import count_of, installed_version
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.request import check_metrics

_GATE_NUMBERS = ("metric", "k", "model", "baseline", "diff", "sigma", "lo", "hi")


@dataclass(frozen=True, slots=True)
class Order:
    """Metrics, options and title of a page."""

    metrics: tuple[Metric, ...]  # empty: what suits the log
    settings: Settings
    title: str
    call: str
    version: str
    baseline: Category | None = None  # compared with all others

    @classmethod
    def of(
        cls,
        metrics: Sequence[Metric],
        settings: Settings,
        roles: Roles,
        name: str,
        *,
        title: str | None = None,
        call: str | None = None,
        baseline: Category | None = None,
    ) -> Order:
        """Request of a method or a command, whose file is called `name`.

        Without `title` the name is the title; without `call` the call is that of the method.
        """
        if not isinstance(baseline, Category | None):
            raise TypeError(f"baseline must be a model or None, got {value_text(baseline)}")
        if metrics:
            check_metrics(metrics, "write_html")
        against = [] if baseline is None else [f"baseline={baseline!r}"]
        typed = [repr(name), *map(str, metrics), *against, *_typed_keywords(settings)]
        named = f"({', '.join(_typed_keywords(roles))})" if _typed_keywords(roles) else ""
        call = call or f"df.scorio{named}.write_html({', '.join(typed)})"
        return cls(tuple(metrics), settings, title or name, call, installed_version(), baseline)


def _typed_keywords(options: Roles | Settings) -> list[str]:
    """The options that differ from their defaults, as one would type them."""
    given = [(part.name, getattr(options, part.name), part.default) for part in fields(options)]
    return [
        f"{name}={_typed_option(value)}"
        for name, value, usual in given
        if repr(value) != repr(usual)
    ]


def _typed_option(value: object) -> str:
    """A value as one would type it: a single one of several without brackets."""
    if isinstance(value, tuple) and len(value) == 1:
        return _typed_option(value[0])
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        return "prior_trials"
    return str(value) if isinstance(value, pl.Expr) else repr(value)


def write_page(
    path: Path,
    frame: pl.LazyFrame,
    roles: Roles,
    order: Order,
    tell: Callable[[str], object] = str,  # tell nobody
    *,
    totals: pl.DataFrame | None = None,
) -> ValueError | TypeError | None:
    """Write the page of a log, and return why it has no report, if so; see `page`."""
    refuse_missing_folder(path)
    made, refusal = made_page(frame, roles, order, tell, totals=totals)
    write_whole(path, made.html())
    return refusal


def made_page(
    frame: pl.LazyFrame,
    roles: Roles,
    order: Order,
    tell: Callable[[str], object] = str,  # tell nobody
    *,
    totals: pl.DataFrame | None = None,
) -> tuple[Page, ValueError | TypeError | None]:
    """The page of a log: its report, or its coverage and the error that refuses a report.

    The log is read once. `tell` gets a word before each step; `totals` has trials and score of each
    run as its tool gives them.
    """
    tell("reading the log")
    look = LogSummary.read(frame, roles, totals)
    coverage = look.describe()
    of_costs = [metric for metric in order.metrics if metric.looks_at == "costs"]
    tell("reporting, ranking and comparing")
    try:
        verdict = log_verdict(look, coverage, order.metrics, order.settings)
        main = verdict.main
        with without_repeated_warnings():
            against = None
            if order.baseline is not None and not main.biased:
                against = baseline_rows(main, order.baseline, order.settings)
            known = of_costs or knows_success(main.counts, main.roles, main.metrics)
            costs = cost_section(frame, roles, order.settings, of_costs) if known else None
    except (ValueError, TypeError) as error:
        return _refusal_page(look, coverage, order, error), error
    tell("drawing")
    with without_repeated_warnings():
        made = _report_page(look, coverage, order, verdict, against)
    sections = made.sections if costs is None else [*made.sections, costs]
    return replace(made, sections=sections), None


def _report_page(
    look: LogSummary,
    coverage: pl.DataFrame,
    order: Order,
    verdict: LogVerdict,
    against: BaselineRows | None,
) -> Page:
    """The page of a log with its verdict, but for its costs."""
    overall, parts = verdict.overall, verdict.parts
    said = {"headline": verdict.headline, "basis": verdict.basis, "outcomes": verdict.outcomes}
    numbers: dict[str, object] = {
        "overall": None if overall is None else _scope_frames(overall),
        "strata": {part.name: _stratum_frames(part) for part in parts},
    }
    if against is not None:
        gates = against.gates.select(_GATE_NUMBERS)
        numbers["baseline"] = {"gates": gates, "changed": against.changed}
    page = _made_page(look, coverage, order, verdict.metrics, verdict.alerts, said, numbers)
    return replace(
        page, sections=[*page_sections(look, verdict, coverage, order.settings, against)]
    )


def _made_page(
    look: LogSummary,
    coverage: pl.DataFrame,
    order: Order,
    metrics: Sequence[Metric],
    alerts: Sequence[Alert],
    said: dict[str, str],
    numbers: dict[str, object],
) -> Page:
    """A page without sections: what it says, and its numbers."""
    about = method_notes(
        look.cells, metrics, order.settings, call=order.call, version=order.version
    )
    texts = said | {"alerts": [f"{alert.title}. {alert.text}" for alert in alerts]}
    return Page(
        title=order.title,
        summary=_log_size(look, coverage),
        **said,
        refused=False,
        alerts=alerts,
        sections=(),
        about=about,
        numbers={
            "title": order.title,
            **texts,
            "about": about.facts,
            "coverage": coverage,
            **numbers,
        },
    )


def _scope_frames(scope: Scope) -> dict[str, pl.DataFrame | list[str]]:
    """The models and frames of the whole log, or of the stratum that the verdict is about."""
    ranks = {"ranks": scope.ranks, "pairs": page_pairs(scope), "trials_needed": scope.needed}
    shown = {} if scope.biased or len(scope.models) == 1 else ranks
    return {"models": scope.models, "report": scope.rows, **shown}


def _stratum_frames(scope: Scope) -> dict[str, pl.DataFrame]:
    """The frames of a stratum."""
    numbers = ["model", "metric", "k", "estimate", "mu", "lo", "hi"]
    frames = {"report": scope.rows.select(numbers)}
    if not scope.biased:
        frames["ranks"] = scope.ranks.select("model", "rank_lo", "rank_hi")
    return frames


def _refusal_page(look: LogSummary, coverage: pl.DataFrame, order: Order, error: Exception) -> Page:
    alerts = [*coverage_alerts(look, coverage)] if coverage.height else []
    outcomes = outcome_words(look, order.metrics)
    said = {"headline": refusal_words(error), "basis": "", "outcomes": outcomes}
    page = _made_page(look, coverage, order, order.metrics, alerts, said, {})
    numbers = {"title": order.title, "refused": str(error)}
    numbers |= {name: page.numbers[name] for name in ("about", "coverage")}
    sections = [coverage_section(coverage, whole=True)]
    return replace(page, refused=True, sections=sections, numbers=numbers)


def _log_size(look: LogSummary, coverage: pl.DataFrame) -> str:
    """How large the log is; the steps of a run have the same questions, other strata have not."""
    strata = [
        count_of(coverage[name].n_unique(), "stratum").replace("stratums", "strata")
        for name in ("stratum",)
        if name in coverage.columns
    ]
    return " \N{MIDDLE DOT} ".join(
        [
            count_of(coverage["model"].n_unique(), "model"),
            *strata,
            count_of(look.question_count, "question"),
            count_of(int(coverage["trials"].sum()), "trial"),
        ]
    )
