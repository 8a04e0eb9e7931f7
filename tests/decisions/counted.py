"""Logs of counts."""

import numpy as np
import polars as pl

import polars_scorio as ps


def counted(successes: np.ndarray, n: int) -> ps.Scorio:
    """A log of counts from successes of shape (strata, models, questions)."""
    stratum, model, question = np.indices(successes.shape).reshape(3, -1)
    keys = pl.DataFrame({"stratum": stratum, "model": model, "question": question})
    log = pl.concat(
        keys.with_columns(category=pl.lit(category), count=pl.Series(count.ravel()))
        for category, count in ((0, n - successes), (1, successes))
    )
    return log.scorio(by="stratum", count="count")
