"""The questions of each group, from one pass over the log."""

import polars as pl
import pytest

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import group_plan

LOG = pl.LazyFrame(
    {"model": ["b", "a", "a", "a"], "question": [1, 1, 1, 2], "category": [1, 0, 1, None]}
)
CLASSES = Classes(None, (1,))


def test_each_group_has_the_counts_of_its_questions():
    trials = bind_roles(LOG, Roles(trial=None, missing=0))
    rows = group_plan(trials, CLASSES, per_question=True).plan().collect()
    assert rows["model"].to_list() == ["a", "b"]
    questions = [sorted(tuple(q.values()) for q in group) for group in rows[":questions"].to_list()]
    # The name, failures, successes, dropped.
    assert questions == [[(1, 1, 1, 0), (2, 1, 0, 0)], [(1, 0, 1, 0)]]


def test_questions_that_are_alike_share_a_struct_if_nothing_but_counts_is_kept():
    cells = [(question, trial) for question in range(7) for trial in range(3)]
    log = pl.LazyFrame(cells, schema=["question", "trial"], orient="row").with_columns(
        # Six questions with one success in two trials and one lost trial, and one with none lost.
        category=pl.when((pl.col("trial") < 2) | (pl.col("question") == 6)).then(
            pl.col("trial") % 2
        )
    )
    trials = bind_roles(log, Roles(model=None, missing="drop"))
    (questions,) = group_plan(trials, CLASSES).plan().collect()[":questions"].to_list()
    found = sorted(tuple(state.values()) for state in questions)
    # Failures, successes, dropped of each, questions.
    assert found == [(1, 1, 1, 6), (2, 1, 0, 1)]
    row = log.collect().scorio(model=None, missing="drop").avg().row(0, named=True)
    assert [row[name] for name in ("questions", "trials", "dropped")] == [7, 15, 6]
    assert row["estimate"] == pytest.approx((6 / 2 + 1 / 3) / 7)


def test_only_common_questions_are_kept_if_asked():
    trials = bind_roles(LOG, Roles(trial=None, missing=0))
    rows = group_plan(trials, CLASSES, questions="common").plan().collect()
    assert rows[":questions"].list.len().to_list() == [1, 1]


def test_what_is_wrong_in_any_group_is_refused_at_collection():
    plan = group_plan(bind_roles(LOG, Roles(trial=None)), CLASSES).plan()
    with pytest.raises(ValueError, match=r"^1 question has a missing category .* model='a'"):
        plan.collect()
