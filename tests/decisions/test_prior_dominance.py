"""Estimates outside the interval of a comparison, by hand."""

import numpy as np
import pytest

import polars_scorio as ps
from polars_scorio.decisions.models import prior_decides


@pytest.mark.parametrize(
    ("diff", "expected"),
    [(0.05, True), (0.1, False), (0.3, False), (0.31, True), (np.nan, False), (0.3 + 1e-14, False)],
)
def test_an_estimate_outside_the_interval_is_found(diff, expected):
    lo, hi = np.array([0.1]), np.array([0.3])
    assert prior_decides(np.array([diff]), lo, hi, ps.bayes()).item() == expected


def test_estimates_are_clipped_as_the_intervals_are():
    found = prior_decides(
        np.array([0.9]), np.array([0.2]), np.array([0.5]), ps.bayes(bounds=(0.2, 0.7))
    )
    assert not found.item()
