"""The rows of a report: tidy, wide, curves, over all strata, with warnings of priors and clusters.

A number over all strata is their mean, by a weight for each, or of one pool of their questions.
Each question has a weight: that of its stratum, over the number of its questions.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import (
    CONFIDENCE,
    Overall,
    Per,
    Refusal,
    SpokenTests,
    check_choice,
    check_flag,
    check_overall,
    known_text,
    row_place,
)
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.log import (
    CLUSTER,
    EVERYTHING,
    STAND_IN,
    Log,
    Trials,
    bind_roles,
    refuse_repeats,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.run_bits import kept_words
from polars_scorio.counting.tally import QUESTIONS, question_rows
from polars_scorio.maths.array_rows import Floats
from polars_scorio.metrics.from_text import check_metrics
from polars_scorio.metrics.metric import INFINITE, NUMBERS, Metric
from polars_scorio.study.errored import BOUNDED, ErroredLog
from polars_scorio.study.evaluate import (
    RESULTS,
    Evaluated,
    EvaluatedGroups,
    ReportColumns,
    evaluated_groups,
    report_columns,
    stratum_numbers,
)
from polars_scorio.study.log_checks import SpokenChecks, spoken_plan
from polars_scorio.study.request import InferenceOptions, Request
from polars_scorio.study.run_terms import these_runs, with_runs
from polars_scorio.subjects.question_cells import GROUP, STRATUM, WEIGHT, QuestionCells
from polars_scorio.subjects.scores import (
    BOUNDS,
    INFORMATION,
    JUDGED,
    LABEL_COUNT,
    Noise,
    Row,
    Scores,
    StrataMeans,
    Values,
    clipped_ends,
    information_of_strata,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


def chosen_overall(overall: Overall | None, trials: Trials) -> Overall | None:
    """How numbers over all strata are made: their mean unless the caller pools; None without any.

    Every surface that says something over all strata asks here.
    """
    if overall is None:
        return "macro" if trials.by else None
    check_strata(overall, trials, per_question=False)
    return overall


def wide_rows(rows: pl.LazyFrame, keys: Sequence[str], columns: Sequence[pl.Expr]) -> pl.LazyFrame:
    """The rows of a report as one row for each of the keys."""
    groups = [pl.col(name) for name in keys] or [STAND_IN]
    board = rows.group_by(groups).agg(columns).sort(*keys or [EVERYTHING], nulls_last=True)
    return board.select(pl.exclude(EVERYTHING))


def wide_columns(
    metrics: Sequence[Metric],
    keys: Sequence[str],
    shared: Sequence[str],
    extra: Sequence[str] = (),
    *,
    means: bool = True,
) -> list[pl.Expr]:
    """One aggregation for each column of a report with metrics as columns.

    Each metric has the columns of `extra` beside its numbers, and `mu` if there are `means`.
    """
    columns = [pl.col(name).first() for name in shared]
    for metric in metrics:
        beside = ["mu"] if means and metric.headline != "mu" else []
        for k in metric.row_sizes:
            plain = plain_name(metric, k)
            row = (pl.col("metric") == metric.name) & pl.col("k").eq_missing(pl.lit(k, pl.Int64))
            for number in (*extra, "sigma", metric.headline, *beside, "lo", "hi"):
                name = plain if number == metric.headline else f"{plain}_{number}"
                columns.append(pl.col(number).filter(row).first().alias(name))
    names = [column.meta.output_name() for column in columns]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"wide=True would have two columns named {repeated[0]!r}: name one of their metrics "
            "otherwise with name="
        )
    refuse_repeats([*keys, *names])
    return columns


def plain_name(metric: Metric, k: int | None) -> str:
    """The name of a metric as a column that SQL need not quote.

    Letters and digits of ASCII with single underscores between them, after `m_` where no letter
    comes first. A `name` that is a word of SQL, such as "order", stays what it is.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> metric = ps.g_pass_at_k_tau(4, 0.5)
    >>> metric.name, plain_name(metric, 4)
    ('g_pass_at_k_tau(tau=0.5)', 'g_pass_at_k_tau_tau_0_5_4')
    """
    words = re.findall(r"[0-9A-Za-z]+", metric.name)
    name = "_".join([*words, *([] if k is None else [str(k)])])
    return name if name[:1].isalpha() else f"m_{name}"


THRESHOLD = "t"


def curve_columns(columns: Sequence[str], metrics: Sequence[Metric]) -> list[str]:
    """The columns of a result, with that of the thresholds if there are any."""
    if all(metric.t is None for metric in metrics):
        return [*columns]
    after = columns.index("k") + 1
    named = [*columns[:after], THRESHOLD, *columns[after:]]
    refuse_repeats(named)
    return named


def with_curves(rows: pl.LazyFrame, metrics: Sequence[Metric]) -> pl.LazyFrame:
    """The rows, those of curves with their t beside their k.

    The rows of a curve come with the thresholds in place of the draw size.
    """
    drawn = {metric.name: metric.k[0] for metric in metrics if metric.t is not None}
    if not drawn:
        return rows
    sizes = pl.col("metric").replace_strict(drawn, default=None, return_dtype=pl.Int64)
    return rows.with_columns(
        pl.coalesce(sizes, "k").alias("k"),
        pl.when(sizes.is_not_null()).then("k").alias(THRESHOLD),
    )


def in_one_column(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a result with the t of a curve in place of its k."""
    columns = rows.columns
    place = columns.index("k") + 1 if "k" in columns else 0
    if not place or columns[place : place + 1] != [THRESHOLD]:
        return rows
    return rows.with_columns(pl.coalesce(THRESHOLD, "k").alias("k")).drop(THRESHOLD)


CURES = 'ps.avg() has no prior; prior="uniform" keeps these numbers without a warning.'
_ROUNDING = 1e-12


class PriorWarning(UserWarning):
    """The default prior outweighs the trials: an estimate lies outside its posterior interval.

    The message says how often, and what to do.
    """


def warn_of_rows(evaluated: Evaluated) -> Evaluated:
    """Say once in how many rows of a report the prior decides, a step of a `WholePlan`."""
    outside = rows = 0
    for part in evaluated.parts:
        for row, numbers in part.numbers.items():
            rows += numbers.mu.size
            if numbers.inference != "posterior":
                continue
            (estimate,) = clipped_ends(evaluated.views[row][0], numbers.estimate)
            near = _ROUNDING * (1 + abs(numbers.mu))
            outside += int(((estimate < numbers.lo - near) | (estimate > numbers.hi + near)).sum())
    if outside:
        warnings.warn(
            f"of {rows:,} {'row' if rows == 1 else 'rows'} of the report {outside:,} "
            f"{'has' if outside == 1 else 'have'} an estimate outside its own interval: there the "
            f"uniform prior of each question decides, not the trials. {CURES}",
            PriorWarning,
            stacklevel=2,
        )
    return evaluated


# Rows that no report has.
ROWS = (
    Refusal(lambda said: said["simultaneous"] and said["overall"] not in (None, "micro"),
            "simultaneous=True makes a band for each stratum and model, not for means over strata",
            'pass overall="micro", or omit one of the two'),
    Refusal(lambda said: said["bounded"] and said["per"] == "question",
            'missing="bounds" has rows of models, not of questions',
            "omit per=, or pass another value as missing="),
    Refusal(lambda said: said["bounded"] and said["wide"],
            'missing="bounds" has no wide report',
            "omit wide=, or pass another value as missing="),
)  # fmt: skip


def report(
    log: Log,
    roles: Roles,
    metrics: Sequence[Metric],
    *,
    per: Per = "model",
    overall: Overall | None = None,
    wide: bool = False,
    simultaneous: bool = False,
    lean: bool = False,
    **options: Unpack[InferenceOptions],
) -> pl.LazyFrame:
    """The plan of a report; see `Scorio.report`.

    A `lean` one lacks `mu` where no row is a posterior: mu is then the estimate; and it names a
    confidence other than `CONFIDENCE`.
    """
    check_metrics(metrics)
    check_choice("per", per, Per)
    wide, bands = check_flag("wide", wide), check_flag("simultaneous", simultaneous)
    said = {"bounded": roles.missing == BOUNDED, "overall": overall, "simultaneous": bands}
    if refused := [row for row in ROWS if row.when({**said, "per": per, "wide": wide})]:
        raise refused[0].error("report")
    if roles.missing == BOUNDED:
        rows = _report_bracket(
            ErroredLog.from_log(log, roles, metrics, **options),
            partial(
                report, metrics=metrics, overall=overall, simultaneous=bands, lean=lean, **options
            ),
        )
        return spoken_plan(rows, log, roles, metrics)
    trials = bind_roles(log, roles)
    request = Request.from_trials(trials, metrics, per=per, curves=bands, **options)
    columns = report_columns(trials, per, request.classes.needs, bands=bands)
    keys = [*columns.keys, *columns.question]
    hidden = [name for need in request.classes.needs if need.wide for name in need.visible]
    means = not (lean and all(request.choice.is_unbiased(*each) for each in request.metrics))
    wanted = wide_columns(metrics, keys, [*columns.facts], hidden, means=means) if wide else []
    plan = evaluated_plan(request, columns, overall=overall)
    priors = {request.choice.prior_of(metric, "success") for metric, _ in request.metrics}
    if options.get("prior") is None and not priors <= {None, "population"}:
        plan = plan.then(warn_of_rows)
    rows = tidy_plan(plan, columns)
    if wide:
        return wide_rows(rows, keys, wanted)
    names = curve_columns(columns.visible, metrics)
    rows = rows if names == columns.visible else with_curves(rows, metrics).select(names)
    rows = rows if means else rows.drop("mu")
    if lean and (confidence := request.choice.confidence) != CONFIDENCE:
        refuse_repeats([*rows.collect_schema().names(), "confidence"])
        rows = rows.with_columns(confidence=pl.lit(confidence))
    # A stable sort: the metrics of a question keep the order in which they were asked for.
    return rows.sort(*keys, maintain_order=True) if columns.question else rows


def _report_bracket(errored: ErroredLog, ask: Callable[..., pl.LazyFrame]) -> pl.LazyFrame:
    """The rows of a report whose intervals hold whatever the errored trials were."""
    rows = errored.bracket(ask, "estimate")
    names = rows.collect_schema().names()
    after = names.index("trials") + 1
    return errored.with_errors(rows).select(*names[:after], "errored", *names[after:])


def tidy_plan(plan: WholePlan, columns: ReportColumns) -> pl.LazyFrame:
    """The rows of a report, from a plan whose last step evaluates it."""
    # Rows are lists beside their keys: filters on what is in them must not pass below.
    schema = {
        **(columns.keys or {EVERYTHING: pl.UInt8()}),
        RESULTS: pl.List(pl.Struct(columns.schema)),
    }
    lists = plan.then(lambda evaluated: evaluated.lists(columns), schema).plan()
    return lists.explode(RESULTS, **AS_ROWS).unnest(RESULTS).select(columns.visible)


def evaluated_plan(
    request: Request,
    columns: ReportColumns,
    *,
    overall: Overall | None = None,
    questions: Alignment = "any",
    named: bool = False,
    numbers: bool = True,
    spoken: SpokenTests = "counts",
) -> WholePlan:
    """A plan whose last step evaluates the questions of all groups.

    `named` questions keep their names; without `numbers` only their estimates are asked for. It
    warns of what the `spoken` tests find.
    """
    trials, per_question = request.trials, bool(columns.question)
    if overall is not None:
        check_strata(overall, trials, per_question=per_question)
    refuse_repeats(columns.visible)
    plan = request.groups(per_question=per_question or named, questions=questions)
    plan = plan.then(SpokenChecks(request, spoken, numbers))
    if trials.cluster is not None and (request.choice.target == "population" or not numbers):
        plan = plan.then(check_sample(trials, request.classes.columns()))
    if overall == "micro":
        plan = with_pool(plan, trials)
    evaluation = partial(
        evaluated_groups, request=request, per_question=per_question, numbers=numbers
    )
    # A filter below would change the range of the rewards, and whether all of them are 0 or 1.
    # So it would change which labels of other models count for the judge that all share.
    alone = not any(need.sees_others for need in request.classes.needs)
    plan = plan.then(evaluation, filters=alone)
    if numbers and any(metric.unbounded for metric, _ in request.metrics):
        plan = plan.then(partial(_refuse_infinite, columns=columns))
    # Nor may it change what is averaged.
    if overall is not None and overall != "micro":
        plan = plan.then(partial(with_means, overall=overall), filters=False)
    step = run_step(trials, per_question=per_question)
    # Nor which runs models share.
    return plan if step is None else plan.then(step, filters=False)


def run_step(
    trials: Trials, *, per_question: bool = False
) -> Callable[[Evaluated], Evaluated] | None:
    """The part of runs in evaluated numbers, where a user asks for it."""
    effects = trials.roles.effects
    if trials.run is None and kept_words(trials) is None:
        if effects in {"alike", "shared"}:
            raise ValueError(f"run_effects={effects!r} is about runs, which counts do not have")
        return None
    if effects == "none":
        return None
    return these_runs if per_question else with_runs


def _refuse_infinite(evaluated: Evaluated, *, columns: ReportColumns) -> Evaluated:
    """Refuse a blend with a negative power of zero.

    Where calibrated numbers are allowed, a row without numbers has more draws than trials.
    """
    calibrated = pl.lit(evaluated.request.choice.prior is None)
    rows = evaluated.rows(columns)
    bad = rows.filter(INFINITE & ~(pl.col("mu").is_null() & calibrated))
    if bad.height:
        keys = [*columns.keys, *columns.question]
        first = bad.sort(*keys, maintain_order=True) if keys else bad
        where = row_place(first.row(0, named=True), [*keys, "metric", "k"])
        raise ValueError(
            f"{bad.height:,} results have a negative power of zero, the first{where}: a metric "
            "to which it is applied is 0 there, or nearly so. Use powers that are not negative."
        )
    return evaluated


def check_strata(overall: Overall, trials: Trials, *, per_question: bool) -> None:
    """Refuse rows over strata where there are none."""
    check_overall(overall)
    if not trials.by:
        raise ValueError(f"overall={overall!r} needs strata: name their columns with by=")
    if per_question:
        raise ValueError(f'overall={overall!r} is about models: it has no per="question"')


def stratum_weights(overall: Overall, strata: pl.DataFrame) -> Floats:
    """The weight of each stratum in a mean over them, on any scale.

    Given ones, or those of a mean of means, of which the first column is the outermost.

    >>> stratum_weights("macro", pl.DataFrame({"a": ["x", "x", "y"], "b": [1, 2, 1]})).tolist()
    [1.0, 1.0, 2.0]
    >>> stratum_weights({"x": 3, "y": 1}, pl.DataFrame({"a": ["x", "y"]})).tolist()
    [3.0, 1.0]
    """
    names, weights = strata.columns, np.ones(strata.height)
    if not isinstance(overall, Mapping):
        for depth, name in enumerate(names[1:], 1):
            inside = strata.select(pl.col(name).n_unique().over(names[:depth])).to_series()
            weights = weights / inside.to_numpy()
        return np.asarray(weights / weights.min(initial=np.inf))
    keys = strata.rows() if len(names) > 1 else strata.to_series().to_list()
    lacking, known = [key for key in keys if key not in overall], {*keys}
    unknown = [key for key in overall if key not in known]
    if known and (lacking or unknown):
        raise ValueError(
            f"overall= needs one weight for each stratum of {', '.join(names)}. Strata without a "
            f"weight: {known_text(None, lacking)}; weights without a stratum: "
            f"{known_text(None, unknown)}. Filter out strata that are not to count"
        )
    return np.array([overall[key] for key in keys], dtype=np.float64)


def with_pool(groups: WholePlan, trials: Trials) -> WholePlan:
    """Add a group for each model, without a stratum, that has the questions of all its strata."""

    def apply(strata: pl.DataFrame) -> pl.DataFrame:
        _refuse_lacking(strata, trials)
        rows = _per_model(strata, trials).agg(pl.col(QUESTIONS).explode(**AS_ROWS))
        pooled = rows.sort(*trials.models, EVERYTHING).drop(EVERYTHING)
        return pl.concat([strata, pooled], how="diagonal_relaxed")

    # A filter must not go below: it would change what is pooled.
    return groups.then(apply, filters=False)


def with_means(evaluated: Evaluated, overall: Overall) -> Evaluated:
    """Add a group for each model, without a stratum, that has the mean results of its strata."""
    request, groups = evaluated.request, evaluated.groups
    trials = request.trials
    _refuse_lacking(groups, trials)
    models = [*trials.models]
    places = groups.select(*trials.strata)
    weights = stratum_weights(overall, places.unique(maintain_order=True))
    of_groups = weights[stratum_numbers(places, [*trials.strata])]
    # Each question keeps its stratum: all of them together serve the means.
    weighted = groups.select(*models, QUESTIONS, pl.Series(WEIGHT, of_groups))
    numbered = weighted.with_row_index(STRATUM)
    named = pl.col(QUESTIONS).struct.with_fields(pl.col(STRATUM, WEIGHT))
    each = numbered.explode(QUESTIONS, **AS_ROWS).with_columns(named)
    pooled = _per_model(each, trials).agg(QUESTIONS).sort(*models, EVERYTHING).drop(EVERYTHING)
    cells = request.cells(pooled[QUESTIONS])
    order = np.arange(len(groups))
    if models:
        order = groups.select(pl.arg_sort_by(*models, maintain_order=True)).to_series().to_numpy()
    rows, (part,) = order.astype(np.int64).reshape(len(pooled), weights.size), evaluated.parts
    strata = StrataMeans(rows, weights)
    facts = {fact.name: fact.to_numpy()[rows].sum(axis=1) for fact in part.facts.drop(GROUP)}
    means = {
        row: _mean_numbers(evaluated, row, cells, strata)
        for row in (evaluated.views if part.numbers else ())
    }
    summed = pl.DataFrame({GROUP: np.arange(len(pooled)), **facts})
    whole = EvaluatedGroups(cells, summed, means, part.question)
    none = pl.lit(None, groups.schema[QUESTIONS]).alias(QUESTIONS)
    keys = pl.concat([groups, pooled.with_columns(none)], how="diagonal_relaxed")
    return replace(evaluated, groups=keys, parts=(part, whole), weights=weights)


def _mean_numbers(
    evaluated: Evaluated, row: Row, cells: QuestionCells, strata: StrataMeans
) -> Scores:
    """The means of one metric and draw size over the strata of each model.

    Numbers from the questions of all strata replace those that follow from the intervals of the
    strata, if there are any.
    """
    (metric, view), (part,) = evaluated.views[row], evaluated.parts
    inference = evaluated.request.choice.inference_of(metric, view)
    pooled = inference.macro_numbers([(metric, view)], cells).get(row)
    numbers = part.numbers[row]
    if metric.looks_at == "costs" and pooled is not None:
        return pooled
    with np.errstate(invalid="ignore"):
        lo, hi, law = inference.mean_interval(metric, numbers, strata)
        estimate, mu = map(strata.mean, (numbers.estimate, numbers.mu))
        noise = Noise(strata.root_of_squares(numbers.sigma))
        facts = _mean_facts(evaluated.request, numbers, part, strata)
        scores = Scores(numbers.inference, estimate, mu, noise, lo, hi, law, facts)
    if pooled is None:
        return scores
    each = ((getattr(pooled, name), getattr(scores, name)) for name in NUMBERS)
    estimate, mu, sigma, lo, hi = (np.where(np.isnan(one), other, one) for one, other in each)
    return Scores(scores.inference, estimate, mu, Noise(sigma), lo, hi, pooled.law, facts)


def _mean_facts(
    request: Request, numbers: Scores, part: EvaluatedGroups, strata: StrataMeans
) -> dict[str, Values]:
    """The facts beside the means of strata."""
    facts = {name: values[strata.groups] for name, values in numbers.facts.items()}
    means = dict[str, Values]()
    if BOUNDS in facts:
        means[BOUNDS] = facts[BOUNDS][:, 0]
    if INFORMATION in facts:
        information = np.asarray(facts[INFORMATION], dtype=np.float64)
        questions = part.facts["questions"].to_numpy()[strata.groups]
        means[INFORMATION] = information_of_strata(request.choice.target, information, questions)
    if JUDGED in facts:
        means[JUDGED] = strata.mean(np.asarray(numbers.facts[JUDGED], np.float64))
        # Labels that tell how often verdicts err serve all strata.
        labels, shared = facts[LABEL_COUNT], request.trials.truth is None
        means[LABEL_COUNT] = labels.max(axis=1) if shared else labels.sum(axis=1)
    return means


def _per_model(frame: pl.DataFrame, trials: Trials) -> GroupBy:
    return frame.group_by(*trials.models, STAND_IN, maintain_order=True)


def _refuse_lacking(groups: pl.DataFrame, trials: Trials) -> None:
    """Raise if models lack a stratum that others have."""
    if trials.model is None:
        return
    strata, model = [*trials.strata], trials.model.name
    models, all_strata = groups.select(model).unique(), groups.select(strata).unique()
    lacking = models.join(all_strata, how="cross").join(groups, on=[*strata, model], how="anti")
    if lacking.height:
        first = lacking.sort(model, *strata).row(0, named=True)
        names = sorted(map(repr, lacking[model].unique().to_list()))
        raise ValueError(
            f"overall: {len(names):,} model{'s lack' if len(names) > 1 else ' lacks'} a stratum: "
            f"{', '.join(names)}; the first has no trial{row_place(first, strata)}. A number over "
            "all strata needs each of them: filter the log to those that all models have."
        )


_LARGE = 1 / 3  # of the questions
_SIZE, _SHARE, _COUNTED = ":size", ":share", ":counted"


class ClusterWarning(UserWarning):
    """One cluster has more than a third of the questions, which count as few clusters then."""


def check_sample(trials: Trials, counts: Sequence[str]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The check of groups whose clusters are a sample, a step of a `WholePlan`."""

    def check(groups: pl.DataFrame) -> pl.DataFrame:
        scored = question_rows(groups, *trials.groups).filter(pl.sum_horizontal(counts) > 0)
        sizes = scored.group_by(*trials.groups, CLUSTER).agg(pl.len().alias(_SIZE))
        size, number = pl.col(_SIZE), pl.col(_SIZE).cast(pl.Float64)
        largest = (
            sizes.sort(CLUSTER)
            .group_by(*trials.groups)
            .agg(
                pl.len(),
                pl.col(CLUSTER).sort_by(_SIZE, descending=True, maintain_order=True).first(),
                size.sum(),
                (size.max() / size.sum()).alias(_SHARE),
                (number.sum() ** 2 / (number**2).sum()).alias(_COUNTED),
            )
        )
        _refuse_one(largest.filter(pl.col("len") == 1, size > 1), trials)
        _warn_of_large(largest.filter(pl.col(_SHARE) > _LARGE, pl.col("len") < size), trials)
        return groups

    return check


def _refuse_one(groups: pl.DataFrame, trials: Trials) -> None:
    """Raise if all questions of a group are in one cluster."""
    if groups.is_empty():
        return
    first = groups.sort(*trials.groups).row(0, named=True)
    number = groups.height
    raise ValueError(
        f"{number:,} model{'s have' if number > 1 else ' has'} only one cluster of questions in "
        f"{_cluster_name(trials)!r}, the first{row_place(first, trials.keys)}: "
        f"{first[CLUSTER]!r}, with {first[_SIZE]:,} questions. One cluster says nothing "
        "of others: name a column that distinguishes several, omit cluster=, or ask about "
        'these questions with target="benchmark".'
    )


def _warn_of_large(groups: pl.DataFrame, trials: Trials) -> None:
    """Warn if one cluster has a large part of the questions of a group."""
    if groups.is_empty():
        return
    first = groups.sort(_SHARE, *trials.groups, descending=[True, *[False] * len(trials.groups)])
    worst, number = first.row(0, named=True), groups.height
    warnings.warn(
        f"in {number:,} model{'s' * (number > 1)} one cluster has more than a third of the "
        f"questions, most{row_place(worst, trials.keys)}: {worst[CLUSTER]!r} in "
        f"{_cluster_name(trials)!r} has {worst[_SHARE]:.0%} of {worst[_SIZE]:,}. "
        "The mean then depends on that one cluster: "
        f"{worst['len']:,} clusters count as {worst[_COUNTED]:.1f}, which sets the width of "
        "intervals about the population; they hold only if that cluster is like the others.",
        ClusterWarning,
        stacklevel=2,
    )


def _cluster_name(trials: Trials) -> str:
    return "" if trials.cluster is None else trials.cluster.name
