"""Paths of whole curves over k, of single models and of pairs of models, from their questions.

Whoever wants all points of a curve to hold at once takes `maths.curves.curve_critical` of the path.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polars_scorio.arguments import View
from polars_scorio.counting.log import CLUSTER
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.comparison import Comparison
from polars_scorio.maths.curves import Path, noise_path, question_path
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.subjects.question_cells import QuestionCells, question_estimates
from polars_scorio.subjects.sampled_scores import shared_questions
from polars_scorio.subjects.scores import StrataModels


def unknown_path(known: Sequence[Floats]) -> Path:
    """The path of curves whose covariances nobody knows; NaN in `known` is no point, (..., K)."""
    variance = np.stack([np.where(np.isnan(each), np.nan, np.inf) for each in known], axis=-1)
    return Path(variance, np.full(variance[..., 1:].shape, np.nan))


def group_path(
    metric: Metric,
    view: View,
    cells: QuestionCells,
    success: tuple[int, ...] | None,
    target: Target,
    known: Sequence[Floats],
) -> Path:
    """The path of a metric of each cell; `known` are the estimates at each k, (K, G)."""
    if target == "benchmark" and success is not None:
        draws = [metric.draw(k) for k in metric.row_sizes]
        return noise_path(cells.calibrated(success), [draw for draw in draws if draw is not None])
    values = [question_estimates(metric, view, k, cells) for k in metric.row_sizes]
    if target == "benchmark" or any(each is None for each in values):
        return unknown_path(known)
    cluster = cells.flat[CLUSTER].to_numpy() if CLUSTER in cells.flat.columns else None
    of_cells = []
    for cell in range(cells.states.groups):
        rows = np.flatnonzero(cells.cell_of_row == cell)
        members = None if cluster is None else np.unique(cluster[rows], return_inverse=True)[1]
        each = [sampled[rows, None] for sampled in values if sampled is not None]
        of_cells.append(question_path(each, np.full(rows.size, 1 / rows.size), members))
    return Path(*(np.concatenate(parts) for parts in zip(*of_cells, strict=True)))


def pair_path(
    models: Sequence[StrataModels],
    compared: Sequence[Comparison],
    a: Ints,
    b: Ints,
    success: tuple[int, ...] | None,
    target: Target,
) -> Path:
    """The path of the differences of pairs of columns of some strata, (S, P, K)."""
    # `models` and `compared` are at each k; `success` as for `group_path`. If they are about a
    # population and not paired, each model has questions of its own.
    sigma = [each.pairs(a, b).sigma for each in compared]
    if compared[0].joint is not None:
        return _sampled_path(models, a, b, sigma)
    metric, places = models[0].metric, models[0].places
    if target == "population":
        cells = models[0].table.cells
        known = [each.scores.estimate for each in models]
        each = group_path(metric, models[0].view, cells, success, target, known)
        return _where_known(Path(*(one[places[:, a]] + one[places[:, b]] for one in each)), sigma)
    draws = [metric.draw(k) for k in metric.row_sizes]
    if success is None or None in draws:
        return unknown_path(sigma)
    fitted = models[0].table.cells.calibrated(success, pooled=True)
    noise = noise_path(fitted, [draw for draw in draws if draw is not None])
    both = (each[places[:, a]] + each[places[:, b]] for each in noise)
    return _where_known(Path(*both), sigma)


def _sampled_path(
    models: Sequence[StrataModels], a: Ints, b: Ints, sigma: Sequence[Floats]
) -> Path:
    """The path of paired differences of questions that are a sample."""
    every = [shared_questions(each) for each in models]
    sizes, cluster, weight = every[0].sizes, every[0].cluster, every[0].weight
    paths, ends = [], np.cumsum(sizes)
    for first, last in zip(ends - sizes, ends, strict=True):
        rows = slice(int(first), int(last))
        share = np.ones(last - first) if weight is None else weight[rows]
        members = None if cluster is None else np.unique(cluster[rows], return_inverse=True)[1]
        gaps = [each.values[rows][:, a] - each.values[rows][:, b] for each in every]
        paths.append(question_path(gaps, share / share.sum(), members))
    return _where_known(Path(*map(np.stack, zip(*paths, strict=True))), sigma)


def _where_known(path: Path, sigma: Sequence[Floats]) -> Path:
    """The path without the points at which a pair has no interval."""
    missing = np.isnan(np.stack(sigma, axis=-1))
    return Path(np.where(missing, np.nan, path.variance), path.covariance)
