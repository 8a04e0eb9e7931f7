"""Partial pooling through the accessor: laws, options, the plan."""

import re

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio as ps
from tests.made_logs import drawn, long, outcomes, unreadable

PARTIAL = {"prior": "population"}
POPULATION = {**PARTIAL, "target": "population"}
TARGETS = pytest.mark.parametrize("target", ["benchmark", "population"])
NUMBERS = ["mu", "sigma", "lo", "hi"]
KEYS = ["domain", "model"]
# Each kind of metric; category 2 is a success.
METRICS = (
    *(ps.bayes(), ps.avg(), ps.pass_at_k([1, 3]), ps.maj_at_k(3)),
    *(ps.max_at_k(2), ps.geom_at_k(2), ps.geom_ds_at_k(2)),
)


@pytest.fixture
def log():
    return drawn(8, range(5), most=4)


def numbers(log: pl.DataFrame, *metrics: ps.Metric, **options: object) -> pl.DataFrame:
    return log.scorio(trial=None).report(*metrics, **options).select(NUMBERS)


# --- ends of an interval


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [(ps.bayes([0, 1]), 0, 1), (ps.bayes([-1, 3]), -1, 3), (ps.pass_at_k(3), 0, 1)],
    ids=str,
)
def test_an_interval_holds_the_quantiles_of_a_beta_distribution(r1, metric, low, high, confidence):
    row = r1.scorio.report(metric, confidence=confidence, **PARTIAL).row(0, named=True)
    mu, sigma = (row["mu"] - low) / (high - low), row["sigma"] / (high - low)
    total = mu * (1 - mu) / sigma**2 - 1
    beta, tail = stats.beta(mu * total, (1 - mu) * total), (1 - confidence) / 2
    ends = low + (high - low) * np.array([beta.ppf(tail), beta.isf(tail)])
    # Another search for the same quantiles, to 1e-9 or so.
    assert (row["lo"], row["hi"]) == pytest.approx(tuple(ends), rel=1e-8)


def test_a_blend_without_a_range_has_a_normal_interval(r1):
    row = r1.scorio.report(ps.geom_at_k(2, pass_power=-1), **PARTIAL).row(0, named=True)
    reach = stats.norm.ppf(0.975) * row["sigma"]
    # One product and one sum: rounding, far below the default of 1e-6.
    assert (row["lo"], row["hi"]) == pytest.approx((row["mu"] - reach, row["mu"] + reach))


def test_the_published_interval_is_normal(r1):
    row = r1.scorio.bayes(prior="uniform").row(0, named=True)
    reach = stats.norm.ppf(0.975) * row["sigma"]
    ends = row["mu"] - reach, row["mu"] + reach
    # One product and one sum: the last bits.
    assert (row["lo"], row["hi"]) == pytest.approx(ends, rel=1e-14)


def test_a_beta_interval_is_clipped_into_the_bounds(r1):
    (row,) = r1.scorio.bayes(bounds=(0.5, 0.8), **PARTIAL).select("lo", "hi").rows()
    assert row == (0.5, 0.8)


# --- laws

ALL = pytest.mark.parametrize(
    "options",
    [PARTIAL, POPULATION, {**PARTIAL, "per": "question"}],
    ids=["mean", "population", "question"],
)
# Closed forms and sums that are rounded differently.
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 1e-14}


def report(log: pl.DataFrame, **options: object) -> pl.DataFrame:
    return log.scorio(by="domain", success=2).report(*METRICS, **options)


@ALL
def test_single_draws_are_the_success_rate_whatever_they_are_called(log, options):
    binary = log.with_columns(category=(pl.col("category") == 2).cast(pl.Int8))
    same = [
        *(ps.bayes(), ps.bayes([0, 1]), ps.pass_at_k(1), ps.pass_hat_k(1), ps.maj_at_k(1)),
        *(ps.auc_at_k(1), ps.max_at_k(1), ps.max_at_k(1, [0, 1]), ps.geom_ds_at_k(1)),
    ]
    accessor = binary.scorio(by="domain")
    first, *others = (accessor.report(metric, **options).select(NUMBERS) for metric in same)
    for rows in others:
        # An end of an interval is found to 1e-9 or so.
        assert_frame_equal(rows, first, rel_tol=1e-9, abs_tol=1e-12)


def test_with_many_trials_the_prior_does_not_matter():
    n, c = 200_000, np.array([2_000, 50_000, 90_000, 150_000, 199_000])
    columns = {"model": "m", "question": [*range(5)] * 2, "category": [0] * 5 + [1] * 5}
    counts = pl.DataFrame({**columns, "trials": np.concatenate([n - c, c])})
    metrics = ps.bayes(), ps.avg(), ps.pass_at_k([1, 3]), ps.maj_at_k(3), ps.geom_ds_at_k(2)
    accessor = counts.scorio(count="trials")
    partial, none = (
        accessor.report(*metrics, prior=prior).select("mu", "sigma")
        for prior in ("population", "uniform")
    )
    # Either prior is worth a few trials of 200,000, or of 1,000 failures.
    assert_frame_equal(partial, none, rel_tol=2e-3)


@ALL
def test_names_of_categories_do_not_matter(log, options):
    metrics, kept = [ps.bayes(), ps.avg(), ps.pass_at_k(2)], [*KEYS, *NUMBERS]
    rows = log.scorio(by="domain", success=2).report(*metrics, **options).select(kept)
    words = log.with_columns(pl.col("category").replace_strict({0: "z", 1: "m", 2: "a"}))
    labelled = words.scorio(by="domain", success="a").report(*metrics, **options).select(kept)
    # Ends are found to 1e-9 or so.
    assert_frame_equal(labelled, rows, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize(
    "options", [{"prior": "population"}, {**PARTIAL, "per": "question"}], ids=str
)
def test_more_than_two_categories_have_no_populations(log, options):
    with pytest.raises(ValueError, match="categories"):
        log.scorio(by="domain").bayes([0, 0.5, 1], **options)


@pytest.mark.slow
@ALL
def test_models_and_strata_do_not_touch_each_other(log, options):
    prior = drawn(9, range(3, 9), most=4)
    options = {"prior": prior, **options}
    rows = report(log, **options)
    keys = log.select(KEYS).unique().sort(KEYS).rows()
    alone = [report(log.filter(domain=d, model=m), **options) for d, m in keys]
    # Groups that are fitted together are added in another order.
    assert_frame_equal(rows, pl.concat(alone), rel_tol=1e-7, abs_tol=1e-9)


@pytest.mark.parametrize("per", ["model", "question"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_majority_of_all_trials_is_one_of_as_many_draws(n, per):
    log = outcomes({(n, 0): 2, (n, n): 3})
    all_trials, draws = (
        numbers(log, metric, **PARTIAL, per=per) for metric in (ps.maj_at_k(), ps.maj_at_k(n))
    )
    assert_frame_equal(all_trials, draws, check_exact=True)


def test_real_rewards_have_no_pooled_numbers():
    rewards = long([[0.1, -0.5, 2.3], [1.0, 1.5]])
    for options in (PARTIAL, POPULATION):
        with pytest.raises(ValueError, match=r"neither 0 nor 1 .*threshold="):
            rewards.scorio.max_at_k([1, 2], **options)


# --- the ends of the scale


@TARGETS
@pytest.mark.parametrize(("category", "end"), [(0, "lo"), (1, "hi")])
def test_an_end_is_the_bound_where_all_trials_point_to_it(target, category, end):
    options = {**PARTIAL, "target": target}
    log = outcomes({(4, 0): 5, (2, 0): 3}).with_columns(category=pl.lit(category, pl.Int64))
    metrics = [ps.bayes(), ps.avg(), ps.pass_at_k([1, 9]), ps.auc_at_k(3), ps.geom_ds_at_k(2)]
    rows = numbers(log, *metrics, **options)
    assert (rows[end] == category).all()
    other = "hi" if end == "lo" else "lo"
    assert rows[other].is_between(0, 1, closed="none").all()
    (row,) = numbers(log, ps.bayes([10, 20]), **options).rows(named=True)
    assert row[end] == 10 + 10 * category
    # One question that does not agree, and the bound is out of reach.
    odd = pl.concat(
        [log, outcomes({(1, 1 - category): 1}, "m").with_columns(question=pl.lit(99, pl.Int64))]
    )
    assert not (numbers(odd, *metrics, **options)[end] == category).any()


@TARGETS
def test_an_average_on_a_bound_takes_the_interval_of_bayes(target):
    options = {**PARTIAL, "target": target}
    for states, mu in (({(4, 0): 6}, 0), ({(4, 4): 6}, 1)):
        average, bayes = (
            numbers(outcomes(states), metric(bounds=(0, 1)), **options).row(0, named=True)
            for metric in (ps.avg, ps.bayes)
        )
        assert average["mu"] == mu
        assert (average["lo"], average["hi"]) == (bayes["lo"], bayes["hi"])
        assert 0 < average["hi"] - average["lo"] < 1


@pytest.mark.parametrize("category", [0, 1])
def test_without_doubt_the_interval_is_a_point(category):
    log = outcomes({(3, 0): 2}).with_columns(category=pl.lit(category, pl.Int64))
    # No draw of one trial exceeds its half by a whole trial; weights that are all the same.
    for metric, value in ((ps.mg_pass_at_k(1), 0), (ps.bayes([7, 7]), 7)):
        assert numbers(log, metric, **PARTIAL).row(0) == (value, 0, value, value)


# --- options that contradict each other


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (ps.bayes(), {"prior": "all"}, "prior must be \"uniform\", .*, got 'all'"),
        (ps.bayes(), {"target": "all"}, "target must be \"benchmark\" or .*, got 'all'"),
        (
            ps.bayes([0, 0.5, 1]),
            {"prior": (1, 2)},
            r"a prior \(alpha, beta\) is about a rate of success",
        ),
        (
            ps.bayes(),
            {"target": "population", "prior": "uniform"},
            'needs calibrated numbers: .* biases mu, .* or pass prior="population"',
        ),
        (ps.bayes(), {**POPULATION, "per": "question"}, 'population.*: omit per="question"'),
        (ps.maj_at_k(), POPULATION, "maj_at_k: .* needs k: .*: pass k=, or"),
        (ps.maj_at_k(name="cons"), POPULATION, "cons: .* needs k: .*: pass k=, or"),
    ],
)
def test_options_that_contradict_each_other_are_refused_at_the_call(r1, metric, options, message):
    with pytest.raises(ValueError, match=message):
        r1.lazy().scorio.report(metric, **options)


def test_a_name_of_ones_own_has_no_say_in_what_is_refused(r1):
    assert r1.scorio.bayes(name="majority", **POPULATION)["mu"].null_count() == 0


# --- the plan


@pytest.mark.parametrize("options", [PARTIAL, POPULATION, {**PARTIAL, "per": "question"}])
def test_nothing_is_read_before_collect(log, options):
    plan = report(unreadable(log.schema), **options)
    assert isinstance(plan, pl.LazyFrame)
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


@pytest.mark.parametrize("per", ["model", "question"])
def test_a_filter_on_keys_reaches_the_one_scan(log, per, tmp_path):
    log.write_parquet(tmp_path / "log.parquet")
    plan = report(pl.scan_parquet(tmp_path / "log.parquet"), **PARTIAL, per=per)
    chosen = (pl.col("model") == "a") & (pl.col("domain") == "web")
    explained = plan.filter(chosen).explain()
    assert len(re.findall("(?i)parquet scan", explained)) == 1
    (selection,) = re.findall(r"(?i)parquet scan.*\n\s*project .*\n\s*selection: (.*)", explained)
    assert {"model", "a", "domain", "web"} <= set(re.findall(r'"(\w+)"', selection))
    expected = plan.collect().filter(chosen)
    assert expected.height > 0
    assert_frame_equal(plan.filter(chosen).collect(), expected, check_exact=True)


@pytest.fixture(scope="module")
def big() -> pl.DataFrame:
    """150,000 rows, so that every engine cuts them into many morsels, in few states."""
    trial, question, model = np.indices((4, 25_000, 2)).reshape(3, -1)
    category = np.random.default_rng(0).binomial(2, (question % 97 + model) / 101)
    columns = {"model": model, "question": question, "trial": trial, "category": category}
    log = pl.DataFrame(columns).filter(pl.col("trial") <= pl.col("question") % 5)
    return log.with_columns(domain=pl.lit("x"))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_shuffled_rows_and_every_run_and_engine_give_the_same_bits(big, engine, tmp_path):
    def collected(log: pl.LazyFrame, engine: str = engine) -> pl.DataFrame:
        metrics = ps.bayes(), ps.avg(), ps.pass_at_k(3), ps.geom_at_k(2)
        return log.scorio(success=2).report(*metrics, **POPULATION).collect(engine=engine)

    expected = collected(big.lazy(), "in-memory")
    big.write_parquet(tmp_path / "big.parquet", row_group_size=7_000)
    logs = [big.sample(fraction=1, shuffle=True, seed=seed).lazy() for seed in range(3)]
    for log in (*logs, *[pl.scan_parquet(tmp_path / "big.parquet")] * 3):
        assert_frame_equal(collected(log), expected, check_exact=True)
