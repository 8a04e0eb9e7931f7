"""The report as a page, as Markdown, or as the page of a log that is refused."""

import errno
import os
import re
import sys
from pathlib import Path

import polars as pl
import pytest

from polars_scorio.command_line import messages as progress
from polars_scorio.command_line.main import main
from polars_scorio.display import page
from tests.display.html.logs import models, page_text


@pytest.mark.slow
def test_a_report_is_one_file(log, folder, capsys):
    assert main(["report", log, "--by", "bench"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [log, "report.html"]
    printed = capsys.readouterr()
    assert "95 % confidence, for all pairs at once \N{MIDDLE DOT} about these 24 questions\n" in (
        printed.out
    )
    assert printed.out.endswith("\nreport.html\n")
    assert printed.err == ""
    for part in ("log.parquet", "bench 1", "polars-scorio report log.parquet --by bench"):
        assert part in page_text("report.html")


def test_a_report_has_a_baseline(capsys):
    models(2, questions=3).write_csv("log.csv")
    assert main(["report", "log.csv", "--baseline", "m01", "--margin", "0.03", "-o", "-"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Undecided: m00 may be worse than m01 by more than 3 points.")
    assert "| part | points | verdict |" in printed


@pytest.mark.parametrize("command", ["report", "card"])
@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            ["--baseline", "m01"],
            "pass --margin, the score that a candidate may lose, as in --margin ",
        ),
        (["--margin", "0.02"], "--margin belongs to a gate: name its baseline with --baseline"),
    ],
)
def test_a_page_becomes_no_gate_with_a_margin_that_nobody_gave(command, option, message, capsys):
    models(2, questions=3).write_csv("log.csv")
    assert main([command, "log.csv", *option]) != 0
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_a_dash_prints_markdown(log, folder, capsys):
    assert main(["report", log, "--by", "bench", "-o", "-"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# m01 is ahead; m00 may be as good.\n")
    assert "| rank | model | avg" in printed.replace("| ---: ", "")
    assert [path.name for path in folder.iterdir()] == [log]


@pytest.mark.slow
def test_a_log_that_is_refused_has_a_page_and_status_1(capsys):
    models(2).with_columns(category=None).cast({"category": pl.Int8}).write_csv("log.csv")
    arguments = ["report", "log.csv", "--category", "CAST(category AS int)"]
    assert main(arguments) == 1
    reason = "24 questions have a missing category"
    text = Path("report.html").read_text(encoding="utf-8")
    assert '<h1 id="headline">This log cannot be scored yet.</h1>' in text
    assert f'<p class="lede">{reason}' in text
    typed = "polars-scorio {} log.csv --category 'CAST(category AS int)'"
    ways = [f"{typed.format('report')} --missing {value}" for value in ("drop", 0)]
    assert "\n".join([typed.format("describe"), *ways]) in page_text("report.html")
    assert reason in capsys.readouterr().out
    assert main([*arguments, "--missing", "0"]) == 0


def test_a_folder_that_does_not_exist_is_refused_before_the_work(log, capsys, monkeypatch):
    monkeypatch.setattr(page, "made_page", lambda *_, **__: pytest.fail("the log was read"))
    assert main(["report", log, "-o", "nowhere/report.html"]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_page(log, folder, capsys, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (folder / "report.html").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    assert main(["report", log, "--by", "bench"]) == 2
    assert "No space left on device: 'report.html'" in capsys.readouterr().err
    assert (folder / "report.html").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == [log, "report.html"]


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_printed_on_terminals_alone(capsys, monkeypatch, terminal):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    models(1).write_parquet("log.parquet")
    assert main(["report", "log.parquet", "-o", "-"]) == 0
    assert ("drawing ..." in capsys.readouterr().err) is terminal


def test_a_page_of_the_command_has_no_word_of_python(capsys):
    log = models(3).with_columns(pl.when(pl.col("trial") > 0).then("category").alias("category"))
    log.write_parquet("log.parquet")
    assert main(["report", "log.parquet"]) == 1
    assert main(["report", "log.parquet", "--missing", "drop", "-o", "dropped.html"]) == 0
    capsys.readouterr()
    for name in ("report.html", "dropped.html"):
        said = page_text(name).partition('"use strict"')[0]
        assert not re.search(r"\b(missing|unscored)=|df\.scorio|check\(\)", said)
    assert "--missing" in page_text("report.html")
