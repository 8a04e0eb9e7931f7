"""Calibrated numbers of a population: the spread of the questions counts."""

import numpy as np
import pytest

from polars_scorio.maths.credit_numbers import variance_numbers
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.maths.sample_bound import QuestionSample
from polars_scorio.maths.variance_estimates import average_variance
from polars_scorio.subjects.scores import sampled_numbers

W = np.array([0.0, 0.5, 1.0])
COUNTS = np.array([[4, 0, 0], [0, 0, 4], [0, 0, 4], [4, 0, 0], [1, 2, 1], [1, 2, 1]])


@pytest.fixture
def states() -> States:
    one = np.ones(len(COUNTS), dtype=np.int64)
    return States.tally(COUNTS, 0 * COUNTS, 0 * one, one, 1)


def clustered(cluster: list[int]) -> Subgroups[States]:
    one = np.ones(len(COUNTS), dtype=np.int64)
    return Subgroups.tally(COUNTS, 0 * COUNTS, 0 * one, np.array(cluster), one, 1)


def test_the_spread_of_the_questions_widens_the_interval(states):
    noisy, values = average_variance(states, W), states.counts @ W / 4
    benchmark = variance_numbers(noisy, 0.95)
    population = sampled_numbers(noisy, QuestionSample(states), values, 0.95)
    assert population.estimate == pytest.approx(benchmark.estimate)
    assert (population.hi - population.lo).item() > 1.5 * (benchmark.hi - benchmark.lo).item()


def test_clusters_of_one_question_change_nothing_and_others_do(states):
    noisy, values = average_variance(states, W), states.counts @ W / 4
    plain = sampled_numbers(noisy, QuestionSample(states), values, 0.95)
    single = sampled_numbers(
        noisy, QuestionSample(states, clustered([0, 1, 2, 3, 4, 5])), values, 0.95
    )
    pairs = sampled_numbers(
        noisy, QuestionSample(states, clustered([0, 1, 1, 0, 2, 2])), values, 0.95
    )
    np.testing.assert_allclose([single.lo, single.hi], [plain.lo, plain.hi], rtol=1e-9)
    assert pairs.sigma.item() > 1.2 * plain.sigma.item()
