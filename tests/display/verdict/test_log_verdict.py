"""The verdict of a log: what it is about, who leads, and what is refused."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.log_verdict import log_verdict
from polars_scorio.display.settings import Settings
from polars_scorio.display.words.log_words import log_alerts, outcome_words
from tests.made_logs import log_of_runs, long

SURE = pl.concat([long([[1] * 8] * 20, "good"), long([[0] * 8] * 20, "bad")])


def verdict_of(log, metrics=(), **roles):
    look = LogSummary.read(log.lazy(), Roles(**roles))
    return log_verdict(look, look.describe(), metrics, Settings())


def test_metrics_of_costs_lead_nobody():
    verdict = verdict_of(SURE, [ps.pass_at_k(2), ps.mean_cost()], validate=False)
    assert verdict.metrics == (ps.pass_at_k(2),)  # costs lead nobody
    assert verdict.main is verdict.overall
    assert not verdict.parts


def test_with_strata_the_headline_is_about_all_of_them():
    log = pl.concat([SURE.with_columns(task=pl.lit(task)) for task in "ab"])
    verdict = verdict_of(log, by=["task"])
    assert verdict.main is verdict.overall
    assert [part.name for part in verdict.parts] == ["a", "b"]


@pytest.mark.parametrize("rewards", [False, True])
def test_a_page_says_that_it_does_not_tell_runs_apart(rewards):
    """Runs with several trials of a question, or with rewards; a notebook shows the rows then."""
    log = log_of_runs(0.4, 0, runs=8).with_columns(run=pl.col("trial") % 4)
    if rewards:
        log = log.filter(pl.col("trial") < 4).with_columns(category=pl.col("category") * 0.75)
    asked = {"run": "run", "bounds": (0, 1)} if rewards else {"run": "run"}
    alerts = {each.title: each.text for each in log_alerts(verdict_of(log, [ps.avg()], **asked))}
    assert "a page holds one success or failure" in alerts["Runs not told apart"]
    assert "These very runs" not in alerts
    board = log.scorio(**asked).leaderboard(ps.avg())
    assert board["inference"].str.contains("other runs").all()
    assert "dataframe" in board._repr_html_()


@pytest.mark.parametrize(
    ("seed", "runs", "roles", "titles", "words"),
    [
        (0, 4, {"run": "trial"}, ["Runs differ", "Other runs"], "one run moves "),
        (0, 4, {"run": "trial", "by": "domain"}, ["Runs differ", "Other runs"], "one run moves "),
        (0, 4, {"run": "trial", "run_effects": "alike"}, ["Runs differ", "Other runs"], "include"),
        (2, 4, {"run": "trial"}, ["Other runs"], "which run= names"),
        (0, 2, {"run": "trial"}, ["Runs differ", "Other runs"], "include that"),
        (2, 1, {"run": "trial"}, ["These very runs"], "too few runs"),
        (2, 4, {}, [], ""),
        (0, 4, {"run": "trial", "run_effects": "none"}, ["Runs differ"], "are about these runs"),
    ],
)
@pytest.mark.filterwarnings("ignore:run= names one run", "ignore::polars_scorio.CheckWarning")
def test_the_numbers_of_a_page_know_how_runs_differ(seed, runs, roles, titles, words):
    log = log_of_runs(0.4 * (seed == 0), seed, runs=runs)
    if "by" in roles:
        log = pl.concat([log.with_columns(domain=pl.lit(name)) for name in "xy"])
    verdict = verdict_of(log, [ps.avg()], **roles)
    alerts = {each.title: each.text for each in log_alerts(verdict)}
    assert {*alerts} & {"Runs differ", "Other runs", "These very runs"} == {*titles}
    assert words in "".join(alerts[title] for title in titles[:1])
    whole = {"overall": "micro"} if "by" in roles else {}
    asked = log.scorio(**roles)
    rows = asked.report(ps.avg(), **whole).tail(3)
    pairs = asked.compare(simultaneous=True, **whole).tail(3)
    for found, expected in ((verdict.main.rows, rows), (verdict.main.pairs, pairs)):
        columns = ["lo", "hi", "inference"]
        assert_frame_equal(found.select(columns), expected.select(columns))


def test_a_log_that_cannot_be_reported_says_why():
    with pytest.raises(ValueError, match="made of counts of categories, in which there are no"):
        verdict_of(SURE, [ps.vote_at_k(1)])
    with pytest.raises(ValueError, match="null"):
        verdict_of(SURE.with_columns(category=pl.lit(None, pl.Int64)))


LEFT_OUT = {"missing": "drop", "unscored": "drop"}
WORDS = ["correct"] * 9 + ["wrong"] * 5 + ["timeout"] * 2


def counted(categories, *metrics, **roles):
    """What counts as what in a log of two models with these trials."""
    log = pl.concat([long([[value] for value in categories], name) for name in "ab"])
    return outcome_words(verdict_of(log, metrics, **roles).outcomes)


@pytest.mark.parametrize(
    ("categories", "roles", "words"),
    [
        (
            WORDS,
            {"success": "correct"},
            "Success: correct (18). Failure: wrong (10), timeout (4).",
        ),
        ([0, 1, 1], {}, "Success: 1 (4). Failure: 0 (2)."),
        ([0.0, 1.0, 1.0], {}, "Success: 1 (4). Failure: 0 (2)."),
        ([True, True, False], {}, "Success: true (4). Failure: false (2)."),
        ([0, 1, 1, None], {"missing": 0}, "Success: 1 (4). Failure: 0 (4)."),
        ([0, 1, 1, None], LEFT_OUT, "Success: 1 (4). Failure: 0 (2)."),
        (
            [10.0, 55.0, 70.5],
            {"threshold": 50},
            "Success: category at least 50 (4). Failure: category below 50 (2).",
        ),
        (
            [*"abcdefgh"],
            {"success": "a"},
            "Success: a (2). Failure: b (2), c (2), d (2), e (2), f (2), 2 more (4).",
        ),
        ([0.2, 0.7, 0.4], {}, ""),
        ([0.0, 0.5, 1.0], {"levels": (0.0, 0.5, 1.0)}, ""),
    ],
)
def test_a_verdict_says_what_counted_as_success_and_as_failure(categories, roles, words):
    assert counted(categories, **roles) == words


def test_weights_have_no_success_and_no_failure():
    assert counted(WORDS, ps.avg({"correct": 1, "wrong": 0, "timeout": 0.5})) == ""
