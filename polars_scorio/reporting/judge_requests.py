"""Checks of reports about verdicts of an imperfect judge, as far as arguments and schema tell."""

from __future__ import annotations

from collections.abc import Sequence

from polars_scorio.arguments import InferenceKind, Per, View
from polars_scorio.counting.trials import Trials
from polars_scorio.counting.truth_labels import check_truth
from polars_scorio.kernels.calibrated.root_credit import RootDraw
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.metric import Metric

_MANY = 100  # trials of a question
_METRICS = "take ps.avg() or a metric of the Pass@k family"


def refuse_judge(trials: Trials, method: str) -> None:
    """Refuse a method that would take the verdicts of a judge for the truth.

    Raises
    ------
    ValueError
        If the log has truth or a judge.
    """
    if trials.judged:
        raise ValueError(
            f"{method} knows no correction for the errors of a judge: leave {judge_role(trials)}= "
            "out, and it is about the verdicts as they are"
        )


def judge_role(trials: Trials) -> str:
    """The keyword that says how reliable the judge is."""
    return "judge" if trials.truth is None else "truth"


def judged_views(metrics: Sequence[Metric], trials: Trials) -> list[View]:
    """The views of metrics of verdicts: all are of success and failure.

    Raises
    ------
    ValueError
        If no correction of a metric is known.
    """
    role = judge_role(trials)
    for metric in metrics:
        if metric.looks_at == "answers":
            raise ValueError(
                f"{metric.name}: votes over answers have no correction for the errors of a judge: "
                f"leave {role}= out, or {_METRICS}"
            )
        if metric.w is not None:
            raise ValueError(
                f"{metric.name}: the errors of a judge are corrected for right and wrong, not for "
                f"weights: leave w= out and say with success= or threshold= what is right, or "
                f"leave {role}= out"
            )
        draw = metric.draw(metric.row_sizes[0])
        if draw is None or isinstance(draw, RootDraw) or not metric.calibrated:
            raise ValueError(
                f"{metric.name} has no correction for the errors of a judge: {_METRICS}, or leave "
                f"{role}= out"
            )
    return ["success"] * len(metrics)


def check_judged(
    trials: Trials,
    metrics: Sequence[Metric],
    inference: InferenceKind | None,
    target: Target,
    per: Per,
    *,
    prior: bool,
    anytime: int | None,
) -> None:
    """Refuse options that go with no correction for the errors of a judge.

    Raises
    ------
    TypeError, ValueError
        With the way out.
    """
    role = judge_role(trials)
    if trials.truth is not None:
        check_truth(trials.truth, trials.category, trials.roles.successes)
    if (
        inference in {"published", "pooled"}
        or prior
        or any(metric.beta_prior != (1.0, 1.0) for metric in metrics)
    ):
        raise ValueError(
            f"{role}= corrects unbiased estimates, and posterior means are biased: leave "
            f"inference={inference!r}, prior=, alpha0= and beta0= out"
        )
    if per == "question":
        raise ValueError(f'{role}= corrects means over questions: leave per="question" out')
    if anytime is not None:
        raise ValueError(
            f"anytime= is not known for numbers that are corrected for a judge: leave {role}= out "
            "to look repeatedly at the verdicts (who is better needs no correction under one "
            "judge), or anytime= to look once"
        )
    if target == "population" and trials.cluster is not None:
        _refuse_clustered_draws(metrics, role)


def _refuse_clustered_draws(metrics: Sequence[Metric], role: str) -> None:
    """Refuse metrics of several trials over a population of clusters."""
    for metric in metrics:
        for k in metric.row_sizes:
            gains = metric.draw(k)
            if gains is not None and gains(_MANY).size > 1:
                raise ValueError(
                    f"{metric.name}: with {role}= and cluster= only ps.avg() is known about a "
                    "population, as the correction of draws of several trials takes questions as "
                    'independent: ask about these questions (target="benchmark"), which clusters '
                    f"do not change, or leave {role}= out for the verdicts as they are"
                )
