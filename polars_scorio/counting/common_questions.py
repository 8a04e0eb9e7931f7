"""Questions and clusters that models have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from polars_scorio.arguments import row_place
from polars_scorio.counting.checks import ANOTHER, AS_ROWS, UNCLUSTERED, Number, over_parts
from polars_scorio.counting.log import CLUSTER, Trials
from polars_scorio.counting.refusals import is_unscored
from polars_scorio.maths.array_rows import Ints

# Whether models of a stratum may have different questions, must have the same, or only the common
# ones count.
Alignment = Literal["any", "same", "common"]

# The name of a question that some model of its stratum lacks.
PARTIAL = ":partial"

_NAMED = 5  # so many missing questions are named


def with_partial(questions: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """Add `PARTIAL` to a frame of questions: null where all models of the stratum have it."""
    assert trials.model is not None  # without models nothing is compared
    strata, question = [*trials.strata], trials.question.name
    models = pl.col(trials.model.name).n_unique()
    # A question without any outcome is left out, where it is no error: the others lack it too.
    scored = ~is_unscored()
    everywhere = scored.sum().over(*strata, question) == (models.over(strata) if strata else models)
    partial = pl.when(scored & ~everywhere).then(pl.col(question))
    return questions.with_columns(partial.alias(PARTIAL))


def refuse_partial(groups: pl.DataFrame, trials: Trials) -> None:
    """Raise if models lack questions (`PARTIAL`, a list) that others of their stratum have."""
    if not groups[PARTIAL].list.len().sum():
        return
    lacking = missing_questions(groups, trials)
    first = lacking.sort(*trials.keys).row(0, named=True)
    names = ", ".join(map(repr, first[PARTIAL][:_NAMED])) + ", ..." * (len(first[PARTIAL]) > _NAMED)
    raise ValueError(
        f"{lacking.height:,} model{'s lack' if lacking.height > 1 else ' lacks'} questions that "
        f"others have, the first{row_place(first, trials.keys)}: {len(first[PARTIAL]):,} missing "
        f'({names}). Means over different questions cannot be compared: pass unmatched="drop" to '
        'keep those that all models have, or filter the log. describe(per="question") lists them. '
        'Samples of one population are compared with target="population" and '
        'unmatched="unpaired", by compare, rank and gate.'
    )


def missing_questions(groups: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """The groups that lack questions, and in `PARTIAL` which, ascending."""
    strata = [*trials.strata]
    having = groups.select(*trials.keys, PARTIAL).explode(PARTIAL, **AS_ROWS).drop_nulls(PARTIAL)
    asked = having.select(*strata, PARTIAL).unique()
    keys = groups.select(trials.keys)
    expected = keys.join(asked, on=strata) if strata else keys.join(asked, how="cross")
    lacking = expected.join(having, on=[*trials.keys, PARTIAL], how="anti")
    return lacking.group_by(*trials.keys).agg(pl.col(PARTIAL).sort())


def refuse_nothing_in_common(empty: pl.DataFrame, trials: Trials) -> None:
    """Raise if groups keep no question because another model lacks each."""
    if empty.is_empty():
        return
    first = empty.sort(*trials.keys).row(0, named=True)
    place = ", ".join(f"{part.name}={first[part.name]!r}" for part in trials.by)
    raise ValueError(
        f"the models{' of ' * bool(place)}{place} have no question in common. Filter out those "
        "that were asked others."
    )


def in_one_cluster(
    questions: pl.LazyFrame, trials: Trials, numbers: Sequence[Number]
) -> pl.LazyFrame:
    """One row per question, of one per question and cluster.

    Adds `CLUSTER`, and for the rules `ANOTHER` and `UNCLUSTERED`.
    """
    if trials.cluster is None:
        return questions
    cluster, dtype = pl.col(CLUSTER), trials.cluster.dtype
    # Polars 1.35 has no least of categorical words.
    named = questions.with_columns(cluster.cast(pl.String if dtype == pl.Categorical else dtype))
    return named.group_by(*trials.groups, trials.question.name).agg(
        *over_parts(numbers),
        cluster.min(),
        pl.when(cluster.n_unique() > 1).then(cluster.max()).alias(ANOTHER),
        cluster.is_null().any().alias(UNCLUSTERED),
    )


def cluster_keys(trials: Trials) -> list[str]:
    """The key that a cluster is beside those of a question."""
    return [] if trials.cluster is None else [CLUSTER]


def refuse_divided(rows: pl.DataFrame, trials: Trials) -> None:
    """Raise if a question of a stratum is in different clusters under different models."""
    question = [*trials.strata, trials.question.name]
    least, most = pl.col(CLUSTER).min(), pl.col(CLUSTER).max()
    both = rows.group_by(question).agg(least.alias(CLUSTER), most.alias(ANOTHER))
    divided = both.filter(pl.col(CLUSTER) != pl.col(ANOTHER)).sort(question)
    if divided.height and trials.cluster is not None:
        first = divided.row(0, named=True)
        raise ValueError(
            f"{divided.height:,} question{'s are' if divided.height > 1 else ' is'} in different "
            f"clusters under different models in {trials.cluster.name!r}, the first"
            f"{row_place(first, question)}: {first[CLUSTER]!r} and {first[ANOTHER]!r}. The same "
            "question belongs to the same cluster, whoever was asked."
        )


def cluster_ranks(flat: pl.DataFrame) -> Ints:
    """The cluster of each row as a number, from 1 on."""
    return flat[CLUSTER].rank("dense").to_numpy().astype(np.int64)
