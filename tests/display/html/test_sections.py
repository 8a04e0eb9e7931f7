"""The sections of a page: which there are, and what they say."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.html import pictures
from polars_scorio.display.html.pictures import Figure
from polars_scorio.display.html.sections import coverage_section
from tests.display.html.logs import models, page_of
from tests.made_logs import long


@pytest.fixture(autouse=True)
def without_drawing(monkeypatch):
    """Leave out what `test_pictures` tests, and what takes most of the time: the drawing."""
    drawn = Figure("<svg/>", "words", "caption")
    monkeypatch.setattr(pictures, "interval_figures", lambda *_: [drawn])
    monkeypatch.setattr(pictures, "matrix_figure", lambda *_: drawn)
    monkeypatch.setattr(pictures, "question_figures", lambda *_: [drawn])
    monkeypatch.setattr(pictures, "curve_figures", lambda main, _: [drawn] * (main.fewest > 1))


def sections_of(log: pl.DataFrame, *metrics: ps.Metric, **roles: object) -> dict[str, object]:
    return {each.anchor: each for each in page_of(log, *metrics, **roles).sections}


def test_one_model_has_no_comparison():
    anchors = ["intervals", "leaderboard", "curves", "questions", "coverage"]
    assert [*sections_of(long([[1, 0], [0, 0]]))] == anchors


def test_several_models_are_compared():
    found = sections_of(models(2))
    assert [*found] == [
        *("intervals", "leaderboard", "comparisons", "curves", "questions", "trials", "coverage"),
    ]
    assert len(found["comparisons"].figures) == 1


def test_labels_with_weights_have_no_draws_of_successes():
    log = long([["a", "b"], ["b", "c"]])
    assert "curves" not in sections_of(log, ps.avg(w={"a": 0, "b": 1, "c": 2}))


def test_single_trials_have_no_curve():
    assert sections_of(models(2, trials=1))["curves"].lines == [
        "A question has a single trial, so that several trials cannot be drawn."
    ]


@pytest.mark.slow
def test_pairs_are_counted_and_rivals_named():
    equal = pl.concat([long([[1, 0]] * 6, name) for name in ("ada", "bob")])
    assert sections_of(equal)["comparisons"].lines == [
        "1 of 1 pair undecided at 95 % confidence, for all pairs at once.",
        "Statistically indistinguishable from ada: bob.",
        "Among all models, ada and bob may be the best, at 95 % confidence.",
    ]
    apart = pl.concat([long([[1] * 8] * 30, "ada"), long([[0] * 8] * 30, "bob")])
    assert sections_of(apart)["comparisons"].lines == [
        "0 of 1 pair undecided at 95 % confidence, for all pairs at once.",
        "ada is distinguishable from all other models.",
        "Among all models, only ada may be the best, at 95 % confidence.",
    ]
    assert sections_of(apart)["trials"].lines == [
        "All neighbours in the ranking are distinguishable, one pair at a time."
    ]


@pytest.mark.slow
def test_strata_have_a_table_of_their_own_below_the_pool():
    found = sections_of(models(2, strata=2), by="bench")
    assert found["intervals"].lines == ["All questions of all strata in one pool."]
    assert [*found["leaderboard"].tables] == [
        "All strata in one pool",
        "avg@4 by stratum",
        "bench 0",
        "bench 1",
    ]


def test_the_coverage_explains_its_columns():
    section = coverage_section(pl.DataFrame({"model": ["ada"], "missing": [3]}))
    assert section.anchor == "coverage"
    assert "questions that other models of the stratum have" in section.lines[0]
    assert [column.cells[0] for column in section.tables[""].columns] == ["ada", "3"]
