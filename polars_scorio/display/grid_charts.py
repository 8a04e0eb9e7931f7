"""Pictures with a cell for each pair: of models and questions, of models and models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from polars_scorio.display.charts import (
    INK,
    Heading,
    Picture,
    in_panels,
    models_by_mean,
    name_axis,
    number_tooltips,
)
from polars_scorio.metrics.metric_arguments import Bounds

_WRITTEN = 14  # with more models the cells of a matrix are too small for numbers
_MISSING = "#D8D8D8"
_NAMED = 40  # with more questions there is no room for their names


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
    columns, percent = rows["place"].n_unique(), span == (0, 1)
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
        legend=alt.Legend(gradientLength=120, format="~%" if percent else alt.Undefined),
    )
    models = models_by_mean(rows, "mu")
    down = alt.Y("model:N", sort=models, title=None, axis=name_axis(grid=False))
    base = alt.Chart().encode(x=across, y=down, tooltip=number_tooltips(rows))
    layers = _coloured_cells(base, colour, "mu", missing=rows["mu"].null_count() > 0)
    step = min(16.0, max(2.0, 700 / max(columns, 1)))
    words = f"A cell for each of {len(models)} models and each question"
    return in_panels(
        layers, rows, heading, words, width=alt.Step(step), height=alt.Step(16), columns=1,
        share=False,
    )  # fmt: skip


def probability_matrix(rows: pl.DataFrame, heading: Heading, sure: str) -> Picture:
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
    models = models_by_mean(rows, "diff")
    written = len(models) <= _WRITTEN
    if written:
        heading = replace(heading, subtitle=(*heading.subtitle, f"bold: {sure}"))
    colour = alt.Color(
        "prob:Q",
        title="P(row beats column)",
        scale=alt.Scale(scheme="blueorange", domain=[0, 1], domainMid=0.5, reverse=True),
        legend=alt.Legend(gradientLength=120),
    )
    # Above a panel the axis would be between it and its name.
    axis = name_axis(
        orient="bottom" if heading.panels else "top", labelAngle=-45 if written else -90
    )
    base = alt.Chart().encode(
        x=alt.X("other:N", sort=models, title=None, axis=axis),
        y=alt.Y("model:N", sort=models, title=None, axis=name_axis(grid=False)),
        tooltip=number_tooltips(rows),
    )
    layers = _coloured_cells(base, colour, "prob", missing=rows["prob"].null_count() > 0)
    if written:
        dark = "abs(datum.prob - 0.5) > 0.35"
        ink = alt.condition(dark, alt.value("white"), alt.value("black"))
        texts = base.encode(text="text:N", color=ink)
        layers += [
            texts.transform_filter("datum.sure").mark_text(fontSize=11, fontWeight="bold"),
            texts.transform_filter("!datum.sure && isValid(datum.prob)").mark_text(fontSize=11),
        ]
    step = alt.Step(36 if written else 14)
    words = f"A cell for each pair of {len(models)} models, the best first"
    return in_panels(layers, rows, heading, words, width=step, height=step, columns=2)


def _coloured_cells(base: alt.Chart, colour: alt.Color, number: str, *, missing: bool) -> list[Any]:
    """Cells with colours; those without a number are hatched."""
    known = f"isValid(datum.{number})"
    cells = base.transform_filter(known).mark_rect().encode(color=colour)
    if not missing:
        return [cells]
    without = base.transform_filter(f"!{known}")
    stroke = without.mark_point(shape="M-1,1L1,-1", size=60, color=INK, strokeWidth=1)
    return [cells, without.mark_rect(color=_MISSING), stroke]
