"""Bands for curves over k: vectors, second calculations, laws."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import binom, multivariate_normal, norm

from polars_scorio.maths.credit_at_rates import RootDraw
from polars_scorio.maths.curves import (
    Path,
    curve_critical,
    first_stretch,
    last_stretch,
    level_noise,
    noise_path,
    question_path,
    rising_band,
)
from polars_scorio.maths.draws import all_success, any_success, at_least_share, majority_gains
from polars_scorio.maths.free_fit import Calibrated, rate_nodes
from polars_scorio.maths.questions import States
from polars_scorio.maths.variance import fixed_gains
from tests.documents import study_numbers

VECTORS = study_numbers("curves")


def path_of(length, points):
    """A path of some points and this length."""
    steps = np.full(points - 1, length / max(points - 1, 1))
    return Path(np.ones(points), np.cos(steps))


def pass_at(n, c, k):
    """Pass@k of a question, by the chance of a draw without success."""
    return 1 - comb(n - c, k) / comb(n, k)


def brute_covariance(n, p, credit, other):
    """Covariance of two estimates of a question with rate p, by all numbers of successes."""
    chance = binom.pmf(np.arange(n + 1), n, p)
    one, two = (np.array([each(c) for c in range(n + 1)]) for each in (credit, other))
    return chance @ (one * two) - (chance @ one) * (chance @ two)


@pytest.mark.parametrize("case", VECTORS["curve_critical"])
def test_the_critical_value_of_a_curve_follows_the_length_of_its_path(case):
    found = curve_critical(case["c"], path_of(case["length"], case["K"]))
    # The length of the made path is exact to 1e-9 a step.
    assert float(found) == pytest.approx(case["critical"], abs=1e-7)


@pytest.mark.parametrize("case", VECTORS["length"], ids=[x["name"] for x in VECTORS["length"]])
def test_the_path_of_paired_questions_has_the_length_of_the_vectors(case):
    n, a, b = case["n"], np.array(case["c_a"]), np.array(case["c_b"])
    gaps = [(pass_at(n, a, k) - pass_at(n, b, k))[:, None] for k in range(1, n + 1)]
    assert [gap.mean() for gap in gaps] == pytest.approx(case["diff"], abs=1e-12)
    path = question_path(gaps, np.full(a.size, 1 / a.size))
    assert path.length[0] == pytest.approx(case["length"], abs=1e-9)


@pytest.mark.parametrize("case", VECTORS["noise_length"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_path_of_the_noise_has_the_length_of_the_vectors(case, mirrored):
    """Pass^k is one less Pass@k of the failures: the same path at the rates of failures."""
    n, p, w = case["n"], np.array(case["p"]), np.array(case["w"])
    rates = (1 - p, p) if mirrored else (p, 1 - p)
    draws = [fixed_gains(all_success(k) if mirrored else any_success(k)) for k in range(1, n + 1)]
    variance, covariance = (each[:, 0] @ w for each in level_noise(rates, np.array([n]), draws))
    assert variance == pytest.approx(case["variance"], abs=1e-12)
    assert covariance == pytest.approx(case["covariance"], abs=1e-12)
    assert Path(variance, covariance).length == pytest.approx(case["length"], abs=1e-9)


@pytest.mark.parametrize("case", VECTORS["read_curve"])
def test_a_band_is_read_from_both_ends(case):
    band = np.array(case["k"]), np.array(case["lo"]), np.array(case["hi"])
    for name, stretch in (("first", first_stretch(*band)), ("last", last_stretch(*band))):
        found = [int(stretch.sign), int(stretch.reach)]
        assert found == (case[name] or [0, 0])


def test_a_band_ends_where_its_points_end():
    lo, hi = np.array([0.1, 0.1, -0.3, np.nan]), np.array([0.2, 0.2, -0.2, np.nan])
    band = np.array([1, 2, 4, 8]), lo, hi
    assert [int(each) for each in first_stretch(*band)] == [1, 2]
    assert [int(each) for each in last_stretch(*band)] == [-1, 4]
    nothing = np.full(4, np.nan)
    assert [int(each) for each in first_stretch(band[0], nothing, nothing)] == [0, 0]


def test_the_noise_of_any_credit_equals_sums_over_all_outcomes():
    p, n, sizes = np.array([0.0, 0.03, 0.4, 0.9, 1.0]), 7, [1, 2, 5]
    for gains_of in (majority_gains, lambda k: at_least_share(k, 0.6)):
        draws = [fixed_gains(gains_of(k)) for k in sizes]
        variance, covariance = level_noise((p, 1 - p), np.array([n]), draws)

        def credit(k, gains_of=gains_of):
            earned = np.concatenate([[0], np.cumsum(gains_of(k))])
            ways = [
                comb(c, np.arange(k + 1)) * comb(n - c, k - np.arange(k + 1)) for c in range(n + 1)
            ]
            return lambda c: ways[c] @ earned / comb(n, k)

        expected = [[brute_covariance(n, x, credit(k), credit(k)) for x in p] for k in sizes]
        assert variance[:, 0] == pytest.approx(np.array(expected), abs=1e-12)
        pairs = pairwise(sizes)
        expected = [[brute_covariance(n, x, credit(k), credit(m)) for x in p] for k, m in pairs]
        assert covariance[:, 0] == pytest.approx(np.array(expected), abs=1e-12)


def calibrated(n, c):
    n, c = np.array(n), np.array(c)
    counts, one = np.stack([n - c, c], axis=1), np.ones(n.size, np.int64)
    return Calibrated.fit(States.tally(counts, 0 * counts, 0 * n, one, 1))


def test_questions_of_different_length_weigh_as_often_as_they_occur():
    fitted = calibrated([4, 4, 4, 9], [1, 3, 4, 2])
    draws = [fixed_gains(any_success(k)) for k in (1, 3)]
    path, ((_, fits),) = noise_path(fitted, draws), fitted.batches
    rates = rate_nodes(fits.weight.shape[1])
    one, two = (level_noise(rates, np.array([n]), draws) for n in (4, 9))
    expected = [(3 * a[:, 0] + b[:, 0]) / 4 @ fits.weight[0] for a, b in zip(one, two, strict=True)]
    assert path.variance[0] == pytest.approx(expected[0], rel=1e-9)
    assert path.covariance[0] == pytest.approx(expected[1], rel=1e-9)


def test_more_draws_than_trials_are_no_point_of_a_curve():
    draws = [fixed_gains(any_success(k)) for k in (1, 4, 5)]
    path = noise_path(calibrated([4, 4, 9], [1, 3, 2]), draws)
    assert np.isnan(path.variance[0]).tolist() == [False, False, True]
    assert path.points[0] == 2
    short = noise_path(calibrated([4, 4, 9], [1, 3, 2]), draws[:2])
    assert path.length[0] == pytest.approx(short.length[0], rel=1e-14)


def test_noise_that_nobody_knows_leaves_the_value_of_bonferroni():
    roots = [RootDraw(k, (0.5, 0.5)) for k in (1, 2)]
    long = [fixed_gains(majority_gains(k)) for k in (3, 5)]
    for path in (
        noise_path(calibrated([4], [2]), roots),
        noise_path(calibrated([2_000], [9]), long),
    ):
        assert np.isinf(path.length[0])
        assert curve_critical(1.959964, path)[0] == pytest.approx(norm.isf(0.0125), abs=1e-6)


def test_a_curve_of_one_point_or_of_equal_models_keeps_its_value():
    for path in (path_of(0.0, 1), path_of(0.0, 9), Path(np.zeros(4), np.zeros(3))):
        assert float(curve_critical(2.5, path)) == 2.5


def test_longer_paths_and_more_confidence_need_larger_values():
    values = [curve_critical(c, path_of(s, 64)) for c in (1.64, 1.96, 3.2) for s in (0, 0.5, 2, 9)]
    table = np.array(values).reshape(3, 4)
    assert (np.diff(table, axis=0) > 0).all()
    assert (np.diff(table, axis=1) > 0).all()


@pytest.mark.parametrize("n", [4, 16])
def test_the_value_is_close_to_that_of_the_true_covariance(n):
    """The exact value from draws of the normal curve; the study has it within .03 of ours."""
    sizes, p, w = range(1, n + 1), np.array([0.1, 0.3, 0.7]), np.array([0.5, 0.3, 0.2])
    credit = [lambda c, k=k: pass_at(n, c, k) for k in sizes]
    cov = np.array(
        [[w @ [brute_covariance(n, x, a, b) for x in p] for a in credit] for b in credit]
    )
    sd = np.sqrt(np.diag(cov))
    drawn = multivariate_normal(cov=cov / np.outer(sd, sd), allow_singular=True, seed=1).rvs(
        200_000
    )
    exact = np.quantile(np.abs(drawn).max(axis=1), 0.95)
    path = Path(np.diag(cov), np.diag(cov, 1))
    assert exact - 0.02 < float(curve_critical(1.959964, path)) < exact + 0.05


def test_clusters_are_the_units_of_a_path():
    rng = np.random.default_rng(1)
    values = [rng.random((6, 2)) for _ in range(3)]
    cluster, weight = np.array([0, 0, 1, 1, 2, 2]), np.full(6, 1 / 6)
    pooled = [each.reshape(3, 2, 2).mean(axis=1) for each in values]
    found = question_path(values, weight, cluster)
    expected = question_path(pooled, np.full(3, 1 / 3))
    assert found.length == pytest.approx(expected.length, abs=1e-12)


def test_a_curve_that_never_falls_has_a_band_that_never_falls():
    lo, hi = np.array([[0.1], [0.3], [0.2], [np.nan]]), np.array([[0.4], [0.7], [0.6], [np.nan]])
    low, high = rising_band(lo, hi)
    assert low.ravel()[:3].tolist() == [0.1, 0.3, 0.3]
    assert high.ravel()[:3].tolist() == [0.4, 0.6, 0.6]
    assert np.isnan([low[3], high[3]]).all()
