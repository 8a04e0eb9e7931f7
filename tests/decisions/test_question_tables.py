"""The outcomes that `questions` reads: rewards, levels, clusters."""

import inspect

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.made_logs import long


@pytest.fixture(scope="module")
def rewards():
    """Rewards between 0 and 1 of six models; nothing was ever got at question 3."""
    rng = np.random.default_rng(3)
    means = np.linspace(0.2, 0.8, 6)[:, None] * np.array([0.5, 0.7, 1.0, 0.0])
    logs = [
        long((0.1 * rng.random((4, 4)) * (own > 0)[:, None] + own[:, None]).tolist(), f"m{place}")
        for place, own in enumerate(means)
    ]
    return pl.concat(logs)


def test_rewards_are_compared_by_their_means(rewards):
    rows = rewards.scorio(bounds=(0, 1)).questions().sort("question")
    means = rewards.group_by("question", "model").agg(pl.col("category").mean())
    rates = means.group_by("question").agg(pl.col("category").mean()).sort("question")
    np.testing.assert_allclose(rows["rate"], rates["category"], rtol=1e-12)
    assert rows["status"].to_list() == [None, None, None, "never"]
    assert rows["solved_by"].to_list() == [6, 6, 6, 0]
    assert rows["rate_hi"][3] == pytest.approx(1 - 0.025 ** (1 / 24))


def test_rewards_of_an_unknown_range_have_no_status(rewards):
    known = rewards.scorio(bounds=(0, 1)).questions()
    rows = rewards.scorio.questions()
    ranged = ["solved_by", "always_by", "status", "rate_lo", "rate_hi"]
    assert rows.select(ranged).null_count().row(0) == (4,) * 5
    assert_frame_equal(rows.drop(ranged), known.drop(ranged), abs_tol=1e-12)


def test_rewards_of_zero_and_one_are_failures_and_successes():
    log = pl.concat(long([[0, 1], [int(m > 1), 1], [0, 0]], f"m{m}") for m in range(4))
    rewards = log.with_columns(pl.col("category").cast(pl.Float64)).scorio
    assert_frame_equal(rewards.questions(), log.scorio.questions())


def test_categories_have_weights():
    log = pl.concat(long([[0, 1], [2, 2], [0, 0]], f"m{m}") for m in range(2)).scorio
    rows = log.questions([0, 0.5, 1]).sort("question")
    assert rows["rate"].to_list() == [0.25, 1, 0]
    assert rows["solved_by"].to_list() == [2, 2, 0]
    assert rows["status"].to_list() == [None, "always", "never"]


def test_levels_weigh_their_trials():
    log = pl.concat(long([[0, 0.5], [1.0, 1.0], [0, 0]], f"m{m}") for m in range(2))
    rows = log.scorio(levels=[0, 0.5, 1]).questions().sort("question")
    assert rows["rate"].to_list() == [0.25, 1, 0]
    assert rows["status"].to_list() == [None, "always", "never"]


def test_clusters_have_the_means_of_their_questions():
    rng = np.random.default_rng(7)
    log = counted(rng.binomial(4, np.linspace(0.1, 0.9, 8)[:, None], (8, 9))[None], 4).frame
    passage = pl.format("p{}", pl.col("question") // 2)
    clustered = log.with_columns(passage=passage).scorio(
        by="stratum", count="count", cluster="passage"
    )
    rows = clustered.questions(per="cluster").sort("passage")
    each = clustered.questions().sort("question")
    assert {"passage", "questions"} < {*rows.columns}
    assert rows["questions"].to_list() == [2, 2, 2, 2, 1]
    means = [each["rate"][start : start + 2].mean() for start in range(0, 9, 2)]
    assert rows["rate"].to_list() == pytest.approx(means)
    assert rows["trials"].to_list() == [64, 64, 64, 64, 32]
    same = rows.filter(questions=1).select("rate", "solved_by", "always_by", "status")
    alone = each.filter(question=8).select(same.columns)
    assert_frame_equal(same, alone)


def test_verdicts_of_a_judge_are_not_taken_for_the_truth():
    log = long([[0, 1], [1, 1]]).with_columns(human=pl.col("category")).scorio(truth="human")
    with pytest.raises(ValueError, match="questions does not correct for the errors of a judge"):
        log.questions()


# The keywords of `questions`, and the confidence that was chosen.


def test_the_method_names_its_keywords():
    keywords = ["w", "per", "unmatched", "confidence"]
    assert [*inspect.signature(ps.Scorio.questions).parameters][1:] == keywords


def test_the_chosen_confidence_holds():
    log = counted(np.random.default_rng(2).binomial(4, 0.5, (1, 4, 20)), 4).frame
    roles = {"by": "stratum", "count": "count"}
    chosen, said = log.scorio(**roles, confidence=0.8), log.scorio(**roles)
    assert chosen.questions().equals(said.questions(confidence=0.8))
    assert isinstance(log.lazy().scorio(**roles).questions(), pl.LazyFrame)
