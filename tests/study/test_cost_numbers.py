import warnings

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

METRICS = (ps.mean_cost(), ps.cost_per_success(), ps.cost_to_solve([1, 2]))
NUMBERS = ["estimate", "sigma", "lo", "hi"]


@pytest.fixture(scope="module")
def log():
    """Two models on two strata of 30 and 10 questions with three trials each."""
    rng = np.random.default_rng(34)
    question = np.tile(np.repeat(np.arange(40), 3), 2)
    rate = np.linspace(0.1, 0.9, 40)[question]
    return pl.DataFrame(
        {
            "model": np.repeat(["ada", "bob"], 120),
            "domain": np.where(question < 30, "air", "bus"),
            "question": question,
            "trial": np.tile(np.arange(3), 80),
            "category": (rng.random(240) < rate).astype(int),
            "usd": rng.lognormal(-rate, 0.6),
            "passage": question // 2,
        }
    )


def costs(frame, **roles):
    return frame.scorio(cost="usd", **roles)


def test_one_try_costs_what_a_success_costs(log):
    report = costs(log).report(*METRICS)
    of_success = report.filter(metric="cost_per_success").select(NUMBERS)
    one_try = report.filter(pl.col("k") == 1).select(NUMBERS)
    assert_frame_equal(of_success, one_try)


def test_the_ratio_is_that_of_the_means(log):
    mean, per_success = (costs(log).report(each)["estimate"] for each in METRICS[:2])
    accuracy = log.scorio.avg()["estimate"]
    np.testing.assert_allclose(per_success, mean / accuracy, rtol=1e-12)


def test_facts_stand_beside_costs_alone(log):
    never = log.with_columns(category=pl.when(question=0).then(0).otherwise("category"))
    report = costs(never).report(ps.avg(), ps.mean_cost()).filter(model="ada")
    unsolved = (
        never.filter(model="ada").group_by("question").agg(pl.col("category").max())["category"]
    )
    usd = never.filter(model="ada")["usd"]
    assert report["unbounded"].to_list() == [None, False]
    assert report["unsolved"].to_list() == [None, pytest.approx((unsolved == 0).mean())]
    share = usd.max() / usd.sum()
    assert report["largest_cost_share"].to_list() == [None, pytest.approx(share)]


def test_reports_without_costs_have_no_columns_of_costs(log):
    assert "unbounded" not in costs(log).avg().columns


def test_without_a_success_there_is_no_upper_end(log):
    failed = log.with_columns(category=pl.when(model="ada").then(0).otherwise("category"))
    ada, bob = costs(failed).report(ps.cost_per_success()).rows(named=True)
    assert (ada["estimate"], ada["sigma"], ada["hi"], ada["unbounded"]) == (None, None, None, True)
    assert ada["unsolved"] == 1
    assert ada["lo"] > 0
    assert ada["inference"] == "calibrated"
    assert not bob["unbounded"]


def test_more_tries_than_trials_have_no_number(log):
    row = costs(log).report(ps.cost_to_solve(4)).row(0, named=True)
    assert [row[name] for name in NUMBERS] == [None] * 4
    assert not row["unbounded"]


def test_strata_weigh_the_same_in_their_mean(log):
    strata = costs(log, by="domain")
    macro = strata.report(*METRICS, overall="macro").filter(pl.col("domain").is_null())
    mean = (
        strata.report(ps.mean_cost()).group_by("model").agg(pl.col("estimate").mean()).sort("model")
    )
    rate = strata.avg().group_by("model").agg(pl.col("estimate").mean()).sort("model")
    expected = mean["estimate"] / rate["estimate"]
    found = macro.filter(metric="cost_per_success")["estimate"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_pool_of_all_strata_is_the_log_without_strata(log):
    pool = (
        costs(log, by="domain").report(*METRICS, overall="micro").filter(pl.col("domain").is_null())
    )
    whole = costs(log).report(*METRICS)
    assert_frame_equal(pool.drop("domain"), whole)


def test_clusters_widen_intervals_of_a_population_alone(log):
    plain, clustered = (
        costs(each, **roles) for each, roles in ((log, {}), (log, {"cluster": "passage"}))
    )
    options = {"target": "population"}
    one, other = (each.report(ps.mean_cost(), **options)["sigma"] for each in (plain, clustered))
    assert not np.allclose(one, other)
    assert_frame_equal(
        plain.report(ps.mean_cost()).select(NUMBERS),
        clustered.report(ps.mean_cost()).select(NUMBERS),
    )


def test_lazy_equals_eager_and_reads_nothing_before(log):
    lazy = costs(log.lazy()).report(*METRICS)
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), costs(log).report(*METRICS))


def test_questions_have_numbers_of_their_own(log):
    report = costs(log).report(ps.mean_cost(), per="question").filter(model="ada")
    own = log.filter(model="ada").group_by("question").agg(pl.col("usd").mean()).sort("question")
    np.testing.assert_allclose(report["estimate"], own["usd"], rtol=1e-12)
    assert report["lo"].null_count() == 0


@pytest.fixture
def dear():
    questions = pl.DataFrame(
        {"question": pl.int_range(40, eager=True) // 2, "category": [0, 1] * 20}
    )
    one = questions.with_columns(model=pl.lit("ada"), usd=1.0)
    first = pl.int_range(pl.len()) == 0
    other = questions.with_columns(
        model=pl.lit("bob"), usd=pl.when(first).then(20.0).otherwise(1.0)
    )
    return pl.concat([one, other])


def test_a_trial_with_a_fifth_of_the_cost_is_warned_of(dear):
    with pytest.warns(ps.CostWarning, match=r"1 group, the first at model='bob': 34%"):
        dear.scorio(trial=None, cost="usd").report(ps.mean_cost())


def test_other_reports_are_silent(dear):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dear.scorio(trial=None, cost="usd").avg()
        dear.filter(model="ada").scorio(trial=None, cost="usd").report(ps.mean_cost())
