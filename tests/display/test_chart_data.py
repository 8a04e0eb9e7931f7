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
from polars_scorio.display.charts import ChartStyle
from polars_scorio.display.plot_base import PictureSubject, PlotBase
from polars_scorio.metrics.metric import Metric
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


# The parts that all pictures share: strata, names, units and colours of their subject.


class Subjects(PlotBase):
    """Pictures whose subject can be looked at."""

    def subject(self, metric: Metric | None, options: dict, along: str | None) -> PictureSubject:
        subject, _ = self._collected(self._subject(metric, options, along))
        return subject


def subject_of(
    log: pl.DataFrame, metric: Metric | None = None, along: str | None = None, **options: object
) -> PictureSubject:
    """The subject of a picture of a log, with the scores of its models."""
    roles = {name: options.pop(name) for name in ("by", "model") if name in options}
    return Subjects(log.lazy(), Roles(**roles), {"confidence": 0.9}).subject(metric, options, along)


MODELS = pl.concat(
    long([[1, 1], [0, place > 1]], name) for place, name in enumerate(("ada", "bob", "cy"))
)


def test_the_usual_metric_is_the_average_and_its_name_has_the_trials():
    subject = subject_of(MODELS)
    assert (subject.metric, subject.name) == (ps.avg(), "avg@2")


def test_a_metric_of_several_draw_sizes_is_named_without_one():
    assert subject_of(MODELS, ps.pass_at_k([1, 2])).name == "Pass@k"
    assert subject_of(MODELS, ps.pass_at_k(2)).name == "Pass@2"


@pytest.mark.parametrize(
    ("outcomes", "metric", "percent"),
    [
        ([[1, 0]], ps.avg(), True),
        ([[1, 0]], ps.avg(w=[0, 2]), False),
        ([[0.25, 0.5]], ps.avg(), True),
        ([[2.5, 0.5]], ps.avg(), False),
    ],
    ids=["shares", "weights", "rewards of a unit", "rewards"],
)
def test_numbers_inside_the_unit_are_percentages(outcomes, metric, percent):
    assert subject_of(long(outcomes), metric).percent is percent


def test_colours_are_in_the_order_of_the_scores():
    assert [*subject_of(MODELS).colours] == ["cy", "ada"]


def test_options_of_the_call_come_before_those_of_the_accessor():
    assert subject_of(MODELS).options == {"confidence": 0.9}
    asked = subject_of(MODELS, confidence=0.5, width=300)
    assert asked.options == {"confidence": 0.5}
    assert asked.style == ChartStyle(width=300)
    assert "50 %" in asked.intervals


def test_bands_are_said():
    assert subject_of(MODELS).bands.startswith("bands: ")


def test_a_heading_leaves_out_empty_lines_and_counts_the_questions():
    layout = subject_of(MODELS, by=[]).layout("avg", "Scores", "", "a line")
    assert layout.title == "Nothing is decided between 3 models."
    assert layout.subtitle == ("Scores", "a line", "2 questions, 2 trials per question")
    assert layout.panels == ""


def test_the_stratum_on_the_axis_has_no_panels():
    log = MODELS.with_columns(step=pl.col("question"), domain=pl.lit("web"))
    subject = subject_of(log, along="step", by=["domain", "step"])
    assert [part.name for part in subject.trials.by] == ["domain"]
    assert [part.name for part in subject.source.by] == ["domain", "step"]


def test_a_picture_has_at_most_24_panels():
    log = pl.concat(long([[1]]).with_columns(seed=pl.lit(seed)) for seed in range(25))
    assert subject_of(log.filter(pl.col("seed") < 24), by="seed").scores.height == 24
    with pytest.raises(ValueError, match=r"^25 strata of seed are more than a picture can show"):
        subject_of(log, by="seed")
