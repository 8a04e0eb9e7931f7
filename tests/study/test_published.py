"""A prior of each question: numbers of one question by hand, and means over strata."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.maths.questions import States
from polars_scorio.study.posterior import PosteriorInference, PosteriorLaw, posterior_comparison
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.scores import Scores

BINARY = Classes((0, 1), (1,))


@pytest.fixture
def cells() -> QuestionCells:
    """Two groups of one question: 1 of 4 trials succeeded, and 4 of 4."""
    counts, group = np.array([[3, 1], [0, 4]]), np.array([0, 1])
    return QuestionCells.from_states(
        States.tally(counts, 0 * counts, group, 1 + 0 * group, 2), BINARY
    )


def test_numbers_are_those_of_a_beta_posterior_with_a_normal_interval(cells):
    rows = PosteriorInference(0.8).numbers([(ps.bayes(), "success")], cells)
    numbers = rows["bayes", None]
    posterior = stats.beta([2, 5], [4, 1])
    np.testing.assert_allclose(numbers.estimate, [0.25, 1], rtol=1e-14)
    np.testing.assert_allclose(numbers.mu, posterior.mean(), rtol=1e-12)
    np.testing.assert_allclose(numbers.sigma, posterior.std(), rtol=1e-12)
    reach = stats.norm.ppf(0.9) * posterior.std()
    np.testing.assert_allclose(numbers.lo, posterior.mean() - reach, rtol=1e-12)
    assert not numbers.law.beta


def test_each_draw_size_has_its_numbers_and_the_rank_needs_mu_alone(cells):
    inference, metric = PosteriorInference(0.95), ps.pass_at_k([1, 2])
    rows = inference.numbers([(metric, "success"), (ps.avg(), "success")], cells)
    assert [*rows] == [("pass_at_k", 1), ("pass_at_k", 2), ("avg", None)]
    mu = inference.ranking_numbers(metric, "success", 2, cells)
    np.testing.assert_array_equal(mu, rows["pass_at_k", 2].mu)


def test_the_interval_of_a_mean_over_strata_is_normal():
    mu, sigma, none = np.array([0.2, 0.6]), np.array([0.03, 0.04]), np.full(2, np.nan)
    numbers = Scores.from_numbers(
        "posterior", (mu, mu, sigma, none, none), PosteriorLaw(beta=False)
    )
    (lo,), (hi,) = PosteriorInference(0.95).mean_interval(ps.avg(), numbers, np.array([[0, 1]]))
    # sqrt(0.03^2 + 0.04^2) / 2 = 0.025.
    assert (lo, hi) == pytest.approx((0.4 - 1.959964 * 0.025, 0.4 + 1.959964 * 0.025), abs=1e-7)


def test_differences_of_models_are_normal():
    mu, sigma = np.array([[0.7, 0.5]]), np.array([[0.03, 0.04]])
    scores = posterior_comparison(ps.bayes(), mu, sigma, beta=False)
    pair = scores.differences(np.array([0]), np.array([1]), np.array([[2.0]]))
    assert pair.diff.item() == pytest.approx(0.2)
    assert pair.lo.item() == pytest.approx(0.2 - 2 * sqrt(0.03**2 + 0.04**2))
