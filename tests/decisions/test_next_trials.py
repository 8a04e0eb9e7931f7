"""Where to spend the next trials: one trial after the other, by the posteriors of the report."""

import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.decisions.plan_cases import KEYS, ROLES
from tests.made_logs import drawn, outcomes
from tests.moments import questions

QUESTIONS = [*KEYS, "question"]


@pytest.fixture
def log():
    """Each model has questions of its own in one of two strata."""
    few = pl.col("model").replace_strict({"a": 7, "b": 4, "c": 2})
    return drawn(6, range(7), most=5).filter(
        (pl.col("domain") == "air") | (pl.col("question") < few)
    )


def greedy(noise: np.ndarray, n: np.ndarray, budget: int) -> list[int]:
    """One trial after the other, each where the sum of the variances falls most."""
    spent = np.zeros_like(n)
    for _ in range(budget):
        size = n + spent
        spent[np.argmax(noise / size - noise / (size + 1))] += 1
    return spent.tolist()


@pytest.mark.parametrize("budget", [1, 10, 333])
def test_each_trial_goes_where_the_variance_falls_most(log, budget):
    accessor = log.scorio(by="domain", success=2)
    rows = accessor.next_trials(budget)
    assert rows.columns == [*QUESTIONS, "trials", "extra_trials"]
    assert rows.select(QUESTIONS).equals(log.select(QUESTIONS).unique().sort(QUESTIONS))
    # A question of the report has the variance of a trial over its trials.
    single = accessor.report(ps.avg(), prior="population", per="question")
    n, sizes = single["trials"].to_numpy().astype(int), pl.len().over(KEYS)
    noise = single["sigma"].to_numpy() ** 2 * n / single.select(sizes).to_series().to_numpy() ** 2
    assert rows["trials"].to_list() == n.tolist()
    assert rows["extra_trials"].to_list() == greedy(noise, n, budget)


def test_categories_have_the_variance_of_their_uniform_posterior(log):
    w = [0.1, 0.3, 0.7]
    air = log.filter(domain="air", model="a")
    rows = air.scorio(by=None).next_trials(40, ps.avg(w))
    nu = 1 + np.array(questions(air, "air", "a"))
    total = nu.sum(axis=1)
    share = nu / total[:, None]
    noise = (share @ np.square(w) - (share @ w) ** 2) * total / (total + 1)
    assert rows["extra_trials"].to_list() == greedy(noise, total - 3, 40)


def test_a_model_whose_interval_is_narrow_gets_nothing(log):
    accessor = log.scorio(by="domain", success=2)
    report = accessor.avg().select(*KEYS, half=(pl.col("hi") - pl.col("lo")) / 2)
    widest, narrowest = report["half"].max(), report["half"].min()
    spent = accessor.next_trials(1_000, half_width=(widest + narrowest) / 2)
    trials = spent.group_by(KEYS).agg(pl.col("extra_trials").sum()).join(report, on=KEYS)
    narrow = trials["half"] <= (widest + narrowest) / 2
    assert (trials["extra_trials"] == 0).to_list() == narrow.to_list()
    assert accessor.next_trials(1_000, half_width=widest)["extra_trials"].sum() == 0


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_width_is_expected_with_the_last_trial_and_not_before(confidence):
    log = outcomes({(8, 4): 6, (8, 1): 6, (8, 8): 6}).scorio(confidence=confidence)
    row = log.avg().row(0, named=True)
    half_width = (row["hi"] - row["lo"]) / 4
    extra = log.next_trials(10_000, half_width=half_width)["extra_trials"].to_numpy()
    single = log.report(ps.avg(), prior="population", per="question")
    noise = 8 * single["sigma"].to_numpy() ** 2
    fewer = np.array(greedy(noise, 8 + 0 * extra, int(extra.sum()) - 1))
    left = [(noise / (8 + spent)).sum() for spent in (extra, fewer)]
    goal = (noise / 8).sum() / 4
    assert left[0] <= goal < left[1]


def test_batches_stop_once_the_interval_is_narrow():
    random, rates = np.random.default_rng(3), np.linspace(0, 1, 40)
    n = np.full(40, 4)
    c = random.binomial(n, rates)
    for _ in range(20):
        totals = pl.DataFrame({"model": "m", "question": range(40), "n": n, "c": c})
        log = ps.from_successes(totals).scorio(count="count")
        extra = log.next_trials(60, half_width=0.04)["extra_trials"].to_numpy().astype(int)
        if not extra.any():
            break
        n, c = n + extra, c + random.binomial(extra, rates)
    row = log.avg().row(0, named=True)
    assert (row["hi"] - row["lo"]) / 2 <= 0.04
    assert row["trials"] > 160


def test_one_unnamed_model_gets_it_all(log):
    rows = log.filter(model="b").scorio(model=None, **ROLES).next_trials(50)
    named = log.filter(model="b").scorio(**ROLES).next_trials(50)
    # Keys and whole numbers only: no tolerance is needed.
    assert_frame_equal(rows, named.drop("model"))


def test_the_order_of_rows_does_not_matter(log):
    expected = log.sort(pl.all()).scorio(**ROLES).next_trials(77)
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        assert_frame_equal(shuffled.scorio(**ROLES).next_trials(77), expected, check_exact=True)


def test_of_equal_questions_the_first_get_what_is_left():
    rows = outcomes({(2, 1): 5}).scorio.next_trials(8)
    assert rows["extra_trials"].to_list() == [2, 2, 2, 1, 1]


def test_questions_that_are_always_right_get_few_trials():
    rows = outcomes({(32, 32): 10, (32, 16): 10}).scorio.next_trials(640)
    assert rows["extra_trials"].to_list() == [0] * 10 + [64] * 10


def test_weights_without_a_spread_get_nothing():
    rows = outcomes({(2, 1): 5}).scorio.next_trials(8, ps.avg([2, 2]))
    assert rows["extra_trials"].to_list() == [0] * 5


def test_an_empty_log_gets_no_trials(log):
    rows = log.clear().scorio(**ROLES).next_trials(5)
    assert rows.height == 0
    assert rows.schema == log.scorio(**ROLES).next_trials(5).schema


def test_a_hundred_thousand_questions_are_not_too_many():
    size = 100_000
    n, c = np.random.default_rng(2).integers(1, 9, size), np.arange(size) % 7
    totals = pl.DataFrame({"model": "m", "question": range(size), "n": n + c, "c": c})
    rows = ps.from_successes(totals).scorio(count="count").next_trials(size)
    assert rows["extra_trials"].sum() == size
    assert rows["question"].to_list() == [*range(size)]
    assert math.isclose(rows["trials"].sum(), (n + c).sum())
