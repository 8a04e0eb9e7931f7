"""Trials to give to people, who say what the judge could not know."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from polars_scorio.arguments import check_count, value_text
from polars_scorio.counting.categories import counted_classes
from polars_scorio.counting.log import CATEGORY, STAND_IN, TRIAL, TRUTH, Trials, bind_roles
from polars_scorio.counting.roles import Category, Column, Roles
from polars_scorio.counting.tally import trial_succeeded
from polars_scorio.signatures import takes_options

_ROW, _VERDICT, _ORDER, _TURN = ":row", ":verdict", ":order", ":turn"


@takes_options()
def sample_to_label(
    frame: pl.DataFrame | pl.LazyFrame,
    n: int,
    *,
    seed: int = 0,
    model: Column | None = "model",
    question: Column = "question",
    trial: Column | None = "trial",
    category: Column = "category",
    by: Column | Iterable[Column] | None = (),
    success: Category | Iterable[Category] | None = None,
    threshold: float | None = None,
    truth: Column | None = None,
) -> pl.DataFrame:
    """Trials of each model for human labels, chosen so that few labels say much about the judge.

    Half of the trials have the verdict "right" and half "wrong", as far as there are enough, and
    both are spread over the questions. Pass the labels as ``truth=``.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        The log: one row per trial.
    n : int
        Labels of each model (and stratum). At 100 the interval of an accuracy is about .2 wide.
    seed : int
        Seed of the random choice; the order of the rows does not matter.
    model, question, trial, category, by, success, threshold
        The roles, as for ``df.scorio(...)``.
    truth : str or Expr, optional
        Labels that exist already: these trials are left out, and count among the `n`.

    Returns
    -------
    DataFrame
        The rows of the frame that are to be labelled, sorted by stratum, model and question: fill a
        column with labels, and join it to the log.

    Raises
    ------
    TypeError
        If `frame` is no Polars frame.
    ColumnNotFoundError, ValueError
        As ``df.scorio(...).avg()``.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> log = pl.DataFrame({"model": "m", "question": range(50), "category": [1] * 40 + [0] * 10})
    >>> to_label = ps.sample_to_label(log, 12, trial=None)
    >>> to_label["category"].value_counts().sort("category").rows()
    [(0, 6), (1, 6)]
    """
    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"frame must be a Polars DataFrame or LazyFrame, got {value_text(frame)}")
    n, seed = check_count("n", n), check_count("seed", seed, least=0)
    roles = Roles(
        model=model,
        question=question,
        trial=trial,
        category=category,
        by=by,
        success=success,
        threshold=threshold,
        missing="drop",
        truth=truth,
    )
    indexed = frame.lazy().with_row_index(_ROW)
    chosen = _chosen_rows(indexed, bind_roles(frame.lazy(), roles), n, seed)
    picked = pl.col(_ROW).is_in(chosen.to_list())
    rows = indexed.filter(picked).collect()
    places = pl.DataFrame({_ROW: chosen}).with_row_index(_ORDER)
    return rows.join(places, on=_ROW).sort(_ORDER).drop(_ROW, _ORDER)


def _chosen_rows(indexed: pl.LazyFrame, trials: Trials, n: int, seed: int) -> pl.Series:
    """The numbers of the rows to label, in the order of their keys."""
    judged = trial_succeeded(trials, counted_classes(trials, [], binary=True))
    columns = [part.expr.alias(part.name) for part in (*trials.by, trials.model) if part]
    ids = [] if trials.trial is None else [trials.trial.expr.alias(TRIAL)]
    asked = trials.question.expr.alias(":question")
    labelled = pl.lit(None) if trials.truth is None else trials.truth.expr
    rows = indexed.select(
        _ROW, *(columns or [STAND_IN]), asked, *ids, trials.outcome, labelled.alias(TRUTH)
    )
    groups, order = list(trials.groups), [":question", _VERDICT, *([TRIAL] if ids else [])]
    known = rows.filter(pl.col(CATEGORY).is_not_null()).with_columns(judged.alias(_VERDICT))
    table = known.sort(*groups, *order, _ROW).collect()
    random = pl.lit(pl.Series(np.random.default_rng(seed).random(len(table))))
    # A random trial of each question comes first, then the second of each, in a random order.
    turn = pl.col(_ORDER).rank("ordinal").over(*groups, ":question", _VERDICT)
    drawn = pl.when(pl.col(TRUTH).is_not_null()).then(-1.0).otherwise(random)
    table = table.with_columns(drawn.alias(_ORDER)).with_columns(turn.alias(_TURN))
    place = pl.struct(_TURN, _ORDER).rank("ordinal").over(*groups, _VERDICT)
    every, number = (pl.len().cast(pl.Int64).over(*keys) for keys in (groups, [*groups, _VERDICT]))
    unlabelled = every - number
    half = pl.when(_VERDICT).then((n + 1) // 2).otherwise(n // 2)
    wanted = pl.max_horizontal(half, n - unlabelled)
    chosen = table.with_columns(place.alias(_TURN)).filter(pl.col(_TURN) <= wanted)
    return chosen.filter(pl.col(TRUTH).is_null())[_ROW]
