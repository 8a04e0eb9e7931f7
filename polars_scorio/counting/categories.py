"""Into which classes the trials of a question are counted: by category, or by success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polars_scorio.counting.category_values import is_label
from polars_scorio.counting.cost_sums import CostColumns
from polars_scorio.counting.reward_sums import RewardColumns
from polars_scorio.counting.roles import Category
from polars_scorio.counting.trials import Part, Trials, as_categories


@dataclass(frozen=True, slots=True)
class Classes:
    """Into which classes the trials of a question are counted.

    Attributes
    ----------
    known : tuple of category or None
        One class for each known category, ascending. None: two classes, failure and success, and
        every category belongs to one of them.
    success : tuple of category or None
        The categories that count as 1; None where nothing tells them.
    rewards : RewardColumns or None
        What is needed of the categories as real-valued rewards, if anything is.
    answers : bool
        Whether the answers of the trials are counted too, for votes.
    labels : bool
        Whether the labels of people are counted too, beside the verdicts of a judge.
    costs : CostColumns or None
        The sums of costs that are needed, if any are.
    """

    known: tuple[Category, ...] | None
    success: tuple[Category, ...] | None
    rewards: RewardColumns | None = None
    answers: bool = False
    labels: bool = False
    costs: CostColumns | None = None

    @property
    def size(self) -> int:
        """Number of classes."""
        return 2 if self.known is None else len(self.known)

    @property
    def summed_rewards(self) -> bool:
        """Whether the sums of rewards say all of a question, so that no category is counted."""
        return self.known is None and self.rewards is not None and self.rewards.averages

    @property
    def successful(self) -> list[int]:
        """The classes that count as success."""
        if self.known is None:
            return [1]
        return [self.known.index(value) for value in self.success or ()]


def counted_classes(
    trials: Trials,
    weighted: Sequence[tuple[Category, ...]],
    *,
    binary: bool,
    rewards: RewardColumns | None = None,
    answers: bool = False,
    costs: CostColumns | None = None,
) -> Classes:
    """The classes that a report has to count.

    Parameters
    ----------
    trials : Trials
        The log, with what its user says of success.
    weighted : sequence of tuple of category
        The categories of each `w` of the report.
    binary : bool
        Whether the report has a metric that knows only success and failure.
    rewards : RewardColumns or None
        What it needs of real-valued rewards.
    answers : bool
        Whether it has one of answers.
    costs : CostColumns or None
        The sums of costs that it needs.

    Returns
    -------
    Classes

    Raises
    ------
    ValueError
        If the `w` disagree, if success cannot be told, or if a category is not known.
    TypeError
        If the column cannot hold such categories.
    """
    column, given = trials.category, trials.roles.successes
    success = None if given is None else as_categories(given, column, "success")
    known = _agreed_categories(weighted, column)
    if rewards is not None and not (weighted or binary):
        return Classes(None, (1,), rewards)
    levels = trials.roles.levels
    if levels is not None:
        if known not in (None, levels):
            raise ValueError(f"w must weigh the levels {list(levels)}, got {list(known or ())}")
        known = as_categories(levels, column, "levels")
    if known is None and success is None:
        if is_label(column.dtype):
            raise ValueError(
                f"the category column {column.name!r} holds labels ({column.dtype}): say which of "
                "them are successes with success=, or weigh them all with w={label: weight, ...}"
            )
        known = (0, 1)
    if success is None and known is not None and set(known) == {0, 1}:
        success = (1,)
    if known is not None:
        stray = trials.missing_category
        _refuse_strays("success", success or (), known)
        _refuse_strays("missing", () if stray is None else (stray,), known)
    if binary and success is None:
        raise ValueError(
            f"a binary metric must be told which of the categories {list(known or ())} count as "
            "success: pass success="
        )
    return Classes(known, success, rewards, answers, trials.truth is not None, costs)


def _refuse_strays(keyword: str, values: tuple[Category, ...], known: tuple[Category, ...]) -> None:
    for value in values:
        if value not in known:
            raise ValueError(f"{keyword}={value!r} is none of the known categories {list(known)}")


def _agreed_categories(
    weighted: Sequence[tuple[Category, ...]], column: Part
) -> tuple[Category, ...] | None:
    """The categories that all `w` name; None without any."""
    named = {as_categories(categories, column, "w") for categories in weighted}
    if len(named) > 1:
        first, second, *_ = sorted(named, key=str)
        raise ValueError(
            f"all w of a report must weigh the same categories, got {list(first)} and "
            f"{list(second)}"
        )
    return next(iter(named), None)
