"""The logs of the Berkeley Function-Calling Leaderboard."""

from __future__ import annotations

import re
import reprlib
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
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Getter, Vocabulary
from polars_scorio.logs.paths import Paths, find_files, plain_path, side_file
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_columns,
    log_reader,
    read_row_files,
)
from polars_scorio.logs.runs import Run, Totals, run_settings

_EXPECTED = "<category>_score.json of BFCL: a line of totals, then a line for each failure"
_SIDE = "<category>_result.json of BFCL: a line with an id for each test"
_NAME = re.compile(
    r"(?:BFCL_v(?P<version>\d+)_|gorilla_openfunctions_v\d+_test_)?(?P<category>.+)_(score|result)\.json$"
)
# Settings in which runs of one model may differ, in the name of the file.
SETTINGS = ("version",)
_COLUMNS = log_columns("question", "category", "error", category=pl.Boolean)


def _summed_turns(name: str) -> Getter:
    """The function that sums a field over turns and steps, for which it is a list of lists."""
    return lambda record: _nested_sum(record.get(name))


def _nested_sum(value: Any) -> Any:
    """The sum of the numbers in lists of lists; another value as it is."""
    return sum(map(_nested_sum, value)) if isinstance(value, list) else value


_VOCABULARY: Vocabulary = {
    "input_tokens": _summed_turns("input_token_count"),
    "output_tokens": _summed_turns("output_token_count"),
    "seconds": _summed_turns("latency"),
}


@log_reader
def bfcl(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.DataFrame]:
    """Read BFCL: score/<model>/.../BFCL_v4_<category>_score.json, with the results in result/.

    A score file lists only the tests that failed. The ids of all tests are in the file of the same
    category in the folder `result` beside `score`: both are needed. Before 2025 a failure had the
    number of its line in the results, from 1; if its number fits an id as well, the answers decide.
    No outcome is null. Each test has one trial, without an id. In `describe`, `planned` is
    `total_count` and `reported` is `accuracy`. Columns: model, benchmark (the test category, which
    is `by`), question, category, error (the type of what went wrong), run (the folder above
    `score`), source (the score file).

    Parameters
    ----------
    model
        Default: the folder below `score`.

    Raises
    ------
    FileNotFoundError
        If the results of a score file are missing.
    ValueError
        If totals, failures and results contradict each other.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.bfcl("score").avg()  # doctest: +SKIP
    """
    files = find_files(paths, "*_score.json")
    log = read_row_files(files, _EXPECTED, _test_verdicts, roles, _VOCABULARY)
    return log.named(_model_folder_below).accessor(_COLUMNS, by="benchmark", trial=None)


def _score_folder(file: Path) -> Path:
    """The folder of all scores, whose name begins with `score`; without one, that of the file."""
    return next((folder for folder in file.parents if folder.name.startswith("score")), file.parent)


def _model_folder_below(file: Path) -> Path:
    """The folder of a model, directly below that of all scores."""
    folder = _score_folder(file)
    parts = file.relative_to(folder).parts
    return folder / parts[0] if len(parts) > 1 else folder


def _result_file(file: Path, category: str) -> Path:
    """The file with the results of a score file: of its name, or else of its category."""
    folder = _score_folder(file)
    results = folder.with_name(folder.name.replace("score", "result", 1))
    name = re.sub(r"_score\.json$", "_result.json", plain_path(file).name)
    same = side_file(results / file.relative_to(folder).parent / name, name)
    # Of early versions only one of both names has the version.
    of_category = [
        side for side in sorted(same.parent.glob("*_result.json*"))
        if (match := _NAME.search(plain_path(side).name)) and match["category"] == category
    ]  # fmt: skip
    if same.exists() or len(of_category) == 1:
        return same if same.exists() else of_category[0]
    raise FileNotFoundError(
        f"{same} is missing, which has the ids of the tests that passed: {file.name} lists "
        f"only failures, and {len(of_category)} files have results of its category. Copy it from "
        "where the run wrote it"
    )


def _test_verdicts(file: Path) -> FileRows:
    """A row for each test of a file."""
    name = _NAME.search(plain_path(file).name)
    if name is None:
        raise unexpected_content(file, _EXPECTED, f"the name {file.name!r}")
    category = name["category"]
    (_, totals), *lines = numbered_objects(file, _EXPECTED)
    total, correct = totals["total_count"], totals["correct_count"]
    failures = {failure["id"]: failure for _, failure in lines}
    side = _result_file(file, category)
    with errors_name_file(side, _SIDE):
        tests = {
            result["id"] if "id" in result else result["idx"]: result
            for _, result in numbered_objects(side, _SIDE)
        }
    readings = _failure_readings(failures, tests)
    if len(tests) != total or len(failures) != total - correct or len(readings) != 1:
        verdicts = (
            f"totals of {correct} correct and {total} tests, {len(failures)} failures, and "
            f"{len(tests)} tests in {side}; the failures {reprlib.repr([*failures])} may be "
            f"{' or '.join(readings) or 'neither ids nor line numbers'} of {reprlib.repr([*tests])}"
        )
        raise unexpected_content(file, "totals that fit the failures and results", verdicts)
    (tested,) = readings.values()
    errors = {test: _error_type(failures[name]) for name, test in tested.items()}
    rows: list[Row] = [(str(t), t not in errors, errors.get(t)) for t in tests]
    run = Run(
        name=_score_folder(file).parent.name,
        keys={"benchmark": category},
        settings=run_settings(name.groupdict(), SETTINGS) if name["version"] else {},
        # The totals agree with the rows, or the file was refused above: nothing is left to compare.
        totals=(Totals(planned=total, reported=totals.get("accuracy")),),
    )
    return FileRows(rows, run, tests.values())


def _failure_readings(
    failures: Mapping[Any, Mapping[str, Any]], tests: Mapping[Any, Mapping[str, Any]]
) -> dict[str, dict[Any, Any]]:
    """For each meaning that the ids of failures may have, the test of each id."""
    numbered = dict(enumerate(tests, 1))
    readings = {"ids": {name: name for name in failures}}
    if failures:
        readings["line numbers from 1"] = {name: numbered.get(name) for name in failures}
    fitting = {how: read for how, read in readings.items() if {*read.values()} <= {*tests}}
    answered = {
        how: read for how, read in fitting.items()
        if all(_is_answer(failures[name], tests[test]) for name, test in read.items())
    }  # fmt: skip
    return answered if len(answered) == 1 else fitting


def _is_answer(failure: Mapping[str, Any], test: Mapping[str, Any]) -> bool:
    """Whether the answer of a failure is that of a test, as far as the failure has one."""
    answer = failure.get("model_result_raw", failure.get("model_result"))
    return answer is None or str(answer) == str(test.get("result"))


def _error_type(failure: Mapping[str, object]) -> str:
    """The type of an error: a field of the error, or of the line that has it."""
    error = failure.get("error")
    kind = error.get("error_type") if isinstance(error, dict) else failure.get("error_type")
    return str(kind or "failed")
