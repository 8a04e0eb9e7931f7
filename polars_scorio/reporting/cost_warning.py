"""The warning that one trial makes up much of what a model cost."""

from __future__ import annotations

import warnings

import polars as pl

from polars_scorio.counting.trials import Trials
from polars_scorio.reporting.inference.cell_numbers import LARGEST_SHARE
from polars_scorio.reporting.question_cells import GROUP

_MUCH = 0.2  # of the cost of a model
_FEW = 10  # among fewer trials some trial has much in any case


class CostWarning(UserWarning):
    """A single trial makes up more than a fifth of what a model cost.

    With so heavy a tail the intervals of costs are too short, where .95 was promised: they held in
    .78 of such simulated logs, in .52 to .99 by the tail and the trials (lognormal costs with sd
    1.5 to 2.5, 10 to 60 questions, 1 or 4 trials). The message names the first such model.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.CostWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.CostWarning)
    """


def warn_of_large_costs(rows: pl.DataFrame, keys: pl.DataFrame, trials: Trials) -> None:
    """Warn once of models of which one of ten or more trials has more than a fifth of the cost.

    Parameters
    ----------
    rows : DataFrame
        The rows of a report with `GROUP` and `LARGEST_SHARE`.
    keys : DataFrame
        The keys of the groups. Groups over all strata, whose keys are null, are not looked at.
    trials : Trials
        The log.
    """
    largest = pl.when(pl.col("trials") >= _FEW).then(LARGEST_SHARE).max()
    of_groups = rows.group_by(GROUP).agg(largest.alias(LARGEST_SHARE)).sort(GROUP)
    shares = keys.select(*trials.groups).with_columns(of_groups[LARGEST_SHARE])
    large = shares.drop_nulls().filter(pl.col(LARGEST_SHARE) > _MUCH)
    if large.is_empty():
        return
    first = large.sort(*trials.keys, LARGEST_SHARE).row(0, named=True)
    place = ", ".join(f"{name}={first[name]!r}" for name in trials.keys)
    number = f"{large.height:,} {'group' if large.height == 1 else 'groups'}"
    warnings.warn(
        f"one trial makes up more than {_MUCH:.0%} of the cost in {number}"
        f"{', the first at ' * bool(place)}{place}: {first[LARGEST_SHARE]:.0%}. With so heavy a "
        "tail, intervals of costs are too short. Look at that trial: is its cost right?",
        CostWarning,
        stacklevel=2,
    )
