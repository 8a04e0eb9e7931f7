"""Chances and intervals never contradict each other, whatever is compared."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

import polars_scorio as ps
from polars_scorio.maths.variance_estimates import ComparedNoise, Estimate, NoisyPairs, PairedNoise
from tests.decisions.counted import counted
from tests.documents import study_numbers
from tests.golden.logs import kinds_of_logs

# Some of the logs have copied trials, and at some confidences a judge is too poor for a number.
pytestmark = [
    pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning"),
    pytest.mark.filterwarnings("ignore::polars_scorio.JudgeWarning"),
]
KINDS = kinds_of_logs()
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
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


@pytest.mark.parametrize(
    ("successes", "n", "chances"),
    [
        # Of the study: three models with 160 of 160, one with 159, and two models.
        ([[4] * 40] * 3 + [[4] * 39 + [3]], 4, [0.25] * 4),
        ([[1] * 200, [1] * 199 + [0]], 1, [0.737, 0.263]),
        ([[4], [1]], 6, [0.922, 0.078]),
        ([[4], [0]], 6, [0.9725, 0.0275]),
    ],
)
def test_contradictions_of_the_past_are_gone(successes, n, chances):
    log = counted(np.array(successes)[None], n)
    np.testing.assert_allclose(log.rank().sort("model")["prob_best"], chances, atol=5e-4)
    if len(chances) == 2:
        assert log.compare()["prob_better"].item() == pytest.approx(chances[0], abs=5e-4)


def estimated_pair(case):
    """A pair of one stratum from the variances of both models, and the paired one."""
    most = [np.inf if case[name] is None else case[name] for name in ("most_a", "most_b")]
    mu, centre, variance, factor = np.array([case["price_a"], case["price_b"]]).T
    noisy = Estimate(mu, 1 - mu, centre, 1 - centre, variance, factor)
    paired = np.nan if case["paired_variance"] is None else case["paired_variance"]
    by = PairedNoise(np.array([[paired]]), np.array([[case["freedom"]]]))
    a, b = np.array([[0]]), np.array([[1]])
    return NoisyPairs.from_noisy(ComparedNoise(noisy, np.array(most)), a, b, by)


@pytest.mark.parametrize("case", study_numbers("repairs")["pair"], ids=lambda case: case["name"])
def test_z_and_intervals_of_pairs_are_those_of_the_study(case):
    pair = estimated_pair(case)
    assert pair.by_pairs.item() == (case["by"] == "pairs")
    assert pair.z.item() == pytest.approx(case["z"], abs=1e-9)
    assert ndtr(pair.z).item() == pytest.approx(case["prob"], abs=1e-9)
