import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.decisions.regressed_questions import (
    BROKEN,
    SuccessCounts,
    success_classes,
)
from tests.made_logs import long

LOG = long([[0, 1]]).with_columns(said=pl.lit("42"))


@pytest.mark.parametrize(
    ("metric", "roles", "expected"),
    [
        (ps.avg(), {}, (1,)),
        (ps.geom_ds_at_k(2), {}, (1,)),
        (ps.avg(w=[1, 0]), {}, (0,)),
        (ps.avg(w=[0, 0.5, 1]), {}, None),
        (ps.max_at_k(2, w=[0, 0, 3]), {}, (2,)),
        (ps.vote_at_k(1), {"answer": "said"}, None),
    ],
    ids=str,
)
def test_successes_are_those_of_the_metric(metric, roles, expected):
    size = 2 if metric.w is None else len(metric.w)
    classes = Classes(tuple(range(size)), (1,))
    assert success_classes(metric, bind_roles(LOG.lazy(), Roles(**roles)), classes) == expected


def test_without_successes_nothing_is_counted():
    log = pl.concat([long([[2, 2], [0, 1]], "v1"), long([[0, 1], [0, 1]], "v2")])
    gate = log.scorio.gate("v1", ps.avg(w=[0, 0.5, 1]), margin=0.1)
    assert gate.select(BROKEN).row(0) == (None, None, None)


def test_gates_count_what_broke_and_what_chance_breaks():
    old, new = [[1] * 4] * 3 + [[0] * 4] * 3, [[0] * 4] + [[1] * 4] * 2 + [[0] * 4] * 3
    log = pl.concat([long(old, "v1"), long(new, "v2")])
    row = log.scorio.gate("v1", margin=0.1).row(0, named=True)
    # 4 of 8 succeeded: broken if the old version has 3 or 4 of them, (C(4,1) C(4,3) + 1) / 70.
    assert row["broken"] == 1
    assert row["broken_by_chance"] == pytest.approx(17 / 70)
    assert row["pvalue_broken"] == pytest.approx(17 / 70)


def test_a_quarter_of_the_questions_breaks_by_chance_with_one_trial_at_rate_one_half():
    """As the help of `regressions` says: 25 of 100 between equal models, here as expected."""
    old, new = [[0]] * 50 + [[1]] * 50, [[0], [1]] * 50
    log = pl.concat([long(old, "v1"), long(new, "v2")])
    row = log.scorio.gate("v1", margin=0.1).row(0, named=True)
    assert (row["broken"], row["broken_by_chance"]) == (25, 25)


@pytest.mark.parametrize("metric", [ps.avg(), ps.max_at_k(2)], ids=str)
def test_floats_that_are_zero_or_one_break_as_outcomes_do(metric):
    log = pl.concat([long([[1] * 4, [0] * 4], "v1"), long([[0] * 4, [1] * 4], "v2")])
    floats = log.with_columns(pl.col("category").cast(pl.Float64))
    outcomes = log.scorio.gate("v1", metric, margin=0.1).select(BROKEN)
    assert outcomes["broken"].item() == 1
    assert floats.scorio.gate("v1", metric, margin=0.1).select(BROKEN).equals(outcomes)


def test_fractions_do_not_break():
    log = pl.concat([long([[1, 1]], "v1"), long([[0, 0]], "v2")])
    rewards = log.with_columns(pl.col("category") * 0.5)
    row = rewards.scorio.gate("v1", margin=0.1).select(BROKEN).row(0)
    assert row == (None, None, None)


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


def test_with_unlike_questions_those_of_both_versions_are_counted():
    # Each version lacks a question, the sixth or the first; of the others the third broke.
    old, new = [4, 4, 4, 0, 1], [4, 0, 0, 1, 4]
    totals = {"model": ["v1"] * 5 + ["v2"] * 5, "question": [1, 2, 3, 4, 5, 2, 3, 4, 5, 6]}
    log = ps.from_successes(pl.DataFrame(totals | {"n": 4, "c": old + new}))
    accessor = log.scorio(count="count", target="population")
    assert accessor.gate("v1", margin=0.1, unmatched="drop")["broken"].to_list() == [1]
