"""Credits of draws behind the verdicts of an imperfect judge."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats


def corrected_credit(credit: Floats, sensitivity: float, specificity: float) -> Floats:
    """Credit of the verdicts of a draw, whose mean is that of the truth.

    A verdict "right" stands for a right answer with the weight ``sp/J`` and for a wrong one with
    ``(se - 1)/J``; a verdict "wrong" with ``(sp - 1)/J`` and ``se/J``, where ``J = se + sp - 1``.
    Under errors of that size, independent from trial to trial, the weights have the mean 1 for what
    the answer is and 0 for what it is not, whatever the success rate of the question.

    Parameters
    ----------
    credit : ndarray of float, shape (k + 1,)
        ``credit[i]`` scores a draw with exactly i right answers.
    sensitivity, specificity : float
        Rates of the judge, whose sum is above 1.

    Returns
    -------
    ndarray of float, shape (k + 1,)
        ``h[j]`` scores a draw with j verdicts "right"; it may lie far outside [0, 1]. For Pass@k it
        is ``1 - ((se - 1)/J)^j (se/J)^(k - j)``.

    Examples
    --------
    A perfect judge needs no correction; else verdicts "right" are worth more, "wrong" less.

    >>> passed = np.array([0.0, 1.0, 1.0])
    >>> corrected_credit(passed, 1.0, 1.0)
    array([0., 1., 1.])
    >>> corrected_credit(passed, 0.9, 0.8).round(4)
    array([-0.6531,  1.1837,  0.9796])
    """
    k, index = credit.size - 1, sensitivity + specificity - 1
    judged_right = np.array([sensitivity - 1, specificity]) / index  # of wrong, of right answers
    judged_wrong = np.array([sensitivity, specificity - 1]) / index
    chances = _powers_by_successes(judged_right, judged_wrong, k)
    return np.asarray(chances @ credit)


def _powers_by_successes(first: Floats, second: Floats, k: int) -> Floats:
    """Coefficients of ``first(x)^j second(x)^(k - j)`` for j = 0..k, shape (k + 1, k + 1).

    Both are polynomials of degree 1, lowest power first.
    """
    table = np.ones((1, 1))
    for size in range(1, k + 1):
        wider = np.zeros((size + 1, size + 1))
        # From j successes in size - 1 verdicts: one more "wrong", then from the last one "right".
        wider[:-1, :-1] += second[0] * table
        wider[:-1, 1:] += second[1] * table
        wider[-1, :-1] += first[0] * table[-1]
        wider[-1, 1:] += first[1] * table[-1]
        table = wider
    return table
