"""The warning that trials stopped on their outcomes, so that averages of questions are biased."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl

from polars_scorio.counting.trials import Trials
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.states import States
from polars_scorio.kernels.stopping_tests import PATTERN_LEVEL, pattern_p_value, suspect_models
from polars_scorio.reporting.question_cells import QuestionCells


class StoppingWarning(UserWarning):
    """The trials of questions stopped on their outcomes, as after retries until a success.

    Averages of questions are biased then, and so is what compares them. The message says in how
    many models, and what to do; `coverage` has the p-values.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.StoppingWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.StoppingWarning)
    """


def warn_of_stopping(cells: QuestionCells, keys: pl.DataFrame, trials: Trials) -> None:
    """Warn once of models whose questions with fewer trials share their successes or failures.

    It reads nothing but the counts that the numbers of a report are made from: `coverage` also
    looks at the order of the trials. Real-valued rewards have no successes to look at.

    Parameters
    ----------
    cells : QuestionCells
        The questions of all groups.
    keys : DataFrame
        The keys of the groups. Groups over all strata, whose keys are null, are not looked at.
    trials : Trials
        The log.
    """
    if not cells.classes.successful or cells.has_fractions:
        return
    states = cells.fitted.binary(cells.classes.successful)
    p_values, model = _pattern_p_values(states), np.zeros(states.groups, dtype=np.int64)
    of_models = np.ones(states.groups, dtype=np.bool_)
    for name in trials.keys:
        of_models &= keys[name].is_not_null().to_numpy()
    p_values[~of_models] = np.nan
    if trials.models:
        ranks = keys.select(pl.struct(*trials.models).rank("dense")).to_series()
        model = ranks.to_numpy().astype(np.int64)
    named = suspect_models(p_values, model, PATTERN_LEVEL)
    stopped = np.flatnonzero(np.isin(model, named) & (p_values < PATTERN_LEVEL)).tolist()
    if not stopped:
        return
    place = ", ".join(f"{name}={keys[name][stopped[0]]!r}" for name in trials.keys)
    fewest = int(states.n[states.state[states.group == stopped[0]]].min())
    warnings.warn(
        f"trials stopped on their outcomes in {len(stopped):,} of {of_models.sum():,} "
        f"{'group' if len(of_models) == 1 else 'groups'}{', the first at ' * bool(place)}{place}: "
        "all questions with fewer trials have the same number of successes, or of failures, as "
        "after retries until a success. Unless these numbers of trials were planned, estimates are "
        f"biased, and so are comparisons. Use the first trials that all questions have ({fewest:,} "
        'there), or ps.bayes() with inference="pooled"; coverage() has the evidence.',
        StoppingWarning,
        stacklevel=2,
    )


def _pattern_p_values(states: States) -> Floats:
    """P-value of each group; NaN where all questions have the same number of trials."""
    n, c = states.n[states.state], states.counts[states.state, 1]
    ends = np.searchsorted(states.group, np.arange(states.groups + 1))
    found = np.full(states.groups, np.nan)
    (filled,) = np.nonzero(np.diff(ends))
    if not filled.size:
        return found
    most = np.zeros(states.groups, np.int64)
    most[filled] = np.maximum.reduceat(n, ends[filled])
    short = n < most[states.group]
    found[states.group[short]] = 1.0
    # The test is costly, and its result is 1 unless the short questions of a group share something.
    differ = np.ones(states.groups, dtype=np.bool_)
    places, first = np.unique(states.group[short], return_index=True)
    for shared in (c[short], (n - c)[short]):
        alike = np.minimum.reduceat(shared, first) == np.maximum.reduceat(shared, first)
        differ[places[alike]] = False
    for group in np.flatnonzero(~differ).tolist():
        own = slice(ends[group], ends[group + 1])
        found[group] = pattern_p_value(n[own], c[own], states.questions[own])
    return found
