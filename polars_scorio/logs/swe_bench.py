"""The logs of SWE-bench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.compressed_files import plain_path
from polars_scorio.logs.json_files import FileRows, Row, model_runs, model_table, rows_by_file
from polars_scorio.logs.paths import Paths, model_names
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader
from polars_scorio.logs.runs import RUN_COLUMNS, Run

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "a report of swebench.harness.run_evaluation: an object with 'resolved_ids'"
_COLUMNS = {"question": pl.String, "trial": pl.String, "outcome": pl.String}
# The first list with an instance decides: an instance may be in several.
_OUTCOMES = "resolved", "unresolved", "empty_patch", "error", "incomplete"
_VERDICTS = {"resolved": True, "unresolved": False, "empty_patch": False}


@log_reader
def swe_bench(
    paths: Paths, *, model: str | None = None, **roles: Unpack[LogOptions]
) -> Scorio[pl.DataFrame]:
    """SWE-bench: the reports <model>.<run_id>.json of swebench.harness.run_evaluation, one a run.

    An empty patch resolves nothing. The outcome is null where the evaluation failed, or the
    instance was not submitted (a partial run): SWE-bench divides by all instances, so that
    ``missing=0`` gives its numbers; ``missing="drop", unscored="drop"`` are about what was judged.
    Columns: model, question, trial (the run), category, outcome, run, source (the file).

    Parameters
    ----------
    model
        Default: what precedes the last dot of the file's name, with its folders where reports of
        several folders share it.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.swe_bench("reports", missing=0).pass_at_k(1)  # doctest: +SKIP
    """
    on_error = roles.get("on_error", "raise")
    parts = rows_by_file(paths, ("*.*.json",), _EXPECTED, _instance_verdicts, on_error=on_error)
    # Names of models have dots (gpt-4.1): the run follows the last dot.
    models = model_names({file: file.with_name(_model_and_run(file)[0]) for file in parts}, model)
    category = pl.col("outcome").replace_strict(_VERDICTS, default=None, return_dtype=pl.Boolean)
    frame = model_table(parts, models, _COLUMNS, _EXPECTED).with_columns(category=category)
    columns = ["model", "question", "trial", "category", "outcome", *RUN_COLUMNS]
    return log_accessor(frame.select(columns), model_runs(parts, models), roles)


def _model_and_run(file: Path) -> tuple[str, str]:
    """Model and run of a file name; one without a dot is a model's only run."""
    name, dot, run = plain_path(file).stem.rpartition(".")
    return (name, run) if dot else (run, "")


def _instance_verdicts(file: Path, report: Any) -> FileRows | None:  # noqa: ANN401 - JSON
    if not isinstance(report, dict) or "resolved_ids" not in report:
        return None
    outcomes: dict[str, str] = {}
    for outcome in _OUTCOMES:
        for instance in report.get(f"{outcome}_ids", ()):
            outcomes.setdefault(instance, outcome)
    run = _model_and_run(file)[1]
    rows: list[Row] = [(instance, run, outcome) for instance, outcome in outcomes.items()]
    return FileRows(rows, Run(name=run))
