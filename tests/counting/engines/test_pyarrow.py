"""Tables of pyarrow."""

import polars as pl
import pyarrow as pa
import pytest

import polars_scorio as ps
from tests.counting.engines.cases import (
    COUNTED,
    LABELS,
    LOG,
    REFUSED,
    WORDS,
    assert_counted_as_polars_does,
    assert_refused_as_polars_does,
)

pytestmark = pytest.mark.pyarrow
pytest.importorskip("narwhals")


@pytest.mark.every(5)
@pytest.mark.parametrize("case", COUNTED, ids=str)
def test_counts_are_those_of_polars(case):
    assert_counted_as_polars_does(pl.DataFrame.to_arrow, case)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_errors_are_those_of_polars(case):
    assert_refused_as_polars_does(pl.DataFrame.to_arrow, case)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Float32, pl.Boolean], ids=str)
def test_columns_keep_their_dtypes(dtype):
    log = LOG.with_columns(
        pl.col("category").clip(0, 1).cast(dtype), pl.col("question").cast(pl.Int16)
    )
    counts = ps.count_trials(log.to_arrow(), by="domain")
    assert counts.schema == log.scorio(by="domain").counts().schema


def in_two_parts(values: list[object]) -> pa.ChunkedArray:
    """Values and the same backwards: their dictionaries number them differently."""
    return pa.chunked_array([pa.array(half).dictionary_encode() for half in (values, values[::-1])])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        pytest.param(["bad", "good", None], pl.Categorical, id="words"),
        pytest.param([0, 1, None], pl.Int64, id="numbers"),
    ],
)
def test_parts_may_number_their_dictionaries_differently(values, dtype):
    model = in_two_parts(["a", "b", "a"])
    log = pa.table({"model": model, "question": [7] * 6, "category": in_two_parts(values)})
    counts = ps.count_trials(log, trial=None, missing="drop")
    assert counts.schema["model"] == pl.Categorical
    assert counts.schema["category"] == dtype
    bad, good, _ = values
    assert counts.rows() == [("a", 7, None, 2), ("a", 7, bad, 2), ("b", 7, good, 2)]


def test_labels_of_a_table_are_weighed():
    log = LABELS.with_columns(pl.col("category").cast(pl.Categorical)).to_arrow()
    counts = ps.count_trials(log, by="domain")
    w = dict(zip(WORDS, (0, 0.5, 1), strict=True))
    report = counts.scorio(by="domain", count="count").bayes(w=w)
    assert report.equals(LABELS.scorio(by="domain").bayes(w=w))
