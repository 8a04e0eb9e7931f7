"""The questions of each model, or their clusters, as independent units of a population."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.population_mean import UnitSample


def units_of_models(
    values: Floats,
    bias: Floats,
    sizes: Ints,
    cluster: Ints | None = None,
    share: Floats | None = None,
) -> UnitSample:
    """A sample of units for each model of each stratum, stratum after stratum.

    Parameters
    ----------
    values : ndarray of float, shape (Q, L)
        The estimate of each question under each model, inside [0, 1], stratum after stratum.
    bias : ndarray of float, shape (Q, L)
        Largest bias of these estimates.
    sizes : ndarray of int, shape (S,)
        Questions of each stratum.
    cluster : ndarray of int, shape (Q,), optional
        The cluster of each question; a number in two strata stands for two clusters.
    share : ndarray of float, shape (Q,), optional
        The share of each question in the mean, but for a factor; by default they are equal.

    Examples
    --------
    One stratum, two models; the first two questions are a cluster.

    >>> values = np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 0.0]])
    >>> sample = units_of_models(values, 0 * values, np.array([3]), np.array([0, 0, 1]))
    >>> sample.values.tolist(), sample.weight.tolist(), sample.group.tolist()
    ([0.5, 1.0, 0.5, 0.0], [2.0, 2.0, 1.0, 1.0], [0, 1, 0, 1])
    """
    stratum, models = np.repeat(np.arange(sizes.size), sizes), values.shape[1]
    weight = np.ones(stratum.size) if share is None else share
    if cluster is not None:
        _, first, unit = np.unique(
            stratum * (cluster.max() + 1) + cluster, return_index=True, return_inverse=True
        )
        stratum, rows = stratum[first], weight
        weight = np.bincount(unit, rows).astype(np.float64)
        values, bias = (_cluster_means(each, rows, unit, weight) for each in (values, bias))
    group = stratum[:, None] * models + np.arange(models)
    one = np.ones(group.size, dtype=np.int64)
    weight, groups = np.repeat(weight, models), sizes.size * models
    return UnitSample(values.ravel(), weight, one, group.ravel(), groups, bias.ravel())


def _cluster_means(values: Floats, weight: Floats, unit: Ints, total: Floats) -> Floats:
    """Weighted mean of each column over the rows of each unit, whose weights have this sum."""
    sums = [np.bincount(unit, weight * of_model, total.size) for of_model in values.T]
    return np.stack(sums, axis=1) / total[:, None]
