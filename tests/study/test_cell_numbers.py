"""Numbers of cells: the columns that they become, and the laws that compare them."""

import numpy as np

import polars_scorio as ps
from polars_scorio.maths.interval import Estimate
from polars_scorio.study.posterior import PosteriorLaw
from polars_scorio.subjects.scores import EstimateLaw, Scores, StretchedLaw, root_of_squares

HALF, NONE = np.array([0.5, 0.25]), np.array([np.nan, 0.5])


def test_an_interval_without_an_estimate_is_a_range_unless_it_is_a_posterior():
    numbers = Scores.from_numbers("calibrated", (NONE, HALF, HALF, HALF, HALF), StretchedLaw())
    assert [*numbers.columns()] == ["estimate", "mu", "sigma", "lo", "hi", "inference"]
    assert numbers.columns()["inference"].tolist() == ["range", "calibrated"]
    posterior = numbers._replace(inference="posterior", law=PosteriorLaw(beta=False))
    assert posterior.columns()["inference"].tolist() == ["posterior", "posterior"]
    assert [*numbers.with_facts(bounds=HALF).columns()][-2:] == ["bounds", "inference"]


def test_a_variance_is_on_the_range_of_the_metric():
    noisy = Estimate(HALF, 1 - HALF, HALF / 10, HALF + 1, 10 * HALF)
    found = EstimateLaw.from_noisy(noisy, ps.avg([-1, 3])).noisy
    assert (found.low, found.width, found.bounded) == (-1, 4, True)
    np.testing.assert_array_equal(found.variance, noisy.variance)


def test_errors_of_strata_add_up_as_squares():
    assert root_of_squares(np.array([[3.0, 4.0], [np.nan, 1.0]])).tolist()[0] == 5 / 2
    assert np.isnan(root_of_squares(np.array([[np.nan, 1.0]]))).all()
