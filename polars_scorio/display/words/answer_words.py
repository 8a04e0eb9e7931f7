"""Accounts of answers that rank nothing: contents, checks, costs, reruns, versions, plans."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from polars_scorio.arguments import p_words
from polars_scorio.display.blocks import (
    Account,
    Cell,
    Column,
    Interval,
    Style,
    TableBlock,
    TableRow,
    Title,
)
from polars_scorio.display.facts.log_summary import Contents
from polars_scorio.display.facts.question_facts import SolvedFacts
from polars_scorio.display.facts.ranking_facts import About, AnswerRows, as_number
from polars_scorio.display.numbers import chance_words, money_text, named
from polars_scorio.display.phrases import MISSING, count_of, name_list, range_text
from polars_scorio.display.words.ranking_words import account_from, cheapest_title, score_cell

_LISTED = 8  # questions in a sentence
NO_PAIR = "Nothing to compare: no stratum has two models."


def tell_answer(
    title: str, about: About | None, table: TableBlock | None = None, *, place: str = "",
    mark: Style = "", chip: str = "", plain: str = "",
) -> Account:  # fmt: skip
    """A sentence, what it is about, and a table."""
    heads = [Title(f"{place}: {title}" if place else title, chip, mark=mark)]
    return account_from(heads, [("plain", plain)], about, *([] if table is None else [table]))


def known_texts(say: Callable[[float], str], values: Iterable[float | None]) -> list[str]:
    """Numbers as texts, a dash for each that is unknown."""
    return [MISSING if each is None or math.isnan(each) else say(each) for each in values]


def share_text(value: float) -> str:
    """A share in whole percent."""
    return f"{100 * value:.0f} %"


def name_column(head: str, names: Iterable[object], bright: Sequence[bool] = ()) -> Column:
    """Names, some of them in bold."""
    cells = [Cell(str(name)) for name in names]
    strong = [replace(cell, style="strong") if one else cell
              for cell, one in zip(cells, bright, strict=False)]  # fmt: skip
    return Column("name", head, strong or cells)


def number_column(head: str, texts: Iterable[str], *, spare: bool = False) -> Column:
    """Numbers, which narrow terminals leave out if they are spare."""
    return Column("spare" if spare else "number", head, [*map(Cell, texts)])


def plain_table(columns: Sequence[Column]) -> TableBlock:
    """A table without intervals."""
    return TableBlock("plain", columns, [TableRow()] * len(columns[0].cells) if columns else [])


# --- what is in a log -----------------------------------------------------------------------------


def contents_title(facts: Contents) -> str:
    """The size of a log, in a line."""
    least, most = facts.each
    size = [count_of(facts.models, "model"), facts.asked]
    if least is not None and most is not None:
        one = "trial" if least == most == 1 else "trials"
        size.append(f"{range_text(least, most)} {one}")
    whole = all(good for *_, good in contents_sentences(facts))
    return " \N{MULTIPLICATION SIGN} ".join(size) + (", complete." if whole else ".")


def contents_sentences(facts: Contents) -> list[tuple[str, str, bool]]:
    """Contents of a log and its gaps: a word, a sentence, and whether all is well."""
    lack = f"{facts.missing:,} missing" if facts.missing else "none missing"
    models, whole = count_of(facts.models, "model"), facts.trials + facts.nulls
    outcomes = f"{count_of(facts.trials, 'trial')} with an outcome, {facts.nulls:,} without"
    said = [
        ("questions", f"{facts.asked} for {models}, {lack}", not facts.missing),
        ("outcomes", outcomes, not facts.nulls),
    ]
    if facts.empty:
        of = f"{facts.empty:,} of {count_of(facts.pairs, 'pair')} of model and {facts.kind}"
        said.append(("strata", f"{of} without a trial", False))
    if facts.uneven is not None:
        said.append(("steps", f"they have {range_text(*facts.uneven)} questions", False))
    if facts.planned > whole:
        said.append(("planned", f"{whole:,} of {count_of(facts.planned, 'trial')}", False))
    ids = "not checked: no column of trial ids is named, so repeated trials are not found"
    ids = ids if facts.repeated is None else f"{facts.repeated:,} repeated"
    return [*said, ("ids", ids, facts.repeated == 0)]


def check_title(number: Mapping[str, int], *, checked: bool) -> tuple[str, Style, str]:
    """The finding of the tests of a log, by how many have each verdict; its style and its word.

    A log is clean only if its trial ids were `checked` too.
    """
    skipped = number.get("not tested", 0)
    made = count_of(sum(number.values()) - skipped, "test")
    if "alarm" in number:
        return f"{number['alarm']} of {made} raised an alarm.", "fail", "ALARM"
    if "note" in number:
        return "No alarm, but a fact to note.", "open", "NOTE"
    if "look" in number:
        return f"No alarm; look at {number['look']} of {made}.", "open", "LOOK"
    quiet = f"Nothing found in {made}" + (f"; {skipped:,} could not be run" if skipped > 0 else "")
    if not checked:
        return f"{quiet}, and trial ids were not checked.", "open", "PARTLY TESTED"
    return f"{quiet}.", "pass", "CLEAN"


# --- costs, reruns, versions, plans ---------------------------------------------------------------


def tell_frontier(facts: AnswerRows) -> Account:
    """The models from the cheapest to the dearest, with the chance to be on the frontier."""
    rows, unit, cheapest = facts.rows, facts.unit, facts.cheapest
    names, title = [row[facts.model] for row in rows], "No model has a rank."
    if cheapest is not None:
        amount = known_texts(money_text, [cheapest["mean_cost"]])[0]
        title = f"{cheapest_title(cheapest[facts.model])} A trial costs {amount}."
    ends = ([as_number(row[name]) for name in ("lo", "estimate", "hi")] for row in rows)
    columns = [
        name_column("model", names, facts.leading),
        number_column("trial cost", known_texts(money_text, (row["mean_cost"] for row in rows))),
        Column("interval", facts.about.metric, [score_cell(unit, *each) for each in ends]),
        number_column("on frontier", known_texts(
            chance_words, (row["prob_on_frontier"] for row in rows)), spare=True),
    ]  # fmt: skip
    marks = [TableRow("a", one) for one in facts.leading]
    table = TableBlock("scores", columns, marks, unit.percent)
    return tell_answer(title, facts.about, table, place=facts.place)


def tell_reruns(facts: AnswerRows) -> Account:
    """The noise of a rerun of each model, the noisiest first, and how many questions flip."""
    rows, model, unit, percent = facts.rows, facts.model, facts.unit, facts.unit.percent
    floors = [as_number(row["noise_floor"]) for row in rows]
    title = "No noise floor: some question has fewer trials than are drawn."
    if not math.isnan(floors[0]):
        title = f"Below {unit.size(floors[0])}, a change of a score may be chance."
        score = rows[0]["estimate"]
        if percent and floors[0] >= max(score, 1 - score):
            title = "Any change of a score may be chance: the log is too small to tell."
    names = [str(row[model]) for row in rows] if model else ["all"]
    scores = known_texts(partial(unit.score, sign=False), (row["estimate"] for row in rows))
    moved = [
        Interval(-each, 0.0, each, "" if math.isnan(each) else f"±{unit.size(each)}", "")
        for each in floors
    ]
    columns = [
        name_column("model", names),
        number_column(facts.about.metric + (" (%)" if percent else ""), scores),
        Column("interval", "a rerun moves it by", moved),
        number_column(
            "questions flip", known_texts(share_text, (row["flips"] for row in rows)), spare=True
        ),
    ]
    table = TableBlock("gaps", columns, [TableRow()] * len(names), percent, 0.0)
    said = " ".join(rerun_sentences(rows[0], percent=percent))
    plain = f"{names[0]}: {said}" if model else said
    return tell_answer(title, facts.about, table, place=facts.place, plain=plain)


def flaky_title(number: int) -> str:
    """How many questions came out both ways."""
    return f"{count_of(number, 'question')} came out both ways: they are flaky."


def tell_regressions(facts: AnswerRows) -> Account:
    """The questions that changed beyond chance, the surest first."""
    rows, every = facts.rows, [row[facts.model] for row in facts.rows]
    sure, names = [row[":sure"] for row in rows], [row[":name"] for row in rows]
    moved = [row for row in rows if row[":sure"]]
    number, models = (len({row[name] for row in moved}) for name in (":name", facts.model))
    of = f", under one or more of {models:,} models" if models > 1 else ""
    many = count_of(number, "question") if number else "No question"
    change = "become better" if facts.improvements else "broken"
    verb = "is" if number < 2 else "are"
    chances = ["" if row["qvalue"] is None else p_words(row["qvalue"])[2:].removeprefix("= ")
               for row in rows]  # fmt: skip
    rates = {head: known_texts(share_text, (row[name] for row in rows))
             for head, name in (("before", "rate_baseline"), ("now", "rate"))}  # fmt: skip
    columns = [
        name_column("question", names, sure),
        *([name_column("model", every)] if len({*every}) != 1 else []),
        *(number_column(head, texts) for head, texts in rates.items()),
        number_column("q", chances),
    ]
    return tell_answer(
        f"{many} {verb} shown to have {change}{of}.", facts.about, plain_table(columns)
    )


# Of a status: what is said of the questions that have it, and where none has it.
_SOLVED = {
    "never": ("never solved by any model", "Each {unit} was solved by some model."),
    "always": (
        "solved by every model in every trial",
        "No {unit} was solved by every model in every trial.",
    ),
}


_SOLVED_BY_ONE = {
    "never": ("never solved", "Each {unit} was solved at least once."),
    "always": ("solved in every trial", "No {unit} was solved in every trial."),
}


def question_sentences(facts: SolvedFacts, word: str = "right") -> list[str]:
    """Sentences on the questions of one stratum; `word` is what a trial is called that counts."""
    if not facts.number:
        return ["The log has no questions."]
    solved = "solved" if word == "right" else word
    said = [_solved_sentence(facts, status).replace("solved", solved) for status in facts.names]
    return [*said, *_removable_sentence(facts.removable)]


def _removable_sentence(share: float | None) -> list[str]:
    """The sentence on what more trials, or questions, can do; none if that is unknown."""
    if share is None:
        return []
    part = f"{100 * share:.0f} %"
    can = "of the variance of the difference between two models on questions like these"
    if share >= 0.5:
        return [f"More trials help: they can remove up to {part} {can}."]
    return [f"More trials can remove only {part} {can}; more questions can remove all of it."]


def rerun_sentences(row: Mapping[str, Any], *, percent: bool) -> list[str]:
    """Sentences on the noise of a rerun, from a row of `Scorio.reruns` and whether it is a rate."""
    floor, each = row["noise_floor"], row["rerun_trials"]
    if floor is None:
        return [f"k={row['k']} is more than the trials of some question: it has no noise floor."]
    moved = f"{100 * floor:.1f} points" if percent else f"{floor:.3g}"
    of = f"{count_of(row['questions'], 'question')}, {count_of(round(each), 'trial')} each"
    unseen = ", if nothing else differs between runs" if row["run_sd"] is None else ""
    # The noise of single trials is not identified: its bound is a floor for any rates.
    single = row["trials"] == row["questions"]
    reach = "at most" if single else "up to"
    why = "; a single trial of each question does not show its noise" if single else ""
    said = [f"A rerun ({of}) moves this score by {reach} {moved} by chance{unseen}{why}."]
    if row["flips"] is not None and row["flips_lo"] is not None:
        ends = [round(row["questions"] * row[name]) for name in ("flips", "flips_lo", "flips_hi")]
        said.append(
            f"Of {count_of(row['questions'], 'question')} about {ends[0]:,} ({ends[1]:,} to "
            f"{ends[2]:,}) change their outcome from one run to the next."
        )
    elif row["flips_hi"] is not None:
        most = count_of(math.ceil(row["questions"] * row["flips_hi"]), "question")
        said.append(
            f"At most {most} of {row['questions']:,} may change outcome from one run to the next."
        )
    return said


def _solved_sentence(facts: SolvedFacts, status: str) -> str:
    """How many questions are never (always) solved, and which."""
    sentence, none = (_SOLVED_BY_ONE if facts.one else _SOLVED)[status]
    names, unit = facts.names[status], facts.unit
    of = count_of(facts.number, unit)
    if not names:
        return none.format(unit=unit)
    # A name alone could be read as a count.
    verb, units = ("was", unit) if len(names) == 1 else ("were", f"{unit}s")
    return f"{len(names):,} of {of} {verb} {sentence}: {units} {name_list(names, _LISTED)}."


_SIDES = {"model_a": "better", "model_b": "than"}
_FURTHER = {"extra_trials": "further trials", "extra_questions": "or questions"}


def tell_plan(facts: AnswerRows) -> Account:
    """Further trials for neighbours in the ranking, or for intervals of a width."""

    def number(value: int | None) -> str:
        return "none" if value is None else f"{value:,}" if value else "decided"

    rows, sides = facts.rows, {**_SIDES, facts.model: "model"}
    columns = [name_column(head, (row[name] for row in rows))
               for name, head in sides.items() if name in rows[0]]  # fmt: skip
    columns += [number_column(head, (number(row[name]) for row in rows))
                for name, head in _FURTHER.items() if name in rows[0]]  # fmt: skip
    return tell_answer(_plan_title(facts), facts.about, plain_table(columns), place=facts.place)


def _plan_title(facts: AnswerRows) -> str:
    """The first thing that needs further trials."""
    row = next((each for each in facts.rows if each["extra_trials"] != 0), None)
    if row is None:
        return "No further trial is needed."
    goal = f"make intervals of \N{PLUS-MINUS SIGN}{facts.width}"
    if facts.width is None:
        goal = f"distinguish {named(row['model_a'])} from {named(row['model_b'])}"
    if row["extra_trials"] is None:
        return f"No number of further trials would {goal}."
    return f"{count_of(row['extra_trials'], 'further trial')} of each question would {goal}."
