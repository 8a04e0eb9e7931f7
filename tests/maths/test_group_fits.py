"""The fits of all groups of a frame are those of each group by itself."""

import numpy as np

from polars_scorio.maths.free_fit import Group, group_levels
from tests.maths.groups import drawn_groups


def test_fits_do_not_depend_on_the_other_groups():
    groups = drawn_groups()
    for fitted, group in zip(Group.fit_each(groups), groups, strict=True):
        alone = Group.fit(*group)
        np.testing.assert_array_equal(fitted.grid.weight, alone.grid.weight)
        np.testing.assert_array_equal(fitted.free.weight, alone.free.weight)


def test_levels_have_the_states_of_one_number_of_trials():
    n, c, questions = np.array([4, 2, 4]), np.array([1, 2, 3]), np.array([5, 6, 7])
    two, four = group_levels(n, c, questions)
    assert (two.n, two.c.tolist(), two.questions.tolist(), two.rows.tolist()) == (2, [2], [6], [1])
    assert (four.n, four.c.tolist(), four.questions.tolist()) == (4, [1, 3], [5, 7])
    assert four.rows.tolist() == [0, 2]
