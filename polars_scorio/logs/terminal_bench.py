"""The logs of Terminal-Bench 1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.compressed_files import side_file
from polars_scorio.logs.json_files import (
    Row,
    errors_name_file,
    model_table,
    read_json,
    rows_by_file,
)
from polars_scorio.logs.paths import Paths, model_names
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "results.json of a run of Terminal-Bench 1: an object with the list 'results'"
_SIDE = "run_metadata.json of Terminal-Bench 1: an object with agent_name and model_name"
_COLUMNS = {
    "question": pl.String,
    "trial": pl.String,
    "category": pl.Boolean,
    "failure": pl.String,
}


@log_reader
def terminal_bench(
    paths: Paths, *, model: str | None = None, **roles: Unpack[LogOptions]
) -> Scorio[pl.DataFrame]:
    """Terminal-Bench 1: the results.json (or <date>_results.json) of a run.

    The results.json of single trials, which lie below that of the run, are passed over. The outcome
    is null where the tests gave no verdict: Terminal-Bench counts it as unresolved, so that
    ``missing=0`` gives its numbers. Columns: model, question, trial, category, failure. For
    Terminal-Bench 2 see `harbor`.

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
    runs = rows_by_file(paths, ("results.json", "*_results.json"), _EXPECTED, _result_rows)
    models = model_names({file: file.parent for file in runs}, model)
    if model is None:
        models.update({file: name for file in runs if (name := _agent_and_model(file)) is not None})
    return log_accessor(model_table(runs, models, _COLUMNS, _EXPECTED), roles)


def _agent_and_model(file: Path) -> str | None:
    """Agent and model, if the side file has both."""
    side = side_file(file, "run_metadata.json")
    if not side.exists():
        return None
    with errors_name_file(side, _SIDE):
        run = read_json(side, _SIDE)
        player = run.get("agent_name"), run.get("model_name")
    return " / ".join(player) if all(player) else None


def _result_rows(_: Path, run: Any) -> list[Row] | None:  # noqa: ANN401 - JSON
    if not isinstance(run, dict) or not isinstance(run.get("results"), list):
        return None
    return [
        (trial["task_id"], trial["trial_name"], trial["is_resolved"], trial.get("failure_mode"))
        for trial in run["results"]
    ]
