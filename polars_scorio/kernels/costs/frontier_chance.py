"""Models that no other model dominates: at least as good, and at most as dear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Mask
from polars_scorio.kernels.simultaneous.fixed_draws import normal_draws
from polars_scorio.kernels.simultaneous.paired_means import first_alike

_DRAWS = 4_000
_JITTER = 1e-12  # of the mean variance: keeps a singular covariance factorable


@dataclass(frozen=True, slots=True, eq=False)
class FrontierModels:
    """Mean scores and mean log costs of the models of a stratum, on questions that are a sample.

    Attributes
    ----------
    score, cost : ndarray of float, shape (L,)
        More score and less cost are better.
    parts : ndarray of float, shape (K, 2 L)
        What each question (or cluster) adds to the scores, and then to the costs: their squares and
        products sum to the covariance of the means.
    freedom : float
        Degrees of freedom; 0: nothing tells the noise.
    floor : float
        Variance that the difference of two scores has beside that of the questions.
    """

    score: Floats
    cost: Floats
    parts: Floats
    freedom: float
    floor: float

    @property
    def on(self) -> Mask:
        """Models on the frontier of the estimates, shape (L,)."""
        better = self.score[:, None] >= self.score
        cheaper = self.cost[:, None] <= self.cost
        strictly = (self.score[:, None] > self.score) | (self.cost[:, None] < self.cost)
        return np.asarray(~(better & cheaper & strictly).any(axis=0))

    def dominated(self, confidence: float) -> Mask:
        """Models than which another one is surely better and cheaper, for all models at once.

        Both differences of a pair have to exceed Student's quantile, which needs no correction for
        there being two; the pairs share the error by Bonferroni.

        Examples
        --------
        >>> parts = 0.01 * np.array([[1.0, -1.0, 1.0, 0.0], [-1.0, 1.0, -1.0, 0.0]])
        >>> models = FrontierModels(np.array([0.9, 0.5]), np.zeros(2) - 1, parts, 30.0, 0.0)
        >>> models.dominated(0.95)  # no cheaper one
        array([False, False])
        """
        models = self.score.size
        if models < 2 or self.freedom <= 0:  # of one model there is no pair
            return np.zeros(models, np.bool_)
        tail = (1 - confidence) / (models * (models - 1))
        critical = -scipy.special.stdtrit(self.freedom, tail)
        scores, costs = self.parts[:, :models], self.parts[:, models:]
        above = _standardized_gaps(self.score, scores, self.floor) > critical
        cheaper = _standardized_gaps(-self.cost, -costs, 0.0) > critical
        return np.asarray((above & cheaper).any(axis=0))

    def draws(self) -> tuple[Floats, Floats]:
        """Normal draws of all scores and of all costs, shape (L, draws) each, always the same.

        Models with the same data have the same draws.
        """
        models = self.score.size
        alike = first_alike(np.vstack([self.parts[:, :models], self.parts[:, models:]]))
        covariance = self.parts.T @ self.parts
        jitter = _JITTER * np.trace(covariance) / len(covariance) + np.finfo(float).tiny
        root = np.linalg.cholesky(covariance + jitter * np.eye(len(covariance)))
        moved = root @ normal_draws(2 * models, _DRAWS)
        same = np.concatenate([alike, models + alike])
        means = np.concatenate([self.score, self.cost])
        moved = means[:, None] + moved[same]
        return moved[:models], moved[models:]

    def chance(self) -> Floats:
        """Chance of each model to be on the frontier, shape (L,); NaN if nothing tells it."""
        if self.freedom <= 0:
            return np.full(self.score.size, np.nan)
        return np.asarray(_on_frontier(*self.draws()).mean(axis=1))

    def band(self, costs: Floats, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the best score that is to be had for at most some costs, over the draws.

        Parameters
        ----------
        costs : ndarray of float, shape (C,)
            Logs of costs.

        Returns
        -------
        lo, hi : ndarray of float, shape (C,)
            NaN where in most draws no model is so cheap.
        """
        score, cost = self.draws()
        best = np.stack([np.where(cost <= most, score, -np.inf).max(axis=0) for most in costs])
        tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
        lo, hi = np.quantile(best, tails, axis=1, method="nearest")
        known = np.isfinite(np.median(best, axis=1)) & np.isfinite(lo)
        return np.where(known, lo, np.nan), np.where(known, hi, np.nan)


def _standardized_gaps(mean: Floats, parts: Floats, floor: float) -> Floats:
    """How far the mean of each row is above that of each column, in standard errors."""
    square = parts.T @ parts
    own = np.diagonal(square)
    scale = own[:, None] + own
    variance = np.where(scale - 2 * square > _JITTER * scale, scale - 2 * square, 0.0) + floor
    gap = mean[:, None] - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gap > 0, gap / np.sqrt(variance), 0.0)


def _on_frontier(score: Floats, cost: Floats) -> Mask:
    """Whether each model is on the frontier of each draw, shape (L, draws).

    In the order of the costs, it is on if it is better than all cheaper ones. A model with both
    numbers of one before it shares its verdict.

    >>> _on_frontier(np.array([[0.5], [0.7], [0.6]]), np.array([[1.0], [2.0], [3.0]])).ravel()
    array([ True,  True, False])
    """
    order = np.lexsort((-score, cost), axis=0)
    ordered, paid = (np.take_along_axis(each, order, axis=0) for each in (score, cost))
    before = np.maximum.accumulate(ordered, axis=0)[:-1]
    on = np.vstack([np.ones((1, score.shape[1]), np.bool_), ordered[1:] > before])
    for place in range(1, len(on)):
        same = (ordered[place] == ordered[place - 1]) & (paid[place] == paid[place - 1])
        on[place] |= same & on[place - 1]
    found = np.empty_like(on)
    np.put_along_axis(found, order, on, axis=0)
    return found
