from dataclasses import replace

import pytest

import polars_scorio as ps
from polars_scorio.display.sentences import GateWords

ROW = {
    "model": "v2", "baseline": "v1", "k": None, "margin": 0.05, "verdict": "undecided",
    "diff": -0.012, "lo": -0.06, "hi": 0.04, "extra_trials": 59, "broken": 1,
    "broken_by_chance": 3.17,
    "pvalue_broken": 0.0001,
}  # fmt: skip
WORDS = GateWords(ps.avg(), "model", 0.95, 0.8, 0.1)


def test_an_undecided_gate_says_what_would_decide_it():
    assert WORDS.sentence(ROW) == (
        "undecided: it is open whether v2 is worse than v1 by more than 5 points "
        "(difference in avg@N -1.2 [-6, 4], one-sided 95 %); 59 further trials of each question "
        "decide it with a chance of 80 %; 1 question went from mostly right to mostly wrong "
        "(3.2 expected between equal models, p < 0.001)"
    )
    nothing = WORDS.sentence({**ROW, "extra_trials": None, "broken": None})
    assert nothing.endswith(
        "no number of further trials of each question is in sight that would decide it"
    )


def test_ends_have_the_decimals_that_tell_them_from_zero_and_from_the_margin():
    row = {**ROW, "verdict": "pass", "lo": -0.0496, "hi": 0.0004, "broken": None}
    assert "by more than 5 points (difference in avg@N -1.2 [-4.96, 0.04], one" in WORDS.sentence(
        row
    )


BROKEN_STRATUM = {**ROW, "verdict": "fail", "diff": -0.43, "lo": -0.5, "hi": -0.36}


def test_a_stratum_that_fails_is_named_and_the_mean_keeps_its_own_verdict():
    row = {**ROW, "verdict": "fail", "diff": 0.017, "lo": -0.012, "hi": 0.047, "broken": None}
    assert WORDS.sentence(row, strata={"safety": BROKEN_STRATUM, "search": ROW}) == (
        "fail: v2 is not worse than v1 by more than 5 points over all strata (difference in "
        "avg@N 1.7 [-1.2, 4.7], one-sided 95 %); worse by more than 5 points: safety -43 [-50, "
        "-36]; open at a margin of 5 points: search -1.2 [-6, 4]"
    )


def test_a_pass_of_the_mean_names_the_strata_that_are_open():
    row = {**ROW, "verdict": "pass", "lo": -0.03, "broken": None}
    beyond = {**BROKEN_STRATUM, "verdict": "undecided", "margin": 0.02}
    passed = {**ROW, "verdict": "pass", "lo": -0.01}
    assert WORDS.sentence(row, strata={"safety": beyond, "search": passed}) == (
        "pass: v2 is not worse than v1 by more than 5 points over all strata (difference in "
        "avg@N -1.2 [-3, 4], one-sided 95 %); open at a margin of 2 points, after Holm's "
        "adjustment for all strata: safety -43 [-50, -36]"
    )
    alone = WORDS.sentence(row, strata={"search": passed})
    assert alone.endswith("over all strata (difference in avg@N -1.2 [-3, 4], one-sided 95 %)")


def test_a_mean_of_its_own_fails_whatever_its_strata_say():
    row = {**ROW, "verdict": "fail", "diff": -0.2, "lo": -0.3, "hi": -0.1, "broken": None}
    assert WORDS.sentence(row, strata={"search": {**ROW, "verdict": "pass"}}).startswith(
        "fail: v2 is worse than v1 by more than 5 points over all strata ("
    )


def test_a_stratum_that_is_open_by_the_adjustment_alone_says_so():
    assert WORDS.sentence({**BROKEN_STRATUM, "verdict": "undecided"}).startswith(
        "undecided: it is open whether v2 is worse than v1 by more than 5 points, after Holm's "
        "adjustment for all strata (difference in avg@N -43 [-50, -36], one-sided 95 %)"
    )


def test_one_further_trial_is_one_trial():
    assert "; 1 further trial of each question decides" in WORDS.sentence(
        {**ROW, "extra_trials": 1}
    )


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("pass", "pass: v2 is better than v1 ("),
        ("fail", "fail: v2 is worse than v1 ("),
        ("undecided", "undecided: it is open whether v2 or v1 is better ("),
    ],
)
def test_at_margin_zero_a_verdict_names_the_better_one(verdict, words):
    assert WORDS.sentence({**ROW, "margin": 0.0, "verdict": verdict}).startswith(words)


def test_metrics_of_other_ranges_are_written_as_they_are():
    words = GateWords(ps.avg(w=[0, 10]), "model", 0.99, 0.8, 0.05, points=False)
    sentence = words.sentence({**ROW, "verdict": "fail", "margin": 1.5, "diff": -2.25}, ["q4"])
    assert "by more than 1.5 (" in sentence
    assert "one-sided 99 %" in sentence
    assert sentence.endswith("1 question regressed (FDR 5 %): q4")


def test_questions_are_named_if_there_are_enough_trials_for_it():
    many = WORDS.sentence(ROW, [f"q{place}" for place in range(12)])
    assert many.endswith(
        "12 questions regressed (FDR 10 %): q0, q1, q2, q3, q4, q5, q6, q7, q8, q9 and 2 more"
    )
    assert WORDS.sentence(ROW, []).endswith("tested one by one, 0 questions regressed (FDR 10 %)")
    few = WORDS.sentence(ROW, [], nameable=False)
    assert few.endswith("no question is named: one alone has too few trials (FDR 10 %)")


def test_an_undecided_gate_says_as_what_it_counts():
    words = replace(WORDS, undecided="fail")
    assert words.sentence(ROW).startswith("undecided, which counts as fail: it is open")
    assert words.sentence({**ROW, "verdict": "pass"}).startswith("pass: v2")


def test_about_a_population_questions_are_counted():
    words = GateWords(ps.avg(), "model", 0.95, 0.8, 0.1, population=True, planned=1000)
    sentence = words.sentence({**ROW, "extra_questions": 59})
    assert "; 59 further questions decide it with a chance of 80 %;" in sentence
    assert "which holds at every look (planned: 1,000 questions)" in sentence
