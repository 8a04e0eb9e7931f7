"""The verdict of a log: who leads, by which numbers, and what to know before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from warnings import catch_warnings, simplefilter

import polars as pl

from polars_scorio.counting.categories import counted_classes
from polars_scorio.counting.success_labels import SuccessWarning, check_counted_labels
from polars_scorio.counting.tally import class_members
from polars_scorio.counting.trials import CATEGORY, COUNT, bind_roles
from polars_scorio.display.phrases import short_name
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.alerts import (
    Alert,
    biased_models,
    coverage_alerts,
    draws_beyond_trials,
)
from polars_scorio.display.verdict.headline import verdict_basis, verdict_sentence
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.scopes import (
    Scope,
    default_metrics,
    knows_success,
    page_scopes,
)
from polars_scorio.display.verdict.step_verdict import best_step_sentences
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.judge_warning import JudgeWarning
from polars_scorio.reporting.stopping_warning import StoppingWarning

_NAMED = 5  # so many categories are named


@dataclass(frozen=True, slots=True)
class LogVerdict:
    """The verdict, and the scopes that it was read from.

    Attributes
    ----------
    metrics : tuple of Metric
        Those that were asked for, but for costs, or those that suit the log.
    overall : Scope or None
        The scope that the headline is about; None if no stratum has all models.
    parts : list of Scope
        The strata; none if the log has none.
    headline, basis, outcomes : str
        Who leads, by which metric and criterion, and what counted as success and as failure.
    alerts : list of Alert
        What to know before the numbers.
    best_steps : list of str
        Sentences on the best step of each model, if the strata are steps of the same questions.
    """

    metrics: tuple[Metric, ...]
    overall: Scope | None
    parts: list[Scope]
    headline: str
    basis: str
    outcomes: str
    alerts: list[Alert]
    best_steps: list[str]

    @property
    def main(self) -> Scope:
        """The scope that the headline is about, or the first stratum."""
        return self.overall or self.parts[0]


def log_verdict(
    look: Look, coverage: pl.DataFrame, metrics: Sequence[Metric], settings: Settings
) -> LogVerdict:
    """The verdict of a log that was counted.

    Parameters
    ----------
    look : Look
        The counts.
    coverage : DataFrame
        What the log holds and lacks.
    metrics : sequence of Metric
        What is asked for; none: what suits the log.
    settings : Settings
        How.

    Raises
    ------
    ValueError, TypeError
        If the log cannot be reported.
    """
    look.refuse()
    scores = tuple(metric for metric in metrics if metric.looks_at != "costs")
    scores = scores or default_metrics(look)
    _refuse_votes(scores)
    if not any(metric.w for metric in scores):
        check_counted_labels(look.cells, look.trials)
    with without_repeated_warnings():
        overall, parts = page_scopes(look, scores, settings)
    biased = biased_models(coverage, settings)
    if biased:
        overall = None if overall is None else replace(overall, biased=True)
        parts = [replace(part, biased=True) for part in parts]
    main = overall or parts[0]
    best_steps = []
    if look.steps is not None:
        with without_repeated_warnings():
            best_steps = best_step_sentences(look, main, settings)
    return LogVerdict(
        metrics=scores,
        overall=overall,
        parts=parts,
        headline=verdict_sentence(overall, parts, settings, biased, best_steps),
        basis=verdict_basis(main, settings),
        outcomes=outcome_words(look, scores),
        alerts=[*coverage_alerts(look, coverage), *draws_beyond_trials(main, scores)],
        best_steps=best_steps,
    )


def outcome_words(look: Look, metrics: Sequence[Metric]) -> str:
    """Sentences on the categories that counted as success and as failure; empty without any."""
    if not knows_success(look.cells, look.roles, metrics):
        return ""
    cells = bind_roles(look.cells.lazy(), look.roles)
    weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
    classes = counted_classes(cells, weighted, binary=True)
    members = class_members(cells, classes)
    succeeded = pl.any_horizontal(members[place] for place in classes.successful)
    trials = cells.rows().filter(pl.col(CATEGORY).is_not_null(), pl.col(COUNT) > 0)
    counted = trials.group_by(CATEGORY).agg(pl.col(COUNT).sum().cast(pl.Int64))
    rows = counted.sort(-pl.col(COUNT), CATEGORY).with_columns(succeeded.alias("")).collect()
    name, threshold = look.trials.category.name, look.trials.roles.threshold

    def words(category: object) -> str:
        if threshold is not None:
            return f"{short_name(name)} {'at least' if category else 'below'} {threshold:g}"
        if isinstance(category, float) and category.is_integer():
            category = int(category)
        return str(category).lower() if isinstance(category, bool) else short_name(category)

    parts = []
    for title, chosen in (("Success", True), ("Failure", False)):
        found = rows.filter(pl.col("") == chosen).select(CATEGORY, COUNT).rows()
        texts = [f"{words(category)} ({number:,})" for category, number in found[:_NAMED]]
        if found[_NAMED:]:
            others = sum(number for _, number in found[_NAMED:])
            texts.append(f"{len(found) - _NAMED:,} more ({others:,})")
        parts.append(f"{title}: {', '.join(texts) or 'none'}.")
    return " ".join(parts)


def refusal_words(error: Exception) -> str:
    """The sentence in place of a verdict."""
    return f"This log cannot be reported. {error}"


@contextmanager
def without_repeated_warnings() -> Iterator[None]:
    """Ignore what reports of strata warn of: a page warns once, about the whole log.

    Of trials that stopped on outcomes it has an alert, of judges a sentence.
    """
    with catch_warnings():
        simplefilter("ignore", SuccessWarning)
        simplefilter("ignore", StoppingWarning)
        simplefilter("ignore", JudgeWarning)
        yield


def _refuse_votes(metrics: Sequence[Metric]) -> None:
    """Refuse metrics of answers: verdicts are made of the counts of categories."""
    for metric in metrics:
        if metric.looks_at == "answers":
            raise ValueError(
                f"{metric.name}: a page is made of counts of categories, in which there are no "
                "answers: leave it out, and show votes with leaderboard and plot"
            )
