"""Pictures of what the accessor reports: `df.scorio.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.arguments import CONFIDENCE, Overall, Unmatched
from polars_scorio.decisions.frontier import frontier
from polars_scorio.decisions.models import check_single_k
from polars_scorio.display.chart_data import (
    axis_values,
    curve_sizes,
    metric_heading,
    model_label,
    stratum_label,
)
from polars_scorio.display.charts import (
    LookOptions,
    Picture,
    PlotOptions,
    draw_sizes_axis,
    forest_plot,
    frontier_chart,
    line_chart,
    stratum_axis,
)
from polars_scorio.display.plot_base import PlotBase
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.metric import DrawSizes, Metric
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ABOUT = {"benchmark": "about these questions", "population": "about questions like these"}


class Plots(PlotBase):
    """Pictures of a log: `df.scorio.plot`.

    Every method returns an Altair chart, whose title says who may be the best: notebooks show it,
    ``chart.save("picture.png")`` writes it without a browser, ``chart.properties(title=...)``
    changes it. Strata (`by`) become panels; a LazyFrame is collected. It
    needs ``pip install "polars-scorio[plot]"``.

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
    <pictures: intervals, curve, over, frontier>
    """

    def __repr__(self) -> str:
        kinds = [name for name in vars(Plots) if not name.startswith("_")]
        return f"<pictures: {', '.join(kinds)}>"

    @takes_options(PlotOptions)
    def intervals(
        self,
        metric: Metric | None = None,
        *,
        overall: Overall | None = None,
        **options: Unpack[PlotOptions],
    ) -> Picture:
        """Forest plot of the models, with the interval of each score.

        Parameters
        ----------
        metric : Metric, optional
            What to show; default `ps.avg()`. One draw size at a time.
        overall : "macro" or "micro" or dict, optional
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
        check_single_k(subject.metric, "intervals")
        numbers = ("questions", "trials", "estimate", "mu", "lo", "hi", "marked")
        subject, rows = self._rows(subject, numbers, overall)
        bars = "bar: estimate without a prior" if rows["marked"].is_not_null().any() else ""
        layout = subject.layout(subject.name, subject.name, subject.intervals, bars)
        return forest_plot(rows, layout, smallest_first=subject.metric.looks_at == "costs")

    @takes_options(PlotOptions)
    def curve(
        self,
        metric: Metric | DrawSizes,
        *,
        overall: Overall | None = None,
        **options: Unpack[PlotOptions],
    ) -> Picture:
        """Curve of a metric against k, with a band.

        Parameters
        ----------
        metric : Metric, sequence of int, or int
            A metric with draw sizes, as in ``ps.pass_hat_k(range(1, 9))``. Draw sizes alone mean
            Pass@k; a single one means 1, 2, 4, ... up to it, and itself.
        overall : "macro" or "micro" or dict, optional
            Add a panel over all strata, as in `Scorio.report`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line of mu for each model, a range without a line if k exceeds the trials, and points
            at the estimates that differ from mu. Lines in colour have a band: calibrated ones hold
            for the whole curve at once, as with ``simultaneous=True`` in a report. The axis is
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
            raise ValueError(f"{metric.name} is a curve over thresholds: plot its report over t")
        if not drawn:
            raise ValueError(
                f"curve needs draw sizes, and {metric.name} has none: pass for instance "
                "ps.pass_at_k([1, 2, 4, 8])"
            )
        subject = self._banded(self._subject(metric, options), overall)
        numbers = ("k", "estimate", "mu", "lo", "hi", "marked", "ahead")
        subject, rows = self._rows(subject, numbers, overall)
        name = metric_heading(metric, None)
        notes = {
            "points: estimates without a prior": rows["marked"].is_not_null().any(),
            "beyond the trials of a question: a range without an estimate": rows["ahead"].any(),
        }
        said = "; ".join(note for note, holds in notes.items() if holds)
        layout = subject.layout(name, name, subject.bands, said)
        return line_chart(rows, layout, draw_sizes_axis(drawn))

    @takes_options(PlotOptions)
    def over(
        self, step: str, metric: Metric | None = None, **options: Unpack[PlotOptions]
    ) -> Picture:
        """Curve of a metric along a stratum, such as the steps of a training.

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
            A line for each model, as in `curve`. `Scorio.best` has the interval of the best step,
            which allows for the selection, if the steps are the models.

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
        check_single_k(subject.metric, "over")
        at = subject.source.by[-1]
        if not (at.dtype.is_numeric() or at.dtype.is_temporal()):
            raise ValueError(
                f"over needs a column of numbers or times, and {step!r} is {at.dtype}: cast it"
            )
        steps = axis_values(step, at.dtype).alias("at")
        numbers = (steps, "estimate", "mu", "lo", "hi", "marked", "ahead")
        subject, rows = self._rows(subject, numbers)
        points = "points: estimates without a prior"
        if rows["marked"].is_null().all():
            points = f"points: the values of {step} in the log"
            visible = pl.col("model").is_in([*subject.colours]) & ~pl.col("ahead")
            rows = rows.with_columns(marked=pl.when(visible).then("mu"))
        title = f"{subject.name} over {step}"
        layout = subject.layout(subject.name, title, subject.bands, points)
        return line_chart(rows, layout, stratum_axis(step, at.dtype))

    @takes_options(LookOptions)
    def frontier(
        self,
        metric: Metric | None = None,
        *,
        target: Target | None = None,
        confidence: float | None = None,
        unmatched: Unmatched = "error",
        **options: Unpack[LookOptions],
    ) -> Picture:
        """Scores against costs, with the Pareto frontier.

        Parameters
        ----------
        metric : Metric, optional
            The score against the mean cost; default `ps.avg()`. One draw size at a time.
        target : "benchmark" or "population", optional
            As in `Scorio.frontier`.
        confidence : float, optional
            Confidence of the intervals; default: that of the accessor, else 0.95.
        unmatched : "error" or "drop"
            As in `Scorio.compare`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A point for each model, with the intervals of its score and of its mean cost; the axis
            of costs is logarithmic. Models without a colour have their name beside the point, and
            points are hollow if `Scorio.frontier` calls the model dominated.

        Raises
        ------
        ValueError
            As `Scorio.frontier`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"question": [1, 2, 3, 4], "category": [1, 1, 1, 0]}
        >>> ada = pl.DataFrame(columns).with_columns(model=pl.lit("ada"), usd=pl.col("question"))
        >>> bob = ada.with_columns(model=pl.lit("bob"), usd=3 * pl.col("usd"))
        >>> log = pl.concat([ada, bob]).scorio(trial=None, cost="usd")
        >>> chart = log.plot.frontier()
        >>> [(row["model"], row["mean_cost"]) for row in chart.data.values if row["model"]]
        [('ada', 2.5), ('bob', 7.5)]
        """
        said = {"target": target, "confidence": confidence, "unmatched": unmatched}
        subject = self._subject(metric, {**options, **said})
        chosen: dict[str, Any] = {"target": "benchmark", "confidence": CONFIDENCE}
        chosen |= subject.options
        asked = {name: chosen[name] for name in said}
        plan = frontier(self._log, self._roles, subject.metric, **asked)
        subject, (models,) = self._collected(subject, plan)
        numbers = ("estimate", "lo", "hi", "mean_cost", "cost_lo", "cost_hi", "prob_on_frontier")
        rows = models.drop_nulls("estimate").select(
            stratum_label(subject.trials), model_label(subject.trials), *numbers, "dominated"
        )
        column = "the cost" if self._roles.cost is None else str(self._roles.cost)
        layout = subject.layout(
            subject.name,
            f"{subject.name} against cost",
            f"{100 * asked['confidence']:g} % intervals, {_ABOUT[asked['target']]}",
            "hollow: dominated",
        )
        return frontier_chart(rows, layout, f"mean cost of a trial ({column})")
