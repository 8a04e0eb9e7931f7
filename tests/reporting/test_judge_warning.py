import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.reporting.inference.cell_numbers import NUMBERS
from tests.made_verdicts import verdicts

LOG = verdicts()


def test_a_judge_like_a_coin_has_no_number_and_says_why():
    coin = ps.judge(sensitivity=(6, 10), specificity=(5, 10))
    said = (
        r"avg: 3 of 3 groups have no number, .* better than a coin \(sensitivity 0\.60 of 10, spec"
    )
    with pytest.warns(ps.JudgeWarning, match=said):
        report = LOG.scorio(judge=coin).avg()
    assert report.select([*NUMBERS]).null_count().row(0) == (3,) * 5
    assert report["judged"].null_count() == 0


def test_large_draws_under_a_poor_judge_have_no_number_and_say_why():
    poor = ps.judge(sensitivity=(70, 100), specificity=(62, 100))
    with pytest.warns(ps.JudgeWarning, match="noise of the corrected draws exceeds the range"):
        report = LOG.scorio(judge=poor).pass_at_k([1, 4])
    assert report.filter(k=4)["estimate"].null_count() == 3
    assert report.filter(k=1)["estimate"].null_count() == 0


def test_a_judge_who_favours_a_model_is_warned_of():
    kind, harsh = (0.95, 0.5), (0.7, 0.95)
    logs = [verdicts([name], 200, rates=rates) for name, rates in (("a", kind), ("b", harsh))]
    with pytest.warns(ps.JudgeWarning, match="not equally reliable everywhere: in 2 of 2 groups"):
        pl.concat(logs).scorio(truth="human").avg()
