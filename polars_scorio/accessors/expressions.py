"""The accessor `.scorio` on Polars expressions: a metric wherever an aggregation is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, ParamSpec, Protocol

import numpy as np
import polars as pl

from polars_scorio import metrics
from polars_scorio.arguments import CONFIDENCE
from polars_scorio.counting.categories import Classes, alike_labels, counted_classes
from polars_scorio.counting.log import Trials, bind_roles
from polars_scorio.counting.roles import USUAL_ROLES, Category, Roles
from polars_scorio.counting.tally import class_members, class_of_trial, stray_category
from polars_scorio.maths.array_rows import Ints
from polars_scorio.metrics.from_text import check_metric, unknown_method
from polars_scorio.metrics.metric import Metric, MetricOfCounts
from polars_scorio.signatures import takes_options, with_signature
from polars_scorio.study.request import ExpressionOptions
from polars_scorio.subjects import SUBJECTS

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
_LISTS = ":lists"

_RETURNS = "Expr\n    The estimate of the group, as `estimate` describes it; of `k` a single one."


class EstimateMethod(Protocol[P]):
    """The type of `ScorioExpr.pass_at_k` and the others: a method, not a function in a field.

    Type checkers disagree on functions that are assigned in a class; on `__get__` they agree.
    """

    def __get__(self, accessor: object, owner: type) -> Callable[P, pl.Expr]:
        """The metric's function, but for what it returns."""


def estimate_method(function: Callable[P, Metric]) -> EstimateMethod[P]:
    """The method that returns the estimate of a metric, with the keywords and the help of it."""

    def method(self: ScorioExpr, *arguments: P.args, **options: P.kwargs) -> pl.Expr:
        return self.estimate(function(*arguments, **options))

    written = signature(function)
    itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    public = written.replace(
        parameters=[itself, *written.parameters.values()], return_annotation=pl.Expr
    )
    method.__name__ = function.__name__
    method.__qualname__ = f"ScorioExpr.{function.__name__}"
    return with_signature(method, public, function.__doc__, {}, Returns=_RETURNS)


class ScorioExpr:
    """Metrics of the categories in a column, as aggregations: a group is one question.

    `pl.col("category").scorio` takes 0/1 and true/false; `pl.col("grade").scorio(success="good")`
    says what other categories mean. An expression gives the estimate that a report with
    ``per="question"`` gives for a question with the trials of the group. Use it in
    `group_by().agg`, in `select`, or in a window with `.over(...)`.

    The usual metrics are methods with the arguments of their functions and a single `k`; `estimate`
    takes all others but `vote_at_k`, which needs the answers too. Floats without `success`,
    `threshold` or `w` are rewards, for `avg`, `max_at_k` and `ps.min_at_k`.

    Parameters
    ----------
    expr : Expr
        The categories: one for each trial.
    roles : Roles, optional
        Their meaning; `ps.scorio(expr, ...)` and `expr.scorio(...)` make them.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio
    >>> trials = pl.DataFrame({"question": [1, 1, 1, 2, 2, 2], "category": [0, 1, 1, 0, 0, 1]})
    >>> passed = pl.col("category").scorio.pass_at_k(2).alias("pass_at_2").round(4)
    >>> trials.group_by("question").agg(passed).sort("question").rows()
    [(1, 1.0), (2, 0.6667)]
    >>> trials.filter(passed.over("question") == 1)["question"].to_list()
    [1, 1, 1]
    """

    def __init__(self, expr: pl.Expr, roles: Roles | None = None) -> None:
        self._expr = expr
        self._roles = roles or USUAL_ROLES

    if not TYPE_CHECKING:  # checkers would take it for a promise of every name

        def __getattr__(self, name: str) -> object:
            """Answer an unknown name with the call of that metric, or the nearest method."""
            raise unknown_method("an accessor of an expression", name, type(self), "estimate")

    def __repr__(self) -> str:
        return f"<scorio of {self._expr}>"

    @takes_options(ExpressionOptions, usual=Roles)
    def __call__(self, **roles: Unpack[ExpressionOptions]) -> ScorioExpr:
        """Accessor of the expression with a meaning of its categories, as in `Scorio.__call__`.

        Parameters
        ----------
        success : category or several of them, optional
            The categories that are successes; required for labels. Default: 1 or true. Unlike a
            report, an expression does not warn if no category of the column is one of them.
        threshold : float, optional
            A trial succeeds if its number is at least this one. NaN is missing; a comparison such
            as ``pl.col("reward") >= 0.5`` would count it as a success.
        missing : category, "error" or "drop"
            Meaning of a null or NaN category, as of a crash: an error, a trial to leave out, or a
            category, such as ``missing=0``.

        Returns
        -------
        ScorioExpr
            The accessor with these roles.

        Raises
        ------
        TypeError
            If one of them is no category.
        ValueError
            If `threshold` is not finite, or comes together with `success`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> grades = pl.DataFrame({"grade": ["good", "bad", None]})
        >>> grade = pl.col("grade").scorio(success="good", missing="drop")
        >>> grades.select(grade.avg()).item()
        0.5
        """
        return ScorioExpr(self._expr, self._roles.updated(roles))

    @takes_options()
    def estimate(self, metric: Metric) -> pl.Expr:
        """Value of a metric from the trials of the group alone.

        Parameters
        ----------
        metric : Metric
            A metric with a single k: ``estimate(ps.pass_at_k(4))`` is ``pass_at_k(4)``.

        Returns
        -------
        Expr
            Float64, under the name of the column. Null if k exceeds the trials of the group, or the
            group has no trial.

        Raises
        ------
        TypeError, ValueError
            At the call: if `metric` is no metric or has more than one k, or contradicts `success`
            or `missing`. When the rows are read: for missing or unknown categories.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> trials = pl.DataFrame({"category": [0, 1, 2]})
        >>> trials.select(pl.col("category").scorio.estimate(ps.bayes([0, 0.5, 1]))).item()
        0.5
        >>> rewards = pl.DataFrame({"f1": [0.25, 0.5, 0.75]})
        >>> rewards.select(pl.col("f1").scorio.max_at_k(2).round(4)).item()
        0.6667
        """
        check_metric(metric, "estimate takes a metric")
        return self._counted(MetricOfCounts(metric, posterior=False))

    @takes_options()
    def posterior(self, metric: Metric, *, confidence: float = CONFIDENCE) -> pl.Expr:
        """Estimate, posterior mean and credible interval for the trials of the group.

        Parameters
        ----------
        metric : Metric
            A metric with a single k, such as `ps.pass_at_k(4)`.
        confidence : float
            Probability of the credible interval.

        Returns
        -------
        Expr
            A struct of estimate, mu, sigma, lo and hi (Float64), under the name of the column. Null
            if the group has no trial.

        Raises
        ------
        TypeError, ValueError
            As `estimate`; and if `confidence` lies outside (0, 1).

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> trials = pl.DataFrame({"category": [0, 1, 1, 0, 1]})
        >>> posterior = pl.col("category").scorio.posterior(ps.pass_hat_k(2))
        >>> trials.select(posterior).unnest("category").select(pl.all().round(4)).row(0)
        (0.3, 0.3571, 0.1978, 0.0, 0.7448)
        """
        check_metric(metric, "posterior takes a metric")
        return self._counted(MetricOfCounts(metric, confidence))

    avg = estimate_method(metrics.avg)
    bayes = estimate_method(metrics.bayes)
    g_pass_at_k_tau = estimate_method(metrics.g_pass_at_k_tau)
    maj_at_k = estimate_method(metrics.maj_at_k)
    max_at_k = estimate_method(metrics.max_at_k)
    pass_at_k = estimate_method(metrics.pass_at_k)
    pass_hat_k = estimate_method(metrics.pass_hat_k)

    def _counted(self, answer: MetricOfCounts) -> pl.Expr:
        """Count the categories of the group, and answer from the counts alone."""
        if self._expr.meta.has_multiple_outputs():
            raise ValueError(
                f"a metric is one of a single column, got {self._expr}. Write an expression for "
                "each column."
            )
        w = answer.metric.w
        weighted = None if w is None else tuple(category for category, _ in w)
        tally = GroupTally(self._roles, weighted)
        candidates = (subject.listed(answer, self._roles) for subject in SUBJECTS)
        listed = next((each for each in candidates if each is not None), None)
        lists = [] if listed is None else [listed.aggregation(self._expr).alias(_LISTS)]

        def answered(groups: pl.Series) -> pl.Series:
            """An answer for each group; Polars calls it with a part of the groups."""
            category, *columns = groups.struct.unnest().get_columns()
            counted = [column for column in columns if column.name != _LISTS]
            if listed is not None and category.dtype.is_float():
                tally.refuse_missing(category.name, counted)
                return listed.estimates(answer.metric, category.name, columns[-1])
            return answer(tally.counts(category.name, counted)).alias(category.name)

        # Elementwise on what was aggregated: a call for many groups, never one for each.
        return pl.struct(*tally.aggregations(self._expr), *lists).map_batches(
            answered, return_dtype=answer.dtype, is_elementwise=True
        )


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
        size = self._bound(name, self._likely_dtype())[1].size
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
            _, counted = self._bound(name, self._likely_dtype())
            raise ValueError(_stray_message(name, counted.known))
        return np.column_stack(members)

    def refuse_missing(self, name: str, columns: list[pl.Series]) -> None:
        """Refuse missing categories, which the first of the aggregated columns counts."""
        missing, *_ = columns
        if self.roles.missing == "error" and (missing > 0).any():
            raise ValueError(
                f"a missing category (null or NaN in {name!r}): "
                '.scorio(missing="drop") skips such trials; a category, as in missing=0, '
                "counts them as such."
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
                f"differ{'s' * (len(alike) == 1)} from a success only in case or spaces: name all "
                "spellings with .scorio(success=...), or make them one before with "
                ".str.strip_chars().str.to_lowercase()."
            )

    def _class_coding(self, name: str, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr]:
        """The category as it is counted, and its class."""
        trials, counted = self._bound(name, dtype)
        members = class_members(trials, counted)
        stray = stray_category(trials, counted, members)
        code = class_of_trial(members).fill_null(_MISSING)
        if stray is not None:
            code = pl.when(stray.is_not_null()).then(_STRAY).otherwise(code)
        return trials.outcome, code.cast(pl.Int32)

    def _bound(self, name: str, dtype: pl.DataType) -> tuple[Trials, Classes]:
        """A column of a dtype as the trials of one question, and the classes that are counted."""
        one = pl.lit(0).alias(name)
        roles = replace(self.roles, model=None, question=one, trial=None, category=name)
        trials = bind_roles(pl.LazyFrame(schema={name: dtype}), roles)
        weighted = [] if self.weighted is None else [self.weighted]
        return trials, counted_classes(trials, weighted, binary=self.weighted is None)

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
            f"a category that is not a whole number in {name!r}: pass the least reward of a "
            "success, as in .scorio(threshold=0.5)."
        )
    outside = "that is neither 0 nor 1" if known == (0, 1) else f"outside {list(known)}"
    return (
        f"a category {outside} in {name!r}: recode it, pass w with a weight for every category, or "
        "name in .scorio(success=...) those that count as success. Real-valued rewards have "
        "estimates of avg, max_at_k and min_at_k, and no posterior."
    )
