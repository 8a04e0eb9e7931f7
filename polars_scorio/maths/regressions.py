"""Questions that became worse from one version of a model to the next: exact tests, and chance.

Under the null hypothesis of no change, the new version's successes are hypergeometric given the
total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches

_SAME = 1 + 1e-12  # p-values whose ratio is less are the same: the rest is rounding
_CONVOLVED = 2_000  # questions up to which the chance of a count is exact


@dataclass(frozen=True, slots=True, eq=False)
class VersionCounts:
    """Trials and successes of the same questions under an old and a new version, shape (M,)."""

    n_old: Ints
    c_old: Ints
    n_new: Ints
    c_new: Ints

    @classmethod
    def joined(cls, parts: Sequence[VersionCounts]) -> VersionCounts:
        """The questions of several parts, one after another."""
        names = ("n_old", "c_old", "n_new", "c_new")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def swapped(self) -> VersionCounts:
        """The versions in the other order: what became worse is then what became better."""
        return VersionCounts(self.n_new, self.c_new, self.n_old, self.c_old)

    def broken(self) -> Mask:
        """Questions that were mostly right under the old version and are mostly wrong now."""
        return np.asarray((2 * self.c_old > self.n_old) & (2 * self.c_new < self.n_new))


@dataclass(frozen=True, slots=True, eq=False)
class RegressionTests:
    """One-sided tests of single questions, shape (M,), given the successes of both versions."""

    p: Floats  # chance of so few new successes if nothing changed
    p_min: Floats  # smallest p that the question can have
    p_adjusted: Floats  # `discrete_step_up` of p
    p_broken: Floats  # chance that the question is `broken` if nothing changed


def regression_tests(counts: VersionCounts, fdr: float = 0.1) -> RegressionTests:
    """Test each question for fewer successes under the new version (Fisher's exact test).

    p-values are exact (not mid-p), hence conservative. All questions are one family with the
    largest false discovery rate `fdr`. Questions with the same trials and total share a
    distribution.
    """
    kinds, kind, often = _kinds_of_questions(counts)
    questions = kind.size
    p, p_min, p_broken = np.ones((3, questions))
    points, steps, owner = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=np.int64)]
    order = np.argsort(_outcome_counts(kinds), kind="stable")
    for rows in row_batches(order, int(_outcome_counts(kinds).max(initial=1))):
        splits = _Splits.of(kinds[rows])
        place = np.full(len(kinds), -1)
        place[rows] = np.arange(rows.size)
        own = np.flatnonzero(place[kind] >= 0)
        row = place[kind[own]]
        p[own] = splits.p[row, counts.c_new[own] - splits.least[row]]
        p_min[own] = splits.p[row, 0]
        p_broken[own] = splits.p_broken()[row]
        inside = splits.inside
        points.append(splits.p[inside])
        steps.append(np.diff(splits.p, axis=1, prepend=0.0)[inside])
        owner.append(np.repeat(rows, inside.sum(axis=1)))
    joined = np.concatenate(points), np.concatenate(steps), np.concatenate(owner)
    possible = PossibleValues(*joined, often)
    return RegressionTests(p, p_min, discrete_step_up(p, possible, fdr), p_broken)


def _kinds_of_questions(counts: VersionCounts) -> tuple[Ints, Ints, Ints]:
    """Distinct trials of both versions and totals, which one each question has, and how often."""
    columns = counts.n_old, counts.n_new, counts.c_old + counts.c_new
    code = np.zeros(counts.n_old.size, dtype=np.int64)
    for column in columns:  # one code instead of rows, of which `np.unique` is slow
        code = np.unique(code * (column.max(initial=0) + 1) + column, return_inverse=True)[1]
    _, first, often = np.unique(code, return_index=True, return_counts=True)
    return np.column_stack([column[first] for column in columns]), code, often


def _outcome_counts(kinds: Ints) -> Ints:
    """Number of values that the new successes of each kind of question can have."""
    n_old, n_new, total = kinds.T
    return np.asarray(np.minimum(n_new, total) - np.maximum(total - n_old, 0) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Splits:
    """Possible splits of the successes of both versions, for each kind of question, (K, W).

    A row begins with the fewest new successes that are possible; `inside` is where it ends.
    """

    kinds: Ints
    least: Ints
    inside: Mask
    chance: Floats
    p: Floats

    @classmethod
    def of(cls, kinds: Ints) -> _Splits:
        """All splits of questions with trials of both versions and a total, shape (K, 3)."""
        n_old, n_new, total = kinds.T[:, :, None]
        widths, least = _outcome_counts(kinds), np.maximum(total - n_old, 0)[:, 0]
        column = np.arange(widths.max(initial=1))
        inside = column < widths[:, None]
        new = np.where(inside, least[:, None] + column, least[:, None])
        log = _log_binomial(n_new, new) + _log_binomial(n_old, total - new)
        log = np.where(inside, log, -np.inf)
        chance = np.exp(log - log.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        p = np.minimum(np.cumsum(chance, axis=1), 1.0)
        p[np.arange(len(p)), widths - 1] = 1.0
        return cls(kinds, least, inside, chance, p)

    def p_broken(self) -> Floats:
        """Chance that a question is broken."""
        n_old, n_new, total = self.kinds.T[:, :, None]
        new = self.least[:, None] + np.arange(self.p.shape[1])
        broken = (2 * (total - new) > n_old) & (2 * new < n_new) & self.inside
        return np.asarray(np.where(broken, self.chance, 0.0).sum(axis=1))


def _log_binomial(n: Ints, k: Ints) -> Floats:
    gammaln = scipy.special.gammaln
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


class PossibleValues(NamedTuple):
    """The p-values that tests of each kind can have."""

    points: Floats  # the values, (J,)
    steps: Floats  # their chances if nothing changed, (J,)
    owner: Ints  # the kind that can have the value, (J,)
    often: Ints  # how many tests are of each kind, (K,)


def discrete_step_up(p: Floats, possible: PossibleValues, fdr: float) -> Floats:
    """Adjust discrete p-values, so that those up to q <= `fdr` have this false discovery rate.

    The heterogeneous discrete step-up procedure: S. Doehler, G. Durand, E. Roquain (2018),
    Electronic Journal of Statistics 12, 1867-1900. Benjamini and Hochberg's takes every p to be
    uniform; p-values of few trials have few values, mostly far below the threshold, and it would
    waste the rest of the error rate. With F the distribution of a test's p, sums over all tests,
    and t the largest possible value with ``sum F(t) / (1 - F(t)) <= M fdr``: the least ``sum
    F(p_(j)) / (1 - F(t)) / j`` of the ranks j from that of the test on; at least p, and 1 beyond t.
    """
    order, at = np.argsort(p, kind="stable"), np.argsort(possible.points, kind="stable")
    points, owner = possible.points[at], possible.owner[at]
    threshold, reached = _largest_threshold(points, owner, possible.often, p.size * fdr)
    sums = np.cumsum(possible.steps[at] * (possible.often / (1 - reached))[owner])
    place = np.searchsorted(points, p[order] * _SAME, side="right") - 1
    ratios = np.minimum(sums[place] / np.arange(1, p.size + 1), 1.0)
    ratios[p[order] > threshold * _SAME] = 1.0
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(ratios[::-1])[::-1]
    return np.maximum(adjusted, p)


def _largest_threshold(
    points: Floats, owner: Ints, often: Ints, most: float
) -> tuple[float, Floats]:
    """Largest point up to which the odds of all tests sum to `most`, and F of each kind there.

    `points` ascend; equal ones count together.
    """
    before = np.zeros_like(points)
    by_owner = np.argsort(owner, kind="stable")
    same = owner[by_owner[1:]] == owner[by_owner[:-1]]
    before[by_owner[1:]] = np.where(same, points[by_owner[:-1]], 0.0)
    with np.errstate(divide="ignore"):
        odds = points / (1 - points)
    rise = np.where(np.isinf(odds), np.inf, odds - before / np.where(before < 1, 1 - before, 1.0))
    sums = np.cumsum(rise * often[owner])
    last = np.searchsorted(points, points * _SAME, side="right") - 1
    inside = sums[last] <= most
    reached = np.zeros(often.size)
    np.maximum.at(reached, owner[inside], points[inside])
    return float(points[inside].max(initial=0.0)), reached


def chance_of_at_least(number: int, chance: Floats) -> float:
    """Chance that at least `number` of some independent events with these chances happen.

    Exact for up to 2,000 events that can happen; above, normal with continuity correction.
    """
    possible = chance[chance > 0]
    if number <= 0:
        return 1.0
    if possible.size > _CONVOLVED:
        sigma = np.sqrt(np.sum(possible * (1 - possible)))
        return float(scipy.special.ndtr(-(number - 0.5 - possible.sum()) / sigma))
    exactly = np.zeros(possible.size + 1)
    exactly[0] = 1.0
    for events, one in enumerate(possible.tolist(), start=1):
        none, some = exactly[:events] * (1 - one), exactly[:events] * one
        exactly[:events] = none
        exactly[1 : events + 1] += some
    return float(min(exactly[number:].sum(), 1.0))
