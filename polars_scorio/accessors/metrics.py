"""A method for each metric that the package exports.

Type checkers read metrics.pyi, which ``python -m tests.accessors.stub`` writes.
"""

from __future__ import annotations

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.accessors.methods import (
    estimate_functions,
    estimate_method,
    metric_functions,
    report_method,
)


class MetricMethods(Accessor[FrameT]):
    """The metrics as methods of a log: each is the report of that metric alone."""


class MetricEstimates:
    """The metrics as methods of categories: each is the estimate of a group."""


for _function in metric_functions():
    setattr(MetricMethods, _function.__name__, report_method(_function))
for _function in estimate_functions():
    setattr(MetricEstimates, _function.__name__, estimate_method(_function))
