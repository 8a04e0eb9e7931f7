"""Pictures: the numbers are those of the report, and the chart shows them as it says."""

import inspect
import json
import pickle
import subprocess
import sys
from base64 import b64decode

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.media.marks import palette
from tests.display.chart_parts import (
    ascending_models,
    data_of,
    layers_of,
    marks_of,
    plot_of,
    subtitle_of,
)
from tests.made_logs import drawn, law, long, ragged

KINDS = {
    "intervals": lambda plot, **options: plot.intervals(**options),
    "curve": lambda plot, **options: plot.curve([1, 2], **options),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


# --- what all pictures have in common


@pytest.mark.slow
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


@pytest.mark.every(3)
@every_kind
def test_a_lazy_log_gives_the_same_picture(log, kind):
    assert KINDS[kind](plot_of(log.lazy())).to_dict() == KINDS[kind](plot_of(log)).to_dict()


@pytest.mark.every(3)
@every_kind
def test_names_of_columns_may_be_anything(log, kind):
    odd = log.rename({"model": "a.b:Q", "question": "mu", "domain": "model[0]"})
    accessor = odd.scorio(model="a.b:Q", question=pl.col("mu").alias("x.y"), by="model[0]",
                          success=[1, 2])  # fmt: skip
    shown = data_of(KINDS[kind](accessor.plot))
    assert_frame_equal(shown, data_of(KINDS[kind](plot_of(log))), check_exact=True)


@pytest.mark.slow
@every_kind
def test_a_picture_is_written_without_a_browser(log, kind, tmp_path):
    path = tmp_path / "picture.png"
    KINDS[kind](plot_of(log)).save(path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@every_kind
def test_an_empty_log_gives_an_empty_picture(log, kind):
    picture = KINDS[kind](plot_of(log.clear()))
    assert picture.data.values == []
    assert picture.title.subtitle[-1] == "no questions"


WRONG_OPTIONS = [
    ({"prior": "unifrm"}, ValueError, "did you mean 'uniform'"),
    ({"target": int}, TypeError, r'^target must be "benchmark" or "population", got <class'),
    ({"target": pl.col("x")}, TypeError, "^target must be"),
    ({"confidence": 95}, ValueError, "^confidence must be"),
    ({"highlight": "x"}, ValueError, r"^highlight: no model 'x'; there are \['"),
]


@pytest.mark.every(3)
@every_kind
@pytest.mark.parametrize(
    ("options", "error", "said"), WRONG_OPTIONS, ids=[*map(str, range(len(WRONG_OPTIONS)))]
)
def test_every_picture_looks_at_its_options(log, kind, options, error, said):
    names = inspect.signature(getattr(plot_of(log), kind)).parameters
    if not options.keys() <= names.keys():
        error, said = TypeError, "got an unexpected keyword argument"
    with pytest.raises(error, match=said):
        KINDS[kind](plot_of(log), **options)


def test_a_picture_is_of_a_metric(log):
    with pytest.raises(TypeError, match=r"^a picture takes a metric .*, got a polars Series$"):
        plot_of(log).intervals(pl.Series([1]))


# --- along a stratum


def steps(number: int) -> pl.DataFrame:
    """Two runs that get better with their steps."""
    return pl.concat(
        long([[int(trial * number < step * 4) for trial in range(4)]] * 5, run).with_columns(
            step=pl.lit(step)
        )
        for step in range(number)
        for run in ("one", "two")
    )


@pytest.mark.slow
def test_a_metric_along_a_stratum_is_that_of_the_report():
    log = steps(5)
    chart = log.scorio.plot.over("step", ps.pass_at_k(2))
    report = log.scorio(by="step").report(ps.pass_at_k(2)).rename({"estimate": "mu"})
    columns = ["model", "at", "mu", "lo", "hi"]
    shown = data_of(chart).sort("at", "model").select(columns)
    expected = report.rename({"step": "at"}).select(columns)
    assert_frame_equal(shown, expected, check_exact=True, check_dtypes=False)
    assert layers_of(chart)[0]["encoding"]["x"]["title"] == "step"
    assert "facet" not in chart.to_dict()
    assert "points: the values of step in the log" in chart.to_dict()["title"]["subtitle"]
    assert [row["marked"] for row in chart.data.values] == [row["mu"] for row in chart.data.values]
    assert chart.to_dict() == log.scorio(by="step").plot.over("step", ps.pass_at_k(2)).to_dict()
    panels = log.with_columns(domain=pl.lit("web")).scorio(by=["step", "domain"])
    assert panels.plot.over("step").to_dict()["facet"]["header"]["title"] == "domain"


def test_times_are_a_temporal_axis():
    day = pl.date(2026, 1, 1) + pl.duration(days=pl.col("step"))
    chart = steps(3).select(pl.exclude("step"), day=day).scorio.plot.over("day", ps.avg())
    assert layers_of(chart)[0]["encoding"]["x"]["type"] == "temporal"
    assert chart.data.values[0]["at"] == "2026-01-01T00:00:00.000"


def test_words_are_no_axis(log):
    with pytest.raises(ValueError, match=r"numbers or times, and 'domain' is String: cast it"):
        plot_of(log).over("domain")


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", KINDS)
def test_more_strata_than_panels_are_refused(kind):
    log = steps(25)
    message = r'^25 strata of step are more than .* as in plot\.over\("step", ps\.avg\(\)\)$'
    with pytest.raises(ValueError, match=message):
        KINDS[kind](log.scorio(by="step").plot)


# --- look


def test_intervals_end_where_the_metric_does():
    chart = long([[1]]).scorio.plot.intervals(ps.bayes(), prior="uniform")
    # mu = 2/3, sigma = sqrt(1/18), to four decimals: the interval of the report ends at 1.129.
    assert data_of(chart).select("lo", "hi").row(0) == pytest.approx((0.2047, 1.0), abs=5e-5)
    assert marks_of(chart) == ["rule", "point", "tick"]
    assert data_of(chart)["marked"].to_list() == [1.0]


@pytest.mark.slow
@law
@given(ragged(), st.sampled_from([None, "population", "uniform"]))
def test_no_mark_lies_outside_its_interval(outcomes, prior):
    for metric in (ps.bayes(), ps.pass_at_k(3), ps.geom_at_k(2)):
        chart = long(outcomes).scorio.plot.intervals(metric, prior=prior)
        (row,) = chart.data.values
        # What k beyond the trials can be is a range without a mark; the last digits of sums differ.
        marks = [row["lo"], row["hi"]] if row["mu"] is None else [row["mu"]]
        assert all(row["lo"] - 1e-12 <= mark <= row["hi"] + 1e-12 for mark in marks)


@pytest.mark.every(3)
@every_kind
def test_a_picture_has_the_size_and_the_theme_that_are_asked_for(log, kind):
    made = KINDS[kind](log.filter(domain="web").scorio(success=[1, 2]).plot, width=111, height=99)
    assert (made.to_dict()["width"], made.to_dict()["height"]) == (111, 99)
    dark = KINDS[kind](plot_of(log), theme="dark").to_dict()
    assert dark["config"]["background"] == palette("dark")["bg"]
    with pytest.raises(ValueError, match=r"""theme must be "light" or "dark", got 'blue'"""):
        KINDS[kind](plot_of(log), theme="blue")
    with pytest.raises(ValueError, match="width must be a positive int, got 0"):
        KINDS[kind](plot_of(log), width=0)


@pytest.mark.every(3)
@every_kind
def test_a_picture_says_what_it_shows(log, kind):
    chart = KINDS[kind](plot_of(log))
    assert chart.to_dict()["description"].startswith(f"{chart.to_dict()['title']['text']}. ")
    assert "7 questions, 2.1 to 3.1 trials per question" in subtitle_of(chart)
    assert "calibrated" in subtitle_of(chart)


def test_the_last_row_of_panels_has_axes_of_its_own(log):
    four = pl.concat(log.filter(domain="web").with_columns(domain=pl.lit(s)) for s in "abcd")
    assert plot_of(four).intervals().to_dict()["resolve"] == {"axis": {"x": "independent"}}
    assert "resolve" not in plot_of(log).intervals().to_dict()


@pytest.mark.slow
def test_forty_models_fit():
    many = ascending_models(40)
    chart = many.scorio.plot.intervals()
    assert chart.to_dict()["height"] == {"step": 26}
    assert len(data_of(chart)) == 40


def test_a_notebook_without_network_has_a_picture(r1):
    chart = r1.scorio.plot.intervals()
    formatters = pytest.importorskip("IPython.core.formatters")
    bundle = formatters.DisplayFormatter().format(chart)[0]
    png = bundle.pop("image/png")
    (vega,) = (text for name, text in bundle.items() if "vegalite" in name)
    assert vega == chart.to_dict()
    assert (b64decode(png) if isinstance(png, str) else png)[:4] == b"\x89PNG"
    assert pickle.loads(pickle.dumps(chart)).to_dict() == vega  # noqa: S301 - our own


# --- errors


def test_one_draw_size_at_a_time(r1):
    with pytest.raises(ValueError, match=r"^intervals takes one draw size .* k=\[1, 2\]"):
        r1.scorio.plot.intervals(ps.pass_at_k([1, 2]))


@every_kind
def test_an_unknown_option_is_refused(log, kind):
    for wrong in ("wide", "confidnce"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'"):
            KINDS[kind](plot_of(log), **{wrong: True})


@pytest.mark.parametrize("kind", ["intervals", "curve"])
def test_rewards_without_weights_have_a_picture(kind):
    plot = long([[3.0, 5.0], [9.0, 4.0]]).scorio.plot
    chart = getattr(plot, kind)(ps.max_at_k(1))
    assert chart.data.values


def test_a_log_with_errors_has_no_picture(r1):
    with pytest.raises(ValueError, match="same trial twice"):
        pl.concat([r1, r1]).scorio.plot.intervals()


@pytest.mark.slow
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


@pytest.mark.every(3)
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


@pytest.mark.slow
@every_kind
def test_no_name_breaks_a_picture(log, kind, tmp_path):
    hostile = "\u2028\u2029\x1b\ufffe"
    names = [pl.format("{}{}", pl.lit(hostile), name).alias(name) for name in ("model", "domain")]
    columns = {"domain": f"domain{hostile}".replace("\x1b", "")}  # refused in a column's name
    plot = (
        log.with_columns(names).rename(columns).scorio(by=[*columns.values()], success=[1, 2]).plot
    )
    KINDS[kind](plot).save(tmp_path / "picture.svg")
    svg = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert not {*hostile} & {*svg}


def test_metric_names_do_not_leave_the_script_of_a_page(log):
    html = plot_of(log).intervals(ps.bayes(name="</script>")).to_html()
    assert html.count("</script>") == plot_of(log).intervals().to_html().count("</script>")


def test_a_stratum_that_is_called_overall_is_not_drawn_upon(log):
    named = log.with_columns(pl.col("domain").replace({"air": "overall"}))
    chart = plot_of(named).intervals(overall="macro")
    assert chart.to_dict()["facet"]["sort"] == ['"overall"', "web", "overall"]
    rows = data_of(chart)
    assert rows.group_by("stratum").len()["len"].to_list() == [3, 3, 3]
    options = {"overall": "macro"}
    mean = named.scorio(by="domain", success=[1, 2]).report(ps.avg(), **options)
    mean = mean.filter(pl.col("domain").is_null()).sort("model")["estimate"].to_list()
    assert rows.filter(stratum="overall").sort("model")["estimate"].to_list() == pytest.approx(mean)


@pytest.mark.every(3)
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


# Pictures: their numbers are those of the report.


@pytest.mark.every(3)
@pytest.mark.skipif(
    pl.__version__.startswith("1."),
    reason="Polars 1 shares scans, as measured, but no function over them that could count",
)
@pytest.mark.parametrize("kind", ["intervals", "curve", "over"])
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


def test_a_curve_needs_draw_sizes(r1):
    with pytest.raises(ValueError, match=r"^curve needs draw sizes, and bayes has none: pass for"):
        r1.scorio.plot.curve(ps.bayes())
    with pytest.raises(ValueError, match="k must be a positive int or a sequence of them, got 0"):
        r1.scorio.plot.curve(0)


PICTURES = {
    "curve": ([1, 2],),
    "frontier": (),
    "intervals": (),
    "over": ("step",),
}


def test_every_picture_is_looked_at_for_its_schemas():
    plots = drawn(2, range(3), most=2).scorio.plot
    methods = {name for name in dir(plots) if callable(getattr(plots, name)) and name[0] != "_"}
    assert methods == {*PICTURES}


@pytest.mark.every(3)
@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_asks_for_few_schemas(monkeypatch, picture):
    # Every one resolves the whole plan of the log again, and on a store its metadata.
    calls, asked = [], pl.LazyFrame.collect_schema

    def spy(frame: pl.LazyFrame) -> pl.Schema:
        calls.append(frame)
        return asked(frame)

    log = drawn(3, range(9), most=4).with_columns(step=pl.col("question") % 3)
    log = log.filter(domain="web").with_columns(usd=1.0 + pl.col("trial"))
    roles = {"cost": "usd"} if picture == "frontier" else {"by": "domain"}
    plots = log.lazy().scorio(**roles, success=[1, 2]).plot
    monkeypatch.setattr(pl.LazyFrame, "collect_schema", spy)
    getattr(plots, picture)(*PICTURES[picture])
    assert 1 <= len(calls) <= 5


def test_the_title_of_a_frontier_has_the_confidence_of_its_intervals():
    random = np.random.default_rng(0)
    log = pl.concat(
        long((random.random((40, 3)) < rate).astype(int).tolist(), name)
        for name, rate in (("ada", 0.62), ("bob", 0.5))
    ).with_columns(usd=1.0)
    plot = log.scorio(cost="usd").plot
    titles = [plot.frontier(confidence=each).to_dict()["title"]["text"] for each in (0.5, 0.95)]
    assert titles == ["ada beats bob.", "ada is ahead; bob may be as good."]


def test_the_title_of_a_picture_is_its_finding(log):
    better = pl.concat(
        long([[place > 4] * 4] * 20, name) for place, name in ((3, "bob"), (9, "ada"))
    )
    for chart in (better.scorio.plot.intervals(), better.scorio.plot.curve([1, 2])):
        assert chart.to_dict()["title"]["text"] == "ada beats bob."
    title = plot_of(log).intervals().to_dict()["title"]
    assert title["text"] == "No domain has a sure winner."
    assert title["subtitle"][0].startswith("avg@")
    # Models that nobody can rank are drawn all the same.
    uneven = log.filter((pl.col("model") != log["model"][0]) | (pl.col("question") != 0))
    assert plot_of(uneven).intervals().to_dict()["title"]["text"].startswith("avg")


def test_rewards_beyond_the_trials_without_bounds_are_no_picture():
    log = long([[0.2, 0.7], [0.5, 1.9]])
    with pytest.raises(ValueError, match="or pass bounds=, the range of possible rewards"):
        log.scorio(model=None).plot.intervals(ps.max_at_k(5))
