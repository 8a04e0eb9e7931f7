"""Metrics that credit successes, as sums of credits, with their unbiased estimates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import row_slices
from polars_scorio.kernels.calibrated.error_polynomials import (
    credit_of,
    elevate_degree,
    variance_credit,
    variance_degree,
)
from polars_scorio.kernels.draws.chance_tables import draw_chance_rows
from polars_scorio.kernels.draws.credit import only_success
from polars_scorio.kernels.draws.expected_credit import expected_credit
from polars_scorio.kernels.draws.powers import no_success_drawn
from polars_scorio.kernels.states import States

# The gains of a draw from a question with n trials (see `kernels.draws.credit`), at most 1 in sum.
GainsOf = Callable[[int], Floats]
# For questions with n trials: a credit, its complement, the variance of its estimate.
Polynomials = tuple[Floats, Floats, Floats]

_ROUNDING = 1e-12
_KEPT = 128  # polynomials, of 32 KB at most
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

    def draw_size(self, n: int) -> int:
        """Trials of the largest draw from n trials, k."""
        return max(gains(n).size for _, gains in self.terms)

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
