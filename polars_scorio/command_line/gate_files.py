"""The results of gates as files for other programs: JSON, JUnit XML, Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl

from polars_scorio.display.phrases import visible_text
from polars_scorio.display.tables import markdown_text
from polars_scorio.display.whole_files import write_whole

# Columns of a gate that the sentences say, or that only a program reads.
_UNREAD = {"sigma", "p_pass", "p_fail", "broken_by_chance", "p_broken"}
_LEGEND = (
    "diff: the candidate minus the baseline, in units of the metric; lo, hi: its one-sided ends; "
    "further: trials of each question, or questions, that would probably decide."
)


@dataclass(frozen=True, slots=True)
class GateResult:
    """One metric of a gate.

    Attributes
    ----------
    metric : str
        Its name.
    rows : DataFrame
        The rows of the gate.
    sentences : list of str
        A sentence for each candidate and draw size, over all strata.
    row_sentences : list of str
        A sentence for each of the rows.
    regressed : DataFrame
        The questions that regressed.
    """

    metric: str
    rows: pl.DataFrame
    sentences: Sequence[str]
    row_sentences: Sequence[str]
    regressed: pl.DataFrame


def write_json(path: str, verdict: str, counted: str, results: Sequence[GateResult]) -> None:
    """Write everything as one JSON object: the verdict, as what it counts, and the rows."""
    found = [
        {
            "metric": result.metric,
            "sentences": [*result.sentences],
            "rows": result.rows.to_dicts(),
            "regressed": result.regressed.to_dicts(),
        }
        for result in results
    ]
    content = {"verdict": verdict, "counts_as": counted, "results": found}
    write_whole(Path(path), json.dumps(content, indent=2, default=str, ensure_ascii=False) + "\n")


def write_junit(path: str, results: Sequence[GateResult], strata: Sequence[str], model: str,
                undecided: str | None) -> None:  # fmt: skip
    """Write a test case for each row: failed, or skipped if it is undecided.

    With `undecided` a row that is undecided counts as "fail" or "pass".
    """
    suite = ET.Element("testsuite", name="polars-scorio gate")
    counts = dict.fromkeys(("tests", "failures", "skipped"), 0)
    for result in results:
        for row, sentence in zip(result.rows.to_dicts(), result.row_sentences, strict=True):
            place = " ".join(str(row[name]) for name in strata if row[name] is not None) or "all"
            name = f"{row[model]}: {place}"
            size = "" if row["k"] is None else f", k={row['k']}"
            case = ET.SubElement(suite, "testcase", classname=f"{result.metric}{size}", name=name)
            counts["tests"] += 1
            verdict = undecided or "undecided" if row["verdict"] == "undecided" else row["verdict"]
            if verdict == "pass":
                continue
            kind, count = ("failure", "failures") if verdict == "fail" else ("skipped", "skipped")
            ET.SubElement(case, kind, message=sentence)
            counts[count] += 1
    suite.attrib |= {name: str(count) for name, count in counts.items()}
    text = ET.tostring(suite, encoding="unicode", xml_declaration=True)
    # XML 1.0 cannot hold control characters, not even by their codes.
    write_whole(Path(path), visible_text(text) + "\n")


def write_markdown(path: str, title: str, results: Sequence[GateResult]) -> None:
    """Write the verdict as a title, the sentences, and a table of each metric."""
    lines = [f"## Gate: {title}", ""]
    for result in results:
        lines += [*(f"- {sentence}" for sentence in result.sentences), ""]
        lines += [_markdown_table(_readable_rows(result.rows)), ""]
    write_whole(Path(path), visible_text("\n".join([*lines, _LEGEND, ""])))


def _readable_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The columns that a reader needs; a row over all strata has "all" in their columns."""
    strata = rows.columns[: rows.columns.index("metric")]
    named = rows.with_columns(pl.col(name).cast(pl.String).fill_null("all") for name in strata)
    known = [column.name for column in named if column.null_count() < column.len()]
    return named.select(name for name in known if name not in _UNREAD)


def _markdown_table(rows: pl.DataFrame) -> str:
    """The rows of a gate as a table of Markdown, numbers with three significant digits."""
    head = f"| {' | '.join(rows.columns)} |\n|{' --- |' * rows.width}"
    return "\n".join(
        [head, *(f"| {' | '.join(map(_markdown_cell, row))} |" for row in rows.rows())]
    )


def _markdown_cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else markdown_text(str(value))
