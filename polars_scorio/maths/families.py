"""Critical values with which several statements hold at once, and the step-down method.

In `step_down` the first step uses a value for all pairs; each later step uses a smaller one, for
the pairs that are still undecided (Holm's order). A pair is a column: ``a[p]`` and ``b[p]`` are its
two models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.independent import SURE_Z, dunnett_critical, inverted_z, tukey_critical
from polars_scorio.maths.max_t import max_t_critical

# From the undecided pairs of some strata, shape (S, P), and the places of these strata, to a
# critical value for each of these strata.
Critical: TypeAlias = Callable[[Mask, Ints], Floats]
# From a critical value for each of some strata, and the places of these strata, to the pairs that
# it decides, shape (S, P).
Decided: TypeAlias = Callable[[Floats, Ints], Mask]


def sidak_critical(pairs: Ints, confidence: float) -> Floats:
    """Critical values for `pairs` differences of normal estimates, whatever their correlations."""
    # Z. Sidak (1967), Journal of the American Statistical Association 62, 626-633.
    tail = -np.expm1(np.log(confidence) / np.maximum(pairs, 1)) / 2
    return np.asarray(-scipy.special.ndtri(tail))


def all_pairs_critical(models: Ints, confidence: float) -> Critical:
    """Critical values for `step_down` over all pairs of independent models."""
    # Either `tukey_critical` or `sidak_critical` suffices for any set of pairs.

    def critical(undecided: Mask, strata: Ints) -> Floats:
        pairs = sidak_critical(undecided.sum(axis=1), confidence)
        return np.minimum(tukey_critical(models[strata], confidence), pairs)

    return critical


def baseline_critical(sigma: Floats, baseline: int, confidence: float) -> Critical:
    """Critical values for `step_down` over the pairs of independent models with a baseline."""
    rest = np.delete(sigma, baseline, axis=1)

    def critical(undecided: Mask, strata: Ints) -> Floats:
        left = np.where(undecided, rest[strata], np.nan)
        return dunnett_critical(left, np.nan_to_num(sigma[strata, baseline]), confidence)

    return critical


def paired_critical(models: Paired, a: Ints, b: Ints, confidence: float) -> Critical:
    """Critical values for `step_down` over pairs (a, b) of models on the same questions."""
    size = models.mean.shape[1]

    def critical(undecided: Mask, strata: Ints) -> Floats:
        square = np.zeros((strata.size, size, size), dtype=np.bool_)
        square[:, a, b] = square[:, b, a] = undecided
        t = max_t_critical(models.of(strata), square, confidence)
        return student_z(t, models.freedom[strata])

    return critical


def step_down(pairs: Mask, critical: Critical, decided: Decided) -> tuple[Mask, Floats]:
    """Pairs (S, P) that differ, with all verdicts of a stratum right at once, and their c."""
    # J. P. Romano, M. Wolf (2005), JASA 100, 94-108, algorithm 1. `critical` maps undecided pairs
    # to the value they need, `decided` a value to the pairs whose interval then excludes zero.
    differs, c = np.zeros_like(pairs), np.full(pairs.shape, np.nan)
    strata, last = np.arange(len(pairs)), np.full(len(pairs), np.nan)
    while strata.size:
        left = pairs[strata] & ~differs[strata]
        # No step needs more than the step before; fmin: NaN stands for no step so far.
        last = np.fmin(critical(left, strata), last)
        new = left & decided(last, strata)
        c[strata] = np.where(new | np.isnan(c[strata]), last[:, None], c[strata])
        differs[strata] |= new
        unfinished = new.any(axis=1) & (left & ~new).any(axis=1)
        strata, last = strata[unfinished], last[unfinished]
    return differs, c


def final_critical(
    models: Ints, confidence: float, decided_pairs: Callable[[Floats, Ints], Ints]
) -> Floats:
    """Critical value (S,) of the last step of `step_down`, in memory that grows with the models."""
    # A step over independent models needs no more than the number of pairs decided.
    pairs = models * (models - 1) // 2
    c, strata = tukey_critical(models, confidence), np.arange(models.size)
    while strata.size:
        left = pairs[strata] - decided_pairs(c[strata], strata)
        smaller = np.minimum(c[strata], sidak_critical(left, confidence))
        unfinished = smaller < c[strata]
        c[strata] = smaller
        strata = strata[unfinished]
    return c


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
