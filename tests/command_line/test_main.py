"""The command as a process: exit statuses and messages."""

import subprocess
import sys

import pytest

from polars_scorio.command_line import coverage_command
from polars_scorio.command_line.main import _COMMANDS, main


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["coverage", "log.parquet", "--by", "bench"], ["--help"]])
@pytest.mark.usefixtures("log")
def test_a_reader_who_has_seen_enough_is_no_error(arguments):
    command = [sys.executable, "-m", "polars_scorio", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode in {0, 141}  # argparse passes over a broken pipe


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("redirection", "arguments", "status", "error"),
    [
        (">&-", ["log.parquet", "--by", "bench"], 0, ""),
        ("2>&-", ["nothing.parquet"], 2, ""),
        ("<&-", ["-"], 2, "polars-scorio: standard input is closed\n"),
    ],
)
@pytest.mark.usefixtures("log")
def test_a_closed_stream_is_no_traceback(redirection, arguments, status, error):
    command = [sys.executable, "-m", "polars_scorio", "coverage", *arguments]
    closed = ["sh", "-c", f'exec "$@" {redirection}', "sh", *command]
    done = subprocess.run(closed, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (status, "", error)


def test_an_interrupt_ends_without_a_traceback(log, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(coverage_command, "print_table", interrupt)
    assert main(["coverage", log, "--by", "bench"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", [[], *([name] for name in _COMMANDS)])
def test_help_lists_the_exit_statuses(command, capsys):
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    listed = capsys.readouterr().out.split("exit statuses:\n")[1]
    statuses = [int(line.split()[0]) for line in listed.splitlines()]
    assert statuses == [0, 1, 2, 3, 4, 130, 141]
