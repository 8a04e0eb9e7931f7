"""Metrics of the truth from the verdicts of a judge whose error rates a labelled sample shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, known_ratio
from polars_scorio.maths.credits import GainsOf, credit_of, mean_drawn_credit
from polars_scorio.maths.interval import Weighted, mean_noises, plus_two
from polars_scorio.maths.questions import States

# P-value from which on groups are taken to share a rate.
SAME = 0.05


class JudgeRates(NamedTuple):
    """Agreement of judges with the truth, by the labels of a calibration sample, (2, G) each.

    First of right answers, whose rate is the sensitivity, then of wrong ones, whose rate is the
    specificity.
    """

    kept: Floats  # answers that the judge called what they are
    labelled: Floats  # all answers of the sample

    @classmethod
    def from_counts(cls, counts: Floats) -> JudgeRates:
        """Judges by kept right, right, kept wrong and wrong answers, (4, G)."""
        return cls(counts[::2], counts[1::2])

    @property
    def counts(self) -> Floats:
        """All four counts, as in `from_counts`."""
        return np.stack([self.kept, self.labelled], axis=1).reshape(4, -1)

    @property
    def observed(self) -> Floats:
        """The observed sensitivity and specificity; NaN without such answers."""
        return known_ratio(self.kept, self.labelled, np.nan)

    @property
    def labels(self) -> Floats:
        """Labels of the sample."""
        return np.asarray(self.labelled.sum(axis=0))

    @property
    def adjusted(self) -> Floats:
        """Sensitivity and specificity with one agreement and one error added."""
        # Z. Lang, J. Reiczigel (2014), Preventive Veterinary Medicine 113, 13-22.
        return (self.kept + 1) / (self.labelled + 2)

    @property
    def variance(self) -> Floats:
        """Variances of the adjusted rates."""
        return self.adjusted * (1 - self.adjusted) / (self.labelled + 2)

    @property
    def adjusted_index(self) -> Floats:
        """Youden's index of the adjusted rates: 1 for a perfect judge, 0 for a coin."""
        return np.asarray(self.adjusted.sum(axis=0) - 1)

    def is_informative(self, z: Floats | float) -> Mask:
        """Whether the judge is better than a coin beyond doubt, at critical value z."""
        return np.asarray(self.adjusted_index > z * np.sqrt(self.variance.sum(axis=0)))

    def at(self, places: Ints) -> JudgeRates:
        """The judges at some places, in the given order."""
        return JudgeRates(self.kept[:, places], self.labelled[:, places])


def rates_of_labels(labels: Floats) -> JudgeRates:
    """Rates of judges from (G, 4) numbers of labels and of right ones, by verdict."""
    judged_right, confirmed, judged_wrong, overruled = labels.T
    kept, other = (confirmed, judged_wrong - overruled), (overruled, judged_right - confirmed)
    return JudgeRates(np.stack(kept), np.add(kept, other))


def stratified_rates(labels: Floats, judged: Floats) -> JudgeRates:
    """Rates of judges whose verdicts "right" and "wrong" were labelled at different rates."""
    # The rate r = `judged` of verdicts "right" weighs the shares m1, m0 of right answers behind
    # each verdict: the sensitivity is ``r m1 / (r m1 + (1 - r) m0)``. `labels` as in
    # `rates_of_labels`.
    mirrored = np.column_stack([labels[:, 2], labels[:, 2] - labels[:, 3],
                                labels[:, 0], labels[:, 0] - labels[:, 1]])  # fmt: skip
    counts = _stratified_counts(labels, judged), _stratified_counts(mirrored, 1 - judged)
    return JudgeRates(*np.stack(counts, axis=1))


def _stratified_counts(labels: Floats, judged: Floats) -> tuple[Floats, Floats]:
    """Agreements and answers of one kind, as a binomial sample with the same rate and variance."""
    here, hits, there, rest = labels.T
    every = (hits + rest) / np.maximum(here + there, 1)
    m1 = np.where(here > 0, hits / np.maximum(here, 1), every)
    m0 = np.where(there > 0, rest / np.maximum(there, 1), every)
    total = judged * m1 + (1 - judged) * m0
    rate = known_ratio(judged * m1, total)
    # Half a label of each kind is added: shares of 0 and 1 have a variance too.
    p1, p0 = (hits + 0.5) / (here + 1), (rest + 0.5) / (there + 1)
    smooth = judged * p1 + (1 - judged) * p0
    slope = judged * (1 - judged) / smooth**2
    variance = p0**2 * p1 * (1 - p1) / np.maximum(here, 1)
    variance = slope**2 * (variance + p1**2 * p0 * (1 - p0) / np.maximum(there, 1))
    spread = judged * p1 * (1 - judged) * p0 / smooth**2
    number = known_ratio(spread, variance)
    return rate * number, number


def shared_judge(rates: JudgeRates) -> bool:
    """Whether the labels allow that one judge, with the same errors, judged all models."""
    # Chi-square tests of homogeneous sensitivities and specificities both have p above .05.
    return all(homogeneity_p(*each) > SAME for each in zip(*rates, strict=True))


def homogeneity_p(successes: Floats, trials: Floats) -> float:
    """P-value of Pearson's chi-square test that all groups share one rate; 1 if none can differ."""
    asked = trials > 0
    successes, trials = successes[asked], trials[asked]
    total = trials.sum()
    pooled = successes.sum() / total if total else 0.0
    if asked.sum() < 2 or not 0 < pooled < 1:  # two groups can differ
        return 1.0
    square = ((successes - trials * pooled) ** 2 / (trials * pooled * (1 - pooled))).sum()
    return float(scipy.special.chdtrc(asked.sum() - 1, square))


def corrected_credit(credit: Floats, sensitivity: float, specificity: float) -> Floats:
    """Credit (k + 1,) of the verdicts of a draw, whose mean is the mean credit of the truth."""
    # A verdict "right" weighs ``sp/J`` as a right and ``(se - 1)/J`` as a wrong answer, "wrong"
    # ``(sp - 1)/J`` and ``se/J``, ``J = se + sp - 1 > 0``: with independent errors these have mean
    # 1 or 0.
    k, index = credit.size - 1, sensitivity + specificity - 1
    judged_right = np.array([sensitivity - 1, specificity]) / index  # of wrong, of right answers
    judged_wrong = np.array([sensitivity, specificity - 1]) / index
    chances = _powers_by_successes(judged_right, judged_wrong, k)
    return np.asarray(chances @ credit)


def _powers_by_successes(first: Floats, second: Floats, k: int) -> Floats:
    """Coefficients of ``first(x)^j second(x)^(k - j)``, j = 0..k, of two linear polynomials."""
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
    """A rate of the truth with its interval, (G,); NaN if the judge is uninformative."""

    estimate: Floats
    lo: Floats
    hi: Floats


def judged_accuracy(
    judged: Floats, questions: Floats, rates: JudgeRates, z: Floats | float
) -> JudgedRate:
    """Accuracy from the rate of verdicts "right" by effective `questions`; NaN if uninformative."""
    # W. Rogan, B. Gladen (1978), American Journal of Epidemiology 107, 71-76, with all accuracies
    # that verdicts and calibration together do not reject (Lang and Reiczigel).
    false_right, index, (v1, v0) = 1 - rates.adjusted[1], rates.adjusted_index, rates.variance
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
        raw = (judged + rates.observed[1] - 1) / (rates.observed.sum(axis=0) - 1)
    known &= (hi >= 0) & (lo <= 1)
    estimate = np.where(known, np.clip(raw, 0.0, 1.0), np.nan)
    lo, hi = (np.where(known, np.clip(end, 0.0, 1.0), np.nan) for end in (lo, hi))
    return JudgedRate(estimate, np.fmin(lo, estimate), np.fmax(hi, estimate))


def judged_difference(
    diff: Floats, reaches: tuple[Floats, Floats], rates: JudgeRates, z: Floats | float
) -> JudgedRate:
    """Difference of two accuracies whose verdicts one judge gave; NaN if uninformative."""
    # Zero is inside exactly if it is inside the interval of the verdicts, with these reaches down
    # and up: the bias of wrong answers cancels. ``(diff - d J)^2 <= reach^2 + z^2 d^2 (v1 + v0)``.
    down, up = reaches
    known = rates.is_informative(z)
    index = np.where(known, rates.adjusted_index, np.nan)
    slack = np.square(z) * rates.variance.sum(axis=0)
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


_STEP = 1e-4  # change of a rate, for slopes by central differences
_MOST_WEIGHT = 1e6  # largest weight of a draw of verdicts: beyond, noise exceeds every range


@dataclass(frozen=True, slots=True, eq=False)
class JudgedNoise:
    """A metric of the truth in each group, by verdicts of one judge, arrays of shape (G,)."""

    estimate: Floats  # unbiased at the adjusted rates; NaN if k > trials or too many errors
    variance: Floats  # noise at these rates
    slopes: Floats  # derivatives of the estimate by sensitivity and specificity, (2, G)

    def total_variance(self, rates: JudgeRates) -> Floats:
        """Variance including that of both rates of the judge."""
        return np.asarray(self.variance + (self.slopes**2 * rates.variance).sum(axis=0))

    def rate(
        self, rates: JudgeRates, z: float, least: tuple[Floats | float, Floats | float] = (0.0, 0.0)
    ) -> JudgedRate:
        """The metric with its interval inside [0, 1]; NaN if that would be all of [0, 1]."""
        # The estimate is clipped too. The interval reaches at least as far as `least`, that of the
        # raw verdicts: near a bound they show no noise, and no correction makes them better known.
        far = z * np.sqrt(self.total_variance(rates))
        down, up = (np.maximum(far, reach) for reach in least)
        lo, hi = np.clip(self.estimate - down, 0, 1), np.clip(self.estimate + up, 0, 1)
        known = rates.is_informative(z) & ((lo > 0) | (hi < 1)) & ~np.isnan(self.estimate)
        numbers = (np.clip(self.estimate, 0, 1), lo, hi)
        return JudgedRate(*(np.where(known, number, np.nan) for number in numbers))


def judged_variance(
    states: States, gains: GainsOf, rates: JudgeRates, tail: float | None = None
) -> JudgedNoise:
    """Variance estimate of a metric of draws from the verdicts of one judge, rates (1,)."""
    # By `corrected_credit`. `tail` is for a population, with Student's quantile between questions.
    se, sp = rates.adjusted[:, 0].tolist()
    unknown = np.full((2, states.groups), np.nan)
    most = max(gains(n).size for n in np.unique(states.n).tolist())
    weight = max(se, sp, 1 - se, 1 - sp) / max(se + sp - 1, np.finfo(float).tiny)
    if se + sp <= 1 or most * np.log(weight) > np.log(_MOST_WEIGHT):
        return JudgedNoise(unknown[0], unknown[1], unknown)

    def estimate(sensitivity: float, specificity: float) -> Floats:
        return states.mean(_state_credits(states, gains, sensitivity, specificity))

    # At the end of the range the step goes inwards alone.
    up_se, up_sp = min(se + _STEP, 1.0), min(sp + _STEP, 1.0)
    slopes = (
        (estimate(up_se, sp) - estimate(se - _STEP, sp)) / (up_se - se + _STEP),
        (estimate(se, up_sp) - estimate(se, sp - _STEP)) / (up_sp - sp + _STEP),
    )
    noise = _verdict_noise(states, gains, se, sp, tail)
    return JudgedNoise(estimate(se, sp), noise, np.stack(slopes))


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
    states: States, gains: GainsOf, sensitivity: float, specificity: float, tail: float | None
) -> Floats:
    """Variance of the estimate at fixed rates of the judge, widened by its uncertainty."""

    @cache
    def corrected_gains(n: int) -> Floats:
        # A constant that is added to the credit changes no variance.
        return np.diff(corrected_credit(credit_of(gains(n)), sensitivity, specificity))

    if tail is None:
        noise = mean_noises(Weighted(states).questions, [corrected_gains])
        return np.ravel(noise.variance * noise.factor)
    values = _state_credits(states, gains, sensitivity, specificity)
    mean = states.mean(values)
    spread = states.mean(values**2) - mean**2
    student = plus_two(mean, np.maximum(spread, 0.0), states.size.astype(np.float64))
    wider = scipy.special.stdtrit(student.freedom, tail) / scipy.special.ndtri(tail)
    return np.where(states.size > 1, (student.error * wider) ** 2, np.nan)
