"""Are the trials of a log independent? The checks of `maths.exchangeability` on a log.

`check` asks all of it: a read for the ids of the runs, and one for the bits of each question. A
report looks at the counts that it has anyway, and asks the rest only where these are suspicious.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.checks import AS_ROWS, WholePlan, mark_problems, refuse_bad
from polars_scorio.counting.log import (
    CATEGORY,
    TRIAL,
    Log,
    Trials,
    bind_roles,
    is_label,
    refuse_repeats,
)
from polars_scorio.counting.refusals import refusal_rules, trial_id_rules
from polars_scorio.counting.roles import Roles, Unscored
from polars_scorio.counting.run_bits import RunWords, found_words, has_order
from polars_scorio.counting.tally import (
    QUESTIONS,
    TIMES,
    count_questions,
)
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.exchangeability import (
    DIFFICULTY_LEVEL,
    FEWEST,
    LEVEL,
    Finding,
    Flags,
    copies,
    difficulty_p_value,
    pattern_p_value,
    reward_stopping,
    runs,
    stopping,
    verdicts,
)

if TYPE_CHECKING:
    from polars_scorio.study.request import Request

_URGENCY = ("alarm", "once", "look", "ok", "not tested")
TRIALS = ":n"  # of a question, with an outcome
PLACE, SUCCESSES, _LAST = ":group", ":c", ":last"  # of a group; of a question


class CheckWarning(UserWarning):
    """The trials of a log count for less than they are: copies, or numbers that follow outcomes.

    Intervals are too narrow then, or estimates biased, and so is what compares them. The message
    says in how many models; `check` has the evidence.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.CheckWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.CheckWarning)
    """


@dataclass(frozen=True, slots=True, eq=False)
class LogChecks:
    """The findings of the checks in each group of a log, ascending."""

    trials: Trials
    words: RunWords | None  # None: rows name no runs
    keys: pl.DataFrame
    findings: list[dict[str, Finding]]
    shortest: list[int]  # trials of the question of a group that has fewest

    @classmethod
    def of(cls, log: Log, roles: Roles) -> LogChecks:
        """Read the log: once for the ids of its runs, once for its questions."""
        known = roles.missing != "bounds" and (roles.missing != "error" or roles.count is not None)
        missing = roles.missing if known else "drop"
        unscored: Unscored = "drop" if missing == "drop" else roles.unscored
        plain = replace(roles, missing=missing, unscored=unscored, truth=None, judge=None)
        trials = bind_roles(log, plain)
        graded = trials.category.dtype.is_float() and is_graded(trials)
        known = knows_success(trials)
        words = found_words(trials) if known and not graded else None
        if graded:
            questions = _question_rewards(trials)
        elif known:
            questions = question_outcomes(trials, words)
        else:
            questions = trials.rows().select(trials.groups).unique().sort(trials.groups).collect()
        parts = questions.partition_by(trials.groups, maintain_order=True)
        return cls(
            trials=trials,
            words=words,
            keys=questions.select(trials.groups).unique(maintain_order=True),
            findings=[_group_findings(part, words) for part in parts],
            shortest=[int(part[TRIALS].min() or 0) if known or graded else 0 for part in parts],  # type: ignore[arg-type]
        )

    def rows(self) -> pl.DataFrame:
        """A row for each group and check, the most urgent ones first."""
        found = []
        for place, (each, verdict) in enumerate(
            zip(self.findings, verdicts(self.findings), strict=True)
        ):
            for check, finding in each.items():
                found.append(
                    {
                        PLACE: place,
                        "check": check,
                        "verdict": verdict[check],
                        "pvalue": finding.p,
                        "seen": finding.seen,
                        "expected": finding.expected,
                        "questions": finding.questions,
                        "sentence": self.sentence(place, check),
                    }
                )
        rows = pl.DataFrame(found, schema={PLACE: pl.Int64, **_SCHEMA})
        keys = self.keys.with_row_index(PLACE).with_columns(pl.col(PLACE).cast(pl.Int64))
        urgency = pl.col("verdict").cast(pl.Enum(_URGENCY))
        whole = rows.join(keys, on=PLACE, maintain_order="left").sort(
            urgency, PLACE, maintain_order=True
        )
        return whole.select(*self.trials.keys, *_SCHEMA)

    def alarms(self, *checks: str) -> list[tuple[int, str]]:
        """The groups, by their place, with a check that gives an alarm; the first one of each."""
        found = []
        for place, verdict in enumerate(verdicts(self.findings)):
            own = [check for check in checks if verdict.get(check) in {"alarm", "once"}]
            found += [(place, own[0])] if own else []
        return found

    def stopped_models(self) -> list[str]:
        """The models, as words, whose trials stopped on outcomes, ascending."""
        return sorted({self._model_name(place) for place, _ in self.alarms("stopping")})

    def alarm_words(self) -> str | None:
        """One sentence on all alarms; None if there is none."""
        alarms = self.alarms("stopping", "runs", "copies")
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
        return next((str(row[name]) for name in self.trials.models), "This model")

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
        found = self.findings[place][check]
        if found.p is None and not found.kind:
            return f"not tested, {found.why}."
        p = "" if found.p is None else f" (p = {found.p:.2g})"
        if found.p is not None and found.p >= LEVEL:
            return f"{_QUIET[check]}{p}."
        return {
            "stopping": self._stopping_words,
            "runs": self._run_words,
            "copies": self._copy_words,
        }[check](found, place, p)

    def _stopping_words(self, found: Finding, place: int, p: str) -> str:
        """The sentence on numbers of trials that followed outcomes."""
        if found.kind == "rewards":
            return (
                f"the last trial of {found.seen:.0f} of {found.questions} questions has the best "
                f"reward of its question; {found.expected:.1f} are expected{p}. Trials stopped at "
                f"a good reward: use the first {self.shortest[place]} of each question."
            )
        went_on = ""
        if found.expected is not None:
            went_on = (
                f"of the questions that went on {found.seen or 0:.0f} had stood where others "
                f"stopped; {found.expected:.1f} are expected"
            )
        if found.kind == "order" or found.pattern is None:
            return (
                f"{went_on}{p}. Trials stopped on outcomes: use the first {self.shortest[place]} "
                "of each question."
            )
        kind, common = found.pattern
        what = "one outcome only"
        if kind != "unmixed":
            name = "success" if kind == "c" else "failure"
            what = f"{common} {name}{'es' if kind == 'c' and common != 1 else ''}"
            what += "s" * (kind != "c" and common != 1)
        return (
            f"all {found.questions} questions with fewer trials have {what}"
            f"{f'; {went_on}' * bool(went_on)}{p}. Trials stopped on outcomes, or easy or hopeless "
            f"questions were given fewer by plan: use the first {self.shortest[place]} of each."
        )

    def _run_words(self, found: Finding, _: int, p: str) -> str:
        """The sentence on runs that differ."""
        assert found.seen is not None
        assert found.expected is not None
        if found.kind == "trend":
            first, last = map(self._run_id, found.runs)
            moves = "falls" if found.seen < found.expected else "rises"
            return (
                f"success {moves} from {found.expected:.0%} to {found.seen:.0%} over trials "
                f"{first} to {last}{p}. Ids may be positions in a file that was sorted, or written "
                "in order of completion: use the id that the tool gave. If they are runs, the "
                "server or the prompt changed."
            )
        points = 100 * abs(found.seen - found.expected)
        side = "below" if found.seen < found.expected else "above"
        run = self._run_id(found.runs[0])
        return f"run {run} is {points:.0f} points {side} the others{p}. Repeat it if it was broken."

    def _copy_words(self, found: Finding, _: int, p: str) -> str:
        """The sentence on copies."""
        if found.kind == "once":
            return (
                f"no question of {found.questions} has mixed outcomes: its trials are copies, or "
                "the model is deterministic. They count as one trial a question: sample with "
                "temperature above 0 and without a cache."
            )
        if found.kind == "counts":
            return (
                f"every number of successes is a multiple of {found.seen:.0f}{p}: each trial seems "
                f"to be counted {found.seen:.0f} times. Was a file read again, or a cache used?"
            )
        first, second = map(self._run_id, found.runs)
        return (
            f"runs {first} and {second} agree on {found.seen:.0f} of {found.questions} questions "
            f"with mixed outcomes; {found.expected:.1f} are expected{p}. Was a run stored "
            "twice? Leave one of them out."
        )


def watch_trials(
    request: Request, *, refuses: bool, numbers: bool = True
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The check that trials count for what they are, a step of a `WholePlan`: it warns, or refuses.

    It looks at the counts of the groups, and reads the log again for the rest only where these are
    suspicious, or, to refuse trials that stopped on outcomes, wherever numbers of trials differ.
    Comparisons that ask for no `numbers` are about estimates.
    """
    trials, classes = request.trials, request.classes

    def watch(groups: pl.DataFrame) -> pl.DataFrame:
        if not classes.successful:
            return groups
        states = state_counts(groups, classes)
        if numbers and _is_pooled(request):
            if not refuses:
                _warn_of_difficulty(states, groups, trials)
            return groups
        doubted = groups.select(trials.groups).filter(
            _suspicious_groups(states, groups, refuses=refuses)
        )
        if doubted.height:
            found = LogChecks.of(of_groups(trials, groups).frame, trials.roles)
            _tell_alarms(found, doubted, refuses=refuses)
        return groups

    return watch


def of_groups(trials: Trials, groups: pl.DataFrame) -> Trials:
    """The rows that a filter on a lazy result leaves: others are none of its business."""
    parts = [part for part in (*trials.by, trials.model) if part]
    asked = [part.expr.is_in(groups[part.name].unique().implode()) for part in parts]
    return replace(trials, frame=trials.frame.filter(*asked))


def _is_pooled(request: Request) -> bool:
    """Whether all numbers are posteriors of populations, which allow for stopping rules."""
    return all(
        request.choice.prior_of(metric, view) == "population" for metric, view in request.metrics
    )


def _tell_alarms(found: LogChecks, doubted: pl.DataFrame, *, refuses: bool) -> None:
    """Refuse groups that stopped on outcomes, or warn of alarms."""
    trials = found.trials
    on = {"on": trials.groups, "how": "semi", "nulls_equal": True, "maintain_order": "left"}
    own = found.keys.with_row_index(PLACE).join(doubted, **on)[PLACE]  # type: ignore[arg-type]
    alarms = [each for each in found.alarms("stopping", "copies") if each[0] in {*own}]
    stopped = [each for each in alarms if each[1] == "stopping"]
    if not alarms:
        return
    if refuses and stopped:
        first = found.sentence(*stopped[0])
        raise ValueError(
            f"trials stopped on their outcomes in {len(stopped):,} "
            f"group{'s' * (len(stopped) > 1)}, the first: {first} More trials of the questions "
            "that failed, or fewer of those that succeeded, bias every estimate, and no verdict "
            "about it holds. See check() for the evidence."
        )
    first = found.sentence(*alarms[0])
    warnings.warn(
        f"trials are not independent in {len(alarms):,} of {found.keys.height:,} "
        f"group{'s' * (found.keys.height > 1)}, the first: {first} See check() for the evidence.",
        CheckWarning,
        stacklevel=2,
    )


def state_counts(groups: pl.DataFrame, classes: Classes) -> pl.DataFrame:
    """Distinct trials and successes of each group, by its place, with how many questions have them.

    Only questions with trials are there.
    """
    rows = groups.lazy().select(QUESTIONS).with_row_index(PLACE).explode(QUESTIONS, **AS_ROWS)
    rows = rows.unnest(QUESTIONS)
    times = pl.col(TIMES).sum() if TIMES in rows.collect_schema() else pl.len()
    sized = rows.with_columns(_question_sizes(classes)).filter(pl.col(TRIALS) > 0)
    states = sized.group_by(PLACE, TRIALS, SUCCESSES).agg(times.cast(pl.Int64).alias(TIMES))
    return states.sort(PLACE, TRIALS, SUCCESSES).collect()


def _suspicious_groups(states: pl.DataFrame, groups: pl.DataFrame, *, refuses: bool) -> pl.Series:
    """Whether the counts of a group look like copies, or as if trials had stopped on outcomes.

    The tests of counts are made only where a short look leaves them open.
    """
    doubted = np.zeros(groups.height, np.bool_)
    if states.is_empty():
        return pl.Series(doubted)
    g, n, c, times = (states[name].to_numpy().astype(np.int64) for name in states.columns)
    place, start = np.unique(g, return_index=True)
    end = np.append(start[1:], g.size)
    least, most = np.minimum.reduceat(n, start), np.maximum.reduceat(n, start)
    if refuses:
        doubted[place[least < most]] = True
    short = n < np.repeat(most, end - start)
    mixed = (c > 0) & (c < n)

    def shared(number: Ints) -> Flags:
        """Whether all short questions of a group have the same number."""
        lowest = np.minimum.reduceat(np.where(short, number, most.max()), start)
        return np.asarray(lowest >= np.maximum.reduceat(np.where(short, number, -1), start))

    alike = shared(c) | shared(n - c) | ~np.logical_or.reduceat(short & mixed, start)
    several = np.add.reduceat(np.where(n > 1, times, 0), start)
    uniform = ~np.logical_or.reduceat(mixed, start)
    multiple = ~uniform & (np.gcd.reduceat(np.gcd(n, c), start) > 1)
    doubted[place[uniform & (several >= FEWEST)]] = True
    for i in np.flatnonzero((alike & (least < most)) | multiple).tolist():
        own = slice(start[i], end[i])
        n_all, c_all = np.repeat(n[own], times[own]), np.repeat(c[own], times[own])
        p_values = (stopping(n_all, c_all).p, copies(n_all, c_all).p)
        doubted[place[i]] |= any(p is not None and p < LEVEL for p in p_values)
    return pl.Series(doubted)


def _warn_of_difficulty(states: pl.DataFrame, groups: pl.DataFrame, trials: Trials) -> None:
    """Warn where hard questions have more trials, or fewer, than others: populations are biased.

    Trials that stopped on outcomes bias no posterior, though they look like that.
    """
    level = DIFFICULTY_LEVEL / max(groups.height, 1)
    for (place,), own in states.group_by(PLACE, maintain_order=True):
        n, c, often = (own[name].to_numpy().astype(np.int64) for name in (TRIALS, SUCCESSES, TIMES))
        if n.min() == n.max() or pattern_p_value(n, c, often)[0] < LEVEL:
            continue
        if difficulty_p_value(n, c, often) < level:
            keys = groups.row(int(str(place)), named=True)
            where = ", ".join(f"{name}={keys[name]!r}" for name in trials.keys)
            warnings.warn(
                "numbers of trials follow the success rates of questions"
                f"{f', as in {where}' * bool(where)}: estimates of single questions hold, and a "
                "population of questions that is fitted to them does not.",
                CheckWarning,
                stacklevel=2,
            )
            return


_SCHEMA = {
    "check": pl.String(),
    "verdict": pl.String(),
    "pvalue": pl.Float64(),
    "seen": pl.Float64(),
    "expected": pl.Float64(),
    "questions": pl.Int64(),
    "sentence": pl.String(),
}
_QUIET = {
    "stopping": "numbers of trials do not follow outcomes",
    "runs": "runs do not differ more than by chance",
    "copies": "no trials look like copies",
}


def check(log: Log, roles: Roles) -> pl.LazyFrame:
    """The plan of the checks of a log; see `Scorio.check`."""
    trials = bind_roles(log, roles)
    schema = {**trials.strata, **trials.models, **_SCHEMA}
    refuse_repeats([*schema])

    def made(_: pl.DataFrame) -> pl.DataFrame:
        return LogChecks.of(log, roles).rows()

    # All of the log has one level, so that no filter may go below.
    nothing = pl.LazyFrame({"": [0]})
    return WholePlan(nothing).then(made, schema, filters=False).plan()


def is_graded(trials: Trials) -> bool:
    """Whether a category is a real-valued reward, which neither success= nor levels explain."""
    roles = trials.roles
    if roles.successes is not None or roles.levels is not None:
        return False
    category = pl.col(CATEGORY)
    seen = trials.rows().select(((category != 0) & (category != 1)).any())
    return bool(seen.collect(engine="streaming").item())


def question_outcomes(trials: Trials, words: RunWords | None) -> pl.DataFrame:
    """The questions of a log: trials and successes, and the bits of their runs."""
    classes = counted_classes(trials, [], binary=True, needs=() if words is None else (words,))
    broken = [*refusal_rules(trials, classes), *trial_id_rules(trials)]
    name = trials.question.name
    marked = mark_problems(count_questions(trials, classes), name, broken)
    checked = WholePlan(marked).then(refuse_bad(trials, broken)).plan()
    columns = [] if words is None else words.columns
    scored = checked.select(*trials.groups, name, *_question_sizes(classes), *columns)
    return scored.filter(pl.col(TRIALS) > 0).sort(*trials.groups, name).collect(engine="streaming")


def _question_sizes(classes: Classes) -> list[pl.Expr]:
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
    found = rows.group_by(keys).agg(
        pl.len().cast(pl.Int64).alias(TRIALS),
        best.sum().cast(pl.Int64).alias(SUCCESSES),
        last.alias(_LAST),
    )
    return found.sort(keys).collect(engine="streaming")


def _of_runs(finding: Finding, used: Ints) -> Finding:
    """A finding that names runs of the log, in place of columns."""
    pairs = tuple((int(used[first]), int(used[second])) for first, second in finding.pairs)
    return finding._replace(runs=tuple(used[[*finding.runs]].tolist()), pairs=pairs)


def knows_success(trials: Trials) -> bool:
    """Whether categories are success and failure, or it is said which of them succeed."""
    levels = {*(trials.roles.levels or (0, 1))}
    named = trials.roles.successes is not None
    return named or (levels <= {0, 1} and not is_label(trials.category.dtype))


def _group_findings(questions: pl.DataFrame, words: RunWords | None) -> dict[str, Finding]:
    """The finding of each check in the questions of a group."""
    if TRIALS not in questions.columns:
        return dict.fromkeys(_QUIET, Finding(None, "success= does not say what succeeds"))
    n, c = questions[TRIALS].to_numpy(), questions[SUCCESSES].to_numpy()
    if _LAST in questions.columns:
        last = questions[_LAST]
        return {
            "stopping": reward_stopping(n, c, None if last.has_nulls() else last.to_numpy()),
            "runs": Finding(None, "rewards are real-valued"),
            "copies": Finding(None, "rewards are real-valued"),
        }
    if words is None or words.repeats(questions, n).any():
        why = "a run has several trials of a question" if words else "trials have no ids of runs"
        return {"stopping": stopping(n, c), "runs": Finding(None, why), "copies": copies(n, c)}
    present, success = words.unpacked(questions)
    used = np.flatnonzero(present.any(0))  # by this model
    present, success = present[:, used], success[:, used]
    found = {
        "stopping": stopping(n, c, present, success) if words.ordered else stopping(n, c),
        "runs": runs(present, success, ordered=words.ordered),
        "copies": copies(n, c, present, success),
    }
    return {check: _of_runs(finding, used) for check, finding in found.items()}
