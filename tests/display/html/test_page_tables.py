"""The tables of a page: their heads, their cells, their notes."""

from dataclasses import replace

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.log import Study
from polars_scorio.counting.roles import Roles
from polars_scorio.display.html.page_tables import (
    coverage_table,
    hardest_questions,
    leaderboard_tables,
    strata_table,
    trials_needed_table,
)
from polars_scorio.display.log_summary import LogSummary
from polars_scorio.display.scopes import Scope, page_scopes
from polars_scorio.display.settings import Settings
from polars_scorio.display.table import Column, Table
from polars_scorio.display.words import Scale
from tests.display.html.logs import models

pytestmark = pytest.mark.filterwarnings("ignore:trials are not independent")  # made logs are sure

DASH = "\N{EN DASH}"


def scopes_of(log: pl.DataFrame, *metrics: ps.Metric, **roles: object) -> tuple[Scope, list[Scope]]:
    look = LogSummary.read(log.lazy(), Roles(**roles))
    return page_scopes(look, metrics or (ps.avg(),), Settings())


@pytest.fixture(scope="module")
def whole() -> Scope:
    """Three models on twelve questions of four trials."""
    return scopes_of(models(3), ps.avg(), ps.pass_at_k([1, 2]))[0]


def heads(table: Table) -> list[str]:
    return [column.head for column in table.columns]


def test_rows_are_the_cells_side_by_side():
    name, number = Column("model", ["ada", "bob"], right=False), Column("avg", ["1", "2"])
    rows = [[cell[:2] for cell in row] for row in Table([name, number]).rows]
    assert rows == [[(name, "ada"), (number, "1")], [(name, "bob"), (number, "2")]]


def test_a_leaderboard_has_a_column_for_each_metric_and_draw_size(whole):
    (table,) = leaderboard_tables(whole, Settings(), {"m00": "c0"})
    numbers = ["avg@4 (%)", "P(best)", "Pass@1 (%)", "Pass@2 (%)"]
    assert heads(table) == ["rank", "model", "95 % interval", *numbers]
    assert [*table.columns[1].cells] == ["m00", "m01", "m02"]
    assert table.note == "12 questions, 48 trials of each model."
    best = whole.rows.filter(model="m00", metric="avg").row(0, named=True)
    assert table.columns[3].cells[0].startswith(f"{100 * best['mu']:.1f} [")


def test_a_single_model_has_no_chance_to_be_the_best():
    alone, _ = scopes_of(models(1))
    (table,) = leaderboard_tables(alone, Settings(), {})
    assert heads(table) == ["model", "95 % interval", "avg@4 (%)"]


def test_a_biased_log_has_no_ranks(whole):
    (table,) = leaderboard_tables(replace(whole, biased=True), Settings(), {})
    assert heads(table)[:3] == ["model", "95 % interval", "avg@4 (%)"]
    assert "P(best)" not in heads(table)


def test_two_models_have_one_probability():
    # P(best) is drawn toward even chances, P(better) of the comparison is not: .50 beside .77.
    pair, _ = scopes_of(models(2))
    (table,) = leaderboard_tables(pair, Settings(), {})
    assert heads(table) == ["rank", "model", "95 % interval", "avg@4 (%)"]


@pytest.mark.slow
def test_of_many_models_the_first_15_are_not_folded():
    many, _ = scopes_of(models(20, questions=4))
    top, rest = leaderboard_tables(many, Settings(), {})
    assert [len(table.columns[0].cells) for table in (top, rest)] == [15, 5]
    assert (top.folded, rest.folded) == ("", "5 more models")
    assert [*top.columns[1].cells, *rest.columns[1].cells] == many.models


@pytest.mark.slow
def test_strata_have_a_column_each_with_a_dash_for_a_model_that_lacks_one():
    log = models(2, strata=2).filter((pl.col("model") == "m00") | (pl.col("bench") == "bench 0"))
    overall, parts = scopes_of(log, by="bench")
    table = strata_table(parts, overall)
    assert heads(table) == ["model", "bench 0", "bench 1"]
    assert [*table.columns[0].cells] == ["m00", "m01"]
    assert table.columns[2].cells[1] == DASH
    assert table.columns[2].cells[0] != DASH
    assert table.columns[2].shades[1] == ""
    assert table.note.startswith("In percent. Outlined: ")
    assert table.kind == "heat"
    # More strata than a sheet of paper takes upright are printed across.
    assert strata_table(parts * 7, overall).kind == "heat broad"


@pytest.mark.slow
def test_a_model_that_leaves_its_ranks_is_outlined():
    log = models(3, strata=2, questions=40)
    best = (pl.col("model") == "m02") & (pl.col("bench") == "bench 1")
    log = log.with_columns(category=pl.when(best).then(1).otherwise(pl.col("category") * ~best))
    good = (pl.col("model") == "m00") & (pl.col("bench") == "bench 0")
    log = log.with_columns(category=pl.when(good).then(1).otherwise("category"))
    overall, parts = scopes_of(log, by="bench")
    ranks = overall.ranks.with_columns(rank_lo=pl.lit(3), rank_hi=pl.lit(3))
    table = strata_table(parts, replace(overall, ranks=ranks))
    place = overall.models.index("m02")
    assert table.columns[2].shades[place].endswith(" out")


def test_trials_that_are_needed_have_a_row_for_each_open_pair():
    row = {"model_a": "ada", "model_b": "bob", "trials_min": 2, "trials_max": 4}
    needed = pl.DataFrame(
        [{**row, "extra_trials": 1500, "total": 1504}, {**row, "extra_trials": None, "total": None}]
    )
    empty = pl.DataFrame()
    table = trials_needed_table(Scope("", Study(empty), Roles(), (ps.avg(),), needed=needed))
    assert [*table.columns[2].cells] == ["2 to 4"] * 2
    assert [*table.columns[3].cells] == ["1,500", "no difference in sight"]
    assert [*table.columns[4].cells] == ["1,504", "no difference in sight"]


def test_ten_questions_are_the_hardest():
    names = [f"q{place}" for place in range(12)]
    questions = pl.DataFrame(
        {"question": names, "trials": 1200, "score": 0.25, "least": 0.0, "most": 0.5}
    )
    table = hardest_questions(questions, Scale(percent=True, digits=1), 2)
    assert [*table.columns[0].cells] == names[:10]
    assert [column.cells[0] for column in table.columns[1:]] == ["25.0", "0.0", "50.0", "1,200"]
    assert heads(table)[1] == "mean of the models (%)"
    alone = hardest_questions(questions, Scale(percent=True, digits=1), 1)
    assert heads(alone) == ["question", "mean of the trials (%)", "trials"]


def test_the_coverage_is_written_by_kind():
    found = pl.DataFrame(
        {
            "model": ["ada"],
            "trials": [1200],
            "duplicates": pl.Series([None], dtype=pl.Int64),
            "pvalue_order": [0.00123],
            "categories": [[*map(str, range(14))]],
        }
    )
    columns = coverage_table(found).columns
    assert [column.cells[0] for column in columns] == [
        "ada",
        "1,200",
        DASH,
        "0.0012",
        "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more",
    ]
    assert [column.right for column in columns] == [False, True, True, True, False]
