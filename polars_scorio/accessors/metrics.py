"""A method for each metric: the report of that metric alone.

The functions in `polars_scorio.metrics` have the arguments, the defaults and the help; the methods
here name them again for type checkers and editors, and a test compares both.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from polars_scorio import metrics
from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.metrics.metric import Bounds, DrawSizes, Metric, Weights
from polars_scorio.signatures import (
    FunctionT,
    described_parameters,
    option_keywords,
    with_signature,
)
from polars_scorio.study.request import ReportOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
_REPORT = "DataFrame or LazyFrame\n    The report of this metric alone, as `report` describes it."


class MetricOptions(ReportOptions, total=False):
    """The keywords of every metric, and those of a report."""

    bounds: Bounds | None
    name: str | None


class DrawOptions(MetricOptions, total=False):
    """The keywords of the metrics of k trials, and those of a report."""


def with_help_of_metric(method: FunctionT) -> FunctionT:
    """Give a method the help and every keyword of the metric of its name, and of a report."""
    function: Callable[..., Metric] = getattr(metrics, method.__name__)
    parameters, shared = signature(function).parameters.values(), option_keywords(ReportOptions)
    shown = signature(method).replace(
        parameters=[_SELF, *parameters, *(option for option, _ in shared.values())]
    )
    entries = {name: entry for name, (_, entry) in shared.items()}
    return with_signature(
        method, shown, described_parameters(function.__doc__, shown, entries, Returns=_REPORT)
    )


class MetricMethods(Accessor[FrameT]):
    """The metrics as methods of a log: each is the report of that metric alone."""

    @with_help_of_metric
    def auc_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """AUC@k: how soon does a success come, if up to k trials are drawn?"""
        return self._report_of(metrics.auc_at_k, k, **options)

    @with_help_of_metric
    def avg(self, w: Weights | None = None, **options: Unpack[MetricOptions]) -> FrameT:
        """avg@N: what is the average score of the trials, and how certain is it?"""
        return self._report_of(metrics.avg, w, **options)

    @with_help_of_metric
    def bayes(self, w: Weights | None = None, **options: Unpack[MetricOptions]) -> FrameT:
        """Bayes@N: how good is the model on average, judged after all trials?"""
        return self._report_of(metrics.bayes, w, **options)

    @with_help_of_metric
    def cost_per_success(
        self, *, name: str | None = None, **options: Unpack[ReportOptions]
    ) -> FrameT:
        """Cost per success: what does the whole benchmark cost for each trial that succeeds?"""
        return self._report_of(metrics.cost_per_success, name=name, **options)

    @with_help_of_metric
    def cost_to_solve(
        self, k: DrawSizes, *, name: str | None = None, **options: Unpack[ReportOptions]
    ) -> FrameT:
        """Cost to solve: what does a solved question cost, if each is tried up to k times?"""
        return self._report_of(metrics.cost_to_solve, k, name=name, **options)

    @with_help_of_metric
    def g_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k: how often do all of k trials succeed? Another name of `pass_hat_k`."""
        return self._report_of(metrics.g_pass_at_k, k, **options)

    @with_help_of_metric
    def g_pass_at_k_tau(self, k: DrawSizes, tau: float, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k_tau: how often does at least the share tau of k trials succeed?"""
        return self._report_of(metrics.g_pass_at_k_tau, k, tau, **options)

    @with_help_of_metric
    def geo_spectrum_at_k(
        self,
        k: DrawSizes,
        *,
        lam: float = 0.5,
        weights: ArrayLike | None = None,
        **options: Unpack[DrawOptions],
    ) -> FrameT:
        """GeoSpectrum@k: a geometric mean of Pass@k and a threshold spectrum of the benchmark."""
        return self._report_of(metrics.geo_spectrum_at_k, k, lam=lam, weights=weights, **options)

    @with_help_of_metric
    def geo_spectrum_star_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """GeoSpectrum*@k: the geometric mean of Pass@k and mG-Pass@k of the benchmark."""
        return self._report_of(metrics.geo_spectrum_star_at_k, k, **options)

    @with_help_of_metric
    def geom_at_k(
        self,
        k: DrawSizes,
        *,
        pass_power: float = 0.5,
        unanimous_power: float = 0.5,
        **options: Unpack[DrawOptions],
    ) -> FrameT:
        """Geom@k: the geometric mean of Pass@k and Pass^k of a question, on average."""
        powers = {"pass_power": pass_power, "unanimous_power": unanimous_power}
        return self._report_of(metrics.geom_at_k, k, **powers, **options)

    @with_help_of_metric
    def geom_ds_at_k(
        self,
        k: DrawSizes,
        *,
        pass_power: float = 0.5,
        unanimous_power: float = 0.5,
        **options: Unpack[DrawOptions],
    ) -> FrameT:
        """Geom@k of the dataset: the geometric mean of Pass@k and Pass^k of the benchmark."""
        powers = {"pass_power": pass_power, "unanimous_power": unanimous_power}
        return self._report_of(metrics.geom_ds_at_k, k, **powers, **options)

    @with_help_of_metric
    def maj_at_k(self, k: DrawSizes | None = None, **options: Unpack[DrawOptions]) -> FrameT:
        """Maj@k: how often does the majority of k trials succeed?"""
        return self._report_of(metrics.maj_at_k, k, **options)

    @with_help_of_metric
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
        return self._report_of(metrics.max_at_k, k, w, bounds=bounds, name=name, **options)

    @with_help_of_metric
    def mean_cost(self, *, name: str | None = None, **options: Unpack[ReportOptions]) -> FrameT:
        """Mean cost: what does a trial cost on average?"""
        return self._report_of(metrics.mean_cost, name=name, **options)

    @with_help_of_metric
    def mg_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """mG-Pass@k: how far do the successes of k trials exceed one half?"""
        return self._report_of(metrics.mg_pass_at_k, k, **options)

    @with_help_of_metric
    def min_at_k(
        self,
        k: DrawSizes,
        w: Weights | None = None,
        *,
        bounds: Bounds | Literal["range"] | None = "range",
        name: str | None = None,
        **options: Unpack[ReportOptions],
    ) -> FrameT:
        """Min@k: how bad is the worst of k trials?"""
        return self._report_of(metrics.min_at_k, k, w, bounds=bounds, name=name, **options)

    @with_help_of_metric
    def pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass@k: how often does at least one of k trials succeed?"""
        return self._report_of(metrics.pass_at_k, k, **options)

    @with_help_of_metric
    def pass_hat_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass^k: how often do all of k trials succeed?"""
        return self._report_of(metrics.pass_hat_k, k, **options)

    @with_help_of_metric
    def tail_pass(
        self, k: int, t: DrawSizes | None = None, **options: Unpack[DrawOptions]
    ) -> FrameT:
        """TailPass: how often do at least 1, 2, ..., k of k trials succeed?"""
        return self._report_of(metrics.tail_pass, k, t, **options)

    @with_help_of_metric
    def threshold_spectrum_at_k(
        self, k: int, weights: ArrayLike, **options: Unpack[DrawOptions]
    ) -> FrameT:
        """Threshold spectrum: a weighted sum of how often 1, 2, ..., k of k trials succeed."""
        return self._report_of(metrics.threshold_spectrum_at_k, k, weights, **options)

    @with_help_of_metric
    def unanimous_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Unanimous@k: how often do all of k trials succeed? Another name of `pass_hat_k`."""
        return self._report_of(metrics.unanimous_at_k, k, **options)

    @with_help_of_metric
    def vote_at_k(
        self,
        k: DrawSizes,
        ties: Literal["split", "fail"] = "split",
        **options: Unpack[MetricOptions],
    ) -> FrameT:
        """Vote@k, self-consistency: how often is the most frequent answer of k trials right?"""
        return self._report_of(metrics.vote_at_k, k, ties, **options)

    def _report_of(
        self,
        function: Callable[..., Metric],
        *arguments: object,
        **options: Any,  # noqa: ANN401 - the function and `report` check them
    ) -> FrameT:
        """The report of one metric, from the keywords of its function and those of `report`."""
        own = options.keys() & signature(function).parameters.keys()
        metric = function(*arguments, **{name: options.pop(name) for name in own})
        return self.report(metric, **options)
