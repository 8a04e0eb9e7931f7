"""Scores whose runs differ: one more term in the noise of all that a report or comparison says.

The users who name the runs of a log (`run=`) ask about other runs like these. How far these are
apart is read from the log once more: the outcomes of each question in each run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import CONFIDENCE
from polars_scorio.counting.categories import Classes, Need, counted_classes
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.log import CATEGORY, RUN, Log, Trials, bind_roles, result_schema
from polars_scorio.counting.roles import Roles, RunEffects
from polars_scorio.counting.run_bits import (
    RunWords,
    found_words,
    kept_words,
    run_ids,
)
from polars_scorio.counting.tally import class_members, question_rows
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.draws import expected_credit
from polars_scorio.maths.exchangeability import Flags
from polars_scorio.maths.run_effects import (
    RunVariance,
    ScoreRuns,
    SharedRuns,
    pooled_ratio,
    run_variance,
    runs_p_value,
    slopes_of_table,
    widened,
)
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.calibrated import credited_classes
from polars_scorio.study.count_checks import TRIALS
from polars_scorio.study.evaluate import Evaluated, EvaluatedGroups
from polars_scorio.study.log_checks import is_graded, knows_success, question_outcomes
from polars_scorio.study.request import Request
from polars_scorio.subjects.scores import (
    INFORMATION,
    Noise,
    Row,
    Scores,
    clipped_ends,
    look_confidence,
)

_SIZE, _PLACE = ":size", ":place"  # trials of a question in a run; its place among all

Key = tuple[object, ...]


class RunWarning(UserWarning):
    """The runs of a log differ, or the log cannot show whether they do; the message says which."""


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The questions of a group in its runs."""

    counts: Floats  # trials of each class, (M, R, C); of real-valued rewards their sum, (M, R, 1)
    size: Floats  # trials, (M, R)
    weight: Floats  # of each question in the mean, (M,)
    runs: tuple[object, ...]  # their names
    names: pl.Series  # of the questions

    @property
    def present(self) -> Flags:
        """Whether a run has the question."""
        return np.asarray(self.size > 0)

    @property
    def runs_of(self) -> Floats:
        """How many runs have each question."""
        return np.asarray(self.present.sum(1), dtype=np.float64)

    def of_questions(self, names: pl.Series) -> RunTable:
        """The table of some of the questions, which have equal weights."""
        asked = {*names.to_list()}
        kept = np.array([name in asked for name in self.names.to_list()], np.bool_)
        if kept.all():
            return self
        weight = np.full(kept.sum(), 1 / max(kept.sum(), 1))
        return RunTable(
            self.counts[kept], self.size[kept], weight, self.runs, self.names.filter(kept)
        )

    def values(self, weights: Floats) -> Floats:
        """The mean weight of each question in each run; 0 where it is not present."""
        return np.asarray(self.counts @ weights / np.maximum(self.size, 1))

    def credits(self, success: Sequence[int]) -> Floats:
        """The success rate of each question in each run, or its mean reward."""
        classes = self.counts.shape[2]
        credited = np.isin(np.arange(classes), success) if classes > 1 else np.ones(1, np.bool_)
        return self.values(credited.astype(np.float64))


def run_tables(trials: Trials, classes: Classes) -> dict[tuple[object, ...], RunTable]:
    """The questions of each group in its runs, from one read of the log; by the keys of the group.

    Trials without an outcome, or without a run, are left out.
    """
    binary = classes.size == 2 and not classes.summed and [*classes.successful] == [1]
    kept, name = kept_words(trials), trials.question.name
    if kept is not None and trials.study is not None:
        make = partial(_kept_tables, trials, kept)
        return trials.study.kept((trials.groups, name), make) if binary else {}
    words = found_words(trials) if binary else None
    if words is not None:  # a quarter of the time, if no run has several trials of a question
        questions = question_outcomes(trials, words)
        if not words.repeats(questions, questions[TRIALS].to_numpy()).any():
            groups = _keyed_parts(questions, trials.groups)
            return {key: _bit_table(rows, words, name) for key, rows in groups.items()}
    columns = classes.columns()
    if classes.summed:
        columns, parts = columns[:1], [pl.col(CATEGORY).cast(pl.Float64)]
    else:
        parts = class_members(trials, classes)
    present = pl.col(CATEGORY).is_not_null() & pl.col(RUN).is_not_null()
    keys = [*trials.groups, trials.question.name]
    rows = trials.rows(run_ids(trials)).filter(present)
    # Keys may be long texts, which a row for each question and run would repeat.
    known = (
        rows.group_by(keys).agg().sort(keys).collect(engine=trials.engine).with_row_index(_PLACE)
    )
    placed = rows.join(known.lazy(), on=keys, nulls_equal=True)
    sums = [part.sum().alias(name) for part, name in zip(parts, columns, strict=True)]
    cells = placed.group_by(_PLACE, RUN).agg(pl.len().alias(_SIZE), *sums).sort(_PLACE, RUN)
    counted = cells.collect(engine=trials.engine)
    groups = _keyed_parts(known, trials.groups)
    ends = np.cumsum([0, *(table.height for table in groups.values())])  # known is sorted by groups
    first = np.searchsorted(counted[_PLACE].to_numpy(), ends).tolist()
    return {
        key: _dense_table(counted[start:stop], table[trials.question.name], columns)
        for (key, table), (start, stop) in zip(groups.items(), pairwise(first), strict=True)
    }


def _kept_tables(trials: Trials, words: RunWords) -> dict[tuple[object, ...], RunTable]:
    """The questions of each group of counts that hold the outcomes in runs."""
    name = trials.question.name
    keys = [*trials.by, *([trials.model] if trials.model else []), trials.question]
    named = trials.frame.select(*(part.expr.alias(part.name) for part in keys), *words.columns)
    each = named.drop_nulls(words.columns).unique().sort(*trials.groups, name).collect()
    groups = _keyed_parts(each, trials.groups)
    return {key: _bit_table(rows, words, name) for key, rows in groups.items()}


def _keyed_parts(
    frame: pl.DataFrame, keys: Sequence[str]
) -> dict[tuple[object, ...], pl.DataFrame]:
    """The rows of each key in their order, without the plan a key that `partition_by` takes."""
    parts = frame.partition_by(keys, maintain_order=True)
    return {tuple(part[name][0] for name in keys): part for part in parts}


def _bit_table(questions: pl.DataFrame, words: RunWords, name: str) -> RunTable:
    """The table of a group, from the bits of its questions."""
    present, success = words.unpacked(words.question_bytes(questions))
    used = np.flatnonzero(present.any(0))
    present, success = present[:, used], success[:, used]
    names = tuple(words.ids[run] for run in used.tolist())
    counts = np.stack([present & ~success, success], axis=2).astype(np.float64)
    weight = np.full(len(present), 1 / len(present))
    return RunTable(counts, present.astype(np.float64), weight, names, questions[name])


def _dense_table(rows: pl.DataFrame, questions: pl.Series, columns: Sequence[str]) -> RunTable:
    """The table of a group, from a row for each question, by its place, and run."""
    question = rows[_PLACE].to_numpy().astype(np.int64)
    run = rows[RUN].rank("dense").to_numpy().astype(np.int64) - 1
    at, shape = (question - question.min(), run), (questions.len(), run.max() + 1)
    counts, size = np.zeros((*shape, len(columns))), np.zeros(shape)
    counts[at] = rows.select(columns).to_numpy()
    size[at] = rows[_SIZE].to_numpy()
    names = tuple(rows[RUN].unique().sort())
    return RunTable(counts, size, np.full(shape[0], 1 / shape[0]), names, questions)


def _joined_tables(tables: Sequence[RunTable], weights: Floats) -> RunTable:
    """The questions of several strata, in the runs that have the same place in each.

    Without weights of the strata all questions weigh alike. That equal places are equal runs is
    what the largest term assumes, since what runs share then adds up.
    """
    most = max(table.size.shape[1] for table in tables)

    def widest(each: Floats) -> Floats:
        missing = most - each.shape[1]
        return np.pad(each, [(0, 0), (0, missing), *[(0, 0)] * (each.ndim - 2)])

    weights = weights if weights.size else np.array([table.weight.size for table in tables])
    each = zip(tables, weights / weights.sum(), strict=True)
    return RunTable(
        np.concatenate([widest(table.counts) for table in tables]),
        np.concatenate([widest(table.size) for table in tables]),
        np.concatenate([share * table.weight for table, share in each]),
        tuple(table.runs for table in tables),
        pl.concat([table.names for table in tables]),
    )


def metric_slopes(
    table: RunTable, metric: Metric, k: int | None, success: tuple[int, ...] | None
) -> tuple[Floats, Floats] | None:
    """Values of questions in runs, and what they change in a metric; None if that is not known.

    `success` are the classes that it credits; None: it is a mean of weights, or of rewards.
    """
    if success is None:
        if not metric.averages_weights:
            return None
        weights = np.ones(1) if table.counts.shape[2] == 1 else metric.weights
        return table.values(weights), table.weight / table.runs_of
    low, high = metric.support
    values = table.credits(success)
    draw = metric.draw(k)
    assert draw is not None
    single = table.counts.shape[1] == 1  # says nothing of other runs
    if single or metric.averages_weights:
        slopes = table.weight / table.runs_of
    elif k not in {None, 1} and (table.size > 1).any():
        raise ValueError(
            f"{metric.name} needs trials from different runs, but some question has several in one "
            "run (run=). Take ps.avg(), or name what distinguishes the trials of a question"
        )
    else:
        slopes = table.weight * _draw_slopes(table.runs_of, values.sum(1), draw)
    return values, (high - low) * slopes


def _draw_slopes(n: Floats, c: Floats, draw: Callable[[int], Floats]) -> Floats:
    """Change of a question by replacing one trial, with n trials and c successes."""
    slopes = np.zeros(n.size)
    for size in np.unique(n).astype(np.int64).tolist():
        of_size, gains = n == size, draw(size)
        if gains.size <= size:
            every = np.arange(size + 1)
            table = expected_credit(np.full(size + 1, size), every, gains)
            slopes[of_size] = slopes_of_table(table)[c[of_size].round().astype(np.int64)]
    return slopes


def with_runs(evaluated: Evaluated) -> Evaluated:
    """The numbers of a request, with what runs bring to those that are calibrated."""
    request, trials = evaluated.request, evaluated.request.trials
    credited = {
        row: (metric, credited_classes(metric, view, request.classes))
        for row, (metric, view) in evaluated.run_views.items()
    }
    views = {
        row: (metric, success)
        for row, (metric, success) in credited.items()
        if success is not None or metric.averages_weights
    }
    if len(views) < len(credited):
        unlike = ", ".join(sorted({credited[row][0].name for row in {*credited} - {*views}}))
        warnings.warn(
            f"{unlike}: how runs change the largest or the least of several rewards is not known. "
            "Its intervals are about these runs, and intervals of ps.avg() about others.",
            RunWarning,
            stacklevel=2,
        )
    evaluated = these_runs(evaluated)
    tables = run_tables(trials, request.classes) if views else None
    if not tables:
        return evaluated
    places = iter(_group_tables(evaluated, tables))
    parts = [
        _part_with_runs(request, part, [*islice(places, len(part.facts))], views)
        for part in evaluated.parts
    ]
    shared = [each.shared for part in parts for each in part.noise.values() if each.shared]
    if not all(np.asarray(runs.by_score.freedom).all() for runs in shared):
        warnings.warn(
            "run= names one run of some model, or runs that its questions do not share, or all of "
            "its trials have one outcome: how its runs differ cannot be seen, and intervals are "
            "about these runs.",
            RunWarning,
            stacklevel=2,
        )
    return replace(evaluated, parts=tuple(parts))


def _part_with_runs(
    request: Request,
    part: EvaluatedGroups,
    members: Sequence[RunTable],
    views: Mapping[Row, tuple[Metric, tuple[int, ...] | None]],
) -> EvaluatedGroups:
    """Numbers and noises of some groups, whose runs have these tables."""
    trials, numbers, noise = request.trials, dict(part.numbers), dict(part.noise)
    for row, (metric, success) in views.items():
        runs = _metric_runs(trials, members, metric, row[1], success)
        if runs is None:
            continue
        if row in numbers:
            ends = _credit_ends(members[0], metric, success)
            numbers[row] = _with_term(numbers[row], metric, runs, request.choice.confidence, ends)
        noise[row] = Noise(np.empty(0), runs, alike=trials.roles.effects == "alike")
    return replace(part, numbers=numbers, noise=noise)


def these_runs(evaluated: Evaluated) -> Evaluated:
    """The numbers of a request, which say that they are not about the other runs of `run=`."""
    asked = dict.fromkeys(evaluated.views, Noise(np.empty(0), asked=True))
    return replace(evaluated, parts=tuple(replace(part, noise=asked) for part in evaluated.parts))


_SPREAD = ("run_sd", "run_sd_lo", "run_sd_hi", "run_share", "pvalue_runs")


def with_run_spread(summary: pl.LazyFrame, log: Log, roles: Roles) -> pl.LazyFrame:
    """A summary of models with how far the scores of their named runs are apart.

    The p-value is one of the whole log.
    """
    trials = bind_roles(log, replace(roles, missing="drop", unscored="drop"))
    schema = result_schema((), summary.collect_schema(), dict.fromkeys(_SPREAD, pl.Float64()))

    def added(models: pl.DataFrame) -> pl.DataFrame:
        variances = _described_variances(trials)
        known = {key: runs for key, runs in variances.items() if runs.freedom}
        p = runs_p_value([*known.values()]) if known else None
        keys = models.select(trials.keys).rows() if trials.keys else [*variances] or [()]
        rows = [
            (*known[key].run_sd(CONFIDENCE), known[key].run_share, p)
            if key in known
            else (None,) * 4 + (p,)
            for key in keys
        ]
        spread = pl.DataFrame(rows, schema=dict.fromkeys(_SPREAD, pl.Float64), orient="row")
        return models.hstack(spread)

    return WholePlan(summary).then(added, schema, filters=False).plan()


def _described_variances(trials: Trials) -> dict[Key, RunVariance]:
    """How far the runs of each group are apart."""
    if is_graded(trials):
        classes = Classes(None, (1,), (_Sums(),))
    elif knows_success(trials):
        classes = counted_classes(trials, [], binary=True)
    else:
        return {}
    tables = run_tables(trials, classes)
    success = classes.successful
    return {
        key: run_variance(table.credits(success), table.present) for key, table in tables.items()
    }


class _Sums(Need):
    """Sums of values, which say all of a question."""

    __slots__ = ()
    sums = True


def _group_tables(
    evaluated: Evaluated, tables: dict[tuple[object, ...], RunTable]
) -> Iterator[RunTable]:
    """The table of each group; one over all strata has those of its model."""
    trials = evaluated.request.trials
    question = trials.question.name
    asked = question_rows(evaluated.groups, *trials.groups)
    if question in asked.columns:  # models may be compared on the questions that they share
        kept = _keyed_parts(asked, trials.groups)
        tables = {
            key: table.of_questions(kept[key][question])
            for key, table in tables.items()
            if key in kept
        }
    keys = evaluated.keys.select(name for name in trials.groups if name in evaluated.keys.columns)
    for key in keys.rows():
        if key in tables:
            yield tables[key]
        else:  # the model is the last of the keys
            every = tables.items()
            members = [each for (*_, one), each in every if not trials.models or one == key[-1]]
            yield _joined_tables(members, evaluated.weights)


def _metric_runs(
    trials: Trials,
    tables: Sequence[RunTable],
    metric: Metric,
    k: int | None,
    success: tuple[int, ...] | None,
) -> ScoreRuns | None:
    """The part of runs in a metric of each group; None if it is not known."""

    def made() -> tuple[Sequence[RunTable], ScoreRuns | None]:
        each = [metric_slopes(table, metric, k, success) for table in tables]
        known = [slopes for slopes in each if slopes is not None]
        if not known or len(known) < len(each):
            return tables, None
        return tables, _of_groups(tables, known, trials.roles.effects)

    if trials.study is None or kept_words(trials) is None:
        return made()[1]
    # The tables are kept, too, so that no others get their ids.
    return trials.study.kept((metric, k, success, *map(id, tables)), made)[1]


def _of_groups(
    tables: Sequence[RunTable],
    slopes: Sequence[tuple[Floats, Floats]],
    effects: RunEffects,
) -> ScoreRuns:
    """The part of runs in each group: of its own, alike in all groups, or paired with others."""
    each = [
        run_variance(values, table.present, weights)
        for table, (values, weights) in zip(tables, slopes, strict=True)
    ]
    columns = (
        np.array([float(number) for number in numbers]) for numbers in zip(*each, strict=True)
    )
    variance = RunVariance(*columns)
    if effects == "shared":
        return _shared_runs(variance, tables, slopes)
    if effects != "alike":
        return variance
    ratio, freedom = pooled_ratio(each)
    measured = np.asarray(variance.freedom) > 0
    return variance._replace(
        variance=np.where(measured, ratio * np.asarray(variance.of_trials), variance.variance),
        freedom=np.where(measured, freedom, 0.0),
    )


def _shared_runs(
    variance: RunVariance, tables: Sequence[RunTable], slopes: Sequence[tuple[Floats, Floats]]
) -> SharedRuns:
    """Groups whose runs of one name share something: those without gaps are paired by it."""
    sums = np.full((len(tables), max(table.size.shape[1] for table in tables)), np.nan)
    designs = dict[tuple[object, ...], int]()
    design = np.full(len(tables), -1)
    for place, (table, (values, weights)) in enumerate(zip(tables, slopes, strict=True)):
        if table.present.all() and variance.freedom[place]:  # type: ignore[index]  # an array
            away = values - values.mean(axis=1, keepdims=True)
            sums[place, : values.shape[1]] = weights @ away
            key = len(table.weight), table.runs
            design[place] = designs.setdefault(key, len(designs))
    return SharedRuns(variance, sums, design)


def _credit_ends(
    table: RunTable, metric: Metric, success: tuple[int, ...] | None
) -> tuple[float, float]:
    """The least and the greatest score that trials can have; infinite for real-valued rewards."""
    graded = table.counts.shape[2] == 1 or not metric.averages_weights
    return (-np.inf, np.inf) if graded and success is None else metric.support


def _with_term(
    numbers: Scores,
    metric: Metric,
    runs: ScoreRuns,
    confidence: float,
    credit: tuple[float, float],
) -> Scores:
    """The numbers of a metric with the term of its runs; ranges stay as they are."""
    sure = np.full(numbers.mu.size, confidence)
    information = numbers.facts.get(INFORMATION)
    if information is not None:
        sure = look_confidence(confidence, np.asarray(information, dtype=np.float64))
    c = scipy.special.ndtri((1 + sure) / 2)
    ends = widened(numbers.mu, numbers.lo, numbers.hi, runs.by_score.term(c), c)
    lo, hi = clipped_ends(metric, *(np.clip(end, *credit) for end in ends))
    measured = np.isfinite(numbers.sigma)
    return numbers._replace(
        lo=np.where(measured, lo, numbers.lo),
        hi=np.where(measured, hi, numbers.hi),
    )
