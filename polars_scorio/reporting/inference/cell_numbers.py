"""The numbers that an inference gives for a row of a report, one for each cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl

from polars_scorio.arguments import InferenceKind
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.metric_numbers import Numbers
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import NUMBERS

# The last column of a report: the inference of the row, or `RANGE` where k exceeds the trials.
INFERENCE, RANGE = "inference", "range"
# Mean and standard deviation from which an interval is made if those are not mu and sigma: an
# interval of the mean over strata is made from them.
CENTER, REACH = ":center", ":reach"
# The variance estimate that comparisons of calibrated numbers need.
PRICE = ":price"
# The estimates of the questions, in an order that all models share, for the same purpose.
VALUES = ":values"
# The share of a question, or of each of these questions, in a mean over strata, but for a factor.
WEIGHT = ":weight"
_PRICE_PARTS = [field.name for field in fields(Price)][:6]
# Columns that rows of a report have inside a plan, for means over strata and for comparisons.
INTERVAL_DTYPES: dict[str, pl.DataType] = {CENTER: pl.Float64(), REACH: pl.Float64()}
COMPARISON_DTYPES: dict[str, pl.DataType] = {
    PRICE: pl.Struct(dict.fromkeys(_PRICE_PARTS, pl.Float64())),
    VALUES: pl.List(pl.Float64()),
    WEIGHT: pl.List(pl.Float64()),
}


class CellNumbers(NamedTuple):
    """A metric at one k: arrays with a number for each cell, NaN if there is no such number.

    Attributes
    ----------
    inference : str
        The name of the inference that made the numbers.
    estimate, mu, sigma, lo, hi : ndarray of float
        The columns of a report.
    center, reach : ndarray of float or None
        Mean and standard deviation from which lo and hi are made, if they are made from such.
    price : Price or None
        The noise of the estimate, if lo and hi are made from that.
    """

    inference: InferenceKind
    estimate: Floats
    mu: Floats
    sigma: Floats
    lo: Floats
    hi: Floats
    center: Floats | None = None
    reach: Floats | None = None
    price: Price | None = None

    def columns(self) -> pl.DataFrame:
        """The columns of a report, and those inside a plan as far as they are known."""
        columns: dict[str, Floats | pl.Series] = {name: getattr(self, name) for name in NUMBERS}
        columns[INFERENCE] = self._inference_column()
        if self.center is not None and self.reach is not None:
            columns |= {CENTER: self.center, REACH: self.reach}
        if self.price is not None:
            parts = {name: getattr(self.price, name) for name in _PRICE_PARTS}
            columns[PRICE] = pl.DataFrame(parts).to_struct()
        return pl.DataFrame(columns, nan_to_null=True)

    def _inference_column(self) -> pl.Series:
        """Name of the inference of each cell; `RANGE` for a range of forecasts."""
        forecast = (self.inference == "calibrated") & np.isnan(self.estimate) & ~np.isnan(self.lo)
        return pl.Series(np.where(forecast, RANGE, self.inference), dtype=pl.String)


# Metric name and draw size: what tells the rows of one cell apart.
Row: TypeAlias = "tuple[str, int | None]"
RowNumbers: TypeAlias = Mapping[Row, CellNumbers]


def clipped_numbers(numbers: Numbers, metric: Metric) -> CellNumbers:
    """Calibrated numbers of a metric, the interval clipped to the bounds of the metric."""
    bounds = metric.bounds or (-np.inf, np.inf)
    lo, hi = np.clip(numbers.lo, *bounds), np.clip(numbers.hi, *bounds)
    estimate, mu, sigma = numbers.estimate, numbers.mu, numbers.sigma
    return CellNumbers("calibrated", estimate, mu, sigma, lo, hi, price=numbers.price)


def read_price(rows: pl.DataFrame, metric: Metric) -> Price:
    """The price that rows of a report of one metric carry."""
    low, high = metric.support
    price = rows[PRICE].struct
    parts: dict[str, Floats] = {name: price.field(name).to_numpy() for name in _PRICE_PARTS}
    return Price(**parts, low=low, width=high - low, bounded=not metric.unbounded)
