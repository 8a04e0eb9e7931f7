"""Method notes of a page: formulas, options, version, and a hash of the counts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import polars as pl

from polars_scorio.display.log_summary import metric_label
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import Metric

_TARGETS = {
    "benchmark": "these questions, and no others",
    "population": "the population of questions that these are a sample of",
}


@dataclass(frozen=True, slots=True)
class About:
    """How a page was made."""

    sentences: Sequence[str]  # meaning of the numbers, without statistics
    facts: dict[str, str]  # assumptions, and by what it was made
    formulas: dict[str, str]  # metrics as people write them, with their formula


def method_notes(
    counts: pl.DataFrame,
    metrics: Sequence[Metric],
    settings: Settings,
    *,
    call: str,
    version: str,
    now: datetime | None = None,
) -> About:
    """How a page was made from its counts (in a fixed order), at `now` or `build_time`."""
    when = (now or build_time()).strftime("%Y-%m-%d %H:%M UTC")
    facts = {
        "intervals": settings.intervals,
        "prior": settings.prior_in_words,
        "target": _TARGETS[settings.target],
        "made by": f"polars-scorio {version}, polars {pl.__version__}",
        "made on": when,
        "call": call,
        "counts, SHA-256": counts_hash(counts),
    }
    return About(method_sentences(settings), facts, metric_formulas(metrics))


def method_sentences(settings: Settings) -> tuple[str, str, str]:
    """Meaning of the numbers, in three sentences for readers without statistics.

    >>> method_sentences(Settings())[2]
    'A model is called better only if the interval of the difference leaves out zero.'
    """
    about = (
        "more trials of the same questions"
        if settings.target == "benchmark"
        else "other questions of the same kind"
    )
    return (
        "A score is the mean over the questions of what the trials of a model achieved.",
        f"The interval beside it says how far {about} could move it ({settings.level} confidence).",
        "A model is called better only if the interval of the difference leaves out zero.",
    )


def gate_sentences(level: str, margin: str) -> tuple[str, str, str]:
    """Meaning of the numbers of a gate; `level` is its confidence.

    >>> gate_sentences("one-sided 95 %", "2 points")[1]
    'Each end of the interval beside it holds by itself (one-sided 95 %).'
    """
    about = "The difference is the mean over the questions of what the candidate achieved beyond"
    passes = f"A gate passes if the lower end is above a loss of {margin}, fails if the upper end"
    return (
        f"{about} the baseline.",
        f"Each end of the interval beside it holds by itself ({level}).",
        f"{passes} is below, and is else undecided.",
    )


def build_time() -> datetime:
    """When a page is made: now, or the time that SOURCE_DATE_EPOCH sets for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(timezone.utc)
    try:
        return datetime.fromtimestamp(int(epoch), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH must be whole seconds since 1970, got {epoch!r}: set it so, or "
            "unset it"
        ) from None


def metric_formulas(metrics: Sequence[Metric]) -> dict[str, str]:
    """Metrics as people write them, with the formulas of those that have one."""
    return {metric_label(metric): metric.formula for metric in metrics if metric.formula}


def counts_hash(counts: pl.DataFrame) -> str:
    """A hash of the counts: the same for the same trials, in whatever order, anywhere.

    >>> counts_hash(pl.DataFrame({"category": [0, 1], "count": [3, 5]}))[:12]
    'bbce923d941b'
    """
    return hashlib.sha256(counts.write_csv().encode()).hexdigest()
