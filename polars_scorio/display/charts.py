"""Looks and marks: colours, intervals, grids, histograms, curves with bands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, cast

import polars as pl

from polars_scorio.arguments import check_choice, check_count, known_text, value_tuple
from polars_scorio.counting.roles import Category
from polars_scorio.display.chart_data import LINE, inert_text, spread_places
from polars_scorio.display.media.marks import palette
from polars_scorio.display.phrases import short_name
from polars_scorio.signatures import Option
from polars_scorio.study.request import InferenceOptions

try:
    import altair as alt
except ImportError:
    raise ImportError('pictures need Altair: pip install "polars-scorio[plot]"') from None

Picture: TypeAlias = "alt.LayerChart | alt.FacetChart"

Theme = Literal["light", "dark"]


class LookOptions(TypedDict, total=False):
    """How a picture looks."""

    highlight: Annotated[
        Category | Iterable[Category] | None,
        Option(None, "One model or two to draw in colour, all others grey; default: the two best."),
    ]
    width: Annotated[int | None, Option(None, "Of a panel, in pixels.")]
    height: Annotated[int | None, Option(None, "Of a panel, in pixels.")]
    theme: Annotated[Theme, Option("light", "For pages that are light, or dark.")]


class PlotOptions(LookOptions, InferenceOptions, total=False):
    """The keywords of pictures of estimates."""


@dataclass(frozen=True, slots=True)
class ChartStyle:
    """How a picture looks; see `LookOptions`."""

    highlight: tuple[str, ...] = ()  # labels of models; none if nobody chose
    width: int | None = None  # of a panel
    height: int | None = None  # of a panel
    theme: Theme = "light"  # of the page

    @classmethod
    def split(cls, options: Mapping[str, Any]) -> tuple[ChartStyle, dict[str, Any]]:
        """How a picture looks, and the options of its numbers."""
        rest = {name: value for name, value in options.items() if name not in _KEYS}
        chosen = options.get("highlight")
        names = () if chosen is None else value_tuple(chosen)
        labels = tuple(inert_text(str(each)) for each in names)
        if len(labels) > _COLOURED:
            raise ValueError(f"highlight takes one model or two, got {len(labels)}")
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
        coloured = self.highlight or order[:_COLOURED]
        return {name: self.tones[tone] for name, tone in zip(coloured, "ab", strict=False)}

    @property
    def tones(self) -> dict[str, str]:
        """Colours, font and sizes of the page."""
        return palette(self.theme)

    @property
    def config(self) -> dict[str, Any]:
        """Settings of a chart, as those of the page."""
        tones = self.tones
        soft, ink, line = tones["soft"], tones["ink"], tones["line"]
        small, head = (int(tones[name].removesuffix("px")) for name in ("small", "head"))
        words = {
            "labelColor": soft, "titleColor": soft, "labelFontSize": small, "titleFontSize": small,
            "titleFontWeight": "normal",
        }  # fmt: skip
        return {
            "background": tones["bg"],
            "font": tones["font"].replace('"', "'"),
            "view": {"stroke": None},
            "axis": {
                **words, "gridColor": line, "tickColor": tones["mark"], "domainColor": tones["mark"]
            },
            "legend": words,
            "header": {**words, "labelColor": ink},
            "text": {"fontSize": small},
            "title": {
                "color": ink, "subtitleColor": soft, "fontSize": head, "fontWeight": "bold",
                "subtitleFontSize": small, "subtitlePadding": 6,
            },
        }  # fmt: skip


_COLOURED = 2  # models
_KEYS = LookOptions.__optional_keys__


_ROW = 26  # pixels of a model in a list
# An interval and its number, as on the page.
_INTERVAL: dict[str, Any] = {"size": 6, "strokeCap": "round", "opacity": 0.36}
_DOT: dict[str, Any] = {"size": 90, "filled": True, "opacity": 1}
_ABREAST = 3  # panels in a row
_TICKED = 12  # values of an axis that all have a tick
# A long name without its middle: models often differ at their ends.
_CUT_NAMES: dict[str, Any] = {
    "labelExpr": "length(datum.label) > 38 ? substring(datum.label, 0, 19) + '\u2026' + "
    "substring(datum.label, length(datum.label) - 18, length(datum.label)) : datum.label",
    "labelLimit": 260,  # pixels
}
# There is room beyond 0 and 100 %, but no number and no line.
_BEYOND = "datum.value < -1e-9 || datum.value > 1 + 1e-9"
_PERCENT = "replace(datum.label, '%', '\\u00a0%')"


@dataclass(frozen=True, slots=True)
class Layout:
    """Titles, panels, axis of values and colours that all marks of a picture share."""

    title: str
    subtitle: tuple[str, ...]  # meaning of lines and bands, and their basis
    panels: str  # columns of the strata, or empty
    metric: str  # title of the axis of values
    percent: bool  # whether values are percentages
    colours: dict[str, str]  # of some models, the best first; all others are grey
    style: ChartStyle

    @property
    def width(self) -> int:
        """How wide a panel is."""
        return self.style.width or (260 if self.panels else 420)


def forest_plot(rows: pl.DataFrame, layout: Layout, *, smallest_first: bool) -> Picture:
    """A point and an interval for each model, the best on top, and a bar at `marked`.

    `rows`: stratum, model, mu, lo, hi, marked (see `marked_rows`), tooltips. `smallest_first` if
    less is better, as of costs.
    """
    models = models_by_mean(rows, "mu", smallest_first=smallest_first)
    axis = alt.Axis(ticks=False, domain=False, grid=False, **_CUT_NAMES)
    base = alt.Chart().encode(
        y=alt.Y("model:N", sort=models, title=None, axis=axis),
        color=_model_hue(layout, None),
        tooltip=number_tooltips(rows),
    )
    scale = alt.Scale(zero=False, padding=10)
    across = value_axis(alt.X("lo:Q", scale=scale), layout.metric, percent=layout.percent)
    layers = [
        base.mark_rule(**_INTERVAL).encode(x=across, x2="hi:Q"),
        base.mark_point(**_DOT).encode(x="mu:Q"),
    ]
    if rows["marked"].is_not_null().any():
        bar = base.transform_filter("isValid(datum.marked)").mark_tick(size=16, thickness=2)
        layers.append(bar.encode(x="marked:Q", color=alt.value(layout.style.tones["ink"])))
    ends = f"{models[0]} to {models[-1]}" if models else "nobody"
    words = f"A point and an interval for each of {len(models)}, from {ends}"
    rows = rows.with_columns(coloured=pl.col("model").is_in([*layout.colours]))
    return in_panels(layers, rows, layout, words, height=alt.Step(_ROW))


def models_by_mean(rows: pl.DataFrame, number: str, *, smallest_first: bool = False) -> list[str]:
    """The models by the mean of a number over their rows, the largest or the smallest first."""
    # Means that differ in their last digits are the same.
    means = rows.group_by("model").agg(pl.col(number).mean().round(12))
    ordered = means.sort(number, "model", descending=[not smallest_first, False], nulls_last=True)
    return ordered["model"].to_list()


def in_panels(
    layers: Sequence[alt.Chart],
    rows: pl.DataFrame,
    layout: Layout,
    words: str,
    *,
    height: int | alt.Step,
) -> Picture:
    """The layers with their data, title and alternative text, in a panel for each stratum."""
    style = layout.style
    title = alt.Title(layout.title, subtitle=[*layout.subtitle], anchor="start", offset=12)
    above = {"title": title, "description": ". ".join((layout.title, words, *layout.subtitle))}
    # The data come last: each change of a chart copies all that it holds.
    picture: Any = alt.layer(*layers, data=alt.InlineData(values=[])).properties(
        width=layout.width, height=style.height or height
    )
    if layout.panels:
        strata = rows["stratum"].unique(maintain_order=True).to_list()
        header = alt.Header(
            title=layout.panels, labelFontWeight="bold", labelAnchor="start", **_CUT_NAMES
        )
        facet = alt.Facet("stratum:N", sort=strata, header=header)
        picture = picture.facet(facet=facet, columns=min(_ABREAST, len(strata) or 1))
        if len(strata) > _ABREAST and len(strata) % _ABREAST:
            # Else the axes of the last row stand below the panels that it lacks.
            picture = picture.resolve_axis(x="independent")
    picture = themed_chart(picture.properties(**above), style.config)
    # Values, and no frame: Altair refuses frames of more than 5,000 rows.
    picture.data = alt.InlineData(values=rows.to_dicts())
    return cast("Picture", picture)


class _Themed:
    """A chart that keeps its theme where `|` and `&` join it: Altair's would refuse to join."""

    config: Any

    def __or__(self, other: Any) -> Any:  # noqa: ANN401 - as Altair says it
        return joined_charts(alt.hconcat, self, other)

    def __and__(self, other: Any) -> Any:  # noqa: ANN401 - as Altair says it
        return joined_charts(alt.vconcat, self, other)

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as Altair says it
        """Content for a notebook: the chart, and a picture of it for readers without network.

        Whoever has chosen a renderer of Altair gets what it makes.
        """
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **options)  # type: ignore[misc]  # a chart's
        spec = cast("Any", self).to_dict(context={"pre_transform": False})
        bundle: dict[str, Any] = {f"application/vnd.vegalite.v{alt.SCHEMA_VERSION[1]}+json": spec}
        with suppress(ImportError):
            import vl_convert  # noqa: PLC0415 - an extra

            bundle["image/png"] = vl_convert.vegalite_to_png(spec, scale=2)
        return bundle


class _Layers(_Themed, alt.LayerChart): ...


class _Facets(_Themed, alt.FacetChart): ...


class _Row(_Themed, alt.HConcatChart): ...


class _Panels(_Themed, alt.VConcatChart): ...


_THEMED = {kind.__bases__[1]: kind for kind in (_Layers, _Facets, _Row, _Panels)}


def themed_chart(chart: Any, config: Any) -> Any:  # noqa: ANN401 - of Altair
    """The chart with a theme that it keeps where it is joined."""
    chart = chart.copy(deep=False)
    chart.config = config if isinstance(config, alt.Config) else alt.Config(**config)
    # Altair's own attributes are parts of the chart.
    object.__setattr__(chart, "__class__", _THEMED[type(chart)])
    return chart


def joined_charts(join: Callable[..., Any], one: Any, other: Any) -> Any:  # noqa: ANN401 - of Altair
    """Charts side by side, or one below the other, each with its own colours."""
    bare = [each.copy(deep=False) for each in (one, other)]
    for each in bare:
        if isinstance(each, _Themed):
            each.config = alt.Undefined
    return themed_chart(join(*bare).resolve_scale(color="independent"), one.config)


def number_tooltips(rows: pl.DataFrame) -> list[alt.Tooltip]:
    """All that is known of what the mouse points at."""
    hidden = {"coloured", "place", "marked", "edge", "label"}
    return [
        alt.Tooltip(f"{name}:Q", format=".4~f") if dtype.is_float()
        else alt.Tooltip(f"{name}:{'Q' if dtype.is_integer() else 'N'}")
        for name, dtype in rows.schema.items()
        if name not in hidden
    ]  # fmt: skip


def value_axis(channel: Any, title: str, *, percent: bool) -> Any:  # noqa: ANN401 - X in, X out; Y in, Y out
    """An axis of values of a metric."""
    form: dict[str, Any] = {}
    if percent:
        none_beyond = {"test": _BEYOND, "value": 0}
        form = {
            "format": "~%",
            "labelExpr": f"{_BEYOND} ? '' : {_PERCENT}",
            "gridOpacity": {"condition": none_beyond, "value": 1},
        }
    return channel.title(title).axis(
        tickCount=6, ticks=False, domain=False, labelSeparation=4, **form
    )


def _model_hue(layout: Layout, legend: alt.Legend | None) -> Any:  # noqa: ANN401 - of Altair
    """The colours of the coloured models, grey for all others."""
    scale = alt.Scale(domain=[*layout.colours], range=[*layout.colours.values()])
    colour = alt.Color("model:N", scale=scale, legend=legend)
    return alt.condition("datum.coloured", colour, alt.value(layout.style.tones["mark"]))


_HEIGHT = 280  # pixels of a panel
_LABEL = 16  # pixels between two labels
_LETTERS = 30  # of a label
_SPANNED = 8  # an axis of powers of two where the largest draw size is so many times the smallest
_SMALL_POINTS = 60  # with more of them on a line, points are small
_MARGIN = 0.05  # of what the lines span, above and below them
_FLAT_SHARE = 1e-6  # of the largest number: lines that span less are flat


def line_chart(rows: pl.DataFrame, layout: Layout, across: alt.X) -> Picture:
    """A line for each model, the coloured ones with a band.

    `rows`: stratum, model, the column of `across`, mu, lo, hi, marked, ahead, tooltips.
    """
    colours = layout.colours
    order = [*colours, *sorted({*rows["model"]} - {*colours})]
    models = len({*rows["model"]})
    rows = _drawing_order(rows, order, len(colours))
    if grey := models - len({*colours} & {*rows["model"]}):
        said = f"grey: {grey:,} other{'s' if grey > 1 else ''}"
        layout = replace(layout, subtitle=(*layout.subtitle, said))
    low, high = _vertical_range(rows)
    written = not layout.panels and models > 1
    if written:
        height = layout.style.height or _HEIGHT
        rows = _end_labels(rows, (low, high), _LABEL / height * (high - low))
    legend = None
    if layout.panels and models > 1:
        legend = alt.Legend(title=None, symbolType="stroke", symbolOpacity=1, **_CUT_NAMES)
    hue = _model_hue(layout, legend)
    base = alt.Chart().encode(x=across, color=hue, detail="model:N", tooltip=number_tooltips(rows))
    reach = alt.Scale(domain=[low, high], zero=False, nice=False)
    mu, lo, hi = (
        value_axis(alt.Y(f"{end}:Q", scale=reach), layout.metric, percent=layout.percent)
        for end in ("mu", "lo", "hi")
    )
    band = base.transform_filter("datum.coloured").mark_area(opacity=0.15)
    layers = [band.encode(y=lo, y2="hi:Q"), *_line_layers(base, mu, rows)]
    if rows["ahead"].any():  # the ends of a range that nobody has measured
        beyond = base.transform_filter("datum.coloured && (datum.ahead || datum.edge)")
        edge = beyond.mark_line(size=0.75, strokeDash=[4, 3])
        layers += [edge.encode(y=lo), edge.encode(y=hi)]
    if written:
        words = base.transform_filter("isValid(datum.place)").mark_text(
            align="left", dx=8, fontWeight="bold"
        )
        layers.append(words.encode(y="place:Q", text="label:N"))
    words = f"A line for each of {models} model{'s' if models > 1 else ''}"
    return in_panels(layers, rows, layout, words, height=_HEIGHT)


def _drawing_order(rows: pl.DataFrame, order: Sequence[str], coloured: int) -> pl.DataFrame:
    """The rows in the order in which they are drawn, and where a prediction begins."""
    place = pl.col("model").cast(pl.Enum(order)).to_physical()
    begins = pl.col("ahead").shift(-1).over(LINE)
    return rows.with_columns(
        coloured=place < coloured, edge=begins & ~pl.col("ahead")
    ).sort(place, descending=True, maintain_order=True)  # what is drawn last is on top  # fmt: skip


def _line_layers(base: alt.Chart, up: alt.Y, rows: pl.DataFrame) -> list[Any]:
    """Lines, what they predict, and estimates."""
    layers = [
        base.transform_filter("!datum.coloured && !datum.ahead").mark_line(size=1).encode(y=up),
        base.transform_filter("datum.coloured && !datum.ahead").mark_line(size=2).encode(y=up),
    ]
    if rows["ahead"].any():
        beyond = base.transform_filter("datum.ahead || datum.edge")
        layers.append(beyond.mark_line(size=1.5, strokeDash=[4, 3]).encode(y=up))
    if rows["marked"].is_not_null().any():
        size = 25 if rows.height <= _SMALL_POINTS * rows["model"].n_unique() else 6
        points = base.transform_filter("isValid(datum.marked)").mark_point(filled=True, size=size)
        layers.append(points.encode(y="marked:Q", opacity=alt.value(1)))
    return layers


def _vertical_range(rows: pl.DataFrame) -> tuple[float, float]:
    """From where to where the vertical axis goes; 100 % and 99.999992 % are one place on it."""
    lo, hi = (pl.when("coloured").then(end) for end in ("lo", "hi"))
    ends = rows.select(
        pl.min_horizontal("mu", "marked", lo).min().alias("low"),
        pl.max_horizontal("mu", "marked", hi).max().alias("high"),
    ).row(0)
    low, high = (0.0 if end is None else float(end) for end in ends)
    differ = high - low > _FLAT_SHARE * max(abs(low), abs(high))
    margin = _MARGIN * (high - low) if differ else _MARGIN
    return low - margin, high + margin


def _end_labels(rows: pl.DataFrame, span: tuple[float, float], gap: float) -> pl.DataFrame:
    """The rows, those at the end of a coloured line with its name and a place for it."""
    drawn = pl.col("lo").is_not_null()
    last = drawn & (drawn.cum_sum(reverse=True) == 1).over(LINE) & pl.col("coloured")
    at = pl.coalesce("mu", (pl.col("lo") + pl.col("hi")) / 2)
    ends = rows.filter(last).with_columns(at.alias("place")).sort("place")
    spread = pl.Series("place", spread_places(ends["place"].to_list(), gap, span), pl.Float64)
    texts = pl.Series("label", [short_name(name, _LETTERS) for name in ends["model"]], pl.String)
    named = ends.select(*LINE, spread, texts)
    return rows.join(named, on=LINE, how="left", maintain_order="left").with_columns(
        pl.when(last).then("place"), pl.when(last).then("label")
    )


def draw_sizes_axis(sizes: Sequence[int]) -> alt.X:
    """An axis of draw sizes, logarithmic where they span it; of many some have a tick."""
    least, most = min(sizes), max(sizes)
    ticks, scale = [*sizes], alt.Scale(nice=False, zero=False)
    if most >= _SPANNED * least:
        ticks = [2**power for power in range(most.bit_length()) if 2**power >= least]
        scale = alt.Scale(nice=False, type="log", base=2)
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    axis.values = ticks if len(ticks) <= _TICKED else alt.Undefined
    return alt.X("k:Q", title="k, trials drawn", scale=scale, axis=axis)


def stratum_axis(name: str, dtype: pl.DataType) -> alt.X:
    """An axis of a stratum that is a number or a time, in the column `at`."""
    scale, axis = alt.Scale(zero=False, nice=False), alt.Axis(grid=False)
    return alt.X(f"at:{'T' if dtype.is_temporal() else 'Q'}", title=name, scale=scale, axis=axis)


def frontier_chart(rows: pl.DataFrame, layout: Layout, cost: str) -> Picture:
    """A point with two intervals for each model; `cost` is the title of the axis of costs.

    `rows`: stratum, model, estimate, lo, hi, mean_cost, cost_lo, cost_hi, dominated.
    """
    tones, width = layout.style.tones, layout.width
    rows = rows.join(
        _point_labels(rows, width, 250), on=["stratum", "model"], how="left"
    ).with_columns(coloured=pl.col("model").is_in([*layout.colours]))
    hue = _model_hue(layout, None)
    room = 4 * min(_LETTERS, max(map(len, rows["model"]), default=0))
    dollars = alt.Scale(type="log", nice=False, padding=max(12, room))
    across = {
        end: value_axis(alt.X(f"{end}:Q", scale=dollars), cost, percent=False)
        for end in ("mean_cost", "cost_lo")
    }
    scores = alt.Scale(zero=False, padding=18)
    up = {
        end: value_axis(alt.Y(f"{end}:Q", scale=scores), layout.metric, percent=layout.percent)
        for end in ("estimate", "lo")
    }
    base = alt.Chart().encode(color=hue, tooltip=number_tooltips(rows))
    place = {"x": across["mean_cost"], "y": up["estimate"]}
    hollow = {**_DOT, "strokeWidth": 2, "fill": tones["bg"]}
    names = base.encode(x=across["mean_cost"], text="label:N", color=alt.value(tones["ink"]))
    layers = [
        base.mark_rule(**_INTERVAL).encode(x=across["mean_cost"], y=up["lo"], y2="hi:Q"),
        base.mark_rule(**_INTERVAL).encode(x=across["cost_lo"], x2="cost_hi:Q", y=up["estimate"]),
        base.transform_filter("!datum.dominated").mark_point(**_DOT).encode(**place),
        base.transform_filter("datum.dominated").mark_point(**hollow).encode(**place),
        names.transform_filter("datum.above").mark_text(dy=-11).encode(y="hi:Q"),
        names.transform_filter("!datum.above").mark_text(dy=11).encode(y="lo:Q"),
    ]  # fmt: skip
    number = rows["model"].n_unique()
    words = f"A point for each of {number} model{'s' if number > 1 else ''}"
    return in_panels(layers, rows, layout, words, height=300)


_NAMED_POINTS = 12  # models, of more only those that no other dominates have a name


def _point_labels(models: pl.DataFrame, width: int, height: int) -> pl.DataFrame:
    """The name of each point, and whether it stands above it: below where another name is near."""
    named = models.filter(~pl.col("dominated")) if models.height > _NAMED_POINTS else models
    logs = named["mean_cost"].log()
    across = width / (_value_reach(logs) or 1.0)
    up = height / (_value_reach(pl.concat([named["lo"], named["hi"]])) or 1.0)
    pixels = named.with_columns(logs * across, pl.col("lo", "hi") * up).sort("mean_cost")
    taken, labels = list[tuple[str, float, float, int]](), []
    for row in pixels.select("stratum", "model", "mean_cost", "lo", "hi").rows():
        stratum, model, x, lo, hi = row
        label = short_name(model, _LETTERS)
        near = [
            y
            for where, at, y, letters in taken
            if where == stratum and abs(at - x) < 4 * (letters + len(label))
        ]
        above, below = hi + 11, lo - 11
        over = min((abs(above - y) for y in near), default=99) > 16
        over = over or min(abs(below - y) for y in near) <= 16
        taken.append((stratum, x, above if over else below, len(label)))
        labels.append((stratum, model, label, over))
    schema = {"stratum": pl.String, "model": pl.String, "label": pl.String, "above": pl.Boolean}
    return pl.DataFrame(labels, schema=schema, orient="row")


def _value_reach(values: pl.Series) -> float:
    return float(values.max() - values.min()) if values.len() else 0.0  # type: ignore[arg-type, operator]
