"""The identity of runs: refuse a run that is read twice, and runs with different settings."""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import polars as pl

from polars_scorio.logs.run_totals import Totals

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
Retries: TypeAlias = Literal["error", "latest", "first"]
RUN_COLUMNS = {"run": pl.String, "source": pl.String}
_SHOWN = 3  # differences that an error shows
_NO_SETTING = re.compile(
    r"seed$|^(base_url|max_connections|max_concurrent\w*|num_concurrent|(max_)?retries|"
    r"(attempt_)?timeout|batch_size)$"
)
_NOTHING: tuple[object, ...] = (
    None,
    {},
    [],
)  # a setting that was not set, as versions of tools log it
_PLACE = ":place"  # column: the place of a run in the order in which runs began


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of a model, as one file of its log describes it.

    Attributes
    ----------
    name : str
        What the tool calls the run: the column `run`.
    keys : mapping of str to object
        Columns with one value in the whole file, such as model and benchmark.
    identity : str, optional
        An id that the tool gives to no other run.
    attempt : str, optional
        An id that a run shares with its retries.
    started : str, optional
        When it began, in a form whose order is that of time.
    settings : mapping of str to object
        Settings that distinguish runs of one model, without seeds. A setting that the log does not
        mention is absent, and is not compared.
    totals : tuple of Totals
        What the tool planned and reported, of the run or of each part of it.
    """

    name: str
    keys: Mapping[str, object] = field(default_factory=dict)
    identity: str | None = None
    attempt: str | None = None
    started: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    totals: tuple[Totals, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values of the log that are no texts."""
        facts = {name: getattr(self, name) for name in ("name", "identity", "attempt", "started")}
        for name, value in (facts | {**self.keys}).items():
            if not isinstance(value, str | None):
                raise TypeError(f"the {name} of the run is {value!r}")


Runs: TypeAlias = "Mapping[Path, Run]"


def run_settings(record: Mapping[str, Any], fields: Iterable[str]) -> dict[str, object]:
    """The settings of a run, as its log has them.

    Seeds are left out, and so are settings of how requests were sent.

    Parameters
    ----------
    record : mapping of str to object
        What the tool wrote down about the run.
    fields : iterable of str
        The names of settings; points lead into objects.

    Examples
    --------
    >>> run_settings({"args": {"shots": 5, "seed": 1}, "date": "today"}, ["args", "limit"])
    {'args': {'shots': 5}, 'limit': None}
    """
    return {name: _plain_setting(_nested_value(record, name)) for name in fields}


def _nested_value(record: Any, path: str) -> object:
    """The value at a path with points; None if there is none."""
    for name in path.split("."):
        record = record.get(name) if isinstance(record, Mapping) else None
    return record


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
    """The columns `run` and `source` of a file that is read lazily."""
    return {"run": pl.lit(run.name), "source": pl.lit(shown_path(file))}


def refuse_merged_runs(runs: Runs, strata: Collection[str], retries: Retries = "error") -> None:
    """Refuse files of one model that are the same run, or runs with different settings.

    Parameters
    ----------
    runs : mapping of Path to Run
        The run of each file.
    strata : collection of str
        The columns that keep runs apart, beside model and benchmark.
    retries : {"error", "latest", "first"}
        Whether a run and its retry may be read together.

    Raises
    ------
    ValueError
        If two files of one model and benchmark have the same bytes or ids, different settings, or
        one is a retry of the other.
    """
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
    parts = (_nested_value(run.settings[setting], name[len(setting) + 1 :]) for setting in outer)
    return next((part for part in parts if part is not None), None)


def _equal_runs(files: Sequence[Path], runs: Runs) -> Iterator[tuple[Path, Path, str]]:
    """Pairs of files that are the same run, each with the fact that shows it."""
    identified = [file for file in files if runs[file].identity is not None]
    for pair in _repeated_values({file: runs[file].identity for file in identified}):
        yield *pair, "id"
    sizes = {file: file.stat().st_size for file in files}
    for several in _grouped_files(sizes):
        digests = {file: _file_digest(file) for file in several}
        for pair in _repeated_values(digests):
            yield *pair, "bytes"


def _grouped_files(values: Mapping[Path, object]) -> Iterator[list[Path]]:
    """Lists of files that share a value with another file."""
    groups = defaultdict(list)
    for file, value in values.items():
        groups[value].append(file)
    yield from (files for files in groups.values() if len(files) > 1)


def _repeated_values(values: Mapping[Path, object]) -> Iterator[tuple[Path, Path]]:
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


def _refuse_settings(files: Sequence[Path], runs: Runs, strata: Collection[str]) -> None:
    """Refuse runs of one model whose settings differ."""
    for first, second in pairwise(files):
        differing = dict(_differing_settings(runs[first].settings, runs[second].settings))
        if differing:
            facts = ", ".join(
                f"{name} is {reprlib.repr(one)} and {reprlib.repr(other)}"
                for name, (one, other) in [*differing.items()][:_SHOWN]
            )
            further = f" (and {len(differing) - _SHOWN} more)" if len(differing) > _SHOWN else ""
            by = [*strata, next(iter(differing))]
            raise ValueError(
                f"{first} and {second} are runs of one model, {runs[first].keys.get('model')!r}, "
                f"with different settings: {facts}{further}. To compare them as two models, pass "
                "model= with a pattern that has one group, which finds a name in each path; to "
                f"make strata of them, pass by={by}"
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
        elif one != other and any(value not in _NOTHING for value in (one, other)):
            yield f"{prefix}{name}", (one, other)


def _refuse_retries(files: Sequence[Path], runs: Runs) -> None:
    """Refuse a run that is read together with its retry."""
    attempts = {file: runs[file].attempt for file in files if runs[file].attempt is not None}
    for first, second in _repeated_values(attempts):
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
    """The table with one attempt at each trial.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        The table, with the column `source`.
    runs : mapping of Path to Run
        The run of each file.
    trials : sequence of str
        The columns that identify a trial.
    kept : {"latest", "first"}
        Which attempt to keep.

    Raises
    ------
    ValueError
        If the log does not say when its runs began.
    """
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
