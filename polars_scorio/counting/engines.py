"""Counts from the frames of other engines: they count the trials, Polars does the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import IDS, NO_ID
from polars_scorio.counting.log import CATEGORY, COUNT, Study, Trials, bind_roles
from polars_scorio.counting.refusals import identity_rules
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.counting.tally import (
    binary_counts,
    category_tallies,
    counts_frame,
    counts_plan,
    refuse_count_names,
)


def count_trials(
    frame: object,
    *,
    model: str | None = "model",
    question: str = "question",
    trial: str | None = "trial",
    category: str = "category",
    by: str | Iterable[str] | None = (),
    threshold: float | None = None,
    missing: Category = "error",
    n: int | None = None,
    cluster: str | None = None,
    validate: bool = True,
) -> pl.DataFrame:
    """Trials of each question and category, counted by the engine of a frame that is not Polars.

    Only counts are collected. ``counts.scorio(count="count")`` gives the same reports as the log.

    Parameters
    ----------
    frame : frame of any engine that narwhals supports
        The log: a DataFrame of PySpark, Dask, pandas or Polars, a relation of DuckDB, a table of
        Ibis or pyarrow, ... A lazy one runs here, twice if duplicates are checked and trial ids
        are not integers from 0 to 52.
    model, question, trial, category, by
        Column names, as in `Scorio.__call__`; compute other columns in the engine first.
    threshold, missing, n, cluster, validate
        As in `Scorio.__call__`. ``validate=False`` skips the check for duplicates, which is most of
        the work if it needs a second run.

    Returns
    -------
    DataFrame
        As `Scorio.counts`: by..., model, question, cluster (if there is one), category and count.

    Raises
    ------
    ModuleNotFoundError
        If narwhals is not installed: it is the extra ``engines``.
    ColumnNotFoundError, TypeError, ValueError
        As `Scorio.counts`.

    Examples
    --------
    >>> import polars as pl
    >>> import pyarrow as pa
    >>> import polars_scorio as ps
    >>> log = pa.table({"model": ["m"] * 3, "question": [1, 1, 1], "category": [0, 1, 1]})
    >>> counts = ps.count_trials(log, trial=None)
    >>> counts.rows()
    [('m', 1, 0, 1), ('m', 1, 1, 2)]
    >>> counts.scorio(count="count").avg().select("trials", pl.col("estimate").round(4)).row(0)
    (3, 0.6667)
    """
    roles = Roles(
        model=model,
        question=question,
        trial=trial,
        category=category,
        by=by,
        threshold=threshold,
        missing=missing,
        n=n,
        cluster=cluster,
        validate=validate,
    )
    _refuse_expressions(roles)
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        trials = bind_roles(frame if isinstance(frame, pl.LazyFrame) else Study(frame), roles)
        binary = binary_counts(trials) if trials.study is None else None
        if binary is not None:
            return binary
        plan = counts_plan(trials)
    else:
        plan = _counted_elsewhere(frame, roles)
    return plan.collect(engine="streaming")


def _refuse_expressions(roles: Roles) -> None:
    """Refuse roles that only Polars could compute."""
    single = ("model", "question", "trial", "category", "cluster")
    named = [(role, getattr(roles, role)) for role in single]
    for role, column in [*named, *(("by", column) for column in roles.strata)]:
        if isinstance(column, pl.Expr):
            raise TypeError(
                f"{role} must be a column name, got the expression {column}: other engines do not "
                "compute Polars expressions. Add the column to the frame, and name it."
            )


def _counted_elsewhere(frame: object, roles: Roles) -> pl.LazyFrame:
    """The counts of a log of another engine, from the two frames that it gives."""
    try:
        from polars_scorio.counting import engine_frames  # noqa: PLC0415 - it needs the extra
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"count_trials needs narwhals, got frame={type(frame).__name__}: for other frames than "
            'those of Polars, pip install "polars-scorio[engines]"'
        ) from error
    single = [roles.model, roles.question, roles.trial, roles.category, roles.cluster]
    columns = [*single, *roles.strata]
    log = engine_frames.engine_log(frame, [name for name in columns if isinstance(name, str)])
    trials = bind_roles(pl.LazyFrame(schema=log.schema()), roles)
    refuse_count_names(trials)
    keys = [*trials.keys, trials.question.name]
    trial = trials.trial.name if trials.trial and trials.identified else None
    cluster = [] if trials.cluster is None else [trials.cluster.name]
    outcome = engine_frames.engine_outcome(log, trials.category.name, roles.threshold)
    counts = engine_frames.category_counts(log, [*keys, *cluster], outcome, trial)
    if roles.threshold is not None:
        counts = counts.with_columns(engine_frames.threshold_reached())
    questions, few = _engine_tallies(counts, trials)
    if trial is None or engine_frames.has_distinct_ids(counts, keys):
        return counts_frame(questions, trials, (), few)
    ids = _with_log_dtypes(engine_frames.distinct_ids(log, keys, trial), trials)
    questions = questions.join(ids, on=keys, how="left", nulls_equal=True)
    return counts_frame(questions, trials, identity_rules(trials), few)


def _engine_tallies(counts: pl.DataFrame, trials: Trials) -> tuple[pl.LazyFrame, Classes | None]:
    """The tallies of the questions, from the counts that an engine found, and few categories."""
    named = _with_log_dtypes(counts, trials).rename({CATEGORY: trials.category.name})
    count = pl.col(COUNT).alias("count")
    roles = replace(trials.roles, trial=None, count=count, threshold=None)
    return category_tallies(bind_roles(Study(named.collect()), roles))


def _with_log_dtypes(counted: pl.DataFrame, trials: Trials) -> pl.LazyFrame:
    """The counts of an engine, in the dtypes that the log has in Polars."""
    parts = [part for part in (*trials.by, trials.model, trials.question, trials.cluster) if part]
    dtypes = {part.name: part.dtype for part in parts} | {CATEGORY: trials.category.dtype}
    counts = dict.fromkeys((COUNT, IDS, NO_ID), pl.Int64())
    return counted.lazy().cast({c: d for c, d in (dtypes | counts).items() if c in counted.columns})
