"""Summary of a metric for each group: estimate, and mean and sigma of the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from polars_scorio.counting.roles import Category
from polars_scorio.kernels.array_types import Floats

NUMBERS = ("estimate", "mu", "sigma", "lo", "hi")
# A negative power of zero, in a row of numbers: only metrics with `unbounded` can have one.
INFINITE = (
    pl.any_horizontal(pl.col("estimate", "mu", "sigma").is_infinite()) | pl.col("sigma").is_null()
)


class Summary(NamedTuple):
    """Estimate and posterior of each group: arrays of shape (G,)."""

    estimate: Floats  # NaN where no unbiased estimate exists
    mu: Floats
    sigma: Floats
    around: Floats | None = (
        None  # mean and sigma of the interval, shape (2, G), if not mu and sigma
    )


class Summarized(Protocol):
    """The part of a metric that expressions and inferences need; see `metric.Metric`."""

    @property
    def name(self) -> str:
        """Name in results."""

    @property
    def row_sizes(self) -> Sequence[int | None]:
        """The draw sizes, or the thresholds of a curve."""

    @property
    def w(self) -> Sequence[tuple[Category, float]] | None:
        """Category and weight of all known categories; None for success and failure."""

    @property
    def interval_limits(self) -> tuple[float, float] | None:
        """Range into which published intervals are clipped."""

    @property
    def looks_at(self) -> str:
        """Outcomes, answers or costs."""

    @property
    def unbounded(self) -> bool:
        """Whether a number can be infinite."""

    def summary(self, posterior: Any, k: int | None) -> Summary:  # noqa: ANN401 - by the metric
        """Estimate and posterior of each group."""


def quiet_infinities(metric: Summarized) -> AbstractContextManager[object]:
    """Silence NumPy while a metric is computed that can be infinite: the report refuses that.

    Other metrics enter no `errstate`, not even one that changes nothing: in NumPy 1 that would
    take away what other threads ignore, and in NumPy 2 turn on the warning of underflow.
    """
    return np.errstate(all="ignore") if metric.unbounded else nullcontext()


def number_column(values: Floats) -> pl.Series:
    """The numbers as a column: null for NaN, which says that there is no such number."""
    return pl.Series(values, nan_to_null=True)  # `fill_nan` of a Series is a query of its own
