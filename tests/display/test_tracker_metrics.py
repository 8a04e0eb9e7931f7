import math
import re

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long


@pytest.fixture
def trials():
    """Trials of two models in two strata."""
    logs = [
        long([[1, 0], [1, 1]], model).with_columns(domain=pl.lit(domain))
        for domain in ("air", "web")
        for model in ("org/ada", "bob")
    ]
    return pl.concat(logs)


@pytest.fixture
def report(trials):
    """A report on two metrics, with intervals."""
    accessor = trials.scorio(by="domain")
    return accessor.report(ps.avg(), ps.pass_hat_k(2))


def test_a_name_has_strata_model_metric_and_number(report):
    found = ps.to_metrics(report)
    assert found["air/org_ada/pass_hat_2/estimate"] == 0.5
    assert found["web/bob/avg/estimate"] == 0.75
    row = report.filter(domain="web", model="bob", metric="avg").row(0, named=True)
    assert found["web/bob/avg/lo"] == row["lo"]
    assert len(found) == 8 * 4


def test_one_model_is_left_out_of_names(report):
    one = report.filter(model="bob").drop("sigma").with_columns(sigma=None)
    found = ps.to_metrics(one.lazy())
    assert {*found} >= {"air/pass_hat_2/estimate", "air/pass_hat_2/lo"}
    assert not any(name.endswith("sigma") for name in found)


@pytest.mark.parametrize("value", [None, math.nan, math.inf], ids=repr)
def test_what_is_no_finite_number_is_left_out(report, value):
    found = ps.to_metrics(report.with_columns(lo=pl.lit(value, pl.Float64)))
    assert {*ps.to_metrics(report)} - {*found} == {
        f"{domain}/{model}/{metric}/lo"
        for domain in ("air", "web")
        for model in ("org_ada", "bob")
        for metric in ("avg", "pass_hat_2")
    }


def test_posteriors_have_their_mean(trials):
    board = trials.scorio(by="domain").bayes()
    assert ps.to_metrics(board)["air/bob/bayes/mu"] == board.filter(model="bob")["mu"][0]


@pytest.mark.parametrize(("name", "k", "expected"), [
    ("avg", None, "avg"),
    ("pass_hat_k", 4, "pass_hat_4"),
    ("g_pass_at_k_tau(tau=0.5)", 2, "g_pass_at_2_tau_tau_0.5"),
    ("tail_pass(k=8)", 3, "tail_pass_k_8__3"),
    ("ours", 3, "ours_3"),
])  # fmt: skip
def test_k_stands_in_the_name(report, name, k, expected):
    row = report.head(1).with_columns(metric=pl.lit(name), k=pl.lit(k, pl.Int64))
    assert f"air/{expected}/estimate" in ps.to_metrics(row)


def test_two_rows_of_one_name_are_refused(report):
    with pytest.raises(ValueError, match=r"would have the name 'air/bob/avg'.* name="):
        ps.to_metrics(pl.concat([report, report.head(1)]))


def test_another_frame_is_refused(report, trials):
    with pytest.raises(ValueError, match=r"lacks the columns \['metric', .*without wide=True"):
        ps.to_metrics(trials)
    with pytest.raises(ValueError, match=r"lacks the columns \['lo'\]"):
        ps.to_metrics(report.drop("lo"))


@pytest.mark.parametrize("value", [-1, [1], None], ids=repr)
def test_what_is_no_frame_is_refused(value):
    message = rf"^report must be the DataFrame .* report\(\) returns, got {re.escape(repr(value))}$"
    with pytest.raises(TypeError, match=message):
        ps.to_metrics(value)


def test_a_report_carries_a_confidence_that_is_not_the_usual_one():
    log = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [1, 0, 1, 1]})
    usual, sure = (log.scorio(trial=None).avg(confidence=each) for each in (None, 0.99))
    assert "confidence" not in usual.columns
    assert sure["confidence"].to_list() == [0.99]
    assert sure.drop("confidence").columns == usual.columns
    assert sure.columns.index("confidence") == sure.columns.index("inference") + 1
    with pytest.raises(ValueError, match="two columns named 'confidence'"):
        log.scorio(trial=None, by=pl.lit("x").alias("confidence")).avg(confidence=0.99)
