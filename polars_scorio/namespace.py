"""The accessor `.scorio` on Polars frames: roles, and one thin method for each thing to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypedDict, TypeVar

import polars as pl

from polars_scorio import metrics
from polars_scorio.counts import counts
from polars_scorio.intervals import Bounds
from polars_scorio.metrics.metric import DrawSizes, Metric, Weights
from polars_scorio.report import ReportOptions, report
from polars_scorio.roles import Category, Column, Roles, bind

if TYPE_CHECKING:
    from typing_extensions import Unpack

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


class RoleOptions(TypedDict, total=False):
    """The keywords of `Scorio.__call__`."""

    model: Column | None
    question: Column
    trial: Column | None
    category: Column
    by: Column | Sequence[Column]
    success: Category | Sequence[Category] | None
    missing: Category
    n: int | None
    count: Column | None
    validate: bool


class Scorio(Generic[FrameT]):
    """Estimates with credible intervals from a long table of trials.

    `df.scorio` uses the default column names; `df.scorio(...)` says which column plays which part.
    A DataFrame gives DataFrames. A LazyFrame gives LazyFrames, of which nothing but the schema is
    read before they are collected.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        The log: one row per trial.
    roles : Roles, optional
        Which column plays which part; `ps.scorio(frame, ...)` and `df.scorio(...)` make them.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio
    >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
    >>> trials = pl.DataFrame(columns)
    >>> trials.scorio(trial=None).avg().select("model", "metric", "questions", "mu").row(0)
    ('m', 'avg', 2, 0.75)
    """

    def __init__(self, frame: FrameT, roles: Roles | None = None) -> None:
        self._frame: FrameT = frame
        self._roles = roles or Roles()

    def __repr__(self) -> str:
        return f"<scorio of a {type(self._frame).__name__}: {self._roles}>"

    def __call__(
        self,
        *,
        model: Column | None = "model",
        question: Column = "question",
        trial: Column | None = "trial",
        category: Column = "category",
        by: Column | Sequence[Column] = (),
        success: Category | Sequence[Category] | None = None,
        missing: Category = "error",
        n: int | None = None,
        count: Column | None = None,
        validate: bool = True,
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
            The outcome: Boolean, integers, floats that hold whole numbers, or labels.
        by : str, Expr or sequence of them
            Strata such as the benchmark or the temperature; results are per stratum and model.
        success : category or sequence of them, optional
            Which categories are successes for binary metrics. Default: 1 or true. Labels need it.
        missing : category, "error" or "drop"
            What a null or NaN category means, a crashed or unscored trial: an error; nothing, but
            counted in the column `dropped`; or a category, as in ``missing=0``.
        n : int, optional
            Every question must have exactly `n` trials. It costs nothing and finds files that were
            read twice even where rows carry no trial id.
        count : str or Expr, optional
            Multiplicities, for rows that are already counted, for instance by `Scorio.counts` or by
            ``SELECT model, question, category, count(*)``.
        validate : bool
            False skips the check for duplicate trials, and does not read the trial column at all.

        Returns
        -------
        Scorio
            The accessor with these roles.

        Raises
        ------
        TypeError
            If a role is neither a name nor an expression.
        ValueError
            If `n` is not positive, or `count` comes together with `trial`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> log = pl.DataFrame({"llm": ["a", "a"], "task": [1, 2], "reward": [0.2, 0.9]})
        >>> solved = log.scorio(
        ...     model="llm", question="task", trial=None, category=pl.col("reward") >= 0.5
        ... )
        >>> solved.avg().select("llm", "mu").row(0)
        ('a', 0.5)
        """
        self._release()
        roles = Roles(
            model=model,
            question=question,
            trial=trial,
            category=category,
            by=by,
            success=success,
            missing=missing,
            n=n,
            count=count,
            validate=validate,
        )
        return Scorio(self._frame, roles)

    def report(self, *metrics: Metric, **options: Unpack[ReportOptions]) -> FrameT:
        """Any number of metrics from one pass over the log.

        Parameters
        ----------
        *metrics : Metric
            What to report: `ps.bayes()`, `ps.pass_at_k([1, 4])`, ...
        prior : DataFrame or LazyFrame, optional
            Prior trials of the same questions, with the same roles. Without the model column they
            serve every model. They enter every posterior but that of `avg`; questions that the
            data lack are ignored.
        confidence : float
            Credibility of the intervals; default 0.95.
        per : "model" or "question"
            One block of rows for each model (and stratum), the default, or for each question.

        Returns
        -------
        DataFrame or LazyFrame
            As the frame of the accessor. A row per stratum, model, metric and k, sorted by the
            keys, then in the order of `metrics`, then by k:

            ================  ==================================================================
            by..., model      the keys, under their own names (then the question, if asked for)
            metric            function and arguments, or the metric's `name`
            k                 draw size; null where a metric has none
            questions         number of questions, M
            trials            number of trials with an outcome
            dropped           number of trials that ``missing="drop"`` left out
            estimate          unbiased value from the trials alone; null where k exceeds the
                              trials of some question
            mu, sigma         posterior mean and standard deviation, in the units of the metric
            lo, hi            credible interval, clipped to the bounds of the metric
            ================  ==================================================================

        Raises
        ------
        TypeError, ValueError, ColumnNotFoundError
            At the call, for what arguments and schema tell: missing columns, wrong dtypes, metrics
            that contradict each other, two rows of the same name.
        ValueError
            At collection, for what the rows tell: missing categories, categories that are not
            known, duplicate trials, null keys, questions without exactly `n` trials. The message
            names the first place and the number of questions.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
        >>> trials = pl.DataFrame(columns)
        >>> report = trials.lazy().scorio(trial=None).report(ps.bayes(), ps.pass_hat_k([1, 2]))
        >>> report.select("metric", "k", "estimate").collect().rows()
        [('bayes', None, 0.75), ('pass_hat_k', 1, 0.75), ('pass_hat_k', 2, 0.5)]
        """
        return self._returned(report(self._lazy(), self._roles, metrics, **options))

    def counts(self) -> FrameT:
        """How many trials of each question fell into each category.

        The result stands for the log: `counts.scorio(count="count")` gives the same reports.

        Returns
        -------
        DataFrame or LazyFrame
            Columns by..., model, question, category (under their own names and dtypes) and count
            (UInt64), sorted by all but the last. With ``missing="drop"`` the missing outcomes keep
            a row with a null category, so that a later report still counts them as dropped.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            As `report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "m", "question": [1, 1, 1], "category": [0, 1, 1]})
        >>> trials.scorio(trial=None).counts().rows()
        [('m', 1, 0, 1), ('m', 1, 1, 2)]
        """
        return self._returned(counts(bind(self._lazy(), self._roles)))

    def bayes(
        self,
        w: Weights | None = None,
        *,
        bounds: Bounds | None = None,
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Bayes@N: how good is the model on average, judged after all trials?

        ``report(ps.bayes(...), **options)``; see `ps.bayes` and `report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "m", "question": [1, 1], "category": ["bad", "good"]})
        >>> trials.scorio(trial=None).bayes(w={"bad": 0, "fair": 0.5, "good": 1})["mu"].item()
        0.5
        """
        return self.report(metrics.bayes(w, bounds=bounds, name=name), **options)

    def avg(
        self,
        w: Weights | None = None,
        *,
        bounds: Bounds | None = None,
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """avg@N: what did the trials score on average, and how far is that to be trusted?

        ``report(ps.avg(...), **options)``; see `ps.avg` and `report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
        >>> trials = pl.DataFrame(columns)
        >>> trials.scorio(trial=None).avg()["mu"].item()
        0.75
        """
        return self.report(metrics.avg(w, bounds=bounds, name=name), **options)

    def pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Pass@k: how often does at least one of k trials succeed?

        ``report(ps.pass_at_k(...), **options)``; see `ps.pass_at_k` and `report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
        >>> trials = pl.DataFrame(columns)
        >>> trials.scorio(trial=None).pass_at_k([1, 2]).select("k", "estimate").rows()
        [(1, 0.75), (2, 1.0)]
        """
        metric = metrics.pass_at_k(k, alpha0=alpha0, beta0=beta0, bounds=bounds, name=name)
        return self.report(metric, **options)

    def pass_hat_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Pass^k: how often do all of k trials succeed?

        ``report(ps.pass_hat_k(...), **options)``; see `ps.pass_hat_k` and `report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
        >>> trials = pl.DataFrame(columns)
        >>> trials.scorio(trial=None).pass_hat_k([1, 2]).select("k", "estimate").rows()
        [(1, 0.75), (2, 0.5)]
        """
        metric = metrics.pass_hat_k(k, alpha0=alpha0, beta0=beta0, bounds=bounds, name=name)
        return self.report(metric, **options)

    def unanimous_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Unanimous@k: how often do all of k trials succeed? Another name of `pass_hat_k`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "m", "question": [1, 1], "category": [0, 1]})
        >>> trials.scorio(trial=None).unanimous_at_k(2).select("metric", "estimate").row(0)
        ('unanimous_at_k', 0.0)
        """
        metric = metrics.unanimous_at_k(k, alpha0=alpha0, beta0=beta0, bounds=bounds, name=name)
        return self.report(metric, **options)

    def g_pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """G-Pass@k: how often do all of k trials succeed? Another name of `pass_hat_k`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "m", "question": [1, 1], "category": [0, 1]})
        >>> trials.scorio(trial=None).g_pass_at_k(2).select("metric", "estimate").row(0)
        ('g_pass_at_k', 0.0)
        """
        metric = metrics.g_pass_at_k(k, alpha0=alpha0, beta0=beta0, bounds=bounds, name=name)
        return self.report(metric, **options)

    def _lazy(self) -> pl.LazyFrame:
        self._release()
        return self._frame.lazy()

    def _release(self) -> None:
        # Polars stores the accessor on the frame and the accessor holds the frame: a cycle that
        # would keep a big frame alive until the cycle collector runs.
        vars(self._frame).pop("scorio", None)

    def _returned(self, plan: pl.LazyFrame) -> FrameT:
        """Eager in, eager out; lazy in, lazy out."""
        if isinstance(self._frame, pl.LazyFrame):
            return plan
        return plan.collect(engine="streaming")


pl.api.register_dataframe_namespace("scorio")(Scorio)
pl.api.register_lazyframe_namespace("scorio")(Scorio)


def scorio(frame: FrameT, **roles: Unpack[RoleOptions]) -> Scorio[FrameT]:
    """The accessor of a frame, for typed code: no type checker sees registered namespaces.

    ``scorio(df, ...)`` and ``df.pipe(scorio, ...)`` are ``df.scorio(...)``.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        The log.
    **roles
        Which column plays which part, as in `Scorio.__call__`.

    Returns
    -------
    Scorio
        An accessor that returns frames of the same kind.

    Raises
    ------
    TypeError
        If `frame` is not a Polars frame.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": "m", "question": [1, 1], "category": [0, 1]})
    >>> trials.pipe(ps.scorio, trial=None).avg()["mu"].item()
    0.5
    """
    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"frame must be a Polars DataFrame or LazyFrame, got {frame!r}")
    return Scorio(frame)(**roles)
