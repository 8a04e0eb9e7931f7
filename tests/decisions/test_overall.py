"""Comparisons and ranks over all strata: their mean, or all their questions in one pool."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.differences import difference_numbers

NUMBERS = ["diff", "sigma", "z", "prob_better", "lo", "hi"]
TARGETS = ["benchmark", "population"]


@pytest.fixture(scope="module")
def ragged() -> pl.DataFrame:
    """Three models, three strata of 8, 5 and 3 questions whose names occur in several strata."""
    rates = np.random.default_rng(4).random((3, 3, 8))
    frame = counted(np.random.default_rng(5).binomial(4, rates), 4).frame
    size = pl.col("stratum").replace_strict({0: 8, 1: 5, 2: 3})
    return frame.filter(pl.col("question") < size)


def asked(frame, **roles):
    return frame.scorio(**{"by": "stratum", "count": "count", **roles})


def whole(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows over all strata."""
    return rows.filter(pl.col("stratum").is_null()).drop("stratum")


@pytest.mark.parametrize("target", TARGETS)
def test_one_pool_is_a_log_without_strata(ragged, target):
    options = {"target": target}
    pooled = ragged.with_columns(question=pl.format("{} {}", "stratum", "question")).drop("stratum")
    one = asked(pooled, by=None)
    for simultaneous in (False, True):
        rows = asked(ragged).compare(
            ps.avg(), overall="micro", simultaneous=simultaneous, **options
        )
        expected = one.compare(ps.avg(), simultaneous=simultaneous, **options)
        # The questions are added in another order.
        assert_frame_equal(whole(rows), expected, abs_tol=1e-12)
    ranks = asked(ragged).rank(ps.avg(), overall="micro", **options)
    assert_frame_equal(whole(ranks), one.rank(ps.avg(), **options), abs_tol=1e-12)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_the_strata_are_compared_as_without_rows_over_them(ragged, target, overall):
    options = {"target": target, "simultaneous": False}
    for method in ("compare", "rank"):
        rows = getattr(asked(ragged), method)(ps.avg(), overall=overall, **options)
        strata = getattr(asked(ragged), method)(ps.avg(), **options)
        assert rows["stratum"].to_list()[-3:] == [None] * 3
        # A group more changes the shape of matrix products, and with it the last bits.
        assert_frame_equal(rows.head(-3), strata, rel_tol=0, abs_tol=1e-13)


@pytest.mark.parametrize(
    "options", [{"target": "population"}, {"prior": "population"}, {}], ids=str
)
@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_differences_are_those_of_a_report(ragged, options, overall):
    rows = whole(asked(ragged).compare(ps.avg(), overall=overall, **options))
    if options.get("target") == "population":
        options = {} | options
    report = whole(asked(ragged).report(ps.avg(), overall=overall, **options))
    mu = dict(report.select("model", "mu" if "mu" in report.columns else "estimate").rows())
    for row in rows.iter_rows(named=True):
        assert row["diff"] == pytest.approx(mu[row["model_a"]] - mu[row["model_b"]], abs=1e-12)


def test_a_macro_difference_of_a_population_weighs_questions_by_their_stratum(ragged):
    row = whole(asked(ragged).compare(ps.avg(), overall="macro", target="population")).row(
        0, named=True
    )
    questions = asked(ragged).report(ps.avg(), per="question", prior="uniform")
    one, other = (
        questions.filter(model=model).sort("stratum", "question")["estimate"].to_numpy()
        for model in (0, 1)
    )
    weight = np.repeat([1 / 24, 1 / 15, 1 / 9], [8, 5, 3])
    expected = difference_numbers(one - other, 1, shares=weight)
    # The written formula of few terms: rounding.
    assert [row[name] for name in ("diff", "sigma")] == pytest.approx(expected[:2], rel=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_macro_and_micro_ranks_agree_if_strata_are_of_one_size(target):
    log = counted(
        np.random.default_rng(7).binomial(6, np.random.default_rng(8).random((3, 4, 9))), 6
    )
    options = {"target": target}
    micro, macro = (
        whole(log.rank(ps.avg(), overall=overall, **options)) for overall in ("micro", "macro")
    )
    columns = ["rank", "rank_lo", "rank_hi", "model"]
    assert_frame_equal(micro.select(columns), macro.select(columns))


@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_a_leaderboard_of_a_population_has_the_places_of_the_ranking(ragged, overall):
    options = {"target": "population", "overall": overall}
    places = ["rank", "rank_lo", "rank_hi", "model"]
    board = asked(ragged).leaderboard(ps.avg(), **options)
    assert_frame_equal(
        board.select(places), whole(asked(ragged).rank(ps.avg(), **options)).select(places)
    )


@pytest.mark.filterwarnings("ignore::polars_scorio.ClusterWarning")
@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_clusters_may_span_strata(ragged, overall):
    frame = ragged.with_columns(cluster=pl.col("question") // 2)
    rows = asked(frame, cluster="cluster").compare(ps.avg(), overall=overall, target="population")
    assert whole(rows).select(NUMBERS).null_count().sum_horizontal().item() == 0


def test_what_cannot_be_compared_over_strata_is_refused(ragged):
    with pytest.raises(ValueError, match=r"^overall='micro' needs strata"):
        asked(ragged.filter(stratum=0), by=None).compare(ps.avg(), overall="micro")
    with pytest.raises(ValueError, match="1 model lacks a stratum: 2;"):
        asked(ragged.filter((pl.col("model") < 2) | (pl.col("stratum") > 0))).compare(
            ps.avg(), overall="macro"
        )


def test_an_unknown_overall_is_refused(ragged):
    for target in TARGETS:
        with pytest.raises(ValueError, match=r"^overall must be"):
            asked(ragged).compare(ps.avg(), overall="all", target=target)
