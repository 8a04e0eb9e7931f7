"""The page of a log: its blocks, its numbers as data, and the command to type next."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Any

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.display.blocks import (
    Account,
    Alert,
    CardBlocks,
    Figure,
    MethodNotes,
    Next,
    PageBlocks,
    Section,
    TableBlock,
    Text,
    Tone,
)
from polars_scorio.display.facts.gate_facts import CaseFacts
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.log_verdict import (
    CountedOutcomes,
    LogGaps,
    counts_hash,
    covered_models,
)
from polars_scorio.display.facts.question_facts import QuestionFacts
from polars_scorio.display.facts.ranking_facts import AllPairs, Duel, Strata
from polars_scorio.display.facts.role_facts import FlakyFacts, JudgeFacts, RerunFacts
from polars_scorio.display.facts.run_facts import SeveralRuns, StepQuestions
from polars_scorio.display.facts.scopes import Scope, lead_rows, without_repeated_warnings
from polars_scorio.display.media.html import finding_html, page_html, scoped_html
from polars_scorio.display.media.markdown import page_markdown
from polars_scorio.display.numbers import MANY, plain_text
from polars_scorio.display.phrases import count_of, these_questions, visible_text
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import Story, StoryOptions, read_story
from polars_scorio.display.words.answer_words import check_title
from polars_scorio.display.words.gate_words import cases_section
from polars_scorio.display.words.log_words import (
    coverage_block,
    foot_words,
    gap_alerts,
    log_alerts,
    method_notes,
    outcome_words,
    size_words,
    tested_rows,
)
from polars_scorio.display.words.ranking_words import other_metrics, refusal_steps, tell_refusal
from polars_scorio.display.words.role_words import (
    cost_section,
    flaky_section,
    judge_section,
    readings_section,
)
from polars_scorio.display.words.run_words import (
    gains_section,
    gains_table,
    runs_section,
    step_questions_section,
    steps_figures,
)
from polars_scorio.display.words.section_words import (
    duel_section,
    pairs_section,
    questions_section,
    reliability_section,
    strata_section,
)
from polars_scorio.metrics.from_text import check_metrics
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.count_checks import SPOKEN

_DIGITS = 6  # significant ones of the numbers in JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(PageBlocks):
    """A page with its numbers as data."""

    numbers: dict[str, Any]
    rows: pl.DataFrame  # the report, for a spreadsheet

    @property
    def headline(self) -> str:
        """The title as plain text."""
        return plain_text(self.account.title.words)

    def with_words(self, say: Callable[[str], str]) -> Page:
        """The page in the words of who asked for it: a command has no keywords."""
        alerts = [Alert(alert.title, say(alert.text)) for alert in self.alerts]
        account = worded_account(self.account, say, "alert", "lede" if self.refused else "aside")
        tests = [(asks, p, verdict, say(sentence)) for asks, p, verdict, sentence in self.tests]
        checked = say(self.checked)
        return replace(self, alerts=alerts, account=account, checked=checked, tests=tests)

    def html(self) -> str:
        """The page as one file."""
        return page_html(self, {"json": self.json(), "csv": self.rows.write_csv()})

    def markdown(self) -> str:
        """The page without its pictures and its data, for a terminal."""
        return page_markdown(self)

    def json(self) -> str:
        """The numbers of the page."""
        return json.dumps(
            self.numbers, default=_json_value, ensure_ascii=False, separators=(",", ":")
        )


def _json_value(value: object) -> object:
    """A frame as its columns and rows, which JSON knows."""
    if isinstance(value, pl.DataFrame):
        rounded = value.with_columns(pl.col(pl.Float64, pl.Float32).round_sig_figs(_DIGITS))
        return {"columns": value.columns, "rows": rounded.rows()}
    return str(value)


def account_words(account: Account) -> str:
    """Title, numbers and aside without marks."""
    return plain_text(" ".join(filter(None, [account.title.words, account.lede, account.aside])))


def worded_account(account: Account, say: Callable[[str], str], *roles: Tone) -> Account:
    """An account whose texts of some roles are in the words of who asked for it."""
    said = [
        replace(each, words=say(each.words))
        if isinstance(each, Text) and each.role in roles
        else each
        for each in account.blocks
    ]
    return Account(said)


_GATE_NUMBERS = ("metric", "k", "stratum", "model", "baseline", "diff", "lo", "hi", "verdict")


@dataclass(frozen=True, slots=True)
class PageCall:
    """Options of a page, its title, and by what call it was made."""

    asked: StoryOptions
    roles: Roles
    title: str
    call: str
    typed: Callable[..., list[str]] | None = None  # words of a command like the call; else Python

    @classmethod
    def from_options(
        cls, asked: StoryOptions, roles: Roles, name: str, *, title: str | None = None,
        call: str | None = None, typed: Callable[..., list[str]] | None = None,
    ) -> PageCall:  # fmt: skip
        """Request of a method or a command, whose file is called `name`.

        Without `title` the name is the title; without `call` the call is that of the method.
        """
        if asked.metrics:
            check_metrics(asked.metrics, "write_html")
        gate = {"baseline": asked.baseline, "margin": asked.margin}
        against = [f"{word}={value!r}" for word, value in gate.items() if value is not None]
        words = [repr(name), *map(str, asked.metrics), *against, *_typed_keywords(asked.settings)]
        call = call or f"{_typed_log(roles)}.write_html({', '.join(words)})"
        return cls(asked, roles, title or name, call, typed)

    def notes(self, log: LogSummary, metrics: Sequence[Metric]) -> MethodNotes:
        """How the page is made."""
        return method_notes(counts_hash(log.cells), metrics, self.asked.settings, self.call)


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


def made_page(
    frame: pl.LazyFrame,
    roles: Roles,
    order: PageCall,
    tell: Callable[[str], object] = str,  # tell nobody
    *,
    totals: pl.DataFrame | None = None,
) -> tuple[Page, ValueError | TypeError | None]:
    """The page of a log: its story, or its coverage and the error that refuses a report.

    `tell` gets a word before each step; `totals` has trials and score of each run as its tool gives
    them.
    """
    log, coverage, story = read_story(frame, roles, order.asked, totals=totals, tell=tell)
    if not isinstance(story, Story):
        return _refusal_page(log, coverage, order, story), story
    tell("drawing")
    with without_repeated_warnings():
        return story_page(story, order), None


def story_page(story: Story, order: PageCall) -> Page:
    """The page of a log that can be scored."""
    log, verdict, account, rows = story.log, story.verdict, story.account, story.sheet.main.rows
    if story.divided:
        named = [part.rows.with_columns(stratum=pl.lit(part.name)) for part in verdict.parts]
        rows = pl.concat(named, how="diagonal_relaxed")
    about = order.notes(log, verdict.metrics)
    if story.gated is not None:
        about = replace(about, sentences=())
    covered = covered_models(story.coverage)
    alerts, outcomes = log_alerts(verdict), outcome_words(verdict.outcomes)
    texts = {"outcomes": outcomes, "alerts": [f"{each.title}. {each.text}" for each in alerts],
             "about": about.facts, "coverage": covered}  # fmt: skip
    return Page(
        title=order.title,
        summary=size_words(verdict.gaps),
        account=Account([*account.blocks, Next(story.steps, _next_command(story, order))]),
        alerts=alerts,
        figures=first_figures(story),
        sections=[*_page_sections(story)],
        outcomes=outcomes,
        checked=foot_words(verdict.findings),
        about=about,
        numbers={"title": order.title, **_account_texts(account), **texts, **_story_data(story)},
        rows=rows.select(pl.exclude(pl.List, pl.Struct)),
        folds=_folded_tables(story, covered),
        tests=tested_rows(verdict.findings),
    )


def _account_texts(account: Account) -> dict[str, str | list[str]]:
    """Title, numbers and basis without marks."""
    lede = plain_text(" ".join(account.texts("lede", "aside")))
    basis = [*map(plain_text, account.basis)]
    return {"headline": plain_text(account.title.words), "lede": lede, "basis": basis}


def _story_data(story: Story) -> dict[str, object]:
    """The numbers of a story, as frames."""
    overall, gated = story.verdict.overall, story.gated
    strata = {part.name: _stratum_scores(part) for part in story.verdict.parts}
    whole, data = None if overall is None else _scope_frames(overall), dict[str, object]()
    if gated is not None:
        gates = gated.gate.rows.select(*_GATE_NUMBERS)
        data["baseline"] = {"gates": gates, "changed": gated.all_changed()}
    return {"overall": whole, "strata": strata, **data}


def _folded_tables(story: Story, covered: pl.DataFrame) -> dict[str, TableBlock]:
    """The tables at the foot of a page."""
    tables = {"Coverage of each model": coverage_block(covered.to_dict(as_series=False))}
    if story.questions and story.asked.metrics:
        tables["Other metrics"] = other_metrics(story.ranking())
    return {title: table for title, table in tables.items() if len(table.columns) > 1}


def first_figures(story: Story) -> Sequence[Figure]:
    """The first figures: what the title is about."""
    if story.run is not None:
        return steps_figures(story.run)
    if story.divided:
        whole = Strata.from_sheet(story.sheet, story.verdict.parts, story.log.noun)
        return strata_section(whole).figures
    return [] if story.account.table is None else [story.account.table]


def _page_sections(story: Story) -> Iterator[Section]:
    """The sections in their order; those without content have no picture and are not written."""
    sheet, questions = story.sheet, story.questions
    if questions is None:
        return
    if story.gated is not None:
        yield cases_section(CaseFacts.from_log(story.gated, questions))
        yield reliability_section(story.fan)
        if len(sheet.board.models) > 2:
            yield questions_section(questions)
    elif story.run is not None:
        yield gains_section(story.run.curve)
        yield step_questions_section(StepQuestions.from_summary(story.run, story.verdict.counted))
    elif len(sheet.board.models) > 1:
        yield from _ranking_sections(story, questions)
    else:
        yield reliability_section(story.fan)
        yield from _sections_of_roles(story)
        yield flaky_section(FlakyFacts(questions, RerunFacts.from_sheet(sheet)))


def _ranking_sections(story: Story, questions: QuestionFacts) -> Iterator[Section]:
    """Several models: costs, judge and steps first, where somebody gave them."""
    sheet = story.sheet
    yield from _sections_of_roles(story)
    if sheet.main.errored:
        yield readings_section(story.ranking())
    elif story.log.steps is not None:
        yield runs_section(SeveralRuns.from_summary(story.verdict.counted.of_shared_steps(), sheet))
    if sheet.board.ranked:
        if not sheet.main.errored:
            yield duel_section(Duel.from_sheet(sheet, questions.scores[:2]))
        if story.parts:
            yield strata_section(Strata.from_sheet(sheet, story.parts, story.log.noun))
        yield pairs_section(AllPairs.from_sheet(sheet))
    yield reliability_section(story.fan)
    yield questions_section(questions)


def _sections_of_roles(story: Story) -> Iterator[Section]:
    if story.prices is not None:
        yield cost_section(story.prices)
    if story.sheet.main.judged:
        yield judge_section(JudgeFacts.from_sheet(story.sheet))


def _next_command(story: Story, order: PageCall) -> str:
    """A line to type for that, in the words of who asked."""
    command, changes = _next_question(story)
    if order.typed is not None:
        words = order.typed(command, **changes) if command else []
        return shlex.join(["polars-scorio", *words]) if words else ""
    roles, metric, settings = order.roles, changes.pop("metric", None), story.asked.settings
    if "model" in changes:
        roles = replace(roles, model=changes.pop("model"), by=changes.pop("by"))
        settings = replace(settings, overall=changes.pop("overall"))
    typed = [f"metric={metric}"] if metric is not None else []
    if story.gated is not None and command == "gate":
        typed = [repr(story.gated.baseline), f"margin={story.asked.margin}", *typed]
    typed += _typed_keywords(replace(settings, overall=None)) * (command not in {"reruns", "check"})
    typed += [f"{name}={value!r}" for name, value in changes.items()]
    return f"{_typed_log(roles)}.{command}({', '.join(typed)})" if command else ""


def _next_question(story: Story) -> tuple[str, dict[str, Any]]:
    """The command, or method, that asks what a page asks, and options beside those of the page."""
    if story.verdict.bias is not None:
        return "check", {}
    of_steps = story.run is not None and story.log.shared_by_steps is not None
    keeps = {"unmatched": "drop"} if of_steps or story.coverage["missing"].sum() > 0 else {}
    if story.run is not None:  # its steps are ranked by one try
        steps = {"model": story.run.name, "by": (), "metric": None, "overall": None}
        return "rank", {**steps, **keeps}
    main = story.sheet.main
    metric = {"metric": str((story.gated or main).lead)} if story.asked.metrics else {}
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


def _refusal_page(log: LogSummary, cover: pl.DataFrame, order: PageCall, error: Exception) -> Page:
    about = replace(order.notes(log, order.asked.metrics), sentences=())
    gaps = LogGaps.from_log(log, cover)
    further = Next(refusal_steps(), _ways_out(str(error), order))
    return Page(
        title=order.title,
        summary=size_words(gaps),
        account=Account([*tell_refusal(error).blocks, further]),
        refused=True,
        alerts=gap_alerts(gaps) if cover.height else [],
        figures=[coverage_block(covered_models(cover).to_dict(as_series=False))],
        outcomes=outcome_words(CountedOutcomes.from_log(log, order.asked.metrics)),
        about=about,
        numbers={"title": order.title, "refused": str(error), "about": about.facts,
                 "coverage": cover},
        rows=cover.select(pl.exclude(pl.List, pl.Struct)),
    )  # fmt: skip


_WAY_OUT = re.compile(r'\b(missing|unscored)=("[a-z]+"|-?\d+)')  # in a message


def _ways_out(reason: str, order: PageCall) -> str:
    """Lines to type: what the log has, and its page with each option that a message gives."""
    ways = [{name: json.loads(value)} for name, value in dict.fromkeys(_WAY_OUT.findall(reason))]
    if order.typed is not None:
        asked = [order.typed("describe"), *(order.typed("report", **way) for way in ways)]
        return "\n".join(shlex.join(["polars-scorio", *words]) for words in asked if words)
    log = _typed_log(order.roles)
    again = [order.call.replace(log, _typed_log(replace(order.roles, **way)), 1) for way in ways]
    return "\n".join([f"{log}.describe()", *again])


def story_card(story: Story, title: str | None = None) -> CardBlocks:
    """The card of a story; `title` is a line above its finding."""
    account, sheet = story.account, story.sheet
    count = count_of(story.log.question_count if story.divided else sheet.asked, "question")
    if sheet.main.each and not story.divided:
        count += f" \N{MULTIPLICATION SIGN} {count_of(sheet.main.each, 'trial')}"
    many = len(story.log.models)
    models = f"{count_of(many, 'model')}, " if many > 1 else ""
    few = account.title.chip if account.title.chip.endswith(these_questions(sheet.asked)) else ""
    about = " \N{MIDDLE DOT} ".join(filter(None, (title, f"{models}{count}", few)))
    table = account.table if story.run is None else gains_table(story.run.curve)
    lower = sheet.main.roles.lower_is_better
    return CardBlocks(account, about, None if story.divided else table, lower)


def finding_table(frame: pl.LazyFrame, roles: Roles, asked: StoryOptions) -> str:
    """Title, numbers and first picture of the page of a log; nothing where rows say otherwise."""
    *_, story = read_story(frame, roles, asked)
    if not isinstance(story, Story):
        return ""
    if asked.gates is None and story.verdict.runs == "untold":
        return ""
    account = story.account
    return finding_html(account, [account.table] if account.table else first_figures(story))


def checked_table(rows: pl.DataFrame) -> str:
    """Sentences of alarms above the rows of a check, or how many tests found nothing."""
    said = " ".join(rows.filter(pl.col("verdict").is_in(SPOKEN))["sentence"])
    quiet, *_ = check_title(dict(rows["verdict"].value_counts().iter_rows()), checked=True)
    title = f'<p class="t">{escape(said or quiet)}</p>'
    return scoped_html(title) + visible_text(rows._repr_html_())
