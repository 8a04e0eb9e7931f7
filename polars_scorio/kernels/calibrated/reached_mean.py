"""Whether some population that the counts do not reject reaches a mean.

The largest mean itself (`extremes`) caps a price, and takes 2 to 7 ms. A cap that lies above the
price changes nothing, and some population that is not rejected usually shows that it does, in .1
to .6 ms. Of 79 prices that a cap could have lowered (110 groups of 20 to 20,000 questions) the
first of two attempts settled 30, the second all but 7. Without this module reports of draws of more
than half of the trials take several times as long; to delete it, ask `extremes` in each case.
"""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.free_fit import FreeFit

# The weights of a high likelihood, and further steps towards larger means.
_ATTEMPTS = (("better", 8), ("best", 32))
_BONUSES = 2.0 ** np.arange(-7, 3)  # of the values, beside the likelihood of a question


def reaches_mean(free: FreeFit, values: Floats, least: float, room: float) -> bool:
    """Whether a mean of `values` is at least `least` under a population that is not rejected.

    Expectation and maximisation of the likelihood with a bonus for large values leads from weights
    of a high likelihood towards larger means. The mixture of both weights with the mean `least` is
    not rejected if its log likelihood is at most `room` below the maximum.

    Parameters
    ----------
    free : FreeFit
        The free fit of a group.
    values : ndarray of float, shape (I,)
        Of each rate, not negative and not all zero.
    least : float
        The mean to be reached.
    room : float
        The difference of log likelihoods from which on a population is rejected.

    Returns
    -------
    bool
        True only if the largest mean is `least` or more.

    Examples
    --------
    Three failures and seven successes: the success rate may be .85, but not .95.

    >>> rates, questions = np.linspace(0, 1, 101), np.array([3, 7])
    >>> likelihood = np.stack([1 - rates, rates])
    >>> free = FreeFit(likelihood, np.zeros(2), questions, np.full(101, 1 / 101))
    >>> [reaches_mean(free, rates, least, 1.92) for least in (0.85, 0.95)]
    [True, False]
    """
    # Rates without weight never get any, so the way starts where all of them have some.
    apart = np.tile(free.better, (_BONUSES.size, 1))
    for start, steps in _ATTEMPTS:
        centre: Floats = getattr(free, start)
        lowest = _highest_likelihood(free, centre) - room
        apart = _raised_weights(free, apart, values, steps)
        mixtures = _mixtures_of_mean(centre, apart, values, least)
        if (_log_likelihood(free, mixtures) >= lowest).any():
            return True
    return False


def _highest_likelihood(free: FreeFit, centre: Floats) -> float:
    """Upper limit of the log likelihood, from weights close to its maximum [1]_.

    References
    ----------
    .. [1] B. G. Lindsay (1983), Ann. Statist. 11, 86-94: the gradient function of a mixture limits
       the maximum.
    """
    total = free.questions.sum()
    slope = (free.questions / (free.likelihood @ centre)) @ free.likelihood / total
    return float(_log_likelihood(free, centre)) + float(total * np.log(max(slope.max(), 1.0)))


def _log_likelihood(free: FreeFit, weight: Floats) -> Floats:
    """Log likelihood of weights, shape (..., I), on the scale of the rows."""
    return np.asarray(np.log(weight @ free.likelihood.T) @ free.questions)


def _raised_weights(free: FreeFit, apart: Floats, values: Floats, steps: int) -> Floats:
    """Weights after some steps towards larger means, one row for each bonus, (bonuses, I)."""
    bonus = free.questions.sum() * _BONUSES[:, None] * (values / values.max())
    for _ in range(steps):
        apart = apart * ((free.questions / (apart @ free.likelihood.T)) @ free.likelihood + bonus)
        apart /= apart.sum(axis=1, keepdims=True)
    return apart


def _mixtures_of_mean(centre: Floats, apart: Floats, values: Floats, least: float) -> Floats:
    """Mixtures of the centre with each of some weights that have the mean `least`.

    Without weights of so large a mean there is no mixture; a centre of this mean needs none.
    """
    near, far = centre @ values, apart @ values
    if near >= least:
        return centre[None]
    enough = far >= least
    part = (least - near) / (far[enough] - near)
    return np.asarray(centre + part[:, None] * (apart[enough] - centre))
