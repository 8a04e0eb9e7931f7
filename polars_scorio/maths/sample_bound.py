"""Confidence bounds of a population mean without a model of the questions.

A mean of random Dirichlet weights that include one more unit of value 0 is a lower bound: N. Gaffke
(2005), Mathematical Methods of Statistics 14(4); E. Learned-Miller, P. Thomas (2019),
arXiv:1905.06208. In place of its distribution stands the Beta distribution with the same mean and
variance, which it is for values 0 and a: for 0 and 1 the bounds are Clopper and Pearson's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.free_fit import Calibrated, Group
from polars_scorio.maths.questions import QuestionGroups, Subgroups
from polars_scorio.maths.variance import CreditSum, rate_moments


class Bounds(NamedTuple):
    """Lower and upper bound of the mean in each group, shape (G,)."""

    lo: Floats
    hi: Floats


def lower_bound(values: Floats, units: Floats, group: Ints, tail: Floats) -> Floats:
    """Lower bound of the mean of each group, shape (G,), which misses with chance `tail`."""
    # `values` in [0, 1] stand for `units` effective ones each. With ``K = sum h``, the largest
    # value T and y = x / T: ``T BetaInv(tail; s m, s (1 - m))``, of which ``m = sum h y / (K + 1)``
    # is the mean and ``m (1 - m) / (s + 1)`` the variance, with one more unit at 0.
    top = np.zeros(tail.size)
    np.maximum.at(top, group, values)
    y = values / np.where(top > 0, top, 1.0)[group]
    number = np.bincount(group, units, tail.size)
    mean = np.bincount(group, units * y, tail.size) / (number + 1)
    square = np.bincount(group, units * (y - mean[group]) ** 2, tail.size) + mean**2
    some = square > 0
    spread = mean * (1 - mean) * (number + 1) * (number + 2)
    size = np.divide(spread, square, out=np.full(tail.size, 2.0), where=some) - 1
    mean = np.where(some, mean, 0.5)
    return np.where(some, top * scipy.special.betaincinv(size * mean, size * (1 - mean), tail), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class UnitSample:
    """Independent units of G groups: questions, or clusters of them."""

    values: Floats  # unbiased estimate of a unit, in [0, 1]; NaN if none, (P,)
    weight: Floats  # in the mean of its group, on any scale, (P,)
    number: Ints  # units with this value and weight, (P,)
    group: Ints
    groups: int
    bias: Floats | float = 0.0  # largest bias of the estimate, added to the interval on each side

    def bounds(self, confidence: Floats | float) -> Bounds:
        """Interval of the mean of each population, see `lower_bound`; NaN for a single unit."""
        mass = self.number * self.weight
        total, square, units = (
            np.bincount(self.group, each, self.groups)
            for each in (mass, mass * self.weight, self.number)
        )
        known = ~np.isnan(np.bincount(self.group, self.values, self.groups)) & (units > 1)
        values = np.clip(np.where(known[self.group], self.values, 0.0), 0.0, 1.0)
        # Equally heavy units count as their number, others as Kish's effective number.
        effective = mass * (total / square)[self.group]
        # In one order, and equal values together: sums then depend on neither.
        order = np.lexsort((values, self.group))
        values, effective, group = values[order], effective[order], self.group[order]
        new = (np.diff(values, prepend=np.nan) != 0) | (np.diff(group, prepend=-1) > 0)
        values, group = values[new], group[new]
        effective = np.add.reduceat(effective, np.flatnonzero(new))
        tail = np.broadcast_to(np.asarray((1 - confidence) / 2), self.groups)
        bias = np.bincount(self.group, mass * self.bias, self.groups) / total
        lo, low = (lower_bound(x, effective, group, tail) for x in (values, 1 - values))
        lo, hi = np.maximum(lo - bias, 0.0), np.minimum(1 - low + bias, 1.0)
        return Bounds(np.where(known, lo, np.nan), np.where(known, hi, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSample:
    """The questions of some groups as a sample, of single questions or of clusters."""

    questions: QuestionGroups
    # the same questions in their clusters, if any
    clusters: Subgroups[QuestionGroups] | None = None

    def units(self, values: Floats, bias: Floats | None = None) -> UnitSample:
        """The independent units, from estimates (and their largest biases) of each state, (S,)."""
        states, clusters = self.questions, self.clusters
        both = [each[states.state] for each in (values, 0 * values if bias is None else bias)]
        weight, number, group = np.ones(states.state.size), states.questions, states.group
        if clusters is not None:
            both = [clusters.means(states, each) for each in both]
            weight, group = clusters.states.size.astype(float), clusters.owner
            number = np.ones_like(group)
        return UnitSample(both[0], weight, number, group, states.groups, both[1])

    def sigma(self, values: Floats, independent: Floats) -> Floats:
        """Standard deviation of the mean of each group (G,), from estimates of each state (S,)."""
        # `independent` is the variance of the mean if all questions are independent; clusters may
        # have a larger one. NaN for a single question, or a single cluster.
        variance = np.maximum(independent, self.cluster_variance(values))
        return np.where(self.number > 1, np.sqrt(variance), np.nan)

    @property
    def number(self) -> Ints:
        """Independent units of each group, shape (G,)."""
        return self.questions.size if self.clusters is None else self.clusters.number

    def cluster_variance(self, values: Floats) -> Floats:
        """Variance of the mean of each group between its clusters; 0 without clusters."""
        if self.clusters is None:
            return np.zeros(self.questions.groups)
        return self.clusters.variance(self.questions, values[self.questions.state])

    def variance_between(self, values: Floats) -> Floats:
        """Variance of the mean, from the spread of the estimates of independent questions."""
        states, size = self.questions, self.questions.size
        distance = values[states.state] - states.mean(values)[states.group]
        square = np.bincount(states.group, states.questions * distance**2, states.groups)
        return np.asarray(square / (size * np.maximum(size - 1, 1)))


def population_variance(fitted: Calibrated, metric: CreditSum, wanted: Mask) -> Floats:
    """Variance of the mean estimate of `wanted` groups, if the free fit is the population."""
    variance = np.full(len(fitted.groups), np.nan)
    for column in np.flatnonzero(wanted).tolist():
        group = fitted.groups[column]
        variance[column] = _question_variance(group, metric) / group.size
    return variance


def _question_variance(group: Group, metric: CreditSum) -> float:
    """Variance of the estimate of a question of the population: its noise, and between rates."""
    weight, (levels, place) = group.weight, group.fits.levels
    share = np.bincount(place, group.questions) / group.size
    at = rate_moments(weight.size, levels, metric)
    mean, rest, noise = (float(share @ each @ weight) for each in at)
    # From the nearer bound: nothing large cancels.
    near, centre = (at.credit, mean) if mean < rest else (at.rest, rest)
    return noise + float(share @ (near - centre) ** 2 @ weight)
