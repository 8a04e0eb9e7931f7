"""Metrics that credit successes, as sums of credits: unbiased estimates and their variance.

The credit of 0..d successes stands for a polynomial of the success rate p too (the Bernstein form):
``g(p) = E[g[T]]``, ``T ~ Binomial(d, p)``. The variance of an estimate is such a polynomial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import row_slices
from polars_scorio.kernels.draws.chance_tables import (
    draw_chance_rows,
    draw_chances,
    overlap_chances,
)
from polars_scorio.kernels.draws.credit import only_success
from polars_scorio.kernels.draws.expected_credit import expected_credit
from polars_scorio.kernels.draws.powers import no_success_drawn
from polars_scorio.kernels.states import States

# The gains of a draw from a question with n trials (see `kernels.draws.credit`), at most 1 in sum.
GainsOf = Callable[[int], Floats]
# For questions with n trials: a credit, its complement, the variance of its estimate.
Polynomials = tuple[Floats, Floats, Floats]

_ROUNDING = 1e-12
_PAIRS = 64  # k up to which two draws are paired for each overlap,
_MANY, _MORE_PAIRS = 1_000_000, 256  # and k beyond so many trials, where sums over rates take long
_KEPT = 128  # polynomials, of 32 KB at most
_STACKS = 32  # of polynomials: 15 MB at most
_FEW = 16  # the least degree that metrics share, but for that of a mean
_TABULATED = 2048  # trials up to which the noise of all states is worked out at once


@dataclass(frozen=True, slots=True, eq=False)
class CreditSum:
    """A weighted sum of metrics, of which the variance is asked for: usually one credit.

    Attributes
    ----------
    terms : sequence of tuple
        Weight of each credit, and its gains by n.
    known : dict
        The polynomials that were worked out so far, by n: groups share them.
    known_noise : dict
        The values of `noise_estimates` for all states, by n, as far as they are known.
    """

    terms: Sequence[tuple[float, GainsOf]]
    known: dict[int, Polynomials] = field(default_factory=dict)
    known_noise: dict[int, Floats] = field(default_factory=dict)

    def degree(self, n: int) -> int:
        """Degree of `polynomials`."""
        return max(variance_degree(n, gains(n).size) for _, gains in self.terms)

    def polynomials(self, n: int) -> Polynomials:
        """Credit, complement, and variance of the estimate, from n trials of a question."""
        if n not in self.known:
            parts = [(weight, gains(n)) for weight, gains in self.terms]
            credit = np.asarray(sum(weight * credit_of(gains) for weight, gains in parts))
            rest = np.asarray(sum(weight * credit_complement(gains) for weight, gains in parts))
            self.known[n] = credit, rest, _kept_variance(n, credit.tobytes())
        return self.known[n]

    def noise_estimates(self, n: int, c: Ints) -> Floats:
        """Unbiased estimates of the variance of the estimate from n >= 2 k trials, shape (C,).

        For c successes: the square of the estimate, less the mean product of two draws of k that
        have no trial in common. Its mean over c is the variance, a polynomial of the success rate;
        hence it is the credit of this polynomial, drawn from the n trials. NaN if the polynomial is
        too long, and the metric is no power of a rate.
        """
        if n <= _TABULATED:
            if n not in self.known_noise:
                self.known_noise[n] = elevate_degree(self.polynomials(n)[2], n)
            return self.known_noise[n][c]
        if self.degree(n) <= _TABULATED:
            return mean_drawn_credit(n, c, self.polynomials(n)[2])
        ((weight, gains), *more) = self.terms
        return np.full(c.size, np.nan) if more else weight**2 * _power_noise(n, c, gains(n))

    def estimates(self, n: int, c: Ints) -> Floats:
        """The unbiased estimate for c successes in n trials, and its complement, shape (2, C)."""
        trials = np.full_like(c, n)
        parts = [
            weight * np.stack(drawn_credit(trials, c, gains(n))) for weight, gains in self.terms
        ]
        return np.asarray(sum(parts))


def draw_sizes(metrics: Sequence[CreditSum], n: int) -> Ints:
    """Trials of the largest draw of each metric from n trials, k, shape (C,)."""
    return np.array([max(gains(n).size for _, gains in metric.terms) for metric in metrics])


def shared_degrees(metrics: Sequence[CreditSum], n: int) -> Ints:
    """Degrees to which the polynomials are elevated, so that metrics share tables, shape (C,).

    The degree of a metric does not depend on the others: 2, 16, 32, 64, ... or n.
    """
    return np.array([_shared_degree(metric.degree(n), n) for metric in metrics])


def _shared_degree(degree: int, n: int) -> int:
    """The next degree of which there are few."""
    if degree <= 2 or degree == n > _FEW:
        return degree
    return max(1 << (degree - 1).bit_length(), _FEW)


@lru_cache(maxsize=_STACKS)
def polynomial_stack(metrics: tuple[CreditSum, ...], n: int, degree: int) -> Floats:
    """The polynomials of some metrics, elevated to one degree, side by side: (C, D + 1, 3)."""
    return np.stack(
        [
            np.stack([elevate_degree(part, degree) for part in metric.polynomials(n)], axis=1)
            for metric in metrics
        ]
    )


@lru_cache(maxsize=_KEPT)
def _kept_variance(n: int, credit: bytes) -> Floats:
    """`variance_credit` of a credit, which one report after the other asks for.

    It is not to be written to.
    """
    return variance_credit(n, np.frombuffer(credit))


def fixed_gains(gains: Floats) -> GainsOf:
    """Gains of a draw that is the same for each question.

    Examples
    --------
    >>> fixed_gains(np.array([1.0, 0.0]))(7)
    array([1., 0.])
    """
    return lambda n: gains  # noqa: ARG005 - it is the same for each n


def group_estimates(states: States, gains: GainsOf) -> tuple[Floats, Floats]:
    """The unbiased estimate of each group, and its complement."""
    up, down = state_estimates(states, gains)
    return states.mean(up), states.mean(down)


def state_estimates(states: States, gains: GainsOf) -> tuple[Floats, Floats]:
    """The unbiased estimate of a question in each state, and its complement."""
    n, c = states.counts.sum(axis=1), states.counts[:, 1]
    up, down = np.empty((2, n.size))
    for size in np.unique(n).tolist():
        rows = n == size
        up[rows], down[rows] = drawn_credit(n[rows], c[rows], gains(size))
    return up, down


def drawn_credit(n: Ints, c: Ints, gains: Floats) -> tuple[Floats, Floats]:
    """The unbiased estimate of questions from which the same draw is made, and its complement."""
    missed = _unearned_credit(gains) + expected_credit(n, n - c, gains[::-1])
    return expected_credit(n, c, gains), missed


def credit_complement(gains: Floats) -> Floats:
    """One less the credit of 0..k successes.

    Examples
    --------
    >>> credit_complement(np.array([0.5, 0.25]))
    array([1.  , 0.5 , 0.25])
    """
    # Summed from the other end, so that a small rest keeps its digits.
    rest: Floats = _unearned_credit(gains) + credit_of(gains[::-1])[::-1]
    return rest


def _unearned_credit(gains: Floats) -> float:
    """One less the sum of the gains, or 0 if only rounding is left."""
    left = 1 - float(gains.sum())
    return left if left > _ROUNDING else 0.0


def mean_drawn_credit(n: int, c: Ints, credit: Floats) -> Floats:
    """Mean of a credit of any sign over draws from n trials with c successes, shape (C,)."""
    values = np.empty(c.size)
    for rows in row_slices(c.size, credit.size):
        values[rows] = draw_chance_rows(n, credit.size - 1, c[rows]) @ credit
    return values


def _power_noise(n: int, c: Ints, gains: Floats) -> Floats:
    """`noise_estimates` of a credit that one success earns, or only all: in closed form."""
    k, success = gains.size, only_success(gains)
    if success not in {1, k}:
        return np.full(c.size, np.nan)
    avoided, trials = c if success == 1 else n - c, np.full_like(c, n)
    (once, _), (twice, _) = (no_success_drawn(trials, avoided, size) for size in (k, 2 * k))
    return np.asarray(gains.max() ** 2 * (once**2 - twice))


def credit_of(gains: Floats) -> Floats:
    """The credit of 0..k successes, from what each success adds.

    Examples
    --------
    >>> credit_of(np.array([0.5, 0.25]))
    array([0.  , 0.5 , 0.75])
    """
    return np.concatenate(([0.0], np.cumsum(gains)))


def elevate_degree(credit: Floats, trials: int) -> Floats:
    """Elevate a polynomial: its credit by the successes in more trials.

    Examples
    --------
    >>> elevate_degree(np.array([0.0, 1.0]), 2)
    array([0. , 0.5, 1. ])
    """
    return draw_chances(trials, credit.size - 1) @ credit


def expected_successes(n: int, credit: Floats) -> Floats:
    """The unbiased estimate ``U_n(c)`` for c = 0..n: the credit of a draw from the n trials.

    Examples
    --------
    >>> expected_successes(3, np.array([0.0, 0.0, 1.0])).round(9)
    array([0.        , 0.        , 0.33333333, 1.        ])
    """
    return elevate_degree(credit, n)


def variance_degree(n: int, k: int) -> int:
    """Trials in which `variance_credit` counts its successes."""
    return 2 * k if 2 * k >= n or k <= _most_paired(n) else n


def _most_paired(n: int) -> int:
    return _PAIRS if n <= _MANY else _MORE_PAIRS


def variance_credit(n: int, credit: Floats) -> Floats:
    """Variance of the unbiased estimate from n trials of a question, given its success rate.

    ``V_n(p) = E[U_n(C)^2 | p] - g(p)^2``, ``C ~ Binomial(n, p)``.

    Parameters
    ----------
    n : int
        Trials of the question, at least k.
    credit : ndarray of float, shape (k + 1,)
        The credit of 0..k successes.

    Returns
    -------
    ndarray of float, shape (D + 1,)
        The polynomial by the successes in `variance_degree` trials: 2 k, or n where that is more
        and k is large.

    Notes
    -----
    A constant that is added to the credit changes nothing. Each entry is taken from the credit
    above its first or below its last value, whichever leaves less to cancel: near both ends of the
    range of p the relative accuracy is kept.

    Examples
    --------
    The mean of n = 4 trials has the variance ``p (1 - p) / 4``; ``p (1 - p)`` is 1/2 for one
    success in two trials.

    >>> variance_credit(4, np.array([0.0, 1.0])).round(9)
    array([0.   , 0.125, 0.   ])
    """
    k = credit.size - 1
    moments = _paired_moments if 2 * k < n and k <= _most_paired(n) else _elevated_moments
    (up, up_square), (down, down_square) = (moments(n, credit - credit[end]) for end in (0, -1))
    return np.where(up <= down, up - up_square, down - down_square)


def _elevated_moments(n: int, credit: Floats) -> tuple[Floats, Floats]:
    """``E[U^2]`` and ``g^2`` by the successes in max(n, 2 k) trials."""
    k = credit.size - 1
    degree = max(n, 2 * k)
    return elevate_degree(elevate_degree(credit, n) ** 2, degree), elevate_degree(
        _half_product(credit, _disjoint_draw(credit)), degree
    )


def _paired_moments(n: int, credit: Floats) -> tuple[Floats, Floats]:
    """Moments by the successes in 2 k trials: ``U^2`` is the mean over pairs of draws.

    Two draws of k out of n share r trials with hypergeometric chances; the second then takes r of
    the k trials of the first, and k - r of k others.
    """
    k = credit.size - 1
    overlap = overlap_chances(n, k)
    second = np.zeros((k + 1, k + 1))
    for r in np.flatnonzero(overlap).tolist():
        inside, outside = draw_chances(k, r), draw_chances(k, k - r)
        successes = np.arange(r + 1)[:, None] + np.arange(k - r + 1)
        second += overlap[r] * (inside @ credit[successes] @ outside.T)
    return _half_product(credit, second), _half_product(credit, _disjoint_draw(credit))


def _disjoint_draw(credit: Floats) -> Floats:
    """Credit of a second draw that shares no trial, by the successes in the first and in it."""
    return np.broadcast_to(credit, (credit.size, credit.size))


def _half_product(credit: Floats, second: Floats) -> Floats:
    """``E[credit[A] second[A, t - A]]`` for t = 0..2k, A those in one half of 2 k trials."""
    k = credit.size - 1
    first: Ints = np.arange(k + 1)
    rest = np.clip(np.arange(2 * k + 1)[:, None] - first, 0, k)
    product: Floats = (draw_chances(2 * k, k) * credit * second[first, rest]).sum(axis=1)
    return product
