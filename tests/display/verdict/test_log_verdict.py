"""The verdict of a log: what it is about, who leads, and what is refused."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.log_verdict import log_verdict, refusal_words
from tests.made_logs import long

SURE = pl.concat([long([[1] * 8] * 20, "good"), long([[0] * 8] * 20, "bad")])


def verdict_of(log, metrics=(), **roles):
    look = Look.read(log.lazy(), Roles(**roles))
    return log_verdict(look, look.coverage(), metrics, Settings())


def test_the_better_model_leads_and_the_metric_is_said():
    verdict = verdict_of(SURE, [ps.pass_at_k(2), ps.mean_cost()])
    assert verdict.headline.startswith("good")
    assert "Pass@2" in verdict.headline
    assert verdict.metrics == (ps.pass_at_k(2),)  # costs lead nobody
    assert verdict.main is verdict.overall
    assert not verdict.parts


def test_with_strata_the_headline_is_about_all_of_them():
    log = pl.concat([SURE.with_columns(task=pl.lit(task)) for task in "ab"])
    verdict = verdict_of(log, by=["task"])
    assert verdict.main is verdict.overall
    assert [part.name for part in verdict.parts] == ["a", "b"]


def test_models_that_stopped_on_outcomes_lead_nobody():
    retried = [[0] * (row % 5) + [1] for row in range(40)]
    verdict = verdict_of(pl.concat([long(retried, "a"), SURE]))
    assert verdict.headline.startswith("These numbers are biased: trials of a stopped")
    assert verdict.main.biased


def test_a_log_that_cannot_be_reported_says_why():
    with pytest.raises(ValueError, match="made of counts of categories, in which there are no"):
        verdict_of(SURE, [ps.vote_at_k(1)])
    with pytest.raises(ValueError, match="null") as refused:
        verdict_of(SURE.with_columns(category=pl.lit(None, pl.Int64)))
    assert refusal_words(refused.value).startswith("This log cannot be reported. ")
