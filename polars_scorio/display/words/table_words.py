"""The note below a table, and the line below the title of a picture."""

from __future__ import annotations

from collections.abc import Sequence

from polars_scorio.counting.judge_counts import Judge
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.table_facts import RowFacts
from polars_scorio.display.phrases import interval_words, range_text
from polars_scorio.subjects.scores import JUDGED

DAGGER = "†"  # of a number whose k exceeds the trials
_HOLDS = {
    "each pair alone": "each pair by itself",
    "all pairs": "all pairs of models at once",
    "all with the baseline": "all models against the baseline at once",
}
_EXCEEDED = f"{DAGGER} k exceeds the trials of a question: no unbiased estimate exists."
_BEST_BOLD = "Bold: significantly the best of its column, each column by itself."
_TIERS = (
    "Tier 1: no model was shown to be better. Tier 2: worse than some model of tier 1, perhaps not "
    "than all."
)


def judge_words(roles: Roles, labels: Sequence[int] = ()) -> str:
    """Correction of the numbers of a log, in words; empty if its outcomes are no verdicts.

    `labels` has the number of labels behind each number.
    """
    sample = roles.calibration
    if isinstance(sample, Judge):
        rates = (("sensitivity", sample.sensitivity), ("specificity", sample.specificity))
        said = ", ".join(f"{name} {part / whole:.2f} of {whole:,}" for name, (part, whole) in rates)
        return f"corrected for the judge: {said}"
    if sample is not None:
        return "corrected for the judge by a calibration sample of each model"
    if roles.truth is None:
        return ""
    return f"corrected for the judge by {label_range(labels)}labels"


def label_range(labels: Sequence[int]) -> str:
    """The fewest and the most labels, with a space behind them; empty if nobody counted them."""
    return f"{range_text(min(labels), max(labels))} " if labels else ""


def table_note(facts: RowFacts) -> str:
    """Sentences on all numbers of a table, from the columns that it still has."""
    notes = []
    if facts.sizes:
        notes.append(f"{question_count(facts)}{', all strata together' if facts.overalls else ''}.")
    if any(facts.dropped):
        notes.append(f"{_range_words(facts.dropped, 'trial')} of a model dropped.")
    if facts.corrected:
        labels = label_range(facts.labels)
        notes.append(
            f"Corrected for the errors of the judge, by {labels}labels; {JUDGED}: as it said."
        )
    if facts.overalls and facts.means:
        notes.append(f"Columns without a stratum: {', '.join(facts.means)}.")
    if facts.intervals:
        words = " or ".join(target_words(interval_words(*each)) for each in facts.intervals)
        notes.append(f"In brackets: {words}.")
    elif facts.inferences:
        notes.append(f"In brackets: intervals ({', '.join(facts.inferences)}).")
    notes += [_EXCEEDED] if facts.exceeded else []
    if facts.families:
        notes.append(
            "Above zero model_a is better. In brackets: intervals whose confidence holds for "
            f"{' or '.join(_HOLDS.get(kind, kind) for kind in facts.families)}."
        )
    notes += [] if facts.ranks is None else [_rank_note(facts, facts.ranks)]
    notes += [_BEST_BOLD] if facts.bold[1] else []
    return " ".join(notes + ([_TIERS] if facts.tiers else []))


def _rank_note(facts: RowFacts, confidences: Sequence[float]) -> str:
    """Meaning of the ranks."""
    by = f" by {facts.leads}" if facts.leads else ""
    levels = " or ".join(f"{100 * each:.6g} %" for each in confidences)
    bold = " Bold: significantly the best model." if facts.bold[0] else ""
    return f"Ranks{by}: simultaneous {levels}{' ' if levels else ''}ranges.{bold}"


def target_words(intervals: str) -> str:
    """Intervals, in words, and the questions that they are about.

    >>> target_words("90 % intervals"), target_words("90 % intervals, questions as a sample")
    ('90 % intervals, about these questions', '90 % intervals, about questions like these')
    """
    population = ", questions as a sample"
    if population in intervals:
        return intervals.replace(population, ", about questions like these")
    return f"{intervals}, about these questions"


def question_count(facts: RowFacts) -> str:
    """How many questions there are, and trials of each."""
    if not facts.sizes:
        return "no questions"
    *units, each = (_range_words(values, unit) for unit, values in facts.sizes.items())
    return f"{' in '.join(units)}, {each} per question"


def _range_words(values: Sequence[float], unit: str) -> str:
    """One number, or the smallest and the largest, with their unit."""
    ends = [*dict.fromkeys((*values[:1], *values[-1:]))]
    texts = [f"{end:,.0f}" if float(end).is_integer() else f"{end:,.1f}" for end in ends]
    return f"{' to '.join(texts)} {unit}{'' if ends == [1] else 's'}"
