"""Differences of two models on the same questions: variance by their trials, or by their pairs.

Trials are independent given the question, so two variances are right for a difference on these very
questions: that of the trials of both models, and that of the paired differences between the
questions, which is on average at least as large. A pair uses the second only if it makes the
interval clearly shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, row_slices
from polars_scorio.maths.families import (
    anytime_critical,
    beta_score,
    inverted_z,
    look_z,
    standardized_differences,
    student_z,
)
from polars_scorio.maths.posteriors import beta_interval
from polars_scorio.maths.price import Price, bound_distance, effective_questions, unit_interval
from polars_scorio.maths.run_effects import RunVariance, widened

if TYPE_CHECKING:
    from typing_extensions import Self

# The critical value at which a pair gets its price, whatever the confidence: intervals grow with
# the confidence.
CHOICE = 1.959963984540054
# The paired price is taken if the interval of the trials is not shorter than this share of it. At
# .9 up to 7 % of families of 20 equal models had a false winner, at .85 6 % (nominal 5 %).
_CLEARLY_SHORTER = 0.85
_LEAST_SHARE = 0.001
_ROUNDING = 1e-12  # in units of the range of a metric


class Reach(NamedTuple):
    """How far a model reaches in a comparison, each of shape (G,), on the unit scale."""

    noise: Floats  # priced noise, as far as the estimate is from the bounds
    down: Floats  # what its interval adds near a bound, likewise `up`
    up: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ComparedPrice:
    """Variance of estimates that are compared on these very questions."""

    price: Price  # its factor is raised if no question has more than one trial
    most: Floats  # questions an estimate may be worth; inf with several trials

    @classmethod
    def floored(cls, price: Price, variance: Floats, most: Floats) -> ComparedPrice:
        """Raise a price to `variance`, that of the mean between the questions, on the unit scale.

        A single trial says nothing about the noise given the question, so the variance between
        questions is the largest noise that the counts allow. Questions with several trials:
        variance 0, `most` infinite.
        """
        least = np.divide(variance, price.variance, out=0 * variance, where=price.variance > 0)
        return cls(replace(price, factor=np.maximum(price.factor, least)), most)

    @property
    def is_single(self) -> Mask:
        """Whether no question of an estimate has more than one trial."""
        return np.isfinite(self.most)

    @property
    def hides_noise(self) -> Mask:
        """Whether single trials are all right, or all wrong."""
        return np.asarray(self.is_single & (bound_distance(self.price) == 0))

    def at(self, groups: Ints) -> ComparedPrice:
        """Prices of some groups, in the given order."""
        return ComparedPrice(self.price.at(groups), self.most[groups])

    def ends(self, tail: Floats) -> tuple[Floats, Floats]:
        """Interval of each estimate, on the scale of the metric, by its tail."""
        price = self.price
        if not price.bounded:
            noise = -scipy.special.ndtri(tail) * np.sqrt(price.variance * price.factor)
            return price.mu - price.width * noise, price.mu + price.width * noise
        questions = np.minimum(effective_questions(price), self.most)
        lo, hi = unit_interval(price, questions, tail)
        return price.low + price.width * lo, price.low + price.width * hi

    def uncertain_variance(self) -> Floats:
        """Variance on the scale of the metric, with what is uncertain of it."""
        price = self.price
        return np.asarray(price.width**2 * price.variance * price.factor)

    def reach(self, c: Floats | float) -> Reach:
        """How far each estimate reaches at a critical value."""
        price = self.price
        noise = c * np.sqrt(price.variance * price.factor)
        if not price.bounded:
            return Reach(noise, 0 * noise, 0 * noise)
        distance = bound_distance(price)
        questions = np.minimum(effective_questions(price), self.most)
        lo, hi = unit_interval(price, questions, scipy.special.ndtr(-np.asarray(c)))
        left = 1 - distance
        return Reach(distance * noise, left * (price.estimate - lo), left * (hi - price.estimate))


class ComparedSide(Protocol):
    """One side of each pair: a `ComparedPrice`, or one of other kinds of estimates."""

    @property
    def price(self) -> SidePrice:
        """The estimates with their noise."""

    def at(self, groups: Ints) -> Self:
        """Prices of some groups, in the given order."""

    def ends(self, tail: Floats) -> tuple[Floats, Floats]:
        """Interval of each estimate, by its tail."""

    def uncertain_variance(self) -> Floats | None:
        """Variance on the scale of the metric, widened by its own noise; None: unknown."""

    def reach(self, c: Floats | float) -> Reach:
        """How far each estimate reaches at a critical value."""


class SidePrice(Protocol):
    """Estimates and noise of one side of a difference."""

    @property
    def mu(self) -> Floats:
        """The estimates on the scale of the metric."""

    @property
    def sigma(self) -> Floats:
        """Their standard deviations."""

    @property
    def width(self) -> Floats | float:
        """The range of the metric."""

    @property
    def bounded(self) -> bool:
        """Whether the metric has that range."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedPrice:
    """Variance of differences by the paired differences of the questions, on the unit scale."""

    variance: Floats  # shape (P,); NaN if there is none
    freedom: Floats  # of Student's t, (P,), or (S, 1) if pairs share it

    def half_width(self, c: Floats | float) -> Floats:
        """Half the width of the intervals at a critical value, by its tail."""
        return np.asarray(-self._student_quantile(np.asarray(c)) * np.sqrt(self.variance))

    def _student_quantile(self, c: Floats) -> Floats:
        """Student's quantile with the tail of a critical value, once for each stratum and value."""
        if c.ndim == self.freedom.ndim == 2:  # strata and pairs
            values, place = np.unique(c, return_inverse=True)
            if values.size * self.freedom.size < c.size:
                of_values = scipy.special.stdtrit(self.freedom, scipy.special.ndtr(-values))
                return np.asarray(np.take_along_axis(of_values, place.reshape(c.shape), axis=1))
        return np.asarray(scipy.special.stdtrit(self.freedom, scipy.special.ndtr(-c)))


def paired_variance(gaps: Floats, weight: Floats) -> Floats:
    """Variance of mean paired differences, with an allowance for differences not yet observed.

    `gaps` (M, P) are differences of the estimates of each question on the unit scale, `weight` the
    share of each question in the mean. As for a sample of questions (`covariance.means_together`);
    NaN for one question.
    """
    questions = len(gaps)
    if questions <= 1:
        return np.full(gaps.shape[1], np.nan)
    number = float(1 / (weight @ weight))
    away = gaps - weight @ gaps
    # Differences that are all the same leave rounding errors, which would count as evidence.
    parts = np.where(np.abs(away) > _ROUNDING, away, 0.0) * weight[:, None]
    squares = parts**2
    square, fourth = squares.sum(axis=0), (squares**2).sum(axis=0)
    events = np.divide(square**2, fourth, out=np.zeros_like(square), where=fourth > 0)
    seen = square * (questions / (questions - 1))
    missed = (number**2 * seen + 2) / ((events + 1) * number * (number + 1))
    return np.asarray(seen + missed)


def takes_pairs(
    first: ComparedSide, second: ComparedSide, one: Reach, other: Reach, paired: PairedPrice
) -> Mask:
    """Pairs that use the paired variance, given how far both sides reach at `CHOICE`.

    Not those where single trials that all agree show no noise: 10 % of 2,000 logs of five models at
    .8 on 15 questions with 1, 4 or 16 trials had a false winner before.
    """
    down, up = _trial_reach(first, second, one, other, CHOICE)
    # Without a paired price the comparison with NaN leaves the price of the trials.
    longer = np.maximum(down, up) >= _CLEARLY_SHORTER * paired.half_width(CHOICE)
    if isinstance(first, ComparedPrice) and isinstance(second, ComparedPrice):
        longer &= ~(first.hides_noise & ~second.is_single | second.hides_noise & ~first.is_single)
    return np.asarray(longer)


def interval_ends(
    first: ComparedSide,
    second: ComparedSide,
    reaches: tuple[Reach, Reach],
    paired: PairedPrice,
    by_pairs: Mask,
    c: Floats | float,
) -> tuple[Floats, Floats]:
    """Ends of the intervals at a critical value, given how far both sides reach at it."""
    down, up = _trial_reach(first, second, *reaches, c)
    half = paired.half_width(c)
    down, up = (np.where(by_pairs, half, reach) for reach in (down, up))
    diff, width = first.price.mu - second.price.mu, first.price.width
    top = width if first.price.bounded else np.inf
    return np.clip(diff - width * down, -top, top), np.clip(diff + width * up, -top, top)


def _trial_reach(
    first: ComparedSide, second: ComparedSide, one: Reach, other: Reach, c: Floats | float
) -> tuple[Floats, Floats]:
    """How far differences reach down and up by the price of the trials, on the unit scale."""
    root: Floats | float = 1.0
    if isinstance(first, ComparedPrice) and isinstance(second, ComparedPrice):
        root = np.sqrt(_noise_share(first.price, second.price, c))
    first_noise, second_noise = one.noise / root, other.noise / root
    down = np.hypot(first_noise + one.down, second_noise + other.up)
    return down, np.hypot(first_noise + one.up, second_noise + other.down)


def _noise_share(first: Price, second: Price, c: Floats | float) -> Floats:
    """Share of the noise at two equal rates that is left at the rates of each pair.

    Rates of models that were found to differ are far apart by selection. If both had the same rate,
    the variance V would be ``V (1 + d^2 / (2 S))``, S the sum of ``u (1 - u)``; solved for the d
    just decided at `c`.
    """
    spread = first.estimate * first.rest + second.estimate * second.rest
    variance = first.variance * first.factor + second.variance * second.factor
    if not first.bounded:
        return np.ones_like(variance)
    lost = np.divide(c**2 * variance, 2 * spread, out=np.zeros_like(variance), where=spread > 0)
    return np.asarray(np.maximum(1 - lost, _LEAST_SHARE))


_MOST_MODELS = 2_000  # of which the variances of all pairs are kept: 32 MB


@dataclass(frozen=True, eq=False)  # no slots: the variances of all pairs are kept
class QuestionValues:
    """Estimates of the questions that the models of a stratum share, on the unit scale."""

    values: Floats  # (M, L); empty if the metric has none of single questions
    weight: Floats  # share of each question in the mean, (M,)

    def mean_variance(self) -> Floats:
        """Variance of the mean of each model between the questions, shape (L,)."""
        away = self.values - self.weight @ self.values
        return np.asarray((self.weight**2) @ away**2)

    @property
    def known(self) -> bool:
        """Whether the metric has estimates of single questions."""
        return bool(self.values.size)

    @property
    def number(self) -> float:
        """Number of questions; of unequal ones, the equal ones with the same squared weights."""
        return float(1 / (self.weight @ self.weight)) if self.known else np.nan

    def pair_variances(self, a: Ints, b: Ints) -> Floats:
        """`paired_variance` of pairs of columns, shape (P,)."""
        if not self.known:
            return np.full(a.size, np.nan)
        models = self.values.shape[1]
        known = "_all_pair_variances" in self.__dict__
        if known or (models <= _MOST_MODELS and 2 * a.size >= models * (models - 1)):
            return np.asarray(self._all_pair_variances[a, b])
        return self._each_pair_variance(a, b)

    @cached_property
    def _all_pair_variances(self) -> Floats:
        """`paired_variance` of all pairs of columns, shape (L, L), which rankings ask for often."""
        models = self.values.shape[1]
        a, b = np.triu_indices(models)
        every = np.empty((models, models))
        every[a, b] = every[b, a] = self._each_pair_variance(a, b)
        return every

    def _each_pair_variance(self, a: Ints, b: Ints) -> Floats:
        """`paired_variance` of pairs of columns, some at a time."""
        values = np.empty(a.size)
        for part in row_slices(a.size, len(self.values)):
            gaps = self.values[:, a[part]] - self.values[:, b[part]]
            values[part] = paired_variance(gaps, self.weight)
        return values


class Pairs(Protocol):
    """Pairs of models of some strata, (S, P): what the law of their scores knows of differences."""

    @property
    def diff(self) -> Floats:
        """The differences; NaN without estimates."""

    @property
    def sigma(self) -> Floats:
        """Their standard deviations."""

    @property
    def z(self) -> Floats:
        """Signed critical values at which the intervals stop to hold zero; see `inverted_z`."""

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals, not clipped, by normal critical values of shape (S, P)."""

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""

    def of_strata(self, strata: Ints) -> Pairs:
        """The pairs of some of the strata."""


def _without_zero(ends: tuple[Floats, Floats]) -> Mask:
    """Intervals that exclude zero."""
    return np.asarray((ends[0] > 0) | (ends[1] < 0))


# Value, sigma, and how far the interval reaches down and up at a critical value of 1.
Side: TypeAlias = "tuple[Floats, Floats, Floats, Floats]"


@dataclass(frozen=True, slots=True, eq=False)
class ReachPairs:
    """Pairs that reach so many times `down` and `up` as the critical value says."""

    gap: Floats
    sigma: Floats
    down: Floats
    up: Floats
    most: float = np.inf  # the largest difference that there is: estimates may be farther apart

    @classmethod
    def of(cls, one: Side, other: Side) -> ReachPairs:
        """Pairs of models with independent errors.

        >>> three, four = (tuple(np.array([x]) for x in (1.0, y, y, y)) for y in (3.0, 4.0))
        >>> print(*ReachPairs.of(three, four).ends(np.array([1.0])))
        [-5.] [5.]
        """
        (value, sigma, down, up), (less, noise, below, above) = one, other
        reaches = np.hypot(down, above), np.hypot(up, below)
        return cls(value - less, np.hypot(sigma, noise), *reaches)

    @property
    def diff(self) -> Floats:
        """The differences."""
        return np.clip(self.gap, -self.most, self.most)

    @property
    def z(self) -> Floats:
        """Differences in units of how far they reach."""
        return standardized_differences(self.gap, np.where(self.gap > 0, self.down, self.up))

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        return self.gap - c * self.down, self.gap + c * self.up

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        return _without_zero(self.ends(c))

    def of_strata(self, strata: Ints) -> ReachPairs:
        """The pairs of some of the strata."""
        gap, sigma, down, up = (each[strata] for each in (self.gap, self.sigma, self.down, self.up))
        return ReachPairs(gap, sigma, down, up, self.most)


@dataclass(frozen=True, slots=True, eq=False)
class BetaPairs:
    """Pairs of posterior means, whose differences are Beta on the range of the metric."""

    diff: Floats
    sigma: Floats
    range: float  # the largest difference

    @property
    def z(self) -> Floats:
        """By the chance that the difference has the sign of its mean."""
        z = np.abs(standardized_differences(self.diff, self.sigma))
        size = beta_score(np.abs(self.diff) / self.range, self.sigma / self.range, z)
        return np.asarray(np.sign(self.diff) * size)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        confidence, most = 2 * scipy.special.ndtr(c) - 1, self.range
        return beta_interval(self.diff, self.sigma, confidence, (-most, most))

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero, without a quantile."""
        return np.asarray(np.abs(self.z) > c)

    def of_strata(self, strata: Ints) -> BetaPairs:
        """The pairs of some of the strata."""
        return BetaPairs(self.diff[strata], self.sigma[strata], self.range)


@dataclass(frozen=True, slots=True, eq=False)
class StudentPairs:
    """Pairs of means over a sample of questions, with the degrees of freedom of each stratum."""

    of_unit: Floats  # differences, in units
    paired: PairedPrice  # in units, as squares of large numbers are too large
    unit: Floats  # (S, 1)

    @property
    def diff(self) -> Floats:
        """The differences."""
        return self.unit * self.of_unit

    @property
    def sigma(self) -> Floats:
        """Standard errors of the differences."""
        return self.unit * np.sqrt(self.paired.variance)

    @property
    def z(self) -> Floats:
        """Normal values with the tails of Student's."""
        t = standardized_differences(self.of_unit, np.sqrt(self.paired.variance))
        return student_z(t, self.paired.freedom)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        half = self.paired.half_width(c)
        return self.unit * (self.of_unit - half), self.unit * (self.of_unit + half)

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        return np.asarray(np.abs(self.of_unit) > self.paired.half_width(c))

    def of_strata(self, strata: Ints) -> StudentPairs:
        """The pairs of some of the strata."""
        paired = PairedPrice(self.paired.variance[strata], self.paired.freedom[strata])
        return StudentPairs(self.of_unit[strata], paired, self.unit[strata])


@dataclass(frozen=True, slots=True, eq=False)
class PricedPairs:
    """Pairs with the price of their trials, or of their paired differences, arrays (S, P)."""

    price: ComparedSide  # of all models
    a: Ints  # places of both models of each pair
    b: Ints
    paired: PairedPrice
    by_pairs: Mask  # whether a pair uses the paired price

    @classmethod
    def of(cls, price: ComparedSide, a: Ints, b: Ints, paired: PairedPrice) -> PricedPairs:
        """Pairs of models, after the choice of the price of each."""
        reaches = pair_reaches(price, a, b, np.full((len(a), 1), CHOICE))
        return cls(price, a, b, paired, takes_pairs(price.at(a), price.at(b), *reaches, paired))

    @property
    def diff(self) -> Floats:
        """The differences of the estimates."""
        mu = self.price.price.mu
        return np.asarray(mu[self.a] - mu[self.b])

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        price, other = self.price.at(self.a).price, self.price.at(self.b).price
        by_trials = np.hypot(price.sigma, other.sigma)
        by_pairs = price.width * np.sqrt(self.paired.variance)
        return np.where(self.by_pairs, by_pairs, by_trials)

    @property
    def z(self) -> Floats:
        """By the paired price in closed form; by that of the trials a root for each pair."""
        diff, width = self.diff, self.price.at(self.a).price.width
        t = standardized_differences(diff, width * np.sqrt(self.paired.variance))
        z = student_z(t, self.paired.freedom)
        if not self.by_pairs.all():
            some = ~self.by_pairs
            freedom = np.broadcast_to(self.paired.freedom, some.shape)[some][None]
            paired = PairedPrice(self.paired.variance[some][None], freedom)
            sides = self.a[some][None], self.b[some][None]
            rest = PricedPairs(self.price, *sides, paired, self.by_pairs[some][None])
            z[some] = inverted_z(rest.ends, diff[some][None])[0]
        return z

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        sides = self.price.at(self.a), self.price.at(self.b)
        reaches = pair_reaches(self.price, self.a, self.b, c)
        return interval_ends(*sides, reaches, self.paired, self.by_pairs, c)

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        return _without_zero(self.ends(c))

    def of_strata(self, strata: Ints) -> PricedPairs:
        """The pairs of some of the strata."""
        paired = PairedPrice(self.paired.variance[strata], self.paired.freedom[strata])
        return PricedPairs(
            self.price, self.a[strata], self.b[strata], paired, self.by_pairs[strata]
        )


def priced_pairs(
    price: ComparedSide, questions: Sequence[QuestionValues], a: Ints, b: Ints, strata: Ints
) -> PricedPairs:
    """Pairs of columns of some strata; `price` has as many models of each, one after another."""
    size = np.broadcast_shapes((strata.size, 1), a.shape)
    a, b = np.broadcast_to(a, size), np.broadcast_to(b, size)
    variance, freedom = np.empty(size), np.empty((strata.size, 1))
    for row, stratum in enumerate(strata.tolist()):
        asked = questions[stratum]
        variance[row] = asked.pair_variances(a[row], b[row])
        freedom[row] = asked.number - 1
    first = strata[:, None] * (price.price.mu.size // max(len(questions), 1))
    return PricedPairs.of(price, first + a, first + b, PairedPrice(variance, freedom))


def pair_reaches(price: ComparedSide, a: Ints, b: Ints, c: Floats) -> tuple[Reach, Reach]:
    """Reaches of both sides of each pair, computed once for each model and critical value.

    `c` has the shape of the pairs, or one value for each stratum, shape (S, 1).
    """
    levels, level = np.unique(c, return_inverse=True)
    level = level.reshape(c.shape)
    wanted = np.stack([a, b]) * levels.size + level
    first, place = distinct_rows([wanted.ravel()])
    code = wanted.ravel()[first]
    reached = price.at(code // levels.size).reach(levels[code % levels.size])
    one, other = place.reshape(wanted.shape)
    return Reach(*(each[one] for each in reached)), Reach(*(each[other] for each in reached))


@dataclass(frozen=True, slots=True, eq=False)
class RunPairs:
    """Pairs of models whose runs differ: one more term in the variance, whatever the law."""

    pairs: Pairs  # in these very runs
    runs: RunVariance  # of the differences, (S, P)

    @property
    def diff(self) -> Floats:
        """The differences."""
        return self.pairs.diff

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        return np.asarray(np.hypot(self.pairs.sigma, np.sqrt(self.runs.excess)))

    @property
    def z(self) -> Floats:
        """Critical values at which the widened intervals stop to hold zero.

        Ends are in logs, since quantiles of few degrees of freedom grow like exponentials.
        """
        size = np.where(self.diff == 0, 1.0, np.abs(self.diff))

        def log_ends(c: Floats) -> tuple[Floats, Floats]:
            lo, hi = self.ends(c)
            down, up = (np.log1p(reach / size) for reach in (self.diff - lo, hi - self.diff))
            return np.log(2) - down, up - np.log(2)

        return inverted_z(log_ends, self.diff)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals, by critical values."""
        return widened(self.diff, *self.pairs.ends(c), self.runs.term(c), c)

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        return _without_zero(self.ends(c))

    def of_strata(self, strata: Ints) -> RunPairs:
        """The pairs of some of the strata."""
        return RunPairs(self.pairs.of_strata(strata), self.runs.at(strata))


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedPairs:
    """Pairs whose intervals hold at every look, by critical values of one look."""

    pairs: Pairs  # at one look
    information: Floats  # of the model that has less of it, over the planned one, (S, P)

    @property
    def diff(self) -> Floats:
        """The differences."""
        return self.pairs.diff

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        return self.pairs.sigma

    @property
    def z(self) -> Floats:
        """Values of one look at which the intervals of every look stop to hold zero."""
        return look_z(self.pairs.z, self.information)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals."""
        return self.pairs.ends(anytime_critical(c, self.information))

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        return self.pairs.decided(anytime_critical(c, self.information))

    def of_strata(self, strata: Ints) -> RepeatedPairs:
        """The pairs of some of the strata."""
        return RepeatedPairs(self.pairs.of_strata(strata), self.information[strata])
