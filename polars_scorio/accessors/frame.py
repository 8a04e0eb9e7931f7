"""The accessor `.scorio` on Polars frames: which column plays which part, and what to ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from polars_scorio.accessors.base import FrameT
from polars_scorio.accessors.decisions import DecisionMethods, GateMethods, JudgeMethods
from polars_scorio.accessors.display import CostMethods, QuestionMethods, ReaderMethods
from polars_scorio.accessors.expressions import ScorioExpr
from polars_scorio.accessors.metrics import MetricMethods
from polars_scorio.accessors.planning import PlanMethods
from polars_scorio.arguments import value_text
from polars_scorio.counting.judge_counts import JudgeSample
from polars_scorio.counting.roles import Category, Column, Roles, RunEffects, Unscored
from polars_scorio.maths.posteriors import Target
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import ExpressionOptions, Prior, RoleOptions, chosen_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_scorio.rubrics.rubric import Rubric, Thresholds


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
        The `prior`, `target`, `confidence` and planned numbers of all methods, made likewise.
    tool_totals : DataFrame, optional
        What the tool that wrote the log says of its runs, for `describe`; readers of logs find it.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio
    >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
    >>> trials = pl.DataFrame(columns)
    >>> trials.scorio(trial=None).avg().select("model", "metric", "questions", "estimate").row(0)
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
        family: Column | None = None,
        run: Column | None = None,
        run_effects: RunEffects | None = None,
        answer: Column | None = None,
        truth: Column | None = None,
        judge: JudgeSample | pl.DataFrame | None = None,
        cost: Column | None = None,
        bounds: tuple[float, float] | None = None,
        lower_is_better: bool = False,
        validate: bool = True,
        unscored: Unscored = "error",
        prior: Prior | None = None,
        target: Target = "benchmark",
        confidence: float = 0.95,
        planned_trials: int | None = None,
        planned_questions: int | None = None,
    ) -> Scorio[FrameT]:
        """Accessor whose columns have these roles, each a column name or an expression.

        Prefer names: filters on results then reach the scan of the file.

        Parameters
        ----------
        model : str, Expr or None
            Which model, agent or version made the trial. None: the log has one model, and results
            have no such column.
        question : str or Expr
            Which question or task the trial is of. Scores are means over questions. The same name
            under two models is one question; in two strata it is two questions.
        trial : str, Expr or None
            The id of the trial, so that a row that is there twice is an error. None: no ids, no
            check.
        category : str or Expr
            The outcome: true or false, integers, labels, or floats. Floats are real-valued rewards,
            unless all are 0 or 1, or `success`, `threshold`, `levels` or `w` says what they mean.
        by : str, Expr or several of them
            Strata, such as the benchmark or the temperature: results have a row for each stratum
            and model.
        success : category or several of them, optional
            Which categories are successes. Default: 1 or true. Labels need it; one that differs
            from a success in case or spaces alone is an error, unless an Enum declares it.
        threshold : float, optional
            The category column has numbers, and a trial succeeds if its number is at least this
            one; NaN is missing (in Polars NaN is larger than any number, so that a comparison as
            the category is an error if the log has NaN).
        missing : category, "error", "drop" or "bounds"
            What a null or NaN category means, mostly a trial that crashed: an error; "drop", which
            leaves the trial out and counts it in the column `dropped`; a category, such as
            ``missing=0``; or "bounds", for intervals and verdicts of `report`, `compare`, `gate`
            and pages that hold whatever the outcomes would have been.
        n : int, optional
            Every question must have exactly `n` trials, which finds files that were read twice.
        count : str or Expr, optional
            For how many trials a row stands, if the log is already counted, as by `Scorio.counts`.
        levels : several floats, optional
            The only rewards that the category column has (within 1e-6), such as 0, 0.5 and 1, which
            are the weights of `bayes`, `avg` and `max_at_k`. Metrics of success need `success` too,
            unless the levels are 0 and 1.
        cluster : str or Expr, optional
            Questions that belong together: paraphrases, questions about one passage, languages of
            one problem. With ``target="population"`` the clusters are the sample (E. Miller 2024,
            arXiv:2411.00640); about these very questions nothing changes. Each question is in one
            cluster. If strata share clusters, use ``overall="micro"``.
        family : str or Expr, optional
            The base of each model, if some models are versions of one, so that `questions` counts
            the mean of each family once. Default: each model is a family.
        run : str or Expr, optional
            Which run, replicate or seed the trial is of, where trials of different questions share
            one. All calibrated numbers are then about other runs like these. Default: trial ids,
            where they are integers.
        run_effects : "own", "alike", "shared", "seen" or "none", optional
            Whether the runs of each model vary in their own way, or alike, as in one harness.
            "shared": equal ids of two models are one run of both, so that differences pair them.
            "none": numbers are about these very runs. Default: "own" with `run`, else "seen": as
            "own" where the log shows that its runs differ (p < .05 over all models, with a
            `RunWarning`; where models are compared p < .2).
        answer : str or Expr, optional
            What the trial answered: words, numbers or lists, which `ps.vote_at_k` alone compares.
            An answer that is null or NaN has no vote.
        truth : str or Expr, optional
            What a person said of the trial, if the category is the verdict of a judge: true or
            false, or a category; null if nobody labelled the trial. All numbers are then about the
            truth (prediction-powered inference). Which trials have labels may depend on their
            verdict and on nothing else, or whole questions are drawn at random; each model needs
            10, and for `avg` 5 of each verdict, unless all its trials are labelled.
        judge : Judge or DataFrame, optional
            In place of `truth`: labels from elsewhere that say how reliable the judge is, made by
            `ps.judge`, or a frame with the columns verdict and truth (true or false), count, and
            model if each model has a sample of its own. The judge has to err as often here as
            there.
        cost : str or Expr, optional
            What the trial cost in dollars, tokens or seconds, a number from 0 to 134,217,727: for
            `ps.mean_cost`, `ps.cost_per_success` and `ps.cost_to_solve`, which alone read it.
        bounds : tuple of float, optional
            The least and the largest real-valued reward that a trial may have, such as (0, 1),
            which intervals allow for; a reward outside is an error. Default: the `bounds` of the
            metric, else the range of the rewards of all models (of the stratum), which allows for
            no others.
        lower_is_better : bool
            Whether lower scores are better, such as rates of attacks that succeed, errors or
            refusals: ranks, `better`, gates, the best model and the frontier turn round; estimates
            and differences keep their sign. Lower costs are always better.
        validate : bool
            Whether trials are looked at that repeat an id, copy others or stopped on outcomes;
            False trusts all of them. Ids 0, 1, ..., n - 1 or 1, 2, ..., n of each question are the
            cheapest to check.
        unscored : "error" or "drop"
            What a question without any outcome means, if ``missing="drop"`` leaves none of its
            trials, or `count` is 0: an error; or "drop", which leaves the question out and counts
            it in the column `unscored`.
        prior : "uniform", tuple of float, "population" or frame, optional
            What is believed of each question before its trials, as `report` explains; the keyword
            of a method replaces it there. Default: none, and numbers are calibrated; `bayes` has
            the uniform prior.
        target : "benchmark" or "population"
            What numbers are about: these questions, or all questions that could have been asked.
        confidence : float
            Of all intervals and verdicts.
        planned_trials, planned_questions : int, optional
            The planned trials of each question (about these questions), or the planned questions
            (about a population), written down before the first look: intervals and verdicts then
            hold at every look, as `report` explains.

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
        >>> solved.avg().select("llm", "estimate").row(0)
        ('a', 0.5)
        """
        frame = self.frame
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
            family=family,
            run=run,
            run_effects=run_effects,
            answer=answer,
            truth=truth,
            judge=judge,
            cost=cost,
            bounds=bounds,
            lower_is_better=lower_is_better,
            validate=validate,
            unscored=unscored,
        )
        chosen = chosen_options(prior, target, confidence, planned_trials, planned_questions)
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
    """The accessor of a frame, `df.scorio`, as a function that type checkers understand.

    ``scorio(df, ...)`` and ``df.pipe(scorio, ...)`` are ``df.scorio(...)``; of an expression it is
    ``expr.scorio(...)``.

    Parameters
    ----------
    frame : DataFrame, LazyFrame or Expr
        The log, or an expression of categories, for which `success`, `threshold` and `missing` are
        the only keywords.

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
