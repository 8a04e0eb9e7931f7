"""Metrics as texts: what one types in Python, read and never evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

from polars_scorio import metrics
from polars_scorio.arguments import nearest_hint, public_names, unknown_name, value_text
from polars_scorio.metrics.metric import Metric

_MAKERS: dict[str, Callable[..., Metric]] = {
    name: getattr(metrics, name) for name in metrics.__all__ if name[0].islower()
}


def read_metric(text: str) -> Metric:
    """The metric that a text names, as in ``pass_at_k([1, 4])``; nothing else is evaluated."""
    try:
        called = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text} is no metric: {error.msg}. Write pass_at_k([1, 4])") from None
    name, arguments, keywords = called, [], []
    if isinstance(called, ast.Call):
        name, arguments, keywords = called.func, called.args, called.keywords
    maker = _MAKERS.get(ast.unparse(name).removeprefix("ps."))
    if maker is None:
        unknown = ast.unparse(name)
        known = nearest_hint(unknown, _MAKERS) or f", only {', '.join(_MAKERS)}"
        raise ValueError(f"{text}: there is no metric {unknown}{known}")
    positional = [_literal_value(argument, text) for argument in arguments]
    named: dict[str, Any] = {}
    for keyword in keywords:
        if keyword.arg is None:
            raise ValueError(f"{text}: write keywords out instead of **")
        named[keyword.arg] = _literal_value(keyword.value, text)
    if not (positional or "k" in named) and _needs_draws(maker):
        raise ValueError(f"{text}: add how many trials are drawn, as in {maker.__name__}(4)")
    try:
        return maker(*positional, **named)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{text}: {error}") from error


def _needs_draws(maker: Callable[..., Metric]) -> bool:
    """Whether a metric has no draw size of its own."""
    k = signature(maker).parameters.get("k")
    return k is not None and k.default is Parameter.empty


@lru_cache
def named_metric(name: str, k: int | None) -> Metric | None:
    """Metric of this package that has a name in results, with the draw size k; None for any other.

    >>> named_metric("g_pass_at_k_tau(tau=0.5)", 4), named_metric("my_score", 4)
    (g_pass_at_k_tau(4, tau=0.5), None)
    """
    function, _, arguments = name.partition("(")
    if function not in _MAKERS:
        return None
    # A name shows k only where `k` is not a column; in all others it is the first argument.
    for text in (name, f"{function}({k or 1}, {arguments or ')'}"):
        with suppress(ValueError):
            return read_metric(text)
    return None


def check_metric(metric: object, takes: str) -> None:
    """Refuse what is no metric, with the call that was probably meant; `takes` begins it."""
    if isinstance(metric, Metric):
        return
    given, cure = value_text(metric), ""
    if isinstance(metric, str):
        with suppress(ValueError):
            cure = f": write ps.{read_metric(metric)!r}"
        if metric in _MAKERS and not cure:
            cure = f": write {_example_call(_MAKERS[metric])}"
        cure = cure or nearest_hint(metric, _MAKERS)
    elif maker := next((each for each in _MAKERS.values() if each is metric), None):
        given, cure = f"the function {maker.__name__}", f": call it, as in {_example_call(maker)}"
    elif isinstance(metric, list | tuple) and any(isinstance(each, Metric) for each in metric):
        cure = ": pass each metric by itself"
    raise TypeError(f"{takes} such as ps.avg(), got {given}{cure}")


def check_metrics(metrics: Sequence[Metric], method: str = "report") -> None:
    """Refuse other things than metrics, and two metrics with the same rows in the result."""
    if not metrics:
        raise TypeError("name at least one metric, for instance ps.avg()")
    for metric in metrics:
        check_metric(metric, f"{method} takes metrics")
    rows = [row for metric in metrics for row in metric.rows]
    repeated = [row for row in rows if rows.count(row) > 1]
    if repeated:
        name, k = repeated[0]
        raise ValueError(
            f"the report has two rows of the metric {name!r} with k={k}: give one another name="
        )


def unknown_method(owner: str, name: str, accessor: type, takes: str) -> AttributeError:
    """The error for a method that an accessor lacks: what `takes` a metric, or the nearest name."""
    if name not in _MAKERS:
        return unknown_name(owner, name, public_names(accessor))
    called = f"{takes}({_example_call(_MAKERS[name])})"
    return AttributeError(f"{owner} has no method {name!r}: write {called}")


def _example_call(maker: Callable[..., Metric]) -> str:
    """The simplest call of a function that makes metrics.

    >>> _example_call(metrics.threshold_spectrum_at_k)
    'ps.threshold_spectrum_at_k(4, weights)'
    """
    given = [each for each in signature(maker).parameters.values() if each.default is each.empty]
    return f"ps.{maker.__name__}({', '.join('4' if x.name == 'k' else x.name for x in given)})"


def _literal_value(argument: ast.expr, text: str) -> Any:  # noqa: ANN401 - whatever a literal is
    match argument:
        case ast.Call(ast.Name("range"), ends, []):
            return range(*(_literal_value(end, text) for end in ends))
    try:
        return ast.literal_eval(argument)
    except (ValueError, TypeError, SyntaxError):
        raise ValueError(
            f"{text}: {ast.unparse(argument)} is no number, word, list or dict"
        ) from None
