"""Critical values for the largest of correlated differences, by fixed draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches
from polars_scorio.maths.covariance import Paired, of_pairs
from polars_scorio.maths.independent import illinois_root

EVEN = 8  # dimensions in which a lattice is better than random points
_SEED = 20240517


@lru_cache(maxsize=4)
def normal_draws(dimensions: int, size: int) -> Floats:
    """Standard normal draws that never change, shape (dimensions, size); read-only."""
    # Up to 8 dimensions the additive sequence of the generalised golden ratio, more even than
    # random points; beyond, the raw bits of PCG64, which NumPy promises not to change.
    if dimensions <= EVEN:
        uniform = _lattice_points(dimensions, size)
    else:
        raw = np.random.PCG64(_SEED).random_raw((dimensions, size))
        uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    draws = scipy.special.ndtri(uniform)
    draws.flags.writeable = False
    return draws


def _lattice_points(dimensions: int, size: int) -> Floats:
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    step = ratio ** -np.arange(1.0, dimensions + 1)
    return np.asarray((np.outer(step, np.arange(1, size + 1)) + 0.5) % 1).clip(1e-12, 1 - 1e-12)


@lru_cache(maxsize=4)
def sphere_directions(dimensions: int, size: int) -> Floats:
    """Points on the unit sphere that never change, shape (dimensions, size); read-only."""
    draws = normal_draws(dimensions, size)
    points: Floats = draws / np.sqrt((draws**2).sum(axis=0))
    points.flags.writeable = False
    return points


_GROUPS = 32  # most groups of models with similar sigmas
_REACH = 8.0  # standard deviations of the candidate that count
_FINEST = 0.05  # a smaller ratio of two sigmas counts as this one, or the rule would not see it
# Steps of the trapezoidal rule, by the smallest ratio of two sigmas: each holds 1e-9 for a few
# models, and half of it for many.
_STEPS = ((0.6, 1 / 2), (0.3, 1 / 4), (0.0, 1 / 8))
_FEW_CONTENDERS = 12


def best_critical(sigma: Floats, confidence: float) -> Floats:
    """Critical values (S, L) to tell whether independent models are worse than some other model."""
    # Dunnett's one-sided value with each model as the baseline: J. C. Hsu (1984), Annals of
    # Statistics 12(3), 1136-1144. More than 32 models are grouped by sigma; NaN for absent models.
    critical = np.full(sigma.shape, np.nan)
    here = np.isfinite(sigma)
    critical[here] = scipy.special.ndtri(confidence)
    several = np.flatnonzero((here & (sigma > 0)).sum(axis=1) > 1)
    groups = min(sigma.shape[1], _GROUPS)
    for rows in row_batches(several, groups**2 * int(4 * _REACH / _STEPS[-1][1])):
        critical[rows] = _grouped_critical(sigma[rows], confidence)
    return critical


def _grouped_critical(sigma: Floats, confidence: float) -> Floats:
    """Critical values of strata with several models, by groups of similar sigmas."""
    here, moving = np.isfinite(sigma), np.isfinite(sigma) & (sigma > 0)
    place, groups = _sigma_places(sigma, moving)
    least, most = np.full((2, len(sigma), groups), np.nan)
    number = np.zeros((len(sigma), groups))
    for group in range(groups):
        inside = moving & (place == group)
        number[:, group] = inside.sum(axis=1)
        least[:, group] = np.where(inside, sigma, np.inf).min(axis=1)
        most[:, group] = np.where(inside, sigma, 0.0).max(axis=1)
    # A candidate with the least sigma and others with the largest need the largest value.
    of_group = _critical_of_groups(least, most, number, confidence)
    single = scipy.special.ndtri(confidence)
    critical = np.where(moving, np.take_along_axis(of_group, place, axis=1), single)
    # A model without an error has independent differences.
    alone = -scipy.special.ndtri(-np.expm1(np.log(confidence) / moving.sum(axis=1)))
    critical = np.where(here & ~moving, alone[:, None], critical)
    return np.where(here, critical, np.nan)


def _sigma_places(sigma: Floats, moving: Mask) -> tuple[Ints, int]:
    """Group of each model, and number of groups: of many models by equal widths in log sigma."""
    models = sigma.shape[1]
    if models <= _GROUPS:
        return np.broadcast_to(np.arange(models), sigma.shape), models
    log = np.log(np.where(moving, sigma, 1.0))
    low = np.where(moving, log, np.inf).min(axis=1, keepdims=True)
    width = np.where(moving, log, -np.inf).max(axis=1, keepdims=True) - low
    share = np.divide(log - low, width, out=np.zeros_like(log), where=moving & (width > 0))
    return np.minimum((share * _GROUPS).astype(np.int64), _GROUPS - 1), _GROUPS


def _critical_of_groups(
    candidate: Floats, sizes: Floats, number: Floats, confidence: float
) -> Floats:
    """A critical value for a candidate from each group of models, shape (S, G)."""
    strata, groups = number.shape
    counted = np.repeat(number[:, None, :], groups, axis=1)
    counted[:, np.arange(groups), np.arange(groups)] -= 1
    counted = np.maximum(counted, 0).reshape(-1, groups)
    ratio = np.repeat(sizes[:, None, :], groups, axis=1) / candidate[:, :, None]
    ratio = ratio.reshape(-1, groups)
    wanted = counted.sum(axis=1) > 1
    critical = np.full(strata * groups, scipy.special.ndtri(confidence))
    smallest = np.where(counted > 0, ratio, np.inf).min(axis=1)
    for (above, step), below in zip(_STEPS, (np.inf, *(each for each, _ in _STEPS)), strict=False):
        kind = wanted & (smallest >= above) & (smallest < below)
        critical[kind] = _one_sided_critical(ratio[kind], counted[kind], confidence, step)
    return critical.reshape(strata, groups)


def _one_sided_critical(ratio: Floats, number: Floats, confidence: float, step: float) -> Floats:
    """Critical values of candidates with sigma 1, from the sigmas of groups of others."""
    if not len(ratio):
        return np.empty(0)
    spread = np.where(number > 0, np.maximum(ratio, _FINEST), 1.0)[:, None, :]
    reach = np.hypot(spread, 1.0)
    if number.shape[1] > _FEW_CONTENDERS:
        step /= 2
    x = np.arange(-_REACH, _REACH + step, step)[None, :, None]
    weight = np.exp(-(x[0, :, 0] ** 2) / 2) * step / np.sqrt(2 * np.pi)
    low = np.full(len(ratio), scipy.special.ndtri(confidence))
    # Independent differences need the most (Sidak).
    high = -scipy.special.ndtri(-np.expm1(np.log(confidence) / number.sum(axis=1)))

    single = number.max() <= 1

    def excess(c: Floats) -> Floats:
        below = scipy.special.ndtr((c[:, None, None] * reach + x) / spread)
        power = np.where(number[:, None, :] > 0, below, 1.0) if single else below ** number[:, None]
        within = power.prod(axis=2) @ weight
        # The log of the tail is nearly straight in c.
        return np.asarray(np.log1p(-confidence) - np.log(np.maximum(1 - within, 1e-300)))

    return illinois_root(excess, low, high, 5)


Singles = NDArray[np.float32]  # the draws have no more digits to give

_WORK = 2**28  # pairs times directions, both ways, at most
_FEW, _FEWEST, _MOST = 256, 256, 4096  # directions: where they are even, and bounds elsewhere
_TABLE = 4096
_NEARLY_ALL = 1e-12  # no critical value is smaller: its log is taken
_ALIKE = 8  # directions of similar reach that count together


def max_t_critical(models: Paired, pairs: Mask, confidence: float) -> Floats:
    """Critical values (S,) for the largest of some studentized differences; NaN without freedom."""
    # `pairs` (S, L, L). Between one pair's value and Bonferroni's; the tail of normal differences
    # turned into Student's quantile. Error of the confidence: .001 for 4 models, .005 for 1,000.
    counted = np.triu(pairs, 1)
    number = counted.sum(axis=(1, 2))[:, None]

    def farthest(part: Paired, rows: Ints) -> Singles:
        return _farthest_of_all(part, counted[rows])[:, None]

    return _directed_critical(models, farthest, number, confidence)[:, 0]


def max_t_of_each(models: Paired, confidence: float) -> Floats:
    """Critical values (S, L) for each model against all others of its stratum; NaN if absent."""
    return _critical_of_each(models, _farthest_of_each, confidence, sides=2)


def max_t_of_best(models: Paired, confidence: float) -> Floats:
    """Critical values (S, L) to tell whether models are worse than some other of their stratum."""
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
    """A value for each stratum and column of `number`, the number of pairs that it covers."""
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
            later = slice(model + 1 + columns[0], model + 2 + columns[-1])
            reach = _largest_gap(points, precision, model, later)
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
    """Largest studentized difference of the others to each model, shape (S, L, 2 K); at least 0."""
    # Each direction also counts with the opposite sign, so that errors of the draws cancel.
    points, precision = _unit_differences(models), _inverse_sigmas(models)
    columns = []
    for model in range(points.shape[1]):
        gap = (points - points[:, model, None]) * precision[:, model, :, None]
        columns.append(np.concatenate([gap.max(axis=1), -gap.min(axis=1)], axis=1))
    return np.stack(columns, axis=1)


def _largest_gap(points: Singles, precision: Singles, model: int, later: slice) -> Singles:
    gap = points[:, later] - points[:, model, None]
    np.abs(gap, out=gap)
    gap *= precision[:, model, later, None]
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
