"""Questions of groups as arrays, with what is known of their judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from polars_scorio.arguments import View
from polars_scorio.counting.answers import RIGHT, VOTES
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import AS_ROWS, BALLOTS
from polars_scorio.counting.common_questions import cluster_ranks
from polars_scorio.counting.cost_sums import (
    COST_SQUARES,
    LARGEST_COST,
    SUCCESS_COST,
    SUCCESS_SQUARES,
    TOTAL_COST,
)
from polars_scorio.counting.judge_counts import JudgeSample, model_counts
from polars_scorio.counting.log import CLUSTER, EVERYTHING, Study, Trials
from polars_scorio.counting.reward_sums import (
    FRACTIONS,
    LARGEST_REWARD,
    LEAST_REWARD,
    MEAN_REWARD,
    REWARD_ERROR,
)
from polars_scorio.counting.tally import DROPPED, REWARDS, TIMES, class_columns
from polars_scorio.counting.truth_labels import LABELS
from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows
from polars_scorio.maths.ballots import Ballots, Votes
from polars_scorio.maths.cost_means import CostMeans, CostQuestions, QuestionCosts
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.judges import (
    SAME,
    JudgeRates,
    homogeneity_p,
    rates_of_labels,
    shared_judge,
    stratified_rates,
)
from polars_scorio.maths.labels import LabelledQuestions
from polars_scorio.maths.posteriors import SeparatePosteriors
from polars_scorio.maths.questions import Clustered, States, Strata, clustered_groups
from polars_scorio.maths.reward_prices import GroupRewards, QuestionRewards
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.metrics.metric import Metric, RewardMetric, given_reward_range
from polars_scorio.metrics.metric_arguments import Bounds

LEAST_LABELS = 10
_WHOLE = 0.9  # of the trials of labelled questions: whole questions were labelled


@dataclass(frozen=True, slots=True, eq=False)
class CellJudges:
    """The judge of each cell, arrays of shape (G,).

    Attributes
    ----------
    rates : JudgeRates
        By all labels of the judge.
    judge : ndarray of int
        Number of the judge; cells with the same number share one.
    number : ndarray of float
        Labels of the judge.
    labels : CellLabels or None
        The labels on these very trials; None if they are from elsewhere.
    """

    rates: JudgeRates
    judge: Ints
    number: Floats
    labels: CellLabels | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CellLabels:
    """The labels of people on the trials of each cell.

    Attributes
    ----------
    questions : LabelledQuestions
        The questions with their labels.
    own, together : JudgeRates
        Rates by the labels of a cell alone, and by those of all cells of its stratum.
    """

    questions: LabelledQuestions
    own: JudgeRates
    together: JudgeRates


def label_totals(log: LabelledQuestions) -> Floats:
    """Labels of each group, shape (G, 4)."""
    return np.stack([log.sums(column) for column in log.labels.T], axis=1)


def sampled_judges(sample: JudgeSample, groups: pl.DataFrame, trials: Trials) -> CellJudges:
    """The judges of groups by a calibration sample from elsewhere, which may lack no model."""
    name = None if trials.model is None else trials.model.name
    models = [None] * len(groups) if name is None else groups[name].to_list()
    counts = model_counts(sample, models)
    _, judge = np.unique(counts, axis=0, return_inverse=True)
    rates = JudgeRates(*np.array(counts, dtype=np.float64).T)
    return CellJudges(rates, judge.ravel(), rates.labels)


def labelled_judges(
    flat: pl.DataFrame, group: Ints, classes: Classes, keys: pl.DataFrame, strata: Ints
) -> CellJudges:
    """The judges of groups by labels of people on their trials.

    The models of a stratum share a judge if the labels allow it; else each has its own. Too few
    labels of some group are refused.
    """
    log = labelled_questions(flat, group, classes, len(keys))
    totals = label_totals(log)
    _refuse_few_labels(totals[:, 0] + totals[:, 2], keys)
    own = own_counts(log, totals)
    rates, together, judge = own.copy(), own.copy(), np.arange(len(keys))
    number = totals[:, 0] + totals[:, 2]
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        together[:, rows] = own[:, rows].sum(axis=1, keepdims=True)
        if shared_judge(JudgeRates(*own[:, rows])):
            rates[:, rows], judge[rows] = together[:, rows], rows[0]
            number[rows] = number[rows].sum()
    labels = CellLabels(log, JudgeRates(*own), JudgeRates(*together))
    return CellJudges(JudgeRates(*rates), judge, number, labels)


def own_counts(log: LabelledQuestions, totals: Floats) -> Floats:
    """Counts of the judge of each group by its labels, as `JudgeRates.counts` has them.

    If one of both verdicts was labelled more often, the verdicts on all trials weigh the labels.
    """
    judged = log.sums(log.verdicts) / log.sums(log.trials)
    drawn, weighed = rates_of_labels(totals), stratified_rates(totals, judged)
    return np.where(_chosen_by_verdict(log, totals), weighed.counts, drawn.counts)


def _chosen_by_verdict(log: LabelledQuestions, totals: Floats) -> Mask:
    """Whether the labelled shares of both verdicts differ by more than chance, at 5 %.

    Not if whole questions were labelled: these differ in their verdicts by nature.
    """
    right = log.sums(log.verdicts)
    verdicts = np.stack([right, log.sums(log.trials) - right], axis=1)
    pairs = zip(totals[:, [0, 2]], verdicts, strict=True)
    differ = [homogeneity_p(labels, given) <= SAME for labels, given in pairs]
    given = log.labels[:, [0, 2]].sum(axis=1)
    whole = log.sums(given) >= _WHOLE * log.sums(np.where(given > 0, log.trials, 0.0))
    return np.asarray(np.array(differ) & ~whole)


def labelled_questions(
    flat: pl.DataFrame, group: Ints, classes: Classes, groups: int
) -> LabelledQuestions:
    """The questions in an order that does not depend on that of the rows: so do sums over them."""
    counts = np.stack([flat[name].to_numpy() for name in class_columns(classes)])
    verdicts, trials = counts[classes.successful].sum(axis=0), counts.sum(axis=0)
    labels = np.stack([flat[name].to_numpy() for name in LABELS], axis=1)
    order = np.lexsort([*labels.T, verdicts, trials, group])
    trials, verdicts, labels = (
        each[order].astype(np.float64) for each in (trials, verdicts, labels)
    )
    cluster = cluster_ranks(flat)[order] if CLUSTER in flat.columns else None
    return LabelledQuestions(group[order], groups, trials, verdicts, labels, cluster)


def _refuse_few_labels(labels: Floats, keys: pl.DataFrame) -> None:
    """Refuse groups with fewer labels than an interval can rest on."""
    if not labels.sum():
        raise ValueError(
            "truth: no trial with a verdict has a label, so nothing is known of the judge. Fill "
            "the column (ps.sample_to_label says for which trials), or leave truth= out"
        )
    names = [name for name in keys.columns if name != EVERYTHING]
    few = np.flatnonzero(labels < LEAST_LABELS)
    if few.size:
        place = ", ".join(f"{name}={keys[name][int(few[0])]!r}" for name in names)
        which, first = "the log has", ""
        if names:
            which = f"{few.size:,} of {labels.size:,} models {'has' if few.size == 1 else 'have'}"
            first = f", the first at {place}"
        raise ValueError(
            f"truth: {which} fewer than {LEAST_LABELS} labels{first}: {int(labels[few[0]])}. Label "
            "more trials (ps.sample_to_label says which), or give the labels of other models as "
            "judge=ps.judge(sensitivity=..., specificity=...) if the same judge gave all verdicts"
        )


# The group of a cell, in a frame of facts.
GROUP = ":group"
# The number of questions without any outcome, where they are left out; that of clusters.
UNSCORED, CLUSTERS = "unscored", "clusters"
# The stratum of a question, as a number, in a pool of strata that weigh the same.
STRATUM = ":stratum_of_pool"


@dataclass(frozen=True, slots=True, eq=False)
class QuestionCells:
    """Questions in cells, which are the groups of a log or each of their questions.

    Attributes
    ----------
    classes : Classes
        The classes into which the trials of a question are counted.
    flat : DataFrame
        A row for each question of each group, or for all that are alike: see `group_plan`.
    group : ndarray of int, shape (R,)
        The group of each row.
    states, fitted : States
        The questions in their cells, and in their groups; the same object if groups are the cells.
    unscored, lost : ndarray of int, shape (groups,)
        How many questions without any outcome were left out, and how many trials with them.
    clusters : Clustered or None
        The questions of the groups in their clusters, if the log has them.
    strata : Strata or None
        The questions of the groups in strata that weigh the same, if they are pools of such.
    observed : Observed or None
        The range of the rewards of each group, if nobody gave it.
    judges : CellJudges or None
        The judge of each group, if the outcomes are verdicts of an imperfect one.
    study : Study or None
        The study that keeps the fits of these questions, if there is one.
    """

    classes: Classes
    flat: pl.DataFrame
    group: Ints
    states: States
    fitted: States
    unscored: Ints
    lost: Ints
    clusters: Clustered[States] | None
    strata: Strata[States] | None = None
    observed: Observed | None = None
    judges: CellJudges | None = None
    study: Study | None = None

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
        """Read the list of questions of each group.

        `strata` says to which stratum each group belongs; default: all to one.
        """
        flat = groups.explode(**AS_ROWS).struct.unnest()
        group = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
        counts = count_matrix(flat, class_columns(classes))
        empty = counts.sum(axis=1) == 0
        without, dropped = row_questions(flat)[empty], dropped_trials(flat)[empty]
        unscored, lost = (
            np.bincount(group[empty], each, len(groups)).astype(np.int64)
            for each in (without, dropped)
        )
        if empty.any():
            flat, group, counts = flat.filter(pl.Series(~empty)), group[~empty], counts[~empty]
        no_prior = np.broadcast_to(np.int64(0), counts.shape)
        prior = count_matrix(flat, class_columns(classes, ":d")) if with_prior else no_prior
        every = row_questions(flat)
        fitted = States.tally(counts, prior, group, every, len(groups))
        states = fitted
        if per_question:
            states = States.tally(counts, prior, np.arange(len(flat)), every, len(flat))
        clusters = None
        if CLUSTER in flat.columns:
            clusters = Clustered.tally(
                counts, prior, group, cluster_ranks(flat), every, len(groups)
            )
        pooled = None
        if STRATUM in flat.columns:
            stratum = flat[STRATUM].to_numpy().astype(np.int64)
            pooled = Strata.tally(counts, group, stratum, every)
        observed = None
        if LEAST_REWARD in flat.columns:
            each = np.zeros(len(groups), np.int64) if strata is None else strata
            observed = Observed.read(flat, group, each)
        return cls(classes, flat, group, states, fitted, unscored, lost, clusters, pooled, observed)

    def with_judges(self, keys: pl.DataFrame, strata: Ints, trials: Trials) -> QuestionCells:
        """The cells with the judge of each group, of which the keys and strata are given."""
        sample = trials.roles.calibration
        if sample is not None:
            return replace(self, judges=sampled_judges(sample, keys, trials))
        judges = labelled_judges(self.flat, self.group, self.classes, keys, strata)
        return replace(self, judges=judges)

    @classmethod
    def of_states(cls, states: States, classes: Classes) -> QuestionCells:
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
        counts = count_matrix(self.flat, class_columns(self.classes))
        every = np.arange(len(self.flat))
        states = States.tally(counts, 0 * counts, every, np.ones_like(every), every.size)
        return replace(self, states=states)

    def calibrated(self, successes: Sequence[int], *, pooled: bool = False) -> Calibrated:
        """Both fits of the cells by their successes; if `pooled`, of pools of strata."""
        states = self.states.binary([*successes])
        strata = self.strata.binary([*successes]) if pooled and self.strata is not None else None

        def fit() -> Calibrated:
            return Calibrated.fit(states, strata)

        if self.study is None:
            return fit()
        parts = [states] if strata is None else [states, strata.states]
        contents = [array for each in parts for array in each.arrays()]
        weights = [] if strata is None else [strata.shares, strata.owner]
        return self.study.fitted([*contents, *weights], fit)

    def seen_as(self, view: View, states: States | None = None) -> States:
        """The states of the cells, or others of the same classes, as a metric looks at them."""
        states = self.states if states is None else states
        # Two classes of which the last is success are failure and success already.
        if view == "success" and (self.classes.size, self.classes.successful) != (2, [1]):
            return states.binary(self.classes.successful)
        return states

    def question_costs(self, *, clustered: bool) -> tuple[QuestionCosts, CostQuestions]:
        """The costs of each question, and its cell, stratum and (if `clustered`) cluster."""
        flat, named = self.flat, clustered and CLUSTER in self.flat.columns
        names = (TOTAL_COST, COST_SQUARES, LARGEST_COST, SUCCESS_COST, SUCCESS_SQUARES)
        sums = [_float_column(flat, name) for name in names if name in flat.columns]
        costs = QuestionCosts(self.scored_trials(), self.question_successes(), *sums)
        group = self.cell_of_row
        pooled = STRATUM in flat.columns
        stratum = flat[STRATUM].to_numpy().astype(np.int64) if pooled else np.zeros_like(group)
        cluster = cluster_ranks(flat) if named else None
        return costs, CostQuestions(group, stratum, self.states.groups, cluster)

    def question_successes(self) -> Ints:
        """The successes of each question."""
        counts = count_matrix(self.flat, class_columns(self.classes))
        return np.asarray(counts[:, self.classes.successful].sum(axis=1))

    def reward_estimates(self, metric: RewardMetric, k: int | None) -> QuestionRewards:
        """The estimate of each question from real-valued rewards; the range is `reward_range`."""
        low, width = self.reward_range(metric)
        listed = metric.averages_rewards
        rewards = GroupRewards(
            trials=self.scored_trials(),
            group=self.cell_of_row,
            groups=self.states.groups,
            low=low,
            width=width,
            mean=_float_column(self.flat, MEAN_REWARD) if listed else None,
            error=_float_column(self.flat, REWARD_ERROR) if listed else None,
            rewards=None if listed else self._reward_values(),
            cluster=cluster_ranks(self.flat) if CLUSTER in self.flat.columns else None,
        )
        return metric.reward_estimates(rewards, k)

    def reward_range(self, metric: Metric) -> tuple[Floats, Floats]:
        """The least reward of each cell, and how far the largest lies above it.

        As the metric says, or the accessor; else of the rewards of all models of a stratum.
        """
        owner = self.group_of_cell
        given = self.given_range(metric)
        if given is not None:
            return np.full(owner.size, given[0]), np.full(owner.size, given[1] - given[0])
        assert self.observed is not None  # counted where no range is given
        low, high = self.observed.low[owner], self.observed.high[owner]
        return low, high - low

    def given_range(self, metric: Metric) -> Bounds | None:
        """The range that a user gave for the rewards of a metric."""
        rewards = self.classes.rewards
        return given_reward_range(metric, None if rewards is None else rewards.usual)

    @property
    def has_fractions(self) -> bool:
        """Whether some question has real-valued rewards that are neither 0 nor 1."""
        return self.classes.rewards is not None and bool(self.flat[FRACTIONS].sum())

    def without_rewards(self, asked: Sequence[tuple[Metric, View]]) -> list[tuple[Metric, View]]:
        """The metrics with their views: of rewards that are all 0 or 1, of success and failure."""
        if self.classes.rewards is None or self.classes.known or self.has_fractions:
            return [*asked]
        binary = {None, (0.0, 1.0)}
        return [
            (metric, "success")
            if view == "rewards" and self.given_range(metric) in binary
            else (metric, view)
            for metric, view in asked
        ]

    def scored_trials(self) -> Ints:
        """The trials of each question that have an outcome."""
        return np.asarray(count_matrix(self.flat, class_columns(self.classes)).sum(axis=1))

    def _reward_values(self) -> Floats:
        """The rewards of all trials, question after question."""
        rewards = self.flat[REWARDS].explode(**AS_ROWS).cast(pl.Float64)
        return np.asarray(rewards.to_numpy())

    def votes(self) -> Votes:
        """The answers of each question."""
        return Votes.tally(self._ballots, self.cell_of_row, self.states.groups)

    def vote_clusters(self) -> Clustered[Votes] | None:
        """The answers of the same questions in clusters; None if there are none."""
        if self.clusters is None:
            return None
        tally, cluster = partial(Votes.tally, self._ballots), cluster_ranks(self.flat)
        return clustered_groups(self.cell_of_row, cluster, self.states.groups, tally)

    def votes_of_strata(self) -> Strata[Votes]:
        """The answers of each question with a group for each stratum, and these strata."""
        stratum = self.flat[STRATUM].to_numpy().astype(np.int64)
        first, row = distinct_rows([self.group, stratum])
        return Strata(Votes.tally(self._ballots, row, first.size), self.group[first])

    @property
    def _ballots(self) -> Ballots:
        """The answers of each question."""
        trials = count_matrix(self.flat, class_columns(self.classes)).sum(axis=1)
        return read_ballots(self.flat[BALLOTS], trials)

    def facts(self) -> pl.DataFrame:
        """The group of each cell, and its numbers of questions, clusters, trials, dropped ones.

        Without clusters their number is left out.
        """
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
        flat = self.cells.flat
        return cluster_ranks(flat)[self.order] if CLUSTER in flat.columns else None

    @cached_property
    def weight(self) -> Floats | None:
        """The share of each question in the mean of its group, but for a factor; None: equal."""
        if STRATUM not in self.cells.flat.columns:
            return None
        stratum = self.cells.flat[STRATUM].to_numpy().astype(np.int64)
        _, place = distinct_rows([self.cells.group, stratum])
        sizes = np.bincount(place)[place]
        return None if (sizes == sizes[:1]).all() else (1 / sizes)[self.order]

    def rows_of(self, groups: Ints) -> Ints:
        """The rows of groups that have the same questions, (M, L)."""
        return np.asarray(self.start[groups] + np.arange(self.size[groups[0]])[:, None])

    def estimates(self, metric: Metric, view: View, k: int | None) -> Floats | None:
        """The unbiased estimate of each question; None if a metric has no such estimates."""
        row = metric.name, k
        if row not in self._known:
            values = question_estimates(metric, view, k, self.cells)
            self._known[row] = None if values is None else values[self.order]
        return self._known[row]


def question_estimates(
    metric: Metric, view: View, k: int | None, cells: QuestionCells
) -> Floats | None:
    """The estimate of each row of `cells.flat`; NaN if k exceeds its trials.

    Of costs: what a question adds to the log of their ratio, around that log.
    """
    if isinstance(metric, CostMetric):
        costs, questions = cells.question_costs(clustered=True)
        values, group = metric.cost_values(costs, k), questions.group
        means = CostMeans.of(values, questions, "benchmark")
        return np.asarray(means.log_ratio[group] + means.residuals(values, group))
    if not metric.per_question:
        return None
    single = cells.by_question()
    if view == "rewards" and isinstance(metric, RewardMetric):
        low, width = single.reward_range(metric)
        return np.asarray(low + width * single.reward_estimates(metric, k).values)
    if view == "answers":
        return metric.summary(single.votes(), k).estimate
    unbiased = metric.with_unbiased_estimate()
    return unbiased.summary(SeparatePosteriors(single.seen_as(view)), k).estimate


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The least and the largest reward that was seen in the stratum of each group, shape (G,)."""

    low: Floats
    high: Floats

    @classmethod
    def read(cls, flat: pl.DataFrame, group: Ints, stratum: Ints) -> Observed:
        """Read the ranges of questions, of groups that belong to strata 0, 1, ...; NaN: none."""
        size = int(stratum.max(initial=-1)) + 1
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, stratum[group], flat[LEAST_REWARD].to_numpy())
        np.maximum.at(high, stratum[group], flat[LARGEST_REWARD].to_numpy())
        return cls(low[stratum], high[stratum])


def _float_column(flat: pl.DataFrame, name: str) -> Floats:
    """A column of numbers, NaN for null."""
    return np.asarray(flat[name].to_numpy(), dtype=np.float64)


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


def read_ballots(answers: pl.Series, trials: Ints) -> Ballots:
    """The answers of questions with so many trials each, of which some abstained."""
    lengths = answers.list.len().to_numpy().astype(np.int64)
    question = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(question.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    given = answers.explode(**AS_ROWS).drop_nulls().struct.unnest()
    shape = lengths.size, int(lengths.max(initial=0))
    votes, right = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    votes[question, place] = given[VOTES].to_numpy()
    right[question, place] = given[RIGHT].to_numpy() > 0
    return Ballots(votes, right, trials - votes.sum(axis=1))
