"""Blends, Max@k and averages, against plain loops and each other."""

from math import comb, sqrt

import numpy as np
import pytest
from scipy.special import gammaln

from polars_scorio.kernels.calibrated.average_price import average_price
from polars_scorio.kernels.calibrated.blend_price import blend_price
from polars_scorio.kernels.calibrated.clopper_pearson import interval
from polars_scorio.kernels.calibrated.credit_sums import fixed
from polars_scorio.kernels.calibrated.error_polynomials import credit_of
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.max_price import best_prices
from polars_scorio.kernels.calibrated.variance_price import prices
from polars_scorio.kernels.draws import credit
from polars_scorio.kernels.pooling.population_fit import fit_categories
from polars_scorio.kernels.states import States
from tests.kernels.calibrated import oracle
from tests.kernels.calibrated.cases import CASES, HARD, R1, RAGGED, states_of

COUNTS = np.array([[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 1, 2], [0, 0, 5]])
QUESTIONS = np.array([5, 4, 3, 2, 6])
W = np.array([-1.0, 0.0, 2.0])
TOLERANCE = 2e-6  # the grids of the kernels and of the oracle differ


def categories(counts, questions):
    return States.tally(counts, 0 * counts, 0 * questions, questions, 1)


def same(found, known, tolerance):
    for name in ("estimate", "rest", "mean", "mean_rest", "variance", "factor"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(known, name), rtol=0, atol=tolerance, err_msg=name
        )


@pytest.mark.parametrize("group", [R1, HARD, RAGGED])
@pytest.mark.parametrize("powers", [(0.5, 0.5), (1.0, 0.25), (0.0, 1.0)])
def test_blends_equal_plain_loops(group, powers):
    gains = [credit.any_success(2), credit.majority(2)]
    values = [credit_of(own).tolist() for own in gains]
    size = sum(h for _, _, h in group)
    smooth, p, weight = oracle.fits(tuple(group))
    seen, means, free = [], [], []
    for own in values:
        seen.append(sum(h * oracle.estimates(n, own)[c] for n, c, h in group) / size)
        means.append(
            sum(h * (smooth.weight @ smooth.expect(n, c, own)) for n, c, h in group) / size
        )
        curve, total = sum(comb(2, j) * p**j * (1 - p) ** (2 - j) * own[j] for j in range(3)), 0.0
        for n, c, h in group:
            r = weight * p**c * (1 - p) ** (n - c)
            total += h * (r @ curve) / r.sum() / size
        free.append(total)
    (a, b), (x, y) = powers, [(size * u + m) / (size + 1) for u, m in zip(seen, means, strict=True)]
    theta = x**a * y**b
    linear = [theta * (a / x * g + b / y * h) for g, h in zip(*values, strict=True)]
    m, s2, factor = oracle.price(group, lambda _: linear)
    found = blend_price(Calibrated.fit(states_of(group)), *gains, powers)
    # Sums of a few terms in another order: far below the default of approx, 1e-6.
    assert found.mu[0] == pytest.approx(seen[0] ** a * seen[1] ** b)
    assert found.sigma[0] == pytest.approx(sqrt(s2), abs=TOLERANCE)
    # A quotient of two variances, each with the error of its grid.
    assert found.factor[0] == pytest.approx(factor, abs=1e-5)
    # m of the oracle tells which fit is the larger one.
    of_free = theta * (a / x * free[0] + b / y * free[1])
    # The same sum in another order; sums over the other fit lie far away.
    chosen = free if m == pytest.approx(of_free, abs=1e-9) else means
    assert found.mean[0] == pytest.approx(chosen[0] ** a * chosen[1] ** b, abs=TOLERANCE)


@pytest.mark.parametrize("case", CASES)
def test_a_blend_of_one_metric_is_that_metric(case):
    fitted, gains = Calibrated.fit(states_of(CASES[case])), credit.any_success(1)
    (alone,) = prices(fitted, [fixed(gains)])
    # The same grids; the blend's credit is rebuilt from two products: rounding.
    same(blend_price(fitted, gains, gains, (0.3, 0.7)), alone, 1e-9)


def test_a_negative_power_has_a_normal_interval():
    fitted = Calibrated.fit(states_of(R1))
    price = blend_price(fitted, credit.any_success(2), credit.all_success(2), (2.0, -1.0))
    # A few roundings: far below the default of approx.
    assert price.mu == pytest.approx(0.95**2 / 0.45)
    lo, hi = interval(price, 0.95)
    noise = 1.959964 * price.sigma * np.sqrt(price.factor)
    # z has seven digits: an error of 1e-8, below the default of approx, 1e-6.
    assert (hi - price.mu, price.mu - lo) == (pytest.approx(noise), pytest.approx(noise))
    zero = blend_price(
        Calibrated.fit(states_of(CASES["all wrong"])), *[credit.any_success(1)] * 2, (1.0, -0.5)
    )
    assert zero.mu == 0
    assert np.isfinite(zero.sigma).all()


def test_a_blend_beyond_the_trials_has_none():
    price = blend_price(
        Calibrated.fit(states_of(R1)), credit.any_success(9), credit.all_success(9), (0.5, 0.5)
    )
    assert np.isnan([price.mu, price.sigma, *interval(price, 0.95)]).all()


@pytest.mark.parametrize("case", CASES)
def test_the_better_of_two_rewards_is_a_success(case):
    states = states_of(CASES[case])
    k = int(states.counts.sum(axis=1).min())
    found, _ = best_prices(states, np.array([0.0, 1.0]), [k, 1])
    (known,) = prices(Calibrated.fit(states), [fixed(credit.any_success(k))])
    # The same fit, from successes that are counted the other way round: rounding.
    same(found, known, 1e-8)
    # Other weights, other order: the scale moves, nothing else does.
    swapped = States(states.counts[:, ::-1], *vars_of(states))
    (moved,) = best_prices(swapped, np.array([5.0, 3.0]), [k])
    # The same sums in another order.
    same(moved, found, 1e-12)
    # A few roundings: far below the default of approx.
    assert moved.mu == pytest.approx(3 + 2 * found.mu)


def vars_of(states):
    return states.prior, states.group, states.state, states.questions, states.groups


def moment(nu, first, second, i, j):
    """E[A_first^i A_second^j], cumulated shares of a Dirichlet, first <= second."""

    def rising(x, size):
        return np.exp(gammaln(x + size) - gammaln(x))

    low, high, total = nu[: first + 1].sum(), nu[: second + 1].sum(), nu.sum()
    inner = 1.0 if first == second else rising(low, i) / rising(high, i)
    return inner * rising(high, i + j) / rising(total, i + j)


def overlap(nu, n, k, first, second):
    """Covariance of two draws of k from n trials: that each stays below its reward."""
    return sum(
        comb(k, r)
        * comb(n - k, k - r)
        / comb(n, k)
        * (moment(nu, first, second, k, k - r) - moment(nu, first, second, k, k))
        for r in range(1, k + 1)
    )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_of_k_equals_plain_loops(k):
    gaps, staying, rho = [1 / 3, 2 / 3], [], 0.0
    values = [0.0] * k + [1.0]
    for step, gap in enumerate(gaps):
        below = COUNTS[:, : step + 1].sum(axis=1)
        group = list(zip(COUNTS.sum(axis=1), below, QUESTIONS, strict=True))
        group = [tuple(int(x) for x in row) for row in group]
        u = sum(h * oracle.estimates(n, values)[c] for n, c, h in group) / QUESTIONS.sum()
        staying.append((u, *oracle.price(group, lambda _: values)))
        rho += gap * oracle.fits(tuple(group))[0].rho
    n = COUNTS.sum(axis=1)
    pooled = 0.5 + sum(
        h * row / (1 + (row.sum() - 1) * rho) for h, row in zip(QUESTIONS, COUNTS, strict=True)
    )
    nu = (1 - rho) / rho * pooled / pooled.sum() + COUNTS

    covariance = np.zeros((2, 2))
    for row, h in enumerate(QUESTIONS):
        for first, second in ((0, 0), (0, 1), (1, 1)):
            covariance[first, second] += h * overlap(nu[row], int(n[row]), k, first, second)
    r = covariance[0, 1] / sqrt(covariance[0, 0] * covariance[1, 1])
    noise = [gap * sqrt(s2) for gap, (_, _, s2, _) in zip(gaps, staying, strict=True)]
    wider = [v * part[3] for v, part in zip(noise, staying, strict=True)]
    s2 = noise[0] ** 2 + noise[1] ** 2 + 2 * r * noise[0] * noise[1]
    widened = wider[0] * (noise[0] + r * noise[1]) + wider[1] * (noise[1] + r * noise[0])
    (found,) = best_prices(categories(COUNTS, QUESTIONS), W, [k])
    u = sum(gap * part[0] for gap, part in zip(gaps, staying, strict=True))
    m = sum(gap * part[1] for gap, part in zip(gaps, staying, strict=True))
    # A few roundings: far below the default of approx.
    assert found.mu[0] == pytest.approx(2 - 3 * u)
    assert found.mean_rest[0] == pytest.approx(m, abs=TOLERANCE)
    assert found.sigma[0] == pytest.approx(3 * sqrt(s2), abs=TOLERANCE)
    # A quotient of two variances, each with the error of its grid.
    assert found.factor[0] == pytest.approx(widened / s2, abs=1e-5)


def test_the_best_of_equal_rewards_is_certain():
    (price,) = best_prices(categories(COUNTS, QUESTIONS), np.full(3, 0.7), [2])
    assert [price.mu, price.sigma, *interval(price, 0.95)] == [0.7, 0, 0.7, 0.7]


def test_an_average_equals_plain_loops():
    grid = fit_categories(COUNTS, QUESTIONS)
    noise = np.zeros_like(grid.weight)
    for pi, rho, j in zip(grid.mean, grid.rho, range(noise.size), strict=True):
        s = (1 - rho) / rho
        for counts, h in zip(COUNTS, QUESTIONS, strict=True):
            nu, n = s * pi + counts, counts.sum()
            mean = nu @ W / (s + n)
            # E[Var of one trial] is T times the variance of the question's mean.
            noise[j] += h / n * (nu @ W**2 / (s + n) - mean**2) * (s + n) / (s + n + 1)
    smooth = grid.weight @ noise
    by_trials = np.repeat([np.repeat(W, row).var(ddof=1) / row.sum() for row in COUNTS], QUESTIONS)
    total = max(smooth, by_trials.sum())
    found = average_price(categories(COUNTS, QUESTIONS), W)
    estimate = sum(h * row @ W / row.sum() for h, row in zip(QUESTIONS, COUNTS, strict=True)) / 20
    # Both are sums over the same grid in another order: far below the default, 1e-6.
    assert found.mu[0] == pytest.approx(estimate)
    assert found.sigma[0] == pytest.approx(sqrt(total) / 20)
    spread = sqrt(grid.weight @ (noise - smooth) ** 2 + 20 * by_trials.var())
    # Again the same sums in another order.
    assert found.factor[0] == pytest.approx(1 + spread / total)


def test_a_population_that_is_not_dirichlet_is_not_priced_too_low():
    # Half always end in the middle, half at either end: 4 trials have the variance 1/16 or 0.
    counts = np.array([[0, 4, 0], [4, 0, 0], [3, 0, 1], [2, 0, 2], [1, 0, 3], [0, 0, 4]])
    questions = np.array([160, 10, 40, 60, 40, 10])
    price = average_price(categories(counts, questions), np.array([0, 0.5, 1]))
    assert price.variance[0] * 320 >= 1 / 32 * (1 - 1e-12)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_averages_on_a_bound(level):
    counts = np.zeros((1, 3), dtype=int)
    counts[0, level] = 4
    price = average_price(categories(counts, np.array([30])), W)
    lo, hi = interval(price, 0.95)
    assert np.isfinite([price.sigma, lo, hi]).all()
    assert lo <= W[level] <= hi
    assert hi - lo < 1
