"""Tests of whether the trials of a log are what its numbers assume: independent, and all there.

One null hypothesis for most: given how many trials and successes each question has, every
arrangement of the successes over its runs is equally likely, and questions are independent. A
question is *mixed* if it has both outcomes; the others say nothing. `present` and `success` are
Boolean, a row for each question and a column for each run. Where runs are not needed, `questions`
says how many questions have n trials and c successes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache, reduce
from itertools import combinations
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.maths.array_rows import Floats, Ints, row_batches, row_slices
from polars_scorio.maths.questions import States

Flags = NDArray[np.bool_]
ResultT = TypeVar("ResultT")

FEWEST = 10  # questions, below which nothing is tested
ALARM_LEVEL, LOOK_LEVEL = 0.002, 0.05  # levels of each check of a log
UNEQUAL_LOOK = 0.01  # the level of unequal trials, which give no alarm
_MOST_CONVOLVED = 2_000  # questions whose number is convolved exactly
_MOST_TRIALS = 500  # a rule that stops later leaves a bias of a five-hundredth or less
_MOST_COUNTED = 1_024  # trials of a question whose number of successes may be a multiple
_MOST_LENGTHS = 32  # numbers of trials, the smallest first, at which stopping is tested
_STOPS_HOLD = 0.9  # of the short questions
_TOLD_APART = 10  # ways to arrange outcomes, over the square of questions that are alike so
_MOST_LOG = 700.0  # of a number that a float holds
_ALIVE = 4  # arrays of a stack of tables in use at a time
_BLOCK = 32  # events whose law is made step by step, before laws are convolved
_SMALL = 0.01  # a bound below it is replaced by the exact tail
_TIES = 1 + 1e-9  # probabilities that differ by rounding count as equal
_GRID = 2_001  # rates at which a chance is maximized
_FEWEST_CORRELATED = 3  # questions that have a correlation
_SYMMETRIC = 1e-6  # skewness below which Pearson's type III is normal


class CheckResult(NamedTuple):
    """The result of a test: its p-value, or why there is none, and the numbers of a sentence."""

    p: float | None
    why: str = ""  # nothing is tested
    kind: str = ""  # which of several patterns decided
    observed: float | None = None
    expected: float | None = None
    questions: int | None = None
    places: tuple[int, ...] = ()  # of the runs, questions or models that it names
    value: int | None = None  # what numbers of successes share: a divisor, or the outcomes


TOO_FEW_QUESTIONS = CheckResult(None, f"fewer than {FEWEST} questions can be used")
_EQUAL = CheckResult(None, "equal numbers of trials")


class LogResult(NamedTuple):
    """The result of a test in all groups of a log: it has one p-value, and one level."""

    p: float | None
    verdict: str
    groups: tuple[int, ...]  # the one with the smallest p-value, and others with an alarm

    @classmethod
    def from_groups(
        cls, results: Sequence[CheckResult], p: float | None = None, *, alarms: bool = True
    ) -> LogResult:
        """The smallest p-value times the number of groups, unless the log has another one.

        >>> LogResult.from_groups([CheckResult(0.0009), CheckResult(0.5)])
        LogResult(p=0.0018, verdict='alarm', groups=(0,))
        """
        p_values = np.array([each.p for each in results], np.float64)
        tested = np.flatnonzero(~np.isnan(p_values))
        if not tested.size:
            return cls(None, "not tested", ())
        p = smallest_p(p_values[tested]) if p is None else p
        order = tested[np.argsort(p_values[tested], kind="stable")]
        named = [order[0], *order[1:][p_values[order[1:]] * tested.size < ALARM_LEVEL]]
        return cls(p, verdict_of(p, alarms=alarms), tuple(int(at) for at in named))


def verdict_of(p: float | None, *, alarms: bool = True) -> str:
    """The verdict of a check of a log; one that never `alarms` has a look of a level of its own."""
    if p is None:
        return "not tested"
    if not alarms:
        return "look" if p < UNEQUAL_LOOK else "ok"
    return "alarm" if p < ALARM_LEVEL else "look" if p < LOOK_LEVEL else "ok"


def smallest_p(p_values: Floats) -> float:
    """The smallest of some p-values times their number, at most 1."""
    return min(1.0, float(p_values.min()) * p_values.size)


def trials_of_groups(states: States) -> list[tuple[Ints, ...]]:
    """Trials, successes and number of the questions of each group."""
    columns = *_trials_of_pairs(states), states.questions
    starts = np.searchsorted(states.group, np.arange(states.groups))
    return [*zip(*(np.split(column, starts)[1:] for column in columns), strict=True)]


def _trials_of_pairs(states: States) -> tuple[Ints, Ints]:
    """Trials and successes of the questions of each pair of a group and a state, (P,)."""
    return states.n[states.state], states.counts[states.state, 1]


# Copies


def copies_by_counts(states: States, share: int = 1) -> list[CheckResult]:
    """Is every number of successes of a group a multiple of a divisor of all numbers of trials?

    Another test of copies may have one `share` of the level.
    """
    (n, c), group, size = _trials_of_pairs(states), states.group, states.groups
    mixed = (c > 0) & (c < n)
    common, longest, shortest = np.zeros((3, size), np.int64)
    np.gcd.at(common, group, n)
    np.maximum.at(longest, group[mixed], n[mixed])
    shortest += longest
    np.minimum.at(shortest, group[mixed], n[mixed])
    several, asked = (np.bincount(group, states.questions * some, size) for some in (n > 1, mixed))
    few, long = (several < FEWEST) | (longest == 0), longest > _MOST_COUNTED
    top = np.where(few | long, 0, np.minimum(common + 1, shortest))
    p, times, number = np.ones(size), *np.zeros((2, size), np.int64)
    for d in range(2, int(top.max(initial=0))):
        divides = (d < top) & (common % d == 0)
        times, number = np.where(divides & (number == 0), d, times), number + divides
        holds = divides & (np.bincount(group, c % d, size) == 0)
        rows = np.flatnonzero(mixed & holds[group])
        levels, level = np.unique(n[rows], return_inverse=True)
        each, chance = np.array([most_multiples(one, d) for one in levels.tolist()]), np.ones(size)
        np.multiply.at(chance, group[rows], each[level] ** states.questions[rows])
        p, times = np.where(chance < p, chance, p), np.where(chance < p, d, times)
    p = np.minimum(1.0, share * number * p)
    numbers = zip(*(each.tolist() for each in (few, long, p, asked, times)), strict=True)
    return [
        TOO_FEW_QUESTIONS if rare else
        CheckResult(None, f"a question has more than {_MOST_COUNTED:,} trials") if beyond else
        CheckResult(None, "no common divisor of the numbers of trials") if not d else
        CheckResult(chance, "", "counts", None, None, int(questions), (), d)
        for rare, beyond, chance, questions, d in numbers
    ]  # fmt: skip


@cache
def most_multiples(n: int, d: int) -> float:
    """The largest chance, over all rates, that d divides a number of successes above 0, below n."""
    rate = np.sin(np.linspace(0, np.pi / 2, _GRID + 2)[1:-1]) ** 2
    j = np.arange(1, n)
    logs = log_choose(n, j) + j * np.log(rate)[:, None] + (n - j) * np.log1p(-rate)[:, None]
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return float((chances[:, j % d == 0].sum(1) / chances.sum(1)).max())


def never_mixed(states: States) -> list[int]:
    """The groups without a mixed question, where ten questions succeed always, and ten never.

    No test tells copies from a model that always gives the same answer.
    """
    n, c = _trials_of_pairs(states)
    right, wrong, all_of = (
        np.bincount(states.group, states.questions * (some & (n > 1)), states.groups)
        for some in (c == n, c == 0, n > 1)
    )
    same = (np.minimum(right, wrong) >= FEWEST) & (right + wrong == all_of)
    return [int(place) for place in np.flatnonzero(same)]


def of_equal_shape(
    test: Callable[[Flags, Flags], list[ResultT]], tables: Sequence[tuple[Flags, Flags] | None]
) -> list[ResultT | None]:
    """The results of a test of stacked tables, which takes those of one shape together."""
    known = {place: table for place, table in enumerate(tables) if table is not None}
    results, shapes = dict[int, ResultT](), defaultdict[tuple[int, ...], list[int]](list)
    for place, (present, _) in known.items():
        shapes[present.shape].append(place)
    for shape, places in shapes.items():
        for rows in row_slices(len(places), _ALIVE * prod(shape)):
            some = zip(*(known[place] for place in places[rows]), strict=True)
            results |= zip(places[rows], test(*map(np.stack, some)), strict=True)
    return [results.get(place) for place in range(len(tables))]


def copied_runs(present: Flags, success: Flags) -> list[CheckResult]:
    """The pair of runs that agrees too often on mixed questions; its p-value times all pairs.

    Of each group, (G, M, R).
    """
    here, x = _mixed_trials(present, success)
    n, _, spread = _spread_outcomes(here, x)
    chance, turned, missed = (n > 0) * (1 - 2 * spread), here.transpose(0, 2, 1), here - x
    agree = x @ x.transpose(0, 2, 1) + missed @ missed.transpose(0, 2, 1)
    first, second = np.triu_indices(here.shape[1], 1)
    observed, k, expected = (
        each[:, first, second] for each in (agree, here @ turned, (here * chance[:, None]) @ turned)
    )
    enough, p = k >= FEWEST, np.full(k.shape, np.inf)
    number = enough.sum(1)
    # Tails are bounds, and where they are small, exact.
    p[enough] = at_least_bound(k[enough], observed[enough], expected[enough])
    small = p < np.minimum(_SMALL, 1 / np.maximum(number, 1))[:, None]
    group, pair = np.nonzero(small & (k <= _MOST_CONVOLVED))
    for some in row_batches(np.arange(group.size), 2 * chance.shape[1]):
        at = group[some], pair[some]
        both = here[at[0], first[at[1]]] * here[at[0], second[at[1]]] * chance[at[0]]
        counts = counts_of(-np.sort(-both, axis=1)[:, : round(k[at].max())].T)
        least = np.arange(len(counts))[:, None] >= np.rint(observed[at])
        p[at] = np.where(least, counts, 0.0).sum(axis=0)
    alone, results = f"no two runs share {FEWEST} questions with both outcomes", []
    for place, pairs in enumerate(number.tolist()):
        if not pairs:
            results.append(CheckResult(None, alone))
            continue
        best = int(p[place].argmin())
        agreed, questions, most = (each[place, best].item() for each in (observed, k, expected))
        named = int(first[best]), int(second[best])
        sure = min(1.0, float(p[place, best]) * pairs)
        results.append(CheckResult(sure, "", "runs", round(agreed), most, round(questions), named))
    return results


def _mixed_trials(present: Flags, success: Flags) -> tuple[Floats, Floats]:
    """Trials, and successes, of mixed questions as numbers (G, R, M): 0 of others."""
    mixed = mixed_questions(present, success)[:, None]
    here, x = (each.transpose(0, 2, 1) & mixed for each in (present, success))
    return np.asarray(here, np.float64, order="C"), np.asarray(x, np.float64, order="C")


def _spread_outcomes(here: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Trials of each question, its success rate, and half the chance that two of them differ."""
    n, c = here.sum(1), x.sum(1)
    size = np.maximum(n, 2)
    return n, c / size, c * (n - c) / (size * (size - 1))


def mixed_questions(present: Flags, success: Flags) -> Flags:
    """Whether questions have both outcomes."""
    c = success.sum(-1)
    return np.asarray((c > 0) & (c < present.sum(-1)))


def counts_of(chances: Floats) -> Floats:
    """Chances that 0, 1, ... of M independent events happen, (M + 1, P) of chances (M, P)."""
    events, columns = chances.shape
    blocks = np.zeros((_BLOCK, -(-events // _BLOCK) or 1, columns))
    blocks.reshape(-1, columns)[:events] = chances
    laws = np.zeros((_BLOCK + 1, *blocks.shape[1:]))
    laws[0] = 1.0
    for number, chance in enumerate(blocks):
        happens = laws[: number + 1] * chance
        laws[: number + 1] -= happens
        laws[1 : number + 2] += happens
    each = [reduce(np.convolve, laws[..., column].T) for column in range(columns)]
    return np.array(each).reshape(columns, -1)[:, : events + 1].T


def count_tails(chances: Floats, observed: int) -> Floats:
    """Chances that at most, and at least, so many independent events happen."""
    # Exact for up to 2,000 events; above, normal with continuity correction.
    if chances.size > _MOST_CONVOLVED:
        gap = np.array([1, -1]) * (observed - chances.sum())
        return np.asarray(
            scipy.special.ndtr((gap + 0.5) / np.sqrt((chances * (1 - chances)).sum()))
        )
    counts = counts_of(chances[:, None])[:, 0]
    return np.array([counts[: observed + 1].sum(), counts[observed:].sum()])


def at_least_bound(k: Floats, count: Floats, expected: Floats) -> Floats:
    """Hoeffding's bound (1956) of the chance that so many of k independent events happen."""
    shape = np.maximum(count, 1), k - count + 1
    rate, some = np.minimum(expected / k, 1.0), count >= expected + 1
    return np.asarray(scipy.special.betainc(*shape, rate, where=some, out=np.ones_like(rate)))


# Runs


class RunResult(NamedTuple):
    """The result of the test of the runs of a model, with its statistic."""

    result: CheckResult
    statistic: float = 0.0
    freedom: int = 0


def differing_runs(present: Flags, success: Flags) -> list[RunResult]:
    """Have runs of each group, (G, M, R), different success rates? Cochran's Q.

    It names the run that is furthest off.
    """
    here, x = _mixed_trials(present, success)
    (n, rate, spread), runs = _spread_outcomes(here, x), np.arange(here.shape[1])
    t = (x - here * rate[:, None]).sum(2)
    sigma = -((here * (spread / np.maximum(n, 1))[:, None]) @ here.transpose(0, 2, 1))
    sigma[:, runs, runs] += (here @ spread[..., None])[..., 0]
    # Ids name runs if two of them have ten mixed questions each.
    variance, named = sigma[:, runs, runs], (here.sum(2) >= FEWEST).sum(1) > 1
    off = np.abs(t / np.sqrt(variance, where=variance > 0, out=np.full(t.shape, np.inf)))
    # Successes and trials of each run, and of the other ones.
    sums, results = np.stack([success.sum(1), present.sum(1)]), list[RunResult]()
    successes, trials = np.stack([sums, sums.sum(2, keepdims=True) - sums], axis=1)
    rates = successes / np.maximum(trials, 1)
    for place, questions in enumerate((n > 0).sum(1).tolist()):
        if questions < FEWEST or not named[place]:
            why = TOO_FEW_QUESTIONS if questions < FEWEST else CheckResult(None, "ids name no runs")
            results.append(RunResult(why))
            continue
        q, freedom = _cochran_q(t[place], sigma[place], spread[place], n[place])
        run, p = int(off[place].argmax()), float(scipy.special.chdtrc(freedom, q))
        of_run, of_rest = rates[:, place, run].tolist()
        result = CheckResult(p, "", "", of_run, of_rest, questions, (run,))
        results.append(RunResult(result, q, freedom))
    return results


def _cochran_q(t: Floats, sigma: Floats, spread: Floats, n: Floats) -> tuple[float, int]:
    """Cochran's Q, and its degrees of freedom."""
    if ((n == 0) | (n == t.size)).all():  # the covariance is a multiple of a projection
        return float(t @ t / spread[n > 0].sum()), t.size - 1
    values, vectors = np.linalg.eigh(sigma)
    kept = values > values[-1] * 1e-9
    return float(((vectors[:, kept].T @ t) ** 2 / values[kept]).sum()), int(kept.sum())


def runs_p(groups: Sequence[RunResult]) -> float | None:
    """P-value of the runs of all models: the smallest one of a model, or their sum; None if none.

    >>> one = RunResult(CheckResult(0.01), 6.6349, 1)
    >>> round(runs_p([one, one]), 3)
    0.003
    """
    tested = [each for each in groups if each.result.p is not None]
    if not tested:
        return None
    least = smallest_p(np.array([each.result.p for each in tested]))
    statistic = sum(each.statistic for each in tested)
    freedom = sum(each.freedom for each in tested)
    return min(1.0, 2 * min(least, float(scipy.special.chdtrc(freedom, statistic))))


# Stopping


def stopping_by_counts(states: States) -> list[CheckResult]:
    """Do all short questions of a group share what a rule that looks at outcomes would stop at?

    Fisher's exact test with longer questions thinned, of the `_STOPS` that may have been a rule.
    """
    n, _ = _trials_of_pairs(states)
    if not n.size or n.min() == n.max():
        return [_EQUAL] * states.groups
    return [_stopping_of_group(*group) for group in trials_of_groups(states)]


def _untested_result(n: Ints, questions: int) -> CheckResult | None:
    """The finding on questions of equal length, or too few of them."""
    if not n.size or n.min() == n.max():
        return _EQUAL
    return TOO_FEW_QUESTIONS if questions < FEWEST else None


def _stopping_of_group(n: Ints, c: Ints, questions: Ints) -> CheckResult:
    if result := _untested_result(n, questions.sum()):
        return result
    least, short = int(n.min()), n < n.max()
    result = CheckResult(1.0, questions=int(questions[short].sum()))
    ended, several = (n[short], c[short]), least < n[short].max()
    named = [
        each
        for each in _STOPS
        if (several or each not in {"failures", "lead"})
        and (least > 1 or each not in {"majority", "unmixed"})
    ]
    shared = {kind: _STOPS[kind](*ended) for kind in named}
    held = [kind for kind, values in shared.items() if values.min() == values.max() <= least]
    held = [kind for kind in held if kind != "unmixed" or not shared[kind][0]]
    if not held or least > _MOST_TRIALS:
        return result
    draws = [
        (int(questions[n == length].sum()), _drawn_successes(n, c, questions, length))
        for length in np.unique(ended[0])[:_MOST_LENGTHS].tolist()
    ]
    chances = {kind: _stop_chances(kind, draws, least) for kind in named}
    rarest, kind = min((float(chances[kind][shared[kind][0]]), named.index(kind)) for kind in held)
    every = np.concatenate([*chances.values()])
    p = min(1.0, float(every[every <= rarest * _TIES].sum()))
    return result._replace(p=p, kind=named[kind], value=int(shared[named[kind]][0]))


# What questions have in common if their trials stopped, by their trials and successes. "unmixed"
# is 0 where all outcomes are the same.
_STOPS: dict[str, Callable[[Ints, Ints], Ints]] = {
    "successes": lambda _, c: c,
    "failures": lambda n, c: n - c,
    "majority": lambda n, c: np.maximum(c, n - c),
    "lead": lambda n, c: np.abs(2 * c - n),
    "unmixed": lambda n, c: ((c > 0) & (c < n)).astype(np.int64),
}


def _drawn_successes(n: Ints, c: Ints, questions: Ints, size: int) -> Floats:
    """Expected numbers of longer questions with 0, 1, ... successes in a draw of `size` trials."""
    longer, wanted = n > size, np.arange(size + 1)
    total, successes = n[longer, None], c[longer, None]
    ways = log_choose(successes, wanted) + log_choose(total - successes, size - wanted)
    chances = np.exp(ways - log_choose(total, np.full(1, size)))
    return np.asarray(questions[longer] @ chances)


def _stop_chances(kind: str, draws: Sequence[tuple[int, Floats]], least: int) -> Floats:
    """Chances under the null that all short questions share the value 0, 1, ..., `least`.

    `draws` say how many questions have a length, and what as many trials of longer ones hold.
    """
    values = np.arange(1 if kind == "unmixed" else least + 1)
    logs = np.zeros(values.size)
    for short, longer in draws:
        successes = np.arange(longer.size)
        of_draw = _STOPS[kind](np.full_like(successes, successes[-1]), successes)
        agree = longer @ (of_draw[:, None] == values)
        short_ones = np.full(1, short)
        every = log_choose(longer.sum() + short_ones, short_ones)
        logs += log_choose(agree + short, short_ones) - every
    return np.asarray(np.exp(logs))


def reward_stopping(n: Ints, largest: Ints, last_is_largest: Flags | None) -> CheckResult:
    """Did trials stop at a good reward? Who does stops at the largest one so far.

    If trials are exchangeable, the last one is (one of) the `largest` with the chance of their
    share, two-sided. None: ids do not tell which trial was the last.

    >>> n, one = np.repeat([2, 3, 4], 5), np.ones(15, int)
    >>> result = reward_stopping(n, one, np.arange(15) < 12)
    >>> round(result.p, 5), result.observed
    (0.00099, 12)
    """
    if not n.size or n.min() == n.max():
        return _EQUAL
    if last_is_largest is None:
        return CheckResult(None, "ids do not tell which trial was the last")
    mixed = largest < n
    if mixed.sum() < FEWEST:
        return TOO_FEW_QUESTIONS
    rates, observed = largest[mixed] / n[mixed], int(last_is_largest[mixed].sum())
    tails, expected = count_tails(rates, observed), float(rates.sum())
    return CheckResult(
        min(1.0, 2 * float(tails.min())), "", "rewards", observed, expected, int(mixed.sum())
    )


def stops_of(n: Ints, c: Ints) -> list[tuple[int, int]]:
    """Trials and successes at which most short questions ended, most frequent first."""
    short = n < n.max()
    states, often = np.unique(np.stack([n[short], c[short]], axis=1), axis=0, return_counts=True)
    order = np.argsort(-often, kind="stable")
    held = np.cumsum(often[order]) - often[order] < _STOPS_HOLD * short.sum() * (1 - 1e-12)
    return [(int(a), int(b)) for a, b in states[order[held]]]


def passing_chances(n: Ints, c: Ints, stops: list[tuple[int, int]]) -> Floats:
    """Chance that a question with n trials, c successes stood at a stop before its own end."""
    # A share of its arrangements: paths that avoid the stops, halved at every step.
    stops_at: dict[int, list[int]] = {}
    for trials, successes in stops:
        stops_at.setdefault(trials, []).append(successes)
    most = int(n.max())
    free = np.zeros(most + 1)
    free[0] = 1.0
    every, chance = scipy.special.binom(n, c) * 0.5**n, np.zeros(n.size)
    for g in range(most + 1):
        if g:
            free[1:] = (free[1:] + free[:-1]) / 2
            free[0] /= 2
        exact = n == g
        if exact.any():
            chance[exact] = 1 - free[c[exact]] / every[exact]
        free[stops_at.get(g, [])] = 0.0
    return np.clip(chance, 0.0, 1.0)


def stopping_by_order(present: Flags, success: Flags) -> CheckResult:
    """Did questions go on from where others stopped? Many should have; under a rule nobody has.

    It holds whatever the numbers of trials were planned on.
    """
    some = present.any(1)
    present, success = present[some], success[some]
    n, c = present.sum(1), success.sum(1)
    if result := _untested_result(n, n.size):
        return result
    stops = stops_of(n, c)
    states, which = np.unique(np.stack([n, c], axis=1), axis=0, return_inverse=True)
    chance = passing_chances(states[:, 0], states[:, 1], stops)[which.reshape(-1)]
    is_stop = np.zeros((int(n.max()) + 1, int(n.max()) + 1), np.bool_)
    is_stop[tuple(np.transpose(stops))] = True
    trials, successes = present.cumsum(1), success.cumsum(1)
    passed = (is_stop[trials, successes] & (trials < n[:, None])).any(1)
    open_ones = (chance > 1e-12) & (chance < 1 - 1e-12)
    chances, observed = chance[open_ones], int(passed[open_ones].sum())
    expected, k = float(chances.sum()), int(open_ones.sum())
    if k <= _MOST_CONVOLVED:
        p = float(counts_of(chances[:, None])[: observed + 1].sum())
    else:
        p = float(at_least_bound(*np.array([[k], [k - observed], [k - expected]])).item())
    return CheckResult(min(1.0, p), "", "order", observed, expected, k)


def log_choose(total: Floats | Ints | int, part: Floats | Ints | int) -> Floats:
    """Log of a binomial coefficient, also of numbers that are not whole; -inf if it is 0."""
    gammaln = scipy.special.gammaln
    return np.asarray(gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1))


# Difficulty


def unequal_trials(states: States) -> list[CheckResult]:
    """Do questions of a group with fewer trials succeed less, or more, than those with most?"""
    return [_unequal_group(*group) for group in trials_of_groups(states)]


def _unequal_group(n: Ints, c: Ints, questions: Ints) -> CheckResult:
    if result := _untested_result(n, questions.sum()):
        return result
    fewer, rate = n < n.max(), c / n
    low, high = (float(np.average(rate[kind], weights=questions[kind])) for kind in (fewer, ~fewer))
    p = difficulty_p_value(n, c, questions)
    return CheckResult(p, "", "", low, high, int(questions[fewer].sum()))


def difficulty_p_value(n: Ints, c: Ints, questions: Ints) -> float:
    """P-value of the covariance of log n with the success rate of a question, two-sided."""
    # By Pearson's type III distribution, never less than the normal tail.
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


def _type_three_tail(t: float, skewness: float) -> float:
    """Chance of a value beyond t, on the side of t, of a standardized type III distribution."""
    if abs(skewness) < _SYMMETRIC:
        return float(scipy.special.ndtr(-abs(t)))
    shape = 4 / skewness**2
    place = max(shape + 2 * t / skewness, 0.0)
    above = (t > 0) == (skewness > 0)
    tail = scipy.special.gammaincc if above else scipy.special.gammainc
    return float(tail(shape, place))


# Across questions, and across models


def repeated_questions(present: Flags, success: Flags) -> tuple[CheckResult, Flags]:
    """Are some questions (by models and runs) others under another name, alike in all outcomes?

    The second result marks those that repeat an earlier one.
    """
    questions = present.shape[1]
    repeats = np.zeros(questions, np.bool_)
    n, c = present.sum(2), success.sum(2)
    ways = np.exp(np.minimum(log_choose(n, c).sum(0), _MOST_LOG))
    facts = _row_keys(np.packbits(present, axis=2).transpose(1, 0, 2), c.T)
    outcomes = np.packbits(success, axis=2).transpose(1, 0, 2)
    same = np.unique(facts, return_inverse=True)[1].ravel()
    size = np.bincount(same)[same]
    distinct = (size > 1) & (ways > _TOLD_APART * size**2)
    if questions < FEWEST:
        return TOO_FEW_QUESTIONS, repeats
    if not distinct.any():
        return CheckResult(None, "too few trials to distinguish questions"), repeats
    expected = float(((size - 1) / (2 * ways))[distinct].sum())
    whole, places = _row_keys(same, outcomes)[distinct], np.flatnonzero(distinct)
    _, at, which, often = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    repeats[np.delete(places, at)] = True
    pairs = int((often * (often - 1) // 2).sum())
    alike = places[which.ravel() == int(often.argmax())][:2] if pairs else places[:0]
    result = CheckResult(
        p=float(scipy.special.pdtrc(pairs - 1, expected)) if pairs else 1.0,
        observed=pairs,
        expected=expected,
        questions=int(repeats.sum()),
        places=tuple(alike.tolist()),
    )
    return result, repeats


def _row_keys(*parts: NDArray[Any]) -> NDArray[np.void]:
    """The rows of some arrays as bytes, which are compared much faster than rows of numbers."""
    each = [np.ascontiguousarray(part).reshape(len(part), -1).view(np.uint8) for part in parts]
    rows = np.ascontiguousarray(np.concatenate(each, axis=1))
    return rows.view(np.dtype((np.void, rows.shape[1]))).ravel()


def error_rates_differ(errors: Floats) -> CheckResult:
    """Do models differ in the share of their trials that broke? Of models by questions, (A, M).

    NaN where a model lacks a question. The pair that is named is the one with fewer, and the one
    with more errors.

    >>> rates = np.zeros((2, 40))
    >>> rates[1, :20] = np.linspace(0.1, 0.5, 20)
    >>> result = error_rates_differ(rates)
    >>> result.places, round(result.p, 5)
    ((0, 1), 3e-05)
    """
    tested = list[tuple[float, CheckResult]]()
    for pair in combinations(range(len(errors)), 2):
        both = errors[[*pair]]
        first, second = both[:, ~np.isnan(both).any(0)]
        gap = second - first
        unequal = int(np.count_nonzero(gap))
        if unequal < FEWEST:
            continue
        t = gap.sum() / np.sqrt(gap.size * gap.var(ddof=1))
        p = 2 * float(scipy.special.stdtr(unequal - 1, -abs(t)))
        low, high = (first.mean(), second.mean()) if t > 0 else (second.mean(), first.mean())
        named = pair if t > 0 else pair[::-1]
        tested.append((p, CheckResult(p, "", "", high, low, gap.size, named)))
    if not tested:
        return CheckResult(None, f"fewer than {FEWEST} questions on which two models differ")
    p, least = min(tested, key=lambda each: each[0])
    return least._replace(p=min(1.0, p * len(tested)))


class LabelCounts(NamedTuple):
    """Trials with each verdict of a judge, and those of them that people labelled."""

    right: Ints
    wrong: Ints
    labelled_right: Ints
    labelled_wrong: Ints


def labels_by_difficulty(counts: LabelCounts, questions: Ints) -> CheckResult:
    """Are labels on easier, or harder, questions than trials of the same verdict?

    A question is as easy as its other trials say. Labels that depend on the verdict, and whole
    questions that are random, are allowed.
    """
    right, wrong, labels_right, labels_wrong = (np.asarray(each, np.float64) for each in counts)
    n = right + wrong
    with_label = questions[(labels_right + labels_wrong > 0) & (n > 1)].sum()
    without = questions[(labels_right + labels_wrong < n) & (n > 1)].sum()
    if n.max(initial=0) <= 1:
        return CheckResult(None, "one trial a question says nothing of other trials")
    if not without:
        return CheckResult(None, "all trials have a label")
    if min(with_label, without) < FEWEST:
        return TOO_FEW_QUESTIONS
    weight, score = questions * (n > 1), np.zeros(n.size)
    for trials, labels, itself in ((right, labels_right, 1), (wrong, labels_wrong, 0)):
        rest = (right - itself) / np.maximum(n - 1, 1)
        every = max(float(weight @ trials), 1.0)
        share, mean = weight @ labels / every, weight @ (trials * rest) / every
        score += (labels - share * trials) * (rest - mean)
    spread = np.sqrt(weight @ score**2)
    t = float(weight @ score / spread) if spread else 0.0
    p = 2 * float(scipy.special.stdtr(min(with_label, without) - 1, -abs(t)))
    return CheckResult(p, kind="easier" if t > 0 else "harder", questions=int(with_label))
