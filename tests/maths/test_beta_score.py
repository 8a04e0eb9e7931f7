"""Scores of Beta differences, against SciPy."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import beta

from polars_scorio.maths.families import beta_score


@pytest.mark.parametrize(("a", "b"), [(3, 1), (40, 30), (2.5, 2.5)])
def test_is_the_quantile_of_the_chance_that_the_order_is_right(a, b):
    mean, sigma = beta(a, b, loc=-1, scale=2).stats("m")[()], beta(a, b, loc=-1, scale=2).std()
    score = beta_score(np.array([mean]), np.array([sigma]), np.array([9.0]))
    # SciPy's tail, and moments that were rounded once.
    assert score[0] == pytest.approx(-ndtri(beta(a, b).cdf(0.5)), abs=1e-9)


@pytest.mark.parametrize("sigma", [0.0, 2.0, 1e-9], ids=["none", "too wide", "narrow"])
def test_is_the_normal_score_if_no_beta_distribution_fits(sigma):
    assert beta_score(np.array([0.3]), np.array([sigma]), np.array([9.0])) == 9
