"""Plans where runs differ: more runs are needed, which no number of questions replaces."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from tests.made_logs import log_of_runs

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

LOG = log_of_runs(0.5, runs=5)
NAMED, THESE = LOG.scorio(run="trial"), LOG.scorio


def half_width(log, target="benchmark"):
    rows = log.scorio(run="trial", target=target).avg()
    return ((rows["hi"] - rows["lo"]) / 2).to_numpy()


def test_pairs_that_other_runs_may_turn_round_need_further_trials():
    pairs, needed = NAMED.compare(), NAMED.trials_needed()
    either = pl.concat(
        [pairs, pairs.rename({"model_a": "model_b", "model_b": "model_a"})], how="diagonal"
    )
    told = needed.join(either, on=["model_a", "model_b"])
    assert told["better"].null_count() > 0
    assert (told["extra_trials"].fill_null(1) > 0).equals(told["better"].is_null())
    these = needed.join(THESE.trials_needed(), on=["model_a", "model_b"])
    assert (these["extra_trials"] > these["extra_trials_right"]).any()


def test_strata_and_what_is_over_them_are_planned_with_their_runs():
    log = pl.concat([LOG.with_columns(by=pl.lit(name)) for name in "xy"]).scorio(
        by="by", run="trial"
    )
    for overall in ("macro", "micro"):
        needed = log.trials_needed(overall=overall, half_width=0.03)["extra_trials"].to_list()
        own = NAMED.trials_needed(half_width=0.03)["extra_trials"].to_list()
        assert needed[:6] == 2 * own
        # Twice the questions tell the noise of a trial better, which is little beside the runs.
        assert needed[6:] == pytest.approx(own, abs=1)


@pytest.mark.parametrize("overall", [None, "macro", "micro"])
def test_runs_are_in_the_plans_of_rewards_once(overall):
    score = pl.col("category") * 0.6 + (pl.col("question").hash() % 7) / 20
    rewards = LOG.with_columns(category=score, by=pl.col("question").hash() % 2)
    log = rewards.scorio(run="trial", bounds=(0, 1), by="by")
    today = log.avg(overall=overall).sort("by", "model", nulls_last=True)["sigma"]
    needed = log.trials_needed(overall=overall, half_width=0.5).sort("by", "model", nulls_last=True)
    assert needed["extra_trials"].max() == 0
    assert needed["sigma"].to_list() == pytest.approx(today.to_list())


@pytest.mark.slow
@pytest.mark.parametrize("wish", [0.04, 0.06])
def test_a_log_with_the_planned_runs_has_the_wanted_width(wish):
    plans = [log_of_runs(0.5, seed, runs=5).scorio(run="trial") for seed in range(40)]
    extra = np.median([plan.trials_needed(half_width=wish)["extra_trials"] for plan in plans])
    after = [half_width(log_of_runs(0.5, seed, runs=5 + int(extra))) for seed in range(40)]
    assert np.mean(after) == pytest.approx(wish, rel=0.15)


def test_no_number_of_questions_replaces_runs():
    wish, options = 0.05, {"max_questions": 100_000}
    needed = NAMED.questions_needed(half_width=wish, **options)
    assert needed["extra_trials"].min() > 0
    # The floor: what runs bring to each pair, with Student's quantile.
    spread = NAMED.describe()["run_sd"].to_numpy() ** 2
    for row in needed.iter_rows(named=True):
        a, b = (int(row[side][1:]) for side in ("model_a", "model_b"))
        runs = 5 + row["extra_trials"]
        assert t.ppf(0.975, 2 * (runs - 1)) * np.sqrt((spread[a] + spread[b]) / runs) < wish
    these = THESE.questions_needed(half_width=wish)
    assert these["extra_trials"].to_list() == [0, 0]
    wide = NAMED.questions_needed(half_width=0.4)
    assert wide.select("extra_trials", "extra_questions").rows() == [(0, 0)] * 2


def test_a_gate_knows_that_trials_are_runs():
    named, these = (log.gate("m0", margin=0.01, max_trials=5000) for log in (NAMED, THESE))
    open_pairs = named.filter(verdict="undecided").join(these, on="model")
    assert open_pairs.height > 0
    asked = open_pairs.filter(pl.col("extra_trials_right") > 0)
    assert (asked["extra_trials"].fill_null(9999) >= asked["extra_trials_right"]).all()
    decided = open_pairs.filter(pl.col("extra_trials_right") == 0)
    assert decided["extra_trials"].fill_null(1).min() > 0


def test_what_runs_scatter_is_no_signal():
    log = log_of_runs(0.5, 0, runs=5)  # equal models, whose runs are apart
    these, named = log.scorio, log.scorio(run="trial")
    assert these.questions_needed()["extra_questions"].null_count() == 0
    assert named.questions_needed()["extra_questions"].to_list() == [None, None]
    plans = [each.gate("m0", margin=0.05)["extra_trials"].to_list() for each in (these, named)]
    assert (np.array(plans[1]) > plans[0]).all()
