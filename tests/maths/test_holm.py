import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.families import holm_adjusted
from tests.documents import study_numbers

p_values = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=7)


def test_adjusted_values_are_those_of_the_study():
    for row in study_numbers("decisions")["gate"]["holm"]:
        np.testing.assert_allclose(holm_adjusted(np.array(row["p"])), row["adjusted"], atol=1e-12)


@given(p_values, st.floats(0.01, 0.5))
def test_rejections_are_those_of_the_procedure_step_by_step(p, error):
    left, rejected = [*range(len(p))], set()
    while left:
        least = min(left, key=lambda row: p[row])
        if p[least] > error / len(left):
            break
        rejected.add(least)
        left.remove(least)
    found = holm_adjusted(np.array(p))
    for row, adjusted in enumerate(found):
        if abs(adjusted - error) > 1e-12:
            assert (adjusted <= error) == (row in rejected)


@given(p_values)
def test_an_unknown_value_counts_as_one(p):
    known, unknown = np.array([*p, 1.0]), np.array([*p, np.nan])
    np.testing.assert_array_equal(holm_adjusted(unknown), holm_adjusted(known))


def test_families_are_rows():
    p = np.array([[0.01, 0.04], [0.2, 0.001]])
    np.testing.assert_allclose(holm_adjusted(p), [[0.02, 0.04], [0.2, 0.002]])
