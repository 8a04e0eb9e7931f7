"""Geom@k of a question as the credit of its successes, nearly without bias.

Geom@k of a question with success rate p is ``f(p) = (1 - (1 - p)^k)^a p^(kb)``. It is no polynomial
of p, so no function of the counts has it as its mean; a ridge regression on a grid of rates finds
one that comes close, and the largest deviation on the grid is the bias that an interval must add.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.free_fit import rates

_RIDGE = 0.001
_FEWEST, _PER_ROOT = 121, 15  # success rates of the grid, at least and per root of n


class RootCredit(NamedTuple):
    """Credit of c = 0, ..., n successes, shape (n + 1,), and the largest bias of its mean."""

    credit: Floats
    bias: float


@lru_cache(maxsize=1024)
def root_credit(n: int, k: int, pass_power: float, unanimous_power: float) -> RootCredit:
    """Credit of the successes of n trials whose mean is nearly Geom@k, whatever the success rate.

    Parameters
    ----------
    n, k : int
        Trials of the question and size of a draw, ``1 <= k <= n``.
    pass_power, unanimous_power : float
        Powers of Pass@k and of Pass^k, not negative and not both 0.

    Returns
    -------
    RootCredit
        Credit inside [0, 1], 0 for no success and 1 for n. The bias is 0 for n = 1.

    Examples
    --------
    >>> credit, bias = root_credit(2, 2, 0.5, 0.5)
    >>> credit.round(4), round(bias, 4)
    (array([0.    , 0.3584, 1.    ]), 0.0352)
    """
    p, _ = rates(max(_FEWEST, ceil(_PER_ROOT * n**0.5) + 1))
    passing = -np.expm1(k * np.log1p(-p[:-1]))
    wanted = np.append(passing**pass_power * p[:-1] ** (k * unanimous_power), 1.0)
    chances: Floats = np.asarray(scipy.stats.binom.pmf(np.arange(n + 1), n, p[:, None]))
    normal = (1 - _RIDGE) * chances.T @ chances + _RIDGE * np.diag(chances.sum(axis=0))
    credit = np.append(np.zeros(n), 1.0)
    inner = slice(1, n)
    right = chances[:, inner].T @ wanted - normal[inner, n]
    credit[inner] = np.linalg.solve(normal[inner, inner], right)
    credit = np.clip(credit, 0.0, 1.0)
    return RootCredit(credit, float(np.abs(chances @ credit - wanted).max()))
