"""The numbers of metrics of the truth, from verdicts and what is known of their judge."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.clopper_pearson import effective_questions
from polars_scorio.kernels.calibrated.credit_sums import (
    CreditSum,
    GainsOf,
    fixed_gains,
    group_estimates,
)
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.metric_numbers import credit_numbers
from polars_scorio.kernels.calibrated.population_mean import QuestionSample, population_variance
from polars_scorio.kernels.calibrated.variance_price import Price, credit_prices
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.judges.judge_rates import JudgeRates
from polars_scorio.kernels.judges.judged_accuracy import judged_accuracy
from polars_scorio.kernels.judges.judged_prices import JudgedPrice, judged_price
from polars_scorio.kernels.judges.labelled_accuracy import LabelledRate
from polars_scorio.kernels.posteriors import Target
from polars_scorio.kernels.states import States
from polars_scorio.reporting.cell_judges import CellJudges, label_totals
from polars_scorio.reporting.inference.cell_numbers import CellNumbers, JudgeCalibration
from polars_scorio.reporting.judge_warning import (
    hardly_labelled,
    warn_of_contradictions,
    warn_of_hopeless,
    warn_of_unlabelled,
)

# Standard errors by which two corrections of the same verdicts may differ.
_DIFFERENT = 3.0
_ONE_TRIAL = fixed_gains(np.ones(1))


@dataclass(frozen=True, eq=False)  # no slots: the fits are kept
class JudgedNumbers:
    """The verdicts on the questions of some groups, and the numbers of the truth behind them.

    Attributes
    ----------
    states : States
        The questions by their verdicts, wrong and right.
    judges : CellJudges
        The judge of each group.
    confidence : float
        Of the intervals.
    target : "benchmark" or "population"
        What the numbers are about.
    clusters : Clustered or None
        The questions in their clusters, if these are a sample.
    """

    states: States
    judges: CellJudges
    confidence: float
    target: Target
    clusters: Clustered[States] | None = None

    def of_metric(self, name: str, k: int | None, gains: GainsOf) -> CellNumbers:
        """The numbers of a metric at one draw size.

        Raises
        ------
        ValueError
            If some question has fewer trials than are drawn.
        """
        sizes = {n: gains(n).size for n in np.unique(self.states.n).tolist()}
        short = [n for n, size in sizes.items() if size > n]
        if short:
            raise ValueError(
                f"{name}: k={k} is more than the {min(short):,} trials of some question, and a "
                "forecast knows no correction for the errors of a judge: take a smaller k, leave "
                "questions with fewer trials out, or leave truth= and judge= out"
            )
        if max(sizes.values(), default=1) > 1:
            return self._draw_numbers(name, gains)
        if self.judges.labels is not None:
            return self._labelled_accuracy(name)
        return self._sampled_accuracy(name)

    @property
    def _tail(self) -> float:
        """The chance beyond either end."""
        return (1 - self.confidence) / 2

    @property
    def _critical(self) -> float:
        """Critical value of the intervals."""
        return float(-scipy.special.ndtri(self._tail))

    @cached_property
    def _fitted(self) -> Calibrated:
        """The fits of the verdicts, which metrics share."""
        return Calibrated.fit(self.states)

    def _labelled_accuracy(self, name: str) -> CellNumbers:
        """Accuracy by labels on these trials."""
        labels, z = self.judges.labels, self._critical
        assert labels is not None
        found = labels.questions.accuracy(self.confidence, self.target)
        judged = group_estimates(self.states, _ONE_TRIAL)[0]
        verdicts = labels.questions.verdict_sums()
        unknown: Mask = np.asarray(hardly_labelled(*verdicts).any(axis=0))
        self._warn_of_contradictions(found, judged, unknown)
        warn_of_unlabelled(name, *verdicts)
        warn_of_hopeless(name, np.isnan(found.lo) & ~unknown, labels.own, z)
        estimate, sigma, lo, hi = (
            np.where(unknown, np.nan, number)
            for number in (found.estimate, found.sigma, found.lo, found.hi)
        )
        counts = label_totals(labels.questions)[:, [0, 2]].sum(axis=1)
        return CellNumbers(
            "calibrated", estimate, estimate, sigma, lo, hi, judged=judged, labels=counts
        )

    def _warn_of_contradictions(self, found: LabelledRate, judged: Floats, unknown: Mask) -> None:
        """Compare known accuracies with those by the sensitivity and specificity of all labels."""
        labels, z = self.judges.labels, self._critical
        assert labels is not None
        trials = self.states.trials.astype(np.float64)
        rate = judged_accuracy(judged, trials, labels.together, z)
        other = (rate.hi - rate.lo) / (2 * z)
        gap = np.abs(found.estimate - rate.estimate)
        warn_of_contradictions(~unknown & (gap > _DIFFERENT * np.hypot(found.sigma, other)))

    def _sampled_accuracy(self, name: str) -> CellNumbers:
        """Accuracy by a calibration sample from elsewhere."""
        judged, rates = group_estimates(self.states, _ONE_TRIAL)[0], self.judges.rates
        price, questions = self._verdict_price(judged)
        found = judged_accuracy(judged, questions, rates, self._critical)
        warn_of_hopeless(name, np.isnan(found.estimate), rates, self._critical)
        noise = judged * (1 - judged) / questions
        noise += found.estimate**2 * rates.sensitivity_variance
        noise += (1 - found.estimate) ** 2 * rates.specificity_variance
        sigma = np.sqrt(noise) / np.where(rates.adjusted_index > 0, rates.adjusted_index, np.nan)
        none = np.full(judged.shape, np.nan)
        calibration = JudgeCalibration(self.judges.judge, rates, none, none, none, none)
        return CellNumbers(
            "calibrated",
            found.estimate,
            found.estimate,
            sigma,
            found.lo,
            found.hi,
            price=price,
            judged=judged,
            labels=self.judges.number,
            calibration=calibration,
        )

    def _verdict_price(self, judged: Floats) -> tuple[Price | None, Floats]:
        """The price of the rate of verdicts "right", and its effective number of questions."""
        if self.target == "benchmark":
            (price,) = credit_prices(self._fitted, [_ONE_TRIAL])
            return price, effective_questions(price)
        sample = QuestionSample(self.states, self.clusters)
        every = np.ones(self.states.groups, np.bool_)
        values = self.states.counts[:, 1] / self.states.n
        independent = population_variance(self._fitted, CreditSum([(1.0, _ONE_TRIAL)]), every)
        sigma, size = sample.sigma(values, independent), sample.number
        freedom = np.maximum(size - 1, 1)
        student = -scipy.special.stdtrit(freedom, self._tail) / self._critical
        # Questions that are all alike count as one event each.
        spread = judged * (1 - judged) + 0.25 / size
        return None, spread / ((student * sigma) ** 2 + 0.25 / size**2)

    def _draw_numbers(self, name: str, gains: GainsOf) -> CellNumbers:
        """A metric of draws of several trials."""
        rates, z = self.judges.rates, self._critical
        price = self._draw_price(gains)
        (plain,) = credit_numbers(self._fitted, [gains], self.confidence, self.target)
        reaches = plain.estimate - plain.lo, plain.hi - plain.estimate
        found, sigma = price.rate(rates, z, reaches), np.sqrt(price.total_variance(rates))
        lacking = np.isnan(found.estimate)
        warn_of_hopeless(name, lacking, rates, z)
        slopes = price.sensitivity_slope, price.specificity_slope
        informative = rates.is_informative(z)
        known = np.where(informative, price.estimate, np.nan)
        calibration = JudgeCalibration(self.judges.judge, rates, known, price.variance, *slopes)
        return CellNumbers(
            "calibrated",
            found.estimate,
            found.estimate,
            np.where(lacking, np.nan, sigma),
            found.lo,
            found.hi,
            judged=plain.estimate,
            labels=self.judges.number,
            calibration=calibration,
        )

    def _draw_price(self, gains: GainsOf) -> JudgedPrice:
        """The price of a metric of draws, worked out for each judge."""
        tail = self._tail if self.target == "population" else None
        names = [field.name for field in fields(JudgedPrice)]
        numbers = {name: np.full(self.states.groups, np.nan) for name in names}
        for judge in np.unique(self.judges.judge).tolist():
            groups: Ints = np.flatnonzero(self.judges.judge == judge)
            one: JudgeRates = self.judges.rates.at(groups[:1])
            price = judged_price(self._fitted.of_groups(groups), gains, one, tail)
            for name in names:
                numbers[name][groups] = getattr(price, name)
        return JudgedPrice(**numbers)
