"""Labels of a log: a success that none of its trials has is probably a typo.

The aggregation that counts the trials sees it on the way, so that the log is read once. Whether a
label occurs is exact, from its sums. The names of the others, which only the message needs, are
noted from a sample of the rows that pass by: words in the aggregation would cost a fifth of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.category_values import category_literal
from polars_scorio.counting.roles import Category
from polars_scorio.counting.trials import CATEGORY, Trials

_ROWS = 256  # so many of a batch of rows are sampled
_NAMED = 8  # so many labels are named

# Categories that may be absent without being declared, by convention; as words.
_CONVENTION = frozenset({"0", "1", "0.0", "1.0"})


class SuccessWarning(UserWarning):
    """No trial of the whole log has a label that `success=` names."""


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """Notes on the labels of a log, taken by the aggregations of rows, questions and groups.

    Attributes
    ----------
    labels : tuple of category
        The successes; empty where nothing is to be watched.
    hits : tuple of str
        For each of them, the column that says how many trials have it.
    names : set of str
        Labels that were noted in the collection that runs.
    """

    labels: tuple[Category, ...]
    hits: tuple[str, ...]
    names: set[str] = field(default_factory=set)

    @property
    def _own_hits(self) -> tuple[str, ...]:
        """The hits that are no count column: a single success is one already."""
        return self.hits if len(self.hits) > 1 else ()

    def noted(self, rows: pl.LazyFrame, dtype: pl.DataType) -> pl.LazyFrame:
        """The trials, of whose labels some are noted as they pass by."""
        if not self.labels:
            return rows
        note = pl.col(CATEGORY).map_batches(self.note, dtype, is_elementwise=True)
        return rows.with_columns(note)

    def note(self, labels: pl.Series) -> pl.Series:
        """Keep the names of some labels of a batch of rows, and hand the batch on."""
        some = labels.gather_every(max(1, len(labels) // _ROWS))
        self.names.update(some.cast(pl.String).drop_nulls().unique())
        return labels

    def rows(self, weighed: list[pl.Expr]) -> list[pl.Expr]:
        """Columns of the trials, of which `weighed` says for how many a row has each label."""
        hits = zip(weighed, self.hits, strict=True) if self._own_hits else ()
        return [hit.alias(name) for hit, name in hits]

    def questions(self) -> tuple[str, ...]:
        """Columns of the trials that are summed over a question."""
        return self._own_hits

    def groups(self) -> list[pl.Expr]:
        """Aggregations of the questions of a group."""
        return [(pl.col(self.hits) > 0).any()] if self.labels else []

    def warn_of_absent(self, groups: pl.DataFrame, trials: Trials) -> None:
        """Warn of the successes that no group has; all of them are here."""
        absent = [
            label
            for label, hit in zip(self.labels, self.hits, strict=True)
            if not groups[hit].any()
        ]
        names = {*self.names}
        self.names.clear()  # those of a next collection are its own
        _warn_of_labels(absent, names, trials)


UNWATCHED = Watch((), ())


def declares_categories(trials: Trials) -> bool:
    """Whether the category column says which categories there may be."""
    return trials.category.dtype in (pl.Enum, pl.Boolean)


def warn_of_absent_labels(cells: pl.DataFrame, trials: Trials) -> None:
    """Warn once of the successes that a whole log lacks, from its counts.

    Parameters
    ----------
    cells : DataFrame
        The columns "category" and "count" of the whole log.
    trials : Trials
        The log, whose metrics do not weigh its categories.
    """
    if trials.roles.levels is not None or declares_categories(trials):
        return
    labels = cells.filter(pl.col("count") > 0)["category"].drop_nulls().unique()
    named = [
        (label, category_literal(label, labels.dtype)) for label in trials.roles.successes or ()
    ]
    frame = labels.to_frame()
    absent = [
        label
        for label, value in named
        if value is None or not frame.select((pl.first() == value).any()).item()
    ]
    _warn_of_labels(absent, {*labels.cast(pl.String)}, trials)


def _warn_of_labels(absent: Sequence[Category], names: set[str], trials: Trials) -> None:
    """Warn of absent labels, beside names of labels that there are."""
    seen = sorted(names)
    words = isinstance(next(iter(absent), None), str)
    if not absent or not seen or (not words and {*map(str, absent), *seen} <= _CONVENTION):
        return
    named = ", ".join(map(repr, seen[:_NAMED]) if words else seen[:_NAMED])
    warnings.warn(
        f"success={', '.join(map(repr, absent))}: no trial of the whole log has "
        f"{'this category' if len(absent) == 1 else 'one of these categories'} in "
        f"{trials.category.name!r}, which holds others: {named}"
        f"{', ...' * (len(seen) > _NAMED)}. Is it a slip of the pen? Where it is none, declare "
        "the categories: cast the column to an Enum of them, or weigh them all with w=.",
        SuccessWarning,
        stacklevel=2,
    )


def watch_labels(trials: Trials, classes: Classes, success: str) -> Watch:
    """The notes to take of a log; none if its categories are declared.

    Parameters
    ----------
    trials : Trials
        The log.
    classes : Classes
        Into which classes its trials are counted.
    success : str
        The count column of the successes, where all categories are failure or success.
    """
    declared = (
        classes.known is not None or classes.rewards is not None or declares_categories(trials)
    )
    labels = () if declared else classes.success or ()
    single = len(labels) == 1
    return Watch(labels, (success,) if single else tuple(f":h{i}" for i in range(len(labels))))
