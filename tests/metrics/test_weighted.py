"""Bayes@N and avg@N: published numbers, laws, and the edges where a formula is short."""

from math import sqrt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import law, long, ragged

RUBRIC = [0, 0.5, 1]
UNIT = (0.0, 1.0)
MOMENTS = ["estimate", "mu", "sigma"]
WEIGHTS = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3)


@pytest.fixture
def graded():
    """Two questions with five trials each in four categories."""
    return long([[3, 2, 3, 1, 3], [2, 3, 0, 3, 1]])


# --- published numbers


# The documentation of the package scorio (bayes, avg and their intervals), printed to 6 digits.
@pytest.mark.parametrize(
    ("log", "prior", "metric", "moments"),
    [
        pytest.param("r1", None, ps.bayes(), (0.7, 0.642857, 0.118451), id="bayes R1"),
        pytest.param("r2", None, ps.bayes(RUBRIC), (0.6, 0.5625, 0.091998), id="bayes R2"),
        pytest.param("r2", "r0", ps.bayes(RUBRIC), (0.6, 0.575, 0.084275), id="bayes R2 R0"),
        pytest.param(
            "graded", None, ps.bayes([0, 0, 0.25, 1]), (0.55, 0.444444, 0.100539), id="bayes 4"
        ),
        pytest.param("r1", None, ps.avg(), (0.7, 0.7, 0.165831), id="avg R1"),
        pytest.param("r2", None, ps.avg(RUBRIC), (0.6, 0.6, 0.147196), id="avg R2"),
    ],
)
def test_reproduces_published_moments(request, log, prior, metric, moments):
    earlier = request.getfixturevalue(prior) if prior else "uniform"
    row = request.getfixturevalue(log).scorio.report(metric, prior=earlier)
    # Half of the sixth digit that is printed.
    assert row.select(MOMENTS).row(0) == pytest.approx(moments, abs=5e-7)


# As above; interval bounds are printed to 4 digits.
@pytest.mark.parametrize(
    ("log", "metric", "interval"),
    [
        pytest.param("r1", ps.bayes(bounds=UNIT), (0.4107, 0.875), id="bayes R1"),
        pytest.param("graded", ps.bayes([0, 0, 0.25, 1]), (0.247392, 0.641497), id="bayes 4"),
        pytest.param("r1", ps.avg(bounds=UNIT), (0.375, 1.0), id="avg R1"),
        pytest.param("r2", ps.avg(RUBRIC), (0.3115, 0.8885), id="avg R2"),
    ],
)
def test_reproduces_published_intervals(request, log, metric, interval):
    row = request.getfixturevalue(log).scorio.report(metric, prior="uniform")
    # Half of the fourth digit that is printed.
    assert row.select("lo", "hi").row(0) == pytest.approx(interval, abs=5e-5)


# AISBench, its document on pass@k, cons@k and avg@k: 2, 2, 1 and 0 of 3 trials are right.
def test_avg_of_the_aisbench_example():
    row = long([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]]).scorio.avg()
    # Half of the fourth digit that is printed.
    assert row["estimate"].item() == pytest.approx(0.4167, abs=5e-5)


# --- laws; a tolerance of 1e-12 of the weights leaves room for rounding only


@law
@given(ragged(top=2), WEIGHTS)
def test_mu_lies_within_the_range_of_the_weights(outcomes, w):
    rows = long(outcomes).scorio.report(ps.bayes(w), ps.avg(w))
    room = 1e-12 * max(map(abs, w))
    assert rows["mu"].is_between(min(w) - room, max(w) + room).all()
    assert (rows["sigma"] >= 0).all()


@law
@given(ragged(top=2), WEIGHTS, st.floats(-9, 9), st.floats(-1e3, 1e3))
def test_results_follow_shifted_and_scaled_weights(outcomes, w, scale, shift):
    log = long(outcomes)
    moved = [scale * weight + shift for weight in w]
    plain = log.scorio.report(ps.bayes(w), ps.avg(w)).select(MOMENTS)
    expected = plain.select(pl.col("estimate", "mu") * scale + shift, pl.col("sigma") * abs(scale))
    rows = log.scorio.report(ps.bayes(moved), ps.avg(moved)).select(MOMENTS)
    # Rounding, in units of the largest number that is added on the way.
    assert_frame_equal(rows, expected, rel_tol=0, abs_tol=1e-12 * (9 * max(map(abs, w)) + 1e3))


@law
@given(ragged())
def test_twice_the_counts_are_known_better(outcomes):
    log = long(outcomes)
    rows, twice = (
        each.scorio(trial=None).report(ps.bayes(), ps.avg()) for each in (log, pl.concat([log] * 2))
    )
    # The interval: one trial that is right has a sigma of 0.
    width = pl.col("hi") - pl.col("lo")
    assert (twice.select(width) < rows.select(width)).to_series().all()
    # Twice the counts over twice the trials: only sums of the same ratios are rounded.
    assert_frame_equal(twice.select("estimate"), rows.select("estimate"), rel_tol=1e-14)


@law
@given(ragged(top=2), WEIGHTS)
def test_both_have_the_average_of_the_trials_as_estimate(outcomes, w):
    rows = long(outcomes).scorio.report(ps.bayes(w), ps.avg(w), prior="uniform")
    means = [sum(w[category] for category in trials) / len(trials) for trials in outcomes]
    # Rounding, in units of the largest weight.
    expected = pytest.approx(sum(means) / len(means), abs=1e-12 * max(map(abs, w)))
    bayes, avg = rows["estimate"]
    assert bayes == avg == rows["mu"][1] == expected


def test_without_weights_success_weighs_one(r1):
    plain = r1.scorio.report(ps.bayes(), ps.avg())
    weighed = r1.scorio.report(ps.bayes([0, 1], name="bayes"), ps.avg([0, 1], name="avg"))
    assert_frame_equal(weighed, plain, check_exact=True)


def test_categories_that_nobody_saw_count_in_the_posterior(r1):
    # Of each question: 4 of the 8 shares of the posterior, T = 3 + 5, fall on category 1 (then 5).
    row = r1.scorio.bayes([0, 1, 0]).row(0, named=True)
    # Sums over few questions and weights of 0 and 1: the last bits.
    assert (row["estimate"], row["mu"]) == pytest.approx((0.7, 9 / 16), rel=1e-14)


# --- edges


@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("questions", [1, 3])
@pytest.mark.parametrize("category", [0, 1])
def test_all_right_and_all_wrong(n, questions, category):
    # The posterior of each question is Beta(n + 1, 1), or its mirror image.
    mean, variance = (n + 1) / (n + 2), (n + 1) / (n + 2) ** 2 / (n + 3)
    sigma = sqrt(variance / questions)
    published = long([[category] * n] * questions).scorio(prior="uniform")
    bayes, avg = published.report(ps.bayes(), ps.avg()).rows(named=True)
    assert (bayes["estimate"], avg["estimate"], avg["mu"]) == (category,) * 3
    # Closed forms, here and below; 1 - mean and the variance are differences that lose digits.
    assert bayes["mu"] == pytest.approx(mean if category else 1 - mean, rel=1e-12)
    assert bayes["sigma"] == pytest.approx(sigma, rel=1e-12)
    assert avg["sigma"] == pytest.approx((n + 2) / n * sigma, rel=1e-12)


@pytest.mark.parametrize("w", [[0.3, 0.3, 0.3], [0, 0, 0], [-7, -7, -7]])
def test_equal_weights_leave_no_doubt(r2, w):
    for row in r2.scorio.report(ps.bayes(w), ps.avg(w)).rows(named=True):
        # Averages of one and the same number are off by its last bits.
        assert (row["estimate"], row["mu"]) == pytest.approx((w[0], w[0]), rel=1e-15)
        assert (row["sigma"], row["lo"], row["hi"]) == (0, row["mu"], row["mu"])


@pytest.mark.parametrize("metric", [ps.bayes, ps.avg])
@pytest.mark.parametrize("scale", [1e-300, 1e155, 1e300])
def test_weights_of_any_size_are_fine(r2, metric, scale):
    moments = MOMENTS if metric is ps.bayes else ["estimate", "sigma"]
    plain = r2.scorio.report(metric(RUBRIC)).select(moments).row(0)
    scaled = r2.scorio.report(metric([scale * w for w in RUBRIC])).select(moments).row(0)
    # Scaled weights are rounded once each, their sums and a variance a few times more.
    assert scaled == pytest.approx([scale * number for number in plain], rel=1e-12)
