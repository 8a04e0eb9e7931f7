"""Max@k: published numbers, every draw one by one, the posterior, and rewards that are real."""

from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.metrics.metric import RewardMetric, given_reward_range
from tests.made_logs import law, long, ragged

RUBRIC = [0, 0.5, 1]
POSTERIOR = ["mu", "sigma", "lo", "hi"]
NUMBERS = ["estimate", *POSTERIOR]
SHOWN = ["estimate", "sigma", "lo", "hi"]  # of calibrated rows
DRAWS = 50_000
ROOM = 1e-12  # for rounding, in units of the largest reward
NAN, INF = float("nan"), float("inf")
REWARDS = st.floats(-1e3, 1e3)
WEIGHTS = st.lists(REWARDS, min_size=3, max_size=3)


def best_of_draws(outcomes: list[list[float]], k: int) -> float | None:
    """The mean over questions, and over every possible draw of k, of the best reward."""
    if k > min(map(len, outcomes)):
        return None
    return fmean(fmean(map(max, combinations(rewards, k))) for rewards in outcomes)


# --- published numbers


# The documentation of the package scorio: moments printed to 6 digits, bounds to 4.
@pytest.mark.parametrize(
    ("log", "w", "moments", "interval"),
    [
        ("r1", None, (0.95, 0.839286, 0.097263), (0.6487, 1.0)),
        ("r2", RUBRIC, (0.85, 0.75, 0.08812), (0.5773, 0.9227)),
    ],
)
def test_reproduces_published_numbers(request, log, w, moments, interval):
    row = request.getfixturevalue(log).scorio.max_at_k(2, w, prior="uniform")
    # Half of the sixth digit that is printed.
    assert row.select("estimate", "mu", "sigma").row(0) == pytest.approx(moments, abs=5e-7)
    # Half of the fourth digit that is printed.
    assert row.select("lo", "hi").row(0) == pytest.approx(interval, abs=5e-5)


# --- weighted categories


@law
@given(ragged(top=2), WEIGHTS, st.integers(1, 6))
def test_the_estimate_is_the_mean_over_every_possible_draw(outcomes, w, k):
    expected = best_of_draws([[w[category] for category in trials] for trials in outcomes], k)
    estimate = long(outcomes).scorio.max_at_k(k, w)["estimate"].item()
    # Rewards are up to 1e3 large.
    assert estimate == (expected if expected is None else pytest.approx(expected, abs=1e3 * ROOM))


@pytest.mark.parametrize("k", [1, 2, 6, 50])
@pytest.mark.parametrize("w", [RUBRIC, [2, -1, 0.5], [1, 1, -3], [7, 7, 7]], ids=str)
def test_mu_and_sigma_are_those_of_draws_from_the_posterior(w, k):
    log, earlier = long([[0, 1, 2, 2, 1], [0], [2] * 4]), long([[0, 2], [1], [2, 2, 2]])
    row = log.scorio.max_at_k(k, w, prior=earlier).row(0, named=True)
    # 1 + trials + prior trials in each category.
    nus, rng = ([3, 3, 4], [2, 2, 1], [1, 1, 8]), np.random.default_rng(k)
    levels = np.unique(w)
    drawn = np.zeros(DRAWS)
    for p in (rng.dirichlet(nu, DRAWS) for nu in nus):
        at_most = np.stack([p[:, np.array(w) <= level].sum(axis=1) for level in levels])
        best = np.diff(np.vstack([np.zeros(DRAWS), at_most**k]), axis=0)
        drawn += levels @ best / len(nus)
    # Four standard errors: of a mean, and of a standard deviation.
    mean_error = drawn.std() / DRAWS**0.5
    spread_error = ((drawn - drawn.mean()) ** 2).std() / (2 * drawn.std() or 1) / DRAWS**0.5
    assert row["mu"] == pytest.approx(drawn.mean(), abs=4 * mean_error + 10 * ROOM)
    assert row["sigma"] == pytest.approx(drawn.std(), abs=4 * spread_error + 10 * ROOM)


@pytest.mark.parametrize("w", [None, [0, 1]])
def test_of_success_and_failure_it_is_pass_at_k(w):
    log, k = long([[0, 1, 1, 0, 1], [1] * 6, [0] * 4, [0, 1]]), [1, 2, 3, 30]
    prior = long([[0, 1], [1, 1], [0]])
    rows, expected = (
        log.scorio.report(metric, prior=prior) for metric in (ps.max_at_k(k, w), ps.pass_at_k(k))
    )
    assert_frame_equal(rows.select(NUMBERS), expected.select(NUMBERS), rel_tol=0, abs_tol=ROOM)


@law
@given(ragged(top=2), WEIGHTS)
def test_of_a_draw_of_one_it_is_bayes(outcomes, w):
    best, bayes = (ps.max_at_k(1, w, bounds=None), ps.bayes(w))
    rows = long(outcomes).scorio.report(best, bayes, prior=long([[0, 2, 2]])).select(NUMBERS)
    # Weights are up to 1e3 large.
    assert_frame_equal(rows[:1], rows[1:], rel_tol=0, abs_tol=1e3 * ROOM)


@pytest.mark.parametrize(("scale", "shift"), [(1e-12, 0), (1e12, 0), (1, 1e9), (1e12, -1e9)])
def test_weights_of_any_size_are_fine(r2, scale, shift):
    plain = r2.scorio.max_at_k([1, 3, 50], RUBRIC).select(SHOWN)
    moved = r2.scorio.max_at_k([1, 3, 50], [scale * w + shift for w in RUBRIC]).select(SHOWN)
    expected = plain.select(pl.all().exclude("sigma") * scale + shift, pl.col("sigma") * scale)
    # Scaling and shifting the weights or the results: each number is rounded a few times.
    assert_frame_equal(moved.select(expected.columns), expected, rel_tol=1e-12, abs_tol=0)


def test_the_interval_is_clipped_to_the_range_of_the_weights(r2):
    w = [-2, 0.5, 3]
    assert ps.max_at_k(2, w).bounds == (-2, 3)
    free, clipped, own = r2.scorio.report(
        ps.max_at_k(3, w, bounds=None, name="free"),
        ps.max_at_k(3, w),
        ps.max_at_k(3, w, bounds=(2.5, 9), name="own"),
        confidence=0.9999,
        prior="uniform",
    ).rows(named=True)
    assert free["hi"] > 3 > free["lo"]
    assert (clipped["lo"], clipped["hi"]) == (free["lo"], 3)
    assert (own["lo"], own["hi"]) == (2.5, free["hi"])


def test_labels_have_weights_of_their_own(r2):
    words = r2.with_columns(pl.col("category").replace_strict({0: "bad", 1: "fair", 2: "good"}))
    rows = words.scorio.max_at_k([1, 3], {"good": 1, "bad": 0, "fair": 0.5}, name="best")
    assert_frame_equal(rows, r2.scorio.max_at_k([1, 3], RUBRIC, name="best"), check_exact=True)


# --- real-valued rewards


@pytest.fixture
def rewards():
    """Two strata and two models; questions of 1 to 4 trials."""
    parts = {("x", "a"): 0.0, ("x", "b"): 1.5, ("y", "a"): -2.0}
    values = [[0.25, -1.5, 3.0], [0.5], [7.0, 7.0, -7.0, 0.1]]
    return pl.concat(
        long([[value + shift for value in trials] for trials in values], model).with_columns(
            domain=pl.lit(domain)
        )
        for (domain, model), shift in parts.items()
    )


@law
@given(st.lists(st.lists(REWARDS, min_size=1, max_size=6), min_size=1, max_size=5))
def test_the_estimate_of_rewards_is_the_mean_over_every_possible_draw(outcomes):
    rows = long(outcomes).scorio.max_at_k(range(1, 8))
    for k, estimate in rows.select("k", "estimate").rows():
        expected = best_of_draws(outcomes, k)
        assert estimate == (
            # Rewards are up to 1e3 large.
            expected if expected is None else pytest.approx(expected, abs=1e3 * ROOM)
        )


def test_rewards_have_calibrated_numbers_up_to_their_trials(rewards):
    rows = rewards.filter(pl.col("question") != 1).scorio(by="domain").max_at_k([1, 4])
    assert rows.select(SHOWN).null_count().row(0) == (3,) * 4
    assert rows.select("questions", "trials", "dropped").rows() == [(2, 7, 0)] * 6
    assert rows["estimate"].is_null().to_list() == [False, True] * 3
    assert rows["bounds"].to_list() == ["observed"] * 6


def test_rewards_of_models_and_strata_do_not_touch_each_other(rewards):
    roles = {"by": "domain", "bounds": (-9, 9)}
    rows = rewards.scorio(**roles).max_at_k([1, 2])
    keys = ["domain", "model"]
    alone = [
        part.scorio(**roles).max_at_k([1, 2])
        for _, part in rewards.group_by(keys, maintain_order=True)
    ]
    assert_frame_equal(rows, pl.concat(alone), check_exact=True)
    shifts = rows.filter(k=1)["estimate"] - rows["estimate"][0]
    # Rewards are up to 9 large: ten times what is room for those up to 1.
    assert shifts.to_list() == pytest.approx([0, 1.5, -2], abs=10 * ROOM)


def test_rewards_per_question(rewards):
    rows = rewards.filter(domain="x", model="a").scorio.max_at_k([1, 3], per="question")
    estimates = [1.75 / 3, 3.0, 0.5, None, 7.1 / 4, (7 * 3 + 7) / 4]
    # Rewards are up to 7 large: ten times what is room for those up to 1.
    expected = [each if each is None else pytest.approx(each, abs=10 * ROOM) for each in estimates]
    assert rows["estimate"].to_list() == expected
    assert rows["question"].to_list() == [0, 0, 1, 1, 2, 2]


def test_rewards_are_read_lazily_and_in_any_order(rewards):
    expected = rewards.scorio(by="domain").max_at_k([1, 2])
    for seed in range(5):
        shuffled = rewards.sample(fraction=1, shuffle=True, seed=seed).lazy()
        for engine in ("streaming", "in-memory"):
            rows = shuffled.scorio(by="domain").max_at_k([1, 2]).collect(engine=engine)
            assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_rewards_may_be_an_expression_of_any_float(rewards, dtype):
    role = (pl.col("category") * 2).cast(dtype).alias("twice")
    rows = rewards.scorio(by="domain", category=role).max_at_k(1)
    expected = 2 * rewards.scorio(by="domain").max_at_k(1)["estimate"]
    # 0.1, 1.6 and -1.9 are rounded to Float32.
    assert rows["estimate"].to_list() == pytest.approx(expected.to_list(), rel=1e-6)


def test_counted_rewards_equal_single_trials(rewards):
    expected = rewards.scorio(by="domain").max_at_k([1, 2, 3])
    keys = ["domain", "model", "question", "category"]
    counted = rewards.group_by(keys).len("rows")
    never = counted.with_columns(pl.col("category") + 100, rows=pl.lit(0, pl.UInt32))
    for log in (counted, pl.concat([counted, never])):
        rows = log.scorio(by="domain", count="rows").max_at_k([1, 2, 3])
        assert_frame_equal(rows, expected, check_exact=True)
    tidy = rewards.scorio(by="domain").counts()
    rows = tidy.scorio(by="domain", count="count").max_at_k([1, 2, 3])
    assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.parametrize("hole", [None, NAN])
def test_missing_rewards_mean_what_missing_says(hole):
    log = long([[0.5, hole, -1.0], [2.0, 3.0]]).cast({"category": pl.Float64})
    message = r"^1 question has a missing category .* at model='m', question=0: 1 trial"
    with pytest.raises(ValueError, match=message):
        log.scorio.max_at_k(2)
    dropped = log.scorio(missing="drop").max_at_k([2, 3])
    # Means of two terms: rounding, far below the default of 1e-6.
    assert dropped["estimate"].to_list() == [pytest.approx((0.5 + 3) / 2), None]
    assert dropped["dropped"].to_list() == [1, 1]
    filled = log.scorio(missing=1.5).max_at_k(2)
    # Means of three terms: rounding, far below the default of 1e-6.
    assert filled["estimate"].item() == pytest.approx(((1.5 + 1.5 + 0.5) / 3 + 3) / 2)
    everything = long([[0.5], [hole]]).cast({"category": pl.Float64})
    with pytest.raises(ValueError, match=r"^1 question has no trial with a category.*question=1"):
        everything.scorio(missing="drop").max_at_k(1)


@pytest.mark.parametrize("infinite", [INF, -INF])
def test_an_infinite_reward_is_refused_with_its_place(rewards, infinite):
    broken = rewards.with_columns(
        pl.when(pl.col("question") > 0, domain="x", model="b").then(infinite).otherwise("category")
        .alias("category")
    )  # fmt: skip
    plan = broken.lazy().scorio(by="domain").max_at_k(1)
    message = (
        r"^2 questions have an infinite reward in 'category', the first at domain='x', model='b', "
        rf"question=1: {infinite}\. Recode it, or set it to null"
    )
    with pytest.raises(ValueError, match=message):
        plan.collect()


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_rewards_of_any_size_are_fine(size):
    rows = long([[size, -size, 0.5 * size], [size]]).scorio.max_at_k(1)
    assert rows["estimate"].item() == pytest.approx(size * (0.5 / 3 + 1) / 2, rel=ROOM)


def test_prior_trials_of_rewards_are_refused(rewards):
    with pytest.raises(ValueError, match=r"neither 0 nor 1 .*threshold="):
        rewards.scorio(by="domain").max_at_k([1, 2], prior=rewards)


# --- when a float is no reward


def test_a_float_that_counts_as_success_is_no_reward(rewards):
    binary = rewards.with_columns(category=pl.col("category").is_in([7.0, 8.5]))
    rows = rewards.scorio(by="domain", success=[7.0, 8.5]).max_at_k([1, 2])
    assert rows["lo"].null_count() == 0
    assert_frame_equal(rows, binary.scorio(by="domain").max_at_k([1, 2]), check_exact=True)


def test_a_float_with_weights_is_no_reward(r2):
    floats = r2.cast({"category": pl.Float64})
    rows, expected = (log.scorio.max_at_k([1, 3], RUBRIC) for log in (floats, r2))
    assert rows["lo"].null_count() == 0
    assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.parametrize("prior", [None, [[1.0, 0.0], [0.0]]])
def test_rewards_of_zero_and_one_share_a_report_with_binary_metrics(r1, prior):
    floats = r1.cast({"category": pl.Float64})
    others = (ps.bayes(), ps.pass_at_k([1, 2]), ps.geom_at_k(2), ps.bayes([0, 2]))
    earlier = None if prior is None else long(prior)
    rows = floats.scorio.report(*others, ps.max_at_k([1, 2, 6]), prior=earlier)
    integers = None if prior is None else earlier.cast({"category": pl.Int64})
    assert_frame_equal(rows[:-3], r1.scorio.report(*others, prior=integers), check_exact=True)
    expected = r1.scorio.report(ps.max_at_k([1, 2, 6]), prior=integers)
    # Products of matrices of other shapes are rounded otherwise.
    rows = rows[-3:].select(expected.columns)
    assert_frame_equal(rows, expected, rel_tol=1e-12, abs_tol=0)


def test_other_rewards_have_no_place_in_a_binary_report(rewards):
    plan = rewards.lazy().scorio(by="domain").report(ps.max_at_k(1), ps.pass_at_k(1))
    message = r"^9 questions have .* neither 0 nor 1 .* domain='x', model='a', question=0"
    with pytest.raises(ValueError, match=message):
        plan.collect()


def test_the_range_of_the_weights_is_the_only_word_for_bounds():
    assert ps.max_at_k(2, [3, 1], bounds="range") == ps.max_at_k(2, [3, 1])
    with pytest.raises(ValueError, match=r"^bounds must be None or two numbers, .* got 'ranges'$"):
        ps.max_at_k(2, bounds="ranges")


# Metrics of weights, for which real-valued rewards can stand in.


@pytest.mark.parametrize("metric", [ps.avg(), ps.max_at_k(2), ps.min_at_k(2)])
def test_averages_and_extremes_take_rewards(metric):
    assert isinstance(metric, RewardMetric)


@pytest.mark.parametrize("metric", [ps.bayes(), ps.pass_at_k(2), ps.mean_cost(), ps.vote_at_k(1)])
def test_metrics_of_other_things_take_none(metric):
    assert not isinstance(metric, RewardMetric)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (ps.avg(bounds=(0, 2)), (0.0, 2.0)),
        (ps.max_at_k(2, bounds=(0, 2)), (0.0, 2.0)),
        (ps.avg(), (-1.0, 1.0)),
        (ps.max_at_k(2), (-1.0, 1.0)),  # its own bounds are those of success and failure
        (ps.pass_at_k(2), (-1.0, 1.0)),
    ],
)
def test_the_range_of_a_metric_goes_before_that_of_all(metric, expected):
    assert given_reward_range(metric, (-1.0, 1.0)) == expected


def test_without_any_range_none_is_given():
    assert given_reward_range(ps.avg(), None) is None
