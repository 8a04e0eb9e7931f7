"""The verdicts of an imperfect judge behind the difference of two models."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.judge_counts import Judge
from polars_scorio.counting.trials import Trials
from polars_scorio.reporting.inference.cell_numbers import (
    CALIBRATION,
    JUDGE_DTYPES,
    JUDGED,
    LABEL_COUNT,
)


def judged_dtypes(trials: Trials) -> dict[str, pl.DataType]:
    """The columns that pairs of models have if their outcomes are verdicts of a judge."""
    return JUDGE_DTYPES if trials.judged else {}


def judged_columns(rows: pl.DataFrame, pairs: pl.DataFrame, trials: Trials) -> dict[str, pl.Series]:
    """The differences of the verdicts as they are, and the labels behind both models of pairs.

    Labels that tell how often one judge errs, and which both models share, count once.

    Parameters
    ----------
    rows : DataFrame
        The rows of a report, one of each model.
    pairs : DataFrame
        The places of both models in these rows, in `model_a` and `model_b`.
    trials : Trials
        The log.
    """
    if not trials.judged:
        return {}
    judge = rows[CALIBRATION].struct.field("judge")
    judged, labels, judge_of = (
        [column.gather(pairs[side]) for side in ("model_a", "model_b")]
        for column in (rows[JUDGED], rows[LABEL_COUNT], judge)
    )
    one_sample = isinstance(trials.roles.calibration, Judge)
    shared = (judge_of[0] == judge_of[1]).fill_null(one_sample)
    return {
        JUDGED: judged[0] - judged[1],
        LABEL_COUNT: labels[0].zip_with(shared, labels[0] + labels[1]),
    }
