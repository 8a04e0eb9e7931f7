"""Do the runs of a log differ? What reports and comparisons ask where nobody named its runs.

If all questions have the same runs, two sums for each run say it, beside the counts that there are.
Other logs are read again question by question, unless they are large.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import value_text
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.log import CATEGORY, RUN, Trials
from polars_scorio.counting.run_bits import MOST_RUNS, run_ids
from polars_scorio.counting.tally import TIMES, class_members
from polars_scorio.maths.exchangeability import FEWEST, stopping
from polars_scorio.maths.exchangeability import LEVEL as STOPPED
from polars_scorio.maths.run_effects import (
    RunVariance,
    complete_run_variance,
    run_variance,
    runs_p_value,
)
from polars_scorio.study.evaluate import Evaluated
from polars_scorio.study.log_checks import PLACE, SUCCESSES, TRIALS, of_groups, state_counts
from polars_scorio.study.run_terms import RUN_VIEWS, RunTable, RunWarning, run_tables, with_runs

MOST_TRIALS = 1_000_000  # of a log with gaps; more are not read again
LEVEL, DECISION_LEVEL = 0.05, 0.2  # a false winner costs more than width
_SIZE = ":size"

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class SeenRuns:
    """The runs of each group with enough mixed questions, by its keys."""

    groups: Mapping[Key, RunVariance]

    @property
    def p_value(self) -> float:
        """Of the hypothesis that in no group runs differ."""
        return runs_p_value([*self.groups.values()])

    def words(self, trials: Trials) -> str:
        """The finding, with the group whose runs differ most."""
        key, runs = max(self.groups.items(), key=lambda item: item[1].run_share)
        place = ", ".join(
            f"{name}={value_text(value)}" for name, value in zip(trials.keys, key, strict=False)
        )
        sd, lo, hi = (100 * each for each in runs.run_sd())
        return (
            f"runs differ (p = {self.p_value:.2g}): one run moves the score"
            f"{f' at {place}' * bool(place)} by about {sd:.1f} points [{lo:.1f}, {hi:.1f}]"
        )


def with_seen_runs(found: Evaluated, *, decides: bool) -> Evaluated:
    """The numbers of a request, with what runs bring to them where the log shows that they differ.

    Models need three runs; at a weaker sign, which is enough where models are compared, four.
    """
    seen = _asked_runs(found)
    if seen is None or seen.p_value >= (DECISION_LEVEL if decides else LEVEL):
        return found
    shown = seen.p_value < LEVEL
    if shown:
        warnings.warn(
            f"{seen.words(found.request.trials)}. Intervals include that, of models with three "
            "runs or more; run= names the runs of a log, and "
            'run_effects="none" asks about these very ones.',
            RunWarning,
            stacklevel=2,
        )
    return with_runs(found, fewest=3 if shown else 4, shown=shown)


def _asked_runs(found: Evaluated) -> SeenRuns | None:
    """The runs of the log, if a number of a request can have a term of them."""
    request, trials = found.request, found.request.trials
    calibrated = any(
        row in part.numbers and view in RUN_VIEWS and request.choice.prior_of(metric, view) is None
        for part in found.parts
        for row, (metric, view) in found.views.items()
    )
    if not calibrated or not found.groups.height or found.bounds is not None:
        return None
    return seen_runs(trials, request.classes, found.groups)


def seen_runs(trials: Trials, classes: Classes, groups: pl.DataFrame) -> SeenRuns | None:
    """The runs of a log whose questions are counted in `groups`; None if nothing can be said."""
    named = trials.run is not None
    indexed = trials.identified and trials.trial is not None and trials.trial.dtype.is_integer()
    if trials.count is not None or trials.judged or not classes.successful:
        return None
    if not (named or indexed):
        return None
    states, trials = state_counts(groups, classes), of_groups(trials, groups)
    mixed = pl.col(SUCCESSES).is_between(0, pl.col(TRIALS), closed="none")
    enough = states.filter(mixed).group_by(PLACE).agg(pl.col(TIMES).sum() >= FEWEST)
    if not enough[TIMES].any():
        return None
    known = None if named else _complete_groups(trials, classes, states, groups)
    if known is None:
        if states.select((pl.col(TRIALS) * pl.col(TIMES)).sum()).item() > MOST_TRIALS:
            return None
        tables = run_tables(trials, classes)
        if any((table.size > 1).any() for table in tables.values()):  # trials share a run
            return None
        known = {key: runs for key, table in tables.items() if (runs := _of_table(table, classes))}
    found = {key: runs for key, runs in known.items() if runs.freedom}
    return SeenRuns(found) if found else None


def _complete_groups(
    trials: Trials, classes: Classes, states: pl.DataFrame, groups: pl.DataFrame
) -> dict[Key, RunVariance] | None:
    """Groups by their keys, if all questions of each have all of its runs; None if some lack one.

    Only those with enough mixed questions are there. The rarer outcome is read alone: ids were
    checked, so a question of n trials has n runs, and all of them if its group has no more.
    """
    names = trials.groups
    n, c, times = (states[name].to_numpy() for name in (TRIALS, SUCCESSES, TIMES))
    rare = bool(2 * times @ c <= times @ n)
    if classes.summed:
        success = pl.col(CATEGORY) == 1
    else:
        members = class_members(trials, classes)
        success = pl.any_horizontal(members[j] for j in classes.successful)
    rows = trials.rows(run_ids(trials)).filter(success if rare else ~success)
    counted = rows.select(*names, RUN).group_by(*names, RUN).len(_SIZE)
    counted = counted.filter(pl.col(RUN).is_between(0, MOST_RUNS - 1))
    keys = {key: place for place, key in enumerate(groups.select(names).rows())}
    found = {}
    every, place = (n, c, times), states[PLACE].to_numpy()
    for runs in counted.collect(engine="streaming").partition_by(names):
        key = tuple(runs[name][0] for name in names)
        n, c, times = (each[place == keys.get(key, -1)] for each in every)
        if not n.size or (n != runs.height).any() or runs[RUN].has_nulls():
            return None
        if times[(c > 0) & (c < n)].sum() >= FEWEST:
            seen = runs[_SIZE].to_numpy().astype(np.int64)
            successes = seen if rare else times.sum() - seen
            found[key] = complete_run_variance(successes, n, c, times)
    return found


def _of_table(table: RunTable, classes: Classes) -> RunVariance | None:
    """The runs of a group; None if too few questions are mixed, or trials stopped on outcomes."""
    values = table.credits(classes.successful)
    sums = values.sum(1)
    n, c = table.runs_of.astype(np.int64), sums.round().astype(np.int64)
    stopped = stopping(n, c, table.present, values > 0).p
    if ((c > 0) & (c < n)).sum() < FEWEST or (stopped is not None and stopped < STOPPED):
        return None
    return run_variance(values, table.present)
