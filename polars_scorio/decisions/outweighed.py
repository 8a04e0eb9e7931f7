"""Pairs of models between which the prior decides, and not the trials."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_scorio.kernels.arrays import Floats
from polars_scorio.kernels.intervals import normal_interval
from polars_scorio.metrics.base import Bounds, Metric
from polars_scorio.reporting.prior_warning import CURES, PriorWarning

# Whether the prior decides a pair; for the time that its warning takes.
OUTWEIGHED = ":outweighed"

_ROUNDING = 1e-12  # of the largest score


def reach(bounds: Bounds | None) -> Bounds:
    """The bounds of a difference of two numbers within bounds."""
    if bounds is None:
        return -np.inf, np.inf
    return bounds[0] - bounds[1], bounds[1] - bounds[0]


def outweighed(diff: Floats, lo: Floats, hi: Floats, metric: Metric) -> NDArray[np.bool_]:
    """Whether differences of unbiased estimates lie outside the intervals of the posteriors.

    Parameters
    ----------
    diff : ndarray of float
        Differences of the estimates; NaN, where there is none, is never outside.
    lo, hi : ndarray of float
        Intervals of the differences of the posterior means.
    metric : Metric
        Its bounds clip the intervals, and so the differences.
    """
    clipped, near = np.clip(diff, *reach(metric.bounds)), _ROUNDING * np.abs(metric.span).max()
    return np.asarray((clipped < lo - near) | (clipped > hi + near))


def warn_of_rows(
    metric: Metric, strata: Sequence[str], confidence: float
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Say once in how many pairs of rows the prior decides; for `checked`.

    Parameters
    ----------
    metric : Metric
        Whose rows they are, one for each stratum and model.
    strata : sequence of str
        Within which columns pairs are made.
    confidence : float
        Of the intervals of the differences.
    """

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        parts = rows.partition_by(*strata) if strata else [rows]
        pairs = [_outweighed_pairs(part, metric, confidence) for part in parts]
        if pairs:
            warn_of_prior(pl.DataFrame({OUTWEIGHED: np.concatenate(pairs)}))
        return rows

    return check


def _outweighed_pairs(rows: pl.DataFrame, metric: Metric, confidence: float) -> NDArray[np.bool_]:
    a, b = np.triu_indices(rows.height, 1)
    estimate, mu, sigma = (rows[name].to_numpy() for name in ("estimate", "mu", "sigma"))
    lo, hi = normal_interval(
        mu[a] - mu[b], np.hypot(sigma[a], sigma[b]), confidence, reach(metric.bounds)
    )
    return outweighed(estimate[a] - estimate[b], lo, hi, metric)


def warn_of_prior(pairs: pl.DataFrame) -> pl.DataFrame:
    """Say once in how many pairs the prior decides; for `checked`."""
    outside = int(pairs[OUTWEIGHED].sum())
    if outside:
        warnings.warn(
            f"in {outside:,} of {pairs.height:,} pairs of models the difference of the estimates "
            "lies outside the interval of the comparison: the uniform prior of each question "
            "outweighs its trials, so that a model may come out better only because it has more "
            f"trials, or fewer. {CURES}",
            PriorWarning,
            stacklevel=2,
        )
    return pairs
