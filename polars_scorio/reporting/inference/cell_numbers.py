"""The numbers that an inference gives for a row of a report, one for each cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl

from polars_scorio.arguments import InferenceKind
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.metric_numbers import Numbers
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.rewards.reward_price import RewardPrice
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import NUMBERS

# The last column of a report: the inference of the row, or `RANGE` where k exceeds the trials.
INFERENCE, RANGE = "inference", "range"
# Information at this look over the planned information, if intervals hold at every look.
INFORMATION = "information"
# Mean and standard deviation from which an interval is made if those are not mu and sigma: an
# interval of the mean over strata is made from them.
CENTER, REACH = ":center", ":reach"
# The variance estimate that comparisons of calibrated numbers need.
PRICE, REWARD_PRICE = ":price", ":reward_price"
# The least reward of the range of a row, and how far the largest lies above it.
REWARD_RANGE = ":reward_range"
# Whether the range of real-valued rewards was given, or is that of the rewards that were seen.
BOUNDS = "bounds"
# The estimates of the questions, in an order that all models share, for the same purpose.
VALUES = ":values"
# The share of a question, or of each of these questions, in a mean over strata, but for a factor.
WEIGHT = ":weight"
_PRICE_PARTS = [field.name for field in fields(Price)][:6]
_REWARD_PARTS = [field.name for field in fields(RewardPrice)]
# Columns that rows of a report have inside a plan, for means over strata and for comparisons.
INTERVAL_DTYPES: dict[str, pl.DataType] = {CENTER: pl.Float64(), REACH: pl.Float64()}
COMPARISON_DTYPES: dict[str, pl.DataType] = {
    PRICE: pl.Struct(dict.fromkeys(_PRICE_PARTS, pl.Float64())),
    REWARD_PRICE: pl.Struct(dict.fromkeys(_REWARD_PARTS, pl.Float64())),
    VALUES: pl.List(pl.Float64()),
    WEIGHT: pl.List(pl.Float64()),
}
SAMPLE_DTYPES: dict[str, pl.DataType] = {
    WEIGHT: pl.Float64(),
    REWARD_RANGE: pl.Struct({"low": pl.Float64(), "width": pl.Float64()}),
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
    price : Price, RewardPrice or None
        The noise of the estimate, if lo and hi are made from that.
    bounds : str or None
        Whether the range of real-valued rewards was "given", or "observed".
    information : ndarray of float or None
        Information over the planned one, if lo and hi hold at every look.
    """

    inference: InferenceKind
    estimate: Floats
    mu: Floats
    sigma: Floats
    lo: Floats
    hi: Floats
    center: Floats | None = None
    reach: Floats | None = None
    price: Price | RewardPrice | None = None
    bounds: str | None = None
    information: Floats | None = None

    def columns(self) -> pl.DataFrame:
        """The columns of a report, and those inside a plan as far as they are known."""
        columns: dict[str, Floats | pl.Series] = {name: getattr(self, name) for name in NUMBERS}
        columns[INFERENCE] = self._inference_column()
        if self.center is not None and self.reach is not None:
            columns |= {CENTER: self.center, REACH: self.reach}
        if isinstance(self.price, RewardPrice):
            parts = asdict(self.price)
            columns[REWARD_PRICE] = pl.DataFrame(parts).to_struct()
            columns[REWARD_RANGE] = pl.DataFrame(parts).select("low", "width").to_struct()
        elif self.price is not None:
            parts = {name: getattr(self.price, name) for name in _PRICE_PARTS}
            columns[PRICE] = pl.DataFrame(parts).to_struct()
        if self.information is not None:
            columns[INFORMATION] = self.information
        found = pl.DataFrame(columns, nan_to_null=True)
        if self.bounds is None:
            return found
        return found.with_columns(pl.lit(self.bounds, pl.String).alias(BOUNDS))

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


def read_reward_price(rows: pl.DataFrame) -> RewardPrice:
    """The price of real-valued rewards that rows of a report of one metric carry."""
    price = rows[REWARD_PRICE].struct
    return RewardPrice(**{name: price.field(name).to_numpy() for name in _REWARD_PARTS})
