"""The finding of a log as sentences: what page, terminal, notebook and card say first.

Each title has an exact rule. No model of the first tier was shown to be worse than any, and each
model outside of it was shown to be worse than some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape, unescape
from typing import Any

import polars as pl

from polars_scorio.display.phrases import NumberFormat, short_name, sigma_values, text_list
from polars_scorio.metrics.metric import Metric

MINUS = "\N{MINUS SIGN}"
_NAME = 28  # characters of a name in a title
_UNBROKEN = 22  # characters of a name that fit beside a picture
_BEGIN, _END = "\x01", "\x02"  # around a name; no name has them, as hidden characters are spelled
_NAMED = re.compile(f"([(]?){_BEGIN}(.*?){_END}([).,;:?]*)")
_BROAD = 0.01  # width of an interval, from where on one decimal of a percentage is enough
SAME = 1e-9  # scores that differ by less are the same
_SURE = 0.99
MANY = 30  # models, beyond which the first ones are drawn, and none are planned for
_TOP = 15  # that are shown of many, as in a terminal


def shown_models(number: int) -> int:
    """The models that are shown."""
    return _TOP if number > MANY else number


def named(name: object) -> str:
    """A name, cut in its middle, with marks by which a page keeps it apart from its sentence."""
    return f"{_BEGIN}{short_name(name, _NAME)}{_END}"


def plain_text(text: str) -> str:
    """A sentence without the marks of its names."""
    return text.replace(_BEGIN, "").replace(_END, "")


def unbroken_text(text: str) -> str:
    """A sentence whose numbers stay with their units and ends, by no-break spaces."""
    whole = re.sub(
        r"(?<=[\d.]) (?=%|points?\b|others\b|=)|(?<=[<>]) (?=[\d.])", "\N{NO-BREAK SPACE}", text
    )
    return re.sub(r"(\[[^\]]*,) ", "\\1\N{NO-BREAK SPACE}", whole)


def html_text(text: str) -> str:
    """A sentence for a page: names as units of their own, numbers unbroken."""
    return _NAMED.sub(_named_html, escape(unbroken_text(text)))


def _named_html(match: re.Match[str]) -> str:
    """A name of a page, to which the marks around it stick."""
    before, inner, behind = match.groups()
    whole = len(unescape(inner)) <= _UNBROKEN
    kind = ' class="nb"' * whole
    name = f"{before}<bdi{kind}>{inner}</bdi>{behind}"
    return f'<span class="gl">{name}</span>' if before + behind and whole else name


def names_list(names: Sequence[object], most: int = 3) -> str:
    """Names in a sentence; of more than `most` the first ones."""
    if len(names) > most:
        listed = [*map(named, names[: most - 1])]
        return text_list([*listed, f"{len(names) - most + 1:,} others"])
    return text_list([*map(named, names)])


def chance_words(value: float) -> str:
    """A probability in percent, which never says that something is certain.

    >>> chance_words(0.738), chance_words(0.001)
    ('74 %', '< 1 %')
    """
    return "> 99 %" if value > _SURE else "< 1 %" if value < 1 - _SURE else f"{100 * value:.0f} %"


def money_text(value: float) -> str:
    """An amount with two significant digits.

    >>> money_text(0.01234), money_text(0), money_text(1234)
    ('0.012', '0', '1,234')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


@dataclass(frozen=True, slots=True)
class Unit:
    """How scores and their differences are written: in percent and points, or in their own unit."""

    percent: bool = True
    digits: int = 1  # decimals
    edge: float = 0.0  # the margin of a gate

    @classmethod
    def from_rows(cls, rows: pl.DataFrame) -> Unit:
        """The unit of rows with mu, lo and hi: two decimals for intervals below one point."""
        scale = NumberFormat.from_values(rows["mu"], sigma_values(rows))
        if not scale.percent:
            return cls(percent=False, digits=scale.digits)
        return cls(digits=_percent_digits(rows))

    def score(self, value: float, *, sign: bool = True) -> str:
        """A score, with a percent sign unless another place has it."""
        text = f"{(100 if self.percent else 1) * value + 0.0:,.{self.digits}f}"
        if not self.percent:
            return text.replace("-", MINUS)
        zero, full = f"{0:.{self.digits}f}", f"{100:.{self.digits}f}"
        least = f"0.{'1':0>{self.digits}}"
        if text == zero and value > 0:
            text = f"< {least}"
        if text == full and value < 1:
            text = f"> 99.{'9' * self.digits}"
        return text.replace("-", MINUS) + " %" * sign

    def interval(self, lo: float, hi: float) -> str:
        """The ends of a score, in brackets."""
        return f"[{self.score(lo, sign=False)}, {self.score(hi, sign=False)}]"

    def gap(self, value: float, *, points: bool = False) -> str:
        """A difference with its sign, and its unit if no other place has it."""
        text = f"{abs((100 if self.percent else 1) * value):,.{self.digits}f}"
        mark = "" if float(text.replace(",", "")) == 0 else "+" if value > 0 else MINUS
        return f"{mark}{text}{' points' if points and self.percent else ''}"

    def gaps(self, lo: float, hi: float) -> str:
        """The ends of a difference, in brackets, with the decimals that show their signs."""
        return f"[{self.finer(lo).gap(lo)}, {self.finer(hi).gap(hi)}]"

    def finer(self, value: float) -> Unit:
        """The unit with as many decimals as tell a number from 0, and from the margin."""
        scale = 100 if self.percent else 1
        sizes = [scale * abs(abs(value) - edge) for edge in (0.0, self.edge)]
        least = min((size for size in sizes if size > SAME), default=1.0)
        return replace(self, digits=max(self.digits, math.ceil(-math.log10(2 * least))))

    def size(self, value: float) -> str:
        """The size of a difference, with its unit."""
        digits = self.finer(value).digits
        if not self.percent:
            return f"{abs(value):,.{digits}f}"
        text = f"{abs(100 * value):.{digits}f}"
        return f"{text} point{'' if float(text) == 1 else 's'}"

    def margin(self, value: float) -> str:
        """A margin as it was asked for."""
        text = f"{(100 if self.percent else 1) * value:.4g}"
        return f"{text} point{'' if text == '1' else 's'}" if self.percent else text


def _percent_digits(rows: pl.DataFrame) -> int:
    """Decimals that show how wide the intervals are: one, from a width of a point on."""
    width: Any = (rows["hi"] - rows["lo"]).drop_nulls().median()
    return math.ceil(-1 - math.log10(width)) if width and width < _BROAD else 1


def gap_unit(metric: Metric, rows: pl.DataFrame) -> Unit:
    """The unit of differences: points of a hundred, or those of the metric."""
    fractions = "bounds" in rows.columns and rows["bounds"].null_count() < rows.height
    if metric.support == (0, 1) and not fractions:
        return Unit(digits=_percent_digits(rows))
    scale = NumberFormat.from_values(rows["diff"], sigma_values(rows), percent=False)
    return Unit(percent=False, digits=scale.digits)
