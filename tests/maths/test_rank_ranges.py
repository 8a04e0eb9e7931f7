"""Ranges of ranks, against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from polars_scorio.maths.comparison import from_ranges
from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.power import removable_share
from polars_scorio.maths.ranks import (
    better_and_worse,
    rank_ranges,
    selected_tail,
    shrunk_scores,
    signal_share,
    signal_share_paired,
    tiers,
)
from tests.documents import study_numbers


def test_counts_better_and_worse_models():
    random = np.random.default_rng(1)
    mu = random.normal(size=(20, 6))
    differs = random.random((20, 6, 6)) < 0.5
    lo, hi = rank_ranges(*better_and_worse(mu, differs), np.isfinite(mu))
    for s in range(20):
        for i in range(6):
            better = sum(differs[s, i, j] and mu[s, j] > mu[s, i] for j in range(6))
            worse = sum(differs[s, i, j] and mu[s, j] < mu[s, i] for j in range(6))
            assert (lo[s, i], hi[s, i]) == (1 + better, 6 - worse)


def test_absent_models_take_no_rank():
    mu = np.array([[0.5, np.nan, 0.7]])
    counts = better_and_worse(mu, np.ones((1, 3, 3), dtype=bool))
    lo, hi = rank_ranges(*counts, np.isfinite(mu))
    assert lo.tolist() == [[2, 0, 1]]
    assert hi.tolist() == [[2, 0, 1]]


def test_equal_estimates_are_neither_better_nor_worse():
    mu = np.array([[0.5, 0.5, 0.5]])
    lo, hi = rank_ranges(*better_and_worse(mu, np.ones((1, 3, 3), dtype=bool)), np.isfinite(mu))
    assert lo.tolist() == [[1, 1, 1]]
    assert hi.tolist() == [[3, 3, 3]]


def test_models_are_compared_in_parts():
    random = np.random.default_rng(2)
    mu, c = random.random((5, 200)), random.random((5, 1))  # of five strata: two parts
    sigma = np.full_like(mu, 1 / 3)
    sigma[0, 3] = np.nan
    models = from_ranges((mu, sigma, mu - sigma, mu + sigma), 1.0)
    value = models.numbers.value
    differs = np.abs(value[:, :, None] - value[:, None, :]) > c[:, None] * np.sqrt(2) / 3
    np.testing.assert_array_equal(models.differs(c), differs)


@pytest.mark.parametrize("case", study_numbers("curves")["tiers"])
def test_a_tier_is_one_below_the_lowest_of_the_better_models(case):
    score, better = np.array([case["score"]]), np.array([case["better"]], dtype=bool)
    assert tiers(score, better)[0].tolist() == case["tier"]
    order = np.random.default_rng(0).permutation(score.size)
    shuffled = tiers(score[:, order], better[:, order][:, :, order])
    assert shuffled[0].tolist() == [case["tier"][place] for place in order]


def test_an_absent_model_has_no_tier_and_takes_none():
    mu = np.array([[np.nan, 0.9, 0.2]])
    assert tiers(mu, np.ones((1, 3, 3), dtype=bool))[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("models", [1, 2, 5, 20])
def test_tiers_contradict_no_range_of_ranks_whatever_the_verdicts_are(models):
    """Tier 1 is rank_lo 1, tier <= rank_lo <= rank_hi, and more verdicts raise no tier number."""
    random = np.random.default_rng(models)
    mu, reach = random.normal(size=(500, models)), random.uniform(0.5, 2, (500, models))
    gap = mu[:, None, :] - mu[:, :, None]  # of the model in the column over that in the row
    places = []
    for c in (0.2, 1.0, 3.0):
        better = gap > c * np.hypot(reach[:, None, :], reach[:, :, None])
        tier = tiers(mu, better)
        lo, hi = rank_ranges(better.sum(axis=2), better.sum(axis=1), np.ones(mu.shape, bool))
        assert ((tier == 1) == (lo == 1)).all()
        assert (tier <= lo).all()
        assert (lo <= hi).all()
        places.append(tier)
    assert (places[0] >= places[1]).all()
    assert (places[1] >= places[2]).all()


# The leader after selection: vectors, and how often its corrected interval has its score.


VECTORS = study_numbers("verdicts")["selected"]


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case):
    mu, sigma = np.array([case["mu"]]), np.array([case["sigma"]])
    leader = int(case["leader"])
    tail = selected_tail(np.array([mu.size]), case["confidence"])[0]
    assert tail == pytest.approx(case["lower_tail"], abs=1e-12)
    found = mu[0, leader] + ndtri(tail) * sigma[0, leader]
    assert found == pytest.approx(case["lo"], abs=1e-9)
    share = signal_share(mu, sigma)
    assert share[0] == pytest.approx(1 - case["noise_share"], abs=1e-9)
    shrunk = shrunk_scores(mu, sigma, share)[0, leader]
    assert max(shrunk, found) == pytest.approx(case["shrunk"], abs=1e-9)


@pytest.mark.parametrize("candidates", [2, 10, 60])
@pytest.mark.parametrize("spread", [0, 1, 4])
def test_the_corrected_interval_has_the_score_of_the_leader(candidates, spread):
    random = np.random.default_rng(7)
    truth = spread * random.normal(size=(4000, candidates))
    score = truth + random.normal(size=truth.shape)
    row, leader = np.arange(4000), score.argmax(axis=1)
    seen, true = score[row, leader], truth[row, leader]
    z = -ndtri(selected_tail(np.array([candidates]), 0.95)[0])
    below, above = (true < seen - z).mean(), (true > seen + 1.96).mean()
    # The study: at most .0308 and .0262 of nominal .025, in 2,500 to 4,000 replicates.
    assert max(below, above) < 0.0325


def test_equal_scores_have_their_mean_and_exact_ones_stay():
    mu, sigma = np.array([[0.4, 0.6, np.nan], [0.4, 0.6, np.nan]]), np.full((2, 3), 0.1)
    sigma[1] = 0.0
    found = shrunk_scores(mu, sigma, np.array([0.0, 1.0]))
    np.testing.assert_allclose(found, [[0.5, 0.5, np.nan], [0.4, 0.6, np.nan]])


# The share of the spread that is more than noise: vectors and laws.


OF_SHARES = study_numbers("verdicts")


def spread_of(squares, models):
    """Models with sigma 1 whose squared distances from their mean sum to a number."""
    mu = np.arange(models) - (models - 1) / 2
    return mu * np.sqrt(squares / (mu @ mu))


@pytest.mark.parametrize("case", OF_SHARES["noise_share"])
def test_vectors_of_the_share(case):
    mu = spread_of(case["Q"], case["models"])[None]
    assert signal_share(mu, np.ones_like(mu))[0] == pytest.approx(1 - case["share"], abs=1e-9)


@given(st.integers(2, 60), st.floats(0, 1e6), st.floats(1, 10))
def test_more_spread_is_more_than_noise(models, squares, factor):
    less, more = (spread_of(q, models)[None] for q in (squares, squares * factor))
    few, many = (signal_share(mu, np.ones_like(mu))[0] for mu in (less, more))
    assert 0 <= few <= many + 1e-12
    assert many <= 1


@given(st.integers(2, 20), st.floats(0.1, 100))
def test_independent_models_of_one_sigma_have_the_share_of_paired_ones(models, squares):
    mu = spread_of(squares, models)[None]
    both = Paired(mu, np.eye(models)[None], np.array([np.inf]), 0.0)  # of no known range
    # Sums of squares of distances and of pairs: rounding.
    alone = signal_share(mu, np.ones_like(mu))
    np.testing.assert_allclose(signal_share_paired(both, 0 * mu), alone, atol=1e-9)
    runs = np.full_like(mu, 3.0)  # which three more of the variance of the questions would be
    with_runs = signal_share(mu, np.hypot(np.ones_like(mu), np.sqrt(runs)))
    np.testing.assert_allclose(signal_share_paired(both, runs), with_runs, atol=1e-9)
    assert with_runs <= alone


@pytest.mark.parametrize(
    ("mu", "sigma", "share"),
    [
        pytest.param([0.5], [0.1], 1, id="one model"),
        pytest.param([0.5] * 2, [0.1] * 2, 0, id="two that are the same"),
        pytest.param([0.5] * 5, [0.1] * 5, 0, id="five that are the same"),
        pytest.param([0.5] * 5, [0.1] * 4 + [0.0], 1, id="one without sigma"),
        pytest.param([0.1, 0.9, np.nan], [0.1, 0.1, np.nan], 1 - 0.5 / 32, id="a null"),
        pytest.param([np.nan, np.nan], [np.nan, np.nan], 1, id="no model"),
        pytest.param([0.1, 0.2, 0.3, 9.0], [0.1] * 4, 1, id="one far ahead"),
    ],
)
def test_odd_strata_have_a_defined_share(mu, sigma, share):
    # One far ahead: 1 / 2,300 is missing.
    assert signal_share(np.array([mu]), np.array([sigma]))[0] == pytest.approx(share, abs=1e-3)


def share_of(c, n):
    """The share of a table of successes, with a row for each question."""
    mean = np.asarray(c) / n
    noise = mean * (1 - mean) / (n - 1) if n > 1 else np.full(mean.shape, np.nan)
    return removable_share(mean, noise)


def test_more_trials_remove_their_noise_and_leave_the_interaction():
    c = np.array([[0, 2, 4], [1, 0, 4], [3, 4, 1], [0, 1, 2]])
    mean = c / 4
    residual = mean - mean.mean(axis=1, keepdims=True) - mean.mean(axis=0) + mean.mean()
    noise = (mean * (1 - mean) / 3).mean()
    assert share_of(c, 4) == pytest.approx(noise / ((residual**2).sum() / (3 * 2)))


def test_a_share_of_many_worlds_is_that_of_their_rates():
    # Interaction .005, and trials p (1 - p) / 4, of 200 models and 300 questions.
    rng = np.random.default_rng(2)
    of_models, of_questions = rng.normal(0, 0.1, 200), rng.normal(0, 0.02**0.5, (300, 1))
    p = np.clip(0.5 + of_models + of_questions + rng.normal(0, 0.005**0.5, (300, 200)), 0, 1)
    noise = np.mean(p * (1 - p)) / 4
    assert share_of(rng.binomial(4, p), 4) == pytest.approx(noise / (noise + 0.005), abs=0.01)


def test_less_interaction_than_noise_leaves_nothing_for_questions():
    assert share_of([[2, 2], [2, 2], [1, 2]], 4) == 1


@pytest.mark.parametrize(
    ("c", "n"),
    [([[1], [2], [3]], 4), ([[1, 2, 3]], 4), ([[0, 1], [0, 0]], 1), ([[4, 4], [4, 4]], 4)],
    ids=["one model", "one question", "single trials", "nothing varies"],
)
def test_it_is_unknown(c, n):
    assert np.isnan(share_of(c, n))
