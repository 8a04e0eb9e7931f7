"""One number over all strata: their mean, by a weight for each, or one pool of their questions.

Each question has a weight: that of its stratum, over the number of its questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import Overall, check_overall, known_text
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.log import EVERYTHING, STAND_IN, Trials
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.maths.array_rows import Floats
from polars_scorio.metrics.metric import NUMBERS
from polars_scorio.study.evaluate import Evaluated, EvaluatedGroups, stratum_numbers
from polars_scorio.study.request import Request
from polars_scorio.subjects.question_cells import GROUP, STRATUM, WEIGHT, QuestionCells
from polars_scorio.subjects.scores import (
    BOUNDS,
    INFORMATION,
    JUDGED,
    LABEL_COUNT,
    Row,
    Scores,
    StrataMeans,
    Values,
    information_of_strata,
)


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
        scores = Scores.from_numbers(
            numbers.inference,
            (estimate, mu, strata.root_of_squares(numbers.sigma), lo, hi),
            law,
            _mean_facts(evaluated.request, numbers, part, strata),
        )
    if pooled is None:
        return scores
    each = ((getattr(pooled, name), getattr(scores, name)) for name in NUMBERS)
    known = tuple(np.where(np.isnan(first), other, first) for first, other in each)
    return Scores.from_numbers(scores.inference, known, pooled.law, scores.facts)


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
        place = ", ".join(f"{name}={first[name]!r}" for name in strata)
        names = sorted(map(repr, lacking[model].unique().to_list()))
        raise ValueError(
            f"overall: {len(names):,} model{'s lack' if len(names) > 1 else ' lacks'} a stratum: "
            f"{', '.join(names)}; the first "
            f"has no trial at {place}. A number over all strata needs each of them: filter the log "
            "to those that all models have."
        )
