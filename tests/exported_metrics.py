"""The functions that make metrics, as the package exports them."""

from inspect import isfunction

from polars_scorio import metrics

EXPORTED = {
    name: getattr(metrics, name) for name in metrics.__all__ if isfunction(getattr(metrics, name))
}
# Metrics of what trials cost, and those of the counts of their categories.
OF_COSTS = ("cost_per_success", "cost_to_solve", "mean_cost")
OF_COUNTS = {name: function for name, function in EXPORTED.items() if name not in OF_COSTS}
