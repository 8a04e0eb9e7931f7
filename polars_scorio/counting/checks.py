"""Numbers that a tally adds up, and rules that its questions are held to.

A callback in an expression sees one morsel at a time, so its counts and its first row change from
run to run. Therefore the aggregation marks the bad questions, and one look at its result raises.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_scorio.arguments import row_place
from polars_scorio.counting.log import Study, Trials
from polars_scorio.counting.roles import Roles

# Numbers that an aggregation over the trials of a question finds.
ROWS, MISSING, OUTSIDE, IDS, NO_ID, BAD = ":rows", ":missing", ":outside", ":ids", ":no_id", ":bad"
# The rule that a question violates, and the name of that question.
PROBLEM, PLACE = ":problem", ":place"
# A second cluster of a question, and whether it lacks one.
ANOTHER, UNCLUSTERED = ":another", ":unclustered"


class Quoted(NamedTuple):
    """A value of a question that a message quotes; with a unit, a number of such things.

    Floats are rounded to twelve digits, but not to one of the `ends` of their range.
    """

    column: str
    unit: str | None = None
    ends: tuple[float, ...] = ()

    def quote_value(self, question: pl.DataFrame) -> str:
        """The words for the value, from a frame of one question."""
        quoted = question[self.column]
        value = str(quoted.cast(pl.String).item())
        if quoted.dtype == pl.Float64 and math.isfinite(quoted.item()):
            rounded = float(f"{quoted.item():.12g}")
            if rounded not in (quoted.item(), *self.ends):
                value = repr(rounded)
        return value if self.unit is None else f"{value} {self.unit}{'s' * (value != '1')}"


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One way in which a question is bad: the condition, the finding, and the message.

    The finding is put into words for the one question that a message names. If the condition is
    but a doubt, `look` reads the questions again, and returns the rules that they violate. A
    `foremost` rule is named before all others.
    """

    violated: pl.Expr
    details: Sequence[str | Quoted]
    what: str
    way_out: str | Callable[[], str]
    recheck: Callable[[pl.DataFrame], list[tuple[Rule, pl.DataFrame]]] | None = None
    foremost: bool = False


def mark_problems(questions: pl.LazyFrame, question: str, rules: Sequence[Rule]) -> pl.LazyFrame:
    """Add `PROBLEM` and `PLACE` to a frame of questions: null where all is well."""
    problem = pl.coalesce(pl.when(rule.violated).then(i) for i, rule in enumerate(rules))
    return questions.with_columns(problem.cast(pl.UInt8).alias(PROBLEM)).with_columns(
        pl.when(pl.col(PROBLEM).is_not_null()).then(pl.col(question)).alias(PLACE)
    )


def quoted_columns(rules: Sequence[Rule]) -> list[str]:
    """The columns of a question that the messages of some rules quote."""
    parts = (part for rule in rules for part in rule.details)
    return [*dict.fromkeys(part.column for part in parts if isinstance(part, Quoted))]


@dataclass(frozen=True, slots=True, eq=False)
class WholePlan:
    """A plan whose small result Python sees once and whole: one callback applies all `steps`.

    The first step gets a frame, and the last one has to make one; what passes between is theirs.
    """

    rows: pl.LazyFrame  # expressions only; a result that fits in memory
    steps: tuple[Callable[[Any], Any], ...] = ()
    schema: Callable[[], Mapping[str, pl.DataType]] | None = None
    filters: bool = True  # may filters go below the steps?
    known: Callable[[], pl.DataFrame] | None = None  # the result of `rows`, if a study keeps it

    def then(
        self,
        step: Callable[[Any], Any],
        schema: Mapping[str, pl.DataType] | None = None,
        *,
        filters: bool = True,
    ) -> WholePlan:
        """The plan with one more step, which has other columns if a schema is given."""
        columns = self.schema if schema is None else lambda: schema
        steps, passed = (*self.steps, step), self.filters and filters
        return WholePlan(self.rows, steps, columns, passed, self.known)

    def selected(self, names: Sequence[str]) -> WholePlan:
        """The plan with some of the columns of its rows."""

        def columns() -> Mapping[str, pl.DataType]:
            schema = self.rows.collect_schema()
            return {name: schema[name] for name in names}

        steps = (*self.steps, lambda frame: frame[[*names]])
        return WholePlan(self.rows, steps, columns, self.filters)

    def kept_by(self, study: Study, roles: Roles, key: tuple[Hashable, ...]) -> WholePlan:
        """The plan, of which a study keeps the result."""
        rows = self.plan()
        return WholePlan(rows, known=lambda: study.counted(roles, key, rows))

    def plan(self) -> pl.LazyFrame:
        """The plan with all steps in one callback."""
        rows = self.rows if self.known is None else self.known().lazy()
        if not self.steps:
            return rows
        return rows.map_batches(
            self._apply,
            schema=None if self.schema is None else self.schema(),
            predicate_pushdown=self.filters,
            projection_pushdown=False,
            slice_pushdown=False,
        )

    def result(self) -> Any:  # noqa: ANN401 - the last step says what it is
        """The result of the last step; the plan is run now."""
        frame = self.rows.collect(engine="streaming") if self.known is None else self.known()
        return self._apply(frame)

    def _apply(self, frame: pl.DataFrame) -> Any:  # noqa: ANN401 - as for `result`
        return reduce(lambda made, step: step(made), self.steps, frame)


def refuse_bad(trials: Trials, rules: Sequence[Rule]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The check of a frame of marked questions, a step of a `WholePlan`."""

    def check(questions: pl.DataFrame) -> pl.DataFrame:
        bad = questions.filter(pl.col(PROBLEM).is_not_null())
        if bad.height:
            raise_first(bad, trials, rules)
        return questions

    return check


def raise_first(problems: pl.DataFrame, trials: Trials, rules: Sequence[Rule]) -> None:
    """Raise for the first bad question, and count the questions that violate each rule.

    `problems` has a row for each: the keys, `PROBLEM` (a rule's number), `PLACE`, `quoted_columns`.
    """
    violations = violations_of(problems, rules)
    if not violations:
        return
    (rule, same), *besides = violations
    first = same.sort(*trials.groups, PLACE, nulls_last=False).head(1)
    named = first.row(0, named=True)
    question = trials.question.name
    where = row_place({**named, question: named[PLACE]}, [*trials.keys, question])
    details = "".join(
        part if isinstance(part, str) else part.quote_value(first) for part in rule.details
    )
    further = "".join(
        f" Besides, {_questions_have(rows.height)} {other.what}." for other, rows in besides
    )
    way_out = rule.way_out if isinstance(rule.way_out, str) else rule.way_out()
    raise ValueError(
        f"{trials.owner}{_questions_have(same.height)} {rule.what}, the first"
        f"{where}{details}. {way_out}{further} See describe() for what the log has."
    )


def _questions_have(questions: int) -> str:
    """How many questions have something: 1 question has, 2 questions have."""
    return f"{questions:,} question{'s have' if questions != 1 else ' has'}"


def violations_of(problems: pl.DataFrame, rules: Sequence[Rule]) -> list[tuple[Rule, pl.DataFrame]]:
    """The rules that are violated, with the bad questions of each; the most telling one first.

    Repeated trials come first: a file that is read twice brings other faults with it.
    """
    violations: list[tuple[Rule, pl.DataFrame]] = []
    for number, rule in enumerate(rules):
        rows = problems.filter(pl.col(PROBLEM) == number)
        if rows.is_empty():
            continue
        violations += [(rule, rows)] if rule.recheck is None else rule.recheck(rows)
    return sorted(violations, key=lambda violation: not violation[0].foremost)


# Arguments of `explode`. An empty list is a null: the only way of Polars 1.35, no longer the
# default of 2.0, and 1.42 to 1.44 warn where nothing is said.
AS_ROWS = {
    name: True for name in inspect.signature(pl.Expr.explode).parameters if name == "empty_as_null"
}


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """One column of the tally of a question.

    With two steps the trials of one category, answer or cluster are aggregated first, then these
    parts.
    """

    name: str
    of_trials: pl.Expr
    of_parts: pl.Expr


def summed_number(name: str, of_trials: pl.Expr) -> Number:
    """A number that is added up over the parts."""
    return Number(name, of_trials.alias(name), pl.col(name).sum())


def least_number(name: str, of_trials: pl.Expr) -> Number:
    """A value of which the least one of the parts is kept."""
    return Number(name, of_trials.alias(name), pl.col(name).min())


def largest_number(name: str, of_trials: pl.Expr) -> Number:
    """A value of which the largest one of the parts is kept."""
    return Number(name, of_trials.alias(name), pl.col(name).max())


def joined_list(name: str, of_trials: pl.Expr) -> Number:
    """A list that is joined over the parts."""
    return Number(name, of_trials.alias(name), pl.col(name).explode(**AS_ROWS).drop_nulls())


def over_trials(numbers: Sequence[Number]) -> list[pl.Expr]:
    """The aggregations over trials."""
    return [number.of_trials for number in numbers]


def over_parts(numbers: Sequence[Number]) -> list[pl.Expr]:
    """The aggregations over the parts of a question."""
    return [number.of_parts for number in numbers]


Columns: TypeAlias = "Mapping[str, pl.Expr]"
# A check of the groups of a log, by columns that `of_group` names.
GroupCheck: TypeAlias = "Callable[[pl.DataFrame, Trials], None]"


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """A count of a log; `|` merges what several subjects need, so that it is read once.

    `numbers` are aggregated over the trials of a question; with `parts`, over the trials of each of
    its parts, which then have the columns `of_part`, and over these parts like `of_parts`.
    """

    read: Columns = field(default_factory=dict)  # columns of the log, under the names of the plan
    of_trial: Columns = field(default_factory=dict)  # computed before the aggregation
    numbers: tuple[Number, ...] = ()
    parts: tuple[str, ...] = ()  # columns of trials that distinguish the parts of a question
    of_part: Columns = field(default_factory=dict)
    of_parts: tuple[Number, ...] = ()
    derived: Columns = field(default_factory=dict)  # of a question, from its numbers
    kept: tuple[str, ...] = ()  # columns of a question that are kept beside its counts
    rules: tuple[Rule, ...] = ()
    of_group: Columns = field(default_factory=dict)  # aggregations of the questions of a group
    checks: tuple[GroupCheck, ...] = ()

    def __or__(self, other: Tally) -> Tally:
        """Both: what they share is counted once, and has to be the same."""
        names = [each.name for each in fields(self)]
        both = (_merged_parts(getattr(self, name), getattr(other, name)) for name in names)
        return Tally(**dict(zip(names, both, strict=True)))


def _merged_parts(one: Any, two: Any) -> Any:  # noqa: ANN401 - a field of `Tally`
    """The columns, numbers or other parts of two tallies."""
    if isinstance(one, Mapping):
        _refuse_different(one, two)
        return {**one, **two}
    if not any(isinstance(each, Number) for each in one):
        return (*dict.fromkeys((*one, *two)),)
    for of in ("of_trials", "of_parts"):
        _refuse_different(
            *({each.name: getattr(each, of) for each in parts} for parts in (one, two))
        )
    return (*{each.name: each for each in (*one, *two)}.values(),)


def _refuse_different(one: Columns, two: Columns) -> None:
    """Refuse two meanings of one name, a fault of the package."""
    for name in one.keys() & two.keys():
        if not one[name].meta.eq(two[name]):
            raise ValueError(f"two subjects count {name!r} differently")
