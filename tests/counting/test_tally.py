"""Counts instead of trials: the same log in fewer rows."""

from math import inf, nan

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.accessors.expressions import GroupTally
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import (
    AS_ROWS,
    joined_list,
    least_number,
    over_parts,
    over_trials,
    summed_number,
)
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import group_plan
from tests.made_logs import drawn, long, unreadable

WORDS = ["good", "bad", "fair"]
W = [0, 0.5, 1]
GRADED = (ps.bayes(W), ps.avg(W), ps.pass_at_k([1, 3]), ps.pass_hat_k(2))
KEYS = ["domain", "model", "question"]
MISSING = pl.when(pl.col("trial") > 0).then("category").alias("category")


@pytest.fixture
def log():
    return drawn(3, range(6), most=7)


def recode(dtype: pl.DataType) -> pl.Expr:
    """The category as another dtype: truth values, numbers or words."""
    category = pl.col("category")
    if dtype == pl.Boolean:
        return category > 0
    if dtype.is_numeric():
        return category.cast(dtype)
    return category.replace_strict(range(3), WORDS, return_dtype=pl.String).cast(dtype)


# --- the frame


@pytest.mark.parametrize(
    "dtype",
    [pl.Boolean, pl.Int8, pl.UInt32, pl.Float32, pl.String, pl.Categorical, pl.Enum(WORDS)],
    ids=str,
)
@pytest.mark.parametrize("question", [pl.Int16, pl.String, pl.Date])
def test_columns_keep_their_names_and_dtypes_and_rows_are_sorted(log, dtype, question):
    renamed = {"domain": "site", "question": "task", "category": "reward"}
    log = log.with_columns(recode(dtype), pl.col("question").cast(question)).rename(renamed)
    keys = ["site", "model", "task"]
    accessor = log.lazy().scorio(by="site", question="task", category="reward")
    expected = (
        log.group_by(*keys, "reward").agg(count=pl.len().cast(pl.UInt64)).sort(*keys, "reward")
    )
    assert_frame_equal(accessor.counts().collect(), expected)
    assert accessor.counts().collect_schema() == expected.schema


@pytest.mark.parametrize("model", ["model", None])
@pytest.mark.parametrize("by", [(), "domain", ["domain", "lang"]])
def test_there_are_as_many_keys_as_roles(log, model, by):
    roles = {"model": model, "by": by, "trial": None}
    keys = [*([by] if isinstance(by, str) else by), *([model] if model else []), "question"]
    log = log.with_columns(lang=pl.lit("en"))
    counts = log.scorio(**roles).counts()
    assert counts.columns == [*keys, "category", "count"]
    assert_frame_equal(counts.select(keys), counts.select(keys).sort(keys))
    assert counts["count"].sum() == log.height


def test_roles_as_expressions_are_named_as_polars_names_them(log):
    accessor = log.scorio(
        by=pl.col("domain").str.to_uppercase(),
        question=pl.format("task-{}", "question").alias("task"),
        category=pl.col("category") >= 1,
    )
    counts = accessor.counts()
    assert counts.columns == ["domain", "model", "task", "category", "count"]
    assert counts["domain"].unique().sort().to_list() == ["AIR", "WEB"]
    assert counts["category"].dtype == pl.Boolean
    again = counts.scorio(by="domain", question="task", count="count")
    assert_frame_equal(again.pass_at_k(2), accessor.pass_at_k(2), check_exact=True)


def test_an_eager_frame_gives_an_eager_frame(log):
    accessor = log.scorio(by="domain")
    assert_frame_equal(accessor.counts(), log.lazy().scorio(by="domain").counts().collect())


# --- a round trip


@pytest.mark.every(3)
@pytest.mark.parametrize("per", ["model", "question"])
@pytest.mark.parametrize(
    ("category", "roles", "metrics"),
    [
        pytest.param(None, {"success": 2}, GRADED, id="codes"),
        pytest.param(None, {"success": 2, "model": None, "by": KEYS[:2]}, GRADED, id="no model"),
        pytest.param(None, {"success": [1, 2]}, GRADED[2:], id="success"),
        pytest.param(MISSING, {"missing": "drop", "success": 2}, GRADED, id="dropped"),
        pytest.param(MISSING, {"missing": 0, "success": 2}, GRADED, id="missing"),
        pytest.param(recode(pl.Boolean), {}, (ps.bayes(), *GRADED[2:]), id="truth"),
        pytest.param(
            recode(pl.Enum(WORDS)),
            {"success": "good"},
            (ps.avg(dict(zip(WORDS, W, strict=True))), *GRADED[2:]),
            id="labels",
        ),
    ],
)
def test_counts_give_the_reports_of_the_trials(log, category, roles, metrics, per):
    # Of some questions the only trial would be missing: those are no question of any report.
    log = log.filter(pl.len().over(KEYS) > 1).with_columns(
        *([] if category is None else [category])
    )
    roles = {"by": "domain", **roles}
    prior = {"prior": "uniform"} if per == "question" else {}
    expected = log.scorio(**roles).report(*metrics, per=per, **prior)
    counts = log.scorio(**roles).counts()
    again = counts.scorio(**roles, count="count").report(*metrics, per=per, **prior)
    assert_frame_equal(again, expected, check_exact=True)
    assert (expected["dropped"].sum() > 0) == (roles.get("missing") == "drop")


def test_counts_of_prior_trials_stand_for_them(log):
    prior = drawn(4, range(3, 8), most=3)
    roles = {"by": "domain", "success": 2}
    counts, earlier = (each.scorio(**roles).counts() for each in (log, prior))
    again = counts.scorio(**roles, count="count").report(*GRADED, prior=earlier)
    expected = log.scorio(**roles).report(*GRADED, prior=prior)
    assert_frame_equal(again, expected, check_exact=True)


# --- counts of counts


def test_counts_of_parts_merge(log):
    parts = [log.filter(pl.col("trial") % 2 == part) for part in (0, 1)]
    stacked = pl.concat(part.scorio(by="domain").counts() for part in parts)
    whole = log.scorio(by="domain").counts()
    assert stacked.height > whole.height
    assert_frame_equal(stacked.scorio(by="domain", count="count").counts(), whole)


def test_the_column_of_multiplicities_keeps_its_name(log):
    counts = log.scorio(by="domain").counts().rename({"count": "times"})
    assert_frame_equal(counts.scorio(by="domain", count="times").counts(), counts)


def test_dropped_outcomes_stay_in_counts_of_counts(log):
    roles = {"by": "domain", "missing": "drop"}
    counts = log.with_columns(MISSING).scorio(**roles).counts()
    null = counts.filter(pl.col("category").is_null())
    assert null.height == log.select(KEYS).n_unique()
    assert null["count"].to_list() == [1] * null.height
    assert_frame_equal(counts.scorio(**roles, count="count").counts(), counts)


def test_nan_and_null_are_the_same_missing_outcome():
    log = long([[1.0, None, float("nan")], [None, 0.0, 1.0]])
    counts = log.scorio(missing="drop").counts()
    rows = [
        ("m", 0, None, 2),
        ("m", 0, 1.0, 1),
        ("m", 1, None, 1),
        ("m", 1, 0.0, 1),
        ("m", 1, 1.0, 1),
    ]
    assert counts.rows() == rows


# --- errors are those of a report


def lost(log: pl.DataFrame) -> pl.DataFrame:
    return log.with_columns(MISSING)


def nameless(log: pl.DataFrame) -> pl.DataFrame:
    return log.with_columns(model=pl.when(pl.col("model") != "b").then("model"))


@pytest.mark.parametrize(
    ("spoil", "roles", "message"),
    [
        pytest.param(lost, {}, "^36 questions have a missing category", id="missing"),
        pytest.param(nameless, {}, "^12 questions have a null in the keys", id="null keys"),
        pytest.param(
            None, {"n": 10}, "^36 questions have a number of trials other than n=10", id="n"
        ),
    ],
)
def test_counts_refuse_what_a_report_refuses(log, spoil, roles, message):
    spoilt = log if spoil is None else spoil(log)
    accessor = spoilt.lazy().scorio(by="domain", success=2, **roles)
    again = accessor.counts().scorio(by="domain", success=2, count="count")
    said = []
    for plan in (accessor.counts(), accessor.pass_at_k(1), again.pass_at_k(1)):
        with pytest.raises(ValueError, match=message) as error:
            plan.collect()
        said.append(str(error.value))
    assert len(set(said)) == 1


def test_a_trial_that_is_there_twice_with_two_outcomes_is_found():
    log = pl.DataFrame({"model": "m", "question": [1, 1], "trial": 0, "category": [0, 1]})
    message = r"^1 question has the same trial twice .* question=1: 2 trials, 1 distinct id\."
    with pytest.raises(ValueError, match=message):
        log.scorio.counts()
    assert log.scorio(validate=False).counts()["count"].to_list() == [1, 1]


def test_the_promised_n_is_that_of_the_counted_trials():
    counts = long([[0, 1, 1], [1, 1, 1]]).scorio.counts()
    assert_frame_equal(counts.scorio(count="count", n=3).counts(), counts)
    with pytest.raises(
        ValueError, match=r"^1 question has a number of trials other than n=3, .* question=1: 2"
    ):
        counts.with_columns(pl.col("count").replace(3, 2)).scorio(count="count", n=3).counts()


@pytest.mark.parametrize("ids", ["trial", None])
@pytest.mark.parametrize(
    ("dtype", "values", "missing"),
    [
        (pl.Int8, [-2, 0, 1, 5, None], "drop"),
        (pl.UInt64, [0, 1, None], 1),
        (pl.Boolean, [False, True, None], "drop"),
        (pl.Boolean, [True], "error"),
        (pl.Int64, [None], "drop"),
        (pl.Int64, [0, 2**40], "error"),
    ],
    ids=str,
)
def test_a_column_for_each_category_counts_as_groups_of_categories_do(dtype, values, missing, ids):
    log = drawn(3, range(20), 7).filter(domain="web").drop("domain").with_row_index("at")
    chosen = pl.Series(values, dtype=dtype)
    log = log.with_columns(chosen.gather(log["at"].to_numpy() * 7 % len(values)).alias("category"))
    counts = log.scorio(trial=ids, missing=missing).counts()
    keys = ["model", "question", "category"]
    filled = log if isinstance(missing, str) else log.with_columns(pl.col("category").fill_null(1))
    expected = filled.group_by(keys).agg(count=pl.len().cast(pl.UInt64)).sort(keys)
    assert_frame_equal(counts, expected)
    assert_frame_equal(counts, log.lazy().scorio(trial=ids, missing=missing).counts().collect())


# Numbers of a question: those of all trials are those of its parts, put together.


TRIALS = pl.DataFrame({"question": [1, 1, 1, 2], "part": [0, 1, 1, 0], "x": [3, 1, None, 5]})
NUMBERS = [
    summed_number("sum", pl.col("x").sum()),
    least_number("least", pl.col("x").min()),
    joined_list("list", pl.col("x").drop_nulls()),
]


def test_parts_add_up_to_the_question():
    whole = TRIALS.group_by("question").agg(over_trials(NUMBERS))
    parts = TRIALS.group_by("question", "part").agg(over_trials(NUMBERS))
    again = parts.group_by("question").agg(over_parts(NUMBERS))
    expected = [(1, 4, 1, [1, 3]), (2, 5, 5, [5])]
    for tally in (whole, again):
        assert tally.with_columns(pl.col("list").list.sort()).sort("question").rows() == expected


# The tally of a group: the counts of an expression are those of a report.


NAN = float("nan")


def counts(values: list, tally: GroupTally, dtype: pl.DataType | None = None) -> list[int]:
    column = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    _, *columns = column.select(pl.struct(tally.aggregations(pl.col("x"))).struct.unnest())
    (row,) = tally.counts("x", columns).tolist()
    return row


@pytest.mark.parametrize(
    ("values", "roles", "weighted", "expected"),
    [
        pytest.param([0, 1, 1], {}, None, [1, 2], id="codes"),
        pytest.param([True, None], {"missing": "drop"}, None, [0, 1], id="dropped"),
        pytest.param([True, None], {"missing": 0}, None, [1, 1], id="stand-in"),
        pytest.param(["a", "b", "b"], {"success": "b"}, None, [1, 2], id="labels"),
        pytest.param([2, 0, 2], {}, (0, 1, 2), [1, 0, 2], id="weighted"),
        pytest.param([0.2, 0.5, NAN], {"threshold": 0.5, "missing": 0}, None, [2, 1], id="reward"),
        pytest.param([2**53, 2**53 + 1], {"success": 2**53}, None, [1, 1], id="large integers"),
    ],
)
def test_each_trial_is_in_its_class(values, roles, weighted, expected):
    assert counts(values, GroupTally(Roles(**roles), weighted)) == expected


def test_a_fraction_is_that_of_its_column():
    assert counts([0.1, 0.3], GroupTally(Roles(success=0.1), None), pl.Float32()) == [1, 1]


def test_labels_and_numbers_do_not_mix():
    with pytest.raises(TypeError, match=r"^categories must be all labels or all numbers, got "):
        counts(["a"], GroupTally(Roles(success="a", missing=0), None))


# The questions of each group, from one pass over the log.


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


# Lists made rows: the same rows in every Polars, and no warning.


def test_an_empty_list_is_a_null():
    lists = pl.DataFrame({"x": [[1, 2], [], [3]]})
    expected = [1, 2, None, 3]
    assert lists.lazy().explode("x", **AS_ROWS).collect()["x"].to_list() == expected
    assert lists.select(pl.col("x").explode(**AS_ROWS))["x"].to_list() == expected
    assert lists["x"].explode(**AS_ROWS).to_list() == expected


# Totals per question become counts of failure and success.


@pytest.fixture
def totals():
    return pl.DataFrame(
        {"model": ["ada", "ada", "bob"], "question": [1, 2, 1], "n": [5, 5, 4], "c": [3, 4, 0]}
    )


def test_reports_as_the_log_that_they_sum_up(totals, r1):
    log = r1.with_columns(pl.col("question") + 1, model=pl.lit("ada"))
    counts = ps.from_successes(totals.filter(model="ada"))
    metrics = ps.bayes(), ps.pass_at_k([1, 2]), ps.maj_at_k()
    assert_frame_equal(counts.scorio(count="count").report(*metrics), log.scorio.report(*metrics))


def test_keeps_the_other_columns_and_their_order(totals):
    counts = ps.from_successes(
        totals.with_columns(tag=pl.lit("x")).select("tag", "c", "n", "question")
    )
    assert counts.schema == {
        "tag": pl.String, "question": pl.Int64, "category": pl.Int8, "count": pl.Int64,
    }  # fmt: skip
    assert counts.rows()[:4] == [("x", 1, 0, 2), ("x", 1, 1, 3), ("x", 2, 0, 1), ("x", 2, 1, 4)]


def test_lazy_in_lazy_out(totals):
    assert_frame_equal(ps.from_successes(totals.lazy()).collect(), ps.from_successes(totals))
    lazy = ps.from_successes(unreadable(totals.rename({"n": "attempts"}).schema), n="attempts")
    assert isinstance(lazy, pl.LazyFrame)


def test_whole_floats_are_totals_too(totals):
    floats = totals.with_columns(pl.col("n", "c").cast(pl.Float64))
    assert_frame_equal(ps.from_successes(floats), ps.from_successes(totals))


@pytest.mark.parametrize(
    ("n", "c"),
    [(4, 5), (4, -1), (-2, -2), (4, 1.5), (3.5, 1), (None, 1), (4, None), (nan, 1), (4, inf)],
)
@pytest.mark.parametrize("lazy", [True, False])
def test_impossible_totals_are_refused_with_their_place(totals, n, c, lazy):
    bad = pl.DataFrame({"model": "bob", "question": [7, 8], "n": [n, n], "c": [c, c]}, strict=False)
    floats = [frame.cast({"n": pl.Float64, "c": pl.Float64}) for frame in (totals, bad)]
    frame = pl.concat(floats)
    said = (
        r"2 rows have wrong totals, the first at model='bob', question=7: n=.*, c=.*0 <= c <= n\."
    )
    with pytest.raises(ValueError, match=said):
        ps.from_successes(frame.lazy() if lazy else frame).lazy().collect()


def test_schema_problems_are_said_at_the_call(totals):
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match=r"'c' for successes.*successes="):
        ps.from_successes(unreadable(totals.drop("c").schema))
    with pytest.raises(TypeError, match="n column 'model' is String"):
        ps.from_successes(totals, n="model")
    with pytest.raises(ValueError, match="a column 'count' already"):
        ps.from_successes(totals.with_columns(count=1))
    with pytest.raises(TypeError, match=r"frame must be a Polars .*, got \[\]"):
        ps.from_successes([])


def test_a_question_without_trials_is_refused_by_the_report(totals):
    counts = ps.from_successes(totals.with_columns(n=0, c=0))
    with pytest.raises(ValueError, match="no trial with a category"):
        counts.scorio(count="count").bayes()


def test_an_empty_frame_stays_empty(totals):
    assert ps.from_successes(totals.clear()).schema == ps.from_successes(totals).schema
    assert long([[1]]).height == 1
