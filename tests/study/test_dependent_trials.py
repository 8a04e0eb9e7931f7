"""Trials that are not independent count less: what reports and decisions do after an alarm."""

import warnings

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.study.log_checks import LogChecks
from tests import made_logs

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
M, R = 120, 6


def outcomes_of(seed, questions=M, runs=R):
    rng = np.random.default_rng(seed)
    return rng.random((questions, runs)) < rng.beta(0.7, 0.7, (questions, 1))


def log_of(model, outcomes, present=None):
    """A row for each trial that is `present`."""
    question, trial = np.indices(outcomes.shape)
    columns = {"question": question, "trial": trial, "category": outcomes.astype(int)}
    log = pl.DataFrame({name: values.ravel() for name, values in columns.items()})
    log = log.select(pl.lit(model).alias("model"), pl.all())
    return log if present is None else log.filter(pl.Series(present.ravel()))


FAIR = outcomes_of(1)
STOPPED = np.ones_like(FAIR)
STOPPED[:, 2:] = (FAIR[:, 0] != FAIR[:, 1])[:, None]


def with_copy(outcomes):
    """The last run is that of the second one."""
    return np.column_stack([outcomes[:, :-1], outcomes[:, 1]])


FAULTY = {
    "one trial a question": (np.repeat(FAIR[:, :1], R, 1), None, FAIR[:, :1]),
    "without runs 1, 3, 5": (np.repeat(FAIR[:, :3], 2, 1), None, FAIR[:, :3]),
    "without run 5": (with_copy(FAIR), None, FAIR[:, :5]),
    "first 2 trials": (FAIR, STOPPED, FAIR[:, :2]),
}


@pytest.fixture(params=FAULTY, name="faulty")
def of_each_fault(request):
    """A log with a fault, the note on it, and the log without."""
    outcomes, present, kept = FAULTY[request.param]
    fair = log_of("fair", outcomes_of(2))
    found = pl.concat([log_of("m", outcomes, present), fair])
    return request.param, found, pl.concat([log_of("m", kept), fair])


def test_a_report_counts_the_trials_that_say_something_and_says_so(faulty):
    note, log, kept = faulty
    metrics = ps.avg(), ps.pass_at_k([1, 2])
    with pytest.warns(ps.CheckWarning, match="in 1 of 2 groups, the first: m: "):
        found = log.scorio.report(*metrics)
    assert_frame_equal(found.drop("inference"), kept.scorio.report(*metrics).drop("inference"))
    own = found.filter(model="m", metric="avg")["inference"].item()
    assert own == f"calibrated, {note}"
    assert found.filter(model="fair")["inference"].unique().to_list() == ["calibrated"]


def test_decisions_are_about_the_same_trials(faulty):
    _, log, kept = faulty
    for call in (
        lambda log: log.compare(),
        lambda log: log.rank(),
        lambda log: log.best(),
        lambda log: log.gate("fair", margin=0.1),
        lambda log: log.avg(per="question", prior="uniform"),
    ):
        assert_frame_equal(*(call(each.scorio).drop("inference") for each in (log, kept)))


def test_decisions_say_which_trials_count(faulty):
    note, log, _ = faulty
    for target in ("benchmark", "population"):
        asked = log.scorio(target=target)
        words = f"fair: calibrated; m: calibrated, {note}".replace("fair", "model_a")
        assert asked.compare()["inference"].to_list() == [words.replace("m:", "model_b:")]
        words = f"model: calibrated, {note}; baseline: calibrated"
        assert asked.gate("fair", margin=0.1)["inference"].to_list() == [words]
        own = dict(asked.rank().select("model", "inference").rows())
        assert own == {"fair": "calibrated", "m": f"calibrated, {note}"}
        (best,) = asked.best().select("model", "inference").rows()
        assert best == (best[0], own[best[0]])


def test_rows_over_strata_say_which_trials_count(faulty):
    note, log, kept = faulty
    half = pl.col("question").mod(2).alias("half")
    for overall in ("macro", "micro"):
        found, wanted = (
            each.with_columns(half)
            .scorio(by="half")
            .avg(overall=overall)
            .filter(pl.col("half").is_null())
            for each in (log, kept)
        )
        assert_frame_equal(found.drop("inference"), wanted.drop("inference"))
        assert any(word in found["inference"][1] for word in (note, "without run"))


def test_lazy_logs_and_words_as_ids_give_the_same_numbers(faulty):
    note, log, _ = faulty
    found = log.scorio.avg()
    assert_frame_equal(log.lazy().scorio.avg().collect(), found)
    if note != "first 2 trials":  # words have no order
        words = log.with_columns(trial=pl.format("t{}", "trial"))
        words = words.scorio(run="trial", run_effects="seen")
        assert_frame_equal(words.avg().drop("inference"), found.drop("inference"))


def test_counted_logs_count_copies_once():
    for name, note in (("one trial a question",) * 2, ("without runs 1, 3, 5", "copies once")):
        outcomes, _, kept = FAULTY[name]
        counts = log_of("m", outcomes).scorio.counts().scorio(count="count")
        row = counts.avg()
        assert row["inference"].item() == f"calibrated, {note}"
        wanted = log_of("m", kept).scorio(validate=False).avg()
        assert_frame_equal(row.drop("inference"), wanted.drop("inference"))


@pytest.mark.parametrize(("shared", "looks"), [(3, 0), (12, 1), (40, 2)])
def test_a_log_is_checked_as_far_as_there_is_doubt(monkeypatch, shared, looks):
    """Two late runs agree on questions that are too few for doubt, for an alarm, or enough."""
    outcomes = outcomes_of(7, 60, 30)
    present = np.ones_like(outcomes)
    present[shared:, 28:] = False
    outcomes[:, 29] = outcomes[:, 28] = np.arange(60) % 2
    log = pl.concat([log_of("m", outcomes, present), log_of("fair", outcomes_of(2))])
    checked, from_log = [], LogChecks.from_log
    monkeypatch.setattr(
        LogChecks, "from_log", lambda frame, roles: checked.append(frame) or from_log(frame, roles)
    )
    report = log.scorio.avg()
    models = [frame.select("model").collect()["model"].n_unique() for frame in checked]
    assert models == [1, 2][:looks]
    assert report["inference"].str.contains("without").any() == (looks == 2)


def test_the_same_copies_are_left_out_at_each_read():
    whole = made_logs.outcomes({(50, 25): 30}, "sure")
    log = pl.concat([made_logs.outcomes({(4, 0): 24, (4, 2): 6}), whole])
    for _ in range(20):  # ids that are not 0, 1, ... are read twice
        row = log.scorio.avg().row(by_predicate=pl.col("model") == "sure", named=True)
        assert (row["trials"], row["inference"]) == (60, "calibrated, copies once")


def test_trials_that_stopped_in_an_unknown_order_have_no_interval():
    log = log_of("m", FAIR, STOPPED)
    row = log.scorio(trial=None).avg().row(0, named=True)
    assert (row["sigma"], row["lo"], row["hi"]) == (None, None, None)
    assert row["inference"] == "none: trials stopped"
    assert row["estimate"] is not None
    both = pl.concat([log, log_of("fair", FAIR), log_of("other", FAIR)]).scorio(trial=None)
    for asked in (both, both.frame.scorio(trial=None, target="population")):
        pairs = asked.compare()
        unknown = pairs.filter(pl.col("inference") != "calibrated")
        assert unknown.select("model_a", "model_b").rows() == [("fair", "m"), ("m", "other")]
        assert unknown["inference"][1] == "model_a: none: trials stopped; model_b: calibrated"
        assert unknown["diff"].is_not_null().all()
        assert unknown.select("sigma", "lo", "hi", "z", "better").null_count().row(0) == (2,) * 5
        last = asked.rank().filter(model="m").row(0, named=True)
        assert (last["rank"], last["lo"], last["prob_best"]) == (None, None, None)
        assert last["inference"] == "none: trials stopped"
        assert asked.best()["could_be_best"].item().to_list() == ["fair", "other"]
    with pytest.raises(ValueError, match="trials stopped on their outcomes in 1 group"):
        both.gate("fair", margin=0.1)


def test_a_plan_by_difficulty_is_left_alone():
    present = np.ones_like(FAIR)
    present[:60, 3:] = False
    present[np.argsort(FAIR.mean(1))[:60]] = True
    log = log_of("m", FAIR, present)
    assert log.scorio.avg()["inference"].item() == "calibrated"


def test_missing_trials_are_no_trials():
    outcomes, present, kept = FAULTY["first 2 trials"]
    log = log_of("m", outcomes, present)
    lost = pl.DataFrame({"model": "m", "question": range(M), "trial": -1, "category": None})
    log = pl.concat([log, lost.cast(dict(log.schema))])
    found = log.scorio(missing="drop").avg().row(0, named=True)
    assert found["dropped"] == M
    assert found["trials"] == kept.size
    assert found["lo"] == log_of("m", kept).scorio.avg()["lo"].item()


def test_who_trusts_a_log_is_not_asked():
    log = log_of("m", np.repeat(FAIR[:, :1], R, 1)).scorio(validate=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = log.avg().row(0, named=True)
    assert (row["trials"], row["inference"]) == (M * R, "calibrated")


def test_a_log_without_keys_is_repaired_too():
    outcomes, present, kept = FAULTY["first 2 trials"]
    log, wanted = (log_of("m", *own).drop("model") for own in ((outcomes, present), (kept,)))
    row = log.scorio(model=None).avg()
    assert row["inference"].item() == "calibrated, first 2 trials"
    assert_frame_equal(row.drop("inference"), wanted.scorio(model=None).avg().drop("inference"))


def test_verdicts_of_a_judge_are_only_warned_of():
    log = log_of("m", np.repeat(FAIR[:, :1], R, 1))
    judge = ps.judge(sensitivity=(90, 100), specificity=(80, 100))
    with pytest.warns(ps.CheckWarning):
        assert log.scorio(judge=judge).avg()["trials"].item() == M * R


@pytest.mark.parametrize("fault", ["one trial a question", "first 2 trials"])
def test_intervals_hold_after_the_repair(fault):
    """Of 60 logs each nearly all intervals hold the score, and without the repair few do."""
    held = {True: 0, False: 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rates = rng.beta(0.7, 0.7, (M, 1))
        outcomes = rng.random((M, R)) < rates
        present = np.ones_like(outcomes)
        if fault == "one trial a question":
            outcomes = np.repeat(outcomes[:, :1], R, 1)
        else:
            present[:, 1:] = ~outcomes[:, :1]
        log = log_of("m", outcomes, present)
        for repaired in held:
            row = log.scorio(validate=repaired).avg().row(0, named=True)
            held[repaired] += row["lo"] <= rates.mean() <= row["hi"]
    assert held[True] >= 54
    assert held[False] <= 40
