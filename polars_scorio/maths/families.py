"""Critical values: each, all, baseline, best, every look, all k; step-down.

The first step uses a critical value for all pairs. Each later step uses a smaller one, for the
pairs that are still undecided (Holm's order). A pair is a column: ``a[p]`` and ``b[p]`` are its two
models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.independent import dunnett_critical, tukey_critical
from polars_scorio.maths.max_t import max_t_critical

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


def holm_adjusted(p: Floats) -> Floats:
    """Adjust p-values so that the chance of any false rejection is controlled [1]_.

    Parameters
    ----------
    p : ndarray of float, shape (..., J)
        The p-values of a family; NaN, which stands for a large one, counts as 1.

    Returns
    -------
    ndarray of float, shape (..., J)
        The largest of ``(J - i + 1) p_(i)`` over the ranks i up to that of a test; at most 1.

    References
    ----------
    .. [1] S. Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.

    Examples
    --------
    >>> holm_adjusted(np.array([0.001, 0.02, 0.04, 0.3]))
    array([0.004, 0.06 , 0.08 , 0.3  ])
    """
    known = np.where(np.isnan(p), 1.0, p)
    order = np.argsort(known, axis=-1, kind="stable")
    scaled = np.take_along_axis(known, order, axis=-1) * np.arange(p.shape[-1], 0, -1)
    adjusted = np.empty_like(known)
    raised = np.minimum(np.maximum.accumulate(scaled, axis=-1), 1.0)
    np.put_along_axis(adjusted, order, raised, axis=-1)
    return adjusted


_NARROW = 1e8  # shapes from which on `beta_interval` is normal


def beta_score(lead: Floats, sigma: Floats, z: Floats) -> Floats:
    """Largest critical value at which the interval of a Beta difference excludes zero.

    Parameters
    ----------
    lead, sigma : ndarray of float
        Mean of the difference, without sign, and its standard deviation, in units of the range.
    z : ndarray of float
        The score of a normal difference, for those that no Beta distribution fits.

    Returns
    -------
    ndarray of float
        The normal quantile of the chance that the difference has the sign of its mean.

    Examples
    --------
    A Beta(3, 1) on [-1, 1] is negative with chance 1/8.

    >>> beta_score(np.array([0.5]), np.sqrt([0.15]), np.array([0.5 / 0.15**0.5])).round(4)
    array([1.1503])
    """
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
    """Critical values of a look at the plan, for a log that is looked at again and again [1]_.

    Parameters
    ----------
    z : float or ndarray of float
        Critical values of one look, not negative.

    Returns
    -------
    ndarray of float
        The c such that a Brownian motion B never crosses ``c t^(1/2) max(t, 1/t)^(1/4)``, on either
        side and for any t > 0, with the confidence of z. The fit is within 2e-4 of the exact value
        for confidences from .5 to .999999.

    Notes
    -----
    The exact values follow from a recursive integration of the stationary Ornstein-Uhlenbeck
    process in log t, with Siegmund's correction to continuous looks. The boundary is continued
    beyond the plan by time inversion, so that there is no last look.

    References
    ----------
    .. [1] S. K. Wang, A. A. Tsiatis (1987), Approximately optimal one-parameter boundaries for
       group sequential trials, Biometrics 43, 193-199: the family, here with Delta = 1/4.

    Examples
    --------
    >>> z = scipy.special.ndtri(np.array([0.95, 0.975, 0.995]))  # of 90, 95 and 99 %
    >>> planned_look_critical(z).round(3)
    array([2.26 , 2.519, 3.046])
    """
    return np.asarray(z + np.polyval(_COEFFICIENTS, 1 / (1 + np.asarray(z))))


def anytime_critical(z: Floats | float, information: Floats | float) -> Floats:
    """Critical values of a look at a share of the planned information.

    Parameters
    ----------
    z : float or ndarray of float
        Critical values of one look.
    information : float or ndarray of float
        Information now over the planned information, positive: trials of a question over planned
        ones, or questions over planned ones.

    Returns
    -------
    ndarray of float
        `planned_look_critical`, larger the further the look is from the plan, on either side.

    Examples
    --------
    Looks at a quarter of the plan, at the plan, and at four times the plan.

    >>> anytime_critical(1.96, np.array([0.25, 1.0, 4.0])).round(3)
    array([3.562, 2.519, 3.562])
    """
    share = np.asarray(information)
    critical = planned_look_critical(z) * np.maximum(share, 1 / share) ** 0.25
    return np.asarray(np.minimum(critical, _LARGEST))


def anytime_student_critical(t: Floats, information: Floats | float, freedom: Floats) -> Floats:
    """Critical values of Student's distribution, of a look at a share of the planned information.

    Parameters
    ----------
    t : ndarray of float
        Critical values of one look.
    information : float or ndarray of float
        As for `anytime_critical`.
    freedom : ndarray of float
        Degrees of freedom.

    Returns
    -------
    ndarray of float
        With the tail of the normal `anytime_critical`; NaN without degrees of freedom.

    Examples
    --------
    >>> anytime_student_critical(np.array([2.045]), 1.0, np.array([29.0])).round(3)
    array([2.688])
    """
    z = -scipy.special.ndtri(scipy.special.stdtr(freedom, -t))
    tail = scipy.special.ndtr(-anytime_critical(z, information))
    return np.asarray(-scipy.special.stdtrit(freedom, tail))
