"""Whether the models of a stratum have the same questions: what a comparison of them rests on."""

from __future__ import annotations

from typing import Literal

import polars as pl

from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.refusals import is_unscored
from polars_scorio.counting.trials import Trials

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
    """Raise if models lack questions that others of their stratum have.

    Parameters
    ----------
    groups : DataFrame
        One row per group: the keys, and in `PARTIAL` the list of its questions that some other
        model lacks.
    trials : Trials
        The log, for the names of its keys.

    Raises
    ------
    ValueError
        With the first model that lacks some, how many and which.
    """
    if not groups[PARTIAL].list.len().sum():
        return
    lacking = missing_questions(groups, trials)
    first = lacking.sort(*trials.keys).row(0, named=True)
    names = ", ".join(map(repr, first[PARTIAL][:_NAMED])) + ", ..." * (len(first[PARTIAL]) > _NAMED)
    place = ", ".join(f"{key}={first[key]!r}" for key in trials.keys)
    raise ValueError(
        f"{lacking.height:,} model{'s lack' if lacking.height > 1 else ' lacks'} questions that "
        f"others have, the first at {place}: {len(first[PARTIAL]):,} missing ({names}). Means over "
        'different questions cannot be compared: pass questions="common" to keep those that all '
        'models have, or filter the log. coverage(per="question") lists them.'
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
    """Raise if there are groups that keep no question because each is lacked by another model.

    Raises
    ------
    ValueError
        With the first stratum of such groups.
    """
    if empty.is_empty():
        return
    first = empty.sort(*trials.keys).row(0, named=True)
    place = ", ".join(f"{part.name}={first[part.name]!r}" for part in trials.by)
    raise ValueError(
        f"the models{' of ' * bool(place)}{place} have no question in common. Filter out those "
        "that were asked others."
    )
