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
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import RUN, Trials
from polars_scorio.counting.run_bits import MOST_RUNS
from polars_scorio.counting.tally import TIMES
from polars_scorio.maths.exchangeability import FEWEST, stopping
from polars_scorio.maths.exchangeability import LEVEL as STOPPED
from polars_scorio.maths.run_effects import (
    RunVariance,
    complete_run_variance,
    run_variance,
    runs_p_value,
)
from polars_scorio.study.dependent_trials import RUN_SUMS, SIZE, is_rare, of_groups, state_counts
from polars_scorio.study.evaluate import Evaluated
from polars_scorio.study.log_checks import PLACE, RUNS_DIFFER, TRIALS, moved_words
from polars_scorio.study.run_terms import RUN_VIEWS, RunTable, RunWarning, run_tables, with_runs

MOST_TRIALS = 1_000_000  # of a log with gaps; more are not read again
DECISION_LEVEL = 0.2  # a false winner costs more than width

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
        return f"runs differ (p = {self.p_value:.2g}): {moved_words(runs, place)}"


def with_seen_runs(found: Evaluated, *, decides: bool) -> Evaluated:
    """The numbers of a request, with what runs bring to them where the log shows that they differ.

    Models need three runs; at a weaker sign, which is enough where models are compared, four.
    """
    seen = _asked_runs(found)
    if seen is None or seen.p_value >= (DECISION_LEVEL if decides else RUNS_DIFFER):
        return found
    shown = seen.p_value < RUNS_DIFFER
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
    if not calibrated or found.bounds is not None or found.run_sums is None:
        return None
    groups = found.groups.head(found.run_sums.len())  # means are behind them
    return seen_runs(trials, request.classes, groups, found.run_sums)


def seen_runs(
    trials: Trials, classes: Classes, groups: pl.DataFrame, sums: pl.Series
) -> SeenRuns | None:
    """The runs of a log whose questions are counted in `groups`; None if nothing can be said."""
    if sums.null_count() == sums.len():
        return None
    states = state_counts(groups, classes)
    known = _complete_groups(trials, states, groups, sums) if trials.run is None else None
    if known is None:
        if states.select((pl.col(TRIALS) * pl.col(TIMES)).sum()).item() > MOST_TRIALS:
            return None
        tables = run_tables(of_groups(trials, groups), classes)
        if any((table.size > 1).any() for table in tables.values()):  # trials share a run
            return None
        known = {key: runs for key, table in tables.items() if (runs := _of_table(table, classes))}
    found = {key: runs for key, runs in known.items() if runs.freedom}
    return SeenRuns(found) if found else None


def _complete_groups(
    trials: Trials, states: pl.DataFrame, groups: pl.DataFrame, sums: pl.Series
) -> dict[Key, RunVariance] | None:
    """Groups by their keys, if all questions of each have all of its runs; None if some lack one.

    Only those with enough mixed questions are there. Ids were checked, so a question of n trials
    has n runs, and all of them if its group has no more.
    """
    place, n, c, times = (states[name].to_numpy().astype(np.int64) for name in states.columns)
    each = sums.rename(RUN_SUMS).to_frame().with_row_index(PLACE).explode(RUN_SUMS, **AS_ROWS)
    each = each.drop_nulls(RUN_SUMS).unnest(RUN_SUMS)
    mixed = np.bincount(place, times * ((c > 0) & (c < n)), groups.height) >= FEWEST
    runs = np.bincount(each[PLACE].to_numpy(), minlength=groups.height)
    asked = np.flatnonzero(mixed & (runs > 0))  # no runs are known of what pools others
    kept = np.isin(place, asked)
    each = each.filter(pl.col(PLACE).is_in(asked))
    if (n[kept] != runs[place[kept]]).any() or not each[RUN].is_between(0, MOST_RUNS - 1).all():
        return None
    run_group, group = (np.searchsorted(asked, own) for own in (each[PLACE], place[kept]))
    states_of = n[kept], c[kept], times[kept]
    successes = each[SIZE].to_numpy().astype(np.int64)
    if not is_rare(n, c, times):
        successes = np.bincount(group, times[kept])[run_group] - successes
    found = complete_run_variance(successes, run_group, states_of, group)
    keys = groups[asked].select(trials.groups).rows()
    return {key: found.at(number) for number, key in enumerate(keys)}


def _of_table(table: RunTable, classes: Classes) -> RunVariance | None:
    """The runs of a group; None if too few questions are mixed, or trials stopped on outcomes."""
    values = table.credits(classes.successful)
    sums = values.sum(1)
    n, c = table.runs_of.astype(np.int64), sums.round().astype(np.int64)
    stopped = stopping(n, c, table.present, values > 0).p
    if ((c > 0) & (c < n)).sum() < FEWEST or (stopped is not None and stopped < STOPPED):
        return None
    return run_variance(values, table.present)
