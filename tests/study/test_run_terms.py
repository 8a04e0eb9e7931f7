"""Scores of named runs: reports and comparisons against the rules, arrays by hand, simulation."""

import warnings

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.maths.run_effects import RunVariance, run_variance, widened

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

Z = 1.959963984540054
M, R = 120, 4


def outcomes_of(rng, sd, questions=M, runs=R):
    """Outcomes of questions in runs whose success rates are so far apart."""
    rates = rng.beta(0.5, 0.5, (questions, 1)) + rng.normal(0, sd, runs)
    return rng.random((questions, runs)) < rates


def log_of(models):
    """A row for each trial of models by name."""
    frames = []
    for name, outcomes in models.items():
        question, seed = (places.ravel() for places in np.indices(outcomes.shape))
        columns = {"model": name, "question": question, "seed": seed}
        frames.append(pl.DataFrame({**columns, "category": outcomes.ravel().astype(int)}))
    return pl.concat(frames)


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(4)
    return {name: outcomes_of(rng, sd) for name, sd in (("ada", 0.06), ("bob", 0.03))}


@pytest.fixture(scope="module")
def log(models):
    return log_of(models)


def of_model(outcomes):
    return run_variance(outcomes.astype(float), np.ones_like(outcomes))


@pytest.mark.parametrize("metric", [ps.avg(), ps.pass_at_k(2), ps.bayes(w=[0, 1])])
def test_outcomes_may_be_floats(log, metric):
    floats = log.with_columns(pl.col("category").cast(float))
    found, wanted = (
        each.scorio(trial=None, run="seed").report(metric).drop("bounds", strict=False)
        for each in (floats, log)
    )
    assert_frame_equal(found, wanted)


@pytest.mark.parametrize(
    ("metric", "dtype", "most"),
    [
        (ps.avg(), bool, 1),
        (ps.avg(), float, 1),
        (ps.avg(w=[0, 2]), bool, 2),
        (ps.pass_at_k(2), float, 1),
    ],
)
def test_two_runs_leave_intervals_within_what_scores_can_be(metric, dtype, most):
    outcomes = np.array([[True, False], [True, True], [True, False], [False, False]])
    few = log_of({"ada": outcomes}).with_columns(pl.col("category").cast(dtype))
    (row,) = few.scorio(trial=None, run="seed").report(metric).iter_rows(named=True)
    assert 0 <= row["lo"] < row["estimate"] < row["hi"] <= most


def test_a_report_has_the_term_of_its_runs(log, models):
    plain, said = log.scorio(trial=None).avg(), log.scorio(trial=None, run="seed").avg()
    kept = ["model", "metric", "questions", "trials", "estimate"]
    assert_frame_equal(said.select(kept), plain.select(kept))
    assert said["inference"].unique().to_list() == ["calibrated, other runs"]
    for row, (outcomes, old) in enumerate(
        zip(models.values(), plain.iter_rows(named=True), strict=True)
    ):
        runs = of_model(outcomes)
        ends = widened(old["estimate"], old["lo"], old["hi"], runs.term(Z), Z)
        assert said.row(row, named=True)["lo"] == pytest.approx(ends[0])
        assert said.row(row, named=True)["hi"] == pytest.approx(ends[1])
        sigma = np.sqrt(old["sigma"] ** 2 + runs.excess)
        assert said.row(row, named=True)["sigma"] == pytest.approx(sigma)


def test_pass_at_one_has_the_term_of_the_average(log):
    rows = log.scorio(trial=None, run="seed").report(ps.avg(), ps.pass_at_k(1))
    by_metric = rows.partition_by("metric")
    numbers = ["estimate", "sigma", "lo", "hi"]
    assert_frame_equal(by_metric[0].select(numbers), by_metric[1].select(numbers))


def test_named_runs_never_make_an_interval_narrower(log):
    metrics = ps.avg(), ps.pass_at_k([1, 2, 4]), ps.pass_hat_k([2, 4]), ps.maj_at_k(3)
    plain = log.scorio(trial=None).report(*metrics)
    said = log.scorio(trial=None, run="seed").report(*metrics)
    assert (said["lo"] <= plain["lo"] + 1e-12).all()
    assert (said["hi"] >= plain["hi"] - 1e-12).all()
    assert (said["hi"] - said["lo"] > plain["hi"] - plain["lo"]).any()


def test_a_comparison_adds_the_runs_of_both(log, models):
    plain = log.scorio(trial=None).compare().row(0, named=True)
    said = log.scorio(trial=None, run="seed").compare().row(0, named=True)
    first, other = (of_model(outcomes) for outcomes in models.values())
    runs = first.less(other)
    ends = widened(plain["diff"], plain["lo"], plain["hi"], runs.term(Z), Z)
    assert (said["lo"], said["hi"]) == (pytest.approx(ends[0]), pytest.approx(ends[1]))
    assert said["sigma"] == pytest.approx(np.sqrt(plain["sigma"] ** 2 + runs.excess))


def test_a_comparison_on_common_questions_takes_the_runs_of_these(log):
    lacking = log.filter((pl.col("model") == "ada") | (pl.col("question") > 40))
    roles = {"trial": None, "run": "seed"}
    found = lacking.scorio(**roles).compare(unmatched="drop")
    shared = log.filter(pl.col("question") > 40).scorio(**roles).compare()
    assert_frame_equal(found, shared)


def test_a_gate_asks_more_of_runs_that_differ(log):
    p_values = [
        log.scorio(trial=None, **roles).gate("ada", margin=0.1)["pvalue_pass"].item()
        for roles in ({}, {"run": "seed"})
    ]
    assert p_values[0] < p_values[1]


def test_neither_the_names_of_runs_nor_the_engine_counts(log):
    asked = log.scorio(trial=None, run="seed").report(ps.avg(), ps.pass_at_k(2))
    words = log.with_columns(pl.format("seed {}", (pl.col("seed") * 7) % 5).alias("seed"))
    shuffled = words.sample(fraction=1, shuffle=True, seed=3)
    found = shuffled.lazy().scorio(trial=None, run="seed").report(ps.avg(), ps.pass_at_k(2))
    assert_frame_equal(found.collect(), asked)
    only = found.filter(pl.col("model") == "bob").collect()
    assert_frame_equal(only, asked.filter(model="bob"))


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(-3 * pl.col("seed") - 1, id="negative"),
        pytest.param(10**12 * pl.col("seed"), id="sparse"),
        pytest.param(pl.col("seed") / 2, id="fractions"),
        pytest.param(pl.format("{}", "seed"), id="words"),
        pytest.param(pl.col("seed").cast(pl.String).cast(pl.Categorical), id="categories"),
    ],
)
def test_any_ids_name_runs_that_users_say_are_runs(log, ids):
    asked = log.scorio(trial=None, run="seed")
    found = log.with_columns(seed=ids).scorio(trial=None, run="seed")
    for call in (lambda own: own.report(ps.avg(), ps.pass_at_k(2)), lambda own: own.compare()):
        assert_frame_equal(call(found), call(asked))


def test_trials_without_a_run_say_nothing_of_runs(log):
    lost = log.with_columns(pl.when(pl.col("seed") > 0).then("seed"))
    found, three = (
        rows.scorio(trial=None, run="seed").describe()
        for rows in (lost, log.filter(pl.col("seed") > 0))
    )
    columns = ["run_sd", "run_sd_lo", "run_sd_hi", "pvalue_runs"]
    assert_frame_equal(found.select(columns), three.select(columns))
    assert found["trials"].sum() == log.height


def test_runs_that_vary_alike_share_their_degrees_of_freedom(log):
    own, alike = (
        log.scorio(trial=None, run="seed", run_effects=effects).avg()
        for effects in ("own", "alike")
    )
    assert ((alike["hi"] - alike["lo"]) < (own["hi"] - own["lo"])).any()
    with pytest.raises(ValueError, match="run_effects='alike' is about runs: name them with run="):
        log.scorio(trial=None, run_effects="alike")
    with pytest.raises(ValueError, match="run_effects must be"):
        log.scorio(trial=None, run="seed", run_effects="some")


def shifted_models(rng, sd, rates):
    """Two models whose runs of one number share what is good or bad about them."""
    shift = rng.normal(0, sd, R)
    return {name: rng.random((M, R)) < rates + shift for name in ("ada", "bob")}


def test_runs_that_models_share_leave_their_difference():
    rng = np.random.default_rng(12)
    models = shifted_models(rng, 0.15, rng.beta(2, 2, (M, 1)))
    log = log_of(models)
    plain = log.scorio(trial=None).compare().row(0, named=True)
    own, shared = (
        log.scorio(trial=None, run="seed", run_effects=effects) for effects in ("own", "shared")
    )
    assert_frame_equal(own.avg(), shared.avg())
    rows = [each.compare().row(0, named=True) for each in (own, shared)]
    assert rows[1]["hi"] - rows[1]["lo"] < rows[0]["hi"] - rows[0]["lo"]
    sums = [outcomes.mean(0) - outcomes.mean() for outcomes in models.values()]
    variance = ((sums[0] - sums[1]) / R) @ ((sums[0] - sums[1]) / R) * R / (R - 1)
    of_trials = sum(of_model(outcomes).of_trials for outcomes in models.values())
    term = RunVariance(variance, of_trials, R - 1.0, 1.0, 1.0).term(Z)
    ends = widened(plain["diff"], plain["lo"], plain["hi"], term, Z)
    assert (rows[1]["lo"], rows[1]["hi"]) == (pytest.approx(ends[0]), pytest.approx(ends[1]))


def test_runs_with_gaps_or_other_names_are_compared_as_independent():
    rng = np.random.default_rng(13)
    log = log_of(shifted_models(rng, 0.15, rng.beta(2, 2, (M, 1))))
    is_bob = pl.col("model") == "bob"
    renamed = log.with_columns(
        pl.when(is_bob).then(pl.col("seed") + 9).otherwise("seed").alias("seed")
    )
    lost = log.filter(~(is_bob & (pl.col("seed") == 1) & (pl.col("question") == 1)))
    for frame in (renamed, lost):
        own, shared = (
            frame.scorio(trial=None, run="seed", run_effects=effects).compare()
            for effects in ("own", "shared")
        )
        assert_frame_equal(own, shared)


def test_strata_have_terms_and_so_has_what_is_over_all_of_them(log):
    both = pl.concat(log.with_columns(part=pl.lit(part)) for part in "xy")
    asked = both.scorio(trial=None, by="part", run="seed")
    single = log.scorio(trial=None, run="seed").avg()
    for overall in ("macro", "micro"):
        rows = asked.avg(overall=overall)
        of_part, whole = rows.filter(part="x"), rows.filter(pl.col("part").is_null())
        assert_frame_equal(of_part.select("lo", "hi"), single.select("lo", "hi"))
        # The same questions twice in the same runs: twice the questions do not average runs out.
        halves = (whole["hi"] - whole["lo"]) / (single["hi"] - single["lo"])
        assert halves.min() > 0.9


def test_several_trials_in_a_run_count_as_their_mean(models):
    rng = np.random.default_rng(3)
    twice = {
        name: rng.permuted(np.repeat(own, 2, 1)[:, :7], axis=1) for name, own in models.items()
    }
    log = log_of(twice).with_columns(pl.col("seed") // 2)
    rows = log.scorio(trial=None, run="seed").avg()
    assert (rows["hi"] - rows["lo"]).min() > 0.05
    with pytest.raises(ValueError, match=r"pass_at_k needs trials from different runs, but some"):
        log.scorio(trial=None, run="seed").pass_at_k(2)


def test_real_rewards_have_terms_too(log):
    rng = np.random.default_rng(9)
    rewards = log.with_columns(category=pl.col("category") * 0.5 + 0.1 * pl.Series(rng.random(960)))
    plain, said = (rewards.scorio(trial=None, **roles).avg() for roles in ({}, {"run": "seed"}))
    assert (said["hi"] - said["lo"] > plain["hi"] - plain["lo"]).all()
    weighted = log.with_columns(pl.col("category") + pl.col("question") % 2)
    asked = ps.avg(w=[0, 0.5, 1])
    plain, said = (weighted.scorio(trial=None, **r).report(asked) for r in ({}, {"run": "seed"}))
    assert (said["hi"] - said["lo"] > plain["hi"] - plain["lo"]).all()


@pytest.mark.parametrize("runs", [1, 4, 6])  # 6: more than 512 ids
def test_where_runs_cannot_be_seen_a_report_says_so(runs):
    outcomes = outcomes_of(np.random.default_rng(1), 0.0, runs=runs)
    log = log_of({"ada": outcomes})
    if runs > 1:  # ids of their own for each question
        log = log.with_columns(seed=pl.int_range(pl.len()))
    with pytest.warns(ps.RunWarning, match="intervals are about these runs"):
        said = log.scorio(trial=None, run="seed").avg()
    assert said["inference"].item() == "calibrated, these runs"
    assert_frame_equal(*(rows.drop("inference") for rows in (said, log.scorio(trial=None).avg())))
    spread = log.scorio(trial=None, run="seed").describe()
    assert spread.select("run_sd", "run_share", "pvalue_runs").row(0) == (None, None, None)


def test_posteriors_and_single_questions_are_about_these_runs(log):
    for options in ({"prior": "uniform"}, {"per": "question", "prior": "uniform"}):
        said = log.scorio(trial=None, run="seed").bayes(**options)
        assert said["inference"].unique().to_list() == ["posterior, these runs"]
        plain = log.scorio(trial=None).bayes(**options)
        assert_frame_equal(*(rows.drop("inference") for rows in (said, plain)))


def test_decisions_about_a_population_have_the_term_whatever_the_law(log, models):
    plain = log.scorio(trial=None, target="population")
    said = log.scorio(trial=None, run="seed", target="population")
    old, new = (asked.compare().row(0, named=True) for asked in (plain, said))
    first, other = (of_model(outcomes) for outcomes in models.values())
    runs = first.less(other)
    ends = widened(old["diff"], old["lo"], old["hi"], runs.term(Z), Z)
    assert (new["lo"], new["hi"]) == (pytest.approx(ends[0]), pytest.approx(ends[1]))
    assert (old["inference"], new["inference"]) == ("calibrated", "calibrated, other runs")
    old, new = (asked.rank().sort("model") for asked in (plain, said))
    for row, outcomes in enumerate(models.values()):
        mu, *ends = old.select("estimate", "lo", "hi").row(row)
        ends = widened(mu, *ends, of_model(outcomes).term(Z), Z)
        assert new.select("lo", "hi").row(row) == pytest.approx((max(ends[0], 0), min(ends[1], 1)))
    assert new["prob_best"].max() < old["prob_best"].max()
    errors = [asked.gate("ada", margin=0.01)["pvalue_pass"].item() or 1 for asked in (plain, said)]
    assert errors[0] <= errors[1]


def test_a_look_at_the_log_says_how_far_runs_are_apart(log, models):
    rows = log.scorio(trial=None, run="seed").describe()
    for row, outcomes in zip(rows.iter_rows(named=True), models.values(), strict=True):
        runs = of_model(outcomes)
        found = row["run_sd"], row["run_sd_lo"], row["run_sd_hi"], row["run_share"]
        assert found == pytest.approx((*runs.run_sd(0.95), runs.run_share))
    assert rows["pvalue_runs"].n_unique() == 1
    assert not {"run_sd", "pvalue_runs"} & {*log.scorio(trial="seed").describe().columns}


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.0, 0.03])
def test_intervals_and_differences_hold_in_other_runs(sd):
    """Three models on 200 questions in 4 runs: of 60 logs nearly all intervals hold."""
    rng = np.random.default_rng(17)
    held, won = 0, 0
    rates = rng.beta(0.5, 0.5, (200, 1)).clip(0.1, 0.9)
    for _ in range(60):
        models = {
            name: rng.random((200, 4)) < rates + rng.normal(0, sd, 4).clip(-0.1, 0.1)
            for name in "abc"
        }
        asked = log_of(models).scorio(trial=None, run="seed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ps.CheckWarning)
            rows, pairs = asked.avg(), asked.compare(simultaneous=True)
        held += int(((rows["lo"] <= rates.mean()) & (rows["hi"] >= rates.mean())).sum())
        won += pairs["better"].is_not_null().any()
    assert held >= 0.93 * 180
    assert won <= 6


def test_the_largest_of_several_rewards_is_about_these_very_runs():
    rng = np.random.default_rng(0)
    keys = [(q, t, rng.random()) for q in range(20) for t in range(4)]
    frame = pl.DataFrame(keys, schema=["question", "trial", "category"], orient="row")
    log = frame.scorio(model=None, run="trial", bounds=(0, 1))
    with pytest.warns(ps.RunWarning, match=r"^max_at_k: how runs change the largest"):
        found = log.report(ps.max_at_k(2))
    alone = frame.scorio(model=None, bounds=(0, 1)).report(ps.max_at_k(2))
    assert found["inference"].item() == "calibrated, these runs"
    assert_frame_equal(*(rows.drop("inference") for rows in (found, alone)))
