"""Pictures of what the accessor reports: `df.scorio.plot`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import polars as pl

from polars_scorio.arguments import Overall, Unmatched, check_choice, check_count
from polars_scorio.counting.log import CATEGORY, COUNT, Trials, bind_roles
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.convergence import convergence_plan, trajectory
from polars_scorio.decisions.frontier import frontier, frontier_band
from polars_scorio.decisions.models import refuse_costs, single_k
from polars_scorio.decisions.question_analysis import question_analysis
from polars_scorio.decisions.rank import rank
from polars_scorio.display import charts
from polars_scorio.display.chart_data import (
    axis_values,
    both_ways,
    by_difficulty,
    curve_sizes,
    difficulty_bars,
    inert_texts,
    marked_rows,
    metric_heading,
    model_label,
    paired_rows,
    row_labels,
    strata_heading,
    stratum_label,
    thinned_rows,
)
from polars_scorio.display.charts import (
    ConvergencePlotOptions,
    DecisionPlotOptions,
    LookOptions,
    Picture,
    PlotOptions,
    best_step_words,
    draw_sizes_axis,
    line_chart,
    stratum_axis,
)
from polars_scorio.display.plot_base import PictureSubject, PlotBase
from polars_scorio.display.sentences import reversal_summary
from polars_scorio.display.words import inference_words
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.metric import DrawSizes, Metric, given_reward_range
from polars_scorio.metrics.rewards import max_at_k, min_at_k
from polars_scorio.metrics.success import pass_at_k, pass_hat_k
from polars_scorio.metrics.thresholds import tail_pass
from polars_scorio.signatures import takes_options
from polars_scorio.study.forecast import Drawn, drawn_by, forecast_successes
from polars_scorio.study.request import (
    ConvergenceOptions,
    Request,
    chosen_first,
    on_levels,
    view_of,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

QuestionPicture = Literal["strip", "histogram"]
_CELLS, _MOST_CELLS = 300, 10_000  # questions that a heat map shows side by side
_ABOUT = {"benchmark": "about these questions", "population": "about questions like these"}
_KEYWORDS = ConvergenceOptions.__optional_keys__
_HATCHED = "hatched: no comparison (no trials, or k exceeds them)"
_STEPS = 200  # points of a line
_FANS, _DRAWN = 2, 64  # fans that share a panel; the largest k that nobody asked for


class Plots(PlotBase):
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
    <pictures: intervals, curve, reliability, tail, forecast, over, comparison, ranks, trajectory, \
convergence, questions, frontier>
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
        """Curve of a metric against k, with a band.

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
            estimates that differ from mu. Lines in colour have a band: calibrated ones hold for the
            whole curve at once, as with ``simultaneous=True`` in a report. More than
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
        subject = self._banded(self._subject(metric, options), overall)
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
    def reliability(
        self,
        k: DrawSizes | None = None,
        *,
        overall: Overall | None = None,
        **options: Unpack[PlotOptions],
    ) -> Picture:
        """Fan of reliability, from one try: Pass@k above, Pass^k below.

        Parameters
        ----------
        k : int or sequence of int, optional
            Draw sizes, as in `curve`; default: 1, 2, 4, ... up to the trials that all questions
            have, at most 64.
        overall : "macro" or "micro", optional
            Add a panel over all strata, as in `Scorio.report`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            Two lines for each model with bands, as in `curve`: at least one of k tries is right,
            and all are; of rewards the best and the worst of k. The space between is luck. More
            than two coloured models get a panel each; panels of strata have up to two.

        Raises
        ------
        ValueError
            If some question has a single trial; and as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": "ada", "question": 1, "category": [0, 1]})
        >>> chart = trials.scorio(trial=None).plot.reliability()
        >>> [(row["curve"], row["k"], row["mu"]) for row in chart.data.values]
        [('Pass@k', 1, 0.5), ('Pass@k', 2, 1.0), ('Pass^k', 1, 0.5), ('Pass^k', 2, 0.0)]
        """
        subject = self._subject(None, options)
        trials = subject.trials
        sizes = curve_sizes(_fewest_trials(trials) if k is None else k)
        kinds: tuple[Metric, Metric] = (pass_at_k(sizes), pass_hat_k(sizes))
        if view_of(subject.metric, trials) == "rewards":
            kinds = (max_at_k(sizes), min_at_k(sizes))
        subject = self._banded(replace(subject, metric=on_levels(kinds[0], trials)), overall)
        asked = {**subject.options, "curves": subject.banded}
        both = [on_levels(kind, trials) for kind in kinds]
        plan = self._tidy(subject.source, both, asked, overall=overall)
        subject, (answer,) = self._collected(subject, plan)
        names = [metric_heading(kind, None) for kind in kinds]
        numbers = ("k", "estimate", "mu", "lo", "hi", "marked", "ahead")
        parts = [
            marked_rows(answer.filter(pl.col("lo").is_not_null(), metric=kind.name), kind).select(
                *row_labels(trials), pl.lit(name).alias("curve"), *numbers
            )
            for kind, name in zip(kinds, names, strict=True)
        ]
        line = ["stratum", "model", "k"]
        floor = parts[1].select(*line, floor="mu")
        parts[0] = parts[0].join(floor, on=line, how="left", maintain_order="left")
        heading = subject.heading(
            "Can it, and can you rely on it?",
            f"above: {names[0]}, the best of k tries; below: {names[1]}, the worst; between: luck",
            f"bands{' for the whole curve' * subject.banded}: {subject.intervals}",
        )
        colours = subject.colours
        if heading.panels:
            colours = dict([*colours.items()][:_FANS])
        across, title = draw_sizes_axis(sizes), " and ".join(names)
        rows = pl.concat(parts, how="diagonal")
        percent = subject.percent
        return line_chart(rows, heading, across, title, colours, percent=percent, banded=_FANS)

    @takes_options(PlotOptions)
    def tail(
        self, k: int, *, overall: Overall | None = None, **options: Unpack[PlotOptions]
    ) -> Picture:
        """Successes in k trials: from Pass@k, at least one, down to Pass^k, all of them.

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
        """Curve of a metric against k beyond the trials, with its range.

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
        forecast_successes(Request.from_trials(trials, [drawn]))
        chosen: PlotOptions = {"prior": None}
        if confidence is not None:
            chosen["confidence"] = confidence
        return self.curve(drawn, **cast("PlotOptions", {**options, **chosen}))

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
            visible = pl.col("model").is_in([*colours]) & ~pl.col("ahead")
            rows = rows.with_columns(marked=pl.when(visible).then("mu"))
        marks = best_step_words(rows, [*colours])
        heading = subject.heading(f"{subject.name} over {step}", subject.bands, points, marks)
        return line_chart(rows, heading, across, subject.name, colours, percent=subject.percent)

    @takes_options(DecisionPlotOptions)
    def comparison(
        self, metric: Metric | None = None, **options: Unpack[DecisionPlotOptions]
    ) -> Picture:
        """Matrix of the probabilities that one model is better than another.

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
        [('ada', 'bob', '.75'), ('bob', 'ada', '.25')]
        """
        subject = self._subject(metric, options)
        single_k(subject.metric, "comparison")
        plan = compare(self._log, self._roles, subject.metric, spoken="counts", **subject.options)
        subject, (compared,) = self._collected(subject, plan)
        pairs = paired_rows(both_ways(compared, subject.trials))
        level = f"{100 * subject.options.get('confidence', 0.95):g} %"
        heading = subject.heading(
            f"Which model is better by {subject.name}?",
            f"probability that the row beats the column, {subject.intervals}",
            _HATCHED if pairs["prob_better"].null_count() else "",
        )
        return charts.probability_matrix(pairs, heading, f"better at {level}, all pairs at once")

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
        plan = rank(self._log, self._roles, subject.metric, spoken="counts", **subject.options)
        subject, (rows,) = self._collected(subject, plan)
        ranked = rows.select(
            *row_labels(subject.trials), "rank", "rank_lo", "rank_hi", "mu", "lo", "hi"
        ).filter(pl.col("rank").is_not_null())
        if rows.height and ranked.is_empty():
            raise ValueError(
                f"{subject.metric.name}: models have no ranks by k={[*subject.metric.row_sizes]}, "
                "more than the trials of some question: draw a smaller one"
            )
        level = f"{100 * subject.options.get('confidence', 0.95):g} %"
        heading = subject.heading(
            f"Places by {subject.name}",
            f"open at {level} for all models at once, {subject.intervals}",
        )
        return charts.rank_chart(ranked, heading, subject.colours)

    @takes_options(DecisionPlotOptions)
    def trajectory(
        self, metric: Metric | None = None, **options: Unpack[DecisionPlotOptions]
    ) -> Picture:
        """Curve of the estimates after the first n trials of each question.

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
        """Trials after which the ranking settles, over bootstrap replicates.

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

    @takes_options(PlotOptions)
    def questions(
        self,
        metric: Metric | None = None,
        *,
        kind: QuestionPicture = "strip",
        cells: int = _CELLS,
        **options: Unpack[PlotOptions],
    ) -> Picture:
        """Heat map of questions and models, or a histogram of questions.

        Parameters
        ----------
        metric : Metric, optional
            What to show of each question; default `ps.avg()`. One draw size at a time.
        kind : "strip" or "histogram"
            "strip", the default: a strip of questions for each model. "histogram": the number of
            questions by their mean over the models, for `ps.avg` and `ps.bayes` alone.
        cells : int
            The largest number of cells of a strip. If a stratum has more questions, questions of
            about the same difficulty share a cell, which shows their mean.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            Strip: a cell for each model and question, coloured by mu of the question (its average
            for `ps.avg`). Models are ordered by their mean, questions by the mean over the models,
            the hardest first.

            Histogram: ten bars, whose colours show the questions that were never solved, always
            solved, or reversed according to `Scorio.questions`; if that is unknown, the subtitle
            says so. Only questions that all models of a stratum have are counted.

        Raises
        ------
        ValueError
            For several draw sizes, and for a histogram of another metric; else as `Scorio.report`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame(
        ...     {"model": "ada", "question": ["easy", "easy", "hard"], "category": [1, 1, 0]}
        ... )
        >>> chart = trials.scorio(trial=None).plot.questions()
        >>> [(row["question"], row["mu"]) for row in chart.data.values]
        [('hard', 0.0), ('easy', 1.0)]
        """
        check_choice("kind", kind, QuestionPicture)
        cells = check_count("cells", cells, most=_MOST_CELLS)
        subject = self._subject(metric, options)
        refuse_costs(
            subject.metric,
            "plot.questions",
            "plot.intervals and plot.frontier show what models cost",
        )
        if kind == "histogram":
            return self._histogram(subject)
        single_k(subject.metric, "questions")
        trials, settings = subject.trials, {**subject.options}
        if view_of(subject.metric, trials) == "rewards":
            settings.pop("prior", None)
        # Of single questions there are posteriors about themselves, which hold at one look.
        settings |= {"target": "benchmark", "planned_trials": None, "planned_questions": None}
        plan = self._tidy(trials, subject.metric, settings, per="question")
        subject, (rows,) = self._collected(subject, plan)
        question = inert_texts(pl.col(trials.question.name).cast(pl.String)).alias("question")
        ordered, each = by_difficulty(
            rows.select(stratum_label(trials), model_label(trials), question, "mu"), cells
        )
        rests_on = inference_words(settings, [subject.metric], per_question=True)
        words = f"posterior mean of each question, {rests_on}"
        if rows["mu"].equals(rows["estimate"]):
            words = "average of the trials of each question"
        hatched = "hatched: no trials" if ordered["mu"].null_count() else ""
        heading = replace(
            subject.heading(subject.name, words, hatched), panels=strata_heading(trials)
        )
        ends = subject.metric.support
        if "bounds" in rows.columns and rows["bounds"].null_count() < len(rows):
            ends = float(rows["mu"].min()), float(rows["mu"].max())  # type: ignore[arg-type]  # floats
        return charts.heat_map(ordered, heading, subject.name, ends, each=each)

    def _histogram(self, subject: PictureSubject) -> Picture:
        """Histogram of the questions that all models of a stratum have, by their rate."""
        metric, trials = subject.metric, subject.trials
        averages = metric.averages_weights
        if not averages:
            raise ValueError(f'{metric.name}: kind="histogram" is of mean outcomes: take ps.avg()')
        w = None if metric.w is None else dict(metric.w)
        plan = question_analysis(self._log, self._roles, w, unmatched="drop")  # type: ignore[arg-type]  # words or numbers
        subject = replace(subject, options={**subject.options, "unmatched": "drop"})
        subject, (rows,) = self._collected(subject, plan)
        rates, span = rows["rate"], metric.support
        if rows["solved_by"].null_count():  # rewards of an unknown range
            span = float(rates.min()), float(rates.max())  # type: ignore[arg-type]  # floats
        elif view_of(metric, trials) == "rewards":
            span = given_reward_range(metric, trials.roles.bounds) or (0.0, 1.0)
        bars = difficulty_bars(
            rows.select(stratum_label(trials), "rate", "status", "reversed"), span
        )
        strata = rows.partition_by(*trials.strata) if trials.strata else [rows]
        title = f"mean of {subject.name} over the models"
        several = trials.model is not None
        heading = subject.heading(
            "Difficulty of the questions",
            "average of the trials of each question" + " that all models have" * several,
            reversal_summary(strata),
        )
        return charts.difficulty_histogram(bars, heading, title, span)

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
            Confidence of the intervals and the band; default: that of the accessor, else 0.95.
        unmatched : "error" or "drop"
            As in `Scorio.compare`.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A point for each model, with the intervals of its score and of its mean cost; the axis
            of costs is logarithmic. Models without a colour have their name beside the point, and
            points are hollow if `Scorio.frontier` calls the model dominated. The band is the
            frontier with its uncertainty: the best score that each cost can buy.

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
        subject = self._subject(metric, {**options, "unmatched": unmatched})
        said = {"target": target, "confidence": confidence, "unmatched": unmatched}
        usual: dict[str, Any] = {"target": "benchmark", "confidence": 0.95}
        known = ("target", "confidence", "unmatched")
        asked = {name: each for name, each in chosen_first({**usual, **self._chosen}, said).items()
                 if name in known}  # fmt: skip
        plans = (
            each(self._log, self._roles, subject.metric, **asked)
            for each in (frontier, frontier_band)
        )
        subject, (models, band) = self._collected(subject, *plans)
        numbers = ("estimate", "lo", "hi", "mean_cost", "cost_lo", "cost_hi", "prob_on_frontier")
        labels = stratum_label(subject.trials)
        points = models.drop_nulls("estimate").select(
            labels, model_label(subject.trials), *numbers, "dominated"
        )
        rows = pl.concat([points, band.drop_nulls().select(labels, "cost", "lo", "hi")],
                         how="diagonal")  # fmt: skip
        column = "the cost" if self._roles.cost is None else str(self._roles.cost)
        heading = subject.heading(
            f"{subject.name} against cost",
            f"{100 * asked['confidence']:g} % intervals, {_ABOUT[asked['target']]}",
            "band: the best score for at most so much; hollow: dominated",
        )
        return charts.frontier_chart(
            rows,
            heading,
            (f"mean cost of a trial ({column})", subject.name),
            subject.colours,
            percent=subject.percent,
        )


def _fewest_trials(trials: Trials) -> int:
    """The largest power of two that all questions have as trials."""
    rows = trials.rows().filter(pl.col(CATEGORY).is_not_null())
    number = pl.len() if trials.count is None else pl.col(COUNT).sum()
    each = rows.group_by(*trials.groups, trials.question.name).agg(n=number)
    fewest = int(each.select(pl.col("n").min()).collect(engine="streaming").item() or 1)
    if fewest == 1:
        raise ValueError("reliability needs several trials of each question: some have one alone")
    return 1 << (min(fewest, _DRAWN).bit_length() - 1)
