"""One pass over a log sees what `describe` sees and refuses what a report refuses."""

import polars as pl
import pytest
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.scopes import page_scopes
from polars_scorio.display.settings import Settings
from tests.display.html.logs import models
from tests.made_logs import drawn
from tests.made_verdicts import verdicts


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
    expected = each.group_by(pl.col("question").cast(pl.String)).agg(
        pl.col("trials").sum(), score=pl.col("estimate").mean()
    )
    shown = whole.per_question().select(pl.col("question").cast(pl.String), "trials", "score")
    assert_frame_equal(shown, expected, check_row_order=False, check_dtypes=False)
    assert shown["score"].is_sorted()


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
