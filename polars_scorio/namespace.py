"""The accessor `.scorio` on Polars frames: roles, and one thin method for each thing to ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Generic, TypeVar, cast, overload

import polars as pl
from numpy.typing import ArrayLike

from polars_scorio import metrics
from polars_scorio.counts import counts
from polars_scorio.metrics.metric import DrawSizes, Metric, Weights
from polars_scorio.options import (
    BestOptions,
    DrawOptions,
    Frame,
    GeomOptions,
    ReportOptions,
    RoleOptions,
    SpectrumOptions,
    WeightOptions,
)
from polars_scorio.priors import priors
from polars_scorio.report import report
from polars_scorio.roles import Category, Column, Roles, bind

if TYPE_CHECKING:
    from typing_extensions import Unpack

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


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
        interval : "normal" or "beta"
            Shape of the intervals: mu -+ z sigma, clipped to the bounds, as published, the
            default; or quantiles of the Beta distribution with mean mu and standard deviation
            sigma on the range of the metric, which stay inside it by themselves.
        pooling : "none" or "partial"
            The prior of a question's outcomes. None, the default: uniform and independent, as
            published [1]_; with few trials it moves mu towards 1/2 (the mean of the weights) by
            more than sigma says. Partial: one population of questions is fitted to each model (and
            stratum), integrated over what the data leave open; its intervals hold what they
            promise [2]_, and `avg` gets a calibrated sigma. It assumes that the number of trials
            does not depend on how hard a question is (else use `avg`, which then holds still).
            `priors` shows the fit.
        target : "benchmark" or "population"
            What mu is about: the mean over these questions, the default; or the mean over the
            population that they are a sample of [3]_, which needs ``pooling="partial"``.
        per : "model" or "question"
            One block of rows for each model (and stratum), the default, or for each question. With
            partial pooling that is each question's own posterior under the fitted prior: it moves
            when other questions are added, and since all share the prior, the sum of the squared
            sigmas over M^2 is not the squared sigma of the mean.

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

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265.
        .. [2] S. Bowyer, L. Aitchison, D. R. Ivanova (2025), Position: Don't Use the CLT in LLM
           Evals With Fewer Than a Few Hundred Datapoints, arXiv:2503.01747, on intervals that fail
           on small benchmarks.
        .. [3] E. Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640, on questions as a
           sample of a population.

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

    def priors(
        self,
        w: Weights | None = None,
        *,
        prior: Frame | None = None,
        confidence: float = 0.95,
    ) -> FrameT:
        """How different are the questions? The prior that ``pooling="partial"`` fits to them.

        One population of questions is fitted to each model (and stratum): the success rates of its
        questions are Beta distributed with the mean `mean` and the intra-class correlation `rho`,
        Beta(s mean, s (1 - mean)) with s = (1 - rho) / rho.

        Parameters
        ----------
        w : sequence or dict of float, optional
            The weight of each category, as for `ps.bayes`: then the population is one of all
            categories, and `mean` is its mean weight. Default: success and failure.
        prior : DataFrame or LazyFrame, optional
            Prior trials, as in `report`: they count as data.
        confidence : float
            Credibility of the intervals.

        Returns
        -------
        DataFrame or LazyFrame
            One row per stratum and model, with the columns questions, trials, mean, rho and s, the
            last three with an interval (mean_lo, mean_hi, ...). rho = 0 means that all questions
            are equally hard, rho = 1 that the trials of a question repeat each other; s is how many
            trials the prior is worth, at the values of rho (its own posterior mean is infinite).
            The uniform prior of ``pooling="none"`` is mean 1/2, rho 1/3, s 2.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            As `report`.

        Examples
        --------
        >>> trials = pl.DataFrame({"model": "m", "question": [1, 2] * 8, "category": [0, 1] * 8})
        >>> trials.scorio(trial=None).priors().select(pl.col("mean", "rho").round(2)).row(0)
        (0.5, 0.66)
        """
        plan = priors(self._lazy(), self._roles, w, prior=prior, confidence=confidence)
        return self._returned(plan)

    def bayes(self, w: Weights | None = None, **options: Unpack[WeightOptions]) -> FrameT:
        """Bayes@N: how good is the model on average, judged after all trials?

        The arguments of `ps.bayes` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> trials.scorio(trial=None).bayes()["mu"].round(4).item()
        0.5714
        """
        return self._single(metrics.bayes, w, **options)

    def avg(self, w: Weights | None = None, **options: Unpack[WeightOptions]) -> FrameT:
        """avg@N: what did the trials score on average, and how far is that to be trusted?

        The arguments of `ps.avg` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> trials.scorio(trial=None).avg()["mu"].item()
        0.6
        """
        return self._single(metrics.avg, w, **options)

    def pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass@k: how often does at least one of k trials succeed?

        The arguments of `ps.pass_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).pass_at_k([1, 2])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6), (2, 0.9)]
        """
        return self._single(metrics.pass_at_k, k, **options)

    def pass_hat_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass^k: how often do all of k trials succeed?

        The arguments of `ps.pass_hat_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).pass_hat_k([1, 2])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6), (2, 0.3)]
        """
        return self._single(metrics.pass_hat_k, k, **options)

    def unanimous_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Unanimous@k: another name of `pass_hat_k`.

        The arguments of `ps.unanimous_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).unanimous_at_k(2)
        >>> report.select("metric", pl.col("estimate").round(4)).rows()
        [('unanimous_at_k', 0.3)]
        """
        return self._single(metrics.unanimous_at_k, k, **options)

    def g_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k: another name of `pass_hat_k`.

        The arguments of `ps.g_pass_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).g_pass_at_k(2)
        >>> report.select("metric", pl.col("estimate").round(4)).rows()
        [('g_pass_at_k', 0.3)]
        """
        return self._single(metrics.g_pass_at_k, k, **options)

    def g_pass_at_k_tau(self, k: DrawSizes, tau: float, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k_tau: how often does at least the share tau of k trials succeed?

        The arguments of `ps.g_pass_at_k_tau` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).g_pass_at_k_tau(3, 0.5)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(3, 0.7)]
        """
        return self._single(metrics.g_pass_at_k_tau, k, tau, **options)

    def mg_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """mG-Pass@k: how far do the successes of k trials exceed one half?

        The arguments of `ps.mg_pass_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).mg_pass_at_k(2)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.3)]
        """
        return self._single(metrics.mg_pass_at_k, k, **options)

    def maj_at_k(self, k: DrawSizes | None = None, **options: Unpack[DrawOptions]) -> FrameT:
        """Maj@k: how often does the majority of k trials, or of all trials, succeed?

        The arguments of `ps.maj_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).maj_at_k()
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(None, 1.0)]
        """
        return self._single(metrics.maj_at_k, k, **options)

    def auc_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """AUC@k: how soon does a success come, if up to k trials are drawn?

        The arguments of `ps.auc_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).auc_at_k(2)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.75)]
        """
        return self._single(metrics.auc_at_k, k, **options)

    def threshold_spectrum_at_k(
        self, k: int, weights: ArrayLike, **options: Unpack[DrawOptions]
    ) -> FrameT:
        """Threshold spectrum: how often do at least 1, ..., k of k trials succeed, weighted?

        The arguments of `ps.threshold_spectrum_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).threshold_spectrum_at_k(2, [0.5, 0.5])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.6)]
        """
        return self._single(metrics.threshold_spectrum_at_k, k, weights, **options)

    def geom_at_k(self, k: DrawSizes, **options: Unpack[GeomOptions]) -> FrameT:
        """Geom@k: does a question succeed both at some time and throughout, on average?

        The arguments of `ps.geom_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geom_at_k(1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6)]
        """
        return self._single(metrics.geom_at_k, k, **options)

    def geom_ds_at_k(self, k: DrawSizes, **options: Unpack[GeomOptions]) -> FrameT:
        """Geom@k of the dataset: Pass@k and Pass^k of the benchmark in one number.

        The arguments of `ps.geom_ds_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geom_ds_at_k(1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6)]
        """
        return self._single(metrics.geom_ds_at_k, k, **options)

    def geo_spectrum_at_k(self, k: DrawSizes, **options: Unpack[SpectrumOptions]) -> FrameT:
        """GeoSpectrum@k: Pass@k and a threshold spectrum of the benchmark in one number.

        The arguments of `ps.geo_spectrum_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geo_spectrum_at_k(2, lam=1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.9)]
        """
        return self._single(metrics.geo_spectrum_at_k, k, **options)

    def geo_spectrum_star_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """GeoSpectrum*@k: the geometric mean of Pass@k and mG-Pass@k of the benchmark.

        The arguments of `ps.geo_spectrum_star_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geo_spectrum_star_at_k(1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.0)]
        """
        return self._single(metrics.geo_spectrum_star_at_k, k, **options)

    def max_at_k(
        self, k: DrawSizes, w: Weights | None = None, **options: Unpack[BestOptions]
    ) -> FrameT:
        """Max@k: how good is the best of k trials?

        The arguments of `ps.max_at_k` and the options of `report`.

        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).max_at_k([1, 2], w=[0, 10])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 6.0), (2, 9.0)]
        """
        return self._single(metrics.max_at_k, k, w, **options)

    def _single(
        self, function: Callable[..., Metric], *arguments: object, **options: object
    ) -> FrameT:
        """The report of one metric; of the options, `function` gets those that it knows."""
        self._release()
        own = options.keys() & signature(function).parameters.keys()
        metric = function(*arguments, **{key: options.pop(key) for key in own})
        return self.report(metric, **cast("ReportOptions", options))

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


@overload
def scorio(frame: pl.DataFrame, **roles: Unpack[RoleOptions]) -> Scorio[pl.DataFrame]: ...
@overload
def scorio(frame: pl.LazyFrame, **roles: Unpack[RoleOptions]) -> Scorio[pl.LazyFrame]: ...
def scorio(
    frame: pl.DataFrame | pl.LazyFrame, **roles: Unpack[RoleOptions]
) -> Scorio[pl.DataFrame] | Scorio[pl.LazyFrame]:
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
    if isinstance(frame, pl.DataFrame):
        return Scorio(frame)(**roles)
    if isinstance(frame, pl.LazyFrame):
        return Scorio(frame)(**roles)
    raise TypeError(f"frame must be a Polars DataFrame or LazyFrame, got {frame!r}")
