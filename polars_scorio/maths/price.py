"""The larger of two variances, its cap, and the interval that follows.

An estimate needs no model of the questions if each has k trials or more, but for n < 2 k its
variance has no unbiased estimate. So a smooth and a free fit estimate it, the larger one counts,
and a factor widens it by how uncertain it is. The smooth fit is far too high if the questions are
no Beta population, so it is capped: with 2 k trials of each question, by an unbiased estimate from
the counts; with fewer, by the largest variance under all distributions of success rates that the
counts do not reject (slow, hence only if the free fit explains the counts better). Without the cap,
intervals of 1,000 questions are up to 20 times as wide as needed. To delete it, let `capped_price`
return the larger of the two variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.free_fit import Calibrated, Fits, rate_nodes
from polars_scorio.maths.lattice import Grid, fit_categories, state_blocks
from polars_scorio.maths.pooled_moments import trial_moments
from polars_scorio.maths.posteriors import weighted_average
from polars_scorio.maths.questions import BatchWeights, QuestionWeights, States, Strata
from polars_scorio.maths.region import largest_means
from polars_scorio.maths.variance import (
    CreditSum,
    GainsOf,
    Moments,
    moments_of,
)

_HIGHER = 1.05  # the smooth price, over the free one, from which on a region is worth its time
_MISFIT = 0.5  # misfit of the smooth fit, likewise
# Width of the region in log likelihood, at any confidence: half the 95 % quantile of chi-squared.
# A number, since computing it would import SciPy's functions with the package.
_ROOM = 3.8414588206941285 / 2
_EVERY_STATE = 2048  # trials up to which the largest noise is looked up among all states
_STATES_PER_ROOT = 15  # beyond: among so many states, times the root of the trials,
_MOST_STATES = 15_000  # up to these


class CappedPrice(NamedTuple):
    """Variance of the estimates of C metrics of G groups, each array of shape (C, G)."""

    variance: Floats  # of the smooth fit up to the cap, at least that of the free fit
    factor: Floats  # uncertainty of the variance, at least 1
    smooth_share: Floats  # place between free fit (0) and smooth fit (1)

    def between(self, free: Floats, smooth: Floats) -> Floats:
        """Values between those of both fits, in the place of the variance between theirs."""
        return self.smooth_share * smooth + (1 - self.smooth_share) * free


def capped_prices(fitted: Calibrated, metrics: Sequence[CreditSum]) -> Floats:
    """Mean and complement that both fits expect, variance and its factor, (4, C, G).

    Numbers of a group without an estimate say nothing.
    """
    found = np.empty((4, len(metrics), fitted.states.groups))
    for groups, fits in fitted.batches:
        weights = fitted.batch_weights(groups, fits)
        moments = moments_of(fits, metrics, weights)
        price = capped_price(fits, metrics, moments, weights)
        mean = price.between(moments.free_mean, moments.smooth_mean)
        rest = price.between(moments.free_rest, moments.smooth_rest)
        found[:, :, groups] = mean, rest, price.variance, price.factor
    return found


def capped_price(
    fits: Fits, metrics: Sequence[CreditSum], moments: Moments, weights: BatchWeights
) -> CappedPrice:
    """Variance of some metrics of each group, from their moments under both fits."""
    smooth, free = moments.smooth_variance, moments.free_variance
    higher, cap = smooth > free, np.full(smooth.shape, np.inf)
    shown = shows_noise(fits, metrics)
    for row in np.flatnonzero((higher & shown).any(axis=1)).tolist():
        caps = observed_caps(fits, metrics[row], weights)
        cap[row] = np.where(higher[row] & shown[row], caps, np.inf)
    # A price that is hardly higher than the free one is not worth a region.
    asked = (smooth > _HIGHER * free) & ~shown & np.isfinite(smooth)
    for row in np.flatnonzero(asked.any(axis=1)).tolist():
        groups = np.flatnonzero(asked[row])
        noise = rate_variances(fits, moments.at_rates[row], weights, groups)
        cap[row, groups] = unseen_caps(fits, groups, noise, smooth[row, groups])
    variance = np.maximum(free, np.minimum(smooth, cap))
    share = np.where(higher, (variance - free) / np.where(higher, smooth - free, 1.0), 0.0)
    spread = np.hypot(np.where(higher, share, 1.0) * moments.smooth_spread, moments.free_spread)
    wider = np.divide(spread, variance, out=np.zeros_like(variance), where=variance > 0)
    return CappedPrice(variance, 1 + wider, share)


def rate_variances(fits: Fits, at_rates: Floats, weights: BatchWeights, groups: Ints) -> Floats:
    """Variance of the estimate of some groups if all their questions had one rate, (P, I)."""
    levels, place = fits.levels
    noise = np.zeros((groups.size, levels.size))
    np.add.at(noise.T, place, weights.second[groups].T)
    return np.asarray(noise @ at_rates)


def shows_noise(fits: Fits, metrics: Sequence[CreditSum]) -> Mask:
    """Mask (C, G) of the metrics of which each question has 2 k trials: they show the noise."""
    levels = fits.levels[0]
    short = np.stack([2 * metric.draw_sizes(levels) > levels for metric in metrics])
    present = np.zeros((len(fits.questions), len(fits.levels[0])))
    np.add.at(present.T, fits.levels[1], fits.questions.T)
    return np.asarray(short.astype(np.float64) @ present.T == 0)


def unseen_caps(fits: Fits, groups: Ints, noise: Floats, prices: Floats) -> Floats:
    """Upper limits of the variances of estimates whose noise the counts do not show, (P,).

    `noise` (P, I) is that of `rate_variances` of each group. A limit above the price is infinite:
    it takes time, and changes nothing.
    """
    caps, top = np.full(groups.size, np.inf), noise.max(axis=1)
    rejecting = fits.misfit[groups] > _MISFIT
    caps[rejecting & (top == 0)] = 0.0
    asked = np.flatnonzero(rejecting & (top > 0))
    if asked.size:
        # On a scale of its own: a region is precise to 1e-7 of 1.
        rows, scale = groups[asked], top[asked]
        caps[asked] = scale * largest_means(
            fits.likelihood,
            fits.questions[rows],
            fits.likeliest_weights(rows),
            noise[asked] / scale[:, None],
            np.full(rows.size, _ROOM),
            prices[asked] / scale,
        )
    return caps


def observed_caps(fits: Fits, metric: CreditSum, weights: BatchWeights) -> Floats:
    """Unbiased variance estimates (G,), each plus its standard deviation; n >= 2 k throughout.

    The deviation is at least that of one more question of the noisiest state: questions without
    noise do not prove that others have none. Infinite where the estimate is too large to work out.
    """
    noise = metric.noise_estimates(fits.n, fits.c)
    most = np.where(fits.questions > 0, _largest_noise(metric, fits.n), 0.0).max(axis=1)
    size = fits.size
    away = noise - (fits.questions @ noise / size)[:, None]
    spread = size / np.maximum(size - 1, 1) * np.einsum("gs,gs->g", away**2, weights.fourth)
    caps = weights.second @ noise + np.hypot(np.sqrt(spread), weights.largest**2 * most)
    return np.where(np.isfinite(caps), caps, np.inf)


def _largest_noise(metric: CreditSum, n: Ints) -> Floats:
    """Largest size of an estimate of the noise in any state of so many trials, shape (S,)."""
    new = [size for size in np.unique(n).tolist() if size not in metric.known_noise]
    if new:
        states = [_spread_states(size) for size in new]
        lengths = [each.size for each in states]
        noise = np.abs(metric.noise_estimates(np.repeat(new, lengths), np.concatenate(states)))
        largest = np.maximum.reduceat(noise, np.cumsum([0, *lengths[:-1]]))
        metric.known_noise.update(zip(new, largest.tolist(), strict=True))
    return np.array([metric.known_noise[size] for size in n.tolist()])


def _spread_states(n: int) -> Ints:
    """Successes among which the noisiest state is searched: all, or as many as rates resolve."""
    if n <= _EVERY_STATE:
        return np.arange(n + 1)
    p, _ = rate_nodes(min(int(_STATES_PER_ROOT * np.sqrt(n)), _MOST_STATES))
    return np.unique(np.rint(n * p).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Price:
    """A metric of each group: its estimate, what a fit expects, and the variance of the estimate.

    Arrays (G,) on the unit scale of the metric's range. Each value has its complement beside it:
    ``1 - x`` would lose the digits of a small rest.
    """

    estimate: Floats  # unbiased; NaN if k exceeds the trials of some question
    rest: Floats
    mean: Floats  # of the fit with the larger variance; between both if capped
    mean_rest: Floats
    variance: Floats
    factor: Floats  # uncertainty of the variance, at least 1: multiplies it in intervals
    low: float = 0.0  # least value of the metric
    width: float = 1.0  # largest value less `low`
    bounded: bool = True  # False: no range (blends with a negative power)

    @property
    def mu(self) -> Floats:
        """The estimate on the scale of the metric."""
        return self.low + self.width * self.estimate

    @property
    def sigma(self) -> Floats:
        """Root of the price on the scale of the metric, not widened."""
        return self.width * np.sqrt(self.variance)

    def at(self, groups: Ints) -> Price:
        """Prices of some groups, in the given order: one side of comparisons."""
        return replace(self, **{name: getattr(self, name)[groups] for name in PRICE_PARTS})

    @classmethod
    def stacked(cls, prices: Sequence[Price]) -> Price:
        """Some metrics on the unit scale as one: each array of shape (metrics, G)."""
        estimate, rest, mean, mean_rest, variance, factor = (
            np.stack([getattr(price, name) for price in prices]) for name in PRICE_PARTS
        )
        return cls(estimate, rest, mean, mean_rest, variance, factor)


PRICE_PARTS = [field.name for field in fields(Price)][:6]


def credit_prices(fitted: Calibrated, draws: Sequence[GainsOf]) -> list[Price]:
    """Variance estimates of metrics that are a credit, on these very questions.

    `draws`: the gains of each metric, by n. Metrics of one call share most of the work. NaN in
    groups where k exceeds the trials of some question: see `forecast_range`.
    """
    metrics = [CreditSum([(1.0, gains)]) for gains in draws]
    estimates = np.concatenate([metric.state_estimates(fitted.states) for metric in metrics])
    shown = fitted.mean(estimates).reshape(len(draws), 2, -1)
    known = ~np.isnan(shown[:, 0])
    parts = np.full((4, *known.shape), np.nan)
    rows = np.flatnonzero(known.any(axis=1))
    if rows.size:
        priced = capped_prices(fitted, [metrics[row] for row in rows.tolist()])
        parts[:, rows] = np.where(known[rows], priced, np.nan)
    return [Price(*values, *parts[:, row]) for row, values in enumerate(shown)]


_END = 1e-12  # from a bound: as good as on it
_LARGEST = 1e100  # shape: SciPy's inverse of the Beta integral is NaN from 1e155 on
_NARROW = 1e8  # shapes from which on the normal is closer than SciPy's inverse of the Beta integral


def clopper_pearson_interval(price: Price, confidence: Floats | float) -> tuple[Floats, Floats]:
    """Interval of each group on the scale of the metric, around the estimate; NaN without one."""
    tail = (1 - confidence) / 2
    if not price.bounded:
        noise = price.width * -scipy.special.ndtri(tail) * np.sqrt(price.variance * price.factor)
        return price.mu - noise, price.mu + noise
    lo, hi = unit_interval(price, effective_questions(price), tail)
    return price.low + price.width * lo, price.low + price.width * hi


def bound_distance(price: Price) -> Floats:
    """How far the estimate lies from the nearer bound, from 0 (on it) to 1, against its noise."""
    square = np.minimum(price.estimate, price.rest) ** 2
    both = square + price.variance
    distance: Floats = np.divide(square, both, out=np.zeros_like(both), where=both != 0)
    return distance


def effective_questions(price: Price) -> Floats:
    """Bernoulli questions with the variance of the estimate; infinite if that is 0."""
    distance = bound_distance(price)
    own = distance * price.estimate * price.rest
    model = (1 - distance) * price.mean * price.mean_rest
    noise = price.variance * (1 + (price.factor - 1) * distance)
    questions: Floats = np.divide(
        own + model, noise, out=np.full_like(noise, np.inf), where=noise != 0
    )
    return questions


def unit_interval(price: Price, questions: Floats, tail: Floats | float) -> tuple[Floats, Floats]:
    """Both ends on the unit scale, from effective questions and the chance beyond either end."""
    known, finite = ~np.isnan(questions), np.isfinite(questions)
    some = np.where(finite, questions, 1.0)
    x, y = price.estimate * some, price.rest * some
    lo = np.where(price.estimate > _END, beta_quantile(x, y + 1, tail, upper=False), 0.0)
    hi = np.where(price.rest > _END, beta_quantile(x + 1, y, tail, upper=True), 1.0)
    exact = known & ~finite
    lo, hi = (np.where(exact, price.estimate, end) for end in (lo, hi))
    lo, hi = np.minimum(lo, price.estimate), np.maximum(hi, price.estimate)
    return np.where(known, lo, np.nan), np.where(known, hi, np.nan)


def beta_quantile(a: Floats, b: Floats, tail: Floats | float, *, upper: bool) -> Floats:
    """Value that Beta(a, b) exceeds, or stays below, with the chance `tail`."""
    tiny = np.finfo(float).tiny
    a, b = np.clip(a, tiny, _LARGEST), np.clip(b, tiny, _LARGEST)
    narrow = np.minimum(a, b) > _NARROW
    inverse = scipy.special.betainccinv if upper else scipy.special.betaincinv
    exact = inverse(np.where(narrow, 1.0, a), np.where(narrow, 1.0, b), tail)
    mean, z = a / (a + b), -scipy.special.ndtri(tail) if upper else scipy.special.ndtri(tail)
    sigma = np.sqrt(mean * (b / (a + b)) / (a + b + 1))
    skew = (1 - 2 * mean) * (z**2 - 1) / (3 * (a + b))  # Cornish and Fisher's correction
    return np.where(narrow, mean + z * sigma + skew, exact)


def average_price(states: States, w: Floats, strata: Strata[States] | None = None) -> Price:
    """Variance estimate of the average weight of three or more categories.

    Two categories are a credit: `credit_prices` with the gain 1, by both fits.
    """
    low, width = float(w.min()), float(w.max() - w.min())
    unit, rest = (w - low) / (width or 1.0), (w.max() - w) / (width or 1.0)
    mean, mean_rest, variance, factor = np.empty((4, states.groups))
    strata = strata or Strata.of_whole_groups(states)
    ends = np.searchsorted(states.group, np.arange(states.groups + 1)).tolist()
    for group, weights in enumerate(strata.weights(states)):
        part = slice(ends[group], ends[group + 1])
        counts, questions = states.counts[states.state[part]], states.questions[part]
        grid = fit_categories(counts, questions)
        (up, noise), (down, _) = (_node_sums(grid, counts, weights, v) for v in (unit, rest))
        smooth = float(grid.weight @ noise)
        seen_noise, seen_spread = _trial_noise(counts, weights, unit, smooth)
        total = max(smooth, seen_noise)
        mean[group], mean_rest[group] = grid.weight @ up, grid.weight @ down
        variance[group] = total
        spread = np.hypot(np.sqrt(grid.weight @ (noise - smooth) ** 2), seen_spread)
        factor[group] = 1 + (spread / total if total > 0 else 0.0)
    seen, left = (
        strata.weighted_sums(weighted_average(states.counts, each)) for each in (unit, rest)
    )
    return Price(seen, left, mean, mean_rest, variance, factor, low, width)


def _trial_noise(
    counts: Ints, weights: QuestionWeights, w: Floats, smooth: float
) -> tuple[float, float]:
    """Variance of the mean given the questions, and its largest standard deviation.

    Two trials of a question give its variance without a model: a Dirichlet population is too low if
    some questions always end in the middle and others at either end. A single trial has the mean of
    the variance under the `smooth` fit.
    """
    n = counts.sum(axis=1)
    mean = counts @ w / n
    square = (counts * (w - mean[:, None]) ** 2).sum(axis=1)
    squares = weights.second.sum()
    noise = np.where(n > 1, square / (np.maximum(n - 1, 1) * n), smooth / squares)
    total = weights.second @ noise
    spread = np.sqrt(weights.fourth @ (noise - total / squares) ** 2)
    return float(total), float(spread)


def _node_sums(
    grid: Grid, counts: Ints, weights: QuestionWeights, w: Floats
) -> tuple[Floats, Floats]:
    """The mean over the questions, and the variance of their averages' mean, at each node."""
    means, variances = np.zeros((2, grid.weight.size))
    for part in state_blocks(grid, counts):
        mean, of_trial, size = trial_moments(grid, counts[part], w)
        means += mean @ weights.first[part]
        n = counts[part].sum(axis=1)
        variances += (of_trial * (size / (size + 1))) @ (weights.second[part] / n)
    return means, variances
