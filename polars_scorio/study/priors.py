"""The populations that explain the questions: how different are these?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from polars_scorio.arguments import check_confidence
from polars_scorio.counting.categories import counted_classes
from polars_scorio.counting.log import Log, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS, group_plan
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.credit_numbers import Measurement
from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.interval import Weighted
from polars_scorio.maths.pooled_moments import WeightedPopulations
from polars_scorio.maths.populations import CORRELATIONS
from polars_scorio.maths.posteriors import Pooled, beta_interval
from polars_scorio.maths.questions import States
from polars_scorio.metrics.metric import Weights, weight_array, weight_pairs
from polars_scorio.study.request import Frame, bind_prior, refuse_judge
from polars_scorio.subjects.question_cells import QuestionCells

_NUMBERS = ("mean", "mean_lo", "mean_hi", "icc", "icc_lo", "icc_hi", "s", "s_lo", "s_hi")
COLUMNS: dict[str, pl.DataType] = {
    "questions": pl.UInt32(),
    "trials": pl.UInt64(),
    **dict.fromkeys(_NUMBERS, pl.Float64()),
}
_PRIORS = ":priors"
# The populations have six correlations: counts tell no more than which of them is nearest.
_BETWEEN = np.array([0.0, *(np.add(CORRELATIONS[1:], CORRELATIONS[:-1]) / 2), 1.0])


def population(
    log: Log,
    roles: Roles,
    w: Weights | None = None,
    *,
    earlier: Frame | None = None,
    confidence: float | None = None,
) -> pl.LazyFrame:
    """The plan of the weighted populations; see `Scorio.population`."""
    confidence = check_confidence(confidence)
    trials, pairs = bind_roles(log, roles), weight_pairs(w)
    if pairs is None and trials.roles.levels is not None:
        pairs = tuple((level, level) for level in trials.roles.levels)
    refuse_judge(trials, "population")
    refuse_repeats([*trials.keys, *COLUMNS])
    weighted = [] if pairs is None else [tuple(category for category, _ in pairs)]
    counted = counted_classes(trials, weighted, binary=pairs is None)
    prior = None if earlier is None else bind_prior(earlier, trials, counted)
    weights, with_prior = weight_array(pairs), prior is not None

    def weighted_rows(groups: pl.DataFrame) -> pl.DataFrame:
        questions = groups[QUESTIONS]
        fitted = QuestionCells.read(questions, counted, with_prior=with_prior).fitted
        fitted = fitted.binary(counted.successful) if pairs is None else fitted
        numbers = _population_numbers(fitted, weights, confidence)
        return groups.select(*trials.keys, numbers.to_struct(_PRIORS)).unnest(_PRIORS)

    schema = {**trials.strata, **trials.models, **COLUMNS}
    return group_plan(trials, counted, prior).then(weighted_rows, schema).plan()


def _population_numbers(fitted: States, w: Floats, confidence: float) -> pl.DataFrame:
    """A row for each group of questions."""
    pooled = Pooled.fit(fitted, fitted, np.arange(fitted.groups), "benchmark")
    icc = [_correlation_numbers(group.among, confidence) for group in pooled.groups]
    rho, lo, hi = np.reshape(icc, (-1, 3)).T
    with np.errstate(divide="ignore"):
        odds = [(1 - each) / each for each in (rho, hi, lo)]
    numbers = [*_rate_numbers(fitted, w, confidence), rho, lo, hi, *odds]
    columns = dict(zip(_NUMBERS, numbers, strict=True))
    frame = pl.DataFrame({"questions": fitted.size, "trials": fitted.trials, **columns})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None)).cast(COLUMNS)  # type: ignore[arg-type]  # a dict is a mapping


def _rate_numbers(fitted: States, w: Floats, confidence: float) -> list[Floats]:
    """Mean weight of each group and its interval, with the questions as a sample."""
    every = replace(fitted, counts=fitted.counts + fitted.prior)
    asked = Measurement(Weighted(every), confidence, "population")
    (rate,) = asked.credits([fixed_gains(np.ones(1))])
    first, last = (float(weight) for weight in w)
    ends = (rate.lo, rate.hi) if last >= first else (rate.hi, rate.lo)
    return [first + (last - first) * each for each in (rate.estimate, *ends)]


def _correlation_numbers(among: WeightedPopulations, confidence: float) -> list[float]:
    """Mean over the populations, and its interval up to where other ones are nearer."""
    weight, values = among.weight, among.correlation
    mu = np.array(weight @ values)
    sigma = np.sqrt(weight @ (values - mu) ** 2)
    lo, hi = (float(each) for each in beta_interval(mu, sigma, confidence, (0.0, 1.0)))
    return [float(mu), _BETWEEN[lo >= _BETWEEN].max(), _BETWEEN[hi <= _BETWEEN].min()]
