"""The ends of logs without a failure, or without a success: what may have stayed unseen.

Such counts show no noise, and a fitted population is left to say it. They are most likely where
every rate is 1 (or 0), and reject other rates by their chance alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.credit_sums import GainsOf
from polars_scorio.kernels.calibrated.group_fits import Calibrated, Group
from polars_scorio.kernels.calibrated.question_weights import QuestionWeights
from polars_scorio.kernels.calibrated.root_credit import RootDraw
from polars_scorio.kernels.draws.credit_at_rates import credit_at


class Ends(NamedTuple):
    """How far the intervals of some draws reach at least, each of shape (C, G).

    Attributes
    ----------
    lo, hi : ndarray of float
        Infinite, of either sign, where nothing is asked of the interval.
    """

    lo: Floats
    hi: Floats


def saturated_ends(
    fitted: Calibrated, draws: Sequence[GainsOf], confidence: Floats | float
) -> Ends:
    """How far intervals reach where all trials of a group succeed, or all fail.

    The lowest mean of the questions under success rates at which a log without a failure has a
    chance of 1 - confidence: nothing else can be missed, as the upper end is that of the range.
    Either some questions share the failures that were not seen, or all do, whichever mean is lower
    [1]_.

    Parameters
    ----------
    fitted : Calibrated
        The groups.
    draws : sequence of callable
        The gains of each metric.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson (1934), Biometrika 26, 404-413, for a single rate.

    Examples
    --------
    Five questions, right in all 16 trials: Pass^16 may be .05^(1/5).

    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed_gains
    >>> from polars_scorio.kernels.draws.credit import all_success
    >>> from polars_scorio.kernels.states import States
    >>> counts, one = np.tile([0, 16], (5, 1)), np.ones(5, dtype=int)
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, 0 * one, one, 1))
    >>> saturated_ends(fitted, [fixed_gains(all_success(16))], 0.95).lo.round(3)
    array([[0.549]])
    """
    shape = len(draws), len(fitted.groups)
    lo, hi = np.full(shape, np.inf), np.full(shape, -np.inf)
    tails = np.broadcast_to(1 - np.asarray(confidence), shape[1:])
    for column, (group, weights) in enumerate(zip(fitted.groups, fitted.weights, strict=True)):
        if not is_saturated(group):
            continue
        right = _all_succeed(group)
        share, unseen, rest = _unseen_rates(group, weights, float(tails[column]))
        p, q = (rest, unseen) if right else (unseen, rest)
        for row, draw in enumerate(draws):
            seen, possible = _seen_and_possible(draw, int(group.n.min()), p, q, right=right)
            means = seen + share * (possible - seen)
            if right:
                lo[row, column] = means.min()
            else:
                hi[row, column] = means.max()
    return Ends(lo, hi)


def is_saturated(group: Group) -> bool:
    """Whether all trials of a group succeed, or all fail."""
    return _all_succeed(group) or not group.c.any()


def _all_succeed(group: Group) -> bool:
    return bool((group.c == group.n).all())


def _seen_and_possible(
    draw: GainsOf, trials: int, p: Floats, q: Floats, *, right: bool
) -> tuple[float, Floats]:
    """Credit of a question that always succeeds (always fails), and of those with rates p."""
    if isinstance(draw, RootDraw):
        return float(right), draw.at_rates(p, q)
    gains = draw(trials)
    return float(gains.sum()) if right else 0.0, credit_at(p, q, gains)


def _unseen_rates(
    group: Group, weights: QuestionWeights, chance: float
) -> tuple[Floats, Floats, Floats]:
    """Rates of what was not seen, and their complements, with the weight of those that have them.

    One question has it, or two, or four, up to all: that none of them shows it in its trials has
    the given chance. Questions have as many trials as on average: n does not follow their rates.
    """
    questions = 1 / float(weights.second.sum())  # of the same weight
    some = np.append(2.0 ** np.arange(np.ceil(np.log2(questions))), questions)
    share = np.append(weights.largest, some[1:] / questions) if questions > 1 else np.ones(1)
    trials = float(group.questions @ group.n) / group.size
    logs = np.log(chance) / (trials * some)
    return share, -np.expm1(logs), np.exp(logs)
