"""Best and worst rank that each model can have, from the numbers of better and worse models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import row_slices

_ROWS = 256  # models that are compared with all others at a time


def rank_ranges(better: Ints, worse: Ints, here: Mask) -> tuple[Ints, Ints]:
    """Best and worst rank that each model can have [1]_.

    Parameters
    ----------
    better, worse : ndarray of int, shape (S, L)
        How many models are better, and how many are worse, by verdicts that hold at once for all
        pairs of a stratum (then so do its ranges) or for all pairs of the model (then so does
        its range).
    here : ndarray of bool, shape (S, L)
        Which models a stratum has.

    Returns
    -------
    lo, hi : ndarray of int, shape (S, L)
        ``1 + better``, and the number of models less `worse`; 0 where a model is absent.

    References
    ----------
    .. [1] M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), Review of Economic Studies
       91(1), 476-518, section 3.

    Examples
    --------
    Of three models only the first and the last differ.

    >>> better, worse = np.array([[0, 0, 1]]), np.array([[1, 0, 0]])
    >>> rank_ranges(better, worse, np.ones((1, 3), dtype=bool))
    (array([[1, 1, 2]]), array([[2, 3, 3]]))
    """
    models = here.sum(axis=1, keepdims=True)
    return np.where(here, 1 + better, 0), np.where(here, models - worse, 0)


def better_and_worse(mu: Floats, differs: Mask) -> tuple[Ints, Ints]:
    """Numbers of better and of worse models, from a table of all pairs.

    Parameters
    ----------
    mu : ndarray of float, shape (S, L)
        Estimates, NaN where a stratum does not have the model.
    differs : ndarray of bool, shape (S, L, L)
        Pairs that differ, as judged for the model of the row.

    Returns
    -------
    better, worse : ndarray of int, shape (S, L)
        Models with the same estimate are neither.

    Examples
    --------
    >>> better_and_worse(np.array([[0.9, 0.1]]), np.ones((1, 2, 2), dtype=bool))
    (array([[0, 1]]), array([[1, 0]]))
    """
    higher = differs & (mu[:, None, :] > mu[:, :, None])
    lower = differs & (mu[:, None, :] < mu[:, :, None])
    return higher.sum(axis=2), lower.sum(axis=2)


def counts_by_score(
    mu: Floats, c: Floats, pair_scores: Callable[[Ints, Ints], Floats]
) -> tuple[Ints, Ints]:
    """Numbers of better and of worse models, pair by pair, some models at a time.

    Parameters
    ----------
    mu, c : ndarray of float, shape (S, L)
        Estimates, NaN where a stratum does not have the model, and critical values.
    pair_scores : callable
        From the columns of both models of some pairs, shape (P,), to scores of shape (S, P): a pair
        differs if its score exceeds the critical value of its first model.

    Returns
    -------
    better, worse : ndarray of int, shape (S, L)
        Memory grows with the number of models, time with that of pairs; `lower_models` is faster.

    Examples
    --------
    >>> mu = np.array([[0.0, 2.0, 5.0]])
    >>> counts_by_score(mu, np.full((1, 3), 2.5), lambda a, b: np.abs(mu[:, a] - mu[:, b]))
    (array([[1, 1, 0]]), array([[0, 0, 2]]))
    """
    strata, models = mu.shape
    better, worse = np.zeros(mu.shape, np.int64), np.zeros(mu.shape, np.int64)
    for rows in row_slices(models, strata * models):
        first = np.arange(models)[rows]
        a, b = np.repeat(first, models), np.tile(np.arange(models), first.size)
        differs = pair_scores(a, b) > c[:, a]
        for counts, there in ((better, mu[:, a] < mu[:, b]), (worse, mu[:, a] > mu[:, b])):
            counts[:, rows] = (differs & there).reshape(strata, -1, models).sum(axis=2)
    return better, worse


def lower_models(value: Floats, down: Floats, up: Floats, c: Floats, limit: float) -> Ints:
    """Number of models that lie clearly below each model, without a table of all pairs.

    Model j lies clearly below model i if
    ``min(value[i] - value[j], limit) > c[i] * hypot(down[i], up[j])``.

    Parameters
    ----------
    value, down, up, c : ndarray of float, shape (S, L)
        Estimates; how far they reach down and up; a factor for the model of the row. NaN is never
        above or below.
    limit : float
        The largest difference that counts.

    Returns
    -------
    ndarray of int, shape (S, L)
        For the number of models clearly above, negate `value` and swap `down` and `up`.

    Notes
    -----
    Models are taken in the order of their values, 256 at a time. Bounds that hold for all of them
    decide most other models at once; only the rest is compared pair by pair, in memory for at most
    256 rows of L numbers. 100,000 models took 1.5 s of CPU time instead of 155 s. To delete this
    shortcut, let `mixed` be all columns.

    Examples
    --------
    >>> one = np.ones((1, 3))
    >>> lower_models(np.array([[0.0, 2.0, 5.0]]), one, one, one, np.inf)
    array([[0, 1, 2]])
    """
    value = np.where(np.isnan(down + up + c), np.nan, value)
    order = np.argsort(-value, axis=1, kind="stable")
    value, down, up, c = (np.take_along_axis(each, order, axis=1) for each in (value, down, up, c))
    counts = np.zeros(value.shape, dtype=np.int64)
    for start in range(0, value.shape[1], _ROWS):
        rows = slice(start, start + _ROWS)
        above = value[:, rows], down[:, rows], c[:, rows]
        every, some = _surely_below(*above, value, up, limit)
        mixed = np.flatnonzero((some & ~every).any(axis=0))
        every[:, mixed] = False
        counts[:, rows] = every.sum(axis=1, keepdims=True) * np.isfinite(above[0])
        counts[:, rows] += _pairs_below(*above, value[:, mixed], up[:, mixed], limit)
    found = np.empty_like(counts)
    np.put_along_axis(found, order, counts, axis=1)
    return found


def _surely_below(
    value: Floats, down: Floats, c: Floats, others: Floats, up: Floats, limit: float
) -> tuple[Mask, Mask]:
    """Masks of the other models clearly below all of some models, and below at least one."""
    known = np.isfinite(value)

    def least(numbers: Floats) -> Floats:
        return np.asarray(np.where(known, numbers, np.inf).min(axis=1, keepdims=True))

    def most(numbers: Floats) -> Floats:
        return np.asarray(np.where(known, numbers, -np.inf).max(axis=1, keepdims=True))

    every = np.minimum(least(value) - others, limit) > most(c) * np.hypot(most(down), up)
    some = np.minimum(most(value) - others, limit) > least(c) * np.hypot(least(down), up)
    return every, some


def _pairs_below(
    value: Floats, down: Floats, c: Floats, others: Floats, up: Floats, limit: float
) -> Ints:
    """Number of the other models that lie clearly below each model."""
    gap = np.minimum(value[:, :, None] - others[:, None, :], limit)
    reach = c[:, :, None] * np.hypot(down[:, :, None], up[:, None, :])
    return np.asarray((gap > reach).sum(axis=2))
