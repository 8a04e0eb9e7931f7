"""The first trials of each question: every method counts them, and nothing else."""

from datetime import date

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.made_logs import log_of_runs

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

LOG = log_of_runs(0.2, seed=3, questions=30, runs=5)
FIRST = LOG.filter(pl.col("trial") < 2)
CALLS = {
    "report": lambda log: log.report(ps.avg(), ps.pass_at_k([1, 2])),
    "posterior": lambda log: log.bayes(prior="uniform"),
    "questions": lambda log: log.report(ps.avg(), per="question"),
    "compare": lambda log: log.compare(),
    "population": lambda log: log.compare(target="population"),
    "rank": lambda log: log.rank(),
    "best": lambda log: log.best(),
    "gate": lambda log: log.gate("m0", margin=0.1),
    "regressions": lambda log: log.regressions("m0"),
    "leaderboard": lambda log: pl.DataFrame(log.leaderboard()),
    "plan": lambda log: log.trials_needed(half_width=0.05),
    "reruns": lambda log: log.reruns(),
    "trajectory": lambda log: log.trajectory(),
    "counts": lambda log: log.counts().sort("model", "question", "category"),
    "describe": lambda log: log.describe(),
    "check": lambda log: log.check(),
    "analysis": lambda log: log.questions(),
}


@pytest.mark.parametrize("call", CALLS)
def test_every_method_counts_the_first_trials_alone(call):
    ask = CALLS[call]
    shuffled = LOG.sample(fraction=1, shuffle=True, seed=1)
    assert_frame_equal(ask(shuffled.scorio(first=2)), ask(FIRST.scorio))


@pytest.mark.parametrize("model", [None, "m1"])
def test_a_lazy_log_is_read_once_and_filters_keep_the_numbers(model):
    eager = LOG.scorio(first=2).report(ps.avg(), ps.pass_at_k(2))
    plan = LOG.lazy().scorio(first=2).report(ps.avg(), ps.pass_at_k(2))
    assert plan.explain().count("DF [") == 1
    kept = pl.lit(value=True) if model is None else pl.col("model") == model
    assert_frame_equal(plan.filter(kept).collect(), eager.filter(kept))


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(pl.col("trial") * 10**9 - 5, id="sparse"),
        pytest.param(pl.col("trial") / 4, id="fractions"),
        pytest.param(pl.lit(date(2026, 1, 1)) + pl.duration(days="trial"), id="days"),
    ],
)
def test_ids_are_numbers_or_times_in_any_order(ids):
    found = LOG.with_columns(trial=ids).scorio(first=2).avg()
    assert_frame_equal(found, FIRST.scorio.avg())
    backwards = LOG.with_columns(trial=-pl.col("trial")).scorio(first=2).avg()
    assert_frame_equal(backwards, LOG.filter(pl.col("trial") > 2).scorio.avg())


def test_a_page_and_the_command_count_them_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    LOG.write_parquet("log.parquet")
    assert main(["leaderboard", "log.parquet", "--first", "2", "--format", "csv"]) == 0
    printed = pl.read_csv(capsys.readouterr().out.encode())
    assert {*printed["trials"]} == {60}
    assert main(["report", "log.parquet", "--first", "2", "-o", "-"]) == 0
    whole = capsys.readouterr().out
    assert main(["report", "log.parquet", "--first", "6", "-o", "-"]) == 1
    assert "90 questions have fewer than --first 6 trials" in capsys.readouterr().out
    FIRST.write_parquet("log.parquet")
    assert main(["report", "log.parquet", "-o", "-"]) == 0
    kept = capsys.readouterr().out
    assert whole.splitlines()[0] == kept.splitlines()[0]


def test_a_question_with_fewer_trials_is_an_error_with_its_place():
    lacking = LOG.filter(~((pl.col("question") == 3) & (pl.col("trial") > 0)))
    message = (
        r"^3 questions have fewer than first=2 trials, the first at model='m0', question=3: 1 "
        r"trial\. Count fewer with first=, or filter such questions out\."
    )
    with pytest.raises(ValueError, match=message):
        lacking.scorio(first=2).avg()
    assert lacking.scorio(first=1).avg()["trials"].to_list() == [30] * 3


@pytest.mark.parametrize("missing", ["drop", 0, "bounds"])
def test_a_trial_without_an_outcome_is_a_trial(missing):
    """A trial that was made again after an error is no first trial."""
    lost = (pl.col("question") < 4) & (pl.col("trial") == 1)
    errored = LOG.with_columns(category=pl.when(~lost).then("category"))
    found = errored.scorio(first=2, missing=missing).avg()
    wanted = errored.filter(pl.col("trial") < 2).scorio(missing=missing).avg()
    assert_frame_equal(found, wanted)


def test_ids_that_are_null_or_repeat_are_refused_as_ever():
    null = LOG.with_columns(trial=pl.when(pl.col("trial") != 4).then("trial"))
    with pytest.raises(ValueError, match="a null trial id"):
        null.scorio(first=2).avg()
    with pytest.raises(ValueError, match="the same trial twice"):
        pl.concat([LOG, LOG]).scorio(first=2).avg()


@pytest.mark.parametrize(
    ("roles", "why"),
    [
        ({"trial": None}, "trial=None says that there are none"),
        ({"validate": False}, "validate=False reads none"),
        ({"count": "trial"}, "count= rows have none"),
    ],
)
def test_trials_without_ids_have_no_first_ones(roles, why):
    message = f"^first=2 counts the trials of each question in the order of their ids, and {why}"
    with pytest.raises(ValueError, match=message):
        LOG.scorio(first=2, **roles)


def test_words_have_no_order():
    words = LOG.with_columns(trial=pl.format("t{}", "trial"))
    with pytest.raises(TypeError, match=r"the ids in 'trial' are String, which has no order"):
        words.scorio(first=2).avg()


def test_prior_trials_all_count():
    found = LOG.scorio(first=2).bayes(prior=LOG)
    assert_frame_equal(found, FIRST.scorio.bayes(prior=LOG))


def test_retries_until_a_success_bias_no_first_trial():
    first = pl.col("trial").filter(pl.col("category") == 1).min().over("model", "question")
    retried = LOG.filter(pl.col("trial") <= first.fill_null(5)).scorio
    plain = FIRST.filter(pl.col("trial") == 0).scorio.avg()
    with pytest.warns(ps.CheckWarning, match="ended with 1 success"):
        assert (retried.avg()["estimate"] > plain["estimate"] + 0.05).all()
    assert_frame_equal(retried(first=1).avg(), plain)
