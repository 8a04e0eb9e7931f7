"""Facts of the questions of a log, and of what k trials of each can reach."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polars_scorio.arguments import QuestionUnit
from polars_scorio.decisions.question_analysis import question_analysis
from polars_scorio.display.facts.ranking_facts import Board, score_matrix
from polars_scorio.display.facts.scopes import (
    Scope,
    average_metric,
    drawn_metrics,
    holds_fractions,
    knows_success,
)
from polars_scorio.display.numbers import SAME, Unit
from polars_scorio.display.phrases import success_word
from polars_scorio.display.settings import Settings
from polars_scorio.maths.array_rows import Floats
from polars_scorio.study.report import report

_DRAWN = 64  # most trials of a curve


@dataclass(frozen=True, slots=True, eq=False)
class Fan:
    """Pass@k and Pass^k of all models at 1, 2, 4, ... tries: (2, L, K, 3) of mu, lo and hi."""

    models: list[str]
    k: tuple[int, ...]
    numbers: Floats
    unit: Unit
    fractions: bool  # categories are numbers, of which the best and the worst are taken
    averaged: bool  # means of strata, which are no shares of the questions
    word: str  # for a trial that counts
    hues: Sequence[str] = ()  # of the models

    @classmethod
    def from_scope(
        cls, main: Scope, settings: Settings, models: Sequence[str], hues: Sequence[str] = ()
    ) -> Fan | None:
        """None without several trials, or where it is unknown what succeeds."""
        fractions = holds_fractions(main.counts, main.roles)
        if main.fewest == 1 or not (fractions or knows_success(main.counts, main.roles)):
            return None
        sizes = tuple(2**power for power in range(min(main.fewest, _DRAWN).bit_length()))
        kinds = drawn_metrics(list(sizes), fractions=fractions)
        bands = settings.prior is None and main.banded
        options = settings.report
        rows = main.numbers(report, kinds, simultaneous=bands, **options).collect()
        keys = pl.DataFrame(
            [(metric.name, model, k) for metric in kinds for model in models for k in sizes],
            schema=["metric", "model", "k"], orient="row",
        )  # fmt: skip
        rows = rows.with_columns(pl.col("model").cast(pl.String))
        scores = keys.join(rows, on=keys.columns, how="left", maintain_order="left")
        ends = scores.select(pl.col("mu", "lo", "hi").cast(pl.Float64).fill_nan(None))
        numbers = ends.fill_null(math.nan).to_numpy().reshape(2, len(models), len(sizes), 3)
        if not np.isfinite(numbers[:, 0]).all():
            return None
        return cls([*models], sizes, numbers, Unit.from_rows(ends), fractions, bool(main.weights),
                   success_word(main.roles), hues)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SolvedFacts:
    """The questions of one stratum that are never solved, and those that always are."""

    unit: QuestionUnit
    number: int
    one: bool  # a single model
    names: Mapping[str, Sequence[object]]  # "never" and "always"; empty if nothing is solved
    removable: float | None  # share of a variance that more trials remove

    @classmethod
    def from_rows(
        cls, rows: pl.DataFrame, question: str, unit: QuestionUnit = "question"
    ) -> SolvedFacts:
        """From rows of `Scorio.questions`."""
        known = rows["solved_by"].count() > 0
        names = {
            status: rows.filter(status=status).sort(question)[question].to_list()
            for status in ("never", "always")
            if known
        }
        share = rows["removable"][0] if rows.height else None
        return cls(unit, rows.height, rows["models"].max() == 1, names, share)


@dataclass(frozen=True, slots=True, eq=False)
class QuestionFacts:
    """The scores of all questions, (L, M), the hardest first, and what is said of single ones."""

    models: Sequence[str]
    leading: Sequence[bool]  # whether a model may be the best
    names: list[str]
    scores: Floats
    never: list[str]
    always: list[str]
    mixed: list[str]  # both ways for the first model, the nearest to a coin toss first
    trials: int  # of a question, the fewest
    verdicts: bool  # scores of verdicts as they are
    fractions: bool  # nothing is solved, and nothing is a coin toss
    word: str  # for a trial that counts

    @classmethod
    def from_scope(cls, main: Scope, board: Board, settings: Settings) -> QuestionFacts:
        """Scores of outcomes as they are, whoever gave them."""
        corrected, main = main, main.of_verdicts()
        fractions = holds_fractions(main.counts, main.roles)
        w = average_metric(main.lead).w
        weights: Any = None if w is None else dict(w)  # words or numbers
        rows = question_analysis(
            main.study, main.roles, weights, confidence=settings.confidence
        ).collect()
        names, scores = score_matrix(main, board.models)
        low, high = average_metric(main.lead).support
        if fractions:
            low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
        share = (scores - low) / (high - low if high > low else 1.0)
        status = pl.col("question").cast(pl.String)
        of = {
            kind: rows.filter(pl.col("status") == kind, not fractions)
            .select(status).to_series().to_list()
            for kind in ("never", "always")
        }  # fmt: skip
        first = share[0]
        both = np.flatnonzero((first > SAME) & (first < 1 - SAME) & (not fractions))
        mixed = [names[each] for each in both[np.argsort(np.abs(first[both] - 0.5), kind="stable")]]
        return cls(board.models, board.first_tier.tolist(), names, np.clip(share, 0, 1),
                   of["never"], of["always"], mixed, main.fewest, corrected is not main, fractions,
                   success_word(main.roles))  # fmt: skip

    @property
    def alike(self) -> bool:
        """Whether several models have the same score at every question."""
        return len(self.scores) > 1 and bool((np.ptp(self.scores, axis=0) < SAME).all())
