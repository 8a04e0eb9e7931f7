"""Comparisons on a sample of clusters: copies of a question tell no more than the question."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import drawn

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

COPIES = 3
SAMPLE = {"target": "population"}
# Sums of the same numbers in another order, under a root.
NEARLY = {"rel_tol": 1e-9, "abs_tol": 1e-9}


@pytest.fixture(scope="module")
def single() -> pl.DataFrame:
    """Three models on seven questions in two strata."""
    return drawn(3, range(7), most=6)


@pytest.fixture(scope="module")
def copied(single: pl.DataFrame) -> pl.DataFrame:
    """The same with each question three times, in a cluster whose name sorts the other way."""
    question = pl.col("question")
    named = single.with_columns(cluster=pl.format("c{}", 99 - question))
    return pl.concat(named.with_columns(question + 7 * copy) for copy in range(COPIES))


def pairs(log: pl.DataFrame, roles: dict[str, str]) -> pl.DataFrame:
    """All that is said of the models of each stratum."""
    accessor = log.scorio(by="domain", success=(1, 2), **roles)
    return accessor.compare(ps.avg(), **SAMPLE)


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("method", ["compare", "rank"])
def test_copies_of_questions_tell_no_more_than_these(single, copied, simultaneous, method):
    options = {"simultaneous": simultaneous, **SAMPLE}
    asked = {"by": "domain", "success": (1, 2)}
    one = getattr(single.scorio(**asked), method)(ps.avg(), **options)
    many = getattr(copied.scorio(**asked, cluster="cluster"), method)(ps.avg(), **options)
    assert_frame_equal(many, one, **NEARLY)
    plain = getattr(copied.scorio(**asked), method)(ps.avg(), **options)
    assert (plain["sigma"] < 0.7 * one["sigma"]).all()


def test_clusters_of_one_question_change_no_byte(single):
    alone = single.with_columns(cluster=-pl.col("question"))
    assert pairs(alone, {"cluster": "cluster"}).equals(pairs(single, {}))


def test_about_these_very_questions_clusters_change_no_byte(copied):
    roles = {"by": "domain", "success": (1, 2)}  # of copied questions
    clustered, plain = copied.scorio(**roles, cluster="cluster"), copied.scorio(**roles)
    assert clustered.compare(ps.avg()).equals(plain.compare(ps.avg()))
    assert clustered.rank(ps.avg()).equals(plain.rank(ps.avg()))


def test_a_question_in_other_clusters_under_other_models_is_refused(copied):
    moved = (pl.col("model") == "b") & (pl.col("question") == 4) & (pl.col("domain") == "web")
    log = copied.with_columns(cluster=pl.when(moved).then(pl.lit("c1")).otherwise("cluster"))
    found = r"1 question is in different clusters .* 'cluster', .* question=4: 'c1' and 'c95'"
    with pytest.raises(ValueError, match=found):
        pairs(log, {"cluster": "cluster"})


def test_one_cluster_decides_nothing(copied):
    log = copied.with_columns(cluster=pl.when(domain="air").then("cluster").otherwise(pl.lit("c")))
    found = r"3 models have only one cluster .* domain='web', model='a': 'c', with 21 questions"
    with pytest.raises(ValueError, match=found):
        pairs(log, {"cluster": "cluster"})


def test_a_large_cluster_is_warned_of(copied):
    log = copied.with_columns(
        cluster=pl.when(pl.col("question") % 7 < 3).then(pl.lit("c")).otherwise("cluster")
    )
    with pytest.warns(ps.ClusterWarning, match=r"in 6 models one .*'c' in 'cluster' has 43% of 21"):
        pairs(log, {"cluster": "cluster"})


def test_a_leaderboard_ranks_by_clusters(copied):
    roles = {"success": (1, 2), "cluster": "cluster"}
    log = copied.filter(domain="web").scorio(**roles, **SAMPLE)
    board, order = log.leaderboard(ps.avg()), log.rank(ps.avg())
    assert board["clusters"].to_list() == [7, 7, 7]
    names = ["rank", "rank_lo", "rank_hi", "model"]
    assert board.select(names).equals(order.select(names))
