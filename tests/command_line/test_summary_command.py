"""A log without a command."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.display.html.logs import models


def test_a_log_alone_is_summarised(log, capsys):
    assert main([log, "--by", "bench"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("\n  m01 is ahead; m00 may be as good.\n  52.1 % against 42.7 %: ")
    assert (
        "for all pairs at once, about these 24 questions\n\n  rank  tier  model  avg@4 (%)"
        in printed
    )
    assert "  counted     Success: 1 (" in printed
    times = "24 questions \N{MULTIPLICATION SIGN} 4 trials, complete"
    assert f"  log         3 models, 2 strata, {times}\n" in printed

    assert printed.endswith("\n  next  polars-scorio report log.parquet --by bench\n")


def test_the_summary_begins_with_the_model_of_the_lowest_score_if_lower_is_better(log, capsys):
    assert main([log, "--by", "bench", "--lower-is-better"]) == 0
    assert capsys.readouterr().out.startswith("\n  m02 is ahead; m00 may be as good.\n  32.3 % ")


def test_a_training_run_is_summarised_by_its_steps_not_by_their_mean(capsys):
    step = pl.col("bench").str.slice(6).cast(pl.Int64) * 100
    log = models(2, strata=3, questions=20).select(pl.exclude("bench"), step=step)
    log.write_parquet("run.parquet")
    assert main(["run.parquet", "--by", "step"]) == 0
    printed = capsys.readouterr().out
    (best,) = log.filter(step=200).scorio.leaderboard(ps.avg()).head(1)["avg"]
    assert f"  m00    {100 * best:.1f} [" in printed
    headline = printed.splitlines()[1].strip()
    assert headline == "At step 200: m00 beats m01."
    assert main(["report", "run.parquet", "--by", "step", "-o", "-"]) == 0
    page = capsys.readouterr().out
    assert headline in page
    assert "## m00 has the highest score at " in page


@pytest.mark.slow
def test_what_draws_no_picture_needs_no_package_that_draws(log):
    absent = "import sys; sys.modules.update(altair=None, jinja2=None, vl_convert=None)"
    call = "from polars_scorio.command_line.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", f"{absent}; {call}", log, "--by", "bench"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")  # noqa: S603 - its own words
    assert "rank  tier  model  avg@4 (%)" in done.stdout


def test_a_refused_log_gets_its_coverage_and_the_reason(log, capsys):
    assert main([log]) == 1  # trials are there twice
    printed = capsys.readouterr().out
    assert printed.startswith("\n  This log cannot be scored yet. ")
    assert "the same trial twice" in " ".join(printed.split())
    assert "repeated" in printed


def test_a_misspelt_command_is_no_log(capsys):
    with pytest.raises(SystemExit):
        main(["reprot", "log.parquet"])
    assert capsys.readouterr().err == (
        "polars-scorio: 'reprot' is neither a command nor a file: did you mean 'report'?\n"
        "See polars-scorio --help.\n"
    )
    assert main(["nothing.csv"]) == 2
    assert "there is no file or folder nothing.csv" in capsys.readouterr().err


@pytest.mark.slow
def test_summary_and_pages_say_what_counted_as_success(log, capsys):
    success = int((pl.read_parquet(log)["category"] == 1).sum())
    for command in (["summary"], ["report"], ["report", "-o", "-"]):
        assert main([*command, log, "--by", "bench"]) == 0
        assert f"Success: 1 ({success:,}). Failure: 0 (" in capsys.readouterr().out
    assert f"Success: 1 ({success:,}). Failure: 0 (" in Path("report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        pytest.param([("m01", "bench 0", 11)], "m01 is ahead", id="a question"),
        pytest.param([("m01", "bench 1", None)], "", id="a stratum"),
        pytest.param(
            [("m01", "bench 1", None), ("m02", "bench 0", None)],
            "No bench has all 3 models: no winner over all of them.",
            id="each stratum",
        ),
    ],
)
def test_models_that_lack_a_part_are_summarised_as_the_page_reports_them(lacking, said, capsys):
    log = models(3, strata=2)
    for model, bench, question in lacking:
        lost = (pl.col("model") == model) & (pl.col("bench") == bench)
        log = log.filter(~(lost if question is None else lost & (pl.col("question") == question)))
    log.write_parquet("partial.parquet")
    assert main(["summary", "partial.parquet", "--by", "bench"]) == 0
    printed = capsys.readouterr().out
    table = "bench 0 m00" if "No bench" in said else "rank  model  avg@4 (%)"
    assert printed.replace("rank  tier", "rank").count(table) == 1
    headline = printed.splitlines()[1].strip()
    assert said in headline
    assert main(["report", "partial.parquet", "--by", "bench", "-o", "-"]) == 0
    assert headline in capsys.readouterr().out
