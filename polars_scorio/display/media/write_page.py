"""The whole page of a log, written to a file."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.arguments import value_text
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.scopes import MANY, Scope
from polars_scorio.display.finding import html_text, plain_text
from polars_scorio.display.media.cost_sections import cost_advice, cost_section, judge_section
from polars_scorio.display.media.gate_sections import (
    cases_section,
    gate_hero,
    next_of_gate,
    plain_lines,
)
from polars_scorio.display.media.marks import file_text
from polars_scorio.display.media.page import Page, Section
from polars_scorio.display.media.sections import (
    QuestionFacts,
    duel_section,
    forest,
    forest_note,
    forest_table,
    metrics_table,
    number_table,
    pairs_section,
    questions_section,
    reliability_section,
    strata_section,
)
from polars_scorio.display.media.step_sections import (
    gains_section,
    next_of_steps,
    runs_section,
    step_questions_section,
    steps_hero,
)
from polars_scorio.display.media.story import (
    Story,
    Wishes,
    next_of_ranking,
    read_story,
    refusal_finding,
)
from polars_scorio.display.media.unranked_sections import (
    flaky_section,
    next_of_errored,
    next_of_one,
    one_model_hero,
    readings_section,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict import (
    RUNS_UNTOLD,
    coverage_alerts,
    gate_sentences,
    lead_label,
    lead_rows,
    method_notes,
    outcome_words,
    without_repeated_warnings,
)
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.display.words.phrases import (
    count_of,
    installed_version,
    range_text,
    short_name,
    visible_text,
)
from polars_scorio.metrics.from_text import check_metrics
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.count_checks import SPOKEN

_GATE_NUMBERS = ("metric", "k", "stratum", "model", "baseline", "diff", "lo", "hi", "verdict")


@dataclass(frozen=True, slots=True)
class Order:
    """Metrics, options and title of a page."""

    metrics: tuple[Metric, ...]  # empty: what suits the log
    settings: Settings
    title: str
    call: str
    version: str
    roles: Roles
    baseline: Category | None = None  # compared with all others
    typed: Callable[..., list[str]] | None = None  # words of a command like the call; else Python
    margin: float | None = None  # of the gate against the baseline
    gates: pl.DataFrame | None = None  # rows of a gate that was taken already

    @classmethod
    def from_metrics(
        cls,
        metrics: Sequence[Metric],
        settings: Settings,
        roles: Roles,
        name: str,
        *,
        title: str | None = None,
        call: str | None = None,
        baseline: Category | None = None,
        margin: float | None = None,
        typed: Callable[..., list[str]] | None = None,
    ) -> Order:
        """Request of a method or a command, whose file is called `name`.

        Without `title` the name is the title; without `call` the call is that of the method.
        """
        if not isinstance(baseline, Category | None):
            raise TypeError(f"baseline must be a model or None, got {value_text(baseline)}")
        if metrics:
            check_metrics(metrics, "write_html")
        gate = {"baseline": baseline, "margin": margin}
        against = [f"{word}={value!r}" for word, value in gate.items() if value is not None]
        words = [repr(name), *map(str, metrics), *against, *_typed_keywords(settings)]
        call = call or f"{_typed_log(roles)}.write_html({', '.join(words)})"
        title, version = title or name, installed_version()
        return cls(tuple(metrics), settings, title, call, version, roles, baseline, typed, margin)


def _typed_log(roles: Roles) -> str:
    """A log with its roles, as one would type it."""
    words = _typed_keywords(roles)
    return f"df.scorio({', '.join(words)})" if words else "df.scorio"


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
    """Write the page of a log, and return why it has no report, if so; see `made_page`."""
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
    """The page of a log: its story, or its coverage and the error that refuses a report.

    `tell` gets a word before each step; `totals` has trials and score of each run as its tool gives
    them.
    """
    asked = Wishes(order.metrics, order.settings, order.baseline, order.margin, order.gates)
    log, coverage, story = read_story(frame, roles, asked, totals=totals, tell=tell)
    if not isinstance(story, Story):
        return _refusal_page(log, coverage, order, story), story
    tell("drawing")
    with without_repeated_warnings():
        return story_page(story, order), None


def story_page(story: Story, order: Order) -> Page:
    """The page of a log that can be scored."""
    log, verdict, finding, rows = story.log, story.verdict, story.finding, story.sheet.main.rows
    if story.divided:
        named = [part.rows.with_columns(stratum=pl.lit(part.name)) for part in verdict.parts]
        rows = pl.concat(named, how="diagonal_relaxed")
    about = method_notes(
        log.cells, verdict.metrics, order.settings, call=order.call, version=order.version
    )
    if story.gated is not None:
        _, margin, level, _ = finding.basis
        about = replace(about, sentences=gate_sentences(level, margin.removeprefix("margin ")))
    overall, covered = verdict.overall, covered_models(story.coverage)
    numbers: dict[str, object] = {
        "title": order.title,
        "headline": plain_text(finding.title),
        "lede": plain_text(" ".join(filter(None, (finding.numbers, finding.aside)))),
        "basis": [*map(plain_text, finding.basis)],
        "outcomes": verdict.outcomes,
        "alerts": [f"{alert.title}. {alert.text}" for alert in verdict.alerts],
        "about": about.facts,
        "coverage": covered,
        "overall": None if overall is None else _scope_frames(overall),
        "strata": {part.name: _stratum_scores(part) for part in verdict.parts},
    }
    if story.gated is not None:
        gates = story.gated.rows.select(*_GATE_NUMBERS)
        numbers["baseline"] = {"gates": gates, "changed": story.gated.changed()}
    return Page(
        title=order.title,
        summary=log_size(log, story.coverage),
        finding=finding,
        refused=False,
        alerts=verdict.alerts,
        hero=_first_picture(story),
        sections=[*_page_sections(story)],
        todo=_next_steps(story),
        command=_next_command(story, order),
        outcomes=verdict.outcomes,
        checked=verdict.checked,
        about=about,
        numbers=numbers,
        rows=rows.select(pl.exclude(pl.List, pl.Struct)),
        folds={
            "Coverage of each model": coverage_table(covered),
            "Other metrics": metrics_table(story.sheet) * bool(story.facts and story.asked.metrics),
        },
    )


def _first_picture(story: Story) -> Section:
    """The first picture: what the title is about."""
    sheet, table = story.sheet, forest_table(story.sheet)
    if story.gated is not None:
        return Section("leaderboard", "", [], gate_hero(story.gated), plain_lines(story.gated))
    if story.run is not None:
        drawn = steps_hero(story.run, sheet.settings.level)
    elif len(sheet.board.models) == 1 and not story.divided:
        drawn = one_model_hero(sheet, story.like, story.parts)
    else:
        drawn = forest_picture(story) + forest_note(sheet)
    return Section("leaderboard", "", [], drawn, table)


def forest_picture(story: Story) -> str:
    """The leaderboard, with costs or errored trials where they are known."""
    sheet = story.sheet
    if story.divided:
        return strata_section(sheet, story.verdict.parts, story.log.noun).figure
    label, level = lead_label(sheet.main), sheet.settings.level
    return forest(sheet.board, label, level, last=story.beside_scores())


def _page_sections(story: Story) -> Iterator[Section]:
    """The sections in their order; those without content have no picture and are not written."""
    if story.facts is None:
        return
    if story.gated is not None:
        names = story.sheet.board.models
        yield cases_section(story.gated, story.facts, names)
        yield reliability_section(story.fan, ["a", "m", *["o"] * len(names)])
        if len(names) > 2:
            yield questions_section(story.sheet, story.facts)
    elif story.run is not None:
        yield gains_section(story.run, story.sheet.settings)
        yield step_questions_section(story.run, story.verdict.counted)
    elif len(story.sheet.board.models) > 1:
        yield from _ranking_sections(story, story.facts)
    else:
        yield from _reliability_sections(story)
        yield from _sections_of_roles(story)
        yield flaky_section(story.facts, story.sheet)


def _ranking_sections(story: Story, facts: QuestionFacts) -> Iterator[Section]:
    """Several models: costs, judge and steps first, where somebody gave them."""
    sheet = story.sheet
    yield from _sections_of_roles(story)
    if sheet.main.errored:
        yield readings_section(sheet)
    elif story.log.steps is not None:
        yield runs_section(story.verdict.counted.of_shared_steps(), sheet)
    if sheet.board.ranked:
        yield Section("duel", "", []) if sheet.main.errored else duel_section(sheet)
        if story.parts:
            yield strata_section(sheet, story.parts, story.log.noun)
        yield pairs_section(sheet)
    yield from _reliability_sections(story)
    yield questions_section(sheet, facts)


def _sections_of_roles(story: Story) -> Iterator[Section]:
    if story.prices is not None:
        yield cost_section(story.sheet, story.prices)
    if story.sheet.main.judged:
        yield judge_section(story.sheet)


def _reliability_sections(story: Story) -> Iterator[Section]:
    board = story.sheet.board
    hues = [*map(board.hue, range(len(board.models)))]
    yield reliability_section(story.fan, hues)


def _next_steps(story: Story) -> list[str]:
    """Advice on what to do next."""
    gated = story.gated
    if gated is not None and story.sheet.main.errored and gated.worst["verdict"] == "undecided":
        return next_of_errored(story.sheet, [str(gated.worst["model"]), gated.baseline])
    if gated is not None:
        return next_of_gate(gated)
    if story.run is not None:
        return next_of_steps(story.run)
    if story.divided:
        return [f"Run all models on one {story.log.noun}, or rank those of each by itself."]
    if len(story.sheet.board.models) == 1:
        return next_of_one(story.sheet)
    return next_of_ranking(
        story.sheet, cost_advice(story.sheet, story.prices) if story.prices else ""
    )


def _next_command(story: Story, order: Order) -> str:
    """A line to type for that, in the words of who asked."""
    command, changes = _next_question(story)
    if order.typed is not None:
        words = order.typed(command, **changes) if command else []
        return shlex.join(["polars-scorio", *words]) if words else ""
    roles, metric, settings = order.roles, changes.pop("metric", None), story.asked.settings
    if story.run is not None:
        roles = replace(roles, model=changes.pop("model"), by=changes.pop("by"))
        settings = replace(settings, overall=changes.pop("overall"))
    typed = [f"metric={metric}"] * (metric is not None)
    if story.gated is not None:
        typed = [repr(story.gated.baseline), f"margin={story.asked.margin}", *typed]
    typed += _typed_keywords(replace(settings, overall=None)) * (command != "reruns")
    typed += [f"{name}={value!r}" for name, value in changes.items()]
    return f"{_typed_log(roles)}.{command}({', '.join(typed)})" if command else ""


def _next_question(story: Story) -> tuple[str, dict[str, Any]]:
    """The command, or method, that asks what a page asks, and options beside those of the page."""
    of_steps = story.run is not None and story.log.shared_by_steps is not None
    lacking = of_steps or story.coverage["missing"].sum() > 0
    keeps = {"unmatched": "drop"} if lacking else {}
    if story.run is not None:  # its steps are ranked by one try
        steps = {"model": story.run.name, "by": (), "metric": None, "overall": None}
        return "rank", {**steps, **keeps}
    main = story.sheet.main
    lead = main.lead if story.gated is None else story.gated.lead
    metric = {"metric": str(lead)} if story.asked.metrics else {}
    if story.divided:
        return "rank", {**metric, **keeps}
    if len(story.sheet.board.models) == 1:
        return "" if main.judged else "reruns", metric
    overall = {} if main.overall is None else {"overall": main.overall}
    return "compare" if story.gated is None else "gate", {**metric, **overall, **keeps}


def _scope_frames(scope: Scope) -> dict[str, pl.DataFrame | list[str]]:
    """The models and frames of the whole log, or of the stratum that the finding is about."""
    ranks = {"ranks": scope.ranks, "pairs": page_pairs(scope), "trials_needed": scope.needed}
    frames = {} if len(scope.models) == 1 else ranks
    return {"models": scope.models, "report": scope.rows, **frames}


def page_pairs(scope: Scope) -> pl.DataFrame:
    """The pairs of a page; of many models only those of the first one.

    The file would grow with the square of their number.
    """
    columns = ("model_a", "model_b", "diff", "lo", "hi", "prob_better", "better")
    pairs = scope.pairs.select(columns).fill_nan(None)
    if len(scope.models) > MANY:
        first = scope.models[0]
        pairs = pairs.filter(pl.any_horizontal(pl.col("model_a", "model_b") == first))
    return pairs


def _stratum_scores(scope: Scope) -> pl.DataFrame:
    """Scores of a stratum by the leading metric, and the ranks."""
    scores = lead_rows(scope).select("model", "mu", "lo", "hi")
    return scores.join(scope.ranks["model", "rank_lo", "rank_hi"], on="model")


def _refusal_page(log: LogSummary, coverage: pl.DataFrame, order: Order, error: Exception) -> Page:
    about = method_notes(
        log.cells, order.metrics, order.settings, call=order.call, version=order.version
    )
    about = replace(about, sentences=())
    return Page(
        title=order.title,
        summary=log_size(log, coverage),
        finding=refusal_finding(error),
        refused=True,
        alerts=[*coverage_alerts(log, coverage)] if coverage.height else [],
        hero=Section("leaderboard", "", [], coverage_table(covered_models(coverage))),
        sections=[],
        todo=["Look at what the log has, then take one of the ways out that the message names."],
        command=_ways_out(str(error), order),
        outcomes=outcome_words(log, order.metrics),
        checked="",
        about=about,
        numbers={"title": order.title, "refused": str(error), "about": about.facts,
                 "coverage": coverage},
        rows=coverage.select(pl.exclude(pl.List, pl.Struct)),
        folds={},
    )  # fmt: skip


_WAY_OUT = re.compile(r'\b(missing|unscored)=("[a-z]+"|-?\d+)')  # in a message


def _ways_out(reason: str, order: Order) -> str:
    """Lines to type: what the log has, and its page with each option that a message gives."""
    ways = [{name: json.loads(value)} for name, value in dict.fromkeys(_WAY_OUT.findall(reason))]
    if order.typed is not None:
        asked = [order.typed("describe"), *(order.typed("report", **way) for way in ways)]
        return "\n".join(shlex.join(["polars-scorio", *words]) for words in asked if words)
    log = _typed_log(order.roles)
    again = [order.call.replace(log, _typed_log(replace(order.roles, **way)), 1) for way in ways]
    return "\n".join([f"{log}.describe()", *again])


def log_size(log: LogSummary, coverage: pl.DataFrame) -> str:
    """How large the log is; the steps of a run have the same questions, other strata have not."""
    sizes = [count_of(coverage["model"].n_unique(), "model")]
    if "stratum" in coverage.columns and coverage["stratum"].n_unique() > 1:
        noun = "step" if log.steps is not None else "stratum"
        sizes.append(count_of(coverage["stratum"].n_unique(), noun))
    words = ", ".join([*sizes, count_of(log.question_count, "question")])
    if coverage.height and {"n_min", "n_max"} <= {*coverage.columns}:
        least, most = coverage.select(pl.col("n_min").min(), pl.col("n_max").max()).row(0)
        if most is not None:
            each = range_text(least, most)
            words += f" \N{MULTIPLICATION SIGN} {each} trial{'' if most == 1 else 's'}"
    return words


def covered_models(coverage: pl.DataFrame) -> pl.DataFrame:
    """The coverage of each model, over all strata."""
    numbers = ["questions", "missing", "trials", "nulls", "duplicates"]
    known = [name for name in numbers if coverage[name].null_count() < coverage.height]
    each = coverage.group_by("model", maintain_order=True).agg(pl.col(known).sum())
    columns = [name for name in known if name in {"questions", "trials"} or each[name].sum()]
    return each.select("model", *columns).sort("model")


def coverage_table(models: pl.DataFrame) -> str:
    """The coverage of models, of the first hundred."""
    first, *heads = map(escape, models.columns)
    rows = models.head(100).cast(pl.String).iter_rows()
    lines = [("", escape(short_name(name)), rest) for name, *rest in rows]
    return number_table("What is in the log", first, heads, lines)


def finding_table(frame: pl.LazyFrame, roles: Roles, asked: Wishes) -> str:
    """Title, numbers and first picture of the page of a log; nothing where rows say otherwise."""
    *_, story = read_story(frame, roles, asked)
    if not isinstance(story, Story):
        return ""
    if asked.gates is None and RUNS_UNTOLD in [alert.title for alert in story.verdict.alerts]:
        return ""
    finding = story.finding
    drawn = forest_picture(story) if story.gated is None else gate_hero(story.gated)
    # Outputs of a notebook share one page, and an id is there once.
    drawn = drawn.replace('grid"', f'grid-{hashlib.sha256(drawn.encode()).hexdigest()[:8]}"')
    facts = " \N{MIDDLE DOT} ".join(map(html_text, (finding.numbers, *finding.basis)))
    return _scoped_html(
        f'<p class="t">{html_text(finding.title)}</p><p class="l">{facts}</p>{drawn}'
    )


def checked_table(rows: pl.DataFrame) -> str:
    """Sentences of alarms above the rows of a check, or that there is none."""
    said = " ".join(rows.filter(pl.col("verdict").is_in(SPOKEN))["sentence"])
    title = f'<p class="t">{escape(said or "Nothing found.")}</p>'
    return _scoped_html(title) + visible_text(rows._repr_html_())


def _scoped_html(body: str) -> str:
    style = file_text("notebook.css")
    return f'<div class="scorio"><style>{style}</style>{visible_text(body)}</div>'
