"""Rules that refuse rows of a log: each with its condition, its message and its way out."""

from __future__ import annotations

import math
from functools import partial

import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import (
    ANOTHER,
    BAD,
    IDS,
    MISSING,
    NO_ID,
    OUTSIDE,
    ROWS,
    UNCLUSTERED,
    Quoted,
    Rule,
    Tally,
)
from polars_scorio.counting.log import CLUSTER, MISREAD, Trials, is_label
from polars_scorio.counting.ways_out import missing_example, repeats_cure

MOST = 2**63 - 1  # so many trials a number of 64 bits counts


def refusal_rules(
    trials: Trials, classes: Classes | None = None, tally: Tally | None = None
) -> list[Rule]:
    """Everything that is checked at collection; without `classes` all but the categories.

    The first rule that a question violates is the one that is reported. Trial ids are left to
    `duplicates.trial_id_rules`, or to `identity_rules` where distinct ids are counted already.
    """
    return [
        *_key_rules(trials),
        *_multiplicity_rules(trials),
        *_misread_rules(trials),
        *_cluster_rules(trials),
        *_size_rules(trials),
        *([] if classes is None else _category_rules(trials, classes)),
        *(() if tally is None else tally.rules),
    ]


def refuse_beyond(groups: pl.DataFrame, trials: Trials, total: str) -> None:
    """Refuse a log of which a number of 64 bits does not count the trials."""
    if sum(groups[total].to_list()) > MOST:
        first = groups.sort(total, *trials.groups, descending=True).row(0, named=True)
        raise ValueError(
            f"the log has more trials than {MOST:,}, the most of them"
            f"{group_place(first, trials)}: {first[total]:,}. That is all that 64 bits hold. Is "
            f"{_count_column(trials)} a column of counts?"
        )


def refuse_unscored(groups: pl.DataFrame, trials: Trials) -> None:
    """Refuse groups that no question is left of when those without any outcome are left out."""
    if groups.height:
        first = groups.sort(*trials.groups).row(0, named=True)
        number = groups.height
        raise ValueError(
            f"{number:,} model{'s have' if number > 1 else ' has'} no trial with a category in any "
            f"question, the first{group_place(first, trials)}: "
            'unscored="drop" leaves nothing of it. Filter it out. See describe() for what there is.'
        )


def refuse_tiny(
    largest: object, least_size: float, what: str, role: str, name: str, more: str = ""
) -> None:
    """Refuse a log whose largest number is so small that sums lose digits.

    The message names a unit that is small enough; `more` is another way out, with the {power}.
    """
    if not isinstance(largest, float) or not 0 < largest < least_size:
        return
    digits = min(-math.floor(math.log10(largest)), 300)
    raise ValueError(
        f"no {what} of the log in {name!r} is larger than {largest!r}, and sums of {what}s below "
        f"{least_size:.1e} lose digits. Count in a smaller unit, as in "
        f"{role}=pl.col({name!r}) * 1e{digits}{more.format(power=f'1e{1 - digits}')}."
    )


MOST_TRIALS = 2**20  # so many trials of a question have sums of squares of 128 bits


def too_many_trials(what: str) -> Rule:
    """The rule on questions with too many trials for exact sums of squares."""
    return Rule(
        pl.col(ROWS) > MOST_TRIALS,
        (": ", Quoted(ROWS, "trial")),
        f"more than {MOST_TRIALS:,} trials with {what}",
        "Their squares have no exact sum. Leave trials out.",
    )


def group_place(group: dict[str, object], trials: Trials) -> str:
    """The words " at key=value, ..." for a group; empty if there is only one group."""
    place = ", ".join(f"{key}={group[key]!r}" for key in trials.keys)
    return f" at {place}" if place else ""


def _count_column(trials: Trials) -> str:
    return repr(trials.count.name) if trials.count else "that of the prior trials"


def _key_rules(trials: Trials) -> list[Rule]:
    parts = [part for part in (*trials.by, trials.model, trials.question) if part]
    floats = [part.name for part in parts if part.dtype.is_float()]
    keys = [part.name for part in parts]
    return [
        Rule(
            pl.any_horizontal(pl.col(keys).is_null(), pl.col(floats).is_nan()),
            (),
            f"a null{' or NaN' * bool(floats)} in the keys {keys}",
            "Fill the nulls, or filter such rows out.",
        )
    ]


def _multiplicity_rules(trials: Trials) -> list[Rule]:
    if trials.count is None:
        return []
    return [
        Rule(
            pl.col(BAD) > 0,
            (": ", Quoted(BAD, "row")),
            f"null or negative counts in {trials.count.name!r}",
            "A count says for how many trials its row stands: 0, 1, 2, ...",
        ),
        Rule(
            pl.col(ROWS).is_null(),
            (),
            f"more trials than {MOST:,} in {trials.count.name!r}",
            "That is all that 64 bits hold. Is it a column of counts?",
        ),
    ]


def _misread_rules(trials: Trials) -> list[Rule]:
    if trials.misread is None:
        return []
    return [
        Rule(
            pl.col(MISREAD) > 0,
            (": ", Quoted(MISREAD, "trial")),
            f"a NaN that the category expression {trials.category.name!r} takes for a success",
            "Polars orders NaN above all numbers. Pass the column itself and threshold=, as in "
            'category="reward", threshold=0.5: then NaN is a missing category. Or say in the '
            "expression what NaN means, with .fill_nan(...) before the comparison.",
        )
    ]


def _cluster_rules(trials: Trials) -> list[Rule]:
    if trials.cluster is None:
        return []
    name, dtype = trials.cluster.name, trials.cluster.dtype
    quote = "'" if is_label(dtype) else ""
    return [
        Rule(
            pl.col(UNCLUSTERED),
            (),
            f"a null{' or NaN' * dtype.is_float()} cluster in {name!r}",
            "Give a question that belongs to no others a cluster of its own, for instance with "
            "cluster=pl.coalesce(...) of the cluster and the question.",
        ),
        Rule(
            pl.col(ANOTHER).is_not_null(),
            (f": {quote}", Quoted(CLUSTER), f"{quote} and {quote}", Quoted(ANOTHER), quote),
            f"more than one cluster in {name!r}",
            "A question belongs to one cluster. Does by= lack a key, or is the same name used for "
            "two questions?",
        ),
    ]


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


def _size_rules(trials: Trials) -> list[Rule]:
    rules = []
    if trials.roles.n is not None:
        rules.append(
            Rule(
                pl.col(ROWS) != trials.roles.n,
                (": ", Quoted(ROWS, "trial")),
                f"a number of trials other than n={trials.roles.n}",
                "Look for files that were read twice and for lost trials, or leave n= out.",
            )
        )
    if trials.roles.missing == "error":
        rules.append(
            Rule(
                pl.col(MISSING) > 0,
                (": ", Quoted(MISSING, "trial")),
                f"a missing category (null or NaN in {trials.category.name!r})",
                partial(_missing_cure, trials),
            )
        )
    return rules


def _missing_cure(trials: Trials) -> str:
    """The ways out of missing outcomes."""
    return (
        'missing="drop" leaves such trials out and counts them in the column dropped; a category'
        f"{missing_example(trials)} counts them as that."
    )


def _category_rules(trials: Trials, classes: Classes) -> list[Rule]:
    empty = Rule(
        is_unscored() if trials.roles.unscored == "error" else pl.lit(False),  # noqa: FBT003
        (": ", Quoted(ROWS, "trial"), ", ", Quoted(MISSING), " of them missing"),
        "no trial with a category",
        'Filter such questions out, leave them out and counted with unscored="drop", or give '
        "missing trials a category with missing=.",
    )
    if classes.any_value or (classes.known is None and not trials.category.dtype.is_float()):
        return [empty]
    what, way_out = _stray_words(trials, classes)
    quote = "'" if is_label(trials.category.dtype) else ""
    ends = (each for each in classes.known or () if isinstance(each, int | float))
    outside = Rule(
        pl.col(OUTSIDE).is_not_null(),
        (f": {quote}", Quoted(OUTSIDE, ends=(*ends,)), quote),
        f"{what} in {trials.category.name!r}",
        way_out,
    )
    return [outside, empty]


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
        return what, "Recode it, or name every reward that there is in levels=."
    way_out = (
        "Recode it, pass w= with a weight for every category, or say with success= which of them "
        "count as success."
    )
    return what, f"{graded} {way_out}" if trials.category.dtype.is_float() else way_out


def is_unscored() -> pl.Expr:
    """Whether a question has no trial with an outcome."""
    return pl.col(ROWS) - pl.col(MISSING) < 1
