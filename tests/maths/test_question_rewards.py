"""Questions by their rewards: sums, the noise of single trials, clusters."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import t

from polars_scorio.maths.credit_numbers import sample_numbers
from polars_scorio.maths.interval import MeasuredPairs
from polars_scorio.maths.reward_variances import (
    GroupRewards,
    QuestionRewards,
    RewardNoise,
    best_noise,
    best_of_rewards,
)
from tests.differences import cluster_means, plus_two
from tests.documents import study_numbers
from tests.maths.rewards_oracle import best_estimate, reward_interval

LOG = [[0.1, 0.6, 0.4], [0.9, 0.2], [0.7], [0.3], [0.8, 0.1, 0.1, 0.2]]


def question_rewards(logs, bounds, k=1):
    """The questions of one group."""
    low, high = bounds
    trials = np.array([len(rewards) for rewards in logs])
    flat = np.concatenate([np.asarray(rewards, float) for rewards in logs])
    unit = (flat - low) / ((high - low) or 1.0)
    offsets = np.append(0, np.cumsum(trials))
    values, noise = best_of_rewards(unit, offsets, k), best_noise(unit, offsets, k)
    return QuestionRewards(values, noise, trials, 0 * trials, 1, k).ordered()


def reward_variance(logs, bounds, k=1):
    """Their variance."""
    low, high = bounds
    questions = question_rewards(logs, bounds, k)
    return RewardNoise.from_questions(questions, np.array([low]), np.array([high - low]))


def population(questions):
    """Standard error and ends of the mean over a population of which questions are a sample."""
    return sample_numbers(questions.mean, questions.sample(), 0.95)[1:4]


@given(st.permutations(range(5)))
def test_the_order_of_questions_changes_no_bit(order):
    shuffled = question_rewards([LOG[i] for i in order], (0, 1))
    for name in ("mean", "size"):
        one, other = getattr(shuffled, name), getattr(question_rewards(LOG, (0, 1)), name)
        assert one.tobytes() == other.tobytes()
    both = population(shuffled), population(question_rewards(LOG, (0, 1)))
    for one, other in zip(*both, strict=True):
        assert one.tobytes() == other.tobytes()


def test_single_trials_have_the_larger_of_two_variances():
    questions = question_rewards(LOG, (0, 1))
    within = np.mean([np.var(rewards, ddof=1) for rewards in LOG if len(rewards) > 1])
    single = questions.full_noise()[questions.trials == 1]
    assert single == pytest.approx([within, within])  # between .7 and .3 it is .08
    far = question_rewards([[0.5, 0.5], [0.0], [1.0]], (0, 1))
    assert far.full_noise().tolist() == [0.5, 0.5, 0.0]


def test_questions_without_noise_are_those_of_equal_or_single_trials():
    questions = question_rewards([[0.7, 0.7, 0.7], [0.7], [0.7, 0.6]], (0, 1))
    assert questions.silent[np.argsort(questions.trials)].tolist() == [True, False, True]


@pytest.mark.parametrize("clusters", [None, [4, 3, 2, 1, 0], [0, 0, 1, 1, 1]])
def test_a_population_has_one_more_reward_at_either_end(clusters):
    questions = question_rewards(LOG, (0, 1))
    means, shares = questions.values, None
    if clusters:
        questions = replace(questions, cluster=np.array(clusters))
        means, shares = cluster_means(questions.values, clusters)
    centre, sigma, freedom = plus_two(means, (0, 1), shares)
    reach = t.ppf(0.975, freedom) * sigma
    found = [each.item() for each in population(questions)]
    # Sums in another order.
    expected = sigma, max(centre - reach, 0), min(centre + reach, 1)
    assert found == pytest.approx(expected, rel=1e-12)


def test_one_cluster_tells_nothing_of_others():
    questions = replace(question_rewards(LOG, (0, 1)), cluster=np.zeros(5, dtype=int))
    assert np.isnan(population(questions)).all()


# Rewards of questions on the scale of their range.


EIGHTHS = st.integers(-40, 40).map(lambda i: i / 8)
LOGS = st.lists(st.lists(EIGHTHS, min_size=3, max_size=6), min_size=1, max_size=4)


def group_rewards(logs, low, high):
    trials = np.array([len(rewards) for rewards in logs])
    every = np.concatenate([np.asarray(rewards) for rewards in logs])
    mean = np.array([np.mean(rewards) for rewards in logs])
    error = np.array([np.std(rewards, ddof=1) / len(rewards) ** 0.5 for rewards in logs])
    low, high = np.array([float(low)]), np.array([float(high)])
    return GroupRewards(trials, 0 * trials, 1, low, high - low, mean, error, every)


@given(LOGS)
def test_averages_are_the_best_and_the_worst_of_one(logs):
    rewards = group_rewards(logs, -6, 10)
    average = rewards.averages()
    for other in (rewards.best(1), rewards.worst(1)):
        assert other.values == pytest.approx(average.values, abs=1e-12)
        assert other.noise == pytest.approx(average.noise, abs=1e-12)


@given(LOGS, st.integers(1, 3))
def test_the_worst_is_the_best_of_the_negative_rewards(logs, k):
    worst = group_rewards(logs, -6, 10).worst(k)
    mirrored = [[-reward for reward in rewards] for rewards in logs]
    best = group_rewards(mirrored, -10, 6).best(k)
    assert worst.values == pytest.approx(1 - best.values, abs=1e-12)
    assert worst.noise == pytest.approx(best.noise, abs=1e-12)


def test_equal_rewards_without_a_range_keep_their_scale():
    rewards = group_rewards([[0.7, 0.7]], 0.7, 0.7)
    assert rewards.averages().values.tolist() == [0.0]
    assert rewards.best(2).noise.tolist() == [0.0]


# The best of k from real-valued rewards, and its noise.


# Sums of at most nine trials of at most 5, squared: a few units in the last place of 25.
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


@given(st.lists(EIGHTHS, min_size=2, max_size=9), st.data())
def test_noise_equals_that_of_all_draws_without_each_trial(rewards, data):
    k = data.draw(st.integers(1, len(rewards)))
    estimate, noise = (float(each) for each in best_estimate(rewards, k))
    offsets = np.array([0, len(rewards)])
    np.testing.assert_allclose(best_of_rewards(np.array(rewards), offsets, k), estimate, **CLOSE)
    np.testing.assert_allclose(best_noise(np.array(rewards), offsets, k), noise, **CLOSE)


@given(st.lists(EIGHTHS, min_size=2, max_size=9))
def test_noise_of_single_draws_is_the_variance_of_the_mean(rewards):
    noise = best_noise(np.array(rewards), np.array([0, len(rewards)]), 1)
    expected = np.var(rewards, ddof=1) / len(rewards)
    np.testing.assert_allclose(noise, expected, **CLOSE)


def test_equal_rewards_have_no_noise_at_all():
    rewards = np.full(7, 0.1)
    assert [best_noise(rewards, np.array([0, 7]), k).item() for k in (1, 3, 7)] == [0.0, 0.0, 0.0]


def test_a_single_trial_and_too_few_have_no_noise_that_is_known():
    assert np.isnan(best_noise(np.array([0.5, 0.1, 0.2]), np.array([0, 1, 3]), 1)).tolist() == [
        True,
        False,
    ]
    assert np.isnan(best_noise(np.array([0.1, 0.2]), np.array([0, 2]), 3)).all()


# Efron and Stein (1981): on average the noise is not below the variance, whatever the rewards are.
@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 1), (3, 2), (4, 2), (4, 3), (4, 4), (5, 2)])
@pytest.mark.parametrize("chances", [(0.2, 0.3, 0.5), (0.9, 0.05, 0.05), (0.5, 0.0, 0.5)])
def test_noise_is_conservative_on_average(n, k, chances):
    levels, offsets = np.array([0.0, 0.4, 1.0]), np.array([0, n])
    logs = [np.array(log) for log in product(range(3), repeat=n)]
    chance = np.array([np.prod(np.take(chances, log)) for log in logs])
    estimate = np.array([best_of_rewards(levels[log], offsets, k).item() for log in logs])
    noise = np.array([best_noise(levels[log], offsets, k).item() for log in logs])
    variance = chance @ estimate**2 - (chance @ estimate) ** 2
    assert chance @ noise >= variance * (1 - 1e-12)
    if k == 1:
        assert chance @ noise == pytest.approx(variance, rel=1e-12)


# Differences of mean rewards: each side reaches as far as its own interval.


CASES = study_numbers("rewards")["differences"]
FIRST = [[0.9, 0.8, 0.7], [0.6, 0.9], [0.5, 0.7, 0.2]]
SECOND = [[0.4, 0.2, 0.7], [0.6, 0.5, 0.1], [0.5, 0.3]]


def ends_by_trials(first, second, bounds, k=1, confidence=0.95):
    one, other = (reward_variance(logs, bounds, k) for logs in (first, second))
    place, other = np.array([0]), other.arrays
    both = {name: np.concatenate([each, other[name]]) for name, each in one.arrays.items()}
    pairs = MeasuredPairs.from_side(replace(one, **both), 1, place, place + 1)
    return np.ravel(pairs.ends(np.array([[-ndtri((1 - confidence) / 2)]]))).tolist()


def test_differences_equal_the_vectors_of_the_study():
    for case in CASES:
        options = case["options"]
        ends = ends_by_trials(case["first"], case["second"], options["bounds"], options["k"])
        assert ends == pytest.approx([case["result"]["lo"], case["result"]["hi"]], abs=1e-9)


def test_the_difference_of_the_other_order_is_mirrored():
    lo, hi = ends_by_trials(FIRST, SECOND, (0, 1))
    assert ends_by_trials(SECOND, FIRST, (0, 1)) == pytest.approx([-hi, -lo], abs=1e-12)


def test_rewards_and_range_may_be_rescaled():
    lo, hi = ends_by_trials(FIRST, SECOND, (0, 1))
    rescaled = [[[10 * x - 3 for x in rewards] for rewards in logs] for logs in (FIRST, SECOND)]
    assert ends_by_trials(*rescaled, (-3, 7)) == pytest.approx([10 * lo, 10 * hi], abs=1e-8)


# The variance of mean rewards: vectors of a second implementation, an oracle, and laws.


HUNDREDTHS = st.integers(0, 100).map(lambda i: i / 100)
SAMPLED = st.lists(st.lists(HUNDREDTHS, min_size=1, max_size=6), min_size=1, max_size=8)
# Beta quantiles are found to 1e-10 or so near the bounds.
NEAR = {"rel": 1e-9, "abs": 1e-9}
SAMPLES = study_numbers("rewards")["intervals"]


def ends_of(noisy, confidence=0.95):
    return [end.item() for end in noisy.ends((1 - confidence) / 2)]


def test_equals_the_vectors_of_the_study():
    for case in SAMPLES:
        options = dict(case["options"])
        confidence = options.pop("confidence", 0.95)
        flat = [reward for rewards in case["rewards"] for reward in rewards]
        bounds, k = options.pop("bounds", (min(flat), max(flat))), options.pop("k", 1)
        expected = tuple(case["result"][name] for name in ("estimate", "sigma", "lo", "hi"))
        study = {"k": k, "bounds": bounds, "confidence": confidence}
        assert reward_interval(case["rewards"], **study) == pytest.approx(expected, abs=1e-9)
        noisy = reward_variance(case["rewards"], bounds, k)
        found = [noisy.mu.item(), noisy.sigma.item(), *ends_of(noisy, confidence)]
        known = [np.nan if number is None else number for number in expected]
        assert found == pytest.approx(known, abs=1e-9, nan_ok=True), case["name"]


@pytest.mark.slow
@given(SAMPLED, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_averages_equal_the_oracle(logs, confidence):
    _, sigma, lo, hi = reward_interval(logs, bounds=(0, 1), confidence=confidence)
    noisy = reward_variance(logs, (0, 1))
    assert ends_of(noisy, confidence) == pytest.approx([lo, hi], **NEAR)
    assert noisy.sigma.item() == pytest.approx(np.nan if sigma is None else sigma, nan_ok=True)


@pytest.mark.slow
@given(st.lists(st.lists(HUNDREDTHS, min_size=3, max_size=6), min_size=1, max_size=6), st.data())
def test_best_of_k_equals_the_oracle(logs, data):
    k = data.draw(st.integers(2, 3))
    expected = reward_interval(logs, k=k, bounds=(-1, 2))
    noisy = reward_variance(logs, (-1, 2), k)
    found = [noisy.mu.item(), noisy.sigma.item(), *ends_of(noisy)]
    assert found == pytest.approx(expected, rel=1e-9, abs=3e-9)


@pytest.mark.slow
@given(SAMPLED)
def test_more_confidence_is_wider_and_holds_the_estimate(logs):
    noisy = reward_variance(logs, (0, 1))
    narrow, wide = ends_of(noisy, 0.8), ends_of(noisy, 0.95)
    assert 0 <= wide[0] <= narrow[0] <= noisy.estimate.item() + 1e-12
    assert noisy.estimate.item() - 1e-12 <= narrow[1] <= wide[1] <= 1


@pytest.mark.slow
@given(SAMPLED)
def test_mirrored_rewards_have_the_mirrored_interval(logs):
    lo, hi = ends_of(reward_variance(logs, (0, 1)))
    mirrored = [[1 - reward for reward in rewards] for rewards in logs]
    assert ends_of(reward_variance(mirrored, (0, 1))) == pytest.approx([1 - hi, 1 - lo], abs=1e-9)


@pytest.mark.slow
@given(SAMPLED)
def test_wider_bounds_are_never_narrower(logs):
    lo, hi = ends_of(reward_variance(logs, (0, 1)))
    below, above = ends_of(reward_variance(logs, (-1, 3)))
    assert below <= lo + 1e-9
    assert above >= hi - 1e-9


def test_rewards_that_all_fail_have_the_bound_of_clopper_and_pearson():
    lo, hi = ends_of(reward_variance([[0.0] * 4] * 10, (0, 1)))
    assert lo == 0.0
    assert hi == pytest.approx(1 - 0.025 ** (1 / 40), rel=1e-9)


def test_a_range_that_is_not_known_has_no_interval():
    noisy = reward_variance([[0.7] * 3] * 8, (0.7, 0.7))
    assert (noisy.mu.item(), noisy.sigma.item()) == (0.7, 0.0)
    assert np.isnan(ends_of(noisy)).all()


def test_a_critical_value_of_zero_has_ends():
    noisy = reward_variance([[0.2, 0.4], [0.9, 0.1]], (0, 1))
    lo, hi = ends_of(noisy, 0.0)
    assert lo <= noisy.estimate.item() <= hi
