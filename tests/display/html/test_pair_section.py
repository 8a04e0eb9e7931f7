"""Two models compared, and all pairs of them."""

from itertools import pairwise

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.html.sections import page_pairs, pair_section
from polars_scorio.display.log_summary import LogSummary
from polars_scorio.display.scopes import Scope, page_scopes
from polars_scorio.display.settings import Settings
from tests.display.html.logs import models
from tests.made_logs import long


def scope_of(log: pl.DataFrame) -> Scope:
    look = LogSummary.read(log.lazy(), Roles())
    return page_scopes(look, (ps.avg(),), Settings())[0]


@pytest.fixture(scope="module")
def three() -> Scope:
    return scope_of(models(3))


def test_questions_that_each_side_wins_are_counted():
    scope = scope_of(
        pl.concat([long([[1], [1], [0], [1]], "ada"), long([[0], [1], [1], [0]], "bob")])
    )
    pair = page_pairs(scope).row(0, named=True)
    won = (
        (pair["wins"], pair["losses"])
        if pair["model_a"] == "ada"
        else (pair["losses"], pair["wins"])
    )
    assert (*won, pair["ties"]) == (2, 1, 1)


def test_the_wins_are_those_of_an_oracle(three):
    scores = models(3).group_by("model", "question").agg(pl.col("category").mean())
    for row in page_pairs(three).iter_rows(named=True):
        a, b = (
            dict(scores.filter(model=row[side]).select("question", "category").iter_rows())
            for side in ("model_a", "model_b")
        )
        assert row["wins"] == sum(a[name] > b[name] for name in a)
        assert row["wins"] + row["losses"] + row["ties"] == 12


def test_the_matrix_has_a_row_and_a_column_for_each_model(three):
    _, matrix = pair_section(three, Settings()).tables.values()
    assert [column.head for column in matrix.columns] == ["better than", *three.models]
    for place, column in enumerate(matrix.columns[1:]):
        assert column.cells[place] == ""
        assert column.shades[place] == "self"
    above, below = matrix.columns[2].cells[0], matrix.columns[1].cells[1]
    assert float(above) + float(below) == pytest.approx(1, abs=0.011)
    assert matrix.folded


def test_two_models_need_no_matrix():
    assert [*pair_section(scope_of(models(2)), Settings()).tables] == [""]


@pytest.mark.slow
def test_of_very_many_models_only_pairs_with_the_first_are_kept():
    scope = scope_of(models(62, questions=3, trials=2))
    pairs = page_pairs(scope)
    assert pairs.height == 61
    first = scope.models[0]
    assert pairs.select(((pl.col("model_a") == first) | (pl.col("model_b") == first)).all()).item()


def test_the_first_of_a_pair_is_the_one_that_leads_whatever_its_name():
    good, bad = long([[1, 1, 1, 0]] * 12, "zoe"), long([[0, 0, 1, 0]] * 12, "ada")
    scope = scope_of(pl.concat([bad, good]))
    (facts,) = pair_section(scope, Settings()).tables.values()
    assert facts.columns[1].head == "zoe against ada"
    told = dict(zip(facts.columns[0].cells, facts.columns[1].cells, strict=True))
    assert told["difference"].startswith("50.0 points [")
    assert told["verdict"] == "zoe is better"
    assert told["P(zoe is better)"] == ">0.999"
    assert told["questions won, tied, lost"] == "12, 0, 0"


def test_the_plan_has_the_neighbours_that_the_verdict_on_all_pairs_leaves_open():
    log = models(4, questions=60)
    scope = scope_of(log)
    neighbours = {frozenset(pair) for pair in pairwise(scope.models)}
    planned = {frozenset(pair) for pair in scope.needed.select("model_a", "model_b").rows()}
    alone, at_once = (
        neighbours & undecided(log.scorio.compare(simultaneous=simultaneous))
        for simultaneous in (False, True)
    )
    assert planned == at_once
    assert alone < planned  # pair by pair, two of the three would be decided


def undecided(compared: pl.DataFrame) -> set[frozenset[str]]:
    pairs = compared.filter(pl.col("better").is_null())
    return {frozenset(pair) for pair in pairs.select("model_a", "model_b").rows()}
