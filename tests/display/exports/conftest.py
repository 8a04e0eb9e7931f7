import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long


@pytest.fixture
def trials():
    """Trials of two models in two strata."""
    logs = [
        long([[1, 0], [1, 1]], model).with_columns(domain=pl.lit(domain))
        for domain in ("air", "web")
        for model in ("org/ada", "bob")
    ]
    return pl.concat(logs)


@pytest.fixture
def report(trials):
    """A report on two metrics, with intervals."""
    accessor = trials.scorio(by="domain")
    return accessor.report(ps.avg(), ps.pass_hat_k(2))
