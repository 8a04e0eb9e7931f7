"""What runs when a report is collected: one call for all groups, an inference for each metric."""

import sys

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.study import calibrated, posterior
from polars_scorio.study.evaluate import (
    RESULTS,
    evaluated_groups,
    joined_column,
    report_columns,
)
from polars_scorio.study.request import Request
from tests.made_logs import drawn


def test_each_inference_is_asked_once_for_all_its_metrics(monkeypatch):
    asked = []
    for made in (calibrated.CalibratedInference, posterior.PosteriorInference):
        numbers = made.numbers

        def listening(self, metrics, cells, *, numbers=numbers):
            asked.append((type(self).__name__, [metric.function for metric, _ in metrics]))
            return numbers(self, metrics, cells)

        monkeypatch.setattr(made, "numbers", listening)
    log = drawn(2, range(4), most=3).scorio(by="domain", success=2)
    rows = log.report(ps.avg(), ps.bayes(), ps.pass_at_k([1, 2]))
    assert asked == [
        ("CalibratedInference", ["avg", "pass_at_k"]),
        ("PosteriorInference", ["bayes"]),
    ]
    assert rows["metric"][:4].to_list() == ["avg", "bayes", "pass_at_k", "pass_at_k"]


def test_rows_come_in_a_list_for_each_group():
    trials = bind_roles(drawn(2, range(4), most=3).lazy(), Roles(by=["domain"], success=2))
    request = Request.from_trials(trials, [ps.avg(), ps.pass_at_k([1, 2])])
    columns = report_columns(trials)
    groups = request.groups().plan().collect()
    evaluated = evaluated_groups(groups, request).lists(columns)
    assert evaluated[RESULTS].list.len().unique().to_list() == [3]
    assert evaluated.schema[RESULTS] == pl.List(pl.Struct(columns.schema))
    assert evaluated.explode(RESULTS).unnest(RESULTS).columns == [
        *groups.drop(groups.columns[-1]).columns,
        *columns.schema,
    ]


def test_a_column_stands_cell_after_cell_and_is_null_where_a_row_has_none():
    ones, missing = np.array([1.0, np.nan]), pl.Series([3.0, 4.0])
    joined = joined_column("mu", pl.Float64(), [ones, None, missing], 2)
    assert joined.to_list() == [1.0, None, 3.0, None, None, 4.0]
    assert joined_column("mu", pl.Float64(), [None], 2).to_list() == [None, None]


# How many frames Polars computes for a small log: what a report takes, beside the mathematics.


CALLS = {
    "report": (lambda log: log.report(ps.avg(), ps.pass_at_k([1, 2, 4])), 45),
    "compare": (lambda log: log.compare(ps.avg()), 60),
    "rank": (lambda log: log.rank(ps.avg()), 60),
}


def made_log(models):
    rng = np.random.default_rng(0)
    model, question, trial = np.indices((models, 20, 8)).reshape(3, -1)
    category = rng.binomial(1, rng.beta(0.6, 1, 20)[question])
    columns = {"model": model, "question": question, "trial": trial, "category": category}
    return pl.DataFrame(columns)


def collects_of(work):
    """Frames that are computed; Polars does so for each step of a DataFrame too."""
    found = 0

    def watch(_, event, called):
        nonlocal found
        found += event == "c_call" and called.__name__ == "collect"

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.filterwarnings("ignore:runs differ")
@pytest.mark.parametrize("name", CALLS)
def test_more_models_take_no_more_collects(name):
    call, most = CALLS[name]
    call(ps.scorio(made_log(3)))  # imports
    few, many = (collects_of(lambda m=models: call(ps.scorio(made_log(m)))) for models in (3, 12))
    assert many <= few <= most  # fewer where the checks of many models end early
