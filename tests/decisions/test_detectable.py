"""The table of a plan: from arguments to the kernel, refusals, and laws of clusters and models."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import polars_scorio as ps


def test_lists_give_a_row_for_each_combination():
    table = ps.detectable([30, 100], [1, 4], rate=0.6)
    assert table.schema == {
        "questions": pl.Int64,
        "trials": pl.Int64,
        "difference": pl.Float64,
    }
    assert table.rows() == [
        (m, n, ps.detectable(m, n, rate=0.6)) for m in (30, 100) for n in (1, 4)
    ]


def test_each_model_may_have_its_own_trials():
    table = ps.detectable([100], (1, 16))
    assert table.columns == ["questions", "trials_a", "trials_b", "difference"]
    found = ps.detectable(100, (1, 16))
    assert table["difference"].item() == found
    assert ps.detectable(100, 16) < found < ps.detectable(100, 1)


# The study, to three digits: rate .5, spread .5, correlation .5.
@pytest.mark.parametrize(
    ("target", "found"),
    [("benchmark", [0.163, 0.070, 0.035]), ("population", [0.172, 0.123, 0.106])],
)
def test_published_examples(target, found):
    table = ps.detectable([100], [1, 4, 16], spread=0.5, target=target)
    np.testing.assert_allclose(table["difference"], found, atol=5e-4)


def test_more_models_and_clusters_need_larger_differences():
    alone = ps.detectable(200, 4, target="population")
    assert ps.detectable(200, 4, target="population", models=10) > alone
    together = ps.detectable(200, 4, target="population", cluster_size=5, icc=0.25)
    # 200 questions in clusters of 5 count as 100.
    assert together == ps.detectable(100, 4, target="population")


def test_a_plan_that_finds_nothing_is_infinite():
    assert ps.detectable(5, 1, rate=0.97) == float("inf")
    assert ps.detectable(5, 1, target="population", cluster_size=5, icc=1) == float("inf")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_the_difference_is_found_with_the_power(target):
    # Rates have Beta distributions, independent between the models: correlation 0.
    questions, trials, spread, logs = 200, 4, 0.3, 200
    gap = ps.detectable(questions, trials, spread=spread, correlation=0, target=target)
    random, rows = np.random.default_rng(8), []
    for log in range(logs):
        for model, rate in (("a", 0.5 + gap / 2), ("b", 0.5 - gap / 2)):
            size = (1 - spread) / spread
            rates = random.beta(rate * size, (1 - rate) * size, questions)
            if target == "benchmark":
                # The difference on these very questions is exactly the planned one.
                rates = np.clip(rates + rate - rates.mean(), 0, 1)
            for question, c in enumerate(random.binomial(trials, rates)):
                rows.append((log, model, question, trials, int(c)))
    totals = pl.DataFrame(rows, schema=["log", "model", "question", "n", "c"], orient="row")
    accessor = ps.from_successes(totals).scorio(by="log", count="count")
    inference = None if target == "population" else "calibrated"
    pairs = accessor.compare(ps.avg(), target=target, inference=inference)
    found = pairs.filter(better="a").height
    # The study has a power of .70 to .84, and .64 to .84.
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
        ps.detectable(*arguments)


@pytest.mark.parametrize("clusters", [{"cluster_size": 5}, {"icc": 0.25}])
def test_clusters_do_not_matter_about_the_very_questions(clusters):
    with pytest.raises(ValueError, match=r'^cluster_size and icc .*pass target="population"'):
        ps.detectable(100, 4, **clusters)


def test_nonsense_about_clusters_is_refused_whatever_the_target():
    with pytest.raises(ValueError, match="cluster_size must be a number of at least 1, got -3"):
        ps.detectable(100, 4, cluster_size=-3, icc=2)


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
        ps.detectable(100, 4, spread=1, **design)
    assert ps.detectable(100, 4, spread=0.1, **design) > 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("rate", 1, "rate must be a number between 0 and 1, without the ends, got 1"),
        ("spread", 1.5, "spread must be a number from 0 to 1, got 1.5"),
        ("correlation", -2, "correlation must be a number from -1 to 1, got -2"),
        ("power", 0, "power must be a number between 0 and 1, without the ends, got 0"),
        ("models", 1, "models must be an int of at least 2, got 1"),
        ("cluster_size", 0.5, "cluster_size must be a number of at least 1, got 0.5"),
        ("target", "benchmrak", "did you mean 'benchmark'"),
    ],
)
def test_refuses_options_out_of_range(option, value, message):
    options = {"target": "population", option: value}
    with pytest.raises(ValueError, match=message):
        ps.detectable(100, 4, **options)
