"""A report as the metadata of a model card."""

from __future__ import annotations

import json
from itertools import groupby

from polars_scorio.arguments import check_confidence, check_text
from polars_scorio.display.exports.report_rows import MODEL, Report, ReportRow, report_rows
from polars_scorio.display.exports.tracker_metrics import metric_at
from polars_scorio.display.metric_titles import row_heading


def to_model_card(
    report: Report,
    *,
    dataset: str = "evaluation",
    task: str = "text-generation",
    confidence: float = 0.95,
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
    confidence : float
        The confidence of the report's intervals.

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
    >>> report = log.scorio(trial=None, inference="calibrated").avg()
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
    check_confidence(confidence)
    lines = ["model-index:"]
    for model, rows in groupby(_by_model(report_rows(report)), key=_model_name):
        lines += [f"- name: {_quoted_text(model)}", "  results:"]
        for strata, parts in groupby(rows, key=lambda row: row.strata):
            name = _quoted_text(" / ".join(strata) or dataset)
            lines += [
                "  - task:",
                f"      type: {_quoted_text(task)}",
                "    dataset:",
                f"      name: {name}",
                f"      type: {name}",
                "    metrics:",
                *(line for row in parts for line in _metric_lines(row, confidence)),
            ]
    return "\n".join(lines) + "\n"


def _by_model(rows: list[ReportRow]) -> list[ReportRow]:
    """The rows of each model together, in the order of their first."""
    order = list(dict.fromkeys(map(_model_name, rows)))
    return sorted(rows, key=lambda row: order.index(_model_name(row)))


def _model_name(row: ReportRow) -> str:
    return str(row.keys.get(MODEL, "model"))


def _metric_lines(row: ReportRow, confidence: float) -> list[str]:
    """The lines of a metric: its type, its name with the interval in words, its value."""
    estimate, lo, hi = (row.number(name) for name in ("estimate", "lo", "hi"))
    heading = row_heading(row.metric, row.k)
    if estimate is None:
        raise ValueError(
            f"{heading} of {_model_name(row)!r} has no estimate: a card needs a number. Filter the "
            "report, or choose a k within the trials"
        )
    words = "" if lo is None or hi is None else f" ({confidence:.0%} interval {lo:.4g} to {hi:.4g})"
    return [
        f"    - type: {_quoted_text(metric_at(row))}",
        f"      name: {_quoted_text(heading + words)}",
        f"      value: {estimate:.6g}",
    ]


def _quoted_text(text: str) -> str:
    """A text as YAML reads it whatever stands in it: JSON is YAML."""
    return json.dumps(text, ensure_ascii=False)
