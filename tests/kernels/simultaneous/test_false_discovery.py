import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from polars_scorio.kernels.simultaneous.false_discovery import benjamini_hochberg


@given(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=20))
def test_equals_the_adjustment_of_scipy(p):
    adjusted = benjamini_hochberg(np.array(p))
    np.testing.assert_allclose(adjusted, false_discovery_control(p), rtol=1e-12)


def test_no_test_at_all_is_a_family_too():
    assert benjamini_hochberg(np.empty(0)).size == 0
