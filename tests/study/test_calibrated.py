"""Calibrated numbers through the accessor: estimates inside their intervals, for any log."""

import json
from math import sqrt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import drawn, outcomes, unreadable
from tests.maths.cases import CASES

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

TARGETS = pytest.mark.parametrize("target", ["benchmark", "population"])
NUMBERS = ["estimate", "sigma", "lo", "hi"]
W = [0, 0.5, 1]
# What is a credit of k draws has an interval for either target, and a range beyond the trials.
CREDITS = (
    *(ps.avg(), ps.avg([-1, 3], name="points"), ps.pass_at_k([1, 2, 9]), ps.pass_hat_k([1, 2])),
    *(ps.unanimous_at_k(2), ps.g_pass_at_k(2), ps.g_pass_at_k_tau(3, 0.5), ps.mg_pass_at_k(3)),
    *(ps.maj_at_k(3), ps.maj_at_k(name="cons"), ps.auc_at_k(3), ps.max_at_k(2)),
    *(ps.threshold_spectrum_at_k(2, [0.5, 0.25]), ps.max_at_k(2, [0, 1], name="best")),
    ps.geom_at_k(2),
)
BLENDS = (
    *(ps.geom_ds_at_k(2), ps.geo_spectrum_at_k(2, lam=0.3), ps.geo_spectrum_star_at_k(3)),
    ps.geom_ds_at_k(2, pass_power=0.2, unanimous_power=0.8, name="uneven"),
)
POOLED = (ps.bayes(),)  # a posterior mean
ALL = (*CREDITS, *BLENDS, *POOLED)
BEYOND = pl.col("estimate").is_null()


@pytest.fixture(scope="module")
def cases() -> pl.DataFrame:
    """A model for each kind of log: ragged n, all right, all wrong, one trial, 1 %, 99 %, ..."""
    return pl.concat(
        outcomes({(n, c): questions for n, c, questions in states}, name)
        for name, states in CASES.items()
    )


@pytest.fixture(scope="module")
def reports(cases) -> dict[str, pl.DataFrame]:
    """Calibrated reports of all metrics, by target: each takes seconds."""
    targets = "benchmark", "population"
    return {target: cases.scorio.report(*ALL, target=target) for target in targets}


@pytest.fixture
def log() -> pl.DataFrame:
    """Outcomes 0..2 of three models in two strata, of one to four trials of a question."""
    return drawn(8, range(9), most=4)


def names(metrics) -> list[str]:
    return [metric.name for metric in metrics]


# --- the ends of every scale


@pytest.mark.slow
@TARGETS
def test_the_estimate_lies_in_its_interval(reports, target):
    rows = reports[target]
    known = rows.filter(~BEYOND, pl.col("metric").is_in(names([*CREDITS, *BLENDS])))
    seen = known.filter(pl.col("lo").is_not_null())
    assert (seen["estimate"] >= seen["lo"]).all()
    assert (seen["estimate"] <= seen["hi"]).all()
    # Only the population of one question is unknown.
    alone = (pl.col("questions") == 1) & (target == "population")
    unknown = known.filter(pl.any_horizontal(pl.col("sigma", "lo", "hi").is_null()))
    # The same rows, selected in two ways: no tolerance is needed.
    assert_frame_equal(unknown, known.filter(alone))
    assert unknown.select("sigma", "lo", "hi").null_count().row(0) == (unknown.height,) * 3


@TARGETS
def test_all_numbers_are_those_of_a_published_report_but_how_sure_they_are(cases, reports, target):
    rows = reports[target]
    published = cases.scorio.report(*ALL, prior="uniform")
    facts = ["model", "metric", "k", "questions", "trials", "dropped", "estimate"]
    # The estimates are sums over states in another order, and powers of such sums.
    # A calibrated Geom@k has an estimate of its own.
    of_both = [
        report.filter(pl.col("metric") != "geom_at_k").select(facts) for report in (rows, published)
    ]
    assert_frame_equal(*of_both, rel_tol=1e-9, abs_tol=1e-12)
    assert rows.schema == published.schema


@TARGETS
def test_beyond_the_trials_there_is_a_range(reports, target):
    ahead = reports[target].filter(BEYOND, ~pl.col("metric").is_in(names(POOLED)))
    assert {*names(BLENDS)} <= {*ahead["metric"]}
    assert {"n = 1", "one trial", "ragged", "hard"} <= {*ahead["model"]}
    assert ahead["sigma"].null_count() == ahead.height
    single = pl.col("questions") == 1  # which says nothing of a population
    ranges = ahead if target == "benchmark" else ahead.filter(~single)
    assert (ranges["lo"] < ranges["hi"]).all()
    assert {*ranges["inference"]} == {"range"}


@TARGETS
@pytest.mark.parametrize(
    ("model", "end", "value"), [("all right", "hi", 1), ("all wrong", "lo", 0)]
)
def test_an_end_is_the_bound_where_all_trials_point_to_it(cases, target, model, end, value):
    rows = cases.filter(model=model).scorio.report(
        *(ps.avg(), ps.pass_at_k([1, 3]), ps.pass_hat_k(3), ps.auc_at_k(3), ps.maj_at_k(3)),
        target=target,
    )
    assert rows[end].to_list() == [value] * 6
    assert rows["lo" if end == "hi" else "hi"].is_between(0, 1, closed="none").all()


def test_what_is_a_posterior_mean_is_pooled_about_a_population(cases):
    calibrated, pooled = (
        cases.scorio.report(*POOLED, prior=prior, target="population")
        for prior in (None, "population")
    )
    assert_frame_equal(calibrated, pooled, check_exact=True)


def test_blends_with_a_negative_power_stay_pooled_about_a_population(log):
    metrics = (ps.geom_ds_at_k(1, pass_power=-0.1, unanimous_power=0.5),)
    calibrated, pooled = (
        log.scorio(by="domain", success=2).report(*metrics, prior=word, target="population")
        for word in (None, "population")
    )
    assert_frame_equal(calibrated, pooled, check_exact=True)


def test_weighted_metrics_of_the_population_vary_as_their_questions_do():
    counts = [[8, 0, 0], [0, 8, 0], [2, 2, 4], [0, 0, 8], [4, 4, 0], [1, 6, 1]]
    w, labels = np.array(W), [0, 1, 2]
    rows = [(q, c, n) for q, own in enumerate(counts) for c, n in zip(labels, own, strict=True)]
    log = pl.DataFrame(rows, schema=["question", "category", "count"], orient="row")
    scorio = log.scorio(model=None, count="count")
    (row,) = scorio.avg(W, target="population").rows(named=True)
    each = np.array(counts) @ w / 8
    # NumPy's means and spreads of six terms, and of one 0 and one 1 more: closer than 1e-6.
    assert row["estimate"] == pytest.approx(each.mean())
    assert row["sigma"] == pytest.approx(np.std([*each, 0, 1]) / np.sqrt(7))
    assert row["lo"] < row["estimate"] < row["hi"]
    (best,) = scorio.max_at_k(8, W, target="population").rows(named=True)
    highest = np.array([w[np.flatnonzero(own).max()] for own in counts])
    # A mean of six terms: rounding, far below the default of 1e-6.
    assert best["estimate"] == pytest.approx(highest.mean())
    assert best["sigma"] == pytest.approx(np.std([*highest, 0, 1]) / np.sqrt(7))
    # Questions that all say the same leave something open; one question leaves everything.
    same = log.filter(pl.col("question") == 0).drop("question").join(
        pl.DataFrame({"question": range(9)}), how="cross"
    )  # fmt: skip
    (row,) = same.scorio(model=None, count="count").avg(W, target="population").rows(named=True)
    assert (row["estimate"], row["lo"]) == (0, 0)
    assert 0.2 < row["hi"] < 0.5
    alone = log.filter(pl.col("question") == 2)
    (row,) = alone.scorio(model=None, count="count").avg(W, target="population").rows(named=True)
    assert (row["sigma"], row["lo"], row["hi"]) == (None, None, None)


@pytest.mark.slow
@TARGETS
def test_eager_equals_lazy_by_either_engine(cases, reports, target):
    plan = cases.lazy().scorio.report(*ALL, target=target)
    eager = reports[target]
    for engine in ("in-memory", "streaming"):
        # Groups come in parts, whose sums a product of matrices may order otherwise.
        assert_frame_equal(plan.collect(engine=engine), eager, rel_tol=1e-8, abs_tol=1e-9)
    assert plan.collect_schema() == eager.schema


def test_nothing_is_read_before_collect(log):
    plan = unreadable(log.schema).scorio(by="domain", success=2).avg()
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


# --- numbers


def test_two_categories_are_failure_and_success_on_a_scale(r1):
    plain, scaled = (
        r1.scorio.report(metric).select(NUMBERS).row(0) for metric in (ps.avg(), ps.avg([-1, 3]))
    )
    estimate, sigma, lo, hi = plain
    expected = (4 * estimate - 1, 4 * sigma, 4 * lo - 1, 4 * hi - 1)
    # The scale is applied before or after the same sums: rounding of numbers near 1.
    assert scaled == pytest.approx(expected, abs=1e-12)
    turned = r1.scorio.avg([3, -1]).select(NUMBERS).row(0)
    # The interval knows no direction: Clopper and Pearson's is symmetric.
    # Failures and successes change places: ends are found by a search, to 1e-9 or so.
    assert turned == pytest.approx((3 - 4 * estimate, 4 * sigma, 3 - 4 * hi, 3 - 4 * lo), abs=1e-9)


@pytest.mark.slow
def test_the_best_of_k_of_two_rewards_is_pass_at_k(log):
    solved = log.with_columns(category=(pl.col("category") == 2).cast(pl.Int8))
    best, passed = (
        solved.scorio(by="domain").report(metric).drop("metric")
        for metric in (ps.max_at_k([1, 2], [0, 1]), ps.pass_at_k([1, 2]))
    )
    assert_frame_equal(best, passed, check_exact=True)


def test_the_best_of_one_is_the_average(log):
    best, average = (
        log.scorio(by="domain").report(metric).drop("metric", "k")
        for metric in (ps.max_at_k(1, W), ps.avg(W))
    )
    # Other formulas of the same average: their sums are rounded otherwise.
    assert_frame_equal(best.select("estimate"), average.select("estimate"), rel_tol=1e-12)
    for rows in (best, average):
        assert (
            rows.select((pl.col("lo") < pl.col("estimate")) & (pl.col("estimate") < pl.col("hi")))
            .to_series()
            .all()
        )


@pytest.mark.slow
def test_categories_that_weigh_the_same_are_one(log):
    three, two = [0.0, 1.0, 1.0], log.with_columns(category=(pl.col("category") > 0).cast(pl.Int8))
    metrics = [(ps.avg(three), ps.avg()), (ps.max_at_k(2, three), ps.max_at_k(2, [0, 1]))]
    for merged, plain in metrics:
        rows = log.scorio(by="domain").report(merged).select(NUMBERS)
        expected = two.scorio(by="domain").report(plain).select(NUMBERS)
        assert_frame_equal(rows, expected, check_exact=True)


# --- over strata


def test_macro_about_clusters_reaches_as_far_as_the_root_of_squares(log):
    metrics = ps.avg(W), ps.max_at_k(1, W)
    accessor = log.scorio(by="domain", success=2, cluster="question", target="population")
    rows = accessor.report(*metrics, overall="macro")
    for (_, metric), group in rows.group_by("model", "metric"):
        *parts, over_all = group.sort("domain", nulls_last=True).rows(named=True)
        number = len(parts)
        mean = sum(row["estimate"] for row in parts) / number
        down = sqrt(sum((row["estimate"] - row["lo"]) ** 2 for row in parts)) / number
        up = sqrt(sum((row["hi"] - row["estimate"]) ** 2 for row in parts)) / number
        sigma = sqrt(sum(row["sigma"] ** 2 for row in parts)) / number
        expected = (mean, sigma, mean - down, mean + up)
        # Sums and roots of two strata: rounding; ends are differences.
        assert [over_all[name] for name in NUMBERS] == pytest.approx(expected, rel=1e-12), metric


@TARGETS
@pytest.mark.parametrize(("metric", "near"), [(ps.pass_at_k(8), 0.67), (ps.geom_ds_at_k(8), 0.45)])
def test_one_question_with_too_few_trials_leaves_a_range(target, metric, near):
    counts = pl.DataFrame({"question": range(30), "n": [7] + [8] * 29, "c": [3, 0, 8] * 10})
    log = ps.from_successes(counts).scorio(model=None, count="count")
    (row,) = log.report(metric, target=target).rows(named=True)
    assert row["inference"] == "range"
    assert row["estimate"] is row["sigma"] is None
    assert 0 < row["lo"] < near < row["hi"] < 1


@pytest.mark.slow
def test_micro_is_one_pool(log):
    accessor = log.scorio(by="domain", success=2)
    metrics = [ps.avg(W), ps.pass_at_k([1, 3]), ps.geom_ds_at_k(1)]
    over_all = accessor.report(*metrics, overall="micro").filter(pl.col("domain").is_null())
    question = pl.concat_str("domain", "question").alias("question")
    pool = log.with_columns(question).scorio(success=2).report(*metrics)
    # Questions of all strata are added in another order; ends are found to 1e-9 or so.
    assert_frame_equal(over_all.drop("domain"), pool, rel_tol=1e-9, abs_tol=1e-12)


# --- what is refused


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (
            ps.bayes(),
            {"target": "population", "per": "question"},
            'target="population" is about the mean.*: omit per="question"',
        ),
    ],
)
def test_what_has_no_say_is_refused_at_the_call(r1, metric, options, message):
    for accessor in (r1.scorio, r1.lazy().scorio):
        with pytest.raises(ValueError, match=message):
            accessor.report(metric, **options)


def same(one: object, other: object) -> bool:
    if isinstance(one, pl.DataFrame):
        return one.equals(other)
    return json.dumps(one, default=str, sort_keys=True) == json.dumps(
        other, default=str, sort_keys=True
    )


# How often a nominal 95 % interval holds the true accuracy, in seeded simulations.


REPLICATES = 400


def hard(random, shape):
    return random.beta(0.2, 2, shape)


def math(random, shape):
    return np.where(
        random.random(shape) < 0.5, random.beta(0.3, 3, shape), random.beta(5, 0.5, shape)
    )


def aime(random, shape):
    kind = random.random(shape)
    return np.where(kind < 0.4, 0.0, np.where(kind < 0.6, 1.0, random.random(shape)))


def counted(rates, n, random) -> pl.DataFrame:
    """Counts of as many models as `rates` has rows, each with its own questions."""
    c = random.binomial(n, rates)
    models, questions = (index.ravel() for index in np.indices(rates.shape))
    keys = pl.DataFrame({"model": models, "question": questions})
    outcomes = {1: c.ravel(), 0: n - c.ravel()}
    return pl.concat(
        keys.with_columns(category=pl.lit(category, pl.Int64), count=pl.Series(count))
        for category, count in outcomes.items()
    )


def bayes(log, **options):
    return log.scorio(count="count").bayes(**options)


def coverage(rows, truth):
    return ((rows["lo"].to_numpy() <= truth) & (truth <= rows["hi"].to_numpy())).mean()


# The standard error of a coverage of .95 in 400 replicates is .011.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("population", "questions", "n"), [(hard, 30, 4), (math, 30, 4), (aime, 10, 16)]
)
def test_partial_pooling_holds_what_it_promises(population, questions, n):
    random = np.random.default_rng(1)
    rates = population(random, (REPLICATES, questions))
    rows = bayes(counted(rates, n, random), prior="population")
    assert 0.92 <= coverage(rows, rates.mean(axis=1)) <= 0.99


def test_the_published_interval_misses_the_truth_of_a_hard_benchmark():
    random = np.random.default_rng(1)
    rates = hard(random, (REPLICATES, 30))
    assert coverage(bayes(counted(rates, 4, random)), rates.mean(axis=1)) < 0.05


@pytest.mark.slow
def test_models_with_different_numbers_of_trials_can_be_compared():
    random = np.random.default_rng(2)
    rates = hard(random, (REPLICATES, 30))
    logs = [counted(rates, n, random) for n in (2, 16)]

    def share_of_equals(**options):
        a, b = (bayes(log, **options) for log in logs)
        z = (a["mu"] - b["mu"]) / (a["sigma"] ** 2 + b["sigma"] ** 2).sqrt()
        return (z.abs() <= 1.96).mean()

    assert 0.92 <= share_of_equals(prior="population") <= 0.99
    assert share_of_equals() < 0.05  # the published prior makes equals look far apart


@TARGETS
def test_levels_beyond_the_trials_reach_from_what_was_seen_to_the_highest(target):
    counts = [[2, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 2]] * 3
    rows = [
        (question, level)
        for question, each in enumerate(counts)
        for level, often in enumerate(each)
        for _ in range(often)
    ]
    log = pl.DataFrame(rows, schema=["question", "category"], orient="row")
    asked = log.scorio(model=None, trial=None, target=target)
    best, worst = ps.max_at_k([2, 3, 9], W), ps.min_at_k([2, 3, 9], W)
    all_two = asked.report(best, worst)
    for k in (3, 9):  # no question has so many
        found = {row["metric"]: row for row in all_two.filter(k=k).iter_rows(named=True)}
        known = {row["metric"]: row for row in all_two.filter(k=2).iter_rows(named=True)}
        assert {row["inference"] for row in found.values()} == {"range"}
        assert found[best.name]["lo"] == pytest.approx(known[best.name]["lo"], abs=1e-12)
        assert found[worst.name]["hi"] == pytest.approx(known[worst.name]["hi"], abs=1e-12)
        assert found[best.name]["hi"] == 1
        assert found[worst.name]["lo"] == 0
    strata = log.with_columns(domain=pl.col("question") % 2).scorio(
        by="domain", model=None, trial=None, target=target
    )
    means = strata.report(best, overall="macro").filter(pl.col("domain").is_null(), k=3)
    assert means.select("inference", "estimate", "hi").row(0) == ("range", None, 1)
    # The two strata are as large, and one mean: that of all questions.
    expected = all_two.filter(metric=best.name, k=3)["lo"].item()
    assert means["lo"].item() == pytest.approx(expected, abs=1e-12)
