"""Beta populations fitted to many groups at once, on one lattice that the groups share.

A population has a mean q and a correlation rho, with the prior ``q ~ U(0, 1)``, ``rho ~ Beta(1,
2)``. The posterior is summed by the trapezoid rule over equal steps of both logits, which converges
geometrically (L. N. Trefethen, J. A. C. Weideman 2014, SIAM Review 56, theorem 5.1): numbers of
groups of 50 questions and more are those of any finer rule to 1e-9, of 20 questions to 3e-9. What
depends on a population alone is worked out once for all groups: their log likelihoods are a product
of their counts of states and a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_slices
from polars_scorio.maths.likelihood import EXACT, STIRLING_COST, log_rising_by_stirling

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
_TOGETHER = 64  # groups on one lattice,
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
    def of(cls, n: Ints, c: Ints, questions: Floats) -> _Starts:
        """By the moments of the shares of successes."""
        size, trials = questions.sum(axis=1), questions @ n
        often = trials / size
        mean = (questions @ c + 0.5) / (trials + 1)
        away = (c / n - mean[:, None]) ** 2
        square = np.maximum(_row_sums(questions, away) / size, 1e-9)
        excess = square / (mean * (1 - mean)) * often - 1
        rho = np.clip(excess / np.maximum(often - 1, 1), 1 / np.sqrt(trials + 1), 0.95)
        effective = _row_sums(questions, n / (1 + (n - 1) * rho[:, None]))
        spread = np.sqrt(1 / (mean * effective) + 1 / ((1 - mean) * effective))
        wide = np.sqrt(2 / np.maximum(size - 1, 1)) * (1 + 1 / (np.maximum(often - 1, 1) * rho))
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
    starts = _Starts.of(n, c, questions)
    steps = starts.mean_step, starts.rho_step
    order = np.lexsort((starts.mean, *steps))
    batch: list[int] = []
    for row in order.tolist():
        first = batch[0] if batch else row
        apart = abs(starts.mean[row] - starts.mean[first]) > _APART * starts.mean_step[row]
        if apart or len(batch) == _TOGETHER or any(step[row] != step[first] for step in steps):
            yield np.sort(batch)
            batch = []
        batch.append(row)
    if batch:
        yield np.sort(batch)


def fit_populations(n: Ints, c: Ints, questions: Floats) -> Populations:
    """Fit the Beta populations of some groups: `questions` (G, S) in states of n trials, (S,)."""
    starts = _Starts.of(n, c, questions)
    steps = float(starts.mean_step.min()), float(starts.rho_step.min())
    middles = [centre / step for centre, step in zip((starts.mean, starts.rho), steps, strict=True)]
    lattice = _Lattice(
        [int(np.floor(each.min())) - _FIRST for each in middles],
        [int(np.ceil(each.max())) + _FIRST for each in middles],
    )
    found = np.empty((len(questions), 0, 0))
    old = lattice
    for _ in range(_MOST_GROWTH):
        found = _extended_likelihood(
            n, c, questions, steps, found, old if found.size else None, lattice
        )
        density = found + _log_prior(lattice, steps)
        near = density > density.max(axis=(1, 2), keepdims=True) - _DEPTH
        old, lattice = lattice, lattice.grown(near.any(axis=0))
        if lattice == old:
            break
    kept = near.any(axis=0)
    own = np.where(near, density, -np.inf)[:, kept]
    weight = np.exp(own - own.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    x, y = (each[kept] for each in old.logits(steps))
    return Populations(x, y, weight, _highest_likelihoods(found))


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
    n: Ints,
    c: Ints,
    questions: Floats,
    steps: tuple[float, float],
    found: Floats,
    old: _Lattice | None,
    lattice: _Lattice,
) -> Floats:
    """Log likelihoods on a lattice, (G, rows, columns), of which the old part is known."""
    filled, new = np.empty((len(questions), *lattice.shape)), np.ones(lattice.shape, np.bool_)
    if old is not None:
        inside = tuple(
            slice(a - start, b - start + 1)
            for a, b, start in zip(old.first, old.last, lattice.first, strict=True)
        )
        filled[:, inside[0], inside[1]], new[inside] = found, False
    x, y = (each[new] for each in lattice.logits(steps))
    filled[:, new] = _log_likelihoods(n, c, questions, x, y)
    return filled


def _log_likelihoods(
    n: Ints, c: Ints, questions: Floats, logit_mean: Floats, logit_rho: Floats
) -> Floats:
    """`log_likelihood` (G, J) of groups under the same populations, (J,) by both logits.

    `questions` (G, S) in the states of n trials and c successes, (S,).
    """
    found = np.empty((len(questions), logit_mean.size))
    for block in row_slices(logit_mean.size, 4 * n.size):
        mean, rest, rho, weight = (
            scipy.special.expit(each[block])
            for each in (logit_mean, -logit_mean, logit_rho, -logit_rho)
        )
        logs = _log_risings(c, weight * mean, rho)
        logs += _log_risings(n - c, weight * rest, rho)
        logs -= _log_risings(n, weight, rho)
        found[:, block] = questions @ logs
    return found


def _log_risings(counts: Ints, x: Floats, rho: Floats) -> Floats:
    """``sum_{i < count} ln(x + i rho)`` for each count (S,) and each x, shape (S, J)."""
    lengths, place = np.unique(counts, return_inverse=True)
    longest = int(lengths.max(initial=0))
    exact = longest if longest <= EXACT + STIRLING_COST * lengths.size else EXACT
    logs = np.zeros((exact + 1, x.size))
    np.log(x + np.arange(exact)[:, None] * rho, out=logs[1:])
    found = np.cumsum(logs, axis=0, out=logs)[np.minimum(lengths, exact)]
    beyond = lengths > exact
    if beyond.any():
        further = np.asarray(lengths[beyond] - exact, dtype=float)[:, None]
        found[beyond] += log_rising_by_stirling(x + exact * rho, rho, further)
    return np.asarray(found[place])


def _log_prior(lattice: _Lattice, steps: tuple[float, float]) -> Floats:
    """Log prior density of both logits."""
    x, y = lattice.logits(steps)
    log = scipy.special.log_expit
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
