"""Reports as tables of SQL: queries as an analyst writes them, their values and their plans."""

import re

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long, scans, unreadable
from tests.study.sql_queries import METRICS, PRICE, QUERIES, SOLVED, VENDOR

EACH = pytest.mark.parametrize("name", QUERIES)


def log() -> pl.DataFrame:
    """The trials of SOLVED, one row each."""
    return pl.concat(
        long([[1] * c + [0] * (4 - c) for c in solved], model).with_columns(
            benchmark=pl.lit(benchmark)
        )
        for (benchmark, model), solved in SOLVED.items()
    )


def tables(trials: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    """The reports of a log, and what is known of its models."""
    accessor, models = trials.scorio(by="benchmark"), list(VENDOR)
    return {
        "report": accessor.report(*METRICS),
        "wide": accessor.report(*METRICS, wide=True),
        "questions": accessor.report(ps.avg(), per="question", wide=True),
        "overall": accessor.report(ps.avg(), overall="macro"),
        "code": trials.filter(benchmark="code").scorio.report(*METRICS),
        "math": trials.filter(benchmark="math").scorio.report(*METRICS),
        "meta": pl.LazyFrame(
            {"model": models, "vendor": list(VENDOR.values()), "price": list(PRICE.values())}
        ),
        "limits": pl.LazyFrame({"model": ["cyd", "ada"], "budget": [50, 100]}),
    }


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    path = tmp_path_factory.mktemp("sql") / "log.parquet"
    log().sample(fraction=1, shuffle=True, seed=0).write_parquet(path)
    return pl.scan_parquet(path)


@pytest.fixture(scope="module")
def collected(scan):
    return {name: table.collect() for name, table in tables(scan).items()}


def understood(name: str, frames: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """The plan of a query; skips the test where this Polars does not know it yet."""
    try:
        return pl.SQLContext(frames).execute(QUERIES[name][0])
    except pl.exceptions.SQLInterfaceError as error:
        if name not in {"rank", "subquery as a number"}:
            raise
        pytest.skip(f"SQL of Polars {pl.__version__}: {error}")


# --- values


def assert_rows(rows: list[tuple[object, ...]], expected: list[tuple[object, ...]]) -> None:
    assert len(rows) == len(expected) > 0
    for row, wanted in zip(rows, expected, strict=True):
        for value, want in zip(row, wanted, strict=True):
            # By hand, of few terms, and differences of these: rounding.
            assert value == (pytest.approx(want, rel=1e-12) if isinstance(want, float) else want)


# Polars 1.35 warns of its own way to look for a value in a subquery.
@pytest.mark.every(5)
@pytest.mark.filterwarnings("ignore:`is_in` with a collection:DeprecationWarning")
@EACH
def test_polars_gives_the_rows_that_the_query_asks_for(scan, name):
    plan = understood(name, tables(scan))
    assert isinstance(plan, pl.LazyFrame)
    assert_rows(plan.collect().rows(), QUERIES[name][1])


@pytest.mark.every(5)
@EACH
def test_duckdb_gives_the_same_rows(collected, name):
    duckdb = pytest.importorskip("duckdb")
    query, expected = QUERIES[name]
    with duckdb.connect() as connection:
        for table, frame in collected.items():
            connection.register(table, frame.to_arrow())
        rows = connection.execute(query).fetchall()
    assert_rows(rows, expected)


# --- names


ALL = (
    *(ps.bayes(), ps.bayes([0, 2]), ps.avg(), ps.pass_at_k([1, 2]), ps.pass_hat_k(2)),
    *(ps.unanimous_at_k(2), ps.g_pass_at_k(2), ps.g_pass_at_k_tau(2, 0.5), ps.mg_pass_at_k(2)),
    *(ps.maj_at_k(), ps.auc_at_k(2), ps.threshold_spectrum_at_k(2, [0.3, 0.7])),
    *(ps.geom_at_k(2), ps.geom_ds_at_k(2, pass_power=0.25), ps.geo_spectrum_at_k(2, lam=1e-3)),
    *(ps.geo_spectrum_star_at_k(2), ps.max_at_k(2, [-1, 1]), ps.bayes(name="1st try, strict")),
)


@pytest.mark.parametrize("wide", [False, True])
def test_no_name_needs_quotes(wide):
    rows = log().scorio(by="benchmark").report(*ALL, wide=wide)
    query = f"SELECT {', '.join(rows.columns)} FROM report"  # noqa: S608 - our own names
    keys = ["benchmark", "model", *([] if wide else ["metric", "k"])]
    query += f" ORDER BY {', '.join(keys)}"
    plan = pl.SQLContext(report=rows).execute(query)
    expected = rows.sort(*keys, nulls_last=True).rows()
    assert plan.collect().rows() == expected
    assert plan.collect_schema() == rows.schema
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("report", rows.to_arrow())
        result = connection.execute(query)
        assert [column[0] for column in result.description] == rows.columns
        assert result.fetchall() == expected


# --- plans


@pytest.mark.parametrize(
    ("query", "read"),
    [
        pytest.param(
            "SELECT mu FROM report WHERE model = 'ada' AND metric = 'bayes'", {"ada"}, id="tidy"
        ),
        pytest.param(
            "SELECT bayes FROM wide WHERE benchmark = 'code' AND model IN ('ada', 'bob')",
            {"code", "model"},
            id="wide",
        ),
        pytest.param(
            "SELECT question, avg FROM questions WHERE benchmark = 'code'", {"code"}, id="questions"
        ),
        pytest.param(
            "WITH ours AS (SELECT * FROM report WHERE metric = 'avg') "
            "SELECT model, mu FROM ours WHERE benchmark = 'math'",
            {"math"},
            id="common table",
        ),
        pytest.param(
            "SELECT model, hi FROM (SELECT model, hi, benchmark FROM report) AS inside "
            "WHERE benchmark = 'math' ORDER BY hi DESC LIMIT 2",
            {"math"},
            id="subquery",
        ),
        pytest.param(
            "SELECT benchmark, COUNT(*) AS rows FROM report WHERE model <> 'cyd' "
            "GROUP BY benchmark HAVING rows > 2",
            {"cyd"},
            id="group by",
        ),
        pytest.param(
            "SELECT report.model, vendor, mu FROM report JOIN meta ON report.model = meta.model "
            "WHERE report.benchmark = 'code'",
            {"code"},
            id="join",
        ),
    ],
)
def test_where_on_keys_reaches_the_one_scan(scan, query, read):
    plan = pl.SQLContext(tables(scan)).execute(query)
    ((_, selection),) = scans(plan)
    assert read <= set(re.findall(r'"(\w+)"', selection))
    assert plan.collect().height > 0


def test_where_on_numbers_does_not_reach_the_scan(scan):
    query = "SELECT mu FROM report WHERE metric = 'bayes' AND mu > 0.3 AND k IS NULL"
    assert [selection for _, selection in scans(pl.SQLContext(tables(scan)).execute(query))] == [""]


@EACH
def test_nothing_is_read_before_the_end(name):
    plan = understood(name, tables(unreadable(log().schema)))
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


def test_a_view_is_a_frame_again(scan):
    # What SQL returns can be registered and asked for once more.
    context = pl.SQLContext(tables(scan))
    context.register("ours", context.execute("SELECT * FROM wide WHERE model = 'ada'"))
    plan = context.execute("SELECT benchmark FROM ours WHERE bayes > 0.4")
    assert plan.collect().rows() == [("code",)]
    ((_, selection),) = scans(plan)
    assert '"ada"' in selection
