"""Models on the same questions, against formulas for a pair."""

import numpy as np
import pytest
from scipy.stats import binom

from polars_scorio.maths.covariance import paired_means
from tests.differences import cluster_means, plus_two

FIRST = np.array([0])


def sample(models, questions, seed=1):
    random = np.random.default_rng(seed)
    shared = random.normal(size=(questions, 1))
    return 0.5 + 0.2 * shared + 0.1 * random.normal(size=(questions, models))


def difference(found, a=0, b=1):
    """Centre, standard error and degrees of freedom of one pair of the first stratum."""
    return [part.item() for part in found.differences(np.array([a]), np.array([b]))]


def test_a_difference_has_one_more_question_at_either_end():
    values = sample(3, 20)
    found = difference(paired_means(values, FIRST, 2.0), 0, 2)
    # A variance from products, which cancel partly: 2e-16 here.
    assert found == pytest.approx(plus_two(values[:, 0] - values[:, 2], (-2, 2)), rel=1e-9)


def test_each_model_has_one_more_question_at_either_end_of_its_range():
    values = sample(2, 7)
    found = paired_means(values, FIRST, 1.0).models()
    for model in (0, 1):
        expected = plus_two(values[:, model], (0, 1))
        # Sums in another order.
        assert [part[0, model] for part in found] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("clusters", [[2] * 4 + [0] * 4 + [1] * 4, [0] * 9 + [1, 2, 3]])
def test_clusters_are_units_by_their_shares(clusters):
    values = sample(2, 12)
    found = difference(paired_means(values, FIRST, 1.0, np.array(clusters)))
    means, shares = cluster_means(values[:, 0] - values[:, 1], clusters)
    # A variance from products, which cancel partly.
    assert found == pytest.approx(plus_two(means, (-1, 1), shares), rel=1e-9)


def test_questions_weigh_as_they_are_given():
    values, weight = sample(2, 12), np.arange(1.0, 13.0)
    found = difference(paired_means(values, FIRST, 1.0, weight=weight))
    shares = weight / weight.sum()
    # A variance from products, which cancel partly.
    expected = plus_two(values[:, 0] - values[:, 1], (-1, 1), shares)
    assert found == pytest.approx(expected, rel=1e-9)


def test_clusters_of_one_question_change_nothing():
    values = sample(3, 10)
    plain, alone = (
        paired_means(values, FIRST, 1.0),
        paired_means(values, FIRST, 1.0, np.arange(10)[::-1]),
    )
    assert alone.products.tobytes() == plain.products.tobytes()


def test_strata_do_not_touch_each_other():
    values = sample(3, 30)
    both = paired_means(values, np.array([0, 12]), 1.0)
    for stratum, rows in enumerate((values[:12], values[12:])):
        one = paired_means(rows, FIRST, 1.0)
        np.testing.assert_array_equal(both.products[stratum], one.products[0])
        assert both.number[stratum] == one.number[0]


def test_one_question_tells_nothing():
    found = paired_means(sample(3, 1), FIRST, 1.0)
    assert np.isfinite(found.mean).all()
    assert np.isnan(found.models().error).all()
    assert np.isnan(difference(found)[:2]).all()


@pytest.mark.parametrize("questions", [5, 30, 200])
def test_differences_of_few_questions_are_held(questions):
    seen = np.arange(questions + 1)
    # The second model fails where the first does not, once for each question more.
    values = np.zeros((seen.size, questions, 2))
    values[..., 0] = np.arange(questions) < seen[:, None]
    found = paired_means(values.reshape(-1, 2), seen * questions, 1.0)
    lo, hi = found.differences(np.array([0]), np.array([1])).ends(0.025)
    for chance in np.arange(0.1, min(12, questions - 0.1), 0.1) / questions:
        held = ((lo <= chance) & (chance <= np.minimum(hi, 1))).ravel()
        # The worst is .933, of 200 questions; by a plain t it is .1.
        assert binom.pmf(seen[held], questions, chance).sum() > 0.93


def test_where_models_hardly_differ_the_two_questions_are_all_that_is_left():
    values = np.repeat(np.random.default_rng(3).random((50, 1)), 2, axis=1)
    values[7, 1] += 1e-5
    found = difference(paired_means(values, FIRST, 1.0))[1]
    # Two of 52 values are 1 away; what is seen adds 1e-12 of it.
    assert found == pytest.approx(np.sqrt(2 / 52 / 51), rel=1e-6)
