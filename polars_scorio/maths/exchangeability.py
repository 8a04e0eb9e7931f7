"""Tests of whether the trials of a log count as many as they are.

One null hypothesis: given how many trials and successes each question has, every arrangement of the
successes over its runs is equally likely, and questions are independent. A question is *mixed* if
it has both outcomes; the others say nothing. `present` and `success` are Boolean, a row for each
question and a column for each run; `n` and `c` are their sums.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.maths.array_rows import Floats, Ints, row_batches

Flags = NDArray[np.bool_]

FEWEST = 10  # questions, below which nothing is tested
LEVEL = 0.01  # of an alarm, shared by all that is tested in a log; a look has it by itself
_MOST_CONVOLVED = 2_000  # questions whose number is convolved exactly
_MOST_TRIALS = 500  # a rule that stops later leaves a bias of a five-hundredth or less
_MOST_COUNTED = 1_024  # trials of a question whose number of successes may be a multiple
_MOST_LEVELS = 32  # numbers of trials, the smallest first, that a pattern is tested at
_STOPS_HOLD = 0.9  # of the short questions
_TOLD_APART = 10  # ways to arrange outcomes, over the square of questions that are alike so
_BY_COUNTS = 0.01  # share of the level of copies that is spent on counts, where runs are known
_BLOCK = 32  # events whose law is made step by step, before laws are convolved
_TIES = 1 + 1e-9  # probabilities that differ by rounding count as equal
_GRID = 2_001  # rates at which a chance is maximized
_FEWEST_CORRELATED = 3  # questions that have a correlation
_SYMMETRIC = 1e-6  # skewness below which Pearson's type III is normal
DIFFICULTY_LEVEL = 0.002


class CheckResult(NamedTuple):
    """The result of a check: its p-value, or why there is none, and the numbers of a sentence."""

    p: float | None
    why: str = ""  # nothing is tested
    kind: str = ""  # which part of the check decided
    observed: float | None = None
    expected: float | None = None
    questions: int | None = None
    runs: tuple[int, ...] = ()  # columns of the runs that it names
    pattern: tuple[str, int | None] | None = None
    names: tuple[object, ...] = ()  # of the questions that it names


# Copies


def copies(
    n: Ints, c: Ints, present: Flags | None = None, success: Flags | None = None
) -> CheckResult:
    """Are some trials copies of others? By pairs of runs, where these are known, and by counts."""
    # Without a mixed question among ten there is no p-value: copies and a model that is
    # deterministic on each question give the same log.
    mixed = (c > 0) & (c < n)
    several = int((n > 1).sum())
    if not several:
        return CheckResult(None, "one trial a question")
    if not mixed.any():
        if several < FEWEST:
            return CheckResult(None, "too few questions")
        return CheckResult(None, "no mixed question")
    by_counts = _copies_by_counts(n, c)
    if present is None or success is None or not names_runs(present, success):
        return by_counts
    by_pairs = _copies_by_pairs(present, success)
    if by_pairs.p is None or by_counts.p is None:
        return by_counts if by_pairs.p is None else by_pairs
    share = {True: _BY_COUNTS, False: 1 - _BY_COUNTS}
    findings = [
        each._replace(p=min(1.0, (each.p or 0.0) / share[each is by_counts]))
        for each in (by_pairs, by_counts)
    ]
    return min(findings, key=lambda each: each.p or 0.0)


def names_runs(present: Flags, success: Flags) -> bool:
    """Whether ids name runs: two of them have ten mixed questions each."""
    mixed = _is_mixed(present, success)
    return int((present[mixed].sum(0) >= FEWEST).sum()) > 1


def _is_mixed(present: Flags, success: Flags) -> Flags:
    c = success.sum(1)
    return np.asarray((c > 0) & (c < present.sum(1)))


def _copies_by_pairs(present: Flags, success: Flags) -> CheckResult:
    """The pair of runs that agrees too often on mixed questions; its p-value times all pairs."""
    # Tails are bounds, and where they are small, exact.
    mixed = _is_mixed(present, success)
    here, x = present[mixed].astype(np.float64), success[mixed].astype(np.float64)
    n, c = here.sum(1), x.sum(1)
    chance = 1 - 2 * c * (n - c) / (n * (n - 1))
    shared, agree = here.T @ here, x.T @ x + (here - x).T @ (here - x)
    mean = (here * chance[:, None]).T @ here
    first, second = np.triu_indices(len(shared), 1)
    enough = shared[first, second] >= FEWEST
    first, second = first[enough], second[enough]
    if not first.size:
        return CheckResult(None, "no two runs share enough mixed questions")
    observed, k, expected = (each[first, second] for each in (agree, shared, mean))
    p = at_least_bound(k, observed, expected)
    exact = np.flatnonzero((p < min(LEVEL, 1 / p.size)) & (k <= _MOST_CONVOLVED))
    for some in row_batches(exact, 2 * chance.size):
        both = here[:, first[some]] * here[:, second[some]]
        most = round(float(k[some].max()))
        counts = counts_of(-np.sort(-both * chance[:, None], axis=0)[:most])
        least = np.arange(len(counts))[:, None] >= np.rint(observed[some])
        p[some] = np.where(least, counts, 0.0).sum(axis=0)
    best = int(p.argmin())
    return CheckResult(
        p=min(1.0, float(p[best]) * p.size),
        kind="pairs",
        observed=round(observed[best]),
        expected=float(expected[best]),
        questions=round(k[best]),
        runs=(int(first[best]), int(second[best])),
    )


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


def at_least_bound(k: Floats, count: Floats, expected: Floats) -> Floats:
    """Hoeffding's bound (1956) of the chance that so many of k independent events happen."""
    tail = scipy.special.betainc(np.maximum(count, 1), k - count + 1, np.minimum(expected / k, 1.0))
    return np.where(count >= expected + 1, tail, 1.0)


def _copies_by_counts(n: Ints, c: Ints) -> CheckResult:
    """Every number of successes is a multiple of a divisor of all numbers of trials."""
    mixed, some = (c > 0) & (c < n), n > 0
    shortest = int(n[mixed].min())
    if n[mixed].max() > _MOST_COUNTED:
        return CheckResult(None, f"a question has more than {_MOST_COUNTED:,} trials")
    common = int(np.gcd.reduce(n[some]))
    divisors = [d for d in range(2, min(common + 1, shortest)) if common % d == 0]
    if not divisors:
        return CheckResult(None, "no common divisor of the numbers of trials")
    p, times = 1.0, 1
    for d in divisors:
        if not (c % d).any():
            sizes, often = np.unique(n[mixed], return_counts=True)
            chances = [most_multiples(size, d) for size in sizes.tolist()]
            chance = float(np.prod(np.power(chances, often)))
            if chance <= p:
                p, times = chance, d
    p = min(1.0, p * len(divisors))
    return CheckResult(p, kind="counts", observed=times, questions=int(mixed.sum()))


def most_multiples(n: int, d: int) -> float:
    """The largest chance, over all rates, that d divides a number of successes above 0, below n."""
    rate = np.sin(np.linspace(0, np.pi / 2, _GRID + 2)[1:-1]) ** 2
    j = np.arange(1, n)
    gammaln = scipy.special.gammaln
    ways = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    logs = ways + j * np.log(rate)[:, None] + (n - j) * np.log1p(-rate)[:, None]
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return float((chances[:, j % d == 0].sum(1) / chances.sum(1)).max())


# Runs


def runs(present: Flags, success: Flags) -> CheckResult:
    """Have runs different success rates (Cochran's Q)?"""
    # The run that is named is the one that is furthest off; `highest` says by how much.
    mixed = _is_mixed(present, success)
    if mixed.sum() < FEWEST:
        return CheckResult(None, "too few mixed questions")
    if not names_runs(present, success):
        return CheckResult(None, "ids name no runs")
    here, x = present[mixed].astype(np.float64), success[mixed].astype(np.float64)
    n, c = here.sum(1), x.sum(1)
    spread = c * (n - c) / (n * (n - 1))
    t = (x - here * (c / n)[:, None]).sum(0)
    sigma = np.diag(spread @ here) - (here * (spread / n)[:, None]).T @ here
    if here.all():  # the covariance is a multiple of a projection
        q, df = float(t @ t / spread.sum()), t.size - 1
    else:
        values, vectors = np.linalg.eigh(sigma)
        kept = values > values[-1] * 1e-9
        q, df = float(((vectors[:, kept].T @ t) ** 2 / values[kept]).sum()), int(kept.sum())
    p = float(scipy.special.chdtrc(df, q))
    scale = np.sqrt(np.diag(sigma), where=np.diag(sigma) > 0, out=np.full(t.size, np.inf))
    off = int(np.abs(t / scale).argmax())
    rates = success.sum(0) / np.maximum(present.sum(0), 1)
    usual = np.delete(np.arange(t.size), off)
    rest = success[:, usual].sum() / present[:, usual].sum()
    return CheckResult(p, "", "run", float(rates[off]), float(rest), int(mixed.sum()), (off,))


# Stopping


def stopping(n: Ints, c: Ints) -> CheckResult:
    """Did the number of trials of a question follow its outcomes, as far as counts show it?"""
    some = n > 0
    n, c = n[some], c[some]
    if not n.size or n.min() == n.max():
        return CheckResult(None, "equal numbers of trials")
    states, often = np.unique(np.stack([n, c], axis=1), axis=0, return_counts=True)
    pvalue_pattern, pattern = pattern_p_value(states[:, 0], states[:, 1], often)
    return CheckResult(
        pvalue_pattern, kind="pattern", questions=int((n < n.max()).sum()), pattern=pattern
    )


def reward_stopping(n: Ints, largest: Ints, last_is_largest: Flags | None) -> CheckResult:
    """Did trials stop at a good reward? Who does stops at the largest one so far.

    If trials are exchangeable, the last one is (one of) the `largest` with the chance of their
    share, two-sided. None: ids do not tell which trial was the last.

    >>> n, one = np.repeat([2, 3, 4], 5), np.ones(15, int)
    >>> found = reward_stopping(n, one, np.arange(15) < 12)
    >>> round(found.p, 5), found.observed
    (0.00099, 12)
    """
    if not n.size or n.min() == n.max():
        return CheckResult(None, "equal numbers of trials")
    if last_is_largest is None:
        return CheckResult(None, "ids do not tell which trial was the last")
    mixed = largest < n
    if not mixed.any():
        return CheckResult(None, "too few mixed questions")
    rates, observed = largest[mixed] / n[mixed], int(last_is_largest[mixed].sum())
    if rates.size > _MOST_CONVOLVED:
        sigma = np.sqrt((rates * (1 - rates)).sum())
        gap = np.array([1, -1]) * (observed - rates.sum())
        tails = scipy.special.ndtr((gap + 0.5) / sigma)
    else:
        chances = counts_of(rates[:, None])[:, 0]
        tails = np.array([chances[: observed + 1].sum(), chances[observed:].sum()])
    expected = float(rates.sum())
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


def stopped_by_order(present: Flags, success: Flags) -> CheckResult:
    """Whoever goes on should often have stood where others stopped; under a rule nobody has."""
    some = present.any(1)
    present, success = present[some], success[some]
    n, c = present.sum(1), success.sum(1)
    if not n.size or n.min() == n.max():
        return CheckResult(None, "equal numbers of trials")
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


def pattern_p_value(
    n: Ints, c: Ints, questions: Ints
) -> tuple[float, tuple[str, int | None] | None]:
    """P-value, and kind, of the pattern that all short questions share something."""
    # Questions share successes ("c"), failures ("n-c"), or one outcome only ("unmixed"): Fisher's
    # exact test, with longer questions thinned, at the 32 smallest numbers of trials up to 500.
    if n.min() > _MOST_TRIALS:
        return 1.0, None
    short = n < n.max()
    chances = {"c": _pattern_chances(n, c, questions, "c")}
    if np.unique(n[short]).size > 1:
        chances["n-c"] = _pattern_chances(n, c, questions, "n-c")
    if n.min() > 1:
        chances["unmixed"] = _pattern_chances(n, c, questions, "unmixed")
    tests: list[tuple[float, str, int | None]] = []
    for kind, chance in chances.items():
        if kind == "unmixed":
            tests += [(float(chance[0]), kind, None)] * bool((c[short] % n[short] == 0).all())
            continue
        shared = np.unique((c if kind == "c" else n - c)[short])
        if shared.size == 1 and shared[0] < chance.size:
            tests.append((float(chance[shared[0]]), kind, int(shared[0])))
    if not tests:
        return 1.0, None
    rarest, kind, common = min(tests, key=lambda each: each[0])
    every = np.concatenate([*chances.values()])
    return min(1.0, float(every[every <= rarest * _TIES].sum())), (kind, common)


def _pattern_chances(n: Ints, c: Ints, questions: Ints, kind: str) -> Floats:
    """Chances of a kind of pattern under the null: that all short questions have 0, 1, 2, ... ."""
    levels = np.unique(n[n < n.max()])[:_MOST_LEVELS]
    common = np.zeros(1, np.int64) if kind == "unmixed" else np.arange(levels[0] + 1)
    logs = np.zeros(common.size)
    for g in levels:
        same, longer = questions[n == g].sum(), n > g
        drawn = _draw_chances(n[longer], c[longer], g, g - common if kind == "n-c" else common)
        if kind == "unmixed":
            drawn = drawn + _draw_chances(n[longer], c[longer], g, np.full(1, g))
        agree = questions[longer] @ drawn
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


# Difficulty


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


# Across questions


def repeated_questions(present: Flags, success: Flags) -> CheckResult:
    """Are some questions (by models and runs) others under another name, alike in all outcomes?"""
    questions = present.shape[1]
    n, c = present.sum(2), success.sum(2)
    ways = np.exp(_log_choose(n, c).sum(0))
    facts = np.concatenate([present.transpose(1, 0, 2).reshape(questions, -1), c.T], axis=1)
    rows = success.transpose(1, 0, 2).reshape(questions, -1)
    same = np.unique(facts.astype(np.int64), axis=0, return_inverse=True)[1].ravel()
    size = np.bincount(same)[same]
    distinct = (size > 1) & (ways > _TOLD_APART * size**2)
    if not distinct.any():
        return CheckResult(None, "no two questions that could be told apart")
    expected = float(((size - 1) / (2 * ways))[distinct].sum())
    whole = np.column_stack([same, rows])[distinct]
    _, first, often = np.unique(whole, axis=0, return_inverse=True, return_counts=True)
    first, places = first.ravel(), np.flatnonzero(distinct)
    pairs = int((often * (often - 1) // 2).sum())
    alike = places[first == int(often.argmax())][:2] if pairs else places[:0]
    return CheckResult(
        p=float(scipy.special.pdtrc(pairs - 1, expected)) if pairs else 1.0,
        kind="questions",
        observed=pairs,
        expected=expected,
        questions=int((often - 1).sum()),
        runs=tuple(alike.tolist()),
    )


# Verdicts


def verdicts(models: list[dict[str, CheckResult]]) -> list[dict[str, str]]:
    """Verdict of each check of each model (and stratum): the whole log shares one level."""
    tested = sum(test.p is not None for model in models for test in model.values())

    def verdict(p: float | None) -> str:
        if p is None:
            return "not tested"
        return "alarm" if p * tested < LEVEL else "look" if p < LEVEL else "ok"

    return [{check: verdict(test.p) for check, test in model.items()} for model in models]
