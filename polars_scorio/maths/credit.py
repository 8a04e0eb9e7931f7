"""The credit of a draw of k trials, one function for each binary metric.

A credit comes as its *gains*, shape (k,): ``gains[r - 1] >= 0`` is what the r-th success adds, so a
draw with exactly j successes earns ``gains[0] + ... + gains[j - 1]``.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from polars_scorio.maths.array_rows import Floats

_ROUNDING = 1e-12
_LONG = 24  # trials from which on the sums of `area` cost less than those over successes


def any_success(k: int) -> Floats:
    """Gains of Pass@k: the first success earns everything.

    M. Chen et al. (2021), arXiv:2107.03374, eq. 1.
    """
    return _threshold_gains(k, 1)


def all_success(k: int) -> Floats:
    """Gains of Pass^k: only the k-th success earns anything.

    S. Yao et al. (2024), arXiv:2406.12045.
    """
    return _threshold_gains(k, k)


def at_least_share(k: int, tau: float) -> Floats:
    """Gains of G-Pass@k_tau: the smallest ``j >= 1`` with ``j/k >= tau`` earns everything.

    J. Liu et al. (2024), arXiv:2412.13147. Compared as doubles: 7 of 25 are .28, but ``ceil(0.28 *
    25)`` is 8.
    """
    j = np.arange(1, k + 1)
    return _threshold_gains(k, int(j[j / k >= tau][0]))


def at_least(t: int, k: int) -> Floats:
    """Gains of TailPass: the t-th success of k trials earns everything."""
    return _threshold_gains(k, t)


def majority_gains(k: int) -> Floats:
    """Gains of Maj@k: the success that makes more than half of the draw earns everything."""
    return _threshold_gains(k, k // 2 + 1)


def excess_over_half(k: int) -> Floats:
    """Gains of mG-Pass@k: ``2/k`` for each success beyond ``ceil(k/2)``, none at ``k = 1``.

    J. Liu et al. (2024), arXiv:2412.13147: ``2/k sum_j max(j - ceil(k/2), 0) P(J = j)``.
    """
    return np.where(np.arange(1, k + 1) > (k + 1) // 2, 2 / k, 0.0)


@lru_cache(maxsize=16)
def area_under_curve(k: int) -> Floats:
    """Gains of AUC@k by the trapezoid rule; a shared array, not to be written to.

    Z. Hu et al. (2026), arXiv:2601.08763. Pass@i of r - 1 successes grows by ``C(k - r, i - 1) /
    C(k, i)`` with the next one: ``(k + 1) / (r (r + 1))`` over all i, less half of both ends.
    """
    r = np.arange(2, k + 1)
    later = (2 * k * (k + 1) - r * (r + 1)) / (2 * k * (k - 1) * r * (r + 1))
    gains = np.concatenate(([(k + 1) / (2 * k)], later))
    gains.flags.writeable = False
    return gains


def spectrum_gains(k: int, weights: Sequence[float]) -> Floats:
    """Gains of a threshold spectrum: its k weights themselves.

    >>> spectrum_gains(2, (0.25, 0.75))
    array([0.25, 0.75])
    """
    return np.array(weights[:k], dtype=np.float64)


def only_success(gains: Floats) -> int | None:
    """Number of the success that earns everything; None if several earn something.

    >>> only_success(majority_gains(4)), only_success(excess_over_half(4))
    (3, None)
    """
    first = int(gains.argmax())
    alone = gains[first] > 0 and not (gains[:first].any() or gains[first + 1 :].any())
    return first + 1 if alone else None


def average_sides(gains: Floats) -> tuple[bool, bool]:
    """Whether the credit of 0..k successes is nowhere below their share, and nowhere above it.

    Then the mean credit is on that side of the success rate too, for questions of any rates.

    >>> average_sides(any_success(4)), average_sides(all_success(4))
    ((True, False), (False, True))
    >>> average_sides(majority_gains(4)), average_sides(any_success(1))
    ((False, False), (True, True))
    """
    excess = np.cumsum(gains) - np.arange(1, gains.size + 1) / gains.size
    return bool((excess >= -_ROUNDING).all()), bool((excess <= _ROUNDING).all())


def is_area(gains: Floats) -> bool:
    """Whether these are gains of AUC@k with enough trials for the functions of `area` to pay.

    >>> is_area(area_under_curve(100)), is_area(area_under_curve(3))
    (True, False)
    """
    k = gains.size
    if k < _LONG or gains[0] != (k + 1) / (2 * k):
        return False
    known = area_under_curve(k)
    return gains is known or np.array_equal(gains, known)


def _threshold_gains(k: int, success: int) -> Floats:
    gains = np.zeros(k)
    gains[success - 1] = 1.0
    return gains
