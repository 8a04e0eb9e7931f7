"""Findings of tests of a log, in words, and the tests that need no more than counts.

Tests only speak: no number, verdict or exit status depends on them. One test has one p-value for a
whole log, the smallest of its groups (models and strata) times their number. `log_checks` adds the
tests of the ids of trials and runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_scorio.arguments import p_words
from polars_scorio.counting.judge_counts import LABELS
from polars_scorio.counting.log import Trials
from polars_scorio.counting.run_bits import has_order, run_part
from polars_scorio.counting.tally import ERRORS, TIMES
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.exchangeability import (
    UNEQUAL_LOOK,
    CheckResult,
    LabelCounts,
    LogResult,
    copies_by_counts,
    error_rates_differ,
    labels_by_difficulty,
    never_mixed,
    stopping_by_counts,
    unequal_trials,
)
from polars_scorio.maths.questions import States, question_pairs

PLACE, TRIALS, SUCCESSES = ":group", ":n", ":c"  # of a group; of a question, with an outcome


class _Words(NamedTuple):
    """The question that a test asks, and the answer where all is well."""

    asks: str
    quiet: str


CHECKS = {
    "stopping": _Words(
        "Did the number of trials depend on the outcomes?",
        "Questions with fewer trials did not all end alike",
    ),
    "order": _Words(
        "Did the last outcome decide when to stop?",
        "Questions went on from outcomes at which others stopped",
    ),
    "mixed": _Words("Does a model repeat itself too often?", "No more often than scores explain"),
    "copies": _Words("Are trials copies of others?", "No trials look like copies"),
    "repeats": _Words("Are questions listed twice?", "No questions look like repeats of others"),
    "runs": _Words("Do runs differ?", "Runs do not differ more than by chance"),
    "errors": _Words("Does one model have more errors?", "Models have as many errors"),
    "labels": _Words(
        "Are labels on easier questions than the rest?", "Labels are on questions like the rest"
    ),
    "unequal": _Words(
        "Do questions with fewer trials succeed less?",
        "Questions with fewer trials succeed as often as others",
    ),
}
SPOKEN = ("alarm", "note")  # verdicts that reports, pages and gates say


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """The finding of a test in a log."""

    check: str
    verdict: str
    sentence: str  # what it names, and what to do
    result: CheckResult  # of the group that it names, with the p-value of the log
    key: tuple[object, ...] = ()  # the stratum and model that it names, or none
    names: tuple[str, ...] = ()  # of all groups with an alarm

    @classmethod
    def untested(cls, check: str, why: str) -> CheckFinding:
        """The finding of a test that was not made."""
        return cls(check, "not tested", f"Not tested: {why}.", CheckResult(None, why))

    @property
    def biases_scores(self) -> bool:
        """Whether every score is biased: trials stopped at successes, or at failures."""
        stopped = self.check == "stopping" and self.result.kind in {"successes", "failures"}
        return stopped and self.verdict == "alarm"


def spoken_findings(findings: Sequence[CheckFinding]) -> list[CheckFinding]:
    """The findings that reports, pages and gates say."""
    return [each for each in findings if each.verdict in SPOKEN]


@dataclass(frozen=True, eq=False)  # no slots: the states are kept
class CountedLog:
    """The questions of a log as tests see them.

    `questions` has `PLACE` (the row of `keys`), `TRIALS`, `SUCCESSES`, maybe `TIMES`, the labels
    of a judge, and `ERRORS` with the name of the question.
    """

    trials: Trials
    keys: pl.DataFrame
    questions: pl.DataFrame
    graded: bool = False  # whether categories are real-valued rewards

    @cached_property
    def states(self) -> States:
        """The questions of each group by their trials and successes."""
        n, c, place = (self.questions[name].to_numpy() for name in (TRIALS, SUCCESSES, PLACE))
        counts = np.stack([n - c, c], axis=1, dtype=np.int64)
        often = self.questions.get_column(TIMES, default=pl.Series(np.ones_like(n))).to_numpy()
        return States.tally(counts, 0 * counts, place.astype(np.int64), often, self.keys.height)

    @property
    def has_ids(self) -> bool:
        """Whether rows carry ids, of runs or trials."""
        return self.trials.count is None and run_part(self.trials) is not None

    def tested(self, test: Callable[[States], list[CheckResult]]) -> list[CheckResult]:
        """The results of a test of the trials and successes of each group."""
        return [_BINARY] * self.keys.height if self.graded else test(self.states)

    def trials_of(self, *places: int) -> Ints:
        """Trials that questions of some groups have."""
        states = self.states
        return states.n[states.state[np.isin(states.group, places)]]

    @property
    def knows_first(self) -> bool:
        """Whether ids tell which trials of a question came first."""
        trial = self.trials.trial
        return self.trials.count is None and trial is not None and has_order(trial)

    def first_words(self, place: int) -> str:
        """The option that counts as many first trials of each question as all of a group have."""
        least = int(self.trials_of(place).min())
        option = f"first={least} counts the first {'trial' if least == 1 else least}"
        return (
            f"{option if self.knows_first else f'with ordered trial ids {option}'} of each question"
        )

    def strata(self) -> tuple[list[tuple[object, ...]], Ints]:
        """The keys of the strata, with null for the model, and the stratum of each group."""
        strata, models = [*self.trials.strata], (None,) * len(self.trials.models)
        if not strata:
            return [models], np.zeros(self.keys.height, np.int64)
        number = self.keys.select(pl.struct(strata).rank("dense")).to_series() - 1
        rows = self.keys.select(strata).unique().sort(strata).rows()
        return [(*row, *models) for row in rows], number.to_numpy().astype(np.int64)

    def group_name(self, place: int) -> str:
        """The model, with its stratum."""
        row = self.keys.row(place, named=True)
        model = next((str(row[name]) for name in self.trials.models), "This model")
        strata = ", ".join(f"{name}={row[name]!r}" for name in self.trials.strata)
        return f"{model} ({strata})" if strata else model

    def finding(
        self,
        check: str,
        results: Sequence[CheckResult],
        words: Callable[[int, CheckResult, str], str],
        p: float | None = None,
        *,
        keys: Sequence[tuple[object, ...]] | None = None,
        alarms: bool = True,
    ) -> CheckFinding:
        """The finding of a test that was made in each group, or in each of other `keys`.

        `words` say it of a group, its result and its p-value; `p` is that of the log, by default
        the smallest one times their number; without `alarms` it is never more than a look.
        """
        whole = LogResult.from_groups(results, p, alarms=alarms)
        if whole.p is None:
            return CheckFinding.untested(
                check, results[0].why if results else "the log has no trials"
            )
        place, *also = whole.groups
        result, said = results[place]._replace(p=whole.p), p_words(whole.p)
        if whole.verdict == "ok":
            return CheckFinding(check, "ok", f"{CHECKS[check].quiet} ({said}).", result)
        sentence = words(place, result, said)
        if keys is not None:
            return CheckFinding(check, whole.verdict, sentence, result, keys[place])
        if also:
            beside = [self.group_name(at) for at in sorted(also)]
            sentence += f" The same is true of {_names_listed(beside)}."
        names = tuple(self.group_name(at) for at in sorted(whole.groups))
        return CheckFinding(check, whole.verdict, sentence, result, self.key(place), names)

    def key(self, place: int) -> tuple[object, ...]:
        """The stratum and the model of a group."""
        row = self.keys.row(place, named=True)
        return tuple(row[name] for name in self.trials.keys)


def _names_listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence, of many the first ones."""
    named = [*names[:most], *[f"{len(names) - most:,} more"] * (len(names) > most)]
    return " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))


def _count_of(number: float, unit: str) -> str:
    return f"{number:,.0f} {unit}{'' if number == 1 else 'es' if unit.endswith('s') else 's'}"


def percent_words(share: float) -> str:
    """A share in percent, with a decimal where it is small."""
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1f} %"


_BINARY = CheckResult(None, "rewards are real-valued")


def count_findings(log: CountedLog) -> list[CheckFinding]:
    """The findings of all tests that need no ids."""
    return [
        stopping_finding(log),
        copies_finding(log, copied_counts(log), ()),
        mixed_finding(log),
        errors_finding(log),
        labels_finding(log),
    ]


def stopping_finding(log: CountedLog) -> CheckFinding:
    """Trials that stopped on outcomes, by what short questions have in common."""
    results = log.tested(stopping_by_counts)
    planned = CheckResult(None, "all models have the same numbers of trials, as by plan")
    if any(each.p is not None for each in results):
        for place in _planned_groups(log):
            results[place] = results[place] if results[place].p is None else planned

    def words(place: int, result: CheckResult, p: str) -> str:
        value = result.value or 0
        outcome = result.kind.removesuffix("es").removesuffix("s")
        ended = {
            "successes": f"{_count_of(value, 'success') if value else 'no success'}",
            "failures": f"{_count_of(value, outcome) if value else 'no failure'}",
            "majority": f"{value} equal outcomes",
            "lead": f"a lead of {value} for one outcome" if value else "a tie",
            "unmixed": "equal outcomes",
        }[result.kind]
        biased = "every score is biased"
        if result.kind not in {"successes", "failures"}:
            biased = "Pass@k and Pass^k are biased, avg hardly"
        return (
            f"{log.group_name(place)}: all {result.questions:,} questions with fewer than "
            f"{log.trials_of(place).max()} trials ended with {ended} ({p}). If trials stopped "
            f"on outcomes, {biased}: {log.first_words(place)}. If the numbers of trials were "
            "planned, ignore this."
        )

    return log.finding("stopping", results, words)


def _planned_groups(log: CountedLog) -> list[int]:
    """The groups of strata whose models, two or more, have the same numbers of trials."""
    stratum, states = log.strata()[1].tolist(), log.states
    group, *lengths = question_pairs(states.group, states.n[states.state], states.questions)
    ends = np.searchsorted(group, np.arange(1, states.groups))
    each = [part.tobytes() for part in np.split(np.stack(lengths, axis=1), ends)]
    distinct, models = Counter(at for at, _ in {*zip(stratum, each, strict=True)}), Counter(stratum)
    return [place for place, at in enumerate(stratum) if models[at] > 1 == distinct[at]]


def copied_counts(log: CountedLog) -> list[CheckResult]:
    """Copies by counts, at half the level where rows have ids: pairs of runs have the other one."""
    return log.tested(partial(copies_by_counts, share=2 if log.has_ids else 1))


def copies_finding(
    log: CountedLog, results: Sequence[CheckResult], ids: Sequence[object]
) -> CheckFinding:
    """Trials that are copies, by counts or by pairs of runs with these `ids`."""

    def words(place: int, result: CheckResult, p: str) -> str:
        name = log.group_name(place)
        if result.kind == "counts":
            times = "twice" if result.value == 2 else f"{result.value} times"
            return (
                f"{name}: every number of successes is a multiple of {result.value} ({p}): each "
                f"trial seems to be in the log {times}, so intervals are too short. Read the file "
                "once, or switch the cache off."
            )
        first, second = (ids[at] for at in result.places)
        number = "all" if result.observed == result.questions else f"{result.observed:.0f}"
        return (
            f"{name}: of {result.questions} questions with successes and failures, runs {first} "
            f"and {second} agree on {number}; {result.expected:.1f} expected ({p}). Was a run "
            f"stored twice? Then drop run {second} of {name}."
        )

    return log.finding("copies", results, words)


def mixed_finding(log: CountedLog) -> CheckFinding:
    """Models that never change their outcomes: a fact, which no test tells from copies."""
    if log.graded or log.states.n.max(initial=0) <= 1:
        why = _BINARY.why if log.graded else "one trial a question"
        return CheckFinding.untested("mixed", why)
    places = never_mixed(log.states)
    if not places:
        return CheckFinding("mixed", "ok", f"{CHECKS['mixed'].quiet}.", CheckResult(None))
    n = log.trials_of(*places)
    many = f"{n.max()}" if n.min() == n.max() else f"{n.min()} to {n.max()}"
    once = "first=1 counts each question once"
    once = once if log.knows_first else "keep one trial of each question"
    one = len(places) == 1
    who = f"{log.group_name(places[0])} is" if one else "these models are"
    names = tuple(log.group_name(at) for at in places)
    return CheckFinding(
        "mixed",
        "note",
        f"{_names_listed(names)}: no question changed its outcome in "
        f"{many} trials. If {who} deterministic, these "
        f"numbers hold. If answers came from a cache, {once}.",
        CheckResult(None, questions=int(log.states.size[places[0]])),
        log.key(places[0]),
        names,
    )


class _ErrorRates(NamedTuple):
    """Models of a stratum by the questions, (A, M); NaN where a model lacks a question."""

    places: Ints  # of the groups
    errors: Floats  # shares of the trials
    scores: Floats
    scores_without: Floats  # of the trials that are no errors


def errors_finding(log: CountedLog) -> CheckFinding:
    """Shares of labelled errors that differ between models, and what they do to a difference."""
    questions = log.questions
    if ERRORS not in questions.columns or not questions[ERRORS].sum():
        return CheckFinding.untested("errors", "no failure has the label of an error")
    strata, stratum = log.strata()
    rates = [_error_rates(log, np.flatnonzero(stratum == at)) for at in range(len(strata))]

    def words(place: int, result: CheckResult, p: str) -> str:
        low, high = result.places
        names = [log.group_name(rates[place].places[at]) for at in (low, high)]
        gaps = [
            100 * (np.nanmean(each[low]) - np.nanmean(each[high]))
            for each in (rates[place].scores, rates[place].scores_without)
        ]
        return (
            f"Errors count as failures: {percent_words(result.observed or 0)} of the trials of "
            f"{names[1]}, {percent_words(result.expected or 0)} of those of {names[0]} ({p}). "
            f"Without them {names[0]} - {names[1]} is {gaps[1]:+.1f} points, not {gaps[0]:+.1f}. "
            'Set them to null: missing="bounds" then shows both extremes.'
        )

    return log.finding("errors", [error_rates_differ(each.errors) for each in rates], words,
                       keys=strata)  # fmt: skip


def _error_rates(log: CountedLog, groups: Ints) -> _ErrorRates:
    """The shares of errors, and the scores, of the models of a stratum."""
    name = log.trials.question.name
    part = log.questions.filter(pl.col(PLACE).is_in(groups))
    asked = part[name].unique().sort()
    rates = np.full((3, groups.size, asked.len()), np.nan)
    row, column = (
        np.searchsorted(groups, part[PLACE].to_numpy()),
        asked.search_sorted(part[name]).to_numpy(),
    )
    n, c, e = part.select(TRIALS, SUCCESSES, ERRORS).to_numpy().astype(np.float64).T
    with np.errstate(invalid="ignore"):
        rates[:, row, column] = e / n, c / n, c / np.where(n > e, n - e, np.nan)
    return _ErrorRates(groups, *rates)


def labels_finding(log: CountedLog) -> CheckFinding:
    """Labels of people that are on easier, or harder, questions than the rest."""
    if LABELS[0] not in log.questions.columns:
        return CheckFinding.untested("labels", "no trial has a label of truth=")
    names = SUCCESSES, TRIALS, *LABELS[::2], PLACE
    c, n, *known, place = (log.questions[name].to_numpy() for name in names)
    rows = np.stack([c, n - c, *known, np.ones_like(n)])
    parts = np.split(rows, np.searchsorted(place, np.arange(1, log.keys.height)), axis=1)
    results = [labels_by_difficulty(LabelCounts(*part[:-1]), part[-1]) for part in parts]

    def words(place: int, result: CheckResult, p: str) -> str:
        return (
            f"{log.group_name(place)}: labels are on {result.kind} questions than the rest ({p}), "
            "and corrections assume random ones: they may be worse than none. Label a random "
            "sample, or omit truth=."
        )

    return log.finding("labels", results, words)


def unequal_finding(log: CountedLog, *, population: bool = False) -> CheckFinding:
    """Numbers of trials that follow the difficulty of questions.

    It is an alarm if posteriors share populations, which trials that stopped do not bias.
    """
    results = log.tested(unequal_trials)
    if population:
        hidden = CheckResult(None, "numbers of trials look as if they followed outcomes")
        stopped = log.tested(stopping_by_counts)
        results = [
            hidden if rule.p is not None and rule.p < UNEQUAL_LOOK else each
            for rule, each in zip(stopped, results, strict=True)
        ]

    def words(place: int, result: CheckResult, p: str) -> str:
        less = (result.observed or 0) < (result.expected or 0)
        change, lost, kind = ("less", "failed", "hard") if less else ("more", "successful", "easy")
        biased = 'Numbers with prior="population" are biased. ' * population
        return (
            f"{log.group_name(place)}: questions with fewer trials succeed {change}, "
            f"{percent_words(result.observed or 0)} against {percent_words(result.expected or 0)} "
            f"({p}). {biased}Were {lost} trials lost? If {kind} questions have fewer trials by "
            "plan, ignore this."
        )

    return log.finding("unequal", results, words, alarms=population)
