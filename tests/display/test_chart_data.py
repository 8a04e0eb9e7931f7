"""The rows of results as pictures want them: labels, places, cells, thinned lines."""

from datetime import date
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.counting.log import Trials, bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.display import chart_data
from tests.made_logs import long

WORD_JOINER = "\N{WORD JOINER}"


def bound(log: pl.DataFrame, **roles: object) -> Trials:
    return bind_roles(log.lazy(), Roles(**roles))


def labels_of(strata: pl.DataFrame) -> list[str]:
    """The labels of strata; rows without any value stand for all strata."""
    log = pl.DataFrame({"model": "m", "question": 1, "trial": 1, "category": 1}).join(
        strata, how="cross"
    )
    return strata.select(chart_data.stratum_label(bound(log, by=strata.columns)))[
        "stratum"
    ].to_list()


def test_strata_of_one_column_have_their_values_as_labels():
    strata = pl.DataFrame({"domain": ["web", "overall", '"air"', None]})
    assert labels_of(strata) == ["web", '"overall"', r'"\"air\""', "overall"]


def test_strata_whose_values_join_to_the_same_text_have_labels_of_their_own():
    strata = pl.DataFrame({"x": ["a / b", "a", "c"], "y": ["c", "b / c", "d"]})
    assert labels_of(strata) == ['"a / b" / c', 'a / "b / c"', "c / d"]


def test_without_models_strata_are_lines_in_one_panel():
    log = long([[1]]).with_columns(domain=pl.lit("web"))
    named, unnamed = bound(log, by="domain"), bound(log, by="domain", model=None)
    assert log.select(chart_data.row_labels(named)).row(0) == ("web", "m")
    assert log.select(chart_data.row_labels(unnamed)).row(0) == ("", "web")
    assert chart_data.panel_heading(named) == "domain"
    assert chart_data.panel_heading(unnamed) == ""
    assert chart_data.strata_heading(unnamed) == "domain"


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ("</script>", f"<{WORD_JOINER}/script>"),
        ("<SCRIPT>", f"<{WORD_JOINER}SCRIPT>"),
        ("<!--", f"<{WORD_JOINER}!--"),
        ("a < b", "a < b"),
        ("\u2028\u2029", "(U+2028)(U+2029)"),
        ("\x1b[1m\ufffe", "(U+001B)[1m(U+FFFE)"),
    ],
)
def test_no_text_closes_or_opens_a_script_or_breaks_a_picture(text, inert):
    assert chart_data.inert_text(text) == inert
    assert pl.select(chart_data.inert_texts(pl.lit(text))).item() == inert
    assert chart_data.metric_heading(ps.avg(name=text), None) == inert


@given(st.lists(st.integers(0, 100), min_size=1, max_size=10), st.integers(1, 9))
def test_labels_are_spread_and_stay_inside_the_span(values, gap):
    places = chart_data.spread_places(sorted(values), gap, (0.0, 100.0))
    assert all(upper - lower >= gap for lower, upper in pairwise(places))
    assert 0 <= places[0] <= places[-1] <= 100
    steps = [upper - lower for lower, upper in pairwise(sorted(values))]
    if all(step >= gap for step in steps):
        assert places == sorted(values)


def test_marked_rows_end_where_the_metric_does():
    rows = pl.DataFrame(
        {
            "estimate": [0.5, 0.5, None],
            "mu": [0.5005, 0.6, 1.2],
            "lo": [-0.1, 0.4, -0.1],
            "hi": [1.1, 0.7, 1.3],
            "inference": "posterior",
        }
    )
    marked = chart_data.marked_rows(rows, ps.avg())
    # A mu outside the range, of a normal posterior, keeps its interval around it.
    assert marked.select("lo", "hi").rows() == [(0.0, 1.0), (0.4, 0.7), (-0.1, 1.3)]
    rewards = chart_data.marked_rows(rows.with_columns(inference=pl.lit("calibrated")), ps.avg())
    assert rewards.select("lo", "hi").rows() == rows.select("lo", "hi").rows()
    # A thousandth of the range is not seen in a picture.
    assert marked["marked"].to_list() == [None, 0.5, None]
    assert marked["ahead"].to_list() == [False, False, True]


@pytest.mark.parametrize(
    ("k", "sizes"),
    [(1, (1,)), (2, (1, 2)), (5, (1, 2, 4, 5)), (8, (1, 2, 4, 8)), ([5], (5,)), ([3, 1], (3, 1))],
)
def test_a_single_draw_size_is_reached_by_powers_of_two(k, sizes):
    assert {*chart_data.curve_sizes(k)} == {*sizes}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3, 3), (0.5, 0.5), (date(2026, 1, 2), "2026-01-02T00:00:00.000"), (True, 1.0)],
    ids=str,
)
def test_an_axis_has_numbers_or_times(value, shown):
    frame = pl.DataFrame({"step": [value]})
    assert frame.select(chart_data.axis_values("step", frame.schema["step"])).item() == shown
