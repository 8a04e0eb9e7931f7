"""Forest plots and other charts: their numbers, their order, their axes."""

import re

import polars as pl
import pytest
import vl_convert
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.charts import _vertical_range, models_by_mean
from polars_scorio.display.media.marks import palette
from tests.display.chart_parts import data_of, layers_of, marks_of, plot_of, subtitle_of
from tests.display.html.logs import models
from tests.made_logs import long, priced_models


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


# Pictures with a line for each model: their numbers, bands, points and axes.


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


pytest.importorskip("altair")


@pytest.fixture(scope="module")
def priced():
    """A cheap model, a good one, and one that is dear and bad, on two domains."""
    return priced_models(questions=60, trials=3)


def test_points_have_both_intervals(priced):
    chart = priced.scorio(cost="usd").plot.frontier()
    models = pl.DataFrame(chart.data.values)
    assert models["model"].to_list() == ["cheap", "good", "poor"]
    assert models.select((pl.col("cost_lo") < pl.col("mean_cost")).all()).item()
    assert models["dominated"].to_list() == [False, False, True]
    drawn = chart.to_dict()
    kinds = [layer["mark"]["type"] for layer in drawn["layer"]]
    assert kinds == ["rule", "rule", "point", "point", "text", "text"]
    assert drawn["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
    assert "usd" in drawn["layer"][0]["encoding"]["x"]["title"]


@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
def test_each_point_has_its_name_beside_it_on_a_free_side(priced):
    near = pl.concat([priced, priced.filter(model="good").with_columns(model=pl.lit("goods"))])
    chart = near.scorio(cost="usd").plot.frontier(highlight="good")
    rows = pl.DataFrame(chart.data.values)
    assert rows["label"].to_list() == rows["model"].to_list()
    sides = dict(rows.select("model", "above").rows())
    assert sides["good"] != sides["goods"]
    (hue,) = {str(layer["encoding"]["color"]) for layer in chart.to_dict()["layer"][:4]}
    assert "'legend': None" in hue


def test_strata_are_panels(priced):
    chart = priced.scorio(cost="usd", by="domain").plot.frontier(ps.pass_at_k(2), confidence=0.8)
    drawn = chart.to_dict()
    assert "facet" in drawn
    assert "80 %" in str(drawn["title"]["subtitle"])


def test_a_single_model_is_a_point(priced):
    chart = priced.filter(model="good").scorio(cost="usd").plot.frontier()
    assert [row["model"] for row in chart.data.values if row["model"]] == ["good"]
