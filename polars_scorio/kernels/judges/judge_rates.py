"""Sensitivity and specificity of a judge, with what a finite number of labels leaves open."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask

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
