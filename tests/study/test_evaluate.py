"""What runs when a report is collected: one call for all groups, an inference for each metric."""

import numpy as np
import polars as pl

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.study import calibrated, posterior
from polars_scorio.study.evaluate import (
    RESULTS,
    Evaluation,
    joined_column,
    report_columns,
    tidy_rows,
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
    evaluated = Evaluation(request)(groups).lists(columns)
    assert evaluated[RESULTS].list.len().unique().to_list() == [3]
    assert evaluated.schema[RESULTS] == pl.List(pl.Struct(columns.schema))
    assert tidy_rows(evaluated).columns == [
        *groups.drop(groups.columns[-1]).columns,
        *columns.schema,
    ]


def test_a_column_stands_cell_after_cell_and_is_null_where_a_row_has_none():
    ones, missing = np.array([1.0, np.nan]), pl.Series([3.0, 4.0])
    joined = joined_column("mu", pl.Float64(), [ones, None, missing], 2)
    assert joined.to_list() == [1.0, None, 3.0, None, None, 4.0]
    assert joined_column("mu", pl.Float64(), [None], 2).to_list() == [None, None]
