"""The tally of a group of trials whose category is an expression of any dtype."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from polars_scorio.counting.categories import Classes, alike_labels, counted_classes
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.counting.tally import class_members, class_of_trial, stray_category
from polars_scorio.maths.array_rows import Ints

_MISSING, _STRAY = -1, -2  # beside the classes 0, 1, ...


@dataclass(frozen=True, slots=True, eq=False)
class GroupTally:
    """From the categories in a group to its counts: the tally of a report, in an aggregation.

    The dtype of an expression is known at collection only. So a callback replaces each category by
    its class, as a report on a column of this dtype would, and classes are counted.
    """

    roles: Roles
    weighted: tuple[Category, ...] | None  # categories that a metric weighs
    _codings: dict[tuple[str, pl.DataType], tuple[pl.Expr, pl.Expr]] = field(default_factory=dict)

    def aggregations(self, outcome: pl.Expr) -> list[pl.Expr]:
        """A category, for its dtype; missing and stray trials; the trials of each class."""
        name = outcome.meta.output_name(raise_if_undetermined=False) or "category"
        size = self._group_classes(name, self._likely_dtype()).size
        code = outcome.map_batches(self._class_codes, return_dtype=pl.Int32(), is_elementwise=True)
        wanted = [_MISSING, _STRAY, *range(size)]
        return [outcome.first(), *((code == j).sum().alias(f":{j}") for j in wanted)]

    def counts(self, name: str, columns: list[pl.Series]) -> Ints:
        """Trials by class, a row for each group, of the aggregated columns.

        A callback sees some of the groups, not always the same: no message can say how many.
        """
        self.refuse_missing(name, columns)
        _, stray, *members = (column.to_numpy().astype(np.int64) for column in columns)
        if stray.any():
            raise ValueError(
                _stray_message(name, self._group_classes(name, self._likely_dtype()).known)
            )
        return np.column_stack(members)

    def refuse_missing(self, name: str, columns: list[pl.Series]) -> None:
        """Refuse missing categories, which the first of the aggregated columns counts."""
        missing, *_ = columns
        if self.roles.missing == "error" and (missing > 0).any():
            raise ValueError(
                f"a missing category (null or NaN in {name!r}): "
                '.scorio(missing="drop") leaves such trials out; a category, as in missing=0, '
                "counts them as that."
            )

    def _class_codes(self, column: pl.Series) -> pl.Series:
        """The class of each trial; `_MISSING` or `_STRAY` if it has none."""
        column = column.alias(column.name or "category")
        key = (column.name, column.dtype)
        if key not in self._codings:  # Polars calls several times, with a part of the trials each
            self._codings[key] = self._class_coding(*key)
        outcome, code = self._codings[key]
        if column.dtype in (pl.String, pl.Categorical):
            self._refuse_alike(column)
        return column.to_frame().select(outcome).select(code).to_series()

    def _refuse_alike(self, labels: pl.Series) -> None:
        """Refuse labels that are spelled like a success; as above, no message can say how many."""
        if self.weighted is not None:
            return
        success = self.roles.successes or ()
        alike = sorted(alike_labels(labels.unique().drop_nulls().cast(pl.String), success))
        if alike:
            raise ValueError(
                f"{', '.join(map(repr, alike))} in {labels.name!r} would count as failure, and "
                f"differ{'s' * (len(alike) == 1)} from a success in case or spaces alone: name all "
                "spellings with .scorio(success=...), or make them one before with "
                ".str.strip_chars().str.to_lowercase()."
            )

    def _class_coding(self, name: str, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr]:
        """The outcome of a trial, and the class of an outcome, in a column of a dtype."""
        trials = bind_roles(pl.LazyFrame(schema={name: dtype}), self._roles_of(name))
        counted = self._group_classes(name, dtype)
        members = class_members(trials, counted)
        stray = stray_category(trials, counted, members)
        code = class_of_trial(members).fill_null(_MISSING)
        if stray is not None:
            code = pl.when(stray.is_not_null()).then(_STRAY).otherwise(code)
        return trials.outcome, code.cast(pl.Int32)

    def _group_classes(self, name: str, dtype: pl.DataType) -> Classes:
        """The classes that a report on a column of this name and dtype would count."""
        column = pl.LazyFrame(schema={name: dtype})
        weighted = [] if self.weighted is None else [self.weighted]
        trials = bind_roles(column, self._roles_of(name))
        return counted_classes(trials, weighted, binary=self.weighted is None)

    def _roles_of(self, name: str) -> Roles:
        return replace(
            self.roles, model=None, question=pl.lit(0).alias(name), trial=None, category=name
        )

    def _likely_dtype(self) -> pl.DataType:
        """A dtype that holds the categories that are named: the checks of a call need one."""
        stand_in = [value for value in [self.roles.missing] if value not in ("error", "drop")]
        named = [*(self.roles.successes or ()), *(self.weighted or ()), *stand_in]
        words = [isinstance(value, str) for value in named]
        if any(words) and not all(words):
            raise TypeError(f"categories must be all labels or all numbers, got {named}")
        if any(words):
            return pl.String()
        return pl.Int128() if isinstance(self.roles.missing, int) else pl.Float64()


def _stray_message(name: str, known: tuple[Category, ...] | None) -> str:
    """The message on a category that is in none of the classes."""
    if known is None:
        return (
            f"a category that is not a whole number in {name!r}: say from where on a reward is a "
            "success, for instance with .scorio(threshold=0.5)."
        )
    outside = "that is neither 0 nor 1" if known == (0, 1) else f"outside {list(known)}"
    return (
        f"a category {outside} in {name!r}: recode it, pass w with a weight for every category, or "
        "name in .scorio(success=...) those that count as success. Real-valued rewards have "
        "estimates of avg, max_at_k and min_at_k, and no posterior."
    )
