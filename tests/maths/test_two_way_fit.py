"""Two-way least squares, against dummy variables, complete data and dense sandwiches."""

import numpy as np
import pytest

from polars_scorio.maths.covariance import adjusted_means, connected_parts, paired_means


def partial_log(seed=1, models=4, questions=25, share=0.6):
    random = np.random.default_rng(seed)
    here = random.random((questions, models)) < share
    here[np.arange(questions), random.integers(models, size=questions)] = True
    question, model = np.nonzero(here)
    value = random.random(questions)[question] / 2 + random.random(model.size) / 2
    return model, question, value


def design(model, question):
    """Dummy variables of the model of each row, and of its question."""
    return np.eye(model.max() + 1)[model], np.eye(question.max() + 1)[question]


def test_effects_are_those_of_dummy_variables():
    model, question, value = partial_log()
    found = adjusted_means(model, question, value, 1.0).mean[0]
    of_model, of_question = design(model, question)
    effect = np.linalg.lstsq(np.hstack([of_model, of_question]), value, rcond=None)[0]
    models = of_model.shape[1]
    # Two solutions of one system of equations: 2e-15 here.
    np.testing.assert_allclose(found, effect[:models] + effect[models:].mean(), rtol=1e-9)


def test_complete_data_are_paired_data():
    values = np.random.default_rng(2).random((9, 4))
    question, model = np.indices(values.shape).reshape(2, -1)
    found = adjusted_means(model, question, values.ravel(), 1.0)
    oracle = paired_means(values, np.array([0]), 1.0)
    # Both: two solutions of one system; covariances near 0 lose digits, 4e-14 here.
    np.testing.assert_allclose(found.mean, oracle.mean, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, oracle.covariance, rtol=1e-9)
    np.testing.assert_array_equal(found.freedom, oracle.freedom)


def test_differences_have_the_sandwich_cr2():
    model, question, value = partial_log(3)
    of_model, of_question = design(model, question)
    # Within questions, as the package does it; the rest is dense.
    within = of_model - of_question @ np.linalg.lstsq(of_question, of_model, rcond=None)[0]
    bread = np.linalg.pinv(within.T @ within)
    residual = value - of_question @ np.linalg.lstsq(of_question, value, rcond=None)[0]
    residual = residual - within @ bread @ within.T @ residual
    meat = np.zeros_like(bread)
    for each in range(question.max() + 1):
        rows = within[question == each]
        root, vectors = np.linalg.eigh(np.eye(len(rows)) - rows @ bread @ rows.T)
        power = np.where(root > 1e-10, np.maximum(root, 1e-10) ** -0.5, 0)
        score = rows.T @ (vectors * power) @ vectors.T @ residual[question == each]
        meat += np.outer(score, score)
    covariance = bread @ meat @ bread
    found = adjusted_means(model, question, value, 0.0).sigma()[0, 0, 1] ** 2
    oracle = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    # Two ways to an inverse root, then differences of covariances: 1e-15 here.
    assert found == pytest.approx(oracle, rel=1e-7)


def test_questions_of_one_model_tell_nothing_of_differences():
    model, question, value = partial_log(4)
    more = np.arange(5) + question.max() + 1
    longer = adjusted_means(
        np.append(model, np.zeros(5, dtype=int)),
        np.append(question, more),
        np.append(value, np.ones(5)),
        0.0,
    )
    shorter = adjusted_means(model, question, value, 0.0)
    pairs = np.triu_indices(4, 1)
    # The same system with five more questions that add nothing to it: 4e-16 here.
    np.testing.assert_allclose(longer.sigma()[0][pairs], shorter.sigma()[0][pairs], rtol=1e-7)
    assert longer.freedom == shorter.freedom


@pytest.mark.slow
def test_intervals_hold_and_are_not_biased_where_own_averages_are():
    random, found = np.random.default_rng(5), []
    for _ in range(400):
        easy = random.random(60)
        chance = np.column_stack([1 - easy, np.full(60, 0.5), easy])
        question, model = np.nonzero(random.random((60, 3)) < 0.1 + 0.8 * chance)
        value = easy[question] + 0.1 * model + 0.2 * random.normal(size=model.size)
        question = np.unique(question, return_inverse=True)[1]
        fit = adjusted_means(model, question, value, 0.0)
        error = fit.mean[0, 2] - fit.mean[0, 0] - 0.2
        own = value[model == 2].mean() - value[model == 0].mean() - 0.2
        found.append((error, own, abs(error) < 2.0 * fit.sigma()[0, 0, 2]))
    bias, own, held = np.mean(found, axis=0)
    # Three standard errors of 400 logs.
    assert bias == pytest.approx(0, abs=0.01)
    assert own > 0.15
    assert held == pytest.approx(0.95, abs=0.033)  # three standard errors


def test_one_shared_question_leaves_no_interval():
    found = adjusted_means(np.array([0, 1]), np.array([0, 0]), np.array([0.2, 0.4]), 1.0)
    # A few roundings.
    np.testing.assert_allclose(found.mean, [[0.2, 0.4]], rtol=1e-12)
    assert np.isnan(found.sigma()).all()


def test_one_model_has_its_average():
    value = np.array([0.0, 0.5, 1.0])
    found = adjusted_means(np.zeros(3, dtype=int), np.arange(3), value, 1.0)
    assert found.mean.tolist() == [[0.5]]
    assert found.freedom.tolist() == [2.0]


def test_parts_are_found_over_any_number_of_questions():
    # 0 - 1 - 2 in a chain; 3 and 4 share a question; 5 is alone.
    model, question = np.array([0, 1, 1, 2, 3, 4, 5]), np.array([5, 5, 0, 0, 1, 1, 2])
    assert connected_parts(model, question).tolist() == [0, 0, 0, 3, 3, 5]


def test_a_long_chain_is_one_part():
    links = np.arange(199)
    model, question = np.concatenate([links, links + 1]), np.concatenate([links, links])
    assert (connected_parts(model, question) == 0).all()
    assert connected_parts(np.array([], dtype=int), np.array([], dtype=int)).size == 0
