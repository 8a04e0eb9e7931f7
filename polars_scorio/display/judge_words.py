"""Words for the correction of the errors of a judge, and for the labels behind it."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.judge_counts import Judge
from polars_scorio.counting.roles import Roles
from polars_scorio.reporting.inference.cell_numbers import LABEL_COUNT


def judge_words(roles: Roles, labels: pl.Series | None = None) -> str:
    """Correction of the numbers of a log, in words; empty if its outcomes are no verdicts.

    Parameters
    ----------
    roles : Roles
        The roles of the log.
    labels : Series, optional
        The labels behind each number.

    Examples
    --------
    >>> print(judge_words(Roles(judge=Judge((88, 100), (78, 100)))))
    corrected for the judge: sensitivity 0.88 of 100, specificity 0.78 of 100
    >>> judge_words(Roles(truth="human"), pl.Series([64, 71]))
    'corrected for the judge by 64 to 71 labels'
    """
    sample = roles.calibration
    if isinstance(sample, Judge):
        rates = (("sensitivity", sample.sensitivity), ("specificity", sample.specificity))
        said = ", ".join(f"{name} {part / whole:.2f} of {whole:,}" for name, (part, whole) in rates)
        return f"corrected for the judge: {said}"
    if sample is not None:
        return "corrected for the judge by a calibration sample of each model"
    if roles.truth is None:
        return ""
    return f"corrected for the judge by {label_range(labels)}labels"


def label_range(labels: pl.Series | None) -> str:
    """The fewest and the most labels, with a space behind them; empty if nobody counted them."""
    known = [] if labels is None else labels.drop_nulls().to_list()
    if not known:
        return ""
    fewest, most = min(known), max(known)
    return f"{fewest:,} " if fewest == most else f"{fewest:,} to {most:,} "


def labels_of(rows: pl.DataFrame) -> pl.Series | None:
    """The labels behind rows of a report, if it has them."""
    return rows[LABEL_COUNT] if LABEL_COUNT in rows.columns else None
