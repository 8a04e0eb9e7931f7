import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.exports import ReportRow, metric_at


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


@pytest.mark.parametrize(("name", "k", "expected"), [
    ("avg", None, "avg"),
    ("pass_hat_k", 4, "pass_hat_4"),
    ("g_pass_at_k_tau(tau=0.5)", 2, "g_pass_at_2_tau(tau=0.5)"),
    ("tail_pass(k=8)", 3, "tail_pass(k=8)_3"),
    ("ours", 3, "ours_3"),
])  # fmt: skip
def test_k_stands_in_the_name(name, k, expected):
    assert metric_at(ReportRow({}, name, k, {})) == expected


def test_names_are_what_trackers_take(trials):
    report = trials.scorio(by="domain").g_pass_at_k_tau(2, tau=0.5)
    assert "air/bob/g_pass_at_2_tau_tau_0.5/estimate" in ps.to_metrics(report)


def test_two_rows_of_one_name_are_refused(report):
    with pytest.raises(ValueError, match=r"would have the name 'air/bob/avg'.* name="):
        ps.to_metrics(pl.concat([report, report.head(1)]))
