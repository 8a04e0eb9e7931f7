"""How far a forecast from a quarter of the trials misses what all of them show."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.batches import row_slices
from polars_scorio.kernels.calibrated.credit_sums import credit_of
from polars_scorio.kernels.calibrated.group_fits import Group
from polars_scorio.kernels.draws.chance_tables import draw_chance_rows
from polars_scorio.kernels.draws.credit_at_rates import credit_at

_FEWEST, _MOST = 8, 2**15  # trials; a quarter of the most has a fit of 70 MB


def holdout_error(group: Group, gains: Floats) -> float:
    """Forecast of n trials from n // 4 of them by the free fit, less the value of all n trials.

    Parameters
    ----------
    group : Group
        Its questions have equally many trials, n.
    gains : ndarray of float, shape (n,)
        What each success adds to the credit of all n trials.

    Returns
    -------
    float
        The mean over every choice of the n // 4 trials enters the fit; NaN below eight trials, and
        above 32,768, where the fit would need too much memory.

    Examples
    --------
    Of 8 trials half of the questions get all right, half none: two of them show that.

    >>> n, c, questions = np.array([8, 8]), np.array([0, 8]), np.array([50, 50])
    >>> round(holdout_error(Group.fit(n, c, questions), np.eye(8)[7]), 1)
    -0.0
    """
    n, part = int(group.n[0]), int(group.n[0]) // 4
    if not _FEWEST <= n <= _MOST or len(group.levels) > 1:
        return float("nan")
    c = np.arange(part + 1)
    # A share of a question is as good as a question to either fit.
    questions = np.zeros(part + 1)
    for rows in row_slices(group.c.size, part + 1):
        questions += group.questions[rows] @ draw_chance_rows(n, part, group.c[rows])
    held = Group.fit(np.full_like(c, part), c, questions)
    expected = questions @ (held.free.posterior @ credit_at(*held.free.rates, gains))
    return float(expected - group.questions @ credit_of(gains)[group.c]) / group.size
