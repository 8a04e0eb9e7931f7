"""Pairs of models that differ, decided in steps: all verdicts of a stratum hold at once.

The first step uses a critical value for all pairs. Each later step uses a smaller one, for the
pairs that are still undecided (Holm's order). A pair is a column: ``a[p]`` and ``b[p]`` are its two
models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.simultaneous.dunnett import dunnett_critical
from polars_scorio.kernels.simultaneous.max_t import max_t_critical
from polars_scorio.kernels.simultaneous.paired_means import Paired
from polars_scorio.kernels.simultaneous.tukey import tukey_critical

# From the undecided pairs of some strata, shape (S, P), and the places of these strata, to a
# critical value for each of these strata.
Critical: TypeAlias = Callable[[Mask, Ints], Floats]
# From a critical value for each of some strata, and the places of these strata, to the pairs that
# it decides, shape (S, P).
Decided: TypeAlias = Callable[[Floats, Ints], Mask]


def sidak_critical(pairs: Ints, confidence: float) -> Floats:
    """Critical values for some differences of normal estimates, whatever their correlations [1]_.

    Parameters
    ----------
    pairs : ndarray of int
        Number of differences; 0 counts as 1.
    confidence : float
        With which all intervals of a stratum hold at once.

    Returns
    -------
    ndarray of float
        Of the shape of `pairs`.

    References
    ----------
    .. [1] Z. Sidak (1967), Journal of the American Statistical Association 62, 626-633.

    Examples
    --------
    >>> sidak_critical(np.array([1, 45]), 0.95).round(4)
    array([1.96  , 3.2537])
    """
    tail = -np.expm1(np.log(confidence) / np.maximum(pairs, 1)) / 2
    return np.asarray(-scipy.special.ndtri(tail))


def undecided_critical(models: Ints, pairs: Ints, confidence: float) -> Floats:
    """Critical values for the undecided pairs of independent models.

    Parameters
    ----------
    models, pairs : ndarray of int, shape (S,)
        Models of each stratum, and how many of their pairs are undecided.
    confidence : float
        With which all verdicts of a stratum are right at once.

    Returns
    -------
    ndarray of float, shape (S,)
        The smaller of `tukey_critical` and `sidak_critical`: either suffices for any set of pairs.

    Examples
    --------
    Of ten models few pairs are left.

    >>> undecided_critical(np.array([10, 10]), np.array([45, 9]), 0.95).round(4)
    array([3.1637, 2.7655])
    """
    return np.minimum(tukey_critical(models, confidence), sidak_critical(pairs, confidence))


def all_pairs_critical(models: Ints, confidence: float) -> Critical:
    """Critical values for `step_down` over all pairs of independent models.

    Parameters
    ----------
    models : ndarray of int, shape (S,)
        Models of each stratum.
    confidence : float
        With which all verdicts of a stratum are right at once.

    Returns
    -------
    callable
        `undecided_critical` of the pairs that are left; at first the value of Tukey and Kramer.

    Examples
    --------
    >>> all_pairs_critical(np.array([3]), 0.95)(np.ones((1, 3), dtype=bool), np.array([0])).round(4)
    array([2.3437])
    """

    def critical(undecided: Mask, strata: Ints) -> Floats:
        return undecided_critical(models[strata], undecided.sum(axis=1), confidence)

    return critical


def baseline_critical(sigma: Floats, baseline: int, confidence: float) -> Critical:
    """Critical values for `step_down` over the pairs of independent models with a baseline.

    Parameters
    ----------
    sigma : ndarray of float, shape (S, L)
        Standard deviations of independent estimates, NaN where there is none.
    baseline : int
        Column of the baseline. The pairs are the other columns, ascending, with it.
    confidence : float
        With which all verdicts of a stratum are right at once.

    Returns
    -------
    callable
        `dunnett_critical` of the models that are left.

    Examples
    --------
    >>> critical = baseline_critical(np.ones((1, 4)), 0, 0.95)
    >>> critical(np.ones((1, 3), dtype=bool), np.array([0])).round(2)
    array([2.35])
    """
    others = np.delete(sigma, baseline, axis=1)

    def critical(undecided: Mask, strata: Ints) -> Floats:
        left = np.where(undecided, others[strata], np.nan)
        return dunnett_critical(left, np.nan_to_num(sigma[strata, baseline]), confidence)

    return critical


def paired_critical(models: Paired, a: Ints, b: Ints, confidence: float) -> Critical:
    """Critical values for `step_down` over pairs of models on the same questions.

    Parameters
    ----------
    models : Paired
        All strata.
    a, b : ndarray of int, shape (P,)
        Columns of both models of each pair.
    confidence : float
        With which all verdicts of a stratum are right at once.

    Returns
    -------
    callable
        `max_t_critical` of the pairs that are left.

    Examples
    --------
    >>> models = Paired.of_moments(np.zeros((1, 2)), np.eye(2)[None], np.array([9.0]))
    >>> critical = paired_critical(models, np.array([0]), np.array([1]), 0.95)
    >>> critical(np.ones((1, 1), dtype=bool), np.array([0])).round(4)
    array([2.2622])
    """
    size = models.mean.shape[1]

    def critical(undecided: Mask, strata: Ints) -> Floats:
        square = np.zeros((strata.size, size, size), dtype=np.bool_)
        square[:, a, b] = square[:, b, a] = undecided
        return max_t_critical(models.of(strata), square, confidence)

    return critical


def decided_by_score(score: Floats) -> Decided:
    """Decide the pairs whose score exceeds the critical value, for `step_down`.

    Parameters
    ----------
    score : ndarray of float, shape (S, P)
        The difference of a pair in its standard deviations, without sign; NaN: not compared.

    Returns
    -------
    callable
        From critical values and places of strata to a mask of pairs.

    Examples
    --------
    >>> decided_by_score(np.array([[1.9, 2.0]]))(np.array([1.96]), np.array([0]))
    array([[False,  True]])
    """

    def decided(c: Floats, strata: Ints) -> Mask:
        return np.asarray(score[strata] > c[:, None])

    return decided


def step_down(pairs: Mask, critical: Critical, decided: Decided) -> tuple[Mask, Floats]:
    """Decide which pairs differ, so that all verdicts of a stratum are right at once [1]_.

    Parameters
    ----------
    pairs : ndarray of bool, shape (S, P)
        Pairs that are compared.
    critical : callable
        From the undecided pairs to the critical value that they need.
    decided : callable
        From a critical value to the pairs whose interval excludes zero at this value. A smaller
        value must decide at least the same pairs.

    Returns
    -------
    differs : ndarray of bool, shape (S, P)
        Pairs that differ.
    c : ndarray of float, shape (S, P)
        The critical value of the step that decided the pair; for undecided pairs, and those that
        are not compared, the value of the first step.

    Notes
    -----
    The chance that any pair of equal models is decided is at most ``1 - confidence``, whatever is
    true of the other pairs. At least as many pairs are decided as by Holm's method. The intervals
    that hold at once are those of the first step, ``critical(pairs, ...)``. With the `c` of its
    pair an interval agrees with its verdict; it is narrower if a later step decided the pair.

    References
    ----------
    .. [1] J. P. Romano, M. Wolf (2005), Journal of the American Statistical Association 100,
       94-108, algorithm 1.

    Examples
    --------
    Four models. The last pair misses Tukey's 2.57, but not Sidak's value for two pairs.

    >>> score = np.array([[9.0, 8.0, 9.0, 7.0, 1.0, 2.3]])
    >>> critical = all_pairs_critical(np.array([4]), 0.95)
    >>> differs, c = step_down(score > 0, critical, decided_by_score(score))
    >>> differs[0].tolist(), c[0].round(2).tolist()
    ([True, True, True, True, False, True], [2.57, 2.57, 2.57, 2.57, 2.57, 2.24])
    """
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
    """Critical value of the last step of `step_down`, without a list of pairs.

    Over all pairs of independent models a step needs only the number of undecided pairs, and the
    last critical value decides every pair that any step decided. Memory therefore grows with the
    number of models, not of pairs.

    Parameters
    ----------
    models : ndarray of int, shape (S,)
        Models of each stratum.
    confidence : float
        With which all verdicts of a stratum are right at once.
    decided_pairs : callable
        From a critical value for each of some strata, and the places of these strata, to the
        number of pairs that it decides.

    Returns
    -------
    ndarray of float, shape (S,)
        Between z and `tukey_critical`.

    Examples
    --------
    The example of `step_down`.

    >>> score = np.array([9.0, 8.0, 9.0, 7.0, 1.0, 2.3])
    >>> final_critical(
    ...     np.array([4]), 0.95, lambda c, _: (score > c[:, None]).sum(axis=1)
    ... ).round(2)
    array([1.96])
    """
    pairs = models * (models - 1) // 2
    c, strata = tukey_critical(models, confidence), np.arange(models.size)
    while strata.size:
        left = pairs[strata] - decided_pairs(c[strata], strata)
        smaller = np.minimum(c[strata], sidak_critical(left, confidence))
        unfinished = smaller < c[strata]
        c[strata] = smaller
        strata = strata[unfinished]
    return c
