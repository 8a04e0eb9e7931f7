"""The logs of tau-bench."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.roles import NOISE
from polars_scorio.logs.json_files import FileRows, Row
from polars_scorio.logs.paths import Paths, plain_path
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_reader, read_rows
from polars_scorio.logs.runs import Run, run_settings

_EXPECTED = "a file of tau-bench's run.py: a JSON list of objects with task_id, trial and reward"
# Settings in which runs of one model may differ, in the name of the file.
SETTINGS = ("strategy", "temperature", "user")
_NAME = re.compile(
    r"(?P<strategy>tool-calling|act|react|few-shot)-.+-(?P<temperature>[\d.]+)"
    r"_range_-?\d+--?\d+_user-(?P<user>.+)_\d+\.json$"
)
_COLUMNS = {"question": pl.Int64, "trial": pl.Int64, "reward": pl.Float64, "error": pl.String}


@log_reader
def tau_bench(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.DataFrame]:
    """Read tau-bench: the files of its run.py, and those in its folder historical_trajectories.

    JSON lists of objects with task_id, trial, reward and info. A reward within 1e-6 of 1 is a
    success. The outcome is null if the trial crashed (info.error) or its reward is no finite
    number: tau-bench counts both as failures, so that ``missing=0`` gives its numbers. Columns:
    model, question, trial, category, reward, error, run (the name of the file), source (the file).

    Parameters
    ----------
    model
        Default: the name of the file, or of its folders where files share theirs.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.tau_bench("historical_trajectories").pass_hat_k([1, 4])  # doctest: +SKIP
    """
    log = read_rows(paths, ("*.json",), _EXPECTED, _task_rows, roles)
    log = log.named(lambda file: file.with_suffix(""), alone=True)
    success = (pl.col("reward") - 1).abs() <= NOISE
    # tau-bench writes the reward 0.0 for a crash too: only the field error shows it.
    category = pl.when(pl.col("error").is_null(), pl.col("reward").is_finite()).then(success)
    return log.accessor(_COLUMNS, category, run=None)


def _task_rows(file: Path, runs: Any) -> FileRows | None:
    """The trials of a file; None for files of another kind."""
    if not (isinstance(runs, list) and all(isinstance(run, dict) for run in runs)):
        return None
    if runs and "task_id" not in runs[0]:
        return None
    rows: list[Row] = [
        (run["task_id"], run["trial"], run["reward"], (run.get("info") or {}).get("error"))
        for run in runs
    ]
    described = _NAME.match(plain_path(file).name)
    settings = run_settings(described.groupdict(), SETTINGS) if described else {}
    return FileRows(rows, Run(name=plain_path(file).stem, settings=settings), runs)
