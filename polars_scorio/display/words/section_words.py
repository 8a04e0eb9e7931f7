"""Sections of a page about several models: their findings, and how to read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polars_scorio.display.blocks import (
    Cell,
    Column,
    Drawing,
    Figure,
    Line,
    Section,
    TableBlock,
    TableRow,
    Text,
)
from polars_scorio.display.facts.question_facts import Fan, QuestionFacts
from polars_scorio.display.facts.ranking_facts import (
    AllPairs,
    Board,
    Duel,
    Strata,
    Winners,
    sure_winners,
)
from polars_scorio.display.numbers import MANY, chance_words, named, names_list, shown_models
from polars_scorio.display.phrases import all_of, count_of, short_name, without_stratum
from polars_scorio.display.words.ranking_words import score_cell
from polars_scorio.maths.array_rows import Floats

_OPEN, _STRATA = 12, 40  # that are drawn before a fold, and at all
_FEWEST, _WIDE = 6, 15  # models whose pairs are drawn, and the most in wide cells


def first_of_many(drawn: int, number: int) -> str:
    """How many models are drawn, if not all of them."""
    return f" The first {drawn} of {number:,} models." if number > drawn else ""


def pairs_section(facts: AllPairs) -> Section:
    """A staircase: filled where the model of the row is better than that of the column."""
    models, whole, every = facts.models[:MANY], len(facts.models), len(facts.pairs)
    decided = sum(sure for *_, sure in facts.pairs)
    title = f"{decided:,} of {every:,} pairs are decided."
    if whole < _FEWEST:
        return Section("pairs", title if every > 1 else "")
    said = ("Filled: the model of the row is better than the model of the column, beyond chance; "
            "pale: undecided. The columns have the order of the "
            f"rows.{first_of_many(len(models), whole)}"
            )  # fmt: skip
    place = {name: row for row, name in enumerate(models)}
    cells: dict[str, list[tuple[int, int]]] = {"sure": [], "open": []}
    for a, b, sure in facts.pairs:
        if a in place and b in place:
            row, column = sorted((place[a], place[b]))
            cells["sure" if sure else "open"].append((row, column))
    data = {"names": models, "cells": cells, "wide": len(models) <= _WIDE}
    alike = len(models) < whole or decided in {0, every}
    return Section("pairs", title, [said], [Drawing("stairs", data, title)], folded=alike)


def strata_title(facts: Winners) -> str:
    """Heading over strata: the first model of each, and its sure winner where it has one."""
    sure, leader, noun = facts.sure, facts.leader, facts.noun
    winners = list(dict.fromkeys(sure.values()))
    if len(winners) > 1:
        clauses = [
            f"{named(model)} wins {names_list([p for p in sure if sure[p] == model])}"
            for model in winners[:3]
        ]
        return "; ".join(clauses) + "."
    if set(facts.firsts.values()) == {leader}:
        where = f"significantly in {len(sure):,}" if sure else "significantly in none"
        return f"{named(leader)} is first in every {noun}, {where}."
    if sure:
        where = names_list([*sure])
        return f"{named(winners[0])} wins {where}; elsewhere the winner is undecided."
    return f"No {noun} has a sure winner."


def duel_section(duel: Duel | None) -> Section:
    """The difference of the first two: 20 dots of equal chance, the interval, the questions."""
    if duel is None:
        return Section("duel", "")
    (a, b, *rest), gap, unit = duel.board.models, duel.gap, duel.board.unit
    chances = [(b, 1 - gap.prob_better), (a, gap.prob_better)]
    sides = [f"{named(name)} better: {chance_words(chance)}" for name, chance in chances]
    won, tied, lost = duel.wins
    parts = [(lost, "b", count_of(lost, "question")), (tied, "t", f"{tied:,} alike"),
             (won, "a", count_of(won, "question"))]  # fmt: skip
    hues = "ba" if duel.lower else "ab"
    data = {"sides": sides[:: -1 if duel.lower else 1], "zero": "no difference",
            "dots": [(place, hues[place <= 0]) for place in duel.places],
            "numbers": [(each, unit.gap(each)) for each in (gap.lo, gap.diff, gap.hi)],
            "parts": [part for part in parts if part[0]],
            "said": f"{b} better at {lost}, alike at {tied}, {a} better at {won}"}  # fmt: skip
    words = [
        ("Each dot is one chance in 20 of where the true difference lies"
         f"{', in points' if unit.percent else ''}, for this pair by itself. The line below is the "
         f"{duel.level} interval{', for all pairs at once' if rest else ''}."),
        "The bar counts the questions on which each is better.",
    ]  # fmt: skip
    label = f"{a} minus {b}: {unit.gap(gap.diff, points=True)} {unit.gaps(gap.lo, gap.hi)}"
    return Section("duel", f"{named(a)} or {named(b)}?", words, [Drawing("duel", data, label)])


def strata_section(facts: Strata) -> Section:
    """A line for each stratum, the largest lead of the first model on top.

    Of many strata those with a winner come first, and the others are in a fold.
    """
    boards, whole, number = facts.boards, facts.whole, len(facts.boards)
    sure, many = sure_winners(boards), number > _OPEN
    order = sorted(boards, key=lambda name: (many and name not in sure, -facts.lead(name)))
    drawn, folded = order[:_STRATA], bool(whole.ranked and not sure)
    opened = len(drawn) if folded else _OPEN
    rest = f" The other {number - _STRATA:,} are in the data." if number > _STRATA else ""
    grey = "; grey: the others" if len(whole.models) > 2 else ""
    every = [v for each in boards.values() for v in (*each.lo, *each.hi, *each.score)]
    data = {"rows": [_stratum_row(name, boards[name], whole) for name in drawn], "opened": opened,
            "fold": f"{len(drawn) - opened:,} more", "span": every, "percent": whole.unit.percent,
            "key": [*zip("ab", map(named, whole.models), strict=False)],
            "note": f", with {facts.level} intervals{grey}.{rest}"}  # fmt: skip
    said = f"Right: the winner, for {all_of(number)} at once, or every model that may win."
    return Section("strata", strata_title(facts.winners), [said], [Drawing("strata", data)], folded)


def _stratum_row(name: str, part: Board, whole: Board) -> tuple[str, list[Any], Cell, str]:
    """Name, numbers with their colours, who may win, and the numbers in words."""
    hues = {model: whole.hue(place) for place, model in enumerate(whole.models)}
    marks = [(hues.get(model, "o"), *numbers) for model, *numbers
             in zip(part.models, part.lo, part.score, part.hi, strict=True)]  # fmt: skip
    known = [place for place in range(min(len(part.models), 5)) if math.isfinite(part.score[place])]
    said = f"{name}: " + ", ".join(map(part.numbers, known))
    return name, marks, _stratum_verdict(part), said


def _stratum_verdict(part: Board) -> Cell:
    """The winner, or all that may win; of one model its score."""
    leaders = part.leaders
    if len(part.models) == 1:
        score = score_cell(part.unit, part.lo[0], part.score[0], part.hi[0])
        return Cell(f"{named(part.models[0])} {score.text} {score.ends}")
    if len(leaders) < 2:
        return Cell("".join(map(named, leaders)), "strong")
    every = len(leaders) == len(part.models) > 2
    return Cell("undecided: all" if every else f"undecided: {names_list(leaders)}")


_RELIABLE, _OFTEN = "Can it, and can you rely on it?", "At least once, or every time?"
_LISTED, _LISTED_OF_MORE = 8, 5  # models below the fan, and of more models
_FAINT = 8  # models, above which the others are faint


def reliability_section(fan: Fan | None) -> Section:
    """Pass@k and Pass^k from one point, and their numbers."""
    if fan is None:
        return Section("reliability", "")
    top, unit, leader = fan.k[-1], fan.unit, named(fan.models[0])
    shares = " of the questions" if not fan.averaged else ""
    best, worst = (unit.score(value) for value in fan.numbers[:, 0, -1, 0])
    luck = ": what it can do, but does not do reliably" if fan.word == "right" else ""
    words = [
        (f"{leader} gets {best}{shares} {fan.word} at least once in {top:,} tries, and {worst} "
         "every time."),
        (f"Above: at least one of k tries is {fan.word} (Pass@k). Below: all k are (Pass^k). The "
         f"space between is luck{luck}."),
    ]  # fmt: skip
    if fan.fractions:
        words = [
            f"The best of {top:,} tries of {leader} earns {best}, the worst {worst}.",
            ("Above: the best reward of k tries (Max@k). Below: the worst (Min@k). The space "
             "between is luck."),
        ]  # fmt: skip
    # Nobody relies on what is better if it is rare.
    title = _RELIABLE if fan.word == "right" else _OFTEN
    rest = len(fan.models) - (_LISTED if len(fan.models) <= _LISTED else _LISTED_OF_MORE)
    note = Text("note", f"{count_of(rest, 'more model')}: in the files of this page.")
    figures: list[Figure] = [_fan_drawing(fan)]
    figures += [_fan_table(fan, title), *([note] if rest > 0 else [])]
    return Section("reliability", title, words, figures)


def _fan_drawing(fan: Fan) -> Drawing:
    """The curves, the first model on top, and words at their ends."""
    top, number, unit, lines = fan.k[-1], len(fan.models), fan.unit, list[Line]()
    faint = f"o{' faint' if number > _FAINT else ''}"
    for place in [*range(number - 1, 1, -1), *range(min(number, 2) - 1, -1, -1)]:
        hue, thin = (faint, True) if place > 1 else (fan.hues[place], False)
        lines += [Line(hue, numbers, thin) for numbers in fan.numbers[:, place].transpose(0, 2, 1)]
    words = ("the best", "the worst") if fan.fractions else ("at least once", f"all {top} times")
    numbers = fan.numbers[:, 0, -1, 0].tolist()
    ends = [(v, unit.score(v), said) for v, said in zip(numbers, words, strict=True)]
    tries = [f"{k}{' try' if k == 1 else ' tries' if k == top else ''}" for k in fan.k]
    span = [float(np.nanmin(fan.numbers)), float(np.nanmax(fan.numbers))]
    data = {"lines": lines, "tries": tries, "span": span, "percent": unit.percent, "ends": ends,
            "between": "between: luck"}  # fmt: skip
    (_, can, once), (_, does, every) = ends
    return Drawing("fan", data, f"{fan.models[0]}: {once} {can}, {every} {does}")


def _fan_table(fan: Fan, caption: str) -> TableBlock:
    """One try, at least one of k, all k: of the first models."""
    top, unit = fan.k[-1], fan.unit
    heads = [("1 try", ""), (f"at least 1 of {top}", f"Pass@{top}"), (f"all {top}", f"Pass^{top}")]
    if fan.fractions:
        heads[1:] = [(f"best of {top}", ""), (f"worst of {top}", "")]
    names = fan.models[: _LISTED if len(fan.models) <= _LISTED else _LISTED_OF_MORE]
    first = "reward"
    if unit.percent and not fan.fractions:
        first = f"% {fan.word}" if fan.averaged else "% of the questions"
    places, columns = range(len(names)), [Column("name", first, [*map(Cell, names)])]
    for (head, side), (kind, k) in zip(heads, ((0, 0), (0, -1), (1, -1)), strict=True):
        numbers = fan.numbers[kind, : len(names), k].tolist()
        cells = [score_cell(unit, lo, mid, hi) for mid, lo, hi in numbers]
        plain = [Cell(each.text) for each in cells]
        columns.append(Column("number", head, cells if k else plain, side))
    rows = [TableRow(fan.hues[place], place < 2) for place in places]
    return TableBlock("beside", columns, rows, caption=caption)


_TIGHT = 12  # models, from where on rows are tight
_NAMES = 5  # questions of a list


def questions_title(facts: QuestionFacts) -> str:
    """Heading over all questions, from how many are never, always or sometimes solved."""
    number, never, always = map(len, (facts.names, facts.never, facts.always))
    mixed, word = len(facts.mixed), facts.word
    if facts.fractions:
        return "Every question, from the hardest to the easiest."
    if 2 * (never + always) > number and len(facts.scores) > 1:
        return (
            f"{never + always:,} of {count_of(number, 'question')} tell nothing about these models."
        )
    if facts.trials >= 4 and 2 * mixed >= number:
        return f"{mixed:,} of {number:,} questions come out both ways for {named(facts.models[0])}."
    if never:
        if word != "right":
            return f"{count_of(never, 'question')} {'is' if never == 1 else 'are'} never {word}."
        return f"{count_of(never, 'question')} nobody solves."
    return "No question is out of reach." if word == "right" else f"Each question is {word} once."


def questions_section(facts: QuestionFacts) -> Section:
    """All questions, the hardest on the left: one row of cells for each model."""
    models, number, word = facts.models, len(facts.names), facts.word
    if number < 2:
        return Section("questions", "")
    rows = [*zip(models[: shown_models(len(models))], facts.leading, strict=False)]
    kind, scores = "models" if len(models) <= _TIGHT else "many models", facts.scores[: len(rows)]
    strips = strips_drawing(kind, rows, scores, ("hardest", f"easiest of {number:,}"))
    heads = ["Nobody solved", "Everybody solved, always"]
    if word != "right":
        heads = [f"Never {word}", f"Always {word}"]
    heads.append(f"Sometimes {word} for {named(models[0])}, nearest to half first")
    mixed = facts.mixed if facts.trials > 1 else []
    lists = dict(zip(heads, (facts.never, facts.always, mixed), strict=True))
    colours = f"Full colour: {word} in every trial. Empty: never."
    if facts.fractions:
        colours = "Full colour: the highest mean reward. Empty: the lowest."
    hint = "A question that the best models fail and others solve may have a wrong key." * (
        len(models) > 2
    )
    judge = "Counted by the verdicts of the judge, without a correction." if facts.verdicts else ""
    words = [judge, colours, hint, first_of_many(len(rows), len(models))]
    return Section("questions", questions_title(facts), words,
                   [strips, *question_lists(lists)], facts.alike)  # fmt: skip


def strips_drawing(
    kind: str, rows: Sequence[tuple[str, bool]], scores: Floats, ends: tuple[str, str]
) -> Drawing:
    """A strip of cells for each name, bold or not, and words for the ends of their order."""
    said = f": {count_of(scores.shape[1], 'question')}"
    lines = [(name, bold, f"{name}{said}") for name, bold in rows]
    return Drawing("strips", {"kind": kind, "rows": lines, "scores": scores, "ends": ends})


def question_lists(lists: Mapping[str, Sequence[str]]) -> list[Drawing]:
    """Lists of the first five questions each; none of what is empty."""
    parts = [(f"{head}: {len(names):,}", [*map(short_name, map(without_stratum, names[:_NAMES]))],
              f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else "")
             for head, names in lists.items() if names]  # fmt: skip
    return [Drawing("lists", {"parts": parts})] if parts else []
