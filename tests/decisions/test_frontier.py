import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.decisions.frontier import frontier_band
from tests.made_logs import priced_models


@pytest.fixture(scope="module")
def log():
    """A cheap model, a good one, and one that is dear and bad, on two domains."""
    return priced_models(questions=80, trials=4)


def test_a_dear_and_bad_model_is_dominated(log):
    found = log.scorio(cost="usd", by="domain").frontier()
    assert found["model"].to_list() == ["cheap", "good", "poor"] * 2
    assert found["on_frontier"].to_list() == [True, True, False] * 2
    assert found["dominated"].to_list() == [False, False, True] * 2
    assert found["prob_on_frontier"].to_list() == pytest.approx([1, 1, 0] * 2, abs=0.01)


def test_numbers_are_those_of_reports_about_the_population(log):
    costs = log.scorio(cost="usd", target="population")
    found = costs.frontier().sort("model")
    report = costs.report(ps.avg(), ps.mean_cost())
    numbers = ["estimate", "lo", "hi"]
    scores, costs = (report.filter(metric=name).select(numbers) for name in ("avg", "mean_cost"))
    np.testing.assert_allclose(found.select(numbers), scores)
    np.testing.assert_allclose(found.select("mean_cost", "cost_lo", "cost_hi"), costs)


def test_every_metric_with_values_of_questions_has_a_frontier(log):
    found = log.scorio(cost="usd").frontier(ps.pass_hat_k(2))
    assert found["metric"].unique().to_list() == ["pass_hat_k"]
    assert found["on_frontier"].any()


def test_each_column_has_a_name_that_sql_takes(log):
    frontier = log.scorio(cost="usd").frontier()
    found = frontier.sql("SELECT model, on_frontier FROM self")
    assert_frame_equal(found, frontier.select("model", "on_frontier"))


def test_clusters_are_the_sample(log):
    plain, clustered = (
        log.scorio(cost="usd", **roles).frontier() for roles in ({}, {"cluster": "passage"})
    )
    assert not np.allclose(plain["lo"], clustered["lo"])


def test_lazy_equals_eager(log):
    lazy = log.lazy().scorio(cost="usd").frontier()
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), log.scorio(cost="usd").frontier())


def test_more_draws_than_trials_have_no_place(log):
    found = log.scorio(cost="usd").frontier(ps.pass_at_k(5))
    assert (
        found.select("estimate", "on_frontier", "prob_on_frontier", "dominated").null_count().row(0)
        == (3,) * 4
    )


def test_an_empty_log_has_no_frontier(log):
    assert log.head(0).scorio(cost="usd").frontier().is_empty()


def test_the_band_lies_between_the_cheapest_and_the_dearest_model(log):
    roles = log.scorio(cost="usd", by="domain")._roles  # noqa: SLF001 - as pictures do
    band = frontier_band(log.lazy(), roles, points=7).collect()
    assert band.columns == ["domain", "cost", "lo", "hi"]
    assert band.height == 14
    assert band.drop_nulls().select((pl.col("lo") <= pl.col("hi")).all()).item()


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (ps.mean_cost(), "frontier takes no metric of costs"),
        (ps.geom_ds_at_k(2), "blends means of the whole benchmark"),
        (ps.pass_at_k([1, 2]), "takes one draw size at a time"),
    ],
)
def test_other_metrics_are_refused(log, metric, words):
    with pytest.raises(ValueError, match=words):
        log.scorio(cost="usd").frontier(metric)


def test_a_log_without_costs_is_refused(log):
    with pytest.raises(ValueError, match="mean_cost needs a cost column"):
        log.scorio.frontier()
