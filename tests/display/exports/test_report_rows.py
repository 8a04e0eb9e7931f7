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


@pytest.mark.parametrize(
    ("confidence", "words"), [(0.5, "50 %"), (0.999, "99.9 %"), (0.95, "95 %")]
)
def test_an_export_has_the_confidence_of_its_report(confidence, words, tmp_path):
    log = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [1, 0, 1, 1]})
    accessor = log.scorio(trial=None, confidence=confidence)
    report = accessor.report(ps.avg()).filter(pl.col("questions") == 2)
    assert f"({words} interval " in ps.to_model_card(report)
    about = {"benchmark": "sums", "organization": "ours", "retrieved": 1}
    (file,) = ps.to_every_eval_ever(report, tmp_path, **about)
    assert f'"confidence_level": {confidence}' in file.read_text(encoding="utf-8")


def test_a_report_carries_a_confidence_that_is_not_the_usual_one():
    log = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [1, 0, 1, 1]})
    usual, sure = (log.scorio(trial=None).avg(confidence=each) for each in (None, 0.99))
    assert "confidence" not in usual.columns
    assert sure["confidence"].to_list() == [0.99]
    assert sure.drop("confidence").columns == usual.columns
    assert sure.columns.index("confidence") == sure.columns.index("inference") + 1
    both = pl.concat([usual, sure], how="diagonal")
    assert [row.confidence for row in report_rows(both)] == [0.95, 0.99]
    with pytest.raises(ValueError, match="two columns named 'confidence'"):
        log.scorio(trial=None, by=pl.lit("x").alias("confidence")).avg(confidence=0.99)
