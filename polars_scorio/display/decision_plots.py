"""Pictures of what compares models: `df.scorio.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.convergence import convergence_plan, trajectory
from polars_scorio.decisions.models import single_k
from polars_scorio.decisions.rank import rank
from polars_scorio.display import charts
from polars_scorio.display import charts as grids
from polars_scorio.display.chart_data import (
    both_ways,
    marked_rows,
    metric_heading,
    paired_rows,
    row_labels,
    stratum_label,
    thinned_rows,
)
from polars_scorio.display.charts import (
    ConvergencePlotOptions,
    DecisionPlotOptions,
    Picture,
    line_chart,
)
from polars_scorio.display.plot_base import PlotBase
from polars_scorio.metrics.metric import Metric
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import ConvergenceOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_KEYWORDS = ConvergenceOptions.__optional_keys__
_HATCHED = "hatched: no comparison (no trials, or k exceeds them)"
_STEPS = 200  # points of a line


class DecisionPlots(PlotBase):
    """Pictures of comparisons, ranks, and of what fewer trials would have said."""

    @takes_options(DecisionPlotOptions)
    def comparison(
        self, metric: Metric | None = None, **options: Unpack[DecisionPlotOptions]
    ) -> Picture:
        """Which model beats which? A matrix of probabilities.

        Parameters
        ----------
        metric : Metric, optional
            What to compare; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            The probability that the model of the row is better than that of the column, the best
            models first. For up to 14 models the cells hold numbers, in bold where `Scorio.compare`
            names a better model, for all pairs of a stratum at once.

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
        [('ada', 'bob', '.90'), ('bob', 'ada', '.10')]
        """
        subject = self._subject(metric, options)
        single_k(subject.metric, "comparison")
        plan = compare(self._log, self._roles, subject.metric, simultaneous=True, **subject.options)
        subject, (compared,) = self._collected(subject, plan)
        pairs = paired_rows(both_ways(compared, subject.trials))
        level = f"{100 * subject.options.get('confidence', 0.95):g} %"
        heading = subject.heading(
            f"Which model is better by {subject.name}?",
            f"probability that the row beats the column, {subject.intervals}",
            _HATCHED if pairs["prob"].null_count() else "",
        )
        return grids.probability_matrix(pairs, heading, f"better at {level}, all pairs at once")

    @takes_options(DecisionPlotOptions)
    def ranks(
        self, metric: Metric | None = None, **options: Unpack[DecisionPlotOptions]
    ) -> Picture:
        """Ranks that each model may have, as ranges.

        Parameters
        ----------
        metric : Metric, optional
            By what the models are ranked; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A row for each model with the ranks from `rank_lo` to `rank_hi` of `Scorio.rank`, which
            hold for all models at once; the large point is its rank by the score alone.

        Raises
        ------
        ValueError
            As `Scorio.rank`; and if no model has a rank because k exceeds the trials.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> chart = trials.scorio(trial=None).plot.ranks()
        >>> [(row["model"], row["rank_lo"], row["rank_hi"]) for row in chart.data.values]
        [('ada', 1, 2), ('bob', 1, 2)]
        """
        subject = self._subject(metric, options)
        single_k(subject.metric, "ranks")
        plan = rank(self._log, self._roles, subject.metric, **subject.options)
        subject, (rows,) = self._collected(subject, plan)
        own = rows.select(
            *row_labels(subject.trials), "rank", "rank_lo", "rank_hi", "mu", "lo", "hi"
        ).filter(pl.col("rank").is_not_null())
        if rows.height and own.is_empty():
            raise ValueError(
                f"{subject.metric.name}: models have no ranks by k={[*subject.metric.row_sizes]}, "
                "more than the trials of some question: draw a smaller one"
            )
        level = f"{100 * subject.options.get('confidence', 0.95):g} %"
        heading = subject.heading(
            f"Places by {subject.name}",
            f"open at {level} for all models at once, {subject.intervals}",
        )
        return charts.rank_chart(own, heading, subject.colours)

    @takes_options(DecisionPlotOptions)
    def trajectory(
        self, metric: Metric | None = None, **options: Unpack[DecisionPlotOptions]
    ) -> Picture:
        """How did scores develop? Estimates after the first n trials of each question.

        Parameters
        ----------
        metric : Metric, optional
            What to follow; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A line of mu against n for each model, with the interval as a band; at most 200 values
            of n are drawn. Colours and bands are as in `curve`.

        Raises
        ------
        ValueError
            As `Scorio.trajectory`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"model": "ada", "question": 1, "trial": [0, 1], "category": [1, 0]}
        >>> trials = pl.DataFrame(columns)
        >>> chart = trials.scorio.plot.trajectory()
        >>> [(row["n"], row["mu"]) for row in chart.data.values]
        [(1, 1.0), (2, 0.5)]
        """
        subject = self._subject(metric, options)
        plan = trajectory(self._log, self._roles, subject.metric, **subject.options)
        subject, (rows,) = self._collected(subject, plan)
        few = thinned_rows(rows, subject.trials.keys, _STEPS).with_columns(estimate=pl.col("mu"))
        drawn = marked_rows(few, subject.metric).select(
            *row_labels(subject.trials), "n", "mu", "lo", "hi", "rank", "marked", "ahead"
        )
        name = metric_heading(subject.metric, subject.metric.row_sizes[0])
        heading = subject.heading(f"{name} after n trials", subject.bands)
        across, percent = charts.whole_axis("n", charts.TRIALS_TITLE), subject.percent
        return line_chart(drawn, heading, across, name, subject.line_colours, percent=percent)

    @takes_options(ConvergencePlotOptions)
    def convergence(
        self, metric: Metric | None = None, **options: Unpack[ConvergencePlotOptions]
    ) -> Picture:
        """After how many trials does the ranking settle?

        Parameters
        ----------
        metric : Metric, optional
            By what the models are ranked; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            Two lines against n: the share of the replicates whose ranking has settled, and the mean
            of Kendall's tau with the ranking by all trials. At most 200 values of n are drawn.

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
        # First, for so many strata are refused that replicates of them would take hours.
        subject, _ = self._collected(self._subject(metric, options))
        known = {name: subject.options[name] for name in _KEYWORDS & subject.options.keys()}
        plan = convergence_plan(self._log, self._roles, subject.metric, **known)
        settled = plan.collect(engine="streaming").drop_nulls("n")
        rows = thinned_rows(settled, [*subject.trials.strata], _STEPS)
        what = {
            "cumulative": "share of the replicates that have settled",
            "tau": "Kendall's tau against the ranking by all trials",
        }
        long = rows.select(stratum_label(subject.trials), "n", *what).unpivot(
            list(what), index=["stratum", "n"], variable_name="what"
        )
        replicates = options.get("replicates", 1000)
        drawn = f"{replicates:,} bootstrap replicates" if replicates else "the log in its order"
        heading = subject.heading(
            f"When the ranking by {subject.name} settles",
            f"{drawn}, {subject.inference}",
        )
        return charts.settling_chart(
            long.with_columns(pl.col("what").replace_strict(what)), heading
        )
