"""Estimates with a variance: each pair has the variance of its trials, or of its pairs."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest

from polars_scorio.maths.comparison import Comparison, Inner
from polars_scorio.maths.variance_estimates import (
    CHOICE,
    ComparedNoise,
    Estimate,
    PairedNoise,
    QuestionValues,
    pair_reaches,
    paired_variance,
    pairs_by_variance,
)
from tests.maths.metric_differences import metric_difference

MODELS, QUESTIONS = 4, 12
EVERY = np.array(np.triu_indices(MODELS, 1))


def compared(noisy, questions):
    """Models of some strata by their variance."""
    shape = len(questions), -1
    mu, sigma = noisy.noisy.mu.reshape(shape), noisy.noisy.sigma.reshape(shape)
    inner = Inner.from_numbers(mu, sigma, mu - 2 * sigma, mu + 2 * sigma)
    return Comparison(inner, partial(pairs_by_variance, noisy, questions))


@pytest.fixture
def side():
    """Two strata of four models, and their questions: first pairs are taken, then trials."""
    random = np.random.default_rng(5)
    base = random.random((2, QUESTIONS, 1)) * [[[0.9]], [[0.2]]]
    values = np.clip(base + random.normal(0, 0.03, (2, QUESTIONS, MODELS)), 0, 1)
    values[1] = random.random((QUESTIONS, MODELS))
    u = values.mean(axis=1).ravel()
    noisy = Estimate(u, 1 - u, u, 1 - u, u * (1 - u) / 60, np.full(u.size, 1.2))
    questions = [QuestionValues(v, np.full(QUESTIONS, 1 / QUESTIONS)) for v in values]
    return ComparedNoise.floored(noisy, 0 * u, np.full(u.size, np.inf)), questions


def one_by_one(side, stratum, a, b, c):
    """The difference of a single pair by the kernel."""
    noisy, questions = side
    own = questions[stratum]
    variance = paired_variance(own.values[:, [a]] - own.values[:, [b]], own.weight)
    both = PairedNoise(variance, np.array([QUESTIONS - 1.0]))
    sides = [noisy.at(np.array([stratum * MODELS + side])) for side in (a, b)]
    return metric_difference(*sides, both, c)


@pytest.mark.parametrize("c", [1.0, CHOICE, 3.1])
def test_each_pair_has_the_numbers_of_its_own(side, c):
    models = compared(*side)
    found = models.differences(*EVERY, np.full((2, len(EVERY[0])), c))
    taken = models.pairs(*EVERY).by_pairs
    assert taken.all(axis=1).tolist() == [True, False]
    for stratum in range(2):
        for place, (a, b) in enumerate(combinations(range(MODELS), 2)):
            one = one_by_one(side, stratum, a, b, c)
            numbers = [getattr(found, name)[stratum, place] for name in one._fields]
            # The same operations on arrays of another length.
            np.testing.assert_allclose(numbers, np.ravel(one), rtol=1e-12, atol=1e-15)


def test_tables_and_verdicts_follow_the_intervals(side):
    models = compared(*side)
    for c in (0.5, 1.0, CHOICE, 3.1):
        of_pairs = np.full((2, len(EVERY[0])), c)
        pairs = models.differences(*EVERY, of_pairs)
        outside = (pairs.lo > 0) | (pairs.hi < 0)
        assert (models.decided(*EVERY, of_pairs) == outside).all()
        table = models.differs(np.full((2, 1), c))
        assert (table[:, EVERY[0], EVERY[1]] == outside).all()
        assert (table == table.transpose(0, 2, 1)).all()
        assert not np.einsum("sii->si", table).any()


def test_the_interval_of_a_pair_ends_at_zero_at_its_z(side):
    models = compared(*side)
    order = np.argsort(-models.inner.value, axis=1)
    found = models.z(order[:, :1], order[:, 1:2])
    for stratum in range(2):
        a, b = order[stratum, :2]
        one = one_by_one(side, stratum, a, b, found[stratum, 0])
        assert one.lo.item() == pytest.approx(0, abs=1e-9)


def test_without_values_of_questions_a_pair_has_the_variance_of_its_trials(side):
    none = [QuestionValues(np.empty((0, 0)), np.empty(0))] * 2
    pairs = compared(side[0], none).pairs(*EVERY)
    assert not pairs.by_pairs.any()
    assert np.isfinite(pairs.ends(np.full(pairs.a.shape, CHOICE))[0]).all()


def test_reaches_are_those_of_each_side_at_its_critical_value(side):
    a, b = np.array([[0, 2]]), np.array([[1, 0]])
    one, other = pair_reaches(side[0], a, b, np.array([[1.0, 2.0]]))
    assert other.noise[0, 1] == pytest.approx(2 * one.noise[0, 0], rel=1e-12)
    assert one.down.shape == (1, 2)


def test_a_variance_of_nothing_is_no_verdict():
    u = np.array([0.5, 0.5])
    noisy = ComparedNoise(Estimate(u, u, u, u, 0 * u, np.ones(2)), np.full(2, np.inf))
    same = QuestionValues(np.full((3, 2), 0.5), np.full(3, 1 / 3))
    assert not compared(noisy, [same]).differs(np.array([[1.0]])).any()
