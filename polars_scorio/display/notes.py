"""The note below a table, about all its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_scorio.display.judge_words import label_range
from polars_scorio.display.metric_titles import interval_words
from polars_scorio.reporting.inference.cell_numbers import JUDGED, LABEL_COUNT

_HOLDS = {
    "each pair": "each pair by itself",
    "all pairs": "all pairs of models at once",
    "all with the baseline": "all models against the baseline at once",
}
_OVERALL = {"macro": "means of the strata", "micro": "all questions in one pool"}


def table_note(frame: pl.DataFrame, pairs: Sequence[tuple[str, str]]) -> str:
    """Note about all numbers, from the columns of facts that the frame still has.

    Parameters
    ----------
    frame : DataFrame
        The result.
    pairs : sequence of pairs
        The columns of each number and of its estimate.
    """
    known, notes = set(frame.columns), []
    if {"questions", "trials"} <= known:
        notes.append(f"{question_count(frame)}.")
    if "dropped" in known and frame["dropped"].sum():
        notes.append(f"{_value_range(frame['dropped'], 'trial')} of a model dropped.")
    if {JUDGED, LABEL_COUNT} <= known:
        labels = label_range(frame[LABEL_COUNT])
        notes.append(
            f"Corrected for the errors of the judge, by {labels}labels; {JUDGED}: as it said."
        )
    if "overall" in known:
        kinds = [_OVERALL.get(kind, kind) for kind in frame["overall"].unique().sort()]
        notes.append(f"Columns without a stratum: {', '.join(kinds)}.")
    if {"confidence", "inference"} <= known:
        found = frame.select("confidence", "inference").unique().sort("confidence", "inference")
        words = " or ".join(interval_words(*row) for row in found.rows())
        notes.append(f"In brackets: {words}.")
    ahead = [
        pl.col(number).is_not_null() & pl.col(estimate).is_null()
        for number, estimate in pairs
        if estimate in known
    ]
    if ahead and frame.select(pl.any_horizontal(ahead).any()).item():
        notes.append("Where k exceeds the trials, a number is a prediction.")
    if {"holds", "diff"} <= known:
        kinds = [_HOLDS.get(kind, kind) for kind in frame["holds"].unique().sort()]
        notes.append(
            "Above zero model_a is better. In brackets: intervals whose confidence holds for "
            f"{' or '.join(kinds)}."
        )
    notes += _rank_note(frame) if known & {"confidence", "rank_ci"} else []
    return " ".join(notes)


def question_count(frame: pl.DataFrame) -> str:
    """How many questions there are, and trials of each.

    >>> question_count(pl.DataFrame({"questions": [2, 2], "trials": [8, 10]}))
    '2 questions, 4 to 5 trials per question'
    """
    each = (frame["trials"] / frame["questions"]).round(1)
    together = (
        f" in {_value_range(frame['clusters'], 'cluster')}" if "clusters" in frame.columns else ""
    )
    questions = f"{_value_range(frame['questions'], 'question')}{together}"
    return f"{questions}, {_value_range(each, 'trial')} per question"


def each_trials(frame: pl.DataFrame) -> int | None:
    """The trials of a question, if all have the same number."""
    if not {"questions", "trials"} <= set(frame.columns):
        return None
    each = (frame["trials"] / frame["questions"]).unique().to_list()
    return int(each[0]) if len(each) == 1 and each[0] and each[0].is_integer() else None


def _rank_note(frame: pl.DataFrame) -> list[str]:
    """Meaning of the ranks."""
    if not {"rank", "rank_lo", "rank_hi"} <= set(frame.columns):
        return []
    level = ""
    if "confidence" in frame.columns:
        levels = frame["confidence"].unique().sort()
        level = " at " + " or ".join(f"{100 * each:.10g} %" for each in levels)
    bold = frame.height > 1 and 1 in frame["rank_hi"]
    first = " A bold model has the first one beyond doubt." if bold else ""
    return [f"Ranks: the places that are open{level}, for all models at once.{first}"]


def _value_range(numbers: pl.Series, unit: str) -> str:
    """One number, or the smallest and the largest, with their unit."""
    values = numbers.drop_nulls().to_list()
    ends = sorted({min(values), max(values)}) if values else []
    texts = [f"{end:,.1f}".removesuffix(".0") for end in ends]
    return f"{' to '.join(texts)} {unit}{'' if ends == [1] else 's'}"
