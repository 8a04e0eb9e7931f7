"""What trials answered: the role `answer=`, for votes."""

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from polars.exceptions import ColumnNotFoundError
from polars.testing import assert_frame_equal

from polars_scorio.counting.roles import ANSWER, Roles, bind
from tests.made_logs import unreadable

LOG = {"model": "m", "question": [1, 1, 2], "category": [0, 1, 1]}
DAYS = [dt.date(2024, 1, day) for day in (1, 2)]
NAN = float("nan")


def answers(*values, dtype=None):
    """A log with these answers."""
    return pl.DataFrame({**LOG, "answer": pl.Series([*values], dtype=dtype)})


def keys(log, answer="answer"):
    """What the plan tells answers apart by."""
    trials = bind(log.lazy(), Roles(trial=None, answer=answer))
    return trials.rows(answers=True).collect()[ANSWER].to_list()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (("4", "x", None), None),
        (("4", "x", None), pl.Categorical),
        (("4", "x", None), pl.Enum(["x", "4"])),
        ((4, -1, None), None),
        ((0.5, 1e300, None), None),
        ((True, False, None), None),
        ((*DAYS, None), None),
        ((Decimal("1.50"), Decimal("2.25"), None), None),
        ((b"a", b"b", None), None),
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_plain_answer_is_its_own_key(values, dtype):
    assert keys(answers(*values, dtype=dtype)) == [*values]


@pytest.mark.parametrize("values", [([1, 2], [2, 1], None), ({"a": 1}, {"a": None}, None)], ids=str)
def test_nested_answers_are_told_apart(values):
    first, second, none = keys(answers(*values))
    assert (first != second, none) == (True, None)
    again = answers(values[0], values[0], None)
    assert len(set(keys(again))) == 2


def test_an_answer_that_is_no_number_is_none():
    assert keys(answers(0.5, NAN, None)) == [0.5, None, None]


def test_an_answer_may_be_an_expression():
    assert keys(answers("A ", "a", " b"), pl.col("answer").str.strip_chars()) == ["A", "a", "b"]


def test_objects_are_no_answers():
    with pytest.raises(TypeError, match=r"answer column 'answer' is Object.* Cast it to words"):
        unreadable(pl.Schema({**answers(1, 2, 3).schema, "answer": pl.Object})).scorio(
            trial=None, answer="answer"
        ).avg()


def test_a_missing_column_of_answers_is_named():
    with pytest.raises(ColumnNotFoundError, match=r"'typo' for the answer; .* with answer="):
        answers(1, 2, 3).scorio(trial=None, answer="typo").avg()


def test_other_metrics_do_not_read_the_answers():
    log = answers(1, 2, 3)
    unread = pl.col("answer").map_batches(lambda _: pytest.fail("read"), return_dtype=pl.Int64)
    with pytest.raises(pytest.fail.Exception):
        keys(log, unread)
    plain, answered = (log.scorio(trial=None, answer=each).avg() for each in (None, unread))
    assert_frame_equal(plain, answered)
