"""The logs of human-eval."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import LineFields, first_line, kept_line_fields, scan_lines
from polars_scorio.logs.kept_fields import added_columns
from polars_scorio.logs.paths import (
    Paths,
    find_files,
    joined_files,
    model_names,
    plain_path,
    read_each,
)
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader
from polars_scorio.logs.runs import Run, run_literals

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "lines of evaluate_functional_correctness with task_id, result and passed"
_SCHEMA = {"task_id": pl.String, "passed": pl.Boolean, "result": pl.String}


@log_reader
def human_eval(
    paths: Paths, *, model: str | None = None, **roles: Unpack[LogOptions]
) -> Scorio[pl.LazyFrame]:
    """Read human-eval: the <samples>.jsonl_results.jsonl of evaluate_functional_correctness.

    A program that runs out of time has failed, as human-eval counts it; the column `result` has
    "passed", "timed out" or "failed". No outcome is null. Programs have no id: ``n=`` finds files
    that contain programs twice. Columns: model, question, category, result, run (the name of the
    file), source (the file).

    Parameters
    ----------
    model
        Default: the file without `.jsonl_results.jsonl`; the folder, where that is `samples`, as
        it is by default.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.human_eval("results").pass_at_k([1, 10])  # doctest: +SKIP
    """
    on_error = roles.get("on_error", "raise")
    files = read_each(
        find_files(paths, "*_results.jsonl"),
        lambda file: first_line(file, _EXPECTED, _SCHEMA),
        on_error,
    )
    models = model_names(
        {file: _samples_place(plain_path(file)) for file in files}, model, alone=True
    )
    runs = {file: Run(name=plain_path(file).stem, keys={"model": models[file]}) for file in files}
    kept = kept_line_fields(roles.get("keep"), next(iter(files.values())), _SCHEMA)
    joined = joined_files(runs, lambda file, run: _scan_programs(file, run, kept), on_error)
    return log_accessor(*joined, roles, trial=None)


def _samples_place(file: Path) -> Path:
    """The path that is named after the model: the file, or the folder of a `samples` file."""
    stem = re.sub(r"(\.jsonl)?_results\.jsonl$", "", file.name)
    return file.parent if stem == "samples" else file.with_name(stem)


def _scan_programs(file: Path, run: Run, kept: LineFields) -> pl.LazyFrame:
    columns = {
        "model": pl.lit(run.keys["model"]),
        "question": pl.col("task_id"),
        "category": pl.col("passed"),
        # The words may be followed by the text of an exception.
        "result": pl.col("result").str.extract(r"^(passed|timed out|failed)"),
        **run_literals(file, run),
    }
    return scan_lines(file, _EXPECTED, kept.schema, added_columns(columns, kept.columns))
