"""The call that repeats a page, as somebody would type it."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.page import PageCall
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import StoryOptions


def call_of(*metrics: ps.Metric, settings: Settings | None = None, **roles: object) -> str:
    asked = StoryOptions(tuple(metrics), settings or Settings())
    return PageCall.from_options(asked, Roles(**roles), "log.html").call


def test_without_any_choice_the_call_is_short():
    assert call_of() == "df.scorio.write_html('log.html')"


def test_choices_that_differ_from_their_defaults_are_typed():
    settings = Settings(prior="population", confidence=0.9)
    call = call_of(settings=settings, success=[1, 2], trial=None)
    assert call.startswith("df.scorio(trial=None, success=(1, 2)).write_html('log.html', ")
    assert call.endswith(", prior='population', confidence=0.9)")


def test_one_of_several_is_typed_without_brackets_and_an_expression_as_it_is():
    assert call_of(success=[1]) == "df.scorio(success=1).write_html('log.html')"
    category = pl.col("reward") > 0
    assert f"category={category}" in call_of(category=category)


def test_metrics_are_typed_as_they_print():
    metric = ps.pass_at_k([1, 2])
    assert call_of(metric) == f"df.scorio.write_html('log.html', {metric})"


def test_a_page_has_the_name_of_its_file_unless_it_has_a_title():
    asked = StoryOptions((), Settings())
    usual = PageCall.from_options(asked, Roles(), "log.html")
    assert (usual.title, usual.asked) == ("log.html", asked)
    named = PageCall.from_options(
        asked, Roles(), "log.html", title="Nightly", call="scorio report x"
    )
    assert (named.title, named.call) == ("Nightly", "scorio report x")


def test_metrics_are_checked_before_anything_is_read():
    with pytest.raises(TypeError, match="pass_at_k"):
        PageCall.from_options(StoryOptions((ps.pass_at_k,), Settings()), Roles(), "log.html")
