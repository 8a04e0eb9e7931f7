"""Pictures of questions and of the frontier."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from polars_scorio.arguments import check_choice, check_count
from polars_scorio.decisions.models import refuse_costs, single_k
from polars_scorio.decisions.question_analysis import question_analysis
from polars_scorio.display import charts as grids
from polars_scorio.display.chart_data import (
    by_difficulty,
    inert_texts,
    model_label,
    strata_heading,
    stratum_label,
)
from polars_scorio.display.charts import Picture, PlotOptions, difficulty_bars, difficulty_histogram
from polars_scorio.display.plot_base import PlotBase, Subject
from polars_scorio.display.sentences import reversal_summary
from polars_scorio.display.words import inference_words
from polars_scorio.metrics.metric import Metric, given_reward_range
from polars_scorio.metrics.weighted import WeightedMetric
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import view_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


from typing import TYPE_CHECKING

import altair as alt

from polars_scorio.arguments import Compared
from polars_scorio.decisions.frontier import frontier, frontier_band
from polars_scorio.display.charts import (
    GREY,
    INK,
    NAME,
    Heading,
    LookOptions,
    in_panels,
    model_legend,
    number_tooltips,
    value_axis,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


QuestionPicture = Literal["strip", "histogram"]
_CELLS, _MOST_CELLS = 300, 10_000  # questions that a heat map shows side by side


class QuestionPlots(PlotBase):
    """Pictures of single questions."""

    @takes_options(PlotOptions)
    def questions(
        self,
        metric: Metric | None = None,
        *,
        kind: QuestionPicture = "strip",
        cells: int = _CELLS,
        **options: Unpack[PlotOptions],
    ) -> Picture:
        """Which questions are hard, and for whom? A heat map, or a histogram.

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
        trials, own = subject.trials, {**subject.options}
        if view_of(subject.metric, trials) == "rewards":
            own.pop("prior", None)
        # Of single questions there are posteriors about themselves, which hold at one look.
        own["anytime"], own["target"] = None, "benchmark"
        plan = self._tidy(trials, subject.metric, own, per="question")
        subject, (rows,) = self._collected(subject, plan)
        question = inert_texts(pl.col(trials.question.name).cast(pl.String)).alias("question")
        shown, each = by_difficulty(
            rows.select(stratum_label(trials), model_label(trials), question, "mu"), cells
        )
        rests_on = inference_words(own, [subject.metric], per_question=True)
        words = f"posterior mean of each question, {rests_on}"
        if rows["mu"].equals(rows["estimate"]):
            words = "average of the trials of each question"
        hatched = "hatched: no trials" if shown["mu"].null_count() else ""
        heading = replace(
            subject.heading(subject.name, words, hatched), panels=strata_heading(trials)
        )
        ends = subject.metric.support
        if "bounds" in rows.columns and rows["bounds"].null_count() < len(rows):
            ends = float(rows["mu"].min()), float(rows["mu"].max())  # type: ignore[arg-type]  # floats
        return grids.heat_map(shown, heading, subject.name, ends, each=each)

    def _histogram(self, subject: Subject) -> Picture:
        """Histogram of the questions that all models of a stratum have, by their rate."""
        metric, trials = subject.metric, subject.trials
        averages = isinstance(metric, WeightedMetric)
        if not averages:
            raise ValueError(f'{metric.name}: kind="histogram" is of mean outcomes: take ps.avg()')
        w = None if metric.w is None else dict(metric.w)
        plan = question_analysis(self._log, self._roles, w, questions="common")  # type: ignore[arg-type]  # words or numbers
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
        heading = subject.heading(
            "Difficulty of the questions",
            "average of the trials of each question",
            reversal_summary(strata),
        )
        return difficulty_histogram(bars, heading, title, span)


_HEIGHT = 300  # pixels of a panel


class FrontierPlots(PlotBase):
    """The picture of scores against costs."""

    @takes_options(LookOptions)
    def frontier(
        self,
        metric: Metric | None = None,
        *,
        confidence: float | None = None,
        questions: Compared = "same",
        **options: Unpack[LookOptions],
    ) -> Picture:
        """Which models are worth their cost? Scores against costs.

        Parameters
        ----------
        metric : Metric, optional
            The score against the mean cost; default `ps.avg()`. One draw size at a time.
        confidence : float, optional
            Confidence of the intervals and the band; default: that of the accessor, else 0.95.
        questions : "same" or "common"
            "same", the default: the models of a stratum must have the same questions. "common":
            only questions count that all models of the stratum have.

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
        subject = self._subject(metric, options)
        chosen = self._chosen.get("confidence", 0.95) if confidence is None else confidence
        plans = (
            each(self._log, self._roles, subject.metric, confidence=chosen, questions=questions)
            for each in (frontier, frontier_band)
        )
        subject, (models, band) = self._collected(subject, *plans)
        numbers = ("estimate", "lo", "hi", "mean_cost", "cost_lo", "cost_hi", "p_frontier")
        labels = stratum_label(subject.trials)
        points = models.drop_nulls("estimate").select(
            labels, model_label(subject.trials), *numbers, "dominated"
        )
        rows = pl.concat([points, band.drop_nulls().select(labels, "cost", "lo", "hi")],
                         how="diagonal")  # fmt: skip
        column = "the cost" if self._roles.cost is None else str(self._roles.cost)
        heading = subject.heading(
            f"{subject.name} against cost",
            f"intervals at {100 * float(chosen):g} %, about the population of questions",
            "band: the best score for at most so much; hollow: dominated",
        )
        return frontier_chart(
            rows,
            heading,
            (f"mean cost of a trial ({column})", subject.name),
            subject.colours,
            percent=subject.percent,
        )


def frontier_chart(
    rows: pl.DataFrame,
    heading: Heading,
    titles: tuple[str, str],
    colours: dict[str, str],
    *,
    percent: bool,
) -> Picture:
    """A point with two intervals for each model, and a band; `titles` are of the axes.

    `rows` of models: stratum, model, estimate, lo, hi, mean_cost, cost_lo, cost_hi, dominated; of
    the band: stratum, cost, lo, hi.
    """
    rows = rows.with_columns(coloured=pl.col("model").is_in([*colours]))
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    hue = alt.condition(
        "datum.coloured", alt.Color("model:N", scale=scale, legend=model_legend()), alt.value(GREY)
    )
    dollars = alt.Scale(type="log", nice=False, padding=12)
    across, up = (
        {end: _axis_of(side, end, title, dollars if side is alt.X else None, percent=percent)
         for end in ends}
        for side, title, ends in (
            (alt.X, titles[0], ("mean_cost", "cost_lo", "cost")),
            (alt.Y, titles[1], ("estimate", "lo")),
        )
    )  # fmt: skip
    models = alt.Chart().transform_filter("isValid(datum.model)")
    base = models.encode(color=hue, tooltip=number_tooltips(rows.drop("cost")))
    place = {"x": across["mean_cost"], "y": up["estimate"]}
    layers = [
        alt.Chart().transform_filter("isValid(datum.cost)")
        .mark_area(opacity=0.15, color=INK).encode(x=across["cost"], y=up["lo"], y2="hi:Q"),
        base.mark_rule(size=2).encode(x=across["mean_cost"], y=up["lo"], y2="hi:Q"),
        base.mark_rule(size=2).encode(x=across["cost_lo"], x2="cost_hi:Q", y=up["estimate"]),
        base.transform_filter("!datum.dominated")
        .mark_point(size=60, filled=True, opacity=1).encode(**place),
        base.transform_filter("datum.dominated").mark_point(size=60, opacity=1).encode(**place),
        models.transform_filter("!datum.coloured")
        .mark_text(align="left", dx=7, dy=-7, color=INK, limit=NAME)
        .encode(text="model:N", **place),
    ]  # fmt: skip
    number = rows["model"].n_unique() - rows["cost"].is_not_null().any()
    words = f"A point for each of {number} model{'s' if number > 1 else ''}"
    return in_panels(layers, rows, heading, words, height=_HEIGHT)


def _axis_of(
    side: type[alt.X | alt.Y],
    column: str,
    title: str,
    scale: alt.Scale | None,
    *,
    percent: bool,
) -> alt.X | alt.Y:
    """A column along an axis; costs have a log scale, and no percentages."""
    channel = side(f"{column}:Q", scale=scale or alt.Scale(zero=False))
    axis: alt.X | alt.Y = value_axis(channel, title, percent=percent and scale is None)
    return axis
