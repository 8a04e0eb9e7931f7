"""The tests of a log: what they name, what they say, and where they cannot be made."""

from math import comb

import numpy as np
import polars as pl
import pytest
from polars.exceptions import ColumnNotFoundError
from polars.testing import assert_frame_equal

import polars_scorio as ps
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
    ("copied", "copies", "alarm"),
    ("broken", "runs", "alarm"),
    ("cached", "mixed", "note"),
]


def urgent(log, **roles):
    """Alarms, notes and looks."""
    found = log.scorio(**roles).check().filter(pl.col("verdict").is_in(["alarm", "note", "look"]))
    return found.select("model", "check", "verdict").rows()


def said_by(log, check, **roles):
    """The sentence of a test."""
    return log.scorio(**roles).check().filter(check=check)["sentence"].item()


def test_each_fault_is_named_and_nothing_else_is():
    assert urgent(planted()) == FAULTS


def test_every_test_has_a_row_also_if_it_finds_nothing():
    rows = planted().filter(model="honest").scorio.check()
    assert dict(rows.select("check", "verdict").rows()) == {
        **dict.fromkeys(("mixed", "copies", "runs"), "ok"),
        **dict.fromkeys(("stopping", "order", "repeats"), "not tested"),
        **dict.fromkeys(("errors", "labels", "unequal"), "not tested"),
    }
    assert rows["asks"].str.ends_with("?").all()
    assert rows["sentence"].to_list()[0] == "No more often than scores explain."
    assert set(rows["model"]) == {None}


def test_sentences_say_which_trials_and_what_to_do():
    rows = planted().scorio.check()
    said = dict(rows.select("check", "sentence").rows())
    assert said["stopping"] == (
        "adaptive: all 73 questions with fewer than 8 trials ended with 2 equal outcomes "
        "(p < 0.001). If trials stopped on outcomes, Pass@k and Pass^k are biased, avg hardly: "
        "first=2 counts the first 2 of each question. If the numbers of trials were planned, "
        "ignore this."
    )
    assert said["order"] == (
        "adaptive: no question had a further trial after an outcome at which others stopped; "
        "15.2 expected (p < 0.001). Trials stopped on outcomes: first=2 counts the first 2 of each "
        "question."
    )
    assert said["copies"] == (
        "copied: of 61 questions with successes and failures, runs 2 and 6 agree on all; 37.1 "
        "expected (p < 0.001). Was a run stored twice? Then drop run 6 of copied."
    )
    assert said["runs"] == (
        "Runs differ (p < 0.001), most in broken: run 3 is 31 points below the others; runs of "
        "broken have a standard deviation of about 11.5 points [7.1, 24.4]. Intervals hold for "
        'these runs only; run="trial" widens them to cover others. If a run was broken, repeat it. '
        "If trial ids are row numbers of a sorted file, use the ids of the tool. If questions are "
        "listed twice, drop the repeats."
    )
    assert said["mixed"] == (
        "cached: no question changed its outcome in 8 trials. If cached is deterministic, these "
        "numbers hold. If answers came from a cache, first=1 counts each question once."
    )


def test_numbers_of_a_row_are_those_of_its_sentence():
    row = planted().scorio.check().row(by_predicate=pl.col("check") == "copies", named=True)
    assert (row["seen"], row["questions"], row["model"]) == (61, 61, "copied")
    assert row["expected"] == pytest.approx(37.1, abs=0.05)
    assert 0 < row["pvalue"] < 1e-9


def test_all_models_with_an_alarm_are_named():
    log = planted().filter(model="copied")
    twice = pl.concat([log, log.with_columns(model=pl.lit("again"))])
    assert said_by(twice, "copies").endswith(" The same is true of copied.")


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
    assert_frame_equal(log.with_columns(trial=ids).scorio.check().drop("sentence"), asked)


def test_words_name_runs_without_an_order():
    log = planted().with_columns(pl.format("seed {}", "trial").alias("trial"))
    assert urgent(log) == [fault for fault in FAULTS if fault[1] != "order"]
    assert said_by(log, "order") == "Not tested: ids do not tell which trial came first."
    assert "avg hardly: with ordered trial ids first=2 counts" in said_by(log, "stopping")


def test_the_role_run_replaces_the_trial_id():
    log = planted().with_columns(seed=pl.col("trial"), trial=pl.int_range(pl.len()))
    assert urgent(log, run="seed") == FAULTS
    assert "Intervals allow for it." in said_by(log, "runs", run="seed")
    assert 'run="seed" widens them' in said_by(log, "runs", run="seed", run_effects="none")
    assert [check for _, check, _ in urgent(log)] == ["stopping", "mixed"]  # by counts alone
    with pytest.raises(ColumnNotFoundError, match="'seeds' for the run"):
        log.scorio(run="seeds").check()


def test_several_trials_in_a_run_are_not_tested():
    log = planted().with_columns(run=pl.col("trial") // 2).filter(model="broken")
    said = said_by(log, "runs", run="run")
    assert said == "Not tested: a run has several trials of a question."


def test_counts_say_nothing_of_runs():
    counts = planted().scorio.counts()
    assert [check for _, check, _ in urgent(counts, count="count")] == ["stopping", "mixed"]
    assert said_by(counts, "mixed", count="count").endswith("keep one trial of each question.")
    with pytest.raises(ValueError, match="already counted, without their runs"):
        counts.scorio(count="count", run="question")


def test_copies_by_counts_have_half_of_the_level_where_rows_have_ids():
    rng = np.random.default_rng(6)
    once = rng.random((100, 3)) < rates(rng)
    log = log_of("m", np.repeat(once, 2, axis=1))
    counts = log.scorio.counts().scorio(count="count").check().filter(check="copies")
    unnamed = log.drop("trial").scorio(trial=None).check().filter(check="copies")
    spread = log.with_columns(trial=pl.int_range(pl.len())).scorio.check().filter(check="copies")
    assert counts["sentence"].item() == (
        "m: every number of successes is a multiple of 2 (p < 0.001): each trial seems to be in "
        "the log twice, so intervals are too short. Read the file once, or switch the cache off."
    )
    assert unnamed["pvalue"].item() == counts["pvalue"].item()
    assert spread["pvalue"].item() == pytest.approx(2 * counts["pvalue"].item())


def test_more_than_512_ids_name_no_runs():
    rng = np.random.default_rng(3)
    log = log_of("m", rng.random((20, 513)) < 0.5)
    assert said_by(log, "runs") == "Not tested: trials have no ids of runs."
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
    assert urgent(lost) == FAULTS
    ids = log.with_columns(pl.when(pl.col("question") % 9 > 0).then("trial").alias("trial"))
    assert urgent(ids, validate=False) == [FAULTS[0], FAULTS[-1]]


def test_few_questions_and_single_runs_are_not_tested():
    rng = np.random.default_rng(5)
    few = log_of("few", rng.random((9, 4)) < 0.5)
    single = log_of("single", rng.random((50, 1)) < 0.5)
    rows = pl.concat([few, single]).scorio.check()
    assert rows["verdict"].unique(maintain_order=True).to_list() == ["ok", "not tested"]
    assert rows.filter(verdict="ok")["check"].to_list() == ["mixed"]
    assert rows["pvalue"].null_count() == rows.height
    assert said_by(few, "copies") == "Not tested: fewer than 10 questions can be used."


def test_strata_and_models_share_one_level():
    log = planted().filter(pl.col("model").is_in(["honest", "broken"]))
    both = pl.concat(log.with_columns(step=pl.lit(step)) for step in range(2))
    rows = both.scorio(by="step").check()
    assert rows.columns == ["step", "model", "check", "questions", "pvalue", "asks", "seen",
                            "expected", "sentence", "verdict"]  # fmt: skip
    first = rows.row(0, named=True)
    assert (first["step"], first["model"], first["check"]) == (0, "broken", "runs")
    assert "most in broken (step=0): run 3" in first["sentence"]
    assert first["sentence"].endswith(" The same is true of broken (step=1).")
    lazy = both.lazy().scorio(by="step").check()
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), rows)
    only = lazy.filter(pl.col("model") == "broken").collect()
    assert_frame_equal(only, rows.filter(model="broken"))


def test_one_unnamed_model_has_no_column():
    rows = planted().filter(model="broken").drop("model").scorio(model=None).check()
    assert rows.columns[0] == "check"
    assert "most in This model: run 3 is" in rows["sentence"][0]


def test_lengths_that_all_models_share_were_planned():
    log = planted().filter(model="adaptive")
    both = pl.concat([log, log.with_columns(model=pl.lit("other"))])
    assert said_by(both, "stopping") == (
        "Not tested: all models have the same numbers of trials, as by plan."
    )
    assert ("adaptive", "order", "alarm") in urgent(both)


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
    assert (row["check"], row["verdict"]) == ("order", "alarm")
    assert "has the best reward of its question" in row["sentence"]
    assert row["sentence"].endswith("biased: first=1 counts the first trial of each question.")
    unordered = stopped_rewards(good=0.7).drop("trial").scorio(model=None, trial=None)
    assert unordered.check()["verdict"].unique().to_list() == ["not tested"]


def test_rewards_without_a_pattern_are_not_accused():
    rng = np.random.default_rng(31)
    log = stopped_rewards(good=2.0).with_columns(kept=pl.Series(rng.random(240) < 0.7))
    rows = log.filter("kept").drop("kept").scorio(model=None).check()
    assert rows.filter(check="order")["verdict"].item() == "ok"


def test_success_is_what_the_roles_say():
    log = planted().with_columns(pl.col("category").replace_strict({0: "no", 1: "yes"}))
    assert urgent(log, success="yes") == FAULTS
    rows = log.scorio.check()
    assert rows["verdict"].unique().to_list() == ["not tested"]
    assert rows["sentence"][0] == "Not tested: success= does not say what succeeds."


def test_a_plan_by_difficulty_is_a_look_where_hard_questions_have_fewer_trials():
    rng = np.random.default_rng(8)
    p = np.sort(rates(rng), axis=0)
    present = (np.arange(M)[:, None] >= M // 2) | (np.arange(R) < 2)
    log = log_of("planned", rng.random((M, R)) < p, present)
    assert urgent(log) == [("planned", "unequal", "look")]
    assert said_by(log, "unequal") == (
        "planned: questions with fewer trials succeed less, 23 % against 83 % (p < 0.001). Were "
        "failed trials lost? If hard questions have fewer trials by plan, ignore this."
    )


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


def test_repeated_questions_are_named_in_their_stratum():
    assert urgent(crossed()) == []
    assert said_by(crossed(repeated=True), "repeats") == (
        "questions 4 and 44, and 3 more pairs, have equal outcomes in all runs, 0.0072 expected "
        "(p < 0.001). Drop repeats, or name them with cluster=."
    )
    log = pl.concat([crossed(repeated=True).with_columns(part=part) for part in (1, 2)])
    row = log.scorio(by="part").check().row(0, named=True)
    assert (row["part"], row["model"], row["check"]) == (1, None, "repeats")
    assert row["sentence"].startswith("part=1: questions 4 and 44, ")


def test_runs_are_tested_without_repeated_questions():
    """Copies of the questions in which one run happens to be ahead make it differ."""
    log = crossed()
    ways = pl.col("category").sum().replace_strict({c: comb(6, c) for c in range(7)})
    known = log.group_by("question", "model").agg(ways).group_by("question")
    known = known.agg(pl.col("category").product()).filter(pl.col("category") > 10 * 8**2)
    first = log.filter(trial=2).group_by("question").agg(pl.col("category").sum())
    ahead = first.filter(pl.col("category") >= 2).join(known, on="question")["question"]
    again = [
        log.filter(pl.col("question").is_in(ahead.implode())).with_columns(
            pl.col("question") + 100 * copy
        )
        for copy in range(1, 8)
    ]
    repeated = pl.concat([log, *again]).scorio.check()
    verdicts = dict(repeated.select("check", "verdict").rows())
    assert verdicts["repeats"] == "alarm"
    p_of = dict(repeated.select("check", "pvalue").rows())["runs"]
    assert p_of == dict(log.scorio.check().select("check", "pvalue").rows())["runs"]


def labelled(outcomes, errors, name):
    """A log of words, in which some failures are errors."""
    log = log_of(name, outcomes)
    failed = pl.when(pl.Series(errors.ravel())).then(pl.lit("Timeout")).otherwise(pl.lit("wrong"))
    return log.with_columns(category=pl.when(pl.col("category") == 1).then(pl.lit("right"))
                            .otherwise(failed))  # fmt: skip


def with_errors(shares, seed=2, questions=80, runs=4):
    """A model for each share of its trials that break, of equal rates otherwise."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 2, (questions, 1))
    logs = []
    for at, share in enumerate(shares):
        errors = rng.random((questions, runs)) < share
        outcomes = (rng.random((questions, runs)) < p) & ~errors
        logs.append(labelled(outcomes, errors, "abc"[at]))
    return pl.concat(logs)


def test_models_that_differ_in_errors_are_compared_with_and_without_them():
    log = with_errors([0.01, 0.2])
    row = log.scorio(success="right").check().row(0, named=True)
    assert (row["check"], row["verdict"], row["model"]) == ("errors", "alarm", None)
    rates = {
        model: [
            each.group_by("question").agg(pl.col("category") == "right").explode("category")
            .group_by("question").agg(pl.col("category").mean())["category"].mean()
            for each in (part, part.filter(pl.col("category") != "Timeout"))
        ]
        for (model,), part in log.group_by("model")
    }  # fmt: skip
    shares = {model: (part["category"] == "Timeout").mean() for (model,), part in
              log.group_by("model")}  # fmt: skip
    whole, without = (100 * (rates["a"][at] - rates["b"][at]) for at in (0, 1))
    assert row["sentence"] == (
        f"Errors count as failures: {100 * shares['b']:.0f} % of the trials of b, "
        f"{100 * shares['a']:.1f} % of those of a (p < 0.001). Without them a - b is "
        f"{without:+.1f} points, not {whole:+.1f}. Set them to null: "
        'missing="bounds" then shows both extremes.'
    )


def test_models_with_as_many_errors_are_not_accused_and_a_success_is_no_error():
    log = with_errors([0.1, 0.1, 0.1])
    assert urgent(log, success="right") == []
    assert said_by(log, "errors", success=["right", "Timeout"]) == (
        "Not tested: no failure has the label of an error."
    )


def test_a_warning_of_errors_comes_from_the_first_scan():
    log = with_errors([0.01, 0.2])
    with pytest.warns(ps.CheckWarning, match="^Errors count as failures: "):
        log.lazy().scorio(success="right").avg().collect()


def judged(chosen, seed=3, questions=120, runs=4):
    """Verdicts of a judge, and labels of people on the chosen trials."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.6, (questions, 1))
    right = rng.random((questions, runs)) < p
    verdict = np.where(rng.random(right.shape) < 0.1, ~right, right)
    known = chosen(rng, p, verdict) & np.ones_like(right)
    log = log_of("m", verdict)
    return log.with_columns(truth=pl.Series(right.ravel())).with_columns(
        pl.when(pl.Series(known.ravel())).then("truth").alias("truth")
    )


def test_labels_on_easy_questions_are_an_alarm_in_every_call_and_random_ones_are_not():
    easy = judged(lambda rng, p, _: rng.random(p.shape) < 0.1 + 0.7 * (p > 0.6))
    log = easy.scorio(truth="truth")
    said = said_by(easy, "labels", truth="truth")
    assert said == (
        "m: labels are on easier questions than the rest (p < 0.001), and corrections assume "
        "random ones: they may be worse than none. Label a random sample, or omit truth=."
    )
    with pytest.warns(ps.CheckWarning, match="^m: labels are on easier questions"):
        log.avg()
    for chosen in (
        lambda rng, _, verdict: rng.random(verdict.shape) < 0.3,
        lambda rng, _, verdict: rng.random(verdict.shape) < np.where(verdict, 0.2, 0.5),
    ):
        rows = judged(chosen).scorio(truth="truth").check()
        assert rows.filter(check="labels")["verdict"].item() == "ok"


def test_labels_of_single_trials_are_not_tested_and_that_is_said():
    single = judged(lambda rng, p, _: rng.random(p.shape) < 0.5, runs=1)
    assert said_by(single, "labels", truth="truth") == (
        "Not tested: one trial a question says nothing of other trials."
    )


def test_tests_count_a_missing_outcome_if_roles_say_what_it_is_and_else_leave_it_out():
    known = (pl.col("trial") != 2) | (pl.col("question") > 5)
    outcomes = np.random.default_rng(1).random((30, 4)) < 0.5
    log = log_of("m", outcomes).with_columns(pl.when(known).then("category"))
    filled, scored = log.with_columns(pl.col("category").fill_null(0)), log.drop_nulls("category")
    counted, left_out = log.scorio(missing=0).check(), log.scorio().check()
    assert_frame_equal(counted, filled.scorio().check())
    assert_frame_equal(left_out, scored.scorio().check())
    assert not counted.equals(left_out)
