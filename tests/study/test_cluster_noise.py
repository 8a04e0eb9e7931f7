"""Questions in clusters: how much noisier a pooled mean is."""

from dataclasses import replace

import numpy as np
import pytest

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.scores import cluster_samples

BINARY = Classes((0, 1), (1,))
COUNTS = np.array([[4, 0], [4, 0], [0, 4], [0, 4], [2, 2], [2, 2]])


def cells(cluster: list[int] | None) -> QuestionCells:
    one = np.ones(len(COUNTS), dtype=np.int64)
    states = States.tally(COUNTS, 0 * COUNTS, 0 * one, one, 1)
    plain = QuestionCells.from_states(states, BINARY)
    if cluster is None:
        return plain
    own = Subgroups.tally(COUNTS, 0 * COUNTS, 0 * one, np.array(cluster), one, 1)
    return replace(plain, clusters=own)


def test_questions_that_are_no_sample_or_have_no_clusters_have_no_effect():
    assert (
        cluster_samples(cells([0, 0, 1, 1, 2, 2]), "benchmark")(ps.avg(), None, "success") is None
    )
    assert cluster_samples(cells(None), "population")(ps.avg(), None, "success") is None


def test_pairs_of_equal_questions_count_as_half_as_many():
    sample = cluster_samples(cells([0, 0, 1, 1, 2, 2]), "population")(ps.avg(), None, "success")
    assert sample.size.item() == pytest.approx(3)
    # Variance of three clusters over that of six questions: (S/3/2) / (S/6/5) = 5/2 of the same S.
    assert sample.stretch.item() ** 2 == pytest.approx(5 / 2)


def test_unlike_questions_in_a_cluster_make_nothing_less_noisy():
    sample = cluster_samples(cells([0, 1, 0, 1, 2, 2]), "population")(ps.avg(), None, "success")
    assert sample.stretch.item() == 1
