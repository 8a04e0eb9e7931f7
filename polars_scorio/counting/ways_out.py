"""Proposals of errors, from a second look at the log: a category, a stratum, a pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath

import polars as pl

from polars_scorio.counting.log import Trials
from polars_scorio.counting.roles import COLUMN_ROLES, TRIAL_NAMES, is_label

_CATEGORY, _KEY, _ROWS = ":category", ":key", ":rows"
_RUN_COLUMNS = ("run", "source")  # what readers of logs say of the file of a trial
_MOST_VALUES, _SAMPLE = 100, 10_000  # values of a stratum, and rows that are counted
_TWICE = 0.1  # share of cells with several rows, up to which a column still looks like trial ids
_WHOLE = pl.Boolean, pl.Categorical, pl.Enum, pl.String
JOINED_IDS = 'trial=pl.concat_str("run", "trial", separator="/")'


def missing_example(trials: Trials) -> str:
    """The words ", as in missing=0," with a category of the log that is no success."""
    dtype, successes = trials.category.dtype, trials.roles.successes or ()
    rows = trials.frame.select(trials.category.without_nan.alias(_CATEGORY)).drop_nulls()
    if not is_label(dtype):
        zero, least = (
            rows.select((pl.col(_CATEGORY) == 0).any(), pl.col(_CATEGORY).min().alias("least"))
            .collect(engine="streaming")
            .row(0)
        )
        value = 0 if zero or least is None or 0 <= least <= 1 else least
        return f", as in missing={value!r},"
    counted = rows.group_by(pl.col(_CATEGORY).cast(pl.String)).len()
    counts = counted.sort("len", _CATEGORY, descending=[True, False]).collect(engine="streaming")
    declared = dtype.categories.to_list() if isinstance(dtype, pl.Enum) else []
    failures = [word for word in [*counts[_CATEGORY], *declared] if word not in successes]
    return f', as in missing="{failures[0]}",' if failures and successes else ""


def repeats_cure(trials: Trials) -> str:
    """The way out of trial ids that repeat: the column that makes them unique, if there is one."""
    column = _separating_column(trials)
    if column is None:
        return (
            "Was a file read twice, or does by= lack a key? Keep one row of each, or pass "
            "trial=None if the column is no trial id, or validate=False to skip this check."
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
        pl.len().alias(_ROWS), *(pl.col(name).n_unique() for name in candidates)
    )
    unique = repeated.select((pl.col(candidates) == pl.col(_ROWS)).all())
    numbers = rows.select(pl.len().alias(_ROWS), pl.col(candidates).n_unique())
    telling, known = (each.row(0, named=True) for each in pl.collect_all([unique, numbers]))
    # A stratum has several trials for each of its values: a number of the row is none.
    fitting = [name for name in candidates if telling[name] and 2 * known[name] <= known[_ROWS]]
    fitting.sort(key=lambda name: (name in _RUN_COLUMNS, known[name]))
    if not fitting or not known[_ROWS]:  # the rows of other engines are not here
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
        rows.group_by(*keys, *further).len(_ROWS).select(
            pl.col(_ROWS).min().alias("least"), pl.col(_ROWS).max().alias("most"),
            (pl.col(_ROWS) > 1).mean().alias("twice"),
        )
        for further in ([], *([name] for name in names))
    ]  # fmt: skip
    (least, most, _), *cells = (each.row(0) for each in pl.collect_all(sizes))
    for name, (fewest, largest, twice) in zip(names, cells, strict=True):
        # Trials that are there twice do not hide what the column is.
        if name in ids and largest < most and twice <= _TWICE:
            nearly = "nearly " * (twice > 0)
            return (
                f"no trial ids are named, and {name!r} has another value in {nearly}each trial of "
                "a question: name it with trial=, which finds trials that are there twice"
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
