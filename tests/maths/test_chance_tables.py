"""Tables of hypergeometric chances against exact ones."""

from math import comb

import numpy as np
import pytest
from scipy.stats import hypergeom

from polars_scorio.maths.draws import draw_chance_rows, draw_chances, overlap_chances


@pytest.mark.slow
def test_chances_of_a_draw():
    known = [[comb(u, j) * comb(9 - u, 4 - j) / comb(9, 4) for j in range(5)] for u in range(10)]
    # exp() of logs of binomials below 5: a few roundings.
    np.testing.assert_allclose(draw_chances(9, 4), known, rtol=1e-13)
    large = draw_chances(3000, 1000)  # not kept
    # exp() of logs of binomials near 2,000, each rounded: 8e-12 here.
    np.testing.assert_allclose(large.sum(axis=1), 1, rtol=1e-10)


def test_some_rows_are_rows_of_the_whole_table():
    successes = np.array([0, 7, 300])
    np.testing.assert_array_equal(
        draw_chance_rows(300, 40, successes), draw_chances(300, 40)[successes]
    )


@pytest.mark.parametrize("total", [100, 4096, 4097, 20_000])
def test_two_draws_overlap_as_often_as_one_hits_marked_trials(total):
    known = hypergeom.pmf(np.arange(65), total, 64, 64)
    # A table of logs below 4,097 trials: its largest log is rounded at 5e-13.
    np.testing.assert_allclose(overlap_chances(total, 64), known, rtol=1e-10, atol=1e-290)


def test_draws_from_a_quadrillion_trials_hardly_overlap():
    np.testing.assert_allclose(overlap_chances(10**15, 1), [1.0, 1e-15], rtol=1e-14)
