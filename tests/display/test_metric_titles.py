"""Headings of metrics, and the words for their intervals."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.phrases import (
    column_heading,
    inference_words,
    interval_words,
    row_heading,
)
from tests.made_logs import long
from tests.own_metric import Agreement


@pytest.mark.parametrize(
    ("metric", "k", "heading"),
    [
        (ps.avg(), None, "avg@8"),
        (ps.pass_hat_k([1, 4]), 4, "Pass^4"),
        (ps.maj_at_k(), None, "Maj@k"),
        (ps.g_pass_at_k_tau(4, 0.5), 4, "G-Pass@4 (tau=0.5)"),
        (ps.tail_pass(4), 3, "TailPass@4 (t=3)"),
        (ps.tail_pass(4, name="curve"), 3, "curve, t = 3"),
        (ps.pass_at_k(4, name="mine"), 4, "mine, k = 4"),
        (ps.threshold_spectrum_at_k(2, [0.5, 0.5]), 2, "Threshold-Spectrum@2 (weights=(0.5, 0.5))"),
        (ps.bayes([0, 0.5, 1]), None, "Bayes@8 (w=[0, 0.5, 1])"),
    ],
)
def test_a_row_of_a_report_has_the_heading_of_its_metric(metric, k, heading):
    assert metric.heading(k, 8) == heading
    if metric.label is None:
        assert row_heading(metric.name, k, 8) == heading


def test_names_that_no_metric_of_the_package_has_stay_what_they_are():
    assert row_heading("pass_at_k(reference)", 4) == "pass_at_k(reference), k = 4"
    assert column_heading("tail_pass_k_8_3") == "tail_pass_k_8_3"
    assert column_heading("score") == "score"


@pytest.mark.parametrize("to_text", [ps.to_markdown, ps.to_latex])
def test_a_leaderboard_knows_the_headings_of_its_metrics(r1, to_text):
    log = pl.concat([r1, long([[0] * 5, [0, 1, 0, 0, 0]], "poor")])
    metrics = [Agreement(), ps.g_pass_at_k_tau([2, 4], 0.5), ps.tail_pass(3, 2)]
    table = to_text(log.scorio.leaderboard(*metrics))
    for heading in ("Agreement@5", "G-Pass@2 (tau=0.5)", "G-Pass@4 (tau=0.5)", "TailPass@3 (t=2)"):
        assert heading in table


def test_joined_leaderboards_know_the_headings_of_both(r1):
    boards = [r1.scorio.leaderboard(metric) for metric in (ps.avg(), Agreement())]
    table = ps.to_markdown(pl.concat(boards, how="diagonal"))
    assert "avg@5" in table
    assert "Agreement@5" in table


def test_votes_have_one_interval_under_any_prior():
    published = {"prior": "uniform"}
    assert inference_words(published, [ps.vote_at_k(3)]) == "calibrated"
    both = inference_words(published, [ps.avg(), ps.vote_at_k(3)])
    assert both == "uniform prior (Vote@k: calibrated)"
    assert interval_words(0.95, both) == f"95 % intervals ({both})"


def test_without_a_choice_posterior_means_have_the_uniform_prior():
    both = inference_words({}, [ps.avg(), ps.bayes()])
    assert both == "calibrated (Bayes@N: uniform prior)"
    assert inference_words({"prior": (2, 0.5)}, [ps.pass_at_k(2)]) == "prior Beta(2, 0.5)"
    earlier = inference_words({"prior": long([[1]])}, [ps.pass_at_k(2)])
    assert earlier == "uniform prior, with prior trials"


def test_negative_powers_and_posterior_means_are_not_calibrated():
    calibrated = {"target": "population"}
    inverse = ps.geom_at_k(2, pass_power=-1, name="inverse")
    assert inference_words(calibrated, [inverse, ps.bayes()]) == (
        "weighted populations, questions as a sample"
    )
    both = inference_words(calibrated, [inverse, ps.geom_at_k([1, 2]), ps.avg()])
    assert interval_words(0.9, both) == (
        "calibrated 90 % intervals (inverse: weighted populations), questions as a sample"
    )


def test_negative_blends_of_the_benchmark_are_calibrated_about_these_questions_alone():
    blend = ps.geom_ds_at_k(2, pass_power=-1, name="inverse")
    words = "calibrated (inverse: weighted populations)"
    options = {}
    assert inference_words(options, [ps.avg(), blend]) == "calibrated"
    found = inference_words({**options, "target": "population"}, [ps.avg(), blend])
    assert found == f"{words}, questions as a sample"
