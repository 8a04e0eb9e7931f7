"""What is requested of a log, and what is refused at the call."""

import pytest

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.metrics.from_text import check_metrics
from polars_scorio.study.calibrated import CalibratedInference
from polars_scorio.study.request import (
    DecisionOptions,
    InferenceChoice,
    InferenceOptions,
    ReportOptions,
    Request,
    chosen_options,
    on_levels,
    view_of,
)
from tests.made_logs import outcomes

LOG = outcomes({(2, 1): 2})
TRIALS = bind_roles(LOG.lazy(), Roles())


def test_a_request_knows_what_each_metric_looks_at_and_how_numbers_are_found():
    metrics = ps.pass_at_k(2), ps.avg([0, 1])
    request = Request.from_trials(TRIALS, metrics, confidence=0.9)
    assert [view for _, view in request.metrics] == ["success", "categories"]
    assert request.choice == InferenceChoice(None, 0.9, "benchmark")
    found = request.choice.inference_of(*request.metrics[0])
    assert found == CalibratedInference(0.9, "benchmark")
    assert Request.from_trials(TRIALS, metrics[:1], prior=(2, 0.5)).choice.prior == (2, 0.5)


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        ([], TypeError, "name at least one metric"),
        (["avg"], TypeError, "metrics such as ps.avg.*, got 'avg'"),
        ([ps.avg(), ps.avg()], ValueError, "two rows of the metric 'avg' with k=None"),
    ],
)
def test_metrics_that_the_result_could_not_show_are_refused(metrics, error, message):
    with pytest.raises(error, match=message):
        check_metrics(metrics)


def test_levels_are_the_weights_of_a_metric_that_has_none():
    halves = LOG.with_columns(category=LOG["category"] * 0.5)
    trials = bind_roles(halves.lazy(), Roles(levels=[0, 0.5]))
    assert on_levels(ps.avg(), trials).w == ((0, 0), (0.5, 0.5))
    assert on_levels(ps.avg([0, 1]), trials).w == ((0, 0), (1, 1))
    assert on_levels(ps.avg(), TRIALS).w is None


def test_rewards_are_seen_where_a_metric_takes_them_and_the_column_holds_floats():
    floats = bind_roles(LOG.with_columns(category=LOG["category"] * 0.5).lazy(), Roles())
    assert view_of(ps.max_at_k(2), floats) == "rewards"
    assert view_of(ps.max_at_k(2), TRIALS) == "success"
    assert view_of(ps.max_at_k(2, [0, 1]), TRIALS) == "categories"


# The keywords that methods share: what an accessor keeps of them.


def test_an_accessor_keeps_what_is_named():
    named = {"prior": "population", "target": None, "confidence": 0.9}
    assert chosen_options(named) == {"prior": "population", "confidence": 0.9}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"prior": "beta"}, "prior must be .*, got 'beta'"),
        ({"target": "all"}, "target must be .*, got 'all'"),
        ({"confidence": 1}, "confidence must be .*, got 1"),
    ],
)
def test_what_no_method_takes_is_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        chosen_options(chosen)


def test_reports_and_decisions_share_the_keywords_of_inference():
    shared = InferenceOptions.__annotations__.keys() | {"prior"}
    assert ReportOptions.__annotations__.keys() >= shared
    assert DecisionOptions.__annotations__.keys() >= shared
