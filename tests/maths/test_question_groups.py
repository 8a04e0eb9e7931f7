"""Groups of questions of which many are alike, against the questions one by one."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.questions import QuestionGroups, question_pairs
from tests.made_logs import law

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 5)), max_size=12)


@dataclass(frozen=True, eq=False)
class Kinds(QuestionGroups):
    """Questions of three kinds."""

    kind_count = 3


def groups_of(rows):
    group, state, questions = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Kinds(*question_pairs(group, state, questions), 4)


@law
@given(ROWS)
def test_pairs_ascend_and_hold_all_questions(rows):
    found = groups_of(rows)
    pairs = [*zip(found.group.tolist(), found.state.tolist(), strict=True)]
    assert pairs == sorted(set(pairs))
    known = Counter()
    for group, state, questions in rows:
        known[group, state] += questions
    assert dict(zip(pairs, found.questions.tolist(), strict=True)) == known


@law
@given(ROWS)
def test_sums_are_those_of_the_questions(rows):
    values, found = np.array([1.0, 10.0, 100.0]), groups_of(rows)
    for group in range(4):
        each = [(values[state], number) for own, state, number in rows if own == group]
        assert found.size[group] == sum(number for _, number in each)
        assert found.sum_questions(values)[group] == sum(value * number for value, number in each)
