"""Variances by clusters of questions, and how many equal clusters unequal ones count as."""

import numpy as np
import pytest

from polars_scorio.maths.questions import States, Subgroups, clustered_variance, effective_number


def test_clusters_of_one_question_have_the_variance_of_a_sample():
    values = np.array([0.1, 0.7, 0.4, 0.9])
    variance, clusters = clustered_variance(values, np.arange(4), np.zeros(4, dtype=int), 1)
    assert variance[0] == pytest.approx(values.var(ddof=1) / 4, rel=1e-14)
    assert clusters[0] == 4


def test_a_single_cluster_has_no_variance():
    nothing = np.zeros(3, dtype=int)
    variance, clusters = clustered_variance(np.array([0.1, 0.7, 0.4]), nothing, nothing, 1)
    assert np.isnan(variance[0])
    assert clusters[0] == 1


def test_unequal_clusters_count_as_fewer():
    sizes, group = np.array([3, 3, 3, 7, 1, 1]), np.array([0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(effective_number(sizes, group, 2), [3, 81 / 51], rtol=1e-14)


def test_the_same_number_means_two_clusters_in_two_groups():
    counts, one = np.array([[1, 0], [0, 1]]), np.ones(2, dtype=int)
    clustered = Subgroups.tally(counts, 0 * counts, np.array([0, 1]), 5 * one, one, 2)
    assert clustered.number.tolist() == [1, 1]


def test_clusters_of_one_question_add_nothing_to_a_mean():
    counts, one, group = np.array([[1, 0], [0, 1]]), np.ones(2, dtype=int), np.zeros(2, dtype=int)
    states = States.tally(counts, 0 * counts, group, one, 1)
    clustered = Subgroups.tally(counts, 0 * counts, group, np.array([0, 1]), one, 1)
    assert clustered.variance(states, states.state.astype(float)).tolist() == [0.0]
