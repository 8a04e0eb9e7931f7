"""Lower limit of the largest mean over all populations that the counts do not reject.

The largest mean itself (`extremes`) caps a price, and takes 30 to 100 times as long. A cap that
lies above the price changes nothing, and some population that is not rejected usually shows that
it does. Of 36 prices that a cap could have lowered (10 models, 20 to 1,000 questions) none needed
the largest mean, and 20 were settled by the first of three attempts. Without this module reports of
draws of more than half of the trials take several times as long; to delete it, ask `extremes` in
each case.
"""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.free_fit import FreeFit

_QUICK, _THOROUGH = (("better", 8), ("nearly_best", 40)), (("best", 400),)  # attempts
_HALVINGS = 12  # of the way back, until the counts do not reject a population
_BONUSES = 2.0 ** np.arange(-7, 3)  # of the values, beside the likelihood of a question


def reached_mean(
    free: FreeFit,
    values: Floats,
    room: float,
    enough: float = np.inf,
    *,
    thorough: bool = False,
) -> float:
    """A mean of `values` under some population that the counts do not reject.

    Expectation and maximisation of the likelihood with a bonus for large values leads from weights
    of a high likelihood towards larger means; a mixture with those weights leads back until the log
    likelihood is at most `room` below its maximum.

    Parameters
    ----------
    free : FreeFit
        The free fit of a group.
    values : ndarray of float, shape (I,)
        Of each rate, not negative and not all zero.
    room : float
        The difference of log likelihoods from which on a population is rejected.
    enough : float
        The mean that is looked for: a second attempt is made only if the first does not reach it.
    thorough : bool
        Whether to start from the maximum itself, in ten times as many steps.

    Returns
    -------
    float
        Never more than the largest mean.

    Examples
    --------
    Three failures and seven successes: the success rate may be as large as .92.

    >>> rates, questions = np.linspace(0, 1, 101), np.array([3, 7])
    >>> likelihood = np.stack([1 - rates, rates])
    >>> free = FreeFit(likelihood, np.zeros(2), questions, np.full(101, 1 / 101))
    >>> 0.85 < reached_mean(free, rates, 1.92) < 0.92
    True
    """
    reached = 0.0
    for start, steps in _THOROUGH if thorough else _QUICK:
        centre: Floats = getattr(free, start)
        least = _highest_likelihood(free, centre, exact=thorough) - room
        # Rates without weight never get any, so the way starts where all of them have some.
        apart = _raised_weights(free, free.better, values, steps)
        reached = max(reached, _largest_within(free, centre, apart, values, least))
        if reached > enough:
            break
    return reached


def _highest_likelihood(free: FreeFit, centre: Floats, *, exact: bool) -> float:
    """Upper limit of the log likelihood, from weights close to its maximum, or those of it [1]_.

    References
    ----------
    .. [1] B. G. Lindsay (1983), Ann. Statist. 11, 86-94: the gradient function of a mixture limits
       the maximum.
    """
    reached = float(_log_likelihood(free, centre))
    if exact:
        return reached
    total = free.questions.sum()
    slope = (free.questions / (free.likelihood @ centre)) @ free.likelihood / total
    return reached + float(total * np.log(max(slope.max(), 1.0)))


def _log_likelihood(free: FreeFit, weight: Floats) -> Floats:
    """Log likelihood of weights, shape (..., I), on the scale of the rows."""
    return np.asarray(np.log(weight @ free.likelihood.T) @ free.questions)


def _raised_weights(free: FreeFit, centre: Floats, values: Floats, steps: int) -> Floats:
    """Weights with larger means than at the centre, shape (bonuses, I)."""
    bonus = free.questions.sum() * _BONUSES[:, None] * (values / values.max())
    apart = np.tile(centre, (_BONUSES.size, 1))
    for _ in range(steps):
        apart = apart * ((free.questions / (apart @ free.likelihood.T)) @ free.likelihood + bonus)
        apart /= apart.sum(axis=1, keepdims=True)
    return apart


def _largest_within(
    free: FreeFit, centre: Floats, apart: Floats, values: Floats, least: float
) -> float:
    """Largest mean of mixtures as far from the centre as a log likelihood of `least` allows.

    Zero if the centre itself has less.
    """
    # A mixture of weights mixes the likelihoods of states, of which there are fewer than rates.
    start, end = free.likelihood @ centre, apart @ free.likelihood.T
    if np.log(start) @ free.questions < least:
        return 0.0
    away = end - start
    part, step = np.zeros((len(apart), 1)), 1.0
    for _ in range(_HALVINGS):
        further = np.minimum(part + step, 1.0)
        kept = np.log(start + further * away) @ free.questions >= least
        part, step = np.where(kept[:, None], further, part), step / 2
    return float((centre @ values + part[:, 0] * ((apart - centre) @ values)).max())
