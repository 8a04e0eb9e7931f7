"""The numbers of a page: which metrics, which questions, which strata."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.ranking_facts import score_matrix
from polars_scorio.display.facts.scopes import (
    average_metric,
    common_questions,
    default_metrics,
    holds_fractions,
    knows_success,
    page_scopes,
    pooled_questions,
)
from polars_scorio.display.settings import Settings
from tests.display.html.logs import models
from tests.made_logs import long


def read(log: pl.DataFrame, **roles: object) -> LogSummary:
    return LogSummary.read(log.lazy(), Roles(**roles))


def of_categories(*categories: object) -> LogSummary:
    return read(long([[*categories]]))


def test_the_average_of_a_metric_has_its_weights():
    assert average_metric(ps.bayes(w=[0, 0.5, 1])) == ps.avg(w=[0, 0.5, 1])
    assert average_metric(ps.pass_at_k(2)) == ps.avg()


@pytest.mark.parametrize(
    ("categories", "fractions", "success"),
    [
        ([0, 1], False, True),
        ([0.0, 1.0, None], False, True),
        ([0.0, 0.5], True, False),
        (["right", "wrong"], False, False),
    ],
    ids=["codes", "whole rewards", "rewards", "labels"],
)
def test_what_categories_tell(categories, fractions, success):
    look = of_categories(*categories)
    assert holds_fractions(look.cells, look.roles) is fractions
    assert knows_success(look.cells, look.roles) is success


def test_labels_with_success_or_weights_tell_what_succeeds():
    log = long([["right", "wrong"]])
    named = read(log, success="right")
    assert knows_success(named.cells, named.roles)
    unnamed = read(log)
    assert not knows_success(unnamed.cells, unnamed.roles, [ps.avg()])


@pytest.mark.parametrize(
    ("outcomes", "metrics"),
    [
        ([[1]], (ps.avg(),)),
        ([[0.5]], (ps.avg(),)),
        ([[1, 0], [1, 0, 0]], (ps.avg(), ps.pass_at_k(2), ps.pass_hat_k(2))),
        ([[1] * 9], (ps.avg(), ps.pass_at_k(4), ps.pass_hat_k(4))),
        ([[0.5, 1.0, 0.0]], (ps.avg(), ps.max_at_k(3), ps.min_at_k(3))),
        ([["a", "b"]], (ps.avg(),)),
    ],
    ids=["one trial", "one reward", "two trials", "many trials", "rewards", "labels"],
)
def test_the_usual_metrics_suit_the_log(outcomes, metrics):
    assert default_metrics(read(long(outcomes))) == metrics


def test_only_questions_that_all_models_have_are_compared():
    log = models(2, questions=5).filter((pl.col("model") == "m00") | (pl.col("question") < 3))
    cells = common_questions(read(log))
    assert sorted(cells["question"].unique().cast(pl.String)) == ["0", "1", "2"]
    assert {*cells["model"].unique()} == {"m00", "m01"}


def test_a_stratum_without_common_questions_is_kept_for_the_comparison_to_refuse():
    log = models(2, questions=4).filter((pl.col("model") == "m00") == (pl.col("question") < 2))
    look = read(log)
    assert common_questions(look).height == look.cells.height


def test_the_pool_has_the_strata_of_all_models():
    log = models(2, strata=3, questions=4).filter(
        (pl.col("model") == "m00") | (pl.col("bench") != "bench 2")
    )
    look = read(log, by="bench")
    pool = pooled_questions(look, look.cells)
    assert pool["question"].n_unique() == 2 * 4
    lonely = look.cells.filter(pl.col("stratum") == "bench 2")
    assert pooled_questions(look, lonely) is None


def test_a_log_without_strata_is_one_scope():
    whole, parts = page_scopes(read(models(2)), (ps.pass_at_k([1, 2]),), Settings())
    assert parts == []
    assert whole.models == ["m00", "m01"]
    assert (whole.fewest, whole.each, whole.lead) == (4, 4, ps.pass_at_k(1))
    assert whole.rows["k"].to_list() == [1, 2, 1, 2]
    assert whole.pairs.height == 1


def test_questions_are_in_the_order_of_their_mean_score():
    log = pl.concat([long([[1, 1], [0, 0], [1, 0]], "ada"), long([[1, 1], [0, 1], [1, 0]], "bob")])
    whole, _ = page_scopes(read(log), (ps.avg(),), Settings())
    names, scores = score_matrix(whole, ["ada", "bob"])
    assert names == ["1", "2", "0"]
    assert scores.tolist() == [[0.0, 0.5, 1.0], [0.5, 0.5, 1.0]]


def test_the_plan_of_a_page_is_that_of_all_pairs_at_once_with_their_runs():
    log = models(6, questions=30)
    summary = read(log, run="trial")
    counted = summary.with_runs(summary.checks())
    whole, _ = page_scopes(counted, (ps.avg(),), Settings())
    columns = ["model_a", "model_b", "extra_trials"]
    pairs = whole.needed.select(columns[:2])
    once, each = (
        log.scorio(run="trial")
        .trials_needed(simultaneous=held)
        .join(pairs, on=columns[:2], maintain_order="right")
        for held in (True, False)
    )
    assert pairs.height > 1
    assert whole.needed.select(columns).equals(once.select(columns))
    assert (once["extra_trials"] > each["extra_trials"]).any()
