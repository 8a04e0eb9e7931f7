"""Rewards as categories: levels, a threshold, and comparisons that NaN passes."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.counting.roles import check_reward_range
from tests.made_logs import long, unreadable

LEVELS = [0, 0.25, 0.5, 0.75, 1]
METRICS = ps.bayes(), ps.avg(), ps.max_at_k([1, 2])


@pytest.fixture
def codes():
    return long([[0, 1, 4, 3], [2, 2, 4, 4], [0, 0, 1, 0]])


@pytest.fixture
def rewards(codes):
    return codes.with_columns(reward=pl.col("category") / 4).drop("category")


def test_the_levels_are_categories_and_weights(codes, rewards):
    weighed = codes.scorio.report(ps.bayes(LEVELS), ps.avg(LEVELS), ps.max_at_k([1, 2], LEVELS))
    report = rewards.scorio(category="reward", levels=LEVELS).report(*METRICS)
    assert_frame_equal(report.drop("metric"), weighed.drop("metric"))
    assert report["metric"].to_list() == ["bayes", "avg", "max_at_k", "max_at_k"]


def test_other_weights_name_the_levels(rewards):
    accessor = rewards.scorio(category="reward", levels=LEVELS)
    squares = {level: level**2 for level in LEVELS}
    squared = rewards.with_columns(pl.col("reward") ** 2).scorio(
        category="reward", levels=squares.values()
    )
    # Squares of quarters are exact floats: only the sums of a few of them may round differently.
    assert accessor.bayes(squares)["mu"].item() == pytest.approx(
        squared.bayes()["mu"].item(), rel=1e-14
    )
    with pytest.raises(
        ValueError, match=r"w must weigh the levels \[0\.0, 0\.25.*\], got \[0, 1, 2, 3, 4\]"
    ):
        accessor.bayes([0, 1, 2, 3, 4])


def test_all_levels_are_known_seen_or_not():
    log = long([[0.0, 1.0]])
    two, three = (
        log.scorio(levels=levels).bayes()["sigma"].item() for levels in ([0, 1], [0, 0.5, 1])
    )
    # Dirichlet(2, 2) and Dirichlet(2, 1, 2) with weights 0, 1 and 0, 1/2, 1:
    # the squares of roots, after a few roundings of 1e-16.
    assert (two**2, three**2) == pytest.approx(
        (1 / 20, (1 / 4 * 1 + 2) / 5 / 6 - 1 / 4 / 6), rel=1e-12
    )


@pytest.mark.parametrize("noise", [1e-7, -9e-7])
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_float_noise_is_no_other_reward(rewards, noise, dtype):
    noisy = rewards.with_columns((pl.col("reward") + noise).cast(dtype))
    accessors = [log.scorio(category="reward", levels=LEVELS) for log in (rewards, noisy)]
    clean, same = (accessor.report(*METRICS) for accessor in accessors)
    assert_frame_equal(same, clean, check_exact=True)
    assert_frame_equal(accessors[1].counts(), accessors[0].counts(), check_exact=True)


def test_any_other_reward_is_an_error_with_its_place(rewards):
    off = rewards.with_columns(
        pl.when(question=1, trial=2).then(0.3).otherwise("reward").alias("reward")
    )
    said = (
        r"1 question has a category outside \[0\.0, .*'reward', .* at model='m', question=1: 0\.3"
    )
    with pytest.raises(ValueError, match=said):
        off.scorio(category="reward", levels=LEVELS).bayes()


def test_integers_can_be_rewards():
    log = long([[0, 2], [10, 10]])
    report = log.scorio(levels=[0, 2, 10]).report(ps.avg(), ps.max_at_k(2))
    assert report["estimate"].to_list() == pytest.approx([5.5, 6.0])
    assert report["hi"].to_list()[1] <= 10


def test_binary_metrics_ask_for_success_unless_the_levels_tell(rewards):
    accessor = rewards.scorio(category="reward", levels=LEVELS)
    with pytest.raises(ValueError, match="success="):
        accessor.pass_at_k(1)
    solved = rewards.scorio(category="reward", levels=LEVELS, success=1).pass_at_k(1)
    assert solved["estimate"].item() == pytest.approx(3 / 12)
    assert long([[0.0, 1.0]]).scorio(levels=[0, 1]).pass_at_k(1)["estimate"].item() == 0.5


def test_missing_outcomes_can_be_a_level(rewards):
    crashed = rewards.with_columns(pl.when(pl.col("trial") > 0).then("reward").alias("reward"))
    accessor = crashed.scorio(category="reward", levels=LEVELS, missing=0)
    assert accessor.avg()["trials"].item() == 12
    with pytest.raises(ValueError, match=r"missing=3 is none of the known categories"):
        crashed.scorio(category="reward", levels=LEVELS, missing=3).avg()


def test_decisions_and_priors_use_the_levels(codes, rewards):
    two = [pl.concat([log, log.with_columns(model=pl.lit("n"))]) for log in (codes, rewards)]
    by_codes, by_levels = two[0].scorio, two[1].scorio(category="reward", levels=LEVELS)
    avg = ps.avg(LEVELS, name="avg")
    assert_frame_equal(by_levels.compare(), by_codes.compare(avg))
    assert_frame_equal(by_levels.rank(), by_codes.rank(avg))
    assert_frame_equal(
        by_levels.trials_needed(half_width=0.1), by_codes.trials_needed(avg, half_width=0.1)
    )
    assert_frame_equal(by_levels.next_trials(9), by_codes.next_trials(9, avg))
    assert_frame_equal(by_levels.trajectory(), by_codes.trajectory(avg))


def test_a_bound_that_is_not_the_range_stays(rewards):
    accessor = rewards.with_columns(pl.col("reward") * 2).scorio(
        category="reward", levels=[0, 0.5, 1, 1.5, 2], prior="uniform"
    )
    assert accessor.max_at_k(8)["hi"].item() > 1
    assert accessor.max_at_k(8, bounds=(0, 0.5))["hi"].item() == 0.5


@pytest.mark.parametrize(
    "levels",
    [[], [1], [0, 0], [0, 1e-6], [0, float("nan")], [0, float("inf")], 3, "ab", ["a", "b"]],
)
def test_levels_must_be_different_numbers(rewards, levels):
    with pytest.raises(ValueError, match="levels must be at least two different numbers"):
        rewards.scorio(category="reward", levels=levels)


def test_labels_have_no_levels():
    log = long([["a", "b"]])
    with pytest.raises(TypeError, match="'category' is String"):
        unreadable(log.schema).scorio(levels=[0, 1]).bayes()


# --- a threshold

NAN = float("nan")
REWARDS = pl.DataFrame(
    {"model": "m", "question": [1, 1, 1, 2, 2, 2], "reward": [0.0, NAN, 0.2, 0.5, 0.9, None]}
)
ROLES = {"trial": None, "category": "reward"}


def test_a_reward_from_the_threshold_on_is_a_success_and_nan_is_missing():
    # [0, NaN, .2] and [.5, .9, null]: 0 of 2 and 2 of 2, or 0 of 3 and 2 of 3.
    dropped = REWARDS.scorio(**ROLES, threshold=0.5, missing="drop").avg()
    assert dropped.select("estimate", "trials", "dropped").row(0) == (0.5, 4, 2)
    failed = REWARDS.scorio(**ROLES, threshold=0.5, missing=0).avg()
    assert failed["estimate"].item() == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match=r"^2 questions have a missing category .*'reward'"):
        REWARDS.scorio(**ROLES, threshold=0.5).avg()


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Int8, pl.UInt64], ids=str)
def test_numbers_of_every_width_reach_a_threshold(dtype):
    rewards = pl.Series([0, 7, 10]) / (10 if dtype.is_float() else 1)
    threshold = 0.7 if dtype.is_float() else 6.5
    log = pl.DataFrame({"model": "m", "question": [1, 1, 1], "reward": rewards.cast(dtype)})
    assert log.scorio(**ROLES, threshold=threshold).avg()["estimate"].item() == pytest.approx(2 / 3)


def test_every_way_to_count_knows_the_threshold():
    solved = REWARDS.scorio(**ROLES, threshold=0.5, missing="drop")
    counts = [("m", 1, None, 1), ("m", 1, False, 2), ("m", 2, None, 1), ("m", 2, True, 2)]
    assert solved.counts().rows() == counts
    assert solved.describe().select("trials", "nulls").row(0) == (4, 2)
    assert (
        solved.counts()
        .scorio(count="count", category="reward", missing="drop")
        .avg()
        .equals(solved.avg())
    )
    reward = pl.col("reward").scorio(threshold=0.5, missing="drop")
    assert REWARDS.select(reward.avg()).item() == 0.5
    reward = ps.scorio(pl.col("reward"), threshold=0.5, missing=0)
    assert REWARDS.select(reward.avg()).to_dict(as_series=False) == {"reward": [1 / 3]}


def test_prior_trials_have_the_threshold_too():
    log = REWARDS.drop_nulls().filter(~pl.col("reward").is_nan())
    solved = log.scorio(**ROLES, threshold=0.5)
    coded = log.with_columns(pl.col("reward") >= 0.5).scorio(**ROLES)
    graded = solved.bayes(prior=log)
    assert graded.equals(coded.bayes(prior=log.with_columns(pl.col("reward") >= 0.5)))


@pytest.mark.parametrize("threshold", [NAN, float("inf"), "0.5", True, pl.lit(0.5)])
def test_a_threshold_is_a_finite_number(threshold):
    with pytest.raises(ValueError, match=r"^threshold must be a finite number, .* got "):
        REWARDS.scorio(**ROLES, threshold=threshold)


@pytest.mark.parametrize("more", [{"success": 1}, {"levels": [0, 1]}], ids=str)
def test_one_role_says_what_succeeds(more):
    with pytest.raises(ValueError, match=r"^threshold=0.5 decides which trials succeed: omit "):
        REWARDS.scorio(**ROLES, threshold=0.5, **more)


@pytest.mark.parametrize("category", [True, "good"])
def test_only_rewards_have_a_threshold(category):
    log = pl.DataFrame({"model": "m", "question": 1, "reward": [category]})
    with pytest.raises(TypeError, match=r"^threshold= is for rewards, but .* 'reward' is "):
        log.scorio(**ROLES, threshold=0.5).avg()
    with pytest.raises(TypeError, match=r"^threshold= is for rewards, but .* 'reward' is "):
        log.select(pl.col("reward").scorio(threshold=0.5).avg())


# --- comparisons that take NaN for a large reward

COMPARISONS = {
    "reached": pl.col("reward") >= 0.5,
    "not below": ~(pl.col("reward") < 0.5),
    "computed": pl.col("reward") / 1 > 0.4,
    "one of two": (pl.col("reward") >= 0.5) & (pl.col("question") > 0),
    "chosen": pl.when(pl.col("question") == 1).then(pl.col("reward") >= 0.5).otherwise(True),
    "in SQL": pl.sql_expr("reward >= 0.5"),
}


@pytest.mark.parametrize("comparison", COMPARISONS.values(), ids=COMPARISONS)
def test_a_comparison_that_takes_nan_for_a_success_is_refused_with_its_place(comparison, tmp_path):
    log = REWARDS.filter(pl.col("reward").is_not_null())
    said = r"^1 question has a NaN that .* takes for a success, .* question=1: 1 trial\. "
    solved = log.scorio(trial=None, category=comparison)
    for plan in (solved.avg, solved.counts, lambda: solved.write_html(tmp_path / "refused.html")):
        with pytest.raises(ValueError, match=said):
            plan()


def test_a_division_of_nothing_by_nothing_is_nan_too():
    log = pl.DataFrame({"model": "m", "question": [1, 2], "passed": [0, 1], "tests": [0, 1]})
    share = pl.col("passed") / pl.col("tests")
    with pytest.raises(ValueError, match=r"^1 question has a NaN that"):
        log.scorio(trial=None, category=share >= 0.5).avg()


@pytest.mark.parametrize(
    "category",
    [
        pl.col("reward").fill_nan(None) >= 0.5,
        pl.col("reward").fill_nan(1.0) >= 0.5,  # said on purpose
        pl.col("reward") < 0.5,
        pl.col("reward").is_finite() & (pl.col("reward") >= 0.5),
        pl.col("question") > 1,
        (pl.col("reward") >= 0.5).cast(pl.Int8),
    ],
    ids=str,
)
def test_an_expression_that_knows_what_nan_means_is_taken(category):
    REWARDS.scorio(trial=None, category=category, missing="drop").avg()


def test_without_nan_a_comparison_is_taken():
    log = REWARDS.filter(~pl.col("reward").is_nan())
    assert log.scorio(trial=None, category=pl.col("reward") >= 0.5).avg()["trials"].item() == 4


def test_a_range_of_rewards_has_two_ends_however_long_the_sequence():
    with pytest.raises(
        ValueError, match=r"bounds must be two .* got range\(0, 1000000000000000000\)"
    ):
        pl.DataFrame().scorio(bounds=range(10**18))
    assert check_reward_range({1, 0}) == (0.0, 1.0)
