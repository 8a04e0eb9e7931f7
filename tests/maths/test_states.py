"""Distinct states, against dictionaries of questions."""

from collections import Counter
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.questions import States, prefix_states
from tests.made_logs import law
from tests.maths.outcomes import log_of, logs, longest, named, outcomes, state

Key = tuple[int, tuple[int, ...], tuple[int, ...]]  # group, counts, prior counts

# Codes of rows with such counts do not fit into 64 bits.
COUNTS = st.sampled_from([0, 1, 2, 10**12, 10**12 + 1, 2**40])


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[Key, int]]:
    """Rows of two or three categories in up to four groups, with the questions of each."""
    vector = st.tuples(*[COUNTS] * draw(st.integers(2, 3)))
    keys = st.tuples(st.integers(0, 3), vector, vector)
    rows = draw(st.lists(st.tuples(keys, st.integers(1, 9)), min_size=1, max_size=12))
    groups = sorted({group for (group, *_), _ in rows})
    return [((groups.index(group), *counts), questions) for (group, *counts), questions in rows]


def tally(rows: list[tuple[Key, int]]) -> States:
    keys, questions = zip(*rows, strict=True)
    group, counts, prior = (np.array(column) for column in zip(*keys, strict=True))
    return States.tally(counts, prior, group, np.array(questions), int(group.max()) + 1)


def naive(rows: list[tuple[Key, int]]) -> Counter[Key]:
    """How many questions of a group share a state."""
    shared: Counter[Key] = Counter()
    for key, questions in rows:
        shared[key] += questions
    return shared


def shared(states: States) -> dict[Key, int]:
    """The same, of states."""
    counts, prior = (
        [tuple(row) for row in rows[states.state].tolist()]
        for rows in (states.counts, states.prior)
    )
    keys = zip(states.group.tolist(), counts, prior, strict=True)
    return dict(zip(keys, states.questions.tolist(), strict=True))


@law
@given(tables())
def test_questions_are_tallied_by_group_and_state(rows):
    states = tally(rows)
    assert shared(states) == naive(rows)
    assert len(states.questions) == len(naive(rows))


@law
@given(tables())
def test_states_and_pairs_are_distinct_and_ascend(rows):
    states = tally(rows)
    vectors = np.hstack([states.counts, states.prior]).tolist()
    assert vectors == sorted(map(list, {(*counts, *prior) for (_, counts, prior), _ in rows}))
    pairs = list(zip(states.group.tolist(), states.state.tolist(), strict=True))
    assert pairs == sorted(set(pairs))


@law
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    for name in ("counts", "prior", "group", "state", "questions"):
        np.testing.assert_array_equal(getattr(tally(shuffled), name), getattr(tally(rows), name))


@law
@given(tables())
def test_success_and_failure_are_sums_of_categories(rows):
    def halves(counts: tuple[int, ...]) -> tuple[int, int]:
        return counts[1], counts[0] + sum(counts[2:])

    success = [0, 2] if len(rows[0][0][1]) == 3 else [0]
    expected = naive([((g, halves(c), halves(d)), questions) for (g, c, d), questions in rows])
    assert shared(tally(rows).binary(success)) == expected


@law
@given(tables(), st.integers(0, 99))
def test_sums_run_over_all_questions_of_a_group(rows, seed):
    states = tally(rows)
    values = np.random.default_rng(seed).random(len(states.counts))
    value = {
        (*counts, *prior): x
        for counts, prior, x in zip(
            states.counts.tolist(), states.prior.tolist(), values.tolist(), strict=True
        )
    }
    for group in range(states.groups):
        own = [(c, value[(*c, *d)], questions) for (g, c, d), questions in rows if g == group]
        size = sum(questions for *_, questions in own)
        total = sum(questions * x for _, x, questions in own)
        assert states.size[group] == size
        assert states.trials[group] == sum(questions * sum(c) for c, _, questions in own)
        # Only rounding: all terms are positive.
        assert states.mean(values)[group] == pytest.approx(total / size, rel=1e-13)
        assert states.sigma(values)[group] == pytest.approx(sqrt(total) / size, rel=1e-13)


@law
@given(tables())
def test_without_prior_trials_only_the_counts_remain(rows):
    expected = naive([((g, c, (0,) * len(d)), questions) for (g, c, d), questions in rows])
    assert shared(tally(rows).observed()) == expected


def test_nothing_is_done_to_states_without_prior_trials():
    rows = np.array([[1, 0]])
    states = States.tally(rows, 0 * rows, rows[0, 1:], rows[0, :1], 1)
    assert states.observed() is states


@pytest.mark.parametrize(
    "counts",
    [
        # As digits of base 2**32, the first column of three would not fit into 64 bits.
        pytest.param([[0, 1, 1], [1, 1, 1], [2**32 - 1] * 3], id="many columns"),
        # 4 * (2**62 + 1) + 0 and 0 * (2**62 + 1) + 4 are the same modulo 2**64.
        pytest.param([[0, 4], [1, 2**62], [2, 0], [3, 0], [4, 0]], id="large counts"),
    ],
)
def test_counts_that_overflow_a_code_stay_distinct(counts):
    rows = np.array([*counts, counts[0]])
    one = np.ones(len(rows), dtype=np.int64)
    states = States.tally(rows, 0 * rows, 0 * one, one, 1)
    assert states.counts.tolist() == counts
    assert states.questions.tolist() == [2] + [1] * (len(counts) - 1)


def test_what_one_group_lacks_does_not_concern_the_others():
    counts = np.array([[1, 0], [0, 1], [1, 0]])
    states = States.tally(counts, 0 * counts, np.array([0, 1, 1]), np.array([3, 1, 1]), 2)
    # State 0 is [0, 1], which only the second group has.
    np.testing.assert_array_equal(states.mean(np.array([np.nan, 0.25])), [0.25, np.nan])
    np.testing.assert_array_equal(states.sigma(np.array([0.0, 3.0])), [1.0, sqrt(3) / 2])


def test_no_questions_are_no_states():
    nothing = np.empty((0, 2), dtype=np.int64)
    states = States.tally(nothing, nothing, nothing[:, 0], nothing[:, 0], 0)
    assert shared(states) == {} == shared(states.binary([1]))
    for numbers in (
        states.size,
        states.trials,
        states.mean(np.empty(0)),
        states.sigma(np.empty(0)),
    ):
        assert numbers.shape == (0,)


SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any)


@law
@given(logs(SIZES))
def test_prefixes_are_the_states_of_the_first_trials(log):
    cells = [(g, n) for g, group in enumerate(log) for n in range(1, longest(group) + 1)]
    states, group, n = prefix_states(outcomes(log))
    assert list(zip(group.tolist(), n.tolist(), strict=True)) == cells
    assert named(states) == [Counter(state(question, n) for question in log[g]) for g, n in cells]


def test_a_question_without_further_trials_stays_where_it_is():
    states, group, n = prefix_states(outcomes(log_of([[1], [0, 1, 1]], [[0, 0]])))
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
    states, *_ = prefix_states(outcomes(log_of([[1, 1], [1, 1]], [[1, 1]])))
    assert states.counts.tolist() == [[0, 1], [0, 2]]
    assert states.questions.tolist() == [2, 2, 1, 1]


def test_questions_with_different_prior_trials_are_in_different_states():
    states, *_ = prefix_states(outcomes([[([1], (0, 0)), ([1], (3, 0))]]))
    assert named(states) == [{((0, 1), (0, 0)): 1, ((0, 1), (3, 0)): 1}]
