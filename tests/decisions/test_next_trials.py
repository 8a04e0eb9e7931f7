"""Where to spend the next trials: the numbers by fractions, one trial after the other."""

from fractions import Fraction
from heapq import heapify, heapreplace
from math import sqrt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.decisions.plan_cases import KEYS, METRIC, ROLES
from tests.made_logs import drawn, long, outcomes
from tests.moments import left, questions

SIGMAS = ["sigma", "sigma_equal", "sigma_next"]


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def greedy(parts: dict[object, list[list[int]]], budget: int, *, observed: bool) -> list[list[int]]:
    """One trial after the other, each where the sum of the squared sigmas falls most."""
    every = [(name, i) for name, counts in parts.items() for i in range(len(counts))]

    def gain(place: int, m: int) -> Fraction:
        name, i = every[place]
        own = parts[name][i]
        fall = left(own, m, observed=observed) - left(own, m + 1, observed=observed)
        return fall / len(parts[name]) ** 2

    spent = [0] * len(every)
    heap = [(-gain(place, 0), place) for place in range(len(every))]
    heapify(heap)
    for _ in range(budget):
        place = heap[0][1]
        spent[place] += 1
        heapreplace(heap, (-gain(place, spent[place]), place))
    return spent


def total(parts, spent: list[int], *, observed: bool) -> dict[object, float]:
    """Squared sigma of each group after these trials."""
    spent, squares = iter(spent), {}
    for name, counts in parts.items():
        every = [left(c, next(spent), observed=observed) for c in counts]
        squares[name] = float(sum(every)) / len(counts) ** 2
    return squares


@pytest.fixture
def uneven(log):
    """A stratum in which each model has questions of its own."""
    few = {"a": 7, "b": 4, "c": 2}
    within = pl.col("question") < pl.col("model").replace_strict(few)
    return log.filter((pl.col("domain") == "air") | within)


def groups(log: pl.DataFrame) -> dict[object, list[list[int]]]:
    keys = log.select(KEYS).unique().sort(KEYS).rows()
    return {key: questions(log, *key) for key in keys}


@METRIC
@pytest.mark.parametrize("budget", [1, 10, 333])
def test_the_budget_is_spent_where_it_gains_most(uneven, metric, observed, budget):
    parts = groups(uneven)
    rows = uneven.scorio(**ROLES).next_trials(budget, metric)
    assert rows.columns == [*KEYS, "question", "trials", "extra_trials"]
    keys = uneven.select(*KEYS, "question").unique().sort(*KEYS, "question")
    assert rows.select(keys.columns).equals(keys)
    assert rows["trials"].to_list() == [sum(c) for counts in parts.values() for c in counts]
    assert rows["extra_trials"].sum() == budget
    best = greedy(parts, budget, observed=observed)
    # Different questions may gain the same; fractions and floats take turns of their own then.
    found = total(parts, rows["extra_trials"].to_list(), observed=observed)
    optimum = total(parts, best, observed=observed)
    # Both squares are exact until each is rounded to a float; then six of them are added.
    assert sum(found.values()) == pytest.approx(sum(optimum.values()), rel=1e-14)
    assert np.abs(rows["extra_trials"].to_numpy().astype(int) - best).sum() <= 4


@METRIC
def test_the_summary_has_the_sigma_of_each_model(uneven, metric, observed):
    parts, budget = groups(uneven), 100
    accessor = uneven.scorio(**ROLES)
    single, rows = accessor.next_trials(budget, metric), accessor.next_trials(
        budget, metric, per="model"
    )  # fmt: skip
    assert {*rows.columns} == {*KEYS, "questions", "trials", "extra_trials", *SIGMAS}
    sums = single.group_by(KEYS, maintain_order=True).agg(
        pl.len().alias("questions"), pl.col("trials", "extra_trials").sum()
    )
    # Keys and whole numbers only: no tolerance is needed.
    assert_frame_equal(rows.select(sums.columns), sums)
    report = accessor.report(metric)
    # The report takes the root of the same sum of variances: the last bits.
    np.testing.assert_allclose(rows["sigma"], report["sigma"], rtol=1e-14)
    each, rest = divmod(budget, single.height)
    equal = [each + (i < rest) for i in range(single.height)]
    for name, spent in (("sigma_equal", equal), ("sigma_next", single["extra_trials"].to_list())):
        squares = total(parts, spent, observed=observed)
        # The oracle is exact until the last root; variances as floats cancel some digits.
        np.testing.assert_allclose(rows[name], [sqrt(v) for v in squares.values()], rtol=1e-12)
    assert (rows["sigma_next"] ** 2).sum() < (rows["sigma_equal"] ** 2).sum()


@pytest.mark.parametrize(("models", "kept"), [("b", ["b"]), (["c", "a"], ["a", "c"])])
@pytest.mark.parametrize("per", ["question", "model"])
def test_one_may_spend_on_some_models_only(uneven, models, kept, per):
    rows = uneven.scorio(**ROLES).next_trials(50, models=models, per=per)
    some = uneven.filter(pl.col("model").is_in(kept)).scorio(**ROLES).next_trials(50, per=per)
    assert_frame_equal(rows, some, check_exact=True)
    assert rows["extra_trials"].sum() == 50


def test_one_unnamed_model_gets_it_all(log):
    rows = log.filter(model="b").scorio(model=None, **ROLES).next_trials(50)
    named = log.filter(model="b").scorio(**ROLES).next_trials(50)
    # Keys and whole numbers only: no tolerance is needed.
    assert_frame_equal(rows, named.drop("model"))
    summary = log.filter(model="b").scorio(model=None, trial=None, success=2).next_trials(
        50, per="model"
    )  # fmt: skip
    assert {*summary.columns} == {"questions", "trials", "extra_trials", *SIGMAS}


def test_prior_trials_make_a_question_surer(log):
    prior = long([[0, 2] * 20]).drop("model").with_columns(question=pl.lit(3, pl.Int64))
    accessor = log.filter(domain="air").scorio(success=2, prior="uniform")
    rows = accessor.next_trials(60, ps.bayes(), prior=prior)
    plain = accessor.next_trials(60, ps.bayes())
    assert (
        rows.filter(question=3)["extra_trials"].sum()
        < plain.filter(question=3)["extra_trials"].sum()
    )
    assert rows["trials"].to_list() == plain["trials"].to_list()
    average = accessor.next_trials(60, ps.avg(), prior=prior)
    # Keys and whole numbers only: no tolerance is needed.
    assert_frame_equal(average, accessor.next_trials(60, ps.avg(), prior=None))


def test_with_partial_pooling_the_fitted_prior_counts(log):
    accessor = log.filter(domain="air").scorio(success=2)
    rows = accessor.next_trials(90, ps.bayes(), prior="population")
    single = accessor.report(ps.bayes(), prior="population", per="question")
    mean, v = single["mu"].to_numpy(), single["sigma"].to_numpy() ** 2
    trial = mean * (1 - mean) - v
    m = rows["extra_trials"].to_numpy().astype(float)
    gain, last = (trial / (trial / v + m + i) for i in (0, 1)), m > 0
    one, other = gain
    before = trial / (trial / v + m - 1)
    # No trial that was spent gains less than one that was not.
    assert (before - one)[last].min() >= (one - other).max() * (1 - 1e-9)
    assert m.sum() == 90
    summary = accessor.next_trials(90, ps.bayes(), prior="population", per="model")
    report = accessor.report(ps.bayes(), prior="population")
    # One fit for both, whose variances are added up again: rounding.
    np.testing.assert_allclose(summary["sigma"], report["sigma"], rtol=1e-12)
    # What the questions share shrinks with the square of the share that is left.
    for i, own in enumerate(summary.iter_rows(named=True)):
        part = slice(7 * i, 7 * i + 7)
        now, share = v[part].sum() / 49, one[part].sum() / v[part].sum()
        square = now * share + (own["sigma"] ** 2 - now) * share**2
        # The share comes from squares of sigmas that are subtracted: some digits are lost.
        assert own["sigma_next"] == pytest.approx(sqrt(square), rel=1e-9)


@pytest.mark.parametrize("per", ["question", "model"])
@pytest.mark.parametrize("options", [{}, {"prior": "population"}], ids=["none", "partial"])
def test_the_order_of_rows_does_not_matter(log, per, options):
    expected = log.sort(pl.all()).scorio(**ROLES).next_trials(77, per=per, **options)
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        rows = shuffled.scorio(**ROLES).next_trials(77, per=per, **options)
        assert_frame_equal(rows, expected, check_exact=True)


def test_of_equal_questions_the_first_get_what_is_left():
    rows = outcomes({(2, 1): 5}).scorio.next_trials(8)
    assert rows["extra_trials"].to_list() == [2, 2, 2, 1, 1]


def test_questions_that_are_always_right_get_few_trials():
    log = outcomes({(32, 32): 10, (32, 16): 10})
    rows = log.scorio.next_trials(640)
    assert rows["extra_trials"].to_list() == [0] * 10 + [64] * 10
    summary = log.scorio.next_trials(640, per="model").row(0, named=True)
    assert summary["sigma_next"] < 0.9 * summary["sigma_equal"] < 0.9 * summary["sigma"]


def test_two_hundred_thousand_questions_are_not_too_many():
    size = 200_000
    n, c = np.random.default_rng(2).integers(1, 9, size), np.arange(size) % 7
    questions = np.arange(size)
    log = pl.DataFrame(
        {
            "question": np.concatenate([questions, questions]),
            "category": np.repeat([0, 1], size),
            "n": np.concatenate([n, c]),
        }
    )
    rows = log.scorio(model=None, count="n").next_trials(size, ps.bayes(), prior="uniform")
    assert rows["extra_trials"].sum() == size
    assert rows["question"].to_numpy().tolist() == questions.tolist()
    nu = np.stack([1 + n, 1 + c]).astype(float)
    total = nu.sum(axis=0)
    a, m = nu.prod(axis=0) / (total * (total + 1)), rows["extra_trials"].to_numpy().astype(float)

    def gain(m):
        return a / ((total + m) * (total + m + 1))

    assert gain(m - 1)[m > 0].min() >= gain(m).max() * (1 - 1e-12)
