"""How many statements hold at once: critical values, their roots, and curves that make several.

All pairs of independent models have Tukey's integral.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask

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


def tukey_critical(models: Ints, confidence: Floats | float) -> Floats:
    """Critical values for all pairs of models (Tukey-Kramer); z for two or fewer."""
    # Proved for independent models, whatever their sigmas: A. J. Hayter (1984), Annals of
    # Statistics 12(1), 61-75. Of correlated ones no excess is known.
    size, sure = np.broadcast_arrays(models, confidence)
    kinds, place = np.unique(np.stack([size, sure]).reshape(2, -1), axis=1, return_inverse=True)
    values = [_critical_value(max(int(each), 2), level) for each, level in kinds.T.tolist()]
    return np.array(values)[place].reshape(size.shape)


@lru_cache(maxsize=4096)
def _critical_value(models: int, confidence: float) -> float:
    if models == 2:
        return float(scipy.special.ndtri((1 + confidence) / 2))
    low = scipy.special.ndtri(np.array([(1 + confidence) / 2]))
    # Bonferroni's value is never too small.
    high = -scipy.special.ndtri(np.array([(1 - confidence) / (models * (models - 1))]))
    size = np.array([models])
    return float(illinois_root(lambda c: range_within(size, c) - confidence, low, high, 40)[0])


def sidak_critical(statements: Ints, confidence: Floats | float) -> Floats:
    """Critical values with which so many two-sided statements hold at once."""
    return np.asarray(-scipy.special.ndtri(shared_error(statements, confidence) / 2))


def shared_error(statements: Ints, confidence: Floats | float) -> Floats:
    """Error of each of some statements that hold at once: ``1 - confidence**(1 / statements)``."""
    # Z. Sidak (1967), JASA 62, 626-633: for normal estimates with any correlations if statements
    # are two-sided, with correlations of at least 0 if one-sided (D. Slepian 1962, Bell System
    # Technical Journal 41).
    return np.asarray(-np.expm1(np.log(confidence) / np.maximum(statements, 1)))


def holm_adjusted(p: Floats) -> Floats:
    """Holm's adjusted p-values over the last axis; NaN counts as 1."""
    # S. Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70: the largest of ``(J - i + 1)
    # p_(i)`` over the ranks i up to that of a test; at most 1.
    known = np.where(np.isnan(p), 1.0, p)
    order = np.argsort(known, axis=-1, kind="stable")
    scaled = np.take_along_axis(known, order, axis=-1) * np.arange(p.shape[-1], 0, -1)
    adjusted = np.empty_like(known)
    raised = np.minimum(np.maximum.accumulate(scaled, axis=-1), 1.0)
    np.put_along_axis(adjusted, order, raised, axis=-1)
    return adjusted


_NARROW = 1e8  # shapes from which on `beta_interval` is normal


def beta_score(lead: Floats, sigma: Floats, z: Floats) -> Floats:
    """Largest critical value at which the interval of a Beta difference excludes zero."""
    # The normal quantile of the chance that it has the sign of its mean. `lead` (its size) and
    # `sigma` are in units of the range; `z` serves differences that no Beta distribution fits.
    share = (1 + lead) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        total = (1 - lead**2) / sigma**2 - 1
    usable = (sigma > 0) & (total > 0) & ((1 - share) * total < _NARROW)
    a, b = (np.where(usable, part * total, 1.0) for part in (share, 1 - share))
    return np.where(usable, -scipy.special.ndtri(scipy.special.betainc(a, b, 0.5)), z)


# Of the powers of 1 / (1 + z), from the fourth on; a fit of the exact values.
_COEFFICIENTS = (1.90823621, -3.48680112, 1.0032468, 1.67544282, -0.01215924)
_LARGEST = 37.0  # the normal tail of a larger value is no number any more


def planned_look_critical(z: Floats | float) -> Floats:
    """Critical values at the planned sample size, for a log that is looked at repeatedly."""
    # S. K. Wang, A. A. Tsiatis (1987), Biometrics 43, 193-199, Delta = 1/4, continued beyond the
    # plan by time inversion; a fit within 2e-4 for confidences from .5 to .999999.
    return np.asarray(z + np.polyval(_COEFFICIENTS, 1 / (1 + np.asarray(z))))


def anytime_critical(z: Floats | float, information: Floats | float) -> Floats:
    """Critical values of a look at a share of the planned information (trials or questions)."""
    share = np.asarray(information)
    critical = planned_look_critical(z) * np.maximum(share, 1 / share) ** 0.25
    return np.asarray(np.minimum(critical, _LARGEST))


def standardized_differences(diff: Floats, sigma: Floats) -> Floats:
    """Differences in units of their standard deviation; 0 if there is no difference."""
    z = np.zeros_like(diff)
    with np.errstate(divide="ignore"):
        return np.divide(diff, sigma, out=z, where=diff != 0)


def student_z(t: Floats, freedom: Floats) -> Floats:
    """Normal values with the tails of Student's t, from the smaller tail; NaN without freedom."""
    tail = scipy.special.stdtr(np.where(freedom > 0, freedom, np.nan), -np.abs(t))
    return np.asarray(np.sign(t) * -scipy.special.ndtri(tail))


def student_critical(c: Floats | float, freedom: Floats) -> Floats:
    """Student's critical values with the tails of normal ones; NaN without freedom."""
    known = np.where(freedom > 0, freedom, np.nan)
    return np.asarray(-scipy.special.stdtrit(known, scipy.special.ndtr(-np.asarray(c))))


def look_z(z: Floats, information: Floats) -> Floats:
    """Signed values of one look whose `anytime_critical` are some values, as `inverted_z`."""
    size = np.minimum(np.abs(z), SURE_Z)

    def ends(c: Floats) -> tuple[Floats, Floats]:
        return size - anytime_critical(c, information), size

    return np.asarray(np.sign(z) * inverted_z(ends, size))


def statement_number(sizes: Sequence[int | None], known: Mask, *, draws: bool) -> Floats:
    """How many statements the points of a curve make that are `known`, by the last axis.

    Of `draws`, one and one more for each doubling of k, at most the number of points: between k and
    2k the noise hardly turns. Thresholds count one each.

    >>> statement_number([1, 2, 3, 4], np.array([True, True, True, True]), draws=True).item()
    3.0
    """
    number = known.sum(axis=-1)
    if draws:
        k = np.log2(np.array(sizes, np.float64))
        most, least = (np.where(known, sign * k, -np.inf).max(axis=-1) for sign in (1, -1))
        number = np.minimum(number, 1 + most + least)
    return np.asarray(np.maximum(number, 1.0))


class CurveEnd(NamedTuple):
    """The sign at one end of a curve, and the last k at which it holds, (...)."""

    sign: Floats  # 1: the first model is better, -1: the second, 0: this end is not decided
    reach: Ints  # 0 without a sign


def first_end(k: Ints, sign: Floats, here: Mask) -> CurveEnd:
    """From the first point on, as long as the sign stays decided and the same, by the last axis."""
    # `sign` of verdicts, 0 if undecided; `here`: which points have a number.
    first = np.take_along_axis(np.where(here, sign, 0), here.argmax(axis=-1)[..., None], axis=-1)
    same = np.logical_and.accumulate(((sign == first) | ~here) & (first != 0), axis=-1) & here
    last = same.shape[-1] - 1 - same[..., ::-1].argmax(axis=-1)
    return CurveEnd(first[..., 0], np.where(same.any(axis=-1), k[last], 0))


def last_end(k: Ints, sign: Floats, here: Mask) -> CurveEnd:
    """`first_end` from the last point down."""
    return first_end(k[::-1], sign[..., ::-1], here[..., ::-1])


def rising_band(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """The band of a curve that never falls, by the first axis; NaN is no point."""
    low, high = np.fmax.accumulate(lo, axis=0), np.fmin.accumulate(hi[::-1], axis=0)[::-1]
    return np.where(np.isnan(lo), np.nan, low), np.where(np.isnan(hi), np.nan, high)
