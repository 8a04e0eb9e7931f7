"""Chance that further trials decide a pair of models, and the trials for a given chance."""

from collections.abc import Callable

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask

# Standard deviations after m further trials; they do not grow with m.
SigmaAfter = Callable[[Ints], Floats]
# Critical values: of one look, or of a look after m further trials.
CriticalAfter = Floats | float | Callable[[Ints], Floats]


def decision_chance(
    diff: Floats,
    now: Floats,
    then: Floats,
    z: Floats | float,
    share: Floats | float,
    margin: Floats | float = 0.0,
) -> Floats:
    """Chance that a pair is decided once its difference is known more closely [1]_.

    Parameters
    ----------
    diff : ndarray of float
        Difference today.
    now, then : ndarray of float
        Its standard deviation today and after further trials.
    z : float or ndarray of float
        Standard deviations from zero at which a pair is decided.
    share : float or ndarray of float
        B of `signal_share`: the true difference is normal with mean ``B d`` and variance
        ``B s_0**2``. 1: nothing is known of other models.
    margin : float or ndarray of float
        A pair is decided if the difference is not ``-margin``; by default, if it is not zero.

    Returns
    -------
    ndarray of float
        ``Phi((e - z s_m) / r) + Phi((-e - z s_m) / r)``, with ``w = s_m**2 / s_0**2``,
        ``e = d (w + (1 - w) B) + margin`` and ``r**2 = (s_0**2 - s_m**2) (w + (1 - w) B)``: mean
        and variance of the difference then. Where nothing is learned (r = 0): 1 if the pair is
        decided, else 0.

    References
    ----------
    .. [1] A. O'Hagan, J. W. Stevens, M. J. Campbell (2005), Pharmaceutical Statistics 4(3),
       187-201: assurance.

    Examples
    --------
    At twice the trials of a pair that lacks little: as observed, and if half of the gap is luck.

    >>> now, share = np.array([0.06, 0.06]), np.array([1.0, 0.5])
    >>> decision_chance(np.array([0.1, 0.1]), now, now / 2**0.5, 1.96, share).round(3)
    array([0.654, 0.412])
    """
    left = np.divide(then, now, out=np.ones_like(now), where=now > 0) ** 2
    kept = left + (1 - left) * share
    lead, needed = np.abs(diff * kept + margin), z * then
    change = np.sqrt(np.maximum((now - then) * (now + then), 0.0) * kept)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = scipy.special.ndtr((lead - needed) / change) + scipy.special.ndtr(
            (-lead - needed) / change
        )
    unknown = np.isnan(lead) | np.isnan(needed) | np.isnan(change)
    decided = np.where((lead >= needed) & (lead > 0), 1.0, 0.0)
    return np.where(unknown, np.nan, np.where(change > 0, chance, decided))


def trials_with_assurance(
    diff: Floats,
    sigma: SigmaAfter,
    z: CriticalAfter,
    share: Floats | float,
    goal: float,
    limit: int,
    margin: Floats | float = 0.0,
) -> Ints:
    """The fewest further trials after which pairs are decided with a given chance.

    Parameters
    ----------
    diff : ndarray of float, shape (P,)
        Differences today.
    sigma : callable
        The standard deviation of each difference after m further trials, for m of shape (P,).
    z : float, ndarray of float or callable
        As for `decision_chance`; or from m to such values, for looks that are repeated.
    share, margin : float or ndarray of float
        As for `decision_chance`.
    goal : float
        The chance, in (0, 1), that the pair is decided, for either of its models.
    limit : int
        The largest number of trials to consider.

    Returns
    -------
    ndarray of int, shape (P,)
        0 where the pair is decided today. ``limit + 1`` where the limit does not suffice, as for
        ``share = 0``, or where a number is NaN.

    Examples
    --------
    >>> def sigma(m):
    ...     return 0.06 / np.sqrt(1 + m / 100)
    >>> diff, share = np.full(3, 0.1), np.array([1.0, 0.5, 0.0])
    >>> trials_with_assurance(diff, sigma, 1.96, share, 0.8, 10_000)
    array([  344,  2772, 10001])
    """
    now = sigma(np.zeros(diff.shape, dtype=np.int64))

    def decided(m: Ints) -> Mask:
        chance = decision_chance(diff, now, sigma(m), _critical_after(z, m), share, margin)
        return np.asarray(chance >= goal)

    extra = fewest_trials(decided, diff.size, limit)
    # Without any signal verdicts would be false ones; that a difference exceeds a margin is none.
    some = (np.asarray(share) > 0) | (np.asarray(margin) > 0)
    return np.where((extra == 0) | some, extra, limit + 1)


def trials_for_half_width(
    half_width: Floats, sigma: SigmaAfter, z: CriticalAfter, limit: int
) -> Ints:
    """The fewest further trials after which intervals are narrow enough.

    Parameters
    ----------
    half_width : ndarray of float, shape (P,)
        Wanted half-widths, positive.
    sigma, z, limit
        As for `trials_with_assurance`.

    Returns
    -------
    ndarray of int, shape (P,)
        ``limit + 1`` where the limit does not suffice, or where a number is NaN.

    Examples
    --------
    >>> trials_for_half_width(np.array([0.1]), lambda m: 0.06 / np.sqrt(1 + m / 100), 1.96, 10_000)
    array([39])
    """

    def narrow(m: Ints) -> Mask:
        return np.asarray(half_width >= _critical_after(z, m) * sigma(m))

    return fewest_trials(narrow, half_width.size, limit)


def _critical_after(z: CriticalAfter, m: Ints) -> Floats | float:
    """Critical values after m further trials."""
    return z(m) if callable(z) else z


def fewest_trials(enough: Callable[[Ints], Mask], size: int, limit: int) -> Ints:
    """The smallest number that is enough, up to a limit; `limit` + 1 if none is.

    Parameters
    ----------
    enough : callable
        From a number for each place, shape (size,), to whether it is enough; every larger one is.
    size, limit : int
        How many numbers are wanted, and the largest to consider.

    Examples
    --------
    >>> fewest_trials(lambda m: m >= np.array([0, 7, 99]), 3, 20)
    array([ 0,  7, 21])
    """
    none = np.zeros(size, dtype=np.int64)
    # Of a pair that is decided today the chance falls at first: the pair needs no trials.
    low = np.where(enough(none), 0, 1)
    high = np.where(low == 0, 0, limit + 1)
    for _ in range(int(limit).bit_length() + 1):
        middle = (low + high) // 2
        reached = enough(np.minimum(middle, limit))
        active = low < high
        high = np.where(active & reached, middle, high)
        low = np.where(active & ~reached, middle + 1, low)
    return high
