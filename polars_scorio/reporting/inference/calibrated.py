"""Calibrated inference: unbiased estimates, and intervals from the price of their noise.

The price is the larger of two estimates of the variance, under a smooth and a free fit of the
questions; the interval is that of Clopper and Pearson with an effective number of questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
import scipy
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import View
from polars_scorio.counting.categories import Classes
from polars_scorio.kernels.anytime import anytime_critical
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.blend_interval import blend_numbers
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.metric_numbers import Numbers, credit_numbers, price_numbers
from polars_scorio.kernels.calibrated.population_mean import QuestionSample
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.posteriors import SeparatePosteriors, Target
from polars_scorio.kernels.rewards.compared_rewards import ComparedRewards
from polars_scorio.kernels.states import States
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.reward_metric import RewardMetric
from polars_scorio.metrics.summary import quiet_infinities
from polars_scorio.reporting.inference.cell_numbers import (
    BOUNDS,
    INFORMATION,
    PRICE,
    REWARD_PRICE,
    CellNumbers,
    Row,
    RowNumbers,
    clipped_numbers,
    read_price,
    read_reward_price,
)
from polars_scorio.reporting.inference.cost_numbers import cost_numbers
from polars_scorio.reporting.inference.estimate_scores import EstimateScores
from polars_scorio.reporting.inference.macro_numbers import (
    macro_numbers,
    priced_macro_numbers,
    sampled_macro_numbers,
)
from polars_scorio.reporting.inference.planned_looks import look_confidence, planned_share
from polars_scorio.reporting.inference.priced_scores import PricedScores
from polars_scorio.reporting.inference.question_values import read_question_values
from polars_scorio.reporting.inference.reward_numbers import reward_numbers
from polars_scorio.reporting.inference.sampled_numbers import sampled_numbers
from polars_scorio.reporting.inference.stratum_means import root_of_squares, unless_lacking
from polars_scorio.reporting.inference.stretched_scores import StretchedScores
from polars_scorio.reporting.inference.vote_numbers import vote_numbers
from polars_scorio.reporting.question_cells import QuestionCells


@dataclass(frozen=True, slots=True)
class CalibratedInference:
    """Mu is the unbiased estimate; for k beyond the trials, lo and hi are the range of a forecast.

    Four kinds of metrics are priced: those that credit successes (avg, the Pass@k family), those
    that price themselves (blends of the benchmark, Max@k and averages of several weights), those of
    real-valued rewards, and votes.
    """

    confidence: float
    target: Target
    anytime: int | None = None  # the planned trials a question (or questions) of repeated looks

    def numbers(self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells) -> RowNumbers:
        """The numbers of metrics, each with its view, for each draw size and cell."""
        if self.anytime is None:
            return self._numbers_at(self.confidence, asked, cells)
        information = planned_share(cells, self.target, self.anytime)
        rows = self._numbers_at(look_confidence(self.confidence, information), asked, cells)
        return {row: numbers._replace(information=information) for row, numbers in rows.items()}

    def _numbers_at(
        self,
        confidence: Floats | float,
        asked: Sequence[tuple[Metric, View]],
        cells: QuestionCells,
    ) -> dict[Row, CellNumbers]:
        """The numbers of metrics at a confidence, or at one of each cell."""
        # These very questions are no sample.
        clusters = cells.clusters if self.target == "population" else None
        votes, rewards, costs = list[Metric](), list[RewardMetric](), list[CostMetric]()
        counted = list[tuple[Metric, View]]()
        credited = defaultdict[tuple[int, ...], list[Metric]](list)
        for metric, view in asked:
            successes = credited_classes(metric, view, cells.classes)
            if view == "answers":
                votes.append(metric)
            elif isinstance(metric, CostMetric):
                costs.append(metric)
            elif view == "rewards" and isinstance(metric, RewardMetric):
                rewards.append(metric)
            elif successes is None:
                counted.append((metric, view))
            else:
                credited[successes].append(metric)

        @cache
        def fit(successes: tuple[int, ...]) -> Calibrated:
            return Calibrated.fit(cells.states.binary([*successes]))

        rows = dict[Row, CellNumbers](reward_numbers(rewards, cells, confidence, self.target))
        rows |= cost_numbers(costs, cells, self.confidence, self.target)
        if votes:
            rows |= vote_numbers(votes, cells, confidence, self.target)
        for metric, view in counted:
            success = tuple(cells.classes.successful)
            priced = fit(success) if view == "success" else cells.states
            rows |= self._priced_numbers(metric, priced, cells, clusters, confidence)
        for successes, metrics in credited.items():
            clustered = clusters and clusters.binary([*successes])
            rows |= self._credited_numbers(metrics, fit(successes), clustered, confidence)
        return rows

    def macro_numbers(
        self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells
    ) -> dict[Row, CellNumbers]:
        """The numbers of means over strata, as far as the questions of all strata give them.

        They give those of costs, and of all metrics that have an estimate of each question, but not
        about a population of clusters. The strata give the others.
        """
        costs = [metric for metric, _ in asked if isinstance(metric, CostMetric)]
        if costs:
            return cost_numbers(costs, cells, self.confidence, self.target)
        if self.target == "population" and cells.clusters is not None:
            return {}
        confidence: Floats | float = self.confidence
        if self.anytime is not None:
            information = planned_share(cells, self.target, self.anytime)
            confidence = look_confidence(self.confidence, information)
        found = dict[Row, CellNumbers]()
        credited = defaultdict[tuple[int, ...], list[Metric]](list)
        for metric, view in asked:
            successes = credited_classes(metric, view, cells.classes)
            if successes is not None and view in {"success", "categories"}:
                credited[successes].append(metric)
            elif view in {"answers", "categories"}:
                benchmark = self.target == "benchmark"
                numbers = priced_macro_numbers if benchmark else sampled_macro_numbers
                found |= numbers(metric, view, cells, confidence)
        return found | macro_numbers(credited, cells, confidence, self.target)

    def ranking_numbers(
        self, metric: Metric, view: View, k: int | None, cells: QuestionCells
    ) -> Floats:
        """The estimate of each cell, which needs no fit."""
        unbiased = metric.with_unbiased_estimate()
        return unbiased.summary(SeparatePosteriors(cells.seen_as(view)), k).estimate

    def model_scores(self, metric: Metric, rows: pl.DataFrame, places: Ints) -> EstimateScores:
        """The models of strata, from rows of a report.

        Differences have the price of the trials or that of the paired questions; or, if the rows
        have no price because they are means over strata, they reach as far as their intervals.
        """
        numbers = [rows[name].to_numpy()[places] for name in ("mu", "sigma", "lo", "hi")]
        information = None if self.anytime is None else rows[INFORMATION].to_numpy()[places]
        of_rewards = BOUNDS in rows.columns and rows[BOUNDS].null_count() < len(rows)
        if of_rewards and rows[REWARD_PRICE].gather(places[:, 0]).null_count() == 0:
            return _reward_scores(numbers, rows, places, information)
        # Differences of rewards end where their range does, which is no field of the metric.
        bounds = None if of_rewards else metric.bounds
        limit = np.inf if bounds is None else bounds[1] - bounds[0]
        if PRICE in rows.columns and rows[PRICE].gather(places[:, 0]).null_count() == 0:
            price = read_price(rows, metric).at(places.ravel())
            questions = read_question_values(rows, places, price.low, price.width)
            single = (rows["trials"] == rows["questions"]).to_numpy()[places]
            return PricedScores.floored(numbers, limit, price, questions, single, information)
        mu, sigma, lo, hi = numbers
        z = np.full(places.shape, scipy.special.ndtri((1 + self.confidence) / 2))
        if information is not None:
            z = anytime_critical(z, information)
        return StretchedScores(mu, sigma, limit, lo, hi, z, information=information)

    def mean_interval(
        self,
        metric: Metric,
        strata: GroupBy,
    ) -> tuple[Floats, Floats]:
        """Ends of the interval of a mean over strata, from rows of a report [1]_.

        From the mean it reaches as far as the root of the summed squares of the reaches of the
        strata. The ends are means of the ends if a stratum has a range, which has no sigma; and of
        a blend of means, whose estimate has a bias that is the same in each stratum: with roots of
        squares, Geom_ds@2 of 50 strata of 3 questions with 2 trials held in .45 of the logs.

        References
        ----------
        .. [1] G. Y. Zou, A. Donner (2008), Construction of confidence limits about effect measures,
           Statistics in Medicine 27, 1693-1702.
        """
        mu, lo, hi = pl.col("mu"), pl.col("lo"), pl.col("hi")
        unbiased = pl.lit(metric.per_question)
        measured = pl.when(unbiased & (pl.col("sigma").null_count() == 0))
        below = measured.then(mu.mean() - root_of_squares(mu - lo)).otherwise(lo.mean())
        above = measured.then(mu.mean() + root_of_squares(hi - mu)).otherwise(hi.mean())
        ends = strata.agg(unless_lacking("lo", below), unless_lacking("hi", above))
        return ends["lo"].to_numpy(), ends["hi"].to_numpy()

    def _priced_numbers(
        self,
        metric: Metric,
        priced: Calibrated | States,
        cells: QuestionCells,
        clusters: Clustered[States] | None,
        confidence: Floats | float,
    ) -> dict[Row, CellNumbers]:
        """The numbers of a metric that prices itself."""
        with quiet_infinities(metric):
            prices = zip(metric.row_sizes, metric.prices(priced), strict=True)
            return {
                (metric.name, k): clipped_numbers(
                    self._of_price(metric, k, price, priced, cells, clusters, confidence), metric
                )
                for k, price in prices
            }

    def _of_price(
        self,
        metric: Metric,
        k: int | None,
        price: Price,
        priced: Calibrated | States,
        cells: QuestionCells,
        clusters: Clustered[States] | None,
        confidence: Floats | float,
    ) -> Numbers:
        """The numbers of a price; about a population, with the spread of the questions."""
        blended = metric.blend_of_means(k)
        if blended is not None and isinstance(priced, Calibrated):
            own = clusters and clusters.binary([*cells.classes.successful])
            return blend_numbers(priced, blended, price, confidence, self.target, own)
        if self.target == "benchmark":
            return price_numbers(price, confidence)
        states = cells.states
        values = metric.summary(SeparatePosteriors(states.alone), k).estimate
        sample = QuestionSample(states, clusters)
        return sampled_numbers(price, sample, values, confidence)

    def _credited_numbers(
        self,
        metrics: Sequence[Metric],
        fitted: Calibrated,
        clusters: Clustered[States] | None,
        confidence: Floats | float,
    ) -> dict[Row, CellNumbers]:
        """The numbers of metrics that credit the same successes: one pass for all of them."""
        rows = [(metric, k) for metric in metrics for k in metric.row_sizes]
        draws = [draw for metric, k in rows if (draw := metric.draw(k)) is not None]
        credited = credit_numbers(fitted, draws, confidence, self.target, clusters)
        return {
            (metric.name, k): clipped_numbers(numbers.scaled(*metric.support), metric)
            for (metric, k), numbers in zip(rows, credited, strict=True)
        }


def _reward_scores(
    numbers: Sequence[Floats], rows: pl.DataFrame, places: Ints, information: Floats | None
) -> PricedScores:
    """The models of strata by real-valued rewards, each stratum with one range for all models."""
    price = read_reward_price(rows)
    questions = read_question_values(rows, places, price.low, price.width)
    mu, sigma, lo, hi = numbers
    compared = ComparedRewards(price.at(places.ravel()))
    return PricedScores(mu, sigma, np.inf, lo, hi, compared, questions, information=information)


def credited_classes(metric: Metric, view: View, classes: Classes) -> tuple[int, ...] | None:
    """The classes that count as success of a metric that credits successes; None: it does not."""
    if view in {"rewards", "costs"} or metric.draw(metric.row_sizes[0]) is None:
        return None
    return tuple(classes.successful) if view == "success" else successful_categories(metric)


def successful_categories(metric: Metric) -> tuple[int, ...] | None:
    """The categories of the larger of two weights; None: a metric has one weight, or several."""
    w = metric.weights
    return tuple(np.flatnonzero(w == w.max()).tolist()) if np.unique(w).size == 2 else None
