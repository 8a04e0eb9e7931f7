"""Real-valued rewards of groups of trials, where a metric is an expression and not a report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.counting.checks import MISSING, ROWS
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.reward_sums import (
    MEAN_REWARD,
    REWARD_ERROR,
    RewardColumns,
    reward_numbers,
    with_reward_moments,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally_numbers import over_trials
from polars_scorio.counting.trials import CATEGORY
from polars_scorio.kernels.rewards.group_rewards import GroupRewards

_GROUP = ":group"
_SUMS = RewardColumns(None, None, observed=False, averages=True, lists=True)


@dataclass(frozen=True, slots=True)
class ListedRewards:
    """The rewards of each group as a list, in an aggregation.

    Attributes
    ----------
    roles : Roles
        What the categories mean: `missing` alone, as rewards have neither successes nor thresholds.
    """

    roles: Roles

    def aggregation(self, outcome: pl.Expr) -> pl.Expr:
        """The rewards of a group; an empty list if its column has no floats."""
        rewards = outcome.map_batches(
            self._float_rewards, return_dtype=pl.Float64(), is_elementwise=True
        )
        return rewards.drop_nulls().implode()

    def _float_rewards(self, column: pl.Series) -> pl.Series:
        """The rewards, null if missing; all null if the column has another dtype than a float."""
        if not column.dtype.is_float():
            return pl.Series(column.name, [None], dtype=pl.Float64).new_from_index(0, len(column))
        missing = self.roles.missing
        rewards = column.cast(pl.Float64).fill_nan(None)
        return rewards if isinstance(missing, str) else rewards.fill_null(float(missing))


def grouped_rewards(name: str, lists: pl.Series) -> GroupRewards:
    """The rewards of groups, each a question with a range of its own: that of its rewards.

    Parameters
    ----------
    name : str
        The column, for messages.
    lists : Series
        The rewards of each group; none is empty.

    Raises
    ------
    ValueError
        If a reward is infinite.

    Examples
    --------
    >>> rewards = grouped_rewards("reward", pl.Series([[0.5, 2.5], [1.0]]))
    >>> rewards.mean, rewards.low, rewards.width
    (array([1.5, 1. ]), array([0.5, 1. ]), array([2., 0.]))
    """
    trials = lists.list.len().to_numpy().astype(np.int64)
    flat = lists.explode(**AS_ROWS)
    # A callback sees some of the groups: it can neither count the bad ones nor name the first.
    if not flat.is_finite().all():
        raise ValueError(
            f"an infinite reward in {name!r}: recode it, or set it to null and see missing=."
        )
    low, high = (end.to_numpy() for end in (lists.list.min(), lists.list.max()))
    group = np.arange(trials.size)
    # A power of two that makes the largest reward of a group about 1 changes no digit.
    _, exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))
    scaled = np.ldexp(flat.to_numpy(), -np.repeat(exponent, trials))
    rows = pl.LazyFrame({_GROUP: np.repeat(group, trials), CATEGORY: scaled})
    numbers = over_trials(reward_numbers(_SUMS, counted=False))
    sums = rows.group_by(_GROUP).agg(
        pl.len().cast(pl.Int64).alias(ROWS), pl.lit(0).alias(MISSING), *numbers
    )
    moments = with_reward_moments(sums, _SUMS).sort(_GROUP).collect()
    mean, error = (
        np.ldexp(moments[column].to_numpy().astype(np.float64), exponent)
        for column in (MEAN_REWARD, REWARD_ERROR)
    )
    return GroupRewards(trials, group, trials.size, low, high - low, mean, error, flat.to_numpy())
