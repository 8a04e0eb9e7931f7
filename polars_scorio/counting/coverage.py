"""A look at a log before it is trusted: what is there, what is missing, what is there twice."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from polars_scorio.arguments import Per, check_choice
from polars_scorio.counting.checks import once_whole
from polars_scorio.counting.duplicates.second_look import repeated_trials
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.stopping import (
    STOPPING_COLUMNS,
    stopping_columns,
    stopping_states,
    with_stopping,
)
from polars_scorio.counting.tool_totals import TOTALS_COLUMNS, has_totals, with_totals
from polars_scorio.counting.trials import (
    CATEGORY,
    CLUSTER,
    COUNT,
    Trials,
    bind_roles,
    refuse_repeats,
)

_ASKED, _MOST, _SEEN, _CLUSTERS = ":asked", ":most", ":seen", ":clusters"
_NUMBERS = ("missing", "unscored", "trials", "n_min", "n_max", "nulls", "duplicates")


def coverage(
    frame: pl.LazyFrame,
    roles: Roles,
    *,
    per: Per = "model",
    totals: pl.DataFrame | None = None,
) -> pl.LazyFrame:
    """The plan of a look at a log; see `Scorio.coverage`."""
    check_choice("per", per, Per)
    trials = bind_roles(frame, replace(roles, missing="drop", levels=None))
    question = trials.question.name
    ends = stopping_columns(trials, graded=roles.levels is not None) if per == "model" else ()
    questions = _question_summaries(trials, *ends)
    clusters = [] if trials.cluster is None else ["clusters"]
    if per == "question":
        own = ("trials", "expected", "nulls", "duplicates", *clusters)
        refuse_repeats([*trials.keys, question, *own])
        return _question_gaps(questions, trials)
    numbers = [name for name in _NUMBERS if name != "unscored" or roles.unscored == "drop"]
    shared = ["questions", *clusters]
    summary = with_stopping(_of_models(questions, trials, clusters))
    of_tool: tuple[str, ...] = ()
    if totals is not None and has_totals(totals, trials):
        summary, of_tool = with_totals(summary, totals, trials), TOTALS_COLUMNS
    refuse_repeats([*trials.keys, *shared, *numbers, *of_tool, *STOPPING_COLUMNS, "categories"])
    return summary.select(
        *trials.keys,
        pl.col(shared).cast(pl.UInt32),
        pl.col(numbers).cast(pl.Int64),
        *of_tool,
        *STOPPING_COLUMNS,
        "categories",
    )


def _of_models(questions: pl.LazyFrame, trials: Trials, clusters: list[str]) -> pl.LazyFrame:
    """One row per model: what its questions add up to, beside those of the stratum."""
    strata, question = [*trials.strata], trials.question.name
    asked = pl.col(question).n_unique()
    groups = questions.with_columns((asked.over(strata) if strata else asked).alias(_ASKED))
    return (
        groups.group_by(*trials.groups)
        .agg(
            pl.col(question).n_unique().cast(pl.UInt32).alias("questions"),
            *(
                pl.col(_CLUSTERS).explode(**AS_ROWS).drop_nulls().n_unique().alias(name)
                for name in clusters
            ),
            pl.col(_ASKED).first(),
            (pl.col("trials") <= pl.col("nulls")).sum().alias("unscored"),
            (pl.col("trials") - pl.col("nulls")).sum().alias("trials"),
            pl.col("trials").min().alias("n_min"),
            pl.col("trials").max().alias("n_max"),
            pl.col("nulls").sum(),
            pl.col("duplicates").sum() if trials.identified else pl.col("duplicates").first(),
            stopping_states(),
            pl.col(_SEEN).explode(**AS_ROWS).unique().drop_nulls().sort().alias("categories"),
        )
        .with_columns((pl.col(_ASKED) - pl.col("questions")).alias("missing"))
        .sort(*trials.groups)
    )


def _question_summaries(trials: Trials, *more: pl.Expr) -> pl.LazyFrame:
    """One row per question: trials, missing outcomes, repeated ids, clusters, and `more`."""
    one = pl.len() if trials.count is None else pl.col(COUNT).sum()
    null = pl.col(CATEGORY).is_null()
    nulls = null if trials.count is None else pl.when(null).then(pl.col(COUNT))
    again: pl.Expr = pl.lit(None, pl.Int64)
    if trials.identified:
        again = repeated_trials()
    return (
        trials.rows()
        .group_by(*trials.groups, trials.question.name)
        .agg(
            one.cast(pl.Int64, strict=False).alias("trials"),
            nulls.sum().cast(pl.Int64, strict=False).alias("nulls"),
            again.alias("duplicates"),
            pl.col(CATEGORY).unique().alias(_SEEN),
            *([pl.col(CLUSTER).unique().alias(_CLUSTERS)] if trials.cluster else []),
            *more,
        )
    )


def _question_gaps(questions: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """The questions of which something is missing or there twice, absent ones too."""
    strata, question = [*trials.strata], trials.question.name
    most = pl.col("trials").max().over(*trials.groups)
    n = trials.roles.n
    columns = ["trials", _MOST, "nulls", "duplicates"]
    gap = (pl.col("trials") != pl.col(_MOST)) | (pl.col("nulls") > 0) | (pl.col("duplicates") > 0)
    filled = ["trials", "nulls", *(["duplicates"] if trials.identified else [])]
    if trials.cluster is not None:
        own = pl.col(_CLUSTERS).list
        several = pl.when(own.drop_nulls().list.len() > 0).then(own.len()).otherwise(0)
        questions = questions.with_columns(several.cast(pl.Int64).alias("clusters"))
        columns, filled = [*columns, "clusters"], [*filled, "clusters"]
        gap |= pl.col("clusters") != 1
    known = questions.select(*trials.groups, question, *(name for name in columns if name != _MOST))

    def completed(found: pl.DataFrame) -> pl.DataFrame:
        groups = found.select(trials.groups).unique()
        asked = found.select(*strata, question).unique()
        on = {"on": strata, "nulls_equal": True} if strata else {"how": "cross"}
        every = groups.join(asked, **on)
        keys = [*trials.groups, question]
        whole = every.join(found, on=keys, how="left", nulls_equal=True)
        return whole.with_columns(pl.col(filled).fill_null(0)).select(found.columns)

    # A filter on models must not go below: it would hide what the others have.
    whole = once_whole(known, completed, filters=False)
    expected = most if n is None else pl.lit(n, pl.Int64)
    return (
        whole.with_columns(expected.alias(_MOST))
        .filter(gap)
        .sort(*trials.groups, question)
        .select(*trials.keys, question, *columns)
        .rename({_MOST: "expected"})
    )
