"""Roots of many functions at once."""

import numpy as np

from polars_scorio.maths.independent import illinois_root


def test_finds_the_cube_roots_of_many_numbers():
    number = np.linspace(0.5, 8, 50)
    found = illinois_root(lambda x: x**3 - number, np.zeros(50), np.full(50, 3.0), 40)
    # Forty steps end at one of two neighbouring doubles, of numbers near 1.
    np.testing.assert_allclose(found, np.cbrt(number), rtol=1e-12)


def test_a_root_at_an_end_is_that_end():
    ends = np.array([1.0, 1.0]), np.array([2.0, 2.0])
    found = illinois_root(lambda x: x - np.array([1.0, 2.0]), *ends, 5)
    np.testing.assert_array_equal(found, [1.0, 2.0])


def test_no_root_hangs_on_those_beside_it():
    low, high, number = np.zeros(3), np.full(3, 9.0), np.array([0.1, 5.0, 60.0])
    together = illinois_root(lambda x: x**2 - number, low, high, 6)
    alone = [illinois_root(lambda x, n=n: x**2 - n, low[:1], high[:1], 6)[0] for n in number]
    np.testing.assert_array_equal(together, alone)
