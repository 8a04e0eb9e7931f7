"""The larger of two variances, its cap, and the intervals that follow, of models and of pairs.

For n < 2 k the variance of an estimate has no unbiased estimate: the larger one of two fits counts,
capped where the counts reject it (else intervals of 1,000 questions are up to 20 times too wide).
A pair has the variance of both models' trials, or of paired differences if it is clearly shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, row_slices
from polars_scorio.maths.credit_at_rates import ShortDraw
from polars_scorio.maths.families import standardized_differences, student_z
from polars_scorio.maths.free_fit import Calibrated, Fits, rate_nodes
from polars_scorio.maths.independent import inverted_z
from polars_scorio.maths.lattice import Grid, fit_categories, state_blocks
from polars_scorio.maths.pooled_moments import trial_moments
from polars_scorio.maths.posteriors import weighted_average
from polars_scorio.maths.questions import QuestionWeights, States, Subgroups
from polars_scorio.maths.region import largest_means, reaches_mean
from polars_scorio.maths.variance import CreditSum, GainsOf, Moments, fixed_gains, moments_of

if TYPE_CHECKING:
    from typing_extensions import Self

_HIGHER = 1.05  # the smooth variance, over the free one, from which on a region is worth its time
_MISFIT = 0.5  # misfit of the smooth fit, likewise
# Width of the region in log likelihood, at any confidence: half the 95 % quantile of chi-squared.
# A number, since computing it would import SciPy's functions with the package.
_ROOM = 3.8414588206941285 / 2
_NEAR = 0.1  # gap in log likelihood to the likeliest weights that a first search leaves
_EVERY_STATE = 2048  # trials up to which the largest noise is looked up among all states
_STATES_PER_ROOT = 15  # beyond: among so many states, times the root of the trials,
_MOST_STATES = 15_000  # up to these


class CappedNoise(NamedTuple):
    """Variance of the estimates of C metrics of G groups, each array of shape (C, G)."""

    variance: Floats  # of the smooth fit up to the cap, at least that of the free fit
    factor: Floats  # uncertainty of the variance, at least 1
    smooth_share: Floats  # place between free fit (0) and smooth fit (1)

    def between(self, free: Floats, smooth: Floats) -> Floats:
        """Values between those of both fits, in the place of the variance between theirs."""
        return self.smooth_share * smooth + (1 - self.smooth_share) * free


def capped_noises(fitted: Calibrated, metrics: Sequence[CreditSum]) -> Floats:
    """Mean and complement that both fits expect, variance and its factor, (4, C, G)."""
    variances = np.empty((4, len(metrics), fitted.states.groups))
    for groups, fits in fitted.batches:
        weights = fitted.batch_weights(groups, fits)
        moments = moments_of(fits, metrics, weights)
        noisy = capped_noise(fits, metrics, moments, weights)
        mean = noisy.between(moments.free_mean, moments.smooth_mean)
        rest = noisy.between(moments.free_rest, moments.smooth_rest)
        variances[:, :, groups] = mean, rest, noisy.variance, noisy.factor
    return variances


def capped_noise(
    fits: Fits, metrics: Sequence[CreditSum], moments: Moments, weights: QuestionWeights
) -> CappedNoise:
    """Variance of some metrics of each group, from their moments under both fits."""
    smooth, free = moments.smooth_variance, moments.free_variance
    higher, cap = smooth > free, np.full(smooth.shape, np.inf)
    shows = shows_noise(fits, metrics)
    for row in np.flatnonzero((higher & shows).any(axis=1)).tolist():
        caps = observed_caps(fits, metrics[row], weights)
        cap[row] = np.where(higher[row] & shows[row], caps, np.inf)
    # A variance that is hardly higher than the free one is not worth a region.
    asked = (smooth > _HIGHER * free) & ~shows & np.isfinite(smooth)
    rows, groups = np.nonzero(asked)
    for some in row_slices(rows.size, fits.weight.shape[1]):
        noise = [
            rate_variances(fits, at_rates, weights, groups[some][rows[some] == row])
            for row, at_rates in enumerate(moments.at_rates)
        ]
        pairs = rows[some], groups[some]
        cap[pairs] = unseen_caps(fits, groups[some], np.concatenate(noise), smooth[pairs])
    variance = np.maximum(free, np.minimum(smooth, cap))
    share = np.where(higher, (variance - free) / np.where(higher, smooth - free, 1.0), 0.0)
    spread = np.hypot(np.where(higher, share, 1.0) * moments.smooth_spread, moments.free_spread)
    wider = np.divide(spread, variance, out=np.zeros_like(variance), where=variance > 0)
    return CappedNoise(variance, 1 + wider, share)


def rate_variances(fits: Fits, at_rates: Floats, weights: QuestionWeights, groups: Ints) -> Floats:
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


def unseen_caps(fits: Fits, groups: Ints, noise: Floats, variances: Floats) -> Floats:
    """Upper limits of the variances of estimates whose noise the counts do not show, (P,)."""
    # A limit above the variance is infinite: it takes time, and changes nothing.
    caps, top = np.full(groups.size, np.inf), noise.max(axis=1)
    rejecting = fits.misfit[groups] > _MISFIT
    caps[rejecting & (top == 0)] = 0.0
    asked = np.flatnonzero(rejecting & (top > 0))
    if not asked.size:
        return caps
    # On a scale of its own: a region is precise to 1e-7 of 1.
    scale, rows = top[asked], groups[asked]
    noise, variances = noise[asked] / scale[:, None], variances[asked] / scale
    # Weights near the likeliest ones, found in half of the steps, settle nearly all variances.
    near, broad = fits.near_weights(rows, _NEAR), fits.weight[rows]
    questions, likelihood = fits.questions[rows], fits.likelihood
    far = reaches_mean(likelihood, questions, near, broad, noise, _ROOM - _NEAR, variances)
    left, best = np.flatnonzero(~far), near
    if left.size:
        best = fits.likeliest_weights(rows[left])
        region = questions[left], best, broad[left], noise[left], _ROOM, variances[left]
        far = reaches_mean(likelihood, *region)
        left, best = left[~far], best[~far]
    if left.size:
        ends = questions[left], best, noise[left], np.full(left.size, _ROOM), variances[left]
        caps[asked[left]] = top[asked[left]] * largest_means(likelihood, *ends)
    return caps


def observed_caps(fits: Fits, metric: CreditSum, weights: QuestionWeights) -> Floats:
    """Unbiased variance estimates (G,), each plus its standard deviation; n >= 2 k throughout."""
    # The deviation is at least that of one more question of the noisiest state: questions without
    # noise do not prove that others have none. Infinite if the estimate takes too long.
    noise = metric.noise_estimates(fits.n, fits.c)
    largest = _largest_noise(metric, fits.levels[0])[fits.levels[1]]
    most = np.where(fits.questions > 0, largest, 0.0).max(axis=1)
    size = fits.size
    away = noise - (fits.questions @ noise / size)[:, None]
    spread = size / np.maximum(size - 1, 1) * np.einsum("gs,gs->g", away**2, weights.fourth)
    caps = weights.second @ noise + np.hypot(np.sqrt(spread), weights.largest**2 * most)
    return np.where(np.isfinite(caps), caps, np.inf)


def _largest_noise(metric: CreditSum, levels: Ints) -> Floats:
    """Largest size of an estimate of the noise in any state of so many trials, shape (L,)."""
    largest = np.empty(levels.size)
    for rows, draw in metric.draws(levels):
        largest[rows] = _kept_noise(draw.gains.tobytes(), levels[rows].tobytes())
    return largest


@lru_cache(maxsize=512)
def _kept_noise(of_success: bytes, trials: bytes) -> Floats:
    """`_largest_noise` of one draw, kept across reports; not to be written to."""
    metric = CreditSum([(1.0, fixed_gains(np.frombuffer(of_success)))])
    levels = np.frombuffer(trials, dtype=np.int64)
    states = [_spread_states(n) for n in levels.tolist()]
    lengths = [each.size for each in states]
    noise = np.abs(metric.noise_estimates(np.repeat(levels, lengths), np.concatenate(states)))
    return np.asarray(np.maximum.reduceat(noise, np.cumsum([0, *lengths[:-1]])))


def _spread_states(n: int) -> Ints:
    """Successes among which the noisiest state is searched: all, or as many as rates resolve."""
    if n <= _EVERY_STATE:
        return np.arange(n + 1)
    p, _ = rate_nodes(min(int(_STATES_PER_ROOT * np.sqrt(n)), _MOST_STATES))
    return np.unique(np.rint(n * p).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
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
        """Root of the variance, on the scale of the metric, not widened."""
        return self.width * np.sqrt(self.variance)

    def at(self, groups: Ints) -> Estimate:
        """Variances of some groups, in the given order: one side of comparisons."""
        return replace(self, **{name: getattr(self, name)[groups] for name in PARTS})

    @classmethod
    def stacked(cls, variances: Sequence[Estimate]) -> Estimate:
        """Some metrics on the unit scale as one: each array of shape (metrics, G)."""
        estimate, rest, mean, mean_rest, variance, factor = (
            np.stack([getattr(noisy, name) for noisy in variances]) for name in PARTS
        )
        return cls(estimate, rest, mean, mean_rest, variance, factor)


PARTS = [field.name for field in fields(Estimate)][:6]


def credit_variances(fitted: Calibrated, draws: Sequence[GainsOf]) -> list[Estimate]:
    """Variance estimates of metrics that are a credit, on these very questions."""
    # `draws`: the gains of each metric, by n. Metrics of one call share most of the work. Few
    # questions with fewer trials than k have a `ShortDraw`, whose squared bias counts as variance;
    # if it is above `MOST_BIAS`, a group has NaN: see `forecast_range`.
    asked, bias = [*draws], np.zeros((len(draws), fitted.states.groups))
    for row, gains in enumerate(draws):
        short = short_draw(gains)
        if short is None or (fitted.fewest_trials >= short.gains.size).all():
            continue
        bias_of_short = few_short(fitted, short)
        if (bias_of_short <= MOST_BIAS).any():
            asked[row], bias[row] = short, bias_of_short
    metrics = [CreditSum([(1.0, gains)]) for gains in asked]
    estimates = np.concatenate([metric.state_estimates(fitted.states) for metric in metrics])
    parts = np.full((6, *bias.shape), np.nan)
    parts[:2] = np.moveaxis(fitted.mean(estimates).reshape(len(draws), 2, -1), 1, 0)
    parts[:2, bias > MOST_BIAS] = np.nan
    known = ~np.isnan(parts[0])
    rows = np.flatnonzero(known.any(axis=1))
    if rows.size:
        capped = capped_noises(fitted, [metrics[row] for row in rows.tolist()])
        capped[2] += bias[rows] ** 2
        parts[2:, rows] = np.where(known[rows], capped, np.nan)
    return [Estimate(*parts[:, row]) for row in range(len(draws))]


MOST_BIAS = 0.02  # of the mean of a group
_LONGEST = 256  # trials of a draw: the equations of a longer one take more than a second
_FEW = 0.5  # share of the questions


def short_draw(gains: GainsOf) -> ShortDraw | None:
    """The draw that questions with fewer trials can make nearly; None if there is none."""
    drawn = gains(1)
    if drawn is not gains(2) or drawn.size > _LONGEST:
        return None
    return ShortDraw(drawn)


def few_short(fitted: Calibrated, short: ShortDraw) -> Floats:
    """Largest bias of the mean of each group, (G,); infinite if most questions are short."""
    states = fitted.states
    few = states.mean((states.n < short.gains.size).astype(np.float64)) <= _FEW
    needed = states.members[few].sum(axis=0) > 0
    bias = np.zeros(states.n.size)
    bias[needed] = short.bias(states.n[needed])
    return np.where(few, fitted.mean(bias[None])[0], np.inf)


_END = 1e-12  # from a bound: as good as on it
_LARGEST = 1e100  # shape: SciPy's inverse of the Beta integral is NaN from 1e155 on
_NARROW = 1e8  # shapes from which on the normal is closer than SciPy's inverse of the Beta integral


def clopper_pearson_interval(noisy: Estimate, confidence: Floats | float) -> tuple[Floats, Floats]:
    """Interval of each group on the scale of the metric, around the estimate; NaN without one."""
    tail = (1 - confidence) / 2
    if not noisy.bounded:
        noise = noisy.width * -scipy.special.ndtri(tail) * np.sqrt(noisy.variance * noisy.factor)
        return noisy.mu - noise, noisy.mu + noise
    lo, hi = unit_interval(noisy, effective_questions(noisy), tail)
    return noisy.low + noisy.width * lo, noisy.low + noisy.width * hi


def bound_distance(noisy: Estimate) -> Floats:
    """How far the estimate lies from the nearer bound, from 0 (on it) to 1, against its noise."""
    square = np.minimum(noisy.estimate, noisy.rest) ** 2
    both = square + noisy.variance
    distance: Floats = np.divide(square, both, out=np.zeros_like(both), where=both != 0)
    return distance


def effective_questions(noisy: Estimate) -> Floats:
    """Bernoulli questions with the variance of the estimate; infinite if that is 0."""
    distance = bound_distance(noisy)
    variance = distance * noisy.estimate * noisy.rest
    model = (1 - distance) * noisy.mean * noisy.mean_rest
    noise = noisy.variance * (1 + (noisy.factor - 1) * distance)
    questions: Floats = np.divide(
        variance + model, noise, out=np.full_like(noise, np.inf), where=noise != 0
    )
    return questions


def unit_interval(
    noisy: Estimate, questions: Floats, tail: Floats | float
) -> tuple[Floats, Floats]:
    """Both ends on the unit scale, from effective questions and the chance beyond either end."""
    known, finite = ~np.isnan(questions), np.isfinite(questions)
    some = np.where(finite, questions, 1.0)
    x, y = noisy.estimate * some, noisy.rest * some
    lo = np.where(noisy.estimate > _END, beta_quantile(x, y + 1, tail, upper=False), 0.0)
    hi = np.where(noisy.rest > _END, beta_quantile(x + 1, y, tail, upper=True), 1.0)
    exact = known & ~finite
    lo, hi = (np.where(exact, noisy.estimate, end) for end in (lo, hi))
    lo, hi = np.minimum(lo, noisy.estimate), np.maximum(hi, noisy.estimate)
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


def average_variance(
    states: States, w: Floats, strata: Subgroups[States] | None = None
) -> Estimate:
    """Variance estimate of the average weight of three or more categories."""
    # Two categories are a credit: `credit_variances` with the gain 1, by both fits.
    low, width = float(w.min()), float(w.max() - w.min())
    unit, rest = (w - low) / (width or 1.0), (w.max() - w) / (width or 1.0)
    mean, mean_rest, variance, factor = np.empty((4, states.groups))
    strata = strata or Subgroups.from_whole_groups(states)
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
    observed, left = (
        strata.weighted_sums(weighted_average(states.counts, each)) for each in (unit, rest)
    )
    return Estimate(observed, left, mean, mean_rest, variance, factor, low, width)


def _trial_noise(
    counts: Ints, weights: QuestionWeights, w: Floats, smooth: float
) -> tuple[float, float]:
    """Variance of the mean given the questions, and its largest standard deviation."""
    # Two trials of a question give it without a model, which a Dirichlet population may miss; a
    # single trial has the mean of the variance under the `smooth` fit.
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


# The critical value at which a pair gets its variance, whatever the confidence: intervals grow with
# the confidence.
CHOICE = 1.959963984540054


# Use the paired variance if the interval of the trials is not shorter than this share of it. At
# .9 up to 7 % of families of 20 equal models had a false winner, at .85 6 % (nominal 5 %).
_CLEARLY_SHORTER = 0.85


_LEAST_SHARE = 0.001


_ROUNDING = 1e-12  # in units of the range of a metric


class Reach(NamedTuple):
    """How far a model reaches in a comparison, each of shape (G,), on the unit scale."""

    noise: Floats  # root of the variance, as far as the estimate is from the bounds
    down: Floats  # what its interval adds near a bound, likewise `up`
    up: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ComparedNoise:
    """Variance of estimates that are compared on these very questions."""

    noisy: Estimate  # its factor is raised if no question has more than one trial
    most: Floats  # questions an estimate may be worth; inf with several trials

    @classmethod
    def joined(cls, variances: Sequence[ComparedNoise]) -> ComparedNoise | None:
        """The variances of several metrics one after another; None if their ranges differ."""
        if len({(each.noisy.low, each.noisy.width, each.noisy.bounded) for each in variances}) != 1:
            return None
        one, most = variances[0].noisy, np.concatenate([each.most for each in variances])
        estimate, rest, mean, mean_rest, variance, factor = (
            np.concatenate([getattr(each.noisy, name) for each in variances]) for name in PARTS
        )
        range_ = one.low, one.width, one.bounded
        return cls(Estimate(estimate, rest, mean, mean_rest, variance, factor, *range_), most)

    @classmethod
    def floored(cls, noisy: Estimate, variance: Floats, most: Floats) -> ComparedNoise:
        """Raise a variance to `variance`, that of the mean over questions, on the unit scale."""
        # A single trial says nothing of the noise given the question, which is at most the variance
        # between questions. Questions with several trials: variance 0, `most` infinite.
        least = np.divide(variance, noisy.variance, out=0 * variance, where=noisy.variance > 0)
        return cls(replace(noisy, factor=np.maximum(noisy.factor, least)), most)

    @property
    def is_single(self) -> Mask:
        """Whether no question of an estimate has more than one trial."""
        return np.isfinite(self.most)

    @property
    def hides_noise(self) -> Mask:
        """Whether single trials are all right, or all wrong."""
        return np.asarray(self.is_single & (bound_distance(self.noisy) == 0))

    def at(self, groups: Ints) -> ComparedNoise:
        """Variances of some groups, in the given order."""
        return ComparedNoise(self.noisy.at(groups), self.most[groups])

    def ends(self, tail: Floats) -> tuple[Floats, Floats]:
        """Interval of each estimate, on the scale of the metric, by its tail."""
        noisy = self.noisy
        if not noisy.bounded:
            noise = -scipy.special.ndtri(tail) * np.sqrt(noisy.variance * noisy.factor)
            return noisy.mu - noisy.width * noise, noisy.mu + noisy.width * noise
        questions = np.minimum(effective_questions(noisy), self.most)
        lo, hi = unit_interval(noisy, questions, tail)
        return noisy.low + noisy.width * lo, noisy.low + noisy.width * hi

    def uncertain_variance(self) -> Floats:
        """Variance on the scale of the metric, with what is uncertain of it."""
        noisy = self.noisy
        return np.asarray(noisy.width**2 * noisy.variance * noisy.factor)

    def rate_noise(self) -> tuple[Floats, Floats] | None:
        """The noise of one trial at the rate, and the variance of the estimate."""
        noisy = self.noisy
        if not noisy.bounded:
            return None
        return noisy.estimate * noisy.rest, noisy.variance * noisy.factor

    def reach(self, c: Floats | float) -> Reach:
        """How far each estimate reaches at a critical value."""
        noisy = self.noisy
        noise = c * np.sqrt(noisy.variance * noisy.factor)
        if not noisy.bounded:
            return Reach(noise, 0 * noise, 0 * noise)
        distance = bound_distance(noisy)
        questions = np.minimum(effective_questions(noisy), self.most)
        lo, hi = unit_interval(noisy, questions, scipy.special.ndtr(-np.asarray(c)))
        left = 1 - distance
        return Reach(distance * noise, left * (noisy.estimate - lo), left * (hi - noisy.estimate))


class ComparedSide(Protocol):
    """One side of each pair: a `ComparedNoise`, or one of other kinds of estimates."""

    @property
    def noisy(self) -> SideNoise:
        """The estimates with their noise."""

    @property
    def is_single(self) -> Mask:
        """Whether no question of an estimate has more than one trial, which says no noise."""

    @property
    def hides_noise(self) -> Mask:
        """Whether single trials are all right, or all wrong."""

    def at(self, groups: Ints) -> Self:
        """Variances of some groups, in the given order."""

    def ends(self, tail: Floats) -> tuple[Floats, Floats]:
        """Interval of each estimate, by its tail."""

    def uncertain_variance(self) -> Floats | None:
        """Variance on the scale of the metric, widened by its own noise; None: unknown."""

    def rate_noise(self) -> tuple[Floats, Floats] | None:
        """Noise of one trial and of the estimate, if that follows the rate; see `_noise_share`."""

    def reach(self, c: Floats | float) -> Reach:
        """How far each estimate reaches at a critical value."""


class SideNoise(Protocol):
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
class PairedNoise:
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
    """Variance of mean paired differences, with an allowance for ones not yet observed."""
    # As in `covariance.means_together`; NaN for one question.
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
    observed = square * (questions / (questions - 1))
    missed = (number**2 * observed + 2) / ((events + 1) * number * (number + 1))
    return np.where(np.isnan(away[0]), np.nan, observed + missed)


def takes_pairs(
    first: ComparedSide, second: ComparedSide, one: Reach, other: Reach, paired: PairedNoise
) -> Mask:
    """Pairs that use the paired variance, given how far both sides reach at `CHOICE`."""
    # Not those where single trials that all agree show no noise: 10 % of 2,000 logs of five models
    # at .8 on 15 questions with 1, 4 or 16 trials had a false winner before.
    down, up = _trial_reach(first, second, one, other, CHOICE)
    # Without a paired variance the comparison with NaN leaves the variance of the trials.
    longer = np.maximum(down, up) >= _CLEARLY_SHORTER * paired.half_width(CHOICE)
    hidden = first.hides_noise & ~second.is_single | second.hides_noise & ~first.is_single
    return np.asarray(longer & ~hidden)


def interval_ends(
    first: ComparedSide,
    second: ComparedSide,
    reaches: tuple[Reach, Reach],
    paired: PairedNoise,
    by_pairs: Mask,
    c: Floats | float,
) -> tuple[Floats, Floats]:
    """Ends of the intervals at a critical value, given how far both sides reach at it."""
    down, up = _trial_reach(first, second, *reaches, c)
    half = paired.half_width(c)
    down, up = (np.where(by_pairs, half, reach) for reach in (down, up))
    diff, width = first.noisy.mu - second.noisy.mu, first.noisy.width
    top = width if first.noisy.bounded else np.inf
    return np.clip(diff - width * down, -top, top), np.clip(diff + width * up, -top, top)


def _trial_reach(
    first: ComparedSide, second: ComparedSide, one: Reach, other: Reach, c: Floats | float
) -> tuple[Floats, Floats]:
    """How far differences reach down and up by the variance of the trials, on the unit scale."""
    root = np.sqrt(_noise_share(first, second, c))
    first_noise, second_noise = one.noise / root, other.noise / root
    down = np.hypot(first_noise + one.down, second_noise + other.up)
    return down, np.hypot(first_noise + one.up, second_noise + other.down)


def _noise_share(first: ComparedSide, second: ComparedSide, c: Floats | float) -> Floats | float:
    """Share of the noise at two equal rates that is left at the rates of each pair."""
    # Rates of models that were found to differ are far apart by selection. If both had the same
    # rate, V would be ``V (1 + d^2 / (2 S))``, S the sum of ``u (1 - u)``; for the d just decided
    # at `c`.
    one, other = first.rate_noise(), second.rate_noise()
    if one is None or other is None:
        return 1.0
    spread, variance = one[0] + other[0], one[1] + other[1]
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


def excludes_zero(ends: tuple[Floats, Floats]) -> Mask:
    """Intervals that exclude zero."""
    return np.asarray((ends[0] > 0) | (ends[1] < 0))


@dataclass(frozen=True, slots=True, eq=False)
class NoisyPairs:
    """Pairs with the variance of their trials, or of their paired differences, arrays (S, P)."""

    noisy: ComparedSide  # of all models
    a: Ints  # places of both models of each pair
    b: Ints
    paired: PairedNoise
    by_pairs: Mask  # whether a pair uses the paired variance

    @classmethod
    def from_noisy(cls, noisy: ComparedSide, a: Ints, b: Ints, paired: PairedNoise) -> NoisyPairs:
        """Pairs of models, after the choice of the variance of each."""
        reaches = pair_reaches(noisy, a, b, np.full((len(a), 1), CHOICE))
        return cls(noisy, a, b, paired, takes_pairs(noisy.at(a), noisy.at(b), *reaches, paired))

    @property
    def diff(self) -> Floats:
        """The differences of the estimates."""
        mu = self.noisy.noisy.mu
        return np.asarray(mu[self.a] - mu[self.b])

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        noisy, other = self.noisy.at(self.a).noisy, self.noisy.at(self.b).noisy
        by_trials = np.hypot(noisy.sigma, other.sigma)
        by_pairs = noisy.width * np.sqrt(self.paired.variance)
        return np.where(self.by_pairs, by_pairs, by_trials)

    @property
    def z(self) -> Floats:
        """By the paired variance in closed form; by that of the trials a root for each pair."""
        diff, width = self.diff, self.noisy.at(self.a).noisy.width
        t = standardized_differences(diff, width * np.sqrt(self.paired.variance))
        z = student_z(t, self.paired.freedom)
        if not self.by_pairs.all():
            some = ~self.by_pairs
            freedom = np.broadcast_to(self.paired.freedom, some.shape)[some][None]
            paired = PairedNoise(self.paired.variance[some][None], freedom)
            sides = self.a[some][None], self.b[some][None]
            rest = NoisyPairs(self.noisy, *sides, paired, self.by_pairs[some][None])
            z[some] = inverted_z(rest.ends, diff[some][None])[0]
        return z

    @classmethod
    def joined(cls, parts: Sequence[NoisyPairs]) -> NoisyPairs | None:
        """The pairs of several metrics of one range, one below the other; None of other metrics."""
        variances = [part.noisy for part in parts if isinstance(part.noisy, ComparedNoise)]
        joined = ComparedNoise.joined(variances)
        if joined is None or len(variances) < len(parts):
            return None
        first = np.cumsum([0, *(each.noisy.mu.size for each in variances[:-1])])
        a = np.concatenate([start + part.a for start, part in zip(first, parts, strict=True)])
        b = np.concatenate([start + part.b for start, part in zip(first, parts, strict=True)])
        variance, freedom = (
            np.concatenate([getattr(part.paired, name) for part in parts])
            for name in ("variance", "freedom")
        )
        by_pairs = np.concatenate([part.by_pairs for part in parts])
        return cls(joined, a, b, PairedNoise(variance, freedom), by_pairs)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        sides = self.noisy.at(self.a), self.noisy.at(self.b)
        reaches = pair_reaches(self.noisy, self.a, self.b, c)
        return interval_ends(*sides, reaches, self.paired, self.by_pairs, c)

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        return excludes_zero(self.ends(c))


def pairs_by_variance(
    noisy: ComparedSide, questions: Sequence[QuestionValues], a: Ints, b: Ints
) -> NoisyPairs:
    """Pairs of columns of some strata; `noisy` has as many models of each, in turn."""
    strata = len(questions)
    size = np.broadcast_shapes((strata, 1), a.shape)
    a, b = np.broadcast_to(a, size), np.broadcast_to(b, size)
    variance, freedom = np.empty(size), np.empty((strata, 1))
    for row, asked in enumerate(questions):
        variance[row] = asked.pair_variances(a[row], b[row])
        freedom[row] = asked.number - 1
    first = np.arange(strata)[:, None] * (noisy.noisy.mu.size // max(strata, 1))
    return NoisyPairs.from_noisy(noisy, first + a, first + b, PairedNoise(variance, freedom))


def pair_reaches(noisy: ComparedSide, a: Ints, b: Ints, c: Floats) -> tuple[Reach, Reach]:
    """Reaches of both sides of pairs at c, (S, P) or (S, 1), computed once for each model."""
    levels, level = np.unique(c, return_inverse=True)
    if 2 * levels.size >= a.size:  # few pairs share a value
        return noisy.at(a).reach(c), noisy.at(b).reach(c)
    level = level.reshape(c.shape)
    wanted = np.stack([a, b]) * levels.size + level
    first, place = distinct_rows([wanted.ravel()])
    code = wanted.ravel()[first]
    reached = noisy.at(code // levels.size).reach(levels[code % levels.size])
    one, other = place.reshape(wanted.shape)
    return Reach(*(each[one] for each in reached)), Reach(*(each[other] for each in reached))
