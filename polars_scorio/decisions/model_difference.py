"""The difference of two models: one definition for all that compares them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import InferenceKind
from polars_scorio.decisions.strata_arrays import Block
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.clopper_pearson import Reach, reach
from polars_scorio.kernels.calibrated.further_draws import Range
from polars_scorio.kernels.calibrated.paired_difference import (
    difference_within,
    forecast_difference,
)
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.posterior_intervals import beta_interval
from polars_scorio.kernels.simultaneous.beta_score import beta_score
from polars_scorio.kernels.simultaneous.dunnett import baseline_of_each
from polars_scorio.kernels.simultaneous.probability_best import p_best, shrinkage
from polars_scorio.kernels.simultaneous.rank_ranges import counts_by_score, lower_models
from polars_scorio.kernels.simultaneous.step_down import (
    Critical,
    Decided,
    all_pairs_critical,
    baseline_critical,
    decided_by_score,
    final_critical,
    step_down,
)
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.calibrated import PRICE, price_of
from polars_scorio.reporting.options import DecisionOptions


class Differences(NamedTuple):
    """The numbers of some pairs in each stratum, shape (S, P); NaN where there is no such number.

    `z` has the sign of `diff`, `prob` is the chance that the order is right.
    """

    diff: Floats
    sigma: Floats
    z: Floats
    prob: Floats
    lo: Floats
    hi: Floats

    def without_zero(self) -> Mask:
        """Where the order is known: zero lies outside of the interval."""
        return np.isfinite(self.sigma) & ((self.lo > 0) | (self.hi < 0))


class Scores(Protocol):
    """The models of some strata, equally many in each, and what is known of their differences."""

    @property
    def ranked(self) -> Floats:
        """Numbers by which the models are ranked, shape (S, L); NaN: a model is not ranked."""

    def quantile(self, probability: float) -> Floats:
        """Quantile of a standardized difference of one pair, shape (S,)."""

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:
        """Critical values for all pairs at once, those of columns `a` and `b`; for `step_down`."""

    def decided(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""

    def better_and_worse(self, confidence: float, *, simultaneous: bool) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models, shape (S, L).

        The verdicts hold at once for all pairs (`simultaneous`), or for all pairs of the model.
        """

    def differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of columns `a` less columns `b`, shape (P,), by critical values (S, P)."""

    def z_of_neighbours(self, order: Ints) -> Floats:
        """Between each model and the next in an order of shape (S, L): shape (S, L - 1)."""

    def p_best(self) -> Floats:
        """Chance of each model to be the best, shape (S, L)."""


def simultaneous_verdicts(
    scores: Scores, a: Ints, b: Ints, confidence: float, baseline: int | None = None
) -> tuple[Mask, Floats]:
    """Pairs that differ, by verdicts of which all of a stratum hold at once.

    Returns
    -------
    differs : ndarray of bool, shape (S, P)
        By `step_down`.
    c : ndarray of float, shape (S, P)
        The critical value with which the interval of a pair agrees with its verdict.
    """
    here = np.isfinite(scores.ranked)
    critical = scores.critical(a, b, confidence, baseline)
    return step_down(here[:, a] & here[:, b], critical, scores.decided(a, b))


def standardized(diff: Floats, sigma: Floats) -> Floats:
    """How many standard deviations a difference is away from none: 0 where there is none."""
    z = np.zeros_like(diff)
    with np.errstate(divide="ignore"):
        return np.divide(diff, sigma, out=z, where=diff != 0)


def width_of(bounds: tuple[float, float] | None) -> float:
    """How far two numbers within bounds can be apart."""
    return np.inf if bounds is None else bounds[1] - bounds[0]


@dataclass(frozen=True, slots=True, eq=False)
class Independent(ABC):
    """Models of which each has an estimate with an error of its own, arrays of shape (S, L).

    Attributes
    ----------
    mu, sigma : ndarray of float
        Sigma is NaN where only a range is known.
    limit : float
        How far apart two of them are shown to be at most.
    """

    mu: Floats
    sigma: Floats
    limit: float

    @property
    def ranked(self) -> Floats:
        """By which number each model is ranked."""
        return np.where(np.isfinite(self.sigma), self.mu, np.nan)

    def quantile(self, probability: float) -> Floats:
        """Of a standardized difference."""
        return np.full(len(self.mu), scipy.special.ndtri(probability))

    def z_of_neighbours(self, order: Ints) -> Floats:
        """Between each model and the next."""
        mu, sigma = (np.take_along_axis(each, order, axis=1) for each in (self.ranked, self.sigma))
        return standardized(mu[:, :-1] - mu[:, 1:], np.hypot(sigma[:, :-1], sigma[:, 1:]))

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:  # noqa: ARG002 - only models on the same questions need the pairs
        """Critical values for `step_down`."""
        if baseline is None:
            return all_pairs_critical(np.isfinite(self.ranked).sum(axis=1), confidence)
        return baseline_critical(self.sigma, baseline, confidence)

    @abstractmethod
    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values.

        The values have the shape (S, 1), or (S, L) for a value for each model.
        """

    @abstractmethod
    def row_critical(self, confidence: float) -> Floats:
        """Critical values for all pairs of each model at once, for `counts_at`."""

    def better_and_worse(self, confidence: float, *, simultaneous: bool) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models."""
        if not simultaneous:
            return self.counts_at(self.row_critical(confidence), np.arange(len(self.mu)))

        def decided_pairs(c: Floats, strata: Ints) -> Ints:
            return np.asarray(self.counts_at(c[:, None], strata)[1].sum(axis=1))

        models = np.isfinite(self.ranked).sum(axis=1)
        c = final_critical(models, confidence, decided_pairs)
        return self.counts_at(c[:, None], np.arange(len(c)))

    def p_best(self) -> Floats:
        """How likely each model is the best."""
        ranked = self.ranked
        return p_best(shrinkage(ranked, self.sigma)[:, None] * ranked, self.sigma)


@dataclass(frozen=True, slots=True, eq=False)
class Posteriors(Independent):
    """Posterior means: their differences are normal, or Beta on the range of a metric.

    Attributes
    ----------
    range : float or None
        How far apart the metric lets two models be at most; None: normal.
    """

    range: float | None

    def decided(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""
        return decided_by_score(self.pair_scores(a, b))

    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values."""
        mu, sigma = self.ranked[strata], self.sigma[strata]
        c = np.broadcast_to(c, mu.shape)
        if self.range is not None:
            return counts_by_score(mu, c, replace(self, mu=mu, sigma=sigma).pair_scores)
        # Posterior means within bounds of no width differ by nothing.
        limit = np.inf if self.limit > 0 else 0.0
        better = lower_models(-mu, sigma, sigma, c, limit)
        return better, lower_models(mu, sigma, sigma, c, limit)

    def row_critical(self, confidence: float) -> Floats:
        """Critical values for all pairs of each model at once."""
        return baseline_of_each(np.where(np.isfinite(self.mu), self.sigma, np.nan), confidence)

    def differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Those of pairs."""
        diff, sigma, z = self._moments(a, b)
        if self.range is None:
            lo, hi = diff - c * sigma, diff + c * sigma
        else:
            lo, hi = beta_interval(
                diff, sigma, 2 * scipy.special.ndtr(c) - 1, (-self.range, self.range)
            )
        lo, hi = (np.clip(end, -self.limit, self.limit) for end in (lo, hi))
        return Differences(diff, sigma, z, scipy.special.ndtr(np.abs(z)), lo, hi)

    def _moments(self, a: Ints, b: Ints) -> tuple[Floats, Floats, Floats]:
        diff = self.mu[:, a] - self.mu[:, b]
        sigma = np.hypot(self.sigma[:, a], self.sigma[:, b])
        return diff, sigma, standardized(diff, sigma)

    def pair_scores(self, a: Ints, b: Ints) -> Floats:
        """Largest critical value at which the interval of a pair excludes zero."""
        diff, sigma, z = self._moments(a, b)
        score = np.abs(z)
        if self.range is not None:
            score = beta_score(np.abs(diff) / self.range, sigma / self.range, score)
        return score if self.limit > 0 else np.zeros_like(score)


@dataclass(frozen=True, slots=True, eq=False)
class Estimates(Independent):
    """Unbiased estimates that reach down and up by what is known of them; or else ranges.

    Attributes
    ----------
    lo, hi : ndarray of float
        The interval of each, or its range.
    """

    lo: Floats
    hi: Floats

    @abstractmethod
    def far(self, c: Floats, strata: Ints) -> tuple[Floats, Floats]:
        """How far the models of some strata reach down and up at a critical value of each."""

    @abstractmethod
    def within(self, a: Ints, b: Ints, c: Floats) -> tuple[Floats, Floats]:
        """The ends of the differences of two estimates."""

    def decided(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""

        def decided(c: Floats, strata: Ints) -> Mask:
            down, up = self.far(c, strata)
            gap = self.ranked[strata][:, a] - self.ranked[strata][:, b]
            above = np.minimum(gap, self.limit) > np.hypot(down[:, a], up[:, b])
            below = np.minimum(-gap, self.limit) > np.hypot(up[:, a], down[:, b])
            return np.asarray(above | below)

        return decided

    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values."""
        down, up = self.far(c[:, 0], strata)
        mu, one = self.ranked[strata], np.ones(down.shape)
        better = lower_models(-mu, up, down, one, self.limit)
        return better, lower_models(mu, down, up, one, self.limit)

    def row_critical(self, confidence: float) -> Floats:
        """Critical value for all pairs of each model at once: the largest of its stratum.

        With a value for each model, each pair would need intervals of its own.
        """
        each = baseline_of_each(np.where(np.isfinite(self.mu), self.sigma, np.nan), confidence)
        known = np.where(np.isnan(each), -np.inf, each)
        return np.asarray(known.max(axis=1, keepdims=True, initial=0.0))

    def differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Those of pairs."""
        diff, sigma = self.mu[:, a] - self.mu[:, b], np.hypot(self.sigma[:, a], self.sigma[:, b])
        one, other = (Range(self.mu[:, x], self.lo[:, x], self.hi[:, x]) for x in (a, b))
        ahead, beyond = forecast_difference(one, other), np.isnan(sigma)
        lo, hi = (
            np.clip(np.where(beyond, range_, end), -self.limit, self.limit)
            for range_, end in zip(ahead[1:], self.within(a, b, c), strict=True)
        )
        z = np.where(beyond, np.nan, standardized(diff, sigma))
        return Differences(diff, sigma, z, scipy.special.ndtr(np.abs(z)), lo, hi)


@dataclass(frozen=True, slots=True, eq=False)
class Priced(Estimates):
    """Estimates with the price of their noise.

    Attributes
    ----------
    price : Price
        Of the models in the order of ``mu.ravel()``.
    """

    price: Price

    def far(self, c: Floats, strata: Ints) -> tuple[Floats, Floats]:
        """At the confidence of a critical value."""
        models = self.mu.shape[1]
        rows = (strata[:, None] * models + np.arange(models)).ravel()
        reached = reach(self.price.at(rows), np.repeat(2 * scipy.special.ndtr(c) - 1, models))
        return reached.down.reshape(-1, models), reached.up.reshape(-1, models)

    def within(self, a: Ints, b: Ints, c: Floats) -> tuple[Floats, Floats]:
        """Both sides reach as far as at the confidence of the critical value."""
        own = np.arange(len(self.mu))[:, None] * self.mu.shape[1]
        sides = [(own + side).ravel() for side in (a, b)]
        first, second = (self.price.at(side) for side in sides)
        found = difference_within(first, second, *self._reaches(sides, c))
        return found.lo.reshape(c.shape), found.hi.reshape(c.shape)

    def _reaches(self, sides: list[Ints], c: Floats) -> list[Reach]:
        """How far both sides of each pair reach: once for each model and critical value."""
        levels, level = np.unique(c.ravel(), return_inverse=True)
        wanted = np.concatenate(sides) * levels.size + np.tile(level.ravel(), 2)
        own, place = np.unique(wanted, return_inverse=True)
        confidence = 2 * scipy.special.ndtr(levels) - 1
        far = reach(self.price.at(own // levels.size), confidence[own % levels.size])
        halves = np.split(place.ravel(), 2)
        return [Reach(*(values[half] for values in far)) for half in halves]


@dataclass(frozen=True, slots=True, eq=False)
class Averaged(Estimates):
    """Estimates of which only an interval is known, such as means over strata.

    Attributes
    ----------
    z : float
        Of the interval: it is stretched to other critical values.
    """

    z: float

    def far(self, c: Floats, strata: Ints) -> tuple[Floats, Floats]:
        """As far as the intervals, stretched."""
        stretch = c[:, None] / self.z
        mu, lo, hi = self.mu[strata], self.lo[strata], self.hi[strata]
        return stretch * (mu - lo), stretch * (hi - mu)

    def within(self, a: Ints, b: Ints, c: Floats) -> tuple[Floats, Floats]:
        """Both sides reach as far as their intervals, stretched."""
        down, up, diff = self.mu - self.lo, self.hi - self.mu, self.mu[:, a] - self.mu[:, b]
        stretch = c / self.z
        lo = diff - stretch * np.hypot(down[:, a], up[:, b])
        return lo, diff + stretch * np.hypot(up[:, a], down[:, b])


def scores_of(
    rows: pl.DataFrame, block: Block, metric: Metric, options: DecisionOptions
) -> Posteriors | Estimates:
    """The models of some strata, from the rows of a report of one metric and draw size.

    Parameters
    ----------
    rows : DataFrame
        A row for each group, ascending; those of calibrated metrics with `PRICE`, if they have it.
    block : Block
        The strata.
    metric, options
        What was reported, and how.
    """
    mu, sigma, lo, hi = (rows[name].to_numpy()[block.rows] for name in ("mu", "sigma", "lo", "hi"))
    limit = width_of(metric.bounds)
    inference = options.get("inference")
    if not metric.priced(inference):
        return posteriors(mu, sigma, metric, inference)
    if PRICE in rows.columns:
        return Priced(mu, sigma, limit, lo, hi, price_of(rows, metric).at(block.rows.ravel()))
    confidence = float(options.get("confidence", 0.95))
    return Averaged(mu, sigma, limit, lo, hi, float(scipy.special.ndtri((1 + confidence) / 2)))


def posteriors(
    mu: Floats, sigma: Floats, metric: Metric, inference: InferenceKind | None
) -> Posteriors:
    """Models by their posteriors, arrays of shape (S, L)."""
    width = width_of(metric.support)
    beta = inference in {"pooled", "calibrated"} and not metric.unbounded and width > 0
    return Posteriors(mu, sigma, width_of(metric.bounds), width if beta else None)
