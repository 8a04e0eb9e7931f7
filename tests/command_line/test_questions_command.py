"""Questions in the terminal."""

import json
import re

import polars as pl
import pytest

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.commands import run_questions
from polars_scorio.command_line.main import command_parser, main
from tests.decisions.test_question_analysis import planted


@pytest.fixture
def made():
    """The file of a log of sixty questions, one with a long name."""
    frame = planted(1, questions=60).frame
    name = pl.format("question-{}", "question")
    long = pl.when(pl.col("question") == 0).then(pl.lit("x" * 80)).otherwise(name)
    frame.with_columns(question=long).write_parquet("made.parquet")
    return ["questions", "made.parquet", "--count", "count"]


def test_questions_prints_those_that_come_out_both_ways_and_what_to_buy(made, capsys):
    assert main(made) == 0
    printed = capsys.readouterr().out
    assert "come out both ways" in printed
    assert " more: --all" in printed
    assert re.search(r"More\s+trials\s+help:\s+they\s+can\s+remove\s+up\s+to\s+\d+", printed)
    assert main([*made, "--all"]) == 0
    printed = capsys.readouterr().out
    assert "more: --all" not in printed
    assert "x" * 30 + "…" + "x" * 29 in printed
    assert "x" * 60 not in printed


def test_strata_can_be_chosen(made, capsys):
    assert main([*made, "--by", "stratum"]) == 0
    assert "  stratum 0: " in capsys.readouterr().out


def test_clusters_have_a_row_each(made, capsys):
    frame = pl.read_parquet("made.parquet")
    cluster = pl.col("question").str.slice(-1)
    frame.with_columns(passage=cluster).write_parquet("made.parquet")
    assert main([*made, "--cluster", "passage", "--per", "cluster"]) == 0
    printed = capsys.readouterr().out
    assert "No cluster was solved by every model in every trial." in printed
    assert "questions" in printed


def test_models_with_different_questions_need_a_word(capsys):
    log = {"model": ["a", "a", "b"], "question": [1, 2, 1], "category": [1, 0, 1]}
    pl.DataFrame(log).write_parquet("gaps.parquet")
    assert main(["questions", "gaps.parquet", "--trial", "none"]) == 1
    assert "--unmatched drop" in capsys.readouterr().err
    assert main(["questions", "gaps.parquet", "--trial", "none", "--unmatched", "drop"]) == 0


def test_the_log_is_read_once(capsys):
    frame, reads = planted(1, questions=60).frame.lazy(), []

    def seen(part):
        reads.append(part.height)
        return part

    schema = frame.collect_schema()
    counted = Scorio(frame.map_batches(seen, projection_pushdown=False, schema=schema))(
        count="count"
    )
    asked = command_parser("questions").parse_args(["questions", "made.parquet"])
    run_questions(counted, asked, "polars-scorio questions made.parquet")
    assert "come out both ways" in capsys.readouterr().out
    assert len(reads) == 1


def test_questions_that_nobody_tosses_are_no_coin_tosses(capsys):
    log = {"model": "a", "question": [1, 1, 2, 2], "category": [1, 1, 0, 0]}
    pl.DataFrame(log).write_parquet("sure.parquet")
    assert main(["questions", "sure.parquet", "--trial", "none"]) == 0
    printed = capsys.readouterr().out
    assert "coin tosses" not in printed
    assert re.search(r"\n  question +a\n  2 +0/2\n  1 +2/2\n", printed)


def test_rewards_are_no_coin_tosses_and_no_shares_of_the_largest_one(capsys):
    log = {"model": "a", "question": [1, 1, 2, 2], "category": [0.5, 2.5, 4.0, 3.0]}
    pl.DataFrame(log).write_parquet("rewards.parquet")
    assert main(["questions", "rewards.parquet", "--trial", "none"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("\n  2 questions.\n")
    assert re.search(r"\n  question  rate\n  1 +1\.5\n  2 +3\.5\n", printed)


def test_steps_are_in_their_order_and_the_title_says_of_which_it_is(capsys):
    steps = [planted(1, questions=8).frame.with_columns(step=step) for step in (0, 200, 1000)]
    pl.concat(steps).write_parquet("run.parquet")
    assert main(["questions", "run.parquet", "--count", "count", "--by", "step"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("\n  At step 1,000: ")
    assert re.findall(r"^  (step \d+): ", printed, re.MULTILINE) == [
        "step 0",
        "step 200",
        "step 1000",
    ]
    assert "about these 8 questions" in printed


def test_formats_for_programs_have_all_questions_and_columns(made, capsys):
    assert main([*made, "--by", "stratum", "--format", "json"]) == 0
    rows = pl.read_parquet("made.parquet").scorio(by="stratum", count="count").questions()
    assert json.loads(capsys.readouterr().out) == json.loads(rows.write_json())
