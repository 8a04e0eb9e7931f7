"""The story of a log: one reading of it, and the account that all media show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from polars_scorio.arguments import value_text
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.display.blocks import Account
from polars_scorio.display.facts.gate_facts import Gated
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.log_verdict import LogVerdict, log_verdict
from polars_scorio.display.facts.question_facts import Fan, QuestionFacts
from polars_scorio.display.facts.ranking_facts import (
    Divided,
    Errored,
    Gap,
    OneModel,
    PlanFacts,
    RankingFacts,
    Sheet,
    as_number,
    decided_alone,
    stratum_boards,
)
from polars_scorio.display.facts.role_facts import Prices, judge_winner
from polars_scorio.display.facts.run_facts import TrainingRun
from polars_scorio.display.facts.scopes import (
    Scope,
    knows_success,
    lead_rows,
    metric_rows,
    without_repeated_warnings,
)
from polars_scorio.display.numbers import Unit, money_text
from polars_scorio.display.settings import Settings
from polars_scorio.display.words.gate_words import gate_steps, tell_gate
from polars_scorio.display.words.log_words import careful_steps, error_alert
from polars_scorio.display.words.ranking_words import (
    divided_steps,
    errored_steps,
    one_model_steps,
    ranking_steps,
    tell_divided,
    tell_one_model,
    tell_ranking,
    with_bias,
)
from polars_scorio.display.words.run_words import tell_run, training_steps
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.report import report


@dataclass(frozen=True, slots=True, eq=False)
class StoryOptions:
    """Options of a story: metrics (none: what suits it), options, and a baseline."""

    metrics: tuple[Metric, ...]
    settings: Settings
    baseline: Category | None = None
    margin: float | None = None  # of a gate against the baseline
    gates: pl.DataFrame | None = None  # of a gate that was taken already

    def __post_init__(self) -> None:
        """Refuse a baseline without a margin, which nobody else may choose."""
        if not isinstance(self.baseline, Category | None):
            given = value_text(self.baseline)
            raise TypeError(f"baseline must be a model or None, got {given}")
        if self.baseline is not None and self.margin is None:
            raise ValueError(
                "with baseline= a page is about a gate, which has a margin: pass margin=, the "
                "score that a candidate may lose, as in margin=0.02; or omit baseline= for a "
                "page that compares all models"
            )
        if self.margin is not None and self.baseline is None:
            raise ValueError("margin= belongs to a gate: name its baseline with baseline=")


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """The numbers of a log that can be scored, and the account of them."""

    log: LogSummary
    coverage: pl.DataFrame
    asked: StoryOptions
    verdict: LogVerdict
    sheet: Sheet  # of the whole log, or of its first stratum
    account: Account = field(default_factory=lambda: Account(()))
    steps: Sequence[str] = ()  # what to do next
    fan: Fan | None = None  # Pass@k and Pass^k
    questions: QuestionFacts | None = None
    gated: Gated | None = None
    run: TrainingRun | None = None
    prices: Prices | None = None

    @classmethod
    def from_log(
        cls, frame: pl.LazyFrame, roles: Roles, log: LogSummary, coverage: pl.DataFrame,
        asked: StoryOptions,
    ) -> Story:  # fmt: skip
        """The story of a log that was counted; refuses what a report refuses."""
        verdict = log_verdict(log, coverage, asked.metrics, asked.settings)
        with without_repeated_warnings():
            sheet = Sheet.from_scope(verdict.main, asked.settings)
            made = cls(log, coverage, asked, verdict, sheet)
            read = made if made.divided else made._read(frame, roles)
            account, steps = read.account_and_steps()
        bias = verdict.bias
        account = account if bias is None else with_bias(account, bias.names, bias.sentence)
        account = Account([*account.blocks, *error_alert(verdict.findings)])
        return replace(read, account=account, steps=careful_steps(steps, verdict.findings))

    def _read(self, frame: pl.LazyFrame, roles: Roles) -> Story:
        """The story with the numbers of its kind."""
        main, settings, asked = self.sheet.main, self.asked.settings, self.asked
        board, numbered = self.sheet.board, bool(self.sheet.main.rows["mu"].count())
        made = replace(self, questions=QuestionFacts.from_scope(main, board, settings))
        if asked.baseline is not None and asked.margin is not None:
            about = replace(self.sheet.about, family="")
            gated = Gated.from_log(self.verdict.counted, main, asked.baseline, settings,
                                   asked.margin, about, asked.gates)  # fmt: skip
            order = list(dict.fromkeys([gated.gate.line.model, gated.baseline, *board.models]))
            hues = ["a", "m", *["o"] * len(order)]
            fan = Fan.from_scope(main, settings, order, hues) if numbered else None
            return replace(made, gated=gated, fan=fan)
        hues = [*map(board.hue, range(len(board.models)))]
        fan = Fan.from_scope(main, settings, board.models, hues) if numbered else None
        made = replace(made, fan=fan)
        if self.log.steps is not None and len(board.models) == 1:
            run = TrainingRun.from_summary(self.verdict.counted, settings, self.sheet.about)
            if run is not None and main.errored:
                raise ValueError(
                    'missing="bounds" has no curves along steps: pass missing="drop", or the '
                    "category that a missing outcome is"
                )
            if run is not None:
                return replace(made, run=run)
        return replace(made, prices=self._read_prices(frame, roles))

    def account_and_steps(self) -> tuple[Account, Sequence[str]]:
        """The account of the log, and the steps to take next."""
        if self.divided:
            about = replace(self.sheet.about, target="", family="", few="")
            boards = stratum_boards(self.parts)
            divided = Divided(len(self.log.models), self.log.noun, about, boards)
            return tell_divided(divided), divided_steps(divided)
        if self.gated is not None:
            gate, errored = self.gated.gate, self._errored()
            if errored is None or gate.line.verdict != "undecided":
                return tell_gate(gate), gate_steps(gate)
            two = (gate.line.model, self.gated.baseline)
            return tell_gate(gate), errored_steps({name: errored.of_models[name] for name in two})
        if self.run is not None:
            return tell_run(self.run), training_steps(self.run)
        if len(self.sheet.board.models) == 1:
            one = self.one_model()
            return tell_one_model(one), one_model_steps(one)
        ranking = self.ranking()
        return tell_ranking(ranking), ranking_steps(ranking)

    def ranking(self) -> RankingFacts:
        """Facts of several models."""
        sheet, main, settings = self.sheet, self.sheet.main, self.asked.settings
        best = main.best.select("best_lo", "best_hi").rows() if main.best.height else []
        selected = bool(best) and len(sheet.board.models) > 2 and None not in best[0]
        return RankingFacts(
            sheet.board, sheet.about, main.name, sheet.gap,
            0 if main.errored else decided_alone(main.pairs, settings.confidence),
            paired=True, plan=_plan_of_first(sheet), selected=best[0] if selected else None,
            questions=sheet.asked,
            costs=None if self.prices is None else self.prices.costs(main.pairs),
            runs=self.verdict.runs == "other", judged=main.judged,
            judge_names=judge_winner(main, settings) if main.judged else None,
            errored=self._errored(), further=[*_further_numbers(sheet)],
        )  # fmt: skip

    def _errored(self) -> Errored | None:
        """The trials that may have failed or been solved."""
        sheet, main = self.sheet, self.sheet.main
        if not main.errored:
            return None
        rows = sheet.board.rows_of(lead_rows(main))
        known = rows.select("errored", "trials", "lo_missing", "hi_missing").rows()
        words = [
            f"{errored:,} of {trials:,}{f': to {sheet.board.unit.score(most)}' if errored else ''}"
            for errored, trials, _, most in known
        ]
        readings = {**main.readings, "anything they could have been": main.pairs}
        gaps = {
            meaning: Gap.from_pairs(pairs, *sheet.board.models[:2])
            for meaning, pairs in readings.items()
            if len(sheet.board.models) > 1
        }
        both = pl.all_horizontal(pl.col("model_a", "model_b").is_in(sheet.board.leaders))
        decisive = any(rows.filter(both)["better"].count() for rows in main.readings.values())
        of_models = dict(zip(sheet.board.models, (each[0] for each in known), strict=True))
        return Errored(
            main.errored, {name: gap for name, gap in gaps.items() if gap is not None}, decisive,
            of_models, (as_number(known[0][2]), as_number(known[0][3])), words,
        )  # fmt: skip

    def one_model(self) -> OneModel:
        """Facts of a single model."""
        sheet, main, fan = self.sheet, self.sheet.main, self.fan
        unit, rewards = sheet.board.unit, fan is not None and fan.fractions
        # An attack that succeeds is no right answer, and a mean of strata no share of questions.
        shares = unit.percent and not rewards and not main.roles.lower_is_better
        assert self.questions is not None  # of every log with numbers
        parts = [(part.name, _three_numbers(lead_rows(part).select("mu", "lo", "hi").row(0)))
                 for part in self.parts]  # fmt: skip
        parts.sort(key=lambda each: -(each[1][0] if each[1][0] == each[1][0] else 0.0))
        return OneModel(
            sheet.board, sheet.about, main.name, population_interval(sheet), parts, sheet.asked,
            None if fan is None or rewards else unit.score(fan.numbers[1, 0, -1, 0]),
            1 if fan is None else fan.k[-1], len(self.questions.mixed),
            shares and not main.weights, main.lead.name in {"avg", "bayes"},
            lead_rows(main)["estimate"].item(), main.each,
            "" if self.prices is None else money_text(self.prices.money[0, 0]), self._errored(),
        )  # fmt: skip

    def _read_prices(self, frame: pl.LazyFrame, roles: Roles) -> Prices | None:
        of_costs = [metric for metric in self.asked.metrics if metric.looks_at == "costs"]
        main = self.sheet.main
        if not (of_costs or knows_success(main.counts, main.roles, main.metrics)):
            return None
        return Prices.from_log(frame, roles, self.sheet, of_costs)

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
    asked: StoryOptions,
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


def population_interval(sheet: Sheet) -> tuple[float, float, float] | None:
    """Score and interval for questions like these; None where they cannot be had."""
    main, sure = sheet.main, sheet.settings.confidence
    several = main.counts["question"].n_unique() > 1
    if main.judged or sheet.population or sheet.settings.prior is not None or not several:
        return None
    row = main.numbers(report, [main.lead], target="population", confidence=sure).collect()
    numbers = row.select("mu", "lo", "hi").row(0)
    return None if None in numbers else _three_numbers(numbers)


def _three_numbers(numbers: tuple[object, ...]) -> tuple[float, float, float]:
    first, second, third = map(as_number, numbers)
    return first, second, third


def _plan_of_first(sheet: Sheet) -> PlanFacts | None:
    """The plan of the first two models, if it has them."""
    needed = sheet.main.needed
    if needed.is_empty():
        return None
    either = pl.col("model_a", "model_b").cast(pl.String).is_in(sheet.board.models[:2])
    rows = needed.filter(pl.all_horizontal(either)).rows(named=True)
    if not rows:
        return None
    trials, questions = rows[0]["extra_trials"], rows[0].get("extra_questions")
    return PlanFacts(trials, questions, sheet.main.fewest)


def _further_numbers(
    sheet: Sheet,
) -> Sequence[tuple[str, Unit, Sequence[tuple[float, float, float]]]]:
    """The metrics beside the leading one, at each k: lo, middle and hi of each model."""
    main, board = sheet.main, sheet.board
    further = []
    asked = [(metric, k) for metric in main.metrics for k in metric.row_sizes]
    for metric, k in asked[1:]:
        scores = board.rows_of(metric_rows(main, metric, k))
        numbers = scores.select(pl.col("lo", "mu", "hi").cast(pl.Float64).fill_null(float("nan")))
        further.append((metric.heading(k, main.each), Unit.from_rows(scores), numbers.rows()))
    return further
