"""The methods of the accessor that plan: small plans, and the choices that reach them."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import long, unreadable

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


@pytest.fixture
def log() -> pl.DataFrame:
    """Ada solves 40 of 60 trials, bob 30: twenty questions of three trials each."""
    ada, bob = [[1, 1, 1], [1, 0, 0]] * 10, [[1, 0, 0], [1, 1, 0]] * 10
    turned = ([row[i % 3 :] + row[: i % 3] for i, row in enumerate(rows)] for rows in (ada, bob))
    return pl.concat(map(long, turned, ("ada", "bob")))


def test_neighbours_need_further_trials(log):
    row = log.scorio.trials_needed().row(0, named=True)
    assert (row["model_a"], row["model_b"]) == ("ada", "bob")
    assert row["extra_trials"] > 0
    # Of each of twenty questions, by both models.
    assert row["total"] == row["extra_trials"] * 20 * 2


def test_a_wider_goal_needs_no_more_trials(log):
    narrow, wide = (log.scorio.trials_needed(half_width=goal) for goal in (0.05, 0.1))
    assert narrow["model"].to_list() == wide["model"].to_list() == ["ada", "bob"]
    assert (narrow["total"] >= wide["total"]).all()


@pytest.mark.slow
def test_the_confidence_of_the_accessor_is_that_of_a_plan_unless_the_call_says_it(log):
    strict = log.scorio.trials_needed(confidence=0.99)
    assert strict["extra_trials"].item() > log.scorio.trials_needed()["extra_trials"].item()
    assert_frame_equal(log.scorio(confidence=0.99).trials_needed(), strict)
    assert_frame_equal(log.scorio(confidence=0.5).trials_needed(confidence=0.99), strict)


def test_a_plan_is_about_the_benchmark_whatever_the_accessor_says(log):
    usual = log.scorio.trials_needed()
    assert_frame_equal(log.scorio(target="population").trials_needed(), usual)


@pytest.mark.filterwarnings("ignore:bob. no question changed")
def test_questions_that_a_comparison_needs():
    # The differences of twenty questions are 1/3 or -2/3: their mean is not sure to be positive.
    log = pl.concat([long([[1, 1, 0]] * 20, "ada"), long([[1, 1, 1], [0, 0, 0]] * 10, "bob")])
    asked = log.scorio
    row = asked.questions_needed(ps.avg()).row(0, named=True)
    strict = asked.questions_needed(ps.avg(), power=0.95).row(0, named=True)
    assert row["questions"] == strict["questions"] == 20
    assert row["total"] == 20 + row["extra_questions"]
    assert strict["extra_questions"] > row["extra_questions"] > 0


def test_the_budget_of_next_trials_is_spent(log):
    rows = log.scorio.next_trials(7)
    assert rows["extra_trials"].sum() == 7


def test_a_trajectory_ends_with_the_report(log):
    rows = log.scorio.trajectory(ps.avg())
    assert sorted(rows["n"].unique()) == [1, 2, 3]
    last = rows.filter(n=3).sort("model").select("model", "mu", "lo", "hi")
    expected = log.scorio.avg().select("model", "estimate", "lo", "hi")
    assert_frame_equal(last, expected.rename({"estimate": "mu"}))


def test_replicates_of_a_clear_ranking_have_settled():
    clear = pl.concat([long([[1] * 4] * 9, "ada"), long([[0] * 4] * 9, "bob")])
    rows = clear.scorio.convergence(ps.avg(), replicates=5, scheme="question")
    assert rows.drop_nulls("n")["cumulative"].to_list() == [1.0, 1.0, 1.0, 1.0]


def test_plans_are_lazy_if_the_log_is(log):
    lazy = log.lazy().scorio
    plan = lazy.trials_needed()
    assert isinstance(plan, pl.LazyFrame)
    assert_frame_equal(plan.collect(), log.scorio.trials_needed())


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda a: a.trials_needed(half_width=-1), "half_width"),
        (lambda a: a.trials_needed(power=2), "power"),
        (lambda a: a.next_trials(0), "budget"),
    ],
    ids=["half width", "power", "budget"],
)
def test_wrong_arguments_are_refused_before_the_log_is_read(log, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(unreadable(log.schema).scorio)
