"""Verdicts and ranks where little is known of the models, and planned pairs."""

from itertools import combinations
from math import sqrt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.maths.comparison import Family
from polars_scorio.study.posterior import posterior_comparison
from tests.decisions.counted import counted
from tests.made_logs import long

pytestmark = [
    pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning"),
    pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning"),  # made logs are sure
]
RANKS = ["rank", "rank_lo", "rank_hi", "prob_best"]
INFERENCES = ["uniform", "population", None]
ASKED = [
    *({"prior": each} for each in INFERENCES),
    {"target": "population"},
]


# --- models of which little is known


@pytest.mark.parametrize("options", ASKED, ids=str)
@pytest.mark.parametrize("simultaneous", [False, True])
def test_one_model_is_the_first_and_the_last(options, simultaneous):
    log = long([[1, 0], [1, 1], [0, 0]], "a").scorio
    rows = log.rank(ps.avg(), simultaneous=simultaneous, **options)
    assert rows.select(RANKS).rows() == [(1, 1, 1, 1.0)]
    with pytest.warns(UserWarning, match="nothing to compare"):
        pairs = log.compare(ps.avg(), simultaneous=simultaneous, **options)
    assert pairs.height == 0
    assert pairs.schema["better"] == pl.String


@pytest.mark.parametrize("options", ASKED, ids=str)
def test_identical_models_share_all_ranks(options):
    log = pl.concat([long([[1, 0], [1, 1], [0, 0]], model) for model in "abc"]).scorio
    rows = log.rank(ps.avg(), **options)
    assert rows.select("rank", "rank_lo", "rank_hi").unique().rows() == [(1, 1, 3)]
    # A third is rounded.
    assert rows["prob_best"].to_list() == pytest.approx([1 / 3] * 3)
    pairs = log.compare(ps.avg(), simultaneous=True, **options)
    assert pairs.select("diff", "z", "prob_better").unique().rows() == [(0, 0, 0.5)]
    assert pairs["better"].null_count() == 3


@pytest.mark.every(3)
@pytest.mark.parametrize("options", ASKED, ids=str)
@pytest.mark.parametrize("models", [3, 11])
def test_equal_data_get_equal_numbers(options, models):
    random = np.random.default_rng(models)
    values = random.binomial(1, random.random((23, 1)), (models, 23, 4))
    values[-1] = values[1]
    log = pl.concat([long(each.tolist(), f"m{name:02}") for name, each in enumerate(values)]).scorio
    twins = {"m01": "twin", f"m{models - 1:02}": "twin"}
    for simultaneous in (False, True):
        rows = log.rank(ps.avg(), simultaneous=simultaneous, **options)
        both = rows.filter(pl.col("model").is_in(twins.keys())).drop("model", "z_next")
        assert_frame_equal(both[:1], both[1:], abs_tol=1e-12, rel_tol=1e-12)
        pairs = log.compare(ps.avg(), simultaneous=simultaneous, baseline="m00", **options)
        against = pairs.filter(pl.col("model_a").is_in(twins.keys())).drop("model_a", "better")
        assert_frame_equal(against[:1], against[1:], abs_tol=1e-12, rel_tol=1e-12)


def test_without_any_sigma_the_order_is_certain_and_equals_share():
    log = pl.concat([long([[1, 2]], model) for model in "abc"])
    # Each category has the same weight: nothing is at stake.
    rows = log.scorio.rank(ps.bayes([1, 1, 1]))
    # A third is rounded, by far less than the default of 1e-6.
    assert rows.select(RANKS).rows() == [(1, 1, 3, pytest.approx(1 / 3))] * 3


def test_some_models_without_sigma_stay_where_they_are():
    mu, sigma = np.array([[0.5, 0.6, 0.6, 0.55]]), np.array([[0.0, 0.0, 0.0, 0.3]])
    scores = posterior_comparison(ps.bayes(bounds=None), mu, sigma, beta=False)
    a, b = np.triu_indices(4, 1)
    differs, _ = Family(0.95, "all pairs").verdicts(scores, a, b)
    assert differs[0].tolist() == [True, True, False, False, False, False]
    decided = scores.decided(a, b, np.full((1, 6), 2.0))
    assert decided[0].tolist() == [True, True, False, False, False, False]
    assert scores.z(a, b)[0, 0] == -np.inf


def test_saturated_models_leave_something_open():
    log = pl.concat([long([[1] * 4] * 10, "all"), long([[1] * 4] * 10, "too")]).scorio
    row = log.compare(ps.avg()).row(0, named=True)
    assert (row["diff"], row["better"]) == (0, None)
    assert -0.5 < row["lo"] < -0.05
    # The ends mirror each other but for rounding, far below the default of 1e-6.
    assert row["hi"] == pytest.approx(-row["lo"])


def test_predictions_are_not_ranked():
    log = pl.concat(
        [
            long([[1, 0, 1], [0, 0, 1], [1, 1, 1]], "c"),
            long([[0, 0, 1], [0, 1, 0], [1, 0, 1]], "a"),
            long([[1], [1], [1]], "b"),
        ]
    ).scorio
    rows = log.rank(ps.pass_at_k(2))
    assert rows["model"].to_list() == ["c", "a", "b"]
    assert rows["rank"].to_list() == [1, 2, None]
    assert rows.row(2, named=True)["rank_hi"] is None
    assert rows.select(*RANKS, "rank_tied", "sigma", "z_next")[2].null_count().row(0) == (1,) * 7
    assert rows["rank_hi"].to_list()[:2] == [2, 2]
    assert rows.select("estimate", "lo", "hi").null_count().row(0) == (1, 0, 0)
    pairs = log.compare(ps.pass_at_k(2), simultaneous=True)
    ahead = pairs.filter((pl.col("model_a") == "b") | (pl.col("model_b") == "b"))
    assert ahead.select("sigma", "z", "prob_better", "better").null_count().row(0) == (2,) * 4
    assert (ahead["lo"] <= ahead["diff"]).all()
    assert pairs["sigma"].null_count() == 2


def test_models_without_an_estimate_leave_the_others_alone():
    log = pl.concat(
        [
            *(
                long([[int(rate > q / 9)] * 3 for q in range(9)], m)
                for m, rate in (("a", 1), ("b", 0.2))
            ),
            long([[1]] * 9, "c"),
        ]
    ).scorio
    options = {"target": "population", "simultaneous": True}
    rows = log.rank(ps.pass_at_k(2), **options)
    assert rows.select("model", "rank", "rank_lo", "rank_hi").rows()[2] == ("c", None, None, None)
    two = log.frame.filter(pl.col("model") != "c").scorio.rank(ps.pass_at_k(2), **options)
    # Beside a third model the directions of the draws are others: the last digits of prob_best.
    assert_frame_equal(rows[:2], two, abs_tol=0.01)


@pytest.mark.parametrize("simultaneous", [0, "no", None])
def test_simultaneous_is_a_flag(simultaneous):
    for method in ("compare", "rank"):
        with pytest.raises(TypeError, match=r"^simultaneous must be "):
            getattr(long([[1]]).scorio, method)(simultaneous=simultaneous)


# --- plans


@pytest.mark.slow
@pytest.mark.parametrize("goal", [0.5, 0.8])
def test_planned_pairs_are_told_apart_as_often_as_promised(goal):
    random = np.random.default_rng(11)
    # Rates are as uniform as the prior, and models differ by about their standard errors.
    rates, n = random.random((400, 2, 10)), 8
    now = random.binomial(n, rates)
    plan = counted(now, n).trials_needed(power=goal, confidence=0.9).drop_nulls()
    found = []
    for stratum, extra in (
        plan.filter(pl.col("extra_trials") > 0).select("stratum", "extra_trials").iter_rows()
    ):
        more = now[stratum] + random.binomial(extra, rates[stratum])
        better = counted(more[None], n + extra).compare(confidence=0.9)["better"].item()
        found.append(better is not None)
    # Three standard errors. Two models tell little of luck and lead: the plan may be cautious.
    spread = 3 * sqrt(goal * (1 - goal) / len(found))
    assert goal - spread < np.mean(found) < goal + 0.15 + spread


def test_what_is_told_apart_today_needs_nothing(spread):
    plan = spread.trials_needed(simultaneous=False)
    pairs = spread.compare(simultaneous=False)
    keys = ["stratum", "model_a", "model_b"]
    ours = [frozenset(row[1:]) | {("s", row[0])} for row in plan.select(keys).iter_rows()]
    better = {
        frozenset(row[1:3]) | {("s", row[0])}: row[3]
        for row in pairs.select(*keys, "better").iter_rows()
    }
    assert [extra == 0 for extra in plan["extra_trials"]] == [
        better[key] is not None for key in ours
    ]
    assert plan["extra_trials"].min() == 0


def test_more_assurance_needs_more_trials(spread):
    needs = [
        spread.trials_needed(power=each, confidence=0.999, max_trials=10**15)["extra_trials"]
        for each in (0.8, 0.9, 0.99)
    ]
    undecided = (needs[0] > 0).fill_null(value=False)
    assert undecided.sum() > 2
    needs = [each.filter(undecided).to_numpy() for each in needs]
    for fewer, more in combinations(needs, 2):
        assert (fewer < more).all()


def test_an_undecided_pair_needs_at_least_one_trial():
    # The normal interval of this difference lies above zero, that of both models does not.
    log = counted(np.array([[[4], [0]]]), 8)
    assert log.compare(confidence=0.99)["better"].item() is None
    assert log.trials_needed(confidence=0.99)["extra_trials"].item() >= 1
