"""A free fit of many groups at once is the fit of each, and its steps raise the likelihood."""

import numpy as np
import pytest

from polars_scorio.maths.free_fit import fit_free_groups, maximise_likelihood
from polars_scorio.maths.lattice import fit_binary_groups
from tests.maths.groups import drawn_groups


def test_groups_are_fitted_as_if_each_were_alone():
    groups = drawn_groups()
    grids = fit_binary_groups(groups)
    for grid, group, fit in zip(grids, groups, fit_free_groups(grids, groups), strict=True):
        (alone,) = fit_free_groups([grid], [group])
        for name in ("likelihood", "log_scale", "questions", "weight"):
            np.testing.assert_array_equal(getattr(fit, name), getattr(alone, name))


def test_a_step_raises_the_likelihood():
    likelihood, questions = np.array([[1.0, 0.3, 0.0], [0.1, 1.0, 0.4]]), np.array([3, 5])
    weight, before = np.full(3, 1 / 3), -np.inf
    for _ in range(5):
        weight = maximise_likelihood(likelihood, questions, weight, 1)
        now = questions @ np.log(likelihood @ weight)
        assert now > before
        assert weight.sum() == pytest.approx(1, rel=1e-12)
        before = now
