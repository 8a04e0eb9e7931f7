"""The request of a report: metrics, options and prior, after all checks of the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

import polars as pl

from polars_scorio.arguments import (
    InferenceKind,
    Per,
    View,
    check_anytime,
    check_choice,
    check_confidence,
)
from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.graded_rewards import check_reward_range
from polars_scorio.counting.groups import group_plan
from polars_scorio.counting.refusals import UNCALIBRATED_REWARDS
from polars_scorio.counting.reward_sums import RewardColumns
from polars_scorio.counting.trials import Trials, as_categories, bind_roles
from polars_scorio.kernels.array_types import Ints
from polars_scorio.kernels.posteriors import QuestionPosteriors, Target
from polars_scorio.metrics.costs import cost_columns
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.metric_arguments import Bounds, check_weight_sizes
from polars_scorio.metrics.reward_metric import RewardMetric
from polars_scorio.reporting.inference.calibrated import CalibratedInference
from polars_scorio.reporting.inference.choice import (
    InferenceChoice,
    JudgeLabels,
    UnbiasedInference,
)
from polars_scorio.reporting.judge_requests import check_judged, judged_views
from polars_scorio.reporting.options import Frame
from polars_scorio.reporting.question_cells import QuestionCells

MetricT = TypeVar("MetricT", bound=Metric)
# Views of metrics that need success and failure.
BINARY_VIEWS = frozenset({"success", "answers", "costs"})
RewardUse: TypeAlias = 'Literal["allowed", "always", "never"]'


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Metrics of a log, and how their numbers are found.

    Attributes
    ----------
    trials : Trials
        The log.
    metrics : tuple of tuple
        Each metric, with what it looks at.
    classes : Classes
        The classes into which trials are counted.
    choice : InferenceChoice
        Inference, confidence and target.
    prior : Trials or None
        Prior trials.
    """

    trials: Trials
    metrics: tuple[tuple[Metric, View], ...]
    classes: Classes
    choice: InferenceChoice
    prior: Trials | None

    @classmethod
    def of(
        cls,
        trials: Trials,
        metrics: Sequence[Metric],
        *,
        prior: Frame | None = None,
        inference: InferenceKind | None = None,
        target: Target = "benchmark",
        confidence: float = 0.95,
        per: Per = "model",
        rewards: RewardUse = "allowed",
        anytime: int | None = None,
    ) -> Request:
        """Check what is requested, as far as arguments and schema tell.

        Parameters
        ----------
        trials : Trials
            The log.
        metrics, prior, inference, target, confidence, per, anytime
            As in `Scorio.report`.
        rewards : "allowed", "always" or "never"
            Whether rewards may have other values than 0 and 1: unless posteriors are asked for,
            whatever is asked for, or never.

        Returns
        -------
        Request

        Raises
        ------
        TypeError, ValueError, ColumnNotFoundError
            As `Scorio.report` at the call.
        """
        check_metrics(metrics)
        confidence = check_confidence(confidence)
        if inference is not None:
            check_choice("inference", inference, InferenceKind)
        check_choice("target", target, Target)
        check_choice("per", per, Per)
        anytime = None if anytime is None else check_anytime(anytime)
        metrics = [on_levels(metric, trials) for metric in metrics]
        judged: JudgeLabels | None = None
        if trials.judged:
            views = judged_views(metrics, trials)
            check_judged(
                trials, metrics, inference, target, per, prior=prior is not None, anytime=anytime
            )
            judged = "from elsewhere" if trials.truth is None else "on these trials"
        else:
            views = report_views(metrics, trials)
        posterior = prior is not None or inference in ("published", "pooled")
        if rewards == "never" or (rewards == "allowed" and posterior):
            views = _without_rewards(views, metrics, trials)
        weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
        counted = counted_classes(
            trials,
            weighted,
            binary=not BINARY_VIEWS.isdisjoint(views),
            rewards=reward_columns(metrics, views, trials.roles.bounds),
            answers="answers" in views,
            costs=cost_columns(metrics),
        )
        posteriors = prior is not None or per == "question"
        choice = InferenceChoice(inference, confidence, target, anytime, posteriors, judged)
        _check_together(metrics, choice, prior, per)
        earlier = None if prior is None else bind_prior(prior, trials, counted)
        asked = tuple(zip(metrics, views, strict=True))
        if anytime is not None:
            _refuse_repeated_looks(asked, choice)
        return cls(trials, asked, counted, choice, earlier)

    def groups(
        self,
        *,
        per_question: bool = False,
        questions: Alignment = "any",
        sequences: bool = False,
    ) -> pl.LazyFrame:
        """The questions of every group; see `counting.groups`."""
        return group_plan(
            self.trials,
            self.classes,
            self.prior,
            per_question=per_question,
            questions=questions,
            sequences=sequences,
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

    def posterior(self, cells: QuestionCells) -> QuestionPosteriors:
        """The posterior of the questions in each cell, for the first metric, which has one."""
        metric, view = cells.without_rewards(self.metrics)[0]
        inference = self.choice.inference_of(metric, view)
        assert not isinstance(inference, UnbiasedInference)
        return inference.posterior(view, cells)


def on_levels(metric: MetricT, trials: Trials) -> MetricT:
    """The metric with the levels of the rewards as its weights, if it weighs and has none."""
    levels = trials.roles.levels
    if levels is None:
        return metric
    check_weight_sizes("levels", levels)
    return metric.weighing(tuple(zip(levels, levels, strict=True)))


def view_of(metric: Metric, trials: Trials) -> View:
    """The view of a metric: counts by category or success, the rewards, answers or costs.

    Raises
    ------
    ValueError
        If it looks at answers or costs, and nobody has said where they are.
    """
    if metric.looks_at == "answers":
        if trials.answer is None:
            raise ValueError(
                f"{metric.name} is about votes over answers: name the column of what trials "
                "answered with answer=. A majority of verdicts, right or wrong, is ps.maj_at_k"
            )
        return "answers"
    if metric.looks_at == "costs":
        if trials.cost is None:
            raise ValueError(
                f'{metric.name} needs a cost column: df.scorio(cost="usd"). The log must have a '
                "row for each trial, as counts do not say what the trials cost"
            )
        if trials.judged:
            raise ValueError(
                f"{metric.name}: a judge's errors are corrected in rates alone: leave truth= and "
                "judge= out"
            )
        return "costs"
    if metric.w is not None:
        return "categories"
    rewarded = isinstance(metric, RewardMetric) and holds_rewards(trials)
    return "rewards" if rewarded else "success"


def holds_rewards(trials: Trials) -> bool:
    """Whether the category column may hold rewards of any value."""
    dtype, roles = trials.category.dtype, trials.roles
    ranged = roles.bounds is not None and (dtype.is_integer() or dtype.is_float())
    return ranged or (dtype.is_float() and roles.success is None)


def report_views(metrics: Sequence[Metric], trials: Trials) -> list[View]:
    """The view of each metric of a report.

    Beside a metric of success and failure, of answers or of costs, rewards have to be 0 and 1, so
    that all metrics are of success and failure.
    """
    views = [view_of(metric, trials) for metric in metrics]
    binary = not BINARY_VIEWS.isdisjoint(views) and trials.roles.bounds is None
    return ["success" if binary and view == "rewards" else view for view in views]


def reward_columns(
    metrics: Sequence[Metric], views: Sequence[View], usual: Bounds | None
) -> RewardColumns | None:
    """The columns of rewards that the metrics of a report need; None if there are none.

    Raises
    ------
    ValueError
        If metrics have ranges that exclude each other.
    """
    asked = [
        metric
        for metric, view in zip(metrics, views, strict=True)
        if view == "rewards" and isinstance(metric, RewardMetric)
    ]
    if not asked:
        return None
    ranges = [metric.reward_range or usual for metric in asked]
    given = [check_reward_range(bounds) for bounds in [*ranges, usual] if bounds is not None]
    both = (max(low for low, _ in given), min(high for _, high in given)) if given else None
    if both is not None and not both[0] < both[1]:
        raise ValueError(f"bounds: all metrics are about the same rewards, got {ranges}")
    averages = [metric.averages_rewards for metric in asked]
    return RewardColumns(both, usual, None in ranges, any(averages), not all(averages))


def _without_rewards(
    views: Sequence[View], metrics: Sequence[Metric], trials: Trials
) -> list[View]:
    """The views with rewards as successes, for numbers that rewards of any value do not have.

    Raises
    ------
    ValueError
        If the log says that its rewards have other values than 0 and 1.
    """
    for metric, view in zip(metrics, views, strict=True):
        if view == "rewards" and trials.roles.bounds is not None:
            raise ValueError(f"{metric.name}: {UNCALIBRATED_REWARDS}")
    return ["success" if view == "rewards" else view for view in views]


def _check_together(
    metrics: Sequence[Metric], choice: InferenceChoice, prior: Frame | None, per: Per
) -> None:
    """Refuse options that contradict each other or a metric."""
    kind, target = choice.kind, choice.target
    for metric in metrics:
        if metric.looks_at == "costs" and (kind in {"published", "pooled"} or prior is not None):
            raise ValueError(
                f"{metric.name}: costs have calibrated numbers alone: leave inference= and prior= "
                "out"
            )
    priors = [metric for metric in metrics if metric.beta_prior != (1.0, 1.0)]
    if kind in {None, "published"}:
        if target == "population" and (kind or choice.posteriors or priors):
            raise ValueError(
                'target="population" needs inference="calibrated" or "pooled": with a prior of its '
                "own for each question mu keeps a bias however many questions there are, so that "
                "the coverage of the interval goes to zero"
            )
        return
    if target == "population" and per == "question":
        raise ValueError('target="population" is about the mean: it has no per="question"')
    if kind == "calibrated":
        _refuse_uncalibrated(prior, per)
    for metric in priors:
        raise ValueError(
            f"{metric.name}: inference={kind!r} finds out from the questions what alpha0 and "
            "beta0 would say: leave them out"
        )
    for metric in metrics:
        if target == "population" and kind == "pooled" and metric.all_trials:
            raise ValueError(
                f"{metric.name}: without k, a question outside the log has no number of trials; "
                'target="population" needs a k, or inference="calibrated"'
            )


def _refuse_repeated_looks(
    metrics: tuple[tuple[Metric, View], ...], choice: InferenceChoice
) -> None:
    """Refuse posteriors, whose bias no critical value repairs, if looks are repeated."""
    for metric, view in metrics:
        if view == "costs":
            raise ValueError(
                f"{metric.name}: nobody knows intervals of costs that hold at every look: leave "
                "anytime= out"
            )
        unbiased = isinstance(choice.inference_of(metric, view), CalibratedInference)
        if not unbiased:
            raise ValueError(
                f"{metric.name}: posterior means are biased, so intervals that hold at every look "
                "do not exist for them. Use ps.avg() or a metric of the Pass@k family, with "
                'inference="calibrated", no prior trials, and a row for each model'
            )


def _refuse_uncalibrated(prior: Frame | None, per: Per) -> None:
    """Refuse prior trials and single questions, of which calibrated numbers know nothing."""
    if prior is not None:
        raise ValueError(
            "calibrated intervals cannot use prior trials: concatenate them if they are trials of "
            'the same models, or pass inference="pooled"'
        )
    if per == "question":
        raise ValueError(
            'inference="calibrated" is about means over questions; for per="question" say '
            'inference="pooled"'
        )


def check_metrics(metrics: Sequence[Metric], method: str = "report") -> None:
    """Refuse other things than metrics, and two metrics with the same rows in the result.

    Raises
    ------
    TypeError
        If there is none, or one is something else.
    ValueError
        If two rows of the result would have the same name.
    """
    if not metrics:
        raise TypeError("name at least one metric, for instance ps.avg()")
    for metric in metrics:
        check_metric(metric, f"{method} takes metrics")
    rows = [(metric.name, k) for metric in metrics for k in metric.row_sizes]
    repeated = [row for row in rows if rows.count(row) > 1]
    if repeated:
        name, k = repeated[0]
        raise ValueError(
            f"the report has two rows of the metric {name!r} with k={k}: tell them apart with name="
        )


def bind_prior(prior: Frame, trials: Trials, counted: Classes) -> Trials:
    """Find the roles of the data in a frame of prior trials."""
    if not isinstance(prior, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"prior must be a Polars frame of prior trials, got {prior!r}")
    roles = replace(trials.roles, n=None, cluster=None, answer=None, truth=None, cost=None)
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
