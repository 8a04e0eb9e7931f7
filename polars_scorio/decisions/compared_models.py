"""Models of a log and rows of their report, as all comparisons of models read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from polars_scorio.arguments import Overall
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.trials import Trials
from polars_scorio.decisions.strata_arrays import Block
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.score_differences import Scores

# Mu, sigma and the ends of the interval of each model of each stratum, shape (S, L).
ModelNumbers: TypeAlias = "tuple[Floats, Floats, Floats, Floats]"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComparedModels:
    """The models of a log, and by what they are compared.

    Attributes
    ----------
    trials : Trials
        The log.
    metric : Metric
        The metric by which models are compared.
    overall : "macro", "micro" or None
        Kind of the groups over all strata, if there are any.
    classes : Classes or None
        The classes into which trials are counted.
    """

    trials: Trials
    metric: Metric
    overall: Overall | None = None
    classes: Classes | None = None


class ComparedRows:
    """Rows of a report of one metric and draw size; between their models no prior decides."""

    __slots__ = ()

    def outweighed_pairs(self, block: Block, scores: Scores, a: Ints, b: Ints) -> Mask:
        """Pairs of columns in which the prior decides although nobody chose the inference."""
        return np.zeros((block.strata.size, a.size), np.bool_)

    def number_outweighed(self, block: Block, scores: Scores) -> Ints:
        """Number of `outweighed_pairs` of each stratum, counted without a table of all pairs."""
        return np.zeros(block.strata.size, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ReportRows(ComparedRows):
    """One row of each model of each stratum, ascending."""

    rows: pl.DataFrame

    def of_models(self, name: str, block: Block) -> Floats:
        """A column of numbers by stratum and model."""
        return np.asarray(self.rows[name].to_numpy()[block.rows], dtype=np.float64)

    def model_numbers(self, block: Block, scores: Scores) -> ModelNumbers:
        """The numbers of each model by itself, which the report has."""
        mu, sigma, lo, hi = (self.of_models(name, block) for name in ("mu", "sigma", "lo", "hi"))
        return mu, sigma, lo, hi
