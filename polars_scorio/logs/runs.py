"""Identity of runs, repeats, totals."""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import polars as pl

from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.coverage import AT_K, SCORED_ERRORS, warn_of_log
from polars_scorio.counting.refusals import telling_pattern
from polars_scorio.logs.kept_fields import field_value

_NEAR_WHOLE = 1e-6


def trials_of_means(frame: pl.LazyFrame, metric: str) -> pl.LazyFrame:
    """One row per trial, for rows of trial, asked, answered and mean (successes / asked)."""
    # Of one trial the category is the mean; of several 1 for successes, then 0 for failures, then
    # null for no answer: the log does not keep the true order. A mean that is no share of `asked`
    # is an error at collection.
    several = pl.col("asked") > 1
    successes = pl.struct("mean", "asked", "answered").map_batches(
        lambda rows: _success_counts(rows.struct.unnest(), metric),
        return_dtype=pl.Int64,
        is_elementwise=True,
    )
    place = pl.when(several).then(pl.int_ranges(0, pl.col("asked"))).otherwise(pl.lit([None]))
    rows = frame.with_columns(pl.col("mean").fill_nan(None), _place=place, _successes=successes)
    answered = pl.when(pl.col("mean").is_not_null()).then("answered").otherwise(0)
    outcome = (
        pl.when(pl.col("_place").is_null())
        .then("mean")
        .when(pl.col("_place") < pl.col("_successes"))
        .then(1.0)
        .when(pl.col("_place") < answered)
        .then(0.0)
    )
    trial = (
        pl.when(pl.col("_place").is_null())
        .then("trial")
        .otherwise(pl.concat_str("trial", "_place", separator="/"))
    )
    return (
        rows.explode("_place", **AS_ROWS)
        .with_columns(trial=trial, category=outcome)
        .drop("asked", "answered", "mean", "_place", "_successes")
    )


def _success_counts(rows: pl.DataFrame, metric: str) -> pl.Series:
    """The number of successes, which must be whole."""
    exact = rows["mean"].fill_nan(None) * rows["asked"]
    whole = exact.round()
    wrong = rows.filter(
        (rows["asked"] > 1) & (((exact - whole).abs() > _NEAR_WHOLE) | (whole > rows["answered"]))
    )
    if wrong.height:
        raise ValueError(
            f"the metric {metric!r} is not the share of right answers: a question with several "
            "answers has a score that no number of right answers gives. Name another metric with "
            "metric="
        )
    return whole.cast(pl.Int64)


def line_list(lines: Sequence[object]) -> str:
    """A list with a line for each of some texts, of many the first ones."""
    further = [f"and {len(lines) - _LISTED:,} more"] if len(lines) > _LISTED else []
    return "".join(f"\n- {line}" for line in [*lines[:_LISTED], *further])


_NEAR_SCORE = 1e-3  # tools round the scores that they print
_MOST = 2**62  # trials
_AT_ONCE = 100_000  # rows that are counted together
_LISTED = 5
_AT_K_DTYPE = {"k": pl.Int64, "reported": pl.Float64, "estimate": pl.Float64}


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Plan and score of a run, or of a part of it: as the tool says them, and as read.

    The columns `keys` tell the part from the others of the run, such as ``{"filter": "maj"}``.
    """

    keys: Mapping[str, object] = field(default_factory=dict)
    planned: int | None = None  # rows
    reported: float | None = None  # the score of the tool
    read: int | None = None  # rows; None before
    score: float | None = None  # of these rows, computed as the tool does it
    status: str | None = None  # how the run ended, if not well
    at_k: Sequence[tuple[int, float, float]] = ()  # draw size, score of the tool, and of the rows
    scored_errors: int = 0  # trials with an error whose score the tool kept
    rows_are_trials: bool = True  # or nobody knows how many trials a planned row has
    file: Path | None = None  # where it says so, if not with the rows

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
    """The mean of the values that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def mean_of_means(values: Iterable[tuple[object, float | None]]) -> float | None:
    """The mean over questions of the mean over their trials, from pairs of question and value."""
    questions: dict[object, list[float | None]] = {}
    for question, value in values:
        questions.setdefault(question, []).append(value)
    return mean_or_none(mean_or_none(each) for each in questions.values())


def warn_of_totals(compared: Iterable[tuple[Path, Totals]]) -> None:
    """Warn of runs whose rows are not what their tool planned and reported."""
    lines = [
        f"{totals.file or file}: {text}"
        for file, totals in compared
        if (text := totals_difference(totals))
    ]
    if len(lines) == 1:
        warn_of_log(lines[0])
    elif lines:
        warn_of_log(f"the rows differ from what the tool says of its runs:{line_list(lines)}")


def totals_difference(totals: Totals) -> str | None:
    """The difference between the tool's totals and the rows that were read, in words."""
    facts = [*_count_difference(totals), *_score_difference(totals)]
    if totals.scored_errors:
        facts.append(f"{totals.scored_errors:,} trials with an error have a score, which counts")
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
    if reported is not None and score is not None and abs(reported - score) > _NEAR_SCORE:
        yield f"the tool reports {reported:.4g}, these rows {score:.4g}"
    for k, claimed, counted in totals.at_k:
        if abs(claimed - counted) > _NEAR_SCORE:
            yield f"the tool reports {claimed:.4g} at k={k}, these rows {counted:.4g}"


def totals_frame(
    parts: Iterable[tuple[Mapping[str, object], Totals]], skipped: Collection[str] = ()
) -> pl.DataFrame | None:
    """Table of all totals: keys, `TOTALS_COLUMNS`, or `skipped`; None if it has no value."""
    # Each text of `skipped` names a run without trials, in a row of its own.
    rows: list[dict[str, object]] = [
        {
            **keys,
            **totals.keys,
            "planned": totals.planned if totals.rows_are_trials else None,
            "reported": totals.reported,
            "recomputed": None if totals.reported is None else totals.score,
            AT_K: [dict(zip(_AT_K_DTYPE, each, strict=True)) for each in totals.at_k] or None,
            SCORED_ERRORS: totals.scored_errors or None,
            "skipped": None,
        }
        for keys, totals in parts
    ]
    if all(row[name] is None for row in rows for name in ("planned", "reported", SCORED_ERRORS)):
        rows.clear()
    rows += [{"skipped": text} for text in skipped]
    if not rows:
        return None
    at_k = pl.List(pl.Struct(_AT_K_DTYPE))
    scores = {name: pl.Float64() for name in ("reported", "recomputed")}
    counts = {"planned": pl.Int64(), SCORED_ERRORS: pl.Int64()}
    dtypes = {**counts, **scores, AT_K: at_k, "skipped": pl.String()}
    frame = pl.DataFrame(rows, schema_overrides=dtypes, infer_schema_length=None)
    silent = (name for name in (AT_K, SCORED_ERRORS) if name in frame and not frame[name].count())
    return frame.drop(*silent)


class RowTally:
    """Counter of rows and scores of a lazily read file; it warns at the end of the file.

    It gets every batch before the filters of the query: else a file would be read twice. Column
    `by` distinguishes the parts; totals without it are those of the whole file.
    """

    def __init__(
        self, file: Path, totals: Sequence[Totals], score: str, by: str | None = None
    ) -> None:
        self._file, self._totals, self._score, self._by = file, totals, score, by
        self.columns = [score] if by is None else [by, score]
        self._warned = False  # a log may be read several times, and warns once
        self._noted: list[pl.DataFrame] = []
        self._tallies: list[pl.DataFrame] = []

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
            self._tallies.append(rows.group_by(part).agg(counts))

    def warn(self) -> None:
        """Warn if the rows are not what the tool says."""
        self._count_noted()
        counted = (
            pl.concat(self._tallies).group_by("part").sum() if self._tallies else pl.DataFrame()
        )
        sums = {row["part"]: row for row in counted.rows(named=True)}
        self._tallies.clear()
        compared = [(self._file, self._compared(totals, sums)) for totals in self._totals]
        if not self._warned and any(totals_difference(totals) for _, totals in compared):
            self._warned = True
            warn_of_totals(compared)

    def _compared(self, totals: Totals, sums: Mapping[str, Mapping[str, float]]) -> Totals:
        """The totals of a part, with the number of its rows and their score."""
        named = totals.keys.get(self._by) if self._by else None
        parts = [*sums.values()] if named is None else [sums.get(str(named), {})]
        rows, scored, total = (
            sum(part.get(name, 0) for part in parts) for name in ("rows", "scored", "sum")
        )
        return replace(totals, read=int(rows), score=total / scored if scored else None)


FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
Retries: TypeAlias = Literal["error", "latest", "first"]
RUN_COLUMNS = {"run": pl.String, "source": pl.String}
_MOST_LISTED = 3  # differences that an error shows
_NO_SETTING = re.compile(
    r"seed$|^(base_url|max_connections|max_concurrent\w*|num_concurrent|(max_)?retries|"
    r"(attempt_)?timeout|batch_size)$"
)
_EMPTY: tuple[object, ...] = (
    None,
    {},
    [],
)  # a setting that was not set, as versions of tools log it
_PLACE = ":place"  # column: the place of a run in the order in which runs began


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of a model, as one file of its log describes it.

    Settings distinguish runs of one model: seeds, and what the log does not mention, are absent.
    """

    name: str  # the column `run`
    keys: Mapping[str, object] = field(default_factory=dict)  # columns with one value in the file
    identity: str | None = None  # an id that no other run has
    attempt: str | None = None  # an id shared with its retries
    started: str | None = None  # in a form whose order is that of time
    settings: Mapping[str, object] = field(default_factory=dict)
    totals: tuple[Totals, ...] = ()  # of the run or of each part

    @property
    def stopped_empty(self) -> str | None:
        """How the run ended, if it has no trial and its log says that it was stopped."""
        ends = [totals.status for totals in self.totals if totals.read == 0]
        return next(filter(None, ends), None) if len(ends) == len(self.totals) else None

    def __post_init__(self) -> None:
        """Refuse values of the log that are no texts."""
        facts = {name: getattr(self, name) for name in ("name", "identity", "attempt", "started")}
        for name, value in (facts | {**self.keys}).items():
            if not isinstance(value, str | None):
                raise TypeError(f"the {name} of the run is {value!r}")


Runs: TypeAlias = "Mapping[Path, Run]"


def run_settings(record: Mapping[str, Any], fields: Iterable[str]) -> dict[str, object]:
    """The settings of a run, as its log has them, without seeds and how requests were sent."""
    return {name: _plain_setting(field_value(record, name)) for name in fields}


def _plain_setting(value: object) -> object:
    """A value of JSON without seeds and settings of requests, at any depth."""
    if isinstance(value, list):
        return [_plain_setting(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {name: part for name, part in value.items() if not _NO_SETTING.search(name)}
    return {name: _plain_setting(part) for name, part in kept.items()}


def shown_path(file: Path) -> str:
    """The path of a file in the column `source`: relative if it is below the working directory."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def run_columns(file: Path, run: Run) -> dict[str, object]:
    """Columns that have one value for all rows of a file."""
    return {**run.keys, "run": run.name, "source": shown_path(file)}


def run_literals(file: Path, run: Run) -> dict[str, pl.Expr]:
    """Columns that have one value for all rows of a file, as literals of a query."""
    values = run_columns(file, run).items()
    return {name: pl.lit(value) for name, value in values if value is not None}


def refuse_merged_runs(runs: Runs, strata: Collection[str], retries: Retries = "error") -> None:
    """Refuse files of one model that are the same run, or runs with different settings."""
    # The same: equal bytes or ids, or one a retry of the other. `strata` keep runs apart.
    groups: dict[tuple[str, ...], list[Path]] = defaultdict(list)
    for file, run in runs.items():
        key = (_run_value(file, run, name) for name in ("model", "benchmark", *strata))
        groups[tuple(json.dumps(value, default=str) for value in key)].append(file)
    for files in groups.values():
        for first, second, fact in _equal_runs(files, runs):
            raise ValueError(
                f"{first} and {second} are the same run, {runs[first].name!r}: they have the same "
                f"{fact}. Read one of them, or its trials count twice"
            )
        _refuse_settings(files, runs, strata)
        if retries == "error":
            _refuse_retries(files, runs)


def _run_value(file: Path, run: Run, name: str) -> object:
    """The value of a column for all rows of a file; None if it is not known."""
    if name == "source":
        return shown_path(file)
    if name == "run":
        return run.name
    return run.keys[name] if name in run.keys else _setting_value(run, name)


def _setting_value(run: Run, name: str) -> object:
    """A setting, or with points a part of one; names of settings may have points too."""
    if name in run.settings:
        return run.settings[name]
    outer = (setting for setting in run.settings if name.startswith(f"{setting}."))
    parts = (field_value(run.settings[setting], name[len(setting) + 1 :]) for setting in outer)
    return next((part for part in parts if part is not None), None)


def _equal_runs(files: Sequence[Path], runs: Runs) -> Iterator[tuple[Path, Path, str]]:
    """Pairs of files that are the same run, each with the fact that shows it."""
    identified = [file for file in files if runs[file].identity is not None]
    for pair in repeated_values({file: runs[file].identity for file in identified}):
        yield *pair, "id"
    sizes = {file: file.stat().st_size for file in files}
    for several in _grouped_files(sizes):
        digests = {file: _file_digest(file) for file in several}
        for pair in repeated_values(digests):
            yield *pair, "bytes"


def _grouped_files(values: Mapping[Path, object]) -> Iterator[list[Path]]:
    """Lists of files that share a value with another file."""
    groups = defaultdict(list)
    for file, value in values.items():
        groups[value].append(file)
    yield from (files for files in groups.values() if len(files) > 1)


def repeated_values(values: Mapping[Path, object]) -> Iterator[tuple[Path, Path]]:
    """Pairs of files with the same value."""
    for files in _grouped_files(values):
        yield files[0], files[1]


def _file_digest(file: Path) -> bytes:
    """A digest of the bytes of a file."""
    digest = hashlib.blake2b()
    with file.open("rb") as source:
        while block := source.read(1 << 20):
            digest.update(block)
    return digest.digest()


def pattern_argument(first: Path, second: Path) -> str:
    """The keyword that reads two files as two models."""
    pattern = telling_pattern(str(first), str(second))
    if pattern is None:
        return "model= with a pattern that has one group, which finds a name in each path"
    return f'model=r"{pattern}", a pattern that finds a name in each path'


def _refuse_settings(files: Sequence[Path], runs: Runs, strata: Collection[str]) -> None:
    """Refuse runs of one model whose settings differ."""
    for first, second in pairwise(files):
        differing = dict(_differing_settings(runs[first].settings, runs[second].settings))
        if differing:
            facts = ", ".join(
                f"{name} is {reprlib.repr(one)} and {reprlib.repr(other)}"
                for name, (one, other) in [*differing.items()][:_MOST_LISTED]
            )
            rest = len(differing) - _MOST_LISTED
            further = f" (and {rest} more)" if rest > 0 else ""
            by = [*strata, next(iter(differing))]
            raise ValueError(
                f"{first} and {second} are runs of one model, {runs[first].keys.get('model')!r}, "
                f"with different settings: {facts}{further}. To compare them as two models, pass "
                f"{pattern_argument(first, second)}; to make strata of them, pass by={by}"
            )


def _differing_settings(
    first: Mapping[str, object], second: Mapping[str, object], prefix: str = ""
) -> Iterator[tuple[str, tuple[object, object]]]:
    """Settings that both runs know and that differ; parts of objects are named with points."""
    names = {**first, **second} if prefix else [name for name in first if name in second]
    for name in names:
        one, other = first.get(name), second.get(name)
        if isinstance(one, dict | None) and isinstance(other, dict | None):
            yield from _differing_settings(one or {}, other or {}, f"{prefix}{name}.")
        elif one != other and any(value not in _EMPTY for value in (one, other)):
            yield f"{prefix}{name}", (one, other)


def _refuse_retries(files: Sequence[Path], runs: Runs) -> None:
    """Refuse a run that is read together with its retry."""
    attempts = {file: runs[file].attempt for file in files if runs[file].attempt is not None}
    for first, second in repeated_values(attempts):
        raise ValueError(
            f"{first} and {second} are two attempts at one run, {attempts[first]!r}: pass "
            'retries="latest" to keep the latest attempt at each trial, or retries="first"'
        )


def last_attempts(runs: Runs) -> set[Path]:
    """The files of runs, for retried runs only that of the latest attempt."""
    latest = {run.attempt or file: file for file, run in _by_start(runs)}
    return {*latest.values()}


def kept_attempts(
    frame: FrameT, runs: Runs, trials: Sequence[str], kept: Literal["latest", "first"]
) -> FrameT:
    """The table with the latest or first attempt at each trial, which the columns `trials` tell."""
    silent = [file for file, run in runs.items() if run.started is None]
    if silent:
        raise ValueError(
            f"retries={kept!r} needs the start of each run, which {silent[0]} does not have: read "
            "only the attempts that count"
        )
    order = {shown_path(file): place for place, (file, _) in enumerate(_by_start(runs))}
    place = pl.col("source").replace_strict(order, return_dtype=pl.Int64).alias(_PLACE)
    ordered = frame.with_columns(place).sort(_PLACE, maintain_order=True).drop(_PLACE)
    return ordered.unique(trials, keep="first" if kept == "first" else "last", maintain_order=True)


def _by_start(runs: Runs) -> list[tuple[Path, Run]]:
    """Files and runs in the order in which the runs began."""
    return sorted(runs.items(), key=lambda item: (item[1].started or "", item[0]))


def with_settings(frame: FrameT, runs: Runs, names: Iterable[str]) -> FrameT:
    """The table with a column for each of the names that is a setting and no column yet."""
    known = frame.lazy().collect_schema()
    for name in names:
        values: dict[str, object] = {
            shown_path(file): _setting_value(run, name) for file, run in runs.items()
        }
        if name not in known and any(value is not None for value in values.values()):
            column = pl.col("source").replace_strict([*values], _plain_values(values.values()))
            frame = frame.with_columns(column.alias(name))
    return frame


def _plain_values(values: Iterable[object]) -> pl.Series:
    """Values as a column: of their own dtype if they share one, otherwise as text of JSON."""
    given = [*values]
    kinds = {type(value) for value in given}
    if len(kinds) == 1 and kinds <= {str, bool, int, float}:
        return pl.Series(given)
    return pl.Series([json.dumps(value) for value in given])
