"""Options and roles that all methods share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar
from warnings import catch_warnings, simplefilter

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.arguments import Per
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.coverage import coverage, offer_ids
from polars_scorio.counting.log import Log, Study, bind_roles, faster_engine
from polars_scorio.counting.roles import USUAL_ROLES, Column, Roles
from polars_scorio.counting.tally import counts_plan
from polars_scorio.metrics.from_text import unknown_method
from polars_scorio.metrics.metric import Metric, Weights
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import (
    ConfidenceOptions,
    Frame,
    InferenceOptions,
    ReportOptions,
    chosen_first,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


_signature_of = lru_cache(maxsize=256)(signature)  # of functions of a log
_MOST = 12  # names of other columns
_LONGEST_TEXT = 100  # of an expression that is printed

# The columns of a result: Polars prints the first four and the last four, which then say who, what,
# the number and the answer. What is in neither list decides something, and stands between them.
_FIRST = (
    *("metric", "k", "t"),
    *("models", "candidates", "questions", "missing", "clusters", "trials_baseline", "trials"),
    *("rerun_trials", "errored", "dropped", "unscored"),
    *("inference", "adjusted_for", "information_fraction", "bounds", "headings", "confidence"),
    *("alarm", "note"),
)
_LAST = (
    *("lo_missing", "hi_missing", "sigma"),
    *("estimate", "diff", "ratio", "share", "rate_baseline", "rate", "mu", "best_mu"),
    *("best_lo", "best_hi", "rate_lo", "rate_hi", "lo", "hi"),
    *("could_be_best", "better", "regressed", "on_frontier", "noise_floor", "status"),
    "verdict",
)


def in_order(names: Sequence[str], roles: Roles, lead: str = "") -> list[str]:
    """Columns as all results have them: keys, metric, counts, what decides, numbers, the answer.

    Of a leaderboard `lead` is the number that ranks, which stands beside the model.
    """
    named = (roles.model, roles.question, roles.cluster)
    model, question, cluster = (_role_names(column) for column in named)
    keys = [*_role_names(roles.strata), "n", "source", "rank", *model, "tier"]
    keys += [lead] if lead else []
    keys += ["model_a", "model_b", "baseline", *question, *cluster, "check", "categories"]
    first = [*keys, *(name for name in _FIRST if name not in keys)]
    places = {name: place for place, name in enumerate(_LAST, 1)}
    places |= {name: place - len(first) for place, name in enumerate(first)}
    places |= {f"{lead}_{end}": places[end] for end in ("sigma", "lo", "hi") if lead}
    return sorted(names, key=lambda name: places.get(name, 0))


def _role_names(column: Column | Iterable[Column] | None) -> list[str]:
    """The names under which a role stands in results."""
    if isinstance(column, str):
        return [column]
    if isinstance(column, pl.Expr):
        return [column.meta.output_name()]
    return [name for each in column or () for name in _role_names(each)]


def as_text(title: str, rows: Sequence[tuple[str, str, str]]) -> str:
    """A line for each row, in columns.

    Examples
    --------
    >>> print(as_text("scorio", [("model", "llm", "String"), ("by", "step", "Int64")]))
    <scorio>
      model  llm   String
      by     step  Int64
    """
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    lines = [f"  {a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    return "\n".join([f"<{title}>", *lines])


def as_html(title: str, rows: Sequence[tuple[str, str, str]]) -> str:
    """An HTML table with the title as its caption."""
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    head = "".join(f"<th>{each}</th>" for each in ("role", "column", "dtype"))
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def rows_of(frame: pl.DataFrame | pl.LazyFrame, roles: Roles) -> list[tuple[str, str, str]]:
    """Each role, what plays it, and its dtype; then the choices, then the other columns.

    Nothing but the schema is read, and what is wrong with it is shown, not raised.
    """
    try:
        schema = frame.collect_schema()
    except (PolarsError, OSError) as error:
        schema = None
        problem = [("schema", f"{type(error).__name__}: {error}".partition("\n")[0], "")]
    rows, used = [], set()
    for field in fields(roles):
        value = getattr(roles, field.name)
        if "Column" not in str(field.type):
            rows += [(field.name, repr(value), "")] if value != field.default else []
            continue
        columns = [value] if isinstance(value, str | pl.Expr) else list(value or ())
        rows += [
            (field.name, _role_text(column), _role_dtype(column, schema)) for column in columns
        ]
        for column in columns:
            used |= {column} if isinstance(column, str) else {*column.meta.root_names()}
    if schema is None:
        return rows + problem
    unused = [name for name in schema if name not in used]
    listed = [", ".join([*unused[:_MOST], *(["..."] if len(unused) > _MOST else [])])]
    return rows + [("other columns", names, "") for names in listed if names]


def _role_text(column: Column) -> str:
    """A column or expression; of a long expression the columns that it reads."""
    if isinstance(column, str) or len(str(column)) <= _LONGEST_TEXT:
        return str(column)
    return f"of {', '.join(column.meta.root_names())}"


def _role_dtype(column: Column, schema: pl.Schema | None) -> str:
    """The dtype of a role, or why it has none."""
    if schema is None:
        return "unknown"
    try:
        (dtype,) = pl.LazyFrame(schema=schema).select(column).collect_schema().dtypes()
    except PolarsError:
        return "no such column"
    return str(dtype)


FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
AskedT = ParamSpec("AskedT")
ResultT = TypeVar("ResultT")


class ShownFrame(pl.DataFrame):
    """A frame that is shown as a table for people; `frame` is the plain one."""

    # Text and HTML, made when they are asked for; what makes another frame of it loses them.
    _written: Callable[[], str] | None = None
    _drawn: Callable[[], str] | None = None

    @classmethod
    def from_frame(
        cls, frame: pl.DataFrame, drawn: Callable[[], str], written: Callable[[], str] | None = None
    ) -> ShownFrame:
        """A frame with its drawing for a notebook, and with a text in place of Polars' own."""
        frame_shown = cls(frame)
        frame_shown._drawn, frame_shown._written = drawn, written
        return frame_shown

    @property
    def frame(self) -> pl.DataFrame:
        """The plain frame."""
        return pl.DataFrame(self)

    def __str__(self) -> str:
        return super().__str__() if self._written is None else self._written()

    def _repr_html_(self, *, _from_series: bool = False) -> str:
        with catch_warnings():
            simplefilter("ignore")  # the method that made it warned already
            drawn = "" if self._drawn is None else self._drawn()
        from polars_scorio.display.phrases import visible_text

        return drawn or visible_text(super()._repr_html_(_from_series=_from_series))


class Accessor(Generic[FrameT]):
    """A log, which column of it plays which part, and what it reports."""

    def __init__(
        self,
        frame: FrameT,
        roles: Roles | None = None,
        chosen: InferenceOptions | None = None,
        tool_totals: pl.DataFrame | None = None,
    ) -> None:
        self._log: FrameT = frame
        self._roles = roles or USUAL_ROLES
        self._chosen = chosen or InferenceOptions()
        self._tool_totals = tool_totals
        self._study: Study | None = None

    if not TYPE_CHECKING:  # checkers would take it for a promise of every name

        def __getattr__(self, name: str) -> object:
            """Answer an unknown name with the call of that metric, or the nearest method."""
            raise unknown_method("an accessor of a log", name, type(self), "report")

    def __repr__(self) -> str:
        from polars_scorio.display.phrases import visible_text

        return visible_text(as_text(self._title, self._role_rows))

    def _repr_html_(self) -> str:
        from polars_scorio.display.phrases import visible_text

        return visible_text(as_html(self._title, self._role_rows))

    @property
    def _role_rows(self) -> list[tuple[str, str, str]]:
        chosen = [(name, repr(value), "") for name, value in self._chosen.items()]
        return rows_of(self.frame, self._roles) + chosen

    @property
    def _title(self) -> str:
        return f"scorio of a {type(self.frame).__name__}"

    @property
    def frame(self) -> FrameT:
        """The frame of the log, with the columns that it came with.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> pl.DataFrame({"question": [1]}).scorio(model=None).frame.columns
        ['question']
        """
        return self._log

    @takes_options(ReportOptions)
    def report(self, *metrics: Metric, **options: Unpack[ReportOptions]) -> FrameT:
        """Scores of the models by any number of metrics, with confidence intervals.

        Parameters
        ----------
        *metrics : Metric
            The metrics, in the order of the result: ``ps.avg(), ps.pass_at_k([1, 4])``.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, model, metric and k; eager or lazy as the log:

            ================  ==================================================================
            by..., model      the stratum (the values of `by`) and the model
            metric            function and arguments, or the metric's `name`
            k                 number of trials in a draw; null if the metric has none
            questions         number of questions
            trials            number of trials with an outcome
            dropped           number of trials that ``missing="drop"`` left out
            inference         kind of interval: "calibrated" (no prior), "posterior", "population
                              posterior", or "range" if k exceeds the trials of a question
            sigma             standard error; with a prior, standard deviation of the posterior
            estimate          value from the trials alone: unbiased, but for blends and ratios of
                              costs; null if k exceeds the trials of a question
            mu                only with a prior: the posterior mean
            lo, hi            ends of the interval, clipped to the bounds of the metric
            ================  ==================================================================

            Clusters, rewards, judges, costs and a `confidence` other than 0.95
            add columns: see the guide's page on all columns.

        Raises
        ------
        TypeError, ValueError, ColumnNotFoundError
            At the call: missing columns, wrong dtypes or arguments.
        ValueError
            When the rows are read: unknown or missing categories, duplicate trials, null keys.

        See Also
        --------
        rank : The order of the models.
        compare : Their differences.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
        >>> log = trials.lazy().scorio(model=None, trial=None)
        >>> report = log.report(ps.bayes(), ps.pass_hat_k([1, 2]))
        >>> report.select("metric", "k", pl.col("estimate").round(4)).collect().rows()
        [('bayes', None, 0.75), ('pass_hat_k', 1, 0.75), ('pass_hat_k', 2, 0.5)]
        """
        # Here and below: importing the package takes less time without what methods import.
        from polars_scorio.study.report import report

        rows = self._asked(report, metrics, lean=True, **options)
        return self._returned(rows, ordered=not options.get("wide"))

    def counts(self) -> FrameT:
        """Number of trials of each question and category; a log of them gives the same reports.

        Read the result with ``df.scorio(count="count")``.

        Returns
        -------
        DataFrame or LazyFrame
            by..., model, question, cluster (if the log has them), category and count, sorted by all
            but the last. With ``missing="drop"`` the missing outcomes have rows with a null
            category. Trial ids and answers are lost.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            As `report`.

        See Also
        --------
        describe : What the log has, and what is missing.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "m", "question": [1, 1, 1], "category": [0, 1, 1]})
        >>> trials.scorio(trial=None).counts().rows()
        [('m', 1, 0, 1), ('m', 1, 1, 2)]
        """
        return self._returned(counts_plan(bind_roles(self._log_study(), self._roles)))

    @takes_options()
    def describe(self, *, per: Per = "model") -> FrameT:
        """Contents of the log: questions, trials, and what is missing or repeated.

        Parameters
        ----------
        per : "model" or "question"
            A row for each model, the default, or for each question with missing or repeated trials.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model:

            ================  ==================================================================
            by..., model      the stratum and the model
            categories        each outcome that occurs with its `trials`, the most frequent first
            questions         number of questions; with `cluster` also the number of `clusters`
            missing           questions that other models of the stratum have
            trials            trials with an outcome
            n_min, n_max      least and largest number of trials of a question
            nulls             trials without an outcome
            duplicates        trials whose id occurred before; null without ids
            planned,          trials and score according to the tool that wrote the log, and that
            reported,         score from these rows
            recomputed
            scored_errors     trials with an error whose score the tool kept (only some tools)
            run_sd            with `run`: standard deviation of the scores of runs, with an
                              interval; `run_share` of the variance, `pvalue_runs` that they differ
            ================  ==================================================================

            or per question: by..., model, question, trials, expected (number of trials), nulls
            and duplicates.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            At the call, for columns that do not exist or have the wrong dtype.

        Warns
        -----
        LogWarning
            Without trial ids, of a column that has them, or whose strata have questions with the
            same ids.

        See Also
        --------
        check : What is wrong with the trials.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"model": ["ada", "ada", "ada", "bob"], "question": [1, 1, 2, 1]}
        >>> trials = pl.DataFrame({**columns, "trial": 0, "category": [1, 0, None, 1]})
        >>> trials.scorio.describe().select("model", "questions", "missing", "duplicates").rows()
        [('ada', 2, 0, 1), ('bob', 1, 1, 0)]
        """
        frame, roles = self._lazy(), self._roles

        def offered(rows: pl.DataFrame) -> pl.DataFrame:
            offer_ids(frame, roles)
            return rows

        plan = self._described(per)
        if roles.trial is None and roles.count is None:
            plan = WholePlan(plan).then(offered, filters=False).plan()
        return self._returned(plan)

    def _described(self, per: Per = "model") -> pl.LazyFrame:
        """The plan of `describe`, which offers no ids."""
        plan = coverage(self._lazy(), self._roles, per=per, totals=self._tool_totals)
        if per == "model" and self._roles.run is not None:
            from polars_scorio.study.run_terms import with_run_spread

            plan = with_run_spread(plan, self._log_study(), self._roles)
        return plan

    @takes_options()
    def check(self) -> FrameT:
        """Tests of the trials: independence, stopping on outcomes, errors, labels.

        No number of another method depends on a test.

        Returns
        -------
        DataFrame or LazyFrame
            A row for each test, the most urgent first:

            ================  ==================================================================
            by..., model      the stratum and model that it names; null if it names none
            check             "stopping" and "order": outcomes decided how many trials a question
                              has; "mixed": no question changed its outcome; "copies": trials that
                              repeat others; "repeats": questions that repeat others; "runs":
                              runs that differ; "errors": models with more failures that are
                              errors; "labels": labels of `truth` on easier questions; "unequal":
                              questions with fewer trials that succeed less
            asks              the question that the test asks
            questions         number of questions that it could use
            seen, expected    observed and expected number of what the test counts
            pvalue            of the whole log: the smallest one of all models and strata, times
                              their number
            verdict           "alarm": p-value below 0.002; "note": a fact without a p-value;
                              "look": below 0.05, or below 0.01 for "unequal"; "ok"; "not tested"
            sentence          what it names and what to do, or why nothing was tested
            ================  ==================================================================

            Six of 1,000 logs with independent trials have an alarm. No alarm is no proof of
            independence.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            As `report`; missing outcomes are left out unless `missing` is a category.

        See Also
        --------
        describe : What is in the log.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"question": [*range(20)] * 4, "trial": [i // 20 for i in range(80)]}
        >>> log = pl.DataFrame({"model": "ada", **columns, "category": [1, 0] * 20 + [0, 1] * 20})
        >>> log.scorio.check().select("check", "verdict").head(3).rows()
        [('copies', 'alarm'), ('mixed', 'ok'), ('runs', 'ok')]
        """
        from polars_scorio.study.log_checks import check

        def drawn(rows: pl.DataFrame) -> str:
            from polars_scorio.display.page import checked_table

            return checked_table(rows)

        return self._drawn_rows(check(self._log_study(), self._roles), drawn)

    @takes_options(ConfidenceOptions)
    def population(
        self,
        w: Weights | None = None,
        *,
        prior: Frame | None = None,
        **options: Unpack[ConfidenceOptions],
    ) -> FrameT:
        """Population of the questions' success rates, as ``prior="population"`` has it.

        The mean is the average over the questions, with the interval of
        ``report(ps.avg(), target="population")``. How different the questions are is a mean over
        216 fixed populations, each weighted by how well it explains the counts; they have six
        correlations, so that the interval reaches to half-way between two of these at least.

        Parameters
        ----------
        w : sequence or dict of float, optional
            Weights of two categories, as for `ps.bayes`. Default: success 1, failure 0.
        prior : DataFrame or LazyFrame, optional
            Earlier trials, as in `report`: they count as data.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model: questions, trials, `mean` (rate or weight), `icc`
            (intra-class correlation: 0 if all questions are equally hard, 1 if the trials of a
            question repeat each other) and `s`, the number of trials that the prior is worth, (1 -
            icc) / icc; the last three with an interval (mean_lo, mean_hi, ...), which of the mean
            is null for a single question.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            As `report`.

        See Also
        --------
        report : Scores with ``prior="population"``.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "m", "question": [1, 2] * 8, "category": [0, 1] * 8})
        >>> trials.scorio(trial=None).population().select(pl.col("mean", "icc").round(2)).row(0)
        (0.5, 0.61)
        """
        from polars_scorio.decisions.question_analysis import population

        return self._rows(population, w, earlier=prior, **options)

    def _options(self, function: Callable[..., object], said: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a call after a check, and what the accessor chose if they are taken."""
        taken = _signature_of(function).parameters
        every = any(each.kind is each.VAR_KEYWORD for each in taken.values())
        chosen = {name: each for name, each in self._chosen.items() if every or name in taken}
        return chosen_first(chosen, said)

    def _asked(
        self,
        function: Callable[Concatenate[Log, Roles, AskedT], ResultT],
        *positional: AskedT.args,
        **said: AskedT.kwargs,
    ) -> ResultT:
        """The result of a function of a log, which answers with the options of all methods."""
        options = self._options(function, said)
        return function(self._log_study(), self._roles, *positional, **options)

    def _rows(
        self,
        function: Callable[Concatenate[Log, Roles, AskedT], pl.LazyFrame],
        *positional: AskedT.args,
        **said: AskedT.kwargs,
    ) -> FrameT:
        """The rows of a plan, eager or lazy as the log."""
        return self._returned(self._asked(function, *positional, **said))

    def _lazy(self) -> pl.LazyFrame:
        return self.frame.lazy()

    def _log_study(self) -> Log:
        """The log for methods that share its counts; a LazyFrame is read by each plan."""
        frame = self.frame
        if isinstance(frame, pl.LazyFrame):
            return frame
        if self._study is None:
            self._study = Study(frame)
        return self._study

    def _drawn_rows(self, plan: pl.LazyFrame, drawn: Callable[[pl.DataFrame], str]) -> FrameT:
        """The rows of a plan; eager ones are drawn when a notebook shows them."""
        rows = self._returned(plan)
        if isinstance(rows, pl.LazyFrame):
            return rows
        return ShownFrame.from_frame(rows, lambda: drawn(rows))

    def _returned(self, plan: pl.LazyFrame, *, ordered: bool = True) -> FrameT:
        """Eager in, eager out; lazy in, lazy out. A wide report has its order from its metrics."""
        if ordered:
            plan = plan.select(in_order(plan.collect_schema().names(), self._roles))
        if isinstance(self.frame, pl.LazyFrame):
            return plan
        return plan.collect(engine=faster_engine(self.frame.height))
