"""Methods made of the functions of metrics: their arguments, their help, and report options."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, isfunction, signature
from typing import Any, TypeAlias

import polars as pl

from polars_scorio import metrics
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.options import ReportOptions
from polars_scorio.signatures import answering, described, keywords

Function: TypeAlias = Callable[..., Metric]

_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
# What a method returns, in place of what its function does.
_REPORT = "DataFrame or LazyFrame\n    The report of this metric alone, as `report` describes it."
_ESTIMATE = "Expr\n    The estimate of the group, as `estimate` describes it; of `k` a single one."


def metric_functions() -> list[Function]:
    """The functions that make metrics, as they are exported."""
    exported = (getattr(metrics, name) for name in metrics.__all__)
    return [each for each in exported if isfunction(each)]


def estimate_functions() -> list[Function]:
    """Those of categories alone, which are all that an expression sees."""
    return [each for each in metric_functions() if each is not metrics.vote_at_k]


def report_method(function: Function) -> Callable[..., Any]:
    """The report of a metric: the arguments of its function, and the options of a report."""
    own, shared = signature(function).parameters, keywords(ReportOptions)
    options = [parameter for parameter, _ in shared.values()]
    entries = {name: entry for name, (_, entry) in shared.items()}

    def method(self: Any, /, *arguments: object, **given: Any) -> Any:  # noqa: ANN401 - an accessor
        self._release()
        mine = {key: given.pop(key) for key in given.keys() & own.keys()}
        return self.report(function(*arguments, **mine), **given)

    shown = signature(function).replace(
        parameters=[_SELF, *own.values(), *options], return_annotation="FrameT"
    )
    method.__name__ = function.__name__
    method.__qualname__ = f"Scorio.{function.__name__}"
    doc = described(function.__doc__, shown, entries, Returns=_REPORT)
    return answering(method, shown, doc)


def estimate_method(function: Function) -> Callable[..., pl.Expr]:
    """The estimate of a metric: the arguments of its function."""

    def method(self: Any, /, *arguments: object, **given: object) -> pl.Expr:  # noqa: ANN401 - an accessor
        estimate: pl.Expr = self.estimate(function(*arguments, **given))
        return estimate

    own = signature(function).parameters.values()
    shown = signature(function).replace(parameters=[_SELF, *own], return_annotation=pl.Expr)
    method.__name__ = function.__name__
    method.__qualname__ = f"ScorioExpr.{function.__name__}"
    return answering(method, shown, described(function.__doc__, shown, {}, Returns=_ESTIMATE))
