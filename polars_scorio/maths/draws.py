"""Expected credit of draws without replacement, and tables of their chances.

A binary metric comes as its *gains*, shape (k,): ``gains[r - 1] >= 0`` is what the r-th success of
a draw adds, so that nothing cancels. No sum is a matrix product: its last digit would depend on
which states come together. Chances come from tables of logs, of which small ones are cached.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from math import ceil, factorial
from typing import NamedTuple

import numpy as np
import scipy
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from polars_scorio.maths.array_rows import CELLS, Floats, Ints, Mask, row_slices

# Sums of logs are differences of log gamma by Stirling's formula: a few logs, none of which exceeds
# a few times the sum, and a series. Nothing large cancels. Short products are multiplied out.
_SUMS_ALIVE = 24  # arrays in use at a time
_FAR = 16  # from here on the series has all digits; as many trials before it are multiplied out
_GROUP = 8  # factors of a product, which overflows beyond odds of 1e38
_SERIES = (-1 / 24, 7 / 2880, -31 / 40320, 127 / 215040, -511 / 608256)


def sum_of_logs(a: Floats, b: Floats, k: int) -> Floats:
    """Sum of ``log1p(a / (b + i))``, i < k, for each state, to about 1e-15; infinite if b is 0."""
    # Stirling's formula of ``log gamma(t + 1/2)``: NIST DLMF 5.11.8. a below 1e38.
    return _summed_logs(a, b, k, operator.truediv, _far_logs)


def sum_of_gaps(a: Floats, b: Floats, k: int, m: int) -> Floats:
    """``sum_of_logs(a, b, k) - sum_of_logs(a, b + m, k)``, accurate to its last digits."""
    # The sum of ``log1p(m a / ((a + b + m + i) (b + i)))``, i < k; `b` is positive.
    return _summed_logs(a, b, k, lambda x, y: m / (x + y + m) * (x / y), partial(_far_gaps, m=m))


def _summed_logs(
    a: Floats, b: Floats, k: int, odds: Callable[..., Floats], rest: Callable[..., Floats]
) -> Floats:
    """Sum of ``log1p(odds(a, b + i))``: term by term if b + i is small, then `rest`."""
    total, few = np.empty_like(a), min(k, _FAR)
    for block in row_slices(a.size, _SUMS_ALIVE):
        part, x, y = total[block], a[block], b[block]
        near = y < _FAR
        first = np.where(near, float(few), 0.0)
        part[:] = rest(x, y + (first - 0.5), k - first)
        if not near.any():
            continue
        x, y = x[near], y[near]
        for start in range(0, few, _GROUP):
            # A product less 1, of factors above 1: to its own last digits.
            product = odds(x, y + start)
            for i in range(start + 1, min(start + _GROUP, few)):
                term = odds(x, y + i)
                term += term * product
                product += term
            part[near] += np.log1p(product)
    return total


def _far_logs(a: Floats, t: Floats, k: Floats) -> Floats:
    """`sum_of_logs` at ``b = t + 1/2``, if that is large."""
    t_k = t + k
    total = k * np.log1p(a / t_k)
    total += a * np.log1p(k / (t + a))
    total -= t * np.log1p(a / t * (k / (t_k + a)))
    start, end = _series_of_gap(np.array([t, t_k]), a)
    total += start - end
    return total


def _far_gaps(a: Floats, t: Floats, k: Floats, m: int) -> Floats:
    """`sum_of_gaps` at ``b = t + 1/2``, if that is large: a, k and m have symmetric roles."""
    t_a, t_k, t_m = t + a, t + k, t + m
    t_ak, t_am, t_km = t_a + k, t_a + m, t_k + m
    end = t_am + k
    total = a * np.log1p(k / t_a * (m / end))
    total += k * np.log1p(a / t_k * (m / end))
    total += m * np.log1p(a / t_m * (k / end))
    total -= t * np.log1p(a / t_ak * (k / t_km) * (m / t_am) * ((t + end) / t))
    series = _series_of_gap(np.array([t, t_k, t_m, t_km]), a)
    total += series[0] - series[1] - series[2] + series[3]
    return total


def _series_of_gap(t: Floats, a: Floats) -> Floats:
    """Stirling's series at t less that at ``t + a``, in odd powers of ``u = 1/t`` and ``v``."""
    # ``u p(u^2) - v p(v^2)`` is ``(u - v) (p(u^2) + v (u + v) slope)``, with the slope of p between
    # both squares, and ``u - v = a u v``: no difference is taken.
    u, v = 1 / t, 1 / (t + a)
    square, other = u * u, v * v
    value, slope = np.full_like(t, _SERIES[-1]), np.zeros_like(t)
    for factor in _SERIES[-2::-1]:
        slope *= other
        slope += value
        value *= square
        value += factor
    slope *= v * (u + v)
    value += slope
    value *= a * u * v
    return value


_SHORT = 32  # trials up to which products cost less than sums of logs
_POWERS_ALIVE = 12  # arrays in use at a time


def power_chances(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats]:
    """``E[q**k]``, q the chance of a failure, ``p ~ Beta(a, b)``, and its complement.

    Both are accurate to their last digits; `b` may be 0: no trial ever fails.

    >>> chance, rest = power_chances(np.array([1.0, 1.0]), np.array([1.0, 0.0]), 3)
    >>> chance, rest
    (array([0.25, 0.  ]), array([0.75, 1.  ]))
    """
    if k > _SHORT:
        logs = log_none(a, b, k)
        return np.exp(logs), -np.expm1(logs)
    chance, rest = np.ones(a.size), np.zeros(a.size)
    for block in row_slices(a.size, _POWERS_ALIVE):
        _multiply_chances(a[block], b[block], k, chance[block], rest[block])
    return chance, rest


def chances_and_growth(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """``E[q**k]``, its complement, and ``E[q**2k] / E[q**k] - E[q**k]``, as `power_chances`.

    The first times the last is the variance of ``q**k``.

    >>> uniform = np.array([1.0])
    >>> print(*(part * 15 for part in chances_and_growth(uniform, uniform, 2)))
    [5.] [10.] [4.]
    """
    if k > _SHORT:
        logs, log_ratio = log_none(a, b, k), sum_of_gaps(a, b, k, k)
        growth = np.exp(logs + log_ratio) * -np.expm1(-log_ratio)
        return np.exp(logs), -np.expm1(logs), growth
    chance, rest, growth = np.ones(a.size), *np.zeros((2, a.size))
    for block in row_slices(a.size, _POWERS_ALIVE):
        _multiply_chances(a[block], b[block], k, chance[block], rest[block])
        _add_growth(a[block], b[block], k, growth[block])
    return chance, rest, growth


def no_success_drawn(n: Ints, c: Ints, k: int) -> tuple[Floats, Floats]:
    """Chance that a draw of k of the n trials has none of the c successes, and its complement."""
    if k <= _SHORT:
        # Polya's urn with a negative content (see `draws.urn_chances`).
        chance, rest = power_chances(-c.astype(float), (c - n).astype(float), k)
    else:
        # The factors (left + i) / (left + c + i), i < k: as of an urn that is never emptied.
        left = n - c - (k - 1)
        some = np.flatnonzero(left > 0)
        chance, rest = np.empty((2, n.size))
        chance[some], rest[some] = power_chances(c[some].astype(float), left[some].astype(float), k)
    # Too few failures: no rounding there.
    none = n - c < k
    chance[none], rest[none] = 0.0, 1.0
    return chance, rest


def log_none(a: Floats, b: Floats, k: int) -> Floats:
    """``ln E[q**k]``, ``q ~ Beta(b, a)``: minus the sum of ``log1p(a / (b + i))``, i < k."""
    with np.errstate(divide="ignore"):  # Where no trial ever fails, the log is -inf.
        return -sum_of_logs(a, b, k)


def power_covariance(a: Floats, b: Floats, k: int, m: int, *, mixed: bool) -> Floats:
    """Covariance of ``1 - q**k`` and ``1 - q**m``; if `mixed`, of ``1 - q**k`` and ``p**m``."""
    # ``E[q**(k + m)]`` is ``E[q**k] E[q**m]`` times the product of ``1 + m a / ((a + b + m + i) (b
    # + i))``, and ``E[q**k p**m]`` is ``E[q**k] E[p**m]`` over that of ``1 + m / (a + b + i)``, i <
    # k.
    first = log_none(a, b, k)
    second = log_none(b, a, m) if mixed else log_none(a, b, m)
    if mixed:
        log_ratio = sum_of_logs(np.full_like(a, m), a + b, k)
        both = first + second
    else:
        log_ratio = sum_of_gaps(a, b, k, m)
        both = first + second + log_ratio
    product: Floats = np.exp(both) * -np.expm1(-log_ratio)
    return product


def _multiply_chances(a: Floats, b: Floats, k: int, chance: Floats, rest: Floats) -> None:
    """`chances` trial by trial, into arrays of ones and zeros."""
    total, now, left, term = a + b, *np.empty((3, a.size))
    for i in range(k):
        chance /= np.add(total, i, out=now)
        rest += np.multiply(chance, a, out=term)
        chance *= np.add(b, i, out=left)
    np.minimum(rest, 1.0, out=rest)


def _add_growth(a: Floats, b: Floats, k: int, growth: Floats) -> None:
    """Add the growth trial by trial to an array of zeros."""
    # The difference of the products of ``later_i = (b + k + i) / (a + b + k + i)`` and ``now_i = (b
    # + i) / (a + b + i)``, i < k, is the sum of ``later_0 ... later_{i-1} (later_i - now_i)
    # now_{i+1} ... now_{k-1}``, all positive.
    total, gap = a + b, k * a
    later, term = np.ones(a.size), np.empty(a.size)
    for i in range(k):
        later /= np.add(total, k + i, out=term)
        growth *= np.add(b, i, out=term)
        growth += np.multiply(later, gap, out=term)
        growth /= np.add(total, i, out=term)
        later *= np.add(b, k + i, out=term)


_ROUNDING = 1e-12
_LONG = 24  # trials from which on the sums of `area` cost less than those over successes


def any_success(k: int) -> Floats:
    """Gains of Pass@k: the first success earns everything."""
    # M. Chen et al. (2021), arXiv:2107.03374, eq. 1.
    return at_least(1, k)


def all_success(k: int) -> Floats:
    """Gains of Pass^k: only the k-th success earns anything."""
    # S. Yao et al. (2024), arXiv:2406.12045.
    return at_least(k, k)


def at_least_share(k: int, tau: float) -> Floats:
    """Gains of G-Pass@k_tau: the smallest ``j >= 1`` with ``j/k >= tau`` earns everything."""
    # J. Liu et al. (2024), arXiv:2412.13147. Compared as doubles: 7 of 25 are .28, but ``ceil(0.28
    # * 25)`` is 8.
    j = np.arange(1, k + 1)
    return at_least(int(j[j / k >= tau][0]), k)


def at_least(t: int, k: int) -> Floats:
    """Gains of TailPass: the t-th success of k trials earns everything."""
    gains = np.zeros(k)
    gains[t - 1] = 1.0
    return gains


def majority_gains(k: int) -> Floats:
    """Gains of Maj@k: the success that makes more than half of the draw earns everything."""
    return at_least(k // 2 + 1, k)


def excess_over_half(k: int) -> Floats:
    """Gains of mG-Pass@k: ``2/k`` for each success beyond ``ceil(k/2)``, none at ``k = 1``."""
    # J. Liu et al. (2024), arXiv:2412.13147: ``2/k sum_j max(j - ceil(k/2), 0) P(J = j)``.
    return np.where(np.arange(1, k + 1) > (k + 1) // 2, 2 / k, 0.0)


@lru_cache(maxsize=16)
def area_under_curve(k: int) -> Floats:
    """Gains of AUC@k by the trapezoid rule; a shared array, not to be written to."""
    # Z. Hu et al. (2026), arXiv:2601.08763. Pass@i of r - 1 successes grows by ``C(k - r, i - 1) /
    # C(k, i)`` with the next one: ``(k + 1) / (r (r + 1))`` over all i, less half of both ends.
    r = np.arange(2.0, k + 1)  # integers would overflow from k = 50,000 on
    later = (2 * k * (k + 1) - r * (r + 1)) / (2 * k * (k - 1) * r * (r + 1))
    gains = np.concatenate(([(k + 1) / (2 * k)], later))
    gains.flags.writeable = False
    return gains


def spectrum_gains(k: int, weights: Sequence[float]) -> Floats:
    """Gains of a threshold spectrum: its k weights themselves."""
    return np.array(weights[:k], dtype=np.float64)


def only_success(gains: Floats) -> int | None:
    """Number of the success that earns everything; None if several earn something."""
    first = int(gains.argmax())
    alone = gains[first] > 0 and not (gains[:first].any() or gains[first + 1 :].any())
    return first + 1 if alone else None


def average_sides(gains: Floats) -> tuple[bool, bool]:
    """Whether the credit of 0..k successes is nowhere below their share, and nowhere above it."""
    # Then the mean credit is on that side of the success rate too, for questions of any rates.
    excess = np.cumsum(gains) - np.arange(1, gains.size + 1) / gains.size
    return bool((excess >= -_ROUNDING).all()), bool((excess <= _ROUNDING).all())


def is_area(gains: Floats) -> bool:
    """Whether these are gains of AUC@k with enough trials for the functions of `area` to pay."""
    k = gains.size
    if k < _LONG or gains[0] != (k + 1) / (2 * k):
        return False
    known = area_under_curve(k)
    return gains is known or np.array_equal(gains, known)


# The draws from questions with n trials each, shape (S,): the states whose draws have one size, and
# the gains of such a draw.
DrawsOf = Callable[[Ints], Iterator[tuple[slice | Mask, Floats]]]


def expected_credit(n: Ints, c: Ints, gains: Floats) -> Floats:
    """Expected credit of k of n trials drawn without replacement, shape (S,); NaN if ``k > n``."""
    # ``E[gains[0] + ... + gains[J - 1]]``, ``J ~ Hypergeometric(n, c, k)``.
    _check_shapes(n=n, c=c)
    known = n >= gains.size
    if known.all():
        return _drawn_credit_mean(n, c, gains)
    credit = np.full(n.shape, np.nan)
    credit[known] = _drawn_credit_mean(n[known], c[known], gains)
    return credit


def credit_moments(a: Floats, b: Floats, gains: Floats) -> tuple[Floats, Floats]:
    """Posterior mean and variance of the expected credit of k new trials, shape (S,)."""
    # Of ``g(p) = E[gains[0] + ... + gains[J - 1] | p]``, ``J ~ Binomial(k, p)``, ``p ~ Beta(a,
    # b)``. Never negative; a variance under 1e-280 may lose digits, down to 0.
    _check_shapes(a=a, b=b)
    k, success = gains.size, only_success(gains)
    if success == 1:
        chance, rest, growth = chances_and_growth(a, b, k)
        return gains[0] * rest, gains[0] ** 2 * (chance * growth)
    if success == k:
        chance, _, growth = chances_and_growth(b, a, k)
        return gains[-1] * chance, gains[-1] ** 2 * (chance * growth)
    if is_area(gains):
        return area_moments(a, b, k)
    return _blockwise_values(_urn_mean, a, b, gains), _blockwise_values(
        _urn_covariance, a, b, gains, gains
    )


def credit_covariance(a: Floats, b: Floats, gains: Floats, other: Floats) -> Floats:
    """Posterior covariance of the expected credits of draws of k and of m trials, shape (S,)."""
    # ``Cov(g(p), h(p))`` under ``p ~ Beta(a, b)``, as in `credit_moments`: never negative, as both
    # grow with p; under 1e-280 it may lose digits, down to 0.
    _check_shapes(a=a, b=b)
    k, m = gains.size, other.size
    if _is_power(gains) and _is_power(other):
        first, second = (only_success(each) == 1 for each in (gains, other))
        if not first:  # Pass^k is what the failures of Pass@k are, with the roles exchanged.
            a, b = b, a
        product = power_covariance(a, b, k, m, mixed=first != second)
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
        return float(gains[0]) * no_success_drawn(n, c, k)[1]
    if success == k:
        return float(gains[-1]) * no_success_drawn(n, n - c, k)[0]
    if is_area(gains):
        return area_drawn(n, c, k)
    # Drawing without replacement is Polya's urn with a negative content (see `urn_chances`).
    return _blockwise_values(_urn_mean, -c.astype(float), (c - n).astype(float), gains)


def _urn_mean(a: Floats, b: Floats, gains: Floats) -> Floats:
    """Mean credit of a draw from the urns of `urn_chances`."""
    credit = np.concatenate(([0.0], np.cumsum(gains)))
    mean: Floats = (urn_chances(a, b, gains.size) * credit).sum(axis=1).clip(max=credit[-1])
    return mean


def _urn_covariance(a: Floats, b: Floats, gains: Floats, other: Floats) -> Floats:
    """Covariance of two credits, as a sum over positive terms."""
    # Both grow with the successes J of a first draw, so Hoeffding's identity (E. L. Lehmann 1966,
    # Ann. Math. Statist. 37, Lemma 2) splits ``Cov(credit_J, E[other | J])`` into such terms.
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
    """``sum_r gains_r P(S = s - 1, R = r - 1)`` for s = 1..k, shape (S, k)."""
    # S and R are the successes in k - 1 and m - 1 of k + m - 2 trials; `pooled`: the chances of S +
    # R.
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
    """Chances of ``S = s - 1``, given ``S + R = s + r - 2``, by s and r - 1 = first..last."""
    # The chance is ``(k + m - 1) / m P(J = s - 1)``, J of k - 1 draws from an urn (r, m - r + 1).
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


_TABULATED = 4096  # trials of an urn up to which logs of binomial coefficients come from a table


@lru_cache(maxsize=32)
def log_binomials(n: int) -> Floats:
    """``ln C(n, j)`` for j = 0..n."""
    logs = scipy.special.gammaln(np.arange(1.0, n + 2))
    binomials: Floats = logs[-1] - logs - logs[::-1]
    return binomials


def draw_chance_rows(total: int, size: int, successes: Ints) -> Floats:
    """Chances (S, size + 1) of 0..size successes in a draw, by the successes in the urn (S,)."""
    # Beyond 4,096 trials in the urn, `total` changes neither time nor memory.
    if total > _TABULATED:
        # Polya's urn with a negative content is an urn without replacement.
        return urn_chances(
            -successes.astype(np.float64), (successes - total).astype(np.float64), size
        )
    u, j = successes[:, None], np.arange(size + 1)
    rest = u - j
    possible = (rest >= 0) & (rest <= total - size)
    failures = log_binomials(total - size)[np.where(possible, rest, 0)]
    logs = log_binomials(size) + failures - log_binomials(total)[u]
    return np.where(possible, np.exp(np.where(possible, logs, 0.0)), 0.0)


def overlap_chances(total: int, size: int) -> Floats:
    """Chances that two draws of `size` from `total` trials share 0..size trials."""
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


# AUC@k is (sum of 1 - q^i, i <= k, less (1 - q) / 2 and (1 - q^k) / 2) over k - 1.
_STEP = 0.25  # step of the logit for a broad density: the rule errs by exp(-pi^2 / step), 7e-18
_NARROW = 0.7  # step in standard deviations for a narrow density: exp(-2 (pi / .7)^2)
_FINER = 1.5  # from one step to the next: few of them, for logs with few states
_WIDE = 0.04  # steps from which on logs of the density are sums of logs that states share
# Rates less likely than exp(-40) are left out, but where a power of k makes up for it.
_DEPTH = 40.0
_GROWTH = 1.4  # from one number of rates to the next
_ALIVE = 6  # arrays in use at a time
_TERMS = 18  # terms of power series of arguments up to 1


def area_drawn(n: Ints, c: Ints, k: int) -> Floats:
    """Unbiased estimate of AUC@k for n trials with c successes, shape (S,), ``2 <= k <= n``."""
    # With the chance ``H_i = C(n - c, i) / C(n, i)`` of no success, the sum of H_1, ..., H_k is
    # ``(n - c) / (c + 1)`` times the chance that one of k draws is among c + 1 of the trials. If
    # successes are rare, the sum of ``1 - H_i`` is an alternating series of factorial moments.
    chance, rest = no_success_drawn(n, c, k)
    failures = n - c
    _, following = no_success_drawn(n, np.minimum(c + 1, n), k)
    left = failures / (c + 1) * following - failures / n / 2 - chance / 2
    area = 1 - left / (k - 1)
    rare = np.flatnonzero(2 * k * c < n)
    if rare.size:
        passed = _sum_of_passes(n[rare], c[rare], k)
        area[rare] = (passed - c[rare] / n[rare] / 2 - rest[rare] / 2) / (k - 1)
    return area


def area_moments(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats]:
    """Posterior mean and variance of AUC@k under ``p ~ Beta(a, b)``, shape (S,); k at least 24."""
    # The trapezoid rule for the logit of p converges geometrically (L. N. Trefethen, J. A. C.
    # Weideman 2014, SIAM Review 56, theorem 5.1).
    low, high = _logit_range(a, b, k)
    # Steps, first rates and numbers of rates that a few states share, but none owes to the others.
    needed = 1 / np.sqrt(1 / _STEP**2 + 1 / (_NARROW**2 * (1 / a + 1 / b)))
    step = _STEP / _FINER ** np.ceil(np.log(_STEP / needed) / np.log(_FINER))
    first = np.floor(low / step)
    sizes = np.ceil(np.log(high / step - first + 1) / np.log(_GROWTH))
    mean, variance = np.empty((2, a.size))
    order = np.lexsort((first, sizes, step))
    edges = np.flatnonzero((np.diff(step[order]) != 0) | (np.diff(sizes[order]) != 0)) + 1
    for rows in np.split(order, edges) if a.size else []:
        apart, size = float(step[rows[0]]), ceil(_GROWTH ** sizes[rows[0]]) + 1
        for block in row_slices(rows.size, _ALIVE * size):
            part = rows[block]
            rates = _rates_from(first[part], size, apart, k)
            mean[part], variance[part] = _area_moments(a[part, None], b[part, None], rates, apart)
    return mean, variance


def area_at(p: Floats, q: Floats, k: int) -> Floats:
    """AUC@k at success rates ``p = 1 - q``, for k of at least 24."""
    area, inside = p.copy(), (p > 0) & (q > 0)
    area[inside], _ = _area_and_rest(np.log(p[inside] / q[inside]), k)
    return area


def _sum_of_passes(n: Ints, c: Ints, k: int) -> Floats:
    """``sum_{i=1}^k (1 - H_i)`` if ``k c`` is less than n / 2."""
    term = k * (k + 1) / 2 * c / n
    total = term.copy()
    for m in range(1, min(_TERMS, k)):
        term = term * (-(k - m) / (m + 2) * np.maximum(c - m, 0) / (n - m))
        total += term
    return np.asarray(total)


def _logit_range(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats]:
    """Range of logits outside of which the terms are negligible."""
    depth = _DEPTH + 2 * np.log(k)
    middle = np.log(a) - np.log(b)
    below, above = _logit_reach(a, b, depth), _logit_reach(b, a, depth)
    # Beyond these AUC is 0, or 1, and the density a power.
    lowest, highest = -(40 + np.log(k) + np.log1p(b)), 40 + np.log1p(a)
    return np.maximum(middle - below, lowest), np.minimum(middle + above, highest)


def _logit_reach(a: Floats, b: Floats, depth: float) -> Floats:
    """Distance below its mode at which the log density of the logit falls by about `depth`."""
    share, other, total = a / (a + b), b / (a + b), a + b
    # Both are beyond: the tangent far away, and where the power of p falls by as much, then of q.
    tangent = depth + total * np.log1p(a / b)
    powers = depth / a + np.sqrt(2 * depth / a) + np.log1p(depth / b + np.sqrt(2 * depth / b))
    far = np.minimum(tangent / a, powers)
    # Newton's method for the root of the fall, which is nearly linear.
    fall = a * far + total * _log_shrunk(share, other, far)
    slope = a * other * -np.expm1(-far) / (other + share * np.exp(-far))
    return np.asarray(far - 2 * (fall - np.sqrt(depth * fall)) / slope)


def _log_shrunk(share: Floats, other: Floats, far: Floats) -> Floats:
    """``log(other + share exp(-far))``, where both shares sum up to 1."""
    less = share * np.expm1(-far)
    return np.where(less > -0.5, np.log1p(less), np.log(other + share * np.exp(-far)))


class _Rates(NamedTuple):
    """Success rates of each state by logit, with AUC@k at them; each of shape (S, R)."""

    logits: Floats
    log_p: Floats
    log_q: Floats
    area: Floats
    left: Floats  # 1 - AUC@k


def _rate_areas(logits: Floats, k: int) -> _Rates:
    log_p, log_q = -np.log1p(np.exp(-logits)), -np.log1p(np.exp(logits))
    return _Rates(logits, log_p, log_q, *_area_and_rest(logits, k))


def _rates_from(first: Floats, size: int, step: float, k: int) -> _Rates:
    """As many rates from each of the first ones, which ascend: computed once for all states."""
    places = int(first[-1] - first[0]) + size
    if places > first.size * size:  # too far from each other
        return _rate_areas((first[:, None] + np.arange(size)) * step, k)
    table = np.array(_rate_areas((first[0] + np.arange(places)) * step, k))
    return _Rates(*sliding_window_view(table, size, axis=1)[:, (first - first[0]).astype(int)])


def _area_moments(a: Floats, b: Floats, rates: _Rates, step: float) -> tuple[Floats, Floats]:
    """Mean and variance by the trapezoid rule, for each row of rates."""
    weight = _rate_weights(a, b, rates, step)
    mean, rest = (weight * rates.area).sum(axis=1), (weight * rates.left).sum(axis=1)
    # From the nearer bound: nothing large cancels.
    low = (mean <= rest)[:, None]
    square = np.where(low, rates.area - mean[:, None], rates.left - rest[:, None]) ** 2
    return mean, (weight * square).sum(axis=1)


def _rate_weights(a: Floats, b: Floats, rates: _Rates, step: float) -> Floats:
    """Weight of each rate; those beyond the first and the last are added to these."""
    if step > _WIDE:
        weight = a * rates.log_p
        weight += b * rates.log_q
        weight -= weight.max(axis=1, keepdims=True)
    else:
        # From the mode, and by the lesser of both: large logs are never subtracted.
        away, less, total = rates.logits - (np.log(a) - np.log(b)), np.minimum(a, b), a + b
        towards = np.where(a <= b, away, -away)
        weight = less * towards - total * np.log1p(less / total * np.expm1(towards))
    np.exp(weight, out=weight)
    weight[:, :1] /= -np.expm1(-a * step)
    weight[:, -1:] /= -np.expm1(-b * step)
    weight /= weight.sum(axis=1, keepdims=True)
    return weight


def _area_and_rest(logits: Floats, k: int) -> tuple[Floats, Floats]:
    """AUC@k at each logit, and its complement."""
    odds = np.exp(logits)
    q = 1 / (1 + odds)
    p = odds * q
    draws = k * np.log1p(odds)  # -k log q
    some = -np.expm1(-draws)
    left = (some / odds - q / 2 - np.exp(-draws) / 2) / (k - 1)
    area = 1 - left
    few = draws < 1
    area[few] = _few_passes(p[few], draws[few], some[few], k)
    return area, left


def _few_passes(p: Floats, draws: Floats, some: Floats, k: int) -> Floats:
    """AUC@k for small ``k p``, without a difference of numbers near k."""
    # 1 + (q / p) log q, and 1 - (1 - e^-x) / x.
    first = _power_series(p, [1 / (m * (m + 1)) for m in range(1, _TERMS)])
    second = _power_series(draws, [(-1) ** (m + 1) / factorial(m + 1) for m in range(1, _TERMS)])
    passed = k * (first + (1 - first) * second)
    return np.asarray((passed - p / 2 - some / 2) / (k - 1))


def _power_series(x: Floats, factors: list[float]) -> Floats:
    """``factors[0] x + factors[1] x**2 + ...``"""
    total = np.full_like(x, factors[-1])
    for factor in factors[-2::-1]:
        total *= x
        total += factor
    total *= x
    return total
