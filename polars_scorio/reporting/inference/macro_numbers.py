"""Calibrated numbers of means over strata, from the questions of all strata at once.

Each stratum alone would have a fit of its own, and intervals that are twice as wide as needed where
strata are small. One fit prices the questions of all of them, which have the weights of their
strata.
"""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.credit_sums import GainsOf, estimates
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.metric_numbers import Numbers, price_numbers, with_bias
from polars_scorio.kernels.calibrated.population_mean import UnitSample
from polars_scorio.kernels.calibrated.question_weights import Strata
from polars_scorio.kernels.calibrated.root_credit import largest_bias
from polars_scorio.kernels.calibrated.variance_price import prices
from polars_scorio.kernels.posteriors import Target
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
    assert cells.strata is not None  # noqa: S101 - the caller has seen to that
    for successes, metrics in credited.items():
        states, strata = cells.states.binary([*successes]), cells.strata.binary([*successes])
        rows = [(metric, k) for metric in metrics for k in metric.k]
        draws = [draw for metric, k in rows if (draw := metric.draw(k)) is not None]
        if target == "benchmark":
            fitted = Calibrated.fit(states, strata)
            numbers = [
                with_bias(price_numbers(price, confidence), _mean_bias(strata, draw))
                for draw, price in zip(draws, prices(fitted, draws), strict=True)
            ]
        else:
            numbers = [_sample_numbers(strata, draw, confidence) for draw in draws]
        for (metric, k), each in zip(rows, numbers, strict=True):
            found[metric.name, k] = clipped_numbers(each.scaled(*metric.support), metric)
    return found


def _mean_bias(strata: Strata, gains: GainsOf) -> Floats:
    """Largest bias of the mean over the strata of each cell."""
    states, owner = strata.states, strata.owner
    each = strata.shares[states.group] * states.questions
    bias = largest_bias(gains, states.n)[states.state]
    groups = int(owner.max(initial=-1)) + 1
    return np.bincount(owner[states.group], each * bias, groups).astype(np.float64)


def _sample_numbers(strata: Strata, gains: GainsOf, confidence: Floats | float) -> Numbers:
    """The mean of strata whose questions are a sample, without its standard deviation."""
    states, owner = strata.states, strata.owner
    shares, group = strata.shares[states.group], owner[states.group]
    values = estimates(states, gains)[0][states.state]
    groups = int(owner.max(initial=-1)) + 1
    mean = np.bincount(group, shares * states.questions * values, groups).astype(np.float64)
    bias = largest_bias(gains, states.n)[states.state]
    sample = UnitSample(values, shares, states.questions, group, groups, bias)
    lo, hi = sample.bounds(confidence)
    # If all questions are alike, the mean may differ from an end by a rounding.
    lo, hi = np.minimum(lo, mean), np.maximum(hi, mean)
    unknown = np.full_like(mean, np.nan)
    return Numbers(mean, mean, unknown, lo, hi, np.zeros_like(mean, dtype=np.bool_))
