"""The keywords of the accessor and of its methods, for type checkers and completion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, TypedDict

import polars as pl
from numpy.typing import ArrayLike

from polars_scorio.arguments import Compared, Interval, Overall, Per, Pooling
from polars_scorio.counting.roles import Category, Column
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.base import Bounds

Frame: TypeAlias = "pl.DataFrame | pl.LazyFrame"


class InferenceOptions(TypedDict, total=False):
    """How mu, sigma and the interval of a metric are found."""

    prior: Frame | None
    confidence: float
    interval: Interval
    pooling: Pooling
    target: Target


class ReportOptions(InferenceOptions, total=False):
    """The keywords that every reporting method passes on to `report`."""

    per: Per
    overall: Overall | None
    wide: bool


class PlanOptions(TypedDict, total=False):
    """The keywords of what plans more trials."""

    prior: Frame | None
    pooling: Pooling


class DecisionOptions(InferenceOptions, total=False):
    """The keywords of what compares the models of a stratum."""

    questions: Compared


class WeightOptions(ReportOptions, total=False):
    """Keywords of a weighted average and of its report."""

    bounds: Bounds | None
    name: str | None


class BestOptions(ReportOptions, total=False):
    """Keywords of Max@k and of its report."""

    bounds: Bounds | Literal["range"] | None
    name: str | None


class DrawOptions(WeightOptions, total=False):
    """Keywords of a binary metric and of its report."""

    alpha0: float
    beta0: float


class GeomOptions(DrawOptions, total=False):
    """Keywords of a blend of Pass@k and Pass^k and of its report."""

    pass_power: float
    unanimous_power: float


class SpectrumOptions(DrawOptions, total=False):
    """Keywords of a blend of Pass@k and a spectrum and of its report."""

    lam: float
    weights: ArrayLike | None


class OutcomeOptions(TypedDict, total=False):
    """The keywords of `ScorioExpr.__call__`."""

    success: Category | Iterable[Category] | None
    missing: Category


class RoleOptions(OutcomeOptions, total=False):
    """The keywords of `Scorio.__call__`."""

    model: Column | None
    question: Column
    trial: Column | None
    category: Column
    by: Column | Iterable[Column] | None
    n: int | None
    count: Column | None
    levels: Iterable[float] | None
    validate: bool
