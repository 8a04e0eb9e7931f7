"""How pictures look: the keywords that they share, and the colours of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from polars_scorio.arguments import check_choice, check_count, known_text, value_tuple
from polars_scorio.counting.roles import Category
from polars_scorio.display.chart_data import inert_text
from polars_scorio.signatures import Option
from polars_scorio.study.request import ConvergenceOptions, DecisionOptions, InferenceOptions

Theme = Literal["light", "dark"]

# Colours that people with any kind of colour vision tell apart: M. Okabe, K. Ito (2008), Color
# Universal Design. Without its yellow, which is faint on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_LAST: dict[Theme, str] = {"light": "#000000", "dark": "#FFFFFF"}
GREY = "#A0A0A0"  # seen on white and on black
_DARK_INK, _DARK_LINE = "#E0E0E0", "#555555"


class LookOptions(TypedDict, total=False):
    """How a picture looks."""

    highlight: Annotated[
        Category | Iterable[Category] | None,
        Option(
            None,
            """Models to draw in colour, all others grey; default: the seven with the best scores.

            A model has one colour in all pictures of a log.""",
        ),
    ]
    width: Annotated[int | None, Option(None, "Of a panel, in pixels.")]
    height: Annotated[int | None, Option(None, "Of a panel, in pixels.")]
    theme: Annotated[Theme, Option("light", "For pages that are light, or dark.")]


class PlotOptions(LookOptions, InferenceOptions, total=False):
    """The keywords of pictures of estimates."""


class DecisionPlotOptions(LookOptions, DecisionOptions, total=False):
    """The keywords of pictures that compare models."""


class ConvergencePlotOptions(LookOptions, ConvergenceOptions, total=False):
    """The keywords of pictures of what replicates a log."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a picture looks; see `LookOptions`."""

    highlight: tuple[str, ...] = ()  # labels of models; none if nobody chose
    width: int | None = None  # of a panel
    height: int | None = None  # of a panel
    theme: Theme = "light"  # of the page

    @classmethod
    def split(cls, options: Mapping[str, Any]) -> tuple[Look, dict[str, Any]]:
        """How a picture looks, and the options of its numbers."""
        rest = {name: value for name, value in options.items() if name not in _KEYS}
        chosen = options.get("highlight")
        labels = (
            () if chosen is None else tuple(inert_text(str(each)) for each in value_tuple(chosen))
        )
        width, height = (
            None if options.get(name) is None else check_count(name, options[name], most=10_000)
            for name in ("width", "height")
        )
        theme = options.get("theme", "light")
        check_choice("theme", theme, Theme)
        return cls(labels, width, height, theme), rest

    def colours(self, order: Sequence[str]) -> dict[str, str]:
        """The colour of each model that has one; `order` has the best model first."""
        unknown = [name for name in self.highlight if name not in order]
        if unknown:
            raise ValueError(
                f"highlight: no model {unknown[0]!r}; there are {known_text(unknown[0], order)}"
            )
        own = dict(zip(order, (*_COLOURS, _LAST[self.theme]), strict=False))
        wanted = self.highlight or tuple(own)
        used = {own[name] for name in wanted if name in own}
        free = iter([colour for colour in own.values() if colour not in used] * len(wanted))
        return {name: own[name] if name in own else next(free, GREY) for name in wanted}

    @property
    def config(self) -> dict[str, Any]:
        """Settings of a chart on a dark page."""
        if self.theme == "light":
            return {}
        words = {"labelColor": _DARK_INK, "titleColor": _DARK_INK}
        return {
            "background": "#181818",
            "view": {"stroke": _DARK_LINE},
            "axis": {**words, "gridColor": _DARK_LINE, "tickColor": _DARK_LINE},
            "legend": words,
            "header": words,
            "title": {"color": _DARK_INK, "subtitleColor": _DARK_INK},
        }


_KEYS = LookOptions.__optional_keys__
