"""The likelihood against 50-digit arithmetic and against the laws of probability."""

from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths import array_rows, likelihood
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.likelihood import log_dirichlet_at_mean, log_likelihood, tally_states
from tests.made_logs import law

EPS = np.finfo(float).eps
CORRELATIONS = st.floats(1e-6, 1 - 1e-6)


def exact(counts: Ints, questions: Ints, mean: Floats, rho: float) -> tuple[float, float]:
    """Log likelihood as a sum over factors in 50 digits, and the sum of its absolute terms."""
    with mpmath.workdps(50):
        s = (1 - mpmath.mpf(rho)) / mpmath.mpf(rho)
        value, size = mpmath.mpf(0), mpmath.mpf(0)
        for row, times in zip(counts.tolist(), questions.tolist(), strict=True):
            for share, count in [*zip(mean.tolist(), row, strict=True), (None, sum(row))]:
                start = s if share is None else s * mpmath.mpf(share)
                term = mpmath.loggamma(start + count) - mpmath.loggamma(start)
                value += times * (-term if share is None else term)
                # In the kernel each factor is divided by s + ..., hence times rho.
                size += times * count * (1 + abs(mpmath.log(start * rho)))
        return float(value), float(size)


@pytest.mark.parametrize("rho", [1e-10, 1e-6, 1e-3, 1 / 3, 0.999, 1 - 1e-9])
@pytest.mark.parametrize("share", [1e-12, 1e-3, 0.5])
@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([[4, 0], [3, 1], [0, 4]], id="few trials"),
        pytest.param([[1, 16], [17, 0], [40, 33]], id="around the start of the series"),
        pytest.param([[100_000, 0], [99_999, 1], [5, 99_995], [1234, 4321]], id="many trials"),
    ],
)
def test_equals_50_digit_arithmetic(counts, share, rho):
    states, questions = np.array(counts), np.arange(1, len(counts) + 1)
    mean = np.array([1 - share, share])
    value = log_likelihood(tally_states(states, questions), mean, np.array(rho))
    oracle, size = exact(states, questions, mean, rho)
    # Every term is rounded a few times, and what is summed has the size of `size`.
    assert value == pytest.approx(oracle, abs=8 * EPS * size)


@pytest.mark.slow
@law
@given(
    lengths=st.lists(st.integers(0, 60), min_size=1, max_size=8),
    rho=CORRELATIONS,
    share=st.floats(1e-9, 1 - 1e-9),
)
def test_equals_the_product_of_all_factors(lengths, rho, share):
    states = np.array([[2 * length, length] for length in lengths])
    mean = np.array([1 - share, share])
    value = log_likelihood(tally_states(states, np.ones(len(lengths), int)), mean, np.array(rho))
    oracle = sum(
        sum(np.log((1 - rho) * (1 - share) + i * rho) for i in range(2 * length))
        + sum(np.log((1 - rho) * share + i * rho) for i in range(length))
        - sum(np.log(1 - rho + i * rho) for i in range(3 * length))
        for length in lengths
    )
    # Up to 1,440 logarithms of up to 21.
    np.testing.assert_allclose(value, oracle, rtol=1e-12, atol=1e-11)


@law
@given(n=st.integers(1, 12), rho=CORRELATIONS, share=st.floats(1e-6, 1 - 1e-6))
def test_all_outcomes_of_a_question_have_probability_one(n, rho, share):
    mean = np.array([1 - share, share])
    total = sum(
        comb(n, c)
        * np.exp(
            log_likelihood(tally_states(np.array([[n - c, c]]), np.array([1])), mean, np.array(rho))
        )
        for c in range(n + 1)
    )
    # Thirteen terms of some 36 factors each.
    assert total == pytest.approx(1, rel=1e-13)


def test_the_series_and_the_factors_agree(monkeypatch):
    counts = np.array([[100, 900], [17, 5], [800, 3]])
    questions = np.array([1, 2, 3])
    mean, rho = np.array([[0.2, 0.8], [0.999, 0.001]]), np.array([0.3, 1e-5])
    by_series = log_likelihood(tally_states(counts, questions), mean, rho)
    monkeypatch.setattr(likelihood, "STIRLING_COST", 10**6)
    data = tally_states(counts, questions)
    assert data.trials.tail.size == 1000
    # 4,000 factors of up to 7 and their rounding.
    np.testing.assert_allclose(by_series, log_likelihood(data, mean, rho), rtol=1e-13)


def test_chunks_change_only_the_rounding(monkeypatch):
    counts = np.array([[100_000, 900], [17, 5], [800, 3]])
    data = tally_states(counts, np.array([1, 2, 3]))
    mean, rho = np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([0.3, 0.1])
    whole = log_likelihood(data, mean, rho)
    monkeypatch.setattr(array_rows, "CELLS", 7)
    # A sum of some 50 terms, taken in another order.
    np.testing.assert_allclose(log_likelihood(data, mean, rho), whole, rtol=1e-14)


def test_the_order_of_the_states_does_not_change_a_bit():
    rng = np.random.default_rng(1)
    counts, questions = rng.integers(0, 3000, (50, 3)), rng.integers(1, 9, 50)
    order = rng.permutation(50)
    mean, rho = np.array([0.2, 0.3, 0.5]), np.array(0.1)
    first = log_likelihood(tally_states(counts, questions), mean, rho)
    assert log_likelihood(tally_states(counts[order], questions[order]), mean, rho) == first


def test_no_trials_have_likelihood_one():
    mean, rho = np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([0.3, 0.1])
    for counts in (np.zeros((0, 2), int), np.zeros((3, 2), int)):
        data = tally_states(counts, np.ones(len(counts), int))
        assert log_likelihood(data, mean, rho).tolist() == [0, 0]


@pytest.mark.parametrize(
    "shape", [[0.5, 0.5], [0.5, 1e9], [3e7, 2e9, 0.7], [15.99, 16.01], [2.0, 30.0, 400.0, 5e3]]
)
def test_density_at_the_mean_equals_50_digit_arithmetic(shape):
    with mpmath.workdps(50):
        parts = [mpmath.mpf(part) for part in shape]
        total = mpmath.fsum(parts)
        oracle = mpmath.loggamma(total) + mpmath.fsum(
            (part - 1) * mpmath.log(part / total) - mpmath.loggamma(part) for part in parts
        )
    # The terms left after cancelling are logarithms: below 100.
    assert log_dirichlet_at_mean(np.array(shape)) == pytest.approx(float(oracle), abs=3e-14)
