import numpy as np
import pytest

from polars_scorio.maths.cost_means import FrontierModels, dear_critical, dear_events, frontier_of

# The vectors of the method: accuracy and cost of three models on ten questions.
ACCURACY = np.array(
    [[1.0, 0.8, 0.2], [0.9, 0.9, 0.3], [1.0, 0.7, 0.1], [0.8, 0.8, 0.2], [1.0, 0.6, 0.4],
     [0.9, 0.9, 0.3], [1.0, 0.8, 0.2], [0.8, 0.7, 0.1], [1.0, 0.9, 0.3], [0.9, 0.8, 0.2]]
)  # fmt: skip
COST = np.array(
    [[2.0, 1.0, 3.0], [2.1, 1.1, 2.9], [1.9, 0.9, 3.1], [2.0, 1.2, 3.0], [2.2, 1.0, 3.2],
     [2.0, 1.0, 2.8], [1.8, 0.9, 3.0], [2.1, 1.1, 3.1], [2.0, 1.0, 3.0], [1.9, 1.0, 2.9]]
)  # fmt: skip


def models(accuracy, cost):
    """The models of a stratum of questions, by their accuracy and the log of their cost."""
    number = len(accuracy)
    both = np.hstack([accuracy, cost / cost.mean(axis=0)])
    parts = (both - both.mean(axis=0)) / np.sqrt(number * (number - 1))
    floor = 0.5 / (number * (number + 1))
    log_cost = np.log(cost.mean(axis=0))
    return FrontierModels(accuracy.mean(axis=0), log_cost, parts, number - 1.0, floor)


def test_reproduces_the_frontier_of_another_implementation():
    found = models(ACCURACY, COST)
    assert frontier_of(found.score, found.cost).tolist() == [True, True, False]
    assert found.dominated(0.95).tolist() == [False, False, True]
    np.testing.assert_allclose(found.chance(), [0.999, 1.0, 0.0], atol=0.05)


def test_models_with_the_same_data_share_all_verdicts():
    twice = models(ACCURACY[:, [0, 1, 1]], COST[:, [0, 1, 1]])
    chance = twice.chance()
    assert chance[1] == chance[2] > 0.9
    assert frontier_of(twice.score, twice.cost).tolist() == [True, True, True]
    assert not twice.dominated(0.95).any()


def test_a_single_model_is_on_the_frontier():
    alone = models(ACCURACY[:, :1], COST[:, :1])
    assert frontier_of(alone.score, alone.cost).tolist() == [True]
    assert alone.chance().tolist() == [1.0]
    assert not alone.dominated(0.95).any()


def test_more_confidence_calls_fewer_models_dominated():
    found = models(ACCURACY[:3], COST[:3])
    assert (found.dominated(0.5) >= found.dominated(0.95)).all()
    assert not found.dominated(1 - 1e-12).any()


def test_without_degrees_of_freedom_nothing_is_known():
    found = models(ACCURACY, COST)
    unknown = FrontierModels(found.score, found.cost, 0 * found.parts, 0.0, found.floor)
    assert np.isnan(unknown.chance()).all()
    assert not unknown.dominated(0.95).any()


def test_the_chance_is_the_frequency_with_which_a_model_is_on_the_frontier():
    rng = np.random.default_rng(34)
    accuracy = np.clip(rng.normal([0.6, 0.62, 0.7], 0.2, (60, 3)), 0, 1)
    cost = rng.lognormal([0.0, 0.02, 0.3], 0.3, (60, 3))
    found = models(accuracy, cost)
    score, log_cost = found.score, found.cost
    root = np.linalg.cholesky(found.parts.T @ found.parts)
    frequency = np.zeros(3)
    for _ in range(2000):
        moved = np.concatenate([score, log_cost]) + root @ rng.standard_normal(6)
        drawn = FrontierModels(moved[:3], moved[3:], found.parts, found.freedom, found.floor)
        frequency += frontier_of(drawn.score, drawn.cost) / 2000
    np.testing.assert_allclose(found.chance(), frequency, atol=0.04)


@pytest.mark.slow
def test_models_on_the_frontier_are_rarely_called_dominated():
    rng = np.random.default_rng(35)
    false = 0
    for _ in range(400):
        rate = rng.beta(2, 2, (40, 1)) * np.array([0.9, 0.9, 1.0])
        accuracy = rng.binomial(4, rate) / 4
        cost = rng.lognormal([0.0, 0.0, 0.5], 0.6, (40, 3))
        false += models(accuracy, cost).dominated(0.95).any()
    assert false <= 0.05 * 400


def test_a_dear_question_of_the_cheaper_model_leaves_its_lead_open():
    # Both lead as surely by Student's t; a dear question says that there are dearer ones.
    accuracy = np.stack([np.tile([0.9, 1.0], 10), np.tile([0.1, 0.2], 10)], axis=1)
    even, dear = np.tile([0.5, 1.5], 10), np.ones(20)
    dear[0] = 1 + 0.5 * np.sqrt(20)
    verdicts = []
    for cheap in (even, dear):
        cost = np.stack([cheap / cheap.mean(), np.full(20, 1.9)], axis=1)
        verdicts.append(models(accuracy, cost).dominated(0.95)[1])
    assert verdicts == [True, False]


def test_costs_of_draws_reach_as_far_as_the_interval_of_a_dear_question():
    cost = np.tile([0.5, 1.5], 10)
    cost[0] = 10.0
    found = models(np.tile([0.2, 0.8], 10)[:, None], cost[:, None])
    parts = found.parts[:, 1:]
    events = dear_events(np.maximum(parts, 0).ravel() ** 2, np.zeros(20, int), 1)
    error = np.sqrt((parts**2).sum())
    _, drawn = found.draws()
    up = dear_critical(events, np.array([19.0]), 0.025).item()
    ends = np.quantile(drawn - found.cost[:, None], [0.025, 0.975])
    np.testing.assert_allclose(ends / error, [-2.093, up], rtol=0.06)
    assert up > 2 * 2.093
