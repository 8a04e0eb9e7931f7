"""Accounts of a gate: its verdict, what it rests on, and what would decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polars_scorio.arguments import p_words
from polars_scorio.display.blocks import (
    Account,
    Cell,
    Column,
    Drawing,
    Mood,
    Section,
    Style,
    TableBlock,
    TableRow,
    Text,
    Title,
    Tone,
)
from polars_scorio.display.facts.gate_facts import FDR, CaseFacts, Changed, GateFacts, GateLine
from polars_scorio.display.facts.ranking_facts import as_number
from polars_scorio.display.numbers import Unit, named, names_list, plain_text
from polars_scorio.display.phrases import (
    count_of,
    name_list,
    short_name,
    text_list,
    without_stratum,
)
from polars_scorio.display.words.ranking_words import account_from, basis_words, gap_cell, gap_words

_LISTED = 10  # questions of a clause
_SIDES: dict[str, tuple[str, Style, Mood]] = {
    "pass": ("gate: pass", "pass", "yes"),
    "fail": ("gate: fail", "fail", "no"),
    "undecided": ("gate: undecided", "open", ""),
}
_LEVELS = (("at least", "less than"), ("at most", "more than"))  # if lower is better
_HUES = {"fail": "b", "pass": "a", "undecided": "m"}
# Endings of sentences about single questions.
_CASES = {
    "unclear": "went from all right to all wrong, by too few trials to rule out chance",
    "not_passed": "that must pass did not in every trial",
    "below": "passed too few trials",
}


def tell_gate(facts: GateFacts) -> Account:
    """A gate, with clauses on what it rests on."""
    said: list[tuple[Tone, str]] = [("lede", _gate_lede(facts)), ("aside", _gate_aside(facts))]
    clauses = [Text("clause", each) for each in gate_clauses(facts)]
    title, row, note = gate_title(facts), facts.worst, Text("note", _gate_note(facts))
    if row["baseline"] is None and row["at_least"] is None:  # there are no differences
        return account_from([title], said, facts.about, *clauses)
    return account_from([title], said, facts.about, _gate_table(facts), note, *clauses)


def gate_title(facts: GateFacts) -> Title:
    """The worst verdict, by its ends, or by the parts or questions that decide against them."""
    row, unit, line = facts.worst, facts.unit, facts.line
    alone = row["baseline"] is None
    a, b, size = named(row["model"]), named(row["baseline"] or ""), unit.margin(line.margin)
    by_ends, said = _ends_title(a, b, line, unit)
    parts = [part for part in facts.parts if part.verdict == line.verdict]
    if line.by_questions and (line.verdict != by_ends or alone):
        said = _cases_title(a, row, facts.each)
    elif alone or (line.verdict != by_ends and row.get("level_verdict") == line.verdict):
        low = [part.label for part in parts] if line.verdict != line.side else []
        said = level_words(facts, row, line.verdict) + (f" in {names_list(low)}" if low else "")
        said = f"{'Undecided: ' if line.verdict == 'undecided' else ''}{said}."
    elif line.verdict != by_ends:
        size = unit.margin(max((part.margin for part in parts), default=line.margin))
        at = f" in {names_list([part.label for part in parts])}" if parts else ""
        said = f"{a} is worse than {b}{at} by more than {size}."
        if line.verdict != "fail":
            said = f"Undecided: {a} may be worse than {b}{at} by more than {size}."
    chip, mark, mood = _SIDES[line.verdict]
    return Title(said, chip, mood, mark)


def level_words(facts: GateFacts, row: Mapping[str, Any], verdict: str) -> str:
    """Whether a model reaches the score that it has to; lower is better: whether it exceeds it."""
    scores = "may score" if verdict == "undecided" else "scores"
    return f"{named(row['model'])} {scores} {_level_side(facts, verdict)}"


def _level_side(facts: GateFacts, verdict: str) -> str:
    """The side of the score to reach on which a model is, or may be."""
    side = _LEVELS[facts.lower][verdict != "pass"]
    return f"{side} {_goal_words(facts.unit, facts.worst['at_least'])}"


def _goal_words(unit: Unit, value: float) -> str:
    """A score that is to be reached, as it was asked for."""
    return f"{100 * value:.6g} %" if unit.percent else f"{value:.6g}"


def _ends_title(a: str, b: str, line: GateLine, unit: Unit) -> tuple[str, str]:
    """The verdict of the two one-sided ends alone, and its title."""
    lo, hi, margin, size = line.least, line.most, line.margin, unit.margin(line.margin)
    by_more = f" by more than {size}" if margin else ""
    if hi < -margin:
        return "fail", f"{a} is worse than {b}{by_more}."
    if lo > 0:
        return "pass", f"{a} is better than {b}."
    if lo > -margin:
        but = ", but it is worse" if hi < 0 else ""
        return "pass", f"{a} is not worse than {b} by more than {size}{but}."
    if hi < 0:
        least = f"{a} is worse than {b}, by at least {unit.size(hi)}"
        return "undecided", f"{least}; whether by more than {size} is undecided."
    return "undecided", f"Undecided: {a} may be worse than {b}{by_more}."


def _cases_title(a: str, row: Mapping[str, Any], each: float | None) -> str:
    """Title of a gate that single questions decide, against the difference of the scores."""
    failed, below, broke, unclear = (
        count_of(len(row.get(name) or []), "question")
        for name in ("not_passed", "below", "regressed", "unclear")
    )
    if row.get("not_passed"):
        return f"{a} fails {failed} that must pass."
    least = f"{100 * (each or 0):.6g} % of the trials"
    if row.get("below"):
        return f"{a} passes less than {least} of {below}."
    if row["verdict"] == "pass":
        return f"{a} passes at least {least} of each question." if each else f"{a} passes."
    broken = f"{a} broke {broke}."
    return broken if row.get("regressed") else f"Undecided: whether {a} broke {unclear} is unclear."


def _gate_lede(facts: GateFacts) -> str:
    """The difference; before it the scores, where they are known."""
    row, unit = facts.worst, facts.unit
    if row["baseline"] is None:
        return f"{_score_words(unit, row)}."
    if row["diff"] is None and row.get("lo_missing") is None:
        return ""
    if row["diff"] is None:
        ends = f"{unit.gap(row['lo_missing'])} to {unit.gap(row['hi_missing'], points=True)}"
        known = unit.gaps(row["lo"], row["hi"])
        return f"{ends}, depending on the errored trials; with chance {known}."
    gap = gap_words(unit, row["diff"], row["lo"], row["hi"])
    if not facts.scores:
        return f"{gap}."
    new, old = (unit.score(facts.scores[str(row[name])]) for name in ("model", "baseline"))
    return f"{new} against {old}: {gap}."


def _score_words(unit: Unit, row: Mapping[str, Any]) -> str:
    """A score with its one-sided ends."""
    lo, hi = (unit.score(row[f"estimate_{end}"], sign=False) for end in ("lo", "hi"))
    return f"{unit.score(row['estimate'])} [{lo}, {hi}]"


def _gate_aside(facts: GateFacts) -> str:
    """The questions that broke, and those that were fixed, where both were asked for."""
    broke, fixed = facts.broke, facts.fixed
    if broke is None or fixed is None:
        return ""
    if not broke and as_number(facts.worst["pvalue_broken"]) < 0.05:
        many = count_of(facts.worst["broken"], "question")
        return f"{many} broke, more than chance explains; none can be named."
    if not broke:
        return "No question is shown to have broken."
    where = [name.partition(" / ")[0] for name in broke if " / " in name]
    are = "is" if len(broke) == 1 else "are"
    said = f"{count_of(len(broke), 'question')} {are} shown to have broken"
    if where and facts.rows["stratum"].n_unique() > 1:
        most = max(sorted({*where}), key=where.count)
        said += f", {where.count(most):,} of them in {named(most)}"
    return f"{said}; {len(fixed):,} {'was' if len(fixed) == 1 else 'were'} fixed."


def _gate_table(facts: GateFacts) -> TableBlock:
    """The differences over three zones: beyond the margin, allowed, better."""
    unit, lines, row = facts.unit, facts.lines, facts.worst
    origin = "" if row["baseline"] else f" from {_goal_words(unit, row['at_least'])}"
    margins, several = {line.margin for line in lines}, all(line.whole for line in lines[:2])
    several &= len(lines) > 1
    columns = [
        Column("name", "model" if several else "", [Cell(line.label, "" if at else "strong")
                                           for at, line in enumerate(lines)]),
        Column("interval", ("points" if unit.percent else "difference") + origin,
               [gap_cell(unit, line.lo, line.diff, line.hi) for line in lines],
               f"{100 * facts.about.confidence:g} %, one-sided"),
        Column("verdict", "verdict",
               [Cell(_row_words(facts, line), _SIDES[line.side][1]) for line in lines]),
    ]  # fmt: skip
    rows = [TableRow(_HUES[line.side], line.side != "undecided") for line in lines]
    most = max(margins)
    text, end = unit.margin(most) * (len(margins) == 1 and most > 0), most if facts.lower else -most
    return TableBlock("gate", columns, rows, unit.percent, 0.0, end, facts.lower, text)


def _row_words(facts: GateFacts, line: GateLine) -> str:
    """The verdict of the ends of a row, and what else decides the gate."""
    size, worse = facts.unit.margin(line.margin), line.most < 0
    if line.side == "undecided" and line.most < -line.margin:
        return f"worse by more than {size} by itself, undecided among all parts"
    if facts.worst["baseline"] is None and line.side == line.verdict != "undecided":
        return _level_side(facts, line.side)
    if line.side == line.verdict:
        return {
            "fail": f"worse by more than {size}" if line.margin else "worse",
            "pass": "better" if line.least > 0 else f"not worse by more than {size}",
        }.get(line.side, f"worse; by more than {size}?" if worse else "undecided")
    parts = facts.of(line.model).parts
    deciding = [part.label for part in parts if part.verdict == line.verdict]
    who, many = ("single questions", True) if line.by_questions else (
        names_list(deciding) if deciding else "the score", len(deciding) > 1)  # fmt: skip
    verbs = {"fail": ("fails", "fail"), "undecided": ("is undecided", "are undecided")}
    ends = {"fail": "fails", "pass": "passes"}.get(line.side, "undecided")
    return f"{ends}; {who} {verbs[line.verdict][many]}"


def _gate_note(facts: GateFacts) -> str:
    """How to read the zones."""
    several = facts.rows["stratum"].n_unique() > 1
    zones = "The gate fails where the whole interval lies in the orange zone, and passes where none"
    adjusted = " The parts are adjusted for each other (Holm)." if several else ""
    return f"Each end of an interval is a one-sided limit. {zones} of it does.{adjusted}"


def gate_clauses(facts: GateFacts) -> list[str]:
    """Clauses on all else that decides, or would decide."""
    row, line, said = facts.worst, facts.line, _part_clauses(facts)
    if row["diff"] is None and row.get("lo_missing") is not None:
        moved = facts.unit.size(row["hi_missing"] - row["lo_missing"])
        held = "; the verdict holds in any case" if line.verdict != "undecided" else ""
        said.append(f"Errored trials could move the difference by {moved}{held}.")
    elif str(row.get("score_verdict") or line.verdict) == "undecided":
        said.append(_further_words(facts, row["extra"]))
    if row["baseline"] is not None and row.get("level_verdict") is not None:
        said.append(f"{level_words(facts, row, row['level_verdict'])}: "
                    f"{_score_words(facts.unit, row)}.")  # fmt: skip
    if row["broken"] is not None:
        said.append(broken_words(row, lower_is_better=facts.lower))
    said += case_clauses(facts)
    counts = facts.undecided is not None and line.verdict == "undecided"
    return [*said, *([f"It counts as {facts.undecided}."] if counts else [])]


def _part_clauses(facts: GateFacts) -> list[str]:
    """The parts that decide against a candidate, where the table has candidates."""
    said, unit = list[str](), facts.unit
    sides = {"fail": "worse by more than", "undecided": "undecided at a margin of"}
    for verdict, words in sides.items():
        parts = [part for part in facts.parts if part.verdict == verdict]
        if parts and len(facts.models) > 1:
            ends = [f"{named(part.label)} {unit.gap(part.diff)} {unit.gaps(part.lo, part.hi)}"
                    for part in parts]  # fmt: skip
            margin = unit.margin(max(part.margin for part in parts))
            of_margin = f"{words} {margin}" if facts.worst["baseline"] else verdict
            said.append(f"{named(facts.line.model)}: {of_margin} in {text_list(ends)}.")
    return said


def _further_words(facts: GateFacts, further: int | None) -> str:
    unit, each = (
        ("question", "")
        if "extra_questions" in facts.rows.columns
        else ("trial", " of each question")
    )
    if not further:
        return f"No number of further {unit}s{each} would be likely to decide it."
    decide = "decides" if further == 1 else "decide"
    number, chance = count_of(further, f"further {unit}"), f"{100 * facts.power:.10g} %"
    return f"{number}{each} {decide} it with a chance of {chance}."


def case_clauses(facts: GateFacts) -> list[str]:
    """The questions that regressed by a test of each, or why none can be named, and other cases."""
    row, level = facts.worst, f"(FDR {100 * facts.fdr:.10g} %)"
    cases = row.get("regressed")
    tested, said = facts.broke if cases is None else cases, list[str]()
    if tested is not None and cases is None and not facts.nameable:
        why = "no question could be shown to have regressed: each has too few trials"
        said.append(f"Tested one by one, {why} {level}.")
    elif tested is not None:
        number = count_of(len(tested), "question")
        said.append(_with_names(f"Tested one by one, {number} regressed {level}", tested))
    return said + [
        _with_names(f"{count_of(len(row[kind]), 'question')} {words}", row[kind])
        for kind, words in _CASES.items()
        if row.get(kind)
    ]


def _with_names(words: str, names: Sequence[object]) -> str:
    """Words, and behind a colon the first few of some names."""
    return f"{words}: {name_list(names, _LISTED)}." if names else f"{words}."


def broken_words(row: Mapping[str, Any], *, lower_is_better: bool) -> str:
    """The count of broken questions, with what chance breaks."""
    broken = count_of(row["broken"], "question")
    by_chance, p = row["broken_by_chance"], p_words(row["pvalue_broken"])
    chance = f"by chance alone {by_chance:.1f}; {p}"
    rare = f"On {broken} the outcome went from rare to frequent"
    said = rare if lower_is_better else f"{broken} went from mostly right to mostly wrong"
    return f"{said} ({chance})."


def gate_steps(facts: GateFacts) -> list[str]:
    """Ship, do not, or add trials."""
    line, unit = facts.line, facts.unit
    if line.verdict == "fail":
        first = [*map(without_stratum, (facts.broke or [])[:3])]
        was = "rare before, frequent now" if facts.lower else "right before, wrong now"
        cases = f"question{'s' if len(first) > 1 else ''} {names_list(first)} first: {was}"
        failed = facts.rows.filter(verdict="fail")["model"].unique(maintain_order=True).to_list()
        steps = [f"Do not ship {names_list(failed)}.{f' Look at {cases}.' if first else ''}"]
    elif line.verdict == "pass":
        loss = f"The loss, if any, is below {unit.margin(line.margin)}."
        better = f"{named(line.model)} is better by at least {unit.size(line.least)}."
        steps = [f"Ship. {better if line.least > 0 else loss}"]
    else:
        steps = [f"Run more. {_further_words(facts, facts.worst['extra'])}"]
    parts = facts.rows.filter(verdict="undecided").drop_nulls("stratum")
    undecided = [
        f"{named(model)} in {named(part)}"
        + (f" ({count_of(extra, 'further trial')} of each question)" if extra else "")
        for model, part, extra in parts.select("model", "stratum", "extra").rows()
    ]
    return steps + ([f"Undecided: {'; '.join(undecided[:5])}."] if undecided else [])


def gate_sentence(facts: GateFacts) -> str:
    """A gate in one paragraph, for a file that a program reads."""
    numbers = _gate_lede(facts).rstrip(".") or "The difference is unknown"
    about = f"{numbers} ({', '.join(basis_words(facts.about))})."
    place = f"{facts.place}: " if facts.place else ""
    return plain_text(" ".join([place + gate_title(facts).words, about, *gate_clauses(facts)]))


_PARTS = (("fb", "broke"), ("part", "flaky"), ("open", "the same"), ("fa", "fixed"))
_CHANGED = 24  # questions of a list


def cases_section(facts: CaseFacts | None) -> Section:
    """A map of the questions under baseline and candidate: broken, flaky, the same, fixed."""
    if facts is None:
        return Section("cases", "")
    gate, word, (old, new) = facts.gate, facts.word, facts.models
    down, up, row = len(gate.broke or []), len(gate.fixed or []), gate.worst
    title = f"{count_of(down, 'question')} broke; {up:,} {'was' if up == 1 else 'were'} fixed."
    said = (
        f"Every question, the largest loss on the left. Full colour: {word} in all trials. A "
        f"question “broke” if its own test says so ({100 * FDR:g} % false discoveries), and is "
        f"flaky if a version has it {word} in some trials, not in all."
    )
    chance, read = row["pvalue_broken"], [said]
    if chance is not None and (as_number(chance) < 0.05 or not down):
        read.append(broken_words(row, lower_is_better=gate.lower))
    lists = {f"Broke: {word} trials before and after": facts.broke, "Fixed": facts.fixed}
    data = {
        "names": (old, new), "labels": (f"{old}, before", f"{new}, now"), "scores": facts.scores,
        "parts": [(kind, words, n) for (kind, words), n in zip(_PARTS, facts.counts, strict=True)],
        "lists": [(head, *_case_lists(changed)) for head, changed in lists.items() if changed],
    }  # fmt: skip
    title = title if down else _gate_aside(gate)
    return Section("cases", title, [*read, *case_clauses(gate)], [Drawing("cases", data)])


def _case_lists(changed: Changed) -> tuple[list[tuple[str, str]], str]:
    """The first questions with their trials before and after, and how many more there are."""
    items = [
        (short_name(without_stratum(question)), f"{was[0]}/{was[1]} → {now[0]}/{now[1]}")
        for question, was, now in changed[:_CHANGED]
    ]
    rest = len(changed) - _CHANGED
    return items, f"{rest:,} more are in the data." if rest > 0 else ""
