import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import priced_models

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


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


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_numbers_are_those_of_reports_about_the_same_questions(log, target):
    costs = log.scorio(cost="usd", target=target)
    assert_frame_equal(costs.frontier(), log.scorio(cost="usd").frontier(target=target))
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
        log.scorio(cost="usd", target="population", **roles).frontier()
        for roles in ({}, {"cluster": "passage"})
    )
    assert not np.allclose(plain["lo"], clustered["lo"])
    # These very questions are no sample.
    here = log.scorio(cost="usd", cluster="passage")
    assert_frame_equal(here.frontier(), log.scorio(cost="usd").frontier())


def test_a_model_is_dominated_where_both_comparisons_are_decided(log):
    frontier = log.scorio(cost="usd", confidence=0.9).frontier().sort("model")
    # Three models: 6 ordered pairs, of which each comparison takes a sixth of the error.
    pair = log.scorio(cost="usd", confidence=1 - 2 * 0.1 / 6)
    scores, costs = (pair.compare(each, simultaneous=False) for each in (None, ps.mean_cost()))
    worse = pl.concat(
        [
            scores.select(pl.col("better").alias("by"), loser="model_b").filter(
                pl.col("by") != pl.col("loser")
            ),
            scores.select(pl.col("better").alias("by"), loser="model_a").filter(
                pl.col("by") != pl.col("loser")
            ),
        ]
    )
    cheaper = pl.concat(
        [
            costs.select(pl.col("better").alias("by"), loser="model_b").filter(
                pl.col("by") != pl.col("loser")
            ),
            costs.select(pl.col("better").alias("by"), loser="model_a").filter(
                pl.col("by") != pl.col("loser")
            ),
        ]
    )
    both = worse.join(cheaper, on=["by", "loser"])
    assert (
        frontier.filter("dominated")["model"].to_list() == both["loser"].unique().sort().to_list()
    )


def test_costs_of_single_trials_take_the_questions_as_a_sample(log):
    single = log.filter(trial=0).scorio(cost="usd")
    columns = ["model", "prob_on_frontier", "dominated"]
    here, like = (single.frontier(target=each) for each in ("benchmark", "population"))
    assert_frame_equal(here.select(columns), like.select(columns))


def test_a_trial_that_costs_more_when_it_fails_ties_the_errors():
    """Equal models: another is as good and as cheap by chance, more often if both go together."""
    four = pl.DataFrame({"trial": range(4), "category": [1, 0, 1, 0]})
    log = four.join(pl.DataFrame({"question": range(30)}), how="cross").join(
        pl.DataFrame({"model": ["a", "b"]}), how="cross"
    )
    alone = log.with_columns(usd=1.0 + pl.col("trial") // 2)
    tied = log.with_columns(usd=2.0 - pl.col("category"))
    chances = [
        each.scorio(cost="usd", trial=None).frontier()["prob_on_frontier"] for each in (alone, tied)
    ]
    np.testing.assert_allclose(chances[0], 0.75, atol=0.02)  # 1 - 1/4
    np.testing.assert_allclose(chances[1], 0.5, atol=0.02)  # better is cheaper


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


def test_of_many_logs_hardly_any_calls_a_model_on_the_frontier_dominated():
    """Rates of these questions are known: two equal models, a better dear one, a worse dear one."""
    rng, shape = np.random.default_rng(1), (120, 4, 30, 8)
    ease, base = rng.random((120, 1, 30, 1)), np.exp(rng.normal(0, 0.7, (120, 1, 30, 1)))
    lift, price = (
        np.array(each)[None, :, None, None] for each in ([1, 1, 0.6, 2.0], [1, 1, 2, 1.5])
    )
    solved = rng.random(shape) < ease**lift
    usd = base * price * np.exp(rng.normal(0, 0.5, shape)) * np.where(solved, 1, 2)
    names = ("log", "model", "question", "trial")
    places = {name: axis.ravel() for name, axis in zip(names, np.indices(shape), strict=True)}
    columns = {"category": solved.ravel().astype(int), "usd": usd.ravel()}
    log = pl.DataFrame({**places, **columns}).scorio(cost="usd", by="log")
    share = log.frontier().group_by("model").agg(pl.col("dominated", "prob_on_frontier").mean())
    dominated, chance = (share.sort("model")[name].to_numpy() for name in share.columns[1:])
    assert dominated[:3].sum() < 0.05
    assert dominated[3] > 0.5
    # Of two equal models each is as good and as cheap by chance; failures cost more.
    assert (chance[:2] > 0.5).all()
    assert (chance[:2] < 0.75).all()
    assert chance[2] > 0.9
