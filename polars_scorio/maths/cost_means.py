"""Ratios of mean spending and mean reward, with their noise, and the Pareto frontier."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, known_ratio
from polars_scorio.maths.covariance import first_alike
from polars_scorio.maths.posteriors import Target

_ROUNDED = 1e-13  # relative rounding error of sums of squares that cancel


@dataclass(frozen=True, slots=True, eq=False)
class CostValues:
    """Spending and reward of each question; their means over questions make a ratio."""

    x: Floats  # unbiased estimates of the spending on a question, shape (Q,)
    y: Floats  # and of the chance to solve it
    noise: Floats  # (3, Q): var x, cov, var y, given the question; NaN if too few trials
    draws: Floats  # trials over those of a draw; infinite if y is known


@dataclass(frozen=True, slots=True, eq=False)
class QuestionCosts:
    """Places, trials, successes and sums of costs of questions, (Q,) each; ``0 <= c <= n``."""

    group: Ints
    groups: int
    stratum: Ints
    weight: Floats  # in the mean of its group, on any scale
    cluster: Ints | None
    n: Ints
    c: Ints
    total: Floats  # cost of all trials
    squares: Floats  # sum of squared costs
    largest: Floats  # cost of the dearest trial
    of_success: Floats | None = None  # cost of the successes
    success_squares: Floats | None = None  # and its squares

    def at(self, places: Ints) -> QuestionCosts:
        """The questions at some places."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        known = {name: each[places] for name, each in columns.items() if np.ndim(each)}
        return replace(self, **known)

    def shares(self) -> Floats:
        """Share of each question in the mean of its group."""
        whole = np.bincount(self.group, self.weight, self.groups)
        return np.asarray(self.weight / whole[self.group])

    def per_trial(self) -> CostValues:
        """Mean cost of a trial; the reward is 1, without noise."""
        n, sure = self.n.astype(np.float64), np.zeros(self.n.shape)
        products = np.stack([_centred_squares(self.squares, self.total, n), sure, sure])
        return CostValues(self.total / n, sure + 1, _per_pairs(products, n), sure + np.inf)

    def per_success(self) -> CostValues:
        """Mean cost of a trial, and the success rate."""
        assert self.of_success is not None  # counted for metrics of successes
        n = self.n.astype(np.float64)
        x, y = self.total / n, self.c / n
        products = np.stack(
            [
                _centred_squares(self.squares, self.total, n),
                self.of_success - self.c * x,
                self.c * (1 - y),
            ]
        )
        return CostValues(x, y, _per_pairs(products, n), n)

    def until_success(self, k: int) -> CostValues:
        """Spending until the first success, in at most k tries, and pass@k; NaN if k exceeds n."""
        # Successes of mean cost m1 and failures of m0 spend m1 [1 - C(n-c,k)/C(n,k)] + m0
        # sum_{j=1..k} C(n-c,j)/C(n,j) on average over all orders. The jackknife needs more than k
        # trials.
        assert self.of_success is not None  # counted for metrics of successes
        assert self.success_squares is not None  # counted for metrics of draws
        failed = self.n - self.c
        of_failure = np.where(failed > 0, self.total - self.of_success, 0.0)
        m1, m0 = self.of_success / np.maximum(self.c, 1), of_failure / np.maximum(failed, 1)
        won, lost = expected_tries(self.n, self.c, k)
        values = np.where(won + lost > 0, m1 * won + m0 * lost, np.nan)
        spread = np.stack(
            [
                _centred_squares(self.success_squares, self.of_success, self.c),
                _centred_squares(self.squares - self.success_squares, of_failure, failed),
            ]
        )
        noise = self._jackknife(k, m1, m0, spread)
        return CostValues(values, np.where(np.isnan(values), np.nan, won), noise, self.n / k)

    def _jackknife(self, k: int, m1: Floats, m0: Floats, spread: Floats) -> Floats:
        """Variances and covariance of spending and pass@k, from leaving each trial out."""
        # m1, m0: mean cost of successes and failures, or 0; `spread` (2, Q): squares around them.
        n, c, failed = self.n, self.c, self.n - self.c
        # Without one success, and without one failure.
        left_out = [expected_tries(n - 1, each, k) for each in (np.maximum(c - 1, 0), c)]
        won, lost = (np.stack(tries) for tries in zip(*left_out, strict=True))
        times = np.stack([c, failed])
        spent = m1 * won + m0 * lost
        x, y = ((times * mean).sum(axis=0) / n for mean in (spent, won))
        each = times * np.stack([(spent - x) ** 2, (spent - x) * (won - y), (won - y) ** 2])
        products = each.sum(axis=1)
        # The mean cost of an outcome moves with the trial of it that is left out.
        weight = np.stack([won[0], lost[1]]) / np.maximum(times - 1, 1)
        products[0] += (spread * weight**2).sum(axis=0)
        return np.where(n > k, (n - 1) / n * products, np.nan)


def expected_tries(n: Ints, c: Ints, k: int) -> tuple[Floats, Floats]:
    """Expected successes (pass@k) and failures until the first success, 0 if k > n."""
    unlucky, lost = np.ones(n.shape), np.zeros(n.shape)
    for j in range(k):  # the chance that the first j + 1 trials of an order fail
        unlucky = unlucky * np.maximum(n - c - j, 0) / np.maximum(n - j, 1)
        lost += unlucky
    possible = n >= k
    return np.where(possible, 1 - unlucky, 0.0), np.where(possible, lost, 0.0)


def _centred_squares(squares: Floats, total: Floats, n: Floats | Ints) -> Floats:
    """Sum of squared distances from the mean; 0 if it is a rounding error."""
    centred = squares - total**2 / np.maximum(n, 1)
    return np.where(centred > _ROUNDED * np.abs(squares), centred, 0.0)


def _per_pairs(products: Floats, n: Floats) -> Floats:
    """Sums of products of distances as variances of means; NaN for single trials."""
    return known_ratio(products, n * (n - 1), np.nan)


EVEN = 8  # dimensions in which a lattice is better than random points
_SEED = 20240517


@lru_cache(maxsize=4)
def normal_draws(dimensions: int, size: int) -> Floats:
    """Standard normal draws that never change, shape (dimensions, size); read-only."""
    # Up to 8 dimensions the additive sequence of the generalised golden ratio, more even than
    # random points; beyond, the raw bits of PCG64, which NumPy promises not to change.
    if dimensions <= EVEN:
        uniform = _lattice_points(dimensions, size)
    else:
        raw = np.random.PCG64(_SEED).random_raw((dimensions, size))
        uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    draws = scipy.special.ndtri(uniform)
    draws.flags.writeable = False
    return draws


def _lattice_points(dimensions: int, size: int) -> Floats:
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    step = ratio ** -np.arange(1.0, dimensions + 1)
    return np.asarray((np.outer(step, np.arange(1, size + 1)) + 0.5) % 1).clip(1e-12, 1 - 1e-12)


_DRAWS = 4_000
_JITTER = 1e-12  # share of the mean variance: keeps a singular covariance factorable


@dataclass(frozen=True, slots=True, eq=False)
class FrontierModels:
    """Mean scores and mean log costs of the L models of a stratum, on questions that are a sample.

    `parts` (K, 2 L) are the influences of each unit on the scores, then on the costs: their cross
    products sum to the covariance of the means.
    """

    score: Floats
    cost: Floats
    # influence of K units on scores, then costs, (K, 2 L); cross products sum to covariance
    parts: Floats
    freedom: float  # degrees of freedom; 0: the noise is unknown
    floor: float  # variance that a difference of scores has besides the questions

    def dominated(self, confidence: float) -> Mask:
        """Models dominated by a better and cheaper one beyond doubt, for all models at once."""
        # Both differences exceed Student's quantile, without a correction for there being two; that
        # of costs has the upper end as in `CostMeans.ends`. Pairs share the error (Bonferroni).
        models = self.score.size
        if models < 2 or self.freedom <= 0:  # a single model has no pair
            return np.zeros(models, np.bool_)
        tail = (1 - confidence) / (models * (models - 1))
        critical = -scipy.special.stdtrit(self.freedom, tail)
        scores, costs = self.parts[:, :models], self.parts[:, models:]
        above = _standardized_gaps(self.score, scores, self.floor) > critical
        dear = dear_critical(_pair_events(costs), np.array(self.freedom), tail)
        cheaper = _standardized_gaps(-self.cost, -costs, 0.0) > dear
        return np.asarray((above & cheaper).any(axis=0))

    def draws(self) -> tuple[Floats, Floats]:
        """Draws of all scores and all costs, shape (L, draws) each, with a fixed seed."""
        # Models with the same data have the same draws.
        models = self.score.size
        alike = first_alike(np.vstack([self.parts[:, :models], self.parts[:, models:]]))
        covariance = self.parts.T @ self.parts
        jitter = _JITTER * np.trace(covariance) / len(covariance) + np.finfo(float).tiny
        root = np.linalg.cholesky(covariance + jitter * np.eye(len(covariance)))
        moved = root @ normal_draws(2 * models, _DRAWS)
        score, cost = moved[:models][alike], self._far_costs(moved[models:])[alike]
        return self.score[:, None] + score, self.cost[:, None] + cost

    def _far_costs(self, normal: Floats) -> Floats:
        """How far costs are off, from normal draws of it: further up the fewer units make noise."""
        models = self.score.size
        parts = self.parts[:, models:]
        events = dear_events(
            np.maximum(parts, 0.0).ravel() ** 2, np.tile(np.arange(models), len(parts)), models
        )
        error = np.maximum(np.sqrt((parts**2).sum(axis=0)), np.finfo(float).tiny)[:, None]
        freedom = np.full((models, 1), self.freedom)
        tail = scipy.special.ndtr(-np.abs(normal / error))
        up = dear_critical(events[:, None], freedom, tail)
        return np.asarray(error * np.where(normal > 0, up, scipy.special.stdtrit(freedom, tail)))

    def chance(self) -> Floats:
        """Chance of each model to be on the frontier, shape (L,); NaN if the noise is unknown."""
        if self.freedom <= 0:
            return np.full(self.score.size, np.nan)
        return chance_of(self.draws())


def reach_draws(score: Floats, cost: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Draws of scores and log costs of models whose errors are independent, (L, draws) each.

    `score` and `cost` (3, L): an estimate, and how far it reaches down and up at a normal value of
    1. Errors of the score and of the cost of a model have a `correlation`.

    >>> still = np.array([[0.5], [0.0], [0.0]])
    >>> reach_draws(still, still, np.zeros(1))[0].max().item()
    0.5
    """
    one, other = np.split(normal_draws(2 * correlation.size, _DRAWS), 2)
    rho = correlation[:, None]
    pair = one, rho * one + np.sqrt(1 - rho**2) * other
    moved = [
        mid[:, None] + z * np.where(z < 0, down[:, None], up[:, None])
        for (mid, down, up), z in zip((score, cost), pair, strict=True)
    ]
    return moved[0], moved[1]


def chance_of(draws: tuple[Floats, Floats]) -> Floats:
    """Share of the draws of scores and costs in which each model is on the frontier."""
    return np.asarray(_on_frontier(*draws).mean(axis=1))


def frontier_of(score: Floats, cost: Floats) -> Mask:
    """Models (L,) of which no other is as good and as cheap, one of both strictly."""
    return _on_frontier(score[:, None], cost[:, None])[:, 0]


def _standardized_gaps(mean: Floats, parts: Floats, floor: float) -> Floats:
    """How far the mean of each row is above that of each column, in standard errors."""
    square = parts.T @ parts
    diagonal = np.diagonal(square)
    scale = diagonal[:, None] + diagonal
    variance = np.where(scale - 2 * square > _JITTER * scale, scale - 2 * square, 0.0) + floor
    gap = mean[:, None] - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gap > 0, gap / np.sqrt(variance), 0.0)


def _pair_events(parts: Floats) -> Floats:
    """`dear_events` of the cost of each row over that of each column, from parts (K, L)."""
    models = parts.shape[1]
    model = np.tile(np.arange(models), len(parts))
    dear = (np.maximum(parts - parts[:, [column]], 0.0) for column in range(models))
    return np.stack([dear_events(each.ravel() ** 2, model, models) for each in dear], axis=1)


def _on_frontier(score: Floats, cost: Floats) -> Mask:
    """Whether each model is on the frontier of each draw, shape (L, draws).

    In order of cost, a model is on it if it is better than all cheaper ones; equal models share a
    verdict.

    >>> _on_frontier(np.array([[0.5], [0.7], [0.6]]), np.array([[1.0], [2.0], [3.0]])).ravel()
    array([ True,  True, False])
    """
    order = np.lexsort((-score, cost), axis=0)
    ordered, paid = (np.take_along_axis(each, order, axis=0) for each in (score, cost))
    before = np.maximum.accumulate(ordered, axis=0)[:-1]
    on = np.vstack([np.ones((1, score.shape[1]), np.bool_), ordered[1:] > before])
    for place in range(1, len(on)):
        same = (ordered[place] == ordered[place - 1]) & (paid[place] == paid[place - 1])
        on[place] |= same & on[place - 1]
    gaps = np.empty_like(on)
    np.put_along_axis(gaps, order, on, axis=0)
    return gaps


@dataclass(frozen=True, slots=True, eq=False)
class CostMeans:
    """Mean spending and mean reward of each group, arrays of shape (G,)."""

    x: Floats
    y: Floats
    variance: Floats  # (3, G): var x, cov, var y; NaN if unknown
    freedom: Floats  # infinite for the noise of trials
    size: Floats  # questions, or clusters
    events: Floats  # how many dear units make the noise of the ratio; infinite without noise

    @classmethod
    def from_values(cls, values: CostValues, questions: QuestionCosts, target: Target) -> CostMeans:
        """Means of the questions of each group, with their variances."""
        # For target "benchmark" the noise is that of the trials; if some question of a group has
        # too few of them, the larger between-question variance replaces it.
        share, group, groups = questions.shares(), questions.group, questions.groups

        def mean(each: Floats) -> Floats:
            return np.bincount(group, share * each, groups).astype(np.float64)

        x, y = mean(values.x), mean(values.y)
        if target == "population":
            return cls(x, y, *_spread_between(values, questions, share, x, y))
        squared = [np.bincount(group, share**2 * each, groups) for each in values.noise]
        size = np.bincount(group, minlength=groups).astype(np.float64)
        # No success and no failure do not prove that the rate is 0 or 1.
        unseen = mean(0.25 / values.draws) / (size**2 * (size + 1))
        noise = np.stack(squared).astype(np.float64) + np.outer([0.0, 0.0, 1.0], unseen)
        known, endless = np.isfinite(noise).all(axis=0), np.full(groups, np.inf)
        events = dear_events(
            _log_variance(share**2 * values.noise, x[group], y[group]), group, groups
        )
        if known.all():
            return cls(x, y, noise, endless, size, events)
        spread, freedom, _, some = _spread_between(values, questions, share, x, y)
        variance, freedom = np.where(known, noise, spread), np.where(known, endless, freedom)
        return cls(x, y, variance, freedom, size, np.where(known, events, some))

    @property
    def ratio(self) -> Floats:
        """Spending per reward; infinite without any reward, NaN if there is no estimate."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.x / self.y)

    @property
    def log_ratio(self) -> Floats:
        """Log of the ratio; NaN without spending or reward."""
        with np.errstate(divide="ignore", invalid="ignore"):
            known = (self.x > 0) & (self.y > 0)
            return np.where(known, np.log(self.x) - np.log(self.y), np.nan)

    @property
    def log_error(self) -> Floats:
        """Standard error of the log of the ratio; NaN if the ratio is 0, infinite or unknown."""
        return np.sqrt(_log_variance(self.variance, self.x, self.y))

    @property
    def correlation(self) -> Floats:
        """Correlation of the errors of spending and reward; 0 if one of them has no noise."""
        xx, xy, yy = self.variance
        size = np.sqrt(xx * yy)
        return np.asarray(np.clip(np.divide(xy, size, out=0 * xy, where=size > 0), -1, 1))

    def critical(self, tail: Floats | float) -> Floats:
        """Critical value of a one-sided error; NaN without degrees of freedom."""
        freedom = np.where(self.freedom > 0, self.freedom, np.nan)
        return np.asarray(-scipy.special.stdtrit(np.minimum(freedom, 1e12), tail))

    def unbounded(self, tail: Floats | float) -> Mask:
        """Groups without an upper end: their reward may be 0 at this error."""
        return np.asarray(self.y <= self.critical(tail) * np.sqrt(self.variance[2]))

    def ends(self, tail: Floats | float) -> tuple[Floats, Floats]:
        """Ends of the interval of the ratio, by the chance beyond each of them; NaN if unknown."""
        # A dear trial says that there are dearer ones: few `events` make `hi` longer, or infinite.
        # Without success `lo` is the cost over the largest rate that M questions allow.
        q, error = self.critical(tail), self.log_error
        with np.errstate(over="ignore"):
            hi = self.ratio * np.exp(dear_critical(self.events, self.freedom, tail) * error)
        lo = self.ratio / np.exp(q * error)
        least = np.maximum(self.x - q * np.sqrt(self.variance[0]), 0.0)
        with np.errstate(divide="ignore"):
            unsolved = least / -np.expm1(np.log(tail) / self.size)
        none = self.y == 0
        lo = np.where(none, unsolved, lo)
        return lo, np.where(self.unbounded(tail) & ~np.isnan(lo), np.inf, hi)

    def residuals(self, values: CostValues, group: Ints) -> Floats:
        """Influence of each question on the log ratio; mean 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(values.x / self.x[group] - values.y / self.y[group])


def dear_events(squares: Floats, owner: Ints, groups: int) -> Floats:
    """How many events make the noise of each group, from the squares of their parts in it."""
    squares = np.where(np.isfinite(squares), squares, 0.0)
    total, fourth = (np.bincount(owner, each, groups) for each in (squares, squares**2))
    return known_ratio(total**2, fourth, np.inf)


def dear_critical(events: Floats, freedom: Floats, tail: Floats | float) -> Floats:
    """Critical value of an upper end whose noise so many events make; NaN without freedom."""
    # With few events the variance is known badly, and more often too small.
    known = np.where(freedom > 0, np.minimum(np.minimum(freedom, events), 1e12), np.nan)
    return np.asarray(-scipy.special.stdtrit(known, tail) * np.sqrt(1 + 2 / events))


def _log_variance(variance: Floats, x: Floats, y: Floats) -> Floats:
    """Variance of the log of x / y, from var x, cov and var y; NaN without spending or reward."""
    with np.errstate(divide="ignore", invalid="ignore"):
        xx, xy, yy = variance / np.stack([x**2, x * y, y**2])
        square = np.where((y > 0) & (x > 0), xx - 2 * xy + yy, np.nan)
    return np.asarray(np.maximum(square, 0.0))


def _spread_between(
    values: CostValues, questions: QuestionCosts, share: Floats, x: Floats, y: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Variance (3, G) of means between clusters, units less strata, units, events."""
    # Dear units have a positive part in the log of x / y.
    unit = np.arange(share.size) if questions.cluster is None else questions.cluster
    group, groups = questions.group, questions.groups
    first, stratum = distinct_rows([group, questions.stratum])
    of_unit, place = distinct_rows([stratum, unit])
    parts = [_centred_sums(each, share, stratum, place) for each in (values.x, values.y)]
    home = stratum[of_unit]
    number = np.bincount(home)
    factor = known_ratio(number, number - 1, np.nan)[home]
    owner = group[of_unit]
    pairs = ((0, 0), (0, 1), (1, 1))
    variance = np.stack(
        [np.bincount(owner, factor * parts[i] * parts[j], groups) for i, j in pairs]
    )
    units = np.bincount(owner, minlength=groups).astype(np.float64)
    strata = np.bincount(group[first], minlength=groups).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        dear = np.maximum(parts[0] / x[owner] - parts[1] / y[owner], 0.0)
    events = dear_events(factor * dear**2, owner, groups)
    return np.asarray(variance, dtype=np.float64), units - strata, units, events


def _centred_sums(each: Floats, share: Floats, stratum: Ints, place: Ints) -> Floats:
    """Sums over units of weighted distances from the mean of the stratum."""
    mean = np.bincount(stratum, share * each) / np.bincount(stratum, share)
    return np.bincount(place, share * (each - mean[stratum])).astype(np.float64)
