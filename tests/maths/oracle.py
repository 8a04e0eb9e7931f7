"""The method a second time, in plain loops: it shares no code with the kernels.

A group is a list of (n, c, questions), a credit the list of its values for 0..k successes.
"""

from functools import cache
from math import comb, inf, log, pi, sin, sqrt

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import gammaln
from scipy.stats import beta, binom, hypergeom

# A dense grid instead of one that is fitted to the data: no zoom, no Laplace.
_RHO, _WIDTH = (leggauss(160)[0] + 1) / 2, leggauss(160)[1] / 2
_LOGIT = np.linspace(-40, 40, 641)
# Imhof's integral by the logarithm of its variable, in which the integrand is smooth.
_STEP = 0.02
_LOG_X = np.arange(-40, 60, _STEP)


def betaln(a, b):
    """As SciPy's, which is wrong from b = 1e-16 down."""
    return gammaln(a) + gammaln(b) - gammaln(a + b)


class Smooth:
    """The Beta populations of a group: a, b and weight of each node."""

    def __init__(self, group):
        q = 1 / (1 + np.exp(-_LOGIT))
        not_q = 1 / (1 + np.exp(_LOGIT))
        s = (1 / _RHO - 1)[:, None]
        self.a, self.b = s * q, s * not_q
        logs = np.log(q * not_q) + np.log(_WIDTH * (1 - _RHO))[:, None]
        for n, c, h in group:
            logs = logs + h * (betaln(self.a + c, self.b + (n - c)) - betaln(self.a, self.b))
        self.weight = np.exp(logs - logs.max())
        kept = self.weight > 1e-12
        self.a, self.b, self.weight = self.a[kept], self.b[kept], self.weight[kept]
        self.weight /= self.weight.sum()
        total = self.a + self.b
        self.q, self.rho = self.weight @ (self.a / total), self.weight @ (1 / (1 + total))

    def expect(self, n, c, credit):
        """Posterior mean of a credit of d further trials, for each node."""
        d, a, b = len(credit) - 1, self.a + c, self.b + (n - c)
        total = np.zeros_like(a)
        for j, value in enumerate(credit):
            total += value * comb(d, j) * np.exp(betaln(a + j, b + d - j) - betaln(a, b))
        return total


@cache
def fits(group):
    """Both fits of a group, given as a tuple."""
    smooth = Smooth(group)
    return smooth, *free_fit(group, smooth)


def free_fit(group, smooth):
    size = max(121, int(np.ceil(15 * sqrt(max(n for n, _, _ in group)))) + 1)
    step = pi / (2 * (size - 1))
    p = np.array([sin(i * step) ** 2 for i in range(size - 1)] + [1.0])
    ends = [0.0] + [sin((i + 0.5) * step) ** 2 for i in range(size - 1)] + [1.0]
    s = (1 - smooth.rho) / smooth.rho
    base = np.maximum(np.diff(beta.cdf(ends, s * smooth.q, s * (1 - smooth.q))), 1e-12)
    base /= base.sum()
    weight, questions = base.copy(), sum(h for _, _, h in group)
    for _ in range(60):
        new = 2 * base
        for n, c, h in group:
            joint = weight * p**c * (1 - p) ** (n - c)
            new = new + h * joint / joint.sum()
        weight = new / (questions + 2)
    return p, weight


def estimates(n, credit):
    k = len(credit) - 1
    return [sum(hypergeom.pmf(j, n, c, k) * credit[j] for j in range(k + 1)) for c in range(n + 1)]


def variance(n, credit, p):
    """V_n(p) as it is defined."""
    k = len(credit) - 1
    square = sum(binom.pmf(c, n, p) * u * u for c, u in enumerate(estimates(n, credit)))
    return square - sum(binom.pmf(j, k, p) * credit[j] for j in range(k + 1)) ** 2


def product(credit):
    """Credit of two draws that share no trial: the product of what they earn."""
    k = len(credit) - 1
    return [
        sum(
            comb(k, i) * comb(k, j - i) / comb(2 * k, j) * credit[i] * credit[j - i]
            for i in range(max(0, j - k), min(j, k) + 1)
        )
        for j in range(2 * k + 1)
    ]


def cap(group, credits_of):
    """The cap of the variance if each question has 2 k trials; vectors test the region."""
    noise, most = [], 0.0
    for n, c, h in group:
        credit = credits_of(n)
        if 2 * (len(credit) - 1) > n:
            return inf
        pairs = zip(estimates(n, credit), estimates(n, product(credit)), strict=True)
        values = [u * u - q for u, q in pairs]
        noise += [values[c]] * h
        most = max(most, *map(abs, values))
    size, spread = len(noise), 0.0
    if size > 1:
        spread = size / (size - 1) * (sum(v * v for v in noise) - sum(noise) ** 2 / size)
    return (sum(noise) + sqrt(max(spread, 0) + most**2)) / size**2


def noisy(group, credits_of):
    """m, s2 and F of a metric with the credit ``credits_of(n)``: rules 1 to 3'."""
    smooth, p, weight = fits(tuple(group))
    size = sum(h for _, _, h in group)
    noise, mean_b = np.zeros_like(smooth.weight), 0.0
    ve = mean_e = spread_w = 0.0
    for n, c, h in group:
        credit = credits_of(n)
        k = len(credit) - 1
        square = product(credit)
        squared = [u * u for u in estimates(n, credit)]
        noise += h * np.maximum(smooth.expect(n, c, squared) - smooth.expect(n, c, square), 0)
        mean_b += h * (smooth.weight @ smooth.expect(n, c, credit)) / size
        r = weight * p**c * (1 - p) ** (n - c)
        r /= r.sum()
        v = np.maximum(variance(n, credit, p), 0)
        ve += h * (r @ v) / size**2
        spread_w += h * (r @ v**2 - (r @ v) ** 2)
        mean_e += h * (r @ sum(binom.pmf(j, k, p) * credit[j] for j in range(k + 1))) / size
    vb = smooth.weight @ noise / size**2
    spread_b = smooth.weight @ (noise - size**2 * vb) ** 2
    s2 = max(ve, min(vb, cap(group, credits_of)))
    omega = (s2 - ve) / (vb - ve) if vb > ve else 1
    m = omega * mean_b + (1 - omega) * mean_e if vb > ve else mean_e
    spread = sqrt(max(omega**2 * spread_b + spread_w, 0))
    return m, s2, 1 + spread / (size**2 * s2) if s2 > 0 else 1.0


def population_variance(group, credits_of):
    """Variance of the estimate of a question, under the free fit, over the questions: rule 6."""
    _, p, weight = fits(tuple(group))
    size = sum(h for _, _, h in group)
    m = square = 0.0
    for n, _, h in group:
        for c, u in enumerate(estimates(n, credits_of(n))):
            chance = h / size * (weight @ binom.pmf(c, n, p))
            m += chance * u
            square += chance * u * u
    return (square - m * m) / size


def beta_bound(values, weight, tail):
    """Lower bound of a mean: quantile of a Beta variable on [0, largest value], by its moments."""
    top = max(values)
    if top == 0:
        return 0.0
    h = weight * sum(weight) / sum(weight**2)
    moments = [sum(h * (values / top) ** power) / (sum(h) + 1) for power in (1, 2)]
    # The variance of Dirichlet weights of K + 1 units.
    variance = (moments[1] - moments[0] ** 2) / (sum(h) + 2)
    size = moments[0] * (1 - moments[0]) / variance - 1
    return top * beta.ppf(tail, size * moments[0], size * (1 - moments[0]))


def population(group, credits_of, confidence):
    """mu, sigma, lo, hi about a population: rule 6'."""
    values = np.clip([estimates(n, credits_of(n))[c] for n, c, _ in group], 0, 1)
    units, tail = np.array([h for _, _, h in group]), (1 - confidence) / 2
    each = np.repeat(values, units)
    lo, low = (beta_bound(x, np.ones(each.size), tail) for x in (each, 1 - each))
    sigma = sqrt(population_variance(group, credits_of))
    return units @ values / units.sum(), sigma, lo, 1 - low


def numbers(group, credits_of, confidence, target="benchmark"):
    """mu, sigma, lo, hi: rules 4 and 5, or 6'."""
    if target == "population":
        return population(group, credits_of, confidence)
    size = sum(h for _, _, h in group)
    u = sum(h * estimates(n, credits_of(n))[c] for n, c, h in group) / size
    if u > 0.5:
        # The mirrored metric: what fails and what succeeds trade places.
        mirrored = [(n, n - c, h) for n, c, h in group]

        def other(n):
            return [1 - value for value in credits_of(n)][::-1]

        mu, sigma, lo, hi = numbers(mirrored, other, confidence)
        return 1 - mu, sigma, 1 - hi, 1 - lo
    m, s2, factor = noisy(group, credits_of)
    near = u**2 / s2
    far = near / (near + 1)
    n = (far * u * (1 - u) + (1 - far) * m * (1 - m)) / (s2 * (1 + (factor - 1) * far))
    x, y, tail = u * n, (1 - u) * n, (1 - confidence) / 2
    lo = beta.ppf(tail, x, y + 1) if u > 1e-12 else 0.0
    hi = beta.ppf(1 - tail, x + 1, y)
    unseen = [*unseen_means(group, credits_of, 1 - confidence)]
    return u, sqrt(s2), min([lo, *unseen]), max([hi, *unseen])


def unseen_means(group, credits_of, chance):
    """Means under which a log without a failure (a success) has a chance; none of other logs."""
    right, wrong = (all(c == end for _, c, end in part) for part in (
        [(n, c, n) for n, c, _ in group], [(n, c, 0) for n, c, _ in group]
    ))  # fmt: skip
    if not (right or wrong):
        return
    size = sum(h for _, _, h in group)
    trials = sum(n * h for n, _, h in group) / size
    credit = credits_of(min(n for n, _, _ in group))
    k = len(credit) - 1
    some = 1
    while some < 2 * size:
        questions = min(some, size)
        rate = chance ** (1 / (questions * trials))
        p = rate if right else 1 - rate
        possible = sum(comb(k, j) * p**j * (1 - p) ** (k - j) * credit[j] for j in range(k + 1))
        share = questions / size
        yield share * possible + (1 - share) * (credit[-1] if right else credit[0])
        some *= 2


def misfit(group):
    """Twice what the free fit explains better than the best Beta population."""
    smooth, p, weight = fits(tuple(group))
    free = sum(h * log(weight @ (p**c * (1 - p) ** (n - c))) for n, c, h in group)
    a, b = smooth.a, smooth.b
    best = sum(h * (betaln(a + c, b + (n - c)) - betaln(a, b)) for n, c, h in group).max()
    return 2 * (free - best)
