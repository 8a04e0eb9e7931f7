"""Calibrated numbers of real-valued rewards, which need no fit of a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.posteriors import Target
from polars_scorio.kernels.rewards.question_rewards import QuestionRewards
from polars_scorio.kernels.rewards.reward_price import RewardPrice
from polars_scorio.metrics.reward_metric import RewardMetric
from polars_scorio.reporting.inference.cell_numbers import CellNumbers, Row
from polars_scorio.reporting.question_cells import QuestionCells


def reward_numbers(
    metrics: Sequence[RewardMetric],
    cells: QuestionCells,
    confidence: Floats | float,
    target: Target,
) -> dict[Row, CellNumbers]:
    """The numbers of metrics of real-valued rewards, for each draw size and cell."""
    found = dict[Row, CellNumbers]()
    for metric in metrics:
        low, width = cells.reward_range(metric)
        bounds = "observed" if cells.given_range(metric) is None else "given"
        for k in metric.row_sizes:
            questions = cells.reward_estimates(metric, k)
            if target == "benchmark":  # these very questions are no sample of clusters
                questions = replace(questions, cluster=None)
            questions = questions.ordered()
            numbers = (
                _benchmark_numbers(RewardPrice.of(questions, low, width), confidence)
                if target == "benchmark"
                else _population_numbers(questions, low, width, confidence)
            )
            found[metric.name, k] = numbers._replace(bounds=bounds)
    return found


def _benchmark_numbers(price: RewardPrice, confidence: Floats | float) -> CellNumbers:
    """The numbers of a mean on these very questions."""
    lo, hi = (price.low + price.width * end for end in price.ends((1 - confidence) / 2))
    return CellNumbers("calibrated", price.mu, price.mu, price.sigma, lo, hi, price=price)


def _population_numbers(
    questions: QuestionRewards, low: Floats, width: Floats, confidence: Floats | float
) -> CellNumbers:
    """The numbers of a mean over a population of which the questions are a sample."""
    mean = questions.mean
    ends = questions.sample().bounds(confidence)
    # If all questions are alike, the mean may differ from an end by a rounding.
    lo, hi = np.minimum(ends.lo, mean), np.maximum(ends.hi, mean)
    mu, known = low + width * mean, width > 0
    lo, hi = (np.where(known, low + width * end, np.nan) for end in (lo, hi))
    return CellNumbers("calibrated", mu, mu, width * questions.population_sigma(), lo, hi)
