"""A wide frame for people: the models in their order, a column for each metric."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.arguments import Overall, check_confidence
from polars_scorio.counting.log import Log, Trials, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import (
    STRATUM,
    Models,
    aligned_questions,
    named_model,
    strata_blocks,
    with_stratum,
)
from polars_scorio.decisions.rank import Ranking, rank
from polars_scorio.display.facts.log_summary import stratum_noun
from polars_scorio.display.facts.scopes import without_repeated_warnings
from polars_scorio.display.facts.table_facts import BEST, HEADINGS, OVERALL, each_trials, labels_of
from polars_scorio.display.phrases import inference_words, overall_words
from polars_scorio.display.words.table_words import judge_words
from polars_scorio.metrics.from_text import check_metrics
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import BOUNDED, ErroredLog
from polars_scorio.study.evaluate import Evaluated, report_columns
from polars_scorio.study.report import chosen_overall, evaluated_plan, plain_name
from polars_scorio.study.request import DecisionOptions, Request
from polars_scorio.subjects.scores import INFERENCE, JUDGED, LABEL_COUNT

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Parts a stratum from a metric in the name of a column; `plain_name` never makes one.
SEPARATOR = "__"
# Endings of the columns beside the number of a metric; the second ones only with a judge.
ENDS = ("_estimate", BEST, "_sigma", "_lo", "_hi")
JUDGED_ENDS = (f"_{JUDGED}", f"_{LABEL_COUNT}")
# Places of the models in their order; the model stands before the last two.
PLACES = ("rank", "rank_lo", "rank_hi", "could_be_best", "tier")
_NOTES = ":notes"
# What holds for all numbers of a row.
FACTS = (
    HEADINGS,
    "questions",
    "clusters",
    "trials",
    "dropped",
    "unscored",
    "confidence",
    "inference",
    "overall",
)


def leaderboard(
    log: Log,
    roles: Roles,
    metrics: Sequence[Metric],
    *,
    overall: Overall | None = None,
    **options: Unpack[DecisionOptions],
) -> pl.DataFrame:
    """The leaderboard of a log; see `Scorio.leaderboard`."""
    if roles.missing == BOUNDED:
        return _bracketed_board(log, roles, metrics, overall, **options)
    trials = bind_roles(log, roles)
    named_model(trials, "leaderboard")
    overall = chosen_overall(overall, trials)
    names = number_columns(metrics, judged=trials.judged)
    refuse_repeats([*PLACES, *trials.keys, *names, *FACTS])
    asked = {name: value for name, value in options.items() if name != "unmatched"}
    request = Request.from_trials(trials, metrics, **asked)  # type: ignore[arg-type]  # options of a report
    columns = report_columns(trials, needs=request.classes.needs)
    evaluated: Evaluated = evaluated_plan(
        request, columns, overall=overall, named=options.get("prior") is None,
        questions=aligned_questions(options.get("unmatched", "error")),
    ).result()  # fmt: skip
    with without_repeated_warnings():  # the numbers have warned
        rankings = [*_metric_rankings(log, roles, request, evaluated, overall, options)]
    keys = [*trials.keys, "metric", "k"]
    rows = evaluated.rows(columns)
    rows = rows.join(_best_models(rankings, trials), on=keys, how="left", nulls_equal=True)
    # Rows of a report name other runs after the kind of inference.
    notes = pl.col(INFERENCE).first().str.extract("(, .*)").fill_null("").alias(_NOTES)
    numbers = (each for metric, _ in request.metrics
               for each in _metric_columns(metric, judged=trials.judged))  # fmt: skip
    facts = (pl.col(name).first() for name in columns.facts)
    wide = rows.group_by(*trials.keys).agg(*facts, notes, *numbers)
    # The rows over all strata, which are all rows where there are none.
    (model,), whole = trials.models, [pl.col(name).is_null() for name in trials.strata]
    board, whole_board = rankings[0].filter(*whole), wide.filter(*whole)
    made = _overall_made(overall, evaluated, trials, whole_board["questions"].max())
    said = _fact_columns(metrics, options, overall, made, each_trials(wide))
    if corrected := judge_words(roles, labels_of(rows)):
        said[INFERENCE] = pl.lit(f"{inference_words(options, metrics)}, {corrected}")
    said[INFERENCE] += pl.col(_NOTES)
    blocks = [whole_board.select(model, *names), *_stratum_blocks(wide, rows, trials, names),
              whole_board.select(model, *columns.facts, **said)]  # fmt: skip
    board = board.select(*PLACES[:3], model, *PLACES[3:])
    for block in blocks:
        board = board.join(block, on=model, how="left", maintain_order="left")
    return board


def _metric_rankings(
    log: Log, roles: Roles, request: Request, evaluated: Evaluated, overall: Overall | None,
    options: DecisionOptions,
) -> Iterator[pl.DataFrame]:  # fmt: skip
    """The ranks by each metric at each draw size that has ranks; by the first one with chances."""
    sampled = options.get("prior") is None and options.get("target") == "population"
    named = [(metric.at_row(place), view) for metric, view in request.metrics
             for place in range(len(metric.row_sizes))]  # fmt: skip
    for place, (metric, view) in enumerate(named):
        if sampled and metric.calibrated:
            if not place or metric.per_question:
                yield rank(log, roles, metric, overall=overall, chances=not place,
                           **options).collect()  # fmt: skip
        else:
            one = replace(request, metrics=((metric, view),))
            yield _ranks_of(evaluated, one, chances=not place)


def _overall_made(
    overall: Overall | None, evaluated: Evaluated, trials: Trials, questions: Any  # noqa: ANN401 - a maximum
) -> str | None:  # fmt: skip
    """How the numbers over all strata were made, in words; None without any."""
    if overall is None:
        return None
    weights: Any = evaluated.weights
    return overall_words(overall, weights, stratum_noun(trials), int(questions or 0))


def _stratum_blocks(
    wide: pl.DataFrame, rows: pl.DataFrame, trials: Trials, names: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """The numbers of each stratum, with its name before those of their columns."""
    *strata, model = trials.keys
    for prefix, stratum in _stratum_prefixes(rows, strata).items():
        part = wide.filter(pl.col(name) == pl.lit(value) for name, value in stratum.items())
        yield part.select(model, pl.col(names).name.prefix(f"{prefix}{SEPARATOR}"))


def _bracketed_board(
    log: Log,
    roles: Roles,
    metrics: Sequence[Metric],
    overall: Overall | None,
    **options: Unpack[DecisionOptions],
) -> pl.DataFrame:
    """The leaderboard if all errored trials failed, whose intervals and ranks hold without that."""
    check_metrics(metrics, "leaderboard")
    errored = ErroredLog.from_log(log, roles, metrics, **options)
    named_model(errored.trials, "leaderboard")
    logs = errored.filled_logs(each=True, baseline=None)
    boards = [
        leaderboard(each, errored.roles, metrics, overall=overall, **options) for each in logs
    ]
    (model,), first = errored.trials.models, boards[0]
    if len(boards) == 1:
        return first
    lead, overall = metrics[0].at_row(0), chosen_overall(overall, errored.trials)
    ranks = rank(log, roles, lead, overall=overall, spoken="counts", **options).collect()
    ranks = ranks.filter(*(pl.col(name).is_null() for name in errored.trials.strata))
    every = {"_lo": pl.Expr.min, "_hi": pl.Expr.max, BEST: pl.Expr.all}
    ends = [
        merge(pl.col(name)).alias(name)
        for name in first.columns
        for end, merge in every.items()
        if name.endswith(end) and name not in PLACES
    ]
    merged = (
        pl.concat(boards).group_by(model).agg(ends).join(ranks.select(model, *PLACES), on=model)
    )
    errors = pl.col("^.*_sigma$").cast(pl.Float64)
    words = pl.col(INFERENCE) + ", whatever the errored trials were (numbers: all failed)"
    return first.update(merged, on=model, include_nulls=True).with_columns(errors * None, words)


def _ranks_of(evaluated: Evaluated, request: Request, *, chances: bool) -> pl.DataFrame:
    """The models of all strata in their order, from numbers with errors of their own.

    With `chances` the last stratum, which is all of them, has those to be the best.
    """
    trials, ((metric, _),) = request.trials, request.metrics
    groups = with_stratum(evaluated.groups, trials)
    ranking = Ranking(Models(request=request, metric=metric), chances=False)
    parts = [ranking.ranked_blocks([], groups, evaluated)]
    for block in strata_blocks(groups[STRATUM], last_alone=True):
        whole = bool((block.strata == groups[STRATUM].max()).any())
        of_block = replace(ranking, chances=chances and whole)
        parts.append(of_block.ranked_blocks([block], groups, evaluated))
    return (
        pl.concat(parts, how="vertical_relaxed")
        .join(groups.select(STRATUM, *trials.strata).unique(), on=STRATUM, maintain_order="left")
        .with_columns(
            pl.col("rank", "rank_lo", "rank_hi", "tier").cast(pl.UInt32),
            pl.col("could_be_best").cast(pl.Boolean),
            metric=pl.lit(metric.name),
            k=pl.lit(metric.row_sizes[0], pl.Int64),
        )
    )


def _best_models(rankings: Sequence[pl.DataFrame], trials: Trials) -> pl.DataFrame:
    """Whether a model has the first place among several beyond doubt; null without a rank."""
    keys = [*trials.keys, "metric", "k"]
    ranks = pl.concat([ranking.select(*keys, "rank_hi") for ranking in rankings])
    known = (pl.len() > 1) & (pl.col("rank_hi").null_count() == 0)
    first = (pl.col("rank_hi") == 1) & known.over(*trials.strata, "metric", "k")
    return ranks.select(*keys, pl.when(pl.col("rank_hi").is_not_null()).then(first).alias(BEST))


def _fact_columns(
    metrics: Sequence[Metric],
    options: DecisionOptions,
    overall: Overall | None,
    made: str | None,
    trials: int | None,
) -> dict[str, pl.Expr]:
    """Headings of the metrics, confidence and inference of intervals, and kind of overall rows."""
    headings = {
        plain_name(metric, k): metric.heading(k, trials)
        for metric in metrics
        for k in metric.row_sizes
    }
    headings |= {OVERALL: made} if made else {}
    facts: dict[str, object] = {
        HEADINGS: json.dumps(headings, ensure_ascii=False),
        "confidence": check_confidence(options.get("confidence")),
        INFERENCE: inference_words(options, metrics),
        **({OVERALL: overall if isinstance(overall, str) else made} if overall else {}),
    }
    return {name: pl.lit(value) for name, value in facts.items()}


def _metric_columns(metric: Metric, *, judged: bool) -> Iterator[pl.Expr]:
    """The columns of a metric: mu, which its interval is around; the estimate; and the interval.

    Without a posterior the number is the estimate. An interval ends where the metric does.
    """
    low, high = metric.support
    # Calibrated ends are where the rewards may be; a posterior's may lie beyond the metric.
    inside = pl.col("mu").is_between(low, high) & (pl.col("inference") == "posterior")
    ends = {
        "": pl.coalesce("mu", "estimate"),
        "_estimate": pl.col("estimate"),
        "_sigma": pl.col("sigma"),
        "_lo": pl.when(inside).then(pl.col("lo").clip(low, high)).otherwise("lo"),
        "_hi": pl.when(inside).then(pl.col("hi").clip(low, high)).otherwise("hi"),
        BEST: pl.col(BEST),
        **({end: pl.col(end.removeprefix("_")) for end in JUDGED_ENDS} if judged else {}),
    }
    for k in metric.row_sizes:
        row = (pl.col("metric") == metric.name) & pl.col("k").eq_missing(pl.lit(k, pl.Int64))
        for end, number in ends.items():
            yield number.filter(row).first().alias(f"{plain_name(metric, k)}{end}")


def number_columns(metrics: Sequence[Metric], *, judged: bool) -> list[str]:
    """Number, estimate, sigma and interval of each metric and k; and verdicts, with a judge."""
    check_metrics(metrics, "leaderboard")
    plain = [plain_name(metric, k) for metric in metrics for k in metric.row_sizes]
    ends = (*ENDS, *JUDGED_ENDS) if judged else ENDS
    return [f"{name}{end}" for name in plain for end in ("", *ends)]


def _stratum_prefixes(rows: pl.DataFrame, strata: Sequence[str]) -> dict[str, dict[str, object]]:
    """The strata by the prefixes of their columns."""
    prefixes: dict[str, dict[str, object]] = {}
    if not strata:
        return prefixes
    for stratum in rows.select(strata).drop_nulls().unique().sort(*strata).to_dicts():
        # Truth values and numbers need the name of their column.
        prefix = " / ".join(
            value if value and isinstance(value, str) else f"{name} {value}".rstrip()
            for name, value in stratum.items()
        )
        if prefix in prefixes:
            raise ValueError(
                f"the strata {prefixes[prefix]!r} and {stratum!r} would both have the columns "
                f"{prefix + SEPARATOR!r}...: give by= an expression with other names"
            )
        prefixes[prefix] = stratum
    return prefixes
