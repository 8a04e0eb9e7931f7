"""Results that people read, in a notebook: the finding, and intervals in the rows of a table."""

from __future__ import annotations

import hashlib
from html import escape

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.display.finding import html_text
from polars_scorio.display.html.gate_sections import gate_hero
from polars_scorio.display.html.marks import file_text
from polars_scorio.display.html.story import Story, Wishes, read_story
from polars_scorio.display.html.write_page import forest_picture
from polars_scorio.display.verdict import RUNS_UNTOLD
from polars_scorio.display.words import visible_text
from polars_scorio.study.count_checks import SPOKEN


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
    key = f"grid-{hashlib.sha256(drawn.encode()).hexdigest()[:8]}"
    drawn = drawn.replace('"grid"', f'"{key}"').replace('"#grid"', f'"#{key}"')
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
