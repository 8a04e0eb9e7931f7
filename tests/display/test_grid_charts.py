"""Pictures with a cell for each pair: their numbers, their colours, their texts."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.display.chart_parts import layers_of, marks_of, plot_of
from tests.made_logs import long


def test_a_matrix_has_the_probabilities_of_the_comparison_both_ways(log):
    chart = plot_of(log).comparison(ps.pass_at_k(1))
    pairs = log.scorio(by="domain", success=[1, 2]).compare(ps.pass_at_k(1), simultaneous=True)
    shown = {(r["stratum"], r["model"], r["other"]): r for r in chart.data.values}
    assert len(shown) == len(chart.data.values) == 2 * pairs.height
    for pair in pairs.to_dicts():
        one = shown[pair["domain"], pair["model_a"], pair["model_b"]]
        other = shown[pair["domain"], pair["model_b"], pair["model_a"]]
        assert one["prob_better"] == pair["prob_better"]
        # 1 - prob_better rounds once, by 1.1e-16 at most.
        assert one["prob_better"] + other["prob_better"] == pytest.approx(1, abs=1e-15)
        assert one["sure"] is other["sure"] is (pair["better"] is not None)
    assert marks_of(chart) == ["rect", "text", "text"]
    assert layers_of(chart)[1]["mark"]["fontWeight"] == "bold"
    assert layers_of(chart)[0]["encoding"]["color"]["scale"]["domain"] == [0, 0.5, 1]


def test_numbers_in_a_matrix_never_say_that_something_is_certain():
    wins, ties = long([[1] * 50]), long([[0] * 50], "zero")
    texts = [row["text"] for row in pl.concat([wins, ties]).scorio.plot.comparison().data.values]
    assert sorted(texts) == ["<.01", ">.99"]
    even = pl.concat([wins, long([[1] * 50], "same")]).scorio.plot.comparison()
    assert [row["text"] for row in even.data.values] == [".50", ".50"]
