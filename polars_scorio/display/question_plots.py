"""Pictures of the questions of a log: how hard they are, and for whom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from polars_scorio.arguments import InferenceKind, check_choice, check_count
from polars_scorio.decisions.cost_models import refuse_costs
from polars_scorio.decisions.question_analysis import question_analysis
from polars_scorio.decisions.strata import single_k
from polars_scorio.display import grid_charts as grids
from polars_scorio.display.chart_data import (
    by_difficulty,
    inert_texts,
    model_label,
    strata_heading,
    stratum_label,
)
from polars_scorio.display.charts import Picture
from polars_scorio.display.histogram_charts import difficulty_bars, difficulty_histogram
from polars_scorio.display.metric_titles import inference_words
from polars_scorio.display.plot_base import PlotBase, Subject
from polars_scorio.display.question_sentences import reversal_summary
from polars_scorio.display.theme import PlotOptions
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.reward_metric import given_reward_range
from polars_scorio.metrics.weighted import WeightedMetric
from polars_scorio.reporting.request import view_of
from polars_scorio.signatures import takes_options

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
            own.pop("inference", None)
        else:  # of a single question there are posteriors alone, as in a report per question
            instead: dict[object, InferenceKind] = {None: "published", "calibrated": "pooled"}
            chosen = own.get("inference")
            own["inference"] = instead.get(chosen, chosen)
        # Of single questions there are posteriors about themselves, which hold at one look.
        own["anytime"], own["target"] = None, "benchmark"
        plan = self._tidy(trials, subject.metric, own, per="question")
        subject, (rows,) = self._collected(subject, plan)
        question = inert_texts(pl.col(trials.question.name).cast(pl.String)).alias("question")
        shown, each = by_difficulty(
            rows.select(stratum_label(trials), model_label(trials), question, "mu"), cells
        )
        words = f"posterior mean of each question, {inference_words(own, [subject.metric])}"
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
        plan = question_analysis(self._frame, self._roles, w, questions="common")  # type: ignore[arg-type]  # words or numbers
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
