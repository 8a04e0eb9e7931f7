"""Metrics of costs on leaderboards, in pictures and in tables."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from tests.display.chart_parts import layers_of


@pytest.fixture(scope="module")
def log():
    """Three models, of which the first is the cheapest, on two strata."""
    rng = np.random.default_rng(34)
    model, question, trial = (each.ravel() for each in np.indices((3, 20, 3)))
    return pl.DataFrame(
        {
            "model": np.array(["ada", "bob", "eve"])[model],
            "domain": np.array(["air", "bus"])[question % 2],
            "question": question,
            "trial": trial,
            "category": (rng.random(model.size) < 0.6).astype(int),
            "usd": (1.0 + model) * rng.lognormal(0, 0.2, model.size),
        }
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"overall": "macro"}, {"target": "population"}],
    ids=["micro", "macro", "sample"],
)
def test_a_leaderboard_by_cost_has_the_cheapest_first(log, options):
    board = log.scorio(cost="usd", by="domain").leaderboard(ps.mean_cost(), ps.avg(), **options)
    assert board["model"].to_list() == ["ada", "bob", "eve"]
    assert board["rank"].to_list() == [1, 2, 3]
    assert (board["mean_cost_lo"] < board["mean_cost"]).all()
    assert (board["mean_cost"] < board["mean_cost_hi"]).all()


def test_intervals_of_small_costs_are_not_cut_at_one(log):
    cents = log.with_columns(usd=pl.col("usd") / 2.2)
    board = cents.scorio(cost="usd").leaderboard(ps.mean_cost())
    report = cents.scorio(cost="usd").report(ps.mean_cost())
    assert sorted(board["mean_cost_hi"]) == pytest.approx(sorted(report["hi"]))


def test_pictures_take_costs(log):
    plot = log.scorio(cost="usd").plot
    assert plot.intervals(ps.cost_per_success()).to_dict()


def test_forests_have_the_cheapest_model_on_top(log):
    plot = log.scorio(cost="usd", by="domain").plot
    for metric in (ps.mean_cost(), ps.cost_per_success()):
        for layer in layers_of(plot.intervals(metric)):
            assert layer["encoding"]["y"]["sort"] == ["ada", "bob", "eve"]


def test_tables_write_costs_as_numbers_and_not_as_percentages(log):
    table = ps.to_markdown(log.scorio(cost="usd").report(ps.mean_cost()))
    assert "Mean cost" in table
    assert "%" not in table


@pytest.mark.parametrize("method", ["convergence", "trajectory", "questions_needed"])
def test_what_replays_counts_refuses_costs(log, method):
    with pytest.raises(ValueError, match=f"{method} takes no metric of costs"):
        getattr(log.scorio(cost="usd"), method)(ps.mean_cost())
