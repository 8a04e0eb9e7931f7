"""The estimates of single questions: in one order for all models of a stratum."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import models_of
from tests.made_logs import drawn

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
