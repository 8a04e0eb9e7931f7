"""Ranks in the terminal."""

import json

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.display.html.logs import models


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
