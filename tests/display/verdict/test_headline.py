"""The sentence that matters, and what a reader is warned of."""

import re

import numpy as np
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
    assert settled.headline.endswith("; all 2 others are worse, at 95 % confidence.")
    assert settled.basis == (
        "avg@8 \N{MIDDLE DOT} 30 questions \N{MIDDLE DOT} 240 trials of each model \N{MIDDLE DOT} "
        "95 % confidence, for all pairs at once"
    )
    # The lower end of the leader falls with the number of models.
    (line,) = [each for each in settled.sections[0].lines if "corrected" in each]
    (low,) = re.findall(r"corrected for being the best of 3: \[(\d+\.\d), 100\.0\]", line)
    assert 95 < float(low) < 98.6


@pytest.mark.slow
def test_two_models_have_a_difference():
    log = pl.concat([long([[1, 1, 0]] * 4, "ada"), long([[1, 0, 0]] * 4, "bob")])
    said = page_of(log).headline
    assert said.startswith("Nothing is decided: ada is ahead of bob by 33.3 points [-")
    said = page_of(sure().filter(pl.col("model") != "eve")).headline
    assert re.fullmatch(r"ada beats bob by 50\.\d points \[\d+\.\d, \d+\.\d\] \(avg@8\)\.", said), (
        said
    )


@pytest.mark.slow
def test_equal_models_decide_nothing():
    said = page_of(sure().filter(pl.col("model") != "ada")).headline
    assert said.startswith(
        "Nothing is decided: bob and eve have the same score, and the gap is at most "
    )
    several = pl.concat([long([[1, 0] * 4] * 30, name) for name in "abcd"])
    page = page_of(several)
    assert page.headline.startswith(
        "Nothing is decided between 4 models: the gap of first and last is at most "
    )
    assert [alert.title for alert in page.alerts] == [
        "Trials that are not independent",
        "Identical models",
    ]


@pytest.mark.slow
def test_rivals_are_counted_by_the_pairs():
    page = page_of(models(6, questions=30))
    first = page.numbers["overall"]["models"][0]
    pairs = page.numbers["overall"]["pairs"]
    mine = pl.any_horizontal(pl.col("model_a", "model_b") == first)
    rivals = pairs.filter(mine, pl.col("better").is_null()).height
    assert rivals
    assert f"; {rivals} other model" in page.headline


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


def test_a_log_has_the_alerts_it_needs(settled):
    # Bob and eve have the same outcomes at every question.
    assert [alert.title for alert in settled.alerts] == [
        "Trials that are not independent",
        "Identical models",
    ]
    assert page_of(models(2)).alerts == []


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


def test_long_names_of_models_are_cut():
    short = {"ada": "a" * 80, "bob": "b" * 80, "eve": "c" * 80}
    first, second = "a" * 30 + "…" + "a" * 29, "b" * 30 + "…" + "b" * 29
    several = page_of(sure().with_columns(pl.col("model").replace(short)))
    assert several.headline.startswith(f"{first} leads with 100.0 %")
    assert any(f"The interval of {first}, corrected" in line for line in several.sections[0].lines)
    two = page_of(sure().with_columns(pl.col("model").replace(short)).filter(model=short["bob"]))
    assert two.headline.startswith(f"{second} scores 50.0 %")
    names = pl.col("model").replace(short)
    pair = page_of(sure().filter(pl.col("model") != "eve").with_columns(names))
    assert pair.headline.startswith(f"{first} beats {second} by ")


def near(seed: int) -> pl.DataFrame:
    """Two to eight models with nearly the same rates, the first one a little better."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, 0.4, (rng.integers(2, 9), 1)) + rng.normal(0, 1, rng.integers(5, 40))
    trials = rng.integers(1, 5)
    outcomes = (rng.random((trials, *skill.shape)) < 1 / (1 + np.exp(-skill))).transpose(1, 2, 0)
    return pl.concat(long(each.astype(int).tolist(), f"m{i}") for i, each in enumerate(outcomes))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
def test_nothing_is_decided_never_stands_beside_a_chance_that_decides():
    said = []
    for seed in range(24):
        page = page_of(near(seed))
        pairs, ranks = page.numbers["overall"]["pairs"], page.numbers["overall"]["ranks"]
        surest = 0.5 + (pairs["prob_better"] - 0.5).abs().max()
        kind = re.match(r"Nothing is decided|\d+ pairs? would be decided alone", page.headline)
        said.append("decided" if kind is None else kind[0].lstrip("0123456789 "))
        if said[-1] == "Nothing is decided":
            assert surest <= 0.975
            assert ranks["prob_best"].max() < 0.975
        elif kind is not None:
            assert surest > 0.975
    assert {*said} >= {"decided", "Nothing is decided"}
    assert any(each.endswith("alone") for each in said)
