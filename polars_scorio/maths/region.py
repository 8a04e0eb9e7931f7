"""Ends over all populations that the counts do not reject.

For any ``y_a > 0``, ``ln x <= y_a x - 1 - ln y_a``. So for weights w of success rates with ``sum_a
u_a ln (L w)_a >= r`` (u_a: shares of the questions), any ``l > 0`` and ``z = l y``::

    v'w <= max_i (v_i + sum_a u_a L_ai z_a) - l (1 + r) - l sum_a u_a ln (z_a / l)

The right side is convex in (z, l), and its least value is the largest mean. It bounds that mean at
every point, so an end is never less than the truth.

`Region.largest` takes 2 to 7 ms. A cap above the price changes nothing, and `reaches_mean` usually
finds a population that shows this in .1 to .6 ms: of 79 prices that a cap could have lowered (110
groups of 20 to 20,000 questions) its first attempt settled 30, the second all but 7. Without it
reports of draws of more than half of the trials take several times as long; to delete it, call
`Region.largest` in each case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.free_fit import FreeFit

_CLOSE = 1e-7  # largest gap to the largest mean
_SHARPER = 20.0  # each barrier than the one before
_CENTRED = 0.5  # squared Newton decrement: the next barrier needs a start, and no centre
_MOST_STEPS = 100  # with one barrier
_SHORTEST = 1e-12  # part of a step
_ENOUGH = 0.1  # least share of the decrease that the slope predicts
_MORE_RATES = 3  # than states, times: from there on a factor by states takes less time


class Point(NamedTuple):
    """A point of the dual: z, l, and an upper limit of the largest sum."""

    z: Floats
    scale: float
    top: float

    def moved(self, step: Point, part: float) -> Point:
        """The point after a part of a step."""
        z, scale, top = step
        return Point(self.z + part * z, self.scale + part * scale, self.top + part * top)


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Weights of success rates that the counts do not reject: a convex set."""

    likelihood: Floats  # of each state under each rate, (S, I)
    share: Floats  # shares of the questions in the states, (S,)
    best: Floats  # the likeliest weights, (I,)
    least: float  # mean log likelihood of a question on the boundary, r

    @classmethod
    def around(
        cls, likelihood: Floats, questions: Ints | Floats, best: Floats, room: float
    ) -> Region:
        """The weights whose log likelihood is at most `room` below that of the best."""
        share = questions / questions.sum()
        highest = float(share @ np.log(likelihood @ best))
        return cls(likelihood, share, best, highest - room / float(questions.sum()))

    def largest(self, values: Floats) -> float:
        """Largest mean of `values` (I,) in the set; never below the truth, at most 1e-7 above.

        The barrier method on the dual: S. Boyd, L. Vandenberghe (2004), Convex Optimization,
        section 11.3.
        """
        scale = 1.0
        z = scale / (self.likelihood @ self.best)
        point = Point(z, scale, float(self._sums(values, z).max()) + 1)
        barriers = sum(self.likelihood.shape) + 1
        sharpness, bound = float(barriers), float(values.max())
        with np.errstate(all="ignore"):  # a step too far is taken back
            while barriers / sharpness > _CLOSE:
                sharpness *= _SHARPER
                point = self._centred(values, point, sharpness)
                largest = float(self._sums(values, point.z).max())
                bound = min(bound, largest - self._rest(point))
        return bound

    def _sums(self, values: Floats, z: Floats) -> Floats:
        """Sums whose largest is the bound, before `_rest` is subtracted."""
        sums: Floats = values + (self.share * z) @ self.likelihood
        return sums

    def _rest(self, point: Point) -> float:
        """The term that is subtracted from the largest sum."""
        return point.scale * (1 + self.least + float(self.share @ np.log(point.z / point.scale)))

    def _centred(self, values: Floats, point: Point, sharpness: float) -> Point:
        """Point with the least sum of bound and barriers, found from a point close to it."""
        height = self._height(values, point, sharpness)
        for _ in range(_MOST_STEPS):
            step, decrease = self._step(values, point, sharpness)
            if not decrease > _CENTRED:
                break
            part = 1.0
            while part > _SHORTEST:
                near = point.moved(step, part)
                reached = self._height(values, near, sharpness)
                if reached <= height - _ENOUGH * part * decrease:
                    break
                part /= 2
            else:
                break
            point, height = near, reached
        return point

    def _height(self, values: Floats, point: Point, sharpness: float) -> float:
        """Bound and barriers, infinite where one of them is crossed."""
        slack = point.top - self._sums(values, point.z)
        inside = point.scale > 0 and point.z.min() > 0 and slack.min() > 0
        if not inside:
            return np.inf
        barriers = np.log(slack).sum() + np.log(point.z).sum() + np.log(point.scale)
        return float(sharpness * (point.top - self._rest(point)) - barriers)

    def _step(self, values: Floats, point: Point, sharpness: float) -> tuple[Point, float]:
        """Newton's step, and how much the height falls along it at first."""
        states, size = self.likelihood.shape
        few = states * _MORE_RATES <= size
        return (self._step_by_states if few else self._step_by_rates)(values, point, sharpness)

    def _slopes(self, point: Point, sharpness: float, steep: Floats) -> tuple[Floats, float, float]:
        """Slopes of the height by z, scale and top; `steep` are the inverse slacks of the rates."""
        z, scale, _ = point
        of_z = self.share * (self.likelihood @ steep) - (sharpness * scale * self.share + 1) / z
        of_scale = -sharpness * (self.least + self.share @ np.log(z / scale)) - 1 / scale
        return of_z, float(of_scale), float(sharpness - steep.sum())

    def _step_by_states(
        self, values: Floats, point: Point, sharpness: float
    ) -> tuple[Point, float]:
        """Newton's step by a factor of as many columns as there are states, and two.

        The curvature is a sum of squares, one for each rate and two for each state: its factor is
        that of a tall matrix, and nothing cancels. With 49 states and 1,001 rates it takes a tenth
        of the time of `_step_by_rates`, which could do it all.
        """
        z, scale, top = point
        steep = 1 / (top - self._sums(values, z))
        of_z, of_scale, of_top = self._slopes(point, sharpness, steep)
        # In units of z and scale, and of the largest slack.
        unit = np.append(z, [scale, 1 / steep.max()])
        states, size = self.likelihood.shape
        heavy = np.sqrt(sharpness * scale * self.share)
        tall = np.zeros((size + 2 * states + 1, states + 2), order="F")
        tall[:size, :-2] = steep[:, None] * (self.likelihood.T * (self.share * z))
        tall[:size, -1] = -steep * unit[-1]
        np.fill_diagonal(tall[size : size + states], heavy)
        tall[size : size + states, -2] = -heavy
        np.fill_diagonal(tall[size + states :, :-1], 1.0)
        slope = unit * np.append(of_z, [of_scale, of_top])
        # By LAPACK itself: the checks of SciPy's functions take longer than these small factors.
        factor, *_ = scipy.linalg.lapack.dgeqrf(tall, overwrite_a=1)
        half, _ = scipy.linalg.lapack.dtrtrs(factor[: slope.size], slope, trans=1)
        along = -scipy.linalg.lapack.dtrtrs(factor[: slope.size], half)[0]
        *of_states, further, higher = (unit * along).tolist()
        return Point(np.array(of_states), further, higher), float(half @ half)

    def _step_by_rates(self, values: Floats, point: Point, sharpness: float) -> tuple[Point, float]:
        """Newton's step by a factor of as many columns as there are rates.

        The curvature in z is a diagonal and a product of rank I: never a matrix of S rows, of which
        ragged logs have thousands.
        """
        z, scale, top = point
        steep = 1 / (top - self._sums(values, z))
        weight = sharpness * scale * self.share + 1
        of_z, of_scale, of_top = self._slopes(point, sharpness, steep)
        pull, flat = self.likelihood.T * self.share * steep[:, None], z**2 / weight
        both = -sharpness * self.share / z
        core = (pull * flat) @ pull.T
        core[np.diag_indices_from(core)] += 1
        right = flat[:, None] * np.stack([of_z, both], axis=1)
        # By NumPy, as the products around it: SciPy has a BLAS of its own, and while the threads of
        # one work those of the other spin. Its Cholesky factor took five times as long.
        solved = np.linalg.solve(core, np.column_stack([pull @ right, steep]))
        undo = right - flat[:, None] * (pull.T @ solved[:, :2])
        by_slope, by_scale, by_top = *undo.T, -flat * (pull.T @ solved[:, 2])
        curved = [
            [sharpness / scale + 1 / scale**2 - both @ by_scale, -both @ by_top],
            [-both @ by_top, steep @ solved[:, 2]],
        ]
        rest = [both @ by_slope - of_scale, -of_top - (steep @ pull) @ by_slope]
        further, higher = np.linalg.solve(curved, rest)
        along = -(by_slope + by_scale * further + by_top * higher)
        decrease = -(of_z @ along + of_scale * further + of_top * higher)
        return Point(along, float(further), float(higher)), float(decrease)


# The weights of a high likelihood, and further steps towards larger means.
_ATTEMPTS = (("refined_weights", 8), ("likeliest_weights", 32))
_BONUSES = 2.0 ** np.arange(-7, 3)  # weights of the values beside the likelihood


def reaches_mean(free: FreeFit, values: Floats, least: float, room: float) -> bool:
    """Whether a mean of `values` is at least `least` under a population that is not rejected.

    EM of the likelihood with a bonus for large values leads from weights of a high likelihood to
    larger means. The mixture of both with the mean `least` is not rejected if its log likelihood is
    at most `room` below the maximum. `values` are not negative and not all zero. False may be
    wrong, True is not.
    """
    # Rates without weight never get any, so the way starts where all of them have some.
    apart = np.tile(free.refined_weights, (_BONUSES.size, 1))
    for start, steps in _ATTEMPTS:
        centre: Floats = getattr(free, start)
        lowest = _highest_likelihood(free, centre) - room
        apart = _raised_weights(free, apart, values, steps)
        mixtures = _mixtures_of_mean(centre, apart, values, least)
        if (_log_likelihood(free, mixtures) >= lowest).any():
            return True
    return False


def _highest_likelihood(free: FreeFit, centre: Floats) -> float:
    """Upper limit of the log likelihood, from weights close to its maximum.

    By the gradient function of a mixture: B. G. Lindsay (1983), Ann. Statist. 11, 86-94.
    """
    total = free.questions.sum()
    slope = (free.questions / (free.likelihood @ centre)) @ free.likelihood / total
    return float(_log_likelihood(free, centre)) + float(total * np.log(max(slope.max(), 1.0)))


def _log_likelihood(free: FreeFit, weight: Floats) -> Floats:
    """Log likelihood of weights, shape (..., I), on the scale of the rows."""
    return np.asarray(np.log(weight @ free.likelihood.T) @ free.questions)


def _raised_weights(free: FreeFit, apart: Floats, values: Floats, steps: int) -> Floats:
    """Weights after some steps towards larger means, one row for each bonus, (bonuses, I)."""
    bonus = free.questions.sum() * _BONUSES[:, None] * (values / values.max())
    for _ in range(steps):
        apart = apart * ((free.questions / (apart @ free.likelihood.T)) @ free.likelihood + bonus)
        apart /= apart.sum(axis=1, keepdims=True)
    return apart


def _mixtures_of_mean(centre: Floats, apart: Floats, values: Floats, least: float) -> Floats:
    """Mixtures of the centre with each of some weights that have the mean `least`.

    Without weights of so large a mean there is no mixture; a centre of this mean needs none.
    """
    near, far = centre @ values, apart @ values
    if near >= least:
        return centre[None]
    enough = far >= least
    part = (least - near) / (far[enough] - near)
    return np.asarray(centre + part[:, None] * (apart[enough] - centre))
