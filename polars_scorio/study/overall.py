"""One number over all strata: their mean, or all their questions in one pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import Overall, check_choice
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.log import EVERYTHING, STAND_IN, Trials
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.maths.array_rows import Ints
from polars_scorio.metrics.metric import NUMBERS
from polars_scorio.study.evaluate import Evaluated, EvaluatedPart
from polars_scorio.study.request import Request
from polars_scorio.subjects.question_cells import GROUP, STRATUM, QuestionCells
from polars_scorio.subjects.scores import (
    BOUNDS,
    INFORMATION,
    JUDGED,
    LABEL_COUNT,
    Row,
    Scores,
    Values,
    information_of_strata,
    root_of_squares,
)


def check_overall(overall: Overall, trials: Trials, *, per_question: bool) -> None:
    """Refuse rows over strata where there are none."""
    check_choice("overall", overall, Overall)
    if not trials.by:
        raise ValueError(f"overall={overall!r} needs strata: name their columns with by=")
    if per_question:
        raise ValueError(f'overall={overall!r} is about models: it has no per="question"')


def with_pool(groups: WholePlan, trials: Trials) -> WholePlan:
    """Add a group for each model, without a stratum, that has the questions of all its strata."""

    def apply(strata: pl.DataFrame) -> pl.DataFrame:
        _refuse_lacking(strata, trials)
        rows = _per_model(strata, trials).agg(pl.col(QUESTIONS).explode(**AS_ROWS))
        pooled = rows.sort(*trials.models, EVERYTHING).drop(EVERYTHING)
        return pl.concat([strata, pooled], how="diagonal_relaxed")

    # A filter must not go below: it would change what is pooled.
    return groups.then(apply, filters=False)


def with_means(evaluated: Evaluated) -> Evaluated:
    """Add a group for each model, without a stratum, that has the mean results of its strata."""
    request, groups = evaluated.request, evaluated.groups
    trials = request.trials
    _refuse_lacking(groups, trials)
    models = [*trials.models]
    # Each question keeps its stratum: all of them together serve the means.
    numbered = groups.select(*models, QUESTIONS).with_row_index(STRATUM)
    named = pl.col(QUESTIONS).struct.with_fields(pl.col(STRATUM))
    each = numbered.explode(QUESTIONS, **AS_ROWS).with_columns(named)
    pooled = _per_model(each, trials).agg(QUESTIONS).sort(*models, EVERYTHING).drop(EVERYTHING)
    cells = request.cells(pooled[QUESTIONS])
    order = np.arange(len(groups))
    if models:
        order = groups.select(pl.arg_sort_by(*models, maintain_order=True)).to_series().to_numpy()
    strata = order.astype(np.int64).reshape(len(pooled), -1 if len(pooled) else 1)
    (part,) = evaluated.parts
    facts = {fact.name: fact.to_numpy()[strata].sum(axis=1) for fact in part.facts.drop(GROUP)}
    means = {
        row: _mean_numbers(evaluated, row, cells, strata)
        for row in (evaluated.views if part.numbers else ())
    }
    summed = pl.DataFrame({GROUP: np.arange(len(pooled)), **facts})
    whole = EvaluatedPart(cells, summed, means, part.question)
    none = pl.lit(None, groups.schema[QUESTIONS]).alias(QUESTIONS)
    keys = pl.concat([groups, pooled.with_columns(none)], how="diagonal_relaxed")
    return replace(evaluated, groups=keys, parts=(part, whole))


def _mean_numbers(evaluated: Evaluated, row: Row, cells: QuestionCells, strata: Ints) -> Scores:
    """The means of one metric and draw size over the strata of each model, groups (L, S).

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
        lo, hi = inference.mean_interval(metric, numbers, strata)
        means = (each[strata].mean(axis=1) for each in (numbers.estimate, numbers.mu))
        scores = Scores.from_numbers(
            numbers.inference,
            (*means, root_of_squares(numbers.sigma[strata]), lo, hi),
            inference.mean_law(),
            _mean_facts(evaluated.request, numbers, part, strata),
        )
    if pooled is None:
        return scores
    each = ((getattr(pooled, name), getattr(scores, name)) for name in NUMBERS)
    known = tuple(np.where(np.isnan(first), other, first) for first, other in each)
    return Scores.from_numbers(scores.inference, known, pooled.law, scores.facts)


def _mean_facts(
    request: Request, numbers: Scores, part: EvaluatedPart, strata: Ints
) -> dict[str, Values]:
    """The facts beside the means of strata."""
    facts = {name: values[strata] for name, values in numbers.facts.items()}
    means = dict[str, Values]()
    if BOUNDS in facts:
        means[BOUNDS] = facts[BOUNDS][:, 0]
    if INFORMATION in facts:
        information = np.asarray(facts[INFORMATION], dtype=np.float64)
        questions = part.facts["questions"].to_numpy()[strata]
        means[INFORMATION] = information_of_strata(request.choice.target, information, questions)
    if JUDGED in facts:
        means[JUDGED] = facts[JUDGED].mean(axis=1)
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
        place = ", ".join(f"{name}={first[name]!r}" for name in strata)
        names = sorted(map(repr, lacking[model].unique().to_list()))
        raise ValueError(
            f"overall: {len(names):,} model{'s lack' if len(names) > 1 else ' lacks'} a stratum: "
            f"{', '.join(names)}; the first "
            f"has no trial at {place}. A number over all strata needs each of them: filter the log "
            "to those that all models have."
        )
