"""A plan asks for no further trial of the pairs that `compare` decides, and of no others."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from tests.decisions.counted import counted

PAIR = ["model_a", "model_b"]


def drawn_log(questions: int, n: int, models: int = 2) -> ps.Scorio:
    """Forty strata of models of which each is worse than the one before it."""
    rng = np.random.default_rng(questions)
    ease = rng.random((40, 1, questions)) * 0.6 ** np.arange(models)[:, None]
    return counted(rng.binomial(n, ease), n)


def decided_by(rows: pl.DataFrame, decided: pl.Expr) -> set[tuple[object, ...]]:
    """The pairs of a result that are decided, of each stratum."""
    return {
        (stratum, *sorted(pair))
        for stratum, *pair in rows.filter(decided).select("stratum", *PAIR).iter_rows()
    }


@pytest.mark.parametrize(("questions", "n"), [(1, 1), (5, 1), (30, 1), (5, 4)])
def test_decided_pairs_need_nothing_and_others_do(questions, n):
    log = drawn_log(questions, n)
    needed = decided_by(log.trials_needed(), pl.col("extra_trials") == 0)
    assert needed == decided_by(log.compare(ps.avg()), pl.col("better").is_not_null())


@pytest.mark.slow
def test_neighbours_of_several_models_are_decided_as_they_are_compared():
    log = drawn_log(12, 4, models=3)
    needed = decided_by(log.trials_needed(simultaneous=False), pl.col("extra_trials") == 0)
    compared = decided_by(log.compare(ps.avg(), simultaneous=False), pl.col("better").is_not_null())
    neighbours = decided_by(log.trials_needed(simultaneous=False), pl.lit(value=True))
    assert needed == compared & neighbours
    assert 0 < len(needed) < len(neighbours)


@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_rows_over_all_strata_leave_the_strata_as_they_are(overall):
    log = drawn_log(5, 4)
    rows = log.trials_needed(overall=overall)
    assert rows.drop_nulls("stratum").equals(log.trials_needed())
    assert rows.filter(pl.col("stratum").is_null())["extra_trials"].to_list() == [0]
