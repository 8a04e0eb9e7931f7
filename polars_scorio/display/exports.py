"""Reports for trackers, model cards and shared records."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias
from uuid import UUID

import polars as pl

from polars_scorio.arguments import (
    check_choice,
    check_flag,
    check_text,
    value_text,
)
from polars_scorio.display.whole_files import write_whole
from polars_scorio.display.words import installed_version, row_heading
from polars_scorio.metrics.from_text import named_metric

Report: TypeAlias = pl.DataFrame | pl.LazyFrame
NUMBERS = "estimate", "sigma", "lo", "hi"  # and mu, where a row of the report is a posterior
MODEL = "model"


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A row of a report."""

    keys: dict[str, object]  # strata, model and question: the columns before `metric`
    metric: str
    k: int | None  # draw size
    values: dict[str, object]  # all columns of the row

    def number(self, name: str) -> float | None:
        """A number of the row; None if it is null or not finite."""
        value = self.values[name]
        known = isinstance(value, int | float) and abs(value) < float("inf")
        return float(value) if known else None  # type: ignore[arg-type]  # a number, as checked

    @property
    def confidence(self) -> float:
        """The confidence of its interval, which a report names where it is not the usual one."""
        number = self.number("confidence") if "confidence" in self.values else None
        return 0.95 if number is None else number

    @property
    def strata(self) -> list[str]:
        """The strata of the row, as texts."""
        return [str(value) for name, value in self.keys.items() if name != MODEL]


def report_rows(report: Report) -> list[ReportRow]:
    """The rows of a tidy report."""
    if not isinstance(report, pl.DataFrame | pl.LazyFrame):
        raise TypeError(
            "report must be the DataFrame or LazyFrame that report() returns, got "
            f"{value_text(report)}"
        )
    frame = report.lazy().collect()
    lacking = [name for name in ("metric", "k", *NUMBERS) if name not in frame.columns]
    if lacking:
        raise ValueError(
            f"the frame lacks the columns {lacking} of a tidy report: pass what report() returns, "
            f"without wide=True; the columns are {frame.columns}"
        )
    names = frame.columns[: frame.columns.index("metric")]
    return [
        ReportRow({name: row[name] for name in names}, row["metric"], row["k"], row)
        for row in frame.iter_rows(named=True)
    ]


_REFUSED = re.compile(r"[^\w.\- ]+")  # characters that MLflow does not take, within a part


def to_metrics(report: Report) -> dict[str, float]:
    """A report as a flat dict of numbers, for MLflow, Weights & Biases and training loops.

    Parameters
    ----------
    report : DataFrame or LazyFrame
        The result of `report` or of a metric; you may filter rows, and drop or join columns before
        `metric`.

    Returns
    -------
    dict of str to float
        Estimate, sigma, lo and hi of each row (and mu, of posteriors), without nulls. A name joins
        by slashes the strata, the model (if there are several), the metric with its value of k, and
        the number: ``"airline/pass_hat_2/lo"``. Characters other than letters, digits, points,
        hyphens and blanks become underscores.

    Raises
    ------
    ValueError
        If the frame is no tidy report, or two rows would have the same name.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> log = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [1, 0, 1, 1]})
    >>> report = log.scorio(trial=None).pass_at_k([1, 2])
    >>> metrics = ps.to_metrics(report)
    >>> metrics["pass_at_2/estimate"], len(metrics)
    (1.0, 8)

    In a training loop: ``wandb.log(ps.to_metrics(report), step=step)``.
    """
    rows = report_rows(report)
    several = len({row.keys.get(MODEL) for row in rows}) > 1
    values: dict[str, float] = {}
    for row in rows:
        prefix = _row_name(row, with_model=several)
        names = *NUMBERS, *({"mu"} & row.values.keys())
        numbers = {f"{prefix}/{name}": row.number(name) for name in names}
        if values.keys() & numbers.keys():
            raise ValueError(
                f"two rows of the report would have the name {prefix!r}: filter the report, or "
                "name its metrics with name="
            )
        values |= {name: value for name, value in numbers.items() if value is not None}
    return values


def _row_name(row: ReportRow, *, with_model: bool) -> str:
    """The name of a row: strata, model, metric."""
    keys = [str(value) for name, value in row.keys.items() if with_model or name != MODEL]
    return "/".join(_REFUSED.sub("_", part).strip("_") for part in [*keys, metric_at(row)])


def metric_at(row: ReportRow) -> str:
    """The name of a metric with the number k in place of the letter."""
    if row.k is None:
        return row.metric
    named, replaced = re.subn(r"_k(?![a-z0-9])", f"_{row.k}", row.metric, count=1)
    return named if replaced else f"{row.metric}_{row.k}"


def to_model_card(
    report: Report,
    *,
    dataset: str = "evaluation",
    task: str = "text-generation",
) -> str:
    """A report as the YAML of a model card, as Hugging Face reads it: its `model-index`.

    A model card has no field for intervals, so the name of each metric says the interval in words.

    Parameters
    ----------
    report : DataFrame or LazyFrame
        The result of `report` or of a metric.
    dataset : str
        Name of the dataset if the report has no strata; else each stratum is a dataset.
    task : str
        The task of the model, as Hugging Face names it.

    Returns
    -------
    str
        YAML that stands at the top of README.md, between lines of three hyphens.

    Raises
    ------
    TypeError
        If `report` is no frame, or `dataset` or `task` no text.
    ValueError
        If the frame is no tidy report, or a row has no estimate.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> log = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [1, 0, 1, 1]})
    >>> report = log.scorio(trial=None).avg()
    >>> card = ps.to_model_card(report, dataset="gsm8k")
    >>> print(card[: card.index("    metrics")].rstrip())
    model-index:
    - name: "ada"
      results:
      - task:
          type: "text-generation"
        dataset:
          name: "gsm8k"
          type: "gsm8k"
    """
    check_text("dataset", dataset)
    check_text("task", task)
    lines = ["model-index:"]
    for model, rows in _rows_by_model(report).items():
        lines += [f"- name: {_yaml_text(model)}", "  results:"]
        for strata, parts in groupby(rows, key=lambda row: row.strata):
            name = _yaml_text(" / ".join(strata) or dataset)
            lines += [
                "  - task:",
                f"      type: {_yaml_text(task)}",
                "    dataset:",
                f"      name: {name}",
                f"      type: {name}",
                "    metrics:",
                *(line for row in parts for line in _metric_lines(row)),
            ]
    return "\n".join(lines) + "\n"


def _rows_by_model(report: Report) -> dict[str, list[ReportRow]]:
    """The rows of each model, in the order of their first."""
    rows_of: dict[str, list[ReportRow]] = {}
    for row in report_rows(report):
        rows_of.setdefault(_model_name(row), []).append(row)
    return rows_of


def _model_name(row: ReportRow) -> str:
    return str(row.keys.get(MODEL, "model"))


def _metric_lines(row: ReportRow) -> list[str]:
    """The lines of a metric: its type, its name with the interval in words, its value."""
    estimate, lo, hi = (row.number(name) for name in ("estimate", "lo", "hi"))
    heading = row_heading(row.metric, row.k)
    if estimate is None:
        raise ValueError(
            f"{heading} of {_model_name(row)!r} has no estimate: a card needs a number. Filter the "
            "report, or choose a k within the trials"
        )
    words = ""
    if lo is not None and hi is not None:
        words = f" ({100 * row.confidence:.6g} % interval {lo:.4g} to {hi:.4g})"
    return [
        f"    - type: {_yaml_text(metric_at(row))}",
        f"      name: {_yaml_text(heading + words)}",
        f"      value: {estimate:.6g}",
    ]


def _yaml_text(text: str) -> str:
    """A text as YAML reads it whatever stands in it: JSON is YAML."""
    return json.dumps(text, ensure_ascii=False)


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
    lower_is_better: bool


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
    lower_is_better: bool = False,
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
    lower_is_better : bool
        Whether lower scores are better, as the accessor of the report was told; costs always are.

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
    >>> report = log.scorio(trial=None).avg()
    >>> about = {"benchmark": "sums", "organization": "ours", "retrieved": 1_760_000_000}
    >>> ps.to_every_eval_ever(report, "shared", **about)  # doctest: +SKIP
    [PosixPath('shared/data/sums/org/ada/0a6f....json')]
    """
    check_choice("relationship", relationship, Relationship)
    lower_is_better = check_flag("lower_is_better", lower_is_better)
    about = benchmark, organization, relationship, tool, retrieved
    source = _Source(*about, lower_is_better)
    written = []
    for model, rows in _rows_by_model(report).items():
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


def _result_record(row: ReportRow, source: _Source) -> Record:
    """The result of a row, with its interval."""
    name, estimate = " / ".join([source.benchmark, *row.strata]), row.number("estimate")
    if estimate is None:
        raise ValueError(
            f"{row_heading(row.metric, row.k)} of {name!r} has no estimate, which the schema "
            "needs: filter the report, or choose a k within the trials"
        )
    return {
        "evaluation_result_id": f"{name} / {metric_at(row)}",
        "evaluation_name": name,
        "source_data": {"dataset_name": name, "source_type": "other"},
        "metric_config": _metric_record(row, source),
        "score_details": {"score": estimate, "uncertainty": _uncertainty_record(row)},
    }


def _metric_record(row: ReportRow, source: _Source) -> Record:
    """The description of a metric, with the ends of its scale as far as they are known."""
    metric = named_metric(row.metric, row.k)
    ends = (-math.inf, math.inf) if metric is None else metric.support
    known = {} if row.k is None else {"metric_parameters": {"k": row.k}}
    of_costs = metric is not None and metric.looks_at == "costs"
    return {
        "metric_id": metric_at(row),
        "metric_name": row_heading(row.metric, row.k),
        "lower_is_better": source.lower_is_better or of_costs,
        "score_type": "continuous",
        "min_score": ends[0] if math.isfinite(ends[0]) else "-Infinity",
        "max_score": ends[1] if math.isfinite(ends[1]) else "Infinity",
        **known,
    }


def _uncertainty_record(row: ReportRow) -> Record:
    """The interval of a row and its standard error, as far as it has them."""
    method = f"{row.values.get('inference', '')} interval of polars-scorio".strip()
    lo, hi, sigma = (row.number(name) for name in ("lo", "hi", "sigma"))
    interval = {
        "lower": lo,
        "upper": hi,
        "confidence_level": row.confidence,
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
