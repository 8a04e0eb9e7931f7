"""Reports as tables of SQL: queries as an analyst writes them, their values and their plans."""

import re
from math import comb, sqrt
from statistics import fmean

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long, scans, unreadable

# Benchmark and model: of four trials of each question, how many succeeded.
SOLVED = {
    ("code", "ada"): [4, 3, 2, 0],
    ("code", "bob"): [1, 0, 0, 2],
    ("code", "cyd"): [3, 3, 1, 0],
    ("math", "ada"): [2, 1, 0],
    ("math", "bob"): [4, 4, 3],
    ("math", "cyd"): [0, 1, 0],
}
VENDOR = {"ada": "north", "bob": "south", "cyd": "north"}
PRICE = {"ada": 4.0, "bob": 2.0, "cyd": 1.0}
METRICS = (ps.bayes(), ps.avg(), ps.pass_at_k([1, 2, 4]), ps.g_pass_at_k_tau(4, 0.5))


def average(key: tuple[str, str]) -> float:
    return fmean(c / 4 for c in SOLVED[key])


def passed(key: tuple[str, str], k: int) -> float:
    return fmean(1 - comb(4 - c, k) / comb(4, k) for c in SOLVED[key])


def bayes(key: tuple[str, str]) -> float:
    """Mean of Beta(1 + c, 5 - c), over the questions."""
    return fmean((1 + c) / 6 for c in SOLVED[key])


def sigma(key: tuple[str, str]) -> float:
    return sqrt(sum((1 + c) * (5 - c) / 252 for c in SOLVED[key])) / len(SOLVED[key])


def best(keys: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The keys by their posterior mean, best first."""
    return sorted(keys, key=bayes, reverse=True)


def of(benchmark: str) -> list[tuple[str, str]]:
    return [key for key in SOLVED if key[0] == benchmark]


Z = 1.959963984540054
QUERIES = {
    "where": (
        """SELECT model, mu, sigma FROM report
           WHERE metric = 'bayes' AND benchmark = 'code' ORDER BY model""",
        [(key[1], bayes(key), sigma(key)) for key in of("code")],
    ),
    "join": (
        """SELECT benchmark, model, vendor, estimate FROM report JOIN meta USING (model)
           WHERE metric = 'pass_at_k' AND k = 2 ORDER BY estimate DESC, model""",
        sorted(((*key, VENDOR[key[1]], passed(key, 2)) for key in SOLVED), key=lambda row: -row[3]),
    ),
    "left join": (
        """SELECT report.model, limits.budget FROM report LEFT JOIN limits
           ON report.model = limits.model
           WHERE metric = 'avg' AND benchmark = 'math' ORDER BY report.model""",
        [("ada", 100), ("bob", None), ("cyd", 50)],
    ),
    "group by": (
        """SELECT benchmark, COUNT(*) AS models, AVG(mu) AS mean, MAX(mu) AS top FROM report
           WHERE metric = 'bayes' GROUP BY benchmark ORDER BY benchmark""",
        [
            (name, 3, fmean(map(bayes, of(name))), max(map(bayes, of(name))))
            for name in ("code", "math")
        ],
    ),
    "having": (
        """SELECT vendor, SUM(trials) AS total FROM report JOIN meta USING (model)
           WHERE metric = 'avg' GROUP BY vendor HAVING total > 30""",
        [("north", 56)],
    ),
    "common table": (
        """WITH passed AS (
               SELECT benchmark, model, estimate FROM report WHERE metric = 'pass_at_k' AND k = 4
           ), tops AS (SELECT benchmark, MAX(estimate) AS most FROM passed GROUP BY benchmark)
           SELECT passed.benchmark, passed.model, most FROM passed
           JOIN tops ON passed.benchmark = tops.benchmark AND passed.estimate = tops.most
           ORDER BY passed.benchmark, passed.model""",
        [("code", "ada", 3 / 4), ("code", "cyd", 3 / 4), ("math", "bob", 1.0)],
    ),
    "difference by self join": (
        """SELECT a.benchmark, a.mu - b.mu AS ahead,
                  SQRT(POW(a.sigma, 2) + POW(b.sigma, 2)) AS sigma
           FROM report AS a JOIN report AS b
             ON a.benchmark = b.benchmark AND a.metric = b.metric
           WHERE a.metric = 'bayes' AND a.model = 'ada' AND b.model = 'bob'
           ORDER BY a.benchmark""",
        [
            (one[0], bayes(one) - bayes(other), sqrt(sigma(one) ** 2 + sigma(other) ** 2))
            for one, other in (
                (("code", "ada"), ("code", "bob")),
                (("math", "ada"), ("math", "bob")),
            )
        ],
    ),
    "rank": (
        """SELECT benchmark, model, RANK() OVER (PARTITION BY benchmark ORDER BY mu DESC) AS place
           FROM report WHERE metric = 'bayes' ORDER BY benchmark, place""",
        [(*key, i + 1) for name in ("code", "math") for i, key in enumerate(best(of(name)))],
    ),
    "union of benchmarks": (
        """SELECT 'code' AS source, model, estimate FROM code WHERE metric = 'avg'
           UNION ALL
           SELECT 'math' AS source, model, estimate FROM math WHERE metric = 'avg'
           ORDER BY source, model""",
        [(*key, average(key)) for key in SOLVED],
    ),
    "case": (
        """SELECT benchmark, model, CASE WHEN mu >= 0.6 THEN 'good' WHEN mu >= 0.4 THEN 'fair'
                  ELSE 'poor' END AS grade
           FROM report WHERE metric = 'bayes' ORDER BY benchmark, model""",
        [
            (*key, "good" if bayes(key) >= 0.6 else "fair" if bayes(key) >= 0.4 else "poor")
            for key in SOLVED
        ],
    ),
    "between": (
        """SELECT benchmark, model FROM report
           WHERE metric = 'bayes' AND 0.5 BETWEEN lo AND hi ORDER BY benchmark, model""",
        [key for key in SOLVED if abs(bayes(key) - 0.5) <= Z * sigma(key)],
    ),
    "in": (
        """SELECT model, k, estimate FROM report WHERE model IN ('ada', 'cyd') AND k IN (1, 2)
           AND metric = 'pass_at_k' AND benchmark = 'math' ORDER BY model, k DESC""",
        [(name, k, passed(("math", name), k)) for name in ("ada", "cyd") for k in (2, 1)],
    ),
    "like": (
        """SELECT DISTINCT metric, k FROM report WHERE metric LIKE 'g_pass%' OR metric LIKE '%es'
           ORDER BY metric""",
        [("bayes", None), ("g_pass_at_k_tau(tau=0.5)", 4)],
    ),
    "limit": (
        """SELECT benchmark, model, ROUND(mu, 3) AS mu FROM report WHERE metric = 'bayes'
           ORDER BY report.mu DESC LIMIT 2""",
        [(*key, round(bayes(key), 3)) for key in best(list(SOLVED))[:2]],
    ),
    "subquery as a table": (
        """SELECT vendor, AVG(top) AS mean FROM (
               SELECT model, MAX(estimate) AS top FROM report WHERE metric = 'avg' GROUP BY model
           ) AS tops JOIN meta USING (model) GROUP BY vendor ORDER BY vendor""",
        [("north", fmean([9 / 16, 7 / 16])), ("south", 11 / 12)],
    ),
    "subquery as a list": (
        """SELECT model, mu FROM report WHERE metric = 'bayes' AND benchmark = 'code'
           AND model IN (SELECT model FROM meta WHERE price < 3) ORDER BY model""",
        [(name, bayes(("code", name))) for name in ("bob", "cyd")],
    ),
    "subquery as a number": (
        """SELECT benchmark, model FROM report WHERE metric = 'avg'
           AND mu > (SELECT AVG(mu) FROM report WHERE metric = 'avg') ORDER BY benchmark, model""",
        [key for key in SOLVED if average(key) > fmean(map(average, SOLVED))],
    ),
    "is null": (
        """SELECT model, metric FROM report WHERE k IS NULL AND benchmark = 'code'
           AND estimate <> mu ORDER BY model""",
        [("ada", "bayes"), ("bob", "bayes"), ("cyd", "bayes")],
    ),
    "columns of a wide report": (
        # Bob and cyd gain the same on code, which the last bits could tell apart.
        """SELECT benchmark, model, pass_at_k_1, pass_at_k_4 - pass_at_k_1 AS gain, bayes_sigma
           FROM wide ORDER BY ROUND(pass_at_k_4 - pass_at_k_1, 9) DESC, model LIMIT 2""",
        [
            (*key, passed(key, 1), passed(key, 4) - passed(key, 1), sigma(key))
            for key in (("math", "ada"), ("code", "bob"))
        ],
    ),
    "value for money": (
        """SELECT vendor, MAX(bayes / price) AS value FROM wide JOIN meta USING (model)
           WHERE questions > 3 GROUP BY vendor ORDER BY value DESC""",
        [("north", bayes(("code", "cyd"))), ("south", bayes(("code", "bob")) / 2)],
    ),
    "self join of a wide report": (
        """SELECT a.model, b.bayes - a.bayes AS change FROM wide AS a
           JOIN wide AS b ON a.model = b.model
           WHERE a.benchmark = 'code' AND b.benchmark = 'math' ORDER BY change""",
        sorted(
            ((name, bayes(("math", name)) - bayes(("code", name))) for name in VENDOR),
            key=lambda row: row[1],
        ),
    ),
    "surely above": (
        """SELECT benchmark, model FROM wide WHERE bayes_lo > 0.5 OR bayes_hi < 0.45
           ORDER BY benchmark, model""",
        [
            key
            for key in SOLVED
            if bayes(key) - Z * sigma(key) > 0.5 or bayes(key) + Z * sigma(key) < 0.45
        ],
    ),
    "hardest questions": (
        """SELECT question, AVG(avg) AS solved, MAX(avg) AS most FROM questions
           WHERE benchmark = 'code' GROUP BY question HAVING most < 0.7 ORDER BY solved""",
        [(3, fmean([0, 2, 0]) / 4, 0.5), (2, fmean([2, 0, 1]) / 4, 0.5)],
    ),
    "overall rows": (
        """SELECT COALESCE(benchmark, 'all') AS part, model, estimate FROM overall
           WHERE benchmark IS NULL OR benchmark = 'math' ORDER BY part, model""",
        [
            *(
                ("all", name, fmean(average((part, name)) for part in ("code", "math")))
                for name in VENDOR
            ),
            *((*key, average(key)) for key in of("math")),
        ],
    ),
}
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
@pytest.mark.filterwarnings("ignore:`is_in` with a collection:DeprecationWarning")
@EACH
def test_polars_gives_the_rows_that_the_query_asks_for(scan, name):
    plan = understood(name, tables(scan))
    assert isinstance(plan, pl.LazyFrame)
    assert_rows(plan.collect().rows(), QUERIES[name][1])


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
