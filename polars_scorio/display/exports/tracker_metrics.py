"""A report as a flat dict, for trackers of experiments and training loops."""

from __future__ import annotations

import re

from polars_scorio.display.exports.report_rows import (
    MODEL,
    NUMBERS,
    Report,
    ReportRow,
    report_rows,
)

_REFUSED = re.compile(r"[^\w.\- ]+")  # characters that MLflow does not take, within a part


def to_metrics(report: Report) -> dict[str, float]:
    """A report as a flat dict of numbers, for MLflow, Weights & Biases and training loops.

    Parameters
    ----------
    report : DataFrame or LazyFrame
        The result of `report` or of a metric; you may filter rows, and drop or join columns before
        `metric`.

    Returns
    -------
    dict of str to float
        Estimate, mu, sigma, lo and hi of each row, without nulls. A name joins by slashes the
        strata, the model (if there are several), the metric with its value of k, and the number:
        ``"airline/pass_hat_2/lo"``. Characters other than letters, digits, points, hyphens and
        blanks become underscores.

    Raises
    ------
    ValueError
        If the frame is no tidy report, or two rows would have the same name.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> log = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [1, 0, 1, 1]})
    >>> report = log.scorio(trial=None, inference="calibrated").pass_at_k([1, 2])
    >>> metrics = ps.to_metrics(report)
    >>> metrics["pass_at_2/estimate"], len(metrics)
    (1.0, 10)

    In a training loop: ``wandb.log(ps.to_metrics(report), step=step)``.
    """
    rows = report_rows(report)
    several = len({row.keys.get(MODEL) for row in rows}) > 1
    found: dict[str, float] = {}
    for row in rows:
        prefix = _row_name(row, with_model=several)
        numbers = {f"{prefix}/{name}": row.number(name) for name in NUMBERS}
        if found.keys() & numbers.keys():
            raise ValueError(
                f"two rows of the report would have the name {prefix!r}: filter the report, or "
                "name its metrics with name="
            )
        found |= {name: value for name, value in numbers.items() if value is not None}
    return found


def _row_name(row: ReportRow, *, with_model: bool) -> str:
    """The name of a row: strata, model, metric."""
    keys = [str(value) for name, value in row.keys.items() if with_model or name != MODEL]
    return "/".join(_REFUSED.sub("_", part).strip("_") for part in [*keys, metric_at(row)])


def metric_at(row: ReportRow) -> str:
    """The name of a metric with the number k in place of the letter.

    >>> metric_at(ReportRow({}, "pass_hat_k", 2, {})), metric_at(ReportRow({}, "ours", 2, {}))
    ('pass_hat_2', 'ours_2')
    """
    if row.k is None:
        return row.metric
    named, found = re.subn(r"_k(?![a-z0-9])", f"_{row.k}", row.metric, count=1)
    return named if found else f"{row.metric}_{row.k}"
