"""The part of a page that compares two models, and all pairs of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polars_scorio.display.html.page import Section
from polars_scorio.display.html.page_tables import Column, Table
from polars_scorio.display.number_format import MISSING, probability_text
from polars_scorio.display.phrases import count_of, short_name
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.headline import lead_label, pair_gap
from polars_scorio.display.verdict.scopes import ASSURANCE, Scope

_MATRIX = 25  # models, whose pairs a table can show
_PAIRED = 60  # models, all of whose pairs the page holds; of more only those with the first one
_SAME = 1e-9  # scores that differ by less are the same


def pair_section(main: Scope, settings: Settings) -> Section:
    """Section on the first model against the second one, and on all pairs."""
    first, second, *_ = main.models
    undecided = main.pairs["better"].null_count()
    at_once = "" if main.pairs.height == 1 else ", for all pairs at once"
    lines = [
        (
            f"{undecided:,} of {count_of(main.pairs.height, 'pair')} undecided at {settings.level} "
            f"confidence{at_once}."
        )
    ]
    shown = {"": _versus_table(main, first, second)}
    if 2 < len(main.models) <= _MATRIX:  # two have one pair
        shown["Every model against every other"] = _matrix_table(main)
    return Section("compare", "Compare two models", lines, tables=shown)


def page_pairs(scope: Scope) -> pl.DataFrame:
    """The pairs of a page, with the questions that each side wins.

    Of more than 60 models only the pairs of the first one: the file would grow with the square.
    """
    columns = ("model_a", "model_b", "diff", "lo", "hi", "prob", "better")
    pairs = scope.pairs.select(columns)
    if len(scope.models) > _PAIRED:
        first = scope.models[0]
        pairs = pairs.filter(pl.any_horizontal(pl.col("model_a", "model_b") == first))
    wins, losses, shared = _question_wins(scope, pairs.select("model_a", "model_b").rows())
    return pairs.with_columns(
        wins=pl.Series(wins, dtype=pl.Int64),
        losses=pl.Series(losses, dtype=pl.Int64),
        ties=pl.Series(shared, dtype=pl.Int64),
    )


def _question_wins(
    scope: Scope, pairs: Sequence[tuple[str, str]]
) -> tuple[list[int], list[int], list[int]]:
    """Numbers of questions that the first model of each pair wins, loses and ties."""
    wide = scope.of_verdicts().question_scores().pivot("model", index="question", values="score")
    scores = {name: wide[name].to_numpy() for name in wide.columns if name != "question"}
    gaps = [scores[a] - scores[b] for a, b in pairs]
    wins = [int(np.count_nonzero(gap > _SAME)) for gap in gaps]
    losses = [int(np.count_nonzero(gap < -_SAME)) for gap in gaps]
    return wins, losses, [wide.height - won - lost for won, lost in zip(wins, losses, strict=True)]


def _versus_table(scope: Scope, first: str, second: str) -> Table:
    """Table of difference, probability, questions won, and what would decide the pair."""
    gap = pair_gap(scope, first, second)
    ((won,), (lost,), (tied,)) = _question_wins(scope, [(first, second)])
    facts = {
        "difference": gap.words(scope),
        "verdict": f"{short_name(gap.better)} is better" if gap.better else "undecided",
        f"P({short_name(first)} is better)": probability_text(gap.prob),
        "questions won, tied, lost": f"{won:,}, {tied:,}, {lost:,}",
    }
    if gap.better is None and not scope.judged:
        facts["what would decide it"] = _deciding_words(scope, first, second)
    title = f"{short_name(first)} against {short_name(second)}"
    return Table(
        [
            Column(lead_label(scope), [*facts], number=False, names=True),
            Column(title, [*facts.values()], number=False),
        ],
        caption=title,
        kind="versus",
    )


def _deciding_words(scope: Scope, first: str, second: str) -> str:
    """Sentence on the trials or questions that would decide a pair, if the plan has it."""
    if scope.needed.is_empty():
        return MISSING
    either = pl.col("model_a", "model_b").is_in([first, second])
    rows = scope.needed.filter(pl.all_horizontal(either)).rows(named=True)
    if not rows:
        return MISSING
    (row,) = rows
    if row["extra"] is not None:
        return (
            f"{count_of(row['extra'], 'further trial')} of each question, with a probability of "
            f"{100 * ASSURANCE:g} %"
        )
    if row.get("questions_extra") is not None:
        return f"no number of trials; {count_of(row['questions_extra'], 'further question')} may"
    return "no number of trials"


def _matrix_table(scope: Scope) -> Table:
    """Probability that the model of a row is better than that of a column."""
    prob, sure = {}, set()
    for a, b, value, better in scope.pairs.select("model_a", "model_b", "prob", "better").rows():
        if value is None:  # a model without numbers
            continue
        prob[a, b], prob[b, a] = value, 1 - value
        if better is not None:
            sure |= {(a, b), (b, a)}
    models = scope.models
    columns = [Column("better than", [*map(short_name, models)], number=False, names=True)]
    for other in models:
        cells = [_chance_text(prob.get((name, other))) for name in models]
        shades = [
            _chance_shade(prob.get((name, other)), sure=(name, other) in sure) for name in models
        ]
        columns.append(Column(short_name(other), cells, shades=shades))
    note = (
        "Probability that the model of the row is better than that of the column; bold: decided, "
        "for all pairs at once."
    )
    return Table(columns, note, "Every pair of models", "heat", folded="All pairs as a matrix")


def _chance_text(value: float | None) -> str:
    """A probability with two digits, which never says that something is certain."""
    if value is None:
        return ""
    return ">.99" if value > 0.995 else "<.01" if value < 0.005 else f"{value:.2f}"[1:]


def _chance_shade(value: float | None, *, sure: bool) -> str:
    if value is None:
        return "self"
    return f"p{min(int(10 * value), 9)}" + " sure" * sure
