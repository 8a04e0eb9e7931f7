"""Colours of models, which are the same in all pictures of a log."""

import pickle
import re

import altair as alt
import polars as pl
import pytest
import vl_convert

import polars_scorio as ps
from polars_scorio.display.charts import ChartStyle
from polars_scorio.display.media.marks import file_text, palette
from tests.display.chart_parts import ascending_models, data_of, layers_of, marks_of, subtitle_of
from tests.documents import ROOT
from tests.made_logs import long


def colours_of(chart) -> dict[str, str]:
    scale = layers_of(chart)[0]["encoding"]["color"]["condition"]["scale"]
    return dict(zip(scale["domain"], scale["range"], strict=True))


@pytest.mark.slow
def test_the_two_best_models_have_the_colours_of_the_page_and_all_others_are_grey():
    two, nine = (ascending_models(number).scorio.plot.curve([1, 2]) for number in (2, 9))
    assert [*colours_of(two)] == ["m01", "m00"]
    assert [*colours_of(nine)] == ["m08", "m07"]
    tones = palette()
    assert [*colours_of(nine).values()] == [tones["a"], tones["b"]]
    assert {*data_of(nine).filter("coloured")["model"]} == {"m07", "m08"}
    assert subtitle_of(nine).endswith("grey: 7 others")
    assert "grey" not in subtitle_of(two)
    assert "area" in marks_of(nine)


@pytest.mark.slow
def test_a_model_has_one_colour_in_all_pictures():
    # By Pass@1 "split" is better than "even", by Pass@8 it is worse.
    log = pl.concat([long([[1] * 4, [0] * 4], "split"), long([[1, 0, 0, 0]] * 2, "even")])
    plot = log.scorio.plot
    charts = plot.curve(8), plot.curve([8, 16]), plot.intervals(ps.pass_at_k(8))
    ((best, other),) = {tuple(colours_of(chart).items()) for chart in charts}
    assert (best[0], other[0]) == ("split", "even")
    assert best[1] != other[1]


@pytest.mark.slow
def test_one_model_or_two_are_highlighted():
    plot, tones = ascending_models(9).scorio.plot, palette()
    chart = plot.curve([1, 2], highlight=["m00", "m07"])
    assert colours_of(chart) == {"m00": tones["a"], "m07": tones["b"]}
    assert marks_of(chart)[0] == "area"
    assert subtitle_of(chart).endswith("grey: 7 others")
    assert colours_of(plot.curve([1, 2], highlight="m03")) == {"m03": tones["a"]}
    with pytest.raises(ValueError, match=r"^highlight takes one model or two, got 3$"):
        plot.curve([1, 2], highlight=["m00", "m01", "m02"])
    with pytest.raises(ValueError, match=r"^highlight: no model 'x'; there are \['m08', "):
        plot.curve([1, 2], highlight="x")


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def light(colour: str) -> float:
        full = colour if len(colour) == 7 else "#" + "".join(2 * each for each in colour[1:])
        parts = [int(full[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_have_a_contrast_of_4_5_and_marks_of_3_1(theme):
    tones = palette(theme)
    hues = ChartStyle(theme=theme).colours(["m0", "m1"])
    for colour in (*hues.values(), tones["soft"], tones["ink"]):
        assert contrast(colour, tones["bg"]) >= 4.5
    assert contrast(tones["mark"], tones["bg"]) >= 3.1


def test_pictures_have_the_colours_and_the_type_of_the_page():
    chart = ascending_models(3).scorio.plot.intervals().to_dict()
    look, tones = chart["config"], palette()
    assert look["font"].startswith("system-ui")
    assert look["title"]["fontSize"] == 20
    assert look["axis"]["labelFontSize"] == look["text"]["fontSize"] == 13
    assert look["axis"]["labelColor"] == tones["soft"]
    assert (tones["small"], tones["head"]) == ("13px", "20px")
    # Notebooks and the first page of the site have the same colours as the page.
    known = {*palette().values(), *palette("dark").values()}
    landing = (ROOT / "examples" / "site" / "landing.css").read_text(encoding="utf-8")
    for style in (file_text("notebook.css"), landing.partition(".term")[0]):
        assert {*re.findall(r"#[0-9a-f]{3,6}\b", style)} <= known


@pytest.mark.slow
def test_pictures_can_be_joined_and_keep_their_theme():
    plot = ascending_models(4).scorio.plot
    one, two, three = plot.intervals(theme="dark"), plot.curve([1, 2]), plot.curve(4)
    row = one | two
    both = row & three | plot.intervals()
    assert len(row.to_dict()["hconcat"]) == 2
    assert pickle.loads(pickle.dumps(row)).to_dict() == row.to_dict()  # noqa: S301 - our own
    assert row.to_dict()["config"] == one.to_dict()["config"]  # the theme of the first one
    assert both.to_dict()["config"] == row.to_dict()["config"]
    assert len(both.to_dict()["hconcat"][0]["vconcat"][0]["hconcat"]) == 2
    assert "config" in one.to_dict()  # joining changes no picture
    assert "config" in two.to_dict()
    # Altair's charts without a theme join too, and a joined picture needs no browser.
    plain = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    assert vl_convert.vegalite_to_svg((both & plain).to_dict()).startswith("<svg")
    assert "image/png" in row._repr_mimebundle_()
