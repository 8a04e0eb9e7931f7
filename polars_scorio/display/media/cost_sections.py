"""Sections of costs and judges."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import polars as pl

from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.frontier import frontier
from polars_scorio.decisions.rank import rank
from polars_scorio.display.blocks import Section, html_figure
from polars_scorio.display.facts.question_facts import score_matrix
from polars_scorio.display.facts.ranking_facts import Board, Costs, Gap, Sheet, as_number
from polars_scorio.display.facts.scopes import Scope, lead_rows
from polars_scorio.display.media.marks import (
    Axis,
    dot,
    group,
    held_at,
    interval,
    level,
    path,
    picture,
    stretched,
    text,
    tick_row,
    upright,
)
from polars_scorio.display.media.sections import ruled
from polars_scorio.display.media.tables import (
    grid_lines,
    line_rows,
    number_table,
    score_axis,
    score_ticks,
    whole_name,
)
from polars_scorio.display.numbers import chance_words, html_text, money_text, named, names_list
from polars_scorio.display.phrases import count_of, range_text, short_name, visible_text
from polars_scorio.display.settings import Settings
from polars_scorio.display.words.ranking_words import cheapest_title
from polars_scorio.maths.array_rows import Floats
from polars_scorio.metrics.costs import cost_per_success, mean_cost
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.report import report
from polars_scorio.subjects.scores import JUDGED, LABEL_COUNT


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """Costs of a question for each model of a board: mean with its interval, (L, 3)."""

    mean: Floats
    rows: pl.DataFrame  # of all metrics of costs
    worth: dict[str, float]  # chance that no other model is as good and as cheap

    @classmethod
    def from_log(
        cls, frame: pl.LazyFrame, roles: Roles, sheet: Sheet, asked: Sequence[Metric]
    ) -> Prices | None:
        """None without costs of trials, unless a metric wants them. Costs need no judge."""
        if roles.cost is None and not asked:
            return None
        judged = roles.truth is not None or roles.judge is not None
        known = [mean_cost()] if judged else [mean_cost(), cost_per_success()]
        metrics = list(dict.fromkeys([*known, *asked]))
        plain = replace(roles, truth=None, judge=None)
        trials = bind_roles(frame, plain)
        board, settings = sheet.board, sheet.settings
        overall = sheet.main.overall or ("micro" if trials.by else None)
        rows = report(frame, plain, metrics, overall=overall, confidence=settings.confidence,
                      target=settings.target)  # fmt: skip
        costs = rows.filter(*(pl.col(name).is_null() for name in trials.strata)).collect()
        model = next(iter(trials.models), None)
        name = pl.lit(board.models[0]) if model is None else pl.col(model).cast(pl.String)
        costs = costs.with_columns(name.map_elements(visible_text, pl.String).alias("model"))
        means = board.rows_of(costs.filter(metric="mean_cost"))
        mean = means.select(pl.col("mu", "lo", "hi").cast(pl.Float64).fill_null(float("nan")))
        if not mean.height or not mean["mu"].is_finite().all():
            return None
        worth: dict[str, float] = {}
        if model is not None and not (judged or trials.by or roles.cost is None):
            worth = _worth_chances(frame, plain, model, settings)
        return cls(mean.to_numpy(), costs, worth)

    def costs(self, sheet: Sheet) -> Costs:
        """Costs of a question, and the cheapest model that may be the best."""
        board, cheap = sheet.board, cheapest_leader(sheet.board, self)
        ratio = self.mean[0, 0] / self.mean[cheap, 0] if self.mean[cheap, 0] else math.inf
        lead = Gap.from_pairs(sheet.main.pairs, board.models[0], board.models[cheap])
        return Costs([*map(self.words, range(len(board.models)))], cheap, ratio, lead)

    def words(self, place: int) -> str:
        """The mean cost of a question, in words."""
        return money_text(self.mean[place, 0])


def _worth_chances(
    frame: pl.LazyFrame, roles: Roles, model: str, settings: Settings
) -> dict[str, float]:
    """The chance that no other model is as good and as cheap; nothing where nobody knows it."""
    about, sure = settings.target, settings.confidence
    plan = frontier(frame, roles, target=about, confidence=sure, unmatched="drop")
    try:
        rows = plan.select(model, "prob_on_frontier").drop_nulls().collect()
    except (ValueError, pl.exceptions.PolarsError):
        return {}
    return {visible_text(str(name)): chance for name, chance in rows.rows()}


def cheapest_leader(board: Board, prices: Prices) -> int:
    """The place of the cheapest model of the first tier."""
    leading = np.flatnonzero(board.first_tier) if board.ranked else np.array([0])
    return int(leading[prices.mean[leading, 0].argmin()])


def cost_section(sheet: Sheet, prices: Prices) -> Section:
    """Scores against costs on a ratio scale, and the stairs of those that no other beats."""
    board, unit = sheet.board, sheet.board.unit
    models = board.models
    never = [] if sheet.main.judged or not unit.percent else _never_solved(sheet)
    table = _price_table(prices, models, never)
    money = prices.mean[:, 0]
    title = _cost_title(board, prices)
    if len(models) == 1 or not (prices.mean[:, :2] > 0).all() or money.max() == money.min():
        words = ["What the trials cost, in the unit of the log."]
        return Section("cost", f"{named(models[0])} costs {prices.words(0)} a question."
                       if len(models) == 1 else title, words, html_figure(table))  # fmt: skip
    height, logs = 400, np.log10(prices.mean)
    px = Axis.spanning([*logs[:, 1], *logs[:, 2]], 0.08)
    ax = score_axis([*board.lo, *board.hi], unit)

    def x(value: float) -> float:
        return px(math.log10(value))

    def y(value: float) -> float:
        return 10 + (100 - ax(value)) / 100 * (height - 44)

    body = ruled(ax, unit, y)
    for tick in _price_ticks(px):
        body += upright(x(tick), 10, height - 26)
        body += text(x(tick), height - 8, f"{tick:g}", held_at(x(tick)))
    ordered = sorted(range(len(models)), key=lambda place: (money[place], -board.score[place]))
    stairs: list[int] = []
    for place in ordered:
        if not stairs or board.score[place] > board.score[stairs[-1]]:
            stairs.append(place)
    line = [(x(money[stairs[0]]), y(board.score[stairs[0]]))]
    for before, place in itertools.pairwise(stairs):
        line += [
            (x(money[place]), y(board.score[before])),
            (x(money[place]), y(board.score[place])),
        ]
    line.append((100, y(board.score[stairs[-1]])))
    points, taken = "", [(0.0, 10.0, y(at) - 5) for at in ax.ticks(5)]
    for place in ordered:
        at, left, right = (x(v) for v in prices.mean[place])
        hue = "a" if board.first_tier[place] else "o"
        drawn = upright(at, y(board.hi[place]), y(board.lo[place]), "ci t")
        drawn += level(left, right, y(board.score[place]), "ci t") + dot(
            at, y(board.score[place]), 6.5
        )
        points += group(hue, drawn)
        if place in stairs or len(models) <= _LABELLED:
            points += _point_label(board, place, at, y, taken)
    said = "; ".join(f"{board.numbers(place)} at {prices.words(place)}" for place in ordered[:12])
    frontier = picture(
        height, body + stretched(height, group("ink", path(line, "ln t"))) + points, said
    )
    words = [
        (
            "Up: the score. To the right: the mean cost of a question (both with "
            f"{sheet.settings.level} intervals; cost on a ratio scale). Blue: may be the best."
        ),
        (
            f"The stairs join the models that no other beats on both score and cost: "
            f"{names_list([models[place] for place in stairs], 6)}."
        ),
    ]
    beside = table * (prices.rows["metric"].n_unique() > 1)
    return Section("cost", title, words, html_figure(frontier + beside))


def _cost_title(board: Board, prices: Prices) -> str:
    """The cheapest model of the first tier, or one that costs as much as another."""
    cheap, money = cheapest_leader(board, prices), prices.mean[:, 0]
    if np.isclose(money[board.first_tier], money[cheap]).sum() > 1:
        return f"No model that may be the best is cheaper than {named(board.models[cheap])}."
    return cheapest_title(board.models[cheap])


_LABELLED = 12
_LETTER = 1.2  # half a letter, in percent of a picture on a phone


def _point_label(
    board: Board,
    place: int,
    at: float,
    y: Callable[[float], float],
    taken: list[tuple[float, float, float]],
) -> str:
    """The name of a point, above it, or below it where other words are near on a phone."""
    name = short_name(board.models[place], 20)
    half = _LETTER * len(name)
    held = held_at(at, half)
    left = {"": at, "mid": at - half, "end": at - 2 * half}[held]
    right = left + 2 * half
    above, below = y(board.hi[place]) - 10, y(board.lo[place]) + 18

    def free(height: float) -> bool:
        return height > 0 and all(
            right < start or left > end or abs(height - other) > 15 for start, end, other in taken
        )

    places = [height for step in range(0, 160, 16) for height in (above - step, below + step)]
    height = next(filter(free, places), above)
    taken.append((left, right, height))
    return text(at, height, name, f"{held} i w".strip())


def _price_ticks(axis: Axis) -> list[float]:
    """Round amounts on a ratio scale."""
    powers = range(math.floor(axis.lo), math.ceil(axis.hi) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        inside = [tick for tick in ticks if axis.lo < math.log10(tick) < axis.hi]
        if len(inside) > 2:
            return inside
    return inside


def _never_solved(sheet: Sheet) -> list[str]:
    """The share of the questions that each model never solved: what no money bought."""
    scores = score_matrix(sheet.main, sheet.board.models)
    return [html_text(sheet.board.unit.score(share)) for share in (scores <= 0).mean(axis=1)]


def _price_table(prices: Prices, models: Sequence[str], never: Sequence[str]) -> str:
    """All metrics of costs, a row for each model, and what the money did not buy."""
    keys = prices.rows.select("metric", "k").unique(maintain_order=True).rows()
    heads, columns = [], []
    for metric, k in keys:
        rows = prices.rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)), metric=metric)
        known = {row["model"]: row for row in rows.iter_rows(named=True)}
        heads.append({"mean_cost": "mean cost", "cost_per_success": "per success"}.get(
            metric, metric.replace("_", " ") + (f", k = {k}" if k else "")))  # fmt: skip
        columns.append([_price_cell(known.get(name)) for name in models])
    if never:
        heads.append("never solved")
        columns.append([*never])
    if prices.worth:
        heads.append("worth it")
        columns.append([html_text(chance_words(prices.worth[name])) if name in prices.worth
                        else "\N{EN DASH}" for name in models])  # fmt: skip
    lines = [
        ("", whole_name(name), [column[place] for column in columns])
        for place, name in enumerate(models)
    ]
    return f'<div class="rel">{number_table("Costs", "model", [*map(escape, heads)], lines)}</div>'


def _price_cell(row: dict[str, object] | None) -> str:
    if row is None or row["lo"] is None:
        return "\N{EN DASH}"
    value = "∞" if row["estimate"] is None else money_text(as_number(row["estimate"]))
    hi = "∞" if row.get("unbounded") else money_text(as_number(row["hi"]))
    return f'{value} <span class="k">[{money_text(as_number(row["lo"]))},&nbsp;{hi}]</span>'


def judge_section(sheet: Sheet) -> Section:
    """The verdicts of the judge on each model, and the corrected score."""
    board, unit = sheet.board, sheet.board.unit
    judged = board.rows_of(lead_rows(sheet.main))
    raw = judged[JUDGED].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    axis = score_axis([*board.lo, *board.hi, *raw], unit)
    lines = []
    for place, model in enumerate(board.models):
        numbers = (board.lo[place], board.score[place], board.hi[place])
        body = grid_lines(axis, 40)
        if math.isfinite(raw[place]) and math.isfinite(numbers[1]):
            body += level(axis(numbers[1]), axis(raw[place]), 20, "z")
            body += dot(axis(raw[place]), 20, 6, "ring")
        body += group("a" if board.first_tier[place] else "o", interval(axis, *numbers, 20))
        known = math.isfinite(numbers[1])
        was, now = (unit.score(value, sign=False) for value in (raw[place], numbers[1]))
        cell = f"{was} → <b>{now}</b>" if known else "unknown"
        drawn = picture(40, body, board.numbers(place) if known else "unknown")
        lines.append((f"<bdi>{escape(short_name(model, 28))}</bdi>", drawn, cell))
    lifts = raw - board.score
    most = int(np.nanargmax(np.abs(lifts)))
    verb = "adds" if lifts[most] > 0 else "takes off"
    title = f"The judge {verb} up to {unit.size(lifts[most])} ({named(board.models[most])})."
    if unit.gap(lifts[most])[0] not in "+\N{MINUS SIGN}":
        title = "The judge changes no score."
    words = ["Ring: what the judge says. Dot: the true score with its interval."]
    if LABEL_COUNT in judged.columns and judged[LABEL_COUNT].null_count() < judged.height:
        labels = judged[LABEL_COUNT].drop_nulls()
        each = range_text(int(labels.min()), int(labels.max()))  # type: ignore[arg-type]
        words.append(f"People labelled {int(labels.sum()):,} verdicts, {each} of each model.")
    if unknown := sheet.main.rows["estimate"].null_count():
        words.append(
            f"{count_of(unknown, 'number')} {'is' if unknown == 1 else 'are'} missing: fewer than "
            "5 trials of a verdict are labelled, the labels do not show that the judge is better "
            "than a coin, or the noise of the correction exceeds the range of the metric."
        )
    ticks = tick_row(axis, score_ticks(axis, unit))
    return Section("judge", title, words, html_figure(line_rows(lines, 150, 110, ticks)))


def judge_winner(main: Scope, settings: Settings) -> str | None:
    """The model that the verdicts alone would call the best, if they would call one."""
    verdict_board = main.of_verdicts()
    ranks = verdict_board.numbers(rank, verdict_board.lead, **settings.report).collect()
    first = ranks.filter(pl.col("tier") == 1)["model"].to_list()
    sure = len(first) == 1 and ranks.height > 1 and not ranks["tier"].null_count()
    return str(first[0]) if sure else None
