"""The section of a page on questions: what it says, and which tables and pictures it has."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.html import page_pictures
from polars_scorio.display.html.page import Section
from polars_scorio.display.html.page_pictures import Figure
from tests.decisions.counted import counted
from tests.display.html.logs import page_of
from tests.made_logs import long

DRAWN = page_pictures.question_figures


@pytest.fixture(autouse=True)
def without_drawings(monkeypatch):
    """Leave out the drawings, which take most of the time."""
    drawn = Figure("<svg/>", "words", "caption")
    monkeypatch.setattr(page_pictures, "curve_figures", lambda *_: [drawn])
    monkeypatch.setattr(page_pictures, "question_figures", lambda *_: [drawn])


def section_of(log: pl.DataFrame, **roles: object) -> Section:
    """The section on questions of the page of a log."""
    return next(each for each in page_of(log, **roles).sections if each.anchor == "questions")


@pytest.fixture(scope="module")
def faulty():
    """Six models, ever better at all questions but one; one is never solved, one always."""
    c = np.minimum(np.arange(6)[:, None] * 3 // 2 + np.arange(15) % 2, 8)
    c[:, 0], c[:, 1], c[:, 5] = 0, 8, np.arange(6)[::-1] * 3 // 2
    frame = counted(c[None], 8).frame.drop("stratum")
    name = pl.when(pl.col("question") == 5).then(pl.lit("x" * 80))
    return frame.with_columns(question=name.otherwise(pl.format("q{}", "question")))


def test_never_always_telling_and_reversed_questions_are_named(faulty):
    section = section_of(faulty, count="count")
    assert section.lines[:2] == [
        "1 of 15 questions was never solved by any model (q0).",
        "1 of 15 questions was solved by every model in every trial (q1).",
    ]
    assert section.lines[2].startswith("1 question is reversed")
    assert [*section.tables] == [
        "The hardest questions that some model solved",
        "The questions that separate the models best",
        "Reversed questions",
    ]
    reversed_table = section.tables["Reversed questions"]
    cut = "x" * 30 + "\N{HORIZONTAL ELLIPSIS}" + "x" * 29
    assert [*reversed_table.columns[0].cells] == [cut]
    assert cut in section.lines[2]
    assert [column.head for column in reversed_table.columns][2:4] == ["correlation", "q"]
    assert reversed_table.columns[3].cells[0] == "<0.001"
    telling = section.tables["The questions that separate the models best"]
    assert len(telling.columns[0].cells) == 10
    assert telling.columns[2].cells[0] == "1.00"


def test_a_histogram_and_a_strip_show_the_questions(faulty, monkeypatch):
    monkeypatch.setattr(page_pictures, "question_figures", DRAWN)
    histogram, strip = section_of(faulty, count="count").figures
    assert "reversed: 1 question" in histogram.caption
    assert strip.caption.startswith("Question by question: ")
    assert len(strip.svg) < 200_000


def test_few_models_separate_no_question_best(faulty):
    telling = "The questions that separate the models best"
    assert telling in section_of(faulty.filter(pl.col("model") != 0), count="count").tables
    few = section_of(faulty.filter(pl.col("model") > 1), count="count")
    assert telling not in few.tables  # four models


def test_ties_with_the_last_question_of_a_table_are_said(faulty):
    tables = section_of(faulty, count="count").tables
    assert tables["The questions that separate the models best"].note.endswith(
        "noise of the trials. 2 more questions have the discrimination of the last one."
    )
    log = pl.concat([long([[0, 1]] * 12, name) for name in ("ada", "bob")])
    page = page_of(log, ps.avg())
    assert "\n2 more questions have the score of the last one." in page.markdown()
    assert "2 more questions have the score of the last one." in page.html()


def test_finding_nothing_with_few_models_is_no_proof():
    log = pl.concat([long([[0, 0], [1, 1], [0, 1]], name) for name in ("ada", "bob")])
    section = section_of(log)
    assert section.lines[2].startswith("Whether a question is reversed")
    (hardest,) = section.tables.values()
    assert [*hardest.columns[0].cells] == ["2"]  # of the others one was never solved, one always


def test_one_model_has_no_word_on_reversed_questions():
    section = section_of(long([[0, 0], [1, 1]]))
    assert len(section.lines) == 2


def test_one_question_has_no_picture(monkeypatch):
    monkeypatch.setattr(page_pictures, "question_figures", DRAWN)
    assert section_of(long([[0, 1]])).figures == []


def test_rewards_are_not_solved():
    log = pl.concat([long([[0.5, 0.25], [0.0, 1.0]], name) for name in ("ada", "bob")])
    section = section_of(log)
    assert section.lines[0] == "By the mean reward of all models."
    assert not any("solved" in line for line in section.lines[:1])
    assert len(section.lines) == 2


def test_the_questions_of_one_model_are_not_those_of_several():
    rows = [(q, t, int((q, t) != (1, 0))) for q in range(1, 21) for t in range(4)]
    log = pl.DataFrame(rows, schema=["question", "trial", "category"], orient="row")
    section = section_of(log, model=None)
    assert section.lines[0] == "Each question was solved at least once."
    assert section.lines[1].startswith("19 of 20 questions were solved in every trial (2, 3, 4")
    heads = [column.head for column in section.tables["The hardest questions"].columns]
    assert heads == ["question", "mean of the trials (%)", "trials"]
