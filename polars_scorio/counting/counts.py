"""Trials to counts to states: the one pass over the log."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.checks import (
    BAD,
    FOUND,
    IDS,
    MISSING,
    NO_ID,
    OUTSIDE,
    PLACE,
    PROBLEM,
    QUESTIONS,
    ROWS,
    checked,
    marked,
    raise_first,
    refuse_bad,
    refuse_beyond,
    refuse_unscored,
    rules,
)
from polars_scorio.counting.common_questions import (
    PARTIAL,
    Alignment,
    refuse_nothing_in_common,
    refuse_partial,
    with_partial,
)
from polars_scorio.counting.duplicates import (
    BITS,
    BLOCK,
    block_identities,
    blocks,
    identities,
    in_blocks,
)
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.roles import (
    CATEGORY,
    COUNT,
    EVERYTHING,
    TRIAL,
    Category,
    Classes,
    Trials,
    refuse_repeats,
)
from polars_scorio.counting.seen import UNWATCHED, Watch, watch
from polars_scorio.counting.values import literal

DROPPED, STATES, REWARDS, SEQUENCE = ":dropped", ":states", ":rewards", ":sequence"
_MATCHED, _EARLIER, _PROBLEMS = ":matched", ":earlier", ":problems"
_SCORED, _KEPT, _ALL = ":scored", ":kept", ":all"


def class_columns(classes: Classes, prefix: str = ":c") -> list[str]:
    """Names of the count columns; those of prior trials have the prefix ":d"."""
    return [f"{prefix}{j}" for j in range(classes.size)]


def states(
    trials: Trials,
    classes: Classes,
    prior: Trials | None = None,
    *,
    per_question: bool = False,
    questions: Alignment = "any",
    sequences: bool = False,
) -> pl.LazyFrame:
    """The states of every group, in one plan over one scan of the trials.

    Parameters
    ----------
    trials : Trials
        The log.
    classes : Classes
        Into which classes its trials are counted.
    prior : Trials, optional
        Prior trials of the same questions.
    per_question : bool
        Whether each question stays a state of its own and keeps its name.
    questions : "any", "same" or "common"
        Whether the models of a stratum may have different questions, must have the same ones, or
        lose those that another one lacks.
    sequences : bool
        Whether the classes of the trials themselves are needed, in the order of their ids; then
        memory grows with the trials.

    Returns
    -------
    LazyFrame
        One row per group, ascending. `STATES` is a list of structs: the question (if
        `per_question`), its counts, its prior counts, how many `QUESTIONS` share them, how many
        missing outcomes were `DROPPED` there, and its `REWARDS` (if `classes` asks for them) or its
        `SEQUENCE` of classes.
    """
    broken, watched = rules(trials, classes), watch(trials, classes, class_columns(classes)[-1])
    counted = _counted(trials, classes, watched, sequences=sequences)
    asked = marked(counted, trials.question.name, broken)
    columns, matched = class_columns(classes), []
    earlier = None if prior is None else _earlier(trials, classes, prior)
    if prior is not None and earlier is not None:
        asked = _joined(asked, earlier, _shared_keys(trials, prior), classes)
        columns, matched = columns + class_columns(classes, ":d"), [pl.col(_MATCHED).sum()]
    lists = [REWARDS] * classes.rewards + [SEQUENCE] * sequences
    names = [trials.question.name] if per_question or lists else []
    partial = [] if questions == "any" else [PARTIAL]
    if partial:
        asked = with_partial(asked, trials)
    # PLACE is null unless something is wrong, PARTIAL unless a model lacks the question: each such
    # question is a state of its own.
    merged = asked.group_by(*trials.groups, *names, *columns, PROBLEM, PLACE, FOUND, *partial).agg(
        pl.len().alias(QUESTIONS),
        pl.col(MISSING).sum().alias(DROPPED),
        pl.col(lists).first(),
        *watched.states(),
        *_trials_of_all(trials, prior, columns),
        *matched,
    )
    problems = pl.struct(PROBLEM, PLACE, FOUND, QUESTIONS).filter(pl.col(PROBLEM).is_not_null())
    state = pl.struct(*names, *columns, QUESTIONS, DROPPED, *lists)
    scored = pl.sum_horizontal(class_columns(classes)) > 0
    kept = scored
    if questions == "common":
        state, kept = state.filter(pl.col(PARTIAL).is_null()), scored & pl.col(PARTIAL).is_null()
    grouped = merged.group_by(*trials.groups).agg(
        state.alias(STATES),
        problems.alias(_PROBLEMS),
        scored.any().alias(_SCORED),
        kept.any().alias(_KEPT),
        *(pl.col(name).drop_nulls() for name in partial),
        *watched.groups(),
        pl.col(_ALL).sum(),
        *matched,
    )
    if prior is not None and earlier is not None:
        grouped = pl.concat([grouped, _earlier_groups(trials, prior, earlier)], how="diagonal")

    def check(whole: pl.DataFrame) -> pl.DataFrame:
        bad = whole.select(*trials.groups, _PROBLEMS).filter(pl.col(_PROBLEMS).list.len() > 0)
        raise_first(bad.explode(_PROBLEMS, **AS_ROWS).unnest(_PROBLEMS), trials, broken)
        seen = whole.filter(pl.col(STATES).is_not_null())
        refuse_beyond(seen, trials, _ALL)
        refuse_unscored(seen.filter(~pl.col(_SCORED)), trials)
        if prior is not None and seen.height and whole[_EARLIER].sum() and not seen[_MATCHED].sum():
            raise ValueError(
                "prior: its trials share no question with the data. Questions are matched on "
                f"{_shared_keys(trials, prior)}: compare these columns of the two frames."
            )
        if questions == "same":
            refuse_partial(seen, trials)
        elif questions == "common":
            refuse_nothing_in_common(seen.filter(~pl.col(_KEPT)), trials)
        watched.warn_of_absent(seen, trials)
        return seen

    return checked(grouped.sort(*trials.groups), check).select(*trials.groups, STATES)


def counts(trials: Trials) -> pl.LazyFrame:
    """How many trials of each question fell into each category; see `Scorio.counts`."""
    refuse_count_names(trials)
    return settled(tallies(trials), trials)


def refuse_count_names(trials: Trials) -> None:
    """Refuse roles of which the counts would have two columns of one name.

    Raises
    ------
    ValueError
        If a name occurs twice.
    """
    refuse_repeats([*trials.keys, trials.question.name, trials.category.name, _count_name(trials)])


def tallies(trials: Trials) -> pl.LazyFrame:
    """One row per question: its categories with their counts, and what the rules look at.

    `STATES` is a list of structs of `CATEGORY` and `COUNT`, in which a category occurs several
    times where trial ids are in several blocks; `ROWS`, `MISSING` and, where rows carry trial ids,
    `IDS` and `NO_ID` are numbers.
    """
    keys = [*trials.groups, trials.question.name]
    missing = pl.when(pl.col(CATEGORY).is_null()).then(pl.col(ROWS)).alias(MISSING)
    states = pl.struct(CATEGORY, pl.col(ROWS).alias(COUNT)).alias(STATES)
    totals = pl.col(ROWS, MISSING, *([BAD] if trials.count else [])).sum()
    if in_blocks(trials):
        bits = pl.col(BITS).bitwise_or()
        cells = trials.rows().with_columns(*blocks()).group_by(*keys, CATEGORY, BLOCK)
        parts = cells.agg(_rows(trials), bits).with_columns(missing)
        return (
            parts.group_by(*keys, BLOCK)
            .agg(states, totals, bits)
            .with_columns(*block_identities())
            .group_by(*keys)
            .agg(pl.col(STATES).explode(**AS_ROWS), totals, pl.col(IDS, NO_ID).sum())
        )
    ids = [pl.col(TRIAL)] if trials.identified else []
    parts = trials.rows().group_by(*keys, CATEGORY).agg(_rows(trials), *_bad(trials), *ids)
    distinct = identities(pl.col(TRIAL).explode(**AS_ROWS), trials)
    questions = parts.with_columns(missing).group_by(*keys).agg(states, totals, *distinct)
    return questions.with_columns(pl.col(ROWS, MISSING).cast(pl.Int64, strict=False))


def settled(questions: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """The counts frame of tallied questions, once the rules have looked at them."""
    question, broken = trials.question.name, rules(trials)
    keys = [*trials.groups, question]
    kept = marked(questions, question, broken).select(*keys, STATES, PROBLEM, PLACE, FOUND)
    cells = checked(kept, refuse_bad(trials, broken)).explode(STATES, **AS_ROWS).unnest(STATES)
    if in_blocks(trials):
        cells = cells.group_by(*keys, CATEGORY).agg(pl.col(COUNT).sum())
    return cells.sort(*keys, CATEGORY).select(
        *trials.keys,
        question,
        pl.col(CATEGORY).alias(trials.category.name),
        pl.col(COUNT).cast(pl.UInt64).alias(_count_name(trials)),
    )


def _count_name(trials: Trials) -> str:
    """The name of the counts in a frame of counts."""
    return trials.count.name if trials.count else "count"


def _counted(
    trials: Trials, classes: Classes, watched: Watch = UNWATCHED, *, sequences: bool = False
) -> pl.LazyFrame:
    """One row per question: its counts, and what the rules look at."""
    # The first class is what the others leave: one sum less over the rows.
    first, *others = class_columns(classes)
    members = _members(trials, classes)
    stray = _stray(trials, classes, members)
    counted = [
        _weighed(trials, member).alias(c) for c, member in zip(others, members[1:], strict=True)
    ]
    keys = [*trials.groups, trials.question.name]
    # Computed before the aggregation: the in-memory engine is twice as slow inside it.
    rows = watched.noted(trials.rows(ordered=sequences), trials.category.dtype).with_columns(
        _weighed(trials, pl.col(CATEGORY).is_null()).alias(MISSING),
        *counted,
        *([] if stray is None else [stray.alias(OUTSIDE)]),
        *([_class(members).alias(SEQUENCE)] if sequences else []),
        *watched.rows([_weighed(trials, _is(trials, label)) for label in watched.labels]),
    )
    totals = [
        pl.col(MISSING, *others).sum(),
        *([] if stray is None else [pl.col(OUTSIDE).min()]),
    ]
    # Rewards and sequences are lists anyhow: one more of ids costs less than lists of lists.
    if in_blocks(trials) and not classes.rewards and not sequences:
        questions = _merged(rows, keys, totals, watched)
    else:
        questions = rows.group_by(*keys).agg(
            _rows(trials),
            *totals,
            *watched.questions(),
            *([_rewards(trials)] if classes.rewards else []),
            *([pl.col(SEQUENCE).sort_by(TRIAL).drop_nulls()] if sequences else []),
            *_bad(trials),
            *identities(pl.col(TRIAL), trials),
        )
    return (
        # A cast inside the aggregation would cost the in-memory engine its partial sums.
        questions.with_columns(
            pl.col(ROWS, MISSING, *others).cast(pl.Int64, strict=False)
        ).with_columns((pl.col(ROWS) - pl.sum_horizontal(MISSING, *others)).alias(first))
    )


def _merged(
    rows: pl.LazyFrame, keys: list[str], totals: list[pl.Expr], watched: Watch
) -> pl.LazyFrame:
    """One row per question, by way of the blocks of its trial ids."""
    return (
        rows.with_columns(*blocks())
        .group_by(*keys, BLOCK)
        .agg(pl.len().alias(ROWS), *totals, *watched.questions(), pl.col(BITS).bitwise_or())
        .with_columns(*block_identities())
        .group_by(*keys)
        .agg(*totals, *watched.questions(), pl.col(ROWS, IDS, NO_ID).sum())
    )


def _stray(trials: Trials, classes: Classes, members: list[pl.Expr]) -> pl.Expr | None:
    """A category that is in none of the classes, null where there is one; None if all are."""
    category, dtype = pl.col(CATEGORY), trials.category.dtype
    if classes.known is not None:
        word = category.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else category
        return pl.when(~pl.any_horizontal(members)).then(word)
    if classes.rewards:
        return pl.when(category.is_infinite()).then(category)
    if dtype.is_float():
        # Who names a fraction as a success knows that the column holds fractions.
        if not all(float(value).is_integer() for value in classes.success or ()):
            return pl.lit(None, dtype)
        whole = category.is_finite() & (category == category.floor())
        return pl.when(~whole & ~members[1]).then(category)
    return None


def _members(trials: Trials, classes: Classes) -> list[pl.Expr]:
    """For each class, whether a category belongs to it."""
    if classes.known is not None:
        return [_is(trials, value) for value in classes.known]
    successes = [_is(trials, value) for value in classes.success or ()]
    success = pl.any_horizontal(pl.lit(False), *successes)  # noqa: FBT003
    return [~success, success]


def _is(trials: Trials, value: Category) -> pl.Expr:
    """Whether a trial has a category; null where its outcome is missing."""
    own = literal(value, trials.category.dtype)
    never = pl.when(pl.col(CATEGORY).is_not_null()).then(pl.lit(False))  # noqa: FBT003
    return never if own is None else pl.col(CATEGORY) == own


def _class(members: list[pl.Expr]) -> pl.Expr:
    """The class of a trial; null where its outcome is missing."""
    return pl.coalesce(
        pl.when(member).then(pl.lit(j, pl.Int64)) for j, member in enumerate(members)
    )


def _rows(trials: Trials) -> pl.Expr:
    """How many trials a question has."""
    return (pl.len() if trials.count is None else pl.col(COUNT).sum()).alias(ROWS)


def _weighed(trials: Trials, condition: pl.Expr) -> pl.Expr:
    """For how many trials that meet a condition a row stands."""
    return condition if trials.count is None else pl.when(condition).then(pl.col(COUNT))


def _rewards(trials: Trials) -> pl.Expr:
    """The categories of a question themselves, one for each trial that has one."""
    if trials.count is None:
        return pl.col(CATEGORY).drop_nulls().alias(REWARDS)
    times = pl.col(COUNT).clip(0).cast(pl.Int64, strict=False)
    repeated = pl.col(CATEGORY).repeat_by(times).explode(**AS_ROWS)
    return repeated.drop_nulls().alias(REWARDS)


def _trials_of_all(trials: Trials, prior: Trials | None, columns: list[str]) -> list[pl.Expr]:
    """How many trials the questions of a state have together, where rows stand for many."""
    counted = trials.count is not None or (prior is not None and prior.count is not None)
    of_each = pl.sum_horizontal(pl.col(MISSING, *columns).cast(pl.Int128))
    return [(of_each.sum() if counted else pl.lit(0)).alias(_ALL)]


def _bad(trials: Trials) -> list[pl.Expr]:
    """How many multiplicities of a question are null or negative."""
    count = pl.col(COUNT)
    return [(count.is_null() | (count < 0)).sum().alias(BAD)] if trials.count else []


def _shared_keys(trials: Trials, prior: Trials) -> list[str]:
    """The columns by which prior trials find their question."""
    return [*(key for key in trials.keys if key in prior.keys), trials.question.name]


def _earlier(trials: Trials, classes: Classes, prior: Trials) -> pl.LazyFrame:
    """The counts of the questions that have prior trials."""
    broken = rules(prior, classes)[:-1]  # a question may have no prior trial
    table = marked(_counted(prior, classes), prior.question.name, broken)
    names = zip(class_columns(classes), class_columns(classes, ":d"), strict=True)
    renamed = [pl.col(c).alias(d) for c, d in names]
    return checked(table, refuse_bad(prior, broken)).select(*_shared_keys(trials, prior), *renamed)


def _joined(
    questions: pl.LazyFrame, earlier: pl.LazyFrame, on: list[str], classes: Classes
) -> pl.LazyFrame:
    """Add the prior counts of every question, zero where it has none."""
    columns = class_columns(classes, ":d")
    return questions.join(earlier, on=on, how="left").with_columns(
        pl.col(columns[0]).is_not_null().alias(_MATCHED), *(pl.col(d).fill_null(0) for d in columns)
    )


def _earlier_groups(trials: Trials, prior: Trials, earlier: pl.LazyFrame) -> pl.LazyFrame:
    """How many questions with prior trials there are, beside the groups of the data.

    As rows of their own: a filter on the groups then leaves out those of other groups, which
    therefore are not missed in the data.
    """
    keys = [
        pl.col(part.name) if part.name in prior.keys else pl.lit(None, part.dtype).alias(part.name)
        for part in (*trials.by, trials.model)
        if part is not None
    ]
    one = pl.lit(1, pl.UInt32).alias(_EARLIER)
    rows = earlier.select(*(keys or [pl.lit(0, pl.UInt8).alias(EVERYTHING)]), one)
    return rows.group_by(*trials.groups).agg(pl.col(_EARLIER).sum())
