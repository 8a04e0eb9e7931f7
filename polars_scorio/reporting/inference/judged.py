"""Inference of the truth from verdicts of an imperfect judge.

Accuracy by labels on these trials needs no assumption on how the judge errs. All else assumes that
only the truth matters to the judge: accuracy by a calibration sample from elsewhere, and metrics of
draws, whose credit is corrected for the errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import View
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.cell_numbers import (
    CALIBRATION,
    PRICE,
    CellNumbers,
    Row,
    RowNumbers,
    read_calibration,
    read_price,
    refuse_outside,
)
from polars_scorio.reporting.inference.estimate_scores import EstimateScores
from polars_scorio.reporting.inference.judged_numbers import JudgedNumbers
from polars_scorio.reporting.inference.judged_scores import DrawScores, VerdictScores
from polars_scorio.reporting.inference.priced_scores import PricedScores
from polars_scorio.reporting.inference.question_values import read_question_values
from polars_scorio.reporting.inference.stratum_means import root_of_squares, unless_lacking
from polars_scorio.reporting.inference.stretched_scores import StretchedScores
from polars_scorio.reporting.question_cells import QuestionCells


@dataclass(frozen=True, slots=True)
class JudgedInference:
    """Mu is the unbiased estimate of the truth.

    Attributes
    ----------
    confidence : float
        Of the intervals.
    target : "benchmark" or "population"
        What mu is about.
    labelled : bool
        Whether the labels are on these trials, or those of a calibration sample from elsewhere.
    """

    confidence: float
    target: Target
    labelled: bool

    @property
    def z(self) -> float:
        """Critical value of an interval."""
        return float(scipy.special.ndtri((1 + self.confidence) / 2))

    def numbers(self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells) -> RowNumbers:
        """The numbers of metrics of success and failure, for each draw size and cell."""
        judges = cells.judges
        assert judges is not None  # the evaluation of a report reads them
        states = cells.seen_as("success")
        clusters = cells.clusters if self.target == "population" else None
        clusters = clusters and clusters.binary([*cells.classes.successful])
        truth = JudgedNumbers(states, judges, self.confidence, self.target, clusters)
        rows = dict[Row, CellNumbers]()
        for metric, _ in asked:
            for k in metric.row_sizes:
                gains = metric.draw(k)
                assert gains is not None  # the request has seen to that
                low, high = metric.bounds or (-np.inf, np.inf)
                found = truth.of_metric(metric.name, k, gains)
                refuse_outside(found.mu, metric)
                clipped = np.clip(found.lo, low, high), np.clip(found.hi, low, high)
                rows[metric.name, k] = found._replace(lo=clipped[0], hi=clipped[1])
        return rows

    def ranking_numbers(
        self, metric: Metric, view: View, k: int | None, cells: QuestionCells
    ) -> Floats:
        """The estimate of each cell."""
        return self.numbers([(metric, view)], cells)[metric.name, k].estimate

    def model_scores(self, metric: Metric, rows: pl.DataFrame, places: Ints) -> EstimateScores:
        """The models of strata, from rows of a report.

        Accuracies by labels on these trials reach as far as their own intervals. Under one judge
        the errors that models share cancel in a difference.
        """
        mu, sigma, lo, hi = (rows[name].to_numpy()[places] for name in ("mu", "sigma", "lo", "hi"))
        limit = np.inf if metric.bounds is None else metric.bounds[1] - metric.bounds[0]
        known = (
            CALIBRATION in rows.columns and not rows[CALIBRATION].gather(places[:, 0]).null_count()
        )
        if known:
            calibration = read_calibration(rows).at(places.ravel())
            judge = calibration.judge.reshape(places.shape)
            if not np.isnan(calibration.variance).all():
                return DrawScores(mu, sigma, limit, lo, hi, calibration)
            one_judge = (judge == judge[:, :1]).all()
            if one_judge and not rows[PRICE].gather(places[:, 0]).null_count():
                verdicts = _verdict_scores(metric, rows, places)
                return VerdictScores(mu, sigma, limit, lo, hi, calibration, verdicts)
        return StretchedScores(mu, sigma, limit, lo, hi, np.full(places.shape, self.z))

    def mean_interval(
        self,
        metric: Metric,
        strata: GroupBy,
    ) -> tuple[Floats, Floats]:
        """Ends of the interval of a mean over strata, from rows of a report.

        Strata with labels of their own have independent errors; those under one calibration sample
        share them, so that the ends are means of the ends.
        """
        mu, lo, hi = pl.col("mu"), pl.col("lo"), pl.col("hi")
        below, above = lo.mean(), hi.mean()
        if self.labelled:
            below = mu.mean() - root_of_squares(mu - lo)
            above = mu.mean() + root_of_squares(hi - mu)
        ends = strata.agg(unless_lacking("lo", below), unless_lacking("hi", above))
        return ends["lo"].to_numpy(), ends["hi"].to_numpy()


def _verdict_scores(metric: Metric, rows: pl.DataFrame, places: Ints) -> PricedScores:
    """The models by their verdicts as they are."""
    price = read_price(rows, metric).at(places.ravel())
    questions = read_question_values(rows, places, 0.0, 1.0)
    mu, sigma = price.mu.reshape(places.shape), price.sigma.reshape(places.shape)
    single = (rows["trials"] == rows["questions"]).to_numpy()[places]
    return PricedScores.floored((mu, sigma, mu, mu), 1.0, price, questions, single)
