"""Rates of a judge, the truth behind its verdicts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.price import capped_price
from polars_scorio.maths.questions import States
from polars_scorio.maths.sample_bound import QuestionSample, population_variance
from polars_scorio.maths.variance import (
    CreditSum,
    GainsOf,
    credit_of,
    mean_drawn_credit,
    moments_of_groups,
)

# P-value from which on groups are taken to share a rate.
SAME = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class JudgeRates:
    """How often some judges agree with the truth, by the labels of a calibration sample.

    The sensitivity is the chance that a right answer is judged right, the specificity the chance
    that a wrong answer is judged wrong.

    Attributes
    ----------
    kept_right, right : ndarray of float, shape (G,)
        Right answers that the judge called right, and all right answers of the sample.
    kept_wrong, wrong : ndarray of float, shape (G,)
        Wrong answers that the judge called wrong, and all wrong answers of the sample.
    """

    kept_right: Floats
    right: Floats
    kept_wrong: Floats
    wrong: Floats

    @property
    def sensitivity(self) -> Floats:
        """The observed sensitivity; NaN without right answers."""
        return _observed_rate(self.kept_right, self.right)

    @property
    def specificity(self) -> Floats:
        """The observed specificity; NaN without wrong answers."""
        return _observed_rate(self.kept_wrong, self.wrong)

    @property
    def counts(self) -> Floats:
        """All four counts, shape (4, G)."""
        return np.stack([self.kept_right, self.right, self.kept_wrong, self.wrong])

    @property
    def labels(self) -> Floats:
        """Labels of the sample."""
        return self.right + self.wrong

    @property
    def adjusted_sensitivity(self) -> Floats:
        """The sensitivity with one agreement and one error added [1]_.

        References
        ----------
        .. [1] Z. Lang, J. Reiczigel (2014), Confidence limits for prevalence of disease adjusted
           for estimated sensitivity and specificity, Preventive Veterinary Medicine 113, 13-22.
        """
        return (self.kept_right + 1) / (self.right + 2)

    @property
    def adjusted_specificity(self) -> Floats:
        """The specificity with one agreement and one error added."""
        return (self.kept_wrong + 1) / (self.wrong + 2)

    @property
    def sensitivity_variance(self) -> Floats:
        """Variance of the adjusted sensitivity."""
        return self.adjusted_sensitivity * (1 - self.adjusted_sensitivity) / (self.right + 2)

    @property
    def specificity_variance(self) -> Floats:
        """Variance of the adjusted specificity."""
        return self.adjusted_specificity * (1 - self.adjusted_specificity) / (self.wrong + 2)

    @property
    def adjusted_index(self) -> Floats:
        """Youden's index of the adjusted rates: 1 for a perfect judge, 0 for a coin."""
        return self.adjusted_sensitivity + self.adjusted_specificity - 1

    def is_informative(self, z: Floats | float) -> Mask:
        """Whether the judge is surely better than a coin, at a critical value.

        Verdicts of other judges say nothing about the truth.

        Examples
        --------
        88 of 100 and 78 of 100; 5 of 8 and 5 of 8.

        >>> eight, hundred = np.array([8.0]), np.array([100.0])
        >>> JudgeRates(hundred - 12, hundred, hundred - 22, hundred).is_informative(1.96)
        array([ True])
        >>> JudgeRates(eight - 3, eight, eight - 3, eight).is_informative(1.96)
        array([False])
        """
        noise = np.sqrt(self.sensitivity_variance + self.specificity_variance)
        return np.asarray(self.adjusted_index > z * noise)

    def at(self, rows: Ints) -> JudgeRates:
        """The judges at some places, in the given order."""
        return JudgeRates(*(getattr(self, field.name)[rows] for field in fields(self)))


def rates_of_labels(labels: Floats) -> JudgeRates:
    """Rates of judges whose verdicts were labelled.

    Parameters
    ----------
    labels : ndarray of float, shape (G, 4)
        Labelled verdicts "right", those of them that are right, labelled verdicts "wrong", and
        those of them that are right.

    Examples
    --------
    Of 10 verdicts "right" 9 are right; of 8 verdicts "wrong" 3 are right.

    >>> rates = rates_of_labels(np.array([[10.0, 9.0, 8.0, 3.0]]))
    >>> rates.sensitivity, rates.specificity.round(3)
    (array([0.75]), array([0.833]))
    """
    judged_right, confirmed, judged_wrong, overruled = labels.T
    wrong_right, kept_wrong = judged_right - confirmed, judged_wrong - overruled
    return JudgeRates(confirmed, confirmed + overruled, kept_wrong, kept_wrong + wrong_right)


def stratified_rates(labels: Floats, judged: Floats) -> JudgeRates:
    """Rates of judges whose verdicts were labelled more often if they were "right", or "wrong".

    Among such labels the shares of right and wrong answers are not those of the log. Each verdict
    has its share of right answers, m1 and m0, which the rate r of verdicts "right" weighs: the
    sensitivity is ``r m1 / (r m1 + (1 - r) m0)``. The numbers of answers are those of which a
    binomial sample has the same variance.

    Parameters
    ----------
    labels : ndarray of float, shape (G, 4)
        As for `rates_of_labels`.
    judged : ndarray of float, shape (G,)
        Rate of verdicts "right" among all trials.

    Examples
    --------
    All verdicts are "right" or "wrong" equally often in the log, but 100 "right" and 10 "wrong" are
    labelled. By verdict 80 % and 20 % are right.

    >>> rates = stratified_rates(np.array([[100.0, 80, 10, 2]]), np.array([0.5]))
    >>> rates.sensitivity, rates.specificity
    (array([0.8]), array([0.8]))
    """
    mirrored = np.column_stack([labels[:, 2], labels[:, 2] - labels[:, 3],
                                labels[:, 0], labels[:, 0] - labels[:, 1]])  # fmt: skip
    kept_right, right = _stratified_counts(labels, judged)
    kept_wrong, wrong = _stratified_counts(mirrored, 1 - judged)
    return JudgeRates(kept_right, right, kept_wrong, wrong)


def _stratified_counts(labels: Floats, judged: Floats) -> tuple[Floats, Floats]:
    """Agreements and answers of one kind, as a binomial sample with the same rate and variance."""
    here, hits, there, others = labels.T
    every = (hits + others) / np.maximum(here + there, 1)
    m1 = np.where(here > 0, hits / np.maximum(here, 1), every)
    m0 = np.where(there > 0, others / np.maximum(there, 1), every)
    total = judged * m1 + (1 - judged) * m0
    rate = np.divide(judged * m1, total, out=np.zeros_like(total), where=total > 0)
    # Half a label of each kind is added: shares of 0 and 1 have a variance too.
    p1, p0 = (hits + 0.5) / (here + 1), (others + 0.5) / (there + 1)
    smooth = judged * p1 + (1 - judged) * p0
    slope = judged * (1 - judged) / smooth**2
    variance = p0**2 * p1 * (1 - p1) / np.maximum(here, 1)
    variance = slope**2 * (variance + p1**2 * p0 * (1 - p0) / np.maximum(there, 1))
    spread = judged * p1 * (1 - judged) * p0 / smooth**2
    number = np.divide(spread, variance, out=np.zeros_like(spread), where=variance > 0)
    return rate * number, number


def shared_judge(rates: JudgeRates) -> bool:
    """Whether the labels allow that one judge, with the same errors, judged all models.

    Two chi-square tests of homogeneity, of the sensitivities and of the specificities: both
    p-values exceed .05.

    Examples
    --------
    >>> hundred = np.array([100.0, 100.0])
    >>> shared_judge(JudgeRates(np.array([88.0, 84.0]), hundred, hundred - 20, hundred))
    True
    >>> shared_judge(JudgeRates(np.array([95.0, 70.0]), hundred, hundred - 20, hundred))
    False
    """
    return all(
        homogeneity_p(kept, total) > SAME
        for kept, total in ((rates.kept_right, rates.right), (rates.kept_wrong, rates.wrong))
    )


def homogeneity_p(successes: Floats, trials: Floats) -> float:
    """P-value of Pearson's chi-square test that all groups share one rate; 1 if none can differ.

    Parameters
    ----------
    successes, trials : ndarray of float, shape (G,)
        Groups without trials have no say.

    Examples
    --------
    >>> round(homogeneity_p(np.array([9.0, 5.0]), np.array([10.0, 10.0])), 4)  # chi-square 3.81
    0.051
    """
    asked = trials > 0
    successes, trials = successes[asked], trials[asked]
    total = trials.sum()
    pooled = successes.sum() / total if total else 0.0
    if asked.sum() < 2 or not 0 < pooled < 1:  # two groups can differ
        return 1.0
    square = ((successes - trials * pooled) ** 2 / (trials * pooled * (1 - pooled))).sum()
    return float(scipy.special.chdtrc(asked.sum() - 1, square))


def _observed_rate(successes: Floats, trials: Floats) -> Floats:
    """Share of successes; NaN without trials."""
    missing = np.full_like(trials, np.nan)
    return np.divide(successes, trials, out=missing, where=trials > 0)


def corrected_credit(credit: Floats, sensitivity: float, specificity: float) -> Floats:
    """Credit of the verdicts of a draw, whose mean is that of the truth.

    A verdict "right" stands for a right answer with the weight ``sp/J`` and for a wrong one with
    ``(se - 1)/J``; a verdict "wrong" with ``(sp - 1)/J`` and ``se/J``, where ``J = se + sp - 1``.
    Under errors of that size, independent from trial to trial, the weights have the mean 1 for what
    the answer is and 0 for what it is not, whatever the success rate of the question.

    Parameters
    ----------
    credit : ndarray of float, shape (k + 1,)
        ``credit[i]`` scores a draw with exactly i right answers.
    sensitivity, specificity : float
        Rates of the judge, whose sum is above 1.

    Returns
    -------
    ndarray of float, shape (k + 1,)
        ``h[j]`` scores a draw with j verdicts "right"; it may lie far outside [0, 1]. For Pass@k it
        is ``1 - ((se - 1)/J)^j (se/J)^(k - j)``.

    Examples
    --------
    A perfect judge needs no correction; else verdicts "right" are worth more, "wrong" less.

    >>> passed = np.array([0.0, 1.0, 1.0])
    >>> corrected_credit(passed, 1.0, 1.0)
    array([0., 1., 1.])
    >>> corrected_credit(passed, 0.9, 0.8).round(4)
    array([-0.6531,  1.1837,  0.9796])
    """
    k, index = credit.size - 1, sensitivity + specificity - 1
    judged_right = np.array([sensitivity - 1, specificity]) / index  # of wrong, of right answers
    judged_wrong = np.array([sensitivity, specificity - 1]) / index
    chances = _powers_by_successes(judged_right, judged_wrong, k)
    return np.asarray(chances @ credit)


def _powers_by_successes(first: Floats, second: Floats, k: int) -> Floats:
    """Coefficients of ``first(x)^j second(x)^(k - j)`` for j = 0..k, shape (k + 1, k + 1).

    Both are polynomials of degree 1, lowest power first.
    """
    table = np.ones((1, 1))
    for size in range(1, k + 1):
        wider = np.zeros((size + 1, size + 1))
        # From j successes in size - 1 verdicts: one more "wrong", then from the last one "right".
        wider[:-1, :-1] += second[0] * table
        wider[:-1, 1:] += second[1] * table
        wider[-1, :-1] += first[0] * table[-1]
        wider[-1, 1:] += first[1] * table[-1]
        table = wider
    return table


class JudgedRate(NamedTuple):
    """A rate of the truth with its interval, each of shape (G,); NaN if the judge tells nothing."""

    estimate: Floats
    lo: Floats
    hi: Floats


def judged_accuracy(
    judged: Floats, questions: Floats, rates: JudgeRates, z: Floats | float
) -> JudgedRate:
    """Accuracy from the rate of verdicts "right" [1]_, with ends after Fieller [2]_.

    Parameters
    ----------
    judged : ndarray of float, shape (G,)
        Rate of verdicts "right", r.
    questions : ndarray of float, shape (G,)
        Effective number of questions: the variance of r is ``r (1 - r) / questions``.
    rates : JudgeRates
        The judge of each group.
    z : float or ndarray of float, shape (G,)
        Critical value.

    Returns
    -------
    JudgedRate
        The estimate is ``(r + sp - 1) / (se + sp - 1)``, clipped to [0, 1]. The interval has all
        accuracies that the verdicts and the calibration sample do not reject together. All is NaN
        if the judge may be no better than a coin, or if no accuracy is accepted: then the verdicts
        contradict the calibration sample.

    References
    ----------
    .. [1] W. Rogan, B. Gladen (1978), Estimating prevalence from the results of a screening test,
       American Journal of Epidemiology 107, 71-76.
    .. [2] Z. Lang, J. Reiczigel (2014), Preventive Veterinary Medicine 113, 13-22.

    Examples
    --------
    62 % are judged right, by a judge who keeps 88 of 100 right and 78 of 100 wrong answers.

    >>> rates = JudgeRates(*(np.array([x]) for x in (88.0, 100.0, 78.0, 100.0)))
    >>> for number in judged_accuracy(np.array([0.62]), np.array([140.0]), rates, 1.96):
    ...     print(number.round(3))
    [0.606]
    [0.458]
    [0.751]
    """
    false_right, index = 1 - rates.adjusted_specificity, rates.adjusted_index
    v1, v0 = rates.sensitivity_variance, rates.specificity_variance
    away, square = judged - false_right, np.square(z)
    # (away - t J)^2 <= z^2 [(f + t J)(1 - f - t J)/N + t^2 v1 + (1 - t)^2 v0], by powers of t.
    second = index**2 * (1 + square / questions) - square * (v1 + v0)
    first = -2 * away * index
    first -= square * (index * (1 - 2 * false_right) / questions - 2 * v0)
    none = away**2 - square * (false_right * (1 - false_right) / questions + v0)
    root = first**2 - 4 * second * none
    # At |t| -> infinity the left side must win, else the interval has no end.
    known = rates.is_informative(z) & (second > 0) & (root >= 0)
    width = np.sqrt(np.where(known, root, np.nan))
    with np.errstate(divide="ignore", invalid="ignore"):  # a judge like a coin
        lo, hi = (-first - width) / (2 * second), (-first + width) / (2 * second)
        raw = (judged + rates.specificity - 1) / (rates.sensitivity + rates.specificity - 1)
    known &= (hi >= 0) & (lo <= 1)
    estimate = np.where(known, np.clip(raw, 0.0, 1.0), np.nan)
    lo, hi = (np.where(known, np.clip(end, 0.0, 1.0), np.nan) for end in (lo, hi))
    return JudgedRate(estimate, np.fmin(lo, estimate), np.fmax(hi, estimate))


def judged_difference(
    diff: Floats, reaches: tuple[Floats, Floats], rates: JudgeRates, z: Floats | float
) -> JudgedRate:
    """Difference of two accuracies whose verdicts one judge gave.

    What wrong answers gain from the judge cancels, so the order of two models needs no calibration:
    zero is inside the interval exactly if it is inside that of the verdicts.

    Parameters
    ----------
    diff : ndarray of float, shape (P,)
        Difference of the rates of verdicts "right".
    reaches : tuple of ndarray of float, shape (P,)
        How far the interval of that difference reaches down and up, at `z`.
    rates : JudgeRates
        The judge of each pair.
    z : float or ndarray of float, shape (P,)
        Critical value.

    Returns
    -------
    JudgedRate
        The estimate is the difference over the adjusted index J; accepted are the d with
        ``(diff - d J)^2 <= reach^2 + z^2 d^2 (v1 + v0)``. NaN if the judge may be no better than a
        coin.

    Examples
    --------
    >>> rates = JudgeRates(*(np.array([x]) for x in (88.0, 100.0, 78.0, 100.0)))
    >>> reach = np.array([0.0588])
    >>> for number in judged_difference(np.array([0.07]), (reach, reach), rates, 1.96):
    ...     print(number.round(4))
    [0.1082]
    [0.0173]
    [0.2048]
    """
    down, up = reaches
    known = rates.is_informative(z)
    index = np.where(known, rates.adjusted_index, np.nan)
    slack = np.square(z) * (rates.sensitivity_variance + rates.specificity_variance)
    lo = _accepted_end(diff, down, index, slack)
    hi = -_accepted_end(-diff, up, index, slack)
    return JudgedRate(diff / index, lo, hi)


def _accepted_end(diff: Floats, reach: Floats, index: Floats, slack: Floats) -> Floats:
    """Lower root of ``(index**2 - slack) d^2 - 2 diff index d + diff^2 - reach^2 <= 0``."""
    second = index**2 - slack
    centre = diff * index
    root = np.sqrt(np.maximum(centre**2 - second * (diff**2 - reach**2), 0.0))
    # A difference is the product of both roots over the larger one if it is near zero: no
    # cancellation moves an end across zero.
    product = (diff - reach) * (diff + reach)
    stable = np.where(centre > 0, product / np.where(centre > 0, centre + root, 1.0), 0.0)
    return np.where(centre > 0, stable, (centre - root) / second)


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

    >>> from polars_scorio.maths.variance import fixed_gains
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
