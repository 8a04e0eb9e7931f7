"""The methods of metrics are written out for readers and type checkers: as their functions are."""

from inspect import Parameter, signature, unwrap

import pytest

import polars_scorio as ps
from polars_scorio.accessors.metrics import DrawOptions
from polars_scorio.signatures import option_keywords
from polars_scorio.study.request import ReportOptions
from tests.exported_metrics import EXPORTED, OF_COSTS

REPORT = [parameter for parameter, _ in option_keywords(ReportOptions).values()]


@pytest.mark.parametrize("name", EXPORTED)
def test_a_method_shows_what_its_function_takes_and_what_a_report_takes(name):
    own = [*signature(EXPORTED[name]).parameters.values()]
    assert [*signature(getattr(ps.Scorio, name)).parameters.values()][1:] == [*own, *REPORT]


@pytest.mark.parametrize("name", EXPORTED)
def test_what_is_written_is_what_the_function_says(name):
    method, function = unwrap(getattr(ps.Scorio, name)), EXPORTED[name]
    written = dict([*signature(method).parameters.items()][1:])
    options = written.pop("options")
    expected = dict(signature(function).parameters)
    assert options.kind is Parameter.VAR_KEYWORD
    assert written == {key: expected[key] for key in written}
    assert {key for key in expected if key not in written} <= DrawOptions.__optional_keys__
    assert method.__doc__ == function.__doc__.partition("\n")[0].replace(" [1]_", "")


def test_an_expression_has_every_metric_but_votes_over_answers():
    methods = {name for name in EXPORTED if hasattr(ps.ScorioExpr, name)}
    assert {*EXPORTED} - methods == {"vote_at_k", *OF_COSTS}
