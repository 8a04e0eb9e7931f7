"""Trial ids that a sum of hashes tells, and the second look at those that it does not."""

import datetime as dt
import itertools
import os
import subprocess
import sys

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.refusals import trial_id_rules
from polars_scorio.counting.roles import Roles
from tests.counting.duplicates.test_by_sum import ENGINES, INTEGERS, complaint, log

COUNTED = [range(8), range(1, 9), [0], [1], [5], [3, 1, 0, 2], range(2**12 - 1)]
DOUBTED = [range(2, 10), [0, 2], [0, -1], [7, 10**18], range(2**12 + 1), [-(2**63), 2**63 - 1]]


def read_often(frame: pl.LazyFrame, reads: list[int]) -> pl.LazyFrame:
    """The same frame, which notes how often it is read."""

    def noted(whole: pl.DataFrame) -> pl.DataFrame:
        reads.append(whole.height)
        return whole

    return frame.map_batches(noted)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("ids", "looks"), [*((i, 1) for i in COUNTED), *((i, 2) for i in DOUBTED)])
def test_a_log_is_read_again_only_where_ids_do_not_count_trials(ids, looks, engine):
    reads: list[int] = []
    rows = log([[*range(4)], [*ids]], pl.Int64)
    plan = read_often(rows, reads).scorio.report(ps.avg(), ps.bayes())
    assert complaint(plan, engine) is None
    assert len(reads) == looks


@pytest.mark.parametrize("dtype", [*INTEGERS, pl.UInt64], ids=str)
def test_integers_of_every_width_are_told_by_their_sum(dtype):
    reads: list[int] = []
    read_often(log([[0, 1, 2], [1, 2]], dtype), reads).scorio.avg().collect()
    assert len(reads) == 1


def test_no_other_ids_have_the_sum():
    trials = bind_roles(log([[0]], pl.Int64), Roles())
    (doubt,) = trial_id_rules(trials)
    some = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(range(-2, 8), n) for n in range(1, 7)
    )
    ids = pl.DataFrame({"ids": [*map(list, some)]}, schema={"ids": pl.List(pl.Int64)})
    known = ids.select(
        pl.col("ids").list.len().cast(pl.Int64).alias(":rows"),
        pl.col("ids").list.eval(pl.element().hash()).list.sum().alias(":digest"),
        "ids",
    ).filter(~doubt.violated)
    expected = [[*range(first, first + n)] for n in range(2, 7) for first in (0, 1)]
    expected += [[single] for single in range(-2, 8)]
    assert sorted(known["ids"].to_list()) == sorted(expected)


@pytest.mark.parametrize("few", [0, 1, 10_000])
@pytest.mark.parametrize("engine", ENGINES)
def test_only_questions_in_doubt_are_looked_at_again(engine, few, monkeypatch):
    monkeypatch.setattr("polars_scorio.counting.refusals._MOST_LOOKED_UP", few)
    rows = log([[0, 1, 2], [5, 5], [3, 9], [7, 7, 7]], pl.Int64)
    assert complaint(rows.scorio.avg(), engine) == (2, 1, 2, 1)
    assert complaint(rows.filter(pl.col("question") != 1).scorio.avg(), engine) == (1, 3, 3, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_filter_on_groups_holds_for_the_second_look(engine):
    one, two = log([[0, 2]], pl.Int64), log([[4, 4]], pl.Int64)
    both = pl.concat([one, two.with_columns(model=pl.lit("n"))])
    assert complaint(both.scorio.avg(), engine) == (1, 0, 2, 1)
    assert complaint(both.scorio.avg().filter(model="m"), engine) is None
    assert complaint(both.scorio.avg().filter(model="n"), engine) == (1, 0, 2, 1)


@pytest.mark.every(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "labels",
    [
        pl.Series(["a", "b"], dtype=pl.Categorical),
        pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])),
        pl.Series([dt.date(2025, 1, 1), dt.date(2025, 1, 2)]),
        pl.Series([0.25, -0.0]),
        pl.Series([False, True]),
        pl.Series([b"a", b"\xff"]),
        pl.Series(["0.1", "0.2"]).cast(pl.Decimal(4, 1)),
    ],
    ids=lambda labels: str(labels.dtype),
)
@pytest.mark.parametrize("role", ["model", "question", "by"])
def test_keys_of_every_dtype_are_found_again(role, labels, engine):
    rows = pl.DataFrame({"model": "m", "question": [0, 0, 1, 1], "trial": [0, 0, 4, 6]})
    rows = rows.with_columns(pl.Series([1, 0, 1, 1]).alias("category"))
    key = labels.gather([0, 0, 1, 1])
    rows = rows.with_columns(key.alias("stratum" if role == "by" else role))
    by = "stratum" if role == "by" else ()
    with pytest.raises(ValueError, match=r"^1 question has the same trial twice .* 1 distinct id"):
        rows.lazy().scorio(by=by).avg().collect(engine=engine)
    apart = rows.with_columns(trial=pl.Series([0, 3, 4, 6])).lazy()
    found = apart.scorio(by=by).avg().collect(engine=engine)
    assert found["questions"].sum() == 2


def test_null_ids_are_named_before_repeated_ones():
    rows = log([[0, 1], [None, 3, 3, None]], pl.Int64)
    with pytest.raises(ValueError, match=r"^1 question has a null trial id .*question=1: 2 trials"):
        rows.scorio.avg().collect()


@pytest.mark.parametrize("dtype", [*INTEGERS, pl.UInt64], ids=str)
def test_a_single_trial_repeats_nothing_but_may_lack_its_id(dtype):
    reads: list[int] = []
    read_often(log([[7], [9]], dtype), reads).scorio.avg().collect()
    assert len(reads) == 1
    with pytest.raises(ValueError, match=r"^1 question has a null trial id"):
        log([[7], [None]], dtype).scorio.avg().collect()


def test_counts_and_reports_read_as_often():
    rows = log([[0, 1], [5, 7], [9, 8]], pl.Int64)
    for ask in ("avg", "counts"):
        reads: list[int] = []
        getattr(read_often(rows, reads).scorio, ask)().collect()
        assert len(reads) == 2


def test_what_is_there_twice_is_named_first():
    rows = log([[0, 0], [0, 1]], pl.Int64)
    lacking = rows.with_columns(category=pl.when(pl.col("question") == 0).then("category"))
    assert complaint(lacking.scorio.avg()) == (1, 0, 2, 1)


@pytest.mark.parametrize("ids", [[[0, 0], [4, 4], [1]], [["a", "a"], ["b", "b"], ["c"]]], ids=str)
@pytest.mark.parametrize("ask", ["avg", "counts"])
def test_null_keys_are_named_beside_what_is_there_twice(ids, ask):
    besides = r"Besides, 1 question has a null in the keys \['model', 'question'\]\. See describe"
    rows = log(ids).with_columns(question=pl.col("question").replace(1, None))
    with pytest.raises(ValueError, match=rf"^1 question has the same trial twice .* {besides}"):
        getattr(rows.scorio, ask)().collect()


def test_of_one_question_another_fault_is_named_first():
    rows = log([[0, 0], [0, 1]], pl.Int64)
    lacking = rows.with_columns(category=pl.when(pl.col("question") != 0).then("category"))
    with pytest.raises(ValueError, match=r"^1 question has a missing category"):
        lacking.scorio.avg().collect()


def test_a_log_that_can_be_read_once_only_is_refused():
    reads: list[int] = []

    def once(whole: pl.DataFrame) -> pl.DataFrame:
        reads.append(1)
        return whole.clear() if len(reads) > 1 else whole

    rows = log([[0, 1], [4, 8]], pl.Int64).map_batches(once)
    with pytest.raises(
        ValueError, match=r"of 1 question had .* 2 rows, then 0\. .* Collect it first, .*"
    ):
        rows.scorio.avg().collect()
    reads.clear()
    assert rows.scorio(validate=False).avg().collect().height == 1


@pytest.mark.parametrize(
    ("ids", "then", "rows"),
    [
        ([7, 7, 7, 9], [7, 9], "4 rows, then 2"),  # repeated, then clean
        ([7, 9], [7, 7, 9], "2 rows, then 3"),  # clean, then repeated
        ([7, 7], [7, 9], "2 rows, then 2"),  # as many rows, other ids
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_read_that_differs_is_refused_before_any_word_on_repetitions(
    ids, then, rows, engine
):
    reads: list[int] = []

    def changing(whole: pl.DataFrame) -> pl.DataFrame:
        reads.append(1)
        second = log([[0, 1], then], pl.Int64).collect()
        return whole if len(reads) == 1 else second.select(whole.columns)

    plan = log([[0, 1], ids], pl.Int64).map_batches(changing).scorio.avg()
    said = rf"1 differ .* question=1: {rows}\. Does the log change"
    with pytest.raises(ValueError, match=said):
        plan.collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_trials_of_the_prior_are_looked_at_again_too(engine):
    rows, prior = log([[0, 1], [4, 8]], pl.Int64), log([[0, 1], [6, 6]], pl.Int64)
    with pytest.raises(ValueError, match=r"^prior: 1 question has the same trial twice"):
        rows.scorio.bayes(prior=prior).collect(engine=engine)
    rows.scorio.bayes(prior=prior.unique(["question", "trial"])).collect(engine=engine)


@pytest.mark.slow
def test_a_second_look_needs_no_second_thread():
    code = """import polars as pl, polars_scorio
rows = pl.DataFrame({"model": "m", "question": [0, 0, 1], "trial": [5, 7, 9], "category": 1})
plan = rows.lazy().scorio.avg()
print(pl.thread_pool_size(), len(pl.collect_all([plan, plan.filter(model="m")])))
print(plan.collect().height, plan.collect(engine="streaming").height)"""
    run = [sys.executable, "-c", code]
    env = {**os.environ, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(run, check=True, capture_output=True, text=True, env=env, timeout=60)  # noqa: S603 - our own code
    assert done.stdout == "1 2\n1 1\n"
