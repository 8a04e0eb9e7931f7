"""How much of the variance of outcomes is due to models, questions, both together, and trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats

SOURCES = ("models", "questions", "interaction", "trials")
_JACKKNIFED = 3  # fewer questions leave no residual if one is deleted


@dataclass(frozen=True, slots=True, eq=False)
class VarianceShares:
    """Components of the variance of one trial, in the order of `SOURCES`; NaN: unknown.

    Attributes
    ----------
    variance, share, lo, hi : ndarray of float, shape (4,)
        Each component, its share of their sum, and the interval of the share.
    benchmark, population : float
        Variance of the difference of two models on these questions, and on a new sample of as many.
    removable : float
        The share of `population` that more trials of each question can remove.
    """

    variance: Floats
    share: Floats
    lo: Floats
    hi: Floats
    benchmark: float
    population: float
    removable: float


def variance_shares(mean: Floats, noise: Floats, trial: Floats, tail: float) -> VarianceShares:
    """Split the variance of a table of questions and models.

    Parameters
    ----------
    mean : ndarray of float, shape (M, A)
        Mean outcome of each question under each model.
    noise : ndarray of float, shape (M, A)
        Estimated variance of this mean; NaN for a single trial.
    trial : ndarray of float, shape (M, A)
        Estimated variance of one trial, n times `noise`.
    tail : float
        Chance beyond each end of the intervals.

    Returns
    -------
    VarianceShares
        With MS the residual mean square of the table: interaction is MS less the mean noise,
        questions the variance of their means less MS / A, models that of theirs less MS / M, trials
        the mean of `trial`. Estimates may be negative. If some noise is unknown, interaction and
        trials are too; their sum, MS, still enters the shares of models and questions. Ends: the
        jackknife over questions, Student's t with M - 1 degrees of freedom, clipped to [0, 1]. All
        is NaN for a single model or question.

    Examples
    --------
    Two models, one better by .2 at each of three questions, without noise.

    >>> mean = np.array([[0.2, 0.4], [0.4, 0.6], [0.6, 0.8]])
    >>> variance_shares(mean, 0 * mean, 0 * mean, 0.025).variance.round(3) + 0.0
    array([0.02, 0.04, 0.  , 0.  ])
    """
    questions, models = mean.shape
    if min(questions, models) < 2:  # no variance of one
        nothing = np.full(4, np.nan)
        return VarianceShares(nothing, nothing, nothing, nothing, *[np.nan] * 3)
    variance = _variance_components(_TableSums.whole(mean, noise, trial))
    share = _shares_of_total(variance)[:, 0]
    reach = _jackknife_reach(mean, noise, trial, tail)
    lo, hi = np.clip([share - reach, share + reach], 0.0, 1.0)
    mean_noise = float(noise.mean())
    known = np.array([True, True, *[np.isfinite(mean_noise)] * 2])
    variance, share, lo, hi = (
        np.where(known, each, np.nan) for each in (variance[:, 0], share, lo, hi)
    )
    here, everywhere = 2 * mean_noise / questions, max(float(variance[2]), 0.0) + mean_noise
    removable = mean_noise / everywhere if everywhere > 0 else np.nan
    return VarianceShares(variance, share, lo, hi, here, 2 * everywhere / questions, removable)


def _jackknife_reach(mean: Floats, noise: Floats, trial: Floats, tail: float) -> Floats:
    """How far the interval of each share reaches, by deleting one question at a time."""
    questions = len(mean)
    if questions < _JACKKNIFED:
        return np.full(4, np.nan)
    without = _shares_of_total(_variance_components(_TableSums.without_one(mean, noise, trial)))
    squares = ((without - without.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    error = np.sqrt((questions - 1) / questions * squares)
    return np.asarray(-scipy.special.stdtrit(questions - 1, tail) * error)


@dataclass(frozen=True, slots=True, eq=False)
class _TableSums:
    """Sums of some tables with the same models and numbers of questions, shape (T,)."""

    questions: int
    models: int
    of_questions: Floats  # sum of squares of the means of questions
    of_models: Floats  # sum of squares of the means of models
    residual: Floats  # sum of squares of what both leave
    noise: Floats
    trial: Floats

    @classmethod
    def whole(cls, mean: Floats, noise: Floats, trial: Floats) -> _TableSums:
        """The sums of one table."""
        average, effect = mean.mean(axis=1), _model_effects(mean)
        own = effect.mean(axis=0)
        questions, models = mean.shape
        return cls(
            questions,
            models,
            of_questions=np.array([((average - average.mean()) ** 2).sum()]),
            of_models=np.array([(own**2).sum()]),
            residual=np.array([((effect - own) ** 2).sum()]),
            noise=np.array([noise.mean()]),
            trial=np.array([trial.mean()]),
        )

    @classmethod
    def without_one(cls, mean: Floats, noise: Floats, trial: Floats) -> _TableSums:
        """The sums of the tables that lack one question."""
        (questions, models), whole = mean.shape, cls.whole(mean, noise, trial)
        average, effect = mean.mean(axis=1), _model_effects(mean)
        own = effect.mean(axis=0)
        factor = questions / (questions - 1)
        return cls(
            questions - 1,
            models,
            of_questions=whole.of_questions - factor * (average - average.mean()) ** 2,
            of_models=((own - (effect - own) / (questions - 1)) ** 2).sum(axis=1),
            residual=whole.residual - factor * ((effect - own) ** 2).sum(axis=1),
            noise=(questions * whole.noise - noise.mean(axis=1)) / (questions - 1),
            trial=(questions * whole.trial - trial.mean(axis=1)) / (questions - 1),
        )


def _model_effects(mean: Floats) -> Floats:
    """How far each model is above the mean of the question."""
    return np.asarray(mean - mean.mean(axis=1, keepdims=True))


def _variance_components(sums: _TableSums) -> Floats:
    """The components of tables, shape (4, T)."""
    questions, models = sums.questions, sums.models
    square = sums.residual / ((questions - 1) * (models - 1))
    of_models = sums.of_models / (models - 1) - square / questions
    of_questions = sums.of_questions / (questions - 1) - square / models
    # Single trials tell the sum of interaction and trials alone: all of it stands for trials.
    noise, trial = (np.where(np.isnan(each), square, each) for each in (sums.noise, sums.trial))
    return np.stack([of_models, of_questions, square - noise, trial])


def _shares_of_total(variance: Floats) -> Floats:
    """The shares of components in their sum; NaN if that is not positive."""
    total = variance.sum(axis=0)
    shares = np.full(variance.shape, np.nan)
    return np.asarray(np.divide(variance, total, out=shares, where=total > 0))
