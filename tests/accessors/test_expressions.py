"""Metrics as expressions: on categories, on counts, wherever an aggregation is."""

import inspect

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

import polars_scorio as ps
from polars_scorio import metrics
from polars_scorio.metrics import metric as counted
from tests.exported_metrics import OF_COSTS
from tests.made_logs import drawn, long, unreadable

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
POSTERIOR = pl.Struct(dict.fromkeys(NUMBERS, pl.Float64))
KEYS = ["domain", "model", "question"]
# Votes need answers, and costs a column: an expression of categories has neither.
UNKNOWN = {"vote_at_k", *OF_COSTS}
FUNCTIONS = [name for name in metrics.__all__ if name.islower() and name not in UNKNOWN]
ENGINES = ["streaming", "in-memory"]
RUBRIC = [0, 0.5, 1]
CATEGORY = pl.col("category").scorio(success=2)
# Every metric, some of them more than once, each with a single k.
FAMILY = {
    **{f"{name}-{k}": getattr(ps, name)(k) for name in FUNCTIONS for k in (1, 3)
       if name.endswith("k") and "threshold" not in name},
    "tau": ps.g_pass_at_k_tau(3, 0.6),
    "spectrum": ps.threshold_spectrum_at_k(3, [0.2, 0.3, 0.5]),
    "tail": ps.tail_pass(3, 2),
    "cons": ps.maj_at_k(),
    "lam": ps.geo_spectrum_at_k(3, lam=0.3, weights=[0.4, 0.2, 0.4]),
    "powers": ps.geom_ds_at_k(1, pass_power=1.5, unanimous_power=0),
    "best": ps.max_at_k(2, RUBRIC),
    **{f"{metric.__name__}-{w}": metric(w) for metric in (ps.bayes, ps.avg)
       for w in (None, RUBRIC, [-1, 1e3, 7])},
}  # fmt: skip
BINARY = {name: metric for name, metric in FAMILY.items() if metric.w is None}
every_metric = pytest.mark.parametrize("metric", FAMILY.values(), ids=FAMILY)
both_engines = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
def log():
    """Three models in two strata, six ragged questions each: 1 to 6 trials."""
    return drawn(8, range(6), most=6)


@pytest.fixture
def calls(monkeypatch):
    """How many groups each call of Python was given."""
    seen, answer = [], counted.MetricOfCounts.__call__

    def counting(self: counted.MetricOfCounts, counts: np.ndarray) -> pl.Series:
        seen.append(len(counts))
        return answer(self, counts)

    monkeypatch.setattr(counted.MetricOfCounts, "__call__", counting)
    return seen


def reported(log: pl.DataFrame, metric: ps.Metric, **options: object) -> pl.DataFrame:
    """What a report says of each question."""
    accessor = log.scorio(by="domain", success=2, prior="uniform")
    report = accessor.report(metric, per="question", **options)
    return report.select(*KEYS, *NUMBERS)


def complaint(plan: pl.LazyFrame, engine: str) -> str:
    """The message of the error that a plan raises; Polars adds its own sentence later on."""
    with pytest.raises((ValueError, TypeError)) as caught:
        plan.collect(engine=engine)
    return str(caught.value).partition("\n\n")[0]


# --- the numbers


@pytest.mark.every(3)
@every_metric
def test_a_group_has_the_numbers_of_a_question_in_a_report(log, metric):
    posterior = CATEGORY.posterior(metric, confidence=0.8)
    rows = log.group_by(KEYS).agg(posterior).unnest("category").sort(KEYS)
    expected = reported(log, metric, confidence=0.8)
    assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.every(3)
@every_metric
def test_the_estimate_is_that_of_the_report(log, metric):
    rows = log.group_by(KEYS).agg(CATEGORY.estimate(metric)).sort(KEYS)
    expected = reported(log, metric).select(*KEYS, category="estimate")
    assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("bayes", (RUBRIC,), {}),
        ("avg", (), {"w": RUBRIC}),
        ("g_pass_at_k_tau", (3, 0.6), {}),
        ("max_at_k", (2,), {"w": RUBRIC, "bounds": None}),
        ("maj_at_k", (), {}),
        ("pass_at_k", (2,), {"name": "x"}),
        ("pass_hat_k", (2,), {"name": "x"}),
    ],
)
def test_a_usual_metric_is_a_method_with_the_same_arguments(log, name, arguments, options):
    function, method = getattr(ps, name), getattr(ps.ScorioExpr, name)
    own = inspect.signature(method).parameters.values()
    assert [*own][1:] == [*inspect.signature(function).parameters.values()]
    assert method.__doc__.splitlines()[0] == function.__doc__.splitlines()[0]
    short = getattr(CATEGORY, name)(*arguments, **options)
    metric = function(*arguments, **options)
    expected = log.group_by(KEYS).agg(CATEGORY.estimate(metric)).sort(KEYS)
    assert_frame_equal(log.group_by(KEYS).agg(short).sort(KEYS), expected, check_exact=True)


def test_every_metric_of_the_package_is_tried():
    assert {metric.name.partition("(")[0] for metric in FAMILY.values()} == set(FUNCTIONS)


def test_published_numbers_of_a_question():
    # The example of AISBench: 2, 2, 1 and 0 of 3 correct; pass@3 0.75, avg@3 0.4167, cons@3 0.5.
    trials = long([[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]])
    category = pl.col("category").scorio
    means = trials.group_by("question").agg(
        category.pass_at_k(3).alias("pass"), category.avg().alias("avg"),
        category.maj_at_k().alias("cons"),
    ).select(pl.col("pass", "avg", "cons").mean()).row(0)  # fmt: skip
    assert means == pytest.approx((0.75, 0.4167, 0.5), abs=5e-5)  # published to four decimals


# --- where an aggregation is


@both_engines
def test_engines_agree_to_the_last_digit(log, engine):
    plan = log.lazy().group_by(KEYS).agg(
        CATEGORY.posterior(metric).alias(name) for name, metric in FAMILY.items()
    )  # fmt: skip
    rows = plan.sort(KEYS).collect(engine=engine)
    assert_frame_equal(rows, plan.sort(KEYS).collect(engine="in-memory"), check_exact=True)
    assert rows.schema == plan.sort(KEYS).collect_schema()


@both_engines
def test_a_window_repeats_the_number_of_its_group(log, engine):
    posterior = CATEGORY.posterior(ps.pass_at_k(2)).over(KEYS).alias("posterior")
    rows = log.lazy().with_columns(posterior).collect(engine=engine)
    expected = log.join(reported(log, ps.pass_at_k(2)), on=KEYS, how="left", maintain_order="left")
    assert_frame_equal(rows.unnest("posterior"), expected, check_exact=True)
    solved = log.lazy().filter(CATEGORY.pass_at_k(2).over(KEYS) > 0.5).collect(engine=engine)
    assert_frame_equal(solved, expected.filter(pl.col("estimate") > 0.5).select(log.columns))


@both_engines
def test_group_by_dynamic_has_a_number_for_each_window(engine):
    outcomes = [0, 1, 1, 0, 1, 1, 1, 0]
    times = pl.DataFrame({"t": range(8), "model": "m", "category": outcomes}).lazy()
    category = pl.col("category").scorio
    for keys in ({}, {"group_by": "model"}):
        rows = times.sort("t").set_sorted("t").group_by_dynamic("t", every="4i", **keys).agg(
            category.pass_hat_k(2), category.posterior(ps.bayes()).alias("bayes")
        ).sort("t").collect(engine=engine)  # fmt: skip
        assert rows["category"].to_list() == pytest.approx([1 / 6, 3 / 6])
        assert rows["bayes"].struct.field("mu").to_list() == pytest.approx([3 / 6, 4 / 6])


@both_engines
def test_a_whole_column_is_one_question(log, engine):
    expected = log.with_columns(model=pl.lit("m"), question=1, domain=pl.lit("d"))
    expected = reported(expected.drop("trial").with_row_index("trial"), ps.pass_at_k(4))
    selected = log.lazy().select(CATEGORY.posterior(ps.pass_at_k(4)).alias("p"))
    assert selected.collect(engine=engine).unnest("p").rows() == expected.select(NUMBERS).rows()
    beside = log.lazy().with_columns(CATEGORY.pass_at_k(4).alias("all")).collect(engine=engine)
    assert beside["all"].to_list() == [expected["estimate"].item()] * log.height


@both_engines
def test_an_expression_of_outcomes_is_as_good_as_a_column(log, engine):
    solved = (pl.col("category") >= 1).filter(pl.col("trial") > 0).scorio
    rows = log.lazy().group_by(KEYS).agg(solved.avg()).sort(KEYS).collect(engine=engine)
    expected = log.group_by(KEYS).agg((pl.col("category") >= 1).filter(pl.col("trial") > 0).mean())
    assert_frame_equal(rows, expected.sort(KEYS))


@pytest.mark.parametrize(
    "ask",
    [
        lambda log, expr: log.group_by("question").agg(expr),
        lambda log, expr: log.select(expr.over("question")),
        lambda log, expr: log.sort("trial").group_by_dynamic("trial", every="10i").agg(expr),
        lambda log, expr: log.sort("trial").group_by_dynamic(
            "trial", every="10i", group_by="model").agg(expr),
    ],
    ids=["group_by", "over", "dynamic", "dynamic by model"],
)  # fmt: skip
@pytest.mark.parametrize("expr", [CATEGORY.pass_at_k(2), CATEGORY.posterior(ps.bayes(RUBRIC))])
def test_python_is_called_once_and_not_for_each_group(calls, ask, expr):
    rows = pl.int_range(20_000, eager=True)
    log = pl.LazyFrame(
        {"trial": rows, "category": rows % 3, "question": rows % 2_000}
    ).with_columns(model=pl.lit("m"))
    ask(log, expr).collect(engine="in-memory")
    assert calls == [2_000]
    calls.clear()
    ask(log, expr).collect(engine="streaming")
    # The streaming engine makes some calls, of many groups each, and of none.
    assert sum(calls) >= 2_000
    assert len(calls) < 20


@both_engines
def test_an_empty_frame_has_no_groups_and_a_null_of_its_column(log, engine):
    empty = log.clear().lazy()
    posterior = CATEGORY.posterior(ps.pass_at_k(2))
    grouped = empty.group_by(KEYS).agg(posterior, CATEGORY.avg().alias("avg"))
    assert grouped.collect(engine=engine).rows() == []
    selected = empty.select(posterior, CATEGORY.avg().alias("avg")).collect(engine=engine)
    assert selected.rows() == [(None, None)]
    assert selected.dtypes == [POSTERIOR, pl.Float64]
    assert empty.select(posterior.over("question")).collect(engine=engine).rows() == []


def test_the_schema_is_known_before_anything_is_read(log):
    plan = unreadable(log.schema).group_by("model").agg(
        CATEGORY.pass_at_k(2), CATEGORY.posterior(ps.bayes()).alias("posterior")
    )  # fmt: skip
    expected = {"model": pl.String, "category": pl.Float64, "posterior": POSTERIOR}
    assert plan.collect_schema() == expected


# --- typed code, and what is printed


def test_the_function_gives_the_accessor_of_an_expression(log):
    accessor = ps.scorio(pl.col("category"), success=2)
    assert isinstance(accessor, ps.ScorioExpr)
    assert repr(accessor) == '<scorio of col("category")>'
    rows = log.group_by(KEYS).agg(accessor.pass_at_k(2)).sort(KEYS)
    assert_frame_equal(rows, log.group_by(KEYS).agg(CATEGORY.pass_at_k(2)).sort(KEYS))


# --- on counts


@pytest.mark.every(3)
@pytest.mark.parametrize("metric", BINARY.values(), ids=BINARY)
def test_counts_have_the_numbers_of_the_trials(log, metric):
    counts = log.group_by(KEYS).agg(pl.len().alias("n"), (pl.col("category") == 2).sum().alias("c"))
    label = metric.name if metric.row_sizes == (None,) else f"{metric.name}_{metric.row_sizes[0]}"
    options = {"confidence": 0.8}
    rows = counts.select(*KEYS, metric.posterior_expr(n="n", successes=pl.col("c"), **options))
    expected = reported(log, metric, **options)
    assert_frame_equal(rows.unnest(label).sort(KEYS), expected, check_exact=True)
    estimates = counts.select(*KEYS, metric.expr(n=pl.col("n"), successes="c")).sort(KEYS)
    assert_series_equal(estimates[label], expected["estimate"], check_names=False, check_exact=True)


@both_engines
def test_counts_that_are_null_or_none_have_no_number(engine):
    counts = pl.LazyFrame({"n": [2, None, 2, 0, 1], "c": [1, 1, None, 0, 1]})
    metric = ps.pass_at_k(2)
    rows = counts.select(
        metric.expr(n="n", successes="c"),
        metric.posterior_expr(n="n", successes="c").struct.field("mu"),
    ).collect(engine=engine)
    # Beta(2, 2) and Beta(2, 1): 1 - 6/20 and 1 - 2/12.
    assert rows["pass_at_k_2"].to_list() == [1, None, None, None, None]
    assert rows["mu"].to_list() == [pytest.approx(0.7), None, None, None, pytest.approx(5 / 6)]
    nulls = pl.DataFrame({"n": [None], "c": [1]})
    assert nulls.select(metric.expr(n="n", successes="c")).item() is None


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.UInt64, pl.Int128])
def test_counts_may_have_any_integer_dtype(dtype):
    counts = pl.DataFrame({"n": [5, 5], "c": [3, 4]}, schema={"n": dtype, "c": pl.UInt32})
    assert counts.select(ps.pass_at_k(2).expr(n="n", successes="c")).to_series().to_list() == (
        pytest.approx([0.9, 1])
    )


@both_engines
def test_a_million_counts_have_few_states_and_numbers(calls, engine):
    row = pl.int_range(1_000_000, eager=True)
    counts = pl.LazyFrame({"n": row % 64 + 1, "c": row % 7}).with_columns(
        pl.min_horizontal("n", "c").alias("c")
    )
    metric = ps.pass_at_k(4)
    plan = counts.with_columns(
        metric.expr(n="n", successes="c"),
        metric.posterior_expr(n="n", successes="c").struct.field("mu", "sigma"),
    )
    rows = plan.collect(engine=engine)
    assert rows.columns == ["n", "c", "pass_at_k_4", "mu", "sigma"]
    some = rows.filter(pl.col("n") == 10, pl.col("c") == 3).unique()
    # 1 - C(7, 4) / C(10, 4), and 1 - 8 9 10 11 / (12 13 14 15) under Beta(4, 8): few factors,
    # so that a dozen roundings of 1.1e-16 fit into the tolerance several times.
    assert some["pass_at_k_4"].item() == pytest.approx(1 - 35 / 210, rel=1e-14)
    assert some["mu"].item() == pytest.approx(1 - 7920 / 32760, rel=1e-14)
    assert rows["pass_at_k_4"].null_count() == rows.filter(pl.col("n") < 4).height
    assert len(calls) < 100


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: ps.pass_at_k([1, 2]).expr(n="n", successes="c"), ValueError, r"got \[1, 2\]"),
        (
            lambda: ps.bayes(RUBRIC).expr(n="n", successes="c"),
            ValueError,
            r"^bayes\(w=\[0, 0.5, 1\]\): two columns .* omit w",
        ),
        (
            lambda: ps.max_at_k(2, [0, 1]).posterior_expr(n="n", successes="c"),
            ValueError,
            r"^max_at_k\(w=\[0, 1\]\): two columns",
        ),
        (lambda: ps.avg().expr(n=5, successes="c"), TypeError, "n must be a column .*, got 5"),
        (lambda: ps.avg().expr(n="n", successes=None), TypeError, "successes must .*, got None"),
        (
            lambda: ps.avg().posterior_expr(n="n", successes="c", confidence=0),
            ValueError,
            "confidence must be a number between 0 and 1, exclusive, got 0",
        ),
    ],
)
def test_wrong_arguments_of_counts_are_refused_at_the_call(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


@both_engines
@pytest.mark.parametrize(
    "counts", [{"all": [3, 4], "won": [1, 5]}, {"all": [3, 4], "won": [1, -1]}]
)
def test_counts_that_cannot_be_are_refused(counts, engine):
    plan = pl.LazyFrame(counts).with_columns(ps.avg().expr(n="all", successes="won"))
    assert complaint(plan, engine) == (
        "successes='won' must lie between 0 and n='all' in every row, and does not. Look for rows "
        "where it is negative, or larger."
    )


@both_engines
def test_counts_are_integers(engine):
    plan = pl.LazyFrame({"n": [3.0], "c": [1]}).select(ps.avg().expr(n="n", successes="c"))
    assert complaint(plan, engine) == "n='n' is Float64; counts are integers. Cast it to pl.Int64."
    plan = pl.LazyFrame({"n": [3], "c": ["1"]}).select(ps.avg().expr(n="n", successes="c"))
    assert complaint(plan, engine).startswith("successes='c' is String; counts are integers.")
