"""The logs of lighteval."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.files import parquet_columns, scan_table
from polars_scorio.logs.json_files import errors_name_file, read_json, unexpected_content
from polars_scorio.logs.paths import (
    Paths,
    find_files,
    joined_files,
    model_names,
    read_each,
    side_file,
)
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_accessor, log_reader
from polars_scorio.logs.runs import Run, run_literals, run_settings, trials_of_means

_EXPECTED = "details_<task>_<date>.parquet of lighteval, with doc, metric and model_response"

_SIDE = "results_<date>.json of lighteval: an object with config_general"
# Settings in which runs of one model may differ, of config_general.
SETTINGS = (
    "max_samples",
    "model_config.generation_parameters",
    "model_config.system_prompt",
    "model_config.revision",
)


@log_reader
def lighteval(
    paths: Paths,
    *,
    metric: str | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.LazyFrame]:
    """Read lighteval: details/<model>/<date>/details_<task>_<date>.parquet of ``--save-details``.

    Of a metric over n answers, such as "pass@k:k=1&n=16" or "avg@n:n=16", the log keeps only the
    mean: it becomes n trials. If the list of answers is shorter than n, the outcome of the others
    is null; lighteval counts them as wrong. Columns: model, benchmark (the task, which is `by`),
    question, trial (the run's date), category, run, source (the file).

    Parameters
    ----------
    model
        Default: the folders below `details`.
    metric : str, optional
        Which metric, as in ``metric="pass@k:k=1&n=16"``. Default: the only one there is.

    Raises
    ------
    ValueError
        If it has no such metric, or several.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.lighteval("details", metric="pass@k:k=1&n=16").pass_at_k([1, 8])  # doctest: +SKIP
    """
    files = [*find_files(paths, "details_*.parquet")]
    chosen = read_each(files, lambda file: _chosen_metric(file, metric), roles)
    places = {file: file.parent.parent for file in chosen}
    models = model_names(
        places,
        roles.get("model"),
        parts={place: _below_details(place) for place in places.values()},
    )
    runs = read_each(chosen, lambda file: _details_run(file, models[file]), roles)

    def scan(file: Path, run: Run) -> pl.LazyFrame:
        return _answer_trials(file, run, chosen[file], roles.get("keep"))

    joined = joined_files(runs, scan, roles)
    return log_accessor(*joined, roles, by="benchmark")


def _below_details(place: Path) -> int:
    """The number of folders that make up the name of the model, which may have a slash."""
    folders = place.parts[::-1]
    return folders.index("details") if "details" in folders else 1


def _details_run(file: Path, model: str) -> Run:
    """The run of a file, with the settings that its results say."""
    date = file.parent.name
    known = _details_configuration(file)
    settings = run_settings(known, SETTINGS) if known else {}
    return Run(name=date, keys={"model": model}, started=date, settings=settings)


def _details_configuration(file: Path) -> dict[str, Any]:
    """The configuration of a run, in `results` as its details in `details`; or empty."""
    *above, date, _ = file.parts
    if "details" not in above:
        return {}
    place = len(above) - above[::-1].index("details")
    results = Path(*above[: place - 1], "results", *above[place:], "results.json")
    side = side_file(results, f"results_{date}.json")
    with errors_name_file(side, _SIDE):
        return dict(read_json(side, _SIDE)["config_general"]) if side.exists() else {}


def _chosen_metric(file: Path, metric: str | None) -> str:
    """The metric to read: the one that the user named, or the only one of the file."""
    schema = parquet_columns(file, _EXPECTED)
    described = schema.get("metric")
    if not isinstance(described, pl.Struct) or not {"doc", "model_response"} <= {*schema}:
        raise unexpected_content(file, _EXPECTED, f"the columns {schema.names()}")
    metrics = [field.name for field in described.fields]
    if metric not in metrics and (metric is not None or len(metrics) > 1):
        asked = "" if metric is None else f" and not {metric!r}"
        raise ValueError(f"{file} has the metrics {metrics}{asked}: name one with metric=")
    return metric or metrics[0]


def _answer_trials(
    file: Path, run: Run, metric: str, keep: str | Iterable[str] | None
) -> pl.LazyFrame:
    samples = re.search(r"\bn=(\d+)", metric)
    asked = int(samples[1]) if samples else 1
    texts = pl.col("model_response").struct.field("text").list.len().cast(pl.Int64)
    columns = {
        "benchmark": pl.col("doc").struct.field("task_name"),
        "question": pl.col("doc").struct.field("id").cast(pl.String),
        "trial": pl.lit(run.name),
        "asked": pl.lit(asked, pl.Int64),
        "answered": pl.min_horizontal(texts, asked) if samples else pl.lit(1, pl.Int64),
        "mean": pl.col("metric").struct.field(metric).cast(pl.Float64),
    }
    return trials_of_means(scan_table(file, run_literals(file, run) | columns, keep), metric)
