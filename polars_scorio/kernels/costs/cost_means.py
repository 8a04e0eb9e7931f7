"""Ratios of two means over questions, cost over success, with intervals on the log scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.costs.question_costs import CostValues
from polars_scorio.kernels.distinct_rows import distinct_rows
from polars_scorio.kernels.posteriors import Target


@dataclass(frozen=True, slots=True, eq=False)
class CostQuestions:
    """The group, stratum and cluster of each question, arrays of shape (Q,).

    Attributes
    ----------
    group, stratum : ndarray of int
        The group of each question, and its stratum; the strata of a group weigh the same.
    groups : int
        Number of groups, G.
    cluster : ndarray of int or None
        The cluster of each question, if clusters are the sample.
    """

    group: Ints
    stratum: Ints
    groups: int
    cluster: Ints | None = None

    def at(self, places: Ints) -> CostQuestions:
        """The questions at some places."""
        cluster = None if self.cluster is None else self.cluster[places]
        return CostQuestions(self.group[places], self.stratum[places], self.groups, cluster)

    def shares(self) -> Floats:
        """Share of each question in the mean of its group."""
        first, stratum = distinct_rows([self.group, self.stratum])
        strata = np.bincount(self.group[first], minlength=self.groups)
        return np.asarray(1 / (np.bincount(stratum)[stratum] * strata[self.group]))


@dataclass(frozen=True, slots=True, eq=False)
class CostMeans:
    """Mean spending and mean reward of each group, arrays of shape (G,).

    Attributes
    ----------
    x, y : ndarray of float
        The two means.
    variance : ndarray of float, shape (3, G)
        Variance of x, covariance of x and y, variance of y; NaN if nothing tells it.
    freedom : ndarray of float
        Degrees of freedom; infinite for the noise of trials.
    size : ndarray of float
        Questions, or clusters.
    """

    x: Floats
    y: Floats
    variance: Floats
    freedom: Floats
    size: Floats

    @classmethod
    def of(cls, values: CostValues, questions: CostQuestions, target: Target) -> CostMeans:
        """The means of the questions of each group, and how far they vary.

        About these very questions, the noise is that of their trials; if some question of a group
        has too few of these, the spread between the questions stands for it, which is larger.

        Examples
        --------
        >>> zero, one = np.zeros(2, dtype=int), np.ones(2)
        >>> values = CostValues(np.array([1.0, 3.0]), one, np.full((3, 2), np.nan), one)
        >>> means = CostMeans.of(values, CostQuestions(zero, zero, 1), "benchmark")
        >>> means.x, means.variance[0], means.freedom
        (array([2.]), array([1.]), array([1.]))
        """
        share, group, groups = questions.shares(), questions.group, questions.groups

        def mean(each: Floats) -> Floats:
            return np.bincount(group, share * each, groups).astype(np.float64)

        x, y = mean(values.x), mean(values.y)
        if target == "population":
            return cls(x, y, *_spread_between(values, questions, share))
        squared = [np.bincount(group, share**2 * each, groups) for each in values.noise]
        size = np.bincount(group, minlength=groups).astype(np.float64)
        # No success and no failure do not prove that the rate is 0 or 1.
        unseen = mean(0.25 / values.draws) / (size**2 * (size + 1))
        noise = np.stack(squared).astype(np.float64) + np.outer([0.0, 0.0, 1.0], unseen)
        known = np.isfinite(noise).all(axis=0)
        if known.all():
            return cls(x, y, noise, np.full(groups, np.inf), size)
        spread, freedom, _ = _spread_between(values, questions, share)
        return cls(x, y, np.where(known, noise, spread), np.where(known, np.inf, freedom), size)

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
        with np.errstate(divide="ignore", invalid="ignore"):
            xx, xy, yy = self.variance / np.stack([self.x**2, self.x * self.y, self.y**2])
            square = np.where((self.y > 0) & (self.x > 0), xx - 2 * xy + yy, np.nan)
        return np.sqrt(np.maximum(square, 0.0))

    def critical(self, tail: Floats | float) -> Floats:
        """Critical value of a one-sided error; NaN without degrees of freedom."""
        freedom = np.where(self.freedom > 0, self.freedom, np.nan)
        return np.asarray(-scipy.special.stdtrit(np.minimum(freedom, 1e12), tail))

    def unbounded(self, tail: Floats | float) -> Mask:
        """Groups without an upper end: their reward may be 0 at this error."""
        return np.asarray(self.y <= self.critical(tail) * np.sqrt(self.variance[2]))

    def ends(self, tail: Floats | float) -> tuple[Floats, Floats]:
        """Ends of the interval of the ratio, from the chance beyond either of them.

        Without any success the lower end is that of the cost over the largest rate that M questions
        without success allow.

        Returns
        -------
        lo, hi : ndarray of float, shape (G,)
            hi is infinite if there is no upper end; both are NaN if nothing tells the noise.
        """
        q = self.critical(tail)
        reach = np.exp(q * self.log_error)
        lo, hi = self.ratio / reach, self.ratio * reach
        least = np.maximum(self.x - q * np.sqrt(self.variance[0]), 0.0)
        with np.errstate(divide="ignore"):
            unsolved = least / -np.expm1(np.log(tail) / self.size)
        none = self.y == 0
        lo = np.where(none, unsolved, lo)
        return lo, np.where(self.unbounded(tail) & ~np.isnan(lo), np.inf, hi)

    def residuals(self, values: CostValues, group: Ints) -> Floats:
        """Part of each question in the log of the ratio; their mean over the questions is 0.

        Examples
        --------
        >>> zero, one = np.zeros(2, dtype=int), np.ones(2)
        >>> values = CostValues(np.array([1.0, 3.0]), one, np.full((3, 2), np.nan), one)
        >>> means = CostMeans.of(values, CostQuestions(zero, zero, 1), "benchmark")
        >>> means.residuals(values, zero)
        array([-0.5,  0.5])
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(values.x / self.x[group] - values.y / self.y[group])


def _spread_between(
    values: CostValues, questions: CostQuestions, share: Floats
) -> tuple[Floats, Floats, Floats]:
    """Variance of the means by the spread of questions or clusters within their strata.

    Returns
    -------
    variance : ndarray of float, shape (3, G)
    freedom, units : ndarray of float, shape (G,)
        Units less strata, and the number of units.
    """
    unit = np.arange(share.size) if questions.cluster is None else questions.cluster
    group, groups = questions.group, questions.groups
    first, stratum = distinct_rows([group, questions.stratum])
    of_unit, place = distinct_rows([stratum, unit])
    parts = [_centred_sums(each, share, stratum, place) for each in (values.x, values.y)]
    home = stratum[of_unit]
    number = np.bincount(home)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(number > 1, number / (number - 1), np.nan)[home]
    owner = group[of_unit]
    pairs = ((0, 0), (0, 1), (1, 1))
    variance = np.stack(
        [np.bincount(owner, factor * parts[i] * parts[j], groups) for i, j in pairs]
    )
    units = np.bincount(owner, minlength=groups).astype(np.float64)
    strata = np.bincount(group[first], minlength=groups).astype(np.float64)
    return np.asarray(variance, dtype=np.float64), units - strata, units


def _centred_sums(each: Floats, share: Floats, stratum: Ints, place: Ints) -> Floats:
    """Sums over units of weighted distances from the mean of the stratum."""
    mean = np.bincount(stratum, share * each) / np.bincount(stratum, share)
    return np.bincount(place, share * (each - mean[stratum])).astype(np.float64)
