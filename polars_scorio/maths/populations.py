"""216 fixed populations of success rates, and what the counts of questions say of them.

``(1 - e) Beta(mu s, (1 - mu) s) + e Beta(1, 1)``, ``s = 1 / rho - 1``: the populations do not
depend on the data, so that all they say of a question with c of n successes is a row of a table.
They are weighted by Bayes' rule (H. Robbins 1956, Proc. Third Berkeley Symp. 1, 157-163; J. G.
Skellam 1948, J. R. Stat. Soc. B 10, 257-261), each with the same prior weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints

_ANGLES, _RATES = 12, 241
CORRELATIONS = 0.003, 0.03, 0.1, 0.25, 0.5, 0.8
SHARES = 0.0, 0.1, 0.4  # e, of questions with a rate of any size
MOST_COUNTED = 2000  # trials of a question up to which means are sums over the fixed rates
_LEAST = 1e-300


class Populations(NamedTuple):
    """Fixed success rates, and 73 Beta distributions on them, of which the last is uniform."""

    p: Floats  # (241,)
    q: Floats  # 1 - p, with all digits
    mass: Floats  # (73, 241)
    a: Floats  # (73,)
    b: Floats

    @property
    def kinds(self) -> int:
        """Beta distributions without the uniform one; the 216 are mixtures of both."""
        return self.a.size - 1

    @property
    def correlation(self) -> Floats:
        """Variance of the rates over that of a single trial, of the 216."""
        size = self.a + self.b
        square = self.a * (self.a + 1) / (size * (size + 1))
        mean, rest, square = _mixed_parts(np.stack([self.a / size, self.b / size, square]))
        return np.asarray((square - mean**2) / (mean * rest))


@lru_cache(maxsize=1)
def fixed_populations() -> Populations:
    """The fixed rates and distributions."""
    angle = np.pi / 2 * (np.arange(_ANGLES) + 0.5) / _ANGLES
    mean, rho = (
        each.ravel() for each in np.meshgrid(np.sin(angle) ** 2, CORRELATIONS, indexing="ij")
    )
    a, b = np.append(mean * (1 / rho - 1), 1.0), np.append((1 - mean) * (1 / rho - 1), 1.0)
    last = _RATES - 1
    between = np.sin(np.pi / 2 * (np.arange(last) + 0.5) / last) ** 2
    edges = np.concatenate([[0.0], between, [1.0]])
    p, q = rate_nodes(_RATES)
    return Populations(p, q, np.diff(scipy.special.betainc(a[:, None], b[:, None], edges)), a, b)


def rate_nodes(size: int) -> tuple[Floats, Floats]:
    """Success rates ``sin^2`` of equal steps of the angle, and their complements."""
    p = np.sin(np.arange(size) * (np.pi / (2 * (size - 1)))) ** 2
    # The complement from the other end: 1 - p would lose the digits of a small rest.
    q = p[::-1].copy()
    q[0] = p[-1] = 1.0
    return p, q


def _mixed_parts(part: Floats) -> Floats:
    """Means under the 216 mixtures, from those under the 73 distributions: (S, 73) to (S, 216)."""
    return np.concatenate([(1 - e) * part[:, :-1] + e * part[:, -1:] for e in SHARES], axis=1)


@dataclass(frozen=True, eq=False)  # no slots: chances are kept
class StateChances:
    """Chances of some states under the populations."""

    n: Ints  # trials of each state, (S,)
    c: Ints  # successes

    @cached_property
    def large(self) -> Ints:
        """States of so many trials that all populations are flat over the narrow posterior."""
        return np.flatnonzero(self.n > MOST_COUNTED)

    @cached_property
    def _likelihood(self) -> Floats:
        """Likelihood of each rate, up to a factor for each state, (S, 241)."""
        n, c = (each[:, None].astype(np.float64) for each in (self.n, self.c))
        fixed = fixed_populations()
        with np.errstate(divide="ignore"):
            success, failure = np.log([fixed.p, fixed.q])
        # The log of no chance at all, times no trial, is 0.
        success[0] = failure[-1] = -1e290
        logs = c * success
        logs += (n - c) * failure
        logs -= logs.max(axis=1, keepdims=True)
        return np.asarray(np.exp(logs, out=logs))

    @cached_property
    def components(self) -> Floats:
        """Chance under the 73 distributions, (S, 73), up to a factor for each state."""
        fixed = fixed_populations()
        part = np.asarray(self._likelihood @ fixed.mass.T)
        if self.large.size:
            large = StateChances(self.n[self.large], self.c[self.large])
            part[self.large] = large.components_of(np.stack([fixed.b, fixed.a], axis=1))
        return part

    def components_of(self, shape: Floats) -> Floats:
        """Chance under some Beta distributions, of failure and success (B, 2), likewise."""
        b, a = shape.T
        n, c = self.n[:, None].astype(np.float64), self.c[:, None].astype(np.float64)
        logs = scipy.special.betaln(a + c, b + n - c) - scipy.special.betaln(a, b)
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    @cached_property
    def mixtures(self) -> Floats:
        """Chance under the 216 populations, (S, 216), up to a factor for each state."""
        return np.maximum(_mixed_parts(self.components), _LEAST)

    @cached_property
    def logs(self) -> Floats:
        """Log of `mixtures`."""
        return np.log(self.mixtures)

    def means(self, rows: slice, values: Floats, live: LivePopulations) -> tuple[Floats, Floats]:
        """Posterior means of values at the rates (V, 241): by population, and under the uniform.

        Of some states, each of at most 2,000 trials; shapes (S, V, J) and (S, V).
        """
        likelihood, mass, asked = self._likelihood[rows], live.mass, len(values)
        if len(likelihood) < len(mass):
            weighed = (likelihood[:, None] * values).reshape(-1, values.shape[1]) @ mass.T
        else:
            weighed = likelihood @ (values[:, None] * mass).reshape(-1, values.shape[1]).T
        part = weighed.reshape(len(likelihood), asked, len(mass))
        chance = self.mixtures[rows][:, None, live.places]
        mean = np.take(part, live.kind, axis=-1)  # an index alone would return the kinds outermost
        mean *= (1 - live.share) / chance
        mean += part[..., -1:] * (live.share / chance)
        return mean, part[..., -1] / self.components[rows, -1:]


class LivePopulations(NamedTuple):
    """Some of the 216 populations, and the Beta distributions that they mix."""

    places: Ints  # among the 216, (J,)
    shape: Floats  # of the distributions, the last one uniform: of failure and success, (K + 1, 2)
    mass: Floats  # of these on the rates, (K + 1, 241)
    kind: Ints  # the distribution of each population
    share: Floats  # of questions with a rate of any size

    @classmethod
    def from_places(cls, places: Ints) -> LivePopulations:
        """Some populations."""
        fixed = fixed_populations()
        kept, kind = np.unique(places % fixed.kinds, return_inverse=True)
        known = np.append(kept, fixed.kinds)
        shape = np.stack([fixed.b[known], fixed.a[known]], axis=1)
        return cls(places, shape, fixed.mass[known], kind, np.array(SHARES)[places // fixed.kinds])


def population_weights(logs: Floats) -> Floats:
    """Weights (G, 216) of the populations, from the summed logs of the chances of each group."""
    weights = logs - logs.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


_SMALLEST = np.finfo(float).tiny
_LARGEST = 1e100  # shape: SciPy's inverse of the Beta integral is NaN from 1e155 on
# SciPy's inverse of the Beta integral errs by 1e-5 of a standard deviation from shapes of 1e10 on;
# the normal with a correction for skewness holds 1e-8 from 1e8 on.
_NARROW = 1e8


def beta_quantile(a: Floats, b: Floats, tail: Floats | float, *, upper: bool) -> Floats:
    """Value that Beta(a, b) exceeds, or stays below, with the chance `tail`."""
    # In a third of the time of `np.clip`, which checks much before it calls these.
    a, b = (np.minimum(np.maximum(each, _SMALLEST), _LARGEST) for each in (a, b))
    narrow = np.minimum(a, b) > _NARROW
    inverse = scipy.special.betainccinv if upper else scipy.special.betaincinv
    if not narrow.any():
        return np.asarray(inverse(a, b, tail))
    exact = inverse(np.where(narrow, 1.0, a), np.where(narrow, 1.0, b), tail)
    mean, z = a / (a + b), -scipy.special.ndtri(tail) if upper else scipy.special.ndtri(tail)
    sigma = np.sqrt(mean * (b / (a + b)) / (a + b + 1))
    skew = (1 - 2 * mean) * (z**2 - 1) / (3 * (a + b))  # Cornish and Fisher's correction
    return np.where(narrow, mean + z * sigma + skew, exact)


_END = 1e-12  # from a bound: as good as on it


def rate_ends(x: Floats, y: Floats, tail: Floats | float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's interval of x successes and y failures, which need not be whole."""
    least = _END * (x + y)
    lo = np.where(x > least, beta_quantile(x, y + 1, tail, upper=False), 0.0)
    hi = np.where(y > least, beta_quantile(x + 1, y, tail, upper=True), 1.0)
    return lo, hi


def unit_interval(
    estimate: Floats, rest: Floats, questions: Floats, tail: Floats | float
) -> tuple[Floats, Floats]:
    """The interval of so many right or wrong questions; of infinitely many, the estimate itself."""
    known, finite = ~np.isnan(questions), np.isfinite(questions)
    some = np.where(finite, questions, 1.0)
    exact = known & ~finite
    ends = rate_ends(estimate * some, rest * some, tail)
    lo, hi = (np.where(exact, estimate, end) for end in ends)
    lo, hi = np.minimum(lo, estimate), np.maximum(hi, estimate)
    return np.where(known, lo, np.nan), np.where(known, hi, np.nan)
