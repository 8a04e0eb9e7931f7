"""From trials to the counts of questions: the one pass over the log."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.answers import by_answer
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.category_values import held, literal
from polars_scorio.counting.checks import (
    BAD,
    BALLOTS,
    FOUND,
    IDS,
    MISSING,
    NO_ID,
    OUTSIDE,
    PLACE,
    PROBLEM,
    ROWS,
    TWOFOLD,
    checked,
    fault_columns,
    marked,
    refuse_bad,
)
from polars_scorio.counting.cluster_membership import cluster_keys, in_one_cluster
from polars_scorio.counting.duplicates.distinct_ids import (
    BITS,
    BLOCK,
    block_identities,
    blocks,
    compared,
    identities,
)
from polars_scorio.counting.duplicates.second_look import DIGEST, digest
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.refusals import integer_ids, rules
from polars_scorio.counting.roles import Category
from polars_scorio.counting.stopping import LATEST, in_order
from polars_scorio.counting.success_labels import UNWATCHED, Watch
from polars_scorio.counting.trials import (
    CATEGORY,
    CLUSTER,
    COUNT,
    MISREAD,
    TRIAL,
    Trials,
    refuse_repeats,
)

# The questions of a group, and what they hold beside their counts; the categories of a question.
QUESTIONS, DROPPED, REWARDS, SEQUENCE = ":questions", ":dropped", ":rewards", ":sequence"
STATES = ":states"


def class_columns(classes: Classes, prefix: str = ":c") -> list[str]:
    """Names of the count columns; those of prior trials have the prefix ":d"."""
    return [f"{prefix}{j}" for j in range(classes.size)]


def counts(trials: Trials) -> pl.LazyFrame:
    """How many trials of each question fell into each category; see `Scorio.counts`."""
    refuse_count_names(trials)
    return counts_frame(tallies(trials), trials)


def refuse_count_names(trials: Trials) -> None:
    """Refuse roles of which the counts would have two columns of one name.

    Raises
    ------
    ValueError
        If a name occurs twice.
    """
    refuse_repeats([*_cell_keys(trials), trials.category.name, _count_name(trials)])


def tallies(trials: Trials, *, latest: bool = False) -> pl.LazyFrame:
    """One row per question: its categories with their counts, and what the rules look at.

    `STATES` is a list of structs of `CATEGORY` and `COUNT`, in which a category occurs several
    times where trial ids are in several blocks; `ROWS`, `MISSING` and, where rows carry trial ids,
    `IDS` and `NO_ID` are numbers. With `latest`, where ids say which trial came last, the structs
    hold `LATEST` too, the largest trial id of the category.
    """
    keys = [*trials.groups, trials.question.name, *cluster_keys(trials)]
    missing = pl.when(pl.col(CATEGORY).is_null()).then(pl.col(ROWS)).alias(MISSING)
    last = [pl.col(TRIAL).max().alias(LATEST)] if latest and in_order(trials) else []
    kept = [LATEST] if last else []
    states = pl.struct(CATEGORY, pl.col(ROWS).alias(COUNT), *kept).alias(STATES)
    totals = pl.col(ROWS, MISSING, *fault_columns(trials)).sum()
    if integer_ids(trials):
        bits = pl.col(BITS).bitwise_or()
        cells = trials.rows().with_columns(*blocks()).group_by(*keys, CATEGORY, BLOCK)
        parts = cells.agg(_rows(trials), *_faults(trials), bits, *last).with_columns(missing)
        questions = (
            parts.group_by(*keys, BLOCK)
            .agg(states, totals, bits)
            .with_columns(*block_identities())
            .group_by(*keys)
            .agg(pl.col(STATES).explode(**AS_ROWS), totals, pl.col(IDS, NO_ID).sum())
        )
        return in_one_cluster(questions, trials, [STATES])
    ids = compared(trials)
    parts = (
        trials.rows().group_by(*keys, CATEGORY).agg(_rows(trials), *_faults(trials), *ids, *last)
    )
    distinct = identities(pl.col(TRIAL).explode(**AS_ROWS)) if ids else []
    questions = parts.with_columns(missing).group_by(*keys).agg(states, totals, *distinct)
    questions = questions.with_columns(pl.col(ROWS, MISSING).cast(pl.Int64, strict=False))
    return in_one_cluster(questions, trials, [STATES])


def counts_frame(questions: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """The counts frame of tallied questions, once the rules have looked at them."""
    question, broken = trials.question.name, rules(trials)
    keys = [*trials.groups, question, *cluster_keys(trials)]
    kept = marked(questions, question, broken).select(*keys, STATES, PROBLEM, PLACE, FOUND)
    cells = checked(kept, refuse_bad(trials, broken)).explode(STATES, **AS_ROWS).unnest(STATES)
    if integer_ids(trials):
        cells = cells.group_by(*keys, CATEGORY).agg(pl.col(COUNT).sum())
    return cells.sort(*keys, CATEGORY).select(
        *trials.keys,
        question,
        *_cluster_column(trials),
        pl.col(CATEGORY).alias(trials.category.name),
        pl.col(COUNT).cast(pl.UInt64).alias(_count_name(trials)),
    )


def _cell_keys(trials: Trials) -> list[str]:
    """What tells the questions of a frame of counts apart, under the names that they have there."""
    cluster = [] if trials.cluster is None else [trials.cluster.name]
    return [*trials.keys, trials.question.name, *cluster]


def _cluster_column(trials: Trials) -> list[pl.Expr]:
    """The cluster as the log has it."""
    part = trials.cluster
    return [] if part is None else [pl.col(CLUSTER).cast(part.dtype).alias(part.name)]


def _count_name(trials: Trials) -> str:
    """The name of the counts in a frame of counts."""
    return trials.count.name if trials.count else "count"


def list_columns(classes: Classes, *, sequences: bool) -> list[str]:
    """The columns of lists that questions have."""
    return [REWARDS] * classes.rewards + [SEQUENCE] * sequences + [BALLOTS] * classes.answers


def counted(
    trials: Trials, classes: Classes, watched: Watch = UNWATCHED, *, sequences: bool = False
) -> pl.LazyFrame:
    """One row per question: its counts, and what the rules look at."""
    # The first class is what the others leave: one sum less over the rows.
    first, *others = class_columns(classes)
    members = class_members(trials, classes)
    stray = stray_category(trials, classes, members)
    counted = [
        _weighed(trials, member).alias(c) for c, member in zip(others, members[1:], strict=True)
    ]
    # Computed before the aggregation: the in-memory engine is twice as slow inside it.
    answered = classes.answers and trials.answer is not None
    found = trials.rows(ordered=sequences, answers=answered)
    rows = watched.noted(found, trials.category.dtype).with_columns(
        *counted,
        *([] if stray is None else [stray.alias(OUTSIDE)]),
        *([class_of_trial(members).alias(SEQUENCE)] if sequences else []),
        *digest(trials),
        *watched.rows([_weighed(trials, _is(trials, label)) for label in watched.labels]),
    )
    totals = [
        pl.col(others).sum(),
        *([] if stray is None else [pl.col(OUTSIDE).min()]),
        *([pl.col(DIGEST).sum()] if integer_ids(trials) else []),
        *watched.questions(),
    ]
    right = _successful(classes, first, others) if answered else None
    questions = _questions(rows, trials, classes, totals, right, sequences=sequences)
    least = [OUTSIDE] * (stray is not None) + [TWOFOLD] * answered
    lists = list_columns(classes, sequences=sequences)
    questions = in_one_cluster(questions, trials, lists, least)
    return (
        # A cast inside the aggregation would cost the in-memory engine its partial sums.
        questions.with_columns(
            pl.col(ROWS, MISSING, *others).cast(pl.Int64, strict=False)
        ).with_columns((pl.col(ROWS) - pl.sum_horizontal(MISSING, *others)).alias(first))
    )


def _questions(
    rows: pl.LazyFrame,
    trials: Trials,
    classes: Classes,
    totals: list[pl.Expr],
    right: pl.Expr | None,
    *,
    sequences: bool,
) -> pl.LazyFrame:
    """The aggregation over the trials of each question; `right` where answers are counted."""
    keys = [*trials.groups, trials.question.name, *cluster_keys(trials)]
    rewards = [_rewards(trials)] if classes.rewards else []
    if right is not None:
        own = [_rows(trials), _missing(trials), *_faults(trials)]
        return by_answer(rows, keys, own, rewards, totals, right, trials)
    return rows.group_by(*keys).agg(
        _rows(trials),
        _missing(trials),
        *totals,
        *rewards,
        *([pl.col(SEQUENCE).sort_by(TRIAL).drop_nulls()] if sequences else []),
        *_faults(trials),
        *(found for ids in compared(trials) for found in identities(ids)),
    )


def _successful(classes: Classes, first: str, others: list[str]) -> pl.Expr:
    """How many trials succeeded, of which the first class is what the others leave."""
    columns = [first, *others]
    rest = pl.col(ROWS) - pl.sum_horizontal(MISSING, *others)
    return pl.sum_horizontal(
        rest if columns[j] == first else pl.col(columns[j]) for j in classes.successful
    )


def stray_category(trials: Trials, classes: Classes, members: list[pl.Expr]) -> pl.Expr | None:
    """A category that is in none of the classes, null where there is one; None if all are."""
    category, dtype = pl.col(CATEGORY), trials.category.dtype
    if classes.known is not None:
        word = category.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else category
        return pl.when(~_known(trials, classes.known, members)).then(word)
    if classes.rewards:
        return pl.when(category.is_infinite()).then(category)
    if dtype.is_float():
        # Who names a fraction as a success knows that the column holds fractions.
        if not all(float(value).is_integer() for value in classes.success or ()):
            return pl.lit(None, dtype)
        whole = category.is_finite() & (category == category.floor())
        return pl.when(~whole & ~members[1]).then(category)
    return None


def class_members(trials: Trials, classes: Classes) -> list[pl.Expr]:
    """For each class, whether a category belongs to it."""
    if classes.known is not None:
        return [_is(trials, value) for value in classes.known]
    successes = [_is(trials, value) for value in classes.success or ()]
    success = pl.any_horizontal(pl.lit(False), *successes)  # noqa: FBT003
    return [~success, success]


def _known(trials: Trials, known: tuple[Category, ...], members: list[pl.Expr]) -> pl.Expr:
    """Whether a category is one of those that are known; null where the outcome is missing."""
    dtype = trials.category.dtype
    if dtype.is_integer() and all(type(held(value, dtype)) is int for value in known):
        first, last = int(known[0]), int(known[-1])
        if last - first == len(known) - 1:  # two comparisons, however many they are
            return pl.col(CATEGORY).is_between(first, last)
    return pl.any_horizontal(members)


def _is(trials: Trials, value: Category) -> pl.Expr:
    """Whether a trial has a category; null where its outcome is missing."""
    own = literal(value, trials.category.dtype)
    never = pl.when(pl.col(CATEGORY).is_not_null()).then(pl.lit(False))  # noqa: FBT003
    return never if own is None else pl.col(CATEGORY) == own


def class_of_trial(members: list[pl.Expr]) -> pl.Expr:
    """The class of a trial; null where its outcome is missing."""
    return pl.coalesce(
        pl.when(member).then(pl.lit(j, pl.Int64)) for j, member in enumerate(members)
    )


def _rows(trials: Trials) -> pl.Expr:
    """How many trials a question has."""
    return (pl.len() if trials.count is None else pl.col(COUNT).sum()).alias(ROWS)


def _missing(trials: Trials) -> pl.Expr:
    """How many trials of a question have no outcome."""
    if trials.count is None:  # cheaper than the sum of a column of its own
        return pl.col(CATEGORY).null_count().alias(MISSING)
    return _weighed(trials, pl.col(CATEGORY).is_null()).sum().alias(MISSING)


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


def _faults(trials: Trials) -> list[pl.Expr]:
    """How many rows of a question have each of these faults."""
    count = pl.col(COUNT)
    found = {BAD: count.is_null() | (count < 0), MISREAD: pl.col(MISREAD)}
    return [found[name].sum().alias(name) for name in fault_columns(trials)]
