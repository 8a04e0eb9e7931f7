"""The fitted prior of partial pooling: how different are the questions?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import check_confidence
from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.log import Log, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS, group_plan
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.lattice import Grid
from polars_scorio.maths.posteriors import Pooled, beta_interval
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


def population(
    log: Log,
    roles: Roles,
    w: Weights | None = None,
    *,
    prior: Frame | None = None,
    confidence: float = 0.95,
) -> pl.LazyFrame:
    """The plan of the fitted priors; see `Scorio.population`."""
    confidence = check_confidence(confidence)
    trials, pairs = bind_roles(log, roles), weight_pairs(w)
    if pairs is None and trials.roles.levels is not None:
        pairs = tuple((level, level) for level in trials.roles.levels)
    refuse_judge(trials, "population")
    refuse_repeats([*trials.keys, *COLUMNS])
    weighted = [] if pairs is None else [tuple(category for category, _ in pairs)]
    counted = counted_classes(trials, weighted, binary=pairs is None)
    earlier = None if prior is None else bind_prior(prior, trials, counted)
    fit = _Fit(counted, weight_array(pairs), binary=pairs is None, confidence=confidence,
               with_prior=earlier is not None)  # fmt: skip

    def fitted(groups: pl.DataFrame) -> pl.DataFrame:
        return groups.select(*trials.keys, fit(groups[QUESTIONS]).alias(_PRIORS)).unnest(_PRIORS)

    schema = {**trials.strata, **trials.models, **COLUMNS}
    return group_plan(trials, counted, earlier).then(fitted, schema).plan()


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The function from the questions of each group to the prior that is fitted to them."""

    classes: Classes
    w: Floats
    binary: bool
    confidence: float
    with_prior: bool

    def __call__(self, groups: pl.Series) -> pl.Series:
        """A struct for each group."""
        fitted = QuestionCells.read(groups, self.classes, with_prior=self.with_prior).fitted
        if self.binary:
            fitted = fitted.binary(self.classes.successful)
        pooled = Pooled.fit(fitted, fitted, np.arange(fitted.groups), "benchmark")
        numbers = np.array([self._prior_numbers(group.grid) for group in pooled.groups])
        columns = dict(zip(_NUMBERS, numbers.reshape(-1, len(_NUMBERS)).T, strict=True))
        frame = pl.DataFrame({"questions": fitted.size, "trials": fitted.trials, **columns})
        return frame.cast(COLUMNS).to_struct()  # type: ignore[arg-type]  # a dict is a mapping

    def _prior_numbers(self, grid: Grid) -> list[float]:
        """Mean and interval of the mean weight, of rho and of s, in the order of `_NUMBERS`."""
        low, high = float(self.w.min()), float(self.w.max())
        mean = self._grid_summary(grid.weight, grid.mean @ self.w, (low, high))
        rho, lo, hi = self._grid_summary(grid.weight, grid.rho, (0.0, 1.0))
        odds = [(1 - value) / max(value, np.finfo(float).tiny) for value in (rho, hi, lo)]
        return [*mean, rho, lo, hi, *odds]

    def _grid_summary(
        self, weight: Floats, values: Floats, bounds: tuple[float, float]
    ) -> tuple[float, float, float]:
        """Posterior mean, and quantiles of the Beta distribution with the moments of the grid."""
        mu = np.array(weight @ values)
        sigma = np.sqrt(weight @ (values - mu) ** 2)
        if bounds[0] == bounds[1]:
            return float(mu), float(mu), float(mu)
        lo, hi = beta_interval(mu, sigma, self.confidence, bounds)
        return float(mu), float(lo), float(hi)
