"""The command: a report as a file, coverage and comparisons as tables."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.decisions import progress
from polars_scorio.display.html import write_page
from tests.display.html.logs import Checked, models


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the command runs, and never says that it takes long."""
    monkeypatch.setattr(progress, "_PATIENCE", 3600)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def log():
    """The file of a log of three models in two strata."""
    models(3, strata=2).write_parquet("log.parquet")
    return "log.parquet"


def said(path: str) -> str:
    return "".join(Checked(Path(path)).texts)


def test_a_report_is_one_file(log, folder, capsys):
    assert main(["report", log, "--by", "bench"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [log, "report.html"]
    printed = capsys.readouterr()
    assert printed.out.endswith("undecided at 95 %.\nreport.html\n")
    assert printed.err == ""
    for part in ("log.parquet", "bench 1", "polars-scorio report log.parquet --by bench"):
        assert part in said("report.html")


def test_metrics_and_options_are_those_of_python(log):
    arguments = ["--metric", "avg", "--metric", "pass_at_k([1, 2])", "--confidence", "0.8",
                 "--title", "Two", "-o", "two.html"]  # fmt: skip
    assert main(["report", log, "--by", "bench", *arguments]) == 0
    text = said("two.html")
    for part in ("Two", "avg@4", "Pass@2", "calibrated 80 % intervals"):
        assert part in text
    assert "Bayes@" not in text


def test_a_dash_prints_markdown(log, folder, capsys):
    assert main(["report", log, "--by", "bench", "-o", "-"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# log.parquet\n")
    assert "| rank | P(best) | model |" in printed.replace("| ---: ", "")
    assert [path.name for path in folder.iterdir()] == [log]


def test_a_log_that_is_refused_has_a_page_and_status_1(capsys):
    models(2).with_columns(category=None).cast({"category": pl.Int8}).write_csv("log.csv")
    arguments = ["report", "log.csv", "--category", "CAST(category AS int)"]
    assert main(arguments) == 1
    reason = "24 questions have a missing category"
    assert f"This log cannot be reported. {reason}" in said("report.html")
    assert reason in capsys.readouterr().out
    assert main([*arguments, "--missing", "0"]) == 0


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


def test_a_folder_that_does_not_exist_is_refused_before_the_work(log, capsys, monkeypatch):
    monkeypatch.setattr(write_page, "page", lambda *_: pytest.fail("the log was read"))
    assert main(["report", log, "-o", "nowhere/report.html"]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_full_disk_leaves_the_old_page(log, folder, capsys, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (folder / "report.html").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    assert main(["report", log, "--by", "bench"]) == 2
    assert "No space left on device: 'report.html'" in capsys.readouterr().err
    assert (folder / "report.html").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == [log, "report.html"]


def test_a_metric_that_is_none_is_an_error_of_usage(log, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["report", log, "--metric", "pass_at_n(4)"])
    assert exit_.value.code == 2
    assert "there is no metric pass_at_n" in capsys.readouterr().err


def test_roles_are_columns_or_expressions():
    table = models(2).with_columns(reward=pl.col("category") * 0.75 + 0.1).drop("category", "trial")
    table.rename({"model": "llm", "question": "task id"}).write_ndjson("log.jsonl")
    roles = ["--model", "llm", "--question", "task id", "--category", "reward >= 0.5"]
    assert main(["report", "log.jsonl", *roles]) == 0
    assert "avg@4" in said("report.html")
    assert main(["report", "log.jsonl", "--model", "none", *roles[2:], "-o", "one.html"]) == 0
    assert "This model scores" in said("one.html")


def test_labels_and_numbers_find_their_success():
    words = models(2).with_columns(category=pl.col("category").cast(pl.String))
    words.write_parquet("words.parquet")
    models(2).with_columns(pl.col("category") + 1).write_parquet("numbers.parquet")
    assert main(["report", "words.parquet", "--success", "1"]) == 0
    assert main(["report", "numbers.parquet", "--success", "2"]) == 0
    assert main(["report", "numbers.parquet"]) == 1


def test_votes_are_compared_but_have_no_page(log, capsys):
    votes = ["--metric", "vote_at_k(2)", "--answer", "category", "--by", "bench"]
    assert main(["compare", log, *votes]) == 0
    assert "vote_at_k" in capsys.readouterr().out
    assert main(["report", log, *votes]) == 1
    assert "there are no answers" in capsys.readouterr().out


def test_coverage_prints_a_row_for_each_model(log, capsys):
    assert main(["coverage", log, "--by", "bench"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("│ bench") == 7  # the head, and three models in two strata
    assert main(["coverage", log, "--by", "bench", "--cluster", "question"]) == 0
    assert "clusters" in capsys.readouterr().out.splitlines()[1]
    assert main(["coverage", log, "--per", "question"]) == 0  # without strata all are there twice
    assert "duplicates" in capsys.readouterr().out


def test_compare_prints_pairs(log, capsys):
    assert main(["compare", log, "--by", "bench", "--baseline", "m02", "--metric", "avg"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("┆ avg ") == 4
    assert main(["compare", log]) == 1  # trials are there twice
    assert "the same trial twice" in capsys.readouterr().err


def test_a_tool_reads_its_own_logs(folder, capsys):
    runs = [{"task_id": t, "trial": i, "reward": float(t <= i)} for t in range(3) for i in range(4)]
    (folder / "ada.json").write_text(json.dumps(runs))
    assert main(["report", "ada.json", "--from", "tau_bench", "--metric", "pass_hat_k(4)"]) == 0
    expected = ps.logs.tau_bench("ada.json").pass_hat_k(4)["estimate"].item()
    assert f"ada scores {100 * expected:.0f}" in capsys.readouterr().out
    assert main(["report", "ada.json", "--from", "tau_bench", "--model", "eve"]) == 0
    assert "eve scores" in capsys.readouterr().out
    assert main(["report", "ada.json", "--from", "tau_bench", "--question", "task_id"]) == 2
    assert "tau_bench knows its columns: leave --question out" in capsys.readouterr().err


def test_what_is_said_of_outcomes_reaches_the_reader_of_a_tool(folder, capsys):
    runs = [{"task_id": t, "trial": i, "reward": t / 2} for t in range(3) for i in range(2)]
    (folder / "ada.json").write_text(json.dumps(runs))
    arguments = ["report", "ada.json", "--from", "tau_bench", "--metric", "avg", "--n"]
    assert main([*arguments, "2"]) == 0
    assert main([*arguments, "3"]) == 1
    assert "a number of trials other than n=3" in capsys.readouterr().out


def test_rewards_have_levels(capsys):
    models(2).with_columns(pl.col("category") / 2).write_parquet("rewards.parquet")
    levels = ["--levels", "0", "--levels", "0.5", "--levels", "1"]
    assert main(["report", "rewards.parquet", *levels, "--metric", "avg"]) == 0
    expected = models(2).scorio.avg()["mu"].max() / 2
    assert f"leads with {100 * expected:.1f} %" in capsys.readouterr().out


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


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])  # of the pipes of Windows
def test_pipes_that_lack_characters_have_tables_without(log, encoding):
    frame = pl.read_parquet(log)
    frame.with_columns(model=pl.concat_str(pl.lit("β"), "model")).write_parquet(log)
    for call in (["coverage", log], ["report", log, "-o", "-"]):
        command = [sys.executable, "-m", "polars_scorio", *call, "--by", "bench"]
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603
        assert "| ?" in done.stdout.decode(encoding)


def test_a_reader_who_has_seen_enough_is_no_error(log):
    command = [sys.executable, "-m", "polars_scorio", "coverage", log, "--by", "bench"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        running.stdout.close()
        assert running.stderr.read() == b""
