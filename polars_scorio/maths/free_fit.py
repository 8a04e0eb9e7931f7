"""The smooth and the free fit of each group.

Smooth: a Beta population, summed by the trapezoid rule in both logits, which converges
geometrically (L. N. Trefethen, J. A. C. Weideman 2014, SIAM Review 56, theorem 5.1). Free: the
nonparametric maximum likelihood on fixed success rates, by expectation and maximisation from two
questions' worth of the smooth fit; its plain maximum by Newton's method, as EM stops .2 short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import CELLS, Floats, Ints, Mask, distinct_rows, row_slices
from polars_scorio.maths.likelihood import EXACT, STIRLING_COST, log_rising_by_stirling
from polars_scorio.maths.questions import QuestionWeights, States, Subgroups

# Largest step of both logits. The density has poles at a distance of pi; where all succeed, fail or
# repeat themselves, it is a power of exp(x) times exp(-exp(x)), and the distance is as pi / 2:
# exp(-pi^2 / .4) = 2e-11.
_STEP = 0.4
# Approximate standard deviations of the posterior in a step: more if it is narrow, and so normal.
_RESOLVED, _RESOLVED_NARROW, _NARROW = 0.8, 1.0, 0.2
_DEPTH = 21.0  # exp(-21) = 8e-10: populations less likely than that, by the best, do not count
_FIRST, _WIDER = 9, 16  # steps around the centres, and by which a lattice grows
_MOST_GROWTH = 64  # times; rounding beyond 1e14 trials may scatter the populations that count
_FINEST = 2.0**-30  # of a step
_SHARED = 128  # groups on one lattice,
_APART = 32.0  # steps that their centres may lie apart, at most


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class Populations:
    """J Beta populations, and the posterior weight of each in each of G groups."""

    logit_mean: Floats  # (J,)
    logit_rho: Floats
    weight: Floats  # (G, J); each row sums to 1
    highest: Floats  # largest log likelihood of any population, (G,)

    @cached_property
    def shape(self) -> Floats:
        """Beta parameters of failure and success, (J, 2)."""
        mean = scipy.special.expit([-self.logit_mean, self.logit_mean])
        return np.asarray((np.exp(-self.logit_rho) * mean).T)

    @cached_property
    def middle(self) -> tuple[Floats, Floats, Floats]:
        """Posterior means of the mean, of its complement and of the correlation, (G,) each."""
        x = self.logit_mean
        mean, rest, rho = (
            self.weight @ scipy.special.expit(each) for each in (x, -x, self.logit_rho)
        )
        return mean, rest, rho

    def at(self, groups: Ints) -> Populations:
        """The populations that count for some groups."""
        weight, highest = self.weight[groups], self.highest[groups]
        kept = weight.any(axis=0)
        return Populations(self.logit_mean[kept], self.logit_rho[kept], weight[:, kept], highest)


@dataclass(frozen=True, slots=True, eq=False)
class _Starts:
    """Place of the posterior of each group, and the steps that resolve it, (G,) each."""

    mean: Floats  # logit
    rho: Floats
    mean_step: Floats
    rho_step: Floats

    @classmethod
    def from_counts(cls, n: Ints, c: Ints, questions: Floats) -> _Starts:
        """By the moments of the shares of successes."""
        size, trials = questions.sum(axis=1), questions @ n
        pairs = np.maximum(questions @ (n * (n - 1.0)) / trials, 1)  # trials of the same question
        mean = (questions @ c + 0.5) / (trials + 1)
        square = _row_sums(questions, (c - n * mean[:, None]) ** 2)
        excess = square / (mean * (1 - mean)) / trials - 1
        rho = np.clip(excess / pairs, 1 / np.sqrt(trials + 1), 0.95)
        effective = _row_sums(questions, n / (1 + (n - 1) * rho[:, None]))
        spread = np.sqrt(1 / (mean * effective) + 1 / ((1 - mean) * effective))
        wide = np.sqrt(2 / np.maximum(size - 1, 1)) * (1 + 1 / (pairs * rho))
        # Only questions that neither repeat success nor failure tell a correlation from 1.
        wide = np.maximum(wide, 0.75 / np.sqrt(1 + questions @ ((c > 0) & (c < n))))
        logits = [np.asarray(scipy.special.logit(each)) for each in (mean, rho)]
        return cls(logits[0], logits[1], _step_of(spread), _step_of(wide))


def _row_sums(questions: Floats, values: Floats) -> Floats:
    """Sum over the questions of each group, shape (G,)."""
    return np.asarray(np.einsum("gs,gs->g", questions, values))


def _step_of(deviation: Floats) -> Floats:
    """The largest step that resolves a posterior: few of them, so that groups share lattices."""
    resolved = np.where(deviation < _NARROW, _RESOLVED_NARROW, _RESOLVED) * deviation
    times = np.ceil(2 * np.log2(_STEP / resolved))
    return np.asarray(_STEP * np.maximum(2.0 ** (-np.maximum(times, 0) / 2), _FINEST))


def lattice_groups(n: Ints, c: Ints, questions: Floats) -> Iterator[Ints]:
    """Rows of groups (G, S) whose posteriors lie close enough to share a lattice."""
    starts = _Starts.from_counts(n, c, questions)
    steps = starts.mean_step, starts.rho_step
    order = np.lexsort((starts.mean, *steps))
    batch: list[int] = []
    for row in order.tolist():
        first = batch[0] if batch else row
        apart = abs(starts.mean[row] - starts.mean[first]) > _APART * starts.mean_step[row]
        if apart or len(batch) == _SHARED or any(step[row] != step[first] for step in steps):
            yield np.sort(batch)
            batch = []
        batch.append(row)
    if batch:
        yield np.sort(batch)


def fit_populations(n: Ints, c: Ints, questions: Floats) -> Populations:
    """Fit the Beta populations of some groups: `questions` (G, S) in states of n trials, (S,)."""
    starts = _Starts.from_counts(n, c, questions)
    steps = float(starts.mean_step.min()), float(starts.rho_step.min())
    middles = [centre / step for centre, step in zip((starts.mean, starts.rho), steps, strict=True)]
    lattice = _Lattice(
        [int(np.floor(each.min())) - _FIRST for each in middles],
        [int(np.ceil(each.max())) + _FIRST for each in middles],
    )
    tallies = _Tallies.from_questions(n, c, questions)
    known = np.empty((len(questions), 0, 0))
    old = lattice
    for _ in range(_MOST_GROWTH):
        known = _extended_likelihood(tallies, steps, known, old if known.size else None, lattice)
        density = known + _log_prior(lattice, steps)
        near = density > density.max(axis=(1, 2), keepdims=True) - _DEPTH
        old, lattice = lattice, lattice.grown(near.any(axis=0))
        if lattice == old:
            break
    kept = near.any(axis=0)
    base = np.where(near, density, -np.inf)[:, kept]
    weight = np.exp(base - base.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    x, y = (each[kept] for each in old.logits(steps))
    return Populations(x, y, weight, _highest_likelihoods(known))


@dataclass(frozen=True, slots=True)
class _Lattice:
    """A rectangle of populations: first and last step of both logits."""

    first: list[int]
    last: list[int]

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = (b - a + 1 for a, b in zip(self.first, self.last, strict=True))
        return rows, columns

    def logits(self, steps: tuple[float, float]) -> tuple[Floats, Floats]:
        """Logits of mean and correlation of each population, both of the lattice's shape."""
        x, y = (
            step * np.arange(a, b + 1)
            for step, a, b in zip(steps, self.first, self.last, strict=True)
        )
        return np.broadcast_to(x[:, None], self.shape), np.broadcast_to(y, self.shape)

    def grown(self, near: Mask) -> _Lattice:
        """The lattice, wider where populations on its border count."""
        borders = (near[0], near[-1]), (near[:, 0], near[:, -1])
        first = [
            a - _WIDER * bool(low.any()) for a, (low, _) in zip(self.first, borders, strict=True)
        ]
        last = [
            b + _WIDER * bool(high.any()) for b, (_, high) in zip(self.last, borders, strict=True)
        ]
        return _Lattice(first, last)


def _extended_likelihood(
    tallies: _Tallies,
    steps: tuple[float, float],
    known: Floats,
    old: _Lattice | None,
    lattice: _Lattice,
) -> Floats:
    """Log likelihoods on a lattice, (G, rows, columns), of which the old part is known."""
    filled, new = np.empty((len(known), *lattice.shape)), np.ones(lattice.shape, np.bool_)
    if old is not None:
        inside = tuple(
            slice(a - start, b - start + 1)
            for a, b, start in zip(old.first, old.last, lattice.first, strict=True)
        )
        filled[:, inside[0], inside[1]], new[inside] = known, False
    x, y = (each[new] for each in lattice.logits(steps))
    filled[:, new] = tallies.log_likelihoods(x, y)
    return filled


class _Tallies(NamedTuple):
    """Questions of G groups by their successes, by their failures and by their trials."""

    counts: list[Ints]  # that occur: three of (U,)
    often: list[Floats]  # sums over the questions with them, less those of trials: of (G, U)
    states: list[Ints]  # place of each state among the counts, (S,); empty if there are many
    questions: Floats  # of each group in each state, (G, S)

    @classmethod
    def from_questions(cls, n: Ints, c: Ints, questions: Floats) -> _Tallies:
        """Of states of n trials, (S,)."""
        distinct = [np.unique(each, return_inverse=True) for each in (c, n - c, n)]
        counts, places = [values for values, _ in distinct], [place for _, place in distinct]
        if n.size <= sum(each.size for each in counts):
            return cls(counts, [], places, questions)
        often = [np.zeros((len(questions), each.size)) for each in counts]
        for sums, place, sign in zip(often, places, (1, 1, -1), strict=True):
            np.add.at(sums.T, place, sign * questions.T)
        return cls(counts, often, [], questions)

    def log_likelihoods(self, logit_mean: Floats, logit_rho: Floats) -> Floats:
        """`log_likelihood` (G, J) of groups under the same populations, (J,) by both logits."""
        likelihood = np.empty((len(self.questions), logit_mean.size))
        for block in row_slices(logit_mean.size, 4 * self.questions.shape[1]):
            mean, rest, rho, weight = (
                scipy.special.expit(each[block])
                for each in (logit_mean, -logit_mean, logit_rho, -logit_rho)
            )
            parts = weight * mean, weight * rest, weight
            logs = [_log_risings(*each, rho) for each in zip(self.counts, parts, strict=True)]
            if self.often:
                likelihood[:, block] = sum(map(np.matmul, self.often, logs))
            else:
                up, down, both = map(np.take, logs, self.states, [0] * 3)
                likelihood[:, block] = self.questions @ (up + down - both)
        return likelihood


def _log_risings(lengths: Ints, x: Floats, rho: Floats) -> Floats:
    """``sum_{i < length} ln(x + i rho)`` for ascending lengths (U,) and each x, shape (U, J)."""
    longest = int(lengths.max(initial=0))
    exact = longest if longest <= EXACT + STIRLING_COST * lengths.size else EXACT
    logs = np.zeros((exact + 1, x.size))
    np.log(x + np.arange(exact)[:, None] * rho, out=logs[1:])
    sums = np.cumsum(logs, axis=0, out=logs)[np.minimum(lengths, exact)]
    beyond = lengths > exact
    if beyond.any():
        further = np.asarray(lengths[beyond] - exact, dtype=float)[:, None]
        sums[beyond] += log_rising_by_stirling(x + exact * rho, rho, further)
    return np.asarray(sums)


def _log_prior(lattice: _Lattice, steps: tuple[float, float]) -> Floats:
    """Log prior density of both logits."""
    x, y = lattice.logits(steps)
    log, x, y = scipy.special.log_expit, x[:, :1], y[0]
    return np.asarray(log(x) + log(-x) + log(y) + 2 * log(-y))


def _highest_likelihoods(likelihood: Floats) -> Floats:
    """Largest log likelihood of each group: of the lattice, and one step of Newton's beyond it."""
    groups, rows, columns = likelihood.shape
    best = likelihood.reshape(groups, -1).argmax(axis=1)
    i, j = (np.clip(each, 1, most - 2) for each, most in
            zip(np.divmod(best, columns), (rows, columns), strict=True))  # fmt: skip
    near = np.stack([
        [likelihood[np.arange(groups), i + a, j + b] for b in (-1, 0, 1)] for a in (-1, 0, 1)
    ])  # fmt: skip
    slope = np.stack([near[2, 1] - near[0, 1], near[1, 2] - near[1, 0]]) / 2
    bend = np.stack([near[2, 1] + near[0, 1], near[1, 2] + near[1, 0]]) - 2 * near[1, 1]
    mixed = (near[2, 2] + near[0, 0] - near[2, 0] - near[0, 2]) / 4
    area = bend[0] * bend[1] - mixed**2
    gain = 2 * mixed * slope[0] * slope[1] - (slope**2 * bend[::-1]).sum(axis=0)
    # Only over a hilltop, and by less than its sides fall.
    hill = (bend < 0).all(axis=0) & (area > 0)
    gain = np.divide(gain, 2 * area, out=np.zeros_like(gain), where=hill)
    top = likelihood.max(axis=(1, 2))
    return np.asarray(np.maximum(top, near[1, 1] + np.clip(gain, 0, -bend.min(axis=0))))


_CLOSE = 1e-6  # largest gap to the maximum log likelihood
_MOST_STEPS = 100
_LESS = 0.1  # target of the slack of each rate, over its present value
_INSIDE = 0.99  # part of the way to where a weight or a slack ends
_LEAST_SLACK = 0.01  # added to each slack at the start


def likeliest_weights(
    likelihood: Floats, questions: Floats, start: Floats | None = None, close: float = _CLOSE
) -> Floats:
    """Weights (G, I) of success rates whose log likelihood is the largest less `close`."""
    # A primal-dual interior point method: S. Boyd, L. Vandenberghe (2004), Convex Optimization,
    # section 11.7. The gradient function bounds the maximum: B. G. Lindsay (1983).
    total, size = questions.sum(axis=1), likelihood.shape[1]
    likeliest, live = np.empty((total.size, size)), np.arange(total.size)
    share = questions / total[:, None]
    weight = np.full_like(likeliest, 1 / size) if start is None else start
    chance = weight @ likelihood.T
    slope = (share / chance) @ likelihood
    slack = np.maximum(1 - slope, 0) + _LEAST_SLACK
    for _ in range(_MOST_STEPS):
        done = (slope.max(axis=1) - 1) * total[live] <= close
        likeliest[live[done]] = weight[done]
        live = live[~done]
        if not live.size:
            break
        share, weight, chance, slope, slack = (
            each[~done] for each in (share, weight, chance, slope, slack)
        )
        target = _LESS * (weight * slack).sum(axis=1, keepdims=True) / size / weight
        flat = weight / slack
        right = (slope - 1 + target)[..., None]
        step = curved_solution(likelihood, share / chance**2, flat, right)[..., 0]
        slack_step = target - slack - step / flat
        slack = slack + inside_parts(slack, slack_step)[:, None] * slack_step
        weight = weight + inside_parts(weight, step)[:, None] * step
        weight /= weight.sum(axis=1, keepdims=True)
        chance = weight @ likelihood.T
        slope = (share / chance) @ likelihood
    likeliest[live] = weight[: live.size]
    return likeliest


def curved_solution(likelihood: Floats, often: Floats, flat: Floats, right: Floats) -> Floats:
    """Solutions (P, I, R) of ``(L' diag(often) L + diag(1 / flat)) x = right``."""
    # By as many equations as there are states or rates, whichever are fewer; by NumPy, as the
    # products around it: the threads of SciPy's own BLAS would spin meanwhile.
    states, size = likelihood.shape
    root = np.sqrt(often)
    if states > size:
        core = np.empty((len(often), size, size))
        for row, scale in enumerate(root):
            here = scale > 0
            scaled = scale[here, None] * likelihood[here]
            np.matmul(scaled.T, scaled, out=core[row])
        np.einsum("pii->pi", core)[...] += 1 / flat
        return np.asarray(np.linalg.solve(core, right), dtype=np.float64)
    core = _weighted_products(likelihood, flat) * root[:, :, None] * root[:, None]
    np.einsum("pss->ps", core)[...] += 1.0
    right = flat[..., None] * right
    pulled = root[..., None] * (likelihood @ right)
    try:
        solved = np.linalg.solve(core, pulled)
    except np.linalg.LinAlgError:  # some state pulls 1e16 times as much as another
        solved = np.linalg.pinv(core, hermitian=True) @ pulled
    return np.asarray(right - flat[..., None] * (likelihood.T @ (root[..., None] * solved)))


def _weighted_products(likelihood: Floats, weight: Floats) -> Floats:
    """``L diag(w) L'`` for each row of weights (P, I), shape (P, S, S)."""
    states, size = likelihood.shape
    if states**2 * size <= CELLS and len(weight) > 1:
        products = (likelihood[:, None] * likelihood).reshape(-1, size)
        return np.asarray((weight @ products.T).reshape(-1, states, states))
    return np.asarray((likelihood * weight[:, None]) @ likelihood.T)


def inside_parts(values: Floats, step: Floats) -> Floats:
    """Largest part of each step, at most 1, after which all values are positive, (P,)."""
    worst = (-step / values).reshape(len(values), -1).max(axis=1)
    return np.asarray(np.minimum(1.0, _INSIDE / np.maximum(worst, _INSIDE)))


_MIN_RATES, _MAX_RATES = 121, 1001
_STEPS = 60
_TINY = 1e-300
_BASE = 2.0  # questions
_FLOOR = 1e-12  # least share of the base
_ARRAYS = 6  # of groups and rates in use at a time
_TOGETHER = 1024  # groups that are fitted together, at most
_SPARE = 2_000  # cells of a table of groups and states that take as long as a batch more


def scaled_likelihood(size: int, n: Ints, c: Ints) -> tuple[Floats, Floats]:
    """Likelihood of each state under each rate, and the log of its scale."""
    p, q = rate_nodes(size)
    logs = scipy.special.xlogy(c[:, None], p) + scipy.special.xlogy((n - c)[:, None], q)
    scale = logs.max(axis=1)
    return np.exp(logs - scale[:, None]), scale


def maximise_likelihood(
    likelihood: Floats,
    questions: Ints | Floats,
    weight: Floats,
    steps: int,
    base: Floats | float = 0.0,
) -> Floats:
    """Weights (..., I) after some EM steps; `base` adds pseudo-questions at each rate."""
    total = questions.sum(axis=-1) + (0.0 if isinstance(base, float) else base.sum(axis=-1))
    share = questions / total[..., None]
    added = base / total[..., None]
    for _ in range(steps):
        # A state without questions may have lost its chance.
        weight = weight * ((share / np.maximum(weight @ likelihood.T, _TINY)) @ likelihood)
        weight += added
    return weight


@lru_cache(maxsize=16)
def rate_nodes(size: int) -> tuple[Floats, Floats]:
    """Success rates ``sin^2`` of equal steps of the angle, and their complements."""
    p = np.sin(np.arange(size) * (np.pi / (2 * (size - 1)))) ** 2
    # The complement from the other end: 1 - p would lose the digits of a small rest.
    q = p[::-1].copy()
    q[0] = p[-1] = 1.0
    return p, q


def _base_weights(middle: Floats, size: int) -> Floats:
    """Weights (G, I) of the rates under the Beta population in the middle of each posterior."""
    mean, rest, rho = middle
    weight = (1 - rho) / rho
    ends = np.sin((np.arange(size - 1) + 0.5) * (np.pi / (2 * (size - 1)))) ** 2
    below = scipy.special.betainc((weight * mean)[:, None], (weight * rest)[:, None], ends)
    mass = np.maximum(np.diff(below, prepend=0.0, append=1.0, axis=1), _FLOOR)
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class Fits:
    """Both fits of G groups whose questions are in the same S states."""

    n: Ints  # (S,)
    c: Ints
    questions: Floats  # of each group in each state, (G, S)
    lattices: list[tuple[Ints, Populations]]  # the smooth fits of some groups each
    middle: Floats  # of each: mean, its complement, and correlation, (3, G)
    likelihood: Floats  # of each state under each rate, (S, I); 1 at its best rate
    log_scale: Floats  # log of the factor that scales each row of `likelihood`
    weight: Floats  # of each rate in the free fits, (G, I)

    @classmethod
    def from_counts(cls, n: Ints, c: Ints, questions: Floats) -> Fits:
        """Fit both to some groups, by 60 EM steps."""
        # The base keeps the maximum (N. Laird 1978, JASA 73, 805-811) from fitting noise.
        lattices, middle = [], np.empty((3, len(questions)))
        for groups in lattice_groups(n, c, questions):
            members = questions[groups]
            here = members.any(axis=0)
            populations = fit_populations(n[here], c[here], members[:, here])
            lattices.append((groups, populations))
            middle[:, groups] = populations.middle
        size = _rates_for(n)
        likelihood, scale = scaled_likelihood(size, n, c)
        weight = _base_weights(middle, size)
        for some in row_slices(len(weight), _ARRAYS * size):
            base = _BASE * weight[some]
            weight[some] = maximise_likelihood(
                likelihood, questions[some], weight[some], _STEPS, base
            )
        return cls(n, c, questions, lattices, middle, likelihood, scale, weight)

    @cached_property
    def levels(self) -> tuple[Ints, Ints]:
        """The numbers of trials that occur, (L,), and the place of each state among them, (S,)."""
        levels, place = np.unique(self.n, return_inverse=True)
        return levels, place

    @cached_property
    def size(self) -> Floats:
        """Questions of each group, shape (G,)."""
        return np.asarray(self.questions.sum(axis=1))

    @cached_property
    def chance(self) -> Floats:
        """Chance of each state under the free fits, on the scale of the likelihood, (G, S)."""
        return np.asarray(self.weight @ self.likelihood.T)

    @cached_property
    def misfit(self) -> Floats:
        """Twice the gain in log likelihood of the free fit over any Beta population, (G,)."""
        # Above 15 the questions are no Beta population: pooled metrics of draws are unreliable.
        logs = np.log(np.where(self.questions > 0, self.chance, 1.0)) + self.log_scale
        gain = (self.questions * logs).sum(axis=1)
        for groups, populations in self.lattices:
            gain[groups] -= populations.highest
        return np.asarray(2 * gain)

    @cached_property
    def _likeliest(self) -> Floats:
        """Weights with the largest likelihood, (G, I); NaN for groups that had no need of them."""
        return np.full_like(self.weight, np.nan)

    def likeliest_weights(self, groups: Ints) -> Floats:
        """Weights with the largest likelihood of some groups, without a base, (P, I)."""
        new = np.unique(groups[np.isnan(self._likeliest[groups, 0])])
        if new.size:
            self._likeliest[new] = likeliest_weights(self.likelihood, self.questions[new])
        return np.asarray(self._likeliest[groups])

    def near_weights(self, groups: Ints, close: float) -> Floats:
        """Weights with nearly the largest likelihood of some groups, (P, I)."""
        kinds, place = np.unique(groups, return_inverse=True)
        start = self.weight[kinds]
        return likeliest_weights(self.likelihood, self.questions[kinds], start, close)[place]

    def at(self, groups: Ints) -> Fits:
        """The fits of some groups, in their states alone."""
        kept = self.questions[groups].any(axis=0)
        lattices = []
        for members, populations in self.lattices:
            rows = np.flatnonzero(np.isin(groups, members))
            if rows.size:
                lattices.append((rows, populations.at(np.searchsorted(members, groups[rows]))))
        return Fits(
            self.n[kept],
            self.c[kept],
            self.questions[np.ix_(groups, kept)],
            lattices,
            self.middle[:, groups],
            self.likelihood[kept],
            self.log_scale[kept],
            self.weight[groups],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """One group and its two fits."""

    fits: Fits  # of this group alone, with all that follows
    n: Ints  # trials of each state, (S,)
    c: Ints
    questions: Floats
    likelihood: Floats  # of each state under each rate, (S, I)
    weight: Floats  # of each rate in the free fit, (I,)

    @classmethod
    def from_fits(cls, fits: Fits) -> Group:
        """The only group of some fits."""
        return cls(fits, fits.n, fits.c, fits.questions[0], fits.likelihood, fits.weight[0])

    @classmethod
    def fit(cls, n: Ints, c: Ints, questions: Ints | Floats) -> Group:
        """Fit both to the states of one group."""
        return cls.from_fits(Fits.from_counts(n, c, np.asarray(questions, dtype=np.float64)[None]))

    @property
    def size(self) -> int:
        """Number of questions, M."""
        return int(self.fits.size[0])

    @property
    def rates(self) -> tuple[Floats, Floats]:
        """The success rates and their complements, each shape (I,)."""
        return rate_nodes(self.weight.size)

    @property
    def posterior(self) -> Floats:
        """Weights of the rates for a question in each state, shape (S, I)."""
        return np.asarray(self.likelihood * self.weight / self.fits.chance.T)

    @property
    def likeliest_weights(self) -> Floats:
        """Weights with the largest likelihood, without a base."""
        return np.asarray(self.fits.likeliest_weights(np.array([0]))[0])

    def weights(self, of_questions: QuestionWeights) -> QuestionWeights:
        """Weights of its questions as those of a batch."""
        return QuestionWeights.from_groups([of_questions], self.fits.questions > 0)


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class Calibrated:
    """Groups of questions with failure and success, each with its two fits."""

    states: States  # the questions, without prior trials
    batches: list[tuple[Ints, Fits]]  # groups that are fitted together, and their fits
    strata: Subgroups[States] | None  # that weigh the same; without them all questions do

    @classmethod
    def fit(cls, states: States, strata: Subgroups[States] | None = None) -> Calibrated:
        """Fit every group of `states` (two categories: see `States.binary`), whatever `strata`."""
        n, c = states.n, states.counts[:, 1]
        batches: list[tuple[Ints, Fits]] = []
        for groups, kinds in _fitted_together(states, n):
            questions = np.asarray(states.members[groups][:, kinds].todense())
            batches.extend(
                (groups[some], Fits.from_counts(n[kinds], c[kinds], questions[some]))
                for some in row_slices(groups.size, CELLS // _TOGETHER)
            )
        return cls(states, batches, strata)

    @cached_property
    def groups(self) -> list[Group]:
        """Each group by itself."""
        places = {
            int(group): (fits, row)
            for groups, fits in self.batches
            for row, group in enumerate(groups)
        }
        members = (places[group] for group in range(self.states.groups))
        return [Group.from_fits(fits.at(np.array([row]))) for fits, row in members]

    @cached_property
    def weights(self) -> list[QuestionWeights]:
        """Weights of the questions of each group in its mean."""
        if self.strata is not None:
            return self.strata.weights(self.states)
        ends = np.searchsorted(self.states.group, np.arange(self.states.groups + 1)).tolist()
        questions = self.states.questions
        return [QuestionWeights.from_questions(questions[a:b]) for a, b in pairwise(ends)]

    def batch_weights(self, groups: Ints, fits: Fits) -> QuestionWeights:
        """Weights of the questions of a batch."""
        if self.strata is None:
            return QuestionWeights.from_questions(fits.questions)
        weights = [self.weights[group] for group in groups.tolist()]
        return QuestionWeights.from_groups(weights, fits.questions > 0)

    def of_groups(self, groups: Ints) -> Calibrated:
        """Some groups with their fits, given in ascending order, of a fit without strata."""
        batches = []
        for members, fits in self.batches:
            rows = np.flatnonzero(np.isin(members, groups))
            if rows.size:
                batches.append((np.searchsorted(groups, members[rows]), fits.at(rows)))
        return Calibrated(self.states.of_groups(groups), batches, None)

    def of_each(self, values: Callable[[Fits], Floats]) -> Floats:
        """A number of each group, from those of each batch, shape (G,)."""
        result = np.empty(self.states.groups)
        for groups, fits in self.batches:
            result[groups] = values(fits)
        return result

    def mean(self, values: Floats) -> Floats:
        """Weighted means (C, G) over the questions of a group, of values (C, S) by state."""
        states = self.states
        if self.strata is None or not states.groups:
            return states.mean(values)
        weight = np.concatenate([weights.first for weights in self.weights])
        weighted = weight * values[:, states.state]
        return np.stack([np.bincount(states.group, row, states.groups) for row in weighted])

    @cached_property
    def fewest_trials(self) -> Ints:
        """Trials of the shortest question of each group, shape (G,)."""
        starts = np.searchsorted(self.states.group, np.arange(self.states.groups))
        return np.asarray(np.minimum.reduceat(self.states.n[self.states.state], starts))


def _fitted_together(states: States, n: Ints) -> list[tuple[Ints, Ints]]:
    """Groups that share most of their states, so that one table hardly grows; all their states."""
    _, level = np.unique(n, return_inverse=True)
    first, _ = distinct_rows([states.group, level[states.state]])
    group, level = states.group[first], level[states.state[first]]
    ends = np.searchsorted(group, np.arange(states.groups + 1)).tolist()
    alike: dict[bytes, list[int]] = {}
    for number, (start, end) in enumerate(pairwise(ends)):
        alike.setdefault(level[start:end].tobytes(), []).append(number)
    batches: dict[int, list[tuple[Ints, Ints]]] = {}
    for members in alike.values():
        groups: Ints = np.array(members)
        kinds: Ints = np.unique(states.members[groups].indices).astype(np.int64)
        same = batches.setdefault(_rates_for(n[kinds]), [])
        if same:
            (latest, known), every = same[-1], np.union1d(same[-1][1], kinds)
            apart = latest.size * known.size + groups.size * kinds.size
            if (latest.size + groups.size) * every.size <= apart + _SPARE:
                same[-1] = np.sort(np.concatenate([latest, groups])), every
                continue
        same.append((groups, kinds))
    return [batch for same in batches.values() for batch in same]


def _rates_for(n: Ints) -> int:
    """Success rates of a free fit: 121 up to 64 trials a question, and more beyond."""
    return min(max(_MIN_RATES, ceil(15 * sqrt(n.max())) + 1), _MAX_RATES)
