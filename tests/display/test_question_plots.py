"""Pictures of questions: their numbers, their colours, their texts."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.display.chart_parts import data_of, layers_of, plot_of, subtitle_of
from tests.made_logs import long


def test_cells_are_the_questions_of_the_report_the_hardest_first(log):
    chart = plot_of(log).questions()
    pooled = {"prior": "population", "per": "question"}
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
    chart = long(outcomes).scorio.plot.questions(ps.bayes(), prior="uniform")
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


def test_a_strip_has_as_many_cells_as_one_says():
    outcomes = [[question % 2] for question in range(12)]
    chart = long(outcomes).scorio.plot.questions(cells=4)
    assert data_of(chart)["place"].to_list() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="cells must be a positive int"):
        long(outcomes).scorio.plot.questions(cells=0)


def test_a_strip_is_about_these_questions_whatever_the_target():
    log = long([[0, 1], [1, 1], [0, 0]])
    strips = [log.scorio(target=target).plot.questions() for target in ("benchmark", "population")]
    shown, same = map(data_of, strips)
    assert shown.equals(same)


@pytest.fixture(scope="module")
def faulty():
    """Twelve models, ever better at all questions but one; one is never solved, one always."""
    c = np.minimum(np.arange(12)[:, None] * 2 // 3 + np.arange(30) % 3, 8)
    c[:, 0], c[:, 1], c[:, 5] = 0, 8, np.arange(12)[::-1] * 2 // 3
    return counted(c[None], 8)


def test_a_histogram_has_each_question_once_and_the_kinds_in_colours(faulty):
    chart = faulty.plot.questions(kind="histogram")
    bars = data_of(chart)
    assert bars["questions"].sum() == 30
    kinds = dict(bars.group_by("kind").agg(pl.col("questions").sum()).rows())
    assert kinds == {"never solved": 1, "always solved": 1, "reversed": 1, "others": 27}
    ends = bars.select(pl.min("least"), pl.max("most")).row(0)
    assert ends == (0, 1)
    assert layers_of(chart)[0]["encoding"]["x"]["bin"] == "binned"  # else bars are lines
    assert "reversed: 1 question" in subtitle_of(chart)
    assert layers_of(chart)[0]["encoding"]["color"]["scale"]["domain"] == [
        "others", "reversed", "never solved", "always solved",
    ]  # fmt: skip


def test_a_histogram_says_where_reversed_questions_cannot_be_found(log):
    chart = plot_of(log).questions(kind="histogram")
    assert "too few models or trials to find reversed questions" in subtitle_of(chart)
    assert data_of(chart)["stratum"].n_unique() == 2


def test_a_histogram_of_rewards_spans_what_was_seen_or_said():
    rewards = pl.concat(long([[2.0 + m], [4.0 + m], [3.5 + m]], f"m{m}") for m in range(2))
    for bounds, span in ((None, [2.5, 4.5]), ((0, 10), [0, 10])):
        chart = rewards.scorio(bounds=bounds).plot.questions(kind="histogram")
        assert layers_of(chart)[0]["encoding"]["x"]["scale"]["domain"] == span
        assert data_of(chart)["questions"].sum() == 3


def test_a_histogram_has_the_questions_that_all_models_have():
    log = pl.concat([long([[0], [1], [1]], "a"), long([[0], [1]], "b")])
    assert data_of(log.scorio.plot.questions(kind="histogram"))["questions"].sum() == 2


def test_a_histogram_of_weights_has_their_range():
    chart = long([[2, 1], [0, 1]]).scorio.plot.questions(ps.bayes([-1, 0, 3]), kind="histogram")
    assert layers_of(chart)[0]["encoding"]["x"]["scale"]["domain"] == [-1, 3]


def test_wrong_kinds_and_metrics_are_refused():
    plot = long([[0, 1]]).scorio.plot
    with pytest.raises(ValueError, match='kind must be "strip" or "histogram"'):
        plot.questions(kind="bars")
    with pytest.raises(ValueError, match='pass_at_k: kind="histogram" is of mean outcomes'):
        plot.questions(ps.pass_at_k(1), kind="histogram")
    with pytest.raises(
        ValueError, match=r"plot\.questions takes no metric of costs.*plot\.frontier"
    ):
        plot.questions(ps.mean_cost())
