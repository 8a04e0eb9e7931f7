"""Coverage of a log: its trials, and the totals of its tool."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import overload

import polars as pl
from polars.exceptions import ColumnNotFoundError

from polars_scorio.arguments import Per, check_choice, row_place
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.log import (
    CATEGORY,
    CLUSTER,
    COUNT,
    EVERYTHING,
    Trials,
    bind_roles,
    refuse_repeats,
)
from polars_scorio.counting.refusals import repeated_trials, unnamed_ids
from polars_scorio.counting.roles import Roles

TOTALS_COLUMNS = ("planned", "reported", "recomputed")  # the last: by the tool's rule from its rows
# Columns of some tools: scores by draw size, beside ours; trials that have an error and a score.
AT_K, SCORED_ERRORS = "reported_at_k", "scored_errors"


class LogWarning(UserWarning):
    """A log differs from what was planned or reported, or was repaired as it was read.

    The message names what differs, and what was done or can be done about it.
    """


def warn_of_log(message: str) -> None:
    """Warn of a log."""
    warnings.warn(message, LogWarning, stacklevel=2)


def has_totals(totals: pl.DataFrame | None, trials: Trials) -> bool:
    """Whether the tool's totals are known for the strata and models of a report."""
    columns = {*trials.keys, *TOTALS_COLUMNS}
    return totals is not None and columns <= {*totals.columns}


def with_totals(summary: pl.LazyFrame, totals: pl.DataFrame, trials: Trials) -> pl.LazyFrame:
    """A summary of models with the columns of `TOTALS_COLUMNS`.

    Over several runs of a model: the sum of planned trials, and the means of the scores weighted
    by them; null if a run lacks its number. `AT_K` is that of a single run.
    """
    further = [name for name in (AT_K, SCORED_ERRORS) if name in totals.columns]
    planned, scores = pl.col("planned"), pl.col("reported", "recomputed")
    skipped = [pl.col("skipped").is_null()] if "skipped" in totals.columns else []
    known = (
        totals.lazy()
        .filter(*skipped)
        .select(pl.lit(0).alias(EVERYTHING), *trials.keys, *TOTALS_COLUMNS, *further)
    )
    added = known.group_by(trials.groups).agg(
        pl.when(planned.is_not_null().all()).then(planned.sum()),
        pl.when(pl.len() == 1)
        .then(scores.first())
        .when(planned.is_not_null().all(), scores.is_not_null().all())
        .then((scores * planned).sum() / planned.sum()),
        *(
            pl.when(pl.len() == 1).then(pl.col(name).first())
            if name == AT_K
            else pl.col(name).sum()
            for name in further
        ),
    )
    dtypes = summary.collect_schema()
    keys = [pl.col(name).cast(dtypes[name]) for name in trials.groups]
    return summary.join(
        added.with_columns(keys),
        on=trials.groups,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )


_BAD = ":bad"


@overload
def from_successes(frame: pl.DataFrame, n: str = ..., successes: str = ...) -> pl.DataFrame: ...
@overload
def from_successes(frame: pl.LazyFrame, n: str = ..., successes: str = ...) -> pl.LazyFrame: ...
def from_successes(
    frame: pl.DataFrame | pl.LazyFrame, n: str = "n", successes: str = "c"
) -> pl.DataFrame | pl.LazyFrame:
    """Counts of failures and successes, from the totals of each question.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        One row per question (and model, and stratum): its number of trials, and of successes.
    n, successes : str
        The columns of these numbers.

    Returns
    -------
    DataFrame or LazyFrame
        Two rows for each row, with `category` (0 and 1) and `count` in place of `n` and
        `successes`. Read it with ``.scorio(count="count")``.

    Raises
    ------
    ColumnNotFoundError, TypeError, ValueError
        At the call: if a column is missing or holds no numbers, or `category` or `count` exists
        already. When the rows are read: totals that are null, negative or fractional, or more
        successes than trials.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> totals = pl.DataFrame({"model": "m", "question": [1, 2], "n": [4, 4], "c": [1, 3]})
    >>> counts = ps.from_successes(totals)
    >>> counts.rows()
    [('m', 1, 0, 3), ('m', 1, 1, 1), ('m', 2, 0, 1), ('m', 2, 1, 3)]
    >>> counts.scorio(count="count").avg()["estimate"].item()
    0.5
    """
    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"frame must be a Polars DataFrame or LazyFrame, got {frame!r}")
    plan = _outcome_counts(frame.lazy(), n, successes)
    return plan if isinstance(frame, pl.LazyFrame) else plan.collect(engine="streaming")


def _outcome_counts(frame: pl.LazyFrame, n: str, successes: str) -> pl.LazyFrame:
    schema = frame.collect_schema()
    for role, name in {"n": n, "successes": successes}.items():
        if name not in schema:
            raise ColumnNotFoundError(
                f"there is no column {name!r} for {role}; the columns are {schema.names()}. "
                f"Name it with {role}="
            )
        if not (schema[name].is_integer() or schema[name].is_float()):
            raise TypeError(f"{role} column {name!r} is {schema[name]}; totals are numbers")
    keys = [name for name in schema if name not in (n, successes)]
    taken = [name for name in keys if name in ("category", "count")]
    if taken:
        raise ValueError(f"the frame has a column {taken[0]!r} already: rename or drop it")
    total, good = pl.col(n), pl.col(successes)
    bad = pl.any_horizontal(
        total.is_null() | good.is_null(), (good < 0) | (good > total),
        *(pl.col(name) % 1 != 0 for name in (n, successes) if schema[name].is_float()),
    ).fill_null(value=True)  # fmt: skip

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        wrong = rows.filter(_BAD)
        if wrong.height:
            first = wrong.row(0, named=True)
            raise ValueError(
                f"{wrong.height:,} row{'s have' if wrong.height > 1 else ' has'} wrong totals, "
                f"the first{row_place(first, keys)}: {n}={first[n]!r}, "
                f"{successes}={first[successes]!r}. They are whole numbers with "
                f"0 <= {successes} <= {n}."
            )
        return rows

    whole = WholePlan(frame.with_columns(bad.alias(_BAD))).then(check).plan()
    codes = pl.concat_list(pl.lit(0, pl.Int8), pl.lit(1, pl.Int8)).alias("category")
    counts = pl.concat_list((total - good).cast(pl.Int64), good.cast(pl.Int64)).alias("count")
    return whole.select(*keys, codes, counts).explode("category", "count", **AS_ROWS)


_ASKED, _MOST, _CLUSTERS = ":asked", ":most", ":clusters"
_NUMBERS = ("missing", "unscored", "trials", "n_min", "n_max", "nulls", "duplicates")


def coverage(
    frame: pl.LazyFrame,
    roles: Roles,
    *,
    per: Per = "model",
    totals: pl.DataFrame | None = None,
) -> pl.LazyFrame:
    """The plan of a look at a log; see `Scorio.describe`."""
    check_choice("per", per, Per)
    trials = bind_roles(frame, replace(roles, missing="drop", levels=None))
    question = trials.question.name
    if per == "model":  # rows without the question, which may be named like a column of them
        trials = replace(trials, question=replace(trials.question, name=":question"))
    questions = _question_summaries(trials)
    clusters = [] if trials.cluster is None else ["clusters"]
    if per == "question":
        columns = ("trials", "expected", "nulls", "duplicates", *clusters)
        refuse_repeats([*trials.keys, question, *columns])
        return _question_gaps(questions, trials)
    numbers = [name for name in _NUMBERS if name != "unscored" or roles.unscored == "drop"]
    shared = ["questions", *clusters]
    summary = _of_models(questions, trials, clusters)
    of_tool: tuple[str, ...] = ()
    if totals is not None and has_totals(totals, trials):
        summary, of_tool = with_totals(summary, totals, trials), TOTALS_COLUMNS
        of_tool += tuple(name for name in (AT_K, SCORED_ERRORS) if name in totals.columns)
    refuse_repeats([*trials.keys, "categories", *shared, *numbers, *of_tool])
    return summary.select(
        *trials.keys,
        "categories",
        pl.col(shared).cast(pl.UInt32),
        pl.col(numbers).cast(pl.Int64),
        *of_tool,
    )


def offer_ids(frame: pl.LazyFrame, roles: Roles) -> None:
    """Warn of a column that has the ids of trials, or strata, if no column is named for ids."""
    if said := unnamed_ids(bind_roles(frame, replace(roles, missing="drop", levels=None))):
        warn_of_log(said)


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
        )
        .with_columns((pl.col(_ASKED) - pl.col("questions")).alias("missing"))
        .join(_counted_categories(trials), on=[*trials.groups], how="left", nulls_equal=True)
        .sort(*trials.groups)
    )


def _counted_categories(trials: Trials) -> pl.LazyFrame:
    """The categories of each group with their trials, the most frequent first."""
    each = pl.struct(pl.col(CATEGORY).alias("category"), "trials")
    return (
        trials.rows()
        .group_by(*trials.groups, CATEGORY)
        .agg(_number_of_trials(trials).alias("trials"))
        .sort("trials", CATEGORY, descending=[True, False])
        .group_by(*trials.groups, maintain_order=True)
        .agg(each.filter(pl.col(CATEGORY).is_not_null()).alias("categories"))
    )


def _number_of_trials(trials: Trials) -> pl.Expr:
    """How many trials the rows stand for."""
    number = pl.len() if trials.count is None else pl.col(COUNT).sum()
    return number.cast(pl.Int64, strict=False)


def _question_summaries(trials: Trials) -> pl.LazyFrame:
    """One row per question: trials, missing outcomes, repeated ids, clusters."""
    null = pl.col(CATEGORY).is_null()
    nulls = null if trials.count is None else pl.when(null).then(pl.col(COUNT))
    again: pl.Expr = pl.lit(None, pl.Int64)
    if trials.identified:
        again = repeated_trials()
    return (
        trials.rows()
        .group_by(*trials.groups, trials.question.name)
        .agg(
            _number_of_trials(trials).alias("trials"),
            nulls.sum().cast(pl.Int64, strict=False).alias("nulls"),
            again.alias("duplicates"),
            *([pl.col(CLUSTER).unique().alias(_CLUSTERS)] if trials.cluster else []),
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
        clusters = pl.col(_CLUSTERS).list
        several = pl.when(clusters.drop_nulls().list.len() > 0).then(clusters.len()).otherwise(0)
        questions = questions.with_columns(several.cast(pl.Int64).alias("clusters"))
        columns, filled = [*columns, "clusters"], [*filled, "clusters"]
        gap |= pl.col("clusters") != 1
    known = questions.select(*trials.groups, question, *(name for name in columns if name != _MOST))

    def completed(rows: pl.DataFrame) -> pl.DataFrame:
        groups = rows.select(trials.groups).unique()
        asked = rows.select(*strata, question).unique()
        on = {"on": strata, "nulls_equal": True} if strata else {"how": "cross"}
        every = groups.join(asked, **on)
        keys = [*trials.groups, question]
        whole = every.join(rows, on=keys, how="left", nulls_equal=True)
        return whole.with_columns(pl.col(filled).fill_null(0)).select(rows.columns)

    # A filter on models must not go below: it would hide what the others have.
    whole = WholePlan(known).then(completed, filters=False).plan()
    expected = most if n is None else pl.lit(n, pl.Int64)
    return (
        whole.with_columns(expected.alias(_MOST))
        .filter(gap)
        .sort(*trials.groups, question)
        .select(*trials.keys, question, *columns)
        .rename({_MOST: "expected"})
    )
