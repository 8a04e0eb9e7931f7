"""Sections of a page about several models: their findings, and how to read them."""

from __future__ import annotations

from polars_scorio.display.blocks import Drawing, Section
from polars_scorio.display.facts.ranking_facts import AllPairs, Board, sure_winners
from polars_scorio.display.facts.scopes import MANY
from polars_scorio.display.words.question_words import strata_title

_FEWEST, _WIDE = 6, 15  # models whose pairs are drawn, and the most in wide cells


def first_of_many(drawn: int, number: int) -> str:
    """How many models are drawn, if not all of them."""
    return f" The first {drawn} of {number:,} models." * (number > drawn)


def pairs_section(facts: AllPairs) -> Section:
    """A staircase: filled where the model of the row is better than that of the column."""
    models, whole, every = facts.models[:MANY], len(facts.models), len(facts.pairs)
    decided = sum(sure for *_, sure in facts.pairs)
    title = f"{decided:,} of {every:,} pairs are decided."
    if whole < _FEWEST:
        return Section("pairs", title)
    said = (
        "Filled: the model of the row is better than that of the column, beyond chance; pale: "
        f"open. The columns have the order of the rows.{first_of_many(len(models), whole)}"
    )
    place = {name: row for row, name in enumerate(models)}
    cells: dict[str, list[tuple[int, int]]] = {"sure": [], "open": []}
    for a, b, sure in facts.pairs:
        if a in place and b in place:
            row, column = sorted((place[a], place[b]))
            cells["sure" if sure else "open"].append((row, column))
    data = {"names": models, "cells": cells, "wide": len(models) <= _WIDE}
    drawing = Drawing("stairs", data, title)
    alike = len(models) < whole or decided in {0, every}
    return Section("pairs", title, [said], [drawing], folded=alike)


def strata_heading(boards: dict[str, Board], leader: str, noun: str) -> str:
    """Heading over strata, of which those of one model have no winner."""
    several = {name: board for name, board in boards.items() if len(board.models) > 1}
    firsts = {name: board.models[0] for name, board in (several or boards).items()}
    return strata_title(firsts, sure_winners(boards), leader, noun)
