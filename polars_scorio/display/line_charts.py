"""Curves with bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from polars_scorio.display.chart_data import spread_places
from polars_scorio.display.charts import (
    Heading,
    Picture,
    in_panels,
    model_legend,
    number_tooltips,
    value_axis,
    whole_axis,
)
from polars_scorio.display.theme import GREY
from polars_scorio.display.words import short_name
from polars_scorio.maths.ranks import selected_tail

# Lower and upper end of the best step of a line; null at all others.
BEST_LO, BEST_HI = "best_lo", "best_hi"
_LINE = ["stratum", "model"]


def with_best_steps(
    rows: pl.DataFrame, confidence: float, rows_at: Callable[[float], pl.DataFrame]
) -> pl.DataFrame:
    """Add the corrected interval of the best step of each line, as `Scorio.best` has it.

    `rows`: stratum, model, at, mu, lo, hi, ahead. `best_lo` and `best_hi` are null at other steps,
    predictions, and lines of one step; the first of equal steps is best. `rows_at` runs once per
    number of steps.

    >>> rows = pl.DataFrame(
    ...     {"stratum": "", "model": "run", "at": [0, 1], "mu": [0.4, 0.6], "lo": [0.2, 0.4],
    ...      "hi": [0.6, 0.8], "ahead": False}
    ... )
    >>> wider = lambda confidence: rows.with_columns(pl.col("lo") - 0.125)
    >>> with_best_steps(rows, 0.95, wider).select("at", "best_lo", "best_hi").rows()
    [(0, None, None), (1, 0.275, 0.8)]
    """
    best = _best_rows(rows)
    tails = selected_tail(best["steps"].to_numpy(), confidence)
    ends = [
        rows_at(1 - 2 * tail).join(best.filter(pl.Series(tails == tail)), on=[*_LINE, "at"])
        for tail in np.unique(tails).tolist()
    ]
    columns = [*_LINE, "at", pl.col("lo").alias(BEST_LO), pl.col("hi").alias(":wider")]
    corrected = pl.concat([rows.clear(), *ends], how="diagonal").select(columns)
    joined = rows.join(corrected, on=[*_LINE, "at"], how="left", maintain_order="left")
    # Selection never makes the upper end worse: it stays as it is.
    known = pl.col(":wider").is_not_null()
    return joined.with_columns(pl.when(known).then("hi").alias(BEST_HI)).drop(":wider")


def _best_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The best step of each line of two steps or more, with their number."""
    measured = rows.filter(~pl.col("ahead"), pl.col("mu").is_not_null())
    lines = measured.sort("mu", "at", descending=[True, False]).group_by(_LINE, maintain_order=True)
    best = lines.agg(pl.col("at").first(), pl.len().alias("steps"))
    return best.filter(pl.col("steps") > 1)


def best_step_words(rows: pl.DataFrame, coloured: list[str]) -> str:
    """The meaning of the marks of best steps, if a coloured line has one."""
    if BEST_LO not in rows.columns:
        return ""
    marked = rows.filter(pl.col(BEST_LO).is_not_null(), pl.col("model").is_in(coloured))
    if marked.is_empty():
        return ""
    return "diamonds: the best step of a line, its interval corrected for being selected"


_HEIGHT = 280  # pixels of a panel
_LABEL = 13  # pixels between two labels
_LETTERS = 30  # of a label
BANDED = 3  # bands of more lines hide each other
_SMALL, _GREY = 150, 24  # pixels of one of several small panels, grey lines in it
_SPANNED = 8  # an axis of powers of two where the largest draw size is so many times the smallest
_DOTTED = 60  # with more of them on a line, points are small
_MARGIN = 0.05  # of what the lines span, above and below them
_SAME = 1e-6  # of the largest number: lines that span less are flat


def line_chart(
    rows: pl.DataFrame,
    heading: Heading,
    across: alt.X,
    metric: str,
    colours: dict[str, str],
    *,
    percent: bool,
) -> Picture:
    """A line for each model, the coloured ones with a band.

    `rows`: stratum, model, the column of `across`, mu, lo, hi, marked, ahead, tooltips, and for
    diamonds best_lo, best_hi. `colours`: the best model first. More than three bands would hide
    each other: then each coloured model has a panel, but panels of strata take three models.
    """
    order = [*colours, *sorted({*rows["model"]} - {*colours})]
    models = len({*rows["model"]})
    several = len(colours) > BANDED and not heading.panels
    rows = _drawing_order(rows, order, len(colours))
    heading = _with_grey(heading, models - len({*colours} & {*rows["model"]}))
    if several:
        rows, heading = _model_panels(rows, [*colours]), replace(heading, panels="model")
    low, high = _vertical_range(rows)
    written = not heading.panels and models > 1
    if written:
        height = heading.look.height or _HEIGHT
        rows = _end_labels(rows, (low, high), _LABEL / height * (high - low))
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    key = model_legend() if heading.panels and models > 1 and not several else None
    hue = alt.condition(
        "datum.coloured", alt.Color("model:N", scale=scale, legend=key), alt.value(GREY)
    )
    base = alt.Chart().encode(x=across, color=hue, detail="model:N", tooltip=number_tooltips(rows))
    reach = alt.Scale(domain=[low, high], zero=False, nice=False)
    mu, lo, hi = (
        value_axis(alt.Y(f"{end}:Q", scale=reach), metric, percent=percent)
        for end in ("mu", "lo", "hi")
    )
    band = base.transform_filter("datum.coloured").mark_area(opacity=0.15)
    layers = [band.encode(y=lo, y2="hi:Q"), *_line_layers(base, mu, rows)]
    layers += _best_step_marks(base, mu, rows)
    layers += [edge.encode(y=end) for end in (lo, hi) for edge in _range_ends(base, rows)]
    if written:
        words = base.transform_filter("isValid(datum.place)").mark_text(align="left", dx=6)
        layers.append(words.encode(y="place:Q", text="label:N"))
    words = f"A line for each of {models} model{'s' if models > 1 else ''}"
    size = {"height": _SMALL, "width": _SMALL} if several else {"height": _HEIGHT}
    return in_panels(layers, rows, heading, words, **size)  # type: ignore[arg-type]  # pixels


def _model_panels(rows: pl.DataFrame, coloured: Sequence[str]) -> pl.DataFrame:
    """The rows once for each coloured model, which alone is coloured in the panel of its name."""
    near = {
        *coloured,
        *rows.filter(~pl.col("coloured"))["model"].unique(maintain_order=True)[:_GREY],
    }
    drawn = rows.filter(pl.col("model").is_in([*near]))
    mine = pl.col("model") == pl.col("stratum")
    panels = [drawn.with_columns(stratum=pl.lit(name)) for name in coloured]
    return pl.concat(panels).with_columns(coloured=mine)


def _with_grey(heading: Heading, grey: int) -> Heading:
    """Say how many lines have no colour, if there are any."""
    said = (f"grey: {grey:,} other{'s' if grey > 1 else ''}",) if grey else ()
    return replace(heading, subtitle=(*heading.subtitle, *said))


def _range_ends(base: alt.Chart, rows: pl.DataFrame) -> list[Any]:
    """The ends of a range that nobody has measured, where there is one."""
    beyond = base.transform_filter("datum.coloured && (datum.ahead || datum.edge)")
    return [beyond.mark_line(size=0.75, strokeDash=[4, 3])] if rows["ahead"].any() else []


def _drawing_order(rows: pl.DataFrame, order: Sequence[str], coloured: int) -> pl.DataFrame:
    """The rows in the order in which they are drawn, and where a prediction begins."""
    place = pl.col("model").cast(pl.Enum(order)).to_physical()
    begins = pl.col("ahead").shift(-1).over("stratum", "model")
    return rows.with_columns(
        coloured=place < coloured, edge=begins & ~pl.col("ahead")
    ).sort(place, descending=True, maintain_order=True)  # what is drawn last is on top  # fmt: skip


def _line_layers(base: alt.Chart, up: alt.Y, rows: pl.DataFrame) -> list[Any]:
    """Lines, what they predict, and estimates."""
    layers = [
        base.transform_filter("!datum.coloured && !datum.ahead").mark_line(size=1).encode(y=up),
        base.transform_filter("datum.coloured && !datum.ahead").mark_line(size=2).encode(y=up),
    ]
    if rows["ahead"].any():
        ahead = base.transform_filter("datum.ahead || datum.edge")
        layers.append(ahead.mark_line(size=1.5, strokeDash=[4, 3]).encode(y=up))
    if rows["marked"].is_not_null().any():
        size = 25 if rows.height <= _DOTTED * rows["model"].n_unique() else 6
        points = base.transform_filter("isValid(datum.marked)").mark_point(filled=True, size=size)
        layers.append(points.encode(y="marked:Q", opacity=alt.value(1)))
    return layers


def _best_step_marks(base: alt.Chart, up: alt.Y, rows: pl.DataFrame) -> list[Any]:
    """A diamond and an interval at the best step of each coloured line, if it has one."""
    if BEST_LO not in rows.columns or rows[BEST_LO].is_null().all():
        return []
    best = base.transform_filter(f"datum.coloured && isValid(datum.{BEST_LO})")
    return [
        best.mark_rule(size=1.5).encode(y=f"{BEST_LO}:Q", y2=f"{BEST_HI}:Q"),
        best.mark_point(shape="diamond", filled=True, size=90, opacity=1).encode(y=up),
    ]


def _vertical_range(rows: pl.DataFrame) -> tuple[float, float]:
    """From where to where the vertical axis goes; 100 % and 99.999992 % are one place on it."""
    best = [
        pl.when("coloured").then(end) for end in (BEST_LO, BEST_HI) if end in rows.columns
    ]  # both or none
    lo, hi = (pl.when("coloured").then(end) for end in ("lo", "hi"))
    ends = rows.select(
        pl.min_horizontal("mu", "marked", lo, *best).min().alias("low"),
        pl.max_horizontal("mu", "marked", hi, *best).max().alias("high"),
    ).row(0)
    low, high = (0.0 if end is None else float(end) for end in ends)
    differ = high - low > _SAME * max(abs(low), abs(high))
    margin = _MARGIN * (high - low) if differ else _MARGIN
    return low - margin, high + margin


def _end_labels(rows: pl.DataFrame, span: tuple[float, float], gap: float) -> pl.DataFrame:
    """The rows, those at the end of a coloured line with its name and a place for it."""
    drawn = pl.col("mu").is_not_null()
    last = drawn & (drawn.cum_sum(reverse=True) == 1).over("stratum", "model") & pl.col("coloured")
    ends = rows.filter(last).sort("mu")
    spread = pl.Series("place", spread_places(ends["mu"].to_list(), gap, span), pl.Float64)
    texts = pl.Series("label", [short_name(name, _LETTERS) for name in ends["model"]], pl.String)
    named = ends.select("model", spread, texts)
    return rows.join(named, on="model", how="left", maintain_order="left").with_columns(
        pl.when(last).then("place"), pl.when(last).then("label")
    )


def draw_sizes_axis(sizes: Sequence[int]) -> alt.X:
    """An axis of draw sizes, logarithmic where they span it."""
    least, most = min(sizes), max(sizes)
    spanned = most >= _SPANNED * least
    powers = [2**power for power in range(most.bit_length()) if 2**power >= least]
    return whole_axis("k", "k, trials drawn", powers if spanned else sizes, spanned)


def stratum_axis(name: str, dtype: pl.DataType) -> alt.X:
    """An axis of a stratum that is a number or a time, in the column `at`."""
    scale, axis = alt.Scale(zero=False, nice=False), alt.Axis(grid=False)
    return alt.X(f"at:{'T' if dtype.is_temporal() else 'Q'}", title=name, scale=scale, axis=axis)
