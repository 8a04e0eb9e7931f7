"""Models on the same sample of questions: their means and how they vary together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Means of models over the same questions, and how they vary together.

    Attributes
    ----------
    mean : ndarray of float, shape (S, L)
        NaN where a stratum does not have the model.
    covariance : ndarray of float, shape (S, L, L)
        Of the means; 0 where a model is absent. Only what it says of differences is used.
    freedom : ndarray of float, shape (S,)
        Degrees of freedom of Student's t; infinite for known covariances.
    root : ndarray of float, shape (S, L - 1, L - 1)
        `contrast_root` of the covariance.
    """

    mean: Floats
    covariance: Floats
    freedom: Floats
    root: Floats

    @classmethod
    def of_moments(cls, mean: Floats, covariance: Floats, freedom: Floats) -> Paired:
        """Models of which the moments are known."""
        return cls(mean, covariance, freedom, contrast_root(covariance))

    def of(self, strata: Ints) -> Paired:
        """Those of some strata."""
        return Paired(
            self.mean[strata], self.covariance[strata], self.freedom[strata], self.root[strata]
        )

    def sigma(self) -> Floats:
        """Standard deviations of all differences, shape (S, L, L); NaN where there is none."""
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        square = variance[:, :, None] + variance[:, None, :] - 2 * self.covariance
        # Of identical models only rounding errors are left.
        scale = variance[:, :, None] + variance[:, None, :]
        root = np.sqrt(np.where(square > 1e-13 * scale, square, 0.0))
        here = np.isfinite(self.mean) & (self.freedom > 0)[:, None]
        return np.where(here[:, :, None] & here[:, None, :], root, np.nan)


def paired(values: Floats, first: Ints, span: float, cluster: Ints | None = None) -> Paired:
    """Means and covariances of models over the questions that they share.

    Parameters
    ----------
    values : ndarray of float, shape (Q, L)
        Estimates of each question for each model, the questions of a stratum together. A model that
        a stratum does not have is NaN in all of its questions; NaN in some makes it absent too.
    first : ndarray of int, shape (S,)
        Where the questions of each stratum begin, ascending.
    span : float
        Highest minus lowest possible value.
    cluster : ndarray of int, shape (Q,), optional
        Which questions belong together.

    Returns
    -------
    Paired
        With K clusters (questions) the variance of a difference is
        ``s_d**2 / K + span**2 / (2 K (K + 1))``: two pseudo-differences of half the span keep
        models without any seen difference from being surely equal. K - 1 degrees of freedom; with
        none of them no difference has a sigma.

    Examples
    --------
    >>> both = paired(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([0]), 1.0)
    >>> round(float(both.sigma()[0, 0, 1]) ** 2, 6), both.freedom  # 1/9 and 1/24
    (0.152778, array([2.]))
    """
    models = values.shape[1]
    mean = np.full((first.size, models), np.nan)
    covariance, freedom = np.zeros((first.size, models, models)), np.zeros(first.size)
    ends = np.append(first[1:], len(values))
    for stratum, (start, stop) in enumerate(zip(first.tolist(), ends.tolist(), strict=True)):
        rows = values[start:stop]
        average = rows.sum(axis=0) / len(rows)
        centred = np.where(np.isfinite(average), rows - average, 0.0)
        if cluster is not None:
            centred = _sums(centred, cluster[start:stop])
        size = len(centred)
        freedom[stratum] = size - 1
        mean[stratum] = average
        if size > 1:
            scale = size / (size - 1) / len(rows) ** 2
            covariance[stratum] = centred.T @ centred * scale
            here = np.isfinite(average)
            covariance[stratum, here, here] += span**2 / (4 * size * (size + 1))
    return Paired.of_moments(mean, covariance, freedom)


def _sums(rows: Floats, cluster: Ints) -> Floats:
    """The sums over each cluster."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=cluster[order][0] - 1))
    return np.asarray(np.add.reduceat(rows[order], starts, axis=0))


def contrast_root(covariance: Floats) -> Floats:
    """Triangular roots of the covariances of the differences to the first model.

    Parameters
    ----------
    covariance : ndarray of float, shape (S, L, L)
        Of the models.

    Returns
    -------
    ndarray of float, shape (S, L - 1, L - 1)
        Where models are identical a trace of noise, 1e-6 of the largest standard deviation, keeps
        it regular; without any variance it is zero.

    Examples
    --------
    >>> contrast_root(np.eye(2)[None]).round(4)
    array([[[1.4142]]])
    """
    column = covariance[:, 1:, :1]
    against = covariance[:, 1:, 1:] - column - np.swapaxes(column, 1, 2) + covariance[:, :1, :1]
    scale = np.diagonal(against, axis1=1, axis2=2).max(axis=1, initial=0.0)[:, None, None]
    trace = np.where(scale > 0, 1e-12 * scale, 1.0) * np.eye(against.shape[1])
    return np.where(scale > 0, np.linalg.cholesky(against + trace), 0.0)
