"""Expected outcomes of further trials, against SciPy and each other."""

import numpy as np
import pytest

from polars_scorio.maths.variance import further_successes


@pytest.mark.parametrize("further", [1, 3, 40])
def test_further_trials_by_either_way(further):
    # One state of many trials goes by posteriors, all states by the prior.
    b, a = np.array([0.3, 40.0, 1e-9]), np.array([2.0, 1e-3, 1e-9])
    n, c = 30, np.array([30])
    (one,) = (further_successes(b, a, n, c, np.array([2]), further),)
    many = further_successes(
        b, a, n, np.arange(n + 1), np.where(np.arange(n + 1) == n, 2, 0), further
    )
    # Products of up to 70 factors in another order: 7e-14; atol for chances near 0.
    np.testing.assert_allclose(one, many, rtol=1e-10, atol=1e-25)
    # The rounding of up to 41 chances that sum to 1, for each of two questions.
    np.testing.assert_allclose(one.sum(axis=1), 2, rtol=1e-12)
