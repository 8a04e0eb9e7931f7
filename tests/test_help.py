"""What `help` shows of the package: numpydoc's rules, on docstrings that are put together."""

import inspect

import pytest

import polars_scorio as ps
from polars_scorio.display.plots import Plots
from tests.exported_metrics import EXPORTED

validate = pytest.importorskip("numpydoc.validate").validate

# The exceptions of pyproject.toml, without those on parameters, results and examples.
EXCEPTIONS = {"GL01", "GL02", "GL03", "SS02", "SS03", "SS05", "ES01", "SA01"}
EXCEPTIONS |= {"PR04", "PR08", "RT02", "RT04", "RT05"}
MOST_LINES = 80
ACCESSORS = {
    "polars_scorio.Scorio": ps.Scorio,
    "polars_scorio.ScorioExpr": ps.ScorioExpr,
    "polars_scorio.display.plots.Plots": Plots,
}


def public() -> list[str]:
    """The functions of the package, and the accessors with their methods."""
    names = [
        f"polars_scorio.{name}" for name in ps.__all__ if inspect.isfunction(getattr(ps, name))
    ]
    for path, owner in ACCESSORS.items():
        called = ["__call__"] if "__call__" in vars(owner) else []
        methods = [*called, *(name for name in dir(owner) if not name.startswith("_"))]
        names += [path, *(f"{path}.{name}" for name in methods)]
    return names


@pytest.mark.parametrize("name", public())
def test_help_is_complete(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in EXCEPTIONS]
    assert errors == []


def owner_of(name: str) -> object:
    """The accessor, method or function of a name."""
    path, _, last = name.rpartition(".")
    return ACCESSORS.get(name) or getattr(ACCESSORS.get(path, ps), last)


def test_help_is_short():
    """What is longer than two screens belongs to the guide."""
    readers = [getattr(room, name) for room in (ps.logs, ps.rubrics) for name in room.__all__]
    lines = {
        f"{each.__module__}.{each.__qualname__}": (inspect.getdoc(each) or "").count("\n") + 1
        for each in [*map(owner_of, public()), *filter(callable, readers)]
        if hasattr(each, "__qualname__")
    }
    assert len(lines) > 130
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


@pytest.mark.parametrize("name", public())
def test_the_first_line_of_help_names_the_result(name):
    """People find a question in the guide: help says what comes back, or what is done."""
    path, _, last = name.rpartition(".")
    help_ = inspect.getdoc(owner_of(name)) or ""
    first = help_.partition("\n\n")[0]
    assert "?" not in first
    assert not first.startswith(("What ", "Which ", "How ", "Those ", "The same"))
    if path == "polars_scorio.Scorio" and last not in {"__call__", "plot", "frame"}:
        assert "See Also\n--------" in help_


@pytest.mark.parametrize("function", EXPORTED.values(), ids=lambda function: function.__name__)
def test_every_metric_names_its_formula_and_where_it_comes_from(function):
    help_ = inspect.getdoc(function)
    assert "Notes\n-----\n" in help_
    assert "References\n----------\n.. [1] " in help_
    assert "[1]_" in help_.partition("\n")[0]


def test_what_metrics_share_is_written_once():
    shared = "Name of the metric in results."
    drawn = [f for f in EXPORTED.values() if "bounds" in inspect.signature(f).parameters]
    assert all(shared in inspect.getdoc(function) for function in drawn)
    written = {inspect.getsource(inspect.getmodule(function)) for function in drawn}
    assert not any(shared in source for source in written)
