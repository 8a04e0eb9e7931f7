"""Chances and intervals never contradict each other, whatever is compared."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.differences import difference_numbers
from tests.golden.logs import kinds_of_logs
from tests.maths.interval_oracle import interval

# Some of the logs have copied trials, and at some confidences a judge is too poor for a number.
pytestmark = [
    pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning"),
    pytest.mark.filterwarnings("ignore::polars_scorio.JudgeWarning"),
]
KINDS = kinds_of_logs()
LEVELS = (0.5, 0.9, 0.99)
# Beside the averages of all logs: what else is compared.
METRICS = {
    "costs": (ps.mean_cost(), ps.cost_per_success()),
    "votes": (ps.vote_at_k(3),),
    "equal trials": (ps.avg(), ps.pass_at_k(2), ps.pass_hat_k(4), ps.geom_at_k(2)),
    "known judge": (ps.avg(), ps.pass_at_k(2)),
}
OPTIONS = {
    "default": {},
    "population": {"target": "population"},
    "uniform": {"prior": "uniform"},
    "fitted": {"prior": "population"},
}


def cases():
    """A log, a metric and options that go together."""
    for name, kind in KINDS.items():
        if name == "prior trials":
            continue
        for metric in METRICS.get(name, (ps.avg(),)):
            for option, chosen in OPTIONS.items():
                every = option == "default" or (name, metric) == ("equal trials", ps.avg())
                sampled = option == "population" and "judge" not in name and name != "votes"
                if every or sampled:
                    yield pytest.param(kind, metric, chosen, id=f"{name}, {metric.name}, {option}")


@pytest.mark.every(3)
@pytest.mark.parametrize(("kind", "metric", "options"), [*cases()])
def test_the_chance_of_a_pair_is_where_its_interval_stops_to_hold_zero(kind, metric, options):
    log = kind.frame.scorio(**kind.roles)
    rows = log.compare(metric, **options, simultaneous=False)
    sure = (rows["prob_better"] - 0.5).abs() + 0.5
    none = 1.0 if metric.looks_at == "costs" else 0.0
    for level in LEVELS:
        shown = log.compare(metric, confidence=level, **options, simultaneous=False)
        excludes = ((shown["lo"] > none) | (shown["hi"] < none)).to_numpy()
        np.testing.assert_array_equal((sure > (1 + level) / 2).to_numpy(), excludes)
        assert (shown["better"].is_not_null().to_numpy() == excludes).all()
    better = pl.when(rows["z"] > 0).then("model_a").when(rows["z"] < 0).then("model_b")
    np.testing.assert_allclose(ndtr(rows["z"]), rows["prob_better"], rtol=1e-12)
    won = rows.select(better.alias("won"), "better").drop_nulls()
    assert (won["won"] == won["better"]).all()


@pytest.mark.every(3)
@pytest.mark.parametrize(("kind", "metric", "options"), [*cases()])
def test_chances_to_be_the_best_agree_with_pairs_and_with_the_order(kind, metric, options):
    log = kind.frame.scorio(**kind.roles)
    strata = [*kind.roles.get("by", "").split()]
    ranks = log.rank(metric, **options)
    numbered = "mu" if "mu" in ranks.columns else "estimate"
    for part in ranks.partition_by(strata) if strata else [ranks]:
        assert part["prob_best"].sum() == pytest.approx(1)
        sign = -1 if metric.looks_at == "costs" else 1
        numbers = sign * part.select(numbered, "lo", "hi").to_numpy()
        chance = part["prob_best"].to_numpy()
        for row, mine in enumerate(numbers):
            as_good = (mine >= numbers - 1e-12).all(axis=1)
            assert (chance[row] >= chance[as_good] - 1e-12).all()
    two = sorted(kind.frame["model"].unique())[:2]
    pair = kind.frame.filter(pl.col("model").is_in(two)).scorio(**kind.roles)
    best = pair.rank(metric, **options).filter(model=two[0])["prob_best"]
    np.testing.assert_allclose(best, pair.compare(metric, **options)["prob_better"], atol=1e-12)


@given(st.lists(st.integers(0, 6), min_size=12, max_size=12), st.sampled_from([1, 2, 6]))
def test_equal_data_have_equal_chances(successes, n):
    c = np.minimum(np.array(successes).reshape(1, 3, 4), n)
    rows = counted(np.concatenate([c, c], axis=1), n).rank().sort("model")
    np.testing.assert_allclose(rows["prob_best"][:3], rows["prob_best"][3:], atol=1e-9)


@given(st.lists(st.integers(0, 4), min_size=16, max_size=16), st.sampled_from([1, 4]))
def test_swapping_two_models_mirrors_their_chance(successes, n):
    c = np.minimum(np.array(successes).reshape(1, 2, 8), n)
    there, back = (counted(each, n).compare()["z"].item() for each in (c, c[:, ::-1]))
    assert there == pytest.approx(-back, abs=1e-9)


def test_models_that_are_alike_have_equal_chances():
    # Three models with 160 of 160, and one with 159.
    log = counted(np.array([[4] * 40] * 3 + [[4] * 39 + [3]])[None], 4)
    np.testing.assert_allclose(log.rank()["prob_best"], 0.25, atol=5e-4)


def chance_to_be_better(a, b):
    """By the intervals of two models with c of n successes at one question each."""

    def end(z):
        at = 2 * ndtr(z) - 1
        u, _, lo, _ = interval(*([x] for x in a), [0, 1], confidence=at)
        v, _, _, hi = interval(*([x] for x in b), [0, 1], confidence=at)
        return u - v - np.hypot(u - lo, hi - v)

    return ndtr(brentq(end, 0.01, 8))


@pytest.mark.parametrize(
    ("successes", "n", "chance"),
    [
        ([[1] * 200, [1] * 199 + [0]], 1, difference_numbers([1] + [0] * 199, 1)[3]),
        ([[4], [1]], 6, chance_to_be_better((6, 4), (6, 1))),
        ([[4], [0]], 6, chance_to_be_better((6, 4), (6, 0))),
    ],
)
def test_the_better_of_two_is_the_best_with_the_chance_of_the_pair(successes, n, chance):
    log = counted(np.array(successes)[None], n)
    np.testing.assert_allclose(log.rank().sort("model")["prob_best"], [chance, 1 - chance])
    assert log.compare()["prob_better"].item() == pytest.approx(chance)
