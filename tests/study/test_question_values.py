"""The estimates of single questions: in one order for all models of a stratum."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.model_scores import models_of
from polars_scorio.study.evaluate import tidy_rows
from tests.made_logs import drawn

ROLES = Roles(by=["domain"], success=2)
LOG = drawn(4, range(6), most=3)


def lists(log, metric):
    results, _ = models_of(bind_roles(log.lazy(), ROLES), metric, {"inference": "calibrated"})
    return tidy_rows(results.plan().collect())


@pytest.mark.parametrize(
    "metric", [ps.avg(), ps.avg([0, 0.3, 1]), ps.pass_at_k(1), ps.max_at_k(1, w=[0, 1, 3])]
)
def test_values_are_the_estimates_in_the_order_of_the_questions(metric):
    rows = lists(LOG.sample(fraction=1, shuffle=True, seed=2), metric)
    options = {"success": 2, "by": "domain", "inference": "published", "per": "question"}
    questions = LOG.scorio(**{k: options[k] for k in ("success", "by")}).report(
        metric, per="question", inference="published"
    )
    expected = questions.sort("question").group_by("domain", "model").agg("estimate")
    both = rows.join(expected, on=["domain", "model"], suffix="_each")
    assert both.height == rows.height > 0
    for row in both.iter_rows(named=True):
        assert row[":values"] == pytest.approx(row["estimate_each"], abs=1e-12)
        assert row["estimate"] == pytest.approx(sum(row[":values"]) / 6, abs=1e-12)


def test_a_blend_of_the_benchmark_has_none():
    assert lists(LOG, ps.geom_ds_at_k(1))[":values"].null_count() == 6


def test_votes_have_the_estimate_of_each_question():
    log = LOG.with_columns(answer=pl.col("category").cast(pl.String))
    trials = bind_roles(log.lazy(), Roles(by=["domain"], success=2, answer="answer"))
    results, _ = models_of(trials, ps.vote_at_k(1), {})
    rows = tidy_rows(results.plan().collect())
    assert rows[":values"].list.mean().to_list() == pytest.approx(rows["estimate"].to_list())
