import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from polars_scorio.maths.labels import (
    agreement_shares,
    cohens_kappa,
    gwets_ac1,
    labels_for_width,
    rate_interval,
)
from tests.maths.vectors import rates_of

TABLES = st.lists(st.integers(1, 40), min_size=4, max_size=4).map(
    lambda counts: np.array(counts, dtype=float).reshape(2, 2, 1) / sum(counts)
)


@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from([0.8, 0.95]))
def test_intervals_are_those_of_clopper_and_pearson(part, rest, confidence):
    whole = part + rest
    expected = binomtest(part, whole).proportion_ci(confidence)
    lo, hi = rate_interval(np.array([float(part)]), np.array([float(whole)]), confidence)
    assert (lo.item(), hi.item()) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_no_labels_have_no_interval():
    assert np.isnan(rate_interval(np.zeros(1), np.zeros(1), 0.95)).all()


def test_shares_follow_from_both_rates():
    shares = agreement_shares(rates_of((9, 10), (8, 10)), np.array([0.5]))
    np.testing.assert_allclose(shares[..., 0], [[0.4, 0.05], [0.1, 0.45]])


def test_kappa_and_ac1_reproduce_published_numbers():
    # K. Gwet (2008), table 1 of the paradox: 118 and 0 agreements, 5 and 2 disagreements.
    shares = np.array([[118.0, 5.0], [2.0, 0.0]])[..., None] / 125
    assert cohens_kappa(shares).item() == pytest.approx(-0.0234, abs=5e-4)
    assert gwets_ac1(shares).item() == pytest.approx(0.941, abs=5e-4)


@given(TABLES)
def test_agreement_beyond_chance_is_symmetric_and_at_most_1(shares):
    for agreement in (cohens_kappa, gwets_ac1):
        found = agreement(shares).item()
        assert found <= 1
        assert agreement(shares[::-1, ::-1]).item() == pytest.approx(found)
        assert agreement(shares.swapaxes(0, 1)).item() == pytest.approx(found)


def test_a_perfect_judge_agrees_and_needs_no_labels():
    shares = np.array([[0.4, 0.0], [0.0, 0.6]])[..., None]
    assert cohens_kappa(shares) == gwets_ac1(shares) == pytest.approx(1)
    assert labels_for_width(shares, np.array([0.0]), 0.1, 0.95) == 0
    assert np.isnan(labels_for_width(shares, np.array([0.1]), 0.1, 0.95))
