"""A picture of 1,200 by 630 that says who leads: for a chat, a post or a slide.

Its title is a sentence about the ranking, each with an exact rule: no model of the first tier was
shown to be worse than any, and each model outside of it was shown to be worse than some.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np
import polars as pl

from polars_scorio.counting.log import bind_roles
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.model_scores import metric_of
from polars_scorio.decisions.models import refuse_costs, single_k
from polars_scorio.decisions.rank import rank
from polars_scorio.display.whole_files import write_whole
from polars_scorio.display.words import count_of, row_heading, short_name, text_list, visible_text
from polars_scorio.maths.array_rows import Floats, Mask
from polars_scorio.metrics.success import pass_hat_k
from polars_scorio.study.report import report

if TYPE_CHECKING:
    from polars_scorio.arguments import Overall
    from polars_scorio.counting.log import Log
    from polars_scorio.counting.roles import Roles
    from polars_scorio.maths.posteriors import Target
    from polars_scorio.metrics.metric import Metric
    from polars_scorio.study.request import InferenceOptions

WIDTH, HEIGHT = 1200, 630
_LEFT, _RIGHT, _ROWS = 64, 1136, 6
_LETTER = 0.56  # mean width of a letter, in units of its size
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # vl-convert brings the first one along
_INK, _SOFT, _BAND, _GREY = "#15181d", "#59616e", "#edf4fc", "#9aa2ad"
_COLOURS = ("#0b63c0", "#b94a06")  # of the leader and the next one
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The numbers of a card: models from the best to the worst, (L,)."""

    models: list[str]
    score: Floats
    lo: Floats
    hi: Floats
    first_tier: Mask  # models that were not shown to be worse than any
    gap: tuple[float, float, float] | None  # of the first two models, with its interval
    reliable: float | None  # share of the questions that one model gets right each time
    questions: int
    trials: int  # of a question; 0 if they differ
    percent: bool
    heading: str  # of the metric
    confidence: float
    target: Target  # of the score

    def number(self, value: float, *, sign: bool = False) -> str:
        """A number in percent or in the units of the metric."""
        shown = 100 * value if self.percent else value
        text = f"{shown:+,.1f}" if sign else f"{shown:,.1f}"
        if not self.percent:
            text = f"{shown:+.3g}" if sign else f"{shown:.3g}"
        return text.replace("-", _MINUS)

    def ends(self, lo: float, hi: float, *, sign: bool = False) -> str:
        """An interval in brackets."""
        return f"[{self.number(lo, sign=sign)}, {self.number(hi, sign=sign)}]"

    def title(self) -> str:
        """The finding as a sentence."""
        names = self.models
        others = [name for name, left in zip(names, self.first_tier, strict=True) if left][1:]
        if len(names) == 1:
            return self._title_of_one()
        if not others:
            best = f"is the best of {len(names)} models" if len(names) > 2 else f"beats {names[1]}"
            return f"{names[0]} {best}."
        if len(names) == 2 and self.gap is not None and self.gap[0] == 0:
            return f"{names[0]} and {names[1]} have the same score."
        if len(names) > 2 and self.first_tier.all():
            return f"Nothing is decided between {len(names)} models."
        rest = text_list(others) if len(others) < 3 else f"{len(others)} others"
        return f"{names[0]} is ahead; {rest} may be as good."

    def _title_of_one(self) -> str:
        first = f"{self.models[0]} gets {self.number(self.score[0])}{' %' * self.percent}"
        if self.reliable is None:
            return f"{first} of {count_of(self.questions, 'question')} right."
        always = f"{self.number(self.reliable)} % all {self.trials} times"
        return f"{first} right at one try, and {always}."

    def lede(self) -> str:
        """The numbers behind the title."""
        if self.gap is None:
            ends = self.ends(self.lo[0], self.hi[0])
            return f"{100 * self.confidence:g} % interval {ends}"
        unit, points = (" %", " points") if self.percent else ("", "")
        diff, lo, hi = self.gap
        return (
            f"{self.number(self.score[0])}{unit} against {self.number(self.score[1])}{unit}: "
            f"{self.number(diff, sign=True)}{points} {self.ends(lo, hi, sign=True)}"
        )


def card_finding(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    confidence: float = 0.95,
    target: Target = "benchmark",
) -> Finding:
    """The finding of a log: of strata the mean over them, which weigh the same.

    Raises
    ------
    ValueError
        If the log has no model with a number.
    """
    metric = metric_of(metric, "card")
    k = single_k(metric, "card")
    refuse_costs(metric, "card", "take frontier()")
    trials = bind_roles(log, roles)
    overall: Overall | None = "macro" if trials.by else None
    whole = [pl.col(name).is_null() for name in trials.strata]
    options: InferenceOptions = {"confidence": confidence, "target": target}
    rows = report(log, roles, [metric], overall=overall, **options).filter(*whole).collect()
    if rows.is_empty() or rows["lo"].null_count() == rows.height:
        raise ValueError("card: the log has no model with an interval, so that there is no finding")
    gap, names = None, ["this model"]
    if trials.models:
        (model,) = trials.models
        order = rank(log, roles, metric, overall=overall, **options).filter(*whole).collect()
        order = order.filter(pl.col("rank").is_not_null()).select(model, pl.col("tier") == 1)
        rows = order.join(rows, on=model, how="left", maintain_order="left")
        names = [visible_text(short_name(name)) for name in rows[model].to_list()]
    tier = rows["tier"].to_numpy() if "tier" in rows.columns else np.ones(1, np.bool_)
    if len(names) > 1:
        pairs = compare(log, roles, metric, simultaneous=True, overall=overall, **options)
        gap = _leading_gap(pairs.filter(*whole).collect(), *rows[model][:2])
    questions, trials_of_all = rows["questions"].to_list(), rows["trials"].to_list()
    each = {number / of for number, of in zip(trials_of_all, questions, strict=True)}
    n = round(each.pop()) if len(each) == 1 and next(iter(each)).is_integer() else 0
    reliable = None
    if len(names) == 1 and n > 1 and metric.support == (0, 1) and n & (n - 1) == 0:
        reliable = _reliable_share(log, roles, n, whole, overall, options)
    return Finding(
        models=names,
        score=rows["estimate"].to_numpy(),
        lo=rows["lo"].to_numpy(),
        hi=rows["hi"].to_numpy(),
        first_tier=tier,
        gap=gap,
        reliable=reliable,
        questions=max(questions),
        trials=n,
        percent=metric.support == (0, 1) and bool((rows["hi"].to_numpy() <= 1).all()),
        heading=row_heading(metric.name, k, n or None),
        confidence=confidence,
        target=target,
    )


def _leading_gap(pairs: pl.DataFrame, first: object, second: object) -> tuple[float, float, float]:
    """The difference of the first two models with its interval, the first less the second."""
    for one, other, sign in ((first, second, 1), (second, first, -1)):
        row = pairs.filter(
            pl.col("model_a") == pl.lit(one), pl.col("model_b") == pl.lit(other)
        ).select("diff", "lo", "hi")
        if row.height:
            diff, lo, hi = row.row(0)
            return (diff, lo, hi) if sign > 0 else (-diff, -hi, -lo)
    return np.nan, np.nan, np.nan


def _reliable_share(
    log: Log,
    roles: Roles,
    n: int,
    whole: list[pl.Expr],
    overall: Overall | None,
    options: InferenceOptions,
) -> float | None:
    """Share of the questions that a model gets right n times; None for other scores than that."""
    try:
        rows = report(log, roles, [pass_hat_k(n)], overall=overall, **options)
        found: float | None = rows.filter(*whole).collect()["estimate"].item()
    except (TypeError, ValueError):  # rewards, or weights, that are neither right nor wrong
        return None
    return found


def card_svg(finding: Finding, title: str | None = None, day: date | None = None) -> str:
    """The card as a drawing; `title` is a line above the finding."""
    count = f"{count_of(finding.questions, 'question')}"
    count += f" x {count_of(finding.trials, 'trial')}" if finding.trials else ""
    models = f"{count_of(len(finding.models), 'model')}, " * (len(finding.models) > 1)
    what = " \N{MIDDLE DOT} ".join(filter(None, (title, f"{finding.heading}, {models}{count}")))
    size = 58 if len(_title_lines(finding.title(), 58)) <= 2 else 48
    lines = _title_lines(finding.title(), size)[:3]
    parts = [_text_element(_LEFT, 72, 24, what.replace(" x ", " \N{MULTIPLICATION SIGN} "), _SOFT)]
    y = 72 + 36.0
    for line in lines:
        y += 1.14 * size
        parts.append(_text_element(_LEFT, y - 8, size, line, _INK, weight=700))
    y += 44
    parts += [_text_element(_LEFT, y, 28, finding.lede(), _SOFT), *_forest_rows(finding, y + 30)]
    day = day or date.today()  # noqa: DTZ011 - the day on the desk of who draws it
    like = " like these" if finding.target == "population" else ""
    scope = ", all pairs at once" * (len(finding.models) > 1)
    scope += f", about {'' if like else 'these '}questions{like}"
    foot = f"{100 * finding.confidence:g} %{scope} \N{MIDDLE DOT} {day.day} {day:%B %Y}"
    parts += [
        f'<path d="M64 604h34" stroke="{_COLOURS[0]}" stroke-width="7" stroke-linecap="round"/>',
        f'<circle cx="86" cy="604" r="9" fill="{_COLOURS[0]}"/>',
        _text_element(112, 611, 21, "polars-scorio", _INK, weight=650),
        _text_element(_RIGHT, 611, 21, foot, _SOFT, anchor="end"),
    ]
    size_of = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size_of} role="img" '
        f'aria-label="{_attribute_text(finding.title())}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _forest_rows(finding: Finding, top: float) -> list[str]:
    """A row for each of the first models: name, interval on a shared axis, numbers."""
    shown = min(len(finding.models), _ROWS)
    height = min((572 - top) / shown, 52.0)
    band = int(finding.first_tier[:shown].sum()) if shown > 1 else 0
    lo, hi = finding.lo[:shown], finding.hi[:shown]
    least, most = float(np.nanmin(lo)), float(np.nanmax(hi))
    if shown == 1 and finding.percent:
        least, most = 0.0, 1.0
    scale = (890 - 330) / ((most - least) or 1.0)
    parts, line = list[str](), 'stroke-width="11" stroke-linecap="round" opacity=".36"'
    if band:
        parts.append(
            f'<rect x="44" y="{top:.1f}" width="1112" height="{band * height:.1f}" rx="12" '
            f'fill="{_BAND}"/>'
        )
    for place in range(shown):
        y = top + (place + 0.5) * height
        colour = _COLOURS[place] if place < 2 else _GREY
        left, dot, right = (
            330 + scale * (float(each[place]) - least)
            for each in (finding.lo, finding.score, finding.hi)
        )
        name = _fitting_name(finding.models[place], 24, 250)
        parts += [
            _text_element(_LEFT, y + 8, 24, name, _INK, weight=650 if place < band else 400),
            f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{colour}" {line}/>',
            f'<circle cx="{dot:.1f}" cy="{y:.1f}" r="10" fill="{colour}"/>',
            _text_element(
                990, y + 9, 28, finding.number(finding.score[place]), _INK, weight=700, anchor="end"
            ),
            _text_element(1004, y + 8, 21, finding.ends(lo[place], hi[place]), _SOFT),
        ]
    return parts


def _title_lines(text: str, size: int) -> list[str]:
    """The lines of a title, by the mean width of a letter."""
    letters, lines = int((_RIGHT - _LEFT) / (_LETTER * size)), [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= letters or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _fitting_name(name: str, size: int, width: int) -> str:
    """A name that is cut in its middle if it is longer than its column."""
    most = int(width / (_LETTER * size))
    half = most // 2
    return name if len(name) <= most else f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[1 - half :]}"


def _text_element(
    x: float, y: float, size: int, text: str, fill: str, weight: int = 400, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:.1f}" font-family="{_FONT}" font-size="{size}" '
        f'font-weight="{weight}" fill="{fill}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _attribute_text(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def write_card(path: Path, svg: str) -> Path:
    """Write a card as .svg, or as .png by vl-convert.

    Raises
    ------
    ImportError
        If the extra `plot` is not installed, for .png.
    ValueError
        If the file has another ending.
    """
    if path.suffix == ".svg":
        write_whole(path, svg)
        return path
    if path.suffix != ".png":
        raise ValueError(f"a card is a .png or a .svg, got {path.name!r}")
    try:
        import vl_convert  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError(
            'a card as .png needs the extra plot: pip install "polars-scorio[plot]"; '
            ".svg needs nothing"
        ) from None
    write_whole(path, vl_convert.svg_to_png(svg))
    return path
