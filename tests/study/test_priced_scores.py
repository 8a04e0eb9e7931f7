"""Estimates with a price: each pair has the price of its trials, or of its pairs."""

from itertools import combinations
from math import inf

import numpy as np
import pytest

from polars_scorio.maths.comparison import (
    CHOICE,
    ComparedPrice,
    PairedPrice,
    paired_variance,
)
from polars_scorio.maths.price import Price
from polars_scorio.subjects.score_differences import PricedScores, QuestionValues, pair_reaches
from tests.maths.metric_differences import metric_difference

MODELS, QUESTIONS = 4, 12
EVERY = np.array(np.triu_indices(MODELS, 1))


@pytest.fixture
def scores():
    """Two strata of four models: in the first pairs are taken, in the second trials."""
    random = np.random.default_rng(5)
    base = random.random((2, QUESTIONS, 1)) * [[[0.9]], [[0.2]]]
    values = np.clip(base + random.normal(0, 0.03, (2, QUESTIONS, MODELS)), 0, 1)
    values[1] = random.random((QUESTIONS, MODELS))
    mu = values.mean(axis=1)
    u = mu.ravel()
    price = Price(u, 1 - u, u, 1 - u, u * (1 - u) / 60, np.full(u.size, 1.2))
    questions = [QuestionValues(v, np.full(QUESTIONS, 1 / QUESTIONS)) for v in values]
    sigma = price.sigma.reshape(mu.shape)
    numbers = mu, sigma, mu - 2 * sigma, mu + 2 * sigma
    return PricedScores.floored(numbers, inf, price, questions, np.zeros(mu.shape, bool))


def one_by_one(scores, stratum, a, b, c):
    """The difference of a single pair by the kernel."""
    own = scores.questions[stratum]
    variance = paired_variance(own.values[:, [a]] - own.values[:, [b]], own.weight)
    both = PairedPrice(variance, np.array([QUESTIONS - 1.0]))
    sides = [scores.price.at(np.array([stratum * MODELS + side])) for side in (a, b)]
    return metric_difference(*sides, both, c)


@pytest.mark.parametrize("c", [1.0, CHOICE, 3.1])
def test_each_pair_has_the_numbers_of_its_own(scores, c):
    found = scores.pair_differences(*EVERY, np.full((2, len(EVERY[0])), c))
    taken = scores.pairs(*EVERY, np.arange(2)).by_pairs
    assert taken.all(axis=1).tolist() == [True, False]
    for stratum in range(2):
        for place, (a, b) in enumerate(combinations(range(MODELS), 2)):
            one = one_by_one(scores, stratum, a, b, c)
            numbers = [getattr(found, name)[stratum, place] for name in one._fields]
            # The same operations on arrays of another length.
            np.testing.assert_allclose(numbers, np.ravel(one), rtol=1e-12, atol=1e-15)


def test_counts_and_verdicts_follow_the_intervals(scores):
    for c in (0.5, 1.0, CHOICE, 3.1):
        pairs = scores.pair_differences(*EVERY, np.full((2, len(EVERY[0])), c))
        decided = scores.decided_pairs(*EVERY)(np.full(2, c), np.arange(2))
        assert (decided == pairs.without_zero()).all()
        better, worse = scores.counts_at(np.full((2, 1), c), np.arange(2))
        assert better.sum() == worse.sum() == decided.sum()
        for stratum, model in np.ndindex(2, MODELS):
            lost = ((EVERY[0] == model) & (pairs.hi[stratum] < 0)) | (
                (EVERY[1] == model) & (pairs.lo[stratum] > 0)
            )
            assert better[stratum, model] == lost.sum()


def test_some_strata_are_asked_alone(scores):
    c = np.array([CHOICE])
    both = scores.decided_pairs(*EVERY)(np.repeat(c, 2), np.arange(2))
    assert (scores.decided_pairs(*EVERY)(c, np.array([1])) == both[1:]).all()
    counts = scores.counts_at(np.full((2, 1), CHOICE), np.arange(2))
    alone = scores.counts_at(c[:, None], np.array([1]))
    assert all((few == many[1:]).all() for few, many in zip(alone, counts, strict=True))


def test_the_interval_of_a_pair_ends_at_zero_at_its_z(scores):
    order = np.argsort(-scores.mu, axis=1)
    found = scores.pair_z(order[:, :1], order[:, 1:2])
    for stratum in range(2):
        a, b = order[stratum, :2]
        one = one_by_one(scores, stratum, a, b, found[stratum, 0])
        assert one.lo.item() == pytest.approx(0, abs=1e-9)


def test_a_single_trial_of_each_question_raises_the_price(scores):
    numbers = scores.mu, scores.sigma, scores.lo, scores.hi
    single = np.array([[True] * MODELS, [False] * MODELS])
    raised = PricedScores.floored(numbers, inf, scores.price.price, scores.questions, single)
    factor, before = (s.price.price.factor.reshape(2, -1) for s in (raised, scores))
    spread = scores.questions[0].values.var(axis=0) / QUESTIONS
    expected = np.maximum(before[0], spread / scores.sigma[0] ** 2)
    np.testing.assert_allclose(factor[0], expected, rtol=1e-12)
    assert (factor[1] == before[1]).all()
    most = raised.price.most.reshape(2, -1)
    np.testing.assert_allclose(most[0], QUESTIONS, rtol=1e-12)
    assert (most[1] == np.inf).all()


def test_without_values_of_questions_a_pair_has_the_price_of_its_trials(scores):
    none = [QuestionValues(np.empty((0, 0)), np.empty(0))] * 2
    numbers = scores.mu, scores.sigma, scores.lo, scores.hi
    single = np.ones(scores.mu.shape, bool)
    blend = PricedScores.floored(numbers, inf, scores.price.price, none, single)
    pairs = blend.pairs(*EVERY, np.arange(2))
    assert not pairs.by_pairs.any()
    assert np.isfinite(pairs.ends(np.full(pairs.a.shape, CHOICE))[0]).all()


def test_reaches_are_those_of_each_side_at_its_critical_value(scores):
    a, b = np.array([[0, 2]]), np.array([[1, 0]])
    one, other = pair_reaches(scores.price, a, b, np.array([[1.0, 2.0]]))
    assert other.noise[0, 1] == pytest.approx(2 * one.noise[0, 0], rel=1e-12)
    assert one.down.shape == (1, 2)


def test_a_price_of_nothing_is_no_verdict():
    u = np.array([0.5, 0.5])
    price = Price(u, u, u, u, 0 * u, np.ones(2))
    same = QuestionValues(np.full((3, 2), 0.5), np.full(3, 1 / 3))
    numbers = [row[None] for row in (u, 0 * u, u, u)]
    scores = PricedScores.floored(numbers, inf, price, [same], np.zeros((1, 2), bool))
    assert isinstance(scores.price, ComparedPrice)
    assert scores.counts_at(np.array([[1.0]]), np.array([0]))[0].tolist() == [[0, 0]]
