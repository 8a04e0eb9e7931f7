"""Logs that several tests of decisions use."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.made_logs import long


@pytest.fixture
def even():
    """Five trials of each of six questions, four models in two strata."""
    random = np.random.default_rng(8)
    logs = [
        long(random.binomial(2, random.random((6, 1)), (6, 5)).tolist(), model).with_columns(
            domain=pl.lit(domain)
        )
        for domain in ("web", "air")
        for model in "cabd"
    ]
    return pl.concat(logs).sample(fraction=1, shuffle=True, seed=1)


@pytest.fixture(scope="module")
def spread() -> ps.Scorio:
    """Three strata of six models, some of them far apart."""
    random = np.random.default_rng(2)
    rates = np.linspace(0.37, 0.63, 6)[None, :, None] + random.uniform(-0.3, 0.3, (3, 1, 60))
    return counted(random.binomial(8, rates), 8)
