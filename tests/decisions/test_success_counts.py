import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.decisions.success_counts import SuccessCounts

COUNTS = [
    [{"question": "b", ":c0": 1, ":c1": 3}, {"question": "a", ":c0": 4, ":c1": 0}],
    None,
    [{"question": "a", ":c0": 0, ":c1": 2}, {"question": "b", ":c0": 2, ":c1": 2}],
]
KIND = pl.List(pl.Struct({"question": pl.String(), ":c0": pl.UInt32(), ":c1": pl.UInt32()}))
GROUPS = pl.DataFrame({QUESTIONS: COUNTS}, schema={QUESTIONS: KIND})


def read(groups, success=(1,)):
    return SuccessCounts.read(groups, Classes((0, 1), (1,)), success, "question")


def test_the_questions_of_a_group_are_in_the_order_of_their_names():
    counts = read(GROUPS)
    assert counts.names.to_list() == ["a", "b", "a", "b"]
    assert [counts.questions(group) for group in range(3)] == [
        slice(0, 2),
        slice(2, 2),
        slice(2, 4),
    ]
    versions = counts.versions(0, 2)
    assert versions.n_old.tolist() == [4, 4]
    assert versions.c_old.tolist() == [0, 3]
    assert versions.n_new.tolist() == [2, 4]
    assert versions.c_new.tolist() == [2, 2]


def test_other_classes_may_be_the_successes():
    assert read(GROUPS, success=(0,)).c.tolist() == [4, 1, 0, 2]


def test_a_question_without_any_outcome_is_left_out():
    empty = [{"question": "c", ":c0": 0, ":c1": 0}]
    counts = read(pl.DataFrame({QUESTIONS: [empty, COUNTS[0]]}, schema={QUESTIONS: KIND}))
    assert counts.ends.tolist() == [0, 2]
