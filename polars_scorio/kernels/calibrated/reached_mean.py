"""Lower limit of the largest mean over all populations that the counts do not reject.

The largest mean itself (`extremes`) caps a price, and takes 30 to 100 times as long. A cap that
lies above the price changes nothing, and some population that is not rejected usually shows that
it does. Without this module reports of draws of more than half of the trials take several times
as long; to delete it, ask `extremes` in each case.
"""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.free_fit import FreeFit

_STEPS_APART = 40  # from nearly the largest likelihood towards larger means
_HALVINGS = 12  # of the way back, until the counts do not reject a population
_BONUSES = 2.0 ** np.arange(-7, 3)  # of the values, beside the likelihood of a question


def reached_mean(free: FreeFit, values: Floats, room: float) -> float:
    """A mean of `values` under some population that the counts do not reject.

    Expectation and maximisation of the likelihood with a bonus for large values leads from the
    free fit towards larger means; a mixture with the fit leads back until the log likelihood is at
    most `room` below its maximum. The maximum is not worked out: it has an upper limit [1]_.

    Parameters
    ----------
    free : FreeFit
        The free fit of a group.
    values : ndarray of float, shape (I,)
        Of each rate, not negative and not all zero.
    room : float
        The difference of log likelihoods from which on a population is rejected.

    Returns
    -------
    float
        Never more than the largest mean; 0 if not even the fit is surely within the room.

    References
    ----------
    .. [1] B. G. Lindsay (1983), Ann. Statist. 11, 86-94: the gradient function of a mixture.

    Examples
    --------
    Three failures and seven successes: the success rate may be as large as .92.

    >>> rates, questions = np.linspace(0, 1, 101), np.array([3, 7])
    >>> likelihood = np.stack([1 - rates, rates])
    >>> free = FreeFit(likelihood, np.zeros(2), questions, np.full(101, 1 / 101))
    >>> 0.85 < reached_mean(free, rates, 1.92) < 0.92
    True
    """
    likelihood, questions = free.likelihood, free.questions

    def log_likelihood(weight: Floats) -> Floats:
        return np.asarray(np.log(weight @ likelihood.T) @ questions)

    total = questions.sum()
    centre = free.nearly_best
    slope = (questions / (likelihood @ centre)) @ likelihood / total
    least = log_likelihood(centre) + total * np.log(max(slope.max(), 1.0)) - room
    bonus = total * _BONUSES[:, None] * (values / values.max())
    apart = np.tile(centre, (_BONUSES.size, 1))
    for _ in range(_STEPS_APART):
        apart = apart * ((questions / (apart @ likelihood.T)) @ likelihood + bonus)
        apart /= apart.sum(axis=1, keepdims=True)
    part, step = np.zeros((_BONUSES.size, 1)), 1.0
    for _ in range(_HALVINGS):
        further = np.minimum(part + step, 1.0)
        kept = log_likelihood(centre + further * (apart - centre)) >= least
        part, step = np.where(kept[:, None], further, part), step / 2
    if log_likelihood(centre) < least:
        return 0.0
    return float(((centre + part * (apart - centre)) @ values).max())
