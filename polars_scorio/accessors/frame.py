"""The accessor `.scorio` on Polars frames: which column plays which part, and what to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, overload

import polars as pl

from polars_scorio import metrics
from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.accessors.decisions import DecisionMethods, GateMethods, JudgeMethods
from polars_scorio.accessors.display import CostMethods, QuestionMethods, ReaderMethods
from polars_scorio.accessors.expressions import ScorioExpr
from polars_scorio.accessors.planning import PlanMethods
from polars_scorio.arguments import value_text
from polars_scorio.counting.roles import Column, Roles
from polars_scorio.metrics.metric import Bounds, DrawSizes, Metric, Weights
from polars_scorio.signatures import (
    FunctionT,
    option_keywords,
    shared_entries,
    takes_options,
    with_signature,
)
from polars_scorio.study.request import (
    ExpressionOptions,
    InferenceOptions,
    ReportOptions,
    RoleOptions,
    chosen_options,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_scorio.rubrics.rubric import Rubric, Thresholds

_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
_REPORT = "DataFrame or LazyFrame\n    The report of this metric alone, as `report` describes it."
_SEE_ALSO = """report : Several metrics from one count, and the columns of the result.
compare : Differences between models, by any metric.
rank : The order of the models, by any metric."""


class MetricOptions(ReportOptions, total=False):
    """The keywords of every metric, and those of a report."""

    bounds: Bounds | None
    name: str | None


def with_help_of_metric(method: FunctionT) -> FunctionT:
    """Give a method the help and every keyword of the metric of its name, and of a report."""
    function: Callable[..., Metric] = getattr(metrics, method.__name__)
    parameters, shared = signature(function).parameters.values(), option_keywords(ReportOptions)
    taken = [_SELF, *parameters, *(option for option, _ in shared.values())]
    public = signature(method).replace(parameters=taken)
    sections = {"Returns": _REPORT, "See Also": _SEE_ALSO}
    entries = shared_entries(shared, "report")
    return with_signature(method, public, function.__doc__, entries, **sections)


class MetricMethods(Accessor[FrameT]):
    """The usual metrics as methods of a log: each is the report of that metric alone.

    Their functions have the arguments, the defaults and the help; the methods name them again for
    type checkers and editors, and a test compares both.
    """

    @with_help_of_metric
    def avg(self, w: Weights | None = None, **options: Unpack[MetricOptions]) -> FrameT:
        """avg@N: average score of the trials, with its interval."""
        return self._report_of(metrics.avg, w, **options)

    @with_help_of_metric
    def bayes(self, w: Weights | None = None, **options: Unpack[MetricOptions]) -> FrameT:
        """Bayes@N: posterior mean of the average score, after all trials."""
        return self._report_of(metrics.bayes, w, **options)

    @with_help_of_metric
    def g_pass_at_k_tau(self, k: DrawSizes, tau: float, **options: Unpack[MetricOptions]) -> FrameT:
        """G-Pass@k_tau: share of draws of k trials of which at least tau succeed."""
        return self._report_of(metrics.g_pass_at_k_tau, k, tau, **options)

    @with_help_of_metric
    def maj_at_k(self, k: DrawSizes | None = None, **options: Unpack[MetricOptions]) -> FrameT:
        """Maj@k: share of draws of k trials whose majority succeeds."""
        return self._report_of(metrics.maj_at_k, k, **options)

    @with_help_of_metric
    def max_at_k(
        self,
        k: DrawSizes,
        w: Weights | None = None,
        *,
        bounds: Bounds | Literal["range"] | None = "range",
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Max@k: mean score of the best of k trials."""
        return self._report_of(metrics.max_at_k, k, w, bounds=bounds, name=name, **options)

    @with_help_of_metric
    def pass_at_k(self, k: DrawSizes, **options: Unpack[MetricOptions]) -> FrameT:
        """Pass@k: share of draws of k trials with at least one success."""
        return self._report_of(metrics.pass_at_k, k, **options)

    @with_help_of_metric
    def pass_hat_k(self, k: DrawSizes, **options: Unpack[MetricOptions]) -> FrameT:
        """Pass^k: share of draws of k trials that all succeed."""
        return self._report_of(metrics.pass_hat_k, k, **options)

    @with_help_of_metric
    def vote_at_k(
        self,
        k: DrawSizes,
        ties: Literal["split", "fail"] = "split",
        **options: Unpack[MetricOptions],
    ) -> FrameT:
        """Vote@k, self-consistency: share of draws whose most frequent answer is right."""
        return self._report_of(metrics.vote_at_k, k, ties, **options)

    def _report_of(
        self,
        function: Callable[..., Metric],
        *arguments: object,
        **options: Any,  # noqa: ANN401 - the function and `report` check them
    ) -> FrameT:
        """The report of one metric, from the keywords of its function and those of `report`."""
        metric_options = options.keys() & signature(function).parameters.keys()
        metric = function(*arguments, **{name: options.pop(name) for name in metric_options})
        return self.report(metric, **options)


class Scorio(
    MetricMethods[FrameT],
    DecisionMethods[FrameT],
    GateMethods[FrameT],
    JudgeMethods[FrameT],
    PlanMethods[FrameT],
    QuestionMethods[FrameT],
    CostMethods[FrameT],
    ReaderMethods[FrameT],
):
    """Accessor of a log of trials: its methods report, compare, rank, plan and draw.

    The log has a row for each trial. `df.scorio` uses the default column names; `df.scorio(...)`
    says which column has which role. A DataFrame returns DataFrames. A LazyFrame returns
    LazyFrames, and only its schema is read before you collect them.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        The log: one row per trial.
    roles : Roles, optional
        Which column has which role; made by `ps.scorio(frame, ...)` and `df.scorio(...)`.
    chosen : dict, optional
        `prior`, `target`, `confidence` and planned numbers of all methods, made likewise.
    tool_totals : DataFrame, optional
        Totals of the runs according to the tool that wrote the log, for `describe`.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio
    >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
    >>> trials = pl.DataFrame(columns)
    >>> trials.scorio(trial=None).avg().select("model", "metric", "questions", "estimate").row(0)
    ('m', 'avg', 2, 0.75)
    """

    @takes_options(RoleOptions, usual=Roles)
    def __call__(self, **roles: Unpack[RoleOptions]) -> Scorio[FrameT]:
        """Accessor with these roles, each a column name or an expression.

        A second call keeps roles and options that it does not name; None restores a default.

        Parameters
        ----------
        model : str, Expr or None
            Model, agent or version that made the trial. None: the log has one model.
        question : str, Expr or iterable of them
            Question or task, over which scores are averaged; several columns may identify it.
        trial : str, Expr or None
            Id of the trial, to find rows that occur twice. None: no ids, no check.
        category : str or Expr
            Outcome: true or false, integers, labels, or floats. Floats other than 0 and 1 are
            real-valued rewards, unless `success`, `threshold` or `levels` says what they mean.
        by : str, Expr or several of them
            Strata, such as benchmark or temperature: results have rows for each stratum and model.
        success : category or several of them, optional
            The categories that are successes; required for labels. Default: 1 or true.
        threshold : float, optional
            A trial succeeds if its category is at least this number; NaN is missing.
        missing : category, "error", "drop" or "bounds"
            Meaning of a null or NaN category, as of a crash: "drop" leaves the trial out, one such
            as 0 replaces it, "bounds" makes intervals valid whatever it would have been.
        n : int, optional
            Number of trials that every question must have, to find files that were read twice.
        first : int, optional
            Count only the first trials of each question, so many, in the order of their ids.
        count : str or Expr, optional
            Number of trials that a row stands for, if the log is already counted.
        levels : several floats, optional
            All rewards that the category column may contain, which are its weights.
        cluster : str or Expr, optional
            What related questions share, such as a passage; matters for ``target="population"``.
        run : str or Expr, optional
            Run or seed of the trial, if questions share one: numbers are then about other runs too.
        run_effects : "own", "alike", "shared" or "none", optional
            How runs of several models vary; by default "own". With "none" only `check` uses them.
        answer : str or Expr, optional
            Answer of the trial, for `ps.vote_at_k`; null has no vote.
        truth : str or Expr, optional
            Human label of the trial (or null), if the category is the verdict of a judge: numbers
            are then corrected for the judge's errors.
        judge : Judge or DataFrame, optional
            Labels from elsewhere, in place of `truth`: made by `ps.judge`, or a frame with the
            columns verdict, truth, count, and model if each model has its own sample.
        cost : str or Expr, optional
            Cost of the trial in dollars, tokens or seconds, for metrics of costs.
        bounds : tuple of float, optional
            Lowest and highest reward that a trial may have, such as (0, 1). Default: the `bounds`
            of the metric, else the range in the log.
        lower_is_better : bool
            Whether lower scores are better, such as rates of errors: reverses ranks and verdicts.
        validate : bool
            Whether trial ids are checked for repeats, and trials are tested for independence.
        unscored : "error" or "drop"
            What a question without any outcome means: an error, or it is left out and counted.
        prior, target, confidence : optional
            Defaults of all methods, as in `report`.

        Returns
        -------
        Scorio
            The accessor with these roles.

        Raises
        ------
        TypeError, ValueError
            If an argument is not of the stated kind, or contradicts another one.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> log = pl.DataFrame({"llm": ["a", "a"], "task": [1, 2], "reward": [0.2, 0.9]})
        >>> roles = {"model": "llm", "question": "task", "category": "reward", "trial": None}
        >>> log.scorio(**roles, threshold=0.5).avg().select("llm", "estimate").row(0)
        ('a', 0.5)
        """
        named: dict[str, Any] = {**self._chosen, **roles}
        numbers = {name: named.pop(name) for name in InferenceOptions.__optional_keys__ & {*named}}
        chosen = chosen_options(numbers)
        return Scorio(self.frame, self._roles.updated(named), chosen, self._tool_totals)

    @takes_options()
    def rubric(
        self,
        rubric: Rubric,
        *,
        over: Column | Iterable[Column] | None = None,
        thresholds: Thresholds | None = None,
    ) -> Scorio[FrameT]:
        """Accessor that takes the category of each trial from a rubric; all other roles stay.

        Parameters
        ----------
        rubric : Rubric
            One of `ps.rubrics`, or your own.
        over : str, Expr or several of them
            The strata (datasets) within which percentiles are taken, over all models together;
            ``over=()`` is the whole frame. Required if the log has strata and the rubric
            percentiles.
        thresholds : dict of float or DataFrame, optional
            Numbers in place of the percentiles, by name, or a row for each stratum of `over`, as
            from `ps.rubrics.thresholds`. Runs that are compared must share their thresholds.

        Returns
        -------
        Scorio
            The accessor with the labels of the rubric as categories. Unless `success` was given,
            the rubric says which labels are successes. A null signal makes the category missing.

        Raises
        ------
        ColumnNotFoundError
            If the frame lacks a signal or a column of `over`.
        TypeError, ValueError
            As `Rubric.expr`; if `over` is required, or rows with percentiles are already counted.

        See Also
        --------
        report : Scores by the category of the rubric.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> columns = {"model": "m", "question": [1, 1], "repeated_pattern": 0, "C": [0.1, 0.9]}
        >>> log = pl.DataFrame({**columns, "is_correct": 1})
        >>> exact = ps.rubrics.exact_match()
        >>> log.scorio(trial=None).rubric(exact).avg(w=exact.weights(invalid=-1))["estimate"].item()
        0.0
        """
        from polars_scorio.rubrics.rubric import Rubric, refuse_absent

        if not isinstance(rubric, Rubric):
            raise TypeError(
                "rubric must be a Rubric such as ps.rubrics.exact_match(), got "
                + value_text(rubric)
            )
        schema = self._lazy().collect_schema()
        category = rubric.expr(over=() if over is None else over, thresholds=thresholds)
        refuse_absent(
            category.meta.root_names(),
            schema,
            f"the rubric {rubric.name!r}",
            "Signals are named where the rubric is made, strata with over=.",
        )
        if self._roles.count is not None and rubric.thresholds and thresholds is None:
            raise ValueError(
                f"the rubric {rubric.name!r} takes percentiles of trials, and count= means rows "
                "that stand for several: pass thresholds="
            )
        if over is None and rubric.thresholds and thresholds is None and self._roles.strata:
            raise ValueError(
                f"the rubric {rubric.name!r} takes percentiles, and the log has strata: name the "
                'column of the dataset within which they are taken, as in over="dataset", or '
                "pass over=() where all rows are of one"
            )
        success = rubric.success or None if self._roles.success is None else self._roles.success
        roles = replace(self._roles, category=category, success=success)
        return Scorio(self.frame, roles, self._chosen, self._tool_totals)


@overload
def scorio(frame: pl.DataFrame, **roles: Unpack[RoleOptions]) -> Scorio[pl.DataFrame]: ...
@overload
def scorio(frame: pl.LazyFrame, **roles: Unpack[RoleOptions]) -> Scorio[pl.LazyFrame]: ...
@overload  # as pyrefly and ty take a frame that is generic
def scorio(frame: FrameT, **roles: Unpack[RoleOptions]) -> Scorio[FrameT]: ...
@overload
def scorio(frame: pl.Expr, **roles: Unpack[ExpressionOptions]) -> ScorioExpr: ...
@takes_options(Scorio.__call__)
def scorio(
    frame: pl.DataFrame | pl.LazyFrame | pl.Expr, **roles: Unpack[RoleOptions]
) -> Scorio[Any] | ScorioExpr:
    """The accessor of a frame, `df.scorio(...)`, as a function that type checkers understand.

    Parameters
    ----------
    frame : DataFrame, LazyFrame or Expr
        The log, or an expression of categories (`success`, `threshold` and `missing` only).

    Returns
    -------
    Scorio or ScorioExpr
        An accessor that returns frames of the same kind, or expressions.

    Raises
    ------
    TypeError
        If `frame` is neither a Polars frame nor an expression.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": "m", "question": [1, 1], "category": [0, 1]})
    >>> trials.pipe(ps.scorio, trial=None).avg()["estimate"].item()
    0.5
    """
    if isinstance(frame, pl.DataFrame):
        return Scorio(frame)(**roles)
    if isinstance(frame, pl.LazyFrame):
        return Scorio(frame)(**roles)
    if isinstance(frame, pl.Expr):
        return ScorioExpr(frame)(**roles)  # type: ignore[misc]  # the overload knows which
    library = type(frame).__module__.partition(".")[0]
    cures = {"pandas": "pl.from_pandas(df)", "pyarrow": "pl.from_arrow(table)"}
    cure = f": use {cures[library]}" if library in cures else ""
    raise TypeError(
        f"frame must be a Polars DataFrame, LazyFrame or Expr, got {value_text(frame)}{cure}"
    )
