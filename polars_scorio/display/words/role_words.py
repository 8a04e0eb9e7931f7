"""Sections of costs, of judges, of errored trials and of reruns."""

from __future__ import annotations

import math

from polars_scorio.display.blocks import (
    Cell,
    Column,
    Drawing,
    Interval,
    Section,
    TableBlock,
    TableRow,
)
from polars_scorio.display.facts.ranking_facts import RankingFacts
from polars_scorio.display.facts.role_facts import Ends, FlakyFacts, JudgeFacts, Prices, RerunFacts
from polars_scorio.display.numbers import MINUS, chance_words, money_text, named, names_list
from polars_scorio.display.phrases import MISSING, count_of, range_text, short_name, these_questions
from polars_scorio.display.words.ranking_words import cheapest_title
from polars_scorio.display.words.section_words import questions_section

_LABELLED = 12  # models, up to which all have their names at their points
_HEADS = {"mean_cost": "mean cost", "cost_per_success": "per success"}


def cost_section(facts: Prices) -> Section:
    """Scores against costs on a ratio scale, and the stairs of those that no other beats."""
    board, money, stairs = facts.board, facts.money, facts.stairs
    models, table, title = board.models, _cost_table(facts), _cost_title(facts)
    if not facts.spread:
        return Section("cost", title, ["Costs are in the unit of the log."], [table])
    points = [
        (short_name(models[at], 20) * (at in stairs or len(models) <= _LABELLED),
         (board.lo[at], board.score[at], board.hi[at]), money[at],
         "a" if board.first_tier[at] else "o")
        for at in facts.ordered
    ]  # fmt: skip
    said = [f"{board.numbers(at)} at {money_text(money[at, 0])}" for at in facts.ordered[:12]]
    corners = [(money[at, 0], board.score[at]) for at in stairs]
    data = {"points": points, "corners": corners, "percent": board.unit.percent}
    axes = (
        f"Up: the score. To the right: the mean cost of a question (both with {facts.level} "
        "intervals; cost on a ratio scale). Blue: may be the best."
    )
    unbeaten = names_list([models[at] for at in stairs], 6)
    join = f"The stairs join the models that no other beats on both score and cost: {unbeaten}."
    figures = (Drawing("plane", data, "; ".join(said)), table)
    return Section("cost", title, [axes, join], figures[: 1 + (len(facts.numbers) > 1)])


def _cost_title(facts: Prices) -> str:
    """The cheapest model of the first tier, or one that costs as much as another."""
    cheapest = facts.board.models[facts.cheapest]
    if len(facts.board.models) == 1:
        return f"{named(cheapest)} costs {money_text(facts.money[0, 0])} a question."
    if facts.shared:
        return f"No model that may be the best is cheaper than {named(cheapest)}."
    return cheapest_title(cheapest)


def _cost_table(facts: Prices) -> TableBlock:
    """All metrics of costs, a row for each model, and what the money did not buy."""
    models, unit = facts.board.models, facts.board.unit
    columns = [
        Column("name", "model", [*map(Cell, models)]),
        *(Column("number", _HEADS.get(name, name.replace("_", " ") + (f", k = {k}" if k else "")),
                 [*map(_cost_cell, cells)]) for (name, k), cells in facts.numbers.items()),
        Column("number", "never solved", [Cell(unit.score(share)) for share in facts.never]),
    ]  # fmt: skip
    if facts.worth:
        chances = [chance_words(facts.worth[name]) if name in facts.worth else MISSING
                   for name in models]  # fmt: skip
        columns.append(Column("number", "on the frontier", [*map(Cell, chances)]))
    kept = [each for each in columns if each.cells]
    return TableBlock("beside", kept, [TableRow("")] * len(models), caption="Costs")


def _cost_cell(ends: Ends | None) -> Cell | Interval:
    if ends is None:
        return Cell(MISSING)
    value, lo, hi = ("∞" if each == math.inf else money_text(each) for each in ends)
    return Interval(ends[1], ends[0], ends[2], value, f"[{lo}, {hi}]")


def judge_section(facts: JudgeFacts) -> Section:
    """The verdicts of the judge on each model, and the corrected score."""
    board, unit = facts.board, facts.board.unit
    lines = []
    for at, model in enumerate(board.models):
        known = math.isfinite(board.score[at])
        was, now = (unit.score(each, sign=False) for each in (facts.raw[at], board.score[at]))
        lines.append({
            "name": short_name(model, 28), "hue": "a" if board.first_tier[at] else "o",
            "ring": facts.raw[at], "ends": (board.lo[at], board.score[at], board.hi[at]),
            "texts": (was, now) if known else (),
            "label": board.numbers(at) if known else "unknown",
        })  # fmt: skip
    lift, who = facts.raw[facts.most] - board.score[facts.most], named(board.models[facts.most])
    title = f"The judge {'adds' if lift > 0 else 'takes off'} up to {unit.size(lift)} ({who})."
    if unit.gap(lift)[0] not in f"+{MINUS}":
        title = "Correcting for the errors of the judge moves no score."
    read = ["Ring: what the judge says. Dot: the true score with its interval."]
    if facts.labels is not None:
        each = range_text(*facts.labels[1:])
        read.append(f"People labelled {facts.labels[0]:,} verdicts, {each} of each model.")
    if facts.unknown:
        read.append(
            f"{count_of(facts.unknown, 'number')} {'is' if facts.unknown == 1 else 'are'} missing: "
            "fewer than 5 trials of a verdict are labelled, the labels do not show that the judge "
            "is better than a coin, or the noise of the correction exceeds the range of the metric."
        )
    drawing = Drawing("lifts", {"lines": lines, "percent": unit.percent})
    return Section("judge", title, read, [drawing])


def flaky_section(facts: FlakyFacts) -> Section:
    """Questions of one model that come out both ways, and how far chance moves a rerun of it."""
    mixed, number = len(facts.questions.mixed), len(facts.questions.names)
    if facts.questions.trials < 2 or number < 2 or not mixed:
        return _rerun_section(facts.rerun)
    floor, questions = _rerun_section(facts.rerun, below=True), questions_section(facts.questions)
    end = f"; {floor.title[:1].lower()}{floor.title[1:]}" if floor.title else "."
    title = f"{mixed:,} of {count_of(number, 'question')} are flaky{end}"
    read, figures = [*questions.words, *floor.words], [*questions.figures, *floor.figures]
    return Section("flaky", title, read, figures)


def _rerun_section(facts: RerunFacts | None, *, below: bool = False) -> Section:
    """How far a rerun of one model lies from its log, alone or below its questions."""
    if facts is None:
        return Section("rerun", "")
    unit, whole = facts.unit, facts.floors[0][0]
    lines = []
    for n, floor in facts.floors:
        number, _, word = unit.size(floor).partition(" ")
        lines.append((f"{count_of(n, 'trial')} each", floor, "a" if n == whole else "o",
                      (f"±{number}", word), f"{n}: within {unit.size(floor)}"))  # fmt: skip
    said = (
        f"Another run of this model on {these_questions(facts.questions)} lies this close to the "
        f"log ({facts.level} confidence), if nothing else differs between runs."
    )
    read = [said]
    if facts.flips is not None:
        read.append(
            f"Of the questions, {unit.score(facts.flips)} change their verdict from one single "
            "trial to the next."
        )
    title = f"Below {unit.size(facts.floors[0][1])}, a change may be chance."
    return Section("rerun", title, read, [Drawing("floors", {"lines": lines, "below": below})])


def readings_section(facts: RankingFacts) -> Section:
    """The first two models under each meaning of an error."""
    if facts.errored is None or facts.gap is None:
        return Section("errored", "")
    a, b = map(named, facts.board.models[:2])
    unit, gaps = facts.board.unit, facts.errored.readings.values()
    columns = [
        Column("other", "errored trials are", [*map(Cell, facts.errored.readings)]),
        Column("number", f"{a} minus {b}", [
            Cell(unit.gap(gap.diff) if math.isfinite(gap.prob_better) else "") for gap in gaps]),
        Column("number", f"{100 * facts.about.confidence:.6g} % interval",
               [Cell(unit.gaps(gap.lo, gap.hi)) for gap in gaps]),
        Column("verdict", "verdict", [
            Cell("undecided" if gap.better is None else f"{named(gap.better)} is better")
            for gap in gaps]),
    ]  # fmt: skip
    table = TableBlock("plain", columns, [TableRow("")] * len(gaps), caption="Meanings of an error")
    said = "Each row counts the errored trials in another way."
    return Section("errored", f"{a} or {b}?", [said], [table])
