"""One thin method of the accessor for each metric."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, cast

from numpy.typing import ArrayLike

from polars_scorio import metrics
from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.metrics.base import DrawSizes, Metric, Weights
from polars_scorio.reporting.options import (
    BestOptions,
    DrawOptions,
    GeomOptions,
    ReportOptions,
    SpectrumOptions,
    WeightOptions,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class MetricMethods(Accessor[FrameT]):
    """The metrics as methods: each is the report of that metric alone."""

    def bayes(self, w: Weights | None = None, **options: Unpack[WeightOptions]) -> FrameT:
        """Bayes@N: how good is the model on average, judged after all trials?

        The arguments of `ps.bayes` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> trials.scorio(trial=None).bayes()["mu"].round(4).item()
        0.5714
        """
        return self._single(metrics.bayes, w, **options)

    def avg(self, w: Weights | None = None, **options: Unpack[WeightOptions]) -> FrameT:
        """avg@N: what did the trials score on average, and how far is that to be trusted?

        The arguments of `ps.avg` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> trials.scorio(trial=None).avg()["mu"].item()
        0.6
        """
        return self._single(metrics.avg, w, **options)

    def pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass@k: how often does at least one of k trials succeed?

        The arguments of `ps.pass_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).pass_at_k([1, 2])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6), (2, 0.9)]
        """
        return self._single(metrics.pass_at_k, k, **options)

    def pass_hat_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass^k: how often do all of k trials succeed?

        The arguments of `ps.pass_hat_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).pass_hat_k([1, 2])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6), (2, 0.3)]
        """
        return self._single(metrics.pass_hat_k, k, **options)

    def unanimous_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Unanimous@k: another name of `pass_hat_k`.

        The arguments of `ps.unanimous_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).unanimous_at_k(2)
        >>> report.select("metric", pl.col("estimate").round(4)).rows()
        [('unanimous_at_k', 0.3)]
        """
        return self._single(metrics.unanimous_at_k, k, **options)

    def g_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k: another name of `pass_hat_k`.

        The arguments of `ps.g_pass_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).g_pass_at_k(2)
        >>> report.select("metric", pl.col("estimate").round(4)).rows()
        [('g_pass_at_k', 0.3)]
        """
        return self._single(metrics.g_pass_at_k, k, **options)

    def g_pass_at_k_tau(self, k: DrawSizes, tau: float, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k_tau: how often does at least the share tau of k trials succeed?

        The arguments of `ps.g_pass_at_k_tau` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).g_pass_at_k_tau(3, 0.5)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(3, 0.7)]
        """
        return self._single(metrics.g_pass_at_k_tau, k, tau, **options)

    def mg_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """mG-Pass@k: how far do the successes of k trials exceed one half?

        The arguments of `ps.mg_pass_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).mg_pass_at_k(2)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.3)]
        """
        return self._single(metrics.mg_pass_at_k, k, **options)

    def maj_at_k(self, k: DrawSizes | None = None, **options: Unpack[DrawOptions]) -> FrameT:
        """Maj@k: how often does the majority of k trials, or of all trials, succeed?

        The arguments of `ps.maj_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).maj_at_k()
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(None, 1.0)]
        """
        return self._single(metrics.maj_at_k, k, **options)

    def auc_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """AUC@k: how soon does a success come, if up to k trials are drawn?

        The arguments of `ps.auc_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).auc_at_k(2)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.75)]
        """
        return self._single(metrics.auc_at_k, k, **options)

    def threshold_spectrum_at_k(
        self, k: int, weights: ArrayLike, **options: Unpack[DrawOptions]
    ) -> FrameT:
        """Threshold spectrum: how often do at least 1, ..., k of k trials succeed, weighted?

        The arguments of `ps.threshold_spectrum_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).threshold_spectrum_at_k(2, [0.5, 0.5])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.6)]
        """
        return self._single(metrics.threshold_spectrum_at_k, k, weights, **options)

    def geom_at_k(self, k: DrawSizes, **options: Unpack[GeomOptions]) -> FrameT:
        """Geom@k: does a question succeed both at some time and throughout, on average?

        The arguments of `ps.geom_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geom_at_k(1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6)]
        """
        return self._single(metrics.geom_at_k, k, **options)

    def geom_ds_at_k(self, k: DrawSizes, **options: Unpack[GeomOptions]) -> FrameT:
        """Geom@k of the dataset: Pass@k and Pass^k of the benchmark in one number.

        The arguments of `ps.geom_ds_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geom_ds_at_k(1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.6)]
        """
        return self._single(metrics.geom_ds_at_k, k, **options)

    def geo_spectrum_at_k(self, k: DrawSizes, **options: Unpack[SpectrumOptions]) -> FrameT:
        """GeoSpectrum@k: Pass@k and a threshold spectrum of the benchmark in one number.

        The arguments of `ps.geo_spectrum_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geo_spectrum_at_k(2, lam=1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(2, 0.9)]
        """
        return self._single(metrics.geo_spectrum_at_k, k, **options)

    def geo_spectrum_star_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """GeoSpectrum*@k: the geometric mean of Pass@k and mG-Pass@k of the benchmark.

        The arguments of `ps.geo_spectrum_star_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).geo_spectrum_star_at_k(1)
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 0.0)]
        """
        return self._single(metrics.geo_spectrum_star_at_k, k, **options)

    def max_at_k(
        self, k: DrawSizes, w: Weights | None = None, **options: Unpack[BestOptions]
    ) -> FrameT:
        """Max@k: how good is the best of k trials?

        The arguments of `ps.max_at_k` and the options of `report`.

        >>> import polars as pl
        >>> trials = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1, 1, 0, 1]})
        >>> report = trials.scorio(trial=None).max_at_k([1, 2], w=[0, 10])
        >>> report.select("k", pl.col("estimate").round(4)).rows()
        [(1, 6.0), (2, 9.0)]
        """
        return self._single(metrics.max_at_k, k, w, **options)

    def _single(
        self, function: Callable[..., Metric], *arguments: object, **options: object
    ) -> FrameT:
        """The report of one metric; of the options, `function` gets those that it knows."""
        self._release()
        own = options.keys() & signature(function).parameters.keys()
        metric = function(*arguments, **{key: options.pop(key) for key in own})
        return self.report(metric, **cast("ReportOptions", options))
