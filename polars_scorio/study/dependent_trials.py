"""Warnings of trials that are not independent, as far as counts show it; no number depends on them.

A report tests the counts that it has anyway; `log_checks` reads a log for the tests of its ids.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from polars_scorio.arguments import p_words
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.tally import QUESTIONS, TIMES
from polars_scorio.maths.exchangeability import (
    DIFFICULTY_LEVEL,
    LEVEL,
    difficulty_p_value,
    pattern_p_value,
)
from polars_scorio.study.log_checks import PLACE, SUCCESSES, TRIALS, CheckWarning, question_sizes

if TYPE_CHECKING:
    from polars_scorio.study.request import Request


@dataclass(frozen=True, slots=True, eq=False)
class CountTests:
    """A step of a `WholePlan` that warns of what counts show, and changes nothing."""

    request: Request
    numbers: bool = True

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """The groups as they are."""
        request, trials = self.request, self.request.trials
        if not request.classes.successful or not trials.roles.validate:
            return groups
        priors = {request.choice.prior_of(*number) for number in request.metrics}
        # These posteriors allow for stopping rules, and not for plans by difficulty.
        populations = self.numbers and priors <= {"population"}
        least = _least_p_value(state_counts(groups, request.classes), populations=populations)
        level = (DIFFICULTY_LEVEL if populations else LEVEL) / max(groups.height, 1)
        if least is not None and least[0] < level:
            p, place = least
            keys = groups.row(place, named=True)
            where = ", ".join(f"{name}={keys[name]!r}" for name in trials.keys)
            where = f", as in {where}" * bool(where)
            warnings.warn(
                f"numbers of trials follow the success rates of questions{where} ({p_words(p)}): "
                "estimates of single questions hold, and a population of questions that is fitted "
                "to them does not."
                if populations
                else f"all questions with fewer trials ended alike{where} ({p_words(p)}): if "
                "trials stopped on outcomes, scores are biased. check() shows the evidence. If "
                "numbers of trials were planned, ignore this.",
                CheckWarning,
                stacklevel=2,
            )
        return groups


def _least_p_value(states: pl.DataFrame, *, populations: bool) -> tuple[float, int] | None:
    """The least p-value of the groups whose questions differ in trials, with its place."""
    p_values = []
    for (place,), table in states.group_by(PLACE, maintain_order=True):
        n, c, often = (
            table[name].to_numpy().astype(np.int64) for name in (TRIALS, SUCCESSES, TIMES)
        )
        if n.min() == n.max():
            continue
        p = pattern_p_value(n, c, often)[0]
        if populations:  # trials that stopped on outcomes look as if they followed difficulty
            p = 1.0 if p < LEVEL else difficulty_p_value(n, c, often)
        p_values.append((p, cast("int", place)))
    return min(p_values, default=None)


def state_counts(groups: pl.DataFrame, classes: Classes) -> pl.DataFrame:
    """Distinct trials and successes of each group, by its place, with how many questions have them.

    Only questions with trials are there.
    """
    rows = groups.lazy().select(QUESTIONS).with_row_index(PLACE).explode(QUESTIONS, **AS_ROWS)
    rows = rows.unnest(QUESTIONS)
    kept = cast("pl.Struct", cast("pl.List", groups.schema[QUESTIONS]).inner).to_schema()
    times = pl.col(TIMES).sum() if TIMES in kept else pl.len()
    sized = rows.with_columns(question_sizes(classes)).filter(pl.col(TRIALS) > 0)
    states = sized.group_by(PLACE, TRIALS, SUCCESSES).agg(times.cast(pl.Int64).alias(TIMES))
    return states.sort(PLACE, TRIALS, SUCCESSES).collect()
