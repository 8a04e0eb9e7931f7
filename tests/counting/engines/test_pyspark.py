"""DataFrames of PySpark over Parquet files, in local mode; the JVM takes seconds to start."""

import itertools
import os
import shutil

import polars as pl
import pytest

import polars_scorio as ps
from tests.counting.engines.cases import (
    COUNTED,
    LOG,
    REFUSED,
    assert_counted_as_polars_does,
    assert_refused_as_polars_does,
    written,
)

pytestmark = [pytest.mark.pyspark, pytest.mark.slow]
if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
    pytest.skip("PySpark needs Java", allow_module_level=True)


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("narwhals")
    sql = pytest.importorskip("pyspark.sql")
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        # Compiling, by the JVM or by Spark, takes longer than running on so few rows.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture
def frame(spark, tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())
    return lambda log: spark.read.parquet(str(written(log, next(folders))))


@pytest.mark.parametrize("case", COUNTED, ids=str)
def test_counts_are_those_of_polars(frame, case):
    assert_counted_as_polars_does(frame, case)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_errors_are_those_of_polars(frame, case):
    assert_refused_as_polars_does(frame, case)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int32, pl.Float32, pl.Boolean], ids=str)
def test_columns_keep_their_dtypes(frame, dtype):
    log = LOG.with_columns(pl.col("category").clip(0, 1).cast(dtype))
    counts = ps.count_trials(frame(log), by="domain")
    assert counts.schema == log.scorio(by="domain").counts().schema
