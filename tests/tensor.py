"""An oracle for partial pooling: tensor Gauss-Legendre over (q, rho), question by question.

Metrics are polynomials in the chance p of a success: ``{(i, j): coefficient of p**i (1 - p)**j}``.
Their moments are products of simple factors, without ``s`` and without gamma functions.
"""

from collections import Counter
from collections.abc import Sequence
from math import comb, sqrt
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

Floats = np.ndarray
Polynomial = dict[tuple[int, int], float]


def majority(k: int) -> Polynomial:
    """Maj@k for an odd k."""
    return {(j, k - j): comb(k, j) for j in range(k // 2 + 1, k + 1)}


def any_success(k: int) -> Polynomial:
    """Pass@k."""
    return {(0, 0): 1, (0, k): -1}


def all_success(k: int) -> Polynomial:
    """Pass^k."""
    return {(k, 0): 1}


class Joint(NamedTuple):
    """Means and covariances of two metrics for each question and node, shape (M + 1, J).

    The last row is a question without trials.
    """

    x: Floats
    y: Floats
    xx: Floats
    yy: Floats
    xy: Floats


class Moments(NamedTuple):
    """mu and sigma for both targets."""

    mu: float
    sigma: float
    population_mu: float
    population_sigma: float


class Tensor:
    """The posterior of the population of some binary questions, and what follows from it."""

    def __init__(self, n: Sequence[int], c: Sequence[int], points: int = 200) -> None:
        nodes, widths = leggauss(points)
        q, rho = np.meshgrid((nodes + 1) / 2, (nodes + 1) / 2)
        self.q, self.rho = q.ravel(), rho.ravel()
        self.n, self.c = [*n, 0], [*c, 0]
        weight = np.outer(widths, widths).ravel() * (1 - self.rho)
        for trials, right in zip(n, c, strict=True):
            weight = weight * self._chance(0, 0, right, trials - right)
        self.weight = weight / weight.sum()

    def _chance(self, n: int, c: int, successes: int, failures: int) -> Floats:
        """Chance of a sequence of outcomes, after n trials with c successes."""
        product = np.ones_like(self.q)
        for i in range(successes):
            product = product * ((1 - self.rho) * self.q + (c + i) * self.rho)
        for i in range(failures):
            product = product * ((1 - self.rho) * (1 - self.q) + (n - c + i) * self.rho)
        for i in range(successes + failures):
            product = product / (1 - self.rho + (n + i) * self.rho)
        return product

    def mean(self, metric: Polynomial) -> Floats:
        """Posterior mean of a metric, for each question and node."""
        return np.array(
            [
                sum(factor * self._chance(n, c, *powers) for powers, factor in metric.items())
                for n, c in zip(self.n, self.c, strict=True)
            ]
        )

    def covariance(self, x: Polynomial, y: Polynomial) -> Floats:
        """Posterior covariance of two metrics, for each question and node."""
        product: Counter[tuple[int, int]] = Counter()
        for (i, j), a in x.items():
            for (k, m), b in y.items():
                product[i + k, j + m] += a * b
        return self.mean(product) - self.mean(x) * self.mean(y)

    def joint(self, x: Polynomial, y: Polynomial) -> Joint:
        """All of two metrics."""
        variances = (self.covariance(*pair) for pair in ((x, x), (y, y), (x, y)))
        return Joint(self.mean(x), self.mean(y), *variances)

    def expected(self, values: Floats) -> Floats:
        """Mean over the nodes, the last axis."""
        return (self.weight * values).sum(axis=-1)

    def moments(self, metric: Polynomial) -> Moments:
        """mu and sigma of the mean of a metric over the questions."""
        return self.of_questions(self.mean(metric), self.covariance(metric, metric))

    def of_questions(self, mean: Floats, variance: Floats) -> Moments:
        """mu and sigma of a mean over the questions, from those of each question and node."""
        (mu, star), benchmark, population = self.covariances(mean, mean, variance)
        return Moments(mu, sqrt(benchmark), star, sqrt(population))

    def covariances(
        self, x: Floats, y: Floats, covariance: Floats
    ) -> tuple[tuple[float, float], float, float]:
        """Means of x for both targets, then the covariance of x and y for each."""
        own, size = covariance[:-1].sum(axis=0), len(x) - 1
        mu_x, mu_y = (self.expected(each[:-1].mean(axis=0)) for each in (x, y))
        apart = (x[:-1].mean(axis=0) - mu_x) * (y[:-1].mean(axis=0) - mu_y)
        benchmark = self.expected(own / size**2 + apart)
        # With two more questions, about which nothing but the population is known.
        total, share = size + 2, np.append(np.ones(size), 2)[:, None]
        star_x, star_y = ((share * each).sum(axis=0) / total for each in (x, y))
        mean_x, mean_y = self.expected(star_x), self.expected(star_y)
        known = self.expected(own / total**2 + (star_x - mean_x) * (star_y - mean_y))
        products = self.expected((share * (x * y + covariance)).sum(axis=0) / total)
        spread = (products - mean_x * mean_y - known) / (total + 1)
        return (float(mu_x), float(mean_x)), float(benchmark), float(known + spread)

    def of_each(self, metric: Polynomial) -> tuple[Floats, Floats]:
        """mu and sigma of a metric of each question on its own."""
        mean, variance = self.mean(metric)[:-1], self.covariance(metric, metric)[:-1]
        mu = self.expected(mean)
        return mu, np.sqrt(self.expected(variance + (mean - mu[:, None]) ** 2))
