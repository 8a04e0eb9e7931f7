"""The schemata of the package scorio, whose numbers are compared in tests/logs/test_scorio.py."""

import pickle
from itertools import product

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps

RUBRICS = ps.rubrics.scorio_schemata()
SIGNALS = (
    "completion_avg_logprob",
    "logprob_min",
    "prompt_perplexity",
    "prompt_sum_logprob",
    "completion_sum_logprob",
)


@pytest.fixture
def log():
    """Every combination of correct, boxed, and each signal below and above its median."""
    rows = [*product([0, 1], [0, 1], [-2.0, -1.0], [-9.0, -1.0])]
    names = ["is_correct", "has_box", "prompt_sum_logprob", "completion_sum_logprob"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    others = [pl.col("prompt_sum_logprob").alias(name) for name in SIGNALS[:3]]
    return frame.with_columns(*others, model=pl.lit("m"), question=pl.int_range(pl.len()))


@pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)
def test_every_category_can_be_shown_and_success_is_correct(log, rubric):
    labelled = log.with_columns(rubric.expr())
    assert labelled[rubric.name].null_count() == 0
    assert {*labelled[rubric.name]} == {*rubric.labels}
    correct = labelled.filter(is_correct=1)[rubric.name]
    assert {*correct} == {*rubric.success}


def test_the_names_say_what_was_high(log):
    labelled = log.with_columns(rubric.expr() for rubric in RUBRICS)
    row = labelled.filter(
        is_correct=1, has_box=1, prompt_sum_logprob=-1.0, completion_sum_logprob=-1.0
    ).row(0, named=True)
    assert [row[rubric.name] for rubric in RUBRICS] == [
        "confident_correct",
        "smooth_correct",
        "full_compliance",
        "hard_problem_solved",
        "proportional_io",
    ]
    row = labelled.filter(
        is_correct=0, has_box=0, prompt_sum_logprob=-2.0, completion_sum_logprob=-9.0
    ).row(0, named=True)
    assert [row[rubric.name] for rubric in RUBRICS] == [
        "uncertain_wrong",
        "critical_token_derailed_answer",
        "fully_non_compliant",
        "easy_problem_failed",
        "complex_problem_wasted_effort",
    ]


def test_a_model_that_shows_one_category_is_measured_by_all_of_them():
    rubric = ps.rubrics.confident_and_correct()
    columns = {"model": "m", "question": 1, "is_correct": [1], "completion_avg_logprob": -0.1}
    report = pl.DataFrame(columns).scorio(trial=None).rubric(rubric).bayes(w=rubric.weights())
    # One trial, and one of the prior for each of the four: (0.2 + 0.1 + 0.6 + 1 + 1) / 5,
    # where 0.2, 0.1 and 0.6 are no floats: some 1e-16.
    assert report["mu"].item() == pytest.approx(0.58, rel=1e-12)


def test_thresholds_of_an_earlier_run_hold(log):
    rubric = ps.rubrics.difficulty_adjusted()
    kept = {"prompt_perplexity_median": -5.0}
    labels = log.select(rubric.expr(thresholds=kept))[rubric.name]
    assert {*labels} == {"hard_problem_failed", "hard_problem_solved"}


def test_a_missing_signal_leaves_no_category(log):
    rubric = ps.rubrics.token_surprise()
    assert log.with_columns(logprob_min=None).select(rubric.expr())[rubric.name].null_count() == 16


@pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)
def test_they_can_be_pickled(log, rubric):
    other = pickle.loads(pickle.dumps(rubric))  # noqa: S301 - our own bytes
    assert_frame_equal(log.select(other.expr()), log.select(rubric.expr()))
