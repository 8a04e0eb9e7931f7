"""From the questions of groups to the rows of a report: what runs when a plan is collected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl

from polars_scorio.arguments import Per, View
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import BALLOTS
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.tally import DROPPED, QUESTIONS, REWARDS, class_columns
from polars_scorio.counting.trials import CLUSTER, Trials
from polars_scorio.kernels.array_types import Ints
from polars_scorio.kernels.calibrated.vote_price import Votes
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.posteriors import Questions
from polars_scorio.kernels.states import Rewards, States
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import NUMBERS
from polars_scorio.reporting.inference.calibrated import PRICE, calibrated_numbers
from polars_scorio.reporting.inference.choice import Inference
from polars_scorio.reporting.inference.cluster_noise import sample_of
from polars_scorio.reporting.inference.intervals import CENTER, REACH
from polars_scorio.reporting.inference.vote_numbers import read_ballots, vote_numbers

COLUMNS: dict[str, pl.DataType] = {
    "metric": pl.String(),
    "k": pl.Int64(),
    "questions": pl.UInt32(),
    "trials": pl.UInt64(),
    "dropped": pl.UInt64(),
    "estimate": pl.Float64(),
    "mu": pl.Float64(),
    "sigma": pl.Float64(),
    "lo": pl.Float64(),
    "hi": pl.Float64(),
}

# The number of questions without any outcome, where they are left out; that of clusters.
UNSCORED, CLUSTERS = "unscored", "clusters"
# Columns that not every report has, and after which they stand.
_MORE: dict[str, tuple[str, pl.DataType]] = {
    "questions": (CLUSTERS, pl.UInt32()),
    "dropped": (UNSCORED, pl.UInt64()),
}


def result_columns(trials: Trials, per: Per) -> dict[str, pl.DataType]:
    """The columns of a report beside its keys."""
    if per == "question":
        return COLUMNS
    wanted = {CLUSTERS: trials.cluster is not None, UNSCORED: trials.roles.unscored == "drop"}
    columns = dict[str, pl.DataType]()
    for name, dtype in COLUMNS.items():
        more, kind = _MORE.get(name, (name, dtype))
        columns |= {name: dtype} | ({more: kind} if wanted.get(more) else {})
    return columns


def shared_columns(trials: Trials, per: Per = "model") -> list[str]:
    """The columns of a report that all its metrics share."""
    facts = ("questions", CLUSTERS, "trials", "dropped", UNSCORED)
    return [name for name in facts if name in result_columns(trials, per)]


# What an interval is made of, where more than its ends is needed.
AROUND: dict[str, pl.DataType] = {CENTER: pl.Float64(), REACH: pl.Float64()}

# The rows of a report in a list for each group.
RESULTS = ":results"

_GROUP = ":group"

# Name, k and the numbers of all cells: a row that each of them has in a report.
Found: TypeAlias = "tuple[str, int | None, dict[str, pl.Series]]"

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


def tidy(grouped: FrameT) -> FrameT:
    """The rows of a report, of which there is a list for each group."""
    return grouped.explode(RESULTS, **AS_ROWS).unnest(RESULTS)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What has rows of its own in a report: the groups, or each of their questions.

    Attributes
    ----------
    flat : DataFrame
        A row for each question of each group.
    group : ndarray of int, shape (R,)
        The group of each row.
    states, fitted : States
        The questions in their cells, and in their groups; the same object where those are one.
    unscored, lost : ndarray of int, shape (groups,)
        How many questions without any outcome were left out, and how many trials with them.
    clusters : Clustered or None
        The questions of the groups in their clusters, where the log has them.
    """

    flat: pl.DataFrame
    group: Ints
    states: States
    fitted: States
    unscored: Ints
    lost: Ints
    clusters: Clustered | None

    @classmethod
    def read(
        cls, groups: pl.Series, classes: Classes, *, with_prior: bool, per_question: bool = False
    ) -> Cells:
        """Read the list of questions of each group."""
        flat = groups.explode(**AS_ROWS).struct.unnest()
        group = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
        counts = matrix(flat, class_columns(classes))
        empty = counts.sum(axis=1) == 0
        unscored = np.bincount(group[empty], minlength=len(groups))
        lost = np.bincount(group[empty], flat[DROPPED].to_numpy()[empty], len(groups))
        if empty.any():
            flat, group, counts = flat.filter(pl.Series(~empty)), group[~empty], counts[~empty]
        nothing = np.broadcast_to(np.int64(0), counts.shape)
        prior = matrix(flat, class_columns(classes, ":d")) if with_prior else nothing
        every = np.broadcast_to(np.int64(1), len(flat))
        fitted = States.tally(counts, prior, group, every, len(groups))
        states = fitted
        if per_question:
            states = States.tally(counts, prior, np.arange(len(flat)), every, len(flat))
        clusters = None
        if CLUSTER in flat.columns:
            own = flat[CLUSTER].rank("dense").to_numpy().astype(np.int64)
            clusters = Clustered.tally(counts, prior, group, own, every, len(groups))
        return cls(flat, group, states, fitted, unscored, lost.astype(np.int64), clusters)

    @property
    def single(self) -> bool:
        """Whether every question is a cell."""
        return self.states is not self.fitted

    @property
    def cell(self) -> Ints:
        """The cell of each row."""
        return np.arange(len(self.flat)) if self.single else self.group

    @property
    def owner(self) -> Ints:
        """The group of each cell."""
        return self.group if self.single else np.arange(self.states.groups)

    def posterior(self, view: View, inference: Inference) -> Questions | Rewards:
        """What a metric looks at."""
        if view == "rewards":
            return self.rewards()
        if self.single:
            return inference.posterior(view, self.states, self.fitted, self.owner)
        return inference.posterior(view, self.states)

    def rewards(self) -> Rewards:
        """The rewards of each question, which is a row."""
        rewards = self.flat[REWARDS]
        offsets = np.concatenate([[0], np.cumsum(rewards.list.len().to_numpy())]).astype(np.int64)
        values = rewards.explode(**AS_ROWS).cast(pl.Float64).to_numpy()
        return Rewards(values, offsets, self.cell, self.states.groups)

    def votes(self, inference: Inference) -> tuple[Votes, Clustered | None]:
        """The answers of each question, which is a row, and of the same questions in clusters."""
        trials = matrix(self.flat, class_columns(inference.classes)).sum(axis=1)
        ballots, cluster = read_ballots(self.flat[BALLOTS], trials), None
        if inference.intervals.target == "population" and self.clusters is not None:
            cluster = self.flat[CLUSTER].rank("dense").to_numpy().astype(np.int64)
        return Votes.tally(ballots, self.cell, self.states.groups, cluster)

    def facts(self) -> pl.DataFrame:
        """Group, number of questions, of clusters, of trials and of dropped ones of each cell."""
        dropped = np.bincount(self.cell, weights=self.flat[DROPPED], minlength=self.states.groups)
        unscored = self.unscored[self.owner]
        if not self.single:
            dropped += self.lost
        clusters = None if self.clusters is None else self.clusters.number[self.owner]
        return pl.DataFrame(
            {
                _GROUP: self.owner,
                "questions": self.states.size,
                CLUSTERS: clusters,
                "trials": self.states.trials,
                "dropped": dropped,
                UNSCORED: unscored,
            }
        )


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The function from the questions of each group to its rows of the report."""

    metrics: tuple[tuple[Metric, View], ...]
    inference: Inference
    schema: dict[str, pl.DataType]
    with_prior: bool

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """The keys of all groups with their rows; of all at once, which share states."""
        question = [
            name
            for name in self.schema
            if name not in {*COLUMNS, *AROUND, PRICE, UNSCORED, CLUSTERS}
        ]
        cells = Cells.read(
            groups[QUESTIONS],
            self.inference.classes,
            with_prior=self.with_prior,
            per_question=bool(question),
        )
        facts = cells.facts().with_columns(cells.flat[name] for name in question)
        rows = self._rows(facts, [*self._numbers(cells)])
        lists = rows.group_by(_GROUP, maintain_order=True).agg(pl.struct(*self.schema))
        return groups.drop(QUESTIONS).with_columns(lists.to_series(1).alias(RESULTS))

    def _rows(self, facts: pl.DataFrame, found: Sequence[Found]) -> pl.DataFrame:
        """All rows of each cell, cell after cell."""
        cell, row = np.divmod(np.arange(len(facts) * len(found)), len(found))
        labels = pl.DataFrame([*zip(*found, strict=True)][:2], ["metric", "k"])
        columns = [*facts[cell], *labels[row]]
        nothing = pl.Series([None], dtype=pl.Null).new_from_index(0, len(facts))
        for name in self._shown:
            of_rows = (numbers.get(name, nothing).cast(self.schema[name]) for *_, numbers in found)
            # Row after row, to be taken cell after cell.
            columns.append(pl.concat(of_rows).gather(row * len(facts) + cell).alias(name))
        return pl.DataFrame(columns).cast(self.schema)  # type: ignore[arg-type]  # a dict is a mapping

    def _numbers(self, cells: Cells) -> Iterator[Found]:
        """What is found for each row that a cell has in the report."""
        intervals = self.inference.intervals
        polls = [metric for metric, view in self.metrics if view == "answers"]
        known = vote_numbers(polls, *cells.votes(self.inference), intervals) if polls else {}
        calibrated = [
            pair
            for pair in self.metrics
            if self.inference.calibrates(*pair) and pair[0] not in polls
        ]
        known |= calibrated_numbers(calibrated, cells.states, self.inference, cells.clusters)
        rows = {name for name, _ in known}
        others = {view for metric, view in self.metrics if metric.name not in rows}
        views = {view: cells.posterior(view, self.inference) for view in others}
        sample = sample_of(cells.fitted, cells.clusters, self.inference)
        for metric, view in self.metrics:
            for k in metric.k:
                row = metric.name, k
                found = known.get(row)
                if found is None:
                    clustered = sample(metric, k, view)
                    found = intervals.numbers(metric, k, views[view], clustered)
                yield *row, found

    @property
    def _shown(self) -> list[str]:
        """The columns of numbers."""
        return [name for name in (*NUMBERS, CENTER, REACH, PRICE) if name in self.schema]


def matrix(flat: pl.DataFrame, columns: list[str]) -> Ints:
    """Columns of integers as a matrix with a row for each row, which lies column after column."""
    return np.stack([flat[column].to_numpy() for column in columns], dtype=np.int64).T
