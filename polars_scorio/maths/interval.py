"""The interval of a mean over questions, on one page.

The estimate is the unbiased mean; no model enters it. How noisy it is depends on how the success
rates of the questions are spread, which few trials do not show: 216 fixed populations of rates are
weighted by how well they explain the counts, and the variance of the estimate is averaged over
them. Where each question has twice the trials of a draw, the counts show the variance themselves,
and it is kept within what they show. The interval is that of C. J. Clopper and E. S. Pearson (1934,
Biometrika 26, 404-413) for the number of questions that would have this variance (E. L. Korn, B. I.
Graubard 1998, Survey Methodology 24, 193-201).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, row_slices
from polars_scorio.maths.credits import (
    EndDraw,
    GainsOf,
    credit_table,
    fixed_gains,
    state_estimates,
)
from polars_scorio.maths.draws import any_success
from polars_scorio.maths.families import inverted_z, standardized_differences, student_z
from polars_scorio.maths.populations import (
    LivePopulations,
    StateChances,
    fixed_populations,
    population_weights,
    unit_interval,
)
from polars_scorio.maths.posteriors import unit_weights, weighted_average, weighted_moments
from polars_scorio.maths.questions import QuestionGroups, States, Subgroups

if TYPE_CHECKING:
    from typing_extensions import Self

_DOUBLED = 4.0  # of the variance: the uniform prior may at most double the width
_UNSEEN = 1.15  # least factor where the counts do not show the variance
_NO_WEIGHT = 1e-14  # of a population; 1e-9 moves ends by up to 3e-6 where all trials agree
_GROUPS, _ROWS, _STATES = 512, 2**16, 512
_CACHED = 8  # arrays of a cache that a block may fill
_ALIKE = 1e-9  # relative difference of numbers of questions that are the same
_ROUNDING = 1e-12  # of a difference of squares
_DENSE = 0.2  # share of states that a group has, from which on matrices are dense


_Sums: TypeAlias = "Floats | scipy.sparse.csr_array"  # by group and state


class WeighedQuestions(NamedTuple):
    """Questions of some groups by state: R rows of one group, state and weight each."""

    n: Ints  # trials of each state, (S,)
    c: Ints
    group: Ints  # (R,), ascending
    state: Ints
    number: Floats  # questions of the row
    weight: Floats  # of one question in the mean; those of a group sum to 1
    groups: int

    def total(self, values: Floats) -> Floats:
        """Sums of values of rows, (G,)."""
        return np.bincount(self.group, values, self.groups).astype(np.float64)

    def sums(self, power: int) -> _Sums:
        """Sums over the questions in each state of a power of their weights, (G, S)."""
        shape, data = (self.groups, self.n.size), self.number * self.weight**power
        if self.group.size < _DENSE * shape[0] * shape[1]:
            return scipy.sparse.coo_array((data, (self.group, self.state)), shape=shape).tocsr()
        place = self.group * shape[1] + self.state
        return np.bincount(place, data, shape[0] * shape[1]).reshape(shape).astype(np.float64)

    def largest(self, values: Floats) -> Floats:
        """Largest product of values of a state (S, D) and a squared weight, of each group."""
        present, first = np.unique(self.group, return_index=True)
        largest = np.zeros((self.groups, values.shape[1]))
        each = self.weight[:, None] ** 2 * values[self.state]
        largest[present] = np.maximum.reduceat(each, first)
        return largest

    def blocks(self) -> Iterator[tuple[slice, WeighedQuestions]]:
        """The questions in blocks of groups with bounded memory, each with its own states."""
        ends, start = np.searchsorted(self.group, np.arange(self.groups + 1)), 0
        while start < self.groups:
            stop = int(np.searchsorted(ends, ends[start] + _ROWS, side="right")) - 1
            stop = min(max(stop, start + 1), start + _GROUPS, self.groups)
            rows = slice(int(ends[start]), int(ends[stop]))
            place, state = distinct_rows([self.n[self.state[rows]], self.state[rows]])
            first = self.state[rows][place]
            of_rows = self.group[rows] - start, state, self.number[rows], self.weight[rows]
            part = WeighedQuestions(self.n[first], self.c[first], *of_rows, stop - start)
            yield slice(start, stop), part
            start = stop


@dataclass(frozen=True, eq=False)  # no slots: sums are kept
class Weighted:
    """Groups of questions with the weight of each question in the mean of its group."""

    states: States
    strata: Subgroups[States] | None = None  # which weigh the same; None: all questions do

    @cached_property
    def questions(self) -> WeighedQuestions:
        """The questions by state and weight."""
        states, strata = self.states, self.strata
        counted = states.n, states.counts[:, 1]
        if strata is None:
            one = 1.0 / states.size[states.group]
            number = states.questions.astype(np.float64)
            return WeighedQuestions(
                *counted, states.group, states.state, number, one, states.groups
            )
        parts = strata.states
        number, weight = parts.questions.astype(np.float64), strata.shares[parts.group]
        group = strata.owner[parts.group]
        return WeighedQuestions(*counted, group, parts.state, number, weight, states.groups)

    @cached_property
    def effective(self) -> Floats:
        """Questions of equal weight that those of each group count as, (G,)."""
        questions = self.questions
        return np.asarray(1 / questions.total(questions.number * questions.weight**2))

    @cached_property
    def fewest(self) -> Ints:
        """Trials of the shortest question of each group, (G,)."""
        fewest = np.full(self.states.groups, np.iinfo(np.int64).max)
        np.minimum.at(fewest, self.states.group, self.states.n[self.states.state])
        return fewest

    @cached_property
    def single(self) -> Mask:
        """Groups of questions of equal weight with one trial each."""
        equal = np.abs(self.effective - self.states.size) <= _ALIKE * self.states.size
        return np.asarray((self.states.trials == self.states.size) & equal)

    def mean(self, values: Floats) -> Floats:
        """Mean of each group of values of each state, (..., S) to (..., G)."""
        states, strata = self.states, self.strata
        if strata is None or not states.groups:
            return states.mean(values)
        each = strata.shares[strata.states.group] * strata.states.questions
        weight = np.bincount(strata.pair_places(states), each, states.group.size)
        return states.sum_questions(values, weight)


class MeanNoise(NamedTuple):
    """Variance of means, (D, G) or (G,); NaN if k exceeds the trials of a question."""

    variance: Floats
    factor: Floats  # uncertainty of the variance, at least 1
    mean: Floats  # of the metric, as the populations expect it
    rest: Floats  # complement of the mean


def mean_noises(every: WeighedQuestions, draws: Sequence[GainsOf]) -> MeanNoise:
    """Variance of the means of D metrics that are a credit, (D, G): they share most work."""
    results = np.full((4, every.groups, len(draws)), np.nan)
    for groups, questions in every.blocks():
        evidence = _Evidence(questions)
        cells = (min(questions.n.size, _STATES) + questions.groups) * evidence.live.places.size
        for some in row_slices(len(draws), cells // _CACHED):
            results[:, groups, some] = _noise_of_mean(evidence, _metric_sums(evidence, draws[some]))
    return MeanNoise(*results.transpose(0, 2, 1))


def expected_correlations(asked: Weighted) -> Floats:
    """Intra-class correlation of each group, as the populations expect it, (G,)."""
    expected = np.empty(asked.states.groups)
    for groups, questions in asked.questions.blocks():
        evidence = _Evidence(questions)
        expected[groups] = evidence.weights @ fixed_populations().correlation[evidence.live.places]
    return expected


class _Evidence:
    """Some groups, with the weights of the populations that their counts leave."""

    def __init__(self, questions: WeighedQuestions) -> None:
        self.questions = questions
        self.powers = {power: questions.sums(power) for power in (0, 1, 2, 4)}
        self._first = StateChances(questions.n[:_STATES], questions.c[:_STATES])
        logs = np.zeros((questions.groups, 1))
        for rows, chances in self.blocks():
            logs = logs + self.powers[0][:, rows] @ chances.logs
        weights = population_weights(logs)
        live = np.flatnonzero(weights.max(axis=0, initial=0.0) > _NO_WEIGHT)
        self.live = LivePopulations.from_places(live)
        self.weights = np.ascontiguousarray(weights[:, live])

    def blocks(self) -> Iterator[tuple[slice, StateChances]]:
        """The states in blocks; chances of other blocks than the first one are made anew."""
        n, c = self.questions.n, self.questions.c
        for start in range(0, n.size, _STATES):
            rows = slice(start, start + _STATES)
            yield rows, StateChances(n[rows], c[rows]) if start else self._first


class _MetricSums(NamedTuple):
    """Sums over the questions of each group for D metrics, (G, D), or by population, (G, D, J)."""

    noises: Floats  # expected variance under each population, times the squared weight
    value: Floats  # expected metric and complement, times the weight
    rest: Floats
    noise: Floats  # `noises` over all populations
    squares: Floats  # squared noise, times the fourth power of the weight
    flat_value: Floats  # as the three of these under the uniform prior
    flat_rest: Floats
    flat_noise: Floats
    flat_squares: Floats
    unbiased: Floats  # what the counts show of the variance, times the squared weight
    unbiased_squares: Floats
    hidden: Floats  # questions that show nothing of it
    short: Floats  # questions with fewer trials than k
    largest: Floats  # size of what a question may show


def _metric_sums(evidence: _Evidence, draws: Sequence[GainsOf]) -> _MetricSums:
    """The sums of some metrics."""
    questions, weights = evidence.questions, evidence.weights
    largest, parts = np.zeros((questions.n.size, len(draws))), list[list[Floats]]()
    for rows, chances in evidence.blocks():
        number, one, two, four = (evidence.powers[power][:, rows] for power in (0, 1, 2, 4))
        asked = [
            each.gains if isinstance(each, EndDraw) and each.enough <= chances.n[0] else each
            for each in draws
        ]
        distinct = [*dict.fromkeys(asked)]
        place = [distinct.index(each) for each in asked]
        table = credit_table(chances, distinct, evidence.live)
        states, _, _, populations = table.means.shape
        noise = np.ascontiguousarray(table.means[:, 2]).reshape(states, -1)
        means = _state_means(weights, table.means, number)
        hidden, unbiased = np.isnan(table.unbiased), np.nan_to_num(table.unbiased)
        flat = (one @ table.flat[:, 0], one @ table.flat[:, 1], two @ table.flat[:, 2])
        largest[rows] = np.nan_to_num(table.largest)[:, place]
        sums = [
            (two @ noise).reshape(len(weights), -1, populations),
            *map(_state_sums, (one, one, two, four), (*means, means[2] ** 2)),
            *flat,
            four @ table.flat[:, 2] ** 2,
            two @ unbiased,
            four @ unbiased**2,
            number @ hidden.astype(np.float64),
            number @ table.short.astype(np.float64),
        ]
        parts.append(sums if distinct == asked else [np.take(each, place, axis=1) for each in sums])
    totals = [reduce(np.add, each) for each in zip(*parts, strict=True)]
    return _MetricSums(*[*totals, questions.largest(largest)])


def _state_means(weights: Floats, means: Floats, number: _Sums) -> Floats:
    """Numbers of each state over the populations of a group, (3, G, S, D), or of each pair."""
    if isinstance(number, np.ndarray):
        each: Floats = weights @ means.reshape(-1, means.shape[-1]).T
        return each.reshape(len(weights), *means.shape[:-1]).transpose(2, 0, 1, 3)
    pairs = number.tocoo()
    return np.asarray(np.einsum("rj,rmdj->mrd", weights[pairs.row], means[pairs.col]))


def _state_sums(power: _Sums, means: Floats) -> Floats:
    """Sums over the states of each group, (G, D)."""
    if isinstance(power, np.ndarray):
        return np.asarray(np.einsum("gs,gsd->gd", power, means))
    shape = power.shape[0], power.nnz
    ends = scipy.sparse.csr_array((power.data, np.arange(power.nnz), power.indptr), shape=shape)
    return np.asarray(ends @ means)


def _noise_of_mean(evidence: _Evidence, sums: _MetricSums) -> Floats:
    """Rules 3 to 5 of some metrics: the numbers of a `MeanNoise`, (4, G, D)."""
    number, smooth = evidence.questions.total(evidence.questions.number)[:, None], sums.noise
    square = np.einsum("gj,gdj,gdj->gd", evidence.weights, sums.noises, sums.noises)
    between = _squares_apart(square, smooth**2)

    def spread(squares: Floats, total: Floats) -> Floats:
        return _squares_apart(squares, total**2 / number)

    visible, flat = sums.hidden == 0, sums.flat_noise
    sampling = number / np.maximum(number - 1, 1) * spread(sums.unbiased_squares, sums.unbiased)
    off = np.where(visible, np.sqrt(sampling + sums.largest**2), np.inf)
    # The uniform prior may double the width, and what the counts show bounds both.
    bound = np.minimum(np.minimum(flat, _DOUBLED * smooth), sums.unbiased + off)
    least = np.where(visible, sums.unbiased - off, 0.0)
    above = bound > smooth
    share = np.where(above, (bound - smooth) / np.where(above, flat - smooth, 1.0), 0.0)
    variance = np.maximum(np.maximum(smooth, bound), least)
    mean = (1 - share) * sums.value + share * sums.flat_value
    rest = (1 - share) * sums.rest + share * sums.flat_rest
    of_nodes = (1 - share) ** 2 * (between + spread(sums.squares, smooth))
    error = np.sqrt(of_nodes + share**2 * spread(sums.flat_squares, flat))
    factor = 1 + np.divide(error, variance, out=np.zeros_like(error), where=variance > 0)
    factor = np.where(visible, factor, np.maximum(factor, _UNSEEN))
    known = sums.short == 0
    return np.where(known, [variance, factor, mean, rest], np.nan)


def _squares_apart(mean_square: Floats, squared_mean: Floats) -> Floats:
    """A variance, from numbers that differ by rounding if it is 0: its root would be 1e-8."""
    return np.where(squared_mean < (1 - _ROUNDING) * mean_square, mean_square - squared_mean, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMean(ABC):
    """A metric of each group and the noise of its estimate, (G,), on the unit scale of its range.

    Arrays of several metrics are (D, G). The estimate has its complement beside it: ``1 - x`` would
    lose the digits of a small rest.
    """

    estimate: Floats  # unbiased; NaN if k exceeds the trials of some question
    rest: Floats
    variance: Floats
    low: Floats | float = field(default=0.0, kw_only=True)  # least value of the metric
    width: Floats | float = field(default=1.0, kw_only=True)  # largest value less `low`
    bounded: bool = field(default=True, kw_only=True)  # False: no range (negative powers)

    @property
    def mu(self) -> Floats:
        """The estimate on the scale of the metric."""
        return np.asarray(self.low + self.width * self.estimate)

    @property
    def sigma(self) -> Floats:
        """Root of the variance, on the scale of the metric, not widened."""
        return np.asarray(self.width * np.sqrt(self.variance))

    @property
    def trial_noise(self) -> Floats:
        """Squared noise of the trials, with what is uncertain of it."""
        return self.sigma**2

    @property
    def arrays(self) -> dict[str, Any]:
        """The numbers of each group; others are those of all."""
        each = ((name.name, getattr(self, name.name)) for name in fields(self))
        return {name: numbers for name, numbers in each if isinstance(numbers, np.ndarray)}

    def at(self, groups: Ints | int) -> Self:
        """Some groups, in the given order."""
        return replace(self, **{name: each[groups] for name, each in self.arrays.items()})

    @abstractmethod
    def ends(self, tail: Floats | float) -> tuple[Floats, Floats]:
        """Interval of each estimate on the scale of the metric, by the chance beyond either end."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(NoisyMean):
    """A metric of success or categories, with the right or wrong questions that it counts as."""

    factor: Floats  # uncertainty of the variance, at least 1
    effective: Floats  # right or wrong questions that have this variance; infinite if it is 0

    @classmethod
    def from_noise(
        cls, estimate: Floats, rest: Floats, mean_noise: MeanNoise, number: Floats
    ) -> Estimate:
        """The estimate of `number` questions, by the variance of its mean (rule 6)."""
        variance, factor, mean, mean_rest = mean_noise
        square = np.minimum(estimate, rest) ** 2
        both = square + variance
        share = np.divide(square, both, out=np.zeros_like(both), where=both != 0)
        expected = np.maximum(mean * mean_rest, variance * number)
        wanted, noise = share * estimate * rest + (1 - share) * expected, variance * factor
        none = np.full_like(noise, np.inf)
        effective = np.divide(wanted, noise, out=none, where=noise != 0)
        return cls(estimate, rest, variance, factor, effective)

    @property
    def trial_noise(self) -> Floats:
        """Squared noise of the trials, with what is uncertain of it."""
        # Single trials that agree have no sigma, but their interval knows what they do not show.
        lo, hi = self.ends(scipy.special.ndtr(-1.0))
        return np.where(self.sigma == 0, (hi - lo) ** 2, self.sigma**2 * self.factor)

    def ends(self, tail: Floats | float) -> tuple[Floats, Floats]:
        """Interval on the scale of the metric, by the chance beyond either end."""
        if not self.bounded:
            noise = self.width * -scipy.special.ndtri(tail) * np.sqrt(self.variance * self.factor)
            return self.mu - noise, self.mu + noise
        lo, hi = unit_interval(self.estimate, self.rest, self.effective, tail)
        return self.low + self.width * lo, self.low + self.width * hi


def credit_estimates(asked: Weighted, draws: Sequence[GainsOf]) -> Estimate:
    """Estimates of D metrics that are a credit, about these questions, (D, G)."""
    noises = mean_noises(asked.questions, draws)
    each = [asked.mean(np.stack(state_estimates(asked.states, gains))) for gains in draws]
    estimate, rest = np.stack(each, axis=1)
    for place, gains in enumerate(draws):
        if isinstance(gains, EndDraw):
            sure = asked.mean(gains.sure(asked.states.n))
            noises.mean[place] += sure
            noises.rest[place] -= sure
    noisy = Estimate.from_noise(estimate, rest, noises, asked.effective)
    # One trial each: W. Hoeffding (1956), Ann. Math. Statist. 27, 713-721 (rule 7).
    single, size = asked.single & ~np.isnan(estimate), asked.states.size
    if single.any():
        noisy = replace(
            noisy,
            variance=np.where(single, estimate * rest / size, noisy.variance),
            factor=np.where(single, 1.0, noisy.factor),
            effective=np.where(single, size, noisy.effective),
        )
    return noisy


def expected_effective(number: Floats, rate: float) -> float:
    """Effective questions of a mean of successes, from questions with 0, 1, ..., n of them."""
    size, c = number.sum(), np.arange(number.size)
    weight = np.full(number.size, 1 / size)
    asked = WeighedQuestions(np.full_like(c, c[-1]), c, 0 * c, c, number, weight, 1)
    noise, estimate = mean_noises(asked, [fixed_gains(any_success(1))]), np.array([[rate]])
    return Estimate.from_noise(estimate, 1 - estimate, noise, size).effective.item()


_MOST_SINGLE = 1.5  # effective questions of single trials, over their number


def average_estimate(
    states: States, w: Floats, strata: Subgroups[States] | None = None
) -> Estimate:
    """The average weight of three or more categories, about these questions."""
    asked, (unit, low, width) = Weighted(states, strata), unit_weights(w)
    mean, rest = (asked.mean(weighted_average(states.counts, each)) for each in (unit, 1 - unit))
    noisy = Estimate.from_noise(mean, rest, _average_noise(asked, unit, mean), asked.effective)
    # Single trials show nothing of the noise of a question, but values inside the range bound it.
    most = np.where(states.trials == states.size, _MOST_SINGLE * asked.effective, np.inf)
    return replace(noisy, effective=np.minimum(noisy.effective, most), low=low, width=width)


def _average_noise(asked: Weighted, unit: Floats, mean: Floats) -> MeanNoise:
    """Variance of the average: by the uniform prior, up to what two trials of each question show.

    If no question has two trials, the variance between the questions.
    """
    states, questions = asked.states, asked.questions
    n, row, number = states.n, questions.state, states.size
    nu = (1 + states.counts).astype(np.float64)
    posterior, variance = weighted_moments(nu, unit)
    flat = (n + states.counts.shape[1]) * variance / n
    unbiased, largest = _seen_noise(states.counts, unit)
    second, fourth = (questions.number * questions.weight**power for power in (2, 4))

    def totals(noise: Floats) -> tuple[Floats, Floats]:
        total = questions.total(second * noise[row])
        return total, _squares_apart(questions.total(fourth * noise[row] ** 2), total**2 / number)

    (total, spread), (known, scatter) = totals(flat), totals(unbiased)
    most = questions.largest(largest[:, None])[:, 0]
    off = np.sqrt(number / np.maximum(number - 1, 1) * scatter + most**2)
    visible, single = asked.fewest > 1, states.trials == number
    noise = np.where(visible, np.minimum(total, known + off), total)
    error = np.divide(np.sqrt(spread), noise, out=np.zeros_like(noise), where=noise > 0)
    factor = np.where(visible, 1 + error, np.maximum(1 + error, _UNSEEN))
    away = (states.counts @ unit / n)[row] - mean[questions.group]
    between = questions.total(questions.number * questions.weight * away**2) / asked.effective
    noise, factor = np.where(single, between, noise), np.where(single, 1.0, factor)
    mean = asked.mean(posterior)
    return MeanNoise(noise, factor, mean, 1 - mean)


def _seen_noise(counts: Ints, unit: Floats) -> tuple[Floats, Floats]:
    """Unbiased variance of the average of each state, 0 for one trial, and the largest there is."""
    n = counts.sum(axis=1).astype(np.float64)
    square = (counts * (unit - (counts @ unit / n)[:, None]) ** 2).sum(axis=1)
    ways = np.maximum(n - 1, 1) * n
    # The largest if half of the trials are at either end.
    return np.where(n > 1, square / ways, 0.0), (n // 2) * (n - n // 2) / n / ways


class Student(NamedTuple):
    """Centre of an interval by Student's t, its standard error, and its degrees of freedom."""

    centre: Floats
    error: Floats
    freedom: Floats

    def ends(self, tail: Floats | float) -> tuple[Floats, Floats]:
        """Ends by the chance beyond either end."""
        half = -scipy.special.stdtrit(self.freedom, tail) * self.error
        return self.centre - half, self.centre + half

    @property
    def z(self) -> Floats:
        """Normal values with the tails of Student's."""
        return student_z(standardized_differences(self.centre, self.error), self.freedom)

    def in_units(self, unit: Floats | float) -> Student:
        """The interval on a scale with a unit: squares of large numbers would be too large."""
        return Student(unit * self.centre, unit * self.error, self.freedom)


def plus_two(
    mean: Floats,
    spread: Floats,
    number: Floats,
    middle: Floats | float = 0.5,
    reach: float = 0.5,
) -> Student:
    """Mean of a population of which `number` questions with this mean and variance are a sample.

    A question at either end of the range, ``middle -+ reach``, joins them: the mean of "plus four"
    (A. Agresti, B. A. Coull 1998, The American Statistician 52, 119-126).
    """
    size = number + 2
    share, away = number / size, mean - middle
    variance = (share * (spread + 2 * away**2 / size) + 2 * reach**2 / size) / (number + 1)
    return Student(middle + share * away, np.sqrt(variance), number + 1)


@dataclass(frozen=True, slots=True, eq=False)
class UnitSample:
    """Independent units of G groups: questions, or clusters of them."""

    values: Floats  # unbiased estimate of a unit, in [0, 1]; NaN if none, (P,)
    weight: Floats  # in the mean of its group, on any scale, (P,)
    number: Ints  # units with this value and weight, (P,)
    group: Ints
    groups: int
    bias: Floats | float = 0.0  # largest bias of the estimate, added to the interval on each side
    single: Mask | None = None  # groups of questions of equal weight that are right or wrong

    def student(self) -> Student:
        """Mean of each population with two more units; NaN for a single unit."""
        # In one order: sums then do not depend on that of the rows.
        order = np.lexsort((self.weight, self.values, self.group))
        values, weight, number, group = (
            each[order] for each in (self.values, self.weight, self.number, self.group)
        )
        mass, groups = number * weight, self.groups
        total = np.bincount(group, mass, groups)
        mean = np.bincount(group, mass * values, groups) / total
        spread = np.bincount(group, mass * (values - mean[group]) ** 2, groups) / total
        effective = total**2 / np.bincount(group, mass * weight, groups)
        return plus_two(mean, spread, np.where(self.units > 1, effective, np.nan))

    @property
    def units(self) -> Floats:
        """Units of each group."""
        return np.bincount(self.group, self.number, self.groups).astype(np.float64)

    @property
    def mean_bias(self) -> Floats:
        """The largest bias of the mean of each group."""
        mass = self.number * self.weight
        total = np.bincount(self.group, mass, self.groups)
        return np.asarray(np.bincount(self.group, mass * self.bias, self.groups) / total)


def population_ends(
    student: Student,
    mean: Floats,
    number: Floats,
    tail: Floats | float,
    bias: Floats | float = 0.0,
    single: Mask | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Ends and standard error of means over populations, in [0, 1]; NaN for a single unit.

    The largest bias is added on each side. Means of `single` right or wrong questions of equal
    weight have the interval of so many.
    """
    lo, hi = student.ends(tail)
    lo, hi, error = np.clip(lo - bias, 0.0, 1.0), np.clip(hi + bias, 0.0, 1.0), student.error
    if single is not None:
        exact = *unit_interval(mean, 1 - mean, number, tail), np.sqrt(mean * (1 - mean) / number)
        alone, of_all = single & (number > 1), (lo, hi, error)
        lo, hi, error = (np.where(alone, *each) for each in zip(exact, of_all, strict=True))
    # The interval is not centred on the mean, which may lie beyond a short one.
    return np.minimum(lo, mean), np.maximum(hi, mean), error


def question_units(
    questions: QuestionGroups,
    values: Floats,
    clusters: Subgroups[Any] | None = None,
    strata: Subgroups[Any] | None = None,
    bias: Floats | None = None,
) -> UnitSample:
    """Questions as a sample, by the weights of strata; or their clusters, by their sizes."""
    # `values` and their largest `bias` are those of each pair of a group and a kind, (P,).
    bias = np.zeros_like(values) if bias is None else bias
    if clusters is not None:
        values, bias = (clusters.means(questions, each) for each in (values, bias))
        size, one = clusters.states.size.astype(np.float64), np.ones_like(clusters.owner)
        return UnitSample(values, size, one, clusters.owner, questions.groups, bias)
    if strata is None:
        of_pairs = np.ones(values.size), questions.questions, questions.group
        return UnitSample(values, *of_pairs, questions.groups, bias)
    place, parts = strata.pair_places(questions), strata.states
    weight, group = strata.shares[parts.group], strata.owner[parts.group]
    return UnitSample(values[place], weight, parts.questions, group, strata.groups, bias[place])


def excludes_zero(lo: Floats, hi: Floats) -> Mask:
    """Whether both ends of intervals lie on one side of zero."""
    return np.asarray((lo > 0) | (hi < 0))


_NO_TAIL = 1e-15  # chance beyond an end from which on nothing is known


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPairs:
    """Pairs of models on these questions, arrays (S, P).

    By the intervals of both (G. Y. Zou, A. Donner 2008, Statistics in Medicine 27, 1693-1702), or
    by paired differences if each of several questions has one trial of both.
    """

    side: NoisyMean  # all models
    a: Ints  # places of both models of each pair
    b: Ints
    paired: Student  # differences; NaN if a pair has several trials

    @classmethod
    def from_side(
        cls, side: NoisyMean, strata: int, a: Ints, b: Ints, paired: Student | None = None
    ) -> MeasuredPairs:
        """Pairs of columns, (P,) or (S, P); `side` has as many models of each stratum, in turn."""
        # `paired` has the differences of models with one trial of each question, in units of width.
        first = np.arange(strata)[:, None] * (side.mu.size // max(strata, 1))
        a, b = np.broadcast_arrays(first + a, first + b)
        if paired is None:
            return cls(side, a, b, Student(*np.full((3, *a.shape), np.nan)))
        return cls(side, a, b, paired.in_units(side.width))

    @classmethod
    def joined(cls, parts: Sequence[MeasuredPairs]) -> MeasuredPairs | None:
        """The pairs of several metrics of one range, one below the other; None of other metrics."""
        sides = [part.side for part in parts if isinstance(part.side, Estimate)]
        ranges = {(one.low, one.width, one.bounded) for one in sides}
        if len(ranges) != 1 or len(sides) < len(parts):
            return None
        first = np.cumsum([0, *(one.mu.size for one in sides[:-1])])
        starts = [*zip(first, parts, strict=True)]
        a, b = (
            np.concatenate([start + getattr(part, side) for start, part in starts])
            for side in ("a", "b")
        )
        paired = Student(*map(np.concatenate, zip(*(part.paired for part in parts), strict=True)))
        arrays = zip(*(one.arrays.values() for one in sides), strict=True)
        whole: dict[str, Any] = dict(zip(sides[0].arrays, map(np.concatenate, arrays), strict=True))
        return cls(replace(sides[0], **whole), a, b, paired)

    @property
    def diff(self) -> Floats:
        """The differences of the estimates."""
        mu = self.side.mu
        return np.asarray(mu[self.a] - mu[self.b])

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        sigma = self.side.sigma
        apart = np.hypot(sigma[self.a], sigma[self.b])
        return np.where(self._by_questions, self.paired.error, apart)

    @property
    def z(self) -> Floats:
        """Signed critical values at which the intervals stop to hold zero."""
        z, some = self.paired.z, ~self._by_questions
        if some.any():
            paired = Student(*(each[some][None] for each in self.paired))
            rest = MeasuredPairs(self.side, self.a[some][None], self.b[some][None], paired)
            z[some] = inverted_z(rest.ends, rest.diff)[0]
        return z

    @property
    def _by_questions(self) -> Mask:
        return ~np.isnan(self.paired.centre)

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        return excludes_zero(*self.ends(c))

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        c = np.broadcast_to(c, self.a.shape)
        mu, tail, width = self.side.mu, scipy.special.ndtr(-c), self.side.width
        (lo_a, hi_a), (lo_b, hi_b) = self._ends_of(self.a, self.b, tail)
        mu_a, mu_b = mu[self.a], mu[self.b]
        lo = mu_a - mu_b - np.hypot(mu_a - lo_a, hi_b - mu_b)
        hi = mu_a - mu_b + np.hypot(hi_a - mu_a, mu_b - lo_b)
        if self._by_questions.any():
            lo, hi = (
                np.where(self._by_questions, end, apart)
                for end, apart in zip(self.paired.ends(tail), (lo, hi), strict=True)
            )
        top = width[self.a] if isinstance(width, np.ndarray) else width
        top = top if self.side.bounded else np.inf
        lo, hi = (np.where(tail < _NO_TAIL, far * top, end) for far, end in ((-1, lo), (1, hi)))
        lo, hi = (np.minimum(np.maximum(end, -top), top) for end in (lo, hi))
        return lo, hi

    def _ends_of(self, a: Ints, b: Ints, tail: Floats) -> list[tuple[Floats, Floats]]:
        """Ends of both models of each pair, computed once for each model and tail."""
        (levels, level), both = np.unique(tail, return_inverse=True), np.stack([a, b])
        if 2 * levels.size >= a.size:  # few pairs share a value
            lo, hi = self.side.at(both).ends(np.broadcast_to(tail, both.shape))
            return [(lo[0], hi[0]), (lo[1], hi[1])]
        wanted = both * levels.size + level.reshape(tail.shape)
        code, place = np.unique(wanted.ravel(), return_inverse=True)
        ends = self.side.at(code // levels.size).ends(levels[code % levels.size])
        lo, hi = (end[place].reshape(wanted.shape) for end in ends)
        return [(lo[0], hi[0]), (lo[1], hi[1])]
