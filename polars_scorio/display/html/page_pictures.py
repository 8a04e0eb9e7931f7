"""Pictures inside the page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import polars as pl
import vl_convert

from polars_scorio.counting.roles import Roles
from polars_scorio.display.chart_data import curve_sizes
from polars_scorio.display.charts import BANDED, INK, Look, Picture, models_by_mean
from polars_scorio.display.plots import Plots
from polars_scorio.display.scopes import Scope, average_metric, holds_fractions
from polars_scorio.display.settings import Settings
from polars_scorio.display.words import Scale, count_of, visible_text
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.rewards import max_at_k, min_at_k
from polars_scorio.metrics.success import pass_at_k, pass_hat_k
from polars_scorio.study.report import report

# Stand-ins that no chart uses otherwise; the page knows what they are in the light and in the dark.
_INK, _FAINT = "#010203", "#a1a2a3"
_INKS = {
    _INK: "var(--ink)",
    _FAINT: "var(--faint)",
    INK: "var(--soft)",
    "#0072b2": "var(--blue)",  # the first colour of models, which is dark
    "#000000": "var(--ink)",  # of a line; what is written on colours is "black" and "white"
}
_WIDTH = 320  # pixels of a panel
_LEGIBLE = 0.8  # of its size, to which a picture shrinks on a phone before it scrolls
_PHONE, _SHRUNK = 340, 0.6  # pixels of a phone, into which a picture may shrink so far
DRAWN = 64  # the largest draw size of a curve: the time that one takes grows with it
_CELLS, _FEWEST_CELLS = 600, 10  # of a strip of questions: of all models, of one
_SMALL = 105  # pixels of a panel of one model among several
_BROAD = 480  # pixels of a picture that has a row for itself

_CONFIG: dict[str, Any] = {
    "background": None,
    # The first one comes with vl-convert, which measures texts by it; the others are as wide.
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": None},
    "style": {"guide-label": {"fill": _INK}, "guide-title": {"fill": _INK},
              "cell": {"stroke": None}},
    "axis": {"gridColor": _FAINT, "domainColor": _FAINT, "tickColor": _FAINT, "labelColor": _INK,
             "titleColor": _INK, "titleFontWeight": "normal", "labelFontSize": 12,
             "titleFontSize": 12},
    "legend": {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12,
               "titleFontWeight": "normal", "orient": "bottom", "columns": 2},
    "header": {"labelColor": _INK, "titleColor": _INK},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture as SVG, what it shows in words, and what stands below it."""

    svg: str
    alt: str
    caption: str


def page_figure(chart: Picture, alt_text: str = "", about: str = "") -> Figure:
    """A chart as a picture that needs nothing else, in the colours of the page.

    Its heading becomes the caption, with `about` as title; its description is the default of
    `alt_text`.
    """
    spec = chart.to_dict(validate=False)  # validation takes a sixth of a page
    above = spec.pop("title")
    caption = f"{about or above['text']}: {'; '.join(above['subtitle'])}."
    spec["config"] = {**spec.get("config", {}), **_CONFIG}
    svg = vl_convert.vegalite_to_svg(spec)
    return Figure(
        recoloured_svg(reproducible_ids(svg)),
        alt_text or spec["description"],
        visible_text(caption),
    )


def reproducible_ids(svg: str) -> str:
    """An SVG whose ids follow from what it shows: the renderer counts all that a process drew."""
    ids = re.findall(r'\bid="(\w+)"', svg)
    digest = hashlib.sha256(re.sub(r"\b(gradient_|clip)\d+", "", svg).encode()).hexdigest()[:8]
    names = {name: re.sub(r"\d+$", f"{place}_{digest}", name) for place, name in enumerate(ids)}
    return re.sub(
        r'(\bid="|url\(#)(\w+)', lambda found: found[1] + names.get(found[2], found[2]), svg
    )


def recoloured_svg(svg: str) -> str:
    """An SVG for the inside of a page: a single picture, in the colours of the page."""
    # Of the page the text beside it says what it shows, so its parts need no roles and labels.
    svg = re.sub(r'\s(?:xmlns(?::xlink)?|role|aria-[a-z]+|version)="[^"]*"', "", svg)
    width = float(re.search(r'width="([\d.]+)"', svg)[1])  # type: ignore[index]  # every SVG has one
    least = min(_LEGIBLE * width, max(_PHONE, _SHRUNK * width))
    svg = svg.replace("<svg", f'<svg style="min-width:{least:.0f}px"', 1)
    inks = "|".join(map(re.escape, _INKS))
    return re.sub(
        rf'="({inks})"',
        lambda found: f'="{_INKS[found.group(1).lower()]}"',
        svg,
        flags=re.IGNORECASE,
    )


def model_classes(scope: Scope) -> dict[str, str]:
    """Classes of the models that have a colour: the colour that they have in pictures."""
    metric = average_metric(scope.lead)
    rows = scope.rows.filter(metric=metric.name)
    if rows.is_empty():
        rows = report(scope.study, scope.roles, [metric]).collect()
    colours = Look().colours(models_by_mean(rows, "estimate"))
    return {name: f"c{place}" for place, name in enumerate(colours)}


def step_figures(
    log: pl.LazyFrame, roles: Roles, name: str, metrics: Sequence[Metric], settings: Settings
) -> list[Figure]:
    """The metrics along the steps, which are numbers or times, with bands and the best steps."""
    plots = Plots(log, roles, settings.report)
    width = _WIDTH if len(metrics) > 1 else _BROAD
    return [page_figure(plots.over(name, metric, width=width)) for metric in metrics]


def curve_figures(scope: Scope, settings: Settings) -> list[Figure]:
    """Pass@k and Pass^k, or Max@k and Min@k, against k, as far as all questions have trials."""
    most = min(scope.fewest, DRAWN)
    if most == 1:
        return []
    plots = Plots(scope.study, scope.roles, settings.report)
    sizes = curve_sizes(most)
    kinds: dict[str, tuple[Metric, str]] = {
        "Pass@k": (pass_at_k(sizes), "at least one of k trials succeeds"),
        "Pass^k": (pass_hat_k(sizes), "all k trials succeed"),
    }
    if holds_fractions(scope.counts, scope.roles):
        kinds = {
            "Max@k": (max_at_k(sizes), "the best reward of k trials"),
            "Min@k": (min_at_k(sizes), "the worst reward of k trials"),
        }
    figures = []
    for name, (metric, meaning) in kinds.items():
        chart = plots.curve(metric, width=_WIDTH if len(scope.models) <= BANDED else _SMALL)
        words = (
            f"{name} of {count_of(len(scope.models), 'model')} for k from 1 to {most}: {meaning}."
        )
        figures.append(page_figure(chart, words, f"{name}, {meaning}"))
    return figures


def question_figures(scope: Scope, settings: Settings) -> list[Figure]:
    """How many questions are how hard, and a strip of them for each model."""
    if scope.counts["question"].n_unique() == 1:
        return []
    plots = Plots(scope.study, scope.roles, settings.report)
    metric = average_metric(scope.lead)
    cells = max(_CELLS // len(scope.models), _FEWEST_CELLS)
    return [
        page_figure(plots.questions(metric, kind="histogram", width=_WIDTH)),
        page_figure(plots.questions(metric, cells=cells), about="Question by question"),
    ]


_TICKS = 5  # at most so many steps
_MARGIN = 0.06  # of what the intervals span, on both sides
_VISIBLE = 1e-3  # of the axis: estimates that are nearer to mu have no mark
_HEIGHT = 18  # pixels of a row


@dataclass(frozen=True, slots=True)
class IntervalAxis:
    """The axis that the intervals of a table share."""

    low: float
    high: float
    ticks: tuple[float, ...]  # numbers written above

    @classmethod
    def of(cls, rows: pl.DataFrame, *, percent: bool) -> IntervalAxis:
        """The axis of rows with mu, lo and hi; percentages have no ticks beyond 0 and 100."""
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
        unit = 100 if scale.percent else 1
        texts = "".join(
            f'<text x="{self.place(tick)}" y="12">{unit * tick:.10g}</text>' for tick in self.ticks
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
