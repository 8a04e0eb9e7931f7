"""Expressions: what they refuse, at the call or at collection."""

import polars as pl
import pytest

import polars_scorio as ps

ENGINES = ["streaming", "in-memory"]
RUBRIC = [0, 0.5, 1]
both_engines = pytest.mark.parametrize("engine", ENGINES)


def complaint(plan: pl.LazyFrame, engine: str) -> str:
    """The message of the error that a plan raises; Polars adds its own sentence later on."""
    with pytest.raises((ValueError, TypeError)) as caught:
        plan.collect(engine=engine)
    return str(caught.value).partition("\n\n")[0]


# --- errors


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda c: c.pass_at_k([1, 4]), ValueError, r"^pass_at_k: .* single one, got \[1, 4\]"),
        (lambda c: c.pass_at_k(0), ValueError, "k must be a positive int .*, got 0"),
        (lambda c: c.posterior(ps.auc_at_k([2, 3])), ValueError, r"single one, got \[2, 3\]"),
        (lambda c: c.posterior("bayes"), TypeError, "posterior takes a .* 'bayes': write ps.bayes"),
        (lambda c: c.estimate(ps.bayes), TypeError, "estimate takes a metric .* call it, as in ps"),
        (lambda c: c.posterior(ps.bayes(), confidence=2), ValueError, r"confidence .*\(?0.*got 2"),
        (
            lambda c: c.posterior(ps.bayes(), prior="population"),
            TypeError,
            r"posterior\(\) got an unexpected keyword argument 'prior'",
        ),
        (lambda c: c(success=[]).avg(), ValueError, "success must name at least one category"),
        (lambda c: c(success={1: 0}), TypeError, r"success must be a category .*, got \{1: 0\}"),
        (lambda c: c(missing=2).avg(), ValueError, r"missing=2 is none of .* \[0, 1\]"),
        (lambda c: c(success=3).avg(RUBRIC), ValueError, r"success=3 is none of .* \[0, 1, 2\]"),
        (
            lambda c: c(success=["good", 1]).avg(),
            TypeError,
            r"all labels or all numbers, got \['good', 1\]",
        ),
        (
            lambda c: c(success="good").avg(RUBRIC),
            TypeError,
            r"all labels or all numbers, got \['good', 0, 1, 2\]",
        ),
        (lambda c: c(missing="crash").avg(), ValueError, r"'x' holds labels .* success="),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_at_the_call(ask, error, message):
    with pytest.raises(error, match=message):
        ask(pl.col("x").scorio)


@pytest.mark.parametrize("several", [pl.col("a", "b"), pl.all(), pl.col("^a.*$")])
def test_a_metric_is_one_of_a_single_column(several):
    with pytest.raises(ValueError, match="a metric is one of a single column, got "):
        several.scorio.avg()


CASES = {
    "missing": (
        [0, 1, None], {}, ps.avg(),
        (
            "a missing category (null or NaN in 'x'): .scorio(missing=\"drop\") skips such "
            "trials; a category, as in missing=0, counts them as such."
        ),
    ),
    "nan": ([0.0, 1.0, float("nan")], {}, ps.avg(), "a missing category (null or NaN in 'x'): "),
    "outside": (
        [0, 1, 2], {}, ps.pass_at_k(1),
        (
            "a category that is neither 0 nor 1 in 'x': recode it, pass w with a weight for every "
            "category, or name in .scorio(success=...) those that count as success. "
            "Real-valued rewards have estimates of avg, max_at_k and min_at_k, and no posterior."
        ),
    ),
    "too few weights": ([0, 1, 3], {}, ps.bayes(RUBRIC), "a category outside [0, 1, 2] in 'x': "),
    "unknown label": (
        ["a", "b"], {}, ps.bayes({"a": 0, "c": 1}), "a category outside ['a', 'c'] in 'x': ",
    ),
    "fraction": (
        [0.0, 0.5], {"success": 1}, ps.avg(),
        (
            "a category that is not a whole number in 'x': pass the least reward of a "
            "success, as in .scorio(threshold=0.5)."
        ),
    ),
    "infinite": (
        [0.0, float("inf")], {"success": 1}, ps.avg(),
        "a category that is not a whole number in 'x': ",
    ),
    "labels": (
        ["a", "b"], {}, ps.avg(),
        (
            "the category column 'x' holds labels (String): name the successes with "
            "success=, or weigh them all with w={label: weight, ...}"
        ),
    ),
    "digits as labels": (["0", "1"], {}, ps.avg(), "the category column 'x' holds labels (String)"),
    "number for labels": (
        ["a", "b"], {"success": 1}, ps.avg(),
        "success: 1 cannot be a category of 'x', which is String. Its categories are labels.",
    ),
    "label for numbers": (
        [0, 1], {"success": "good"}, ps.avg(),
        "success: 'good' cannot be a category of 'x', which is Int64. Its categories are numbers.",
    ),
    "not a truth value": (
        [True, False], {"success": 2}, ps.avg(),
        "success: 2 cannot be a category of 'x', which is Boolean. It holds true and false.",
    ),
    "negative power of zero": (
        [0, 0, 1], {}, ps.geom_at_k(2, unanimous_power=-1),
        "geom_at_k(unanimous_power=-1): a negative power of zero: ",
    ),
}  # fmt: skip


@both_engines
@pytest.mark.parametrize(("values", "roles", "metric", "message"), CASES.values(), ids=CASES)
def test_bad_categories_are_refused_at_collection(values, roles, metric, message, engine):
    trials = pl.LazyFrame({"question": [i % 2 for i, _ in enumerate(values)], "x": values})
    category = pl.col("x").scorio(**roles)
    for plan in (
        trials.select(category.posterior(metric)),
        trials.group_by("question").agg(category.posterior(metric)),
        trials.select(category.estimate(metric).over(pl.lit(1))),
    ):
        assert complaint(plan, engine).startswith(message)


@both_engines
@pytest.mark.parametrize("metric", [ps.avg(), ps.max_at_k(1)], ids=str)
def test_real_valued_rewards_have_no_posterior(metric, engine):
    rewards = pl.LazyFrame({"x": [0.0, 0.5]})
    plan = rewards.select(pl.col("x").scorio.posterior(metric))
    assert complaint(plan, engine).startswith("a category that is neither 0 nor 1 in 'x': ")


@both_engines
@pytest.mark.parametrize(
    ("missing", "dtype"), [(-1, pl.UInt8), (300, pl.Int8), (0.5, pl.Int64), (2**53 + 1, pl.Float64)]
)
def test_a_missing_category_that_the_column_cannot_hold_is_refused(missing, dtype, engine):
    trials = pl.LazyFrame({"question": [1, 1, 2], "x": [0, 1, None]}, schema_overrides={"x": dtype})
    category = pl.col("x").scorio(success=[1, missing], missing=missing)
    for plan in (
        trials.select(category.avg()),
        trials.group_by("question").agg(category.avg()),
        trials.select(category.avg().over("question")),
    ):
        said = complaint(plan, engine)
        assert said.startswith(
            f"missing={missing!r} is no value of the category column 'x', which is {dtype}. Name a "
            "category that it holds, or cast the column."
        )


@both_engines
@pytest.mark.parametrize("roles", [{}, {"success": "good"}, {"success": 2**60}], ids=str)
@pytest.mark.parametrize("dtype", [pl.List(pl.Int64), pl.Array(pl.String, 2)], ids=str)
def test_a_list_of_trials_is_no_category(roles, dtype, engine):
    trials = pl.LazyFrame(
        {"question": [1, 2], "x": [None, None]}, {"question": pl.Int64, "x": dtype}
    )
    category = pl.col("x").scorio(**roles)
    for plan in (trials.select(category.avg()), trials.group_by("question").agg(category.avg())):
        said = complaint(plan, engine)
        assert said.startswith(f"category column 'x' is {dtype}; a row is one trial. ")
        assert said.endswith(".explode(...) before.")


@both_engines
@pytest.mark.parametrize("dtype", [pl.Date, pl.Decimal(4, 1), pl.Duration("ms")])
def test_a_dtype_that_no_category_has_is_refused(dtype, engine):
    plan = pl.LazyFrame(schema={"x": dtype}).select(pl.col("x").scorio.avg())
    assert complaint(plan, engine).startswith(f"category column 'x' is {dtype}; a category is")


def test_categories_of_a_categorical_are_no_codes():
    grades = pl.DataFrame({"x": ["a", "b"]}, schema={"x": pl.Categorical})
    plan = grades.lazy().select(pl.col("x").scorio.avg())
    assert "'x' holds labels (Categorical)" in complaint(plan, "in-memory")
