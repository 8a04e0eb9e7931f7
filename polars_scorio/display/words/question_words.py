"""Sentences on questions, strata, steps, reruns and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from polars_scorio.display.facts.question_facts import QuestionFacts, SolvedFacts
from polars_scorio.display.facts.ranking_facts import PairCurve
from polars_scorio.display.numbers import named, names_list
from polars_scorio.display.phrases import count_of, name_list, short_name, text_list

_LISTED = 8  # questions in a sentence
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
    can, part = "of the variance of a difference on other questions", f"{100 * share:.0f} %"
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
    unseen = ", if runs differ by nothing but chance" * (row["run_sd"] is None)
    # The noise of single trials is not identified: its bound is a floor for any rates.
    single = row["trials"] == row["questions"]
    reach = "at most" if single else "up to"
    why = "; a single trial of each question does not show its noise" * single
    said = [f"Run again ({of}), this score moves by {reach} {moved} by chance alone{unseen}{why}."]
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


def bracket_sentence(moved: float, decided: int, pairs: int) -> str:
    """Sentence on the pairs of a comparison with `missing="bounds"`."""
    if moved == 0:
        return "Errored trials move no difference."
    return (
        f"Errored trials could move a difference by up to {moved:.3g}. In {decided:,} of "
        f"{count_of(pairs, 'pair')} a model is better whatever they were."
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
        words = f"neither of {a} and {b} is better at {ends}"
    whole = len(k) > 1 and k == [*range(k[0], k[-1] + 1)]
    asked = f"k = {k[0]} to {k[-1]}" if whole else f"k = {text_list([*map(str, k)], _LISTED)}"
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

    subject = f"{a} " * ("gain_to" in pair)
    if first == k[-1]:
        every = f"at every k from {k[0]} to {k[-1]}" if len(k) > 1 else f"at k = {first}"
        return subject + clause("first", every)
    between = "between" if first and last else "beyond" if first else "below"
    up_to = f"up to k = {first}" if first != k[0] else f"at k = {first}"
    on = f"from k = {last} on" if last != k[-1] else f"at k = {last}"
    clauses = [clause("first", up_to)] * bool(first) + [clause("last", on)] * bool(last)
    if not clauses:
        return None
    if first and last and k.index(last) == k.index(first) + 1:
        return subject + " and ".join(clauses)
    return f"{subject}{' and '.join(clauses)}; {between}, this log does not decide every k"


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


def strata_title(firsts: dict[str, str], sure: dict[str, str], leader: str, noun: str) -> str:
    """Heading over strata: the first model of each, and its sure winner where it has one."""
    winners = list(dict.fromkeys(sure.values()))
    if len(winners) > 1:
        clauses = [
            f"{named(model)} wins {names_list([p for p in sure if sure[p] == model])}"
            for model in winners[:3]
        ]
        return "; ".join(clauses) + "."
    if set(firsts.values()) == {leader}:
        where = f"beyond chance in {len(sure):,}" if sure else "nowhere beyond chance"
        return f"{named(leader)} is first in every {noun}, {where}."
    if sure:
        where = names_list([*sure])
        return f"{named(winners[0])} wins {where}; elsewhere the winner is open."
    return f"No {noun} has a sure winner."


def questions_title(facts: QuestionFacts, leader: str) -> str:
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
        return f"{mixed:,} of {number:,} questions come out both ways for {named(leader)}."
    if never:
        if word != "right":
            return f"{count_of(never, 'question')} {'is' if never == 1 else 'are'} never {word}."
        return f"{count_of(never, 'question')} nobody solves."
    return "No question is out of reach." if word == "right" else f"Each question is {word} once."
