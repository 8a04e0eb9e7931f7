"""Runs that nobody named: their term where the log shows that they differ, and nowhere else."""

import warnings

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.study import run_terms

ENDS = ["lo", "hi"]


def log_of(sd, seed=0, models=3, questions=200, runs=4):
    """Models whose runs are `sd` apart on the scale of logits."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.8, 0.8, (models, questions, 1))
    logits = np.log(rates / (1 - rates)) + rng.normal(0, sd, (models, 1, runs))
    outcomes = (rng.random((models, questions, runs)) < 1 / (1 + np.exp(-logits))).astype(int)
    model, question, trial = np.indices(outcomes.shape)
    columns = {"model": model, "question": question, "trial": trial, "category": outcomes}
    log = pl.DataFrame({name: values.ravel() for name, values in columns.items()})
    return log.with_columns(pl.format("m{}", "model").alias("model"))


def quietly(function):
    """The result, where a warning of runs is expected or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.RunWarning)
        return function()


@pytest.fixture(scope="module")
def quiet():
    return log_of(0.0, seed=2)


@pytest.fixture(scope="module")
def loud():
    return log_of(0.3)


def test_runs_that_are_alike_change_no_byte(quiet):
    for call in (lambda log: log.report(ps.avg(), ps.pass_at_k([1, 4])), lambda log: log.compare()):
        assert_frame_equal(call(quiet.scorio), call(quiet.scorio(run_effects="none")))


def test_runs_that_differ_have_the_term_of_named_ones(loud):
    metrics = ps.avg(), ps.pass_at_k([1, 4]), ps.maj_at_k(3)
    with pytest.warns(ps.RunWarning, match=r"^runs differ \(p < 0\.001\): one run moves"):
        found = loud.scorio.report(*metrics)
    assert_frame_equal(found, loud.scorio(run="trial").report(*metrics))
    with pytest.warns(ps.RunWarning, match="Intervals include that"):
        pairs = loud.scorio.compare()
    assert_frame_equal(pairs, loud.scorio(run="trial").compare())
    ranks = quietly(loud.scorio.rank)
    assert_frame_equal(ranks, loud.scorio(run="trial").rank())


def test_comparisons_ask_less_of_the_evidence_than_intervals():
    log = log_of(0.12, seed=14)
    assert 0.05 < log.scorio(run="trial").describe()["pvalue_runs"][0] < 0.2
    these, named = log.scorio(run_effects="none"), log.scorio(run="trial")
    assert_frame_equal(log.scorio.avg(), these.avg())
    assert_frame_equal(log.scorio.compare(), named.compare())
    three = log_of(0.12, seed=2, runs=3)
    assert 0.05 < three.scorio(run="trial").describe()["pvalue_runs"][0] < 0.2
    found, these = three.scorio.compare(), three.scorio(run_effects="none").compare()
    assert found["inference"].unique().to_list() == ["calibrated, these runs"]
    assert_frame_equal(*(rows.drop("inference") for rows in (found, these)))


@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_rows_over_strata_have_the_runs_of_all_of_them(overall):
    log = pl.concat([log_of(0.4, seed).with_columns(by=pl.lit(seed)) for seed in (0, 1)])
    found = quietly(lambda: log.scorio(by="by").report(ps.avg(), overall=overall))
    assert_frame_equal(found, log.scorio(by="by", run="trial").report(ps.avg(), overall=overall))
    assert {*found["inference"]} == {"calibrated, other runs"}


def test_decisions_about_a_population_ask_for_runs_too(loud):
    found, named, these = (
        quietly(loud.scorio(target="population", **roles).compare)
        for roles in ({}, {"run": "trial"}, {"run_effects": "none"})
    )
    assert_frame_equal(found, named)
    assert (found["sigma"] > these["sigma"]).all()


def test_of_two_runs_there_is_only_a_warning():
    log = log_of(0.6, runs=2)
    with pytest.warns(ps.RunWarning, match="of models with three runs or more"):
        found = log.scorio.avg()
    assert found["inference"].unique().to_list() == ["calibrated, these runs"]
    these = log.scorio(run_effects="none").avg()
    assert_frame_equal(*(rows.drop("inference") for rows in (found, these)))


def test_questions_with_gaps_are_read_again_and_large_logs_are_not_asked(loud, monkeypatch):
    lacking = loud.filter(~((pl.col("question") < 20) & (pl.col("trial") == 3)))
    found = quietly(lacking.scorio.avg)
    assert_frame_equal(found, lacking.scorio(run="trial").avg())
    monkeypatch.setattr(run_terms, "MOST_TRIALS", 100)
    assert_frame_equal(lacking.scorio.avg(), lacking.scorio(run_effects="none").avg())
    assert_frame_equal(quietly(loud.scorio.avg), loud.scorio(run="trial").avg())


def test_complete_logs_have_the_numbers_of_their_questions(loud):
    log = loud.with_columns(pl.col("trial") + 7, pl.col("category") == 0)  # the other one is rare
    found = quietly(lambda: log.scorio(run="trial", trial=None, run_effects="seen").avg())
    assert_frame_equal(quietly(log.scorio.avg), found)


@pytest.mark.parametrize(
    "roles",
    [{"run_effects": "none"}, {"trial": "word"}, {"trial": None}, {"validate": False}],
)
def test_ids_that_name_no_runs_are_not_asked(loud, roles):
    words = loud.with_columns(word=pl.format("t{}", "trial"))
    assert_frame_equal(words.scorio(**roles).avg(), words.scorio(run_effects="none").avg())


def test_words_are_runs_where_somebody_names_them(loud):
    words = loud.with_columns(seed=pl.format("t{}", "trial"))
    found = quietly(lambda: words.scorio(run="seed", run_effects="seen").avg())
    assert_frame_equal(found, loud.scorio(run="trial").avg())


def test_several_trials_of_a_question_in_a_run_are_not_asked(loud):
    log = loud.with_columns(run=pl.col("trial") // 2).scorio(run="run", run_effects="seen")
    assert_frame_equal(log.avg(), loud.scorio(run_effects="none").avg())


def test_fewer_than_ten_mixed_questions_say_nothing():
    log = log_of(1.0, questions=9)
    assert_frame_equal(log.scorio.avg(), log.scorio(run_effects="none").avg())


def test_trials_that_stopped_on_outcomes_are_not_runs_that_differ():
    rng = np.random.default_rng(5)
    rows = [
        ("m", question, trial, outcome)
        for question, rate in enumerate(rng.beta(0.8, 0.8, 300).tolist())
        for outcomes in [(rng.random(8) < rate).astype(int).tolist()]
        for trial, outcome in enumerate(outcomes[: 8 if outcomes[0] != outcomes[1] else 2])
    ]
    log = pl.DataFrame(rows, ["model", "question", "trial", "category"], orient="row")
    with pytest.warns(ps.CheckWarning):
        found = log.scorio.avg()
    with pytest.warns(ps.CheckWarning):
        assert_frame_equal(found, log.scorio(run_effects="none").avg())


def test_counts_have_no_runs_and_say_so_where_they_are_asked_for(loud):
    counts = loud.scorio.counts()
    assert_frame_equal(counts.scorio(count="count").avg(), loud.scorio(run_effects="none").avg())
    with pytest.raises(ValueError, match="already counted, of which nobody knows the runs"):
        counts.with_columns(run=0).scorio(count="count", run="run").avg()


def test_a_filter_on_the_result_asks_the_rows_that_it_leaves(loud):
    found = loud.lazy().scorio.avg().filter(model="m1")
    own = loud.filter(model="m1").scorio.avg
    assert_frame_equal(quietly(found.collect), quietly(own))


def test_a_summary_knows_the_spread_of_real_rewards_and_nothing_of_labels(loud):
    half = loud.with_columns(pl.col("category") * 0.5 + pl.col("trial") * 0.1)
    spread = half.scorio(run="trial").describe()
    assert (spread["run_sd"] > 0.05).all()
    labels = loud.with_columns(pl.col("category").cast(pl.String)).scorio(run="trial").describe()
    assert labels.select("run_sd", "pvalue_runs").n_unique() == 1
    assert labels["pvalue_runs"].null_count() == 3


def test_no_interval_is_narrower_than_about_these_runs_or_wider_than_of_named_ones():
    for seed in range(6):
        log = log_of(0.15, seed=seed, questions=80)
        these, seen, named = (
            quietly(lambda roles=roles, log=log: log.scorio(**roles).avg().select(ENDS))
            for roles in ({"run_effects": "none"}, {}, {"run": "trial"})
        )
        assert (named["lo"] <= seen["lo"]).all()
        assert (seen["lo"] <= these["lo"]).all()
        assert (named["hi"] >= seen["hi"]).all()
        assert (seen["hi"] >= these["hi"]).all()


def test_errored_trials_that_were_tried_again_are_no_runs_that_differ(quiet):
    """Of a question whose trial 0 has an error there is a trial 1, which succeeds more often."""
    errored = pl.col("question") % 5 == 0
    kept = quiet.filter((pl.col("trial") == 0) | ((pl.col("trial") == 1) & errored))
    outcome = pl.when((pl.col("trial") == 1) | ~errored).then("category")
    log = kept.with_columns(category=outcome)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ps.RunWarning)
        found = log.scorio(missing=0).avg()
    assert_frame_equal(found, log.scorio(missing=0, run_effects="none").avg())
    verdicts = log.scorio(missing=0).check().filter(check="runs")["verdict"]
    assert set(verdicts) == {"not tested"}


def test_a_summary_shows_how_far_runs_are_apart_where_ids_are_shared(loud):
    spread = ["run_sd", "run_sd_lo", "run_sd_hi", "run_share", "pvalue_runs"]
    found = loud.scorio.describe()
    assert found.select(spread).null_count().sum_horizontal().item() == 0
    assert_frame_equal(found, loud.scorio(run="trial").describe())
    own = loud.with_columns(trial=pl.int_range(pl.len()))  # no run has two questions
    assert own.scorio.describe()["run_sd"].null_count() == 3
    assert loud.with_columns(category=2).scorio.describe()["run_sd"].null_count() == 3
    assert not {*spread} & {*loud.scorio(validate=False).describe().columns}
    assert not {*spread} & {*loud.scorio(run_effects="none").describe().columns}
