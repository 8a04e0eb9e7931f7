"""The metrics: values that know their arguments and their formula."""

from polars_scorio.metrics.binary import (
    DrawMetric,
    g_pass_at_k,
    pass_at_k,
    pass_hat_k,
    unanimous_at_k,
)
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import WeightedMetric, avg, bayes

__all__ = [
    "DrawMetric",
    "Metric",
    "WeightedMetric",
    "avg",
    "bayes",
    "g_pass_at_k",
    "pass_at_k",
    "pass_hat_k",
    "unanimous_at_k",
]
