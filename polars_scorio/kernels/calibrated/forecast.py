"""Draws of more trials than there were: the range over all populations that the counts allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri

from polars_scorio.kernels.arrays import Floats, Mask
from polars_scorio.kernels.calibrated.free_fit import FreeFit, maximised
from polars_scorio.kernels.calibrated.groups import Calibrated, Group
from polars_scorio.kernels.calibrated.polynomials import credit_of
from polars_scorio.kernels.calibrated.price import binomial

_STEPS = 2000  # to the largest likelihood
_CLOSE = 3e-6  # an end is known well enough
_MOST_CUTS = 200
_KEPT_CUTS = 30  # the others leave room at the corner: a linear programme costs half without them
_OUTWARDS = 0.95  # lines to a corner start near the best edge so far: fewer cuts than from within
_HALVINGS = 60


class Range(NamedTuple):
    """What is expected of a draw, and the range that holds it, each of shape (G,)."""

    mu: Floats
    lo: Floats
    hi: Floats


def forecast(
    fitted: Calibrated, gains: Floats, confidence: float, where: Mask | None = None
) -> Range:
    """The mean credit of draws of any size, in each group.

    Nothing identifies it where k exceeds the trials: the range is over all distributions of success
    rates whose log likelihood is within half a quantile of chi square of the largest.

    Parameters
    ----------
    fitted : Calibrated
        The groups and their fits.
    gains : ndarray of float, shape (k,)
        What each success adds to the credit.
    confidence : float
        Of the range, inside (0, 1).
    where : ndarray of bool, shape (G,), optional
        The groups that are asked for; NaN in the others.

    Returns
    -------
    Range
        `mu` is the mean under the free fit.

    Examples
    --------
    Three failures and seven successes, one trial each: two trials of a question may well be equal.

    >>> from polars_scorio.kernels.states import States
    >>> counts, every = np.array([[1, 0], [0, 1]]), np.array([0, 0])
    >>> states = States.tally(counts, 0 * counts, every, np.array([3, 7]), 1)
    >>> ahead = forecast(Calibrated.fit(states), np.array([1.0, 0.0]), 0.95)
    >>> print(*(end.round(4) for end in ahead))
    [0.8351] [0.3935] [0.9928]
    """
    credit = credit_of(gains)
    numbers = np.full((3, len(fitted.groups)), np.nan)
    asked = range(len(fitted.groups)) if where is None else np.flatnonzero(where).tolist()
    for column in asked:
        numbers[:, column] = _range(fitted.groups[column], credit, confidence)
    return Range(*numbers)


def _range(group: Group, credit: Floats, confidence: float) -> tuple[float, float, float]:
    """Mean and range of one group."""
    free = group.free
    values = binomial(credit.size - 1, free.weight.size) @ credit
    mean = float(group.questions @ (free.posterior @ values) / group.size)
    region = Region.around(free, confidence)
    low, high = max(float(values.min()), 0.0), min(float(values.max()), 1.0)
    lo, hi = np.clip((-region.largest(-values), region.largest(values)), low, high).tolist()
    # In a narrow range the mean may differ from an end by a rounding.
    return float(np.clip(mean, lo, hi)), lo, hi


@dataclass(slots=True, eq=False)
class Region:
    """Weights of success rates that the counts do not reject: a convex set.

    Attributes
    ----------
    free : FreeFit
        The fit whose likelihood it is.
    best : ndarray of float, shape (I,)
        The weights of the largest likelihood.
    least : float
        The log likelihood on the boundary.
    """

    free: FreeFit
    best: Floats
    least: float

    @classmethod
    def around(cls, free: FreeFit, confidence: float) -> Region:
        """The set of this confidence."""
        best = maximised(free.likelihood, free.questions, free.weight, _STEPS)
        region = cls(free, best, 0.0)
        region.least = region.log_likelihood(best) - float(chdtri(1, 1 - confidence)) / 2
        return region

    def log_likelihood(self, weight: Floats) -> float:
        """Of the counts, up to a constant."""
        return float(self.free.questions @ np.log(self.free.likelihood @ weight))

    def largest(self, values: Floats) -> float:
        """The largest mean of `values` in the set, from outside: by cutting planes [1]_.

        Parameters
        ----------
        values : ndarray of float, shape (I,)
            Of each rate.

        Returns
        -------
        float
            Never less than the truth; 3e-6 above it at most, where 200 cuts are enough.

        References
        ----------
        .. [1] J. E. Kelley (1960), The cutting-plane method for solving convex programs, J. SIAM 8.
        """
        from scipy.optimize import linprog  # noqa: PLC0415 - slow to import, and needed here only

        outer, inner = float(values.max()), float(self.best @ values)
        corner: Floats | None = np.eye(values.size)[values.argmax()]
        start, cuts = self.best, np.empty((0, values.size))
        for _ in range(_MOST_CUTS):
            if corner is None:
                break
            outer = min(outer, float(corner @ values))
            edge = self._edge(start, corner)
            if edge @ values > inner:
                inner = float(edge @ values)
                start = _OUTWARDS * edge + (1 - _OUTWARDS) * self.best
            if outer - inner < _CLOSE:
                break
            cuts = np.vstack([cuts[np.argsort(cuts @ corner)[:_KEPT_CUTS]], self._cut(edge)])
            corner = _corner(linprog, values, cuts)
        return outer

    def _edge(self, start: Floats, corner: Floats) -> Floats:
        """The last point of the set on the way from one of its points to a corner."""
        inside, outside = 0.0, 1.0
        first, end = (self.free.likelihood @ each for each in (start, corner))
        with np.errstate(divide="ignore"):
            for _ in range(_HALVINGS):
                middle = (inside + outside) / 2
                held = self.free.questions @ np.log(first + middle * (end - first)) >= self.least
                inside, outside = (middle, outside) if held else (inside, middle)
        return start + inside * (corner - start)

    def _cut(self, edge: Floats) -> Floats:
        """The tangent of the log likelihood at a point of the boundary."""
        share = self.free.questions / (self.free.likelihood @ edge)
        # gradient @ (weight - edge) >= 0, and gradient @ edge is the number of questions.
        gradient: Floats = share @ self.free.likelihood
        gradient /= self.free.questions.sum()
        return gradient


def _corner(linprog: Callable[..., Any], values: Floats, cuts: Floats) -> Floats | None:
    """The weights with the largest mean that no cut rejects; None where the solver gives up."""
    result = linprog(
        -values, A_ub=-cuts, b_ub=-np.ones(len(cuts)), A_eq=np.ones((1, values.size)), b_eq=[1.0]
    )
    return None if result.x is None else np.asarray(result.x)
