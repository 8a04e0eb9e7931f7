"""Pictures of the questions of a log: how hard they are, and for whom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.arguments import InferenceKind
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
from polars_scorio.display.metric_titles import inference_words
from polars_scorio.display.plot_base import PlotBase
from polars_scorio.display.theme import PlotOptions
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.request import view_of
from polars_scorio.signatures import takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

_CELLS = 300  # questions that a heat map shows side by side; more of them share cells


class QuestionPlots(PlotBase):
    """Pictures of single questions."""

    @takes(PlotOptions)
    def questions(self, metric: Metric | None = None, **options: Unpack[PlotOptions]) -> Picture:
        """Which questions are hard, and for whom? A heat map.

        Parameters
        ----------
        metric : Metric, optional
            What to show of each question; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            A cell for each model and question, coloured by mu of the question, which is its average
            for `ps.avg`. Models are ordered by their mean, questions by the mean over the models,
            the hardest first. Of more than 300 questions in a stratum, neighbours in this order
            share a cell, which shows their mean.

        Raises
        ------
        ValueError
            For several draw sizes; and as `Scorio.report`.

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
        subject = self._subject(metric, options)
        single_k(subject.metric, "questions")
        trials, own = subject.trials, {**subject.options}
        if view_of(subject.metric, trials) == "rewards":
            own.pop("inference", None)
        else:  # of a single question there are posteriors alone, as in a report per question
            instead: dict[object, InferenceKind] = {None: "published", "calibrated": "pooled"}
            chosen = own.get("inference")
            own["inference"] = instead.get(chosen, chosen)
        own["anytime"] = None  # posteriors of single questions do not hold at every look
        plan = self._tidy(trials, subject.metric, own, per="question")
        subject, (rows,) = self._collected(subject, plan)
        question = inert_texts(pl.col(trials.question.name).cast(pl.String)).alias("question")
        cells, each = by_difficulty(
            rows.select(stratum_label(trials), model_label(trials), question, "mu"), _CELLS
        )
        words = f"posterior mean of each question, {inference_words(own, [subject.metric])}"
        if rows["mu"].equals(rows["estimate"]):
            words = "average of the trials of each question"
        hatched = "hatched: no trials" if cells["mu"].null_count() else ""
        heading = replace(
            subject.heading(subject.name, words, hatched), panels=strata_heading(trials)
        )
        ends = subject.metric.support
        if "bounds" in rows.columns and rows["bounds"].null_count() < len(rows):
            ends = float(rows["mu"].min()), float(rows["mu"].max())  # type: ignore[arg-type]  # floats
        return grids.heat_map(cells, heading, subject.name, ends, each=each)
