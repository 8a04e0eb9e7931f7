"""Errors of JSON files name the file, the place and what was expected."""

from pathlib import Path

import polars as pl
import pytest

from polars_scorio.logs.json_files import (
    FileRows,
    describe_content,
    errors_name_file,
    model_table,
    parse_json,
)
from polars_scorio.logs.reader_options import read_rows
from polars_scorio.logs.runs import Run

FILE = Path("/runs/a.json")


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (KeyError("reward"), "something that lacks 'reward' in line 2: it may be"),
        (TypeError("no list"), r"something of another shape in line 2 \(no list\): it may be"),
        (IndexError("too short"), r"something of another shape in line 2 \(too short\)"),
        (ValueError("no number"), r"a value that cannot be read in line 2 \(no number\)"),
        (OverflowError("too large"), r"a value that cannot be read in line 2 \(too large\)"),
        (RecursionError("too deep"), r"a value that cannot be read in line 2 \(too deep\)"),
        (pl.exceptions.ComputeError("a\nb"), r"a value that cannot be read in line 2 \(a\)"),
    ],
)
def test_a_foreign_error_is_replaced(error, found):
    message = rf"^/runs/a.json: expected a run, found {found}"
    with pytest.raises(ValueError, match=message), errors_name_file(FILE, "a run", " in line 2"):
        raise error


def test_an_error_that_names_the_file_stays():
    with pytest.raises(ValueError, match=r"^/runs/a.json has two scores$"):  # noqa: SIM117 - one line each
        with errors_name_file(FILE, "a run"):
            raise ValueError(f"{FILE} has two scores")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[1, 2", r"text that is no JSON at line 1, column 6 \(where it ends"),
        ('[{"a": {"b": 1, "b": 2}}]', "two values of the key 'b'"),
        ("[1,\n x]", "text that is no JSON at line 2, column 2: Expecting"),
        (b"\xff", "bytes that are no text"),
        ("9" * 6_000, "JSON that is too large: .*digits"),
    ],
)
def test_a_text_that_is_no_json_is_refused(text, found):
    with pytest.raises(ValueError, match=f"^/runs/a.json: expected a run, found {found}"):
        parse_json(FILE, text, "a run")


def test_a_blank_file_is_called_empty():
    with pytest.raises(ValueError, match=r"^/runs/a.json is empty: expected a run$"):
        parse_json(FILE, " \n", "a run")


def test_a_value_that_does_not_fit_is_named_with_file_and_trial():
    rows = {Path("/runs/b.json"): [(1,)], FILE: [(1,), (None,), ("x" * 100,)]}
    runs = {path: FileRows(part, Run(name=path.stem)) for path, part in rows.items()}
    models = {path: path.stem for path in runs}
    with pytest.raises(
        ValueError, match=r"a.json: .*the reward 'xxx.*\.\.\..*' in trial 3, where Float64"
    ):
        model_table(runs, models, {"reward": pl.Float64}, "a run")


def test_files_of_another_kind_are_passed_over_unless_they_were_named(tmp_path):
    run, other = tmp_path / "run.json", tmp_path / "other.json"
    run.write_text("[1]")
    other.write_text('{"some": "thing"}')

    def rows(_, content):
        if isinstance(content, list):
            return FileRows([(value,) for value in content], Run(name="a"))
        return None

    found = read_rows(tmp_path, ("*.json",), "a run", rows, {})
    assert found.parts == {run: FileRows([(1,)], Run(name="a"))}
    with pytest.raises(ValueError, match=r"other.json: expected a run, found an object with the"):
        read_rows([run, other], ("*.json",), "a run", rows, {})


def test_contents_are_described_in_a_few_words():
    assert describe_content(dict.fromkeys("abcdefgh")).endswith("'f'] and 2 more")
    assert describe_content("text") == "'text'"
