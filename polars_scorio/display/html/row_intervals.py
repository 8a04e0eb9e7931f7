"""Intervals as small pictures in the rows of a table, all on one axis."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

import polars as pl

from polars_scorio.display.number_format import Scale

_TICKS = 5  # at most so many steps
_MARGIN = 0.06  # of what the intervals span, on both sides
_VISIBLE = 1e-3  # of the axis: estimates that are nearer to mu have no mark
_HEIGHT = 18  # pixels of a row


@dataclass(frozen=True, slots=True)
class IntervalAxis:
    """The axis that the intervals of a table share.

    Attributes
    ----------
    low, high : float
        Its ends.
    ticks : tuple of float
        Numbers in it that are written above.
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, rows: pl.DataFrame, *, percent: bool) -> IntervalAxis:
        """The axis of rows with mu, lo and hi; percentages have no ticks beyond 0 and 100.

        Examples
        --------
        >>> rows = pl.DataFrame({"mu": [0.5], "lo": [0.41], "hi": [0.59]})
        >>> IntervalAxis.of(rows, percent=True).ticks
        (0.4, 0.45, 0.5, 0.55, 0.6)
        """
        numbers = pl.concat([rows["mu"], rows["lo"], rows["hi"]])
        ends = numbers.min(), numbers.max()
        low, high = (0.0 if end is None else float(end) for end in ends)  # type: ignore[arg-type]  # numbers
        margin = _MARGIN * (high - low) or 0.05
        low, high = low - margin, high + margin
        step = _tick_step((high - low) / _TICKS)
        ticks = [round(n * step, 12) for n in range(ceil(low / step), floor(high / step) + 1)]
        return cls(low, high, tuple(n for n in ticks if not percent or 0 <= n <= 1))

    def place(self, value: float) -> str:
        """Place of a number, in percent of the width."""
        return f"{100 * (value - self.low) / (self.high - self.low):.1f}%"

    def picture(
        self,
        mu: float | None,
        lo: float | None,
        hi: float | None,
        estimate: float | None,
        colour: str,
    ) -> str:
        """SVG of an interval, with a bar where the estimate is another number than its mean."""
        marks = "".join(_upright_line(self.place(tick), "t") for tick in self.ticks)
        middle = _HEIGHT // 2
        if lo is not None and hi is not None:
            ends = f'x1="{self.place(lo)}" x2="{self.place(hi)}" y1="{middle}" y2="{middle}"'
            marks += f"<line {ends}/>"
        points = [value for value in (mu, estimate) if value is not None]
        if points:
            marks += f'<circle cx="{self.place(points[0])}" cy="{middle}" r="4"/>'
        if points and abs(points[-1] - points[0]) > _VISIBLE * (self.high - self.low):
            marks += _upright_line(self.place(points[-1]), "e")
        return f'<svg class="i {colour}" aria-hidden="true">{marks}</svg>'

    def ticks_picture(self, scale: Scale) -> str:
        """SVG of the numbers at the ticks."""
        texts = "".join(
            f'<text x="{self.place(tick)}" y="12">{_tick_text(tick, percent=scale.percent)}</text>'
            for tick in self.ticks
        )
        return f'<svg class="i" aria-hidden="true">{texts}</svg>'


def _upright_line(place: str, kind: str) -> str:
    return f'<line class="{kind}" x1="{place}" x2="{place}" y1="0" y2="{_HEIGHT}"/>'


def _tick_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is large enough.

    >>> _tick_step(0.03), _tick_step(0.6)
    (0.05, 1.0)
    """
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def _tick_text(value: float, *, percent: bool) -> str:
    """A number at a tick, in percent without its sign."""
    return f"{100 * value if percent else value:.10g}"
