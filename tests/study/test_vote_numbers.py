"""The numbers of votes: one interval, whatever inference was chosen."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import t

import polars_scorio as ps
from tests.differences import plus_two
from tests.made_logs import drawn


@pytest.fixture
def votes():
    """Answers of two models; the right one is "yes"."""
    log = drawn(3, range(8), most=4)
    right = pl.col("category") == 2
    answer = pl.when(right).then(pl.lit("yes")).otherwise(pl.col("category").cast(pl.String))
    return log.with_columns(answer=answer).scorio(by="domain", success=2, answer="answer")


def test_votes_have_the_same_numbers_under_each_inference(votes):
    calibrated = votes.report(ps.vote_at_k([1, 3]))
    for prior in ("uniform", "population"):
        rows = votes.report(ps.vote_at_k([1, 3]), prior=prior)
        assert_frame_equal(rows, calibrated, check_exact=True)


def test_one_vote_is_the_average_and_has_its_estimate(votes):
    one = votes.report(ps.vote_at_k(1))
    average = votes.report(ps.avg())
    assert one["estimate"].to_list() == pytest.approx(average["estimate"].to_list(), abs=1e-12)


def test_about_a_population_the_votes_of_questions_are_a_sample(votes):
    each = votes.report(ps.vote_at_k(1), per="question")
    for row in votes.report(ps.vote_at_k(1), target="population").iter_rows(named=True):
        of_questions = each.filter(domain=row["domain"], model=row["model"])["estimate"]
        centre, sigma, freedom = plus_two(of_questions.to_list(), (0, 1))
        reach = t.ppf(0.975, freedom) * sigma
        # Sums in another order.
        expected = of_questions.mean(), sigma, centre - reach, centre + reach
        found = [row[name] for name in ("estimate", "sigma", "lo", "hi")]
        assert found == pytest.approx(expected, rel=1e-12)
