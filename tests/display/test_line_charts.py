"""Pictures with a line for each model: their numbers, bands, points and axes."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.charts import _vertical_range
from tests.display.chart_parts import data_of, layers_of, marks_of, plot_of, subtitle_of
from tests.display.html.logs import models


@pytest.mark.slow
def test_a_curve_has_bands_of_the_posterior_and_points_of_the_estimates(log):
    chart = plot_of(log).curve(ps.pass_hat_k([1, 2, 3]), prior="uniform")
    report = log.scorio(by="domain", success=[1, 2]).pass_hat_k([1, 2, 3], prior="uniform")
    columns = ["model", "k", "estimate", "mu", "lo", "hi"]
    shown = data_of(chart).sort("stratum", "model", "k")
    assert_frame_equal(shown.select(columns), report.select(columns), check_exact=True)
    assert marks_of(chart) == ["area", "line", "line", "line", "point", "line", "line"]
    band, grey, line, ahead, points, *_ = layers_of(chart)
    assert [band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]] == ["lo", "hi"]
    assert line["encoding"]["y"]["field"] == grey["encoding"]["y"]["field"] == "mu"
    # Some question has a single trial: without an estimate the line is dashed, and has no point.
    assert shown["estimate"].null_count() > 0
    assert ahead["mark"]["strokeDash"]
    assert points["encoding"]["y"]["field"] == "marked"
    assert {"filter": "isValid(datum.marked)"} in points["transform"]
    far = (shown["estimate"] - shown["mu"]).abs() > 1e-3
    assert shown["marked"].is_not_null().to_list() == far.fill_null(value=False).to_list()
    assert "beyond the trials of a question: a range without an estimate" in subtitle_of(chart)


def test_each_coloured_line_in_panels_of_strata_has_a_band():
    chart = models(5, strata=2).scorio(by="bench").plot.curve(2)
    coloured = data_of(chart).filter("coloured")["model"].unique().sort().to_list()
    assert coloured == ["m00", "m02"]
    assert "area" in marks_of(chart)
    assert "grey: 3 others" in subtitle_of(chart)
    chosen = models(5, strata=2).scorio(by="bench").plot.curve(2, highlight=["m04"])
    assert data_of(chosen).filter("coloured")["model"].unique().to_list() == ["m04"]


def test_lines_that_hardly_differ_are_flat():
    rows = pl.DataFrame({"mu": [1.0, 1 - 8e-8], "marked": None, "lo": 1.0, "hi": 1.0})
    low, high = _vertical_range(rows.with_columns(coloured=pl.lit(value=True)))
    assert high - low == pytest.approx(0.1)


def test_calibrated_lines_need_no_points(r1):
    chart = r1.scorio.plot.curve(4)
    assert marks_of(chart) == ["area", "line", "line"]
    assert "points" not in subtitle_of(chart)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "sizes", "scale"),
    [
        (16, [1, 2, 4, 8, 16], "log"),
        (5, [1, 2, 4, 5], None),
        ([1, 3, 7], [1, 3, 7], None),
        (range(1, 9), [*range(1, 9)], "log"),
        (ps.pass_hat_k([4, 8]), [4, 8], None),
    ],
    ids=str,
)
def test_the_axis_of_k_is_logarithmic_where_k_spans_it(r1, k, sizes, scale):
    chart = r1.scorio.plot.curve(k)
    assert data_of(chart)["k"].unique().sort().to_list() == sizes
    axis = layers_of(chart)[0]["encoding"]["x"]
    assert axis["scale"].get("type") == scale
    powers = [size for size in (1, 2, 4, 8, 16) if min(sizes) <= size <= max(sizes)]
    assert axis["axis"]["values"] == (powers if scale else sizes)
