"""States of prefixes, against slices of lists."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.kernels.prefixes import prefixes
from tests.kernels.outcomes import log_of, logs, longest, named, outcomes, state
from tests.made_logs import law

SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any)


@law
@given(logs(SIZES))
def test_prefixes_are_the_states_of_the_first_trials(log):
    cells = [(g, n) for g, group in enumerate(log) for n in range(1, longest(group) + 1)]
    states, group, n = prefixes(outcomes(log))
    assert list(zip(group.tolist(), n.tolist(), strict=True)) == cells
    assert named(states) == [Counter(state(question, n) for question in log[g]) for g, n in cells]


def test_a_question_without_further_trials_stays_where_it_is():
    states, group, n = prefixes(outcomes(log_of([[1], [0, 1, 1]], [[0, 0]])))
    zero = (0, 0)
    assert named(states) == [
        {((0, 1), zero): 1, ((1, 0), zero): 1},
        {((0, 1), zero): 1, ((1, 1), zero): 1},
        {((0, 1), zero): 1, ((1, 2), zero): 1},
        {((1, 0), zero): 1},
        {((2, 0), zero): 1},
    ]
    assert (group.tolist(), n.tolist()) == ([0, 0, 0, 1, 1], [1, 2, 3, 1, 2])


def test_states_of_different_groups_and_numbers_of_trials_are_shared():
    states, *_ = prefixes(outcomes(log_of([[1, 1], [1, 1]], [[1, 1]])))
    assert states.counts.tolist() == [[0, 1], [0, 2]]
    assert states.questions.tolist() == [2, 2, 1, 1]


def test_questions_with_different_prior_trials_are_in_different_states():
    states, *_ = prefixes(outcomes([[([1], (0, 0)), ([1], (3, 0))]]))
    assert named(states) == [{((0, 1), (0, 0)): 1, ((0, 1), (3, 0)): 1}]
