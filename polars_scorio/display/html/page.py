"""The page: its sections, rendered as HTML or as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any

import jinja2
import polars as pl

from polars_scorio.display.html.method_notes import About
from polars_scorio.display.html.page_pictures import Figure
from polars_scorio.display.table import Table, markdown_table, markdown_text
from polars_scorio.display.verdict import Alert

_INTERVAL = re.compile(r"(?<= )\\\[([-\d.]+, [-\d.]+)\\\](?=[ ;,]|$)")
_DIGITS = 6  # significant ones of the numbers in JSON


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading of its own: paragraphs, then pictures, then tables.

    One heading of `tables` may be empty.
    """

    anchor: str  # target of links
    title: str
    lines: Sequence[str] = ()  # paragraphs
    figures: Sequence[Figure] = ()
    tables: dict[str, Table] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """All that a reader sees."""

    title: str
    summary: str  # how large the log is
    headline: str  # the verdict, or the reason for no report
    basis: str  # metric and criterion of the verdict
    outcomes: str  # what counted as success and as failure
    refused: bool  # there is no report
    alerts: Sequence[Alert]  # what to know before the numbers
    sections: Sequence[Section]
    about: About  # how it was made
    numbers: dict[str, Any]  # the same as data: texts, numbers, frames

    def html(self) -> str:
        """The page as one file."""
        return _page_template("page.html.j2", autoescape=True).render(page=self, json=self.json())

    def markdown(self) -> str:
        """The page without its pictures and its data, for a terminal."""
        return _page_template("page.md.j2", autoescape=False).render(page=self)

    def json(self) -> str:
        """The numbers of the page."""
        return json.dumps(
            self.numbers, default=_json_value, ensure_ascii=False, separators=(",", ":")
        )


def _page_template(name: str, *, autoescape: bool) -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=autoescape,  # noqa: S701 - Markdown has escapes of its own
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["markdown"] = _markdown_text
    environment.filters["markdown_table"] = partial(markdown_table, text=_markdown_text)
    environment.globals["css"] = _file_text("page.css")
    environment.globals["script"] = _file_text("page.js")
    return environment.from_string(_file_text(name))


def _markdown_text(text: str) -> str:
    r"""Text that Markdown shows as it is; intervals need no escapes.

    >>> _markdown_text("m_1 *leads* with 52.1 % [42.0, 62.0] (avg@4)")
    'm_1 \\*leads\\* with 52.1 % [42.0, 62.0] (avg@4)'
    """
    return _INTERVAL.sub(r"[\1]", markdown_text(text))


def _file_text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _json_value(value: object) -> object:
    """A frame as its columns and rows, which JSON knows."""
    if isinstance(value, pl.DataFrame):
        rounded = value.with_columns(pl.col(pl.Float64, pl.Float32).round_sig_figs(_DIGITS))
        return {"columns": value.columns, "rows": rounded.rows()}
    return str(value)
