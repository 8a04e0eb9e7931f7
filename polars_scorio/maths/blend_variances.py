"""Blends ``X^a Y^b`` of two means over the questions: variance, interval and bias."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.credit_at_rates import Powers, blend_means
from polars_scorio.maths.credit_numbers import (
    Numbers,
    credit_numbers,
    saturated_groups,
    variance_numbers,
)
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.posteriors import Target
from polars_scorio.maths.questions import QuestionWeights, States, Subgroups
from polars_scorio.maths.sample_bound import QuestionSample, population_variance
from polars_scorio.maths.variance import (
    CreditSum,
    fixed_gains,
    group_estimates,
    group_moments,
    state_estimates,
)
from polars_scorio.maths.variance_estimates import Estimate, capped_noise


def blend_variance(fitted: Calibrated, x: Floats, y: Floats, powers: Powers) -> Estimate:
    """Variance estimate of a blend of two metrics of the same draw, with gains x and y."""
    # To first order a blend is a weighted sum of its metrics, itself a credit.
    draws = fixed_gains(x), fixed_gains(y)
    means = [group_estimates(fitted.states, draw)[0] for draw in draws]
    mean, variance, factor = np.full((3, fitted.states.groups), np.nan)
    for column, group in enumerate(fitted.groups):
        estimated = np.array([each[column] for each in means])
        if np.isnan(estimated).any():
            continue
        weights = QuestionWeights.from_questions(group.questions)
        both = group_moments(group, [CreditSum([(1.0, draw)]) for draw in draws], weights)
        # One more question, as the smooth fit expects it: no mean is zero then.
        centre = (group.size * estimated + both.smooth_mean[:, 0]) / (group.size + 1)
        # A credit that nothing earns (mG-Pass@1) has the mean zero after all, and no slope.
        blend = float(np.prod(centre ** np.array(powers)))
        share = np.divide(powers, centre, out=np.zeros(2), where=centre > 0) * blend
        linear = [CreditSum([*zip(share.tolist(), draws, strict=True)])]
        noise = group_moments(group, linear, weights)
        noisy = capped_noise(group.fits, linear, noise, group.weights(weights))
        expected = (
            blend_means(fit[:1], fit[1:], powers) for fit in (both.free_mean, both.smooth_mean)
        )
        mean[column] = noisy.between(*expected).item()
        variance[column], factor[column] = noisy.variance.item(), noisy.factor.item()
    value = blend_means(means[0], means[1], powers)
    return Estimate(value, 1 - value, mean, 1 - mean, variance, factor, bounded=min(powers) >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class BlendOfMeans:
    """A blend ``X^a Y^b`` of two means; x and y are the gains of their credits, shape (k,)."""

    x: Floats
    y: Floats
    powers: Powers  # (a, b), not negative


def blend_numbers(
    fitted: Calibrated,
    blended: BlendOfMeans,
    noisy: Estimate,
    confidence: Floats | float,
    target: Target = "benchmark",
    clusters: Subgroups[States] | None = None,
) -> Numbers:
    """Estimate and interval of a blend of means, without forecasts."""
    # A blend grows with both means, whose errors go together: it lies between the blends of their
    # lower and of their upper ends; the interval of `noisy`, if shorter, about these questions.
    draws = [fixed_gains(blended.x), fixed_gains(blended.y)]
    parts = credit_numbers(fitted, draws, confidence, target, clusters)
    known = ~np.isnan(noisy.estimate)
    lo, hi = (
        np.where(known, blend_means(x, y, blended.powers), np.nan)
        for x, y in ((parts[0].lo, parts[1].lo), (parts[0].hi, parts[1].hi))
    )
    if target == "benchmark":
        numbers = variance_numbers(noisy, confidence)
        # Equal counts have a variance of zero, although failures are possible; both means know.
        unsaturated = ~saturated_groups(fitted)
        lo = np.maximum(lo, numbers.lo, where=unsaturated, out=lo)
        return numbers._replace(lo=lo, hi=np.minimum(hi, numbers.hi, where=unsaturated, out=hi))
    sample = QuestionSample(fitted.states, clusters)
    sigma = _population_sigma(fitted, blended, noisy, sample)
    return Numbers(noisy.mu, noisy.mu, sigma, lo, hi, np.zeros_like(known))


def _population_sigma(
    fitted: Calibrated, blended: BlendOfMeans, noisy: Estimate, sample: QuestionSample
) -> Floats:
    """Standard deviation of a blend of means over a sample of questions, to first order."""
    draws, states = [fixed_gains(blended.x), fixed_gains(blended.y)], fitted.states
    values = np.stack([state_estimates(states, draw)[0] for draw in draws])
    means = np.stack([states.mean(each) for each in values])
    # One more question that half succeeds: no mean is zero then.
    centre = (states.size * means + 0.5) / (states.size + 1)
    powers = np.array(blended.powers)[:, None]
    share: Floats = powers / centre * np.prod(centre**powers, axis=0)
    known = ~np.isnan(noisy.estimate)

    def of_fit(weights: tuple[float, float]) -> Floats:
        metric = CreditSum([*zip(weights, draws, strict=True)])
        return population_variance(fitted, metric, known)

    def of_clusters(weights: tuple[float, float]) -> Floats:
        return sample.cluster_variance(weights[0] * values[0] + weights[1] * values[1])

    variance = np.maximum(_summed_variance(of_fit, share), _summed_variance(of_clusters, share))
    return np.where(sample.number > 1, np.sqrt(variance), np.nan)


def _summed_variance(variance_of: Callable[[tuple[float, float]], Floats], share: Floats) -> Floats:
    """Variance of a sum of two metrics with a share of each, from the variances of three sums."""
    of_x, of_y, of_both = (variance_of(weights) for weights in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)))
    x, y = share
    total: Floats = x**2 * of_x + y**2 * of_y + x * y * (of_both - of_x - of_y)
    return np.maximum(total, 0.0)
