"""Draws of more trials than there were: the range over all populations that the counts allow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Mask
from polars_scorio.kernels.calibrated.extremes import Region
from polars_scorio.kernels.calibrated.group_fits import Calibrated, Group
from polars_scorio.kernels.calibrated.root_credit import RootDraw
from polars_scorio.kernels.draws.credit_at_rates import credit_at

_FURTHEST = 2  # draws that the free fit predicts, over the trials of the shortest question


class Range(NamedTuple):
    """Expected credit of a draw, and its range, each of shape (G,)."""

    mu: Floats
    lo: Floats
    hi: Floats


def forecast_range(
    fitted: Calibrated,
    gains: Floats | RootDraw,
    confidence: Floats | float,
    where: Mask | None = None,
) -> Range:
    """The mean credit of draws of any size, in each group.

    Nothing identifies it where k exceeds the trials: the range is over all distributions of success
    rates whose log likelihood is within half a quantile of chi square of the largest.

    Parameters
    ----------
    fitted : Calibrated
        The groups and their fits.
    gains : ndarray of float, shape (k,), or RootDraw
        What each success adds to the credit; or Geom@k, which is no such sum.
    confidence : float or ndarray of float, shape (G,)
        Of the range, inside (0, 1).
    where : ndarray of bool, shape (G,), optional
        The groups that are asked for; NaN in the others.

    Returns
    -------
    Range
        `mu` is the mean under the free fit for draws of up to twice as many trials as the shortest
        question has; NaN beyond, where neither fit predicts it: of four times as many, the bias is
        above .05 in a third of the populations that were tried.

    Examples
    --------
    Three failures and seven successes, one trial each: two trials of a question may well be equal.

    >>> from polars_scorio.kernels.states import States
    >>> counts, every = np.array([[1, 0], [0, 1]]), np.array([0, 0])
    >>> states = States.tally(counts, 0 * counts, every, np.array([3, 7]), 1)
    >>> ahead = forecast_range(Calibrated.fit(states), np.array([1.0, 0.0]), 0.95)
    >>> print(*(end.round(4) for end in ahead))
    [0.8351] [0.3935] [0.9928]
    """
    numbers = np.full((3, len(fitted.groups)), np.nan)
    confidences = np.broadcast_to(confidence, len(fitted.groups)).tolist()
    asked = range(len(fitted.groups)) if where is None else np.flatnonzero(where).tolist()
    for column in asked:
        group = fitted.groups[column]
        rates = group.free.rates
        values = gains.at_rates(*rates) if isinstance(gains, RootDraw) else credit_at(*rates, gains)
        mean, *numbers[1:, column] = _group_range(group, values, confidences[column])
        if gains.size <= _FURTHEST * group.n.min():
            numbers[0, column] = mean
    return Range(*numbers)


def _group_range(group: Group, values: Floats, confidence: float) -> tuple[float, float, float]:
    """Mean and range of one group, from the credit at each rate; see `forecast_range`."""
    free = group.free
    mean = float(group.questions @ (free.posterior @ values) / group.size)
    room = float(scipy.special.chdtri(1, 1 - confidence)) / 2
    region = Region.around(free.likelihood, free.questions, free.best, room)
    low, high = max(float(values.min()), 0.0), min(float(values.max()), 1.0)
    lo, hi = np.clip((-region.largest(-values), region.largest(values)), low, high).tolist()
    # In a narrow range the mean may differ from an end by a rounding.
    return float(np.clip(mean, lo, hi)), lo, hi
