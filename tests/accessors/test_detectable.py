"""The table of a plan: from arguments to the kernel, refusals, and laws of clusters and models."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv, ndtr
from scipy.stats import binomtest

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.made_logs import long


def difference(*arguments, **options):
    """The difference of one plan."""
    return ps.detectable_difference(*arguments, **options)["difference"].item()


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_the_range_is_that_of_most_benchmarks(target):
    row = ps.detectable_difference(100, 4, target=target).row(0, named=True)
    for name, spread, correlation in [
        ("difference", 0.6, 0.6), ("lowest", 0.8, 0.7), ("highest", 0.4, 0.5)
    ]:  # fmt: skip
        models = {"spread": spread, "correlation": correlation, "target": target}
        assert row[name] == difference(100, 4, **models)


def test_a_table_has_a_row_for_each_combination_whatever_is_asked():
    numbers = dict.fromkeys(("difference", "lowest", "highest"), pl.Float64)
    table = ps.detectable_difference([30, 100], [1, 4], rate=0.6)
    assert table.schema == {"questions": pl.Int64, "trials": pl.Int64, **numbers}
    assert table.select("questions", "trials", "difference").rows() == [
        (m, n, difference(m, n, rate=0.6)) for m in (30, 100) for n in (1, 4)
    ]
    assert ps.detectable_difference(30, 1, rate=0.6).equals(table.head(1))


def test_each_model_may_have_its_own_trials():
    table = ps.detectable_difference(100, (1, 16))
    assert table.columns[:3] == ["questions", "trials_a", "trials_b"]
    assert difference(100, 16) < table["difference"].item() < difference(100, 1)


@given(
    st.integers(2, 500),
    st.integers(1, 16),
    st.floats(0.05, 0.95),
    st.floats(0, 0.99),
    st.floats(0, 0.99),
    st.sampled_from(["benchmark", "population"]),
)
@settings(max_examples=50)
def test_the_range_holds_the_difference(questions, trials, rate, spread, correlation, target):
    models = {"rate": rate, "spread": spread, "correlation": correlation, "target": target}
    row = ps.detectable_difference(questions, trials, **models).row(0, named=True)
    assert row["lowest"] <= row["difference"] <= row["highest"]


def beta_log(questions, trials, spread, seed=5):
    """Two models whose rates share half of their spread: the sum of a common and an own part."""
    random = np.random.default_rng(seed)
    common, *own = random.normal(0, 1, (3, questions))
    size = 1 / spread - 1
    rates = [betaincinv(size / 2, size / 2, ndtr((common + each) / np.sqrt(2))) for each in own]
    return counted(random.binomial(trials, np.array(rates))[None], trials).frame


def test_a_plan_like_a_log_has_the_rate_spread_and_correlation_of_its_models():
    frame, n = beta_log(40, 5, 0.3), 5
    totals = frame.group_by("model", "question").agg(
        c=(pl.col("category").cast(pl.Int64) * pl.col("count")).sum()
    )
    a, b = (totals.filter(model=m).sort("question")["c"].to_numpy() / n for m in (0, 1))
    between = [y.var(ddof=1) - (y * (1 - y) / (n - 1)).mean() for y in (a, b)]
    alone = sum(y.mean() * (1 - y.mean()) for y in (a, b))
    models = {
        "rate": (a.mean() + b.mean()) / 2,
        "spread": sum(between) / alone,
        "correlation": np.cov(a, b)[0, 1] / np.sqrt(between[0] * between[1]),
    }
    like = frame.scorio(count="count")
    assert difference(100, 4, like=like) == pytest.approx(difference(100, 4, **models), rel=1e-9)
    own = models | {"spread": 0.2}
    assert difference(9, 2, like=like, spread=0.2) == pytest.approx(difference(9, 2, **own))
    # Of one model there is no correlation: the usual one stands for it.
    one = {"rate": a.mean(), "spread": between[0] / (a.mean() * (1 - a.mean()))}
    alone = frame.filter(model=0).scorio(count="count")
    assert difference(9, 2, like=alone) == pytest.approx(difference(9, 2, **one))


def test_a_large_log_tells_the_spread_of_its_population():
    like = beta_log(20_000, 4, 0.5).scorio(count="count")
    found = difference(500, 4, like=like)
    assert found == pytest.approx(difference(500, 4, spread=0.5), rel=0.02)


BINARY = [[0, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("log", "error", "said"),
    [
        (3, TypeError, r"^like must be a log with its roles, df.scorio\(...\), got 3"),
        (long(BINARY), TypeError, "^like must be a log with its roles"),
        (long([[0], [1], [1]]).scorio(), ValueError, ": 3 questions of a model have a single tri"),
        (long([[1, 1], [1, 1]]).scorio(), ValueError, "all outcomes of the log are alike"),
        (long([[0, 2.5], [1, 1]]).scorio(), ValueError, "takes outcomes from 0 to 1: pass bounds="),
        (long(BINARY).scorio(by=pl.lit(1).alias("x")), ValueError, "takes a log without strata"),
    ],
)
def test_a_log_that_tells_no_spread_is_refused(log, error, said):
    with pytest.raises(error, match=said):
        ps.detectable_difference(100, 4, like=log)


def test_more_models_and_clusters_need_larger_differences():
    alone = difference(200, 4, target="population")
    assert difference(200, 4, target="population", models=10) > alone
    together = difference(200, 4, target="population", cluster_size=5, icc=0.25)
    # 200 questions in clusters of 5 count as 100.
    assert together == difference(100, 4, target="population")


def test_a_plan_that_finds_nothing_is_infinite():
    assert difference(5, 1, rate=0.97) == float("inf")
    assert difference(5, 1, target="population", cluster_size=5, icc=1) == float("inf")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "questions"), [("benchmark", 200), ("population", 200), ("benchmark", 30)]
)
def test_the_difference_is_found_with_the_power(target, questions):
    # Rates have Beta distributions, independent between the models: correlation 0.
    trials, spread, logs = 4, 0.3, 200 if questions > 30 else 1_000
    gap = difference(questions, trials, spread=spread, correlation=0, target=target)
    random, rows = np.random.default_rng(8), []
    for log in range(logs):
        for model, rate in (("a", 0.5 + gap / 2), ("b", 0.5 - gap / 2)):
            size = (1 - spread) / spread
            rates = random.beta(rate * size, (1 - rate) * size, questions)
            if target == "benchmark":
                # The difference on these questions is exactly the planned one.
                rates = np.clip(rates + rate - rates.mean(), 0, 1)
            for question, c in enumerate(random.binomial(trials, rates)):
                rows.append((log, model, question, trials, int(c)))
    totals = pl.DataFrame(rows, schema=["log", "model", "question", "n", "c"], orient="row")
    accessor = ps.from_successes(totals).scorio(by="log", count="count")
    pairs = accessor.compare(ps.avg(), target=target)
    found = pairs.filter(better="a").height
    # Of 30 questions, a plan without what is uncertain of the variance had .70.
    assert binomtest(found, logs, 0.79).pvalue > 0.001


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 50], 4), "questions must be an int of at least 2, got 1"),
        ((50, 0), "trials must be a positive int, got 0"),
        ((50, (1, 2, 3)), r"trials must be a positive int, a tuple of two for both models, or a "),
    ],
)
def test_refuses_what_is_no_design(arguments, message):
    with pytest.raises(ValueError, match=message):
        ps.detectable_difference(*arguments)


@pytest.mark.parametrize("clusters", [{"cluster_size": 5}, {"icc": 0.25}])
def test_clusters_do_not_matter_about_the_very_questions(clusters):
    with pytest.raises(ValueError, match=r'^cluster_size and icc .*pass target="population"'):
        ps.detectable_difference(100, 4, **clusters)


def test_nonsense_about_clusters_is_refused_whatever_the_target():
    with pytest.raises(ValueError, match="cluster_size must be a number of at least 1, got -3"):
        ps.detectable_difference(100, 4, cluster_size=-3, icc=2)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({"rate": 0.9, "correlation": -1}, "with correlation=-1 and rate=0.9: the spread is at mo"),
        ({"rate": 0.1, "correlation": -0.5}, "at most 0.222 then"),
        ({"correlation": 1}, "spread=1 with correlation=1 means that both models solve the same"),
    ],
)
def test_a_spread_that_no_two_models_have_is_refused(design, message):
    with pytest.raises(ValueError, match=message):
        ps.detectable_difference(100, 4, spread=1, **design)
    assert difference(100, 4, spread=0.1, **design) > 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("rate", 1, "rate must be a number between 0 and 1, exclusive, got 1"),
        ("spread", 1.5, "spread must be a number from 0 to 1, got 1.5"),
        ("correlation", -2, "correlation must be a number from -1 to 1, got -2"),
        ("power", 0, "power must be a number between 0 and 1, exclusive, got 0"),
        ("models", 1, "models must be an int of at least 2, got 1"),
        ("cluster_size", 0.5, "cluster_size must be a number of at least 1, got 0.5"),
        ("target", "benchmrak", "did you mean 'benchmark'"),
    ],
)
def test_refuses_options_out_of_range(option, value, message):
    options = {"target": "population", option: value}
    with pytest.raises(ValueError, match=message):
        ps.detectable_difference(100, 4, **options)
