"""The accessor `.scorio` on Polars frames: which column plays which part, and what to ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_scorio.accessors.base import FrameT
from polars_scorio.accessors.decisions import DecisionMethods
from polars_scorio.accessors.display import ReaderMethods
from polars_scorio.accessors.expressions import ScorioExpr
from polars_scorio.accessors.frontiers import CostMethods
from polars_scorio.accessors.gates import GateMethods
from polars_scorio.accessors.judges import JudgeMethods
from polars_scorio.accessors.metrics import MetricMethods
from polars_scorio.accessors.planning import PlanMethods
from polars_scorio.accessors.questions import QuestionMethods
from polars_scorio.arguments import InferenceKind, value_text
from polars_scorio.counting.judge_counts import JudgeSample
from polars_scorio.counting.roles import Category, Column, Roles, Unscored
from polars_scorio.kernels.posteriors import Target
from polars_scorio.reporting.options import ExpressionOptions, RoleOptions, chosen_options
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_scorio.rubrics.rubric import Rubric, Thresholds


@pl.api.register_dataframe_namespace("scorio")
@pl.api.register_lazyframe_namespace("scorio")
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
    """Ask a log of trials: its methods report, compare, rank, plan and draw.

    The log has a row for each trial. `df.scorio` takes the default column names; `df.scorio(...)`
    says which column has which role. From a DataFrame you get DataFrames. From a LazyFrame you get
    LazyFrames, and only its schema is read before you collect them.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        The log: one row per trial.
    roles : Roles, optional
        Which column plays which part; `ps.scorio(frame, ...)` and `df.scorio(...)` make them.
    chosen : dict, optional
        The `inference`, `target`, `confidence` and `anytime` of all methods, made likewise.
    tool_totals : DataFrame, optional
        What the tool that wrote the log says of its runs, for `coverage`; readers of logs find it.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio
    >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
    >>> trials = pl.DataFrame(columns)
    >>> trials.scorio(trial=None).avg().select("model", "metric", "questions", "mu").row(0)
    ('m', 'avg', 2, 0.75)
    """

    @takes_options()
    def __call__(
        self,
        *,
        model: Column | None = "model",
        question: Column = "question",
        trial: Column | None = "trial",
        category: Column = "category",
        by: Column | Iterable[Column] | None = (),
        success: Category | Iterable[Category] | None = None,
        threshold: float | None = None,
        missing: Category = "error",
        n: int | None = None,
        count: Column | None = None,
        levels: Iterable[float] | None = None,
        cluster: Column | None = None,
        answer: Column | None = None,
        truth: Column | None = None,
        judge: JudgeSample | pl.DataFrame | None = None,
        cost: Column | None = None,
        bounds: tuple[float, float] | None = None,
        validate: bool = True,
        unscored: Unscored = "error",
        inference: InferenceKind | None = None,
        target: Target = "benchmark",
        confidence: float = 0.95,
        anytime: int | None = None,
    ) -> Scorio[FrameT]:
        """Say which column plays which part; what is not named keeps its default.

        Every role is a column name or an expression. Prefer names: a filter on a result column that
        is a plain column of the log reaches the scan of the file.

        Parameters
        ----------
        model : str, Expr or None
            Who made the trial. None: the frame holds one model, and the result no such column.
        question : str or Expr
            The unit that is averaged over. The same question under two models is the same question;
            in two strata it is two.
        trial : str, Expr or None
            Identifies the trial, so that a row that is there twice is found. None: rows carry no
            such id, and nothing is checked.
        category : str or Expr
            The outcome: Boolean, integers, labels; or floats, which are real-valued rewards unless
            all of them are 0 and 1, or `success`, `threshold`, `levels` or a `w` says what they
            mean.
        by : str, Expr or several of them
            Strata such as the benchmark or the temperature; results are per stratum and model. Of a
            set, in the order of the names.
        success : category or several of them, optional
            Which categories are successes for binary metrics. Default: 1 or true. Labels need it.
        threshold : float, optional
            The category column holds a number, and a trial succeeds if it reaches the threshold.
            NaN is missing. Prefer it to a comparison as the category, which Polars answers with
            true for NaN; such a comparison is an error if the log has NaN there.
        missing : category, "error" or "drop"
            What a null or NaN category means, a crashed or unscored trial: an error; nothing, but
            counted in the column `dropped`; or a category, as in ``missing=0``.
        n : int, optional
            Every question must have exactly `n` trials. It costs nothing and finds files that were
            read twice even where rows carry no trial id.
        count : str or Expr, optional
            Multiplicities, for rows that are already counted, for instance by `Scorio.counts` or by
            ``SELECT model, question, category, count(*)``.
        levels : several floats, optional
            The category column holds the reward itself, which is one of these (within 1e-6); they
            are the weights of `bayes`, `avg` and `max_at_k` without `w`. Any other reward is an
            error. Binary metrics need `success`, unless the levels are 0 and 1.
        cluster : str or Expr, optional
            Questions that belong together: paraphrases, questions about one passage, languages of
            one problem. They succeed and fail together, so that they say less about other questions
            than as many independent ones. With ``target="population"`` intervals and comparisons
            take the clusters as the sample (E. Miller 2024, arXiv:2411.00640); about these very
            questions they change nothing. A question is in one cluster, and a sample has several:
            one with more than a third of the questions is warned of. Strata are independent samples
            to ``overall="macro"``; where they share clusters, ask for "micro".
        answer : str or Expr, optional
            What the trial answered, as `ps.vote_at_k` compares it: words, numbers, lists. Null (or
            NaN): it has no vote. No other metric looks at it.
        truth : str or Expr, optional
            What a person said of the trial, if the category is the verdict of a judge (a model, a
            regular expression, a checker): true or false, or a category, of which those in
            `success` (or beyond the `threshold`) are right. Null where nobody looked. Numbers are
            then about the truth: `avg` by the labels on these trials, which may depend on the
            verdict at most, or be those of whole questions at random; metrics of draws by the
            sensitivity and the specificity of the judge. Reports have the columns `judged`, the
            estimate from the verdicts as they are, and `labels`. About a population of clusters
            there is `avg` alone. Each model needs 10 labels;
            `ps.sample_to_label` says which trials to label, `judge_agreement` how good the judge
            is.
        judge : Judge or DataFrame, optional
            Instead, how reliable the judge is by labels from elsewhere: `ps.judge`, or a frame with
            the columns verdict and truth (true or false), count, and model if each model has a
            sample of its own. It assumes that the judge errs as often here as there, whatever the
            question and the model. Which of two models is better then needs no correction, by how
            much does; but a judge who favours one model makes false winners, which only labels on
            both models repair.
        cost : str or Expr, optional
            Cost of the trial in dollars, tokens or seconds, as `ps.mean_cost`,
            `ps.cost_per_success` and `ps.cost_to_solve` need it; no other metric reads it. A cost
            is a number from 0 to 134,217,727; null is an error, as is a log with `count`.
        bounds : tuple of float, optional
            The category column holds real-valued rewards, and these are the least and the largest
            that there may be: what `avg`, `max_at_k` and `min_at_k` then assume of rewards that
            were not seen. A reward outside is an error. Default: metrics say it, or the range is
            that of the rewards of all models (of the stratum), which promises nothing about others.
        validate : bool
            False skips the check for duplicate trials, and does not read the trial column at all.
            Integers 0, 1, ..., n - 1 or 1, 2, ..., n are known by the sum of their hashes (others
            that nobody chose have one of these with probability 2^-63), so that none is kept.
            Questions with other integers, gaps or seeds, are read a second time and compared
            exactly; words, in the one pass, by 64 bits of hash, which hides no repetition. Memory
            for these grows with trials.
        unscored : "error" or "drop"
            What a question without any outcome means, where ``missing="drop"`` leaves none of its
            trials (or `count` says that it has none): an error; or nothing, but counted in a column
            `unscored` that reports per model, leaderboards and `coverage` then have. A model of
            which no question is left is an error.
        inference : "published", "pooled" or "calibrated", optional
            What mu, sigma and intervals rest on, as `report` describes it, in all that this
            accessor does; the same keyword in a method replaces it there. Default: "calibrated"
            for every metric that it can answer, "published" for `bayes` and for posteriors.
        target : "benchmark" or "population"
            What numbers are about, as `report` describes it, in all that this accessor does.
        confidence : float
            Of all intervals and verdicts.
        anytime : int, optional
            Planned trials of each question (about a population: planned questions), written down
            before the first look: all intervals and verdicts then hold at every look, as `report`
            describes it.

        Returns
        -------
        Scorio
            The accessor with these roles.

        Raises
        ------
        TypeError
            If a role is neither a name nor an expression, or a category neither word nor number.
        ValueError
            If `n` is not a positive int, `levels`, `threshold` or `bounds` are not numbers, a
            category has more than 64 bits, `threshold` comes together with `success` or `levels`,
            `bounds` with one of the three, or `count` with `trial`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> log = pl.DataFrame({"llm": ["a", "a"], "task": [1, 2], "reward": [0.2, 0.9]})
        >>> solved = log.scorio(
        ...     model="llm", question="task", trial=None, category="reward", threshold=0.5
        ... )
        >>> solved.avg().select("llm", "mu").row(0)
        ('a', 0.5)
        """
        frame = self.frame  # first, so that an error below leaves no cycle either
        roles = Roles(
            model=model,
            question=question,
            trial=trial,
            category=category,
            by=by,
            success=success,
            threshold=threshold,
            missing=missing,
            n=n,
            count=count,
            levels=levels,
            cluster=cluster,
            answer=answer,
            truth=truth,
            judge=judge,
            cost=cost,
            bounds=bounds,
            validate=validate,
            unscored=unscored,
        )
        chosen = chosen_options(inference, target, confidence, anytime)
        return Scorio(frame, roles, chosen, self._tool_totals)

    @takes_options()
    def rubric(
        self,
        rubric: Rubric,
        *,
        over: Column | Iterable[Column] | None = None,
        thresholds: Thresholds | None = None,
    ) -> Scorio[FrameT]:
        """Take the category of each trial from a rubric; all other roles stay.

        Parameters
        ----------
        rubric : Rubric
            One of `ps.rubrics`, or your own.
        over : str, Expr or several of them
            The strata (datasets) within which percentiles are taken, over all models together and
            all rows of the frame: a filter on the models of the result changes no number, but all
            models are read. ``over=()``: the whole frame is one, the default where there is no
            `by`. With `by` and percentiles it must be said: `by` may name datasets, but also
            temperatures or steps.
        thresholds : dict of float or DataFrame, optional
            Numbers in place of the percentiles, by name, or a row for each stratum of `over`, as
            `ps.rubrics.thresholds` returns. Runs that are compared must share their thresholds, and
            so must data and `prior` trials, which else have percentiles of their own. With them a
            filter on the models reaches the scan of the file.

        Returns
        -------
        Scorio
            The accessor with the labels of the rubric as categories, under its name. Unless
            `success` was given, the rubric's own `success` labels are it. A null or NaN signal that
            decides the category makes it missing, so that `missing` says what happens.

        Raises
        ------
        ColumnNotFoundError
            If the frame lacks a signal or a column of `over`.
        TypeError, ValueError
            As `Rubric.expr`; if percentiles were to be taken of rows that are already counted; and
            if there are strata, a rubric takes percentiles, and `over` is not said.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> columns = {"model": "m", "question": [1, 1], "repeated_pattern": 0, "C": [0.1, 0.9]}
        >>> log = pl.DataFrame({**columns, "is_correct": 1})
        >>> exact = ps.rubrics.exact_match()
        >>> log.scorio(trial=None).rubric(exact).avg(w=exact.weights(invalid=-1))["mu"].item()
        0.0
        """
        from polars_scorio.rubrics.rubric import (
            Rubric,
            refuse_absent,
        )

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
    """The accessor of a frame, `df.scorio`, as a function that type checkers understand.

    ``scorio(df, ...)`` and ``df.pipe(scorio, ...)`` are ``df.scorio(...)``; of an expression it is
    ``expr.scorio(...)``.

    Parameters
    ----------
    frame : DataFrame, LazyFrame or Expr
        The log, or the categories: of those, `success`, `threshold` and `missing` alone are said.

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
    >>> trials.pipe(ps.scorio, trial=None).avg()["mu"].item()
    0.5
    """
    if isinstance(frame, pl.DataFrame):
        return Scorio(frame)(**roles)
    if isinstance(frame, pl.LazyFrame):
        return Scorio(frame)(**roles)
    if isinstance(frame, pl.Expr):
        return ScorioExpr(frame)(**roles)  # type: ignore[misc]  # the overload knows which
    raise TypeError(f"frame must be a Polars DataFrame, LazyFrame or Expr, got {frame!r}")
