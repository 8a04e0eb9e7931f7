"""Verdicts of gates, from the p-values of the strata and of all strata together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.simultaneous.holm import holm_adjusted

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"


def gate_verdicts(
    p_pass: Floats, p_fail: Floats, confidence: float, *, each: bool, simultaneous: bool
) -> NDArray[np.str_]:
    """Verdicts about each stratum of each candidate, and in the last column about all of them.

    Parameters
    ----------
    p_pass, p_fail : ndarray of float, shape (C, R)
        P-values of "not worse by more than the margin", and of "worse by more", of each candidate,
        stratum after stratum, the last one over all strata. NaN: above 1/2.
    confidence : float
        Of each verdict.
    each : bool
        Whether all strata must pass, not only their mean.
    simultaneous : bool
        Whether verdicts hold for all candidates at once.

    Returns
    -------
    ndarray of str, shape (C, R)
        A candidate fails if all of its strata together or any of them is worse, after Holm's
        adjustment. It passes if it does not fail and its mean passes; with `each` also all strata,
        which needs no adjustment: an intersection-union test [1]_.

    References
    ----------
    .. [1] R. L. Berger (1982), Technometrics 24(4), 295-300.

    Examples
    --------
    The mean is fine, but one stratum of two is surely worse.

    >>> p_pass, p_fail = np.array([[np.nan, 0.01, 0.03]]), np.array([[0.001, np.nan, np.nan]])
    >>> gate_verdicts(p_pass, p_fail, 0.95, each=False, simultaneous=False).tolist()
    [['fail', 'pass', 'fail']]
    """
    error = 1 - confidence
    family = p_fail.reshape(1, -1) if simultaneous else p_fail
    failed = (holm_adjusted(family) <= error).reshape(p_fail.shape)
    p_pass = np.where(np.isnan(p_pass), 1.0, p_pass)
    whole = p_pass.max(axis=1) if each else p_pass[:, -1]
    passed = p_pass <= error
    if simultaneous:
        whole = holm_adjusted(whole)
    passed[:, -1] = whole <= error
    failed[:, -1] = failed.any(axis=1)
    return np.where(failed, FAIL, np.where(passed, PASS, UNDECIDED))
