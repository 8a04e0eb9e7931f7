"""Further questions of a plan, by a second calculation from the values of the questions."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import norm, studentized_range, t

import polars_scorio as ps
from tests.decisions.counted import counted

N = 4


@pytest.fixture(scope="module")
def successes():
    random = np.random.default_rng(3)
    rates = random.beta(2, 2, (6, 1, 20)) * 0.5 + np.linspace(0.05, 0.35, 4)[:, None]
    return random.binomial(N, np.clip(rates, 0, 1))


def sigma_then(values, m):
    """The standard error after m further questions like these, and the two that join them."""
    every = np.append(values, [-1.0, 1.0])
    weight = np.append(np.full(values.size, (values.size + m) / values.size), [1.0, 1.0])
    mean = np.average(every, weights=weight)
    return np.sqrt(np.average((every - mean) ** 2, weights=weight) / (weight.sum() - 1))


def half_width(values, m):
    """The half-width that is expected then."""
    return t.ppf(0.975, values.size + m + 1) * sigma_then(values, m)


def signal(scores):
    """B from the squared z of all pairs of models, of values of shape (L, M)."""
    models, size = scores.shape
    mean = scores.mean(axis=1)
    # The covariance has an own part of each mean, so that equal models are not surely equal.
    covariance = np.cov(scores) / size + np.eye(models) / (4 * size * (size + 1))
    pairs = [(i, j) for i in range(models) for j in range(models) if i != j]
    z = [
        (mean[i] - mean[j]) ** 2 / (covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
        for i, j in pairs
    ]
    return max(0.0, 1 - (models - 1.5) / (sum(z) / models))


def least_decided(values, m):
    """The smallest difference that an interval about the mean of all of them tells from 0."""
    size = values.size + m
    return half_width(values, m) * (size + 2) / size


def chance(values, m, share):
    """The chance that m further questions decide a pair."""
    size, square = values.size, values.var()
    now, then = square / size, square / (size + m)
    kept = then / now + (1 - then / now) * share
    needed = least_decided(values, m)
    lead, change = abs(values.mean()) * kept, np.sqrt((now - then) * kept)
    return norm.cdf((lead - needed) / change) + norm.cdf((-lead - needed) / change)


def test_no_fewer_questions_do(successes):
    rows = (
        counted(successes, N).questions_needed(ps.avg(), simultaneous=False).iter_rows(named=True)
    )
    planned = 0
    for log in successes / N:
        share = signal(log)
        order = np.argsort(-log.mean(axis=1), kind="stable")
        for a, b in pairwise(order.tolist()):
            row, values = next(rows), log[a] - log[b]
            assert (row["model_a"], row["model_b"], row["questions"]) == (a, b, 20)
            if abs(values.mean()) > least_decided(values, 0):
                assert row["extra_questions"] == 0
            elif row["extra_questions"] is None:
                assert share == 0 or chance(values, 1_000_000, share) < 0.8
            else:
                planned += 1
                extra = row["extra_questions"]
                assert chance(values, extra, share) >= 0.8 - 1e-9
                assert extra == 1 or chance(values, extra - 1, share) < 0.8 + 1e-9
                assert row["total"] == 20 + extra
                assert row["sigma"] == pytest.approx(sigma_then(values, extra))
    assert planned > 3


def test_a_width_is_reached_by_the_fewest_questions(successes):
    rows = counted(successes, N).questions_needed(ps.avg(), half_width=0.04, simultaneous=False)
    for row in rows.iter_rows(named=True):
        log = successes[row["stratum"]] / N
        values = log[row["model_a"]] - log[row["model_b"]]
        reach = [half_width(values, row["extra_questions"] - step) for step in (1, 0)]
        assert reach[1] <= 0.04 < reach[0]


def test_what_is_told_apart_today_needs_nothing(successes):
    log = counted(successes, N)
    needed = log.questions_needed(ps.avg(), simultaneous=False)
    both = log.compare(ps.avg(), target="population", simultaneous=False).filter(
        pl.col("better").is_not_null()
    )
    decided = {
        (row["stratum"], *sorted((row["model_a"], row["model_b"]))) for row in both.to_dicts()
    }
    for row in needed.iter_rows(named=True):
        key = (row["stratum"], *sorted((row["model_a"], row["model_b"])))
        assert (row["extra_questions"] == 0) == (key in decided)


def test_equal_models_have_no_difference_in_sight():
    row = counted(np.array([[[1, 3, 2, 4], [1, 3, 2, 4]]]), N).questions_needed(ps.avg()).row(0)
    assert row[3:] == (4, None, None, None, None)


@pytest.mark.parametrize("margin", [0, 0.1])
def test_a_margin_asks_for_the_questions_of_a_gate(successes, margin):
    for log in successes[:, :2, None].swapaxes(1, 2):
        one = counted(log, N).frame.scorio(count="count")
        row = one.questions_needed(ps.avg(), margin=margin).row(0, named=True)
        options = {"margin": margin, "metric": ps.avg(), "target": "population"}
        judged = one.gate(row["model_a"], **options).row(0, named=True)
        assert judged["model"] == row["model_b"]
        decided = judged["verdict"] != "undecided"
        assert (row["extra_questions"] == 0) == decided
        if not decided:
            assert row["extra_questions"] == judged["extra_questions"]


def test_a_margin_is_in_units_of_the_metric(successes):
    log = counted(successes, N)
    one = log.questions_needed(ps.avg(), margin=0.04)
    ten = log.questions_needed(ps.avg([0, 10]), margin=0.4)
    assert ten["extra_questions"].equals(one["extra_questions"])


def test_two_goals_are_refused(successes):
    with pytest.raises(ValueError, match="half_width and margin are two goals"):
        counted(successes, N).questions_needed(ps.avg(), half_width=0.1, margin=0.1)


@pytest.mark.parametrize("options", [{}, {"half_width": 0.04}], ids=str)
def test_verdicts_that_hold_at_once_need_more_questions(successes, options):
    log = counted(successes, N)
    z = studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2)
    once = log.questions_needed(ps.avg(), simultaneous=True, **options)
    alone = log.questions_needed(
        ps.avg(), confidence=2 * norm.cdf(z) - 1, **options, simultaneous=False
    )
    assert_frame_equal(once, alone)
    assert (
        once["extra_questions"]
        > log.questions_needed(ps.avg(), **options, simultaneous=False)["extra_questions"]
    ).any()


def test_a_margin_is_of_one_gate(successes):
    with pytest.raises(ValueError, match="simultaneous=True is about all pairs of models, margin="):
        counted(successes, N).questions_needed(ps.avg(), margin=0.1, simultaneous=True)


def test_weights_scale_the_widths(successes):
    log = counted(successes, N)
    one = log.questions_needed(ps.avg(), half_width=0.04)
    ten = log.questions_needed(ps.avg([0, 10]), half_width=0.4)
    assert ten["extra_questions"].equals(one["extra_questions"])
    np.testing.assert_allclose(ten["sigma"], 10 * one["sigma"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("half_width", 0, "half_width must be a positive finite number, got 0"),
        ("half_width", 50, "half_width must be at most 1, beyond which it is always met"),
        ("margin", 5, "margin must be at most 1, beyond which it is always met, got 5"),
        ("margin", -0.1, "margin must be a number that is not negative, got -0.1"),
        ("power", 1, "power must be a number between 0 and 1"),
        ("max_questions", 0, "max_questions must be a positive int, got 0"),
    ],
)
def test_refuses_what_is_no_plan(successes, option, value, message):
    with pytest.raises(ValueError, match=message):
        counted(successes, N).questions_needed(ps.avg(), **{option: value})


def test_no_trials_give_the_columns_and_no_rows(successes):
    empty = counted(successes, N).frame.clear().scorio(by="stratum", count="count")
    rows = empty.questions_needed(ps.avg())
    assert rows.columns == [
        "stratum",
        "model_a",
        "model_b",
        "questions",
        "extra_trials",
        "extra_questions",
        "total",
        "sigma",
    ]
    assert rows.height == 0
