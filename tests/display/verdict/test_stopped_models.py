"""Models that a page accuses of trials that stopped on outcomes, or that followed difficulty."""

import numpy as np
import polars as pl
import pytest

from polars_scorio.display.verdict import stopped_models
from polars_scorio.maths.stopping_tests import stopping_evidence

MODELS, STRATA, QUESTIONS, TRIALS = 10, 8, 30, 4


def evidence_of_groups(rng, *, retry=False):
    """P-values of groups whose trials were lost at random, 6 %, or repeated until a success."""
    rows = []
    for group in range(MODELS * STRATA):
        rate = rng.random(QUESTIONS)
        if retry:
            first = rng.geometric(rate)
            n, c = np.minimum(first, TRIALS), (first <= TRIALS).astype(int)
            last = c
        else:
            n = np.maximum(rng.binomial(TRIALS, 0.94, QUESTIONS), 1)
            c = rng.binomial(n, rate)
            last = (rng.random(QUESTIONS) < c / n).astype(int)
        found = stopping_evidence(n, c, np.ones(QUESTIONS, dtype=int), last)
        rows.append((f"m{group % MODELS}", *found, found.followed))
    names = ["model", "p_pattern", "p_order", "p_difficulty", "stopping"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def test_trials_lost_at_random_are_hardly_ever_accused():
    # 40 logs of 80 groups, five of which have a group that is accused when tested by itself. A log
    # has the level .008 now, so that more than two accusations have a chance of .004.
    rng = np.random.default_rng(8)
    logs = [evidence_of_groups(rng) for _ in range(40)]
    assert sum(log["stopping"].is_not_null().any() for log in logs) >= 3
    assert sum(any(stopped_models(log).values()) for log in logs) <= 2


def test_retries_in_small_strata_are_found_together():
    log = evidence_of_groups(np.random.default_rng(9), retry=True)
    assert stopped_models(log) == {"outcomes": [f"m{n}" for n in range(MODELS)], "difficulty": []}


@pytest.mark.parametrize("rows", [pl.DataFrame({"model": ["a"]}), pl.DataFrame()])
def test_without_evidence_nobody_is_accused(rows):
    assert stopped_models(rows) == {"outcomes": [], "difficulty": []}


def test_one_stratum_among_many_is_found():
    p = pl.DataFrame({"model": "a", "p_pattern": [1e-6] + [0.5] * 39})
    log = p.with_columns(p_order=pl.lit(None, pl.Float64), p_difficulty=0.5)
    assert stopped_models(log)["outcomes"] == ["a"]
