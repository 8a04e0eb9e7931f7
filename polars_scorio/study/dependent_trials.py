"""Trials that are not independent, in what is computed from a log: it counts fewer of them.

Copies count once, and of trials that stopped on outcomes the first ones that all questions have:
the log is read again without the others. A report looks at the counts that it has anyway, and asks
`log_checks` only where these are suspicious. Warnings and the column `inference` say what was done.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.log import CATEGORY, EVERYTHING, RUN, Part, Trials
from polars_scorio.counting.run_bits import has_few_ids, run_ids, run_part
from polars_scorio.counting.tally import QUESTIONS, TIMES, class_members
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.exchangeability import (
    DIFFICULTY_LEVEL,
    FEWEST,
    LEVEL,
    Flags,
    copies,
    difficulty_p_value,
    pattern_p_value,
    stopping,
)
from polars_scorio.study.log_checks import (
    PLACE,
    SUCCESSES,
    TRIALS,
    CheckWarning,
    LogChecks,
    question_sizes,
)
from polars_scorio.subjects.question_cells import Subject
from polars_scorio.subjects.scores import NO_INTERVAL

if TYPE_CHECKING:
    from polars_scorio.study.request import Request

REPAIR = ":repair"  # of a group: which of its trials count; null for most
RUN_SUMS, SIZE, WHERE = ":run_sums", ":size", ":where"  # see `run_sums`
NOTE, FIRST, EVERY, LEFT_OUT = "note", "first", "every", "left_out"
_KEY, _QUESTION, _ORDER = ":key", ":question", ":order"
_LARGE = 100_000  # trials of a log
_FEW_GROUPS = 3  # that a filter may have left of many


@dataclass(frozen=True, slots=True, eq=False)
class WatchedTrials:
    """The check that trials count for what they are, a step of a `WholePlan`: it warns, or refuses.

    Groups with an alarm come back with the trials that count, and `REPAIR`. To refuse trials that
    stopped on outcomes, the log is read wherever numbers of trials differ.
    """

    request: Request
    refuses: bool
    numbers: bool = True
    per_question: bool = False
    questions: Alignment = "any"
    repairs: bool = True  # else trials that stopped are refused, and copies are nobody's business

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """The groups, with their trials that count."""
        request, trials = self.request, self.request.trials
        if not request.classes.successful or not trials.roles.validate:
            return groups
        states = state_counts(groups, request.classes)
        priors = {request.choice.prior_of(*number) for number in request.metrics}
        if self.numbers and priors <= {"population"}:  # these posteriors allow for stopping rules
            if not self.refuses:
                _warn_of_difficulty(states, groups, trials)
            return groups
        sums = run_sums(trials, request.classes, states, groups)
        doubted = _suspicious_groups(states, groups, refuses=self.refuses) | _have_copies(sums)
        if doubted.any():
            suspects = groups.select(trials.groups).filter(doubted)
            subjects = request.classes.needs_of(Subject)
            of_copies = self.repairs and not any(each.tells_copies for each in subjects)
            asked = ("stopping", "copies")[: 1 + of_copies]
            # Without an alarm alone a group has none among others, which more tests share.
            for some in [suspects, groups][suspects.height == groups.height :]:
                checks = LogChecks.from_log(of_groups(trials, some).frame, trials.roles)
                alarms = _alarms_of(checks, suspects, asked)
                if not alarms:
                    break
            if alarms:
                _tell_alarms(checks, alarms, refuses=self.refuses, repairs=self.repairs)
            if alarms and self.repairs and not trials.judged:
                groups = self._repaired(groups, _found_repairs(checks, alarms))
        if REPAIR in groups.columns:
            kept, states = repaired_trials(trials, groups), state_counts(groups, request.classes)
            sums = run_sums(kept, request.classes, states, groups)
        return groups.with_columns(sums.alias(RUN_SUMS))

    def _repaired(self, groups: pl.DataFrame, repairs: pl.DataFrame) -> pl.DataFrame:
        """The groups, with what is counted anew of those that are repaired."""
        if repairs.is_empty():
            return groups
        trials = self.request.trials
        on = {"on": trials.groups, "nulls_equal": True, "maintain_order": "left"}
        marked = groups.join(repairs, how="left", **on)  # type: ignore[arg-type]  # as named
        again = pl.col(REPAIR).struct.field(NOTE) != NO_INTERVAL
        asked = marked.filter(again)
        if asked.is_empty():
            return marked
        # Prior trials are matched with all of the log.
        alone = self.request.prior is None
        request = replace(self.request, trials=repaired_trials(trials, asked, alone=alone))
        fields = groups.schema[QUESTIONS].inner.to_schema()  # type: ignore[attr-defined]
        named = self.per_question or trials.question.name in fields
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the whole log has been warned of
            plan = request.groups(per_question=named, questions=self.questions)
            repaired: pl.DataFrame = plan.result()
        counted = repaired.join(repairs, how="left", **on)  # type: ignore[arg-type]
        if not alone:
            return counted
        left = marked.filter(again.fill_null(value=False).not_())
        return pl.concat([left, counted.select(left.columns)]).sort(trials.groups)


def run_sums(
    trials: Trials, classes: Classes, states: pl.DataFrame, groups: pl.DataFrame
) -> pl.Series:
    """Of the runs of each group that have the rarer outcome: how often, and a hash of where.

    Null if rows name no runs, or too few questions have both outcomes. Trial ids do if they are
    integers and none repeats in a question.
    """
    unread = pl.Series([None] * groups.height, dtype=pl.List(pl.Struct([])))
    named = trials.run is not None
    indexed = trials.identified and trials.trial is not None and trials.trial.dtype.is_integer()
    if trials.count is not None or trials.judged or not (named or indexed):
        return unread
    n, c, times = (states[name].to_numpy() for name in (TRIALS, SUCCESSES, TIMES))
    mixed = pl.col(SUCCESSES).is_between(0, pl.col(TRIALS), closed="none")
    enough = states.filter(mixed).group_by(PLACE).agg(pl.col(TIMES).sum() >= FEWEST)
    large = n @ times > _LARGE  # then a look at the ids is much cheaper than to group by them
    if not enough[TIMES].any() or (large and not has_few_ids(of_groups(trials, groups))):
        return unread
    if classes.summed:
        success = pl.col(CATEGORY) == 1
    else:
        members = class_members(trials, classes)
        success = pl.any_horizontal(members[j] for j in classes.successful)
    # To look up the keys of each row takes as long as to sum all: only a lazy result is filtered.
    filtered = trials.study is None and groups.height <= _FEW_GROUPS
    rows = (of_groups(trials, groups) if filtered else trials).rows(run_ids(trials))
    rows = rows.filter(success if is_rare(n, c, times) else ~success)
    keys = trials.groups
    counted = rows.select(*keys, RUN, pl.col(trials.question.name).hash().alias(WHERE))
    runs = counted.group_by(*keys, RUN).agg(pl.len().alias(SIZE), pl.col(WHERE).sum())
    each = runs.group_by(keys).agg(pl.struct(RUN, SIZE, WHERE).alias(RUN_SUMS))
    summed = each.collect(engine="streaming")
    on = {"on": keys, "how": "left", "nulls_equal": True, "maintain_order": "left"}
    return groups.select(keys).join(summed, **on)[RUN_SUMS]  # type: ignore[arg-type]


def is_rare(n: Ints, c: Ints, times: Ints) -> bool:
    """Whether success is the rarer outcome of states that are so many `times` there."""
    return bool(2 * times @ c <= times @ n)


def _have_copies(sums: pl.Series) -> pl.Series:
    """Whether two runs of a group have the rarer outcome at the very same questions.

    Not at so few that some of many runs have the same by chance: last runs of ragged trials do.
    """
    if not sums.dtype.inner.fields:  # type: ignore[attr-defined]  # a list
        return pl.Series([False] * sums.len(), dtype=pl.Boolean)
    places = pl.element().struct.field(SIZE, WHERE)
    many = pl.element().struct.field(SIZE) > pl.len().log()
    outcomes = sums.list.eval(pl.struct(places).filter(many))
    return (outcomes.list.n_unique() < outcomes.list.len()).fill_null(value=False)


def _alarms_of(
    checks_made: LogChecks, doubted: pl.DataFrame, checks: tuple[str, ...]
) -> list[tuple[int, str]]:
    """The doubted groups with an alarm, by their place."""
    trials = checks_made.trials
    on = {"on": trials.groups, "how": "semi", "nulls_equal": True, "maintain_order": "left"}
    places = checks_made.keys.with_row_index(PLACE).join(doubted, **on)[PLACE]  # type: ignore[arg-type]
    return [each for each in checks_made.alarms(*checks) if each[0] in {*places}]


def _tell_alarms(
    checks: LogChecks, alarms: list[tuple[int, str]], *, refuses: bool, repairs: bool
) -> None:
    """Refuse groups that stopped on outcomes, if their first trials are not known, or warn."""
    unknown = {None, NO_INTERVAL}
    stopped = [
        (place, check)
        for place, check in alarms
        if check == "stopping"
        and not (repairs and (checks.repair(place, check) or [None])[0] not in unknown)
    ]
    many = f"{checks.keys.height:,} group{'s' * (checks.keys.height > 1)}"
    if refuses and stopped:
        first = checks.sentence(*stopped[0])
        raise ValueError(
            f"trials stopped on their outcomes in {len(stopped):,} "
            f"group{'s' * (len(stopped) > 1)}, the first: {first} More trials of the questions "
            "that failed, or fewer of those that succeeded, bias every estimate, and no verdict "
            "about it holds. See check() for the evidence."
        )
    warnings.warn(
        f"trials are not independent in {len(alarms):,} of {many}, the first: "
        f"{checks.sentence(*alarms[0])} See check() for the evidence.",
        CheckWarning,
        stacklevel=2,
    )


def trials_that_count(trials: Trials, checks: LogChecks) -> Trials | None:
    """The trials without copies; None if there are none."""
    repairs = _found_repairs(checks, checks.alarms("copies"))
    return None if repairs.is_empty() else repaired_trials(trials, repairs)


def _found_repairs(checks: LogChecks, alarms: list[tuple[int, str]]) -> pl.DataFrame:
    """The keys of the groups to be repaired, with `REPAIR`."""
    trials, part = checks.trials, run_part(checks.trials)
    schema = {
        NOTE: pl.String(),
        FIRST: pl.Int64(),
        EVERY: pl.Int64(),
        LEFT_OUT: pl.List(pl.Null() if part is None else part.dtype),
    }
    each = [(place, checks.repair(place, check)) for place, check in alarms]
    repairs = [(place, repair) for place, repair in each if repair is not None]
    rows = pl.DataFrame([repair for _, repair in repairs], schema, orient="row")
    keys = checks.keys.select(trials.groups)[[place for place, _ in repairs]]
    return keys.with_columns(rows.select(pl.struct(*schema).alias(REPAIR)).to_series())


def repaired_trials(trials: Trials, groups: pl.DataFrame, *, alone: bool = False) -> Trials:
    """The trials that count: of groups whose `REPAIR` is said, some; of others all, or none."""
    parts = [part for part in (*trials.by, trials.model) if part]
    names = [f"{_KEY}{place}" for place in range(max(len(parts), 1))]
    keys = [part.expr.alias(name) for part, name in zip(parts, names, strict=False)]
    said = groups.filter(pl.col(REPAIR).is_not_null()).select(
        *(pl.col(column).alias(name) for column, name in zip(trials.groups, names, strict=True)),
        pl.col(REPAIR).struct.unnest(),
    )
    said = said.filter(pl.col(NOTE) != NO_INTERVAL)
    order = run_part(trials)
    classes = trials.outcome.alias(CATEGORY)
    frame = trials.frame.with_row_index(_ORDER) if order is None else trials.frame
    ids = [] if order is None else [order.without_nan.alias(_ORDER)]
    rows = frame.with_columns(
        *(keys or [pl.lit(0, groups.schema[EVERYTHING]).alias(names[0])]),
        trials.question.expr.alias(_QUESTION),
        classes,
        *ids,
    ).join(
        said.lazy(),
        on=names,
        how="inner" if alone else "left",
        nulls_equal=True,
        maintain_order="left",  # a second read of ids is to keep the same trials
    )
    column = [*names, _QUESTION]
    present = pl.col(CATEGORY).is_not_null()
    if trials.count is not None:
        number = trials.count.expr
        fewer = pl.when(pl.col(FIRST).is_null()).then(number // pl.col(EVERY).fill_null(1))
        count = fewer.otherwise(pl.min_horizontal(number, pl.col(FIRST)))
        name = trials.count.name
        roles = replace(trials.roles, count=name)
        counted = Part(pl.col(name), name, trials.count.dtype)
        fewer_rows = rows.with_columns(count.alias(name))
        return _of_frame(replace(trials, roles=roles), fewer_rows, count=counted)
    place = pl.when(present).then(pl.col(_ORDER)).rank("ordinal").over(column)
    turn = pl.col(_ORDER).rank("ordinal").over(*column, CATEGORY)
    kept = pl.all_horizontal(
        ~present | pl.col(FIRST).is_null() | (place <= pl.col(FIRST)),
        ~present | pl.col(EVERY).is_null() | (turn % pl.col(EVERY) == 0),
        pl.col(LEFT_OUT).is_null()
        | ~pl.col(LEFT_OUT).list.contains(pl.col(_ORDER)).fill_null(value=False),
    )
    return _of_frame(trials, rows.filter(kept))


def _of_frame(trials: Trials, frame: pl.LazyFrame, **parts: object) -> Trials:
    """Other rows in the same roles, of which no study knows; no number of trials is asked for."""
    roles = replace(trials.roles, n=None)
    return replace(trials, frame=frame, roles=roles, study=None, **parts)  # type: ignore[arg-type]


def of_groups(trials: Trials, groups: pl.DataFrame) -> Trials:
    """The rows that a filter on a lazy result leaves: others are none of its business."""
    parts = [part for part in (*trials.by, trials.model) if part]
    asked = [part.expr.is_in(groups[part.name].unique().implode()) for part in parts]
    return replace(trials, frame=trials.frame.filter(*asked))


def state_counts(groups: pl.DataFrame, classes: Classes) -> pl.DataFrame:
    """Distinct trials and successes of each group, by its place, with how many questions have them.

    Only questions with trials are there.
    """
    rows = groups.lazy().select(QUESTIONS).with_row_index(PLACE).explode(QUESTIONS, **AS_ROWS)
    rows = rows.unnest(QUESTIONS)
    kept = cast("pl.Struct", cast("pl.List", groups.schema[QUESTIONS]).inner).to_schema()
    times = pl.col(TIMES).sum() if TIMES in kept else pl.len()
    sized = rows.with_columns(question_sizes(classes)).filter(pl.col(TRIALS) > 0)
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
        members = slice(start[i], end[i])
        n_all, c_all = np.repeat(n[members], times[members]), np.repeat(c[members], times[members])
        p_values = (stopping(n_all, c_all).p, copies(n_all, c_all).p)
        doubted[place[i]] |= any(p is not None and p < LEVEL for p in p_values)
    return pl.Series(doubted)


def _warn_of_difficulty(states: pl.DataFrame, groups: pl.DataFrame, trials: Trials) -> None:
    """Warn where hard questions have more trials, or fewer, than others: populations are biased.

    Trials that stopped on outcomes bias no posterior, though they look like that.
    """
    level = DIFFICULTY_LEVEL / max(groups.height, 1)
    for (place,), table in states.group_by(PLACE, maintain_order=True):
        n, c, often = (
            table[name].to_numpy().astype(np.int64) for name in (TRIALS, SUCCESSES, TIMES)
        )
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
