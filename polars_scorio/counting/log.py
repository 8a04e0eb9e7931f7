"""The log with its roles found."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from threading import RLock
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar, cast

import numpy as np
import polars as pl
from polars.exceptions import ColumnNotFoundError, PolarsError

from polars_scorio.arguments import known_text
from polars_scorio.counting.roles import (
    COLUMN_ROLES,
    TRIAL_NAMES,
    Category,
    Column,
    Roles,
    is_label,
    near_level,
    reaches_threshold,
    refuse_ungraded,
    true_for_nan,
)


def column_category(value: str | float, dtype: pl.DataType) -> str | float | None:
    """The value of a column that equals a category; None if there is none.

    True for 1 in Booleans, 1 for 1.0 in integers, and in floats the nearest fraction (0.1 in a
    Float32).
    """
    if isinstance(value, str):
        return value
    if dtype == pl.Boolean:
        return bool(value) if value in {0, 1} else None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    whole = int(value) == value
    if dtype.is_float():
        return _held_by_floats(value, dtype, whole=whole)
    return int(value) if whole and _fits_dtype(int(value), dtype) else None


def category_literal(value: str | float, dtype: pl.DataType) -> pl.Expr | None:
    """A category in the dtype of its column; None where the column cannot hold it."""
    cast = column_category(value, dtype)
    # A word stays a String: a categorical is compared with words.
    return None if cast is None else pl.lit(cast, pl.String() if isinstance(cast, str) else dtype)


def _held_by_floats(value: float, dtype: pl.DataType, *, whole: bool) -> float | None:
    with np.errstate(over="ignore"):
        try:
            near = float(np.dtype(str(dtype).lower()).type(value))
        except OverflowError:
            return None
    if not math.isfinite(near):
        return None
    # Fractions are compared with what was meant by them, whole numbers with themselves.
    return None if whole and Fraction(near) != Fraction(value) else near


def _fits_dtype(value: int, dtype: pl.DataType) -> bool:
    name = str(dtype)
    bits = int("".join(filter(str.isdigit, name)))
    least = 0 if name.startswith("U") else -(1 << (bits - 1))
    return least <= value < least + (1 << bits)


def check_dtype(what: str, role: str, dtype: pl.DataType) -> None:
    """Refuse dtypes that a role cannot have."""
    if role in {"category", "truth"}:
        if dtype in (pl.List, pl.Array):
            raise TypeError(
                f"{what} is {dtype}; a row is one trial. Where a list holds the trials of a "
                "question, make rows of it with .explode(...) before."
            )
        if not (dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean or is_label(dtype)):
            raise TypeError(
                f"{what} is {dtype}; a category is Boolean, an integer, a float, or a label "
                "(String, Categorical, Enum). Cast it, or pass an expression."
            )
    elif role == "count":
        if not dtype.is_integer():
            raise TypeError(f"{what} is {dtype}; multiplicities are integers. Cast it to pl.Int64.")
    elif role == "cost":
        _refuse_no_number(what, dtype)
    elif role == "answer":
        if dtype == pl.Object:
            raise TypeError(f"{what} is {dtype}, which cannot be compared. Cast it to strings.")
    elif dtype.is_nested() or dtype == pl.Object:
        joined = {pl.List: 'pl.col(...).list.join("/")', pl.Array: 'pl.col(...).arr.join("/")'}
        example = joined.get(dtype.base_type(), 'pl.concat_str("a", "b", separator="/")')
        raise TypeError(
            f"{what} is {dtype}, which has no order to report it in. Pass an expression for "
            f"one plain column, for instance {example}."
        )


def _refuse_no_number(what: str, dtype: pl.DataType) -> None:
    """Refuse a cost that is no number."""
    if not (dtype.is_integer() or dtype.is_float()):
        raise TypeError(f"{what} is {dtype}; a cost is a number. Cast it to pl.Float64.")


# Names inside the plan: the colon keeps them apart from the columns of a user.
CATEGORY, TRIAL, COUNT, EVERYTHING = ":category", ":trial", ":count", ":everything"
CLUSTER, MISREAD, TRUTH = ":cluster", ":misread", ":truth"
REWARD, RUN = ":reward", ":run"
STAND_IN = pl.lit(0, pl.UInt8).alias(EVERYTHING)  # for keys: `group_by` wants a column

_WAYS_OUT = {
    "by": "Name existing columns with by=.",
    "model": "Name it with model=, or pass model=None where there is only one model.",
    "question": "Name it with question=.",
    "category": "Name it with category=.",
    "trial": "Name it with trial=, or pass trial=None where rows carry no trial id.",
    "count": "Name the column of multiplicities with count=.",
    "cluster": "Name the column that groups questions with cluster=.",
    "run": "Name the column of runs with run=.",
    "answer": "Name the column of answers with answer=.",
    "truth": "Name the column of human labels with truth=.",
    "cost": "Name the column of costs with cost=.",
}
_OR_NONE = {"model": " (or model=None)", "trial": " (or trial=None)"}
_COUNTED = 'Pass count="count" if that column counts the trials of a row, or name the trial ids '
"with trial=."


@dataclass(frozen=True, slots=True, eq=False)
class Role:
    """A role that was found in a frame: how to compute it, its name and its dtype."""

    expr: pl.Expr
    name: str
    dtype: pl.DataType

    @property
    def without_nan(self) -> pl.Expr:
        """The column, in which NaN is null."""
        return self.expr.fill_nan(None) if self.dtype.is_float() else self.expr


_NULL_ROWS = 1_000  # rows of nulls
_SHARED_BY_ROWS = ("by", "model", "cluster")

FitT = TypeVar("FitT")
_FEW_ROWS = 10_000  # of a frame up to which the streaming engine takes longer: by 1 to 3 ms


def faster_engine(rows: int) -> Literal["in-memory", "streaming"]:
    """The engine that is faster on so many rows."""
    return "in-memory" if rows <= _FEW_ROWS else "streaming"


_SHARES = tuple(map(int, pl.__version__.split(".")[:2])) >= (1, 40)


def collected_together(
    plans: Iterable[pl.LazyFrame], engine: Literal["auto", "streaming"] = "auto"
) -> list[pl.DataFrame]:
    """The results of plans, which share their scans.

    One after the other before Polars 1.40, which may wait for ever if steps of plans collect too.
    """
    if _SHARES:
        return pl.collect_all(plans, engine=engine)
    return [plan.collect(engine=engine) for plan in plans]


class Study:
    """A DataFrame of trials that is counted once for all that is asked of it.

    Methods that share an accessor, and the sections of a page, share a study: report, compare, rank
    best of one log take one aggregation. A frame that was changed in place is counted anew. To do
    without it, pass the LazyFrame itself. With `means_alone` comparisons have no rows of the strata
    beside those of their means.
    """

    def __init__(self, frame: pl.DataFrame, *, means_alone: bool = False) -> None:
        self.frame, self.means_alone = frame, means_alone
        self._lock = RLock()  # plans that are collected together have threads of their own
        self._forget()

    def __reduce__(self) -> tuple[partial[Study], tuple[pl.DataFrame]]:
        # A copy counts anew: locks are not copied.
        return partial(Study, means_alone=self.means_alone), (self.frame,)

    def _forget(self) -> None:
        self._known = self.frame.clone()  # shares the columns
        self._counted = dict[tuple[Hashable, ...], tuple[object, pl.DataFrame]]()
        self._kept = dict[Hashable, object]()

    def counted(self, roles: Roles, key: tuple[Hashable, ...], plan: pl.LazyFrame) -> pl.DataFrame:
        """The result of a plan, which follows from the frame, its roles and a key."""
        with self._lock:
            if (self._counted or self._kept) and not self._known.equals(self.frame):
                self._forget()
            full = id(roles), *key
            if full not in self._counted:
                # The roles are kept, so that no others get their identity.
                engine = faster_engine(self.frame.height)
                self._counted[full] = roles, plan.collect(engine=engine)
            return self._counted[full][1]

    def has_counted(self, roles: Roles, key: tuple[Hashable, ...]) -> bool:
        """Whether the result for these roles and this key is known."""
        return (id(roles), *key) in self._counted

    def kept(self, key: Hashable, make: Callable[[], FitT]) -> FitT:
        """A value that follows from the frame and a key, made once for each key."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            return cast("FitT", self._kept[key])


Log: TypeAlias = pl.LazyFrame | Study


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """A log with its roles found: one row per trial, or per counted group of trials.

    `misread` says whether a comparison takes a NaN of the trial for a success; None if none can.
    `reward` is what a `threshold` makes categories of; None without a threshold.
    """

    frame: pl.LazyFrame
    roles: Roles
    by: tuple[Role, ...]
    model: Role | None
    question: Role
    category: Role
    trial: Role | None = None
    count: Role | None = None
    cluster: Role | None = None
    run: Role | None = None
    answer: Role | None = None
    truth: Role | None = None
    cost: Role | None = None
    misread: pl.Expr | None = None
    reward: pl.Expr | None = None
    owner: str = ""
    study: Study | None = None
    engine: Literal["in-memory", "streaming"] = "streaming"  # which reads them faster

    @property
    def keys(self) -> tuple[str, ...]:
        """Strata and model: the tidy result has one block of rows for each of their values."""
        return tuple(part.name for part in (*self.by, *([self.model] if self.model else [])))

    @property
    def strata(self) -> dict[str, pl.DataType]:
        """Name and dtype of each column of the strata."""
        return {part.name: part.dtype for part in self.by}

    @property
    def models(self) -> dict[str, pl.DataType]:
        """Name and dtype of the model column; empty where the log has one unnamed model."""
        return {} if self.model is None else {self.model.name: self.model.dtype}

    @property
    def groups(self) -> tuple[str, ...]:
        """The keys, or their stand-in."""
        return self.keys or (EVERYTHING,)

    @property
    def identified(self) -> bool:
        """Whether rows carry trial ids that are to be checked."""
        return self.trial is not None and self.roles.validate

    @property
    def sums_ids(self) -> bool:
        """Whether they are integers: a sum of their hashes may settle them."""
        return self.trial is not None and self.identified and self.trial.dtype.is_integer()

    @property
    def hashes_ids(self) -> bool:
        """Whether each of them has to be kept."""
        return self.identified and not self.sums_ids

    @property
    def scored(self) -> Trials:
        """Trials whose outcome is not missing, whatever a missing one stands for."""
        return replace(self, roles=replace(self.roles, missing="drop", unscored="drop"))

    @property
    def outcome(self) -> pl.Expr:
        """The category of a trial, as `CATEGORY`; null if it is missing."""
        if self.roles.missing == "bounds":
            raise ValueError(
                'missing="bounds" has answers of report, compare, rank, gate, leaderboard and '
                'pages: all else needs missing="drop", or the category that a missing outcome is'
            )
        category = self.category.without_nan
        if self.roles.missing_category is not None:
            stand_in = pl.lit(column_category(self.roles.missing_category, self.category.dtype))
            category = category.fill_null(stand_in.cast(self.category.dtype))
        return category.alias(CATEGORY)

    @property
    def named_runs(self) -> bool:
        """Whether numbers are about other runs like those that a column names."""
        return self.run is not None and self.roles.effects != "none"

    @property
    def judged(self) -> bool:
        """Whether categories are verdicts of a judge, whose errors are corrected."""
        return self.truth is not None or self.roles.judge is not None

    @property
    def judge_role(self) -> str:
        """The keyword that says how reliable the judge is."""
        return "judge" if self.truth is None else "truth"

    def rows(self, further: Mapping[str, pl.Expr] = MappingProxyType({})) -> pl.LazyFrame:
        """The columns that are needed, and more, under the names that the plan uses."""
        named = (part for part in (*self.by, self.model, self.question) if part)
        keys = [*([] if self.keys else [STAND_IN]), *(p.expr.alias(p.name) for p in named)]
        columns = {CATEGORY: self.outcome}
        if self.misread is not None:
            columns[MISREAD] = self.misread
        if self.trial is not None and self.identified:
            columns[TRIAL] = self.trial.without_nan
        if self.cluster is not None:
            columns[CLUSTER] = self.cluster.without_nan
        columns |= further
        if self.count is not None:
            # Sums of 128 bits do not wrap; what no integer of 64 bits holds is refused afterwards.
            columns[COUNT] = self.count.expr.cast(pl.Int128, strict=False)
        return self.frame.select(*keys, **columns)


def holds_rewards(trials: Trials) -> bool:
    """Whether the category column may hold rewards of any value."""
    dtype, roles = trials.category.dtype, trials.roles
    ranged = roles.bounds is not None and (dtype.is_integer() or dtype.is_float())
    return ranged or (dtype.is_float() and roles.success is None)


def _graded_part(part: Role, roles: Roles, owner: str) -> Role:
    """The category as it is counted: a level, whether a threshold is reached, or the column."""
    for keyword in ("levels", "threshold", "bounds"):
        if getattr(roles, keyword) is not None:
            refuse_ungraded(keyword, part.name, part.dtype, owner)
    if roles.levels is not None:
        return Role(near_level(part.expr, roles.levels).alias(part.name), part.name, pl.Float64())
    if roles.threshold is not None:
        reached = reaches_threshold(part.expr, part.dtype, roles.threshold)
        return Role(reached.alias(part.name), part.name, pl.Boolean())
    return part


def _truth_part(columns: _Columns, roles: Roles, owner: str) -> Role:
    """The labels of people as they are counted: a number reaches the threshold of verdicts."""
    assert roles.truth is not None
    part = columns.part("truth", roles.truth)
    return part if part.dtype == pl.Boolean else _graded_part(part, roles, owner)


def bind_roles(log: Log, roles: Roles, *, owner: str = "") -> Trials:
    """Find every role in a frame; looks at nothing but the schema.

    `owner` begins the messages: empty for the data, "prior: " for prior trials, which may lack
    models.
    """
    study, frame = (log, log.frame.lazy()) if isinstance(log, Study) else (None, log)
    columns = _Columns(frame, frame.collect_schema(), owner)
    columns.refuse_absent(roles)
    category = columns.part("category", roles.category)
    graded = _graded_part(category, roles, owner)
    boolean = graded.dtype == pl.Boolean and roles.threshold is None
    model = roles.model
    # Prior trials may lack the model: then they serve every one.
    if owner and model is not None and not columns.has_any_of(model):
        model = None
    trials = Trials(
        frame=frame,
        roles=roles,
        by=tuple(columns.part("by", column) for column in roles.strata),
        model=None if model is None else columns.part("model", model),
        question=columns.part("question", roles.question),
        category=graded,
        misread=true_for_nan(frame, graded.expr) if boolean else None,
        reward=None if roles.threshold is None else category.expr,
        truth=None if roles.truth is None else _truth_part(columns, roles, owner),
        owner=owner,
        study=study,
        engine="streaming" if study is None else faster_engine(study.frame.height),
        **{
            role: columns.part(role, column)
            for role in ("trial", "count", "cluster", "run", "answer", "cost")
            if (column := getattr(roles, role)) is not None
        },
    )
    refuse_repeats([*trials.keys, trials.question.name], owner)
    if trials.roles.missing_category is not None:
        _check_stand_in(trials.roles.missing_category, trials.category, f"{owner}missing")
    return trials if roles.first is None else _first_trials(trials, roles.first)


def _first_trials(trials: Trials, first: int) -> Trials:
    """The trials of each question with the smallest ids, and those without an id, to be refused."""
    assert trials.trial is not None  # roles refuse it
    dtype = trials.trial.dtype
    if not (dtype.is_numeric() or dtype.is_temporal()):
        raise TypeError(
            f"first={first} counts the trials of each question in the order of their ids, and "
            f"the ids in {trials.trial.name!r} are {dtype}, which has no order: name a column of "
            "numbers or times with trial=, or omit first="
        )
    trial = trials.trial.without_nan
    question = [part.expr for part in (*trials.by, trials.model, trials.question) if part]
    place = trial.rank("ordinal").over(question)
    return replace(trials, frame=trials.frame.filter((place <= first) | trial.is_null()))


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """The columns of a log, in which roles are found."""

    frame: pl.LazyFrame
    schema: pl.Schema
    owner: str

    def part(self, role: str, column: Column) -> Role:
        """The column that plays a role, after a look at its name and dtype."""
        if isinstance(column, str):
            expr, name, dtype = pl.col(column), column, self.schema[column]
        else:
            expr, (name, dtype) = column, self._output(role, column)
        _refuse_reserved(f"{self.owner}{role} column {name!r}", name)
        check_dtype(f"{self.owner}{role} column {name!r}", role, dtype)
        return Role(expr, name, dtype)

    def has_any_of(self, column: Column) -> bool:
        """Whether the log has something of which the column is made."""
        return any(name in self.schema for name in _root_names(column))

    def _output(self, role: str, column: pl.Expr) -> tuple[str, pl.DataType]:
        outputs = self.frame.select(column).collect_schema()
        if len(outputs) != 1:
            raise ValueError(
                f"{self.owner}{role} must be one column, got {len(outputs)}: {outputs.names()}"
            )
        self._refuse_other_length(role, column)
        return next(iter(outputs.items()))

    def _refuse_other_length(self, role: str, column: pl.Expr) -> None:
        """Refuse an expression that drops, adds or aggregates rows, as rows of nulls show."""
        if "python_udf" in str(column):  # a function of the user, to be called with the log only
            return
        lists = {
            name: pl.Series([[None] * 2] * _NULL_ROWS, dtype=dtype)
            for name, dtype in self.schema.items()
            if dtype == pl.List
        }
        rows = pl.DataFrame(schema=self.schema).clear(_NULL_ROWS).with_columns(**lists)
        try:
            height = rows.select(column).height
        except PolarsError:  # of a function that knows no nulls
            return
        # One value for all rows names a model, a stratum or a cluster.
        constant = height == 1 and (role in _SHARED_BY_ROWS or not column.meta.root_names())
        if height != _NULL_ROWS and not constant:
            raise ValueError(
                f"{self.owner}{role}={column} does not give each row a value of its own: it "
                f"{'makes one of all rows' if height == 1 else 'changes their number'}. Filter, "
                "explode or aggregate the frame before."
            )

    def refuse_absent(self, roles: Roles) -> None:
        """Refuse roles whose columns are not there, all of them at once."""
        named = [(role, getattr(roles, role)) for role in COLUMN_ROLES]
        if self.owner and roles.model is not None and not self.has_any_of(roles.model):
            named = [(role, column) for role, column in named if role != "model"]
        absent = [
            (name, role)
            for role, column in [*(("by", part) for part in roles.strata), *named]
            if column is not None
            for name in _root_names(column)
            if name not in self.schema
        ]
        if not absent:
            return
        parts = [(name, "stratum" if role == "by" else role) for name, role in absent]
        places = ", ".join(f"{name!r} for the {part}" for name, part in parts)
        lacking = "is no column" if len(absent) == 1 else "are no columns"
        roles_absent = [*dict.fromkeys(role for _, role in absent)]
        ways_out = self._way_out(roles_absent[0])
        if len(roles_absent) > 1:
            keywords = [f"{role}={_OR_NONE.get(role, '')}" for role in roles_absent]
            ways_out = f"Name them with {', '.join(keywords[:-1])} and {keywords[-1]}."
        raise ColumnNotFoundError(
            f"{self.owner}there {lacking} {places}; the columns are "
            f"{self.schema.names()}. {ways_out}"
        )

    def _way_out(self, role: str) -> str:
        known = [name for name in TRIAL_NAMES if name in self.schema and role == "trial"]
        way = _WAYS_OUT[role] + (f" Are they in {known[0]!r}?" if known else "")
        return _COUNTED if role == "trial" and "count" in self.schema else way


def _root_names(column: Column) -> list[str]:
    return [column] if isinstance(column, str) else column.meta.root_names()


def _check_stand_in(value: Category, column: Role, keyword: str) -> None:
    """Refuse a category for missing outcomes that the column would have to round or to cut off."""
    as_categories([value], column, keyword)
    if column_category(value, column.dtype) is None:
        raise ValueError(
            f"{keyword}={value!r} is no value of the category column {column.name!r}, which is "
            f"{column.dtype}. Name a category that it holds, or cast the column."
        )


def refuse_repeats(names: Sequence[str], owner: str = "") -> None:
    """Refuse two columns of one name in a result."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"{owner}the result would have two columns named {repeated[0]!r}: {list(names)}. "
            "Rename the column before, or give the role as an expression with .alias(...)."
        )


def result_schema(
    strata: Iterable[str], *parts: Mapping[str, pl.DataType]
) -> dict[str, pl.DataType]:
    """The columns of a result beside its strata, in parts; no two of all may share a name."""
    refuse_repeats([*strata, *(name for part in parts for name in part)])
    return {name: dtype for part in parts for name, dtype in part.items()}


def _refuse_reserved(what: str, name: str) -> None:
    """Refuse a name that a column of the plan may have, and one that Polars takes for another."""
    if name in {"", "*"} or (name.startswith("^") and name.endswith("$")):
        raise ValueError(
            f"{what} has a name that Polars reads as no column or as several. Rename the column "
            "before."
        )
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", name):
        raise ValueError(
            f"{what} has a control character in its name, which terminals and notebooks obey. "
            f"Rename the column before, as in df.rename({{{name!r}: ...}})."
        )
    if name.startswith(":"):
        raise ValueError(
            f'{what} has a name that begins with ":", which the package keeps for its own columns. '
            "Rename the column before, or give the role as an expression with .alias(...)."
        )


def as_categories(values: Iterable[Category], column: Role, keyword: str) -> tuple[Category, ...]:
    """The distinct values in ascending order, after a check that the column can hold them."""
    distinct = list(dict.fromkeys(values))
    if not distinct:
        raise ValueError(f"{keyword} must name at least one category, got none")
    labels = is_label(column.dtype)
    for value in distinct:
        where = (
            f"{keyword}: {value!r} cannot be a category of {column.name!r}, which is {column.dtype}"
        )
        if isinstance(value, str) != labels or not isinstance(value, Category):
            raise TypeError(f"{where}. Its categories are {_category_kind(column.dtype, keyword)}.")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{where}. For missing outcomes pass missing=.")
        if isinstance(column.dtype, pl.Enum) and value not in column.dtype.categories:
            raise ValueError(f"{where}. It is none of {known_text(value, column.dtype.categories)}")
        if column.dtype == pl.Boolean and value not in (0, 1):
            raise ValueError(f"{where}. It holds true and false.")
    return tuple(sorted(distinct))


def _category_kind(dtype: pl.DataType, keyword: str) -> str:
    """The words for the categories of a dtype: the labels themselves if it declares them."""
    if isinstance(dtype, pl.Enum):
        return f"the labels {dtype.categories.to_list()}"
    if not is_label(dtype):
        return "numbers"
    return "labels" + ': name one of them, as in missing="wrong"' * keyword.endswith("missing")
