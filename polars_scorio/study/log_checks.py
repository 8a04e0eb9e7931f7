"""Are the trials of a log what its numbers assume? The tests of its counts, and those of its ids.

`check` asks all of it: a read for the ids of the runs, and one for the bits of each question.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from polars_scorio.arguments import CONFIDENCE, SpokenTests
from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.checks import AS_ROWS, WholePlan, mark_problems, refuse_bad
from polars_scorio.counting.log import (
    CATEGORY,
    TRIAL,
    Log,
    Trials,
    bind_roles,
    result_schema,
)
from polars_scorio.counting.refusals import refusal_rules, trial_id_rules
from polars_scorio.counting.roles import Roles, Unscored, is_label
from polars_scorio.counting.run_bits import RunWords, found_words, has_order
from polars_scorio.counting.tally import QUESTIONS, count_questions, error_labels
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.exchangeability import (
    FEWEST,
    CheckResult,
    Flags,
    RunResult,
    copied_runs,
    differing_runs,
    mixed_questions,
    of_equal_shape,
    repeated_questions,
    reward_stopping,
    runs_p,
    stopping_by_order,
)
from polars_scorio.maths.run_effects import RunVariance, run_variance
from polars_scorio.study.count_checks import (
    CHECKS,
    PLACE,
    SUCCESSES,
    TRIALS,
    CheckFinding,
    CountedLog,
    copied_counts,
    copies_finding,
    count_findings,
    spoken_findings,
    unequal_finding,
)
from polars_scorio.subjects import SUBJECTS

if TYPE_CHECKING:
    from polars_scorio.metrics.metric import Metric
    from polars_scorio.study.request import Request

_VERDICTS = ("alarm", "note", "look", "ok", "not tested")
_LAST = ":last"  # of the rewards of a question: whether the last one is the largest
_REPEATED = ":repeated"  # of a question: whether a run has several trials of it
MOST_READ = 1_000_000  # trials of a log whose ids a comparison reads


class CheckWarning(UserWarning):
    """Tests found that the trials of a log are not what its numbers assume.

    No number depends on it. The message names the option that does something about it, and
    `check` shows all tests.
    """


def speak(findings: Sequence[CheckFinding]) -> None:
    """Warn, once, of all alarms, and of models that never change their outcomes."""
    said = " ".join(each.sentence for each in spoken_findings(findings))
    if said:
        warnings.warn(f"{said} check() shows all tests.", CheckWarning, stacklevel=2)


class _GroupRuns(NamedTuple):
    """The trials of a group by questions (M) and runs (R)."""

    present: Flags
    success: Flags
    names: pl.Series  # of the questions
    runs: Ints  # the places of the runs among the ids of the log

    def named(self, result: CheckResult) -> CheckResult:
        """A result that names runs of the log, in place of columns."""
        return result._replace(places=tuple(self.runs[[*result.places]].tolist()))


@dataclass(frozen=True, eq=False)  # no slots: what is asked for is kept
class LogChecks:
    """The trials of a log, and what tests find in them."""

    counted: CountedLog
    words: RunWords | None  # None: rows name no runs
    questions: pl.DataFrame  # with the columns of `words`
    scored: pl.DataFrame  # the same without outcomes that errored trials were given
    known: bool = True  # whether it is known what succeeds

    @classmethod
    def from_log(cls, log: Log, roles: Roles, *, ids: bool = True) -> LogChecks:
        """Read the log: for the ids of its runs, if they are wanted, and for its questions."""
        trials, words = _tested_trials(log, roles), None
        graded, known = is_graded(trials), knows_success(trials)
        if graded:
            scored = questions = _question_rewards(trials)
        elif known:
            words = found_words(trials) if ids else None
            scored = questions = question_outcomes(trials, words)
            if words and _tried_again(trials, questions):
                scored = question_outcomes(trials.scored, words)
        else:
            groups = trials.rows().select(trials.groups).unique().sort(trials.groups)
            scored = questions = groups.collect().with_columns(
                *(pl.lit(0, pl.Int64).alias(name) for name in (TRIALS, SUCCESSES))
            )
        keys = questions.select(trials.groups).unique(maintain_order=True)
        placed = _with_places(questions, keys)
        counted = CountedLog(trials, keys, placed, graded)
        whole = placed if scored is questions else _with_places(scored, keys)
        return cls(counted, words, placed, whole, known)

    @classmethod
    def from_counts(cls, counted: CountedLog, classes: Classes) -> LogChecks:
        """The trials of a log that was counted, which is read once more for its runs."""
        trials = counted.trials
        if counted.graded:
            rewards = _with_places(_question_rewards(trials), counted.keys)
            return cls(replace(counted, questions=rewards), None, rewards, rewards)
        words = found_words(trials)
        if words is None:
            return cls(counted, None, counted.questions, counted.questions)
        questions = scored = _run_outcomes(trials, words, classes, counted.keys)
        if _tried_again(trials, questions):
            scored = _run_outcomes(trials.scored, words, classes, counted.keys)
        return cls(counted, words, questions, scored)

    @property
    def trials(self) -> Trials:
        """The log, with its roles."""
        return self.counted.trials

    @cached_property
    def findings(self) -> list[CheckFinding]:
        """The findings of all tests, in the order of `CHECKS`."""
        if not self.known:
            why = "success= does not say what succeeds"
            return [CheckFinding.untested(check, why) for check in CHECKS]
        questions, repeats = self._repeated_questions()
        tables = self._tables
        if questions.verdict == "alarm":
            tables = [_without_repeats(table, repeats.get(at)) for at, table in enumerate(tables)]
        if self.trials.cluster is not None:
            why = "cluster= says which questions belong together"
            questions = CheckFinding.untested("repeats", why)
        findings = [
            *count_findings(self.counted),
            self._order(),
            questions,
            self._copies(tables),
            self._runs(tables),
            unequal_finding(self.counted),
        ]
        by_check = {each.check: each for each in findings}
        return [by_check[check] for check in CHECKS]

    def rows(self) -> pl.DataFrame:
        """A row for each test, the most urgent ones first."""
        keys = self.trials.keys
        records = [
            (
                *(each.key or (None,) * len(keys)),
                each.check,
                each.result.questions,
                each.result.p,
                CHECKS[each.check].asks,
                each.result.observed,
                each.result.expected,
                each.sentence,
                each.verdict,
            )
            for each in self.findings
        ]
        schema = {**self.trials.strata, **self.trials.models, **_SCHEMA}
        rows = pl.DataFrame(records, schema=schema, orient="row")
        return rows.sort(pl.col("verdict").cast(pl.Enum(_VERDICTS)), maintain_order=True)

    @cached_property
    def _tables(self) -> list[_GroupRuns | None]:
        """The trials of each group by questions and runs; None if a run repeats, or has no id."""
        return self._tables_of(self.scored)

    @cached_property
    def _flags(self) -> tuple[Flags, Flags]:
        """Trials and successes of the questions (rows) by runs."""
        assert self.words is not None  # callers have seen to that
        return self.words.unpacked(self.words.question_bytes(self.scored))

    def _tables_of(self, questions: pl.DataFrame) -> list[_GroupRuns | None]:
        words, groups = self.words, np.arange(self.counted.keys.height)
        if words is None:
            return [None for _ in groups]
        scored = questions is self.scored
        flags = self._flags if scored else words.unpacked(words.question_bytes(questions))
        place, repeated = questions[PLACE].to_numpy(), questions[_REPEATED].to_numpy()
        starts, stops = (np.searchsorted(place, groups, side=side) for side in ("left", "right"))
        names, tables = questions[self.trials.question.name], list[_GroupRuns | None]()
        for part in map(slice, starts, stops):
            present, success = (each[part] for each in flags)
            used = np.flatnonzero(present.any(0))  # by this model
            table = _GroupRuns(present[:, used], success[:, used], names[part], used)
            tables.append(None if repeated[part].any() else table)
        return tables

    @property
    def _untested(self) -> CheckResult:
        """Why nothing is tested where runs are not known."""
        why = "a run has several trials of a question"
        why = "trials have no ids of runs" if self.words is None else why
        return CheckResult(None, "rewards are real-valued" if self.counted.graded else why)

    def _order(self) -> CheckFinding:
        """Trials that stopped on outcomes, by the questions that went on."""
        unordered = CheckResult(None, "ids do not tell which trial came first")
        if self.counted.graded:
            results = self._reward_results()
        elif self.words is None or self.words.ordered:
            same = (
                self.scored is self.questions
            )  # else with outcomes that errored trials were given
            tables = self._tables if same else self._tables_of(self.questions)
            results = [stopping_by_order(*each[:2]) if each else self._untested for each in tables]
        else:
            results = [unordered] * self.counted.keys.height

        def words(place: int, result: CheckResult, p: str) -> str:
            name, way = self.counted.group_name(place), self.counted.first_words(place)
            expected = f"{result.expected:.1f} expected ({p})"
            if result.kind == "rewards":
                return (
                    f"{name}: the last trial of {result.observed:.0f} of {result.questions} "
                    f"questions has the best reward of its question, {expected}. If trials stopped "
                    f"at a good reward, scores are biased: {way}."
                )
            went = f"{result.observed:.0f} questions" if result.observed else "no question"
            return (
                f"{name}: {went} had a further trial after an outcome at which others stopped; "
                f"{expected}. Trials stopped on outcomes: {way}."
            )

        return self.counted.finding("order", results, words)

    def _reward_results(self) -> list[CheckResult]:
        """The test of real-valued rewards in each group."""
        results = []
        for place in range(self.counted.keys.height):
            part = self.counted.questions.filter(pl.col(PLACE) == place)
            n, largest = (part[name].to_numpy() for name in (TRIALS, SUCCESSES))
            last = None if part[_LAST].has_nulls() else part[_LAST].to_numpy()
            results.append(reward_stopping(n, largest, last))
        return results

    def _repeated_questions(self) -> tuple[CheckFinding, dict[int, pl.Series]]:
        """Questions that repeat others in all models of a stratum; their names, by group."""
        strata, stratum = self.counted.strata()
        results, pairs = list[CheckResult](), list[tuple[object, ...]]()
        repeats = dict[int, pl.Series]()
        for number in range(len(strata)):
            groups = np.flatnonzero(stratum == number)
            if self.words is None or any(self._tables[at] is None for at in groups):
                results.append(self._untested)
                pairs.append(())
                continue
            # The groups of a stratum follow one another.
            ends = np.searchsorted(self.scored[PLACE].to_numpy(), [groups[0], groups[-1] + 1])
            part = slice(*ends.tolist())
            every = self.scored[self.trials.question.name][part]
            model = self.scored[PLACE].to_numpy()[part] - groups[0]
            names, places = every.unique().sort(), every.rank("dense").to_numpy() - 1
            flags = np.zeros((2, groups.size, names.len(), len(self.words.ids)), np.bool_)
            flags[:, model, places] = [each[part] for each in self._flags]
            result, again = repeated_questions(*flags)
            results.append(result)
            pairs.append(tuple(names[row] for row in result.places))
            repeats |= dict.fromkeys(groups.tolist(), names.filter(pl.Series(again)))

        def words(place: int, result: CheckResult, p: str) -> str:
            parts = zip(self.trials.strata, strata[place], strict=False)
            where = ", ".join(f"{name}={value!r}" for name, value in parts)
            number = int(result.observed or 0) - 1
            beside = f", and {number:,} more pair{'s' * (number > 1)}," if number else ""
            named = " and ".join(map(repr, pairs[place]))
            return (
                f"{where}{': ' * bool(where)}questions {named}{beside} have equal outcomes in all "
                f"runs, {result.expected:.2g} expected ({p}). Drop repeats, or name them with "
                "cluster=."
            )

        return self.counted.finding("repeats", results, words, keys=strata), repeats

    def _copies(self, tables: Sequence[_GroupRuns | None]) -> CheckFinding:
        """Trials that are copies, by pairs of runs where these are known, and by counts."""
        of_runs = of_equal_shape(copied_runs, [table and table[:2] for table in tables])
        every = zip(copied_counts(self.counted), tables, of_runs, strict=True)
        results = [
            _surer_copies(by_counts, table.named(by_runs)) if table and by_runs else by_counts
            for by_counts, table, by_runs in every
        ]
        return copies_finding(self.counted, results, () if self.words is None else self.words.ids)

    def _runs(self, tables: Sequence[_GroupRuns | None]) -> CheckFinding:
        """Runs of different success rates, and how far one run moves a score."""
        known = of_equal_shape(differing_runs, [table and table[:2] for table in tables])
        tested = [
            test._replace(result=table.named(test.result))
            if table and test
            else RunResult(self._untested)
            for table, test in zip(tables, known, strict=True)
        ]
        roles = self.trials.roles
        ids = () if self.words is None else self.words.ids

        def words(place: int, result: CheckResult, p: str) -> str:
            name = self.counted.group_name(place)
            gap = round(100 * ((result.observed or 0) - (result.expected or 0)))
            moved = self.known_runs.get(place)
            moves = "" if moved is None else f"; {moved_words(moved, name)}"
            about = "Intervals allow for it."
            if roles.run is None or roles.effects == "none":
                column = roles.run or roles.trial
                option = f'run="{column}"' if isinstance(column, str) else "run="
                about = f"Intervals hold for these runs only; {option} widens them to cover others."
            return (
                f"Runs differ ({p}), most in {name}: run {ids[result.places[0]]} is "
                f"{abs(gap):,} point{'s' * (abs(gap) != 1)} {'below' if gap < 0 else 'above'} the "
                f"others{moves}. {about} If a run was broken, repeat it. If trial ids are row "
                "numbers of a sorted file, use the ids of the tool. If questions are listed twice, "
                "drop the repeats."
            )

        return self.counted.finding("runs", [each.result for each in tested], words, runs_p(tested))

    @property
    def known_runs(self) -> dict[int, RunVariance]:
        """The part of runs in each group of which it is known, by its place."""
        known = dict[int, RunVariance]()
        for place, table in enumerate(self._tables):
            if table is not None and mixed_questions(*table[:2]).sum() >= FEWEST:
                runs = run_variance(table.success.astype(np.float64), table.present)
                known |= {place: runs} if runs.freedom else {}
        return known

    @property
    def counts_hold_runs(self) -> bool:
        """Whether runs have one trial of a question each, which succeeds or fails."""
        return self.words is not None and not self.scored[_REPEATED].any()

    def kept_runs(self) -> pl.DataFrame | None:
        """The outcomes of each question in its named runs, for counts of the log."""
        trials = self.trials
        if trials.roles.effects == "none" or self.words is None or not self.counts_hold_runs:
            return None
        columns = [*trials.groups, trials.question.name, *self.words.columns]
        return self.questions.select(columns)


def _tested_trials(log: Log, roles: Roles) -> Trials:
    """The trials of a log: those without an outcome count if roles say what they mean."""
    known = roles.missing != "bounds" and (roles.missing != "error" or roles.count is not None)
    missing = roles.missing if known else "drop"
    unscored: Unscored = "drop" if missing == "drop" else roles.unscored
    return bind_roles(log, replace(roles, missing=missing, unscored=unscored, judge=None))


def _tried_again(trials: Trials, questions: pl.DataFrame) -> bool:
    """Whether errored trials may have been tried again: their failures are no outcomes of runs."""
    return trials.roles.missing_category is not None and questions[TRIALS].n_unique() > 1


def _surer_copies(by_counts: CheckResult, by_runs: CheckResult) -> CheckResult:
    """Copies by counts or by pairs of runs, each of which has half of the level."""
    if by_runs.p is None:
        return by_counts
    by_runs = by_runs._replace(p=min(1.0, 2 * by_runs.p))
    known = by_counts.p is not None and by_counts.p <= (by_runs.p or 0.0)
    return by_counts if known else by_runs


def _without_repeats(table: _GroupRuns | None, repeats: pl.Series | None) -> _GroupRuns | None:
    """The trials of a group without the questions that repeat others."""
    if table is None or repeats is None:
        return table
    kept = ~table.names.is_in(repeats.implode()).to_numpy()
    return _GroupRuns(
        table.present[kept], table.success[kept], table.names.filter(pl.Series(kept)), table.runs
    )


def moved_words(runs: RunVariance, name: str) -> str:
    """How far one run moves the score of a model, with the interval of it."""
    sd, lo, hi = (100 * each for each in runs.run_sd(CONFIDENCE))
    ends = f"[{lo:.1f}, {hi:.1f}]" if hi <= 50 else f"(at least {lo:.1f})"  # no share has more
    return f"runs of {name} have a standard deviation of about {sd:.1f} points {ends}"


_SCHEMA = {
    "check": pl.String(),
    "questions": pl.Int64(),
    "pvalue": pl.Float64(),
    "asks": pl.String(),
    "seen": pl.Float64(),
    "expected": pl.Float64(),
    "sentence": pl.String(),
    "verdict": pl.String(),
}


def check(log: Log, roles: Roles) -> pl.LazyFrame:
    """The plan of the checks of a log; see `Scorio.check`."""
    trials = bind_roles(log, roles)
    schema = result_schema((), trials.strata, trials.models, _SCHEMA)
    # One p-value is of the whole log, so that no filter may go below.
    unread = pl.LazyFrame({"": [0]})
    plan = WholePlan(unread).then(lambda _: LogChecks.from_log(log, roles).rows(), schema,
                                  filters=False)  # fmt: skip
    return plan.plan()


@dataclass(frozen=True, slots=True, eq=False)
class SpokenChecks:
    """A step of a `WholePlan` that warns of what tests find in the trials, and changes nothing.

    Tests are all, or those of counts, which need no second read.
    """

    request: Request
    spoken: SpokenTests = "counts"
    numbers: bool = True

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """The groups as they are."""
        speak(self.findings(groups))
        return groups

    def findings(self, groups: pl.DataFrame) -> list[CheckFinding]:
        """The findings of the tests that are made."""
        request, tested = self.request, self.spoken != "none" and groups.height > 0
        if not (tested and request.trials.roles.validate and request.classes.successful):
            return []
        counted, whole = counted_groups(groups, request), self.spoken == "all"
        if self.spoken == "of small logs":
            whole = counted.has_ids and counted.states.trials.sum() <= MOST_READ
        if whole:
            findings = LogChecks.from_counts(counted, request.classes).findings
        else:
            findings = count_findings(counted)
        priors = {request.choice.prior_of(*number) for number in request.metrics}
        populations = self.numbers and priors <= {"population"}
        return population_findings(findings, counted) if populations else findings


def population_findings(
    findings: Sequence[CheckFinding], counted: CountedLog
) -> list[CheckFinding]:
    """The findings for posteriors of a population, which allow for rules that stop on outcomes.

    They do not allow for numbers of trials that follow the difficulty of questions.
    """
    kept = [each for each in findings if each.check not in {"stopping", "order", "unequal"}]
    return [*kept, unequal_finding(counted, population=True)]


def counted_groups(groups: pl.DataFrame, request: Request) -> CountedLog:
    """The questions of groups that were counted, of which a filter may have left some."""
    trials, classes = request.trials, request.classes
    rows = groups.lazy().select(QUESTIONS).with_row_index(PLACE).explode(QUESTIONS, **AS_ROWS)
    sized = rows.unnest(QUESTIONS).with_columns(question_sizes(classes)).filter(pl.col(TRIALS) > 0)
    questions = sized.collect(engine="in-memory")
    parts = [part for part in (*trials.by, trials.model) if part]
    asked = [part.expr.is_in(groups[part.name].unique().implode()) for part in parts]
    whole = trials if trials.study else replace(trials, frame=trials.frame.filter(*asked))
    graded = classes.beyond_counts(questions)
    return CountedLog(whole, groups.select(trials.groups), questions, graded)


NOTED = {"note": pl.String(), "alarm": pl.Boolean()}  # columns of a gate


def with_notes(rows: pl.DataFrame, findings: Sequence[CheckFinding]) -> pl.DataFrame:
    """The rows of a gate with what tests found, whatever the verdict is; it warns, too."""
    speak(findings)
    said = " ".join(each.sentence for each in spoken_findings(findings))
    alarm = any(each.verdict == "alarm" for each in findings)
    return rows.with_columns(note=pl.lit(said or None, pl.String), alarm=pl.lit(alarm))


def log_findings(
    log: Log, roles: Roles, metrics: Sequence[Metric], *, ids: bool = True
) -> list[CheckFinding]:
    """The findings of tests of a log, by its ids too; none without success, or if not wanted."""
    weighed = roles.successes is None and any(metric.w for metric in metrics)
    if weighed or not roles.validate:
        return []
    checks = LogChecks.from_log(log, roles, ids=ids)
    return checks.findings if ids else count_findings(checks.counted)


def spoken_plan(
    rows: pl.LazyFrame,
    log: Log,
    roles: Roles,
    metrics: Sequence[Metric],
    spoken: SpokenTests = "counts",
) -> pl.LazyFrame:
    """The rows of a plan over other logs, which warns of what tests of this one find."""

    def warned(whole: pl.DataFrame) -> pl.DataFrame:
        speak(log_findings(log, roles, metrics, ids=spoken != "counts"))
        return whole

    return rows if spoken == "none" else WholePlan(rows).then(warned).plan()


def is_graded(trials: Trials) -> bool:
    """Whether a category is a real-valued reward, which neither success= nor levels explain."""
    roles, dtype = trials.roles, trials.category.dtype
    if not dtype.is_float() or roles.successes is not None or roles.levels is not None:
        return False
    category = pl.col(CATEGORY)
    graded = trials.rows().select(((category != 0) & (category != 1)).any())
    return bool(graded.collect(engine=trials.engine).item())


def knows_success(trials: Trials) -> bool:
    """Whether categories are success and failure, or it is said which of them succeed."""
    levels = {*(trials.roles.levels or (0, 1))}
    named = trials.roles.successes is not None
    return named or (levels <= {0, 1} and not is_label(trials.category.dtype))


def question_outcomes(trials: Trials, words: RunWords | None) -> pl.DataFrame:
    """The questions of a log: trials, successes, errors, labels, and the bits of their runs."""
    judged = [
        kind(labelled=True)  # type: ignore[call-arg]  # of the subject that reads labels
        for kind in SUBJECTS
        if trials.truth is not None and "truth" in kind.claims
    ]
    needs = (*judged, *error_labels(trials), *([] if words is None else [words]))
    classes = counted_classes(trials, [], binary=True, needs=needs)
    tally = classes.tally(trials)
    broken = [*refusal_rules(trials, classes, tally), *trial_id_rules(trials)]
    name = trials.question.name
    marked = mark_problems(count_questions(trials, classes, tally=tally), name, broken)
    checked = WholePlan(marked).then(refuse_bad(trials, broken)).plan()
    scored = checked.select(*trials.groups, name, *question_sizes(classes), *tally.kept)
    questions = scored.filter(pl.col(TRIALS) > 0).sort(*trials.groups, name)
    rows = questions.collect(engine=trials.engine)
    if words is None:
        return rows
    repeated = words.repeats(rows, rows[TRIALS].to_numpy())
    return rows.with_columns(pl.Series(_REPEATED, repeated))


def _run_outcomes(
    trials: Trials, words: RunWords, classes: Classes, keys: pl.DataFrame
) -> pl.DataFrame:
    """The questions of a log that was checked: trials, and the bits of their runs."""
    tally, name = words.tally(trials, classes), trials.question.name
    rows = trials.rows(tally.read).filter(pl.col(CATEGORY).is_not_null())
    rows = rows.with_columns(**tally.of_trial)
    sums = [each.of_trials for each in tally.numbers]
    questions = rows.group_by(*trials.groups, name).agg(pl.len().alias(TRIALS), *sums)
    counted = questions.sort(*trials.groups, name).collect(engine=trials.engine)
    repeated = words.repeats(counted, counted[TRIALS].to_numpy())
    return _with_places(counted.with_columns(pl.Series(_REPEATED, repeated)), keys)


def question_sizes(classes: Classes) -> list[pl.Expr]:
    """Trials and successes of a question."""
    columns = classes.columns()
    successes = [columns[j] for j in classes.successful]
    return [
        pl.sum_horizontal(columns).alias(TRIALS),
        pl.sum_horizontal(successes).alias(SUCCESSES),
    ]


def _with_places(questions: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """The questions with the `PLACE` of their group among the keys."""
    on = {"on": keys.columns, "how": "left", "nulls_equal": True, "maintain_order": "left"}
    return questions.join(keys.with_row_index(PLACE), **on)  # type: ignore[arg-type]  # as named


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
    return rewards.sort(keys).collect(engine=trials.engine)
