"""Models on the same questions, against formulas for a pair."""

import numpy as np
import pytest
from scipy.stats import binom, t

from polars_scorio.maths.covariance import paired_means
from tests.differences import variance_of_mean

FIRST = np.array([0])


def sample(models, questions, seed=1):
    random = np.random.default_rng(seed)
    shared = random.normal(size=(questions, 1))
    return 0.5 + 0.2 * shared + 0.1 * random.normal(size=(questions, models))


def test_the_variance_of_a_difference_is_that_of_the_rule():
    values = sample(3, 20)
    found = paired_means(values, FIRST, 2.0).sigma()[0, 0, 2] ** 2
    difference = values[:, 0] - values[:, 2]
    # A variance from covariances, which cancel partly: 2e-16 here.
    assert found == pytest.approx(variance_of_mean(difference, 2.0), rel=1e-9)


def test_single_trials_that_are_all_right_may_have_missed_a_whole_failure():
    values = np.stack([np.ones(15), np.linspace(0.6, 1.0, 15), np.linspace(0.7, 1.0, 15)], axis=1)
    single, gap = np.array([[True, False, False]]), values[:, 0] - values[:, 1]
    found, before = (paired_means(values, FIRST, 1.0, single=own) for own in (single, None))
    # The sum of squares as the squared differences of the mean, and two differences of 1: E is 0.
    square = ((gap - gap.mean()) ** 2).sum() * 15 / 14
    expected = square / 15**2 + (square + 2) / (15 * 16)
    # A variance from covariances, which cancel partly.
    assert found.sigma()[0, 0, 1] ** 2 == pytest.approx(expected, rel=1e-9)
    assert found.sigma()[0, 1, 2] == before.sigma()[0, 1, 2]


@pytest.mark.parametrize(("first", "trials"), [(0.0, (True, False)), (1.0, (True, True))])
def test_single_trials_are_evidence_if_they_differ_or_both_have_one(first, trials):
    values = np.stack([[first] + [1.0] * 11, [0.0, 1.0] * 6], axis=1)
    found, before = (
        paired_means(values, FIRST, 1.0, single=own) for own in (np.array([trials]), None)
    )
    assert found.sigma()[0, 0, 1] == before.sigma()[0, 0, 1]


def test_clusters_count_as_one_question_each():
    values, cluster = sample(2, 12), np.repeat([2, 0, 1], 4)
    found = paired_means(values, FIRST, 1.0, cluster)
    difference = values[:, 0] - values[:, 1]
    oracle = variance_of_mean(difference, 1.0, cluster)
    # A variance from covariances, which cancel partly.
    assert found.sigma()[0, 0, 1] ** 2 == pytest.approx(oracle, rel=1e-9)
    assert found.freedom.tolist() == [2.0]


@pytest.mark.parametrize(("sizes", "freedom"), [((6, 2, 2, 2), 2.0), ((10, 1, 1), 1.0)])
def test_clusters_of_unequal_sizes_have_fewer_degrees_of_freedom(sizes, freedom):
    # 12**2 / (6**2 + 3 * 2**2) = 3 clusters; 12**2 / (10**2 + 2) = 1.4, but at least 1 is left.
    found = paired_means(sample(2, 12), FIRST, 1.0, np.repeat(np.arange(len(sizes)), sizes))
    assert found.freedom.tolist() == pytest.approx([freedom], rel=1e-12)


def test_clusters_of_one_question_change_nothing():
    values = sample(3, 10)
    plain, alone = (
        paired_means(values, FIRST, 1.0),
        paired_means(values, FIRST, 1.0, np.arange(10)[::-1]),
    )
    # The same sums in another order: 2e-16 here.
    np.testing.assert_allclose(alone.covariance, plain.covariance, rtol=1e-9)


def test_strata_do_not_touch_each_other():
    values = sample(3, 30)
    both = paired_means(values, np.array([0, 12]), 1.0)
    for stratum, rows in enumerate((values[:12], values[12:])):
        one = paired_means(rows, FIRST, 1.0)
        np.testing.assert_array_equal(both.covariance[stratum], one.covariance[0])


def test_one_question_tells_nothing():
    found = paired_means(sample(3, 1), FIRST, 1.0)
    assert np.isfinite(found.mean).all()
    assert np.isnan(found.sigma()).all()


@pytest.mark.parametrize("questions", [5, 30, 200])
def test_differences_of_few_questions_are_held(questions):
    seen = np.arange(questions + 1)
    # The second model fails where the first does not, once for each question more.
    values = np.zeros((seen.size, questions, 2))
    values[..., 0] = np.arange(questions) < seen[:, None]
    found = paired_means(values.reshape(-1, 2), seen * questions, 1.0)
    mean, reach = seen / questions, t.ppf(0.975, questions - 1) * found.sigma()[:, 0, 1]
    assert (reach > 0).all()
    for chance in np.arange(0.1, min(12, questions - 0.1), 0.1) / questions:
        held = (mean - reach <= chance) & (chance <= np.minimum(mean + reach, 1))
        # The worst is .914. With half of the span and nothing for what is seen it was .75.
        assert binom.pmf(seen[held], questions, chance).sum() > 0.91


def test_a_single_question_makes_a_small_difference_whatever_is_rounded():
    values = np.repeat(np.random.default_rng(3).random((50, 1)), 2, axis=1)
    values[7, 1] += 1e-5
    found = paired_means(values, FIRST, 1.0).sigma()[0, 0, 1]
    # One of two effective differences is of the whole span; what is seen adds 1e-8 of it.
    assert found == pytest.approx(np.sqrt(2 / 2 / (50 * 51)), rel=1e-6)
