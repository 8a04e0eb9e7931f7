"""The rows of results as pictures want them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

import polars as pl

from polars_scorio.arguments import is_several
from polars_scorio.counting.log import Trials
from polars_scorio.display.phrases import HIDDEN, visible_text
from polars_scorio.metrics.metric import DrawSizes, Metric, draw_sizes

_OVERALL = "overall"  # the rows over all strata
_AMBIGUOUS = '"| /|/ '  # in a value of several that are joined by " / "
_TAG = "(?i)<([!/]|script)"
_UNSEEN_SHARE = 1e-3  # of its range: what nobody sees in a picture


def panel_heading(trials: Trials) -> str:
    """Name of the panels; none without models, whose strata are lines in one panel."""
    return inert_text(" / ".join(trials.strata)) if trials.model else ""


def stratum_label(trials: Trials) -> pl.Expr:
    """The values of all columns of a stratum as one label, another for each stratum.

    A value stands in quotes where the label could be that of another stratum, or of all of them.
    """
    if not trials.by:
        return pl.lit("").alias("stratum")
    values = [pl.col(part.name).cast(pl.String) for part in trials.by]
    if len(values) == 1:
        doubtful = [(values[0] == _OVERALL) | values[0].str.starts_with('"')]
    else:
        doubtful = [value.str.contains(_AMBIGUOUS) for value in values]
    parts = [
        pl.when(doubt).then(_quoted_text(value)).otherwise(value)
        for value, doubt in zip(values, doubtful, strict=True)
    ]
    label = pl.concat_str(parts, separator=" / ").fill_null(_OVERALL)
    return inert_texts(label).alias("stratum")


def _quoted_text(value: pl.Expr) -> pl.Expr:
    escaped = value.str.replace_all("\\", r"\\", literal=True)
    # Not `pl.format`, here and below: in Polars 1.35 it panics on nulls.
    return pl.lit('"') + escaped.str.replace_all('"', r"\"", literal=True) + pl.lit('"')


def inert_texts(text: pl.Expr) -> pl.Expr:
    """Texts that neither close nor open a script, and have no character that breaks a picture.

    Altair writes them into a script: an invisible word joiner parts the bracket from its meaning.
    Vega stops at line separators, and its renderer ends the process at characters that XML forbids.
    """
    visible = text.str.replace_many([*HIDDEN], [*HIDDEN.values()])
    return visible.str.replace_all(_TAG, "<\N{WORD JOINER}$1")


def inert_text(text: str) -> str:
    """Text that neither closes nor opens a script; see `inert_texts`."""
    return re.sub(_TAG, "<\N{WORD JOINER}\\1", visible_text(text))


def model_label(trials: Trials) -> pl.Expr:
    """The label of a model, nothing where it has no name."""
    name = pl.lit("") if trials.model is None else pl.col(trials.model.name).cast(pl.String)
    return inert_texts(name).alias("model")


def row_labels(trials: Trials) -> list[pl.Expr]:
    """The labels of the panel and of the line in it."""
    if trials.model is None:
        return [pl.lit("").alias("stratum"), stratum_label(trials).alias("model")]
    return [stratum_label(trials), model_label(trials)]


def metric_heading(metric: Metric, k: int | None, trials: int | None = None) -> str:
    """A metric as people write it."""
    return inert_text(metric.heading(k, trials))


def spread_places(values: Sequence[float], gap: float, span: tuple[float, float]) -> list[float]:
    """Places for labels near ascending values, at least `gap` apart.

    They are inside `span` if there is room.
    """
    low, high = span
    inside = (max(value, low) for value in values)
    upwards = [*accumulate(inside, lambda last, value: max(value, last + gap))]
    inside = (min(value, high) for value in upwards[::-1])
    return [*accumulate(inside, lambda last, value: min(value, last - gap))][::-1]


def marked_rows(rows: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Rows with intervals cut to the metric's bounds, `marked` and `ahead`.

    `marked` is the estimate if it differs from mu; `ahead` says that mu is a prediction.
    """
    low, high = metric.support
    far = (pl.col("estimate") - pl.col("mu")).abs() > _UNSEEN_SHARE * (high - low)
    # Calibrated ends are where the rewards may be; a posterior's may lie beyond the metric.
    inside = pl.col("mu").is_between(low, high)
    if "inference" in rows.columns:
        inside &= pl.col("inference") == "posterior"
    return rows.with_columns(
        *(pl.when(inside).then(pl.col(end).clip(low, high)).otherwise(end) for end in ("lo", "hi")),
        marked=pl.when(far).then("estimate"),
        ahead=pl.col("estimate").is_null(),
    )


def curve_sizes(k: DrawSizes) -> tuple[int, ...]:
    """Draw sizes; of a single one the powers of two below it, and itself."""
    checked = draw_sizes(k)
    if is_several(k):
        return checked
    (most,) = checked
    return (*(2**power for power in range((most - 1).bit_length())), most)


def axis_values(name: str, dtype: pl.DataType) -> pl.Expr:
    """The values of a stratum as a picture takes them: numbers, or times in words."""
    value = pl.col(name)
    if dtype.is_integer() or dtype.is_float():
        return value
    if isinstance(dtype, pl.Date | pl.Datetime):
        return value.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.3f")
    return value.cast(pl.Int64 if dtype.is_temporal() else pl.Float64)


LINE = ["stratum", "model"]
