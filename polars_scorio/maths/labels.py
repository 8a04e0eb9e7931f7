"""Accuracy by labels on the log's trials, and agreement of a judge with people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, known_ratio
from polars_scorio.maths.judges import JudgeRates
from polars_scorio.maths.populations import rate_ends, unit_interval
from polars_scorio.maths.posteriors import Target

LEAST_OF_VERDICT = 5  # without which the trials of a verdict are unknown, unless all are labelled


def hardly_labelled(trials: Floats, labels: Floats) -> Mask:
    """Whether so few trials of a verdict are labelled that nothing is known of the others.

    >>> hardly_labelled(np.array([180.0, 180, 3]), np.array([4.0, 5, 3])).tolist()
    [True, False, False]
    """
    return np.asarray((labels < trials) & (labels < LEAST_OF_VERDICT))


class LabelledRate(NamedTuple):
    """The accuracy of each group with its interval, and its standard deviation, (G,); or NaN."""

    estimate: Floats
    lo: Floats
    hi: Floats
    sigma: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LabelledQuestions:
    """The M questions of G groups, with their verdicts and labels."""

    group: Ints  # 0..G-1, each with a question, shape (M,)
    groups: int
    trials: Floats  # with a verdict, (M,)
    verdicts: Floats  # verdicts "right", (M,)
    labels: Floats  # (M, 4), as in `judges.rates_of_labels`
    cluster: Ints | None = None  # default: each question stands alone

    def unit_sums(self, values: Floats) -> tuple[Floats, Ints]:
        """Sums over the questions of each cluster, and the group of each; or of each question."""
        if self.cluster is None:
            return values, self.group
        first, place = distinct_rows([self.group, self.cluster])
        return np.asarray(np.bincount(place, values), dtype=np.float64), self.group[first]

    def squares(self, values: Floats) -> Floats:
        """Sums over the clusters (or questions) of each group of the squares of their sums."""
        parts, owner = self.unit_sums(values)
        return np.asarray(np.bincount(owner, parts**2, self.groups), dtype=np.float64)

    def units(self, chosen: Mask) -> Floats:
        """Clusters (or questions) of each group with a chosen question."""
        parts, owner = self.unit_sums(chosen.astype(np.float64))
        return np.asarray(np.bincount(owner, parts > 0, self.groups), dtype=np.float64)

    def sums(self, values: Floats) -> Floats:
        """Sums over the questions of each group, shape (G,)."""
        return np.asarray(np.bincount(self.group, values, self.groups), dtype=np.float64)

    def verdict_sums(self) -> tuple[Floats, Floats]:
        """Trials and labels of the verdicts "right" and "wrong" of each group, shape (2, G)."""
        right = self.sums(self.verdicts)
        trials = np.stack([right, self.sums(self.trials) - right])
        return trials, np.stack([self.sums(self.labels[:, column]) for column in (0, 2)])

    def verdict_variance(self) -> Floats:
        """Variance of the accuracy of each group if all its trials were labelled."""
        return _PostStratified.from_log(self).verdict_variance()

    def accuracy(self, confidence: float, target: Target) -> LabelledRate:
        """Accuracy of each group, post-stratified by verdict and clustered by question; or NaN."""
        # A. Tenenbein (1970), JASA 65, 1350-1361: unbiased for every judge, if the choice of
        # labelled trials depends on the verdict at most, or whole questions were chosen at random.
        parts = _PostStratified.from_log(
            self if target == "population" else replace(self, cluster=None)
        )
        variance = parts.variance(target)
        z = -scipy.special.ndtri((1 - confidence) / 2)
        units = parts.labelled_units
        enough = (units > 1) & ~hardly_labelled(*self.verdict_sums()).any(axis=0)
        freedom = np.where(enough, units - 1, 1.0)
        student = -scipy.special.stdtrit(freedom, (1 - confidence) / 2)
        spread = parts.smoothed * (1 - parts.smoothed)
        effective = np.maximum(spread / (variance * (student / z) ** 2), 1.0)
        estimate, sigma, effective = (
            np.where(enough, number, np.nan)
            for number in (parts.estimate, np.sqrt(variance), effective)
        )
        lo, hi = unit_interval(estimate, 1 - estimate, effective, (1 - confidence) / 2)
        return LabelledRate(estimate, lo, hi, sigma)


@dataclass(frozen=True, slots=True, eq=False)
class _PostStratified:
    """Parts of the post-stratified estimate, arrays of shape (G,) unless said."""

    log: LabelledQuestions
    labels: Floats  # sums of labels, (4, G)
    weighted: Floats  # the same, with questions weighted equally, (4, G)
    judged: Floats  # rate r of verdicts "right"
    confirmed: Floats  # m1: share of right answers behind a verdict "right"
    overruled: Floats  # m0: and behind a verdict "wrong"

    @classmethod
    def from_log(cls, log: LabelledQuestions) -> _PostStratified:
        """Sum the questions of each group."""
        labels = np.stack([log.sums(column) for column in log.labels.T])
        weighted = np.stack([log.sums(column / log.trials) for column in log.labels.T])
        judged = log.sums(log.verdicts / log.trials) / log.sums(np.ones_like(log.trials))
        # A verdict without trials has no weight; one without labels has no number.
        confirmed, overruled = (known_ratio(weighted[row + 1], weighted[row]) for row in (0, 2))
        return cls(log, labels, weighted, judged, confirmed, overruled)

    @property
    def questions(self) -> Floats:
        """Questions of each group, M."""
        return self.log.sums(np.ones_like(self.log.trials))

    @property
    def labelled_units(self) -> Floats:
        """Questions with a label (or clusters of these), Q."""
        return self.log.units(self.log.labels[:, [0, 2]].sum(axis=1) > 0)

    @property
    def estimate(self) -> Floats:
        """The accuracy, ``r m1 + (1 - r) m0``."""
        return self.judged * self.confirmed + (1 - self.judged) * self.overruled

    @property
    def smoothed(self) -> Floats:
        """The accuracy with half a right and half a wrong label added to each verdict, e."""
        p1, p0 = self._smoothed_shares
        return self.judged * p1 + (1 - self.judged) * p0

    @property
    def _smoothed_shares(self) -> tuple[Floats, Floats]:
        """Shares of right answers behind both verdicts, inside (0, 1)."""
        right, confirmed, wrong, overruled = self.labels
        return (confirmed + 0.5) / (right + 1), (overruled + 0.5) / (wrong + 1)

    def variance(self, target: Target) -> Floats:
        """Variance of the estimate."""
        of_labels, gain = self._binomial_variance(), self._question_gains()
        of_all = self._population_variance(of_labels, gain)
        if target == "population":
            return of_all
        # Gains of labelled questions are noise as far as others have no label.
        labelled = np.maximum(self.labelled_units, 2)
        unseen = np.maximum(1 - labelled / self.questions, 0)
        between = unseen * labelled / (labelled - 1) * self.log.sums(gain**2)
        here = np.maximum(of_labels, between) + self.verdict_variance()
        # These questions are never less certain than all.
        return np.asarray(np.minimum(here, of_all))

    def _population_variance(self, of_labels: Floats, gain: Floats) -> Floats:
        """Variance of the estimate about other questions, from its parts on these."""
        offset = self._question_offsets()
        units = self.log.units(np.ones(offset.shape, np.bool_))
        wider = np.maximum(units, 2) / (np.maximum(units, 2) - 1)
        sampled = wider * self.log.squares(offset)
        both = wider * self.log.squares(offset + gain)
        # Questions that are all alike are no proof that others are: at most one event for each.
        events = np.where(sampled > 0, self.log.sums(self.log.trials), units)
        least = self.smoothed * (1 - self.smoothed) / events
        return np.asarray(np.maximum(np.maximum(both, of_labels + sampled), least))

    def _binomial_variance(self) -> Floats:
        """Variance of the labels as a binomial sample from the trials of each verdict."""
        log, (right, _, wrong, _) = self.log, self.labels
        judged_right = log.sums(log.verdicts)
        judged_wrong = log.sums(log.trials) - judged_right
        p1, p0 = self._smoothed_shares
        of_right = self.judged**2 * _sampling_variance(p1, right, judged_right)
        return of_right + (1 - self.judged) ** 2 * _sampling_variance(p0, wrong, judged_wrong)

    def _question_gains(self) -> Floats:
        """How far the labels of a question move the estimate, shape (M,)."""
        log, group = self.log, self.log.group
        labels = log.labels / log.trials[:, None]
        moved = np.zeros(group.size)
        for share, m, column in (
            (self.judged, self.confirmed, 0),
            (1 - self.judged, self.overruled, 2),
        ):
            away = labels[:, column + 1] - m[group] * labels[:, column]
            scale = known_ratio(share, self.weighted[column])
            moved += np.where(labels[:, column] > 0, scale[group] * away, 0.0)
        return moved

    def _question_offsets(self) -> Floats:
        """How far the verdicts of a question lie from the estimate, over M, shape (M,)."""
        log, group = self.log, self.log.group
        rate = log.verdicts / log.trials
        expected = self.overruled[group] + (self.confirmed - self.overruled)[group] * rate
        return np.asarray((expected - self.estimate[group]) / self.questions[group])

    def verdict_variance(self) -> Floats:
        """Variance of the verdicts on these questions, as far as the truth follows them."""
        log = self.log
        rate, single = log.verdicts / log.trials, log.trials < 2  # no variance of one
        within = rate * (1 - rate) / np.where(single, 1.0, log.trials - 1)
        alone = (self.judged * (1 - self.judged))[log.group]
        noise = log.sums(np.where(single, alone, within)) / self.questions**2
        least = self.smoothed * (1 - self.smoothed) / log.sums(log.trials)
        return np.asarray(np.maximum((self.confirmed - self.overruled) ** 2 * noise, least))


def _sampling_variance(share: Floats, some: Floats, every: Floats) -> Floats:
    """Variance of a share among some trials, drawn without replacement from all of them."""
    some, every = np.maximum(some, 1), np.maximum(every, 1)
    return np.asarray(share * (1 - share) / some * np.maximum(1 - some / every, 0))


def rate_interval(part: Floats, whole: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson interval of a share of labels; NaN without labels."""
    lo, hi = rate_ends(part, whole - part, (1 - confidence) / 2)
    return np.where(whole > 0, lo, np.nan), np.where(whole > 0, hi, np.nan)


def agreement_shares(rates: JudgeRates, right: Floats) -> Floats:
    """Shares of all answers by verdict, then truth, shape (2, 2, G), with "right" last."""
    hits, spared = np.stack([right, 1 - right]) * rates.observed
    return np.array([[spared, right - hits], [1 - right - spared, hits]])


def cohens_kappa(shares: Floats) -> Floats:
    """Cohen's kappa of `agreement_shares`, (G,); NaN if both use one category only."""
    # J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.
    by_chance = (shares.sum(axis=1) * shares.sum(axis=0)).sum(axis=0)
    return _beyond_chance(shares, by_chance)


def gwets_ac1(shares: Floats) -> Floats:
    """Gwet's AC1 of `agreement_shares`; unlike kappa it does not fall if nearly all are right."""
    # K. Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48.
    share = (shares.sum(axis=1)[1] + shares.sum(axis=0)[1]) / 2
    return _beyond_chance(shares, 2 * share * (1 - share))


def _beyond_chance(shares: Floats, by_chance: Floats) -> Floats:
    """Agreement less chance agreement, over 1 less chance agreement."""
    observed, left = shares[0, 0] + shares[1, 1], 1 - by_chance
    return known_ratio(observed - by_chance, left, np.nan)


def labels_for_width(
    shares: Floats, verdict_variance: Floats, width: float, confidence: float
) -> Floats:
    """Labels of random trials at which the interval of the accuracy has this width; or NaN."""
    z = -scipy.special.ndtri((1 - confidence) / 2)
    judged = shares.sum(axis=1)
    right = known_ratio(shares[:, 1], judged, 0.5)
    of_one = (judged * right * (1 - right)).sum(axis=0)
    left = (width / (2 * z)) ** 2 - verdict_variance
    return np.ceil(known_ratio(of_one, left, np.nan))
