"""The roles, keys and metrics of the tests of plans."""

import pytest

import polars_scorio as ps
from tests.moments import W

ROLES = {"by": "domain", "success": 2, "prior": "uniform"}
KEYS = ["domain", "model"]
MODELS = ["a", "b", "c"]
NEEDED = ["trials_min", "trials_max", "extra_trials", "total", "sigma"]
METRICS = {"bayes": (ps.bayes(W), False), "avg": (ps.avg(W), True)}
METRIC = pytest.mark.parametrize(("metric", "observed"), METRICS.values(), ids=METRICS)
