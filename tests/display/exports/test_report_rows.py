import math
import re

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.exports import report_rows


def test_keys_stand_before_the_metric(report):
    rows = report_rows(report)
    assert len(rows) == report.height == 8
    assert rows[0].keys == {"domain": "air", "model": "bob"}
    assert (rows[0].metric, rows[0].k, rows[0].strata) == ("avg", None, ["air"])
    assert rows[1].number("estimate") == 0.5
    assert [row.values for row in report_rows(report.lazy())] == [row.values for row in rows]


def test_what_is_no_finite_number_is_none(report):
    for value in (None, math.nan, math.inf):
        row = report_rows(report.with_columns(lo=pl.lit(value, pl.Float64)))[0]
        assert row.number("lo") is None


def test_another_frame_is_refused(report, trials):
    with pytest.raises(ValueError, match=r"lacks the columns \['metric', .*without wide=True"):
        report_rows(trials)
    with pytest.raises(ValueError, match=r"lacks the columns \['lo'\]"):
        report_rows(report.drop("lo"))


@pytest.mark.parametrize("value", [-1, [1], None], ids=repr)
def test_what_is_no_frame_is_refused(value):
    message = rf"^report must be the DataFrame .* report\(\) returns, got {re.escape(repr(value))}$"
    for export in (ps.to_metrics, ps.to_model_card):
        with pytest.raises(TypeError, match=message):
            export(value)
