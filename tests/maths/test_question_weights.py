"""Means over strata that weigh the same: against plain loops, and against means over questions."""

from math import sqrt

import numpy as np
import pytest

from polars_scorio.maths.draws import any_success
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.maths.variance import credit_of, fixed_gains
from polars_scorio.maths.variance_estimates import clopper_pearson_interval, credit_variances
from tests.documents import study_numbers
from tests.maths import oracle

VECTORS = study_numbers("calibrated_2")
C = [4, 3, 0, 1, 4, 2, 4, 4, 4, 3, 0, 2, 4, 1, 0, 4]
UNEQUAL = [0] * 2 + [1] * 4 + [2] * 10
EQUAL = [0, 1, 2, 3] * 4


def fitted_strata(n, c, stratum):
    """One group of questions with n trials each, and its strata."""
    counts, one = np.stack([np.subtract(n, c), c], axis=1), np.ones(len(c), dtype=int)
    none, strata = 0 * counts, np.array(stratum)
    pooled = States.tally(counts, none, 0 * one, one, 1)
    parts = States.tally(counts, none, strata, one, max(stratum) + 1)
    return Calibrated.fit(pooled, Subgroups(parts, np.zeros(max(stratum) + 1, dtype=int), 1))


def test_intervals_of_the_study():
    equal = VECTORS["macro_benchmark_equal_weights_is_micro"] | {"k": 1, "stratum": EQUAL}
    for case in [*VECTORS["macro_benchmark"], equal]:
        fitted = fitted_strata(case["n"], case["c"], case["stratum"])
        (noisy,) = credit_variances(fitted, [fixed_gains(any_success(case["k"]))])
        # As the study says.
        assert np.ravel(clopper_pearson_interval(noisy, 0.95)) == pytest.approx(
            [case["lo"], case["hi"]], abs=1e-6
        )


@pytest.mark.parametrize("k", [1, 2])
def test_a_variance_equals_plain_loops(k):
    values = credit_of(any_success(k)).tolist()
    sizes = np.bincount(UNEQUAL)
    weights = [1 / (3 * sizes[stratum]) for stratum in UNEQUAL]
    smooth, p, fit = oracle.fits(tuple((4, c, C.count(c)) for c in sorted({*C})))
    square, seen = oracle.product(values), oracle.estimates(4, values)
    squared, shown = [u * u for u in seen], oracle.estimates(4, square)
    v = np.maximum(oracle.variance(4, values, p), 0)
    noise, ve, spread_w = np.zeros_like(smooth.weight), 0.0, 0.0
    for weight, c in zip(weights, C, strict=True):
        expected = smooth.expect(4, c, squared) - smooth.expect(4, c, square)
        noise += weight**2 * np.maximum(expected, 0)
        r = fit * p**c * (1 - p) ** (4 - c)
        r /= r.sum()
        ve += weight**2 * (r @ v)
        spread_w += weight**4 * (r @ v**2 - (r @ v) ** 2)
    vb = smooth.weight @ noise
    spread_b = sqrt(smooth.weight @ (noise - vb) ** 2)
    hat = [seen[c] ** 2 - shown[c] for c in C]
    away = sum(w**4 * (x - np.mean(hat)) ** 2 for w, x in zip(weights, hat, strict=True))
    most = max(weights) ** 2 * max(abs(u * u - q) for u, q in zip(seen, shown, strict=True))
    cap = sum(w**2 * x for w, x in zip(weights, hat, strict=True))
    cap += sqrt(16 / 15 * away + most**2)
    s2 = max(ve, min(vb, cap))
    omega = (s2 - ve) / (vb - ve) if vb > ve else 1
    (noisy,) = credit_variances(fitted_strata(4, C, UNEQUAL), [fixed_gains(any_success(k))])
    mean = sum(w * seen[c] for w, c in zip(weights, C, strict=True))
    # A sum of 16 terms in another order.
    assert noisy.estimate[0] == pytest.approx(mean, rel=1e-12)
    # The two grids of the smooth fit differ.
    assert noisy.variance[0] == pytest.approx(s2, rel=1e-6)
    factor = 1 + sqrt((omega * spread_b) ** 2 + spread_w) / s2
    assert noisy.factor[0] == pytest.approx(factor, rel=1e-5)


def test_equal_strata_have_the_interval_of_all_questions():
    draws = [fixed_gains(any_success(k)) for k in (1, 2, 4)]
    for micro, macro in zip(
        credit_variances(fitted_strata(4, C, [0] * 16), draws),
        credit_variances(fitted_strata(4, C, EQUAL), draws),
        strict=True,
    ):
        # Weights that are sums of quarters of quarters: rounding.
        np.testing.assert_allclose(
            clopper_pearson_interval(macro, 0.95), clopper_pearson_interval(micro, 0.95), rtol=1e-12
        )


def test_groups_have_weights_of_their_own():
    counts = np.stack([np.subtract(4, C + C), C + C], axis=1)
    one, group = np.ones(32, dtype=int), np.repeat([0, 1], 16)
    stratum = np.array(UNEQUAL + [3 + place for place in EQUAL])
    pooled = States.tally(counts, 0 * counts, group, one, 2)
    strata = Subgroups(
        States.tally(counts, 0 * counts, stratum, one, 7), np.repeat([0, 1], [3, 4]), 2
    )
    both = Calibrated.fit(pooled, strata)
    alone = [fitted_strata(4, C, own) for own in (UNEQUAL, EQUAL)]
    for found, known in zip(both.weights, (own.weights[0] for own in alone), strict=True):
        np.testing.assert_array_equal(np.concatenate(found[:3]), np.concatenate(known[:3]))
    gains = fixed_gains(np.ones(1))
    (noisy,) = credit_variances(both, [gains])
    for column, own in enumerate(alone):
        (known,) = credit_variances(own, [gains])
        # Fits of two groups together: rounding.
        assert noisy.at(np.array([column])).variance == pytest.approx(known.variance, rel=1e-9)
