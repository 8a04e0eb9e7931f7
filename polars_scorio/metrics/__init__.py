"""The metrics: values that know their arguments and their formula."""

from polars_scorio.metrics.blends import (
    geo_spectrum_at_k,
    geo_spectrum_star_at_k,
    geom_at_k,
    geom_ds_at_k,
)
from polars_scorio.metrics.costs import cost_per_success, cost_to_solve, mean_cost
from polars_scorio.metrics.metric import Metric, Summary
from polars_scorio.metrics.rewards import max_at_k, min_at_k
from polars_scorio.metrics.success import g_pass_at_k, pass_at_k, pass_hat_k, unanimous_at_k
from polars_scorio.metrics.thresholds import (
    auc_at_k,
    g_pass_at_k_tau,
    maj_at_k,
    mg_pass_at_k,
    tail_pass,
    threshold_spectrum_at_k,
    vote_at_k,
)
from polars_scorio.metrics.weighted import avg, bayes

__all__ = [
    "Metric",
    "Summary",
    "auc_at_k",
    "avg",
    "bayes",
    "cost_per_success",
    "cost_to_solve",
    "g_pass_at_k",
    "g_pass_at_k_tau",
    "geo_spectrum_at_k",
    "geo_spectrum_star_at_k",
    "geom_at_k",
    "geom_ds_at_k",
    "maj_at_k",
    "max_at_k",
    "mean_cost",
    "mg_pass_at_k",
    "min_at_k",
    "pass_at_k",
    "pass_hat_k",
    "tail_pass",
    "threshold_spectrum_at_k",
    "unanimous_at_k",
    "vote_at_k",
]
