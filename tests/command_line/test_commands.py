"""Commands with one analysis each: pairs, ranks, frontiers, reruns, coverage, boards, counts."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.display.html.logs import models
from tests.made_logs import long

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


# Pairs of models in the terminal.


def test_compare_prints_pairs(log, capsys):
    assert main(["compare", log, "--by", "bench", "--baseline", "m02", "--metric", "avg"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("points") == 2
    assert (
        printed.count("for all models against the baseline at once, about these 12 questions") == 2
    )
    assert main(["compare", log]) == 1  # trials are there twice
    assert "the same trial twice" in capsys.readouterr().err


def test_verdicts_hold_for_all_pairs_unless_each_pair_is_asked(log, capsys):
    for option, holds in (([], "for all pairs at once"), (["--each-pair"], "each pair by itself")):
        assert main(["compare", log, "--by", "bench", *option]) == 0
        printed = capsys.readouterr().out
        assert printed.count(holds) > 0


def test_several_draw_sizes_are_one_statement(log, capsys):
    asked = ["compare", log, "--by", "bench", "--metric", "pass_at_k([1, 2])"]
    assert main([*asked, "--baseline", "m02"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("\n  bench ")
    assert ": With 95 % confidence for the whole curve (k = 1" in printed
    assert printed.count("for all models against the baseline at once") > 0
    assert main([*asked, "--format", "csv"]) == 0
    assert "whole curve" not in capsys.readouterr().out


def test_votes_are_compared_but_have_no_page(log, capsys):
    pl.read_parquet(log).with_columns(answer="category").write_parquet(log)
    votes = ["--metric", "vote_at_k(2)", "--answer", "answer", "--by", "bench"]
    assert main(["compare", log, *votes]) == 0
    assert "vote_at_k" in capsys.readouterr().out
    assert main(["report", log, *votes]) == 1
    assert "there are no answers" in capsys.readouterr().out


def test_the_model_that_was_meant_is_named(log, capsys):
    assert main(["compare", log, "--by", "bench", "--baseline", "M01"]) == 1
    assert "--baseline M01 is none of the models" in (error := capsys.readouterr().err)
    assert error.endswith("did you mean 'm01'?\n")


def test_several_curves_say_once_what_they_are_about(log, capsys):
    assert main(["compare", log, "--by", "bench", "--metric", "pass_at_k([1, 2])"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("for the whole curve (k = 1 to 2):") == 2  # of each benchmark
    assert printed.count("m00") > 6


@pytest.mark.filterwarnings("ignore:one model per stratum")
def test_strata_without_a_pair_are_answered_with_a_sentence(capsys):
    log = models(2, strata=2)
    # The first model is in one stratum alone, and the second in the other.
    alone = (log["model"] == log["model"].min()) == (log["bench"] == log["bench"].min())
    log.filter(alone).write_parquet("parts.parquet")
    assert main(["compare", "parts.parquet", "--by", "bench"]) == 0
    printed = capsys.readouterr().out
    assert "\n  Nothing to compare: no stratum has two models.\n" in printed


# Ranks in the terminal.


def test_rank_prints_the_order_of_each_stratum(log, capsys):
    arguments = ["rank", log, "--by", "bench", "--metric", "pass_at_k(2)", "--format", "json"]
    assert main([*arguments, "--confidence", "0.9", "--overall", "macro"]) == 0
    printed = json.loads(capsys.readouterr().out)
    frame = models(3, strata=2).scorio(by="bench")
    expected = frame.rank(ps.pass_at_k(2), confidence=0.9, overall="macro")
    assert printed == json.loads(expected.write_json())


def test_rank_takes_one_metric_of_one_draw_size(log, capsys):
    assert main(["rank", log, "--by", "bench", "--metric", "pass_at_k([1, 2])"]) == 1
    assert "k" in capsys.readouterr().err


# Frontiers of score and cost.


@pytest.fixture
def dear(tmp_path):
    """The file of a log of two models, of which the dearer one is the worse."""
    rows = [
        (
            model,
            question,
            trial,
            int((question + trial) % 4 < right),
            price * (question + trial + 1),
        )
        for model, right, price in (("ada", 3, 0.1), ("bob", 2, 0.5))
        for question in range(20)
        for trial in range(4)
    ]
    names = ["model", "question", "trial", "category", "usd"]
    pl.DataFrame(rows, names, orient="row").write_parquet(tmp_path / "log.parquet")
    return str(tmp_path / "log.parquet")


def test_it_prints_the_cheapest_model_first(dear, capsys):
    assert main(["frontier", dear, "--cost", "usd", "--metric", "pass_at_k(2)"]) == 0
    printed = capsys.readouterr().out
    assert printed.index("ada") < printed.index("bob")
    assert "on frontier" in printed


@pytest.mark.parametrize("lower", [False, True])
def test_of_two_that_cost_the_same_the_better_one_is_the_cheapest(lower, tmp_path, capsys):
    scores = {"ada": [1, 0, 0, 0], "bob": [1, 1, 0, 0]}
    log = pl.concat([long([right] * 6, model) for model, right in scores.items()])
    path = tmp_path / "log.parquet"
    log.with_columns(usd=0.1 * (pl.col("trial") + 1)).write_parquet(path)
    options = ["--lower-is-better"] if lower else []
    assert main(["frontier", str(path), "--cost", "usd", *options]) == 0
    better = "ada" if lower else "bob"
    assert f"{better} is the cheapest model that may be the best." in capsys.readouterr().out


def test_a_log_without_costs_is_answered_with_the_option(dear, capsys):
    assert main(["frontier", dear]) == 1
    assert "mean_cost needs a cost column" in capsys.readouterr().err


def test_compare_takes_metrics_of_costs(dear, capsys):
    assert main(["compare", dear, "--cost", "usd", "--metric", "cost_per_success"]) == 0
    assert "times the cost" in capsys.readouterr().out


# The command that says how far a rerun moves a score.


@pytest.fixture
def file(tmp_path):
    wins = np.random.default_rng(1).random((30, 4)) < 0.6
    path = tmp_path / "log.parquet"
    long(wins.astype(int).tolist(), "v1").write_parquet(path)
    return str(path)


def test_it_says_in_a_sentence_what_chance_moves(capsys, file):
    assert main(["reruns", file]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "a change of a score may be chance. v1: A rerun" in printed
    floor = pl.read_parquet(file).scorio.reruns()["noise_floor"][0]
    said = f"v1: A rerun (30 questions, 4 trials each) moves this score by up to {100 * floor:.1f}"
    assert said in printed
    assert "change their outcome from one run to the next." in printed


def test_single_trials_only_bound_the_flips(capsys, tmp_path):
    path = tmp_path / "once.parquet"
    long([[1]] * 20 + [[0]] * 20, "v1").write_parquet(path)
    assert main(["reruns", str(path), "--rerun-trials", "4"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "A rerun (40 questions, 4 trials each) moves this score by at most 1" in printed
    assert "; a single trial of each question does not show its noise." in printed
    assert "At most 20 questions of 40 may change outcome from one run to the next." in printed


def test_a_log_too_small_to_tell_says_so(capsys, tmp_path):
    path = tmp_path / "single.parquet"
    long([[1]], "v1").write_parquet(path)
    assert main(["reruns", str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("Any change of a score may be chance: the log is too small to tell.")
    assert "moves this score by at most 100.0 points" in printed


def test_flaky_questions_and_draws_beyond_the_trials(capsys, file):
    assert main(["reruns", file, "--per", "question", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    expected = pl.read_parquet(file).scorio.reruns(per="question")
    assert [row["question"] for row in rows] == expected["question"].to_list()
    assert main(["reruns", file, "--metric", "pass_at_k(8)"]) == 0
    assert "v1: k=8 is more than the trials of some question" in capsys.readouterr().out


def test_rewards_move_in_their_own_units(capsys, tmp_path):
    rewards = 10 * np.random.default_rng(2).random((20, 3))
    path = tmp_path / "rewards.parquet"
    long(rewards.tolist(), "v1").write_parquet(path)
    assert main(["reruns", str(path)]) == 0
    floor = ps.scorio(pl.read_parquet(path)).reruns()["noise_floor"][0]
    said = " ".join(capsys.readouterr().out.split())
    assert f"moves this score by up to {floor:.3g} by chance" in said


def test_one_question_has_a_floor_and_no_interval_of_flips(tmp_path, capsys):
    path = tmp_path / "one.parquet"
    long([[1, 0, 1, 1, 0, 1, 1, 0]]).write_parquet(path)
    assert main(["reruns", str(path)]) == 0
    said = capsys.readouterr().out
    assert "A rerun (1 question, 8 trials each)" in said
    assert "change their outcome" not in said


# The coverage of a log in the terminal.


def test_coverage_prints_a_row_for_each_model(log, capsys):
    assert main(["describe", log, "--by", "bench"]) == 0
    printed = capsys.readouterr().out
    assert re.match(r"\n  3 models . 24 questions . 4 trials, complete\.\n", printed)
    assert printed.count("  bench ") == 7  # the head, and three models in two strata
    assert main(["describe", log, "--by", "bench", "--cluster", "question"]) == 0
    assert "clusters" in capsys.readouterr().out
    assert main(["describe", log, "--per", "question"]) == 0  # without strata all are there twice
    assert "repeated" in capsys.readouterr().out


def test_all_labels_stand_first_with_their_trials(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("model,question,category\na,1,wrong\na,2,right\nb,1,timeout\nb,2,right\n")
    assert main(["describe", str(path)]) == 0
    fact, *_ = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert fact.split(maxsplit=1) == ["labels", "'right' 2, 'timeout' 1, 'wrong' 1"]


# Counts in the terminal.


def test_printed_counts_stand_for_the_log(log, capsys):
    assert main(["counts", log, "--by", "bench", "--format", "csv"]) == 0
    Path("counts.csv").write_text(capsys.readouterr().out)
    ranked = []
    for arguments in ([log], ["counts.csv", "--count", "count"]):
        assert main(["rank", *arguments, "--by", "bench", "--format", "csv"]) == 0
        ranked.append(capsys.readouterr().out)
    assert ranked[0] == ranked[1]


# The leaderboard for a README, a paper, a page.


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
    with pytest.raises(SystemExit):
        main(["leaderboard", "--help"])
    assert "latex has no caption; ps.to_latex in Python can add one" in " ".join(
        capsys.readouterr().out.split()
    )


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
