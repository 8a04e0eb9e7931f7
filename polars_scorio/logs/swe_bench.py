"""The logs of SWE-bench."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import FileRows, Row
from polars_scorio.logs.kept_fields import Vocabulary
from polars_scorio.logs.paths import Paths, plain_path
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_reader, read_rows
from polars_scorio.logs.runs import Run, Totals, mean_or_none

_EXPECTED = (
    "a report of SWE-bench: an object with 'resolved_ids' (a run), 'resolved' (a submission to its "
    "leaderboard), or instances with 'resolved' (report.json, per_instance_details.json)"
)
_DETAILS = "per_instance_details.json"  # of the submissions with mini-SWE-agent
_COLUMNS = {"question": pl.String, "trial": pl.String, "outcome": pl.String}
# The first list with an instance decides: an instance may be in several.
_OUTCOMES = "resolved", "infra_failure", "unresolved", "empty_patch", "error", "incomplete"
# The lists of results.json in SWE-bench/experiments, each with the outcome of its instances.
_SUBMITTED = {"resolved": "resolved", "no_generation": "empty_patch", "no_logs": "error"}
_VERDICTS = {"resolved": True, "unresolved": False, "empty_patch": False}

_VOCABULARY: Vocabulary = {"usd": "cost"}  # of per_instance_details.json


@log_reader
def swe_bench(
    paths: Paths,
    *,
    instances: Collection[str] | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read SWE-bench: reports of runs, of single instances, and submissions to its leaderboard.

    - Reports <model>.<run_id>.json of swebench.harness.run_evaluation, one a run.
    - logs/run_evaluation/<run_id>/<model>/<instance>/report.json, one an instance. They are not
      needed, and passed over, if the report of their run is read too.
    - evaluation/<split>/<submission>/ of SWE-bench/experiments: per_instance_details.json, which
      has all instances, or results/results.json. Most of the latter list only what was resolved:
      ``instances=`` has to name all instances of the split.

    The outcome is null if the evaluation failed (error_ids, infra_failure_ids), or if the instance
    was not submitted (incomplete_ids, in a partial run); an empty patch is a failure. SWE-bench
    divides by all instances, so that ``missing=0`` gives its numbers; ``missing="drop",
    unscored="drop"`` leave out instances that were not judged. In `describe`, `planned` is
    `total_instances` and `reported` is `resolved_instances`. Columns: model, question, trial (the
    run), category, outcome, run, source (the file).

    Parameters
    ----------
    model
        Default: the name of the file up to its last dot, with its folders if reports of several
        folders share that name; of single instances and submissions, the folder.
    instances : collection of str, optional
        The ids of all instances of the split. An instance that no list of a submission has is
        unresolved; one that the report of a run does not list is incomplete.

    Raises
    ------
    ValueError
        If a submission does not list all of its instances and `instances` does not either, or has
        an instance that `instances` lacks.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.swe_bench("reports", missing=0).pass_at_k(1)  # doctest: +SKIP
    """
    patterns = "*.*.json", "results.json", "report.json", _DETAILS
    rows = partial(_file_verdicts, instances=instances)
    log = read_rows(paths, patterns, _EXPECTED, rows, roles, _VOCABULARY)
    summarised = {_model_and_run(file) for file in log.parts if not _is_single(file)}
    kept = {
        file: part
        for file, part in log.parts.items()
        if not (_is_single(file) and (_submission_place(file).name, part.run.name) in summarised)
    }
    log = replace(log, parts=kept).named(_submission_place)
    category = pl.col("outcome").replace_strict(_VERDICTS, default=None, return_dtype=pl.Boolean)
    return log.accessor(_COLUMNS, category)


def _is_single(file: Path) -> bool:
    """Whether a file is the report of a single instance."""
    return plain_path(file).name == "report.json"


def _submission_place(file: Path) -> Path:
    """The path that is named after the model."""
    if _is_single(file):
        folder = file.parent.parent
        return folder.parent if folder.name == "logs" else folder
    if plain_path(file).name == _DETAILS:
        return file.parent
    if plain_path(file).name == "results.json":
        return file.parent.parent if file.parent.name == "results" else file.parent
    # Names of models have dots (gpt-4.1): the run follows the last dot.
    return file.with_name(_model_and_run(file)[0])


def _model_and_run(file: Path) -> tuple[str, str]:
    """Model and run of a file name; one without a dot is a model's only run."""
    name, dot, run = plain_path(file).stem.rpartition(".")
    return (name, run) if dot else (run, "")


def _file_verdicts(file: Path, report: Any, instances: Collection[str] | None) -> FileRows | None:
    """The outcomes of a file; None for files of another kind."""
    if not isinstance(report, dict) or "results" in report:  # a file of Terminal-Bench
        return None
    if "resolved_ids" in report:
        outcomes, run, rest = _run_outcomes(report), _model_and_run(file)[1], "incomplete"
    elif isinstance(report.get("resolved"), list):
        outcomes, run, rest = _submission_outcomes(file, report, instances), "", "unresolved"
    elif report and all(isinstance(part, dict) and "resolved" in part for part in report.values()):
        outcomes = {name: _single_outcome(part) for name, part in report.items()}
        _, _, below = file.as_posix().partition("/run_evaluation/")
        run = below.partition("/")[0]
        return replace(_verdict_rows(outcomes, run), records=report.values())
    else:
        return None
    strangers = sorted({*outcomes} - {*instances}) if instances is not None else []
    if strangers:
        raise ValueError(
            f"{file} has {len(strangers):,} instances that instances= lacks, such as "
            f"{strangers[0]!r}: name those of the whole split"
        )
    complete = dict.fromkeys(instances or (), rest) | outcomes
    return _verdict_rows(complete, run, _report_totals(report, outcomes))


def _verdict_rows(outcomes: Mapping[str, str], run: str, *totals: Totals) -> FileRows:
    """The rows of a file, one for each instance, and its run."""
    rows: list[Row] = [(instance, run, outcome) for instance, outcome in outcomes.items()]
    # Reports of runs list ids alone: there is no field to keep.
    return FileRows(rows, Run(name=run, totals=totals), records=[{}] * len(rows))


def _report_totals(report: Mapping[str, Any], outcomes: Mapping[str, str]) -> Totals:
    """Totals of a report, in which resolved instances are a share of all instances."""
    total, resolved = report.get("total_instances"), report.get("resolved_instances")
    return Totals(
        planned=total,
        reported=resolved / total if total and resolved is not None else None,
        read=len(outcomes),
        score=mean_or_none(float(outcome == "resolved") for outcome in outcomes.values()),
    )


def _run_outcomes(report: Mapping[str, Any]) -> dict[str, str]:
    """The outcomes of the report of a run."""
    outcomes: dict[str, str] = {}
    for outcome in _OUTCOMES:
        for instance in report.get(f"{outcome}_ids", ()):
            outcomes.setdefault(instance, outcome)
    return outcomes


def _submission_outcomes(
    file: Path, report: Mapping[str, Any], instances: Collection[str] | None
) -> dict[str, str]:
    """The outcomes of a submission to the leaderboard."""
    if instances is None and "generated" not in report:
        raise ValueError(
            f"{file} does not list the instances that were not resolved: pass the ids of all "
            "instances of the split with instances="
        )
    outcomes = dict.fromkeys(report.get("generated", ()), "unresolved")
    for name in reversed(_SUBMITTED):
        outcomes |= dict.fromkeys(report.get(name, ()), _SUBMITTED[name])
    return outcomes


def _single_outcome(part: Mapping[str, Any]) -> str:
    """The outcome of a single instance."""
    if part["resolved"]:
        return "resolved"
    if part.get("infra_failure"):
        return "infra_failure"
    return "empty_patch" if part.get("patch_is_None") else "unresolved"
