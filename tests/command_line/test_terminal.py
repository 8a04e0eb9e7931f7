"""What the command prints, in pipes of all kinds."""

import os
import subprocess
import sys

import polars as pl
import pytest

from polars_scorio.command_line.main import command_parser, main
from polars_scorio.command_line.terminal import command_words


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])  # of the pipes of Windows
def test_pipes_that_lack_characters_have_tables_without(log, encoding):
    frame = pl.read_parquet(log)
    frame.with_columns(model=pl.concat_str(pl.lit("β"), "model")).write_parquet(log)
    for call in (["coverage", log], ["report", log, "-o", "-"]):
        command = [sys.executable, "-m", "polars_scorio", *call, "--by", "bench"]
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603
        assert "| ?" in done.stdout.decode(encoding)


MESSAGES = {
    "pass success= the categories": "pass --success the categories",
    "success=, missing=": "--success, --missing",
    "other than n=3": "other than --n 3",
    'confidence=0.9, inference="pooled".': "--confidence 0.9, --inference pooled.",
    "model=None; trial=None": "--model none; --trial none",
    "name the column with model=": "name the column with --model",
    "levels=[0, 1]; by=pl.col('x'); df.n=3": "levels=[0, 1]; by=pl.col('x'); df.n=3",
    "as in by=['benchmark', 'args.rlm']": "as in --by benchmark --by args.rlm",
    "at model='a', question='n=3', trial=1": "at model='a', question='n=3', trial=1",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_keywords_become_options(message):
    asked = vars(command_parser().parse_args(["report", "log"]))
    assert command_words(message, asked) == MESSAGES[message]


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
