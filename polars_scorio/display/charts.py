"""Pictures of results, as Altair charts. Importing this module needs the extra `plot`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import polars as pl

from polars_scorio.metrics.base import Bounds

try:
    import altair as alt
except ImportError:
    raise ImportError('pictures need Altair: pip install "polars-scorio[plot]"') from None

Picture: TypeAlias = "alt.LayerChart | alt.FacetChart"

# Colours that people with any kind of colour vision tell apart: M. Okabe, K. Ito (2008), Color
# Universal Design. Without its yellow, which is faint on white.
_PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_GREY = "#BBBBBB"

_NAME = 260  # pixels that a name may take
_SPANNED = 8  # an axis of powers of two where the largest draw size is so many times the smallest
_TICKS = 12  # with more of them Vega decides which draw sizes have a tick
_WRITTEN = 14  # with more models the cells of a matrix are too small for numbers
_DOTTED = 30  # with more trials points on a line run into each other
_NAMED = 40  # with more questions there is no room for their names


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a picture, and above its panels.

    Attributes
    ----------
    title, subtitle : str
        What is shown.
    panels : str
        The columns of the strata; empty where there are none.
    """

    title: str
    subtitle: str
    panels: str = ""

    @property
    def width(self) -> int:
        """How wide a panel is."""
        return 260 if self.panels else 420


def forest(rows: pl.DataFrame, heading: Heading, metric: str) -> Picture:
    """A point and an interval for each model, the best on top.

    Parameters
    ----------
    rows : DataFrame
        stratum, model, mu, lo, hi, and what else the tooltips show.
    heading : Heading
        What stands above.
    metric : str
        The title of the axis.
    """
    models = alt.Y("model:N", sort=ordered(rows, "mu"), title=None, axis=_names(grid=True))
    base = alt.Chart().encode(y=models, tooltip=_tooltips(rows))
    across = _numbers(alt.X("lo:Q"), metric).scale(zero=False, padding=8)
    line = base.mark_rule(size=2, color=_PALETTE[0]).encode(x=across, x2="hi:Q")
    point = base.mark_point(size=50, filled=True, opacity=1, color=_PALETTE[0]).encode(x="mu:Q")
    return _panelled([line, point], rows, heading, height=alt.Step(20))


def lines(rows: pl.DataFrame, heading: Heading, across: alt.X, metric: str) -> Picture:
    """A line with a band for each model; of more than seven models only the best have colours.

    Parameters
    ----------
    rows : DataFrame
        stratum, model, the column of the horizontal axis, mu, lo, hi, and what else the tooltips
        show; estimates become points.
    heading : Heading
        What stands above.
    across : X
        The horizontal axis, from `draw_sizes_axis` or `trials_axis`.
    metric : str
        The title of the vertical axis.
    """
    names = ordered(rows.group_by("stratum", "model", maintain_order=True).last(), "mu")
    coloured, others = names[: len(_PALETTE)], len(names[len(_PALETTE) :])
    rest = "1 other" if others == 1 else f"{others} others"
    legend = [*coloured, rest] if others else coloured
    place = pl.col("model").cast(pl.Enum(names)).to_physical()
    rows = rows.with_columns(
        line=pl.when(place < len(coloured)).then("model").otherwise(pl.lit(rest)),
        coloured=place < len(coloured),
    ).sort(place, descending=True, maintain_order=True)  # what is drawn last is on top
    scale = alt.Scale(domain=legend, range=[*_PALETTE[: len(coloured)], _GREY][: len(legend)])
    colour = alt.Color("line:N", scale=scale, legend=_legend() if len(names) > 1 else None)
    base = alt.Chart().encode(x=across, color=colour, detail="model:N", tooltip=_tooltips(rows))
    top = base.transform_filter("datum.coloured")
    layers = [
        top.mark_area(opacity=0.15).encode(y=_numbers(alt.Y("lo:Q"), metric), y2="hi:Q"),
        base.transform_filter("!datum.coloured").mark_line(size=1).encode(y="mu:Q"),
        top.mark_line(size=2).encode(y="mu:Q"),
    ]
    if "estimate" in rows.columns:
        points = top.transform_filter("isValid(datum.estimate)").mark_point(filled=True, size=30)
        layers.append(points.encode(y="estimate:Q", opacity=alt.value(1)))
    return _panelled(layers, rows, heading, height=280)


def draw_sizes_axis(sizes: Sequence[int]) -> alt.X:
    """An axis of draw sizes, logarithmic where they span it."""
    if sizes and max(sizes) >= _SPANNED * min(sizes):
        scale, values = alt.Scale(type="log", base=2, nice=False), _powers(min(sizes), max(sizes))
    else:
        scale, values = alt.Scale(zero=False, nice=False), [*sizes]
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    axis.values = values if len(values) <= _TICKS else alt.Undefined
    return alt.X("k:Q", title="k, trials drawn", scale=scale, axis=axis)


def trials_axis() -> alt.X:
    """An axis of trials of each question."""
    scale = alt.Scale(zero=False, nice=False)
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    return alt.X("n:Q", title="n, trials of each question", scale=scale, axis=axis)


def heat_map(
    rows: pl.DataFrame, heading: Heading, metric: str, span: Bounds, *, each: int
) -> Picture:
    """A cell for each model and question, or for several questions that are equally hard.

    Parameters
    ----------
    rows : DataFrame
        stratum, model, mu, and the question and its place in the order of difficulty.
    heading : Heading
        What stands above.
    metric : str
        The title of the colours.
    span : tuple of float
        What the metric can be at least and at most: the range of the colours.
    each : int
        How many questions share a cell.
    """
    columns = rows["place"].n_unique()
    named = each == 1 and columns <= _NAMED
    title = "questions, the hardest first" + (f" ({each} in a cell)" if each > 1 else "")
    across = alt.X(
        "question:N",
        sort=alt.EncodingSortField("place", op="min"),
        title=title,
        axis=alt.Axis(labels=named, ticks=named, labelLimit=120, labelAngle=-90, domain=False),
        scale=alt.Scale(paddingInner=0.05 if named else 0),
    )
    colour = alt.Color(
        "mu:Q",
        title=metric,
        scale=alt.Scale(scheme="viridis", domain=list(span)),
        legend=alt.Legend(gradientLength=120),
    )
    cells = alt.Chart().mark_rect().encode(
        x=across,
        y=alt.Y("model:N", sort=ordered(rows, "mu"), title=None, axis=_names(grid=False)),
        color=colour,
        tooltip=_tooltips(rows),
    )  # fmt: skip
    step = min(16.0, max(2.0, 700 / max(columns, 1)))
    return _panelled(
        [cells], rows, heading, width=alt.Step(step), height=alt.Step(16), columns=1, share=False
    )


def matrix(rows: pl.DataFrame, heading: Heading, sure: str) -> Picture:
    """Probabilities that the model of a row beats that of a column, the best first.

    Parameters
    ----------
    rows : DataFrame
        stratum, model, other, diff, prob, text, sure; both orders of each pair.
    heading : Heading
        What stands above.
    sure : str
        What bold numbers mean.
    """
    names = ordered(rows, "diff")
    written = len(names) <= _WRITTEN
    if written:
        heading = replace(heading, subtitle=f"{heading.subtitle}; bold: {sure}")
    colour = alt.Color(
        "prob:Q",
        title="P(row beats column)",
        scale=alt.Scale(scheme="blueorange", domain=[0, 1], domainMid=0.5, reverse=True),
        legend=alt.Legend(gradientLength=120),
    )
    # Above a panel the axis would be between it and its name.
    axis = _names(orient="bottom" if heading.panels else "top", labelAngle=-45 if written else -90)
    base = alt.Chart().encode(
        x=alt.X("other:N", sort=names, title=None, axis=axis),
        y=alt.Y("model:N", sort=names, title=None, axis=_names(grid=False)),
        tooltip=_tooltips(rows),
    )
    layers = [base.mark_rect().encode(color=colour)]
    if written:
        dark = "abs(datum.prob - 0.5) > 0.35"
        ink = alt.condition(dark, alt.value("white"), alt.value("black"))
        numbers = base.encode(text="text:N", color=ink)
        layers += [
            numbers.transform_filter("datum.sure").mark_text(fontSize=11, fontWeight="bold"),
            numbers.transform_filter("!datum.sure").mark_text(fontSize=11),
        ]
    step = alt.Step(36 if written else 14)
    return _panelled(layers, rows, heading, width=step, height=step, columns=2)


def settling(rows: pl.DataFrame, heading: Heading) -> Picture:
    """How many replicates have converged after n trials, and how near the rankings are.

    Parameters
    ----------
    rows : DataFrame
        stratum, n, what, value.
    heading : Heading
        What stands above.
    """
    legend = list(dict.fromkeys(rows["what"]))
    colour = alt.Color(
        "what:N",
        scale=alt.Scale(domain=legend, range=_PALETTE[: len(legend)]),
        legend=alt.Legend(title=None, orient="top", labelLimit=400, direction="vertical"),
    )
    line = alt.Chart().mark_line(size=2, point=rows["n"].n_unique() <= _DOTTED).encode(
        x=trials_axis(),
        y=_numbers(alt.Y("value:Q"), "").scale(zero=True),
        color=colour,
        tooltip=_tooltips(rows),
    )  # fmt: skip
    return _panelled([line], rows, heading, height=280)


def ordered(rows: pl.DataFrame, number: str) -> list[str]:
    """The models by the mean of a number over their rows, the largest first."""
    # Means that differ in their last digits are the same.
    means = rows.group_by("model").agg(pl.col(number).mean().round(12))
    return means.sort(number, "model", descending=[True, False], nulls_last=True)["model"].to_list()


def _panelled(
    layers: Sequence[alt.Chart],
    rows: pl.DataFrame,
    heading: Heading,
    *,
    height: int | alt.Step,
    width: int | alt.Step | None = None,
    columns: int = 3,
    share: bool = True,
) -> Picture:
    """The layers with their data and title, in a panel for each stratum."""
    # Values, and no frame: Altair refuses frames of more than 5,000 rows.
    data = alt.InlineData(values=rows.to_dicts())
    title = alt.Title(heading.title, subtitle=heading.subtitle, anchor="start", offset=12)
    picture = alt.layer(*layers, data=data).properties(width=width or heading.width, height=height)
    if not heading.panels:
        return picture.properties(title=title)
    strata = rows["stratum"].unique(maintain_order=True).to_list()
    header = alt.Header(title=heading.panels, labelLimit=_NAME, labelFontWeight="bold")
    facet = alt.Facet("stratum:N", sort=strata, header=header)
    panels = picture.facet(facet=facet, columns=min(columns, len(strata) or 1))
    return (panels if share else panels.resolve_scale(x="independent")).properties(title=title)


def _tooltips(rows: pl.DataFrame) -> list[alt.Tooltip]:
    """All that is known of what the mouse points at."""
    hidden = {"line", "coloured", "text", "sure", "place"}
    return [
        alt.Tooltip(f"{name}:Q", format=".4~f") if dtype.is_float()
        else alt.Tooltip(f"{name}:{'Q' if dtype.is_integer() else 'N'}")
        for name, dtype in rows.schema.items()
        if name not in hidden
    ]  # fmt: skip


def _numbers(channel: Any, title: str) -> Any:  # noqa: ANN401 - X in, X out; Y in, Y out
    """An axis of values of a metric, as wide as they are."""
    return channel.title(title).scale(zero=False).axis(tickCount=6, domain=False, gridOpacity=0.6)


def _names(**options: Any) -> alt.Axis:  # noqa: ANN401 - options of an axis
    return alt.Axis(labelLimit=_NAME, ticks=False, domain=False, **options)


def _powers(least: int, most: int) -> list[int]:
    """The powers of two from one number to another."""
    return [2**power for power in range(most.bit_length()) if least <= 2**power <= most]


def _legend() -> alt.Legend:
    return alt.Legend(title=None, labelLimit=_NAME, symbolType="stroke", symbolOpacity=1)
