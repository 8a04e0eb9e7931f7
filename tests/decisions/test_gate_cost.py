import numpy as np
import polars as pl
import pytest

import polars_scorio as ps

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


@pytest.fixture(scope="module")
def log():
    """An old version, a new one that costs the same, and one that costs half as much again."""
    rng = np.random.default_rng(34)
    model, question, trial = (each.ravel() for each in np.indices((3, 60, 8)))
    price = np.array([1.0, 1.0, 1.5])
    return pl.DataFrame(
        {
            "model": np.array(["old", "same", "dear"])[model],
            "domain": question % 2,
            "question": question,
            "trial": trial,
            "category": (rng.random(model.size) < 0.6).astype(int),
            "usd": price[model] * rng.lognormal(0, 0.3, model.size),
        }
    )


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_a_dearer_candidate_fails_although_its_score_passes(log, target):
    costs = log.scorio(cost="usd", target=target)
    gates = costs.gate("old", margin=0.3, cost_margin=1.15)
    assert gates.select("model", "verdict", "cost_verdict").rows() == [
        ("dear", "fail", "fail"),
        ("same", "pass", "pass"),
    ]
    assert costs.gate("old", margin=0.3)["verdict"].to_list() == ["pass", "pass"]


def test_a_narrow_margin_is_undecided(log):
    gates = log.scorio(cost="usd").gate("old", margin=0.3, cost_margin=1.0).filter(model="same")
    shown = gates.select("verdict", "cost_verdict", "score_verdict").row(0)
    assert shown == ("undecided", "undecided", "pass")


def test_a_score_that_fails_is_not_saved_by_its_cost(log):
    worse = log.with_columns(category=pl.when(model="same").then(0).otherwise("category"))
    gates = worse.scorio(cost="usd").gate("old", margin=0.05, cost_margin=1.15)
    shown = gates.filter(model="same").select("verdict", "cost_verdict", "score_verdict").row(0)
    assert shown == ("fail", "pass", "fail")


def test_ends_are_one_sided(log):
    costs = log.scorio(cost="usd")
    gates = costs.gate("old", margin=0.3, cost_margin=1.15, confidence=0.9)
    pairs = costs.compare(ps.mean_cost(), baseline="old", confidence=0.8)
    np.testing.assert_allclose(
        gates.select("cost_ratio", "cost_lo", "cost_hi"), pairs.select("ratio", "lo", "hi")
    )


def test_each_stratum_has_its_ratio(log):
    gates = log.scorio(cost="usd", by="domain").gate("old", margin=0.3, cost_margin=1.15)
    assert gates["cost_ratio"].null_count() == 0
    assert gates.height == 6


def test_the_cost_is_judged_over_all_strata_together(log):
    gates = log.scorio(cost="usd", by="domain").gate("old", margin=0.3, cost_margin=1.15)
    whole = pl.col("domain").is_null()
    assert gates.filter(whole).sort("model")["cost_verdict"].to_list() == ["fail", "pass"]
    strata = gates.filter(~whole)
    assert strata["cost_verdict"].null_count() == strata.height
    assert strata["verdict"].to_list() == strata["score_verdict"].to_list()


def test_costs_do_not_hold_at_every_look(log):
    with pytest.raises(
        ValueError, match=r"nobody knows intervals of costs.*leave cost_margin= out"
    ):
        log.scorio(cost="usd", planned_trials=16).gate("old", margin=0.3, cost_margin=1.15)


def test_gates_without_a_margin_of_costs_have_no_columns_of_costs(log):
    assert "cost_ratio" not in log.scorio(cost="usd").gate("old", margin=0.3).columns


def test_a_factor_below_one_is_refused(log):
    with pytest.raises(ValueError, match=r"cost_margin must be a factor from 1 to 1,000.*got 0.9"):
        log.scorio(cost="usd").gate("old", margin=0.3, cost_margin=0.9)


def test_a_gate_needs_costs_for_its_margin(log):
    with pytest.raises(ValueError, match="mean_cost needs a cost column"):
        log.scorio.gate("old", margin=0.3, cost_margin=1.1)


def test_a_metric_of_costs_is_no_score(log):
    with pytest.raises(ValueError, match=r"gate takes no metric of costs.*cost_margin"):
        log.scorio(cost="usd").gate("old", ps.mean_cost(), margin=0.3)
