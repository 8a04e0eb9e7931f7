"""Models on all questions that could have been asked: the questions at hand are a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtrit

from polars_scorio.counting.roles import Trials
from polars_scorio.kernels.arrays import Floats, Ints
from polars_scorio.kernels.samples import population_mean
from polars_scorio.metrics.base import Bounds, Metric
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.reporting.request import view_of


def sample_options(metric: Metric, options: DecisionOptions) -> DecisionOptions:
    """The options of the report that gives the estimates of the questions.

    Raises
    ------
    ValueError
        If something is asked for that has no say in them.
    """
    if not metric.per_question:
        raise ValueError(
            f"{metric.name}: a blend of the whole benchmark has no value for a single question, "
            'so that target="population" cannot compare them; ps.geom_at_k has'
        )
    idle = {
        "prior trials have no say, leave prior= out": options.get("prior") is not None,
        'a fitted population has no say, leave inference="pooled" out': (
            options.get("inference") == "pooled"
        ),
        "alpha0 and beta0 have no say, leave them out": metric.prior != (1.0, 1.0),
    }
    for way_out in (text for text, given in idle.items() if given):
        raise ValueError(
            'target="population" compares what the trials themselves say of each question: '
            f"{way_out}"
        )
    return {**options, "target": "benchmark", "inference": "published"}


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The questions of a stratum as a sample: a row of estimates for each model.

    Attributes
    ----------
    estimates : ndarray of float, shape (L, M)
        Of each model and question; NaN where a question has fewer than k trials.
    width : float, optional
        How far two estimates can be apart; None where nobody knows.
    """

    estimates: Floats
    width: float | None

    @classmethod
    def read(cls, rows: pl.DataFrame, trials: Trials, metric: Metric, k: int | None) -> Sample:
        """Read the rows of a report per question."""
        assert trials.model is not None  # noqa: S101 - what compares models has some
        names = trials.model.name, trials.question.name
        of_k = rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64))).sort(*names)
        estimates = of_k["estimate"].to_numpy().reshape(rows[names[0]].n_unique(), -1)
        low, high = metric.span
        known = view_of(metric, trials) != "rewards"
        return cls(estimates, high - low if known else None)

    def limits(self, metric: Metric) -> Bounds:
        """Between which ends a score can be, and is shown."""
        if self.width is None:  # the bounds of rewards without weights are those of success
            return (-np.inf, np.inf) if metric.bounds in {None, metric.span} else metric.bounds
        ends = metric.span if metric.bounds is None else np.clip(metric.span, *metric.bounds)
        return float(ends[0]), float(ends[1])

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return int(self.estimates.shape[1]) - 1

    def quantile(self, probability: float) -> float:
        """Of Student's t distribution; NaN for a single question."""
        return float(stdtrit(self.freedom, probability)) if self.freedom else np.nan

    def scores(self) -> tuple[Floats, Floats]:
        """Mean and standard error of each model."""
        return self._mean(self.estimates)

    def differences(self, a: Ints, b: Ints) -> tuple[Floats, Floats]:
        """Mean and standard error of the paired differences of models."""
        # One by one: the differences of all pairs would fill the memory.
        pairs = zip(a, b, strict=True)
        each = [self._mean(self.estimates[one] - self.estimates[other]) for one, other in pairs]
        diff, sigma = np.array(each).reshape(-1, 2).T
        return diff, sigma

    def _mean(self, values: Floats) -> tuple[Floats, Floats]:
        mean, sigma = population_mean(values, self.width or 0.0)
        # Without a range, rewards that are all the same tell nothing of their spread.
        return mean, sigma if self.width is not None else np.where(sigma > 0, sigma, np.nan)
