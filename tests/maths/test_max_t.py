"""Critical values of paired models, against formulas for a pair and brute Monte Carlo."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import norm, studentized_range, t

from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.covariance import Paired, paired_means
from polars_scorio.maths.max_t import best_critical, max_t_critical, max_t_of_best, max_t_of_each
from tests.maths.test_paired_means import FIRST, everyone, sample


def test_two_models_need_student_t():
    found = paired_means(sample(2, 10), FIRST, 1.0)
    # The same quantile; SciPy's inverse holds ten digits.
    assert max_t_critical(found, everyone(2), 0.95) == pytest.approx(t.ppf(0.975, 9), rel=1e-9)


@pytest.mark.parametrize(("models", "within"), [(3, 0.001), (6, 0.002), (20, 0.004), (50, 0.006)])
def test_independent_models_need_the_studentized_range(models, within):
    known = Paired.from_moments(np.zeros((1, models)), np.eye(models)[None], np.array([29.0]))
    c = norm.isf(t.sf(max_t_critical(known, everyone(models), 0.95)[0], 29))
    held = studentized_range.cdf(c * np.sqrt(2), models, np.inf)
    assert held == pytest.approx(0.95, abs=within)  # of fixed directions


def normal_samples(covariance: Floats, questions: int, samples: int) -> Floats:
    """Student's t of all differences to each model, in some samples, shape (samples, L, L)."""
    random, models = np.random.default_rng(5), len(covariance)
    draws = random.multivariate_normal(np.zeros(models), covariance, (samples, questions))
    gaps = draws[..., :, None] - draws[..., None, :]
    scale = gaps.std(axis=1, ddof=1) / np.sqrt(questions) + np.eye(models)
    return gaps.mean(axis=1) / scale


@pytest.mark.parametrize("models", [4, 16])
def test_holds_the_confidence_of_pairs_that_estimate_their_own_variances(models):
    factor = np.random.default_rng(5).normal(size=(models, 2 * models))
    factor *= np.geomspace(0.2, 2, models)[:, None]
    covariance, questions = factor @ factor.T, 13
    reach = np.abs(normal_samples(covariance, questions, 500))
    known = Paired.from_moments(
        np.zeros((1, models)), covariance[None], np.array([questions - 1.0])
    )
    c = max_t_critical(known, everyone(models), 0.95)[0]
    # Three standard errors of 500 samples. The value of a multivariate t holds .91 of 16 models.
    assert (reach.max(axis=(1, 2)) <= c).mean() == pytest.approx(0.95, abs=0.03)
    of_first = max_t_of_each(known, 0.95)[0, 0]
    assert (reach[:, 0].max(axis=1) <= of_first).mean() == pytest.approx(0.95, abs=0.03)


def test_fewer_pairs_need_less():
    found = paired_means(sample(8, 30), FIRST, 1.0)
    some = np.zeros((1, 8, 8), dtype=bool)
    some[0, 0, 1:] = True
    less, more = (max_t_critical(found, pairs, 0.95)[0] for pairs in (some, everyone(8)))
    assert t.ppf(0.975, 29) < less < more
    # The same directions in both, in single precision.
    assert less == pytest.approx(max_t_of_each(found, 0.95)[0, 0], rel=1e-6)


def test_no_pair_needs_the_value_of_one():
    found = paired_means(sample(3, 10), FIRST, 1.0)
    none = np.zeros((1, 3, 3), dtype=bool)
    # The same quantile: far below the default of approx, 1e-6.
    assert max_t_critical(found, none, 0.95) == pytest.approx(t.ppf(0.975, 9))


@pytest.mark.parametrize("span", [0.0, 1.0])
def test_identical_models_have_defined_values(span):
    values = np.repeat(sample(1, 10), 3, axis=1)
    found = paired_means(values, FIRST, span)
    sigma = found.sigma()[0, 0, 1]
    # The rounding of a variance, 1e-18 at most, under a root.
    assert sigma == pytest.approx(span * np.sqrt(2 / 110), abs=1e-9)
    c = max_t_critical(found, everyone(3), 0.95)[0]
    assert t.ppf(0.975, 9) <= c <= t.ppf(1 - 0.025 / 3, 9)


def test_a_model_alone_needs_the_value_of_one_pair():
    found = paired_means(sample(1, 10), FIRST, 1.0)
    # Both: the same quantile, far below the default of approx, 1e-6.
    assert max_t_critical(found, everyone(1), 0.95) == pytest.approx(t.ppf(0.975, 9))
    assert max_t_of_each(found, 0.95)[0, 0] == pytest.approx(t.ppf(0.975, 9))


def test_a_model_with_a_null_is_absent():
    values = sample(4, 15)
    values[3, 1] = np.nan
    found = paired_means(values, FIRST, 1.0)
    assert np.isnan(found.mean[0]).tolist() == [False, True, False, False]
    here = np.isfinite(found.mean[0])
    pairs = (here[:, None] & here)[None]
    rest = paired_means(np.delete(values, 1, axis=1), FIRST, 1.0)
    oracle = max_t_critical(rest, everyone(3), 0.95)
    # Another number of dimensions has other directions.
    assert max_t_critical(found, pairs, 0.95) == pytest.approx(oracle, rel=5e-3)
    assert np.isnan(max_t_of_each(found, 0.95)[0]).tolist() == [False, True, False, False]


def test_the_same_bytes_on_each_run():
    found = paired_means(sample(30, 20), FIRST, 1.0)
    first, second = (max_t_critical(found, everyone(30), 0.95).tobytes() for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_a_thousand_models_fit_into_500_megabytes():
    values = sample(1000, 50)
    tracemalloc.start()
    max_t_critical(paired_means(values, FIRST, 1.0), everyone(1000), 0.95)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250e6


@pytest.mark.parametrize(("models", "within"), [(2, 1e-9), (4, 0.01), (20, 0.02)])
def test_the_best_of_independent_models_needs_dunnett_s_value(models, within):
    known = Paired.from_moments(np.zeros((1, models)), np.eye(models)[None], np.array([np.inf]))
    oracle = best_critical(np.ones((1, models)), 0.95)
    # The error of the fixed draws.
    np.testing.assert_allclose(max_t_of_best(known, 0.95), oracle, atol=within)


def test_the_best_of_correlated_models_seems_worse_as_often_as_promised():
    covariance, questions = np.cov(np.random.default_rng(5).normal(size=(6, 12))), 16
    known = Paired.from_moments(np.zeros((1, 6)), covariance[None], np.array([questions - 1.0]))
    found = max_t_of_best(known, 0.9)[0]
    ahead = normal_samples(covariance, questions, 2_000)
    for model, c in enumerate(found):
        # Three standard errors of 2,000 samples, and the error of the fixed directions.
        assert (ahead[:, :, model].max(axis=1) <= c).mean() == pytest.approx(0.9, abs=0.025)
    assert (found < max_t_of_each(known, 0.9)[0]).all()
