"""Chance that further trials decide a pair of models, and the trials for a given chance."""

from collections.abc import Callable

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints

_COIN = 0.5


def assurance(diff: Floats, now: Floats, then: Floats, z: Floats | float) -> Floats:
    """Chance that a pair is decided once its difference is known more closely.

    Parameters
    ----------
    diff : ndarray of float
        Difference today.
    now, then : ndarray of float
        Its standard deviation today and after further trials.
    z : float or ndarray of float
        Standard deviations from zero at which a pair is decided.

    Returns
    -------
    ndarray of float
        ``Phi((|d| - z s_m) / r) + Phi((-|d| - z s_m) / r)``, ``r**2 = s_0**2 - s_m**2``: the
        difference then is normal around today's with standard deviation r. Where nothing is learned
        (r = 0): 1 if the pair is decided, else 0.

    Examples
    --------
    At twice the trials of a pair that lacks little.

    >>> assurance(np.array([0.1]), np.array([0.06]), np.array([0.06]) / 2**0.5, 1.96).round(3)
    array([0.654])
    """
    lead, needed = np.abs(diff), z * then
    change = np.sqrt(np.maximum((now - then) * (now + then), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = scipy.special.ndtr((lead - needed) / change) + scipy.special.ndtr(
            (-lead - needed) / change
        )
    unknown = np.isnan(lead) | np.isnan(needed) | np.isnan(change)
    apart = np.where((lead >= needed) & (lead > 0), 1.0, 0.0)
    return np.where(unknown, np.nan, np.where(change > 0, chance, apart))


def trials_with_assurance(
    diff: Floats,
    sigma: Callable[[Ints], Floats],
    z: Floats | float,
    goal: float,
    limit: int,
) -> Ints:
    """The fewest further trials after which pairs are decided with a given chance.

    Parameters
    ----------
    diff : ndarray of float, shape (P,)
        Differences today.
    sigma : callable
        The standard deviation of each difference after m further trials, for m of shape (P,); it
        does not grow with m.
    z : float or ndarray of float
        Standard deviations from zero at which a pair is decided.
    goal : float
        The chance, in (0, 1). 0.5 stands for the point at which today's difference would be
        decided, ``|d| = z s_m``: a coin flip for the model that leads today. Other goals also
        count that the pair may be decided the other way round.
    limit : int
        The largest number of trials to consider.

    Returns
    -------
    ndarray of int, shape (P,)
        ``limit + 1`` where the limit does not suffice, or where a number is NaN.

    Examples
    --------
    >>> def sigma(m):
    ...     return 0.06 / np.sqrt(1 + m / 100)
    >>> trials_with_assurance(np.array([0.1]), sigma, 1.96, 0.5, 10_000)
    array([39])
    >>> trials_with_assurance(np.array([0.1]), sigma, 1.96, 0.8, 10_000)
    array([344])
    """
    now = sigma(np.zeros(diff.shape, dtype=np.int64))

    def reached(m: Ints) -> Floats:
        then = sigma(m)
        if goal == _COIN:
            return np.where((np.abs(diff) >= z * then) & (diff != 0), 1.0, 0.0)
        return assurance(diff, now, then, z)

    # The chance of a pair that is decided today falls at first: the pair needs no trials.
    low = np.where(reached(np.zeros(diff.shape, dtype=np.int64)) >= goal, 0, 1)
    high = np.where(low == 0, 0, limit + 1)
    for _ in range(int(limit).bit_length() + 1):
        middle = (low + high) // 2
        enough = reached(np.minimum(middle, limit)) >= goal
        active = low < high
        high = np.where(active & enough, middle, high)
        low = np.where(active & ~enough, middle + 1, low)
    return high
