"""The mean over a population of which the questions at hand are a sample."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.arrays import Floats


def population_mean(values: Floats, width: float) -> tuple[Floats, Floats]:
    """Mean and standard error, with two pseudo-questions that say what was not seen yet.

    ``sigma^2 = s^2 / M + width^2 / (2 M (M + 1))``: s^2 is the variance of the M questions, the
    second term what two more of them add that lie half a width above and below the mean. So no
    sample is so uniform that it leaves nothing open.

    Parameters
    ----------
    values : ndarray of float, shape (..., M)
        The value of each question: a score, or the difference of two. NaN gives NaN.
    width : float
        How far two scores can be apart; 0: no pseudo-questions.

    Returns
    -------
    mean, sigma : ndarray of float, shape (...)
        `sigma` has M - 1 degrees of freedom; NaN for a single question.

    Examples
    --------
    Four questions on which two models are the same: sqrt(1 / (2 * 4 * 5)).

    >>> mean, sigma = population_mean(np.zeros((1, 4)), 1.0)
    >>> mean, sigma.round(4)
    (array([0.]), array([0.1581]))
    """
    size = values.shape[-1]
    mean = values.mean(axis=-1)
    if size == 1:
        return mean, np.full_like(mean, np.nan)
    # In units of the width: the square of a reward may be larger than a float.
    unit = width or 1.0
    noise = (values / unit).var(axis=-1, ddof=1) / size
    unseen = (width / unit) ** 2 / (2 * size * (size + 1))
    return mean, unit * np.sqrt(noise + unseen)
