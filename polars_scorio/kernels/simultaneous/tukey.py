"""The largest of all differences between independent models: the studentized range."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.simultaneous.roots import root

# The lowest of the models, in steps: the trapezoidal rule holds 1e-13 for up to 10,000 models.
_STEP = 1 / 16
_LOWEST = np.arange(-9, 9 + _STEP, _STEP)
_WEIGHT = np.exp(-(_LOWEST**2) / 2) * _STEP / np.sqrt(2 * np.pi)
_GRID = 257  # critical values of a table: a power of 2 steps for the search


def range_within(models: Ints, c: Floats) -> Floats:
    """Chance that no two of some models with equal sigmas differ by more than c sigmas of a pair.

    Parameters
    ----------
    models : ndarray of int
        How many models there are, at least 1.
    c : ndarray of float
        In standard deviations of the difference of two models; of the shape of `models`.

    Returns
    -------
    ndarray of float
        ``P(max - min <= sqrt(2) c)`` of standard normal variables.

    Examples
    --------
    >>> range_within(np.array([2, 3]), np.array([1.959964, 2.343701])).round(4)
    array([0.95, 0.95])
    """
    others = _between(c[..., None]) ** (models[..., None] - 1)
    return np.asarray(models * (others * _WEIGHT).sum(axis=-1))


def _between(c: Floats) -> Floats:
    """Chance that another model is at most c above the lowest, for each lowest one."""
    return np.asarray(scipy.special.ndtr(_LOWEST + np.sqrt(2) * c) - scipy.special.ndtr(_LOWEST))


def tukey_critical(models: Ints, confidence: float) -> Floats:
    """Critical values for all pairs of independent models (Tukey-Kramer).

    Parameters
    ----------
    models : ndarray of int
        How many models each stratum has.
    confidence : float
        With which all intervals of a stratum hold at once.

    Returns
    -------
    ndarray of float
        What takes the place of z. Exact for equal sigmas and at least as wide as needed for unequal
        ones [1]_. With two models z itself, and also with fewer.

    References
    ----------
    .. [1] A. J. Hayter (1984), Annals of Statistics 12(1), 61-75.

    Examples
    --------
    >>> tukey_critical(np.array([2, 10, 1000]), 0.95).round(4)
    array([1.96  , 3.1637, 5.2111])
    """
    sizes, place = np.unique(models, return_inverse=True)
    values = [_critical(max(int(size), 2), confidence) for size in sizes]
    return np.array(values)[place].reshape(models.shape)


@lru_cache(maxsize=4096)
def _critical(models: int, confidence: float) -> float:
    if models == 2:  # noqa: PLR2004 - one pair
        return float(scipy.special.ndtri((1 + confidence) / 2))
    low = scipy.special.ndtri(np.array([(1 + confidence) / 2]))
    # Bonferroni's value is never too small.
    high = -scipy.special.ndtri(np.array([(1 - confidence) / (models * (models - 1))]))
    size = np.array([models])
    return float(root(lambda c: range_within(size, c) - confidence, low, high, 40)[0])


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """What groups of equal models cost at each critical value of a grid."""

    c: Floats
    cost: Floats  # of l models at a value: -log of `range_within`, shape (models + 1, values)


@lru_cache(maxsize=64)
def _table(models: int, confidence: float) -> _Table:
    c = np.linspace(_critical(2, confidence), _critical(models, confidence), _GRID)
    between = _between(c[:, None])
    power, cost = np.ones_like(between), np.zeros((models + 1, _GRID))
    for size in range(2, models + 1):
        power *= between
        cost[size] = -np.log((power @ _WEIGHT) * size)
    return _Table(c, cost)


def equal_groups_critical(undecided: Mask, confidence: float) -> Floats:
    """Critical values when some of the pairs are already told apart.

    Models that are equal form groups, and no pair of a group has been told apart yet. The value is
    the smallest that suffices for every way to form such groups out of neighbours [1]_.

    Parameters
    ----------
    undecided : ndarray of bool, shape (S, L, L)
        Which pairs are not told apart: symmetric, models in the order of their estimates.
    confidence : float
        As in `tukey_critical`.

    Returns
    -------
    ndarray of float, shape (S,)
        Between z and the value of `tukey_critical`.

    Notes
    -----
    A pair counts as undecided if a pair around it is. Then the equal models of any group may be
    exchanged for as many neighbours, and dynamic programming goes through all partitions of the
    line into groups. It is linear in the log of the cost between values 0.01 apart: an error of
    c below 1e-4.

    References
    ----------
    .. [1] J. P. Shaffer (1986), Journal of the American Statistical Association 81, 826-831: the
       hypotheses that can be true together.

    Examples
    --------
    The first of three models differs from the last, but not from the second.

    >>> left = np.array([[[0, 1, 0], [1, 0, 1], [0, 1, 0]]], dtype=bool)
    >>> equal_groups_critical(left, 0.95).round(2), equal_groups_critical(left[:, :2, :2], 0.95)
    (array([1.96]), array([1.95996398]))
    """
    models = undecided.shape[-1]
    if models < 3:  # noqa: PLR2004 - one pair
        return np.full(len(undecided), _critical(2, confidence))
    table, last = _table(models, confidence), _last_undecided(undecided)
    allowed = -np.log(confidence)
    low = np.zeros(len(last), dtype=np.int64)
    high = np.full_like(low, _GRID - 1)
    for _ in range(int(np.log2(_GRID - 1))):
        middle = (low + high) // 2
        enough = _largest_cost(last, table.cost[:, middle]) <= allowed
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    above, below = (_largest_cost(last, table.cost[:, at]) for at in (low, high))
    inside = (above > allowed) & (below > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(above / allowed) / np.log(above / below)
    step = np.where(inside, np.clip(share, 0, 1), 0.0)
    needed = table.c[low] + step * (table.c[high] - table.c[low])
    # Sidak's value holds for any pairs; unequal sigmas can leave a few that lie far apart.
    pairs = np.maximum(np.triu(undecided, 1).sum(axis=(1, 2)), 1)
    sidak = -scipy.special.ndtri(-np.expm1(np.log(confidence) / pairs) / 2)
    return np.asarray(np.minimum(needed, sidak))


def _last_undecided(undecided: Mask) -> Ints:
    """The last model that each may be equal to, if all between two such ones may be."""
    models = undecided.shape[-1]
    later = np.triu(undecided, 1)
    last = np.where(later.any(-1), models - 1 - later[..., ::-1].argmax(-1), np.arange(models))
    return np.maximum.accumulate(last, axis=-1)


def _largest_cost(last: Ints, cost: Floats) -> Floats:
    """The cost of the dearest partition into groups of neighbours, for each stratum."""
    strata, models = last.shape
    dearest = np.zeros((strata, models + 1))  # of the first models
    for end in range(models):
        first = int((last >= end).any(axis=0).argmax())
        group = np.arange(end + 1 - first, 0, -1)
        joined = dearest[:, first : end + 1] + cost[group].T
        possible = last[:, first : end + 1] >= end
        dearest[:, end + 1] = np.where(possible, joined, 0).max(axis=1)
    return dearest[:, -1]
