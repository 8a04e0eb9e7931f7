"""The command that says how far a rerun moves a score."""

import json

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.made_logs import long


@pytest.fixture
def file(tmp_path):
    wins = np.random.default_rng(1).random((30, 4)) < 0.6
    path = tmp_path / "log.parquet"
    long(wins.astype(int).tolist(), "v1").write_parquet(path)
    return str(path)


def test_it_says_in_a_sentence_what_chance_moves(capsys, file):
    assert main(["reruns", file]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "a change of a score is not news. v1: Run again" in printed
    floor = pl.read_parquet(file).scorio.reruns()["noise_floor"][0]
    said = (
        f"v1: Run again (30 questions, 4 trials each), this score moves by up to {100 * floor:.1f}"
    )
    assert said in printed
    assert "change their outcome from one run to the next." in printed


def test_single_trials_only_bound_the_flips(capsys, tmp_path):
    path = tmp_path / "once.parquet"
    long([[1]] * 20 + [[0]] * 20, "v1").write_parquet(path)
    assert main(["reruns", str(path), "--rerun-trials", "4"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Run again (40 questions, 4 trials each), this score moves by at most 1" in printed
    assert "; a single trial of each question does not show its noise." in printed
    assert "At most 20 questions of 40 may change outcome from one run to the next." in printed


def test_a_log_too_small_to_tell_says_so(capsys, tmp_path):
    path = tmp_path / "single.parquet"
    long([[1]], "v1").write_parquet(path)
    assert main(["reruns", str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("Any change of a score may be chance: the log is too small to tell.")
    assert "moves by at most 100.0 points" in printed


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
    assert f"moves by up to {floor:.3g} by chance alone, if runs" in capsys.readouterr().out


def test_one_question_has_a_floor_and_no_interval_of_flips(tmp_path, capsys):
    path = tmp_path / "one.parquet"
    long([[1, 0, 1, 1, 0, 1, 1, 0]]).write_parquet(path)
    assert main(["reruns", str(path)]) == 0
    said = capsys.readouterr().out
    assert "Run again (1 question, 8 trials each)" in said
    assert "change their outcome" not in said
