import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

# Two models on ten questions with four trials each: cost and success rate.
ADA = (
    [1.2, 0.8, 3.5, 2.2, 1.1, 0.9, 4.0, 2.5, 1.7, 1.3],
    [1.0, 1.0, 0.0, 0.5, 0.75, 1.0, 0.0, 0.25, 0.5, 1.0],
)
BOB = (
    [0.91, 1.19, 1.75, 2.8, 0.63, 0.77, 1.54, 2.45, 0.56, 0.84],
    [1.0, 0.5, 0.0, 0.5, 1.0, 1.0, 0.25, 0.25, 0.5, 0.75],
)


def rows_of(model, cost, rate):
    trial = np.tile(np.arange(4), 10)
    return pl.DataFrame(
        {
            "model": model,
            "question": np.repeat(np.arange(10), 4),
            "trial": trial,
            "category": (trial < 4 * np.repeat(rate, 4)).astype(int),
            "usd": np.repeat(cost, 4),
        }
    )


@pytest.fixture(scope="module")
def log():
    return pl.concat([rows_of("ada", *ADA), rows_of("bob", *BOB)])


def test_reproduces_the_ratio_of_another_implementation(log):
    pair = log.scorio(cost="usd", target="population").compare(ps.cost_per_success())
    # The vectors of the method.
    expected = (1.3690476190476193, 0.781570440750193, 2.3981093520129937)
    assert pair.select("ratio", "lo", "hi").row(0) == pytest.approx(expected, rel=1e-9)
    assert pair["better"].item() is None


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_the_cheaper_model_is_the_better_one(log, target):
    dear = log.with_columns(usd=pl.when(model="ada").then(9 * pl.col("usd")).otherwise("usd"))
    costs = dear.scorio(cost="usd", target=target)
    pair = costs.compare(ps.mean_cost())
    assert pair["ratio"].item() > 5
    assert pair["lo"].item() > 1
    assert pair["better"].item() == "bob"
    ranks = costs.rank(ps.mean_cost())
    assert ranks["model"].to_list() == ["bob", "ada"]
    assert ranks["rank"].to_list() == ranks["rank_tied"].to_list() == [1, 2]
    assert ranks["estimate"].is_sorted()


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_swapping_the_models_inverts_the_ratio(log, target):
    costs = log.scorio(cost="usd", target=target)
    one, other = (
        costs.compare(ps.cost_per_success(), baseline=model).row(0, named=True)
        for model in ("ada", "bob")
    )
    assert one["ratio"] == pytest.approx(1 / other["ratio"])
    assert one["lo"] == pytest.approx(1 / other["hi"])


def test_a_model_without_a_success_has_no_ratio_and_no_rank(log):
    failed = log.with_columns(category=pl.when(model="ada").then(0).otherwise("category"))
    costs = failed.scorio(cost="usd")
    assert costs.compare(ps.cost_per_success()).select("ratio", "lo", "hi").row(0) == (None,) * 3
    ranks = costs.rank(ps.cost_per_success())
    assert ranks.select("model", "rank").rows() == [("bob", 1), ("ada", None)]


def test_single_trials_are_compared_as_a_sample_of_questions(log):
    first = log.filter(trial=0).with_columns(usd=pl.col("usd").sqrt())
    numbers = [
        first.scorio(cost="usd", target=target).compare(ps.mean_cost())
        for target in ("benchmark", "population")
    ]
    assert_frame_equal(*numbers)


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_strata_weigh_the_same_in_their_mean(log, target):
    more = log.with_columns(domain=pl.when(pl.col("question") < 3).then(0).otherwise(1))
    options = {"cost": "usd", "by": "domain", "target": target}
    pairs = more.scorio(**options).compare(ps.mean_cost(), overall="macro")
    report = more.scorio(**options).report(ps.mean_cost(), overall="macro")
    whole = report.filter(pl.col("domain").is_null())["estimate"]
    assert pairs["ratio"][-1] == pytest.approx(whole[0] / whole[1])
    assert pairs["lo"][-1] <= pairs["ratio"][-1] <= pairs["hi"][-1]


def test_clusters_are_the_sample_of_a_population(log):
    paired = log.with_columns(passage=pl.col("question") // 2)
    plain, clustered = (
        paired.scorio(cost="usd", target="population", **roles).compare(ps.mean_cost())["sigma"]
        for roles in ({}, {"cluster": "passage"})
    )
    assert not np.allclose(plain, clustered)


def test_an_empty_log_has_no_pairs(log):
    assert log.head(0).scorio(cost="usd").compare(ps.mean_cost()).is_empty()


def test_the_best_is_about_metrics_of_which_more_is_better(log):
    with pytest.raises(ValueError, match="best takes no metric of costs, got mean_cost: rank"):
        log.scorio(cost="usd").best(ps.mean_cost())


def test_the_ratio_reaches_further_where_a_dear_trial_makes_the_noise():
    rng = np.random.default_rng(3)
    frame = pl.concat(
        pl.DataFrame(
            {
                "model": model,
                "question": np.repeat(np.arange(40), 4),
                "trial": np.tile(np.arange(4), 40),
                "category": 1,
                "usd": rng.lognormal(0, 0.2, 160),
            }
        )
        for model in ("ada", "bob")
    )
    dear = pl.when(pl.col("model") == "ada", question=7, trial=0).then(20.0).otherwise("usd")
    pair = (
        frame.with_columns(usd=dear).scorio(cost="usd").compare(ps.mean_cost()).row(0, named=True)
    )
    down, up = np.log(pair["ratio"] / pair["lo"]), np.log(pair["hi"] / pair["ratio"])
    assert up > 3 * down
    even = frame.scorio(cost="usd").compare(ps.mean_cost()).row(0, named=True)
    # Of two models without a dear trial both sides are nearly as long.
    sides = np.log([even["ratio"] / even["lo"], even["hi"] / even["ratio"]])
    assert sides.max() < 1.15 * sides.min()
