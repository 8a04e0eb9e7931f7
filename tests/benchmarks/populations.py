"""Populations of questions, and what metrics are worth there: the truth of a simulation."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc
from scipy.stats import binom

import polars_scorio as ps

Floats = np.ndarray
Rates = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def impossible_or_sure(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """40 % never succeed, 20 % always do, the others are anywhere."""
    kind = rng.random(shape)
    return np.where(kind < 0.4, 0.0, np.where(kind < 0.6, 1.0, rng.random(shape)))


def half_of(one: float | None, other: float) -> Rates:
    """Half of the questions have one rate (or a uniform one), half the other."""

    def rates(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        first = rng.random(shape) if one is None else one
        return np.where(rng.random(shape) < 0.5, first, other)

    return rates


# Success rates of the questions.
POPULATIONS: dict[str, Rates] = {
    "Beta(.3, .3)": lambda rng, shape: rng.beta(0.3, 0.3, shape),
    "Beta(.6, 1)": lambda rng, shape: rng.beta(0.6, 1, shape),
    "Beta(.2, 2)": lambda rng, shape: rng.beta(0.2, 2, shape),
    "Beta(5, 5)": lambda rng, shape: rng.beta(5, 5, shape),
    "half always right": half_of(None, 1.0),
    "40 % impossible, 20 % sure": impossible_or_sure,
    "two clusters": half_of(0.05, 0.6),
    "all .5": lambda _, shape: np.full(shape, 0.5),
    "always or never": half_of(0.0, 1.0),
}
MANY = 400_000  # questions that stand for all of a population


@cache
def everyone(population: str) -> Floats:
    """The rates of all questions of a population."""
    return POPULATIONS[population](np.random.default_rng(0), (MANY,))


class Asked(NamedTuple):
    """A metric, and its expectation for a question with some success rate."""

    metric: ps.Metric
    worth: Callable[[Floats], Floats]


def accuracy() -> Asked:
    """The share of successes."""
    return Asked(ps.avg(), lambda p: p)


def at_k(k: int) -> list[Asked]:
    """Does any of k trials succeed, do all of them, do most?"""
    return [
        Asked(ps.pass_at_k(k), lambda p: 1 - (1 - p) ** k),
        Asked(ps.pass_hat_k(k), lambda p: p**k),
        Asked(ps.maj_at_k(k), lambda p: bdtrc(k // 2, k, p)),
    ]


def stable(k: int) -> list[Asked]:
    """Metrics of stability: half (three quarters) of k trials, and what exceeds their half."""
    beyond = np.maximum(np.arange(k + 1) - np.ceil(k / 2), 0) * 2 / k

    def excess(p: Floats) -> Floats:
        chances = (binom.pmf(j, k, p) * beyond[j] for j in range(k + 1) if beyond[j])
        return sum(chances, np.zeros_like(p))

    shares = [
        Asked(ps.g_pass_at_k_tau(k, tau), lambda p, tau=tau: binom.sf(np.ceil(tau * k) - 1, k, p))
        for tau in (0.5, 0.75)
    ]
    return [*shares, Asked(ps.mg_pass_at_k(k), excess)]
