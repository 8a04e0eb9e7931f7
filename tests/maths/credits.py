"""Credits of all kinds, and draws of trials, for the tests of draws."""

import numpy as np
import pytest
from hypothesis import strategies as st

from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    at_least_share,
    excess_over_half,
    majority_gains,
)

CREDITS = {
    "any": any_success,
    "all": all_success,
    "share": lambda k: at_least_share(k, 0.3),
    "majority": majority_gains,
    "excess": excess_over_half,
    "area": area_under_curve,
    # Saturates at an interior level, where its variance is tiny beside the level squared.
    "ends": lambda k: (any_success(k) + all_success(k)) / 2,
    "sparse": lambda k: np.bincount([k // 5, k // 2, k - 1], [0.1, 0.7, 0.05], k),
}
every_credit = pytest.mark.parametrize("gains_of", CREDITS.values(), ids=CREDITS)


def states(*pairs):
    """Both arguments of a kernel, from pairs."""
    return tuple(np.array(pairs).T)


@st.composite
def draws_of_trials(draw, max_n=60):
    n = draw(st.integers(1, max_n))
    c, k = draw(st.integers(0, n)), draw(st.integers(1, n))
    return np.array([n]), np.array([c]), k


posteriors = st.tuples(*[st.floats(1e-3, 1e6).map(lambda x: np.array([x]))] * 2)
# The square of a gain, and so a variance, is to fit into a double.
one_gain = st.just(0.0) | st.floats(1e-6, 1)
gains_vectors = st.lists(one_gain, min_size=1, max_size=12).map(np.array)
