"""Tests of whether the number of trials of a question followed its outcomes, or its difficulty.

Null hypothesis of each test: the number of trials says nothing about the success rate of a
question, and the trials of a question are exchangeable. The tests condition on what the log shows,
so that hard or easy benchmarks are not accused of a pattern that they cannot avoid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints

# Levels at which each test rejects, in the order in which they are asked.
PATTERN_LEVEL, ORDER_LEVEL, DIFFICULTY_LEVEL = 0.005, 0.001, 0.002
_TIES = 1 + 1e-9  # probabilities that differ by rounding count as equal
_MOST_TRIALS = 500  # a rule that stops later leaves a bias of a five-hundredth or less
_MOST_LEVELS = 32  # numbers of trials, the smallest first, that the pattern is tested at
_MOST_CONVOLVED = 2_000  # questions whose number of last successes is convolved exactly
_FEWEST_CORRELATED = 3  # questions that have a correlation


class StoppingEvidence(NamedTuple):
    """P-values of the three tests for one group of questions; None: not testable."""

    pattern: float | None
    order: float | None
    difficulty: float | None

    @property
    def followed(self) -> str | None:
        """Reason why numbers of trials differ: "outcomes", "difficulty", or None."""
        by_order = self.order is not None and self.order < ORDER_LEVEL
        by_pattern = self.pattern is not None and self.pattern < PATTERN_LEVEL
        if by_pattern or by_order:
            return "outcomes"
        by_difficulty = self.difficulty is not None and self.difficulty < DIFFICULTY_LEVEL
        return "difficulty" if by_difficulty else None


def stopping_evidence(
    n: Ints, c: Ints, questions: Ints, last_successes: Ints | None = None
) -> StoppingEvidence:
    """Test one group of questions for trials that stopped on outcomes or followed difficulty.

    `last_successes` (S,): number of a state's questions whose last trial succeeded, if the order of
    trials is known. All p-values are 1 if every question has the same number of trials.
    """
    if n.size == 0 or n.min() == n.max():
        return StoppingEvidence(1.0, None if last_successes is None else 1.0, 1.0)
    order = None if last_successes is None else order_p_value(n, c, questions, last_successes)
    return StoppingEvidence(
        pattern_p_value(n, c, questions), order, difficulty_p_value(n, c, questions)
    )


def reward_stopping_evidence(
    n: Ints, largest: Ints, questions: Ints, last_largest: Ints | None = None
) -> StoppingEvidence:
    """Test one group with real-valued rewards for trials that stopped at a good one.

    If trials are exchangeable, the last one is (one of) the largest with the chance of their share.
    `largest` (S,): trials with the largest reward of a question; `last_largest` (S,): questions
    whose last trial is one of these. Only the order has a p-value.

    >>> n, one, often = np.array([2, 3, 4]), np.array([1, 1, 1]), np.array([5, 5, 5])
    >>> evidence = reward_stopping_evidence(n, one, often, np.array([5, 5, 2]))
    >>> round(evidence.order, 5), evidence.followed
    (0.00099, 'outcomes')
    """
    if last_largest is None:
        return StoppingEvidence(None, None, None)
    differ = n.size > 0 and n.min() < n.max()
    order = order_p_value(n, largest, questions, last_largest) if differ else 1.0
    return StoppingEvidence(None, order, None)


def pattern_p_value(n: Ints, c: Ints, questions: Ints) -> float:
    """P-value of the pattern that all short questions share their successes, or their failures.

    A question is short if it has fewer trials than some other. Fisher's exact test over all
    patterns that are as unlikely, with longer questions thinned to as many trials. 1 if each
    question has more than 500 trials. The 32 smallest numbers of trials are tested; not all `n` may
    be equal.
    """
    short = n < n.max()
    kinds = {False: c, True: n - c} if np.unique(n[short]).size > 1 else {False: c}
    shared = {
        failures: number[short][0]
        for failures, number in kinds.items()
        if np.unique(number[short]).size == 1
    }
    if not shared or n.min() > _MOST_TRIALS:
        return 1.0
    chances = {each: _pattern_chances(n, c, questions, failures=each) for each in kinds}
    observed = max(chances[failures][common] for failures, common in shared.items())
    every = np.concatenate(list(chances.values()))
    return min(1.0, float(every[every <= observed * _TIES].sum()))


def _pattern_chances(n: Ints, c: Ints, questions: Ints, *, failures: bool) -> Floats:
    """Chances that all short questions have 0, 1, 2, ... successes (or failures) under the null."""
    levels = np.unique(n[n < n.max()])[:_MOST_LEVELS]
    common = np.arange(levels[0] + 1)
    logs = np.zeros(common.size)
    for g in levels:
        same, longer = questions[n == g].sum(), n > g
        wanted = g - common if failures else common
        agree = questions[longer] @ _draw_chances(n[longer], c[longer], g, wanted)
        every = questions[longer].sum()
        logs += _log_choose(agree + same, same) - _log_choose(every + same, same)
    return np.asarray(np.exp(logs))


def _draw_chances(n: Ints, c: Ints, size: int, wanted: Ints) -> Floats:
    """Chances that a draw of some of the n trials has `wanted` successes, shape (S, W)."""
    n, c = n[:, None], c[:, None]
    ways = _log_choose(c, wanted) + _log_choose(n - c, size - wanted)
    return np.asarray(np.exp(ways - _log_choose(n, np.full(1, size))))


def _log_choose(total: Floats | Ints, part: Floats | Ints) -> Floats:
    """Log of a binomial coefficient, also of numbers that are not whole; -inf if it is 0."""
    gammaln = scipy.special.gammaln
    return np.asarray(gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1))


def order_p_value(n: Ints, c: Ints, questions: Ints, last_successes: Ints) -> float:
    """P-value of the number of questions whose last trial succeeded, two-sided.

    Given n and c, the last trial succeeds with chance c/n. Questions with one trial, or without
    both outcomes, say nothing.
    """
    mixed = (n > 1) & (c > 0) & (c < n)
    rates = np.repeat(c[mixed] / n[mixed], questions[mixed])
    successes = int(last_successes[mixed].sum())
    if rates.size > _MOST_CONVOLVED:
        mean, sigma = rates.sum(), np.sqrt((rates * (1 - rates)).sum())
        tails = scipy.special.ndtr((np.array([1, -1]) * (successes - mean) + 0.5) / sigma)
        return float(min(1.0, 2 * tails.min()))
    chances = np.ones(1)
    for rate in rates:
        chances = np.convolve(chances, [1 - rate, rate])
    return float(min(1.0, 2 * min(chances[: successes + 1].sum(), chances[successes:].sum())))


def difficulty_p_value(n: Ints, c: Ints, questions: Ints) -> float:
    """P-value of the covariance of log n with the success rate of a question, two-sided.

    By Pearson's type III distribution of the same variance and skewness, never less than the normal
    tail. Not all `n` may be equal.
    """
    size = questions.sum()
    rate = c / n
    mean = questions @ rate / size
    if size < _FEWEST_CORRELATED or mean in {0.0, 1.0}:
        return 1.0
    x = np.log(n) - questions @ np.log(n) / size
    spread = questions @ (rate - mean) ** 2 / (size - 1)
    variance = np.maximum(spread, mean * (1 - mean) / n)
    third = 2 * (1 - 2 * mean) * variance**2 / (mean * (1 - mean) + variance)
    sigma = np.sqrt(questions @ (x**2 * variance))
    t = questions @ (x * (rate - mean)) / sigma
    skewness = questions @ (x**3 * third) / sigma**3
    tail = max(_type_three_tail(t, skewness), scipy.special.ndtr(-abs(t)))
    return float(min(1.0, 2 * tail))


def joint_p_value(p_values: Floats) -> float:
    """P-value of the hypothesis that none of several independent groups followed anything.

    Twice the smaller of Fisher's combination, which adds up weak evidence of many groups, and
    Bonferroni's bound, which finds a single group among many. A single p-value stays as it is.
    """
    if p_values.size <= 1:
        return float(p_values.min(initial=1.0))
    fisher = scipy.special.gammaincc(p_values.size, -np.log(np.maximum(p_values, _LEAST)).sum())
    bonferroni = p_values.size * p_values.min()
    return float(min(1.0, 2 * min(fisher, bonferroni)))


def suspect_models(p_values: Floats, model: Ints, level: float) -> Ints:
    """Models, ascending, whose groups together show more than single groups show by chance.

    Of hundreds of groups whose trials were lost at random some have a small p-value. So a model has
    one test, at `level` divided by the number of models. NaN p-values are ignored.
    """
    level /= max(np.unique(model).size, 1)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(model[tested], kind="stable")]
    found, starts = np.unique(model[order], return_index=True)
    ends = [*starts[1:], order.size]
    joint = [joint_p_value(p_values[order[a:b]]) for a, b in zip(starts, ends, strict=False)]
    return found[np.array(joint) < level]


_LEAST = 1e-300  # p-values whose logarithm is finite
_SYMMETRIC = 1e-6  # skewness below which Pearson's type III is normal


def _type_three_tail(t: float, skewness: float) -> float:
    """Chance of a value beyond t, on the side of t, of a standardized type III distribution."""
    if abs(skewness) < _SYMMETRIC:
        return float(scipy.special.ndtr(-abs(t)))
    shape = 4 / skewness**2
    place = max(shape + 2 * t / skewness, 0.0)
    above = (t > 0) == (skewness > 0)
    tail = scipy.special.gammaincc if above else scipy.special.gammainc
    return float(tail(shape, place))
