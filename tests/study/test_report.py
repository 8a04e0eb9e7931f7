"""The tidy result: its shape, its order, what its keywords do, and what changes nothing."""

from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.documents import TAU_BENCH
from tests.made_logs import drawn, law, long, ragged

WORDS = {0: "bad", 1: "fair", 2: "good"}
W = [0, 0.5, 1]
METRICS = (ps.pass_hat_k([20, 1, 3]), ps.bayes(W), ps.pass_at_k(2), ps.avg(W))
RESULTS = [  # the rows that these metrics ask for, in order
    *(("pass_hat_k", 1), ("pass_hat_k", 3), ("pass_hat_k", 20)),
    *(("bayes(w=[0, 0.5, 1])", None), ("pass_at_k", 2), ("avg(w=[0, 0.5, 1])", None)),
]
BINARY = (ps.bayes(), ps.avg(), ps.pass_at_k([1, 3]), ps.pass_hat_k(2))
COLUMNS = {
    "metric": pl.String,
    "k": pl.Int64,
    "questions": pl.UInt32,
    "trials": pl.UInt64,
    "dropped": pl.UInt64,
    "inference": pl.String,
    **dict.fromkeys(["sigma", "estimate", "mu", "lo", "hi"], pl.Float64),
}
KEYS = ["domain", "model"]


@pytest.fixture
def log():
    return drawn(1, range(7), most=9)


@pytest.fixture
def prior():
    """Prior trials of some questions of the log, and of some others."""
    return drawn(2, range(3, 9), most=4)


def report(log: pl.DataFrame, **options: object) -> pl.DataFrame:
    return log.scorio(by="domain", success=2, prior="uniform").report(*METRICS, **options)


# --- columns and rows


@pytest.mark.every(5)
@pytest.mark.parametrize("by", [(), "domain", ["model", "domain"]])
@pytest.mark.parametrize("model", ["who", None])
@pytest.mark.parametrize("per", ["model", "question"])
def test_the_columns_are_the_keys_and_then_always_the_same(log, by, model, per):
    log = log.with_columns(who=pl.lit("x")).cast({"domain": pl.Categorical, "question": pl.Int16})
    dtypes = {"model": pl.String, "domain": pl.Categorical, "who": pl.String}
    keys = [*([by] if isinstance(by, str) else by), *([model] if model else [])]
    question = {"question": pl.Int16} if per == "question" else {}
    expected = {key: dtypes[key] for key in keys} | question | COLUMNS
    roles = {"by": by, "model": model, "success": 2, "trial": None, "prior": "uniform"}
    plan = log.lazy().scorio(**roles).report(*METRICS, per=per)
    rows = log.scorio(**roles).report(*METRICS, per=per)
    for schema in (rows.schema, plan.collect_schema(), plan.collect().schema):
        assert list(schema.items()) == list(expected.items())


@pytest.mark.parametrize(("per", "keys"), [("model", KEYS), ("question", [*KEYS, "question"])])
def test_rows_are_sorted_by_keys_then_as_asked_then_by_k(log, per, keys):
    keyed = log.select(keys).unique().sort(keys).rows()
    rows = report(log, per=per).select(*keys, "metric", "k").rows()
    assert rows == [(*key, *result) for key in keyed for result in RESULTS]


def test_questions_and_trials_are_counted(log):
    expected = log.group_by(KEYS).agg(pl.col("question").n_unique(), pl.len()).sort(KEYS).rows()
    for _, rows in report(log).group_by("metric", "k", maintain_order=True):
        assert rows.select(*KEYS, "questions", "trials").rows() == expected
        assert rows["dropped"].sum() == 0


# The leaderboard in the README of sierra-research/tau-bench: gpt-4o, airline, pass^1 to pass^4.
def test_reproduces_the_tau_bench_leaderboard():
    rows = pl.scan_parquet(TAU_BENCH).scorio(n=4).pass_hat_k([1, 2, 3, 4]).collect()
    # Half of the third digit that is printed.
    assert rows["estimate"].to_list() == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)


# --- what a part of a log has on its own


def test_models_and_strata_do_not_touch_each_other(log, prior):
    rows = report(log, prior=prior)
    alone = [
        report(part, prior=prior.filter(domain=domain, model=model))
        for (domain, model), part in log.sort(KEYS).group_by(KEYS, maintain_order=True)
    ]
    assert_frame_equal(rows, pl.concat(alone), check_exact=True)


@pytest.mark.parametrize("with_prior", [False, True])
def test_per_question_reports_on_each_question_alone(log, prior, with_prior):
    options = {"prior": prior} if with_prior else {}
    log = log.filter(pl.col("question") >= 3)  # the others have no prior trials
    rows = report(log, **options, per="question")
    alone = [
        report(log.filter(question=question), **options).with_columns(question=pl.lit(question))
        for question in range(3, 7)
    ]
    expected = pl.concat(alone).cast({"question": pl.Int64}).select(rows.columns)
    expected = expected.sort(*KEYS, "question", maintain_order=True)
    assert_frame_equal(rows, expected, check_exact=True)


# --- prior trials


@pytest.mark.parametrize("data_is_lazy", [False, True])
@pytest.mark.parametrize("prior_is_lazy", [False, True])
def test_prior_trials_may_be_eager_or_lazy(log, prior, data_is_lazy, prior_is_lazy):
    data = log.lazy() if data_is_lazy else log
    rows = report(data, prior=prior.lazy() if prior_is_lazy else prior)
    assert isinstance(rows, type(data))
    assert_frame_equal(rows.lazy().collect(), report(log, prior=prior), check_exact=True)


def test_prior_trials_without_a_model_serve_every_model(log, prior):
    common = prior.filter(model="a").drop("model")
    each = pl.concat(common.with_columns(model=pl.lit(model)) for model in "abc")
    rows = report(log, prior=common)
    assert_frame_equal(rows, report(log, prior=each.select(prior.columns)), check_exact=True)
    assert not rows["mu"].equals(report(log)["mu"])


def test_prior_trials_of_other_questions_are_ignored(log, prior):
    known = prior.join(log, on=[*KEYS, "question"], how="semi")
    assert known.height < prior.height
    expected = report(log, prior=known)
    assert_frame_equal(report(log, prior=prior), expected, check_exact=True)


@pytest.mark.parametrize(("missing", "category"), [("drop", None), (0, 0), (2, 2)])
def test_missing_prior_outcomes_mean_what_missing_says(log, prior, missing, category):
    lost = prior.with_columns(category=pl.when(pl.col("trial") != 1).then("category"))
    filled = lost.with_columns(pl.col("category").fill_null(pl.lit(category, pl.Int64)))
    accessor = log.scorio(by="domain", success=2, missing=missing, prior="uniform")
    expected = report(log, prior=filled.drop_nulls())
    assert_frame_equal(accessor.report(*METRICS, prior=lost), expected, check_exact=True)


def test_only_avg_ignores_prior_trials(log, prior):
    plain, informed = report(log), report(log, prior=prior)
    # Prior trials tell questions apart that have the same counts, so sums take another order.
    average = pl.col("metric").str.starts_with("avg")
    assert_frame_equal(plain.filter(average), informed.filter(average), rel_tol=1e-12)
    moved = (plain["mu"] / informed["mu"] - 1).abs() > 1e-9
    assert moved.to_list() == plain.select(~average).to_series().to_list()
    counted = ["metric", "k", "questions", "trials", "dropped", "estimate"]
    # Sums in another order, as above.
    assert_frame_equal(plain.select(counted), informed.select(counted), rel_tol=1e-12)


# --- confidence, bounds, name


@pytest.mark.parametrize("prior", ["uniform", "population", None])
def test_mu_of_avg_is_its_estimate_and_mu_of_other_posteriors_is_not(log, prior):
    rows = log.scorio(by="domain", success=2).report(ps.avg(), ps.bayes(), prior=prior)
    same = rows.group_by("metric").agg((pl.col("mu") - pl.col("estimate")).abs().max() < 1e-12)
    assert dict(same.rows()) == {"avg": True, "bayes": False}


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.999])
def test_intervals_reach_as_far_as_a_normal_distribution(log, confidence):
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rows = log.scorio(success=2, by="domain", prior="uniform").report(
        ps.bayes(W), ps.pass_at_k(3, bounds=None), confidence=confidence
    )
    expected = rows.with_columns(
        lo=pl.col("mu") - z * pl.col("sigma"), hi=pl.col("mu") + z * pl.col("sigma")
    )
    # One product and one sum; an end near 0 is a difference that loses digits.
    assert_frame_equal(rows, expected, rel_tol=1e-12)


def test_more_confidence_makes_wider_intervals(log):
    narrow, wide = (report(log, confidence=confidence) for confidence in (0.8, 0.9))
    assert ((wide["lo"] <= narrow["lo"]) & (wide["hi"] >= narrow["hi"])).all()
    clipped = narrow["metric"].str.starts_with("pass")
    assert wide.filter(clipped).select(pl.col("lo", "hi").is_between(0, 1).all()).row(0) == (1, 1)
    width = pl.col("hi") - pl.col("lo")
    free, wider = (rows.filter(~clipped).select(width).to_series() for rows in (narrow, wide))
    assert (free < wider).all()


@pytest.mark.parametrize("make", [ps.bayes, ps.avg, lambda **given: ps.pass_hat_k(2, **given)])
@pytest.mark.parametrize("bounds", [(0.3, 0.31), (0, 1), (0.9, 2), (0.5, 0.5)])
def test_both_ends_are_clipped_into_both_bounds(r1, make, bounds):
    free, clipped = (
        r1.scorio(prior="uniform")
        .report(make(bounds=(-9, 9), name="a"), make(bounds=bounds, name="b"))
        .rows(named=True)
    )
    for end in ("lo", "hi"):
        assert clipped[end] == min(max(free[end], bounds[0]), bounds[1])
    assert clipped["mu"] == free["mu"]


def test_a_name_replaces_the_name_of_the_metric(r1):
    plain = r1.scorio.report(ps.pass_at_k([1, 2]), ps.bayes([0, 2]))
    named = r1.scorio.report(ps.pass_at_k([1, 2], name="solved"), ps.bayes([0, 2], name="points"))
    assert named["metric"].to_list() == ["solved", "solved", "points"]
    assert_frame_equal(named.drop("metric"), plain.drop("metric"), check_exact=True)


# --- outcomes in words


def test_labels_with_weights_equal_codes_in_data_and_prior(log, prior):
    words, prior_words = (
        each.with_columns(pl.col("category").replace_strict(WORDS)) for each in (log, prior)
    )
    w = {WORDS[j]: W[j] for j in (2, 0, 1)}
    metrics = (METRICS[0], ps.bayes(w), METRICS[2], ps.avg(w))
    rows = words.scorio(by="domain", success="good", prior="uniform").report(
        *metrics, prior=prior_words
    )
    expected = report(log, prior=prior)
    assert rows["metric"].unique().to_list() != expected["metric"].unique().to_list()
    assert_frame_equal(rows.drop("metric"), expected.drop("metric"), check_exact=True)


def test_several_successes_count_as_one_and_all_else_as_none(log, prior):
    merged, merged_prior = (each.with_columns(pl.col("category") > 0) for each in (log, prior))
    expected = merged.scorio(by="domain").report(*BINARY, prior=merged_prior)
    rows = log.scorio(by="domain", success=[1, 2]).report(*BINARY, prior=prior)
    assert_frame_equal(rows, expected, check_exact=True)


# --- what changes nothing, not even the last bit


@pytest.mark.slow
@law
@given(ragged(), st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_questions_do_not_matter(outcomes, random):
    log = long(outcomes)
    names = [f"q{i}" for i in range(len(outcomes))]
    random.shuffle(names)
    renamed = log.with_columns(pl.col("question").replace_strict(dict(enumerate(names))))
    shuffled = renamed.sample(fraction=1, shuffle=True, seed=random.randrange(1000))
    expected = log.scorio.report(*BINARY)
    assert_frame_equal(shuffled.scorio.report(*BINARY), expected, check_exact=True)


@pytest.mark.slow
@law
@given(ragged(), ragged())
def test_disjoint_logs_together_have_the_rows_of_each(outcomes, others):
    parts = [long(outcomes, "a"), long(others, "b")]
    both = pl.concat(parts).scorio.report(*BINARY)
    expected = pl.concat(part.scorio.report(*BINARY) for part in parts)
    # Groups that are fitted together are added in another order.
    assert_frame_equal(both, expected, rel_tol=1e-7, abs_tol=1e-9)


@pytest.mark.slow
@law
@given(ragged(), st.integers(1, 3))
def test_counted_rows_equal_single_trials(outcomes, times):
    raw = pl.concat([long(outcomes)] * times)
    keys = ["model", "question", "category"]
    counted = raw.group_by(keys).len("rows")
    split = pl.concat(
        [counted, long([[0, 1]] * len(outcomes)).select(*keys, rows=pl.lit(0, pl.UInt32))]
    )
    expected = raw.scorio(trial=None).report(*BINARY)
    for log in (counted, split):
        assert_frame_equal(log.scorio(count="rows").report(*BINARY), expected, check_exact=True)


COMPANY = (
    *(ps.avg(), ps.pass_at_k([1, 2, 8, 90]), ps.pass_hat_k([2, 5]), ps.maj_at_k([3, 6])),
    *(ps.auc_at_k(4), ps.mg_pass_at_k(5), ps.g_pass_at_k_tau([3, 8], tau=0.5), ps.geom_at_k(2)),
    *(ps.geo_spectrum_at_k(3), ps.geom_ds_at_k(3), ps.max_at_k(2), ps.bayes()),
)


def assert_alone_as_in_company(log, metrics, **options):
    together = log.report(*metrics, **options)
    for metric in metrics:
        alone = log.report(metric, **options)
        own = together.select(alone.columns).join(
            alone, on=["metric", "k"], how="semi", nulls_equal=True
        )
        # Tables of all metrics are one product of matrices, which rounds by its size.
        assert_frame_equal(own, alone, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"target": "population"}, {"prior": "population"}], ids=str
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_metric_has_the_same_numbers_whatever_else_is_asked_for(seed, options):
    # All questions with 12 trials; 8 to 160 of them.
    random = np.random.default_rng(seed)
    n = random.integers(8, 161, 30) if seed else np.full(30, 12)
    log = counted_successes(n, random.binomial(n, random.beta(0.7, 1.2, n.size)))
    some = [COMPANY[place] for place in random.permutation(len(COMPANY))[:7]]
    assert_alone_as_in_company(log.scorio(count="trials"), [*some, ps.pass_at_k(4)], **options)


@pytest.mark.slow
@law
@given(ragged(), st.lists(st.sampled_from(COMPANY), min_size=2, unique=True))
def test_a_metric_of_any_log_has_the_same_numbers_whatever_else_is_asked_for(outcomes, metrics):
    assert_alone_as_in_company(long(outcomes).scorio, metrics)


def counted_successes(n, c):
    """A log of one model with a row for the failures and one for the successes of a question."""
    rows = {"model": "a", "question": np.repeat(np.arange(n.size), 2)}
    return pl.DataFrame(
        {**rows, "category": [0, 1] * n.size, "trials": np.stack([n - c, c], 1).ravel()}
    )
