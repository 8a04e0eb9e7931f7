"""The numbers of votes over answers, which are calibrated whatever inference a user chose."""

from __future__ import annotations

from collections.abc import Sequence

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.metric_numbers import Numbers, price_numbers
from polars_scorio.kernels.calibrated.population_mean import QuestionSample
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.cell_numbers import CellNumbers, Row, clipped_numbers
from polars_scorio.reporting.inference.sampled_numbers import sampled_numbers
from polars_scorio.reporting.question_cells import QuestionCells


def vote_numbers(
    metrics: Sequence[Metric], cells: QuestionCells, confidence: Floats | float, target: Target
) -> dict[Row, CellNumbers]:
    """The numbers of metrics of answers, for each draw size and cell."""
    votes = cells.votes()
    clusters = cells.vote_clusters() if target == "population" else None
    sample = QuestionSample(votes, clusters)

    def numbers_of(metric: Metric, k: int | None, price: Price) -> Numbers:
        if target == "benchmark":
            return price_numbers(price, confidence)
        values = metric.summary(votes.alone, k).estimate
        return sampled_numbers(price, sample, values, confidence)

    return {
        (metric.name, k): clipped_numbers(numbers_of(metric, k, price), metric)
        for metric in metrics
        for k, price in zip(metric.row_sizes, metric.prices(votes), strict=True)
    }
