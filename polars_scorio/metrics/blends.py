"""Geometric blends x^a y^b of Pass@k with what comes after the first success."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polars_scorio.arguments import SHARE, check_number
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.credit_numbers import BlendOfMeans, blend_estimate
from polars_scorio.maths.credits import GainsOf, Powers, RootDraw, blend_means, fixed_gains
from polars_scorio.maths.credits import state_estimates as credited_estimates
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    credit_covariance,
    credit_moments,
    excess_over_half,
    expected_credit,
    spectrum_gains,
)
from polars_scorio.maths.interval import Estimate, Weighted
from polars_scorio.maths.pooled_moments import Joint
from polars_scorio.maths.posteriors import QuestionPosteriors
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.metrics.metric import (
    UNIT,
    Bounds,
    Description,
    DrawSizes,
    Gains,
    Metric,
    Summary,
    draw_fields,
    with_parameter_help,
)
from polars_scorio.metrics.thresholds import check_spectrum


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BlendMetric(Metric):
    """A blend ``x**a * y**b`` of Pass@k, x, and another credit of the same draw, y."""

    gains: Gains  # with the arguments: the credit y, as in `DrawMetric`
    arguments: tuple[object, ...] = ()
    powers: tuple[float, float]  # (a, b)
    per_question: bool = True  # else the means of x and y are blended
    credited: bool = False  # by a nearly unbiased credit, else the blend of estimates

    @property
    def unbounded(self) -> bool:
        """Whether a number can be infinite: zero to a negative power is."""
        return min(self.powers) < 0

    @property
    def calibrated(self) -> bool:
        """Whether calibrated intervals are known: not of a negative power of each question."""
        return not (self.per_question and self.unbounded)

    def draw(self, k: int | None) -> GainsOf | None:
        """The credit of a question that is, or is near, its blend; None for a blend of means."""
        if not (k and self.per_question and self.calibrated):
            return None
        exact = self.powers in {(1, 0), (0, 1)} or (k == 1 and sum(self.powers) == 1)
        if not exact:
            return RootDraw(k, self.powers)
        return fixed_gains(all_success(k) if self.powers[1] else any_success(k))

    def blend_of_means(self, k: int | None) -> BlendOfMeans | None:
        """The two means that are blended; None for a blend of each question, or unbounded."""
        return None if k is None or self.per_question or self.unbounded else self._blended(k)

    def _blended(self, k: int) -> BlendOfMeans:
        return BlendOfMeans(any_success(k), self.gains(k, *self.arguments), self.powers)

    def with_unbiased_estimate(self) -> BlendMetric:
        """The blend whose estimate is a credit of each question, if that is known."""
        return replace(self, credited=self.per_question and self.calibrated)

    def variances(
        self, questions: Weighted, strata: Subgroups[States] | None = None
    ) -> list[Estimate]:
        """The variance of a blend of means over the questions, for each k; others have `draw`."""
        return [blend_estimate(questions, self._blended(k)) for k in self.k if k is not None]

    def summary(self, posterior: QuestionPosteriors, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        assert k is not None  # the report asks for a k of this metric
        states, powers = posterior.states, self.powers
        x, y = any_success(k), self.gains(k, *self.arguments)
        n, c = states.n, states.counts[:, 1]
        estimates = expected_credit(n, c, x), expected_credit(n, c, y)
        # Of one trial all credits are the same: a power of it, whose sigma no rounding disturbs.
        moments = (sum(powers), 0.0) if np.array_equal(x, y) else powers

        def joint(nu: Floats, n: Ints) -> Joint:  # noqa: ARG001 - the draw has k trials
            b, a = nu.T
            (mean_x, var_x), (mean_y, var_y) = credit_moments(a, b, x), credit_moments(a, b, y)
            return Joint(mean_x, mean_y, var_x, var_y, credit_covariance(a, b, x, y))

        def blended(nu: Floats, n: Ints) -> tuple[Floats, Floats]:
            return blend_moments(joint(nu, n), moments)

        if self.per_question:
            mu, sigma = posterior.integrate(blended)
            of_questions = blend_means(*estimates, powers)
            if self.credited and (draw := self.draw(k)):
                of_questions, _ = credited_estimates(states, draw)
            return Summary(states.mean(of_questions), mu, sigma)
        mu, variance = blend_moments(posterior.integrate_joint(joint), moments)
        average = blend_means(states.mean(estimates[0]), states.mean(estimates[1]), powers)
        return Summary(average, mu, np.sqrt(variance))


@with_parameter_help
def geom_at_k(
    k: DrawSizes,
    *,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    bounds: Bounds | None = UNIT,
    name: str | None = None,
) -> BlendMetric:
    """Geom@k: geometric mean of Pass@k and Pass^k of a question, averaged over questions [1]_.

    Raises
    ------
    ValueError
        If both powers are zero or one is not finite; else as for `pass_at_k`. When the rows are
        read: if zero has a negative power, such as Pass^k of a question that never succeeded.

    Notes
    -----
    The target is the mean of x^a y^b over the questions: x is the probability that any of k trials
    succeeds, y that all do, a is `pass_power` and b is `unanimous_power`. The estimate is nearly
    unbiased for powers that are not negative and k up to 2,048: each number of successes has a
    credit with expectation near x^a y^b, and the interval includes its largest bias. It is exact
    where x^a y^b is x, y or the success rate (k = 1, a + b = 1). With a `prior` the estimate blends
    the estimates of x and y, which is biased.

    References
    ----------
    .. [1] *Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning*, which blends the
       means of the benchmark as `geom_ds_at_k` does; the blend of each question is from scorio
       0.2.3.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> accessor = trials.scorio(model=None, trial=None)
    >>> for prior in (None, "uniform"):
    ...     accessor.report(ps.geom_at_k(2), prior=prior)["estimate"].round(6).to_list()
    [0.537193]
    [0.519615]
    """
    described = Description(
        "geom_at_k", "Geom@{k}", "Pass@k and Pass^k of each question, as a geometric mean"
    )
    powers = pass_power, unanimous_power
    return _geometric_mean(described, k, powers, bounds, name, per_question=True)


@with_parameter_help
def geom_ds_at_k(
    k: DrawSizes,
    *,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    bounds: Bounds | None = UNIT,
    name: str | None = None,
) -> BlendMetric:
    """Geom@k of the dataset: the geometric mean of Pass@k and Pass^k of the benchmark [1]_.

    Raises
    ------
    ValueError
        As for `geom_at_k`.

    Notes
    -----
    The estimate is X^a Y^b, where X and Y are the means of Pass@k and Pass^k over the questions,
    a = `pass_power` and b = `unanimous_power`. mu blends the posterior means; sigma comes from the
    delta method, with the variances of both means and their covariance.

    References
    ----------
    .. [1] *Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning*, the blend
       of the endpoints, a = b = 1/2; other powers as in scorio 0.2.3.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.geom_ds_at_k(2))
    >>> report["estimate"].round(6).to_list()
    [0.519615]
    """
    described = Description(
        "geom_ds_at_k", "Geom-DS@{k}", "Pass@k and Pass^k of the benchmark, as a geometric mean"
    )
    powers = pass_power, unanimous_power
    return _geometric_mean(described, k, powers, bounds, name, per_question=False)


@with_parameter_help
def geo_spectrum_at_k(
    k: DrawSizes,
    *,
    lam: float = 0.5,
    weights: ArrayLike | None = None,
    bounds: Bounds | None = UNIT,
    name: str | None = None,
) -> BlendMetric:
    """GeoSpectrum@k: a geometric mean of Pass@k and a threshold spectrum of the benchmark [1]_.

    Parameters
    ----------
    lam : float
        Power of Pass@k, from 0 (the spectrum alone) to 1 (Pass@k alone); the spectrum has 1 - lam.
    weights : sequence of float, shape (k,), optional
        The spectrum, as for `threshold_spectrum_at_k`; it fixes one k. Default: mG-Pass@k.

    Raises
    ------
    ValueError
        If `lam` lies outside [0, 1], or the weights are not those of a spectrum of k; else as for
        `pass_at_k`.

    Notes
    -----
    The estimate is Pass@k^lam S_w@k^(1 - lam). Both are means over the questions; S_w@k is the
    spectrum of `threshold_spectrum_at_k`. By default w_r = 2/k for r > ceil(k/2), so that S_w@k is
    mG-Pass@k. mu and sigma are made as for `geom_ds_at_k`.

    References
    ----------
    .. [1] *Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning*, the
       GeoSpectrum family; as in scorio 0.2.3.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.geo_spectrum_at_k(3))
    >>> report["estimate"].round(6).to_list()
    [0.258199]
    """
    lam = check_number("lam", lam, SHARE)
    checked = None if weights is None else check_spectrum(k, weights)
    arguments = {"lam": (lam, 0.5), "weights": (checked, None)}
    described = Description(
        "geo_spectrum_at_k",
        "Geo-Spectrum@{k}",
        "Pass@k and a threshold spectrum of the benchmark, as a geometric mean",
    )
    shared = draw_fields(described, k, bounds, name, **arguments)
    return _spectrum_blend(shared, lam, checked)


@with_parameter_help
def geo_spectrum_star_at_k(
    k: DrawSizes, *, bounds: Bounds | None = UNIT, name: str | None = None
) -> BlendMetric:
    """GeoSpectrum*@k: the geometric mean of Pass@k and mG-Pass@k of the benchmark [1]_.

    Notes
    -----
    The estimate is sqrt(Pass@k mG-Pass@k), where both are means over the questions. The metric is
    `geo_spectrum_at_k` with its defaults, under its published name.

    References
    ----------
    .. [1] *Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning*, the
       operating point GeoSpectrum*; as in scorio 0.2.3.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.geo_spectrum_star_at_k(3))
    >>> report["estimate"].round(6).to_list()
    [0.258199]
    """
    described = Description(
        "geo_spectrum_star_at_k",
        "Geo-Spectrum*@{k}",
        "Pass@k and mG-Pass@k of the benchmark, as a geometric mean",
    )
    shared = draw_fields(described, k, bounds, name)
    return _spectrum_blend(shared, 0.5, None)


def _spectrum_blend(
    shared: dict[str, Any], lam: float, weights: tuple[float, ...] | None
) -> BlendMetric:
    """A blend with a spectrum; without weights, with that of mG-Pass@k."""
    gains: Gains = excess_over_half if weights is None else spectrum_gains
    arguments = () if weights is None else (weights,)
    powers = (lam, 1 - lam)
    return BlendMetric(
        **shared, gains=gains, arguments=arguments, powers=powers, per_question=False
    )


def _geometric_mean(
    described: Description,
    k: DrawSizes,
    given: tuple[float, float],
    bounds: Bounds | None,
    name: str | None,
    *,
    per_question: bool,
) -> BlendMetric:
    """A blend of Pass@k and Pass^k with these powers, which are finite and not both zero."""
    names = ("pass_power", "unanimous_power")
    powers = check_number(names[0], given[0]), check_number(names[1], given[1])
    if not any(powers):
        raise ValueError(
            f"pass_power and unanimous_power must not both be zero, got {given[0]!r} and "
            f"{given[1]!r}"
        )
    arguments = {key: (power, 0.5) for key, power in zip(names, powers, strict=True)}
    shared = draw_fields(described, k, bounds, name, **arguments)
    return BlendMetric(**shared, gains=all_success, powers=powers, per_question=per_question)


def blend_moments(joint: Joint, powers: Powers) -> tuple[Floats, Floats]:
    """Mean and variance of ``x**a * y**b`` by the delta method, to first order."""
    # The blend of the means, and ``mean**2 (a**2 Var(x)/x**2 + b**2 Var(y)/y**2 + 2 a b Cov(x,
    # y)/(x y))``, 0 if the mean is 0.
    a, b = powers
    mean = blend_means(joint.x, joint.y, powers)
    x, y = (np.where(each > 0, each, np.inf) for each in (joint.x, joint.y))
    # Relative to the means first: the square of a tiny one would be zero.
    relative = (a * np.sqrt(joint.var_x) / x) ** 2 + (b * np.sqrt(joint.var_y) / y) ** 2
    relative += 2 * a * b * (joint.covariance / x / y)
    return mean, mean**2 * np.maximum(relative, 0.0)
