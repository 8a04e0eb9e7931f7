"""The logs of LiveCodeBench."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import FileRows, Row
from polars_scorio.logs.paths import Paths, plain_path
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_columns, log_reader, read_rows
from polars_scorio.logs.runs import Run, Totals, mean_of_means, mean_or_none, run_settings

_EXPECTED = "*_eval_all.json of LiveCodeBench: a list of objects with question_id and graded_list"
# Settings in which runs of one model may differ, in the name of the file.
SETTINGS = ("scenario", "temperature")
_NAME = re.compile(
    r"Scenario\.(?P<scenario>\w+?)_(?P<programs>\d+)_(?P<temperature>[\d.]+)_eval_all"
)
_FACTS = "difficulty", "platform", "contest_date"  # fields of a problem
_COLUMNS = log_columns(
    "question", "trial", "category", *_FACTS, trial=pl.Int64, category=pl.Boolean
)


@log_reader
def livecodebench(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.DataFrame]:
    """Read LiveCodeBench: output/<model>/Scenario.codegeneration_<n>_<temperature>_eval_all.json.

    The trial is the place in graded_list. No outcome is null: a program that runs out of time has
    failed. In `describe`, `planned` is problems x programs in the name of the file and `reported`
    is the mean of `pass@1`. Columns: model, question, trial, category, difficulty, platform,
    contest_date (text, as 2023-08-21T00:00:00), run (the name of the file, which has samples and
    temperature), source (the file). ``by="difficulty"`` makes it a stratum; a filter of `.frame` on
    contest_date keeps problems from after a model was trained.

    Parameters
    ----------
    model
        Default: the folder; of a file with another name, that without `_eval_all.json`.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.livecodebench("output", by="difficulty").pass_at_k([1, 5])  # doctest: +SKIP
    """
    log = read_rows(paths, ("*_eval_all.json",), _EXPECTED, _program_verdicts, roles)
    return log.named(_model_folder, alone=True).accessor(_COLUMNS)


def _model_folder(file: Path) -> Path:
    """The path that is named after the model: the folder, or a file that was renamed."""
    if file.name.startswith("Scenario."):
        return file.parent
    return file.with_name(re.sub(r"(_eval_all)?\.json$", "", file.name))


def _program_verdicts(file: Path, problems: Any) -> FileRows | None:
    if not isinstance(problems, list) or not problems or "graded_list" not in problems[0]:
        return None
    rows: list[Row] = [
        (problem["question_id"], trial, passed, *map(problem.get, _FACTS))
        for problem in problems
        for trial, passed in enumerate(problem["graded_list"])
    ]
    name = plain_path(file).name
    described = _NAME.match(name)
    run = Run(
        name=name.removesuffix("_eval_all.json"),
        settings=run_settings(described.groupdict(), SETTINGS) if described else {},
        totals=(_problem_totals(problems, described and int(described["programs"])),),
    )
    records = (problem for problem in problems for _ in problem["graded_list"])
    return FileRows(rows, run, records)


def _problem_totals(problems: list[dict[str, Any]], programs: int | None) -> Totals:
    """Totals of a file: the programs that its name says for each problem, and the pass@1."""
    return Totals(
        planned=programs and programs * len(problems),
        reported=mean_or_none(problem.get("pass@1") for problem in problems),
        read=sum(len(problem["graded_list"]) for problem in problems),
        score=mean_of_means(
            (place, float(passed))
            for place, problem in enumerate(problems)
            for passed in problem["graded_list"]
        ),
    )
