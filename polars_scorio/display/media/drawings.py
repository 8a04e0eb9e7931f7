"""Drawings of a page, each from its numbers and words alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polars_scorio.display.blocks import Drawing, Section, TableBlock, Text
from polars_scorio.display.media.marks import picture, text
from polars_scorio.display.media.role_drawings import (
    cases_drawing,
    floors_drawing,
    lifts_drawing,
    plane_drawing,
)
from polars_scorio.display.media.tables import table_html
from polars_scorio.display.numbers import html_text
from polars_scorio.display.phrases import short_name


def figures_html(section: Section) -> str:
    """The figures of a section as HTML; empty without any."""
    return "".join(map(_figure_html, section.figures))


def _figure_html(figure: Drawing | TableBlock | Text) -> str:
    if isinstance(figure, TableBlock):
        return table_html(figure)
    if isinstance(figure, Text):
        return f'<p class="note">{html_text(figure.words)}</p>'
    if figure.kind == "html":
        return str(figure.data["body"])
    said = {"label": figure.label} if figure.label else {}
    return _DRAWINGS[figure.kind](**figure.data, **said)


def stairs_drawing(
    names: Sequence[str], cells: Mapping[str, Sequence[tuple[int, int]]], label: str, *, wide: bool
) -> str:
    """Cells of rows and columns, each of a kind, below a diagonal of names."""
    number, size = len(names), 24 if wide else 15
    body = ""
    for kind, places in cells.items():
        drawn = "".join(f"M{column} {row}.5h.92" for row, column in places)
        body += f'<path class="{kind}" d="{drawn}"/>' * bool(drawn)
    beside = "".join(
        text(100 * row / number, (row + 0.5) * size + 4, short_name(name, 20), "end", -8)
        for row, name in enumerate(names)
    )
    left, high = 8 + 8 * min(max(map(len, names)), 20), number * size
    drawn = (f'<svg class="stairs" viewBox="0 0 {number} {number}" preserveAspectRatio="none" '
             f'width="100%" height="{high}">{body}</svg>')  # fmt: skip
    room = f"padding-left:{left}px;max-width:{high + left}px"
    return f'<div style="{room}">{picture(high, drawn + beside, label)}</div>'


_DRAWINGS: dict[str, Callable[..., str]] = {
    "cases": cases_drawing, "floors": floors_drawing, "lifts": lifts_drawing,
    "plane": plane_drawing, "stairs": stairs_drawing,
}  # fmt: skip
