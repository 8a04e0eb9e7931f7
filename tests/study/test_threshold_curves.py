"""Curves over thresholds: t beside k, and in its place."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.study.report import curve_columns, in_one_column, with_curves
from tests.made_logs import outcomes

COLUMNS = ["model", "metric", "k", "estimate"]


def test_only_results_with_a_curve_have_a_column_of_thresholds():
    assert curve_columns(COLUMNS, [ps.pass_at_k(2)]) == COLUMNS
    expected = ["model", "metric", "k", "t", "estimate"]
    assert curve_columns(COLUMNS, [ps.pass_at_k(2), ps.tail_pass(4)]) == expected


def test_a_key_cannot_have_the_name_of_the_thresholds():
    assert curve_columns(["t", "k"], [ps.pass_at_k(2)]) == ["t", "k"]
    with pytest.raises(ValueError, match="two columns named 't'"):
        curve_columns(["t", "k"], [ps.tail_pass(4)])


def test_the_thresholds_of_a_curve_stand_beside_its_draw_size():
    rows = pl.LazyFrame({"metric": ["tail_pass(k=4)", "pass_at_k"], "k": [3, 2]})
    found = with_curves(rows, [ps.tail_pass(4), ps.pass_at_k(2)]).collect()
    assert found.select("metric", "k", "t").rows() == [
        ("tail_pass(k=4)", 4, 3),
        ("pass_at_k", 2, None),
    ]


def test_one_column_has_the_threshold_of_a_curve_and_the_draw_size_of_others():
    rows = outcomes({(4, 2): 3}).scorio.report(ps.tail_pass(2), ps.pass_at_k(3))
    flat = in_one_column(rows)
    assert "t" not in flat.columns
    assert flat["k"].to_list() == [1, 2, 3]
    plain = rows.drop("t")
    assert in_one_column(plain).equals(plain)
