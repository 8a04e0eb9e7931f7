"""Requests: metrics and options, and combinations that are refused.

An inference is calibrated, a posterior, or corrected for a judge, each in the file of its name. All
have the same methods: `numbers`, of metrics for the cells of a report; `mean_interval`,
of means over strata; `ranking_numbers`, without intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    get_args,
)

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    CONFIDENCE,
    PLANS,
    POSITIVE,
    FailOn,
    Overall,
    Per,
    Refusal,
    Unmatched,
    UnmatchedPairs,
    View,
    check_choice,
    check_confidence,
    check_number,
    check_overall,
    nearest_hint,
    planned_looks,
    value_text,
)
from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.judge_counts import JudgeSample
from polars_scorio.counting.log import Trials, as_categories, bind_roles
from polars_scorio.counting.roles import Category, Column, RunEffects, Unscored
from polars_scorio.counting.tally import error_labels, group_plan
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.posteriors import QuestionPosteriors, Target
from polars_scorio.maths.prefix_rankings import Scheme
from polars_scorio.metrics.metric import Metric, check_weight_sizes
from polars_scorio.signatures import Option
from polars_scorio.study.calibrated import CalibratedInference
from polars_scorio.study.posterior import UNIFORM, PosteriorInference, QuestionPrior
from polars_scorio.subjects import SUBJECTS
from polars_scorio.subjects.question_cells import Asked, QuestionCells, Subject, ViewSubject
from polars_scorio.subjects.scores import Inference, Row, Scores

Frame: TypeAlias = pl.DataFrame | pl.LazyFrame


NamedPrior = Literal["uniform", "population"]
Prior: TypeAlias = NamedPrior | tuple[float, float] | Frame


class PlanOptions(TypedDict, total=False):
    """The keywords of what plans more trials."""

    prior: Annotated[
        Prior | None,
        Option(
            None,
            """Prior of the success rate of each question, for posterior means: "uniform", a Beta
            distribution (alpha, beta), "population" (weighed by all questions), or a frame of
            earlier trials. Default: as set in `df.scorio()`, else no prior.""",
        ),
    ]


_Confidence: TypeAlias = Annotated[
    float | None,
    Option(None, "Confidence of the intervals. Default: as set in `df.scorio()`, else 0.95."),
]


class ConfidenceOptions(TypedDict, total=False):
    """The keyword of how sure intervals are."""

    confidence: _Confidence


class TargetOptions(TypedDict, total=False):
    """The keywords of what intervals are about, and how sure they are."""

    target: Annotated[
        Target | None,
        Option(
            None,
            """"benchmark": the numbers are about these questions. "population": about all
            questions that could have been asked, of which these are a sample; intervals are usually
            wider. Default: as set in `df.scorio()`, else "benchmark".""",
        ),
    ]
    confidence: _Confidence


class InferenceOptions(PlanOptions, TargetOptions, total=False):
    """The keywords of how mu, sigma and the interval of a metric are found."""


class ReportOptions(InferenceOptions, total=False):
    """The keywords of `report`, and of every metric's own report."""

    per: Annotated[
        Per,
        Option(
            "model",
            """"model", the default: a row for each model and stratum. "question": a row for each
            question, with ``prior="population"`` unless you name another prior.""",
        ),
    ]
    overall: Annotated[
        Overall | None,
        Option(
            None,
            """Add rows over all strata, with null in the `by` columns: "macro" is the mean of the
            strata (of several columns the mean of means, the first outermost), "micro" pools their
            questions, ``{"math": 2, "code": 1}`` has the weight of each stratum (of several columns
            keys are tuples). Each model must have all strata.""",
        ),
    ]
    simultaneous: Annotated[
        bool,
        Option(
            False,  # noqa: FBT003 - the default
            """Whether `confidence` is about the intervals of a metric at all k together, as a band
            around the curve: each k at ``confidence ** (1 / s)`` (Sidak 1967), of which s is
            ``1 + log2(k_max / k_min)``. Default: about each interval by itself.""",
        ),
    ]
    wide: Annotated[
        bool,
        Option(
            False,  # noqa: FBT003 - the default
            """Whether metrics become columns, such as `pass_at_k_4` and `pass_at_k_4_lo`, with one
            row for each stratum and model.""",
        ),
    ]


class DecisionOptions(InferenceOptions, total=False):
    """The keywords of what compares the models of a stratum."""

    unmatched: Annotated[
        UnmatchedPairs,
        Option(
            "error",
            """What to do about questions that some model lacks: "error"; "drop" keeps the
            questions that all models have; "unpaired" treats the questions of each model as a
            separate sample and needs ``target="population"``.""",
        ),
    ]


class SequentialOptions(DecisionOptions, total=False):
    """The keywords of decisions that may be looked at while a log grows."""

    planned_trials: Annotated[
        int | None,
        Option(
            None,
            """For early stopping: the trials of each question that you planned before you saw any
            results. Intervals and verdicts are then valid at any time. Default: only once.""",
        ),
    ]
    planned_questions: Annotated[
        int | None,
        Option(
            None,
            """The questions that you planned, in place of `planned_trials`, with
            ``target="population"``.""",
        ),
    ]


# Questions by their ids, or the file that lists them, one a line.
Cases: TypeAlias = Category | Sequence[Category] | Path


class GateOptions(SequentialOptions, total=False):
    """The keywords of a gate, of which `GateRules` has the defaults."""

    stratum_margin: float | None
    every_stratum: bool
    simultaneous: bool
    power: float
    max_trials: int
    overall: Overall | None
    at_least: float | None
    each_at_least: float | None
    fail_on: FailOn | None
    fdr: float | None
    must_pass: Cases | None
    quarantine: Cases | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """A gate as it was asked for, with the defaults of its keywords."""

    baseline: Category | None
    metric: Metric
    margin: float | None
    stratum_margin: float | None = None
    every_stratum: bool = False
    simultaneous: bool = True
    power: float = 0.8
    max_trials: int = 1_000_000
    overall: Overall | None = None
    at_least: float | None = None
    each_at_least: float | None = None
    fail_on: FailOn | None = None
    fdr: float | None = None
    must_pass: Cases | None = None
    quarantine: Cases | None = None
    options: SequentialOptions  # of comparisons too

    @classmethod
    def from_options(
        cls, baseline: Category | None, metric: Metric, margin: float | None, given: GateOptions
    ) -> GateRules:
        """The rules of a call: its keywords that comparisons lack are fields."""
        rules = {name: value for name, value in given.items() if name in cls.__slots__}
        shared = {name: value for name, value in given.items() if name not in rules}
        options = cast("SequentialOptions", shared)
        return cls(baseline=baseline, metric=metric, margin=margin, options=options, **rules)  # type: ignore[arg-type]  # by name


class ConvergenceOptions(PlanOptions, total=False):
    """The keywords of what replicates a log."""

    replicates: Annotated[
        int,
        Option(
            1000,
            """Bootstrap replicates, drawn from the trials with replacement; 0: only the log
            itself, in the order of its trial ids.""",
        ),
    ]
    scheme: Annotated[
        Scheme,
        Option(
            "trial",
            """Whether a replicate draws trial numbers of each model, the same for all its questions
            (which then need equally many trials), or the trials of each question separately.""",
        ),
    ]
    seed: Annotated[int, Option(0, "Seed of the random numbers; the same in every stratum.")]
    progress: Annotated[bool, Option(False, "Show a bar (needs the extra `progress`).")]  # noqa: FBT003 - the default
    unmatched: Annotated[Unmatched, Option("error", "As in `compare`.")]


class OutcomeOptions(TypedDict, total=False):
    """Meaning of outcomes, in the keywords of accessors and readers of logs."""

    success: Category | Iterable[Category] | None
    missing: Category | None


class ExpressionOptions(OutcomeOptions, total=False):
    """The keywords of `ScorioExpr.__call__`."""

    threshold: float | None


def check_choices(options: Mapping[str, object]) -> None:
    """Refuse options that are none of their words, before anything compares them with one."""
    read_prior(options.get("prior"))
    if options.get("target") is not None:
        check_choice("target", options["target"], Target)
    if options.get("overall") is not None:
        check_overall(options["overall"])


def chosen_options(options: Mapping[str, Any]) -> InferenceOptions:
    """The options of numbers that are not None, after a check."""
    check_choices(options)
    chosen = {name: value for name, value in options.items() if value is not None}
    if isinstance(chosen.get("prior"), tuple | list):
        shapes = chosen["prior"]
        chosen["prior"] = tuple(x.item() if isinstance(x, np.generic) else x for x in shapes)
    if "confidence" in chosen:
        chosen["confidence"] = check_confidence(chosen["confidence"])
    return cast("InferenceOptions", chosen)


def chosen_first(chosen: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Checked options of a call over those of its accessor, which decides if a call says None."""
    check_choices(options)
    said = {
        name: value
        for name, value in options.items()
        if value is not None or name not in {"target", "confidence"}
    }
    return {**chosen, **said}


class SharedRoles(OutcomeOptions, total=False):
    """Roles in the keywords of accessors and of all readers of logs; the defaults are `Roles`."""

    by: Column | Iterable[Column] | None
    n: int | None
    first: int | None
    levels: Iterable[float] | None
    cluster: Column | None
    answer: Column | None
    truth: Column | None
    judge: JudgeSample | pl.DataFrame | None
    cost: Column | None
    bounds: tuple[float, float] | None
    lower_is_better: bool | None
    validate: bool | None
    unscored: Unscored | None


class RoleOptions(SharedRoles, InferenceOptions, total=False):
    """The keywords of `Scorio.__call__`."""

    model: Column | None
    question: Column | Iterable[Column]
    trial: Column | None
    category: Column
    threshold: float | None
    count: Column | None
    run: Column | None
    run_effects: RunEffects | None


UNCALIBRATED_REWARDS = (
    "real-valued rewards have calibrated numbers only: omit prior=, or "
    "pass threshold= with the least reward of a success"
)


def refuse_judge(trials: Trials, method: str) -> None:
    """Refuse a method that would take the verdicts of a judge for the truth."""
    if trials.judged:
        raise ValueError(
            f"{method} does not correct for the errors of a judge: omit {trials.judge_role}= to "
            "use the verdicts as they are"
        )


@dataclass(frozen=True, slots=True)
class InferenceChoice:
    """The prior that a user named for a report, the confidence, and what mu is about."""

    prior: QuestionPrior | None
    confidence: float = CONFIDENCE
    target: Target = "benchmark"
    planned: int | None = None  # trials a question (or questions), if looks are repeated
    per_question: bool = False  # single questions have posteriors alone
    inferring: Subject | None = None  # which has an inference of its own
    curves: bool = False  # whether intervals hold at all draw sizes of a metric

    def inference_of(self, metric: Metric, view: View) -> Inference:
        """The inference that gives the numbers of a metric."""
        if self.inferring is not None:
            inference: Inference = self.inferring.inference(self.confidence, self.target)
            return inference
        prior = self.prior_of(metric, view)
        if prior is None:
            return CalibratedInference(self.confidence, self.target, self.planned, self.curves)
        return PosteriorInference(self.confidence, self.target, prior)

    def is_unbiased(self, metric: Metric, view: View) -> bool:
        """Whether the numbers of a metric are no posterior means."""
        return self.inferring is not None or self.prior_of(metric, view) is None

    def prior_of(self, metric: Metric, view: View | None = None) -> QuestionPrior | None:
        """The prior of each question behind the numbers of a metric; None: they are calibrated.

        If nobody named one, posterior means have the uniform one; single questions that of the
        population, as have posterior means and blends without a range about a population.
        """
        if metric.looks_at != "outcomes" or view == "rewards":
            return None
        if self.prior is not None:
            return self.prior
        if self.target == "population":
            return None if metric.calibrated and not metric.unbounded else "population"
        if not metric.calibrated:
            return UNIFORM
        return "population" if self.per_question else None


def read_prior(prior: object) -> tuple[QuestionPrior | None, Frame | None]:
    """The prior of each question that a user named, and prior trials."""
    if prior is None:
        return None, None
    if isinstance(prior, pl.DataFrame | pl.LazyFrame):
        return UNIFORM, prior
    named = isinstance(prior, str)
    if named and prior in get_args(NamedPrior):
        return "population" if prior == "population" else UNIFORM, None
    if isinstance(prior, tuple | list) and len(prior) == 2:
        alpha, beta = prior
        return (check_number("alpha", alpha, POSITIVE), check_number("beta", beta, POSITIVE)), None
    hint = nearest_hint(prior, get_args(NamedPrior)) if isinstance(prior, str) else ""
    raise (ValueError if named else TypeError)(
        'prior must be "uniform", "population", a pair (alpha, beta) of positive numbers or a '
        f"Polars frame of prior trials, got {value_text(prior)}{hint}"
    )


MetricT = TypeVar("MetricT", bound=Metric)
RewardUse: TypeAlias = 'Literal["allowed", "always", "never"]'


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Metrics of a log with what they look at, and how their numbers are found."""

    trials: Trials
    metrics: tuple[tuple[Metric, View], ...]
    classes: Classes  # into which trials are counted
    choice: InferenceChoice
    prior: Trials | None  # prior trials

    @classmethod
    def from_trials(
        cls,
        trials: Trials,
        metrics: Sequence[Metric],
        *,
        prior: Prior | None = None,
        target: Target | None = None,
        confidence: float | None = None,
        per: Per = "model",
        rewards: RewardUse = "allowed",
        planned_trials: int | None = None,
        planned_questions: int | None = None,
        curves: bool = False,
    ) -> Request:
        """Check what `Scorio.report` requests, as far as arguments and schema tell.

        `rewards` says whether they may have other values than 0 and 1: unless posteriors are asked
        for, always, or never; `curves` whether intervals hold at all draw sizes of a metric.
        """
        confidence = check_confidence(confidence)
        target = "benchmark" if target is None else target
        chosen, earlier = read_prior(prior)
        check_choice("target", target, Target)
        plans = {"planned_trials": planned_trials, "planned_questions": planned_questions}
        planned = planned_looks({"target": target, **plans})
        metrics = [on_levels(metric, trials) for metric in metrics]
        views = report_views(metrics, trials)
        if rewards == "never" or (rewards == "allowed" and chosen is not None):
            views = _without_rewards(views, metrics, trials)
        weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
        asked = Asked(trials, metrics, views, chosen, target, per, planned)
        needs = tuple(
            subject.from_asked(asked)
            for subject in SUBJECTS
            if subject.view in views or subject in _claiming_subjects(trials)
        )
        counted = counted_classes(
            trials,
            weighted,
            binary="success" in views or any(need.binary for need in needs),
            needs=(*needs, *error_labels(trials)),
        )
        inferring = next((need for need in needs if need.inference(confidence, target)), None)
        choice = InferenceChoice(
            chosen, confidence, target, planned, per == "question", inferring, curves
        )
        before = None if earlier is None else bind_prior(earlier, trials, counted)
        pairs = tuple(zip(metrics, views, strict=True))
        for metric, view in pairs:
            asked_metric = AskedMetric(metric, view, choice, trials)
            rows = (*REPORT, *BANDS * (curves and len(metric.row_sizes) > 1))
            if refused := [row for row in rows if row.when(asked_metric)]:
                raise refused[0].error(metric.name, planned=PLANS[target][0])
        return cls(trials, pairs, counted, choice, before)

    def groups(
        self,
        *,
        per_question: bool = False,
        questions: Alignment = "any",
    ) -> WholePlan:
        """The questions of every group; see `group_plan`."""
        return group_plan(
            self.trials,
            self.classes,
            self.prior,
            per_question=per_question,
            questions=questions,
        )

    def cells(
        self, groups: pl.Series, *, per_question: bool = False, strata: Ints | None = None
    ) -> QuestionCells:
        """The cells of a report, from the lists of questions of some groups.

        `strata` are numbers of the strata of the groups, of which each has a range of rewards.
        """
        with_prior = self.prior is not None
        return QuestionCells.read(
            groups, self.classes, with_prior=with_prior, per_question=per_question, strata=strata
        )

    def numbers(
        self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells
    ) -> dict[Row, Scores]:
        """The numbers of metrics for each draw size and cell, in the order of the report."""
        by_inference = defaultdict[Inference, list[tuple[Metric, View]]](list)
        for metric, view in asked:
            by_inference[self.choice.inference_of(metric, view)].append((metric, view))
        known = dict[Row, Scores]()
        for inference, metrics in by_inference.items():
            known |= inference.numbers(metrics, cells)
        return {row: known[row] for metric, _ in asked for row in metric.rows}

    def posterior(self, cells: QuestionCells) -> QuestionPosteriors:
        """The posterior of the questions in each cell, for the first metric, which has one."""
        metric, view = cells.settled(self.metrics)[0]
        choice, prior = self.choice, self.choice.prior_of(metric, view)
        assert prior is not None
        return PosteriorInference(choice.confidence, choice.target, prior).posterior(view, cells)


def on_levels(metric: MetricT, trials: Trials) -> MetricT:
    """The metric with the levels of the rewards as its weights, if it weighs and has none."""
    levels = trials.roles.levels
    if levels is None:
        return metric
    check_weight_sizes("levels", levels)
    return metric.weighing(tuple(zip(levels, levels, strict=True)))


def view_of(metric: Metric, trials: Trials) -> View:
    """The view of a metric: that of a subject, or counts by category or success."""
    looks_at = metric.looks_at
    for subject in (each for each in SUBJECTS if issubclass(each, ViewSubject)):
        if subject.looks_at == looks_at and subject.takes(metric, trials):
            return subject.view
    if looks_at != "outcomes":
        raise ValueError(f"{metric.name} looks at {looks_at}, which nothing reads")
    return "success" if metric.w is None else "categories"


def _claiming_subjects(trials: Trials) -> list[type[Subject]]:
    """The subjects that decide on the views of all metrics of a log."""
    roles = trials.roles
    return [
        each for each in SUBJECTS if any(getattr(roles, role) is not None for role in each.claims)
    ]


def report_views(metrics: Sequence[Metric], trials: Trials) -> list[View]:
    """The view of each metric of a report.

    Beside a metric of success and failure, rewards have to be 0 and 1, so that all metrics are of
    success and failure.
    """
    for subject in _claiming_subjects(trials):
        return [subject.claimed] * len(metrics)
    if trials.judged:
        raise ValueError(f"{trials.judge_role}= is about a judge, whose errors nothing corrects")
    views = [view_of(metric, trials) for metric in metrics]
    known = {"success", *(subject.view for subject in SUBJECTS if subject.binary)}
    binary = not known.isdisjoint(views) and trials.roles.bounds is None
    return ["success" if binary and view == "rewards" else view for view in views]


def _without_rewards(
    views: Sequence[View], metrics: Sequence[Metric], trials: Trials
) -> list[View]:
    """The views with rewards as successes, for numbers that rewards of any value do not have."""
    for metric, view in zip(metrics, views, strict=True):
        if view == "rewards" and trials.roles.bounds is not None:
            raise ValueError(f"{metric.name}: {UNCALIBRATED_REWARDS}")
    return ["success" if view == "rewards" else view for view in views]


class AskedMetric(NamedTuple):
    """A metric of a request, with all that decides whether it has numbers."""

    metric: Metric
    view: View
    choice: InferenceChoice
    trials: Trials


def _of_all(asked: AskedMetric) -> bool:
    """Whether numbers are about a population."""
    return asked.choice.target == "population"


# Combinations that no report has, and those of several k at once.
_UNWEIGHTED = None, "population", UNIFORM  # which say the same of all categories
REPORT = (
    Refusal(lambda ask: _of_all(ask) and ask.choice.per_question,
            'target="population" is about the mean, not about single questions',
            'omit per="question"'),
    Refusal(lambda ask: _of_all(ask) and ask.choice.prior not in {None, "population"},
            'target="population" needs calibrated numbers: a prior of each question biases mu, '
            "however many questions there are",
            'omit prior=, or pass prior="population"'),
    Refusal(lambda ask: ask.choice.prior is not None and ask.metric.looks_at == "costs",
            "costs have calibrated numbers only",
            "omit prior="),
    Refusal(lambda ask: ask.choice.prior not in _UNWEIGHTED and ask.metric.w
            and ask.metric.uses_prior,
            "a prior (alpha, beta) is about a rate of success, and w weighs categories",
            'pass prior="uniform", or omit w='),
    Refusal(lambda ask: _of_all(ask) and ask.choice.prior and ask.metric.all_trials,
            'target="population" with a prior needs k: other questions have no number of trials',
            "pass k=, or omit prior="),
    Refusal(lambda ask: ask.choice.planned is not None and ask.view == "costs",
            "no intervals of costs are known that hold at every look",
            "omit {planned}="),
    Refusal(lambda ask: ask.choice.planned is not None and (ask.choice.inferring is not None
            or not ask.choice.is_unbiased(ask.metric, ask.view)),
            "posterior means are biased, so no interval of them holds at every look",
            "use ps.avg() or a metric of the Pass@k family, without prior="),
)  # fmt: skip
_BAND = "simultaneous=True makes one band of several k from calibrated numbers, not from"
BANDS = (
    Refusal(lambda ask: ask.choice.prior_of(ask.metric, ask.view) is not None,
            f"{_BAND} posteriors", "omit simultaneous="),
    Refusal(lambda ask: ask.view == "costs",
            f"{_BAND} costs", "omit simultaneous="),
    Refusal(lambda ask: ask.choice.inferring is not None,
            f"{_BAND} scores corrected for a judge", "omit simultaneous="),
    Refusal(lambda ask: ask.trials.named_runs,
            f"{_BAND} numbers about other runs (run=)", "omit simultaneous="),
)  # fmt: skip


def bind_prior(prior: Frame, trials: Trials, counted: Classes) -> Trials:
    """Find the roles of the data in a frame of prior trials."""
    if not isinstance(prior, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"prior must be a Polars frame of prior trials, got {prior!r}")
    roles = replace(
        trials.roles, n=None, first=None, cluster=None, answer=None, truth=None, cost=None
    )
    earlier = bind_roles(prior.lazy(), roles, owner="prior: ")
    named = counted.known or counted.success
    if named:
        as_categories(named, earlier.category, "prior: w or success")
    for ours, theirs in zip(
        [*trials.by, trials.model, trials.question],
        [*earlier.by, earlier.model, earlier.question],
        strict=True,
    ):
        if ours and theirs and ours.dtype != theirs.dtype:
            raise TypeError(
                f"prior: {theirs.name!r} is {theirs.dtype}, but {ours.dtype} in the data, so that "
                "no question can be matched. Cast one of them."
            )
    return earlier
