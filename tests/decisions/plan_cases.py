"""The roles, keys and the metric of the tests of plans."""

import polars_scorio as ps
from tests.moments import W

ROLES = {"by": "domain", "success": 2}
KEYS = ["domain", "model"]
MODELS = ["a", "b", "c"]
NEEDED = ["trials_min", "trials_max", "extra_trials", "total", "sigma"]
METRIC = ps.avg(W)


def sigmas_today(accessor, metric=None) -> dict[tuple[object, ...], float]:
    """The standard error with which the plan of each model begins, of so wide an interval."""
    widest = 0.5 * (0.6 if metric is METRIC else 1.0)
    rows = accessor.trials_needed(metric, half_width=widest)
    assert not rows["extra_trials"].sum()
    names = rows.columns[: rows.columns.index("trials_min")]
    return {tuple(row[name] for name in names): row["sigma"] for row in rows.iter_rows(named=True)}
