"""Roles that are found in a frame: columns, dtypes and names, and how they are used."""

import re

import polars as pl
import pytest
from polars.exceptions import ColumnNotFoundError
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.counting.unread_log import BINARY, GRADED, LABELLED, LOG, NUMBERS, PLAIN, labelled, log
from tests.made_logs import unreadable

# --- columns that are not there


ROLES = ["model", "question", "trial", "category", "by", "count", "cluster"]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("ask", ["report", "counts"])
def test_a_missing_column_is_named_with_the_columns_there_are_and_the_keyword(role, ask):
    accessor = log().scorio(**{role: "typo"})
    with pytest.raises(ColumnNotFoundError) as error:
        accessor.counts() if ask == "counts" else accessor.report(*BINARY)
    assert str(error.value).startswith(
        f"there is no column 'typo' for the {'stratum' if role == 'by' else role}; "
        "the columns are ['model', 'question', 'trial', 'category']. "
    )
    assert f"{role}=" in str(error.value)


def test_all_missing_columns_are_named_at_once():
    with pytest.raises(ColumnNotFoundError) as error:
        log().scorio(question="task", by="domain", category=pl.col("reward") + 1).avg()
    assert str(error.value) == (
        "there are no columns 'domain' for the stratum, 'task' for the question, 'reward' for the "
        "category; the columns are ['model', 'question', 'trial', 'category']. Name them "
        "with by=, question= and category=."
    )


@pytest.mark.parametrize(
    ("dtype", "said"),
    [
        (pl.String, 'labels: name one of them, as in missing="wrong".'),
        (pl.Enum(["wrong", "right"]), "the labels ['wrong', 'right']."),
    ],
    ids=str,
)
def test_a_number_for_missing_labels_is_answered_with_the_labels(dtype, said):
    labelled = log(category=pl.Series(["right", "right", "wrong"], dtype=dtype))
    with pytest.raises(TypeError) as error:
        labelled.scorio(success="right", missing=0).avg()
    assert str(error.value).endswith(f"Its categories are {said}")


@pytest.mark.parametrize("role", ["model", "trial"])
def test_a_missing_default_column_that_can_be_done_without_says_so(role):
    frame = unreadable(pl.DataFrame(LOG).drop(role).schema)
    with pytest.raises(ColumnNotFoundError, match=rf"no column '{role}' .* pass {role}=None"):
        frame.scorio.bayes()


def test_a_missing_column_inside_an_expression_is_named():
    with pytest.raises(ColumnNotFoundError, match="no column 'reward' for the category"):
        log().scorio(category=pl.col("reward") >= 0.5).bayes()


def test_a_missing_column_of_the_prior_trials_is_theirs():
    prior = log().drop("question")
    with pytest.raises(ColumnNotFoundError, match=r"^prior: there is no column 'question'"):
        log().scorio.bayes(prior=prior)


def test_prior_trials_need_no_model_column():
    assert isinstance(log().scorio.bayes(prior=log().drop("model")), pl.LazyFrame)


# --- dtypes that a role cannot have


@pytest.mark.parametrize("role", ["model", "question", "trial", "by", "cluster"])
@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([[1]] * 3, pl.List(pl.Int64)),
        ([{"a": 1}] * 3, pl.Struct({"a": pl.Int64})),
        ([[1]] * 3, pl.Array(pl.Int64, 1)),
        ([object()] * 3, pl.Object()),
    ],
    ids=["list", "struct", "array", "object"],
)
def test_keys_are_plain_values(role, values, dtype):
    frame = log(key=pl.Series(values, dtype=dtype))
    message = rf"^{role} column 'key' is {re.escape(str(dtype))}, .*expression"
    with pytest.raises(TypeError, match=message):
        frame.scorio(**{role: "key"}).bayes()


@pytest.mark.parametrize("dtype", [pl.Date(), pl.Decimal(10, 2), pl.Binary()])
def test_a_category_is_a_truth_value_a_number_or_a_label(dtype):
    frame = log(category=pl.Series([None] * 3, dtype=dtype))
    message = rf"^category column 'category' is {re.escape(str(dtype))}; .*Cast it"
    with pytest.raises(TypeError, match=message):
        frame.scorio.bayes()


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Boolean, pl.String])
def test_multiplicities_are_integers(dtype):
    frame = log(rows=pl.Series([None] * 3, dtype=dtype))
    with pytest.raises(TypeError, match=rf"^count column 'rows' is {dtype()}; .*Int64"):
        frame.scorio(count="rows").bayes()


def test_prior_trials_whose_questions_have_another_dtype_match_nothing():
    prior = log(question=["1", "1", "2"])
    with pytest.raises(TypeError, match=r"^prior: 'question' is String, but Int64 in the data"):
        log().scorio.bayes(prior=prior)


def test_prior_trials_have_categories_of_the_same_kind():
    with pytest.raises(TypeError, match=r"^prior: .*1 cannot be a category.*which is String"):
        log().scorio.bayes(w={1: 1}, prior=log(category=["a", "b", "c"]))


def test_prior_trials_are_a_frame():
    with pytest.raises(
        TypeError, match=r"^prior must be .* a Polars frame of prior trials, got \[\[0, 2\]\]"
    ):
        log().scorio.bayes(prior=[[0, 2]])


# --- roles as they are used


def test_roles_can_be_expressions(r1):
    plain = r1.with_columns(model=pl.lit("x / y")).scorio.report(*BINARY)
    log = r1.select(
        agent=pl.lit("x"),
        llm=pl.lit("y"),
        task=pl.format("t{}", "question"),
        attempt=pl.col("trial") + 1,
        reward=pl.col("category") * 0.6,
    )
    roles = {
        "model": pl.concat_str("agent", "llm", separator=" / ").alias("model"),
        "question": pl.col("task").str.tail(1).cast(pl.Int64).alias("question"),
        "trial": pl.col("attempt") - 1,
        "category": pl.col("reward") >= 0.5,
    }
    assert_frame_equal(log.scorio(**roles).report(*BINARY), plain, check_exact=True)
    named = log.scorio(**{**roles, "model": roles["model"].alias("who")})
    assert named.bayes(per="question").columns[:3] == ["who", "question", "metric"]


def test_an_expression_is_named_as_polars_names_it(r1):
    roles = {"model": pl.concat_str("model", "question"), "question": pl.col("trial") % 2}
    assert r1.scorio(**roles, trial=None).bayes(per="question").columns[:2] == ["model", "trial"]
    with pytest.raises(ValueError, match="two columns named 'trial'"):
        r1.scorio(**roles, by=(pl.col("trial") + 1)).bayes()


@pytest.mark.parametrize("by", ["domain", ["domain"], ("domain",), pl.col("domain")])
def test_by_is_a_name_an_expression_or_several(r1, r2, by):
    both = pl.concat([r1.with_columns(domain=pl.lit("b")), r2.with_columns(domain=pl.lit("a"))])
    rows = both.scorio(by=by, success=1).report(*BINARY)
    parts = [part.scorio(success=1).report(*BINARY) for part in (r2, r1)]
    assert rows.columns[:3] == ["domain", "model", "metric"]
    assert rows["domain"].to_list() == ["a"] * 5 + ["b"] * 5
    # Groups that are fitted together are added in another order.
    assert_frame_equal(rows.drop("domain"), pl.concat(parts), rel_tol=1e-13)


def test_strata_stand_in_the_order_in_which_they_are_given(r1):
    parts = [r1.with_columns(a=pl.lit(a), b=pl.lit(b)) for a in (2, 1) for b in ("y", "x")]
    rows = pl.concat(parts).scorio(by=[pl.col("b"), "a"]).bayes()
    assert rows.columns[:4] == ["b", "a", "model", "metric"]
    assert rows.select("b", "a").rows() == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]


@pytest.mark.parametrize("by", [(), "domain"])
def test_without_a_model_there_is_no_such_column(r1, by):
    log = r1.drop("model").with_columns(domain=pl.lit("x"))
    rows = log.scorio(model=None, by=by).report(*BINARY)
    named = r1.scorio.report(*BINARY).drop("model")
    assert_frame_equal(rows.drop("domain", strict=False), named, check_exact=True)
    assert rows.columns[0] == ("domain" if by else "metric")


def test_rows_that_are_counted_need_no_trial_column(r1):
    counted = r1.scorio.counts().rename({"count": "rows"}).scorio(count="rows")
    assert_frame_equal(counted.report(*BINARY), r1.scorio.report(*BINARY), check_exact=True)


def test_several_categories_can_be_a_success(r2):
    merged = r2.with_columns(category=pl.col("category") > 0)
    for success in ([1, 2], (2, 1), [2, 1, 1]):
        rows = r2.scorio(success=success).report(*BINARY)
        assert_frame_equal(rows, merged.scorio.report(*BINARY), check_exact=True)


def test_without_a_mark_success_is_one(r1):
    rows = r1.scorio.report(*BINARY)
    assert_frame_equal(r1.scorio(success=1).report(*BINARY), rows, check_exact=True)
    weighted = r1.scorio.report(*BINARY, ps.bayes(w=[0, 2])).filter(
        ~pl.col("metric").str.contains("w=")
    )
    assert_frame_equal(weighted, rows, check_exact=True)


def test_a_configured_accessor_can_be_used_again(r2):
    accessor = r2.rename({"model": "llm"}).scorio(model="llm", success=2)
    first = accessor.report(*GRADED)
    assert first.columns[0] == "llm"
    assert_frame_equal(accessor.report(*GRADED), first, check_exact=True)


# --- dtypes of a category


@pytest.mark.parametrize("dtype", [pl.Boolean, *PLAIN], ids=str)
def test_every_dtype_of_a_binary_category_gives_the_same_numbers(r1, dtype):
    same = r1.cast({"category": dtype}).scorio.report(*BINARY)
    assert_frame_equal(same, r1.scorio.report(*BINARY), check_exact=True)


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_every_dtype_of_a_graded_category_gives_the_same_numbers(r2, dtype):
    same = r2.cast({"category": dtype}).scorio(success=2).report(*GRADED)
    assert_frame_equal(same, r2.scorio(success=2).report(*GRADED), check_exact=True)


@pytest.mark.parametrize("dtype", LABELLED, ids=str)
def test_labels_give_the_numbers_of_codes(r2, dtype):
    codes = r2.scorio(success=2).report(*GRADED)
    w = {"good": 1, "bad": 0, "fair": 0.5}
    metrics = (ps.bayes(w=w), ps.avg(w=w), ps.pass_at_k([1, 2]))
    labels = labelled(r2, dtype).scorio(success="good").report(*metrics)
    assert_frame_equal(labels.select(NUMBERS), codes.select(NUMBERS), check_exact=True)


@pytest.mark.parametrize("dtype", LABELLED, ids=str)
def test_a_missing_outcome_can_stand_for_a_label(r2, dtype):
    labels = labelled(r2, dtype)
    lost = labels.with_columns(category=pl.when(pl.col("category") != "bad").then("category"))
    whole, filled = (log.scorio(success="good", missing="bad") for log in (labels, lost))
    assert_frame_equal(filled.report(*BINARY), whole.report(*BINARY), check_exact=True)
    assert_frame_equal(filled.counts(), whole.counts())


@pytest.mark.parametrize("dtype", [pl.Boolean, *PLAIN], ids=str)
def test_a_missing_outcome_can_stand_for_a_failure(r1, dtype):
    log = r1.cast({"category": dtype})
    lost = log.with_columns(pl.when(pl.col("category").cast(pl.Boolean)).then("category"))
    filled = lost.scorio(missing=0)
    assert_frame_equal(filled.report(*BINARY), log.scorio.report(*BINARY), check_exact=True)
    assert_frame_equal(filled.counts(), log.scorio.counts())


def test_truth_values_and_weights_by_number_are_the_same(r1):
    truth = r1.cast({"category": pl.Boolean})
    by_number = truth.scorio.bayes(w=[0, 2], name="x")
    for w in ({False: 0, True: 2}, {0: 0, 1: 2}, {1.0: 2, 0.0: 0}):
        assert_frame_equal(truth.scorio.bayes(w=w, name="x"), by_number, check_exact=True)
        assert_frame_equal(r1.scorio.bayes(w=w, name="x"), by_number, check_exact=True)
    assert_frame_equal(
        truth.scorio(success=0).pass_at_k(2),
        r1.scorio(success=False).pass_at_k(2),
        check_exact=True,
    )
