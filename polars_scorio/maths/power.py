"""Power analysis: assurance, detectable differences, and shares of variance.

The variance of a difference follows from the spread of the questions, the correlation of the models
and the trials: E. Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import heapify, heappop, heapreplace

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.families import anytime_critical, student_critical
from polars_scorio.maths.interval import Student, expected_effective, plus_two
from polars_scorio.maths.populations import unit_interval
from polars_scorio.maths.run_effects import RunVariance

# Standard deviations after m further trials; they do not grow with m.
SigmaAfter = Callable[[Ints], Floats]
# Critical values: of one look, or of a look after m further trials.
CriticalAfter = Floats | float | Callable[[Ints], Floats | float]


def decision_chance(
    diff: Floats,
    now: Floats,
    then: Floats,
    z: Floats | float,
    share: Floats | float,
    margin: Floats | float = 0.0,
) -> Floats:
    """Chance that a pair is decided once its sigma falls from `now` to `then` (assurance)."""
    # A. O'Hagan, J. W. Stevens, M. J. Campbell (2005), Pharmaceutical Statistics 4(3), 187-201. The
    # true difference is normal with mean ``B d`` and variance ``B now**2``, B the `share`.
    left = np.divide(then, now, out=np.ones_like(now), where=now > 0) ** 2
    kept = left + (1 - left) * share
    change = np.sqrt(np.maximum((now - then) * (now + then), 0.0) * kept)
    with np.errstate(divide="ignore", invalid="ignore"):  # no critical value is known for few runs
        lead, needed = np.abs(diff * kept + margin), z * then
        chance = scipy.special.ndtr((lead - needed) / change) + scipy.special.ndtr(
            (-lead - needed) / change
        )
    unknown = np.isnan(lead) | np.isnan(needed) | np.isnan(change)
    decided = np.where((lead >= needed) & (lead > 0), 1.0, 0.0)
    return np.where(unknown, np.nan, np.where(change > 0, chance, decided))


def trials_with_assurance(
    diff: Floats,
    sigma: SigmaAfter,
    z: CriticalAfter,
    share: Floats | float,
    goal: float,
    limit: int,
    margin: Floats | float = 0.0,
    today: Mask | None = None,
) -> Ints:
    """Fewest further trials (P,) after which pairs are decided with the chance `goal`."""
    # 0 if the pair is decided today (by default, by normal intervals); ``limit + 1`` if the limit
    # does not suffice, as for ``share = 0``, or a number is NaN. `z` may depend on m.
    now = sigma(np.zeros(diff.shape, dtype=np.int64))

    def decided(m: Ints) -> Mask:
        chance = decision_chance(diff, now, sigma(m), z(m) if callable(z) else z, share, margin)
        enough = np.asarray(chance >= goal)
        return enough if today is None else np.where(m > 0, enough, today)

    extra = fewest_trials(decided, diff.size, limit)
    # Without any signal verdicts would be false ones; that a difference exceeds a margin is none.
    some = (np.asarray(share) > 0) | (np.asarray(margin) > 0)
    return np.where((extra == 0) | some, extra, limit + 1)


def fewest_trials(enough: Callable[[Ints], Mask], size: int, limit: int) -> Ints:
    """Smallest number for each of `size` places that is enough; `limit` + 1 if none is."""
    # `enough` must hold for every larger number too.
    none = np.zeros(size, dtype=np.int64)
    # Of a pair that is decided today the chance falls at first: the pair needs no trials.
    low = np.where(enough(none), 0, 1)
    high = np.where(low == 0, 0, limit + 1)
    for _ in range(int(limit).bit_length() + 1):
        middle = (low + high) // 2
        reached = enough(np.minimum(middle, limit))
        active = low < high
        high = np.where(active & reached, middle, high)
        low = np.where(active & ~reached, middle + 1, low)
    return high


def best_allocation(noise: Floats, n: Ints, group: Ints, goal: Floats, budget: int) -> Ints:
    """Further trials (Q,), one after the other where it lowers the variance of a mean most.

    ``noise / n`` is what a question brings to the variance of its group, `goal` (G,) the variance
    at which a group gets no more. Of questions that gain the same the first gets the trial.
    """
    now = n + _common_trials(noise, n, group, goal, budget)
    budget -= int((now - n).sum())
    size, noises, groups, goals = (each.tolist() for each in (now, noise, group, goal))
    left = np.bincount(group, noise / now, goal.size).tolist()
    gains = (noise / (now * (now + 1))).tolist()
    gains = [(-gain, row) for row, gain in enumerate(gains) if gain > 0]
    heapify(gains)
    while gains and budget:
        gain, row = gains[0]
        if left[groups[row]] <= goals[groups[row]]:
            heappop(gains)
            continue
        left[groups[row]] += gain
        size[row] += 1
        budget -= 1
        heapreplace(gains, (-noises[row] / (size[row] * (size[row] + 1)), row))
    return np.array(size, np.int64) - n


_HALVINGS = 12  # of a threshold: single trials are spent one by one


def _common_trials(noise: Floats, n: Ints, group: Ints, goal: Floats, budget: int) -> Ints:
    """Trials (Q,) that lower a variance by more than a threshold, within the budget and goals."""
    extra, (low, high) = np.zeros_like(n), (0.0, 1.0)
    most = float((noise / n**2).max(initial=0.0))
    for _ in range(_HALVINGS if most else 0):
        middle = (low + high) / 2
        # The N-th trial lowers it by noise / (N (N - 1)); its root falls evenly.
        steps = np.sqrt(0.25 + noise / (most * middle**2)) + 0.5
        trials = np.clip(steps.astype(np.int64) - n, 0, None)
        if trials.sum() > budget:
            low = middle
        else:
            high, extra = middle, trials
    left = np.bincount(group, noise / (n + extra), goal.size)
    return np.where((left > goal)[group], extra, 0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Forecast(ABC):
    """Pairs, or scores, after m further trials of each question or m further questions; (P,)."""

    diff: Floats  # today, in units of `unit`
    number: Floats  # trials of a question, or questions, today
    unit: Floats | float = 1.0
    runs: RunVariance | None = None  # their part in the differences; None: they bring nothing
    trials: Floats | float = 1.0  # of a question today, in so many runs

    @abstractmethod
    def sigma(self, m: Ints) -> Floats:
        """Expected standard deviations of the intervals, in these runs."""

    @abstractmethod
    def critical_at(self, c: Floats | float, m: Ints) -> Floats | float:
        """Critical values at known variances, from those of one look."""

    @abstractmethod
    def runs_after(self, runs: RunVariance, m: Ints) -> RunVariance:
        """The part of runs that is expected then."""

    def critical(self, c: Floats | float, m: Ints) -> Floats | float:
        """Critical values, from those of one look at known variances."""
        return self.critical_at(c, m)

    def spread(self, m: Ints) -> Floats:
        """Standard deviations of the differences themselves: `sigma` may hold what is unseen."""
        return self.sigma(m)

    def half_width(self, c: Floats | float, m: Ints) -> Floats:
        """Expected half-widths of the intervals."""
        inner = np.asarray(self.critical(c, m) * self.sigma(m))
        if self.runs is None:
            return inner
        critical = self.critical_at(c, m)
        return np.hypot(inner, critical * np.sqrt(self.runs_after(self.runs, m).term(critical)))

    def whole_sigma(self, m: Ints) -> Floats:
        """Expected standard deviations of the intervals."""
        if self.runs is None:
            return self.sigma(m)
        return np.hypot(self.sigma(m), np.sqrt(self.runs_after(self.runs, m).excess))

    def whole_spread(self, m: Ints) -> Floats:
        """Standard deviations of the differences themselves, in other runs."""
        if self.runs is None:
            return self.spread(m)
        return np.hypot(self.spread(m), np.sqrt(self.runs_after(self.runs, m).excess))

    def centre(self) -> Floats:
        """The centres of the intervals of today."""
        return self.diff

    def least_decided(self, c: Floats | float, m: Ints) -> Floats:
        """The smallest differences whose intervals exclude zero."""
        return self.half_width(c, m)

    def _critical_spread(self, c: Floats | float, m: Ints) -> Floats:
        """Smallest decided differences in standard deviations of the differences, in other runs."""
        spread, needed = self.whole_spread(m), self.least_decided(c, m)
        return np.divide(needed, spread, out=np.ones_like(spread), where=spread > 0)

    def for_half_width(self, half_width: float, c: Floats | float, most: int) -> Ints:
        """The fewest further ones after which intervals are narrow; ``most + 1``: none are."""
        width = half_width / self.unit
        return fewest_trials(lambda m: width >= self.half_width(c, m), self.number.size, most)

    def with_assurance(
        self, share: Floats, c: Floats | float, goal: float, most: int, margin: Floats | float = 0.0
    ) -> Ints:
        """The fewest further ones that tell a difference from -margin with the chance `goal`."""
        margin = margin / self.unit
        none = np.zeros(self.diff.size, np.int64)
        today = np.abs(self.centre() + margin) > self.half_width(c, none)
        critical = partial(self._critical_spread, c)
        return trials_with_assurance(
            self.diff, self.whole_spread, critical, share, goal, most, margin, today=today
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrialsAhead(Forecast):
    """More trials of the same questions."""

    variance: SigmaAfter  # squared sigma after m further trials
    planned: int | None = None  # trials, if looks are repeated

    @classmethod
    def from_noise(
        cls, diff: Floats, sides: Sequence[tuple[Floats, Floats]], planned: int | None
    ) -> TrialsAhead:
        """From squared noise of each side, which falls with the trials as that of an average."""

        def variance(m: Ints) -> Floats:
            return np.asarray(sum(square * n / (n + m) for square, n in sides))

        fewer = np.min([n for _, n in sides], axis=0)
        return cls(diff=diff, number=fewer, variance=variance, planned=planned)

    def sigma(self, m: Ints) -> Floats:
        """Expected standard deviations."""
        return np.sqrt(self.variance(m))

    def runs_after(self, runs: RunVariance, m: Ints) -> RunVariance:
        """The part of more runs."""
        return runs.after(m.astype(np.float64), self.number)

    def critical_at(self, c: Floats | float, m: Ints) -> Floats | float:
        """Critical values, if looks are repeated those of a look at so many trials."""
        return c if self.planned is None else anytime_critical(c, (self.number + m) / self.planned)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class QuestionsAhead(Forecast):
    """More questions of a sample; `number` counts clusters as far as they count."""

    variance: Floats  # of the difference between questions
    span: float  # highest minus lowest possible score of a question
    information: Floats | None = None  # questions today over planned ones, if looks are repeated

    @classmethod
    def from_models(
        cls, models: Paired, a: Ints, b: Ints, unit: Floats, information: Floats | None = None
    ) -> QuestionsAhead:
        """Pairs of columns (S, P) of models whose means are in units of `unit`, (S, P)."""
        row = np.arange(len(a))[:, None]
        number = np.broadcast_to(models.number[:, None], a.shape)
        spread = models.squares(row, a, b) * (1 if models.span else number)
        return cls(
            diff=(models.mean[row, a] - models.mean[row, b]).ravel(),
            variance=np.where(number > 1, spread, np.nan).ravel(),
            number=number.ravel(),
            span=models.span,
            unit=unit.ravel(),
            information=None if information is None else np.repeat(information, a.shape[1]),
        )

    def _student(self, m: Ints) -> Student:
        """The intervals that are expected then."""
        number = self.number + m
        if not self.span:
            return Student(self.diff, np.sqrt(self.variance / number), number - 1)
        return plus_two(self.diff, self.variance, number, 0.0, self.span)

    def sigma(self, m: Ints) -> Floats:
        """Expected standard errors, with one question at either end."""
        return self._student(m).error

    def centre(self) -> Floats:
        """The centres of the intervals of today, which are nearer to 0."""
        return self._student(np.zeros(self.diff.size, np.int64)).centre

    def least_decided(self, c: Floats | float, m: Ints) -> Floats:
        """The smallest differences whose intervals, which are centred nearer to 0, exclude it."""
        nearer = 2 / (self.number + m) if self.span else 0.0
        return self.half_width(c, m) * (1 + nearer)

    def spread(self, m: Ints) -> Floats:
        """Standard errors of what the questions show."""
        return np.asarray(np.sqrt(self.variance / (self.number + m)))

    def runs_after(self, runs: RunVariance, m: Ints) -> RunVariance:
        """The part of the same runs, which more questions leave as it is."""
        return runs.after(0, self.trials, (self.number + m) / self.number)

    def with_trials(self, further: int) -> QuestionsAhead:
        """More questions, after further trials of those of today, in other runs."""
        assert self.runs is not None
        runs = self.runs.after(further, self.trials)
        alone = self.variance - self.number * (np.asarray(self.runs.of_trials) - runs.of_trials)
        trials = self.trials + further
        return replace(self, variance=np.maximum(alone, 0.0), runs=runs, trials=trials)

    def critical_at(self, c: Floats | float, m: Ints) -> Floats | float:
        """Critical values, if looks are repeated those of a look at so many questions."""
        if self.information is None:
            return c
        return anytime_critical(c, self.information * (self.number + m) / self.number)

    def critical(self, c: Floats | float, m: Ints) -> Floats:
        """Student's quantiles by the number of questions."""
        return student_critical(self.critical_at(c, m), self._student(m).freedom)


_HALVINGS = 50  # of the interval of the smallest difference, down to 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """An evaluation of two models on the same questions."""

    questions: float  # at least two
    trials: tuple[float, float]  # per question of each model
    rate: float  # mean success rate of both models, inside (0, 1)
    spread: float  # variance of rates between questions over rate (1 - rate)
    correlation: float  # of both models' rates over the questions
    critical: float  # normal critical value of the comparison


def smallest_difference(design: Design, power: float, *, population: bool) -> float:
    """Smallest difference of rates whose interval excludes zero with this power, or infinity."""
    shift = scipy.special.ndtri(power)
    effective = np.array([_effective_questions(design, trials) for trials in design.trials])
    high = 2 * min(design.rate, 1 - design.rate)

    def lacking(difference: float) -> float:
        noise, total = _difference_variances(design, difference)
        if population or max(design.trials) == 1:
            size, gap = np.array([[design.questions], [difference]])
            _, error, freedom = plus_two(gap, size * total, size, 0.0, 1.0)
            needed = student_critical(design.critical, freedom) * error * (1 + 2 / size)
            spread = total if population else noise
            return float(needed[0] + shift * np.sqrt(spread) - difference)
        # With the chance `power` at least `least` is measured, and decided if it is above MOVER's
        # reach (see `MeasuredPairs`).
        least = difference - shift * np.sqrt(noise)
        rates = np.clip(design.rate + least * np.array([0.5, -0.5]), 0.0, 1.0)
        lo, hi = unit_interval(rates, 1 - rates, effective, scipy.special.ndtr(-design.critical))
        return float(np.hypot(rates[0] - lo[0], hi[1] - rates[1]) - least)

    if lacking(high) > 0:
        return float("inf")
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if lacking(middle) > 0 else (low, middle)
    return high


_MOST_COUNTED = 256  # trials from which on the effective questions grow with the trials


def _effective_questions(design: Design, trials: float) -> float:
    """Right or wrong questions that a model of the plan counts as, if its counts are typical."""
    if trials == 1:
        return design.questions
    n = int(min(trials, _MOST_COUNTED))
    size = 1 / np.clip(design.spread, 1e-6, 1 - 1e-6) - 1
    shapes = design.rate * size, (1 - design.rate) * size
    c = np.arange(n + 1)
    logs = scipy.special.betaln(shapes[0] + c, shapes[1] + n - c)
    chances = np.exp(logs - scipy.special.betaln(c + 1, n - c + 1) - logs.max())
    number = design.questions * chances / chances.sum()
    return expected_effective(number, design.rate) * trials / n


def _difference_variances(design: Design, difference: float) -> tuple[float, float]:
    """Variance of the estimated difference: on these questions, and on a new sample."""
    rates = design.rate + difference / 2, design.rate - difference / 2
    a, b = (max(rate * (1 - rate), 0.0) for rate in rates)
    first, second = design.trials
    noise = (1 - design.spread) * (a / first + b / second) / design.questions
    between = design.spread * (a + b - 2 * design.correlation * np.sqrt(a * b))
    return noise, noise + between / design.questions


_MOST_SHARED = 0.99  # of a spread and of a correlation: those of a plan are below 1


def difficulty_shares(mean: Floats, noise: Floats) -> tuple[float, float, float]:
    """Rate, spread and correlation of models, as `Design` has them, from means (Q, A) in [0, 1]."""
    # Variances and covariances over questions, less the mean noise; ratios of their sums over
    # models and over pairs. The correlation is NaN for one model.
    rate, models = mean.mean(axis=0), mean.shape[1]
    covariance = np.atleast_2d(np.cov(mean, rowvar=False))
    between = np.maximum(np.diagonal(covariance) - noise.mean(axis=0), 0.0)
    spread = between.sum() / (rate * (1 - rate)).sum()
    a, b = np.triu_indices(models, k=1)
    both = np.sqrt(between[a] * between[b]).sum()
    shared = covariance[a, b].sum() / both if both > 0 else 0.0
    spread, shared = np.clip([spread, shared], 0.0, _MOST_SHARED)
    return float(rate.mean()), float(spread), float(shared) if models > 1 else float("nan")


def removable_share(mean: Floats, noise: Floats) -> float:
    """Share of the variance of a difference on other questions that trials of these remove.

    `mean` and its variance `noise` have the shape (Q, A); NaN: unknown.
    """
    questions, models = mean.shape
    if min(questions, models) < 2:  # no variance of one
        return float("nan")
    residual = mean - mean.mean(axis=1, keepdims=True)
    residual -= residual.mean(axis=0)
    # Mean squares of questions within models: the interaction, plus the noise of trials.
    both = (residual**2).sum() / ((questions - 1) * (models - 1))
    of_trials = float(noise.mean())
    everything = max(float(both), of_trials)
    return of_trials / everything if everything > 0 else float("nan")
