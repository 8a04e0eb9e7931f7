"""Trials planned with assurance, against simulation and search one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.power import TrialsAhead, decision_chance, trials_with_assurance
from polars_scorio.maths.ranks import signal_share
from tests.documents import study_numbers

VECTORS = study_numbers("verdicts")["assurance"]


def sigma(m):
    return 0.06 / np.sqrt(1 + m / 10)


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case):
    diff, n, models = np.array([case["diff"]]), case["trials"], case["models"]
    now, share = np.array([case["sigma"]]), max(0, 1 - (models - 1.5) / case["Q"])

    def after(m):
        return now * np.sqrt(n / (n + m))

    z = 1.959963984540054
    chance = decision_chance(diff, now, after(100), z, share)
    assert chance[0] == pytest.approx(case["chance_at_100_more"], abs=1e-9)
    for part, found in ((share, "further_shrunk"), (1.0, "further_today")):
        extra = trials_with_assurance(diff, after, z, part, case["goal"], 1_000_000)
        assert extra.item() == case[found]


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("diff", [-0.1, 0.0, 0.03, 0.11, 0.2])
def test_is_how_often_the_later_difference_is_settled(diff, share):
    random = np.random.default_rng(1)
    now, then = 0.06, 0.02
    truth = share * diff + np.sqrt(share) * now * random.normal(size=100_000)
    # What the further trials say alone, and both together.
    news = truth + random.normal(size=100_000) / np.sqrt(1 / then**2 - 1 / now**2)
    later = then**2 * (diff / now**2 + news * (1 / then**2 - 1 / now**2))
    found = decision_chance(np.array(diff), np.array(now), np.array(then), 1.96, share)
    # Three standard errors of 100,000 draws, of a chance near 1/2.
    assert found == pytest.approx((np.abs(later) > 1.96 * then).mean(), abs=0.005)


def test_where_nothing_is_learned_a_pair_is_settled_or_not():
    diff, none = np.array([0.1, 0.2, 0.0, np.nan]), np.zeros(4)
    found = decision_chance(diff, none + 0.06, none + 0.06, 1.96, 0.5)
    np.testing.assert_array_equal(found, [0, 1, 0, np.nan])
    np.testing.assert_array_equal(decision_chance(diff, none, none, 1.96, 0.5), [1, 1, 0, np.nan])


@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("goal", [0.5, 0.8, 0.95])
def test_no_fewer_trials_do(goal, share):
    diff = np.array([-0.115, 0.02, 0.05, 0.08, 0.11])
    found = trials_with_assurance(diff, sigma, 1.96, share, goal, 20_000)
    for each, m in zip(diff, found, strict=True):
        tried = np.arange(1, 20_001)
        then = 0.06 / np.sqrt(1 + tried / 10)
        chance = decision_chance(
            np.full(tried.size, each), np.full(tried.size, 0.06), then, 1.96, share
        )
        enough = chance >= goal
        assert m == (tried[enough.argmax()] if enough.any() else 20_001)


# A pair that is open today, and goals from a coin flip on.
@given(st.floats(0.001, 0.117), st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0.5, 0.99))
def test_less_signal_needs_more_trials(diff, share, factor, goal):
    extra = [
        trials_with_assurance(np.array([diff]), sigma, 1.96, part, goal, 10**9).item()
        for part in (share * factor, share)
    ]
    assert extra[0] >= extra[1] > 0


def test_without_any_signal_no_number_is_enough():
    assert trials_with_assurance(np.array([0.05]), sigma, 1.96, 0.0, 0.8, 10**9) == 10**9 + 1


def test_settled_pairs_need_none_and_hopeless_ones_more_than_the_limit():
    diff = np.array([0.5, 0.0, np.nan, 1e-9])
    # A difference of nothing is settled by what the trials may bring, if there are enough of them.
    assert trials_with_assurance(diff, sigma, 1.96, 1.0, 0.8, 10).tolist() == [0, 11, 11, 11]


def test_a_pair_without_sigma_is_settled_unless_it_is_equal():
    found = trials_with_assurance(np.array([0.1, 0.0]), lambda m: 0.0 * m, 1.96, 1.0, 0.8, 50)
    assert found.tolist() == [0, 51]


def test_a_width_is_reached_by_the_fewest_trials():
    number = np.array([100.0, 100.0, np.nan])
    ahead = TrialsAhead(
        diff=0 * number, number=number, variance=lambda m: sigma(m) ** 2 + 0 * number
    )
    m = ahead.for_half_width(np.array([0.05, 0.2, 0.1]), 1.96, 10_000)
    assert 1.96 * sigma(m[0]) <= 0.05 < 1.96 * sigma(m[0] - 1)
    assert m[1:].tolist() == [0, 10_001]


# The study, 20,000 rows of models: share of undecided pairs that is settled, and that has a number.
@pytest.mark.parametrize(
    ("models", "spread", "settled", "planned"),
    [(2, 1, 0.75, 0.54), (2, 3, 0.86, 0.62), (5, 1, 0.80, 0.74), (10, 1, 0.81, 0.88)],
)
def test_plans_keep_their_promise_if_models_differ(models, spread, settled, planned):
    random, rows, z = np.random.default_rng(5), 6000, 1.96
    truth = spread * random.normal(size=(rows, models))
    score = truth + random.normal(size=truth.shape)
    share = signal_share(score, np.ones_like(score))
    a, b = random.permuted(np.tile(np.arange(models), (rows, 1)), axis=1)[:, :2].T
    row = np.arange(rows)
    diff, true = score[row, a] - score[row, b], truth[row, a] - truth[row, b]
    undecided = np.abs(diff) < z * np.sqrt(2)
    diff, true, share = diff[undecided], true[undecided], share[undecided]

    def after(m):
        return np.sqrt(2 / (1 + m / 100))

    extra = trials_with_assurance(diff, after, z, share, 0.8, 10**8)
    known = extra <= 10**8
    m, diff, true = extra[known], diff[known], true[known]
    later = (100 * diff + m * true + np.sqrt(200 * m) * random.normal(size=m.size)) / (100 + m)
    # Three standard errors of about 2,000 rows, and two rounded numbers.
    assert known.mean() == pytest.approx(planned, abs=0.04)
    assert (np.abs(later) > z * after(m)).mean() == pytest.approx(settled, abs=0.04)


def test_verdicts_of_today_replace_those_of_normal_intervals():
    # Both pairs are far enough apart for a normal interval; an exact one decided only the first.
    diff, today = np.array([0.2, 0.2]), np.array([True, False])
    found = trials_with_assurance(diff, sigma, 1.96, 1.0, 0.8, 10_000, today=today)
    assert trials_with_assurance(diff, sigma, 1.96, 1.0, 0.8, 10_000).tolist() == [0, 0]
    assert found.tolist() == [0, 1]
