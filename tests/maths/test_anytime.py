import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtr

from polars_scorio.maths.families import (
    anytime_critical,
    planned_look_critical,
    student_critical,
    student_z,
)
from tests.documents import study_numbers

VECTORS = study_numbers("decisions")["anytime"]


def test_constants_are_those_of_the_study():
    for row in VECTORS["constant"]:
        assert planned_look_critical(row["z"]) == pytest.approx(row["c"], abs=1e-12)


def test_multipliers_are_those_of_the_study():
    for row in VECTORS["multiplier"]:
        z = ndtri((1 + row["confidence"]) / 2)
        assert anytime_critical(z, row["t"]) == pytest.approx(row["m"], abs=1e-12)


def test_a_brownian_motion_crosses_the_boundary_as_rarely_as_promised():
    # 4,000 paths over 8 octaves around the plan, 32 looks in each; the promise is .05 for all time,
    # and one standard error of this simulation is .0034.
    random, share = np.random.default_rng(0), 2 ** np.linspace(-4, 4, 257)
    steps = np.sqrt(np.diff(share, prepend=0.0))
    paths = np.cumsum(random.standard_normal((4_000, share.size)) * steps, axis=1)
    boundary = anytime_critical(ndtri(0.975), share) * np.sqrt(share)
    crossed = (np.abs(paths) > boundary).any(axis=1).mean()
    assert 0.02 < crossed < 0.055


@given(st.floats(0.0, 6.0), st.floats(1e-3, 1e3))
def test_a_boundary_is_the_same_as_far_before_the_plan_as_beyond_it(z, share):
    ahead, beyond = anytime_critical(z, share), anytime_critical(z, 1 / share)
    assert ahead == pytest.approx(beyond, rel=1e-12)
    assert ahead >= planned_look_critical(z) > z


@given(st.floats(0.0, 6.0), st.floats(1e-3, 1.0), st.floats(0.01, 1.0))
def test_boundaries_grow_with_the_confidence_and_away_from_the_plan(z, share, more):
    assert anytime_critical(z + more, share) > anytime_critical(z, share)
    assert anytime_critical(z, share * (1 - more / 2)) > anytime_critical(z, share)


@given(st.floats(0.1, 8.0), st.integers(1, 500))
def test_students_value_has_the_tail_of_the_normal_one(c, freedom):
    found = student_critical(np.array([c]), np.array([float(freedom)]))
    assert stdtr(freedom, -found) == pytest.approx(ndtr(-c), rel=1e-6)
    assert student_z(found, np.array([float(freedom)])) == pytest.approx(c, rel=1e-6)


def test_without_degrees_of_freedom_there_is_no_value():
    assert np.isnan(student_critical(2.0, np.array([np.nan, 0.0]))).all()
