"""The functions of Spark SQL: by their text, and, where Spark and Java are, against the package."""

import os
import re
import shutil

import polars as pl
import pytest

import polars_scorio as ps

NAMES = ("pass_at_k", "pass_hat_k", "bayes_mu", "bayes_var", "pass_at_k_mean", "pass_at_k_var")


def test_every_statement_defines_one_function_after_those_that_it_calls():
    statements = ps.sql.spark_functions()
    defined = []
    for statement in statements:
        bare = re.sub(r"--.*", "", statement)
        (name,) = re.findall(r"CREATE OR REPLACE TEMPORARY FUNCTION (\w+)", bare)
        ours = set(re.findall(r"\b(are_counts|is_draw|bayes_\w+)\(", bare))
        assert ours - {name} <= set(defined)
        assert bare.count("(") == bare.count(")")
        defined.append(name)
    assert set(NAMES) <= set(defined)
    assert len(defined) == len(set(defined)) == 8


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("PySpark needs Java")
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        # Compiling, by the JVM or by Spark, takes longer than running on so few rows.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    for statement in ps.sql.spark_functions():
        session.sql(statement)
    yield session
    session.stop()


def states() -> pl.DataFrame:
    """Trials and successes at the edges and in between."""
    rows = {(n, min(c, n)) for n in (1, 2, 5, 64, 3000) for c in (0, 1, 2, n // 3, n - 1, n)}
    return pl.DataFrame(sorted(rows), schema={"n": pl.Int64, "c": pl.Int64}, orient="row")


def answers(spark, columns: str) -> list[tuple]:
    values = ", ".join(f"({n}, {c})" for n, c in states().rows())
    query = f"SELECT {columns} FROM VALUES {values} AS t(n, c) ORDER BY n, c"  # noqa: S608 - ours
    return [tuple(row) for row in spark.sql(query).collect()]


def told(expr: pl.Expr) -> list[object]:
    """What the package says of each state."""
    return [
        # The two were seen 2e-13 apart; ln and exp of another JVM may add to it.
        # The square of a sigma below 1e-160 is below the smallest float.
        value if value is None else pytest.approx(value, rel=1e-9, abs=1e-160)
        for value in states().select(expr).to_series()
    ]


@pytest.mark.pyspark
@pytest.mark.parametrize("k", [1, 4, 64])
def test_spark_agrees_with_the_package(spark, k):
    posterior = ps.pass_at_k(k).posterior_expr(n="n", successes="c").struct
    bayes = ps.bayes().posterior_expr(n="n", successes="c").struct
    expected = [
        told(ps.pass_at_k(k).expr(n="n", successes="c")),
        told(ps.pass_hat_k(k).expr(n="n", successes="c")),
        told(bayes.field("mu")),
        told(bayes.field("sigma")),
        told(posterior.field("mu")),
        told(posterior.field("sigma")),
    ]
    columns = (
        f"pass_at_k(n, c, {k}), pass_hat_k(n, c, {k}), bayes_mu(n, c), sqrt(bayes_var(n, c)), "
        f"pass_at_k_mean(n, c, {k}), sqrt(pass_at_k_var(n, c, {k}))"
    )
    found = [list(column) for column in zip(*answers(spark, columns), strict=True)]
    assert found == expected


@pytest.mark.pyspark
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("pass_at_k(5, 6, 2)", "successes c must lie between 0 and the trials n"),
        ("bayes_var(5, -1)", "successes c must lie between 0 and the trials n"),
        ("pass_at_k_var(5, 3, 0)", "the size k of a draw must be positive"),
    ],
)
def test_what_cannot_be_is_an_error(spark, call, message):
    with pytest.raises(Exception, match=message):
        spark.sql(f"SELECT {call}").collect()


@pytest.mark.slow
@pytest.mark.pyspark
def test_a_null_gives_a_null(spark):
    query = "SELECT pass_at_k(NULL, 1, 2), pass_hat_k(3, NULL, 2), bayes_mu(NULL, 1), "
    query += "pass_at_k_mean(3, 1, NULL), pass_at_k_var(NULL, 1, 2)"
    assert tuple(spark.sql(query).first()) == (None,) * 5
