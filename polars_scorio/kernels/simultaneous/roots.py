"""Roots of many increasing functions at once."""

from collections.abc import Callable

import numpy as np

from polars_scorio.kernels.array_types import Floats


def illinois_root(
    function: Callable[[Floats], Floats], low: Floats, high: Floats, steps: int
) -> Floats:
    """Root of each function between its ends by the Illinois method.

    Parameters
    ----------
    function : callable
        Elementwise and increasing; at most 0 at `low` and at least 0 at `high`.
    low, high : ndarray of float
        Ends, of one shape.
    steps : int
        How many evaluations: a fixed number, so that no root hangs on the others beside it.

    Returns
    -------
    ndarray of float
        The end that is nearer to the root after the last step.

    Examples
    --------
    >>> illinois_root(lambda x: x**2 - 2, np.array([1.0]), np.array([2.0]), 9).round(9)
    array([1.41421356])
    """
    left, right = low, high
    at_left, at_right = function(low), function(high)
    best, at_best = left, at_left
    last = np.zeros_like(low)  # which end moved last: -1 left, 1 right
    for _ in range(steps):
        rise = at_right - at_left
        share = np.divide(-at_left, rise, out=np.full_like(rise, 0.5), where=rise > 0)
        new = np.clip(left + share * (right - left), left, right)
        value = function(new)
        best = np.where(np.abs(value) <= np.abs(at_best), new, best)
        at_best = np.where(np.abs(value) <= np.abs(at_best), value, at_best)
        below = value < 0
        # The end that stays for the second time counts half, or it would stay for ever.
        at_right = np.where(below, np.where(last < 0, at_right / 2, at_right), value)
        at_left = np.where(below, value, np.where(last > 0, at_left / 2, at_left))
        left, right = np.where(below, new, left), np.where(below, right, new)
        last = np.where(below, -1.0, 1.0)
    return best
