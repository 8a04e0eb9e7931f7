"""Calibrated numbers of a population: the questions, or their clusters, are a sample."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.metric_numbers import Numbers, sample_numbers
from polars_scorio.kernels.calibrated.population_mean import QuestionSample
from polars_scorio.kernels.calibrated.variance_price import Price


def sampled_numbers(
    price: Price, sample: QuestionSample, values: Floats, confidence: Floats | float
) -> Numbers:
    """The numbers of a metric that is no credit, about the population of the questions.

    The variance is that of the estimates between the questions, or between their clusters, and
    never below the noise of the trials: questions that all say the same are no proof that others
    do.

    Parameters
    ----------
    price : Price
        The noise of the trials.
    sample : QuestionSample
        The questions of each group, or their clusters.
    values : ndarray of float, shape (S,)
        The estimate of a question in each state, on the scale of the metric.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals.
    """
    unit = (values - price.low) / (price.width or 1.0)
    independent = np.maximum(sample.variance_between(unit), price.variance)
    sigma = sample.sigma(unit, independent)
    return sample_numbers(unit, sigma, sample, confidence).scaled(price.low, price.width)
