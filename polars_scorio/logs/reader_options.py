"""The last step of every reader: from its table to an accessor with roles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import OnError
from polars_scorio.counting.coverage import warn_of_log
from polars_scorio.counting.roles import Column, RunEffects
from polars_scorio.logs.json_files import (
    FileRows,
    Rows,
    describe_content,
    errors_name_file,
    kept_part,
    read_json,
    run_table,
    unexpected_content,
    with_kept,
)
from polars_scorio.logs.kept_fields import Getter, Vocabulary, kept_getters
from polars_scorio.logs.paths import (
    Paths,
    UnexpectedContentError,
    find_files,
    model_names,
    plain_path,
    read_each,
    warn_of_left_out,
)
from polars_scorio.logs.read import check_values, is_unusable, tool_hint
from polars_scorio.logs.runs import (
    RUN_COLUMNS,
    Retries,
    Run,
    Runs,
    Totals,
    kept_attempts,
    last_attempts,
    line_list,
    refuse_merged_runs,
    run_columns,
    shown_path,
    totals_frame,
    warn_of_totals,
    with_settings,
)
from polars_scorio.signatures import (
    FunctionT,
    Keyword,
    Option,
    entries_of,
    extended_entry,
    option_keywords,
    sections_of,
    with_signature,
)
from polars_scorio.study.request import InferenceOptions, RoleOptions, SharedRoles

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack  # noqa: PLC0414 - readers import it from here
else:  # only annotations name it
    Unpack = None

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)

# Help that all readers share; each reader adds to it.
_PARAMETERS = {
    "paths": """paths : str, path or iterable of them
    Files, folders that hold them at any depth, or globs.""",
    "threshold": """threshold : float, optional
    A score of at least this number is a success.""",
    "roles": """**roles
    Roles, as in ``df.scorio(...)``, such as ``missing=0``; they replace those of the reader.""",
}
_RETURNS = "Scorio\n    The accessor of the log, whose table is `frame`."
_MISSING = "FileNotFoundError\n    If there is no such file."
_WRONG = "ValueError\n    If a file is empty, broken off, or of another tool or version."


class ReadOptions(TypedDict, total=False):
    """The keywords of how files are read, which all readers have."""

    on_error: Annotated[
        OnError,
        Option(
            "raise",
            """Whether a file that cannot be read is an error, the default, or is left out with a
            `LogWarning`.""",
        ),
    ]
    keep: Annotated[
        str | Iterable[str] | None,
        Option(
            None,
            """Fields of the log to add as columns, such as ``["metadata.level", "usd"]``; points
            lead into objects. Costs are `usd`, `input_tokens`, `output_tokens` and `seconds`, if
            the tool logs them; the role ``cost="usd"`` adds its column by itself.""",
        ),
    ]
    retries: Annotated[
        Retries,
        Option(
            "error",
            """Which attempt counts if a run was repeated as a retry. Default: an error.""",
        ),
    ]


class ToolOptions(ReadOptions, total=False):
    """The keywords of how files of tools are read; `records` has a path to the model."""

    model: Annotated[
        str | None,
        Option(
            None,
            """Name of the model of all files, or a pattern with one group in parentheses that finds
            the name in their paths.""",
        ),
    ]


class SharedOptions(SharedRoles, InferenceOptions, ReadOptions, total=False):
    """Keywords of all readers and of `records`, where `run` and `trial` are paths."""


class LogOptions(SharedOptions, ToolOptions, total=False):
    """Keywords of all readers of tools; roles replace those that the reader sets."""

    run: Column | None
    trial: Column | None
    run_effects: RunEffects | None


def log_reader(function: FunctionT) -> FunctionT:
    """A reader of logs with full help, which refuses unknown keywords before it reads a file."""
    written = signature(function)
    shared = option_keywords(ReadOptions if "model" in written.parameters else ToolOptions)
    public = _signature_with(written, shared)
    raised = entries_of(sections_of(function.__doc__ or "")[1].get("Raises", ""))
    wrong = extended_entry(_WRONG, raised.pop("ValueError", ""))
    raises = "\n".join([_MISSING, *raised.values(), wrong])
    entries = _PARAMETERS | {name: entry for name, (_, entry) in shared.items()}
    roles = sorted(LogOptions.__optional_keys__ - {*shared})
    hinting, sections = _with_other_tools(function), {"Returns": _RETURNS, "Raises": raises}
    return with_signature(hinting, public, function.__doc__, entries, roles, **sections)


def _with_other_tools(function: FunctionT) -> FunctionT:
    """The reader, whose errors on unknown files name the tools that they look like."""

    @wraps(function)
    def hinting(paths: Paths, *arguments: object, **given: object) -> object:
        check_values(given)
        try:
            return function(paths, *arguments, **_with_kept_cost(given))
        except (UnexpectedContentError, FileNotFoundError) as error:
            hint = tool_hint(paths, function.__name__)
            if not hint:
                raise
            raise type(error)(f"{error}. {hint}") from error

    return cast("FunctionT", hinting)


def _with_kept_cost(given: Mapping[str, object]) -> Mapping[str, object]:
    """The keywords of a reader, of which `keep` has the fields that `cost` names.

    >>> _with_kept_cost({"cost": "usd", "keep": "seconds"})
    {'cost': 'usd', 'keep': ['seconds', 'usd']}
    """
    cost, keep = given.get("cost"), given.get("keep")
    if not isinstance(cost, str | pl.Expr) or not isinstance(keep, str | Iterable | None):
        return given
    costs = {name: name for name in _column_names(cost)}
    if isinstance(keep, Mapping):
        return {**given, "keep": {**costs, **keep}}
    kept = [keep] if isinstance(keep, str) else [*(keep or ())]
    return {**given, "keep": [*dict.fromkeys([*kept, *costs])]}


def _signature_with(written: Signature, shared: Mapping[str, Keyword]) -> Signature:
    """The signature of a reader with shared keywords: `model` before its own, the others after."""
    parameters = [*(each for each, _ in shared.values()), *written.parameters.values()]
    last = ReadOptions.__optional_keys__
    parameters.sort(key=lambda each: (each.kind, each.name in last))
    return written.replace(parameters=parameters)


def log_accessor(
    frame: FrameT, runs: Runs, given: SharedOptions, **roles: Unpack[RoleOptions]
) -> Scorio[FrameT]:
    """The accessor of a table (with `run` and `source`), in which no runs become one."""
    # The trials of a file are of one run, unless a reader says that trials are runs (``run=None``).
    # Warns where a tool planned or reported something else than the rows hold.
    of_user = {k: v for k, v in given.items() if k not in ToolOptions.__optional_keys__}
    # Runs that no user named are tested by `check`, and numbers are about these runs.
    unsaid: RoleOptions = {"run": "run", "run_effects": "own" if "run" in of_user else "none"}
    both: RoleOptions = cast("RoleOptions", {**unsaid, **roles, **of_user})
    retries = given.get("retries", "error")
    strata: list[str] = _column_names(both.get("by"))
    if "run" in strata and "run" not in of_user:
        both["run"] = None  # a column has one role
    skipped = {file: run for file, run in runs.items() if run.stopped_empty}
    runs = {file: run for file, run in runs.items() if file not in skipped}
    refuse_merged_runs(runs, strata, retries)
    if absent := kept_getters(given.get("keep")).keys() - {*frame.lazy().collect_schema()}:
        raise ValueError(f"this reader cannot keep {sorted(absent)}: its logs have no such fields")
    frame = frame.select(pl.exclude(*RUN_COLUMNS), *RUN_COLUMNS)
    frame = with_settings(
        frame,
        runs,
        [*strata, *_column_names(both.get("cluster"))],
    )
    if retries != "error":
        frame = kept_attempts(frame, runs, _trial_columns(both), retries)
    lines = [f"{shown_path(file)}: {run.stopped_empty}" for file, run in skipped.items()]
    if lines:
        warn_of_log(
            f"runs that were stopped before their first trial are skipped:{line_list(lines)}"
        )
    return Scorio(frame, tool_totals=_checked_totals(runs, retries, strata, lines))(**both)


@dataclass(frozen=True, slots=True)
class LogRows:
    """The rows of all files of a log, which become its table once each file has a model."""

    parts: Mapping[Path, FileRows]
    keep: Mapping[str, Getter]
    expected: str
    roles: LogOptions
    models: Mapping[Path, str] = field(default_factory=dict)
    skipped: Mapping[Path, Run] = field(default_factory=dict)  # stopped before their first trial

    def named(
        self,
        place: Callable[[Path], Path],
        known: Callable[[Path, FileRows, str], str | None] | None = None,
        *,
        alone: bool = False,
    ) -> LogRows:
        """The rows with models: that of the user, the one the log knows, or the name of a place."""
        # The log knows the model of a run, or what `known` makes of a file, its rows and that name;
        # see `model_names` for `alone`.
        model = self.roles.get("model")
        models = model_names({f: place(plain_path(f)) for f in self.parts}, model, alone=alone)
        if model is None:
            known = known or (lambda _, part, __: cast("str | None", part.run.keys.get("model")))
            models |= {f: known(f, part, models[f]) or models[f] for f, part in self.parts.items()}
        return replace(self, models=models)

    def runs(self) -> dict[Path, Run]:
        """The run of each file, with the model that it is read as, and the skipped runs."""
        known = {file: part.run for file, part in self.parts.items()}
        for file, model in self.models.items():
            keys = {"model": "", **known[file].keys} | {"model": model}
            known[file] = replace(known[file], keys=keys)
        return {**known, **self.skipped}

    def with_totals(
        self,
        group: Callable[[Path, FileRows], object],
        totals: Callable[[Sequence[Path]], tuple[Totals, ...]],
    ) -> LogRows:
        """The rows, of which the first file of each group has the totals of all its files."""
        groups = defaultdict(list)
        for file, part in self.parts.items():
            groups[group(file, part)].append(file)
        known = {files[0]: totals(files) for files in groups.values()}
        parts = {
            file: replace(part, run=replace(part.run, totals=known.get(file, ())))
            for file, part in self.parts.items()
        }
        return replace(self, parts=parts)

    def table(self, columns: Mapping[str, Any], outcome: pl.Expr | None = None) -> pl.DataFrame:
        """The table; an expression of the outcome is its column `category`, after `trial`."""
        table = run_table(self.parts, self.runs(), columns, self.expected)
        if outcome is not None:
            category = table.select(category=outcome).to_series()
            table.insert_column(table.columns.index("trial") + 1, category)
        return with_kept(table, self.parts, self.keep)

    def accessor(
        self,
        columns: Mapping[str, Any],
        outcome: pl.Expr | None = None,
        **roles: Unpack[RoleOptions],
    ) -> Scorio[pl.DataFrame]:
        """The accessor of the table."""
        return log_accessor(self.table(columns, outcome), self.runs(), self.roles, **roles)


def read_rows(
    paths: Paths,
    patterns: tuple[str, ...],
    expected: str,
    rows: Rows,
    roles: LogOptions,
    words: Vocabulary | None = None,
    *,
    skip_below: bool = False,
) -> LogRows:
    """The rows of the JSON files of a tool."""
    # Files of another kind are passed over, unless the user named them or there is no other. With
    # `skip_below` folders below a file with rows stay unopened.
    keep, left_out = kept_getters(roles.get("keep"), words), list[str]()
    files = find_files(paths, *patterns, left_out=left_out)
    strangers: list[ValueError] = []
    runs = set[Path]()

    def read(file: Path) -> FileRows | None:
        if skip_below and not files[file] and runs.intersection(file.parent.parents):
            return None
        content = read_json(file, expected)
        with errors_name_file(file, expected):
            part = rows(file, content)
        if part is None:
            described = describe_content(content)
            strangers.append(unexpected_content(file, expected, described))
            if files[file]:
                raise strangers[-1]
            if is_unusable(file, content, patterns):
                left_out.append(f"{file}: {described}")
            return None
        if not part.rows and not part.run.stopped_empty:
            raise unexpected_content(file, expected, "no trial")
        runs.add(file.parent)
        return kept_part(part, keep)

    upper_first = sorted(files, key=lambda file: len(file.parts))
    parts = read_each(upper_first, read, roles)
    known = {file: part for file in files if (part := parts.get(file)) is not None}
    if not known:
        raise strangers[0]
    warn_of_left_out(left_out)
    return _known_rows(known, keep, expected, roles)


def read_row_files(
    files: Iterable[Path],
    expected: str,
    read: Callable[[Path], FileRows],
    roles: LogOptions,
    words: Vocabulary | None = None,
) -> LogRows:
    """The rows of files that a reader opens itself."""
    keep = kept_getters(roles.get("keep"), words)

    def checked(file: Path) -> FileRows:
        with errors_name_file(file, expected):
            return kept_part(read(file), keep)

    return _known_rows(read_each(files, checked, roles), keep, expected, roles)


def _known_rows(
    parts: Mapping[Path, FileRows], keep: Mapping[str, Getter], expected: str, roles: LogOptions
) -> LogRows:
    """The rows of a log without the runs that were stopped before their first trial."""
    skipped = {file: part.run for file, part in parts.items() if part.run.stopped_empty}
    known = {file: part for file, part in parts.items() if file not in skipped}
    if not known:
        file, run = next(iter(skipped.items()))
        problem = f"a run without a trial, whose status is {run.stopped_empty!r}"
        raise unexpected_content(file, expected, problem)
    return LogRows(known, keep, expected, roles, skipped=skipped)


def _checked_totals(
    runs: Runs, retries: Retries, strata: list[str], skipped: list[str]
) -> pl.DataFrame | None:
    """Totals of the runs that count, after a warning of those that differ from the rows."""
    files = runs if retries == "error" else last_attempts(runs)
    counted = [(file, totals) for file in files for totals in runs[file].totals]
    # Files that are read lazily are counted as they are read, and warn at their end.
    warn_of_totals((file, totals) for file, totals in counted if totals.read is not None)
    frame = totals_frame(
        ((run_columns(file, runs[file]), totals) for file, totals in counted), skipped
    )
    return None if frame is None else with_settings(frame, runs, strata)


def _column_names(columns: Column | Iterable[Column] | None) -> list[str]:
    """The names of columns; of an expression, of all that it reads."""
    if columns is None or isinstance(columns, str):
        return [] if columns is None else [columns]
    if isinstance(columns, pl.Expr):
        return columns.meta.root_names()
    return [name for column in columns for name in _column_names(column)]


def _trial_columns(roles: RoleOptions) -> list[str]:
    """The columns that identify a trial."""
    trial = roles.get("trial", "trial")
    if trial is None:
        raise ValueError(
            "retries= needs trial ids, which these logs do not have: read only the attempts that "
            "count"
        )
    keys = *_column_names(roles.get("by")), *_column_names(roles.get("model", "model"))
    return [*keys, "question", *_column_names(trial)]


def reward_outcome(threshold: float | None, reward: str = "reward") -> pl.Expr:
    """The rewards, or whether they reach a threshold; NaN and infinities are null."""
    number = finite_or_null(pl.col(reward).cast(pl.Float64))
    return number if threshold is None else number >= threshold


def log_columns(*names: str, **dtypes: Any) -> dict[str, Any]:
    """Dtypes of the named columns: texts, but for rewards, scores and those in `dtypes`.

    >>> log_columns("question", "trial", "score", trial=pl.Int64)
    {'question': String, 'trial': Int64, 'score': Float64}
    """
    usual = {name: pl.Float64 if name in {"reward", "score"} else pl.String for name in names}
    return usual | dtypes


# The columns of tools whose outcome is a number or a word.
SCORES_OR_LABELS = log_columns("question", "trial", "score", "label", "error")


def labels_or_scores(log: LogRows, threshold: float | None) -> pl.Expr:
    """The labels if there are any, else the scores, of rows with `SCORES_OR_LABELS`."""
    place = [*SCORES_OR_LABELS].index("label")
    labelled = any(row[place] is not None for part in log.parts.values() for row in part.rows)
    return pl.col("label") if labelled else reward_outcome(threshold, "score")


def warn_of_unjudged(table: pl.DataFrame, reason: str) -> None:
    """Warn of the trials of each model without an outcome, counted by the column of the reason."""
    nulls = table.filter(pl.col("category").is_null()).group_by("model", reason).len()
    causes = defaultdict[str, dict[str, int]](dict)
    order = nulls.sort("len", reason, descending=[True, False], nulls_last=True)
    for model, why, count in order.rows():
        causes[model][why or "without a reason"] = count
    trials = dict(table["model"].value_counts().rows())
    lines = [
        f"{model}: {sum(counts.values()):,} of {trials[model]:,} trial{'s' * (trials[model] > 1)} "
        f"({', '.join(f'{count:,} {why}' for why, count in counts.items())})"
        for model, counts in sorted(causes.items())
    ]
    if lines:
        total = int(nulls["len"].sum())
        head = f"{total:,} trials have" if total > 1 else "1 trial has"
        warn_of_log(f"{head} no outcome: missing= says what they count as{line_list(lines)}")


def finite_or_null(number: pl.Expr) -> pl.Expr:
    """The numbers; NaN and infinities, which stand for numbers not computed, are null."""
    return pl.when(number.is_finite()).then(number)
