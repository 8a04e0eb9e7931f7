"""Numbers of a metric of success and failure, with all rules of their ends.

Such counts show no noise, and a fitted population is left to say it. They are most likely where
every rate is 1 (or 0), and reject other rates by their chance alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_slices
from polars_scorio.maths.credit import all_success, any_success, average_sides, only_success
from polars_scorio.maths.credit_at_rates import RootDraw, credit_at, largest_bias
from polars_scorio.maths.draws import draw_chance_rows
from polars_scorio.maths.free_fit import Calibrated, Group
from polars_scorio.maths.price import Price, clopper_pearson_interval, credit_prices
from polars_scorio.maths.questions import Clustered, QuestionWeights, States
from polars_scorio.maths.region import Region
from polars_scorio.maths.sample_bound import QuestionSample, population_variance
from polars_scorio.maths.variance import CreditSum, GainsOf, credit_of, fixed_gains, state_estimates


class SuccessDraw(NamedTuple):
    """A draw of k trials that earns everything if all succeed, or else if any does."""

    k: int
    every: bool

    def draw_gains(self) -> GainsOf:
        """The gains of each success."""
        return fixed_gains(all_success(self.k) if self.every else any_success(self.k))


@dataclass(frozen=True, slots=True)
class DrawBounds:
    """The draws that bound a metric.

    Attributes
    ----------
    itself : SuccessDraw or None
        The draw of the metric, if it is of this kind.
    smaller : tuple of SuccessDraw
        Draws whose numbers it is never below, or never above.
    above : bool
        Whether it is never below them.
    """

    itself: SuccessDraw | None
    smaller: tuple[SuccessDraw, ...]
    above: bool


def draw_bounds(gains: GainsOf, n: Ints) -> DrawBounds:
    """The draws that bound a metric that is a credit.

    Pass@k and Pass^k have those of j = 1, 2, 4, ... below k that some question has trials for; any
    other credit that is nowhere below (above) the share of successes has j = 1.

    Parameters
    ----------
    gains : callable
        The gains of the metric.
    n : ndarray of int
        The numbers of trials that questions have.

    Examples
    --------
    >>> import numpy as np
    >>> [small.k for small in draw_bounds(fixed_gains(any_success(8)), np.array([4, 16])).smaller]
    [1, 2, 4]
    """
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
    """The draws that bound some metrics and are none of them, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = [draw_bounds(fixed_gains(any_success(k)), np.array([8])) for k in (2, 8)]
    >>> [small.k for small in smaller_draws(bounds)]
    [1, 4]
    """
    bounding = {small for each in bounds for small in each.smaller}
    return sorted(bounding - {each.itself for each in bounds})


def _success_draw(gains: Floats) -> SuccessDraw | None:
    """The draw, if any success earns everything, or the last one does."""
    k, success = gains.size, only_success(gains)
    if success not in {1, k} or gains.max() != 1:
        return None
    return SuccessDraw(k, every=success > 1)


class Ends(NamedTuple):
    """How far the intervals of some draws reach at least, each of shape (C, G).

    Attributes
    ----------
    lo, hi : ndarray of float
        Infinite, of either sign, where nothing is asked of the interval.
    """

    lo: Floats
    hi: Floats


def saturated_ends(
    fitted: Calibrated, draws: Sequence[GainsOf], confidence: Floats | float
) -> Ends:
    """How far intervals reach where all trials of a group succeed, or all fail.

    The lowest mean of the questions under success rates at which a log without a failure has a
    chance of 1 - confidence: nothing else can be missed, as the upper end is that of the range.
    Either some questions share the failures that were not seen, or all do, whichever mean is lower
    [1]_.

    Parameters
    ----------
    fitted : Calibrated
        The groups.
    draws : sequence of callable
        The gains of each metric.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson (1934), Biometrika 26, 404-413, for a single rate.

    Examples
    --------
    Five questions, right in all 16 trials: Pass^16 may be .05^(1/5).

    >>> from polars_scorio.maths.variance import fixed_gains
    >>> from polars_scorio.maths.credit import all_success
    >>> from polars_scorio.maths.questions import States
    >>> counts, one = np.tile([0, 16], (5, 1)), np.ones(5, dtype=int)
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, 0 * one, one, 1))
    >>> saturated_ends(fitted, [fixed_gains(all_success(16))], 0.95).lo.round(3)
    array([[0.549]])
    """
    shape = len(draws), len(fitted.groups)
    lo, hi = np.full(shape, np.inf), np.full(shape, -np.inf)
    tails = np.broadcast_to(1 - np.asarray(confidence), shape[1:])
    for column, (group, weights) in enumerate(zip(fitted.groups, fitted.weights, strict=True)):
        if not is_saturated(group):
            continue
        right = _all_succeed(group)
        share, unseen, rest = _unseen_rates(group, weights, float(tails[column]))
        p, q = (rest, unseen) if right else (unseen, rest)
        for row, draw in enumerate(draws):
            seen, possible = _seen_and_possible(draw, int(group.n.min()), p, q, right=right)
            means = seen + share * (possible - seen)
            if right:
                lo[row, column] = means.min()
            else:
                hi[row, column] = means.max()
    return Ends(lo, hi)


def is_saturated(group: Group) -> bool:
    """Whether all trials of a group succeed, or all fail."""
    return _all_succeed(group) or not group.c.any()


def _all_succeed(group: Group) -> bool:
    return bool((group.c == group.n).all())


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
    """Rates of what was not seen, and their complements, with the weight of those that have them.

    One question has it, or two, or four, up to all: that none of them shows it in its trials has
    the given chance. Questions have as many trials as on average: n does not follow their rates.
    """
    questions = 1 / float(weights.second.sum())  # of the same weight
    some = np.append(2.0 ** np.arange(np.ceil(np.log2(questions))), questions)
    share = np.append(weights.largest, some[1:] / questions) if questions > 1 else np.ones(1)
    trials = float(group.questions @ group.n) / group.size
    logs = np.log(chance) / (trials * some)
    return share, -np.expm1(logs), np.exp(logs)


_FURTHEST = 2  # draws that the free fit predicts, over the trials of the shortest question


class Range(NamedTuple):
    """Expected credit of a draw, and its range, each of shape (G,)."""

    mu: Floats
    lo: Floats
    hi: Floats


def forecast_range(
    fitted: Calibrated,
    gains: Floats | RootDraw,
    confidence: Floats | float,
    where: Mask | None = None,
) -> Range:
    """The mean credit of draws of any size, in each group.

    Nothing identifies it where k exceeds the trials: the range is over all distributions of success
    rates whose log likelihood is within half a quantile of chi square of the largest.

    Parameters
    ----------
    fitted : Calibrated
        The groups and their fits.
    gains : ndarray of float, shape (k,), or RootDraw
        What each success adds to the credit; or Geom@k, which is no such sum.
    confidence : float or ndarray of float, shape (G,)
        Of the range, inside (0, 1).
    where : ndarray of bool, shape (G,), optional
        The groups that are asked for; NaN in the others.

    Returns
    -------
    Range
        `mu` is the mean under the free fit for draws of up to twice as many trials as the shortest
        question has; NaN beyond, where neither fit predicts it: of four times as many, the bias is
        above .05 in a third of the populations that were tried.

    Examples
    --------
    Three failures and seven successes, one trial each: two trials of a question may well be equal.

    >>> from polars_scorio.maths.questions import States
    >>> counts, every = np.array([[1, 0], [0, 1]]), np.array([0, 0])
    >>> states = States.tally(counts, 0 * counts, every, np.array([3, 7]), 1)
    >>> ahead = forecast_range(Calibrated.fit(states), np.array([1.0, 0.0]), 0.95)
    >>> print(*(end.round(4) for end in ahead))
    [0.8351] [0.3935] [0.9928]
    """
    numbers = np.full((3, len(fitted.groups)), np.nan)
    confidences = np.broadcast_to(confidence, len(fitted.groups)).tolist()
    asked = range(len(fitted.groups)) if where is None else np.flatnonzero(where).tolist()
    for column in asked:
        group = fitted.groups[column]
        rates = group.free.rates
        values = gains.at_rates(*rates) if isinstance(gains, RootDraw) else credit_at(*rates, gains)
        mean, *numbers[1:, column] = _group_range(group, values, confidences[column])
        if gains.size <= _FURTHEST * group.n.min():
            numbers[0, column] = mean
    return Range(*numbers)


def _group_range(group: Group, values: Floats, confidence: float) -> tuple[float, float, float]:
    """Mean and range of one group, from the credit at each rate; see `forecast_range`."""
    free = group.free
    mean = float(group.questions @ (free.posterior @ values) / group.size)
    room = float(scipy.special.chdtri(1, 1 - confidence)) / 2
    region = Region.around(free.likelihood, free.questions, free.best, room)
    low, high = max(float(values.min()), 0.0), min(float(values.max()), 1.0)
    lo, hi = np.clip((-region.largest(-values), region.largest(values)), low, high).tolist()
    # In a narrow range the mean may differ from an end by a rounding.
    return float(np.clip(mean, lo, hi)), lo, hi


_FEWEST, _MOST = 8, 2**15  # trials; a quarter of the most has a fit of 70 MB


def holdout_error(group: Group, gains: Floats) -> float:
    """Forecast of n trials from n // 4 of them by the free fit, less the value of all n trials.

    Parameters
    ----------
    group : Group
        Its questions have equally many trials, n.
    gains : ndarray of float, shape (n,)
        What each success adds to the credit of all n trials.

    Returns
    -------
    float
        The mean over every choice of the n // 4 trials enters the fit; NaN below eight trials, and
        above 32,768, where the fit would need too much memory.

    Examples
    --------
    Of 8 trials half of the questions get all right, half none: two of them show that.

    >>> n, c, questions = np.array([8, 8]), np.array([0, 8]), np.array([50, 50])
    >>> round(holdout_error(Group.fit(n, c, questions), np.eye(8)[7]), 1)
    -0.0
    """
    n, part = int(group.n[0]), int(group.n[0]) // 4
    if not _FEWEST <= n <= _MOST or len(group.levels) > 1:
        return float("nan")
    c = np.arange(part + 1)
    # A share of a question is as good as a question to either fit.
    questions = np.zeros(part + 1)
    for rows in row_slices(group.c.size, part + 1):
        questions += group.questions[rows] @ draw_chance_rows(n, part, group.c[rows])
    held = Group.fit(np.full_like(c, part), c, questions)
    expected = questions @ (held.free.posterior @ credit_at(*held.free.rates, gains))
    return float(expected - group.questions @ credit_of(gains)[group.c]) / group.size


class Numbers(NamedTuple):
    """Numbers of a metric in each group, on the metric's scale, each of shape (G,).

    Attributes
    ----------
    estimate : ndarray of float
        The unbiased estimate; NaN where k exceeds the trials of some question.
    mu : ndarray of float
        The same; there, what the free fit expects.
    sigma : ndarray of float
        Standard deviation of the estimate; NaN there.
    lo, hi : ndarray of float
        The interval; there, the range of a forecast.
    forecast : ndarray of bool
        Where that is.
    price : Price or None
        What they are made of, for comparisons; None about a population.
    """

    estimate: Floats
    mu: Floats
    sigma: Floats
    lo: Floats
    hi: Floats
    forecast: Mask
    price: Price | None = None

    def scaled(self, low: float, high: float) -> Numbers:
        """Rescale to a metric that is `low` for a credit of 0 and `high` for a credit of 1."""
        width = high - low
        estimate, mu, lo, hi = (
            low + width * number for number in (self.estimate, self.mu, self.lo, self.hi)
        )
        price = self.price and replace(self.price, low=low, width=width)
        return Numbers(estimate, mu, width * self.sigma, lo, hi, self.forecast, price)

    def with_ends_within(self, least: Floats, most: Floats) -> Numbers:
        """The numbers, with the part of the interval between two bounds."""
        lo, hi = np.maximum(self.lo, least), np.minimum(self.hi, most)
        # The middle of a forecast may lie beyond the bounds.
        lo, hi = np.where(lo > self.mu, self.mu, lo), np.where(hi < self.mu, self.mu, hi)
        return self._replace(lo=lo, hi=hi)

    def with_ends_beyond(self, most_lo: Floats, least_hi: Floats) -> Numbers:
        """The numbers, with an interval that goes so far on either side."""
        return self._replace(lo=np.minimum(self.lo, most_lo), hi=np.maximum(self.hi, least_hi))


def credit_numbers(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    confidence: Floats | float,
    target: Literal["benchmark", "population"] = "benchmark",
    clusters: Clustered[States] | None = None,
) -> list[Numbers]:
    """The numbers of metrics that are a credit.

    Parameters
    ----------
    fitted, draws
        As for `credit_prices`; metrics that are asked for together share most of the work.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals, inside (0, 1).
    target : "benchmark" or "population"
        The mean over these questions, or over the population they come from.
    clusters : Clustered, optional
        The same questions in their clusters, which are a sample of the population then.

    Returns
    -------
    list of Numbers

    Examples
    --------
    Two questions with two trials each; three trials are a forecast.

    >>> from polars_scorio.maths.variance import fixed_gains
    >>> from polars_scorio.maths.questions import States
    >>> counts, one = np.array([[1, 1], [0, 2]]), np.array([1, 1])
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, 0 * one, one, 1))
    >>> draws = [fixed_gains(np.array([1.0])), fixed_gains(np.array([1.0, 0.0, 0.0]))]
    >>> for numbers in credit_numbers(fitted, draws, 0.95):
    ...     print(*(number.round(3) for number in numbers[:3]), numbers.forecast)
    [0.75] [0.75] [0.205] [False]
    [nan] [0.932] [nan] [ True]
    """
    bounds = [draw_bounds(gains, fitted.states.n) for gains in draws]
    further = smaller_draws(bounds)
    every = [*draws, *(small.draw_gains() for small in further)]
    measured = measured_numbers(fitted, every, confidence, target, clusters)
    found = [
        _with_forecast(fitted, gains, confidence, numbers)
        for gains, numbers in zip(draws, measured, strict=False)
    ]
    return bounded_numbers(fitted, bounds, found, measured[len(draws) :])


def measured_numbers(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    confidence: Floats | float,
    target: Literal["benchmark", "population"] = "benchmark",
    clusters: Clustered[States] | None = None,
) -> list[Numbers]:
    """The numbers of metrics that are a credit, each by itself; NaN where k exceeds the trials.

    Parameters
    ----------
    fitted, draws, confidence, target, clusters
        As for `credit_numbers`.
    """
    states = fitted.states
    if target == "population":
        sample = QuestionSample(states, clusters)
        return [_population_numbers(fitted, gains, sample, confidence) for gains in draws]
    priced = _numbers_of_each(credit_prices(fitted, draws), confidence)
    biased = [
        with_bias(numbers, _mean_bias(states, gains)) if isinstance(gains, RootDraw) else numbers
        for gains, numbers in zip(draws, priced, strict=True)
    ]
    return with_saturated_ends(fitted, draws, biased, confidence)


def with_saturated_ends(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    numbers: Sequence[Numbers],
    confidence: Floats | float,
) -> list[Numbers]:
    """The numbers of draws, whose intervals reach as far as `saturated_ends` at least."""
    ends = saturated_ends(fitted, draws, confidence)
    return [each.with_ends_beyond(*pair) for each, *pair in zip(numbers, *ends, strict=True)]


def bounded_numbers(
    fitted: Calibrated,
    bounds: Sequence[DrawBounds],
    found: Sequence[Numbers],
    further: Sequence[Numbers],
) -> list[Numbers]:
    """The numbers of metrics that are a credit, whose intervals agree with those of smaller draws.

    Pass@k is never below Pass@j of a smaller j, and Pass^k never above Pass^j: no interval reaches
    beyond the far end of that of j = 1, 2, 4, ... as long as a question has 2 j trials, which show
    the noise. The intervals of Pass@k and Pass^k by themselves are wider where nearly all trials
    agree: with k = n a question gives one draw. Other credits on one side of the average are
    bounded by j = 1.

    Parameters
    ----------
    fitted : Calibrated
        The groups.
    bounds : sequence of DrawBounds
        The draws that bound each metric.
    found : sequence of Numbers
        The numbers of each metric by itself.
    further : sequence of Numbers
        The numbers of `smaller_draws` of these bounds.
    """
    known = {each.itself: numbers for each, numbers in zip(bounds, found, strict=True)}
    known |= zip(smaller_draws(bounds), further, strict=True)
    fewest = np.array([group.n.min() for group in fitted.groups])
    bounded = []
    for numbers, each in zip(found, bounds, strict=True):
        least, most = np.full((2, fewest.size), [[-np.inf], [np.inf]])
        for small in each.smaller:
            shown = (2 * small.k <= fewest) | (small.k == 1)
            if each.above:
                least = np.where(shown, np.maximum(least, known[small].lo), least)
            else:
                most = np.where(shown, np.minimum(most, known[small].hi), most)
        bounded.append(numbers.with_ends_within(least, most))
    return bounded


def price_numbers(price: Price, confidence: Floats | float) -> Numbers:
    """The numbers of a price: of a blend, of Max@k, of an average.

    Parameters
    ----------
    price, confidence
        As for `clopper_pearson_interval`.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> price_numbers(Price(half, half, half, half, 0 * half, half + 0.5), 0.95).lo
    array([0.5])
    """
    lo, hi = clopper_pearson_interval(price, confidence)
    certain = np.zeros_like(price.estimate, dtype=np.bool_)
    return Numbers(price.mu, price.mu, price.sigma, lo, hi, certain, price)


def _numbers_of_each(prices: Sequence[Price], confidence: Floats | float) -> list[Numbers]:
    """`price_numbers` of some prices on the unit scale, with the ends of all at once."""
    stacked = Price.stacked(prices)
    ends = clopper_pearson_interval(stacked, confidence)
    return [
        Numbers(mu, mu, sigma, lo, hi, np.zeros_like(lo, dtype=np.bool_), price)
        for price, mu, sigma, lo, hi in zip(prices, stacked.mu, stacked.sigma, *ends, strict=True)
    ]


def sample_numbers(
    values: Floats,
    sigma: Floats,
    sample: QuestionSample,
    confidence: Floats | float,
    bias: Floats | None = None,
) -> Numbers:
    """The numbers of the mean over a population of questions.

    Parameters
    ----------
    values : ndarray of float, shape (S,)
        The estimate of a question in each state, inside [0, 1].
    sigma : ndarray of float, shape (G,)
        Standard deviation of the mean, as of `QuestionSample.sigma`.
    sample : QuestionSample
        The questions, or their clusters.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals.
    bias : ndarray of float, shape (S,), optional
        Largest bias of these estimates; default 0.
    """
    mean, (lo, hi) = sample.questions.mean(values), sample.units(values, bias).bounds(confidence)
    # If all units are alike, the mean may differ from an end by a rounding.
    lo, hi = np.minimum(lo, mean), np.maximum(hi, mean)
    return Numbers(mean, mean, sigma, lo, hi, np.zeros_like(mean, dtype=np.bool_))


def _population_numbers(
    fitted: Calibrated, gains: GainsOf, sample: QuestionSample, confidence: Floats | float
) -> Numbers:
    """The numbers of a credit over a population, without forecasts."""
    values, _ = state_estimates(fitted.states, gains)
    known = ~np.isnan(fitted.states.mean(values))
    independent = population_variance(fitted, CreditSum([(1.0, gains)]), known)
    sigma = sample.sigma(values, independent)
    bias = largest_bias(gains, fitted.states.n)
    return sample_numbers(values, sigma, sample, confidence, bias)


def _mean_bias(states: States, gains: GainsOf) -> Floats:
    """Largest bias of the mean estimate of each group."""
    return states.mean(largest_bias(gains, states.n))


def with_bias(numbers: Numbers, bias: Floats) -> Numbers:
    """The numbers of an estimate in [0, 1], with its largest bias added to both ends."""
    lo, hi = np.maximum(numbers.lo - bias, 0.0), np.minimum(numbers.hi + bias, 1.0)
    return numbers._replace(lo=lo, hi=hi)


def forecast_numbers(fitted: Calibrated, gains: GainsOf, confidence: float) -> Numbers:
    """The forecast of a metric that is a credit, for each group: mu and the range.

    Parameters
    ----------
    fitted, confidence
        As for `credit_numbers`.
    gains : callable
        The gains of the metric.
    """
    unknown = np.full(len(fitted.groups), np.nan)
    mu, lo, hi = forecast_range(fitted, _drawn_credit(gains), confidence)
    found = Numbers(unknown, mu, unknown, lo, hi, np.isnan(unknown))
    bounds = [draw_bounds(gains, fitted.states.n)]
    smaller = [small.draw_gains() for small in smaller_draws(bounds)]
    further = measured_numbers(fitted, smaller, confidence) if smaller else []
    return bounded_numbers(fitted, bounds, [found], further)[0]


def _with_forecast(
    fitted: Calibrated, gains: GainsOf, confidence: Floats | float, numbers: Numbers
) -> Numbers:
    """The numbers, with a forecast where k is beyond the trials."""
    beyond = np.isnan(numbers.estimate)
    if not beyond.any():
        return numbers
    ahead = forecast_range(fitted, _drawn_credit(gains), confidence, beyond)
    mu, lo, hi = (
        np.where(beyond, there, here)
        for there, here in zip(ahead, (numbers.mu, numbers.lo, numbers.hi), strict=True)
    )
    return numbers._replace(mu=mu, lo=lo, hi=hi, forecast=beyond)


def _drawn_credit(gains: GainsOf) -> Floats | RootDraw:
    """The gains of a draw whose size is the same for all questions."""
    return gains if isinstance(gains, RootDraw) else gains(1)
