"""The logs of DeepEval."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    describe_content,
    read_json,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Vocabulary, json_text
from polars_scorio.logs.paths import Paths, find_files, plain_path, side_file
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_columns,
    log_reader,
    read_row_files,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

_EXPECTED = "test_run_<date>.json or .latest_run_full.json of DeepEval, with testCases"
_FULL, _WRAPPED = ".latest_run_full.json", ".latest_test_run.json"
_OTHER_TOOLS = {
    ".temp_test_run_data.json": "the cases of a run that has not ended",
    ".deepeval-cache.json": "the cache of metrics, which is no run",
}
SETTINGS = ("hyperparameters",)  # but for the model
_COLUMNS = log_columns("question", "trial", "success", "score", "error", success=pl.Boolean)
_VOCABULARY: Vocabulary = {
    "usd": "tokenCost",
    "input_tokens": "inputTokenCount",
    "output_tokens": "outputTokenCount",
    "seconds": "completionTime",
}


@log_reader
def deepeval(
    paths: Paths,
    *,
    metric: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read DeepEval: test_run_<date>.json, or .deepeval/.latest_run_full.json.

    The category is whether all metrics of a case passed that are not flaky; with `metric` it is the
    score of that one. It is null where such a metric raised an error: DeepEval counts the case as
    failed, so that ``missing=0`` gives its numbers. A question is the input of a case (of a
    conversation its scenario), a trial its place among the cases with that input. In `describe`,
    `planned` is the cases that passed or failed and `reported` is the share that passed, or with
    `metric` its mean score. Columns: model, question, trial, category, success, score, error, run
    (the file), source (the file).

    Parameters
    ----------
    model
        Default: `model` of the hyperparameters; else the identifier of the run, or the folder.
    metric : str, optional
        The metric whose score counts. Default: all of them.
    threshold
        With `metric`, the score from which on it is a success. Default: the category is the
        score; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If no case has that metric, or a file has cases and conversations.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.deepeval("results", missing=0).pass_at_k([1, 3])  # doctest: +SKIP
    """
    if metric is None and threshold is not None:
        raise ValueError("threshold= belongs to a metric: name the metric with metric=")
    matches = find_files(paths, "test_run_*.json", _FULL, _WRAPPED)
    # Both files of the latest run have the same cases.
    files = [
        f for f in matches if plain_path(f).name != _WRAPPED or side_file(f, _FULL) not in matches
    ]
    log = read_row_files(files, _EXPECTED, lambda f: _case_rows(f, metric), roles, _VOCABULARY)
    log = log.named(_project_folder)
    outcome = pl.col("success") if metric is None else reward_outcome(threshold, "score")
    return log.accessor(_COLUMNS, outcome)


def _project_folder(file: Path) -> Path:
    """The folder that is named after the model, if nothing else is."""
    return file.parent.parent if file.parent.name == ".deepeval" else file.parent


def _case_rows(file: Path, metric: str | None) -> FileRows:
    """The cases of a run."""
    name = plain_path(file).name
    if name in _OTHER_TOOLS:
        raise unexpected_content(file, _EXPECTED, _OTHER_TOOLS[name])
    content = read_json(file, _EXPECTED)
    run = content.get("testRunData", content)
    if not isinstance(run, dict) or "testCases" not in run:
        raise unexpected_content(file, _EXPECTED, describe_content(run))
    cases = _only_cases(file, run)
    metrics = [_case_metrics(case) for case in cases]
    known = dict.fromkeys(each["name"] for of_case in metrics for each in of_case)
    if metric is not None and metric not in known:
        problem = f"cases without the metric {metric!r}: they have {[*known]}"
        raise unexpected_content(file, _EXPECTED, problem)
    label = name.removeprefix(".").removesuffix(".json")
    parameters = run.get("hyperparameters") or {}
    described = Run(
        name=label,
        keys={"model": parameters.get("model") or run.get("identifier")},
        identity=_run_digest(cases),
        settings=run_settings({"hyperparameters": {**parameters, "model": None}}, SETTINGS),
        totals=(_case_totals(run, cases, metric),),
    )
    times: Counter[str] = Counter()
    rows: list[Row] = []
    for case, of_case in zip(cases, metrics, strict=True):
        question = case.get("scenario") or case["name"] if "turns" in case else case["input"]
        question = question if isinstance(question, str) else json_text(question)
        rows.append((question, f"{label}/{times[question]}", *_case_verdict(case, of_case, metric)))
        times[question] += 1
    return FileRows(rows, described, cases)


def _run_digest(cases: Sequence[Mapping[str, Any]]) -> str | None:
    """A digest of the cases of a run, which its files share; None without their durations."""
    if not any(case.get("runDuration") for case in cases):
        return None
    return hashlib.blake2b(json_text(cases).encode(errors="replace")).hexdigest()


def _only_cases(file: Path, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cases of a run, or its conversations."""
    cases, conversations = run["testCases"], run.get("conversationalTestCases") or []
    if cases and conversations:
        problem = f"{len(cases):,} cases and {len(conversations):,} conversations: split the file"
        raise unexpected_content(file, _EXPECTED, problem)
    if not cases and not conversations:
        raise unexpected_content(file, _EXPECTED, "no case")
    return list(cases or conversations)


def _case_metrics(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The metrics of a case, under the names of new versions."""
    listed = case.get("metricsData") or case.get("metricsMetadata") or []
    return [{**each, "name": each["name"] if "name" in each else each["metric"]} for each in listed]


def _case_verdict(
    case: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]], metric: str | None
) -> tuple[bool | None, float | None, str | None]:
    """Success, score and error of a case: of one metric, or of all that decide."""
    asked = [
        each
        for each in metrics
        if (not each.get("flaky") if metric is None else each["name"] == metric)
    ]
    errors = [str(each["error"]) for each in asked if each.get("error") is not None]
    if errors:
        return None, None, errors[0]
    if metric is None:
        return case.get("success"), None, None
    first = asked[0] if asked else {}
    return first.get("success"), first.get("score"), None


def _case_totals(
    run: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], metric: str | None
) -> Totals:
    """The share of cases that passed, or the mean score of a metric, as said and as read."""
    if metric is None:
        passed, failed = run.get("testPassed"), run.get("testFailed")
        total = (passed or 0) + (failed or 0)
        return Totals(
            planned=total or None,
            reported=(passed or 0) / total if total else None,
            read=len(cases),
            score=mean_or_none(float(bool(case.get("success"))) for case in cases),
        )
    scores = [
        each.get("scores") for each in run.get("metricsScores") or () if each["metric"] == metric
    ]
    return Totals(
        reported=mean_or_none(scores[0]) if scores and scores[0] else None,
        read=len(cases),
        score=mean_or_none(
            each.get("score")
            for case in cases
            for each in _case_metrics(case)
            if each["name"] == metric
        ),
    )
