"""The variance of mean rewards: vectors of a second implementation, an oracle, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import study_numbers
from tests.maths.logs import reward_variance
from tests.maths.rewards_oracle import reward_interval

HUNDREDTHS = st.integers(0, 100).map(lambda i: i / 100)
LOGS = st.lists(st.lists(HUNDREDTHS, min_size=1, max_size=6), min_size=1, max_size=8)
# Beta quantiles are found to 1e-10 or so near the bounds.
CLOSE = {"rel": 1e-9, "abs": 1e-9}
CASES = study_numbers("rewards")["intervals"]


def ends_of(noisy, confidence=0.95):
    return [end.item() for end in noisy.ends((1 - confidence) / 2)]


def test_equals_the_vectors_of_the_study():
    for case in CASES:
        options = dict(case["options"])
        confidence = options.pop("confidence", 0.95)
        flat = [reward for rewards in case["rewards"] for reward in rewards]
        bounds, k = options.pop("bounds", (min(flat), max(flat))), options.pop("k", 1)
        expected = tuple(case["result"][name] for name in ("estimate", "sigma", "lo", "hi"))
        study = {"k": k, "bounds": bounds, "confidence": confidence}
        assert reward_interval(case["rewards"], **study) == pytest.approx(expected, abs=1e-9)
        noisy = reward_variance(case["rewards"], bounds, k)
        found = [noisy.mu.item(), noisy.sigma.item(), *ends_of(noisy, confidence)]
        known = [np.nan if number is None else number for number in expected]
        assert found == pytest.approx(known, abs=1e-9, nan_ok=True), case["name"]


@pytest.mark.slow
@given(LOGS, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_averages_equal_the_oracle(logs, confidence):
    _, sigma, lo, hi = reward_interval(logs, bounds=(0, 1), confidence=confidence)
    noisy = reward_variance(logs, (0, 1))
    assert ends_of(noisy, confidence) == pytest.approx([lo, hi], **CLOSE)
    assert noisy.sigma.item() == pytest.approx(np.nan if sigma is None else sigma, nan_ok=True)


@pytest.mark.slow
@given(st.lists(st.lists(HUNDREDTHS, min_size=3, max_size=6), min_size=1, max_size=6), st.data())
def test_best_of_k_equals_the_oracle(logs, data):
    k = data.draw(st.integers(2, 3))
    expected = reward_interval(logs, k=k, bounds=(-1, 2))
    noisy = reward_variance(logs, (-1, 2), k)
    found = [noisy.mu.item(), noisy.sigma.item(), *ends_of(noisy)]
    assert found == pytest.approx(expected, rel=1e-9, abs=3e-9)


@pytest.mark.slow
@given(LOGS)
def test_more_confidence_is_wider_and_holds_the_estimate(logs):
    noisy = reward_variance(logs, (0, 1))
    narrow, wide = ends_of(noisy, 0.8), ends_of(noisy, 0.95)
    assert 0 <= wide[0] <= narrow[0] <= noisy.estimate.item() + 1e-12
    assert noisy.estimate.item() - 1e-12 <= narrow[1] <= wide[1] <= 1


@pytest.mark.slow
@given(LOGS)
def test_mirrored_rewards_have_the_mirrored_interval(logs):
    lo, hi = ends_of(reward_variance(logs, (0, 1)))
    mirrored = [[1 - reward for reward in rewards] for rewards in logs]
    assert ends_of(reward_variance(mirrored, (0, 1))) == pytest.approx([1 - hi, 1 - lo], abs=1e-9)


@pytest.mark.slow
@given(LOGS)
def test_wider_bounds_are_never_narrower(logs):
    lo, hi = ends_of(reward_variance(logs, (0, 1)))
    below, above = ends_of(reward_variance(logs, (-1, 3)))
    assert below <= lo + 1e-9
    assert above >= hi - 1e-9


def test_rewards_that_all_fail_have_the_bound_of_clopper_and_pearson():
    lo, hi = ends_of(reward_variance([[0.0] * 4] * 10, (0, 1)))
    assert lo == 0.0
    assert hi == pytest.approx(1 - 0.025 ** (1 / 40), rel=1e-9)


def test_a_range_that_is_not_known_has_no_interval():
    noisy = reward_variance([[0.7] * 3] * 8, (0.7, 0.7))
    assert (noisy.mu.item(), noisy.sigma.item()) == (0.7, 0.0)
    assert np.isnan(ends_of(noisy)).all()


def test_a_critical_value_of_zero_has_ends():
    noisy = reward_variance([[0.2, 0.4], [0.9, 0.1]], (0, 1))
    lo, hi = ends_of(noisy, 0.0)
    assert lo <= noisy.estimate.item() <= hi
