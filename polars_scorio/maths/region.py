"""Ends over all populations that the counts do not reject, of many groups at once.

For any ``y_a > 0``, ``ln x <= y_a x - 1 - ln y_a``. So for weights w of success rates with ``sum_a
u_a ln (L w)_a >= r`` (u_a: shares of the questions), and any ``l > 0``::

    v'w <= max_i (v_i + l sum_a u_a L_ai y_a) - l (1 + r) - l sum_a u_a ln y_a

The right side bounds the largest mean at every y and l, so an end is never less than the truth. At
the best w, ``y = 1 / (L w)`` and l is the multiplier of the likelihood.
"""

from __future__ import annotations

import numpy as np

from polars_scorio.maths.array_rows import Floats, Mask
from polars_scorio.maths.free_fit import curved_solution, inside_parts, maximise_likelihood

_CLOSE = 1e-9  # largest gap to the largest mean
_SMALLEST = 1e-11  # sum of the products of weights and slacks: about the gap
_SHARPER = 0.2  # of the products of weights and slacks, in a step
_MOST_STEPS = 100
_ROUNDED = 1e-12  # of a weight
_REPAIRS = 8  # EM steps after a tilt
_TILTS, _STEEPEST = 12, 64.0  # steps of bisection, and the steepest tilt of values of size 1


def largest_means(
    likelihood: Floats,
    questions: Floats,
    best: Floats,
    values: Floats,
    room: Floats,
    enough: Floats | float = np.inf,
) -> Floats:
    """Largest means (P,) of `values` in regions of likely weights; at most 1e-9 too large."""
    # Weights within `room` of the log likelihood of the `best` ones; infinite where a mean of
    # `enough` is surely among them. S. Boyd, L. Vandenberghe (2004), section 11.7.
    total = questions.sum(axis=1)
    share, largest = questions / total[:, None], np.full(total.size, np.inf)
    least = _log_likelihood(share, best @ likelihood.T) - room / total
    far = np.broadcast_to(np.asarray(enough, dtype=np.float64), total.shape)
    # Weights and slacks of the rates, multiplier and slack of the likelihood.
    weight = np.maximum(best, _ROUNDED)
    weight /= weight.sum(axis=1, keepdims=True)
    chance = weight @ likelihood.T
    slope = (share / chance) @ likelihood
    level, rest = np.ones(total.size), np.maximum(_log_likelihood(share, chance) - least, _ROUNDED)
    top = (values + slope).max(axis=1) + 0.1
    slack = top[:, None] - values - slope
    live, bound = np.arange(total.size), np.full(total.size, np.inf)
    for _ in range(_MOST_STEPS):
        above = _log_likelihood(share, chance) - least
        bound = np.minimum(
            bound, (values + level[:, None] * slope).max(axis=1) - level * (1 - above)
        )
        mean = (weight * values).sum(axis=1)
        reached = (above >= 0) & (mean >= far)
        # Near the end rounding may leave the region, or keep the gap from closing.
        products = (weight * slack).sum(axis=1) + level * rest
        left = ~reached & (products > _SMALLEST) & ~((above >= 0) & (bound - mean <= _CLOSE))
        largest[live] = np.where(reached, np.inf, bound)
        if not left.any():
            break
        live, bound, share, least, far, above, level, rest, top, products = (
            each[left]
            for each in (live, bound, share, least, far, above, level, rest, top, products)
        )
        values, weight, slack, chance, slope = (
            each[left] for each in (values, weight, slack, chance, slope)
        )
        target = _SHARPER * products / (weight.shape[1] + 1)
        wanted = target[:, None] / weight
        right = values + level[:, None] * slope - top[:, None] + wanted
        solved = curved_solution(
            likelihood,
            level[:, None] * share / chance**2,
            weight / slack,
            np.stack([right, slope, np.ones_like(slope)], axis=2),
        )
        further, higher = _multiplier_steps(weight, slope, solved, level, rest, above, target)
        step = solved[..., 0] + solved[..., 1] * further[:, None] - solved[..., 2] * higher[:, None]
        slack_step = wanted - slack - slack / weight * step
        rest_step = (slope * step).sum(axis=1) + above - rest
        part = np.minimum(inside_parts(weight, step), inside_parts(rest, rest_step))
        weight, rest = weight + part[:, None] * step, rest + part * rest_step
        part = np.minimum(inside_parts(slack, slack_step), inside_parts(level, further))
        slack = slack + part[:, None] * slack_step
        level, top = level + part * further, top + part * higher
        chance = weight @ likelihood.T
        slope = (share / chance) @ likelihood
    return largest


def reaches_mean(
    likelihood: Floats,
    questions: Floats,
    best: Floats,
    broad: Floats,
    values: Floats,
    room: float,
    enough: Floats,
) -> Mask:
    """Whether weights near the best ones, tilted towards large values, have a large enough mean."""
    # (P,), of `largest_means`, which then is infinite; `broad` weights have mass where the best
    # have none. False says nothing. It settles most caps in a tenth of the time.
    total = questions.sum(axis=1)
    share = questions / total[:, None]
    least = _log_likelihood(share, best @ likelihood.T) - room / total
    beyond, rows = np.zeros(total.size, dtype=np.bool_), np.arange(total.size)
    low, high = np.zeros(total.size), np.full(total.size, _STEEPEST)
    start, top = (best + broad) / 2, values.max(axis=1, keepdims=True)
    for _ in range(_TILTS):
        tilt = (low + high) / 2
        weight = start[rows] * np.exp(tilt[:, None] * (values - top)[rows])
        weight = maximise_likelihood(likelihood, questions[rows], weight, _REPAIRS)
        inside = _log_likelihood(share[rows], weight @ likelihood.T) >= least[rows]
        reached = (weight * values[rows]).sum(axis=1) >= enough[rows]
        beyond[rows[inside & reached]] = True
        # Both settle it; neither says that this way leads out of the region first.
        left = inside != reached
        low, high = np.where(inside, tilt, low)[left], np.where(inside, high, tilt)[left]
        rows = rows[left]
        if not rows.size:
            break
    return beyond


def _multiplier_steps(
    weight: Floats,
    slope: Floats,
    solved: Floats,
    level: Floats,
    rest: Floats,
    above: Floats,
    target: Floats,
) -> Floats:
    """Steps of the multipliers of likelihood and sum, (2, P): with them the weights sum to 1."""
    # `solved` (P, I, 3) are the steps of the weights that the values ask for, and that one more of
    # either multiplier does.
    by_slope, sums = np.einsum("pi,pix->px", slope, solved), solved.sum(axis=1)
    matrix = np.empty((level.size, 2, 2))
    matrix[:, 0, 0], matrix[:, 0, 1] = rest + level * by_slope[:, 1], -level * by_slope[:, 2]
    matrix[:, 1, 0], matrix[:, 1, 1] = sums[:, 1], -sums[:, 2]
    lacking = target - level * (above + by_slope[:, 0]), 1 - weight.sum(axis=1) - sums[:, 0]
    # Where all rates have the same value, nothing pulls: the matrix is singular, and no step helps.
    single = np.linalg.det(matrix) == 0
    matrix[single] = np.eye(2)
    steps = np.linalg.solve(matrix, np.stack(lacking, axis=1)[..., None])[..., 0].T
    return np.where(single, 0.0, steps)


def _log_likelihood(share: Floats, chance: Floats) -> Floats:
    """Mean log likelihood of a question of each group, on the scale of the rows."""
    logs = np.log(np.where(share > 0, chance, 1.0))
    return np.asarray(np.einsum("ps,ps->p", share, logs))
