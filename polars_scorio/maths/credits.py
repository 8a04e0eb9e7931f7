"""Estimate and value of a metric for a question, and the noise of the estimate.

A metric is a credit of the successes in a draw of k trials. The unbiased estimate from n trials of
a question with success rate ``p = 1 - q`` has the variance [1]_::

    V_n(p) = sum_{r=1}^k C(k, r)^2 / C(n, r) (p q)^r (E[Delta^r credit(J)])^2,  J ~ Bin(k - r, p)

with the r-th forward differences of the credit. For Pass@k the r-th term is
``C(k, r)^2 / C(n, r) p^r q^(2k - r)``, for Pass^k the same with p and q exchanged.

.. [1] W. Hoeffding (1948), Ann. Math. Statist. 19, 293-325, eq. 5.13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, known_ratio, row_slices
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_at,
    average_sides,
    binomial_chances,
    draw_chance_rows,
    expected_credit,
    is_area,
    no_success_drawn,
    only_success,
    sum_of_gaps,
)
from polars_scorio.maths.populations import (
    MOST_COUNTED,
    LivePopulations,
    StateChances,
    beta_quantile,
    fixed_populations,
    rate_nodes,
)
from polars_scorio.maths.questions import States

# The gains of a draw from a question with n trials (see `draws`), at most 1 in sum.
GainsOf: TypeAlias = Callable[[int], Floats]

_ROUNDING = 1e-12
_TERMS = 128  # of a power: the coefficients fall by half and more from term to term
_KEPT = 256  # tables at rates that groups and reports share


class Power(NamedTuple):
    """A credit that one success earns, or only all of k: a power of a rate, or what it leaves."""

    k: int
    gain: float
    every: bool  # Pass^k: Pass@k of the failures

    @classmethod
    def from_gains(cls, gains: Floats) -> Power | None:
        """The power that a credit is; None if it is another one."""
        success = only_success(gains)
        if success not in {1, gains.size}:
            return None
        return cls(gains.size, float(gains.max()), every=success > 1)

    def draw_gains(self) -> GainsOf:
        """The gains of each success, if all of them are worth 1."""
        return fixed_gains(all_success(self.k) if self.every else any_success(self.k))

    def noise_at(self, p: Floats, q: Floats, n: Ints) -> Floats:
        """Variance of the estimate from n trials (L,) at some rates (I,), (L, I)."""
        p, q = (q, p) if self.every else (p, q)
        r = np.arange(1.0, min(self.k, _TERMS) + 1)[:, None]
        # C(k, r)^2 / C(n, r), and the chance of one way to have r successes in 2 k trials.
        ways = np.cumsum(2 * np.log((self.k + 1 - r) / r) - np.log((n + 1 - r) / r), axis=0)
        logs = scipy.special.xlogy(r, p)
        with np.errstate(divide="ignore"):
            logs += (2 * self.k - r) * _log_rate(q, p)
        return np.asarray(self.gain**2 * (np.exp(ways).T @ np.exp(logs)))

    def noise_estimates(self, n: Ints, c: Ints) -> Floats:
        """Unbiased estimates of that variance from c successes in n >= 2 k trials, (C,)."""
        avoided = n - c if self.every else c
        once, _ = no_success_drawn(n, avoided, self.k)
        left = n - avoided - (2 * self.k - 1)
        gaps = sum_of_gaps(avoided.astype(float), np.maximum(left, 1).astype(float), self.k, self.k)
        return np.asarray((self.gain * once) ** 2 * np.where(left > 0, -np.expm1(-gaps), 1.0))


def fixed_gains(gains: Floats) -> GainsOf:
    """Gains of a draw that is the same for each question."""
    return lambda n: gains  # noqa: ARG005 - it is the same for each n


def state_estimates(states: States, gains: GainsOf) -> tuple[Floats, Floats]:
    """The unbiased estimate of a question in each state, and its complement."""
    n, c = states.n, states.counts[:, 1]
    up, down = np.empty((2, n.size))
    for rows, drawn in _same_draws(gains, n):
        up[rows], down[rows] = drawn_credit(n[rows], c[rows], drawn)
    sure = gains.sure(n) if isinstance(gains, EndDraw) else 0.0
    return up + sure, down - sure


@dataclass(frozen=True, slots=True)
class EndDraw:
    """A draw at one end of what it may earn from questions that have fewer trials than it takes."""

    gains: GainsOf
    upper: bool

    @property
    def enough(self) -> int:
        """Trials of a question from which on the draw is one of all questions."""
        drawn = self.gains(1)
        return drawn.size if drawn is self.gains(2) else np.iinfo(np.int64).max

    def __call__(self, n: int) -> Floats:
        """Gains of a draw from n trials: with too few, of the nearest draw that is a bound."""
        drawn = self.gains(n)
        if drawn.size <= n:
            return drawn
        success = only_success(drawn)
        if success == 1 and not self.upper:
            return drawn[:n]
        return np.append(np.zeros(n - 1), drawn[-1] if success == drawn.size and self.upper else 0)

    def sure(self, n: Ints) -> Floats:
        """Credit that questions with so many trials have in any case."""
        levels, place = np.unique(np.minimum(n, self.enough), return_inverse=True)
        draws = [(size, self.gains(size)) for size in levels.tolist()]
        sure = [self.upper and d.size > size and only_success(d) != d.size for size, d in draws]
        return np.array(sure, np.float64)[place]


def _same_draws(gains: GainsOf, n: Ints) -> list[tuple[slice | Ints, Floats]]:
    """The questions, of n trials each, from which the same draw is made, and its gains."""
    if gains(1) is gains(2):
        return [(slice(None), gains(1))]
    n = np.minimum(n, gains.enough) if isinstance(gains, EndDraw) else n
    kinds: dict[bytes, list[int]] = {}
    for size in np.unique(n).tolist():
        kinds.setdefault(gains(size).tobytes(), []).append(size)
    return [
        (np.flatnonzero(np.isin(n, sizes)), np.frombuffer(drawn)) for drawn, sizes in kinds.items()
    ]


def drawn_credit(n: Ints, c: Ints, gains: Floats) -> tuple[Floats, Floats]:
    """The unbiased estimate of questions from which the same draw is made, and its complement."""
    power, unearned = Power.from_gains(gains), _unearned_credit(gains)
    if power is None:
        return expected_credit(n, c, gains), unearned + expected_credit(n, n - c, gains[::-1])
    avoided, known, credit = n - c if power.every else c, n >= power.k, np.full((2, n.size), np.nan)
    credit[:, known] = no_success_drawn(n[known], avoided[known], power.k)
    credit *= power.gain
    missed, earned = credit[::-1] if power.every else credit
    return earned, unearned + missed


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


def credit_of(gains: Floats) -> Floats:
    """The credit of 0..k successes, from what each success adds."""
    return np.concatenate(([0.0], np.cumsum(gains)))


class CreditTable(NamedTuple):
    """Posterior means of D credits of S states, and of the noise of their estimates."""

    means: Floats  # value, complement with all its digits, and noise by population, (S, 3, D, J)
    flat: Floats  # the three under the uniform prior, (S, 3, D)
    unbiased: Floats  # unbiased estimate of the noise, (S, D); NaN where 2 k > n
    largest: Floats  # its largest size among all states with so many trials, (S, D)
    short: Mask  # states of fewer than k trials, which have zeros, (S, D)


def credit_table(
    chances: StateChances, draws: Sequence[GainsOf], live: LivePopulations
) -> CreditTable:
    """The table of some draws under some populations, for states by ascending trials."""
    n, size = chances.n, (chances.n.size, len(draws))
    levels, first, place = np.unique(n, return_index=True, return_inverse=True)
    flat, shape = np.zeros((size[0], 3, size[1])), (size[0], 3, size[1], live.places.size)
    none = np.zeros(size), np.zeros(size), np.ones(size, np.bool_)
    table = CreditTable(np.zeros(shape), flat, *none)
    few = int(np.searchsorted(levels, MOST_COUNTED, side="right"))
    numbers = np.zeros((few, 3, size[1], fixed_populations().p.size))
    for draw, gains in enumerate(draws):
        for places, drawn in _same_draws(gains, levels):
            known = np.zeros(levels.size, np.bool_)
            known[places] = levels[places] >= drawn.size
            table.short[known[place], draw] = False
            known[few:] = False
            if known.any():
                asked = drawn.tobytes(), tuple(levels[known].tolist())
                numbers[known[:few], :2, draw] = _kept_values(asked[0])
                numbers[known[:few], 2, draw] = _kept_noise(*asked)
                rows, (unbiased, start, largest) = known[place], _kept_estimates(*asked)
                at = (np.cumsum(known) - 1)[place[rows]]
                table.unbiased[rows, draw] = unbiased[start[at] + chances.c[rows]]
                table.largest[rows, draw] = largest[at]
        large = np.flatnonzero(~table.short[:, draw] & (n > MOST_COUNTED))
        if large.size:
            order = _first_order(gains, n[large], chances.c[large])
            table.means[large, :, draw], flat[large, :, draw] = order.T[..., None], order.T
            table.unbiased[large, draw] = order[-1]
    ends = np.append(first, n.size)
    for level in range(few):
        some, each = slice(ends[level], ends[level + 1]), numbers[level]
        means, uniform = chances.means(some, each.reshape(3 * size[1], -1), live)
        table.means[some], flat[some] = (
            means.reshape(-1, *shape[1:]),
            uniform.reshape(-1, 3, size[1]),
        )
    return table


@lru_cache(maxsize=_KEPT)
def _kept_values(gains: bytes) -> Floats:
    """The credit at the fixed rates, and its complement, (2, 241)."""
    fixed = fixed_populations()
    return np.stack(_credit_and_rest(fixed.p, fixed.q, np.frombuffer(gains)))


def _credit_and_rest(p: Floats, q: Floats, gains: Floats) -> tuple[Floats, Floats]:
    """The credit at some rates, and its complement."""
    return credit_at(p, q, gains), _unearned_credit(gains) + credit_at(q, p, gains[::-1])


@lru_cache(maxsize=_KEPT)
def _kept_noise(gains: bytes, levels: tuple[int, ...]) -> Floats:
    """Variance of the estimate from so many trials at the fixed rates, (L, 241)."""
    fixed, drawn = fixed_populations(), np.frombuffer(gains)
    power = Power.from_gains(drawn)
    if power is not None:
        return power.noise_at(fixed.p, fixed.q, np.array(levels))
    squares = [
        binomial_chances(n, fixed.p, fixed.q) @ _all_estimates(drawn, n) ** 2 for n in levels
    ]
    return np.asarray(np.maximum(squares - _kept_values(gains)[0] ** 2, 0.0))


@lru_cache(maxsize=_KEPT)
def _kept_estimates(gains: bytes, levels: tuple[int, ...]) -> tuple[Floats, Ints, Floats]:
    """Unbiased estimates of that variance for c = 0..n successes of each n; NaN if 2 k > n.

    With the place of the first one of each n, and the largest size of its estimates.
    """
    drawn, n = np.frombuffer(gains), np.array(levels)
    power = Power.from_gains(drawn)
    if power is None:
        each = np.concatenate([_square_estimates(gains, size) for size in levels])
    else:
        of_states, c = np.repeat(n, n + 1), np.concatenate([np.arange(size + 1) for size in levels])
        some = 2 * power.k <= of_states
        each = np.full(c.size, np.nan)
        each[some] = power.noise_estimates(of_states[some], c[some])
    start = np.cumsum(n + 1) - n - 1
    return each, start, np.maximum.reduceat(np.abs(each), start)


@lru_cache(maxsize=_KEPT)
def _product_credit(gains: bytes) -> Floats:
    """Mean product of the credits of both halves of 2 k trials with 0..2k successes."""
    credit = credit_of(np.frombuffer(gains))
    k, successes = credit.size - 1, np.arange(2 * credit.size - 1)
    rest = np.clip(successes[:, None] - np.arange(k + 1), 0, k)
    chances = draw_chance_rows(2 * k, k, successes)
    return np.asarray((chances * credit * credit[rest]).sum(axis=1))


def _square_estimates(gains: bytes, n: int) -> Floats:
    """The square of the estimate, less the mean product of two draws without a common trial."""
    drawn = np.frombuffer(gains)
    if 2 * drawn.size > n:
        return np.full(n + 1, np.nan)
    unbiased = mean_drawn_credit(n, np.arange(n + 1), _product_credit(gains))
    return np.asarray(_all_estimates(drawn, n) ** 2 - unbiased)


def _all_estimates(gains: Floats, n: int) -> Floats:
    """The estimate from c = 0..n successes in n trials."""
    return mean_drawn_credit(n, np.arange(n + 1), credit_of(gains))


_QUANTILES, _STEP = 41, 1e-5
_FEWEST_DRAWS = 10  # of k trials from n, for the first order


def _first_order(gains: GainsOf, n: Ints, c: Ints) -> Floats:
    """Means of credit, complement and noise of questions of many trials, (3, S); or NaN."""
    numbers = np.empty((3, n.size))
    for rows, drawn in _same_draws(gains, n):
        size, a = (each[rows, None].astype(np.float64) for each in (n, c + 1))
        b = 2 + size - a
        p = beta_quantile(a, b, (np.arange(_QUANTILES) + 0.5) / _QUANTILES, upper=False)
        step = _STEP * np.minimum(p, 1 - p)
        (low, _), middle, (high, _) = (
            _credit_and_rest(x.ravel(), 1 - x.ravel(), drawn) for x in (p - step, p, p + step)
        )
        slope = known_ratio((high - low).reshape(p.shape), 2 * step)
        numbers[:2, rows] = np.reshape(middle, (2, *p.shape)).mean(axis=2)
        noise = (slope**2 * p * (1 - p) / size).mean(axis=1)
        numbers[2, rows] = np.where(_FEWEST_DRAWS * drawn.size <= size[:, 0], noise, np.nan)
    return numbers


def credit_at(p: Floats, q: Floats, gains: Floats) -> Floats:
    """Mean credit of k ~ Binomial(p) trials at rates ``p = 1 - q``, shape (I,)."""
    # If one success earns all, and for AUC@k, the time does not grow with k.
    k, success = gains.size, only_success(gains)
    if success is not None:
        return np.asarray(gains[success - 1] * _at_least(success, k, p, q))
    if is_area(gains):
        return area_at(p, q, k)
    credit, values = credit_of(gains), np.empty_like(p)
    for rows in row_slices(p.size, k + 1):
        values[rows] = binomial_chances(k, p[rows], q[rows]) @ credit
    return values


def _at_least(success: int, k: int, p: Floats, q: Floats) -> Floats:
    """Chance of at least so many successes."""
    with np.errstate(divide="ignore"):
        if success == 1:
            return -np.expm1(k * _log_rate(q, p))
        if success == k:
            return np.exp(k * _log_rate(p, q))
    tail: Floats = scipy.special.betainc(success, k - success + 1, p)
    return tail


def _log_rate(x: Floats, rest: Floats) -> Floats:
    """``log(x)``, from the complement of x if that is smaller."""
    return np.where(rest < x, np.log1p(-np.minimum(rest, 0.5)), np.log(x))


Powers: TypeAlias = tuple[float, float]


def blend_means(x: Floats, y: Floats, powers: Powers) -> Floats:
    """``x**a * y**b`` for nonnegative means; 0, infinite or NaN where a mean is 0."""
    zero = (x == 0) & (powers[0] > 0) | (y == 0) & (powers[1] > 0)
    with np.errstate(divide="ignore"):
        powered = np.where(zero, 1.0, x) ** powers[0] * np.where(zero, 1.0, y) ** powers[1]
    return np.where(zero, 0.0, powered)


_RIDGE = 0.001
_FEWEST, _PER_ROOT = 121, 15  # success rates of the grid, at least and per root of n
_ENOUGH = 256  # trials in a draw: more of them lower neither bias nor noise by what they cost
_MOST = 2048  # size of a draw: the equations of a larger one take more than seconds


class NearCredit(NamedTuple):
    """Credit of c = 0, ..., n successes, shape (n + 1,), and the largest bias of its mean."""

    credit: Floats
    bias: float


@lru_cache(maxsize=1024)
def root_credit(n: int, k: int, pass_power: float, unanimous_power: float) -> NearCredit:
    """Credit of the successes of n trials, in [0, 1], whose mean is nearly Geom@k at any rate."""
    # ``1 <= k <= n``, powers not negative and not both 0. Bias 0 for n = 1.
    p, _ = _fine_rates(n)
    passing = -np.expm1(k * np.log1p(-p[:-1]))
    return _nearest_credit(n, np.append(passing**pass_power * p[:-1] ** (k * unanimous_power), 1.0))


def _fine_rates(n: int) -> tuple[Floats, Floats]:
    """Success rates of the regression for n trials, and their complements."""
    return rate_nodes(max(_FEWEST, ceil(_PER_ROOT * n**0.5) + 1))


def _nearest_credit(n: int, wanted: Floats) -> NearCredit:
    """Credit of n trials with nearly the `wanted` mean at each rate, exactly at rates 0 and 1."""
    p, _ = _fine_rates(n)
    chances: Floats = np.asarray(scipy.stats.binom.pmf(np.arange(n + 1), n, p[:, None]))
    normal = (1 - _RIDGE) * chances.T @ chances + _RIDGE * np.diag(chances.sum(axis=0))
    credit = np.append(np.zeros(n), wanted[-1])
    inner = slice(1, n)
    right = chances[:, inner].T @ wanted - normal[inner, n] * wanted[-1]
    credit[inner] = np.linalg.solve(normal[inner, inner], right)
    credit = np.clip(credit, wanted.min(), wanted.max())
    return NearCredit(credit, float(np.abs(chances @ credit - wanted).max()))


@dataclass(frozen=True, slots=True)
class RootDraw:
    """Geom@k of a question as the credit of a draw of its trials, nearly without bias.

    A draw has all trials of a question, or k (at least 256) if there are more: the mean credit over
    all such draws has the same bias, and the equations stay small.
    """

    k: int
    powers: Powers  # of Pass@k and of Pass^k, not negative

    def __call__(self, n: int) -> Floats:
        """Gains of a draw from n trials; ValueError if k > 2,048 and a question has so many."""
        if n < self.k:
            return np.zeros(self.k)  # as many trials as the question would need
        return np.diff(self._credit(n).credit)

    def bias(self, n: Ints) -> Floats:
        """Largest bias of the credit of a question with so many trials; 0 if k exceeds them."""
        bias = np.zeros(n.shape)
        for size in np.unique(n[n >= self.k]).tolist():
            bias[n == size] = self._credit(size).bias
        return bias

    def _credit(self, n: int) -> NearCredit:
        """The credit of a draw from n trials, at least k."""
        if self.k > _MOST:
            raise ValueError(
                f"geom_at_k: calibrated numbers are known up to k = {_MOST:,}, got k={self.k!r}; "
                "name a prior, or ps.geom_ds_at_k"
            )
        return root_credit(min(n, max(self.k, _ENOUGH)), self.k, *self.powers)


def largest_bias(draw: object, n: Ints) -> Floats:
    """Largest bias of the estimate of questions with so many trials: only Geom@k has one."""
    return draw.bias(n) if isinstance(draw, RootDraw) else np.zeros(n.shape)


@dataclass(frozen=True, slots=True)
class DrawBounds:
    """The draws that bound a metric."""

    itself: Power | None  # the draw of the metric, if it is Pass@k or Pass^k
    smaller: tuple[Power, ...]  # draws whose numbers it is never below, or never above
    above: bool  # whether it is never below them


def draw_bounds(gains: GainsOf, n: Ints) -> DrawBounds:
    """The draws that bound a metric that is a credit; `n` are the trials that questions have."""
    # Pass@k and Pass^k have j = 1, 2, 4, ... below k that some question has trials for; any other
    # credit that is nowhere below (above) the share of successes has j = 1.
    drawn, other = gains(1), gains(2)
    if isinstance(gains, RootDraw) or other is not drawn:
        return DrawBounds(None, (), above=False)  # a root of credits, or a draw for each n
    itself = Power.from_gains(drawn)
    if itself is not None and itself.gain == 1:
        # A group has all those that its questions have trials for, whatever other groups have.
        most = min(itself.k - 1, max(int(n.max(initial=0)), 1))
        sizes = [2**power for power in range(most.bit_length())]
        smaller = tuple(Power(j, 1.0, itself.every and j > 1) for j in sizes)
        return DrawBounds(itself, smaller, above=not itself.every)
    above, below = average_sides(drawn)
    return DrawBounds(None, (Power(1, 1.0, every=False),) if above != below else (), above)
