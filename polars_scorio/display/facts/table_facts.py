"""Facts of the rows of a result, from the columns that its frame still has."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_scorio.subjects.scores import JUDGED, LABEL_COUNT

# Of a leaderboard, as JSON: for each column of a number the metric as people write it.
HEADINGS = "headings"
OVERALL = "overall"  # among them: how the columns over all strata were made
BEST = "_best"  # after the column of a number: whether the model is the best by it, beyond doubt


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Facts of all rows: the different values of their columns, ascending."""

    sizes: Mapping[str, Sequence[float]]  # questions, perhaps clusters, and trials of a question
    dropped: Sequence[float]  # trials of a model
    overalls: Sequence[str]  # the kinds of numbers over all strata
    means: Sequence[str]  # how these were made
    corrected: bool
    labels: Sequence[int]  # of verdicts
    intervals: Sequence[tuple[float, str]]  # confidence and inference
    inferences: Sequence[str]  # of a report, whose rows have no confidence
    exceeded: bool  # whether some k exceeds the trials of a question
    families: Sequence[str]  # what differences are adjusted for
    ranks: Sequence[float] | None  # confidence of ranks; None without any
    leads: str  # the metric that orders a board of several
    bold: tuple[bool, bool]  # whether a first model is bold, and whether a best number is
    tiers: bool

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, ends: Sequence[tuple[str, str, str]] = ()) -> RowFacts:
        """From a frame; `ends` are of each number its column, its lower end and its estimate."""
        known, boards = {*frame.columns}, board_headings(frame)

        def values(name: str, *needed: str) -> list[Any]:
            kept = frame[name] if {name, *needed} <= known else pl.Series(dtype=pl.Int64)
            return kept.drop_nulls().unique().sort().to_list()

        sizes, both = {"question": values("questions", "trials")}, ["confidence", "inference"]
        sizes |= {"cluster": values("clusters")} if "clusters" in known else {}
        if sizes["question"]:
            each = frame["trials"] / frame["questions"]
            sizes["trial"] = each.drop_nulls().unique().sort().to_list()
        metrics = [text for name, text in (boards or [{}])[0].items() if name != OVERALL]
        ranked = {"rank", "rank_lo", "rank_hi"} <= known and known & {"confidence", "rank_tied"}
        marks = (f"{number}{BEST}" for number, *_ in ends if f"{number}{BEST}" in known)
        beyond = (frame.select(exceeded_trials(estimate, lo).any()) for _, lo, estimate in ends)
        first = bool(ranked) and not boards and 1 in frame["rank_hi"]
        best = any(True in frame[name].to_list() for name in marks)
        return cls(
            sizes if "trial" in sizes else {},
            values("dropped"), values(OVERALL),
            [*filter(None, (each.get(OVERALL) for each in boards))],
            {JUDGED, LABEL_COUNT} <= known, labels_of(frame),
            frame.select(both).unique().sort(both).rows() if {*both} <= known else [],
            values("inference", "metric", "estimate"), any(one.item() for one in beyond),
            values("adjusted_for", "diff"), values("confidence") if ranked else None,
            metrics[0] if len(metrics) > 1 else "",
            (first and frame.height > 1, best and frame.height > 1),
            has_tiers(frame),
        )  # fmt: skip


def labels_of(rows: pl.DataFrame) -> list[int]:
    """The labels behind rows of a report, if it has them."""
    return rows.get_column(LABEL_COUNT, default=pl.Series(dtype=pl.Int64)).drop_nulls().to_list()


def board_headings(frame: pl.DataFrame) -> list[dict[str, str]]:
    """The headings of a leaderboard, or of several that were joined."""
    boards = frame.get_column(HEADINGS, default=pl.Series(dtype=pl.String))
    return [json.loads(board) for board in boards.drop_nulls().unique(maintain_order=True)]


def exceeded_trials(estimate: str, lo: str) -> pl.Expr:
    """Whether a number has an interval and no unbiased estimate: k exceeds the trials."""
    return pl.col(estimate).is_null() & pl.col(lo).is_not_null()


def each_trials(frame: pl.DataFrame) -> int | None:
    """The trials of a question, if all have the same number."""
    if not {"questions", "trials"} <= set(frame.columns):
        return None
    each = (frame["trials"] / frame["questions"]).unique().to_list()
    return int(each[0]) if len(each) == 1 and each[0] and each[0].is_integer() else None


def has_tiers(frame: pl.DataFrame) -> bool:
    """Whether the models of a ranking fall into tiers that their ranks do not say alone."""
    known = "tier" in frame.columns and frame["tier"].dtype.is_integer() and frame.height > 2
    return known and bool((frame["tier"] > 1).any())
