"""The logs of Every Eval Ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    LineSchema,
    LineVocabulary,
    errors_name_file,
    kept_line_fields,
    read_first_lines,
    read_json,
)
from polars_scorio.logs.kept_fields import text_number
from polars_scorio.logs.paths import (
    Paths,
    joined_files,
    path_model,
    plain_path,
    read_each,
    side_file,
)
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_reader,
    reward_outcome,
)
from polars_scorio.logs.runs import RowTally, Run, Totals, run_settings

_EXPECTED = "instance-level lines of Every Eval Ever, with model_id, sample_id and evaluation"
_SIDE = "a summary of Every Eval Ever: an object with the list 'evaluation_results'"
# Settings in which runs of one model may differ, in the results of the summary.
SETTINGS = ("generation_config.generation_args", "generation_config.additional_details")
_MEANS = "accuracy", "avg", "exact_match", "mean", "pass_rate"  # metrics that are means
_NEEDS = "model_id", "evaluation_name", "sample_id", "evaluation"
_SCHEMA: LineSchema = {
    "model_id": pl.String,
    "evaluation_name": pl.String,
    "evaluation_result_id": pl.String,
    "sample_id": pl.String,
    "evaluation": pl.Struct({"score": pl.String, "is_correct": pl.String}),
    "error": pl.String,
}

_VOCABULARY: LineVocabulary = {
    "input_tokens": ("token_usage.input_tokens", 1),
    "output_tokens": ("token_usage.output_tokens", 1),
    "seconds": ("performance.latency_ms", 0.001),
}


@log_reader
def every_eval_ever(
    paths: Paths,
    *,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.LazyFrame]:
    """Read Every Eval Ever: the instance-level files <id>_samples.jsonl.

    The outcome is null if a sample has an error. A sample that several metrics score has a line for
    each of them; the column `measure` has the evaluation_result_id of the line, "" if it has none.
    Samples have no trial id. In `describe`, `planned` is `total_rows` of the summary beside the
    samples and `reported` is its `score`, if the metric is a mean. Columns: model, benchmark
    (evaluation_name) and measure (which are `by`), question, category, score, error, run
    (evaluation_id), source (the file).

    Parameters
    ----------
    model
        Default: as the lines say.
    threshold
        Default: what is_correct says; with ``levels=`` the category is the score.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.every_eval_ever("data").avg()  # doctest: +SKIP
    """
    heads = read_first_lines(paths, "*_samples.jsonl", _EXPECTED, _NEEDS, roles)
    model = roles.get("model")
    described = read_each(
        heads, lambda file: _evaluation_run(file, heads[file], path_model(file, model)), roles
    )
    head = next(iter(heads.values()))
    kept = kept_line_fields(roles.get("keep"), head, _SCHEMA, _VOCABULARY)

    def scan(file: Path, run: Run) -> pl.LazyFrame:
        tally = RowTally(file, run.totals, "score", by=_result_column(heads[file]))
        return kept.scan(file, _EXPECTED, run, _sample_columns(path_model(file, model)), tally)

    graded = threshold is not None or roles.get("levels") is not None
    outcome = reward_outcome(threshold, "score") if graded else pl.col("is_correct")
    category = pl.when(pl.col("error").is_null()).then(outcome)
    keys = ["model", "benchmark", "measure", "question"]
    log, runs = joined_files(described, scan, roles)
    unnamed = [*keys, *({"is_correct"} - kept.columns.keys())]
    table = log.select(*keys, category.alias("category"), pl.exclude(unnamed))
    return log_accessor(table, runs, roles, by=("benchmark", "measure"), trial=None)


def _evaluation_run(file: Path, head: dict[str, Any], model: str | None) -> Run:
    """The run of a file, from its first line and the summary beside it."""
    side = side_file(file, plain_path(file).name.replace("_samples.jsonl", ".json"))
    settings, totals = {}, []
    if side.exists():
        with errors_name_file(side, _SIDE):
            summary = read_json(side, _SIDE)
            (first, *_) = summary["evaluation_results"]
            settings = run_settings(first, SETTINGS)
            totals = [*_summary_totals(summary, _result_column(head))]
    with errors_name_file(file, _EXPECTED, " in line 1"):
        return Run(
            name=str(head.get("evaluation_id", file.stem)),
            keys={"model": model or head["model_id"], "benchmark": head["evaluation_name"]},
            settings=settings,
            totals=tuple(totals),
        )


def _result_column(head: Mapping[str, Any]) -> str:
    """The column that distinguishes the results of a summary."""
    return "measure" if head.get("evaluation_result_id") else "benchmark"


def _summary_totals(summary: Mapping[str, Any], column: str) -> Iterator[Totals]:
    """The rows that a summary counts in the whole file, and the score of each of its results."""
    rows = (summary.get("detailed_evaluation_results") or {}).get("total_rows")
    results = summary["evaluation_results"]
    if len(results) > 1 and rows is not None:
        yield Totals(planned=rows, rows_are_trials=False)
    for result in results:
        name, measure = result.get("evaluation_name"), result.get("evaluation_result_id")
        yield Totals(
            keys={"benchmark": name, "measure": measure if column == "measure" else ""},
            planned=rows if len(results) == 1 else None,
            reported=_reported_mean(result),
        )


def _reported_mean(result: Mapping[str, Any]) -> float | None:
    """The score of a result as a share, if its metric is a mean over samples."""
    metric = result.get("metric_config") or {}
    kinds = {metric.get("metric_kind"), metric.get("metric_id")} & {*_MEANS}
    score: float | None = (result.get("score_details") or {}).get("score")
    if not kinds or score is None:
        return None
    return score / 100 if metric.get("metric_unit") == "percent" else score


def _sample_columns(model: str | None) -> dict[str, pl.Expr]:
    """The columns of the lines; a model that the user named replaces that of the lines."""
    evaluation = pl.col("evaluation").struct
    return {
        "model": pl.col("model_id") if model is None else pl.lit(model),
        "benchmark": pl.col("evaluation_name"),
        "measure": pl.col("evaluation_result_id").fill_null(""),
        "question": pl.col("sample_id"),
        "is_correct": text_number(evaluation.field("is_correct")),
        "score": text_number(evaluation.field("score")),
        "error": pl.col("error"),
    }
