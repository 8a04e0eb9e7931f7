"""The smaller draws that bound a metric: Pass@k is never below Pass@j, nor Pass^k above Pass^j."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.credit_sums import GainsOf, fixed_gains
from polars_scorio.kernels.calibrated.root_credit import RootDraw
from polars_scorio.kernels.draws.credit import (
    all_success,
    any_success,
    average_sides,
    only_success,
)


class SuccessDraw(NamedTuple):
    """A draw of k trials that earns everything if all succeed, or else if any does."""

    k: int
    every: bool

    def draw_gains(self) -> GainsOf:
        """The gains of each success."""
        return fixed_gains(all_success(self.k) if self.every else any_success(self.k))


@dataclass(frozen=True, slots=True)
class DrawBounds:
    """The draws that bound a metric.

    Attributes
    ----------
    itself : SuccessDraw or None
        The draw of the metric, if it is of this kind.
    smaller : tuple of SuccessDraw
        Draws whose numbers it is never below, or never above.
    above : bool
        Whether it is never below them.
    """

    itself: SuccessDraw | None
    smaller: tuple[SuccessDraw, ...]
    above: bool


def draw_bounds(gains: GainsOf, n: Ints) -> DrawBounds:
    """The draws that bound a metric that is a credit.

    Pass@k and Pass^k have those of j = 1, 2, 4, ... below k that some question has trials for; any
    other credit that is nowhere below (above) the share of successes has j = 1.

    Parameters
    ----------
    gains : callable
        The gains of the metric.
    n : ndarray of int
        The numbers of trials that questions have.

    Examples
    --------
    >>> import numpy as np
    >>> [small.k for small in draw_bounds(fixed_gains(any_success(8)), np.array([4, 16])).smaller]
    [1, 2, 4]
    """
    drawn, other = gains(1), gains(2)
    if isinstance(gains, RootDraw) or other is not drawn:
        return DrawBounds(None, (), above=False)  # a root of credits, or a draw for each n
    itself = _success_draw(drawn)
    if itself is not None:
        # A group has all those that its questions have trials for, whatever other groups have.
        most = min(itself.k - 1, max(int(n.max(initial=0)), 1))
        sizes = [2**power for power in range(most.bit_length())]
        smaller = tuple(SuccessDraw(j, itself.every and j > 1) for j in sizes)
        return DrawBounds(itself, smaller, above=not itself.every)
    above, below = average_sides(drawn)
    return DrawBounds(None, (SuccessDraw(1, every=False),) if above != below else (), above)


def smaller_draws(bounds: Sequence[DrawBounds]) -> list[SuccessDraw]:
    """The draws that bound some metrics and are none of them, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = [draw_bounds(fixed_gains(any_success(k)), np.array([8])) for k in (2, 8)]
    >>> [small.k for small in smaller_draws(bounds)]
    [1, 4]
    """
    bounding = {small for each in bounds for small in each.smaller}
    return sorted(bounding - {each.itself for each in bounds})


def _success_draw(gains: Floats) -> SuccessDraw | None:
    """The draw, if any success earns everything, or the last one does."""
    k, success = gains.size, only_success(gains)
    if success not in {1, k} or gains.max() != 1:
        return None
    return SuccessDraw(k, every=success > 1)
