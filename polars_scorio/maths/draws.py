"""Expected credit of draws without replacement, and tables of their chances.

A binary metric comes as its *gains*, shape (k,): ``gains[r - 1] >= 0`` is what the r-th success of
a draw adds, so a draw with exactly j successes earns ``gains[0] + ... + gains[j - 1]``. As no gain
is negative, sums have terms of one sign: nothing cancels, and results keep their relative accuracy.
No sum is a matrix product: its last digit would depend on which states come together.

The chances of draws from all contents of an urn are needed at once, and again for the next group: a
table of logs is much faster than a pmf of each, and small tables are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import scipy
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from polars_scorio.maths import area, powers
from polars_scorio.maths.array_rows import CELLS, Floats, Ints, Mask, row_slices

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


# The draws from questions with n trials each, shape (S,): the states whose draws have one size, and
# the gains of such a draw.
DrawsOf = Callable[[Ints], Iterator[tuple[slice | Mask, Floats]]]


def expected_credit(n: Ints, c: Ints, gains: Floats) -> Floats:
    """Expected credit of k of n trials drawn without replacement, shape (S,); NaN if ``k > n``.

    ``E[gains[0] + ... + gains[J - 1]]``, ``J ~ Hypergeometric(n, c, k)``. ValueError if the shapes
    differ: broadcasting would hide it.
    """
    _check_shapes(n=n, c=c)
    known = n >= gains.size
    if known.all():
        return _drawn_credit_mean(n, c, gains)
    credit = np.full(n.shape, np.nan)
    if known.any():
        credit[known] = _drawn_credit_mean(n[known], c[known], gains)
    return credit


def credit_moments(a: Floats, b: Floats, gains: Floats) -> tuple[Floats, Floats]:
    """Posterior mean and variance of the expected credit of k new trials, shape (S,).

    Of ``g(p) = E[gains[0] + ... + gains[J - 1] | p]``, ``J ~ Binomial(k, p)``, ``p ~ Beta(a, b)``.
    Never negative; a variance under 1e-280 may lose digits, down to 0.
    """
    _check_shapes(a=a, b=b)
    k, success = gains.size, only_success(gains)
    if success == 1:
        _, rest, variance = powers.no_success(a, b, k)
        return gains[0] * rest, gains[0] ** 2 * variance
    if success == k:
        chance, _, variance = powers.no_success(b, a, k)
        return gains[-1] * chance, gains[-1] ** 2 * variance
    if is_area(gains):
        return area.area_moments(a, b, k)
    return _blockwise_values(_urn_mean, a, b, gains), _blockwise_values(
        _urn_covariance, a, b, gains, gains
    )


def credit_by_state(a: Floats, b: Floats, counts: Ints, gains: Floats) -> tuple[Floats, Floats]:
    """`credit_moments` (S, J) of populations Beta(a, b), shape (J,), after each state's trials.

    `counts` (S, 2): failures and successes.
    """
    k, success = gains.size, only_success(gains)
    failures, successes = counts.T
    if success not in {1, k}:
        flat = (np.add.outer(c, each).ravel() for c, each in ((successes, a), (failures, b)))
        mean, variance = credit_moments(next(flat), next(flat), gains)
        return mean.reshape(-1, a.size), variance.reshape(-1, a.size)
    # Pass^k is what the failures of Pass@k are, with the roles exchanged.
    urns, c = ((a, b), successes) if success == 1 else ((b, a), failures)
    n, gain = counts.sum(axis=1), float(gains.sum())
    moments = np.empty((2, len(counts), a.size))
    for trials in np.unique(n).tolist():
        rows = np.flatnonzero(n == trials)
        rows = rows[np.argsort(c[rows], kind="stable")]
        chance, rest, spread = powers.no_success_by_state(*urns, trials, c[rows], k)
        place = _row_slice(rows)
        moments[0, place] = gain * (rest if success == 1 else chance)
        moments[1, place] = gain**2 * spread
    return moments[0], moments[1]


def _row_slice(rows: Ints) -> Ints | slice:
    """Rows as a slice if they are consecutive: several times as fast to assign to."""
    if rows.size < 2 or not (np.diff(rows) == (step := int(np.sign(rows[1] - rows[0])))).all():
        return rows
    stop = int(rows[-1]) + step
    return slice(int(rows[0]), stop if stop >= 0 else None, step)


def credit_covariance(a: Floats, b: Floats, gains: Floats, other: Floats) -> Floats:
    """Posterior covariance of the expected credits of draws of k and of m trials, shape (S,).

    ``Cov(g(p), h(p))`` under ``p ~ Beta(a, b)``, as in `credit_moments`: never negative, as both
    grow with p; under 1e-280 it may lose digits, down to 0.
    """
    _check_shapes(a=a, b=b)
    k, m = gains.size, other.size
    if _is_power(gains) and _is_power(other):
        first, second = (only_success(each) == 1 for each in (gains, other))
        if not first:  # Pass^k is what the failures of Pass@k are, with the roles exchanged.
            a, b = b, a
        product = powers.power_covariance(a, b, k, m, mixed=first != second)
        return float(gains.sum() * other.sum()) * product
    if np.count_nonzero(gains) < np.count_nonzero(other):
        gains, other = other, gains  # The work grows with the second.
    return _blockwise_values(_urn_covariance, a, b, gains, other)


def _is_power(gains: Floats) -> bool:
    """Whether the first success earns everything, or the last."""
    return only_success(gains) in {1, gains.size}


def _drawn_credit_mean(n: Ints, c: Ints, gains: Floats) -> Floats:
    """`expected_credit` if there are enough trials."""
    k, success = gains.size, only_success(gains)
    if success == 1:
        return float(gains[0]) * powers.no_success_drawn(n, c, k)[1]
    if success == k:
        return float(gains[-1]) * powers.no_success_drawn(n, n - c, k)[0]
    if is_area(gains):
        return area.area_drawn(n, c, k)
    # Drawing without replacement is Polya's urn with a negative content (see `urn_chances`).
    return _blockwise_values(_urn_mean, -c.astype(float), (c - n).astype(float), gains)


def _urn_mean(a: Floats, b: Floats, gains: Floats) -> Floats:
    """Mean credit of a draw from the urns of `urn_chances`."""
    credit = np.concatenate(([0.0], np.cumsum(gains)))
    mean: Floats = (urn_chances(a, b, gains.size) * credit).sum(axis=1).clip(max=credit[-1])
    return mean


def _urn_covariance(a: Floats, b: Floats, gains: Floats, other: Floats) -> Floats:
    """Covariance of two credits, as a sum over positive terms.

    Both grow with the successes J of a first draw, so Hoeffding's identity (E. L. Lehmann 1966,
    Ann. Math. Statist. 37, Lemma 2) splits ``Cov(credit_J, E[other | J])`` into such terms.
    """
    k, m = gains.size, other.size
    chances = urn_chances(a, b, k)
    s = np.arange(1.0, k + 1)
    # H_s - H_{s-1} = m / (a + b + k) joint_s / P(S = s - 1), with S as in `_joint_terms`, and
    # P(S = s - 1) = given_s (a + b) (a + b + 1) / (k a b (a + b + k)). A tiny b asks for (k - s).
    given = chances[:, 1:] * s * (b[:, None] + (k - s))
    joint = _joint_terms(urn_chances(a + 1, b + 1, k + m - 2), k, other)
    rise = np.divide(joint, given, out=np.zeros_like(joint), where=given > 0)
    total: Floats = (rise * _spread_terms(chances, gains)).sum(axis=1)
    return total * (k * m * a * b / ((a + b) * (a + b + 1)))


def _spread_terms(chances: Floats, gains: Floats) -> Floats:
    """``sum_r gains_r P(J >= max(r, s)) P(J < min(r, s))`` for s = 1..k, shape (S, k)."""
    below = np.cumsum(chances[:, :-1], axis=1)
    above = np.cumsum(chances[:, :0:-1], axis=1)[:, ::-1]
    spread: Floats = above * np.cumsum(gains * below, axis=1)
    spread[:, :-1] += below[:, :-1] * np.cumsum((gains * above)[:, :0:-1], axis=1)[:, ::-1]
    return spread


def _joint_terms(pooled: Floats, k: int, gains: Floats) -> Floats:
    """``sum_r gains_r P(S = s - 1, R = r - 1)`` for s = 1..k, shape (S, k).

    S and R are the successes in k - 1 and m - 1 of k + m - 2 trials; `pooled`: the chances of S +
    R.
    """
    joint, paid = np.zeros((pooled.shape[0], k)), np.flatnonzero(gains)
    for part in np.split(paid, np.flatnonzero(np.diff(paid // max(CELLS // k, 1))) + 1):
        if part.size:
            first, last = int(part[0]), int(part[-1])
            sums = sliding_window_view(pooled[:, first : last + k], last - first + 1, axis=1)
            share = _shared_successes(k, gains.size, first, last) * gains[first : last + 1]
            joint += np.einsum("isr,sr->is", sums, share)
    return joint


@lru_cache(maxsize=32)
def _shared_successes(k: int, m: int, first: int, last: int) -> Floats:
    """``P(S = s - 1 | S + R = s + r - 2)`` for each s and r - 1 = first..last (see `_joint_terms`).

    No state enters. It is ``(k + m - 1) / m P(J = s - 1)``, J of k - 1 draws from an urn (r, m - r
    + 1) of `urn_chances`.
    """
    r = np.arange(first + 1.0, last + 2)
    return np.ascontiguousarray(urn_chances(r, m + 1 - r, k - 1).T * ((k + m - 1) / m))


def urn_chances(a: Floats, b: Floats, k: int) -> Floats:
    """Chances of 0..k successes in k draws from Polya's urns, shape (S, k + 1).

    After j successes in i draws the next one succeeds with chance ``(a + j) / (a + b + i)``: the
    beta-binomial if a, b > 0, the hypergeometric of n and c if ``a = -c``, ``b = c - n``.

    >>> urn_chances(np.array([1.0]), np.array([1.0]), 3)  # uniform
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    j = np.arange(float(k))
    chances = np.ones((a.size, k + 1))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratios = (k - j) * (a[:, None] + j)
        ratios /= (j + 1) * (b[:, None] + (k - 1 - j))
        np.cumprod(ratios, axis=1, out=chances[:, 1:])
        total = chances.sum(axis=1, keepdims=True)
        chances /= total
    # No success at all may be impossible, or so much rarer than the mean that products overflow.
    lost = ~np.isfinite(total[:, 0])
    if lost.any():
        chances[lost] = _outward_chances(a[lost], b[lost], k)
    return chances


def _outward_chances(a: Floats, b: Floats, k: int) -> Floats:
    """`urn_chances` by products that run outwards from the mean: none leaves the support."""
    a, b, j = a[:, None], b[:, None], np.arange(float(k))
    up, down = (k - j) * (a + j), (j + 1) * (b + (k - 1 - j))
    outer = j + 0.5 >= k * a / (a + b)
    onward = np.divide(up, down, out=np.ones_like(up), where=outer)
    back = np.divide(down, up, out=np.ones_like(up), where=~outer)
    chances = np.ones((a.size, k + 1))
    np.cumprod(onward, axis=1, out=chances[:, 1:])
    chances[:, :-1] *= np.cumprod(back[:, ::-1], axis=1)[:, ::-1]
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _blockwise_values(
    kernel: Callable[..., Floats], a: Floats, b: Floats, *gains: Floats
) -> Floats:
    """``kernel(a, b, *gains)``, for so many states at a time that temporaries stay in the cache."""
    result = np.empty(a.shape)
    for block in row_slices(a.size, sum(each.size for each in gains)):
        result[block] = kernel(a[block], b[block], *gains)
    return result


def _check_shapes(**states: NDArray[np.generic]) -> None:
    (first, x), (second, y) = states.items()
    if x.shape != y.shape:
        raise ValueError(
            f"{first} and {second} must have the same shape, got {x.shape} and {y.shape}"
        )


_KEPT = 2**14  # numbers of a table that is worth keeping: 128 kB
_TABULATED = 4096  # trials of an urn up to which logs of binomial coefficients come from a table


@lru_cache(maxsize=32)
def log_binomials(n: int) -> Floats:
    """``ln C(n, j)`` for j = 0..n.

    >>> np.exp(log_binomials(4)).round(9)
    array([1., 4., 6., 4., 1.])
    """
    logs = scipy.special.gammaln(np.arange(1.0, n + 2))
    binomials: Floats = logs[-1] - logs - logs[::-1]
    return binomials


def draw_chances(total: int, size: int) -> Floats:
    """Chances of j successes (column) in a draw without replacement from u successes (row).

    Shape (total + 1, size + 1); not to be written to.
    """
    kept = (total + 1) * (size + 1) <= _KEPT
    return _kept_chances(total, size) if kept else _all_chances(total, size)


def _all_chances(total: int, size: int) -> Floats:
    return draw_chance_rows(total, size, np.arange(total + 1))


_kept_chances = lru_cache(maxsize=512)(_all_chances)


def draw_chance_rows(total: int, size: int, successes: Ints) -> Floats:
    """Rows of `draw_chances` for these successes in the urn, shape (S, size + 1).

    Beyond 4,096 trials in the urn, `total` changes neither time nor memory.
    """
    if total > _TABULATED:
        # Polya's urn with a negative content is an urn without replacement.
        return urn_chances(
            -successes.astype(np.float64), (successes - total).astype(np.float64), size
        )
    u, j = successes[:, None], np.arange(size + 1)
    rest = u - j
    possible = (rest >= 0) & (rest <= total - size)
    others = log_binomials(total - size)[np.where(possible, rest, 0)]
    logs = log_binomials(size) + others - log_binomials(total)[u]
    return np.where(possible, np.exp(np.where(possible, logs, 0.0)), 0.0)


def overlap_chances(total: int, size: int) -> Floats:
    """Chances that two draws of equal size from `total` trials have 0..size trials in common.

    One row of `draw_chances`, in time and memory that do not depend on `total`.
    """
    return np.asarray(draw_chance_rows(total, size, np.array([size]))[0])


def binomial_chances(n: int, p: Floats, q: Floats) -> Floats:
    """Chances of 0..n successes in n trials at rates p = 1 - q, shape (I, n + 1)."""
    j = np.arange(n + 1.0)
    with np.errstate(divide="ignore"):  # xlogy(1, 0) is -inf, as it should be
        logs = (
            log_binomials(n)
            + scipy.special.xlogy(j, p[:, None])
            + scipy.special.xlogy(n - j, q[:, None])
        )
    chances: Floats = np.exp(logs)
    return chances
