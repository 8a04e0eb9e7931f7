"""The leaderboard for a README, a paper, a page."""

import sys

import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.display.html.logs import models

CALL = ["leaderboard", "log.parquet", "--metric", "pass_at_k([1, 2])", "--confidence", "0.9"]


@pytest.fixture
def board():
    log = models(3)
    log.write_parquet("log.parquet")
    return log.scorio.leaderboard(ps.pass_at_k([1, 2]), confidence=0.9)


def test_it_is_markdown_or_latex(board, capsys):
    assert main(CALL) == 0
    assert capsys.readouterr().out == ps.to_markdown(board) + "\n"
    assert main([*CALL, "--format", "latex"]) == 0
    assert capsys.readouterr().out == ps.to_latex(board) + "\n"


@pytest.mark.usefixtures("board")
def test_on_a_terminal_it_fits_the_width_and_says_what_it_leaves_out(capsys, monkeypatch):
    """Rows of Markdown were wider than the terminal."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "72")
    assert main(CALL) == 0
    printed = capsys.readouterr().out
    assert "Pass@2 (%)" in printed
    assert "more column" not in printed
    assert "|" not in printed
    monkeypatch.setenv("COLUMNS", "44")
    assert main([*CALL, "--format", "table"]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= 44
    assert "1 more column: --format markdown." in narrow
    assert "Pass@1 (%)" in narrow
    assert "Pass@2 (%)" not in narrow


def test_as_html_it_is_a_table_of_its_own(board, capsys):
    assert main([*CALL, "--format", "html"]) == 0
    printed = capsys.readouterr().out
    assert "<table" in printed
    assert all(f">{model}</td>" in printed for model in board["model"])


def test_as_csv_it_has_all_digits(board, capsys):
    assert main([*CALL, "--format", "csv"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split(",") == board.columns
    assert len(rows) == board.height


def test_models_without_some_questions_are_compared_by_common_ones(capsys):
    log = models(3)
    log.filter((log["model"] != "m01") | (log["question"] < 9)).write_parquet("log.parquet")
    assert main(CALL) == 1
    assert "--unmatched drop" in capsys.readouterr().err
    assert main([*CALL, "--unmatched", "drop"]) == 0


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_a_table_weighs_all_strata_alike(form, capsys):
    log = models(3, strata=2)
    # Strata of one size would have the same means.
    log = log.filter((log["bench"] != log["bench"].max()) | (log["question"] < 9))
    log.write_parquet("log.parquet")
    call = ["leaderboard", "log.parquet", "--by", "bench"]
    boards = {kind: log.scorio(by="bench").leaderboard(ps.avg(), overall=kind)
              for kind in ("macro", "micro")}  # fmt: skip
    for options, kind in (([], "macro"), (["--overall", "micro"], "micro")):
        assert main([*call, "--format", form, *options]) == 0
        assert capsys.readouterr().out == getattr(ps, f"to_{form}")(boards[kind]) + "\n"
