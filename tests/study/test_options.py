"""The keywords that methods share: what an accessor keeps of them."""

import pytest

from polars_scorio.study.request import (
    DecisionOptions,
    InferenceOptions,
    ReportOptions,
    chosen_options,
)


def test_an_accessor_keeps_what_differs_from_the_defaults():
    assert chosen_options(None, "benchmark", 0.95) == {}
    assert chosen_options("population", "population", 0.9) == {
        "prior": "population",
        "target": "population",
        "confidence": 0.9,
    }


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (("beta", "benchmark", 0.95), "prior must be .*, got 'beta'"),
        ((None, "all", 0.95), "target must be .*, got 'all'"),
        ((None, "benchmark", 1), "confidence must be .*, got 1"),
    ],
)
def test_what_no_method_takes_is_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        chosen_options(*chosen)


def test_reports_and_decisions_share_the_keywords_of_inference():
    shared = InferenceOptions.__annotations__.keys() | {"prior"}
    assert ReportOptions.__annotations__.keys() >= shared
    assert DecisionOptions.__annotations__.keys() >= shared
