"""The interval on one page: published vectors, an oracle in plain loops, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.credit_numbers import Measurement
from polars_scorio.maths.credits import EndDraw, fixed_gains
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    at_least_share,
    excess_over_half,
    majority_gains,
)
from polars_scorio.maths.interval import Weighted, credit_estimates, mean_noises
from polars_scorio.maths.questions import States, Subgroups
from tests.documents import study_numbers
from tests.made_logs import law
from tests.maths import interval_oracle as oracle

GAINS = {
    "avg": lambda _: np.ones(1),
    "pass": any_success,
    "hat": all_success,
    "maj": majority_gains,
    "gp": lambda k: at_least_share(k, 0.75),
    "mg": excess_over_half,
    "auc": lambda k: area_under_curve(k) if k > 1 else np.ones(1),
}
VECTORS = study_numbers("interval")


def asked(n, c, weights=None, group=None):
    """Questions of one group, or of some groups, that weigh the same or as their strata do."""
    n, c = np.asarray(n), np.asarray(c)
    group = np.zeros(n.size, np.int64) if group is None else group
    counts, one = np.stack([n - c, c], axis=1), np.ones(n.size, np.int64)
    groups = int(group.max(initial=-1)) + 1
    states = States.tally(counts, 0 * counts, group, one, groups)
    if weights is None:
        return Weighted(states)
    part = np.unique(weights, return_inverse=True)[1]
    return Weighted(states, Subgroups.tally(counts, 0 * counts, group, part, one, groups))


@pytest.mark.parametrize(
    "case", VECTORS, ids=lambda x: f"{x['log']} {x['metric']}@{x['k']} {x['confidence']}"
)
def test_published_vectors(case):
    gains = fixed_gains(GAINS[case["metric"]](case["k"]))
    noisy = credit_estimates(asked(case["n"], case["c"], case.get("weights")), [gains]).at(0)
    lo, hi = noisy.ends((1 - case["confidence"]) / 2)
    found = {"estimate": noisy.estimate, "sigma": noisy.sigma, "lo": lo, "hi": hi}
    # Of 10^9 trials in one question the vector has a normal quantile, and the package a Beta one.
    near = 2e-9 if case["log"] == "BIG1" else 1e-9
    for name, number in {**found, "F": noisy.factor}.items():
        assert number[0] == pytest.approx(case[name], abs=near, rel=0), name
    if case["N"] is not None:
        assert noisy.effective[0] == pytest.approx(case["N"], rel=1e-5)


@pytest.mark.parametrize(
    "case", study_numbers("interval_range"), ids=lambda x: f"{x['log']} {x['metric']}@{x['k']}"
)
def test_published_ranges_beyond_the_trials(case):
    gains = fixed_gains(GAINS[case["metric"]](case["k"]))
    ends = [EndDraw(gains, upper=upper) for upper in (False, True)]
    every = credit_estimates(asked(case["n"], case["c"]), ends)
    low, high = every.at(0), every.at(1)
    tail = (1 - case["confidence"]) / 2
    assert low.ends(tail)[0][0] == pytest.approx(case["range"][0], abs=1e-9)
    assert high.ends(tail)[1][0] == pytest.approx(case["range"][1], abs=1e-9)


@st.composite
def logs(draw):
    """Questions with trials and successes, and a metric that all of them have trials for."""
    n = draw(st.lists(st.integers(1, 12), min_size=1, max_size=6))
    c = [draw(st.integers(0, size)) for size in n]
    return n, c, draw(st.sampled_from([*GAINS])), draw(st.integers(1, min(n)))


@law
@given(logs(), st.sampled_from([0.5, 0.95, 0.999]))
def test_equals_plain_loops_over_questions_and_populations(log, confidence):
    n, c, name, k = log
    gains = GAINS[name](k)
    noisy = credit_estimates(asked(n, c), [fixed_gains(gains)]).at(0)
    expected = oracle.interval(n, c, np.append(0, np.cumsum(gains)), confidence=confidence)
    found = noisy.estimate, noisy.sigma, *noisy.ends((1 - confidence) / 2)
    # Squares less their means cancel in the oracle.
    np.testing.assert_allclose(np.ravel(found), expected, rtol=0, atol=1e-7)


@law
@given(logs())
def test_strata_have_the_weights_of_their_questions(log):
    n, c, name, k = [*log[0], 4, 5], [*log[1], 1, 5], log[2], log[3]
    k = min(k, 4)
    weights = np.array([1.0] * 2 + [2.0] * (len(n) - 2))
    sizes = np.array([2, len(n) - 2])
    share = (1 / (2 * sizes))[(weights > 1).astype(int)]
    gains = GAINS[name](k)
    noisy = credit_estimates(asked(n, c, weights), [fixed_gains(gains)]).at(0)
    expected = oracle.interval(n, c, np.append(0, np.cumsum(gains)), share)
    if max(n) > 1 and not np.allclose(share, share[0]):
        found = noisy.estimate, noisy.sigma, *noisy.ends(0.025)
        np.testing.assert_allclose(np.ravel(found), expected, rtol=0, atol=1e-7)


@law
@given(st.lists(logs(), min_size=2, max_size=4))
def test_other_groups_and_metrics_change_nothing_beyond_rounding(several):
    n = np.concatenate([log[0] for log in several])
    c = np.concatenate([log[1] for log in several])
    group = np.repeat(np.arange(len(several)), [len(log[0]) for log in several])
    draws = [fixed_gains(GAINS[name](k)) for _, _, name, k in several]
    together = mean_noises(asked(n, c, group=group).questions, draws)
    for place, (of_log, draw) in enumerate(zip(several, draws, strict=True)):
        alone = mean_noises(asked(of_log[0], of_log[1]).questions, [draw])
        for both, one in zip(together, alone, strict=True):
            assert both[place, place] == pytest.approx(one.item(), rel=1e-11)


@law
@given(logs())
def test_failures_mirror_successes(log):
    n, c, _, k = log
    up = credit_estimates(asked(n, c), [fixed_gains(any_success(k))]).at(0)
    mirrored = np.array(n) - np.array(c)
    down = credit_estimates(asked(n, mirrored), [fixed_gains(all_success(k))]).at(0)
    lo, hi = up.ends(0.025)
    low, high = down.ends(0.025)
    assert up.sigma[0] == pytest.approx(down.sigma[0], rel=1e-9)
    assert (lo[0], hi[0]) == pytest.approx((1 - high[0], 1 - low[0]), abs=1e-9)


@pytest.mark.parametrize(("n", "k"), [(10**15, 1), (10**9, 10**6), (3_000, 300)])
def test_any_number_of_trials_has_an_interval(n, k):
    several = asked([n] * 3, [n // 3, n // 2, n - n // 7])
    noisy = credit_estimates(several, [fixed_gains(any_success(k))]).at(0)
    lo, hi = noisy.ends(0.025)
    assert 0 <= lo[0] <= noisy.estimate[0] <= hi[0] <= 1


def test_draws_of_more_than_a_tenth_of_thousands_of_trials_have_no_interval():
    noisy = credit_estimates(asked([3_000], [1_000]), [fixed_gains(any_success(301))]).at(0)
    assert noisy.estimate[0] == pytest.approx(1)
    assert np.isnan(noisy.ends(0.025)).all()


def test_single_trials_have_the_exact_interval():
    # W. Hoeffding (1956): 7 of 10 by Clopper and Pearson, as in tables.
    noisy = credit_estimates(asked([1] * 10, [1] * 7 + [0] * 3), [fixed_gains(np.ones(1))]).at(0)
    assert np.ravel(noisy.ends(0.025)) == pytest.approx([0.34754715, 0.93326049], abs=1e-8)


def test_one_question_has_the_interval_of_its_trials():
    noisy = credit_estimates(asked([4], [2]), [fixed_gains(np.ones(1))]).at(0)
    assert np.ravel(noisy.ends(0.025)) == pytest.approx([0.086, 0.914], abs=1e-3)


def test_ranges_agree_with_smaller_draws():
    n, c = [4] * 6, [0, 1, 2, 3, 4, 4]
    draws = [fixed_gains(any_success(k)) for k in (1, 2, 4, 8, 64)]
    numbers = Measurement(asked(n, c), 0.95).credits(draws)
    ends = np.array([(each.lo[0], each.hi[0]) for each in numbers])
    assert (np.diff(ends[:, 0]) >= 0).all()
    assert np.isnan([each.estimate[0] for each in numbers[3:]]).all()
    assert ends[3:, 1].tolist() == [1, 1]
