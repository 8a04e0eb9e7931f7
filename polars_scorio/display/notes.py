"""The note below a table, about all its numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from polars_scorio.display.judge_words import label_range
from polars_scorio.display.metric_titles import interval_words
from polars_scorio.reporting.inference.cell_numbers import JUDGED, LABEL_COUNT

# Of a leaderboard, as JSON: for each column of a number the metric as people write it.
HEADINGS = "headings"
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
        together = ", all strata together" if "overall" in known else ""
        notes.append(f"{question_count(frame)}{together}.")
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
        words = " or ".join(_target_words(interval_words(*row)) for row in found.rows())
        notes.append(f"In brackets: {words}.")
    elif {"inference", "metric", "estimate"} <= known:  # a report, whose rows have no confidence
        notes.append(f"In brackets: intervals ({', '.join(frame['inference'].unique().sort())}).")
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


def _target_words(intervals: str) -> str:
    """Intervals, in words, and the questions that they are about.

    >>> _target_words("90 % intervals"), _target_words("90 % intervals, questions as a sample")
    ('90 % intervals, about these questions', '90 % intervals, about questions like these')
    """
    population = ", questions as a sample"
    if population in intervals:
        return intervals.replace(population, ", about questions like these")
    return f"{intervals}, about these questions"


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
        level = " at " + " or ".join(f"{100 * each:.6g} %" for each in levels)
    bold = frame.height > 1 and 1 in frame["rank_hi"]
    first = " A bold model has the first one beyond doubt." if bold else ""
    by = _ordering_metric(frame)
    return [f"Ranks{by}: the places that are open{level}, for all models at once.{first}"]


def _ordering_metric(frame: pl.DataFrame) -> str:
    """The metric that orders the models of a leaderboard, its first one."""
    if HEADINGS not in frame.columns:
        return ""
    headings = json.loads(str(frame[HEADINGS].drop_nulls().first() or "{}"))
    return f" by {next(iter(headings.values()))}" if len(headings) > 1 else ""


def _value_range(numbers: pl.Series, unit: str) -> str:
    """One number, or the smallest and the largest, with their unit."""
    values = numbers.drop_nulls().to_list()
    ends = sorted({min(values), max(values)}) if values else []
    texts = [f"{end:,.1f}".removesuffix(".0") for end in ends]
    return f"{' to '.join(texts)} {unit}{'' if ends == [1] else 's'}"
