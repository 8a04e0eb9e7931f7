"""Pictures: their numbers are those of the report."""

import re

import polars as pl
import pytest
import vl_convert
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.charts import models_by_mean
from tests.display.chart_parts import data_of, layers_of, marks_of, plot_of, subtitle_of
from tests.made_logs import drawn, long


@pytest.fixture
def log():
    """Three models with the same seven questions in each of two strata."""
    return drawn(3, range(7), most=4)


# --- numbers


def test_intervals_are_those_of_the_report(log):
    chart = plot_of(log).intervals(ps.pass_at_k(2), confidence=0.8, overall="macro")
    report = log.scorio(by="domain", success=[1, 2]).report(
        ps.pass_at_k(2), confidence=0.8, overall="macro", inference="calibrated"
    )
    expected = report.select(
        pl.col("domain").fill_null("overall").alias("stratum"), "model", "mu", "lo", "hi"
    )
    assert_frame_equal(data_of(chart).select(expected.columns), expected, check_exact=True)
    assert marks_of(chart) == ["rule", "point"]
    rule, point = (layer["encoding"] for layer in layers_of(chart))
    assert [rule["x"]["field"], rule["x2"]["field"], point["x"]["field"]] == ["lo", "hi", "mu"]


@pytest.mark.skipif(
    pl.__version__.startswith("1."),
    reason="Polars 1 shares scans, as measured, but no function over them that could count",
)
@pytest.mark.parametrize(
    "kind", ["intervals", "curve", "questions", "comparison", "ranks", "trajectory", "over"]
)
def test_a_picture_reads_the_log_once(log, kind, tmp_path):
    log.with_columns(step=1).write_parquet(tmp_path / "log.parquet")
    looks = []

    def seen(part: pl.DataFrame) -> pl.DataFrame:
        looks.append(part.height)
        return part

    scan = pl.scan_parquet(tmp_path / "log.parquet")
    counted = scan.map_batches(seen, schema=scan.collect_schema(), streamable=False)
    arguments = {"curve": [ps.pass_at_k(2)], "over": ["step", ps.avg(name="mean")]}
    getattr(plot_of(counted), kind)(*arguments.get(kind, [ps.avg(name="mean")]))
    assert looks == [log.height]


def test_models_are_in_the_order_of_their_mean_over_the_strata(log):
    report = log.scorio(by="domain", success=[1, 2]).bayes(inference="published")
    means = {model: rows["mu"].mean() for (model,), rows in report.group_by("model")}
    # b and c have the same mean, which sums in another order could tell apart by some 1e-16.
    assert means["a"] > means["b"] == pytest.approx(means["c"], abs=1e-15)
    for layer in layers_of(plot_of(log).intervals(inference="published")):
        assert layer["encoding"]["y"]["sort"] == ["a", "b", "c"]


def test_equal_means_are_in_the_order_of_the_names():
    # 0.1 + 0.2 is 0.30000000000000004.
    rows = pl.DataFrame({"model": ["b", "a", "c"], "mu": [0.1 + 0.2, 0.3, 0.4]})
    assert models_by_mean(rows, "mu") == ["c", "a", "b"]


def test_a_curve_has_bands_of_the_posterior_and_points_of_the_estimates(log):
    chart = plot_of(log).curve(ps.pass_hat_k([1, 2, 3]), inference="published")
    report = log.scorio(by="domain", success=[1, 2]).pass_hat_k([1, 2, 3], inference="published")
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
    assert "points: unbiased estimate; dashed: k exceeds the trials, a prediction" in subtitle_of(
        chart
    )


def test_calibrated_lines_need_no_points(r1):
    chart = r1.scorio.plot.curve(4)
    assert marks_of(chart) == ["area", "line", "line"]
    assert "points" not in subtitle_of(chart)


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


def test_a_curve_needs_draw_sizes(r1):
    with pytest.raises(ValueError, match=r"^curve needs draw sizes, and bayes has none: pass for"):
        r1.scorio.plot.curve(ps.bayes())
    with pytest.raises(ValueError, match="k must be a positive int or a sequence of them, got 0"):
        r1.scorio.plot.curve(0)


def test_cells_are_the_questions_of_the_report_the_hardest_first(log):
    chart = plot_of(log).questions()
    pooled = {"inference": "pooled", "per": "question"}
    report = log.scorio(by="domain", success=[1, 2]).avg(**pooled)
    shown = data_of(chart).select("stratum", "model", pl.col("question").cast(pl.Int64), "mu")
    expected = report.select(pl.col("domain").alias("stratum"), "model", "question", "mu")
    keys = ["stratum", "model", "question"]
    assert_frame_equal(shown.sort(keys), expected.sort(keys), check_exact=True)
    places = data_of(chart).group_by("stratum", "place").agg(pl.col("mu").mean())
    for _, stratum in places.sort("place").group_by("stratum"):
        assert stratum["place"].to_list() == [*range(7)]
        assert stratum["mu"].is_sorted()
    (cell,) = layers_of(chart)
    assert cell["mark"]["type"] == "rect"
    assert cell["encoding"]["x"]["sort"] == {"field": "place", "op": "min"}
    assert cell["encoding"]["x"]["axis"]["labels"]
    assert "average of the trials of each question" in subtitle_of(chart)
    assert cell["encoding"]["color"]["scale"]["domain"] == [0, 1]
    assert chart.to_dict()["resolve"] == {"scale": {"x": "independent"}}


def test_many_questions_share_cells():
    outcomes = [[int(trial < question % 4) for trial in range(3)] for question in range(1000)]
    chart = long(outcomes).scorio.plot.questions(ps.bayes(), inference="published")
    shown = data_of(chart)
    # 250 questions each with 0, 1, 2 and 3 of 3: in cells of four, some of them with two kinds.
    assert shown["place"].to_list() == [*range(250)]
    assert shown["mu"].mean() == pytest.approx(0.5)
    assert shown.row(0, named=True)["question"] == "1 to 4"
    assert shown["mu"].first() == pytest.approx(0.2)
    across = layers_of(chart)[0]["encoding"]["x"]
    assert across["title"] == "questions, the hardest first (4 in a cell)"
    assert not across["axis"]["labels"]


def test_colours_span_what_the_metric_can_be():
    (cell,) = layers_of(long([[2, 1], [0, 1]]).scorio.plot.questions(ps.bayes(w=[-1, 0, 3])))
    assert cell["encoding"]["color"]["scale"]["domain"] == [-1, 3]


def test_a_matrix_has_the_probabilities_of_the_comparison_both_ways(log):
    chart = plot_of(log).comparison(ps.pass_at_k(1))
    pairs = log.scorio(by="domain", success=[1, 2]).compare(
        ps.pass_at_k(1), simultaneous=True, inference="calibrated"
    )
    shown = {(r["stratum"], r["model"], r["other"]): r for r in chart.data.values}
    assert len(shown) == len(chart.data.values) == 2 * pairs.height
    for pair in pairs.to_dicts():
        one = shown[pair["domain"], pair["model_a"], pair["model_b"]]
        other = shown[pair["domain"], pair["model_b"], pair["model_a"]]
        assert one["prob"] == pair["prob"]
        # 1 - prob rounds once, by 1.1e-16 at most.
        assert one["prob"] + other["prob"] == pytest.approx(1, abs=1e-15)
        assert one["sure"] is other["sure"] is (pair["better"] is not None)
    assert marks_of(chart) == ["rect", "text", "text"]
    assert layers_of(chart)[1]["mark"]["fontWeight"] == "bold"
    assert layers_of(chart)[0]["encoding"]["color"]["scale"]["domainMid"] == 0.5


def test_numbers_in_a_matrix_never_say_that_something_is_certain():
    wins, ties = long([[1] * 50]), long([[0] * 50], "zero")
    texts = [row["text"] for row in pl.concat([wins, ties]).scorio.plot.comparison().data.values]
    assert sorted(texts) == ["<.01", ">.99"]
    even = pl.concat([wins, long([[1] * 50], "same")]).scorio.plot.comparison()
    assert [row["text"] for row in even.data.values] == [".50", ".50"]


def test_a_trajectory_is_that_of_the_accessor(log):
    chart = plot_of(log).trajectory(confidence=0.5)
    expected = log.scorio(by="domain", success=[1, 2]).trajectory(
        ps.avg(), confidence=0.5, inference="calibrated"
    )
    columns = ["n", "model", "mu", "lo", "hi", "rank"]
    shown = data_of(chart).sort("stratum", "n", "model").select(columns)
    assert_frame_equal(shown, expected.select(columns), check_dtypes=False, check_exact=True)
    assert marks_of(chart) == ["area", "line", "line"]
    assert "bands: calibrated 50 % intervals" in subtitle_of(chart)
    posterior = plot_of(log).trajectory(ps.bayes(), confidence=0.5)
    assert "bands: 50 % intervals (uniform prior, as published)" in subtitle_of(posterior)


@pytest.mark.parametrize("k", [3, 20])
def test_a_tail_is_the_curve_over_thresholds(log, k):
    chart = plot_of(log).tail(k, inference="published")
    rows = log.scorio(by="domain", success=[1, 2]).tail_pass(k, inference="published")
    columns = ["model", "t", "estimate", "mu", "lo", "hi"]
    shown = data_of(chart).sort("stratum", "model", "t").select(columns)
    assert_frame_equal(
        shown, rows.select(columns), check_exact=True, check_dtypes=False
    )  # all null
    across = layers_of(chart)[0]["encoding"]["x"]
    assert (across["field"], across["title"]) == ("t", f"t, successes of {k}")
    assert ("values" in across["axis"]) == (k == 3)  # twenty ticks are for Vega to choose
    assert chart.to_dict()["title"]["text"] == f"TailPass@{k}"


def test_a_curve_over_thresholds_has_a_picture_of_its_own(r1):
    with pytest.raises(ValueError, match=r"tail_pass\(k=3\) is a curve .*: plot.tail draws it"):
        r1.scorio.plot.curve(ps.tail_pass(3))
    words = "TailPass@3 (t=2)"
    assert r1.scorio.plot.intervals(ps.tail_pass(3, 2)).to_dict()["title"]["text"] == words


def test_long_lines_are_thinned_and_keep_both_ends():
    chart = long([[0, 1] * 500]).scorio(inference="published").plot.trajectory()
    shown = data_of(chart)["n"].to_list()
    assert len(shown) == 201
    assert [shown[0], shown[1], shown[-1]] == [1, 6, 1000]


def test_convergence_shows_the_share_and_tau(log):
    chart = plot_of(log).convergence(replicates=20, scheme="question", seed=3)
    rows = log.scorio(by="domain", success=[1, 2]).convergence(
        ps.avg(), replicates=20, scheme="question", seed=3, inference="calibrated"
    )
    expected = rows.drop_nulls("n")
    for what, column in (("share of the rep", "cumulative"), ("Kendall's tau", "tau")):
        shown = data_of(chart).filter(pl.col("what").str.starts_with(what))
        assert shown["value"].to_list() == expected[column].to_list()
        assert shown["n"].to_list() == expected["n"].to_list()
    assert marks_of(chart) == ["line"]


def test_no_percentage_is_beyond_100():
    right = long([[1, 1, 1]] * 3)
    for chart in (right.scorio.plot.intervals(), right.scorio.plot.curve(2)):
        svg = vl_convert.vegalite_to_svg(chart.to_dict())
        shown = [float(text) for text in re.findall(r">(\d+(?:\.\d+)?)%<", svg)]
        assert max(shown) == 100
        assert len(shown) > 2


PICTURES = {
    "comparison": (),
    "convergence": (),
    "curve": ([1, 2],),
    "forecast": (),
    "intervals": (),
    "over": ("step",),
    "questions": (),
    "ranks": (),
    "tail": (2,),
    "trajectory": (),
}


def test_every_picture_is_looked_at_for_its_schemas():
    plots = drawn(2, range(3), most=2).scorio.plot
    methods = {name for name in dir(plots) if callable(getattr(plots, name)) and name[0] != "_"}
    assert methods == {*PICTURES}


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_asks_for_few_schemas(monkeypatch, picture):
    # Every one resolves the whole plan of the log again, and on a store its metadata.
    calls, asked = [], pl.LazyFrame.collect_schema

    def spy(frame: pl.LazyFrame) -> pl.Schema:
        calls.append(frame)
        return asked(frame)

    log = drawn(3, range(9), most=4).with_columns(step=pl.col("question") % 3)
    plots = log.filter(domain="web").lazy().scorio(by="domain", success=[1, 2]).plot
    options = {"replicates": 5, "scheme": "question"} if picture == "convergence" else {}
    monkeypatch.setattr(pl.LazyFrame, "collect_schema", spy)
    getattr(plots, picture)(*PICTURES[picture], **options)
    assert 1 <= len(calls) <= 5
