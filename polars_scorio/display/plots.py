"""Pictures of what the accessor reports: `df.scorio.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import polars as pl

from polars_scorio.arguments import Overall
from polars_scorio.counting.log import bind_roles
from polars_scorio.decisions.models import single_k
from polars_scorio.display import charts
from polars_scorio.display.chart_data import axis_values, curve_sizes, metric_heading, row_labels
from polars_scorio.display.charts import (
    LookOptions,
    Picture,
    PlotOptions,
    best_step_words,
    draw_sizes_axis,
    line_chart,
    stratum_axis,
)
from polars_scorio.display.decision_plots import DecisionPlots
from polars_scorio.display.question_plots import FrontierPlots, QuestionPlots
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.metric_arguments import DrawSizes
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.metrics.thresholds import tail_pass
from polars_scorio.signatures import takes_options
from polars_scorio.study.forecast import Drawn, drawn_by, forecast_successes
from polars_scorio.study.request import Request

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Plots(DecisionPlots, QuestionPlots, FrontierPlots):
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
        Inference, target and confidence, unless a method gives others.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio
    >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
    >>> trials.scorio(trial=None).plot
    <pictures: intervals, curve, tail, forecast, over, comparison, ranks, trajectory, convergence, \
questions, frontier>
    """

    def __repr__(self) -> str:
        names = dict.fromkeys(name for each in Plots.__mro__ for name in vars(each))
        kinds = [name for name in names if not name.startswith("_")]
        return f"<pictures: {', '.join(kinds)}>"

    @takes_options(PlotOptions)
    def intervals(
        self,
        metric: Metric | None = None,
        *,
        overall: Overall | None = None,
        **options: Unpack[PlotOptions],
    ) -> Picture:
        """Which models are good, and how sure is that? A forest plot.

        Parameters
        ----------
        metric : Metric, optional
            What to show; default `ps.avg()`. One draw size at a time.
        overall : "macro" or "micro", optional
            Add a panel over all strata, as in `Scorio.report`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line for each model with mu and its interval, and a bar at the estimate if that is
            another number. All panels order the models by the mean of mu over the strata; for a
            metric of costs, the cheapest is on top. Without a model column there is a line for each
            stratum.

        Raises
        ------
        ValueError
            For several draw sizes; and as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> chart = trials.scorio(trial=None).plot.intervals()
        >>> [(row["model"], row["mu"]) for row in chart.data.values]
        [('ada', 1.0), ('bob', 0.0)]
        """
        subject = self._subject(metric, options)
        single_k(subject.metric, "intervals")
        subject, rows = self._rows(subject, overall)
        numbers = ("questions", "trials", "estimate", "mu", "lo", "hi", "marked")
        drawn = rows.select(*row_labels(subject.trials), *numbers)
        bars = "bar: unbiased estimate" if rows["marked"].is_not_null().any() else ""
        heading = subject.heading(subject.name, subject.intervals, bars)
        colours, percent = subject.colours, subject.percent
        return charts.forest_plot(
            drawn,
            heading,
            subject.name,
            colours,
            percent=percent,
            smallest_first=subject.metric.looks_at == "costs",
        )

    @takes_options(PlotOptions)
    def curve(
        self,
        metric: Metric | DrawSizes,
        *,
        overall: Overall | None = None,
        **options: Unpack[PlotOptions],
    ) -> Picture:
        """A metric against k: what do more draws buy?

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
            A line of mu for each model, dashed if k exceeds the trials, and points at the
            estimates that differ from mu. Lines in colour have a band, the interval. More than
            three coloured lines get a panel each; panels of strata have up to three. The axis is
            logarithmic if the largest k is at least eight times the smallest.

        Raises
        ------
        ValueError
            If the metric has no draw sizes; and as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "ada", "question": 1, "category": [0, 1, 0]})
        >>> chart = trials.scorio(trial=None).plot.curve(2)
        >>> [(row["k"], round(row["mu"], 3)) for row in chart.data.values]
        [(1, 0.333), (2, 0.667)]
        """
        metric = metric if isinstance(metric, Metric) else pass_at_k(curve_sizes(metric))
        drawn = [k for k in metric.row_sizes if k is not None]
        if metric.t is not None:
            raise ValueError(f"{metric.name} is a curve over thresholds: plot.tail draws it")
        if not drawn:
            raise ValueError(
                f"curve needs draw sizes, and {metric.name} has none: pass for instance "
                "ps.pass_at_k([1, 2, 4, 8])"
            )
        subject = self._subject(metric, options)
        subject, rows = self._rows(subject, overall)
        name = metric_heading(metric, None)
        notes = {
            "points: unbiased estimate": rows["marked"].is_not_null().any(),
            "dashed: k exceeds the trials, a prediction and its range": rows["ahead"].any(),
        }
        said = "; ".join(note for note, holds in notes.items() if holds)
        numbers = ("k", "estimate", "mu", "lo", "hi", "marked", "ahead")
        labelled = rows.select(*row_labels(subject.trials), *numbers)
        heading = subject.heading(name, subject.bands, said)
        across, percent = draw_sizes_axis(drawn), subject.percent
        return line_chart(labelled, heading, across, name, subject.line_colours, percent=percent)

    @takes_options(PlotOptions)
    def tail(
        self, k: int, *, overall: Overall | None = None, **options: Unpack[PlotOptions]
    ) -> Picture:
        """How many of k trials succeed? From Pass@k, at least one, down to Pass^k, all of them.

        Parameters
        ----------
        k : int
            Draw size.
        overall : "macro" or "micro", optional
            Add a panel over all strata, as in `Scorio.report`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line for each model, as in `curve`: `ps.tail_pass` against the number of successes
            that is asked for. The line is flat if each question is always or never solved, and
            falls if the model guesses.

        Raises
        ------
        ValueError
            If `k` is not a positive int; and as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "ada", "question": 1, "category": [0, 1, 0]})
        >>> chart = trials.scorio(trial=None).plot.tail(2)
        >>> [(row["t"], round(row["mu"], 3)) for row in chart.data.values]
        [(1, 0.667), (2, 0.0)]
        """
        subject, rows = self._rows(self._subject(tail_pass(k), options), overall)
        rows = rows.rename({"k": "t"})
        name = metric_heading(subject.metric, None)
        points = "points: unbiased estimate" if rows["marked"].is_not_null().any() else ""
        numbers = ("t", "estimate", "mu", "lo", "hi", "marked", "ahead")
        labelled = rows.select(*row_labels(subject.trials), *numbers)
        heading = subject.heading(name, subject.bands, points)
        across = charts.whole_axis("t", f"t, successes of {k:,}", range(1, k + 1))
        return line_chart(
            labelled, heading, across, name, subject.line_colours, percent=subject.percent
        )

    @takes_options(LookOptions)
    def forecast(
        self,
        k: DrawSizes = 10_000,
        metric: Drawn = pass_at_k,
        *,
        confidence: float | None = None,
        **options: Unpack[LookOptions],
    ) -> Picture:
        """A metric against k beyond the trials, with its range: what would more trials show?

        Parameters
        ----------
        k : int or sequence of int
            Draw sizes; a single one, as the default 10,000, means 1, 2, 4, ... up to it, and
            itself.
        metric : function or Metric
            What to forecast, as in `Scorio.forecast`.
        confidence : float, optional
            Confidence of the intervals and ranges; default: that of the accessor, else 0.95.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line for each model, as in `curve`. It is solid as far as every question has k trials:
            estimates and calibrated intervals. Beyond, it is dashed: the numbers of
            `Scorio.forecast`.

        Raises
        ------
        TypeError, ValueError
            As `Scorio.forecast`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"model": "ada", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]}
        >>> chart = pl.DataFrame(columns).scorio(trial=None).plot.forecast(4)
        >>> [(row["k"], row["ahead"]) for row in chart.data.values]
        [(1, False), (2, False), (4, True)]
        """
        drawn = drawn_by(metric, None if isinstance(metric, Metric) else curve_sizes(k))
        trials = bind_roles(self._log, self._roles)
        forecast_successes(Request.of(trials, [drawn]))
        chosen: PlotOptions = {"prior": None}
        if confidence is not None:
            chosen["confidence"] = confidence
        return self.curve(drawn, **cast("PlotOptions", {**options, **chosen}))

    @takes_options(PlotOptions)
    def over(
        self, step: str, metric: Metric | None = None, **options: Unpack[PlotOptions]
    ) -> Picture:
        """How does a metric change along a stratum, such as the steps of a training?

        Parameters
        ----------
        step : str
            A column of numbers or times; it need not be among the strata of the accessor. The
            other strata become panels.
        metric : Metric, optional
            What to show; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line for each model, as in `curve`. A diamond marks the best step of each coloured
            line. Its interval allows for the selection among so many steps, as `Scorio.best` does
            if the steps are the models. Metrics of costs have no diamonds.

        Raises
        ------
        ValueError
            If the column holds neither numbers nor times; and as `intervals`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame(
        ...     {"model": "run", "step": [0, 0, 100, 100], "question": [1, 2] * 2,
        ...      "category": [0, 1, 1, 1]}
        ... )
        >>> chart = trials.scorio(trial=None).plot.over("step", polars_scorio.avg())
        >>> [(row["at"], row["mu"]) for row in chart.data.values]
        [(0, 0.5), (100, 1.0)]
        """
        subject = self._subject(metric, options, along=step)
        single_k(subject.metric, "over")
        at = subject.source.by[-1]
        if not (at.dtype.is_numeric() or at.dtype.is_temporal()):
            raise ValueError(
                f"over needs a column of numbers or times, and {step!r} is {at.dtype}: cast it"
            )
        subject, rows = self._rows_over(subject, axis_values(step, at.dtype).alias("at"))
        across, colours = stratum_axis(step, at.dtype), subject.line_colours
        points = "points: unbiased estimate"
        if rows["marked"].is_null().all():
            points = f"points: the values of {step} in the log"
            shown = pl.col("model").is_in([*colours]) & ~pl.col("ahead")
            rows = rows.with_columns(marked=pl.when(shown).then("mu"))
        marks = best_step_words(rows, [*colours])
        heading = subject.heading(f"{subject.name} over {step}", subject.bands, points, marks)
        return line_chart(rows, heading, across, subject.name, colours, percent=subject.percent)
