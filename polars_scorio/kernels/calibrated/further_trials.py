"""Expected outcomes of further trials of the same questions, under the smooth fit."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import row_slices
from polars_scorio.kernels.draws.chance_tables import share_chances
from polars_scorio.kernels.draws.expected_credit import urn_chances

_URN_COST = 4  # an entry of `urn_chances` costs this many of the sum over states


def further_successes(
    failures: Floats, successes: Floats, n: int, c: Ints, questions: Ints | Floats, further: int
) -> Floats:
    """Expected number of questions with t = 0..D successes in D further trials, for each node.

    Whatever is a polynomial of the success rates, of degree D or less, has its posterior mean from
    these numbers: all metrics and k share them.

    Parameters
    ----------
    failures, successes : ndarray of float, shape (..., J)
        The Beta populations of some groups.
    n : int
        Trials of each question.
    c : ndarray of int, shape (S,)
        Successes of each state.
    questions : ndarray of int or float, shape (..., S)
        How many questions of a group share the state.
    further : int
        D.

    Returns
    -------
    ndarray of float, shape (..., J, D + 1)
        A group has the same numbers to the last bit, whatever the others are.

    Examples
    --------
    After one success in one trial of a uniform rate the next succeeds with chance 2/3.

    >>> uniform, one = np.array([1.0]), np.array([1])
    >>> further_successes(uniform, uniform, 1, one, one, 1).round(6)
    array([[0.333333, 0.666667]])
    """
    by_state = c.size * (further + 1) * _URN_COST
    by_node = (n + further + 1) * _URN_COST + c.size * (further + 1)
    alone = by_state < by_node
    method, columns = (_from_posteriors, further) if alone else (_from_prior, n + further)
    expected = np.empty((further + 1, *failures.shape))
    for nodes in row_slices(failures.shape[-1], columns + 1):
        expected[..., nodes] = method(
            failures[..., nodes], successes[..., nodes], n, c, questions, further
        )
    return np.moveaxis(expected, 0, -1)


def _from_prior(
    b: Floats, a: Floats, n: int, c: Ints, questions: Ints | Floats, further: int
) -> Floats:
    """By the successes in all n + D trials, whose chances the states share."""
    both, first = (_node_chances(a, b, size) for size in (n + further, n))
    expected = np.zeros((further + 1, *a.shape))
    term, column = np.empty_like(expected), (-1, *(1,) * a.ndim)
    for state, share in enumerate(share_chances(n, further, c)):
        successes, known = int(c[state]), first[c[state]]
        # A node to which some state is impossible (in floating point) has no weight worth the name.
        of_node = np.zeros_like(known)
        np.divide(questions[..., state, None], known, out=of_node, where=known > 0)
        np.multiply(both[successes : successes + further + 1], of_node, out=term)
        term *= share.reshape(column)
        expected += term
    return expected


def _from_posteriors(
    b: Floats, a: Floats, n: int, c: Ints, questions: Ints | Floats, further: int
) -> Floats:
    """State by state: cheaper where few states share their n."""
    expected = np.zeros((further + 1, *a.shape))
    for successes, shared in zip(c.tolist(), np.moveaxis(questions, -1, 0), strict=True):
        chances = _node_chances(a + successes, b + (n - successes), further)
        expected += np.asarray(shared)[..., None] * chances
    return expected


def _node_chances(a: Floats, b: Floats, size: int) -> Floats:
    """Chances of 0..size successes in so many trials, for each node, shape (size + 1, ..., J).

    As `urn_chances`, but each step multiplies all nodes at once: half the time for 700 nodes.
    """
    drawn = np.arange(float(size)).reshape(-1, *(1,) * a.ndim)
    chances = np.empty((size + 1, *a.shape))
    chances[0] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        ratios = (size - drawn) * (a + drawn)
        ratios /= (drawn + 1) * (b + (size - 1 - drawn))
        for trial in range(size):
            np.multiply(chances[trial], ratios[trial], out=chances[trial + 1])
        total = chances.sum(axis=0)
        chances /= total
    lost = ~np.isfinite(total)
    if lost.any():
        chances[:, lost] = urn_chances(a[lost], b[lost], size).T
    return chances
