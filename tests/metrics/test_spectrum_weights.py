"""Weights of threshold spectra against the package scorio, their definitions, and at the edges."""

import re
from itertools import pairwise

import mpmath
import numpy as np
import polars as pl
import pytest
from scorio.eval import tailpass_weights as scorio

import polars_scorio as ps
from tests.made_logs import long

weights = ps.spectrum_weights
SIZES = [1, 2, 3, 8, 50]
ROOM = 1e-12  # for rounding: all numbers here lie between 0 and 1

# Each of ours, and the same of scorio.
MAKERS = {
    "uniform": (weights.uniform, scorio.uniform_weights, [()]),
    "discovery": (weights.discovery, scorio.discovery_weights, [()]),
    "stability": (weights.stability, scorio.stability_weights, [()]),
    "threshold": (weights.threshold, scorio.threshold_weights, [(1,)]),
    "moment": (weights.moment, scorio.moment_weights, [(0.3,), (1.0,), (7.5,)]),
    "beta": (weights.beta, scorio.beta_weights, [(0.3, 7.0), (0.9, 0.4), (0.5, 2.0)]),
    "maxent": (weights.maxent, scorio.maxent_weights,
               [(0.31,), (0.5,), (0.5 + 1e-7,), (0.999,), (1e-5,)]),
}  # fmt: skip
CASES = [
    pytest.param(ours, theirs, arguments, id=f"{name}{arguments}")
    for name, (ours, theirs, several) in MAKERS.items()
    for arguments in several
]


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize(("ours", "theirs", "arguments"), CASES)
def test_equals_the_package_scorio(ours, theirs, arguments, k):
    found = ours(k, *arguments)
    np.testing.assert_allclose(found, theirs(k, *arguments), atol=ROOM)
    assert found.shape == (k,)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=ROOM)


def test_every_threshold_equals_scorio():
    for t in (1, 2, 5):
        assert weights.threshold(5, t).tolist() == scorio.threshold_weights(5, t).tolist()


def test_a_payoff_equals_scorio():
    worth = [0, 0.1, 0.1, 0.6, 1]
    np.testing.assert_allclose(weights.payoff(worth), scorio.payoff_weights(worth), atol=ROOM)


@pytest.mark.parametrize("mean", ["1e-300", "1e-9", "0.2", "0.5", "0.5000000001", "0.7", "0.9999"])
def test_the_largest_entropy_has_the_mean(mean):
    # An oracle of 50 digits: tau by the secant method, the masses by their integral.
    with mpmath.workdps(50):
        share, k = mpmath.mpf(mean), 4
        slack = min(share, 1 - share)
        if slack == mpmath.mpf("0.5"):
            expected = [0.25] * k
        else:
            rest = lambda tau: 1 / tau - 1 / mpmath.expm1(tau) - slack  # noqa: E731
            start = 1 / slack if slack < 0.1 else 12 * (mpmath.mpf("0.5") - slack)
            tau = mpmath.findroot(rest, (start, start * mpmath.mpf("0.9")), tol=1e-40)
            edges = [mpmath.mpf(i) / k for i in range(k + 1)]
            below = [mpmath.exp(tau * (edge - 1)) for edge in edges]
            expected = [(b - a) / (1 - mpmath.exp(-tau)) for a, b in pairwise(below)]
            expected = expected if share > slack else expected[::-1]
    # The mean in the argument has 16 digits; tau has as many of its distance from 1/2.
    np.testing.assert_allclose(weights.maxent(k, float(mean)), np.array(expected, float), atol=ROOM)


def test_weights_make_the_metrics_that_they_are_named_for():
    log = long([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]).scorio

    def estimate(metric):
        return log.report(metric)["estimate"].item()

    def spectrum(own):
        return estimate(ps.threshold_spectrum_at_k(3, own))

    # Chances of the hypergeometric distribution: rounding.
    assert spectrum(weights.uniform(3)) == pytest.approx(estimate(ps.avg()), abs=ROOM)
    assert spectrum(weights.discovery(3)) == pytest.approx(estimate(ps.pass_at_k(3)), abs=ROOM)
    assert spectrum(weights.stability(3)) == pytest.approx(estimate(ps.pass_hat_k(3)), abs=ROOM)
    curve = log.report(ps.tail_pass(3)).select("t", "estimate")
    for own in (weights.moment(3, 2), weights.beta(3, 0.6, 5), weights.payoff([0, 0.5, 0.5, 1])):
        linear = curve.select((pl.col("estimate") * pl.Series(own)).sum()).item()
        assert spectrum(own) == pytest.approx(linear, abs=ROOM)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: weights.uniform(0), "k must be a positive int"),
        (lambda: weights.threshold(3, 4), "t must be a positive int, at most 3, got 4"),
        (lambda: weights.moment(3, 0), "lam must be a positive finite number, got 0"),
        (lambda: weights.beta(3, 1, 2), "theta must be a number between 0 and 1"),
        (lambda: weights.beta(3, 0.5, -1), "kappa must be a positive finite number, got -1"),
        (lambda: weights.maxent(3, 1.0), "mean must be a number between 0 and 1"),
        (lambda: weights.payoff([0, 0.5]), "from 0 to 1 and never falling, got [0, 0.5]"),
        (lambda: weights.payoff([0, 0.6, 0.5, 1]), "never falling, got [0, 0.6, 0.5, 1]"),
        (lambda: weights.payoff([0, float("nan"), 1]), "never falling, got [0, nan, 1]"),
        (lambda: weights.payoff([]), "never falling, got []"),
    ],
)
def test_what_is_no_preference_is_refused(make, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        make()
