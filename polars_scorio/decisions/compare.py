"""Which of two models is better, and how sure is that?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import ndtr, stdtr

from polars_scorio.arguments import Per
from polars_scorio.counting.checks import checked
from polars_scorio.counting.roles import Category, Roles, Trials, bind, refuse_repeats
from polars_scorio.decisions.outweighed import OUTWEIGHED, outweighed, reach, warn_of_prior
from polars_scorio.decisions.population import Sample, sample_options
from polars_scorio.decisions.strata import (
    aligned,
    check_models,
    named_model,
    per_stratum,
    refuse_rewards,
)
from polars_scorio.kernels.arrays import Floats, Ints
from polars_scorio.kernels.calibrated.difference import difference, forecast_difference
from polars_scorio.kernels.calibrated.forecast import Range
from polars_scorio.kernels.intervals import beta_interval, normal_interval
from polars_scorio.metrics.base import Metric
from polars_scorio.metrics.weighted import bayes
from polars_scorio.reporting.calibrated import PRICE, price_of
from polars_scorio.reporting.evaluate import tidy
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.reporting.report import results
from polars_scorio.reporting.request import check_metrics, on_levels

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NUMBERS = ("diff", "sigma", "z", "prob", "lo", "hi")


def compare(
    frame: pl.LazyFrame,
    roles: Roles,
    metric: Metric | None = None,
    *,
    baseline: Category | None = None,
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The plan of a comparison; see `Scorio.compare`."""
    trials = bind(frame, roles)
    metric = on_levels(metric or bayes(), trials)
    model = named_model(trials, "compare")
    check_metrics([metric])
    if baseline is not None:
        (baseline,) = check_models((baseline,), trials, "baseline")
    paired = options.get("target") == "population"
    if paired:
        options = sample_options(metric, options)
    else:
        refuse_rewards(metric, trials, "compare")
    schema: dict[str, pl.DataType] = {
        "metric": pl.String(),
        "k": pl.Int64(),
        "model_a": model,
        "model_b": model,
        **dict.fromkeys(_NUMBERS, pl.Float64()),
        "better": model,
    }
    refuse_repeats([*trials.strata, *schema])
    per: Per = "question" if paired else "model"
    priced = options.get("inference") == "calibrated"
    grouped = results(trials, [metric], per=per, priced=priced, **aligned(options))
    comparison = _Comparison(
        metric,
        trials,
        baseline,
        options,
        paired,
    )
    pairs = per_stratum(grouped, trials, comparison, schema | {OUTWEIGHED: pl.Boolean()})
    return checked(pairs, warn_of_prior).select(*trials.strata, *schema)


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """The function from the results of a stratum's models to their differences."""

    metric: Metric
    trials: Trials
    baseline: Category | None
    options: DecisionOptions
    paired: bool

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each draw size and pair of models."""
        models = groups[self._model]
        a, b = self._pairs(models)
        pairs = {"model_a": models.gather(a), "model_b": models.gather(b)}
        rows = tidy(groups)
        return pl.concat(
            self._verdicts(pl.DataFrame({**pairs, **self._numbers(rows, k, a, b)}), k)
            for k in self.metric.k
        )

    @property
    def _model(self) -> str:
        assert self.trials.model is not None  # noqa: S101 - `compare` needs one
        return self.trials.model.name

    def _pairs(self, models: pl.Series) -> tuple[Ints, Ints]:
        """The positions of both models of each pair."""
        if self.baseline is None:
            a, b = np.triu_indices(len(models), 1)
            return a, b
        names = models.to_list()
        if self.baseline not in names:
            raise ValueError(f"baseline={self.baseline!r} is none of the models: {names}")
        base = names.index(self.baseline)
        others = np.delete(np.arange(len(names)), base)
        return others, np.full_like(others, base)

    @property
    def _confidence(self) -> float:
        return float(self.options.get("confidence", 0.95))

    def _numbers(self, rows: pl.DataFrame, k: int | None, a: Ints, b: Ints) -> dict[str, pl.Series]:
        """The numbers of all pairs for one draw size, and whether the prior decides them."""
        if self.paired:
            numbers = self._of_questions(Sample.read(rows, self.trials, self.metric, k), a, b)
            doubts = np.zeros(a.size, bool)
        else:
            of_k = rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)))
            if self._priced(of_k):
                numbers = self._of_prices(of_k, a, b)
            else:
                numbers = self._of_posteriors(of_k["mu"].to_numpy(), of_k["sigma"].to_numpy(), a, b)
            estimates = of_k["estimate"].to_numpy()
            doubts = outweighed(estimates[a] - estimates[b], numbers[-2], numbers[-1], self.metric)
            doubts &= self.options.get("inference") is None
        # NaN says that there is no such number.
        series = (pl.Series(values).fill_nan(None) for values in numbers)
        return {**dict(zip(_NUMBERS, series, strict=True)), OUTWEIGHED: pl.Series(doubts)}

    def _of_posteriors(self, mu: Floats, sd: Floats, a: Ints, b: Ints) -> tuple[Floats, ...]:
        """The difference of independent posterior means."""
        diff, sigma = mu[a] - mu[b], np.hypot(sd[a], sd[b])
        z, limits = standardized(diff, sigma), reach(self.metric.bounds)
        beta = self.options.get("inference") in {"pooled", "calibrated"} and not self.metric.poles
        if beta and self.metric.span[0] < self.metric.span[1]:
            lo, hi = beta_interval(diff, sigma, self._confidence, reach(self.metric.span))
            lo, hi = np.clip(lo, *limits), np.clip(hi, *limits)
        else:
            lo, hi = normal_interval(diff, sigma, self._confidence, limits)
        return diff, sigma, z, ndtr(z), lo, hi

    def _priced(self, rows: pl.DataFrame) -> bool:
        """Whether the numbers are calibrated."""
        return PRICE in rows.columns and self.metric.calibrated

    def _of_prices(self, rows: pl.DataFrame, a: Ints, b: Ints) -> tuple[Floats, ...]:
        """The difference of estimates, each side with the price of its noise."""
        price = price_of(rows, self.metric)
        found = difference(price.at(a), price.at(b), self._confidence)
        mu, least, most = (rows[name].to_numpy() for name in ("mu", "lo", "hi"))
        ahead = forecast_difference(
            Range(mu[a], least[a], most[a]), Range(mu[b], least[b], most[b])
        )
        # Where k is beyond the trials there are ranges only.
        beyond = np.isnan(price.estimate[a]) | np.isnan(price.estimate[b])
        diff, lo, hi = (
            np.where(beyond, range_, own)
            for range_, own in zip(ahead, (found.diff, found.lo, found.hi), strict=True)
        )
        z = np.where(beyond, np.nan, standardized(diff, found.sigma))
        return diff, found.sigma, z, ndtr(z), lo, hi

    def _of_questions(self, sample: Sample, a: Ints, b: Ints) -> tuple[Floats, ...]:
        """The mean difference over questions that are a sample: Student's t."""
        if not sample.freedom:
            return tuple(np.full((len(_NUMBERS), a.size), np.nan))
        diff, sigma = sample.differences(a, b)
        z = standardized(diff, sigma)
        far = sample.quantile((1 + self._confidence) / 2) * sigma
        limits = reach(sample.limits(self.metric))
        lo, hi = np.clip(diff - far, *limits), np.clip(diff + far, *limits)
        return diff, sigma, z, stdtr(sample.freedom, z), lo, hi

    def _verdicts(self, pairs: pl.DataFrame, k: int | None) -> pl.DataFrame:
        """Add what was compared and which model is better, where that is sure."""
        sure = (pl.col("prob") >= self._confidence) & (pl.col("diff") != 0)
        winner = pl.when(pl.col("diff") > 0).then("model_a").otherwise("model_b")
        return pairs.with_columns(
            pl.lit(self.metric.name).alias("metric"),
            pl.lit(k, pl.Int64).alias("k"),
            pl.when(sure).then(winner).alias("better"),
        )


def standardized(diff: Floats, sigma: Floats) -> Floats:
    """How many standard deviations a difference is away from none: 0 where there is none."""
    z = np.zeros_like(diff)
    with np.errstate(divide="ignore"):
        return np.divide(np.abs(diff), sigma, out=z, where=diff != 0)
