"""Models that share only a part of the questions: two-way least squares."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.simultaneous.paired_means import (
    Paired,
    cluster_sums,
    first_alike,
    freedom_of,
    in_clusters,
    means_together,
)

_TERMS = 200  # of the series for the leverage, at most
_TINY = 1e-14  # a term of the series, relative to the first, that ends it


def connected_parts(model: Ints, question: Ints) -> Ints:
    """Sets of models that can be compared through common questions.

    Parameters
    ----------
    model, question : ndarray of int, shape (N,)
        Places of models and questions, from 0 on, of each estimate.

    Returns
    -------
    ndarray of int, shape (L,)
        For each model the lowest model of its part; all 0 where everything is connected.

    Examples
    --------
    The third model has a question of its own.

    >>> connected_parts(np.array([0, 1, 2]), np.array([0, 0, 1]))
    array([0, 0, 2])
    """
    models = int(model.max(initial=-1)) + 1
    part = np.arange(models)
    while True:
        of_question = np.full(int(question.max(initial=-1)) + 1, models)
        np.minimum.at(of_question, question, part[model])
        lowest = part.copy()
        np.minimum.at(lowest, model, of_question[question])
        if np.array_equal(lowest, part):
            return part
        part = lowest


def adjusted_means(
    model: Ints, question: Ints, value: Floats, span: float, cluster: Ints | None = None
) -> Paired:
    """Scores that the models would have on all questions, by model and question effects.

    Parameters
    ----------
    model, question : ndarray of int, shape (N,)
        Places of models and questions, from 0 on; all models connected, each pair at most once.
    value : ndarray of float, shape (N,)
        Estimate of the question for the model.
    span : float
        Highest minus lowest possible value.
    cluster : ndarray of int, shape (N,), optional
        To which cluster, from 0 on, the question of each estimate belongs.

    Returns
    -------
    Paired
        One stratum. The means are model effects plus the average of the question effects; their
        covariance is a sandwich over the questions, which are the sample (robust to questions on
        which models differ more), corrected for leverage as CR2 [1]_, with what may have been
        missed, as `means_together` has it. Degrees of freedom: questions that at least two
        models share (clusters of them), less 1. Where every model has every question, the
        result is that of `paired_means` (with clusters, where they are equally large).

    References
    ----------
    .. [1] R. M. Bell, D. F. McCaffrey (2002), Survey Methodology 28(2), 169-181.

    Examples
    --------
    The second model lacks the easy question; its own average, 0.5, would hide that it is as good.

    >>> model, question = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
    >>> value = np.array([0.4, 0.6, 1.0, 0.4, 0.6])
    >>> adjusted_means(model, question, value, 1.0).mean.round(4)
    array([[0.6667, 0.6667]])
    """
    table = np.zeros((int(question.max()) + 1, int(model.max()) + 1))
    here = np.zeros(table.shape, dtype=np.bool_)
    table[question, model], here[question, model] = value, True
    shared = here.sum(axis=1)
    inverse = _effects_inverse(here, shared)
    alike = first_alike(np.where(here, table, np.nan))
    effect = (inverse @ _within_question(table, here, shared).sum(axis=0))[alike]
    level = _question_average(table - effect, here, shared)
    residual = _within_question(table - effect, here, shared)
    together = None if cluster is None else _question_clusters(question, cluster)
    influence = _unshrunk_residuals(residual, here, shared, inverse, together) @ inverse
    # How the average of the question effects hangs on the effects of the models.
    share = (here / shared[:, None]).mean(axis=0)
    parts = len(table) if together is None else int(together.max()) + 1
    scale = np.sqrt(parts / max(parts - 1, 1))
    own = scale * (level - level.mean()) / len(table)
    influence = influence - (influence @ share)[:, None] + own[:, None]
    telling = np.flatnonzero(shared > 1) if effect.size > 1 else np.arange(len(table))
    size = telling.size if together is None else np.unique(together[telling]).size
    freedom = freedom_of(telling.size, None if together is None else together[telling])
    if together is not None:
        influence = cluster_sums(influence, together)
    everyone = np.ones(effect.size, np.bool_)
    covariance, variance = means_together(influence, size, span, everyone, alike)
    mean = effect + level.mean()
    return Paired.of_moments(
        mean[None], covariance[None], np.array([freedom]), variance[None], alike[None]
    )


def _question_clusters(question: Ints, cluster: Ints) -> Ints | None:
    """The cluster of each question, from that of each estimate; None where there is none."""
    first = np.unique(question, return_index=True)[1]
    return in_clusters(cluster[first])


def _effects_inverse(here: Mask, shared: Ints) -> Floats:
    """Pseudo-inverse of the normal equations of the model effects, which sum to 0."""
    trials = here.astype(np.float64)
    normal = np.diag(trials.sum(axis=0)) - (trials / shared[:, None]).T @ trials
    # Ones fill the direction that the effects have not; its inverse is taken out again.
    ones = np.full(normal.shape, len(here) / len(normal))
    return np.asarray(np.linalg.inv(normal + ones) - 1 / (len(here) * len(normal)))


def _question_average(table: Floats, here: Mask, shared: Ints) -> Floats:
    """Average over the models that have the question."""
    return np.asarray(np.where(here, table, 0.0).sum(axis=1) / shared)


def _within_question(table: Floats, here: Mask, shared: Ints) -> Floats:
    """Differences from the average of the question; 0 where a model does not have it."""
    return np.where(here, table - _question_average(table, here, shared)[:, None], 0.0)


def _unshrunk_residuals(
    residual: Floats, here: Mask, shared: Ints, inverse: Floats, cluster: Ints | None = None
) -> Floats:
    """Residuals as large as if their question (cluster) had not taken part in the fit.

    ``(1 - H)**(-1/2)`` of the leverage H of each question, as a binomial series: no question needs
    a decomposition of its own.
    """
    total, term = residual.copy(), residual
    limit = _TINY * np.abs(residual).max(initial=0.0)
    for order in range(1, _TERMS):
        moved = term if cluster is None else cluster_sums(term, cluster)[cluster]
        term = _within_question(moved @ inverse, here, shared) * (2 * order - 1) / (2 * order)
        total += term
        if np.abs(term).max(initial=0.0) <= limit:
            break
    return total
