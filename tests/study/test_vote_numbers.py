"""The numbers of votes: one interval, whatever inference was chosen."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
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


def test_a_population_adds_to_the_noise_of_votes(votes):
    options = {}
    benchmark = votes.report(ps.vote_at_k(1), **options)
    population = votes.report(ps.vote_at_k(1), target="population", **options)
    assert (population["sigma"] >= benchmark["sigma"]).all()
    assert (population["lo"] < population["estimate"]).all()
    assert (population["estimate"] < population["hi"]).all()
