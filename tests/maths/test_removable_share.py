import numpy as np
import pytest

from polars_scorio.maths.power import removable_share


def share_of(c, n):
    """The share of a table of successes, with a row for each question."""
    mean = np.asarray(c) / n
    noise = mean * (1 - mean) / (n - 1) if n > 1 else np.full(mean.shape, np.nan)
    return removable_share(mean, noise)


def test_more_trials_remove_their_noise_and_leave_the_interaction():
    c = np.array([[0, 2, 4], [1, 0, 4], [3, 4, 1], [0, 1, 2]])
    mean = c / 4
    residual = mean - mean.mean(axis=1, keepdims=True) - mean.mean(axis=0) + mean.mean()
    noise = (mean * (1 - mean) / 3).mean()
    assert share_of(c, 4) == pytest.approx(noise / ((residual**2).sum() / (3 * 2)))


def test_a_share_of_many_worlds_is_that_of_their_rates():
    # Interaction .005, and trials p (1 - p) / 4, of 200 models and 300 questions.
    rng = np.random.default_rng(2)
    of_models, of_questions = rng.normal(0, 0.1, 200), rng.normal(0, 0.02**0.5, (300, 1))
    p = np.clip(0.5 + of_models + of_questions + rng.normal(0, 0.005**0.5, (300, 200)), 0, 1)
    noise = np.mean(p * (1 - p)) / 4
    assert share_of(rng.binomial(4, p), 4) == pytest.approx(noise / (noise + 0.005), abs=0.01)


def test_less_interaction_than_noise_leaves_nothing_for_questions():
    assert share_of([[2, 2], [2, 2], [1, 2]], 4) == 1


@pytest.mark.parametrize(
    ("c", "n"),
    [([[1], [2], [3]], 4), ([[1, 2, 3]], 4), ([[0, 1], [0, 0]], 1), ([[4, 4], [4, 4]], 4)],
    ids=["one model", "one question", "single trials", "nothing varies"],
)
def test_it_is_unknown(c, n):
    assert np.isnan(share_of(c, n))
