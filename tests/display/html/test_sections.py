"""The sections of a page: which there are, and what they say."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.html import page_pictures
from polars_scorio.display.html.page_pictures import Figure
from polars_scorio.display.html.sections import coverage_section
from tests.display.html.logs import models, page_of, retried
from tests.made_logs import long


@pytest.fixture(autouse=True)
def without_drawing(monkeypatch):
    """Leave out what `test_pictures` tests, and what takes most of the time: the drawing."""
    drawn = Figure("<svg/>", "words", "caption")
    monkeypatch.setattr(page_pictures, "step_figures", lambda *_: [drawn])
    monkeypatch.setattr(page_pictures, "question_figures", lambda *_: [drawn])
    monkeypatch.setattr(page_pictures, "curve_figures", lambda main, _: [drawn] * (main.fewest > 1))


def sections_of(log: pl.DataFrame, *metrics: ps.Metric, **roles: object) -> dict[str, object]:
    return {each.anchor: each for each in page_of(log, *metrics, **roles).sections}


def test_one_model_has_no_comparison():
    anchors = ["leaderboard", "curves", "questions", "coverage"]
    assert [*sections_of(long([[1, 0], [0, 0]]))] == anchors


def test_several_models_are_compared():
    found = sections_of(models(2))
    assert [*found] == [
        *("leaderboard", "compare", "curves", "questions", "trials", "coverage"),
    ]
    (table,) = found["compare"].tables.values()
    assert table.columns[1].head == "m00 against m01"


def test_labels_with_weights_have_no_draws_of_successes():
    log = long([["a", "b"], ["b", "c"]])
    assert "curves" not in sections_of(log, ps.avg(w={"a": 0, "b": 1, "c": 2}))


def test_single_trials_have_no_curve():
    assert sections_of(models(2, trials=1))["curves"].lines == [
        "A question has a single trial, so that several trials cannot be drawn."
    ]


@pytest.mark.slow
def test_pairs_are_counted_and_what_would_decide_them_is_said():
    equal = pl.concat([long([[1, 0]] * 6, name) for name in ("ada", "bob")])
    compared = sections_of(equal)["compare"]
    assert compared.lines == ["1 of 1 pair undecided at 95 % confidence."]
    assert compared.tables[""].columns[1].cells[-1].startswith("no number of trials")
    apart = pl.concat([long([[1] * 8] * 30, "ada"), long([[0] * 8] * 30, "bob")])
    found = sections_of(apart)
    assert found["compare"].lines == ["0 of 1 pair undecided at 95 % confidence."]
    assert [*found["compare"].tables[""].columns[1].cells][1:] == [
        "ada is better",
        ">0.999",
        "30, 0, 0",
    ]
    assert found["trials"].lines == ["All neighbours in the ranking are distinguishable."]


@pytest.mark.slow
def test_strata_have_a_heat_table():
    found = sections_of(models(2, strata=2), by="bench")
    assert found["leaderboard"].lines[0] == "All questions of all strata in one pool."
    assert [column.head for column in found["strata"].tables[""].columns] == [
        "model",
        "bench 0",
        "bench 1",
    ]


def test_steps_are_a_curve_in_the_order_of_numbers_and_no_pool():
    log = models(2, strata=3).with_columns(step=pl.col("bench").str.slice(6).cast(pl.Int64) * 50)
    page = page_of(log.drop("bench"), by="step")
    assert page.headline.startswith("At step 100, the last one: m00 beats m01 by")
    assert [*page.numbers["strata"]] == ["0", "50", "100"]
    found = {each.anchor: each for each in page.sections}
    assert found["leaderboard"].lines[0] == "At step 100."
    assert "3 strata \N{MIDDLE DOT} 12 questions \N{MIDDLE DOT} 288 trials" in page.summary
    assert len(found["strata"].figures) == 1


def test_a_log_that_stopped_on_outcomes_has_no_winner():
    page = page_of(retried())
    anchors = [each.anchor for each in page.sections]
    assert page.headline.startswith("These numbers are biased: trials of ada and bob stopped on")
    assert page.alerts[0].title == "Trials that are not independent"
    assert page.alerts[0].text.startswith("2 of 2 models: trials are not independent (check()), as")
    assert "use the first 1 of each" in page.alerts[0].text
    assert not {"compare", "trials"} & {*anchors}
    assert not {"ranks", "pairs"} & {*page.numbers["overall"]}
    assert "rank" not in [head.head for head in page.sections[0].tables[""].columns]
    assert "leads" not in page.markdown()


def test_models_that_are_alike_are_a_sentence():
    log = models(3)
    section = coverage_section(log.scorio.describe())
    assert section.lines == ["All models are alike: 12 questions with 4 trials each, none missing."]
    assert section.tables == {}
    lacking = log.filter(~((pl.col("model") == "m01") & (pl.col("question") > 7)))
    section = coverage_section(lacking.scorio.describe())
    assert section.lines[0].startswith("2 of 3 rows are alike: 12 questions")
    assert [*section.tables[""].columns[0].cells] == ["m01"]
    assert len(coverage_section(log.scorio.describe(), whole=True).tables) == 1
    alone = coverage_section(models(1).scorio.describe())
    assert (alone.lines, alone.tables) == (["12 questions with 4 trials each, none missing."], {})


def test_the_questions_of_all_strata_are_counted_and_those_of_steps_once():
    log = models(2, strata=4)
    strata = page_of(log, ps.avg(), by="bench")
    said = "48 questions with 4 trials each, 12 in each of 4 strata, none missing."
    assert strata.sections[-1].lines == [f"All models are alike: {said}"]
    assert said in strata.markdown()
    steps = log.with_columns(step=pl.col("bench").str.slice(6).cast(pl.Int64))
    run = page_of(steps.filter(model="m00").drop("bench"), ps.avg(), by="step")
    said = "12 questions with 4 trials each in each of 4 strata, none missing."
    assert run.sections[-1].lines == [said]
    weekly = steps.with_columns(question=pl.col("question") + 100 * pl.col("step")).drop("bench")
    page = page_of(weekly, ps.avg(), by="step")
    assert "48 questions with 4 trials each, 12 in each of 4 strata" in page.markdown()
    assert "4 strata \N{MIDDLE DOT} 48 questions" in page.summary


def test_the_coverage_explains_its_columns():
    section = coverage_section(pl.DataFrame({"model": ["ada"], "missing": [3]}))
    assert section.anchor == "coverage"
    assert "questions that other models of the stratum have" in section.lines[0]
    assert [column.cells[0] for column in section.tables[""].columns] == ["ada", "3"]


def test_curves_up_to_all_trials_say_that_their_bands_widen():
    widen = "Bands may widen where k comes close to the number of trials"
    sentence, line = sections_of(models(2, trials=4))["curves"].lines
    assert line.startswith(widen)
    assert sentence.startswith(
        "Pass@k: With 95 % confidence for the whole curve (k = 1, 2 and 4): "
    )
    assert len(sections_of(models(1, trials=4))["curves"].lines) == 1
    many = sections_of(long([[1, 0] * 33] * 4))
    assert many["curves"].lines == []
