"""Blends ``X^a Y^b`` of two means over the questions: variance and interval."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.credit_numbers import (
    Measurement,
    Numbers,
    sample_numbers,
    variance_numbers,
)
from polars_scorio.maths.credits import Powers, blend_means, fixed_gains, state_estimates
from polars_scorio.maths.interval import Estimate, MeanNoise, Weighted, mean_noises, question_units


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
        share = np.divide(blend, centre, out=np.zeros_like(centre), where=centre > 0)
        return self.powers[0] * share[0], self.powers[1] * share[1]


def blend_estimate(asked: Weighted, blended: BlendOfMeans) -> Estimate:
    """Variance estimate of a blend of two metrics of the same draw."""
    # To first order a blend is a weighted sum of its metrics, itself a credit.
    draws, size = [fixed_gains(blended.x), fixed_gains(blended.y)], asked.effective
    means = [asked.mean(state_estimates(asked.states, draw)[0]) for draw in draws]
    expected = [mean_noise.mean for mean_noise in mean_noises(asked, draws)]
    # One more question, as the populations expect it: no mean is zero then.
    centre = [(size * u + m) / (size + 1) for u, m in zip(means, expected, strict=True)]
    numbers = np.full((4, size.size), np.nan)
    for group, (first, second) in enumerate(zip(*blended.slopes(*centre), strict=True)):
        if not np.isnan(first + second):
            linear = fixed_gains(first * blended.x + second * blended.y)
            (mean_noise,) = mean_noises(
                Weighted(asked.states.of_groups(np.array([group]))), [linear]
            )
            numbers[:, group] = [each[0] for each in mean_noise]
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
