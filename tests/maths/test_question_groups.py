"""Groups of questions of which many are alike, against the questions one by one."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.questions import (
    QuestionGroups,
    States,
    Subgroups,
    question_pairs,
)
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


# Variances by clusters of questions, and how many equal clusters unequal ones count as.


def in_clusters(cluster):
    """Four questions that differ, each twice, in clusters."""
    counts, one = np.repeat(np.eye(4, dtype=int), 2, axis=0), np.ones(8, dtype=int)
    every = counts, 0 * counts, 0 * one
    return States.tally(*every, one, 1), Subgroups.tally(*every, np.array(cluster), one, 1)


def test_clusters_of_copies_have_the_variance_of_a_sample():
    values = np.array([0.1, 0.7, 0.4, 0.9])
    states, clustered = in_clusters([0, 0, 1, 1, 2, 2, 3, 3])
    found = clustered.variance(states, values)
    assert found == pytest.approx(values.var(ddof=1) / 4, rel=1e-14)


def test_clusters_of_unequal_size_sum_their_distances():
    # Questions by state: the rows of an identity matrix ascend from the last.
    values = np.array([0.9, 0.4, 0.7, 0.1])
    states, clustered = in_clusters([0, 0, 0, 1, 1, 1, 1, 2])
    away = np.repeat(values[::-1], 2) - values.mean()
    sums = np.array([away[:3].sum(), away[3:7].sum(), away[7]])
    found = clustered.variance(states, values)
    assert found == pytest.approx(3 / 2 * (sums**2).sum() / 64, rel=1e-13)


def test_a_single_cluster_has_no_variance():
    states, clustered = in_clusters([5] * 8)
    assert np.isnan(clustered.variance(states, np.array([0.1, 0.7, 0.4, 0.9])))


def test_unequal_clusters_count_as_fewer():
    cluster = np.repeat(np.arange(6), [3, 3, 3, 7, 1, 1])
    counts, one = np.ones((cluster.size, 2), dtype=int), np.ones_like(cluster)
    clustered = Subgroups.tally(counts, 0 * counts, cluster // 3, cluster, one, 2)
    np.testing.assert_allclose(clustered.effective, [3, 81 / 51], rtol=1e-14)


def test_the_same_number_means_two_clusters_in_two_groups():
    counts, one = np.array([[1, 0], [0, 1]]), np.ones(2, dtype=int)
    clustered = Subgroups.tally(counts, 0 * counts, np.array([0, 1]), 5 * one, one, 2)
    assert clustered.number.tolist() == [1, 1]


def test_clusters_of_one_question_add_nothing_to_a_mean():
    counts, one, group = np.array([[1, 0], [0, 1]]), np.ones(2, dtype=int), np.zeros(2, dtype=int)
    states = States.tally(counts, 0 * counts, group, one, 1)
    clustered = Subgroups.tally(counts, 0 * counts, group, np.array([0, 1]), one, 1)
    assert clustered.variance(states, states.state.astype(float)).tolist() == [0.0]
