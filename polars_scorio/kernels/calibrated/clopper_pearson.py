"""Intervals around an estimate: Clopper and Pearson's, with an effective number of questions."""

from __future__ import annotations

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.variance_price import Price

_END = 1e-12  # from a bound: as good as on it
_LARGEST = 1e100  # shape: SciPy's inverse of the Beta integral is NaN from 1e155 on
_NARROW = 1e8  # shapes from which on the normal is closer than SciPy's inverse of the Beta integral


def clopper_pearson_interval(price: Price, confidence: Floats | float) -> tuple[Floats, Floats]:
    """The interval of each group, on the scale of the metric.

    Parameters
    ----------
    price : Price
        Estimate and noise.
    confidence : float or ndarray of float, shape (G,)
        Of the interval, inside (0, 1).

    Returns
    -------
    lo, hi : ndarray of float, shape (G,)
        ``lo <= estimate <= hi`` inside the range of the metric; NaN without an estimate.

    Examples
    --------
    A rate of .5 with the variance of 100 questions: that of 50 successes among 100.

    >>> half = np.array([0.5])
    >>> price = Price(half, half, half, half, half / 200, np.array([1.0]))
    >>> lo, hi = clopper_pearson_interval(price, 0.95)
    >>> lo.round(4), hi.round(4)
    (array([0.3983]), array([0.6017]))
    """
    tail = (1 - confidence) / 2
    if not price.bounded:
        noise = price.width * -scipy.special.ndtri(tail) * np.sqrt(price.variance * price.factor)
        return price.mu - noise, price.mu + noise
    lo, hi = unit_interval(price, effective_questions(price), tail)
    return price.low + price.width * lo, price.low + price.width * hi


def bound_distance(price: Price) -> Floats:
    """How far the estimate lies from the nearer bound, from 0 (on it) to 1, against its noise."""
    square = np.minimum(price.estimate, price.rest) ** 2
    both = square + price.variance
    distance: Floats = np.divide(square, both, out=np.zeros_like(both), where=both != 0)
    return distance


def effective_questions(price: Price) -> Floats:
    """Bernoulli questions with the variance of the estimate; infinite where it has none."""
    distance = bound_distance(price)
    own = distance * price.estimate * price.rest
    model = (1 - distance) * price.mean * price.mean_rest
    noise = price.variance * (1 + (price.factor - 1) * distance)
    questions: Floats = np.divide(
        own + model, noise, out=np.full_like(noise, np.inf), where=noise != 0
    )
    return questions


def unit_interval(price: Price, questions: Floats, tail: Floats | float) -> tuple[Floats, Floats]:
    """Both ends on the unit scale, from effective questions and the chance beyond either end."""
    known, finite = ~np.isnan(questions), np.isfinite(questions)
    some = np.where(finite, questions, 1.0)
    x, y = price.estimate * some, price.rest * some
    lo = np.where(price.estimate > _END, beta_quantile(x, y + 1, tail, upper=False), 0.0)
    hi = np.where(price.rest > _END, beta_quantile(x + 1, y, tail, upper=True), 1.0)
    exact = known & ~finite
    lo, hi = (np.where(exact, price.estimate, end) for end in (lo, hi))
    lo, hi = np.minimum(lo, price.estimate), np.maximum(hi, price.estimate)
    return np.where(known, lo, np.nan), np.where(known, hi, np.nan)


def beta_quantile(a: Floats, b: Floats, tail: Floats | float, *, upper: bool) -> Floats:
    """Beta(a, b) leaves `tail` below, or above, this."""
    tiny = np.finfo(float).tiny
    a, b = np.clip(a, tiny, _LARGEST), np.clip(b, tiny, _LARGEST)
    narrow = np.minimum(a, b) > _NARROW
    inverse = scipy.special.betainccinv if upper else scipy.special.betaincinv
    exact = inverse(np.where(narrow, 1.0, a), np.where(narrow, 1.0, b), tail)
    mean, z = a / (a + b), -scipy.special.ndtri(tail) if upper else scipy.special.ndtri(tail)
    sigma = np.sqrt(mean * (b / (a + b)) / (a + b + 1))
    skew = (1 - 2 * mean) * (z**2 - 1) / (3 * (a + b))  # Cornish and Fisher's correction
    return np.where(narrow, mean + z * sigma + skew, exact)
