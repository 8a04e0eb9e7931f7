"""Looks again and again at a log that grows: how much of the plan is done, and what that costs."""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy

from polars_scorio.kernels.anytime import anytime_critical
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.posteriors import Target
from polars_scorio.reporting.inference.cell_numbers import INFORMATION
from polars_scorio.reporting.question_cells import QuestionCells

_SUREST = 1 - 2.0**-52  # the largest confidence below 1 of which half of the rest is a number


def planned_share(cells: QuestionCells, target: Target, plan: int) -> Floats:
    """Information of each cell, over the planned one.

    Parameters
    ----------
    cells : QuestionCells
        The questions.
    target : "benchmark" or "population"
        About these questions, the harmonic mean of their trials counts; about a population, their
        number.
    plan : int
        Planned trials of each question, or planned questions.
    """
    states = cells.states
    if target == "population":
        return np.asarray(states.size / plan)
    return np.asarray(1 / (states.mean(1 / states.n) * plan))


def look_confidence(confidence: float, information: Floats) -> Floats:
    """The confidence of one look with the critical value of a look that is one of many.

    Comparisons do not use it, but the tail itself: of the tail of a look at a hundredth of the plan
    no digit is left here, and the interval is the whole range.
    """
    z = scipy.special.ndtri((1 + confidence) / 2)
    tail = scipy.special.ndtr(-anytime_critical(z, information))
    return np.asarray(np.minimum(1 - 2 * tail, _SUREST))


def information_of_strata(target: Target) -> pl.Expr:
    """Information of a mean over strata, from that of the strata and their numbers of questions."""
    information, questions = pl.col(INFORMATION), pl.col("questions").cast(pl.Float64)
    pooled = questions.sum() / (questions / information).sum()
    return (information.sum() if target == "population" else pooled).alias(INFORMATION)
