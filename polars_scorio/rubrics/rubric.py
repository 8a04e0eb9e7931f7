"""A rubric is a value: its categories, its signals, and the conditions that choose a category."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import polars as pl
import polars.selectors as cs
from polars.exceptions import ColumnNotFoundError

from polars_scorio.arguments import check_columns, check_number, value_tuple
from polars_scorio.counting.roles import Column

Thresholds: TypeAlias = "Mapping[str, float] | pl.DataFrame"
# Gives a condition its threshold, from the name and the expression of a percentile.
At = Callable[[str, pl.Expr], pl.Expr]
Cases = Callable[[At], Mapping[str, pl.Expr]]


@dataclass(frozen=True, slots=True, eq=False)
class Rubric:
    """A mapping of logged signals to one of several categories.

    `rubric` and the schemata make rubrics; `df.scorio.rubric` uses them.

    Attributes
    ----------
    name : str
        The name of the category column.
    labels : tuple of str
        The categories, in the order of the codes 0, 1, ..., C.
    signals : tuple of str
        The columns that the conditions read.
    thresholds : tuple of str
        The percentiles that the conditions compare with, by name.
    success : tuple of str
        The categories that count as success for binary metrics, unless the accessor says otherwise.
    example : mapping of str to float
        A weight for each category, as an example of what one may prefer.
    cases : callable
        From the way to take a threshold to the condition of each label, in the order in which they
        are checked.
    otherwise : str, optional
        The category of a row that meets no condition; None: null.
    """

    name: str
    labels: tuple[str, ...]
    signals: tuple[str, ...]
    thresholds: tuple[str, ...]
    success: tuple[str, ...]
    example: Mapping[str, float]
    cases: Cases = field(repr=False)
    otherwise: str | None = field(repr=False)

    def expr(
        self, *, over: Column | Iterable[Column] = (), thresholds: Thresholds | None = None
    ) -> pl.Expr:
        """The category of each row, under the name of the rubric.

        Parameters
        ----------
        over : str, Expr or several of them
            The strata (datasets) within which percentiles are taken, over all of their rows: all
            models, invalid attempts too. Default: the whole frame is one.
        thresholds : dict of float or DataFrame, optional
            Numbers in place of the percentiles: by name, as in ``{"ood": 0.4}``; or a row for each
            stratum of `over`, as `thresholds` returns. A stratum without a row has no category.

        Returns
        -------
        Expr
            Of dtype ``pl.Enum(labels)``. Null where a null or NaN signal decides the category: the
            conditions are checked in order, and one of them is null before any is true.

        Raises
        ------
        TypeError, ValueError
            If `thresholds` are none, lack one that is needed, or are not finite numbers; if they do
            not have exactly one row for each stratum.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> slow = ps.rubrics.rubric("pace", {"slow": pl.col("seconds") > 60}, otherwise="fast")
        >>> pl.DataFrame({"seconds": [70, 50, None]}).with_columns(slow.expr())["pace"].to_list()
        ['slow', 'fast', None]
        """
        labels = pl.Enum(self.labels)
        category = pl.lit(self.otherwise, labels)
        cases = self.cases(_threshold_source(self.name, over, thresholds))
        for label, condition in reversed([*cases.items()]):
            met = pl.when(condition).then(pl.lit(label, labels)).otherwise(category)
            category = pl.when(condition.is_not_null()).then(met)
        return category.alias(self.name)

    def weights(self, **named: float) -> dict[str, float]:
        """The dict `w` of this rubric: the weights that are named, and the example for all others.

        Parameters
        ----------
        **named : float
            A weight for each label that is to differ from `example`. A rubric without example
            weights needs them all.

        Returns
        -------
        dict of str to float
            One weight for each label, in the order of the labels.

        Raises
        ------
        ValueError
            If the rubric has no such label, or a label has no weight.

        Examples
        --------
        >>> import polars_scorio as ps
        >>> ps.rubrics.strict_compliance().weights(wrong=-1)
        {'invalid': 0.0, 'wrong': -1.0, 'correct_boxed': 1.0}
        """
        refuse_strangers(f"weights of the rubric {self.name!r}", named, self.labels)
        given = {**self.example, **checked_weights(named)}
        missing = [label for label in self.labels if label not in given]
        if missing:
            raise ValueError(
                f"the rubric {self.name!r} has no example weights: name one for each of its "
                f"labels; {missing} have none"
            )
        return {label: given[label] for label in self.labels}

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy `example` as a dict: a read-only mapping can be neither."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return _restored_rubric, ({**values, "example": dict(self.example)},)


def _restored_rubric(fields: dict[str, Any]) -> Rubric:
    """A rubric from its fields."""
    return Rubric(**{**fields, "example": MappingProxyType(fields["example"])})


def _user_cases(conditions: Mapping[str, pl.Expr], at: At) -> dict[str, pl.Expr]:
    """The cases of a user's rubric."""
    return {label: at(label, condition) for label, condition in conditions.items()}


def rubric(
    name: str,
    conditions: Mapping[str, pl.Expr],
    *,
    otherwise: str,
    weights: Mapping[str, float] | None = None,
    success: str | Iterable[str] = (),
) -> Rubric:
    """A rubric of your own.

    Parameters
    ----------
    name : str
        The name of the category column.
    conditions : dict of str to Expr
        The condition of each label, checked in this order: a row is in the category of the first
        one that is true. If one is null before that, the category is null, never `otherwise`. With
        ``over=`` each condition is evaluated within the strata, so that ``pl.col("s").quantile(q)``
        is the quantile of the stratum.
    otherwise : str
        The category of a row that meets no condition, the last label.
    weights : dict of str to float, optional
        Example weights: one for each label.
    success : str or several of them
        The labels that count as success for binary metrics.

    Returns
    -------
    Rubric

    Raises
    ------
    TypeError
        If a condition is no expression, or a label no word.
    ValueError
        If there is no condition, or `weights` or `success` name another label or lack one.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> conditions = {"failed": ~pl.col("passed"), "slow": pl.col("seconds") > 60}
    >>> agent = ps.rubrics.rubric("agent", conditions, otherwise="quick", success=["slow", "quick"])
    >>> log = pl.DataFrame(
    ...     {"model": "m", "question": 1, "passed": [False, True], "seconds": [9, 9]}
    ... )
    >>> log.with_columns(agent.expr())["agent"].to_list()
    ['failed', 'quick']
    >>> log.scorio(trial=None).rubric(agent).avg()["estimate"].item()
    0.5
    """
    if not isinstance(conditions, Mapping) or not conditions:
        raise TypeError(f"conditions must be a dict of label to expression, got {conditions!r}")
    for label, condition in conditions.items():
        if not isinstance(condition, pl.Expr):
            raise TypeError(f"the condition of {label!r} must be an expression, got {condition!r}")
    labels = tuple(dict.fromkeys([*conditions, otherwise]))
    for word in (name, *labels):
        if not isinstance(word, str):
            raise TypeError(f"name and labels of a rubric are words, got {word!r}")
    successes = value_tuple(success)
    refuse_strangers(f"success of the rubric {name!r}", successes, labels)
    example = {} if weights is None else checked_weights(weights)
    refuse_strangers(f"weights of the rubric {name!r}", example, labels)
    if example and len(example) < len(labels):
        lacking = [label for label in labels if label not in example]
        raise ValueError(f"weights of the rubric {name!r} lack {lacking}")

    return Rubric(
        name=name,
        labels=labels,
        signals=root_columns(conditions.values()),
        thresholds=(),
        success=tuple(label for label in labels if label in successes),
        example=MappingProxyType(example),
        cases=partial(_user_cases, dict(conditions)),  # a closure cannot be pickled
        otherwise=otherwise,
    )


def checked_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights of labels as floats."""
    return {
        label: check_number(f"the weight of {label!r}", number) for label, number in weights.items()
    }


def root_columns(expressions: Iterable[pl.Expr]) -> tuple[str, ...]:
    """The columns that expressions read, each once."""
    names = [name for expression in expressions for name in expression.meta.root_names()]
    return tuple(dict.fromkeys(names))


def refuse_strangers(
    what: str, named: Mapping[str, float] | Sequence[object], labels: Sequence[str]
) -> None:
    """Refuse labels that a rubric does not have."""
    strangers = [label for label in named if label not in labels]
    if strangers:
        raise ValueError(f"{what}: {strangers} are none of its labels {list(labels)}")


def refuse_absent(names: Sequence[str], schema: pl.Schema, what: str, way_out: str) -> None:
    """Refuse columns that a frame does not have."""
    for name in names:
        if name not in schema:
            raise ColumnNotFoundError(
                f"there is no column {name!r} for {what}; the columns are {schema.names()}. "
                f"{way_out}"
            )


def over_expressions(over: Column | Iterable[Column]) -> tuple[pl.Expr, ...]:
    """One column or several, names or expressions, as a tuple of expressions."""
    several = check_columns("over", over)
    return tuple(pl.col(column) if isinstance(column, str) else column for column in several)


def _threshold_source(
    name: str, over: Column | Iterable[Column], thresholds: Thresholds | None
) -> At:
    """The function that gives conditions a threshold: of the data, or as the user passed it."""
    strata = over_expressions(over)
    if thresholds is None:
        return lambda _, percentile: percentile.over(*strata) if strata else percentile
    numbers = _given_thresholds(strata, thresholds)

    def given(threshold: str, _: pl.Expr) -> pl.Expr:
        if threshold not in numbers:
            raise ValueError(
                f"thresholds lack {threshold!r}, which the rubric {name!r} takes from the data; "
                f"they have {list(numbers)}"
            )
        return numbers[threshold]

    return given


def _given_thresholds(strata: tuple[pl.Expr, ...], thresholds: Thresholds) -> Mapping[str, pl.Expr]:
    """The thresholds of the user by name: one number, or the number of each row's stratum."""
    if isinstance(thresholds, Mapping):
        if strata:
            raise ValueError(
                "thresholds of a dict hold for all rows: omit over=, or pass a frame with a "
                "row for each stratum"
            )
        return {
            name: pl.lit(check_number(f"the threshold {name!r}", number))
            for name, number in thresholds.items()
        }
    if not isinstance(thresholds, pl.DataFrame):
        raise TypeError(
            "thresholds must be a dict of numbers or a DataFrame as rubrics.thresholds returns it "
            f"(collect a LazyFrame first), got {thresholds!r}"
        )
    keys = [column.meta.output_name() for column in strata]
    refuse_absent(keys, thresholds.schema, "over in thresholds", "Take them over the same strata.")
    different = thresholds.select(keys).n_unique() if keys else 1
    if thresholds.height != different:
        raise ValueError(
            f"thresholds must have one row for each stratum of over={keys}, got "
            f"{thresholds.height} rows for {different}"
        )
    table = thresholds.select(pl.exclude(keys)).select(cs.numeric().cast(pl.Float64).fill_nan(None))
    if not strata:
        return {name: pl.lit(table[name].item(), pl.Float64) for name in table.columns}
    here = [_in_stratum(strata, row) for row in thresholds.select(keys).iter_rows()]
    unknown = pl.lit(None, pl.Float64)
    return {
        name: pl.coalesce(
            *(pl.when(at).then(number) for at, number in zip(here, table[name], strict=True)),
            unknown,
        )
        for name in table.columns
    }


def _in_stratum(strata: tuple[pl.Expr, ...], row: tuple[object, ...]) -> pl.Expr:
    """Whether a row belongs to a stratum."""
    pairs = zip(strata, row, strict=True)
    return pl.all_horizontal(column.eq_missing(pl.lit(value)) for column, value in pairs)
