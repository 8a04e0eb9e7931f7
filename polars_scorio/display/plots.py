"""Pictures of what the accessor reports: `df.scorio.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

import polars as pl

from polars_scorio.arguments import Compared, Overall, Per
from polars_scorio.counting.roles import Roles, Trials, bind
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.convergence import settling, trajectory
from polars_scorio.decisions.strata import single_k
from polars_scorio.display import charts
from polars_scorio.display.chart_data import (
    both_ways,
    by_difficulty,
    inert,
    labels,
    model,
    named,
    panels,
    sizes,
    strata,
    stratum,
    thinned,
)
from polars_scorio.display.charts import Picture
from polars_scorio.kernels.convergence import Scheme
from polars_scorio.metrics.base import DrawSizes, Metric
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.metrics.weighted import bayes
from polars_scorio.reporting.evaluate import RESULTS, tidy
from polars_scorio.reporting.options import DecisionOptions, InferenceOptions, PlanOptions
from polars_scorio.reporting.report import results
from polars_scorio.signatures import takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

_CELLS = 300  # questions that a heat map shows side by side; more of them share cells
_STEPS = 200  # points of a line


OptionsT = TypeVar("OptionsT", bound=InferenceOptions)


class _Options(InferenceOptions, total=False):
    overall: Overall | None


class Plots:
    """Pictures of a log: `df.scorio.plot`.

    Every method returns an Altair chart: notebooks show it, ``chart.save("picture.png")`` writes it
    without a browser, ``chart.properties(title=...)`` changes it. Strata (`by`) become panels; a
    LazyFrame is collected. It needs ``pip install "polars-scorio[plot]"``.

    Parameters
    ----------
    frame : LazyFrame
        The log.
    roles : Roles
        Which column plays which part.
    chosen : dict, optional
        Inference, target and confidence, where a method does not say them.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio
    >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
    >>> trials.scorio(trial=None).plot
    <pictures: intervals, curve, questions, comparison, trajectory, convergence>
    """

    def __init__(
        self, frame: pl.LazyFrame, roles: Roles, chosen: InferenceOptions | None = None
    ) -> None:
        self._frame, self._roles = frame, roles
        self._chosen: InferenceOptions = chosen or {"inference": "calibrated"}

    def __repr__(self) -> str:
        kinds = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"<pictures: {', '.join(kinds)}>"

    @takes(InferenceOptions)
    def intervals(
        self,
        metric: Metric | None = None,
        *,
        overall: Overall | None = None,
        **options: Unpack[InferenceOptions],
    ) -> Picture:
        """Which models are good, and how sure is that? A forest plot.

        Parameters
        ----------
        metric : Metric, optional
            What to show; default `ps.bayes()`. One draw size at a time.
        overall : "macro" or "micro", optional
            Add a panel over all strata, as in `Scorio.report`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            mu and its interval, a line for each model; all panels have the same order, that of the
            mean of mu over the strata. Without a model column there is a line for each stratum.

        Raises
        ------
        ValueError
            For several draw sizes, for rewards without weights; and as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> chart = trials.scorio(trial=None).plot.intervals()
        >>> [(row["model"], round(row["mu"], 3)) for row in chart.data.values]
        [('ada', 0.667), ('bob', 0.333)]
        """
        metric, trials, options = metric or bayes(), self._trials(), self._with(options)
        name = named(metric, single_k(metric, "intervals"))
        rows = self._tidy(metric, overall=overall, **options)
        heading = charts.Heading(name, _interval(options), panels(trials))
        labelled = rows.select(*labels(trials), "questions", "trials", "mu", "lo", "hi")
        return charts.forest(labelled, heading, name)

    @takes(InferenceOptions)
    def curve(
        self,
        metric: Metric | DrawSizes,
        *,
        overall: Overall | None = None,
        **options: Unpack[InferenceOptions],
    ) -> Picture:
        """What do more draws buy? A metric against k.

        Parameters
        ----------
        metric : Metric, sequence of int, or int
            A metric with draw sizes, as in ``ps.pass_hat_k(range(1, 9))``. Draw sizes alone mean
            Pass@k; a single one means 1, 2, 4, ... up to it, and itself.
        overall : "macro" or "micro", optional
            Add a panel over all strata, as in `Scorio.report`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line of mu with a band of the interval for each model, estimates as points. The axis
            is logarithmic where the largest k is at least eight times the smallest. Of more than
            seven models the best seven have colours and bands, all others are grey.

        Raises
        ------
        ValueError
            If the metric has no draw sizes, for rewards without weights; and as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "ada", "question": 1, "category": [0, 1, 0]})
        >>> chart = trials.scorio(trial=None).plot.curve(2)
        >>> [(row["k"], round(row["mu"], 3)) for row in chart.data.values]
        [(1, 0.4), (2, 0.6)]
        """
        trials, options = self._trials(), self._with(options)
        metric = metric if isinstance(metric, Metric) else pass_at_k(sizes(metric))
        drawn = [k for k in metric.k if k is not None]
        if not drawn:
            raise ValueError(
                f"curve needs draw sizes, and {metric.name} has none: pass for instance "
                "ps.pass_at_k([1, 2, 4, 8])"
            )
        rows = self._tidy(metric, overall=overall, **options)
        points = "; points: unbiased estimate" if rows["estimate"].is_not_null().any() else ""
        name = named(metric, None)
        heading = charts.Heading(name, _interval(options) + points, panels(trials))
        labelled = rows.select(*labels(trials), "k", "estimate", "mu", "lo", "hi")
        return charts.lines(labelled, heading, charts.draw_sizes_axis(drawn), name)

    @takes(InferenceOptions)
    def questions(
        self, metric: Metric | None = None, **options: Unpack[InferenceOptions]
    ) -> Picture:
        """Which questions are hard, and for whom? A heat map.

        Parameters
        ----------
        metric : Metric, optional
            What to show of each question; default `ps.bayes()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A cell for each model and question, coloured by mu of the question. Models are ordered
            by their mean, questions by the mean over the models, the hardest first. Of more than
            300 questions in a stratum, neighbours in this order share a cell, which shows their
            mean.

        Raises
        ------
        ValueError
            For several draw sizes, for rewards without weights; and as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame(
        ...     {"model": "ada", "question": ["easy", "easy", "hard"], "category": [1, 1, 0]}
        ... )
        >>> chart = trials.scorio(trial=None).plot.questions()
        >>> [(row["question"], round(row["mu"], 3)) for row in chart.data.values]
        [('hard', 0.333), ('easy', 0.75)]
        """
        metric, trials, options = metric or bayes(), self._trials(), self._with(options)
        if options.get("inference") == "calibrated":  # which is about means
            options["inference"] = "pooled"
        name = named(metric, single_k(metric, "questions"))
        rows = self._tidy(metric, per="question", **options)
        question = inert(pl.col(trials.question.name).cast(pl.String)).alias("question")
        cells, each = by_difficulty(
            rows.select(stratum(trials), model(trials), question, "mu"), _CELLS
        )
        heading = charts.Heading(name, "posterior mean of each question", strata(trials))
        return charts.heat_map(cells, heading, name, metric.span, each=each)

    @takes(DecisionOptions)
    def comparison(
        self, metric: Metric | None = None, **options: Unpack[DecisionOptions]
    ) -> Picture:
        """Which model beats which? A matrix of probabilities.

        Parameters
        ----------
        metric : Metric, optional
            What to compare; default `ps.bayes()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            The probability that the model of the row is better than that of the column, the best
            models first. For up to 14 models the cells hold numbers, in bold where `Scorio.compare`
            names a better model.

        Raises
        ------
        ValueError
            For several draw sizes; and as `Scorio.compare`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame(
        ...     {"model": ["ada", "bob"] * 2, "question": 1, "category": [1, 1, 1, 0]}
        ... )
        >>> chart = trials.scorio(trial=None).plot.comparison()
        >>> [(row["model"], row["other"], row["text"]) for row in chart.data.values]
        [('ada', 'bob', '.80'), ('bob', 'ada', '.20')]
        """
        metric, trials, options = metric or bayes(), self._trials(), self._with(options)
        name = named(metric, single_k(metric, "comparison"))
        pairs = compare(self._frame, self._roles, metric, **options).collect(engine="streaming")
        sure = f"better at {100 * options.get('confidence', 0.95):g} %"
        heading = charts.Heading(
            f"Which model is better by {name}?",
            "probability that the row beats the column",
            panels(trials),
        )
        return charts.matrix(both_ways(pairs, trials), heading, sure)

    @takes(DecisionOptions)
    def trajectory(
        self, metric: Metric | None = None, **options: Unpack[DecisionOptions]
    ) -> Picture:
        """What would one have reported after the first n trials of each question?

        Parameters
        ----------
        metric : Metric, optional
            What to follow; default `ps.bayes()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line of mu with a band of the interval for each model, against n; at most 200 points
            of it. Of more than seven models the best seven have colours and bands.

        Raises
        ------
        ValueError
            As `Scorio.trajectory`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "ada", "question": 1, "trial": [0, 1], "category": 1})
        >>> chart = trials.scorio.plot.trajectory()
        >>> [(row["n"], round(row["mu"], 3)) for row in chart.data.values]
        [(1, 0.667), (2, 0.75)]
        """
        metric, trials, options = metric or bayes(), self._trials(), self._with(options)
        rows = trajectory(self._frame, self._roles, metric, **options).collect(engine="streaming")
        name = named(metric, metric.k[0])
        heading = charts.Heading(f"{name} after n trials", _interval(options), panels(trials))
        few = thinned(rows, trials.keys, _STEPS)
        labelled = few.select(*labels(trials), "n", "mu", "lo", "hi", "rank")
        return charts.lines(labelled, heading, charts.trials_axis(), name)

    @takes(PlanOptions)
    def convergence(
        self,
        metric: Metric | None = None,
        *,
        replicates: int = 1000,
        scheme: Scheme = "trial",
        seed: int = 0,
        progress: bool = False,
        questions: Compared = "same",
        **options: Unpack[PlanOptions],
    ) -> Picture:
        """After how many trials does the ranking settle?

        Parameters
        ----------
        metric : Metric, optional
            By what the models are ranked; default `ps.bayes()`. One draw size at a time.
        replicates, scheme, seed, progress, questions
            As in `Scorio.convergence`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            Against n: the share of the replicates whose ranking has settled, and the mean of
            Kendall's tau against the ranking by all trials; at most 200 points of each.

        Raises
        ------
        ValueError
            As `Scorio.convergence`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame(
        ...     {"model": ["ada", "ada", "bob", "bob"], "question": 1, "trial": [0, 1, 0, 1],
        ...      "category": [1, 1, 0, 0]}
        ... )
        >>> chart = trials.scorio.plot.convergence(replicates=0)
        >>> [(row["n"], row["value"]) for row in chart.data.values if "tau" in row["what"]]
        [(1, 1.0), (2, 1.0)]
        """
        metric, trials = metric or bayes(), self._trials()
        options = {"inference": self._chosen.get("inference"), **options}
        plan = settling(
            self._frame,
            self._roles,
            metric,
            replicates=replicates,
            scheme=scheme,
            seed=seed,
            progress=progress,
            questions=questions,
            **options,
        )
        settled = plan.collect(engine="streaming").drop_nulls("n")
        rows = thinned(settled, [*trials.strata], _STEPS)
        drawn = f"{replicates:,} bootstrap replicates" if replicates else "the log in its order"
        what = {
            "cumulative": "share of the replicates that have settled",
            "tau": "Kendall's tau against the ranking by all trials",
        }
        long = rows.select(stratum(trials), "n", *what).unpivot(
            list(what), index=["stratum", "n"], variable_name="what"
        )
        name = named(metric, metric.k[0])
        heading = charts.Heading(f"When the ranking by {name} settles", drawn, panels(trials))
        return charts.settling(long.with_columns(pl.col("what").replace_strict(what)), heading)

    def _with(self, options: OptionsT) -> OptionsT:
        """The options of a method, and what was chosen for all of them."""
        return cast("OptionsT", {**self._chosen, **options})

    def _trials(self) -> Trials:
        return bind(self._frame, self._roles)

    def _tidy(
        self, metric: Metric, per: Per = "model", **options: Unpack[_Options]
    ) -> pl.DataFrame:
        """The rows of a report."""
        trials = self._trials()
        grouped = results(trials, [metric], per=per, **options)
        plan = tidy(grouped.select(*trials.keys, RESULTS))
        rows = plan.collect(engine="streaming")
        if rows.height and rows["mu"].null_count() == rows.height:
            missing = "rewards of any value have no posterior to draw"
            raise ValueError(f"{metric.name}: {missing}; pass w= with a weight for each category")
        return rows


def _interval(options: InferenceOptions) -> str:
    """What is drawn, in words."""
    level = f"{100 * options.get('confidence', 0.95):g} %"
    words = {
        "calibrated": f"estimates, calibrated {level} intervals",
        "pooled": f"posterior means, {level} intervals, one fitted population of questions",
    }
    published = f"posterior means, {level} intervals, uniform prior of each question, as published"
    return words.get(options.get("inference") or "published", published)
