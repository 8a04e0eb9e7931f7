"""The share of the spread that is more than noise: vectors and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.power import removable_share
from polars_scorio.maths.ranks import signal_share, signal_share_paired
from tests.documents import study_numbers

VECTORS = study_numbers("verdicts")


def spread_of(squares, models):
    """Models with sigma 1 whose squared distances from their mean sum to a number."""
    mu = np.arange(models) - (models - 1) / 2
    return mu * np.sqrt(squares / (mu @ mu))


@pytest.mark.parametrize("case", VECTORS["noise_share"])
def test_vectors_of_the_share(case):
    mu = spread_of(case["Q"], case["models"])[None]
    assert signal_share(mu, np.ones_like(mu))[0] == pytest.approx(1 - case["share"], abs=1e-9)


@given(st.integers(2, 60), st.floats(0, 1e6), st.floats(1, 10))
def test_more_spread_is_more_than_noise(models, squares, factor):
    less, more = (spread_of(q, models)[None] for q in (squares, squares * factor))
    few, many = (signal_share(mu, np.ones_like(mu))[0] for mu in (less, more))
    assert 0 <= few <= many + 1e-12
    assert many <= 1


@given(st.integers(2, 20), st.floats(0.1, 100))
def test_independent_models_of_one_sigma_have_the_share_of_paired_ones(models, squares):
    mu = spread_of(squares, models)[None]
    both = Paired(mu, np.eye(models)[None], np.array([np.inf]), 0.0)  # of no known range
    # Sums of squares of distances and of pairs: rounding.
    alone = signal_share(mu, np.ones_like(mu))
    np.testing.assert_allclose(signal_share_paired(both, 0 * mu), alone, atol=1e-9)
    runs = np.full_like(mu, 3.0)  # which three more of the variance of the questions would be
    with_runs = signal_share(mu, np.hypot(np.ones_like(mu), np.sqrt(runs)))
    np.testing.assert_allclose(signal_share_paired(both, runs), with_runs, atol=1e-9)
    assert with_runs <= alone


@pytest.mark.parametrize(
    ("mu", "sigma", "share"),
    [
        pytest.param([0.5], [0.1], 1, id="one model"),
        pytest.param([0.5] * 2, [0.1] * 2, 0, id="two that are the same"),
        pytest.param([0.5] * 5, [0.1] * 5, 0, id="five that are the same"),
        pytest.param([0.5] * 5, [0.1] * 4 + [0.0], 1, id="one without sigma"),
        pytest.param([0.1, 0.9, np.nan], [0.1, 0.1, np.nan], 1 - 0.5 / 32, id="a null"),
        pytest.param([np.nan, np.nan], [np.nan, np.nan], 1, id="no model"),
        pytest.param([0.1, 0.2, 0.3, 9.0], [0.1] * 4, 1, id="one far ahead"),
    ],
)
def test_odd_strata_have_a_defined_share(mu, sigma, share):
    # One far ahead: 1 / 2,300 is missing.
    assert signal_share(np.array([mu]), np.array([sigma]))[0] == pytest.approx(share, abs=1e-3)


def share_of(c, n):
    """The share of a table of successes, with a row for each question."""
    mean = np.asarray(c) / n
    noise = mean * (1 - mean) / (n - 1) if n > 1 else np.full(mean.shape, np.nan)
    return removable_share(mean, noise)


def test_more_trials_remove_their_noise_and_leave_the_interaction():
    c = np.array([[0, 2, 4], [1, 0, 4], [3, 4, 1], [0, 1, 2]])
    mean = c / 4
    residual = mean - mean.mean(axis=1, keepdims=True) - mean.mean(axis=0) + mean.mean()
    noise = (mean * (1 - mean) / 3).mean()
    assert share_of(c, 4) == pytest.approx(noise / ((residual**2).sum() / (3 * 2)))


def test_a_share_of_many_worlds_is_that_of_their_rates():
    # Interaction .005, and trials p (1 - p) / 4, of 200 models and 300 questions.
    rng = np.random.default_rng(2)
    of_models, of_questions = rng.normal(0, 0.1, 200), rng.normal(0, 0.02**0.5, (300, 1))
    p = np.clip(0.5 + of_models + of_questions + rng.normal(0, 0.005**0.5, (300, 200)), 0, 1)
    noise = np.mean(p * (1 - p)) / 4
    assert share_of(rng.binomial(4, p), 4) == pytest.approx(noise / (noise + 0.005), abs=0.01)


def test_less_interaction_than_noise_leaves_nothing_for_questions():
    assert share_of([[2, 2], [2, 2], [1, 2]], 4) == 1


@pytest.mark.parametrize(
    ("c", "n"),
    [([[1], [2], [3]], 4), ([[1, 2, 3]], 4), ([[0, 1], [0, 0]], 1), ([[4, 4], [4, 4]], 4)],
    ids=["one model", "one question", "single trials", "nothing varies"],
)
def test_it_is_unknown(c, n):
    assert np.isnan(share_of(c, n))
