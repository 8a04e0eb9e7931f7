"""Between which ranks each model surely is."""

import numpy as np
from numpy.typing import NDArray

from polars_scorio.kernels.array_types import Floats, Ints, Mask

Signs = NDArray[np.int8]


def verdicts(mu: Floats, told: Mask) -> Signs:
    """Who is better in each pair that is told apart.

    Parameters
    ----------
    mu : ndarray of float, shape (S, L)
        Estimates, NaN where a stratum does not have the model.
    told : ndarray of bool, shape (S, L, L)
        Pairs that are told apart, as judged for the model of the row.

    Returns
    -------
    ndarray of int8, shape (S, L, L)
        1 where the model of the row is surely better than that of the column, -1 where it is surely
        worse, else 0: also where both estimates are the same.

    Examples
    --------
    >>> verdicts(np.array([[0.9, 0.1]]), np.ones((1, 2, 2), dtype=bool))
    array([[[ 0,  1],
            [-1,  0]]], dtype=int8)
    """
    above = mu[:, :, None] > mu[:, None, :]
    below = mu[:, :, None] < mu[:, None, :]
    return np.asarray((above & told).astype(np.int8) - (below & told).astype(np.int8))


def rank_ranges(signs: Signs, here: Mask) -> tuple[Ints, Ints]:
    """The best and the worst rank that each model can have [1]_.

    Parameters
    ----------
    signs : ndarray of int8, shape (S, L, L)
        `verdicts`. If all verdicts of a stratum are right at once, so are all of its ranges; if
        those of a row are, the range of that model is.
    here : ndarray of bool, shape (S, L)
        Which models a stratum has.

    Returns
    -------
    lo, hi : ndarray of int, shape (S, L)
        1 + how many are surely better, and how many there are less those that are surely worse;
        0 where a model is absent.

    References
    ----------
    .. [1] M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), Review of Economic Studies
       91(1), 476-518, section 3.

    Examples
    --------
    Of three models only the first and the last are told apart.

    >>> signs = np.array([[[0, 0, 1], [0, 0, 0], [-1, 0, 0]]], dtype=np.int8)
    >>> rank_ranges(signs, np.ones((1, 3), dtype=bool))
    (array([[1, 1, 2]]), array([[2, 3, 3]]))
    """
    better = (signs < 0).sum(axis=2)
    worse = (signs > 0).sum(axis=2)
    models = here.sum(axis=1, keepdims=True)
    return np.where(here, 1 + better, 0), np.where(here, models - worse, 0)
