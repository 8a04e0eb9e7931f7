"""The part of a page that compares each model with a baseline: margins, broken questions."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from polars_scorio.arguments import known_text, value_text
from polars_scorio.counting.roles import Category
from polars_scorio.decisions.gate import gate
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.html.page import Section
from polars_scorio.display.html.page_tables import Column, Table
from polars_scorio.display.number_format import probability_text
from polars_scorio.display.phrases import count_of, short_name, visible_text
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.headline import lead_rows, points_text, scale_of
from polars_scorio.display.verdict.labels import metric_label
from polars_scorio.display.verdict.scopes import (
    Scope,
    average_metric,
    holds_fractions,
    knows_success,
)
from polars_scorio.metrics.metric import Metric

_FDR = 0.1  # false discovery rate of single questions
_NAMED = 20  # questions of the table
_MARGINS = (
    "passes above: a gate passes with any margin above this number. fails below: it fails with any "
    "margin below this one; between both it is undecided. The gate is for one look, and for each "
    "model by itself."
)
_BROKEN = (
    "broken: mostly right under the baseline, mostly wrong now; repaired: the reverse. by chance: "
    "so many on average if nothing changed; p: the chance of so many or more."
)
_KINDS = {"broken": "became worse", "repaired": "became better"}


@dataclass(frozen=True, slots=True, eq=False)
class BaselineRows:
    """The models of a page against a baseline.

    Attributes
    ----------
    baseline : str
        Its label.
    metric : Metric
        By which the models are compared: the leading metric, or its average if that is biased.
    gates : DataFrame
        A row for each other model: `Scorio.gate` at margin 0.
    changes : dict of DataFrame
        "broken" and "repaired": the tests of all questions; none if success is not known.
    """

    baseline: str
    metric: Metric
    gates: pl.DataFrame
    changes: dict[str, pl.DataFrame]

    @property
    def changed(self) -> pl.DataFrame:
        """The questions that became worse or better than chance explains: change, model, ..."""
        columns = ["model", "question", "rate_baseline", "rate", "p_adjusted"]
        named = [
            rows.filter(pl.col("p_adjusted") <= _FDR)
            .sort("p_adjusted", "model", "question")
            .select(pl.lit(_KINDS[kind]).alias("change"), pl.col(columns[:2]).cast(pl.String),
                    *columns[2:])
            for kind, rows in self.changes.items()
        ]  # fmt: skip
        return pl.concat(named) if named else pl.DataFrame()


def baseline_rows(scope: Scope, baseline: Category, settings: Settings) -> BaselineRows:
    """The models of a scope against the baseline.

    Raises
    ------
    ValueError
        If there is no such model, or no other one; and as `Scorio.gate`.
    """
    name = visible_text(str(baseline))
    if name not in scope.models:
        known = known_text(name, sorted(scope.models))
        raise ValueError(f"baseline: no model {value_text(baseline)}; there are {known}")
    log, metric = scope.counts.lazy(), _gated_metric(scope)
    plans = [
        gate(log, scope.roles, name, metric, margin=0.0, confidence=settings.confidence,
             target=settings.target, anytime=settings.anytime),
    ]  # fmt: skip
    fractions = holds_fractions(scope.counts, scope.roles)
    if not (scope.judged or fractions) and knows_success(scope.counts, scope.roles):
        plans += [
            regressed_questions(log, scope.roles, name, fdr=_FDR, improvements=improvements)
            for improvements in (False, True)
        ]
    gates, *changes = pl.collect_all(plans)
    return BaselineRows(name, metric, gates, dict(zip(_KINDS, changes, strict=False)))


def _gated_metric(scope: Scope) -> Metric:
    """The leading metric, or the average of its weights if a gate would refuse it."""
    (k,) = scope.lead.k
    biased = scope.lead.headline != "estimate"
    return average_metric(scope.lead) if biased or (k or 1) > scope.fewest else scope.lead


def baseline_section(against: BaselineRows, scope: Scope, settings: Settings) -> Section:
    """Section on margins, and on questions that broke or were repaired."""
    level = f"one-sided {settings.level} confidence each"
    label = metric_label(against.metric, against.metric.row_sizes[0], scope.each)
    name = short_name(against.baseline)
    lines = [f"{label} of each model minus that of {name}; ends at {level}."]
    lines += [_MARGINS, *[_BROKEN] * bool(against.changes)]
    shown = {"": _margin_table(against, scope, label)}
    changed = against.changed
    if changed.height:
        shown["Questions that changed more than chance explains"] = _question_table(changed)
    title = f"What changed since {name}?"
    return Section("baseline", title, lines, tables=shown)


def _margin_table(against: BaselineRows, scope: Scope, label: str) -> Table:
    """A row for each other model, in the order of the leaderboard."""
    order = {name: place for place, name in enumerate(scope.models)}
    places = pl.col("model").cast(pl.String).replace_strict(order, return_dtype=pl.Int64)
    gates = against.gates.sort(places)
    models = gates["model"].cast(pl.String).to_list()
    scale = scale_of(lead_rows(scope))
    gaps = [scale.cell(*row) for row in gates.select("diff", "lo", "hi").iter_rows()]
    margins = {"passes above": (gates["lo"], "any"), "fails below": (gates["hi"], "none")}
    unit = " (points)" if scale.percent else ""
    columns = [
        Column("model", [*map(short_name, models)], number=False, names=True),
        Column(f"difference{unit}", gaps),
        *(
            Column(head, [_margin_text(scope, end, better) for end in ends])
            for head, (ends, better) in margins.items()
        ),
    ]
    for kind, rows in against.changes.items():
        columns.append(Column(kind, [_change_text(rows, name) for name in models]))
    caption = f"{label} of each model against {against.baseline}"
    return Table(columns, caption=caption, kind="cards")


def _margin_text(scope: Scope, end: float | None, better: str) -> str:
    """The margin at an end of a difference, or a word if that end is not worse."""
    if end is None:
        return "unknown"
    return better if end > 0 else points_text(scope, -end)


def _change_text(rows: pl.DataFrame, model: str) -> str:
    """How many questions of a model broke, with what chance breaks."""
    own = rows.filter(pl.col("model").cast(pl.String) == model)
    p = probability_text(own["p_broken"][0])
    return f"{own['broken'].sum():,} (by chance {own['broken_by_chance'].sum():.1f}; p {p})"


def _question_table(changed: pl.DataFrame) -> Table:
    """The surest changes of single questions."""
    rows = changed.head(_NAMED)
    percent = {"baseline (%)": "rate_baseline", "now (%)": "rate"}
    columns = [
        Column("question", [*map(short_name, rows["question"])], number=False, names=True),
        Column("model", [*map(short_name, rows["model"])], number=False),
        Column("change", rows["change"].to_list(), number=False),
        *(
            Column(head, [f"{100 * rate:.0f}" for rate in rows[name]])
            for head, name in percent.items()
        ),
        Column("q", [*map(probability_text, rows["p_adjusted"])]),
    ]
    rest = changed.height - _NAMED
    more = f"{count_of(rest, 'more question')}: see the data. " if rest > 0 else ""
    note = f"{more}q: adjusted for all questions of the model; those up to {_FDR:g} are named."
    return Table(columns, note, kind="cards")
