"""The sentence that matters, and what a reader is warned of."""

import re

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.html.page import Page
from polars_scorio.display.settings import Settings
from tests.display.html.logs import models, page_of
from tests.made_logs import long


def sure() -> pl.DataFrame:
    """Ada is surely best; bob and eve are the same."""
    best, other = [[1] * 8] * 30, [[1, 0] * 4] * 30
    return pl.concat([long(best, "ada"), long(other, "bob"), long(other, "eve")])


@pytest.fixture(scope="module")
def settled() -> Page:
    """The page of `sure`."""
    return page_of(sure())


def test_a_sure_leader(settled):
    # 30 questions of 8 trials, all right: lo was computed once and is shown to a decimal.
    assert settled.headline.startswith("ada leads with 100.0 % [98.6, 100.0] (avg@8)")
    assert settled.headline.endswith(
        "; all others are worse, at 95 % confidence; 1 of 3 pairs is undecided at 95 %."
    )
    # The lower end of the leader falls with the number of models.
    (low,) = re.findall(
        r"corrected for being the best of 3: \[(\d+\.\d), 100\.0\]", settled.headline
    )
    assert 95 < float(low) < 98.6


@pytest.mark.slow
def test_a_leader_with_rivals():
    log = pl.concat([long([[1, 1, 0]] * 4, "ada"), long([[1, 0, 0]] * 4, "bob")])
    said = page_of(log).headline
    assert "ada leads with" in said
    assert said.endswith("1 other model may be the best; 1 of 1 pair is undecided at 95 %.")


@pytest.mark.slow
def test_equal_models_share_the_lead():
    said = page_of(sure().filter(pl.col("model") != "ada")).headline
    assert said.startswith("bob and eve share the lead with 50.0 % [")
    assert "(avg@8); corrected for being the best of 2: [" in said
    assert said.endswith("]; 1 of 1 pair is undecided at 95 %.")


@pytest.mark.slow
def test_models_without_a_rank_are_not_ranked():
    said = page_of(sure(), ps.pass_at_k(16), settings=Settings(target="population")).headline
    assert said == "The models cannot be ranked by Pass@16: some questions have too few trials."


@pytest.mark.slow
def test_one_model_scores():
    said = page_of(sure().filter(model="bob")).headline
    assert said.startswith("bob scores 50.0 % [")
    assert said.endswith("(avg@8).")


@pytest.mark.slow
def test_rewards_are_no_percentages():
    said = page_of(sure(), ps.avg(w=[-1, 3])).headline
    assert said.startswith("ada leads with 3.0")
    assert "%" not in said.split("(avg@8")[0]


def test_a_good_log_has_no_alerts(settled):
    assert list(settled.alerts) == []


@pytest.mark.slow
def test_strata_that_lack_a_model_are_left_out_of_the_whole():
    log = models(3, strata=2).filter(~((pl.col("model") == "m00") & (pl.col("bench") == "bench 1")))
    page = page_of(log, by="bench")
    assert [alert.title for alert in page.alerts] == ["Missing models"]
    assert "bench 1" in page.alerts[0].text
    assert page.numbers["overall"]["report"]["questions"].unique().to_list() == [12]
    assert page.numbers["strata"]["bench 1"]["ranks"].height == 2


@pytest.mark.slow
def test_without_a_stratum_of_all_models_each_speaks_for_itself():
    log = models(2, strata=2).filter((pl.col("model") == "m00") == (pl.col("bench") == "bench 1"))
    said = page_of(log, by="bench").headline
    assert said.startswith("No stratum has all models. In bench 0: m01 scores")
    assert "In bench 1: m00 scores" in said
