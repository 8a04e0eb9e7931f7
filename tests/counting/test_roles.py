"""Roles that are wrong by themselves: refused at the call, without a frame."""

import re

import polars as pl
import pytest

from tests.counting.unread_log import NUMBERS, log


@pytest.mark.parametrize("n", [0, -1, True, 2.0, "80", 2**130])
def test_n_is_a_positive_int(n):
    with pytest.raises(ValueError, match=f"^n must be a positive int.*, got {re.escape(repr(n))}$"):
        log().scorio(n=n)


@pytest.mark.parametrize("trial", ["id", pl.col("id")])
def test_rows_that_are_counted_have_no_trial_ids(trial):
    with pytest.raises(ValueError, match=r"^count='rows' means .* leave trial=.*id.* out$"):
        log().scorio(count="rows", trial=trial)


@pytest.mark.parametrize(
    ("role", "value"),
    [
        *(("model", 3), ("question", None), ("question", ["a", "b"]), ("category", None)),
        *(("trial", 0), ("count", 5), ("by", 1), ("by", {"a": 1}), ("by", ["a", 1])),
        ("cluster", 5),
        *(("success", object()), ("success", [[1]]), ("success", [None]), ("success", {"a": 1})),
        *(("missing", [0]), ("missing", object()), ("validate", 1)),
    ],
)
def test_a_role_of_the_wrong_type_is_named(role, value):
    with pytest.raises(TypeError, match=rf"^{role} must be .*, got {re.escape(repr(value))}"):
        log().scorio(**{role: value}).bayes()


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"model": "question"}, "question='question' repeats model='question'"),
        ({"by": "model"}, "by='model' repeats model='model'"),
        ({"by": ["x", "x"]}, "by='x' repeats by='x'"),
    ],
)
def test_a_column_cannot_have_two_roles(roles, said):
    with pytest.raises(ValueError, match=f"^{said}: leave one of them out, or name another col"):
        log(x="x").scorio(**roles).bayes()


def test_two_keys_cannot_share_a_name():
    with pytest.raises(ValueError, match=r"two columns named 'model'.*alias"):
        log(x="x").scorio(by=pl.col("x").alias("model")).bayes()


@pytest.mark.parametrize("role", ["by", "model"])
@pytest.mark.parametrize("name", ["metric", *NUMBERS])
def test_a_key_cannot_be_named_like_a_result_column(role, name):
    with pytest.raises(ValueError, match=f"two columns named '{name}'.*Rename"):
        log(**{name: "x"}).scorio(**{role: name}).bayes()


def test_a_question_is_named_like_a_result_column_only_where_it_is_shown():
    accessor = log(k=[1, 1, 2]).scorio(question="k")
    assert accessor.bayes().collect_schema().names().count("k") == 1
    with pytest.raises(ValueError, match="two columns named 'k'"):
        accessor.bayes(per="question")


@pytest.mark.parametrize(("role", "name"), [("by", "count"), ("category", "question")])
def test_columns_of_counts_have_different_names(role, name):
    with pytest.raises(ValueError, match=f"two columns named '{name}'"):
        log(count="x").scorio(**{role: name}).counts()


def test_a_role_is_one_column():
    with pytest.raises(ValueError, match=r"question must be one column, got 2: \['question', 'tr"):
        log().scorio(question=pl.col("question", "trial")).bayes()


def test_reading_the_log_fails_these_tests():
    with pytest.raises(AssertionError, match="the data were read"):
        log().scorio.bayes().collect()
