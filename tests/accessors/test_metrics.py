"""The methods of metrics are written out for readers and type checkers: as their functions are."""

import re
from inspect import Parameter, signature, unwrap

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.accessors.frame import MetricOptions
from polars_scorio.signatures import option_keywords
from polars_scorio.study.request import ReportOptions
from tests.accessors.all_uses import METHODS
from tests.exported_metrics import EXPORTED

REPORT = [parameter for parameter, _ in option_keywords(ReportOptions).values()]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_shows_what_its_function_takes_and_what_a_report_takes(name):
    own = [*signature(EXPORTED[name]).parameters.values()]
    assert [*signature(getattr(ps.Scorio, name)).parameters.values()][1:] == [*own, *REPORT]


@pytest.mark.parametrize("name", METHODS)
def test_what_is_written_is_what_the_function_says(name):
    method, function = unwrap(getattr(ps.Scorio, name)), EXPORTED[name]
    written = dict([*signature(method).parameters.items()][1:])
    options = written.pop("options")
    expected = dict(signature(function).parameters)
    assert options.kind is Parameter.VAR_KEYWORD
    assert written == {key: expected[key] for key in written}
    assert {key for key in expected if key not in written} <= MetricOptions.__optional_keys__
    assert method.__doc__ == function.__doc__.partition("\n")[0].replace(" [1]_", "")


def test_an_expression_has_the_same_metrics_but_for_votes_over_answers():
    assert {name for name in EXPORTED if hasattr(ps.ScorioExpr, name)} == {*METHODS} - {"vote_at_k"}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("geom_at_k", "(ps.geom_at_k(4))"),
        ("mean_cost", "(ps.mean_cost())"),
        ("threshold_spectrum_at_k", "(ps.threshold_spectrum_at_k(4, weights))"),
    ],
)
def test_any_other_metric_is_answered_with_its_call(name, call):
    log = pl.DataFrame({"model": "a", "question": 1, "category": 1}).scorio
    for accessor, method in ((log, "report"), (pl.col("category").scorio, "estimate")):
        with pytest.raises(AttributeError, match=re.escape(f"{name!r}: write {method}{call}")):
            getattr(accessor, name)
