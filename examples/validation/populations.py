"""Populations of questions: the success rates that simulated questions have."""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import expit

Floats = np.ndarray
Shape = tuple[int, ...]
Rates = Callable[[np.random.Generator, Shape], Floats]

SIZE_OF_POPULATION = 400_000  # questions that stand for all of a population


def beta_rates(a: float, b: float) -> Rates:
    """Rates that have a Beta distribution."""
    return lambda rng, shape: rng.beta(a, b, shape)


def some_rates(share: float, rate: float, other: float | Rates) -> Rates:
    """A share of the questions has one rate, the rest another one or rates of a population."""

    def drawn_rates(rng: np.random.Generator, shape: Shape) -> Floats:
        rest = other(rng, shape) if callable(other) else other
        return np.where(rng.random(shape) < share, rate, rest)

    return drawn_rates


def uniform_rates(low: float, high: float) -> Rates:
    """Rates that are uniform between two ends."""
    return lambda rng, shape: rng.uniform(low, high, shape)


# The nine populations of the first study of the method.
FIRST_POPULATIONS: dict[str, Rates] = {
    "Beta(.3, .3)": beta_rates(0.3, 0.3),
    "Beta(.6, 1)": beta_rates(0.6, 1),
    "Beta(.2, 2)": beta_rates(0.2, 2),
    "Beta(5, 5)": beta_rates(5, 5),
    "half always right": some_rates(0.5, 1.0, uniform_rates(0, 1)),
    "40 % impossible, 20 % sure": some_rates(0.4, 0.0, some_rates(1 / 3, 1.0, uniform_rates(0, 1))),
    "two clusters": some_rates(0.5, 0.05, 0.6),
    "all .5": some_rates(1.0, 0.5, 0.5),
    "always or never": some_rates(0.5, 0.0, 1.0),
}
# Populations that the method was not made on: rare questions, long tails, values near the bounds.
HARD_POPULATIONS: dict[str, Rates] = {
    "two-point .03/.97": some_rates(0.5, 0.03, 0.97),
    "90 % impossible": some_rates(0.9, 0.0, uniform_rates(0, 1)),
    "logit-normal sd 3": lambda rng, shape: expit(3 * rng.standard_normal(shape)),
    "U(.9, 1)": uniform_rates(0.9, 1),
    "5 % hard": some_rates(0.05, 0.02, 0.97),
    "2 % solvable": some_rates(0.02, 0.9, 0.0),
    "half sure, half .6": some_rates(0.5, 1.0, 0.6),
    "heavy tail": lambda rng, shape: np.minimum(1, 0.005 / (1 - rng.random(shape))),
    "staircase": lambda rng, shape: rng.integers(0, 6, shape) / 5,
    "10 % impossible, U(.95, 1)": some_rates(0.1, 0.0, uniform_rates(0.95, 1)),
}
POPULATIONS = FIRST_POPULATIONS | HARD_POPULATIONS


@cache
def everyone(population: str) -> Floats:
    """The rates of all questions of a population."""
    return POPULATIONS[population](np.random.default_rng(0), (SIZE_OF_POPULATION,))
