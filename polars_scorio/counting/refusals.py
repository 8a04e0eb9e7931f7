"""Rules that refuse rows of a log: each with its condition, its message and its way out.

Some ways out come from a second look at the log: a category, a stratum, a pattern.

Ids 0, ..., n-1 and 1, ..., n are known by the 64-bit sum of their hashes (D. Clarke et al. 2003,
ASIACRYPT, 188-207), which others have with probability 2^-63; other integers are read a second time
and compared. Of ids that are no integers n pass for repeated with probability n^2 / 2^65.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from inspect import signature
from itertools import takewhile
from pathlib import PurePath

import polars as pl

from polars_scorio.arguments import row_place
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import (
    ANOTHER,
    AS_ROWS,
    BAD,
    IDS,
    MISSING,
    NO_ID,
    OUTSIDE,
    PLACE,
    PROBLEM,
    ROWS,
    UNCLUSTERED,
    Number,
    Quoted,
    Rule,
    Tally,
    mark_problems,
    over_trials,
    summed_number,
    violations_of,
)
from polars_scorio.counting.log import CATEGORY, CLUSTER, MISREAD, TRIAL, Trials
from polars_scorio.counting.roles import COLUMN_ROLES, TRIAL_NAMES, is_label

DIGEST = ":digest"

_LONGEST = 2**12  # trials of a question whose sum is known: a table of 32 kB takes .2 ms


def id_hash(trials: Trials) -> list[pl.Expr]:
    """The hash of each trial id, as `DIGEST`; nothing if ids are not checked."""
    return [pl.col(TRIAL).hash().alias(DIGEST)] if trials.identified else []


def hash_sum(trials: Trials) -> list[Number]:
    """The sum of the hashes of a question; nothing if ids are no integers, or not checked."""
    return [summed_number(DIGEST, pl.col(DIGEST).sum())] if trials.sums_ids else []


def sum_is_unsettled() -> pl.Expr:
    """Whether the sum leaves open that an id of a question, an integer, repeats or is null."""
    single = (pl.col(ROWS) == 1) & pl.col(DIGEST).ne(_null_hash())
    known = (sums.list.get(pl.col(ROWS), null_on_oob=True) for sums in _known_sums())
    return ~single & pl.all_horizontal(pl.col(DIGEST).ne_missing(sums) for sums in known)


@cache
def _null_hash() -> int:
    """The hash of a null among integers of any width."""
    return int(pl.Series([None], dtype=pl.Int64).hash().item())


@cache
def _known_sums() -> tuple[pl.Expr, pl.Expr]:
    """The sums for n = 0, 1, 2, ...: of ids from 0, and of ids from 1."""
    hashes, none = pl.int_range(_LONGEST, eager=True).hash(), pl.Series([0], dtype=pl.UInt64)
    starts = (hashes, hashes[1:])
    sums = (pl.concat([none, start.cum_sum()]).to_list() for start in starts)
    of_zero, of_one = (pl.lit(each, pl.List(pl.UInt64)) for each in sums)
    return of_zero, of_one


_MOST_LOOKED_UP = 10_000  # values of a key that are looked up anew for every block of rows

# Arguments of `implode`: a list in any order is streamed, and takes less than half the memory.
_IN_ANY_ORDER = {
    name: False for name in signature(pl.Expr.implode).parameters if name == "maintain_order"
}


def trial_id_rules(trials: Trials) -> list[Rule]:
    """The rules, to be the last ones, on the trial ids of tallied questions."""
    if not trials.sums_ids:
        return identity_rules(trials)
    return [Rule(sum_is_unsettled(), (), "ids in doubt", "", _look_again(trials))]


def id_numbers(trials: Trials) -> list[Number]:
    """The numbers that a tally keeps of trial ids: a sum of hashes, or all hashes and the nulls."""
    if not trials.hashes_ids:
        return hash_sum(trials)
    hashes = pl.col(DIGEST).implode(**_IN_ANY_ORDER)
    parts = pl.col(IDS).explode(**AS_ROWS).implode(**_IN_ANY_ORDER)
    return [Number(IDS, hashes.alias(IDS), parts), summed_number(NO_ID, pl.col(TRIAL).null_count())]


def distinct_counted(questions: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """Tallied questions, with the number of distinct ids in place of their hashes."""
    if not trials.hashes_ids:
        return questions
    return questions.with_columns(pl.col(IDS).list.n_unique())


def with_identities(questions: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """Add `IDS` and `NO_ID`, distinct and null trial ids, to tallied questions that lack them."""
    if not trials.sums_ids:
        return questions
    keys = [*trials.groups, trials.question.name]
    open_questions = questions.filter(sum_is_unsettled()).select(*keys, ROWS, DIGEST)
    if open_questions.is_empty():  # nothing to read again
        none = pl.lit(0, pl.get_index_type()).alias(NO_ID)
        return questions.with_columns(pl.col(ROWS).alias(IDS), none)
    identities = _read_again(trials, open_questions).select(*keys, IDS, NO_ID)
    both = questions.join(identities, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return both.with_columns(pl.col(IDS).fill_null(pl.col(ROWS)), pl.col(NO_ID).fill_null(0))


def repeated_trials() -> pl.Expr:
    """How many trials of a question have an id that another one had before."""
    distinct = pl.col(TRIAL).drop_nulls().n_unique()
    return pl.col(TRIAL).count().cast(pl.Int64) - distinct


def _look_again(trials: Trials) -> Callable[[pl.DataFrame], list[tuple[Rule, pl.DataFrame]]]:
    """The function that reads the ids of questions in doubt once more, and finds repeated ones."""
    question, broken = trials.question.name, identity_rules(trials)

    def recheck(doubted: pl.DataFrame) -> list[tuple[Rule, pl.DataFrame]]:
        first = doubted.select(*trials.groups, pl.col(PLACE).alias(question), ROWS, DIGEST)
        second = _read_again(trials, first).lazy()
        again = mark_problems(second, question, broken).filter(pl.col(PROBLEM).is_not_null())
        return violations_of(again.collect(), broken)

    return recheck


def _read_again(trials: Trials, first: pl.DataFrame) -> pl.DataFrame:
    """Rows, sum of hashes, distinct and null ids of questions, from a second read that agrees."""
    keys = [*trials.groups, trials.question.name]
    # Values of each key pass down to a reader of files, which a join on all of them does not.
    values = {key: first[key].unique() for key in keys}
    near = [
        pl.col(key).is_in(value.implode(), nulls_equal=True)
        for key, value in values.items()
        if value.len() <= _MOST_LOOKED_UP
    ]
    rows = trials.rows().filter(*near).with_columns(*id_hash(trials))
    totals = [pl.len().cast(pl.Int64).alias(ROWS), *over_trials(hash_sum(trials))]
    distinct = pl.col(TRIAL).implode(**_IN_ANY_ORDER).list.n_unique()
    identities = distinct.alias(IDS), pl.col(TRIAL).null_count().alias(NO_ID)
    again = rows.group_by(keys).agg(*totals, *identities).collect(engine="streaming")
    second = again.join(first, on=keys, how="semi", nulls_equal=True)
    _refuse_changed(first, second, trials)
    return second


def _refuse_changed(first: pl.DataFrame, second: pl.DataFrame, trials: Trials) -> None:
    """Refuse a log whose second read has other rows or ids than the first."""
    keys, again = [*trials.groups, trials.question.name], ":again"
    both = first.join(second, on=keys, how="left", suffix=again, nulls_equal=True)
    same = [pl.col(name).eq_missing(pl.col(f"{name}{again}")) for name in (ROWS, DIGEST)]
    changed = both.filter(~pl.all_horizontal(same)).sort(keys)
    if changed.is_empty():
        return
    worst = changed.row(0, named=True)
    raise ValueError(
        f"{trials.owner}the trial ids of {first.height:,} question{'s' * (first.height > 1)} had "
        f"to be read twice, and {changed.height:,} differ the second time, the first"
        f"{row_place(worst, [*trials.keys, trials.question.name])}: {worst[ROWS]:,} rows, then "
        f"{worst[f'{ROWS}{again}'] or 0:,}. Does the log change, or can it be read once only? "
        "Collect it first, or skip the check with validate=False."
    )


MOST = 2**63 - 1  # so many trials a number of 64 bits counts


def refusal_rules(
    trials: Trials, classes: Classes | None = None, tally: Tally | None = None
) -> list[Rule]:
    """Everything that is checked at collection; without `classes` all but the categories.

    The first rule that a question violates is the one that is reported. Trial ids are left to
    `duplicates.trial_id_rules`, or to `identity_rules` where distinct ids are counted already.
    """
    return [
        _key_rule(trials),
        *_row_rules(trials),
        *_cluster_rules(trials),
        *_size_rules(trials),
        *([] if classes is None else _category_rules(trials, classes)),
        *(() if tally is None else tally.rules),
    ]


def refuse_beyond(groups: pl.DataFrame, trials: Trials, total: str) -> None:
    """Refuse a log of which a number of 64 bits does not count the trials."""
    if sum(groups[total].to_list()) > MOST:
        first = groups.sort(total, *trials.groups, descending=True).row(0, named=True)
        counts = repr(trials.count.name) if trials.count else "that of the prior trials"
        raise ValueError(
            f"the log has more trials than {MOST:,}, the most of them"
            f"{row_place(first, trials.keys)}: {first[total]:,}. That is all that 64 bits hold. Is "
            f"{counts} a column of counts?"
        )


def refuse_unscored(groups: pl.DataFrame, trials: Trials) -> None:
    """Refuse groups that no question is left of when those without any outcome are left out."""
    if groups.height:
        first = groups.sort(*trials.groups).row(0, named=True)
        number = groups.height
        raise ValueError(
            f"{number:,} model{'s have' if number > 1 else ' has'} no trial with a category in any "
            f"question, the first{row_place(first, trials.keys)}: "
            'unscored="drop" drops all of it. Filter it out. See describe() for what the log has.'
        )


def refuse_tiny(
    largest: object, least_size: float, what: str, role: str, name: str, advice: str = ""
) -> None:
    """Refuse a log whose largest number is so small that sums lose digits.

    The message names a unit that is small enough; `advice` is another way out, with the {power}.
    """
    if not isinstance(largest, float) or not 0 < largest < least_size:
        return
    digits = min(-math.floor(math.log10(largest)), 300)
    raise ValueError(
        f"no {what} of the log in {name!r} is larger than {largest!r}, and sums of {what}s below "
        f"{least_size:.1e} lose digits. Count in a smaller unit, as in "
        f"{role}=pl.col({name!r}) * 1e{digits}{advice.format(power=f'1e{1 - digits}')}."
    )


MOST_TRIALS = 2**20  # so many trials of a question have sums of squares of 128 bits


def too_many_trials(what: str) -> Rule:
    """The rule on questions with too many trials for exact sums of squares."""
    return Rule(
        pl.col(ROWS) > MOST_TRIALS,
        (": ", Quoted(ROWS, "trial")),
        f"more than {MOST_TRIALS:,} trials with {what}",
        "Their squares have no exact sum: omit trials.",
    )


def _key_rule(trials: Trials) -> Rule:
    parts = [part for part in (*trials.by, trials.model, trials.question) if part]
    floats = [part.name for part in parts if part.dtype.is_float()]
    keys = [part.name for part in parts]
    return Rule(
        pl.any_horizontal(pl.col(keys).is_null(), pl.col(floats).is_nan()),
        (),
        f"a null{' or NaN' * bool(floats)} in the keys {keys}",
        "Fill the nulls, or filter such rows out.",
    )


def _row_rules(trials: Trials) -> Iterator[Rule]:
    """The rules on the rows of a question: counts, and NaN that a comparison misreads."""
    if trials.count is not None:
        yield Rule(
            pl.col(BAD) > 0,
            (": ", Quoted(BAD, "row")),
            f"null or negative counts in {trials.count.name!r}",
            "A count says for how many trials its row stands: 0, 1, 2, ...",
        )
        yield Rule(
            pl.col(ROWS).is_null(),
            (),
            f"more trials than {MOST:,} in {trials.count.name!r}",
            "That is all that 64 bits hold. Is it a column of counts?",
        )
    if trials.misread is not None:
        yield Rule(
            pl.col(MISREAD) > 0,
            (": ", Quoted(MISREAD, "trial")),
            f"a NaN that the category expression {trials.category.name!r} takes for a success",
            "Polars orders NaN above all numbers. Pass the column itself and threshold=, as in "
            'category="reward", threshold=0.5: then NaN is a missing category. Or say in the '
            "expression what NaN means, with .fill_nan(...) before the comparison.",
        )


def _cluster_rules(trials: Trials) -> Iterator[Rule]:
    if trials.cluster is not None:
        name, dtype = trials.cluster.name, trials.cluster.dtype
        quote = "'" if is_label(dtype) else ""
        yield Rule(
            pl.col(UNCLUSTERED),
            (),
            f"a null{' or NaN' * dtype.is_float()} cluster in {name!r}",
            "Give a question that belongs to no others a cluster of its own, for instance with "
            "cluster=pl.coalesce(...) of the cluster and the question.",
        )
        yield Rule(
            pl.col(ANOTHER).is_not_null(),
            (f": {quote}", Quoted(CLUSTER), f"{quote} and {quote}", Quoted(ANOTHER), quote),
            f"more than one cluster in {name!r}",
            "A question belongs to one cluster. Does by= lack a key, or is the same name used for "
            "two questions?",
        )


def identity_rules(trials: Trials) -> list[Rule]:
    """The rules on `IDS` and `NO_ID`: null and repeated trial ids."""
    if trials.trial is None or not trials.identified:
        return []
    trial = trials.trial.name
    return [
        Rule(
            pl.col(NO_ID) > 0,
            (": ", Quoted(NO_ID, "trial")),
            f"a null trial id in {trial!r}",
            "Fill the ids, or pass trial=None where rows carry none.",
            foremost=True,
        ),
        Rule(
            pl.col(IDS) < pl.col(ROWS),
            (": ", Quoted(ROWS, "trial"), ", ", Quoted(IDS, "distinct id")),
            f"the same trial twice (a repeated id in {trial!r})",
            partial(repeats_cure, trials),
            foremost=True,
        ),
    ]


def _size_rules(trials: Trials) -> Iterator[Rule]:
    if trials.roles.n is not None:
        yield Rule(
            pl.col(ROWS) != trials.roles.n,
            (": ", Quoted(ROWS, "trial")),
            f"a number of trials other than n={trials.roles.n}",
            "Look for files that were read twice and for lost trials, or omit n=.",
        )
    if trials.roles.first is not None:
        yield Rule(
            pl.col(ROWS) < trials.roles.first,
            (": ", Quoted(ROWS, "trial")),
            f"fewer than first={trials.roles.first} trials",
            "Count fewer with first=, or filter such questions out.",
        )
    if trials.roles.missing == "error":
        yield Rule(
            pl.col(MISSING) > 0,
            (": ", Quoted(MISSING, "trial")),
            f"a missing category (null or NaN in {trials.category.name!r})",
            partial(_missing_cure, trials),
        )


def _missing_cure(trials: Trials) -> str:
    """The ways out of missing outcomes."""
    return (
        'missing="drop" skips such trials and counts them in the column dropped; a category'
        f"{missing_example(trials)} counts them as such."
    )


def _category_rules(trials: Trials, classes: Classes) -> Iterator[Rule]:
    dtype = trials.category.dtype
    if not classes.any_value and (classes.known is not None or dtype.is_float()):
        what, way_out = _stray_words(trials, classes)
        quote = "'" if is_label(dtype) else ""
        ends = (each for each in classes.known or () if isinstance(each, int | float))
        yield Rule(
            pl.col(OUTSIDE).is_not_null(),
            (f": {quote}", Quoted(OUTSIDE, ends=(*ends,)), quote),
            f"{what} in {trials.category.name!r}",
            way_out,
        )
    yield Rule(
        is_unscored() if trials.roles.unscored == "error" else pl.lit(False),  # noqa: FBT003
        (": ", Quoted(ROWS, "trial"), ", ", Quoted(MISSING), " of them missing"),
        "no trial with a category",
        'unscored="drop" skips and counts such questions; missing= with a category counts their '
        "trials.",
    )


def _stray_words(trials: Trials, classes: Classes) -> tuple[str, str]:
    """The words for a category that belongs to no class, and for the way out."""
    graded = (
        "If it is a reward, pass threshold=, as in threshold=0.5: from there on a reward is a "
        "success. Or name all rewards, as in levels=[0, 0.5, 1]; ps.avg(), max_at_k and min_at_k "
        "take any."
    )
    if classes.known is None:
        return "a category that is not a whole number", graded
    what = f"a category outside {list(classes.known)}"
    if classes.known == (0, 1):  # 0.3 is inside [0, 1], to most readers
        what = "a category that is neither 0 nor 1"
    if trials.roles.levels is not None:
        return what, "Recode it, or list every possible reward in levels=."
    way_out = (
        "Recode it, pass w= with a weight for every category, or name in success= those that "
        "count as success."
    )
    return what, f"{graded} {way_out}" if trials.category.dtype.is_float() else way_out


def is_unscored() -> pl.Expr:
    """Whether a question has no trial with an outcome."""
    return pl.col(ROWS) - pl.col(MISSING) < 1


_KEY = ":key"
_RUN_COLUMNS = ("run", "source")  # what readers of logs say of the file of a trial
_MOST_VALUES, _SAMPLE = 100, 10_000  # values of a stratum, and rows that are counted
_TWICE = 0.1  # share of cells with several rows, up to which a column still looks like trial ids
_WHOLE = pl.Boolean, pl.Categorical, pl.Enum, pl.String
JOINED_IDS = 'trial=pl.concat_str("run", "trial", separator="/")'


def missing_example(trials: Trials) -> str:
    """The words ", as in missing=0," with a category of the log that is no success."""
    dtype, successes = trials.category.dtype, trials.roles.successes or ()
    rows = trials.frame.select(trials.category.without_nan.alias(CATEGORY)).drop_nulls()
    if not is_label(dtype):
        zero, least = (
            rows.select((pl.col(CATEGORY) == 0).any(), pl.col(CATEGORY).min().alias("least"))
            .collect(engine="streaming")
            .row(0)
        )
        value = 0 if zero or least is None or 0 <= least <= 1 else least
        return f", as in missing={value!r},"
    counted = rows.group_by(pl.col(CATEGORY).cast(pl.String)).len()
    counts = counted.sort("len", CATEGORY, descending=[True, False]).collect(engine="streaming")
    declared = dtype.categories.to_list() if isinstance(dtype, pl.Enum) else []
    failures = [word for word in [*counts[CATEGORY], *declared] if word not in successes]
    return f', as in missing="{failures[0]}",' if failures and successes else ""


def repeats_cure(trials: Trials) -> str:
    """The way out of trial ids that repeat: the column that makes them unique, if there is one."""
    column = _separating_column(trials)
    if column is None:
        return (
            "Was a file read twice, or does by= lack a key? Keep one row of each, or pass "
            "trial=None if the column is not a trial id, or validate=False to skip this check."
        )
    name, sources = column
    if name not in _RUN_COLUMNS:
        strata = [*trials.strata, name]
        return (
            f"Do questions share their ids? by={strata} makes them unique. If a file was read "
            "twice, drop the duplicates."
        )
    pattern = telling_pattern(*sources) if sources else None
    apart = f'as models of their own with model=r"{pattern}", or ' if pattern else ""
    return (
        f"Each {name} has other ids. If they are runs of one model, read them {apart}as one, whose "
        f"trials have ids of their own, as in {JOINED_IDS}."
    )


def _separating_column(trials: Trials) -> tuple[str, list[str]] | None:
    """The column without a role that makes all trial ids unique, the one with fewest values.

    With the columns of readers the sources of a question that has several.
    """
    rows, keys, candidates = _unused_columns(trials)
    if not candidates:
        return None
    repeated = rows.group_by(keys).agg(
        pl.len().alias(ROWS), *(pl.col(name).n_unique() for name in candidates)
    )
    unique = repeated.select((pl.col(candidates) == pl.col(ROWS)).all())
    numbers = rows.select(pl.len().alias(ROWS), pl.col(candidates).n_unique())
    telling, known = (each.row(0, named=True) for each in pl.collect_all([unique, numbers]))
    # A stratum has several trials for each of its values: a number of the row is none.
    fitting = [name for name in candidates if telling[name] and 2 * known[name] <= known[ROWS]]
    fitting.sort(key=lambda name: (name in _RUN_COLUMNS, known[name]))
    if not fitting or not known[ROWS]:  # the rows of other engines are not here
        return None
    sources: list[str] = []
    if fitting[0] in _RUN_COLUMNS and "source" in candidates:
        several = rows.group_by(keys).agg(pl.col("source").unique().sort().head(2))
        both = several.filter(pl.col("source").list.len() > 1).sort(keys).head(1).collect()
        sources = both["source"].item().to_list()
    return fitting[0], sources


def _unused_columns(trials: Trials) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """The keys of the trials and the columns without a role, with the names of both."""
    parts = [part for part in (*trials.by, trials.model, trials.question, trials.trial) if part]
    named = [*trials.by, *(getattr(trials, role) for role in COLUMN_ROLES)]
    used = {name for part in named if part for name in part.expr.meta.root_names()}
    unused = [
        name for name, dtype in trials.frame.collect_schema().items()
        if name not in used and (dtype.is_integer() or dtype.is_temporal() or dtype in _WHOLE)
    ]  # fmt: skip
    keys = {f"{_KEY}{place}": part.expr for place, part in enumerate(parts)}
    return trials.frame.select(unused, **keys), [*keys], unused


def unnamed_ids(trials: Trials) -> str:
    """A sentence about the column that has the ids of trials, or a stratum, where none is named.

    Trials of a question have other values in the first, and questions of the second share ids:
    together they have unequal numbers of trials, by stratum equal ones. Empty if there is neither.
    """
    rows, keys, unused = _unused_columns(trials)
    if trials.trial is not None or trials.count is not None or not unused:
        return ""
    files = _RUN_COLUMNS if "source" in unused else ()  # their readers name what ids there are
    start = rows.select(unused).head(_SAMPLE).collect()
    # A stratum has several trials for each of its values: a number of the row is none.
    few = {each.name for each in start if each.n_unique() <= min(_MOST_VALUES, len(start) / 2)}
    ids = {name for name in unused if name.lower() in TRIAL_NAMES}
    names = [name for name in unused if name in few | ids and name not in files]
    sizes = [
        rows.group_by(*keys, *further).len(ROWS).select(
            pl.col(ROWS).min().alias("least"), pl.col(ROWS).max().alias("most"),
            (pl.col(ROWS) > 1).mean().alias("twice"),
        )
        for further in ([], *([name] for name in names))
    ]  # fmt: skip
    (least, most, _), *cells = (each.row(0) for each in pl.collect_all(sizes))
    for name, (fewest, largest, twice) in zip(names, cells, strict=True):
        # Trials that are there twice do not hide what the column is.
        if name in ids and largest < most and twice <= _TWICE:
            nearly = "nearly " if twice else ""
            return (
                f"no trial ids are named, and {name!r} has another value in {nearly}each trial of "
                "a question: name it with trial=, which finds trials that the log has twice"
            )
        if least != most and fewest == largest:
            return (
                f"questions have {least:,} to {most:,} trials, but {largest:,} in each {name!r}: "
                f"if questions of several share their ids, pass by={[*trials.strata, name]}"
            )
    return ""


def telling_pattern(first: str, second: str) -> str | None:
    r"""A pattern with one group that finds another name in each of two paths, if one is easy.

    >>> telling_pattern("logs_v1/a.json", "logs_v2/a.json"), telling_pattern("a/x.csv", "a/y.csv")
    ('logs_([^/]+)/', 'a/([^/]+)\\.csv$')
    """
    paths = [PurePath(path).parts for path in (first, second)]
    shared = _shared_length(*paths)
    if len(paths[0]) != len(paths[1]) or shared == len(paths[0]):
        return None
    words = [path[shared] for path in paths]
    start = re.sub(r"[A-Za-z0-9.]+$", "", words[0][: _shared_length(*words)])
    # The separators after the first part of each name that differs.
    follow = {re.sub(r"^[A-Za-z0-9.]+", "", word[len(start) :])[:1] for word in words}
    group = "([^/]+)"
    if len(follow) == 1 and "" not in follow:
        (end,) = follow
        group, end = f"([^{end}/]+)", escaped_text(end)
    elif shared == len(paths[0]) - 1:
        end = f"{escaped_text(PurePath(words[0]).suffix)}$"
    else:
        end = "/" if start or shared else f"/{escaped_text(paths[0][1])}"
    if not start and shared:
        start = f"{paths[0][shared - 1].rpartition('/')[2]}/"
    pattern = f"{escaped_text(start)}{group}{end}"
    matches = [re.search(pattern, PurePath(path).as_posix()) for path in (first, second)]
    names = {match[1] for match in matches if match}
    return pattern if len(names) == len(matches) else None


def escaped_text(text: str) -> str:
    """A text as a pattern that finds it; hyphens and spaces stay as they are."""
    return re.escape(text).replace(r"\-", "-").replace(r"\ ", " ")


def _shared_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of parts with which two sequences begin alike."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
