"""How far a forecast from a quarter of the trials misses what all of them show."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.chances import draw_chances
from polars_scorio.kernels.calibrated.error_polynomials import credit_of
from polars_scorio.kernels.calibrated.group_fits import Group
from polars_scorio.kernels.calibrated.variance_price import binomial

_FEWEST = 8  # trials


def holdout_error(group: Group, gains: Floats) -> float:
    """What the free fit expects of n trials after n // 4 of them, less what n trials show.

    Parameters
    ----------
    group : Group
        Its questions have equally many trials, n.
    gains : ndarray of float, shape (n,)
        What each success adds to the credit of all n trials.

    Returns
    -------
    float
        The mean over every choice of the n // 4 trials enters the fit; NaN below eight trials.

    Examples
    --------
    Of 8 trials half of the questions get all right, half none: two of them show that.

    >>> n, c, questions = np.array([8, 8]), np.array([0, 8]), np.array([50, 50])
    >>> round(holdout_error(Group.fit(n, c, questions), np.eye(8)[7]), 1)
    -0.0
    """
    n, part = int(group.n[0]), int(group.n[0]) // 4
    if n < _FEWEST or len(group.levels) > 1:
        return float("nan")
    c = np.arange(part + 1)
    # A share of a question is as good as a question to either fit.
    questions = group.questions @ draw_chances(n, part)[group.c]
    held = Group.fit(np.full_like(c, part), c, questions)
    credit = credit_of(gains)
    values = binomial(n, held.free.weight.size) @ credit
    expected = questions @ (held.free.posterior @ values)
    return float(expected - group.questions @ credit[group.c]) / group.size
