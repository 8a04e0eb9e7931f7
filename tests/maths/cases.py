"""Groups of questions, (n, c, questions) of each state, and a judge, for tests of intervals."""

import numpy as np

from polars_scorio.maths.judges import JudgeRates
from polars_scorio.maths.questions import States
from tests.documents import study_numbers

R1 = [(5, 3, 1), (5, 4, 1)]
HARD = [(4, 0, 24), (4, 1, 3), (4, 2, 2), (4, 4, 1)]
RAGGED = [(2, 0, 3), (3, 1, 4), (4, 4, 1), (6, 2, 2), (9, 8, 2)]
TAU = [(4, 0, 14), (4, 1, 12), (4, 2, 10), (4, 3, 4), (4, 4, 10)]
CASES = {
    "two questions": R1,
    "hard": HARD,
    "ragged": RAGGED,
    "all right": [(4, 4, 30)],
    "all wrong": [(4, 0, 30)],
    "one question": [(4, 3, 1)],
    "one trial": [(1, 1, 1)],
    "n = 1": [(1, 0, 3), (1, 1, 7)],
    "1 %": [(8, 0, 92), (8, 1, 8)],
    "99 %": [(8, 8, 92), (8, 7, 8)],
    "half": [(8, 8, 26), (8, 0, 6), (8, 1, 3), (8, 4, 4), (8, 7, 6)],
}

# Five kinds of question in three categories, and the weights of these.
COUNTS = np.array([[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 1, 2], [0, 0, 5]])
QUESTIONS = np.array([5, 4, 3, 2, 6])
W = np.array([-1.0, 0.0, 2.0])


def states_of(*groups):
    """The states of some groups."""
    rows = [(*row, group) for group, states in enumerate(groups) for row in states]
    n, c, questions, group = np.array(rows).T
    counts = np.stack([n - c, c], axis=1)
    return States.tally(counts, np.zeros_like(counts), group, questions, len(groups))


def states_of_categories(counts, questions):
    """The states of one group, from the counts by category."""
    return States.tally(counts, 0 * counts, 0 * questions, questions, 1)


def assert_variances_equal(found, known, tolerance):
    """Assert that all numbers of two variances agree."""
    for name in ("estimate", "rest", "variance", "factor", "effective"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(known, name), rtol=tolerance, atol=tolerance, err_msg=name
        )


JUDGES = study_numbers("decisions")["judge"]


def rates_of(sensitivity, specificity):
    """The rates of a judge, from how often it was right of how many trials."""
    return JudgeRates.from_counts(np.array([[float(x)] for x in (*sensitivity, *specificity)]))
