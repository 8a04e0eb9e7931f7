"""Are the trials of a log what its numbers assume? A second calculation, laws, false alarms."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from polars_scorio.maths import exchangeability as checks
from polars_scorio.maths.exchangeability import CheckResult, LabelCounts, LogResult, RunResult
from polars_scorio.maths.questions import States
from tests.documents import study_numbers

VECTORS = study_numbers("checks_5")


def cases(test):
    return [
        pytest.param(case["input"], case["output"], id=f"{at}-{case['input'].get('name', test)}")
        for at, case in enumerate(VECTORS)
        if case["test"] == test
    ]


def counted(log):
    """The questions of one group."""
    return group_states(np.array(log["n"]), np.array(log["c"]))


def group_states(n, c, questions=1):
    """Questions of one group with n trials and c successes."""
    none = np.zeros_like(n)
    counts = np.stack([n - c, c], axis=1)
    return States.tally(counts, 0 * counts, none, questions + none, 1)


def tables(log):
    return tuple(np.array(log[name], bool) for name in ("present", "success"))


def alone(test, present, success):
    """The result of a test of stacked groups for one of them."""
    (found,) = test(present[None], success[None])
    return found


@pytest.mark.parametrize(("log", "expected"), cases("stopping"))
def test_what_short_questions_share_is_tested(log, expected):
    found = checks.stopping_by_counts(counted(log))[0]
    assert found.p == (None if expected["p"] is None else pytest.approx(expected["p"], rel=1e-9))
    assert ([found.kind, found.value] if found.kind else None) == expected["kind"]


@pytest.mark.parametrize(("log", "expected"), cases("copies_by_counts"))
def test_numbers_of_successes_that_share_a_divisor_are_tested(log, expected):
    found = checks.copies_by_counts(counted(log))[0]
    assert found.p == pytest.approx(expected["p"], rel=1e-9)
    assert found.value == expected["divisor"]


@pytest.mark.parametrize(("log", "expected"), cases("never_mixed"))
def test_a_model_that_never_changes_its_outcomes_is_known(log, expected):
    assert checks.never_mixed(counted(log)) == [0] * expected


@pytest.mark.parametrize(("log", "expected"), cases("errors"))
def test_error_rates_of_models_are_compared(log, expected):
    found = checks.error_rates_differ(np.array(log["e"]) / log["n"])
    assert found.p == pytest.approx(expected["p"], rel=1e-9)
    assert {*found.places} == {*expected["pair"]}


@pytest.mark.parametrize(("log", "expected"), cases("labels"))
def test_labels_are_compared_with_the_other_trials_of_their_questions(log, expected):
    verdict, labelled, question = (np.array(log[n]) for n in ("verdict", "labelled", "question"))
    sums = (verdict, 1 - verdict, verdict * labelled, (1 - verdict) * labelled)
    counts = LabelCounts(*(np.bincount(question, each).astype(int) for each in sums))
    found = checks.labels_by_difficulty(counts, np.ones_like(counts.right))
    assert found.p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("log", "expected"), cases("runs_q"))
def test_runs_are_compared_in_a_model_and_in_all_of_them(log, expected):
    found = alone(checks.differing_runs, *tables(log))
    assert found.statistic == pytest.approx(expected["Q"], rel=1e-9)
    assert found.freedom == expected["df"]
    assert checks.runs_p([found]) == pytest.approx(expected["p_log_of_one"], rel=1e-9)
    assert checks.runs_p([found] * 2) == pytest.approx(expected["p_log_of_two"], rel=1e-9)


@pytest.mark.parametrize(("log", "expected"), cases("copied_runs"))
def test_pairs_of_runs_are_compared(log, expected):
    found = alone(checks.copied_runs, *tables(log))
    assert found.p == pytest.approx(expected["p"], rel=1e-9)
    if expected["p"] < 1:
        assert [*found.places] == expected["pair"]


@pytest.mark.parametrize(("log", "expected"), cases("order"))
def test_questions_that_go_on_are_compared_with_those_that_stop(log, expected):
    present, success = tables(log)
    found = checks.stopping_by_order(present, success)
    assert (found.p, found.expected) == pytest.approx((expected["p"], expected["expected"]))
    assert found.observed == expected["seen"]


@pytest.mark.parametrize(("case", "expected"), cases("verdict"))
def test_verdicts_have_one_level_each(case, expected):
    assert checks.verdict_of(case["p"], alarms=case["check"] != "unequal") == expected


def test_no_check_is_made_without_ten_questions():
    states = group_states(np.array([2, 4] * 4), np.array([1, 2] * 4))
    assert checks.stopping_by_counts(states) == [checks.TOO_FEW_QUESTIONS]
    assert checks.copies_by_counts(states) == [checks.TOO_FEW_QUESTIONS]
    few = np.ones((8, 4), bool)
    assert alone(checks.differing_runs, few, few).result == checks.TOO_FEW_QUESTIONS
    assert checks.runs_p([RunResult(checks.TOO_FEW_QUESTIONS)]) is None
    results = [checks.TOO_FEW_QUESTIONS, CheckResult(0.0001), CheckResult(0.5), CheckResult(0.0002)]
    assert LogResult.from_groups(results) == (pytest.approx(0.0003), "alarm", (1, 3))
    assert LogResult.from_groups([checks.TOO_FEW_QUESTIONS]) == (None, "not tested", ())


@pytest.mark.parametrize(("n", "c"), [(4, 0), (5, 2), (6, 3), (6, 6)])
def test_the_chance_to_stand_where_others_stopped_is_the_share_of_arrangements(n, c):
    stops = [(2, 0), (2, 2), (4, 3)]
    passing = 0
    for successes in combinations(range(n), c):
        sums = np.cumsum([trial in successes for trial in range(n)])
        passing += any(g < n and sums[g - 1] == v for g, v in stops)
    every = len([*combinations(range(n), c)])
    found = checks.passing_chances(np.array([n]), np.array([c]), stops)
    assert found == pytest.approx([passing / every])


@pytest.mark.parametrize(("n", "d"), [(4, 2), (6, 3), (8, 2), (8, 4)])
def test_the_chance_of_a_multiple_is_the_largest_of_all_rates(n, d):
    rates, inside = np.linspace(0.0005, 0.9995, 4_001), np.arange(1, n)
    chances = stats.binom.pmf(inside, n, rates[:, None])
    largest = (chances[:, inside % d == 0].sum(1) / chances.sum(1)).max()
    assert checks.most_multiples(n, d) == pytest.approx(largest, abs=1e-6)


def test_questions_of_many_trials_are_not_counted_for_copies():
    found = checks.copies_by_counts(group_states(np.full(20, 10**9), np.full(20, 10**8)))
    assert found[0].why == "a question has more than 1,024 trials"


def made(seed, questions=60, runs=6):
    rng = np.random.default_rng(seed)
    success = rng.random((questions, runs)) < rng.beta(0.5, 0.5, (questions, 1))
    return np.ones_like(success), success


def test_repeated_questions_are_found_and_marked():
    models = [made(seed) for seed in range(3)]
    present, success = (np.stack(each) for each in zip(*models, strict=True))
    honest, _ = checks.repeated_questions(present, success)
    mixed = np.flatnonzero(((success.sum(2) > 0) & (success.sum(2) < 6)).all(0))[:4]
    doubled = [np.concatenate([each, each[:, mixed]], axis=1) for each in (present, success)]
    found, repeats = checks.repeated_questions(*doubled)
    assert honest.p > 0.05
    assert found.p < 1e-6
    assert (found.observed, found.questions) == (4, 4)
    assert np.flatnonzero(repeats).tolist() == [60, 61, 62, 63]
    assert found.places[1] - 60 == mixed.tolist().index(found.places[0])


def test_a_copied_run_is_named():
    present, success = made(1)
    success[:, 4] = success[:, 1]
    found = alone(checks.copied_runs, present, success)
    assert found.places == (1, 4)
    assert found.p < 1e-4
    assert found.observed == found.questions


def test_a_broken_run_is_named():
    present, success = made(2)
    success[:, 3] &= np.random.default_rng(2).random(60) < 0.3
    found = alone(checks.differing_runs, present, success).result
    assert found.places == (3,)
    assert found.p < 1e-3
    assert found.observed < found.expected


def findings(present, success):
    """The p-value of each test of a model."""
    states = group_states(present.sum(1), success.sum(1))
    return {
        "stopping": checks.stopping_by_counts(states)[0].p,
        "order": checks.stopping_by_order(present, success).p,
        "counts": checks.copies_by_counts(states)[0].p,
        "pairs": alone(checks.copied_runs, present, success).p,
        "runs": alone(checks.differing_runs, present, success).result.p,
    }


def test_neither_the_names_of_questions_nor_their_order_counts():
    present, success = made(3)
    present &= np.random.default_rng(3).random(present.shape) > 0.2
    success &= present
    order = np.random.default_rng(4).permutation(len(present))
    found, other = findings(present, success), findings(present[order], success[order])
    assert found == pytest.approx(other)


@pytest.mark.parametrize("states", [True, False])
def test_equal_questions_can_be_counted_together(states):
    n = np.repeat([2, 4, 4], [12, 20, 9])
    c = np.repeat([2, 2, 4], [12, 20, 9])
    together = np.array([2, 4, 4]), np.array([2, 2, 4]), np.array([12, 20, 9])
    test = checks.stopping_by_counts if states else checks.copies_by_counts
    alone, counted_once = (test(group_states(*each))[0].p for each in ((n, c), together))
    assert alone == pytest.approx(counted_once)


def sampled(rng, questions, chosen):
    """The counts of a log of four trials a question, of which some have a label."""
    rates = rng.beta(0.7, 0.5, (questions, 1))
    verdict = rng.random((questions, 4)) < rates
    labelled = chosen(rng, rates, verdict) & np.ones_like(verdict)
    sums = verdict, ~verdict, verdict & labelled, ~verdict & labelled
    return LabelCounts(*(each.sum(1) for each in sums))


CHOSEN = {
    "easy questions": lambda rng, rates, _: rng.random(rates.shape) < 0.1 + 0.6 * (rates > 0.6),
    "random trials": lambda rng, _, verdict: rng.random(verdict.shape) < 0.3,
    "half of each verdict": lambda rng, _, verdict: (
        rng.random(verdict.shape) < np.where(verdict, 0.2, 0.5)
    ),
    "whole random questions": lambda rng, rates, _: rng.random(rates.shape) < 0.3,
}


@pytest.mark.parametrize("kind", CHOSEN)
def test_labels_on_easy_questions_are_found_and_random_ones_are_not(kind):
    rng, one = np.random.default_rng(5), np.ones(150, int)
    found = [checks.labels_by_difficulty(sampled(rng, 150, CHOSEN[kind]), one) for _ in range(40)]
    alarms = sum(checks.verdict_of(each.p) == "alarm" for each in found)
    if kind == "easy questions":
        assert alarms >= 36
        assert {each.kind for each in found} == {"easier"}
    else:
        assert alarms <= 1


def test_labels_of_single_trials_and_of_all_trials_are_not_tested():
    one, none = np.ones(30, int), np.zeros(30, int)
    single = checks.labels_by_difficulty(LabelCounts(one, none, one, none), one)
    assert single.why == "one trial a question says nothing of other trials"
    every = checks.labels_by_difficulty(LabelCounts(one, one, one, one), one)
    assert every.why == "all trials have a label"


RULES = {
    "until success": lambda seen: seen[-1],
    "retry once": lambda seen: seen[-1] or len(seen) == 2,
    "majority of five": lambda seen: max(sum(seen), len(seen) - sum(seen)) == 3,
    "lead of two": lambda seen: abs(2 * sum(seen) - len(seen)) == 2,
    "two then six": lambda seen: len(seen) == 2 and sum(seen) != 1,
}
FOUND = {
    "until success": "successes",
    "retry once": "successes",
    "majority of five": "majority",
    "lead of two": "lead",
    "two then six": ("majority", "unmixed"),
}


def stopped(rng, rule, questions=300, most=8):
    """Trials and successes under a rule that looks at outcomes."""
    rows = []
    for rate in rng.beta(0.5, 0.5, questions):
        seen = []
        while len(seen) < most and not (seen and RULES[rule](seen)):
            seen.append(bool(rng.random() < rate))
        rows.append((len(seen), sum(seen)))
    return group_states(*np.array(rows).T)


@pytest.mark.parametrize("rule", RULES)
def test_rules_that_look_at_outcomes_are_found(rule):
    rng = np.random.default_rng(7)
    found = [checks.stopping_by_counts(stopped(rng, rule))[0] for _ in range(10)]
    assert sum(each.p < checks.ALARM_LEVEL for each in found) >= 8
    assert {each.kind for each in found if each.p < checks.ALARM_LEVEL} <= {*FOUND[rule]} | {
        FOUND[rule]
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("questions", "runs", "lost"), [(30, 4, 0.05), (100, 8, 0), (300, 4, 0.05)]
)
def test_honest_logs_alarm_rarely(questions, runs, lost):
    """Of 400 logs with three models each; 0.6 % alarm where this was studied."""
    rng, alarms = np.random.default_rng(questions), 0
    for _ in range(400):
        tables = []
        for _ in range(3):
            present = rng.random((questions, runs)) >= lost
            rates = rng.beta(0.3, 0.4, (questions, 1))
            tables.append((present, present & (rng.random(present.shape) < rates)))
        models = [findings(*table) for table in tables]
        results = {name: [CheckResult(model[name]) for model in models] for name in models[0]}
        each = {name: LogResult.from_groups(every).p for name, every in results.items()}
        each["runs"] = checks.runs_p(checks.of_equal_shape(checks.differing_runs, tables))
        copies = [p for p in (each.pop("counts"), each.pop("pairs")) if p is not None]
        each["copies"] = min(1.0, 2 * min(copies)) if copies else None
        alarms += "alarm" in map(checks.verdict_of, each.values())
    assert alarms <= 8


@pytest.mark.parametrize(("answered", "named"), [(9, False), (10, True)])
def test_ids_name_runs_if_two_of_them_have_ten_mixed_questions(answered, named):
    question = np.arange(13)
    never = question == 12  # solved by nobody: not a mixed question
    present = np.column_stack([~never, (question < answered) | never, question >= answered])
    success = present & [True, False, False]
    found = alone(checks.differing_runs, present, success).result
    assert (found.why != "ids name no runs") == named
