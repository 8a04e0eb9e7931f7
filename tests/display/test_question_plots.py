"""Pictures of questions: their numbers, their colours, their texts."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.display.chart_parts import data_of, layers_of, plot_of, subtitle_of
from tests.made_logs import long


def test_cells_are_the_questions_of_the_report_the_hardest_first(log):
    chart = plot_of(log).questions()
    pooled = {"inference": "pooled", "per": "question"}
    report = log.scorio(by="domain", success=[1, 2]).avg(**pooled)
    shown = data_of(chart).select("stratum", "model", pl.col("question").cast(pl.Int64), "mu")
    expected = report.select(pl.col("domain").alias("stratum"), "model", "question", "mu")
    keys = ["stratum", "model", "question"]
    assert_frame_equal(shown.sort(keys), expected.sort(keys), check_exact=True)
    places = data_of(chart).group_by("stratum", "place").agg(pl.col("mu").mean())
    for _, stratum in places.sort("place").group_by("stratum"):
        assert stratum["place"].to_list() == [*range(7)]
        assert stratum["mu"].is_sorted()
    (cell,) = layers_of(chart)
    assert cell["mark"]["type"] == "rect"
    assert cell["encoding"]["x"]["sort"] == {"field": "place", "op": "min"}
    assert cell["encoding"]["x"]["axis"]["labels"]
    assert "average of the trials of each question" in subtitle_of(chart)
    assert cell["encoding"]["color"]["scale"]["domain"] == [0, 1]
    assert chart.to_dict()["resolve"] == {"scale": {"x": "independent"}}


def test_many_questions_share_cells():
    outcomes = [[int(trial < question % 4) for trial in range(3)] for question in range(1000)]
    chart = long(outcomes).scorio.plot.questions(ps.bayes(), inference="published")
    shown = data_of(chart)
    # 250 questions each with 0, 1, 2 and 3 of 3: in cells of four, some of them with two kinds.
    assert shown["place"].to_list() == [*range(250)]
    assert shown["mu"].mean() == pytest.approx(0.5)
    assert shown.row(0, named=True)["question"] == "1 to 4"
    assert shown["mu"].first() == pytest.approx(0.2)
    across = layers_of(chart)[0]["encoding"]["x"]
    assert across["title"] == "questions, the hardest first (4 in a cell)"
    assert not across["axis"]["labels"]


def test_colours_span_what_the_metric_can_be():
    (cell,) = layers_of(long([[2, 1], [0, 1]]).scorio.plot.questions(ps.bayes(w=[-1, 0, 3])))
    assert cell["encoding"]["color"]["scale"]["domain"] == [-1, 3]
