"""Facts of runs of training: curves along steps, and what was gained at each k."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polars_scorio.counting.log import Study, collected_together
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.rank import best
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.facts.gate_facts import FDR
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.question_facts import Fan
from polars_scorio.display.facts.ranking_facts import About, Board, Curve, Gap, Sheet
from polars_scorio.display.facts.scopes import Scope, lead_label
from polars_scorio.display.phrases import step_words
from polars_scorio.display.settings import Settings
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.families import statement_number
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.report import report


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun:
    """One run of training: Pass@k and Pass^k at each step, and the last step against the first."""

    steps: list[str]  # labels, ascending
    places: list[float]  # of the steps, in percent of the way from the first to the last
    fan: Fan  # with steps in place of models
    curve: Curve
    board: Board  # steps by one try, the best first
    name: str  # of the column of steps
    best: tuple[float, float]  # interval of the highest step, corrected for the selection
    questions: list[str]  # the hardest at the first step first
    shares: Floats  # the score of each question at each step, (S, M)
    about: About

    @classmethod
    def from_summary(
        cls, summary: LogSummary, settings: Settings, about: About
    ) -> TrainingRun | None:
        """None if the questions change along the steps, or if nothing can be drawn of them."""
        cells, roles = _steps_as_models(summary)
        asked, known = cells.select("model", "question").unique(), summary.steps
        whole = asked["model"].n_unique() * asked["question"].n_unique()
        if known is None or asked.height != whole or asked["model"].n_unique() < 2:
            return None
        known = known.drop_nulls("at")
        steps = known["stratum"].to_list()
        main = Scope("", Study(cells), roles, (avg(),), fewest=summary.fewest)
        fan = Fan.from_scope(main, settings, steps)
        if fan is None or fan.fractions:
            return None
        ranked = main.ranked(settings)
        curve = _gain_curve(main, fan.k, steps[0], steps[-1], settings)
        chosen = best(main.study, main.roles, avg(), **settings.report).collect()
        ends = chosen.select("best_lo", "best_hi").row(0)
        wide = main.question_scores().pivot("model", index="question", values="score")
        wide = wide.sort(steps[0], steps[-1], "question")
        names = wide["question"].cast(pl.String).to_list()
        shares = wide.select(steps).to_numpy().T.clip(0, 1)
        board = Board.from_rows(ranked.rows, ranked.ranks)
        return cls(steps, _step_places(known["at"]), fan, curve, board, summary.noun, ends, names,
                   shares, about)  # fmt: skip

    def turned_questions(self, *, lost: bool) -> list[str]:
        """Questions with a trial that counts at the first step alone, or at the last one alone."""
        one, other = (self.shares[each] for each in ((0, -1) if lost else (-1, 0)))
        return [name for name, gone in zip(self.questions, (one > 0) & (other == 0), strict=True)
                if gone]  # fmt: skip


def _steps_as_models(summary: LogSummary) -> tuple[pl.DataFrame, Roles]:
    """The counts of a run whose steps stand in place of its model, and their roles."""
    steps = summary.cells.with_columns(model="stratum").drop("stratum")
    return steps, replace(summary.roles, by=())


def _gain_curve(
    main: Scope, sizes: tuple[int, ...], first: str, last: str, settings: Settings
) -> Curve:
    """The last step less the first one at each k, with one confidence for all k."""
    two = Study(main.counts.filter(pl.col("model").is_in([first, last])))
    metric, band_of = pass_at_k(list(sizes)), settings.prior is None
    number = statement_number(sizes, np.ones(len(sizes), np.bool_), draws=True).item()
    alone = replace(settings, confidence=settings.confidence ** (1 / number))
    options = settings.report if band_of else alone.report
    rows = compare(two, main.roles, metric, simultaneous=band_of, **options).collect()
    gaps = [Gap.from_pairs(rows.filter(k=k), last, first) for k in sizes]
    diff, lo, hi = np.array([(of.diff, of.lo, of.hi) if of else (np.nan,) * 3 for of in gaps]).T
    named = [gap.better if gap else None for gap in gaps]
    better = np.array([0 if name is None else 1 if name == last else -1 for name in named])
    return Curve(sizes, diff, lo, hi, better, (step_words(first), step_words(last)), settings.level)


def _step_places(at: pl.Series) -> list[float]:
    """Places of steps, in percent: as far apart as their numbers or times."""
    numbers = at.to_physical().cast(pl.Float64)
    return [*(100 * (numbers - numbers[0]) / (numbers[-1] - numbers[0]))]


@dataclass(frozen=True, slots=True, eq=False)
class StepQuestions:
    """The questions of a run that got better since the first step, and worse, each by its test."""

    run: TrainingRun
    won: list[str]
    lost: list[str]

    @classmethod
    def from_summary(cls, run: TrainingRun, log: LogSummary) -> StepQuestions:
        """The last step of a run against the first one."""
        cells, roles = _steps_as_models(log)
        two = Study(cells.filter(pl.col("model").is_in([run.steps[0], run.steps[-1]])))
        tests = collected_together([
            regressed_questions(two, roles, run.steps[0], fdr=FDR, improvements=better)
            for better in (True, False)
        ])  # fmt: skip
        kept = (each.filter(pl.col("qvalue") <= FDR).sort("qvalue", "question") for each in tests)
        won, lost = (each["question"].cast(pl.String).to_list() for each in kept)
        return cls(run, won, lost)


@dataclass(frozen=True, slots=True, eq=False)
class SeveralRuns:
    """Several runs of training along their steps, by the leading metric."""

    name: str  # of the column of steps
    metric: str
    level: str
    board: Board
    steps: list[tuple[float, str]]  # their places in percent, and their labels
    numbers: list[Floats]  # of each run: place, mu, lo and hi of its steps, (4, S)
    span: list[float]  # the ends of all intervals
    leading: int  # steps at which the first run has the highest score

    @classmethod
    def from_summary(cls, summary: LogSummary, sheet: Sheet) -> SeveralRuns | None:
        """None of a single step."""
        assert summary.steps is not None  # the strata are steps
        steps, board = summary.steps.drop_nulls("at"), sheet.board
        if steps.height < 2:
            return None
        steps = steps.with_columns(place=pl.Series(_step_places(steps["at"])))
        plan = report(summary.cells.lazy(), summary.roles, [sheet.main.lead],
                      **sheet.settings.report)  # fmt: skip
        rows = plan.collect().join(steps, on="stratum").sort("place")
        known = rows.drop_nulls("mu").select("model", "place", "mu", "lo", "hi")
        numbers = [known.filter(model=model).drop("model").cast(pl.Float64).to_numpy().T
                   for model in board.models]  # fmt: skip
        highest = rows.filter(pl.col("mu") == pl.col("mu").max().over("stratum"))
        leading = highest.filter(model=board.models[0])["stratum"].n_unique()
        labels = [(place, step_words(str(at))) for _, at, place in steps.rows()]
        span = [*rows["lo"].drop_nulls(), *rows["hi"].drop_nulls()]
        return cls(summary.noun, lead_label(sheet.main), sheet.settings.level, board, labels,
                   numbers, span, leading)  # fmt: skip
