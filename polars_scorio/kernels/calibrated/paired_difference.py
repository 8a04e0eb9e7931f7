"""Differences of two models on the same questions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.clopper_pearson import Reach, reach
from polars_scorio.kernels.calibrated.further_draws import Range
from polars_scorio.kernels.calibrated.variance_price import Price


class Difference(NamedTuple):
    """First less second, with its interval, each of shape (P,)."""

    diff: Floats
    sigma: Floats
    lo: Floats
    hi: Floats


def difference(first: Price, second: Price, confidence: float) -> Difference:
    """Difference of a metric on these very questions, whatever the trials of both sides.

    Parameters
    ----------
    first, second : Price
        Both sides of each pair (see `Price.at`).
    confidence : float
        Of the interval; for a critical value c it is ``2 Phi(c) - 1``.

    Returns
    -------
    Difference
        Away from the bounds both sides add their priced noise, at a bound what is left of their own
        interval: two models that always succeed may still differ.

    Examples
    --------
    Two rates of .5 and .6, each as good as that of 100 questions: .1 -+ 1.96 sqrt(.0049).

    >>> def rate(p):
    ...     p = np.array([p])
    ...     return Price(p, 1 - p, p, 1 - p, p * (1 - p) / 100, np.array([1.0]))
    >>> lo, hi = difference(rate(0.6), rate(0.5), 0.95)[2:]
    >>> lo.round(2), hi.round(2)
    (array([-0.04]), array([0.24]))
    """
    return difference_within(first, second, reach(first, confidence), reach(second, confidence))


def difference_within(first: Price, second: Price, a: Reach, b: Reach) -> Difference:
    """`difference`, given how far both sides reach: `reach` at the confidence."""
    diff = first.mu - second.mu
    top = max(first.width, second.width) if first.bounded and second.bounded else np.inf
    lo = np.clip(diff - np.hypot(a.down, b.up), -top, top)
    hi = np.clip(diff + np.hypot(a.up, b.down), -top, top)
    return Difference(diff, np.hypot(first.sigma, second.sigma), lo, hi)


def forecast_difference(first: Range, second: Range) -> Range:
    """Difference of two forecasts: the worst ends of both.

    Examples
    --------
    >>> one = np.array([1.0])
    >>> wide, narrow = Range(one / 2, 0 * one, one), Range(one / 4, 0 * one, one / 2)
    >>> print(*forecast_difference(wide, narrow))
    [0.25] [-0.5] [1.]
    """
    return Range(first.mu - second.mu, first.lo - second.hi, first.hi - second.lo)
