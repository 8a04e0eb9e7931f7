"""The steps of the free fit raise the likelihood."""

import numpy as np
import pytest

from polars_scorio.maths.free_fit import maximise_likelihood


def test_a_step_raises_the_likelihood():
    likelihood, questions = np.array([[1.0, 0.3, 0.0], [0.1, 1.0, 0.4]]), np.array([3, 5])
    weight, before = np.full(3, 1 / 3), -np.inf
    for _ in range(5):
        weight = maximise_likelihood(likelihood, questions, weight, 1)
        now = questions @ np.log(likelihood @ weight)
        assert now > before
        assert weight.sum() == pytest.approx(1, rel=1e-12)
        before = now
