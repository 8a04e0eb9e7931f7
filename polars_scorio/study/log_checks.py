"""Are the trials of a log independent? The checks of `maths.exchangeability` on a log.

`check` asks all of it: a read for the ids of the runs, and one for the bits of each question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_scorio.arguments import p_words
from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.checks import WholePlan, mark_problems, refuse_bad
from polars_scorio.counting.log import (
    CATEGORY,
    TRIAL,
    Log,
    Trials,
    bind_roles,
    is_label,
    result_schema,
)
from polars_scorio.counting.refusals import refusal_rules, trial_id_rules
from polars_scorio.counting.roles import Roles, Unscored
from polars_scorio.counting.run_bits import RunWords, found_words, has_order
from polars_scorio.counting.tally import count_questions
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.exchangeability import (
    FEWEST,
    LEVEL,
    CheckResult,
    copies,
    repeated_questions,
    reward_stopping,
    runs,
    stopped_by_order,
    stopping,
    verdicts,
)
from polars_scorio.maths.run_effects import RunVariance, run_variance, runs_p_value

_URGENCY = ("alarm", "look", "ok", "not tested")
TRIALS = ":n"  # of a question, with an outcome
PLACE, SUCCESSES, _LAST = ":group", ":c", ":last"  # of a group; of a question
_REPEATED = ":repeated"  # of a question: whether a run has several trials of it


class CheckWarning(UserWarning):
    """The trials of a log do not look independent; no number depends on it.

    `check` shows the evidence.
    """


RUNS_DIFFER = 0.05  # level of the test of all models together


@dataclass(frozen=True, slots=True, eq=False)
class LogChecks:
    """The findings of the checks in each group of a log, ascending."""

    trials: Trials
    words: RunWords | None  # None: rows name no runs
    questions: pl.DataFrame  # with the columns of `words`
    keys: pl.DataFrame
    findings: list[dict[str, CheckResult]]
    verdicts: list[dict[str, str]]  # of the findings
    spread: list[RunVariance | None]  # of the scores of runs; None if unknown

    @classmethod
    def from_log(cls, log: Log, roles: Roles, *, across: bool = False) -> LogChecks:
        """Read the log: once for the ids of its runs, once for its questions.

        With `across`, strata have findings across questions, behind all others.
        """
        known = roles.missing != "bounds" and (roles.missing != "error" or roles.count is not None)
        missing = roles.missing if known else "drop"
        unscored: Unscored = "drop" if missing == "drop" else roles.unscored
        plain = replace(roles, missing=missing, unscored=unscored, truth=None, judge=None)
        trials = bind_roles(log, plain)
        graded = trials.category.dtype.is_float() and is_graded(trials)
        known = knows_success(trials)
        words = found_words(trials) if known and not graded else None
        if graded:
            scored = questions = _question_rewards(trials)
        elif known:
            scored = questions = _marked_repeats(question_outcomes(trials, words), words)
            # An errored trial may have been tried again: its failure is no outcome of a run.
            if trials.missing_category is not None and questions[TRIALS].n_unique() > 1:
                scored = _marked_repeats(question_outcomes(trials.scored, words), words)
        else:
            questions = trials.rows().select(trials.groups).unique().sort(trials.groups).collect()
            scored = questions
        keys = questions.select(trials.groups).unique(maintain_order=True)
        groups = scored_groups = _read_groups(questions, keys, words)
        if known or graded:
            findings = [_group_findings(group, words) for group in groups]
        else:
            unknown = CheckResult(None, "success= does not say what succeeds")
            findings = [dict.fromkeys(_CHECKS, unknown)] * keys.height
        if scored is not questions:
            scored_groups = _read_groups(scored, keys, words)
            of_runs = [_group_findings(group, words, ("runs",)) for group in scored_groups]
            findings = [each | finding for each, finding in zip(findings, of_runs, strict=True)]
        if across:
            whole, repeats = _across_findings(questions, trials, words)
            keys, findings = pl.concat([keys, whole], how="diagonal"), [*findings, *repeats]
        return cls(
            trials=trials,
            words=words,
            questions=questions,
            keys=keys,
            findings=findings,
            verdicts=verdicts(findings),
            spread=[_run_spread(group, words) for group in scored_groups],
        )

    def rows(self) -> pl.DataFrame:
        """A row for each group and check, the most urgent ones first."""
        records = []
        for place, (each, verdict) in enumerate(zip(self.findings, self.verdicts, strict=True)):
            for check, finding in each.items():
                records.append(
                    {
                        PLACE: place,
                        "check": check,
                        "verdict": verdict[check],
                        "pvalue": finding.p,
                        "seen": finding.observed,
                        "expected": finding.expected,
                        "questions": finding.questions,
                        "sentence": self.sentence(place, check),
                    }
                )
        rows = pl.DataFrame(records, schema={PLACE: pl.Int64, **_SCHEMA})
        keys = self.keys.with_row_index(PLACE).with_columns(pl.col(PLACE).cast(pl.Int64))
        urgency = pl.col("verdict").cast(pl.Enum(_URGENCY))
        whole = rows.join(keys, on=PLACE, maintain_order="left").sort(
            urgency, PLACE, maintain_order=True
        )
        return whole.select(*self.trials.keys, *_SCHEMA)

    def alarms(self, *checks: str) -> list[tuple[int, str]]:
        """The groups, by their place, with a check that gives an alarm; the first one of each."""
        alarms = []
        for place, verdict in enumerate(self.verdicts):
            alarming = [check for check in checks if verdict.get(check) == "alarm"]
            alarms += [(place, alarming[0])] if alarming else []
        return alarms

    @property
    def known_runs(self) -> dict[int, RunVariance]:
        """The part of runs in each group of which it is known, by its place."""
        return {place: runs for place, runs in enumerate(self.spread) if runs and runs.freedom}

    def run_words(self) -> str | None:
        """One sentence on runs that differ; None if they do not."""
        known = self.known_runs
        p = runs_p_value([*known.values()])
        if p >= RUNS_DIFFER:
            return None
        place = max(known, key=lambda place: known[place].run_share)
        return f"Runs differ ({p_words(p)}): {moved_words(known[place], self._group_name(place))}"

    @property
    def counts_hold_runs(self) -> bool:
        """Whether runs have one trial of a question each, which succeeds or fails."""
        return self.words is not None and not self.questions[_REPEATED].any()

    def kept_runs(self) -> pl.DataFrame | None:
        """The outcomes of each question in its named runs, for counts of the log."""
        trials = self.trials
        if trials.roles.effects == "none" or self.words is None or not self.counts_hold_runs:
            return None
        return self.questions.select(*trials.groups, trials.question.name, *self.words.columns)

    def alarm_words(self) -> str | None:
        """One sentence on all alarms; None if there is none."""
        alarms = self.alarms(*_CHECKS)
        if not alarms:
            return None
        what = "model" if not self.trials.by else "group"
        return (
            f"{len(alarms):,} of {self.keys.height:,} {what}{'s' * (self.keys.height > 1)}: trials "
            f"are not independent (check()), as of {self.sentence(*alarms[0])}"
        )

    def _model_name(self, place: int) -> str:
        """The model as a word."""
        row = self.keys.row(place, named=True)
        across = "All models" if "questions" in self.findings[place] else ""
        return across or next((str(row[name]) for name in self.trials.models), "This model")

    def _group_name(self, place: int) -> str:
        """The model, with its stratum."""
        row = self.keys.row(place, named=True)
        strata = ", ".join(f"{name}={row[name]!r}" for name in self.trials.strata)
        model = self._model_name(place)
        return f"{model} ({strata})" if strata else model

    def _run_id(self, run: int) -> str:
        """The id of a run, as the log has it."""
        return "" if self.words is None else str(self.words.ids[run])

    def sentence(self, place: int, check: str) -> str:
        """The finding of a check in words."""
        return f"{self._group_name(place)}: {self._finding_words(place, check)}"

    def _finding_words(self, place: int, check: str) -> str:
        """The finding of a check, without its model."""
        test = self.findings[place][check]
        if test.p is None:
            return f"not tested, {test.why}."
        p = f" ({p_words(test.p)})"
        if test.p >= LEVEL:
            return f"{_QUIET[check]}{p}."
        return {
            "stopping": self._stopping_words,
            "order": self._order_words,
            "runs": self._run_words,
            "copies": self._copy_words,
            "questions": self._question_words,
        }[check](test, p)

    def _question_words(self, test: CheckResult, p: str) -> str:
        """The sentence on questions that repeat others."""
        first, second = test.names
        return (
            f"questions {first!r} and {second!r} have the same outcomes in all runs of all "
            f"models, as have {test.observed:.0f} pairs; {test.expected:.2g} are expected{p}. Drop "
            "the repeats, or name them with cluster=."
        )

    def _stopping_words(self, test: CheckResult, p: str) -> str:
        """The sentence on numbers of trials that followed outcomes, as far as counts show it."""
        if test.kind == "rewards":
            return (
                f"the last trial of {test.observed:.0f} of {test.questions} questions has the best "
                f"reward of its question; {test.expected:.1f} are expected{p}. Trials stopped at "
                "a good reward."
            )
        assert test.pattern is not None
        kind, common = test.pattern
        what = "one outcome only"
        if kind != "unmixed":
            name = "success" if kind == "c" else "failure"
            what = f"{common} {name}{'es' if kind == 'c' and common != 1 else ''}"
            what += "s" * (kind != "c" and common != 1)
        return (
            f"all {test.questions} questions with fewer trials have {what}{p}. Trials stopped on "
            "outcomes, or easy or hopeless questions were given fewer by plan."
        )

    def _order_words(self, test: CheckResult, p: str) -> str:
        """The sentence on trials that never went on where others stopped."""
        return (
            f"of the questions with further trials, {test.observed or 0:.0f} had the outcomes "
            f"at which others stopped; {test.expected:.1f} are expected{p}. Trials stopped on "
            "outcomes."
        )

    def _run_words(self, test: CheckResult, p: str) -> str:
        """The sentence on runs that differ."""
        assert test.observed is not None
        assert test.expected is not None
        points = 100 * abs(test.observed - test.expected)
        side = "below" if test.observed < test.expected else "above"
        run = self._run_id(test.runs[0])
        return f"run {run} is {points:.0f} points {side} the others{p}. Repeat it if it was broken."

    def _copy_words(self, test: CheckResult, p: str) -> str:
        """The sentence on copies."""
        if test.kind == "counts":
            return (
                f"every number of successes is a multiple of {test.observed:.0f}{p}: each trial "
                f"seems to be there {test.observed:.0f} times. Was a file read again, or a cache "
                "used?"
            )
        first, second = map(self._run_id, test.runs)
        return (
            f"runs {first} and {second} agree on {test.observed:.0f} of {test.questions} questions "
            f"with mixed outcomes; {test.expected:.1f} are expected{p}. Was a run stored twice?"
        )


_SCHEMA = {
    "check": pl.String(),
    "verdict": pl.String(),
    "pvalue": pl.Float64(),
    "seen": pl.Float64(),
    "expected": pl.Float64(),
    "questions": pl.Int64(),
    "sentence": pl.String(),
}
_CHECKS = ("stopping", "order", "runs", "copies")
_QUIET = {
    "stopping": "questions with fewer trials do not end alike",
    "order": "trials do not stop on outcomes",
    "runs": "runs do not differ more than by chance",
    "copies": "no trials look like copies",
    "questions": "no questions look like repeats of others",
}


def check(log: Log, roles: Roles, *, across: bool = False) -> pl.LazyFrame:
    """The plan of the checks of a log; see `Scorio.check`."""
    trials = bind_roles(log, roles)
    schema = result_schema((), trials.strata, trials.models, _SCHEMA)

    def made(_: pl.DataFrame) -> pl.DataFrame:
        return LogChecks.from_log(log, roles, across=across).rows()

    # All of the log has one level, so that no filter may go below.
    unread = pl.LazyFrame({"": [0]})
    return WholePlan(unread).then(made, schema, filters=False).plan()


def is_graded(trials: Trials) -> bool:
    """Whether a category is a real-valued reward, which neither success= nor levels explain."""
    roles = trials.roles
    if roles.successes is not None or roles.levels is not None:
        return False
    category = pl.col(CATEGORY)
    graded = trials.rows().select(((category != 0) & (category != 1)).any())
    return bool(graded.collect(engine="streaming").item())


def question_outcomes(trials: Trials, words: RunWords | None) -> pl.DataFrame:
    """The questions of a log: trials and successes, and the bits of their runs."""
    classes = counted_classes(trials, [], binary=True, needs=() if words is None else (words,))
    broken = [*refusal_rules(trials, classes), *trial_id_rules(trials)]
    name = trials.question.name
    marked = mark_problems(count_questions(trials, classes), name, broken)
    checked = WholePlan(marked).then(refuse_bad(trials, broken)).plan()
    columns = [] if words is None else words.columns
    scored = checked.select(*trials.groups, name, *question_sizes(classes), *columns)
    return scored.filter(pl.col(TRIALS) > 0).sort(*trials.groups, name).collect(engine="streaming")


def question_sizes(classes: Classes) -> list[pl.Expr]:
    """Trials and successes of a question."""
    columns = classes.columns()
    successes = [columns[j] for j in classes.successful]
    return [
        pl.sum_horizontal(columns).alias(TRIALS),
        pl.sum_horizontal(successes).alias(SUCCESSES),
    ]


def _question_rewards(trials: Trials) -> pl.DataFrame:
    """The questions of a log of real-valued rewards: the largest ones, and whether one is last."""
    category, ordered = pl.col(CATEGORY), trials.trial is not None and has_order(trials.trial)
    best = category == category.max()
    latest = pl.col(TRIAL) == pl.col(TRIAL).max()
    last = best.filter(latest).first() if ordered else pl.lit(None, pl.Boolean)
    keys = [*trials.groups, trials.question.name]
    ids = {TRIAL: trials.trial.without_nan} if ordered and trials.trial is not None else {}
    rows = trials.rows(ids).filter(category.is_not_null())
    rewards = rows.group_by(keys).agg(
        pl.len().cast(pl.Int64).alias(TRIALS),
        best.sum().cast(pl.Int64).alias(SUCCESSES),
        last.alias(_LAST),
    )
    return rewards.sort(keys).collect(engine="streaming")


def moved_words(runs: RunVariance, name: str) -> str:
    """How far one run moves the score of a model, with the interval of it."""
    sd, lo, hi = (100 * each for each in runs.run_sd())
    at = f" of {name}" * bool(name)
    return f"one run moves the score{at} by about {sd:.1f} points [{lo:.1f}, {hi:.1f}]"


def _marked_repeats(questions: pl.DataFrame, words: RunWords | None) -> pl.DataFrame:
    """The questions of all groups with `_REPEATED`, where runs are known."""
    if words is None:
        return questions
    repeated = words.repeats(questions, questions[TRIALS].to_numpy())
    return questions.with_columns(pl.Series(_REPEATED, repeated))


class _CheckedGroup(NamedTuple):
    """The questions of a group."""

    n: Ints  # trials; of no question if nobody knows what succeeds
    c: Ints  # successes, or rewards that are the largest
    packed: NDArray[np.uint8] | None  # see `RunWords`; None if trials name no run
    repeated: bool  # whether a run has several trials of a question
    last: pl.Series | None  # of real-valued rewards: whether the last one is the largest


def _read_groups(
    questions: pl.DataFrame, keys: pl.DataFrame, words: RunWords | None
) -> list[_CheckedGroup]:
    """The questions of each group of `keys`, which are sorted like these."""
    if TRIALS not in questions.columns:
        none = np.empty(0, np.int64)
        return [_CheckedGroup(none, none, None, repeated=False, last=None)] * keys.height
    sizes = keys.join(
        questions.group_by(keys.columns).len(),
        on=keys.columns, how="left", nulls_equal=True, maintain_order="left",
    )["len"].fill_null(0)  # fmt: skip
    n, c = questions[TRIALS].to_numpy(), questions[SUCCESSES].to_numpy()
    packed = None if words is None else words.question_bytes(questions)
    repeated = np.zeros(n.size, np.bool_) if words is None else questions[_REPEATED].to_numpy()
    last = questions[_LAST] if _LAST in questions.columns else None
    ends = np.cumsum(sizes.to_numpy()).tolist()
    return [
        _CheckedGroup(
            n[start:stop],
            c[start:stop],
            None if packed is None else packed[start:stop],
            bool(repeated[start:stop].any()),
            None if last is None else last[start:stop],
        )
        for start, stop in pairwise([0, *ends])
    ]


def _run_spread(group: _CheckedGroup, words: RunWords | None) -> RunVariance | None:
    """The part of runs in the average of a group with enough mixed questions."""
    if words is None or group.packed is None or group.repeated:
        return None
    if ((group.c > 0) & (group.c < group.n)).sum() < FEWEST:
        return None
    present, success = words.unpacked(group.packed)
    return run_variance(success.astype(np.float64), present)


def _of_runs(finding: CheckResult, used: Ints) -> CheckResult:
    """A finding that names runs of the log, in place of columns."""
    if not finding.runs:
        return finding
    return finding._replace(runs=tuple(used[[*finding.runs]].tolist()))


def knows_success(trials: Trials) -> bool:
    """Whether categories are success and failure, or it is said which of them succeed."""
    levels = {*(trials.roles.levels or (0, 1))}
    named = trials.roles.successes is not None
    return named or (levels <= {0, 1} and not is_label(trials.category.dtype))


def _across_findings(
    questions: pl.DataFrame, trials: Trials, words: RunWords | None
) -> tuple[pl.DataFrame, list[dict[str, CheckResult]]]:
    """The findings across the questions of each stratum, with its keys."""
    whole = questions.select(trials.groups).with_columns(
        pl.lit(None, dtype).alias(name) for name, dtype in trials.models.items()
    )
    keys = whole.unique(maintain_order=True)
    parts = questions.group_by([*trials.strata] or pl.lit(0), maintain_order=True)
    return keys, [{"questions": _repeats_of(part, trials, words)} for _, part in parts]


def _repeats_of(questions: pl.DataFrame, trials: Trials, words: RunWords | None) -> CheckResult:
    """The finding across the questions of a stratum."""
    if words is None or TRIALS not in questions.columns or questions[_REPEATED].any():
        return CheckResult(None, "trials have no ids of runs")
    names = questions[trials.question.name].unique().sort()
    models = questions.partition_by([*trials.models] or trials.groups, maintain_order=True)
    shape = len(models), names.len(), len(words.ids)
    present, success = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for place, of_model in enumerate(models):
        rows = names.search_sorted(of_model[trials.question.name]).to_numpy()
        present[place, rows], success[place, rows] = words.unpacked(words.question_bytes(of_model))
    repeated = repeated_questions(present, success)
    return repeated._replace(names=tuple(names[row] for row in repeated.runs))


def _group_findings(
    group: _CheckedGroup, words: RunWords | None, checks: tuple[str, ...] = _CHECKS
) -> dict[str, CheckResult]:
    """The finding of each check that is asked for in the questions of a group."""
    n, c, last = group.n, group.c, group.last
    if words is None or group.packed is None or group.repeated:
        why = "a run has several trials of a question"
        why = why if group.repeated else "trials have no ids of runs"
        counted = {"stopping": partial(stopping, n, c), "copies": partial(copies, n, c)}
        if last is not None:
            known = None if last.has_nulls() else last.to_numpy()
            why = "rewards are real-valued"
            counted = {"stopping": partial(reward_stopping, n, c, known)}
        none = partial(CheckResult, None, why)
        return {check: counted.get(check, none)() for check in checks}
    present, success = words.unpacked(group.packed)
    used = np.flatnonzero(present.any(0))  # by this model
    bits = present[:, used], success[:, used]
    unordered = partial(CheckResult, None, "ids do not tell which trial came first")
    finds = {
        "stopping": partial(stopping, n, c),
        "order": partial(stopped_by_order, *bits) if words.ordered else unordered,
        "runs": partial(runs, *bits),
        "copies": partial(copies, n, c, *bits),
    }
    return {check: _of_runs(finds[check](), used) for check in checks}
