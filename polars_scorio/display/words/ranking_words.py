"""Accounts of models: the title, the numbers, the table, and the steps to take next.

Each title has an exact rule. No model of the first tier was shown to be worse than any, and each
model outside of it was shown to be worse than some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polars_scorio.display.blocks import (
    Account,
    Block,
    Cell,
    Column,
    Interval,
    Mood,
    Style,
    TableBlock,
    TableKind,
    TableRow,
    Text,
    Title,
    Tone,
)
from polars_scorio.display.facts.ranking_facts import (
    FEW_QUESTIONS,
    About,
    Board,
    Costs,
    Divided,
    Errored,
    Gap,
    OneModel,
    PairCurve,
    PairsFacts,
    RankingFacts,
)
from polars_scorio.display.facts.scopes import POWER
from polars_scorio.display.numbers import SAME, Unit, chance_words, named, names_list
from polars_scorio.display.phrases import (
    MISSING,
    all_of,
    count_of,
    short_name,
    text_list,
    these_questions,
)

_LISTED_SIZES = 8  # draw sizes of a curve in a sentence
_FAR = 10  # times the trials of a log, beyond which nobody plans
_SMALL = 0.05  # a difference of shares that matters to nobody
WHATEVER = ", whatever the outcomes of errored trials"  # behind a confidence
_FAMILIES = {
    "": "",
    "page": ", for all pairs at once",
    "models": " for all models at once",
    "pairs": " for all pairs at once",
    "alone": " for each pair by itself",
    "baseline": " for all models against the baseline at once",
    "curve": ", for all k at once",
}


def basis_words(about: About) -> list[str]:
    """Metric, confidence and family, and the questions that the numbers are about."""
    level = f"{100 * about.confidence:.10g} %"
    if not about.confidence:  # nothing is estimated
        return [*filter(None, (about.metric, about.looks, about.judged, about.target))]
    sure = f"one-sided {level}" if about.candidates else f"{level} confidence"
    sure += f", for {all_of(about.candidates)} candidates at once" if about.candidates > 1 else ""
    sure += _FAMILIES[about.family] + WHATEVER * about.errored
    margin = f"margin {about.margin}" if about.margin else ""
    metric = ", ".join(filter(None, (about.metric, about.made)))
    return [*filter(None, (metric, margin, sure, about.looks, about.judged, about.target))]


def account_from(
    titles: Sequence[Title], said: Sequence[tuple[Tone, str]], about: About | None, *after: Block
) -> Account:
    """Titles, sentences, what they are about, and what stands below them."""
    few = "" if about is None or not about.few else f" on {about.few}"
    titles = [replace(each, chip=each.chip + few) if each.mood else each for each in titles]
    texts = [Text(role, words) for role, words in said if words]
    about_words = [] if about is None else [Text("basis", each) for each in basis_words(about)]
    kept = [each for each in after if not isinstance(each, Text) or each.words]
    return Account([*titles, *texts, *about_words, *kept])


def gap_words(unit: Unit, diff: float, lo: float, hi: float) -> str:
    """A difference with its ends."""
    return f"{unit.gap(diff, points=True)} {unit.gaps(lo, hi)}"


# --- several models -------------------------------------------------------------------------------


def tell_ranking(facts: RankingFacts) -> Account:
    """Several models in their order."""
    said: list[tuple[Tone, str]] = [("plain", _tier_words(facts))]
    if facts.paired:
        said = [("lede", _ranking_lede(facts)), ("aside", _ranking_aside(facts))]
    title, note = ranking_title(facts), Text("note", _ranking_note(facts))
    return account_from([title], said, facts.about, ranking_table(facts), note)


def ranking_title(facts: RankingFacts) -> Title:
    """The sentence on the models that may be the best."""
    said, chip, mood = _ranking_words(facts)
    at = "At " if facts.paired else ""
    return Title((f"{at}{facts.place}: " if facts.place else "") + said, chip, mood)


def _ranking_words(facts: RankingFacts) -> tuple[str, str, Mood]:
    board, leaders = facts.board, facts.board.leaders
    number, of_log = len(board.models), facts.of_log
    if not board.ranked:
        return "No ranking: some questions have too few trials.", "not ranked", ""
    if number == 1:
        only = f"the only one here, of {of_log:,} models" if of_log > 1 else "the only model"
        return f"{named(board.models[0])} is {only}.", "one model", ""
    if facts.errored is not None and len(leaders) > 1 and facts.errored.decisive:
        said = f"{_deciding_trials(facts.errored)} between {names_list(leaders)}."
        return said, "winner undecided", ""
    many = f"{number:,} of {of_log:,}" if of_log > number else f"{number:,}"
    if number > 2 and len(leaders) == number:
        alone = f"Alone, {count_of(facts.alone, 'pair')} would be decided; after correction, none."
        none = f"Nothing is decided between {many} models."
        return alone if facts.alone else none, "nothing decided", ""
    if len(leaders) == 1:
        beaten = next(each for each in board.models if each != leaders[0])
        said = f"is the best of {many} models" if number > 2 else f"beats {named(beaten)}"
        return f"{named(leaders[0])} {said}.", "decided", "yes"
    return _open_title(facts), "winner undecided", ""


def _open_title(facts: RankingFacts) -> str:
    """Title of models of which several may be the best."""
    board = facts.board
    first, *later = board.leaders
    level = board.leaders[:2] == board.models[:2] and abs(_lead_of_first(facts)) < SAME
    if level and len(board.models) == 2:
        return f"{names_list(board.leaders)} have the same score."
    lead = f"{named(first)} and {named(later.pop(0))} are" if level else f"{named(first)} is"
    rest = names_list(later) if len(later) < 3 else f"{len(later):,} others"
    return f"{lead} ahead{f'; {rest} may be as good' if later else ''}."


def _lead_of_first(facts: RankingFacts) -> float:
    """How far the first of two models is ahead."""
    if facts.gap is not None and len(facts.board.models) == 2:
        return facts.gap.diff
    return float(facts.board.score[0] - facts.board.score[1])


def _deciding_trials(errored: Errored) -> str:
    return f"{count_of(errored.trials, 'errored trial')} decide{'s' if errored.trials == 1 else ''}"


def _ranking_lede(facts: RankingFacts) -> str:
    """The scores of the first two, and their difference; what a question costs."""
    board, gap, unit = facts.board, facts.gap, facts.board.unit
    if not board.ranked:
        return _cost_words(facts)
    a, b = map(unit.score, board.score[:2])
    said = f"{a} against {b}."
    if facts.errored is not None and gap is not None:
        said = _errored_lede(facts, facts.errored, gap)
    elif gap is not None:
        said = f"{a} against {b}: {gap_words(unit, gap.diff, gap.lo, gap.hi)}."
    elif not np.isfinite(board.score[1]):
        said = f"{named(board.models[0])} has {a}."
    return f"{said} {_cost_words(facts)}".strip()


_MEANINGS = {"counted as failures": "count as failures", "dropped": "are dropped"}


def _errored_lede(facts: RankingFacts, errored: Errored, gap: Gap) -> str:
    """The difference of the first two under each meaning of an error, and whatever they were."""
    unit, (a, b) = facts.board.unit, map(named, facts.board.models[:2])
    settled = len(facts.board.leaders) == 1 or not errored.decisive
    # Where errors decide, the title has named them.
    subjects = ("errored trials" if settled else "they", "they")
    known = [(_MEANINGS[k], of.diff) for k, of in errored.readings.items() if k in _MEANINGS]
    gaps = [
        f"{unit.gap(diff, points=not place)} if {subject} {meaning}"
        for place, (subject, (meaning, diff)) in enumerate(zip(subjects, known, strict=False))
    ]
    ends = f"{unit.gaps(gap.lo, gap.hi)} whatever the outcomes of errored trials"
    return f"{a} minus {b}: {', '.join([*gaps, ends])}."


def _cost_words(facts: RankingFacts) -> str:
    """The price of the first model and of the cheapest that may be the best."""
    costs, first = facts.costs, named(facts.board.models[0])
    if costs is None:
        return ""
    cheap = costs.cheapest
    if cheap == 0:
        return f"{first} costs {costs.words[0]} a question."
    return (
        f"{first} costs {costs.words[0]} a question, {costs.ratio:.1f} times "
        f"{named(facts.board.models[cheap])} ({costs.words[cheap]})."
    )


def _ranking_aside(facts: RankingFacts) -> str:
    """Models that are ruled out, or have no rank, and the winner by a judge alone."""
    board, said = facts.board, list[str]()
    unknown = board.without_rank
    rest = [each for each in board.models if each not in board.leaders]
    if board.ranked and rest and len(board.models) > 2:
        who = names_list(rest) if len(rest) <= 3 else f"The other {len(rest):,}"
        said.append(f"{who} {'is' if len(rest) == 1 else 'are'} ruled out as the best.")
    if board.ranked and unknown:
        said.append(f"{names_list(unknown)} {'has' if len(unknown) == 1 else 'have'} no rank.")
    if facts.judge_names is not None:
        said.append(f"The judge alone would have named {named(facts.judge_names)} the best.")
    return " ".join(said)


def _ranking_note(facts: RankingFacts) -> str:
    """How to read the table; the interval of the first model, corrected for the selection."""
    board = facts.board
    if len(board.models) == 1 or not board.ranked:
        return ""
    note = "Shaded: models that no other was shown to beat (tier 1)."
    if board.first_tier.all():
        note = "No model was shown to be better than another."
    lines = " Below a line, each model is worse than at least one above it."
    note += lines if board.tier_starts.any() else ""
    note += " A model without a rank could have any rank." if board.without_rank else ""
    if facts.selected is None:
        return note
    ends = board.unit.interval(*facts.selected)
    picked = f"picked as the best of {len(board.models):,}, {named(board.models[0])} has {ends}"
    return f"{note} Adjusted for being {picked}."


def _tier_words(facts: RankingFacts) -> str:
    """The meaning of tiers, where there are several."""
    tiers = int(facts.board.tier.max(initial=0))
    said = f"{tiers:,} tiers; each model is worse than one in the tier above."
    return said if tiers > 1 and len(facts.board.models) > 2 else ""


def ranking_table(facts: RankingFacts) -> TableBlock:
    """Ranks, models, a column beside the scores, scores with intervals, chances to be the best."""
    board, unit, places = facts.board, facts.board.unit, range(len(facts.board.models))
    several = len(board.models) > 1
    strong: list[Style] = ["strong" if one else "" for one in board.first_tier]
    scores = [score_cell(unit, *ends) for ends in zip(board.lo, board.score, board.hi, strict=True)]
    columns = [
        Column("rank", "rank", [Cell(_rank_range(board, at)) for at in places]),
        Column("tier", "tier", [Cell(str(each or MISSING)) for each in board.tier.tolist()]),
        Column("name", "model", [*map(Cell, board.models, strong)]),
        Column("number", "cost per question", [Cell(each) for each in _beside_scores(facts.costs)]),
        Column("number", "errored", [Cell(each) for each in _beside_scores(facts.errored)]),
        Column("interval", facts.about.metric, scores, f"{100 * facts.about.confidence:.6g} %"),
        Column("chance", "chance to be best", [_chance_cell(board, at) for at in places]),
        *(Column("other", name + (" (%)" if further.percent else ""),
                 [score_cell(further, *each) for each in numbers])
          for name, further, numbers in facts.further),
    ]  # fmt: skip
    rows = [
        TableRow(board.hue(at), bool(board.first_tier[at]) and several, bool(board.tier_starts[at]))
        for at in places
    ]
    return TableBlock("scores", [each for each in columns if each.cells], rows, unit.percent)


def other_metrics(facts: RankingFacts) -> TableBlock:
    """All metrics but the leading one, in the order of the first one."""
    table = ranking_table(facts)
    columns = [table.column("name"), *(each for each in table.columns if each.kind == "other")]
    return TableBlock("plain", columns, table.rows, caption="Other metrics")


def _beside_scores(known: Costs | Errored | None) -> Sequence[str]:
    """Words beside the scores; none of what is unknown."""
    return () if known is None else known.words


def _rank_range(board: Board, at: int) -> str:
    lo, hi = board.rank_lo[at], board.rank_hi[at]
    return "" if not lo else f"{lo:,}" if lo == hi else f"{lo:,}{MISSING}{hi:,}"


def score_cell(unit: Unit, lo: float, mid: float, hi: float) -> Interval:
    """A score with its ends."""
    text = unit.score(mid, sign=False) if math.isfinite(mid) else ""
    return Interval(lo, mid, hi, text, unit.interval(lo, hi) if math.isfinite(lo + hi) else "")


def _chance_cell(board: Board, at: int) -> Cell:
    """The chance of a model of the first tier to be the best."""
    chance = float(board.prob_best[at])
    if not board.first_tier[at] or board.first_tier.sum() == 1 or math.isnan(chance):
        return Cell("")
    return Cell(chance_words(chance), share=chance)


_LOST = (
    "A timeout is an outcome: count it as a failure. A trial that the harness lost is not: run it "
    "again."
)


def errored_steps(of_models: dict[str, int]) -> list[str]:
    """Trials of undecided models that errored are run again before others are added."""
    model, errored = min(of_models.items(), key=lambda each: (-each[1], each[0]))
    again = f"Run {named(model)}'s {count_of(errored, 'errored trial')} again." if errored else ""
    return [*filter(None, [again]), _LOST]


def ranking_steps(facts: RankingFacts) -> list[str]:
    """Steps by the plan of the first two; with costs, whom to take comes first."""
    board, gap = facts.board, facts.gap
    if not board.ranked or gap is None:
        return []
    if len(board.leaders) == 1:
        leader, few = named(board.leaders[0]), these_questions(facts.questions)
        only = f"Add questions: {leader} is the best on {few}, which say little about others."
        settled = f"Nothing: {leader} is the best of these models."
        return [only if facts.questions < FEW_QUESTIONS else settled]
    steps = [] if facts.costs is None else [_cheapest_step(board, facts.costs)]
    if facts.errored is not None:
        again = {name: facts.errored.of_models[name] for name in board.leaders}
        return [*steps, *errored_steps(again)]
    if facts.judged:
        who = names_list(board.leaders)
        why = "the judge's error rate is the main uncertainty"
        return [*steps, f"Label more verdicts, first of {who}: {why}."]
    return [*steps, *_plan_steps(facts, gap)]


def _plan_steps(facts: RankingFacts, gap: Gap) -> list[str]:
    """Further trials, further questions, or neither."""
    plan, (a, b) = facts.plan, map(named, facts.board.models[:2])
    unit, bound = facts.board.unit, max(abs(gap.lo), abs(gap.hi))
    gain, loss = (unit.size(max(each, 0.0)) for each in (gap.hi, -gap.lo))
    differ = f"Not decided: {a} may score up to {gain} more than {b}, or up to {loss} less."
    if unit.percent and bound <= _SMALL:
        either = "Take either: " if facts.costs is None else ""
        differ = f"{either}{a} and {b} differ by less than {unit.size(bound)}."
    if plan is None:
        return [differ]
    decide = f"For a chance of {100 * POWER:g} % to decide between {a} and {b}"
    questions = f"{count_of(plan.questions or 0, 'further question')} like these"
    if plan.trials is None:
        add = "They may well be equal: further trials of these questions would hardly decide it."
        if facts.runs:
            add = "Add runs: the difference between runs is the main uncertainty."
        return [f"{differ} {add}", *([f"{decide}: {questions}."] if plan.questions else [])]
    far, trials = plan.trials > _FAR * plan.fewest, count_of(plan.trials, "further trial")
    times = f" ({(plan.fewest + plan.trials) / plan.fewest:,.0f} times this log)" if far else ""
    either = f", or {questions}" if plan.questions else ""
    return [*([differ] if far else []), f"{decide}: {trials} of each question{times}{either}."]


def _cheapest_step(board: Board, costs: Costs) -> str:
    """Take the cheapest of those that may be the best, unless the lead is worth its price."""
    first, cheap, gap = named(board.models[0]), named(board.models[costs.cheapest]), costs.lead
    if costs.cheapest == 0:
        return f"Take {first}: no model that may be the best is cheaper."
    lead = "" if gap is None else f", {gap_words(board.unit, gap.diff, gap.lo, gap.hi)},"
    times = f"{costs.ratio:.1f} times the price"
    return f"Take {cheap}, unless the lead of {first}{lead} is worth {times}."


def cheapest_title(name: str) -> str:
    """Title of costs, of the cheapest model of the first tier."""
    return f"{named(name)} is the cheapest model that may be the best."


# --- a part of the models, or one -----------------------------------------------------------------


def tell_divided(facts: Divided) -> Account:
    """Models of which no stratum has all."""
    said = f"No {facts.noun} has all {facts.models:,} models: no winner over all of them."
    lines = [
        (f"{name} {model}", score_cell(board.unit, board.lo[at], board.score[at], board.hi[at]), "")
        for name, board in facts.boards.items()
        for at, model in enumerate(board.models)
    ]
    percent = all(board.unit.percent for board in facts.boards.values())
    table = interval_table("parts", "", facts.about.metric, lines, percent=percent)
    return account_from([Title(said, "not compared")], [], facts.about, table)


def divided_steps(facts: Divided) -> list[str]:
    """Steps for models of which no stratum has all."""
    return [f"Run all models on one {facts.noun}, or rank each {facts.noun} by itself."]


def tell_one_model(facts: OneModel) -> Account:
    """The share that a single model gets right, on one try and every time."""
    prefix = f"At {facts.place}: " if facts.place else ""
    title = Title(prefix + _one_model_title(facts), "one model")
    said: list[tuple[Tone, str]] = [
        ("lede", _one_model_lede(facts)),
        ("aside", _flaky_words(facts)),
    ]
    note = "More trials narrow the first interval, more questions the second." if facts.like else ""
    return account_from([title], said, facts.about, one_model_table(facts), Text("note", note))


def _one_model_title(facts: OneModel) -> str:
    board, unit = facts.board, facts.board.unit
    model, score = named(board.models[0]), unit.score(board.score[0])
    if facts.errored is not None:
        ends = " to ".join(map(unit.score, facts.errored.ends))
        return f"{model} scores {ends}: {_deciding_trials(facts.errored)}."
    if not facts.shares:
        return f"{model} scores {score}."
    if not facts.averaged:  # no share of right answers
        return f"{model} scores {score} ({facts.about.metric})."
    if facts.always is None:
        return f"{model} gets {score} of {count_of(facts.questions, 'question')} right."
    every = "both times" if facts.tries == 2 else f"all {facts.tries:,} times"
    return f"{model} gets {score} right on one try, and {facts.always} {every}."


def _one_model_lede(facts: OneModel) -> str:
    board, unit = facts.board, facts.board.unit
    level = f"{100 * facts.about.confidence:.10g} %"
    ends = unit.interval(board.lo[0], board.hi[0])
    said = f"{level}: {ends} for {these_questions(facts.questions)}"
    like = facts.like
    said += f", {unit.interval(*like[1:])} for questions like these." if like else "."
    if facts.plain is not None and unit.score(facts.plain) != unit.score(board.score[0]):
        said += f" The plain estimate is {unit.score(facts.plain)}."
    cost = f"{named(board.models[0])} costs {facts.cost} a question." if facts.cost else ""
    return f"{said} {cost}".strip()


def _flaky_words(facts: OneModel) -> str:
    if not facts.flaky:
        return ""
    come = "comes" if facts.flaky == 1 else "come"
    return f"{count_of(facts.flaky, 'question')} {come} out both ways."


def one_model_table(facts: OneModel) -> TableBlock:
    """These questions, questions like these, and strata."""
    board, unit = facts.board, facts.board.unit
    scores = [(these_questions(facts.questions), (board.score[0], board.lo[0], board.hi[0]), "a")]
    scores += [("questions like these", facts.like, "a")] if facts.like else []
    scores += [(name, numbers, "") for name, numbers in facts.parts]
    lines = [(name, score_cell(unit, lo, mid, hi), hue) for name, (mid, lo, hi), hue in scores]
    return interval_table("parts", "", facts.about.metric, lines, percent=unit.percent)


def interval_table(
    kind: TableKind, head: str, label: str, lines: Sequence[tuple[str, Interval, str]], *,
    percent: bool, centre: float | None = None,
) -> TableBlock:  # fmt: skip
    """Names with a number and a hue each; those with a hue are bright."""
    names = [Cell(name, "strong" if hue else "") for name, _, hue in lines]
    columns = [
        Column("name", head, names),
        Column("interval", label, [each for _, each, _ in lines]),
    ]
    rows = [TableRow(hue or "m", bool(hue)) for *_, hue in lines]
    return TableBlock(kind, columns, rows, percent, centre)


def one_model_steps(facts: OneModel) -> list[str]:
    """How to compare a new version, and what a broader claim needs."""
    each = facts.each or 0
    steps = [f"Compare a new version with {count_of(each, 'trial')} of each question."] * (each > 1)
    return [*steps, "For a claim beyond these questions, add questions, not trials."]


def with_bias(account: Account, names: Sequence[str], sentence: str) -> Account:
    """The alarm that every score is biased as the title, and the account below it."""
    who = names_list([*names])
    said = f"Trials of {who} seem to have stopped on outcomes: then every score is biased."
    numbers = f"As the rows stand: {account.title.words} {account.lede}".strip()
    kept = [each for each in account.blocks if not isinstance(each, Title | Text)]
    about = [Text("basis", each) for each in account.basis]
    title = Title(said, "biased", "no", "fail")
    return Account([title, Text("lede", numbers), Text("aside", sentence), *about, *kept])


def tell_refusal(error: Exception) -> Account:
    """A log that cannot be scored: the reason stands below the title."""
    reason = str(error)
    # An option keeps its spelling.
    first = "" if re.match(r"[\w-]+[=:]", reason) else reason[:1].upper()
    end = "" if reason.endswith((".", "?", "!")) else "."
    title = Title("This log cannot be scored yet.", "refused", "no")
    return Account([title, Text("lede", f"{first}{reason[len(first) :]}{end}")])


def refusal_steps() -> list[str]:
    """Steps for a log that cannot be scored."""
    return ["Look at what the log has, then take one of the ways out that the message names."]


# --- pairs ----------------------------------------------------------------------------------------


def tell_pairs(facts: PairsFacts) -> Account:
    """The pairs of a comparison."""
    said = curve_sentences(facts.curves, facts.about.confidence) or [_pairs_title(facts)]
    titles = [Title((f"{facts.place}: " if facts.place else "") + each) for each in said]
    bounded = "" if facts.bracket is None else bracket_sentence(*facts.bracket)
    return account_from(titles, [("plain", bounded)], facts.about, _pairs_table(facts))


def _pairs_title(facts: PairsFacts) -> str:
    """How many pairs are decided, or which of two models is better."""
    first, number, decided = facts.rows[0], len(facts.rows), facts.decided
    a, b, both = named(first.first), named(first.second), names_list(first.named)
    if number > 1 and decided == number:
        return f"{all_of(number).capitalize()} pairs are decided."
    if number > 1:
        rest = "are undecided" if number - decided == 1 else "are the closest"
        verb = "is" if decided == 1 else "are"
        return f"{decided:,} of {number:,} pairs {verb} decided; {both} {rest}."
    if first.decided:
        return f"{a} beats {b}."
    if not first.known:
        return f"Nothing is known of {both}."
    return f"{both} have the same score." if facts.tied else f"{a} is ahead; {b} may be as good."


def _pairs_table(facts: PairsFacts) -> TableBlock:
    """The model that is ahead, the other one, and the difference."""
    unit, rows = facts.unit, facts.rows
    gaps = [gap_cell(unit, row.lo, row.mid, row.hi) for row in rows]
    firsts = [Cell(row.first, "strong" if row.decided else "open") for row in rows]
    head = "points" if unit.percent else "difference"
    if facts.ratios:
        head = "times the cost"
        gaps = [Interval(row.lo, row.mid, row.hi, f"{row.mid:.3g}", f"[{row.lo:.3g}, {row.hi:.3g}]")
                for row in rows]  # fmt: skip
    columns = [
        Column("name", "ahead", firsts),
        Column("name", "of", [Cell(row.second) for row in rows]),
        Column("number", "k", [Cell(str(row.k)) for row in rows if facts.curves]),
        Column("interval", head, gaps),
    ]
    marks = [TableRow("a" if row.decided else "o", row.decided) for row in rows]
    return TableBlock("gaps", [each for each in columns if each.cells], marks,
                 unit.percent and not facts.ratios, float(facts.ratios))  # fmt: skip


def gap_cell(unit: Unit, lo: float, mid: float, hi: float) -> Interval:
    """A difference with its ends."""
    text = "" if math.isnan(mid) else unit.gap(mid)
    return Interval(lo, mid, hi, text, unit.gaps(lo, hi) if math.isfinite(lo + hi) else "")


def bracket_sentence(moved: float, decided: int, pairs: int) -> str:
    """Sentence on the pairs of a comparison with `missing="bounds"`."""
    if moved == 0:
        return "Errored trials move no difference."
    return (
        f"Errored trials could move a difference by up to {moved:.3g}. In {decided:,} of "
        f"{count_of(pairs, 'pair')} a model is better whatever their outcomes were."
    )


def curve_sentences(curves: Sequence[PairCurve], confidence: float, most: int = 10) -> list[str]:
    """Sentences on the whole curves of the first pairs, of which one says what all are about."""
    said = [_asked_and_found(curve, confidence) for curve in curves[:most]]
    if len(said) > 1 and len({asked for asked, _ in said}) == 1:
        return [f"{said[0][0]}:", *(words for _, words in said)]
    return [": ".join(filter(None, each)) for each in said]


def _asked_and_found(curve: PairCurve, confidence: float) -> tuple[str, str]:
    """The confidence and the draw sizes of a curve, empty if it has none, and its words."""
    pair, k = curve.pair, [*curve.k]
    a, b = (short_name(pair[side]) for side in ("model_a", "model_b"))
    if not k:
        return "", f"{a} and {b} have too few trials for these k."
    words = _curve_words(pair, a, b, k)
    if words is None:
        ends = f"k = {k[0]} or k = {k[-1]}" if curve.named else "any k"
        words = f"neither {a} nor {b} is shown to be better at {ends}"
    whole = len(k) > 1 and k == [*range(k[0], k[-1] + 1)]
    asked = f"k = {k[0]} to {k[-1]}" if whole else f"k = {text_list([*map(str, k)], _LISTED_SIZES)}"
    return f"With {100 * confidence:.10g} % confidence for the whole curve ({asked})", f"{words}."


def _curve_words(pair: Mapping[str, Any], a: str, b: str, k: Sequence[int]) -> str | None:
    """The stretches of a pair at both ends of the points k; None if there are none."""
    first, last = pair["first_to"], pair["last_from"]

    def clause(end: str, far: str) -> str:
        leads = pair[f"{end}_better"] == pair["model_a"]
        if "gain_to" in pair:
            return f"{'gains on' if leads else 'loses to'} {b} {far}"
        if end == "last" and first:  # the subject is that of the clause before
            same = pair["first_better"] == pair["last_better"]
            return far if same else f"worse {far}"
        return f"{a if leads else b} is better than {b if leads else a} {far}"

    subject = f"{a} " if "gain_to" in pair else ""
    if first == k[-1]:
        every = f"at every k from {k[0]} to {k[-1]}" if len(k) > 1 else f"at k = {first}"
        return subject + clause("first", every)
    between = "between" if first and last else "beyond" if first else "below"
    up_to = f"up to k = {first}" if first != k[0] else f"at k = {first}"
    on = f"from k = {last} on" if last != k[-1] else f"at k = {last}"
    clauses = ([clause("first", up_to)] if first else []) + ([clause("last", on)] if last else [])
    if not clauses:
        return None
    if first and last and k.index(last) == k.index(first) + 1:
        return subject + " and ".join(clauses)
    return f"{subject}{' and '.join(clauses)}; {between}, not every k is decided"
