"""The methods of metrics for type checkers. Run: python -m tests.accessors.stub"""

import re
import typing
from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path

import numpy.typing as npt

from polars_scorio.accessors import metrics
from polars_scorio.accessors.methods import estimate_functions, metric_functions
from polars_scorio.metrics import metric as base

STUB = Path(metrics.__file__).with_suffix(".pyi")

HEAD = '''"""The methods of accessors/metrics.py: written by ``python -m tests.accessors.stub``."""

{typing}
import polars as pl
{numpy}from typing_extensions import Unpack

from polars_scorio.accessors.base import Accessor, FrameT
{base}from polars_scorio.reporting.options import ReportOptions

class MetricMethods(Accessor[FrameT]):
    """The metrics as methods of a log: each is the report of that metric alone."""

{reports}
class MetricEstimates:
    """The metrics as methods of categories: each is the estimate of a group."""

    def estimate(self, metric: Metric) -> pl.Expr: ...
{estimates}'''


def stub() -> str:
    """The whole file, as the formatter leaves it."""
    functions = metric_functions()
    annotations = " ".join(p.annotation for each in functions for p in parameters(each))
    words = {"Metric", *re.findall(r"[A-Z]\w+", annotations)}
    return HEAD.format(
        typing=imported(words & {*typing.__all__}, "typing"),
        numpy=imported(words & {*npt.__all__}, "numpy.typing"),
        base=imported(words - {*typing.__all__, *npt.__all__} & {*vars(base)}, base.__name__),
        reports="\n".join(
            declared(function, "FrameT", ["**options: Unpack[ReportOptions]"])
            for function in functions
        ),
        estimates="\n".join(declared(function, "pl.Expr", []) for function in estimate_functions()),
    )


def imported(words: set[str], module: str) -> str:
    """The import of some names."""
    return f"from {module} import {', '.join(sorted(words))}\n" if words else ""


def parameters(function: Callable[..., object]) -> list[Parameter]:
    """The parameters of a function, in their order."""
    return [*signature(function).parameters.values()]


def declared(function: Callable[..., object], returns: str, options: list[str]) -> str:
    """The declaration of a method, with the first line of its help for editors."""
    own = parameters(function)
    named = [typed(p) for p in own if p.kind is p.KEYWORD_ONLY]
    others = [typed(p) for p in own if p.kind is not p.KEYWORD_ONLY]
    declarations = ["self", *others, *(["*"] if named else []), *named, *options]
    lines = "".join(f"        {each},\n" for each in declarations)
    summary = (function.__doc__ or "").partition("\n")[0].replace(" [1]_", "")
    return f'    def {function.__name__}(\n{lines}    ) -> {returns}:\n        """{summary}"""\n'


def typed(parameter: Parameter) -> str:
    """A parameter with its type and its default."""
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {parameter.annotation}{default}".replace("'", '"')


if __name__ == "__main__":
    STUB.write_text(stub())
