import numpy as np
import pytest

from polars_scorio.maths.power import variance_shares
from tests.documents import study_numbers

VECTORS = study_numbers("rewards")["items"]


def shares_of(c, n, tail=0.025):
    """The shares of a table of successes, with a row for each question."""
    mean = np.asarray(c) / n
    trial = mean * (1 - mean) * n / (n - 1) if n > 1 else np.full(mean.shape, np.nan)
    return variance_shares(mean, trial / n, trial, tail)


@pytest.mark.parametrize("name", ["variance", "share", "lo", "hi"])
def test_numbers_are_those_of_the_study(name):
    shares = shares_of(np.array(VECTORS["c"]).T, VECTORS["n"])
    np.testing.assert_allclose(getattr(shares, name), VECTORS["shares"][name], atol=1e-12)


def test_ends_are_those_of_deleting_each_question_in_turn():
    c = np.random.default_rng(1).integers(0, 5, (8, 5))
    whole = shares_of(c, 4)
    without = np.array([shares_of(np.delete(c, row, axis=0), 4).share for row in range(8)])
    error = np.sqrt(7 / 8 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    t = 2.364624  # Student's t, 7 degrees of freedom, .975
    np.testing.assert_allclose(whole.lo, np.clip(whole.share - t * error, 0, 1), atol=1e-6)
    np.testing.assert_allclose(whole.hi, np.clip(whole.share + t * error, 0, 1), atol=1e-6)


def test_shares_of_many_worlds_are_unbiased():
    # 200 models and 300 questions: effects .01 and .02, interaction .005, trials p (1 - p).
    rng = np.random.default_rng(2)
    of_models, of_questions = rng.normal(0, 0.1, 200), rng.normal(0, 0.02**0.5, (300, 1))
    p = np.clip(0.5 + of_models + of_questions + rng.normal(0, 0.005**0.5, (300, 200)), 0, 1)
    shares = shares_of(rng.binomial(4, p), 4)
    assert shares.variance == pytest.approx([0.01, 0.02, 0.005, np.mean(p * (1 - p))], abs=0.004)


def test_noise_of_differences_is_that_of_trials_here_and_of_interaction_too_elsewhere():
    shares = shares_of([[0, 2, 4], [1, 0, 4], [3, 4, 1], [0, 1, 2]], 4)
    *_, interaction, trials = shares.variance
    assert shares.benchmark == pytest.approx(2 * trials / 4 / 4)
    assert shares.population == pytest.approx(2 * (interaction + trials / 4) / 4)
    assert shares.removable == pytest.approx(shares.benchmark / shares.population)


def test_a_negative_interaction_leaves_nothing_for_questions():
    shares = shares_of([[2, 2], [2, 2], [1, 2]], 4)
    assert shares.variance[2] < 0
    assert shares.removable == 1
    assert shares.benchmark == shares.population


def test_single_trials_do_not_separate_interaction_from_trials():
    c = np.array([[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 1]])
    shares = shares_of(c, 1)
    assert np.isfinite(shares.share[:2]).all()
    assert np.isfinite(shares.hi[:2]).all()
    assert np.isnan([shares.variance[2:], shares.share[2:], shares.lo[2:], shares.hi[2:]]).all()
    assert np.isnan([shares.benchmark, shares.population, shares.removable]).all()


@pytest.mark.parametrize("c", [[[1], [2], [3]], [[1, 2, 3]]], ids=["one model", "one question"])
def test_one_model_or_question_has_no_shares(c):
    shares = shares_of(c, 4)
    assert np.isnan([shares.share, shares.lo, shares.hi]).all()
    assert np.isnan(shares.removable)


def test_two_questions_have_shares_without_ends():
    shares = shares_of([[0, 3, 4], [1, 2, 4]], 4)
    assert shares.share.sum() == pytest.approx(1)
    assert np.isnan([shares.lo, shares.hi]).all()


def test_where_nothing_varies_there_are_no_shares():
    assert np.isnan(shares_of([[4, 4], [4, 4], [4, 4]], 4).share).all()
