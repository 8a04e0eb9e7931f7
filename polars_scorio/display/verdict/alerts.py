"""Warnings above the numbers of a page: gaps of the log, and their effect on a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from polars_scorio.counting.stopping import TRIALS
from polars_scorio.display.phrases import (
    count_of,
    name_list,
    number_list,
    range_text,
    short_name,
    text_list,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.labels import metric_label
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.scopes import Scope, common_questions
from polars_scorio.display.verdict.stopped_models import stopped_models
from polars_scorio.metrics.metric import Metric

_FEW = 10  # questions, below which the sections say little
_GROUPS = 3  # of identical models that are named
_STOPPED = "Trials that stopped on outcomes"


@dataclass(frozen=True, slots=True)
class Alert:
    """A warning on a page: its title and its text."""

    title: str
    text: str


def coverage_alerts(look: Look, coverage: pl.DataFrame) -> Iterator[Alert]:
    """Warnings about the coverage of a log, the most important first.

    Parameters
    ----------
    look : Look
        The log.
    coverage : DataFrame
        As `Look.coverage` returns it.
    """
    yield from _stopped_trials(look, coverage)
    yield from _identical_models(look)
    yield from _missing_questions(look, coverage)
    yield from _few_questions(look)
    yield from _missing_models(look)
    yield from _unfinished_runs(coverage)
    yield from _missing_outcomes(look, coverage)
    yield from _repeated_ids(coverage)
    yield from _trial_numbers(coverage)
    yield from _followed_difficulty(coverage)


def biased_models(coverage: pl.DataFrame, settings: Settings) -> list[str]:
    """Models whose numbers are biased, since their trials stopped on outcomes.

    Pooled numbers allow for it.
    """
    return [] if settings.inference == "pooled" else stopped_models(coverage)["outcomes"]


def _by_model(coverage: pl.DataFrame, column: str, *, same: bool = False) -> list[tuple[str, int]]:
    """The models of which something is to be said, the worst first; once if strata are the same."""
    number = pl.col(column).max() if same else pl.col(column).sum()
    totals = coverage.group_by("model").agg(number).filter(pl.col(column) > 0)
    return totals.sort(pl.col(column), "model", descending=[True, False]).rows()


def _missing_questions(look: Look, coverage: pl.DataFrame) -> Iterator[Alert]:
    lacking = _by_model(coverage, "missing", same=look.steps is not None)
    if lacking:
        keys, asked = ["stratum", "question"], look.question_count
        lost = look.cells.join(common_questions(look), on=keys, how="anti")
        left_out = lost.select(look.question_keys).n_unique()
        yield Alert(
            "Missing questions",
            f"{count_of(len(lacking), 'model')} {'lacks' if len(lacking) == 1 else 'lack'} "
            f"questions that other models have ({number_list(lacking)}). The numbers leave out "
            f"{left_out:,} of {asked:,} questions, which not all models have. If those that are "
            "missing were hard, the models that lack them look better than they are.",
        )


def _few_questions(look: Look) -> Iterator[Alert]:
    asked = look.question_count
    if asked < _FEW:
        yield Alert(
            "Few questions",
            f"The log has {count_of(asked, 'question')} in all. The intervals are about these "
            "questions; about others they say next to nothing.",
        )


def _identical_models(look: Look) -> Iterator[Alert]:
    groups = look.identical
    if groups:
        named = "; ".join(name_list(names) for names in groups[:_GROUPS])
        yield Alert(
            "Identical models",
            f"The same outcomes at every question: {named}. Was one file read under several names?",
        )


def _missing_models(look: Look) -> Iterator[Alert]:
    models = look.cells.group_by("stratum").agg(pl.col("model").n_unique()).sort("stratum")
    partial = models.filter(pl.col("model") < len(look.models))["stratum"].to_list()
    if partial:
        yield Alert(
            "Missing models",
            f"Not all {len(look.models):,} models were run on {name_list(partial)}. Numbers over "
            "all strata leave that out.",
        )


def _unfinished_runs(coverage: pl.DataFrame) -> Iterator[Alert]:
    """Models of which fewer trials are in the log than their tool planned."""
    if "planned" not in coverage.columns:
        return
    rows = pl.col("trials") + pl.col("nulls")
    known = coverage.filter(pl.col("planned").is_not_null()).group_by("model")
    totals = known.agg(rows.sum().alias("rows"), pl.col("planned").sum())
    short = totals.filter(pl.col("rows") < pl.col("planned")).sort("model")
    if short.height:
        parts = [
            f"{short_name(model)}: {found:,} of {planned:,}"
            for model, found, planned in short.rows()
        ]
        yield Alert(
            "Unfinished runs",
            f"The tool planned more trials than the log has ({text_list(parts)}). Trials that are "
            "missing may be the hard ones.",
        )


def _missing_outcomes(look: Look, coverage: pl.DataFrame) -> Iterator[Alert]:
    missing = _by_model(coverage, "nulls")
    if not missing:
        return
    meaning = look.trials.roles.missing
    handled = {
        "error": 'A report refuses them: missing="drop" leaves them out, a category counts them.',
        "drop": "They were dropped, which flatters a model that crashes on hard questions.",
    }.get(str(meaning), f"They count as category {meaning!r}.")
    yield Alert(
        "Dropped trials" if meaning == "drop" else "Missing outcomes",
        f"{count_of(sum(number for _, number in missing), 'trial')} without an outcome "
        f"({number_list(missing)}). {handled}",
    )


def _repeated_ids(coverage: pl.DataFrame) -> Iterator[Alert]:
    repeated = _by_model(coverage, "duplicates")
    if repeated:
        yield Alert(
            "Duplicates",
            f"{count_of(sum(number for _, number in repeated), 'trial')} with the id of an earlier "
            f"trial ({number_list(repeated)}): a file was read twice, or a stratum is missing.",
        )
    elif coverage["duplicates"].is_null().any():
        yield Alert(
            "Unchecked duplicates",
            "Rows have no trial ids, or the ids were not checked: repeated trials would not be "
            "noticed.",
        )


def _trial_numbers(coverage: pl.DataFrame) -> Iterator[Alert]:
    least, most = coverage.select(pl.col("n_min").min(), pl.col("n_max").max()).row(0)
    if most == 1:
        yield Alert(
            "One trial per question",
            "One trial does not show how reliable a model is on a question; intervals rest on what "
            "the questions have in common.",
        )
    elif least != most:
        yield Alert("Unequal trials", f"Questions have {range_text(least, most)} trials.")


def _stopped_trials(look: Look, coverage: pl.DataFrame) -> Iterator[Alert]:
    """Models whose questions were repeated until an outcome appeared, and how to repair it."""
    found = stopped_models(coverage)["outcomes"]
    if not found:
        return
    names = name_list(found)
    first = int(look.each[TRIALS].min() or 1)  # type: ignore[arg-type]  # integers
    kept = "trial" if first == 1 else count_of(first, "trial")
    yield Alert(
        _STOPPED,
        f"Questions of {names} were repeated until an outcome appeared, such as a success. Their "
        f"scores are biased. Keep the first {kept} of each question for unbiased scores, or ask "
        "for pooled numbers, which allow for such stopping.",
    )


def _followed_difficulty(coverage: pl.DataFrame) -> Iterator[Alert]:
    found = stopped_models(coverage)["difficulty"]
    if found:
        yield Alert(
            "Trials that follow difficulty",
            f"Harder questions of {name_list(found)} have more trials, or fewer. Estimates remain "
            "valid; pooled numbers and forecasts do not.",
        )


def draws_beyond_trials(scope: Scope, metrics: Sequence[Metric]) -> Iterator[Alert]:
    """The draw sizes that some questions do not reach."""
    short = scope.rows.filter(pl.col("estimate").is_null(), pl.col("k").is_not_null())
    lacking = set(short.select("metric", "k").rows())
    names = [
        metric_label(metric, k)
        for metric in metrics
        for k in metric.row_sizes
        if (metric.name, k) in lacking
    ]
    if names:
        yield Alert(
            "More draws than trials",
            f"{text_list(names)}: some questions have fewer trials than are drawn. No unbiased "
            "estimate exists, and the numbers rest on an assumption about the questions.",
        )
