"""What trials answered: the role `answer=`, for votes."""

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from polars.exceptions import ColumnNotFoundError
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.subjects.of_votes import plain_answer
from tests.made_logs import unreadable

LOG = {"model": "m", "question": [1, 1, 2], "category": [0, 1, 1]}
DAYS = [dt.date(2024, 1, day) for day in (1, 2)]
NAN = float("nan")


def answers(*values, dtype=None):
    """A log with these answers."""
    return pl.DataFrame({**LOG, "answer": pl.Series([*values], dtype=dtype)})


def keys(log, answer="answer"):
    """What the plan tells answers apart by."""
    part = bind_roles(log.lazy(), Roles(trial=None, answer=answer)).answer
    return log.select(plain_answer(part.expr, part.dtype)).to_series().to_list()


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
    with pytest.raises(TypeError, match=r"answer column 'answer' is Object.* Cast it to strings"):
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


# --- answers that cannot be voted on


def complaint(log, engine="streaming", **roles):
    """What a report of votes says is wrong."""
    plan = log.lazy().scorio(trial=None, answer="answer", **roles).vote_at_k(1)
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is compared
        plan.collect(engine=engine)
    return str(error.value)


def twofold(first, other, **columns):
    """Three questions, of which the second and the third have an answer with two verdicts."""
    return pl.DataFrame({
        "model": "m", "question": [2, 2, 2, 1, 1, 3, 3], "category": [1, 0, 1, 1, 0, 0, 1],
        "answer": [first, first, first, first, other, other, other], **columns,
    })  # fmt: skip


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_an_answer_with_two_verdicts_is_named_with_both(engine):
    assert complaint(twofold("4", "x"), engine).startswith(
        "2 questions have an answer with two verdicts in 'answer', the first at model='m', "
        "question=2: '4' is right in 2 of 3 trials. Equal answers must have equal verdicts: "
    )


@pytest.mark.parametrize(
    ("first", "other", "shown"),
    [
        (4, 5, "4"),
        (0.5, 2.0, "0.5"),
        (True, False, "true"),
        (DAYS[0], DAYS[1], "2024-01-01"),
        ([1, 2], [2], '{"answer":[1,2]}'),
        (b"\xff", b"\xfe", "ff"),
    ],
)
def test_an_answer_of_any_dtype_is_named(first, other, shown):
    assert f"question=2: {shown} is right in 2 of 3 trials. " in complaint(twofold(first, other))


def test_the_same_answer_may_be_right_elsewhere():
    log = twofold("4", "x").filter(~((pl.col("category") == 0) & (pl.col("question") == 2)))
    log = log.filter((pl.col("question") < 3) | (pl.col("category") == 0))
    assert log.scorio(trial=None, answer="answer").vote_at_k(1)["questions"].item() == 3


def test_missing_outcomes_have_no_verdict():
    log = (
        twofold("4", "x")
        .with_columns(category=pl.when(pl.col("category") == 1).then("category"))
        .filter(pl.col("question") < 3)
    )
    kept = log.scorio(trial=None, answer="answer", missing="drop").vote_at_k(1)
    assert kept.select("trials", "dropped", "estimate").row(0) == (3, 2, 1.0)
    assert "'4' is right in 2 of 3 trials" in complaint(log, missing=0)


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_a_question_without_any_answer_is_an_error_unless_missing_says_more(engine):
    log = answers("4", None, None).with_columns(question=pl.Series([2, 1, 1]))
    assert complaint(log, engine).startswith(
        "1 question has no answer at all (null in 'answer'), the first at model='m', question=1: "
        "2 trials. Trials without an answer abstain."
    )
    for missing in ("drop", 0):
        rows = log.scorio(trial=None, answer="answer", missing=missing).vote_at_k(1, per="question")
        assert rows["estimate"].to_list() == [0, 0]
    assert log.scorio(trial=None, answer="answer").avg()["estimate"].item() == 0.5


def test_a_missing_outcome_is_named_before_the_answers():
    log = twofold("4", "x").with_columns(pl.lit(None, pl.Int64).alias("category"))
    assert "missing category" in complaint(log)


def test_ids_are_checked_whatever_was_answered():
    log = answers("a", "b", "c").with_columns(trial=pl.Series([0, 0, 0]))
    with pytest.raises(ValueError, match=r"1 question has the same trial twice .*question=1: 2 tr"):
        log.scorio(answer="answer").vote_at_k(1)


def test_labels_say_which_answers_are_right():
    log = pl.DataFrame({"question": 1, "category": ["good", "bad"], "answer": ["a", "b"]})
    rows = log.scorio(model=None, trial=None, answer="answer", success="good").vote_at_k([1, 2])
    assert rows["estimate"].to_list() == pytest.approx([0.5, 0.5])
    with pytest.raises(ValueError, match="name the successes with success="):
        log.scorio(model=None, trial=None, answer="answer").vote_at_k(1)


def test_the_first_class_may_be_the_success():
    log = pl.DataFrame({"question": 1, "category": [0, 1, 2], "answer": ["a", "b", "c"]})
    report = log.scorio(model=None, trial=None, answer="answer", success=0).report(
        ps.bayes(w=[1, 0, 0]), ps.vote_at_k([1, 2, 3], name="vote")
    )
    assert report.filter(metric="vote")["estimate"].to_list() == pytest.approx([1 / 3] * 3)


def test_of_several_answers_with_two_verdicts_the_first_is_named():
    log = pl.DataFrame({
        "model": "m", "question": 1, "category": [0, 1] * 3,
        "answer": ["y", "y", "x", "x", "z", "z"],
    })  # fmt: skip
    for seed in range(3):
        turned = log.sample(fraction=1, shuffle=True, seed=seed)
        assert "question=1: 'x' is right in 1 of 2 trials. " in complaint(turned)
