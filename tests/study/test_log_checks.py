"""The checks of a log: copies, runs that differ, trials that stopped on outcomes."""

import numpy as np
import polars as pl
import pytest
from polars.exceptions import ColumnNotFoundError
from polars.testing import assert_frame_equal

from polars_scorio.counting.categories import counted_classes
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.run_bits import found_words
from polars_scorio.counting.tally import count_questions

M, R = 100, 8


def rates(rng, questions=M):
    return rng.beta(0.5, 0.5, (questions, 1))


def log_of(model, outcomes, present=None):
    """A row for each trial; `present` says which there are."""
    kept = np.ones(outcomes.shape, bool) if present is None else present
    question, trial = np.nonzero(kept)
    return pl.DataFrame(
        {
            "model": model,
            "question": question,
            "trial": trial,
            "category": outcomes[kept].astype(int),
        }
    )


def planted(seed=0):
    """An honest model, and one with each fault."""
    rng = np.random.default_rng(seed)
    p = rates(rng)
    made = {name: rng.random((M, R)) < p for name in ("honest", "copied", "broken", "adaptive")}
    made["copied"][:, 6] = made["copied"][:, 2]
    made["broken"][:, 3] &= rng.random(M) < 0.4
    adaptive = made["adaptive"]
    more = (adaptive[:, 0] != adaptive[:, 1])[:, None] | (np.arange(R) < 2)
    cached = np.repeat(rng.random((M, 1)) < p, R, 1)
    logs = [log_of(name, outcomes, more if name == "adaptive" else None)
            for name, outcomes in made.items()]  # fmt: skip
    return pl.concat([*logs, log_of("cached", cached)])


FAULTS = [
    ("adaptive", "stopping", "alarm"),
    ("adaptive", "order", "alarm"),
    ("broken", "runs", "alarm"),
    ("copied", "copies", "alarm"),
]


def urgent(log, **roles):
    found = log.scorio(**roles).check().filter(pl.col("verdict").is_in(["alarm", "look"]))
    return found.select("model", "check", "verdict").rows()


def test_each_fault_is_named_and_nothing_else_is():
    assert urgent(planted()) == FAULTS


def test_sentences_say_which_runs_and_what_to_do():
    said = dict(planted().scorio.check().select("model", "sentence").head(4).rows())
    assert said["copied"].startswith("copied: runs 2 and 6 agree on 61 of 61 questions")
    assert said["broken"].startswith("broken: run 3 is 31 points below the others (p < 0.001).")
    assert "had the outcomes at which others stopped" in said["adaptive"]


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(pl.col("trial") - 4, id="negative"),
        pytest.param(pl.col("trial") * 70, id="sparse"),
        pytest.param(pl.col("trial") * 10**6, id="far apart"),
        pytest.param(pl.col("trial").cast(pl.Float64) / 2, id="fractions"),
        pytest.param(pl.date(2026, 1, 1) + pl.duration(days="trial"), id="days"),
    ],
)
def test_what_numbers_and_times_runs_have_counts_for_nothing(ids):
    log = planted()
    asked = log.scorio.check().drop("sentence")
    found = log.with_columns(trial=ids).scorio.check().drop("sentence")
    by_gaps = pl.col("check") != "runs"  # drifts are along the ids
    assert_frame_equal(found.filter(by_gaps), asked.filter(by_gaps))
    assert urgent(log.with_columns(trial=ids)) == FAULTS


def test_words_name_runs_without_an_order():
    log = planted().with_columns(pl.format("seed {}", "trial").alias("trial"))
    assert urgent(log) == [fault for fault in FAULTS if fault[1] != "order"]
    stopped = log.scorio.check().row(0, named=True)
    assert "all 73 questions with fewer trials have one outcome only" in stopped["sentence"]


def test_the_role_run_replaces_the_trial_id():
    log = planted().with_columns(seed=pl.col("trial"), trial=pl.int_range(pl.len()))
    assert urgent(log, run="seed") == FAULTS
    assert [check for _, check, _ in urgent(log)] == ["stopping"]  # by counts alone
    with pytest.raises(ColumnNotFoundError, match="'seeds' for the run"):
        log.scorio(run="seeds").check()


def test_several_trials_in_a_run_are_not_tested():
    log = planted().with_columns(run=pl.col("trial") // 2).filter(model="broken")
    rows = log.scorio(run="run").check()
    assert rows.filter(check="runs")["sentence"].to_list() == [
        "broken: not tested, a run has several trials of a question."
    ]


def test_counts_say_nothing_of_runs():
    counts = planted().scorio.counts()
    assert [check for _, check, _ in urgent(counts, count="count")] == ["stopping"]
    with pytest.raises(ValueError, match="already counted, of which nobody knows the runs"):
        counts.scorio(count="count", run="question")


def test_more_than_512_ids_name_no_runs():
    rng = np.random.default_rng(3)
    log = log_of("m", rng.random((20, 513)) < 0.5)
    rows = log.scorio.check().filter(check="runs")
    assert rows["sentence"].item() == "m: not tested, trials have no ids of runs."
    rows = log.filter(pl.col("trial") < 512).scorio.check().filter(check="runs")
    assert rows["verdict"].item() == "ok"


@pytest.mark.parametrize("runs", [62, 63, 64, 65, 128, 200])
def test_all_bits_of_several_words_are_right(runs):
    rng = np.random.default_rng(runs)
    outcomes, present = rng.random((2, 12, runs)) < 0.6
    present[:, 0] = present[:, -1] = True
    trials = bind_roles(
        log_of("m", outcomes, present).sample(fraction=1, shuffle=True).lazy(), Roles()
    )
    words = found_words(trials)
    classes = counted_classes(trials, [], binary=True, needs=(words,))
    questions = count_questions(trials, classes).sort("question").collect()
    found = words.unpacked(words.question_bytes(questions))
    np.testing.assert_array_equal(found[0], present)
    np.testing.assert_array_equal(found[1], outcomes & present)
    assert not words.repeats(questions, present.sum(1)).any()


def test_null_ids_and_missing_outcomes_are_left_out():
    log = planted()
    lost = log.with_columns(pl.when(pl.col("question") % 9 > 0).then("category").alias("category"))
    assert [row[:2] for row in urgent(lost)] == [row[:2] for row in FAULTS]
    ids = log.with_columns(pl.when(pl.col("question") % 9 > 0).then("trial").alias("trial"))
    assert urgent(ids, validate=False)[0] == FAULTS[0]


def test_few_questions_and_single_runs_are_not_tested():
    rng = np.random.default_rng(5)
    few = log_of("few", rng.random((9, 4)) < 0.5)
    single = log_of("single", rng.random((50, 1)) < 0.5)
    rows = pl.concat([few, single]).scorio.check()
    tested = rows.filter(pl.col("verdict") != "not tested")
    assert tested.select("model", "check", "verdict").rows() == [("few", "copies", "ok")]
    assert rows["pvalue"].null_count() == 7  # by counts even few questions tell of copies


def test_strata_and_models_share_one_level():
    log = planted().filter(pl.col("model").is_in(["honest", "broken"]))
    both = pl.concat(log.with_columns(step=pl.lit(step)) for step in range(2))
    rows = both.scorio(by="step").check()
    assert rows.columns[:3] == ["step", "model", "check"]
    assert rows.columns[-1] == "verdict"
    assert rows.head(2)["sentence"].str.starts_with("broken (step=").all()
    lazy = both.lazy().scorio(by="step").check()
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), rows)
    only = lazy.filter(pl.col("model") == "broken").collect()
    assert_frame_equal(only, rows.filter(model="broken"))


def test_one_unnamed_model_has_no_column():
    rows = planted().filter(model="broken").drop("model").scorio(model=None).check()
    assert rows.columns[0] == "check"
    assert rows["sentence"][0].startswith("This model: run 3 is")


def test_duplicates_are_refused_as_in_a_report():
    log = planted()
    with pytest.raises(ValueError, match="the same trial twice"):
        pl.concat([log, log.head(3)]).scorio.check()


def stopped_rewards(*, good):
    """Up to six trials of 40 questions, until a reward is good enough."""
    rng = np.random.default_rng(31)
    rows = []
    for question in range(40):
        for trial, reward in enumerate(rng.random(6)):
            rows.append((question, trial, reward))
            if reward > good:
                break
    return pl.DataFrame(rows, schema=["question", "trial", "category"], orient="row")


def test_trials_that_stop_at_a_good_reward_followed_their_outcomes():
    row = stopped_rewards(good=0.7).scorio(model=None).check().row(0, named=True)
    assert (row["check"], row["verdict"]) == ("stopping", "alarm")
    assert "has the best reward of its question" in row["sentence"]
    unordered = stopped_rewards(good=0.7).drop("trial").scorio(model=None, trial=None)
    assert unordered.check()["verdict"].unique().to_list() == ["not tested"]


def test_rewards_without_a_pattern_are_not_accused():
    rng = np.random.default_rng(31)
    log = stopped_rewards(good=2.0).with_columns(kept=pl.Series(rng.random(240) < 0.7))
    rows = log.filter("kept").drop("kept").scorio(model=None).check()
    assert rows.filter(check="stopping")["verdict"].item() == "ok"


def test_success_is_what_the_roles_say():
    log = planted().with_columns(pl.col("category").replace_strict({0: "no", 1: "yes"}))
    assert urgent(log, success="yes") == FAULTS
    rows = log.scorio.check()
    assert rows["verdict"].unique().to_list() == ["not tested"]
    assert rows["sentence"][0].endswith("not tested, success= does not say what succeeds.")


def test_a_plan_by_difficulty_is_not_accused_where_ids_are_known():
    rng = np.random.default_rng(8)
    p = np.sort(rates(rng), axis=0)
    present = (np.arange(M)[:, None] >= M // 2) | (np.arange(R) < 2)
    log = log_of("planned", rng.random((M, R)) < p, present)
    assert urgent(log) == []


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.0, 0.05])
def test_honest_logs_hear_no_alarm(lost):
    rng = np.random.default_rng(11)
    heard = 0
    for _ in range(60):
        logs = [
            log_of(name, rng.random((60, 4)) < rates(rng, 60), rng.random((60, 4)) >= lost)
            for name in "abc"
        ]
        heard += "alarm" in pl.concat(logs).scorio.check()["verdict"].to_list()
    assert heard <= 1


def crossed(*, repeated=False):
    """Three models on the same questions in six runs, some of which may be repeated."""
    rng = np.random.default_rng(5)
    p = rng.beta(0.8, 0.8, (60, 1))
    models = {name: rng.random((60, 6)) < p for name in ("ada", "bob", "cy")}
    if repeated:
        for outcomes in models.values():
            outcomes[40:50] = outcomes[:10]
    return pl.concat(log_of(name, outcomes) for name, outcomes in models.items())


def test_repeated_questions_are_found_on_request():
    assert "questions" not in crossed(repeated=True).scorio.check()["check"]
    rows = crossed(repeated=True).scorio.check(across=True)
    first = rows.row(0, named=True)
    assert (first["check"], first["verdict"]) == ("questions", "alarm")
    assert "questions 4 and 44 have the same outcomes" in first["sentence"]
    honest = crossed().scorio.check(across=True)
    assert honest.filter(pl.col("model").is_null())["verdict"].to_list() == ["ok"]


def test_each_stratum_has_its_own_rows_across_models():
    log = pl.concat([crossed().with_columns(part=part) for part in (1, 2)])
    rows = log.scorio(by="part").check(across=True)
    across = rows.filter(pl.col("model").is_null())
    assert across.select("part", "check").rows() == [(1, "questions"), (2, "questions")]
    assert rows.schema == log.scorio(by="part").check().schema
    without = log.drop("trial").scorio(by="part", trial=None).check(across=True)
    assert without.filter(pl.col("model").is_null())["verdict"].unique().to_list() == ["not tested"]
