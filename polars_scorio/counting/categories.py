"""Categories that are counted, and those that succeed.

The aggregation that counts the trials also checks their categories. Only for a refusal or a warning
is the log read again, to count.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import or_
from types import MappingProxyType
from typing import ClassVar, TypeVar

import polars as pl

from polars_scorio.counting.checks import Tally
from polars_scorio.counting.log import (
    CATEGORY,
    COUNT,
    REWARD,
    TRUTH,
    Role,
    Trials,
    as_categories,
    category_literal,
)
from polars_scorio.counting.roles import Category, is_label


class Need:
    """The questions' numbers that a subject, or a method, counts: a value that hashes."""

    __slots__ = ()
    visible: ClassVar[Mapping[str, pl.DataType]] = MappingProxyType({})  # columns of a report
    wide: ClassVar[bool] = False  # whether a wide report has these too, beside each metric
    any_value: ClassVar[bool] = False  # whether the categories are numbers of any value

    @property
    def sees_others(self) -> bool:
        """Whether the numbers of a group depend on others, so that no filter may go below."""
        return False

    @property
    def sums(self) -> bool:
        """Whether its numbers say all of a question, so that no category is counted."""
        return False

    def beyond_counts(self, questions: pl.DataFrame) -> bool:
        """Whether questions hold more than their counts say."""
        return False

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """The columns, numbers and rules of it; empty where the log lacks what it is about."""
        return Tally()


NeedT = TypeVar("NeedT", bound=Need)


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes into which the trials of a question are counted, and what else is counted."""

    known: tuple[Category, ...] | None  # one class each, ascending; None: failure and success
    success: tuple[Category, ...] | None  # categories that count as 1; None if unknown
    needs: tuple[Need, ...] = ()

    @property
    def size(self) -> int:
        """Number of classes."""
        return 2 if self.known is None else len(self.known)

    def columns(self, prefix: str = ":c") -> list[str]:
        """Names of the count columns; those of prior trials have the prefix ":d"."""
        return [f"{prefix}{j}" for j in range(self.size)]

    @property
    def successful(self) -> list[int]:
        """The classes that count as success."""
        if self.known is None:
            return [1]
        return [self.known.index(value) for value in self.success or ()]

    @property
    def any_value(self) -> bool:
        """Whether the categories are numbers of any value."""
        return self.known is None and any(need.any_value for need in self.needs)

    @property
    def summed(self) -> bool:
        """Whether the numbers of a need say all of a question, so that no category is counted."""
        return self.known is None and any(need.sums for need in self.needs)

    def need(self, kind: type[NeedT]) -> NeedT | None:
        """The need of a kind, if there is one."""
        return next(iter(self.needs_of(kind)), None)

    def needs_of(self, kind: type[NeedT]) -> list[NeedT]:
        """All needs of a kind."""
        return [each for each in self.needs if isinstance(each, kind)]

    def needing(self, *needs: Need) -> Classes:
        """The classes with more needs, each in place of one of its kind."""
        kinds = {type(each) for each in needs}
        kept = (each for each in self.needs if type(each) not in kinds)
        return replace(self, needs=(*kept, *needs))

    def beyond_counts(self, questions: pl.DataFrame) -> bool:
        """Whether questions hold more than their counts say: values other than 0 and 1."""
        return any(need.beyond_counts(questions) for need in self.needs)

    def tally(self, trials: Trials) -> Tally:
        """All that is counted beside the classes."""
        return reduce(or_, (need.tally(trials, self) for need in self.needs), Tally())


def counted_classes(
    trials: Trials,
    weighted: Sequence[tuple[Category, ...]],
    *,
    binary: bool,
    needs: tuple[Need, ...] = (),
) -> Classes:
    """Classes that a report has to count; `binary` if a metric knows only success and failure.

    Refuses `w` that disagree, a success that cannot be told, and categories the column cannot hold.
    """
    column, given = trials.category, trials.roles.successes
    success = None if given is None else as_categories(given, column, "success")
    known = _agreed_categories(weighted, column)
    if any(need.any_value for need in needs) and not (weighted or binary):
        return Classes(None, (1,), needs)
    levels = trials.roles.levels
    if levels is not None:
        if known not in (None, levels):
            raise ValueError(f"w must weigh the levels {list(levels)}, got {list(known or ())}")
        known = as_categories(levels, column, "levels")
    if known is None and success is None:
        if is_label(column.dtype):
            raise ValueError(_labels_message(trials))
        known = (0, 1)
    if success is None and known is not None and set(known) == {0, 1}:
        success = (1,)
    _refuse_all(success or (), known, column)
    if known is not None:
        stray = trials.roles.missing_category
        _refuse_strays("success", success or (), known)
        _refuse_strays("missing", () if stray is None else (stray,), known)
    if binary and success is None:
        raise ValueError(
            f"a binary metric needs to know which of the categories {list(known or ())} count as "
            "success: pass success="
        )
    return Classes(known, success, needs)


def _labels_message(trials: Trials) -> str:
    """Labels that nothing explains, those of errors first, with their trials."""
    column, counted = trials.category, _counted_labels(trials, None, CATEGORY)
    broken = {label: bool(re.search(ERROR_LABEL, label)) for label in counted}
    labels = sorted(counted, key=lambda label: (not broken[label], -counted[label], label))
    named = [f"{label!r} ({counted[label]:,})" for label in labels[:_NAMED]]
    named += ["..."] if len(labels) > _NAMED else []
    lost = ", ".join(repr(label) for label in labels[:_NAMED] if broken[label])
    said = (
        f"the category column {column.name!r} holds labels ({column.dtype})"
        f"{': ' * bool(named)}{', '.join(named)}: name the successes with success=, "
        "or weigh them all with w={label: weight, ...}"
    )
    what = "outside success= they are failures; set to null, they are what missing= says"
    return f"{said}. {lost} may be trials that broke: {what}" if lost else said


def _refuse_all(
    success: tuple[Category, ...], known: tuple[Category, ...] | None, column: Role
) -> None:
    """Refuse a success of all categories that there may be."""
    declared = {pl.Boolean: (False, True), pl.Enum: getattr(column.dtype, "categories", ())}
    every = known or declared.get(column.dtype.base_type(), ())
    if len(every) > 1 and {*success} >= {*every}:
        raise ValueError(
            f"success={list(success)} names all categories of {column.name!r}, so that no trial "
            "could fail: name those that are successes"
        )


def _refuse_strays(keyword: str, values: tuple[Category, ...], known: tuple[Category, ...]) -> None:
    for value in values:
        if value not in known:
            raise ValueError(f"{keyword}={value!r} is none of the known categories {list(known)}")


def _agreed_categories(
    weighted: Sequence[tuple[Category, ...]], column: Role
) -> tuple[Category, ...] | None:
    """The categories that all `w` name; None without any."""
    named = {as_categories(categories, column, "w") for categories in weighted}
    if len(named) > 1:
        first, second, *_ = sorted(named, key=str)
        raise ValueError(
            f"all w of a report must weigh the same categories, got {list(first)} and "
            f"{list(second)}"
        )
    return next(iter(named), None)


_ROWS = 256  # so many numbers of a batch of rows are sampled
_NAMED = 8  # so many labels are named
_KEPT = 1_000  # so many labels are noted, and those that are spelled like a success

# A label of a trial that broke, or of an outcome that is missing; for `re` and for Polars alike.
ERROR_LABEL = (
    r"(?i)error|exception|timeout|timed out|crash|cancel|abort|rate.?limit|(?:^|[^a-z])oom"
    r"|^\s*(?:nan|n/a|none|null)\s*$"
)

# Categories that may be absent without being declared, by convention; as words.
_CONVENTION = frozenset({"0", "1", "0.0", "1.0"})


class SuccessWarning(UserWarning):
    """By `success=` or `threshold=` no trial of the whole log succeeds, or all do."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelNotes:
    """Notes on the labels of a log, taken by the aggregations of rows, questions and groups.

    `names` has those noted by the collection that runs, of verdicts and of people.
    """

    labels: tuple[Category, ...]  # successes; empty with a threshold, or if nothing is watched
    hits: tuple[str, ...]  # for each label, the column that counts its trials
    failures: tuple[str, ...]  # the column that counts failures, or none
    names: dict[str, set[str]] = field(default_factory=lambda: {CATEGORY: set(), TRUTH: set()})

    def noted(self, rows: pl.LazyFrame, trials: Trials, *, truth: bool) -> pl.LazyFrame:
        """The trials, whose labels are noted as they pass by; those of people too with `truth`."""
        if not self.labels:
            return rows
        parts = {CATEGORY: trials.category}
        if truth and trials.truth is not None and trials.truth.dtype in (pl.String, pl.Categorical):
            parts[TRUTH] = trials.truth
        return rows.with_columns(
            pl.col(name).map_batches(partial(self.note, name), part.dtype, is_elementwise=True)
            for name, part in parts.items()
        )

    def note(self, column: str, labels: pl.Series) -> pl.Series:
        """Keep the new names among the labels of a batch of rows, and hand the batch on."""
        names = self.names[column]
        if not is_label(labels.dtype):
            names.update(
                labels.gather_every(max(1, len(labels) // _ROWS)).cast(pl.String).drop_nulls()
            )
            return labels
        new, known = labels, [*self.labels, *sorted(names)]
        # A comparison with each of a few known names takes a third of the time of `unique` alone.
        for name in known if len(known) <= _NAMED else ():
            new = new.filter(new != name)
        texts = new.drop_nulls().unique().cast(pl.String)
        names.update(texts if len(names) < _KEPT else alike_labels(texts, self.labels))
        return labels

    @property
    def summed(self) -> dict[str, Category]:
        """The label of each column that is summed over a question.

        A single success has a count column already.
        """
        hits = zip(self.hits, self.labels, strict=True) if len(self.hits) > 1 else ()
        return dict(hits)

    def groups(self) -> list[pl.Expr]:
        """Aggregations of the questions of a group."""
        return [(pl.col(*self.hits, *self.failures) > 0).any()] if self.failures else []

    def check(self, groups: pl.DataFrame, trials: Trials) -> None:
        """Refuse labels in two spellings, and warn of a log without success or failure."""
        if not self.failures:
            return
        names = self.refuse_alike(groups, trials)
        failed = bool(groups[self.failures[0]].any())
        hits = [bool(groups[hit].any()) for hit in self.hits]
        if trials.reward is not None:
            if any(hits) != failed:
                _warn_of_threshold(_reward_ends(trials, groups), trials)
            return
        names |= {str(label) for label, hit in zip(self.labels, hits, strict=True) if hit}
        absent = [label for label, hit in zip(self.labels, hits, strict=True) if not hit]
        _warn_of_labels(absent, names, trials, failed=failed)

    def refuse_alike(self, groups: pl.DataFrame, trials: Trials) -> set[str]:
        """Refuse labels in two spellings; else return the verdicts that were noted."""
        noted = {column: {*values} for column, values in self.names.items()}
        for names in self.names.values():
            names.clear()  # those of a next collection are its own
        for column, values in noted.items():
            if alike_labels(values, self.labels):
                counted = _counted_labels(trials, groups, column)
                refuse_alike(counted, self.labels, _column_name(trials, column), trials.owner)
        return noted[CATEGORY]


UNWATCHED = LabelNotes((), (), ())


def alike_labels(names: Iterable[str], success: Sequence[Category]) -> list[str]:
    """Labels outside `success` that equal one inside after strip and casefold.

    >>> alike_labels(["Correct", "correct", "wrong", "correct "], ["correct"])
    ['Correct', 'correct ']
    """
    folded = {label.strip().casefold() for label in success if isinstance(label, str)}
    return [name for name in names if name not in success and name.strip().casefold() in folded]


def refuse_alike(
    counted: dict[str, int], success: Sequence[Category], column: str, owner: str = ""
) -> None:
    """Refuse labels spelled like a success but for case and spaces; `counted` has their trials."""
    alike = sorted(alike_labels(counted, success))
    if not alike:
        return
    folded = {name.strip().casefold() for name in alike}
    named = [label for label in success if str(label).strip().casefold() in folded]
    columns, those = (
        ", ".join(f"{label!r} ({counted.get(str(label), 0):,})" for label in labels)
        for labels in (alike, named)
    )
    one = len(alike) == 1
    raise ValueError(
        f"{owner}{len(alike)} label{'' if one else 's'} in {column!r} would count as "
        f"failure{'' if one else 's'}, and differ{'s' if one else ''} from a success only in case "
        f"or spaces: {columns}; success: {those}. If they mean the same, name them all in "
        f"success=, or make them one before, as in pl.col({column!r}).str.strip_chars()"
        ".str.to_lowercase(). If not, cast the column to an Enum of all labels."
    )


def declares_categories(trials: Trials) -> bool:
    """Whether the category column says which categories there may be."""
    return trials.category.dtype in (pl.Enum, pl.Boolean)


def check_counted_labels(cells: pl.DataFrame, trials: Trials) -> None:
    """Refuse and warn, once, of the labels of a whole log, as `LabelNotes.check` does.

    `cells` has the columns "category", "count" and perhaps "truth".
    """
    success = trials.roles.successes or ()
    counted = cells.filter(pl.col("count") > 0)
    present = counted["category"].drop_nulls().unique()
    if trials.reward is not None:
        if present.len() == 1:
            _warn_of_threshold(_reward_ends(trials), trials)
        return
    if trials.roles.levels is not None or declares_categories(trials):
        return
    for name in ("category", "truth"):
        if name in counted.columns and is_label(counted[name].dtype):
            labels = counted.group_by(pl.col(name).cast(pl.String)).agg(pl.col("count").sum())
            part = trials.category if name == "category" else trials.truth
            refuse_alike(dict(labels.drop_nulls().rows()), success, part.name)  # type: ignore[union-attr]  # a column of it
    values = [category_literal(label, present.dtype) for label in success]
    held = [
        value is not None and bool(present.to_frame().select((pl.first() == value).any()).item())
        for value in values
    ]
    absent = [label for label, hit in zip(success, held, strict=True) if not hit]
    _warn_of_labels(absent, {*present.cast(pl.String)}, trials, failed=sum(held) < present.len())


def _warn_of_labels(
    absent: Sequence[Category], names: set[str], trials: Trials, *, failed: bool
) -> None:
    """Warn of successes that no trial has, or that all have, beside labels that there are."""
    labels, success = sorted(names), trials.roles.successes or ()
    words = isinstance(next(iter(success), None), str)
    if not labels or not success or (failed and not absent):
        return
    if not words and {*map(str, absent or success), *labels} <= _CONVENTION and len(success) == 1:
        return
    named = ", ".join(map(repr, labels[:_NAMED]) if words else labels[:_NAMED])
    named += ", ..." if len(labels) > _NAMED else ""
    column, several = trials.category.name, len(absent) > 1
    if absent:
        said = (
            f"No trial has the outcome{'s' * several} {', '.join(map(repr, absent))} of success=; "
            f"{column!r} has {named}. If that is a typo, correct success=. If it is right, cast "
            f"the column to an Enum that includes {'them' if several else 'it'}"
        )
    else:
        said = (
            f"success={', '.join(map(repr, sorted(success)))}: all trials of the whole log are "
            f"successes, for {column!r} holds nothing else: {named}. If that is a typo, correct "
            "success=. If it is right, cast the column to an Enum of all outcomes"
        )
    warnings.warn(
        f"{said}, or weigh them all with w=.",
        SuccessWarning,
        stacklevel=2,
    )


def _warn_of_threshold(ends: tuple[float, float], trials: Trials) -> None:
    """Warn of a threshold that all trials reach, or none, unless all rewards are 0 or 1."""
    least, largest = ends
    threshold = trials.roles.threshold
    if threshold is None or (least == largest and least in {0, 1} and 0 < threshold <= 1):
        return
    warnings.warn(
        f"threshold={threshold!r}: {'all trials' if least >= threshold else 'no trial'} of the "
        f"whole log reach{'' if least >= threshold else 'es'} it. {trials.category.name!r} is from "
        f"{least!r} to {largest!r}. Is the threshold in the unit of the rewards?",
        SuccessWarning,
        stacklevel=2,
    )


def _column_name(trials: Trials, column: str) -> str:
    """The name that the log has for a column of verdicts or labels."""
    part: Role | None = trials.category if column == CATEGORY else trials.truth
    return column if part is None else part.name


def _rows_of_groups(trials: Trials, groups: pl.DataFrame | None) -> pl.LazyFrame:
    """The rows of some groups once more; of all without any."""
    truths = {} if trials.truth is None else {TRUTH: trials.truth.without_nan}
    rows = trials.rows(truths if trials.reward is None else {**truths, REWARD: trials.reward})
    if groups is None:
        return rows
    keys = [*trials.groups]
    return rows.join(groups.lazy().select(keys), on=keys, how="semi", nulls_equal=True)


def _counted_labels(trials: Trials, groups: pl.DataFrame | None, column: str) -> dict[str, int]:
    """How many trials have each label that occurs in some groups, or in all of them."""
    number = pl.len() if trials.count is None else pl.col(COUNT).sum()
    rows = _rows_of_groups(trials, groups).group_by(pl.col(column).cast(pl.String))
    labels = rows.agg(number.alias(COUNT)).filter(pl.col(COUNT) > 0)
    return dict(labels.drop_nulls().collect().rows())


def _reward_ends(trials: Trials, groups: pl.DataFrame | None = None) -> tuple[float, float]:
    """The least and the largest reward."""
    reward = pl.col(REWARD).cast(pl.Float64).fill_nan(None)
    ends = _rows_of_groups(trials, groups).select(low=reward.min(), high=reward.max()).collect()
    return ends.row(0)


def watch_labels(trials: Trials, classes: Classes) -> LabelNotes:
    """The notes to take of a log; none if its categories are declared."""
    columns = classes.columns()
    if trials.reward is not None:  # failure and success
        return LabelNotes((), (columns[-1],), (columns[0],)) if len(columns) == 2 else UNWATCHED
    declared = classes.known is not None or classes.any_value or declares_categories(trials)
    labels = () if declared else classes.success or ()
    if not labels:
        return UNWATCHED
    hits = (columns[-1],) if len(labels) == 1 else tuple(f":h{i}" for i in range(len(labels)))
    return LabelNotes(labels, hits, (columns[0],))
