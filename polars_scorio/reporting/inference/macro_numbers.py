"""Calibrated numbers of means over strata, from the questions of all strata at once.

Each stratum alone would have a fit of its own, and intervals that are twice as wide as needed where
strata are small. One fit prices the questions of all of them, which have the weights of their
strata.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polars_scorio.arguments import View
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.credit_sums import GainsOf, state_estimates
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.metric_numbers import (
    Numbers,
    bounded_numbers,
    price_numbers,
    with_bias,
    with_saturated_ends,
)
from polars_scorio.kernels.calibrated.population_mean import UnitSample
from polars_scorio.kernels.calibrated.question_weights import Strata
from polars_scorio.kernels.calibrated.root_credit import largest_bias
from polars_scorio.kernels.calibrated.smaller_draws import draw_bounds, smaller_draws
from polars_scorio.kernels.calibrated.variance_price import credit_prices
from polars_scorio.kernels.posteriors import SeparatePosteriors, Target
from polars_scorio.kernels.question_groups import QuestionGroups
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.cell_numbers import CellNumbers, Row, clipped_numbers
from polars_scorio.reporting.question_cells import QuestionCells


def macro_numbers(
    credited: dict[tuple[int, ...], list[Metric]],
    cells: QuestionCells,
    confidence: Floats | float,
    target: Target,
) -> dict[Row, CellNumbers]:
    """The numbers of metrics that credit successes, for means over the strata of each cell.

    Parameters
    ----------
    credited : dict
        The metrics that credit the same classes as successes.
    cells : QuestionCells
        A cell for each model, with its strata.
    confidence, target
        As for `credit_numbers`.

    Returns
    -------
    dict
        NaN for a number that the strata have to give: over a population, sigma; everything, if k
        exceeds the trials of some question.
    """
    found = dict[Row, CellNumbers]()
    assert cells.strata is not None
    for successes, metrics in credited.items():
        states, strata = cells.states.binary([*successes]), cells.strata.binary([*successes])
        rows = [(metric, k) for metric in metrics for k in metric.row_sizes]
        draws = [draw for metric, k in rows if (draw := metric.draw(k)) is not None]
        if target == "benchmark":
            fitted = Calibrated.fit(states, strata)
            bounds = [draw_bounds(draw, states.n) for draw in draws]
            every = [*draws, *(small.draw_gains() for small in smaller_draws(bounds))]
            priced = _priced_credits(fitted, strata, confidence, every)
            numbers = bounded_numbers(fitted, bounds, priced[: len(draws)], priced[len(draws) :])
        else:
            numbers = [
                _sample_numbers(
                    strata,
                    state_estimates(strata.states, draw)[0],
                    largest_bias(draw, strata.states.n),
                    confidence,
                )
                for draw in draws
            ]
        for (metric, k), each in zip(rows, numbers, strict=True):
            found[metric.name, k] = clipped_numbers(each.scaled(*metric.support), metric)
    return found


def _priced_credits(
    fitted: Calibrated,
    strata: Strata[States],
    confidence: Floats | float,
    draws: Sequence[GainsOf],
) -> list[Numbers]:
    """The numbers of metrics that are a credit, from their prices."""
    biased = [
        with_bias(price_numbers(price, confidence), _mean_bias(strata, draw))
        for draw, price in zip(draws, credit_prices(fitted, draws), strict=True)
    ]
    return with_saturated_ends(fitted, draws, biased, confidence)


def _mean_bias(strata: Strata[States], gains: GainsOf) -> Floats:
    """Largest bias of the mean over the strata of each cell."""
    states, owner = strata.states, strata.owner
    each = strata.shares[states.group] * states.questions
    bias = largest_bias(gains, states.n)[states.state]
    groups = int(owner.max(initial=-1)) + 1
    return np.bincount(owner[states.group], each * bias, groups).astype(np.float64)


def priced_macro_numbers(
    metric: Metric, view: View, cells: QuestionCells, confidence: Floats | float
) -> dict[Row, CellNumbers]:
    """The numbers of a metric that is no credit, about the questions of the strata of each cell.

    Parameters
    ----------
    metric : Metric
        The metric: votes, Max@k or an average of several weights.
    view : View
        What it looks at: answers, or categories.
    cells, confidence
        As for `macro_numbers`.

    Returns
    -------
    dict
        NaN for a number that the strata have to give, as in `macro_numbers`.
    """
    if view == "answers":
        prices = metric.prices(cells.votes(), cells.votes_of_strata())
    else:
        prices = metric.prices(cells.states, cells.strata)
    return {
        (metric.name, k): clipped_numbers(price_numbers(price, confidence), metric)
        for k, price in zip(metric.row_sizes, prices, strict=True)
    }


def sampled_macro_numbers(
    metric: Metric, view: View, cells: QuestionCells, confidence: Floats | float
) -> dict[Row, CellNumbers]:
    """The numbers of a metric that is no credit, about the populations of the strata of each cell.

    Of votes, Max@k and averages of several weights, each question has an unbiased estimate, and
    the bound of a population needs nothing else.

    Parameters
    ----------
    metric, view, cells, confidence
        As for `priced_macro_numbers`.
    """
    low, high = metric.support
    found = dict[Row, CellNumbers]()
    for k in metric.row_sizes:
        strata, values = _question_estimates(metric, view, k, cells)
        unit = (values - low) / ((high - low) or 1.0)
        numbers = _sample_numbers(strata, unit, 0 * unit, confidence)
        found[metric.name, k] = clipped_numbers(numbers.scaled(low, high), metric)
    return found


def _question_estimates(
    metric: Metric, view: View, k: int | None, cells: QuestionCells
) -> tuple[Strata[QuestionGroups], Floats]:
    """The strata of each cell, and the estimate of a question in each of their states."""
    if view == "answers":
        of_votes = cells.votes_of_strata()
        return of_votes, metric.summary(of_votes.states.alone, k).estimate
    assert cells.strata is not None
    alone = SeparatePosteriors(cells.strata.states.alone)
    return cells.strata, metric.summary(alone, k).estimate


def _sample_numbers(
    strata: Strata[QuestionGroups], values: Floats, bias: Floats, confidence: Floats | float
) -> Numbers:
    """The mean of strata whose questions are a sample, without its standard deviation.

    `values` and `bias` are the estimate of a question in each state, and its largest bias.
    """
    states, owner = strata.states, strata.owner
    shares, group = strata.shares[states.group], owner[states.group]
    values, bias = values[states.state], bias[states.state]
    groups = int(owner.max(initial=-1)) + 1
    mean = np.bincount(group, shares * states.questions * values, groups).astype(np.float64)
    sample = UnitSample(values, shares, states.questions, group, groups, bias)
    lo, hi = sample.bounds(confidence)
    # If all questions are alike, the mean may differ from an end by a rounding.
    lo, hi = np.minimum(lo, mean), np.maximum(hi, mean)
    unknown = np.full_like(mean, np.nan)
    return Numbers(mean, mean, unknown, lo, hi, np.zeros_like(mean, dtype=np.bool_))
