"""The questions of each group, from one pass over the log."""

import polars as pl
import pytest

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.groups import group_plan
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.trials import bind_roles

LOG = pl.LazyFrame(
    {"model": ["b", "a", "a", "a"], "question": [1, 1, 1, 2], "category": [1, 0, 1, None]}
)
CLASSES = Classes(None, (1,))


def test_each_group_has_the_counts_of_its_questions():
    trials = bind_roles(LOG, Roles(trial=None, missing=0))
    rows = group_plan(trials, CLASSES, per_question=True).collect()
    assert rows["model"].to_list() == ["a", "b"]
    questions = [sorted(tuple(q.values()) for q in group) for group in rows[":questions"].to_list()]
    # The name, failures, successes, dropped.
    assert questions == [[(1, 1, 1, 0), (2, 1, 0, 0)], [(1, 0, 1, 0)]]


def test_only_common_questions_are_kept_if_asked():
    trials = bind_roles(LOG, Roles(trial=None, missing=0))
    rows = group_plan(trials, CLASSES, questions="common").collect()
    assert rows[":questions"].list.len().to_list() == [1, 1]


def test_what_is_wrong_in_any_group_is_refused_at_collection():
    plan = group_plan(bind_roles(LOG, Roles(trial=None)), CLASSES)
    with pytest.raises(ValueError, match=r"^1 question has a missing category .* model='a'"):
        plan.collect()
