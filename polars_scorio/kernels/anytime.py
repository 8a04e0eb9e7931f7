"""Critical values for intervals that hold at every look at a log that grows."""

from __future__ import annotations

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats

# Of the powers of 1 / (1 + z), from the fourth on; a fit of the exact values.
_COEFFICIENTS = (1.90823621, -3.48680112, 1.0032468, 1.67544282, -0.01215924)
_LARGEST = 37.0  # the normal tail of a larger value is no number any more


def planned_look_critical(z: Floats | float) -> Floats:
    """Critical values of a look at the plan, for a log that is looked at again and again [1]_.

    Parameters
    ----------
    z : float or ndarray of float
        Critical values of one look, not negative.

    Returns
    -------
    ndarray of float
        The c such that a Brownian motion B never crosses ``c t^(1/2) max(t, 1/t)^(1/4)``, on either
        side and for any t > 0, with the confidence of z. The fit is within 2e-4 of the exact value
        for confidences from .5 to .999999.

    Notes
    -----
    The exact values follow from a recursive integration of the stationary Ornstein-Uhlenbeck
    process in log t, with Siegmund's correction to continuous looks. The boundary is continued
    beyond the plan by time inversion, so that there is no last look.

    References
    ----------
    .. [1] S. K. Wang, A. A. Tsiatis (1987), Approximately optimal one-parameter boundaries for
       group sequential trials, Biometrics 43, 193-199: the family, here with Delta = 1/4.

    Examples
    --------
    >>> z = scipy.special.ndtri(np.array([0.95, 0.975, 0.995]))  # of 90, 95 and 99 %
    >>> planned_look_critical(z).round(3)
    array([2.26 , 2.519, 3.046])
    """
    return np.asarray(z + np.polyval(_COEFFICIENTS, 1 / (1 + np.asarray(z))))


def anytime_critical(z: Floats | float, information: Floats | float) -> Floats:
    """Critical values of a look at a share of the planned information.

    Parameters
    ----------
    z : float or ndarray of float
        Critical values of one look.
    information : float or ndarray of float
        Information now over the planned information, positive: trials of a question over planned
        ones, or questions over planned ones.

    Returns
    -------
    ndarray of float
        `planned_look_critical`, larger the further the look is from the plan, on either side.

    Examples
    --------
    Looks at a quarter of the plan, at the plan, and at four times the plan.

    >>> anytime_critical(1.96, np.array([0.25, 1.0, 4.0])).round(3)
    array([3.562, 2.519, 3.562])
    """
    share = np.asarray(information)
    critical = planned_look_critical(z) * np.maximum(share, 1 / share) ** 0.25
    return np.asarray(np.minimum(critical, _LARGEST))


def anytime_student_critical(t: Floats, information: Floats | float, freedom: Floats) -> Floats:
    """Critical values of Student's distribution, of a look at a share of the planned information.

    Parameters
    ----------
    t : ndarray of float
        Critical values of one look.
    information : float or ndarray of float
        As for `anytime_critical`.
    freedom : ndarray of float
        Degrees of freedom.

    Returns
    -------
    ndarray of float
        With the tail of the normal `anytime_critical`; NaN without degrees of freedom.

    Examples
    --------
    >>> anytime_student_critical(np.array([2.045]), 1.0, np.array([29.0])).round(3)
    array([2.688])
    """
    z = -scipy.special.ndtri(scipy.special.stdtr(freedom, -t))
    tail = scipy.special.ndtr(-anytime_critical(z, information))
    return np.asarray(-scipy.special.stdtrit(freedom, tail))
