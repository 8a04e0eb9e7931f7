"""The free fit of each group: nonparametric maximum likelihood (NPMLE) of the success rates.

The smooth fit of `populations` knows one shape, a Beta population. The free fit has weights on a
fixed set of success rates, by expectation and maximisation (EM), with two questions' worth of the
smooth fit as a base. The plain maximum uses Newton's method: after 2,000 steps EM is still .2 short
of the largest log likelihood for 1,000 questions with 10 trials; Newton needs up to 29 steps and a
tenth of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil

import numpy as np
import scipy

from polars_scorio.maths.array_rows import CELLS, Floats, Ints, distinct_rows, row_slices
from polars_scorio.maths.populations import Populations, fit_populations, lattice_groups
from polars_scorio.maths.questions import BatchWeights, QuestionWeights, States, Strata

_CLOSE = 1e-6  # largest gap to the maximum log likelihood
_MOST_STEPS = 100
_LESS = 0.1  # target of the slack of each rate, over its present value
_INSIDE = 0.99  # part of the way to where a weight or a slack ends
_LEAST_SLACK = 0.01  # added to each slack at the start


def likeliest_weights(likelihood: Floats, questions: Floats) -> Floats:
    """Weights (G, I) of success rates with the largest likelihood, to 1e-6; all positive.

    Of groups with `questions` (G, S) in states of `likelihood` (S, I). The primal-dual interior
    point method: S. Boyd, L. Vandenberghe (2004), Convex Optimization, section 11.7. The gradient
    function bounds the maximum: B. G. Lindsay (1983), Ann. Statist. 11, 86-94.
    """
    total, size = questions.sum(axis=1), likelihood.shape[1]
    found, live = np.empty((total.size, size)), np.arange(total.size)
    share, weight = questions / total[:, None], np.full_like(found, 1 / size)
    chance = weight @ likelihood.T
    slope = (share / chance) @ likelihood
    slack = np.maximum(1 - slope, 0) + _LEAST_SLACK
    for _ in range(_MOST_STEPS):
        done = (slope.max(axis=1) - 1) * total[live] <= _CLOSE
        found[live[done]] = weight[done]
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
    found[live] = weight[: live.size]
    return found


def curved_solution(likelihood: Floats, often: Floats, flat: Floats, right: Floats) -> Floats:
    """Solutions (P, I, R) of ``(L' diag(often) L + diag(1 / flat)) x = right``.

    `often` (P, S), `flat` (P, I), `right` (P, I, R). By as many equations as there are states or
    rates, whichever are fewer. By NumPy, as the products around it: SciPy has a BLAS of its own,
    and while the threads of one work those of the other spin.
    """
    states, size = likelihood.shape
    if states > size:
        core = (likelihood.T * often[:, None]) @ likelihood
        np.einsum("pii->pi", core)[...] += 1 / flat
        return np.asarray(np.linalg.solve(core, right), dtype=np.float64)
    scaled = np.sqrt(often)[..., None] * likelihood
    pull = scaled * flat[:, None]
    core = pull @ np.swapaxes(scaled, 1, 2)
    np.einsum("pss->ps", core)[...] += 1.0
    solved = np.linalg.solve(core, pull @ right)
    return flat[..., None] * right - np.swapaxes(pull, 1, 2) @ solved


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
_TOGETHER = 256  # groups that are fitted together


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
    """Weights after some EM steps from `weight`; `base` adds pseudo-questions at each rate.

    Likelihood (S, I), questions (..., S), weight and base (..., I).
    """
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
    """Success rates ``sin^2`` of equal steps of the angle, and their complements.

    >>> p, q = rate_nodes(3)
    >>> p.round(9), q.round(9)
    (array([0. , 0.5, 1. ]), array([1. , 0.5, 0. ]))
    """
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
    def of(cls, n: Ints, c: Ints, questions: Floats) -> Fits:
        """Fit both to some groups.

        The free fit takes 60 EM steps, on 121 rates up to 64 trials a question and on more beyond.
        The base keeps the unrestricted maximum (N. Laird 1978, J. Am. Stat. Assoc. 73, 805-811)
        from fitting noise.
        """
        lattices, middle = [], np.empty((3, len(questions)))
        for groups in lattice_groups(n, c, questions):
            own = questions[groups]
            here = own.any(axis=0)
            populations = fit_populations(n[here], c[here], own[:, here])
            lattices.append((groups, populations))
            middle[:, groups] = populations.middle
        size = min(max(_MIN_RATES, ceil(15 * np.sqrt(n.max())) + 1), _MAX_RATES)
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
        """Twice the gain in log likelihood of the free fit over any Beta population, (G,).

        Above 15 the questions are not one Beta population, and pooled metrics of several trials are
        unreliable.
        """
        logs = np.log(np.where(self.questions > 0, self.chance, 1.0)) + self.log_scale
        gain = (self.questions * logs).sum(axis=1)
        for groups, populations in self.lattices:
            gain[groups] -= populations.highest
        return np.asarray(2 * gain)

    @cached_property
    def _likeliest(self) -> dict[int, Floats]:
        """Weights with the largest likelihood, of the groups that had need of them."""
        return {}

    def likeliest_weights(self, groups: Ints) -> Floats:
        """Weights with the largest likelihood of some groups, without a base, (P, I)."""
        new = [row for row in np.unique(groups).tolist() if row not in self._likeliest]
        if new:
            found = likeliest_weights(self.likelihood, self.questions[new])
            self._likeliest.update(zip(new, found, strict=True))
        return np.stack([self._likeliest[row] for row in groups.tolist()])

    def at(self, groups: Ints) -> Fits:
        """The fits of some groups, in their states alone."""
        kept = self.questions[groups].any(axis=0)
        lattices = []
        for own, populations in self.lattices:
            rows = np.flatnonzero(np.isin(groups, own))
            if rows.size:
                lattices.append((rows, populations.at(np.searchsorted(own, groups[rows]))))
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
    def of(cls, fits: Fits) -> Group:
        """The only group of some fits."""
        return cls(fits, fits.n, fits.c, fits.questions[0], fits.likelihood, fits.weight[0])

    @classmethod
    def fit(cls, n: Ints, c: Ints, questions: Ints | Floats) -> Group:
        """Fit both to the states of one group."""
        return cls.of(Fits.of(n, c, np.asarray(questions, dtype=np.float64)[None]))

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

    def weights(self, own: QuestionWeights) -> BatchWeights:
        """Weights of its questions as those of a batch."""
        return BatchWeights.stacked([own], self.fits.questions > 0)


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class Calibrated:
    """Groups of questions with failure and success, each with its two fits."""

    states: States  # the questions, without prior trials
    batches: list[tuple[Ints, Fits]]  # groups that are fitted together, and their fits
    strata: Strata[States] | None  # that weigh the same; without them all questions do

    @classmethod
    def fit(cls, states: States, strata: Strata[States] | None = None) -> Calibrated:
        """Fit every group of `states` (two categories: see `States.binary`), whatever `strata`."""
        n, c = states.n, states.counts[:, 1]
        batches: list[tuple[Ints, Fits]] = []
        for groups in _groups_by_trials(states, n):
            table = states.members[groups]
            kinds = np.unique(table.indices)
            questions = np.asarray(table[:, kinds].todense())
            batches.extend(
                (groups[some], Fits.of(n[kinds], c[kinds], questions[some]))
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
        found = (places[group] for group in range(self.states.groups))
        return [Group.of(fits.at(np.array([row]))) for fits, row in found]

    @cached_property
    def weights(self) -> list[QuestionWeights]:
        """Weights of the questions of each group in its mean."""
        if self.strata is not None:
            return self.strata.weights(self.states)
        ends = np.searchsorted(self.states.group, np.arange(self.states.groups + 1)).tolist()
        questions = self.states.questions
        return [QuestionWeights.equal(questions[a:b]) for a, b in pairwise(ends)]

    def batch_weights(self, groups: Ints, fits: Fits) -> BatchWeights:
        """Weights of the questions of a batch."""
        if self.strata is None:
            return BatchWeights.equal(fits.questions)
        weights = [self.weights[group] for group in groups.tolist()]
        return BatchWeights.stacked(weights, fits.questions > 0)

    def of_groups(self, groups: Ints) -> Calibrated:
        """Some groups with their fits, given in ascending order."""
        batches = []
        for own, fits in self.batches:
            rows = np.flatnonzero(np.isin(own, groups))
            if rows.size:
                batches.append((np.searchsorted(groups, own[rows]), fits.at(rows)))
        strata = self.strata and self.strata.of_groups(groups)
        return Calibrated(self.states.of_groups(groups), batches, strata)

    def of_each(self, values: Callable[[Fits], Floats]) -> Floats:
        """A number of each group, from those of each batch, shape (G,)."""
        found = np.empty(self.states.groups)
        for groups, fits in self.batches:
            found[groups] = values(fits)
        return found

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


def _groups_by_trials(states: States, n: Ints) -> list[Ints]:
    """The groups that have questions of the same numbers of trials."""
    _, level = np.unique(n, return_inverse=True)
    first, _ = distinct_rows([states.group, level[states.state]])
    group, level = states.group[first], level[states.state[first]]
    ends = np.searchsorted(group, np.arange(states.groups + 1)).tolist()
    alike: dict[bytes, list[int]] = {}
    for number, (start, end) in enumerate(pairwise(ends)):
        alike.setdefault(level[start:end].tobytes(), []).append(number)
    return [np.array(groups) for groups in alike.values()]
