"""Signals of questions about models: how well they separate them, and whether they contradict them.

A question is compared with the mean of all other questions, model by model. If strong models fail
it and weak ones solve it, its key may be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask

_TESTED_MODELS = 4  # fewer have no test: two degrees of freedom at least
_SIGNAL_SHARE = 0.3  # a variance of which less is signal says nothing about a correlation
_SAME = 1e-12  # means whose range is smaller, relative to their size, are equal


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSignals:
    """Numbers of each question over all models, shape (Q,); NaN: unknown."""

    spread: Floats  # standard deviation of the models, without noise of trials
    rest_correlation: Floats  # with the mean of the other questions
    discrimination: Floats  # the same without noise of trials, in [-1, 1]
    pvalue: Floats  # chance of so low a correlation if unrelated
    qvalue: Floats  # pvalue, adjusted for all questions


def question_signals(mean: Floats, noise: Floats, size: Ints) -> QuestionSignals:
    """Compare each question with the others, over the A models."""
    # `noise` (Q, A) is the variance of each mean, NaN for a single trial; `size` (Q,) the questions
    # behind a row (1, or a cluster's). v and v_r are the variances over models of a question and of
    # its rest, e and e_r their mean noise: ``spread = sqrt(max(0, v - e))``; ``r = rest_correlation
    # = cov / sqrt(v v_r)``; ``discrimination = cov / sqrt((v - e)(v_r - e_r))``, NaN if at most .3
    # of v or of v_r is not noise; pvalue is the lower tail of Student's t at ``r sqrt((A - 2) / (1
    # - r^2))``, 1 if all models are alike; qvalue is Benjamini and Hochberg's; NaN below 4 models.
    models = mean.shape[1]
    if models < 2 or len(mean) < 2:  # no variance over one model, no rest
        unknown = np.full(len(mean), np.nan)
        spread = _model_spread(mean, noise) if models > 1 else unknown
        return QuestionSignals(spread, unknown, unknown, unknown, unknown)
    rest, rest_noise = _rest_of_questions(mean, noise, size)
    ours, theirs = _distance_from_mean(mean), _distance_from_mean(rest)
    v, v_r = _model_variance(mean), _model_variance(rest)
    covariance = (ours * theirs).sum(axis=1) / (models - 1)
    unlike = (v > 0) & (v_r > 0)
    r = np.clip(_ratios_where(covariance, np.sqrt(v * v_r), unlike), -1.0, 1.0)
    signal, rest_signal = v - noise.mean(axis=1), v_r - rest_noise
    telling = unlike & (signal > _SIGNAL_SHARE * v) & (rest_signal > _SIGNAL_SHARE * v_r)
    discrimination = _ratios_where(
        covariance, np.sqrt(np.maximum(signal * rest_signal, 0)), telling
    )
    p, q = _reversal_tests(r, models)
    return QuestionSignals(_model_spread(mean, noise), r, np.clip(discrimination, -1.0, 1.0), p, q)


def family_means(mean: Floats, noise: Floats, family: Ints) -> tuple[Floats, Floats]:
    """Means over the models of each family 0, 1, ..., and their noise, shape (Q, families)."""
    member = (family[:, None] == np.arange(family.max() + 1)).astype(np.float64)
    number = member.sum(axis=0)
    return mean @ member / number, noise @ member / number**2


def _rest_of_questions(mean: Floats, noise: Floats, size: Ints) -> tuple[Floats, Floats]:
    """Mean of the other questions under each model, and the mean noise of that over the models."""
    weight = size[:, None].astype(np.float64)
    remaining = weight.sum() - weight
    rest = ((weight * mean).sum(axis=0) - weight * mean) / remaining
    squares = weight**2 * noise
    rest_noise = np.maximum(squares.sum(axis=0) - squares, 0.0) / remaining**2
    return rest, rest_noise.mean(axis=1)


def _distance_from_mean(mean: Floats) -> Floats:
    """Distance of each model from the mean of all models."""
    return np.asarray(mean - mean.mean(axis=1, keepdims=True))


def _model_variance(mean: Floats) -> Floats:
    """Sample variance over models; exactly 0 if they are equal but for rounding."""
    variance = (_distance_from_mean(mean) ** 2).sum(axis=1) / (mean.shape[1] - 1)
    alike = np.ptp(mean, axis=1) <= _SAME * np.abs(mean).max(axis=1)  # but for rounding
    return np.where(alike, 0.0, variance)


def _model_spread(mean: Floats, noise: Floats) -> Floats:
    """Standard deviation of the models without the noise of the trials; NaN if that is unknown."""
    return np.asarray(np.sqrt(np.maximum(_model_variance(mean) - noise.mean(axis=1), 0.0)))


def _ratios_where(above: Floats, below: Floats, where: Mask) -> Floats:
    """Ratios where they are defined; NaN elsewhere."""
    ratios = np.full(above.size, np.nan)
    return np.asarray(np.divide(above, below, out=ratios, where=where & (below > 0)))


def _reversal_tests(r: Floats, models: int) -> tuple[Floats, Floats]:
    """p-value and q-value of each question for a correlation below zero."""
    if models < _TESTED_MODELS:
        return np.full(r.size, np.nan), np.full(r.size, np.nan)
    with np.errstate(divide="ignore"):
        t = r * np.sqrt((models - 2) / (1 - r**2))
    p = np.where(np.isnan(r), 1.0, scipy.special.stdtr(models - 2, t))
    return p, _false_discovery_rates(p)


def _false_discovery_rates(p: Floats) -> Floats:
    """Adjusted p-values of Benjamini and Hochberg; importing those of scipy.stats takes .4 s."""
    order = np.argsort(p)[::-1]
    smallest = np.minimum.accumulate(p[order] * (p.size / np.arange(p.size, 0, -1)))
    rates = np.empty(p.size)
    rates[order] = np.clip(smallest, 0, 1)
    return rates
