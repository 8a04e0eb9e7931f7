"""The coverage of a log in the terminal."""

import re

from polars_scorio.command_line.main import main


def test_coverage_prints_a_row_for_each_model(log, capsys):
    assert main(["describe", log, "--by", "bench"]) == 0
    printed = capsys.readouterr().out
    assert re.match(r"\n  3 models . 24 questions . 4 trials, complete\.\n", printed)
    assert printed.count("  bench ") == 7  # the head, and three models in two strata
    assert main(["describe", log, "--by", "bench", "--cluster", "question"]) == 0
    assert "clusters" in capsys.readouterr().out
    assert main(["describe", log, "--per", "question"]) == 0  # without strata all are there twice
    assert "repeated" in capsys.readouterr().out
