"""What is said of a gate, by the rows that `gate` returns."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.facts.gate_facts import GateFacts
from polars_scorio.display.facts.question_facts import SolvedFacts
from polars_scorio.display.facts.ranking_facts import About
from polars_scorio.display.numbers import MINUS, plain_text
from polars_scorio.display.words import gate_words
from polars_scorio.display.words.answer_words import question_sentences
from polars_scorio.display.words.gate_words import gate_title, tell_gate
from tests.decisions.counted import counted

ABOUT = About("difference in avg@4", 0.95, candidates=1)
ROW = {
    "stratum": None, "model": "v2", "baseline": "v1", "metric": "avg", "k": None, "margin": 0.05,
    "verdict": "undecided", "diff": -0.012, "lo": -0.06, "hi": 0.04, "sigma": 0.02,
    "extra_trials": 59, "broken": None, "broken_by_chance": 3.17, "pvalue_broken": 0.0001,
}  # fmt: skip
BROKEN = {"stratum": "safety", "verdict": "fail", "diff": -0.43, "lo": -0.5, "hi": -0.36}


def gate_sentence(found):
    """What is said of a gate, with hyphens for minus signs."""
    return gate_words.gate_sentence(found).replace(MINUS, "-")


def gate_of(*changes, metric=None, about=ABOUT, **facts):
    """The gate of a row over all questions, and of further ones."""
    rows = pl.DataFrame([ROW | change for change in changes or ({},)], infer_schema_length=None)
    return GateFacts.from_rows(rows, metric or ps.avg(), about, lower=False, **facts)


def test_an_undecided_gate_says_what_would_decide_it():
    assert gate_sentence(gate_of({"broken": 1})) == (
        "Undecided: v2 may be worse than v1 by more than 5 points. -1.2 points [-6.0, +4.0] "
        "(difference in avg@4, margin 5 points, one-sided 95 %). 59 further trials of each "
        "question decide it with a chance of 80 %. 1 question went from mostly right to mostly "
        "wrong (by chance alone 3.2; p < 0.001)."
    )
    assert gate_sentence(gate_of({"extra_trials": None})).endswith(
        "No number of further trials of each question would be likely to decide it."
    )
    assert "1 further trial of each question decides it" in gate_sentence(
        gate_of({"extra_trials": 1})
    )


def test_ends_have_the_decimals_that_tell_them_from_zero_and_from_the_margin():
    said = gate_sentence(gate_of({"verdict": "pass", "lo": -0.0496, "hi": 0.0004}))
    assert "v2 is not worse than v1 by more than 5 points. -1.2 points [-4.96, +0.04]" in said


def test_a_stratum_that_fails_is_named_and_the_mean_keeps_its_own_verdict():
    whole = {"verdict": "fail", "diff": 0.017, "lo": -0.012, "hi": 0.047}
    account = tell_gate(gate_of(whole, BROKEN, {"stratum": "search"}))
    assert plain_text(account.title.words) == "v2 is worse than v1 in safety by more than 5 points."
    assert account.table.column("verdict").words == [
        "passes; \x01safety\x02 fails", "worse by more than 5 points", "undecided",
    ]  # fmt: skip


def test_a_pass_of_the_mean_names_the_strata_that_are_undecided():
    whole = {"verdict": "undecided", "lo": -0.03}
    beyond = {**BROKEN, "verdict": "undecided", "margin": 0.02}
    account = tell_gate(
        gate_of(whole, beyond, {"stratum": "search", "verdict": "pass", "lo": -0.01})
    )
    title = "Undecided: v2 may be worse than v1 in safety by more than 2 points."
    assert plain_text(account.title.words) == title
    assert account.table.column("verdict").words[1] == (
        "worse by more than 2 points by itself, undecided among all parts"
    )


def test_of_several_candidates_the_parts_of_the_worst_are_named():
    rows = ({"verdict": "fail", "diff": -0.2, "lo": -0.3, "hi": -0.1}, BROKEN,
            {"model": "v3", "verdict": "pass", "lo": -0.01})  # fmt: skip
    (said,) = tell_gate(gate_of(*rows)).texts("clause")
    expected = "v2: worse by more than 5 points in safety -43.0 [-50.0, -36.0]."
    assert plain_text(said).replace(MINUS, "-") == expected


def test_a_mean_of_its_own_fails_whatever_its_strata_say():
    whole = {"verdict": "fail", "diff": -0.2, "lo": -0.3, "hi": -0.1}
    found = gate_of(whole, {"stratum": "search", "verdict": "pass", "lo": -0.01})
    assert plain_text(gate_title(found).words) == "v2 is worse than v1 by more than 5 points."
    part = gate_sentence(found.of_part("search"))
    assert part.startswith("search: v2 is not worse than v1 by more than 5 points. -1.2 points")


@pytest.mark.parametrize(
    ("verdict", "ends", "words"),
    [
        ("pass", (0.01, 0.1), "v2 is better than v1."),
        ("fail", (-0.1, -0.01), "v2 is worse than v1."),
        ("undecided", (-0.1, 0.1), "Undecided: v2 may be worse than v1."),
    ],
)
def test_at_margin_zero_a_verdict_names_the_better_one(verdict, ends, words):
    lo, hi = ends
    found = gate_of({"margin": 0.0, "verdict": verdict, "lo": lo, "hi": hi})
    assert plain_text(gate_title(found).words) == words


def test_metrics_of_other_ranges_are_written_as_they_are():
    row = {"verdict": "fail", "margin": 1.5, "diff": -2.25, "lo": -2.5, "hi": -1.75}
    about = About("difference in bayes@4", 0.99, candidates=1)
    said = gate_sentence(
        gate_of(row, metric=ps.avg(w=[0, 10]), about=about, fdr=0.05, broke=["q4"])
    )
    assert "by more than 1.5. -2.2" in said
    assert "one-sided 99 %" in said
    assert said.endswith("1 question regressed (FDR 5 %): q4.")


def test_questions_are_named_if_there_are_enough_trials_for_it():
    many = gate_sentence(gate_of(broke=[f"q{place}" for place in range(12)]))
    assert many.endswith(
        "12 questions regressed (FDR 10 %): q0, q1, q2, q3, q4, q5, q6, q7, q8, q9 and 2 more."
    )
    none = gate_sentence(gate_of(broke=[]))
    assert none.endswith("Tested one by one, 0 questions regressed (FDR 10 %).")
    few = gate_sentence(gate_of(broke=[], nameable=False))
    assert few.endswith(
        "no question could be shown to have regressed: each has too few trials (FDR 10 %)."
    )


def test_an_undecided_gate_says_as_what_it_counts():
    assert gate_sentence(gate_of(undecided="fail")).endswith("It counts as fail.")
    passed = gate_of({"verdict": "pass", "lo": -0.01}, undecided="fail")
    assert "counts as" not in gate_sentence(passed)


def test_about_a_population_questions_are_counted():
    row = {name: value for name, value in ROW.items() if name != "extra_trials"}
    looks = About("difference in avg@4", 0.95, looks="at every look", candidates=1)
    rows = pl.DataFrame([{**row, "extra_questions": 59}])
    said = gate_sentence(GateFacts.from_rows(rows, ps.avg(), looks, lower=False))
    assert "59 further questions decide it with a chance of 80 %." in said
    assert "one-sided 95 %, at every look" in said


def analysed(successes, trials=4, **options):
    """The analysis of a log of one stratum."""
    log = counted(np.array([successes]), trials).frame.drop("stratum").scorio(count="count")
    return log.questions(**options)


@pytest.fixture(scope="module")
def faulty():
    """Sixteen models, ever better at all questions but the last one; the first is never solved."""
    c = np.minimum(np.arange(16)[:, None] // 2 + np.arange(6) % 3, 8)
    c[:, 0], c[:, 1], c[:, 5] = 0, 8, np.arange(16)[::-1] // 2
    return analysed(c, 8)


def test_questions_at_both_ends_are_named(faulty):
    never, always, more = question_sentences(SolvedFacts.from_rows(faulty, "question"))
    assert never == "1 of 6 questions was never solved by any model: question 0."
    assert always == "1 of 6 questions was solved by every model in every trial: question 1."
    assert more == (
        "More trials can remove only 27 % of the variance of the difference between two models on "
        "questions like these; more questions can remove all of it."
    )


def test_more_trials_help_if_models_are_good_at_the_same_questions():
    *_, more = question_sentences(
        SolvedFacts.from_rows(analysed([[1, 2, 3], [2, 3, 4]]), "question")
    )
    assert more == (
        "More trials help: they can remove up to 100 % of the variance of the difference between "
        "two models on questions like these."
    )


def test_several_questions_at_an_end_are_counted_and_named():
    rows = analysed([[0, 0, 1, 4, 4, 4], [0, 0, 2, 4, 4, 4], [0, 0, 3, 4, 4, 4]])
    never, always, *_ = question_sentences(SolvedFacts.from_rows(rows, "question"))
    assert never == "2 of 6 questions were never solved by any model: questions 0 and 1."
    assert (
        always
        == "3 of 6 questions were solved by every model in every trial: questions 3, 4 and 5."
    )


def test_no_question_at_either_end_is_said_plainly():
    never, always, *_ = question_sentences(
        SolvedFacts.from_rows(analysed([[1, 2], [2, 3], [3, 1]]), "question")
    )
    assert never == "Each question was solved by some model."
    assert always == "No question was solved by every model in every trial."


def test_rewards_of_an_unknown_range_have_no_sentence_on_successes():
    rows = pl.DataFrame(
        {"model": ["a", "b"] * 2, "question": [1, 1, 2, 2], "category": [0.1, 0.4, 2.0, 3.0]}
    )
    sentences = question_sentences(
        SolvedFacts.from_rows(rows.scorio(trial=None).questions(), "question")
    )
    assert sentences == []


def test_no_question_is_said_too(faulty):
    assert question_sentences(SolvedFacts.from_rows(faulty.clear(), "question")) == [
        "The log has no questions."
    ]
