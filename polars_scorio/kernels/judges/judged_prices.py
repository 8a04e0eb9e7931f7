"""Metrics of draws behind the verdicts of one judge: estimate, noise, and slopes by its rates."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.credit_sums import (
    CreditSum,
    GainsOf,
    credit_of,
    mean_drawn_credit,
)
from polars_scorio.kernels.calibrated.fit_moments import moments_of_groups
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.population_mean import QuestionSample, population_variance
from polars_scorio.kernels.calibrated.price_cap import capped_price
from polars_scorio.kernels.judges.judge_rates import JudgeRates
from polars_scorio.kernels.judges.judged_accuracy import JudgedRate
from polars_scorio.kernels.judges.judged_credit import corrected_credit
from polars_scorio.kernels.states import States

_STEP = 1e-4  # of a rate, for slopes by central differences
_MOST_WEIGHT = 1e6  # of a draw of verdicts: beyond, noise exceeds every range


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPrice:
    """A metric of the truth in each group, by verdicts of one judge, arrays of shape (G,).

    Attributes
    ----------
    estimate : ndarray of float
        Unbiased for the truth at the adjusted rates; NaN if k exceeds the trials of a question, or
        if the judge errs too often for the k.
    variance : ndarray of float
        Its noise at these rates.
    sensitivity_slope, specificity_slope : ndarray of float
        By how much the estimate changes with either rate.
    """

    estimate: Floats
    variance: Floats
    sensitivity_slope: Floats
    specificity_slope: Floats

    def total_variance(self, rates: JudgeRates) -> Floats:
        """Variance with that of both rates."""
        return np.asarray(
            self.variance
            + self.sensitivity_slope**2 * rates.sensitivity_variance
            + self.specificity_slope**2 * rates.specificity_variance
        )

    def rate(
        self, rates: JudgeRates, z: float, least: tuple[Floats | float, Floats | float] = (0.0, 0.0)
    ) -> JudgedRate:
        """The metric with its interval inside [0, 1]; NaN if that would be all of [0, 1].

        The estimate is clipped too: the unbiased one may lie outside. The interval reaches at least
        as far as `least`, that of the verdicts as they are: near a bound they show no noise, and no
        correction makes them better known.
        """
        far = z * np.sqrt(self.total_variance(rates))
        down, up = (np.maximum(far, reach) for reach in least)
        lo, hi = np.clip(self.estimate - down, 0, 1), np.clip(self.estimate + up, 0, 1)
        known = rates.is_informative(z) & ((lo > 0) | (hi < 1)) & ~np.isnan(self.estimate)
        numbers = (np.clip(self.estimate, 0, 1), lo, hi)
        return JudgedRate(*(np.where(known, number, np.nan) for number in numbers))


def judged_price(
    fitted: Calibrated,
    gains: GainsOf,
    rates: JudgeRates,
    tail: float | None = None,
) -> JudgedPrice:
    """The price of a metric of draws from the verdicts of one judge.

    The credit of the verdicts is corrected for the errors of the judge (`corrected_credit`). It is
    then a metric of the verdicts like any other, whose noise two fits of the verdicts estimate.

    Parameters
    ----------
    fitted : Calibrated
        The groups by their verdicts, with their fits.
    gains : callable
        The gains of a draw, by n.
    rates : JudgeRates
        One judge, arrays of shape (1,).
    tail : float, optional
        About a population: the chance beyond either end, for Student's quantile, by which the
        spread between the questions counts more. Default: these very questions.

    Examples
    --------
    A perfect judge leaves the metric as it is.

    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed_gains
    >>> counts, one = np.array([[1, 1], [0, 2]]), np.array([1, 1])
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, 0 * one, one, 1))
    >>> many = np.array([1e9])
    >>> price = judged_price(fitted, fixed_gains(np.array([1.0, 0.0])), JudgeRates(*[many] * 4))
    >>> price.estimate.round(6)
    array([1.])
    """
    se, sp = rates.adjusted_sensitivity.item(), rates.adjusted_specificity.item()
    states = fitted.states
    unknown = np.full(states.groups, np.nan)
    most = max(gains(n).size for n in np.unique(states.n).tolist())
    weight = max(se, sp, 1 - se, 1 - sp) / max(se + sp - 1, np.finfo(float).tiny)
    if se + sp <= 1 or most * np.log(weight) > np.log(_MOST_WEIGHT):
        return JudgedPrice(*[unknown] * len(fields(JudgedPrice)))

    def estimate(sensitivity: float, specificity: float) -> Floats:
        return states.mean(_state_credits(states, gains, sensitivity, specificity))

    # At the end of the range the step goes inwards alone.
    up_se, up_sp = min(se + _STEP, 1.0), min(sp + _STEP, 1.0)
    slopes = (
        (estimate(up_se, sp) - estimate(se - _STEP, sp)) / (up_se - se + _STEP),
        (estimate(se, up_sp) - estimate(se, sp - _STEP)) / (up_sp - sp + _STEP),
    )
    return JudgedPrice(estimate(se, sp), _verdict_noise(fitted, gains, se, sp, tail), *slopes)


def _state_credits(
    states: States, gains: GainsOf, sensitivity: float, specificity: float
) -> Floats:
    """Corrected credit of a question in each state; NaN where k exceeds its trials."""
    n, c = states.n, states.counts[:, 1]
    values = np.full(n.size, np.nan)
    for size in np.unique(n).tolist():
        credit = credit_of(gains(size))
        if credit.size <= size + 1:
            rows = n == size
            corrected = corrected_credit(credit, sensitivity, specificity)
            values[rows] = mean_drawn_credit(size, c[rows], corrected)
    return values


def _verdict_noise(
    fitted: Calibrated, gains: GainsOf, sensitivity: float, specificity: float, tail: float | None
) -> Floats:
    """Variance of the estimate at fixed rates of the judge, with what is uncertain of it."""
    states = fitted.states

    @cache
    def corrected_gains(n: int) -> Floats:
        # A constant that is added to the credit changes no variance.
        return np.diff(corrected_credit(credit_of(gains(n)), sensitivity, specificity))

    metric = CreditSum([(1.0, corrected_gains)])
    values = _state_credits(states, gains, sensitivity, specificity)
    known = ~np.isnan(states.mean(values))
    variance = np.full(states.groups, np.nan)
    if tail is not None:
        sample = QuestionSample(states)
        sigma = sample.sigma(values, population_variance(fitted, metric, known))
        return np.asarray((sigma * _student_ratio(sample.number, tail)) ** 2)
    places = np.flatnonzero(known).tolist()
    groups = [fitted.groups[place] for place in places]
    weights = [fitted.weights[place] for place in places]
    moments = moments_of_groups(groups, [metric], weights)
    for place, group, own, each in zip(places, groups, weights, moments, strict=True):
        price = capped_price(group, [metric], each, own)
        variance[place] = (price.variance * price.factor).item()
    return variance


def _student_ratio(number: Ints, tail: float) -> Floats:
    """Student's quantile over the normal one, for so many independent units."""
    freedom = np.maximum(number - 1, 1)
    return np.asarray(scipy.special.stdtrit(freedom, tail) / scipy.special.ndtri(tail))
