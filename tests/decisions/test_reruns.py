"""The noise of a rerun: its floor, what flips, and which questions are flaky."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio as ps
from polars_scorio.decisions.reruns import flip_values, most_flips, noise_floor
from polars_scorio.maths.populations import rate_ends
from tests.documents import study_numbers
from tests.made_logs import long

VECTORS = study_numbers("curves")
Z = stats.norm.ppf(0.975)


def log_of(rates, trials, seed=0, model="v1"):
    random = np.random.default_rng(seed)
    wins = random.random((len(rates), trials)) < np.asarray(rates)[:, None]
    return long(wins.astype(int).tolist(), model)


@pytest.mark.parametrize("case", [case for case in VECTORS["floor"] if not case["run_variance"]])
def test_the_floor_has_the_noise_of_both_runs(case):
    found = noise_floor(np.array([case["s2"] * case["F"]]), case["ratio"], Z)
    assert found[0] == pytest.approx(case["floor"], abs=1e-12)


@pytest.mark.parametrize("case", [case for case in VECTORS["floor"] if case["run_variance"]])
def test_runs_add_what_one_of_them_moves_to_both_logs(case):
    """With as many trials of a run in both logs, the runs have the ratio of the trials."""
    of_runs, trials = case["run_variance"], case["s2"] * case["F"]
    ratio = case["runs"] / case["new_runs"]
    alone = noise_floor(np.array([trials]), case["ratio"], Z)[0] ** 2
    runs = noise_floor(np.array([of_runs / case["runs"]]), ratio, Z)[0] ** 2
    assert np.sqrt(alone + runs) == pytest.approx(case["floor"], abs=1e-12)


@pytest.mark.parametrize("case", VECTORS["flips"])
def test_flips_are_counted_without_bias_and_bounded_by_single_trials(case):
    n = case["n"]
    if "values" in case:
        found = flip_values(np.full(n + 1, n), np.arange(n + 1))
        assert found.tolist() == pytest.approx(case["values"], abs=1e-12)
    else:
        most = most_flips(np.array([case["M"]]), np.array([case["c"]]), 0.95)
        assert most[0] == pytest.approx(case["most"], abs=1e-12)


@pytest.mark.parametrize("case", VECTORS["miss"])
def test_a_flaky_case_is_missed_as_often_as_it_is_green(case):
    if "miss" in case:
        assert ps.miss_rate(case["f"], case["m"]) == pytest.approx(case["miss"], abs=1e-12)
    else:
        assert ps.runs_to_fail(case["f"], case["chance"]) == case["runs"]


@pytest.mark.parametrize("case", VECTORS["flaky"])
def test_the_intervals_of_listed_questions_allow_for_being_listed(case):
    n, c = np.array(case["n"]), np.array(case["c"])
    rows = pl.DataFrame({"model": "m", "question": range(n.size), "n": n, "c": c})
    log = ps.from_successes(rows).scorio(count="count")
    found = log.reruns(per="question").sort("question")
    assert found["question"].to_list() == case["listed"]
    assert found["rate_lo"].to_list() == pytest.approx(case["lo"], abs=1e-9)
    assert found["rate_hi"].to_list() == pytest.approx(case["hi"], abs=1e-9)


def test_rates_have_the_interval_of_clopper_and_pearson():
    lo, hi = rate_ends(np.array([0.0, 4, 9]), np.array([9.0, 5, 0]), 0.025)
    for place, c in enumerate([0, 4, 9]):
        expected = stats.binomtest(c, 9).proportion_ci(0.95)
        assert (lo[place], hi[place]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_floor_of_a_rerun_is_the_interval_of_a_difference_of_two_equal_logs():
    """Far from the bounds the floor is z times the root of twice the variance of the score."""
    log = log_of(np.full(200, 0.5), 8).scorio
    row = log.reruns().row(0, named=True)
    price = log.report(ps.avg()).row(0, named=True)["sigma"]
    assert row["rerun_trials"] == 8
    assert row["noise_floor"] == pytest.approx(Z * np.sqrt(2) * price, rel=0.05)
    assert row["noise_floor"] == pytest.approx(Z * np.sqrt(2) * row["rerun_sd"], rel=1e-12)
    assert log.reruns(n=2)["noise_floor"][0] == pytest.approx(
        Z * row["rerun_sd"] * np.sqrt(1 + 8 / 2), rel=1e-12
    )


def test_the_floor_falls_with_the_trials_of_the_rerun():
    log = log_of(np.linspace(0, 1, 30), 4).scorio
    floors = [log.reruns(n=n)["noise_floor"][0] for n in (1, 2, 4, 8, 1_000_000)]
    assert floors == sorted(floors, reverse=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::polars_scorio.RunWarning")  # by chance
@pytest.mark.parametrize("trials", [1, 4])
def test_reruns_stay_within_their_floor(trials):
    rates, inside = np.random.default_rng(1).beta(0.5, 0.5, 60), 0
    for seed in range(200):
        old, new = (log_of(rates, trials, seed=2 * seed + each) for each in (0, 1))
        gap = abs(old["category"].mean() - new["category"].mean())
        inside += gap <= old.scorio.reruns()["noise_floor"][0]
    assert inside >= 184  # of 200: .95 less two standard errors


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::polars_scorio.RunWarning")  # by chance
def test_flips_have_their_share_of_changes_between_two_runs():
    rates, shares, covered = np.random.default_rng(2).random(80), [], 0
    truth = np.mean(2 * rates * (1 - rates))
    for seed in range(100):
        row = log_of(rates, 4, seed).scorio.reruns().row(0, named=True)
        shares.append(row["flips"])
        covered += row["flips_lo"] <= truth <= row["flips_hi"]
    assert np.mean(shares) == pytest.approx(truth, abs=0.01)
    assert covered >= 92


def test_single_trials_only_bound_what_flips():
    row = log_of(np.full(50, 0.1), 1).scorio.reruns().row(0, named=True)
    assert row["flips"] is None
    assert row["flips_lo"] == 0
    assert 0 < row["flips_hi"] < 0.5
    assert row["flaky"] == 0
    mixed = pl.concat(
        [log_of([0.5] * 9, 1), log_of([0.5] * 9, 4).with_columns(pl.col("question") + 9)]
    )
    assert mixed.scorio.reruns().select("flips", "flips_hi").row(0) == (None, 0.5)


def test_questions_that_flip_most_come_first_and_those_with_one_outcome_are_not_listed():
    rows = pl.DataFrame({"model": "m", "question": list("abcd"), "n": 4, "c": [4, 1, 2, 0]})
    found = ps.from_successes(rows).scorio(count="count").reruns(per="question")
    assert found.columns == [
        *("model", "question", "trials", "successes", "flips", "rate", "rate_lo", "rate_hi"),
    ]
    assert found["question"].to_list() == ["c", "b"]
    assert found["rate"].to_list() == [0.5, 0.25]


def test_real_rewards_have_a_floor_and_no_flips():
    random = np.random.default_rng(3)
    log = long(random.random((20, 4)).tolist(), "m")
    row = log.scorio.reruns().row(0, named=True)
    assert row["noise_floor"] > 0
    assert (row["flips"], row["flaky"]) == (None, None)
    with pytest.raises(ValueError, match="pass threshold=, from which on"):
        log.scorio.reruns(per="question")


@pytest.mark.parametrize(
    ("outcomes", "roles", "most"),
    [
        ([1], {}, 1.0),
        ([0], {}, 1.0),
        ([0, 0, 1], {}, 2 / 3),
        ([0.2, 0.9], {"bounds": (0, 2)}, 1.45),
        ([0.2, 0.9], {}, np.inf),
    ],
)
def test_a_floor_is_no_larger_than_the_score_can_move(outcomes, roles, most):
    """One question shows its noise so badly that z standard errors exceed the whole range."""
    row = long([outcomes], "m").scorio(**roles).reruns().row(0, named=True)
    normal = Z * np.sqrt(2) * row["rerun_sd"]
    assert row["noise_floor"] == pytest.approx(min(most, normal))
    assert (normal > most) == (len(roles) == 0 and most <= 1)


@pytest.mark.parametrize("outcome", [0, 1])
def test_single_trials_that_agree_are_no_proof_that_a_rerun_does(outcome):
    row = long([[outcome]] * 30, "m").scorio.reruns().row(0, named=True)
    # Rates of .9 (or .1) give such a log in 1 of 24: their reruns have a deviation of .055.
    assert row["rerun_sd"] == pytest.approx(1 - stats.norm.cdf(-1) ** (1 / 30))
    assert 0.05 < row["noise_floor"] < 0.2


def test_a_draw_beyond_the_trials_has_no_floor():
    log = log_of([0.5] * 20, 2).scorio
    assert log.reruns(ps.pass_at_k(4))["noise_floor"].to_list() == [None]
    assert log.reruns(ps.pass_at_k(2))["noise_floor"][0] > 0


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (ps.pass_at_k(2), {"n": 3}, "pass_at_k of a rerun with another number of trials"),
        (ps.bayes(), {}, "reruns needs unbiased estimates, and bayes gives posterior means"),
        (None, {"n": 0}, "n must be"),
        (None, {"per": "run"}, "per must be"),
    ],
)
def test_what_nobody_knows_is_refused(metric, options, message):
    with pytest.raises(ValueError, match=message):
        log_of([0.5] * 5, 4).scorio.reruns(metric, **options)


def test_lazy_stays_lazy_and_strata_have_rows_of_their_own():
    log = pl.concat(
        log_of([0.3] * 10, 4, seed, model).with_columns(by=pl.lit(by))
        for seed, (model, by) in enumerate([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")])
    )
    lazy = log.lazy().scorio(by="by").reruns()
    assert isinstance(lazy, pl.LazyFrame)
    found = lazy.collect()
    assert found.select("by", "model").rows() == [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")]
    alone = log.filter(by="y").scorio(by="by").reruns()
    assert_frame_equal(found.filter(by="y"), alone, rel_tol=1e-9)


def runs_apart(spread, seed=0, runs=6, questions=80):
    """A log of the same questions whose runs move all of them by the same, in logits."""
    rng, ease = np.random.default_rng(seed), np.random.default_rng(99).normal(0, 1, questions)
    run, question = np.indices((runs, questions)).reshape(2, -1)
    won = rng.random(run.size) < 1 / (
        1 + np.exp(-ease[question] - rng.normal(0, spread, runs)[run])
    )
    columns = {"model": "m", "question": question, "trial": run, "category": won.astype(int)}
    return pl.DataFrame(columns)


def test_runs_that_differ_are_in_the_floor_where_they_are_named():
    log = runs_apart(1.0)
    plain = log.scorio.reruns().row(0, named=True)
    named = log.scorio(run="trial").reruns().row(0, named=True)
    spread = log.scorio(run="trial").describe()["run_sd"].item()
    assert plain["run_sd"] is None
    assert named["run_sd"] == pytest.approx(spread, rel=1e-6)
    # One more run effect for each of the six runs of both logs.
    assert named["rerun_sd"] ** 2 == pytest.approx(plain["rerun_sd"] ** 2 + spread**2 / 6, rel=0.03)
    least = Z * np.sqrt(2 * (plain["noise_floor"] ** 2 / 2 / Z**2 + spread**2 / 6))
    assert named["noise_floor"] > least  # Student's t, of five degrees of freedom
    once = log.scorio(run="trial").reruns(n=1).row(0, named=True)
    # One run moves the score by more than it can move at all.
    assert named["noise_floor"] * np.sqrt(7 / 2) > once["noise_floor"]
    assert once["noise_floor"] == pytest.approx(max(once["estimate"], 1 - once["estimate"]))
    four = log.scorio(run="trial").reruns(n=4).row(0, named=True)
    assert four["noise_floor"] == pytest.approx(named["noise_floor"] * np.sqrt(5 / 4), rel=1e-9)


@pytest.mark.slow
def test_reruns_of_runs_that_differ_stay_within_their_floor():
    inside = {"none": 0, "own": 0}
    for seed in range(150):
        old, new = (runs_apart(0.5, 2 * seed + each) for each in (0, 1))
        gap = abs(old["category"].mean() - new["category"].mean())
        for effects in inside:
            scorio = old.scorio(run="trial", run_effects=effects)
            inside[effects] += gap <= scorio.reruns()["noise_floor"][0]
    assert inside["own"] >= 135  # of 150: .95 less two and a half standard errors
    assert inside["none"] < 120


def test_runs_are_in_the_floor_of_rewards_once():
    rng = np.random.default_rng(0)
    run, question = np.indices((6, 80)).reshape(2, -1)
    moved = rng.normal(0.5, 0.15, 80)[question] + rng.normal(0, 0.1, 6)[run]
    reward = np.clip(moved + rng.normal(0, 0.1, 480), 0, 1)
    log = pl.DataFrame({"model": "m", "question": question, "trial": run, "category": reward})
    scorio = log.scorio(run="trial", bounds=(0, 1))
    sigma = scorio.report(ps.avg())["sigma"].item()
    assert scorio.reruns()["rerun_sd"].item() == pytest.approx(sigma, rel=1e-9)
