"""Pictures: the numbers are those of the report, and the chart shows them as it says."""

import json
import subprocess
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.charts import ordered
from tests.made_logs import drawn, long

KINDS = {
    "intervals": lambda plot, **options: plot.intervals(**options),
    "curve": lambda plot, **options: plot.curve([1, 2], **options),
    "questions": lambda plot, **options: plot.questions(**options),
    "comparison": lambda plot, **options: plot.comparison(**options),
    "trajectory": lambda plot, **options: plot.trajectory(**options),
    "convergence": lambda plot, **options: plot.convergence(
        replicates=5, scheme="question", **options
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def log():
    """Three models with the same seven questions in each of two strata."""
    return drawn(3, range(7), most=4)


def plot_of(log: pl.DataFrame | pl.LazyFrame, by: str | tuple[str, ...] = "domain"):
    return log.scorio(by=by, success=[1, 2]).plot


def data_of(chart) -> pl.DataFrame:
    return pl.DataFrame(chart.data.values, infer_schema_length=None)


def layers_of(chart) -> list[dict]:
    drawn = chart.to_dict()
    return drawn.get("spec", drawn)["layer"]


def marks_of(chart) -> list[str]:
    return [layer["mark"]["type"] for layer in layers_of(chart)]


def models(number: int) -> pl.DataFrame:
    """A log of models, the later the better."""
    return pl.concat(
        long([[0] * (number - place) + [1] * place], f"m{place:02}") for place in range(number)
    )


# --- numbers


def test_intervals_are_those_of_the_report(log):
    chart = plot_of(log).intervals(ps.pass_at_k(2), confidence=0.8, overall="macro")
    report = log.scorio(by="domain", success=[1, 2]).report(
        ps.pass_at_k(2), confidence=0.8, overall="macro"
    )
    expected = report.select(
        pl.col("domain").fill_null("overall").alias("stratum"), "model", "mu", "lo", "hi"
    )
    assert_frame_equal(data_of(chart).select(expected.columns), expected, check_exact=True)
    assert marks_of(chart) == ["rule", "point"]
    rule, point = (layer["encoding"] for layer in layers_of(chart))
    assert [rule["x"]["field"], rule["x2"]["field"], point["x"]["field"]] == ["lo", "hi", "mu"]


def test_models_are_in_the_order_of_their_mean_over_the_strata(log):
    report = log.scorio(by="domain", success=[1, 2]).bayes()
    means = {model: rows["mu"].mean() for (model,), rows in report.group_by("model")}
    # b and c have the same mean, which sums in another order could tell apart.
    assert means["a"] > means["b"] == pytest.approx(means["c"], abs=1e-15)
    for layer in layers_of(plot_of(log).intervals()):
        assert layer["encoding"]["y"]["sort"] == ["a", "b", "c"]


def test_equal_means_are_in_the_order_of_the_names():
    # 0.1 + 0.2 is 0.30000000000000004.
    rows = pl.DataFrame({"model": ["b", "a", "c"], "mu": [0.1 + 0.2, 0.3, 0.4]})
    assert ordered(rows, "mu") == ["c", "a", "b"]


def test_a_curve_has_bands_of_the_posterior_and_points_of_the_estimates(log):
    chart = plot_of(log).curve(ps.pass_hat_k([1, 2, 3]))
    report = log.scorio(by="domain", success=[1, 2]).pass_hat_k([1, 2, 3])
    columns = ["model", "k", "estimate", "mu", "lo", "hi"]
    shown = data_of(chart).sort("stratum", "model", "k")
    assert_frame_equal(shown.select(columns), report.select(columns), check_exact=True)
    assert marks_of(chart) == ["area", "line", "line", "point"]
    band, grey, line, points = layers_of(chart)
    assert [band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]] == ["lo", "hi"]
    assert line["encoding"]["y"]["field"] == grey["encoding"]["y"]["field"] == "mu"
    assert points["encoding"]["y"]["field"] == "estimate"
    # Some question has a single trial: without an estimate there is no point.
    assert shown["estimate"].null_count() > 0
    assert {"filter": "isValid(datum.estimate)"} in points["transform"]


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
    report = log.scorio(by="domain", success=[1, 2]).bayes(per="question")
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
    assert cell["encoding"]["color"]["scale"]["domain"] == [0, 1]
    assert chart.to_dict()["resolve"] == {"scale": {"x": "independent"}}


def test_many_questions_share_cells():
    outcomes = [[int(trial < question % 4) for trial in range(3)] for question in range(1000)]
    chart = long(outcomes).scorio.plot.questions()
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
    chart = plot_of(log).comparison(ps.pass_at_k(2))
    pairs = log.scorio(by="domain", success=[1, 2]).compare(ps.pass_at_k(2))
    shown = {(r["stratum"], r["model"], r["other"]): r for r in chart.data.values}
    assert len(shown) == len(chart.data.values) == 2 * pairs.height
    for pair in pairs.to_dicts():
        one = shown[pair["domain"], pair["model_a"], pair["model_b"]]
        other = shown[pair["domain"], pair["model_b"], pair["model_a"]]
        ahead = pair["prob"] if pair["diff"] > 0 else 1 - pair["prob"]
        assert one["prob"] == pytest.approx(ahead, abs=1e-15)
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
    expected = log.scorio(by="domain", success=[1, 2]).trajectory(confidence=0.5)
    columns = ["n", "model", "mu", "lo", "hi", "rank"]
    shown = data_of(chart).sort("stratum", "n", "model").select(columns)
    assert_frame_equal(shown, expected.select(columns), check_dtypes=False, check_exact=True)
    assert marks_of(chart) == ["area", "line", "line"]
    assert "50 % credible interval" in chart.to_dict()["title"]["subtitle"]


def test_long_lines_are_thinned_and_keep_both_ends():
    chart = long([[0, 1] * 500]).scorio.plot.trajectory()
    shown = data_of(chart)["n"].to_list()
    assert len(shown) == 201
    assert [shown[0], shown[1], shown[-1]] == [1, 6, 1000]


def test_convergence_shows_the_share_and_tau(log):
    chart = plot_of(log).convergence(replicates=20, scheme="question", seed=3)
    rows = log.scorio(by="domain", success=[1, 2]).convergence(
        replicates=20, scheme="question", seed=3
    )
    expected = rows.drop_nulls("n")
    for what, column in (("share of the rep", "cumulative"), ("Kendall's tau", "tau")):
        shown = data_of(chart).filter(pl.col("what").str.starts_with(what))
        assert shown["value"].to_list() == expected[column].to_list()
        assert shown["n"].to_list() == expected["n"].to_list()
    assert marks_of(chart) == ["line"]


# --- what all pictures have in common


@every_kind
def test_strata_are_panels_and_without_them_there_is_one(log, kind):
    panels = KINDS[kind](plot_of(log)).to_dict()
    assert panels["facet"]["field"] == "stratum"
    assert panels["facet"]["sort"] == ["air", "web"]
    assert panels["facet"]["header"]["title"] == "domain"
    alone = KINDS[kind](log.filter(domain="web").scorio(success=[1, 2]).plot).to_dict()
    assert "facet" not in alone
    for picture in (panels, alone):
        assert picture["title"]["text"]
        assert picture["title"]["subtitle"]


def test_several_columns_of_strata_are_one_panel(log):
    cold = log.with_columns(temperature=pl.lit(0.7))
    chart = plot_of(cold, ("domain", "temperature")).intervals(overall="micro")
    facet = chart.to_dict()["facet"]
    assert facet["header"]["title"] == "domain / temperature"
    assert facet["sort"] == ["air / 0.7", "web / 0.7", "overall"]


def test_without_models_the_strata_are_lines(log):
    chart = log.scorio(by="domain", model=None, trial=None, success=[1, 2]).plot.intervals()
    assert "facet" not in chart.to_dict()
    assert data_of(chart)["model"].to_list() == ["air", "web"]


@every_kind
def test_a_lazy_log_gives_the_same_picture(log, kind):
    assert KINDS[kind](plot_of(log.lazy())).to_dict() == KINDS[kind](plot_of(log)).to_dict()


@every_kind
def test_names_of_columns_may_be_anything(log, kind):
    odd = log.rename({"model": "a.b:Q", "question": "mu", "domain": "model[0]"})
    accessor = odd.scorio(model="a.b:Q", question=pl.col("mu").alias("x.y"), by="model[0]",
                          success=[1, 2])  # fmt: skip
    shown = data_of(KINDS[kind](accessor.plot))
    assert_frame_equal(shown, data_of(KINDS[kind](plot_of(log))), check_exact=True)


@every_kind
def test_a_picture_is_written_without_a_browser(log, kind, tmp_path):
    path = tmp_path / "picture.png"
    KINDS[kind](plot_of(log)).save(path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@every_kind
def test_an_empty_log_gives_an_empty_picture(log, kind):
    assert KINDS[kind](plot_of(log.clear())).data.values == []


def test_seven_models_have_colours_and_all_others_are_grey():
    seven, nine = (models(number).scorio.plot.curve([1, 2]) for number in (7, 9))
    legend = layers_of(seven)[0]["encoding"]["color"]["scale"]
    assert legend["domain"] == [f"m{place:02}" for place in (6, 5, 4, 3, 2, 1, 0)]
    assert len(set(legend["range"])) == 7
    legend = layers_of(nine)[0]["encoding"]["color"]["scale"]
    assert legend["domain"] == [*(f"m{place:02}" for place in (8, 7, 6, 5, 4, 3, 2)), "2 others"]
    assert legend["range"][-1] == "#BBBBBB"
    named = data_of(nine).filter("coloured")["model"].unique().sort().to_list()
    assert named == [f"m{place:02}" for place in range(2, 9)]
    # The best is drawn last.
    assert data_of(nine)["model"].last() == "m08"
    single = layers_of(models(2).filter(model="m01").scorio.plot.curve([1, 2]))
    assert single[0]["encoding"]["color"]["legend"] is None


def test_forty_models_fit():
    many = models(40)
    chart = many.scorio.plot.intervals()
    assert chart.to_dict()["height"] == {"step": 20}
    assert len(data_of(chart)) == 40
    matrix = many.scorio.plot.comparison()
    # 1,560 cells are too small for numbers.
    assert marks_of(matrix) == ["rect"]
    assert "bold" not in matrix.to_dict()["title"]["subtitle"]
    # Altair refuses frames of more than 5,000 rows.
    questions = pl.concat(long([[0]] * 200, f"m{place}") for place in range(40))
    chart = questions.scorio.plot.questions()
    assert len(data_of(chart)) == 8000
    assert chart.to_dict()["title"]["text"] == "bayes"


# --- errors


@pytest.mark.parametrize("kind", ["intervals", "questions", "comparison", "trajectory"])
def test_one_draw_size_at_a_time(r1, kind):
    with pytest.raises(ValueError, match=rf"^{kind} takes one draw size .* k=\[1, 2\]"):
        getattr(r1.scorio.plot, kind)(ps.pass_at_k([1, 2]))


@every_kind
def test_an_unknown_option_is_refused(log, kind):
    for wrong in ("wide", "confidnce"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'"):
            KINDS[kind](plot_of(log), **{wrong: True})


@pytest.mark.parametrize("kind", ["intervals", "curve", "questions"])
def test_rewards_without_weights_have_no_picture(kind):
    plot = long([[3.0, 5.0], [9.0, 4.0]]).scorio.plot
    with pytest.raises(ValueError, match=r"^max_at_k: rewards of any value have no posterior to"):
        getattr(plot, kind)(ps.max_at_k(1))


def test_a_log_with_errors_has_no_picture(r1):
    with pytest.raises(ValueError, match="same trial twice"):
        pl.concat([r1, r1]).scorio.plot.intervals()


def test_without_altair_there_is_a_way_out():
    code = (
        "import sys; sys.modules['altair'] = None\n"
        "import polars as pl, polars_scorio\n"
        "pl.DataFrame({'model': 'm'}).scorio.plot"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    message = 'ImportError: pictures need Altair: pip install "polars-scorio[plot]"'
    assert done.stderr.splitlines()[-1] == message


# --- hostile names


@every_kind
def test_names_do_not_leave_the_script_of_a_page(log, kind):
    evil = "</script><script>alert(1)</script><!--"
    log = log.with_columns(
        pl.col("domain").replace({"web": evil}),
        pl.col("model").replace({"a": evil}),
        question=pl.format("{}" + evil, "question"),
    ).rename({"domain": evil})
    html = KINDS[kind](plot_of(log, by=evil)).to_html()
    (data,) = [line for line in html.splitlines() if "alert(1)" in line]
    for text in ("</script", "<script", "<!--"):
        assert text not in data
    shown = "<\N{WORD JOINER}/script>"
    assert shown in data or json.dumps(shown)[1:-1] in data


def test_metric_names_do_not_leave_the_script_of_a_page(log):
    html = plot_of(log).intervals(ps.bayes(name="</script>")).to_html()
    assert html.count("</script>") == plot_of(log).intervals().to_html().count("</script>")


def test_a_stratum_that_is_called_overall_is_not_drawn_upon(log):
    named = log.with_columns(pl.col("domain").replace({"air": "overall"}))
    chart = plot_of(named).intervals(overall="macro")
    assert chart.to_dict()["facet"]["sort"] == ['"overall"', "web", "overall"]
    rows = data_of(chart)
    assert rows.group_by("stratum").len()["len"].to_list() == [3, 3, 3]
    mean = named.scorio(by="domain", success=[1, 2]).report(ps.bayes(), overall="macro")
    mean = mean.filter(pl.col("domain").is_null()).sort("model")["mu"].to_list()
    assert rows.filter(stratum="overall").sort("model")["mu"].to_list() == pytest.approx(mean)


@every_kind
def test_strata_whose_labels_join_to_the_same_text_have_panels_of_their_own(log, kind):
    pairs = [("a / b", "c"), ("a", "b / c"), ("a /", "b"), ("a", "/ b"), ('a"', "b"), ("a", '"b')]
    parts = [
        log.filter(domain="web").with_columns(one=pl.lit(one), two=pl.lit(two))
        for one, two in pairs
    ]
    chart = KINDS[kind](plot_of(pl.concat(parts), by=("one", "two")))
    assert sorted(chart.to_dict()["facet"]["sort"]) == sorted(
        ['"a / b" / c', 'a / "b / c"', '"a /" / b', 'a / "/ b"', r'"a\"" / b', r'a / "\"b"']
    )
