"""Likelihood of Dirichlet populations, and Gauss rules that resolve its density.

A population has a mean ``pi`` and a correlation ``rho``, its questions are draws of Dirichlet(s pi)
with ``s = (1 - rho) / rho``. In ``rho``, not ``s``, products stay exact up to both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, row_slices

EXACT = 16  # factors that are always multiplied one by one; Stirling's series is exact beyond
STIRLING_COST = 8  # a term of Stirling's series costs about as much as this many factors
_HALF_LOG_TWO_PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class RisingFactorials:
    """Rising factorials of many questions: lengths of the products, with multiplicities."""

    tail: Floats  # questions whose product has a factor i, (I,) or (G, I)
    beyond: Floats  # further factors of products longer than I, (R,) or (G, R)
    questions: Floats  # how many share that length

    def at(self, groups: Ints) -> RisingFactorials:
        """Select some groups."""
        return RisingFactorials(self.tail[groups], self.beyond[groups], self.questions[groups])


@dataclass(frozen=True)
class LikelihoodCounts:
    """Counts for the likelihood: rising factorials of each category and of n."""

    categories: tuple[RisingFactorials, ...]
    trials: RisingFactorials

    @property
    def layout(self) -> tuple[tuple[int, int], ...]:
        """Sizes that counts must share to be stacked: only tails are padded with zeros."""
        parts = (*self.categories, self.trials)
        return tuple((part.tail.size * (part.beyond.size > 0), part.beyond.size) for part in parts)

    @classmethod
    def stacked(cls, tallies: Sequence[LikelihoodCounts]) -> LikelihoodCounts:
        """Stack the counts of some groups of the same `layout`."""
        categories = zip(*(each.categories for each in tallies), strict=True)
        stacks = tuple(_stacked_risings(column) for column in categories)
        return cls(stacks, _stacked_risings([each.trials for each in tallies]))

    def at(self, groups: Ints) -> LikelihoodCounts:
        """Select some groups of a stack."""
        return LikelihoodCounts(
            tuple(column.at(groups) for column in self.categories), self.trials.at(groups)
        )


def tally_states(counts: Ints, questions: Ints | Floats) -> LikelihoodCounts:
    """Reduce the states of one group to what `log_likelihood` needs, whatever their order."""
    # The size never depends on the number of questions.
    categories = tuple(_rising_factorials(column, questions) for column in counts.T)
    return LikelihoodCounts(categories, _rising_factorials(counts.sum(axis=1), questions))


def log_likelihood(data: LikelihoodCounts, mean: Floats, rho: Floats) -> Floats:
    """Log likelihood of populations, without the multinomial coefficients; 0 without trials."""
    # The Dirichlet-multinomial: J. E. Mosimann (1962), Biometrika 49, 65-82. `mean` (..., K),
    # stacked (G, ..., K), is positive, and all K entries count: ``1 - q`` is not formed here.
    weight = 1 - rho
    result = -_log_rising(data.trials, weight, rho)
    for column, share in zip(data.categories, np.moveaxis(mean, -1, 0), strict=True):
        result = result + _log_rising(column, weight * share, rho)
    return result


def log_dirichlet_at_mean(shape: Floats) -> Floats:
    """Log density of Dirichlet distributions at their own means, from parameters (..., K)."""
    # By Stirling's series, with the large terms cancelled by hand: at 1e9 trials a difference of
    # log gamma functions would keep 7 digits after the point.
    total, top = shape.sum(axis=-1), shape.shape[-1]
    leading = (top - 0.5) * np.log(total) - 0.5 * np.log(shape).sum(axis=-1)
    rest = _stirling_rest(total) - _stirling_rest(shape).sum(axis=-1)
    return cast("Floats", leading - (top - 1) * _HALF_LOG_TWO_PI + rest)


def _stacked_risings(parts: Sequence[RisingFactorials]) -> RisingFactorials:
    tail = np.zeros((len(parts), max(part.tail.size for part in parts)))
    for row, part in zip(tail, parts, strict=True):
        row[: part.tail.size] = part.tail
    beyond, questions = (
        np.stack([getattr(part, name) for part in parts]) for name in ("beyond", "questions")
    )
    return RisingFactorials(tail, beyond, questions)


def _rising_factorials(lengths: Ints, questions: Ints | Floats) -> RisingFactorials:
    longest = int(lengths.max(initial=0))
    if longest <= EXACT + STIRLING_COST:  # a sixth of the time of the general way
        above = np.bincount(lengths, questions, longest + 1)[::-1].cumsum()[::-1]
        none = np.empty(0)
        return RisingFactorials(above[1:], none, none)
    values, index = np.unique(lengths, return_inverse=True)
    sizes = np.asarray(np.bincount(index, questions, values.size), dtype=float)
    exact = longest if longest <= EXACT + STIRLING_COST * values.size else EXACT
    above = np.append(sizes[::-1].cumsum()[::-1], 0.0)
    tail = above[np.searchsorted(values, np.arange(exact), side="right")]
    longer = values > exact
    return RisingFactorials(tail, np.asarray(values[longer] - exact, dtype=float), sizes[longer])


def _log_rising(risings: RisingFactorials, x: Floats, rho: Floats) -> Floats:
    """Sum over the questions of ``sum_i ln(x + i rho)``, for each `x`."""
    exact = risings.tail.shape[-1]
    factors = np.arange(exact, dtype=float).reshape(-1, *(1,) * x.ndim)
    head = _weighted_sum(
        lambda i: _log_factors(x, i * rho), factors, _leading_axis(risings.tail, x.ndim), x.shape
    )
    if not risings.beyond.size:
        return head
    end = x + exact * rho
    return head + _weighted_sum(
        lambda length: log_rising_by_stirling(end, rho, length),
        _leading_axis(risings.beyond, x.ndim),
        _leading_axis(risings.questions, x.ndim),
        x.shape,
    )


def _log_factors(x: Floats, beyond: Floats) -> Floats:
    """Logs of ``x + beyond``, in one array: a third of the memory of three steps."""
    factors = x + beyond
    return np.log(factors, out=factors)


def _leading_axis(values: Floats, axes: int) -> Floats:
    """The last axis put first, and as many axes behind it as `axes`."""
    first = values.T  # of one or two axes
    return first.reshape(first.shape + (1,) * (axes + 1 - first.ndim))


def _weighted_sum(
    term: Callable[[Floats], Floats], points: Floats, weights: Floats, shape: tuple[int, ...]
) -> Floats:
    """Sum ``weights * term(points)`` over the first axis, in chunks of bounded memory."""
    total = np.zeros(shape)
    for part in row_slices(len(points), total.size):
        terms = term(points[part])
        terms *= weights[part]
        # One after the other: a group has the same sum, whatever groups share its chunks.
        terms[0] += total
        total = terms.sum(axis=0)
    return total


def log_rising_by_stirling(x: Floats, rho: Floats, length: Floats) -> Floats:
    """``sum_{i < length} ln(x + i rho)`` for ``x >= 16 rho``."""
    start = x / rho
    main = (start - 0.5) * np.log1p(length / start) - length
    series = _stirling_series(start + length) - _stirling_series(start)
    return main + length * np.log(x + length * rho) + series


def _stirling_rest(x: Floats) -> Floats:
    """``ln Gamma(x)`` less the leading terms of Stirling's series, for ``x > 0``."""
    large = np.maximum(x, EXACT)
    small = np.minimum(x, EXACT)
    exact = scipy.special.gammaln(small) - (
        (small - 0.5) * np.log(small) - small + _HALF_LOG_TWO_PI
    )
    return np.where(x < EXACT, exact, _stirling_series(large))


def _stirling_series(x: Floats) -> Floats:
    """Stirling's series after its leading terms, to 1e-14 for ``x >= 16``."""
    square = 1 / x**2
    terms = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680)))
    return terms / x


def gauss_rules(place: Floats, mass: Floats, size: int) -> tuple[Floats, Floats]:
    """Few points and weights (R, size) with the moments of many, up to degree ``2 * size - 1``."""
    # G. H. Golub, J. H. Welsch (1969), Math. Comp. 23, 221-230. `mass` (R, N) of each measure at
    # shared points `place` (N,), not negative; weights of a rule sum to 1.
    jacobi = np.zeros((len(mass), size, size))
    value = 1 / np.sqrt(mass.sum(axis=1, keepdims=True)) * np.ones_like(place)
    before, length = np.zeros_like(value), np.zeros((len(mass), 1))
    for row in range(size):
        following = place * value
        centre = (mass * value * following).sum(axis=1, keepdims=True)
        jacobi[:, row, row] = centre[:, 0]
        following -= centre * value + length * before
        length = np.sqrt((mass * following**2).sum(axis=1, keepdims=True))
        if row + 1 < size:
            jacobi[:, row + 1, row] = length[:, 0]
        # A measure of fewer points has no more polynomials: points without weight are added.
        before, value = value, following / np.maximum(length, np.finfo(float).tiny)
    points, vectors = np.linalg.eigh(jacobi)
    return points, vectors[:, 0] ** 2


def interpolation_matrix(points: Floats, size: int) -> Floats:
    """Matrix (..., P, size) from values at Gauss-Legendre nodes to values at points in [-1, 1]."""
    return np.asarray(
        np.polynomial.legendre.legvander(points, size - 1) @ _legendre_coefficients(size)
    )


@lru_cache(maxsize=2)
def _legendre_coefficients(size: int) -> Floats:
    """Matrix from values at the nodes to the coefficients of Legendre's polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    degrees = np.arange(size)[:, None]
    values = np.polynomial.legendre.legvander(nodes, size - 1).T
    return np.asarray((degrees + 0.5) * values * weights)
