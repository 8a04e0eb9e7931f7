"""The logs of Terminal-Bench 1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import FileRows, Row, side_object
from polars_scorio.logs.kept_fields import Vocabulary, time_between
from polars_scorio.logs.paths import Paths, side_file
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_reader,
    read_rows,
    warn_of_unjudged,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

_EXPECTED = "results.json of a run of Terminal-Bench 1: an object with the list 'results'"
_SIDE = "run_metadata.json of Terminal-Bench 1: an object with agent_name and model_name"
# Settings in which runs of one model may differ.
SETTINGS = ("dataset_name", "dataset_version", "agent_kwargs")
_COLUMNS = {"question": pl.String, "trial": pl.String, "category": pl.Boolean, "failure": pl.String}
# Failures that are not the model's: the tests run all the same, and find nothing resolved.
_OF_THE_HARNESS = {"agent_installation_failed", "unknown_agent_error"}

_VOCABULARY: Vocabulary = {
    "input_tokens": "total_input_tokens",
    "output_tokens": "total_output_tokens",
    "seconds": time_between("agent_started_at", "agent_ended_at"),
}


@log_reader
def terminal_bench(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.DataFrame]:
    """Read Terminal-Bench 1: the results.json (or <date>_results.json) of a run.

    Files below the folder of a run, such as the results.json of single trials, are not opened. The
    outcome is null where the tests gave no verdict, or found nothing resolved because the agent was
    not installed or broke down (`failure` is agent_installation_failed or unknown_agent_error); a
    warning lists these trials. Terminal-Bench counts them as unresolved, so that ``missing=0``
    gives its numbers. In `describe`, `planned` is tasks x `n_attempts` of `run_metadata.json` and
    `reported` is `accuracy`. Columns: model, question, trial, category, failure, run, source (the
    file). For Terminal-Bench 2 see `harbor`.

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
    patterns = "results.json", "*_results.json"
    log = read_rows(paths, patterns, _EXPECTED, _result_rows, roles, _VOCABULARY, skip_below=True)
    log = log.named(lambda file: file.parent)
    table = log.table(_COLUMNS)
    accessor = log_accessor(table, log.runs(), roles)
    warn_of_unjudged(table, "failure")
    return accessor


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


def _trial_verdict(trial: Mapping[str, Any]) -> object:
    """Whether a trial is resolved; None if that is not the model's doing."""
    resolved = trial["is_resolved"]
    return None if not resolved and trial.get("failure_mode") in _OF_THE_HARNESS else resolved


def _result_rows(file: Path, run: Any) -> FileRows | None:
    """The trials of a run; None for files of another kind."""
    if not isinstance(run, dict) or not isinstance(run.get("results"), list):
        return None
    rows: list[Row] = [
        (trial["task_id"], trial["trial_name"], _trial_verdict(trial), trial.get("failure_mode"))
        for trial in run["results"]
    ]
    metadata = side_object(side_file(file, "run_metadata.json"), _SIDE)
    agent, llm = metadata.get("agent_name"), metadata.get("model_name")
    described = Run(
        name=str(metadata.get("run_id", file.parent.name)),
        keys={"model": f"{agent} / {llm}" if agent and llm else None},
        identity=metadata.get("uuid"),
        started=metadata.get("start_time"),
        settings=run_settings(metadata, SETTINGS) if metadata else {},
        totals=(_run_totals(run, metadata, rows),),
    )
    return FileRows(rows, described, run["results"])
