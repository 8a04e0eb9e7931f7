"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log10
from statistics import median

import polars as pl

MISSING = "\N{EN DASH}"
_USUAL_SIGMA = 0.01  # where all are zero
_SURE = 0.9995  # above it three digits would say that it is certain


@dataclass(frozen=True, slots=True)
class Scale:
    """How the numbers of a metric are written.

    Attributes
    ----------
    percent : bool
        Whether as percentages.
    digits : int
        Decimals.
    """

    percent: bool
    digits: int

    @classmethod
    def of(
        cls,
        values: Iterable[float | None],
        sigmas: Iterable[float | None],
        *,
        least: float = 0.0,
        percent: bool | None = None,
        digits: int | None = None,
    ) -> Scale:
        """Percentages of what lies within 0 and 1, and two significant digits of sigma.

        Parameters
        ----------
        values, sigmas : iterable of float
            The numbers, and how far they may be off; of none nothing is known.
        least : float
            Down to which values are percentages.
        percent, digits : optional
            What somebody chose.

        Examples
        --------
        >>> Scale.of([0.5, 0.75], [0.012, 0.03])
        Scale(percent=True, digits=1)
        """
        if percent is None:
            percent = all(value is None or least <= value <= 1 for value in values)
        if digits is None:
            known = [sigma for sigma in sigmas if sigma is not None and sigma > 0]
            size = (100 if percent else 1) * median(known or [_USUAL_SIGMA])
            digits = max(1 - floor(log10(size)), 1 if percent else 0)
        return cls(percent, digits)

    @property
    def sign(self) -> str:
        """Unit behind the heading of a metric."""
        return " (%)" if self.percent else ""

    def text(self, value: float | None) -> str:
        """A number without its unit.

        >>> Scale(percent=True, digits=1).text(0.98765)
        '98.8'
        """
        if value is None:
            return MISSING
        # Adding zero turns -0.0 into 0.0.
        return f"{round((100 if self.percent else 1) * value, self.digits) + 0.0:.{self.digits}f}"

    def cell(
        self, value: float | None, lo: float | None, hi: float | None, *, unit: bool = False
    ) -> str:
        """A number, with its unit if that is not said elsewhere, and its interval if there is one.

        >>> Scale(percent=True, digits=1).cell(0.5, 0.25, 1.0, unit=True)
        '50.0 % [25.0, 100.0]'
        """
        interval = "" if lo is None or hi is None else f" [{self.text(lo)}, {self.text(hi)}]"
        return self.text(value) + " %" * (unit and self.percent) + interval


def sigma_values(
    rows: pl.DataFrame, sigma: str = "sigma", lo: str = "lo", hi: str = "hi"
) -> list[float | None]:
    """How far numbers may be off: sigma, or a quarter of an interval that is wider.

    Where all trials are right sigma is next to nothing, and the interval is not.
    """
    quarter = (pl.col(hi) - pl.col(lo)) / 4
    usual = pl.col(sigma) if sigma in rows.columns else pl.lit(None, pl.Float64)
    return rows.select(pl.max_horizontal(usual, quarter)).to_series().to_list()


def probability_text(value: float | None) -> str:
    """A probability, which never says that something is certain.

    >>> probability_text(0.98765), probability_text(1.0), probability_text(0.0)
    ('0.988', '>0.999', '<0.001')
    """
    if value is None:
        return MISSING
    return ">0.999" if value >= _SURE else "<0.001" if value <= 1 - _SURE else f"{value:.3f}"
