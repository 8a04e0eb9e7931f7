"""Step-down verdicts: at least as many as Holm's, and no wrong one too often."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from polars_scorio.kernels.simultaneous.dunnett import dunnett_critical
from polars_scorio.kernels.simultaneous.paired_means import paired
from polars_scorio.kernels.simultaneous.step_down import (
    baseline_critical,
    by_score,
    independent_critical,
    paired_critical,
    pairs_of,
    step_down,
)
from polars_scorio.kernels.simultaneous.tukey import tukey_critical


def scores(mu, sigma):
    """Of independent estimates."""
    spread = np.hypot(sigma[:, :, None], sigma[:, None, :])
    gap = np.abs(mu[:, :, None] - mu[:, None, :])
    return np.where(spread > 0, gap / np.where(spread > 0, spread, 1), np.where(gap > 0, np.inf, 0))


def holm(score):
    """How many pairs Holm's method tells apart, one by one."""
    p = np.sort(2 * ndtr(-score[np.triu_indices(len(score), 1)]))
    enough = p <= 0.05 / np.arange(p.size, 0, -1)
    return p.size if enough.all() else int(enough.argmin())


def test_tells_apart_at_least_what_holm_does():
    random = np.random.default_rng(1)
    mu = random.normal(0, 2, (60, 12))
    score = scores(mu, random.uniform(0.2, 1.5, mu.shape))
    told, _ = step_down(pairs_of(mu), independent_critical(mu, 0.95), by_score(score))
    found = told.sum(axis=(1, 2)) // 2
    oracle = np.array([holm(each) for each in score])
    assert (found >= oracle).all()
    assert found.sum() > oracle.sum()


def test_the_first_step_is_that_of_tukey_and_later_ones_need_less():
    mu = np.array([[0.0, 0.34, 5.0, 5.1]])
    score = scores(mu, np.full((1, 4), 0.1))
    told, c = step_down(pairs_of(mu), independent_critical(mu, 0.95), by_score(score))
    assert told[0, :2, 2:].all()
    assert not told[0, 2, 3]
    # In the second step two pairs are left, of models that have nothing in common.
    assert told[0, 0, 1]
    # Interpolation between values of a grid: 2e-7 here.
    assert c[0, 0, 1] == pytest.approx(ndtri((1 + np.sqrt(0.95)) / 2), abs=1e-4)
    first = tukey_critical(np.array([4]), 0.95)[0]
    # The same quantile, perhaps from sums in another order.
    np.testing.assert_allclose(c[0, :2, 2:], first, rtol=1e-12)
    assert c[0, 2, 3] == c[0, 0, 2]
    assert c[0, 0, 1] < score[0, 0, 1] < first


def test_equal_models_are_rarely_told_apart_beside_others():
    random = np.random.default_rng(2)
    truth = np.array([0.0, 0, 0, 0, 9, 9, 9, 30])
    mu = truth + random.normal(size=(8000, 8))
    score = scores(mu, np.ones(mu.shape))
    told, _ = step_down(pairs_of(mu), independent_critical(mu, 0.95), by_score(score))
    wrong = (told & (truth[:, None] == truth)).any(axis=(1, 2)).mean()
    assert wrong == pytest.approx(0.05, abs=0.0075)  # three standard errors: it is exact here


def test_the_order_of_the_models_does_not_matter():
    random = np.random.default_rng(3)
    mu, sigma = random.normal(0, 2, (40, 7)), random.uniform(0.2, 1, (40, 7))
    shuffled = random.permutation(7)
    told, c = (
        step_down(pairs_of(mu[:, order]), independent_critical(mu[:, order], 0.95), by_score(score))
        for order in (np.arange(7), shuffled)
        for score in [scores(mu[:, order], sigma[:, order])]
    )
    np.testing.assert_array_equal(told[0][:, shuffled][:, :, shuffled], c[0])
    # The order of the models is that of sums.
    np.testing.assert_allclose(told[1][:, shuffled][:, :, shuffled], c[1], rtol=1e-12)


def test_a_baseline_is_compared_by_the_models_that_are_left():
    mu, sigma = np.array([[0.0, 2.3, 2.0, 50.0]]), np.array([[0.5, 1.0, 0.4, 1.0]])
    pairs = pairs_of(mu, 0)
    told, c = step_down(pairs, baseline_critical(sigma, 0, 0.95), by_score(scores(mu, sigma)))
    assert told[0, 0].tolist() == [False, True, True, True]
    # Two are told apart in the first step; then the other is alone.
    first = dunnett_critical(sigma[:, 1:], sigma[:, 0], 0.95)[0]
    alone = dunnett_critical(np.array([[1.0]]), np.array([0.5]), 0.95)[0]
    # The same integrals, perhaps from sums in another order.
    assert c[0, 0, 1:] == pytest.approx([alone, first, first], rel=1e-9)
    assert not told[0, 1:, 1:].any()


def test_paired_verdicts_are_at_least_those_of_holm():
    random = np.random.default_rng(4)
    values = random.normal(0, 1, (400, 9)) + np.linspace(0, 1, 9)
    models = paired(values, np.arange(0, 400, 40), 1.0)
    score = np.abs(models.mean[:, :, None] - models.mean[:, None, :])
    score = score / np.where(np.eye(9) == 1, 1, models.sigma())
    pairs = pairs_of(models.mean)
    told, _ = step_down(pairs, paired_critical(models, 0.95), by_score(score))
    tail = 0.05 / 2 / np.arange(36, 0, -1)
    from_t = [_holm_of_t(each[np.triu_indices(9, 1)], tail) for each in score]
    assert (told.sum(axis=(1, 2)) // 2 >= from_t).all()


def _holm_of_t(score, tail):
    from scipy.stats import t  # noqa: PLC0415 - an oracle of one test

    enough = t.sf(np.sort(score)[::-1], 39) <= tail
    return score.size if enough.all() else int(enough.argmin())


def test_verdicts_may_come_from_intervals_of_any_shape():
    mu = np.array([[0.0, 1.0, 2.6]])

    def decided(c, strata):
        up, down = 0.3 * c[:, None, None], 0.6 * c[:, None, None]
        gap = mu[strata][:, :, None] - mu[strata][:, None, :]
        return np.where(gap > 0, gap > up, -gap > down) & np.swapaxes(
            np.where(gap > 0, gap > up, -gap > down), 1, 2
        )

    told, _ = step_down(pairs_of(mu), independent_critical(mu, 0.95), decided)
    assert told[0, 0].tolist() == [False, False, True]
    assert told[0, 1].tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("mu", "sigma", "told"),
    [
        pytest.param([0.5], [0.1], 0, id="one model"),
        pytest.param([np.nan, np.nan], [np.nan, np.nan], 0, id="no numbers"),
        pytest.param([0.5, 0.5, 0.5], [0.0, 0.0, 0.0], 0, id="identical, without sigma"),
        pytest.param([0.5, 0.6, 0.6], [0.0, 0.0, 0.0], 2, id="without sigma"),
        pytest.param([0.5, 0.6, np.nan], [0.0, 0.01, np.nan], 1, id="a null"),
    ],
)
def test_odd_strata_have_defined_verdicts(mu, sigma, told):
    mu, sigma = np.array([mu]), np.array([sigma])
    found, c = step_down(pairs_of(mu), independent_critical(mu, 0.95), by_score(scores(mu, sigma)))
    assert found.sum() // 2 == told
    assert np.isfinite(c).all()


def test_no_stratum_is_an_empty_result():
    mu = np.empty((0, 3))
    told, c = step_down(pairs_of(mu), independent_critical(mu, 0.95), by_score(np.empty((0, 3, 3))))
    assert told.shape == (0, 3, 3)
    assert c.shape == (0, 3, 3)
