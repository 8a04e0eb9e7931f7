"""Weights of strata as one types them: the numbers and the words are those of Python."""

import shlex
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.display.html.logs import models

WEIGHTS = "bench 0=2,bench 1=1,bench 2=1"
OF_PYTHON = {"bench 0": 2, "bench 1": 1, "bench 2": 1}
WORDS = "mean of 3 benches, weights 2 : 1 : 1"


@pytest.fixture(autouse=True)
def log(folder):
    """A log of three models in three strata of different sizes."""
    frame = models(3, strata=3)
    frame = frame.filter((pl.col("bench") != "bench 2") | (pl.col("question") < 7))
    frame.write_parquet(folder / "log.parquet")
    return frame


def printed(capsys, command, *words):
    assert main([command, "log.parquet", "--by", "bench", "--overall", WEIGHTS, *words]) in {0, 4}
    return " ".join(capsys.readouterr().out.split())


ANSWERS = {
    "summary": [],
    "report": ["-o", "-"],
    "leaderboard": ["--format", "markdown"],
    "compare": [],
    "rank": [],
    "plan": [],
    "gate": ["--baseline", "m00", "--margin", "0.1"],
}


@pytest.mark.parametrize("command", ANSWERS)
def test_all_answers_say_the_weights_in_one_phrase(command, capsys):
    text = printed(capsys, command, *ANSWERS[command])
    assert WORDS in text
    if command in {"summary", "compare", "rank"}:  # which name a next command
        following = text.partition("next polars-scorio ")[2].replace("\\ ", "")
        assert WEIGHTS in shlex.split(following)


def test_pages_boards_and_their_csv_say_the_same_phrase(log, capsys):
    scorio = log.scorio(by="bench")
    board = scorio.leaderboard(overall=OF_PYTHON)
    assert board["overall"].unique().to_list() == [WORDS]
    assert f"Columns without a stratum: {WORDS}." in ps.to_markdown(board)
    assert WORDS in board._repr_html_()
    printed(capsys, "report")
    assert WORDS in Path("report.html").read_text(encoding="utf-8")
    assert WORDS in printed(capsys, "leaderboard", "--format", "csv")


def test_numbers_are_those_of_python(log, capsys):
    scorio, at = log.scorio(by="bench"), {"overall": OF_PYTHON}
    expected = {
        "rank": scorio.rank(**at),
        "compare": scorio.compare(**at),
        "plan": scorio.trials_needed(**at),
        "leaderboard": scorio.leaderboard(**at),
    }
    for command, frame in expected.items():
        call = [command, "log.parquet", "--by", "bench", "--overall", WEIGHTS, "--format", "csv"]
        assert main(call) == 0
        assert capsys.readouterr().out == pl.DataFrame(frame).write_csv()


def test_strata_of_several_columns_have_their_values_between_slashes(log, capsys):
    log.with_columns(year=2024 + (pl.col("bench") == "bench 2")).write_parquet("log.parquet")
    call = ["leaderboard", "log.parquet", "--by", "year", "--by", "bench", "--format", "csv"]
    typed = "2024/bench 0=2,2024/bench 1=1,2025/bench 2=1"
    assert main([*call, "--overall", typed]) == 0
    one = pl.read_csv(capsys.readouterr().out.encode())
    assert (
        one["avg"].to_list()
        == log.scorio(by="bench").leaderboard(overall=OF_PYTHON)["avg"].to_list()
    )
    assert main(call) == 0  # a mean of means
    macro = log.scorio(by="bench").leaderboard(overall={"bench 0": 1, "bench 1": 1, "bench 2": 2})
    two = pl.read_csv(capsys.readouterr().out.encode())
    assert two["avg"].to_list() == macro["avg"].to_list()
    assert "mean of 3 strata, weights 1 : 1 : 2" in two["headings"][0]
    assert main([*call, "--overall", WEIGHTS]) == 1
    assert "Strata without a weight: [(2024, 'bench 0'), " in (err := capsys.readouterr().err)
    assert "weights without a stratum: [('bench 0',), " in err


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        (
            "makro",
            2,
            "'makro' is neither macro nor micro, nor one weight for each stratum, such as",
        ),
        ("a=1,a=2", 2, "'a=1,a=2' is neither macro nor micro"),
        ("a=1,,b=2", 1, "weights without a stratum: ['a', ',b']"),
        ("a=two", 2, "'two' is not a number"),
        ("bench 0=1", 1, "Strata without a weight: ['bench 1', 'bench 2']; weights"),
        ("bench 0=0", 1, "overall['bench 0'] must be a positive finite number, got 0.0"),
    ],
)
def test_weights_that_cannot_be_are_refused(text, status, message, capsys):
    try:
        assert main(["rank", "log.parquet", "--by", "bench", "--overall", text]) == status
    except SystemExit as refused:
        assert refused.code == status  # noqa: PT017 - of some
    assert message in capsys.readouterr().err


def test_weights_without_strata_are_refused(log, capsys):
    log.filter(bench="bench 0").write_parquet("log.parquet")
    assert main(["rank", "log.parquet", "--overall", "a=1"]) == 1
    assert "needs strata" in capsys.readouterr().err
