"""Labels of people beside the verdicts of a judge: how many of each verdict are right."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.log import (
    TRUTH,
    Part,
    Trials,
    as_categories,
    category_literal,
    is_label,
)
from polars_scorio.counting.roles import Category

# Labelled verdicts "right", those of them that are right, labelled verdicts "wrong", and those of
# them that are right: columns of questions.
LABELS = (":judged_right", ":confirmed", ":judged_wrong", ":overruled")
# A label that is none of the known categories.
STRAY_LABEL = ":stray_label"


def label_conditions(trials: Trials, classes: Classes, members: list[pl.Expr]) -> list[pl.Expr]:
    """Whether a trial counts for each of `LABELS`; null without a verdict or a label."""
    judged = pl.any_horizontal(members[place] for place in classes.successful)
    right = _is_right(_labelled_truth(trials), classes)
    labelled = right.is_not_null()
    return [judged & labelled, judged & right, ~judged & labelled, ~judged & right]


def stray_label(trials: Trials, classes: Classes) -> pl.Expr | None:
    """A label that is none of the known categories, null where it is one; None if none can be."""
    truth = _labelled_truth(trials)
    if classes.known is None or truth.dtype == pl.Boolean:
        return None
    label = pl.col(TRUTH)
    word = label.cast(pl.String) if is_label(truth.dtype) else label
    return pl.when(~_is_any(classes.known, truth)).then(word)


def check_truth(truth: Part, category: Part, success: tuple[Category, ...] | None) -> None:
    """Refuse labels of another kind than the verdicts; true and false go with all verdicts."""
    if truth.dtype == pl.Boolean:
        return
    if is_label(truth.dtype) != is_label(category.dtype):
        raise TypeError(
            f"truth {truth.name!r} is {truth.dtype}, and the category {category.name!r} is "
            f"{category.dtype}: people and judge must choose from the same categories. Or say "
            f'with an expression which labels are right, as in truth=pl.col("{truth.name}") == ...'
        )
    if success is not None:
        as_categories(success, truth, "truth: success")


def _labelled_truth(trials: Trials) -> Part:
    assert trials.truth is not None  # callers have seen to that
    return trials.truth


def _is_right(truth: Part, classes: Classes) -> pl.Expr:
    """Whether a label says that the answer is right; null without a label."""
    if truth.dtype == pl.Boolean:
        return pl.col(TRUTH)
    return _is_any(classes.success or (1,), truth)


def _is_any(categories: tuple[Category, ...], truth: Part) -> pl.Expr:
    """Whether a label is one of some categories; null without a label."""
    never = pl.when(pl.col(TRUTH).is_not_null()).then(pl.lit(False))  # noqa: FBT003
    held = [category_literal(category, truth.dtype) for category in categories]
    return pl.any_horizontal(never, *(pl.col(TRUTH) == each for each in held if each is not None))
