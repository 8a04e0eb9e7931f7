"""The DuckDB macros, in DuckDB on Parquet files, against the package."""

import duckdb
import mpmath as mp
import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import drawn


@pytest.fixture
def duck(tmp_path, monkeypatch):
    """A DuckDB that knows the macros, where Parquet files are written."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        connection.execute(ps.sql.duckdb_macros())
        yield connection


def rows(duck: duckdb.DuckDBPyConnection, columns: str, source: str = "'states.parquet'") -> list:
    return duck.execute(f"SELECT {columns} FROM {source}").fetchall()  # noqa: S608 - our own text


def column(duck: duckdb.DuckDBPyConnection, *query: str) -> list[float | None]:
    return [value for (value,) in rows(duck, *query)]


def states() -> pl.DataFrame:
    """Trials and successes at the edges and in between, up to 100,000 trials."""
    sizes = (1, 2, 5, 64, 1000, 100_000)
    rows = {(n, min(c, n)) for n in sizes for c in (0, 1, 2, n // 3, n // 2, n - 1, n)}
    types = {"n": pl.UInt32, "c": pl.UInt32}
    return pl.DataFrame(sorted(rows), schema=types, orient="row")


def told(frame: pl.DataFrame, expr: pl.Expr, least: float = 0) -> list[object]:
    """What the package says of each row."""
    return [
        # The two were seen 4e-13 apart; ln and exp of another machine's C library may add to it.
        value if value is None else pytest.approx(value, rel=1e-9, abs=least)
        for value in frame.select(expr).to_series().to_list()
    ]


def test_the_query_of_the_file_is_a_report(duck):
    log = drawn(1, range(40), most=8).filter(domain="web", model="a").drop("domain")
    log = log.filter(pl.len().over("question") >= 4).with_columns(pl.col("category").clip(0, 1))
    log = pl.concat([log, log.with_columns(model=pl.lit("b"), category=1 - pl.col("category"))])
    log.write_parquet("rollouts.parquet")
    text = ps.sql.duckdb_macros()
    query = text[text.index("SELECT") : text.index(";")].replace("--", "")
    table = duck.execute(f"{query} ORDER BY model").fetchall()
    report = log.scorio.pass_at_k(4, prior="uniform")
    assert report["questions"].to_list() == [25, 25]
    for i, name in enumerate(["estimate", "mu", "sigma"], start=1):
        assert [row[i] for row in table] == told(report, pl.col(name))


@pytest.mark.parametrize("k", [1, 2, 4, 64, 1000, 1024])
def test_macros_of_a_draw_equal_the_metrics(duck, k):
    counts = states()
    counts.write_parquet("states.parquet")
    estimates = {"pass_at_k": ps.pass_at_k(k), "pass_hat_k": ps.pass_hat_k(k)}
    for macro, metric in estimates.items():
        values = column(duck, f"{macro}(n, c, {k})")
        assert values == told(counts, metric.expr(n="n", successes="c"))
    posterior = ps.pass_at_k(k).posterior_expr(n="n", successes="c").struct
    means = column(duck, f"pass_at_k_mean(n, c, {k})")
    assert means == told(counts, posterior.field("mu"))
    sigmas = column(duck, f"sqrt(pass_at_k_var(n, c, {k}))")
    # The square of such a sigma is below the smallest float.
    assert sigmas == told(counts, posterior.field("sigma"), least=1e-160)


def test_macros_of_the_success_rate_equal_bayes(duck):
    counts = states()
    counts.write_parquet("states.parquet")
    posterior = ps.bayes().posterior_expr(n="n", successes="c").struct
    means = column(duck, "bayes_mu(n, c)")
    assert means == told(counts, posterior.field("mu"))
    sigmas = column(duck, "sqrt(bayes_var(n, c))")
    assert sigmas == told(counts, posterior.field("sigma"))


@pytest.mark.every(2)
@pytest.mark.parametrize("rewards", [[0, 0.5, 1], [1.5, 1.5, 30], [-3, -2, -0.25]])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_macro_of_levels_equals_max_at_k(duck, rewards, k):
    log = drawn(2, range(12), most=9)
    log.write_parquet("rollouts.parquet")
    levels = ", ".join(f"count(*) FILTER (category = {code})" for code in range(3))
    values = column(
        duck,
        f"max_at_k([{levels}], {rewards}, {k})",
        "'rollouts.parquet' GROUP BY domain, model, question ORDER BY domain, model, question",
    )
    report = log.scorio(by="domain").max_at_k(k, rewards, per="question", prior="uniform")
    assert None in values or k == 1
    assert values == told(report, pl.col("estimate"))


def test_max_at_k_of_opposite_signs_loses_what_cancels(duck):
    (value,) = column(duck, "max_at_k([1, 10000], [-10000, 1], 1)", "range(1)")
    # Exact is 0: one trial of -10,000 and 10,000 of 1. The file promises 1e-12 of the largest.
    assert value == pytest.approx(0, abs=1e-12 * 10_000)


def test_one_level_is_its_reward(duck):
    assert column(duck, "max_at_k([3], [2], 2)", "range(1)") == [2]
    assert column(duck, "max_at_k([3], [2], 4)", "range(1)") == [None]


def exact(n: int, c: int, k: int) -> list[mp.mpf]:
    """The six macros of counts by their definitions, in 400 digits."""
    with mp.workdps(400):
        drawn = mp.ff(n, k)
        miss, hit = (mp.ff(n - c, k) / drawn, mp.ff(c, k) / drawn) if k <= n else (1, 0)
        a, b = mp.mpf(1 + c), mp.mpf(1 + n - c)
        first, second = (mp.rf(b, size) / mp.rf(a + b, size) for size in (k, 2 * k))
        variance = a * b / ((a + b) ** 2 * (a + b + 1))
        return [1 - miss, hit, a / (a + b), variance, 1 - first, second - first**2]


@pytest.mark.parametrize("k", [1, 4, 1024])
def test_no_macro_loses_more_digits_than_the_file_says(duck, k):
    states().write_parquet("states.parquet")
    macros = [
        *(f"coalesce({name}(n, c, {k}), 0)" for name in ("pass_at_k", "pass_hat_k")),
        *("bayes_mu(n, c)", "bayes_var(n, c)"),
        *(f"{name}(n, c, {k})" for name in ("pass_at_k_mean", "pass_at_k_var")),
    ]
    for n, c, *values in rows(duck, ", ".join(["n", "c", *macros])):
        expected = [float(number) for number in exact(n, c, k)]
        # 1e-12 is what the file promises. Near the smallest float, 1e-308, digits get lost.
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-290), (n, c)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("pass_at_k(5, 6, 2)", "successes c must lie between 0 and the trials n"),
        ("pass_hat_k(5, -1, 2)", "successes c must lie between 0 and the trials n"),
        ("bayes_mu(5, 6)", "successes c must lie between 0 and the trials n"),
        ("bayes_var(5, 6)", "successes c must lie between 0 and the trials n"),
        ("pass_at_k_mean(5, 3, 0)", "the size k of a draw must be positive"),
        ("pass_at_k_var(5, 3, 0)", "the size k of a draw must be positive"),
        ("max_at_k([1, 2], [1, 0], 1)", "the rewards in ascending order"),
        ("max_at_k([1, 2, 3], [0, 1], 1)", "needs a count for each reward"),
        ("max_at_k([1, 2], [0, 1], 0)", "the size k of a draw must be positive"),
    ],
)
def test_what_cannot_be_is_an_error(duck, call, message):
    with pytest.raises(duckdb.Error, match=message):
        rows(duck, call, "range(1)")


def test_a_null_gives_a_null(duck):
    calls = "pass_at_k({}, 2), pass_hat_k({}, 2), bayes_mu({}), bayes_var({}), "
    calls += "pass_at_k_mean({}, 2), pass_at_k_var({}, 2)"
    for counts in ("NULL, 1", "3, NULL"):
        (row,) = rows(duck, calls.replace("{}", counts), "range(1)")
        assert row == (None,) * 6


def test_a_null_among_the_levels_gives_a_null(duck):
    for levels in ("[3, NULL, 1], [0, 0.5, 1]", "[3, 1], [NULL, 1]", "NULL, [0, 1]"):
        assert duck.execute(f"SELECT max_at_k({levels}, 2)").fetchone() == (None,)
    assert duck.execute("SELECT max_at_k([3, 1], [0, 1], NULL)").fetchone() == (None,)


@pytest.mark.parametrize(
    ("levels", "said"),
    [("[3, 1], [0, 1], 0", "size k of a draw"), ("[3, -1, 1], [0, 0.5, 1], 1", "not be negative")],
)
def test_levels_and_draws_that_cannot_be_are_errors(duck, levels, said):
    with pytest.raises(duckdb.Error, match=said):
        duck.execute(f"SELECT max_at_k({levels})").fetchone()


def test_the_query_of_the_file_leaves_missing_outcomes_out(duck):
    text = ps.sql.duckdb_macros()
    query = text[text.index("SELECT") : text.index(";")].replace("--", "").replace(", 4)", ", 1)")
    log = pl.DataFrame({"model": "m", "question": [1, 1, 2], "category": [1, None, 0]})
    log.write_parquet("rollouts.parquet")
    assert duck.execute(query).fetchone()[1] == 0.5


def test_a_mean_of_questions_is_null_where_one_has_too_few_trials(duck):
    alike = (
        "(VALUES ('a', 4, 2, 3), ('a', 4, 0, 1), ('b', 4, 4, 1), ('b', 1, 1, 1)) AS t (o, n, c, m)"
    )
    query = f"SELECT o, question_mean(pass_at_k(n, c, 2), m) FROM {alike} GROUP BY o ORDER BY o"  # noqa: S608
    assert duck.execute(query).fetchall() == [("a", pytest.approx(3 / 4 * 5 / 6)), ("b", None)]
