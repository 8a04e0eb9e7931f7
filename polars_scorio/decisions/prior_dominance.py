"""Pairs of models between which the prior decides, and not the trials."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl

from polars_scorio.kernels.array_types import Floats, Mask
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.prior_warning import CURES, PriorWarning

# Numbers of pairs in which the prior decides, and of all pairs. The warning takes their sums; the
# columns are then dropped.
PRIOR_DECIDES, PAIRS = ":prior_decides", ":pairs"
DOUBTS: dict[str, pl.DataType] = {PRIOR_DECIDES: pl.UInt64(), PAIRS: pl.UInt64()}

_ROUNDING = 1e-12  # of the largest score


def prior_decides(diff: Floats, lo: Floats, hi: Floats, metric: Metric) -> Mask:
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
    limit = np.inf if metric.bounds is None else metric.bounds[1] - metric.bounds[0]
    clipped, near = np.clip(diff, -limit, limit), rounding_error(metric)
    return np.asarray((clipped < lo - near) | (clipped > hi + near))


def rounding_error(metric: Metric) -> float:
    """Differences of scores that are no larger are rounding errors."""
    return float(_ROUNDING * np.abs(metric.support).max())


def warn_of_prior(rows: pl.DataFrame) -> pl.DataFrame:
    """Warn once of the pairs in which the prior decides; for `check_frame`."""
    outside, pairs = (int(rows[name].sum()) for name in DOUBTS)
    if outside:
        warnings.warn(
            f"in {outside:,} of {pairs:,} pairs of models the difference of the estimates "
            "lies outside the interval of the comparison: the uniform prior of each question "
            "outweighs its trials, so that a model may come out better only because it has more "
            f"trials, or fewer. {CURES}",
            PriorWarning,
            stacklevel=2,
        )
    return rows
