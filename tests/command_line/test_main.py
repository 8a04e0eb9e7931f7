"""The command as a process: exit statuses and messages."""

import subprocess
import sys

import pytest

from polars_scorio.command_line.main import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.parquet"], "there is no file or folder nothing.parquet"),
        (["log.parquet", "--question", "task"], "there is no column 'task' for the question"),
        (["log.parquet", "--confidence", "2"], "confidence must be"),
        (["log.parquet", "--n", "0"], "n must be a positive int"),
        (["log.parquet", "--category", "reward >="], "neither a column nor"),
        (["log.parquet", "-o", "no/folder/report.html"], "there is no folder"),
    ],
)
@pytest.mark.usefixtures("log")
def test_what_cannot_be_run_says_so(capsys, arguments, message):
    assert main(["report", *arguments]) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.startswith("polars-scorio: ")
    assert "Traceback" not in printed


def test_it_is_a_module_too(log):
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "polars_scorio",
        "coverage",
        log,
        "--by",
        "bench",
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)  # noqa: S603
    assert done.stderr == ""
    assert "bench 1" in done.stdout


def test_a_reader_who_has_seen_enough_is_no_error(log):
    command = [sys.executable, "-m", "polars_scorio", "coverage", log, "--by", "bench"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        running.stdout.close()
        assert running.stderr.read() == b""
