"""Confidence bounds of a population mean without a model of the questions.

The lower bound is a quantile of the mean of the sample under random Dirichlet weights that include
one more unit of value 0: N. Gaffke (2005), Mathematical Methods of Statistics 14(4); E.
Learned-Miller, P. Thomas (2019), arXiv:1905.06208. For values 0 and 1 it is Clopper and Pearson's.
The distribution of the weighted mean has no closed form, but its Laplace transform has: it is
inverted along a hyperbola through the saddle point, by the trapezoid rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_slices
from polars_scorio.maths.free_fit import Calibrated, Group
from polars_scorio.maths.questions import Clustered, QuestionGroups
from polars_scorio.maths.variance import CreditSum, rate_moments

_STEP, _LAST = 0.1, 16.0  # step and end of the trapezoid rule along the hyperbola
_NEGLIGIBLE = 1e-20  # a block of nodes that ends with less, of the sum, is the last that counts
_ROOT_STEPS = 60
_NEAR_SADDLE = 1e-6  # tolerance of a logit
_ROUNDING = 1e-14  # rounding error of a logarithm
_CLOSE = 1e-11  # on the scale of a standard normal quantile


class Bounds(NamedTuple):
    """Lower and upper bound of the mean in each group, shape (G,)."""

    lo: Floats
    hi: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Distinct values of the units of each group, group after group."""

    values: Floats  # inside [0, 1], ascending within a group, (P,)
    units: Floats  # effective number of units with this value, (P,)
    starts: Ints  # index of the first value of each group, (G,); none is empty

    @classmethod
    def merged(cls, values: Floats, units: Floats, group: Ints, groups: int) -> Sample:
        """Merge equal values of a group."""
        values = np.clip(values, 0.0, 1.0)
        order = np.lexsort((values, group))
        values, units, group = values[order], units[order], group[order]
        first = np.ones(values.size, dtype=bool)
        first[1:] = (np.diff(values) > 0) | (np.diff(group) > 0)
        places = np.flatnonzero(first)
        starts = np.searchsorted(group[places], np.arange(groups))
        return cls(values[places], np.add.reduceat(units, places), starts)

    @property
    def lengths(self) -> Ints:
        """Number of distinct values of each group."""
        return np.diff(np.append(self.starts, self.values.size))

    def each_value(self, of_groups: Floats) -> Floats:
        """Repeat the number of a group for each of its values."""
        return np.repeat(of_groups, self.lengths, axis=0)

    def total(self, of_values: Floats) -> Floats:
        """Sum over the values of each group, along the first axis."""
        return np.add.reduceat(of_values, self.starts, axis=0)

    def mirrored(self) -> Sample:
        """Replace each value x by 1 - x, in descending order."""
        return Sample(1 - self.values, self.units, self.starts)


def gaffke_bounds(sample: Sample, tail: Floats | float) -> Bounds:
    """Bounds of the population mean of each group; each misses with chance `tail`, below 1/2."""
    tails = np.broadcast_to(np.asarray(tail, dtype=float), sample.starts.shape)
    return Bounds(_lower_bound(sample, tails), 1 - _lower_bound(sample.mirrored(), tails))


def _lower_bound(sample: Sample, tail: Floats) -> Floats:
    """Quantile of the weighted mean: by secants from a Beta quantile."""
    low, high = _threshold_brackets(sample, tail)
    wide = high > low * (1 + 1e-14)
    low, high = (np.log(np.where(low > 0, end, 0.5)) for end in (low, high))
    wanted = scipy.special.ndtri(tail)

    def excess(log_t: Floats) -> Floats:
        log_chance = np.minimum(_log_chance(sample, np.exp(log_t)), -_NEGLIGIBLE)
        return np.asarray(scipy.special.ndtri_exp(log_chance) - wanted)

    found = low
    if wide.any():
        start = np.clip(np.log(_moment_quantile(sample, tail)), low, high)
        found = np.where(wide, _bracketed_root(excess, start, low, high), low)
    return np.where(sample.total(sample.values) > 0, np.exp(np.clip(found, low, high)), 0.0)


def _moment_quantile(sample: Sample, tail: Floats) -> Floats:
    """Quantile of the Beta distribution that has mean and variance of the weighted mean."""
    units = sample.total(sample.units) + 1
    mean = sample.total(sample.units * sample.values) / units
    square = sample.total(sample.units * sample.values**2) / units
    total = (units + 1) * mean * (1 - mean) / np.maximum(square - mean**2, 1e-300) - 1
    shapes = np.maximum(mean * total, 1e-8), np.maximum((1 - mean) * total, 1e-8)
    return np.maximum(scipy.special.betaincinv(*shapes, tail), 1e-300)


def _bracketed_root(
    function: Callable[[Floats], Floats], start: Floats, left: Floats, right: Floats
) -> Floats:
    """Root of each nearly linear, increasing function: by secants, or halves where those leave.

    A root that is close stays as it is, so that none depends on those beside it.
    """
    last, at_last = left, np.full_like(left, np.nan)
    x, at_x = start, function(start)
    for _ in range(_ROOT_STEPS):
        moves = ~(np.abs(at_x) < _CLOSE) & (right - left > _ROUNDING)
        if not moves.any():
            break
        left, right = np.where(at_x < 0, x, left), np.where(at_x < 0, right, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = x - at_x * (x - last) / (at_x - at_last)
        new = np.where((new > left) & (new < right), new, (left + right) / 2)
        last, at_last = x, at_x
        x = np.where(moves, new, x)
        at_x = np.where(moves, function(x), at_x)
    return x


def _threshold_brackets(sample: Sample, tail: Floats) -> tuple[Floats, Floats]:
    """Values between which the quantile lies: round all values down, or up, to two of them.

    If all values below v become 0 and all others v, the weighted mean falls, and is v times a Beta
    variable; if all positive values become the largest one, it rises.
    """
    total = sample.each_value(sample.total(sample.units))
    order = np.argsort(-sample.values, kind="stable")
    group = np.repeat(np.arange(sample.starts.size), sample.lengths)[order]
    order = order[np.argsort(group, kind="stable")]
    values, units = sample.values[order], sample.units[order]
    running = np.cumsum(units)
    before = sample.each_value((running - units)[sample.starts])
    above = np.minimum(running - before, total)  # units with at least this value
    below = np.maximum(total - above, 0.0)
    quantile = scipy.special.betaincinv(above, below + 1, sample.each_value(tail))
    low = np.maximum.reduceat(values * quantile, sample.starts)
    positive = np.where(values > 0, quantile, 0.0)
    high = values[sample.starts] * np.maximum.reduceat(positive, sample.starts)
    return low, np.maximum(high, low)


def _log_chance(sample: Sample, t: Floats) -> Floats:
    """Log of the chance that the weighted mean of each group is at most t."""
    ratio = sample.values / sample.each_value(t)  # 1 + lambda
    c, rest = _saddle_point(sample, ratio)
    at_values = sample.each_value(rest) + sample.each_value(c) * ratio
    u = (ratio - 1) / at_values
    square = sample.total(sample.units * u**2) + 1 / rest**2 + 1 / c**2
    cube = sample.total(sample.units * u**3) - 1 / rest**3 + 1 / c**3
    skew = 2 * cube / (3 * square**1.5)
    bend = np.where(
        skew == 0, 0.0, (np.sqrt(1 + 4 * skew**2) - 1) / np.where(skew == 0, 1, 2 * skew)
    )
    peak = -sample.total(sample.units * np.log(at_values)) - np.log(rest) - np.log(c)
    mass = _contour_integral(sample, ratio, c, bend, np.sqrt(square), peak)
    with np.errstate(divide="ignore"):
        return np.minimum(peak + np.log(np.maximum(mass, 0.0)), 0.0)


def _saddle_point(sample: Sample, ratio: Floats) -> tuple[Floats, Floats]:
    """Point c inside (0, 1) at which the inverted function is stationary, and 1 - c.

    By Newton steps on the logit of c, or halves of its bracket where those leave it.
    """
    left, right = np.full(sample.starts.size, -36.0), np.full(sample.starts.size, 36.0)
    v, moves = np.zeros(sample.starts.size), np.ones(sample.starts.size, dtype=bool)
    for _ in range(_ROOT_STEPS):
        c, rest = scipy.special.expit(v), scipy.special.expit(-v)
        u = (ratio - 1) / (sample.each_value(rest) + sample.each_value(c) * ratio)
        slope = -sample.total(sample.units * u) + 1 / rest - 1 / c
        bends = sample.total(sample.units * u**2) + 1 / rest**2 + 1 / c**2
        left, right = np.where(slope < 0, v, left), np.where(slope < 0, right, v)
        # Newton on the slope times c (1 - c), which has no poles.
        step = slope / (c * rest * bends + (1 - 2 * c) * slope)
        new = np.where((v - step > left) & (v - step < right), v - step, (left + right) / 2)
        v, moves = np.where(moves, new, v), moves & (np.abs(new - v) > _NEAR_SADDLE)
        if not moves.any():
            break
    return scipy.special.expit(v), scipy.special.expit(-v)


def _contour_integral(
    sample: Sample, ratio: Floats, c: Floats, bend: Floats, scale: Floats, peak: Floats
) -> Floats:
    """Integral along the hyperbola, relative to the value at the saddle point."""
    total = np.zeros(c.size)
    for block in row_slices(round(_LAST / _STEP) + 1, max(8 * ratio.size, 2**12)):
        tau = np.arange(block.start, min(block.stop, round(_LAST / _STEP) + 1)) * _STEP
        straight = np.sqrt(1 - bend**2)[:, None]
        across, along = -bend[:, None], 1j * straight
        z = c[:, None] + (across * (np.cosh(tau) - 1) + along * np.sinh(tau)) / scale[:, None]
        slope = (across * np.sinh(tau) + along * np.cosh(tau)) / scale[:, None]
        at_values = np.log(1 + sample.each_value(z) * (ratio - 1)[:, None])
        exponent = -sample.total(sample.units[:, None] * at_values) - np.log(1 - z) - np.log(z)
        terms = (np.exp(exponent - peak[:, None]) * slope).imag
        terms[:, tau == 0] /= 2
        total = total + terms.sum(axis=1)
        if (np.abs(terms[:, -1]) < _NEGLIGIBLE * np.abs(total)).all():
            break
    return total * _STEP / np.pi


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
        """Interval of the mean of each population, without a model of it: see `gaffke_bounds`.

        NaN for a group with a single unit, which says nothing about others, or with units without
        an estimate.
        """
        mass = self.number * self.weight
        total, square, units = (
            np.bincount(self.group, each, self.groups)
            for each in (mass, mass * self.weight, self.number)
        )
        known = ~np.isnan(np.bincount(self.group, self.values, self.groups)) & (units > 1)
        values = np.where(known[self.group], self.values, 0.0)
        # Equally heavy units count as their number, others as Kish's effective number.
        effective = mass * (total / square)[self.group]
        sample = Sample.merged(values, effective, self.group, self.groups)
        lo, hi = gaffke_bounds(sample, (1 - confidence) / 2)
        bias = np.bincount(self.group, mass * self.bias, self.groups) / total
        lo, hi = np.maximum(lo - bias, 0.0), np.minimum(hi + bias, 1.0)
        return Bounds(np.where(known, lo, np.nan), np.where(known, hi, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSample:
    """The questions of some groups as a sample, of single questions or of clusters."""

    questions: QuestionGroups
    # the same questions in their clusters, if any
    clusters: Clustered[QuestionGroups] | None = None

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
        """Standard deviation of the mean of each group (G,), from estimates of each state (S,).

        `independent` is the variance of the mean if all questions are independent; clusters may
        have a larger one. NaN for a single question, or a single cluster.
        """
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
    """Variance of the mean estimate of each group, if its free fit is the population.

    NaN for groups that are not `wanted`: in these every question needs an estimate.
    """
    found = np.full(len(fitted.groups), np.nan)
    for column in np.flatnonzero(wanted).tolist():
        group = fitted.groups[column]
        found[column] = _question_variance(group, metric) / group.size
    return found


def _question_variance(group: Group, metric: CreditSum) -> float:
    """Variance of the estimate of a question of the population: its noise, and between rates.

    The population is the free fit itself, not the posterior of the questions.
    """
    weight = group.free.weight
    share = np.array([level.questions.sum() / group.size for level in group.levels])
    at_rates = np.stack(
        [rate_moments(group.free.weight.size, level.n, [metric])[0] for level in group.levels]
    )
    mean, rest, noise = np.einsum("l,i,lix->x", share, weight, at_rates)
    # From the nearer bound: nothing large cancels.
    near, centre = (at_rates[..., 0], mean) if mean < rest else (at_rates[..., 1], rest)
    return float(noise + share @ (near - centre) ** 2 @ weight)
