"""The judges of the cells of a report: their rates, and the labels behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.counting.cluster_membership import cluster_ranks
from polars_scorio.counting.judge_counts import JudgeSample, model_counts
from polars_scorio.counting.tally import class_columns
from polars_scorio.counting.trials import CLUSTER, EVERYTHING, Trials
from polars_scorio.counting.truth_labels import LABELS
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.judges.judge_rates import (
    SAME,
    JudgeRates,
    homogeneity_p,
    rates_of_labels,
    shared_judge,
    stratified_rates,
)
from polars_scorio.kernels.judges.labelled_accuracy import LabelledQuestions

if TYPE_CHECKING:
    from polars_scorio.counting.categories import Classes

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
    """The judges of groups by a calibration sample from elsewhere.

    Raises
    ------
    ValueError
        If the sample lacks a model.
    """
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

    The models of a stratum share a judge if the labels allow it; else each has its own.

    Parameters
    ----------
    flat : DataFrame
        A row for each question of each group.
    group : ndarray of int, shape (Q,)
        The group of each row.
    classes : Classes
        The classes into which trials are counted.
    keys : DataFrame
        The keys of the groups.
    strata : ndarray of int, shape (G,)
        The stratum of each group.

    Raises
    ------
    ValueError
        If there are no labels, or too few of some group.
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
