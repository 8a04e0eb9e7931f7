"""Families of models whose true success rates are known, for simulations of verdicts."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

Floats = np.ndarray
Shape = tuple[int, int, int]  # logs, models, questions
Family = Callable[[np.random.Generator, Shape], Floats]

U_SHAPED = (0.5, 0.5)  # Beta parameters of questions that differ much
A_THIRD_AHEAD = 0.8  # logits


def same_rates(rate: float) -> Family:
    """All models have one rate on all questions."""
    return lambda _, shape: np.full(shape, rate)


def shared_questions(rng: np.random.Generator, shape: Shape) -> Floats:
    """Equal models on questions that differ: each question has one rate for all models."""
    logs, _, questions = shape
    return np.broadcast_to(rng.beta(*U_SHAPED, (logs, 1, questions)), shape)


def permuted_questions(rng: np.random.Generator, shape: Shape) -> Floats:
    """Equal models that find other questions hard: the same rates in another order."""
    return rng.permuted(shared_questions(rng, shape), axis=2)


def rare_successes(rng: np.random.Generator, shape: Shape) -> Floats:
    """Equal models that solve one question of twenty."""
    logs, _, questions = shape
    return np.broadcast_to(0.9 * (rng.random((logs, 1, questions)) < 0.05), shape)


def correlated(correlation: float, *, ahead: float = 0.0) -> Family:
    """Logit-normal rates with this correlation between models (negative: of odd and even ones).

    The first third of the models, or the first of two, is ahead by some logits.
    """

    def rates(rng: np.random.Generator, shape: Shape) -> Floats:
        logs, models, questions = shape
        share = np.sqrt(abs(correlation))
        sign = np.where((np.arange(models) % 2 == 1) & (correlation < 0), -1, 1)
        shared = rng.standard_normal((logs, 1, questions)) * sign[:, None]
        single = rng.standard_normal(shape)
        leaders = np.arange(models) < max(models // 3, 1)
        z = share * shared + np.sqrt(1 - abs(correlation)) * single
        return expit(1.5 * z + ahead * leaders[:, None])

    return rates


def one_ahead(rng: np.random.Generator, shape: Shape) -> Floats:
    """One model at .7 among models at .5."""
    del rng
    return np.broadcast_to(np.where(np.arange(shape[1]) == 0, 0.7, 0.5)[:, None], shape)


def spread_out(rng: np.random.Generator, shape: Shape) -> Floats:
    """Models of .7 to .3 on questions whose difficulty they share."""
    logs, models, questions = shape
    ease = rng.standard_normal((logs, 1, questions))
    return expit(1.5 * ease + np.linspace(1.1, -1.1, models)[:, None])


FAMILIES: dict[str, Family] = {
    "all .5": same_rates(0.5),
    "all .3": same_rates(0.3),
    "all .8": same_rates(0.8),
    "equal, same questions hard": shared_questions,
    "equal, other questions hard": permuted_questions,
    "equal, 5 % solvable": rare_successes,
    "correlated .9": correlated(0.9),
    "correlated -.5": correlated(-0.5),
    "correlated .9, a third ahead": correlated(0.9, ahead=A_THIRD_AHEAD),
    "correlated -.5, a third ahead": correlated(-0.5, ahead=A_THIRD_AHEAD),
    "one ahead": one_ahead,
    "spread from .7 to .3": spread_out,
}
