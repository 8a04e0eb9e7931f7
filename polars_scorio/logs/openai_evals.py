"""The logs of OpenAI evals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    numbered_objects,
    score_or_label,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Vocabulary
from polars_scorio.logs.paths import Paths, plain_path
from polars_scorio.logs.read import own_files
from polars_scorio.logs.reader_options import (
    SCORES_OR_LABELS,
    LogOptions,
    Unpack,
    labels_or_scores,
    log_reader,
    read_row_files,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

_EXPECTED = "<run_id>_<model>_<eval>.jsonl of OpenAI evals: events with sample_id"
# Settings in which runs of one model may differ, in the first line.
SETTINGS = ("run_config.eval_spec.args", "run_config.max_samples")
_JUDGING = {"match", "metrics"}  # events with outcomes
_USAGE = "prompt_tokens", "completion_tokens"
_VOCABULARY: Vocabulary = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}


@log_reader
def openai_evals(
    paths: Paths,
    *,
    metric: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read OpenAI evals: /tmp/evallogs/<run_id>_<model>_<eval>.jsonl.

    The outcome is null where a sample has no event `match` or `metrics`: it failed, and OpenAI
    evals divides by the others. A run is a trial of each sample. In `describe`, `reported` is
    `accuracy` of its `final_report`. Columns: model, benchmark (the eval, which is `by`), question
    (the sample), trial (the run), category, score, label, error, run (its id), source (the file).

    Parameters
    ----------
    model
        Default: the first completion function.
    metric : str, optional
        A field of the events `match` and `metrics`, such as the `choice` of a graded eval, of which
        ``success=`` names the right ones. Default: `correct`; without it, the only number.
    threshold
        Default: the category is the score; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If no event has that field, or events have several numbers and none is named.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.openai_evals("/tmp/evallogs", missing=0).avg()  # doctest: +SKIP
    """
    files = own_files(paths, "openai_evals", "*.jsonl")
    log = read_row_files(files, _EXPECTED, lambda f: _event_rows(f, metric), roles, _VOCABULARY)
    log = log.named(lambda file: file.with_suffix(""))
    return log.accessor(SCORES_OR_LABELS, labels_or_scores(log, threshold), by="benchmark")


def _event_rows(file: Path, metric: str | None) -> FileRows:
    """The samples of a run."""
    spec, samples = dict[str, Any](), dict[str, dict[str, Any]]()
    report: Mapping[str, Any] | None = None
    for number, line in numbered_objects(file, _EXPECTED):
        with errors_name_file(file, _EXPECTED, f" in line {number}"):
            if "spec" in line:
                spec = dict(line["spec"])
            elif "final_report" in line:
                report = dict(line["final_report"])
            else:
                _add_event(samples.setdefault(line["sample_id"], {}), line["type"], line["data"])
    if not samples:
        raise unexpected_content(file, _EXPECTED, "no sample")
    metric = metric or _only_number(file, samples)
    if not any(metric in sample for sample in samples.values()):
        known = sorted({name for sample in samples.values() for name in sample} - {*_USAGE})
        raise unexpected_content(file, _EXPECTED, f"no event with {metric!r}, but with {known}")
    run_id, benchmark = spec.get("run_id", plain_path(file).stem), spec.get("eval_name", "")
    rows: list[Row] = [
        (name, run_id, *score_or_label(sample.get(metric)), sample.get("error"))
        for name, sample in samples.items()
    ]
    right = [sample.get(metric) for sample in samples.values()]
    exact = metric == "correct"
    totals = Totals(
        reported=(report or {}).get("accuracy") if exact else None,
        read=len(rows),
        score=mean_or_none(right) if exact else None,
        status="not completed" if spec and report is None else None,
    )
    model = next(iter(spec.get("completion_fns") or ()), None)
    run = Run(
        name=run_id,
        keys={"model": model, "benchmark": benchmark},
        identity=run_id,
        started=spec.get("created_at"),
        settings=run_settings(spec, SETTINGS),
        totals=(totals,),
    )
    return FileRows(rows, run, samples.values())


def _add_event(sample: dict[str, Any], kind: str, data: Mapping[str, Any]) -> None:
    """Add to a sample what an event says of it: outcomes, tokens or an error."""
    if kind in _JUDGING:
        if twice := {*data} & {*sample}:
            raise ValueError(f"a sample has two values of {sorted(twice)}")
        sample.update(data)
    elif kind == "sampling":
        for name in _USAGE:
            tokens = (data.get("usage") or {}).get(name)
            if tokens is not None:
                sample[name] = sample.get(name, 0) + tokens
    elif kind == "error":
        sample["error"] = str(data.get("message") or data.get("type"))


def _only_number(file: Path, samples: Mapping[str, Mapping[str, Any]]) -> str:
    """The outcome that counts if the user names none: `correct`, or the only number."""
    known = dict.fromkeys(
        name
        for sample in samples.values()
        for name, value in sample.items()
        if isinstance(value, bool | int | float) and name not in _USAGE
    )
    if "correct" not in known and len(known) != 1:
        problem = f"the numbers {[*known]} in events: name one with metric="
        raise unexpected_content(file, _EXPECTED, problem)
    return "correct" if "correct" in known else next(iter(known))
