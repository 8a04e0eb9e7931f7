"""The pictures of a page: SVG without fixed ids and inks, and words for each."""

import re

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.html.page_pictures import (
    curve_figures,
    model_classes,
    page_figure,
    recoloured_svg,
    reproducible_ids,
)
from polars_scorio.display.log_summary import LogSummary
from polars_scorio.display.scopes import Scope, page_scopes
from polars_scorio.display.settings import Settings
from tests.display.html.logs import models
from tests.made_logs import long


def scope_of(log: pl.DataFrame) -> Scope:
    whole, _ = page_scopes(LogSummary.read(log.lazy(), Roles()), (ps.avg(),), Settings())
    return whole


def test_ids_follow_from_the_picture_and_not_from_how_many_were_drawn():
    first, later = (
        f'<g clip-path="url(#clip{number})"/><clipPath id="clip{number}"/>' for number in (3, 41)
    )
    assert reproducible_ids(first) == reproducible_ids(later)
    assert "clip3" not in reproducible_ids(first)
    assert reproducible_ids(first) != reproducible_ids(first.replace("<g", "<g x='1'"))


def test_two_gradients_of_a_picture_keep_ids_of_their_own():
    svg = "".join(f'<linearGradient id="gradient_{number}"/>' for number in (5, 6))
    names = re.findall(r'id="(\w+)"', reproducible_ids(svg))
    assert len({*names}) == 2


def test_inks_become_those_of_the_page_and_other_colours_stay():
    svg = '<svg width="100" role="img"><path fill="#0072B2" stroke="#D55E00"/></svg>'
    expected = '<svg style="min-width:80px" width="100"><path fill="var(--blue)" stroke="#D55E00"/>'
    assert recoloured_svg(svg) == f"{expected}</svg>"


@pytest.mark.slow
def test_the_title_of_a_chart_becomes_the_caption(r1):
    figure = page_figure(r1.scorio.plot.intervals(), "Intervals.", "Scores")
    assert figure.alt == "Intervals."
    assert figure.caption.startswith("Scores: ")
    assert figure.caption.endswith("2 questions, 5 trials per question.")
    own = page_figure(r1.scorio.plot.intervals())
    assert own.caption.startswith("avg@5: ")
    assert own.alt.startswith("avg@5. A point and an interval for each of 1")
    assert own.svg == figure.svg


def test_models_have_the_classes_of_their_colours():
    found = model_classes(scope_of(models(9, questions=4)))
    assert sorted(found.values()) == [f"c{place}" for place in range(7)]
    assert {*found} < {f"m{place:02}" for place in range(9)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outcomes", "starts"),
    [
        ([[1], [0]], []),
        ([[1, 0, 1], [0, 0, 1]], ["Pass@k of 1 model for k from 1 to 3", "Pass^k of 1 model"]),
        ([[0.5, 0.0], [1.0, 0.25]], ["Max@k of 1 model for k from 1 to 2", "Min@k of 1 model"]),
    ],
    ids=["single trials", "outcomes", "rewards"],
)
def test_curves_go_as_far_as_all_questions_have_trials(outcomes, starts):
    figures = curve_figures(scope_of(long(outcomes)), Settings())
    assert len(figures) == len(starts)
    for figure, start in zip(figures, starts, strict=True):
        assert figure.alt.startswith(start)
