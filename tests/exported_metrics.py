"""The functions that make metrics, as the package exports them."""

from inspect import isfunction

from polars_scorio import metrics

EXPORTED = {
    name: getattr(metrics, name) for name in metrics.__all__ if isfunction(getattr(metrics, name))
}
