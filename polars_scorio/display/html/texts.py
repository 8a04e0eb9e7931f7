"""Numbers and lists as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10
from statistics import median

import polars as pl

MISSING = "\N{EN DASH}"
_USUAL_SIGMA = 0.01  # where all are zero
_LISTED = 5  # names in a sentence


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
    def of(cls, rows: pl.DataFrame) -> Scale:
        """Percentages of what lies within 0 and 1, and two significant digits of sigma.

        Parameters
        ----------
        rows : DataFrame
            mu and sigma of a metric.
        """
        values = rows["mu"].drop_nulls().to_list()
        sigmas = [sigma for sigma in rows["sigma"].drop_nulls() if sigma > 0]
        percent = all(0 <= value <= 1 for value in values)
        size = (100 if percent else 1) * median(sigmas or [_USUAL_SIGMA])
        return cls(percent, max(1 - floor(log10(size)), 1 if percent else 0))

    @property
    def unit(self) -> str:
        """What stands behind a number."""
        return " %" if self.percent else ""

    def text(self, value: float | None) -> str:
        """A number without its unit.

        >>> Scale(percent=True, digits=1).text(0.98765)
        '98.8'
        """
        if value is None:
            return MISSING
        # Adding zero turns -0.0 into 0.0.
        return f"{round((100 if self.percent else 1) * value, self.digits) + 0.0:.{self.digits}f}"

    def interval(self, lo: float | None, hi: float | None) -> str:
        """An interval without its unit, empty where there is none."""
        return "" if lo is None or hi is None else f"[{self.text(lo)}, {self.text(hi)}]"

    def cell(self, row: dict[str, float | None]) -> str:
        """The posterior mean with its interval."""
        return f"{self.text(row['mu'])} {self.interval(row['lo'], row['hi'])}".rstrip()


def count(number: int, unit: str) -> str:
    """A number of things.

    >>> count(1, "trial"), count(2500, "trial")
    ('1 trial', '2,500 trials')
    """
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def span(least: int, most: int) -> str:
    """A range of numbers.

    >>> span(3, 3), span(3, 8)
    ('3', '3 to 8')
    """
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Names in a sentence, of many the first ones.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    shown = [*names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most:,} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def numbered(pairs: Iterable[tuple[str, int]]) -> str:
    """Names with a number each, in a sentence.

    >>> numbered([("ada", 2), ("bob", 1)])
    'ada: 2 and bob: 1'
    """
    return listed([f"{name}: {number:,}" for name, number in pairs])
