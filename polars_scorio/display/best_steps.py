"""The best step of each line over steps, whose interval is corrected for being selected."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from polars_scorio.kernels.simultaneous.selected_leader import selected_tail

# Lower and upper end of the best step of a line; null at all others.
BEST_LO, BEST_HI = "best_lo", "best_hi"
_LINE = ["stratum", "model"]


def with_best_steps(
    rows: pl.DataFrame, confidence: float, rows_at: Callable[[float], pl.DataFrame]
) -> pl.DataFrame:
    """Add the corrected interval of the best step of each line, as `Scorio.best` has it.

    Parameters
    ----------
    rows : DataFrame
        stratum, model, at, mu, lo, hi, and ahead (whether mu is a prediction), a row for each step.
    confidence : float
        Of the intervals.
    rows_at : callable
        The rows with intervals of another confidence: one call for each number of steps.

    Returns
    -------
    DataFrame
        The rows with `best_lo` and `best_hi`: null where a step is not the best one of its line, at
        predictions, and in lines of one step. Of equal steps the first is the best.

    Examples
    --------
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
