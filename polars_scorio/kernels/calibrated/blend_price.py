"""Geometric blends ``x^a y^b`` of two means over the questions."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.credit_sums import CreditSum, fixed_gains, group_estimates
from polars_scorio.kernels.calibrated.fit_moments import group_moments
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.price_cap import capped_price
from polars_scorio.kernels.calibrated.question_weights import QuestionWeights
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.geometric_blends import Powers, blend_means


def blend_price(fitted: Calibrated, x: Floats, y: Floats, powers: Powers) -> Price:
    """The price of a blend of two metrics of the same draw.

    To first order a blend is a weighted sum of its two metrics, which is a credit of its own.

    Parameters
    ----------
    fitted : Calibrated
        The groups and their fits.
    x, y : ndarray of float, shape (k,)
        Gains of both metrics.
    powers : tuple of float
        ``(a, b)``. With a negative one the blend has no range, and its interval is normal.

    Returns
    -------
    Price
        NaN where k exceeds the trials of some question.

    Examples
    --------
    >>> from polars_scorio.kernels.states import States
    >>> counts = np.array([[4, 0], [3, 1], [2, 2], [0, 4]])
    >>> questions, group = np.array([24, 3, 2, 1]), np.zeros(4, dtype=int)
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, group, questions, 1))
    >>> any_of_two, both = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> price = blend_price(fitted, any_of_two, both, (0.5, 0.5))
    >>> print(price.mu.round(6), price.sigma.round(6))
    [0.078567] [0.020398]
    """
    draws = fixed_gains(x), fixed_gains(y)
    means = [group_estimates(fitted.states, draw)[0] for draw in draws]
    mean, variance, factor = np.full((3, fitted.states.groups), np.nan)
    for column, group in enumerate(fitted.groups):
        seen = np.array([each[column] for each in means])
        if np.isnan(seen).any():
            continue
        weights = QuestionWeights.equal(group.questions)
        both = group_moments(group, [CreditSum([(1.0, draw)]) for draw in draws], weights)
        # One more question, as the smooth fit expects it: no mean is zero then.
        centre = (group.size * seen + both.smooth_mean) / (group.size + 1)
        share = np.array(powers) / centre * float(np.prod(centre ** np.array(powers)))
        linear = [CreditSum([*zip(share.tolist(), draws, strict=True)])]
        noise = group_moments(group, linear, weights)
        price = capped_price(group, linear, noise, weights)
        expected = (
            blend_means(fit[:1], fit[1:], powers) for fit in (both.free_mean, both.smooth_mean)
        )
        (mean[column],) = price.between(*expected)
        variance[column], factor[column] = price.variance[0], price.factor[0]
    value = blend_means(means[0], means[1], powers)
    return Price(value, 1 - value, mean, 1 - mean, variance, factor, bounded=min(powers) >= 0)
