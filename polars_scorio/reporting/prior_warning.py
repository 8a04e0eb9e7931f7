"""The warning that the prior, not the trials, decides numbers of a report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.evaluate import tidy_rows
from polars_scorio.reporting.inference.cell_numbers import INFERENCE

CURES = (
    'inference="calibrated" keeps to the estimates; inference="published" says that the numbers '
    "are wanted as they are."
)
_ROUNDING = 1e-12


class PriorWarning(UserWarning):
    """The prior of the questions outweighs their trials.

    The posteriors then contradict the unbiased estimates of the same trials, or rest on no estimate
    at all. The message says how often, and what to do.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.PriorWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.PriorWarning)
    """


def warn_of_rows(metrics: Sequence[Metric]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Say once in how many rows of a report the prior decides; for `check_frame`.

    A metric with a prior of its own says aloud what it rests on.
    """
    estimate = pl.col("estimate")
    for metric in metrics:
        low, high = metric.bounds or (-np.inf, np.inf)
        if low > metric.support[0] or high < metric.support[1]:  # they clip the interval
            of_metric = pl.col("metric") == metric.name
            estimate = pl.when(of_metric).then(estimate.clip(low, high)).otherwise(estimate)
    lo, hi, near = pl.col("lo"), pl.col("hi"), _ROUNDING * (1 + pl.col("mu").abs())
    own_priors = [metric.name for metric in metrics if metric.beta_prior != (1.0, 1.0)]
    published = (pl.col(INFERENCE) == "published") & ~pl.col("metric").is_in(own_priors)
    outside = published & ((estimate < lo - near) | (estimate > hi + near))
    beyond = published & pl.col("estimate").is_null() & pl.col("mu").is_not_null()

    def check(grouped: pl.DataFrame) -> pl.DataFrame:
        rows = tidy_rows(grouped)
        counts = rows.select(outside=outside.sum(), beyond=beyond.sum()).row(0, named=True)
        said = [
            f"{number:,} {'has' if number == 1 else 'have'} {what}"
            for number, what in (
                (counts["outside"], "an estimate outside its own interval"),
                (counts["beyond"], "a k beyond the trials of some question"),
            )
            if number
        ]
        if said:
            warnings.warn(
                f"of {rows.height:,} {'row' if rows.height == 1 else 'rows'} of the report "
                f"{' and '.join(said)}: there the uniform prior of each question decides, not the "
                f"trials. {CURES}",
                PriorWarning,
                stacklevel=2,
            )
        return grouped

    return check
