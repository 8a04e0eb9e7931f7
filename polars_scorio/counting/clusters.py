"""Questions that belong together: each of them is in one cluster."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_scorio.counting.checks import ANOTHER, UNCLUSTERED
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.roles import CLUSTER, Trials


def in_one_cluster(
    questions: pl.LazyFrame, trials: Trials, lists: Sequence[str] = (), least: Sequence[str] = ()
) -> pl.LazyFrame:
    """One row per question, of a frame with one for each question and cluster.

    Parameters
    ----------
    questions : LazyFrame
        What an aggregation found; its numbers are added up.
    trials : Trials
        The log.
    lists, least : sequence of str
        Columns of lists, and those of which the least value is kept.

    Returns
    -------
    LazyFrame
        With `CLUSTER`, and for the rules `ANOTHER` and `UNCLUSTERED`.
    """
    if trials.cluster is None:
        return questions
    cluster = pl.col(CLUSTER)
    return questions.group_by(*trials.groups, trials.question.name).agg(
        pl.exclude(CLUSTER, *lists, *least).sum(),
        *(pl.col(name).explode(**AS_ROWS) for name in lists),
        *(pl.col(name).min() for name in least),
        cluster.min(),
        pl.when(cluster.n_unique() > 1).then(cluster.max()).alias(ANOTHER),
        cluster.is_null().any().alias(UNCLUSTERED),
    )


def cluster_keys(trials: Trials) -> list[str]:
    """The key that a cluster is beside those of a question."""
    return [] if trials.cluster is None else [CLUSTER]
