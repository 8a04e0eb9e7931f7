"""Numbers of real-valued rewards in reports and comparisons, through the public methods."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

import polars_scorio as ps
from tests.differences import plus_two
from tests.documents import study_numbers
from tests.maths.rewards_oracle import reward_interval

CASES = study_numbers("rewards")["intervals"]
NUMBERS = ["estimate", "sigma", "lo", "hi"]
CALIBRATED = {"trial": None}


def log_of(**models):
    return pl.DataFrame(
        [
            {"model": model, "question": question, "category": float(reward)}
            for model, logs in models.items()
            for question, rewards in enumerate(logs)
            for reward in rewards
        ]
    )


@pytest.fixture
def log():
    rng = np.random.default_rng(7)
    means = rng.uniform(0.2, 0.7, 60)
    return log_of(
        **{
            name: np.clip(rng.normal(means[:, None] + shift, 0.1, (60, 4)), 0, 1)
            for name, shift in (("a", 0.0), ("b", 0.1), ("c", 0.2))
        }
    )


def test_benchmark_intervals_equal_the_vectors_of_the_study():
    for case in CASES:
        options, flat = case["options"], {x for rewards in case["rewards"] for x in rewards}
        binary = flat <= {0.0, 1.0}
        if binary:
            continue
        roles = {**CALIBRATED, "confidence": options.get("confidence", 0.95)}
        k = options.get("k", 1)
        metric = ps.avg() if k == 1 else ps.max_at_k(k)
        bounds = tuple(options["bounds"]) if "bounds" in options else None
        report = log_of(m=case["rewards"]).scorio(**roles, bounds=bounds).report(metric)
        expected = [case["result"][name] for name in NUMBERS]
        assert report.select(NUMBERS).row(0) == tuple(
            each if each is None else pytest.approx(each, abs=1e-9) for each in expected
        )
        assert report["bounds"].to_list() == ["given" if "bounds" in options else "observed"]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_min_at_k_mirrors_max_at_k(log, k):
    mirrored = log.with_columns(category=0.3 - pl.col("category"))
    worst = log.scorio(**CALIBRATED, bounds=(0, 1)).report(ps.min_at_k(k))
    best = mirrored.scorio(**CALIBRATED, bounds=(-0.7, 0.3)).max_at_k(k)
    for name, other in (("estimate", "estimate"), ("lo", "hi"), ("hi", "lo")):
        assert worst[name].to_list() == pytest.approx((0.3 - best[other]).to_list(), abs=1e-9)


def test_an_average_of_rewards_is_the_best_of_one(log):
    report = log.scorio(**CALIBRATED).report(ps.avg(), ps.max_at_k(1), ps.min_at_k(1))
    rows = [report.filter(pl.col("model") == "b").select(NUMBERS).row(i) for i in range(3)]
    for one, other in pairwise(rows):
        assert one == pytest.approx(other, abs=1e-9)


def test_a_range_of_the_metric_goes_before_that_of_the_accessor(log):
    accessor = log.scorio(**CALIBRATED, bounds=(-5, 5))
    report = accessor.report(ps.avg(bounds=(0, 1)), ps.avg(name="wide"))
    narrow, wide = report.filter(pl.col("model") == "a").iter_rows(named=True)
    alone = log.scorio(**CALIBRATED).avg(bounds=(0, 1)).row(0, named=True)
    assert [narrow[name] for name in NUMBERS] == pytest.approx([alone[name] for name in NUMBERS])
    assert wide["lo"] < narrow["lo"] < narrow["hi"] < wide["hi"]


def test_all_models_of_a_stratum_share_the_range_that_is_observed(log):
    report = log.scorio(**CALIBRATED).avg()
    flat = log["category"]
    for (model,), rows in log.group_by("model"):
        logs = [part["category"].to_list() for part in rows.partition_by("question")]
        _, _, lo, hi = reward_interval(logs, bounds=(flat.min(), flat.max()))
        found = report.filter(pl.col("model") == model).select("lo", "hi").row(0)
        assert found == pytest.approx((lo, hi), abs=1e-9)


@pytest.mark.parametrize("k", [3, 5])
def test_beyond_the_trials_a_given_range_has_an_end_for_short_questions(k):
    logs = [[0.1, 0.4, 0.3, 0.9], [0.5, 0.2], [0.7], [0.3, 0.35, 0.2], [0.9, 0.1, 0.4, 0.6]]
    log = log_of(a=logs).scorio(**CALIBRATED, bounds=(0, 1))
    mirrored = log_of(a=[[1 - x for x in rewards] for rewards in logs])
    best = log.report(ps.max_at_k(k))
    worst = mirrored.scorio(**CALIBRATED, bounds=(0, 1)).report(ps.min_at_k(k))
    low, high = (reward_interval(logs, k=k, bounds=(0, 1), upper=up) for up in (False, True))
    found = best.select("inference", *NUMBERS).row(0)
    assert found[:3] == ("range", None, None)
    assert found[3:] == pytest.approx((low[2], high[3]), abs=1e-9)
    ends = 1 - worst["hi"].item(), 1 - worst["lo"].item()
    assert ends == pytest.approx(found[3:], abs=1e-9)


def test_a_range_of_a_population_has_an_end_for_short_questions():
    logs = [[0.1, 0.4, 0.9], [0.5, 0.2], [0.7], [0.3, 0.35, 0.2]]
    log = log_of(a=logs).scorio(**CALIBRATED, bounds=(0, 1), target="population")
    found = log.report(ps.max_at_k(3)).select("lo", "hi").row(0)
    ends = []
    for values, sign in (([0.9, 0.5, 0.7, 0.35], -1), ([0.9, 1, 1, 0.35], 1)):
        centre, sigma, freedom = plus_two(values, (0, 1))
        ends.append(min(max(centre + sign * t.ppf(0.975, freedom) * sigma, 0), 1))
    assert found == pytest.approx(ends, abs=1e-12)


def test_beyond_the_trials_nothing_is_known_of_rewards_without_a_range(log):
    rows = log.scorio(**CALIBRATED).report(ps.max_at_k([4, 5]))
    assert rows.filter(k=5).select(NUMBERS).null_count().row(0) == (3,) * 4
    assert rows.filter(k=4).select(NUMBERS).null_count().row(0) == (0,) * 4


def test_a_filter_of_the_models_changes_no_number(log):
    report = log.lazy().scorio(**CALIBRATED).avg()
    one = report.filter(pl.col("model") == "a").collect()
    assert one.equals(report.collect().filter(pl.col("model") == "a"))


def test_rewards_of_0_and_1_have_the_numbers_of_outcomes(log):
    binary = log.with_columns(category=(pl.col("category") > 0.4).cast(pl.Float64))
    metrics = ps.avg(), ps.max_at_k([2, 4]), ps.min_at_k(2)
    outcomes = binary.with_columns(pl.col("category").cast(pl.Int8))
    for target in ("benchmark", "population"):
        rewards = binary.scorio(**CALIBRATED, target=target).report(*metrics)
        assert rewards["bounds"].null_count() == rewards.height
        expected = outcomes.scorio(**CALIBRATED, target=target).report(*metrics)
        assert rewards.drop("bounds").equals(expected)


def test_the_worst_of_k_outcomes_is_all_of_them(log):
    outcomes = log.with_columns(category=(pl.col("category") > 0.4).cast(pl.Int8))
    worst, every = (
        outcomes.scorio(**CALIBRATED).report(m) for m in (ps.min_at_k(3), ps.pass_hat_k(3))
    )
    assert worst.select(NUMBERS).equals(every.select(NUMBERS))


def test_too_few_trials_leave_no_number(log):
    row = log.scorio(**CALIBRATED).max_at_k(5).select(NUMBERS).row(0)
    assert row == (None,) * 4


def test_a_population_of_questions_has_the_bounds_of_a_sample(log):
    report = log.scorio(**CALIBRATED, bounds=(0, 1)).avg(target="population")
    one = log.filter(pl.col("model") == "a").group_by("question").agg(pl.col("category").mean())
    values = one["category"].to_numpy()
    centre, sigma, freedom = plus_two(values, (0, 1))
    reach = t.ppf(0.975, freedom) * sigma
    expected = values.mean(), sigma, centre - reach, centre + reach
    # Sums in another order.
    assert report.select(NUMBERS).row(0) == pytest.approx(expected, rel=1e-12)


def test_clusters_of_a_population_are_its_units(log):
    paired = log.with_columns(cluster=pl.col("question") // 2)
    report = paired.scorio(**CALIBRATED, bounds=(0, 1), cluster="cluster")
    alone = log.scorio(**CALIBRATED, bounds=(0, 1))
    assert report.avg()["hi"].to_list() == alone.avg()["hi"].to_list()
    wider, narrow = (each.avg(target="population") for each in (report, alone))
    assert (wider["hi"] - wider["lo"] > narrow["hi"] - narrow["lo"]).all()


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_comparisons_rank_models_by_rewards(log, target):
    accessor = log.scorio(**CALIBRATED, bounds=(0, 1), target=target)
    pairs = accessor.compare(ps.avg())
    assert pairs["better"].to_list() == ["b", "c", "c"]
    ranks = accessor.rank(ps.avg())
    assert ranks["model"].to_list() == ["c", "b", "a"]
    assert ranks["rank_lo"].to_list() == [1, 2, 3]
    report = accessor.avg().sort("estimate", descending=True)
    assert ranks["lo"].to_list() == pytest.approx(report["lo"].to_list(), abs=1e-9)


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_comparisons_are_the_same_on_another_scale(log, target):
    scaled = log.with_columns(category=100 * pl.col("category") - 30)
    own = log.scorio(**CALIBRATED, target=target).compare(ps.max_at_k(2))
    other = scaled.scorio(**CALIBRATED, target=target).compare(ps.max_at_k(2))
    assert own["better"].to_list() == other["better"].to_list()
    for name in ("diff", "sigma", "lo", "hi"):
        assert other[name].to_list() == pytest.approx((100 * own[name]).to_list(), rel=1e-7)


@pytest.mark.parametrize("prior", ["uniform", "population"])
def test_priors_are_refused_with_the_way_out(log, prior):
    with pytest.raises(ValueError, match=r"neither 0 nor 1 in 'category'.*threshold="):
        log.scorio(trial=None, prior=prior).avg()
    with pytest.raises(ValueError, match=r"avg: real-valued rewards have calibrated numbers"):
        log.scorio(trial=None, prior=prior, bounds=(0, 1)).avg()


def test_binary_metrics_of_rewards_name_a_threshold(log):
    with pytest.raises(ValueError, match=r"neither 0 nor 1 in 'category'.*threshold=0.5"):
        log.scorio(**CALIBRATED).report(ps.avg(), ps.pass_at_k(2))


def test_strata_have_ranges_of_their_own_and_overall_rows_one_for_all(log):
    both = pl.concat(
        [
            log.with_columns(by=pl.lit("x")),
            log.with_columns(by=pl.lit("y"), category=10 * pl.col("category")),
        ]
    )
    accessor = both.scorio(**CALIBRATED, by="by")
    report = accessor.avg(overall="micro")
    for name, scale in (("x", 1), ("y", 10)):
        alone = log.scorio(**CALIBRATED).avg()
        own = report.filter(pl.col("by") == name)
        assert own["hi"].to_list() == pytest.approx((scale * alone["hi"]).to_list(), rel=1e-9)
    assert report.filter(pl.col("by").is_null()).height == 3
    assert accessor.avg(overall="macro").filter(pl.col("by").is_null())["lo"].null_count() == 0


def test_further_trials_are_planned_with_the_measured_noise(log):
    accessor = log.filter(pl.col("model") == "a").scorio(**CALIBRATED, bounds=(0, 1))
    need = accessor.trials_needed(ps.avg(), half_width=0.01).row(0, named=True)
    one = log.filter(pl.col("model") == "a").group_by("question").agg(pl.col("category").var())
    after = (one["category"] / (4 + need["extra_trials"])).sum() ** 0.5 / 60
    assert need["sigma"] == pytest.approx(after, rel=1e-9)
    assert 1.959964 * after <= 0.01 < 1.959964 * after * ((5 + need["extra_trials"]) / 4) ** 0.5


def test_single_trials_are_planned_with_the_spread_of_the_questions(log):
    single = log.group_by("model", "question", maintain_order=True).first()
    need = single.scorio(**CALIBRATED).trials_needed(ps.avg(), half_width=0.02)
    assert need["extra_trials"].null_count() == 0


def test_the_gaps_of_neighbours_have_plans(log):
    need = log.scorio(**CALIBRATED).trials_needed(ps.avg())
    assert need.select("model_a", "model_b").rows() == [("c", "b"), ("b", "a")]


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_a_gate_judges_rewards_by_their_differences(log, target):
    accessor = log.scorio(trial=None, bounds=(0, 1), target=target)
    verdicts = accessor.gate("a", ps.avg(), margin=0.02)
    assert verdicts.select("model", "verdict").rows() == [("b", "pass"), ("c", "pass")]
    assert accessor.gate("c", ps.avg(), margin=0.02)["verdict"].to_list() == ["fail", "fail"]
    hundreds = log.with_columns(category=100 * pl.col("category")).scorio(trial=None, target=target)
    assert hundreds.gate("a", ps.avg(), margin=2)["verdict"].to_list() == ["pass", "pass"]
    with pytest.raises(ValueError, match=r"margin must be smaller than the range of avg"):
        accessor.gate("a", ps.avg(), margin=1)


def test_intervals_that_hold_at_every_look_are_wider(log):
    once, often = (
        log.scorio(trial=None, bounds=(0, 1)).compare(ps.avg(), planned_trials=plan)
        for plan in (None, 16)
    )
    assert (often["hi"] - often["lo"] > once["hi"] - once["lo"]).all()
