import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from polars_scorio.maths.judges import judged_accuracy, judged_difference
from tests.maths.vectors import VECTORS, rates_of

Z = ndtri(0.975)
SHARES = st.integers(0, 100).map(lambda i: i / 100)
GAPS = st.integers(-1_000, 1_000).map(lambda i: i / 1_000)
REACHES = st.integers(1, 1_000).map(lambda i: i / 1_000)
GOOD = st.integers(70, 100)


def one(number):
    return np.array([float(number)])


def test_accuracies_are_those_of_the_study():
    for row in VECTORS["accuracy"]:
        rates = rates_of(row["sensitivity"], row["specificity"])
        found = judged_accuracy(one(row["r"]), one(row["N"]), rates, Z)
        assert [x.item() for x in found] == pytest.approx(
            [row["estimate"], row["lo"], row["hi"]], abs=1e-9
        )


def test_differences_are_those_of_the_study():
    for row in VECTORS["difference"]:
        rates = rates_of(row["sensitivity"], row["specificity"])
        reach = one(Z * np.sqrt(row["variance_a"] + row["variance_b"]))
        found = judged_difference(one(row["r_a"] - row["r_b"]), (reach, reach), rates, Z)
        assert [x.item() for x in found] == pytest.approx(
            [row["diff"], row["lo"], row["hi"]], abs=1e-9
        )


@given(SHARES, st.integers(5, 500), GOOD, GOOD)
def test_accuracies_outside_the_interval_are_rejected_and_inside_accepted(r, n, kept, spared):
    rates = rates_of((kept, 100), (spared, 100))
    estimate, lo, hi = (x.item() for x in judged_accuracy(one(r), one(n), rates, Z))
    if np.isnan(estimate):
        return
    assert 0 <= lo <= estimate <= hi <= 1
    f, index = 1 - rates.adjusted_specificity.item(), rates.adjusted_index.item()
    v1, v0 = rates.sensitivity_variance.item(), rates.specificity_variance.item()

    def excess(theta):
        expected = f + theta * index
        noise = expected * (1 - expected) / n + theta**2 * v1 + (1 - theta) ** 2 * v0
        return (r - expected) ** 2 - Z**2 * noise

    # Where the estimate is an end, it widens the interval and may itself be rejected.
    assert lo in (0.0, estimate) or excess(lo) == pytest.approx(0, abs=1e-9)
    assert hi in (1.0, estimate) or excess(hi) == pytest.approx(0, abs=1e-9)
    assert excess(max(lo - 0.01, -1)) > -1e-12 or lo == 0
    assert excess(min(hi + 0.01, 2)) > -1e-12 or hi == 1


def test_a_perfect_judge_with_endless_labels_changes_nothing():
    many = 1e12
    rates = rates_of((many, many), (many, many))
    estimate, lo, hi = judged_accuracy(one(0.3), one(50), rates, Z)
    centre = (0.3 + Z**2 / 100) / (1 + Z**2 / 50)  # Wilson's interval
    half = Z * np.sqrt(0.3 * 0.7 / 50 + Z**2 / 10_000) / (1 + Z**2 / 50)
    assert estimate == pytest.approx(0.3, abs=1e-9)
    assert (lo.item(), hi.item()) == pytest.approx((centre - half, centre + half), abs=1e-6)
    gap = judged_difference(one(0.1), (one(0.04), one(0.05)), rates, Z)
    assert [x.item() for x in gap] == pytest.approx([0.1, 0.06, 0.15], abs=1e-6)


def test_a_judge_like_a_coin_tells_nothing():
    rates = rates_of((5, 10), (5, 10))
    assert np.isnan(judged_accuracy(one(0.5), one(100), rates, Z)).all()
    assert np.isnan(judged_difference(one(0.5), (one(0.1), one(0.1)), rates, Z)).all()


def test_verdicts_that_contradict_the_calibration_sample_give_no_number():
    # All answers are judged right although 98 of 100 wrong ones were judged wrong, and 60 of 100
    # right ones right: no accuracy explains it.
    rates = rates_of((60, 100), (98, 100))
    assert np.isnan(judged_accuracy(one(1.0), one(1e6), rates, Z)).all()


@given(GAPS, REACHES, REACHES, GOOD, GOOD)
def test_zero_is_inside_exactly_if_it_is_for_the_verdicts(diff, down, up, kept, spared):
    rates = rates_of((kept, 100), (spared, 100))
    _, lo, hi = judged_difference(one(diff), (one(down), one(up)), rates, Z)
    assert (lo.item() > 0) == (diff - down > 0)
    assert (hi.item() < 0) == (diff + up < 0)


@given(GAPS, REACHES, REACHES, GOOD, GOOD)
def test_differences_are_antisymmetric(diff, down, up, kept, spared):
    rates = rates_of((kept, 100), (spared, 100))
    found = judged_difference(one(diff), (one(down), one(up)), rates, Z)
    other = judged_difference(one(-diff), (one(up), one(down)), rates, Z)
    assert found.estimate == -other.estimate
    assert found.lo == pytest.approx(-other.hi)
    assert found.hi == pytest.approx(-other.lo)
