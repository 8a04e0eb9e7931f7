"""What the command prints, in pipes of all kinds."""

import contextlib
import io
import os
import re
import subprocess
import sys
import time

import polars as pl
import pytest

from polars_scorio.command_line import messages
from polars_scorio.command_line.main import command_parser, main
from polars_scorio.command_line.messages import (
    command_words,
    print_lines,
    print_message,
    print_table,
)
from polars_scorio.display.media.terminal import Screen
from polars_scorio.display.phrases import MISSING


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])  # of the pipes of Windows
def test_pipes_that_lack_characters_have_tables_without(log, encoding):
    frame = pl.read_parquet(log)
    frame.with_columns(model=pl.concat_str(pl.lit("β"), "model")).write_parquet(log)
    for call in (["describe", log], ["report", log, "-o", "-"]):
        command = [sys.executable, "-m", "polars_scorio", *call, "--by", "bench"]
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603
        assert "?m0" in done.stdout.decode(encoding)


MESSAGES = {
    "pass success= the categories": "pass --success the categories",
    "success=, missing=": "--success, --missing",
    "other than n=3": "other than --n 3",
    'confidence=0.9, prior="population".': "--confidence 0.9, --prior population.",
    "model=None; trial=None": "--model none; --trial none",
    "name the column with model=": "name the column with --model",
    "levels=[0, 1]; by=pl.col('x'); df.n=3": "levels=[0, 1]; by=pl.col('x'); df.n=3",
    "as in by=['benchmark', 'args.rlm']": "as in --by benchmark --by args.rlm",
    "say success=, or weigh them all with w={label: weight, ...}": "say --success",
    "pass trial=None, or validate=False to skip this check.": "pass --trial none.",
    "at model='a', question='n=3', trial=1": "at model='a', question='n=3', trial=1",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_keywords_become_options(message):
    asked = vars(command_parser().parse_args(["report", "log"]))
    assert command_words(message, asked) == MESSAGES[message]


def test_ways_out_of_python_alone_are_left_out(folder, capsys):
    words = pl.DataFrame({"model": "m", "question": range(4), "category": ["no", "yes", "Yes", ""]})
    words.with_columns(reward=pl.Series([1e-25, 0, 0, 0]), trial=0).write_csv(folder / "words.csv")
    assert main(["rank", "words.csv", "--success", "yes"]) == 1
    said = capsys.readouterr().err
    assert "name them all in --success. If not, cast" in said
    assert main(["rank", "words.csv", "--category", "reward"]) == 1
    said = capsys.readouterr().err
    assert "Count in a smaller unit, or pass --bounds with the possible rewards.\n" in said


@pytest.mark.filterwarnings("always")
def test_warnings_are_messages_of_the_command(log, capsys):
    arguments = ["compare", log, "--by", "bench", "--success", "7"]
    assert main(arguments) == 0
    error = capsys.readouterr().err
    assert error.startswith("polars-scorio: warning: ")
    assert "--success" in error
    assert ".py" not in error


def test_a_warning_that_is_an_error_is_a_message_too(log, capsys):
    assert main(["compare", log, "--by", "bench", "--success", "7"]) == 1
    assert capsys.readouterr().err.startswith("polars-scorio: ")


COMMANDING = "m\x1b]0;title\x07\x9b2J\u202e\r\u2028"


@pytest.mark.parametrize(
    "call",
    [
        *(["summary"], ["rank"], ["rank", "--format", "markdown"], ["describe"], ["questions"]),
        *(["compare", "--baseline", COMMANDING], ["compare", "--baseline", "x\x1b"]),
        pytest.param(["report", "-o", "\x1b[1m.html"], marks=pytest.mark.slow),
        pytest.param(["report", "-o", "-"], marks=pytest.mark.slow),
        ["gate", "--margin", "0.1", "--baseline", COMMANDING],
        *(["rank", "--metric", "a\x1b"], ["rank", "--nothing\x1b"], ["rank", "--from", "\x1b"]),
    ],
)
def test_no_name_commands_the_terminal(log, capsys, call):
    name = pl.col("model").str.replace("m00", COMMANDING, literal=True)
    hostile = "a\x1b[31m.parquet"
    pl.read_parquet(log).filter(bench="bench 0").with_columns(name).write_parquet("log.parquet")
    with contextlib.suppress(SystemExit):
        main([call[0], "log.parquet", *call[1:]])
        main([call[0], hostile, *call[1:]])
    printed = capsys.readouterr()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]", printed.out + printed.err)
    assert re.search(r"\(U\+001B\)|\\x1b", printed.out + printed.err)


@pytest.mark.parametrize("written", ["csv", "json"])
def test_tables_for_programs_keep_the_characters_of_names(capsys, written):
    print_table(pl.DataFrame({"model": [COMMANDING]}), written)
    printed = capsys.readouterr().out
    assert "(U+" not in printed
    assert "\u202e" in printed


TABLE = pl.DataFrame({"model": ["a|b", None], "share": [0.123456789, 1.0], "seen": [[0, 1], []]})
ROWS = (
    '{"model":"a|b","share":0.123456789,"seen":[0,1]}',
    '{"model":null,"share":1.0,"seen":[]}',
)
FORMATS = {
    "csv": ["model,share,seen", "a|b,0.123456789,0;1", ',1.0,""'],
    "json": [f"[{','.join(ROWS)}]"],
    "markdown": [
        "| model | share | seen |",
        "| --- | ---: | --- |",
        r"| a\|b | 0.123 | 0, 1 |",
        f"| {MISSING} | 1.000 |  |",
    ],
}


@pytest.mark.parametrize("written", FORMATS)
def test_tables_have_formats_for_other_programs(capsys, written):
    print_table(TABLE, written)
    lines = capsys.readouterr().out.splitlines()
    assert lines == FORMATS[written]


@pytest.mark.parametrize("written", ["table", "csv", "json", "markdown"])
@pytest.mark.parametrize("command", ["compare", "describe", "rank", "counts"])
def test_every_table_takes_a_format(log, capsys, command, written):
    assert main([command, log, "--by", "bench", "--format", written]) == 0
    printed = capsys.readouterr().out
    first = {
        "table": "┌" if command == "counts" else "\n  ",
        "csv": "bench,",
        "json": '[{"bench":',
        "markdown": "| bench |",
    }
    assert printed.startswith(first[written])


@pytest.mark.parametrize(
    ("terminal", "variables", "coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    terminal, variables, coloured, monkeypatch, capsys
):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.setenv(name, variables.get(name, ""))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    print_lines(Screen.from_output().prose([("FAIL", "fail"), ("v2\x1b[0m is worse", "")]))
    head = "\x1b[31mFAIL\x1b[0m" if coloured else "FAIL"
    assert capsys.readouterr().out == f"\n  {head} v2(U+001B)[0m is worse\n"


def test_errors_and_warnings_wrap_on_a_terminal_alone(capsys, monkeypatch):
    """A message of 300 letters was one line, which the terminal broke within words."""
    said = "polars-scorio: " + "a word and a number 12 " * 9
    monkeypatch.setenv("COLUMNS", "50")
    print_message(said, {})
    assert capsys.readouterr().err == f"{said}\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    print_message(f"{said}\nSee --help.", {})
    *lines, last = capsys.readouterr().err.splitlines()
    assert len(lines) > 4
    assert max(map(len, lines)) <= 50
    assert " ".join(lines) == said.strip()
    assert last == "See --help."


# A word on what takes long, and none on what does not.


def test_what_is_quick_is_silent():
    stream = io.StringIO()
    with messages.Progress(stream) as steps:
        steps.tell("reading")
        steps.tell("drawing")
    assert stream.getvalue() == ""


def test_what_takes_long_says_at_which_step_it_is(monkeypatch):
    monkeypatch.setattr(messages, "_PATIENCE", 0.05)
    stream = io.StringIO()
    with messages.Progress(stream) as steps:
        steps.tell("reading")
        steps.tell("reporting")
        deadline = time.monotonic() + 30
        while not stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        steps.tell("drawing")
    assert stream.getvalue() == "reporting ...\ndrawing ...\n"
