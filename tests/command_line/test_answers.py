"""Answers of the command: sentence, narrow table, intervals in characters, facts, next command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.commands import run_check, run_summary
from polars_scorio.command_line.main import command_parser, main
from polars_scorio.display.media.terminal import Forest, Screen, TextColumn
from tests.display.html.logs import models

LONG = "organisation/{}-instruct-with-a-very-long-name-模型"
CALLS = {
    "summary": [],
    "rank": [],
    "compare": [],
    "gate": ["--baseline", "m00", "--margin", "0.1"],
    "check": [],
    "questions": [],
    "frontier": ["--cost", "usd"],
    "reruns": [],
    "describe": [],
    "regressions": ["--baseline", "m00"],
    "plan": [],
}


@pytest.fixture
def priced():
    """The file of a log of three models with long names in two strata, with costs."""
    usd = 0.01 * (1 + pl.col("model").str.slice(1).cast(pl.Int64))
    models(3, strata=2).with_columns(usd=usd).write_parquet("log.parquet")
    return "log.parquet"


def answer(capsys, command, *options):
    """What a command prints about the log."""
    assert main([command, "log.parquet", *CALLS[command], *options]) in {0, 1, 3, 4}
    return capsys.readouterr().out


# Short names at 72 and 120 columns: tests/display/test_captures.py.
@pytest.mark.every(2)
@pytest.mark.parametrize(("columns", "words"), [("60", "{}"), ("60", LONG), ("120", LONG)])
@pytest.mark.parametrize("command", CALLS)
@pytest.mark.usefixtures("priced")
def test_no_line_is_wider_than_the_terminal(command, columns, words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    names, log = pl.format(words, "model"), pl.read_parquet("log.parquet")
    log.with_columns(model=names).write_parquet("log.parquet")
    options = [str(log.select(names)[0, 0]) if each == "m00" else each for each in CALLS[command]]
    assert main([command, "log.parquet", *options, "--by", "bench"]) in {0, 1, 3, 4}
    for line in capsys.readouterr().out.splitlines():
        if not line.startswith("        'organisation/"):  # one word of a command
            assert len(line) + line.count("模") + line.count("型") <= int(columns)


@pytest.mark.parametrize("command", CALLS)
@pytest.mark.usefixtures("priced")
def test_every_command_answers_with_a_sentence_what_it_is_about_and_what_to_type_next(
    command, capsys
):
    printed = answer(capsys, command, "--by", "bench")
    blank, sentence, *lines = printed.splitlines()
    assert blank == ""
    assert re.match(r"  \S.*[.:)]$|  \S.*\.", sentence)
    assert "about these" in printed or command == "describe"
    assert "24 questions" in printed or "12 questions" in printed
    assert any(line.startswith("  next  polars-scorio ") for line in lines)
    typed = re.search(r"^  next  polars-scorio (.*)", printed, re.MULTILINE)[1]
    assert "log.parquet" in typed
    assert "--by bench" in typed


@pytest.mark.parametrize("command", [name for name in CALLS if name != "summary"])
@pytest.mark.usefixtures("priced")
def test_wide_prints_all_columns_behind_the_answer(command, capsys):
    narrow = answer(capsys, command, "--by", "bench")
    wide = answer(capsys, command, "--by", "bench", "--wide")
    assert "┌" not in narrow
    assert wide.startswith(narrow)
    assert wide.removeprefix(narrow).startswith("┌")


def test_tables_show_the_first_rows_and_all_of_them_if_asked(capsys):
    models(20).write_parquet("log.parquet")
    assert "\n  … 5 more: --all\n" in answer(capsys, "rank")
    every = answer(capsys, "rank", "--all")
    assert "--all" not in every
    assert all(f"m{place:02}" in every for place in range(20))


def test_scores_are_in_percent_and_differences_in_points(log, capsys):
    report = pl.read_parquet(log).scorio(by="bench").rank()
    first = report.filter(bench="bench 0").row(0, named=True)
    printed = answer(capsys, "rank", "--by", "bench")
    score = first["mu"] if "mu" in first else first["estimate"]
    assert f"{100 * score:.1f} [{100 * first['lo']:.1f}, {100 * first['hi']:.1f}]" in printed
    assert "avg@4 (%)" in printed
    assert "points" in answer(capsys, "compare", "--by", "bench")


def test_a_gate_has_its_mark_verdicts_and_exit_status(capsys):
    models(2, questions=200).write_parquet("log.parquet")
    printed = answer(capsys, "gate")
    mark, verdict, status = next(
        each
        for each in (("PASS", "pass", ""), ("FAIL", "fail", "3"), ("UNDECIDED", "undecided", "4"))
        if printed.startswith(f"\n  {each[0]}  ")
    )
    assert re.search(rf"all questions .* {verdict}\n", printed)
    assert printed.endswith(f"  exit status {status}\n" if status else "0.1\n") or mark == "PASS"


def stopped_log(names):
    """Models whose questions were tried until the first success."""
    rng = np.random.default_rng(0)
    rows = []
    for model in names:
        for question in range(90):
            for trial in range(6):
                won = int(rng.random() < 0.4)
                rows.append((model, question, trial, won))
                if won:
                    break
    return pl.DataFrame(rows, ["model", "question", "trial", "category"], orient="row")


def test_trials_that_stopped_are_an_alarm_of_check_and_its_status(capsys):
    stopped_log("ab").write_parquet("log.parquet")
    assert main(["check", "log.parquet"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("\n  ALARM  4 of 6 tests raised an alarm.\n")
    said = " ".join(printed.split())
    assert "alarm stopping Did the number of trials depend on the outcomes? b: all " in said
    assert "--first 1 counts the first trial of each question." in said
    assert "- errors Does one model have more errors? Not tested: no failure has the " in said
    assert printed.endswith("  exit status 1\n")
    assert main(["check", "log.parquet", "--format", "json"]) == 1
    capsys.readouterr()
    models(2).write_parquet("log.parquet")
    assert main(["check", "log.parquet"]) == 0
    clean = "\n  CLEAN  Nothing found in 3 tests; 6 could not be run.\n"
    assert capsys.readouterr().out.startswith(clean)


def test_a_log_without_trial_ids_is_not_called_clean(capsys):
    models(2).drop("trial").write_parquet("log.parquet")
    assert main(["check", "log.parquet"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    title = "Nothing found in 2 tests; 7 could not be run, and trial ids were not checked."
    assert printed.startswith(f"PARTLY TESTED {title}")
    assert "is named, so repeated trials are not found" in printed


def test_scores_that_are_biased_are_the_title_of_terminal_page_and_card(capsys):
    stopped_log("ab").write_parquet("log.parquet")
    title = "Trials of a and b seem to have stopped on outcomes: then every score is biased."
    printed = answer(capsys, "summary")
    said = " ".join(printed.split())
    assert said.startswith(f"BIASED {title} As the rows stand: ")
    assert "--first 1 counts the first trial of each question." in said
    assert "polars-scorio check log.parquet" in said
    assert main(["report", "log.parquet", "-o", "page.html"]) == 0
    assert main(["card", "log.parquet", "-o", "card.svg"]) == 0
    assert capsys.readouterr().out.count(title) == 2
    for file in ("page.html", "card.svg"):
        text = Path(file).read_text(encoding="utf-8")
        assert "stopped on outcomes" in text
        assert "As the rows stand: " in text


def test_check_and_summary_name_trials_that_the_tool_planned_and_the_log_lacks(capsys):
    log = ps.scorio(models(1)).frame
    totals = pl.DataFrame({"model": "m00", "planned": [100], "reported": 0.5, "recomputed": 0.5})
    accessor = Scorio(log, tool_totals=totals)
    for run, name in ((run_summary, "summary"), (run_check, "check")):
        asked = command_parser(name).parse_args([name, "log.parquet"])
        run(accessor, asked, f"polars-scorio {name} log.parquet")
    summary, check = capsys.readouterr().out.split("  next  ")[:2]
    assert "  log         1 model, 12 questions \N{MULTIPLICATION SIGN} 4 trials\n" in summary
    assert "  look   planned     48 of 100 trials\n" in check
    assert "  ok     outcomes    48 trials with an outcome, 0 without\n" in check


def test_a_log_of_one_model_is_not_sent_to_a_ranking_or_comparison(capsys):
    models(1).write_parquet("log.parquet")
    for command in ("check", "rank"):
        assert "  next  polars-scorio summary log.parquet" in answer(capsys, command)


def test_one_question_is_said_in_the_singular(capsys):
    models(1, questions=1).write_parquet("log.parquet")
    assert "\n  this question " in answer(capsys, "summary")
    assert "  1 question for 1 model, none missing\n" in answer(capsys, "check")


def test_numbers_and_empty_texts_of_strata_are_named_in_words(capsys):
    log = models(2, strata=7).with_columns(step=pl.col("bench").str.slice(6).cast(pl.Int64))
    log.write_parquet("log.parquet")
    printed = answer(capsys, "rank", "--by", "step")
    assert [line for line in printed.splitlines() if line.startswith("  step 0: m0")]
    assert "  \N{HORIZONTAL ELLIPSIS} 2 more strata: --all\n" in printed
    assert "12 questions for 2 models" in answer(capsys, "check", "--by", "step")
    log.with_columns(part=pl.lit("")).write_parquet("log.parquet")
    printed = answer(capsys, "rank", "--by", "bench", "--by", "part")
    assert [line for line in printed.splitlines() if line.startswith("  bench 0: m0")]


@pytest.mark.filterwarnings("always::polars_scorio.CheckWarning")
def test_a_ranking_warns_once_of_trials_that_stopped(capsys):
    stopped_log(["a", "b", "c"]).write_parquet("log.parquet")
    assert main(["rank", "log.parquet"]) == 0
    errors = capsys.readouterr().err
    assert errors.count("ended with 1 success (p < 0.001)") == 1
    assert "--first 1 counts the first trial of each question" in errors
    assert errors.endswith("polars-scorio check log.parquet shows all tests.\n")


def test_regressions_prints_the_surest_questions_first(capsys):
    answer_of = pl.when((pl.col("model") == "m01") & (pl.col("question") < 3)).then(0)
    log = models(2, questions=20).with_columns(category=answer_of.otherwise(1).cast(pl.Int8))
    pl.concat([log, log.with_columns(pl.col("trial") + 100)]).write_parquet("log.parquet")
    printed = answer(capsys, "regressions")
    assert printed.startswith(
        "\n  3 questions are shown to have broken.\n  against m00, false discovery"
    )
    assert re.search(r"question +before +now +q\n  \d +100 % +0 %", printed)
    assert main(["regressions", "log.parquet", "--baseline", "m01", "--improvements"]) == 0
    assert "shown to have become better" in capsys.readouterr().out


def test_plan_says_how_many_trials_would_decide(log, capsys):
    needed = pl.read_parquet(log).scorio(by="bench").trials_needed(simultaneous=True)
    printed = answer(capsys, "plan", "--by", "bench")
    first = needed["extra_trials"][0]
    said = "No number of further trials" if first is None else f"{first:,} further trial"
    assert f"  bench 0: {said}" in printed
    assert "a chance of 80 %" in printed
    assert main(["plan", log, "--by", "bench", "--half-width", "0.02"]) == 0
    assert "would make intervals of ±0.02." in capsys.readouterr().out


def plan_rows(capsys, *asked) -> pl.DataFrame:
    assert main(["plan", "log.parquet", *asked, "--format", "csv"]) == 0
    return pl.read_csv(
        capsys.readouterr().out.encode(), schema_overrides={"extra_trials": pl.UInt64}
    )


def test_a_plan_of_a_pair_is_that_of_a_log_of_both(log, capsys):
    pair = pl.read_parquet(log).filter(pl.col("model").is_in(["m00", "m02"])).scorio(by="bench")
    rows = plan_rows(capsys, "--by", "bench", "--pair", "m00", "m02", "--overall", "macro")
    expected = pair.trials_needed(overall="macro")
    assert rows["extra_trials"].to_list() == expected["extra_trials"].to_list()
    assert rows["bench"].null_count() == 1
    assert main(["plan", log, "--by", "bench", "--pair", "m00", "m02"]) == 0
    assert "for all pairs" not in capsys.readouterr().out


def test_a_plan_with_a_baseline_has_all_others_at_once(log, capsys):
    frame = pl.read_parquet(log)
    names = frame["model"].unique().sort().to_list()
    rows = plan_rows(capsys, "--by", "bench", "--baseline", "m01")
    sides = rows.select(
        pl.concat_list("model_a", "model_b").list.set_difference(["m01"]).list.join("")
    )
    strata = frame["bench"].n_unique()
    assert sorted(sides.to_series()) == sorted(strata * [name for name in names if name != "m01"])
    confidence = 0.95 ** (1 / (len(names) - 1))
    for name in set(names) - {"m01"}:
        pair = frame.filter(pl.col("model").is_in(["m01", name])).scorio(by="bench")
        expected = pair.trials_needed(confidence=confidence)["extra_trials"].to_list()
        mine = rows.filter((pl.col("model_a") == name) | (pl.col("model_b") == name))
        assert mine["extra_trials"].to_list() == expected
    printed = answer(capsys, "plan", "--by", "bench", "--baseline", "m01")
    assert "95 % confidence for all pairs at once" in printed


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--baseline", "m1"], "'m1' is none of the models: ['m00', 'm01', "),
        (["--pair", "m00", "mm"], "'mm' is none of the models: ['m00', 'm01', "),
        (["--baseline", "m00", "--half-width", "0.1"], "are three plans: ask for one"),
        (["--baseline", "m00", "--pair", "m00", "m01"], "are three plans: ask for one"),
        (["--baseline", "m00", "--model", "none"], "need several models: name their column"),
    ],
)
def test_a_plan_without_its_models_is_refused(log, capsys, asked, words):
    assert main(["plan", log, "--by", "bench", *asked]) == 1
    assert words in capsys.readouterr().err


def forest(numbers, bright, **options):
    return Forest(numbers, bright, lambda value: f"{100 * value:g}", place=2, **options)


def test_an_interval_that_excludes_zero_does_not_touch_it_and_another_crosses_it():
    rows = [(0.001, 0.1, 0.2), (-0.1, 0.02, 0.1), (-0.2, -0.1, -0.001)]
    labels, drawn = forest(rows, [True, False, True], zero=0.0).drawn(41, lines=True)
    zero = drawn[0].index("│")
    assert labels[zero] == "0"
    assert "━●━" in drawn[0]
    assert drawn[1][zero] == "┼"
    assert "○" in drawn[1]
    assert drawn[2][zero] == "│"
    plain = forest(rows, [True, False, True], zero=0.0).drawn(41, lines=False)[1]
    assert "".join(plain).isascii()
    assert "=o=" in plain[0]
    assert plain[1][zero] == "+"


def test_a_forest_without_room_is_left_out_and_names_are_cut_in_their_middle():
    names = TextColumn("model", ["a" * 60, "b"], names=True)
    score = TextColumn("score", ["50.0 [40.0, 60.0]"] * 2)
    numbers = forest([(0.4, 0.5, 0.6)] * 2, [True, False])
    wide = Screen(width=100).table([names, score], numbers)
    assert "━" in wide[1]
    narrow = Screen(width=40).table([names, score], numbers)
    assert "━" not in narrow[1]
    assert re.match("  a+…a+  50.0", narrow[1])
    for width in range(40, 60):  # also with one cell too few for the least interval
        assert max(map(len, Screen(width=width).table([names, score], numbers))) <= width


def test_numbers_stay_with_their_units_at_the_end_of_a_line():
    words = "The score of this model is now 58.4 % and its ends are [55.6, 61.2] for all of them."
    for width in range(40, 90):
        lines = Screen(width=width).prose(words)
        assert not any(line.endswith(("58.4", "[55.6,")) for line in lines)
        assert " ".join(" ".join(lines).split()) == words


def test_a_long_command_is_broken_so_that_a_shell_joins_it():
    command = ["report", "a log.parquet", *["--by", "domain"] * 6]
    lines = Screen(width=40).command("polars-scorio", command)
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert not any(line.endswith("--by \\") for line in lines)  # an option stays with its value
    joined = " ".join(line.strip().removesuffix("\\").strip() for line in lines)
    assert " ".join(joined.split()).startswith("next polars-scorio report 'a log.parquet' --by")


@pytest.mark.slow
def test_an_encoding_without_lines_gets_plain_characters(log):
    command = [sys.executable, "-m", "polars_scorio", log, "--by", "bench"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603
    printed = done.stdout.decode("ascii")
    assert "o" in printed
    assert "?" not in printed


@pytest.mark.slow
def test_a_pipe_has_eighty_columns_and_no_colour(log):
    command = [sys.executable, "-m", "polars_scorio", "rank", log, "--by", "bench"]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    del environment["COLUMNS"]
    done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603 - its own words
    printed = done.stdout.decode()
    assert "\x1b" not in printed
    assert 72 < max(map(len, printed.splitlines())) <= 80
