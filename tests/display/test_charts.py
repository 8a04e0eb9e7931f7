"""Forest plots and other charts: their numbers, their order, their axes."""

import re

import polars as pl
import pytest
import vl_convert
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.charts import models_by_mean
from polars_scorio.display.media.marks import palette
from tests.display.chart_parts import data_of, layers_of, marks_of, plot_of
from tests.display.html.logs import models
from tests.made_logs import long


@pytest.mark.slow
def test_intervals_are_those_of_the_report(log):
    chart = plot_of(log).intervals(ps.pass_at_k(2), confidence=0.8, overall="macro")
    report = log.scorio(by="domain", success=[1, 2]).report(
        ps.pass_at_k(2), confidence=0.8, overall="macro"
    )
    stratum = pl.col("domain").fill_null("overall").alias("stratum")
    expected = report.select(stratum, "model", "estimate", "lo", "hi")
    # A draw of more trials than there are has a mean in its range, and no estimate.
    drawn = data_of(chart).with_columns(
        estimate=pl.when(pl.col("estimate").is_not_null()).then("mu")
    )
    assert_frame_equal(drawn.select(expected.columns), expected, check_exact=True)
    assert marks_of(chart) == ["rule", "point"]
    rule, point = (layer["encoding"] for layer in layers_of(chart))
    assert [rule["x"]["field"], rule["x2"]["field"], point["x"]["field"]] == ["lo", "hi", "mu"]


def test_models_are_in_the_order_of_their_mean_over_the_strata(log):
    report = log.scorio(by="domain", success=[1, 2]).bayes(prior="uniform")
    means = {model: rows["mu"].mean() for (model,), rows in report.group_by("model")}
    # b and c have the same mean, which sums in another order could tell apart by some 1e-16.
    assert means["a"] > means["b"] == pytest.approx(means["c"], abs=1e-15)
    for layer in layers_of(plot_of(log).intervals(prior="uniform")):
        assert layer["encoding"]["y"]["sort"] == ["a", "b", "c"]


def test_equal_means_are_in_the_order_of_the_names():
    # 0.1 + 0.2 is 0.30000000000000004.
    rows = pl.DataFrame({"model": ["b", "a", "c"], "mu": [0.1 + 0.2, 0.3, 0.4]})
    assert models_by_mean(rows, "mu") == ["c", "a", "b"]
    assert models_by_mean(rows, "mu", smallest_first=True) == ["a", "b", "c"]


def test_no_percentage_is_beyond_100():
    right = long([[1, 1, 1]] * 3)
    for chart in (right.scorio.plot.intervals(), right.scorio.plot.curve(2)):
        svg = vl_convert.vegalite_to_svg(chart.to_dict())
        shown = [float(text) for text in re.findall(r">(\d+(?:\.\d+)?)\xa0%<", svg)]
        assert max(shown) == 100
        assert len(shown) > 2
        # Nor is a line of the grid, of which each has a number.
        line = palette()["line"]
        assert len(re.findall(rf'<line [^>]*stroke="{line}"[^>]*opacity="1"', svg)) == len(shown)


@pytest.mark.parametrize("number", [2, 9])
@pytest.mark.parametrize("name", ["curve", "intervals"])
def test_no_panel_is_narrower_than_its_name_and_its_title(name, number):
    log = models(number, strata=4, questions=2)
    asked = [ps.pass_at_k([1, 2])] if name == "curve" else []
    chart = getattr(log.scorio(by="bench").plot, name)(*asked)
    assert chart.to_dict()["spec"]["width"] >= 150
