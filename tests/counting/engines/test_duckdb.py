"""Relations of DuckDB over Parquet files."""

import itertools

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting import engine_frames
from polars_scorio.counting.engine_frames import collect_engine
from tests.counting.engines.cases import (
    COUNTED,
    LOG,
    REFUSED,
    assert_counted_as_polars_does,
    assert_refused_as_polars_does,
    written,
)

pytestmark = pytest.mark.duckdb
nw = pytest.importorskip("narwhals.stable.v2")
duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def relation(tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())
    return lambda log: duckdb.read_parquet(f"{written(log, next(folders))}/*.parquet")


@pytest.mark.every(3)
@pytest.mark.parametrize("case", COUNTED, ids=str)
def test_counts_are_those_of_polars(relation, case):
    assert_counted_as_polars_does(relation, case)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_errors_are_those_of_polars(relation, case):
    assert_refused_as_polars_does(relation, case)


def test_columns_keep_their_dtypes(relation):
    log = LOG.with_columns(pl.col("category").cast(pl.Int8), pl.col("question").cast(pl.UInt16))
    counts = ps.count_trials(relation(log), by="domain")
    assert counts.schema == log.scorio(by="domain").counts().schema


def test_enums_and_uuids_have_an_order_to_sort_by():
    log = duckdb.sql("""
        SELECT 'm' AS model, md5(i::VARCHAR)::UUID AS question, i AS trial,
               (CASE WHEN i = 1 THEN 'wrong' ELSE 'right' END)::ENUM ('wrong', 'right') AS category
        FROM range(3) AS _(i)
    """)
    counts = ps.count_trials(log)
    assert counts.schema["category"] == pl.Enum(["wrong", "right"])
    assert counts.select("question", "category").rows() == [
        ("c4ca4238-a0b9-2382-0dcc-509a6f75849b", "wrong"),  # md5 of 1
        ("c81e728d-9d4c-2f63-6f06-7f89cc14862c", "right"),  # of 2
        ("cfcd2084-95d5-65ef-66e7-dff9f98764da", "right"),  # of 0
    ]


def test_nothing_but_counts_is_collected(relation, monkeypatch):
    heights = []

    def watched(frame: object) -> pl.DataFrame:
        heights.append(collect_engine(frame).height)
        return collect_engine(frame)

    monkeypatch.setattr(engine_frames, "collect_engine", watched)
    counts = ps.count_trials(relation(LOG), by="domain")
    assert heights == [counts.height]  # ids below 53 are summed in the same pass
    assert LOG.height > counts.height
    ps.count_trials(relation(LOG.with_columns(pl.col("trial") + 60)), by="domain")
    assert heights[1:] == [counts.height, counts.n_unique(["domain", "model", "question"])]


@pytest.mark.parametrize("ids", [
    [0, 0], [0, 0, 1], [1, 1, 2, 2], [0, 1, 1, 1, 1], [51, 51], [52, 52], [52] * 3, [52, 52, 51],
    [-1, -1], [-1, -1, 0], [0, 53], [None, 1], [2, 2, 3, 4, 4], [*range(52), 0],
])  # fmt: skip
def test_sums_of_powers_never_take_an_id_that_is_there_twice_for_two(relation, ids):
    log = pl.DataFrame({"model": "m", "question": 0, "trial": ids, "category": 1})
    engine = engine_frames.engine_log(relation(log), log.columns)
    counts = engine_frames.category_counts(
        engine, ["model", "question"], nw.col("category"), "trial"
    )
    assert not engine_frames.has_distinct_ids(counts, ["model", "question"])


@pytest.mark.parametrize("ids", [[0], [52], [3, 1, 2], [*range(53)], [*range(1, 53)], [5, 17, 40]])
def test_sums_of_powers_show_that_ids_differ(relation, ids):
    log = pl.DataFrame({"model": "m", "question": 0, "trial": ids, "category": ids})
    engine = engine_frames.engine_log(relation(log), log.columns)
    counts = engine_frames.category_counts(
        engine, ["model", "question"], nw.col("category"), "trial"
    )
    assert engine_frames.has_distinct_ids(counts, ["model", "question"])
