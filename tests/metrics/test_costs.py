import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.testing import check_metric

ROWS = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
LOG = ROWS.with_columns(usd=pl.Series([3.0, 1.0, 1.0, 1.0]))
METRICS = [ps.mean_cost(), ps.cost_per_success(), ps.cost_to_solve(2)]


def test_metrics_of_costs_are_values():
    assert ps.cost_to_solve([2, 1]) == ps.cost_to_solve((1, 2))
    assert str(ps.cost_per_success()) == "cost_per_success()"
    assert ps.cost_to_solve(4).heading(4) == "Cost to solve, 4 tries"
    assert ps.mean_cost(name="usd").name == "usd"


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_a_log_without_costs_is_answered_with_what_is_needed(metric):
    with pytest.raises(
        ValueError, match=rf"^{metric.name} needs a cost column: df\.scorio\(cost=\"usd\"\)\. The"
    ):
        ROWS.scorio(trial=None).report(metric)


def test_counts_hold_no_costs():
    counts = LOG.scorio(trial=None, cost="usd").counts()
    with pytest.raises(ValueError, match="The log must have a row for each trial, as counts"):
        counts.scorio(count="count").report(ps.mean_cost())
    with pytest.raises(ValueError, match="count='count' means rows that stand for several trials"):
        counts.scorio(count="count", cost="usd")
    with pytest.raises(ValueError, match="counts of successes do not hold"):
        counts.select(ps.mean_cost().expr(n="count", successes="category"))


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize(
    "options",
    [{"prior": "uniform"}, {"prior": "population"}, {"prior": ROWS}],
    ids=str,
)
def test_costs_have_calibrated_numbers_of_one_look_alone(metric, options):
    with pytest.raises(ValueError, match=f"{metric.name}: .* omit prior="):
        LOG.scorio(trial=None, cost="usd").report(metric, **options)


def test_published_posteriors_stand_beside_costs_if_nobody_says_a_word():
    report = LOG.scorio(trial=None, cost="usd").report(ps.bayes(), ps.mean_cost())
    assert report["inference"].to_list() == ["posterior", "calibrated"]


def test_metrics_of_costs_keep_the_contract():
    costs = ps.mean_cost(), ps.cost_per_success(), ps.cost_to_solve([1, 2])
    check_metric(*costs, cost=1 + pl.col("question") + pl.col("trial") / 4)
