"""Questions that became worse from one version of a model to the next: exact tests, and chance.

Under the null hypothesis of no change, the new version's successes are hypergeometric given the
total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches
from polars_scorio.maths.exchangeability import count_tails, log_choose

_EQUAL_RATIO = 1 + 1e-12  # p-values whose ratio is less are the same: the rest is rounding


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

    def mirrored(self) -> VersionCounts:
        """The counts of failures in place of successes."""
        return replace(self, c_old=self.n_old - self.c_old, c_new=self.n_new - self.c_new)

    def broken(self) -> Mask:
        """Questions that were mostly right under the old version and are mostly wrong now."""
        return np.asarray((2 * self.c_old > self.n_old) & (2 * self.c_new < self.n_new))


@dataclass(frozen=True, slots=True, eq=False)
class RegressionTests:
    """One-sided tests of single questions, shape (M,), given the successes of both versions."""

    p: Floats  # chance of so few new successes if nothing changed
    pvalue_min: Floats  # smallest p that the question can have
    qvalue: Floats  # `discrete_step_up` of p
    pvalue_broken: Floats  # chance that the question is `broken` if nothing changed


def regression_tests(counts: VersionCounts, fdr: float = 0.1) -> RegressionTests:
    """Test each question for fewer successes under the new version (Fisher's exact test)."""
    # p-values are exact (not mid-p), hence conservative.
    kinds, kind, multiplicity = _kinds_of_questions(counts)
    questions = kind.size
    p, pvalue_min, pvalue_broken = np.ones((3, questions))
    values, probabilities, owner = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=np.int64)]
    order = np.argsort(_outcome_counts(kinds), kind="stable")
    for rows in row_batches(order, int(_outcome_counts(kinds).max(initial=1))):
        splits = _Splits.from_kinds(kinds[rows])
        row_of_kind = np.full(len(kinds), -1)
        row_of_kind[rows] = np.arange(rows.size)
        members = np.flatnonzero(row_of_kind[kind] >= 0)
        row = row_of_kind[kind[members]]
        p[members] = splits.p[row, counts.c_new[members] - splits.min_new[row]]
        pvalue_min[members] = splits.p[row, 0]
        pvalue_broken[members] = splits.pvalue_broken[row]
        is_possible = splits.is_possible
        values.append(splits.p[is_possible])
        probabilities.append(np.diff(splits.p, axis=1, prepend=0.0)[is_possible])
        owner.append(np.repeat(rows, is_possible.sum(axis=1)))
    joined = np.concatenate(values), np.concatenate(probabilities), np.concatenate(owner)
    possible = PossibleValues(*joined, multiplicity)
    return RegressionTests(p, pvalue_min, discrete_step_up(p, possible, fdr), pvalue_broken)


def _kinds_of_questions(counts: VersionCounts) -> tuple[Ints, Ints, Ints]:
    """Distinct (n_old, n_new, total), the index of each question's, and multiplicities."""
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
    """Possible splits of the successes of both versions, for each kind of question, (K, W)."""

    min_new: Ints
    is_possible: Mask
    p: Floats
    pvalue_broken: Floats  # chance that a question is broken, (K,)

    @classmethod
    def from_kinds(cls, kinds: Ints) -> _Splits:
        """All splits of questions with trials of both versions and a total, shape (K, 3)."""
        n_old, n_new, total = kinds.T[:, :, None]
        widths, min_new = _outcome_counts(kinds), np.maximum(total - n_old, 0)[:, 0]
        column = np.arange(widths.max(initial=1))
        is_possible = column < widths[:, None]
        new = np.where(is_possible, min_new[:, None] + column, min_new[:, None])
        log = log_choose(np.stack([n_new, n_old]), np.stack([new, total - new])).sum(axis=0)
        log = np.where(is_possible, log, -np.inf)
        chance = np.exp(log - log.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        p = np.minimum(np.cumsum(chance, axis=1), 1.0)
        p[np.arange(len(p)), widths - 1] = 1.0
        broken = (2 * (total - new) > n_old) & (2 * new < n_new)
        return cls(min_new, is_possible, p, np.where(broken, chance, 0.0).sum(axis=1))


class PossibleValues(NamedTuple):
    """The p-values that tests of each kind can have."""

    values: Floats  # shape (J,)
    probabilities: Floats  # of each value if nothing changed, (J,)
    kind: Ints  # that can have the value, (J,)
    multiplicity: Ints  # how many tests are of each kind, (K,)


def discrete_step_up(p: Floats, possible: PossibleValues, fdr: float) -> Floats:
    """Adjust discrete p-values, so that those up to q <= `fdr` have this false discovery rate."""
    # The heterogeneous discrete step-up procedure: S. Doehler, G. Durand, E. Roquain (2018),
    # Electronic Journal of Statistics 12, 1867-1900. It knows the few values that p can have.
    order, at = np.argsort(p, kind="stable"), np.argsort(possible.values, kind="stable")
    values, kind, multiplicity = possible.values[at], possible.kind[at], possible.multiplicity
    threshold, reached = _largest_threshold(values, kind, multiplicity, p.size * fdr)
    sums = np.cumsum(possible.probabilities[at] * (multiplicity / (1 - reached))[kind])
    last = np.searchsorted(values, p[order] * _EQUAL_RATIO, side="right") - 1
    ratios = np.minimum(sums[last] / np.arange(1, p.size + 1), 1.0)
    ratios[p[order] > threshold * _EQUAL_RATIO] = 1.0
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(ratios[::-1])[::-1]
    return np.maximum(adjusted, p)


def _largest_threshold(
    values: Floats, kind: Ints, multiplicity: Ints, most: float
) -> tuple[float, Floats]:
    """Largest value up to which the odds of all tests sum to `most`, and F of each kind there."""
    before = np.zeros_like(values)
    by_kind = np.argsort(kind, kind="stable")
    same = kind[by_kind[1:]] == kind[by_kind[:-1]]
    before[by_kind[1:]] = np.where(same, values[by_kind[:-1]], 0.0)
    with np.errstate(divide="ignore"):
        odds = values / (1 - values)
    rise = np.where(np.isinf(odds), np.inf, odds - before / np.where(before < 1, 1 - before, 1.0))
    sums = np.cumsum(rise * multiplicity[kind])
    last = np.searchsorted(values, values * _EQUAL_RATIO, side="right") - 1
    inside = sums[last] <= most
    reached = np.zeros(multiplicity.size)
    np.maximum.at(reached, kind[inside], values[inside])
    return float(values[inside].max(initial=0.0)), reached


def chance_of_at_least(number: int, chance: Floats) -> float:
    """Chance that at least `number` of some independent events with these chances happen."""
    possible = chance[chance > 0]
    return min(float(count_tails(possible, number)[1]), 1.0) if number > 0 else 1.0
