"""The model of each stratum with which the others are compared."""

from __future__ import annotations

import numpy as np
import polars as pl

from polars_scorio.counting.roles import Category
from polars_scorio.counting.trials import Trials
from polars_scorio.decisions.strata_arrays import STRATUM
from polars_scorio.kernels.array_types import Ints


def baseline_columns(groups: pl.DataFrame, trials: Trials, baseline: Category) -> Ints:
    """The place of the baseline among the models of each stratum.

    Raises
    ------
    ValueError
        If a stratum does not have it.
    """
    (model,) = trials.models
    strata = groups.group_by(STRATUM, maintain_order=True).agg(
        pl.col(model).eq(pl.lit(baseline)).arg_true().first().alias("column"),
        pl.col(model),
        *(pl.col(name).first() for name in trials.strata),
    )
    lacking = strata.filter(pl.col("column").is_null())
    if lacking.height:
        first = lacking.row(0, named=True)
        where = "".join(f"{name}={first[name]!r}: " for name in trials.strata)
        raise ValueError(f"{where}baseline={baseline!r} is none of the models: {first[model]}")
    return strata["column"].to_numpy().astype(np.int64)
