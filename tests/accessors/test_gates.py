"""What gates and looks again and again promise, by simulation: rates are known, seeds are fixed."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps

STRATA, QUESTIONS, ROUNDS = 300, 30, 8


def counted(n, c):
    """A log of counts from trials and successes, shape (strata, models, questions)."""
    stratum, model, question = np.indices(c.shape).reshape(3, -1)
    keys = pl.DataFrame({"stratum": stratum, "model": model, "question": question})
    n, c = np.broadcast_to(n, c.shape).ravel(), c.ravel()
    return pl.concat(
        keys.with_columns(category=pl.lit(category), count=pl.Series(number))
        for category, number in ((0, n - c), (1, c))
    ).scorio(by="stratum", count="count")


def logs(margin):
    """Successes of the rounds of many pairs; the second model is worse by a margin."""
    rng = np.random.default_rng(0)
    rates = rng.beta(5, 5, (STRATA, 1, QUESTIONS))
    shift = np.array([0.0, margin])[:, None]
    share = 1 - shift / rates.mean(axis=2, keepdims=True)
    return rng.random((ROUNDS, STRATA, 2, QUESTIONS)) < rates * share


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_exactly_at_the_margin_few_gates_give_a_verdict(margin):
    hits = logs(margin)[:4].sum(axis=0)
    rows = counted(np.array(4), hits).gate(0, margin=margin).filter(pl.col("stratum").is_not_null())
    # Nominal .05 for each; the standard error of 300 logs is .0126.
    assert (rows["pvalue_pass"].fill_null(1.0) <= 0.05).mean() < 0.09
    assert (rows["pvalue_fail"].fill_null(1.0) <= 0.05).mean() < 0.09


@pytest.mark.slow
def test_looking_after_each_round_makes_false_winners_unless_it_was_planned():
    rounds = logs(0.0).cumsum(axis=0)
    winners = {}
    for name, plan in (("peeking", {}), ("anytime", {"planned_trials": ROUNDS})):
        seen = [
            counted(np.array(n), hits).compare(ps.avg(), **plan)["better"].is_not_null()
            for n, hits in enumerate(rounds, 1)
        ]
        winners[name] = np.any([one.to_numpy() for one in seen], axis=0).mean()
    assert winners["peeking"] > 0.1
    assert winners["anytime"] < 0.05


def test_the_methods_of_gates_are_lazy_where_the_frame_is():
    log = counted(np.array(4), logs(0.0)[:4, :3].sum(axis=0))
    lazy = log.frame.lazy().scorio(by="stratum", count="count")
    for ask in (lazy.gate(0, margin=0.1), lazy.regressions(0)):
        assert isinstance(ask, pl.LazyFrame)
    assert lazy.gate(0, margin=0.1).collect().height == log.gate(0, margin=0.1).height == 4
    assert lazy.regressions(0).collect().height == log.regressions(0).height == 3 * QUESTIONS
