"""Questions in cells: what is read of the lists of a report."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.maths.questions import States
from polars_scorio.subjects.of_votes import RIGHT, VOTES, read_ballots
from polars_scorio.subjects.question_cells import QuestionCells
from tests.made_logs import outcomes


def tallied(counts: np.ndarray) -> States:
    one = np.ones(len(counts), dtype=np.int64)
    return States.tally(counts, 0 * counts, 0 * one, one, 1)


def test_failure_and_success_are_seen_as_they_are_and_more_classes_as_two():
    two = QuestionCells.from_states(tallied(np.array([[1, 3]])), Classes((0, 1), (1,)))
    assert two.seen_as("success") is two.states
    three = QuestionCells.from_states(tallied(np.array([[1, 3, 2]])), Classes((0, 1, 2), (1,)))
    assert three.seen_as("categories") is three.states
    assert three.seen_as("success").counts.tolist() == [[3, 3]]


def test_groups_are_the_cells_unless_questions_are():
    cells = QuestionCells.from_states(tallied(np.array([[1, 3], [2, 2]])), Classes((0, 1), (1,)))
    assert not cells.per_question
    assert cells.group_of_cell.tolist() == [0]


def test_votes_and_abstentions_of_a_question_are_all_its_trials():
    answers = pl.Series([[{VOTES: 2, RIGHT: 1}, {VOTES: 1, RIGHT: 0}], []])
    ballots = read_ballots(answers, np.array([4, 2]))
    assert ballots.votes.tolist() == [[2, 1], [0, 0]]
    assert ballots.right.tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("per", ["model", "question"])
def test_a_question_without_any_outcome_is_left_out_and_counted(per):
    log = outcomes({(2, 1): 3}).with_columns(
        category=pl.when(pl.col("question") == pl.col("question").max()).then("category")
    )
    rows = log.scorio(missing="drop", unscored="drop").report(ps.avg(), per=per)
    assert rows["trials"].to_list() == [2]
    if per == "model":
        assert rows.select("questions", "dropped", "unscored").row(0) == (1, 4, 2)
