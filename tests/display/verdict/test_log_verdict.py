"""The verdict of a log: what it is about, who leads, and what is refused."""

import numpy as np
import polars as pl
import pytest
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.log_verdict import log_verdict
from polars_scorio.display.facts.ranking_facts import score_matrix
from polars_scorio.display.facts.scopes import page_scopes
from polars_scorio.display.settings import Settings
from polars_scorio.display.words.log_words import log_alerts, outcome_words
from tests.display.html.logs import models
from tests.made_logs import drawn, log_of_runs, long
from tests.made_verdicts import verdicts

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
    assert "a page holds one success or failure" in alerts["Runs not distinguished"]
    assert "These runs only" not in alerts
    board = log.scorio(**asked).leaderboard(ps.avg())
    assert board["inference"].str.contains("other runs").all()
    assert "dataframe" in board._repr_html_()


@pytest.mark.parametrize(
    ("seed", "runs", "roles", "titles", "words"),
    [
        (
            0,
            4,
            {"run": "trial"},
            ["Different runs", "Other runs"],
            " have a standard deviation of ",
        ),
        (
            0,
            4,
            {"run": "trial", "by": "domain"},
            ["Different runs", "Other runs"],
            " have a standard deviation of ",
        ),
        (0, 4, {"run": "trial", "run_effects": "alike"}, ["Different runs", "Other runs"], "allow"),
        (2, 4, {"run": "trial"}, ["Other runs"], "runs are named"),
        (0, 2, {"run": "trial"}, ["Different runs", "Other runs"], "allow for it"),
        (2, 1, {"run": "trial"}, ["These runs only"], "too few runs"),
        (2, 4, {}, [], ""),
        (
            0,
            4,
            {"run": "trial", "run_effects": "none"},
            ["Different runs"],
            "hold for these runs only",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:run= names one run", "ignore::polars_scorio.CheckWarning")
def test_the_numbers_of_a_page_know_how_runs_differ(seed, runs, roles, titles, words):
    log = log_of_runs(0.4 * (seed == 0), seed, runs=runs)
    if "by" in roles:
        log = pl.concat([log.with_columns(domain=pl.lit(name)) for name in "xy"])
    verdict = verdict_of(log, [ps.avg()], **roles)
    alerts = {each.title: each.text for each in log_alerts(verdict)}
    assert {*alerts} & {"Different runs", "Other runs", "These runs only"} == {*titles}
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


# One pass over a log sees what `describe` sees and refuses what a report refuses.


def looked(log: pl.DataFrame, **roles: object) -> LogSummary:
    return LogSummary.read(log.lazy(), Roles(**roles))


@pytest.mark.parametrize("ids", [pl.Int64, pl.String])
def test_the_coverage_is_that_of_the_log(ids):
    log = drawn(3, range(9), most=5).with_columns(
        pl.col("trial").cast(ids), category=pl.when(pl.col("category") < 2).then("category")
    )
    log = pl.concat([log, log.head(7), log.head(2)]).filter(
        ~((pl.col("model") == "a") & (pl.col("question") == 3))
    )
    found = looked(log, by="domain").describe().rename({"stratum": "domain"})
    expected = log.scorio(by="domain").describe()
    assert expected["duplicates"].sum() == 9
    assert expected["nulls"].sum() > 0
    assert_frame_equal(found, expected, check_column_order=False)


def test_the_totals_of_the_tool_stand_in_the_coverage():
    log = drawn(3, range(9), most=5)
    totals = log.select("domain", "model").unique()
    totals = totals.with_columns(
        planned=400, reported=0.25, recomputed=0.5, skipped=pl.lit(None, pl.String)
    )
    some = totals.filter(pl.col("model") != "a")
    found = LogSummary.read(log.lazy(), Roles(by="domain"), some).describe()
    expected = Scorio(log, tool_totals=some)(by="domain").describe()
    assert expected["planned"].null_count() > 0
    assert_frame_equal(found.rename({"stratum": "domain"}), expected)
    other = totals.drop("domain")  # of runs whose strata are not known
    assert (
        "planned" not in LogSummary.read(log.lazy(), Roles(by="domain"), other).describe().columns
    )


def test_null_ids_are_not_duplicates():
    log = models(1).with_columns(trial=pl.when(pl.col("trial") > 1).then("trial"))
    for ids in (log, log.with_columns(pl.col("trial").cast(pl.String))):
        assert looked(ids).describe()["duplicates"].item() == 0


def test_cells_stand_for_the_log():
    log = drawn(4, range(6), most=5)
    look = looked(log, by="domain", success=[1, 2])
    ours = look.cells.scorio(by="stratum", count="count", success=[1, 2]).pass_at_k(1)
    expected = log.scorio(by="domain", success=[1, 2]).pass_at_k(1).rename({"domain": "stratum"})
    assert_frame_equal(ours, expected)


def test_ids_over_many_blocks_are_one_trial_each():
    log = models(1, questions=2, trials=300)
    look = looked(log)
    assert look.cells["count"].sum() == 600
    assert look.describe().select("trials", "n_max", "duplicates").row(0) == (600, 300, 0)


def test_what_a_report_refuses_is_refused_in_its_words():
    log = models(2).vstack(models(2).head(2))
    with pytest.raises(ValueError, match="the same trial twice") as reported:
        log.scorio.report(ps.bayes())
    with pytest.raises(ValueError, match="the same trial twice") as ours:
        looked(log).refuse()
    assert str(ours.value) == str(reported.value)


def test_labels_tell_strata_apart_whose_parts_join_to_the_same_text():
    log = pl.concat(
        models(1).with_columns(x=pl.lit(x), y=pl.lit(y))
        for x, y in (("a / b", "c"), ("a", "b / c"))
    )
    assert looked(log, by=["x", "y"]).cells["stratum"].n_unique() == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("roles", "metric"),
    [
        pytest.param({"success": [1, 2]}, ps.avg(), id="success"),
        pytest.param({}, ps.bayes(w=[0, 0.5, 1]), id="weights"),
        pytest.param({"levels": [0, 1, 2]}, ps.avg(), id="levels"),
        pytest.param({"success": [2], "missing": 2}, ps.pass_at_k(2), id="missing"),
    ],
)
def test_questions_have_the_scores_of_the_report(roles, metric):
    log = drawn(3, range(7), most=4).filter(domain="air").drop("domain")
    if "missing" in roles:
        log = log.with_columns(pl.when(pl.col("category") > 0).then("category"))
    whole, _ = page_scopes(looked(log, **roles), (metric,), Settings())
    w = None if metric.w is None else dict(metric.w)
    each = log.scorio(**roles).report(ps.avg(w), per="question", prior="uniform")
    keys = [pl.col("model", "question").cast(pl.String)]
    expected = each.select(*keys, score="estimate")
    shown = whole.question_scores().select(*keys, "score")
    assert_frame_equal(shown, expected, check_row_order=False, check_dtypes=False)
    _, scores = score_matrix(whole, whole.models)
    assert (np.diff(scores.mean(axis=0)) > -1e-12).all()


def test_labels_of_people_come_with_the_same_pass():
    log, reads = verdicts(), []

    def batches(columns, *_):
        reads.append(columns)
        yield log.select(columns or log.columns)

    source = register_io_source(batches, schema=log.schema)
    found = LogSummary.read(source, Roles(truth="human")).cells
    assert len(reads) == 1
    keys = ["model", "question", "category", "human"]
    expected = log.group_by(keys).len("count").rename({"human": "truth"})
    words = pl.col("model", "question").cast(pl.String)
    shown, expected = (each.with_columns(words) for each in (found, expected))
    columns = expected.columns
    assert_frame_equal(
        shown.select(columns).sort(columns), expected.sort(columns), check_dtypes=False
    )
