"""Clusters of questions as a sample: there must be several, and none should be most of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import polars as pl

from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import CLUSTER, Trials
from polars_scorio.counting.tally import QUESTIONS

_LARGE = 1 / 3  # of the questions
_SIZE, _SHARE, _COUNTED = ":size", ":share", ":counted"


class ClusterWarning(UserWarning):
    """One cluster has more than a third of the questions, which count as few clusters then."""


def check_sample(trials: Trials, counts: Sequence[str]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The check of groups whose clusters are a sample, a step of a `WholePlan`."""

    def check(groups: pl.DataFrame) -> pl.DataFrame:
        rows = (
            groups.select(*trials.groups, QUESTIONS).explode(QUESTIONS, **AS_ROWS).unnest(QUESTIONS)
        )
        scored = rows.filter(pl.sum_horizontal(counts) > 0)
        sizes = scored.group_by(*trials.groups, CLUSTER).agg(pl.len().alias(_SIZE))
        size, number = pl.col(_SIZE), pl.col(_SIZE).cast(pl.Float64)
        largest = (
            sizes.sort(CLUSTER)
            .group_by(*trials.groups)
            .agg(
                pl.len(),
                pl.col(CLUSTER).sort_by(_SIZE, descending=True, maintain_order=True).first(),
                size.sum(),
                (size.max() / size.sum()).alias(_SHARE),
                (number.sum() ** 2 / (number**2).sum()).alias(_COUNTED),
            )
        )
        _refuse_one(largest.filter(pl.col("len") == 1, size > 1), trials)
        _warn_of_large(largest.filter(pl.col(_SHARE) > _LARGE, pl.col("len") < size), trials)
        return groups

    return check


def _refuse_one(groups: pl.DataFrame, trials: Trials) -> None:
    """Raise if all questions of a group are in one cluster."""
    if groups.is_empty():
        return
    first = groups.sort(*trials.groups).row(0, named=True)
    number = groups.height
    raise ValueError(
        f"{number:,} model{'s have' if number > 1 else ' has'} only one cluster of questions in "
        f"{_cluster_name(trials)!r}, the first{_sample_place(first, trials)}: "
        f"{first[CLUSTER]!r}, with {first[_SIZE]:,} questions. One cluster says nothing "
        "of others: name a column that distinguishes several, leave cluster= out, or ask about "
        'these questions with target="benchmark".'
    )


def _warn_of_large(groups: pl.DataFrame, trials: Trials) -> None:
    """Warn if one cluster has a large part of the questions of a group."""
    if groups.is_empty():
        return
    first = groups.sort(_SHARE, *trials.groups, descending=[True, *[False] * len(trials.groups)])
    worst, number = first.row(0, named=True), groups.height
    warnings.warn(
        f"in {number:,} model{'s' * (number > 1)} one cluster has more than a third of the "
        f"questions, most{_sample_place(worst, trials)}: {worst[CLUSTER]!r} in "
        f"{_cluster_name(trials)!r} has {worst[_SHARE]:.0%} of {worst[_SIZE]:,}. "
        "The mean then hangs on what that one cluster happened to be: "
        f"{worst['len']:,} clusters count as {worst[_COUNTED]:.1f}, and intervals about "
        "the population are as wide; they hold only if that cluster is like the others.",
        ClusterWarning,
        stacklevel=2,
    )


def _cluster_name(trials: Trials) -> str:
    return "" if trials.cluster is None else trials.cluster.name


def _sample_place(group: dict[str, object], trials: Trials) -> str:
    place = ", ".join(f"{key}={group[key]!r}" for key in trials.keys)
    return f" at {place}" if place else ""
