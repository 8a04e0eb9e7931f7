"""The parts that all pictures of a log share: models, numbers, titles, panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from polars_scorio.arguments import Overall, check_column, check_columns, check_confidence
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.log import Log, Trials, bind_roles, collected_together
from polars_scorio.counting.roles import Column, Roles, is_label
from polars_scorio.decisions.rank import rank
from polars_scorio.display import charts
from polars_scorio.display.chart_data import (
    inert_text,
    marked_rows,
    metric_heading,
    panel_heading,
    row_labels,
    stratum_label,
)
from polars_scorio.display.charts import ChartStyle
from polars_scorio.display.facts.log_summary import stratum_noun
from polars_scorio.display.facts.ranking_facts import About, RankingFacts, Winners, rank_board
from polars_scorio.display.facts.table_facts import RowFacts, each_trials, labels_of
from polars_scorio.display.numbers import plain_text
from polars_scorio.display.phrases import inference_words, interval_words
from polars_scorio.display.words.ranking_words import ranking_title
from polars_scorio.display.words.section_words import strata_title
from polars_scorio.display.words.table_words import judge_words, question_count, target_words
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric, given_reward_range
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.evaluate import report_columns
from polars_scorio.study.report import evaluated_plan, tidy_plan
from polars_scorio.study.request import (
    BANDS,
    AskedMetric,
    InferenceOptions,
    Request,
    chosen_first,
    on_levels,
    view_of,
)
from polars_scorio.subjects.scores import BOUNDS, LABEL_COUNT

_PANELS = 24  # more of them are no picture any more


@dataclass(frozen=True, slots=True)
class PictureSubject:
    """Log, metric, options and look of a picture.

    `scores`: stratum, model, questions, trials and the average of each model, once collected.
    """

    trials: Trials  # with the strata that have panels
    source: Trials  # with all strata that have rows
    metric: Metric
    style: ChartStyle
    options: dict[str, Any]  # how the numbers are found
    scores: pl.DataFrame = field(default_factory=pl.DataFrame)
    finding: str = ""  # who may be the best, if that is known
    banded: bool = False  # whether intervals hold at all draw sizes at once

    @property
    def name(self) -> str:
        """The metric as people write it; of several draw sizes without one."""
        k = self.metric.row_sizes[0] if len(self.metric.row_sizes) == 1 else None
        return metric_heading(self.metric, k, each_trials(self.scores))

    @property
    def percent(self) -> bool:
        """Whether numbers are percentages; of rewards if their range or means are in [0, 1]."""
        if view_of(self.metric, self.trials) != "rewards":
            return self.metric.support == (0, 1)
        bounds = given_reward_range(self.metric, self.trials.roles.bounds)
        means = self.scores["estimate"]
        return bool(means.is_between(0, 1).all()) if bounds is None else bounds == (0, 1)

    @property
    def colours(self) -> dict[str, str]:
        """The colours of the models, in the order of their scores over the log."""
        return self.style.colours(charts.models_by_mean(self.scores, "estimate"))

    @property
    def intervals(self) -> str:
        """Inference and confidence of the intervals, in words, and the questions they are about."""
        words = inference_words(self.options, [self.metric])
        corrected = judge_words(self.trials.roles, labels_of(self.scores))
        level = check_confidence(self.options.get("confidence"))
        return target_words(interval_words(level, f"{words}, {corrected}" if corrected else words))

    @property
    def bands(self) -> str:
        """Meaning of lines and bands, in words."""
        held = " for the whole curve" * self.banded
        return f"bands{held}: {self.intervals}"

    def layout(self, metric: str, *lines: str) -> charts.Layout:
        """The layout below the finding and some lines, with numbers of questions and trials."""
        said = [*filter(None, (inert_text(self.finding), *lines))]
        below = (*said[1:], question_count(RowFacts.from_frame(self.scores)))
        panels = panel_heading(self.trials)
        return charts.Layout(said[0], below, panels, metric, self.percent, self.colours, self.style)


class PlotBase:
    """The log of pictures, and how their numbers are found."""

    def __init__(self, frame: Log, roles: Roles, chosen: InferenceOptions | None = None) -> None:
        self._log, self._roles = frame, roles
        self._chosen: InferenceOptions = chosen or {}

    def _subject(
        self, metric: Metric | None, options: Mapping[str, Any], along: str | None = None
    ) -> PictureSubject:
        """Subject of a picture; its strata, except the one on the axis, must fit into panels."""
        style, options_left = ChartStyle.split(options)
        # Some pictures leave some of the options out, and nobody else would look at them.
        asked = chosen_first(self._chosen, options_left)
        check_confidence(asked.get("confidence"))
        strata, every = _strata_roles(self._roles, along)
        trials, source = bind_roles(self._log, strata), bind_roles(self._log, every)
        metric = avg() if metric is None else metric
        check_metric(metric, "a picture takes a metric")
        metric = on_levels(metric, trials)
        return PictureSubject(trials, source, metric, style, asked)

    def _banded(self, subject: PictureSubject, overall: Overall | None) -> PictureSubject:
        """The subject of a curve, with a band for all of it if one is known."""
        request = Request.from_trials(subject.source, [subject.metric], **subject.options)
        ((metric, view),) = request.metrics
        asked = AskedMetric(metric, view, request.choice, subject.source)
        known = not any(row.when(asked) for row in BANDS)
        several = len(metric.row_sizes) > 1 and overall in (None, "micro")
        return replace(subject, banded=known and several)

    def _collected(
        self, subject: PictureSubject, *plans: pl.LazyFrame
    ) -> tuple[PictureSubject, list[pl.DataFrame]]:
        """The rows of plans, and the subject with the scores of its models, from one pass."""
        trials, w = subject.trials, subject.metric.w
        score = avg() if w is None else avg(dict(w))  # type: ignore[arg-type]  # as those of a metric
        # Rewards of any value have calibrated numbers alone; with a prior averages are fast.
        needs_no_word = trials.judged or view_of(score, trials) == "rewards"
        options = {} if needs_no_word else {"prior": "uniform"}
        common = subject.options.get("unmatched") == "drop"
        rows = self._tidy(subject.source, score, options, common=common)
        counts = [LABEL_COUNT] if trials.judged else []
        order = rows.select(*row_labels(trials), *report_columns(trials).facts, "estimate", *counts)
        plans, finding = (order, *plans), ""
        try:
            # The numbers warn themselves.
            ranking = rank(self._log, subject.source.roles, subject.metric.at_row(0),
                           chances=False, spoken="none", **subject.options)  # fmt: skip
            ranks, scores, *drawn = collected_together([ranking, *plans], engine="streaming")
        except (TypeError, ValueError):  # a picture may show models that nobody can rank
            scores, *drawn = collected_together(plans, engine="streaming")
        else:
            finding = _finding_of(ranks, subject.source)
        _refuse_many(trials, scores)
        subject = replace(subject, scores=scores, finding=finding)
        _ = subject.colours  # refuses unknown models
        return subject, drawn

    def _rows(
        self, subject: PictureSubject, numbers: Sequence[Column], overall: Overall | None = None
    ) -> tuple[PictureSubject, pl.DataFrame]:
        """Labels and numbers of a report, with intervals that end where the metric does."""
        options = {**subject.options, "curves": subject.banded}
        plan = self._tidy(subject.source, subject.metric, options, overall=overall)
        subject, (rows,) = self._collected(subject, plan)
        # Far beyond the trials a range has ends, and no mean.
        known = rows.filter(pl.col("lo").is_not_null())
        if rows.height and known.is_empty():
            if subject.trials.judged:
                raise ValueError(
                    f"{subject.metric.name}: nothing is known of the truth behind these verdicts: "
                    "the labels do not show that the judge is good enough. Label more trials, or "
                    "draw a smaller k"
                )
            bounds = ", or pass bounds=, the range of possible rewards" * (BOUNDS in rows.columns)
            raise ValueError(
                f"{subject.metric.name}: nothing is known of k={[*subject.metric.row_sizes]}, more "
                f"than the trials of some question: draw a smaller one{bounds}"
            )
        marked = marked_rows(known, subject.metric)
        return subject, marked.select(*row_labels(subject.trials), *numbers)

    def _tidy(
        self,
        trials: Trials,
        metric: Metric,
        options: dict[str, Any],
        *,
        overall: Overall | None = None,
        common: bool = False,
    ) -> pl.LazyFrame:
        request = Request.from_trials(trials, [metric], **options)
        columns = report_columns(trials, needs=request.classes.needs)
        asked: Alignment = "common" if common and trials.model is not None else "any"
        plan = evaluated_plan(request, columns, overall=overall, questions=asked)
        return tidy_plan(plan, columns)


def _finding_of(ranks: pl.DataFrame, trials: Trials) -> str:
    """The models that may be best: the title of a ranking, or the winners of several strata."""
    (model,) = trials.models
    parts = ranks.group_by(stratum_label(trials), maintain_order=True)
    numbered = [part.name for part in trials.by[:1] if not is_label(part.dtype)]
    step = "".join(f"{name} " for name in numbered * (len(trials.by) == 1))
    boards = {f"{step}{name}": rank_board(part, model) for (name,), part in parts}
    if all(len(board.models) < 2 for board in boards.values()):
        return ""
    if len(boards) == 1:
        (board,) = boards.values()
        return plain_text(ranking_title(RankingFacts(board, About("", 0.0))).words)
    return plain_text(strata_title(Winners.from_boards(boards, stratum_noun(trials))))


def _strata_roles(roles: Roles, along: str | None) -> tuple[Roles, Roles]:
    """The roles without the stratum that a picture goes along, and with it."""
    if along is None:
        return roles, roles
    check_column("step", along)
    by = [part for part in check_columns("by", roles.by) if _column_name(part) != along]
    return replace(roles, by=by), replace(roles, by=[*by, along])


def _column_name(part: Column) -> str:
    return part if isinstance(part, str) else part.meta.output_name()


def _refuse_many(trials: Trials, scores: pl.DataFrame) -> None:
    """Refuse more strata than a picture can show."""
    strata = scores["stratum" if trials.model else "model"].n_unique()
    if strata > _PANELS:
        names = ", ".join(trials.strata)
        raise ValueError(
            f"{strata:,} strata of {names} are more than a picture can show, which are {_PANELS}: "
            f"filter them, or draw a metric along one that is a number or a time, as in "
            f'plot.over("{trials.by[0].name}", ps.avg())'
        )
