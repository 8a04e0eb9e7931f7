"""Roots in critical values, and those for independent models: Tukey's and Dunnett's integrals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches, row_slices

Ends = Callable[[Floats], tuple[Floats, Floats]]  # of intervals by critical values, outwards
SURE_Z, _INVERSION_STEPS = 8.3, 12  # chance of 5e-17; steps by which a root is known to 1e-15
_LARGEST_Z, _ERROR_STEPS = 8.0, 16  # of one-sided errors


def illinois_root(
    function: Callable[[Floats], Floats],
    low: Floats,
    high: Floats,
    steps: int,
    known: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Root of each increasing function between its ends by the Illinois method."""
    # `function` is elementwise, at most 0 at `low` and at least 0 at `high`, where it may be
    # `known`. As many steps for each: no root depends on those beside it. Returns the end nearer to
    # the root.
    left, right = low, high
    at_left, at_right = known or (function(low), function(high))
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


def inverted_z(ends: Ends, diff: Floats) -> Floats:
    """Critical value at which the interval of each difference stops to hold zero, signed."""
    # `ends` maps critical values to the ends, which move outwards with them. 0 if not even a value
    # of 0 excludes zero, 8.3 beyond; NaN where there is no end.
    up = diff > 0

    def slack(c: Floats) -> Floats:
        lo, hi = ends(c)
        return np.where(up, -lo, hi)

    low, high = np.zeros(diff.shape), np.full(diff.shape, SURE_Z)
    least, most = slack(low), slack(high)
    root = illinois_root(slack, low, high, _INVERSION_STEPS, (least, most))
    size = np.where((least >= 0) | (diff == 0), 0.0, np.where(most <= 0, SURE_Z, root))
    return np.where(np.isnan(least + diff), np.nan, np.where(up, size, -size))


def one_sided_errors(
    ends: Ends, sigma: Floats, margin: Floats, upper: Mask, limit: Floats | float
) -> Floats:
    """Smallest errors, up to 1/2, with which differences lie above ``-margin`` (or below)."""

    def excess(z: Floats) -> Floats:
        lo, hi = (np.clip(end, -limit, limit) for end in ends(z))
        return np.where(upper, -(lo + margin), margin + hi)

    low, high = np.zeros(sigma.shape), np.full(sigma.shape, _LARGEST_Z)
    least, most = excess(low), excess(high)
    root = illinois_root(excess, low, high, _ERROR_STEPS, (least, most))
    z = np.where(most < 0, high, root)
    return np.where(np.isfinite(sigma) & (least < 0), scipy.special.ndtr(-z), np.nan)


# The lowest of the models, in steps: the trapezoidal rule holds 1e-13 for up to 10,000 models.
_STEP = 1 / 16
_LOWEST = np.arange(-9, 9 + _STEP, _STEP)
_WEIGHT = np.exp(-(_LOWEST**2) / 2) * _STEP / np.sqrt(2 * np.pi)


def range_within(models: Ints, c: Floats) -> Floats:
    """``P(max - min <= sqrt(2) c)`` of this many independent standard normal variables."""
    highest = _LOWEST + np.sqrt(2) * c[..., None]
    within = scipy.special.ndtr(highest) - scipy.special.ndtr(_LOWEST)
    return np.asarray(models * (within ** (models[..., None] - 1) * _WEIGHT).sum(axis=-1))


def tukey_critical(models: Ints, confidence: float) -> Floats:
    """Critical values for all pairs of independent models (Tukey-Kramer); z for two or fewer."""
    # Exact for equal sigmas, conservative for unequal ones: A. J. Hayter (1984), Annals of
    # Statistics 12(1), 61-75.
    sizes, place = np.unique(models, return_inverse=True)
    values = [_critical_value(max(int(size), 2), confidence) for size in sizes]
    return np.array(values)[place].reshape(models.shape)


@lru_cache(maxsize=4096)
def _critical_value(models: int, confidence: float) -> float:
    if models == 2:
        return float(scipy.special.ndtri((1 + confidence) / 2))
    low = scipy.special.ndtri(np.array([(1 + confidence) / 2]))
    # Bonferroni's value is never too small.
    high = -scipy.special.ndtri(np.array([(1 - confidence) / (models * (models - 1))]))
    size = np.array([models])
    return float(illinois_root(lambda c: range_within(size, c) - confidence, low, high, 40)[0])


_GROUPS = 32  # most groups of other models with similar sigmas
_BEYOND = 7.0  # standard deviations of the baseline beyond c that still count


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """Nodes of the integral over half of the distribution of the baseline: fixed, or shares."""

    node: Floats
    weight: Floats
    fixed: bool

    def nodes(self, c: Floats) -> tuple[Floats, Floats]:
        """Nodes and weights for each critical value, shape (S, nodes)."""
        if self.fixed:
            return np.broadcast_to(self.node, (len(c), self.node.size)), self.weight[None]
        column = c[:, None]
        y = np.concatenate([column * self.node, column + _BEYOND * self.node], axis=1)
        inside = column * self.weight
        return y, np.concatenate(
            [inside, np.broadcast_to(_BEYOND * self.weight, inside.shape)], axis=1
        )


def _trapezoid_rule(step: float) -> _Nodes:
    node = np.arange(0, 7 + step, step)
    return _Nodes(node, np.where(node > 0, step, step / 2), fixed=True)


def _double_exponential_rule(half: int, width: float) -> _Nodes:
    """Dense at the ends of both parts, for integrands that drop at c."""
    t = np.linspace(-width, width, 2 * half + 1)
    node = 1 / (1 + np.exp(-np.pi * np.sinh(t)))
    weight = np.pi * np.cosh(t) * node * (1 - node) * (t[1] - t[0])
    return _Nodes(node, weight, fixed=False)


# By the smallest sigma beside the baseline's: each holds 1e-8.
_RATIOS = (0.3, 0.6)
_RULES = (_double_exponential_rule(16, 2.6), _trapezoid_rule(0.25), _trapezoid_rule(0.5))


def dunnett_critical(sigma: Floats, baseline: Floats, confidence: float) -> Floats:
    """Critical values (S,) for the differences of independent models to one baseline."""
    # `sigma` (S, L), NaN for absent models; c is z if no pair has one. More than 32 models are
    # grouped by sigma, each group with its largest: c is then a little too large.
    z = float(scipy.special.ndtri((1 + confidence) / 2))
    critical = np.full(len(sigma), z)
    counted = np.isfinite(sigma) & (np.hypot(sigma, baseline[:, None]) > 0)
    kinds = np.digitize(_smallest_ratio(sigma, baseline, counted), _RATIOS)
    for kind, rule in enumerate(_RULES):
        wanted = np.flatnonzero((kinds == kind) & (counted.sum(axis=1) > 1))
        for rows in row_batches(wanted, 2 * rule.node.size):
            part = sigma[rows], baseline[rows], counted[rows]
            critical[rows] = _integral_critical(*part, confidence, rule)
    return critical


def _smallest_ratio(sigma: Floats, baseline: Floats, counted: Mask) -> Floats:
    """Smallest sigma of the other models, in units of the baseline's."""
    smallest = np.where(counted, sigma, np.inf).min(axis=1, initial=np.inf)
    known = np.isfinite(smallest) & (baseline > 0)
    ratio = np.full_like(smallest, np.inf)
    return np.asarray(np.divide(smallest, baseline, out=ratio, where=known))


def _integral_critical(
    sigma: Floats, baseline: Floats, counted: Mask, confidence: float, rule: _Nodes
) -> Floats:
    if not len(sigma):
        return baseline
    groups = list(_sigma_groups(sigma, counted))
    low = np.full(len(sigma), scipy.special.ndtri((1 + confidence) / 2))
    # Independent differences need the most (Sidak).
    high = -scipy.special.ndtri(-np.expm1(np.log(confidence) / counted.sum(axis=1)) / 2)

    def excess(c: Floats) -> Floats:
        # The log of the tail is nearly straight in c.
        tail = np.maximum(1 - _all_within(c, groups, baseline, rule), 1e-300)
        return np.asarray(np.log1p(-confidence) - np.log(tail))

    return illinois_root(excess, low, high, 4)


def _sigma_groups(sigma: Floats, counted: Mask) -> Iterator[tuple[Floats, Floats]]:
    """Sigma and number of models of each group of similar ones; the largest stands for all."""
    ordered = np.sort(np.where(counted, sigma, -1.0), axis=1)
    models = ordered.shape[1]
    ends = np.unique(np.linspace(0, models, min(models, _GROUPS) + 1).astype(np.int64))
    for start, stop in pairwise(ends):
        members = ordered[:, start:stop] >= 0
        yield ordered[:, stop - 1], members.sum(axis=1).astype(np.float64)


def _all_within(
    c: Floats, groups: list[tuple[Floats, Floats]], baseline: Floats, rule: _Nodes
) -> Floats:
    """Chance that all differences to the baseline are at most c of their sigmas."""
    column = c[:, None]
    y, weight = rule.nodes(c)
    chance = 2 * np.exp(-(y**2) / 2) / np.sqrt(2 * np.pi) * weight
    shift = baseline[:, None] * y
    for sigma, number in groups:
        spread = np.where(number > 0, np.maximum(sigma, 1e-300), 1.0)[:, None]
        reach = column * np.hypot(spread, baseline[:, None])
        within = scipy.special.ndtr((shift + reach) / spread) - scipy.special.ndtr(
            (shift - reach) / spread
        )
        within[number == 0] = 1.0
        chance *= within if number.max() <= 1 else within ** number[:, None]
    return np.asarray(chance.sum(axis=1))


def baseline_of_each(sigma: Floats, confidence: float) -> Floats:
    """`dunnett_critical` with each model as the baseline, shape (S, L); NaN for absent models."""
    critical = np.full(sigma.shape, np.nan)
    stratum, model = np.nonzero(np.isfinite(sigma))
    for some in row_slices(stratum.size, sigma.shape[1]):
        rows, columns = stratum[some], model[some]
        rest = sigma[rows]
        rest[np.arange(rows.size), columns] = np.nan
        critical[rows, columns] = dunnett_critical(rest, sigma[rows, columns], confidence)
    return critical
