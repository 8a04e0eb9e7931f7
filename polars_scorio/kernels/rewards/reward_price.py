"""Price of the mean of real-valued rewards: measured noise, and bounds on what was not seen.

No population is fitted. The noise of each question is measured, and the interval is Clopper and
Pearson's with an effective number of trials. Three bounds, which are true of all rewards inside the
range, add what no measured variance knows: the largest noise that is possible, trials of another
kind that were not seen anywhere, and such trials of questions that showed no noise at all.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.clopper_pearson import beta_quantile
from polars_scorio.kernels.rewards.question_rewards import QuestionRewards

_END = 1e-12  # from a bound: as good as on it
_MOST_TRIALS = 1e12
_NEAR_MEDIAN = 0.499  # the ratio of both quantiles is taken no nearer to the median


@dataclass(frozen=True, slots=True, eq=False)
class RewardPrice:
    """The mean reward of each group, and what its interval is made of, each of shape (G,).

    Attributes
    ----------
    estimate, rest : ndarray of float
        The unbiased estimate inside [0, 1] and its complement; NaN if there is none.
    variance : ndarray of float
        Measured variance of the estimate; NaN if nothing measures it.
    spread : ndarray of float
        Factor of the variance for the spread of the noise of the questions; 0 if it is not known.
    freedom : ndarray of float
        Degrees of freedom of the variance; 0: none.
    trials : ndarray of float
        So many trials with the largest possible noise the estimate is worth at least.
    silent, silent_rest : ndarray of float
        Mean of the estimates of the questions without any noise, over all questions, and of their
        complements.
    low, width : ndarray of float
        The least reward, and how far the largest lies above it; a width of 0: not known.
    """

    estimate: Floats
    rest: Floats
    variance: Floats
    spread: Floats
    freedom: Floats
    trials: Floats
    silent: Floats
    silent_rest: Floats
    low: Floats
    width: Floats

    @classmethod
    def of(cls, questions: QuestionRewards, low: Floats, width: Floats) -> RewardPrice:
        """The price of a mean on these very questions.

        Parameters
        ----------
        questions : QuestionRewards
            In an order that does not depend on that of the rows.
        low, width : ndarray of float, shape (G,)
            The range of the rewards.

        Examples
        --------
        Two questions, each with the rewards 0, 1 and 1.

        >>> two, group = np.array([2 / 3, 2 / 3]), np.zeros(2, dtype=int)
        >>> questions = QuestionRewards(two, two / 6, np.array([3, 3]), group, 1)
        >>> price = RewardPrice.of(questions, np.zeros(1), np.ones(1))
        >>> price.sigma.round(4), np.array(price.ends(0.025)).round(4).ravel()
        (array([0.2357]), array([0.2228, 0.9567]))
        """
        total, size = questions.total, questions.size
        noise = questions.full_noise()
        sum_of_noise = total(noise)
        away = np.sqrt(total((noise - (sum_of_noise / size)[questions.group]) ** 2))
        seen = np.divide(away, sum_of_noise, out=np.zeros_like(size), where=sum_of_noise > 0)
        alone = total(questions.trials > 1) == 0
        silent = questions.silent
        return cls(
            estimate=questions.mean,
            rest=total(1 - questions.values) / size,
            variance=np.where(alone, questions.variance_between(), sum_of_noise / size**2),
            spread=np.where(alone, 0.0, 1 + seen),
            freedom=np.where(alone, size - 1, total(questions.trials - 1)),
            trials=size**2 / total(1 / np.maximum(questions.trials // questions.k, 1)),
            silent=total(np.where(silent, questions.values, 0.0)) / size,
            silent_rest=total(np.where(silent, 1 - questions.values, 0.0)) / size,
            low=low,
            width=width,
        )

    @property
    def bounded(self) -> bool:
        """Whether the metric has a range: rewards always have."""
        return True

    @property
    def mu(self) -> Floats:
        """The estimate on the scale of the rewards."""
        return np.asarray(self.low + self.width * self.estimate)

    @property
    def sigma(self) -> Floats:
        """Root of the variance on the scale of the rewards, not widened."""
        return np.asarray(self.width * np.sqrt(self.variance))

    def at(self, groups: Ints) -> RewardPrice:
        """Prices of some groups, in the given order."""
        return replace(
            self, **{each.name: getattr(self, each.name)[groups] for each in fields(self)}
        )

    def ends(self, tail: Floats | float) -> tuple[Floats, Floats]:
        """Ends of the interval inside [0, 1], from the chance beyond either of them.

        NaN without an estimate, and without a range.
        """
        u, rest, trials = self.estimate, self.rest, self.trials
        number = self._effective_trials(tail)
        x, y = u * number, rest * number
        lo = np.where(u > _END, beta_quantile(x, y + 1, tail, upper=False), 0.0)
        hi = np.where(rest > _END, beta_quantile(x + 1, y, tail, upper=True), 1.0)
        unseen = unseen_share(trials, tail)
        below = np.maximum(u * unseen, self.silent * unseen_share(trials * self.silent, tail))
        above = np.maximum(
            rest * unseen, self.silent_rest * unseen_share(trials * self.silent_rest, tail)
        )
        lo, hi = np.minimum(lo, u - below), np.maximum(hi, u + above)
        known = (self.width > 0) & ~np.isnan(u)
        lo, hi = np.where(known, lo, np.nan), np.where(known, hi, np.nan)
        return np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)

    def _effective_trials(self, tail: Floats | float) -> Floats:
        """Trials with the largest possible noise that would have the variance of the estimate."""
        tail = np.minimum(tail, _NEAR_MEDIAN)
        some = np.maximum(self.freedom, 1.0)
        ratio = scipy.special.stdtrit(some, tail) / scipy.special.ndtri(tail)
        noise = self.variance * np.maximum(self.spread, ratio**2)
        noise = np.where((self.freedom > 0) & np.isfinite(noise), noise, np.inf)
        most = np.full(np.shape(noise), _MOST_TRIALS)
        number = np.divide(self.estimate * self.rest, noise, out=most, where=noise > 0)
        return np.clip(number, self.trials, _MOST_TRIALS)


def unseen_share(trials: Floats, tail: Floats | float) -> Floats:
    """Share of trials of another kind that stay unseen with a chance: ``1 - tail^(1 / trials)``.

    >>> unseen_share(np.array([4.0, 0.0]), 0.025).round(3)
    array([0.602, 1.   ])
    """
    trials = np.maximum(trials, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        return -np.expm1(np.log(tail) / trials)
