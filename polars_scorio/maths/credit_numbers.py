"""Estimates and intervals of a metric of success and failure, with all rules of their ends.

Special cases: a group in which all trials agree shows no noise, so its far end is the lowest mean
at which such a log is likely enough; beyond the trials a metric is a forecast; and Pass@k is
bounded by smaller draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_slices
from polars_scorio.maths.credit_at_rates import RootDraw, credit_at, largest_bias
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    average_sides,
    draw_chance_rows,
    only_success,
)
from polars_scorio.maths.free_fit import Calibrated, Fits, Group, rate_nodes
from polars_scorio.maths.questions import QuestionWeights, States, Subgroups
from polars_scorio.maths.region import largest_means
from polars_scorio.maths.sample_bound import QuestionSample, population_variance
from polars_scorio.maths.variance import CreditSum, GainsOf, credit_of, fixed_gains, state_estimates
from polars_scorio.maths.variance_estimates import (
    MOST_BIAS,
    Estimate,
    clopper_pearson_interval,
    credit_variances,
    few_short,
    short_draw,
)


class SuccessDraw(NamedTuple):
    """A draw of k trials that earns everything if all succeed, or else if any does."""

    k: int
    every: bool

    def draw_gains(self) -> GainsOf:
        """The gains of each success."""
        return fixed_gains(all_success(self.k) if self.every else any_success(self.k))


@dataclass(frozen=True, slots=True)
class DrawBounds:
    """The draws that bound a metric."""

    itself: SuccessDraw | None  # the draw of the metric, if it is Pass@k or Pass^k
    smaller: tuple[SuccessDraw, ...]  # draws whose numbers it is never below, or never above
    above: bool  # whether it is never below them


def draw_bounds(gains: GainsOf, n: Ints) -> DrawBounds:
    """The draws that bound a metric that is a credit; `n` are the trials that questions have."""
    # Pass@k and Pass^k have j = 1, 2, 4, ... below k that some question has trials for; any other
    # credit that is nowhere below (above) the share of successes has j = 1.
    drawn, other = gains(1), gains(2)
    if isinstance(gains, RootDraw) or other is not drawn:
        return DrawBounds(None, (), above=False)  # a root of credits, or a draw for each n
    itself = _success_draw(drawn)
    if itself is not None:
        # A group has all those that its questions have trials for, whatever other groups have.
        most = min(itself.k - 1, max(int(n.max(initial=0)), 1))
        sizes = [2**power for power in range(most.bit_length())]
        smaller = tuple(SuccessDraw(j, itself.every and j > 1) for j in sizes)
        return DrawBounds(itself, smaller, above=not itself.every)
    above, below = average_sides(drawn)
    return DrawBounds(None, (SuccessDraw(1, every=False),) if above != below else (), above)


def smaller_draws(bounds: Sequence[DrawBounds]) -> list[SuccessDraw]:
    """The draws that bound some metrics and are none of them, in ascending order."""
    bounding = {small for each in bounds for small in each.smaller}
    return sorted(bounding - {each.itself for each in bounds})


def _success_draw(gains: Floats) -> SuccessDraw | None:
    """The draw, if any success earns everything, or the last one does."""
    k, success = gains.size, only_success(gains)
    if success not in {1, k} or gains.max() != 1:
        return None
    return SuccessDraw(k, every=success > 1)


class Ends(NamedTuple):
    """How far the intervals of some draws reach at least, (C, G); infinite: no demand."""

    lo: Floats
    hi: Floats


def saturated_ends(
    fitted: Calibrated, draws: Sequence[GainsOf], confidence: Floats | float
) -> Ends:
    """How far intervals reach where all trials of a group succeed, or all fail."""
    # The lowest mean of rates at which a log without a failure has a chance of 1 - confidence (C.
    # J. Clopper, E. S. Pearson 1934, Biometrika 26, 404-413), if one question has it, or some, or
    # all.
    shape = len(draws), fitted.states.groups
    lo, hi = np.full(shape, np.inf), np.full(shape, -np.inf)
    tails = np.broadcast_to(1 - np.asarray(confidence), shape[1:])
    for column in np.flatnonzero(saturated_groups(fitted)).tolist():
        group, weights = fitted.groups[column], fitted.weights[column]
        right = bool(group.c.all())
        share, unseen, rest = _unseen_rates(group, weights, float(tails[column]))
        p, q = (rest, unseen) if right else (unseen, rest)
        for row, draw in enumerate(draws):
            observed, possible = _seen_and_possible(draw, int(group.n.min()), p, q, right=right)
            means = observed + share * (possible - observed)
            if right:
                lo[row, column] = means.min()
            else:
                hi[row, column] = means.max()
    return Ends(lo, hi)


def saturated_groups(fitted: Calibrated) -> Mask:
    """Whether all trials of a group succeed, or all fail, shape (G,)."""
    states = fitted.states
    mixed = states.sum_questions((states.counts > 0).T.astype(np.float64)) > 0
    return np.asarray(~mixed.all(axis=0), dtype=np.bool_)


def _seen_and_possible(
    draw: GainsOf, trials: int, p: Floats, q: Floats, *, right: bool
) -> tuple[float, Floats]:
    """Credit of a question that always succeeds (always fails), and of those with rates p."""
    if isinstance(draw, RootDraw):
        return float(right), draw.at_rates(p, q)
    gains = draw(trials)
    return float(gains.sum()) if right else 0.0, credit_at(p, q, gains)


def _unseen_rates(
    group: Group, weights: QuestionWeights, chance: float
) -> tuple[Floats, Floats, Floats]:
    """Rates of unobserved outcomes, their complements, and the share of questions with them."""
    # One question has it, or two, or four, up to all, and none shows it with the given chance.
    # Questions have as many trials as on average: n does not follow their rates.
    questions = 1 / float(weights.second.sum())  # effective number of equal weight
    some = np.append(2.0 ** np.arange(np.ceil(np.log2(questions))), questions)
    share = np.append(weights.largest, some[1:] / questions) if questions > 1 else np.ones(1)
    trials = float(group.questions @ group.n) / group.size
    logs = np.log(chance) / (trials * some)
    return share, -np.expm1(logs), np.exp(logs)


_FURTHEST = 2  # draws that the free fit predicts, over the trials of the shortest question


class CreditRange(NamedTuple):
    """Expected credit of a draw, and its range, each of shape (G,)."""

    mu: Floats
    lo: Floats
    hi: Floats


def forecast_range(
    fitted: Calibrated,
    gains: Floats | RootDraw,
    confidence: Floats | float,
    where: Mask | None = None,
) -> CreditRange:
    """Mean credit (G,) of draws of any size, with its range over all populations not rejected."""
    # NaN outside `where`; `mu` also beyond twice the trials of the shortest question, where neither
    # fit predicts it: at four times as many a third of the populations had a bias above .05.
    numbers = np.full((3, fitted.states.groups), np.nan)
    confidences = np.broadcast_to(np.asarray(confidence, dtype=float), fitted.states.groups)
    for groups, fits in fitted.batches:
        rows = np.arange(groups.size) if where is None else np.flatnonzero(where[groups])
        if not rows.size:
            continue
        members = groups[rows]
        rates = rate_nodes(fits.weight.shape[1])
        values = gains.at_rates(*rates) if isinstance(gains, RootDraw) else credit_at(*rates, gains)
        mean, lo, hi = _likely_ranges(fits, rows, values, confidences[members])
        mean[gains.size > _FURTHEST * fitted.fewest_trials[members]] = np.nan
        numbers[:, members] = mean, lo, hi
    return CreditRange(*numbers)


def _likely_ranges(
    fits: Fits, rows: Ints, values: Floats, confidence: Floats
) -> tuple[Floats, Floats, Floats]:
    """Means and ranges of some groups, from the credit at each rate; see `forecast_range`."""
    questions = fits.questions[rows]
    often = (questions / fits.chance[rows]) @ fits.likelihood * fits.weight[rows]
    mean = often @ values / fits.size[rows]
    # Both ends of each group at once.
    signed = np.repeat([-values, values], rows.size, axis=0)
    twice = np.tile(rows, 2)
    room = np.tile(scipy.special.chdtri(1, 1 - confidence) / 2, 2)
    likeliest = fits.likeliest_weights(twice)
    ends = largest_means(fits.likelihood, fits.questions[twice], likeliest, signed, room)
    low, high = max(float(values.min()), 0.0), min(float(values.max()), 1.0)
    lo, hi = np.clip([-ends[: rows.size], ends[rows.size :]], low, high)
    # In a narrow range the mean may differ from an end by a rounding.
    return np.clip(mean, lo, hi), lo, hi


_FEWEST, _MOST = 8, 2**15  # trials; a quarter of the most has a fit of 70 MB


def holdout_error(group: Group, gains: Floats) -> float:
    """Forecast of n trials from n // 4 of them by the free fit, less the value of all n trials."""
    # NaN unless all questions have the same n, from 8 to 32,768.
    n, part = int(group.n[0]), int(group.n[0]) // 4
    if not _FEWEST <= n <= _MOST or (group.n != n).any():
        return float("nan")
    c = np.arange(part + 1)
    # A share of a question is as good as a question to either fit.
    questions = np.zeros(part + 1)
    for rows in row_slices(group.c.size, part + 1):
        questions += group.questions[rows] @ draw_chance_rows(n, part, group.c[rows])
    held = Group.fit(np.full_like(c, part), c, questions)
    expected = questions @ (held.posterior @ credit_at(*held.rates, gains))
    return float(expected - group.questions @ credit_of(gains)[group.c]) / group.size


class Numbers(NamedTuple):
    """Numbers of a metric in each group, on the metric's scale, each of shape (G,)."""

    estimate: Floats  # unbiased; NaN if k exceeds the trials of some question
    mu: Floats  # the estimate, or the free fit's prediction if k exceeds the trials
    sigma: Floats  # of the estimate; NaN for forecasts
    lo: Floats  # interval, or range of a forecast, up to `hi`
    hi: Floats
    forecast: Mask  # whether it is one
    noisy: Estimate | None = None  # for comparisons; None about a population

    def scaled(self, low: float, high: float) -> Numbers:
        """Rescale to a metric that is `low` for a credit of 0 and `high` for a credit of 1."""
        width = high - low
        estimate, mu, lo, hi = (
            low + width * number for number in (self.estimate, self.mu, self.lo, self.hi)
        )
        noisy = self.noisy and replace(self.noisy, low=low, width=width)
        return Numbers(estimate, mu, width * self.sigma, lo, hi, self.forecast, noisy)

    def with_ends_within(self, least: Floats, most: Floats) -> Numbers:
        """The numbers, with the interval clipped to two bounds, but never past `mu`."""
        lo, hi = np.maximum(self.lo, least), np.minimum(self.hi, most)
        # The middle of a forecast may lie beyond the bounds.
        lo, hi = np.where(lo > self.mu, self.mu, lo), np.where(hi < self.mu, self.mu, hi)
        return self._replace(lo=lo, hi=hi)

    def with_ends_beyond(self, most_lo: Floats, least_hi: Floats) -> Numbers:
        """The numbers, with an interval that reaches at least this far on either side."""
        return self._replace(lo=np.minimum(self.lo, most_lo), hi=np.maximum(self.hi, least_hi))


def credit_numbers(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    confidence: Floats | float,
    target: Literal["benchmark", "population"] = "benchmark",
    clusters: Subgroups[States] | None = None,
) -> list[Numbers]:
    """Estimates and intervals of metrics that are a credit; those of one call share most work."""
    bounds = [draw_bounds(gains, fitted.states.n) for gains in draws]
    further = smaller_draws(bounds)
    every = [*draws, *(small.draw_gains() for small in further)]
    measured = measured_numbers(fitted, every, confidence, target, clusters)
    parts = [
        _with_forecast(fitted, gains, confidence, numbers)
        for gains, numbers in zip(draws, measured, strict=False)
    ]
    return bounded_numbers(fitted, bounds, parts, measured[len(draws) :])


def measured_numbers(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    confidence: Floats | float,
    target: Literal["benchmark", "population"] = "benchmark",
    clusters: Subgroups[States] | None = None,
) -> list[Numbers]:
    """`credit_numbers` of each metric by itself; NaN where k exceeds the trials."""
    states = fitted.states
    if target == "population":
        sample = QuestionSample(states, clusters)
        return [_population_numbers(fitted, gains, sample, confidence) for gains in draws]
    estimates = _numbers_of_each(credit_variances(fitted, draws), confidence)
    biased = [
        with_bias(numbers, _mean_bias(states, gains)) if isinstance(gains, RootDraw) else numbers
        for gains, numbers in zip(draws, estimates, strict=True)
    ]
    return with_saturated_ends(fitted, draws, biased, confidence)


def with_saturated_ends(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    numbers: Sequence[Numbers],
    confidence: Floats | float,
) -> list[Numbers]:
    """Numbers of draws, with intervals that reach at least as far as `saturated_ends`."""
    ends = saturated_ends(fitted, draws, confidence)
    return [each.with_ends_beyond(*pair) for each, *pair in zip(numbers, *ends, strict=True)]


def bounded_numbers(
    fitted: Calibrated,
    bounds: Sequence[DrawBounds],
    parts: Sequence[Numbers],
    further: Sequence[Numbers],
) -> list[Numbers]:
    """Numbers of credits, with intervals that agree with those of smaller draws."""
    # Pass@k is never below Pass@j of a smaller j, Pass^k never above: no interval reaches beyond
    # the far end of j = 1, 2, 4, ... as long as a question has 2 j trials, which show the noise.
    known = {each.itself: numbers for each, numbers in zip(bounds, parts, strict=True)}
    known |= zip(smaller_draws(bounds), further, strict=True)
    fewest = fitted.fewest_trials
    bounded = []
    for numbers, each in zip(parts, bounds, strict=True):
        least, most = np.full((2, fewest.size), [[-np.inf], [np.inf]])
        for small in each.smaller:
            estimable = (2 * small.k <= fewest) | (small.k == 1)
            if each.above:
                least = np.where(estimable, np.maximum(least, known[small].lo), least)
            else:
                most = np.where(estimable, np.minimum(most, known[small].hi), most)
        bounded.append(numbers.with_ends_within(least, most))
    return bounded


def variance_numbers(noisy: Estimate, confidence: Floats | float) -> Numbers:
    """Estimate and interval of a blend, of Max@k or of an average, from its variance."""
    lo, hi = clopper_pearson_interval(noisy, confidence)
    certain = np.zeros_like(noisy.estimate, dtype=np.bool_)
    return Numbers(noisy.mu, noisy.mu, noisy.sigma, lo, hi, certain, noisy)


def _numbers_of_each(variances: Sequence[Estimate], confidence: Floats | float) -> list[Numbers]:
    """`variance_numbers` of some variances on the unit scale, with the ends of all at once."""
    stacked = Estimate.stacked(variances)
    ends = clopper_pearson_interval(stacked, confidence)
    return [
        Numbers(mu, mu, sigma, lo, hi, np.zeros_like(lo, dtype=np.bool_), noisy)
        for noisy, mu, sigma, lo, hi in zip(
            variances, stacked.mu, stacked.sigma, *ends, strict=True
        )
    ]


def sample_numbers(
    values: Floats,
    sigma: Floats,
    sample: QuestionSample,
    confidence: Floats | float,
    bias: Floats | None = None,
) -> Numbers:
    """Estimate and interval of the mean over a population of questions."""
    # `values`, `bias` (S,): estimate of a question, in [0, 1], and its largest bias; `sigma` (G,).
    mean, (lo, hi) = sample.questions.mean(values), sample.units(values, bias).bounds(confidence)
    # If all units are alike, the mean may differ from an end by a rounding.
    lo, hi = np.minimum(lo, mean), np.maximum(hi, mean)
    return Numbers(mean, mean, sigma, lo, hi, np.zeros_like(mean, dtype=np.bool_))


def _population_numbers(
    fitted: Calibrated, gains: GainsOf, sample: QuestionSample, confidence: Floats | float
) -> Numbers:
    """The numbers of a credit over a population, without forecasts."""
    states = fitted.states
    values, _ = state_estimates(states, gains)
    known = ~np.isnan(states.mean(values))
    if not known.all() and (short := short_draw(gains)) is not None:
        few = few_short(fitted, short) <= MOST_BIAS
        if few[~known].any():
            gains, known, (values, _) = short, few, state_estimates(states, short)
    independent = population_variance(fitted, CreditSum([(1.0, gains)]), known)
    sigma = sample.sigma(values, independent)
    numbers = sample_numbers(values, sigma, sample, confidence, largest_bias(gains, states.n))
    estimate, sigma, lo, hi = (
        np.where(known, each, np.nan)
        for each in (numbers.estimate, numbers.sigma, numbers.lo, numbers.hi)
    )
    return Numbers(estimate, estimate, sigma, lo, hi, numbers.forecast)


def _mean_bias(states: States, gains: GainsOf) -> Floats:
    """Largest bias of the mean estimate of each group."""
    return states.mean(largest_bias(gains, states.n))


def with_bias(numbers: Numbers, bias: Floats) -> Numbers:
    """The numbers of an estimate in [0, 1], with its largest bias added to both ends."""
    lo, hi = np.maximum(numbers.lo - bias, 0.0), np.minimum(numbers.hi + bias, 1.0)
    return numbers._replace(lo=lo, hi=hi)


def forecast_numbers(fitted: Calibrated, gains: GainsOf, confidence: float) -> Numbers:
    """The forecast of a metric that is a credit, for each group: mu and the range."""
    unknown = np.full(fitted.states.groups, np.nan)
    mu, lo, hi = forecast_range(fitted, _drawn_credit(gains), confidence)
    forecast = Numbers(unknown, mu, unknown, lo, hi, np.isnan(unknown))
    bounds = [draw_bounds(gains, fitted.states.n)]
    smaller = [small.draw_gains() for small in smaller_draws(bounds)]
    further = measured_numbers(fitted, smaller, confidence) if smaller else []
    return bounded_numbers(fitted, bounds, [forecast], further)[0]


def _with_forecast(
    fitted: Calibrated, gains: GainsOf, confidence: Floats | float, numbers: Numbers
) -> Numbers:
    """The numbers, with a forecast if k exceeds the trials."""
    beyond = np.isnan(numbers.estimate)
    if not beyond.any():
        return numbers
    forecast = forecast_range(fitted, _drawn_credit(gains), confidence, beyond)
    mu, lo, hi = (
        np.where(beyond, there, here)
        for there, here in zip(forecast, (numbers.mu, numbers.lo, numbers.hi), strict=True)
    )
    return numbers._replace(mu=mu, lo=lo, hi=hi, forecast=beyond)


def _drawn_credit(gains: GainsOf) -> Floats | RootDraw:
    """The gains of a draw whose size is the same for all questions."""
    return gains if isinstance(gains, RootDraw) else gains(1)
