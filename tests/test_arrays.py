"""Arrays in, arrays out: the numbers are those of a report, and of the method by hand."""

import runpy
from dataclasses import astuple

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.arrays import QuestionCounts
from tests.documents import ROOT

HAND = runpy.run_path(str(ROOT / "examples" / "method_by_hand.py"))
SIZES = [1, 2, 4, 9]
N = np.array([8, 8, 8, 8, 4, 4, 8, 6])
C = np.array([0, 3, 8, 5, 4, 1, 7, 2])
STRATUM = np.array(["a", "a", "a", "a", "a", "a", "b", "b"])
METRICS = [ps.avg(), ps.pass_at_k(SIZES), ps.pass_hat_k(SIZES), ps.maj_at_k([1, 3])]


def log():
    totals = pl.DataFrame({"domain": STRATUM, "question": range(N.size), "n": N, "c": C})
    return ps.from_successes(totals.with_columns(model=pl.lit("ada"))).scorio


@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_estimates_and_intervals_are_those_of_a_report(metric, target):
    report = log()(count="count").report(metric, target=target, confidence=0.9)
    questions = QuestionCounts(N, C)
    ends = questions.interval(metric, confidence=0.9, target=target)
    expected = report.select("estimate", "lo", "hi").fill_null(np.nan).to_numpy().T
    found = np.stack([questions.estimate(metric), *ends])
    np.testing.assert_allclose(found[:, : expected.shape[1]], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", METRICS[:3], ids=str)
def test_weights_of_strata_give_their_mean(metric):
    """`overall="macro"` weighs the strata alike, and so each question by the size of its own."""
    weights = 1 / np.where(STRATUM == "a", 6, 2)
    report = log()(count="count", by="domain").report(metric, overall="macro")
    expected = report.filter(pl.col("domain").is_null()).select("estimate", "lo", "hi")
    questions = QuestionCounts(N, C, weights)
    found = np.stack([questions.estimate(metric), *questions.interval(metric)])
    expected = expected.fill_null(np.nan).to_numpy().T
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_posteriors_are_those_of_a_uniform_prior(metric):
    report = log()(count="count").report(metric, prior="uniform")
    mu, sigma = QuestionCounts(N, C).posterior(metric)
    np.testing.assert_allclose(mu, report["mu"].to_numpy(), rtol=1e-12)
    np.testing.assert_allclose(sigma, report["sigma"].to_numpy(), rtol=1e-12)


def test_the_scale_of_weights_says_nothing():
    each = [
        QuestionCounts(N, C, scale * np.arange(1.0, 9.0)).interval(ps.avg()) for scale in (1, 7)
    ]
    np.testing.assert_allclose(*each, rtol=1e-12)


@pytest.mark.parametrize("model", HAND["SUCCESSES"])
@pytest.mark.parametrize(("kind", "k"), [("avg", 1), ("pass", 4), ("hat", 4)])
def test_the_method_by_hand_gives_the_same(model, kind, k):
    successes = np.array(HAND["SUCCESSES"][model])
    questions = QuestionCounts(np.full(successes.size, HAND["TRIALS"]), successes)
    metric = {"avg": ps.avg(), "pass": ps.pass_at_k(k), "hat": ps.pass_hat_k(k)}[kind]
    found = [questions.estimate(metric), *questions.interval(metric)]
    np.testing.assert_allclose(np.ravel(found), HAND["report"](kind, k, successes), atol=1e-9)
    ends = questions.interval(metric, target="population")
    np.testing.assert_allclose(np.ravel(ends), HAND["of_population"](kind, k, successes), atol=1e-9)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([4, 4], [1]), r"one number a question, got \[\(2,\), \(1,\)\]"),
        (([], []), "one number a question"),
        (([4.0], [1]), "must be ints"),
        (([4, 4], [1, 5]), "are wrong for 1 of 2 questions; the first has n=4 and c=5"),
        (([4, 0], [1, 0]), r"the first has n=0 and c=0"),
        (([4, 4], [1, 2], [1.0, 0.0]), "weights must be positive and finite"),
    ],
)
def test_wrong_arrays_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        QuestionCounts(*map(np.array, arrays))


def test_metrics_without_such_numbers_are_refused():
    questions = QuestionCounts(N, C)
    with pytest.raises(ValueError, match="bayes: it has a posterior, and no cal"):
        questions.interval(ps.bayes())
    for metric in (ps.avg(w=[0, 1]), ps.geom_ds_at_k(2), ps.mean_cost()):
        with pytest.raises(ValueError, match="no metric of the successes of single questions"):
            questions.estimate(metric)
    assert astuple(questions)[2] is None
