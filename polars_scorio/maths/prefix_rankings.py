"""Number of trials after which rankings settle, from prefixes of a log and its bootstraps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import Literal

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, distinct_rows, known_ratio
from polars_scorio.maths.questions import Outcomes, States

Scheme = Literal["trial", "question"]
Score = Callable[[States], Floats]

# States of questions that are scored at once: ten arrays of 24 MB. Fewer would mean to evaluate the
# metric more often, more do not fit into caches.
_CHUNK = 3_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Convergence:
    """When rankings become that of all trials, and how near they are before."""

    share: Floats  # share of replicates that converge at n = 1..N
    never: float  # share of those that never do; all shares sum to 1
    tau: Floats  # mean Kendall tau-b after n trials against all; NaN: undefined in all


def ranking_convergence(
    outcomes: Outcomes,
    score: Score | Floats,
    *,
    replicates: int,
    scheme: Scheme,
    rng: np.random.Generator,
    tolerance: float = 1e-12,
    progress: Callable[[int], object] | None = None,
) -> Convergence:
    """Share of bootstrap replicates whose ranking settles at each number of trials n."""
    # M. Hariri et al. (2026), arXiv:2510.04265, section 3.3. `score` maps untallied `States` (G
    # groups) to scores, or is the rewards of all trials. 40 ns a trial and replicate.
    sequences = _PrefixSequences.from_outcomes(outcomes)
    n, questions = sequences.size.shape
    if replicates and scheme == "trial" and not sequences.size.all():
        trials = outcomes.trials
        raise ValueError(
            'scheme="trial" draws the same trials for all questions and needs equally many of each,'
            f' got {trials.min():,} to {trials.max():,}: use scheme="question"'
        )
    logged = sequences.scores(sequences.logged(), score)
    gold = competition_ranks(logged[-1:], tolerance)[:, 0]
    if not gold.all():
        raise ValueError("score must be a number for every model with all trials, got NaN")
    if not replicates:
        return _settling_summary(*_settling_places(logged, gold, n, tolerance))
    first, tau = np.empty(replicates, dtype=np.int64), np.empty((replicates, n))
    size = max(_CHUNK // (n * questions), 1)
    for start in range(0, replicates, size):
        part = slice(start, min(start + size, replicates))
        chosen = sequences.drawn(part.stop - start, scheme, rng)
        scores = sequences.scores(chosen, score)
        first[part], tau[part] = _settling_places(scores, gold, n, tolerance)
        if progress is not None:
            progress(part.stop - start)
    return _settling_summary(first, tau)


def competition_ranks(scores: Floats, tolerance: float) -> Ints:
    """Rank of each model in L rankings, (G, L), of scores (L, G); 0: NaN. Near ones are tied."""
    # Models first: a loop over them, with long arrays, is several times faster than argsort.
    ordered = np.ascontiguousarray(np.sort(scores, axis=1).T)
    ranks = np.ones(ordered.shape, dtype=np.min_scalar_type(len(ordered)))
    score, lowest = np.ascontiguousarray(scores.T), ordered[0]
    for lower, upper in pairwise(ordered):
        # The lowest score of those that are tied with `upper`.
        lowest = np.where(upper - lower > tolerance, upper, lowest)
        ranks += score < lowest
    ranks[:, np.isnan(ordered[-1])] = 0  # sorted to the end
    return ranks


def tau_b(ranks: Ints, gold: Ints) -> Floats:
    """Kendall's tau-b of rankings (G, L) with one ranking (G,), shape (L,)."""
    # M. G. Kendall (1945), Biometrika 33(3): ``(P - Q) / sqrt(A B)``, P and Q the pairs in the same
    # and in opposite order, A and B those that either does not tie. Zero ranks: no ranking.
    order = np.argsort(gold, kind="stable")
    ranks, gold = ranks[order], gold[order].astype(np.int64)
    balance = np.zeros(ranks.shape[1], dtype=np.int64)
    for rank, better in zip(ranks, gold - 1, strict=True):
        balance += (ranks[:better] < rank).sum(axis=0)
        balance -= (ranks[:better] > rank).sum(axis=0)
    # A rank counts the models that are better, from one on: their sum counts the untied pairs.
    untied = (ranks.sum(axis=0, dtype=np.int64) - gold.size) * (gold.sum() - gold.size)
    return known_ratio(balance, np.sqrt(np.maximum(untied, 0)), np.nan)


def _settling_places(scores: Floats, gold: Ints, n: int, tolerance: float) -> tuple[Ints, Floats]:
    """Places where sequences of n rankings settle at `gold` (n if never), and the tau of each."""
    ranks = competition_ranks(scores, tolerance)
    equal = (ranks == gold[:, None]).all(axis=0).reshape(-1, n)
    lasts = np.logical_and.accumulate(equal[:, ::-1], axis=1).sum(axis=1)
    return n - lasts, tau_b(ranks, gold).reshape(-1, n)


def _settling_summary(first: Ints, tau: Floats) -> Convergence:
    """From the place where each sequence settles, and its tau, shape (sequences, N)."""
    n = tau.shape[1]
    share = np.bincount(first, minlength=n + 1) / first.size
    known = ~np.isnan(tau)
    mean = known_ratio(np.where(known, tau, 0.0).sum(axis=0), known.sum(axis=0), np.nan)
    return Convergence(share[:n], float(share[n]), mean)


@dataclass(frozen=True, slots=True, eq=False)
class _PrefixSequences:
    """Parts of sequences of N trials, for the Q questions of all models side by side."""

    outcomes: Outcomes
    start: Ints  # (N, Q): where the trials of the question begin
    size: Ints  # (N, Q): their number, 0 when used up
    kind: Ints  # (Q,): which of the distinct priors the question has
    steps: list[Ints]  # (R + 1,): what a trial adds to the code of the counts of some classes
    width: int  # number of such classes

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> _PrefixSequences:
        per_model = np.bincount(outcomes.group, minlength=outcomes.groups)
        if per_model.min() < per_model.max():
            raise ValueError(
                "all models must have the same questions, got "
                f"{per_model.min():,} to {per_model.max():,} of them"
            )
        trials = outcomes.trials
        n = np.arange(int(trials.max()))[:, None]
        exists, radix = n < trials, n.size + 1
        width = int(62 / log2(radix))  # digits of an integer
        _, kind = distinct_rows(outcomes.prior.T)
        return cls(
            outcomes,
            np.where(exists, outcomes.offsets[:-1], outcomes.classes.size),
            np.where(exists, trials, 0),
            kind,
            [
                _digit_steps(outcomes.classes - lowest, radix, width)
                for lowest in range(0, outcomes.prior.shape[1], width)
            ],
            width,
        )

    def logged(self) -> Ints:
        """The trials of the log, (1, N, Q)."""
        n = np.arange(len(self.start))[:, None]
        return (self.start + np.where(self.size > 0, n, 0))[None]

    def drawn(self, replicates: int, scheme: Scheme, rng: np.random.Generator) -> Ints:
        """Trials drawn with replacement, (replicates, N, Q)."""
        n, questions = self.start.shape
        columns = self.outcomes.groups if scheme == "trial" else questions
        # A double for each draw, so that the stream does not depend on how many are drawn at once.
        uniform = rng.random((replicates, n, columns))
        if columns < questions:
            uniform = np.repeat(uniform, questions // columns, axis=2)
        uniform *= self.size
        chosen = uniform.astype(np.int64)
        chosen += self.start
        return chosen

    def scores(self, chosen: Ints, score: Score | Floats) -> Floats:
        """Score of each model after each trial of the chosen ones, (replicates N, models)."""
        if isinstance(score, np.ndarray):
            return self._mean_rewards(chosen, score)
        codes = [np.cumsum(step[chosen], axis=1).ravel() for step in self.steps]
        kinds = [np.broadcast_to(self.kind, chosen.shape).ravel()] if self.kind.any() else []
        first, state = distinct_rows([*kinds, *codes])
        counts = self._counts([code[first] for code in codes])
        prior = self.outcomes.prior[first % self.kind.size]
        models = self.outcomes.groups
        groups = len(chosen) * len(self.start) * models
        group = np.repeat(np.arange(groups), state.size // groups)
        one = np.broadcast_to(np.int64(1), state.shape)
        return score(States(group, state, one, groups, counts, prior)).reshape(-1, models)

    def _mean_rewards(self, chosen: Ints, rewards: Floats) -> Floats:
        """Mean over the questions of each model of the mean reward of the trials so far."""
        trials = np.minimum(np.arange(1, len(self.start) + 1)[:, None], self.outcomes.trials)
        means = np.cumsum(np.append(rewards, 0.0)[chosen], axis=1) / trials
        models = self.outcomes.groups
        return np.asarray(means.reshape(*means.shape[:2], models, -1).mean(-1)).reshape(-1, models)

    def _counts(self, codes: list[Ints]) -> Ints:
        """Trials by class, (rows, K), from their codes."""
        radix = len(self.start) + 1
        places = radix ** np.arange(self.width)
        counts = np.hstack([code[:, None] // places % radix for code in codes])
        return counts[:, : self.outcomes.prior.shape[1]]


def _digit_steps(digit: Ints, radix: int, width: int) -> Ints:
    """Value of one unit of a digit in a number; 0 for a digit that this number does not have."""
    place = np.append(radix ** np.arange(width), 0)
    return np.append(place[np.where((digit >= 0) & (digit < width), digit, width)], 0)
