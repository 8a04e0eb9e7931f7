import polars as pl
import pytest

import polars_scorio as ps


@pytest.fixture(scope="module")
def log():
    """Two models on two strata; a trial costs 1 or 2, and .5 more in the second stratum."""
    rows = [
        (domain, model, question, trial, int((question + trial) % 5 < right), price + domain / 2)
        for domain in (0, 1)
        for model, right, price in (("ada", 4, 1.0), ("bob", 2, 2.0))
        for question in range(10)
        for trial in range(4)
    ]
    names = ["domain", "model", "question", "trial", "category", "usd"]
    return pl.DataFrame(rows, names, orient="row")


def test_needed_trials_cost_a_round_of_both_models_each(log):
    plan = log.scorio(cost="usd", by="domain").trials_needed(max_trials=10**6)
    price = 10 * (3.0 + 2 * plan["domain"] / 2)
    assert (plan["cost"] - plan["extra_trials"] * price).abs().max() < 1e-9


def test_a_half_width_costs_the_trials_of_one_model(log):
    plan = log.scorio(cost="usd", by="domain").trials_needed(half_width=0.05, overall="macro")
    ada = plan.filter(model="ada")
    rounds = [10 * 1.0, 10 * 1.5, 10 * 1.0 + 10 * 1.5]  # both strata, and all of them
    assert ada["cost"].to_list() == pytest.approx(
        [e * r for e, r in zip(ada["extra_trials"], rounds, strict=True)]
    )


def test_an_unnamed_model_has_a_plan_in_money(log):
    alone = log.filter(domain=0, model="bob").scorio(cost="usd", model=None)
    needed = alone.trials_needed(half_width=0.1)
    assert needed["cost"].item() == pytest.approx(2 * needed["total"].item())


def test_unknown_costs_leave_the_money_unknown(log):
    lost = log.filter(domain=0).with_columns(usd=pl.when(pl.col("trial") > 0).then("usd"))
    assert lost.scorio(cost="usd").trials_needed()["cost"].to_list() == [None]


def test_a_plan_without_costs_has_no_money(log):
    assert "cost" not in log.scorio(by="domain").trials_needed().columns
    assert isinstance(ps.scorio(log.lazy(), cost="usd", by="domain").trials_needed(), pl.LazyFrame)
