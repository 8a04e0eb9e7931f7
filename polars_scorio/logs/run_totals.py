"""Plan and score of a run as its tool says them, compared with the rows of the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from polars_scorio.logs.log_warning import warn_of_log

_NEAR = 1e-3  # tools round the scores that they print
_MOST = 2**62  # trials
_AT_ONCE = 100_000  # rows that are counted together
_LISTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Plan and score of a run, or of a part of it: as the tool says them, and as read.

    Attributes
    ----------
    keys : mapping of str to object
        Columns that tell the part from the others of the run, such as ``{"filter": "maj"}``.
    planned : int, optional
        Rows that the run planned.
    reported : float, optional
        The score that the tool reports.
    read : int, optional
        Rows that were read; None before.
    score : float, optional
        The score of these rows, computed as the tool does it.
    status : str, optional
        How the run ended, if not well.
    trials_each : int or None
        Trials that a planned row stands for, if that is known.
    file : Path, optional
        The file that says so, if it is not that of the rows.
    """

    keys: Mapping[str, object] = field(default_factory=dict)
    planned: int | None = None
    reported: float | None = None
    read: int | None = None
    score: float | None = None
    status: str | None = None
    trials_each: int | None = 1
    file: Path | None = None

    def __post_init__(self) -> None:
        """Refuse values of the log that are no numbers."""
        for name in ("planned", "reported"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float)
            ):
                raise TypeError(f"the number {name} is {value!r}")
        if self.planned is not None and not -_MOST < self.planned < _MOST:
            raise OverflowError(f"the number planned is {self.planned}")


def mean_or_none(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known.

    >>> mean_or_none([1, None, 0]), mean_or_none([None])
    (0.5, None)
    """
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def mean_of_means(values: Iterable[tuple[object, float | None]]) -> float | None:
    """The mean over questions of the mean over their trials, from pairs of question and value.

    >>> mean_of_means([("a", 1), ("a", 0), ("b", 1), ("b", None)])
    0.75
    """
    questions: dict[object, list[float | None]] = {}
    for question, value in values:
        questions.setdefault(question, []).append(value)
    return mean_or_none(mean_or_none(each) for each in questions.values())


def warn_of_totals(found: Iterable[tuple[Path, Totals]]) -> None:
    """Warn of runs whose rows are not what their tool planned and reported."""
    lines = [
        f"{totals.file or file}: {text}"
        for file, totals in found
        if (text := totals_difference(totals))
    ]
    if len(lines) == 1:
        warn_of_log(lines[0])
    elif lines:
        listed = "".join(f"\n- {line}" for line in lines[:_LISTED])
        further = f"\n- and {len(lines) - _LISTED:,} more" if len(lines) > _LISTED else ""
        warn_of_log(f"the rows differ from what the tool says of its runs:{listed}{further}")


def totals_difference(totals: Totals) -> str | None:
    """The difference between the tool's totals and the rows that were read, in words.

    >>> totals_difference(Totals(planned=100, read=3, reported=0.75, score=1 / 3))
    '3 of 100 planned trials; the tool reports 0.75, these rows 0.3333'
    """
    facts = [*_count_difference(totals), *_score_difference(totals)]
    if totals.status is not None:
        facts.append(f"the status of the run is {totals.status!r}")
    part = ", ".join(f"{name} {value!r}" for name, value in totals.keys.items() if value)
    return ": ".join(filter(None, [part, "; ".join(facts)])) if facts else None


def _count_difference(totals: Totals) -> Iterable[str]:
    """A note if not as many rows were read as planned."""
    if totals.planned is None or totals.read is None or totals.planned == totals.read:
        return
    if totals.read < totals.planned:
        yield f"{totals.read:,} of {totals.planned:,} planned trials"
    else:
        yield f"{totals.read:,} trials, where {totals.planned:,} were planned"


def _score_difference(totals: Totals) -> Iterable[str]:
    """A note if the tool's score is not that of the rows."""
    reported, score = totals.reported, totals.score
    if reported is not None and score is not None and abs(reported - score) > _NEAR:
        yield f"the tool reports {reported:.4g}, these rows {score:.4g}"


def totals_frame(parts: Iterable[tuple[Mapping[str, object], Totals]]) -> pl.DataFrame | None:
    """Table of all totals: keys, `planned` and `reported`; None if tools say nothing."""
    rows = [
        {
            **keys,
            **totals.keys,
            "planned": _planned_trials(totals),
            "reported": totals.reported,
        }
        for keys, totals in parts
    ]
    if all(row["planned"] is None and row["reported"] is None for row in rows):
        return None
    dtypes = {"planned": pl.Int64, "reported": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=dtypes, infer_schema_length=None)


def _planned_trials(totals: Totals) -> int | None:
    """The planned trials, if it is known how many trials a row stands for."""
    if totals.planned is None or totals.trials_each is None:
        return None
    return totals.planned * totals.trials_each


class RowTally:
    """Counter of rows and scores of a file that is read lazily; it warns at the end of the file.

    It gets every batch of a scan before the filters of the query. Without it, a file would be read
    twice: once at the call for the comparison, and once for the query.

    Parameters
    ----------
    file : Path
        The file, for the warning.
    totals : sequence of Totals
        What the tool says of the parts of the file.
    score : str
        The column of the scores.
    by : str, optional
        The column that tells the parts apart; totals without it among their keys are those of the
        whole file.
    """

    def __init__(
        self, file: Path, totals: Sequence[Totals], score: str, by: str | None = None
    ) -> None:
        self._file, self._totals, self._score, self._by = file, totals, score, by
        self.columns = [score] if by is None else [by, score]
        self._noted: list[pl.DataFrame] = []
        self._found: list[pl.DataFrame] = []

    def add(self, batch: pl.DataFrame) -> None:
        """Note a batch; small batches are collected and counted together."""
        self._noted.append(batch.select(self.columns))
        if sum(map(len, self._noted)) > _AT_ONCE:
            self._count_noted()

    def _count_noted(self) -> None:
        """Count the rows of the batches that were noted."""
        part = pl.lit("").alias("part") if self._by is None else pl.col(self._by).alias("part")
        score = pl.col(self._score)
        rows = pl.concat(self._noted) if self._noted else pl.DataFrame()
        self._noted.clear()
        if rows.height:
            counts = pl.len().alias("rows"), score.sum().alias("sum"), score.count().alias("scored")
            self._found.append(rows.group_by(part).agg(counts))

    def warn(self) -> None:
        """Warn if the rows are not what the tool says."""
        self._count_noted()
        counted = pl.concat(self._found).group_by("part").sum() if self._found else pl.DataFrame()
        sums = {row["part"]: row for row in counted.rows(named=True)}
        self._found.clear()
        warn_of_totals((self._file, self._compared(totals, sums)) for totals in self._totals)

    def _compared(self, totals: Totals, sums: Mapping[str, Mapping[str, float]]) -> Totals:
        """The totals of a part, with the number of its rows and their score."""
        named = totals.keys.get(self._by) if self._by else None
        parts = [*sums.values()] if named is None else [sums.get(str(named), {})]
        rows, scored, total = (
            sum(part.get(name, 0) for part in parts) for name in ("rows", "scored", "sum")
        )
        return replace(totals, read=int(rows), score=total / scored if scored else None)
