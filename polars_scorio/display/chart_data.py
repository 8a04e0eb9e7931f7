"""The rows of results as pictures want them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from polars_scorio.arguments import is_several
from polars_scorio.counting.log import Trials
from polars_scorio.display.words import HIDDEN, chance_text, visible_text
from polars_scorio.maths.ranks import selected_tail
from polars_scorio.metrics.metric import Bounds, DrawSizes, Metric, draw_sizes

_OVERALL = "overall"  # the rows over all strata
_AMBIGUOUS = '"| /|/ '  # in a value of several that are joined by " / "
_TAG = "(?i)<([!/]|script)"
_BARS = 10  # of a histogram
_SAME = 1e-3  # of its range: what nobody sees in a picture


def strata_heading(trials: Trials) -> str:
    """Name of the strata, for headings."""
    return inert_text(" / ".join(trials.strata))


def panel_heading(trials: Trials) -> str:
    """Name of the panels; none without models, whose strata are lines in one panel."""
    return strata_heading(trials) if trials.model else ""


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
    upwards: list[float] = []
    for value in values:
        upwards.append(max(value, upwards[-1] + gap if upwards else low))
    downwards: list[float] = []
    for value in reversed(upwards):
        downwards.append(min(value, downwards[-1] - gap if downwards else high))
    return downwards[::-1]


def marked_rows(rows: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Rows with intervals cut to the metric's bounds, `marked` and `ahead`.

    `marked` is the estimate if it differs from mu; `ahead` says that mu is a prediction.
    """
    low, high = metric.support
    far = (pl.col("estimate") - pl.col("mu")).abs() > _SAME * (high - low)
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


def thinned_rows(rows: pl.DataFrame, keys: Sequence[str], most: int) -> pl.DataFrame:
    """The rows of about `most` evenly spaced n, with the first and last of each line (`keys`)."""
    every = -(-rows["n"].n_unique() // most) or 1
    last = pl.col("n").max().over(*keys) if keys else pl.col("n").max()
    return rows.filter(((pl.col("n") - 1) % every == 0) | (pl.col("n") == last))


def by_difficulty(rows: pl.DataFrame, cells: int) -> tuple[pl.DataFrame, int]:
    """Questions by `place` (0 is the hardest), and how many share one of at most `cells` cells.

    A shared cell has the mean of mu.
    """
    # Means that differ in their last digits are the same.
    difficulty = rows.group_by("stratum", "question").agg(pl.col("mu").mean().round(12).alias("d"))
    ordered = difficulty.sort("stratum", "d", "question", nulls_last=True)
    places = ordered.with_columns(pl.int_range(pl.len()).over("stratum").alias("place"))
    most = max(places["place"].to_list(), default=0) + 1
    each = -(-most // cells)
    placed = rows.join(places, on=["stratum", "question"]).with_columns(pl.col("place") // each)
    if each > 1:
        first = pl.col("place") * each + 1
        shared = pl.concat_str(first, pl.lit(" to "), first + each - 1).alias("question")
        cell = placed.group_by("stratum", "model", "place").agg(pl.col("mu").mean())
        placed = cell.with_columns(shared)
    columns = completed_rows(
        placed.select("stratum", "model", "question", "place", "mu"), "question", "place"
    )
    return columns.sort("stratum", "place", "model"), each


def completed_rows(rows: pl.DataFrame, *across: str) -> pl.DataFrame:
    """The rows, and one without numbers for each that a model lacks in its stratum.

    The values of `across`, together with a stratum, tell what a model could have.

    >>> rows = {"stratum": ["a", "a", "b"], "model": ["x", "y", "x"], "mu": [0.1, 0.2, 0.3]}
    >>> completed_rows(pl.DataFrame(rows)).rows()
    [('a', 'x', 0.1), ('a', 'y', 0.2), ('b', 'x', 0.3), ('b', 'y', None)]
    """
    there = rows.select("stratum", *across).unique(maintain_order=True)
    wanted = there.join(rows.select("model").unique(maintain_order=True), how="cross")
    keys = ["stratum", *across, "model"]
    whole = wanted.join(rows, on=keys, how="left", maintain_order="left")
    return whole.select(rows.columns)


def both_ways(pairs: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """Pairs of `Scorio.compare` in both orders, with the probability that the first wins.

    Columns stratum, model, other, diff, prob_better, text (prob_better with two digits) and sure.
    """
    a, b = (inert_texts(pl.col(name).cast(pl.String)) for name in ("model_a", "model_b"))
    # By their costs, of which less is better, models have a ratio.
    gap = pl.col("diff") if "diff" in pairs.columns else -pl.col("ratio").log()
    prob_better, sure = pl.col("prob_better"), pl.col("better").is_not_null().alias("sure")
    rows = pl.concat(
        pairs.select(
            stratum_label(trials),
            first.alias("model"),
            second.alias("other"),
            leads.alias("diff"),
            chance.alias("prob_better"),
            sure,
        )
        for first, second, leads, chance in (
            (a, b, gap, prob_better),
            (b, a, -gap, 1 - prob_better),
        )
    )
    texts = [None if each is None else chance_text(each) for each in rows["prob_better"]]
    return rows.insert_column(5, pl.Series("text", texts, pl.String))


def paired_rows(ways: pl.DataFrame) -> pl.DataFrame:
    """Both orders of all pairs, without numbers if a stratum lacks one of the models."""
    models = ways.select("model").unique(maintain_order=True)
    pairs = models.join(models.select(other="model"), how="cross")
    strata = ways.select("stratum").unique(maintain_order=True)
    every = strata.join(pairs.filter(pl.col("model") != pl.col("other")), how="cross")
    keys = ["stratum", "model", "other"]
    whole = every.join(ways, on=keys, how="left", maintain_order="left")
    return whole.with_columns(pl.col("sure").fill_null(value=False))


def axis_values(name: str, dtype: pl.DataType) -> pl.Expr:
    """The values of a stratum as a picture takes them: numbers, or times in words."""
    value = pl.col(name)
    if dtype.is_integer() or dtype.is_float():
        return value
    if isinstance(dtype, pl.Date | pl.Datetime):
        return value.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.3f")
    return value.cast(pl.Int64 if dtype.is_temporal() else pl.Float64)


def difficulty_bars(rows: pl.DataFrame, span: Bounds) -> pl.DataFrame:
    """Number of questions of each kind in each of ten equal parts of a range of rates.

    `rows`: stratum, rate, status and reversed of each question.
    """
    low, high = span
    width = (high - low) / _BARS or 1.0
    # Without the last digits, in which .3 is less than three tenths.
    bar = ((pl.col("rate") - low) / width + 1e-9).floor().clip(0, _BARS - 1)
    status = pl.col("status").replace_strict(
        {"never": "never solved", "always": "always solved"}, default=None, return_dtype=pl.String
    )
    kind = status.fill_null(
        pl.when("reversed").then(pl.lit("reversed")).otherwise(pl.lit("others"))
    )
    counted = rows.group_by("stratum", bar.alias("bar"), kind.alias("kind")).agg(
        pl.len().alias("questions")
    )
    ends = [
        (low + width * (pl.col("bar") + place)).round(12).alias(name)
        for place, name in enumerate(("least", "most"))
    ]
    return counted.sort("stratum", "bar", "kind").select("stratum", *ends, "kind", "questions")


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
