"""The logs of Terminal-Bench 1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    model_runs,
    model_table,
    read_json,
    rows_by_file,
    with_kept,
)
from polars_scorio.logs.kept_fields import Vocabulary, kept_getters, time_between
from polars_scorio.logs.paths import Paths, model_names, side_file
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "results.json of a run of Terminal-Bench 1: an object with the list 'results'"
_METADATA = "run_metadata.json"
_SIDE = "run_metadata.json of Terminal-Bench 1: an object with agent_name and model_name"
# Settings in which runs of one model may differ.
SETTINGS = ("dataset_name", "dataset_version", "agent_kwargs")
_COLUMNS = {
    "question": pl.String,
    "trial": pl.String,
    "category": pl.Boolean,
    "failure": pl.String,
}

_VOCABULARY: Vocabulary = {
    "input_tokens": "total_input_tokens",
    "output_tokens": "total_output_tokens",
    "seconds": time_between("agent_started_at", "agent_ended_at"),
}


@log_reader
def terminal_bench(
    paths: Paths, *, model: str | None = None, **roles: Unpack[LogOptions]
) -> Scorio[pl.DataFrame]:
    """Read Terminal-Bench 1: the results.json (or <date>_results.json) of a run.

    Files below the folder of a run, such as the results.json of single trials, are not opened. The
    outcome is null where the tests gave no verdict: Terminal-Bench counts it as unresolved, so that
    ``missing=0`` gives its numbers. Columns: model, question, trial, category, failure, run, source
    (the file). For Terminal-Bench 2 see `harbor`.

    Parameters
    ----------
    model
        Default: "agent / model" of the run_metadata.json beside it; where that is missing, or
        leaves one of them open, the folder.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.terminal_bench("runs", missing=0).pass_at_k([1, 5])  # doctest: +SKIP
    """
    keep = kept_getters(roles.get("keep"), _VOCABULARY)
    parts = rows_by_file(
        paths,
        ("results.json", "*_results.json"),
        _EXPECTED,
        _result_rows,
        on_error=roles.get("on_error", "raise"),
        keep=keep,
        skip_below=True,
    )
    models = model_names({file: file.parent for file in parts}, model)
    if model is None:
        models |= {file: name for file in parts if (name := _agent_and_model(file)) is not None}
    frame = model_table(parts, models, _COLUMNS, _EXPECTED)
    return log_accessor(with_kept(frame, parts, keep), model_runs(parts, models), roles)


def _agent_and_model(file: Path) -> str | None:
    """Agent and model of a run; None unless its description has both."""
    run = _run_metadata(file)
    agent, llm = run.get("agent_name"), run.get("model_name")
    return f"{agent} / {llm}" if agent and llm else None


def _run_metadata(file: Path) -> dict[str, Any]:
    """The description beside the results of a run; empty if there is none."""
    side = side_file(file, _METADATA)
    if not side.exists():
        return {}
    with errors_name_file(side, _SIDE):
        return dict(read_json(side, _SIDE))


def _run_totals(run: Mapping[str, Any], metadata: Mapping[str, Any], rows: list[Row]) -> Totals:
    """Totals of a run; Terminal-Bench counts a trial without a verdict as unresolved."""
    tasks = len(metadata.get("task_ids") or ()) or metadata.get("dataset_size")
    attempts = metadata.get("n_attempts")
    return Totals(
        planned=tasks * attempts if tasks and attempts else None,
        reported=run.get("accuracy"),
        read=len(rows),
        score=mean_or_none(float(bool(row[2])) for row in rows),
    )


def _result_rows(file: Path, run: Any) -> FileRows | None:
    """The trials of a run; None for files of another kind."""
    if not isinstance(run, dict) or not isinstance(run.get("results"), list):
        return None
    rows: list[Row] = [
        (trial["task_id"], trial["trial_name"], trial["is_resolved"], trial.get("failure_mode"))
        for trial in run["results"]
    ]
    metadata = _run_metadata(file)
    described = Run(
        name=str(metadata.get("run_id", file.parent.name)),
        identity=metadata.get("uuid"),
        started=metadata.get("start_time"),
        settings=run_settings(metadata, SETTINGS) if metadata else {},
        totals=(_run_totals(run, metadata, rows),),
    )
    return FileRows(rows, described, run["results"])
