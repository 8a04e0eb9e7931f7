"""The studentized range, against SciPy and against all partitions there are."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import studentized_range

from polars_scorio.kernels.simultaneous.tukey import (
    equal_groups_critical,
    range_within,
    tukey_critical,
)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_equals_the_studentized_range_of_scipy(confidence):
    models = np.array([2, 3, 7, 20, 100])
    oracle = studentized_range.ppf(confidence, models, np.inf) / np.sqrt(2)
    # SciPy's own quantile holds about 1e-6.
    np.testing.assert_allclose(tukey_critical(models, confidence), oracle, rtol=3e-6)


def test_no_pair_needs_no_more_than_one():
    z = ndtri(0.975)
    # The same quantile of the normal: rounding.
    np.testing.assert_allclose(tukey_critical(np.array([0, 1, 2]), 0.95), z, rtol=1e-12)


def test_a_thousand_models_hold_the_confidence_in_simulation():
    draws = np.random.default_rng(1).normal(size=(4000, 1000))
    held = np.ptp(draws, axis=1) <= np.sqrt(2) * tukey_critical(np.array([1000]), 0.95)
    assert held.mean() == pytest.approx(0.95, abs=0.011)  # three standard errors


def test_unequal_sigmas_hold_at_least_the_confidence():
    random = np.random.default_rng(2)
    sigma = np.array([0.1, 1.0, 1.0, 3.0, 9.0])
    draws = sigma * random.normal(size=(20_000, 5))
    a, b = np.triu_indices(5, 1)
    reach = np.abs(draws[:, a] - draws[:, b]) / np.hypot(sigma[a], sigma[b])
    assert (reach.max(axis=1) <= tukey_critical(np.array([5]), 0.95)).mean() >= 0.95


def partitions(items):
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for i, group in enumerate(smaller):
            yield [*smaller[:i], [first, *group], *smaller[i + 1 :]]


def needed_by_any(undecided):
    """The largest value that any partition into undecided groups needs."""
    needed = ndtri(0.975)
    for groups in partitions(list(range(len(undecided)))):
        if all(undecided[i, j] for group in groups for i in group for j in group if i < j):
            sizes = [len(group) for group in groups if len(group) > 1]

            def excess(c, sizes=sizes):
                c = np.array([c])
                return np.prod([range_within(np.array([size]), c)[0] for size in sizes]) - 0.95

            needed = max(needed, brentq(excess, 0.1, 9) if sizes else 0)
    return needed


def test_covers_every_partition_into_groups_that_may_be_equal():
    random, graphs, oracle = np.random.default_rng(3), [], []
    for _ in range(25):
        position = np.sort(random.uniform(size=6))
        near = np.abs(position[:, None] - position) < random.uniform(0.1, 0.8)
        graphs.append(near & ~np.eye(6, dtype=bool))
        oracle.append(needed_by_any(near))
    # Interpolation between values of a grid.
    np.testing.assert_allclose(equal_groups_critical(np.stack(graphs), 0.95), oracle, atol=1e-4)


def test_all_pairs_need_the_value_of_tukey_and_none_needs_z():
    everything = np.ones((1, 20, 20), dtype=bool)
    tukey = tukey_critical(np.array([20]), 0.95)
    # Both: the ends of a table of critical values, so nothing is interpolated.
    np.testing.assert_allclose(equal_groups_critical(everything, 0.95), tukey, rtol=1e-9)
    np.testing.assert_allclose(equal_groups_critical(~everything, 0.95), ndtri(0.975), rtol=1e-9)


def test_few_pairs_far_apart_need_no_more_than_independent_ones():
    undecided = np.zeros((1, 9, 9), dtype=bool)
    undecided[0, 0, 8] = undecided[0, 8, 0] = True
    # An end of the table of critical values: nothing is interpolated.
    assert equal_groups_critical(undecided, 0.95) == pytest.approx(ndtri(0.975), abs=1e-12)
