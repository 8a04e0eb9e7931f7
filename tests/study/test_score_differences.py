"""Differences of models: what holds whatever the inference."""

from math import inf

import numpy as np
import pytest

import polars_scorio as ps
from polars_scorio.maths.families import standardized_differences
from polars_scorio.study.posterior import posterior_comparison


def test_a_difference_without_sigma_is_certain():
    diff, sigma = np.array([0.0, 0.0, 1e-300, -0.5, np.nan]), np.array([0.0, 1.0, 0.0, 0.25, 0.0])
    # All are exact; approx is here for the nan.
    assert standardized_differences(diff, sigma).tolist() == pytest.approx(
        [0, 0, inf, -2, np.nan], nan_ok=True
    )


def test_pairs_may_differ_from_stratum_to_stratum():
    mu, sigma = np.array([[0.2, 0.8, 0.5]]), np.array([[0.3, 0.4, 0.0]])
    scores = posterior_comparison(ps.bayes(), mu, sigma, beta=False)
    z = scores.z(np.array([[1, 2]]), np.array([[2, 0]]))
    assert z[0].tolist() == pytest.approx([0.3 / 0.4, 0.3 / 0.3])


def test_a_model_without_sigma_is_not_ranked():
    mu, sigma = np.array([[0.2, 0.8]]), np.array([[0.5, np.nan]])
    scores = posterior_comparison(ps.bayes(), mu, sigma, beta=False)
    assert scores.inner.value[0].tolist() == pytest.approx([0.2, np.nan], nan_ok=True)
