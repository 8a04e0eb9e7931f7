"""Clusters where people read of them: tables, pictures and pages."""

import re

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.settings import Settings
from tests.display.html.logs import Checked, models, page_of

ROLES = {"cluster": "passage", "target": "population"}
SAMPLE = Settings(target="population")


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    """Three models on two strata of twelve questions in four passages."""
    passage = pl.format("p{}", pl.col("question") % 4)
    return models(3, strata=2).with_columns(passage=passage)


def test_a_leaderboard_says_in_how_many_clusters_the_questions_are(log):
    board = log.filter(bench="bench 0").scorio(**ROLES).leaderboard(ps.avg())
    assert "clusters" not in ps.to_markdown(board).splitlines()[0]
    assert "12 questions in 4 clusters, 4 trials per question." in ps.to_markdown(board)


def test_a_picture_says_in_how_many_clusters_the_questions_are(log):
    chart = log.scorio(by="bench", **ROLES).plot.intervals(ps.avg())
    assert "12 questions in 4 clusters, 4 trials per question" in str(chart.to_dict())


@pytest.mark.slow
@pytest.mark.parametrize("by", ["bench", ()])
def test_a_page_rests_on_clusters(log, by):
    alone = log if by else log.filter(bench="bench 0")
    made = page_of(alone, ps.avg(), settings=SAMPLE, by=by, cluster="passage")
    said = "".join(Checked(made.html()).texts)
    counted = "24 in 8 clusters" if by else "12 in 4 clusters"
    assert f"about questions like these {counted}" in said
    # The mean of both strata takes their noise as independent.
    numbers = made.numbers["overall"]["report"]
    strata = alone.scorio(by="bench", **ROLES).avg()
    variance = strata.group_by("model").agg(pl.col("sigma").pow(2).sum()).sort("model")["sigma"]
    sigma = variance.sqrt() / strata["bench"].n_unique()
    assert numbers["clusters"].to_list() == [8 if by else 4] * 3
    assert numbers["sigma"].to_list() == pytest.approx(sigma.to_list(), rel=1e-12)
    assert re.search(r"cluster='passage'", said)


def test_a_page_refuses_what_a_report_refuses(log):
    last = pl.col("trial") == 3
    mixed = log.with_columns(passage=pl.when(last).then(pl.lit("p")).otherwise("passage"))
    made = page_of(mixed, ps.avg(), settings=SAMPLE, by="bench", cluster="passage")
    assert "questions have more than one cluster in 'passage'" in made.account.lede
