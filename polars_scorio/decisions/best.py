"""The best model of each stratum, with its score corrected for being selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.arguments import Overall, check_count
from polars_scorio.counting.log import Log, bind_roles, result_schema
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import (
    PAIRS,
    PRIOR_DECIDES,
    STRATUM,
    Block,
    ModelRows,
    Models,
    bounds_column,
    bounds_dtype,
    in_all_strata,
    metric_of,
    models_of,
    named_model,
    warn_of_prior,
)
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.comparison import Family
from polars_scorio.maths.ranks import selected_tail, shrunk_scores
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.evaluate import Evaluated
from polars_scorio.study.request import DecisionOptions, on_levels
from polars_scorio.subjects.scores import INFERENCE

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NUMBERS = ("estimate", "best_mu", "best_lo", "best_hi")


def best(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    candidates: int | None = None,
    overall: Overall | None = None,
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The plan of the best models; see `Scorio.best`."""
    if candidates is not None:
        candidates = check_count("candidates", candidates)
    metric = metric_of(metric, "best", "rank() has the cheapest first")
    trials = bind_roles(log, roles)
    metric = on_levels(metric, trials)
    model = named_model(trials, "best")
    plan, models = models_of(trials, metric, options, overall)
    numbers: dict[str, pl.DataType] = {
        "candidates": pl.Int64(),
        **dict.fromkeys(_NUMBERS, pl.Float64()),
        "could_be_best": pl.List(model),
        INFERENCE: pl.String(),
        **bounds_dtype(models),
    }
    schema = result_schema(trials.strata, trials.models, numbers)
    rows = in_all_strata(plan, trials, _Selection(models, candidates), schema)
    return rows.select(*trials.strata, *schema)


@dataclass(frozen=True, slots=True, eq=False)
class _Selection:
    """The function from the results of all models to the best of each stratum."""

    models: Models
    candidates: int | None

    def __call__(self, groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        """A row for each stratum."""
        (model,) = self.models.trials.models
        rows = self.models.at_k(evaluated, self.models.metric.row_sizes[0])
        blocks = self.models.blocks(groups[STRATUM])
        parts = [self._best_of_strata(rows, block, groups[model]) for block in blocks]
        if not parts:
            return pl.DataFrame()
        return warn_of_prior(pl.concat(parts)).with_columns(bounds_column(evaluated))

    def _best_of_strata(self, rows: ModelRows, block: Block, names: pl.Series) -> pl.DataFrame:
        """A row for each stratum of a block."""
        models, confidence = rows.in_block(block), self.models.confidence
        compared = rows.comparison(models)
        mu, sigma, lo, hi = models.numbers()
        here = np.isfinite(compared.numbers.value)
        # Of equal models the first by name is the best.
        leader = np.where(here, compared.numbers.value, -np.inf).argmax(axis=1)
        candidates = self._candidates(here.sum(axis=1))
        ends = models.own_ends(1 - 2 * selected_tail(candidates, confidence)[:, None])
        sign = self.models.sign
        lo, hi = (ends[0], hi) if sign > 0 else (lo, ends[1])  # the end that selection makes wrong
        ranked_mu, ranked_sigma = (np.where(here, each, np.nan) for each in (mu, sigma))
        shrunk = shrunk_scores(ranked_mu, ranked_sigma, compared.signal_share)
        shrunk = np.maximum(shrunk, lo) if sign > 0 else np.minimum(shrunk, hi)
        possible = Family(confidence).could_be_best(compared)
        row = np.arange(leader.size)
        known = here[row, leader]
        numbers = {
            name: pl.Series(np.where(known, each[row, leader], np.nan)).fill_nan(None)
            for name, each in zip(_NUMBERS, (mu, shrunk, lo, hi), strict=True)
        }
        (model,) = self.models.trials.models
        best_names = names.gather(block.rows[row, leader]).set(pl.Series(~known), None)
        sets = [names.gather(block.rows[each][possible[each]]) for each in row]
        pairs = here.shape[1] * (here.shape[1] - 1) // 2
        return pl.DataFrame(
            {
                STRATUM: pl.Series(block.strata, dtype=pl.UInt32),
                "candidates": candidates,
                model: best_names,
                INFERENCE: rows.words.gather(block.rows[row, leader]),
                "could_be_best": pl.Series(sets, dtype=pl.List(names.dtype)),
                **numbers,
                PRIOR_DECIDES: rows.number_outweighed(models),
                PAIRS: np.full(leader.size, pairs),
            }
        )

    def _candidates(self, models: Ints) -> Ints:
        """Number of candidates of each stratum."""
        if self.candidates is None:
            return np.maximum(models, 1)
        if self.candidates < models.max(initial=0):
            raise ValueError(
                f"candidates must be at least the number of models, {models.max()}, got "
                f"{self.candidates}"
            )
        return np.full_like(models, self.candidates)
