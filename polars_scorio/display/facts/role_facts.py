"""Facts of what trials cost, of the judge behind their verdicts, and of a rerun."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polars_scorio.counting.log import bind_roles, collected_together
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.frontier import frontier
from polars_scorio.decisions.rank import rank
from polars_scorio.decisions.reruns import reruns
from polars_scorio.display.facts.question_facts import QuestionFacts
from polars_scorio.display.facts.ranking_facts import (
    Board,
    Costs,
    Gap,
    Sheet,
    as_number,
    score_matrix,
)
from polars_scorio.display.facts.scopes import Scope, average_metric, lead_rows
from polars_scorio.display.facts.table_facts import labels_of
from polars_scorio.display.numbers import Unit, money_text
from polars_scorio.display.phrases import visible_text
from polars_scorio.display.settings import Settings
from polars_scorio.maths.array_rows import Floats
from polars_scorio.metrics.costs import cost_per_success, mean_cost
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.report import report
from polars_scorio.subjects.scores import JUDGED

Ends = tuple[float, float, float]  # a number with its ends, lo and hi; infinite if unknown above


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """Costs of a question for each model of a board, and all that was asked about costs."""

    board: Board
    level: str
    money: Floats  # of a question: mean, lo and hi, (L, 3)
    numbers: Mapping[tuple[str, int | None], Sequence[Ends | None]]  # of all metrics of costs
    worth: Mapping[str, float]  # chance that no other model is as good and as cheap
    never: Sequence[float]  # share of the questions that a model never solved; none if unknown
    cheapest: int  # the place of the cheapest model of the first tier

    @classmethod
    def from_log(
        cls, frame: pl.LazyFrame, roles: Roles, sheet: Sheet, asked: Sequence[Metric]
    ) -> Prices | None:
        """None without costs of trials, unless a metric wants them. Costs need no judge."""
        if roles.cost is None and not asked:
            return None
        board, settings, plain = sheet.board, sheet.settings, replace(roles, truth=None, judge=None)
        judged = sheet.main.judged
        trials = bind_roles(frame, plain)
        known = [mean_cost()] if judged else [mean_cost(), cost_per_success()]
        overall = sheet.main.overall or ("micro" if trials.by else None)
        rows = report(frame, plain, list(dict.fromkeys([*known, *asked])), overall=overall,
                      confidence=settings.confidence, target=settings.target)  # fmt: skip
        costs = rows.filter(*(pl.col(name).is_null() for name in trials.strata)).collect()
        model = next(iter(trials.models), None)
        name = pl.lit(board.models[0]) if model is None else pl.col(model).cast(pl.String)
        costs = costs.with_columns(name.map_elements(visible_text, pl.String).alias("model"))
        means = board.rows_of(costs.filter(metric="mean_cost"))
        money = means.select(pl.col("mu", "lo", "hi").cast(pl.Float64).fill_null(float("nan")))
        if not money.height or not money["mu"].is_finite().all():
            return None
        numbers: dict[tuple[str, int | None], list[Ends | None]] = {}
        for row in costs.unique(["metric", "k"], maintain_order=True).rows(named=True):
            k = pl.col("k").eq_missing(pl.lit(row["k"], pl.Int64))
            each = board.rows_of(costs.filter(k, metric=row["metric"]))
            numbers[row["metric"], row["k"]] = [*map(_cost_ends, each.to_dicts())]
        worth: dict[str, float] = {}
        if model is not None and not (judged or trials.by or roles.cost is None):
            worth = _worth_chances(frame, plain, model, settings)
        unknown = judged or not board.unit.percent
        never = [] if unknown else (score_matrix(sheet.main, board.models)[1] <= 0).mean(axis=1)
        leading = np.flatnonzero(board.first_tier) if board.ranked else np.array([0])
        amounts = money.to_numpy()
        cheapest = int(leading[amounts[leading, 0].argmin()])
        return cls(board, settings.level, amounts, numbers, worth, [*never], cheapest)

    def costs(self, pairs: pl.DataFrame) -> Costs:
        """Costs of a question, and the lead of the first model over the cheapest."""
        models, money, cheap = self.board.models, self.money[:, 0], self.cheapest
        lead = Gap.from_pairs(pairs, models[0], models[cheap])
        ratio = money[0] / money[cheap] if money[cheap] else math.inf
        return Costs([*map(money_text, money)], cheap, ratio, lead)

    @property
    def shared(self) -> bool:
        """Whether another model that may be the best costs as much as the cheapest."""
        money = self.money[:, 0]
        return bool(np.isclose(money[self.board.first_tier], money[self.cheapest]).sum() > 1)

    @property
    def spread(self) -> bool:
        """Whether models are apart on a ratio scale."""
        money = self.money[:, 0]
        return len(money) > 1 and bool((self.money[:, :2] > 0).all()) and money.max() > money.min()

    @property
    def ordered(self) -> list[int]:
        """The places of the models, the cheapest first."""
        score, money = self.board.score, self.money[:, 0]
        return sorted(range(len(money)), key=lambda place: (money[place], -score[place]))

    @property
    def stairs(self) -> list[int]:
        """The places of those that no other beats on both score and cost."""
        stairs: list[int] = []
        for place in self.ordered:
            if not stairs or self.board.score[place] > self.board.score[stairs[-1]]:
                stairs.append(place)
        return stairs


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


def _cost_ends(row: dict[str, object] | None) -> Ends | None:
    if row is None or row["lo"] is None:
        return None
    hi = math.inf if row.get("unbounded") else as_number(row["hi"])
    value = math.inf if row["estimate"] is None else as_number(row["estimate"])
    return value, as_number(row["lo"]), hi


@dataclass(frozen=True, slots=True, eq=False)
class JudgeFacts:
    """Scores by the verdicts of a judge, and corrected for its errors."""

    board: Board
    raw: Floats  # NaN where unknown
    labels: tuple[int, int, int] | None  # all, and the fewest and the most of a model
    unknown: int  # numbers

    @classmethod
    def from_sheet(cls, sheet: Sheet) -> JudgeFacts:
        """The facts of the models of a sheet."""
        rows = sheet.board.rows_of(lead_rows(sheet.main))
        raw = rows[JUDGED].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        known = labels_of(rows)
        labels = (sum(known), min(known), max(known)) if known else None
        return cls(sheet.board, raw, labels, sheet.main.rows["estimate"].null_count())

    @property
    def most(self) -> int:
        """The model whose score the judge moves most."""
        return int(np.nanargmax(np.abs(self.raw - self.board.score)))


def judge_winner(main: Scope, settings: Settings) -> str | None:
    """The model that the verdicts alone would call the best, if they would call one."""
    verdict_board = main.of_verdicts()
    ranks = verdict_board.numbers(rank, verdict_board.lead, **settings.report).collect()
    first = ranks.filter(pl.col("tier") == 1)["model"].to_list()
    sure = len(first) == 1 and ranks.height > 1 and not ranks["tier"].null_count()
    return str(first[0]) if sure else None


@dataclass(frozen=True, slots=True)
class RerunFacts:
    """How far a rerun lies from this log by chance alone, with as many trials or fewer."""

    floors: Sequence[tuple[int, float]]  # trials of each question, and how far it lies
    flips: float | None  # share of the questions that change from one single trial to the next
    unit: Unit
    level: str
    questions: int

    @classmethod
    def from_sheet(cls, sheet: Sheet) -> RerunFacts | None:
        """None where nobody knows it."""
        main, sure = sheet.main, sheet.settings.confidence
        whole = main.each or 0
        if main.judged or main.errored or sheet.settings.prior is not None or whole < 1:
            return None
        metric, roles = average_metric(main.lead), main.roles_by_stratum
        sizes = sorted({whole, *(n for n in (4, 2, 1) if n < whole)}, reverse=True)
        try:
            plans = [reruns(main.study, roles, metric, n=n, confidence=sure) for n in sizes]
            parts = collected_together(plans)
        except ValueError:  # a metric without unbiased estimates
            return None
        if any(part["noise_floor"].null_count() for part in parts):
            return None
        # Of the mean of several strata, whose reruns are independent.
        floors = [math.hypot(*part["noise_floor"]) / part.height for part in parts]
        flips, weight = (parts[0][name].to_numpy() for name in ("flips", "questions"))
        known = None if parts[0]["flips"].null_count() else float(flips @ weight / weight.sum())
        return cls([*zip(sizes, floors, strict=True)], known, sheet.board.unit,
                   sheet.settings.level, sheet.asked)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class FlakyFacts:
    """The questions of one model, and how far a rerun of it lies."""

    questions: QuestionFacts
    rerun: RerunFacts | None
