"""Means over strata with given weights, and means of means over several columns of strata."""

import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps

KINDS = [("one", 8, [4, 4, 3, 0, 1, 2, 4, 2]), ("two", 5, [0, 1, 1, 3, 0]), ("three", 3, [4, 2, 3])]
# As many questions as the strata have: each question weighs the same.
SIZES = {name: size for name, size, _ in KINDS}
METRICS = (ps.avg(), ps.pass_at_k([1, 2, 4]), ps.pass_hat_k(2), ps.geom_at_k(2), ps.avg([0, 1]))


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    """Two models with four trials of questions in strata of 8, 5 and 3, with answers and costs."""
    rng = np.random.default_rng(3)
    rows = [
        (model, name, place, trial, int(trial < max(c - model, 0)))
        for model in (0, 1)
        for name, _, successes in KINDS
        for place, c in enumerate(successes)
        for trial in range(4)
    ]
    frame = pl.DataFrame(rows, ["model", "stratum", "question", "trial", "category"], orient="row")
    return frame.with_columns(
        usd=pl.Series(rng.uniform(0.1, 0.3, len(rows)).round(3)),
        answer=pl.when(category=1).then(0).otherwise(pl.Series(rng.integers(1, 4, len(rows)))),
        half=pl.Series(rng.integers(0, 3, len(rows)) / 2),
    )


def whole(rows: pl.DataFrame, by: str = "stratum") -> pl.DataFrame:
    """The rows over all strata."""
    return rows.filter(pl.col(by).is_null())


# Six categories of the fourth version of a leaderboard of function calls, and the weight of each:
# a quarter is the mean of three, a quarter the pool of two, a half the last one.
CALLS = [
    ("nonlive", "simple", 34, 40, Fraction(1, 12)),
    ("nonlive", "java", 6, 10, Fraction(1, 12)),
    ("nonlive", "js", 2, 5, Fraction(1, 12)),
    ("live", "simple", 16, 26, Fraction(26, 4 * 131)),
    ("live", "multiple", 77, 105, Fraction(105, 4 * 131)),
    ("turns", "turns", 31, 80, Fraction(1, 2)),
]


@pytest.fixture(scope="module")
def calls() -> pl.DataFrame:
    """One trial of each question of `CALLS`."""
    parts = [
        pl.DataFrame({"category": [1] * right + [0] * (size - right)})
        .with_row_index("question")
        .with_columns(group=pl.lit(group), part=pl.lit(part))
        for group, part, right, size, _ in CALLS
    ]
    return pl.concat(parts)


def test_given_weights_are_those_of_the_strata(calls):
    weights = {(group, part): float(weight) for group, part, _, _, weight in CALLS}
    scorio = calls.scorio(model=None, trial=None, by=["group", "part"])
    row = whole(scorio.avg(overall=weights), "group").row(0, named=True)
    expected = sum(Fraction(right, size) * weight for _, _, right, size, weight in CALLS)
    assert row["estimate"] == pytest.approx(float(expected), rel=1e-14)  # a sum of six terms
    assert round(row["estimate"], 4) == 0.5254
    assert row["lo"] < 0.5254 < row["hi"]


def test_macro_of_several_columns_is_the_mean_of_means(calls):
    scores = [(Fraction(right, size)) for _, _, right, size, _ in CALLS]
    nonlive, live, turns = sum(scores[:3]) / 3, sum(scores[3:5]) / 2, scores[5]
    for by in (["group", "part"], "part"):
        rows = calls.with_columns(part=pl.format("{} {}", "group", "part"))
        row = rows.scorio(model=None, trial=None, by=by).avg(overall="macro").row(-1, named=True)
        of_means = (nonlive + live + turns) / 3 if by != "part" else sum(scores) / 6
        assert row["estimate"] == pytest.approx(float(of_means), rel=1e-14)


def test_weights_of_strata_with_one_size_are_weights_of_their_scores(log):
    rows = log.scorio(by="stratum").report(*METRICS, overall={"one": 2, "two": 1, "three": 1})
    share = pl.col("stratum").replace_strict({"one": 0.5, "two": 0.25, "three": 0.25}, default=None)
    keys = ["model", "metric", "k"]
    expected = (
        rows.filter(pl.col("stratum").is_not_null())
        .group_by(keys, maintain_order=True)
        .agg((pl.col("estimate") * share).sum())
    )
    found = whole(rows).select(*keys, "estimate")
    # Three terms: rounding.
    assert_frame_equal(found, expected, check_row_order=False, abs_tol=1e-14)


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_equal_weights_are_macro_on_any_scale(log, target):
    scorio = log.scorio(by="stratum", target=target)
    macro = scorio.report(*METRICS, overall="macro")
    assert_frame_equal(scorio.report(*METRICS, overall=dict.fromkeys(SIZES, 1)), macro)
    # Shares of a third do not add up to 1 to the last bit.
    thirds = scorio.report(*METRICS, overall=dict.fromkeys(SIZES, 1 / 3))
    assert_frame_equal(thirds, macro, abs_tol=1e-12)


LEVELS = {"category": "half", "levels": [0, 0.5, 1]}
ROLES = [
    pytest.param(METRICS, {}, id="success"),
    pytest.param((ps.avg(), ps.max_at_k(2)), LEVELS, id="levels"),
    pytest.param((ps.vote_at_k([1, 3]),), {"answer": "answer"}, id="votes"),
    pytest.param((ps.mean_cost(), ps.cost_per_success()), {"cost": "usd"}, id="costs"),
    pytest.param((ps.bayes(), ps.pass_at_k(2)), {"prior": "uniform"}, id="posterior"),
    pytest.param((ps.avg(),), {"run": "trial"}, id="runs"),
]  # fmt: skip


@pytest.mark.filterwarnings(
    "ignore::polars_scorio.PriorWarning", "ignore::polars_scorio.RunWarning"
)
@pytest.mark.parametrize(("metrics", "roles"), ROLES)
@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_weights_by_numbers_of_questions_are_those_of_one_pool(log, metrics, roles, target):
    if target == "population" and not roles.keys().isdisjoint({"prior", "cost"}):
        pytest.skip("no such prior; costs of a sample are those of a sample of each stratum")
    scorio = log.scorio(by="stratum", target=target, **roles)
    weighted, pool = (
        whole(scorio.report(*metrics, overall=overall)) for overall in (SIZES, "micro")
    )
    # The same sums by way of weights: rounding, below the default of 1e-5.
    assert_frame_equal(weighted, pool)


@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("metric", [ps.avg(), ps.pass_at_k(2)], ids=str)
def test_decisions_take_the_weights(log, metric, target):
    scorio = log.scorio(by="stratum", target=target)

    def gate(*asked, **given):
        rows = scorio.gate(0, *asked, margin=0.1, **given)
        return rows.drop("broken", "fixed", "pvalue_broken", strict=False)

    asks = scorio.compare, scorio.rank, scorio.best, gate
    for ask in asks:
        weighted, pool = (whole(ask(metric, overall=overall)) for overall in (SIZES, "micro"))
        extra = [name for name in weighted.columns if name.startswith("extra_")]
        assert_frame_equal(weighted.drop(extra), pool.drop(extra))
        assert whole(ask(metric, overall={"one": 1, "two": 9, "three": 1})).height == pool.height


def test_a_plan_takes_the_weights(log):
    scorio = log.scorio(by="stratum")
    for options in ({}, {"half_width": 0.05}):
        weighted, pool, other = (
            whole(scorio.trials_needed(overall=overall, **options))
            for overall in (SIZES, "micro", {"one": 1, "two": 1, "three": 9})
        )
        assert_frame_equal(weighted, pool)
        assert other["extra_trials"].to_list() != pool["extra_trials"].to_list()


def test_strata_without_a_weight_and_weights_without_a_stratum_are_listed(log):
    scorio = log.scorio(by="stratum")
    message = "Strata without a weight: ['three']; weights without a stratum: ['four']."
    for ask in (scorio.avg, scorio.compare, scorio.rank, scorio.leaderboard, scorio.trials_needed):
        with pytest.raises(ValueError, match=re.escape(message)):
            ask(overall={"one": 1, "two": 1, "four": 1})
    plan = log.lazy().scorio(by="stratum").avg(overall={"one": 1})
    with pytest.raises(ValueError, match=r"Strata without a weight: \['three', 'two'\]"):
        plan.filter(stratum="one").collect()
    with pytest.raises(ValueError, match=r"of stratum, model.* without a weight: \[\('one', 0\)"):
        log.scorio(by=["stratum", "model"], model=None).avg(overall={"one": 1})


@pytest.mark.parametrize("weight", [0, -1, float("nan"), "2", True])
def test_weights_are_positive_numbers(log, weight):
    with pytest.raises(ValueError, match=r"overall\['one'\] must be a positive finite number, got"):
        log.scorio(by="stratum").avg(overall={**SIZES, "one": weight})


def test_weights_need_strata(log):
    with pytest.raises(ValueError, match=r"overall=\{'one': 1\} needs strata"):
        log.scorio().avg(overall={"one": 1})
    with pytest.raises(ValueError, match="not for means over strata"):
        log.scorio(by="stratum").report(ps.pass_at_k([1, 2]), simultaneous=True, overall=SIZES)
