"""A log without a command."""

import subprocess
import sys

import pytest

from polars_scorio.command_line.main import main


def test_a_log_alone_is_summarised(log, capsys):
    assert main([log, "--by", "bench"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("┌")
    assert "| rank | model | avg@4 (%) |" in printed
    assert printed.endswith("For a page to send: polars-scorio report log.parquet --by bench\n")


def test_what_draws_no_picture_needs_no_package_that_draws(log):
    absent = "import sys; sys.modules.update(altair=None, jinja2=None, vl_convert=None)"
    call = "from polars_scorio.command_line.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", f"{absent}; {call}", log, "--by", "bench"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")  # noqa: S603 - its own words
    assert "| rank | model | avg@4 (%) |" in done.stdout


def test_a_refused_log_gets_its_coverage_and_the_reason(log, capsys):
    assert main([log]) == 1  # trials are there twice
    printed = capsys.readouterr().out
    assert printed.startswith("┌")
    assert "the same trial twice" in printed


def test_a_misspelt_command_is_no_log(capsys):
    with pytest.raises(SystemExit):
        main(["reprot", "log.parquet"])
    assert "invalid choice: 'reprot'" in capsys.readouterr().err
    assert main(["nothing.csv"]) == 2
    assert "there is no file or folder nothing.csv" in capsys.readouterr().err
