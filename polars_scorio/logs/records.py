"""Trials in any JSON, JSON lines, Parquet or CSV: each column is found by a path into the records.

A path has steps, and may spread: ``trials[*].passed`` gives a row for each item of a list. Columns
that spread over the same list share its rows; parallel lists are zipped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from polars.exceptions import PolarsError
from polars.io.plugins import register_io_source

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import is_several, nearest_hint, value_text, value_tuple
from polars_scorio.counting.coverage import warn_of_log
from polars_scorio.counting.roles import joined_columns
from polars_scorio.logs.json_files import (
    NESTS,
    Row,
    asked_part,
    describe_content,
    first_sentence,
    numbered_objects,
    read_json,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import field_value, json_text
from polars_scorio.logs.paths import (
    DAMAGE,
    Paths,
    UnexpectedContentError,
    find_files,
    path_model,
    plain_path,
    read_each,
    side_file,
)
from polars_scorio.logs.reader_options import SharedOptions, Unpack, log_accessor, log_reader
from polars_scorio.logs.runs import RUN_COLUMNS, Run, line_list, shown_path

_EXPECTED = "records of trials"
_ENDINGS = ".json", ".jsonl", ".ndjson", ".parquet", ".csv", ".tsv"
_SPREAD = {"[*]": list, "{*}": dict}
_STEP = re.compile(r'("[^"]+"|\[\*\]|\{\*\}|\[-?\d+\]|\[[^\]=\[]+=[^\]]*\])')
_QUOTED = re.compile(r'"[^"]*"')
_PLACE = re.compile(r"(.*)@(key|index|line)$", re.DOTALL)
_SIDE = re.compile(r"([^:'^]+\.json):(.+)", re.DOTALL)
_BATCH = 20_000  # rows; files with no more of them are read at the call
_LISTED = 12  # paths of a record in an error
# Columns that a role of the accessor names by a path.
_PATH_ROLES = ("cluster", "answer", "truth", "cost")
Place: TypeAlias = "tuple[int | str, ...]"


@log_reader
def records(
    paths: Paths,
    *,
    question: str | Sequence[str],
    category: str,
    model: str | None = None,
    trial: str | None = None,
    run: str | None = None,
    where: Mapping[str, object] | None = None,
    **roles: Unpack[SharedOptions],
) -> Scorio[pl.LazyFrame]:
    """Read any JSON, JSON lines, Parquet or CSV, whose columns are named by paths.

    For tools without a reader. A record is a line, an item of a list in JSON, a JSON file, or a row
    of a table. Columns: model, the strata, question, trial, category (each as its path gives it),
    those of `keep` and of other roles, run, source (the file). A failure that the log does not have
    as a record is not noticed, unless `n` is given.

    ==========================  ==================================================================
    path                        value
    ==========================  ==================================================================
    ``score.acc``               the field of a field; a key that has points itself comes first
    ``trials[*].passed``        of each item of a list, which is a row
    ``scores{*}``               of each value of an object, which is a row
    ``trials[*]@index``         the place of the item; ``{*}@key`` the key of the value
    ``trials[0]``               of one item; ``[-1]`` the last one
    ``metrics[name=F1].score``  of the first item whose `name` is F1
    ``scores."f1 (macro)"``     of a key that has parentheses or brackets
    ``@line``                   the number of the record in its file, from 0
    ``^config.model``           of the first record of the file that has it, such as a header
    ``run.json:config.model``   from the file of that name beside this one, or in a folder above
    ``'gpt-5'``                 the text itself
    ``runs/(.+?)/``             what the group of the pattern finds in the path of the file
    ==========================  ==================================================================

    Parameters
    ----------
    question : str or sequence of str
        The path of the question; of several, whose values together identify a question, each is a
        column too.
    category : str
        The path of the outcome.
    model, trial, run : str, optional
        The path of each. Default: one model without a name, trials without an id, and the name of
        the file as the run.
    where : dict, optional
        Only records with these values count, as in ``{"status": 2}``; a list has several values.
    keep
        Here names are paths too; a dict gives a path for each name.
    **roles
        In `by`, `cluster`, `answer`, `truth` and `cost` texts are paths; a dict in `by`
        names the columns of the strata.

    Raises
    ------
    ValueError
        If a path has no value in any file, lists of one record that give rows differ in length, or
        a column mixes texts and numbers.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.records(
    ...     "runs/*.jsonl", model="config.model", question="id", category="score.acc"
    ... ).avg()  # doctest: +SKIP
    """
    strata = _stratum_paths(roles.pop("by", None))
    several = is_several(question)
    parts: dict[str, Any] = {str(t): t for t in question} if several else {"question": question}
    named = {"model": model, **strata, **parts, "trial": trial, "run": run, "category": category}
    extra = _extra_columns(roles)
    if {*named} & {*extra}:
        raise ValueError(f"keep= names a column that already exists: {sorted({*named} & {*extra})}")
    columns = {**named, **extra}
    plan = _Plan.from_columns(
        {name: text for name, text in columns.items() if text is not None}, where or {}
    )
    files = _record_files(paths, plan)
    samples = read_each(files, lambda file: _RowSample.from_file(file, plan), roles)
    samples = _telling_samples(samples, plan, [*parts, "category"])
    rows = _sampled_rows(samples, plan, _column_dtypes(samples, plan))
    if several:
        rows = rows.with_columns(joined_columns(parts).alias("question"))
    return log_accessor(
        rows,
        {file: sample.run(file) for file, sample in samples.items()},
        roles,
        model=None if model is None else "model",
        by=[*strata],
        trial=None if trial is None else "trial",
        run=None if run is None else "run",
        run_effects=None,
    )


def _stratum_paths(by: Any) -> dict[str, str]:
    """The path of each stratum by the name of its column."""
    if isinstance(by, str) and not by.isidentifier():
        return {"benchmark": by}
    return {**by} if isinstance(by, Mapping) else {str(t): str(t) for t in value_tuple(by or ())}


def _extra_columns(roles: SharedOptions) -> dict[str, str]:
    """The path of each column that `keep` or a role names."""
    keep = roles.get("keep") or {}
    kept = {**keep} if isinstance(keep, Mapping) else {str(n): str(n) for n in value_tuple(keep)}
    named = [roles.get(role) for role in _PATH_ROLES]
    return {**{text: text for text in named if isinstance(text, str)}, **kept}


def _next_value(value: Any, step: str) -> Any:
    """The value to which a step of a path leads, which does not spread; None if there is none."""
    if step[0] == '"':
        return value.get(step[1:-1]) if isinstance(value, dict) else None
    if step[0] != "[":
        return field_value(value, step)
    if not isinstance(value, list):
        return None
    name, equals, wanted = step[1:-1].partition("=")
    if equals:
        return next((each for each in value if _named_text(each, name) == wanted), None)
    place = int(name)
    return value[place] if -len(value) <= place < len(value) else None


def _named_text(value: object, name: str) -> str:
    """The value of a key as text, as JSON writes it."""
    part = field_value(value, name)
    return part if isinstance(part, str) else json_text(part)


@dataclass(frozen=True, slots=True)
class _FieldPath:
    """A path into a record."""

    text: str
    steps: tuple[str, ...]
    depth: int  # steps that spread
    place: str  # index, key or line, instead of the value

    @classmethod
    def from_text(cls, role: str, text: str) -> _FieldPath:
        """The path that a text spells."""
        match = _PLACE.fullmatch(text)
        body, place = match.groups() if match else (text, "")
        steps = tuple(part.strip(".") for part in _STEP.split(body) if part.strip("."))
        ends_in_row = bool(steps) and steps[-1] in _SPREAD
        if not (ends_in_row if place in {"key", "index"} else bool(steps) != bool(place)):
            raise ValueError(
                f"{role}={text!r} is no path: write a.b, a[*].b, a{{*}}, a[*]@index, a{{*}}@key or "
                "@line"
            )
        return cls(text, steps, sum(step in _SPREAD for step in steps), place)

    def level(self, depth: int) -> tuple[str, ...]:
        """The steps up to the last one of the first `depth` that spread."""
        ends = [number for number, step in enumerate(self.steps, 1) if step in _SPREAD]
        return self.steps[: ([0, *ends])[depth]]

    def value(self, number: int, record: object) -> Any:
        """The value of a record, for a path that does not spread."""
        for step in self.steps:
            record = _next_value(record, step)
        return number if self.place == "line" else record

    def values(self, number: int, record: object) -> dict[Place, Any]:
        """The value for each row of a record, by its place in the lists that give rows."""
        if not self.depth:
            return {(): self.value(number, record)}
        values = dict(_spread_values(record, self.steps, ()))
        return {place: place[-1] for place in values} if self.place else values


def _spread_values(value: Any, steps: tuple[str, ...], place: Place) -> Iterator[tuple[Place, Any]]:
    """The values at the end of a path, each with its place."""
    for number, step in enumerate(steps, 1):
        if step in _SPREAD:
            if isinstance(value, _SPREAD[step]):
                items = enumerate(value) if step == "[*]" else value.items()
                for key, item in items:
                    yield from _spread_values(item, steps[number:], (*place, key))
            return
        value = _next_value(value, step)
    yield place, value


@dataclass(frozen=True, slots=True)
class _Plan:
    """The columns of a log: texts that are the same for a file, and paths into its records."""

    texts: Mapping[str, str]  # the text of each column
    of_file: Mapping[str, str]
    of_record: Mapping[str, _FieldPath]
    where: tuple[tuple[_FieldPath, tuple[object, ...]], ...]
    depth: int  # lists within lists that give rows

    @classmethod
    def from_columns(cls, columns: Mapping[str, str], where: Mapping[str, object]) -> _Plan:
        """The plan of columns, which spread over one list, or over parallel ones."""
        for name, text in columns.items():
            if not isinstance(text, str):
                raise TypeError(f"{name} must be a path, a str, got {value_text(text)}")
        of_file = {name: text for name, text in columns.items() if _is_of_file(text)}
        of_record = {
            n: _FieldPath.from_text(n, text) for n, text in columns.items() if n not in of_file
        }
        if not of_record:
            raise ValueError("question= and category= lead into no record: both are constants")
        deepest = max(of_record.values(), key=lambda path: path.depth)
        for name, path in of_record.items():
            # Lists side by side, on the last level, are zipped.
            shared = path.depth - (path.depth == deepest.depth > 0)
            if path.level(shared) != deepest.level(shared):
                raise ValueError(
                    f"{name}={path.text!r} and {deepest.text!r} give rows over different lists, "
                    "whose cross product is never meant: name fields of one list, or of lists of "
                    "the same length in one object"
                )
        conditions = [(_FieldPath.from_text("where", text), value) for text, value in where.items()]
        for path, _ in conditions:
            if path.depth:
                raise ValueError(
                    f"where= selects records, and {path.text!r} gives rows: filter .frame instead"
                )
        wanted = tuple(
            (path, tuple(value) if isinstance(value, list | tuple | set) else (value,))
            for path, value in conditions
        )
        return cls(columns, of_file, of_record, wanted, deepest.depth)

    @property
    def keys(self) -> list[str]:
        """The columns that distinguish trials: all before the outcome."""
        return [*self.texts][: [*self.texts].index("category")]

    def rows(self, file: Path) -> Iterator[tuple[int, Row]]:
        """The rows of a file, each with the number of its record."""
        paths = [*self.of_record.values()]
        for number, record in _numbered_records(file):
            if all(path.value(number, record) in wanted for path, wanted in self.where):
                if not self.depth:
                    yield number, tuple(path.value(number, record) for path in paths)
                else:
                    yield from ((number, row) for row in self._spread_rows(file, number, record))

    def _spread_rows(self, file: Path, number: int, record: object) -> Iterator[Row]:
        """The rows of a record with lists."""
        spread = [(path, path.values(number, record)) for path in self.of_record.values()]
        # An absent list has no values: its column is null.
        lists = [each for each in spread if each[0].depth == self.depth and each[1]]
        for path, values in lists[1:]:
            (first, places), *_ = lists
            if places.keys() != values.keys():
                unequal = (
                    f"{len(places)} values at {first.text!r} and {len(values)} at {path.text!r}"
                )
                where = f" in record {number}: their rows are not the same"
                raise unexpected_content(file, _EXPECTED, unequal + where)
        for place in lists[0][1] if lists else ():
            yield tuple(values.get(place[: path.depth]) for path, values in spread)


def _is_of_file(text: str) -> bool:
    """Whether a text says something that is the same for all records of a file."""
    pattern = not {*"()"}.isdisjoint(_QUOTED.sub("", text))
    return text[:1] in {"'", "^"} or pattern or bool(_SIDE.fullmatch(text))


def _file_value(file: Path, name: str, text: str) -> Any:
    """The value that a text gives to all records of a file."""
    if text[:1] == "'":
        return text.strip("'")
    if text[:1] == "^":
        return _first_value(_FieldPath.from_text(name, text[1:]), _numbered_records(file))
    side = _SIDE.fullmatch(text)
    if side is None:
        try:
            return path_model(file, text, name)
        except ValueError as error:
            raise ValueError(
                f'{error}. A key that has parentheses is quoted: "f1 (macro)"'
            ) from None
    side_path = next(filter(Path.exists, (side_file(f / "_", side[1]) for f in file.parents)), None)
    if side_path is None:
        raise FileNotFoundError(
            f"{file}: {name}={text!r} needs a file {side[1]} beside it or in a folder above"
        )
    return _first_value(_FieldPath.from_text(name, side[2]), _numbered_records(side_path))


def _first_value(path: _FieldPath, numbered: Iterable[tuple[int, Any]]) -> Any:
    """The value of the first record that has one."""
    values = (value for number, each in numbered for value in path.values(number, each).values())
    return next((value for value in values if value is not None), None)


def _numbered_records(file: Path) -> Iterator[tuple[int, Any]]:
    """The records of a file, one at a time, with their numbers from 0."""
    ending = plain_path(file).suffix.lower()
    if ending in {".jsonl", ".ndjson"}:
        objects: Iterator[Any] = (record for _, record in numbered_objects(file, _EXPECTED))
    elif ending == ".json":
        objects = iter(_json_records(file))
    elif ending in _ENDINGS:
        objects = _table_rows(file, ending)
    else:
        raise ValueError(f"{file} is none of {', '.join(_ENDINGS)}: convert it")
    return enumerate(objects)


def _json_records(file: Path) -> list[Any]:
    """The items of a list in JSON, or the only object; some tools write lines under that name."""
    try:
        content = read_json(file, _EXPECTED)
    except UnexpectedContentError as error:
        if "Extra data" not in str(error):
            raise
        return [record for _, record in numbered_objects(file, _EXPECTED)]
    return content if isinstance(content, list) else [content]


def _table_rows(file: Path, ending: str) -> Iterator[dict[str, Any]]:
    """The rows of a table, as objects."""
    try:
        if ending == ".parquet":
            table = pl.scan_parquet(file)
        else:
            separator = "\t" if ending == ".tsv" else ","
            table = pl.scan_csv(file, separator=separator, infer_schema_length=_BATCH)
        for batch in table.collect_batches() if NESTS else [table.collect()]:
            yield from batch.iter_rows(named=True)
    except (PolarsError, *DAMAGE) as error:
        raise unexpected_content(file, _EXPECTED, first_sentence(error)) from error


def _record_files(paths: Paths, plan: _Plan) -> list[Path]:
    """The files of the log: in folders without those that a path names as files beside it."""
    sides = {match[1] for text in plan.of_file.values() if (match := _SIDE.fullmatch(text))}
    files = find_files(paths, *(f"*{ending}" for ending in _ENDINGS))
    return [f for f, named in files.items() if named or plain_path(f).name not in sides]


@dataclass(frozen=True, slots=True)
class _RowSample:
    """The first rows of a file, or all of them if they are few."""

    plan: _Plan
    constants: Mapping[str, Any]  # columns that have one value in the file
    table: pl.DataFrame
    whole: bool

    @classmethod
    def from_file(cls, file: Path, plan: _Plan) -> _RowSample:
        """Read the first rows of a file."""
        constants = {name: _file_value(file, name, text) for name, text in plan.of_file.items()}
        rows = [*islice(plan.rows(file), _BATCH + 1)]
        table = _typed_table(file, rows, dict.fromkeys(plan.of_record))
        return cls(plan, constants, table, len(rows) <= _BATCH)

    def has_value(self, name: str) -> bool:
        """Whether a column has a value."""
        if name in self.constants:
            return self.constants[name] is not None
        return self.table[name].null_count() < self.table.height

    def dtype(self, name: str) -> pl.DataType:
        """The dtype of a column."""
        if name in self.constants:
            return pl.Series([self.constants[name]]).dtype
        return self.table[name].dtype

    def run(self, file: Path) -> Run:
        """The run of the file."""
        of_file = {name: self.constants.get(name) for name in ("model", "run")}
        known = {name: str(value) for name, value in of_file.items() if value is not None}
        name = known.pop("run", plain_path(file).stem)
        return Run(name=name, keys=known)


def _sampled_rows(
    samples: Mapping[Path, _RowSample], plan: _Plan, dtypes: Mapping[str, pl.DataType]
) -> pl.LazyFrame:
    """The rows of all files, those of a large one read in batches whenever they are needed."""
    of_record = pl.Schema({name: dtypes[name] for name in plan.of_record})
    order: dict[str, Any] = {**dtypes, **RUN_COLUMNS}
    of_file = {name: dtype for name, dtype in order.items() if name not in of_record}
    frames = []
    # Small files become one table: a plan of each would cost every query 1 ms a file.
    for whole, group in groupby(samples.items(), key=lambda item: item[1].whole):
        known = dict(group)
        facts = [
            {**sample.constants, "run": sample.run(file).name, "source": shown_path(file)}
            for file, sample in known.items()
        ]
        if whole:
            tables = [sample.table for sample in known.values()]
            place = np.repeat(np.arange(len(tables)), [table.height for table in tables])
            rows = pl.concat(tables, how="vertical_relaxed").cast(of_record)
            frames.append(pl.DataFrame(facts, of_file)[place].hstack(rows).lazy())
        else:
            literals = (
                {n: pl.lit(each[n], dtype) for n, dtype in of_file.items()} for each in facts
            )
            scans = (_scan_rows(file, plan, of_record) for file in known)
            frames += [s.with_columns(**each) for s, each in zip(scans, literals, strict=True)]
    run = pl.col("run").cast(pl.String)
    return pl.concat([frame.select(*order).with_columns(run) for frame in frames])


def _scan_rows(file: Path, plan: _Plan, dtypes: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """The rows of a file, read in batches."""

    def batches(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        rows = islice(plan.rows(file), limit)
        while batch := [*islice(rows, _BATCH)]:
            yield asked_part(_typed_table(file, batch, dtypes), columns, predicate)

    if not NESTS:
        return pl.concat(batches(None, None, None, None)).lazy()
    return register_io_source(batches, schema=pl.Schema(dtypes), is_pure=True)


# For each dtype, from the narrowest on, the types of values that its columns hold.
_HELD: dict[Any, set[type]] = {
    pl.Null: set(),
    pl.Boolean: {bool},
    pl.String: {str},
    pl.Int64: {bool, int},
    pl.Float64: {bool, int, float},
}
_KINDS = {bool: "truth value", str: "text", int: "number", float: "number"}


def _typed_table(
    file: Path, rows: list[tuple[int, Row]], dtypes: Mapping[str, pl.DataType | None]
) -> pl.DataFrame:
    """A table of numbered rows; without a dtype a column gets the narrowest one that fits."""
    numbers = [number for number, _ in rows]
    columns = zip(*(row for _, row in rows), strict=True) if rows else [()] * len(dtypes)
    return pl.DataFrame(
        [
            _fitting_column(file, name, dtype, values, numbers)
            for (name, dtype), values in zip(dtypes.items(), columns, strict=True)
        ]
    )


def _fitting_column(
    file: Path, name: str, dtype: Any, values: Iterable[Any], numbers: list[int]
) -> pl.Series:
    """The values of a column; those that are neither number, text nor truth value become text."""
    plain: list[Any] = [*values]
    kinds = {*map(type, plain)} - {type(None)}
    if not kinds <= _KINDS.keys():
        if name == "category":
            number, value = next(
                (n, v) for n, v in zip(numbers, plain, strict=True) if isinstance(v, dict | list)
            )
            problem = f"{describe_content(value)} as category in record {number}: name a part of it"
            raise unexpected_content(file, _EXPECTED, problem)
        plain = [*map(_plain_value, plain)]
        kinds = {*map(type, plain)} - {type(None)}
    fitting = (each for each, held in _HELD.items() if kinds <= held)
    dtype = next(fitting, pl.String) if dtype is None else dtype
    held = _HELD[dtype if isinstance(dtype, type) else type(dtype)]
    for number, value in zip(numbers, plain, strict=True) if not kinds <= held else ():
        if value is not None and type(value) not in held:
            usual = min(_KINDS[kind] for kind in held)
            problem = f"the {name} {value!r} in record {number}, where other records have a {usual}"
            raise unexpected_content(file, _EXPECTED, problem)
    if len(kinds) > 1:  # numbers of several types, which Polars would not convert
        to_number = float if float in held else int
        plain = [None if value is None else to_number(value) for value in plain]
    try:
        return pl.Series(name, plain, dtype)
    except (PolarsError, OverflowError, TypeError) as error:
        problem = f"a {name} that fits no column of {dtype} ({first_sentence(error)})"
        raise unexpected_content(file, _EXPECTED, problem) from error


def _plain_value(value: object) -> object:
    """A value as it is if it is a number, text or truth value; otherwise as text."""
    if value is None or type(value) in _KINDS:
        return value
    return json_text(value) if isinstance(value, dict | list) else str(value)


def _telling_samples(
    samples: Mapping[Path, _RowSample], plan: _Plan, names: Collection[str]
) -> dict[Path, _RowSample]:
    """The files with questions or outcomes, of these names; a column without value is an error."""
    if not any(sample.table.height for sample in samples.values()):
        why = "has the values of where=" if plan.where else "gives a row"
        raise ValueError(f"no record of {_files_text(samples)} {why}")
    for name, text in plan.texts.items():
        if not any(sample.has_value(name) for sample in samples.values()):
            raise ValueError(
                f"{name}={text!r} has no value in {_files_text(samples)}"
                f"{_known_paths_text(next(iter(samples)), text)}"
            )
    telling = {
        file: sample for file, sample in samples.items()
        if sample.table.height and any(map(sample.has_value, names))
    }  # fmt: skip
    lines = [f"{file}: no question and no outcome, skipped" for file in samples.keys() - telling]
    for file, sample in telling.items():
        lacking = [name for name in (*plan.keys, "category") if not sample.has_value(name)]
        if lacking:
            lines.append(f"{file}: no value of {', '.join(lacking)}")
    if lines:
        warn_of_log(f"paths lead nowhere in some files:{line_list(sorted(lines))}")
    return telling


def _files_text(files: Iterable[Path]) -> str:
    """The name of the first file, and the number of the others."""
    first, *rest = files
    return f"{first}{f' and {len(rest):,} more' * bool(rest)}"


def _known_paths_text(file: Path, text: str) -> str:
    """The end of an error on a path that leads nowhere: the paths that there are."""
    record = next((record for _, record in _numbered_records(file)), None)
    known = [*dict.fromkeys(_record_paths(record, ""))]
    rest = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    return (
        f"{nearest_hint(text, known) or ':'} The paths of its first record are {known[:_LISTED]}"
        f"{rest}; a text that is the same everywhere stands in quotes, as in \"'{text}'\""
    )


def _record_paths(value: object, start: str) -> Iterator[str]:
    """The paths to plain values of a record, of lists by their first item."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _record_paths(part, f"{start}.{name}" if start else str(name))
    elif isinstance(value, list) and value:
        yield from _record_paths(value[0], f"{start}[*]")
    elif not isinstance(value, list):
        yield start


def _column_dtypes(samples: Mapping[Path, _RowSample], plan: _Plan) -> dict[str, Any]:
    """The dtype of each column over all files; numbers of a file that goes on may be fractions."""
    dtypes: dict[str, Any] = {}
    for name in plan.texts:
        sources = {sample.dtype(name): file for file, sample in samples.items()}
        sources.pop(pl.Null(), None)
        if pl.String() in sources and len(sources) > 1:
            other = next(file for dtype, file in sources.items() if dtype != pl.String())
            raise ValueError(
                f"{name} is a text in {sources[pl.String()]} and none in {other}: read them apart"
            )
        widest = max(sources, key=lambda dtype: [*_HELD].index(type(dtype)))
        goes_on = not all(sample.whole for sample in samples.values())
        fraction = goes_on and name not in plan.keys and widest == pl.Int64()
        dtypes[name] = pl.Float64() if fraction else widest
    return dtypes
