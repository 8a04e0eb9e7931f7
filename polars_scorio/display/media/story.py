"""The story of a log: one reading of it, for its page, the terminal and its card."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polars_scorio.counting.roles import Category, Roles
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.scopes import POWER, Scope, knows_success
from polars_scorio.display.finding import (
    Finding,
    decided_alone,
    named,
    names_list,
    ranking_finding,
)
from polars_scorio.display.media.cost_sections import Prices, cost_words, judge_winner
from polars_scorio.display.media.gate_sections import Gated, gate_finding
from polars_scorio.display.media.sections import Fan, QuestionFacts, Sheet
from polars_scorio.display.media.step_sections import TrainingRun, steps_finding
from polars_scorio.display.media.unranked_sections import (
    WHATEVER,
    errored_cells,
    errored_finding,
    next_of_errored,
    one_model_finding,
    population_interval,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict import (
    FEW_QUESTIONS,
    LogVerdict,
    log_verdict,
    without_repeated_warnings,
)
from polars_scorio.display.words.phrases import count_of, these_questions
from polars_scorio.metrics.metric import Metric


@dataclass(frozen=True, slots=True, eq=False)
class Wishes:
    """Wishes about a log: metrics (none: what suits it), options, and a baseline."""

    metrics: tuple[Metric, ...]
    settings: Settings
    baseline: Category | None = None
    margin: float | None = None  # of a gate against the baseline
    gates: pl.DataFrame | None = None  # of a gate that was taken already

    def __post_init__(self) -> None:
        """Refuse a baseline without a margin, which nobody else may choose."""
        if self.baseline is not None and self.margin is None:
            raise ValueError(
                "with baseline= a page is about a gate, which has a margin: pass margin=, the "
                "score that a candidate may lose, as in margin=0.02; or leave baseline= out for a "
                "page that compares all models"
            )
        if self.margin is not None and self.baseline is None:
            raise ValueError("margin= is that of a gate: name its baseline with baseline=")


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """The numbers and the finding of a log that can be scored."""

    log: LogSummary
    coverage: pl.DataFrame
    asked: Wishes
    verdict: LogVerdict
    sheet: Sheet  # of the whole log, or of its first stratum
    finding: Finding
    fan: Fan | None = None  # Pass@k and Pass^k
    facts: QuestionFacts | None = None
    gated: Gated | None = None
    run: TrainingRun | None = None
    prices: Prices | None = None
    like: tuple[float, float, float] | None = None  # one model on questions like these

    @classmethod
    def from_log(
        cls, frame: pl.LazyFrame, roles: Roles, log: LogSummary, coverage: pl.DataFrame,
        asked: Wishes,
    ) -> Story:  # fmt: skip
        """The story of a log that was counted; refuses what a report refuses."""
        verdict = log_verdict(log, coverage, asked.metrics, asked.settings)
        with without_repeated_warnings():
            return cls._written(frame, roles, log, coverage, asked, verdict).with_bias()

    @classmethod
    def _written(
        cls, frame: pl.LazyFrame, roles: Roles, log: LogSummary, coverage: pl.DataFrame,
        asked: Wishes, verdict: LogVerdict,
    ) -> Story:  # fmt: skip
        main, settings = verdict.main, asked.settings
        sheet = Sheet.from_scope(main, settings)
        board, basis = sheet.board, sheet.basis()
        one, numbered = len(board.models) == 1, bool(main.rows["mu"].count())

        def story(finding: Finding, **parts: object) -> Story:
            finding = _about_few(finding, sheet)
            return cls(log, coverage, asked, verdict, sheet, finding, **parts)  # type: ignore[arg-type]

        if verdict.overall is None:
            title = f"No {log.noun} has all {len(log.models):,} models: no winner over all of them."
            level = f"{settings.level} confidence, each {log.noun} by itself"
            return story(Finding(title, "not compared", basis=(basis[0], level)))
        facts = QuestionFacts.from_scope(main, board.models, settings)
        if asked.baseline is not None and asked.margin is not None:
            gated = Gated.from_log(
                verdict.counted, main, asked.baseline, settings, asked.margin, asked.gates
            )
            candidates = gated.rows["model"].n_unique()
            level = f"one-sided {settings.level}"
            level += f", for all {candidates} candidates at once" * (candidates > 1)
            level += WHATEVER * bool(main.errored)
            worst = str(gated.worst["model"])
            order = list(dict.fromkeys([worst, gated.baseline, *board.models]))
            fan = Fan.from_scope(main, settings, order) if numbered else None
            made = f", {main.overall_basis()}" * (main.overall is not None)
            allowed = f"margin {gated.unit.margin(asked.margin)}"
            words = (f"difference in {gated.metric}{made}", allowed, level, basis[-1])
            return story(gate_finding(gated, words), fan=fan, facts=facts, gated=gated)
        fan = Fan.from_scope(main, settings, board.models) if numbered else None
        run = (
            TrainingRun.from_summary(verdict.counted, settings)
            if log.steps is not None and one
            else None
        )
        if run is not None and main.errored:
            raise ValueError(
                'missing="bounds" has no curves along steps: say missing="drop", or the category '
                "that a missing outcome is"
            )
        if run is not None:
            return story(steps_finding(run, basis), fan=fan, facts=facts, run=run)
        prices = cls._prices(frame, roles, sheet, asked)
        prefix = f"At {main.name}: " if main.name else ""
        if one:
            like = population_interval(sheet)
            finding = one_model_finding(sheet, fan, like and like[1:], len(facts.mixed), basis)
            finding = errored_finding(finding, sheet) if main.errored else finding
            finding = replace(_with_prices(finding, sheet, prices), title=prefix + finding.title)
            return story(finding, fan=fan, facts=facts, prices=prices, like=like)
        alone = 0 if main.errored else decided_alone(main.pairs, settings.confidence)
        finding = ranking_finding(board, sheet.gap, basis, alone=alone)
        finding = errored_finding(finding, sheet) if main.errored else finding
        finding = replace(finding, title=prefix + finding.title)
        finding = _with_prices(finding, sheet, prices)
        if main.judged and (winner := judge_winner(main, settings)) is not None:
            aside = f"The judge alone would have named {named(winner)} the best."
            finding = replace(finding, aside=f"{finding.aside} {aside}".strip())
        return story(finding, fan=fan, facts=facts, prices=prices)

    def with_bias(self) -> Story:
        """The alarm that every score is biased as the title, and the finding below it."""
        bias, finding = self.verdict.bias, self.finding
        if bias is None:
            return self
        numbers = f"As the rows stand: {finding.title} {finding.numbers}".strip()
        title = f"Trials of {names_list([*bias.names])} stopped on outcomes: every score is biased."
        said = replace(finding, title=title, numbers=numbers, aside=bias.sentence)
        return replace(self, finding=replace(said, chip="biased", mood="no"))

    @staticmethod
    def _prices(frame: pl.LazyFrame, roles: Roles, sheet: Sheet, asked: Wishes) -> Prices | None:
        of_costs = [metric for metric in asked.metrics if metric.looks_at == "costs"]
        main = sheet.main
        known = of_costs or knows_success(main.counts, main.roles, main.metrics)
        if not known:
            return None
        return Prices.from_log(frame, roles, sheet, of_costs)

    def beside_scores(self) -> tuple[str, list[str]] | None:
        """A column beside the scores: what a question costs, or the errored trials."""
        if self.prices is not None:
            places = range(len(self.sheet.board.models))
            return "cost per question", [self.prices.words(place) for place in places]
        return ("errored", errored_cells(self.sheet)) if self.sheet.main.errored else None

    @property
    def divided(self) -> bool:
        """Whether no stratum has all models, so that nothing is said over all of them."""
        return self.verdict.overall is None

    @property
    def parts(self) -> list[Scope]:
        """The strata, unless they are steps or there is one alone."""
        strata = self.verdict.parts
        return strata if self.log.steps is None and len(strata) > 1 else []


def read_story(
    frame: pl.LazyFrame,
    roles: Roles,
    asked: Wishes,
    *,
    totals: pl.DataFrame | None = None,
    tell: Callable[[str], object] = str,  # tell nobody
) -> tuple[LogSummary, pl.DataFrame, Story | ValueError | TypeError]:
    """The log, its coverage, and its story or why it cannot be scored."""
    tell("reading the log")
    log = LogSummary.read(frame, roles, totals)
    coverage = log.describe()
    tell("reporting, ranking and comparing")
    try:
        # Errored trials count as failed, and an alert says what they change.
        filled = replace(roles, missing=log.roles.missing)
        return log, coverage, Story.from_log(frame, filled, log, coverage, asked)
    except (ValueError, TypeError) as error:
        return log, coverage, error


def _about_few(finding: Finding, sheet: Sheet) -> Finding:
    """The finding, whose chip says of few questions that it is about these alone."""
    benchmark = sheet.settings.target == "benchmark"
    if sheet.asked >= FEW_QUESTIONS or not finding.mood or not benchmark:
        return finding
    return replace(finding, chip=f"{finding.chip} on {these_questions(sheet.asked)}")


def _with_prices(finding: Finding, sheet: Sheet, prices: Prices | None) -> Finding:
    if prices is None:
        return finding
    return replace(finding, numbers=f"{finding.numbers} {cost_words(sheet.board, prices)}")


_FAR = 10  # times the trials of a log, beyond which nobody plans


def next_of_ranking(sheet: Sheet, cheapest: str = "") -> list[str]:
    """Further trials, further questions, or neither: by the plan of the first two.

    With costs, advice to take the `cheapest` comes first, and none to take either.
    """
    board, main = sheet.board, sheet.main
    if not board.ranked or sheet.gap is None:
        return []
    a, b = (named(name) for name in board.models[:2])
    if len(board.leaders) == 1:
        leader, few = named(board.leaders[0]), these_questions(sheet.asked)
        only = f"Add questions: {leader} is the best on {few}, which say little about others."
        settled = f"Nothing: {leader} is the best of these models."
        return [only if sheet.asked < FEW_QUESTIONS else settled]
    if main.errored or main.judged:
        who = names_list(board.leaders)
        label = f"Label more verdicts, first those of {who}: what is unknown is the judge."
        steps = next_of_errored(sheet, board.leaders) if main.errored else [label]
        return [*[cheapest] * bool(cheapest), *steps]
    unit, gap = board.unit, sheet.gap
    bound = unit.size(max(abs(gap.lo), abs(gap.hi)))
    differ = f"{a} and {b} differ by less than {bound}"
    plan = _plan_of_first(sheet)
    power = f"{100 * POWER:g} %"
    either, steps = "Take either: ", [cheapest] * bool(cheapest)
    if plan is None:
        return [*steps, f"{either * (not cheapest)}{differ}."]
    trials, questions = plan.get("extra_trials"), plan.get("extra_questions")
    if trials is None:
        either = "Take either, or add questions: "
        steps.append(
            f"{either * (not cheapest)}{differ}, and no number of further trials of these "
            "questions is in sight that would decide it."
        )
        further = f"{count_of(questions, 'further question')} like these" if questions else ""
        return steps + [f"To decide it with a chance of {power}: {further}."] * bool(further)
    if trials > _FAR * main.fewest:
        times = (main.fewest + trials) / main.fewest
        steps.append(
            f"{either * (not cheapest)}{differ}; it would take {times:,.0f} times this log to say "
            "which is better."
        )
    further = f", or {count_of(questions, 'further question')} like these" if questions else ""
    steps.append(
        f"To decide it with a chance of {power}: {count_of(trials, 'further trial')} of each "
        f"question{further}, of both."
    )
    return steps


def _plan_of_first(sheet: Sheet) -> dict[str, Any] | None:
    """The plan of the first two models, if it has them."""
    needed = sheet.main.needed
    if needed.is_empty():
        return None
    either = pl.col("model_a", "model_b").cast(pl.String).is_in(sheet.board.models[:2])
    rows = needed.filter(pl.all_horizontal(either)).rows(named=True)
    return rows[0] if rows else None


def refusal_finding(error: Exception) -> Finding:
    """The finding about a log that cannot be scored: the reason stands below its title."""
    reason = str(error)
    # An option keeps its spelling.
    first = "" if re.match(r"[\w-]+[=:]", reason) else reason[:1].upper()
    end = "" if reason.endswith((".", "?", "!")) else "."
    said = f"{first}{reason[len(first) :]}{end}"
    return Finding("This log cannot be scored yet.", "refused", "no", numbers=said)
