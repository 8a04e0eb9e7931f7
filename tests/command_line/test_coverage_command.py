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


def test_all_labels_stand_first_with_their_trials(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("model,question,category\na,1,wrong\na,2,right\nb,1,timeout\nb,2,right\n")
    assert main(["describe", str(path)]) == 0
    fact, *_ = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert fact.split(maxsplit=1) == ["labels", "'right' 2, 'timeout' 1, 'wrong' 1"]
