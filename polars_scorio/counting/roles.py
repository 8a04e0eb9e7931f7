"""The parts that columns play, the checks of them at the call, and rewards as outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from itertools import combinations, pairwise
from typing import Literal, cast

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.arguments import (
    as_number,
    check_categories,
    check_choice,
    check_column,
    check_columns,
    check_count,
    check_flag,
    flat_numbers,
    is_several,
    python_scalar,
    value_text,
    value_tuple,
)
from polars_scorio.counting.judge_counts import JudgeSample, judge_sample

Column = str | pl.Expr
Category = str | int | float | bool


def is_label(dtype: pl.DataType) -> bool:
    """Whether categories of this dtype are words."""
    return dtype in (pl.String, pl.Categorical, pl.Enum)


# The roles that are a column.
COLUMN_ROLES = (
    *("model", "question", "trial", "category", "count", "cluster", "answer", "truth"),
    "cost",
    "run",
)

# Names that tools give to the ids of trials.
TRIAL_NAMES = ("trial", "trial_id", "run", "run_id", "seed", "sample", "attempt", "epoch", "repeat")

_USUAL_COLUMNS = ("model", "question", "trial", "category")

# The meaning of questions without any outcome.
Unscored = Literal["error", "drop"]
# How the runs of several models vary; "none": numbers are about these runs.
RunEffects = Literal["own", "alike", "shared", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class Roles:
    """The parts that columns play, as the user says; `Scorio.__call__` documents each."""

    model: Column | None = "model"
    question: Column = "question"
    trial: Column | None = "trial"
    category: Column = "category"
    by: Column | Iterable[Column] | None = ()
    success: Category | Iterable[Category] | None = None
    threshold: float | None = None
    missing: Category = "error"
    n: int | None = None
    first: int | None = None
    count: Column | None = None
    levels: Iterable[float] | None = None
    cluster: Column | None = None
    run: Column | None = None
    run_effects: RunEffects | None = None
    answer: Column | None = None
    truth: Column | None = None
    judge: JudgeSample | pl.DataFrame | None = None
    cost: Column | None = None
    bounds: tuple[float, float] | None = None
    lower_is_better: bool = False
    validate: bool = True
    unscored: Unscored = "error"

    def __post_init__(self) -> None:
        """Refuse what no frame can make right."""
        if is_several(self.question):
            columns = check_columns("question", self.question)
            self._set("question", joined_columns(columns).alias("question"))
        for name in COLUMN_ROLES:
            optional = name not in {"question", "category"}
            check_column(name, getattr(self, name), optional=optional)
        self._set("by", () if self.by is None else check_columns("by", self.by))
        if self.success is not None:
            self._set("success", check_categories("success", self.success))
        self._check_missing()
        for name in ("n", "first"):
            if getattr(self, name) is not None:
                self._set(name, check_count(name, getattr(self, name)))
        for name in ("validate", "lower_is_better"):
            self._set(name, check_flag(name, getattr(self, name)))
        self._check_rewards()
        self._check_unscored()
        self._check_judge()
        self._check_cost()
        usual = self.trial is None or (isinstance(self.trial, str) and self.trial == "trial")
        if self.count is not None and not usual:
            raise ValueError(
                f"count={self.count!r} means rows that are already counted, so they have no trial "
                f"ids: omit trial={self.trial!r}"
            )
        self._check_first()
        self._check_runs()
        self._check_distinct_columns()
        if self.count is not None:
            self._set("trial", None)

    def updated(self, named: Mapping[str, object]) -> Roles:
        """The roles after a call that names some of them: None restores a default.

        Of the four columns that every log has, None means that there is none.
        """
        usual = {each.name: each.default for each in fields(self)}
        values = {
            name: usual[name] if value is None and name not in _USUAL_COLUMNS else value
            for name, value in named.items()
        }
        if self.count is not None and "count" in values:
            values = {"trial": usual["trial"], **values}  # which counts made None
        try:
            return replace(self, **values)  # type: ignore[arg-type]  # checked as it is made
        except ValueError as error:
            kept = [f"{name}=" for name in usual if name not in named]
            kept = [each for each in kept if getattr(self, each[:-1]) is not usual[each[:-1]]]
            if not kept:
                raise
            raise ValueError(
                f"{error}. An earlier call set {', '.join(kept)}: None clears a role"
            ) from None

    def _set(self, role: str, value: object) -> None:
        """Keep what the user gave as the plan uses it."""
        object.__setattr__(self, role, value)

    def _check_runs(self) -> None:
        """Refuse runs of counts, and effects of runs that nobody named."""
        if self.run_effects is not None:
            check_choice("run_effects", self.run_effects, RunEffects)
        counted = self.count is not None  # of which `evaluated_plan` knows more
        if counted and self.run is not None:
            raise ValueError(
                f"count={self.count!r} means rows that are already counted, without their runs: "
                f"omit run={self.run!r}, or take the log with a row for each trial"
            )
        if self.effects != "none" and self.run is None and not counted:
            raise ValueError(f"run_effects={self.run_effects!r} is about runs: name them with run=")

    def _check_first(self) -> None:
        """Refuse the first trials of questions whose trials have no order."""
        lacking = "count= rows have none" * (self.count is not None)
        lacking = lacking or "trial=None says that there are none" * (self.trial is None)
        lacking = lacking or "validate=False reads none" * (not self.validate)
        if self.first is not None and lacking:
            raise ValueError(
                f"first={self.first} counts the trials of each question in the order of their ids, "
                f"and {lacking}: omit one of both"
            )

    def _check_missing(self) -> None:
        if is_several(self.missing) or not isinstance(python_scalar(self.missing), Category):
            raise TypeError(
                f'missing must be "error", "drop" or a category, got {value_text(self.missing)}'
            )
        (category,) = check_categories("missing", self.missing)
        self._set("missing", category)

    def _check_unscored(self) -> None:
        check_choice("unscored", self.unscored, Unscored)
        if self.unscored == "drop" and self.missing != "drop" and self.count is None:
            raise ValueError(
                'unscored="drop" skips questions that missing="drop" leaves without trials: pass '
                f'missing="drop" in place of {self.missing!r}, or omit unscored='
            )

    def _check_cost(self) -> None:
        if self.cost is not None and self.count is not None:
            raise ValueError(
                f"count={self.count!r} means rows that stand for several trials, and cost= needs a "
                "row for each trial, with columns for its question, category and cost: omit one"
            )

    def _check_rewards(self) -> None:
        """Check what says how rewards are read: bounds, threshold, levels, success."""
        if self.bounds is not None:
            self._set("bounds", check_reward_range(self.bounds))
            for keyword in ("threshold", "levels", "success"):
                if getattr(self, keyword) is not None:
                    raise ValueError(
                        f"bounds={self.bounds!r} is the range of rewards that are taken as they "
                        f"are, and {keyword}= makes categories of them: omit one of both"
                    )
        if self.levels is not None:
            self._set("levels", check_levels(self.levels))
        if self.threshold is None:
            return
        self._set("threshold", check_threshold(self.threshold))
        for keyword in ("success", "levels"):
            if getattr(self, keyword) is not None:
                raise ValueError(
                    f"threshold={self.threshold!r} decides which trials succeed: omit {keyword}="
                )

    def _check_judge(self) -> None:
        """Check what says how reliable the judge is: labels on these trials, or a sample."""
        if self.judge is not None:
            self._set("judge", judge_sample(self.judge))
        if self.truth is None and self.judge is None:
            return
        if self.truth is not None and self.judge is not None:
            raise ValueError(
                f"truth={self.truth!r} has labels on these trials, and judge= has a sample from "
                "elsewhere: omit judge=, because labels on these trials need fewer assumptions"
            )
        named = "truth" if self.judge is None else "judge"
        for keyword in ("levels", "bounds"):
            if getattr(self, keyword) is not None:
                raise ValueError(
                    f"{named}= is about verdicts, right or wrong, and {keyword}= about rewards: "
                    "pass threshold= or success= for the trials that the judge calls right"
                )

    def _check_distinct_columns(self) -> None:
        """Refuse one column in two roles; a trial may be a run, and a question its own cluster."""
        shared = {("trial", "run"), ("question", "cluster")}
        named = [("by", column) for column in self.strata]
        named = [*((role, getattr(self, role)) for role in COLUMN_ROLES), *named]
        for (first, one), (second, two) in combinations(named, 2):
            if one is None or two is None or (first, second) in shared:
                continue
            if (
                one == two
                if isinstance(one, str) and isinstance(two, str)
                else _same_values(one, two)
            ):
                no_id = ", or pass trial=None if it is not a trial id" if first == "trial" else ""
                raise ValueError(
                    f"{second}={_quoted_role(two)} repeats {first}={_quoted_role(one)}, and a "
                    f"column has one role: name another column for one of them{no_id}"
                )

    @property
    def missing_category(self) -> Category | None:
        """The category that a missing outcome stands for, if it stands for one."""
        return None if self.missing in ("error", "drop", "bounds") else self.missing

    @property
    def effects(self) -> RunEffects:
        """How runs vary; numbers are about these runs if nobody named them."""
        return self.run_effects or ("none" if self.run is None else "own")

    @property
    def calibration(self) -> JudgeSample | None:
        """The calibration sample of the judge, if its labels are from elsewhere."""
        return None if self.judge is None else judge_sample(self.judge)

    @property
    def strata(self) -> tuple[Column, ...]:
        """The columns of `by`, as a tuple."""
        return cast("tuple[Column, ...]", self.by)

    @property
    def successes(self) -> tuple[Category, ...] | None:
        """The categories of `success`, as a tuple."""
        return cast("tuple[Category, ...] | None", self.success)


def _quoted_role(column: Column) -> str:
    """A role as it was written."""
    return repr(column) if isinstance(column, str) else str(column)


def _same_values(one: Column, two: Column) -> bool:
    """Whether two roles have the same values, whatever their names are."""
    plain = (pl.col(each) if isinstance(each, str) else each for each in (one, two))
    first, second = (each.meta.undo_aliases() for each in plain)
    return first.meta.eq(second)


USUAL_ROLES = Roles()  # of a log whose columns have the usual names


def joined_columns(columns: Iterable[Column]) -> pl.Expr:
    """The values of several columns as one text; slashes within a value are escaped."""
    named = [pl.col(column) if isinstance(column, str) else column for column in columns]
    if not named:
        raise ValueError("question must be a column or several of them, got none")
    parts = [each.cast(pl.String).str.replace_all(r"[/\\]", r"\$0") for each in named]
    return pl.concat_str(parts, separator="/")


# How far a reward may be from a level for being it: tau-bench counts as success what is so near 1.
NOISE = 1e-6
# Differences of such rewards still fit into a float, and so does a 2^-53 of them.
_LARGEST, _LEAST = 1e300, 1e-280


def check_levels(levels: object) -> tuple[float, ...]:
    """Levels in ascending order: at least two, further apart than noise."""
    ordered = sorted(flat_numbers(value_tuple(levels)).tolist())
    gaps = [upper - lower for lower, upper in pairwise(ordered)]
    if not gaps or not min(gaps) > 2 * NOISE or not all(map(math.isfinite, ordered)):
        raise ValueError(
            "levels must be at least two different numbers, the rewards that a trial can get, "
            f"got {value_text(levels)}"
        )
    return tuple(ordered)


def check_threshold(threshold: object) -> float:
    """A threshold as a finite float."""
    number = as_number(threshold)
    if not math.isfinite(number):
        raise ValueError(
            "threshold must be a finite number, from which on a reward is a success, got "
            f"{value_text(threshold)}"
        )
    return number


def check_reward_range(bounds: object) -> tuple[float, float]:
    """The range of rewards as two finite floats, lower first; the larger size 1e-280 to 1e300."""
    pair = value_tuple(bounds) if isinstance(bounds, AbstractSet) else bounds
    ends = flat_numbers(pair, most=3).tolist()
    if (
        len(ends) != 2  # both ends
        or not -_LARGEST <= ends[0] < ends[1] <= _LARGEST
        or max(map(abs, ends)) < _LEAST
    ):
        raise ValueError(
            "bounds must be two different finite numbers, the least and the largest reward that "
            f"there may be (and the larger size from {_LEAST:g} to {_LARGEST:g}), got "
            f"{value_text(bounds)}"
        )
    return ends[0], ends[1]


def near_level(reward: pl.Expr, levels: Iterable[float]) -> pl.Expr:
    """A reward as the level that it is within `NOISE`; unchanged if it is none."""
    value = reward.cast(pl.Float64)
    near = (pl.when((value - level).abs() <= NOISE).then(level) for level in levels)
    return pl.coalesce(*near, value)


def reaches_threshold(reward: pl.Expr, dtype: pl.DataType, threshold: float) -> pl.Expr:
    """Whether a reward reaches a threshold; null if the reward is null or NaN.

    >>> rewards = pl.DataFrame({"reward": [0.2, 0.5, float("nan"), None]})
    >>> reached = reaches_threshold(pl.col("reward"), pl.Float64(), 0.5)
    >>> rewards.select(reached).to_series().to_list()
    [False, True, None, None]
    """
    # Polars compares a column of Float32 with the threshold as a Float32.
    return (reward.fill_nan(None) if dtype.is_float() else reward) >= threshold


def refuse_ungraded(keyword: str, name: str, dtype: pl.DataType, owner: str = "") -> None:
    """Refuse a category column that holds no rewards."""
    if not (dtype.is_integer() or dtype.is_float()):
        ways_out = {
            "levels": "Omit it, and weigh the categories with w=",
            "threshold": "Omit it, and name the categories that are successes with success=",
            "bounds": "Omit it: an outcome that is no number has no range",
        }
        raise TypeError(
            f"{owner}{keyword}= is for rewards, but the category column {name!r} is {dtype}. "
            f"{ways_out[keyword]}"
        )


def true_for_nan(frame: pl.LazyFrame, outcome: pl.Expr) -> pl.Expr | None:
    """Whether a Boolean outcome is true although something it compares is NaN; None without floats.

    Polars orders NaN above all numbers, so that ``pl.col("reward") >= 0.5`` is true for NaN.
    """
    operands = _float_operands(frame, outcome)
    if not operands:
        return None
    return outcome & pl.any_horizontal(operand.is_nan() for operand in operands)


def _float_operands(frame: pl.LazyFrame, outcome: pl.Expr) -> list[pl.Expr]:
    """The floats, computed ones too, that a Boolean expression compares."""
    floats: list[pl.Expr] = []
    for operand in outcome.meta.pop():
        dtype = _operand_dtype(frame, operand)
        if dtype is not None and dtype.is_float():
            floats.append(operand)
        elif dtype == pl.Boolean:
            floats += _float_operands(frame, operand)
    return floats


def _operand_dtype(frame: pl.LazyFrame, operand: pl.Expr) -> pl.DataType | None:
    """The dtype of a part of an expression; None for constants and parts that are no column."""
    if not operand.meta.root_names():
        return None
    try:
        return frame.select(operand).collect_schema().dtypes()[0]
    except PolarsError:
        return None
