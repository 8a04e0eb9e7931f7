"""The portable query, in SQLite and DuckDB, against the package."""

import re
import sqlite3
from contextlib import closing

import duckdb
import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import drawn, outcomes

ENGINES = ("sqlite", "duckdb")


def asked(engine: str, log: pl.DataFrame, k: int, table: str = "trials") -> pl.DataFrame:
    """What an engine answers."""
    query, name = ps.sql.portable_query(k, table), '"' + table.replace('"', '""') + '"'
    columns = "model VARCHAR, question BIGINT, category BIGINT"
    module = sqlite3 if engine == "sqlite" else duckdb
    with closing(module.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE {name} ({columns})")
        rows = log.select("model", "question", pl.col("category").cast(pl.Int64)).rows()
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)  # noqa: S608 - ours
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return pl.DataFrame(cursor.fetchall(), schema=names, orient="row", infer_schema_length=None)


def numbers(values: pl.Series) -> list[object]:
    # All terms are positive: up to 20 questions and 5 products lose a few 1e-15.
    return [None if value is None else pytest.approx(value, rel=1e-12) for value in values]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_query_is_a_report(engine):
    log = (
        drawn(2, range(20), most=7).filter(domain="web").with_columns(pl.col("category").clip(0, 1))
    )
    log = log.filter((pl.len().over("model", "question") >= 4) | (pl.col("model") == "b"))
    found = asked(engine, log, 5)
    report = log.scorio.report(ps.pass_at_k(range(1, 6)), prior="uniform")
    assert found["k"].to_list() == report["k"].to_list() == [1, 2, 3, 4, 5] * 3
    assert found["questions"].to_list() == report["questions"].to_list()
    assert found["trials"].to_list() == report["trials"].to_list()
    assert report["estimate"].null_count() not in {0, 15}
    assert found["pass_at_k"].to_list() == numbers(report["estimate"])
    assert found["pass_at_k_mean"].to_list() == numbers(report["mu"])
    bayes = log.scorio.bayes()
    first = found.filter(k=1)
    assert first["bayes"].to_list() == numbers(bayes["mu"])
    assert first["bayes_variance"].to_list() == numbers(bayes["sigma"] ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "state", [(1, 0), (1, 1), (3000, 1), (3000, 2999), (3000, 0), (3000, 3000)]
)
def test_no_digits_are_lost_at_the_edges(engine, state):
    log = outcomes({state: 1})
    found = asked(engine, log, 256).row(-1, named=True)
    report = log.scorio.pass_at_k(256, prior="uniform").row(0, named=True)
    # 256 products, each rounded by 1.1e-16 at most: 3e-14 together.
    tolerance = pytest.approx(report["mu"], rel=1e-12)
    assert found["pass_at_k_mean"] == tolerance
    expected = report["estimate"]
    assert found["pass_at_k"] == (None if expected is None else pytest.approx(expected, rel=1e-12))


@pytest.mark.parametrize("engine", ENGINES)
def test_nulls_do_not_count_and_names_are_quoted(engine):
    log = outcomes({(4, 2): 2})
    nulls = log.with_columns(trial=pl.col("trial") + 4, category=pl.lit(None, pl.Int64))
    table = 'the "big" table; --'
    with_nulls = asked(engine, pl.concat([log, nulls.select(log.columns)]), 2, table)
    assert with_nulls.rows() == asked(engine, log, 2).rows()
    assert with_nulls["trials"].to_list() == [8, 8]


def test_the_text_uses_what_engines_share():
    query = ps.sql.portable_query(8)
    shared = """
        ALL AND AS AVG BY CASE CAST COUNT DISTINCT DOUBLE ELSE END FROM GROUP INTEGER JOIN ON ORDER
        PRECISION RECURSIVE SELECT SUM THEN UNION WHEN WHERE WITH
    """
    assert set(re.findall(r"[A-Z]+", re.sub(r"--.*", "", query))) <= set(shared.split())
    assert "$" not in query


@pytest.mark.parametrize("k", [0, -1, 2.5, "4", True])
def test_a_draw_size_is_a_positive_int(k):
    with pytest.raises(ValueError, match="k must be a positive int"):
        ps.sql.portable_query(k)
