"""One-sided critical values of comparisons with the best: vectors, simulation, closed forms."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from polars_scorio.maths.independent import tukey_critical
from polars_scorio.maths.max_t import best_critical
from tests.documents import study_numbers

VECTORS = study_numbers("verdicts")["best_critical"]


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case):
    found = best_critical(np.full((1, case["models"]), 0.3), case["confidence"])
    np.testing.assert_allclose(found, case["c"], atol=1e-8)


def held(c, candidate, others):
    """The chance that no other model seems better than the candidate, to 15 digits."""

    def density(x):
        within = (mp.ncdf((c * mp.sqrt(candidate**2 + s**2) + candidate * x) / s) for s in others)
        return mp.npdf(x) * mp.fprod(within)

    return float(mp.quad(density, mp.linspace(-9, 9, 7)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "sigma",
    [
        [1.0, 1.0, 1.0],
        [0.2, 0.1, 0.3, 0.15],
        [1.0, 0.4, 2.5],
        [0.1, 1.0, 0.2, 0.5, 5.0],
    ],
)
def test_equals_the_integral_for_unequal_sigmas(sigma):
    found = best_critical(np.array([sigma]), 0.9)[0]
    for model, c in enumerate(found):
        others = sigma[:model] + sigma[model + 1 :]
        # A ratio below .05 counts as .05.
        assert held(c, sigma[model], others) == pytest.approx(
            0.9, abs=2e-3 if max(others) > 9 * min(others) else 1e-7
        )


def test_many_models_are_a_little_cautious():
    random = np.random.default_rng(3)
    sigma = np.exp(random.normal(-3, 0.3, 200))
    found = best_critical(sigma[None], 0.95)[0]
    errors = sigma * random.normal(size=(20_000, 200))
    for model in np.argsort(sigma)[[0, 100, 199]]:
        gap = (errors - errors[:, [model]]) / np.hypot(sigma, sigma[model])
        share = (gap.max(axis=1) <= found[model]).mean()
        # Three standard errors of 20,000 draws; groups make it at most .01 too large.
        assert 0.945 < share < 0.965


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=12), st.floats(0.55, 0.999))
def test_lies_between_one_pair_and_independent_ones(sigma, confidence):
    found = best_critical(np.array([sigma]), confidence)[0]
    pairs = max(len(sigma) - 1, 1)
    assert (found >= ndtri(confidence) - 1e-9).all()
    assert (found <= ndtri(confidence ** (1 / pairs)) + 1e-9).all()
    # One comparison row, one-sided, asks for less than all pairs.
    assert (found <= tukey_critical(np.array([len(sigma)]), confidence) + 1e-9).all()


def test_odd_strata_have_defined_values():
    sigma = np.array([[0.1, np.nan, np.nan], [0.1, 0.2, np.nan], [0.0, 0.0, 0.0], [0.0, 0.1, 0.1]])
    found = best_critical(sigma, 0.95)
    z = ndtri(0.95)
    np.testing.assert_allclose(found[:3], np.where(np.isnan(sigma[:3]), np.nan, z))
    # Against a model without an error the two others have independent errors.
    assert found[3, 0] == pytest.approx(ndtri(np.sqrt(0.95)))
    assert best_critical(np.empty((0, 3)), 0.95).shape == (0, 3)
