"""The roles, keys and the metric of the tests of plans."""

import polars_scorio as ps
from tests.moments import W

ROLES = {"by": "domain", "success": 2}
KEYS = ["domain", "model"]
MODELS = ["a", "b", "c"]
NEEDED = ["trials_min", "trials_max", "extra_trials", "total", "sigma"]
METRIC = ps.avg(W)
