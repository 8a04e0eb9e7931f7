"""The page: what it says and shows, rendered as HTML or as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import polars as pl

from polars_scorio.display.finding import Finding, html_text, plain_text
from polars_scorio.display.media.marks import file_text
from polars_scorio.display.table import Table, markdown_table, markdown_text
from polars_scorio.display.verdict import About, Alert
from polars_scorio.display.words.phrases import visible_text

_INTERVAL = re.compile(r"(?<= )\\\[([-+\N{MINUS SIGN}<>\d. ,]+)\\\](?=[ ;,.]|$)")
_CLAUSE = re.compile(r"(.*?)(?:([.,:](?= |$))|$)(.*)", re.DOTALL)  # the first one of a sentence
_DIGITS = 6  # significant ones of the numbers in JSON
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath d='M1 8h14' stroke='%230b63c0' stroke-width='3' stroke-linecap='round'/%3E"
    "%3Ccircle cx='9' cy='8' r='4' fill='%230b63c0'/%3E%3C/svg%3E"
)
_DOT = " \N{MIDDLE DOT} "
# What an attribute, or an address, would read as something else.
_ESCAPES = {ord(each): f"%{ord(each):02X}" for each in "%#&'<>\\ \n\r\t?"}
_KINDS = {"json": "application/json", "csv": "text/csv"}


@dataclass(frozen=True, slots=True)
class Section:
    """A finding and how to read it, and beside it one picture; names in words have marks."""

    anchor: str
    title: str
    words: Sequence[str]
    figure: str = ""  # HTML
    table: Table | None = None  # its numbers for Markdown
    folded: bool = False  # nothing is decided: one line, and the rest in a fold

    def html(self) -> str:
        """Nothing without a picture."""
        if not self.figure:
            return ""
        read = "".join(f"<p>{html_text(each)}</p>" for each in self.words if each)
        title = f"<h2>{html_text(self.title)}</h2>"
        if self.folded:
            fold = f"<details><summary>{title}</summary>{read}{self.figure}</details>"
            return f'<section class="one" id="{self.anchor}">{fold}</section>\n'
        head = f"<header>{title}{read}</header>"
        return f'<section class="s" id="{self.anchor}">{head}<div>{self.figure}</div></section>\n'


@dataclass(frozen=True, slots=True)
class Page:
    """All that a reader sees."""

    title: str  # of the log
    summary: str  # how large the log is
    finding: Finding
    refused: bool  # there is no report
    alerts: Sequence[Alert]
    hero: Section  # the first picture, across the page
    sections: Sequence[Section]
    todo: Sequence[str]  # what to do next, sentences
    command: str  # and what to type for it
    outcomes: str  # what counted as success and as failure
    checked: str  # what the checks found
    about: About
    numbers: dict[str, Any]  # the same as data
    rows: pl.DataFrame  # the report, for a spreadsheet
    folds: dict[str, str]  # titles of tables at the foot, and their HTML

    @property
    def headline(self) -> str:
        """The title as plain text."""
        return plain_text(self.finding.title)

    def worded(self, say: Callable[[str], str]) -> Page:
        """The page in the words of who asked for it: a command has no keywords."""
        alerts = [Alert(alert.title, say(alert.text)) for alert in self.alerts]
        finding = replace(self.finding, aside=say(self.finding.aside))
        if self.refused:
            finding = replace(finding, numbers=say(finding.numbers))
        return replace(self, alerts=alerts, finding=finding, checked=say(self.checked))

    def html(self) -> str:
        """The page as one file."""
        finding = self.finding
        heading = html_text(finding.title)
        aside = f" <em>{html_text(finding.aside)}</em>" if finding.aside else ""
        lede = f'<p class="lede">{html_text(finding.numbers)}{aside}</p>\n'
        basis = _DOT.join(map(html_text, finding.basis))
        body = "".join(section.html() for section in self.sections)
        return visible_text(
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="generator" content="polars-scorio">\n'
            f"<title>{escape(plain_text(finding.title))}</title>\n"
            f'<meta name="description" content="{escape(plain_text(finding.numbers))}">\n'
            f'<link rel="icon" href="{_ICON}">\n<style>\n{file_text("page.css")}</style></head>\n'
            f'<body><main>\n<div class="mast"><span class="what"><b><bdi>{escape(self.title)}</bdi>'
            f"</b> \N{MIDDLE DOT} {escape(self.summary)}</span>"
            f'<span class="chip {finding.mood}">{escape(finding.chip)}</span></div>\n'
            f'{self._alerts()}<h1 id="headline">{heading}</h1>\n{lede}'
            f'<p class="basis">{basis}</p>\n'
            f'<div class="hero" id="leaderboard">{self.hero.figure}</div>\n'
            f"{body}{self._next()}{self._foot()}</main>\n"
            f"<script>\n{file_text('page.js')}</script>\n</body></html>\n"
        )

    def _alerts(self) -> str:
        if not self.alerts:
            return ""
        each = "".join(f"<p>{_alert_html(alert)}</p>" for alert in self.alerts)
        return f'<div class="alert" id="alerts" role="note">{each}</div>\n'

    def _next(self) -> str:
        if not self.todo:
            return ""
        first, *rest = self.todo
        clause, mark, remainder = _CLAUSE.match(first).groups()  # type: ignore[union-attr]  # any text
        lead = f"<b>{html_text(clause)}{mark}</b>{html_text(remainder)}"
        items = "".join(f"<li>{each}</li>" for each in [lead, *map(html_text, rest)])
        typed = f"<pre>{escape(self.command)}</pre>" if self.command else ""
        return f'<section class="next"><h2>What to do next</h2><ul>{items}</ul>{typed}</section>\n'

    def _foot(self) -> str:
        facts = self.about.facts
        read = " ".join(filter(None, [*self.about.sentences, self.checked]))
        links = [
            f"<a download='report.{kind}' href='{_data_link(text, kind)}'>{kind.upper()}</a>"
            for kind, text in (("json", self.json()), ("csv", self.rows.write_csv()))
        ]
        made = "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(fact)}</dd>"
            for name, fact in (facts | self.about.formulas).items()
            if name not in {"call", "counts, SHA-256"}
        )
        folds = "".join(
            f"<details><summary>{title}</summary>{table}</details>"
            for title, table in self.folds.items()
            if table
        )
        # A long call breaks before its method rather than inside the name of a file.
        call = escape(facts["call"]).replace(").write_html(", ")<wbr>.write_html(")
        return (
            f"<footer><div><h2>How it was computed</h2>{f'<p>{escape(read)}</p>' * bool(read)}"
            f"<details><summary>Assumptions and formulas</summary><dl>{made}</dl></details></div>\n"
            f"<div><h2>The log</h2><p>{escape(self.summary)}. {escape(self.outcomes)}</p>"
            f"<p>SHA-256 of the counts <code>{facts['counts, SHA-256'][:12]}</code></p>"
            f"<p><code>{call}</code></p></div>\n"
            f"<div><h2>Files inside this page</h2><p>{_DOT.join(links)}</p>"
            f"<p>{escape(facts['made by'])}<br>{escape(facts['made on'])}</p></div>\n"
            f'<div class="folds">{folds}</div></footer>\n'
        )

    def markdown(self) -> str:
        """The page without its pictures and its data, for a terminal."""
        finding = self.finding
        parts = [f"# {_markdown_text(plain_text(finding.title))}"]
        lines = " ".join(filter(None, [finding.numbers, finding.aside]))
        parts += [_markdown_text(plain_text(lines))] * bool(lines)
        parts.append(_markdown_text(_DOT.join(map(plain_text, finding.basis))))
        parts += [f"- **{each.title}.** {_markdown_text(each.text)}" for each in self.alerts]
        for section in (self.hero, *self.sections):
            if section.title:
                parts.append(f"## {_markdown_text(plain_text(section.title))}")
                said = () if section.folded else filter(None, section.words)
                parts += [_markdown_text(plain_text(each)) for each in said]
            if section.table is not None:
                parts.append(markdown_table(section.table, text=_markdown_text))
        if self.todo:
            parts.append("## What to do next")
            parts += [f"- {_markdown_text(plain_text(each))}" for each in self.todo]
        parts.append("## How it was computed")
        parts += [_markdown_text(" ".join([*self.about.sentences, self.checked, self.outcomes]))]
        facts = self.about.facts | self.about.formulas
        parts.append("\n".join(f"- {name}: {_markdown_text(fact)}" for name, fact in facts.items()))
        return "\n\n".join(filter(None, parts)) + "\n"

    def json(self) -> str:
        """The numbers of the page."""
        return json.dumps(
            self.numbers, default=_json_value, ensure_ascii=False, separators=(",", ":")
        )


def _alert_html(alert: Alert) -> str:
    """A warning, whose text may begin with its title."""
    title, text = escape(alert.title), escape(alert.text)
    rest = text.removeprefix(title)
    return f"<b>{title}</b>{rest}" if rest != text else f"<b>{title}.</b> {text}"


def _data_link(text: str, kind: str) -> str:
    """A link to a file that it holds, for an attribute in single quotes."""
    return f"data:{_KINDS[kind]};charset=utf-8,{text.translate(_ESCAPES)}"


def _markdown_text(text: str) -> str:
    r"""Text that Markdown shows as it is; intervals need no escapes.

    >>> _markdown_text("m_1 *leads* with 52.1 % [42.0, 62.0] (avg@4)")
    'm_1 \\*leads\\* with 52.1 % [42.0, 62.0] (avg@4)'
    """
    return _INTERVAL.sub(r"[\1]", markdown_text(text))


def _json_value(value: object) -> object:
    """A frame as its columns and rows, which JSON knows."""
    if isinstance(value, pl.DataFrame):
        rounded = value.with_columns(pl.col(pl.Float64, pl.Float32).round_sig_figs(_DIGITS))
        return {"columns": value.columns, "rows": rounded.rows()}
    return str(value)
