"""Expressions: what categories mean, and what is missing."""

from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import drawn, long

KEYS = ["domain", "model", "question"]
ENGINES = ["streaming", "in-memory"]
RUBRIC = [0, 0.5, 1]
CATEGORY = pl.col("category").scorio(success=2)
both_engines = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
def log():
    """Three models in two strata, six ragged questions each: 1 to 6 trials."""
    return drawn(8, range(6), most=6)


# --- what categories mean


@pytest.mark.parametrize(
    "dtype",
    [pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.String, pl.Categorical, pl.Enum([*"0123"])],
)
@both_engines
def test_the_dtype_of_the_categories_does_not_matter(log, dtype, engine):
    words = not dtype.is_numeric()
    trials = log.lazy().with_columns(
        pl.col("category").cast(pl.String if words else dtype).cast(dtype)
    )
    category = pl.col("category").scorio(success="2" if words else 2)
    w = {str(code): weight for code, weight in enumerate(RUBRIC)} if words else RUBRIC
    rows = trials.group_by(KEYS).agg(
        category.pass_at_k(2).alias("pass"), category.bayes(w).alias("bayes")
    )  # fmt: skip
    expected = log.group_by(KEYS).agg(
        CATEGORY.pass_at_k(2).alias("pass"), CATEGORY.bayes(RUBRIC).alias("bayes")
    )  # fmt: skip
    rows = rows.sort(KEYS).collect(engine=engine)
    assert_frame_equal(rows, expected.sort(KEYS), check_exact=True)


def test_true_is_a_success(log):
    solved = log.with_columns(category=pl.col("category") == 2)
    rows = solved.group_by(KEYS).agg(pl.col("category").scorio.pass_at_k(2)).sort(KEYS)
    assert_frame_equal(rows, log.group_by(KEYS).agg(CATEGORY.pass_at_k(2)).sort(KEYS))
    assert solved.select(pl.col("category").scorio(success=False).avg()).item() == pytest.approx(
        1 - solved["category"].mean()
    )


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_a_fraction_can_be_a_success_and_have_a_weight(dtype):
    trials = pl.DataFrame({"category": [0.1, 0.7, 0.1, 0]}, schema={"category": dtype})
    category = pl.col("category").scorio
    assert trials.select(category(success=0.1).avg()).item() == 0.5
    assert trials.select(category(success=0.1).max_at_k(1)).item() == 0.5
    assert trials.select(category.avg({0: 0, 0.1: 4, 0.7: 8})).item() == 4


@pytest.mark.parametrize(
    ("missing", "expected"),
    [("drop", 2 / 3), (0, 2 / 5), (1, 4 / 5), (False, 2 / 5), (1.0, 4 / 5)],
)
@pytest.mark.parametrize("success", [None, 1, (1, 3)])
def test_missing_is_dropped_or_a_category(missing, expected, success):
    trials = pl.DataFrame({"category": [0, 1, None, 1, float("nan")]}, strict=False)
    category = pl.col("category").scorio(success=success, missing=missing)
    assert trials.select(category.avg()).item() == pytest.approx(expected)
    if success is None:
        weighted = trials.select(category.bayes([10, 20])).item()
        assert weighted == pytest.approx(10 + 10 * expected)


def test_a_missing_label_can_be_a_category_too():
    grades = pl.DataFrame({"grade": ["good", None, "bad", "good"]})
    grade = partial(pl.col("grade").scorio, success="good")
    assert grades.select(grade(missing="crash").avg()).item() == 0.5
    assert grades.select(grade(missing="good").avg()).item() == 0.75
    weighed = pl.col("grade").scorio(missing="bad").avg({"bad": 0, "good": 8})
    assert grades.select(weighed).item() == 4


def test_a_group_whose_trials_were_all_dropped_has_no_number():
    trials = long([[None, None], [1, None]])
    category = pl.col("category").cast(pl.Int64).scorio(missing="drop")
    rows = trials.group_by("question").agg(
        category.avg(), category.posterior(ps.bayes()).struct.field("mu")
    )  # fmt: skip
    assert rows.sort("question").rows() == [(0, None, None), (1, 1.0, 2 / 3)]
