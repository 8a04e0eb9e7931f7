"""Numbers of a page for a whole log, or for one stratum of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from warnings import catch_warnings, simplefilter

import polars as pl

from polars_scorio.arguments import Overall
from polars_scorio.counting.categories import SuccessWarning, counted_classes
from polars_scorio.counting.log import (
    CATEGORY,
    COUNT,
    Study,
    Trials,
    bind_roles,
    category_literal,
    collected_together,
    holds_rewards,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.planner import questions_needed, trials_needed
from polars_scorio.decisions.rank import best, rank
from polars_scorio.display.facts.log_summary import LogSummary, key_labels, metric_label
from polars_scorio.display.numbers import MANY
from polars_scorio.display.phrases import overall_words, step_words
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import DrawSizes, Metric
from polars_scorio.metrics.rewards import max_at_k, min_at_k
from polars_scorio.metrics.success import pass_at_k, pass_hat_k
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.errored import BOUNDED, LEAST
from polars_scorio.study.log_checks import CheckWarning
from polars_scorio.study.report import in_one_column, report
from polars_scorio.study.request import on_levels
from polars_scorio.study.run_terms import RunWarning
from polars_scorio.subjects import SUBJECTS

POWER = 0.8  # the probability with which a plan tells a pair apart
_MOST_PLANNED_MODELS = 12  # models, for which questions are planned beside trials
_DRAWN = 4  # the usual draw size, where questions have so many trials


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A set of questions, on which the models are reported, ranked and compared.

    `ranks` are of `Scorio.rank`, the best model first; `pairs` compare all by the leading metric,
    at once as the ranks are; `best` has the leader, its interval after selection, and the models
    that may be the best; `needed` has further trials that would separate undecided neighbours.
    """

    name: str  # stratum ("step 800" for steps); empty for the whole log
    study: Study  # counts of the questions that all models have
    roles: Roles
    metrics: tuple[Metric, ...]  # the first one leads
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)  # the report
    ranks: pl.DataFrame = field(default_factory=pl.DataFrame)
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame)
    best: pl.DataFrame = field(default_factory=pl.DataFrame)
    fewest: int = 1  # fewest trials with an outcome of a question, at least 1
    each: int | None = None  # trials per question, if all have as many and none is dropped
    needed: pl.DataFrame = field(default_factory=pl.DataFrame)
    overall: Overall | None = None  # how numbers of several strata are made, as it was asked
    weights: Mapping[str, float] = field(default_factory=dict)  # in means over "stratum"
    noun: str = "stratum"
    errored: int = 0  # trials that may have failed or been solved
    readings: dict[str, pl.DataFrame] = field(default_factory=dict)  # pairs by what errors mean

    @property
    def counts(self) -> pl.DataFrame:
        """The counts of the questions."""
        return self.study.frame

    @property
    def lead(self) -> Metric:
        """The first metric, at its smallest draw size."""
        return self.metrics[0].at_row(0)

    @property
    def roles_by_stratum(self) -> Roles:
        """The roles with the strata whose numbers are averaged, if there are some."""
        return replace(self.roles, by="stratum") if self.weights else self.roles

    def numbers(
        self, ask: Callable[..., pl.LazyFrame], *arguments: object, **options: object
    ) -> pl.LazyFrame:
        """Rows of a report, a comparison or the like over all strata."""
        roles = self.roles_by_stratum
        roles = replace(roles, missing=BOUNDED) if self.errored else roles
        if not self.weights:
            return ask(self.study, roles, *arguments, **options)
        rows = ask(self.study, roles, *arguments, overall=self.weights, **options)
        return rows.filter(pl.col("stratum").is_null()).drop("stratum")

    def overall_basis(self) -> str:
        """How the numbers were made of those of several strata; empty of one."""
        if self.overall is None:
            return ""
        questions = self.counts["question"].n_unique()
        return overall_words(self.overall, self.weights.values(), self.noun, questions)

    @property
    def judged(self) -> bool:
        """Whether the outcomes are verdicts of a judge, whose errors are corrected."""
        return self.roles.truth is not None or self.roles.judge is not None

    @property
    def banded(self) -> bool:
        """Whether a band over k is known that holds for all k at once: none of means of strata."""
        return not (self.judged or self.weights)

    def of_verdicts(self) -> Scope:
        """The scope by the verdicts of its judge as they are, if it has one."""
        plain = replace(self.roles, truth=None, judge=None)
        return replace(self, roles=plain) if self.judged else self

    @property
    def models(self) -> list[str]:
        """The models in their order."""
        return self.ranks["model"].to_list()

    def evaluated(self, settings: Settings) -> Scope:
        """The scope with its numbers."""
        if self.errored:
            return self._bracketed(settings)
        rows = self.numbers(report, self.metrics, **settings.report)
        leading = (self.numbers(ask, self.lead, **settings.report) for ask in (rank, compare, best))
        scores, ranks, compared, best_one = collected_together([rows, *leading])
        self._refuse_unknown(scores)
        made = replace(self, rows=in_one_column(scores), ranks=ranks, pairs=compared, best=best_one)
        made = made.with_sizes()
        return replace(made, needed=made.plan_of_neighbours(settings))

    def _bracketed(self, settings: Settings) -> Scope:
        """The scope with numbers that hold whatever the errored trials were."""
        options, failed = settings.report, replace(self, errored=0)
        leading = (self.numbers(ask, self.lead, **options) for ask in (rank, compare))
        plans = [self.numbers(report, self.metrics, **options), *leading]
        plans.append(failed.numbers(compare, self.lead, **options))
        scores, ranks, pairs, as_failed = collected_together(plans)
        readings = {"counted as failures": as_failed}
        dropped = replace(failed, roles=replace(self.roles, missing="drop"))
        with suppress(ValueError):  # a question without any outcome
            readings["dropped"] = dropped.numbers(compare, self.lead, **options).collect()
        # A difference that is unknown is drawn as if errored trials had failed.
        pairs = pairs.with_columns(as_failed["diff"], pl.col("prob_better").fill_null(math.nan))
        made = replace(self, ranks=ranks, pairs=pairs, readings=readings)
        return replace(made, rows=_scores_as_failed(in_one_column(scores))).with_sizes()

    def ranked(self, settings: Settings) -> Scope:
        """The scope with the report and the order of its models, without comparisons."""
        options = settings.report
        order = self.numbers(rank, self.lead, chances=False, **options)
        plans = [self.numbers(report, self.metrics, **options), order]
        scores, ranks = collected_together(plans)
        rows = _scores_as_failed(in_one_column(scores))
        return replace(self, rows=rows, ranks=ranks).with_sizes()

    def _refuse_unknown(self, rows: pl.DataFrame) -> None:
        """Refuse a page about verdicts of a judge by which nothing is known of the truth."""
        lead = rows.filter(metric=self.lead.name)
        if self.judged and lead["estimate"].null_count() == lead.height:
            raise ValueError(
                "nothing is known of the truth behind these verdicts: too few of the verdicts "
                "'right' or 'wrong' are labelled, the labels do not show that the judge is better "
                "than a coin, or the verdicts contradict them. Label more trials of both verdicts, "
                "or omit truth= and judge= for a page about the verdicts as they are"
            )

    def with_sizes(self, trials: pl.DataFrame | None = None) -> Scope:
        """The scope with the fewest trials of a question, and their number if all have the same."""
        trials = scored_trials(self.counts, self.roles) if trials is None else trials
        each = trials["count"]
        fewest, most = int(each.min() or 1), int(each.max() or 1)  # type: ignore[arg-type]  # integers
        same = fewest == most and not self.rows["dropped"].sum()
        return replace(self, fewest=max(1, fewest), each=most if same else None)

    def plan_of_neighbours(self, settings: Settings) -> pl.DataFrame:
        """Further trials that would distinguish neighbours that are undecided, all at once."""
        # Doubt left by labels does not shrink; two of many models do not say which is the best.
        if self.judged or not 1 < len(self.models) <= MANY:
            return pl.DataFrame()
        metric = average_metric(self.lead)
        plan = self.numbers(trials_needed, metric, confidence=settings.confidence, power=POWER)
        names = ["model_a", "model_b"]
        open_pairs = self.pairs.filter(pl.col("better").is_null()).select(names)
        either = pl.concat([open_pairs, open_pairs.select(model_a="model_b", model_b="model_a")])
        pairs = plan.collect().join(either, on=names, how="semi", maintain_order="left")
        needed = pairs.filter(pl.col("extra_trials").is_null() | (pl.col("extra_trials") > 0))
        known = needed["extra_trials"].null_count() == 0 and len(self.models) > _MOST_PLANNED_MODELS
        single = self.counts["question"].n_unique() == 1
        if needed.is_empty() or known or single or self.weights:
            return needed
        questions = questions_needed(
            self.study, self.roles, metric, confidence=settings.confidence, power=POWER
        ).collect()
        alone = pl.when(pl.col("extra_trials") == 0).then("extra_questions")  # in the same runs
        asked = questions.select(*names, alone)
        return needed.join(asked, on=names, how="left", maintain_order="left")

    def _weight(self, trials: Trials) -> pl.Expr:
        """Score of a trial in the average: the weight of its category."""
        if holds_fractions(self.counts, self.roles):
            return pl.col(CATEGORY).cast(pl.Float64)
        w = on_levels(average_metric(self.lead), trials).w
        pairs = w or [(value, 1.0) for value in self.roles.successes or (1,)]
        known = [
            (category_literal(value, trials.category.dtype), weight) for value, weight in pairs
        ]
        return pl.sum_horizontal(
            pl.when(pl.col(CATEGORY) == value).then(weight).otherwise(0.0)
            for value, weight in known
            if value is not None
        )

    def question_scores(self) -> pl.DataFrame:
        """Score of each model at each question: model, question, score."""
        trials = bind_roles(self.counts.lazy(), self.roles)
        rows = trials.rows().filter(pl.col(CATEGORY).is_not_null()).group_by("model", "question")
        score = (self._weight(trials) * pl.col(COUNT)).sum() / pl.col(COUNT).sum()
        return rows.agg(score.alias("score")).collect()


def lead_rows(scope: Scope) -> pl.DataFrame:
    """The rows of the leading metric."""
    return metric_rows(scope, scope.lead, scope.lead.row_sizes[0])


def metric_rows(scope: Scope, metric: Metric, k: int | None) -> pl.DataFrame:
    """The rows of a metric with one draw size."""
    return scope.rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)), metric=metric.name)


def lead_label(scope: Scope) -> str:
    """The leading metric as people write it."""
    return metric_label(scope.lead, scope.lead.row_sizes[0], scope.each)


def _scores_as_failed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a report with the scores that errored trials leave if they failed."""
    if LEAST not in rows.columns:
        return rows
    return rows.with_columns(pl.col("mu", "estimate").fill_null(pl.col(LEAST)))


def _errored_trials(log: LogSummary, cells: pl.DataFrame) -> int:
    """The trials that may have failed or been solved."""
    if log.trials.roles.missing != BOUNDED:
        return 0
    return int(cells.filter(pl.col("category").is_null())["count"].sum())


def average_metric(metric: Metric) -> Metric:
    """The average score with the weights of a metric."""
    return avg(None if metric.w is None else dict(metric.w))  # type: ignore[arg-type]  # words or numbers


def holds_fractions(cells: pl.DataFrame, roles: Roles) -> bool:
    """Whether some category is a real-valued reward, neither 0 nor 1."""
    if not holds_rewards(bind_roles(cells.lazy(), roles)) or roles.levels is not None:
        return False
    return not cells["category"].drop_nulls().cast(pl.Float64).is_in([0.0, 1.0]).all()


def knows_success(cells: pl.DataFrame, roles: Roles, metrics: Sequence[Metric] = ()) -> bool:
    """Whether it can be told which categories are successes, beside the weights of some metrics."""
    weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
    if not weighted and holds_fractions(cells, roles):
        return False
    try:
        counted_classes(bind_roles(cells.lazy(), roles), weighted, binary=True)
    except ValueError:
        return False
    return True


def default_metrics(log: LogSummary) -> tuple[Metric, ...]:
    """The average; Pass@k and Pass^k of successes, the best and the worst of k of rewards."""
    k = min(_DRAWN, log.fewest)
    fractions = k > 1 and holds_fractions(log.cells, log.roles)
    known = fractions or (k > 1 and knows_success(log.cells, log.roles))
    return (avg(), *drawn_metrics(k, fractions=fractions)) if known else (avg(),)


def drawn_metrics(k: DrawSizes, *, fractions: bool) -> tuple[Metric, Metric]:
    """The best and the worst of k trials: of successes, at least one of them and all."""
    return (max_at_k(k), min_at_k(k)) if fractions else (pass_at_k(k), pass_hat_k(k))


def common_questions(log: LogSummary) -> pl.DataFrame:
    """Cells of the questions that all models of a stratum have.

    If they have none in common, all are kept, for the comparison to refuse. With
    ``unscored="drop"`` a model does not have a question without any outcome.
    """
    cells, keys = log.cells, ["stratum", "question"]
    models = log.each.group_by("stratum").agg(pl.col("model").n_unique())
    askers = log.counted_questions.group_by(keys).agg(pl.len().alias("askers"))
    asked = askers.join(models, on="stratum")
    lacking = asked.filter(pl.col("askers") < pl.col("model"))
    if lacking.is_empty():
        return cells
    shared = cells.join(lacking, on=keys, how="anti", maintain_order="left")
    lost = cells.join(shared, on="stratum", how="anti", maintain_order="left")
    return pl.concat([shared, lost])


def pooled_questions(log: LogSummary, cells: pl.DataFrame) -> pl.DataFrame | None:
    """The questions of all strata in one pool; None where no stratum has all models."""
    models = pl.col("model").n_unique()
    full = cells.filter(models.over("stratum") == len(log.models))
    if full.is_empty():
        return None
    if log.trials.by:
        full = full.with_columns(key_labels(full, ["stratum", "question"]).alias("question"))
    return full


def page_scopes(
    log: LogSummary, metrics: tuple[Metric, ...], settings: Settings
) -> tuple[Scope | None, list[Scope]]:
    """The scope of the verdict, and the strata (if any) with their reports and ranks.

    Where no stratum has all models, nothing is said over all of them.
    """
    cells = common_questions(log)
    whole = whole_scope(log, cells, metrics, settings.overall)
    parts = stratum_scopes(log, cells, metrics, settings)
    return whole and whole.evaluated(settings), parts


def whole_scope(
    log: LogSummary, cells: pl.DataFrame, metrics: tuple[Metric, ...], overall: Overall | None
) -> Scope | None:
    """The scope of the verdict without its numbers; None if no stratum has all models.

    Along a number or a time (training steps) it is the last stratum that has all models, because a
    mean over steps has no meaning.
    """
    if overall is not None and log.steps is not None:
        raise ValueError(
            f"overall={overall!r}: the strata are steps along {log.noun!r}, and the finding is "
            "about the last one: omit overall="
        )
    each = log.label_weights(overall)
    pool, roles = pooled_questions(log, cells), replace(log.roles, by=())
    if pool is None:
        return None
    if log.steps is None:
        kept = {*pool["stratum"]} if log.trials.by else {}
        study = Study(pool, means_alone=True)  # the strata have scopes of their own
        of_log = Scope("", study, roles, metrics, errored=_errored_trials(log, pool), noun=log.noun)
        if len(kept) < 2:
            return of_log
        weights = {name: weight for name, weight in each.items() if name in kept}
        return replace(of_log, overall=overall or "macro", weights=weights)
    models, strata = len(log.models), _stratum_cells(log, cells)
    last = [name for name, part in strata.items() if part["model"].n_unique() == models][-1]
    name, errored = f"{log.noun} {step_words(last)}", _errored_trials(log, strata[last])
    return Scope(name, Study(strata[last]), roles, metrics, errored=errored)


def _stratum_cells(log: LogSummary, cells: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The cells of each stratum, in the order of the strata."""
    parts = _by_stratum(cells)
    return {name: parts[name] for name in log.strata if name in parts}


def scored_trials(cells: pl.DataFrame, roles: Roles, *strata: str) -> pl.DataFrame:
    """The trials with an outcome of each model and question, as `count`."""
    count = pl.col("count")
    if roles.missing in {"error", "drop"}:  # else a missing outcome is one, too
        count = count.filter(pl.col("category").is_not_null())
    return cells.group_by(*strata, "model", "question").agg(count.sum())


def _by_stratum(rows: pl.DataFrame) -> dict[object, pl.DataFrame]:
    """The rows of each stratum, without its name."""
    parts = rows.partition_by("stratum", include_key=False, as_dict=True)
    return {name: part for (name,), part in parts.items()}


def stratum_scopes(
    summary: LogSummary, cells: pl.DataFrame, metrics: tuple[Metric, ...], settings: Settings
) -> list[Scope]:
    """The strata with their reports and ranks, all from one pass, without comparisons."""
    if not summary.trials.by:
        return []
    lead = metrics[0].at_row(0)
    log, errored = Study(cells), _errored_trials(summary, cells)
    asked = replace(summary.roles, missing=BOUNDED) if errored else summary.roles
    plans = [
        report(log, asked, metrics, **settings.report),
        rank(log, asked, lead, chances=False, **settings.report),
    ]
    rows, ranks = map(_by_stratum, collected_together(plans))
    trials = _by_stratum(scored_trials(cells, summary.roles, "stratum"))
    roles = replace(summary.roles, by=())
    return [
        Scope(name, Study(part), roles, metrics, ranks=ranks[name],
              rows=_scores_as_failed(in_one_column(rows[name]))).with_sizes(trials[name])
        for name, part in _stratum_cells(summary, cells).items()
    ]  # fmt: skip


@contextmanager
def without_repeated_warnings() -> Iterator[None]:
    """Ignore what reports of strata warn of: a page warns once, about the whole log.

    Of trials that are not independent it has an alert, of judges a sentence.
    """
    with catch_warnings():
        kinds: list[type[Warning]] = [SuccessWarning, CheckWarning, RunWarning]
        for kind in (*kinds, *(kind for subject in SUBJECTS for kind in subject.page_warnings)):
            simplefilter("ignore", kind)
        yield
