"""Calibrated numbers of a population: the questions, or their clusters, are a sample."""

from __future__ import annotations

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.metric_numbers import Numbers, price_numbers
from polars_scorio.kernels.calibrated.population_mean import sampled_price
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.states import States


def sampled_numbers(
    price: Price, states: States, values: Floats, clusters: Clustered | None, confidence: float
) -> Numbers:
    """The numbers of a price, widened by the spread of the questions or of their clusters.

    Parameters
    ----------
    price : Price
        The noise of the trials.
    states : States
        The questions of each group.
    values : ndarray of float, shape (S,)
        The estimate of a question in each state.
    clusters : Clustered or None
        The same questions in their clusters, if they have some.
    confidence : float
        Of the intervals.
    """
    if clusters is None:
        sampled = sampled_price(price, states, values, confidence)
        return price_numbers(sampled, confidence, states.size)
    variance, number = clusters.variance(states, values[states.state]), clusters.effective
    sampled = sampled_price(
        price, states, values, confidence, cluster_variance=variance, clusters=number
    )
    return price_numbers(sampled, confidence, number)
