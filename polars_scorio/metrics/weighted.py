"""Weighted averages of the categories: Bayes@N and avg@N."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polars_scorio.kernels.batches import spread
from polars_scorio.kernels.dirichlet import weighted_average
from polars_scorio.kernels.expected_variance import Outlook
from polars_scorio.kernels.posteriors import Independent, Questions
from polars_scorio.metrics.base import (
    Bounds,
    Headline,
    Summary,
    WeightPairs,
    Weights,
    full_name,
    interval_bounds,
    weight_pairs,
    weights,
)
from polars_scorio.metrics.counted import OnCounts


@dataclass(frozen=True, slots=True)
class WeightedMetric(OnCounts):
    """A metric that is an average of the weights of the categories."""

    name: str
    observed: bool  # whether mu is the average of the trials itself
    w: WeightPairs | None = None
    bounds: Bounds | None = None
    k: tuple[None] = (None,)
    prior: tuple[float, float] = (1.0, 1.0)
    rewards: bool = False
    poles: bool = False

    @property
    def headline(self) -> Headline:
        """The posterior mean, or the average itself."""
        return "estimate" if self.observed else "mu"

    @property
    def uses_prior(self) -> bool:
        """Whether prior trials have a say: not in what was observed."""
        return not self.observed

    @property
    def span(self) -> Bounds:
        """The smallest and the largest weight."""
        w = weights(self.w)
        return float(w.min()), float(w.max())

    def weighing(self, w: WeightPairs) -> WeightedMetric:
        """The same with weights, if it has none of its own."""
        return self if self.w is not None else replace(self, w=w)

    @property
    def unit(self) -> float:
        """The spread of the weights: in units of it their squares fit into a float."""
        return spread(weights(self.w)) or 1.0

    def outlook(self, posterior: Questions) -> Outlook:
        """What further trials leave of the variance, in squared `unit`.

        Of the questions of each pair of a group and a state of the posterior, shape (P,); if
        `observed`, of one without prior trials.
        """
        scaled = weights(self.w) / self.unit
        return posterior.average_outlook(scaled) if self.observed else posterior.outlook(scaled)

    def summary(self, posterior: Questions, k: int | None) -> Summary:  # noqa: ARG002 - no k
        """Estimate and posterior of each group."""
        w = weights(self.w)
        # In units of their spread: the square of the weights may be larger than a float.
        origin, unit = float(np.clip(0.0, w.min(), w.max())), self.unit
        scaled = (w - origin) / unit
        estimate = posterior.states.mean(weighted_average(posterior.states.counts, w))
        if not self.observed:
            mu, sigma = posterior.weighted(scaled)
            return Summary(estimate, origin + unit * mu, unit * sigma)
        posterior = posterior.without_prior()
        sigma = unit * posterior.average_sigma(scaled)
        extreme = (estimate == w.min()) | (estimate == w.max())
        if isinstance(posterior, Independent) or not extreme.any():
            return Summary(estimate, estimate, sigma)
        # An average on a bound has no interval of its own that is worth the name.
        mu, wider = posterior.weighted(scaled)
        around = np.where(extreme, (origin + unit * mu, unit * wider), (estimate, sigma))
        return Summary(estimate, estimate, sigma, around)


def bayes(
    w: Weights | None = None, *, bounds: Bounds | None = None, name: str | None = None
) -> WeightedMetric:
    """Bayes@N: how good is the model on average, judged after all trials [1]_?

    The posterior mean of the average weight of a trial, under a uniform Dirichlet prior for each
    question, or under the prior trials of the report.

    Parameters
    ----------
    w : sequence or dict of float, optional
        The weight of each category: a sequence for the codes 0, 1, ..., a dict for labels. Their
        number is the number of categories, seen or not. Default: success 1, failure 0.
    bounds : tuple of float, optional
        Range into which the interval is clipped; default none.
    name : str, optional
        What the result calls the metric.

    Returns
    -------
    WeightedMetric
        To be given to `report`.

    Raises
    ------
    ValueError
        If `w` is empty, not flat or not finite, or if `bounds` are reversed.

    Notes
    -----
    For a question with c_j trials and d_j prior trials in category j, nu_j = 1 + d_j + c_j and
    T = sum nu_j, the mean is m = sum w_j nu_j / T and the variance
    (sum w_j^2 nu_j / T - m^2) / (T + 1). mu is the mean of m over the M questions, sigma the root
    of the summed variances over M; `estimate` is the plain average weight of the trials.

    References
    ----------
    .. [1] M. Hariri, A. Samandar, M. Hinczewski, V. Chaudhary (2026), Don't Pass@k: A Bayesian
       Framework for Large Language Model Evaluation, ICLR 2026, arXiv:2510.04265, algorithm 1.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 1], "category": [0, 1, 2]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.bayes(w=[0, 0.5, 1]))
    >>> report.select("metric", "estimate", "mu").row(0)
    ('bayes(w=[0, 0.5, 1])', 0.5, 0.5)
    """
    return _weighted("bayes", w, bounds, name, observed=False)


def avg(
    w: Weights | None = None, *, bounds: Bounds | None = None, name: str | None = None
) -> WeightedMetric:
    """avg@N: what did the trials score on average, and how far is that to be trusted [1]_?

    The plain average weight of the trials of a question, averaged over the questions; with binary
    outcomes the accuracy. Its sigma is that of Bayes@N without prior trials, on the scale of the
    average.

    Parameters
    ----------
    w : sequence or dict of float, optional
        The weight of each category, as for `bayes`. Default: success 1, failure 0.
    bounds : tuple of float, optional
        Range into which the interval is clipped; default none.
    name : str, optional
        What the result calls the metric.

    Returns
    -------
    WeightedMetric
        To be given to `report`.

    Raises
    ------
    ValueError
        If `w` is empty, not flat or not finite, or if `bounds` are reversed.

    Notes
    -----
    estimate = mu = mean over questions of sum w_j c_j / n. With C + 1 categories, T = C + 1 + n and
    v the variance of `bayes` without prior trials, sigma = sqrt(sum (T / n)^2 v) / M. Prior trials
    do not enter.

    References
    ----------
    .. [1] M. Hariri et al. (2026), arXiv:2510.04265, eq. 20 for equal n; here each question is
       rescaled by its own n.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.avg())
    >>> report.select("metric", "estimate", "mu").row(0)
    ('avg', 0.75, 0.75)
    """
    return _weighted("avg", w, bounds, name, observed=True)


def _weighted(
    function: str, w: Weights | None, bounds: Bounds | None, name: str | None, *, observed: bool
) -> WeightedMetric:
    pairs, limits = weight_pairs(w), interval_bounds(bounds)
    name = full_name(function, name, w=(pairs, None), bounds=(limits, None))
    return WeightedMetric(name, observed, pairs, limits)
