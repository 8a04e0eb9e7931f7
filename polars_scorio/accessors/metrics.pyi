"""The methods of accessors/metrics.py: written by ``python -m tests.accessors.stub``."""

from typing import Literal

import polars as pl
from numpy.typing import ArrayLike
from typing_extensions import Unpack

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.metrics.metric import Bounds, DrawSizes, Metric, Weights
from polars_scorio.reporting.options import ReportOptions

class MetricMethods(Accessor[FrameT]):
    """The metrics as methods of a log: each is the report of that metric alone."""

    def auc_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """AUC@k: how soon does a success come, if up to k trials are drawn?"""

    def avg(
        self,
        w: Weights | None = None,
        *,
        bounds: Bounds | None = None,
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """avg@N: what did the trials score on average, and how far is that to be trusted?"""

    def bayes(
        self,
        w: Weights | None = None,
        *,
        bounds: Bounds | None = None,
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Bayes@N: how good is the model on average, judged after all trials?"""

    def g_pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """G-Pass@k: how often do all of k trials succeed? Another name of `pass_hat_k`."""

    def g_pass_at_k_tau(
        self,
        k: DrawSizes,
        tau: float,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """G-Pass@k_tau: how often does at least the share tau of k trials succeed?"""

    def geo_spectrum_at_k(
        self,
        k: DrawSizes,
        *,
        lam: float = 0.5,
        weights: ArrayLike | None = None,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """GeoSpectrum@k: how do Pass@k and a threshold spectrum of the benchmark blend?"""

    def geo_spectrum_star_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """GeoSpectrum*@k: the geometric mean of Pass@k and mG-Pass@k of the benchmark."""

    def geom_at_k(
        self,
        k: DrawSizes,
        *,
        pass_power: float = 0.5,
        unanimous_power: float = 0.5,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Geom@k: does a question succeed both at some time and throughout, on average?"""

    def geom_ds_at_k(
        self,
        k: DrawSizes,
        *,
        pass_power: float = 0.5,
        unanimous_power: float = 0.5,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Geom@k of the dataset: how do Pass@k and Pass^k of the benchmark blend into one number?"""

    def maj_at_k(
        self,
        k: DrawSizes | None = None,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Maj@k: how often does the majority of k trials succeed?"""

    def max_at_k(
        self,
        k: DrawSizes,
        w: Weights | None = None,
        *,
        bounds: Bounds | Literal["range"] | None = "range",
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Max@k: how good is the best of k trials?"""

    def mg_pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """mG-Pass@k: how far do the successes of k trials exceed one half?"""

    def pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Pass@k: how often does at least one of k trials succeed?"""

    def pass_hat_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Pass^k: how often do all of k trials succeed?"""

    def tail_pass(
        self,
        k: int,
        t: DrawSizes | None = None,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """TailPass: how often do at least 1, 2, ..., k of k trials succeed?"""

    def threshold_spectrum_at_k(
        self,
        k: int,
        weights: ArrayLike,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Threshold spectrum: how often do at least 1, 2, ..., k of k trials succeed, weighted?"""

    def unanimous_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Unanimous@k: how often do all of k trials succeed? Another name of `pass_hat_k`."""

    def vote_at_k(
        self,
        k: DrawSizes,
        ties: Literal["split", "fail"] = "split",
        *,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Vote@k, self-consistency: how often is the most frequent answer of k trials right?"""

class MetricEstimates:
    """The metrics as methods of categories: each is the estimate of a group."""

    def estimate(self, metric: Metric) -> pl.Expr: ...
    def auc_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """AUC@k: how soon does a success come, if up to k trials are drawn?"""

    def avg(
        self,
        w: Weights | None = None,
        *,
        bounds: Bounds | None = None,
        name: str | None = None,
    ) -> pl.Expr:
        """avg@N: what did the trials score on average, and how far is that to be trusted?"""

    def bayes(
        self,
        w: Weights | None = None,
        *,
        bounds: Bounds | None = None,
        name: str | None = None,
    ) -> pl.Expr:
        """Bayes@N: how good is the model on average, judged after all trials?"""

    def g_pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """G-Pass@k: how often do all of k trials succeed? Another name of `pass_hat_k`."""

    def g_pass_at_k_tau(
        self,
        k: DrawSizes,
        tau: float,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """G-Pass@k_tau: how often does at least the share tau of k trials succeed?"""

    def geo_spectrum_at_k(
        self,
        k: DrawSizes,
        *,
        lam: float = 0.5,
        weights: ArrayLike | None = None,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """GeoSpectrum@k: how do Pass@k and a threshold spectrum of the benchmark blend?"""

    def geo_spectrum_star_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """GeoSpectrum*@k: the geometric mean of Pass@k and mG-Pass@k of the benchmark."""

    def geom_at_k(
        self,
        k: DrawSizes,
        *,
        pass_power: float = 0.5,
        unanimous_power: float = 0.5,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """Geom@k: does a question succeed both at some time and throughout, on average?"""

    def geom_ds_at_k(
        self,
        k: DrawSizes,
        *,
        pass_power: float = 0.5,
        unanimous_power: float = 0.5,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """Geom@k of the dataset: how do Pass@k and Pass^k of the benchmark blend into one number?"""

    def maj_at_k(
        self,
        k: DrawSizes | None = None,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """Maj@k: how often does the majority of k trials succeed?"""

    def max_at_k(
        self,
        k: DrawSizes,
        w: Weights | None = None,
        *,
        bounds: Bounds | Literal["range"] | None = "range",
        name: str | None = None,
    ) -> pl.Expr:
        """Max@k: how good is the best of k trials?"""

    def mg_pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """mG-Pass@k: how far do the successes of k trials exceed one half?"""

    def pass_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """Pass@k: how often does at least one of k trials succeed?"""

    def pass_hat_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """Pass^k: how often do all of k trials succeed?"""

    def tail_pass(
        self,
        k: int,
        t: DrawSizes | None = None,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """TailPass: how often do at least 1, 2, ..., k of k trials succeed?"""

    def threshold_spectrum_at_k(
        self,
        k: int,
        weights: ArrayLike,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """Threshold spectrum: how often do at least 1, 2, ..., k of k trials succeed, weighted?"""

    def unanimous_at_k(
        self,
        k: DrawSizes,
        *,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        bounds: Bounds | None = (0.0, 1.0),
        name: str | None = None,
    ) -> pl.Expr:
        """Unanimous@k: how often do all of k trials succeed? Another name of `pass_hat_k`."""
