"""Warnings above the numbers of a page: gaps of the log, and their effect on a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from polars_scorio.display.html.labels import metric_label
from polars_scorio.display.html.log_summary import Look
from polars_scorio.display.html.phrases import count, listed, numbered, span
from polars_scorio.display.html.scopes import Scope
from polars_scorio.metrics.metric import Metric

# Title and text for what the numbers of trials depend on.
_FOLLOWED = {
    "outcomes": "Trials that stopped on outcomes: Questions of {} were repeated until an outcome "
    "appeared, for instance a success, which biases the estimates. The first {} of each question "
    "give unbiased estimates; pooled numbers are unbiased, too.",
    "difficulty": "Trials that follow difficulty: Harder questions of {} have more trials, or "
    "fewer. Estimates remain valid; pooled numbers and forecasts do not.",
}


@dataclass(frozen=True, slots=True)
class Alert:
    """A warning on a page: its title and its text."""

    title: str
    text: str


def alerts(look: Look, coverage: pl.DataFrame) -> Iterator[Alert]:
    """Warnings about the coverage of a log, the most important first.

    Parameters
    ----------
    look : Look
        The log.
    coverage : DataFrame
        As `Look.coverage` returns it.
    """
    yield from _missing(look, coverage)
    yield from _absent(look)
    yield from _nulls(look, coverage)
    yield from _duplicates(coverage)
    yield from _sizes(coverage)
    yield from _stopping(coverage)


def _by_model(coverage: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    """The models of which something is to be said, the worst first."""
    totals = coverage.group_by("model").agg(pl.col(column).sum()).filter(pl.col(column) > 0)
    return totals.sort(pl.col(column), "model", descending=[True, False]).rows()


def _missing(look: Look, coverage: pl.DataFrame) -> Iterator[Alert]:
    lacking = _by_model(coverage, "missing")
    if lacking:
        shared = look.cells.select("stratum", "question").n_unique()
        yield Alert(
            "Missing questions",
            f"{count(len(lacking), 'model')} {'lacks' if len(lacking) == 1 else 'lack'} questions "
            f"that other models have ({numbered(lacking)}, of {shared:,}). The report uses the "
            "questions that all models of a stratum have.",
        )


def _absent(look: Look) -> Iterator[Alert]:
    models = look.cells.group_by("stratum").agg(pl.col("model").n_unique()).sort("stratum")
    partial = models.filter(pl.col("model") < len(look.models))["stratum"].to_list()
    if partial:
        yield Alert(
            "Missing models",
            f"Not all {len(look.models):,} models were run on {listed(partial)}. Numbers over all "
            "strata leave that out.",
        )


def _nulls(look: Look, coverage: pl.DataFrame) -> Iterator[Alert]:
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
        f"{count(sum(number for _, number in missing), 'trial')} without an outcome "
        f"({numbered(missing)}). {handled}",
    )


def _duplicates(coverage: pl.DataFrame) -> Iterator[Alert]:
    repeated = _by_model(coverage, "duplicates")
    if repeated:
        yield Alert(
            "Duplicates",
            f"{count(sum(number for _, number in repeated), 'trial')} with the id of an earlier "
            f"trial ({numbered(repeated)}): a file was read twice, or a stratum is missing.",
        )
    elif coverage["duplicates"].is_null().any():
        yield Alert(
            "Unchecked duplicates",
            "Rows have no trial ids, or the ids were not checked: repeated trials would not be "
            "noticed.",
        )


def _sizes(coverage: pl.DataFrame) -> Iterator[Alert]:
    least, most = coverage.select(pl.col("n_min").min(), pl.col("n_max").max()).row(0)
    if most == 1:
        yield Alert(
            "One trial per question",
            "One trial does not show how reliable a model is on a question; intervals rest on what "
            "the questions have in common.",
        )
    elif least != most:
        yield Alert("Unequal trials", f"Questions have {span(least, most)} trials.")


def _stopping(coverage: pl.DataFrame) -> Iterator[Alert]:
    if "stopping" not in coverage.columns:
        return
    for kind, meaning in _FOLLOWED.items():
        found = coverage.filter(pl.col("stopping") == kind)
        if found.height:
            names = listed(found["model"].unique().sort().to_list())
            title, text = meaning.split(": ", 1)
            yield Alert(title, text.format(names, count(min(found["n_min"]), "trial")))


def beyond(scope: Scope, metrics: Sequence[Metric]) -> Iterator[Alert]:
    """The draw sizes that some questions do not reach."""
    short = scope.rows.filter(pl.col("estimate").is_null(), pl.col("k").is_not_null())
    lacking = set(short.select("metric", "k").rows())
    names = [
        metric_label(metric, k)
        for metric in metrics
        for k in metric.k
        if (metric.name, k) in lacking
    ]
    if names:
        yield Alert(
            "More draws than trials",
            f"{listed(names)}: some questions have fewer trials than are drawn. No unbiased "
            "estimate exists, and the numbers rest on an assumption about the questions.",
        )
