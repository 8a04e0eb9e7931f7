"""Sentences on the analysis of questions: never solved, always solved, reversed."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from polars_scorio.arguments import QuestionUnit
from polars_scorio.display.words import count_of, name_list, probability_text, short_name, text_list

_NAMED = 8  # questions in a sentence
# Fewer models, or fewer trials of a question by all of them, find a reversed question in less than
# a third of the cases: the table of `Scorio.questions`.
_FEW_MODELS, _FEW_TRIALS = 8, 60
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


def question_sentences(
    rows: pl.DataFrame, question: str, fdr: float, unit: QuestionUnit = "question"
) -> list[str]:
    """Sentences on the questions of one stratum, from rows of `Scorio.questions`."""
    if rows.is_empty():
        return ["The log has no questions."]
    solved = []
    if rows["solved_by"].null_count() < rows.height:
        solved = [_solved_sentence(rows, question, unit, status) for status in ("never", "always")]
    return [*solved, reversed_sentence(rows, question, fdr, unit)]


def _solved_sentence(rows: pl.DataFrame, question: str, unit: QuestionUnit, status: str) -> str:
    """How many questions are never (always) solved, and which."""
    found, none = (_SOLVED if rows["models"].max() != 1 else _SOLVED_BY_ONE)[status]
    names = rows.filter(status=status).sort(question)[question].to_list()
    of = count_of(rows.height, unit)
    if not names:
        return none.format(unit=unit)
    listed = name_list(names, _NAMED)
    verb = "was" if len(names) == 1 else "were"
    return f"{len(names):,} of {of} {verb} {found} ({listed})."


def reversed_sentence(
    rows: pl.DataFrame, question: str, fdr: float, unit: QuestionUnit = "question"
) -> str:
    """Sentence on reversed questions, or on why none can be found."""
    if rows["q_reversed"].null_count() == rows.height:
        return (
            f"Whether a {unit} is reversed (strong models fail it, weak ones solve it) cannot be "
            f"tested with fewer than 4 {_compared_kind(rows)} or 2 {unit}s."
        )
    rate = f"false discovery rate {100 * fdr:g} %"
    found = rows.filter("reversed").select(question, "q_reversed").rows()
    if found:
        named = [f"{short_name(name)} (q {_value_equation(q)})" for name, q in found]
        verb, them = ("is", "it") if len(found) == 1 else ("are", "them")
        return (
            f"{count_of(len(found), unit)} {verb} reversed, so that strong models fail "
            f"{them} and weak ones solve {them} ({rate}): {text_list(named, _NAMED)}. Check the "
            "key first."
        )
    if not _finds_reversed(rows):
        number, trials, kind = *_number_and_trials(rows), _compared_kind(rows)
        return (
            f"No {unit} is called reversed, which proves nothing with {number:,} {kind} and "
            f"{count_of(round(trials / number), 'trial')}: below about 15 {kind} with 4 trials "
            f"hardly any reversed {unit} is found."
        )
    return f"No {unit} is called reversed ({rate})."


def reversal_summary(strata: Iterable[pl.DataFrame]) -> str:
    """Half a line on reversed questions: how many, or that none could have been found."""
    rows = [each for each in strata if each.height]
    found = sum(int(each["reversed"].sum()) for each in rows)
    if found or all(map(_finds_reversed, rows)):
        return f"reversed: {count_of(found, 'question')}"
    return "too few models or trials to find reversed questions"


def _value_equation(q: float) -> str:
    """A q-value behind its name: ``= 0.02``, or ``< 0.001``.

    >>> _value_equation(0.0204), _value_equation(0.0)
    ('= 0.020', '< 0.001')
    """
    text = probability_text(q)
    return f"{text[0]} {text[1:]}" if text[0] in "<>" else f"= {text}"


def _finds_reversed(rows: pl.DataFrame) -> bool:
    """Whether a third of the reversed questions and more would be found."""
    number, trials = _number_and_trials(rows)
    return number >= _FEW_MODELS and trials >= _FEW_TRIALS


def _compared_kind(rows: pl.DataFrame) -> str:
    """The word for models, or for their families if those are compared."""
    return "families" if "families" in rows.columns else "models"


def _number_and_trials(rows: pl.DataFrame) -> tuple[int, float]:
    """Number of models or families, and trials of a question by all of them."""
    return int(rows[_compared_kind(rows)].max() or 0), int(rows["trials"].sum()) / rows.height  # type: ignore[arg-type]  # integers
