"""The note below a table, from the facts that its frame has."""

import polars as pl
import pytest

from polars_scorio.display.phrases import each_trials, question_count, table_note

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
    assert table_note(FACTS.select("mu", "estimate"), []) == ""


def test_each_fact_has_a_sentence():
    assert table_note(FACTS.select("questions", "trials"), []) == (
        "2 questions, 4 to 5 trials per question."
    )
    assert table_note(FACTS.select("dropped"), []) == "0 to 3 trials of a model dropped."
    assert table_note(FACTS.select("dropped").head(1), []) == ""
    headings = pl.lit('{"avg": "avg@4", "overall": "mean of 3 domains"}')
    overall = pl.DataFrame({"overall": ["macro", "macro"]}).with_columns(headings=headings)
    assert table_note(overall, []) == "Columns without a stratum: mean of 3 domains."


def test_each_kind_of_interval_is_named_once():
    joined = pl.concat([FACTS, FACTS.with_columns(confidence=0.95)])
    note = table_note(joined.select("confidence", "inference"), [])
    assert note.startswith("In brackets: ")
    assert (note.count("90 %"), note.count("95 %"), note.count(" or ")) == (1, 1, 1)


def test_an_interval_without_a_number_is_a_range():
    words = "† k exceeds the trials of a question: no unbiased estimate exists."
    beyond, ends = FACTS.with_columns(lo=pl.lit(0.1)), [("mu", "lo", "estimate")]
    assert words in table_note(beyond, ends)
    assert words not in table_note(beyond.head(1), ends)
    assert words not in table_note(beyond.with_columns(lo=None), ends)


def test_ranks_are_explained_with_their_confidence():
    ranks = FACTS.select("confidence", rank=1, rank_lo=1, rank_hi=2)
    words = "Ranks: simultaneous 90 % ranges."
    assert table_note(ranks, []) == words
    assert table_note(ranks.drop("rank_lo"), []) == ""


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
    assert question_count(pl.DataFrame(columns)) == words


@pytest.mark.parametrize(
    ("questions", "trials", "each"),
    [([2, 4], [6, 12], 3), ([2, 4], [6, 4], None), ([2], [5], None), ([2], [0], None)],
    ids=["same", "different", "fraction", "none"],
)
def test_the_trials_of_a_question_are_known_if_all_have_the_same(questions, trials, each):
    assert each_trials(pl.DataFrame({"questions": questions, "trials": trials})) == each


def test_the_trials_of_a_question_are_unknown_without_their_columns():
    assert each_trials(pl.DataFrame({"trials": [4]})) is None
