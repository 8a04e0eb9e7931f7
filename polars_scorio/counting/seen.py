"""Which labels a log holds: a success that is in none of its trials is a typo more often than not.

The aggregation that counts the trials sees it on the way, so that the log is read once. Whether a
label occurs is exact. The names of the others, for the message, are those of a sample of the rows:
carrying a word for each row through the aggregation would double its cost.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import polars as pl

from polars_scorio.counting.roles import CATEGORY, Category, Classes, Trials

_SAMPLE, _LOW, _HIGH = ":sample", ":low", ":high"
_ROWS = 256  # so many of a batch of rows are sampled
_NAMED = 8  # so many labels are named

# What a category may be by convention, without being declared; as words.
_CONVENTION = frozenset({"0", "1", "0.0", "1.0"})


class SuccessWarning(UserWarning):
    """No trial of the whole log has a label that `success=` names."""


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What the aggregations note of the labels, level by level: rows, questions, states, groups.

    Attributes
    ----------
    labels : tuple of category
        The successes; empty where nothing is to be watched.
    hits : tuple of str
        For each of them, the column that says how many trials have it.
    """

    labels: tuple[Category, ...]
    hits: tuple[str, ...]

    @property
    def _own(self) -> tuple[str, ...]:
        """The hits that are no count column of the states: a single success is one already."""
        return self.hits if len(self.hits) > 1 else ()

    def rows(self, weighed: list[pl.Expr]) -> list[pl.Expr]:
        """Columns of the trials, of which `weighed` says for how many a row has each label."""
        if not self.labels:
            return []
        sample = pl.col(CATEGORY).map_batches(_sample, pl.String(), is_elementwise=True)
        own = [hit.alias(name) for hit, name in zip(weighed, self.hits, strict=True)]
        return [sample.alias(_SAMPLE), *(own if self._own else [])]

    def questions(self) -> list[pl.Expr]:
        """Aggregations of the columns of the trials."""
        ends = [pl.col(_SAMPLE).min().alias(_LOW), pl.col(_SAMPLE).max().alias(_HIGH)]
        return [*ends, pl.col(self._own).sum()] if self.labels else []

    def merged(self) -> list[pl.Expr]:
        """Aggregations of what `questions` found in parts of a question."""
        ends = [pl.col(_LOW).min(), pl.col(_HIGH).max()]
        return [*ends, pl.col(self._own).sum()] if self.labels else []

    def states(self) -> list[pl.Expr]:
        """Aggregations of the questions."""
        ends = [pl.col(_LOW, _HIGH).drop_nulls().unique()]
        return [*ends, (pl.col(self._own) > 0).any()] if self.labels else []

    def groups(self) -> list[pl.Expr]:
        """Aggregations of the states."""
        ends = [pl.col(_LOW, _HIGH).explode().drop_nulls().unique()]
        hit = pl.col(self._own).any() if self._own else (pl.col(self.hits) > 0).any()
        return [*ends, hit] if self.labels else []

    def warn_of_absent(self, groups: pl.DataFrame, trials: Trials) -> None:
        """Warn of the successes that no group has; all of them are here."""
        absent = [
            label
            for label, hit in zip(self.labels, self.hits, strict=True)
            if not groups[hit].any()
        ]
        ends = [groups[name].explode() for name in (_LOW, _HIGH)] if absent else []
        seen = sorted({label for end in ends for label in end.drop_nulls()})
        words = isinstance(next(iter(absent), None), str)
        if not seen or (not words and {*map(str, absent), *seen} <= _CONVENTION):
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


UNWATCHED = Watch((), ())


def watch(trials: Trials, classes: Classes, success: str) -> Watch:
    """What is to be noted of a log; nothing where its categories are declared.

    Parameters
    ----------
    trials : Trials
        The log.
    classes : Classes
        Into which classes its trials are counted.
    success : str
        The count column of the successes, where all categories are failure or success.
    """
    declared = classes.known is not None or trials.category.dtype in (pl.Enum, pl.Boolean)
    labels = () if declared else classes.success or ()
    single = len(labels) == 1
    return Watch(labels, (success,) if single else tuple(f":h{i}" for i in range(len(labels))))


def _sample(labels: pl.Series) -> pl.Series:
    """Some of the labels as words, in no order, and nulls up to the same length."""
    some = labels.gather_every(max(1, len(labels) // _ROWS)).cast(pl.String)
    return some.extend_constant(None, len(labels) - len(some))
