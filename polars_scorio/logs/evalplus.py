"""The logs of EvalPlus."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import FileRows, Row
from polars_scorio.logs.paths import Paths, plain_path, samples_place
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_reader, read_rows
from polars_scorio.logs.runs import Run, Totals, mean_of_means, run_settings

_EXPECTED = "an eval_results.json of evalplus.evaluate: an object with 'eval'"
_ENDING = r"[._]?eval_results\.json"
_COLUMNS = {"question": pl.String, "trial": pl.Int64, "base": pl.String, "plus": pl.String}
# Settings in which runs of one model may differ.
SETTINGS = ("hash",)  # of the tasks
# Statuses that EvalPlus wrote in 2023, in its present words.
_WORDS = {"success": "pass", "failed": "fail", "timed out": "timeout"}


@log_reader
def evalplus(
    paths: Paths,
    *,
    tests: Literal["plus", "base"] = "plus",
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read EvalPlus (HumanEval+, MBPP+): the *eval_results.json of evalplus.evaluate.

    Files of 2023 are read too. A program succeeds on plus if it passes both kinds of tests. One
    that runs out of time has failed, as EvalPlus says. The outcome is null if the tests did not
    run. In `describe`, `reported` is `pass_at_k` of newer files. Columns: model, question, trial
    (place in the list), category, base, plus, run (its date), source (the file).

    Parameters
    ----------
    model
        Default: the file without `_eval_results.json`; the folder, where that is `samples`.
    tests : "plus" or "base"
        Which tests a program has to pass.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.evalplus("results").pass_at_k([1, 10])  # doctest: +SKIP
    """
    if tests not in ("plus", "base"):
        raise ValueError(f"tests must be 'plus' or 'base', got {tests!r}")
    rows = partial(_program_rows, tests=tests)
    log = read_rows(paths, ("*eval_results.json",), _EXPECTED, rows, roles)
    # With --base-only `plus` is null, and so is the outcome, also of programs that fail on base.
    statuses = pl.col("base") if tests == "base" else pl.col("base", "plus")
    passed = pl.when(pl.all_horizontal(statuses.is_not_null())).then(
        pl.all_horizontal(statuses == "pass")
    )
    log = log.named(lambda file: samples_place(file, _ENDING), alone=True)
    return log.accessor(_COLUMNS, passed)


def _program_rows(file: Path, content: Any, tests: str) -> FileRows | None:
    """The programs of a file; None for files of another kind."""
    if not isinstance(content, dict) or "eval" not in content:
        return None
    rows: list[Row] = [
        (task, trial, base, plus)
        for task, programs in content["eval"].items()
        for trial, (base, plus) in enumerate(_program_statuses(programs))
    ]
    run = Run(
        name=str(content.get("date", plain_path(file).stem)),
        settings=run_settings(content, SETTINGS),
        totals=(_reported_totals(content, rows, tests),),
    )
    records = (
        program
        for programs in content["eval"].values()
        for program in (programs if isinstance(programs, list) else [{}] * programs["nfiles"])
    )
    return FileRows(rows, run, records)


def _reported_totals(content: Mapping[str, Any], rows: list[Row], tests: str) -> Totals:
    """Totals of a file: the pass@1 that newer files report, and the pass@1 of the rows."""
    reported = (content.get("pass_at_k") or {}).get(tests) or {}
    passed = (
        (task, float(base == "pass" and (tests == "base" or plus == "pass")))
        for task, _, base, plus in rows
    )
    score = mean_of_means(passed)
    return Totals(reported=reported.get("pass@1"), read=len(rows), score=score)


def _program_statuses(programs: Any) -> list[tuple[str | None, str | None]]:
    """The statuses of each program on the tests base and plus."""
    if isinstance(programs, list):
        return [(program["base_status"], program["plus_status"]) for program in programs]
    number = programs["nfiles"]
    base, plus = (_old_statuses(programs[tests], number) for tests in ("base", "plus"))
    return [*zip(base, plus, strict=True)]


def _old_statuses(results: list[list[Any]] | None, number: int) -> list[str | None]:
    """The statuses of one kind of tests in a file of 2023; null if those tests did not run."""
    statuses = [_WORDS.get(status, status) for status, _ in results or ()]
    return [*statuses, *[None] * (number - len(statuses))]
