"""Facts of a log beside its scores: what it lacks, what counted, what tests found, and scopes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from polars_scorio.counting.categories import check_counted_labels, counted_classes
from polars_scorio.counting.log import CATEGORY, COUNT, bind_roles
from polars_scorio.counting.refusals import escaped_text
from polars_scorio.counting.roles import TRIAL_NAMES
from polars_scorio.counting.tally import class_members
from polars_scorio.display.facts.log_summary import LogSummary, metric_label
from polars_scorio.display.facts.scopes import (
    Scope,
    common_questions,
    default_metrics,
    knows_success,
    lead_rows,
    page_scopes,
    without_repeated_warnings,
)
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.count_checks import CheckFinding
from polars_scorio.study.log_checks import LogChecks, population_findings
from polars_scorio.subjects.scores import INFERENCE, OTHER_RUNS

# The word before the last number of a name: of runs, and of models that differ.
_RUN_WORDS = {*TRIAL_NAMES, "rs", "rep", "try", "iter"}
_MODEL_WORDS = {"stage", "level", "step", "layer", "checkpoint", "v", "shot", "k", "b", "budget"}
_NUMBERED = re.compile(r"(.*?([A-Za-z]*))([^A-Za-z0-9]*)(\d+)((?:[^A-Za-z0-9]\D*)?)", re.DOTALL)
_COUNTED = 3  # models, from where on 0, 1, 2, ... or 1, 2, 3, ... are counted

Numbers = Sequence[tuple[str, int]]  # of names


@dataclass(frozen=True, slots=True)
class LogGaps:
    """Numbers of a log, what it lacks, and what is there twice."""

    models: int
    strata: int
    questions: int
    trials: tuple[int | None, int | None]  # of a question, the fewest and the most
    lacking: Numbers  # questions that other models have
    left_out: int  # questions that not all models have
    step: str | None  # the column of steps, if the strata are steps
    uneven: Numbers  # questions that each step lacks
    steps: int
    unshared: int  # questions that not all steps have
    identical: Sequence[Sequence[str]]  # models with the same outcomes
    numbered: Sequence[tuple[list[str], str]]  # models that may be runs, and the pattern of one
    partial: Sequence[str]  # strata without some model
    unfinished: Sequence[tuple[str, int, int]]  # models: trials, and how many were planned
    skipped: Sequence[str]  # runs without a trial
    missing: object  # meaning of missing outcomes
    without_outcome: Numbers
    repeated: Numbers
    unchecked: bool  # whether some trials may be repeated

    @classmethod
    def from_log(cls, log: LogSummary, coverage: pl.DataFrame) -> LogGaps:
        """From a log and its coverage."""
        keys = ["stratum", "question"]
        lacking = _by_model(coverage, "missing", same=log.steps is not None)
        lost = log.cells.join(common_questions(log), on=keys, how="anti") if lacking else None
        shared, asked = log.shared_by_steps, log.counted_questions.group_by("stratum")
        sizes = dict(asked.agg(pl.col("question").n_unique()).rows()) if shared is not None else {}
        models = log.cells.group_by("stratum").agg(pl.col("model").n_unique())
        partial = set(models.filter(pl.col("model") < len(log.models))["stratum"])
        whole, ends, most = log.question_count, pl.col("n_min"), pl.col("n_max")
        kept = [each for each in log.strata if each in partial]
        return cls(
            len(log.models), coverage.get_column("stratum", default=pl.Series([""])).n_unique(),
            whole, coverage.select(ends.min(), most.max()).row(0), lacking,
            0 if lost is None else lost.select(log.question_keys).n_unique(),
            None if log.steps is None else log.noun,
            [(name, whole - sizes[name]) for name in log.strata if sizes.get(name, whole) < whole],
            len(sizes), 0 if shared is None else whole - len(shared), log.identical,
            numbered_models(log), sorted(partial) if log.steps is None else kept,
            _unfinished_runs(coverage), log.skipped, log.trials.roles.missing,
            _by_model(coverage, "nulls"), _by_model(coverage, "duplicates"),
            coverage["duplicates"].is_null().any(),
        )  # fmt: skip


def _by_model(coverage: pl.DataFrame, column: str, *, same: bool = False) -> Numbers:
    """The models of which something is to be said, the worst first; once if strata are the same."""
    number = pl.col(column).max() if same else pl.col(column).sum()
    totals = coverage.group_by("model").agg(number).filter(pl.col(column) > 0)
    return totals.sort(pl.col(column), "model", descending=[True, False]).rows()


def numbered_models(log: LogSummary) -> list[tuple[list[str], str]]:
    """Models with the same questions, numbered as runs of one are, and the pattern of its name."""
    asked = log.each.group_by("model").agg(pl.struct("stratum", "question").hash().sum())
    groups: dict[tuple[object, ...], list[tuple[str, int]]] = {}
    for name, questions in asked.sort("model").iter_rows():
        if match := _NUMBERED.fullmatch(name):
            start, word, separator, number, end = match.groups()
            known = groups.setdefault((start, word, separator, end, questions), [])
            known.append((name, int(number)))
    return [
        ([name for name, _ in models], "({}){}\\d+{}".format(
            *(escaped_text(str(each)) for each in (start, separator, end))))
        for (start, word, separator, end, _), models in groups.items()
        if len(models) > 1
        and _count_runs(str(word).lower(), str(separator), sorted(each for _, each in models))
    ]  # fmt: skip


def _count_runs(word: str, separator: str, numbers: list[int]) -> bool:
    """Whether the word before numbers, or the numbers, say that they count runs."""
    first, counted = numbers[0], [*range(numbers[0], numbers[0] + len(numbers))]
    in_order = numbers == counted and first in {0, 1} and len(numbers) >= _COUNTED
    return word not in _MODEL_WORDS and (word in _RUN_WORDS or (in_order and bool(separator)))


def _unfinished_runs(coverage: pl.DataFrame) -> list[tuple[str, int, int]]:
    """Models of which fewer trials are in the log than their tool planned."""
    if "planned" not in coverage.columns:
        return []
    rows = pl.col("trials") + pl.col("nulls")
    known = coverage.filter(pl.col("planned").is_not_null()).group_by("model")
    totals = known.agg(rows.sum().alias("rows"), pl.col("planned").sum())
    return totals.filter(pl.col("rows") < pl.col("planned")).sort("model").rows()


@dataclass(frozen=True, slots=True)
class CountedOutcomes:
    """The categories that counted as success and as failure, with their trials."""

    column: str
    threshold: float | None  # of what counts as success
    parts: Sequence[Sequence[tuple[object, int]]]  # successes, failures; none where nobody knows

    @classmethod
    def from_log(cls, log: LogSummary, metrics: Sequence[Metric]) -> CountedOutcomes:
        """The most frequent ones first."""
        name, threshold = log.trials.category.name, log.trials.roles.threshold
        if not knows_success(log.cells, log.roles, metrics):
            return cls(name, threshold, ())
        cells = bind_roles(log.cells.lazy(), log.roles)
        weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
        classes = counted_classes(cells, weighted, binary=True)
        members = class_members(cells, classes)
        succeeded = pl.any_horizontal(members[place] for place in classes.successful)
        trials = cells.rows().filter(pl.col(CATEGORY).is_not_null(), pl.col(COUNT) > 0)
        counted = trials.group_by(CATEGORY).agg(pl.col(COUNT).sum().cast(pl.Int64))
        rows = counted.sort(-pl.col(COUNT), CATEGORY).with_columns(succeeded.alias("")).collect()
        kept = (rows.filter(pl.col("") == chosen) for chosen in (True, False))
        return cls(name, threshold, [each.select(CATEGORY, COUNT).rows() for each in kept])


def covered_models(coverage: pl.DataFrame) -> pl.DataFrame:
    """The coverage of each model, over all strata."""
    numbers = ["questions", "missing", "trials", "nulls", "duplicates"]
    known = [name for name in numbers if coverage[name].null_count() < coverage.height]
    each = coverage.group_by("model", maintain_order=True).agg(pl.col(known).sum())
    columns = [name for name in known if name in {"questions", "trials"} or each[name].sum()]
    return each.select("model", *columns).sort("model")


# What numbers are about where runs were named: other runs, or those of the log, by too few of them,
# or because a page does not tell them apart.
RunScope = Literal["", "other", "few", "untold"]


@dataclass(frozen=True, slots=True)
class LogVerdict:
    """The scopes of a log, and what is to be known before their numbers."""

    metrics: tuple[Metric, ...]  # asked for (but for costs), or suited to the log
    overall: Scope | None  # scope of the finding; None if no stratum has all models
    parts: list[Scope]  # strata, if any
    outcomes: CountedOutcomes
    gaps: LogGaps
    runs: RunScope
    beyond: Sequence[str]  # metrics whose draw sizes some questions do not reach
    counted: LogSummary  # with the outcomes in named runs
    findings: list[CheckFinding]  # of all tests

    @property
    def main(self) -> Scope:
        """The scope that the finding is about, or the first stratum."""
        return self.overall or self.parts[0]

    @property
    def bias(self) -> CheckFinding | None:
        """The alarm that every score is biased."""
        return next((each for each in self.findings if each.biases_scores), None)


def log_verdict(
    log: LogSummary, coverage: pl.DataFrame, metrics: Sequence[Metric], settings: Settings
) -> LogVerdict:
    """The scopes of a log that was counted; without `metrics`, by what suits the log."""
    log.refuse()
    given = tuple(metric for metric in metrics if metric.looks_at != "costs")
    scores = given or default_metrics(log)
    for metric in scores:
        if metric.looks_at == "answers":
            raise ValueError(
                f"{metric.name}: a page is made of counts of categories, in which there are no "
                "answers: omit it, and show votes with leaderboard and plot"
            )
    if not any(metric.w for metric in scores):
        check_counted_labels(log.cells, log.trials)
    checks = log.checks()
    counted = log.with_runs(checks)
    if len(log.models) == 1:  # its steps are compared
        counted = counted.of_shared_steps()
    scores = given or default_metrics(counted)
    with without_repeated_warnings():
        overall, parts = page_scopes(counted, scores, settings)
    main = overall or parts[0]
    return LogVerdict(
        metrics=scores, overall=overall, parts=parts, gaps=LogGaps.from_log(log, coverage),
        outcomes=CountedOutcomes.from_log(log, scores), runs=_run_scope(log, checks, main),
        beyond=draws_beyond_trials(main, scores), counted=counted,
        findings=page_findings(checks, settings) if log.trials.roles.validate else [],
    )  # fmt: skip


def _run_scope(log: LogSummary, checks: LogChecks, main: Scope) -> RunScope:
    """Whether the numbers of the scope include how the named runs differ."""
    if log.trials.roles.effects == "none":
        return ""
    if lead_rows(main)[INFERENCE].str.contains(OTHER_RUNS, literal=True).any():
        return "other"
    return "few" if checks.counts_hold_runs else "untold"


def page_findings(checks: LogChecks, settings: Settings) -> list[CheckFinding]:
    """The findings of all tests, as far as they are about the numbers of a page."""
    pooled = isinstance(settings.prior, str) and settings.prior == "population"
    return population_findings(checks.findings, checks.counted) if pooled else checks.findings


def draws_beyond_trials(scope: Scope, metrics: Sequence[Metric]) -> list[str]:
    """The metrics at draw sizes that some questions do not reach."""
    short = scope.rows.filter(pl.col("estimate").is_null(), pl.col("k").is_not_null())
    lacking = set(short.select("metric", "k").rows())
    asked = [(metric, k) for metric in metrics for k in metric.row_sizes]
    return [metric_label(metric, k) for metric, k in asked if (metric.name, k) in lacking]


def counts_hash(counts: pl.DataFrame) -> str:
    """A hash of the counts: the same for the same trials, in whatever order, anywhere.

    >>> counts_hash(pl.DataFrame({"category": [0, 1], "count": [3, 5]}))[:12]
    'bbce923d941b'
    """
    return hashlib.sha256(counts.write_csv().encode()).hexdigest()
