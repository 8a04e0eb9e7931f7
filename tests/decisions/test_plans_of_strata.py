"""Plans over all strata: what further trials of each stratum leave of the mean."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.decisions.counted import counted


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    """Three models, strata of 8 and 3 questions."""
    rates = np.random.default_rng(4).random((2, 3, 8))
    frame = counted(np.random.default_rng(5).binomial(4, rates), 4).frame
    return frame.filter((pl.col("stratum") == 0) | (pl.col("question") < 3))


def asked(frame, **roles):
    return frame.scorio(**{"by": "stratum", "count": "count", **roles})


def whole(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows over all strata."""
    return rows.filter(pl.col("stratum").is_null()).drop("stratum")


@pytest.mark.parametrize("options", [{}, {"half_width": 0.05}], ids=str)
@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_the_strata_are_planned_as_without_rows_over_them(log, options, overall):
    plan = asked(log).trials_needed(overall=overall, **options)
    strata = asked(log).trials_needed(**options)
    rows = plan.height - strata.height
    assert rows == (3 if options else 2)
    assert_frame_equal(plan.head(-rows), strata, check_exact=True)
    assert plan["stratum"].to_list()[-rows:] == [None] * rows


def test_a_pool_is_planned_as_a_log_without_strata(log):
    pooled = log.with_columns(question=pl.format("{} {}", "stratum", "question")).drop("stratum")
    for options in ({}, {"half_width": 0.05}):
        rows = whole(asked(log).trials_needed(overall="micro", **options))
        # The questions are added in another order.
        assert_frame_equal(rows, asked(pooled, by=None).trials_needed(**options), abs_tol=1e-12)


def test_the_sigma_of_a_mean_is_near_those_of_its_strata(log):
    # No trials are needed for so wide an interval: sigma is that of today.
    rows = asked(log).trials_needed(overall="macro", half_width=0.5)
    assert rows["extra_trials"].to_list() == [0] * 9
    means, sigma = whole(rows), rows["sigma"].to_numpy()
    of_strata = np.hypot(sigma[:3], sigma[3:6]) / 2
    # The questions of all strata tell the populations together.
    np.testing.assert_allclose(sigma[6:], of_strata, rtol=0.1)
    report = asked(log).report(ps.avg(), overall="macro")["sigma"].to_numpy()
    assert (sigma >= report).all()
    assert means.select("trials_min", "trials_max").unique().rows() == [(4, 4)]


def test_each_question_of_each_stratum_gets_the_trials_of_a_mean(log):
    rows = whole(asked(log).trials_needed(overall="macro", half_width=0.05))
    assert (rows["total"] == 11 * rows["extra_trials"]).all()
    # The expected sigma is just small enough: 1.96 sigma <= .05.
    assert (rows["sigma"] <= 0.05 / 1.959963984540054).all()
    assert (rows["sigma"] > 0.0245).all()


def test_pairs_of_means_come_in_the_order_of_the_means(log):
    rows = whole(asked(log).trials_needed(overall="macro"))
    ranks = asked(log).rank(overall="macro")
    order = whole(ranks)["model"].to_list()
    assert rows.select("model_a", "model_b").rows() == [*pairwise(order)]


def test_without_strata_there_is_nothing_over_them(log):
    with pytest.raises(ValueError, match=r"^overall='macro' needs strata"):
        asked(log.filter(stratum=0), by=None).trials_needed(overall="macro")


@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_no_trials_give_no_rows(log, overall):
    rows = asked(log.clear()).trials_needed(overall=overall)
    assert rows.schema == asked(log).trials_needed(overall=overall).schema
    assert rows.height == 0
