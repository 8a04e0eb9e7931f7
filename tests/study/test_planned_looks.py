"""Looks again and again at a log that grows: what `planned_trials` does to a comparison."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.special import ndtr, ndtri
from scipy.stats import norm

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.maths.comparison import sampled
from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.families import anytime_critical
from polars_scorio.maths.questions import States
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.scores import look_confidence, planned_share
from tests.differences import difference_numbers
from tests.documents import study_numbers
from tests.made_logs import law, long

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

VECTORS = study_numbers("decisions")
ENDS = ["lo", "hi"]


def random_log(seed, trials=8, questions=20, models=("ada", "bob", "cy")):
    rng = np.random.default_rng(seed)
    rates = rng.random(questions)
    return pl.concat(
        long((rng.random((questions, trials)) < rates[:, None]).astype(int).tolist(), model)
        for model in models
    )


def confidence_at(information, confidence=0.95):
    """The confidence of one look that has the critical value of a repeated one."""
    return float(2 * ndtr(anytime_critical(ndtri((1 + confidence) / 2), information)) - 1)


def cells_of(states):
    counts = np.array([[n - c, c] for n, c, _ in states])
    questions, every = np.array([each for *_, each in states]), np.zeros(len(states), int)
    tallied = States.tally(counts, 0 * counts, every, questions, 1)
    return QuestionCells.from_states(tallied, Classes((0, 1), (1,)))


def test_information_is_the_harmonic_mean_of_the_trials_over_the_plan():
    cells = cells_of([(4, 1, 2), (12, 6, 2)])  # 4 / (2/4 + 2/12) = 6
    assert planned_share(cells, "benchmark", 12) == pytest.approx([0.5])
    assert planned_share(cells, "population", 8) == pytest.approx([0.5])


def test_far_from_the_plan_confidence_stays_below_one():
    confidence = look_confidence(0.95, np.array([1e-6, 1.0, 1e6]))
    assert (confidence < 1).all()
    assert confidence[1] == pytest.approx(2 * ndtr(2.518754337898815) - 1)


@pytest.mark.parametrize("metric", [ps.avg(), ps.pass_at_k([2, 4]), ps.geom_ds_at_k(4)], ids=str)
@pytest.mark.parametrize("plan", [4, 16, 64])
@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")  # of the plan of 4
def test_a_comparison_is_that_of_one_look_at_a_larger_confidence(metric, plan):
    log = random_log(1).scorio
    found = log.compare(metric, planned_trials=plan, simultaneous=False)
    once = log.compare(metric, confidence=confidence_at(8 / plan), simultaneous=False)
    assert found["information_fraction"].to_list() == [8 / plan] * found.height
    # The chance of a pair is as careful as its interval at every look.
    apart = ["z", "prob_better"]
    same = found.drop("information_fraction", *apart)
    assert_frame_equal(same, once.drop(apart), rel_tol=1e-7, abs_tol=1e-9)
    assert (found["z"].abs() <= once["z"].abs()).all()


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_more_than_the_plan_is_valid_and_warned_of(target):
    """It was silent, and intervals were wider than of 8 planned trials or 20 questions."""
    accessor, option, made, units = random_log(1).scorio, "planned_trials", 8, "trials of each"
    if target == "population":
        option, made, units = "planned_questions", 20, "questions"
    right = accessor.compare(target=target, **{option: made})
    said = f"{option}={made // 2}: the log has up to {made} {units}"
    with pytest.warns(ps.LogWarning, match=said):
        beyond = accessor.compare(target=target, **{option: made // 2})
    assert beyond["information_fraction"].to_list() == [2.0] * 3
    assert (beyond["hi"] - beyond["lo"] > right["hi"] - right["lo"]).all()


@pytest.mark.parametrize("overall", [None, "macro"])
def test_about_a_population_the_plan_counts_questions(overall):
    log = random_log(2)
    log = pl.concat([log.with_columns(domain=pl.lit("x")), log.with_columns(domain=pl.lit("y"))])
    accessor = log.scorio(by="domain", target="population")
    found = accessor.compare(ps.avg(), planned_questions=40, overall=overall, simultaneous=False)
    strata = found.filter(pl.col("domain").is_not_null())
    assert strata["information_fraction"].to_list() == [0.5] * 6
    once = accessor.compare(ps.avg(), confidence=confidence_at(0.5), simultaneous=False)
    same, apart = strata.drop("information_fraction"), ["z", "prob_better"]
    assert_frame_equal(same.drop(apart), once.drop(apart), rel_tol=1e-7, abs_tol=1e-9)
    if overall is not None:
        assert found["information_fraction"].tail(3).to_list() == [1.0] * 3


def test_differences_over_a_population_are_those_of_the_critical_value():
    gaps = np.random.default_rng(4).normal(0.1, 0.3, 12)
    models = paired_means(np.stack([gaps, 0 * gaps], axis=1), np.array([0]), 1.0)
    for share in (0.5, 1.0, 2.0):
        scores = sampled(models, limit=4.0, information=np.array([share]))
        one = np.array([0]), np.array([1])
        found = scores.differences(*one, np.array([[1.959963984540054]]))
        # At the critical value of this look, in place of that of one look.
        c = anytime_critical(1.959963984540054, share)
        expected = difference_numbers(gaps, 1, 2 * norm.cdf(c) - 1)
        assert found.sigma.item() == pytest.approx(expected[1], rel=1e-9)
        assert (found.lo.item(), found.hi.item()) == pytest.approx(expected[4:], rel=1e-9)


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")  # of small plans
@pytest.mark.slow
@given(st.integers(0, 5), st.integers(1, 200))
@law
def test_intervals_that_hold_at_every_look_contain_those_of_one(seed, plan):
    log = random_log(seed, trials=4, questions=8).scorio
    repeated, once = (
        log.compare(ps.avg(), planned_trials=plan),
        log.compare(ps.avg()),
    )
    assert (repeated["lo"] <= once["lo"] + 1e-12).all()
    assert (repeated["hi"] >= once["hi"] - 1e-12).all()
    assert set(repeated["better"].drop_nulls()) <= set(once["better"].drop_nulls())


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")  # of small plans
@pytest.mark.slow
def test_intervals_are_narrowest_at_the_plan():
    log = random_log(4).scorio
    widths = [
        log.compare(ps.avg(), planned_trials=plan).select(pl.col("hi") - pl.col("lo"))["hi"].max()
        for plan in (2, 4, 8, 16, 32)
    ]
    assert np.argmin(widths) == 2
    once = log.compare(ps.avg()).select(pl.col("hi") - pl.col("lo"))["hi"].max()
    # Critical values grow by 2.519 / 1.960; quantiles of Beta distributions by less.
    assert 1.15 < widths[2] / once < 2.519 / 1.960


def test_the_model_with_less_information_decides_about_a_pair():
    log = pl.concat([random_log(5, trials=16, models=["ada"]), random_log(5, models=["bob"])])
    pair = log.scorio.compare(ps.avg(), planned_trials=16)
    assert pair["information_fraction"].item() == 0.5


def test_verdicts_about_all_pairs_are_made_in_one_step():
    # Steps of looks that are repeated were not studied: all pairs have the first critical value.
    log = pl.concat(
        long([[1] * hits + [0] * (16 - hits)] * 12, model)
        for model, hits in (("ada", 15), ("bob", 8), ("cy", 8), ("dee", 1))
    )
    critical = anytime_critical(2.5690, 1.0)  # the studentized range of four, over root 2
    log = log.scorio  # all runs are sorted by success
    pairs = log.compare(ps.avg(), planned_trials=16, simultaneous=True)
    once = log.compare(ps.avg(), confidence=float(2 * ndtr(critical) - 1), simultaneous=False)
    assert_frame_equal(pairs.select(ENDS), once.select(ENDS), abs_tol=1e-4)


def test_the_planned_number_is_that_of_the_target():
    log = random_log(9).scorio
    message = "^planned_trials= and planned_questions= are two plans of one log: .* Pass one, and "
    with pytest.raises(ValueError, match=message):
        log.compare(planned_trials=16, planned_questions=40)
    message = "^planned_trials= does not say .* about a population .* need planned_questions="
    with pytest.raises(ValueError, match=message):
        log.compare(planned_trials=16, target="population")
    with pytest.raises(ValueError, match=r"about these questions .* need planned_trials="):
        log.gate("ada", margin=0.1, planned_questions=40)


def test_only_decisions_know_of_looks():
    log = random_log(9).scorio
    asks = [log.report, log.rank, log.best, log.leaderboard, log.trials_needed, log, ps.scorio]
    for ask in asks:
        with pytest.raises(TypeError, match="planned_trials"):
            ask(**{"planned_trials": 16, **({"frame": log.frame} if ask is ps.scorio else {})})


@pytest.mark.parametrize("plan", [True, 0, -1, 1.5, "16", 10**19])
def test_a_plan_that_is_no_positive_int_is_refused(plan):
    message = (
        "^planned_trials must be the planned number of trials .* written down before the first look"
    )
    with pytest.raises(ValueError, match=message):
        random_log(1).scorio.compare(planned_trials=plan)


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        (ps.bayes(), {}),
        (ps.avg(), {"prior": "uniform"}),
        (ps.pass_at_k(2), {"prior": "population"}),
    ],
    ids=str,
)
def test_posterior_means_are_refused_with_the_way_out(metric, options):
    with pytest.raises(ValueError, match=r"means are biased, so .* without prior=$"):
        random_log(1).scorio.compare(metric, planned_trials=16, **options)


def test_draws_beyond_the_trials_have_a_range_and_no_verdict():
    pair = random_log(1).scorio.compare(ps.pass_at_k(16), planned_trials=16, baseline="ada")
    assert pair["better"].null_count() == pair.height
    assert pair["lo"].is_not_null().all()


def test_a_look_far_before_the_plan_leaves_everything_open():
    pair = random_log(1, trials=2).scorio.compare(ps.avg(), planned_trials=10**9)
    assert pair.select(ENDS).rows() == [(-1.0, 1.0)] * 3
