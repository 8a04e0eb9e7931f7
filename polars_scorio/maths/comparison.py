"""Differences of two models on the same questions: variance by their trials, or by their pairs.

Trials are independent given the question, so two variances are right for a difference on these very
questions: that of the trials of both models, and that of the paired differences between the
questions, which is on average at least as large. A pair uses the second only if it makes the
interval clearly shorter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.price import Price, bound_distance, effective_questions, unit_interval
from polars_scorio.maths.scores import Range

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


def forecast_difference(first: Range, second: Range) -> Range:
    """Difference of two forecasts: the worst ends of both.

    >>> one = np.array([1.0])
    >>> wide, narrow = Range(one / 2, 0 * one, one), Range(one / 4, 0 * one, one / 2)
    >>> print(*forecast_difference(wide, narrow))
    [0.25] [-0.5] [1.]
    """
    return Range(first.mu - second.mu, first.lo - second.hi, first.hi - second.lo)
