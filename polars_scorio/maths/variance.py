"""Variance of a k-metric as a polynomial of the success rate, and its moments under both fits.

The credit of 0..d successes also represents a polynomial of the success rate p, in Bernstein form:
``g(p) = E[g[T]]``, ``T ~ Binomial(d, p)``. The variance of an estimate is such a polynomial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import CELLS, Floats, Ints, row_slices
from polars_scorio.maths.credit import only_success
from polars_scorio.maths.draws import (
    binomial_chances,
    draw_chance_rows,
    draw_chances,
    expected_credit,
    overlap_chances,
    share_chances,
    urn_chances,
)
from polars_scorio.maths.free_fit import Group, Level, rate_nodes
from polars_scorio.maths.lattice import batched_rows
from polars_scorio.maths.powers import no_success_drawn
from polars_scorio.maths.questions import QuestionWeights, States
from polars_scorio.maths.rate_quadrature import estimate_moments, posterior_sums, rate_grid

# The gains of a draw from a question with n trials (see `credit`), at most 1 in sum.
GainsOf = Callable[[int], Floats]
# For questions with n trials: a credit, its complement, the variance of its estimate.
Polynomials = tuple[Floats, Floats, Floats]

_ROUNDING = 1e-12
_PAIRS = 64  # k up to which two draws are paired for each overlap,
_MANY, _MORE_PAIRS = 1_000_000, 256  # and k beyond so many trials, where sums over rates take long
_KEPT = 128  # polynomials, of 32 KB at most
_STACKS = 32  # cached stacks of polynomials: 15 MB at most
_FEW = 16  # the least degree that metrics share, but for that of a mean
_TABULATED = 2048  # trials up to which the noise of all states is worked out at once


@dataclass(frozen=True, slots=True, eq=False)
class CreditSum:
    """A weighted sum of metrics whose variance is needed: usually one credit."""

    terms: Sequence[tuple[float, GainsOf]]  # weight of each credit, and its gains by n
    # polynomials by n, shared by groups
    known: dict[int, Polynomials] = field(default_factory=dict)
    # `noise_estimates` of all states, by n
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
        """Unbiased estimates of the variance of the estimate from n >= 2 k trials, shape of c.

        The square of the estimate, less the mean product of two draws of k without a common trial.
        Its mean over c is the variance, a polynomial of the success rate; hence it is the credit of
        this polynomial, drawn from the n trials. NaN if the polynomial is too long, and the metric
        is no power of a rate.
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
    """`variance_credit` of a credit, cached across reports; not to be written to."""
    return variance_credit(n, np.frombuffer(credit))


def fixed_gains(gains: Floats) -> GainsOf:
    """Gains of a draw that is the same for each question."""
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


def _power_noise(n: int, c: Ints, gains: Floats) -> Floats:
    """`noise_estimates` of a credit that one success earns, or only all, in closed form."""
    k, success = gains.size, only_success(gains)
    if success not in {1, k}:
        return np.full(c.size, np.nan)
    avoided, trials = c if success == 1 else n - c, np.full_like(c, n)
    (once, _), (twice, _) = (no_success_drawn(trials, avoided, size) for size in (k, 2 * k))
    return np.asarray(gains.max() ** 2 * (once**2 - twice))


def credit_of(gains: Floats) -> Floats:
    """The credit of 0..k successes, from what each success adds."""
    return np.concatenate(([0.0], np.cumsum(gains)))


def elevate_degree(credit: Floats, trials: int) -> Floats:
    """Elevate a polynomial: its credit by the successes in more trials."""
    if trials == credit.size - 1:  # a table of trials^2 numbers would say the same
        return credit
    return draw_chances(trials, credit.size - 1) @ credit


def variance_degree(n: int, k: int) -> int:
    """Trials in which `variance_credit` counts its successes."""
    return 2 * k if 2 * k >= n or k <= _most_paired(n) else n


def _most_paired(n: int) -> int:
    return _PAIRS if n <= _MANY else _MORE_PAIRS


def variance_credit(n: int, credit: Floats) -> Floats:
    """Variance of the unbiased estimate from n >= k trials of a question, given its success rate.

    ``V_n(p) = E[U_n(C)^2 | p] - g(p)^2``, ``C ~ Binomial(n, p)``, as a polynomial by the successes
    in `variance_degree` trials: 2 k, or n if that is more and k is large. Each entry is taken from
    the credit above its first or below its last value, whichever leaves less to cancel: near both
    ends of the range of p the relative accuracy is kept.
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


_URN_COST = 4  # an entry of `urn_chances` costs this many of the sum over states


def further_successes(
    failures: Floats, successes: Floats, n: int, c: Ints, questions: Ints | Floats, further: int
) -> Floats:
    """Expected number of questions with t = 0..D successes in D further trials, (..., J, D + 1).

    `failures`, `successes` (..., J): Beta parameters; `questions` (..., S). Every polynomial of the
    success rates up to degree D has its posterior mean from these numbers. A group has the same to
    the last bit, whatever the others are.
    """
    by_state = c.size * (further + 1) * _URN_COST
    by_node = (n + further + 1) * _URN_COST + c.size * (further + 1)
    alone = by_state < by_node
    method, columns = (_from_posteriors, further) if alone else (_from_prior, n + further)
    expected = np.empty((further + 1, *failures.shape))
    for nodes in row_slices(failures.shape[-1], columns + 1):
        expected[..., nodes] = method(
            failures[..., nodes], successes[..., nodes], n, c, questions, further
        )
    return np.moveaxis(expected, 0, -1)


def _from_prior(
    b: Floats, a: Floats, n: int, c: Ints, questions: Ints | Floats, further: int
) -> Floats:
    """By the successes in all n + D trials, whose chances the states share."""
    both, first = (_node_chances(a, b, size) for size in (n + further, n))
    expected = np.zeros((further + 1, *a.shape))
    term, column = np.empty_like(expected), (-1, *(1,) * a.ndim)
    for state, share in enumerate(share_chances(n, further, c)):
        successes, known = int(c[state]), first[c[state]]
        # A node to which some state is impossible (in floating point) has no weight worth the name.
        of_node = np.zeros_like(known)
        np.divide(questions[..., state, None], known, out=of_node, where=known > 0)
        np.multiply(both[successes : successes + further + 1], of_node, out=term)
        term *= share.reshape(column)
        expected += term
    return expected


def _from_posteriors(
    b: Floats, a: Floats, n: int, c: Ints, questions: Ints | Floats, further: int
) -> Floats:
    """State by state: cheaper if few states share their n."""
    expected = np.zeros((further + 1, *a.shape))
    for successes, shared in zip(c.tolist(), np.moveaxis(questions, -1, 0), strict=True):
        chances = _node_chances(a + successes, b + (n - successes), further)
        expected += np.asarray(shared)[..., None] * chances
    return expected


def _node_chances(a: Floats, b: Floats, size: int) -> Floats:
    """Chances of 0..size successes in so many trials, for each node, shape (size + 1, ..., J).

    As `urn_chances`, but each step multiplies all nodes at once: half the time for 700 nodes.
    """
    drawn = np.arange(float(size)).reshape(-1, *(1,) * a.ndim)
    chances = np.empty((size + 1, *a.shape))
    chances[0] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        ratios = (size - drawn) * (a + drawn)
        ratios /= (drawn + 1) * (b + (size - 1 - drawn))
        for trial in range(size):
            np.multiply(chances[trial], ratios[trial], out=chances[trial + 1])
        total = chances.sum(axis=0)
        chances /= total
    lost = ~np.isfinite(total)
    if lost.any():
        chances[:, lost] = urn_chances(a[lost], b[lost], size).T
    return chances


# Above this degree polynomials are not worked out: their tables would exceed 70 MB.
_MOST_DEGREE = 2048
_SHARED = 512  # arrays that groups with as many trials share: 12 MB at most


class Moments(NamedTuple):
    """Moments of C metrics of one group under two fits, each array of shape (C,)."""

    smooth_mean: Floats  # mean of a metric under the smooth fit
    smooth_rest: Floats  # mean of its complement
    smooth_variance: Floats  # variance of its estimate
    smooth_spread: Floats  # standard deviation of that variance between populations
    free_mean: Floats
    free_rest: Floats
    free_variance: Floats
    free_spread: Floats  # the same between the success rates of questions
    rate_variance: Floats  # variance if all questions had one rate, (C, I)


def group_moments(group: Group, metrics: Sequence[CreditSum], weights: QuestionWeights) -> Moments:
    """Mean and variance of some metrics of one group under both fits; n >= k throughout."""
    return moments_of_groups([group], metrics, [weights])[0]


def moments_of_groups(
    groups: Sequence[Group], metrics: Sequence[CreditSum], weights: Sequence[QuestionWeights]
) -> list[Moments]:
    """`group_moments` of each group; those with the same states and nodes are computed together.

    For 400 groups of 250 questions with 16 trials this takes a third of the time of a loop. A group
    has the same moments to the last bit, whatever the others are.
    """
    alike: dict[object, list[int]] = {}
    for row, (group, own) in enumerate(zip(groups, weights, strict=True)):
        states = group.n.tobytes(), group.c.tobytes()
        key = (*states, group.grid.weight.size, group.free.weight.size, own.is_equal)
        alike.setdefault(key, []).append(row)
    moments: dict[int, Moments] = {}
    for rows in alike.values():
        first = groups[rows[0]]
        cells = max(first.grid.weight.size * 3 * int(first.n.max()), first.free.likelihood.size)
        for some in batched_rows(rows, max(CELLS // cells, 1)):
            stack = GroupStack.of([groups[row] for row in some], [weights[row] for row in some])
            moments.update(zip(some, stack.moments(metrics), strict=True))
    return [moments[row] for row in range(len(groups))]


class GroupStack(NamedTuple):
    """Groups with the same states and as many nodes."""

    levels: tuple[Level, ...]  # states by trials; `Level.questions` are of the first group
    shape: Floats  # Beta parameters of the smooth fits: failure, success, (G, J, 2)
    weight: Floats  # of the smooth fits, (G, J)
    posterior: Floats  # weights of the rates of the free fits, (G, S, I)
    first: Floats  # powers of `QuestionWeights`, as the next two, (G, S)
    second: Floats
    fourth: Floats
    largest: Floats  # weight of a question, (G,)
    is_equal: bool  # whether all questions of a group weigh the same

    @classmethod
    def of(cls, groups: Sequence[Group], weights: Sequence[QuestionWeights]) -> GroupStack:
        """Stack some groups."""
        shape, weight = (
            np.stack([getattr(group.grid, name) for group in groups])
            for name in ("shape", "weight")
        )
        posterior = np.stack([group.free.posterior for group in groups])
        first, second, fourth = (
            np.stack([getattr(own, name) for own in weights])
            for name in ("first", "second", "fourth")
        )
        largest = np.array([own.largest for own in weights])
        powers = first, second, fourth, largest
        return cls(groups[0].levels, shape, weight, posterior, *powers, weights[0].is_equal)

    def moments(self, metrics: Sequence[CreditSum]) -> list[Moments]:
        """The moments of each group.

        A metric has the same moments to the last bit, whatever the others are: each has matrix
        products of its own, whose sizes the others do not change.
        """
        (groups, nodes), size = self.weight.shape, self.posterior.shape[-1]
        smooth = np.zeros((groups, len(metrics), nodes, 3))
        free, square = np.zeros((groups, len(metrics), 3)), np.zeros((groups, len(metrics)))
        at_rate = np.zeros((groups, len(metrics), size))
        for level in self.levels:
            smooth += self._node_moments(level, metrics)
            at_rates = rate_moments(size, level.n, metrics)
            means, squares = self._free_sums(level, at_rates)
            free += means
            square += squares
            noise = self.second.take(level.rows, axis=1).sum(axis=1)
            at_rate += noise[:, None, None] * at_rates[..., 2]
        # Rounding may leave less than nothing.
        smooth, free, at_rate = (np.maximum(each, 0.0) for each in (smooth, free, at_rate))
        mean = _weighted_sums(self.weight, smooth)
        away = (smooth[..., 2:] - mean[..., None, 2:]) ** 2
        spread = np.sqrt(_weighted_sums(self.weight, away)[..., 0])
        parts = *np.moveaxis(mean, -1, 0), spread, *np.moveaxis(free, -1, 0), np.sqrt(square)
        return [Moments(*group) for group in zip(*parts, at_rate, strict=True)]

    def _node_moments(self, level: Level, metrics: Sequence[CreditSum]) -> Floats:
        """Sums over the questions of a level of posterior means, shape (G, metrics, J, 3).

        Of credit and complement, by the weights, and of variance, by their squares, under each
        population of the smooth fit.
        """
        moments = self._weighted_node_sums(level, metrics, self.first.take(level.rows, axis=1))
        if self.is_equal:
            moments[..., 2] *= self.largest[:, None, None]
        else:
            squared = self._weighted_node_sums(level, metrics, self.second.take(level.rows, axis=1))
            moments[..., 2] = squared[..., 2]
        return moments

    def _weighted_node_sums(
        self, level: Level, metrics: Sequence[CreditSum], weight: Floats
    ) -> Floats:
        """Sums by one weight of a state, of posterior means of credit, complement and variance."""
        n, shape = level.n, self.shape
        moments = np.empty((len(shape), len(metrics), shape.shape[1], 3))
        degrees = shared_degrees(metrics, n)
        exact = degrees <= _MOST_DEGREE
        for degree in np.unique(degrees[exact]).tolist():
            rows = np.flatnonzero(degrees == degree)
            stack = polynomial_stack(tuple(metrics[row] for row in rows.tolist()), n, degree)
            nodes = shape[..., 0], shape[..., 1]
            moments[:, rows] = (
                further_successes(*nodes, n, level.c, weight, degree)[:, None] @ stack
            )
        if not exact.all():
            some = [*compress(metrics, ~exact)]
            for row, nodes_of_group in enumerate(shape):
                grid = rate_grid(n + float(nodes_of_group.sum(axis=1).max()))
                values = _summed_moments(grid.p, grid.q, n, some)
                sums = posterior_sums(nodes_of_group, n, level.c, weight[row], grid, values)
                moments[row, ~exact] = np.moveaxis(sums, 1, 0)
        return moments

    def _free_sums(self, level: Level, at_rates: Floats) -> tuple[Floats, Floats]:
        """Sums over the questions of a level under the free fits: moments, squared distances.

        The second is the variance of the summed variances: the rates of questions are independent.
        """
        metrics, size, _ = at_rates.shape
        # An index in brackets may change the order in memory, and with it that of sums.
        posterior, first, second, fourth = (
            each.take(level.rows, axis=1)
            for each in (self.posterior, self.first, self.second, self.fourth)
        )
        means = posterior[:, None] @ at_rates
        spread = np.empty((*means.shape[:-1], 1))
        for block in row_slices(means.shape[2], len(posterior) * size * metrics):
            away = at_rates[:, None, :, 2] - means[:, :, block, 2:]
            spread[:, :, block, 0] = np.einsum("gsi,gmsi->gms", posterior[:, block], away**2)
        sums = _weighted_sums(first, means)
        sums[..., 2] = _weighted_sums(second, means[..., 2:])[..., 0]
        return sums, _weighted_sums(fourth, spread)[..., 0]


def _weighted_sums(weight: Floats, values: Floats) -> Floats:
    """Sums over questions or nodes, by the weights (G, N) of each group: (G, C, N, x) to (G, C, x).

    A product for each metric: in one of all metrics a sum would depend on how many there are.
    """
    return np.asarray((weight[:, None, None] @ values)[:, :, 0])


def rate_moments(size: int, n: int, metrics: Sequence[CreditSum]) -> Floats:
    """Credit, complement and variance at each of `size` rates, shape (metrics, I, 3)."""
    return np.stack([_moments_at_rates(size, n, metric) for metric in metrics])


@lru_cache(maxsize=_SHARED)
def _moments_at_rates(size: int, n: int, metric: CreditSum) -> Floats:
    """The moments of one metric at the rates of a free fit of this size, which groups share."""
    (degree,) = shared_degrees([metric], n).tolist()
    if degree <= _MOST_DEGREE:
        return np.asarray(
            chances_at_nodes(degree, size) @ polynomial_stack((metric,), n, degree)[0]
        )
    return np.asarray(_summed_moments(*rate_nodes(size), n, [metric])[0].T)


def _summed_moments(p: Floats, q: Floats, n: int, metrics: Sequence[CreditSum]) -> Floats:
    """Credit, complement and variance at some rates, by sums over windows of successes."""
    smooth = 2 * draw_sizes(metrics, n) <= n
    moments = np.empty((len(metrics), 3, p.size))
    for rows in (np.flatnonzero(smooth), np.flatnonzero(~smooth)):
        if rows.size:
            some = [metrics[row] for row in rows.tolist()]

            def estimates_of(c: Ints, some: Sequence[CreditSum] = some) -> Floats:
                return np.stack([metric.estimates(n, c) for metric in some])

            moments[rows] = estimate_moments(n, p, q, estimates_of, smooth=bool(smooth[rows[0]]))
    return moments


@lru_cache(maxsize=8)
def chances_at_nodes(degree: int, size: int) -> Floats:
    """Chances of 0..degree successes at each of the rates of a free fit, (size, degree + 1)."""
    return binomial_chances(degree, *rate_nodes(size))
