"""What a metric says of the models of a log, to compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from polars_scorio.arguments import Per
from polars_scorio.counting.trials import Trials
from polars_scorio.decisions.model_difference import Posteriors, Scores, scores_of
from polars_scorio.decisions.paired_population import Questions, refuse_unadjustable, sample_options
from polars_scorio.decisions.prior_dominance import outweighed, rounding_error
from polars_scorio.decisions.strata import aligned, refuse_rewards
from polars_scorio.decisions.strata_arrays import Block
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.simultaneous.rank_ranges import lower_models
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import bayes
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.reporting.report import results

# The rows of a report of one draw size: of each model, or of each of its questions.
Rows: TypeAlias = "pl.DataFrame | Questions"


def metric_of(metric: Metric | None, method: str) -> Metric:
    """The metric, by default `ps.bayes()`.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if metric is not None and not isinstance(metric, Metric):
        raise TypeError(f"{method} takes a metric such as ps.bayes(), got {metric!r}")
    return bayes() if metric is None else metric


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """What a metric says of the models of a log, to compare them."""

    trials: Trials
    metric: Metric
    options: DecisionOptions

    @classmethod
    def of(cls, trials: Trials, metric: Metric, options: DecisionOptions, method: str) -> Models:
        """Check what can be compared, as far as arguments and schema tell."""
        if options.get("target") == "population":
            sample_options(metric, options)
        else:
            refuse_rewards(metric, trials, method)
        aligned(options, adjustable=True)
        refuse_unadjustable(metric, options)
        return cls(trials, metric, options)

    @property
    def sampled(self) -> bool:
        """Whether the questions are a sample."""
        return self.options.get("target") == "population"

    @property
    def confidence(self) -> float:
        """Of the intervals."""
        return float(self.options.get("confidence", 0.95))

    def results(self) -> pl.LazyFrame:
        """The report on them: of each model, or of each of its questions."""
        options = sample_options(self.metric, self.options) if self.sampled else self.options
        per: Per = "question" if self.sampled else "model"
        priced = self.metric.priced(options.get("inference"))
        asked = aligned(options, adjustable=True)
        return results(
            self.trials, [self.metric], per=per, priced=priced, clustered=self.sampled, **asked
        )

    def of_k(self, rows: pl.DataFrame, k: int | None) -> Rows:
        """The rows of one draw size."""
        if self.sampled:
            return Questions.read(rows, self.trials, self.metric, k)
        return rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)))

    def scores(self, rows: Rows, block: Block) -> Scores:
        """What is known of the models of some strata."""
        if isinstance(rows, Questions):
            return rows.scores(block, adjusted=self.options.get("questions") == "adjusted")
        return scores_of(rows, block, self.metric, self.options)

    def doubts(self, rows: Rows, block: Block, scores: Scores, a: Ints, b: Ints) -> Mask:
        """Pairs in which the prior decides, although nobody chose the inference."""
        estimate = self._estimates(rows, block, scores)
        if estimate is None:
            return np.zeros((block.strata.size, a.size), np.bool_)
        by_itself = scores.quantile((1 + self.confidence) / 2)[:, None]
        found = scores.differences(a, b, np.repeat(by_itself, a.size, axis=1))
        return outweighed(estimate[:, a] - estimate[:, b], found.lo, found.hi, self.metric)

    def number_of_doubts(self, rows: Rows, block: Block, scores: Scores) -> Ints:
        """Number of such pairs in each stratum, counted without a table of all pairs.

        The intervals are not clipped to bounds; this matters for bounds narrower than the metric.
        """
        estimate = self._estimates(rows, block, scores)
        if estimate is None or not isinstance(scores, Posteriors):
            return np.zeros(block.strata.size, np.int64)
        c = np.repeat(
            scores.quantile((1 + self.confidence) / 2)[:, None], estimate.shape[1], axis=1
        )
        sigma = scores.sigma + rounding_error(self.metric)
        # The interval of a pair is about its posterior means: one estimate is too far from it.
        return np.asarray(lower_models(estimate - scores.mu, sigma, sigma, c, np.inf).sum(axis=1))

    def _estimates(self, rows: Rows, block: Block, scores: Scores) -> Floats | None:
        """Unbiased estimates of the models; None if no posterior contradicts them unasked."""
        if isinstance(rows, Questions) or not isinstance(scores, Posteriors):
            return None
        if self.options.get("inference") is not None:
            return None
        return np.asarray(rows["estimate"].to_numpy()[block.rows])
