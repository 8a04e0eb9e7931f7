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
    shared_entries,
    with_signature,
)
from polars_scorio.study.request import ReportOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
_REPORT = "DataFrame or LazyFrame\n    The report of this metric alone, as `report` describes it."
_SEE_ALSO = """report : Several metrics from one count, and the columns of the result.
compare : Differences between models, by any metric.
rank : The order of the models, by any metric."""


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
    method_signature = signature(method).replace(
        parameters=[_SELF, *parameters, *(option for option, _ in shared.values())]
    )
    entries = shared_entries(shared, "report")
    return with_signature(
        method,
        method_signature,
        described_parameters(
            function.__doc__, method_signature, entries, Returns=_REPORT, **{"See Also": _SEE_ALSO}
        ),
    )


class MetricMethods(Accessor[FrameT]):
    """The metrics as methods of a log: each is the report of that metric alone."""

    @with_help_of_metric
    def auc_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """AUC@k: area under the curve of Pass@k, larger if a success comes sooner."""
        return self._report_of(metrics.auc_at_k, k, **options)

    @with_help_of_metric
    def avg(self, w: Weights | None = None, **options: Unpack[MetricOptions]) -> FrameT:
        """avg@N: average score of the trials, with its interval."""
        return self._report_of(metrics.avg, w, **options)

    @with_help_of_metric
    def bayes(self, w: Weights | None = None, **options: Unpack[MetricOptions]) -> FrameT:
        """Bayes@N: posterior mean of the average score, after all trials."""
        return self._report_of(metrics.bayes, w, **options)

    @with_help_of_metric
    def cost_per_success(
        self, *, name: str | None = None, **options: Unpack[ReportOptions]
    ) -> FrameT:
        """Cost per success: cost of the whole benchmark divided by its successes."""
        return self._report_of(metrics.cost_per_success, name=name, **options)

    @with_help_of_metric
    def cost_to_solve(
        self, k: DrawSizes, *, name: str | None = None, **options: Unpack[ReportOptions]
    ) -> FrameT:
        """Cost to solve: cost of a solved question, if each is tried up to k times."""
        return self._report_of(metrics.cost_to_solve, k, name=name, **options)

    @with_help_of_metric
    def g_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k: share of draws whose k trials all succeed. `pass_hat_k` by another name."""
        return self._report_of(metrics.g_pass_at_k, k, **options)

    @with_help_of_metric
    def g_pass_at_k_tau(self, k: DrawSizes, tau: float, **options: Unpack[DrawOptions]) -> FrameT:
        """G-Pass@k_tau: share of draws of k trials of which at least tau succeed."""
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
        """Geom@k: geometric mean of Pass@k and Pass^k of a question, averaged over questions."""
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
        """Maj@k: share of draws of k trials whose majority succeeds."""
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
        """Max@k: mean score of the best of k trials."""
        return self._report_of(metrics.max_at_k, k, w, bounds=bounds, name=name, **options)

    @with_help_of_metric
    def mean_cost(self, *, name: str | None = None, **options: Unpack[ReportOptions]) -> FrameT:
        """Mean cost: average cost of a trial."""
        return self._report_of(metrics.mean_cost, name=name, **options)

    @with_help_of_metric
    def mg_pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """mG-Pass@k: excess of successes over one half of k trials."""
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
        """Min@k: mean score of the worst of k trials."""
        return self._report_of(metrics.min_at_k, k, w, bounds=bounds, name=name, **options)

    @with_help_of_metric
    def pass_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass@k: share of draws of k trials with at least one success."""
        return self._report_of(metrics.pass_at_k, k, **options)

    @with_help_of_metric
    def pass_hat_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Pass^k: share of draws of k trials that all succeed."""
        return self._report_of(metrics.pass_hat_k, k, **options)

    @with_help_of_metric
    def tail_pass(
        self, k: int, t: DrawSizes | None = None, **options: Unpack[DrawOptions]
    ) -> FrameT:
        """TailPass: share of draws of k trials with at least 1, 2, ..., k successes."""
        return self._report_of(metrics.tail_pass, k, t, **options)

    @with_help_of_metric
    def threshold_spectrum_at_k(
        self, k: int, weights: ArrayLike, **options: Unpack[DrawOptions]
    ) -> FrameT:
        """Threshold spectrum: weighted sum of the shares with 1, 2, ..., k successes."""
        return self._report_of(metrics.threshold_spectrum_at_k, k, weights, **options)

    @with_help_of_metric
    def unanimous_at_k(self, k: DrawSizes, **options: Unpack[DrawOptions]) -> FrameT:
        """Unanimous@k: share of draws whose k trials all succeed. `pass_hat_k` by another name."""
        return self._report_of(metrics.unanimous_at_k, k, **options)

    @with_help_of_metric
    def vote_at_k(
        self,
        k: DrawSizes,
        ties: Literal["split", "fail"] = "split",
        **options: Unpack[MetricOptions],
    ) -> FrameT:
        """Vote@k, self-consistency: share of draws whose most frequent answer is right."""
        return self._report_of(metrics.vote_at_k, k, ties, **options)

    def _report_of(
        self,
        function: Callable[..., Metric],
        *arguments: object,
        **options: Any,  # noqa: ANN401 - the function and `report` check them
    ) -> FrameT:
        """The report of one metric, from the keywords of its function and those of `report`."""
        metric_options = options.keys() & signature(function).parameters.keys()
        metric = function(*arguments, **{name: options.pop(name) for name in metric_options})
        return self.report(metric, **options)
