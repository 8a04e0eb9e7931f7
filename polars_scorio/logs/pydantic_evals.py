"""The logs of pydantic-evals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import FileRows, Row, score_or_label, unexpected_content
from polars_scorio.logs.kept_fields import Vocabulary
from polars_scorio.logs.paths import Paths, plain_path
from polars_scorio.logs.reader_options import (
    SCORES_OR_LABELS,
    LogOptions,
    Unpack,
    labels_or_scores,
    log_reader,
    read_rows,
)
from polars_scorio.logs.runs import Run, Totals, run_settings

_EXPECTED = "a report of pydantic-evals as JSON: an object with name, cases and failures"
SETTINGS = ("experiment_metadata",)  # but for the model
_KINDS = "assertions", "scores", "labels"
_REPEAT = re.compile(r" \[(\d+)/(\d+)\]$")  # what repeat= adds to the name of a case
_VOCABULARY: Vocabulary = {
    "usd": "metrics.cost",
    "input_tokens": "metrics.input_tokens",
    "output_tokens": "metrics.output_tokens",
    "seconds": "task_duration",
}


@log_reader
def pydantic_evals(
    paths: Paths,
    *,
    metric: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read pydantic-evals: reports that ``EvaluationReportAdapter.dump_json`` wrote.

    The outcome is null where the task or an evaluator raised an error: the report has no case
    there, but a failure, and leaves it out of its means. A question is a case, a trial one of its
    repetitions (``repeat=``) in a file. In `describe`, `planned` is `[i/n]` in the names of cases.
    Columns: model, benchmark (the dataset, which is `by`), question, trial, category, score, label,
    error, run (the file), source (the file).

    Parameters
    ----------
    model
        Default: `model` of the experiment_metadata; where there is none, the file.
    metric : str, optional
        The assertion, score or label that counts; of labels ``success=`` names the right ones.
        Default: the only one.
    threshold
        Default: the category is the score; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If no case has that metric, or cases have several and none is named.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.pydantic_evals("reports", metric="correct", missing=0).avg()  # doctest: +SKIP
    """
    log = read_rows(
        paths, ("*.json",), _EXPECTED, lambda f, r: _report_rows(f, r, metric), roles, _VOCABULARY
    )
    log = log.named(lambda file: file.with_suffix(""))
    return log.accessor(SCORES_OR_LABELS, labels_or_scores(log, threshold), by="benchmark")


def _report_rows(file: Path, report: Any, metric: str | None) -> FileRows | None:
    """The cases of a report, then those that failed; None for files of another kind."""
    if not isinstance(report, dict) or "cases" not in report or "name" not in report:
        return None
    cases, failures = report["cases"], report.get("failures") or []
    metric = _chosen_evaluator(file, cases, metric)
    label = plain_path(file).stem
    rows: list[Row] = []
    planned: dict[str, int] = {}
    for case in [*cases, *failures]:
        repeat = _REPEAT.search(case["name"]) if case.get("source_case_name") else None
        question = case.get("source_case_name") or case["name"]
        trial, planned[question] = map(int, repeat.groups()) if repeat else (1, 1)
        rows.append((question, f"{label}/{trial}", *_case_value(case, metric)))
    known, benchmark = report.get("experiment_metadata") or {}, report.get("dataset_name") or ""
    modelless = {**known, "model": None}
    run = Run(
        name=label,
        keys={"model": known.get("model"), "benchmark": str(benchmark)},
        identity=report.get("trace_id"),
        settings=run_settings({"experiment_metadata": modelless}, SETTINGS) if known else {},
        totals=(Totals(planned=sum(planned.values()), read=len(rows)),),
    )
    return FileRows(rows, run, [*cases, *failures])


def _chosen_evaluator(
    file: Path, cases: Sequence[Mapping[str, Any]], metric: str | None
) -> str | None:
    """The assertion, score or label that counts: that of the user, or the only one."""
    known = [*dict.fromkeys(n for case in cases for kind in _KINDS for n in case.get(kind) or {})]
    if metric in known or not cases:
        return metric
    if metric is not None or len(known) != 1:
        asked = "several metrics" if metric is None else f"no metric {metric!r}"
        problem = f"{asked} among {known}: name one with metric="
        raise unexpected_content(file, _EXPECTED, problem)
    return str(known[0])


def _case_value(
    case: Mapping[str, Any], metric: str | None
) -> tuple[float | None, str | None, str | None]:
    """Score, label and error of a case."""
    given = next((case[kind][metric] for kind in _KINDS if metric in (case.get(kind) or {})), None)
    if given is None:
        errors = [each.get("error_message") for each in case.get("evaluator_failures") or ()]
        return None, None, case.get("error_message") or next(iter(errors), None)
    return *score_or_label(given["value"]), None
