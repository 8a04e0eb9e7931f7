"""The rows of a tidy report, with their keys apart from their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from polars_scorio.arguments import value_text

Report: TypeAlias = pl.DataFrame | pl.LazyFrame
NUMBERS = "estimate", "mu", "sigma", "lo", "hi"
MODEL = "model"


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A row of a report.

    Attributes
    ----------
    keys : dict
        Strata, model and question of the row: the columns before `metric`.
    metric : str
        The name of the metric.
    k : int or None
        Its draw size.
    values : dict
        All columns of the row.
    """

    keys: dict[str, object]
    metric: str
    k: int | None
    values: dict[str, object]

    def number(self, name: str) -> float | None:
        """A number of the row; None if it is null or not finite."""
        value = self.values[name]
        known = isinstance(value, int | float) and abs(value) < float("inf")
        return float(value) if known else None  # type: ignore[arg-type]  # a number, as checked

    @property
    def strata(self) -> list[str]:
        """The strata of the row, as texts."""
        return [str(value) for name, value in self.keys.items() if name != MODEL]


def report_rows(report: Report) -> list[ReportRow]:
    """The rows of a tidy report.

    Raises
    ------
    TypeError
        If it is no frame.
    ValueError
        If the frame lacks columns of a tidy report.
    """
    if not isinstance(report, pl.DataFrame | pl.LazyFrame):
        raise TypeError(
            "report must be the DataFrame or LazyFrame that report() returns, got "
            f"{value_text(report)}"
        )
    frame = report.lazy().collect()
    lacking = [name for name in ("metric", "k", *NUMBERS) if name not in frame.columns]
    if lacking:
        raise ValueError(
            f"the frame lacks the columns {lacking} of a tidy report: pass what report() returns, "
            f"without wide=True; the columns are {frame.columns}"
        )
    names = frame.columns[: frame.columns.index("metric")]
    return [
        ReportRow({name: row[name] for name in names}, row["metric"], row["k"], row)
        for row in frame.iter_rows(named=True)
    ]
