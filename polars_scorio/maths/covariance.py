"""Covariances of model means over shared questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.questions import effective_number

_ROUNDED = 1e-14  # relative rounding error of sums that cancel


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Means of models over the same questions, and their covariances."""

    mean: Floats  # (S, L); NaN if the stratum lacks the model
    covariance: Floats  # of the means, (S, L, L), 0 for absent models; used for differences only
    variance: Floats  # of each difference, with unobserved ones; diagonal: of each mean
    freedom: Floats  # of Student's t, (S,); infinite for known covariances

    def sigma(self) -> Floats:
        """Standard errors of all differences, shape (S, L, L); NaN where there is none."""
        here = np.isfinite(self.mean) & (self.freedom > 0)[:, None]
        return np.where(here[:, :, None] & here[:, None, :], np.sqrt(self.variance), np.nan)


def of_pairs(covariance: Floats) -> Floats:
    """Variances of all differences, from covariances (S, L, L); on the diagonal their own."""
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    scale = variance[:, :, None] + variance[:, None, :]
    square = scale - 2 * covariance
    # The difference of identical models is a rounding error.
    square = np.where(square > 1e-13 * scale, square, 0.0)
    np.einsum("sii->si", square)[...] = variance
    return square


def paired_means(
    values: Floats,
    first: Ints,
    span: float,
    cluster: Ints | None = None,
    weight: Floats | None = None,
    single: Mask | None = None,
) -> Paired:
    """Means and covariances of models over their shared questions; sigma NaN without freedom."""
    # `values` (Q, L), NaN where absent, by strata from `first` on; `single` (S, L): of one trial.
    models = values.shape[1]
    mean = np.full((first.size, models), np.nan)
    freedom, sums = np.zeros(first.size), np.zeros((2, first.size, models, models))
    ends = np.append(first[1:], len(values))
    for stratum, (start, stop) in enumerate(zip(first.tolist(), ends.tolist(), strict=True)):
        rows = values[start:stop]
        share = np.ones(len(rows)) if weight is None else weight[start:stop]
        total = share.sum()
        average = (share[:, None] * rows).sum(axis=0) / total
        parts = share[:, None] * np.where(np.isfinite(average), rows - average, 0.0) / total
        members = None if cluster is None else in_clusters(cluster[start:stop])
        if members is not None:
            parts, share = cluster_sums(parts, members), cluster_sums(share[:, None], members)[:, 0]
        size, number = len(parts), float(len(parts))
        mean[stratum], freedom[stratum] = average, freedom_of(len(rows), members)
        if weight is not None:
            number = float(total**2 / (share @ share))
            freedom[stratum] = number - 1
        hidden = None if single is None else hidden_noise(rows, single[stratum])
        if size > 1:
            parts *= np.sqrt(size / (size - 1))
            sums[:, stratum] = means_together(
                parts, number, span, np.isfinite(average), first_alike(rows), hidden
            )
    return Paired(mean, sums[0], sums[1], freedom)


def first_alike(values: Floats) -> Ints:
    """First column with the same values, for each column."""
    first: dict[bytes, int] = {}
    # + 0.0 turns a negative zero into a positive one.
    columns = np.ascontiguousarray(values.T) + 0.0
    return np.array([first.setdefault(row.tobytes(), place) for place, row in enumerate(columns)])


def hidden_noise(values: Floats, single: Mask) -> Mask:
    """Pairs of a model whose single trials all have one value, and a model with more trials.

    The noise of the first is unobserved, and means of the second have far less noise than single
    trials: taken as evidence, they gave .07 to .08 of 2,000 logs a false winner (five models at .8,
    15 questions, 1, 4 or 16 trials) instead of .006 to .008.

    >>> values = np.array([[1.0, 0.5], [1.0, 0.75]])
    >>> hidden_noise(values, np.array([True, False])).tolist()
    [[False, True], [True, False]]
    """
    constant = single & (values == values[0]).all(axis=0)
    pairs = constant[:, None] & ~single
    return np.asarray(pairs | pairs.T)


def means_together(
    parts: Floats, size: float, span: float, here: Mask, alike: Ints, hidden: Mask | None = None
) -> tuple[Floats, Floats]:
    """Covariance of means and variance of each difference, (L, L), from influences (N, L)."""
    # Both allow for what K = `size` questions may have missed: `span` of values, 0 if unknown. With
    # it coverage is .90 from 5 questions on: ``examples/validation/differences.py``.
    first, place = np.unique(alike, return_inverse=True)
    covariance, variance = _distinct_moments(parts[:, first], size, span)
    pairs = np.ix_(place, place)
    covariance, variance = covariance[pairs], variance[pairs]
    if hidden is not None and hidden.any():
        spread = of_pairs(covariance[None])[0][hidden]
        variance[hidden] = spread + _missed_variance(spread, 0 * spread, size, span)
    twins = (place[:, None] == place) & ~np.eye(place.size, dtype=np.bool_)
    # Nothing is seen of such a difference: what may have been missed is left.
    variance[twins] = 2 * span**2 / (size * (size + 1))
    covariance[here, here] += span**2 / (4 * size * (size + 1))
    return covariance, variance


def _distinct_moments(parts: Floats, size: float, span: float) -> tuple[Floats, Floats]:
    """Covariance of the means, and variance of their differences, of models with distinct data."""
    squares = parts**2
    covariance = parts.T @ parts
    spread = of_pairs(covariance[None])[0]
    mixed, squared = (squares * parts).T @ parts, squares.T @ squares
    scale = squared.diagonal()[:, None] + squared.diagonal()
    fourth = scale - 4 * (mixed + mixed.T) + 6 * squared
    np.fill_diagonal(fourth, squared.diagonal())
    # The fourth powers cancel: where only rounding errors are left, few questions make the
    # variance, on every machine.
    fourth = np.maximum(fourth, spread**2 / len(parts)) + _ROUNDED * scale
    events = np.divide(spread**2, fourth, out=np.zeros_like(spread), where=spread > 0)
    events = np.maximum(events, spread > 0)
    return covariance, spread + _missed_variance(spread, events, size, span)


def _missed_variance(estimated: Floats, events: Floats, size: float, span: float) -> Floats:
    """Variance that may be unobserved, by the effective number of differences."""
    pseudo = (size**2 * estimated + 2 * span**2) / (events + 1)
    return np.asarray(np.sign(span) * pseudo / (size * (size + 1)))


def in_clusters(cluster: Ints) -> Ints | None:
    """Clusters of questions, from 0 on; None if each question is its own cluster."""
    distinct, place = np.unique(cluster, return_inverse=True)
    return None if distinct.size == cluster.size else place


def freedom_of(questions: int, cluster: Ints | None) -> float:
    """Degrees of freedom: questions, or the effective number of clusters, less 1.

    At least 1 if there are two clusters; see `effective_number`.

    >>> freedom_of(6, None), freedom_of(6, np.array([0, 0, 1, 1, 2, 2]))
    (5.0, 2.0)
    """
    if cluster is None:
        return questions - 1.0
    sizes = np.bincount(cluster)
    if np.count_nonzero(sizes) <= 1:
        return 0.0
    effective = effective_number(sizes, np.zeros_like(sizes), 1)
    return max(float(effective[0]) - 1, 1.0)


def cluster_sums(rows: Floats, cluster: Ints) -> Floats:
    """The sums over each cluster, ascending."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=cluster[order][0] - 1))
    return np.asarray(np.add.reduceat(rows[order], starts, axis=0))
