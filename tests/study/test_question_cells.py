"""Questions in cells: what is read of the lists of a report."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import models_of
from polars_scorio.maths.interval import Estimate
from polars_scorio.maths.questions import States
from polars_scorio.study.posterior import PosteriorLaw
from polars_scorio.subjects.of_votes import RIGHT, VOTES, read_ballots
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.scores import EstimateLaw, Noise, RangeLaw, Scores, StrataMeans
from tests.made_logs import drawn, outcomes


def tallied(counts: np.ndarray) -> States:
    one = np.ones(len(counts), dtype=np.int64)
    return States.tally(counts, 0 * counts, 0 * one, one, 1)


def test_failure_and_success_are_seen_as_they_are_and_more_classes_as_two():
    two = QuestionCells.from_states(tallied(np.array([[1, 3]])), Classes((0, 1), (1,)))
    assert two.seen_as("success") is two.states
    three = QuestionCells.from_states(tallied(np.array([[1, 3, 2]])), Classes((0, 1, 2), (1,)))
    assert three.seen_as("categories") is three.states
    assert three.seen_as("success").counts.tolist() == [[3, 3]]


def test_groups_are_the_cells_unless_questions_are():
    cells = QuestionCells.from_states(tallied(np.array([[1, 3], [2, 2]])), Classes((0, 1), (1,)))
    assert not cells.per_question
    assert cells.group_of_cell.tolist() == [0]


def test_votes_and_abstentions_of_a_question_are_all_its_trials():
    answers = pl.Series([[{VOTES: 2, RIGHT: 1}, {VOTES: 1, RIGHT: 0}], []])
    ballots = read_ballots(answers, np.array([4, 2]))
    assert ballots.votes.tolist() == [[2, 1], [0, 0]]
    assert ballots.right.tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("per", ["model", "question"])
def test_a_question_without_any_outcome_is_left_out_and_counted(per):
    log = outcomes({(2, 1): 3}).with_columns(
        category=pl.when(pl.col("question") == pl.col("question").max()).then("category")
    )
    rows = log.scorio(missing="drop", unscored="drop").report(ps.avg(), per=per)
    assert rows["trials"].to_list() == [2]
    if per == "model":
        assert rows.select("questions", "dropped", "unscored").row(0) == (1, 4, 2)


# Numbers of cells: the columns that they become, and the laws that compare them.


HALF, NONE = np.array([0.5, 0.25]), np.array([np.nan, 0.5])


def test_an_interval_without_an_estimate_is_a_range_unless_it_is_a_posterior():
    numbers = Scores("calibrated", NONE, HALF, Noise(HALF), HALF, HALF, RangeLaw())
    assert [*numbers.columns()] == ["estimate", "mu", "sigma", "lo", "hi", "inference"]
    assert numbers.columns()["inference"].tolist() == ["range", "calibrated"]
    posterior = numbers._replace(inference="posterior", law=PosteriorLaw(beta=False))
    assert posterior.columns()["inference"].tolist() == ["posterior", "posterior"]
    assert [*numbers.with_facts(bounds=HALF).columns()][-2:] == ["bounds", "inference"]


def test_a_variance_is_on_the_range_of_the_metric():
    noisy = Estimate(HALF, 1 - HALF, HALF / 10, HALF + 1, 10 * HALF)
    found = EstimateLaw.from_noisy(noisy, ps.avg([-1, 3])).noisy
    assert (found.low, found.width, found.bounded) == (-1, 4, True)
    np.testing.assert_array_equal(found.variance, noisy.variance)


def test_errors_of_strata_add_up_as_squares():
    strata, errors = StrataMeans(np.array([[0, 1], [2, 1]]), np.ones(2)), np.array([3, 4, np.nan])
    assert strata.root_of_squares(errors)[0] == 5 / 2
    assert np.isnan(strata.root_of_squares(errors)[1])
    weighted = strata._replace(weights=np.array([2.0, 3.0]))
    assert weighted.root_of_squares(errors)[0] == np.hypot(6, 12) / 5
    assert weighted.mean(errors)[0] == (6 + 12) / 5


# The estimates of single questions: in one order for all models of a stratum.


ROLES = Roles(by=["domain"], success=2)
LOG = drawn(4, range(6), most=3)


def evaluated(log, metric, roles=ROLES, **options):
    """The evaluated log, its one row, and the estimates of the questions, a list for each group."""
    plan, _ = models_of(bind_roles(log.lazy(), roles), metric, options)
    found = plan.result()
    (row,) = found.views
    table = found.parts[0].table
    values = table.estimates(*found.views[row], row[1])
    return found, row, None if values is None else np.split(values, table.start[1:])


@pytest.mark.parametrize(
    "metric", [ps.avg(), ps.avg([0, 0.3, 1]), ps.pass_at_k(1), ps.max_at_k(1, w=[0, 1, 3])]
)
def test_values_are_the_estimates_in_the_order_of_the_questions(metric):
    shuffled = LOG.sample(fraction=1, shuffle=True, seed=2)
    found, row, values = evaluated(shuffled, metric)
    questions = LOG.scorio(success=2, by="domain").report(metric, per="question", prior="uniform")
    expected = questions.sort("question").group_by("domain", "model").agg("estimate")
    both = found.keys.join(expected, on=["domain", "model"], maintain_order="left")
    assert both.height == len(values) > 0
    for each, own, estimate in zip(
        both["estimate"].to_list(), values, found.of_groups(row, "estimate"), strict=True
    ):
        assert own == pytest.approx(each, abs=1e-12)
        assert estimate == pytest.approx(sum(own) / 6, abs=1e-12)


def test_a_blend_of_the_benchmark_has_none():
    assert evaluated(LOG, ps.geom_ds_at_k(1))[2] is None


def test_votes_have_the_estimate_of_each_question():
    log = LOG.with_columns(answer=pl.col("category").cast(pl.String))
    roles = Roles(by=["domain"], success=2, answer="answer")
    found, row, values = evaluated(log, ps.vote_at_k(1), roles)
    means = [each.mean() for each in values]
    assert means == pytest.approx(found.of_groups(row, "estimate"))
