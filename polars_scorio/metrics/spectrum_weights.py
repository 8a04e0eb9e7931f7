"""Weights of threshold spectra: what each further success of a draw of k trials is worth.

Each function returns k weights that are not negative and sum up to 1, for
`ps.threshold_spectrum_at_k` and `ps.geo_spectrum_at_k`. They are a preference, not a prior.

References
----------
*Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning*, appendix C; the families as in
scorio 0.2.3.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import ArrayLike

from polars_scorio.arguments import (
    CHANCE,
    POSITIVE,
    check_count,
    check_number,
    flat_numbers,
    public_face,
    value_text,
)
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.draws import at_least
from polars_scorio.signatures import FunctionT, with_shared_help

__all__ = ["beta", "discovery", "maxent", "moment", "payoff", "stability", "threshold", "uniform"]


if not TYPE_CHECKING:  # checkers would take it for a promise of every name
    __getattr__, __dir__ = public_face(__name__, __all__)


_MOST = 1_000_000
_ROUNDING = 1e-12


def _with_spectrum_help(function: FunctionT) -> FunctionT:
    """Describe the draw size and the result of a function, which are those of all."""
    return with_shared_help(
        function,
        {"k": "k : int\n    Draw size."},
        Returns="ndarray of float, shape (k,)",
        Raises="ValueError\n    If `k` is not a positive int, or another argument out of range.",
    )


@_with_spectrum_help
def uniform(k: int) -> Floats:
    """Equal weights: every success is worth the same, so that the spectrum is the accuracy.

    Examples
    --------
    >>> uniform(4)
    array([0.25, 0.25, 0.25, 0.25])
    """
    size = _draw_size(k)
    return np.full(size, 1 / size)


@_with_spectrum_help
def threshold(k: int, t: int) -> Floats:
    """All weight on the t-th success: the probability of at least t successes.

    Parameters
    ----------
    t : int
        How many successes are asked for, from 1 to k.

    Examples
    --------
    >>> threshold(4, 3)
    array([0., 0., 1., 0.])
    """
    size = _draw_size(k)
    return at_least(check_count("t", t, most=size), size)


@_with_spectrum_help
def discovery(k: int) -> Floats:
    """All weight on the first success: Pass@k.

    Examples
    --------
    >>> discovery(3)
    array([1., 0., 0.])
    """
    return threshold(k, 1)


@_with_spectrum_help
def stability(k: int) -> Floats:
    """All weight on the last success: Pass^k.

    Examples
    --------
    >>> stability(3)
    array([0., 0., 1.])
    """
    return threshold(k, _draw_size(k))


@_with_spectrum_help
def moment(k: int, lam: float) -> Floats:
    """Weights of a power of the share of successes: lam < 1 for discovery, > 1 for stability.

    Parameters
    ----------
    lam : float
        The exponent, positive; 1 is `uniform`.

    Returns
    -------
    ndarray of float, shape (k,)
        ``(t / k)**lam - ((t - 1) / k)**lam`` for t = 1..k.

    Examples
    --------
    >>> moment(4, 2)
    array([0.0625, 0.1875, 0.3125, 0.4375])
    """
    power = check_number("lam", lam, POSITIVE)
    return np.diff(_bin_edges(k) ** power)


@_with_spectrum_help
def beta(k: int, theta: float, kappa: float) -> Floats:
    """Weights of a Beta distributed threshold for the share of successes.

    Parameters
    ----------
    theta : float
        The mean share that is asked for, inside (0, 1).
    kappa : float
        How concentrated the thresholds are around it, positive.

    Returns
    -------
    ndarray of float, shape (k,)
        The mass of ``Beta(theta kappa, (1 - theta) kappa)`` between (t - 1) / k and t / k.

    Examples
    --------
    >>> beta(4, 0.5, 4).round(4)
    array([0.1562, 0.3438, 0.3438, 0.1562])
    """
    mean = check_number("theta", theta, CHANCE)
    total = check_number("kappa", kappa, POSITIVE)
    # Never below 0 by rounding.
    return np.maximum(
        np.diff(scipy.special.betainc(mean * total, (1 - mean) * total, _bin_edges(k))), 0.0
    )


@_with_spectrum_help
def maxent(k: int, mean: float) -> Floats:
    """Weights of the threshold distribution with largest entropy and a given mean.

    Parameters
    ----------
    mean : float
        The mean share that is asked for, inside (0, 1); 1/2 is `uniform`.

    Returns
    -------
    ndarray of float, shape (k,)
        The mass between (t - 1) / k and t / k of the density on [0, 1] that is largest in entropy:
        proportional to ``exp(tau x)``, with that mean.

    Examples
    --------
    >>> maxent(4, 0.75).round(4)
    array([0.0412, 0.1011, 0.2482, 0.6095])
    """
    share = check_number("mean", mean, CHANCE)
    edges, tau = _bin_edges(k), _density_exponent(min(share, 1 - share))
    # From the upper end, where the mass is: nothing overflows.
    above = -np.expm1(-tau * (1 - edges)) / -math.expm1(-tau) if tau else 1 - edges
    weights = above[:-1] - above[1:]
    return weights if share >= 1 / 2 else weights[::-1]


def payoff(worth: ArrayLike) -> Floats:
    """Weights of a payoff: the gain of each further success.

    Parameters
    ----------
    worth : sequence of float, shape (k + 1,)
        What 0, 1, ..., k successes are worth: from 0 to 1, and never less for more.

    Returns
    -------
    ndarray of float, shape (k,)

    Raises
    ------
    ValueError
        If it does not start at 0, falls, or does not end at 1.

    Examples
    --------
    >>> payoff([0, 0.5, 0.75, 1])
    array([0.5 , 0.25, 0.25])
    """
    values = flat_numbers(worth)
    steps = np.diff(values)
    # Written so that NaN is refused too.
    ends = steps.size > 0 and abs(values[0]) + abs(values[-1] - 1) <= _ROUNDING
    if not (ends and steps.min() >= 0):
        raise ValueError(
            "worth must be what 0, 1, ..., k successes are worth, from 0 to 1 and never falling, "
            f"got {value_text(worth)}"
        )
    return steps


def _draw_size(k: int) -> int:
    return check_count("k", k, most=_MOST)


def _bin_edges(k: int) -> Floats:
    size = _draw_size(k)
    return np.arange(size + 1) / size


def _density_exponent(rest: float) -> float:
    """The tau of a mean of ``1 - rest``, at least 1/2: it lies between 0 and ``1 / rest``."""
    low, high = 0.0, min(1 / rest, sys.float_info.max)
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if _rest_of_mean(middle) > rest else (low, middle)
    return low


def _rest_of_mean(tau: float) -> float:
    """One minus the mean of the density ``exp(tau x)`` on [0, 1]."""
    if tau < 0.06:  # from here on the difference below loses digits
        x = tau / 2
        return 1 / 2 - (x / 3 - x**3 / 45 + 2 * x**5 / 945) / 2
    return 1 / tau - math.exp(-tau) / -math.expm1(-tau)
