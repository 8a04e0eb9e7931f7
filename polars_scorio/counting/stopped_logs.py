"""Refuse logs whose trials stopped on their outcomes, for methods that cannot answer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from polars_scorio.counting.coverage import coverage
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.counting.trials import Trials


def check_stopping(trials: Trials, counts: Sequence[str]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The check that no model stopped its trials on their outcomes; for `checks.check_frame`.

    Only where the questions of a model differ in their trials, the log is read once more, for its
    `coverage`.

    Parameters
    ----------
    trials : Trials
        The log.
    counts : sequence of str
        The count columns of its questions.
    """

    def check(groups: pl.DataFrame) -> pl.DataFrame:
        keys = [*trials.groups]
        rows = groups.select(*keys, QUESTIONS).explode(QUESTIONS, **AS_ROWS).unnest(QUESTIONS)
        scored = rows.with_columns(pl.sum_horizontal(counts).alias(":n")).filter(pl.col(":n") > 0)
        ragged = scored.group_by(keys).agg(pl.col(":n").n_unique()).filter(pl.col(":n") > 1)
        if ragged.height:
            _refuse_stopped(ragged.select(*trials.keys), trials)
        return groups

    return check


def _refuse_stopped(ragged: pl.DataFrame, trials: Trials) -> None:
    """Raise if trials of some groups stopped on their outcomes.

    Raises
    ------
    ValueError
        With how many models there are, and the first of them.
    """
    found = coverage(trials.frame, trials.roles).filter(pl.col("stopping") == "outcomes")
    stopped = found.select(*trials.keys, "stopping").collect(engine="streaming")
    if trials.keys:
        stopped = stopped.join(ragged, on=trials.keys, how="semi", nulls_equal=True)
    if stopped.is_empty():
        return
    first = stopped.sort(*trials.keys, "stopping").row(0, named=True)
    place = ", ".join(f"{name}={first[name]!r}" for name in trials.keys)
    raise ValueError(
        f"the trials of {stopped.height:,} model{'s' * (stopped.height > 1)} stopped on their "
        f"outcomes{f', the first at {place}' * bool(place)}: more trials of the questions that "
        "failed, or fewer of those that succeeded, bias every estimate, and no verdict about it "
        "holds. Filter the log to the first trials that all questions have. See coverage() for "
        "the evidence."
    )
