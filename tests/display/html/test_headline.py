"""The sentence that matters, and what a reader is warned of."""

import re
from random import Random

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.html.page import Page
from polars_scorio.display.settings import Settings
from tests.display.html.logs import models, page_of
from tests.made_logs import long


def alerts_of(log: pl.DataFrame, *metrics: ps.Metric, **roles: object) -> dict[str, str]:
    return {alert.title: alert.text for alert in page_of(log, *metrics, **roles).alerts}


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


def test_a_leader_with_rivals():
    log = pl.concat([long([[1, 1, 0]] * 4, "ada"), long([[1, 0, 0]] * 4, "bob")])
    said = page_of(log).headline
    assert "ada leads with" in said
    assert said.endswith("1 other model may be the best; 1 of 1 pair is undecided at 95 %.")


def test_equal_models_share_the_lead():
    said = page_of(sure().filter(pl.col("model") != "ada")).headline
    assert said.startswith("bob and eve share the lead with 50.0 % [")
    assert "(avg@8); corrected for being the best of 2: [" in said
    assert said.endswith("]; 1 of 1 pair is undecided at 95 %.")


def test_models_without_a_rank_are_not_ranked():
    said = page_of(sure(), ps.pass_at_k(16), settings=Settings(target="population")).headline
    assert said == "The models cannot be ranked by Pass@16: some questions have too few trials."


def test_one_model_scores():
    said = page_of(sure().filter(model="bob")).headline
    assert said.startswith("bob scores 50.0 % [")
    assert said.endswith("(avg@8).")


def test_rewards_are_no_percentages():
    said = page_of(sure(), ps.avg(w=[-1, 3])).headline
    assert said.startswith("ada leads with 3.0")
    assert "%" not in said.split("(avg@8")[0]


def test_a_good_log_has_no_alerts(settled):
    assert list(settled.alerts) == []


def test_missing_questions_are_named_and_left_out():
    log = models(3, questions=10).filter(~((pl.col("model") == "m01") & (pl.col("question") > 7)))
    page = page_of(log)
    (alert,) = page.alerts
    assert alert.title == "Missing questions"
    assert "1 model lacks questions that other models have (m01: 2, of 10)" in alert.text
    assert page.numbers["overall"]["report"]["questions"].unique().to_list() == [8]


def test_strata_that_lack_a_model_are_left_out_of_the_whole():
    log = models(3, strata=2).filter(~((pl.col("model") == "m00") & (pl.col("bench") == "bench 1")))
    page = page_of(log, by="bench")
    assert [alert.title for alert in page.alerts] == ["Missing models"]
    assert "bench 1" in page.alerts[0].text
    assert page.numbers["overall"]["report"]["questions"].unique().to_list() == [12]
    assert page.numbers["strata"]["bench 1"]["ranks"].height == 2


def test_without_a_stratum_of_all_models_each_speaks_for_itself():
    log = models(2, strata=2).filter((pl.col("model") == "m00") == (pl.col("bench") == "bench 1"))
    said = page_of(log, by="bench").headline
    assert said.startswith("No stratum has all models. In bench 0: m01 scores")
    assert "In bench 1: m00 scores" in said


def test_dropped_trials_are_counted():
    log = models(2).with_columns(category=pl.when(pl.col("trial") > 0).then("category"))
    found = alerts_of(log, missing="drop")
    assert found["Dropped trials"].startswith(
        "24 trials without an outcome (m00: 12 and m01: 12). They were dropped"
    )
    found = alerts_of(log, missing=0)
    assert found["Missing outcomes"].endswith("They count as category 0.")


def test_duplicates_are_counted_where_they_are_refused():
    found = alerts_of(models(2).vstack(models(2).tail(5)))
    assert found["Duplicates"].startswith("5 trials with the id of an earlier trial (m01: 5)")


def test_unchecked_unequal_and_single_trials():
    assert [*alerts_of(models(2), trial=None)] == ["Unchecked duplicates"]
    ragged = models(2).filter((pl.col("trial") < 2) | (pl.col("question") > 3))
    assert alerts_of(ragged)["Unequal trials"] == "Questions have 2 to 4 trials."
    assert [*alerts_of(models(2, trials=1))] == ["One trial per question"]


def test_draws_of_more_than_there_are_trials():
    found = alerts_of(models(2), ps.bayes(), ps.pass_at_k([4, 8]), ps.pass_hat_k(16))
    assert found["More draws than trials"].startswith("Pass@8 and Pass^16: some questions")


def stopped(kind: str) -> pl.DataFrame:
    """Sixty questions whose numbers of trials follow outcomes, difficulty, or nothing."""
    random, rows = Random(2), []  # noqa: S311 - nothing here is secret
    for question in range(60):
        rate = (question + 0.5) / 60
        outcomes = [int(random.random() < rate) for _ in range(3)]
        if kind == "outcomes":  # a failure is tried again, up to eight times
            while not outcomes[-1] and len(outcomes) < 8:
                outcomes.append(int(random.random() < rate))
        more = {"difficulty": question // 8, "nothing": question % 4}.get(kind, 0)
        outcomes += [int(random.random() < rate) for _ in range(more)]
        rows += [(question, trial, outcome) for trial, outcome in enumerate(outcomes)]
    log = pl.DataFrame(rows, schema=["question", "trial", "category"], orient="row")
    return log.with_columns(model=pl.lit("ada"))


@pytest.mark.parametrize(
    ("kind", "title", "says"),
    [
        ("outcomes", "Trials that stopped on outcomes", "The first 3 trials of each question"),
        ("difficulty", "Trials that follow difficulty", "Harder questions of ada have more"),
        ("nothing", None, ""),
    ],
)
def test_trials_that_follow_something_are_warned_of(kind, title, says):
    log = stopped(kind)
    assert log.scorio.coverage()["stopping"].to_list() == [None if title is None else kind]
    found = alerts_of(log)
    assert [name for name in found if name.startswith("Trials that")] == [title] * bool(title)
    assert says in found.get(title, "")
