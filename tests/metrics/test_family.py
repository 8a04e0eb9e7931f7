"""One contract for the whole family, and every function of it against the package scorio."""

import inspect
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scorio import eval as scorio

import polars_scorio as ps
from tests.exported_metrics import EXPORTED, OF_COUNTS
from tests.made_logs import drawn, long

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
POSTERIOR = NUMBERS[1:]
FACTS = ["metric", "k", "questions", "trials", "dropped", "estimate"]
KEYS = ["domain", "model"]
PARAMETERS = {name: inspect.signature(function).parameters for name, function in OF_COUNTS.items()}
WEIGHTED = [name for name in OF_COUNTS if "w" in PARAMETERS[name]]
# Prior trials tell questions apart that have the same counts, so sums take another order.
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 1e-14}
K = (1, 2, 40)  # every question has two trials, none has 40
RUBRIC = [0, 0.5, 1]
# For the parameters that must be given; the weights of a spectrum fix its k.
VALUES = {"k": K, "tau": 0.6, "weights": (0.1, 0, 0.5, 0.2, 0.1)}


def given(name: str, **others: object) -> ps.Metric:
    """A metric from its required arguments and some others."""
    needed = {key: VALUES[key] for key, p in PARAMETERS[name].items() if p.default is p.empty}
    fixed = {"k": len(VALUES["weights"])} if "weights" in needed or "t" in PARAMETERS[name] else {}
    return EXPORTED[name](**{**needed, **fixed, **others})


# Every metric, some of them with other arguments too; category 2 is a success.
FAMILY = (
    *map(given, OF_COUNTS),
    *(given(name, w=RUBRIC) for name in WEIGHTED),
    *(ps.maj_at_k(K), ps.maj_at_k(name="cons")),
    ps.geo_spectrum_at_k(3, lam=0.3, weights=[0.4, 0.2, 0.4]),
)


def among(fact: str, *, holds: bool = True) -> pl.Expr:
    """The rows of the metrics of which a fact holds."""
    names = [metric.name for metric in FAMILY if bool(getattr(metric, fact)) == holds]
    return pl.col("metric").is_in(names)


ONE_VALUE_FOR_ALL = among("per_question", holds=False)
# Votes have one interval, whatever the prior, and none for k beyond the trials.
VOTES = pl.col("metric").str.starts_with("vote_at_k")
VERDICT = pl.col("category").cast(pl.String)
ROLES = {"by": "domain", "success": 2, "answer": VERDICT, "prior": "uniform"}


@pytest.fixture
def log():
    """Three models in two strata, five ragged questions each."""
    log, more = drawn(3, range(5), most=6), drawn(4, range(5), most=1)
    return pl.concat([log, more.with_columns(pl.col("trial") + 10)])


@pytest.fixture
def prior():
    """Prior trials of some of the questions, and of some others."""
    return drawn(5, range(2, 7), most=4)


def report(log: pl.DataFrame, **options: object) -> pl.DataFrame:
    return log.scorio(**ROLES).report(*FAMILY, **options)


# --- one contract for all metrics


def test_every_exported_metric_makes_what_it_is_called():
    assert {metric.function for metric in FAMILY} == set(OF_COUNTS)
    assert all(getattr(ps, name) is function for name, function in EXPORTED.items())


@pytest.mark.slow
def test_metrics_in_one_report_do_not_touch_each_other(log):
    alone = [log.scorio(**ROLES).report(metric) for metric in FAMILY]
    # What two metrics share is no reason to differ either; the order is that of the report.
    # A column of thresholds has only who reports them.
    order = ["metric", *KEYS, "k", "t"]
    rows = report(log).sort(order, nulls_last=True)
    expected = pl.concat(alone, how="diagonal").sort(order, nulls_last=True)
    # Only a report with posteriors has mu, which of calibrated rows is the estimate.
    expected = expected.with_columns(pl.coalesce("mu", "estimate").alias("mu"))
    assert_frame_equal(rows, expected.select(rows.columns), check_exact=True)


@pytest.mark.slow
def test_models_and_strata_at_once_equal_each_alone(log, prior):
    alone = [
        report(log.filter(domain=domain, model=model), prior=prior)
        for domain, model in log.select(KEYS).unique().sort(KEYS).rows()
    ]
    assert_frame_equal(report(log, prior=prior), pl.concat(alone), check_exact=True)


@pytest.mark.slow
def test_each_question_has_the_numbers_that_it_has_alone(log):
    alone = [
        report(log.filter(question=question)).with_columns(question=pl.lit(question, pl.Int64))
        for question in range(5)
    ]
    rows = report(log, per="question")
    assert rows.columns[:3] == [*KEYS, "question"]
    expected = pl.concat(alone).sort(*KEYS, "question", maintain_order=True)
    assert_frame_equal(rows, expected.select(rows.columns), check_exact=True)


def test_ragged_questions_are_averaged_each_with_the_same_weight(log):
    rows = report(log).filter(~(ONE_VALUE_FOR_ALL | VOTES))
    by_question = report(log, per="question")
    questions = by_question.group_by(*KEYS, "metric", "k", "t", maintain_order=True)
    means = questions.agg(
        pl.when(pl.col("estimate").null_count() == 0).then(pl.col("estimate").mean()),
        pl.col("mu").mean(),
        (pl.col("sigma") ** 2).sum().sqrt() / 5,
    ).filter(~(ONE_VALUE_FOR_ALL | VOTES))
    # Means over the questions add in another order than the report does.
    assert_frame_equal(rows.select(means.columns), means, **ROUNDED)


def test_where_k_exceeds_the_trials_only_the_estimate_is_null(log):
    smallest = log.group_by(*KEYS, "question").len("n").group_by(KEYS).agg(pl.col("n").min())
    for rows, sizes in [
        (report(log), smallest),
        (report(log, per="question"), log.group_by(*KEYS, "question").len("n")),
    ]:
        known = rows.join(sizes, on=[c for c in sizes.columns if c != "n"])
        expected = known["k"].fill_null(0) > known["n"]
        assert (known["estimate"].is_null() == expected).all()
        assert set(expected) == {False, True}
        assert rows.filter(~VOTES).select(POSTERIOR).null_count().row(0) == (0,) * 4
        # Votes have no posterior: beyond the trials a range, which is two ends alone.
        short = rows.filter(VOTES)
        unknown = short["estimate"].is_null()
        assert all((short[name].is_null() == unknown).all() for name in ("mu", "sigma"))
        assert short.select("lo", "hi").null_count().row(0) == (0, 0)


def test_rows_in_any_order_give_the_same_bits(log, prior):
    turned = [frame.sample(fraction=1, shuffle=True, seed=1) for frame in (log, prior)]
    assert not turned[0].equals(log)
    rows = report(turned[0], prior=turned[1])
    assert_frame_equal(rows, report(log, prior=prior), check_exact=True)


@pytest.mark.parametrize(("per", "engine"), [("model", "streaming"), ("question", "in-memory")])
def test_eager_equals_lazy(log, prior, per, engine):
    plan = report(log.lazy(), prior=prior.lazy(), per=per)
    expected = report(log, prior=prior, per=per)
    assert_frame_equal(plan.collect(engine=engine), expected, check_exact=True)


def test_labels_with_success_equal_codes(log, prior):
    binary = [metric for metric in FAMILY if metric.w is None]
    accessor = {"by": "domain", "answer": VERDICT}
    labels = {0: "bad", 1: "fair", 2: "good"}
    words = [
        frame.with_columns(pl.col("category").replace_strict(labels)) for frame in (log, prior)
    ]
    rows = words[0].scorio(success="good", **accessor).report(*binary, prior=words[1])
    expected = log.scorio(success=2, **accessor).report(*binary, prior=prior)
    assert_frame_equal(rows, expected, check_exact=True)


def test_prior_trials_are_as_good_as_trials_to_every_posterior_but_that_of_avg(log, prior):
    rows, plain = report(log, prior=prior), report(log)
    assert_frame_equal(rows.select(FACTS), plain.select(FACTS), **ROUNDED)
    average = among("uses_prior", holds=False)
    assert_frame_equal(rows.filter(average), plain.filter(average), **ROUNDED)
    possible = ~average & (pl.col("mu") > 0)  # mG-Pass@1 is zero
    assert (rows.filter(possible)["mu"] != plain.filter(possible)["mu"]).all()
    # Draws of all trials of a question are larger where there are more.
    fixed = ~average & ~among("all_trials")
    known = prior.join(log, on=[*KEYS, "question"], how="semi")
    pooled = pl.concat([log, known.with_columns(pl.col("trial") + 100)])
    assert_frame_equal(
        rows.filter(fixed).select(*KEYS, "metric", "k", *POSTERIOR),
        report(pooled).filter(fixed).select(*KEYS, "metric", "k", *POSTERIOR),
        **ROUNDED,
    )


def test_counts_give_the_same_reports_as_their_log(log, prior):
    counts, prior_counts = (frame.scorio(by="domain").counts() for frame in (log, prior))
    rows = counts.scorio(**ROLES, count="count").report(*FAMILY, prior=prior_counts)
    assert_frame_equal(rows, report(log, prior=prior), check_exact=True)


@pytest.mark.parametrize(("n", "questions"), [(1, 1), (1, 4), (2, 1), (64, 3)])
@pytest.mark.parametrize("category", [0, 2, None], ids=["all wrong", "all right", "mixed"])
def test_the_ends_of_the_scale_are_fine(category, n, questions):
    trials = [(trial % 3 == 0) * 2 if category is None else category for trial in range(n)]
    rows = report(long([trials] * questions).with_columns(domain=pl.lit("x")))
    large = rows["k"].fill_null(1) > n
    assert (rows["estimate"].is_null() == large).all()
    assert rows["estimate"].drop_nulls().is_between(0, 1 + 1e-15).all()
    if category == 0:
        assert (rows["estimate"].drop_nulls() == 0).all()
    rows = rows.filter(~(VOTES & pl.col("estimate").is_null()))
    assert rows.select(pl.col(POSTERIOR).is_finite().all()).row(0) == (True,) * 4
    assert rows["mu"].is_between(0, 1).all()
    assert (rows["sigma"] >= 0).all()
    assert rows.select((pl.col("lo") <= pl.col("mu")) & (pl.col("mu") <= pl.col("hi")))["lo"].all()


# Warnings are errors: none of NumPy's leaks where a mean is 0 or all draws are single trials.
@pytest.mark.parametrize("prior", [None, "uniform", "population"])
@pytest.mark.parametrize(
    "successes", [[0, 0], [0, 2], [1, 2], [2, 2]], ids=["no", "half", "most", "all"]
)
def test_draws_of_one_trial_warn_of_nothing(successes, prior):
    log = long([[0] * (2 - c) + [1] * c for c in successes])
    one = {"k": 1, "weights": (1.0,), "t": 1}
    metrics = [
        given(name, **{key: one[key] for key in one.keys() & PARAMETERS[name]})
        for name in OF_COUNTS
    ]
    answered = log.with_columns(answer=pl.col("category")).scorio(answer="answer")
    rows = answered.report(*metrics, prior=prior)
    assert rows.select(pl.col("estimate", "lo", "hi").is_finite().all()).row(0) == (True,) * 3


# --- arguments of each function


def single(name: str, **others: object) -> ps.Metric:
    """A metric with one draw size at most."""
    own = {"k": 3, "weights": (0.1, 0.3, 0.2), "t": 2}
    return given(name, **{key: own[key] for key in own.keys() & PARAMETERS[name]}, **others)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", OF_COUNTS)
def test_both_ends_are_clipped_into_both_bounds(r1, name):
    log = r1.scorio(answer=VERDICT)
    (free,) = log.report(single(name, bounds=None)).rows(named=True)
    mu = free.get("mu", free["estimate"])
    lo, hi = free["lo"], free["hi"]
    narrow = (lo + mu) / 2, (mu + hi) / 2
    for bounds, ends in [((lo - 1, hi + 1), (lo, hi)), (narrow, narrow)]:
        (row,) = log.report(single(name, bounds=bounds)).rows(named=True)
        assert (row["lo"], row["hi"]) == ends
        assert (row.get("mu", row["estimate"]), row["sigma"]) == (mu, free["sigma"])
    for bounds in [(lo - 2, lo - 1), (hi + 1, hi + 2)]:
        plan = log.frame.lazy().scorio(answer=VERDICT).report(single(name, bounds=bounds))
        if free["inference"] == "calibrated":
            with pytest.raises(ValueError, match="some model lies outside these bounds, so"):
                plan.collect()
        else:  # as published
            assert plan.select("lo").collect().item() in bounds


@pytest.mark.parametrize("name", OF_COUNTS)
def test_the_default_bounds_are_the_range_of_the_metric_or_none(name):
    metric = given(name)
    assert metric.bounds in (None, metric.support)
    # Weighted averages are free, as published: their interval may leave the weights.
    assert (metric.bounds is None) == (name in {"avg", "bayes"})


# --- the package scorio


def arguments(rng: np.random.Generator, name: str, k: int, top: int) -> dict[str, object]:
    """Arguments of a function of ours, at random."""
    drawn = {
        "k": k,
        "w": rng.normal(size=top + 1),
        "tau": rng.choice([0.0, 1.0, rng.integers(k + 1) / k, rng.uniform()]),
        "weights": rng.dirichlet(np.full(k + 1, 0.5))[:k].tolist(),
        "lam": rng.choice([0.0, 1.0, rng.uniform()]),
        "pass_power": rng.uniform(0, 2),
        "unanimous_power": rng.uniform(0.1, 2),
        "bounds": (rng.uniform(-0.5, 0.4), rng.uniform(0.5, 1)),
    }
    if name == "geo_spectrum_at_k" and rng.random() < 0.5:
        drawn["weights"] = None
    return {key: drawn[key] for key in drawn.keys() & PARAMETERS[name]}


def theirs(name: str, R: np.ndarray, **given: object) -> tuple[float, ...]:  # noqa: N803
    """Estimate, mu, sigma, lo and hi by scorio."""
    point = getattr(scorio, "avg" if name == "bayes" else name)
    known = inspect.signature(point).parameters
    estimate = np.ravel(point(R, **{key: given[key] for key in given if key in known}))[0]
    return estimate, *getattr(scorio, f"{name}_ci")(R, **given)


def stacked(matrices: Sequence[np.ndarray]) -> pl.DataFrame:
    return pl.concat(long(R.tolist(), f"m{i}") for i, R in enumerate(matrices))


# scorio takes one matrix at a time, without gaps, and k no larger than its width: here several
# matrices of different shape, for each of which the same k fits. Prior trials (R0) it knows for
# bayes and max_at_k only.
@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [name for name in OF_COUNTS if hasattr(scorio, f"{name}_ci")])
def test_equals_the_package_scorio(name, seed):
    rng = np.random.default_rng([seed, *name.encode()])
    k, top = int(rng.integers(1, 13)), int(rng.integers(1, 4)) if name in WEIGHTED else 1
    asked = arguments(rng, name, k, top)
    logs = [rng.integers(0, top + 1, (rng.integers(1, 9), rng.integers(k, 13))) for _ in range(5)]
    priors = [{}] * 5
    if name in ("bayes", "max_at_k") and seed % 2:
        priors = [{"R0": rng.integers(0, top + 1, (len(R), 3))} for R in logs]
    confidence = rng.uniform(0.5, 0.99)
    of_successes = "alpha0" in inspect.signature(getattr(scorio, f"{name}_ci")).parameters
    pair = (rng.uniform(0.2, 3), rng.uniform(0.2, 3)) if of_successes else None
    own = {"alpha0": pair[0], "beta0": pair[1]} if pair else {}
    expected = [
        theirs(name, R, confidence=confidence, **asked, **own, **earlier)
        for R, earlier in zip(logs, priors, strict=True)
    ]
    prior = stacked([each["R0"] for each in priors]) if priors[0] else "uniform"
    metric = getattr(ps, name)(**asked)
    rows = stacked(logs).scorio.report(metric, prior=pair or prior, confidence=confidence)
    # Both use floats, but other formulas: variances near 0 are differences that lose digits.
    np.testing.assert_allclose(rows.select(NUMBERS), expected, rtol=1e-9, atol=1e-11)
