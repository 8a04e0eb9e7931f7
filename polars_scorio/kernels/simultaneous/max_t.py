"""Critical values for all differences of models on the same sample of questions (max-t)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import row_batches
from polars_scorio.kernels.simultaneous.fixed_draws import EVEN, sphere_directions
from polars_scorio.kernels.simultaneous.paired_means import Paired, of_pairs
from polars_scorio.kernels.simultaneous.roots import illinois_root

Singles = NDArray[np.float32]  # the draws have no more digits to give

_WORK = 2**28  # pairs times directions, both ways, at most
_FEW, _FEWEST, _MOST = 256, 256, 4096  # directions: where they are even, and bounds elsewhere
_TABLE = 4096
_NEARLY_ALL = 1e-12  # no critical value is smaller: its log is taken
_ALIKE = 8  # directions of similar reach that count together


def max_t_critical(models: Paired, pairs: Mask, confidence: float) -> Floats:
    """Critical values for the largest of some studentized differences (max-t).

    Parameters
    ----------
    models : Paired
        The models of each stratum.
    pairs : ndarray of bool, shape (S, L, L)
        Which pairs count: those with ``[i, j]`` set, ``i < j``.
    confidence : float
        With which all intervals of a stratum hold at once.

    Returns
    -------
    ndarray of float, shape (S,)
        At most Bonferroni's value, at least that of one pair; NaN without degrees of freedom.

    Notes
    -----
    The value of normal differences gives the tail of each pair, and Student's quantile of that tail
    is the critical value. Each pair estimates a variance of its own, so that the variables of many
    pairs are not a multivariate t, which has one scale for all: its smaller value let a false
    winner into 9 to 10 % of logs of 10 or 20 equal models on 15 questions, where this one lets 5
    to 7 %.

    A draw of normal differences is a direction times a length. The length is integrated exactly;
    only the directions are drawn, and they are fixed. Two models get Student's t itself. The error
    of the confidence is about 0.001 for four models, 0.003 for twenty and 0.005 for a thousand.

    Examples
    --------
    >>> known = np.array([np.inf])
    >>> independent = Paired.of_moments(np.zeros((1, 3)), np.eye(3)[None], known)
    >>> max_t_critical(independent, np.ones((1, 3, 3), dtype=bool), 0.95).round(2)
    array([2.34])
    """
    counted = np.triu(pairs, 1)
    number = counted.sum(axis=(1, 2))[:, None]

    def farthest(part: Paired, rows: Ints) -> Singles:
        return _farthest_of_all(part, counted[rows])[:, None]

    return _directed_critical(models, farthest, number, confidence)[:, 0]


def max_t_of_each(models: Paired, confidence: float) -> Floats:
    """Critical values for each model against all others of its stratum.

    Parameters
    ----------
    models : Paired
        The models of each stratum.
    confidence : float
        With which the intervals of one model hold at once.

    Returns
    -------
    ndarray of float, shape (S, L)
        As `max_t_critical` with the pairs of one model, the largest of those with the same data;
        NaN where there is none.

    Examples
    --------
    >>> known = np.array([np.inf])
    >>> independent = Paired.of_moments(np.zeros((1, 3)), np.eye(3)[None], known)
    >>> max_t_of_each(independent, 0.95).round(2)
    array([[2.21, 2.21, 2.21]])
    """
    return _critical_of_each(models, _farthest_of_each, confidence, sides=2)


def max_t_of_best(models: Paired, confidence: float) -> Floats:
    """Critical values to tell whether models are worse than some other model of their stratum.

    Parameters
    ----------
    models : Paired
        The models of each stratum.
    confidence : float
        With which none of the others seems better than a model that is the best.

    Returns
    -------
    ndarray of float, shape (S, L)
        As `max_t_of_each` for the largest difference of the others to the model, with its sign: one
        side instead of two.

    Examples
    --------
    >>> known = np.array([np.inf])
    >>> independent = Paired.of_moments(np.zeros((1, 3)), np.eye(3)[None], known)
    >>> max_t_of_best(independent, 0.95).round(1)
    array([[1.9, 1.9, 1.9]])
    """
    return _critical_of_each(models, _farthest_above_each, confidence, sides=1)


def _critical_of_each(
    models: Paired, farthest: Callable[[Paired], Singles], confidence: float, sides: int
) -> Floats:
    """A critical value for each model, the largest of those with the same data."""
    here = np.isfinite(models.mean)
    number = np.where(here, here.sum(axis=1, keepdims=True) - 1, 0)

    def reach(part: Paired, _: Ints) -> Singles:
        return farthest(part)

    critical = _directed_critical(models, reach, number, confidence, sides)
    row, largest = np.arange(len(critical))[:, None], np.full(critical.shape, -np.inf)
    np.maximum.at(largest, (row, models.alike), critical)
    return np.where(here, largest[row, models.alike], np.nan)


def _directed_critical(
    models: Paired,
    farthest: Callable[[Paired, Ints], Singles],
    number: Ints,
    confidence: float,
    sides: int = 2,
) -> Floats:
    """A value for each stratum and column of `number`, the pairs that it holds for."""
    critical = np.full(number.shape, np.nan)
    dimensions = max(models.mean.shape[1] - 1, 1)
    for rows, freedom in _freedom_blocks(models):
        reach = farthest(models.of(rows), rows)
        shape = reach.shape[:-1]
        flat, pairs = reach.reshape(-1, reach.shape[-1]), number[rows].reshape(-1)
        values = _confidence_quantile(flat, pairs, dimensions, freedom, confidence, sides)
        critical[rows] = values.reshape(shape)
    return critical


def _freedom_blocks(models: Paired) -> Iterator[tuple[Ints, float]]:
    """Strata with the same degrees of freedom, as many at once as fit into the cache."""
    size = models.mean.shape[1]
    for freedom in np.unique(models.freedom[models.freedom > 0]):
        rows = np.flatnonzero(models.freedom == freedom)
        # Twice as many as elsewhere: a quantile is a search in steps, which more strata share.
        for block in row_batches(rows, size * _number_of_directions(size) // 2):
            yield block, float(freedom)


def _number_of_directions(models: int) -> int:
    if models - 1 <= EVEN:
        return _FEW
    return int(np.clip(_WORK // models**2, _FEWEST, _MOST)) // _ALIKE * _ALIKE


def _unit_differences(models: Paired) -> Singles:
    """Differences to the first model in each direction, at length 1: shape (S, L, K)."""
    strata, size = models.mean.shape
    points = np.zeros((strata, size, _number_of_directions(size)), dtype=np.float32)
    if size > 1:
        points[:, 1:] = models.root @ sphere_directions(size - 1, points.shape[2])
    return points


def _inverse_sigmas(models: Paired) -> Singles:
    """One over the standard deviations of all differences, 0 where there is none."""
    here = np.isfinite(models.mean)
    sigma = np.sqrt(of_pairs(models.covariance))
    known = (sigma > 0) & here[:, :, None] & here[:, None, :]
    precision = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=known)
    return precision.astype(np.float32)


def _farthest_of_all(models: Paired, pairs: Mask) -> Singles:
    """The largest studentized difference in each direction, shape (S, K)."""
    # Neighbours in the order of the means are decided last: the undecided pairs form a band.
    order = np.argsort(-models.mean, axis=1, kind="stable")
    points = np.take_along_axis(_unit_differences(models), order[:, :, None], axis=1)
    wanted = _sorted_square(pairs | np.swapaxes(pairs, 1, 2), order)
    precision = np.where(wanted, _sorted_square(_inverse_sigmas(models), order), np.float32(0))
    farthest = np.zeros((len(points), points.shape[2]), dtype=np.float32)
    for model in range(points.shape[1] - 1):
        columns = np.flatnonzero(wanted[:, model, model + 1 :].any(axis=0))
        if columns.size:
            others = slice(model + 1 + columns[0], model + 2 + columns[-1])
            reach = _largest_gap(points, precision, model, others)
            np.maximum(farthest, reach, out=farthest)
    return farthest


def _sorted_square(square: NDArray[Any], order: Ints) -> NDArray[Any]:
    rows = np.take_along_axis(square, order[:, :, None], axis=1)
    return np.take_along_axis(rows, order[:, None, :], axis=2)


def _farthest_of_each(models: Paired) -> Singles:
    """Largest studentized difference of each model to all others, shape (S, L, K)."""
    points, precision = _unit_differences(models), _inverse_sigmas(models)
    everyone = slice(None)
    columns = [_largest_gap(points, precision, model, everyone) for model in range(points.shape[1])]
    return np.stack(columns, axis=1)


def _farthest_above_each(models: Paired) -> Singles:
    """Largest studentized difference of the others to each model, shape (S, L, 2 K); at least 0.

    Each direction also counts with the opposite sign, so that errors of the draws cancel.
    """
    points, precision = _unit_differences(models), _inverse_sigmas(models)
    columns = []
    for model in range(points.shape[1]):
        gap = (points - points[:, model, None]) * precision[:, model, :, None]
        columns.append(np.concatenate([gap.max(axis=1), -gap.min(axis=1)], axis=1))
    return np.stack(columns, axis=1)


def _largest_gap(points: Singles, precision: Singles, model: int, others: slice) -> Singles:
    gap = points[:, others] - points[:, model, None]
    np.abs(gap, out=gap)
    gap *= precision[:, model, others, None]
    return np.asarray(gap.max(axis=1))


def _confidence_quantile(
    reach: Singles, pairs: Ints, dimensions: int, freedom: float, confidence: float, sides: int
) -> Floats:
    """The c that `length * reach` stays below with the given confidence, for each row."""
    tail = (1 - confidence) / sides
    single = -_student_quantile(np.inf, np.array(tail))
    bonferroni = -_student_quantile(np.inf, tail / np.maximum(pairs, 1))
    log_length, chance = _length_distribution(dimensions)
    with np.errstate(divide="ignore"):
        alike = np.sort(reach, axis=1).reshape(len(reach), -1, _ALIKE)
        log_reach = np.log(alike.mean(axis=2, dtype=np.float64))

    def excess(log_c: Floats) -> Floats:
        held = np.interp((log_c[:, None] - log_reach).ravel(), log_length, chance)
        tail = np.maximum(1 - held.reshape(log_reach.shape).mean(axis=1), 1e-300)
        return np.asarray(np.log1p(-confidence) - np.log(tail))

    ends = np.maximum(single, _NEARLY_ALL), np.maximum(bonferroni, _NEARLY_ALL)
    low, high = np.full(len(reach), np.log(ends[0])), np.log(ends[1])
    # For one pair both ends are the same, except for rounding.
    c = np.exp(illinois_root(excess, low, np.maximum(low, high), 4))
    normal = np.where(pairs > 1, np.clip(c, single, bonferroni), single)
    return normal if np.isinf(freedom) else -_student_quantile(freedom, scipy.special.ndtr(-normal))


def _student_quantile(freedom: float, probability: Floats) -> Floats:
    """Quantiles of Student's distribution, which is normal for infinite degrees of freedom."""
    if np.isinf(freedom):
        return np.asarray(scipy.special.ndtri(probability))
    return np.asarray(scipy.special.stdtrit(freedom, probability))


@lru_cache(maxsize=256)
def _length_distribution(dimensions: int) -> tuple[Floats, Floats]:
    """Logs of lengths of normal draws, and the chance that a draw is shorter."""
    ends = np.array([1e-9, 1 - 1e-9])
    low, high = np.log(scipy.special.chdtri(dimensions, 1 - ends)) / 2
    log_length = np.linspace(low, high, _TABLE)
    return log_length, scipy.special.chdtr(dimensions, np.exp(2 * log_length))
