"""Covariances of model means over shared questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.interval import Student, plus_two


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Means of models over the same questions (or clusters), and how these vary together."""

    mean: Floats  # (S, L); NaN if the stratum lacks the model
    products: Floats  # mean ones of deviations of units; without a `span`, covariances of the means
    number: Floats  # units of equal weight that they count as, (S,)
    span: float  # range of the values; 0: unknown

    def differences(self, a: Ints, b: Ints) -> Student:
        """Differences of pairs of columns, (P,) or (S, P); NaN if there is none."""
        row = np.arange(len(self.mean))[:, None]
        diff = np.where(self.number[:, None] > 1, self.mean[row, a] - self.mean[row, b], np.nan)
        spread = self.squares(row, a, b)
        number = np.broadcast_to(self.number[:, None], diff.shape)
        if not self.span:
            return Student(diff, np.where(np.isnan(diff), np.nan, np.sqrt(spread)), number - 1)
        return plus_two(diff, spread, number, 0.0, self.span)

    def squares(self, row: Ints, a: Ints, b: Ints) -> Floats:
        """`products` of differences of columns; of a column and itself that of the column."""
        one, other = self.products[row, a, a], self.products[row, b, b]
        scale = one + other
        square = scale - 2 * self.products[row, a, b]
        # The difference of identical models is a rounding error.
        return np.where(a == b, one, np.where(square > 1e-13 * scale, square, 0.0))

    def pair_noise(self) -> Floats:
        """Variances (S, L, L) of the differences of all pairs, for the share that is signal."""
        spread = self.squares(*np.ogrid[tuple(map(slice, self.products.shape))])
        if not self.span:
            return spread
        # A part for each model: equal questions do not prove that others are.
        number = np.where(self.number > 1, self.number, np.nan)[:, None, None]
        return np.asarray(spread / (number - 1) + self.span**2 / (2 * number * (number + 1)))

    def models(self) -> Student:
        """Each model by itself, (S, L), with values in [0, 1] if these have a span."""
        squares = np.diagonal(self.products, axis1=1, axis2=2)
        number = np.broadcast_to(
            np.where(self.number > 1, self.number, np.nan)[:, None], squares.shape
        )
        mean = self.mean + 0 * number
        if not self.span:
            return Student(mean, np.sqrt(squares), number - 1)
        return plus_two(mean, squares, number)


def paired_means(
    values: Floats,
    first: Ints,
    span: float,
    cluster: Ints | None = None,
    weight: Floats | None = None,
) -> Paired:
    """Means of models over their shared questions, and how these vary together."""
    # `values` (Q, L), NaN where absent, by strata from `first` on.
    models = values.shape[1]
    mean, number = np.full((first.size, models), np.nan), np.zeros(first.size)
    products = np.zeros((first.size, models, models))
    ends = np.append(first[1:], len(values))
    for stratum, (start, stop) in enumerate(zip(first.tolist(), ends.tolist(), strict=True)):
        rows = values[start:stop]
        share = np.ones(len(rows)) if weight is None else weight[start:stop]
        total = share.sum()
        average, share = (share[:, None] * rows).sum(axis=0) / total, share / total
        parts = share[:, None] * np.where(np.isfinite(average), rows - average, 0.0)
        members = None if cluster is None else in_clusters(cluster[start:stop])
        if members is not None:
            parts, share = cluster_sums(parts, members), cluster_sums(share[:, None], members)[:, 0]
        mean[stratum], number[stratum] = average, 1 / (share @ share)
        scale = 1 / share[:, None] if span else len(parts) / max(len(parts) - 1, 1)
        products[stratum] = (scale * parts).T @ parts
    return Paired(mean, products, number, span)


def first_alike(values: Floats) -> Ints:
    """First column with the same values, for each column."""
    first: dict[bytes, int] = {}
    # + 0.0 turns a negative zero into a positive one.
    columns = np.ascontiguousarray(values.T) + 0.0
    return np.array([first.setdefault(row.tobytes(), place) for place, row in enumerate(columns)])


def in_clusters(cluster: Ints) -> Ints | None:
    """Clusters of questions, from 0 on; None if each question is its own cluster."""
    distinct, place = np.unique(cluster, return_inverse=True)
    return None if distinct.size == cluster.size else place


def cluster_sums(rows: Floats, cluster: Ints) -> Floats:
    """The sums over each cluster, ascending."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=cluster[order][0] - 1))
    return np.asarray(np.add.reduceat(rows[order], starts, axis=0))
