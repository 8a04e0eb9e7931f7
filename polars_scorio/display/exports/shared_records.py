"""A report as files of Every Eval Ever, a shared database of evaluations."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias
from uuid import UUID

import polars as pl

from polars_scorio.arguments import check_choice, check_confidence
from polars_scorio.display.exports.report_rows import MODEL, Report, ReportRow, report_rows
from polars_scorio.display.exports.tracker_metrics import metric_at
from polars_scorio.display.installed_version import installed_version
from polars_scorio.display.metric_titles import row_heading
from polars_scorio.display.whole_files import write_whole
from polars_scorio.metrics.from_text import named_metric

Relationship: TypeAlias = Literal["first_party", "third_party", "collaborative", "other"]
Record: TypeAlias = "dict[str, object]"
_SCHEMA = "0.3.0"
_NO_NAME = re.compile(r"[^\w.\-]+")  # characters that a folder of the database may not have


@dataclass(frozen=True, slots=True)
class _Source:
    """The evaluator, the tool and the time of an evaluation, for all records of a call."""

    benchmark: str
    organization: str
    relationship: Relationship
    tool: tuple[str, str]
    retrieved: int
    confidence: float


def to_every_eval_ever(
    report: Report,
    folder: str | PathLike[str],
    *,
    benchmark: str,
    organization: str,
    retrieved: int,
    samples: pl.DataFrame | None = None,
    relationship: Relationship = "other",
    tool: tuple[str, str] = ("unknown", "unknown"),
    confidence: float = 0.95,
) -> list[Path]:
    """Write a report as files of Every Eval Ever (schema 0.3.0), with its intervals.

    Parameters
    ----------
    report : DataFrame or LazyFrame
        The result of `report` or of a metric.
    folder : str or path
        The folder that has, or gets, the folder `data` of the database.
    benchmark : str
        The name of the evaluation; names of results add the stratum to it.
    organization : str
        Who evaluated.
    retrieved : int
        When the results were retrieved, in seconds since 1970.
    samples : DataFrame, optional
        The trials, for files of samples: the model and strata of the report, `question`, and
        `score` (1 is correct). Columns `input` and `output` have the texts, if there are any.
    relationship : {"first_party", "third_party", "collaborative", "other"}
        How the organization is related to whoever made the model.
    tool : tuple of str
        Name and version of the tool that ran the evaluation.
    confidence : float
        The confidence of the report's intervals.

    Returns
    -------
    list of Path
        The files, for each model data/<benchmark>/<developer>/<model>/<id>.json, followed by
        <id>_samples.jsonl if there are samples. The id depends on the contents: the same report is
        the same file.

    Raises
    ------
    ValueError
        If the frame is no tidy report, a row has no estimate, or a model has no samples.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> log = pl.DataFrame({"model": "org/ada", "question": [1, 1, 2], "category": [1, 0, 1]})
    >>> report = log.scorio(trial=None, inference="calibrated").avg()
    >>> about = {"benchmark": "sums", "organization": "ours", "retrieved": 1_760_000_000}
    >>> ps.to_every_eval_ever(report, "shared", **about)  # doctest: +SKIP
    [PosixPath('shared/data/sums/org/ada/0a6f....json')]
    """
    check_choice("relationship", relationship, Relationship)
    check_confidence(confidence)
    source = _Source(benchmark, organization, relationship, tool, retrieved, confidence)
    by_model: dict[str, list[ReportRow]] = {}
    for row in report_rows(report):
        by_model.setdefault(str(row.keys.get(MODEL, "model")), []).append(row)
    written = []
    for model, rows in by_model.items():
        record = _aggregate_record(model, rows, source)
        trials = None if samples is None else [*_sample_records(model, rows, samples, source)]
        written += _write_records(Path(folder), model, record, trials, source)
    return written


def _aggregate_record(model: str, rows: Sequence[ReportRow], source: _Source) -> Record:
    """The record of a model: who evaluated it, and a result for each row."""
    developer, _, _ = model.rpartition("/")
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": _evaluation_id(model, source),
        "retrieved_timestamp": str(source.retrieved),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": source.organization,
            "evaluator_relationship": source.relationship,
        },
        "eval_library": {
            "name": source.tool[0],
            "version": source.tool[1],
            "additional_details": {"statistics": f"polars-scorio {installed_version()}"},
        },
        "model_info": {
            "name": model,
            "id": model,
            **({"developer": developer} if developer else {}),
            "additional_details": unknown,
        },
        "evaluation_results": [_result_record(row, source) for row in rows],
    }


def _evaluation_id(model: str, source: _Source) -> str:
    return f"{source.benchmark}/{model}/{source.retrieved}"


def _result_name(row: ReportRow, source: _Source) -> str:
    return " / ".join([source.benchmark, *row.strata])


def _result_record(row: ReportRow, source: _Source) -> Record:
    """The result of a row, with its interval."""
    name, estimate = _result_name(row, source), row.number("estimate")
    if estimate is None:
        raise ValueError(
            f"{row_heading(row.metric, row.k)} of {name!r} has no estimate, which the schema "
            "needs: filter the report, or choose a k within the trials"
        )
    return {
        "evaluation_result_id": f"{name} / {metric_at(row)}",
        "evaluation_name": name,
        "source_data": {"dataset_name": name, "source_type": "other"},
        "metric_config": _metric_record(row),
        "score_details": {"score": estimate, "uncertainty": _uncertainty_record(row, source)},
    }


def _metric_record(row: ReportRow) -> Record:
    """The description of a metric, with the ends of its scale as far as they are known."""
    metric = named_metric(row.metric, row.k)
    ends = (-math.inf, math.inf) if metric is None else metric.support
    known = {} if row.k is None else {"metric_parameters": {"k": row.k}}
    return {
        "metric_id": metric_at(row),
        "metric_name": row_heading(row.metric, row.k),
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": ends[0] if math.isfinite(ends[0]) else "-Infinity",
        "max_score": ends[1] if math.isfinite(ends[1]) else "Infinity",
        **known,
    }


def _uncertainty_record(row: ReportRow, source: _Source) -> Record:
    """The interval of a row and its standard error, as far as it has them."""
    method = f"{row.values.get('inference', '')} interval of polars-scorio".strip()
    lo, hi, sigma = (row.number(name) for name in ("lo", "hi", "sigma"))
    interval = {
        "lower": lo,
        "upper": hi,
        "confidence_level": source.confidence,
        "method": method,
    }
    trials = row.values.get("trials")
    return {
        **({} if lo is None or hi is None else {"confidence_interval": interval}),
        **({} if sigma is None else {"standard_error": {"value": sigma, "method": method}}),
        **({"num_samples": trials} if isinstance(trials, int) else {}),
    }


def _sample_records(
    model: str, rows: Sequence[ReportRow], samples: pl.DataFrame, source: _Source
) -> Iterator[Record]:
    """A record for each trial of a model."""
    strata = [name for name in rows[0].keys if name != MODEL]
    lacking = [name for name in ("question", "score", *strata) if name not in samples.columns]
    if lacking:
        raise ValueError(f"samples= lacks the columns {lacking}: it has {samples.columns}")
    of_model = samples.filter(pl.col(MODEL) == model) if MODEL in samples.columns else samples
    if of_model.is_empty():
        raise ValueError(f"samples= has no trial of the model {model!r}")
    for trial in of_model.iter_rows(named=True):
        score, part = float(trial["score"]), [str(trial[name]) for name in strata]
        yield {
            "schema_version": _SCHEMA,
            "evaluation_id": _evaluation_id(model, source),
            "model_id": model,
            "evaluation_name": " / ".join([source.benchmark, *part]),
            "sample_id": str(trial["question"]),
            "interaction_type": "single_turn",
            "input": {"raw": str(trial.get("input") or ""), "reference": []},
            "output": {"raw": [str(trial.get("output") or "")]},
            "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": score == 1},
        }


def _write_records(
    folder: Path,
    model: str,
    record: Record,
    trials: Sequence[Mapping[str, object]] | None,
    source: _Source,
) -> list[Path]:
    """Write the files of a model."""
    digest = hashlib.sha256(json.dumps([record, trials], sort_keys=True).encode())
    name = str(UUID(bytes=digest.digest()[:16], version=4))
    developer, _, plain = model.rpartition("/")
    parts = [_NO_NAME.sub("_", part) for part in (source.benchmark, developer or "unknown", plain)]
    place = folder.joinpath("data", *parts)
    place.mkdir(parents=True, exist_ok=True)
    files = [place / f"{name}.json"]
    if trials is not None:
        files.append(place / f"{name}_samples.jsonl")
        text = "".join(f"{json.dumps(trial)}\n" for trial in trials)
        write_whole(files[1], text)
        record = {**record, "detailed_evaluation_results": _details_record(files[1], folder, text)}
    write_whole(files[0], json.dumps(record, indent=2))
    return files


def _details_record(file: Path, folder: Path, text: str) -> Record:
    """The reference of a record to its file of samples."""
    return {
        "format": "jsonl",
        "file_path": file.relative_to(folder).as_posix(),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(text.encode()).hexdigest(),
        "total_rows": text.count("\n"),
    }
