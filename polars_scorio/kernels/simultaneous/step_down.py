"""Which pairs are told apart: step by step, each step with fewer pairs left (step-down)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.simultaneous.dunnett import dunnett_critical
from polars_scorio.kernels.simultaneous.max_t import max_t_critical
from polars_scorio.kernels.simultaneous.paired_means import Paired
from polars_scorio.kernels.simultaneous.tukey import equal_groups_critical

# From the pairs of some strata, shape (S, L, L), and the places of these strata, to a value each.
Critical: TypeAlias = Callable[[Mask, Ints], Floats]
# From a critical value for each of some strata, and their places, to which pairs are told apart.
Decided: TypeAlias = Callable[[Floats, Ints], Mask]


def pairs_of(mu: Floats, baseline: int | None = None) -> Mask:
    """The pairs that are compared.

    Parameters
    ----------
    mu : ndarray of float, shape (S, L)
        NaN where a stratum does not have the model.
    baseline : int, optional
        The column of the model that all others are compared with; None: every pair.

    Returns
    -------
    ndarray of bool, shape (S, L, L)
        Symmetric.

    Examples
    --------
    >>> pairs_of(np.array([[0.5, 0.6, np.nan]])).astype(int)
    array([[[0, 1, 0],
            [1, 0, 0],
            [0, 0, 0]]])
    """
    here = np.isfinite(mu)
    pairs = here[:, :, None] & here[:, None, :] & ~np.eye(mu.shape[1], dtype=np.bool_)
    if baseline is not None:
        wanted = np.arange(mu.shape[1]) == baseline
        pairs &= wanted[:, None] | wanted
    return pairs


def independent_critical(mu: Floats, confidence: float) -> Critical:
    """Critical values for pairs of independent estimates that are not told apart yet.

    Parameters
    ----------
    mu : ndarray of float, shape (S, L)
        Estimates: the models that may still be equal are neighbours in their order.
    confidence : float
        With which all verdicts of a stratum are right at once.

    Returns
    -------
    callable
        For `step_down`: `equal_groups_critical`, at first the value of Tukey-Kramer.

    Examples
    --------
    >>> mu = np.array([[0.1, 0.5, 0.6]])
    >>> independent_critical(mu, 0.95)(pairs_of(mu), np.array([0])).round(4)
    array([2.3437])
    """

    def critical(undecided: Mask, strata: Ints) -> Floats:
        order = np.argsort(-mu[strata], axis=1, kind="stable")
        rows = np.take_along_axis(undecided, order[:, :, None], axis=1)
        ordered = np.take_along_axis(rows, order[:, None, :], axis=2)
        return equal_groups_critical(ordered, confidence)

    return critical


def baseline_critical(sigma: Floats, baseline: int, confidence: float) -> Critical:
    """Critical values for the differences to a baseline that are not told apart yet.

    Parameters
    ----------
    sigma : ndarray of float, shape (S, L)
        Standard deviations of independent estimates, NaN where there is none.
    baseline : int
        Column of the baseline.
    confidence : float
        With which all verdicts of a stratum are right at once.

    Returns
    -------
    callable
        For `step_down`: `dunnett_critical` of the models that are left.

    Examples
    --------
    >>> sigma = np.ones((1, 4))
    >>> baseline_critical(sigma, 0, 0.95)(pairs_of(sigma, 0), np.array([0])).round(2)
    array([2.35])
    """

    def critical(undecided: Mask, strata: Ints) -> Floats:
        left = np.where(undecided[:, baseline], sigma[strata], np.nan)
        own = np.nan_to_num(sigma[strata, baseline])
        return dunnett_critical(left, own, confidence)

    return critical


def paired_critical(models: Paired, confidence: float) -> Critical:
    """Critical values for pairs on the same questions that are not told apart yet.

    Parameters
    ----------
    models : Paired
        All strata.
    confidence : float
        With which all verdicts of a stratum are right at once.

    Returns
    -------
    callable
        For `step_down`: `max_t_critical` of the pairs that are left, with or without a baseline.

    Examples
    --------
    >>> models = Paired.of_moments(np.zeros((1, 2)), np.eye(2)[None], np.array([9.0]))
    >>> paired_critical(models, 0.95)(pairs_of(models.mean), np.array([0])).round(4)
    array([2.2622])
    """

    def critical(undecided: Mask, strata: Ints) -> Floats:
        return max_t_critical(models.of(strata), undecided, confidence)

    return critical


def by_score(score: Floats) -> Decided:
    """Pairs are told apart where a score exceeds the critical value.

    Parameters
    ----------
    score : ndarray of float, shape (S, L, L)
        The difference of a pair in its standard deviations, without sign; NaN: not compared.

    Returns
    -------
    callable
        For `step_down`.

    Examples
    --------
    >>> bool(by_score(np.array([[[0.0, 2.0], [2.0, 0.0]]]))(np.array([1.96]), np.array([0])).any())
    True
    """

    def decided(c: Floats, strata: Ints) -> Mask:
        return np.asarray(score[strata] > c[:, None, None])

    return decided


def step_down(pairs: Mask, critical: Critical, decided: Decided) -> tuple[Mask, Floats]:
    """Which pairs are told apart, so that all verdicts of a stratum are right at once [1]_.

    Parameters
    ----------
    pairs : ndarray of bool, shape (S, L, L)
        Those that are compared.
    critical : callable
        The value that the pairs that are left need.
    decided : callable
        Which pairs a critical value tells apart: where zero lies outside of the interval that it
        makes. What a value tells apart a smaller one must tell apart too.

    Returns
    -------
    told : ndarray of bool, shape (S, L, L)
        Pairs that are told apart.
    c : ndarray of float, shape (S, L, L)
        The critical value of the step in which a pair was told apart; of the first step where it
        was not, or is not compared.

    Notes
    -----
    A pair that differs by nothing is told apart in no more than ``1 - confidence`` of the strata,
    whatever is true of the others. At least as many pairs as with Holm's method are told apart. The
    intervals that hold at once are those of the first step, ``critical(pairs, ...)``: those with
    the `c` of their pair agree with the verdicts, and are narrower where a later step told it.

    References
    ----------
    .. [1] J. P. Romano, M. Wolf (2005), Journal of the American Statistical Association 100,
       94-108, algorithm 1.

    Examples
    --------
    The first two differ by 2.2 sigmas: less than Tukey's 2.34, but it is the only pair left.

    >>> score = np.array([[[0.0, 2.2, 9.0], [2.2, 0.0, 8.0], [9.0, 8.0, 0.0]]])
    >>> mu = np.array([[0.1, 0.2, 0.9]])
    >>> told, c = step_down(pairs_of(mu), independent_critical(mu, 0.95), by_score(score))
    >>> int(told[0].sum()) // 2, c[0].round(2)
    (3, array([[2.34, 1.96, 2.34],
           [1.96, 2.34, 2.34],
           [2.34, 2.34, 2.34]]))
    """
    told, c = np.zeros_like(pairs), np.full(pairs.shape, np.nan)
    strata, last = np.arange(len(pairs)), np.full(len(pairs), np.nan)
    while strata.size:
        left = pairs[strata] & ~told[strata]
        # Each step needs at most what the step before needed; fmin: NaN is none yet.
        last = np.fmin(critical(left, strata), last)
        new = left & decided(last, strata)
        c[strata] = np.where(new | np.isnan(c[strata]), last[:, None, None], c[strata])
        told[strata] |= new
        unfinished = new.any(axis=(1, 2)) & (left & ~new).any(axis=(1, 2))
        strata, last = strata[unfinished], last[unfinished]
    return told, c
