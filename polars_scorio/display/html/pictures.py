"""The pictures of a page: static SVG in the colours of the page, light or dark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from polars_scorio.display.charts import Picture
from polars_scorio.display.html.headline import differs, lead_rows, rivals, spoken_lead
from polars_scorio.display.html.scopes import Scope, fewest_trials
from polars_scorio.display.html.texts import Scale, count, listed
from polars_scorio.display.plots import Plots
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.base import Metric
from polars_scorio.metrics.success import pass_at_k, pass_hat_k

_MEAN, _RANKS = "#0072B2", "#D55E00"
# Stand-ins that no chart uses otherwise; the page knows what they are in the light and in the dark.
_INK, _FAINT = "#010203", "#a1a2a3"
_INKS = {
    _INK: "var(--ink)",
    _FAINT: "var(--faint)",
    _MEAN.lower(): "var(--blue)",
    "#000000": "var(--ink)",  # of a line; what is written on colours is "black" and "white"
}
_NAME = 190  # pixels that a name may take
_LEGIBLE = 0.8  # of its size, to which a picture shrinks on a phone before it scrolls
_DRAWN = 64  # the largest draw size of a curve: the time that one takes grows with it
_MATRIX = 25  # models whose pairs a picture can show

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


def figure(chart: alt.TopLevelMixin, alt_text: str, caption: str) -> Figure:
    """A chart as a picture that needs nothing else, in the colours of the page."""
    spec = chart.to_dict()
    spec.pop("title", None)  # the page has a caption
    spec["config"] = {**spec.get("config", {}), **_CONFIG}
    svg = vl_convert.vegalite_to_svg(spec)
    return Figure(recoloured(svg), alt_text, caption)


def recoloured(svg: str) -> str:
    """An SVG for the inside of a page: its inks are those of the page, and it is a single picture.

    Examples
    --------
    >>> recoloured('<svg xmlns="http://www.w3.org/2000/svg" width="9"><path fill="#000000"/></svg>')
    '<svg style="min-width:7px" width="9"><path fill="var(--ink)"/></svg>'
    """
    # Of the page the text beside it says what it shows, so its parts need no roles and labels.
    svg = re.sub(r'\s(?:xmlns(?::xlink)?|role|aria-[a-z]+|version)="[^"]*"', "", svg)
    width = float(re.search(r'width="([\d.]+)"', svg)[1])  # type: ignore[index]  # every SVG has one
    svg = svg.replace("<svg", f'<svg style="min-width:{_LEGIBLE * width:.0f}px"', 1)
    inks = "|".join(map(re.escape, _INKS))
    return re.sub(
        rf'="({inks})"',
        lambda found: f'="{_INKS[found.group(1).lower()]}"',
        svg,
        flags=re.IGNORECASE,
    )


def forest(scope: Scope, settings: Settings) -> Figure:
    """Intervals with estimates, beside the ranks that a model may have."""
    rows, scale, name = lead_rows(scope), Scale.of(lead_rows(scope)), spoken_lead(scope)
    shown = pl.col("mu", "lo", "hi", "estimate") * (100 if scale.percent else 1)
    drawn = scope.ranks.select("model", "rank_lo", "rank_hi").join(
        rows.select("model", shown), on="model", maintain_order="left"
    )
    marked = differs(rows).any()
    base = alt.Chart(alt.InlineData(values=drawn.to_dicts()))
    pair = alt.hconcat(
        _intervals(base, scope.models, f"{name}{scale.unit}", marked=marked),
        _ranks(base, scope.models),
        spacing=14,
    )
    caption = (
        f"{name} with {settings.intervals}"
        + "; the bar is the unbiased estimate" * marked
        + f". Right: the ranks that are possible at {settings.level}."
    )
    return figure(pair, _forest_words(scope, scale), caption)


def _intervals(base: alt.Chart, models: list[str], title: str, *, marked: bool) -> Picture:
    """A point and an interval for each model, and a bar for its estimate."""
    names = alt.Axis(labelLimit=_NAME, ticks=False, domain=False, title=None)
    down = alt.Y("model:N", sort=models, axis=names)
    scale, axis = alt.Scale(zero=False, padding=6), alt.Axis(tickCount=5, domain=False)
    across = alt.X("lo:Q", title=title, scale=scale, axis=axis)
    layers = [
        base.mark_rule(size=2.5, color=_MEAN).encode(across, alt.X2("hi:Q"), down),
        base.mark_point(size=45, filled=True, opacity=1, color=_MEAN).encode(x="mu:Q", y=down),
    ]
    if marked:
        bar = base.mark_tick(size=11, thickness=2, color=_INK)
        layers.append(bar.encode(x="estimate:Q", y=down))
    return alt.layer(*layers).properties(width=240, height=alt.Step(19))


def _ranks(base: alt.Chart, models: list[str]) -> Picture:
    """The ranks that each model may have."""
    nameless = alt.Axis(labels=False, ticks=False, domain=False, title=None)
    down = alt.Y("model:N", sort=models, axis=nameless)
    scale = alt.Scale(domain=[0.7, len(models) + 0.3], nice=False)
    axis = alt.Axis(format="d", tickMinStep=1, tickCount=5, domain=False)
    across = alt.X("rank_lo:Q", title="rank", scale=scale, axis=axis)
    end = base.mark_point(size=28, filled=True, opacity=1, color=_RANKS)
    layers = [
        base.mark_rule(size=2.5, color=_RANKS).encode(across, alt.X2("rank_hi:Q"), down),
        end.encode(across, down),
        end.encode(x="rank_hi:Q", y=down),
    ]
    return alt.layer(*layers).properties(width=90, height=alt.Step(19))


def _forest_words(scope: Scope, scale: Scale) -> str:
    """The intervals in words, of many models the first ones."""
    rows = {row["model"]: row for row in lead_rows(scope).rows(named=True)}
    texts = [f"{name} {scale.cell(rows[name])}{scale.unit}" for name in scope.models]
    return f"Intervals of {count(len(texts), 'model')}, the best first: {listed(texts, 8)}."


def curves(scope: Scope, settings: Settings) -> list[Figure]:
    """Pass@k and Pass^k against k, as far as all questions have trials, up to 64."""
    most = min(fewest_trials(scope.counts), _DRAWN)
    if most == 1:
        return []
    sizes = [*(2**power for power in range((most - 1).bit_length())), most]
    plots = Plots(scope.counts.lazy(), scope.roles)
    kinds: dict[str, tuple[Metric, str]] = {
        "Pass@k": (pass_at_k(sizes), "at least one of k trials succeeds"),
        "Pass^k": (pass_hat_k(sizes), "all k trials succeed"),
    }
    figures = []
    for name, (metric, meaning) in kinds.items():
        chart = plots.curve(metric, **settings.report).properties(width=280)
        words = f"{name} of {count(len(scope.models), 'model')} for k from 1 to {most}: {meaning}."
        figures.append(figure(chart, words, f"{name}: {meaning}. Bands: {settings.intervals}."))
    return figures


def matrix(scope: Scope, settings: Settings) -> Figure | None:
    """Who is better than whom, with which probability."""
    if not 1 < len(scope.models) <= _MATRIX:
        return None
    plots = Plots(scope.counts.lazy(), scope.roles)
    chart = plots.comparison(scope.lead, **settings.report)
    unsure = rivals(scope)
    words = (
        f"Probabilities that the model of a row is better than that of a column. "
        f"{scope.models[0]} is surely better than all"
        + (f" but {listed(unsure)}." if unsure else " others.")
    )
    return figure(chart, words, f"Probability that the row is better, by {spoken_lead(scope)}.")
