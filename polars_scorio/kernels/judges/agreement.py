"""How well a judge agrees with people, beyond chance, and how many labels an interval needs."""

from __future__ import annotations

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.clopper_pearson import beta_quantile
from polars_scorio.kernels.judges.judge_rates import JudgeRates


def rate_interval(part: Floats, whole: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Interval of Clopper and Pearson of a share of labels; NaN without labels.

    Examples
    --------
    >>> lo, hi = rate_interval(np.array([88.0]), np.array([100.0]), 0.95)
    >>> lo.round(4), hi.round(4)
    (array([0.7998]), array([0.9364]))
    """
    tail, rest = (1 - confidence) / 2, whole - part
    lo = np.where(part > 0, beta_quantile(part, rest + 1, tail, upper=False), 0.0)
    hi = np.where(rest > 0, beta_quantile(part + 1, rest, tail, upper=True), 1.0)
    return np.where(whole > 0, lo, np.nan), np.where(whole > 0, hi, np.nan)


def agreement_shares(rates: JudgeRates, right: Floats) -> Floats:
    """Shares of all answers by verdict, then truth, shape (2, 2, G), with "right" last.

    Parameters
    ----------
    rates : JudgeRates
        The judges.
    right : ndarray of float, shape (G,)
        Share of right answers.
    """
    hits, spared = right * rates.sensitivity, (1 - right) * rates.specificity
    return np.array([[spared, right - hits], [1 - right - spared, hits]])


def cohens_kappa(shares: Floats) -> Floats:
    """Agreement beyond chance, if chance has the same shares of verdicts and of truth [1]_.

    Parameters
    ----------
    shares : ndarray of float, shape (2, 2, G)
        As `agreement_shares` returns them.

    Returns
    -------
    ndarray of float, shape (G,)
        NaN if judge and people use one category alone.

    References
    ----------
    .. [1] J. Cohen (1960), A Coefficient of Agreement for Nominal Scales, Educational and
       Psychological Measurement 20, 37-46.

    Examples
    --------
    >>> cohens_kappa(np.array([[0.4, 0.1], [0.1, 0.4]])[..., None]).round(3)
    array([0.6])
    """
    by_chance = (shares.sum(axis=1) * shares.sum(axis=0)).sum(axis=0)
    return _beyond_chance(shares, by_chance)


def gwets_ac1(shares: Floats) -> Floats:
    """Agreement beyond chance, if chance matters for doubtful answers alone [1]_.

    Unlike kappa it does not fall where nearly all answers are right, or wrong.

    References
    ----------
    .. [1] K. Gwet (2008), Computing inter-rater reliability and its variance in the presence of
       high agreement, British Journal of Mathematical and Statistical Psychology 61, 29-48.

    Examples
    --------
    >>> rare = np.array([[0.9, 0.04], [0.04, 0.02]])[..., None]
    >>> cohens_kappa(rare).round(2), gwets_ac1(rare).round(2)
    (array([0.29]), array([0.91]))
    """
    share = (shares.sum(axis=1)[1] + shares.sum(axis=0)[1]) / 2
    return _beyond_chance(shares, 2 * share * (1 - share))


def _beyond_chance(shares: Floats, by_chance: Floats) -> Floats:
    """Agreement less that by chance, over the most that there may be of it."""
    observed, left = shares[0, 0] + shares[1, 1], 1 - by_chance
    missing = np.full_like(observed, np.nan)
    return np.asarray(np.divide(observed - by_chance, left, out=missing, where=left > 0))


def labels_for_width(
    shares: Floats, verdict_variance: Floats, width: float, confidence: float
) -> Floats:
    """Labels of random trials by which the interval of the accuracy becomes as short as wished.

    Parameters
    ----------
    shares : ndarray of float, shape (2, 2, G)
        As `agreement_shares` returns them.
    verdict_variance : ndarray of float, shape (G,)
        Variance of the accuracy if all trials were labelled.
    width : float
        Of the whole interval.
    confidence : float
        Of the interval.

    Returns
    -------
    ndarray of float, shape (G,)
        NaN if no number of labels suffices: then the log needs more trials or questions.

    Examples
    --------
    >>> shares = np.array([[0.4, 0.1], [0.1, 0.4]])[..., None]
    >>> labels_for_width(shares, np.array([0.0]), 0.1, 0.95)
    array([246.])
    """
    z = -scipy.special.ndtri((1 - confidence) / 2)
    judged = shares.sum(axis=1)
    right = np.divide(shares[:, 1], judged, out=np.full_like(judged, 0.5), where=judged > 0)
    of_one = (judged * right * (1 - right)).sum(axis=0)
    left = (width / (2 * z)) ** 2 - verdict_variance
    enough = np.divide(of_one, left, out=np.full_like(of_one, np.nan), where=left > 0)
    return np.asarray(np.ceil(enough))
