"""Warnings above the numbers of a page."""

import re
from html import unescape
from random import Random

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.log_verdict import numbered_models
from polars_scorio.display.media.card import card_svg
from polars_scorio.display.media.terminal import Screen, account_lines
from polars_scorio.display.page import PageCall, finding_table, made_page, story_card
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import Story, StoryOptions, read_story
from polars_scorio.display.words.log_words import numbered_words
from tests.display.html.logs import models, page_of
from tests.made_logs import long


def alerts_of(log: pl.DataFrame, *metrics: ps.Metric, **roles: object) -> dict[str, str]:
    return {alert.title: alert.text for alert in page_of(log, *metrics, **roles).alerts}


@pytest.mark.slow
def test_missing_questions_are_named_and_left_out():
    log = models(3, questions=10).filter(~((pl.col("model") == "m01") & (pl.col("question") > 7)))
    page = page_of(log)
    (alert,) = page.alerts
    assert alert.title == "Missing questions"
    assert "1 model lacks questions that other models have (m01: 2)." in alert.text
    assert "skip 2 of 10 questions" in alert.text
    assert alert.text.endswith("If these are hard, all models look better than they are.")
    assert page.numbers["overall"]["report"]["questions"].unique().to_list() == [8]


@pytest.mark.slow
def test_dropped_trials_are_counted():
    log = models(2).with_columns(category=pl.when(pl.col("trial") > 0).then("category"))
    found = alerts_of(log, missing="drop")
    assert found["Dropped trials"].startswith(
        "24 trials without an outcome (m00: 12 and m01: 12). Dropping them"
    )
    found = alerts_of(log, missing=0)
    assert found["Missing outcomes"].endswith("They count as category 0.")


def test_duplicates_are_counted_where_they_are_refused():
    found = alerts_of(models(2).vstack(models(2).tail(5)))
    assert found["Duplicates"].startswith("5 trials with the id of an earlier trial (m01: 5)")


@pytest.mark.slow
def test_unchecked_unequal_and_single_trials():
    assert [*alerts_of(models(2), trial=None)] == ["Unchecked duplicates"]
    ragged = models(2).filter((pl.col("trial") < 2) | (pl.col("question") > 3))
    assert alerts_of(ragged)["Unequal trials"] == "Questions have 2 to 4 trials."
    assert [*alerts_of(models(2, trials=1))] == ["One trial per question"]


@pytest.mark.slow
def test_runs_that_are_not_whole():
    totals = pl.DataFrame({"model": ["m00", "m01"], "planned": [48, 60], "reported": [0.5, None]})
    totals = totals.with_columns(recomputed="reported")
    order = PageCall.from_options(StoryOptions((), Settings()), Roles(), "log.html")
    page, _ = made_page(models(2).lazy(), Roles(), order, totals=totals)
    (alert,) = page.alerts
    assert alert.title == "Unfinished runs"
    assert alert.text.startswith("The tool planned more trials than the log has (m01: 48 of 60).")


@pytest.mark.slow
def test_draws_of_more_than_there_are_trials():
    found = alerts_of(models(2), ps.bayes(), ps.pass_at_k([4, 8]), ps.pass_hat_k(16))
    assert found["More draws than trials"].startswith("Pass@8 and Pass^16: some questions")


def stopped(*, retried: bool) -> pl.DataFrame:
    """Sixty questions with three trials; or with one, and five more after a failure."""
    random, rows = Random(2), []  # noqa: S311 - nothing here is secret
    for question in range(60):
        rate = (question + 0.5) / 60
        outcomes = [int(random.random() < rate) for _ in range(6 if retried else 3)]
        outcomes = outcomes[:1] if retried and outcomes[0] else outcomes
        rows += [(question, trial, outcome) for trial, outcome in enumerate(outcomes)]
    log = pl.DataFrame(rows, schema=["question", "trial", "category"], orient="row")
    return log.with_columns(model=pl.lit("ada"))


@pytest.mark.slow
def test_an_alarm_that_scores_are_biased_is_the_title_and_the_finding_follows():
    page = page_of(stopped(retried=True))
    silent = page_of(stopped(retried=True), validate=False)
    assert (
        page.headline
        == "Trials of ada seem to have stopped on outcomes: then every score is biased."
    )
    assert page.account.lede.startswith(f"As the rows stand: {silent.account.title.words} ")
    assert page.account.aside.startswith("ada: all ")
    assert "every score is biased: first=1 counts the first trial" in page.account.aside
    assert (
        "--first 1 counts"
        in page.with_words(lambda text: text.replace("first=", "--first ")).html()
    )
    top, _, foot = page.html().partition("<footer>")
    assert top.count("ended with 1 success (p") == 1
    assert foot.count("ended with 1 success (p") == 1  # in the table of all tests
    assert [each.title for each in page.alerts] == ["Trials stopped on outcomes", "Unequal trials"]
    assert page.alerts[0].text.startswith("ada: no question had a further trial ")
    assert page.checked.startswith("Independent trials are assumed. 2 of 6 tests of the trials ")
    assert "ada: questions with fewer trials succeed more" in page.checked  # a look
    honest = page_of(stopped(retried=False))
    assert honest.alerts == []
    assert honest.checked == (
        "Independent trials are assumed. 3 of 3 tests of the trials found nothing; check() lists "
        "them."
    )
    assert silent.checked == ""
    assert [each.title for each in silent.alerts] == ["Unchecked duplicates", "Unequal trials"]


def test_an_alarm_of_another_kind_stands_above_the_title():
    page, trusted = page_of(COPIED), page_of(COPIED, validate=False)
    assert page.headline == trusted.headline
    assert page.alerts[0].title == "Copied trials"
    assert page.html().index("Copied trials") < page.html().index('id="headline"')


def timed_out() -> pl.DataFrame:
    """Two models, a third of whose trials timed out under the second one."""
    words = pl.when(pl.col("category") == 1).then(pl.lit("right")).otherwise(pl.lit("wrong"))
    broken = (pl.col("model") == "m01") & ((pl.col("question") + pl.col("trial")) % 3 == 0)
    return models(2, questions=40).with_columns(
        category=pl.when(broken).then(pl.lit("timeout")).otherwise(words)
    )


def test_errors_of_one_model_are_said_first():
    page = page_of(timed_out(), success="right")
    first, *_ = page.alerts
    assert first.title == "More errors of one model"
    assert first.text.startswith("Errors count as failures: 3")
    assert page.html().count("Errors count as failures") == 1 + page.json().count("Errors count")
    _, second, *others = page.markdown().split("\n\n")
    assert second.startswith("Errors count as failures: 3")
    assert "More errors of one model" not in "".join(others)


def test_every_medium_says_below_its_title_that_one_model_has_more_errors():
    asked = StoryOptions((), Settings())
    *_, story = read_story(timed_out().lazy(), Roles(success=("right",)), asked)
    assert isinstance(story, Story)
    said = "Errors count as failures: 34 % of the trials of m01, 0.0 % of those of m00"
    lines = " ".join(account_lines(Screen(), story.account, 15))
    notebook = finding_table(timed_out().lazy(), Roles(success=("right",)), asked)
    for medium in (lines, card_svg(story_card(story)), notebook):
        text = " ".join(unescape(re.sub("<[^>]+>", " ", medium)).split())
        assert text.index(said) < text.index("51.2 % against")
        assert text.index("beats") < text.index(said)


def test_a_log_of_few_questions_says_how_little_it_tells_of_others():
    found = alerts_of(models(2, questions=9))
    assert found["Few questions"].startswith("The log has 9 questions in all.")
    assert "Few questions" not in alerts_of(models(2, questions=10))
    assert "Few questions" not in alerts_of(models(2, strata=2, questions=5), by="bench")


def test_questions_of_steps_count_once():
    log = models(2, strata=3, questions=9)
    log = log.with_columns(step=pl.col("bench").str.slice(6).cast(pl.Int64)).drop("bench")
    found = alerts_of(log, by="step")
    assert found["Few questions"].startswith("The log has 9 questions in all.")
    lacking = log.filter(~((pl.col("model") == "m01") & (pl.col("question") == 8)))
    found = alerts_of(lacking, by="step")["Missing questions"]
    assert "(m01: 1). The numbers skip 1 of 9 questions" in found


def renamed(*names: str) -> pl.DataFrame:
    """A log of models with these names."""
    log = models(len(names))
    return log.with_columns(
        pl.col("model").replace_strict(log["model"].unique(maintain_order=True), [*names])
    )


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        ([f"tb_rc2_opus_{run}" for run in range(1, 6)], r"(tb_rc2_opus)_\d+"),
        (["opus-run7", "opus-run12"], r"(opus-run)\d+"),
        (["a seed 0", "a seed 1"], r"(a seed) \d+"),
        (["a_rs0.high", "a_rs1.high"], r"(a_rs)\d+\.high"),
        (["x/0", "x/1", "x/2"], r"(x)/\d+"),
    ],
)
def test_names_that_count_runs_get_the_pattern_that_merges_them(names, pattern):
    (models,) = numbered_models(LogSummary.read(renamed(*names).lazy(), Roles()))
    assert f'model=r"{pattern}" finds its name in the paths' in numbered_words(*models)
    assert 'trial=pl.concat_str("run", "trial", separator="/")' in numbered_words(*models)
    assert len({re.search(pattern, name)[1] for name in names}) == 1


@pytest.mark.parametrize(
    "names",
    [
        ["llama-8b", "llama-70b"],
        ["m-step-1", "m-step-2", "m-step-3"],
        ["qwen2", "qwen3", "qwen4"],
        ["a-1", "a-2"],
        ["a-1", "a-2", "a-4"],
        ["gpt-4.1", "gpt-4.2", "o3"],
        ["ada v1", "ada v2", "ada v3"],
    ],
)
def test_versions_of_models_are_no_runs(names):
    assert not numbered_models(LogSummary.read(renamed(*names).lazy(), Roles()))


def test_runs_of_one_model_have_the_same_questions():
    log = renamed("a_1", "a_2", "a_3")
    assert "Runs of one model?" in alerts_of(log)
    other = log.filter((pl.col("model") != "a_2") | (pl.col("question") > 0))
    assert not numbered_models(LogSummary.read(other.lazy(), Roles()))


def one_off(log: pl.DataFrame, model: str = "m01", question: int = 0) -> pl.DataFrame:
    """The log with the first outcome of a model at a question turned round."""
    here = (pl.col("model") == model) & (pl.col("question") == question) & (pl.col("trial") == 0)
    return log.with_columns(
        category=pl.when(here).then(1 - pl.col("category")).otherwise("category")
    )


TWINS = pl.concat([models(1), models(1).with_columns(model=pl.lit("m01"))])
MIXED = long([[1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1]] * 3)
TWO, STRATA = models(2), models(3, strata=2)
LACKING = TWO.filter((pl.col("model") != "m01") | (pl.col("question") != 3))
HALF = STRATA.filter((pl.col("model") != "m01") | (pl.col("bench") != "bench 1"))
RAGGED = TWO.filter((pl.col("trial") < 3) | (pl.col("question") > 3))
STOPPED = long([[1, 1], [0, 1, 1, 0], [0, 0], [1, 0, 0, 1], [0, 0], [1, 1]] * 8)
COPIED = pl.concat([MIXED, MIXED.with_columns(pl.col("trial") + 100)])
NEVER_MIXED = long([[1, 1, 1]] * 10 + [[0, 0, 0]] * 10)
NO_OUTCOME = TWO.with_columns(category=pl.when(pl.col("trial") > 0).then("category"))


@pytest.mark.parametrize(
    ("title", "log", "options", "neighbour", "other"),
    [
        ("Identical models", TWINS, {}, one_off(TWINS), {}),
        ("Missing questions", LACKING, {}, TWO, {}),
        ("Missing models", HALF, {"by": "bench"}, STRATA, {"by": "bench"}),
        ("Dropped trials", NO_OUTCOME, {"missing": "drop"}, TWO, {"missing": "drop"}),
        ("Missing outcomes", NO_OUTCOME, {"missing": 0}, NO_OUTCOME, {"missing": "drop"}),
        ("Missing outcomes", NO_OUTCOME, {"missing": "bounds"}, NO_OUTCOME, {"missing": "drop"}),
        ("Duplicates", TWO.vstack(TWO.tail(5)), {}, TWO, {}),
        ("Unchecked duplicates", TWO, {"trial": None}, TWO, {}),
        ("One trial per question", models(2, trials=1), {}, models(2, trials=2), {}),
        ("Unequal trials", RAGGED, {}, TWO, {}),
        ("Trials stopped on outcomes", STOPPED, {}, MIXED, {}),
        ("Copied trials", COPIED, {}, TWO, {}),
        ("No outcome changed", NEVER_MIXED, {}, MIXED, {}),
    ],
)  # fmt: skip
def test_each_alert_is_there_where_its_reason_is_and_not_beside_it(
    title, log, options, neighbour, other
):
    assert title in alerts_of(log, **options)
    assert title not in alerts_of(neighbour, **other)
