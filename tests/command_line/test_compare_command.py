"""Pairs of models in the terminal."""

import polars as pl
import pytest

from polars_scorio.command_line.main import main
from tests.display.html.logs import models

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


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
