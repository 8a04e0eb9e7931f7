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
    with pytest.raises(ValueError, match=r"^count='rows' means .* omit trial=.*id.*$"):
        log().scorio(count="rows", trial=trial)


@pytest.mark.parametrize(
    ("role", "value"),
    [
        *(("model", 3), ("question", None), ("question", ["a", 1]), ("category", None)),
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
        ({"by": "category"}, "by='category' repeats category='category'"),
        ({"run": "category"}, "run='category' repeats category='category'"),
        ({"cost": "category"}, "cost='category' repeats category='category'"),
        ({"answer": "category"}, "answer='category' repeats category='category'"),
        ({"count": "category"}, "count='category' repeats category='category'"),
        ({"by": "x", "cluster": "x"}, "by='x' repeats cluster='x'"),
        ({"by": "x", "run": pl.col("x")}, "by='x' repeats run=col(\"x\")"),
        (
            {"cost": pl.col("category").alias("usd")},
            'cost=col("category").alias("usd") repeats category=\'category\'',
        ),
    ],
)
def test_a_column_has_one_role(roles, said):
    message = re.escape(f"{said}, and a column has one role: name another column for one of them")
    with pytest.raises(ValueError, match=f"^{message}$"):
        log(x="x").scorio(**roles)


@pytest.mark.parametrize("count", ["trial", pl.col("trial")], ids=["name", "expression"])
def test_ids_of_trials_are_no_counts(count):
    with pytest.raises(ValueError, match=r"repeats trial='trial'.* or pass trial=None if it is no"):
        log().scorio(count=count)
    assert log().scorio(count=count, trial=None)


@pytest.mark.parametrize("role", ["by", "answer", "cost"])
def test_a_column_of_trial_ids_may_be_something_else_where_it_is_no_id(role):
    message = (
        rf"^{role}='trial' repeats trial='trial', .*, or pass trial=None if it is not a trial id$"
    )
    with pytest.raises(ValueError, match=message):
        log().scorio(**{role: "trial"})
    assert log().scorio(**{role: "trial"}, trial=None).avg().collect_schema()


def test_a_run_may_be_a_trial_and_a_question_its_own_cluster():
    accessor = log().scorio(run="trial", cluster="question")
    assert accessor.avg(target="population").collect_schema()


@pytest.mark.parametrize("name", ["", "*", "^x$"])
@pytest.mark.parametrize("role", ["model", "question", "trial", "category", "by", "cost"])
def test_a_name_that_polars_reads_as_several_columns_is_refused(role, name):
    message = f"^{role} column {re.escape(repr(name))} has a name that Polars reads as no column or"
    with pytest.raises(ValueError, match=message):
        log(**{name: 1}).scorio(**{role: name}).avg()


@pytest.mark.parametrize(
    ("category", "what"),
    [
        (pl.col("category").drop_nulls(), "changes their number"),
        (pl.col("category").filter(pl.col("trial") > 0), "changes their number"),
        (pl.col("category").head(2), "changes their number"),
        (pl.col("each").explode(), "changes their number"),
        (pl.col("category").unique(), "makes one of all rows"),
        (pl.col("category").mean(), "makes one of all rows"),
    ],
    ids=str,
)
def test_a_category_is_one_of_each_row(category, what):
    message = f"^category=.* does not give each row a value of its own: it {what}. Filter, explode"
    with pytest.raises(ValueError, match=message):
        log(each=[[0, 1]] * 3).scorio(category=category).avg()


@pytest.mark.parametrize(
    "roles",
    [
        {"category": pl.col("category").rank().over("question") > 1},
        {"category": pl.when(pl.col("category") > 0).then(1).otherwise(0)},
        {"category": pl.col("each").list.max()},
        {"category": pl.col("category") > pl.col("category").mean()},
        {"model": pl.lit("ada"), "by": pl.col("model").first()},
        {"trial": pl.int_range(pl.len()).over("model", "question")},
    ],
)
def test_expressions_of_each_row_and_of_all_rows_are_roles(roles):
    assert log(each=[[0, 1]] * 3).scorio(**roles).avg().collect_schema()


def test_a_function_of_the_user_sees_no_made_up_rows():
    calls = []

    def judged(column: pl.Series) -> pl.Series:
        calls.append(len(column))
        return column

    verdict = pl.col("category").map_batches(judged, return_dtype=pl.Int64, is_elementwise=True)
    assert log().scorio(category=verdict).avg().collect_schema()
    assert calls == []


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
    column = {"by": "x", "category": "category"}[role]
    with pytest.raises(ValueError, match=f"two columns named '{name}'"):
        log(x="x").scorio(**{role: pl.col(column).alias(name)}).counts()


def test_a_role_is_one_column():
    with pytest.raises(ValueError, match=r"question must be one column, got 2: \['question', 'tr"):
        log().scorio(question=pl.col("question", "trial")).bayes()


def test_reading_the_log_fails_these_tests():
    with pytest.raises(AssertionError, match="the data were read"):
        log().scorio.bayes().collect()


def test_several_columns_identify_a_question():
    suites, cases = ["x", "x", "y", "y", "x/1"], [1, 2, 1, 2, 1]
    log = pl.DataFrame({"model": "m", "suite": suites, "case": cases, "category": [1, 0, 1, 1, 1]})
    assert log.scorio(question="case", trial=None).avg()["questions"].item() == 2
    for question in (["suite", "case"], ("suite", pl.col("case")), iter(["suite", "case"])):
        both = log.scorio(question=question, trial=None)
        assert both.avg().select("questions", "estimate").row(0) == (5, 0.8)
    assert "question  of suite, case" in repr(both)
    names = both.counts()["question"].unique().sort().to_list()
    assert names == ["x/1", "x/2", r"x\/1/1", "y/1", "y/2"]
    strata = log.scorio(question=["suite", "case"], by="suite", trial=None).avg()
    assert strata["questions"].to_list() == [2, 1, 2]
    unknown = log.with_columns(case=pl.Series([1, 2, 1, None, 1]))
    with pytest.raises(ValueError, match="question"):
        unknown.scorio(question=["suite", "case"], trial=None).avg()
    with pytest.raises(ValueError, match="question must be a column or several of them, got none"):
        log.scorio(question=[])
    with pytest.raises(TypeError, match=r"^question must be a column .*, or several of them, got"):
        log.scorio(question=["suite", 1])
