"""Questions that belong together: each of them is in one cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polars_scorio.counting.checks import ANOTHER, UNCLUSTERED
from polars_scorio.counting.tally_numbers import Number, over_parts
from polars_scorio.counting.trials import CLUSTER, Part, Trials
from polars_scorio.kernels.array_types import Ints


def in_one_cluster(
    questions: pl.LazyFrame, trials: Trials, numbers: Sequence[Number]
) -> pl.LazyFrame:
    """One row per question, of a frame with one for each question and cluster.

    Parameters
    ----------
    questions : LazyFrame
        What an aggregation found.
    trials : Trials
        The log.
    numbers : sequence of Number
        The columns of `questions` beside its keys.

    Returns
    -------
    LazyFrame
        With `CLUSTER`, and for the rules `ANOTHER` and `UNCLUSTERED`.
    """
    if trials.cluster is None:
        return questions
    cluster = pl.col(CLUSTER)
    named = questions.with_columns(cluster.cast(cluster_dtype(trials.cluster)))
    return named.group_by(*trials.groups, trials.question.name).agg(
        *over_parts(numbers),
        cluster.min(),
        pl.when(cluster.n_unique() > 1).then(cluster.max()).alias(ANOTHER),
        cluster.is_null().any().alias(UNCLUSTERED),
    )


def cluster_dtype(cluster: Part) -> pl.DataType:
    """The dtype of clusters inside a plan: Polars 1.35 has no least of categorical words."""
    return pl.String() if cluster.dtype == pl.Categorical else cluster.dtype


def cluster_keys(trials: Trials) -> list[str]:
    """The key that a cluster is beside those of a question."""
    return [] if trials.cluster is None else [CLUSTER]


def refuse_divided(rows: pl.DataFrame, trials: Trials) -> None:
    """Raise if a question of a stratum is in different clusters under different models.

    Parameters
    ----------
    rows : DataFrame
        A row for each question of each model: the keys, the question, and `CLUSTER`.
    trials : Trials
        The log, which has clusters.

    Raises
    ------
    ValueError
        With the first such question, and how many there are.
    """
    question = [*trials.strata, trials.question.name]
    least, most = pl.col(CLUSTER).min(), pl.col(CLUSTER).max()
    both = rows.group_by(question).agg(least.alias(CLUSTER), most.alias(ANOTHER))
    divided = both.filter(pl.col(CLUSTER) != pl.col(ANOTHER)).sort(question)
    if divided.height and trials.cluster is not None:
        first = divided.row(0, named=True)
        place = ", ".join(f"{name}={first[name]!r}" for name in question)
        raise ValueError(
            f"{divided.height:,} question{'s are' if divided.height > 1 else ' is'} in different "
            f"clusters under different models in {trials.cluster.name!r}, the first at {place}: "
            f"{first[CLUSTER]!r} and {first[ANOTHER]!r}. The same question belongs to the same "
            "cluster, whoever was asked."
        )


def cluster_ranks(flat: pl.DataFrame) -> Ints:
    """The cluster of each row as a number, from 1 on."""
    return flat[CLUSTER].rank("dense").to_numpy().astype(np.int64)
