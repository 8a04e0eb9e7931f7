"""The questions of models after their first n trials, for trials with real-valued rewards."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import MISSING, ROWS
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.reward_sums import (
    reward_numbers,
    with_reward_moments,
    with_sure_successes,
)
from polars_scorio.counting.tally import DROPPED, QUESTIONS, SEQUENCE, class_columns
from polars_scorio.counting.tally_numbers import over_trials
from polars_scorio.counting.trials import CATEGORY

GROUP, PREFIX = ":group", ":prefix"
_PLACE = ":place"


def reward_prefixes(groups: pl.DataFrame, classes: Classes) -> pl.DataFrame:
    """The groups after n = 1, 2, ... trials of each question, n up to the most trials of a group.

    A question that has fewer trials stays at all of them.

    Parameters
    ----------
    groups : DataFrame
        With `QUESTIONS`, of which each has the `SEQUENCE` of its rewards.
    classes : Classes
        Those of averages of real-valued rewards.

    Returns
    -------
    DataFrame
        A row for each n and group, ascending: `PREFIX`, which is n, the place of the `GROUP`, and
        its `QUESTIONS` as a report reads them.
    """
    asked = classes.rewards
    assert asked is not None
    first, last = class_columns(classes)
    rewards = (
        groups.select(pl.int_range(pl.len()).alias(GROUP), QUESTIONS)
        .explode(QUESTIONS, **AS_ROWS)
        .select(GROUP, pl.col(QUESTIONS).struct.field(SEQUENCE))
        .filter(pl.col(SEQUENCE).list.len() > 0)
    )
    most = pl.col(SEQUENCE).list.len().max().over(GROUP).cast(pl.Int64)
    prefixes = (
        rewards.lazy()
        .with_columns(pl.int_ranges(1, most + 1).alias(PREFIX))
        .explode(PREFIX, **AS_ROWS)
        .with_columns(pl.col(SEQUENCE).list.head(PREFIX).alias(CATEGORY))
        .with_row_index(_PLACE)
    )
    keys = [PREFIX, GROUP, _PLACE]
    trials = prefixes.select(*keys, CATEGORY).explode(CATEGORY, **AS_ROWS)
    sums = trials.group_by(keys).agg(
        pl.len().cast(pl.Int64).alias(ROWS),
        pl.lit(0).alias(MISSING),
        *over_trials(reward_numbers(asked, counted=False)),
    )
    questions = with_sure_successes(with_reward_moments(sums, asked), asked, last)
    columns = [*asked.columns, first, last, DROPPED]
    return (
        questions.with_columns(
            (pl.col(ROWS) - pl.col(last)).alias(first), pl.col(MISSING).alias(DROPPED)
        )
        .sort(keys)
        .group_by(PREFIX, GROUP, maintain_order=True)
        .agg(pl.struct(columns).alias(QUESTIONS))
        .collect()
    )
