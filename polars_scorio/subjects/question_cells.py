"""Questions of groups as arrays, and how a subject reads and scores them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar, cast

import numpy as np
import polars as pl

from polars_scorio.arguments import Per, View
from polars_scorio.counting.categories import Classes, Need
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.common_questions import cluster_ranks
from polars_scorio.counting.log import CLUSTER, Trials
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import DROPPED, TIMES
from polars_scorio.maths.array_rows import Floats, Ints, distinct_rows
from polars_scorio.maths.interval import Weighted
from polars_scorio.maths.posteriors import SeparatePosteriors, Target
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.metrics.metric import Metric, MetricOfCounts

if TYPE_CHECKING:
    from typing_extensions import Self


# The group of a cell, in a frame of facts; how many trials of a question were looked at.
GROUP, PREFIX = ":group", ":prefix"
# The number of questions without any outcome, where they are left out; that of clusters.
UNSCORED, CLUSTERS = "unscored", "clusters"
# The stratum of a question, as a number, in a pool of strata; and the weight of that stratum.
STRATUM, WEIGHT = ":stratum_of_pool", ":weight_of_stratum"


FoundT = TypeVar("FoundT")
Metrics: TypeAlias = "Sequence[Metric]"
Confidence: TypeAlias = "Floats | float"  # one of each cell, or of all
# The scores of each cell, by metric and draw size; a module above this one defines them.
CellScores: TypeAlias = "dict[tuple[str, int | None], Any]"


@dataclass(frozen=True, slots=True, eq=False)
class QuestionCells:
    """Questions in cells, which are the groups of a log or each of their questions."""

    classes: Classes  # into which the trials of a question are counted
    flat: pl.DataFrame  # a row for each question of each group, or for all that are alike
    group: Ints  # of each row, (R,)
    states: States  # the questions in their cells
    fitted: States  # and in their groups; the same object if groups are the cells
    unscored: Ints  # questions without any outcome that were left out, of each group
    lost: Ints  # and the trials with them
    clusters: Subgroups[States] | None  # the questions of the groups in their clusters
    strata: Subgroups[States] | None = None  # and in the strata of a pool, with their weights
    stratum: Ints | None = None  # of each group, which have ranges of their own; None: all one
    findings: dict[str, Any] = field(default_factory=dict)  # by subjects, of the groups

    @classmethod
    def read(
        cls,
        groups: pl.Series,
        classes: Classes,
        *,
        with_prior: bool,
        per_question: bool = False,
        strata: Ints | None = None,
    ) -> QuestionCells:
        """Read the list of questions of each group, all of one stratum by default."""
        flat = groups.explode(**AS_ROWS).struct.unnest()
        group = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
        counts = count_matrix(flat, classes.columns())
        empty = counts.sum(axis=1) == 0
        without, dropped = row_questions(flat)[empty], dropped_trials(flat)[empty]
        unscored, lost = (
            np.bincount(group[empty], each, len(groups)).astype(np.int64)
            for each in (without, dropped)
        )
        if empty.any():
            flat, group, counts = flat.filter(pl.Series(~empty)), group[~empty], counts[~empty]
        no_prior = np.broadcast_to(np.int64(0), counts.shape)
        prior = count_matrix(flat, classes.columns(":d")) if with_prior else no_prior
        every = row_questions(flat)
        fitted = States.tally(counts, prior, group, every, len(groups))
        states = fitted
        if per_question:
            states = States.tally(counts, prior, np.arange(len(flat)), every, len(flat))
        clusters = None
        if CLUSTER in flat.columns:
            clusters = Subgroups.tally(
                counts, prior, group, cluster_ranks(flat), every, len(groups)
            )
        pooled = None
        if STRATUM in flat.columns:
            stratum, weight = stratum_weights(flat, group)
            of_rows = counts, 0 * counts, group, stratum, every
            pooled = Subgroups.tally(*of_rows, len(groups), weight)
        return cls(classes, flat, group, states, fitted, unscored, lost, clusters, pooled, strata)

    @classmethod
    def from_states(cls, states: States, classes: Classes) -> QuestionCells:
        """Cells of questions with their counts alone: no answers, rewards or clusters."""
        none = np.zeros(states.groups, dtype=np.int64)
        return cls(classes, pl.DataFrame(), none[:0], states, states, none, none, None)

    @property
    def per_question(self) -> bool:
        """Whether each question is a cell."""
        return self.states is not self.fitted

    @property
    def cell_of_row(self) -> Ints:
        """The cell of each row of `flat`."""
        return np.arange(len(self.flat)) if self.per_question else self.group

    @property
    def group_of_cell(self) -> Ints:
        """The group of each cell."""
        return self.group if self.per_question else np.arange(self.states.groups)

    def by_question(self) -> QuestionCells:
        """Cells of one question each, without prior trials."""
        counts = count_matrix(self.flat, self.classes.columns())
        return replace(self, states=States.from_rows(counts))

    def weighted(self, successes: Sequence[int]) -> Weighted:
        """The questions of the cells by their successes; in a pool by the weights of strata."""
        strata = self.strata and self.strata.binary([*successes])
        return Weighted(self.states.binary([*successes]), strata)

    def seen_as(self, view: View, states: States | None = None) -> States:
        """The states of the cells, or others of the same classes, as a metric looks at them."""
        states = self.states if states is None else states
        # Two classes of which the last is success are failure and success already.
        if view == "success" and (self.classes.size, self.classes.successful) != (2, [1]):
            return states.binary(self.classes.successful)
        return states

    def question_successes(self) -> Ints:
        """The successes of each question."""
        counts = count_matrix(self.flat, self.classes.columns())
        return np.asarray(counts[:, self.classes.successful].sum(axis=1))

    def subject(self, view: View) -> ViewSubject | None:
        """The subject of a view; None of outcomes, which are counted already."""
        subjects = (need for need in self.classes.needs if isinstance(need, ViewSubject))
        return next((each for each in subjects if each.view == view), None)

    def settled(self, asked: Sequence[tuple[Metric, View]]) -> list[tuple[Metric, View]]:
        """The metrics with the views that they have once the questions are counted."""
        for need in self.classes.needs:
            if isinstance(need, RewardSubject):
                asked = need.settled(asked, self)
        return [*asked]

    def once(self, name: str, find: Callable[[], FoundT]) -> FoundT:
        """A finding of a subject about the groups, under its name."""
        if name not in self.findings:
            self.findings[name] = find()
        return cast("FoundT", self.findings[name])

    def column(self, name: str) -> Floats:
        """A column of numbers of each row, NaN for null."""
        return np.asarray(self.flat[name].to_numpy(), dtype=np.float64)

    def row_clusters(self) -> Ints | None:
        """The cluster of each row as a number, if the log has them."""
        return cluster_ranks(self.flat) if CLUSTER in self.flat.columns else None

    def row_strata(self) -> tuple[Ints, Floats] | None:
        """`stratum_weights` in a pool of strata."""
        return stratum_weights(self.flat, self.group) if STRATUM in self.flat.columns else None

    def scored_trials(self) -> Ints:
        """The trials of each question that have an outcome."""
        return np.asarray(count_matrix(self.flat, self.classes.columns()).sum(axis=1))

    def facts(self) -> pl.DataFrame:
        """The group of each cell, and its numbers of questions, clusters, trials, dropped."""
        cells = self.states.groups
        dropped = np.bincount(self.cell_of_row, weights=dropped_trials(self.flat), minlength=cells)
        if not self.per_question:
            dropped += self.lost
        owner = self.group_of_cell
        clusters = {} if self.clusters is None else {CLUSTERS: self.clusters.number[owner]}
        return pl.DataFrame(
            {
                GROUP: owner,
                "questions": self.states.size,
                **clusters,
                "trials": self.states.trials,
                "dropped": dropped,
                UNSCORED: self.unscored[owner],
            }
        )


@dataclass(frozen=True, eq=False)  # no slots: what is asked for is kept
class QuestionTable:
    """The named questions of some groups, R rows ascending by group, name and stratum."""

    cells: QuestionCells  # of whole groups, which keep the names of their questions
    question: str  # the column of the names
    _known: dict[tuple[str, int | None], Floats | None] = field(default_factory=dict)

    @cached_property
    def order(self) -> Ints:
        """The row of `cells.flat` of each question."""
        rows = self.cells.flat.select(pl.Series(":group", self.cells.group), self.question)
        # Stable: pools have their strata in order, in which a name may occur several times.
        order = pl.arg_sort_by(":group", self.question, maintain_order=True)
        return rows.select(order).to_series().to_numpy()

    @cached_property
    def group(self) -> Ints:
        """The group of each question."""
        return self.cells.group[self.order]

    @cached_property
    def size(self) -> Ints:
        """Questions of each group."""
        return np.bincount(self.group, minlength=self.cells.fitted.groups)

    @cached_property
    def start(self) -> Ints:
        """The first row of each group."""
        return np.cumsum(self.size) - self.size

    @cached_property
    def trials(self) -> Ints:
        """Trials of each question."""
        return self.cells.scored_trials()[self.order]

    @cached_property
    def name(self) -> Ints:
        """The name of each question as a number."""
        return self.cells.flat[self.question].rank("dense").to_numpy()[self.order].astype(np.int64)

    @cached_property
    def cluster(self) -> Ints | None:
        """The cluster of each question, if the log has clusters."""
        clusters = self.cells.row_clusters()
        return None if clusters is None else clusters[self.order]

    @cached_property
    def weight(self) -> Floats | None:
        """The share of each question in the mean of its group, but for a factor; None: equal."""
        strata = self.cells.row_strata()
        share = None if strata is None else strata[1]
        return None if share is None or (share == share[:1]).all() else share[self.order]

    def rows_of(self, groups: Ints) -> Ints:
        """The rows of groups that have the same questions, (M, L)."""
        return np.asarray(self.start[groups] + np.arange(self.size[groups[0]])[:, None])

    def ranges(self, metric: Metric) -> tuple[Floats, Floats]:
        """The least value of a metric in each group, and how far the largest lies above it."""
        rewards = self.cells.classes.need(RewardSubject)
        assert rewards is not None  # outcomes have the range of the metric
        return rewards.ranges(metric, self.cells)

    def estimates(self, metric: Metric, view: View, k: int | None) -> Floats | None:
        """The unbiased estimate of each question; None if a metric has no such estimates."""
        row = metric.name, k
        if row not in self._known:
            values = question_estimates(metric, view, k, self.cells)
            self._known[row] = None if values is None else values[self.order]
        return self._known[row]


class Listed(Protocol):
    """The values of each group as a list, in an aggregation of a column."""

    def aggregation(self, outcome: pl.Expr) -> pl.Expr:
        """The values of a group; an empty list if its column has others."""

    def estimates(self, metric: object, name: str, lists: pl.Series) -> pl.Series:
        """The estimate of each group; null without any value, or if k exceeds them."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A report that is asked of a log, as far as subjects have to know."""

    trials: Trials
    metrics: Sequence[Metric]
    views: Sequence[View]
    prior: object  # None: numbers are calibrated
    target: Target
    per: Per
    planned: int | None  # trials or questions, of repeated looks

    def of_view(self, view: View) -> list[Metric]:
        """The metrics of a view."""
        pairs = zip(self.metrics, self.views, strict=True)
        return [metric for metric, its_view in pairs if its_view == view]


class Subject(Need):
    """A thing to ask of a log beside outcomes: how its arrays are read, and what it changes."""

    __slots__ = ()
    view: ClassVar[View | None] = None  # of its metrics; None: it has none of its own
    claims: ClassVar[tuple[str, ...]] = ()  # roles that decide on the views of all metrics
    claimed: ClassVar[View] = "success"  # the view of all metrics, if a log has such a role
    binary: ClassVar[bool] = False  # needs success and failure
    page_warnings: ClassVar[tuple[type[Warning], ...]] = ()  # of what a page says in its own words

    @classmethod
    def from_asked(cls, asked: Asked) -> Self:  # noqa: ARG003 - of some
        """The needs of metrics of its view, or of a role that it claims, if options allow it."""
        return cls()

    @classmethod
    def listed(cls, answer: MetricOfCounts, roles: Roles) -> Listed | None:  # noqa: ARG003 - of some
        """The lists that an answer about groups needs if their column holds floats."""
        return None

    def inference(self, confidence: float, target: Target) -> Any:  # noqa: ANN401 - of a module above
        """An inference of its own, which then gives the numbers of all metrics."""
        return None

    def prepare(
        self, cells: QuestionCells, groups: pl.DataFrame, strata: Ints, trials: Trials
    ) -> None:
        """Find out of all groups what each of them needs, once."""

    def warn(self, numbers: CellScores, keys: pl.DataFrame, trials: Trials, n: Ints) -> None:
        """Warn of what is doubtful in the numbers of groups, of n trials each."""


class ViewSubject(Subject, ABC):
    """A subject whose metrics have a view of their own, which it scores."""

    __slots__ = ()
    view: ClassVar[View]
    looks_at: ClassVar[str] = "outcomes"  # of metrics that may have the view

    @classmethod
    @abstractmethod
    def takes(cls, metric: Metric, trials: Trials) -> bool:
        """Whether such a metric has the view in this log; refuses it where a role is lacking."""

    @abstractmethod
    def numbers(
        self, metrics: Metrics, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> CellScores:
        """The calibrated numbers of metrics of the view, for each draw size and cell."""

    def macro_numbers(
        self, metrics: Metrics, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> CellScores:
        """The numbers of means over the strata of each cell; empty if the strata give them."""
        return {}

    @abstractmethod
    def estimates(self, metric: Metric, k: int | None, cells: QuestionCells) -> Floats | None:
        """The unbiased estimate of each row of `cells.flat`; NaN if k exceeds its trials."""


class RewardSubject(ViewSubject):
    """The subject of questions that hold more than counts: values, which have a range."""

    __slots__ = ()

    @abstractmethod
    def ranged(self) -> Self:
        """The subject, with the least and the largest value of each question."""

    @abstractmethod
    def moments(self, questions: pl.DataFrame) -> tuple[Floats, ...]:
        """The mean of each question, its standard error, and the ends of its values."""

    @abstractmethod
    def prefixes(self, groups: pl.DataFrame, classes: Classes) -> pl.DataFrame:
        """The groups after n = 1, 2, ... trials of each question, up to the most of a group."""
        # A row for each n and group, ascending: `PREFIX`, which is n, the place of the `GROUP`, and
        # its `QUESTIONS`, each with a `SEQUENCE`. One with fewer trials stays at all.

    @abstractmethod
    def bounds_of(self, metric: Metric) -> str:
        """Whether the range of a metric is "given" or "observed"."""

    @abstractmethod
    def ranges(self, metric: Metric, cells: QuestionCells) -> tuple[Floats, Floats]:
        """The least value of a metric in each cell, and how far the largest lies above it."""

    @abstractmethod
    def settled(
        self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells
    ) -> Sequence[tuple[Metric, View]]:
        """Metrics with the views that they have once the questions are counted."""


def question_estimates(
    metric: Metric, view: View, k: int | None, cells: QuestionCells
) -> Floats | None:
    """The estimate of each row of `cells.flat`; NaN if k exceeds its trials."""
    subject = cells.subject(view)
    if subject is not None:
        return subject.estimates(metric, k, cells)
    if not metric.per_question:
        return None
    unbiased = metric.with_unbiased_estimate()
    return unbiased.summary(SeparatePosteriors(cells.by_question().seen_as(view)), k).estimate


def stratum_weights(flat: pl.DataFrame, group: Ints) -> tuple[Ints, Floats]:
    """The stratum of each row, and the weight of a question of it in a mean, on any scale."""
    stratum = flat[STRATUM].to_numpy().astype(np.int64)
    _, place = distinct_rows([group, stratum])
    return stratum, flat[WEIGHT].to_numpy() / np.bincount(place, row_questions(flat))[place]


def row_questions(flat: pl.DataFrame) -> Ints:
    """For how many questions each row stands."""
    if TIMES in flat.columns:
        return flat[TIMES].to_numpy()
    return np.broadcast_to(np.int64(1), len(flat))


def dropped_trials(flat: pl.DataFrame) -> Ints:
    """How many trials without an outcome the questions of each row have."""
    return np.asarray(flat[DROPPED].to_numpy() * row_questions(flat))


def count_matrix(flat: pl.DataFrame, columns: list[str]) -> Ints:
    """Columns of integers as a matrix with a row for each row, which lies column after column."""
    return np.stack([flat[column].to_numpy() for column in columns], dtype=np.int64).T
