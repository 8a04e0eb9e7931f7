"""The interval by its rules, with NumPy and SciPy alone: one group, question after question."""

from math import comb, sqrt

import numpy as np
from scipy.special import betainc, betaincinv
from scipy.stats import binom, hypergeom

ANGLE = np.pi / 2 * (np.arange(12) + 0.5) / 12
RATES = np.sin(np.pi / 2 * np.arange(241) / 240) ** 2
EDGES = np.concatenate([[0], np.sin(np.pi / 2 * (np.arange(240) + 0.5) / 240) ** 2, [1]])


def mass(a, b):
    """Chances of the rates under a Beta distribution."""
    return np.diff(betainc(a, b, EDGES))


UNIFORM = mass(1, 1)
POPULATIONS = [
    (1 - e) * mass(mu * (1 / rho - 1), (1 - mu) * (1 / rho - 1)) + e * UNIFORM
    for e in (0, 0.1, 0.4)
    for mu in np.sin(ANGLE) ** 2
    for rho in (0.003, 0.03, 0.1, 0.25, 0.5, 0.8)
]


class Metric:
    """A credit of 0..k successes in a draw of k."""

    def __init__(self, credit):
        self.credit, self.k = np.asarray(credit, float), len(credit) - 1
        self.value = binom.pmf(np.arange(self.k + 1), self.k, RATES[:, None]) @ self.credit

    def estimates(self, n):
        """The unbiased estimate from c = 0..n successes."""
        j = np.arange(self.k + 1)
        return hypergeom.pmf(j, n, np.arange(n + 1)[:, None], self.k) @ self.credit

    def noise(self, n):
        """Variance of the estimate at each rate."""
        square = binom.pmf(np.arange(n + 1), n, RATES[:, None]) @ self.estimates(n) ** 2
        return np.maximum(square - self.value**2, 0)

    def seen(self, n):
        """Unbiased estimate of the variance for c = 0..n, if two draws fit into n trials."""
        if 2 * self.k > n:
            return None
        k, credit = self.k, self.credit
        ways = [comb(k, j) for j in range(k + 1)]
        square = np.zeros(2 * k + 1)
        for i in range(k + 1):
            for j in range(k + 1):
                square[i + j] += ways[i] * ways[j] * credit[i] * credit[j] / comb(2 * k, i + j)
        draws = hypergeom.pmf(np.arange(2 * k + 1), n, np.arange(n + 1)[:, None], 2 * k)
        return self.estimates(n) ** 2 - draws @ square


def price(n, c, w, metric):
    """Rules 1 to 5: variance, factor and expected mean, from arrays of questions."""
    size, likelihood = len(n), [binom.pmf(b, a, RATES) for a, b in zip(n, c, strict=True)]
    logs = np.array([sum(np.log(each @ among) for each in likelihood) for among in POPULATIONS])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()

    def expected(among, of_trials):
        return np.array(
            [
                (like * of_trials[a]) @ among / (like @ among)
                for like, a in zip(likelihood, n, strict=True)
            ]
        )

    noises, value = {a: metric.noise(a) for a in {*n}}, dict.fromkeys(n, metric.value)
    noise = np.array([w**2 * expected(among, noises) for among in POPULATIONS])
    flat = w**2 * expected(UNIFORM, noises)
    total = noise.sum(axis=1)
    smooth, x = weight @ total, weight @ noise
    spread = weight @ total**2 - smooth**2 + (x**2).sum() - x.sum() ** 2 / size
    around = (flat**2).sum() - flat.sum() ** 2 / size
    most, least, shown = min(flat.sum(), 4 * smooth), 0.0, 2 * metric.k <= min(n)
    if shown:
        each = {m: metric.seen(m) for m in {*n}}
        seen = np.array([a**2 * each[m][s] for a, m, s in zip(w, n, c, strict=True)])
        top = max(a**2 * np.abs(each[m]).max() for a, m in zip(w, n, strict=True))
        square = max((seen**2).sum() - seen.sum() ** 2 / size, 0)
        off = sqrt(size / max(size - 1, 1) * square + top**2)
        most, least = min(most, seen.sum() + off), seen.sum() - off
    share = (most - smooth) / (flat.sum() - smooth) if most > smooth else 0.0
    variance = max(smooth, most, least)
    error = sqrt(max((1 - share) ** 2 * spread + share**2 * around, 0))
    factor = 1 + error / variance if variance else 1.0
    means = [w @ expected(among, value) for among in POPULATIONS]
    mean = (1 - share) * (weight @ means) + share * w @ expected(UNIFORM, value)
    return variance, factor if shown else max(factor, 1.15), mean


def interval(n, c, credit, w=None, confidence=0.95):
    """Estimate, sigma and both ends of a mean over questions."""
    metric, size = Metric(credit), len(n)
    weight = np.full(size, 1 / size) if w is None else w
    u = float(sum(a * metric.estimates(m)[s] for a, m, s in zip(weight, n, c, strict=True)))
    variance, factor, mean = price(n, c, weight, metric)
    number, tail = 1 / (weight @ weight), (1 - confidence) / 2
    if variance == 0:
        return u, 0.0, u, u
    over = u > 0.5
    x, y = (1 - u, 1 - mean) if over else (u, mean)
    t = x**2 / (x**2 + variance)
    wanted = t * x * (1 - x) + (1 - t) * max(y * (1 - y), number * variance)
    questions = wanted / (variance * factor)
    if w is None and max(n) == 1:
        variance, questions = u * (1 - u) / size, size
    lo = betaincinv(x * questions, (1 - x) * questions + 1, tail) if x > 1e-12 else 0.0
    hi = betaincinv(x * questions + 1, (1 - x) * questions, 1 - tail)
    return u, sqrt(variance), *((1 - hi, 1 - lo) if over else (lo, hi))
