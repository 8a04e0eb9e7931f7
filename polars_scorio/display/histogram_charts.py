"""Histograms of questions by their difficulty."""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_scorio.display.charts import (
    Heading,
    Picture,
    in_panels,
    number_tooltips,
    value_axis,
)
from polars_scorio.metrics.metric_arguments import Bounds

_TICKS = 6  # steps of an axis of counts
_BARS = 10
# Kinds of questions, from the bottom of a bar to its top, with their colours.
_KINDS = {
    "others": "#0072B2",
    "reversed": "#D55E00",
    "never solved": "#CC79A7",
    "always solved": "#009E73",
}


def difficulty_bars(rows: pl.DataFrame, span: Bounds) -> pl.DataFrame:
    """Number of questions of each kind in each of ten equal parts of a range.

    Parameters
    ----------
    rows : DataFrame
        stratum, rate, status and reversed of each question.
    span : tuple of float
        The range.

    Examples
    --------
    >>> rows = {"stratum": "", "rate": [0.0, 0.3, 0.31], "status": ["never", None, None]}
    >>> rows = pl.DataFrame({**rows, "reversed": [False, False, None]})
    >>> difficulty_bars(rows, (0, 1)).select("least", "kind", "questions").rows()
    [(0.0, 'never solved', 1), (0.3, 'others', 2)]
    """
    low, high = span
    width = (high - low) / _BARS or 1.0
    # Without the last digits, in which .3 is less than three tenths.
    bar = ((pl.col("rate") - low) / width + 1e-9).floor().clip(0, _BARS - 1)
    kind = (
        pl.when(status="never")
        .then(pl.lit("never solved"))
        .when(status="always")
        .then(pl.lit("always solved"))
        .when("reversed")
        .then(pl.lit("reversed"))
        .otherwise(pl.lit("others"))
    )
    counted = rows.group_by("stratum", bar.alias("bar"), kind.alias("kind")).agg(
        pl.len().alias("questions")
    )
    ends = [
        (low + width * (pl.col("bar") + place)).round(12).alias(name)
        for place, name in enumerate(("least", "most"))
    ]
    return counted.sort("stratum", "bar", "kind").select("stratum", *ends, "kind", "questions")


def _counts_axis(rows: pl.DataFrame) -> alt.Axis:
    """An axis with whole numbers: Vega puts 1.5 on that of a stack, and writes it as a second 2."""
    bars = rows.group_by("stratum", "least").agg(pl.col("questions").sum())["questions"]
    return alt.Axis(format="d", values=whole_ticks(max(bars, default=1)), domain=False)


def whole_ticks(most: int) -> list[int]:
    """Whole numbers from 0 up to a number, at most seven, in steps of 1, 2 or 5 (times ten).

    >>> whole_ticks(3), whole_ticks(23)
    ([0, 1, 2, 3], [0, 5, 10, 15, 20])
    """
    steps = (digit * 10**power for power in range(20) for digit in (1, 2, 5))
    step = next(step for step in steps if most <= _TICKS * step)
    return [*range(0, most + 1, step)]


def difficulty_histogram(rows: pl.DataFrame, heading: Heading, title: str, span: Bounds) -> Picture:
    """Bars of questions by their mean rate, coloured by kind.

    Parameters
    ----------
    rows : DataFrame
        What `difficulty_bars` returns.
    heading : Heading
        What stands above.
    title : str
        The title of the axis of rates.
    span : tuple of float
        The range of rates.
    """
    kinds = [kind for kind in _KINDS if kind in set(rows["kind"])]
    scale = alt.Scale(domain=kinds, range=[_KINDS[kind] for kind in kinds])
    legend = alt.Legend(title=None, orient="top") if len(kinds) > 1 else None
    across = value_axis(
        alt.X("least:Q", bin="binned", scale=alt.Scale(domain=[*span], nice=False)),
        title,
        percent=span == (0, 1),
    )
    bars = alt.Chart().mark_bar(binSpacing=1).encode(
        x=across,
        x2="most:Q",
        y=alt.Y("questions:Q", title="questions", axis=_counts_axis(rows)),
        color=alt.Color("kind:N", scale=scale, legend=legend),
        order=alt.Order("order:Q"),
        tooltip=number_tooltips(rows),
    )  # fmt: skip
    places = {kind: place for place, kind in enumerate(_KINDS)}
    rows = rows.with_columns(order=pl.col("kind").replace_strict(places, return_dtype=pl.Int64))
    words = f"A histogram of {rows['questions'].sum():,} questions by their mean rate"
    return in_panels([bars], rows, heading, words, height=200)
