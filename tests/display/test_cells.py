"""The texts of tables: which columns are numbers, and how each cell is written."""

import json
from collections.abc import Sequence

import polars as pl
import pytest

from polars_scorio.display.facts.table_facts import RowFacts, each_trials
from polars_scorio.display.leaderboard import HEADINGS
from polars_scorio.display.table import NumberColumns, Table, rank_texts
from polars_scorio.display.words.table_words import question_count, table_note

DASH = "\N{EN DASH}"
BOARD = pl.DataFrame(
    {
        "rank": [1, 2],
        "model": ["ada", "bob"],
        "x": [0.75, 0.25],
        "x_lo": [0.5, 0.0],
        "x_hi": [1.0, 0.5],
        "x_sigma": [0.1, 0.1],
        "x_estimate": [0.75, 0.25],
    }
)


def note(frame: pl.DataFrame, ends: Sequence[tuple[str, str, str]] = ()) -> str:
    return table_note(RowFacts.from_frame(frame, ends))


def texts_of(frame: pl.DataFrame, **options: object) -> dict[str, tuple[str, ...]]:
    table = Table.read(frame, **{"percent": None, **options})
    return {column.head: column.cells for column in table.columns}


def test_numbers_are_found_by_the_names_of_their_intervals():
    columns = ["model", "x", "x_lo", "x_hi", "web__y", "web__y_lo", "web__y_hi", "z", "z_lo"]
    numbers = {
        each.name: (each.group, each.metric, each.value) for each in NumberColumns.find(columns)
    }
    assert numbers == {"x": ("", "x", "x"), "web__y": ("web", "y", "web__y")}


def test_the_number_of_a_wide_report_is_its_mu():
    (number,) = NumberColumns.find(["avg", "avg_mu", "avg_lo", "avg_hi", "avg_sigma"])
    assert (number.name, number.value) == ("avg", "avg_mu")
    assert number.parts == ("avg_lo", "avg_hi", "avg_sigma", "avg")


def test_an_estimate_that_is_the_number_is_left_out():
    assert texts_of(BOARD) == {
        "rank": ("1", "2"),
        "model": ("ada", "bob"),
        "x (%)": ("75.0 [50.0, 100.0]", "25.0 [0.0, 50.0]"),
    }


def test_an_estimate_that_differs_has_a_column():
    moved = BOARD.with_columns(x_estimate=pl.Series([0.8, 0.3]))
    assert texts_of(moved, digits=0)["estimate (%)"] == ("80", "30")


def test_a_number_without_an_estimate_has_a_dagger_and_no_other_column():
    moved = BOARD.with_columns(x_estimate=pl.Series([0.8, None]))
    assert [*texts_of(moved)] == ["rank", "model", "x (%)"]
    assert texts_of(moved)["x (%)"] == ("75.0 [50.0, 100.0]", "25.0 [0.0, 50.0]†")


def test_percent_and_digits_may_be_chosen():
    assert texts_of(BOARD, percent=False, digits=2)["x"] == (
        "0.75 [0.50, 1.00]",
        "0.25 [0.00, 0.50]",
    )


def test_headings_of_a_leaderboard_are_used():
    headed = BOARD.with_columns(pl.lit(json.dumps({"x": "Average"})).alias(HEADINGS))
    assert "Average (%)" in texts_of(headed)


def test_colours_go_from_the_least_to_the_largest():
    columns = Table.read(BOARD, percent=None).columns
    assert [column.heat for column in columns] == [(), (), (1.0, 0.0)]
    equal = BOARD.with_columns(x=0.5, x_estimate=0.5)
    assert Table.read(equal, percent=None).columns[-1].heat == (None, None)


def test_all_texts_of_a_table_may_be_changed():
    loud = Table.read(BOARD, percent=None).written(str.upper)
    assert [column.head for column in loud.columns] == ["RANK", "MODEL", "X (%)"]
    assert loud.columns[1].cells == ("ADA", "BOB")
    assert loud.columns[2].heat == (1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "values", "texts"),
    [
        ("prob_better", [0.5, 0.99999], ("0.500", ">0.999")),
        ("cost", [0.15, 10.0], ("0.15", "10.00")),
        ("cost", [None, 0.0], (DASH, "0")),
        ("tags", [["a", None], []], (f"a, {DASH}", "")),
        ("open", [True, None], ("true", DASH)),
    ],
)
def test_other_columns_are_written_by_their_kind(name, values, texts):
    frame = BOARD.with_columns(pl.Series(name, values))
    assert texts_of(frame)[name] == texts


def test_ranks_are_the_places_that_are_open():
    frame = pl.DataFrame({"rank_lo": [1, 2, None], "rank_hi": [1, 4, None]})
    assert [*rank_texts(frame)] == ["1", f"2{DASH}4", DASH]


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        ({"x": [1]}, {}, TypeError, "a table is made of a DataFrame, got dict"),
        (pl.DataFrame({"x": [1]}), {}, ValueError, r"the columns are \['x'\]"),
        (BOARD, {"digits": 13}, ValueError, "digits"),
        (BOARD, {"percent": 1}, TypeError, "percent"),
    ],
    ids=["no frame", "no numbers", "digits", "percent"],
)
def test_wrong_arguments_are_refused(frame, options, error, message):
    with pytest.raises(error, match=message):
        texts_of(frame, **options)


# The note below a table, from the facts that its frame has.


FACTS = pl.DataFrame(
    {
        "questions": [2, 2],
        "trials": [8, 10],
        "dropped": [0, 3],
        "confidence": 0.9,
        "inference": "calibrated",
        "mu": [0.5, 0.25],
        "estimate": [0.5, None],
    }
)


def test_a_frame_without_facts_has_no_note():
    assert note(FACTS.select("mu", "estimate")) == ""


def test_each_fact_has_a_sentence():
    assert note(FACTS.select("questions", "trials")) == ("2 questions, 4 to 5 trials per question.")
    assert note(FACTS.select("dropped")) == "0 to 3 trials of a model dropped."
    assert note(FACTS.select("dropped").head(1)) == ""
    headings = pl.lit('{"avg": "avg@4", "overall": "mean of 3 domains"}')
    overall = pl.DataFrame({"overall": ["macro", "macro"]}).with_columns(headings=headings)
    assert note(overall) == "Columns without a stratum: mean of 3 domains."


def test_each_kind_of_interval_is_named_once():
    joined = pl.concat([FACTS, FACTS.with_columns(confidence=0.95)])
    said = note(joined.select("confidence", "inference"))
    assert said.startswith("In brackets: ")
    assert (said.count("90 %"), said.count("95 %"), said.count(" or ")) == (1, 1, 1)


def test_an_interval_without_a_number_is_a_range():
    words = "† k exceeds the trials of a question: no unbiased estimate exists."
    beyond, ends = FACTS.with_columns(lo=pl.lit(0.1)), [("mu", "lo", "estimate")]
    assert words in note(beyond, ends)
    assert words not in note(beyond.head(1), ends)
    assert words not in note(beyond.with_columns(lo=None), ends)


def test_ranks_are_explained_with_their_confidence():
    ranks = FACTS.select("confidence", rank=1, rank_lo=1, rank_hi=2)
    words = "Ranks: simultaneous 90 % ranges."
    assert note(ranks) == words
    assert note(ranks.drop("rank_lo")) == ""


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"questions": [1], "trials": [1]}, "1 question, 1 trial per question"),
        ({"questions": [1000], "trials": [2500]}, "1,000 questions, 2.5 trials per question"),
        (
            {"questions": [4, 2], "trials": [8, 4], "clusters": [2, 1]},
            "2 to 4 questions in 1 to 2 clusters, 2 trials per question",
        ),
    ],
    ids=["one", "many", "clusters"],
)
def test_questions_and_trials_are_counted(columns, words):
    assert question_count(RowFacts.from_frame(pl.DataFrame(columns))) == words


@pytest.mark.parametrize(
    ("questions", "trials", "each"),
    [([2, 4], [6, 12], 3), ([2, 4], [6, 4], None), ([2], [5], None), ([2], [0], None)],
    ids=["same", "different", "fraction", "none"],
)
def test_the_trials_of_a_question_are_known_if_all_have_the_same(questions, trials, each):
    assert each_trials(pl.DataFrame({"questions": questions, "trials": trials})) == each


def test_the_trials_of_a_question_are_unknown_without_their_columns():
    assert each_trials(pl.DataFrame({"trials": [4]})) is None
