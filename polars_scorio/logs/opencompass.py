"""The logs of OpenCompass and AISBench."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.coverage import warn_of_log
from polars_scorio.logs.json_files import FileRows, Row, unexpected_content
from polars_scorio.logs.kept_fields import json_text
from polars_scorio.logs.paths import Paths, plain_path
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_columns, log_reader, read_rows
from polars_scorio.logs.runs import Run

_EXPECTED = "results/<model>/<dataset>.json of OpenCompass or AISBench: an object with 'details'"
_COLUMNS = log_columns("question", "trial", "category", trial=pl.Int64, category=pl.Boolean)
# For each question the lists of its runs, by name: answers, verdicts, ...
Details: TypeAlias = "list[dict[str, Any]]"
_GOLD = "answer", "gold", "references"  # names of the right answer
_VERDICTS = "correct", "is_correct", "cascade_correct"


@log_reader
def opencompass(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.DataFrame]:
    """Read OpenCompass and AISBench: results/<model>/<dataset>.json with details.

    AISBench writes details only with --dump-eval-details. The trial is the place in the lists. The
    outcome is null where the answer of a run was not judged. Columns: model, benchmark (which is
    `by`), question, trial, category, run (the folder above `results`), source (the file).

    With n > 1, AISBench files runs of several questions under one: the right answers of an entry
    differ. If every M-th run of the file (of M questions) has one right answer, the runs are
    regrouped so, with a warning. The numbers that AISBench prints of such a file are wrong.

    Parameters
    ----------
    model
        Default: the folder.

    Raises
    ------
    ValueError
        If it has no details, or right answers differ within a question in another way.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.opencompass("outputs/default/20260101/results").maj_at_k()  # doctest: +SKIP
    """
    log = read_rows(paths, ("*.json",), _EXPECTED, _run_rows, roles)
    return log.named(lambda file: file.parent).accessor(_COLUMNS, by="benchmark")


def _run_rows(file: Path, results: Any) -> FileRows | None:
    """The runs of each question of a file; None for files of another kind."""
    if not isinstance(results, dict) or "details" not in results:
        if isinstance(results, dict) and any(isinstance(v, int | float) for v in results.values()):
            raise unexpected_content(
                file, _EXPECTED, "only scores: evaluate with --dump-eval-details"
            )
        return None
    details, benchmark = results["details"], plain_path(file).stem
    plain = isinstance(details, dict)
    named = (
        {name: entry for name, entry in details.items() if isinstance(entry, dict)}  # not "type"
        if plain
        else dict(enumerate(_regrouped_details(file, details)))
    )
    verdicts = {name: _question_verdicts(question, plain=plain) for name, question in named.items()}
    rows: list[Row] = [
        (str(named[name].get("example_abbr", name)), trial, verdict)
        for name, given in verdicts.items()
        for trial, verdict in enumerate(given)
    ]
    # The tool names the folder of a run after the time when it began.
    run = Run(name=file.parent.parent.parent.name, keys={"benchmark": benchmark})
    records = (
        record
        for name, given in verdicts.items()
        for record in _run_records(named[name], len(given))
    )
    return FileRows(rows, run, records)


def _run_records(question: Mapping[str, Any], runs: int) -> Iterator[dict[str, Any]]:
    """The fields of a question for each of its runs; lists have a value for each run."""
    lists = {name: value for name, value in _run_lists(question).items() if len(value) == runs}
    for place in range(runs):
        yield {**question, **{name: value[place] for name, value in lists.items()}}


def _regrouped_details(file: Path, details: Details) -> Details:
    """The runs of each question, where AISBench has filed them under other questions."""
    # AISBench zips n repeats of each question with details in another order: run r of question i
    # is at i + r M.
    mixed = [entry for entry in details if len(_right_answers(entry)) > 1]
    if not mixed:
        return details
    runs = {len(value) for entry in details for value in _run_lists(entry).values()}
    regrouped = _every_mth_run(details) if len(runs) == 1 else details
    first = mixed[0].get("example_abbr")
    if any(len(_right_answers(entry)) > 1 for entry in regrouped):
        problem = (
            f"runs of several questions under one: the right answers of {first!r} differ, "
            f"{sorted(_right_answers(mixed[0]))}"
        )
        raise unexpected_content(file, _EXPECTED, problem)
    warn_of_log(
        f"{file}: {len(mixed)} of {len(details)} questions hold runs of other questions (the right "
        f"answers of {first!r} differ). They are regrouped: every {len(details)}th run of the file "
        "is of one question. What the tool printed of this file is wrong"
    )
    return regrouped


def _every_mth_run(details: Details) -> Details:
    """For each of M questions i the runs at the places i, i + M, i + 2 M, ... of the whole file."""
    number = len(details)
    flat = {
        name: [*chain.from_iterable(entry[name] for entry in details)]
        for name in _run_lists(details[0])
    }
    return [
        {**entry, **{name: runs[place::number] for name, runs in flat.items()}}
        for place, entry in enumerate(details)
    ]


def _run_lists(entry: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The fields of a question that have a value for each of its runs."""
    return {name: value for name, value in entry.items() if isinstance(value, list)}


def _right_answers(entry: Mapping[str, Any]) -> set[str]:
    """The right answers of the runs of a question, of which there should be one."""
    fields = _run_lists(entry)
    runs = max(map(len, fields.values()), default=0)
    given = [fields[name] for name in _GOLD if len(fields.get(name, ())) == runs]
    return {json_text(answer) for answers in given for answer in answers}


def _question_verdicts(question: dict[str, Any], *, plain: bool) -> list[bool | None]:
    """The verdict of each run of a question; None if its answer was not judged."""
    given = [question[key] for key in _VERDICTS if key in question]
    if plain:
        return [given[0] if given else None]
    verdicts: list[bool | None] = given[0] if given else []
    # Verdicts are missing for answers that were not judged; other lists have all runs.
    runs = max((len(value) for value in question.values() if isinstance(value, list)), default=0)
    return [*verdicts, *[None] * (runs - len(verdicts))]
