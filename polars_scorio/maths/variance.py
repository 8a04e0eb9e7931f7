"""Variance of the estimate of a k-metric in closed form, and its moments under both fits.

The unbiased estimate from n trials of a question with success rate ``p = 1 - q`` has the variance
[1]_::

    V_n(p) = sum_{r=1}^k C(k, r)^2 / C(n, r) (p q)^r (E[Delta^r credit(J)])^2,  J ~ Bin(k - r, p)

with the r-th forward differences of the credit: n enters by k numbers. For Pass@k the r-th term is
``C(k, r)^2 / C(n, r) p^r q^(2k - r)``, for Pass^k the same with p and q exchanged. By the successes
T in 2 k trials, ``V_n(p) = E[v_n(T)]``: so its posterior mean, its value at a rate and the unbiased
estimate of it are means of the same few numbers under three distributions of T.

.. [1] W. Hoeffding (1948), Ann. Math. Statist. 19, 293-325, eq. 5.13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, row_slices
from polars_scorio.maths.credit_at_rates import credit_at
from polars_scorio.maths.draws import (
    binomial_chances,
    draw_chance_rows,
    draw_chances,
    expected_credit,
    no_success_drawn,
    only_success,
    overlap_chances,
    power_chances,
    sum_of_gaps,
    urn_chances,
)
from polars_scorio.maths.free_fit import Fits, Group, Populations, rate_nodes
from polars_scorio.maths.questions import QuestionWeights, States

# The gains of a draw from a question with n trials (see `draws`), at most 1 in sum.
GainsOf = Callable[[int], Floats]
Rows = slice | Ints

_ROUNDING = 1e-12
_TERMS = 128  # of a power: the coefficients fall by half and more from term to term
_FEW = 1, 8, 16  # k up to which draws are polynomials of the same degree
_SOME_RATES = 2_000  # up to which longer powers are sums over rates
_BY_RATES, _CLOSED = 0, -1  # ways of posterior means
_PAIRED = 256  # k up to which other credits are polynomials; beyond, sums over rates
_SQUARED = 2048  # k up to which the noise of other credits is estimated
_BLOCK = 4  # arrays of a block of nodes and states in use at a time
_KEPT = 512  # tables at rates that groups share


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

    def credit(self, chance: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """Credit and complement, from the chance of no success (no failure) and its complement."""
        up, down = (chance, rest) if self.every else (rest, chance)
        return self.gain * up, self.gain * down + max(1 - self.gain, 0.0)

    def coefficients(self, n: Ints) -> Floats:
        """``C(k, r)**2 / (C(n, r) C(2 k, r))``, r = 1, 2, ..., (L, R)."""
        r = np.arange(float(min(self.k, _TERMS)))
        ratios = (self.k - r) / (n[:, None] - r) * ((self.k - r) / (2 * self.k - r))
        return np.asarray(self.gain * self.gain * np.cumprod(ratios, axis=1))


class Draw(NamedTuple):
    """A draw of k trials, by what each success adds to its credit."""

    gains: Floats  # of any sign, (k,)
    power: Power | None  # None: another credit

    @classmethod
    def from_gains(cls, gains: Floats) -> Draw:
        """The draw with these gains."""
        return cls(gains, Power.from_gains(gains))

    @property
    def is_long(self) -> bool:
        """Whether its moments are sums over rates, for want of a polynomial."""
        return self.power is None and self.gains.size > _PAIRED

    def trials_ahead(self, trials: float) -> int:
        """Trials whose successes give its posterior means; or `_BY_RATES`, or `_CLOSED`."""
        k = self.gains.size
        few = next((most for most in _FEW if k <= most), None)
        if few is not None:
            return 2 * few
        if self.power is not None:
            return _BY_RATES if _rates_needed(trials) <= _SOME_RATES else _CLOSED
        return _BY_RATES if self.is_long else 2 * k

    def noise(self, n: Ints) -> Floats:
        """``v_n(t)`` by the successes in 2 k trials, t = 0..2k, (L, 2k + 1)."""
        n = np.maximum(n, self.gains.size)
        if self.power is None:
            return _variance_rows(self.gains, n)
        noise = np.zeros((n.size, 2 * self.gains.size + 1))
        coefficients = self.power.coefficients(n)
        noise[:, 1 : coefficients.shape[1] + 1] = coefficients
        return noise[:, ::-1] if self.power.every else noise


@dataclass(frozen=True, slots=True, eq=False)
class CreditSum:
    """A weighted sum of metrics whose variance is needed: usually one credit."""

    terms: Sequence[tuple[float, GainsOf]]  # weight of each credit, and its gains by n
    known_draw: list[Draw] = field(default_factory=list)  # the draw, if it is always the same

    def gains(self, n: int) -> Floats:
        """Addition to the sum, of any sign, by each success of a draw from n trials."""
        ((weight, gains), *further) = self.terms
        if weight == 1 and not further:
            return gains(n)
        return np.asarray(sum(weight * gains(n) for weight, gains in self.terms))

    def draws(self, n: Ints) -> list[tuple[Rows, Draw]]:
        """The questions, of n trials each, from which the same draw is made, and this draw."""
        if all(gains(1) is gains(2) for _, gains in self.terms):
            if not self.known_draw:
                self.known_draw.append(Draw.from_gains(self.gains(1)))
            return [(slice(None), self.known_draw[0])]
        kinds: dict[bytes, list[int]] = {}
        for size in np.unique(n).tolist():
            kinds.setdefault(self.gains(size).tobytes(), []).append(size)
        return [
            (np.flatnonzero(np.isin(n, sizes)), Draw.from_gains(np.frombuffer(gains)))
            for gains, sizes in kinds.items()
        ]

    def draw_sizes(self, n: Ints) -> Ints:
        """Trials of a draw from n trials, k, shape (L,)."""
        sizes = np.empty_like(n)
        for rows, draw in self.draws(n):
            sizes[rows] = draw.gains.size
        return sizes

    def state_estimates(self, states: States) -> tuple[Floats, Floats]:
        """The unbiased estimate of a question in each state, and its complement."""
        n, c = states.n, states.counts[:, 1]
        up, down = np.empty((2, n.size))
        for rows, draw in self.draws(n):
            up[rows], down[rows] = drawn_credit(n[rows], c[rows], draw.gains)
        return up, down

    def noise_estimates(self, n: Ints, c: Ints) -> Floats:
        """`noise_estimates` of questions, shape (S,); 0 for fewer than 2 k trials."""
        noise = np.zeros(n.size)
        for rows, draw in self.draws(n):
            places = np.arange(n.size)[rows]
            places = places[n[places] >= 2 * draw.gains.size]
            noise[places] = noise_estimates(draw, n[places], c[places])
        return noise


def fixed_gains(gains: Floats) -> GainsOf:
    """Gains of a draw that is the same for each question."""
    return lambda n: gains  # noqa: ARG005 - it is the same for each n


def group_estimates(states: States, gains: GainsOf) -> tuple[Floats, Floats]:
    """The unbiased estimate of each group, and its complement."""
    up, down = state_estimates(states, gains)
    return states.mean(up), states.mean(down)


def state_estimates(states: States, gains: GainsOf) -> tuple[Floats, Floats]:
    """The unbiased estimate of a question in each state, and its complement."""
    return CreditSum([(1.0, gains)]).state_estimates(states)


def drawn_credit(n: Ints, c: Ints, gains: Floats) -> tuple[Floats, Floats]:
    """The unbiased estimate of questions from which the same draw is made, and its complement."""
    missed = _unearned_credit(gains) + expected_credit(n, n - c, gains[::-1])
    return expected_credit(n, c, gains), missed


def credit_complement(gains: Floats) -> Floats:
    """One less the credit of 0..k successes."""
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


def credit_of(gains: Floats) -> Floats:
    """The credit of 0..k successes, from what each success adds."""
    return np.concatenate(([0.0], np.cumsum(gains)))


def noise_estimates(draw: Draw, n: Ints, c: Ints) -> Floats:
    """Unbiased estimates of the variance of the estimate from n >= 2 k trials, shape (S,)."""
    # The square of the estimate, less the mean product of two draws of k without a common trial.
    # NaN for other credits of more than 2,048 trials, which are not worth their memory.
    gains, power = draw
    if power is not None:
        avoided = n - c if power.every else c
        once, _ = no_success_drawn(n, avoided, power.k)
        left = n - avoided - (2 * power.k - 1)
        gaps = sum_of_gaps(avoided.astype(float), np.maximum(left, 1).astype(float), *[power.k] * 2)
        return np.asarray((power.gain * once) ** 2 * np.where(left > 0, -np.expm1(-gaps), 1.0))
    k, noise = gains.size, np.full(n.size, np.nan)
    for size in np.unique(n).tolist() if k <= _SQUARED else ():
        rows = np.flatnonzero(n == size)
        if k <= _PAIRED:
            (polynomial,) = _variance_rows(gains, np.array([size]))
            noise[rows] = mean_drawn_credit(size, c[rows], polynomial)
        else:
            credit = credit_of(gains)  # of two draws of k without a common trial:
            disjoint = _half_product(credit, np.broadcast_to(credit, (k + 1, k + 1)))
            product = mean_drawn_credit(size, c[rows], disjoint)
            noise[rows] = drawn_credit(n[rows], c[rows], gains)[0] ** 2 - product
    return noise


def _variance_rows(gains: Floats, n: Ints) -> Floats:
    """``v_n(t)`` of a credit that is no power, by t = 0..2k successes in 2 k trials, (L, D)."""
    shared = np.stack([overlap_chances(size, gains.size) for size in n.tolist()])
    return np.asarray(shared @ _shared_noise(gains.tobytes()))


@lru_cache(maxsize=64)
def _shared_noise(gains: bytes) -> Floats:
    """Covariance of draws that share r of k trials, by t successes in 2 k, (k + 1, 2k + 1)."""
    # From the credit above its first or below its last value, whichever leaves less to cancel.
    credit = credit_of(np.frombuffer(gains))
    k = credit.size - 1
    ends = []
    for values in (credit - credit[0], credit - credit[-1]):
        moments = np.empty((k + 1, 2 * k + 1))
        for r in range(k + 1):
            inside, outside = draw_chances(k, r), draw_chances(k, k - r)
            successes = np.arange(r + 1)[:, None] + np.arange(k - r + 1)
            moments[r] = _half_product(values, inside @ values[successes] @ outside.T)
        ends.append(moments)
    up, down = ends
    return np.asarray(np.where(up <= down, up - up[0], down - down[0]))


def _half_product(credit: Floats, second: Floats) -> Floats:
    """``E[credit[A] second[A, t - A]]`` for t = 0..2k, A those in one half of 2 k trials."""
    k = credit.size - 1
    first: Ints = np.arange(k + 1)
    rest = np.clip(np.arange(2 * k + 1)[:, None] - first, 0, k)
    product: Floats = (draw_chances(2 * k, k) * credit * second[first, rest]).sum(axis=1)
    return product


class AtRates(NamedTuple):
    """Moments at the rates of a free fit, for levels of trials n, (L, I) each."""

    credit: Floats
    rest: Floats  # its complement
    variance: Floats  # of the estimate


def rate_moments(size: int, n: Ints, metric: CreditSum) -> AtRates:
    """Moments of a metric at the rates of a free fit of this size, from n trials each, (L,)."""
    moments = np.empty((3, n.size, size))
    for rows, draw in metric.draws(n):
        moments[:, rows] = kept_rate_moments(size, n[rows].tobytes(), draw.gains.tobytes())
    return AtRates(*moments)


@lru_cache(maxsize=_KEPT)
def kept_rate_moments(size: int, trials: bytes, of_success: bytes) -> Floats:
    """`rate_moments` of one draw, cached across groups and reports; not to be written to."""
    n, draw = np.frombuffer(trials, dtype=np.int64), Draw.from_gains(np.frombuffer(of_success))
    p, q = rate_nodes(size)
    return np.stack([np.broadcast_to(each, (n.size, size)) for each in _values_at(p, q, n, draw)])


def _values_at(p: Floats, q: Floats, n: Ints, draw: Draw) -> tuple[Floats, Floats, Floats]:
    """Credit and its complement at some rates (I,), and variances of estimates, (L, I)."""
    rest = _unearned_credit(draw.gains) + credit_at(q, p, draw.gains[::-1])
    return credit_at(p, q, draw.gains), rest, variance_at(p, q, n, draw)


def variance_at(p: Floats, q: Floats, n: Ints, draw: Draw) -> Floats:
    """Variance of the estimate from n trials at some rates, (L, I)."""
    (gains, power), n = draw, np.maximum(n, draw.gains.size)
    if draw.is_long:
        return noise_at_rates(p, q, n, credit_of(gains))
    if power is None:
        # Rounding may leave less than nothing.
        chances = binomial_chances(2 * gains.size, p, q).T
        return np.maximum(_variance_rows(gains, n) @ chances, 0.0)
    return _power_noise(p, q, n, power)


def _power_noise(p: Floats, q: Floats, n: Ints, power: Power) -> Floats:
    """Variance of a power of the rate, or of the rest, from n trials, (L, I)."""
    if power.every:
        p, q = q, p
    falling = power.coefficients(np.maximum(n, power.k))
    r, trials = np.arange(1.0, falling.shape[1] + 1)[:, None], 2 * power.k
    with np.errstate(divide="ignore"):
        log_q = np.where(p < q, np.log1p(-np.minimum(p, 0.5)), np.log(q))
    logs = np.cumsum(np.log((trials + 1 - r) / r), axis=0) + scipy.special.xlogy(r, p)
    logs += np.where(q > 0, (trials - r) * log_q, -np.inf)
    return np.asarray(falling @ np.exp(logs))


class Moments(NamedTuple):
    """Moments of C metrics of G groups under two fits, each array of shape (C, G)."""

    smooth_mean: Floats  # mean of a metric under the smooth fit
    smooth_rest: Floats  # mean of its complement
    smooth_variance: Floats  # variance of its estimate
    smooth_spread: Floats  # standard deviation of that variance between populations
    free_mean: Floats
    free_rest: Floats
    free_variance: Floats
    free_spread: Floats  # the same between the success rates of questions
    at_rates: list[Floats]  # variance of a question's estimate by its trials, C of (L, I)


def group_moments(group: Group, metrics: Sequence[CreditSum], weights: QuestionWeights) -> Moments:
    """`moments_of` one group."""
    return moments_of(group.fits, metrics, group.weights(weights))


def moments_of(fits: Fits, metrics: Sequence[CreditSum], weights: QuestionWeights) -> Moments:
    """Mean and variance of some metrics of each group under both fits."""
    # Each has the same to the last bit, whatever the others are; without an estimate, any.
    smooth = np.empty((4, len(metrics), len(fits.weight)))
    for groups, populations in fits.lattices:
        smooth[:, :, groups] = smooth_moments(
            Questions.from_fits(fits, groups, populations, weights), metrics
        )
    at_rates = [rate_moments(fits.weight.shape[1], fits.levels[0], metric) for metric in metrics]
    free = np.stack(
        [
            _free_moments(fits, metric, at_rate, weights)
            for metric, at_rate in zip(metrics, at_rates, strict=True)
        ],
        axis=1,
    )
    return Moments._make([*smooth, *free, [at_rate.variance for at_rate in at_rates]])


class Questions(NamedTuple):
    """Questions of G groups in S states, under J populations that the groups share."""

    n: Ints  # (S,)
    c: Ints
    first: Floats  # sums of weights and of their squares in each state, (G, S)
    second: Floats
    shape: Floats  # Beta parameters of failure and success, (J, 2)
    weight: Floats  # of each population in each group, (G, J)

    @classmethod
    def from_fits(
        cls, fits: Fits, groups: Ints, populations: Populations, weights: QuestionWeights
    ) -> Questions:
        """The questions of some groups of a batch."""
        here = np.flatnonzero(fits.questions[groups].any(axis=0))
        first, second = (each[groups][:, here] for each in weights[:2])
        n, c = fits.n[here], fits.c[here]
        return cls(n, c, first, second, populations.shape, populations.weight)

    def at(self, rows: Rows) -> Questions:
        """The questions in some states."""
        parts = self.n[rows], self.c[rows], self.first[:, rows], self.second[:, rows]
        return Questions(*parts, self.shape, self.weight)

    @property
    def posterior(self) -> tuple[Floats, Floats]:
        """Beta parameters of success and failure of each state, (S, J) each."""
        failure, success = self.shape.T
        return success + self.c[:, None], failure + (self.n - self.c)[:, None]


def smooth_moments(questions: Questions, metrics: Sequence[CreditSum]) -> Floats:
    """Mean, complement, variance, and its spread between populations, (4, C, G)."""
    weight, levels = questions.weight, np.unique(questions.n)
    means = np.zeros((2, len(metrics), len(weight)))
    variance = [np.zeros(weight.shape) for _ in metrics]
    trials = float(questions.n.max() + questions.shape.sum(axis=1).max())
    kinds: dict[tuple[int, bytes], list[tuple[int, Draw]]] = {}
    for number, metric in enumerate(metrics):
        for rows, draw in metric.draws(levels):
            size, own_levels = draw.trials_ahead(trials), levels[rows]
            # Sums over rates are those of a level; others take all states that share the draw.
            parts = np.split(own_levels, own_levels.size) if size == _BY_RATES else [own_levels]
            for part in parts:
                kinds.setdefault((size, part.tobytes()), []).append((number, draw))
    for (size, part_levels), of_kind in kinds.items():
        here = np.isin(questions.n, np.frombuffer(part_levels, dtype=levels.dtype))
        some = questions if here.all() else questions.at(np.flatnonzero(here))
        numbers, draws = [number for number, _ in of_kind], [draw for _, draw in of_kind]
        if size == _BY_RATES:
            mean, noise = _sums_over_rates(some, draws)
        else:
            mean, noise = (
                _sums_in_closed_form(some, draws)
                if size == _CLOSED
                else _sums_ahead(some, draws, size)
            )
        means[:, numbers] += mean
        for number, part in zip(numbers, noise, strict=True):
            variance[number] += part
    # Rounding may leave less than nothing.
    centre, spread = np.empty((2, len(metrics), len(weight)))
    for row, noise in enumerate(variance):
        centre[row] = np.einsum("gj,gj->g", weight, np.maximum(noise, 0.0, out=noise))
        away = np.subtract(noise, centre[row, :, None], out=noise)
        spread[row] = np.einsum("gj,gj->g", weight, np.square(away, out=away))
    return np.stack([*np.maximum(means, 0.0), centre, np.sqrt(spread)])


def _sums_ahead(questions: Questions, draws: Sequence[Draw], size: int) -> tuple[Floats, Floats]:
    """Means and complements (2, C, G), variances (C, G, J), by the successes in `size` trials."""
    levels, place = np.unique(questions.n, return_inverse=True)
    trials = levels.tobytes()
    values = [_polynomials_ahead(draw.gains.tobytes(), trials, size) for draw in draws]
    means = np.zeros((2, len(draws), len(questions.weight)))
    variance = np.zeros((len(draws), *questions.weight.shape))
    for block in row_slices(place.size, (size + 1) * len(questions.shape)):
        some = questions.at(block)
        chances = _chances_ahead(*some.posterior, size)
        often = np.einsum("tsg,gs->tg", chances @ some.weight.T, some.first)
        of_state = np.swapaxes(chances, 0, 1)
        for row, (credit, rest, noise) in enumerate(values):
            means[:, row] += credit @ often, rest @ often
            variance[row] += some.second @ (noise[place[block], None] @ of_state)[:, 0]
    return means, variance


@lru_cache(maxsize=_KEPT)
def _polynomials_ahead(of_success: bytes, trials: bytes, size: int) -> tuple[Floats, ...]:
    """Credit, complement and variance (L, size + 1) by successes, times the ways to have them."""
    draw, n = Draw.from_gains(np.frombuffer(of_success)), np.frombuffer(trials, dtype=np.int64)
    drawn, ways = draw_chances(size, draw.gains.size), scipy.special.comb(size, range(size + 1))
    noise = draw.noise(n) @ draw_chances(size, 2 * draw.gains.size).T
    both = credit_of(draw.gains), credit_complement(draw.gains)
    return *(ways * (drawn @ credit) for credit in both), ways * noise


def _chances_ahead(a: Floats, b: Floats, size: int) -> Floats:
    """Chances of one way to have each number of successes, (size + 1, S, J), under Beta(a, b)."""
    chances = np.ones((size + 1, *a.shape))
    ways = scipy.special.comb(size, range(size + 1))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for t in range(size):
            np.divide(a + t, b + (size - 1 - t), out=chances[t + 1])
            chances[t + 1] *= chances[t]
        total = np.tensordot(ways, chances, 1)
        chances /= total
    lost = ~np.isfinite(total)
    if lost.any():
        chances[:, lost] = urn_chances(a[lost], b[lost], size).T / ways[:, None]
    return chances


def _sums_over_rates(questions: Questions, draws: Sequence[Draw]) -> tuple[Floats, Floats]:
    """`_sums_ahead` of questions with equal n, by the rates that resolve all posteriors."""
    n = int(questions.n[0])
    few = 2 * questions.c <= n
    # Questions that are all alike have populations narrower than a grid can show.
    total = questions.shape.sum(axis=1, keepdims=True)
    shape = questions.shape * np.minimum(1.0, _NARROWEST / total)
    grid = rate_grid(n + min(float(total.max()), _NARROWEST))
    prior, likelihood, scale, lost = posterior_parts(shape, n, questions.c, grid)
    p, q = np.append(grid.p, [0.0, 1.0]), np.append(grid.q, [1.0, 0.0])
    values = [_values_at(p, q, questions.n[:1], draw) for draw in draws]
    means = np.zeros((2, len(draws), len(questions.weight)))
    variances = np.zeros((len(draws), *questions.weight.shape))
    for group, weight in enumerate(questions.weight):
        first, second = questions.first[group], questions.second[group]
        noise = prior * ((scale * second) @ likelihood)
        times = first.sum() / second.sum()
        equal = np.allclose(first, times * second, rtol=1e-12, atol=0)
        often = times * noise if equal else prior * ((scale * first) @ likelihood)
        ends = (weight @ lost) * first
        chance = np.concatenate([weight @ often, [ends[few].sum(), ends[~few].sum()]])
        for row, (credit, rest, variance) in enumerate(values):
            means[:, row, group] = credit @ chance, rest @ chance
            variances[row, group] = noise @ variance[0, :-2]
    return means, variances


def posterior_parts(
    shape: Floats, n: int, c: Ints, grid: RateGrid
) -> tuple[Floats, Floats, Floats, Floats]:
    """Priors (J, I), likelihoods (S, I), factors to posteriors, and lost mass, (J, S)."""
    # The factors give the known mean of the rate (of its complement, if most trials succeed): the
    # mass may have a pole beyond the grid, which is lost.
    logs = np.stack([np.log(grid.q), np.log(grid.p)])
    prior = _scaled_exp((shape - 0.5) @ logs + grid.log_width)
    likelihood = _scaled_exp(np.stack([n - c, c], axis=1) @ logs)
    few = 2 * c <= n
    known = np.where(few, shape[:, 1:] + c, shape[:, :1] + (n - c))
    known /= shape.sum(axis=1, keepdims=True) + n
    parts = prior @ np.where(few[:, None], likelihood * grid.p, likelihood * grid.q).T
    # A population under which a state is impossible in floating point has no weight to speak of.
    scale = np.divide(known, parts, out=np.zeros_like(parts), where=parts > 0)
    lost = 1 - (prior @ likelihood.T) * scale
    return prior, likelihood, scale, np.where((lost > _ROUNDING) & (scale > 0), lost, 0.0)


def _scaled_exp(logs: Floats) -> Floats:
    """Exponentials of each row, of which the largest is 1."""
    scaled: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    return scaled


def _sums_in_closed_form(questions: Questions, draws: Sequence[Draw]) -> tuple[Floats, Floats]:
    """`_sums_ahead` of draws that are a power, from more trials than rates could resolve."""
    means = np.zeros((2, len(draws), len(questions.weight)))
    variance = np.zeros((len(draws), *questions.weight.shape))
    for block in row_slices(questions.n.size, _BLOCK * len(questions.shape)):
        some = questions.at(block)
        for row, draw in enumerate(draws):
            *both, noise = posterior_means(draw, *some.posterior, some.n)
            means[:, row] += [((some.first @ each) * some.weight).sum(axis=1) for each in both]
            variance[row] += some.second @ noise
    return means, variance


def posterior_means(draw: Draw, a: Floats, b: Floats, n: Ints) -> tuple[Floats, Floats, Floats]:
    """Means of credit, complement and variance of a power under ``p ~ Beta(a, b)``, (S, J) each."""
    # `a` and `b` (S, J) are after n trials (S,); the variance is that of an estimate from n trials.
    power = draw.power
    assert power is not None
    if power.every:
        a, b = b, a
    k = power.k
    chance, rest = (each.reshape(a.shape) for each in power_chances(a.ravel(), b.ravel(), k))
    further, _ = power_chances(a.ravel(), b.ravel() + k, k)
    few, variance = chance * further.reshape(a.shape), np.zeros_like(a)
    for r, coefficients in enumerate(power.coefficients(n).T):
        few *= (2 * k - r) / (r + 1) * ((a + r) / (b + (2 * k - 1 - r)))
        variance += few * coefficients[:, None]
    return *power.credit(chance, rest), variance


def _free_moments(
    fits: Fits, metric: CreditSum, known: AtRates, weights: QuestionWeights
) -> tuple[Floats, ...]:
    """Mean, complement, variance, and its spread between the rates of questions, (G,) each."""
    (levels, place), likelihood = fits.levels, fits.likelihood
    # A state without questions may have lost its chance.
    chance = np.where(fits.questions > 0, fits.chance, 1.0)
    mean, rest, noise, square = np.zeros((4, len(chance)))
    for rows, _ in metric.draws(levels):
        here = rows if isinstance(rows, slice) else np.isin(place, rows)
        often = fits.weight * ((weights.first / chance)[:, here] @ likelihood[here])
        mean += often @ known.credit[rows][0]
        rest += often @ known.rest[rows][0]
    best = likelihood.argmax(axis=1)
    for block in row_slices(place.size, _BLOCK * fits.weight.shape[1]):
        # From the value at its best rate: the square of a mean is small beside the mean square.
        variance = known.variance[place[block]]
        centre = np.take_along_axis(variance, best[block, None], axis=1)
        away = variance - centre
        times = likelihood[block] * away
        far = fits.weight @ times.T / chance[:, block]
        times *= away
        wide = fits.weight @ times.T / chance[:, block] - far**2
        noise += np.einsum("gs,gs->g", weights.second[:, block], far + centre.T)
        square += np.einsum("gs,gs->g", weights.fourth[:, block], wide)
    up, down, noise, square = np.maximum([mean, rest, noise, square], 0.0)
    return up, down, noise, np.sqrt(square)


# Long draws that are no power: a Beta posterior is summed over a grid of rates as fine as it is
# narrow, at a cost that grows with the root of the trials.
_STEP = 0.25  # step of the grid of rates; the narrowest posterior has a standard deviation of 0.5
_TAIL = 18.0  # the grid ends where a rate is below exp(-2 * 18) of the narrowest posterior's width
_MOST_RATES = 40_000  # of a grid: half a minute
_NARROWEST = 1e6  # parameters in sum of the narrowest population of a grid: rates within .05 %
_NEVER = 1e-20  # chance of an overlap that does not count


class RateGrid(NamedTuple):
    """Success rates p = 1 - q that resolve each posterior of a level, each array of shape (I,)."""

    p: Floats
    q: Floats
    log_width: Floats  # log weight under 1 / (pi sqrt(p q)), up to a constant
    trials: float  # that it resolves


def _rates_needed(trials: float) -> float:
    """Rates of `rate_grid`."""
    return float((np.pi / 2 * np.sqrt(trials) + 2 * _TAIL) / _STEP)


def rate_grid(trials: float) -> RateGrid:
    """Success rates fine enough for Beta distributions with parameters up to `trials` in sum."""
    # Equal steps of ``arcsin(sqrt(p))`` in the middle, and of ``log p`` near both ends, where it
    # may have a pole; blended smoothly. ValueError if that needs more than 40,000 rates.
    root = np.sqrt(trials)
    length = np.pi / 2 * root
    if _rates_needed(trials) > _MOST_RATES:
        raise ValueError(
            f"the calibrated interval of a draw of more than 256 out of {trials:,.0f} trials would "
            'take minutes. Pass a k of at most 256, or prior="uniform".'
        )
    s = np.arange(-_TAIL, length + _TAIL + _STEP, _STEP)
    angle, rest = (
        (np.logaddexp(0.0, x) - np.logaddexp(0.0, x - length)) / root for x in (s, length - s)
    )
    log_width = -np.logaddexp(0.0, -s) - np.logaddexp(0.0, s - length)
    return RateGrid(np.sin(angle) ** 2, np.sin(rest) ** 2, log_width, trials)


def noise_at_rates(p: Floats, q: Floats, n: Ints, credit: Floats) -> Floats:
    """Variance of the estimate from n trials (L,) at some rates, shape (L, I)."""
    # Two draws of k out of n share r trials. Given x successes among these, each earns ``m_r(x)``,
    # the mean over the others, and ``V = E[Var(m_r(X))]``. From ``m_k = credit``, ``m_{r-1}(x) = q
    # m_r(x) + p m_r(x + 1)``: nothing cancels.
    k = credit.size - 1
    shared = np.stack([overlap_chances(size, k) for size in n.tolist()])
    wanted = np.flatnonzero(shared.max(axis=0) > _NEVER)
    noise = np.zeros((n.size, p.size))
    for block in row_slices(p.size, 4 * k):
        low, high = p[block, None], q[block, None]
        near = np.where(low <= high, credit[0], credit[-1])
        values = credit - near
        mean = (binomial_chances(k, p[block], q[block]) * values).sum(axis=1, keepdims=True)
        for r in range(k, max(int(wanted[0]), 1) - 1, -1):
            if shared[:, r].max() > _NEVER:
                chance = binomial_chances(r, p[block], q[block])
                spread = (chance * (values - mean) ** 2).sum(axis=1)
                noise[:, block] += shared[:, r, None] * spread
            values = high * values[:, :-1] + low * values[:, 1:]
    return noise
