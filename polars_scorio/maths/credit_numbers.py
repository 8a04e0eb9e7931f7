"""Estimates and intervals of a metric of success and failure, and of a blend of two of them.

Pass@k and Pass^k are bounded by smaller draws. Beyond the trials of a question there is no estimate
but a range, for which no model is needed: Pass@k only grows with k, and Pass^k only falls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import Floats, known_ratio
from polars_scorio.maths.credits import (
    DrawBounds,
    EndDraw,
    GainsOf,
    Powers,
    RootDraw,
    blend_means,
    draw_bounds,
    fixed_gains,
    largest_bias,
    state_estimates,
)
from polars_scorio.maths.interval import (
    Estimate,
    MeanNoise,
    UnitSample,
    Weighted,
    credit_estimates,
    mean_noises,
    population_ends,
    question_units,
)
from polars_scorio.maths.posteriors import Target
from polars_scorio.maths.questions import States, Subgroups


class Numbers(NamedTuple):
    """Numbers of a metric in each group, on the metric's scale, each of shape (G,)."""

    estimate: Floats  # unbiased; NaN if k exceeds the trials of some question
    sigma: Floats  # of the estimate
    lo: Floats  # interval, or the range that is left without an estimate, up to `hi`
    hi: Floats
    noisy: Estimate | None = None  # for comparisons; None about a population

    def scaled(self, low: float, high: float) -> Numbers:
        """Rescale to a metric that is `low` for a credit of 0 and `high` for a credit of 1."""
        width = high - low
        estimate, lo, hi = (low + width * number for number in (self.estimate, self.lo, self.hi))
        return Numbers(estimate, width * self.sigma, lo, hi, self.noisy)

    def with_ends_within(self, least: Floats, most: Floats) -> Numbers:
        """The numbers, with the interval clipped to two bounds, but never past the estimate.

        Without an interval the bounds are a range.
        """
        lo, hi = np.fmax(self.lo, least), np.fmin(self.hi, most)
        lo = np.where(lo > self.estimate, self.estimate, lo)
        return self._replace(lo=lo, hi=np.where(hi < self.estimate, self.estimate, hi))

    def with_bias(self, bias: Floats | float) -> Numbers:
        """The numbers of an estimate in [0, 1], with its largest bias added to both ends."""
        return self._replace(lo=np.maximum(self.lo - bias, 0.0), hi=np.minimum(self.hi + bias, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Numbers of some questions: about them, or about a population of which they are a sample."""

    questions: Weighted
    confidence: Floats | float
    target: Target = "benchmark"
    clusters: Subgroups[States] | None = None  # of a population

    def credits(self, draws: Sequence[GainsOf]) -> list[Numbers]:
        """Estimates and intervals of metrics that are a credit; those of one call share work."""
        bounds = [draw_bounds(gains, self.questions.states.n) for gains in draws]
        names = [each.itself or gains for each, gains in zip(bounds, draws, strict=True)]
        asked = dict(zip(names, draws, strict=True))
        asked |= {each: each.draw_gains() for bound in bounds for each in bound.smaller}
        known = dict(zip(asked, self._with_ranges([*asked.values()]), strict=True))
        if self.target == "population":
            return [known[name] for name in names]
        each = zip(names, bounds, strict=True)
        return [self._bounded(known[name], bound, known) for name, bound in each]

    def _bounded(
        self, numbers: Numbers, bounds: DrawBounds, known: Mapping[Any, Numbers]
    ) -> Numbers:
        """Numbers of a credit, with an interval that agrees with those of smaller draws."""
        # Pass@k is never below Pass@j of a smaller j, Pass^k never above: no interval reaches
        # beyond the far end of j = 1, 2, 4, ... if a question has 2 j trials, which show the noise.
        fewest = self.questions.fewest
        least, most = np.full((2, fewest.size), [[-np.inf], [np.inf]])
        for small in bounds.smaller:
            estimable = (2 * small.k <= fewest) | (small.k == 1)
            if bounds.above:
                least = np.where(estimable, np.maximum(least, known[small].lo), least)
            else:
                most = np.where(estimable, np.minimum(most, known[small].hi), most)
        return numbers.with_ends_within(least, most)

    def _with_ranges(self, draws: Sequence[GainsOf]) -> list[Numbers]:
        """Numbers of each metric by itself, with ranges if k exceeds the trials."""
        levels, results = np.unique(self.questions.states.n).tolist(), list[Numbers]()
        short = [any(gains(size).size > size for size in levels) for gains in draws]
        asked = list[GainsOf]()
        for gains, lacking in zip(draws, short, strict=True):
            ends = [EndDraw(gains, upper=upper) for upper in (False, True)] if lacking else []
            asked += [gains, *ends]
        numbers = iter(self._measured(asked))
        for lacking in short:
            one = next(numbers)
            results.append(_as_range(one, next(numbers), next(numbers)) if lacking else one)
        return results

    def _measured(self, draws: Sequence[GainsOf]) -> list[Numbers]:
        """Numbers of each metric by itself; NaN if k exceeds the trials."""
        asked, numbers = self.questions, list[Numbers]()
        if self.target == "population":
            return [self._of_population(gains) for gains in draws]
        every = credit_estimates(asked, draws)
        ends = every.ends((1 - np.asarray(self.confidence)) / 2)
        for place, (gains, lo, hi) in enumerate(zip(draws, *ends, strict=True)):
            one, biased = every.at(place), isinstance(gains, RootDraw)
            bias = asked.mean(largest_bias(gains, asked.states.n)) if biased else 0.0
            numbers.append(Numbers(one.mu, one.sigma, lo, hi, one).with_bias(bias))
        return numbers

    def _of_population(self, gains: GainsOf) -> Numbers:
        """The numbers of a credit over a population."""
        asked, states = self.questions, self.questions.states
        values, bias = state_estimates(states, gains)[0], largest_bias(gains, states.n)
        parts = self.clusters, asked.strata
        units = question_units(states, values[states.state], *parts, bias[states.state])
        single = None if self.clusters is not None else asked.single
        return sample_numbers(asked.mean(values), replace(units, single=single), self.confidence)


def _as_range(numbers: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """Numbers, with a range from the ends of two others where there is no estimate."""
    beyond = np.isnan(numbers.estimate)
    lo, hi = np.where(beyond, low.lo, numbers.lo), np.where(beyond, high.hi, numbers.hi)
    return numbers._replace(lo=lo, hi=hi)


def variance_numbers(noisy: Estimate, confidence: Floats | float) -> Numbers:
    """Estimate and interval of a metric from its variance."""
    lo, hi = noisy.ends((1 - np.asarray(confidence)) / 2)
    return Numbers(noisy.mu, noisy.sigma, lo, hi, noisy)


def sample_numbers(mean: Floats, units: UnitSample, confidence: Floats | float) -> Numbers:
    """Estimate and interval of the mean over a population of questions."""
    about = units.student(), mean, units.units, (1 - np.asarray(confidence)) / 2
    lo, hi, sigma = population_ends(*about, units.mean_bias, units.single)
    return Numbers(mean, sigma, lo, hi)


@dataclass(frozen=True, slots=True, eq=False)
class BlendOfMeans:
    """A blend ``X^a Y^b`` of two means; x and y are the gains of their credits, shape (k,)."""

    x: Floats
    y: Floats
    powers: Powers

    def slopes(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Derivatives by both means; 0 by a mean of 0."""
        centre = np.stack([x, y])
        blend = np.prod(centre ** np.array(self.powers)[:, None], axis=0)
        share = known_ratio(blend, centre)
        return self.powers[0] * share[0], self.powers[1] * share[1]


def blend_estimate(asked: Weighted, blended: BlendOfMeans) -> Estimate:
    """Variance estimate of a blend of two metrics of the same draw."""
    # To first order a blend is a weighted sum of its metrics, itself a credit.
    draws, size = [fixed_gains(blended.x), fixed_gains(blended.y)], asked.effective
    means = [asked.mean(state_estimates(asked.states, draw)[0]) for draw in draws]
    expected = mean_noises(asked.questions, draws).mean
    # One more question, as the populations expect it: no mean is zero then.
    centre = [(size * u + m) / (size + 1) for u, m in zip(means, expected, strict=True)]
    numbers = np.full((4, size.size), np.nan)
    for group, (first, second) in enumerate(zip(*blended.slopes(*centre), strict=True)):
        if not np.isnan(first + second):
            linear = fixed_gains(first * blended.x + second * blended.y)
            alone = Weighted(asked.states.of_groups(np.array([group])))
            numbers[:, group] = [each.item() for each in mean_noises(alone.questions, [linear])]
    variance, factor, *_ = numbers
    value = blend_means(means[0], means[1], blended.powers)
    mean = blend_means(expected[0], expected[1], blended.powers)
    mean_noise = MeanNoise(variance, factor, mean, 1 - mean)
    # A blend of questions that are right or wrong may be noisier than one of so many questions.
    noisy = Estimate.from_noise(value, 1 - value, mean_noise, np.zeros_like(size))
    return replace(noisy, bounded=min(blended.powers) >= 0)


def blend_numbers(asked: Measurement, blended: BlendOfMeans, noisy: Estimate) -> Numbers:
    """Estimate and interval of a blend of means."""
    # A blend grows with both means, whose errors go together: it lies between the blends of their
    # lower and of their upper ends; the interval of `noisy`, if shorter, about these questions.
    # If k exceeds the trials of a question, both means have a range, and so has their blend.
    draws = [fixed_gains(blended.x), fixed_gains(blended.y)]
    parts = asked.credits(draws)
    lo, hi = (
        blend_means(x, y, blended.powers)
        for x, y in ((parts[0].lo, parts[1].lo), (parts[0].hi, parts[1].hi))
    )
    if asked.target == "benchmark":
        return variance_numbers(noisy, asked.confidence).with_ends_within(lo, hi)
    # To first order, with one more question that half succeeds: no mean is zero then.
    states, size = asked.questions.states, asked.questions.effective
    slopes = blended.slopes(*((size * each.estimate + 0.5) / (size + 1) for each in parts))
    top = slopes[0] + slopes[1]
    values = [state_estimates(states, draw)[0][states.state] for draw in draws]
    linear = slopes[0][states.group] * values[0] + slopes[1][states.group] * values[1]
    unit = np.divide(linear, top[states.group], out=0 * linear, where=top[states.group] > 0)
    units = question_units(states, unit, asked.clusters)
    sigma = top * sample_numbers(noisy.estimate, units, asked.confidence).sigma
    return Numbers(noisy.mu, sigma, lo, hi)
