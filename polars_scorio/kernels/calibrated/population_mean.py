"""The mean over a population of which the questions, or their clusters, are a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.credit_sums import CreditSum
from polars_scorio.kernels.calibrated.fit_moments import rate_moments
from polars_scorio.kernels.calibrated.gaffke_bound import Bounds, Sample, gaffke_bounds
from polars_scorio.kernels.calibrated.group_fits import Calibrated, Group
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.question_groups import QuestionGroups


@dataclass(frozen=True, slots=True, eq=False)
class UnitSample:
    """Independent units of some groups: questions, or clusters of them.

    Attributes
    ----------
    values : ndarray of float, shape (P,)
        The unbiased estimate of a unit, inside [0, 1]; NaN if it has none.
    weight : ndarray of float, shape (P,)
        Weight of a unit in the mean of its group, on any scale.
    number : ndarray of int, shape (P,)
        Units that have this value and this weight.
    group : ndarray of int, shape (P,)
        Their group.
    groups : int
        Number of groups, G; each has a unit.
    bias : ndarray of float, shape (P,), or float
        Largest bias of the estimate of a unit, by which the interval is longer on each side.
    """

    values: Floats
    weight: Floats
    number: Ints
    group: Ints
    groups: int
    bias: Floats | float = 0.0

    def bounds(self, confidence: Floats | float) -> Bounds:
        """Interval of the mean of each population, without a model of it: see `gaffke_bound`.

        NaN for a group with a single unit, which says nothing about others, and for a group with
        units that have no estimate.

        Examples
        --------
        Four questions, one of which fails in half of its trials.

        >>> values, number = np.array([0.5, 1.0]), np.array([1, 3])
        >>> one = np.zeros(2, dtype=int)
        >>> sample = UnitSample(values, np.ones(2), number, one, 1)
        >>> np.array(sample.bounds(0.95)).round(4).ravel()
        array([0.3344, 0.9968])
        """
        mass = self.number * self.weight
        total, square, units = (
            np.bincount(self.group, each, self.groups)
            for each in (mass, mass * self.weight, self.number)
        )
        known = ~np.isnan(np.bincount(self.group, self.values, self.groups)) & (units > 1)
        values = np.where(known[self.group], self.values, 0.0)
        # Equally heavy units count as their number, others as Kish's effective number.
        effective = mass * (total / square)[self.group]
        sample = Sample.merged(values, effective, self.group, self.groups)
        lo, hi = gaffke_bounds(sample, (1 - confidence) / 2)
        bias = np.bincount(self.group, mass * self.bias, self.groups) / total
        lo, hi = np.maximum(lo - bias, 0.0), np.minimum(hi + bias, 1.0)
        return Bounds(np.where(known, lo, np.nan), np.where(known, hi, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSample:
    """The questions of some groups as a sample, of single questions or of clusters.

    Attributes
    ----------
    questions : QuestionGroups
        The questions.
    clusters : Clustered or None
        The same questions in their clusters, if they have some.
    """

    questions: QuestionGroups
    clusters: Clustered[QuestionGroups] | None = None

    def units(self, values: Floats, bias: Floats | None = None) -> UnitSample:
        """The independent units.

        Parameters
        ----------
        values : ndarray of float, shape (S,)
            The estimate of a question in each state.
        bias : ndarray of float, shape (S,), optional
            Largest bias of these estimates; default 0.
        """
        states, clusters = self.questions, self.clusters
        both = [each[states.state] for each in (values, 0 * values if bias is None else bias)]
        weight, number, group = np.ones(states.state.size), states.questions, states.group
        if clusters is not None:
            both = [clusters.means(states, each) for each in both]
            weight, group = clusters.states.size.astype(float), clusters.owner
            number = np.ones_like(group)
        return UnitSample(both[0], weight, number, group, states.groups, both[1])

    def sigma(self, values: Floats, independent: Floats) -> Floats:
        """Standard deviation of the mean of the questions of each group.

        Parameters
        ----------
        values : ndarray of float, shape (S,)
            The estimate of a question in each state.
        independent : ndarray of float, shape (G,)
            Variance of the mean if all questions are independent; clusters may have a larger one.

        Returns
        -------
        ndarray of float, shape (G,)
            NaN for a single question, or a single cluster.
        """
        variance = np.maximum(independent, self.cluster_variance(values))
        return np.where(self.number > 1, np.sqrt(variance), np.nan)

    @property
    def number(self) -> Ints:
        """Independent units of each group, shape (G,)."""
        return self.questions.size if self.clusters is None else self.clusters.number

    def cluster_variance(self, values: Floats) -> Floats:
        """Variance of the mean of each group between its clusters; 0 without clusters."""
        if self.clusters is None:
            return np.zeros(self.questions.groups)
        return self.clusters.variance(self.questions, values[self.questions.state])

    def variance_between(self, values: Floats) -> Floats:
        """Variance of the mean, from the spread of the estimates of independent questions."""
        states, size = self.questions, self.questions.size
        distance = values[states.state] - states.mean(values)[states.group]
        square = np.bincount(states.group, states.questions * distance**2, states.groups)
        return np.asarray(square / (size * np.maximum(size - 1, 1)))


def population_variance(fitted: Calibrated, metric: CreditSum, wanted: Mask) -> Floats:
    """Variance of the mean estimate of each group, if its free fit is the population.

    Parameters
    ----------
    fitted : Calibrated
        The groups and their fits.
    metric : CreditSum
        The metric.
    wanted : ndarray of bool, shape (G,)
        The groups whose questions all have an estimate; NaN for the others.

    Returns
    -------
    ndarray of float, shape (G,)

    Examples
    --------
    >>> counts, every = np.array([[0, 1], [1, 0]]), np.array([5, 5])
    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed_gains
    >>> from polars_scorio.kernels.states import States
    >>> states = States.tally(counts, 0 * counts, 0 * every, every, 1)
    >>> average, every_group = CreditSum([(1.0, fixed_gains(np.array([1.0])))]), np.array([True])
    >>> population_variance(Calibrated.fit(states), average, every_group).round(3)  # 1/4 / 10
    array([0.025])
    """
    found = np.full(len(fitted.groups), np.nan)
    for column in np.flatnonzero(wanted).tolist():
        group = fitted.groups[column]
        found[column] = _question_variance(group, metric) / group.size
    return found


def _question_variance(group: Group, metric: CreditSum) -> float:
    """Variance of the estimate of a question of the population: its noise, and between rates.

    The population is the free fit itself, not the posterior of the questions seen.
    """
    weight = group.free.weight
    share = np.array([level.questions.sum() / group.size for level in group.levels])
    at_rates = np.stack(
        [rate_moments(group.free.weight.size, level.n, [metric])[0] for level in group.levels]
    )
    mean, rest, noise = np.einsum("l,i,lix->x", share, weight, at_rates)
    # From the nearer bound: nothing large cancels.
    near, centre = (at_rates[..., 0], mean) if mean < rest else (at_rates[..., 1], rest)
    return float(noise + share @ (near - centre) ** 2 @ weight)
