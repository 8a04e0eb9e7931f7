"""Intervals in the rows of a table: their places, their ticks, their marks."""

import re

import polars as pl
import pytest

from polars_scorio.display.html.page_pictures import IntervalAxis
from polars_scorio.display.words import Scale


def axis_of(lo: float, hi: float, *, percent: bool = True) -> IntervalAxis:
    rows = pl.DataFrame({"mu": [(lo + hi) / 2], "lo": [lo], "hi": [hi]})
    return IntervalAxis.of(rows, percent=percent)


@pytest.mark.parametrize(("lo", "hi"), [(0.97, 1.0), (0.0, 0.02), (0.0, 1.0), (1.0, 1.0)])
def test_percentages_have_no_ticks_beyond_0_and_100(lo, hi):
    axis = axis_of(lo, hi)
    assert all(0 <= tick <= 1 for tick in axis.ticks)
    assert 1 <= len(axis.ticks) <= 7


def test_rewards_have_ticks_beyond_1():
    assert max(axis_of(0.5, 3.0, percent=False).ticks) == 3.0


def test_an_interval_is_a_line_and_a_point_inside_of_the_picture():
    axis = axis_of(0.2, 0.6)
    svg = axis.picture(0.4, 0.2, 0.6, 0.4, "c0")
    places = [float(place) for place in re.findall(r'"([\d.]+)%"', svg)]
    assert all(0 <= place <= 100 for place in places)
    assert svg.count("<circle") == 1
    assert 'class="e"' not in svg


def test_an_estimate_that_is_not_mu_has_a_bar():
    assert 'class="e"' in axis_of(0.2, 0.6).picture(0.4, 0.2, 0.6, 0.5, "")


def test_unknown_numbers_have_no_mark():
    svg = axis_of(0.2, 0.6).picture(None, None, None, None, "")
    assert "circle" not in svg
    assert svg.count("<line") == svg.count('class="t"')


def test_ticks_are_written_as_the_numbers_of_the_table():
    axis = axis_of(0.2, 0.6)
    assert ">40</text>" in axis.ticks_picture(Scale(percent=True, digits=1))
    assert ">0.4</text>" in axis.ticks_picture(Scale(percent=False, digits=2))
