"""Facts of runs of training: curves along steps, and what was gained at each k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polars_scorio.counting.log import Study, collected_together
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.rank import best, rank
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.facts.log_summary import LogSummary, stepped_log
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
        log, roles = stepped_log(summary)
        (name,) = summary.trials.strata
        asked = log.select(name, "question").unique().collect()
        whole = asked[name].n_unique() * asked["question"].n_unique()
        if summary.steps is None or asked.height != whole or asked[name].n_unique() < 2:
            return None
        labels = dict(summary.steps.select("at", "stratum").rows())
        at = [value for value in labels if value is not None]
        cells = log.collect().with_columns(
            model=pl.col(name).replace_strict(labels, return_dtype=pl.String)
        )
        steps = [labels[value] for value in at]
        cells = cells.drop(name)
        main = Scope("", Study(cells), replace(roles, model="model", by=()), (avg(),))
        main = replace(main, fewest=summary.fewest)
        fan = Fan.from_scope(main, settings, steps)
        if fan is None or fan.fractions:
            return None
        order = rank(main.study, main.roles, avg(), **settings.report).collect()
        rows = report(main.study, main.roles, [avg()], **settings.report).collect()
        curve = _gain_curve(main, fan.k, steps[0], steps[-1], settings)
        chosen = best(main.study, main.roles, avg(), **settings.report).collect()
        ends = chosen.select("best_lo", "best_hi").row(0)
        wide = main.question_scores().pivot("model", index="question", values="score")
        wide = wide.sort(steps[0], steps[-1], "question")
        names = wide["question"].cast(pl.String).to_list()
        shares, board = wide.select(steps).to_numpy().T.clip(0, 1), Board.from_rows(rows, order)
        return cls(steps, step_places(at), fan, curve, board, name, ends, names, shares, about)

    def turned_questions(self, *, lost: bool) -> list[str]:
        """Questions with a trial that counts at the first step alone, or at the last one alone."""
        one, other = (self.shares[each] for each in ((0, -1) if lost else (-1, 0)))
        return [name for name, gone in zip(self.questions, (one > 0) & (other == 0), strict=True)
                if gone]  # fmt: skip


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


def step_places(at: Sequence[object]) -> list[float]:
    """Places of steps, in percent: as far apart as their numbers or times."""
    numbers = pl.Series(at).to_physical().cast(pl.Float64).to_numpy()
    return [float(each) for each in 100 * (numbers - numbers[0]) / (numbers[-1] - numbers[0])]


FDR = 0.1  # false discovery rate of single questions


@dataclass(frozen=True, slots=True, eq=False)
class StepQuestions:
    """The questions of a run that got better since the first step, and worse, each by its test."""

    run: TrainingRun
    won: list[str]
    lost: list[str]

    @classmethod
    def from_summary(cls, run: TrainingRun, log: LogSummary) -> StepQuestions:
        """The last step of a run against the first one."""
        cells = log.cells.with_columns(model=pl.col("stratum").cast(pl.String)).drop("stratum")
        two = Study(cells.filter(pl.col("model").is_in([run.steps[0], run.steps[-1]])))
        roles, first = replace(log.roles, by=()), run.steps[0]
        tests = collected_together([
            regressed_questions(two, roles, first, fdr=FDR, improvements=better)
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
        log, roles = stepped_log(summary)
        (name,), board = summary.trials.strata, sheet.board
        rows = report(log, roles, [sheet.main.lead], **sheet.settings.report).collect()
        rows = rows.with_columns(pl.col("model").cast(pl.String))
        at = rows[name].unique().sort().drop_nulls().to_list()
        if len(at) < 2:
            return None
        places = dict(zip(at, step_places(at), strict=True))
        rows = rows.with_columns(place=pl.col(name).replace_strict(places, default=None))
        known = rows.sort("place").drop_nulls("mu").select("model", "place", "mu", "lo", "hi")
        numbers = [known.filter(model=model).drop("model").cast(pl.Float64).to_numpy().T
                   for model in board.models]  # fmt: skip
        highest = rows.filter(pl.col("mu") == pl.col("mu").max().over(name))
        leading = highest.filter(model=board.models[0])[name].n_unique()
        steps = [(places[value], step_words(str(value))) for value in at]
        span = [*rows["lo"].drop_nulls(), *rows["hi"].drop_nulls()]
        return cls(name, lead_label(sheet.main), sheet.settings.level, board, steps, numbers, span,
                   leading)  # fmt: skip
