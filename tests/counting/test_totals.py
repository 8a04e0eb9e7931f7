"""Totals per question become counts of failure and success."""

from math import inf, nan

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import long, unreadable


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
