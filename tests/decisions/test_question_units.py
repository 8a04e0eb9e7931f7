"""Units of a population: what a ranking and a report say of a model agree."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.decisions.question_units import units_of_models
from tests.made_logs import drawn

CALIBRATED = {"target": "population", "inference": "calibrated"}
METRICS = [ps.avg(), ps.pass_at_k(2), ps.geom_at_k(2), ps.max_at_k(2, w=[0, 0.5, 1])]


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [None, pl.col("question") // 2])
@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_a_ranking_has_the_intervals_of_the_report(metric, cluster):
    log = drawn(6, range(7), most=5)
    # Of questions with a single trial too: two trials of each.
    log = log.with_columns(n=pl.len().over("domain", "model", "question"))
    log = pl.concat([log, log.filter(n=1).with_columns(trial=pl.lit(7, pl.Int64))]).drop("n")
    roles = {"by": "domain", "cluster": cluster, **({} if metric.w else {"success": 2})}
    keys, numbers = ["domain", "model"], ["mu", "lo", "hi"]
    ranks = log.scorio(**roles).rank(metric, target="population").sort(keys)
    report = log.scorio(**roles).report(metric, **CALIBRATED).sort(keys)
    for name in numbers:
        # Sums in another order.
        assert ranks[name].to_list() == pytest.approx(report[name].to_list(), rel=1e-10)


def test_a_number_of_a_cluster_in_two_strata_is_two_clusters():
    values = np.array([[0.0], [1.0], [0.5], [0.5]])
    sample = units_of_models(values, 0 * values, np.array([2, 2]), np.array([0, 0, 0, 1]))
    assert sample.values.tolist() == [0.5, 0.5, 0.5]
    assert sample.weight.tolist() == [2, 1, 1]
    assert sample.group.tolist() == [0, 1, 1]
    assert sample.groups == 2


def test_comparisons_of_geom_at_k_pair_the_credits_of_the_calibrated_report(r1):
    log = pl.concat([r1, r1.with_columns(model=pl.lit("other"), category=1 - pl.col("category"))])
    report = log.scorio.report(ps.geom_at_k(2), **CALIBRATED)
    pair = log.scorio.compare(ps.geom_at_k(2), target="population")
    assert pair["diff"].item() == pytest.approx(report["mu"][0] - report["mu"][1])
