"""Accuracy behind the verdicts of a judge whose errors are known from a calibration sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.judges.judge_rates import JudgeRates


class JudgedRate(NamedTuple):
    """A rate of the truth with its interval, each of shape (G,); NaN if the judge tells nothing."""

    estimate: Floats
    lo: Floats
    hi: Floats


def judged_accuracy(
    judged: Floats, questions: Floats, rates: JudgeRates, z: Floats | float
) -> JudgedRate:
    """Accuracy from the rate of verdicts "right" [1]_, with ends after Fieller [2]_.

    Parameters
    ----------
    judged : ndarray of float, shape (G,)
        Rate of verdicts "right", r.
    questions : ndarray of float, shape (G,)
        Effective number of questions: the variance of r is ``r (1 - r) / questions``.
    rates : JudgeRates
        The judge of each group.
    z : float or ndarray of float, shape (G,)
        Critical value.

    Returns
    -------
    JudgedRate
        The estimate is ``(r + sp - 1) / (se + sp - 1)``, clipped to [0, 1]. The interval has all
        accuracies that the verdicts and the calibration sample do not reject together. All is NaN
        if the judge may be no better than a coin, or if no accuracy is accepted: then the verdicts
        contradict the calibration sample.

    References
    ----------
    .. [1] W. Rogan, B. Gladen (1978), Estimating prevalence from the results of a screening test,
       American Journal of Epidemiology 107, 71-76.
    .. [2] Z. Lang, J. Reiczigel (2014), Preventive Veterinary Medicine 113, 13-22.

    Examples
    --------
    62 % are judged right, by a judge who keeps 88 of 100 right and 78 of 100 wrong answers.

    >>> rates = JudgeRates(*(np.array([x]) for x in (88.0, 100.0, 78.0, 100.0)))
    >>> for number in judged_accuracy(np.array([0.62]), np.array([140.0]), rates, 1.96):
    ...     print(number.round(3))
    [0.606]
    [0.458]
    [0.751]
    """
    false_right, index = 1 - rates.adjusted_specificity, rates.adjusted_index
    v1, v0 = rates.sensitivity_variance, rates.specificity_variance
    away, square = judged - false_right, np.square(z)
    # (away - t J)^2 <= z^2 [(f + t J)(1 - f - t J)/N + t^2 v1 + (1 - t)^2 v0], by powers of t.
    second = index**2 * (1 + square / questions) - square * (v1 + v0)
    first = -2 * away * index
    first -= square * (index * (1 - 2 * false_right) / questions - 2 * v0)
    none = away**2 - square * (false_right * (1 - false_right) / questions + v0)
    root = first**2 - 4 * second * none
    # At |t| -> infinity the left side must win, else the interval has no end.
    known = rates.is_informative(z) & (second > 0) & (root >= 0)
    width = np.sqrt(np.where(known, root, np.nan))
    with np.errstate(divide="ignore", invalid="ignore"):  # a judge like a coin
        lo, hi = (-first - width) / (2 * second), (-first + width) / (2 * second)
        raw = (judged + rates.specificity - 1) / (rates.sensitivity + rates.specificity - 1)
    known &= (hi >= 0) & (lo <= 1)
    estimate = np.where(known, np.clip(raw, 0.0, 1.0), np.nan)
    lo, hi = (np.where(known, np.clip(end, 0.0, 1.0), np.nan) for end in (lo, hi))
    return JudgedRate(estimate, np.fmin(lo, estimate), np.fmax(hi, estimate))


def judged_difference(
    diff: Floats, reaches: tuple[Floats, Floats], rates: JudgeRates, z: Floats | float
) -> JudgedRate:
    """Difference of two accuracies whose verdicts one judge gave.

    What wrong answers gain from the judge cancels, so the order of two models needs no calibration:
    zero is inside the interval exactly if it is inside that of the verdicts.

    Parameters
    ----------
    diff : ndarray of float, shape (P,)
        Difference of the rates of verdicts "right".
    reaches : tuple of ndarray of float, shape (P,)
        How far the interval of that difference reaches down and up, at `z`.
    rates : JudgeRates
        The judge of each pair.
    z : float or ndarray of float, shape (P,)
        Critical value.

    Returns
    -------
    JudgedRate
        The estimate is the difference over the adjusted index J; accepted are the d with
        ``(diff - d J)^2 <= reach^2 + z^2 d^2 (v1 + v0)``. NaN if the judge may be no better than a
        coin.

    Examples
    --------
    >>> rates = JudgeRates(*(np.array([x]) for x in (88.0, 100.0, 78.0, 100.0)))
    >>> reach = np.array([0.0588])
    >>> for number in judged_difference(np.array([0.07]), (reach, reach), rates, 1.96):
    ...     print(number.round(4))
    [0.1082]
    [0.0173]
    [0.2048]
    """
    down, up = reaches
    known = rates.is_informative(z)
    index = np.where(known, rates.adjusted_index, np.nan)
    slack = np.square(z) * (rates.sensitivity_variance + rates.specificity_variance)
    lo = _accepted_end(diff, down, index, slack)
    hi = -_accepted_end(-diff, up, index, slack)
    return JudgedRate(diff / index, lo, hi)


def _accepted_end(diff: Floats, reach: Floats, index: Floats, slack: Floats) -> Floats:
    """Lower root of ``(index**2 - slack) d^2 - 2 diff index d + diff^2 - reach^2 <= 0``."""
    second = index**2 - slack
    centre = diff * index
    root = np.sqrt(np.maximum(centre**2 - second * (diff**2 - reach**2), 0.0))
    # A difference is the product of both roots over the larger one if it is near zero: no
    # cancellation moves an end across zero.
    product = (diff - reach) * (diff + reach)
    stable = np.where(centre > 0, product / np.where(centre > 0, centre + root, 1.0), 0.0)
    return np.where(centre > 0, stable, (centre - root) / second)
